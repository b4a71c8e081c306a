r"""Algorithm 2 and its kin, once: plan, play an episode, remember it.

**The loop** is written twice: to be read, by steps in Python (:meth:`Agent.learn`), for any
environment; and compiled, of a learner's parts, for a finite MDP
(:func:`rlsvi_core.loop.compiled_loop`). Every step uses one uniform draw of the agent's stream and
at least one of the environment's, so one changed action does not shift all later draws.

**Ctrl-C** waits for the end of an episode, so that learner and record agree: compiled code looks
for it ten times a second, a loop by steps after each episode. There a second one is raised at once.
"""

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from . import checks
from .compiled import Array, Floats, Generator, Seed
from .environment import allowed, check_actions, copied, entered, length, number, stepped
from .learner import Learner, Problem, check_redraw, positions
from .loop import (
    Returns,
    Run,
    Task,
    action_probabilities,
    bar,
    choose,
    chunks,
    delayed_interrupt,
    empty_run,
    highest,
    part,
)
from .mdp import CUT, FiniteMDP

Epsilon = float | Callable[[int], float]
ALONE: Any = object()  # in place of s, where h is left out


def itself(s: Any) -> Any:
    """The state: as a ``redraw``, it draws again where a state recurs, in compiled loops, too."""
    return s


