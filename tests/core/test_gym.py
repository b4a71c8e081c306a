"""An environment of one's own, through Gymnasium, and ours for others."""

import pickle
import subprocess
import sys
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Tuple  # noqa: E402
from gymnasium.spaces.utils import flatdim, flatten  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.wrappers import TimeLimit  # noqa: E402
from rlsvi_core.envs.gym import (  # noqa: E402
    Episode,
    MDPEnv,
    RecommenderEnv,
    TetrisEnv,
    each_episode,
    play,
)

from rlsvi_core import chain, features, rlsvi  # noqa: E402
from rlsvi_core.envs import deep_sea, river_swim  # noqa: E402
from rlsvi_core.envs.recommender import Recommender  # noqa: E402
from rlsvi_core.envs.tetris import Tetris  # noqa: E402
from rlsvi_study.recommender.products import Products  # noqa: E402


class Script(gymnasium.Env):
    """Plays back a list of (observation, reward, terminated, truncated, info), and its first
    observation and info before; keeps the actions it got."""

    def __init__(
        self,
        steps=((1, 0.5, True, False, {}),),
        first=(0, {}),
        space=Discrete(2),  # noqa: B008
        actions=Discrete(2),  # noqa: B008
    ):
        self.steps, self.first, self.got = list(steps), first, []
        self.observation_space, self.action_space = space, actions

    def reset(self, *, seed=None, options=None):
        self.t = 0
        return self.first

    def step(self, action):
        self.got.append(action)
        self.t += 1
        return self.steps[min(self.t, len(self.steps)) - 1]


class Witness:
    """Records what it is told, and acts by the highest number."""

    def __init__(self, H=3, S=2, A=2):
        self.H, self.S, self.A = H, S, A
        self.plans, self.saw, self.told = 0, [], []

    def plan(self):
        self.plans += 1

    def act(self, h, s, legal=None):
        self.saw.append((h, s, legal if legal is None else legal.tolist()))
        return (self.A or 2) - 1 if legal is None else int(legal[-1])

    def greedy(self, h, s, legal=None):
        return 0 if legal is None else int(legal[0])

    def observe(self, h, s, a, r, s_next, legal_next=None):
        masked = [] if legal_next is None else [legal_next.tolist()]
        self.told.append((h, s, a, r, s_next, *masked))


# --- an agent in somebody's environment -----------------------------------------------------------


def test_playing_the_bridge_equals_learning_directly():
    mdp = chain(6)
    bridged = play(rlsvi(features.tabular(mdp), rng=1), MDPEnv(mdp), 200, seed=11)
    env_rng, _ = gymnasium.utils.seeding.np_random(11)
    direct = rlsvi(features.tabular(mdp), rng=1).learn(mdp, 200, env_rng)
    assert bridged.sum() > 10
    assert np.array_equal(bridged, direct.reward)


def test_rlsvi_learns_an_environment_that_ends_early():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=20)
    rewards = play(rlsvi(features.OneHot(20, 16, 4), rng=0), env, 600, seed=1)
    assert rewards[-50:].mean() > 0.9


@pytest.mark.parametrize(
    ("terminated", "truncated", "told"),
    [
        (True, False, [(0, 0, 1, 0.5, None)]),  # nothing of value follows
        (False, True, [(0, 0, 1, 0.5, 1)]),  # the clock ran out; state 1 keeps its value
        (True, True, [(0, 0, 1, 0.5, None)]),
        (False, False, [(0, 0, 1, 0.5, 1), (1, 1, 1, 0.5, 1), (2, 1, 1, 0.5, 1)]),
    ],
)
def test_truncated_is_not_terminated(terminated, truncated, told):
    agent, env = Witness(), Script([(1, 0.5, terminated, truncated, {})])
    assert play(agent, env, 2).tolist() == [0.5 * len(told)] * 2
    assert (agent.plans, agent.told) == (2, told * 2)
    record = Episode(0.5 * len(told), len(told), terminated)
    assert [*islice(each_episode(agent, env), 2)] == [record] * 2


