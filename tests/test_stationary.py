"""Algorithms 7 and 8: two forms that agree, a posterior that agrees with a third, and bad input."""

import itertools
import math
import re

import numpy as np
import pytest

from rlsvi_core import GaussianPosterior
from rlsvi_core.agents import stationary
from rlsvi_core.agents.stationary import FastStationary, VerbatimStationary
from rlsvi_core.envs.tetris import Tetris

FORMS = (VerbatimStationary, FastStationary)


def pair(make, board=(6, 7, "IJLOSTZ"), **choices):
    return [make(Tetris(*board), rng=3, form=form, **choices) for form in FORMS]


def play_and_compare(agents, games):
    rngs = [np.random.default_rng(4) for _ in agents]
    for _ in range(games):
        verbatim, fast = (agent.learn(1, rng) for agent, rng in zip(agents, rngs, strict=True))
        assert verbatim.score == fast.score
        assert verbatim.length == fast.length
        assert agents[1].theta == pytest.approx(agents[0].theta, rel=1e-6, abs=1e-6)
        assert agents[1].mean == pytest.approx(agents[0].mean, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("reading", "targets", "variance"), list(itertools.product(
    stationary.READINGS, ("sample", "mean"), ("known", "unknown"))))
def test_rlsvi_verbatim_and_fast_play_the_same_games(reading, targets, variance):
    # N = 60 is passed in a few games: old transitions are let go along the way.
    play_and_compare(pair(stationary.rlsvi, reading=reading, targets=targets, variance=variance,
                          N=60, lam=2.0, sigma=0.5), games=20)


@pytest.mark.parametrize("choices", [{}, {"epsilon": 0.3}, {"epsilon": 0.5, "half_life": 3.0},
                                     {"eta": 0.7}, {"sweeps": 3, "reading": "reward"}])
def test_lsvi_verbatim_and_fast_play_the_same_games(choices):
    play_and_compare(pair(stationary.lsvi, N=90, **choices), games=15)


@pytest.mark.parametrize("rule", ["fits", "overflow"])
def test_the_forms_agree_where_games_end_otherwise(rule):
    play_and_compare(pair(stationary.rlsvi, board=(10, 4, "SZ", rule), N=40, sweeps=2), games=15)


def test_the_ring_keeps_the_last_transitions_and_their_exact_squares():
    agents = pair(stationary.lsvi, N=37)
    play_and_compare(agents, 12)
    verbatim, fast = agents
    ring, oldest = fast.ring, fast.ring.at[0]
    assert ring.at[1] == len(verbatim.data) == 37
    rows = []
    for i, (X, a, ended) in enumerate(verbatim.data):
        j = (oldest + i) % 37
        assert (ring.n[j], ring.a[j], ring.ended[j]) == (len(X), a, ended)
        assert (ring.X[j, :, :len(X)].T == X).all()
        rows.append(X[a])
    assert (np.tril(ring.AA) == np.tril(np.transpose(rows) @ np.array(rows))).all()


def test_the_buffer_of_the_paper_takes_78_megabytes():
    game = Tetris()
    ring = stationary.rlsvi(game).ring
    assert ring.X.dtype == np.uint8
    assert ring.X.nbytes == 100_000 * 23 * 34
    boards = 100_000 * math.ceil(20 * 10 / 8)
    assert boards == 2_500_000  # what the boards alone would take


def driven(agent, games, rng):
    """The driver's loop, as the docstring describes it."""
    rng, game = np.random.default_rng(rng), agent.game
    scores = []
    for _ in range(games):
        agent.plan()
        game.start(rng)
        while not game.over:
            X = np.column_stack([game.features, game.rewards])
            a = agent.act(X)
            game.step(a)
            agent.observe(X, a, game.over)
        scores.append(game.score)
    return scores


def test_driving_an_agent_by_hand_is_the_same_as_letting_it_learn():
    one, other = (stationary.lsvi(Tetris(6, 7), epsilon=0.2, half_life=4, rng=1) for _ in range(2))
    assert driven(one, 6, 2) == other.learn(6, 2).score.tolist()
    assert (one.theta == other.theta).all()
    assert one.epsilon == other.epsilon == 0.2 * 2 ** (-6 / 4)


