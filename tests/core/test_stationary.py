"""Algorithms 7 and 8: two forms that agree, a posterior that agrees with a third, and bad input."""

import itertools
import math
import re

import numpy as np
import pytest

from rlsvi_core import GaussianPosterior, lsvi, rlsvi
from rlsvi_core.agents import VerbatimAgent
from rlsvi_core.envs.tetris import Tetris
from rlsvi_study.tetris import ring as rings
from rlsvi_study.tetris.ring import PRINTED, Placements, RingAgent

FORMS = (VerbatimAgent, RingAgent)


def made(make, game, reading="value", **choices):
    printed = {**PRINTED, "window": 2000}
    if make is rlsvi:
        printed |= {"sigma": 1.0, "draws": "per sweep", "first_episode": "prior"}
    return make(Placements(game, reading), **printed | choices)


def pair(make, board=(6, 7, "IJLOSTZ"), **choices):
    return [made(make, Tetris(*board), rng=3, form=form, **choices) for form in FORMS]


def play_and_compare(agents, games, board=(6, 7, "IJLOSTZ")):
    rngs = [np.random.default_rng(4) for _ in agents]
    for _ in range(games):
        verbatim, fast = (
            agent.learn(Tetris(*board), 1, rng) for agent, rng in zip(agents, rngs, strict=True)
        )
        assert (verbatim.reward, verbatim.length, verbatim.opening) == (
            fast.reward,
            fast.length,
            fast.opening,
        )
        assert agents[1].theta == pytest.approx(agents[0].theta[0], rel=1e-6, abs=1e-6)
        assert agents[1].mean == pytest.approx(agents[0].mean[0], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("reading", "targets", "variance"),
    list(itertools.product(rings.READINGS, ("sample", "mean"), ("known", "unknown"))),
)
def test_rlsvi_verbatim_and_fast_play_the_same_games(reading, targets, variance):
    # A window of 60 is passed in a few games: old transitions are let go along the way.
    play_and_compare(
        pair(
            rlsvi,
            reading=reading,
            targets=targets,
            variance=variance,
            window=60,
            lam=2.0,
            sigma=0.5,
        ),
        games=20,
    )


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"epsilon": 0.3},
        {"epsilon": 0.5, "half_life": 3.0},
        {"eta": 0.7},
        {"sweeps": 3, "reading": "reward"},
    ],
)
def test_lsvi_verbatim_and_fast_play_the_same_games(choices):
    play_and_compare(pair(lsvi, window=90, **choices), games=15)


@pytest.mark.parametrize("rule", ["fits", "overflow"])
def test_the_forms_agree_where_games_end_otherwise(rule):
    board = (10, 4, "SZ", rule)
    play_and_compare(pair(rlsvi, board=board, window=40, sweeps=2), games=15, board=board)


def test_the_ring_keeps_the_last_transitions_and_their_exact_squares():
    agents = pair(lsvi, window=37)
    play_and_compare(agents, 12)
    verbatim, fast = agents
    ring, oldest = fast.ring, fast.ring.at[0]
    assert ring.at[1] == len(verbatim.data[0]) == 37
    for i, (phi, r, following) in enumerate(verbatim.data[0]):
        j, next_place = (oldest + i) % 37, (oldest + i + 1) % 37
        assert (ring.X[j, :, ring.a[j]] == phi).all()
        assert ring.X[j, -1, ring.a[j]] == r
        assert ring.ended[j] == (len(following) == 0)
        if len(following) and i < 36:
            assert (ring.X[next_place, :, : ring.n[next_place]].T == following).all()
    rows = np.array([phi for phi, _, _ in verbatim.data[0]])
    assert (np.tril(ring.AA) == np.tril(rows.T @ rows)).all()


def test_the_buffer_of_the_paper_takes_78_megabytes():
    game = Tetris()
    ring = rlsvi(Placements(game), **PRINTED).ring
    assert ring.X.dtype == np.uint8
    assert ring.X.nbytes == 100_000 * 23 * 34
    boards = 100_000 * math.ceil(20 * 10 / 8)
    assert boards == 2_500_000  # what the boards alone would take


def test_driving_an_agent_by_hand_is_the_same_as_letting_it_learn():
    one, other = (made(lsvi, Tetris(6, 7), epsilon=0.2, half_life=4, rng=1) for _ in range(2))
    game, rng, scores = Tetris(6, 7), np.random.default_rng(2), []
    for _ in range(6):
        one.plan()
        s, h, over = game.start(rng), 0, False
        while not over:
            a = one.act(h, s)
            r, s_next, over = game.step(h, s, a, rng)
            one.observe(h, s, a, r, None if over else s_next)
            s, h = s_next, h + 1
        scores.append(game.score)
    assert scores == other.learn(Tetris(6, 7), 6, 2).reward.tolist()
    assert (one.theta == other.theta).all()
    assert one.dither == other.dither == 0.2 * 2 ** (-5 / 4)


