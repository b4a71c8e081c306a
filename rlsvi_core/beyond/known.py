"""Environments of Gymnasium with everything known, as finite MDPs."""

from typing import Any

import numpy as np

from ..checks import array, array_size, fail, index, whole
from ..mdp import FiniteMDP


def finite_mdp(env: Any, H: int | None = None) -> FiniteMDP:
    """The MDP of a Gymnasium environment that has a table ``P[s][a]`` of
    (probability, s', reward, terminated), as FrozenLake, CliffWalking and Taxi do.

    H is its time limit by default. From the end of an episode on nothing is earned: a state that
    ends it is never left. If a state does so only sometimes, one state more, the last, stands for
    the end. Values are exact in the states that an episode can meet.
    """
    raw: Any = getattr(env, "unwrapped", None)
    if not hasattr(raw, "P") or not hasattr(raw, "initial_state_distrib"):
        fail(
            "an MDP is made of an environment's P and initial_state_distrib",
            f"{env} has no such tables",
            "Let an agent learn in it: agent.learn(env, episodes).",
        )
    if H is None and getattr(env, "spec", None) is not None:
        H = env.spec.max_episode_steps
    H = whole("H", H, 1, hint="The environment has no time limit: pass H=100, say.")
    S, A = len(raw.P), len(raw.P[0])
    initial = array("initial_state_distrib", raw.initial_state_distrib, (S,))
    array_size("P", S + 1, A, S + 1)
    outcomes = {
        (s, a): [(p, index("s'", t, S), r, over) for p, t, r, over in raw.P[s][a]]
        for s, a in np.ndindex(S, A)
    }
    met, ends, todo = set(), set(), [int(s) for s in np.flatnonzero(initial)]
    while todo:
        met.add(s := todo.pop())
        for p, s_next, _, over in (row for a in range(A) for row in outcomes[s, a]):
            if p > 0 and over:
                ends.add(s_next)
            elif p > 0 and s_next not in met:
                todo.append(s_next)
    apart = not ends.isdisjoint(met)
    P = np.zeros((S + apart, A, S + apart))
    R = np.zeros_like(P)
    for s, a in np.ndindex(S, A):
        for p, s_next, r, over in outcomes[s, a]:
            s_next = S if over and apart else s_next
            P[s, a, s_next] += p
            R[s, a, s_next] += p * r
    R /= np.where(P > 0, P, 1)  # the mean reward, given s'
    for s in {S} if apart else ends:
        P[s], R[s] = np.eye(S + apart)[s], 0.0
    return FiniteMDP.stationary(P, R, H, initial=np.append(initial, [0.0] * apart))
