"""Since 2016, with linear features: each variant beside a slow one, and the worlds in which they are
compared."""

import math

import numpy as np
import pytest

from rlsvi_core import bootstrap, lsvi, rlsvi
from rlsvi_study.since import linear, linear_runs
from rlsvi_study.since.linear import Variant, changed, lsvi_ucb
from rlsvi_study.worlds import low_rank

H, S, A, d, L = 3, 6, 3, 4, 24
LIMITS = np.array([[0.0, H - h] for h in range(H)])


def generators(seed):
    return [np.random.default_rng((seed, one)) for one in range(2)]


def learn(mdp, Phi, variant, episodes, env, own, limits=None):
    """The agent after so many episodes, and their exact expected rewards."""
    agent = changed(Phi, variant, limits, own)
    return agent, agent.learn(mdp, episodes, env, exact=True).expected


# --- each variant, slowly -------------------------------------------------------------------


def slow_weights(A, b, own, variant):
    """The weights and the bonus, by explicit matrices."""
    K = A.shape[1]
    Lam = A.T @ A + variant.ridge * np.eye(K)
    inverse = np.linalg.inv(Lam)
    w = inverse @ A.T @ b
    if variant.sigma:
        w += variant.sigma * np.linalg.inv(np.linalg.cholesky(Lam)).T @ own.standard_normal(K)
    return w, lambda phi: variant.beta * math.sqrt(phi @ inverse @ phi)


def slow(mdp, Phi, variant, env, own):
    """Expected rewards, last weights and values, with all data kept and everything rebuilt."""
    data, Q, expected = [[] for _ in range(mdp.H)], np.zeros(Phi.shape[:3]), []
    w = np.zeros((mdp.H, Phi.shape[3]))
    for episode in range(L):
        for h in reversed(range(mdp.H) if episode else ()):
            rows = np.array([Phi[h, s, a] for s, a, _, _ in data[h]])
            V = Q[h + 1].max(axis=1) if h + 1 < mdp.H else np.zeros(mdp.S)
            targets = np.array([r + V[s_next] for _, _, r, s_next in data[h]])
            w[h], bonus = slow_weights(rows, targets, own, variant)
            for s, a in np.ndindex(mdp.S, mdp.A):
                q = Phi[h, s, a] @ w[h] + bonus(Phi[h, s, a])
                Q[h, s, a] = min(max(q, LIMITS[h, 0]), LIMITS[h, 1])
        best = Q == Q.max(axis=2, keepdims=True)
        policy = best / best.sum(axis=2, keepdims=True)
        expected.append(mdp.value - mdp.regret(policy))
        s = mdp.start(env)
        for h in range(mdp.H):
            a = int(np.searchsorted(policy[h, s].cumsum(), own.random(), side="right"))
            r, s_next, _ = mdp.step(h, s, a, env)
            data[h].append((s, a, r, s_next))
            s = s_next
    return expected, w, Q


