"""What claims are checked on: bases and policies of the chain, REINFORCE, two periods by hand, a
bandit."""

import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.special import ndtr

from rlsvi_core import features
from rlsvi_core.compiled import Generator, jit
from rlsvi_core.mdp import FiniteMDP


def bases(mdp: FiniteMDP) -> list[np.ndarray]:
    """A tabular, a coherent and an agnostic basis."""
    return [
        features.tabular(mdp),
        features.coherent(mdp.Q, 4, 0),
        features.agnostic(mdp.Q, 4, 0.5, 0),
    ]


def policies(mdp: FiniteMDP) -> Iterator[np.ndarray]:
    """Every deterministic policy, as (H, S) arrays."""
    return (
        np.array(actions).reshape(mdp.H, mdp.S)
        for actions in itertools.product(range(mdp.A), repeat=mdp.H * mdp.S)
    )


@jit
def reinforce(
    N: int, step_size: float, rewards: int, budget: int, rng: Generator
) -> tuple[int, int, float]:
    """Episodes until so many rewards of REINFORCE on the chain, from a uniform softmax policy; and
    how far its preferences had moved from zero before the first (the paper's l*)."""
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
            return first, episode, moved
    return first, budget + 1, moved


def two_periods(n: int, lam: float, sigma: float) -> np.ndarray:
    """RLSVI's standard deviations of Q_0 and Q_1 in multiples of the posterior's: one state and one
    action, n rewards Q_1 + noise of the last period and n rewards Q_0 − Q_1 + noise before it.

    The posterior lets the first rewards speak about Q_1, too; RLSVI draws Q_1 without them.
    """
    weight = n / sigma**2
    exact = np.linalg.inv(lam * np.eye(2) + weight * np.array([[1, -1], [-1, 2]]))
    last = 1 / (lam + weight)  # of Q_1, and of Q_0 given Q_1
    return np.sqrt([(weight * last) ** 2 * last + last, last] / np.diag(exact))


@cache
def bandit_regret(
    sigma: float, episodes: int = 400, lam: float = 1.0, p: float = 0.75
) -> np.ndarray:
    """Expected regret per episode of RLSVI with two arms, exactly: one pays ½ for sure, the other 1
    with probability p. What was seen is (pulls, wins) of the other; all chances are summed."""
    at = np.zeros((episodes + 1, episodes + 1))
    at[0, 0] = 1.0
    pulled, cost = np.zeros_like(at), np.empty(episodes)
    for l in range(episodes):
        pulls, wins = np.tril_indices(l + 1)  # all that can have been seen
        seen, other = pulls + lam * sigma**2, l - pulls
        known = other + lam * sigma**2
        gap = wins / seen - 0.5 * other / known  # of the posterior means
        spread = sigma * np.sqrt(1 / seen + 1 / known)
        chance = ndtr(gap / spread) if l else 0.5  # the first episode is a tie
        pulled[pulls, wins] = at[pulls, wins] * chance
        cost[l] = (p - 0.5) * (1 - pulled.sum())
        at -= pulled
        at[1:] += (1 - p) * pulled[:-1]
        at[1:, 1:] += p * pulled[:-1, :-1]
    return cost
