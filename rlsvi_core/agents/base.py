r"""What all agents share: the choice of an action, and the loop of Algorithms 2, 4, 5 and 8.

Every algorithm here is (what the regression's target is) × (how the estimate becomes an action) ×
(how time is indexed). The loops of the paper differ in one line each, the action, and one formula
covers them:

.. math::
    \mathbb P(a \mid s) = \frac{\epsilon}{A} + (1 - \epsilon)\,
    \frac{e^{Q(s,a)/\eta}}{\sum_\alpha e^{Q(s,\alpha)/\eta}},

where :math:`\eta \to 0` puts equal mass on all maximisers. Greedy is
:math:`\epsilon = \eta = 0`. Ties are broken uniformly: Example 1 depends on it.

Every step uses one uniform draw of the agent's stream and at least one of the environment's, so one
changed action does not shift all later draws.
"""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.random import Generator

from .. import checks
from ..compiled import Array, Floats, Ints, jit
from ..features import FeatureMap, Table
from ..mdp import FiniteMDP, draw


@jit
def highest(q: Floats) -> float:
    """The largest of some values; q.max() takes the compiler ten times as long."""
    top = -np.inf
    for a in range(q.shape[0]):
        top = max(top, q[a])
    return top


@jit
def action_probabilities(q: Floats, epsilon: float, eta: float, out: Floats) -> None:
    """Fill ``out`` with the law of the action, given the action values q at a state; an action
    that a mask forbids has the value −∞."""
    A, top, total, open_ = q.shape[0], highest(q), 0.0, 0
    for a in range(A):
        if eta > 0.0:
            out[a] = math.exp((q[a] - top) / eta)  # Algorithm 4, line 5
        else:
            out[a] = 1.0 if q[a] == top else 0.0
        total += out[a]
        open_ += q[a] > -np.inf
    for a in range(A):  # Algorithm 5, lines 5 to 10
        dithering = epsilon / open_ if q[a] > -np.inf else 0.0
        out[a] = dithering + (1.0 - epsilon) * out[a] / total


@jit
def choose(q: Floats, epsilon: float, eta: float, p: Floats, u: float) -> int:
    """The action that a uniform u picks, given the values; ``p`` is scratch space."""
    action_probabilities(q, epsilon, eta, p)
    return draw(p, u)


@jit
def values(rows: Floats, theta: Floats, q: Floats) -> None:
    """Fill q with rows · θ, one value per action."""
    for a in range(q.shape[0]):
        total = 0.0
        for k in range(theta.shape[0]):
            total += rows[a, k] * theta[k]
        q[a] = total


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


ENDED = -1  # in place of a next state: the episode is over and nothing follows
LONGEST = 1_000_000  # steps of an episode, after which it is taken to be without end


class Run(NamedTuple):
    """The record of a learning run, one entry per episode."""

    reward: Floats  # realised Σ_h r_h
    expected: Floats  # exact expected reward of the policy that was played; NaN if not asked for
    claimed: Floats  # what the agent's own values promised for it, likewise
    opening: Ints  # the first action
    length: Ints  # steps
    furthest: Ints  # largest state index visited; −1 where states are not numbers


def empty_run(episodes: int) -> Run:
    """The record of so many episodes, checked, before they are played."""
    episodes = checks.whole("episodes", episodes, hint="Pass episodes=1000, say.")
    expected, claimed = np.full((2, episodes), np.nan)
    opening, length, furthest = np.zeros((3, episodes), np.int64)
    return Run(np.zeros(episodes), expected, claimed, opening, length, furthest)


@jit
def record_step(run: Run, i: int, h: int, a: int, r: float, s_next: int) -> None:
    """What step h of episode i adds to the record."""
    run.reward[i] += r
    run.furthest[i] = max(run.furthest[i], s_next)
    if h == 0:
        run.opening[i] = a


class Agent(Protocol):
    """What every learning agent offers.

    ``plan()`` before each episode, ``act(h, s)`` for an action, ``observe(h, s, a, r, s_next)``
    after each step: any environment can drive it this way. h counts the steps of an episode from
    zero. ``s_next=None`` says that the episode is over and nothing of value follows; in the last
    period of a finite horizon r includes the terminal reward. ``learn`` does all of this.
    """

    def plan(self) -> None: ...

    def act(self, h: int, s: Any) -> int: ...

    def observe(self, h: int, s: Any, a: int, r: float, s_next: Any | None) -> None: ...

    def learn(self, env: Any, episodes: int, rng: Any = None, *, exact: bool = False) -> Run: ...


