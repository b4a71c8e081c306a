r"""RLSVI with one feature: Algorithms 1 and 2 written out where the regression is a division.

It is the library's agent draw for draw, but several times as fast, and values can be cut to
another range in each period. The first episode has zero weights, as the footnote says; nothing that
is studied here depends on that.
"""

import math
from typing import NamedTuple

import numpy as np

from rlsvi_core.mdp import (
    FiniteMDP,
    MDPArrays,
    sample_first_state,
    sample_step,
    sample_terminal_reward,
)
from rlsvi_core.regression import draw_posterior_scalar, sample_noise
from rlsvi_core.runtime.compilation import Floats, Generator, Ints, jit
from rlsvi_core.runtime.loop import max_value, sample_action

__all__ = ["simulate_openings"]


@jit
def play_one_feature(
    model: MDPArrays,
    phi: Floats,
    lam: float,
    sigma: float,
    limit: Floats,
    env: Generator,
    own: Generator,
    start: Ints,
    opening: Ints,
) -> None:
    """RLSVI with one feature and V_h cut to ±limit[h]; fill in each episode's first state and
    action."""
    H, S, A = phi.shape
    M, c, g = np.full(H, lam * sigma * sigma), np.zeros(H), np.zeros((H, S))  # + Σφ², Σφr, Σφ by s'
    theta, q, p = np.zeros(H), np.empty(A), np.empty(A)
    for i in range(opening.shape[0]):
        for h in range(H - 1 if i > 0 else -1, -1, -1):  # weights stay 0 before any data
            total = c[h]
            for s in range(S):
                if h < H - 1:
                    for a in range(A):
                        q[a] = phi[h + 1, s, a] * theta[h + 1]
                    total += g[h, s] * min(max(max_value(q), -limit[h + 1]), limit[h + 1])
            theta[h] = draw_posterior_scalar(M[h], total, sigma, sample_noise(own))
        s = start[i] = sample_first_state(model, env)
        for h in range(H):
            for a in range(A):
                q[a] = phi[h, s, a] * theta[h]
            a = sample_action(q, 0.0, 0.0, p, own.random())
            r, s_next = sample_step(model, h, s, a, env)
            if h == H - 1:
                r += sample_terminal_reward(model, s_next, env)
            x = phi[h, s, a]
            M[h] += x * x
            c[h] += x * r
            g[h, s_next] += x
            opening[i] = a if h == 0 else opening[i]
            s = s_next


class EpisodeStarts(NamedTuple):
    """How each episode began."""

    start: Ints
    action: Ints


def simulate_openings(
    mdp: FiniteMDP,
    Phi: Floats,
    episodes: int,
    env: Generator,
    own: Generator,
    *,
    lam: float = 1.0,
    sigma: float = 1.0,
    most: float = math.inf,
) -> EpisodeStarts:
    """How the episodes of RLSVI with one feature begin; V_h is cut to ±most (H − h)."""
    found, limit = (
        EpisodeStarts(*np.zeros((2, episodes), np.int64)),
        most * np.arange(mdp.H, 0.0, -1.0),
    )
    play_one_feature(mdp.model, Phi[..., 0], lam, sigma, limit, env, own, *found)
    return found
