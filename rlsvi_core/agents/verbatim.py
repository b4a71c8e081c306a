r"""Algorithms 1, 3 and 7 as printed, for any feature map: rebuild A and b from all data, and fit.

This is the form to read and to trust. A transition :math:`(s_i, a_i, r_i, s_i')` is a row
:math:`\phi_i = \Phi(s_i, a_i)` of A and a target

.. math:: b_i = r_i + \gamma \max_\alpha (\Phi\theta^+)(s_i', \alpha),
    \qquad b_i = r_i \text{ if nothing follows},

of b. What is printed three times differs in how time is indexed, that is, in which transitions
enter a fit and whose weights :math:`\theta^+` stand in its targets:

- **per period** (Algorithms 1 and 3): H fits, from the last period backwards, each to the
  transitions of its own period with the weights of the next one;
- **shared**: the same H fits, each to the transitions of all periods; the last one's weights act;
- **stationary** (Algorithm 7, no horizon): ``sweeps`` fits to the last ``window`` transitions, with
  the weights of the fit before. (The paper prints the terminal test on :math:`s_i`, from which no
  action is ever taken; it belongs to :math:`s_i'`.)

RLSVI and LSVI differ in one line, sample or mean, and the linear bandit of appendix E is RLSVI with
:math:`\gamma = 0`. The cost grows with every transition; the fast forms (``finite``, ``tabular``,
``products``, ``stationary``) give the same weights from the same draws at a cost that does not, and
``stored`` does so for any features with arrays in place of lists.
"""

import math
from collections import deque
from typing import Any, NamedTuple, Self

import numpy as np

from .. import checks
from ..compiled import Array, Floats
from ..features import FeatureMap
from ..regression import GaussianPosterior
from .base import LinearAgent, Run, check_fits, choose, values


class Transition(NamedTuple):
    phi: Floats  # Φ(s, a)
    r: float
    following: Floats  # Φ(s', ·), a row an action; no rows if nothing follows