def test_the_state_after_a_truncation_has_its_value_in_the_regression():
    """λ → 0: the estimate of period 0 is r + V_1(1) if truncated, r alone if terminated."""
    values = []
    for how in ((True, False), (False, True)):
        agent = rlsvi(features.OneHot(2, 2, 2), 1e-9, 1e-3, rng=0)
        agent.plan()
        for a in (0, 1):
            agent.observe(1, 1, a, 3.0, None)  # so state 1 is worth 3 in period 1
        play(agent, Script([(1, 0.5, *how, {})]), 20)
        agent.plan()
        values.append(agent.Q[0, 0].max())
    assert values == pytest.approx([0.5, 3.5], abs=0.01)


def test_states_and_actions_may_be_counted_from_anywhere():
    agent = Witness()
    env = Script(
        [(np.int64(-2), np.float64(0.5), True, False, {})],
        (-3, {}),
        Discrete(2, start=-3),
        Discrete(2, start=7),
    )
    play(agent, env, 1)
    assert (agent.told, env.got) == ([(0, 0, 1, 0.5, None)], [8])


def test_several_numbers_are_one_number_to_a_table_and_themselves_to_features():
    space = MultiDiscrete([2, 3], start=[5, 0])
    script = [(np.array([5, 0]), 0.0, False, False, {}), (np.array([5, 2]), 0.0, True, False, {})]
    env = Script(script, (np.array([6, 1]), {}), space)
    numbered, raw = Witness(S=6), Witness(S=None)
    play(numbered, env, 1)
    play(raw, env, 1)
    assert [s for _, s, _ in numbered.saw] == [4, 0]  # 3 · 1 + 1, 3 · 0 + 0
    assert [s.tolist() for _, s, _ in raw.saw] == [[6, 1], [5, 0]]
    bits = [np.array(one, np.int8) for one in ([1, 0, 1], [0, 1, 1])]
    env = Script([(bits[1], 0.0, True, False, {})], (bits[0], {}), MultiBinary(3))
    numbered = Witness(S=8)
    play(numbered, env, 2)
    assert [s for _, s, _ in numbered.saw] == [5, 5]


def test_an_environment_that_writes_into_its_old_observation_does_no_harm():
    buffer = np.zeros(2, np.float32)

    class Reuses(Script):
        def step(self, action):
            buffer[:] = self.t + 1
            return super().step(action)

    env = Reuses([(buffer, 0.0, False, False, {})], (buffer, {}), Box(0, 9, (2,)))
    agent = Witness(S=None)
    play(agent, env, 1)
    assert [(s[0], s_next[0]) for _, s, _, _, s_next in agent.told] == [(0, 1), (1, 2), (2, 3)]


def test_an_observation_of_another_type_is_cast():
    env = Script(
        [(np.array([0.7]), 0.0, True, False, {})],
        (np.array([0.7]), {}),
        Box(0, np.float32(0.7), (1,)),
    )  # which is a little less than 0.7
    agent = Witness(S=None)
    play(agent, env, 1)
    assert agent.saw[0][1].dtype == np.float32


def test_a_mask_is_used_for_acting_and_in_targets():
    masks = [{"action_mask": np.array(mask, np.int8)} for mask in ([1, 1, 0], [1, 0, 0], [0, 0, 0])]
    env = Script(
        [(1, 0.0, False, False, masks[1]), (1, 0.0, True, False, masks[2])],
        (0, masks[0]),
        actions=Discrete(3),
    )
    agent = Witness(A=3)
    play(agent, env, 1)
    assert agent.saw == [(0, 0, [0, 1]), (1, 1, [0])]
    assert agent.told == [(0, 0, 1, 0.0, 1, [0]), (1, 1, 0, 0.0, None)]


