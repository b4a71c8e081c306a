"""Ctrl-C by real signals, and errors in mid-learn: nothing is lost and nothing counted twice.

``SIGNALS=200 pytest tests/core/test_interrupts.py`` sends more of them than the 20 of every day.
"""

import os
import resource
import signal
import threading
import time

import numpy as np
import pytest
from worlds import Plain, same

from rlsvi_core import Agent, FiniteMDP, Options, bootstrap, chain, features, loop, lsvi, rlsvi
from rlsvi_core.learners.appendix_f import Continual, incremental

SIGNALS = int(os.environ.get("SIGNALS", "20"))
RNG = np.random.default_rng(1)
MDP = FiniteMDP(RNG.dirichlet(np.ones(4), (5, 4, 3)), RNG.normal(size=(5, 4, 3, 4)))
TABLE = RNG.normal(size=(5, 4, 3, 6))
PER_STATE = TABLE[0]
ONE_HOT, TIMELESS = features.OneHot(5, 4, 3), features.OneHot(None, 4, 3)


def rows(s):
    return PER_STATE[s]


def halved(episode):
    return 0.5**episode


KINDS = {
    "sums": lambda: rlsvi(TABLE, rng=1),
    "counts": lambda: lsvi(ONE_HOT, epsilon=halved, rng=1),
    "discounted": lambda: rlsvi(TIMELESS, gamma=0.5, rng=1),
    "rows": lambda: rlsvi(rows, gamma=0.5, options=Options(window=30), rng=1),
    "outcomes": lambda: bootstrap(ONE_HOT, (-5, 5), rng=1),
    "incremental": lambda: incremental(TABLE, nu=0.01, rng=1),
    "continual": lambda: Agent(Continual(PER_STATE, 0.5, 0.9), redraw=1, rng=1),
}
COMPILED = ("sums", "counts", "outcomes", "incremental")
every_kind = pytest.mark.parametrize("name", KINDS)


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Also where the tests were started in the background, with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)


def interrupted(times, learn, *given):
    """Let an agent learn and press Ctrl-C so often, after a random time of its own work."""

    def alarm(*_):
        for _ in range(times):
            press()

    signal.signal(signal.SIGVTALRM, alarm)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.005 + RNG.exponential(0.01))
    with pytest.raises(KeyboardInterrupt):
        learn(*given)


class Watched(Plain):
    """The MDP by its steps, which are written down; something may happen in one of them."""

    def __init__(self, then=lambda step: None):
        super().__init__(MDP)
        self.steps, self.take, self.then = [], self.step, then
        self.step = self.watched

    def watched(self, h, s, a, rng):
        self.then(len(self.steps))
        r, s_next, over = self.take(h, s, a, rng)
        self.steps.append((h, s, a, r, s_next))
        return r, s_next, over


def data_of(learner):
    """What it has kept."""
    if hasattr(learner, "take_in"):
        learner.take_in()
        return learner.kept[0].columns, learner.kept[0].gram
    if hasattr(learner, "seen"):
        used = learner.seen.used[0]
        return [part[:used] if np.ndim(part) == 1 else part for part in learner.seen]
    return learner.sums


def check_consistent(agent, env, make):
    """It has seen the steps that there were, and the record those of whole episodes. The last step
    may have been done and not seen."""
    steps = env.steps[: agent.transitions]
    assert len(env.steps) - len(steps) in (0, 1)
    whole = len(steps) // MDP.H * MDP.H
    assert agent.run.length.sum() == whole
    rewards = np.array([r for _, _, _, r, _ in steps[:whole]]).reshape(-1, MDP.H).sum(axis=1)
    np.testing.assert_allclose(agent.run.reward, rewards, atol=1e-12)
    if not steps or "U" in vars(agent.learner):  # which depends on the samples, too
        return
    told = make()
    for step in steps:
        told.observe(*step)
    assert same(data_of(agent.learner), data_of(told.learner))


def joined(before, after):
    return [np.concatenate(columns) for columns in zip(before, after, strict=True)]


# ------------------------------------------------------------------ signals


def goes_on(make, world):
    """Ctrl-C in very many episodes: the record has those that were played, and going on is the same,
    to the bit, as never having stopped."""
    make().learn(world(), 2, 3)  # compiled
    played = []
    for times in range(SIGNALS):
        one, env, rng = make(), world(), np.random.default_rng(2)
        interrupted(1 + times % 2 if env is MDP else 1, one.learn, env, 10**5, rng)
        before = one.run
        played.append(len(before.reward))
        assert one.transitions == before.length.sum() == MDP.H * played[-1]
        assert one.episode == played[-1] - 1
        if env is not MDP:
            check_consistent(one, env, make)
        after = one.learn(env, 3, rng)
        whole = make().learn(world(), played[-1] + 3, 2)
        assert all(map(same, joined(before, after), whole))
    assert 0 < max(played) < 10**5


@every_kind
def test_ctrl_c_by_steps_waits_for_the_end_of_the_episode(name):
    goes_on(KINDS[name], Watched)


@pytest.mark.parametrize("name", COMPILED)
def test_ctrl_c_in_compiled_code_waits_for_the_end_of_an_episode(name, monkeypatch):
    monkeypatch.setattr(loop, "CHUNK", 0.003)
    goes_on(KINDS[name], lambda: MDP)


@every_kind
def test_ctrl_c_twice_waits_for_the_end_of_the_step(name):
    cut = 0
    for _ in range(SIGNALS):
        one, env = KINDS[name](), Watched()
        interrupted(2, one.learn, env, 10**5, 2)
        assert len(env.steps) == one.transitions
        check_consistent(one, env, KINDS[name])
        cut += one.transitions % MDP.H > 0
        assert len(one.learn(env, 2, 3).reward) == 2
    assert cut


