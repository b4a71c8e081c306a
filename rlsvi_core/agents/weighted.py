r"""Random weights on the data in place of noise: value iteration on a Bayesian bootstrap.

RLSVI adds Gaussian noise to a fit, whose size σ somebody has to choose. Here the randomness comes
from the data (Rubin 1981; the paper's section 7 suggests a bootstrap). Before each episode

1. every transition seen has a weight, an independent Exp(1) variate, so that n equal ones together
   have a Gamma(n) variate;
2. in each of K pairs that span the features (:mod:`~rlsvi_core.agents.spanning`) κ visits are
   imagined that brought the least value there can be, and κ that brought the largest. Like n visits
   that were made, they have Gamma(κ) variates as weights, :math:`G_k^-` and :math:`G_k^+`;
3. weights :math:`\theta_h` are fitted by weighted least squares, backwards from the last period;
4. next values are cut to the range of values.

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

Here are the form to read and to trust, ``VerbatimBootstrap``, and one with arrays; ``outcomes`` has
a fast one for numbered states, where outcomes repeat.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .. import checks
from ..compiled import Floats, Generator, Seed, jit
from ..features import FeatureMap, OneHot, Table
from .base import RANGE, LinearAgent, repeated
from .choices import Choices
from .finite import Targets
from .mapped import MappedAgent
from .spanning import spanners
from .stored import Rows, StoredAgent, targets_of
from .verbatim import VerbatimAgent

__all__ = ["Bootstrap", "Draw", "MappedBootstrap", "StoredBootstrap", "VerbatimBootstrap"]

LEAST = 1e-6  # weight of imagined visits: less is the same, and would cost digits


class Draw(NamedTuple):
    """Weights on data; in numbered states with a leading axis for periods, and by outcomes."""

    data: Floats  # (n,) of the transitions
    visits: Floats  # (K,) of the imagined visits: Gamma(2κ)
    share: Floats  # (K,) of it, what brought the largest value: Beta(κ, κ)

    def targets(self, low: float, high: float) -> Floats:
        """What the imagined visits brought."""
        return low + (high - low) * self.share


@jit
def draw_visits(kappa: float, rng: Generator, visits: Floats, share: Floats) -> None:
    """Fill in the weights of imagined visits."""
    visits, share = visits.reshape(visits.size), share.reshape(share.size)
    for k in range(visits.size):
        visits[k] = max(rng.standard_gamma(2.0 * kappa), LEAST)
        share[k] = rng.beta(kappa, kappa)


class Bootstrap(LinearAgent):
    """What all forms share.

    Parameters
    ----------
    features, choices, rng
        As for :class:`~rlsvi_core.agents.base.LinearAgent`.
    value_range : tuple of float
        The least and the largest optimal value.
    kappa : float
        κ, imagined visits per pair and end of the range.
    """

    OFFERS = frozenset({"gamma", "clip", "weights", "window", "sweeps", "redraw"})

    def __init__(
        self,
        features: Any,
        value_range: tuple[float, float],
        kappa: float,
        *,
        choices: Choices = Choices(),  # noqa: B008, a constant
        rng: Seed = None,
    ) -> None:
        hint = (
            "It counts imagined visits; 1 is bold, 0.01 cautious, and less than a millionth none."
        )
        self.kappa = checks.between("kappa", kappa, LEAST, 1e6, hint=hint)
        self.low, self.high = checks.pair("value_range", value_range, hint=RANGE)
        phi = FeatureMap.of(features)
        if phi.known.size:
            checks.fail(
                "imagined visits need features whose weights are all learned",
                f"{type(phi).__name__} has {phi.known.size} that are known",
                "Leave known out, or take rlsvi.",
            )
        super().__init__(
            phi, 1.0, 1.0, sample=True, choices=choices, value_range=value_range, rng=rng
        )
        self._lam = self._sigma = math.nan  # they have no meaning here

    _algorithm = "bootstrap"
    FASTER: tuple[type[LinearAgent], ...] = ()

    def _parameters(self) -> dict[str, object]:
        return {"H": self.H, "kappa": self.kappa}

    @property
    def has_no_data(self) -> bool:
        """Never: the first episode, too, follows the rule, by what is imagined."""
        return False

    @property
    def _targets(self) -> Targets:
        return Targets(self.choices.gamma, self.low, self.high)


class MappedBootstrap(Bootstrap, MappedAgent):
    """For any feature map, with a weight for each transition."""

    def _allocate(self, K: int) -> None:
        super()._allocate(K)
        del self.mean  # nothing is drawn around one
        width = self._width(K)
        self.spanners = spanners(self.features, width, self.apart) if width else []

    def _width(self, K: int) -> int:
        """The number of features of the rows that are spanned."""
        return K

    def _twin(self) -> Self:
        twin = super(MappedAgent, self)._twin()
        twin.theta = self.theta.copy()
        return twin

    def _draw_weights(self, rows: int) -> Draw:
        """Step 1 and 2, for a fit to so many rows."""
        K = self.free
        if not self.sample:
            return Draw(np.ones(rows), np.full(K, 2 * self.kappa), np.full(K, 0.5))
        visits, share = np.empty((2, K))
        draw_visits(self.kappa, self.rng, visits, share)
        return Draw(self.rng.standard_exponential(rows), visits, share)

    def _spanned(self, h: int, s: Any) -> Floats:
        """The rows at s."""
        raise NotImplementedError

    def _keep(self, h: int, s: Any, at: int, r: float, s_next: Any | None, legal_next: Any) -> None:
        all_known = isinstance(self.features, (OneHot, Table))  # rows, which span by now
        rows = np.zeros(0) if all_known else np.array(self._spanned(h, s))
        super()._keep(h, s, at, r, s_next, legal_next)  # type: ignore[safe-super]
        if all_known:
            return
        self.spanners[h if self.apart else 0].add(rows)
        if s_next is not None:
            self.spanners[h + 1 if self.apart else 0].add(self._spanned(h + 1, s_next))


class VerbatimBootstrap(MappedBootstrap, VerbatimAgent):
    """Keeps its transitions in a list and solves the problem above before each episode."""

    def _estimate(self) -> None:
        after = self.theta[0] if self.H is None else np.zeros_like(self.theta[0])
        fits = reversed(range(self.H or 0))
        draw = None
        for fit in repeated(self.choices.sweeps, after) if self.H is None else fits:
            h = 0 if self.H is None else fit
            at = h if self.apart else 0
            if draw is None or self.apart:
                draw = self._draw_weights(len(self.data[at]))
            A, b = self.regression_problem(self.data[at], after)  # with step 4 in b
            inverse = self.spanners[at].inverse
            self.theta[h] = inverse @ self.weighted_fit(A @ inverse, b, draw)
            after = self.theta[h]
        if not self.apart:
            self.theta[:] = self.theta[0]

    def weighted_fit(self, C: Floats, b: Floats, draw: Draw) -> Floats:
        """Step 3: the values v of the spanning pairs."""
        root = np.sqrt(np.concatenate([draw.data, draw.visits]))
        rows = np.vstack([C, np.eye(C.shape[1])])
        targets = np.concatenate([b, draw.targets(self.low, self.high)])
        v, *_ = np.linalg.lstsq(root[:, None] * rows, root * targets, rcond=None)
        return np.asarray(v)

    def _spanned(self, h: int, s: Any) -> Floats:
        return self.features(h, s)


def weighted(data: Rows, w: Floats, inverse: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Σ w c'c of each block, and a function from targets b to Σ w b c."""
    X, block, *_ = data.columns
    squares = np.zeros_like(data.gram)
    C = X @ inverse  # before squares are taken: those of X lose digits if rows are nearly collinear
    apart = np.zeros((len(squares), w.size))
    apart[block, np.arange(w.size)] = w
    for b, own in enumerate(apart):
        squares[b] = (C * own[:, None]).T @ C
    return squares, lambda b: np.asarray((apart * b) @ C)