def test_a_table_keeps_to_the_mask():
    env = gymnasium.make("Taxi-v4", max_episode_steps=30)
    agent, forbidden = rlsvi(features.OneHot(30, 500, 6), rng=0), 0

    class Watched(gymnasium.Wrapper):
        def reset(self, **given):
            observed, self.info = self.env.reset(**given)
            return observed, self.info

        def step(self, action):
            nonlocal forbidden
            forbidden += not self.info["action_mask"][action]
            *stepped, self.info = self.env.step(action)
            return *stepped, self.info

    play(agent, Watched(env), 5, seed=0)
    play(agent, Watched(env), 5, seed=0, learn=False)
    assert forbidden == 0


def test_an_agent_without_masks_may_not_do_what_they_forbid():
    class Blind:
        H = 3
        plan = observe = lambda self, *given: None

        def act(self, h, s):
            return 2

    mask = {"action_mask": np.array([1, 1, 0], np.int8)}
    with pytest.raises(ValueError, match="forbids"):
        play(Blind(), Script(first=(0, mask), actions=Discrete(3)), 1)


@pytest.mark.parametrize("rows", [2, 4])
@pytest.mark.parametrize("learn", [True, False])
def test_rows_are_as_many_as_the_actions_of_the_environment(rows, learn):
    agent = rlsvi(lambda s: np.eye(rows) * (1.0 + s), rng=1)
    with pytest.raises(ValueError, match="row"):
        play(agent, gymnasium.wrappers.TimeLimit(Script(actions=Discrete(3)), 9), 1, learn=learn)


def test_without_learning_the_agent_acts_greedily_and_stays_as_it_is():
    agent, env = Witness(), Script()
    assert play(agent, env, 2, learn=False).tolist() == [0.5, 0.5]
    assert (env.got, agent.plans, agent.saw, agent.told) == ([0, 0], 0, [], [])


def test_whatever_a_generator_draws_may_be_a_seed():
    rewards = play(
        rlsvi(features.OneHot(20, 16, 4), rng=1),
        gymnasium.make("FrozenLake-v1", max_episode_steps=20),
        2,
        seed=2**64 - 1,
    )
    assert len(rewards) == 2


def test_the_same_seed_gives_the_same_run_and_another_does_not():
    def run(seed):
        env = gymnasium.make("FrozenLake-v1", max_episode_steps=20)
        return play(rlsvi(features.OneHot(20, 16, 4), rng=1), env, 100, seed=seed)

    assert np.array_equal(run(3), run(3))
    assert not np.array_equal(run(3), run(4))


def test_a_run_goes_on_where_it_was_left():
    def lake():
        return gymnasium.make("FrozenLake-v1", max_episode_steps=15)

    agent, env = rlsvi(features.OneHot(15, 16, 4), rng=1), lake()
    for _ in islice(each_episode(agent, env, seed=2), 30):
        pass
    agent, env = pickle.loads(pickle.dumps((agent, env)))
    whole = rlsvi(features.OneHot(15, 16, 4), rng=1)
    assert np.array_equal(play(whole, lake(), 70, seed=2)[30:], play(agent, env, 40))


def test_a_bar_shows_progress_or_its_package_is_named(capsys, monkeypatch):
    assert play(Witness(), Script(), 3, progress=True).size == 3
    assert "3/3" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match="tqdm"):
        play(Witness(), Script(), 3, progress=True)


# --- how long an episode may last -----------------------------------------------------------------


def test_a_horizon_shorter_than_an_episode_is_refused():
    lake = gymnasium.make("FrozenLake-v1")
    with pytest.raises(ValueError, match="horizon"):
        play(rlsvi(features.OneHot(20, 16, 4)), lake, 1)
    with pytest.raises(ValueError, match="horizon"):  # also where nothing is registered
        play(Witness(), TimeLimit(Script(), 4), 1)


def test_somebody_must_end_an_episode():
    endless = Script([(1, 1.0, False, False, {})])
    with pytest.raises(ValueError, match="TimeLimit"):
        play(Witness(H=None), endless, 1)
    assert play(Witness(H=None), TimeLimit(endless, 7), 1) == 7
    assert play(Witness(H=5), endless, 1) == 5
    assert play(Witness(H=None, S=3), MDPEnv(chain(3)), 1) >= 0  # which lasts two steps
    with pytest.raises(ValueError, match="horizon"):
        play(Witness(S=5), MDPEnv(chain(5)), 1)