@pytest.mark.parametrize(
    "variant",
    [
        Variant(0.01, sigma=0.5),
        Variant(1.0, sigma=3.0),
        lsvi_ucb(d, H, float(H), L),
        lsvi_ucb(d, H, float(H), L, 0.03)._replace(ridge=0.1),
    ],
)
def test_a_variant_is_its_slow_form(variant):
    mdp, Phi = low_rank(H, S, A, d, rng=5)
    ours, theirs = generators(1), generators(1)
    agent, found = learn(mdp, Phi, variant, L, *ours, LIMITS)
    expected, w, Q = slow(mdp, Phi, variant, *theirs)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(agent.theta, w, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(agent.Q, Q, rtol=1e-7, atol=1e-9)
    for one, other in zip(ours, theirs, strict=True):  # and not a draw more
        assert one.random() == other.random()


def test_published_constants():
    ucb = lsvi_ucb(d=8, H=5, width=5.0, episodes=1000)
    assert ucb == Variant(1.0, beta=8 * 5 * math.sqrt(math.log(2 * 8 * 5000 / 0.05)))


# --- identities -----------------------------------------------------------------------------


def test_one_draw_without_a_cut_is_rlsvi():
    mdp, Phi = low_rank(H, S, A, d, rng=5)
    lam, sigma = 2.0, 0.3
    ours, theirs = generators(2), generators(2)
    one, expected = learn(mdp, Phi, Variant(lam * sigma**2, sigma), 300, *ours)
    agent = rlsvi(Phi, lam, sigma, rng=theirs[1])
    run = agent.learn(mdp, 300, theirs[0], exact=True)
    np.testing.assert_allclose(expected, run.expected, rtol=1e-12)
    np.testing.assert_allclose(one.theta, agent.theta, rtol=1e-9)
    assert ours[1].random() == theirs[1].random()


def test_no_bonus_is_lsvi():
    mdp, Phi = low_rank(H, S, A, d, rng=5)
    ours, theirs = generators(3), generators(3)
    one, expected = learn(mdp, Phi, Variant(ridge=0.7), 300, *ours)
    agent = lsvi(Phi, 0.7, rng=theirs[1])
    run = agent.learn(mdp, 300, theirs[0], exact=True)
    np.testing.assert_allclose(expected, run.expected, rtol=1e-12)
    np.testing.assert_allclose(one.theta, agent.theta, rtol=1e-9)


def test_a_tabular_bonus_falls_with_the_root_of_visits():
    """One period, one state: Q = Σr/(n + 1) + β/√(n + 1)."""
    mdp, beta = low_rank(1, 1, 3, 3, rng=0)[0], 0.5
    agent, _ = learn(mdp, np.eye(3)[None, None], Variant(1.0, beta=beta), 100, 1, 2)
    n, own, r = np.zeros(3), np.random.default_rng(2), mdp.Q[0, 0]
    for episode in range(100):
        q = (n * r + beta * np.sqrt(n + 1)) / (n + 1) if episode else np.zeros(3)
        best = np.flatnonzero(q == q.max())
        n[best[int(own.random() * len(best))]] += 1
    np.testing.assert_allclose(agent.Q[0, 0], q, rtol=1e-12)


# --- Langevin -------------------------------------------------------------------------------


@pytest.mark.parametrize("J", [0, 1, 2, 7, 64, 1000])
def test_steps_are_counted_in_closed_form(J):
    l, eta = 0.8, 0.11
    kept, variance = 1.0, 0.0
    for _ in range(J):
        kept, variance = (1 - 2 * eta * l) * kept, (1 - 2 * eta * l) ** 2 * variance + 4 * eta
    assert linear.after_steps(l, eta, J) == pytest.approx((kept, variance), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("eta", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("l", [0.3, 1.0, 7.0])
def test_many_small_steps_are_the_posterior(l, eta):
    """Variance 1/l up to a relative ηl/(1 − ηl), and nothing left of the start."""
    J = math.ceil(20 / (eta * l))
    kept, variance = linear.after_steps(l, eta, J)
    assert 0 <= kept < 1e-15
    assert variance * l - 1 == pytest.approx(eta * l / (1 - eta * l), rel=1e-6)


@pytest.mark.parametrize("kappa", [1.0, 3.0, 1e3, 1e6])
def test_published_steps_are_nearly_the_posterior(kappa):
    size = 4 * 5 * 1000 * 8  # 4HLd
    J = math.ceil(2 * math.log(size) * kappa)
    for l in np.geomspace(1, kappa, 9):
        kept, variance = linear.after_steps(l, 1 / (4 * kappa), J)
        assert 0 <= kept <= 1 / size
        assert 1 - size**-2.0 <= variance * l <= 4 / 3 + 1e-12


# --- linear MDPs ----------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_low_rank_worlds_are_closed_under_bellmans_operator(rank):
    mdp, Phi = low_rank(4, 9, 3, rank, rng=rank)
    rng = np.random.default_rng(0)
    assert (np.abs(mdp.R - 0.5) <= 0.5).all()
    assert (np.linalg.norm(Phi, axis=-1) <= 1 + 1e-12).all()
    policy = rng.integers(3, size=(4, 9))
    V = rng.standard_normal(9)
    for h in range(4):
        rows = Phi[h].reshape(27, rank)
        assert np.linalg.matrix_rank(mdp.P[h].reshape(27, 9)) == rank
        for target in (
            mdp.P[h] @ V,
            mdp.R[h, ..., 0],
            mdp.R[h, ..., 0] + mdp.P[h] @ mdp.evaluate(policy)[h + 1],
        ):
            theta = np.linalg.lstsq(rows, target.ravel(), rcond=None)[0]
            np.testing.assert_allclose(rows @ theta, target.ravel(), atol=1e-12)


# --- the study ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "size"),
    [("low-rank", 2), ("chain", 10), ("gamble", 1), ("long gamble", 4), ("toll", 9)],
)
def test_a_world_keeps_to_its_range_and_its_features_to_norm_1(environment, size):
    for low in (0.0, -1.0):
        mdp, Phi, value_range = linear_runs.WORLDS[environment](size, low, np.random.default_rng(1))
        assert Phi.shape[:3] == (mdp.H, mdp.S, mdp.A)
        assert np.linalg.norm(linear_runs.scaled(Phi), axis=-1).max() == pytest.approx(1)
        assert (value_range[:, :1] <= mdp.Q.min(axis=2)).all()
        assert (mdp.Q.max(axis=2) <= value_range[:, 1:]).all()
        bound = np.arange(mdp.H, 0, -1) * np.abs(mdp.R).max() + np.abs(mdp.terminal).max()
        assert (np.abs(value_range).max(axis=1) == bound).all() or environment == "low-rank"


def test_shifted_rewards_stay_linear_and_leave_regret_as_it_was():
    worlds = [linear_runs.linear_mdp(4, low, np.random.default_rng(1)) for low in (0.0, -1.0)]
    policy = np.random.default_rng(2).integers(4, size=(5, 20))
    one, other = (world.mdp.regret(np.eye(4)[policy]) for world in worlds)
    assert one == pytest.approx(other)
    assert worlds[1].mdp.R.max() <= 0
    for h in range(5):
        rows = worlds[1].Phi[h].reshape(80, 4)
        fit = rows @ np.linalg.lstsq(rows, worlds[1].mdp.Q[h].ravel(), rcond=None)[0]
        np.testing.assert_allclose(fit, worlds[1].mdp.Q[h].ravel(), atol=1e-12)


def test_values_to_come():
    assert linear_runs.to_come(3, -1.0, 2.0).tolist() == [[-3, 6], [-2, 4], [-1, 2]]


@pytest.mark.parametrize(
    ("agent", "cut", "ridge", "factor"),
    [
        ("rlsvi", True, 0.01, 0.1),
        ("rlsvi", False, 1.0, 0.03),
        ("lsvi-ucb", True, 0.01, 0.003),
        ("bootstrap", True, 0.0, 0.1),
    ],
)
def test_a_run_is_the_agents_regret(agent, cut, ridge, factor):
    """Against a run of one's own."""
    rows = linear_runs.curve("low-rank", 4, 64, agent, 0.0, cut, ridge, factor, seed=3)
    world_rng, env, own = linear_runs.streams(3)
    mdp, Phi = low_rank(5, 20, 4, 4, world_rng)
    Phi = Phi / np.linalg.norm(Phi, axis=-1).max()
    limits = [[0, 5 - h] for h in range(5)] if cut else None
    if agent == "bootstrap":
        learner = bootstrap(Phi, (0, 5), factor, rng=own)
        expected = learner.learn(mdp, 64, env, exact=True).expected
    else:
        variant = Variant(ridge, sigma=5 * factor)
        if agent == "lsvi-ucb":
            variant = lsvi_ucb(4, 5, 5.0, 64, factor)._replace(ridge=ridge)
        _, expected = learn(mdp, Phi, variant, 64, env, own, limits)
    assert [row["episode"] for row in rows] == [16, 64]
    assert [row["regret"] for row in rows] == pytest.approx(
        [(mdp.value - expected[:n]).sum() for n in (16, 64)], abs=1e-3
    )


def test_low_rank_worlds_have_sizes():
    with pytest.raises(ValueError, match="A"):
        low_rank(2, 3, 0, 2)
    with pytest.raises(ValueError, match="numbers"):
        low_rank(2, 10**6, 10, 2)