class StoredBootstrap(MappedBootstrap, StoredAgent):
    """Keeps its transitions in arrays; the same interface and weights as ``VerbatimBootstrap``."""

    def _width(self, K: int) -> int:
        return self._shape[1]

    def _spanned(self, h: int, s: Any) -> Floats:
        return self._recalled(h, s)

    def _estimate(self) -> None:
        if not self.data:  # nothing is known yet, not even K
            return
        if self.apart:
            after = np.zeros_like(self.theta[0])
            for h in reversed(range(len(self.data))):
                after = self.theta[h] = self._regression(h)(after)
            return
        fit = self._regression(0)
        after = self.theta[0] if self.H is None else np.zeros_like(self.theta[0])
        for _ in repeated(self.H or self.choices.sweeps, self.theta[0]):
            self.theta[0] = fit(after)
            after = self.theta[0]
        self.theta[:] = self.theta[0]

    def _regression(self, at: int) -> Any:
        """Draw weights for the data of a regression; the function that gives θ for the weights in
        the targets."""
        data = self.data[at]
        _, _, r, _, legal, ended = data.columns
        blocks, d = data.gram.shape[:2]
        draw, inverse = self._draw_weights(data.count), self.spanners[at].inverse
        w = np.roll(draw.data, data.newest + 1)  # the oldest is not the first in a full window
        visits = draw.visits.reshape(blocks, d)
        imagined = visits * draw.targets(self.low, self.high).reshape(blocks, d)
        squares, sums = weighted(data, w, inverse)
        factors = [cho_factor(one + np.diag(g)) for one, g in zip(squares, visits, strict=True)]

        def fit(after: Floats) -> Floats:
            b = targets_of(data.values(after.reshape(blocks, d)), legal, ended, r, self._targets)
            x = sums(b) + imagined
            v = np.array([cho_solve(U, one) for U, one in zip(factors, x, strict=True)])
            return np.asarray((v @ inverse.T).ravel())

        return fit
