"""The loop of Algorithms 2, 4, 5 and 8, which all agents share: plan, play an episode, remember it.

Every step uses one uniform draw of the agent's stream and at least one of the environment's, so one
changed action does not shift all later draws.
"""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np

from .. import checks
from ..compiled import Floats, Generator, Seed
from ..episodes import After, Outcome, Run, check_after, empty_run, part, played, warn_if_coupled
from ..features import FeatureMap
from ..mdp import FiniteMDP
from ..waiting import HELD, bar, chunks
from .acting import action_probabilities, positions
from .choices import MOST_SWEEPS, Choices, Reading
from .monitor import RangeMonitor

RANGE = "Pass what the best policy earns from the worst state and from the best."
LONGEST = 1_000_000  # steps of an episode, after which it is taken to be without end


class Agent(Protocol):
    """What an environment needs to drive an agent, as :func:`rlsvi_core.envs.gym.play` does.

    ``plan()`` before each episode, ``act(h, s)`` for an action, ``observe(h, s, a, r, s_next)``
    after each step. h counts the steps of an episode from zero. ``s_next=None`` says that the
    episode is over and nothing of value follows; in the last period of a finite horizon r includes
    the terminal reward. To play without learning, it needs ``greedy(h, s)`` alone.
    """

    def plan(self) -> None: ...

    def act(self, h: int, s: Any) -> int: ...

    def observe(self, h: int, s: Any, a: int, r: float, s_next: Any | None) -> None: ...


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

    Every form of it is looked into by :meth:`values` and :meth:`mean_values`. Those with weights have
    ``theta``, in the order of the features; those for numbered states have :attr:`Q`.

    Parameters
    ----------
    features : FeatureMap or array_like
        What to generalise by, a feature map or a table.
    lam, sigma : float
        λ and σ of the posterior.
    sample : bool
        Act on a draw from the posterior (RLSVI) or on its mean (LSVI).
    choices : Choices
        How weights are fitted, and how the paper is read.
    value_range : tuple of float, optional
        The least and the largest optimal value; the agent warns of returns that contradict them.
    epsilon, eta : float
        Dithering.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.
    """

    OFFERS: frozenset[str] = frozenset({"first_episode"})  # the choices that this form offers
    MADE_FOR = ""  # the features, in words
    FASTER: "tuple[type[LinearAgent], ...]" = ()  # the forms to prefer where they suit
    takes_masks = False  # whether act and observe honour lists of legal actions
    H: int | None = None  # periods, if their number is fixed
    theta: Floats  # the weights of this episode, a row for each period, or one for all time
    _run: Run = empty_run(0)  # the record of the last ``learn``, with place for what was to come

    def __init__(
        self,
        features: Any,
        lam: float,
        sigma: float,
        *,
        sample: bool,
        choices: Choices = Choices(),  # noqa: B008, a constant
        value_range: tuple[float, float] | None = None,
        epsilon: float = 0.0,
        eta: float = 0.0,
        rng: Seed = None,
    ) -> None:
        checks.positive(lam=lam, sigma=sigma)
        checks.instance("choices", choices, Choices, hint="Choices(gamma=0.9), say.")
        self.features = FeatureMap.of(features)
        self.H = self.features.H
        self._lam, self._sigma = float(lam), float(sigma)
        self._sample, self._choices = sample, choices
        for name, chosen in choices.unsupported(self.OFFERS).items():
            checks.fail(
                f"{type(self).__name__} does not offer {name}",
                f"{name} is {chosen!r}",
                "Leave form out for one that does.",
            )
        if self.H is None and choices.weights != "per period":
            checks.fail(
                "weights can be shared by periods where there is a horizon",
                f"weights is {choices.weights!r} and H is None",
                "Pass H; without it there is one weight vector for all time.",
            )
        self._set_dithering(epsilon, eta)
        if value_range is not None:
            value_range = checks.pair("value_range", value_range, hint=RANGE)
        self._returns = RangeMonitor(value_range, choices.gamma)
        self.rng = checks.generator(rng)
        self.transitions = 0  # how many have been observed
        self.episode = -1  # this one's number, counted by ``plan``
        self._at_mean: tuple[int, Any] = (-1, None)  # for ``greedy``: how many it knew, the twin
        self.redraws = 0  # in this episode
        self._is_warned = False  # that it acts without a plan
        self._begin_sample()

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        """Whether this form can run with such features and offers what was chosen."""
        return not choices.unsupported(cls.OFFERS)

    @property
    def run(self) -> Run:
        """The record of the last ``learn`` or ``play``: its episodes that came to their end. A copy
        by pickle begins without one."""
        return part(self._run, 0, played(self._run))

    @run.setter
    def run(self, run: Run) -> None:
        self._run = run

    @property
    def lam(self) -> float:
        """λ; like σ it is in what was kept of the data, and does not change."""
        return self._lam

    @property
    def sigma(self) -> float:
        """σ."""
        return self._sigma

    @property
    def sample(self) -> bool:
        """Whether the agent acts on a draw from the posterior."""
        return self._sample

    @property
    def choices(self) -> Choices:
        """How weights are fitted."""
        return self._choices

    @property
    def epsilon(self) -> float:
        """The probability of a uniformly random action; it may be set between episodes."""
        return self._epsilon

    @epsilon.setter
    def epsilon(self, epsilon: float) -> None:
        self._set_dithering(epsilon, self.eta)

    @property
    def eta(self) -> float:
        """The temperature; it may be set between episodes."""
        return self._eta

    @eta.setter
    def eta(self, eta: float) -> None:
        self._set_dithering(self.epsilon, eta)

    def _set_dithering(self, epsilon: float, eta: float) -> None:
        epsilon = checks.between(
            "epsilon", epsilon, 0, 1, hint="It is a probability: 0 is greedy, 1 uniformly random."
        )
        eta = checks.between("eta", eta, 0, math.inf, hint="It is a temperature; 0 is greedy.")
        if epsilon > 0 and eta > 0:
            checks.fail(
                "an agent dithers in one way",
                f"epsilon is {epsilon:g} (Algorithm 5) and eta {eta:g} (Algorithm 4)",
                "Choose one and leave the other 0.",
            )
        self._epsilon, self._eta = epsilon, eta

    @property
    def reading(self) -> Reading:
        """How the paper is read."""
        return self.choices.reading

    @property
    def has_no_data(self) -> bool:
        """Whether the weights stay 0 because nothing has been seen."""
        from_prior = self.sample and self.reading.first_episode == "prior"
        return self.transitions == 0 and not from_prior

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a pickle has: all but the record, which may be longer than the rest."""
        return {name: value for name, value in vars(self).items() if name != "_run"}

    def __repr__(self) -> str:
        said = self._parameters()
        said |= self.choices.unsupported(frozenset())  # all that is not by default
        how = [f"{name}={_shown(value)}" for name, value in said.items() if value is not None]
        why = f"{self._why()}; " if self.MADE_FOR else ""
        what = ", ".join([self._algorithm, *how])
        return f"{type(self).__name__}({what}; {why}{self.transitions} transitions seen)"

    @property
    def _algorithm(self) -> str:
        return "RLSVI" if self.sample else "LSVI"

    def _parameters(self) -> dict[str, object]:
        """What it is written with, besides the choices; None: nothing."""
        said: dict[str, object] = {"H": self.H, "lam": self.lam}
        if self.sample and self.reading.variance == "known":
            said["sigma"] = self.sigma
        return said | {"epsilon": self.epsilon or None, "eta": self.eta or None}

    def _why(self) -> str:
        """What this form is made for, or what kept a faster one away."""
        for form in self.FASTER:
            if form.suits(self.features, Choices()):
                names = ", ".join(self.choices.unsupported(form.OFFERS))
                return f"{form.__name__} is faster" + (f", without {names}" if names else "")
        return self.MADE_FOR

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

    def _warn_unplanned(self) -> None:
        """For an action before the first plan: the values are all 0."""
        if not self._is_warned:
            self._is_warned = True
            checks.warn(
                "plan() comes before each episode",
                "act was called before the first one, and chooses at random",
                "Call agent.plan(), or let learn or rlsvi_core.envs.gym.play do it all.",
            )

    def _refuse_mask(self, legal: Any) -> None:
        """For a form in which every action is always allowed, or the features say which are."""
        if legal is not None:
            checks.fail(
                f"{type(self).__name__} does not take masks",
                f"legal is {legal!r}",
                "Leave it out: every action is allowed here, or the features say which are.",
            )

    @property
    def dither(self) -> float:
        """The probability of a uniformly random action: ε, halved every ``half_life`` episodes."""
        return self._dither_in(max(self.episode, 0)) if self.epsilon > 0 else 0.0

    def _dither_in(self, episode: int) -> float:
        return float(self.epsilon * 2.0 ** (-episode / self.choices.half_life))

    def plan(self) -> None:
        """Fix the weights for the coming episode."""
        with HELD:
            self.episode += 1
            try:
                self._draw()
            except BaseException:
                self.episode -= 1
                raise
            self.redraws = 0

    def _draw(self) -> None:
        """Set the weights, or leave everything as it was and raise."""
        if not self.has_no_data:
            self._estimate()
        self._at_mean = -1, None  # without a horizon its fit starts from these weights
        self._begin_sample()

    def _begin_sample(self) -> None:
        self._steps = 0  # since the weights were drawn
        self._met: set[Any] = set()
        self._is_due = False  # whether the next action is on another draw

    def _keys(self, s: Any, s_next: Any | None) -> tuple[Any, Any]:
        """By what ``redraw`` recognises the two observations of a step: themselves, or the values
        of its function."""
        redraw = self.choices.redraw
        if not callable(redraw):
            return s, s_next
        keys = redraw(s), None if s_next is None else redraw(s_next)
        try:
            hash(keys)
        except TypeError:
            checks.fail(
                "redraw returns what can be hashed, a number or a tuple of them, say",
                f"it returned {keys[0]!r}",
                "Pass redraw=lambda s: tuple(np.round(s, 1)), say.",
            )
        return keys

    def _count_step(self, h: int, key: Any, next_key: Any, r: float, ended: bool) -> None:
        """Count a step that was kept, and record whether ``redraw`` asks for another draw."""
        self.transitions += 1
        redraw = self.choices.redraw
        if isinstance(redraw, int):
            self._steps += 1
            self._is_due = self._steps >= redraw
        elif redraw != "never":
            self._met.add(key)
            self._is_due = next_key is not None and next_key in self._met
        if self._returns.value_range is not None:
            self._returns.add_reward(h, r, ended)  # it may warn

    def _redraw_if_due(self) -> None:
        """Draw again in mid-episode."""
        if self._is_due:
            with HELD:
                self._draw()
                self.redraws += 1

    def _twin(self) -> Self:
        """Another agent with the same data, still to be fitted, that takes the posterior mean and
        does not dither; it shares nothing that fitting or acting changes."""
        twin = copy.copy(self)
        twin._sample, twin._epsilon, twin._eta = False, 0.0, 0.0
        twin.rng = np.random.default_rng(0)
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

    @abstractmethod
    def _values(self, h: int, s: Any) -> Floats:
        """The value of each action at s by this agent's weights, a new array; −∞ where the features
        do not allow it."""

    def _masked(self, q: Floats, h: int, s: Any, legal: Any) -> Floats:
        """The values q with −∞ where the list ``legal`` forbids an action."""
        if legal is None:
            return q
        if not self.takes_masks:
            self._refuse_mask(legal)
        numbers = np.flatnonzero(q > -np.inf)
        allowed = numbers[positions(numbers, legal)]
        out = np.full(q.size, -np.inf)
        out[allowed] = q[allowed]
        return out

    def values(self, h: int, s: Any, legal: Any = None) -> Floats:
        """The values that the agent acts on in this episode.

        Parameters
        ----------
        h : int
            The step of the episode.
        s : object
            The state, as for :meth:`act`.
        legal : array_like of int, optional
            The numbers of the actions allowed; None: all, or in a table of states those that were
            allowed there before.

        Returns
        -------
        ndarray
            One value per action, by its number; −∞ where the action is not allowed. Neither the
            agent nor its generator is disturbed.
        """
        return self._masked(self._values(h, s), h, s, legal)

    def mean_values(self, h: int, s: Any, legal: Any = None) -> Floats:
        """The same by the posterior mean of all that was observed; :meth:`greedy` acts on these."""
        return self._masked(self._mean_agent()._values(h, s), h, s, legal)

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
        env, episodes, rng
            As for :meth:`learn`.

        Returns
        -------
        (episodes,) ndarray
            The reward of each.
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
            "Ask for the values at one of them: values(h, s) or mean_values(h, s).",
            NotImplementedError,
        )

    def policy(self) -> Floats:
        """The law of the actions in this episode, an (H, S, A) array."""
        p = np.empty_like(Q := self.Q)
        for h, s in np.ndindex(Q.shape[:2]):
            action_probabilities(Q[h, s], self.dither, self.eta, p[h, s])
        return p

    def learn(
        self,
        env: Any,
        episodes: int,
        rng: Any = None,
        *,
        exact: bool = False,
        progress: bool = False,
        after: After | None = None,
    ) -> Run:
        """Algorithm 2: plan, play an episode, remember it, repeat.

        Ctrl-C waits for the end of an episode, but not longer than a second or a second Ctrl-C.
        What was observed until then is learned. The record of the episodes that came to their end is
        in ``run``, also if the environment or ``after`` has raised an error. To go on, call
        ``learn`` again with the same generator.

        Parameters
        ----------
        env : object
            With ``start(rng)``, which returns the first state, and ``step(h, s, a, rng)``, which
            returns the reward, the next state and whether the episode is over. Tables of features
            learn from a :class:`~rlsvi_core.mdp.FiniteMDP` in compiled code.
        episodes : int
            How many. Call it again to go on; pass the same environment generator.
        rng : Generator, SeedSequence or int, optional
            The environment's generator or its seed.
        exact : bool
            Also evaluate each episode's policy by dynamic programming (finite MDPs).
        progress : bool
            Show a bar.
        after : callable, optional
            Called after each episode with its :class:`~rlsvi_core.episodes.Outcome`: length, reward,
            the value claimed at its start, which ``run.claimed`` then has too, and redraws. Steps
            are then taken one by one in Python.

        Returns
        -------
        Run
            One entry per episode.
        """
        rng, run, exact = self._prepare(env, episodes, rng, exact)
        check_after(after)
        if self.transitions == 0:
            warn_if_coupled(self.rng, rng)
        total = len(run.reward)
        alone = ((i, i + 1) for i in range(total))
        first = self._first_chunk if isinstance(env, FiniteMDP) else 1
        some = chunks(total, first) if after is None else alone
        self.run = run
        with bar("learn", total, progress) as shown:
            for start, stop in some:
                now = part(run, start, stop)
                with HELD:
                    if after is None:
                        self._play(env, exact, rng, now, start)
                    else:
                        self._play_by_steps(env, exact, rng, now, claim=True)
                if after is not None:
                    after(
                        Outcome(
                            int(run.length[start]),
                            float(run.reward[start]),
                            float(run.claimed[start]),
                            self.redraws,
                        )
                    )
                if shown is not None:
                    shown.update(stop - start)
        return run

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        """What ``learn`` checks and prepares."""
        check_plays(env)
        if exact:
            checks.instance(
                "env", env, FiniteMDP, hint="Leave exact out: only a FiniteMDP is known exactly."
            )
            if self.H is None:
                checks.fail(
                    "exact values are of policies with a horizon",
                    f"{type(self).__name__} has none",
                    "Leave exact out, or make features with the MDP's H.",
                )
        return checks.generator(rng), empty_run(episodes), exact

    @property
    def _first_chunk(self) -> int:
        """Episodes that surely take no longer than a second."""
        return 1

    def _play(self, env: Any, exact: Any, rng: Generator, run: Run, start: int) -> None:
        """Learn from as many episodes as the record has place for; it begins with this one's
        number. In the fast forms compiled code does it."""
        self._play_by_steps(env, exact, rng, run)

    def _play_by_steps(
        self, env: Any, exact: bool, rng: Generator, run: Run, claim: bool = False
    ) -> None:
        """The same as printed; a second Ctrl-C cuts the environment's own code."""
        for i in range(len(run.reward)):  # Algorithms 2, 4, 5 and 12, line 1; Algorithm 8, line 2
            self.plan()  # line 2; Algorithm 8, line 3
            HELD.outside = True
            s, h, ended = copy.deepcopy(env.start(rng)), 0, False  # line 3; Algorithm 8, line 4
            HELD.outside = False
            if exact:
                run.expected[i] = env.initial @ env.evaluate(self.policy())[0]
                run.claimed[i] = env.initial @ self.Q[0].max(axis=1)
            elif claim:
                run.claimed[i] = self.values(0, s).max()
            number = isinstance(s, (int, np.integer))
            run.furthest[i] = s if number else -1
            while not ended:  # line 4; Algorithm 8, line 5
                if HELD.since is not None:
                    HELD.raise_late()
                a = self.act(h, s)  # line 5; Algorithm 8, line 7
                HELD.outside = True
                stepped = env.step(h, s, a, rng)
                HELD.outside = False
                r, s_next, ended = checked_step(stepped, h)  # line 6; Algorithm 8, line 8
                early = ended and h + 1 != self.H  # the last period's next state may be counted
                self.observe(h, s, a, r, None if early else s_next)  # Algorithm 8, lines 9 to 11
                run.reward[i] += r
                run.opening[i] = a if h == 0 else run.opening[i]
                s, h = s_next, h + 1
                number = number and isinstance(s, (int, np.integer))
                run.furthest[i] = max(run.furthest[i], s) if number else -1
            run.length[i] = h


def _shown(value: Any) -> str:
    """A value as an agent is written with it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return f"{value:g}" if isinstance(value, float) else getattr(value, "__name__", repr(value))


def check_plays(env: Any) -> None:
    if isinstance(env, type) or not (hasattr(env, "start") and hasattr(env, "step")):
        checks.fail(
            "env must have the methods start, step",
            f"{env!r} lacks one",
            "rlsvi_core.chain(10) has them; for a Gymnasium "
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
            f"it returned {stepped!r}",
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
            "Make the features for this MDP.",
        )
