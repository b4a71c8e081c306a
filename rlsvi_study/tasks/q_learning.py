r"""Tabular Q-learning (Watkins 1989), as textbooks print it: after each step

.. math:: Q(s, a) \leftarrow Q(s, a) + \alpha \bigl(r + \gamma \max_{a'} Q(s', a') - Q(s, a)\bigr).

With a horizon every period has a table of its own, γ = 1 and the last period's target is r alone.
Without one there is a single table, and nothing follows a state that ends an episode. Exploration is
by ε-greedy actions, by a start of Q above all values, or by both.
"""

import numpy as np

from rlsvi_core.compiled import Array, Floats, Generator, jit
from rlsvi_core.kernels import (
    Model,
    action_probabilities,
    choose,
    first_state,
    highest,
    last_reward,
    step,
    value_of_policy,
)


@jit
def learn(
    model: Model,
    H: int,
    ends: Array,
    Q: Floats,
    alpha: float,
    gamma: float,
    epsilon: float,
    rng: Generator,
    agent_rng: Generator,
    reward: Floats,
) -> None:
    """Play an episode for each entry of ``reward``, and fill it: with the exact value of the policy
    if Q has a table (H, S, A) for each period, with what was earned if it has one (1, S, A)."""
    T, S, A = Q.shape
    p, scratch = np.empty((H, S, A)), np.empty(A)
    for i in range(reward.shape[0]):
        reward[i] = 0.0
        if T == H:
            for h in range(H):
                for s in range(S):
                    action_probabilities(Q[h, s], epsilon, 0.0, p[h, s])
            reward[i] = value_of_policy(model, p)
        s = first_state(model, rng)
        for h in range(H):
            t = h if T == H else 0
            a = choose(Q[t, s], epsilon, 0.0, scratch, agent_rng.random())
            r, s_next = step(model, h, s, a, rng)
            if h == H - 1:
                r += last_reward(model, s_next, rng)
            target = r
            if T < H and not ends[s_next]:
                target += gamma * highest(Q[0, s_next])
            elif T == H and h < H - 1:
                target += gamma * highest(Q[h + 1, s_next])
            Q[t, s, a] += alpha * (target - Q[t, s, a])
            if T < H:
                reward[i] += r
                if ends[s_next]:
                    break
            s = s_next
