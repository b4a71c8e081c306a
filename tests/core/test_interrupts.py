"""Ctrl-C at any line loses nothing, and what was learned until then is consistent.

The state machine of ``test_sequences_agents`` has the main case: an interrupted ``learn`` that is
called again equals one that was not interrupted, in every form. Here are single calls, a signal
that does not wait for the end of an episode, Gymnasium, and a real signal from outside.
"""

import copy
import math
import signal
import subprocess
import sys
import threading
import time

import gymnasium
import numpy as np
import pytest
from test_sequences_agents import FORMS, MDP, NOISE, TABLE, Numbers, ctrl_c, differing, taken_in

from rlsvi_core import StoredAgent, VerbatimAgent, chain, features, lsvi, rlsvi, waiting
from rlsvi_core.agents.incremental import incremental
from rlsvi_core.envs.gym import play


def interrupted(at, call, *args, **kwargs):
    """Whether Ctrl-C at that line came before the call had ended."""
    try:
        with ctrl_c(at):
            call(*args, **kwargs)
    except KeyboardInterrupt:
        return True
    return False


def at_every_line(call):
    """Interrupt a call at its first line, its second, …; beyond the hundredth at fewer and fewer."""
    at = 1
    while interrupted(at, call):
        at += max(1, at // 20 - 4)
    assert at > 3


LEARNED = {name: form for name, form in FORMS.items() if form.world is Numbers}


def same_state(one, two):
    return not differing(taken_in(one), taken_in(two))


@pytest.mark.parametrize("patience", [1.0, 0.0])
@pytest.mark.parametrize("name", LEARNED)
def test_a_call_is_made_wholly_or_not_at_all(name, patience, monkeypatch):
    """At whatever line of observe or plan the signal comes, and whether or not it may wait."""
    monkeypatch.setattr(waiting, "PATIENCE", patience)
    form = LEARNED[name]
    agent = form.make(None)
    agent.plan()
    agent.act(0, 1)
    transition = {"h": 1, "s": 2, "a": 0, "r": form.rewards[0], "s_next": 1}
    masks = {"legal_next": np.array([0, 2])} if form.masks else {}
    for _ in range(3):
        agent.observe(**transition, **masks)
    agent = check_call(agent, lambda one: one.observe(**transition, **masks))
    check_call(agent, lambda one: one.plan())


def check_call(agent, call):
    """The agent after the call, to which the interrupted ones are compared."""
    after = copy.deepcopy(agent)
    call(after)

    def attempt():
        one = copy.deepcopy(agent)
        try:
            call(one)
        except KeyboardInterrupt:
            assert same_state(one, agent) or same_state(one, after)
            raise
        assert same_state(one, after)

    at_every_line(attempt)
    return after


def test_the_first_observation_of_a_stored_agent_may_be_interrupted():
    """It tells how many features there are."""

    def agent():
        return rlsvi(lambda s: np.kron(np.eye(2), [1.0, s]), rng=1)

    def go_on(one):
        one.plan()
        one.act(0, 0.5)
        one.observe(0, 0.5, 1, 1.0, None)
        one.plan()
        return one.values(0, 0.3)

    good = go_on(agent())

    def attempt():
        one = agent()
        state = one.rng.bit_generator.state
        try:
            one.act(0, 0.5)
        except KeyboardInterrupt:
            one.rng.bit_generator.state = state
            np.testing.assert_array_equal(go_on(one), good)
            raise

    at_every_line(attempt)


class Watched:
    """An environment that writes down its steps, and may do something in one of them."""

    def __init__(self, then=lambda step: None):
        self.steps, self.then = [], then

    def start(self, rng):
        return MDP.start(rng)

    def step(self, h, s, a, rng):
        self.then(len(self.steps))
        r, s_next, ended = MDP.step(h, s, a, rng)
        self.steps.append((h, s, a, r, None if ended else s_next))
        return r, s_next, ended


ONE_HOT = features.one_hot(None, 4, 3)
SETTLED = {"gamma": 0.5, "sweeps": math.inf}  # so that values do not depend on earlier ones
BY_STEPS = {
    "stored": lambda: rlsvi(lambda s: TABLE[0, s], *NOISE, H=MDP.H, rng=1),
    "stored, window": lambda: rlsvi(lambda s: TABLE[0, s], *NOISE, window=5, rng=1, **SETTLED),
    "verbatim": lambda: rlsvi(ONE_HOT, form=VerbatimAgent, rng=1, **SETTLED),
    "discounted": lambda: rlsvi(ONE_HOT, rng=1, **SETTLED),
    "epsilon": lambda: lsvi(lambda s: TABLE[0, s], epsilon=0.5, half_life=3, rng=1, **SETTLED),
}


def check_consistent(agent, env, make):
    """It has seen the steps that there were, and the record those of whole episodes."""
    assert agent.transitions == len(env.steps)
    assert agent.run.length.sum() == agent.transitions // MDP.H * MDP.H
    rewards = np.array([step[3] for step in env.steps])[: agent.run.length.sum()]
    np.testing.assert_allclose(agent.run.reward, rewards.reshape(-1, MDP.H).sum(axis=1))
    told = make()
    for step in env.steps:
        told.observe(*step)
    np.testing.assert_allclose(agent.mean_values(0, 1), told.mean_values(0, 1), atol=1e-9)


@pytest.mark.parametrize("name", BY_STEPS)
def test_between_two_steps_the_agent_is_consistent(name, monkeypatch):
    """Where the signal may not wait for the end of the episode."""
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    make, cut = BY_STEPS[name], 0
    for at in range(1, 2000, 23):
        agent, env = make(), Watched()
        if interrupted(at, agent.learn, env, 4, rng=2):
            check_consistent(agent, env, make)
            cut += agent.transitions % MDP.H > 0
    assert cut


@pytest.mark.parametrize("name", BY_STEPS)
def test_an_environment_that_fails_in_mid_learn_loses_nothing(name):
    def fail(step):
        if step == 7:
            raise ZeroDivisionError

    agent, env = BY_STEPS[name](), Watched(fail)
    with pytest.raises(ZeroDivisionError):
        agent.learn(env, 5, rng=2)
    check_consistent(agent, env, BY_STEPS[name])
    assert len(agent.learn(MDP, 2, rng=3).reward) == len(agent.run.reward) == 2


def test_a_second_signal_cuts_an_environment_that_does_not_return():
    def hang(step):
        if step == 4:
            signal.raise_signal(signal.SIGINT)  # waits
            signal.raise_signal(signal.SIGINT)
            returned.append(step)

    agent, env, returned = BY_STEPS["stored"](), Watched(hang), []
    with pytest.raises(KeyboardInterrupt):
        agent.learn(env, 5, rng=2)
    assert not returned
    check_consistent(agent, env, BY_STEPS["stored"])


def test_what_the_library_refuses_in_mid_learn_is_counted_to_there():
    agent = incremental(features.tabular(MDP), nu=0.5, rng=1)
    with pytest.raises(ArithmeticError, match="prior"):
        agent.learn(MDP, 5000, rng=2)
    assert 0 < len(agent.run.reward) < 5000
    assert agent.transitions == agent.run.length.sum()


def test_a_callback_may_stop_and_a_bar_changes_nothing(capsys):
    """With a callback steps are taken one by one; the draws are the same."""
    told = []
    agents = [rlsvi(features.tabular(chain(5)), rng=1) for _ in range(3)]
    runs = [
        agents[0].learn(chain(5), 30, rng=2),
        agents[1].learn(chain(5), 30, rng=2, after=told.append),
        agents[2].learn(chain(5), 30, rng=2, progress=True),
    ]
    assert "30/30" in capsys.readouterr().err
    assert all(np.array_equal(run.reward, runs[0].reward) for run in runs)
    assert [one.reward for one in told] == runs[0].reward.tolist()
    assert [one.claimed for one in told] == runs[1].claimed.tolist()
    assert told[0][:1] == (4,)
    assert told[0].claimed == 0 != told[1].claimed  # before any data values are 0
    with pytest.raises(ZeroDivisionError):
        agents[0].learn(chain(5), 30, rng=2, after=lambda one: 1 / one.redraws)
    assert len(agents[0].run.reward) == 1
    with pytest.raises(ValueError, match="after"):
        agents[0].learn(chain(5), 30, rng=2, after=3)


def test_redraws_are_told():
    """In a state of which nothing leads away every step is a repeat."""
    told = []
    agent = rlsvi(features.one_hot(None, 5, 2), gamma=0.9, rng=1)
    agent.learn(chain(5), 20, rng=2, after=told.append)
    assert sum(one.redraws for one in told) > 0
    assert all(0 <= one.redraws < 4 for one in told)


# --- Gymnasium ------------------------------------------------------------------------------------


def lake():
    return gymnasium.make("FrozenLake-v1", max_episode_steps=6)


PLAYED = {
    "table": lambda: rlsvi(features.OneHot(6, 16, 4), rng=1),
    "discounted": lambda: rlsvi(features.one_hot(None, 16, 4), gamma=0.9, rng=1),
    "stored": lambda: rlsvi(features.OneHot(6, 16, 4), form=StoredAgent, rng=1),
}


@pytest.mark.parametrize("name", PLAYED)
def test_play_goes_on_after_ctrl_c(name):
    whole, cut = play(PLAYED[name](), lake(), 6, seed=2), 0
    for at in range(1, 5000, 97):
        agent, env = PLAYED[name](), lake()
        if interrupted(at, play, agent, env, 6, seed=2):
            before = agent.run.reward
            cut += before.size > 0
            seed = None if before.size else 2
            rest = play(agent, env, 6 - before.size, seed)
            np.testing.assert_array_equal(np.concatenate([before, rest]), whole)
    assert cut


def test_play_tells_a_callback():
    told = []
    agent = PLAYED["discounted"]()
    rewards = play(agent, lake(), 30, seed=2, after=told.append)
    assert [one.reward for one in told] == rewards.tolist()
    assert sum(one.length for one in told) == agent.transitions == agent.run.length.sum()
    assert sum(one.redraws for one in told) > 0
    assert np.isfinite([one.claimed for one in told]).all()
    np.testing.assert_array_equal(rewards, play(PLAYED["discounted"](), lake(), 30, seed=2))


# --- signals --------------------------------------------------------------------------------------


def test_the_handler_is_restored_and_asked():
    """Whatever it does; one that raises nothing stops nothing."""
    asked = []
    before = signal.signal(signal.SIGINT, lambda *_: asked.append(1))
    try:
        with ctrl_c(50):
            run = rlsvi(features.tabular(chain(5)), rng=1).learn(chain(5), 30, rng=2)
        assert asked == [1]
        assert len(run.reward) == 30
        assert signal.getsignal(signal.SIGINT) is not before
    finally:
        signal.signal(signal.SIGINT, before)
    agent = rlsvi(features.tabular(chain(5)), rng=1)
    assert interrupted(80, agent.learn, chain(5), 30, rng=2)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_learn_too():
    agent = rlsvi(features.tabular(chain(5)), rng=1)
    thread = threading.Thread(target=agent.learn, args=(chain(5), 30, 2))
    thread.start()
    thread.join()
    assert len(agent.run.reward) == 30


LONG = """
import signal
import sys

from rlsvi_core import chain, features, rlsvi

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
mdp = chain(20)
agent = rlsvi(features.{features}, rng=1)
agent.learn(mdp, 3, rng=2)
print("ready", flush=True)
try:
    agent.learn(mdp, 10**7, rng=2)
except KeyboardInterrupt:
    assert agent.transitions == 3 * mdp.H + agent.run.length.sum()
    assert agent.evaluate(mdp, 1, rng=3).size == 1
    sys.exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal as POSIX has it")
@pytest.mark.parametrize("kind", ["tabular(mdp)", "OneHot(mdp.H, mdp.S, mdp.A)"])
def test_a_long_compiled_run_answers_a_real_signal(kind):
    """Ten million episodes would take many minutes."""
    process = subprocess.Popen(
        [sys.executable, "-c", LONG.format(features=kind)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 7
    finally:
        process.kill()
