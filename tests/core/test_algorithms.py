"""The plain algorithms are textbook formulas, and the fast learners play as they do.

Whole trajectories: from the same generators every episode earns the same reward, and the last
weights are equal up to rounding. TOLERANCE is a share of the largest weight. The largest error that
was measured is 3e-10, in a coherent basis, whose columns have the norm HSA, where ``SumLearner``
keeps Aᵀb as a running sum. In other features it is 1e-13.
"""

import numpy as np
import pytest
from reference import Reference

from rlsvi_core import Agent, Options, chain, features, lsvi, rlsvi
from rlsvi_core import algorithms as plain
from rlsvi_core.envs.chains import lock
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.learners.appendix_f import ContinualLearner, incremental
from rlsvi_core.learners.base import RegressionProblem, Weights

TOLERANCE = 1e-8


def generators():
    """The agent's and the environment's, anew."""
    return np.random.default_rng(3), np.random.default_rng(4)


def error(found, expected):
    return np.abs(found - expected).max() / np.abs(expected).max()


def assert_same_play(fast, env, plainly, **limit):
    """The same rewards, of which there are some, and the same weights in the last episode."""
    reward, theta = plainly
    run = fast.learn(env, len(reward), generators()[1], **limit)
    np.testing.assert_allclose(run.reward, reward, rtol=1e-12, atol=1e-12)
    assert np.ptp(reward) > 0
    assert error(fast.theta.reshape(theta.shape), theta) < TOLERANCE


# ------------------------------------------------------------------ textbook formulas


@pytest.mark.parametrize(("lam", "sigma"), [(1.0, 0.1), (0.3, 2.0)])
def test_the_posterior_is_the_printed_one(lam, sigma):
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((7, 4)), rng.standard_normal(7)
    mean, U = plain.posterior(A, b, lam, sigma)
    covariance = np.linalg.inv(A.T @ A / sigma**2 + lam * np.eye(4))
    np.testing.assert_allclose(mean, covariance @ A.T @ b / sigma**2, rtol=1e-10)
    spread = np.linalg.inv(U)  # θ̃ − θ̄ = U⁻¹z has the covariance U⁻¹U⁻ᵀ
    np.testing.assert_allclose(spread @ spread.T, covariance, rtol=1e-10, atol=1e-14)
    assert np.array_equal(U, np.triu(U))
    assert (np.diag(U) > 0).all()


def test_two_periods_by_hand():
    """One state and two actions, λ = 1 and σ = 2: a weight that n rows tell of has the precision
    1 + n/4. The second action of the last period is worth most, so the first period sees it."""
    Phi = np.tile(np.eye(2).reshape(1, 1, 2, 2), (2, 1, 1, 1))
    s, a = np.zeros((3, 3), int), np.array([[0, 1], [0, 1], [1, 0]])
    r = np.array([[1.0, 40.0], [3.0, 60.0], [5.0, -8.0]])
    z = np.random.default_rng(5).standard_normal((2, 2))[::-1]  # the last period is drawn first
    n = np.array([[2, 1], [1, 2]])
    last = np.array([-8.0, 100.0]) / 4 / (1 + n[1] / 4) + z[1] / np.sqrt(1 + n[1] / 4)
    sums = np.array([1.0 + 3.0 + 2 * last.max(), 5.0 + last.max()])
    first = sums / 4 / (1 + n[0] / 4) + z[0] / np.sqrt(1 + n[0] / 4)
    theta = plain.algorithm_1(Phi, s, a, r, 1.0, 2.0, np.random.default_rng(5))
    np.testing.assert_allclose(theta, [first, last], rtol=1e-13)
    myopic = plain.algorithm_11(Phi, s, a, r, 1.0, 2.0, np.random.default_rng(5))
    first = np.array([4.0, 5.0]) / 4 / (1 + n[0] / 4) + z[0] / np.sqrt(1 + n[0] / 4)
    np.testing.assert_allclose(myopic, [first, last], rtol=1e-13)
    # LSVI: the ridge λ, and no noise
    last = np.array([-8.0, 100.0]) / (1 + n[1])
    first = np.array([4.0 + 2 * last.max(), 5.0 + last.max()]) / (1 + n[0])
    np.testing.assert_allclose(plain.algorithm_3(Phi, s, a, r, 1.0), [first, last], rtol=1e-13)


