r"""How one acts, the record of it, and Algorithm 2 in compiled code, of a learner's parts.

The loops of the paper (Algorithms 2, 4, 5, 8 and 12) differ in one line each, the
action, and one formula covers them:

.. math::
    \mathbb P(a \mid s) = \frac{\epsilon}{A} + (1 - \epsilon)\,
    \frac{e^{Q(s,a)/\eta}}{\sum_\alpha e^{Q(s,\alpha)/\eta}},

where :math:`\eta \to 0` puts equal mass on all maximisers. Greedy is :math:`\epsilon = \eta = 0`.
Ties are broken uniformly: Example 1 depends on it.

Ctrl-C waits for the end of a compiled call: a piece of some episodes, all of which are then in the
record. By steps ``delayed_interrupt`` makes it wait.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..mdp import (
    DiscountedMDP,
    FiniteMDP,
    MDPArrays,
    period_index,
    sample_first_state,
    sample_index,
    sample_step,
    sample_terminal_reward,
)
from . import checks
from .compilation import Array, Floats, Generator, Ints, jit, jit_inline

FAINT = 0.02  # of the range of values: sums of rewards of this size are hardly anything
ENOUGH = 20  # episodes, before which nothing is said of the range
CHUNK_SECONDS = 0.1  # seconds of compiled work between two looks at Ctrl-C
COMPILED_ENVS = (FiniteMDP, DiscountedMDP)  # but no subclass, which may have a step of its own


@jit_inline
def max_value(q: Floats) -> float:
    """The largest of some values. (To compile ``q.max()`` would take ten times as long.)"""
    top = -np.inf
    for a in range(q.shape[0]):
        top = max(top, q[a])
    return top


@jit_inline
def fill_action_probabilities(q: Floats, epsilon: float, eta: float, out: Floats) -> None:
    """Fill ``out`` with the law of the action, given the action values q at a state; an action
    that a mask forbids has the value −∞."""
    A = q.shape[0]
    top = max_value(q)
    total = 0.0
    open_ = 0
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


@jit_inline
def sample_action(q: Floats, epsilon: float, eta: float, p: Floats, u: float) -> int:
    """The action that a uniform u picks, given the values; ``p`` is scratch space."""
    fill_action_probabilities(q, epsilon, eta, p)
    return sample_index(p, u)


@jit_inline
def fill_action_values(rows: Floats, theta: Floats, q: Floats) -> None:
    """Fill q with rows · θ, one value per action."""
    for a in range(q.shape[0]):
        total = 0.0
        for k in range(theta.shape[0]):
            total += rows[a, k] * theta[k]
        q[a] = total


class Run(NamedTuple):
    """The record of a learning run, one entry per episode.

    Attributes
    ----------
    reward
        The sum of its rewards.
    expected
        The exact expected reward of the policy as it was planned; NaN without ``exact=True``.
    predicted_value
        What the agent's own values promised at its first state.
    first_action
        The first action.
    length
        The number of steps.
    max_state
        The largest state visited; −1 where states are not numbers.
    """

    reward: Floats
    expected: Floats
    predicted_value: Floats
    first_action: Ints
    length: Ints
    max_state: Ints


def empty_run(episodes: int) -> Run:
    """The record of so many episodes, before they are played: zeros, for which a system takes no
    memory until something else is written."""
    episodes = checks.check_integer("episodes", episodes, hint="Pass episodes=1000, say.")
    return Run(
        reward=np.zeros(episodes),
        expected=np.zeros(episodes),
        predicted_value=np.zeros(episodes),
        first_action=np.zeros(episodes, np.int64),
        length=np.zeros(episodes, np.int64),
        max_state=np.zeros(episodes, np.int64),
    )


def slice_run(run: Run, start: int, stop: int) -> Run:
    """The record of some of the episodes, in the same arrays."""
    return Run._make(column[start:stop] for column in run)


class ReturnStatistics(NamedTuple):
    """What is kept of discounted returns, to compare them with the range of values."""

    gamma: float
    after: float  # the least value of what follows where only the clock ends an episode
    faint: float  # values of this size are hardly anything, beside the range
    kept: Floats  # (7,) episodes, the sum of returns, of their squares, the least, the largest,
    # the largest discounted sum of rewards up to any step, the last episode with a hope of more


def add_return(watch: ReturnStatistics, claimed: float, total: float, largest: float) -> None:
    """Keep the discounted return of an episode, what the agent claimed it to be, and the largest
    discounted sum of rewards up to a step."""
    kept = watch.kept
    kept[0] += 1.0
    kept[1] += total
    kept[2] += total * total
    kept[3] = min(kept[3], total)
    kept[4] = max(kept[4], total)
    kept[5] = max(kept[5], largest)
    if abs(claimed) > watch.faint:
        kept[6] = kept[0]


_add_return = jit_inline(add_return)


class ReturnMonitor:
    """The discounted returns that an agent saw, beside the range of values that it was told.

    A mean return above the range shows that it is too low, because no policy earns more than the
    best one; what the clock cuts off is counted as the least value. A return below it shows
    nothing: the policy may be bad. Where no rewards come near the size of the range, and the draws
    hope for no more, it is too wide; but if all returns are equal, nothing was found yet.
    """

    def __init__(self, low: float, high: float, gamma: float, H: int | None) -> None:
        self.low = low
        self.high = high
        self.told = not math.isfinite(low)  # whether there is nothing more to say
        V = 0.0 if self.told else max(high, 0.0) - min(low, 0.0)
        kept = np.array([0.0, 0.0, 0.0, math.inf, -math.inf, 0.0, 0.0])
        after = 0.0 if self.told or H is not None else low
        self.watch = ReturnStatistics(gamma, after, FAINT * V, kept)
        self.open = False  # whether an episode has begun, and not ended

    def begin_episode(self, claimed: float) -> None:
        """Begin an episode with its first action, if there is something to compare it with."""
        self._claimed = claimed
        self.open = not self.told
        self._total = self._recent = self._largest = 0.0
        self._discount = 1.0

    def add_reward(self, r: float) -> None:
        """Add a reward to an episode that is open."""
        gamma = self.watch.gamma
        self._recent = gamma * self._recent + r
        self._total += self._discount * r
        self._discount *= gamma
        self._largest = max(self._largest, abs(self._recent))

    def end_episode(self, sample: bool, cut: bool = True) -> None:
        """End the episode, if one is open: by the clock, or for good."""
        if self.open:
            total = self._total + (self._discount * self.watch.after if cut else 0.0)
            add_return(self.watch, self._claimed, total, self._largest)
            self.open = False
            self.warn_wrong_range(sample)

    def warn_wrong_range(self, sample: bool) -> None:
        """Warn once of a range that the returns contradict; ``sample``: the agent acts on draws."""
        n, total, squares, least, most, largest, hopeful = self.watch.kept
        if self.told or n < ENOUGH:
            return
        mean = total / n
        error = math.sqrt(max(squares / n - mean**2, 0.0) / (n - 1))
        rule = f"value_range is that of optimal values; it is ({self.low:g}, {self.high:g})"
        if mean - 3 * error > self.high + FAINT * (self.high - self.low):
            self.told = True
            checks.warn(f"{rule}, but {n:.0f} discounted returns average {mean:.3g}. Widen it.")
        elif sample and least < most and largest <= self.watch.faint and n - hopeful >= ENOUGH:
            self.told = True
            checks.warn(
                f"{rule}, but discounted sums of rewards in {n:.0f} episodes were at most "
                f"{largest:.3g} in size. Narrow it, unless there is more to be found."
            )


class PlayRequest(NamedTuple):
    """What an agent asks of compiled code: to play some episodes, and how. Its fields are read by
    name, so that one more of them breaks nobody's loop."""

    sample: bool  # act on draws, or on the mean
    exact: Array  # of each episode, whether its policy is evaluated
    epsilon: Floats  # of each episode
    eta: float
    redraw: float  # draw again in mid-episode after so many steps, or
    redraw_on_revisit: bool  # where a state has been since the last draw
    rng: Generator  # the environment's
    agent_rng: Generator  # the agent's
    counts: Ints  # (2,) the agent's, of plans and of transitions, to be counted on
    run: Run  # to be filled
    watch: ReturnStatistics  # to be filled


