r"""The entry points: ``rlsvi``, ``lsvi`` and ``bootstrap`` return an agent for any features.

RLSVI draws its weights from a posterior and acts greedily; LSVI takes the posterior mean and
dithers. Both generalise through a feature map. A transition :math:`(s_i, a_i, r_i, s_i')` is a row
:math:`\phi_i = \Phi(s_i, a_i)` of A and a target

.. math:: b_i = r_i + \gamma \max_\alpha (\Phi\theta^+)(s_i', \alpha),
    \qquad b_i = r_i \text{ if nothing follows},

of b. The printed algorithms differ in how time is indexed, that is, in which transitions enter a fit
and whose weights :math:`\theta^+` stand in its targets:

- **per period** (Algorithms 1 and 3): H fits, from the last period backwards, each to the
  transitions of its own period with the weights of the next one;
- **stationary** (Algorithm 7, no horizon): ``sweeps`` fits to the last ``window`` transitions, with
  the weights of the fit before. (The paper prints the terminal test on :math:`s_i`, from which no
  action is ever taken; it belongs to :math:`s_i'`.)

RLSVI and LSVI differ in one line, sample or mean, and the linear bandit of appendix E (Algorithm
11) is RLSVI with :math:`\gamma = 0`.

:mod:`rlsvi_core.algorithms` has the algorithms line by line. They rebuild A and b from all data, at
a cost that grows with every transition. The entry points take a learner that computes the same
weights from the same draws (:mod:`rlsvi_core.learners`): for a table or one-hot features at a cost
that does not grow, and for features computed on the fly at one that grows slower.

**Which λ and σ?** Pass the range of optimal values, ``value_range=(low, high)``, and scale features
to norm 1. The guide has what was measured, in one table of choices.

**The loop** is written twice: to be read, by steps in Python (:meth:`Agent.learn`), for any
environment; and compiled, of a learner's parts, for a finite MDP
(:func:`rlsvi_core.runtime.loop.compile_loop`). Every step uses one uniform draw of the agent's
stream and at least one of the environment's, so one changed action does not shift all later draws.

**Ctrl-C** waits for the end of an episode, so that learner and record agree: compiled code looks
for it ten times a second, a loop by steps after each episode. There a second one is raised at once.
"""

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from .features import FeatureMap, FeatureTable, OneHot
from .learners.base import Learner, Options, RegressionProblem, check_redraw, legal_indices
from .mdp import TRUNCATED, FiniteMDP
from .regression import suggest_parameters
from .runtime import checks
from .runtime.compilation import Array, Floats, Generator, Seed
from .runtime.env_protocol import (
    adapt_environment,
    check_action_count,
    checked_step,
    copy_state,
    episode_limit,
    legal_actions,
    state_index,
)
from .runtime.loop import (
    PlayRequest,
    ReturnMonitor,
    Run,
    chunk_ranges,
    delayed_interrupt,
    empty_run,
    fill_action_probabilities,
    max_value,
    progress_bar,
    sample_action,
    slice_run,
)

__all__ = ["Agent", "bootstrap", "lsvi", "rlsvi"]

Epsilon = float | Callable[[int], float]
STATE_ALONE: Any = object()  # in place of s, where h is left out