def test_the_basis_is_the_librarys():
    Q = chain(12).Q
    found = plain.algorithm_6(Q, 7, np.random.default_rng(1))
    np.testing.assert_allclose(found, features.coherent(Q, 7, 1), rtol=0, atol=1e-11 * Q.size)
    assert np.linalg.norm(found[..., 3]) == pytest.approx(Q.size, rel=1e-12)


# ------------------------------------------------------------------ whole trajectories


@pytest.mark.parametrize(("N", "K", "episodes"), [(10, 6, 200), (20, 10, 300), (8, None, 200)])
def test_algorithm_2(N, K, episodes):
    mdp = chain(N)
    Phi = features.coherent(mdp.Q, K, rng=1) if K else features.tabular(mdp)
    rng, env_rng = generators()
    found = plain.algorithm_2(mdp, Phi, 1.0, 0.1, episodes, rng, env_rng)
    assert_same_play(rlsvi(Phi, 1.0, 0.1, rng=generators()[0]), mdp, found)


def test_algorithm_2_by_counts(make_mdp):
    """One-hot features, of which the library keeps counts alone, and values in place of weights."""
    mdp = make_mdp(2, 3, 5, 2, noisy=True)
    rng, env_rng = generators()
    reward, theta = plain.algorithm_2(mdp, features.tabular(mdp), 0.7, 0.5, 150, rng, env_rng)
    fast = rlsvi(features.one_hot(3, 5, 2), 0.7, 0.5, rng=generators()[0])
    run = fast.learn(mdp, 150, generators()[1])
    assert np.array_equal(run.reward, reward)
    assert error(fast.Q.ravel(), theta.ravel()) < TOLERANCE


@pytest.mark.parametrize("dither", ["eta", "epsilon"])
def test_algorithms_4_and_5(dither, make_mdp):
    run = {"eta": plain.algorithm_4, "epsilon": plain.algorithm_5}[dither]
    for mdp in (chain(5), make_mdp(2, 4, 5, 3)):
        Phi = features.coherent(mdp.Q, 6, rng=1)
        found = run(mdp, Phi, 0.5, 0.2, 200, *generators())
        assert_same_play(lsvi(Phi, 0.5, **{dither: 0.2}, rng=generators()[0]), mdp, found)


class Corridor:
    """Five positions; it ends to the right of the last one, or by the clock in step 12."""

    def start(self, rng):
        return 0

    def step(self, h, s, a, rng):
        s = max(s + (1 if a and rng.random() < 0.8 else -1), 0)
        over = True if s == 5 else "cut" if h == 11 else False
        return float(s == 5) - 0.01 * a, s, over


def near(s):
    """Smooth features of the position, crossed with the actions."""
    bumps = np.exp(-((s - np.array([0.0, 2.0, 4.0])) ** 2) / 2)
    return np.kron(np.eye(2), bumps)


def test_algorithm_8():
    found = plain.algorithm_8(Corridor(), near, 6, 1.0, 0.3, 0.9, 60, *generators())
    fast = rlsvi(near, 1.0, 0.3, gamma=0.9, options=Options(sweeps=1), rng=generators()[0])
    assert_same_play(fast, Corridor(), found)


def test_algorithm_8_of_a_table(make_mdp):
    """A clock ends each episode, so the last state keeps its value."""
    mdp = make_mdp(2, 6, 5, 2)
    Phi = np.random.default_rng(1).uniform(-0.5, 0.5, (5, 2, 4))
    found = plain.algorithm_8(mdp, lambda s: Phi[s], 4, 1.0, 0.1, 0.9, 80, *generators())
    fast = rlsvi(Phi, 1.0, 0.1, gamma=0.9, options=Options(sweeps=1), rng=generators()[0])
    assert_same_play(fast, mdp, found)


def test_algorithm_12(make_mdp):
    mdp = make_mdp(2, 4, 5, 3)
    Phi = features.coherent(mdp.Q, 6, rng=1)
    found = plain.algorithm_12(mdp, Phi, 0.5, 0.2, 200, *generators())
    assert_same_play(rlsvi(Phi, 0.5, 0.2, gamma=0.0, rng=generators()[0]), mdp, found)