def test_an_episode_without_a_time_limit_that_is_cut_at_the_horizon_is_mentioned_once():
    endless = Script([(1, 1.0, False, False, {})])
    with pytest.warns(UserWarning, match="TimeLimit") as all:
        play(Witness(), endless, 4)
    assert len(all) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(Witness(), TimeLimit(endless, 3), 4)
        play(Witness(), Script(), 4)


def test_a_horizon_longer_than_an_episode_is_refused():
    """The state at which the clock stops would keep a value that nobody learns."""
    lake = gymnasium.make("FrozenLake-v1", max_episode_steps=5)
    with pytest.raises(ValueError, match="H=5"):
        play(rlsvi(features.OneHot(10, 16, 4)), lake, 1)
    with pytest.raises(ValueError, match="H=2"):
        play(Witness(S=5), TimeLimit(MDPEnv(chain(5)), 2), 1)
    assert play(Witness(H=7, S=5), MDPEnv(chain(5)), 1) >= 0  # it ends by itself after four


def test_an_environment_that_stops_its_own_clock_before_the_horizon_is_mentioned():
    env = Script([(1, 0.5, False, False, {}), (1, 0.5, False, True, {})])
    with pytest.warns(UserWarning, match="H=2") as all:
        play(Witness(), env, 3)
    assert len(all) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(Witness(H=2), env, 3)
        play(Witness(), Script([(1, 0.5, True, True, {})]), 3)