def revisit_key(s: Any) -> Any:
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
        As given, ``rng`` as a Generator. All but ``learner`` and ``gamma`` may be set between
        episodes.
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
        hint = "Pass rlsvi(...).learner, or one of your own; rlsvi_core.learners.base says how."
        checks.check_instance("learner", learner, Learner, hint=hint)
        checks.check_boolean(sample=sample)
        if not callable(epsilon):
            epsilon = _check_epsilon(epsilon)
        eta = checks.check_range("eta", eta, 0, math.inf, hint="It is a temperature; 0 is greedy.")
        if epsilon != 0 and eta > 0:
            checks.fail(
                f"an agent dithers in one way; epsilon is {epsilon!r}, eta {eta:g}. Choose one."
            )
        check_redraw(redraw)
        if gamma is None:
            gamma = getattr(learner, "gamma", None)
        if gamma is not None:
            gamma = checks.check_range("gamma", gamma, 0, 1, hint="It discounts what follows.")
        self.learner: Any = learner
        self.sample = sample
        self.epsilon: Epsilon = epsilon
        self.eta = eta
        self.redraw = redraw
        self.gamma = gamma
        self.rng: Generator = checks.as_generator(rng)
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
            (problem.low, problem.high)
            if isinstance(problem, RegressionProblem)
            else (-math.inf, math.inf)
        )
        self._returns = ReturnMonitor(*told, 1.0 if gamma is None else gamma, learner.H)
        self._begun = False  # whether an action was chosen since the plan

    def __repr__(self) -> str:
        acts = "draws" if self.sample else "the mean"
        chosen = self.learner.settings | (
            {} if self.gamma is None else {"gamma": f"{self.gamma:g}"}
        )
        settings = "".join(f", {name}={value}" for name, value in chosen.items())
        return (
            f"Agent({self.learner!r}{settings}, by {acts}; {self.n_transitions} transitions seen)"
        )

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
    def n_transitions(self) -> int:
        """How many have been observed."""
        return int(self.count[1])

    @property
    def last_run(self) -> Run:
        """The record of the last ``learn``: its episodes that came to their end."""
        return slice_run(self._run, 0, int(np.count_nonzero(self._run.length)))

    @property
    def theta(self) -> Floats:
        """The weights of this episode, a row for each period, of a learner that has weights."""
        if not hasattr(self.fitted, "theta"):
            checks.fail(
                f"{self!r} has no weights (yet). Call plan(), or ask for values(h, s).",
                AttributeError,
            )
        return np.array(self.fitted.theta)

    def values(self, h: Any, s: Any = STATE_ALONE, legal: Any = None) -> Floats:
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
        h, s = self._step_and_state(h, s)
        fitted = self._mean_fit()[0] if self.fitted is None else self.fitted
        return self._mask_values(self.learner.values(fitted, h, s), legal)

    def mean_values(self, h: Any, s: Any = STATE_ALONE, legal: Any = None) -> Floats:
        """The same by the mean of all that was observed; :meth:`greedy` acts on these."""
        h, s = self._step_and_state(h, s)
        return self._mask_values(self.learner.values(self._mean_fit()[0], h, s), legal)

    def _step_and_state(self, h: Any, s: Any) -> tuple[int, Any]:
        """The step and the state, where a state may stand alone."""
        if s is not STATE_ALONE:
            return h, s
        if self.H is not None:
            checks.fail(
                f"with a horizon values depend on the step; {self!r} was given no s. Pass h and s.",
                TypeError,
            )
        return 0, h

    def _mask_values(self, q: Floats, legal: Any) -> Floats:
        """The values with −∞ where a mask forbids an action."""
        A = self.learner.A
        numbers = isinstance(q, np.ndarray) and q.dtype.kind in "biuf"
        if not numbers or q.ndim != 1 or not q.size or A not in (None, q.size):
            checks.fail(
                f"values are an array, one for each of {A or 'the'} actions; they are {q!r}."
            )
        if legal is not None:
            every = q
            at = legal_indices(q.size, legal)
            q = np.full(q.size, -np.inf)
            q[at] = every[at]
        bounded = math.isfinite(q.dot(q))  # which is quick
        if not bounded and not math.isfinite(q.max()):
            checks.fail(f"values are finite, or −∞ for some actions but not for all; they are {q}.")
        return q

    def _mean_fit(self) -> tuple[Any, Generator]:
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
        epsilon = self._epsilon_at(self.episode)
        p = np.empty_like(Q)
        for h, s in np.ndindex(Q.shape[:2]):
            fill_action_probabilities(Q[h, s], epsilon, self.eta, p[h, s])
        return p

    def _epsilon_at(self, episode: int) -> float:
        """The probability of a uniformly random action in an episode."""
        epsilon = self.epsilon
        return _check_epsilon(epsilon(max(episode, 0)) if callable(epsilon) else epsilon)

    # What Algorithm 2 is made of.

    def plan(self) -> None:
        """Fix the values of the coming episode."""
        self._returns.end_episode(self.sample)
        self._draw_values()
        self.count[0] += 1
        self._begun = False

    def _draw_values(self) -> None:
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
        self._reset_redraw()

    def _reset_redraw(self) -> None:
        """When to draw again is counted from here."""
        self._since = 0
        self._met = set()
        self._due = False

    def act(self, h: int, s: Any, legal: Any = None) -> int:
        """Choose an action for state s in step h of the current episode; ``legal`` lists the
        numbers of those allowed, None: all."""
        if self._due:
            self._draw_values()
        elif h == 0 and (self._stale or not self.count[0]):
            self._warn_not_planned()
        q = self.values(h, s, legal)
        if not self._begun and self.count[0]:
            self._begun = True
            self._returns.begin_episode(max_value(q))
        return sample_action(
            q, self._epsilon_at(self.episode), self.eta, np.empty(q.size), self.rng.random()
        )

    def _warn_not_planned(self) -> None:
        checks.warn("plan() comes before each episode; act was called without it. Or call learn().")
        self._stale = False

    def observe(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        """Take in one transition; ``s_next=None`` if nothing of value follows it. In the last
        period of a finite horizon r includes the terminal reward. ``legal_next`` lists the actions
        allowed in s_next, None: all. Where states are numbers it is told once for all: it is the
        same at every visit in a period, and what it leaves out has the value −∞ from then on."""
        r = checks.check_finite("r", r)
        self._at_mean = None  # first: it will not be up to date
        if legal_next is None:
            self.learner.add(h, s, a, r, s_next)
        else:  # which only a learner that takes masks has to know
            self.learner.add(h, s, a, r, s_next, legal_next)
        self.count[1] += 1
        self._stale = True
        if self._returns.open:
            self._returns.add_reward(r)
            if s_next is None or h + 1 == self.H:
                self._returns.end_episode(self.sample, cut=False)
        if callable(self.redraw):
            self._met.add(self.redraw(s))
            self._due = s_next is not None and self.redraw(s_next) in self._met
        elif self.redraw is not None:
            self._since += 1
            self._due = self._since >= self.redraw

    def greedy(self, h: Any, s: Any = STATE_ALONE, legal: Any = None) -> int:
        """The action of the mean of all that was observed, ties at random: ``greedy(h, s)``, or
        ``greedy(s)`` where there is no horizon.

        This is LSVI with the ridge λσ², not the sample of this episode. Neither the agent nor its
        generator is disturbed. ``legal`` lists the numbers of the actions allowed, None: all.

        The first call after an observation fits the mean. Without a horizon this goes on until
        nothing changes, which with features computed on the fly takes as long as some hundred
        plans; ``Options(mean_sweeps=300)`` bounds it.
        """
        q = self.mean_values(h, s, legal)
        return sample_action(q, 0.0, 0.0, np.empty(q.size), self._mean_fit()[1].random())

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
            (:mod:`rlsvi_core.runtime.env_protocol` says what they return), or a Gymnasium
            environment.
        episodes : int
            How many.
        rng : Generator, SeedSequence or int, optional
            The environment's generator or its seed; for Gymnasium a seed, for the first reset. A
            seed begins the same random numbers anew in each call, a generator goes on.
        limit : int, optional
            Steps after which the clock cuts an episode, where neither the environment nor a
            horizon says so.
        exact : bool or array_like
            Also evaluate each episode's policy by dynamic programming, or those of some, for which
            it has True in an array (a FiniteMDP, and an agent with a horizon).
        progress : bool
            Show a bar.

        Returns
        -------
        Run
            One entry per episode.
        """
        self._run = run = empty_run(episodes)
        world, rng = adapt_environment(env, self.learner, self.gamma, rng)
        limit = episode_limit(world, self.H, limit)
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
        if not self.n_transitions and self.rng is not rng:
            _warn_shared_seed(self.rng, rng)
        with progress_bar(len(run.reward), progress) as done:
            play = self.learner.compile_player(world, limit) if self._can_play_compiled() else None
            if play is None:
                self._play_in_python(world, limit, exact, rng, run, done)
            else:
                self._play_compiled(play, exact, rng, run, done)
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
        world, rng = adapt_environment(env, self.learner, self.gamma, rng)
        limit = episode_limit(world, self.H, limit)
        run = empty_run(episodes)
        for i in range(episodes):
            self._play_episode(world, limit, rng, run, i, learning=False)
        return run.reward

    def _can_play_compiled(self) -> bool:
        """Whether compiled code knows what this agent does: a subclass plays by steps."""
        return type(self) is Agent and (self.redraw is revisit_key or not callable(self.redraw))

    def _play_compiled(
        self,
        play: Callable[[Any, PlayRequest], None],
        exact: Array,
        rng: Generator,
        run: Run,
        done: Callable[[int], object],
    ) -> None:
        """The same in compiled code, some episodes at a time."""
        total = len(run.reward)
        learner = self.learner
        if self.fitted is None:  # a first mean has nothing before it
            self.fitted = learner.empty_fit() if self.sample else learner.fit(None, None)
        redraw = self.redraw
        if redraw is None or callable(redraw):
            redraw = math.inf
        for start, stop in chunk_ranges(total, self._pace):
            coming = range(int(self.count[0]), int(self.count[0]) + stop - start)
            some = slice_run(run, start, stop)
            some.expected[:] = np.nan
            some.max_state[:] = -1
            task = PlayRequest(
                sample=self.sample,
                exact=exact[start:stop].copy(),
                epsilon=np.array([self._epsilon_at(episode) for episode in coming]),
                eta=self.eta,
                redraw=float(redraw),
                redraw_on_revisit=self.redraw is revisit_key,
                rng=rng,
                agent_rng=self.rng,
                counts=self.count,
                run=some,
                watch=self._returns.watch,
            )
            self._at_mean = None
            self._stale = True
            self._reset_redraw()
            play(self.fitted, task)
            self._returns.warn_wrong_range(self.sample)
            done(stop - start)

    def _play_in_python(
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
                self._play_episode(env, limit, rng, run, i, learning=True)
                self._reset_redraw()
                done(1)
                if pressed:
                    break

    def _play_episode(
        self, env: Any, limit: int | None, rng: Generator, run: Run, i: int, learning: bool
    ) -> None:
        """Lines 3 to 6, into entry i of the record; or on the mean, without learning."""
        state = env.start(rng)  # line 3; Algorithm 8, line 4
        s = copy_state(state)
        legal = legal_actions(env, 0, state)
        q = (self.values if learning else self.mean_values)(0, s, legal)
        check_action_count(env, q)
        run.predicted_value[i] = max_value(q)
        run.max_state[i] = state_index(s)
        h = 0
        over: bool | str = False
        while not over:  # line 4; Algorithm 8, line 5
            # line 5; Algorithm 8, line 7
            a = self.act(h, s, legal) if learning else self.greedy(h, s, legal)
            if h == 0:
                run.first_action[i] = a
            # line 6; Algorithm 8, line 8
            r, state, over = checked_step(env, h, state, a, rng, limit)
            s_next = copy_state(state)
            ended = over is True
            legal = None if ended or h + 1 == self.H else legal_actions(env, h + 1, state)
            if learning:  # Algorithm 8, 9 to 11
                self.observe(h, s, a, r, None if ended else s_next, legal)
                if over == TRUNCATED and self.H is not None and h + 1 < self.H:
                    _warn_truncated(h + 1, self.H)
            run.reward[i] += r
            run.max_state[i] = max(run.max_state[i], state_index(s_next))
            s = s_next
            h += 1
        if learning:
            self._returns.end_episode(self.sample)
        run.length[i] = h  # last: now it counts


def _check_epsilon(epsilon: Any) -> float:
    return checks.check_range("epsilon", epsilon, 0, 1)


def _warn_truncated(steps: int, H: int) -> None:
    checks.warn(f"an agent learns from episodes of H = {H} steps; one was cut after {steps}.")


def _warn_shared_seed(own: Generator, environment: Generator) -> None:
    if repr(own.bit_generator.state) == repr(environment.bit_generator.state):
        checks.warn("agent and environment draw from the same stream. Give one another seed.")


VALUE_RANGE_HINT = "Pass what the best policy earns from the worst state and from the best."


def _choose_learner(problem: RegressionProblem) -> Learner:
    """What fits this problem fastest."""
    from .learners.counts import CountLearner
    from .learners.rows import RowLearner
    from .learners.sums import SumLearner

    phi = problem.features
    options = problem.options
    if options.window is None and isinstance(phi, OneHot):
        return CountLearner(problem)
    if options.window is None and isinstance(phi, FeatureTable):
        return SumLearner(problem)
    return RowLearner(problem)


def _build_problem(
    features: Any,
    lam: float | None,
    suggested: float,
    sigma: float,
    value_range: tuple[float, float] | None,
    H: int | None,
    gamma: float | None,
    options: Options,
) -> RegressionProblem:
    """What is fitted, checked; the defaults of time depend on whether there is a horizon."""
    phi = FeatureMap.wrap(features, H)
    unit = lam is None and value_range is not None
    lam = suggested if lam is None else lam
    if unit and isinstance(phi, FeatureTable):
        checks.warn_feature_norm(phi.Phi)
    checks.check_positive(lam=lam, sigma=sigma)
    checks.check_instance("options", options, Options, hint="Pass Options(sweeps=1), say.")
    if phi.H is not None:
        for name in ("sweeps", "mean_sweeps", "redraw"):
            if getattr(options, name) is not None:
                checks.fail(
                    f"with a horizon there are no {name}; it is {getattr(options, name)!r}."
                )
    elif isinstance(phi, FeatureTable) and gamma is None:
        checks.fail(
            f"a table of shape {phi.Phi.shape[1:]} needs a horizon or a discount. Pass H or gamma."
        )
    if options.window is not None and isinstance(phi, OneHot):
        checks.fail(
            f"of {phi!r} counts are kept, no window of {options.window}. Pass it as an array."
        )
    if options.first == "prior" and not (phi.K and phi.A):
        checks.fail(
            f"a first draw from the prior takes known K and A; {phi!r} has {phi.K} and {phi.A}."
        )
    usual = 0.99 if phi.H is None else 1.0
    hint = "It discounts what follows; 0 is a bandit."
    gamma = checks.check_range("gamma", usual if gamma is None else gamma, 0, 1, hint=hint)
    low = -math.inf
    high = math.inf
    if value_range is not None:
        low, high = checks.check_bounds("value_range", value_range, hint=VALUE_RANGE_HINT)
    return RegressionProblem(phi, float(lam), float(sigma), gamma, low, high, options, unit)


def _default_redraw(problem: RegressionProblem) -> Any:
    """When to draw again in mid-episode; None: never."""
    redraw = problem.options.redraw
    if redraw is None and problem.features.H is None and isinstance(problem.features, OneHot):
        return revisit_key
    return None if redraw == math.inf else redraw


def _reject_options(entry: str, options: Options, *names: str) -> None:
    """For options that would be ignored."""
    for name in names:
        if (given := getattr(options, name)) != getattr(Options(), name):
            checks.fail(f"{entry} has no use for {name}; it is {given!r}. Leave it out.")


def rlsvi(
    features: Any,
    lam: float | None = None,
    sigma: float | None = None,
    *,
    value_range: tuple[float, float] | None = None,
    H: int | None = None,
    gamma: float | None = None,
    options: Options = Options(),  # noqa: B008, a constant
    rng: Seed = None,
) -> Agent:
    """Randomized least-squares value iteration: a posterior sample of the weights, greedy actions.

    With a horizon this is Algorithms 1 and 2, with weights of its own for each period. Without one
    it is Algorithms 7 and 8: one weight vector for all time, and a discount.

    Parameters
    ----------
    features : FeatureMap, array_like or callable
        What to generalise by: an (H, S, A, K) or (S, A, K) table, a function of the
        observation that returns (A, K) rows, or any
        :class:`rlsvi_core.features.maps.FeatureMap`, such as ``features.one_hot(H, S, A)``. An
        agent can be pickled if they can: a function of a module can, a lambda cannot.
    lam : float, optional
        Prior precision λ of a weight; 1, or what ``value_range`` suggests.
    sigma : float, optional
        Standard deviation σ of the noise in a target; 0.1, or what ``value_range`` suggests.
    value_range : tuple of float, optional
        The least and the largest optimal value: the (discounted) sum of rewards that the best
        policy earns on average from the worst state and from the best. Sets λ and σ by
        :func:`rlsvi_core.regression.suggest_parameters`, and next values are truncated to it.
        Where every step costs it ends at 0, as too wide a range can do as badly as none. A warning
        says so if the returns that are seen lie above it or far inside it; one that is wrong
        otherwise is silent.
    H : int, optional
        Number of periods, where features have none of their own.
    gamma : float, optional
        The discount γ in the targets: 1 with a horizon, 0.99 without; 0 is the bandit. An (S, A, K)
        table needs H or gamma.
    options : Options
        What one rarely sets: :class:`rlsvi_core.learners.base.Options`.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.

    Returns
    -------
    Agent
        With ``learn``, ``evaluate``, ``values``, ``mean_values``, ``greedy``, and ``plan``, ``act``
        and ``observe``.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(10)
    >>> agent = rlsvi(features.coherent(mdp.Q, K=5, rng=1), lam=1.0, sigma=0.1, rng=2)
    >>> agent.learn(mdp, episodes=500, rng=3).reward[-100:].mean() > 0.3
    np.True_
    """
    lam_0, sigma_0 = (1.0, 0.1) if value_range is None else suggest_parameters(value_range)
    problem = _build_problem(
        features,
        lam,
        lam_0,
        sigma_0 if sigma is None else sigma,
        value_range,
        H,
        gamma,
        options,
    )
    return Agent(
        _choose_learner(problem), redraw=_default_redraw(problem), gamma=problem.gamma, rng=rng
    )


def lsvi(
    features: Any,
    lam: float | None = None,
    *,
    epsilon: Epsilon = 0.0,
    eta: float = 0.0,
    value_range: tuple[float, float] | None = None,
    H: int | None = None,
    gamma: float | None = None,
    options: Options = Options(),  # noqa: B008, a constant
    rng: Seed = None,
) -> Agent:
    """Least-squares value iteration (Algorithm 3): the posterior mean, and dithering.

    Parameters
    ----------
    features, value_range, H, gamma, options, rng
        As for :func:`rlsvi`.
    lam : float, optional
        The ridge; 1, or the λσ² that ``value_range`` suggests to RLSVI.
    epsilon : float or callable
        The probability of a uniformly random action (Algorithm 5), or a function of the episode,
        0, 1, …, that returns it.
    eta : float
        The temperature of a ∝ exp(Q/η) (Algorithm 4); 0 is the greedy limit.

    Returns
    -------
    Agent
        As :func:`rlsvi` returns it.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> lsvi(features.tabular(chain(5)), epsilon=0.1)
    Agent(SumLearner(H=4, S=5, A=2), lam=1, sigma=1, gamma=1, by the mean; 0 transitions seen)
    """
    _reject_options("lsvi", options, "first")
    lam_0, sigma_0 = (1.0, 1.0) if value_range is None else suggest_parameters(value_range)
    problem = _build_problem(features, lam, lam_0 * sigma_0**2, 1.0, value_range, H, gamma, options)
    return Agent(
        _choose_learner(problem),
        sample=False,
        epsilon=epsilon,
        eta=eta,
        redraw=problem.options.redraw,
        gamma=problem.gamma,
        rng=rng,
    )


def bootstrap(
    features: Any,
    value_range: tuple[float, float],
    kappa: float = 0.01,
    *,
    H: int | None = None,
    gamma: float | None = None,
    options: Options = Options(),  # noqa: B008, a constant
    rng: Seed = None,
) -> Agent:
    """Value iteration on a Bayesian bootstrap of the data, greedy actions: no λ, no σ.

    Instead of noise, transitions have random weights, and κ visits are imagined for each end of the
    range of values; :mod:`rlsvi_core.learners.bayesian_bootstrap` explains the algorithm.

    Parameters
    ----------
    features, H, gamma, options, rng
        As for :func:`rlsvi`, with a table of features or one-hot ones; of the options ``first`` and
        ``window`` stay as they are. It does not matter in which units features are.
    value_range : tuple of float
        As for :func:`rlsvi`, the least and the largest optimal value; next values are truncated to
        it. The closer, the better; but where one random outcome decides an episode, the least and the
        largest return.
    kappa : float
        κ, how many visits are imagined at each of the two ends: 1 explores long, 0.01 believes
        nearly all that it saw. The guide has what was measured, and where RLSVI does better.

    Returns
    -------
    Agent
        As :func:`rlsvi` returns it.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(10)
    >>> agent = bootstrap(features.coherent(mdp.Q, K=5, rng=1), (0, 1), rng=2)
    >>> agent.learn(mdp, episodes=500, rng=3).reward[-100:].mean() > 0.3
    np.True_
    """
    from .learners.bayesian_bootstrap import OutcomeBootstrap

    _reject_options("bootstrap", options, "first", "window")
    checks.check_bounds("value_range", value_range, hint=VALUE_RANGE_HINT)
    problem = _build_problem(features, 1.0, 1.0, 1.0, value_range, H, gamma, options)
    return Agent(
        OutcomeBootstrap(problem, kappa),
        redraw=_default_redraw(problem),
        gamma=problem.gamma,
        rng=rng,
    )