@pytest.mark.parametrize("nu", [lambda l: 1 / (l + 2), lambda l: 0.03], ids=["1/(l+2)", "0.03"])
def test_appendix_f_1(nu, make_mdp):
    mdp = make_mdp(2, 4, 5, 3)
    Phi = np.random.default_rng(1).standard_normal((4, 5, 3, 6))
    found = plain.incremental_rlsvi(mdp, Phi, 0.7, 0.1, nu, 200, *generators())
    assert_same_play(incremental(Phi, 0.7, 0.1, nu, rng=generators()[0]), mdp, found)


def test_algorithm_13():
    mdp = lock(4, 0.9)
    Phi = np.random.default_rng(1).standard_normal((4, 2, 6))
    r, theta = plain.continual_rlsvi(mdp, Phi, 1.0, 0.3, 0.9, 200, *generators())
    fast = Agent(ContinualLearner(Phi, 0.9, 0.9, 1.0, 0.3), redraw=1, rng=generators()[0])
    assert fast.learn(mdp, 1, generators()[1], limit=200).reward == r.sum() > 0
    assert error(fast.theta[0], theta) < TOLERANCE


# ------------------------------------------------------------------ the reference


@pytest.mark.parametrize("name", ["algorithm_1", "algorithm_3", "algorithm_11"])
def test_without_options_the_reference_is_the_plain_algorithm(name, make_mdp):
    """To the last digits, after one episode and after thirty, and drawn by the same numbers."""
    Phi = np.random.default_rng(1).standard_normal((4, 5, 3, 6))
    s, a, r = make_mdp(2, 4, 5, 3).simulate(np.full((4, 5, 3), 1 / 3), 30, rng=2)
    r[:, -2] += r[:, -1]
    sigma, gamma = {"algorithm_3": 1.0}.get(name, 0.2), {"algorithm_11": 0.0}.get(name, 1.0)
    learner = Reference(RegressionProblem(features.FeatureTable(Phi), 0.5, sigma, gamma))
    sample = name != "algorithm_3"
    for l in range(30):
        if l in (0, 1, 29):
            rngs = generators()[0], generators()[0]
            more = (sigma, rngs[0]) if sample else ()
            theta = getattr(plain, name)(Phi, s[:l], a[:l], r[:l, :4], 0.5, *more)
            fitted = learner.fit(rngs[1] if sample else None, None)
            np.testing.assert_allclose(fitted.theta, theta, rtol=1e-12, atol=1e-12)
            assert rngs[0].random() == rngs[1].random() or not sample
        for h in range(4):
            learner.add(h, s[l, h], a[l, h], r[l, h], s[l, h + 1])


def test_without_options_the_reference_is_algorithm_7():
    rng, before = np.random.default_rng(1), np.random.default_rng(2).standard_normal(6)
    problem = RegressionProblem(
        features.FeatureMap.wrap(near, None), 0.5, 0.2, 0.9, options=Options(sweeps=1)
    )
    learner, data = Reference(problem), []
    for _ in range(20):
        s, a, r = int(rng.integers(5)), int(rng.integers(2)), rng.standard_normal()
        data.append((s, a, r, None if rng.random() < 0.3 else int(rng.integers(5))))
        learner.add(0, *data[-1])
    found = learner.fit(generators()[0], Weights(before[None], before[None])).theta[0]
    expected = plain.algorithm_7(near, data, before, 0.5, 0.2, 0.9, generators()[0])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# ------------------------------------------------------------------ the recommendation engine


def test_regret_is_averaged_over_instances_and_runs():
    """Of an algorithm that picks products at random: each is liked by one customer in two."""
    seen = []

    def at_random(env, rng, env_rng):
        seen.append((env, rng.random(), env_rng.random()))
        return np.array([env.step(0, env.start(env_rng), 0, env_rng)[0] for _ in range(50)])

    def sample_instance(rng):
        return Recommender.random(2.0, rng, N=3, J=2)

    found = plain.algorithm_9(
        sample_instance, {"one": (at_random, 3), "two": (at_random, 1)}, generators()[0], 4
    )
    assert {name: regret.shape for name, regret in found.items()} == {"one": (50,), "two": (50,)}
    assert len({env for env, _, _ in seen}) == 4
    assert len({draw for _, *draws in seen for draw in draws}) == 2 * 4 * (3 + 1)
    value = np.mean([env.optimal_value for env, _, _ in seen[::4]])
    assert abs(found["one"].mean() - (value - 0.5)) < 5 * 0.5 / np.sqrt(4 * 3 * 50)
