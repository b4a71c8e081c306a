"""Other people's tasks: what a run returns, what is counted as solved, and what is drawn."""

import sys

import numpy as np
import pandas as pd
import pytest

from rlsvi_core import Agent, Learner, rlsvi, suggest_parameters
from rlsvi_core.envs import deep_sea, river_swim
from rlsvi_core.features import OneHot
from rlsvi_study import engine
from rlsvi_study.judging.intervals import student
from rlsvi_study.tasks import figures, runs, sigma
from rlsvi_study.tasks.ensemble import Ensemble
from rlsvi_study.tasks.q_learning import QLearning
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
from rlsvi_study.worlds import inventory, key_and_door

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

    from rlsvi_study.environments import Corridor, make

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
        agent = rlsvi(phi, **options)
        made.append((phi, agent.learner.problem))
        return agent

    monkeypatch.setattr(runs, "rlsvi", watched)
    for option in ("as proposed", "window 5000", "random Fourier"):
        control("Acrobot", "rlsvi", 0, episodes=1, every=1, option=option)
    (phi, usual), (_, short), (other, many) = made
    assert (usual.lam, usual.sigma) == (short.lam, short.sigma) == suggest_parameters((-100, 0))
    assert (usual.gamma, usual.low, usual.high, usual.sweeps) == (0.99, -100, 0, 20)
    assert (usual.options.window, short.options.window) == (None, 5000)
    assert (many.lam, many.sigma) == (usual.lam, usual.sigma)
    assert phi.compact(0, np.zeros(6)).shape == (1, 84)  # all monomials of six up to the cubes
    assert other.compact(0, np.zeros(6)).shape == (1, 200)
    fast = np.array([1.0, 0.0, 1.0, 0.0, 5.0, 9.0])
    assert (phi(0, 2 * fast) == phi(0, fast)).all()  # clipped to the box
    control("CartPole", "rlsvi", 0, episodes=1, every=1)
    waves, pole = made[-1]
    assert (pole.lam, pole.sigma) == suggest_parameters((0, 200))
    assert pole.gamma == 0.995
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
    rng = np.random.default_rng(2)
    member = Ensemble(OneHot(3, 3, 2), lam, sigma, M=1, rng=rng)
    zeta, agent = member.noise[0] / (lam * sigma**2), Agent(member, rng=rng)
    agent.learn(mdp, 30, rng=3)
    agent.plan()
    visits, n, total = member.seen.n, member.seen.n[2], member.seen.total[2]
    noise = member.noise[0] - lam * sigma**2 * zeta
    assert ((noise != 0) == (visits > 0)).all()
    assert agent.Q[2] == pytest.approx(
        (total + noise[2] + lam * sigma**2 * zeta[2]) / (n + lam * sigma**2)
    )
    assert np.std(noise[visits > 0] / np.sqrt(visits[visits > 0])) < 3 * sigma
    assert agent.mean_values(2, 0) == pytest.approx(total[0] / (n[0] + lam * sigma**2))  # no noise


class Script(Learner):
    """Every third of its fits prefers action 1, the others action 0."""

    A, fits = 2, 0

    def fit(self, rng, before):
        self.fits += 1
        return np.array([0.5, self.fits % 3 == 0])

    def values(self, fitted, h, s):
        return fitted


def test_a_vote_is_won_by_most_samples_and_leaves_the_agent_alone():
    agent, rng = Agent(Script(), rng=0), np.random.default_rng(1)
    assert Vote(agent, 9, rng).greedy(0, 0) == 0
    assert agent.learner.fits == agent.count[0] == 0
    tied = Vote(agent, 3, rng)
    assert [sample.act(0, 0) for sample in tied.samples] == [0, 0, 1]
    del tied.samples[0]
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
    monkeypatch.delitem(sys.modules, "rlsvi_study.environments", raising=False)
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
    """The default is what helps on Taxi and harms nowhere. No vote beats the posterior mean."""
    table = engine.load(EXPERIMENTS["tasks-redraw"])
    assert (table.groupby(["task", "again"]).size() == 20).all()
    by = gains(table).swaplevel()
    assert (by.loc["at a repeat"].loc[["Taxi", "Taxi, σ = V/1000"]].low > 0).all()
    assert (by.loc["at a repeat"].high >= 0).all()
    assert (by.loc["after 1/(1−γ) steps"].loc[["MountainCar", "Acrobot"]].low > 0).all()
    assert (by.loc["after 1/(1−γ) steps"].high >= 0).all()
    for _, cell in table.groupby(["task", "again"]):
        assert student(cell.vote - cell["mean"])[0] <= 0


