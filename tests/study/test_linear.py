"""The linear toll and roads of many starts: hypotheses, recursion, the gate; and each of them broken."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, ks_2samp, norm

from rlsvi_core import rlsvi
from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.regression import GaussianPosterior
from rlsvi_study.conjecture import claims, growth, linear
from rlsvi_study.traps import toll

RATE = 1e-6  # how often a statistical test of right code fails under a new seed
RIDGES = (Fraction(1, 1000), Fraction(1, 4), Fraction(1), Fraction(9), Fraction(1000))


# --- the world -----------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("H", [2, 5, 12])
def test_the_linear_toll_is_what_the_theorem_asks_for(H, unit):
    sigma = float(H)
    mdp, Phi = linear.linear_toll(H, L=50, unit=unit)
    lam = 1 / sigma**2 * (1 if not unit else 1 / (1 + 23.0**2))
    assert claims.is_instance((mdp, Phi), lam, sigma)  # Q* linear, θ unique and small, rewards
    assert linear.is_linear(mdp, Phi)
    assert linear.is_closed(mdp, Phi, np.random.default_rng(H))
    assert mdp.value == pytest.approx(-1 / 50)
    assert set(np.unique(mdp.P)) == {0.0, 1.0}
    longest = np.linalg.norm(Phi, axis=-1).max()
    assert longest == pytest.approx(1 if unit else math.hypot(1, 23 if H > 1 else 1))


def test_the_measures_are_the_first_and_the_third_feature():
    mdp, Phi = linear.linear_toll(6, L=50)
    np.testing.assert_array_equal(mdp.P[..., linear.ALIVE], Phi[..., 0])
    np.testing.assert_array_equal(mdp.P[..., linear.DEAD], Phi[..., 2])
    np.testing.assert_array_equal(mdp.R[0, ..., 0], -Phi[0, ..., 1])


def test_other_worlds_are_not_linear():
    mdp, Phi = toll(5, L=50)
    assert not linear.is_linear(mdp, Phi)
    assert not linear.is_closed(mdp, Phi, np.random.default_rng(1))
    mdp, Phi = linear.linear_toll(5, L=50)
    R = mdp.R.copy()
    R[2, 1, 1] = -1.0  # a price in the middle of the road that no feature knows
    assert linear.is_linear(
        FiniteMDP(mdp.P, R, initial=mdp.initial), Phi
    )  # two features price two actions
    R[2, 1, 0], R[2, 0, 0] = 1.0, -3.0  # and the dead have two actions of one feature
    assert not linear.is_linear(FiniteMDP(mdp.P, R, initial=mdp.initial), Phi)


@pytest.mark.parametrize(
    ("make", "keyword"),
    [
        (lambda: linear.linear_toll(1, 9), "H"),
        (lambda: linear.linear_toll(3, 0.5), "L"),
        (lambda: linear.linear_toll(3, 9, u=-1.0), "u"),
        (lambda: linear.unit_leap(1 / 480), "1/481"),
    ],
)
def test_other_tolls_are_refused(make, keyword):
    with pytest.raises(ValueError, match=keyword):
        make()


# --- the recursion -------------------------------------------------------------------------------


def solved(rho, rows, targets):
    """The posterior mean in exact fractions, and σ⁻² times its covariance."""
    K = len(rows[0])
    M = [[rho * (i == j) + sum(r[i] * r[j] for r in rows) for j in range(K)] for i in range(K)]
    b = [[sum(r[i] * t for r, t in zip(rows, targets, strict=True))] for i in range(K)]
    both = [
        row + own + [Fraction(i == j) for j in range(K)]
        for i, (row, own) in enumerate(zip(M, b, strict=True))
    ]
    for i in range(K):
        pivot = both[i][i]
        both[i] = [x / pivot for x in both[i]]
        for j in range(K):
            if j != i:
                both[j] = [x - both[j][i] * y for x, y in zip(both[j], both[i], strict=True)]
    return [row[K] for row in both], [row[K + 1 :] for row in both]


@pytest.mark.parametrize("rho", RIDGES)
def test_one_observation_hands_on_what_the_proof_says(rho):
    u, X = 15 + 8 * rho, Fraction(7, 3)
    leap, kept = (Fraction(1), u), Fraction(480, 481)
    for walked, phi in ((True, (Fraction(1), Fraction(1))), (False, leap)):
        mean, cov = solved(rho, [phi], [X])
        value = leap[0] * mean[0] + leap[1] * mean[1]
        noise = sum(leap[i] * cov[i][j] * leap[j] for i in range(2) for j in range(2))
        assert value == X * (8 if walked else (1 + u * u) / (1 + u * u + rho))
        assert float(value / X) == pytest.approx(linear.passed_on(walked, float(u), float(rho)))
        assert kept <= value / X
        assert noise >= kept
    short = (14 + 8 * rho + 1) / (2 + rho)  # with a shorter leap it would be less
    assert short < 8


@pytest.mark.parametrize("rho", RIDGES)
@pytest.mark.parametrize(("leaps", "quits"), [(0, 0), (1, 0), (3, 5), (40, 2)])
def test_at_the_gate_the_sign_is_that_of_the_proof(rho, leaps, quits):
    b = Fraction(1)
    side, leap, quit = ((Fraction(x) for x in row) for row in ((1, 1, 0), (0, 1, 1), (0, 0, 1)))
    rows = [tuple(side), *[tuple(leap)] * 1, tuple(quit)]
    rows = [rows[0], *[rows[1]] * leaps, *[rows[2]] * quits]
    for X in (Fraction(0), Fraction(5), Fraction(50), Fraction(50_000)):
        for Y in (Fraction(-2), Fraction(0), Fraction(3)):
            mean, _ = solved(rho, rows, [X - b, *[Y - b] * leaps, *[Y] * quits])
            push = rho / (1 + rho) * (X - b)
            lost = leaps * (b * (quits + rho) - rho * Y) / (leaps + quits + rho)
            assert (mean[1] > 0) == (push > lost)
            if Y == 0 and X > b * (leaps + 1) * (1 + rho) / rho:
                assert mean[1] > 0


@pytest.mark.parametrize("every", [1, 2])
def test_sampled_values_grow_as_proved(every):
    H, draws = 8, 4000
    walked = np.arange(H - 1) % every == 0
    agent, X = linear.one_start(H, walked, 1), np.empty((draws, H - 1))
    for i in range(draws):
        agent.plan()
        X[i] = [agent.values(h, linear.ALIVE).max() for h in range(1, H)]
    factors = np.array([linear.passed_on(bool(w), 23.0, 1.0) for w in walked])
    for h in range(H - 2):  # E X_h ≥ a_h E X_{h+1}, period by period
        spare = X[:, h] - factors[h] * X[:, h + 1]
        assert spare.mean() > -5 * spare.std() / math.sqrt(draws)
    reach = H * math.sqrt(linear.KEPT) * factors[: H - 2].prod()
    for times in (0.0, 1.0, 2.0):
        count = int((X[:, 0] >= times * reach).sum())
        assert binomtest(count, draws, norm.sf(times), alternative="less").pvalue > RATE
    count = int((X[:, 0] >= 30 * reach).sum())  # and more than is true would be noticed
    assert binomtest(count, draws, norm.sf(1), alternative="less").pvalue < RATE


def test_the_bound_is_below_what_is_measured():
    from rlsvi_study.conjecture import runs

    L, *_ = runs.linear_world("printed", 7)
    regret = [runs.linear_regret("printed", 7, seed)[0]["regret"] for seed in range(1000, 1040)]
    assert np.mean(regret) > linear.least_regret(L)


# --- in which units ------------------------------------------------------------------------------


def test_up_to_which_ridge_a_walk_multiplies_by_eight():
    exact = (math.sqrt(480**2 + 1024) - 480) / 512
    assert 1 / 481 < exact < 1 / 480
    assert linear.unit_leap(1 / 481) > 0
    u = np.linspace(1.0, 1000.0, 100_000)
    for ridge, can in ((1 / 481, True), (1 / 480, False)):
        assert ((1 + u) / (2 + ridge * (1 + u * u)) >= 8).any() == can


def test_where_a_walk_and_a_leap_together_multiply():
    """√ρ(1 + ρ) < ½."""
    root = np.roots([1, 0, 1, -0.5])
    limit = float(root[np.isreal(root)].real[0]) ** 2
    assert limit == pytest.approx(0.1797, abs=1e-3)
    assert linear.most_together(0.97 * limit) > 1
    assert linear.most_together(1.03 * limit) < 1


@pytest.mark.parametrize("ridge", [0.25, 1.0, 7.0])
def test_one_observation_cannot_amplify(ridge):
    rng, K, lam = np.random.default_rng(3), 4, 0.5
    sigma = math.sqrt(ridge / lam)
    for _ in range(300):
        phi, other = rng.standard_normal((2, K))
        phi *= rng.random() / np.linalg.norm(phi)
        other /= np.linalg.norm(other)
        mean = GaussianPosterior(K, lam, sigma).add_row(phi, 5.0).mean
        assert abs(other @ mean) <= 5 / (2 * math.sqrt(ridge)) + 1e-12 <= 5 + 1e-12
    worst = np.eye(K)[0] * 0.4  # with a ridge of 0.16 it can
    assert GaussianPosterior(K, 0.16, 1.0).add_row(worst, 5.0).mean[0] == pytest.approx(5 / 0.8)


def test_after_one_observation_in_each_period_values_grow_by_a_sum():
    """E max|Ṽ_h| ≤ (H − h)(1 + √(K/λ)) with features of length 1 at most and λσ² = ¼; not so at the
    linear toll in other units."""
    rng, H, S, A, K, lam = np.random.default_rng(4), 12, 3, 3, 3, 1.0
    Phi = rng.standard_normal((H, S, A, K))
    Phi /= np.linalg.norm(Phi, axis=-1, keepdims=True)
    agent = rlsvi(Phi, lam, 0.5, rng=5)
    states = rng.integers(S, size=H + 1)
    for h in range(H):
        agent.observe(h, states[h], int(rng.integers(A)), 1.0, states[h + 1])
    bound, largest = H * (1 + math.sqrt(K / lam)), []
    for _ in range(500):
        agent.plan()
        largest.append(max(abs(agent.values(0, s)).max() for s in range(S)))
    assert np.mean(largest) < bound
    amplified = linear.one_start(H, np.ones(H - 1, bool), 2)
    amplified.plan()
    assert np.mean([abs(amplified.values(1, 1)).max()]) > 100 * H * (1 + math.sqrt(3) * H)


# --- many starts ---------------------------------------------------------------------------------


def road_mdp(road, H, rng):
    """The road as an MDP with one state; period 0 of the agent is the first of the road."""
    K = 1 if road.walk[0] == 0 else 2
    Phi = np.array([road.walk, road.leap])[:, -K:]
    theta = np.zeros((H - 1, K))
    theta[:, -1] = rng.standard_normal(H - 1) if road.dear is None else -road.dear
    Q = np.einsum("ak,hk->ha", Phi, theta)
    later = np.append(Q[1:].max(axis=1), 0.0)
    P, R = np.ones((H - 1, 1, 2, 1)), (Q - later[:, None])[:, None, :, None]
    return FiniteMDP(P, R), np.broadcast_to(Phi, (H - 1, 1, 2, K)).copy()


@pytest.mark.parametrize("case", growth.CASES)
def test_errors_followed_backwards_are_those_of_the_agent(case):
    from rlsvi_core import Options

    H, n, road, rng = 7, 5, growth.CASES[case], np.random.default_rng(8)
    ours, _ = growth.sampled_errors(road, H, n, 4000, rng)
    theirs = []
    for seed in range(1500):
        mdp, Phi = road_mdp(road, H, rng)
        agent = rlsvi(Phi, road.rho, 1.0, options=Options(first="prior"), rng=seed)
        agent.learn(mdp, n, rng=seed + 10_000)
        agent.plan()
        theirs.append(agent.values(0, 0).max() - mdp.Q[0, 0].max())
    assert ks_2samp(ours, theirs).pvalue > RATE
    other, _ = growth.sampled_errors(road._replace(rho=0.1), H, n, 4000, rng)
    assert ks_2samp(other, theirs).pvalue < RATE


def test_the_second_case_is_a_linear_mdp():
    mdp, Phi = road_mdp(growth.CASES["linear"], 6, np.random.default_rng(1))
    assert linear.is_linear(mdp, Phi)
    assert np.linalg.norm(Phi, axis=-1).max() == pytest.approx(1)
    np.testing.assert_allclose(Phi[..., 0] / growth.ALPHA, 1)
    assert np.abs(mdp.R).max() <= 1
