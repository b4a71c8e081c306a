"""Agents of numbered states: H periods, S states and A actions, counted from zero."""

import math
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.random import Generator

from .. import checks
from ..compiled import Array, Floats, jit
from ..episodes import Run, part, played
from ..features import FeatureMap, Table
from ..mdp import FiniteMDP, Model
from ..waiting import HELD
from .acting import choose, positions, values
from .base import LinearAgent, check_fits

FIRST_CHUNK = 1_000_000  # values, which take some hundredths of a second
ENDED = -1  # in place of a next state: the episode is over and nothing follows


@jit
def _act(
    Phi: Floats,
    theta: Floats,
    closed: Array | None,
    h: int,
    s: int,
    epsilon: float,
    eta: float,
    q: Floats,
    p: Floats,
    u: float,
) -> int:
    values(Phi[h, s], theta[h], q)
    if closed is not None:
        for a in range(q.shape[0]):
            if closed[h, s, a]:
                q[a] = -np.inf
    return choose(q, epsilon, eta, p, u)


class FiniteStates(LinearAgent):
    """What agents for S states and A actions share, in H periods or, if they are timeless, in one
    for all time; all of these are numbers.

    Masks are kept in a table: what is allowed in a state may depend on the period, and must be the
    same at every visit.
    """

    timeless = False

    def __init__(self, features: Any, lam: float, sigma: float, **options: Any) -> None:
        phi = FeatureMap.of(features)
        if phi.S is None or phi.A is None or (phi.H is None and not self.timeless):
            checks.fail(
                f"{type(self).__name__} needs numbers of periods, states and actions",
                f"(H, S, A) is {(phi.H, phi.S, phi.A)}",
                "Pass H, or an (H, S, A, K) array; or leave form out.",
            )
        super().__init__(phi, lam, sigma, **options)
        self.S, self.A = phi.S, phi.A
        self._q, self._p = np.empty(self.A), np.empty(self.A)
        self._closed: Array | None = None  # (H, S, A), what masks forbid, once there are masks
        self._mask_known = np.zeros((0, 0), bool)  # (H, S), where one has been given

    def _period(self, h: int) -> int:
        """Whose table a step uses."""
        if self.H is None:
            checks.whole("h", h, hint="It counts the steps of an episode, from zero.")
            return 0
        return checks.index("h", h, self.H)

    def _close(self, h: int, s: int, legal: Any) -> None:
        """Keep what is allowed at s in period h; None: everything."""
        if legal is None and self._closed is None:
            return
        if not self.takes_masks:
            self._refuse_mask(legal)
        if (
            self._closed is not None
            and self._mask_known[h, s]
            and isinstance(legal, np.ndarray)
            and legal.dtype == np.int64
            and legal.tobytes() == np.flatnonzero(~self._closed[h, s]).tobytes()
        ):
            return  # as at every visit: the usual case, and what follows is slow
        closed = np.zeros(self.A, bool)
        if legal is not None:
            closed[:] = True
            closed[positions(np.arange(self.A), legal)] = False
        if self._closed is None:
            self._closed = np.zeros((self.H or 1, self.S, self.A), bool)
            self._mask_known = np.zeros((self.H or 1, self.S), bool)
        if self._mask_known[h, s] and (closed != self._closed[h, s]).any():
            checks.fail(
                "in a table of states a mask is the same at every visit in a period",
                f"state {s} in period {h} allowed "
                f"{np.flatnonzero(~self._closed[h, s]).tolist()}, and now "
                f"{np.flatnonzero(~closed).tolist()}",
                "Pass legal wherever some action "
                "is forbidden; if it changes, make what decides it a part of the state.",
            )
        self._mask_known[h, s], self._closed[h, s] = True, closed

    def _twin(self) -> Self:
        twin = super()._twin()
        if self._closed is not None:
            twin._closed, twin._mask_known = self._closed.copy(), self._mask_known.copy()
        return twin

    def _masked(self, q: Floats, h: int, s: int, legal: Any) -> Floats:
        if legal is None and self._closed is not None:
            q[self._closed[self._period(h), s]] = -np.inf
        return super()._masked(q, h, s, legal)

    def _checked_reward(self, given: Any) -> float:
        return checks.finite("r", given)

    @abstractmethod
    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        """Take in one transition; s_next is ENDED if nothing follows."""

    def observe(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: Any = None
    ) -> None:
        index, S = checks.index, self.S
        period = h if type(h) is int and 0 <= h < (self.H or 0) else self._period(h)
        s, a = s if type(s) is int and 0 <= s < S else index("s", s, S), index("a", a, self.A)
        if s_next is None:
            s_next = ENDED
        elif type(s_next) is not int or not 0 <= s_next < S:  # here, since it is done in every step
            s_next = index("s_next", s_next, S)
        r, after = self._checked_reward(r), 0 if self.H is None else period + 1
        if HELD.depth:  # in learn or play
            self._take_in(h, period, s, a, r, s_next, after, legal_next)
        else:
            with HELD:
                self._take_in(h, period, s, a, r, s_next, after, legal_next)

    def _take_in(
        self, h: int, period: int, s: int, a: int, r: float, s_next: int, after: int, legal: Any
    ) -> None:
        """Keep and count a transition; ``legal`` is what is allowed in s_next, in period after."""
        keys = self._keys(s, None if s_next == ENDED else s_next)
        if (
            (legal is not None or self._closed is not None)
            and s_next != ENDED
            and after < (self.H or 1)
        ):
            self._close(after, s_next, legal)
        self._remember(period, s, a, r, s_next)
        self._count_step(h, *keys, r, s_next == ENDED or h + 1 == self.H)