# --- how large σ should be ------------------------------------------------------------------------


def q_learning_by_the_book(mdp, T, ends, Q, alpha, gamma, epsilon, episodes, env_rng, agent_rng):
    """In plain Python, with the same draws; returns what was earned."""
    earned = np.zeros(episodes)
    for i in range(episodes):
        s, over, h = mdp.start(env_rng), False, 0
        while not over:
            t = h if T == mdp.H else 0
            p = epsilon / mdp.A + (1 - epsilon) * (Q[t, s] == Q[t, s].max()) / np.sum(
                Q[t, s] == Q[t, s].max()
            )
            a = int(np.searchsorted(p.cumsum(), agent_rng.random(), side="right"))
            r, s_next, over = mdp.step(h, s, a, env_rng)
            follows = not over if T == mdp.H else not ends[s_next]
            after = Q[h + 1 if T == mdp.H else 0, s_next].max() if follows else 0.0
            Q[t, s, a] += alpha * (r + gamma * after - Q[t, s, a])
            earned[i] += r
            over = over or (T == 1 and bool(ends[s_next]))
            s, h = s_next, h + 1
    return earned


@pytest.mark.parametrize("mdp", [river_swim(3, 5), key_and_door(2), inventory(3, 4)], ids=str)
@pytest.mark.parametrize(("periods", "gamma"), [(True, 1.0), (False, 0.9)])
def test_q_learning_is_the_textbooks(mdp, periods, gamma):
    T, ends = mdp.H if periods else 1, sigma.absorbing(mdp)
    learner = QLearning(mdp.H if periods else None, mdp.S, mdp.A, 0.3, gamma, 1.0)
    ours, book = learner.data(None, False).Q, np.ones((T, mdp.S, mdp.A))
    rngs = [[np.random.default_rng(i) for i in (1, 2)] for _ in range(2)]
    agent = Agent(learner, epsilon=0.2, rng=rngs[0][1])
    world = mdp if periods else sigma.Clocked(mdp)
    run = agent.learn(world, 50, rngs[0][0], exact=periods)
    earned = q_learning_by_the_book(mdp, T, ends, book, 0.3, gamma, 0.2, 49, *rngs[1])
    assert run.reward[:-1] == pytest.approx(earned)
    if periods:  # the last policy's value, exactly
        top = book == book.max(axis=2, keepdims=True)
        policy = 0.2 / mdp.A + 0.8 * top / top.sum(axis=2, keepdims=True)
        assert run.expected[-1] == pytest.approx(mdp.value - mdp.regret(policy))
    q_learning_by_the_book(mdp, T, ends, book, 0.3, gamma, 0.2, 1, *rngs[1])
    assert ours == pytest.approx(book)


def test_an_episode_is_over_where_nothing_more_can_happen():
    assert np.flatnonzero(sigma.absorbing(key_and_door(3))).tolist() == [18]
    assert not sigma.absorbing(inventory(3)).any()  # an empty shop may order
    pytest.importorskip("gymnasium")
    lake = sigma.PROBLEMS["FrozenLake, discounted"].make(np.random.default_rng(0))
    assert np.flatnonzero(sigma.absorbing(lake)).tolist() == [5, 7, 11, 12, 15]


def test_the_clock_cuts_and_the_door_ends_an_episode():
    grid, rng = sigma.Clocked(key_and_door(2, H=3)), np.random.default_rng(0)

    def walked(*actions):
        s, found = grid.start(rng), []
        for h, a in enumerate(actions):
            r, s, over = grid.step(h, s, a, rng)
            found.append((r, s, over))
        return found

    through = walked(1, 0, 3)  # down to the key, up, right to the door
    assert [(r, over) for r, _, over in through] == [(0, False), (0, False), (1, True)]
    assert [s for _, s, _ in through][:2] == [6, 4]
    assert walked(1, 0, 0)[-1] == (0, 4, "cut")


