r"""RLSVI with linear features, with one thing changed.

Before each episode every variant fits backwards from the last period, as Algorithm 1 does. With
the rows :math:`\phi_i` of period h in A and the targets :math:`r_i + \tilde V_{h+1}(s_i')` in b,

.. math::
    \Lambda = A^\top A + \text{ridge} \cdot I, \qquad \hat\theta = \Lambda^{-1} A^\top b, \qquad
    \tilde Q_h(s, a) = \Bigl[\phi(s, a)^\top w
        + \beta\,\|\phi(s, a)\|_{\Lambda^{-1}}\Bigr]_{\text{cut to the range of values}},

:math:`\tilde V_h(s) = \max_a \tilde Q_h(s, a)`, and it acts greedily on :math:`\tilde Q`. RLSVI draws
:math:`w \sim N(\hat\theta, \sigma^2\Lambda^{-1})`, with ridge λσ² and β = 0, and does not cut.

**LSVI-UCB** (Jin, Yang, Wang and Jordan, COLT 2020, Theorem 3.1): :math:`w = \hat\theta`, ridge 1, a
cut, and :math:`\beta = c\,dH\sqrt\iota` with :math:`\iota = \log(2dT/p)`, T steps in all. The constant
c is "absolute" and has no number; here c = 1. This agrees with a restatement of the theorem. They
cut Q at H from above only; we cut from both sides. H stands for the width of the range of values,
which is H for rewards in [0, 1]. The constants are for features of norm at most 1, to which the
study scales its own. Before any data all act uniformly, as Algorithm 2 does.

**Langevin** (LMC-LSVI; Ishfaq et al., ICLR 2024): steps
:math:`w \leftarrow w - \eta\,\nabla L(w) + \sqrt{2\eta/\beta}\,\epsilon`, :math:`\epsilon \sim N(0,
I)`, on the loss :math:`L(w) = \|Aw - b\|^2 + \lambda\|w\|^2`, whose gradient is
:math:`2\Lambda(w - \hat\theta)`. As we remember it, :math:`\eta = 1/(4\lambda_{\max}(\Lambda))`,
:math:`J = 2\kappa\log(4HLd)` steps with κ the condition number of Λ and L the number of episodes,
and λ = 1. We write :math:`\sigma^2 = 1/(2\beta)`.

J steps are one Gaussian draw. Along an eigenvector of Λ with eigenvalue l put
:math:`a = 1 - 2\eta l`. A step multiplies the distance to :math:`\hat\theta` by a and adds the
variance :math:`4\eta\sigma^2`. After J steps the distance is :math:`a^J` times that of the start,
and the variance is

.. math::
    4\eta\sigma^2 (1 + a^2 + \dots + a^{2(J-1)}) = \frac{\sigma^2}{l}\cdot
    \frac{2(1 - a^{2J})}{1 + a}.

The constants above have :math:`a^J \le 1/(4HLd)` and :math:`1 \le 2/(1 + a) \le 4/3` for every l. So
with them Langevin LSVI is RLSVI with a cut, and with a variance that is at most a third too large.
The study therefore has no runs of it but those of RLSVI with a cut.

Accuracy: Λ is held as a triangular factor into which rows are rotated, so nothing is subtracted and
no inverse is updated.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from rlsvi_core.checks import array, between, fail, generator, inside, instance, positive, whole
from rlsvi_core.compiled import Floats, Generator, jit
from rlsvi_core.kernels import (
    Model,
    Statistics,
    action_probabilities,
    add_transition,
    choose,
    draw,
    first_state,
    highest,
    last_reward,
    no_data,
    period,
    solve_transposed,
    step,
)
from rlsvi_core.mdp import FiniteMDP

__all__ = ["Variant", "learn", "lsvi_ucb"]


class Variant(NamedTuple):
    """What a variant changes, in the symbols above."""

    ridge: float  # λ
    sigma: float = 0.0  # σ; 0 takes the mean
    beta: float = 0.0  # β

    def checked(self) -> "Variant":
        positive(ridge=self.ridge)
        hint = "It multiplies something that is not negative."
        for name in ("sigma", "beta"):
            between(name, getattr(self, name), 0, math.inf, hint=hint)
        return Variant(float(self.ridge), float(self.sigma), float(self.beta))


def lsvi_ucb(
    d: int, H: int, width: float, episodes: int, factor: float = 1.0, p: float = 0.05
) -> Variant:
    """LSVI-UCB for d features of norm at most 1 and values in a range of this width; its bonus is
    ``factor`` times the published one."""
    positive(width=width, factor=factor)
    inside("p", p, 0, 1, hint="It is the probability that the bound fails.")
    d, H, L = (
        whole(name, size, 1, hint="It is a size: pass 10, say.")
        for name, size in {"d": d, "H": H, "episodes": episodes}.items()
    )
    return Variant(ridge=1.0, beta=factor * d * width * math.sqrt(math.log(2 * d * L * H / p)))


def after_steps(l: float, eta: float, J: int) -> tuple[float, float]:
    """What J Langevin steps along an eigenvector leave of the start, and their variance for σ = 1."""
    a = 1.0 - 2.0 * eta * l
    power = a**J
    return power, 2.0 * (1.0 - power * power) / ((1.0 + a) * l)


# --------------------------------------------------------------------------- the learner


@jit
def _plan(
    Phi: Floats,
    data: Statistics,
    variant: Variant,
    limits: Floats,
    rng: Generator,
    w: Floats,
    Q: Floats,
) -> None:
    """Fit all periods, from the last one backwards, and fill in the weights w and Q̃."""
    H, S, A, K = Phi.shape
    x, z, row = np.empty(K), np.zeros(K), np.empty(K)
    for h in range(H - 1, -1, -1):
        U = data.U[h]
        for k in range(K):
            x[k] = data.c[h, k]
        if h < H - 1:
            for s in range(S):
                V = highest(Q[h + 1, s])
                for k in range(K):
                    x[k] += V * data.g[h, s, k]  # A'b
        solve_transposed(U, x)
        if variant.sigma > 0.0:
            for k in range(K):
                z[k] = rng.standard_normal()
        w[h] = 0.0
        draw(U, x, variant.sigma, z, w[h])  # Algorithm 1, lines 3 and 4
        for s in range(S):
            for a in range(A):
                q = 0.0
                for k in range(K):
                    q += Phi[h, s, a, k] * w[h, k]
                if variant.beta > 0.0:
                    norm = 0.0
                    for k in range(K):
                        row[k] = Phi[h, s, a, k]
                    solve_transposed(U, row)
                    for k in range(K):
                        norm += row[k] * row[k]
                    q += variant.beta * math.sqrt(norm)
                Q[h, s, a] = min(max(q, limits[h, 0]), limits[h, 1])


@jit
def _expected_reward(model: Model, Q: Floats) -> float:
    """The exact expected reward of acting greedily on Q, ties at random."""
    H, S, A = Q.shape
    here, there, p, total = model.initial.copy(), np.zeros(S), np.empty(A), 0.0
    for h in range(H):
        t = period(model.successor, h)
        for s in range(S):
            there[s] = 0.0
        for s in range(S):
            if here[s] == 0.0:
                continue
            action_probabilities(Q[h, s], 0.0, 0.0, p)
            for a in range(A):
                for b in range(model.successor.shape[3]):
                    mass = here[s] * p[a] * model.probability[t, s, a, b]
                    there[model.successor[t, s, a, b]] += mass
                    total += mass * model.reward[t, s, a, b]
        here, there = there, here
    for s in range(S):
        total += here[s] * model.terminal[s]
    return total


@jit
def _learn(
    model: Model,
    Phi: Floats,
    data: Statistics,
    variant: Variant,
    limits: Floats,
    env: Generator,
    own: Generator,
    w: Floats,
    Q: Floats,
    expected: Floats,
) -> None:
    H, _, A, K = Phi.shape
    p, row = np.empty(A), np.empty(K)
    for i in range(expected.shape[0]):
        if i > 0:  # before any data all values are 0
            _plan(Phi, data, variant, limits, own, w, Q)
        expected[i] = _expected_reward(model, Q)
        s = first_state(model, env)
        for h in range(H):
            a = choose(Q[h, s], 0.0, 0.0, p, own.random())
            r, s_next = step(model, h, s, a, env)
            if h == H - 1:
                r += last_reward(model, s_next, env)
            add_transition(Phi, data, h, s, a, r, s_next, row)
            s = s_next


class Learned(NamedTuple):
    expected: Floats  # (L,) the exact expected reward of each episode's policy
    w: Floats  # (H, K) the weights of the last episode
    Q: Floats  # (H, S, A) its values


def learn(
    mdp: FiniteMDP,
    Phi: Any,
    variant: Variant,
    episodes: int,
    env: Any = None,
    own: Any = None,
    value_range: Any = None,
) -> Learned:
    """Let a variant learn for so many episodes.

    Parameters
    ----------
    mdp, Phi : the world, and an (H, S, A, K) array of features.
    variant : what is changed: ``lsvi_ucb(…)``, or a Variant.
    episodes : how many.
    env, own : generators, or seeds, for the world and for the agent.
    value_range : (H, 2) array, the least and the largest value in each period; no cut by default.

    Returns
    -------
    Learned

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(4)
    >>> agent = lsvi_ucb(d=8, H=3, width=1.0, episodes=200, factor=0.02)
    >>> found = learn(mdp, features.tabular(mdp), agent, 200, 1, 2, [[0, 1]] * 3)
    >>> float(round(mdp.value - found.expected[-1], 9))
    0.0
    """
    instance("mdp", mdp, FiniteMDP, hint="rlsvi_core.chain(10) is one.")
    instance("variant", variant, Variant, hint="Pass lsvi_ucb(…), say.")
    variant = variant.checked()
    Phi = array("Phi", Phi, (mdp.H, mdp.S, mdp.A, None), hint="Pass features for this MDP.")
    limits = np.tile([-np.inf, np.inf], (mdp.H, 1))
    if value_range is not None:
        limits = array("value_range", value_range, (mdp.H, 2), hint="A pair for each period.")
        if not (limits[:, 0] < limits[:, 1]).all():
            fail(
                "value_range holds pairs (low, high) with low < high",
                f"it is {limits.tolist()}",
                "Pass [[0, H - h] for h in range(H)] for rewards in [0, 1].",
            )
    expected = np.zeros(whole("episodes", episodes, 1, hint="Pass episodes=1000, say."))
    K = Phi.shape[3]
    data = no_data(mdp.H, mdp.S, K, math.sqrt(variant.ridge))
    w, Q = np.zeros((mdp.H, K)), np.zeros((mdp.H, mdp.S, mdp.A))
    _learn(mdp.model, Phi, data, variant, limits, generator(env), generator(own), w, Q, expected)
    return Learned(expected, w, Q)
