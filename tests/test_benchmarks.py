"""The benchmarks run, and compare like with like."""

import numpy as np
import pytest

from benchmarks import recommender, tetris
from benchmarks.__main__ import Followers, NumpyStatistics, PlainAlgorithm, flops, main, play
from rlsvi_core import chain, features, rlsvi
from rlsvi_core.envs import Tetris
from rlsvi_core.envs.recommender import Recommender


def test_every_table_is_printed_to_its_end(capsys):
    main(["--size", "0.001"])
    assert capsys.readouterr().out.split()[-4] == "100"  # the long run's last row


def test_the_book_is_measured_once_it_is_made():
    pytest.importorskip("playwright")
    from benchmarks import site

    with pytest.raises(SystemExit, match="make book"):
        site.main(["--pages", "no page has this name"])


def test_the_three_forms_plan_the_same_values_from_the_same_draws():
    mdp = chain(12)
    Phi = features.coherent(mdp.Q, 5, 1)
    forms = (
        rlsvi(Phi, rng=2),
        NumpyStatistics(Phi, 1.0, 0.1, np.random.default_rng(2)),
        PlainAlgorithm(Phi, 1.0, 0.1, np.random.default_rng(2)),
    )
    play(mdp, forms, 60, np.random.default_rng(3))
    values = []
    for agent in forms:
        agent.rng.bit_generator.state = np.random.default_rng(9).bit_generator.state
        agent.plan()
        values.append(np.stack([P @ t for P, t in zip(Phi, agent.theta, strict=True)]))
    scale = np.abs(values[0]).max()
    assert np.abs(values[1] - values[0]).max() < 1e-6 * scale
    assert np.abs(values[2] - values[0]).max() < 1e-6 * scale


def test_the_flop_count_matches_a_hand_count():
    followers = Followers(2)
    for h, s_next in ((0, 4), (1, 3), (0, 4)):  # one state has followed period 0
        followers.observe(h, 0, 0, 0.0, s_next)
    look_ups, solves, rotations, rest = 12 + 6, 2 * 18, 2 * (18 + 18), 2 * (6 + 9 + 12)
    counted = flops(rlsvi(np.ones((2, 5, 2, 3))), followers)
    assert counted == look_ups + solves + rotations + rest


def test_three_forms_of_the_recommendation_engine_plan_the_same_weights():
    forms = recommender.three_forms(6, 4)
    recommender.serve(Recommender.random(2.0, 1, N=6, J=4), forms, 60, np.random.default_rng(3))
    for agent in forms:
        agent.rng.bit_generator.state = np.random.default_rng(9).bit_generator.state
        agent.plan()
    fast, smart, dense = (agent.theta for agent in forms)
    dense = dense.reshape(4, 6, 7).transpose(0, 2, 1)  # product by product
    assert np.abs(smart - fast).max() < 1e-8 * np.abs(fast).max()
    assert np.abs(dense - fast).max() < 1e-8 * np.abs(fast).max()


def test_both_forms_of_tetris_evaluate_the_same_placements():
    game = Tetris(10, 8)
    states = tetris.boards(game, 12)
    assert tetris.evaluate(game.model, states, *game.placement_buffers()) == tetris.plain_evaluate(
        game, states
    )


def test_a_step_is_timed_on_the_steps_that_were_played(capsys):
    pytest.importorskip("gymnasium")
    from benchmarks import tasks

    tasks.main(["--size", "0.006"])
    lines = capsys.readouterr().out.splitlines()
    line = lines[3].removeprefix(next(iter(tasks.TASKS))).split()
    episodes, steps, alone, play, plan = map(float, line[:5])
    assert episodes == 3 <= steps <= 300
    assert 0 < plan < play
    assert alone > 0
    counts, rows = (line.split() for line in lines[-2:])
    assert [counts[0], rows[0]] == ["CountLearner", "RowLearner"]
    assert float(counts[3]) < 1 < 10 < float(rows[3])  # megabytes


def test_the_environment_alone_is_asked_for_the_same_steps():
    gymnasium = pytest.importorskip("gymnasium")
    from benchmarks import tasks

    world = tasks.Recorded(gymnasium.make("FrozenLake-v1"))
    agent = rlsvi(features.one_hot(100, 16, 4), rng=2)
    steps, asked = agent.learn(world, 4, 1).length.sum(), world.asked
    assert [len(asked), asked.count(None)] == [steps + 4, 4]
    again = tasks.Recorded(world.env)
    tasks.ask_again(again, asked)
    assert again.asked == asked
