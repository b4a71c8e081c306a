r"""Random weights on the data in place of noise: value iteration on a Bayesian bootstrap.

RLSVI adds Gaussian noise to a fit, whose size σ somebody has to choose. Here the randomness comes
from the data (Rubin 1981; the paper's section 7 suggests a bootstrap). Before each episode

1. every transition seen has a weight, an independent Exp(1) variate, so that n equal ones together
   have a Gamma(n) variate;
2. in each of K pairs that span the features (:func:`spanning_inverse`) κ visits are
   imagined that brought the least value there can be, and κ that brought the largest. Like n visits
   that were made, they have Gamma(κ) variates as weights, :math:`G_k^-` and :math:`G_k^+`;
3. weights :math:`\theta_h` are fitted by weighted least squares, backwards from the last period;
4. next values are truncated to the range of values.

With the rows :math:`c_i = \phi_i B^{-1}` of the transitions as combinations of the K pairs, step 3 is

.. math::
    v_h = \arg\min_v \sum_i w_i \bigl(c_i v - r_i - \gamma\tilde V_{h+1}(s_i')\bigr)^2
        + \sum_k G_k^- (v_k - \underline V)^2 + G_k^+ (v_k - \overline V)^2,
    \qquad \theta_h = B^{-1} v_h ,

so :math:`v_{hk}` *is* the value of pair k, and it does not matter in which units features are given.
The two imagined terms are one: :math:`G_k = G_k^- + G_k^+ \sim \text{Gamma}(2\kappa)` times the
squared distance to :math:`\underline V + (\overline V - \underline V) T_k`, and
:math:`T_k = G_k^+ / G_k \sim \text{Beta}(\kappa, \kappa)` is independent of :math:`G_k`. Before a
pair is visited, its value is this target: uniform in the range for κ = 1, nearly always one of
the two ends for a small κ. After n visits it has lost most of its weight, as κ is to n.

**What it needs** are features, the range of values and κ; there is no λ and no σ. A reward that
varies, or a next state, widens the values by itself; outcomes that are always the same do not.

**In a table** (one-hot features) a pair's value is the mean of its outcomes
:math:`r + \gamma\tilde V(s')` under a Dirichlet draw over those seen, by their counts, and the two
imagined ones, by κ. That is PSRL without a model: the law of the pair's outcome :math:`(r, s')` is
drawn from the posterior of a Dirichlet process, whose prior has the mass κ on "the least value, and
the end" and κ on "the largest value, and the end". There is no list of possible rewards or next
states. An imagined outcome is a value, in the middle of an episode as at its beginning, so that one
range serves all periods; and a draw's value may leave the range, by what its reward adds, until it
is cut. In a bandit with two outcomes, the ends of the range, it is Thompson sampling with
the prior Beta(κ, κ), for κ = 1 the uniform one.

**With features** that generalise, K pairs are imagined, not all: that a value is 1 there says
something about every pair. All others follow, with coefficients of at most 2, and the cut
keeps them from growing as they are passed on.

**The mean.** ``greedy`` and ``mean_values`` give every weight its mean, 1 for a transition, κ for
each imagined outcome: ridge regression, with a ridge of 2κ towards the middle of the range.

**Which κ?** It has a price and a meaning. In a table κ = 1 explores for as long as it takes to
outweigh, in every pair, two visits that never were. κ → 0 believes what it saw once. Because
weights are gamma variates, and not multiples κ·Exp(1) of one, no κ ever stops doubting: after n
losses a gamble is tried again with probability about κ :math:`2^{-n}/n`, and for every κ > 0 it is tried
often enough, if it is won more often than not. With κ·Exp(1) it would be
:math:`(\kappa/(1 + \kappa))^n / 2`, which is too rare as soon as it is lost with a probability of
:math:`\kappa/(1 + \kappa)` or more.

**In sums.** Features are a table, or one-hot, so outcomes :math:`(r, s')` repeat: n equal data with
Exp(1) weights are one with a Gamma(n) weight, so an episode costs a gamma variate per distinct
outcome, however often it was seen. With the weights :math:`w_o` of the outcomes of a pair, put
:math:`W = \sum_o w_o` and :math:`Y = \sum_o w_o (r_o + \gamma\tilde V(s_o'))`. With one-hot features

.. math:: \tilde Q_h(s, a) = \frac{G_k t_k + Y}{G_k + W}, \qquad
    t_k = \underline V + (\overline V - \underline V) T_k ,

with k the pair itself. With others, and :math:`c(s, a)` the coefficients of its row,

.. math:: v_h = \Bigl(\sum_{s,a} W c^\top c + \text{diag}(G)\Bigr)^{-1}
    \Bigl(\sum_{s,a} Y c^\top + (G_k t_k)_k\Bigr), \qquad \tilde Q_h = C_h v_h .

**Pairs that span all others: where the bootstrap's imagined visits are made.** Among the rows
:math:`\phi(s, a)` that an agent may meet, K that span them, :math:`B`, such that every row is a
combination :math:`c = \phi B^{-1}` of them with coefficients of at most 2 in size (a barycentric
spanner; Awerbuch and Kleinberg 2004). Rows are taken one after another: if a row has a
larger coefficient, it replaces the pair in question. Each time the volume :math:`|\det B|` at least
doubles, so that there are few replacements.

Coefficients do not change if features are scaled, rotated or mixed by any invertible matrix:
whatever is said about values of these pairs does not depend on the units of the features. With
one-hot features the pairs are all pairs, and B is the identity.
"""