class CompiledLoop(FiniteStates):
    """What agents share that learn from a FiniteMDP in compiled code, and from others by steps."""

    @abstractmethod
    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        """Play as many episodes as the record has place for, in compiled code."""

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        if isinstance(env, FiniteMDP) and self.H is not None:
            check_fits((self.H, self.S, self.A), env)
        if self._closed is not None and self._closed.any():
            checks.fail(
                "in a table of states a mask is the same at every visit in a period",
                "some actions were forbidden, and learn forbids none",
                "Go on as it began, by plan, act and observe with masks.",
            )
        return super()._prepare(env, episodes, rng, exact)

    def _coming_dithers(self, episodes: int) -> Floats:
        """The probability of a uniformly random action in each of the next episodes."""
        if self.choices.half_life == math.inf:
            return np.full(episodes, self.epsilon)
        return np.array([self._dither_in(self.episode + 1 + i) for i in range(episodes)])

    @property
    def _first_chunk(self) -> int:
        return 1 if self.H is None else FIRST_CHUNK // (self.H * self.S * self.A)

    def _play(self, env: Any, exact: Any, rng: Generator, run: Run, start: int) -> None:
        if self.H is None or not isinstance(env, FiniteMDP):
            self._play_by_steps(env, exact, rng, run)
            return
        try:
            self._learn(env.model, exact, rng, run)
        finally:
            self._count_all(part(run, 0, played(run)))

    def _count_all(self, run: Run) -> None:
        """What is recorded after compiled code has run."""
        self.episode += len(run.reward)
        self.transitions += int(run.length.sum())
        self._returns.add_episodes(run.reward)


class TableAgent(FiniteStates):
    """An agent with weights θ_h and Q_h = Φ_h θ_h, Φ being an (H, S, A, K) table of features.

    ``theta`` is the (H, K) array of the weights of this episode.
    """

    H: int

    def __init__(self, Phi: Any, lam: float, sigma: float, **options: Any) -> None:
        table = Phi if isinstance(Phi, Table) else Table(Phi)
        super().__init__(table, lam, sigma, **options)
        self.Phi, self.K = table.Phi, table.K
        self.theta = np.zeros((self.H, self.K))

    def _twin(self) -> Self:
        twin = super()._twin()
        twin.theta = np.zeros_like(self.theta)
        return twin

    def act(self, h: int, s: int, legal: Any = None) -> int:
        h, s = checks.index("h", h, self.H), checks.index("s", s, self.S)
        if self.episode < 0:
            self._warn_unplanned()
        self._close(h, s, legal)
        return _act(
            self.Phi,
            self.theta,
            self._closed,
            h,
            s,
            self.dither,
            self.eta,
            self._q,
            self._p,
            self.rng.random(),
        )

    def _values(self, h: int, s: int) -> Floats:
        h, s, q = checks.index("h", h, self.H), checks.index("s", s, self.S), np.empty(self.A)
        values(self.Phi[h, s], self.theta[h], q)
        return q

    @property
    def Q(self) -> Floats:
        Q = np.empty((self.H, self.S, self.A))
        for h, s in np.ndindex(self.H, self.S):
            values(self.Phi[h, s], self.theta[h], Q[h, s])
        if self._closed is not None:
            Q[self._closed] = -np.inf
        return Q
