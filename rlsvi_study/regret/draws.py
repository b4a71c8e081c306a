"""RLSVI's sampled values given any history, played or made up."""

import numpy as np

from rlsvi_core import checks
from rlsvi_core.agents.tabular import History, no_history, value_iteration, with_room
from rlsvi_core.compiled import Floats, Generator, jit
from rlsvi_core.envs.dirichlet import Counts


def history(counts: Counts) -> History:
    """Dense counts as a history."""
    H, S, A = counts.total.shape
    seen = with_room(no_history(H, S, A), int(np.count_nonzero(counts.P)))
    for new, (h, s, a, s_next) in enumerate(np.argwhere(counts.P)[::-1].tolist()):
        seen.state[new], seen.number[new] = s_next, counts.P[h, s, a, s_next]
        seen.link[new], seen.first[h, s, a] = seen.first[h, s, a], new
    seen.used[0] = len(seen.state)
    return seen._replace(n=counts.n, total=counts.total.copy())


@jit
def _sample_many(seen: History, ridge: float, sigma: float, rng: Generator, Q: Floats) -> None:
    for i in range(Q.shape[0]):
        value_iteration(seen, ridge, sigma, True, False, rng, Q[i])


def sample_Q(counts: Counts, lam: float, sigma: float, n: int,
             rng: np.random.Generator | int | None = None) -> np.ndarray:
    """n draws of RLSVI's Q̃ given a history, an (n, H, S, A) array."""
    checks.positive(lam=lam, sigma=sigma)
    Q = np.empty((n, *counts.total.shape))
    _sample_many(history(counts), lam * sigma * sigma, float(sigma), np.random.default_rng(rng), Q)
    return Q
