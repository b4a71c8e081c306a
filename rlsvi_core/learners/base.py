r"""What a learner is: it keeps data and fits values to them.

Every algorithm here is (what the regression's target is) × (how the estimate becomes an action) ×
(how time is indexed). A learner has the first and the last, an agent the second. Three methods make
a learner, and :class:`~rlsvi_core.agents.Agent` does the rest:

- ``fit(rng, before)`` returns what the next episode is played by: a random draw, or the mean if
  ``rng`` is None. ``before`` is what it returned last, None at first; it is not changed. The mean
  before which there was nothing is a function of the data alone.
- ``values(fitted, h, s)`` returns a new array, one value for each action.
- ``add(h, s, a, r, s_next)`` keeps a transition; ``s_next`` is None if nothing of value follows. At
  the last step of a horizon it is the state that was reached. Where an environment forbids actions,
  ``add`` has one argument more, ``legal_next=None``: the numbers of those allowed in ``s_next``.

The learners of the paper fit the same :class:`RegressionProblem`: with targets

.. math:: b_i = r_i + \gamma \max_\alpha (\Phi\theta^+)(s_i', \alpha),
    \qquad b_i = r_i \text{ if nothing follows},

where the next value may be truncated to a range, a Gaussian posterior for θ. They differ in what
they keep: sums over transitions, counts, or rows of features (:mod:`rlsvi_core.learners`). All give
the weights of :mod:`rlsvi_core.algorithms` from the same draws.

Where states and actions are numbers a learner is a record and three compiled functions of it,
``fit(data, rng)``, which returns by how much the last of several sweeps changed the values,
``values(data, h, s, q)``, which fills q, and ``add(data, h, s, a, r, s_next)``.
:func:`compile_parts` makes the compiled loop of them, and :class:`CompiledLearner` all that Python
sees.
"""

import copy
import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..features import FeatureMap
from ..regression import fill_noise
from ..runtime import checks
from ..runtime.compilation import Array, Floats, Generator, Ints
from ..runtime.loop import (
    COMPILED_ENVS,
    PlayRequest,
    compile_loop,
    compile_with_globals,
    fill_action_values,
)

TERMINAL = -1  # in place of a numbered next state: nothing of value follows
# what compiled code is handed for the mean; none draws from it
UNUSED_RNG = np.random.default_rng(0)
CONVERGENCE_TOL = (
    1e-12  # a share of the largest weight, by which rounding may change it in each sweep
)
MAX_WEIGHT = 1e90  # a weight that no data explain


