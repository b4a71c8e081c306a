"""Gymnasium's environments: what an agent sees of them, and what is refused."""

import pickle

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Tuple  # noqa: E402
from gymnasium.wrappers import TimeLimit  # noqa: E402
from worlds import same  # noqa: E402

from rlsvi_core import Agent, Learner, features, rlsvi  # noqa: E402


class Script(gymnasium.Env):
    """Plays back a list of (observation, reward, terminated, truncated, info), and its first
    observation and info before; keeps the actions it got."""

    def __init__(self, steps=((1, 0.5, True, False, {}),), first=(0, {}), space=None, actions=None):
        self.steps, self.first, self.got = list(steps), first, []
        self.observation_space = Discrete(2) if space is None else space
        self.action_space = Discrete(2) if actions is None else actions

    def reset(self, *, seed=None, options=None):
        self.t = 0
        return self.first

    def step(self, action):
        self.got.append(int(action))
        self.t += 1
        return self.steps[min(self.t, len(self.steps)) - 1]


class Witness(Learner):
    """Writes down what it is told, and values actions by their number."""

    def __init__(self, H=3, S=2, A=2):
        self.H, self.S, self.A = H, S, A
        self.saw, self.told = [], []

    def fit(self, rng, before):
        return ()

    def values(self, fitted, h, s):
        self.saw.append((h, s))
        return np.arange(self.A or 2, dtype=float)

    def add(self, h, s, a, r, s_next, legal_next=None):
        self.told.append((h, s, a, r, s_next, *([] if legal_next is None else [list(legal_next)])))


def told(env, episodes=1, **sizes):
    learner = Witness(**sizes)
    run = Agent(learner, rng=1).learn(env, episodes, rng=2)
    assert run.reward.sum() == sum(step[3] for step in learner.told)
    return learner.told


def lake(steps):
    return gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=steps)


@pytest.mark.parametrize(
    ("terminated", "truncated", "steps"),
    [
        (True, False, [(0, 0, 1, 0.5, None)]),  # nothing of value follows
        (False, True, [(0, 0, 1, 0.5, 1)]),  # the clock ran out; state 1 keeps its value
        (True, True, [(0, 0, 1, 0.5, None)]),
        (False, False, [(0, 0, 1, 0.5, 1), (1, 1, 1, 0.5, 1), (2, 1, 1, 0.5, 1)]),
    ],
)
def test_truncated_is_not_terminated(terminated, truncated, steps):
    assert told(Script([(1, 0.5, terminated, truncated, {})]), 2) == steps * 2


def test_states_and_actions_may_be_counted_from_anywhere():
    steps = [(np.int64(-2), np.float64(0.5), True, False, {})]
    env = Script(steps, (-3, {}), Discrete(2, start=-3), Discrete(2, start=7))
    assert (told(env), env.got) == ([(0, 0, 1, 0.5, None)], [8])


def test_several_numbers_are_one_number_to_a_table_and_themselves_to_features():
    steps = [(np.array([5, 0]), 0.0, False, False, {}), (np.array([5, 2]), 0.0, True, False, {})]
    env = Script(steps, (np.array([6, 1]), {}), MultiDiscrete([2, 3], start=[5, 0]))
    assert [s for _, s, *_ in told(env, S=6)] == [4, 0]  # 3 · 1 + 1, 3 · 0 + 0
    assert [s.tolist() for _, s, *_ in told(env, S=None)] == [[6, 1], [5, 0]]


def test_an_observation_that_is_written_into_does_no_harm():
    buffer = np.zeros(2, np.float32)

    class Reuses(Script):
        def step(self, action):
            buffer[:] = self.t + 1
            return super().step(action)

    env = Reuses([(buffer, 0.0, False, False, {})], (buffer, {}), Box(0, 9, (2,)))
    seen = [(s[0], s_next[0]) for _, s, _, _, s_next in told(env, S=None)]
    assert seen == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(("given", "dtype"), [([3, 4], np.uint8), ([0.1, 0.7], np.float32)])
def test_an_observation_has_its_boxs_type(given, dtype):
    ((_, s, _, _, _),) = told(
        Script([(given, 0.5, True, False, {})], (given, {}), Box(0, 9, (2,), dtype)), S=None
    )
    assert s.dtype == dtype
    assert np.array_equal(s, np.array(given, dtype))


def test_masks_are_used_for_acting_and_in_targets():
    masks = [{"action_mask": np.array(mask, np.int8)} for mask in ([1, 1, 0], [1, 0, 0], [0, 0, 0])]
    steps = [(1, 0.0, False, False, masks[1]), (1, 0.0, True, False, masks[2])]
    env = Script(steps, (0, masks[0]), actions=Discrete(3))
    assert told(env, A=3) == [(0, 0, 1, 0.0, 1, [0]), (1, 1, 0, 0.0, None)]


