r"""What a learner is: it keeps data and fits values to them.

Every algorithm here is (what the regression's target is) × (how the estimate becomes an action) ×
(how time is indexed). A learner has the first and the last, an agent the second. Three methods make
a learner, and :class:`~rlsvi_core.agent.Agent` does the rest:

- ``fit(rng, before)`` returns what the next episode is played by: a random draw, or the mean if
  ``rng`` is None. ``before`` is what it returned last, None at first; it is not changed.
- ``values(fitted, h, s)`` returns a new array, one value for each action.
- ``add(h, s, a, r, s_next)`` keeps a transition; ``s_next`` is None if nothing of value follows. At
  the last step of a horizon it is the state that was reached. Where an environment forbids actions,
  ``add`` has one argument more, ``legal_next=None``: the numbers of those allowed in ``s_next``.

The learners of the paper fit the same :class:`Problem`: with targets

.. math:: b_i = r_i + \gamma \max_\alpha (\Phi\theta^+)(s_i', \alpha),
    \qquad b_i = r_i \text{ if nothing follows},

where the next value may be truncated to a range, a Gaussian posterior for θ. They differ in what
they keep: transitions (``rlsvi``), sums over them, counts, or rows of features (``learners``). They
give the same weights from the same draws.
"""

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from . import checks
from .compiled import Array, Floats, Generator
from .features import FeatureMap
from .loop import Task

ENDED = -1  # in place of a numbered next state: nothing of value follows
MOST_SWEEPS = 10_000  # after so many, sweeps until nothing changes stop all the same
SETTLED = 1e-12  # the change, beside the largest value, that counts as none


class Learner:
    """Keeps data and fits values to them by ``fit``, ``values`` and ``add``, as
    :mod:`rlsvi_core.learner` says.

    Attributes
    ----------
    H, S, A : int or None
        Periods, states and actions, where their number is fixed.
    """

    H: int | None = None
    S: int | None = None
    A: int | None = None

    def fit(self, rng: Generator | None, before: Any) -> Any:
        raise self._needs("fit(rng, before)")

    def values(self, fitted: Any, h: int, s: Any) -> Floats:
        raise self._needs("values(fitted, h, s)")

    def add(self, h: int, s: Any, a: int, r: float, s_next: Any | None) -> None:
        raise self._needs("add(h, s, a, r, s_next)")

    def _needs(self, method: str) -> NotImplementedError:
        name = type(self).__name__
        return NotImplementedError(f"{name} needs {method}; rlsvi_core.learner says what it does.")

    def compiled(self, env: Any, limit: int | None) -> Callable[[Any, Task], None] | None:
        """Algorithm 2 in compiled code, if there is some for this environment in episodes of
        ``limit`` steps: it plays what a :class:`~rlsvi_core.loop.Task` asks for and writes what it
        fits into its first argument, which ``room`` has made or ``fit`` returned.
        :func:`~rlsvi_core.loop.compiled_loop` makes most of it. None: the agent plays by steps."""
        return None

    def room(self) -> Any:
        """Like what ``fit`` returns, for compiled code to write into."""
        raise self._needs("room()")

    def __repr__(self) -> str:
        sizes = ((name, getattr(self, name)) for name in "HSA")
        said = ", ".join(f"{name}={size}" for name, size in sizes if size is not None)
        return f"{type(self).__name__}({said})"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What one rarely sets.

    Parameters
    ----------
    truncate : bool
        Cut the next value in every target to ``value_range``, where that is given.
    first : {"uniform", "prior"}
        ``"uniform"`` is the paper's footnote: weights 0 before any data, so a uniformly random
        first episode. ``"prior"`` is Algorithm 1 alone, a draw from the prior.
    shared : bool
        With a horizon, one weight vector for all periods: H fits to the transitions of all of them,
        of which the last one's weights act throughout.
    window : int, optional
        Transitions kept in each regression; None: all.
    sweeps : float, optional
        Without a horizon, fits per episode, each with the weights of the one before in its targets;
        10 by default, 1 if γ = 0; 1 is as printed. ``math.inf``: until nothing changes, so that an
        episode acts on one value function.
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

    truncate: bool = True
    first: Literal["uniform", "prior"] = "uniform"
    shared: bool = False
    window: int | None = None
    sweeps: float | None = None
    redraw: float | Callable[[Any], Hashable] | None = None

    def __post_init__(self) -> None:
        checks.flag(truncate=self.truncate, shared=self.shared)
        checks.one_of(
            "first", self.first, ("uniform", "prior"), hint="'uniform' is the paper's footnote."
        )
        if self.window is not None:
            checks.whole("window", self.window, 1, hint="It counts transitions; None keeps all.")
        if self.sweeps not in (None, math.inf):
            hint = "The paper fits once per episode; math.inf is as many as change something."
            checks.whole("sweeps", self.sweeps, 1, MOST_SWEEPS, hint=hint)
        if self.redraw not in (None, math.inf) and not callable(self.redraw):
            hint = "It counts steps; or pass a function whose values recur, or math.inf for never."
            checks.whole("redraw", self.redraw, 1, hint=hint)


