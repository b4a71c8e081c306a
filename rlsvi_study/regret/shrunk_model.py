r"""The models of Theorem 1's proof, given any data, in floats or in fractions.

Fix what some episodes have shown: n visits to (s, a, h), ρ = λσ². The *mean MDP* has the posterior means
:math:`\bar R, \bar P`, the *shrunk model* :math:`R^{sh} = n\hat R/(n+\rho)` and
:math:`P^{sh} = n\hat P/(n+\rho)`; with noise w RLSVI's values are those of the shrunk model with rewards
:math:`R^{sh} + w`. The page *5. Proofs* has the proof.
"""

import math
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray  # of floats, or of fractions: the models below take both
fractions = np.vectorize(Fraction, otypes=[object])


class HistoryData(NamedTuple):
    """Prior weights and any counts whatever."""

    alpha_R: Array  # (H, S, A, N) of the N rewards there can be
    alpha_P: Array  # (H, S, A, S)
    seen_R: Array
    seen_P: Array
    worth: Array  # (N,) the rewards

    @property
    def m(self) -> Any:
        """The larger total weight, max(m_R, m_P)."""
        return max(self.alpha_R.sum(-1).max(), self.alpha_P.sum(-1).max())

    def as_floats(self) -> "HistoryData":
        return HistoryData(*(x.astype(float) for x in self))


class ShrunkModels(NamedTuple):
    """The shrunk model and the mean MDP that data give."""

    n: Array  # (H, S, A)
    R_sh: Array
    P_sh: Array  # (H, S, A, S)
    R_bar: Array
    P_bar: Array


def shrunk_models(data: HistoryData, rho: Any) -> ShrunkModels:
    alpha_R, alpha_P, seen_R, seen_P, worth = data
    n = seen_P.sum(-1)
    M, m_R, m_P = n + rho, n + alpha_R.sum(-1), n + alpha_P.sum(-1)
    return ShrunkModels(
        n,
        (seen_R * worth).sum(-1) / M,
        seen_P / M[..., None],
        ((seen_R + alpha_R) * worth).sum(-1) / m_R,
        (seen_P + alpha_P) / m_P[..., None],
    )


def _lookahead(P: Array, x: Array, V: Array, h: int) -> Array:
    return x[..., h, :, :] + (P[..., h, :, :, :] * V[..., None, None, :]).sum(-1)


def optimal_values(P: Array, x: Array, end: Array) -> tuple[Array, Array]:
    """Collecting x along P as well as can be: values (…, H + 1, S) and the policy (…, H, S)."""
    V, mu = [np.broadcast_to(end, (*x.shape[:-3], len(end)))], list[Array]()
    for h in reversed(range(x.shape[-3])):
        q = _lookahead(P, x, V[0], h)
        mu.insert(0, q.argmax(-1))
        V.insert(0, q.max(-1))
    return np.stack(V, -2), np.stack(mu, -2)


def policy_values(P: Array, x: Array, mu: Array, end: Array) -> Array:
    """Collecting x along P by the policy mu: values (…, H + 1, S)."""
    V = [np.broadcast_to(end, (*x.shape[:-3], len(end)))]
    for h in reversed(range(x.shape[-3])):
        V.insert(0, np.take_along_axis(_lookahead(P, x, V[0], h), mu[..., h, :, None], -1)[..., 0])
    return np.stack(V, -2)


class Telescope(NamedTuple):
    """Both sides of step 3 for given noise, by start; and what its bounds speak of."""

    left: Array  # Ṽ_0 − V̄^μ̃_0
    right: Array  # E_sh Σ (b′ + w)
    bias: Array  # b′, (H, S, A)
    most: Array  # (H − h + G) ρ/(n + ρ)


def telescope(data: HistoryData, rho: Any, w: Array, end: Array) -> Telescope:
    """Step 3 with a terminal reward ``end`` in [−G, 0]."""
    n, R_sh, P_sh, R_bar, P_bar = shrunk_models(data, rho)
    V, mu = optimal_values(P_sh, R_sh + w, end)
    V_bar = policy_values(P_bar, R_bar, mu, end)
    bias = R_sh - R_bar + ((P_sh - P_bar) * V_bar[1:, None, None, :]).sum(-1)
    left_to_go = np.arange(len(n), 0, -1).reshape(-1, 1, 1) - end.min()
    return Telescope(
        V[0] - V_bar[0],
        policy_values(P_sh, bias + w, mu, 0 * end)[0],
        bias,
        left_to_go * (rho / (n + rho)),
    )


