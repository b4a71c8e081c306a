"""Algorithms 7 and 8 on Tetris: the ring agrees with the reference, and both with a third form."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from rlsvi_core.algorithms import posterior
from rlsvi_core.envs.tetris import Tetris
from rlsvi_core.learners.base import Weights
from rlsvi_core.regression import GaussianPosterior
from rlsvi_study.tetris import ring as rings
from rlsvi_study.tetris.experiments import halve_epsilon, make_agent
from rlsvi_study.tetris.ring import RingLearner, draw_sigma
from tests.core.reference import Reference

SMALL = Tetris(4, 6, "OS")


class Slow(Reference):
    """The reference, in the reading of a ring: the last weights may be known."""

    def __init__(self, ring):
        super().__init__(ring.problem)
        self.reading, self.free = ring.reading, ring.free

    def fit(self, rng, before):
        before = self.reading.initial_weights(self.K) if before is None else before
        if rng is None and not self.kept[0]:
            return before
        theta, mean, known = before.theta.copy(), before.mean.copy(), self.reading.fixed_weights
        lam, sigma = self.problem.lam, self.problem.sigma
        for _ in range(self.problem.n_sweeps(False)):
            A, b = self.regression_problem(0, self.reading.target_weights(theta, mean)[0])
            A, b = A[:, : self.free], b - A[:, self.free :] @ known  # what is known is moved over
            noise = self.reading.draw_noise(rng, self.free, len(b))
            center, U = posterior(A, b, lam, sigma)
            residual = ((b - A @ center) ** 2).sum() + lam * sigma**2 * (center**2).sum()
            scale = draw_sigma(sigma, residual, noise.g) / sigma
            mean[0] = np.append(center, known)
            theta[0] = np.append(center + scale * np.linalg.solve(U, noise.z), known)
        return Weights(theta, mean)


FORMS = (Slow, RingLearner)


def made(agent, game, rng=None, window=2000, form=RingLearner, **choices):
    player = make_agent(agent, game, rng, window=window, **choices)
    if form is Slow:
        player.learner = Slow(player.learner)
    return player


def by_steps(game):
    """The same game, which the compiled loop does not know."""
    return SimpleNamespace(start=game.start, step=game.step)


@pytest.mark.parametrize("agent", ["rlsvi", "lsvi"])
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"reading": "reward", "sweeps": 3},
        {"reading": "board", "targets": "mean", "sweeps": 2},
        {"variance": "unknown", "window": 60},
        {"lam": 0.3, "gamma": 0.5, "sweeps": 4, "reading": "reward"},
    ],
    ids=str,
)
def test_both_forms_have_the_same_weights_and_play_the_same_games(agent, choices):
    slow, fast = (made(agent, Tetris(6, 7), 3, form=form, **choices) for form in FORMS)
    for games in (1, 5, 6):
        found = [one.learn(Tetris(6, 7), games, games) for one in (slow, fast)]
        for column in ("reward", "length", "first_action"):
            assert (getattr(found[0], column) == getattr(found[1], column)).all()
        assert found[1].predicted_value == pytest.approx(
            found[0].predicted_value, rel=1e-6, abs=1e-8
        )
        for one, other in zip(slow.fitted, fast.fitted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)
    state = Tetris(6, 7).start(5)
    for look in ("values", "mean_values"):
        one, other = (getattr(player, look)(0, state) for player in (slow, fast))
        assert one.shape == other.shape == (len(state),)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def test_the_ring_keeps_the_last_transitions_and_their_exact_squares():
    slow, fast = (made("lsvi", Tetris(6, 7), 3, form=form, window=37) for form in FORMS)
    for agent in (slow, fast):
        agent.learn(Tetris(6, 7), 12, 4)
    kept, (data,) = fast.learner.buffer, slow.learner.kept
    oldest = kept.at[0]
    assert kept.at[1] == len(data) == 37
    for i, (phi, r, following) in enumerate(data):
        j, next_place = (oldest + i) % 37, (oldest + i + 1) % 37
        assert (kept.X[j, :, kept.a[j]] == phi).all()
        assert kept.X[j, -1, kept.a[j]] == r
        assert kept.ended[j] == (len(following) == 0)
        if len(following) and i < 36:
            assert (kept.X[next_place, :, : kept.n[next_place]].T == following).all()
    rows = np.array([phi for phi, _, _ in data])
    assert (np.tril(kept.AA) == np.tril(rows.T @ rows)).all()


def test_the_buffer_of_the_paper_takes_78_megabytes():
    buffer = make_agent("rlsvi", Tetris(), 0).learner.buffer
    assert buffer.X.dtype == np.uint8
    assert buffer.X[:-1].nbytes == 100_000 * 23 * 34
    boards = 100_000 * math.ceil(20 * 10 / 8)
    assert boards == 2_500_000  # what the boards alone would take


@pytest.mark.parametrize("agent", ["rlsvi", "lsvi"])
def test_a_game_step_by_step_is_the_compiled_one(agent):
    steps, compiled = (made(agent, Tetris(6, 7), 1, schedule="ε = 0.1") for _ in range(2))
    game, rngs = Tetris(6, 7), [np.random.default_rng(2) for _ in range(2)]
    for _ in range(6):
        runs = steps.learn(by_steps(game), 1, rngs[0]), compiled.learn(Tetris(6, 7), 1, rngs[1])
        for one, other in zip(*runs, strict=True):
            np.testing.assert_array_equal(one, other)
        assert (steps.theta == compiled.theta).all()
        assert (steps.count == compiled.count).all()
    for one, other in zip(steps.learner.buffer, compiled.learner.buffer, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_fit_in_mid_game_looks_at_the_state_that_was_reached():
    slow, fast = (made("lsvi", Tetris(6, 14), 3, form=form, window=5) for form in FORMS)
    for agent in (slow, fast):
        game = Tetris(6, 14)
        s = game.start(1)
        for h in range(8):
            a = int(s[:, -3].argmin())  # fewest holes
            r, s_next, over = game.step(h, s, a, game.rng)
            assert not over
            agent.observe(h, s, a, r, s_next)
            agent.plan()
            s = s_next
    np.testing.assert_allclose(fast.theta, slow.theta, rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="order"):
        fast.learn(Tetris(6, 14), 1, 1)  # a new game while this one is under way


def test_a_schedule_halves_epsilon():
    agent = made("lsvi", Tetris(6, 7), schedule="ε = 0.1, halved every 10 games")
    assert [agent.epsilon(game) for game in (0, 10, 20)] == [0.1, 0.05, 0.025]
    assert halve_epsilon(1.0, 4.0, 5) == 2 ** (-5 / 4)


def fitted(agent, X, actions, ended, before, rng=None):
    """Mean and sample of a fit to tables of placements, each the next state of the one before unless
    that ended, with given weights in the targets."""
    X = np.asarray(X).astype(np.uint8)
    for i, (table, a, over) in enumerate(zip(X, actions, ended, strict=True)):
        agent.learner.add(i, table, a, float(table[a, -1]), None if over else X[i + 1])
    theta, mean = agent.learner.fit(rng, Weights(before[None], before[None]))
    return mean[0], theta[0]


@pytest.mark.parametrize("form", FORMS)
def test_the_posterior_is_the_one_of_section_4(form):
    """A and b written out by hand, rotated into a triangular factor row by row."""
    rng, K = np.random.default_rng(0), SMALL.K
    choices = {"lam": 0.7, "sigma": 1.3, "gamma": 0.9}
    agent = made("rlsvi", SMALL, reading="reward", form=form, **choices)
    X, before = rng.integers(0, 6, (4, 3, K + 1)), rng.standard_normal(K + 1)
    by_rows = GaussianPosterior(K + 1, lam=0.7, sigma=1.3)
    for i in range(4):
        bonus = 0.0 if i == 3 else 0.9 * (X[i + 1] @ before).max()
        by_rows.add_row(X[i, i % 3], X[i, i % 3, -1] + bonus)
    ended = [False, False, False, True]
    mean, sample = fitted(agent, X, [0, 1, 2, 0], ended, before, np.random.default_rng(7))
    z = np.random.default_rng(7).standard_normal(K + 1)
    assert mean == pytest.approx(by_rows.mean, rel=1e-6, abs=1e-8)
    # The law of the sample: its deviation from the mean squares to z'z in the posterior's metric.
    assert (sample - mean) @ by_rows.precision @ (sample - mean) == pytest.approx(z @ z, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_terminal_test_is_on_the_next_state(form):
    """Three transitions, the second ends a game: its target is its reward and nothing more."""
    agent = made("lsvi", SMALL, reading="board", gamma=1.0, lam=1e-9, form=form)
    rows = np.eye(SMALL.K + 1)[:3]
    rows[:, -1] = 1, 2, 3  # rewards
    before = np.append(10 * np.arange(1.0, SMALL.K + 1), 0.0)
    mean, _ = fitted(agent, rows[:, None], [0, 0, 0], [False, True, True], before)
    assert mean[:3] == pytest.approx([1 + 20, 2, 3])  # the first bootstraps from the second


@pytest.mark.parametrize("form", FORMS)
def test_an_unknown_variance_is_drawn_from_its_inverse_gamma(form):
    rng, K = np.random.default_rng(1), SMALL.K + 1
    agent = made("rlsvi", SMALL, reading="reward", lam=0.5, variance="unknown", form=form)
    A = rng.integers(0, 5, (30, K))
    b, M = A[:, -1], A.T @ A + 0.5 * np.eye(K)
    theta = np.linalg.solve(M, A.T @ b)
    given = A[:, None], [0] * 30, [True] * 30, np.zeros(K)
    mean, sample = fitted(agent, *given, np.random.default_rng(7))
    drawn = np.random.default_rng(7)
    z, g = drawn.standard_normal(K), drawn.standard_gamma(1 + 30 / 2)
    variance = (1 + (b @ b - theta @ M @ theta) / 2) / g
    assert mean == pytest.approx(theta, abs=1e-8)
    assert (sample - mean) @ M @ (sample - mean) == pytest.approx(variance * (z @ z), rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
def test_the_reading_is_the_weight_of_the_rows_cleared(form):
    for reading, weight in (("board", 0.0), ("value", 1.0)):
        for agent in ("rlsvi", "lsvi"):
            player = made(agent, Tetris(6, 7), 0, reading=reading, form=form)
            for _ in range(3):  # before any data, too
                player.learn(Tetris(6, 7), 1, 1)
                assert player.theta[0, -1] == weight
    player = made("rlsvi", Tetris(6, 7), 0, reading="reward", form=form)
    player.learn(Tetris(6, 7), 5, 1)
    assert player.theta[0, -1] not in (0.0, 1.0)


def test_before_any_data_rlsvi_samples_the_prior_and_lsvi_is_zero():
    agent = made("rlsvi", Tetris(), 0, lam=4.0)
    draws = []
    for _ in range(500):
        agent.plan()
        draws.append(agent.theta[0, :-1])
    # 11 000 normal draws: the sample deviation is within 4% of 1/√λ at six standard errors.
    assert np.std(draws) == pytest.approx(0.5, rel=0.04)
    greedy = made("lsvi", Tetris(), 0)
    greedy.plan()
    assert not greedy.theta[0, :-1].any()


def test_both_learn_a_small_game():
    """7 × 10: a player that has learned nothing clears a row or two, a learner ten times that."""
    for agent in ("rlsvi", "lsvi"):
        scores = made(agent, Tetris(7, 10), 0).learn(Tetris(7, 10), 150, 1).reward
        assert scores[-50:].mean() > 10


def test_a_game_without_end_is_stopped(monkeypatch):
    monkeypatch.setattr(rings, "MAX_GAME_LENGTH", 9)
    agent = made("lsvi", Tetris(6, 20, rule="clears"), 0)
    with pytest.raises(RuntimeError, match="end"):
        agent.learn(Tetris(6, 20, rule="clears"), 2, rng=1)
