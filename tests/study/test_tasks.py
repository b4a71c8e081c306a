"""Other people's tasks: what a run returns, what is counted as solved, and what is drawn."""

import sys

import numpy as np
import pandas as pd
import pytest

from rlsvi_core import rlsvi, suggest_parameters
from rlsvi_core.envs.chains import deep_sea
from rlsvi_core.features import OneHot
from rlsvi_study import engine
from rlsvi_study.intervals import student
from rlsvi_study.tasks import figures, runs
from rlsvi_study.tasks.ensemble import Ensemble
from rlsvi_study.tasks.redraw import Vote
from rlsvi_study.tasks.runs import (
    CONTROL,
    EXPERIMENTS,
    SCHEDULES,
    STARTS,
    circling,
    control,
    diving,
    gains,
    outcomes,
    solved,
    tabular,
)

SMALL = {"episodes": 4, "every": 2}


def _by_hand():
    """Two runs on MountainCar: one solves it in the last 100 episodes, one reaches nothing."""
    return pd.DataFrame(
        [
            {
                "task": "MountainCar",
                "agent": "rlsvi",
                "seed": seed,
                "episode": n,
                "reward": reward,
                "first_goal": first,
                "greedy": greedy,
            }
            for seed, rewards, first, last in (
                (0, (-200, -150, -120, -100), 15, -99),
                (1, (-200,) * 4, np.nan, -200),
            )
            for n, reward, greedy in zip(
                (50, 100, 150, 200), rewards, (np.nan,) * 3 + (last,), strict=True
            )
        ]
    )


def test_a_run_is_solved_by_the_mean_of_its_last_episodes():
    one, other = outcomes(_by_hand()).itertuples()
    assert (one.last, one.first_goal, one.greedy, one.solved) == (-110, 15, -99, True)
    assert (other.last, other.greedy, other.solved) == (-200, -200, False)
    assert np.isnan(other.first_goal)
    cell = solved(_by_hand(), ["task", "agent"]).loc["MountainCar", "rlsvi"]
    assert (cell.runs, cell.solved, cell.reached, cell.first_goal, cell["last"]) == (
        2,
        1,
        1,
        15,
        -155,
    )


def test_tables_with_and_without_a_schedule_stand_beside_each_other():
    both = pd.concat([_by_hand(), _by_hand().assign(agent="boltzmann", start=0.1)])
    assert solved(both, ["agent"]).solved.to_dict() == {"rlsvi": 1, "boltzmann": 1}


@pytest.mark.parametrize("reward", [-140, -130.5])
def test_a_mean_below_the_threshold_is_no_solution(reward):
    table = _by_hand().assign(reward=reward)
    assert not outcomes(table).solved.any()


@pytest.mark.parametrize("agent", ["rlsvi", "epsilon-greedy", "boltzmann"])
def test_a_run_of_control_repeats_itself_and_has_every_column(agent):
    pytest.importorskip("gymnasium")
    run = [
        control("CartPole", agent, 7, **SMALL, whole=4, start=0.1, half_life=5.0) for _ in range(2)
    ]
    assert run[0] == run[1]
    assert [row["episode"] for row in run[0]] == [2, 4]
    assert all(set(row) == {"episode", "reward", "first_goal", "greedy"} for row in run[0])
    assert [row["greedy"] is None for row in run[0]] == [True, False]
    assert control("CartPole", agent, 8, **SMALL, whole=4, start=0.1) != run[0]


def test_the_goal_of_a_corridor_is_counted_when_it_is_reached():
    """By uniform actions in a corridor of two cells: the first success is the first reward."""
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    from rlsvi_study.tasks.environments import Corridor, make

    check_env(Corridor(5))
    env = make("corridor", N=4)
    env.reset(seed=0)
    assert [env.step(a)[1:4] for a in (0, 1, 1, 1)] == [(0.0, False, False)] * 3 + [
        (1.0, True, True)
    ]
    sparse = make("MountainCar-v0", sparse=True)
    sparse.reset(seed=0)
    assert sparse.step(2)[1] == 0.0
    with pytest.raises(gymnasium.error.Error):
        make("no such task")
    rows = control("corridor 20", "epsilon-greedy", 3, **SMALL | {"episodes": 60}, start=0.0)
    paid = [row["episode"] for row in rows if row["reward"]]
    first = rows[-1]["first_goal"]
    assert (first is None) == (not paid)


