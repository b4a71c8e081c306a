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