from typing import Any, NamedTuple

import numpy as np

from ..features import FeatureTable, OneHot
from ..regression import factorize_upper, solve_upper, solve_upper_transposed
from ..runtime import checks
from ..runtime.compilation import Array, Floats, Generator, jit, jit_inline
from . import counts
from .base import TERMINAL, RegressionProblem, TargetSpec, compile_parts
from .counts import (
    TransitionCounts,
    count_transition,
    empty_counts,
    fill_next_values,
    fill_table_values,
)

MIN_PSEUDO_WEIGHT = 1e-6  # weight of imagined visits: less is the same, and would cost digits


class BootstrapWeights(NamedTuple):
    """Weights on data."""

    data: Floats  # of the outcomes, by their place in the lists
    visits: Floats  # (T, K) of the imagined visits: Gamma(2κ)
    share: Floats  # (T, K) of it, what brought the largest value: Beta(κ, κ)


@jit
def _draw_pseudo_visits(kappa: float, rng: Generator, visits: Floats, share: Floats) -> None:
    """Step 2: fill in the weights of imagined visits."""
    visits = visits.reshape(visits.size)
    share = share.reshape(share.size)
    for k in range(visits.size):
        visits[k] = max(rng.standard_gamma(2.0 * kappa), MIN_PSEUDO_WEIGHT)
        share[k] = rng.beta(kappa, kappa)


class OutcomeRecord(NamedTuple):
    """What compiled code works on."""

    seen: TransitionCounts
    draw: BootstrapWeights
    kappa: float
    C: Floats  # (T, S, A, K) rows as combinations of spanning pairs; empty: they are these pairs
    targets: TargetSpec  # with the range of values
    closed: Array  # (T, S, A) what masks forbid, or empty
    sigma: float  # 1, or 0 for the mean
    sweeps: int  # solutions of one table; 0 where there is a horizon, and a table for each period
    fitted: Floats  # (T, S, A) the values


@jit
def _draw_bootstrap_weights(data: OutcomeRecord, rng: Generator) -> None:
    """Steps 1 and 2, or the mean of every weight."""
    seen = data.seen
    draw = data.draw
    for node in range(seen.used[0]):
        number = seen.number[node]
        draw.data[node] = rng.standard_gamma(number) if data.sigma > 0.0 else number
    if data.sigma > 0.0:
        _draw_pseudo_visits(data.kappa, rng, draw.visits, draw.share)
    else:
        draw.visits[:] = 2.0 * data.kappa
        draw.share[:] = 0.5


