"""Algorithms 7 and 8: two forms that agree, a posterior that agrees with a third, and bad input."""

import math

import numpy as np
import pytest

from rlsvi_core import GaussianPosterior, Reading, lsvi, rlsvi
from rlsvi_core.agents import VerbatimAgent
from rlsvi_core.envs.tetris import Tetris
from rlsvi_study.tetris import ring as rings
from rlsvi_study.tetris.ring import PRINTED, Placements, RingAgent

FORMS = (VerbatimAgent, RingAgent)


def made(make, game, reading="value", targets="sample", variance="known", **choices):
    printed = {**PRINTED, "window": 2000}
    if make is rlsvi:
        printed["sigma"] = 1.0
        printed["reading"] = Reading(
            draws="per sweep", first_episode="prior", targets=targets, variance=variance
        )
    return make(Placements(game, reading), **printed | choices)


def test_the_ring_keeps_the_last_transitions_and_their_exact_squares():
    verbatim, fast = (made(lsvi, Tetris(6, 7), rng=3, form=form, window=37) for form in FORMS)
    for agent in (verbatim, fast):
        agent.learn(Tetris(6, 7), 12, 4)
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
    agent.theta[...] = agent.mean[...] = before
    agent.plan()
    return agent.mean.ravel()[: len(z)], agent.theta.ravel()[: len(z)]


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
    ("make", "choices"),
    [
        (rlsvi, {"lam": 0.0}),
        (rlsvi, {"sigma": -1.0}),
        (lsvi, {"lam": -2}),
        (rlsvi, {"gamma": 1.5}),
        (lsvi, {"epsilon": -0.1}),
        (lsvi, {"half_life": 0}),
        (rlsvi, {"window": 0}),
        (rlsvi, {"sweeps": 1.5}),
        (rlsvi, {"reading": "after"}),
        (rlsvi, {"targets": "none"}),
        (rlsvi, {"variance": "big"}),
    ],
)
def test_impossible_choices_are_refused(make, choices):
    (name,) = choices
    with pytest.raises(ValueError, match=name):
        made(make, Tetris(6, 7), **choices)


def test_a_game_without_end_is_stopped(monkeypatch):
    monkeypatch.setattr(rings, "LONGEST", 9)
    agent = made(lsvi, Tetris(6, 20, rule="clears"), rng=0)
    with pytest.raises(RuntimeError, match="end"):
        agent.learn(Tetris(6, 20, rule="clears"), 2, rng=1)


def test_a_feature_table_of_the_wrong_width_is_refused():
    agent = made(lsvi, Tetris(6, 7))
    for X in (np.zeros((3, 14)), np.zeros((99, 15)), np.zeros((0, 15)), np.zeros(15)):
        with pytest.raises(ValueError, match="columns"):
            agent.act(0, X)
    with pytest.raises(ValueError, match="episodes"):
        agent.learn(Tetris(6, 7), -1)
    with pytest.raises(ValueError, match="features"):
        agent.learn(Tetris(5, 7), 1)


@pytest.mark.parametrize(
    ("table", "a", "r", "keyword"),
    [
        (np.full((2, 15), 0.5), 0, 0.5, "255"),
        (np.full((2, 15), 300), 0, 300, "255"),
        (np.full((2, 15), -1), 0, -1, "255"),
        (np.ones((2, 15)), 2, 1, "a"),
        (np.ones((2, 15)), -1, 1, "a"),
        (np.ones((2, 15)), 0, 3, "reward"),
    ],
)
def test_what_the_ring_cannot_keep_is_refused_and_leaves_no_trace(table, a, r, keyword):
    agent = made(lsvi, Tetris(6, 7))
    with pytest.raises((ValueError, IndexError), match=keyword):
        agent.observe(0, table, a, r, None)
    assert agent.ring.at.tolist() == [0, 0]


def test_the_ring_takes_a_game_in_its_order_only():
    agent, one, two = made(lsvi, Tetris(6, 7)), np.ones((2, 15)), np.ones((3, 15))
    agent.observe(0, one, 0, 1, two)
    with pytest.raises(ValueError, match="state"):
        agent.observe(1, one, 0, 1, None)
    with pytest.raises(ValueError, match="game"):
        agent.learn(Tetris(6, 7), 1)
    agent.observe(1, two, 0, 1, None)
    agent.observe(0, one, 0, 1, None)
    assert agent.transitions == 3


def test_features_that_do_not_fit_the_rings_bytes_are_refused():
    with pytest.raises(ValueError, match="features"):
        made(lsvi, Tetris(6, 7)).learn(Tetris(6, 60), 1)