def test_a_long_episode_is_cut_when_patience_ends(monkeypatch):
    """An episode of a million steps: one Ctrl-C waits for the end of one of them."""
    monkeypatch.setattr(loop, "PATIENCE", 0.2)

    class Endless(Watched):
        def __init__(self):
            super().__init__(lambda step: step == 7 and press())
            del self.H

        def watched(self, h, s, a, rng):
            r, s_next, _ = super().watched(h % MDP.H, s, a, rng)
            return r, s_next, False

    one, env = KINDS["discounted"](), Endless()
    with pytest.raises(KeyboardInterrupt):
        one.learn(env, 3, 2, limit=10**6)
    assert 8 < len(env.steps) == one.transitions
    assert len(one.run.reward) == 0


@pytest.mark.parametrize("presses", [1, 3])
def test_an_environment_that_does_not_return_is_cut(monkeypatch, presses):
    """By a third Ctrl-C at once, and by one alone after a while."""
    monkeypatch.setattr(loop, "PATIENCE", 0.2 if presses == 1 else 1e6)

    def hang(step):
        if step == 7:
            for _ in range(presses):
                press()
            time.sleep(60)
            returned.append(step)

    one, env, returned = KINDS["rows"](), Watched(hang), []
    with pytest.raises(KeyboardInterrupt):
        one.learn(env, 5, 2)
    assert not returned
    check_consistent(one, env, KINDS["rows"])


def test_compiled_pieces_begin_small_and_grow():
    """However long an episode takes, the first look at Ctrl-C comes after one."""
    size = np.ones(1, np.int64)
    pieces = [stop - start for start, stop in loop.chunks(12_345, size)]
    assert pieces[:3] == [1, 10, 100]
    assert sum(pieces) == 12_345
    assert size[0] > 1000  # where the next call begins


def test_the_record_takes_memory_as_it_is_filled():
    one, env = KINDS["counts"](), Watched(lambda step: step == 7 and press())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(KeyboardInterrupt):
        one.learn(env, 10**8, 2)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000  # kB, of 4.8 GB
    assert one.run.length.tolist() == [5, 5]
    assert np.isnan(one.run.expected).all()


def test_the_record_of_the_last_call_is_gone_when_the_next_one_begins():
    class Interrupted(Watched):
        @property
        def A(self):
            raise KeyboardInterrupt

    one = KINDS["counts"]()
    one.learn(MDP, 3, 2)
    with pytest.raises(KeyboardInterrupt):
        one.learn(Interrupted(), 3, 2)
    assert len(one.run.reward) == 0


def test_the_handler_is_restored_and_that_of_others_is_asked():
    """One that raises nothing stops nothing."""
    one, env = KINDS["counts"](), Watched(lambda step: step == 7 and press())
    with pytest.raises(KeyboardInterrupt):
        one.learn(env, 5, 2)
    assert len(env.steps) == 10
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    asked = []
    signal.signal(signal.SIGINT, lambda *_: asked.append(1))
    one.learn(Watched(lambda step: step == 7 and press()), 5, 2)
    assert asked == [1]


def test_a_handler_that_an_environment_installs_stays():
    def install(step):
        if step == 3:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    KINDS["counts"]().learn(Watched(install), 5, 2)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def test_other_threads_learn_too():
    one = KINDS["sums"]()
    thread = threading.Thread(target=one.learn, args=(MDP, 30, 2))
    thread.start()
    thread.join()
    assert len(one.run.reward) == 30


# ------------------------------------------------------------------ errors


@every_kind
@pytest.mark.parametrize("at", [0, 7, 10])
def test_an_environment_that_fails_in_mid_learn_loses_nothing(name, at):
    def fail(step):
        if step == at:
            raise ZeroDivisionError

    one, env = KINDS[name](), Watched(fail)
    with pytest.raises(ZeroDivisionError):
        one.learn(env, 5, 2)
    assert one.transitions == len(env.steps) == at
    check_consistent(one, env, KINDS[name])
    assert len(one.learn(MDP, 2, 3).reward) == len(one.run.reward) == 2


@pytest.mark.parametrize("wrong", [np.full((3, 6), np.nan), np.zeros((2, 6)), None])
@pytest.mark.parametrize("door", [rlsvi, bootstrap])
def test_features_that_fail_in_mid_learn_lose_nothing(door, wrong):
    calls = []

    def failing(s):
        calls.append(s)
        return wrong if len(calls) == 12 else PER_STATE[s]

    def make(phi=rows):
        return door(phi, value_range=(-5, 5), H=5, rng=1)

    one, env = make(failing), Watched()
    with pytest.raises(ValueError, match="features"):
        one.learn(env, 5, 2)
    assert len(calls) == 12
    check_consistent(one, env, make)
    assert len(one.learn(env, 2, 3).reward) == 2


def test_what_the_library_refuses_in_mid_learn_is_counted_to_there():
    """A prior that is forgotten to the last digit: in period 0 all begin in one state."""
    for env in (MDP, Watched()):
        one = incremental(features.tabular(MDP), nu=0.9, rng=1)
        with pytest.raises(ArithmeticError, match="prior"):
            one.learn(env, 5000, 2)
        assert 0 < len(one.run.reward) < 5000
        assert one.transitions == one.run.length.sum()


def test_a_bar_changes_nothing(capsys):
    runs = [
        rlsvi(features.tabular(chain(5)), rng=1).learn(chain(5), 30, rng=2, progress=progress)
        for progress in (False, True)
    ]
    assert "30/30" in capsys.readouterr().err
    assert same(runs[0], runs[1])
