"""Since 2016, with linear features: each variant beside a slow one from its listing, and the worlds
in which they are compared."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import sqrtm

from rlsvi_core import lsvi, rlsvi
from rlsvi_study import engine
from rlsvi_study.since import linear, linear_runs
from rlsvi_study.since.linear import VARIANTS, Variant, learn
from rlsvi_study.worlds import low_rank

H, S, A, d, L = 3, 6, 3, 4, 24
LIMITS = np.array([[0.0, H - h] for h in range(H)])


def generators(seed):
    return [np.random.default_rng((seed, one)) for one in range(2)]


# --- each variant, slowly -------------------------------------------------------------------


def slow_weights(name, A, b, start, own, constants):
    """The weights w_1, …, w_M and the bonus, by explicit matrices."""
    K = A.shape[1]
    Lam = A.T @ A + np.eye(K)
    inverse = np.linalg.inv(Lam)
    mean = inverse @ A.T @ b
    if name == "lsvi-ucb":
        return [mean], lambda phi: constants.beta * math.sqrt(phi @ inverse @ phi)
    if name == "lsvi-phe":
        root = np.linalg.inv(np.linalg.cholesky(Lam)).T
        return [
            mean + constants.sigma * root @ own.standard_normal(K) for _ in range(constants.draws)
        ], lambda phi: 0.0
    least, *_, top = np.linalg.eigvalsh(Lam)
    eta, inverse_temperature = 1 / (4 * top), 1 / (2 * constants.sigma**2)
    centre, covariance = start, np.zeros((K, K))
    one_step = np.eye(K) - 2 * eta * Lam
    for _ in range(math.ceil(constants.steps * top / least)):  # w − η∇L(w) + √(2η/β) ε
        centre = centre - eta * 2 * (Lam @ centre - A.T @ b)
        covariance = one_step @ covariance @ one_step + 2 * eta / inverse_temperature * np.eye(K)
    return [centre + np.real(sqrtm(covariance)) @ own.standard_normal(K)], lambda phi: 0.0


def slow(name, mdp, Phi, constants, env, own):
    """Expected rewards, last weights and values, with all data kept and everything rebuilt."""
    data, Q, expected = [[] for _ in range(mdp.H)], np.zeros(Phi.shape[:3]), []
    w = [[np.zeros(Phi.shape[3])] for _ in range(mdp.H)]
    for episode in range(L):
        for h in reversed(range(mdp.H) if episode else ()):
            rows = np.array([Phi[h, s, a] for s, a, _, _ in data[h]])
            V = Q[h + 1].max(axis=1) if h + 1 < mdp.H else np.zeros(mdp.S)
            targets = np.array([r + V[s_next] for _, _, r, s_next in data[h]])
            w[h], bonus = slow_weights(name, rows, targets, w[h][0], own, constants)
            for s, a in np.ndindex(mdp.S, mdp.A):
                q = max(Phi[h, s, a] @ one for one in w[h]) + bonus(Phi[h, s, a])
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
    return expected, np.array(w), Q


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("factor", [1.0, 0.03])
def test_a_variant_is_its_slow_form(name, factor):
    mdp, Phi = low_rank(H, S, A, d, rng=5)
    constants = VARIANTS[name](d, H, float(H), L, factor)
    ours, theirs = generators(1), generators(1)
    found = learn(mdp, Phi, constants, L, *ours, LIMITS)
    expected, w, Q = slow(name, mdp, Phi, constants, *theirs)
    np.testing.assert_allclose(found.expected, expected, rtol=1e-9)
    np.testing.assert_allclose(found.w, w, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.Q, Q, rtol=1e-7, atol=1e-9)
    for one, other in zip(ours, theirs, strict=True):  # and not a draw more
        assert one.random() == other.random()


def test_published_constants():
    ucb, phe, lmc = (VARIANTS[name](d=8, H=5, width=5.0, episodes=1000) for name in VARIANTS)
    assert ucb == Variant(1.0, beta=8 * 5 * math.sqrt(math.log(2 * 8 * 5000 / 0.05)))
    assert (phe.ridge, phe.sigma) == (1.0, 5 * math.sqrt(8))
    assert phe.draws == math.ceil(8 * math.log(0.05 / 9) / math.log(0.8413447460685429))
    assert lmc.sigma == pytest.approx(5 * math.sqrt(8) / math.sqrt(2))
    assert lmc.steps == 2 * math.log(4 * 5 * 1000 * 8)


# --- identities -----------------------------------------------------------------------------


def test_one_draw_without_a_cut_is_rlsvi():
    mdp, Phi = low_rank(H, S, A, d, rng=5)
    lam, sigma = 2.0, 0.3
    ours, theirs = generators(2), generators(2)
    found = learn(mdp, Phi, Variant(lam * sigma**2, sigma), 300, *ours)
    agent = rlsvi(Phi, lam, sigma, rng=theirs[1])
    run = agent.learn(mdp, 300, theirs[0], exact=True)
    np.testing.assert_allclose(found.expected, run.expected, rtol=1e-12)
    np.testing.assert_allclose(found.w[:, 0], agent.theta, rtol=1e-9)
    assert ours[1].random() == theirs[1].random()


def test_no_bonus_is_lsvi():
    mdp, Phi = low_rank(H, S, A, d, rng=5)
    ours, theirs = generators(3), generators(3)
    found = learn(mdp, Phi, Variant(ridge=0.7), 300, *ours)
    agent = lsvi(Phi, 0.7, rng=theirs[1])
    run = agent.learn(mdp, 300, theirs[0], exact=True)
    np.testing.assert_allclose(found.expected, run.expected, rtol=1e-12)
    np.testing.assert_allclose(found.w[:, 0], agent.theta, rtol=1e-9)


def test_a_tabular_bonus_falls_with_the_root_of_visits():
    """One period, one state: Q = Σr/(n + 1) + β/√(n + 1)."""
    mdp, beta = low_rank(1, 1, 3, 3, rng=0)[0], 0.5
    found = learn(mdp, np.eye(3)[None, None], Variant(1.0, beta=beta), 100, 1, 2)
    n, own, r = np.zeros(3), np.random.default_rng(2), mdp.Q[0, 0]
    for episode in range(100):
        q = (n * r + beta * np.sqrt(n + 1)) / (n + 1) if episode else np.zeros(3)
        best = np.flatnonzero(q == q.max())
        n[best[int(own.random() * len(best))]] += 1
    np.testing.assert_allclose(found.Q[0, 0], q, rtol=1e-12)


# --- Langevin -------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [1, 2, 5, 12])
def test_eigenvectors(K):
    U = np.triu(np.random.default_rng(K).standard_normal((K, K)))
    l, V = np.empty(K), np.empty((K, K))
    linear.eigen(U, l, V)
    np.testing.assert_allclose(V @ V.T, np.eye(K), atol=1e-13)
    np.testing.assert_allclose(V.T @ np.diag(l) @ V, U.T @ U, atol=1e-12)


def test_equal_eigenvalues_are_no_trouble():
    l, V = np.empty(3), np.empty((3, 3))
    linear.eigen(2 * np.eye(3), l, V)
    assert l.tolist() == [4, 4, 4]
    assert (np.eye(3) == V).all()


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
    size = 4 * 5 * 1000 * 8
    J = math.ceil(VARIANTS["langevin"](8, 5, 5.0, 1000).steps * kappa)
    for l in np.geomspace(1, kappa, 9):
        kept, variance = linear.after_steps(l, 1 / (4 * kappa), J)
        assert 0 <= kept <= 1 / size
        assert 1 - size**-2.0 <= variance * l <= 4 / 3 + 1e-12


def test_without_noise_it_is_gradient_descent():
    rng = np.random.default_rng(1)
    U = np.triu(rng.standard_normal((4, 4))) + 2 * np.eye(4)
    mean, w = rng.standard_normal((2, 4))
    Lam, slowly = U.T @ U, w.copy()
    least, *_, top = np.linalg.eigvalsh(Lam)
    for _ in range(math.ceil(0.7 * top / least)):
        slowly = slowly - 2 / (4 * top) * Lam @ (slowly - mean)
    linear.langevin_draw(U, mean, 0.0, 0.7, np.zeros(4), w)
    np.testing.assert_allclose(w, slowly, rtol=1e-10)


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

STUDIES = linear_runs.EXPERIMENTS


@pytest.mark.parametrize(
    ("environment", "size"),
    [("low-rank", 2), ("chain", 10), ("gamble", 1), ("long gamble", 4), ("toll", 9)],
)
def test_a_world_keeps_to_its_range(environment, size):
    mdp, Phi, value_range, _ = linear_runs.WORLDS[environment](size, np.random.default_rng(1))
    assert Phi.shape[:3] == (mdp.H, mdp.S, mdp.A)
    assert (value_range[:, :1] <= mdp.Q.min(axis=2)).all()
    assert (mdp.Q.max(axis=2) <= value_range[:, 1:]).all()
    bound = np.arange(mdp.H, 0, -1) * np.abs(mdp.R).max() + np.abs(mdp.terminal).max()
    assert (np.abs(value_range).max(axis=1) == bound).all() or environment == "low-rank"


def test_values_to_come():
    assert linear_runs.to_come(3, -1.0, 2.0).tolist() == [[-3, 6], [-2, 4], [-1, 2]]


@pytest.mark.parametrize("agent", linear_runs.TUNED)
def test_a_run_is_the_agents_regret(agent):
    """Against a run of one's own, and a tuned one against the same factor."""
    rows = linear_runs.tuning("low-rank", 4, agent, 0.1, seed=3, episodes=64)
    world_rng, env, own = linear_runs.streams(3)
    mdp, Phi = low_rank(5, 20, 4, 4, world_rng)
    if agent == "rlsvi":
        expected = learn(mdp, Phi, Variant(0.01, 0.1), 64, env, own).expected
    else:
        limits = [[0, 5 - h] for h in range(5)]
        expected = learn(
            mdp, Phi, VARIANTS[agent](4, 5, 5.0, 64, 0.1), 64, env, own, limits
        ).expected
    assert [row["episode"] for row in rows] == [16, 64]
    assert [row["regret"] for row in rows] == pytest.approx(
        [(mdp.value - expected[:n]).sum() for n in (16, 64)], abs=1e-4
    )
    tuned = linear_runs.curve("low-rank", 4, agent, "tuned", seed=3, episodes=64)
    assert tuned == linear_runs.tuning("low-rank", 4, agent, linear_runs.TUNED[agent], 3, 64)


