"""What Conjecture 1 asks for, and what the literature does: whether a world has it."""

import numpy as np

from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.runtime.compilation import Floats


def meets_hypotheses(
    world: tuple[FiniteMDP, np.ndarray], lam: float = 1.0, sigma: float = 1.0
) -> bool:
    """Whether an MDP and its features are what the conjecture asks for: Q* is linear in them for
    exactly one θ, with Σ‖θ‖² ≤ KH/λ, and rewards lie in [−σ, σ]."""
    (mdp, Phi), total = world, 0.0
    K = Phi.shape[-1]
    for rows, Q in zip(Phi.reshape(mdp.H, -1, K), mdp.Q.reshape(mdp.H, -1), strict=True):
        theta, _, rank, _ = np.linalg.lstsq(rows, Q, rcond=None)
        if rank < K or np.abs(rows @ theta - Q).max() > 1e-12:
            return False
        total += theta @ theta
    rewards = (*np.abs(mdp.R[mdp.P > 0]), *np.abs(mdp.terminal))
    return bool(max(rewards) <= sigma and total <= K * mdp.H / lam)


def _in_column_span(rows: Floats, wanted: Floats) -> bool:
    return bool(np.allclose(rows @ np.linalg.lstsq(rows, wanted, rcond=None)[0], wanted))


def is_linear_mdp(mdp: FiniteMDP, Phi: Floats) -> bool:
    """Whether in every period transitions and mean rewards are linear in the features."""
    for P, R, phi in zip(mdp.P, mdp.R, Phi, strict=True):
        rows = phi.reshape(-1, Phi.shape[-1])
        both = np.column_stack([P.reshape(len(rows), -1), (P * R).sum(axis=2).ravel()])
        if not _in_column_span(rows, both):
            return False
    return True


def is_bellman_closed(mdp: FiniteMDP, Phi: Floats, rng: np.random.Generator) -> bool:
    """Whether the Bellman update of Φθ is some Φθ', for a random θ in each period."""
    for h in range(mdp.H - 1):
        V = (Phi[h + 1] @ rng.normal(0, 3, Phi.shape[-1])).max(axis=1)
        update = (mdp.P[h] * (mdp.R[h] + V)).sum(axis=2).ravel()
        if not _in_column_span(Phi[h].reshape(update.size, -1), update):
            return False
    return True