class VerbatimAgent(LinearAgent):
    """Keeps its transitions one by one and solves the printed problem before each episode.

    Parameters
    ----------
    features : a feature map or a table; see :class:`rlsvi_core.features.maps.FeatureMap`.
    H : a number of periods, for features that have none of their own.
    lam, sigma : λ and σ of the posterior.
    sample : act on a posterior sample (RLSVI) or on the mean (LSVI).
    gamma : the discount γ in the targets; 0 is the bandit.
    weights : ``"per period"`` or ``"shared"``, for a map with a horizon.
    window, sweeps : without a horizon, transitions kept (None: all) and fits an episode.
    targets : put the ``"sample"`` (as printed) or the posterior ``"mean"`` into the targets.
    draws : ``"per sweep"`` (as printed), or ``"per episode"``: all fits with shared weights of an
        episode use the same normal draws, so that sweeps converge to one value function.
    clip : (low, high), between which the value of what follows is cut; None: as it is.
    variance : ``"known"``, or ``"unknown"`` (appendix D.2; then σ is not used).
    lam_of_mean : another λ for the mean alone, as the paper prints its bandit; None: the same.
    epsilon, half_life, eta : dithering; ε is halved every ``half_life`` episodes.
    first_episode, rng : see :class:`rlsvi_core.agents.base.LinearAgent`.
    """

    def __init__(self, features: Any, lam: float, sigma: float, *, sample: bool,
                 H: int | None = None, gamma: float = 1.0, weights: str = "per period",
                 window: int | None = None, sweeps: int = 1, targets: str = "sample",
                 draws: str = "per sweep", clip: tuple[float, float] | None = None,
                 variance: str = "known", lam_of_mean: float | None = None,
                 half_life: float = math.inf, **options: Any) -> None:
        super().__init__(lam, sigma, sample=sample, **options)
        self.features = FeatureMap.of(features, H)
        self.H, self.S, self.A = self.features.H, self.features.S, self.features.A
        self.gamma, self.weights, self.sweeps, self.targets, self.variance = checked_choices(
            gamma, weights, sweeps, targets, variance)
        self.window = window if window is None else checks.whole(
            "window", window, 1, hint="It counts transitions; None keeps all.")
        checks.one_of("draws", draws, ("per sweep", "per episode"), hint="The first is as printed.")
        if clip is not None:
            clip = checks.pair("clip", clip, hint="Pass the least and the largest value there can "
                               "be.")
        if lam_of_mean is not None:
            checks.positive(lam_of_mean=lam_of_mean)
        self.half_life, self.lam_of_mean = checked_half_life(half_life), lam_of_mean
        self.draws, self.clip = draws, clip
        self.episode = -1
        self.data: list[Any] = []  # the transitions of each regression
        self._allocate(self.features.K)

    def _allocate(self, K: int) -> None:
        """Make room for K weights a fit, and for the data."""
        if K == 0:
            checks.fail("this form must know the number of features K", "the feature map does not "
                        "say", "Give the map an attribute K.")
        self.free = K  # weights to learn
        self.theta: Floats = np.zeros((self.H or 1, K + len(self.features.known)))
        self.theta[:, K:] = self.features.known
        self.mean = self.theta.copy()
        apart = self.H if self.H is not None and self.weights == "per period" else 1
        self.data = [self._no_data() for _ in range(apart)]

    def _no_data(self) -> Any:
        return deque(maxlen=self.window)

    def regression_problem(self, data: deque[Transition], after: Floats) -> tuple[Floats, Floats]:
        """Line 2 of Algorithm 1: the rows A and the targets b, what is known of Q moved over."""
        after = self._checked(data, after)
        A, b = np.zeros((len(data), self.free)), np.zeros(len(data))
        for i, (phi, r, following) in enumerate(data):
            q = np.zeros(len(following))
            values(following, after, q)
            A[i] = phi[:self.free]
            b[i] = r + self.gamma * (self._clipped(q.max()) if q.size else 0.0)
            b[i] -= phi[self.free:] @ self.features.known
        return A, b

    def _checked(self, data: Any, after: Any) -> Floats:
        width = self.theta.shape[1]
        for one in data if isinstance(data, deque) else [data]:
            if not (isinstance(one, Transition) and np.shape(one.phi) == (width,)
                    and np.shape(one.following)[1:] == (width,)):
                checks.fail(f"data are transitions with {width} features", f"here is {one!r}",
                            "Pass agent.data[h].")
        return checks.array("after", after, (width,), hint="Pass agent.theta[h].")

    def _clipped(self, V: Any) -> Any:
        return V if self.clip is None else np.minimum(np.maximum(V, self.clip[0]), self.clip[1])

    def fit(self, A: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Line 3: the posterior mean, and the weights to act on."""
        sigma = 1.0 if self.variance == "unknown" else self.sigma
        posterior = GaussianPosterior(self.free, self.lam, sigma).add_rows(A, b)
        mean = posterior.mean
        if self.sample:
            theta = posterior.sample(self.rng, unknown_variance=self.variance == "unknown")  # RLSVI
        else:
            theta = mean  # LSVI
        if self.lam_of_mean is not None:
            other = GaussianPosterior(self.free, self.lam_of_mean, sigma).add_rows(A, b).mean
            return other, other + (theta - mean)
        return mean, theta

    def _fit(self, h: int, data: Any, after: Floats) -> None:
        """Fix the weights of period h, given those in the targets."""
        A, b = self.regression_problem(data, after)
        self.mean[h, :self.free], self.theta[h, :self.free] = self.fit(A, b)

    def _estimate(self) -> None:
        in_targets = self.theta if self.targets == "sample" else self.mean
        apart, fresh = len(self.data) > 1, self.rng.bit_generator.state
        after = in_targets[0] if self.H is None else np.zeros(in_targets.shape[1])
        for h in reversed(range(self.H or self.sweeps)):  # Algorithms 1 and 3; Algorithm 7
            if self.draws == "per episode" and not apart:
                self.rng.bit_generator.state = fresh
            h = h if self.H is not None else 0
            self._fit(h, self.data[h if apart else 0], after)
            after = in_targets[h]
        if self.weights == "shared":
            self.mean[:], self.theta[:] = self.mean[0], self.theta[0]

    def plan(self) -> None:
        """Fix the weights for the coming episode."""
        self.episode += 1
        super().plan()

    def _twin(self) -> Self:
        twin = super()._twin()
        twin.theta, twin.mean = self.mean.copy(), self.mean.copy()
        return twin

    def _period(self, h: int) -> int:
        """Whose weights a step uses."""
        if self.H is None:
            return 0
        if not (isinstance(h, (int, np.integer)) and 0 <= h < self.H):
            checks.fail(f"h must be one of 0, …, {self.H - 1}", f"it is {h!r}", "An episode may "
                        "not outlast the agent's horizon: pass a longer H, end the episode, or "
                        "leave H out and discount by gamma.", IndexError)
        return int(h)

    def values(self, h: int, s: Any) -> Floats:
        """Q̃(s, ·), one value for each legal action."""
        theta, rows = self.theta[self._period(h)], self._rows_of(h, s)
        q = np.empty(len(rows))
        values(rows, theta, q)
        return q

    def _rows_of(self, h: int, s: Any, following: bool = False) -> Floats:
        """The rows of a state, checked."""
        rows = self.features.following(h, s) if following else self.features(h, s)
        return checks.array("features", rows, (None, self.theta.shape[1]), hint="A feature map "
                            "returns a row of K features for each legal action.")

    def _actions(self, h: int, s: Any) -> Array:
        return self.features.legal(h, s)

    def act(self, h: int, s: Any, legal: Any = None) -> int:
        """Choose an action for state s in step h; ``legal`` lists those allowed, None: all."""
        q, numbers = self.values(h, s), self._actions(h, s)
        if legal is not None:
            at = positions(numbers, legal)
            q, numbers = q[at], numbers[at]
        epsilon = self.epsilon * 2.0 ** (-self.episode / self.half_life)
        i = choose(q, epsilon, self.eta, np.empty(q.size), self.rng.random())
        return int(numbers[i])

    def greedy(self, h: int, s: Any, legal: Any = None) -> int:
        """The action of the posterior mean of all that was observed; see :class:`LinearAgent`."""
        return self._mean_agent().act(h, s, legal)

    def observe(self, h: int, s: Any, a: int, r: float, s_next: Any | None,
                legal_next: Any = None) -> None:
        """Take in one transition; ``s_next=None`` if nothing of value follows it. ``legal_next``
        lists the actions allowed in s_next, None: all."""
        self._period(h)  # checks h
        checks.finite(r=r)
        legal = self._actions(h, s)
        (at,) = np.nonzero(legal == a) if isinstance(a, (int, np.integer)) else (legal[:0],)
        if at.size != 1:
            checks.fail(f"a must be a legal action, one of {legal.tolist()}", f"it is {a!r}",
                        "Pass the action that act returned.", IndexError)
        last = s_next is None or (self.H is not None and h == self.H - 1)
        self._keep(h, s, int(at[0]), float(r), None if last else s_next, legal_next)
        self.transitions += 1

    def _keep(self, h: int, s: Any, at: int, r: float, s_next: Any | None,
              legal_next: Any) -> None:
        rows = self._rows_of(h, s)
        following = rows[:0] if s_next is None else self._rows_of(h + 1, s_next, following=True)
        if len(following) and legal_next is not None:
            following = following[positions(self._actions(h + 1, s_next), legal_next)]
        self.data[h if len(self.data) > 1 else 0].append(Transition(rows[at], r, following))

    def learn(self, env: Any, episodes: int, rng: Any = None, *, exact: bool = False) -> Run:
        if self.H is not None and self.S is not None and self.A is not None:
            check_fits((self.H, self.S, self.A), env)
        return super().learn(env, episodes, rng, exact=exact)

    @property
    def Q(self) -> Floats:
        """The action values of this episode, an (H, S, A) array, where states are numbers."""
        if self.S is None:
            return super().Q
        return np.array([[self.values(h, s) for s in range(self.S)]
                         for h in range(self.H or 1)])


def positions(numbers: Array, legal: Any) -> Array:
    """Where some of the actions are among all that have a row."""
    given, legal = legal, checks.as_given(legal)
    if legal.size == 0:
        checks.fail("some action must be legal", "none is", "End the episode in such a state.")
    if legal.dtype.kind not in "iu" or legal.ndim != 1 or not np.isin(legal, numbers).all():
        checks.fail(f"legal lists the numbers of actions, some of {numbers.tolist()}",
                    f"it is {given!r}", "Pass np.flatnonzero(mask).", IndexError)
    return np.flatnonzero(np.isin(numbers, legal))


def checked_half_life(half_life: Any) -> float:
    if not (isinstance(half_life, float) and half_life == math.inf) and not (
            checks.is_number(half_life) and half_life > 1 / checks.LARGEST):
        checks.fail("half_life counts episodes and must be above 0", f"it is {half_life!r}",
                    "Leave it out for a constant epsilon.")
    return float(half_life)


def checked_choices(gamma: float, weights: str, sweeps: int, targets: str,
                    variance: str) -> tuple[float, str, int, str, str]:
    """The choices that the verbatim form and a fast one share."""
    gamma = checks.between("gamma", gamma, 0, 1, hint="It discounts what follows; 0 is a bandit.")
    checks.one_of("weights", weights, ("per period", "shared"), hint="The first is the default.")
    sweeps = checks.whole("sweeps", sweeps, 1, hint="The paper fits once an episode.")
    checks.one_of("targets", targets, ("sample", "mean"), hint="'sample' is Algorithm 7.")
    checks.one_of("variance", variance, ("known", "unknown"), hint="'unknown' is appendix D.2.")
    return gamma, weights, sweeps, targets, variance

