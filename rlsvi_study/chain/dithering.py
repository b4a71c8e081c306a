"""Claims of section 3: what dithering costs on the chain."""

import itertools

import numpy as np

from rlsvi_core import features, lsvi
from rlsvi_core.envs.chains import chain
from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.runtime.compilation import Generator, jit

from ..judging.evidence import failed_steps
from ..judging.intervals import mean_interval
from ..judging.outcomes import HOLDS, Judgement, judge_unless
from ..judging.register import claim
from ..judging.thresholds import CHOSEN, Limits


def arrival_probability(N: int) -> float:
    """The chance that one uniformly random episode on the N-chain ends in state N."""
    mdp = chain(N)
    uniform = np.full((mdp.H, mdp.S, mdp.A), 1 / mdp.A)
    return float(mdp.occupancy(uniform)[-1, N - 1])


def example_bases(mdp: FiniteMDP) -> list[np.ndarray]:
    """A tabular, a coherent and an agnostic basis."""
    return [
        features.tabular(mdp),
        features.coherent(mdp.Q, 4, 0),
        features.agnostic(mdp.Q, 4, 0.5, 0),
    ]


def weights_zero_before_reward() -> bool:
    """Before the first reward all targets are 0, so LSVI's weights (AᵀA + λI)⁻¹Aᵀ0 are, all actions
    tie, and dithering agents act uniformly, whatever the basis."""
    mdp = chain(8)
    for Phi, dither in itertools.product(example_bases(mdp), ({"epsilon": 0.1}, {"eta": 0.1}, {})):
        agent, env = lsvi(Phi, rng=1, **dither), np.random.default_rng(2)
        rewarded = False
        while not rewarded:
            agent.plan()
            if np.any(agent.theta) or np.any(agent.policy() != 0.5):
                return False
            rewarded = bool(agent.learn(mdp, 1, env).reward.any())
    return True


@claim(
    "3.regret",
    place="Section 3, Example 1",
    paper="lim inf Regret ≥ 2^{S−1} − 1",
    kind="exact",
    verdict=HOLDS,
    main=True,
)
def regret_of_dithering() -> Judgement:
    """The regret of LSVI with ε-greedy or Boltzmann exploration is in the long run at least
    2^{S−1} − 1.

    The search for the first reward alone costs exactly that in expectation, and afterwards regret
    can only grow.

    p*/q − 1 = 2^(S−1) − 1, where q = p* 2^(1−S) is the chance that an episode is rewarded; dynamic
    programming agrees for S = 2 to 60.
    """
    # Uniform play costs p* − q per episode and lasts 1/q episodes on average.
    cost = {
        N: chain(N).regret(np.full((N - 1, N, 2), 0.5)) / arrival_probability(N)
        for N in range(2, 61)
    }
    least = min(cost[N] / (2.0 ** (N - 1) - 1) for N in cost)
    return judge_unless(
        least < 1 - 1e-9 or bool(failed_steps([weights_zero_before_reward])), least=least
    )


@claim(
    "3.any-basis",
    place="Section 3; section 6.1, footnote",
    paper="for any choice of basis function; any ε or η is equivalent",
    kind="instances",
    verdict=HOLDS,
)
def dithering_fails_any_basis() -> Judgement:
    """For any basis and any ε or η, LSVI's regret grows exponentially in S; in the setting of
    Figure 2 any ε or η is equivalent.

    While rewards are zero, so are the weights in any basis, and 3.regret applies: the first reward
    comes in the same episode in {same} of {pairs} cases.

    Four bases, four ways to dither, the same draws, N = 8. After the first reward they differ; in
    the 10^6 episodes of Figure 2 it comes with probability {within:.1g}.
    """
    mdp = chain(8)
    every = [*example_bases(mdp), np.zeros((mdp.H, mdp.S, mdp.A, 1))]
    dithers = {"epsilon": 0.05}, {"epsilon": 0.5}, {"eta": 0.01}, {"eta": 10.0}
    rewards = [
        lsvi(Phi, rng=3, **dither).learn(mdp, 5000, 4).reward
        for Phi, dither in itertools.product(every, dithers)
    ]
    first = [int(reward.argmax()) if reward.any() else None for reward in rewards]
    same = first.count(first[0])
    within = -np.expm1(-1e6 * arrival_probability(50))
    return judge_unless(
        same < len(first) or None in first, same=same, pairs=len(first), within=within
    )


@jit
def run_reinforce(
    N: int, step_size: float, rewards: int, budget: int, rng: Generator
) -> tuple[int, float]:
    """The first rewarded episode of REINFORCE on the chain, from a uniform softmax policy, and how
    far its preferences had moved from zero before it. It plays on until it has so many rewards."""
    preference, path = np.zeros((N - 1, N)), np.zeros((N - 1, 2), np.int64)  # for right over left
    earned, moved, first = 0, 0.0, 0
    for episode in range(1, budget + 1):
        s = 0
        for h in range(N - 1):
            right = rng.random() < 1 / (1 + np.exp(-preference[h, s]))
            path[h, 0], path[h, 1] = s, int(right)
            s = min(s + 1, N - 1) if right and rng.random() < 1 - 1 / N else max(s - 1, 0)
        reward = 1.0 if s == N - 1 else 0.0
        for h in range(N - 1):  # the gradient of log π(a|s), times the return
            p = 1 / (1 + np.exp(-preference[h, path[h, 0]]))
            preference[h, path[h, 0]] += step_size * reward * (path[h, 1] - p)
        if earned == 0 and reward == 0:
            moved = max(moved, np.abs(preference).max())
        earned += int(reward)
        if earned == 1 and first == 0:
            first = episode
        if earned == rewards:
            break
    return first, moved


@claim(
    "3.policy-gradient",
    place="Section 3",
    paper="a similar result holds",
    kind="Monte Carlo",
    verdict=HOLDS,
)
def policy_gradient_fails(limits: Limits = CHOSEN) -> Judgement:
    """A similar result holds for policy gradient algorithms.

    REINFORCE stays uniform until its first reward, which takes {first:.0f} episodes at N = 14,
    {expected:.0f} in expectation.

    While returns are zero so is its gradient, from any start, and the wait is 2^(N−1)/p*; from a
    policy that goes right with another probability c < 1 it is c^(1−N)/p*, exponential as well.
    Uniform softmax policy at first, step size 1, {seeds} runs for each of N = 4, 6, …, 14.
    """
    lengths, seeds, rng = range(4, 15, 2), 30, np.random.default_rng(12)
    found = {
        N: np.array([run_reinforce(N, 1.0, 10, 10**6, rng) for _ in range(seeds)]) for N in lengths
    }
    q = {N: arrival_probability(N) for N in lengths}
    z = [(found[N][:, 0].mean() - 1 / q[N]) * q[N] / np.sqrt((1 - q[N]) / seeds) for N in lengths]
    moved, worst = max(runs[:, 1].max() for runs in found.values()), float(np.abs(z).max())
    return judge_unless(
        moved > 0 or worst > limits["standard errors"] or 1 / q[14] < 2**13,
        first=mean_interval(found[14][:, 0]),
        expected=1 / q[14],
        seeds=seeds,
        worst=worst,
    )