def observed(agent, X, actions, ended):
    """Feed tables of placements, each the next state of the one before unless that ended."""
    for i, (table, a, over) in enumerate(zip(X, actions, ended, strict=True)):
        agent.observe(i, table, a, table[a, -1], None if over else X[i + 1])


def fitted(agent, before, z, gamma_draw=None):
    """Mean and sample of a fit with given weights in the targets and given draws."""

    class Given(np.random.Generator):
        def standard_normal(self, K):
            return np.asarray(z)

        def standard_gamma(self, shape):
            return gamma_draw(shape)

    agent.rng = Given(np.random.PCG64())
    if isinstance(agent, VerbatimAgent):
        agent.theta[0] = agent.mean[0] = before
        agent.plan()
        return agent.mean[0, : agent.free], agent.theta[0, : agent.free]
    return agent._fit(before, *agent._noise())


@pytest.mark.parametrize("form", FORMS)
def test_the_posterior_is_the_one_of_section_4(form):
    """A and b written out by hand, rotated into a triangular factor row by row."""
    game = Tetris(4, 6, "OS")
    rng, K = np.random.default_rng(0), game.K
    agent = made(rlsvi, game, "reward", lam=0.7, sigma=1.3, gamma=0.9, form=form)
    X = rng.integers(0, 6, (4, 3, K + 1))
    observed(agent, X, [0, 1, 2, 0], [False, False, False, True])
    before, z = rng.standard_normal(K + 1), rng.standard_normal(K + 1)
    by_rows = GaussianPosterior(K + 1, lam=0.7, sigma=1.3)
    for i in range(4):
        bonus = 0.0 if i == 3 else 0.9 * (X[i + 1] @ before).max()
        by_rows.add_row(X[i, i % 3], X[i, i % 3, -1] + bonus)
    mean, sample = fitted(agent, before, z)
    assert mean == pytest.approx(by_rows.mean, rel=1e-6, abs=1e-8)
    # The law of the sample: its deviation from the mean squares to z'z in the posterior's metric.
    assert (sample - mean) @ by_rows.precision @ (sample - mean) == pytest.approx(z @ z, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_terminal_test_is_on_the_next_state(form):
    """Three transitions, the second ends a game: its target is its reward and nothing more."""
    game = Tetris(4, 6, "OS")
    agent = made(lsvi, game, "board", gamma=1.0, lam=1e-9, form=form)
    rows = np.eye(game.K + 1)[:3]
    rows[:, -1] = 1, 2, 3  # rewards
    observed(agent, rows[:, None], [0, 0, 0], [False, True, True])
    mean, _ = fitted(agent, np.append(10 * np.arange(1.0, game.K + 1), 0.0), np.zeros(game.K))
    assert mean[:3] == pytest.approx([1 + 20, 2, 3])  # the first bootstraps from the second


@pytest.mark.parametrize("form", FORMS)
def test_an_unknown_variance_is_drawn_from_its_inverse_gamma(form):
    game, rng = Tetris(4, 6, "OS"), np.random.default_rng(1)
    agent = made(rlsvi, game, "reward", lam=0.5, variance="unknown", form=form)
    A = rng.integers(0, 5, (30, game.K + 1))
    observed(agent, A[:, None], [0] * 30, [True] * 30)
    z, b = rng.standard_normal(game.K + 1), A[:, -1]
    M = A.T @ A + 0.5 * np.eye(game.K + 1)
    theta = np.linalg.solve(M, A.T @ b)
    mean, sample = fitted(agent, np.zeros(game.K + 1), z, lambda shape: 2 * shape)
    variance = (1 + (b @ b - theta @ M @ theta) / 2) / (2 * (1 + 30 / 2))
    assert mean == pytest.approx(theta, abs=1e-8)
    assert (sample - mean) @ M @ (sample - mean) == pytest.approx(variance * (z @ z), rel=1e-6)


def test_the_reading_is_the_weight_of_the_rows_cleared():
    for reading, weight in (("board", 0.0), ("value", 1.0)):
        agent = made(rlsvi, Tetris(6, 7), reading, rng=0)
        agent.learn(Tetris(6, 7), 5, 1)
        assert agent.theta[-1] == weight
    agent = made(rlsvi, Tetris(6, 7), "reward", rng=0)
    agent.learn(Tetris(6, 7), 5, 1)
    assert agent.theta[-1] not in (0.0, 1.0)


def test_before_any_data_rlsvi_samples_the_prior_and_lsvi_is_zero():
    agent = made(rlsvi, Tetris(), lam=4.0, rng=0)
    draws = []
    for _ in range(500):
        agent.plan()
        draws.append(agent.theta[:-1].copy())
    # 11 000 normal draws: the sample deviation is within 4% of 1/√λ at six standard errors.
    assert np.std(draws) == pytest.approx(0.5, rel=0.04)
    greedy = made(lsvi, Tetris(), rng=0)
    greedy.plan()
    assert not greedy.theta[:-1].any()


def test_both_learn_a_small_game():
    """7 × 10: a player that has learned nothing clears a row or two, a learner ten times that."""
    for make in (rlsvi, lsvi):
        scores = made(make, Tetris(7, 10), rng=0).learn(Tetris(7, 10), 150, 1).reward
        assert scores[-50:].mean() > 10


@pytest.mark.parametrize(
    ("make", "choices", "rule"),
    [
        (rlsvi, {"lam": 0.0}, "lam must be a finite number above 0; it is 0.0"),
        (rlsvi, {"sigma": -1.0}, "sigma must be a finite number above 0; it is -1.0"),
        (lsvi, {"lam": -2}, "lam must be a finite number above 0; it is -2"),
        (rlsvi, {"gamma": 1.5}, "gamma must be a finite number from 0 to 1; it is 1.5"),
        (lsvi, {"epsilon": -0.1}, "epsilon must be a finite number from 0 to 1; it is -0.1"),
        (lsvi, {"half_life": 0}, "half_life counts episodes and must be above 0; it is 0"),
        (rlsvi, {"window": 0}, "window must be a whole number of at least 1; it is 0"),
        (rlsvi, {"sweeps": 1.5}, "sweeps must be a whole number of at least 1; it is 1.5"),
        (rlsvi, {"reading": "after"}, "reading must be one of 'board', 'value', 'reward'"),
        (rlsvi, {"targets": "none"}, "targets must be one of 'sample', 'mean'"),
        (rlsvi, {"variance": "big"}, "variance must be one of 'known', 'unknown'"),
    ],
)
def test_impossible_choices_are_refused(make, choices, rule):
    with pytest.raises(ValueError, match=re.escape(rule)):
        made(make, Tetris(6, 7), **choices)


def test_a_game_without_end_is_stopped(monkeypatch):
    monkeypatch.setattr(rings, "LONGEST", 9)
    agent = made(lsvi, Tetris(6, 20, rule="clears"), rng=0)
    with pytest.raises(RuntimeError, match=re.escape("game 1 has lasted 9 placements")):
        agent.learn(Tetris(6, 20, rule="clears"), 2, rng=1)


def test_a_feature_table_of_the_wrong_width_is_refused():
    agent = made(lsvi, Tetris(6, 7))
    for X in (np.zeros((3, 14)), np.zeros((99, 15)), np.zeros((0, 15)), np.zeros(15)):
        with pytest.raises(ValueError, match=re.escape("K + 1 = 15 columns")):
            agent.act(0, X)
    with pytest.raises(ValueError, match="episodes must be a whole number"):
        agent.learn(Tetris(6, 7), -1)
    with pytest.raises(ValueError, match="the features are for"):
        agent.learn(Tetris(5, 7), 1)


@pytest.mark.parametrize(
    ("table", "a", "r", "rule"),
    [
        (np.full((2, 15), 0.5), 0, 0.5, "whole numbers from 0 to 255"),
        (np.full((2, 15), 300), 0, 300, "whole numbers from 0 to 255"),
        (np.full((2, 15), -1), 0, -1, "whole numbers from 0 to 255"),
        (np.ones((2, 15)), 2, 1, "a must be one of 0, …, 1; it is 2"),
        (np.ones((2, 15)), -1, 1, "a must be one of 0, …, 1; it is -1"),
        (np.ones((2, 15)), 0, 3, "the reward is the number of rows cleared"),
    ],
)
def test_what_the_ring_cannot_keep_is_refused_and_leaves_no_trace(table, a, r, rule):
    agent = made(lsvi, Tetris(6, 7))
    with pytest.raises((ValueError, IndexError), match=re.escape(rule)):
        agent.observe(0, table, a, r, None)
    assert agent.ring.at.tolist() == [0, 0]


def test_the_ring_takes_a_game_in_its_order_only():
    agent, one, two = made(lsvi, Tetris(6, 7)), np.ones((2, 15)), np.ones((3, 15))
    agent.observe(0, one, 0, 1, two)
    with pytest.raises(ValueError, match="the state that the last one led to; a state with 2"):
        agent.observe(1, one, 0, 1, None)
    with pytest.raises(ValueError, match="learn begins with a new game"):
        agent.learn(Tetris(6, 7), 1)
    agent.observe(1, two, 0, 1, None)
    agent.observe(0, one, 0, 1, None)
    assert agent.transitions == 3


def test_features_that_do_not_fit_the_rings_bytes_are_refused():
    with pytest.raises(ValueError, match="the features are for"):
        made(lsvi, Tetris(6, 7)).learn(Tetris(6, 60), 1)


@pytest.mark.parametrize("window", [3, 50])
def test_in_mid_game_the_ring_has_the_verbatim_weights(window):
    game, weights = Tetris(6, 20), []
    for form in (RingAgent, VerbatimAgent):
        agent = rlsvi(Placements(game), 1.0, 1.0, window=window, form=form, rng=1)
        s = game.start(rng=2)
        for h in range(6):
            r, s_next, _ = game.step(h, s, h, None)
            agent.observe(h, s, h, r, s_next)
            agent.plan()
            s = s_next
        weights.append(agent.theta.ravel())
    np.testing.assert_allclose(*weights, rtol=1e-6)