@jit
def _pair_sums(
    seen: TransitionCounts, w: Floats, h: int, s: int, a: int, V: Floats
) -> tuple[float, float]:
    """W and Y of a pair; V holds γṼ."""
    W = 0.0
    Y = 0.0
    node = seen.first[h, s, a]
    while node >= 0:
        W += w[node]
        Y += w[node] * seen.reward[node]
        if seen.state[node] != TERMINAL:
            Y += w[node] * V[seen.state[node]]
        node = seen.link[node]
    return W, Y


@jit
def _solve_period(data: OutcomeRecord, h: int, V: Floats, U: Floats, again: bool) -> None:
    """Step 3: set Q̃_h; V holds γṼ of what follows. U is filled with the factor, or has it from
    before: it does not depend on V."""
    seen = data.seen
    draw = data.draw
    C = data.C
    Q = data.fitted
    _, S, A = Q.shape
    low = data.targets.low
    width = data.targets.high - low
    if C.size == 0:
        for s in range(S):
            for a in range(A):
                W, Y = _pair_sums(seen, draw.data, h, s, a, V)
                k = s * A + a
                G = draw.visits[h, k]
                t = low + width * draw.share[h, k]
                Q[h, s, a] = (G * t + Y) / (G + W)
        return
    K = C.shape[3]
    x = np.empty(K)
    if not again:
        U[:] = 0.0
    for k in range(K):
        x[k] = draw.visits[h, k] * (low + width * draw.share[h, k])
        if not again:
            U[k, k] = draw.visits[h, k]
    for s in range(S):
        for a in range(A):
            if seen.first[h, s, a] >= 0:
                W, Y = _pair_sums(seen, draw.data, h, s, a, V)
                c = C[h, s, a]
                for k in range(K):
                    x[k] += Y * c[k]
                    if not again:
                        for j in range(k, K):
                            U[k, j] += W * c[k] * c[j]
    if not again:
        factorize_upper(U)
    solve_upper_transposed(U, x)
    solve_upper(U, x)
    for s in range(S):
        for a in range(A):
            value = 0.0
            for k in range(K):
                value += C[h, s, a, k] * x[k]
            Q[h, s, a] = value


@jit
def _fit_outcomes(data: OutcomeRecord, rng: Generator) -> float:
    """Q̃ of all periods, from the last one, or of one that follows itself."""
    _draw_bootstrap_weights(data, rng)
    V = np.zeros(data.fitted.shape[1])
    U = np.empty((data.C.shape[3], data.C.shape[3]))
    if data.sweeps > 0:
        fill_next_values(data.closed, 0, data.fitted, data.targets, V)
    change = 0.0
    for i in range(max(data.sweeps, data.fitted.shape[0])):
        h = 0 if data.sweeps > 0 else data.fitted.shape[0] - 1 - i
        _solve_period(data, h, V, U, data.sweeps > 0 and i > 0)
        change = fill_next_values(data.closed, h, data.fitted, data.targets, V)  # step 4
        if data.sweeps > 0 and change == 0.0:
            break
    return change


@jit_inline
def _add_outcome(data: OutcomeRecord, h: int, s: int, a: int, r: float, s_next: int) -> None:
    last = data.sweeps == 0 and h == data.fitted.shape[0] - 1
    count_transition(data.seen, h, s, a, r, TERMINAL if last else s_next)


def _spanner_coefficients(Phi: Floats) -> Floats:
    """Return the rows of a table as combinations of spanning pairs, in each period."""
    T, _, _, K = Phi.shape
    if Phi.strides[0] == 0:  # the same in all periods
        inverses = [spanning_inverse(Phi[0].reshape(-1, K))] * T
    else:
        inverses = [spanning_inverse(rows) for rows in Phi.reshape(T, -1, K)]
    return np.array([rows @ inverse for rows, inverse in zip(Phi, inverses, strict=True)])