class Agent:
    """A learner with a way to act, a generator and a record.

    Parameters
    ----------
    learner : Learner
        What keeps data and fits values to them; those of this agent alone.
    sample : bool
        Act on draws (RLSVI) or on the mean (LSVI).
    epsilon : float or callable
        The probability of a uniformly random action (Algorithm 5), or a function of the episode,
        0, 1, …, that returns it and looks at nothing else: it may be called ahead.
    eta : float
        The temperature of a ∝ exp(Q/η) (Algorithm 4); 0 is the greedy limit.
    redraw : int or callable, optional
        When to draw again in mid-episode: after so many steps, or when a value of a function of the
        observation recurs since the last draw.
    gamma : float, optional
        The discount in the learner's targets, where a :class:`~rlsvi_core.mdp.DiscountedMDP` must
        have the same.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.

    Attributes
    ----------
    learner, sample, epsilon, eta, redraw, gamma, rng
        As given, ``rng`` as a Generator. All but ``learner`` and ``gamma`` may be set between episodes.
    fitted : object
        What the learner's ``fit`` returned last; None before the first plan.
    count : ndarray
        How often the agent planned an episode, and how many transitions it observed.
    run : Run
        The record of the last ``learn``, of the episodes that came to their end.
    """

    def __init__(
        self,
        learner: Learner,
        *,
        sample: bool = True,
        epsilon: Epsilon = 0.0,
        eta: float = 0.0,
        redraw: float | Callable[[Any], Hashable] | None = None,
        gamma: float | None = None,
        rng: Seed = None,
    ) -> None:
        hint = "Pass rlsvi(...).learner, or one of your own; rlsvi_core.learner says how."
        checks.instance("learner", learner, Learner, hint=hint)
        checks.flag(sample=sample)
        if not callable(epsilon):
            epsilon = _probability(epsilon)
        eta = checks.between("eta", eta, 0, math.inf, hint="It is a temperature; 0 is greedy.")
        if epsilon != 0 and eta > 0:
            checks.fail(
                f"an agent dithers in one way; epsilon is {epsilon!r}, eta {eta:g}. Choose one."
            )
        check_redraw(redraw)
        if gamma is None:
            gamma = getattr(learner, "gamma", None)
        if gamma is not None:
            gamma = checks.between("gamma", gamma, 0, 1, hint="It discounts what follows.")
        self.learner: Any = learner
        self.sample = sample
        self.epsilon: Epsilon = epsilon
        self.eta = eta
        self.redraw = redraw
        self.gamma = gamma
        self.rng: Generator = checks.generator(rng)
        self.fitted: Any = None
        self.count = np.zeros(2, np.int64)
        self._run = empty_run(0)
        self._pace = np.ones(1, np.int64)  # how many episodes a piece of compiled work has
        self._at_mean: tuple[Any, Generator] | None = None
        self._stale = False  # whether data came since the last plan
        self._since = 0  # steps since the last draw
        self._met = set[Hashable]()  # what was met since
        self._due = False  # whether to draw again before the next action
        problem = learner.problem
        told = (
            (problem.low, problem.high) if isinstance(problem, Problem) else (-math.inf, math.inf)
        )
        self._returns = Returns(*told, 1.0 if gamma is None else gamma, learner.H)
        self._begun = False  # whether an action was chosen since the plan

    def __repr__(self) -> str:
        acts = "draws" if self.sample else "the mean"
        chosen = self.learner.settings | (
            {} if self.gamma is None else {"gamma": f"{self.gamma:g}"}
        )
        settings = "".join(f", {name}={value}" for name, value in chosen.items())
        return f"Agent({self.learner!r}{settings}, by {acts}; {self.transitions} transitions seen)"

    # What may be looked at.

    @property
    def H(self) -> int | None:
        """The learner's horizon."""
        H: int | None = self.learner.H
        return H

    @property
    def episode(self) -> int:
        """The number of this episode, from 0; −1 before the first plan."""
        return int(self.count[0]) - 1

    @property
    def transitions(self) -> int:
        """How many have been observed."""
        return int(self.count[1])

    @property
    def run(self) -> Run:
        """The record of the last ``learn``: its episodes that came to their end."""
        return part(self._run, 0, int(np.count_nonzero(self._run.length)))

    @property
    def theta(self) -> Floats:
        """The weights of this episode, a row for each period, of a learner that has weights."""
        if not hasattr(self.fitted, "theta"):
            checks.fail(
                f"{self!r} has no weights (yet). Call plan(), or ask for values(h, s).",
                AttributeError,
            )
        return np.array(self.fitted.theta)

    def values(self, h: Any, s: Any = ALONE, legal: Any = None) -> Floats:
        """The values that the agent acts on in this episode: ``values(h, s)``, or ``values(s)``
        where there is no horizon.

        Parameters
        ----------
        h : int
            The step of the episode; left out, or of no consequence, where there is no horizon.
        s : object
            The state, as for :meth:`act`.
        legal : array_like of int, optional
            The numbers of the actions allowed; None: all.

        Returns
        -------
        ndarray
            One value per action, by its number; −∞ where it is not allowed. Before the first plan
            these are the values of the mean. Neither the agent nor its generator is disturbed.
        """
        h, s = self._place(h, s)
        fitted = self._mean()[0] if self.fitted is None else self.fitted
        return self._masked(self.learner.values(fitted, h, s), legal)

    def mean_values(self, h: Any, s: Any = ALONE, legal: Any = None) -> Floats:
        """The same by the mean of all that was observed; :meth:`greedy` acts on these."""
        h, s = self._place(h, s)
        return self._masked(self.learner.values(self._mean()[0], h, s), legal)

    def _place(self, h: Any, s: Any) -> tuple[int, Any]:
        """The step and the state, where a state may stand alone."""
        if s is not ALONE:
            return h, s
        if self.H is not None:
            checks.fail(
                f"with a horizon values depend on the step; {self!r} was given no s. Pass h and s.",
                TypeError,
            )
        return 0, h

    def _masked(self, q: Floats, legal: Any) -> Floats:
        """The values with −∞ where a mask forbids an action."""
        A = self.learner.A
        numbers = isinstance(q, np.ndarray) and q.dtype.kind in "biuf"
        if not numbers or q.ndim != 1 or not q.size or A not in (None, q.size):
            checks.fail(
                f"values are an array, one for each of {A or 'the'} actions; they are {q!r}."
            )
        if legal is not None:
            every = q
            at = positions(q.size, legal)
            q = np.full(q.size, -np.inf)
            q[at] = every[at]
        bounded = math.isfinite(q.dot(q))  # which is quick
        if not bounded and not math.isfinite(q.max()):
            checks.fail(f"values are finite, or −∞ for some actions but not for all; they are {q}.")
        return q

    def _mean(self) -> tuple[Any, Generator]:
        """The fit by the mean, and what breaks its ties; made again once something is observed."""
        if self._at_mean is None:
            ties = np.random.default_rng(self.count[1])
            self._at_mean = self.learner.fit(None, None), ties
        return self._at_mean

    @property
    def Q(self) -> Floats:
        """The action values of this episode, an (H, S, A) array, where states are numbers."""
        if self.learner.S is None:
            checks.fail(
                f"{self.learner!r} has no table of states. Ask for values(h, s).",
                NotImplementedError,
            )
        periods = range(self.H or 1)
        states = range(self.learner.S)
        return np.array([[self.values(h, s) for s in states] for h in periods])

    def policy(self) -> Floats:
        """The law of the actions in this episode, an (H, S, A) array."""
        Q = self.Q
        epsilon = self._dither(self.episode)
        p = np.empty_like(Q)
        for h, s in np.ndindex(Q.shape[:2]):
            action_probabilities(Q[h, s], epsilon, self.eta, p[h, s])
        return p

    def _dither(self, episode: int) -> float:
        """The probability of a uniformly random action in an episode."""
        epsilon = self.epsilon
        return _probability(epsilon(max(episode, 0)) if callable(epsilon) else epsilon)

    # What Algorithm 2 is made of.

    def plan(self) -> None:
        """Fix the values of the coming episode."""
        self._returns.end(self.sample)
        self._draw()
        self.count[0] += 1
        self._begun = False

    def _draw(self) -> None:
        if self.fitted is None and not self.sample:  # LSVI goes on from the mean that has settled
            self.fitted = self.learner.fit(None, None)
        self.fitted = self.learner.fit(self.rng if self.sample else None, self.fitted)
        if self.fitted is None:
            checks.fail(
                f"fit returns what an episode is played by; {self.learner!r}'s returned None.",
                TypeError,
            )
        self._stale = False
        self._at_mean = None
        self._begin()

    def _begin(self) -> None:
        """When to draw again is counted from here."""
        self._since = 0
        self._met = set()
        self._due = False

    def act(self, h: int, s: Any, legal: Any = None) -> int:
        """Choose an action for state s in step h of the current episode; ``legal`` lists the numbers
        of those allowed, None: all."""
        if self._due:
            self._draw()
        elif h == 0 and (self._stale or not self.count[0]):
            self._mention_plan()
        q = self.values(h, s, legal)
        if not self._begun and self.count[0]:
            self._begun = True
            self._returns.begin(highest(q))
        return choose(q, self._dither(self.episode), self.eta, np.empty(q.size), self.rng.random())

    def _mention_plan(self) -> None:
        checks.warn("plan() comes before each episode; act was called without it. Or call learn().")
        self._stale = False

    def observe(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        """Take in one transition; ``s_next=None`` if nothing of value follows it. In the last period
        of a finite horizon r includes the terminal reward. ``legal_next`` lists the actions allowed
        in s_next, None: all. Where states are numbers it is told once for all: it is the same at
        every visit in a period, and what it leaves out has the value −∞ from then on."""
        r = checks.finite("r", r)
        self._at_mean = None  # first: it will not be up to date
        if legal_next is None:
            self.learner.add(h, s, a, r, s_next)
        else:  # which only a learner that takes masks has to know
            self.learner.add(h, s, a, r, s_next, legal_next)
        self.count[1] += 1
        self._stale = True
        if self._returns.open:
            self._returns.add(r)
            if s_next is None or h + 1 == self.H:
                self._returns.end(self.sample, cut=False)
        if callable(self.redraw):
            self._met.add(self.redraw(s))
            self._due = s_next is not None and self.redraw(s_next) in self._met
        elif self.redraw is not None:
            self._since += 1
            self._due = self._since >= self.redraw

    def greedy(self, h: Any, s: Any = ALONE, legal: Any = None) -> int:
        """The action of the mean of all that was observed, ties at random: ``greedy(h, s)``, or
        ``greedy(s)`` where there is no horizon.

        This is LSVI with the ridge λσ², not the sample of this episode. Neither the agent nor its
        generator is disturbed. ``legal`` lists the numbers of the actions allowed, None: all.

        The first call after an observation fits the mean. Without a horizon this goes on until
        nothing changes, which with features computed on the fly takes as long as some hundred
        plans; ``Options(mean_sweeps=300)`` bounds it.
        """
        q = self.mean_values(h, s, legal)
        return choose(q, 0.0, 0.0, np.empty(q.size), self._mean()[1].random())

    def learn(
        self,
        env: Any,
        episodes: int,
        rng: Any = None,
        *,
        limit: int | None = None,
        exact: Any = False,
        progress: bool = False,
    ) -> Run:
        """Algorithm 2: plan, play an episode, remember it, repeat.

        After Ctrl-C, or an error of the environment, ``run`` has the episodes that came to their
        end. To go on, call it again with the same generator.

        Parameters
        ----------
        env : object
            A FiniteMDP, a DiscountedMDP, an environment of your own with ``start`` and ``step``
            (:mod:`rlsvi_core.environment` says what they return), or a Gymnasium environment.
        episodes : int
            How many.
        rng : Generator, SeedSequence or int, optional
            The environment's generator or its seed; for Gymnasium a seed, for the first reset. A seed
            begins the same random numbers anew in each call, a generator goes on.
        limit : int, optional
            Steps after which the clock cuts an episode, where neither the environment nor a
            horizon says so.
        exact : bool or array_like
            Also evaluate each episode's policy by dynamic programming, or those of some, for which it
            has True in an array (a FiniteMDP, and an agent with a horizon).
        progress : bool
            Show a bar.

        Returns
        -------
        Run
            One entry per episode.
        """
        self._run = run = empty_run(episodes)
        world, rng = entered(env, self.learner, self.gamma, rng)
        limit = length(world, self.H, limit)
        exact = np.asarray(exact)
        if exact.dtype != bool or exact.shape not in ((), run.reward.shape):
            checks.fail(
                f"exact is a bool, or one for each of {episodes} episodes; it is {exact!r}."
            )
        exact = np.broadcast_to(exact, run.reward.shape)
        changed = isinstance(world, FiniteMDP) and type(world) is not FiniteMDP
        if exact.any() and (self.H is None or changed or not hasattr(world, "evaluate")):
            checks.fail(
                f"exact takes a horizon and a FiniteMDP, no subclass; it is {self!r} on {world!r}."
            )
        if not self.transitions and self.rng is not rng:
            _mention_coupling(self.rng, rng)
        with bar(len(run.reward), progress) as done:
            play = self.learner.compiled(world, limit) if self._plays_as_compiled() else None
            if play is None:
                self._play_by_steps(world, limit, exact, rng, run, done)
            else:
                self._play(play, exact, rng, run, done)
        return run

    def evaluate(
        self, env: Any, episodes: int, rng: Any = None, *, limit: int | None = None
    ) -> Floats:
        """Play on the mean, without learning; see :meth:`greedy`, also for what its fit costs. A
        Gymnasium environment goes on from where this leaves it, with the seed given here: evaluate
        on one of its own.

        Parameters
        ----------
        env, episodes, rng, limit
            As for :meth:`learn`.

        Returns
        -------
        (episodes,) ndarray
            The reward of each.
        """
        world, rng = entered(env, self.learner, self.gamma, rng)
        limit = length(world, self.H, limit)
        run = empty_run(episodes)
        for i in range(episodes):
            self._episode(world, limit, rng, run, i, learning=False)
        return run.reward

    def _plays_as_compiled(self) -> bool:
        """Whether compiled code knows what this agent does: a subclass plays by steps."""
        return type(self) is Agent and (self.redraw is itself or not callable(self.redraw))

    def _play(
        self,
        play: Callable[[Any, Task], None],
        exact: Array,
        rng: Generator,
        run: Run,
        done: Callable[[int], object],
    ) -> None:
        """The same in compiled code, some episodes at a time."""
        total = len(run.reward)
        learner = self.learner
        if self.fitted is None:  # a first mean has nothing before it
            self.fitted = learner.room() if self.sample else learner.fit(None, None)
        redraw = self.redraw
        if redraw is None or callable(redraw):
            redraw = math.inf
        for start, stop in chunks(total, self._pace):
            coming = range(int(self.count[0]), int(self.count[0]) + stop - start)
            some = part(run, start, stop)
            some.expected[:] = np.nan
            some.furthest[:] = -1
            task = Task(
                sample=self.sample,
                exact=exact[start:stop].copy(),
                epsilon=np.array([self._dither(episode) for episode in coming]),
                eta=self.eta,
                redraw=float(redraw),
                recurs=self.redraw is itself,
                rng=rng,
                own=self.rng,
                counts=self.count,
                run=some,
                watch=self._returns.watch,
            )
            self._at_mean = None
            self._stale = True
            self._begin()
            play(self.fitted, task)
            self._returns.compare(self.sample)
            done(stop - start)

    def _play_by_steps(
        self,
        env: Any,
        limit: int | None,
        exact: Array,
        rng: Generator,
        run: Run,
        done: Callable[[int], object],
    ) -> None:
        """Algorithms 2, 4, 5, 8 and 12, from line 2 on, for each entry of the record."""
        with delayed_interrupt() as pressed:
            for i in range(len(run.reward)):
                self.plan()  # line 2; Algorithm 8, line 3
                run.expected[i] = np.nan
                if exact[i]:
                    run.expected[i] = env.initial @ env.evaluate(self.policy())[0]
                self._episode(env, limit, rng, run, i, learning=True)
                self._begin()
                done(1)
                if pressed:
                    break

    def _episode(
        self, env: Any, limit: int | None, rng: Generator, run: Run, i: int, learning: bool
    ) -> None:
        """Lines 3 to 6, into entry i of the record; or on the mean, without learning."""
        state = env.start(rng)  # line 3; Algorithm 8, line 4
        s = copied(state)
        legal = allowed(env, 0, state)
        q = (self.values if learning else self.mean_values)(0, s, legal)
        check_actions(env, q)
        run.claimed[i] = highest(q)
        run.furthest[i] = number(s)
        h = 0
        over: bool | str = False
        while not over:  # line 4; Algorithm 8, line 5
            # line 5; Algorithm 8, line 7
            a = self.act(h, s, legal) if learning else self.greedy(h, s, legal)
            if h == 0:
                run.opening[i] = a
            r, state, over = stepped(env, h, state, a, rng, limit)  # line 6; Algorithm 8, line 8
            s_next = copied(state)
            ended = over is True
            legal = None if ended or h + 1 == self.H else allowed(env, h + 1, state)
            if learning:  # Algorithm 8, 9 to 11
                self.observe(h, s, a, r, None if ended else s_next, legal)
                if over == CUT and self.H is not None and h + 1 < self.H:
                    _mention_cut(h + 1, self.H)
            run.reward[i] += r
            run.furthest[i] = max(run.furthest[i], number(s_next))
            s = s_next
            h += 1
        if learning:
            self._returns.end(self.sample)
        run.length[i] = h  # last: now it counts


def _probability(epsilon: Any) -> float:
    return checks.between("epsilon", epsilon, 0, 1)


def _mention_cut(steps: int, H: int) -> None:
    checks.warn(f"an agent learns from episodes of H = {H} steps; one was cut after {steps}.")


def _mention_coupling(own: Generator, environment: Generator) -> None:
    if repr(own.bit_generator.state) == repr(environment.bit_generator.state):
        checks.warn("agent and environment draw from the same stream. Give one another seed.")