@dataclass(frozen=True)
class Problem:
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
    def apart(self) -> bool:
        """Whether each period has weights of its own."""
        return self.features.H is not None and not self.options.shared

    @property
    def sweeps(self) -> float:
        """Fits of one weight vector in an episode."""
        if self.features.H is not None:
            return self.features.H if self.options.shared else 1
        if self.gamma == 0:
            return 1
        return 10 if self.options.sweeps is None else self.options.sweeps


class Weights(NamedTuple):
    """The weights of an episode, a row for each period, or one for all time."""

    theta: Floats
    mean: Any = None  # what they were drawn around, where the mean's sweeps begin


class Targets(NamedTuple):
    """The next value as it enters a target: truncated to [low, high] and discounted."""

    gamma: float
    low: float
    high: float


def sweeping(sweeps: float, weights: Floats) -> Iterator[int]:
    """Number the sweeps; if there are infinitely many, until the weights in the targets, which a
    sweep changes in place, do not change any more."""
    if sweeps < math.inf:
        yield from range(int(sweeps))
        return
    for sweep in range(MOST_SWEEPS):
        before = weights.copy()
        yield sweep
        if np.abs(weights - before).max() <= SETTLED * max(1.0, np.abs(weights).max()):
            return


def check_growth(theta: Floats) -> None:
    """Refuse weights without bound: where features extrapolate, a sweep may be no contraction."""
    if not np.isfinite(theta).all():
        checks.fail(
            "values must stay finite",
            "fit upon fit, the weights have grown beyond all numbers",
            "Pass value_range, to which targets are truncated, or discount more.",
            FloatingPointError,
        )


def positions(A: int, legal: Any) -> Array:
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
            f"legal lists the numbers of the actions allowed, some of 0, …, {A - 1}, each once",
            f"it is {legal!r}",
            "Pass np.flatnonzero(mask), and end the episode where nothing is allowed.",
            IndexError,
        )
    return at


class Masks:
    """What masks forbid in a table of states: the same at every visit in a period."""

    def __init__(self, periods: int, S: int, A: int) -> None:
        self._shape = periods, S, A
        self.closed = np.zeros((0, S, A), bool)  # empty before the first mask
        self._known: dict[tuple[int, int], bytes] = {}

    def close(self, h: int, s: int, legal: Any) -> None:
        """Keep what is allowed at s in period h; None: everything, of which the first mask forbids
        something."""
        if legal is None and not self.closed.size:
            return
        closed = np.ones(self._shape[2], bool)
        closed[... if legal is None else positions(closed.size, legal)] = False
        if self._known.setdefault((h, s), closed.tobytes()) != closed.tobytes():
            checks.fail(
                "in a table of states a mask is the same at every visit in a period",
                f"state {s} in period {h} allowed "
                f"{np.flatnonzero(~self.closed[h, s]).tolist()}, and now {legal!r}",
                "If it changes, make what decides it a part of the state.",
            )
        if not self.closed.size:
            self.closed = np.zeros(self._shape, bool)
        self.closed[h, s] = closed

    def masked(self, h: int, s: int, q: Floats) -> Floats:
        """Values with −∞ for what is known to be forbidden."""
        if self.closed.size:
            q[self.closed[h, s]] = -np.inf
        return q
