r"""RLSVI with linear features, with one thing changed.

Before each episode every variant fits backwards from the last period, as Algorithm 1 does. With
the rows :math:`\phi_i` of period h in A and the targets :math:`r_i + \tilde V_{h+1}(s_i')` in b,

.. math::
    \Lambda = A^\top A + \text{ridge} \cdot I, \qquad \hat\theta = \Lambda^{-1} A^\top b, \qquad
    \tilde Q_h(s, a) = \Bigl[\max_{m \le M} \phi(s, a)^\top w_m
        + \beta\,\|\phi(s, a)\|_{\Lambda^{-1}}\Bigr]_{\text{cut to the range of values}},

:math:`\tilde V_h(s) = \max_a \tilde Q_h(s, a)`, and it acts greedily on :math:`\tilde Q`.

========== ======================================================= ====== ===== ===== =====
variant    weights                                                 ridge  M     β     cut
========== ======================================================= ====== ===== ===== =====
RLSVI      :math:`w \sim N(\hat\theta, \sigma^2\Lambda^{-1})`      λσ²    1     0     no
LSVI-UCB   :math:`w = \hat\theta`                                  λ      1     > 0   yes
LSVI-PHE   :math:`w_m \sim N(\hat\theta, \sigma^2\Lambda^{-1})`    λ      many  0     yes
Langevin   J noisy gradient steps from the last episode's w        λ      1     0     yes
========== ======================================================= ====== ===== ===== =====

**LSVI-UCB** (Jin, Yang, Wang and Jordan, COLT 2020, Theorem 3.1): λ = 1 and
:math:`\beta = c\,dH\sqrt\iota` with :math:`\iota = \log(2dT/p)`, T steps in all. The constant c is
"absolute" and has no number; here c = 1. They cut Q at H from above only.

**LSVI-PHE** (Ishfaq et al., ICML 2021): independent noise :math:`N(0, \sigma^2)` is added to every
reward, and to the prior, M times. A fit to such data has the law in the table.
:math:`\sigma = \tilde O(H\sqrt d)`, and
:math:`M = d \log(\delta/9) / \log \Phi(1)`, Φ the normal distribution function; λ = 1.

**Langevin** (LMC-LSVI; Ishfaq et al., ICLR 2024): steps
:math:`w \leftarrow w - \eta\,\nabla L(w) + \sqrt{2\eta/\beta}\,\epsilon`, :math:`\epsilon \sim N(0,
I)`, on the loss :math:`L(w) = \|Aw - b\|^2 + \lambda\|w\|^2`, whose gradient is
:math:`2\Lambda(w - \hat\theta)`. There :math:`\eta = 1/(4\lambda_{\max}(\Lambda))`,
:math:`J = 2\kappa\log(4HLd)` with κ the condition number of Λ and L the number of episodes,
:math:`1/\sqrt\beta = \tilde O(H\sqrt d)`, λ = 1. We write :math:`\sigma^2 = 1/(2\beta)`.

J steps are one Gaussian draw. Along an eigenvector of Λ with eigenvalue l put
:math:`a = 1 - 2\eta l`. A step multiplies the distance to :math:`\hat\theta` by a and adds the
variance :math:`4\eta\sigma^2`. After J steps the distance is :math:`a^J` times that of the start,
and the variance is

.. math::
    4\eta\sigma^2 (1 + a^2 + \dots + a^{2(J-1)}) = \frac{\sigma^2}{l}\cdot
    \frac{2(1 - a^{2J})}{1 + a}.

``learn`` draws from this law: one eigendecomposition in place of J products. Many small steps
(:math:`\eta l \to 0`, :math:`J\eta l \to \infty`) leave RLSVI's
:math:`N(\hat\theta, \sigma^2\Lambda^{-1})`. The constants above have :math:`a^J \le 1/(4HLd)` and
:math:`1 \le 2/(1 + a) \le 4/3` for every l. So with them Langevin LSVI is RLSVI with a cut, and
with a variance that is at most a third too large.

What is ours. H in a constant stands for the width of the range of values, which is H for rewards
in [0, 1]. What Õ hides is 1. p = δ = 0.05. All cut Q to the same range, from both sides. Before any
data all act uniformly, as Algorithm 2 does. Features have norm at most 1, as the papers assume.

What was checked. λ, β and ι of LSVI-UCB agree with a restatement of the theorem, and the abstracts
confirm the bounds and the ideas. M and σ of LSVI-PHE, and η, J and β of Langevin LSVI, could not be
compared with the printed papers.

Accuracy: Λ is held as a triangular factor into which rows are rotated, so nothing is subtracted and
no inverse is updated. The eigenvalues are the squared singular values of the factor.
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

__all__ = ["VARIANTS", "Variant", "langevin", "learn", "lsvi_phe", "lsvi_ucb"]

ACCURATE = 1e-14  # the cosine of the angle between columns that counts as a right angle
MOST_SWEEPS = 30  # of rotations; some six do


class Variant(NamedTuple):
    """What a variant changes, in the symbols above."""

    ridge: float  # λ
    sigma: float = 0.0  # σ; 0 takes the mean
    draws: int = 1  # M
    beta: float = 0.0  # β
    steps: float = math.inf  # J/κ gradient steps; infinitely many small ones are a Gaussian draw

    def checked(self) -> "Variant":
        positive(ridge=self.ridge)
        hint = "It multiplies something that is not negative."
        for name in ("sigma", "beta"):
            between(name, getattr(self, name), 0, math.inf, hint=hint)
        if self.steps != math.inf:
            positive(steps=self.steps)
        M = whole("draws", self.draws, 1, hint="One draw is RLSVI.")
        if M > 1 and self.steps != math.inf:
            fail(
                "gradient steps go from one draw to the next",
                f"there are {M} draws",
                "Leave out draws or steps.",
            )
        return Variant(float(self.ridge), float(self.sigma), M, float(self.beta), float(self.steps))


def lsvi_ucb(
    d: int, H: int, width: float, episodes: int, factor: float = 1.0, p: float = 0.05
) -> Variant:
    """LSVI-UCB for d features of norm at most 1 and values in a range of this width; its bonus is
    ``factor`` times the published one."""
    d, H, L = _sizes(d, H, width, episodes, factor, p)
    return Variant(ridge=1.0, beta=factor * d * width * math.sqrt(math.log(2 * d * L * H / p)))


def lsvi_phe(
    d: int, H: int, width: float, episodes: int, factor: float = 1.0, p: float = 0.05
) -> Variant:
    """LSVI-PHE likewise; its noise is ``factor`` times the published one."""
    d, _, _ = _sizes(d, H, width, episodes, factor, p)
    Phi_1 = (1 + math.erf(math.sqrt(0.5))) / 2
    return Variant(
        ridge=1.0,
        sigma=factor * width * math.sqrt(d),
        draws=math.ceil(d * math.log(p / 9) / math.log(Phi_1)),
    )


def langevin(
    d: int, H: int, width: float, episodes: int, factor: float = 1.0, p: float = 0.05
) -> Variant:
    """Langevin LSVI likewise."""
    d, H, L = _sizes(d, H, width, episodes, factor, p)
    return Variant(
        ridge=1.0, sigma=factor * width * math.sqrt(d / 2), steps=2 * math.log(4 * H * L * d)
    )


VARIANTS = {"lsvi-ucb": lsvi_ucb, "lsvi-phe": lsvi_phe, "langevin": langevin}


def _sizes(
    d: int, H: int, width: float, episodes: int, factor: float, p: float
) -> tuple[int, int, int]:
    positive(width=width, factor=factor)
    inside("p", p, 0, 1, hint="It is the probability that the bound fails.")
    hint = "It is a size: pass 10, say."
    return (
        whole("d", d, 1, hint=hint),
        whole("H", H, 1, hint=hint),
        whole("episodes", episodes, 1, hint=hint),
    )


# --------------------------------------------------------------------------- Langevin's law


@jit
def eigen(U: Floats, l: Floats, V: Floats) -> None:
    """The eigenvalues of U'U, and its eigenvectors as rows of V: the columns of U are rotated in
    pairs until all are orthogonal (Hestenes)."""
    K = l.shape[0]
    G = U.T.copy()  # a column of U is a row of G
    for i in range(K):
        for j in range(K):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(MOST_SWEEPS):
        turned = False
        for p in range(K):
            for q in range(p + 1, K):
                x, y, xy = 0.0, 0.0, 0.0
                for i in range(K):
                    x += G[p, i] * G[p, i]
                    y += G[q, i] * G[q, i]
                    xy += G[p, i] * G[q, i]
                if abs(xy) <= ACCURATE * math.sqrt(x * y):
                    continue
                turned = True
                cot = (y - x) / (2.0 * xy)
                t = math.copysign(1.0, cot) / (abs(cot) + math.sqrt(1.0 + cot * cot))
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = c * t
                for i in range(K):
                    G[p, i], G[q, i] = c * G[p, i] - s * G[q, i], s * G[p, i] + c * G[q, i]
                    V[p, i], V[q, i] = c * V[p, i] - s * V[q, i], s * V[p, i] + c * V[q, i]
        if not turned:
            break
    for k in range(K):
        l[k] = 0.0
        for i in range(K):
            l[k] += G[k, i] * G[k, i]


@jit
def after_steps(l: float, eta: float, J: int) -> tuple[float, float]:
    """What J steps along an eigenvector leave of the start, and their variance for σ = 1."""
    a = 1.0 - 2.0 * eta * l
    power, base, n = 1.0, a, J
    while n > 0:  # a^J by squaring: only products, the same bits everywhere
        if n % 2 == 1:
            power *= base
        base *= base
        n //= 2
    return power, 2.0 * (1.0 - power * power) / ((1.0 + a) * l)


@jit
def langevin_draw(
    U: Floats, mean: Floats, sigma: float, steps: float, z: Floats, w: Floats
) -> None:
    """Overwrite w by what J = ⌈steps κ⌉ gradient steps make of it; z is the noise of all."""
    K = w.shape[0]
    l, V, moved = np.empty(K), np.empty((K, K)), np.empty(K)
    eigen(U, l, V)
    top, least = l[0], l[0]
    for k in range(K):
        top, least = max(top, l[k]), min(least, l[k])
    J = math.ceil(steps * top / least)
    for k in range(K):
        away, noise = 0.0, 0.0
        for i in range(K):
            away += V[k, i] * (w[i] - mean[i])
            noise += V[k, i] * z[i]  # the symmetric root: signs and order of V do not matter
        kept, variance = after_steps(l[k], 0.25 / top, J)
        moved[k] = kept * away + sigma * math.sqrt(variance) * noise
    for i in range(K):
        w[i] = mean[i]
        for k in range(K):
            w[i] += V[k, i] * moved[k]


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
    """Fit all periods, from the last one backwards, and fill in Q̃; w holds the weights (H, M, K),
    from which Langevin's steps start."""
    H, S, A, K = Phi.shape
    x, z, row, none = np.empty(K), np.zeros(K), np.empty(K), np.zeros(K)
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
        for m in range(variant.draws):
            if variant.sigma > 0.0:
                for k in range(K):
                    z[k] = rng.standard_normal()
            if variant.steps < np.inf:
                row[:] = 0.0
                draw(U, x, 0.0, none, row)  # the mean
                langevin_draw(U, row, variant.sigma, variant.steps, z, w[h, m])
            else:
                w[h, m] = 0.0
                draw(U, x, variant.sigma, z, w[h, m])  # Algorithm 1, lines 3 and 4
        for s in range(S):
            for a in range(A):
                q = -np.inf
                for m in range(variant.draws):
                    one = 0.0
                    for k in range(K):
                        one += Phi[h, s, a, k] * w[h, m, k]
                    q = max(q, one)
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
    w: Floats  # (H, M, K) the weights of the last episode
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
    variant : what is changed: ``lsvi_ucb(…)``, ``lsvi_phe(…)``, ``langevin(…)``, or a Variant.
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
    w, Q = np.zeros((mdp.H, variant.draws, K)), np.zeros((mdp.H, mdp.S, mdp.A))
    _learn(mdp.model, Phi, data, variant, limits, generator(env), generator(own), w, Q, expected)
    return Learned(expected, w, Q)