fit: Any = None
values: Any = None
add: Any = None  # these stand for the parts that the next two functions are made with


def expected_episode_reward(
    model: MDPArrays, H: int, data: Any, epsilon: float, eta: float, q: Floats, p: Floats
) -> float:
    """That of the episode's policy, pushing π forward through it."""
    S = model.initial.shape[0]
    here = model.initial.copy()
    there = np.zeros(S)
    total = 0.0
    for h in range(H):
        t = period_index(model.successor, h)
        for s in range(S):
            there[s] = 0.0
        for s in range(S):
            if here[s] == 0.0:
                continue
            values(data, h, s, q)
            fill_action_probabilities(q, epsilon, eta, p)
            for a in range(q.shape[0]):
                for b in range(model.successor.shape[3]):
                    mass = here[s] * p[a] * model.probability[t, s, a, b]
                    there[model.successor[t, s, a, b]] += mass
                    total += mass * model.reward[t, s, a, b]
        here, there = there, here
    for s in range(S):
        total += here[s] * model.terminal[s]
    return total


def play_episodes(
    model: MDPArrays,
    last: int,  # the step whose reward includes the terminal one, or −1
    limit: int,
    periods: int,
    data: Any,
    task: PlayRequest,
) -> None:
    exact = task.exact
    epsilon = task.epsilon
    eta = task.eta
    rng = task.rng
    own = task.agent_rng
    count = task.counts
    run = task.run
    watch = task.watch
    q = np.empty(model.successor.shape[2])
    p = np.empty(model.successor.shape[2])
    redraw = task.redraw
    recurs = task.redraw_on_revisit
    met = np.zeros(model.initial.shape[0], np.int64)  # by which draw a state was left last
    drawn = 0
    for i in range(run.reward.shape[0]):
        fit(data, own)
        count[0] += 1
        if exact[i]:
            run.expected[i] = expected_episode_reward(model, limit, data, epsilon[i], eta, q, p)
        s = sample_first_state(model, rng)
        run.max_state[i] = s
        due = False
        drawn += 1
        since = 0
        total = 0.0
        recent = 0.0
        largest = 0.0
        discount = 1.0
        for h in range(limit):
            t = min(h, periods - 1)
            if due:
                fit(data, own)
                drawn += 1
                since = 0
            values(data, t, s, q)
            a = sample_action(q, epsilon[i], eta, p, own.random())
            r, s_next = sample_step(model, h, s, a, rng)
            if h == last:
                r += sample_terminal_reward(model, s_next, rng)
            add(data, t, s, a, r, s_next)
            since += 1
            met[s] = drawn
            due = since >= redraw or (recurs and met[s_next] == drawn)
            count[1] += 1
            run.reward[i] += r
            recent = watch.gamma * recent + r
            total += discount * r
            discount *= watch.gamma
            largest = max(largest, abs(recent))
            run.max_state[i] = max(run.max_state[i], s_next)
            if h == 0:
                run.first_action[i] = a
                run.predicted_value[i] = max_value(q)
            s = s_next
        run.length[i] = limit
        _add_return(watch, run.predicted_value[i], total + discount * watch.after, largest)