@pytest.mark.parametrize("form", FORMS)
def test_the_posterior_is_the_one_of_section_4(form):
    """A and b written out by hand, rotated into a triangular factor row by row."""
    game = Tetris(4, 6, "OS")
    rng, K = np.random.default_rng(0), game.K
    agent = stationary.rlsvi(game, lam=0.7, sigma=1.3, gamma=0.9, reading="reward", form=form)
    X = rng.integers(0, 6, (4, 3, K + 1))
    for i in range(4):
        agent.observe(X[i].astype(np.uint8), i % 3, i == 3)
    before, z = rng.standard_normal(K + 1), rng.standard_normal(K + 1)
    by_rows = GaussianPosterior(K + 1, lam=0.7, sigma=1.3)
    for i in range(4):
        bonus = 0.0 if i == 3 else 0.9 * (X[i + 1] @ before).max()
        by_rows.add_row(X[i, i % 3], X[i, i % 3, -1] + bonus)
    mean, sample = agent._fit(before, z, None)
    assert mean == pytest.approx(by_rows.mean, rel=1e-6, abs=1e-8)
    # The law of the sample: its deviation from the mean squares to z'z in the posterior's metric.
    assert (sample - mean) @ by_rows.precision @ (sample - mean) == pytest.approx(z @ z, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_terminal_test_is_on_the_next_state(form):
    """Three transitions, the second ends a game: its target is its reward and nothing more."""
    game = Tetris(4, 6, "OS")
    agent = stationary.lsvi(game, reading="board", gamma=1.0, lam=1e-9, form=form)
    rows = np.eye(game.K + 1)[:3]
    rows[:, -1] = 1, 2, 3  # rewards
    for i, ended in enumerate((False, True, True)):
        agent.observe(rows[i:i + 1].astype(np.uint8), 0, ended)
    mean, _ = agent._fit(np.append(10 * np.arange(1.0, game.K + 1), 0.0), np.zeros(game.K), None)
    assert mean[:3] == pytest.approx([1 + 20, 2, 3])  # the first bootstraps from the second


@pytest.mark.parametrize("form", FORMS)
def test_an_unknown_variance_is_drawn_from_its_inverse_gamma(form):
    game, rng = Tetris(4, 6, "OS"), np.random.default_rng(1)
    agent = stationary.rlsvi(game, lam=0.5, reading="reward", variance="unknown", form=form)
    A = rng.integers(0, 5, (30, game.K + 1))
    for row in A:
        agent.observe(row[None].astype(np.uint8), 0, True)
    z, b = rng.standard_normal(game.K + 1), A[:, -1]
    M = A.T @ A + 0.5 * np.eye(game.K + 1)
    theta = np.linalg.solve(M, A.T @ b)
    mean, sample = agent._fit(agent.theta, z, lambda shape: 2 * shape)
    variance = (1 + (b @ b - theta @ M @ theta) / 2) / (2 * (1 + 30 / 2))
    assert mean == pytest.approx(theta, abs=1e-8)
    assert (sample - mean) @ M @ (sample - mean) == pytest.approx(variance * (z @ z), rel=1e-6)


def test_the_reading_is_the_weight_of_the_rows_cleared():
    for reading, weight in (("board", 0.0), ("value", 1.0)):
        agent = stationary.rlsvi(Tetris(6, 7), reading=reading, rng=0)
        agent.learn(5, 1)
        assert agent.theta[-1] == weight
    agent = stationary.rlsvi(Tetris(6, 7), reading="reward", rng=0)
    agent.learn(5, 1)
    assert agent.theta[-1] not in (0.0, 1.0)


def test_before_any_data_rlsvi_samples_the_prior_and_lsvi_is_zero():
    agent = stationary.rlsvi(Tetris(), lam=4.0, rng=0)
    draws = []
    for _ in range(500):
        agent.plan()
        draws.append(agent.theta[:-1].copy())
    # 11 000 normal draws: the sample deviation is within 4% of 1/√λ at six standard errors.
    assert np.std(draws) == pytest.approx(0.5, rel=0.04)
    greedy = stationary.lsvi(Tetris(), rng=0)
    greedy.plan()
    assert not greedy.theta[:-1].any()


def test_both_learn_a_small_game():
    """7 × 10: a player that has learned nothing clears a row or two, a learner ten times that."""
    for make in (stationary.rlsvi, stationary.lsvi):
        scores = make(Tetris(7, 10), rng=0).learn(150, 1).score
        assert scores[-50:].mean() > 10


@pytest.mark.parametrize(("make", "choices", "rule"), [
    (stationary.rlsvi, {"lam": 0.0}, "lam must be a finite number above 0; it is 0.0"),
    (stationary.rlsvi, {"sigma": -1.0}, "sigma must be a finite number above 0; it is -1.0"),
    (stationary.lsvi, {"lam": -2}, "lam must be a finite number above 0; it is -2"),
    (stationary.rlsvi, {"gamma": 1.5}, "gamma must lie between 0 and 1; it is 1.5"),
    (stationary.lsvi, {"epsilon": -0.1}, "epsilon must lie between 0 and 1; it is -0.1"),
    (stationary.lsvi, {"half_life": 0}, "half_life counts games and must be above 0; it is 0"),
    (stationary.rlsvi, {"N": 0}, "N must be a whole number of at least 1; it is 0"),
    (stationary.rlsvi, {"sweeps": 1.5}, "sweeps must be a whole number of at least 1; it is 1.5"),
    (stationary.rlsvi, {"reading": "after"}, "reading must be one of 'board', 'value', 'reward'"),
    (stationary.rlsvi, {"targets": "none"}, "targets must be one of 'sample', 'mean'"),
    (stationary.rlsvi, {"variance": "big"}, "variance must be one of 'known', 'unknown'"),
])
def test_impossible_choices_are_refused(make, choices, rule):
    with pytest.raises(ValueError, match=re.escape(rule)):
        make(Tetris(6, 7), **choices)


@pytest.mark.parametrize("form", FORMS)
def test_a_game_without_end_is_stopped(form, monkeypatch):
    monkeypatch.setattr(stationary, "LONGEST", 9)
    agent = stationary.lsvi(Tetris(6, 20, rule="clears"), form=form, rng=0)
    with pytest.raises(RuntimeError, match=re.escape("game 1 has lasted 9 placements")):
        agent.learn(2, rng=1)


def test_a_feature_table_of_the_wrong_width_is_refused():
    agent = stationary.lsvi(Tetris(6, 7))
    for X in (np.zeros((3, 14)), np.zeros((99, 15)), np.zeros((0, 15)), np.zeros(15)):
        with pytest.raises(ValueError, match=re.escape("K + 1 = 15 columns")):
            agent.act(X)
    with pytest.raises(ValueError, match="games must be a whole number"):
        agent.learn(-1)