@pytest.mark.parametrize("problem", ["river swim", "inventory, discounted"])
def test_the_ranges_of_a_problem_are_what_they_are_called(problem):
    of = sigma.PROBLEMS[problem]
    mdp = of.make(np.random.default_rng(0))
    if of.gamma is None:
        assert of.values == pytest.approx((mdp.V.min(), mdp.V.max()), abs=0.5)
    length = mdp.H if of.gamma is None else 1 / (1 - of.gamma)
    possible = mdp.R[mdp.P > 0]
    assert of.returns == pytest.approx((length * possible.min(), length * possible.max()))


@pytest.mark.parametrize("agent", ["rlsvi", "epsilon-greedy", "q-learning"])
@pytest.mark.parametrize("problem", ["river swim", "key and door, discounted"])
def test_a_run_of_sigma_repeats_itself_and_its_beginning(problem, agent):
    arm = sigma.OFF | {"fraction": 200, "epsilon": 0.3 * (agent != "rlsvi"), "alpha": 0.3}
    whole, part, again = (sigma.learning(problem, agent, 5000, rows, **arm) for rows in (2, 1, 2))
    assert whole == again
    assert part == whole[:1]
    assert 0 < part[0]["regret"] <= whole[1]["regret"]


def _planted(noise):
    """Regret 10 at the best σ, V/200; ``noise`` is added for every second seed."""
    level = {1000: 14.0, 200: 10.0, 50: 15.0, 10: 16.0, 2: 40.0}
    arms = [
        *({"agent": "rlsvi", "fraction": f, "regret": level[f]} for f in level),
        {"agent": "rlsvi", "fraction": 50, "told": "returns", "regret": 30.0},
        *({"agent": "epsilon-greedy", "epsilon": e, "regret": 14 + e} for e in (0.1, 1.0)),
        {"agent": "q-learning", "alpha": 0.3, "regret": 15.0},
    ]
    return pd.DataFrame(
        [
            {"problem": "river swim", "seed": seed, "episode": n, **sigma.OFF, **arm}
            | {"regret": n / 2000 * (arm["regret"] + noise * (seed % 2 - 0.5) * (i % 2))}
            for i, arm in enumerate(arms)
            for seed in range(10)
            for n in (1000, 2000)
        ]
    )


def test_a_sigma_is_good_below_three_halves_of_the_best():
    words = sigma.judged(_planted(0.0)).loc["river swim"]
    assert words.word.tolist() == ["good", "good", "open", "bad", "bad"]
    assert words.times.tolist() == [1.4, 1, 1.5, 1.6, 4]
    assert sigma.judged(_planted(20.0)).word.tolist() == ["open", "good", "open", "open", "bad"]


def test_the_rule_is_compared_with_the_best_of_each_rival():
    words = sigma.compared(_planted(0.0)).loc["river swim"]
    assert words.word.to_dict() == {
        "returns": "better",
        "LSVI, ε-greedy": "worse",
        "Q-learning": "open",
    }
    assert words["mean"].tolist() == [30, 14.1, 15]


def test_what_the_stored_table_says_of_sigma():
    """The guide's advice: V/50, but a discount without chance wants less; a range of values."""
    table = engine.load(EXPERIMENTS["tasks-sigma"])
    assert (table.groupby(["problem", *sigma.OFF, "agent"]).seed.nunique() == 30).all()
    words = sigma.judged(table).word.unstack("arm")
    circling = "key and door, discounted"
    assert (words["V/50"].drop(circling) == "good").all()
    assert words.loc[circling].to_dict() == dict.fromkeys(("V/50", "V/10", "V/2"), "bad") | {
        "V/1000": "good",
        "V/200": "good",
    }
    assert words.loc["river swim", "V/10"] == "bad"
    assert (words["V/2"] == "bad").all()
    by = sigma.compared(table).word.unstack("arm")
    assert (by.returns.dropna() == "better").all()
    assert (by["Q-learning"] == "better").all()
    assert (by["LSVI, ε-greedy"] == "open").to_dict() == {
        problem: problem.startswith("inventory") for problem in by.index
    }