def compile_with_globals(function: Any, **parts: Any) -> Any:
    """A function compiled with these parts for globals of its name, and with a name of its own."""
    own = FunctionType(function.__code__, {**function.__globals__, **parts})
    name = "_".join(f"{part.__module__}.{part.__name__}" for part in parts.values())
    own.__qualname__ = f"{function.__name__}_{name}"
    return jit(own)


def compile_loop(fit: Any, values: Any, add: Any) -> Any:
    """Algorithm 2 on a finite MDP, of a learner's three parts, all compiled by ``jit``:
    ``fit(data, rng)``, ``values(data, h, s, q)``, which fills q, and ``add_reward(data, h, s, a, r,
    s_next)``; ``data`` is the learner's record. What it returns is called with an environment of
    these types, the steps of an episode, the learner's periods (1 without a horizon), ``data`` and
    a
    :class:`PlayRequest`."""
    expected = compile_with_globals(expected_episode_reward, values=values)
    compiled = compile_with_globals(
        play_episodes, fit=fit, values=values, add=add, expected_episode_reward=expected
    )

    def play(env: Any, limit: int, periods: int, data: Any, task: PlayRequest) -> None:
        last = env.H - 1 if type(env) is FiniteMDP else -1
        compiled(env.model, last, limit, periods, data, task)

    return play


def chunk_ranges(total: int, size: Ints) -> Iterator[tuple[int, int]]:
    """Cut 0, …, total − 1 into pieces (start, stop), of ``size[0]`` at first and then of so many as
    take about ``CHUNK_SECONDS`` seconds, by what the last piece took. It is left in ``size``."""
    start = 0
    while start < total:
        stop = min(start + int(size[0]), total)
        began = time.perf_counter()
        yield start, stop
        took = time.perf_counter() - began
        size[0] = max(1, math.floor((stop - start) * min(CHUNK_SECONDS / max(took, 1e-9), 10)))
        start = stop


@contextmanager
def delayed_interrupt() -> Iterator[list[int]]:
    """Note Ctrl-C in a list and raise it at the end; a second one is raised at once. This is for
    the main thread, where nobody else handles it."""
    pressed: list[int] = []

    def press(number: int, frame: Any) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)

    in_main = threading.current_thread() is threading.main_thread()
    if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        if signal.getsignal(signal.SIGINT) is press:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def progress_bar(total: int, show: bool) -> Iterator[Callable[[int], object]]:
    """A bar that counts episodes, if it is asked for."""
    if not show:
        yield lambda episodes: None
        return
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as error:
        raise checks.missing_extra_error("learn(progress=True)", "tqdm", extra="gym") from error
    with tqdm(total=total, unit="episode") as shown:
        yield shown.update