def tuning_table(regret):
    return pd.DataFrame(
        [
            {
                "environment": environment,
                "size": 1,
                "agent": agent,
                "factor": factor,
                "seed": seed,
                "episode": episode,
                "regret": regret[factor] * (1 + seed) * episode * scale,
            }
            for environment, scale in (("one", 1), ("other", 100))
            for agent in linear_runs.TUNED
            for factor in regret
            for seed in range(2)
            for episode in (1, 4)
        ]
    )


@pytest.mark.parametrize(
    ("regret", "best"),
    [
        ({1.0: 5.0, 0.1: 1.0, 0.01: 5.0}, 0.1),
        ({1.0: 1.09, 0.1: 1.0, 0.01: 1.0}, 1.0),
        ({1.0: 1.11, 0.1: 1.05, 0.01: 1.0}, 0.1),
        ({1.0: 3.0, 0.1: 2.0, 0.01: 1.0}, 0.01),
    ],
)
def test_of_good_factors_the_largest_is_taken(regret, best):
    assert linear_runs.best_factors(tuning_table(regret)) == dict.fromkeys(linear_runs.TUNED, best)


def test_factors_are_weighed_over_problems_at_the_end():
    table = tuning_table({1.0: 2.0, 0.1: 1.0})
    table.loc[(table.environment == "one") & (table.factor == 0.1), "regret"] *= 16
    assert set(linear_runs.best_factors(table).values()) == {1.0}
    table.loc[table.episode == 1, "regret"] = 1.0
    assert set(linear_runs.best_factors(table).values()) == {1.0}


