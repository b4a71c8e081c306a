"""The MDP in the tables of a Gymnasium environment."""

from types import SimpleNamespace

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")


from gymnasium import wrappers  # noqa: E402

from rlsvi_core import Agent, Learner  # noqa: E402
from rlsvi_core.runtime.gym_adapter import finite_mdp  # noqa: E402

TABLES = [("FrozenLake-v1", {}), ("Taxi-v4", {}), ("CliffWalking-v1", {"is_slippery": True})]


@pytest.mark.parametrize(("name", "options"), TABLES)
def test_an_environments_table_has_the_values_of_plain_value_iteration(name, options):
    env = gymnasium.make(name, **options)
    mdp = finite_mdp(env, H=30)
    table, start = env.unwrapped.P, env.unwrapped.initial_state_distrib
    V = dict.fromkeys(table, 0.0)
    for _ in range(30):
        V = {
            s: max(
                sum(p * (r + V[s_next] * (not over)) for p, s_next, r, over in rows)
                for rows in table[s].values()
            )
            for s in table
        }
    assert (mdp.S, mdp.A) == (env.observation_space.n, env.action_space.n)
    met = np.flatnonzero(mdp.occupancy(np.full((30, mdp.S, mdp.A), 1 / mdp.A))[:-1].sum(axis=0))
    gone = {s for s in met.tolist() if not mdp.R[0, s].any() and mdp.P[0, s, :, s].all()}
    assert [mdp.V[0, s] for s in met if s not in gone] == pytest.approx(
        [V[s] for s in met.tolist() if s not in gone], rel=1e-12, abs=1e-12
    )
    assert mdp.optimal_value == pytest.approx(sum(p * V[s] for s, p in enumerate(start)), rel=1e-12)


class Follows(Learner):
    """Acts by the optimal values."""

    def __init__(self, mdp):
        self.H, self.S, self.A, self.Q = mdp.H, mdp.S, mdp.A, mdp.Q

    def fit(self, rng, before):
        return self.Q

    def values(self, fitted, h, s):
        return np.eye(self.A)[fitted[h, s].argmax()]


class Recorded(gymnasium.Wrapper):
    """Remembers where episodes began."""

    def __init__(self, env):
        super().__init__(env)
        self.starts = []

    def reset(self, **options):
        s, info = super().reset(**options)
        self.starts.append(int(s))
        return s, info


@pytest.mark.parametrize("name", ["CliffWalking-v1", "Taxi-v4"])
def test_the_optimal_policy_earns_its_value_where_nothing_is_random(name):
    env = gymnasium.make(name, max_episode_steps=40)
    learner = Follows(finite_mdp(env))
    assert learner.H == 40
    recorded = Recorded(env)
    rewards = Agent(learner).evaluate(recorded, 50, rng=1)
    assert rewards == pytest.approx(learner.Q.max(axis=2)[0, recorded.starts])


def with_table(P, **rest):
    env = SimpleNamespace(**{"P": P, "initial_state_distrib": [1.0, 0.0], "spec": None} | rest)
    env.unwrapped = env
    return env


def test_a_state_that_ends_an_episode_only_sometimes_gets_a_state_after_it():
    """Stop at once for 1, or go on: 0 now and, with probability ½, 4 in state 1."""
    table = {
        0: {
            0: [(1.0, 0, 1.0, True)],
            1: [(0.5, 0, 0.0, True), (0.25, 1, 1.0, False), (0.25, 1, 3.0, False)],
        },
        1: {0: [(1.0, 1, 4.0, True)], 1: [(1.0, 0, 0.0, False)]},
    }
    mdp = finite_mdp(with_table(table), H=2)
    lists = [[*actions.values()] for actions in table.values()]
    assert np.array_equal(finite_mdp(with_table(lists), H=2).Q, mdp.Q)
    assert (mdp.S, mdp.R[0, 0, 1].tolist()) == (3, [0.0, 2.0, 0.0])
    assert mdp.Q[0, 0].tolist() == [1.0, 0.5 * (2 + 4)]
    assert mdp.V[0, 2] == 0


STAY = [(1.0, 0, 0.0, False)]


@pytest.mark.parametrize(
    ("P", "rest", "keyword"),
    [
        ([[STAY], [[(0.5, 0, 0.0, False)]]], {}, "sum"),
        ([[STAY], [[(1.0, 2, 0.0, False)]]], {}, "s'"),
        ([[STAY], [[(1.0, 0, np.nan, False)]]], {}, "R must"),
        ([[STAY], [STAY]], {"initial_state_distrib": [1.0]}, "initial"),
    ],
)
def test_a_table_that_is_not_as_gymnasium_has_it_is_refused(P, rest, keyword):
    with pytest.raises((ValueError, IndexError), match=keyword):
        finite_mdp(with_table(P, **rest), H=2)


@pytest.mark.parametrize(
    "changed",
    [
        lambda env: wrappers.TransformReward(env, lambda r: 10 * r),
        lambda env: wrappers.TransformAction(env, lambda a: 3 - a, env.action_space),
        lambda env: wrappers.TimeLimit(wrappers.DelayObservation(env, 1), 20),
    ],
)
def test_a_wrapper_that_changes_the_game_is_refused(changed):
    env = gymnasium.make("FrozenLake-v1")
    with pytest.raises(ValueError, match="wrapper"):
        finite_mdp(changed(env), 20)
    assert (
        finite_mdp(wrappers.RecordEpisodeStatistics(env), 20).optimal_value
        == finite_mdp(env, 20).optimal_value
    )


def test_an_environment_without_a_table_or_a_time_limit_is_refused():
    with pytest.raises(ValueError, match="initial_state_distrib"):
        finite_mdp(gymnasium.make("CartPole-v1"))
    with pytest.raises(ValueError, match="H"):
        finite_mdp(gymnasium.make("CliffWalking-v1"))