def test_the_rule_and_an_option_reach_the_agent(monkeypatch):
    pytest.importorskip("gymnasium")
    made = []

    def watched(phi, **options):
        made.append((phi, rlsvi(phi, **options)))
        return made[-1][1]

    monkeypatch.setattr(runs, "rlsvi", watched)
    for option in ("as proposed", "window 5000", "random Fourier"):
        control("Acrobot", "rlsvi", 0, episodes=1, every=1, option=option)
    (phi, usual), (_, short), (other, many) = made
    assert (usual.lam, usual.sigma) == (short.lam, short.sigma) == suggest_parameters((-100, 0))
    chosen = usual.choices
    assert (chosen.window, chosen.gamma, chosen.clip) == (None, 0.99, (-100, 0))
    assert (chosen.sweeps, chosen.reading.draws, short.choices.window) == (20, "per episode", 5000)
    assert (many.lam, many.sigma) == (usual.lam, usual.sigma)
    assert phi.compact(0, np.zeros(6)).shape == (1, 84)  # all monomials of six up to the cubes
    assert other.compact(0, np.zeros(6)).shape == (1, 200)
    fast = np.array([1.0, 0.0, 1.0, 0.0, 5.0, 9.0])
    assert (phi(0, 2 * fast) == phi(0, fast)).all()  # clipped to the box
    control("CartPole", "rlsvi", 0, episodes=1, every=1)
    waves, pole = made[-1]
    assert (pole.lam, pole.sigma) == suggest_parameters((0, 200))
    assert pole.choices.gamma == 0.995
    assert waves.compact(0, np.zeros(4)).shape == (1, 81)


def test_a_table_of_gymnasium_is_learned_to_its_optimum():
    """CliffWalking without chance: after 3000 episodes the posterior mean's policy is optimal (in
    all of 20 seeds in the stored table)."""
    pytest.importorskip("gymnasium")
    rows = tabular("CliffWalking", "rlsvi", 3000, 0, rows=20)
    assert [row["episode"] for row in rows] == [*range(150, 3001, 150)]
    assert rows[0]["greedy"] < rows[-1]["greedy"] == rows[-1]["best"] == -13


@pytest.mark.parametrize("agent", ["rlsvi", "coherent", "ensemble"])
def test_deep_exploration_finds_the_bottom_and_dithering_does_not(agent):
    (row,) = diving(agent, 10, 1, 500)
    assert 1 <= row["first_goal"] <= row["tenth_goal"] <= 500
    assert diving(agent, 10, 1, 500) == [row]
    assert diving("epsilon-greedy", 10, 1, 500) == [{"first_goal": None, "tenth_goal": None}]


def test_a_member_is_a_ridge_regression_on_noisy_targets():
    mdp, lam, sigma = deep_sea(3, rng=1), 4.0, 0.5
    agent = Ensemble(OneHot(3, 3, 2), lam, sigma, M=1, rng=2)
    zeta = agent.noise[0] / (lam * sigma**2)
    agent.learn(mdp, 30, rng=3)
    agent.plan()
    n, total = agent.seen.n[2], agent.seen.total[2]
    noise = agent.noise[0] - lam * sigma**2 * zeta
    assert ((noise != 0) == (agent.seen.n > 0)).all()
    assert agent.Q[2] == pytest.approx(
        (total + noise[2] + lam * sigma**2 * zeta[2]) / (n + lam * sigma**2)
    )
    assert np.std(noise[agent.seen.n > 0] / np.sqrt(agent.seen.n[agent.seen.n > 0])) < 3 * sigma


class Script:
    """An agent that counts its plans; its actions are those of the sample whose turn it is."""

    S, A, H, plans = 3, 2, None, 0
    theta = np.zeros(1)

    def plan(self):
        self.plans += 1
        self.theta = np.array([self.plans % 3 == 0])  # every third sample prefers action 1

    def act(self, h, s, legal=None):
        return int(self.theta[0])


def test_a_vote_is_won_by_most_samples_and_leaves_the_agent_alone():
    agent = Script()
    assert Vote(agent, 9, np.random.default_rng(1)).greedy(0, 0) == 0
    assert agent.plans == 0
    tied = Vote(agent, 3, np.random.default_rng(1))
    tied.samples = [np.zeros(1), np.ones(1)]
    assert {tied.greedy(0, 0) for _ in range(20)} == {0, 1}