@pytest.mark.parametrize("masked", [0, 1])
def test_a_mask_that_was_there_once_does_not_go_missing(masked):
    """Without it everything would be allowed: it is as likely a key that is misspelt."""
    infos = [{}, {}]
    infos[masked] = {"action_mask": np.array([0, 1, 1], np.int8)}
    later = (1, 0.5, False, False, {})
    env = Script([(1, 0.5, False, False, infos[1]), later], (0, infos[0]), actions=Discrete(3))
    learner = Witness(A=3)
    with pytest.raises(ValueError, match="every info has an action_mask"):
        Agent(learner).learn(env, 1)
    assert len(learner.told) == masked


def test_what_a_mask_forbids_is_not_done():
    forbidden = []

    class Watched(gymnasium.Wrapper):
        def reset(self, **given):
            observed, self.info = self.env.reset(**given)
            return observed, self.info

        def step(self, action):
            forbidden.append(not self.info["action_mask"][action])
            *stepped, self.info = self.env.step(action)
            return *stepped, self.info

    agent = rlsvi(features.OneHot(30, 500, 6), rng=2)
    for play in (agent.learn, agent.evaluate):
        play(Watched(gymnasium.make("Taxi-v4", max_episode_steps=30)), 5, rng=1)
    assert forbidden
    assert not any(forbidden)


@pytest.mark.parametrize(
    "phi", [features.OneHot(20, 16, 4), features.OneHot(None, 16, 4)], ids=["H", "no H"]
)
def test_a_lake_is_crossed_and_a_run_goes_on_where_it_was_left(phi):
    def make():
        return rlsvi(phi, value_range=(0, 1), gamma=1.0 if phi.H else 0.95, rng=0)

    agent, env = make(), lake(20)
    whole = make().learn(lake(20), 300, rng=1)
    parts = [agent.learn(env, 200, rng=1)]
    agent, env = pickle.loads(pickle.dumps((agent, env)))
    parts.append(agent.learn(env, 100))
    assert same([np.concatenate(column) for column in zip(*parts, strict=True)], list(whole))
    assert whole.reward[-50:].mean() > 0.7  # of 30 runs with other seeds the least is .74
    assert agent.evaluate(env, 3).tolist() == [1, 1, 1]
    assert agent.n_transitions == whole.length.sum()


def test_somebody_ends_an_episode():
    def endless():
        return Script([(1, 1.0, False, False, {})])

    assert len(told(TimeLimit(endless(), 7), H=None)) == 7
    assert len(told(endless(), H=5)) == 5
    agent = rlsvi(features.OneHot(None, 2, 2), rng=1)
    assert agent.learn(endless(), 2, limit=4).length.tolist() == [4, 4]
    with pytest.raises(RuntimeError, match="end"):
        agent.learn(endless(), 1)
    assert agent.n_transitions >= 8
    for env in (lake(5), lake(20)):
        with pytest.raises(ValueError, match="horizon"):
            rlsvi(features.OneHot(10, 16, 4)).learn(env, 1)


ONE = np.zeros(1, np.float32)


def test_features_have_a_row_for_each_action():
    env = gymnasium.make("CartPole-v1")
    with pytest.raises(ValueError, match="each of 2 actions"):
        rlsvi(lambda s: np.array([[1.0, *s]]), gamma=0.9, rng=1).learn(env, 1, rng=2)


@pytest.mark.parametrize(
    ("env", "S", "keyword"),
    [
        (Script(actions=Box(-1, 1, (1,))), 2, "actions"),
        (Script(actions=Discrete(3)), 2, "actions"),
        (Script(space=Discrete(7)), 2, "states"),
        (Script(space=MultiDiscrete([2, 2])), 2, "states"),
        (Script(space=Box(0, 1, (2,))), 2, "FlattenObservation"),
        (Script(space=Dict(x=Discrete(2))), 2, "TransformObservation"),
        (Script(space=Tuple([Discrete(2), Discrete(1)])), 2, "TransformObservation"),
        (gymnasium.make_vec("FrozenLake-v1", 2), 16, "make_vec"),
        (Script(first=(2, {})), 2, "space"),
        (Script(first=(ONE + 2, {}), space=Box(0, 1, (1,))), None, "space"),
        (Script(first=(np.zeros(2), {}), space=Box(0, 1, (1,))), None, "space"),
        (Script([(5, 0.5, False, False, {})]), 2, "space"),
        (Script(first=(np.array([0.7]), {}), space=Box(0, 9, (1,), np.int64)), None, "space"),
        (Script(first=(np.array([256]), {}), space=Box(0, 9, (1,), np.uint8)), None, "space"),
        (Script([(1, np.nan, False, False, {})]), 2, "reward"),
        (Script([(1, 0.5, True, {})]), 2, "expected 5"),  # as the older gym had it
        (Script(first=(0, {"action_mask": np.zeros(2, np.int8)})), 2, "action_mask"),
        (Script([(1, 0.5, False, False, {"action_mask": np.zeros(2)})]), 2, "action_mask"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_agent_sees_it(env, S, keyword):
    learner = Witness(S=S)
    with pytest.raises(ValueError, match=keyword):
        Agent(learner).learn(env, 1)
    assert learner.told == []