class Learner:
    """Keeps data and fits values to them by ``fit``, ``values`` and ``add``, as
    :mod:`rlsvi_core.learners.base` says.

    Attributes
    ----------
    H, S, A : int or None
        Periods, states and actions, where their number is fixed.
    """

    H: int | None = None
    S: int | None = None
    A: int | None = None
    problem: Any = None  # the Problem that is fitted, where it is one

    def fit(self, rng: Generator | None, before: Any) -> Any:
        raise self._not_implemented("fit(rng, before)")

    def values(self, fitted: Any, h: int, s: Any) -> Floats:
        raise self._not_implemented("values(fitted, h, s)")

    def add(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        raise self._not_implemented("add(h, s, a, r, s_next)")

    def _period_index(self, h: int) -> int:
        """Whose values a step uses: those of its period, or without a horizon the only ones."""
        return 0 if self.H is None else checks.check_index("h", h, self.H)

    def _not_implemented(self, method: str) -> NotImplementedError:
        name = type(self).__name__
        return NotImplementedError(
            f"{name} needs {method}; rlsvi_core.learners.base says what it does."
        )

    def compile_player(
        self, env: Any, limit: int | None
    ) -> Callable[[Any, PlayRequest], None] | None:
        """Algorithm 2 in compiled code, if there is some for this environment in episodes of
        ``limit`` steps: it plays what a :class:`~rlsvi_core.runtime.loop.PlayRequest` asks for and
        writes what it fits into its first argument, which ``empty_fit`` has made or ``fit``
        returned.
        :func:`~rlsvi_core.runtime.loop.compile_loop` makes most of it. None: the agent plays by
        steps, and so it does for a subclass that has another ``fit``, ``values`` or ``add``, but no
        ``compile_player`` of its own."""
        return None

    def empty_fit(self) -> Any:
        """Like what ``fit`` returns, for compiled code to write into."""
        raise self._not_implemented("empty_fit()")

    @property
    def settings(self) -> dict[str, str]:
        """What an agent's repr says of its learner: λ and σ, say."""
        return self.problem.settings if isinstance(self.problem, RegressionProblem) else {}

    def __repr__(self) -> str:
        sizes = ((name, getattr(self, name)) for name in "HSA")
        said = ", ".join(f"{name}={size}" for name, size in sizes if size is not None)
        return f"{type(self).__name__}({said})"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What one rarely sets.

    Parameters
    ----------
    first : {"uniform", "prior"}
        ``"uniform"`` is the paper's footnote: weights 0 before any data, so a uniformly random
        first episode, and no random numbers for the fit. ``"prior"`` is Algorithm 1 alone, a draw
        from the prior, for features whose K and A are known.
    window : int, optional
        Transitions kept in each regression; None: all. One-hot features, of which counts are kept,
        have none.
    sweeps : int, optional
        Without a horizon, fits per episode, each with the weights of the one before in its targets;
        10 by default, 1 if γ = 0; 1 is as printed.
    mean_sweeps : int, optional
        Without a horizon, sweeps at most for the mean by which ``greedy``, ``evaluate`` and
        ``mean_values`` go, and LSVI's first plan: so many steps they look ahead. By default they
        go on until nothing changes, thousands of sweeps if γ is near 1.
    redraw : int or callable, optional
        Without a horizon, when to draw again in mid-episode: after so many steps, or when a value
        of a function of the observation recurs since the last draw. By default a repeated state
        does it for one-hot features, and nothing for others, as printed; ``math.inf`` is never.

    Examples
    --------
    >>> from rlsvi_core import chain, features, rlsvi
    >>> agent = rlsvi(features.tabular(chain(5)), options=Options(first="prior"), rng=1)
    >>> agent.learn(chain(5), episodes=100, rng=2).reward.sum() > 20
    np.True_
    """

    first: Literal["uniform", "prior"] = "uniform"
    window: int | None = None
    sweeps: int | None = None
    mean_sweeps: int | None = None
    redraw: float | Callable[[Any], Hashable] | None = None

    def __post_init__(self) -> None:
        checks.check_one_of("first", self.first, ("uniform", "prior"))
        if self.window is not None:
            checks.check_integer(
                "window", self.window, 1, hint="It counts transitions; None keeps all."
            )
        if self.sweeps is not None:
            hint = "The paper fits once per episode; 10 is usual."
            checks.check_integer("sweeps", self.sweeps, 1, hint=hint)
        if self.mean_sweeps is not None:
            hint = "So many steps the mean looks ahead; 300 is enough for most."
            checks.check_integer("mean_sweeps", self.mean_sweeps, 1, hint=hint)
        check_redraw(self.redraw)


def check_redraw(redraw: Any) -> None:
    if redraw not in (None, math.inf) and not callable(redraw):
        hint = "It counts steps; or pass a function whose values recur, or math.inf for never."
        checks.check_integer("redraw", redraw, 1, hint=hint)


class TargetSpec(NamedTuple):
    """The next value as it enters a target: truncated to [low, high] and discounted."""

    gamma: float
    low: float
    high: float


@dataclass(frozen=True)
class RegressionProblem:
    """The regression that is solved before an episode: targets are r + γV, V truncated to
    [low, high], and weights have the prior N(0, I/λ) and targets the noise N(0, σ²)."""

    features: FeatureMap
    lam: float
    sigma: float
    gamma: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    options: Options = Options()
    unit: bool = False  # whether λ rests on features of norm 1

    @property
    def ridge(self) -> float:
        """λσ², the prior's part of A'A + λσ²I."""
        return self.lam * self.sigma**2

    @property
    def settings(self) -> dict[str, str]:
        """λ, σ and the range of values, in words."""
        chosen = {"lam": f"{self.lam:g}", "sigma": f"{self.sigma:g}"}
        return chosen | self.value_range

    @property
    def value_range(self) -> dict[str, str]:
        """The range of values in words, if there is one."""
        known = math.isfinite(self.low)
        return {"value_range": f"({self.low:g}, {self.high:g})"} if known else {}

    @property
    def targets(self) -> TargetSpec:
        return TargetSpec(self.gamma, self.low, self.high)

    def n_sweeps(self, first: bool) -> int:
        """How many fits of one weight vector a draw takes; or, at most, the ``first`` mean, which
        begins at 0 and goes on until they change nothing, so that it is a function of the data.
        To begin where the last one ended would save few sweeps: those of the last digits are most."""
        if self.gamma == 0:
            return 1
        if first:
            return self.options.mean_sweeps or max_sweeps(self.gamma)
        return self.options.sweeps or 10

    def warn_not_converged(self, change: float, size: float) -> None:
        """Mention a mean without a horizon that the last sweep has changed by more than rounding
        does, unless somebody bounds its sweeps: it depends on where it was left."""
        if self.gamma > 0 and not self.options.mean_sweeps and change > 1e-9 * size:
            checks.warn(
                f"the mean has not settled in {max_sweeps(self.gamma)} sweeps; gamma is "
                f"{self.gamma:g}. Lower it, or pass Options(mean_sweeps=300), say, to stop earlier."
            )


def max_sweeps(gamma: float) -> int:
    """So many that a contraction by γ has settled to the last digit, a hundred thousand at most."""
    enough = math.log(1e-18) / math.log(gamma) if 0 < gamma < 1 else math.inf
    return math.ceil(min(max(enough, 1000), 100_000))


class Weights(NamedTuple):
    """The weights of an episode, a row for each period, or one for all time."""

    theta: Floats
    mean: Any = None  # what they were drawn around


def check_divergence(fitted: Any) -> float:
    """Refuse weights without bound: where features extrapolate, a sweep may be no contraction.
    Returns the largest."""
    values = getattr(fitted, "theta", fitted)
    largest = float(np.abs(values).max(initial=0.0, where=~np.isneginf(values)))
    if not largest < MAX_WEIGHT:
        checks.fail(
            f"values must stay finite; a weight has grown to {largest:g}. Pass value_range.",
            FloatingPointError,
        )
    return largest


class RegressionLearner(Learner):
    """The fits of Algorithms 1, 3, 7 and 11, for what a subclass keeps; it has ``has_no_data``
    and ``solve``, and K, the number of weights, 0 while it is not known."""

    problem: RegressionProblem
    K: int

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        """One weight vector after another, each with that of the fit before in its targets."""
        theta, mean = np.zeros((2, self.H or 1, self.K))
        if self.has_no_data(rng):
            return Weights(theta, mean)  # section 4's footnote
        if self.H is None and before is not None and before.theta.size:  # else K was not known
            theta[:] = before.theta
            mean[:] = before.mean
        after = theta[0] if self.H is None else np.zeros(self.K)
        for h, noise in self.fit_schedule(
            rng, before
        ):  # Algorithm 1, line 1; Algorithms 3 and 11, line 2
            last = theta[h].copy()
            mean[h], theta[h] = self.solve(h, after, noise)
            check_divergence(theta[h])
            after = theta[h]
            change = np.abs(theta[h] - last).max()
            size = np.abs(theta[h]).max()
            if self.H is None and change <= (CONVERGENCE_TOL * size if rng is None else 0.0):
                break  # so it will stay
        if self.H is None and rng is None and before is None:
            self.problem.warn_not_converged(change, size)
        return Weights(theta, mean)

    def fit_schedule(
        self, rng: Generator | None, before: Weights | None
    ) -> Iterator[tuple[int, Any]]:
        """The period of each fit, and its noise: backwards in time, or sweeps with the same one."""
        if self.H is not None:
            for h in reversed(range(self.H)):
                yield h, self.draw_noise(h, rng)
        else:
            noise = self.draw_noise(0, rng)
            for _ in range(self.problem.n_sweeps(rng is None and before is None)):
                yield 0, noise

    def has_no_data(self, rng: Generator | None) -> bool:
        """Whether there is nothing to fit yet, so that all weights are 0."""
        raise NotImplementedError

    def draw_noise(self, h: int, rng: Generator | None) -> Any:
        """What makes a draw of the fit to the data of period h: z, for the mean 0."""
        z = np.zeros(self.K)
        if rng is not None:
            fill_noise(rng, z)
        return z

    def solve(self, h: int, after: Floats, noise: Any) -> tuple[Floats, Floats]:
        """The mean and the draw that the noise gives, with the weights ``after`` in the targets."""
        raise NotImplementedError


def legal_indices(A: int, legal: Any) -> Array:
    """The numbers of the actions allowed, in their order, of A."""
    at = np.asarray(legal)
    if (
        at.ndim != 1
        or not at.size
        or at.dtype.kind not in "iu"
        or at.min() < 0
        or at.max() >= A
        or len(set(at.tolist())) < at.size
    ):
        checks.fail(
            f"legal lists some of the actions 0, …, {A - 1}, each once; it is {legal!r}.",
            IndexError,
        )
    return at


class ActionMasks:
    """What masks forbid in a table of states: the same at every visit in a period."""

    def __init__(self, periods: int, S: int, A: int) -> None:
        self._shape = periods, S, A
        self.closed = np.zeros((0, S, A), bool)  # empty before the first mask
        self._known: dict[tuple[int, int], bytes] = {}

    def set_legal(self, h: int, s: int, legal: Any) -> None:
        """Keep what is allowed at s in period h; None says nothing."""
        if legal is None:
            return
        closed = np.ones(self._shape[2], bool)
        closed[legal_indices(closed.size, legal)] = False
        if self._known.setdefault((h, s), closed.tobytes()) != closed.tobytes():
            checks.fail(
                f"in a table a mask stays the same; in state {s}, period {h} it is now {legal!r}."
            )
        if not self.closed.size:
            self.closed = np.zeros(self._shape, bool)
        self.closed[h, s] = closed

    def mask_values(self, h: int, s: int, q: Floats) -> Floats:
        """Values with −∞ for what is known to be forbidden."""
        if self.closed.size:
            q[self.closed[h, s]] = -np.inf
        return q


class CompiledParts(NamedTuple):
    """A learner in compiled code."""

    fit: Any
    add: Any  # takes in all steps of a queue that are not done yet
    loop: Any


add: Any = None  # stands for the part that this is made with


def _add_queued(data: Any, steps: Floats, done: Ints) -> None:
    for i in range(done[0], steps.shape[0]):
        h = int(steps[i, 0])
        s = int(steps[i, 1])
        a = int(steps[i, 2])
        add(data, h, s, a, steps[i, 3], int(steps[i, 4]))
        done[0] += 1


def compile_parts(fit: Any, values: Any, add: Any) -> CompiledParts:
    """Of three functions of one record, compiled by ``jit``."""
    return CompiledParts(
        fit, compile_with_globals(_add_queued, add=add), compile_loop(fit, values, add)
    )


class CompiledLearner(Learner):
    """A subclass has ``parts`` and gives its record to ``__init__``. Its fields ``fitted``, what an
    episode is played by, weights of a table ``Phi`` or a table of values, ``sigma``, 0 for the mean,
    ``sweeps``, 0 with a horizon, and ``closed``, what masks forbid, are kept up to date, those that
    there are. One without parts of its own is played by steps. Transitions are queued until a fit
    needs them: compiled code that takes in many per call is ten times as fast."""

    S: int
    A: int
    parts: CompiledParts
    problem: RegressionProblem

    def __init__(self, H: int | None, S: int, A: int, record: Any) -> None:
        self.H = H
        self.S = S
        self.A = A
        self.record = record
        self.masks = ActionMasks(H or 1, S, A)
        self.played = record.fitted  # what the last episode was played by
        self._queue: tuple[list[Any], Ints] = [], np.zeros(1, np.int64)  # and how many are done

    def make_record(self, fitted: Any, sample: bool = True, first: bool = False) -> Any:
        """The record for a draw, or for the mean, the first or one that goes on from another."""
        now = {"fitted": fitted, "closed": self.masks.closed}
        if not sample:
            now["sigma"] = 0.0
        if self.H is None:
            now["sweeps"] = self.problem.n_sweeps(first)
        return self.record._replace(
            **{name: now[name] for name in now if hasattr(self.record, name)}
        )

    def empty_fit(self) -> Any:
        return copy.deepcopy(self.record.fitted)

    def reserve(self, episodes: int, steps: int) -> None:
        """Make room for so many more; nothing, by default."""

    def flush_queue(self) -> None:
        """Take in all that is queued."""
        waiting, done = self._queue
        if waiting:
            steps = np.array(waiting, float)
            self.reserve(int(np.bincount(steps[:, 0].astype(int)).max()), len(steps))
            self.parts.add(self.make_record(self.played), steps, done)
            self._queue = [], np.zeros(1, np.int64)

    def fit(self, rng: Generator | None, before: Any) -> Any:
        self.flush_queue()
        first = rng is None and before is None
        fitted = copy.deepcopy(self.record.fitted if before is None else before)
        data = self.make_record(fitted, rng is not None, first)
        change = self.parts.fit(data, UNUSED_RNG if rng is None else rng)
        size = check_divergence(fitted) if self.H is None else 0.0
        if self.H is None and first:
            self.problem.warn_not_converged(change, size)
        if not first:  # which is only looked at
            self.played = fitted
        return fitted

    def values(self, fitted: Any, h: int, s: int) -> Floats:
        h = self._period_index(h)
        s = checks.check_index("s", s, self.S)
        if hasattr(fitted, "theta"):
            q = np.empty(self.A)
            fill_action_values(self.record.Phi[h, s], fitted.theta[h], q)
        else:
            q = fitted[h, s].copy()
        return self.masks.mask_values(h, s, q)

    def add(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: Any = None
    ) -> None:
        h = self._period_index(h)
        s = checks.check_index("s", s, self.S)
        a = checks.check_index("a", a, self.A)
        s_next = TERMINAL if s_next is None else checks.check_index("s_next", s_next, self.S)
        if s_next != TERMINAL and h + 1 != self.H:
            self.masks.set_legal(0 if self.H is None else h + 1, s_next, legal_next)
        self._queue[0].append((h, s, a, r, s_next))

    def compile_player(
        self, env: Any, limit: int | None
    ) -> Callable[[Any, PlayRequest], None] | None:
        mine = "parts" in vars(type(self)) and not self.masks.closed.size
        if type(env) not in COMPILED_ENVS or limit is None or not mine:
            return None

        def play(fitted: Any, task: PlayRequest) -> None:
            self.flush_queue()
            self.reserve(len(task.run.reward), len(task.run.reward) * limit)
            self.played = fitted
            self.parts.loop(env, limit, self.H or 1, self.make_record(fitted, task.sample), task)
            if self.H is None:
                check_divergence(fitted)

        return play