class Choices(NamedTuple):
    """How weights are fitted. A name means the same in every form of an algorithm; a form that does
    not offer a choice refuses it. :func:`rlsvi_core.agents.rlsvi` explains the names."""

    gamma: float = 1.0
    clip: tuple[float, float] = (-math.inf, math.inf)
    weights: str = "per period"
    window: int | None = None
    sweeps: float = 1
    draws: str = "per episode"
    targets: str = "sample"
    variance: str = "known"
    lam_of_mean: float | None = None
    half_life: float = math.inf
    redraw: str | int = "never"

    def checked(self) -> "Choices":
        """The same choices, refused if one of them cannot be."""
        gamma = checks.between(
            "gamma", self.gamma, 0, 1, hint="It discounts what follows; 0 is a bandit."
        )
        checks.one_of(
            "weights", self.weights, ("per period", "shared"), hint="The first is the default."
        )
        window = (
            self.window
            if self.window is None
            else checks.whole(
                "window", self.window, 1, hint="It counts transitions; None keeps all."
            )
        )
        sweeps = (
            self.sweeps
            if self.sweeps == math.inf
            else checks.whole(
                "sweeps",
                self.sweeps,
                1,
                hint="The paper fits once per episode; math.inf is as many as change something.",
            )
        )
        checks.one_of(
            "draws", self.draws, ("per sweep", "per episode"), hint="The first is as printed."
        )
        if sweeps == math.inf and self.draws == "per sweep":
            checks.fail(
                "sweeps come to an end if they have the same draws",
                "sweeps is inf and draws is 'per sweep'",
                "Leave one of them out.",
            )
        checks.one_of("targets", self.targets, ("sample", "mean"), hint="'sample' is as printed.")
        checks.one_of(
            "variance", self.variance, ("known", "unknown"), hint="'unknown' is appendix D.2."
        )
        redraw = self.redraw
        if isinstance(redraw, str):
            checks.one_of(
                "redraw", redraw, ("never", "at repeats"), hint="Or pass a number of steps."
            )
        else:
            redraw = checks.whole(
                "redraw", redraw, 1, hint="It counts steps; or pass 'never' or 'at repeats'."
            )
        if self.lam_of_mean is not None:
            checks.positive(lam_of_mean=self.lam_of_mean)
        if not (isinstance(self.half_life, float) and self.half_life == math.inf) and not (
            checks.is_number(self.half_life) and self.half_life > 1 / checks.LARGEST
        ):
            checks.fail(
                "half_life counts episodes and must be above 0",
                f"it is {self.half_life!r}",
                "Leave it out for a constant epsilon.",
            )
        return self._replace(
            gamma=gamma,
            window=window,
            sweeps=sweeps,
            redraw=redraw,
            half_life=float(self.half_life),
        )

    def beyond(self, offered: frozenset[str]) -> list[str]:
        """The names chosen otherwise than by default that are not among those offered."""
        return [
            name
            for name, default in self._field_defaults.items()
            if name not in offered and getattr(self, name) != default
        ]


MOST_SWEEPS = 10_000  # after so many, sweeps until nothing changes stop all the same
SETTLED = 1e-12  # the change, beside the largest value, that counts as none


def repeated(sweeps: float, weights: Floats) -> Iterator[int]:
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