class OutcomeBootstrap(counts.TabularLearner):
    """Keeps outcomes and how often they were seen."""

    parts = compile_parts(_fit_outcomes, fill_table_values, _add_outcome)

    def __init__(self, problem: RegressionProblem, kappa: float) -> None:
        hint = (
            "It counts imagined visits; 1 is bold, 0.01 cautious, and less than a millionth none."
        )
        kappa = checks.check_range("kappa", kappa, MIN_PSEUDO_WEIGHT, 1e6, hint=hint)
        phi: Any = problem.features
        if not isinstance(problem.features, (OneHot, FeatureTable)):
            checks.fail(
                f"the bootstrap takes a table of features, or one_hot; it has {phi!r}. Take rlsvi."
            )
        self.problem = problem
        shape = phi.H or 1, phi.S, phi.A
        C = np.zeros((0, 0, 0, 0))
        if isinstance(phi, FeatureTable):
            C = _spanner_coefficients(phi.Phi)
        record = OutcomeRecord(
            empty_counts(*shape, True),
            BootstrapWeights(np.zeros(0), *np.zeros((2, shape[0], phi.K))),
            kappa,
            C,
            problem.targets,
            np.zeros((0, *shape[1:]), bool),
            1.0,
            0,
            np.zeros(shape),
        )
        super().__init__(phi.H, phi.S, phi.A, record)

    @property
    def settings(self) -> dict[str, str]:
        return {"kappa": f"{self.record.kappa:g}"} | self.problem.value_range

    def reserve(self, episodes: int, steps: int) -> None:
        super().reserve(episodes, steps)
        draw = self.record.draw._replace(data=np.zeros(self.record.seen.state.size))
        self.record = self.record._replace(draw=draw)


# ------------------------------------------------------------------------- pairs that span all

MAX_COEFFICIENT = 2.0  # coefficient
PLACEHOLDER_SCALE = (
    1e-9  # the length, beside a feature's first value, of what stands for it before it is met
)


@jit
def _update_spanner(rows: Floats, inverse: Floats, met: Floats) -> bool:
    """Take in some rows; whether some pair was replaced."""
    K = inverse.shape[0]
    changed = False
    c = np.empty(K)
    for i in range(rows.shape[0]):
        c[:] = 0.0
        for j in range(K):
            x = rows[i, j]
            if x != 0.0:  # as most are, in tables and tiles
                for k in range(K):
                    c[k] += x * inverse[j, k]
        worst = 0
        for k in range(K):
            worst = k if abs(c[k]) > abs(c[worst]) else worst
        if abs(c[worst]) > MAX_COEFFICIENT:
            changed = True
            met[worst] = 1.0
            for j in range(K):
                inverse[j, worst] /= c[worst]
                for k in range(K):
                    if k != worst:
                        inverse[j, k] -= inverse[j, worst] * c[k]
    return changed


def spanning_inverse(rows: Floats) -> Floats:
    """Return B⁻¹ of pairs that span these rows, by which rows become coefficients of at most 2; 0 in
    directions that no row has.

    Examples
    --------
    >>> rows = np.array([[3.0, 0.0], [1.0, 1.0], [4.0, 1.0]])
    >>> rows @ spanning_inverse(rows)
    array([[1., 0.],
           [0., 1.],
           [1., 1.]])
    """
    K = rows.shape[1]
    inverse = np.zeros((K, K))
    met = np.zeros(K)
    some = rows.any(axis=0)
    # so units do not matter
    inverse[some, some] = 1 / (PLACEHOLDER_SCALE * np.abs(rows).max(axis=0)[some])
    while _update_spanner(rows, inverse, met):
        pass
    return inverse * met