def test_tuning_has_seeds_of_its_own():
    tuning, curves = (
        STUDIES[name].scales["paper"] for name in ("since-linear-tuning", "since-linear")
    )
    assert set(tuning.seeds).isdisjoint(curves.seeds)


def test_tuned_factors_are_those_of_the_table():
    table = engine.load(STUDIES["since-linear-tuning"])
    assert linear_runs.best_factors(table) == linear_runs.TUNED


# --- what is refused ------------------------------------------------------------------------

WORLD = low_rank(2, 3, 2, 2, rng=1)


@pytest.mark.parametrize(
    ("make", "keyword"),
    [
        (lambda: learn(*WORLD, Variant(0.0), 5), "ridge"),
        (lambda: learn(*WORLD, Variant(1.0, sigma=-1.0), 5), "sigma"),
        (lambda: learn(*WORLD, Variant(1.0, beta=math.nan), 5), "beta"),
        (lambda: learn(*WORLD, Variant(1.0, draws=0), 5), "draws"),
        (lambda: learn(*WORLD, Variant(1.0, steps=0.0), 5), "steps"),
        (lambda: learn(*WORLD, Variant(1.0, draws=2, steps=3.0), 5), "draws"),
        (lambda: learn(*WORLD, "ucb", 5), "Variant"),
        (lambda: learn(WORLD[1], WORLD[1], Variant(1.0), 5), "FiniteMDP"),
        (lambda: learn(WORLD[0], WORLD[1][:1], Variant(1.0), 5), "Phi"),
        (lambda: learn(*WORLD, Variant(1.0), 0), "episodes"),
        (lambda: learn(*WORLD, Variant(1.0), 5, value_range=[[0, 1]]), "value_range"),
        (lambda: learn(*WORLD, Variant(1.0), 5, value_range=[[1, 0]] * 2), "value_range"),
        *((lambda make=make: make(0, 5, 1.0, 10), r"\bd\b") for make in VARIANTS.values()),
        *((lambda make=make: make(2, 5, 0.0, 10), "width") for make in VARIANTS.values()),
        *((lambda make=make: make(2, 5, 1.0, 10, -1.0), "factor") for make in VARIANTS.values()),
        *((lambda make=make: make(2, 5, 1.0, 10, p=1.0), r"\bp\b") for make in VARIANTS.values()),
        (lambda: low_rank(2, 3, 0, 2), "A"),
        (lambda: low_rank(2, 10**6, 10, 2), "numbers"),
    ],
)
def test_bad_parameters_are_refused(make, keyword):
    with pytest.raises(ValueError, match=keyword):
        make()
