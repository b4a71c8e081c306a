"""What the forms for any feature map share: periods, actions, masks and the interface.

``verbatim`` and ``stored`` add how transitions are kept and how weights are fitted to them.
"""

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np

from .. import checks
from ..compiled import Array, Floats, Generator
from ..episodes import Run
from ..features import FeatureMap, OneHot
from ..mdp import FiniteMDP
from ..regression import draw_key, draw_noise, normals_of
from ..waiting import HELD
from .acting import choose, positions
from .base import LinearAgent, check_fits


class MappedAgent(LinearAgent):
    """An agent with weights θ_h and Q_h(s, ·) = Φ_h(s, ·) θ_h, for any feature map.

    ``theta`` holds a row of weights for each period, or one for all time; ``mean`` the posterior
    mean they were drawn around; ``data`` the transitions of each regression. Where the map has
    ``known`` weights, these are the last ones of each row.
    """

    takes_masks = True

    def __init__(self, features: Any, lam: float, sigma: float, **options: Any) -> None:
        super().__init__(features, lam, sigma, **options)
        self.S, self.A = self.features.S, self.features.A
        self.apart = self.H is not None and self.choices.weights == "per period"
        self._allocate(self.features.K)

    def _allocate(self, K: int) -> None:
        """Make room for K weights per fit, and for the data."""
        self.free = K  # weights to learn
        self.theta = np.zeros((self.H or 1, K + len(self.features.known)))  # Algorithm 8, line 1
        self.theta[:, K:] = self.features.known
        self.mean = self.theta.copy()
        self.data: list[Any] = [self._no_data() for _ in range(self.H or 1 if self.apart else 1)]

    @abstractmethod
    def _no_data(self) -> Any:
        """What holds the transitions of one regression."""

    @abstractmethod
    def _keep(self, h: int, s: Any, at: int, r: float, s_next: Any | None, legal_next: Any) -> None:
        """Remember a transition; ``at`` is the row of its action."""

    @abstractmethod
    def _actions(self, h: int, s: Any) -> Array:
        """The numbers of the actions, in the order of the rows."""

    @abstractmethod
    def _row_values(self, h: int, s: Any) -> Floats:
        """Q̃(s, ·), one value per row of features, in their order."""

    def _values(self, h: int, s: Any) -> Floats:
        rows, numbers = self._row_values(h, s), self._actions(h, s)
        q = np.full(self.A or numbers.max() + 1, -np.inf)
        q[numbers] = rows
        return q

    def _noise(self, rows: int) -> tuple[Floats, float]:
        """What the draw of a fit to so many rows needs; for the mean, nothing."""
        if not self.sample:
            return np.zeros(self.free), math.nan
        unknown = rows if self.reading.variance == "unknown" else None
        if isinstance(self.features, OneHot) and self.H is None:  # so that few need be computed
            z = normals_of(draw_key(self.rng), np.arange(self.free))
            return z, draw_noise(self.rng, 0, unknown)[1]
        return draw_noise(self.rng, self.free, unknown)

    def _twin(self) -> Self:
        twin = super()._twin()
        twin.theta, twin.mean = self.mean.copy(), self.mean.copy()
        return twin

    def _draw(self) -> None:
        weights = [vars(self)[name] for name in ("theta", "mean") if name in vars(self)]
        before, drawn = [one.copy() for one in weights], self.rng.bit_generator.state
        try:
            super()._draw()
            if not np.isfinite(self.theta).all():
                checks.fail(
                    "values must stay finite",
                    "fit upon fit, the weights have grown beyond all numbers",
                    "Pass value_range, to which targets are clipped, or discount more.",
                    FloatingPointError,
                )
        except BaseException:  # a fit was refused, or Ctrl-C did not wait for the others
            for one, old in zip(weights, before, strict=True):
                one[:] = old
            self.rng.bit_generator.state = drawn
            raise

    def _period(self, h: int) -> int:
        """Whose weights a step uses."""
        if self.H is None:
            if type(h) is not int or h < 0:
                checks.whole("h", h, hint="It counts the steps of an episode, from zero.")
            return 0
        if not (isinstance(h, (int, np.integer)) and 0 <= h < self.H):
            checks.fail(
                f"h must be one of 0, …, {self.H - 1}",
                f"it is {h!r}",
                "An episode may not outlast the agent's horizon: pass a longer H, end the "
                "episode, or leave H out and discount by gamma.",
                IndexError,
            )
        return int(h)

    def check_actions(self, A: int, s: Any) -> None:
        """Refuse an environment with A actions, given its first observation, if the features have
        another number of rows."""
        numbers = self._actions(0, s)
        own = type(self.features).legal is not FeatureMap.legal  # the features say what is legal
        if numbers.max() >= A or not (own or numbers.size == A):
            checks.fail(
                f"features have one row for each of the environment's {A} actions",
                f"for the first observation they have {numbers.size}",
                f"Return ({A}, K) rows; features.PerAction crosses state features with actions.",
            )

    def act(self, h: int, s: Any, legal: Any = None) -> int:
        if self.episode < 0:
            self._warn_unplanned()
        self._redraw_if_due()
        q, numbers = self._row_values(h, s), self._actions(h, s)
        if legal is not None:
            at = positions(numbers, legal)
            q, numbers = q[at], numbers[at]
        i = choose(q, self.dither, self.eta, np.empty(q.size), self.rng.random())
        return int(numbers[i])

    def observe(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        self._period(h)  # checks h
        r = checks.finite("r", r)
        legal = self._actions(h, s).tolist()
        if not isinstance(a, (int, np.integer)) or legal.count(a) != 1:
            checks.fail(
                f"a must be a legal action, one of {legal}",
                f"it is {a!r}",
                "Pass the action that act returned.",
                IndexError,
            )
        last = s_next is None or (self.H is not None and h == self.H - 1)
        keys = self._keys(s, s_next)
        with HELD:
            self._keep(h, s, legal.index(a), r, None if last else s_next, legal_next)
            self._count_step(h, *keys, r, last)

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        if isinstance(env, FiniteMDP) and None not in (self.H, self.S, self.A):
            check_fits((self.H, self.S, self.A), env)
        return super()._prepare(env, episodes, rng, exact)

    @property
    def Q(self) -> Floats:
        """The action values of this episode, an (H, S, A) array, where states are numbers."""
        if self.S is None:
            return super().Q
        return np.array([[self.values(h, s) for s in range(self.S)] for h in range(self.H or 1)])
