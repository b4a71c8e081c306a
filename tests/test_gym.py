"""An environment of one's own, through Gymnasium."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from rlsvi_core import VerbatimAgent, chain, features, rlsvi  # noqa: E402
from rlsvi_core.envs.gym import MDPEnv, play  # noqa: E402


def test_an_mdp_is_a_proper_gymnasium_environment():
    check_env(MDPEnv(chain(5)), skip_render_check=True)


def test_playing_the_bridge_equals_learning_directly():
    mdp = chain(6)
    bridged = play(rlsvi(features.tabular(mdp), rng=1), MDPEnv(mdp), 200, seed=11)
    env_rng, _ = gymnasium.utils.seeding.np_random(11)
    direct = rlsvi(features.tabular(mdp), rng=1).learn(mdp, 200, env_rng)
    assert bridged.sum() > 10
    assert np.array_equal(bridged, direct.reward)


def _one_hot(H, S, A):
    return np.tile(np.eye(S * A).reshape(1, S, A, S * A), (H, 1, 1, 1))


def test_rlsvi_learns_an_environment_that_ends_early():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    rewards = play(rlsvi(_one_hot(20, 16, 4), rng=0), env, 600, seed=1)
    assert rewards[-50:].mean() > 0.9


def test_both_forms_agree_when_episodes_end_early():
    runs = [play(rlsvi(_one_hot(12, 16, 4), rng=0, form=form),
                 gymnasium.make("FrozenLake-v1", is_slippery=True), 60, seed=2)
            for form in (VerbatimAgent, type(rlsvi(_one_hot(1, 1, 1))))]
    assert np.array_equal(*runs)


class Stops(gymnasium.Env):
    """Goes from state 0 to state 1 and stops there, in one of the two ways to stop."""

    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, *how):
        self.how = how

    def reset(self, *, seed=None, options=None):
        return np.int64(0), {}

    def step(self, action):
        return np.int64(1), np.float64(0.5), *self.how, {}


class Witness:
    """Records what it is told."""

    H, S, A = 3, 2, 2

    def __init__(self):
        self.plans, self.told = 0, []

    def plan(self):
        self.plans += 1

    def act(self, h, s):
        return 1

    def observe(self, *transition):
        self.told.append(transition)


@pytest.mark.parametrize(("terminated", "truncated", "told"), [
    (True, False, [(0, 0, 1, 0.5, None)]),  # nothing of value follows
    (False, True, [(0, 0, 1, 0.5, 1)]),  # the clock ran out; state 1 keeps its value
    (True, True, [(0, 0, 1, 0.5, None)]),
    (False, False, [(0, 0, 1, 0.5, 1), (1, 1, 1, 0.5, 1), (2, 1, 1, 0.5, 1)]),
])
def test_truncated_is_not_terminated(terminated, truncated, told):
    agent = Witness()
    assert play(agent, Stops(terminated, truncated), 2).tolist() == [0.5 * len(told)] * 2
    assert (agent.plans, agent.told) == (2, told * 2)


def test_the_state_after_a_truncation_has_its_value_in_the_regression():
    """λ → 0: the estimate of period 0 is r + V_1(1) if truncated, r alone if terminated."""
    values = []
    for how in ((True, False), (False, True)):
        agent = rlsvi(_one_hot(2, 2, 2), 1e-9, 1e-3, rng=0)
        agent.plan()
        for a in (0, 1):
            agent.observe(1, 1, a, 3.0, None)  # so state 1 is worth 3 in period 1
        play(agent, Stops(*how), 20)
        agent.plan()
        values.append(agent.Q[0, 0].max())
    assert values == pytest.approx([0.5, 3.5], abs=0.01)


def test_a_step_outside_an_episode_or_action_space_is_refused():
    env = MDPEnv(chain(3))
    with pytest.raises(ValueError, match=r"Call reset\(\)"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="got 2 after 0 steps"):
        env.step(2)


def test_a_space_that_does_not_fit_the_basis_is_refused():
    with pytest.raises(ValueError, match=r"needs the observation space Discrete\(7\)"):
        play(rlsvi(_one_hot(4, 7, 2)), MDPEnv(chain(8)), 1)
    with pytest.raises(ValueError, match="Wrap the environment"):
        play(rlsvi(_one_hot(4, 8, 2)), gymnasium.make("CartPole-v1"), 1)
