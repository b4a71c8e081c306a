r"""Section 5: the Dirichlet prior over MDPs with respect to which Theorem 1 takes its expectation.

Every :math:`(s, a, h)` has two independent Dirichlet vectors. Its reward is −1 or 0 with
probabilities :math:`\sim \mathrm{Dirichlet}(\alpha^R(s,a,h))`, the first component being that of
−1; its next state is drawn from :math:`P(s,a,h) \sim \mathrm{Dirichlet}(\alpha^P(s,a,h))`. The
start :math:`\pi` is known. After :math:`n(s,a,h)` visits with mean reward :math:`\hat R` and
transition frequencies :math:`\hat P` the posterior is of the same form: counts are added to
:math:`\alpha`, and its means are

.. math::
    \bar R = \frac{-\alpha^R_1 + n \hat R}{\mathbf 1^\top\alpha^R + n}, \qquad
    \bar P = \frac{\alpha^P + n \hat P}{\mathbf 1^\top\alpha^P + n}.

Rewards on another ``support``, such as {0, 1}, are not in the paper's prior, and its proof fails with
them. There is no terminal reward.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..mdp import FiniteMDP, sample_index
from ..runtime import checks
from ..runtime.compilation import Floats, Generator, Seed, jit

__all__ = ["DirichletPrior", "OutcomeCounts"]


class OutcomeCounts(NamedTuple):
    """Sufficient statistics of a history, for a tabular agent."""

    R: Floats  # (H, S, A, 2) rewards seen: low, high
    P: Floats  # (H, S, A, S) transitions seen
    total: Floats  # (H, S, A) sum of rewards

    @property
    def n(self) -> Floats:
        """Visits to (s, a, h), as an (H, S, A) array."""
        return np.asarray(self.P.sum(axis=3))


def zero_counts(H: int, S: int, A: int) -> OutcomeCounts:
    """An empty history."""
    return OutcomeCounts(np.zeros((H, S, A, 2)), np.zeros((H, S, A, S)), np.zeros((H, S, A)))


@jit
def fill_dirichlet(alpha: Floats, rng: Generator, out: Floats) -> None:
    """Fill ``out`` with a Dirichlet draw: gamma variables over their sum."""
    total = 0.0
    for i in range(alpha.shape[0]):
        out[i] = rng.standard_gamma(alpha[i]) if alpha[i] > 0.0 else 0.0
        total += out[i]
    if total == 0.0:  # all underflowed, which takes α below 0.01: the law is that of a corner
        out[sample_index(alpha / alpha.sum(), rng.random())] = total = 1.0
    for i in range(alpha.shape[0]):
        out[i] /= total


@jit
def fill_sampled_Q(
    alpha_R: Floats, alpha_P: Floats, low: float, high: float, rng: Generator, Q: Floats
) -> None:
    """Fill Q with Q* of an MDP drawn from the prior: no need to keep the MDP itself."""
    H, S, A = Q.shape
    r = np.empty(2)
    p = np.empty(S)
    V = np.zeros(S)
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                fill_dirichlet(alpha_R[h, s, a], rng, r)
                fill_dirichlet(alpha_P[h, s, a], rng, p)
                value = low * r[0] + high * r[1]
                for i in range(S):
                    value += p[i] * V[i]
                Q[h, s, a] = value
        for s in range(S):
            V[s] = Q[h, s].max()


def _check_alpha(name: str, values: Any, shape: tuple[int | str, ...]) -> Floats:
    alpha = checks.check_array(name, values, shape)
    checks.reject_entries(
        alpha < 0, f"{name} holds Dirichlet weights, numbers of at least 0", name, alpha
    )
    return alpha


@dataclass(frozen=True, eq=False)
class DirichletPrior:
    """A law over MDPs: the prior of section 5, or the posterior after some data.

    Parameters
    ----------
    alpha_R : (H, S, A, 2) array_like
        Weights of the low and the high reward.
    alpha_P : (H, S, A, S) array_like
        Weights of the next states.
    initial : (S,) array_like, optional
        The known distribution π of s_0; state 0 by default.
    support : tuple of float
        (low, high), the two rewards; (−1, 0) in the paper.

    Examples
    --------
    >>> prior = DirichletPrior.symmetric(H=3, S=2, A=2)
    >>> seen = zero_counts(3, 2, 2)
    >>> seen.P[0, 0, 1, 1] = 8                # h = 0, s = 0, a = 1: eight times to state 1
    >>> prior.sample(rng=1), prior.posterior(seen).mean_P[0, 0, 1]
    (FiniteMDP(H=3, S=2, A=2), array([0.1, 0.9]))
    """

    alpha_R: Floats
    alpha_P: Floats
    initial: Any = None
    support: tuple[float, float] = (-1.0, 0.0)
    shape: tuple[int, int, int] = field(init=False)  # (H, S, A), as that of the next three
    m_R: Floats = field(init=False)  # 1'α^R
    m_P: Floats = field(init=False)  # 1'α^P
    mean_R: Floats = field(init=False)  # R̄
    mean_P: Floats = field(init=False)  # P̄, (H, S, A, S)

    def __post_init__(self) -> None:
        alpha_P = _check_alpha("alpha_P", self.alpha_P, ("H", "S", "A", "S"))
        H, S, A, _ = alpha_P.shape
        alpha_R = _check_alpha("alpha_R", self.alpha_R, (H, S, A, 2))
        m_R = alpha_R.sum(axis=3)
        m_P = alpha_P.sum(axis=3)
        for name, m in (("alpha_R", m_R), ("alpha_P", m_P)):
            checks.reject_entries(
                m == 0, f"each row of {name} must have a positive weight", f"the sum of {name}", m
            )
        low, high = checks.check_bounds("support", self.support, hint="The paper has (-1, 0).")
        checks.set_frozen_fields(
            self,
            alpha_R=alpha_R,
            alpha_P=alpha_P,
            support=(low, high),
            initial=checks.check_array(
                "initial", np.arange(S) == 0 if self.initial is None else self.initial, (S,)
            ),
            shape=(H, S, A),
            m_R=m_R,
            m_P=m_P,
            mean_R=alpha_R @ np.array([low, high], float) / m_R,
            mean_P=alpha_P / m_P[..., None],
        )
        self.mean_mdp()  # FiniteMDP refuses a bad π or support

    def __repr__(self) -> str:
        return "DirichletPrior(H={}, S={}, A={})".format(*self.shape)

    @classmethod
    def symmetric(
        cls, H: int, S: int, A: int, alpha_R: float = 1.0, alpha_P: float = 1.0, **rest: Any
    ) -> "DirichletPrior":
        """The same weight for every outcome of every (s, a, h)."""
        for name, value in (("H", H), ("S", S), ("A", A)):
            checks.check_integer(name, value, 1, hint="Pass H=5, S=5, A=3, say.")
        checks.check_positive(alpha_R=alpha_R, alpha_P=alpha_P)
        return cls(np.full((H, S, A, 2), alpha_R), np.full((H, S, A, S), alpha_P), **rest)

    def _build_mdp(self, R: Floats, P: Floats) -> FiniteMDP:
        R = np.clip(R, *self.support)  # rounding may lead out
        return FiniteMDP(P, R, initial=self.initial, support=self.support)

    def mean_mdp(self) -> FiniteMDP:
        """The MDP of the mean rewards and transitions.

        Periods are independent, so a fixed policy's value here is its expected value in the law.
        """
        return self._build_mdp(self.mean_R, self.mean_P)

    def sample(self, rng: Seed = None) -> FiniteMDP:
        """An MDP from this law; every realised reward is low or high."""
        rng = checks.as_generator(rng)
        R = np.zeros_like(self.alpha_R)
        P = np.zeros_like(self.alpha_P)
        for at in np.ndindex(self.shape):
            fill_dirichlet(self.alpha_R[at], rng, R[at])
            fill_dirichlet(self.alpha_P[at], rng, P[at])
        return self._build_mdp(R @ self.support, P)

    def posterior(self, counts: OutcomeCounts) -> "DirichletPrior":
        """The law given what was seen: counts are added to the weights."""
        checks.check_instance(
            "counts", counts, OutcomeCounts, hint="See zero_counts for an empty one."
        )
        R = _check_alpha("R", counts.R, self.alpha_R.shape)
        P = _check_alpha("P", counts.P, self.alpha_P.shape)
        return DirichletPrior(self.alpha_R + R, self.alpha_P + P, self.initial, self.support)

    def sample_Q(self, n: int, rng: Seed = None) -> Floats:
        """Q* of n MDPs from this law, an (n, H, S, A) array."""
        n = checks.check_integer("n", n, hint="It counts draws: pass n=100, say.")
        rng = checks.as_generator(rng)
        Q = np.empty((n, *self.shape))
        for q in Q:
            fill_sampled_Q(self.alpha_R, self.alpha_P, *self.support, rng, q)
        return Q