def example_histories(
    rng: np.random.Generator,
    H: int = 3,
    S: int = 2,
    A: int = 2,
    worth: tuple[Fraction | int, ...] = (-1, 0),
) -> dict[str, HistoryData]:
    """Random and adversarial counts, exact, with random weights. Any counts will do: the steps
    never ask whether an agent could have come by them."""
    shape, N = (H, S, A), len(worth)
    alpha = [fractions(rng.integers(1, 9, (*shape, k)), 4) for k in (N, S)]

    def data(n: Any, reward: int | None, state: int | None) -> HistoryData:
        n = np.broadcast_to(n, shape)
        sure = [np.zeros((*shape, k), int) for k in (N, S)]
        for seen, always in zip(sure, (reward, state), strict=True):
            if always is None:
                seen[...] = rng.multinomial(n, np.full(seen.shape[-1], 1 / seen.shape[-1]))
            else:
                seen[..., always] = n
        return HistoryData(
            alpha[0], alpha[1], fractions(sure[0]), fractions(sure[1]), fractions(worth)
        )

    lopsided = np.zeros(shape, int)
    lopsided[:, 0, 0] = 10**6
    return {
        "nothing seen": data(0, None, None),
        "random": data(rng.integers(0, 30, shape), None, None),
        "all lost": data(rng.integers(0, 30, shape), 0, 0),
        "all won": data(rng.integers(1, 30, shape), N - 1, S - 1),
        "lopsided": data(lopsided, 0, 0),
        "settled": data(10**4, None, None),
    }


def sample_noise(
    rng: np.random.Generator, data: HistoryData, rho: float, sigma: float, draws: int
) -> Array:
    n = data.seen_P.sum(-1)
    return sigma * rng.standard_normal((draws, *n.shape)) / np.sqrt(n + rho)


def _sample_dirichlet(rng: np.random.Generator, alpha: Array, draws: int) -> Array:
    g = rng.standard_gamma(alpha, (draws, *alpha.shape))
    return g / g.sum(-1, keepdims=True)


def optimism_violation(
    data: HistoryData, rho: float, sigma: float, end: Array, draws: int, rng: np.random.Generator
) -> float:
    """By how many standard errors the mean of V*_0 lies above that of Ṽ_0, at the worst start."""
    _, R_sh, P_sh, _, _ = shrunk_models(data, rho)
    ours = optimal_values(P_sh, R_sh + sample_noise(rng, data, rho, sigma, draws), end)[0][:, 0]
    R = (_sample_dirichlet(rng, data.alpha_R + data.seen_R, draws) * data.worth).sum(-1)
    truth = optimal_values(_sample_dirichlet(rng, data.alpha_P + data.seen_P, draws), R, end)[0][
        :, 0
    ]
    error = np.sqrt((ours.var(0) + truth.var(0)) / draws)
    return float(((truth.mean(0) - ours.mean(0)) / error).max())


def dirichlet_moment(alpha: list[Fraction], powers: list[int]) -> Fraction:
    """E Π p_i^{k_i} for p ~ Dirichlet(α): rising factorials over one."""
    value, total, used = Fraction(1), sum(alpha), 0
    for a, k in zip(alpha, powers, strict=True):
        for j in range(k):
            value *= (a + j) / (total + used)
            used += 1
    return value


def value_by_paths(rows: dict[Any, list[Fraction]], row: Any, reward: Any, H: int) -> Fraction:
    """E V_0 of state 0 when ``row(h, s)`` names the Dirichlet row of ``rows`` that moves on from s
    in period h, and reward(h, s) is the mean reward: every path with its exact probability."""
    S, value = len(next(iter(rows.values()))), Fraction(0)
    for path in product(range(S), repeat=H - 1):
        states = (0, *path)
        used = {key: [0] * S for key in rows}
        for h, (s, s_next) in enumerate(zip(states, path, strict=False)):
            used[row(h, s)][s_next] += 1
        chance = math.prod(dirichlet_moment(rows[key], powers) for key, powers in used.items())
        value += chance * sum(reward(h, s) for h, s in enumerate(states))
    return value


def stationary_counterexample(tiny: Fraction) -> dict[str, Any]:
    """E V*_0 and E Ṽ_0 where transitions do not depend on the period, at the printed λ and σ.

    H = 5, one action. State 0 pays 0 and keeps the agent with probability p; state 1 always pays
    −1. Weights are ``tiny`` in all, λ = 2 tiny, σ² = 26. Two histories: a regression that pools
    the periods has seen five episodes 0, 0, 1, 1, 1; Algorithm 1, which does not, has seen 32, and
    in each period half of those still in state 0 leave it.
    """
    H, rho, found = 5, 52 * tiny, {}
    pooled = np.array([[5, 5], [0, 15]])
    apart = np.array([[[16 >> h, 16 >> h], [0, 32 - (32 >> h)]] for h in range(H)])
    for name, seen in (("pooled", np.array([pooled] * H)), ("by period", apart)):
        once = pooled if name == "pooled" else apart.sum(0)
        rows = {0: [tiny / 2 + int(x) for x in once[0]], 1: [Fraction(0), tiny + int(once[1, 1])]}
        truth = value_by_paths(rows, lambda h, s: s, lambda h, s: -s, H)
        n = fractions(seen.sum(-1))
        shrunk = seen / (n + rho)[..., None]
        R = -(n / (n + rho)) * np.array([0, 1])
        ours = policy_values(
            shrunk[:, :, None], R[..., None], np.zeros((H, 2), int), np.array([0, 0])
        )
        found[name] = float(truth), float(ours[0, 0])
    return found
