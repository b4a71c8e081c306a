"""Ctrl-C by real signals, and errors in mid-learn: the record and the learner agree."""

import os
import signal
import threading

import numpy as np
import pytest
from worlds import Plain, same

from rlsvi_core import FiniteMDP, Options, bootstrap, chain, features, lsvi, rlsvi
from rlsvi_core.learners.appendix_f import incremental
from rlsvi_core.runtime import loop

RNG = np.random.default_rng(1)
MDP = FiniteMDP(RNG.dirichlet(np.ones(4), (5, 4, 3)), RNG.normal(size=(5, 4, 3, 4)))
TABLE = RNG.normal(size=(5, 4, 3, 6))


def rows(s):
    return TABLE[0, s]


KINDS = {
    "sums": lambda: rlsvi(TABLE, rng=1),
    "counts": lambda: lsvi(features.OneHot(5, 4, 3), epsilon=0.5, rng=1),
    "rows": lambda: rlsvi(rows, gamma=0.5, options=Options(window=30), rng=1),
    "outcomes": lambda: bootstrap(features.OneHot(5, 4, 3), (-5, 5), rng=1),
}
every_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Also where the tests were started in the background, with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)


class Watched(Plain):
    """The MDP by its steps, which are written down; something may happen in one of them."""

    def __init__(self, at=-1, then=press):
        super().__init__(MDP)
        self.steps, self.take, self.at, self.then = [], self.step, at, then
        self.step = self.watched

    def watched(self, h, s, a, rng):
        if len(self.steps) == self.at:
            self.then()
        r, s_next, over = self.take(h, s, a, rng)
        self.steps.append((h, s, a, r, s_next))
        return r, s_next, over


def check_all_is_known(agent, env, make):
    """It has seen the steps that there were, and the record those of whole episodes."""
    told = make()
    for step in env.steps:
        told.observe(*step)
    assert agent.n_transitions == len(env.steps)
    for h, s in np.ndindex(5, 4):
        assert same(agent.mean_values(h, s), told.mean_values(h, s))
    assert agent.last_run.length.tolist() == [5] * (len(env.steps) // 5)


def joined(before, after):
    return [np.concatenate(columns) for columns in zip(before, after, strict=True)]


@every_kind
@pytest.mark.parametrize("at", [5, 7, 9])
def test_ctrl_c_by_steps_waits_for_the_end_of_the_episode(make, at):
    """Going on is the same, to the bit, as never having stopped, and the handler is restored."""
    one, env, rng = make(), Watched(at), np.random.default_rng(2)
    with pytest.raises(KeyboardInterrupt):
        one.learn(env, 100, rng)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    before = one.last_run
    check_all_is_known(one, env, make)
    assert len(before.reward) == one.episode + 1 == 2
    assert all(map(same, joined(before, one.learn(env, 3, rng)), make().learn(Watched(), 5, 2)))


@every_kind
def test_ctrl_c_twice_is_raised_at_once(make):
    def press_twice():
        press()
        press()
        hung.append(True)

    hung = []
    one, env = make(), Watched(7, press_twice)
    with pytest.raises(KeyboardInterrupt):
        one.learn(env, 100, 2)
    assert not hung
    assert len(env.steps) == 7
    check_all_is_known(one, env, make)
    assert len(one.learn(MDP, 2, 3).reward) == 2


@pytest.mark.parametrize("name", ["sums", "counts", "outcomes"])
def test_ctrl_c_in_compiled_code_waits_for_the_end_of_an_episode(name, monkeypatch):
    monkeypatch.setattr(loop, "CHUNK_SECONDS", 0.003)
    make = KINDS[name]
    make().learn(MDP, 2, 3)  # compiled
    one, rng = make(), np.random.default_rng(2)
    timer = threading.Timer(0.05, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        one.learn(MDP, 10**6, rng)
    before = one.last_run
    played = len(before.reward)
    assert 0 < played < 10**6
    assert one.n_transitions == before.length.sum() == 5 * played
    whole = make().learn(MDP, played + 3, 2)
    assert all(map(same, joined(before, one.learn(MDP, 3, rng)), whole))


def test_who_handles_ctrl_c_is_asked_and_a_handler_that_an_environment_installs_stays():
    asked = []
    signal.signal(signal.SIGINT, lambda *_: asked.append(1))
    one = KINDS["counts"]()
    assert len(one.learn(Watched(7), 5, 2).reward) == 5
    assert asked == [1]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    one.learn(Watched(7, lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)), 5, 2)
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


@every_kind
def test_other_threads_learn_too(make):
    one = make()
    thread = threading.Thread(target=one.learn, args=(Watched(), 3, 2))
    thread.start()
    thread.join()
    assert len(one.last_run.reward) == 3


@every_kind
@pytest.mark.parametrize("at", [0, 7, 10])
def test_an_environment_that_fails_in_mid_learn_loses_nothing(make, at):
    def fail():
        raise ZeroDivisionError

    one, env = make(), Watched(at, fail)
    with pytest.raises(ZeroDivisionError):
        one.learn(env, 5, 2)
    assert len(env.steps) == at
    check_all_is_known(one, env, make)
    assert len(one.learn(MDP, 2, 3).reward) == len(one.last_run.reward) == 2


@pytest.mark.parametrize("wrong", [np.full((3, 6), np.nan), np.zeros((2, 6)), None])
def test_features_that_fail_in_mid_learn_lose_nothing(wrong):
    calls = []

    def failing(s):
        calls.append(s)
        return wrong if len(calls) == 12 else rows(s)

    def make(phi=rows):
        return rlsvi(phi, value_range=(-5, 5), H=5, rng=1)

    one, env = make(failing), Watched()
    with pytest.raises(ValueError, match="features"):
        one.learn(env, 5, 2)
    assert len(calls) == 12
    assert len(env.steps) - one.n_transitions in (0, 1)
    del env.steps[one.n_transitions :]  # the last may have been done and not seen
    check_all_is_known(one, env, make)
    assert len(one.learn(env, 2, 3).reward) == 2


def test_what_the_library_refuses_in_mid_learn_is_counted_to_there():
    """A prior that is forgotten to the last digit: in period 0 all begin in one state."""
    for env in (MDP, Watched()):
        one = incremental(features.tabular(MDP), nu=0.9, rng=1)
        with pytest.raises(ArithmeticError, match="prior"):
            one.learn(env, 5000, 2)
        assert 0 < len(one.last_run.reward) < 5000
        assert one.n_transitions == one.last_run.length.sum()


def test_a_bar_changes_nothing(capsys):
    runs = [
        rlsvi(features.tabular(chain(5)), rng=1).learn(chain(5), 30, rng=2, progress=progress)
        for progress in (False, True)
    ]
    assert "30/30" in capsys.readouterr().err
    assert same(runs[0], runs[1])