def test_a_walk_in_a_circle_ends_where_a_sample_is_drawn_again():
    """Taxi with a small σ: nothing happens by chance, and the same sample leads nowhere."""
    pytest.importorskip("gymnasium")
    (fixed,), (again,) = (
        circling("Taxi, σ = V/1000", when, 1000, 0.2) for when in ("never", "at a repeat")
    )
    assert fixed["first_goal"] is None
    assert fixed["reward"] == fixed["last"] == -200
    assert 1 <= again["first_goal"] <= 12
    assert again["reward"] > -200
    assert all(-200 <= again[of] <= 7.93 for of in ("mean", "vote"))  # the optimum


def test_gains_are_paired_by_seed():
    table = pd.DataFrame(
        {
            "task": "Taxi",
            "again": ["never", "at a repeat"] * 3,
            "seed": [0, 0, 1, 1, 2, 2],
            "reward": [0.0, 1.0, 10.0, 12.0, -5.0, -2.0],
        }
    )
    found = gains(table).loc["Taxi", "at a repeat"]
    assert found["mean"] == pytest.approx(2)
    assert found.high - found["mean"] == pytest.approx(4.302653 / 3**0.5)  # t of 2 degrees, s = 1


def test_comparison_and_tuning_share_no_seed_and_every_task_has_a_schedule():
    tuning = set(EXPERIMENTS["tasks-tuning"].scales["paper"].seeds)
    for name in ("tasks-control", "tasks-epsilon", "tasks-boltzmann", "tasks-rule"):
        assert tuning.isdisjoint(EXPERIMENTS[name].scales["paper"].seeds)
    tuned = {cell["task"] for cell in EXPERIMENTS["tasks-tuning"].scales["paper"].grid}
    assert tuned == {task for task in CONTROL if CONTROL[task].value_range != (0, 1)}
    assert {task for task, _ in SCHEDULES} == set(CONTROL)
    assert all(start in STARTS[agent] for (_, agent), start in SCHEDULES.items())


def test_each_schedule_is_the_best_of_the_tuning_table():
    """Where reward is sparse, the larger was taken."""
    table = engine.load(EXPERIMENTS["tasks-tuning"])
    late = table[table.episode > 80].groupby(["task", "agent", "start"]).reward.mean()
    for (task, agent), start in SCHEDULES.items():
        scores = late[task, agent] if task in late else pd.Series({s: 0.0 for s in STARTS[agent]})
        assert start == max(scores.index, key=lambda s: (scores[s], s)), (task, agent)


def test_the_share_of_the_optimum():
    table = pd.DataFrame({"best": [-13.0, -13.0, 0.5], "greedy": [-13.65, -200.0, 0.4]})
    assert figures.share(table).tolist() == pytest.approx([0.95, 0.0, 0.8])


def test_without_gymnasium_a_run_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.delitem(sys.modules, "rlsvi_study.tasks.environments", raising=False)
    with pytest.raises(ModuleNotFoundError, match="gym"):
        tabular("CliffWalking", "rlsvi", 20, 0, rows=1)


def test_the_stored_sparse_tasks_are_solved_by_rlsvi_and_never_reached_by_dithering():
    sparse = [task for task in CONTROL if CONTROL[task].value_range == (0, 1)]
    found = {
        name: solved(engine.load(EXPERIMENTS[name]), ["task"]).loc[sparse]
        for name in ("tasks-control", "tasks-epsilon", "tasks-boltzmann")
    }
    assert (found["tasks-control"].solved >= 18).all()
    assert all((one.runs == 20).all() for one in found.values())
    assert not found["tasks-epsilon"].reached.any()
    assert not found["tasks-boltzmann"].reached.any()


def test_what_the_stored_table_says_of_drawing_again():
    """The default is what helps: at a repeat, for tables. No vote beats the posterior mean."""
    table = engine.load(EXPERIMENTS["tasks-redraw"])
    assert (table.groupby(["task", "again"]).size() == 20).all()
    by = gains(table).swaplevel()
    assert (by.loc["at a repeat"].low > 0).all()
    assert (by.loc["after 1/(1−γ) steps"].loc[["MountainCar", "Acrobot"]].low > 0).all()
    assert (by.loc["after 1/(1−γ) steps"].high >= 0).all()
    for _, cell in table.groupby(["task", "again"]):
        assert student(cell.vote - cell["mean"])[0] <= 0
