"""Algorithm 2 in compiled code, of a learner's parts, and how Ctrl-C waits for it."""

import _thread
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from . import checks
from .acting import action_probabilities, choose, highest
from .compiled import Array, Floats, Generator, Ints, jit
from .mdp import DiscountedMDP, FiniteMDP, Model, first_state, last_reward, period, step
from .record import Run

PATIENCE = 1.0  # seconds that Ctrl-C waits for the end of an episode, and of a step
CHUNK = 0.1  # seconds of compiled work between two looks at it
COMPILED = (FiniteMDP, DiscountedMDP)  # but no subclass, which may have a step of its own


class Task(NamedTuple):
    """What an agent asks of compiled code: to play some episodes, and how. Its fields are read by
    name, so that one more of them breaks nobody's loop."""

    sample: bool  # act on draws, or on the mean
    exact: Array  # of each episode, whether its policy is evaluated
    epsilon: Floats  # of each episode
    eta: float
    redraw: float  # draw again in mid-episode after so many steps, or
    recurs: bool  # where a state has been since the last draw
    rng: Generator  # the environment's
    own: Generator  # the agent's
    counts: Ints  # (2,) the agent's, of plans and of transitions, to be counted on
    run: Run  # to be filled


def compiled_loop(fit: Any, values: Any, add: Any) -> Any:
    """Algorithm 2 on a finite MDP, of a learner's three parts, all compiled by ``jit``:
    ``fit(data, rng)``, ``values(data, h, s, q)``, which fills q, and ``add(data, h, s, a, r, s_next)``;
    ``data`` is the learner's record. What it returns is called with an environment of these
    types, the steps of an episode, the learner's periods (1 without a horizon), ``data`` and a
    :class:`Task`."""

    @jit
    def expected_reward(
        model: Model, H: int, data: Any, epsilon: float, eta: float, q: Floats, p: Floats
    ) -> float:
        """That of the episode's policy, pushing π forward through it."""
        S = model.initial.shape[0]
        here = model.initial.copy()
        there = np.zeros(S)
        total = 0.0
        for h in range(H):
            t = period(model.successor, h)
            for s in range(S):
                there[s] = 0.0
            for s in range(S):
                if here[s] == 0.0:
                    continue
                values(data, h, s, q)
                action_probabilities(q, epsilon, eta, p)
                for a in range(q.shape[0]):
                    for b in range(model.successor.shape[3]):
                        mass = here[s] * p[a] * model.probability[t, s, a, b]
                        there[model.successor[t, s, a, b]] += mass
                        total += mass * model.reward[t, s, a, b]
            here, there = there, here
        for s in range(S):
            total += here[s] * model.terminal[s]
        return total

    @jit
    def loop(
        model: Model,
        last: int,  # the step whose reward includes the terminal one, or −1
        limit: int,
        periods: int,
        data: Any,
        task: Task,
    ) -> None:
        exact = task.exact
        epsilon = task.epsilon
        eta = task.eta
        rng = task.rng
        own = task.own
        count = task.counts
        run = task.run
        q = np.empty(model.successor.shape[2])
        p = np.empty(model.successor.shape[2])
        redraw = task.redraw
        recurs = task.recurs
        met = np.zeros(model.initial.shape[0], np.int64)  # by which draw a state was left last
        drawn = 0
        for i in range(run.reward.shape[0]):
            fit(data, own)
            count[0] += 1
            if exact[i]:
                run.expected[i] = expected_reward(model, limit, data, epsilon[i], eta, q, p)
            s = first_state(model, rng)
            run.furthest[i] = s
            due = False
            drawn += 1
            since = 0
            for h in range(limit):
                t = min(h, periods - 1)
                if due:
                    fit(data, own)
                    drawn += 1
                    since = 0
                values(data, t, s, q)
                a = choose(q, epsilon[i], eta, p, own.random())
                r, s_next = step(model, h, s, a, rng)
                if h == last:
                    r += last_reward(model, s_next, rng)
                add(data, t, s, a, r, s_next)
                since += 1
                met[s] = drawn
                due = since >= redraw or (recurs and met[s_next] == drawn)
                count[1] += 1
                run.reward[i] += r
                run.furthest[i] = max(run.furthest[i], s_next)
                if h == 0:
                    run.opening[i] = a
                    run.claimed[i] = highest(q)
                s = s_next
            run.length[i] = limit

    def play(env: Any, limit: int, periods: int, data: Any, task: Task) -> None:
        last = env.H - 1 if type(env) is FiniteMDP else -1
        loop(env.model, last, limit, periods, data, task)

    return play


def chunks(total: int, size: Ints) -> Iterator[tuple[int, int]]:
    """Cut 0, …, total − 1 into pieces (start, stop), of ``size[0]`` at first and then of so many as
    take about ``CHUNK`` seconds, by what the last piece took. It is left in ``size``."""
    start = 0
    while start < total:
        stop = min(start + int(size[0]), total)
        began = time.perf_counter()
        yield start, stop
        took = time.perf_counter() - began
        size[0] = max(1, math.floor((stop - start) * min(CHUNK / max(took, 1e-9), 10)))
        start = stop


@contextmanager
def patience() -> Iterator[Callable[[bool], None]]:
    """Inside, Ctrl-C waits until it is asked for: the first one at the end of an episode, the second
    at the end of a step. The third does not wait. One that has waited for ``PATIENCE`` is sent again.
    Elsewhere than in the main thread, and where somebody has a handler of their own, nothing is
    changed."""
    presses = 0
    over = False

    def send_again() -> None:
        time.sleep(PATIENCE)
        if not over:
            _press()

    def wait(*_: object) -> None:
        nonlocal presses
        presses += 1
        if presses > 2 and not over:
            raise KeyboardInterrupt
        _thread.start_new_thread(send_again, ())  # a Thread takes locks that may be held here

    def ask(at_end: bool) -> None:
        if presses > (0 if at_end else 1):
            raise KeyboardInterrupt

    usual = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if usual:
        signal.signal(signal.SIGINT, wait)
    try:
        yield ask
    finally:
        over = True
        if usual and signal.getsignal(signal.SIGINT) is wait:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    ask(True)  # what came at the last moment


@contextmanager
def bar(total: int, show: bool) -> Iterator[Callable[[int], object]]:
    """A bar that counts episodes, if it is asked for."""
    if not show:
        yield lambda episodes: None
        return
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as error:
        raise checks.missing("learn(progress=True)", "tqdm", extra="gym") from error
    with tqdm(total=total, unit="episode") as shown:
        yield shown.update


def _press() -> None:
    """Ctrl-C for the main thread, which ends a sleep there, too, but on Windows."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()