def test_a_goal_that_is_never_reached_is_mentioned():
    def endless(r):
        return TimeLimit(Script([(1, r, False, False, {})]), 3)

    def new():
        return rlsvi(features.one_hot(None, 2, 2), gamma=0.9, rng=1)

    with pytest.warns(UserWarning, match="goal"):
        play(agent := new(), endless(-1.0), 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(agent, endless(-1.0), 30)  # once
        play(new(), endless(-1.0), 5)  # too soon to tell
        play(new(), endless(1.0), 30)
        play(new(), TimeLimit(Script([(1, -1.0, True, False, {})]), 3), 30)


def test_the_same_seed_for_agent_and_environment_is_mentioned():
    agent, lake = (
        rlsvi(features.OneHot(5, 16, 4), rng=3),
        gymnasium.make("FrozenLake-v1", max_episode_steps=5),
    )
    with pytest.warns(UserWarning, match="seed"):
        play(agent, lake, 1, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(agent, lake, 1, seed=3)  # by now the agent has drawn
        play(rlsvi(features.OneHot(5, 16, 4), rng=3), lake, 1, seed=4)
        play(rlsvi(features.OneHot(5, 16, 4), rng=3), lake, 1)


# --- bad input ------------------------------------------------------------------------------------


class NoSeed(Script):
    def reset(self):
        return 0, {}


ONE = np.zeros(1, np.float32)


@pytest.mark.parametrize(
    ("env", "S", "keyword"),
    [
        (Script(actions=Box(-1, 1, (1,))), 2, "action"),
        (Script(actions=Discrete(3)), 2, "action"),
        (Script(space=Discrete(7)), 2, "states"),
        (Script(space=MultiDiscrete([2, 2])), 2, "states"),
        (Script(space=MultiBinary(3)), 2, "states"),
        (Script(space=MultiBinary(20_000)), 2, "states"),
        (Script(space=Box(0, 1, (2,))), 2, "states"),
        (Script(space=Dict(x=Discrete(2))), 2, "states"),
        (Script(space=Tuple([Discrete(2)])), 2, "states"),
        (NoSeed(), 2, "seed"),
        ("Chain", 2, "gymnasium"),
    ],
)
def test_an_environment_that_does_not_fit_is_refused_before_it_starts(env, S, keyword):
    agent = Witness(S=S)
    with pytest.raises(ValueError, match=keyword):
        each_episode(agent, env)
    assert agent.plans == 0


@pytest.mark.parametrize(
    ("env", "S", "keyword"),
    [
        (Script(first=(2, {})), 2, "space"),
        (Script(first=(0.5, {})), 2, "space"),
        (Script(first=(np.array([2, 0]), {}), space=MultiDiscrete([2, 1])), 2, "space"),
        (Script(first=(ONE + 2, {}), space=Box(0, 1, (1,))), None, "space"),
        (Script(first=(ONE * np.nan, {}), space=Box(0, 1, (1,))), None, "space"),
        (Script(first=(np.zeros(2), {}), space=Box(0, 1, (1,))), None, "space"),
        (Script(first=(3, {})), None, "space"),
        (Script([(5, 0.5, False, False, {})]), 2, "space"),
        (Script([(1, np.nan, False, False, {})]), 2, "reward"),
        (Script([(1, 0.5, True, {})]), 2, "terminated"),
        (TimeLimit(Script([(1, 0.5, True, {})]), 3), 2, "terminated"),
        (Script(first=0), 2, "reset"),
        (Script(first=(0, {"action_mask": np.zeros(2, np.int8)})), 2, "action_mask"),
        (Script(first=(0, {"action_mask": np.ones(3, np.int8)})), 2, "action_mask"),
        (Script(first=(0, {"action_mask": [1.0, np.nan]})), 2, "action_mask"),
        (Script(first=([0.3, 0.9], {}), space=Box(0, 1, (2,), np.int64)), None, "space"),
        (Script(first=([300], {}), space=Box(0, 255, (1,), np.uint8)), None, "space"),
        (Script(first=(["1"], {}), space=Box(0, 255, (1,))), None, "space"),
        (Script(first=(np.ma.array([1.0], mask=[1]), {}), space=Box(0, 9, (1,))), None, "space"),
        (Script([(1, "0.5", False, False, {})]), 2, "reward"),
        (Script([(1, np.ones(1), False, False, {})]), 2, "reward"),
        (Script([(1, None, False, False, {})]), 2, "reward"),
        (Script([(1, 0.5, False, False, None)]), 2, "info"),
        (Script([None]), 2, "step"),
        (Script([(1, 0.5, False, False, {"action_mask": np.zeros(2)})]), 2, "action_mask"),
    ],
)
def test_what_an_environment_gives_is_checked_before_the_agent_sees_it(env, S, keyword):
    agent = Witness(S=S)
    with pytest.raises(ValueError, match=keyword):
        play(agent, env, 1)
    assert agent.told == []


# --- our environments for somebody's agent --------------------------------------------------------


OURS = {
    "Chain": {"N": 5},
    "DeepSea": {"N": 4, "rng": 1},
    "RiverSwim": {},
    "Recommender": {},
    "Tetris": {"width": 6, "height": 8},
}


@pytest.mark.parametrize("name", OURS)
def test_ours_are_proper_gymnasium_environments(name):
    env = gymnasium.make(f"rlsvi_core/{name}-v0", **OURS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    again = gymnasium.make(pickle.loads(pickle.dumps(env.spec)))
    assert again.observation_space == env.observation_space


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("Chain", ".#..."),
        ("DeepSea", "....\n.#..\n....\n....\n...."),
        ("RiverSwim", "#....."),
        ("Recommender", ".........#\n.........."),
        ("Tetris", None),
    ],
)
def test_ours_are_drawn_as_text_and_as_a_picture(name, seen):
    frames = {}
    for mode in ("ansi", "rgb_array", None):
        env = gymnasium.make(f"rlsvi_core/{name}-v0", render_mode=mode, **OURS[name])
        for seed in range(100):  # until the action did what it is to do
            _, info = env.reset(seed=seed)
            env.step({"Chain": 1, "DeepSea": 1, "Recommender": 9}.get(name, 0))
            if mode is None or seen is None or seed == frames.get("seed"):
                break
            if mode == "ansi" and env.render() == seen:
                frames["seed"] = seed
                break
        frames[mode] = None if mode is None else env.render()
    assert seen in (None, frames["ansi"])
    rows = frames["ansi"].split("\n")
    assert frames["rgb_array"].shape == (8 * len(rows), 8 * len(rows[0]), 3)
    dark = frames["rgb_array"][::8, ::8].sum(axis=2) < 400
    assert seen is None or dark.tolist() == [[square == "#" for square in row] for row in rows]


def test_gymnasium_makes_ours_without_an_import():
    code = (
        "import gymnasium\nname = 'rlsvi_core.envs.gym:rlsvi_core/Chain-v0'\n"
        "print(gymnasium.make(name, N=50).unwrapped.inner)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert "FiniteMDP" in ran.stdout


def test_tetris_is_played_on_the_usual_board():
    assert TetrisEnv().observation_space.nvec.tolist() == [2] * 200 + [7]


def test_a_step_outside_an_episode_or_action_space_is_refused():
    for env in (MDPEnv(chain(3)), RecommenderEnv(Recommender(np.zeros((2, 2)), 1)), TetrisEnv()):
        with pytest.raises(ValueError, match="reset"):
            env.step(0)
        env.reset(seed=0)
        with pytest.raises(ValueError, match="99"):
            env.step(99)


def test_the_diver_of_the_registered_sea_knows_her_row():
    env = gymnasium.make("rlsvi_core/DeepSea-v0", N=3)
    seen = [env.reset(seed=0)[0].tolist()] + [env.step(a)[0].tolist() for a in (1, 0, 1)]
    assert seen == [[0, 0], [1, 1], [2, 0], [3, 1]]


def test_recommending_through_the_bridge_equals_learning_directly():
    customers = Recommender.random(rng=1, N=4, J=2)
    bridged, direct = (rlsvi(Products(4, 2), rng=2) for _ in range(2))
    rewards = play(bridged, RecommenderEnv(customers), 50, seed=3)
    env_rng, _ = gymnasium.utils.seeding.np_random(3)
    assert np.array_equal(rewards, direct.learn(customers, 50, env_rng).reward)


def test_a_product_shown_twice_ends_the_visit():
    env = RecommenderEnv(Recommender.random(rng=1, N=4, J=3))
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [1, 1, 1, 1]
    x, _, over, _, info = env.step(2)
    assert (info["action_mask"].tolist(), over) == ([1, 1, 0, 1], False)
    same, *rest, _ = env.step(2)
    assert (same.tolist(), rest) == (x.tolist(), [0.0, True, False])


def test_a_game_through_gymnasium_is_the_same_game():
    env, game, W = TetrisEnv(6, 10), Tetris(6, 10), 6
    (observed, info), rng = env.reset(seed=4), np.random.default_rng(0)
    game.start(gymnasium.utils.seeding.np_random(4)[0])
    over = cleared = 0
    while not over:
        squares = [row >> c & 1 for row in game.rows[:10].tolist() for c in range(W)]
        assert observed.tolist() == [*squares, game.piece]
        first = game.model.first[game.piece]
        actions = [(o - first) * W + c for o, c, _ in game.spots.tolist()]
        assert np.flatnonzero(info["action_mask"]).tolist() == sorted(actions)
        i = int(rng.integers(game.n))
        observed, r, over, _, info = env.step(actions[i])
        assert (r, over) == (game.drop(i), game.over)
        cleared += r
    assert cleared == game.score


def test_a_placement_that_is_not_possible_ends_the_game():
    env = TetrisEnv(pieces="O")
    env.reset(seed=0)
    board, *rest, _ = env.step(10)  # a square has no second orientation
    assert (board[:-1].any(), rest) == (False, [0.0, True, False])


def test_tetris_is_drawn_as_text_and_as_a_picture():
    frames = []
    for mode in ("ansi", "rgb_array", None):
        env = TetrisEnv(5, 7, pieces="I", render_mode=mode)
        env.reset(seed=0)
        env.step(1)  # lying, in the columns 1 to 4
        frames.append(env.render())
    text, picture, nothing = frames
    assert text == "\n".join(["....."] * 6 + [".####"])
    assert (picture.shape, picture.dtype) == ((56, 40, 3), np.uint8)
    dark = picture.sum(axis=2) < 400
    assert (dark[-8:, 8:].all(), dark.sum()) == (True, 4 * 64)
    assert nothing is None
    with pytest.raises(ValueError, match="render_mode"):
        TetrisEnv(render_mode="human")


@pytest.mark.parametrize(
    "space",
    [
        Dict({"where": Box(0.0, 1.0, (2,)), "key": Discrete(2)}),
        Tuple([Discrete(3, start=1), MultiBinary(2)]),
        MultiBinary(4),
    ],
    ids=["Dict", "Tuple", "MultiBinary"],
)
def test_gymnasium_makes_one_vector_of_an_observation_with_parts(space):
    """The recipe of the tutorial."""
    space.seed(1)
    phi = features.PerAction(lambda s: flatten(space, s), 2, d=flatdim(space))
    steps = [(space.sample(), 1.0, False, False, {}), (space.sample(), 1.0, True, False, {})]
    env = gymnasium.wrappers.TimeLimit(Script(steps, (space.sample(), {}), space), 5)
    agent = rlsvi(phi, value_range=(0, 2), gamma=0.9, rng=1)
    assert play(agent, env, 3).tolist() == [2.0] * 3
    assert agent.transitions == 6


# --- the pieces of Tetris -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turns", "seen"), [*enumerate(["..#/###", "#./#./##", "###/#..", "##/.#/.#"])]
)
def test_a_piece_is_turned_clockwise(turns, seen):
    env = TetrisEnv(4, 5, "L", render_mode="ansi")
    env.reset(seed=1)
    env.step(4 * turns)
    rows = [row.ljust(4, ".") for row in seen.split("/")]
    assert env.render().splitlines()[-len(rows) :] == rows


# --- the sea and the river ------------------------------------------------------------------------


@pytest.mark.parametrize("rng", [None, 3])
@pytest.mark.parametrize("N", [1, 2, 5, 12])
def test_the_sea_pays_99_cents_to_those_who_always_go_right(N, rng):
    mdp = deep_sea(N, rng)
    assert (mdp.H, mdp.S, mdp.A, mdp.model.successor.shape[3]) == (N, N, 2, 1)
    assert mdp.value == pytest.approx(0.99, rel=1e-12)
    uniform = mdp.evaluate(np.full((N, N, 2), 0.5))[0, 0]  # half the moves are right
    assert uniform == pytest.approx(2.0**-N - 0.005, rel=1e-9)
    right = mdp.Q.argmax(axis=2)[range(N), range(N)]  # on the diagonal it is optimal
    assert set(right) == {1} if rng is None else N < 12 or set(right) == {0, 1}


@pytest.mark.parametrize("rng", [None, 3])
def test_in_every_cell_of_the_sea_the_move_to_the_right_is_the_one_that_costs(rng):
    mdp = deep_sea(5, rng)
    for h, s in np.ndindex(5, 5):
        left, right = mdp.P[h, s].argmax(axis=1).argsort()
        assert mdp.P[h, s, right, min(s + 1, 4)] == mdp.P[h, s, left, max(s - 1, 0)] == 1
        assert mdp.R[h, s, left].tolist() == [0] * 5
        assert mdp.R[h, s, right] == pytest.approx([(h == s == 4) - 0.002] * 5)


def test_the_river_has_its_published_numbers():
    mdp = river_swim()
    left, right = mdp.P[0].transpose(1, 0, 2)
    assert np.array_equal(left, np.eye(6)[[0, 0, 1, 2, 3, 4]])
    assert right[0].tolist() == [0.4, 0.6, 0, 0, 0, 0]
    assert right[2].tolist() == [0, 0.05, 0.6, 0.35, 0, 0]
    assert right[5].tolist() == [0, 0, 0, 0, 0.4, 0.6]
    assert river_swim(2, 2).value == pytest.approx(0.6 * 1 + 0.4 * 0.005)