class LinearAgent(ABC):
    """The loop, for agents whose values are linear in some weights.

    Parameters
    ----------
    features : what to generalise by, a feature map or a table.
    lam, sigma : λ and σ of the posterior.
    sample : act on a draw from the posterior (RLSVI) or on its mean (LSVI).
    choices : how weights are fitted.
    epsilon, eta : dithering.
    first_episode : ``"zero"`` is the footnote's rule (weights 0 before any data, so the first
        episode is uniformly random); ``"prior"`` is Algorithm 1 alone, a draw from the prior.
    rng : the agent's own generator or its seed.
    """

    OFFERS: frozenset[str] = frozenset()  # the choices that this form offers
    takes_masks = False  # whether act and observe honour lists of legal actions
    H: int | None = None  # periods, if their number is fixed
    value_range = (-math.inf, math.inf)  # what the user has said of it
    theta: Floats  # the weights of this episode

    @checks.options
    def __init__(
        self,
        features: Any,
        lam: float,
        sigma: float,
        *,
        sample: bool,
        choices: Choices = Choices(),  # noqa: B008, a constant
        epsilon: float = 0.0,
        eta: float = 0.0,
        first_episode: str = "zero",
        rng: Any = None,
    ) -> None:
        checks.positive(lam=lam, sigma=sigma)
        checks.one_of(
            "first_episode",
            first_episode,
            ("zero", "prior"),
            hint="'zero' is the footnote's rule, 'prior' Algorithm 1 as printed.",
        )
        checks.instance("choices", choices, Choices, hint="Choices(gamma=0.9), say.")
        self.features = FeatureMap.of(features)
        self.H = self.features.H
        self.lam, self.sigma = float(lam), float(sigma)
        self.sample = checks.flag("sample", sample)
        self.choices = choices.checked()
        for name in self.choices.beyond(self.OFFERS):
            checks.fail(
                f"{type(self).__name__} does not offer {name}",
                f"{name} is {getattr(choices, name)!r}",
                "Leave form out for one that does.",
            )
        self.epsilon = checks.between(
            "epsilon", epsilon, 0, 1, hint="It is a probability: 0 is greedy, 1 uniformly random."
        )
        self.eta = checks.between("eta", eta, 0, math.inf, hint="It is a temperature; 0 is greedy.")
        if epsilon > 0 and eta > 0:
            checks.fail(
                "an agent dithers in one way",
                f"epsilon is {epsilon:g} (Algorithm 5) and eta {eta:g} (Algorithm 4)",
                "Choose one and leave the other 0.",
            )
        self.first_episode = first_episode
        self.rng = checks.generator(rng)
        self.transitions = 0  # how many have been observed
        self.episode = -1  # this one's number, counted by ``plan``
        self._at_mean: tuple[int, Any] = (-1, None)  # for ``greedy``: how many it knew, the twin
        self._begin_sample()
        self._so_far = 0, 1.0, 0.0  # of this episode: steps, the next one's discount, the return

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        """Whether this form can run with such features and offers what was chosen."""
        return not choices.beyond(cls.OFFERS)

    @property
    def has_no_data(self) -> bool:
        """Whether the weights stay 0 because nothing has been seen."""
        return self.transitions == 0 and not (self.sample and self.first_episode == "prior")

    def __repr__(self) -> str:
        how = (
            f"RLSVI, lam={self.lam:g}, sigma={self.sigma:g}"
            if self.sample
            else f"LSVI, lam={self.lam:g}"
            + f", epsilon={self.epsilon:g}" * (self.epsilon > 0)
            + f", eta={self.eta:g}" * (self.eta > 0)
        )
        return f"{type(self).__name__}({how}; {self.transitions} transitions seen)"

    @abstractmethod
    def _estimate(self) -> None:
        """Set the weights from all that was observed."""

    @abstractmethod
    def act(self, h: int, s: Any, legal: Any = None) -> int:
        """Choose an action for state s in step h of the current episode; ``legal`` lists those
        allowed, None: all."""

    @abstractmethod
    def observe(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        """Take in one transition; ``s_next=None`` if nothing of value follows it. ``legal_next``
        lists the actions allowed in s_next, None: all."""

    def _refuse_mask(self, legal: Any) -> None:
        """For a form in which every action is always allowed, or the features say which are."""
        if legal is not None:
            checks.fail(
                f"{type(self).__name__} does not take masks",
                f"legal is {checks.shown(legal)}",
                "Leave it out: every action is allowed here, or the features say which are.",
            )

    @property
    def dither(self) -> float:
        """The probability of a uniformly random action: ε, halved every ``half_life`` episodes."""
        if self.epsilon == 0:
            return 0.0
        return float(self.epsilon * 2.0 ** (-max(self.episode, 0) / self.choices.half_life))

    def plan(self) -> None:
        """Fix the weights for the coming episode."""
        self.episode += 1
        self._draw()

    def _draw(self) -> None:
        self._begin_sample()
        self._at_mean = -1, None  # without a horizon its fit starts from these weights
        if not self.has_no_data:
            self._estimate()

    def _begin_sample(self) -> None:
        self._steps, self._met = 0, set[Any]()  # since the weights were drawn
        self._is_due = False  # whether the next action is on another draw

    def _count_step(self, s: Any, s_next: Any) -> None:
        """Record whether ``redraw`` asks for another draw after a step."""
        redraw = self.choices.redraw
        if redraw == "at repeats":
            self._met.add(s)
            self._is_due = s_next in self._met
        elif not isinstance(redraw, str):
            self._steps += 1
            self._is_due = self._steps >= redraw

    def _redraw_if_due(self) -> None:
        """Draw again in mid-episode."""
        if self._is_due:
            self._draw()

    def _add_reward(self, h: int, r: float, ended: bool) -> None:
        """Sum the rewards of an episode observed in order, for :meth:`_compare`."""
        if self.value_range == LinearAgent.value_range:
            return
        if h == 0:
            total, (low, high) = self._so_far[2], self.value_range
            if not min(low, 0) <= total <= max(high, 0):  # of an episode that was cut
                self._compare(total)
            self._so_far = 0, 1.0, 0.0
        steps, discount, total = self._so_far
        if steps == h:
            total += discount * r
            self._so_far = h + 1, discount * self.choices.gamma, total
            if ended:
                self._compare(total)

    def _compare(self, total: float) -> None:
        """Warn, once, of a return outside the range of values that the user has said, by more than
        a hundredth of it: it sets scales. (So much was allowed when it had been seen that the deep
        sea, with a treasure of 1, costs 0.009 on the way.)"""
        low, high = self.value_range
        margin = 0.01 * (high - low)
        if not low - margin <= total <= high + margin:
            self.value_range = LinearAgent.value_range
            checks.warn(
                "value_range has the least and the largest discounted sum of rewards",
                f"it is ({low:g}, {high:g}), and an episode brought {total:g}",
                "Widen it, not beyond what can happen: lambda, sigma and clipping depend on it.",
            )

    def _compare_with(self, sums: Floats) -> None:
        """The same for the rewards of whole episodes, which are returns if nothing is
        discounted."""
        if self.choices.gamma == 1 and sums.size:
            self._compare(sums.min())
            self._compare(sums.max())

    def _twin(self) -> Self:
        """Another agent with the same data, still to be fitted, that takes the posterior mean and
        does not dither; it shares nothing that fitting or acting changes."""
        twin = copy.copy(self)
        twin.sample, twin.epsilon, twin.eta, twin.rng = False, 0.0, 0.0, np.random.default_rng(0)
        twin._begin_sample()
        return twin

    def _mean_agent(self) -> Self:
        """The twin, refitted if something was observed since its last fit."""
        if self._at_mean[0] != self.transitions:
            twin = self._twin()
            twin.plan()
            self._at_mean = self.transitions, twin
        mean: Self = self._at_mean[1]
        return mean

    def greedy(self, h: int, s: Any, legal: Any = None) -> int:
        """The action of the posterior mean of all that was observed, ties at random.

        This is LSVI with the ridge λσ², not the sample of this episode. Neither the agent nor its
        generator is disturbed. ``legal`` lists the numbers of the actions allowed, None: all.
        """
        return self._mean_agent().act(h, s, legal)

    def evaluate(self, env: Any, episodes: int, rng: Any = None) -> Floats:
        """Play on the posterior mean, without learning; see :meth:`greedy`.

        Parameters
        ----------
        env, episodes, rng : as for :meth:`learn`.

        Returns
        -------
        (episodes,) array, the reward of each.
        """
        episodes = checks.whole("episodes", episodes, hint="Pass episodes=100, say.")
        check_plays(env)
        rewards, rng = np.zeros(episodes), checks.generator(rng)
        for i in range(episodes):
            s, h, ended = copy.deepcopy(env.start(rng)), 0, False
            while not ended:
                r, s, ended = checked_step(env.step(h, s, self.greedy(h, s), rng), h)
                rewards[i], h = rewards[i] + r, h + 1
        return rewards

    @property
    def Q(self) -> Floats:
        """The action values of this episode, an (H, S, A) array, where states are numbers; −∞ where
        a mask forbids the action."""
        checks.fail(
            "values are tabulated where states are numbers",
            f"{type(self).__name__} has no table of states",
            "Ask for an action by act or greedy.",
            NotImplementedError,
        )

    def policy(self) -> Floats:
        """The law of the actions in this episode, an (H, S, A) array."""
        p = np.empty_like(Q := self.Q)
        for h, s in np.ndindex(Q.shape[:2]):
            action_probabilities(Q[h, s], self.dither, self.eta, p[h, s])
        return p

    def learn(self, env: Any, episodes: int, rng: Any = None, *, exact: bool = False) -> Run:
        """Algorithm 2: plan, play an episode, remember it, repeat.

        Parameters
        ----------
        env : with ``start(rng)``, which returns the first state, and ``step(h, s, a, rng)``, which
            returns the reward, the next state and whether the episode is over.
        episodes : how many. Call it again to go on; pass the same environment generator.
        rng : the environment's generator or its seed.
        exact : also evaluate each episode's policy by dynamic programming (finite MDPs).

        Returns
        -------
        Run
            One entry per episode.
        """
        rng, run = checks.generator(rng), empty_run(episodes)
        check_plays(env)
        if checks.flag("exact", exact):
            checks.instance(
                "env", env, FiniteMDP, hint="Leave exact out: only a FiniteMDP is known exactly."
            )
        for i in range(len(run.reward)):  # Algorithms 2, 4, 5 and 12, line 1; Algorithm 8, line 2
            self.plan()  # line 2; Algorithm 8, line 3
            if exact:
                run.expected[i] = env.initial @ env.evaluate(self.policy())[0]
                run.claimed[i] = env.initial @ self.Q[0].max(axis=1)
            s, h, ended = copy.deepcopy(env.start(rng)), 0, False  # line 3; Algorithm 8, line 4
            number = isinstance(s, (int, np.integer))
            run.furthest[i] = s if number else -1
            while not ended:  # line 4; Algorithm 8, line 5
                a = self.act(h, s)  # line 5; Algorithm 8, line 7
                r, s_next, ended = checked_step(env.step(h, s, a, rng), h)  # line 6; 8, line 8
                early = ended and h + 1 != self.H  # the last period's next state may be counted
                self.observe(h, s, a, r, None if early else s_next)  # Algorithm 8, lines 9 to 11
                run.reward[i] += r
                run.opening[i] = a if h == 0 else run.opening[i]
                s, h = s_next, h + 1
                run.furthest[i] = max(run.furthest[i], s) if number else -1
            run.length[i] = h
        return run


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
        self._q, self._p = np.empty((2, self.A))
        self._closed: Array | None = None  # (H, S, A), what masks forbid, once there are masks
        self._told = np.zeros((0, 0), bool)  # (H, S), where one has come

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
            and self._told[h, s]
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
            self._told = np.zeros((self.H or 1, self.S), bool)
        if self._told[h, s] and (closed != self._closed[h, s]).any():
            checks.fail(
                "in a table of states a mask is the same at every visit in a period",
                f"state {s} in period {h} allowed "
                f"{np.flatnonzero(~self._closed[h, s]).tolist()}, and now "
                f"{np.flatnonzero(~closed).tolist()}",
                "Pass legal wherever some action "
                "is forbidden; if it changes, make what decides it a part of the state.",
            )
        self._told[h, s], self._closed[h, s] = True, closed

    def _twin(self) -> Self:
        twin = super()._twin()
        if self._closed is not None:
            twin._closed, twin._told = self._closed.copy(), self._told.copy()
        return twin

    def _checked_reward(self, given: Any) -> float:
        return checks.finite("r", given)

    @abstractmethod
    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        """Take in one transition; s_next is ENDED if nothing follows."""

    def observe(
        self, h: int, s: int, a: int, r: float, s_next: int | None, legal_next: Any = None
    ) -> None:
        index = checks.index
        period, s, a = self._period(h), index("s", s, self.S), index("a", a, self.A)
        s_next = ENDED if s_next is None else index("s_next", s_next, self.S)
        r, after = self._checked_reward(r), 0 if self.H is None else period + 1
        if (
            (legal_next is not None or self._closed is not None)
            and s_next != ENDED
            and after < (self.H or 1)
        ):
            self._close(after, s_next, legal_next)
        self._remember(period, s, a, r, s_next)
        self._count_step(s, s_next)
        self.transitions += 1
        self._add_reward(h, r, s_next == ENDED or h + 1 == self.H)  # it may warn

    def _prepare(
        self, mdp: FiniteMDP, episodes: int, rng: Any, exact: bool
    ) -> tuple[Generator, Run, bool]:
        """What ``learn`` checks and prepares before it calls compiled code."""
        check_fits((self.H, self.S, self.A), mdp)
        if self._closed is not None and self._closed.any():
            checks.fail(
                "in a table of states a mask is the same at every visit in a period",
                "some actions were forbidden, and in a FiniteMDP none is",
                "Go on as it began, by plan, act and observe with masks.",
            )
        return checks.generator(rng), empty_run(episodes), checks.flag("exact", exact)

    def _learned(self, run: Run) -> Run:
        """What ``learn`` records after compiled code has run."""
        self.transitions += int(run.length.sum())
        self._compare_with(run.reward)
        return run


class TableAgent(FiniteStates):
    """An agent with weights θ_h and Q_h = Φ_h θ_h, Φ being an (H, S, A, K) table of features."""

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
        self._close(h, s, legal)
        return _act(
            self.Phi,
            self.theta,
            self._closed,
            h,
            s,
            self.epsilon,
            self.eta,
            self._q,
            self._p,
            self.rng.random(),
        )

    @property
    def Q(self) -> Floats:
        Q = np.empty((self.H, self.S, self.A))
        for h, s in np.ndindex(self.H, self.S):
            values(self.Phi[h, s], self.theta[h], Q[h, s])
        if self._closed is not None:
            Q[self._closed] = -np.inf
        return Q


def positions(numbers: Array, legal: Any) -> Array:
    """Where some of the actions are among all that have a row."""
    given, legal = legal, checks.as_given(legal)
    if legal.size == 0:
        checks.fail("some action must be legal", "none is", "End the episode in such a state.")
    if (
        legal.dtype.kind not in "iu"
        or legal.ndim != 1
        or not np.isin(legal, numbers).all()
        or legal.dtype.itemsize == 1
        or (np.diff(legal) <= 0).any()
    ):  # a mask, not its places
        checks.fail(
            f"legal lists the numbers of actions, some of {numbers.tolist()}, in their order",
            f"it is {checks.shown(given)}",
            f"Pass np.flatnonzero(mask), where mask has {numbers.size} entries.",
            IndexError,
        )
    return np.flatnonzero(np.isin(numbers, legal))


def check_plays(env: Any) -> None:
    checks.able(
        "env",
        env,
        "start",
        "step",
        hint="rlsvi_core.chain(10) has them; for a Gymnasium "
        "environment use rlsvi_core.envs.gym.play.",
    )


def checked_step(stepped: Any, h: int) -> tuple[float, Any, bool]:
    """What a user's environment returns for the action of step h. The state is copied, because some
    environments write into the old one."""
    if not (
        isinstance(stepped, tuple)
        and len(stepped) == 3
        and isinstance(stepped[2], (bool, np.bool_))
    ):
        checks.fail(
            "step returns (reward, next state, whether the episode is over)",
            f"it returned {checks.shown(stepped)}",
            "Let it return these three.",
        )
    checks.finite("reward", stepped[0])
    if h >= LONGEST and not stepped[2]:
        checks.fail(
            "an episode must end",
            f"this one has lasted {LONGEST} steps",
            "Let step say that it is over, after 1000 steps, say.",
            RuntimeError,
        )
    return stepped[0], copy.deepcopy(stepped[1]), bool(stepped[2])


def check_fits(shape: tuple[int | None, ...], mdp: Any) -> None:
    if not isinstance(mdp, FiniteMDP) or (mdp.H, mdp.S, mdp.A) != shape:
        checks.fail(
            f"the features are for a FiniteMDP with (H, S, A) = {shape}",
            f"the environment is {mdp!r}",
            "Make the features from this MDP's Q, or drive the agent by plan, act and observe.",
        )
