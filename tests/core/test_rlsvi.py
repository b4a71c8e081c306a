"""The reference against a textbook of explicit inverses, and the learners against exact values."""

import contextlib
import copy
import itertools
import math
import pickle
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from reference import reference
from scipy.stats import binomtest, chisquare
from worlds import LAM, RANDOM, WORLDS, A, S, agents_of, cases, episode, given, legal, same

from rlsvi_core import (
    Agent,
    DiscountedMDP,
    FiniteMDP,
    Learner,
    Options,
    bootstrap,
    chain,
    features,
    lsvi,
    rlsvi,
    suggest_parameters,
)
from rlsvi_core.algorithms import algorithm_1
from rlsvi_core.learners.appendix_f import incremental
from rlsvi_core.runtime.loop import fill_action_probabilities

pytestmark = pytest.mark.filterwarnings("ignore:lam is suggested")
RATE = 1e-6  # how often a statistical test of right code fails under a new seed


# ------------------------------------------------------------------ the textbook


OPTIONS = Options()


def textbook(log, H, theta, mean, rng, sigma, *, gamma, value_range=None, options=OPTIONS):
    """Algorithms 1, 3 and 7 after the steps in the log, each (period, Φ(s, a), r, rows of what may
    follow); the mean if ``rng`` is None. From the weights of the episode before, without H."""
    low, high = value_range or (-math.inf, math.inf)
    theta, mean, K = theta.copy(), mean.copy(), theta.shape[1]
    z = None
    after = np.zeros(K) if H is not None else theta[0]
    sweeps = 1 if gamma == 0 else min(options.sweeps or 10, 60)
    for h in [0] * sweeps if H is None else reversed(range(H)):
        steps = [step for step in log if H is None or step[0] == h][-(options.window or 0) :]
        X = np.array([row for _, row, _, _ in steps]).reshape(-1, K)
        b = np.array([r for _, _, r, _ in steps])
        for i, (_, _, _, following) in enumerate(steps):
            if following is not None:
                b[i] += gamma * min(max((following @ after).max(), low), high)
        precision = X.T @ X / sigma**2 + LAM * np.eye(K)
        mean[h] = theta[h] = np.linalg.inv(precision) @ X.T @ b / sigma**2
        if rng is not None:
            z = rng.standard_normal(K) if z is None or H is not None else z
            theta[h] = mean[h] + np.linalg.inv(np.linalg.cholesky(precision)).T @ z
        after = theta[h]
    return theta, mean


@pytest.mark.parametrize("masks", [False, True], ids=["", "masks"])
@pytest.mark.parametrize(
    ("world", "choice"),
    [case for case in cases() if case[0] in ("table", "one table", "crossed", "function, H")],
)
def test_the_reference_is_the_textbook(world, choice, masks):
    (phi, arguments), states = given(world, choice), WORLDS[world][2]
    for agent in agents_of(phi, **arguments):
        agent = reference(agent, rng=3)
        rows, problem, log = agent.learner.problem.features, agent.learner.problem, []
        chosen = {"value_range": arguments.get("value_range"), "options": problem.options}
        theta = mean = np.zeros((agent.H or 1, rows(0, states[0]).shape[1]))
        episodes = np.random.default_rng(1)
        for _ in range(8):
            rng = copy.deepcopy(agent.rng) if agent.sample else None
            agent.plan()
            prior = agent.sample and problem.options.first == "prior"
            if log or prior:
                theta, mean = textbook(
                    log, agent.H, theta, mean, rng, problem.sigma, gamma=problem.gamma, **chosen
                )
                np.testing.assert_allclose(agent.theta, theta, rtol=1e-7, atol=1e-8)
                assert rng is None or same(rng, agent.rng)
            else:
                assert not agent.theta.any()  # section 4's footnote, or K is not known yet
            for h, s, a, r, s_next in episode(episodes, masks):
                at, mask = states[s], legal(s_next, masks)
                follows = None if s_next is None else states[s_next]
                agent.observe(h, at, a, r, follows, mask)
                if follows is not None and h + 1 != agent.H:
                    follows = rows(h + 1, follows)[slice(None) if mask is None else mask]
                log.append((h, rows(h, at)[a], r, None if h + 1 == agent.H else follows))


# ------------------------------------------------------------------ exact values

LEARNERS = {
    "sums": lambda door, mdp, *given, **more: door(features.tabular(mdp), *given, **more),
    "counts": lambda door, mdp, *given, **more: door(
        features.OneHot(mdp.H, mdp.S, mdp.A), *given, **more
    ),
    "rows": lambda door, mdp, *given, **more: door(
        features.tabular(mdp), *given, options=Options(window=10**4), **more
    ),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_with_hardly_any_ridge_lsvi_finds_the_optimal_values(name):
    """Where outcomes are certain and every pair was tried."""
    rng = np.random.default_rng(1)
    mdp = FiniteMDP(
        np.eye(3)[rng.integers(3, size=(3, 3, 2))], rng.normal(size=(3, 3, 2)), initial=[1 / 3] * 3
    )
    agent = LEARNERS[name](lsvi, mdp, 1e-9, epsilon=1.0, rng=2)
    agent.learn(mdp, 300, 3)
    agent.plan()
    reached = mdp.occupancy(np.full((3, 3, 2), 0.5))[:3] > 0
    np.testing.assert_allclose(agent.Q[reached], mdp.Q[reached], atol=1e-6)
    assert agent.evaluate(mdp, 5, 4).max() <= mdp.V[0].max() + 1e-9
    run = agent.learn(mdp, 1, 5, exact=True)
    assert run.expected[0] < mdp.optimal_value  # it still dithers
    agent.epsilon = 0.0
    assert agent.learn(mdp, 1, 6, exact=True).expected[0] == pytest.approx(mdp.optimal_value)


@pytest.mark.parametrize("door", [lsvi, bootstrap])
def test_without_a_horizon_the_optimal_values_are_found_too(door):
    rng = np.random.default_rng(1)
    mdp = DiscountedMDP(np.eye(4)[rng.integers(4, size=(4, 2))], rng.random((4, 2)), 0.8)
    phi = features.OneHot(None, 4, 2)
    small = {"lam": 1e-9} if door is lsvi else {"value_range": (0, 5), "kappa": 1e-6}
    agent = door(phi, gamma=0.8, rng=1, **small)
    for s, a in [*np.ndindex(4, 2)] * 2:
        s_next = int(mdp.P[s, a].argmax())
        agent.observe(0, s, a, mdp.R[s, a, s_next], s_next)
    found = [agent.mean_values(0, s) for s in range(4)]
    np.testing.assert_allclose(found, mdp.Q, atol=1e-4)


@pytest.mark.parametrize("name", ["sums", "rows", "counts", "outcomes"])
def test_without_a_horizon_the_mean_is_a_function_of_the_data(name):
    """Not of the seed, nor of how often it was planned; it looks 100 steps ahead."""
    table = np.eye(6).reshape(3, 2, 6)
    door, phi = {
        "sums": (rlsvi, table),
        "rows": (rlsvi, lambda s: table[s]),
        "counts": (rlsvi, features.OneHot(None, 3, 2)),
        "outcomes": (bootstrap, features.OneHot(None, 3, 2)),
    }[name]
    found = []
    for seed, plans in ((1, 0), (2, 1), (3, 4)):
        agent = door(phi, value_range=(0, 150), gamma=0.99, rng=seed)
        for i in range(30):
            agent.observe(0, i % 3, i % 2, float(i % 5 > 1), (i + 1) % 3)
            if i % 7 < plans:
                agent.plan()
        agent.plan()
        found.append([agent.mean_values(0, s) for s in range(3)])
    assert found[0][1][0] > 40
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_rows_say_when_digits_are_lost():
    """Cubics close together, as sums of a table do: by one rule."""

    def cubic(s):
        return s ** np.arange(4.0)[None]

    for lam, told in ((1e-6, None), (1e-10, "digits"), (1e-15, "refused")):
        agent = rlsvi(cubic, lam, 1.0, gamma=0.5, rng=1)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            if told == "refused":
                with pytest.raises(ValueError, match="largest row"):
                    agent.observe(0, 0.3, 0, 1.0, None)
                continue
            for s in np.linspace(0.3, 0.301, 20):
                agent.observe(0, s, 0, 1.0, None)
        assert [told in str(one.message) for one in said] == [True] * (told is not None)


def test_what_nothing_follows_is_kept_as_sums():
    """A bandit's cost is flat, with a discount too."""
    agent = rlsvi(lambda s: [[1.0, s], [s, 2.0]], gamma=0.9, rng=1)
    for i in range(100):
        agent.observe(0, i / 7, i % 2, 1.0, None if i != 50 else 0.5)
    agent.plan()
    assert len(agent.learner.kept[0].columns.r) == 1


def test_two_periods_by_hand():
    """θ_1 = 3 from data of its own; period 0 then ends early or goes on."""
    for s_next, expected in ((None, 1.0), (0, 1.0 + 3.0)):
        agent = lsvi(np.ones((2, 1, 1, 1)), lam=1e-9)
        agent.observe(1, 0, 0, 3.0, 0)
        agent.observe(0, 0, 0, 1.0, s_next)
        agent.plan()
        np.testing.assert_allclose(agent.theta[:, 0], [expected, 3.0], rtol=1e-8)


@for_all(st.integers(0, 10**6), st.floats(0.1, 10), st.floats(0.1, 10))
def test_a_bandit_has_the_posterior_of_the_linear_gaussian_model(seed, lam, sigma):
    """Conditioning the joint Gaussian of (θ, y) on y, by the Schur complement."""
    rng = np.random.default_rng(seed)
    Phi, s, a = rng.standard_normal((4, 2, 3)), rng.integers(4, size=9), rng.integers(2, size=9)
    r, X = rng.standard_normal(9), Phi[s, a]
    gain = np.linalg.solve(X @ X.T / lam + sigma**2 * np.eye(9), X / lam).T
    mean, covariance = gain @ r, (np.eye(3) - gain @ X) / lam
    for phi, more in ((Phi[None], {}), (Phi, {"gamma": 0.0}), (lambda s: Phi[s], {"gamma": 0.0})):
        agent = rlsvi(phi, lam, sigma, rng=seed, **more)
        for i in range(9):
            agent.observe(0, int(s[i]), int(a[i]), r[i], int(s[i]))
        z = copy.deepcopy(agent.rng).standard_normal(3)
        agent.plan()
        white = np.linalg.cholesky(np.linalg.inv(covariance)).T @ (agent.theta[0] - mean)
        np.testing.assert_allclose(white, z, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(agent.mean_values(0, 1), Phi[1] @ mean, rtol=1e-6, atol=1e-8)


def exact_Q(Phi, log, lam, sigma, z):
    """Q̃ of Algorithm 1 in 60 digits, rounded once at the end; z[h] are the normals of period h."""
    H, S, A, K = Phi.shape
    phi = {pair: [Decimal(float(x)) for x in Phi[pair]] for pair in np.ndindex(H, S, A)}
    Q = {}
    with localcontext(prec=60):
        for h in reversed(range(H)):
            steps = [step for step in log if step[0] == h]
            rows = [phi[h, s, a] for _, s, a, _, _ in steps]
            b = [
                Decimal(float(r)) + (max(Q[h + 1, t, x] for x in range(A)) if h < H - 1 else 0)
                for _, _, _, r, t in steps
            ]
            scale = 1 / Decimal(sigma) ** 2
            L, y = [[Decimal(0)] * K for _ in range(K)], [Decimal(0)] * K
            for i, j in itertools.product(range(K), repeat=2):
                if j <= i:  # Cholesky of A'A/σ² + λI, row by row
                    m = sum(row[i] * row[j] for row in rows) * scale + (i == j) * Decimal(lam)
                    m -= sum(L[i][k] * L[j][k] for k in range(j))
                    L[i][j] = m.sqrt() if i == j else m / L[j][j]
            for i in range(K):
                right = sum(row[i] * t for row, t in zip(rows, b, strict=True)) * scale
                y[i] = (right - sum(L[i][k] * y[k] for k in range(i))) / L[i][i]
            y = [u + Decimal(float(v)) for u, v in zip(y, z[h], strict=True)]
            for i in reversed(range(K)):
                y[i] = (y[i] - sum(L[k][i] * y[k] for k in range(i + 1, K))) / L[i][i]
            for s, a in np.ndindex(S, A):
                Q[h, s, a] = sum(u * v for u, v in zip(phi[h, s, a], y, strict=True))
        return np.array([float(Q[pair]) for pair in np.ndindex(H, S, A)]).reshape(H, S, A)


@pytest.mark.parametrize("episodes", [2, 5, 6, 25])  # the basis has five columns
@pytest.mark.parametrize(("lam", "sigma"), [(1.0, 0.1), (100.0, 0.01)])
def test_sixty_digits_at_the_settings_of_the_paper(episodes, lam, sigma):
    mdp, rng, log = chain(8), np.random.default_rng(2), []
    Phi = features.coherent(mdp.Q, 5, 1)
    agent = rlsvi(Phi, lam, sigma, rng=1)
    for _ in range(episodes):
        agent.plan()
        s = mdp.start(rng)
        for h in range(mdp.H):
            a = agent.act(h, s)
            r, s_next, _ = mdp.step(h, s, a, rng)
            agent.observe(h, s, a, r, s_next)
            log.append((h, s, a, r, s_next))
            s = s_next
    rng = copy.deepcopy(agent.rng)
    z = copy.deepcopy(rng).standard_normal((mdp.H, 5))[::-1]
    agent.plan()
    Q = exact_Q(Phi, log, lam, sigma, z)
    assert np.abs(agent.Q - Q).max() < 1e-8 * np.abs(Q).max()
    s, a, r, s_next = (
        np.array(column).reshape(episodes, mdp.H) for column in list(zip(*log, strict=True))[1:]
    )
    theta = algorithm_1(Phi, np.c_[s, s_next[:, -1]], a, r, lam, sigma, rng)
    plain = np.einsum("hsak,hk->hsa", Phi, theta)
    assert np.abs(plain - Q).max() < 1e-10 * np.abs(Q).max()


@pytest.mark.parametrize("i", [-3, 4])
def test_scaled_features_with_scaled_lam_play_bit_for_bit_alike(i):
    mdp, c = chain(6), 2.0**i
    Phi = features.coherent(mdp.Q, 4, 1)
    one, two = (rlsvi(f * Phi, f**2, 0.1, rng=1) for f in (1.0, c))
    runs = [agent.learn(mdp, 60, 2, exact=True) for agent in (one, two)]
    assert same(runs[0], runs[1])
    assert same(one.theta, two.theta * c)


def test_lsvi_has_the_mean_of_rlsvi_by_the_same_range_of_values():
    agents = [door(features.OneHot(2, 3, 4), value_range=(-2, 6), rng=1) for door in (rlsvi, lsvi)]
    for agent in agents:
        agent.observe(1, 2, 3, 2.0, None)
        agent.observe(0, 1, 0, 0.5, 2)
        agent.plan()
    assert agents[0].mean_values(1, 2)[3] == pytest.approx(2 / (1 + 0.04**2 / 64), rel=1e-12)
    assert agents[1].values(1, 2)[3] == pytest.approx(2 / (1 + 0.04**2 / 64), rel=1e-12)


def test_rewards_in_other_units_change_no_action():
    """Because λ and σ follow from the range of values; powers of two are exact."""
    lam, sigma = suggest_parameters((-2, 6))
    assert (lam, sigma) == (1 / 64, 8 / 200)
    mdp = chain(6)
    run = rlsvi(features.tabular(mdp), value_range=(0, 1), rng=1).learn(mdp, 100, 2)
    scaled = FiniteMDP(mdp.P, 8 * mdp.R, terminal=8 * mdp.terminal, initial=mdp.initial, H=mdp.H)
    more = rlsvi(features.tabular(mdp), value_range=(0, 8), rng=1).learn(scaled, 100, 2)
    assert run.reward.sum() > 0
    assert np.array_equal(8 * run.reward, more.reward)


def test_features_in_other_units_change_no_action():
    mdp = chain(6)
    Phi = features.tabular(mdp)
    lam, sigma = suggest_parameters((0, 1), feature_norm=8)
    assert (lam, sigma) == (64, 1 / 200)
    runs = [
        rlsvi(Phi, 1.0, sigma, rng=1).learn(mdp, 100, 2),
        rlsvi(8 * Phi, lam, sigma, rng=1).learn(mdp, 100, 2),
    ]
    assert runs[0].reward.sum() > 0
    assert np.array_equal(runs[0].reward, runs[1].reward)


# ------------------------------------------------------------------ how one acts

values = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=6)


def law(q, epsilon=0.0, eta=0.0):
    out = np.full(len(q), np.nan)
    fill_action_probabilities(np.array(q, dtype=float), epsilon, eta, out)
    return out


@for_all(values, st.integers(0, 8))
def test_epsilon_greedy_is_the_law_of_algorithm_5_by_enumeration(q, eighths):
    epsilon, best = Fraction(eighths, 8), [a for a in range(len(q)) if q[a] == max(q)]
    p = [epsilon / len(q) + (a in best) * (1 - epsilon) / len(best) for a in range(len(q))]
    np.testing.assert_allclose(law(q, float(epsilon)), [float(x) for x in p], rtol=1e-15)


@for_all(values, st.floats(0.05, 50))
def test_boltzmann_is_the_law_of_algorithm_4(q, eta):
    weights = [math.exp(x / eta) for x in q]
    np.testing.assert_allclose(law(q, eta=eta), np.array(weights) / sum(weights), rtol=1e-12)


@pytest.mark.parametrize("q", [[1e17, 0.0, 1e17], [0.0, -1e300, 0.0], [0.0, -math.inf, 0.0]])
@pytest.mark.parametrize("eta", [0.0, 5e-324, 1e-3])
def test_huge_values_and_what_masks_forbid(q, eta):
    assert law(q, eta=eta).tolist() == [0.5, 0.0, 0.5]
    if q[1] == -math.inf:
        assert law(q, epsilon=0.5).tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_first_episode_is_uniform(name):
    """Exact binomial on 1400 fair coins: right code fails once in 10^6 choices of seeds."""
    mdp, right = chain(8), 0
    for seed in range(200):
        agent = LEARNERS[name](rlsvi, mdp, rng=1000 + seed)
        agent.plan()
        right += sum(agent.act(h, h) for h in range(7))
    assert binomtest(right, 1400, 0.5).pvalue > RATE


def test_every_step_uses_a_fixed_number_of_draws(make_mdp):
    for noisy in (False, True):
        mdp, rng = make_mdp(10, 3, 3, 2, noisy=noisy), np.random.default_rng(2)
        agent = lsvi(features.tabular(mdp), epsilon=0.5, rng=1)
        agent.learn(mdp, 10, rng)
        world, mind = np.random.default_rng(2), np.random.default_rng(1)
        world.random(10 * (1 + 3 + (4 if noisy else 0)))  # a start, moves and, if random, rewards
        mind.random(10 * 3)
        assert same(rng, world)
        assert same(agent.rng, mind)


def test_learning_on_the_chain_reaches_the_optimal_policy():
    mdp = chain(10)
    run = rlsvi(features.coherent(mdp.Q, 5, 1), rng=2).learn(mdp, 1500, 3, exact=True)
    assert np.mean(mdp.optimal_value - run.expected[-500:] < 1e-12) > 0.95
    assert np.mean(mdp.optimal_value - run.expected[:5] > 1e-12) > 0.5
    assert np.isnan(rlsvi(features.tabular(mdp), rng=2).learn(mdp, 5, 3).expected).all()


def test_ties_of_the_mean_fall_otherwise_after_each_observation():
    agent = rlsvi(features.one_hot(2, 3, 4), rng=1)
    chosen = []
    for _ in range(400):
        chosen.append(agent.greedy(0, 0))
        agent.observe(1, 2, 0, 0.0, 0)
    assert chisquare(np.bincount(chosen, minlength=4)).pvalue > RATE


def halves(s):
    return np.kron(np.eye(A), [1.0, s / S])


GETTERS = {
    "values": lambda agent: agent.values(0, 2),
    "mean_values": lambda agent: agent.mean_values(0, 2),
    "greedy": lambda agent: agent.greedy(0, 2),
    "Q": lambda agent: agent.Q,
    "policy": lambda agent: agent.policy(),
    "theta": lambda agent: agent.theta,
    "evaluate": lambda agent: agent.evaluate(chain(S), 1, rng=1, limit=S - 1),
    "repr": repr,
} | {
    name: lambda agent, name=name: getattr(agent, name)
    for name in ("H", "episode", "n_transitions", "last_run")
}
LOOKED_AT = {
    "sums": lambda: rlsvi(RANDOM[0], gamma=0.5, value_range=(-9, 9), rng=1),
    "sums, H": lambda: rlsvi(RANDOM, value_range=(-9, 9), rng=1),
    "sums, mean": lambda: lsvi(RANDOM[0], gamma=0.5, value_range=(-9, 9), rng=1),
    "counts": lambda: rlsvi(features.OneHot(None, S, A), rng=1),
    "counts, mean": lambda: lsvi(features.OneHot(None, S, A), eta=0.1, rng=1),
    "rows": lambda: rlsvi(halves, gamma=0.5, value_range=(-9, 9), rng=1),
    "rows, mean": lambda: lsvi(halves, gamma=0.5, value_range=(-9, 9), rng=1),
    "bootstrap": lambda: bootstrap(RANDOM[0], (-9, 9), gamma=0.5, rng=1),
}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_getter_changes_nothing(name):
    """Before the first plan, between plans and observations, and after them."""

    def lived(look):
        agent, rng, told = LOOKED_AT[name](), np.random.default_rng(3), []
        look(agent)
        for length in (2, 1, 4, 3):  # some data come before the first plan
            for h in range(length):
                s_next = int(rng.integers(S)) if h < 2 else None
                agent.observe(h % 3, int(rng.integers(S)), h % A, rng.normal(), s_next)
                look(agent)
            agent.plan()
            look(agent)
            told += [agent.values(0, s) for s in range(S)] + [agent.act(0, 1)]
            look(agent)
        run = agent.learn(chain(S), 3, rng=4, limit=S - 1) if agent.H is None else None
        look(agent)
        agent.plan()
        return told, run, agent.values(0, 2), agent.rng.bit_generator.state

    def look(agent, names):
        for getter in names:
            with contextlib.suppress(NotImplementedError, AttributeError, ValueError):
                GETTERS[getter](agent)

    expected = lived(lambda agent: None)
    for names in ([name] for name in GETTERS):
        assert same(lived(partial(look, names=names)), expected), names
    assert same(lived(partial(look, names=list(GETTERS))), expected)


def test_without_a_horizon_a_state_may_stand_alone():
    agent = rlsvi(halves, gamma=0.5, value_range=(-9, 9), rng=1)
    agent.plan()
    agent.observe(0, 2, agent.act(0, 2), 1.0, None)
    legal = [1]
    assert np.array_equal(agent.values(2), agent.values(0, 2))
    assert np.array_equal(agent.mean_values(2), agent.mean_values(7, 2))
    assert np.array_equal(agent.mean_values(2, legal=legal), agent.mean_values(0, 2, legal))
    assert agent.greedy(2) == agent.greedy(0, 2)
    assert agent.greedy(2, legal=legal) == agent.greedy(h=0, s=2, legal=legal) == 1
    assert agent.greedy(s=2, h=0) == agent.greedy(0, s=2)
    one = rlsvi(features.OneHot(2, S, A), rng=1)
    with pytest.raises(TypeError, match="Pass h and s"):
        one.greedy(2)


@pytest.mark.parametrize(
    ("agent", "settings"),
    [
        (lambda: rlsvi(RANDOM, 0.5, 0.3), "lam=0.5, sigma=0.3, gamma=1, by draws"),
        (
            lambda: rlsvi(halves, value_range=(-10, 0), gamma=0.9),
            "lam=0.01, sigma=0.05, value_range=(-10, 0), gamma=0.9, by draws",
        ),
        (lambda: lsvi(features.OneHot(2, S, A), 0.25), "lam=0.25, sigma=1, gamma=1, by the mean"),
        (
            lambda: bootstrap(RANDOM, (-1, 2), 0.2),
            "kappa=0.2, value_range=(-1, 2), gamma=1, by draws",
        ),
        (lambda: incremental(RANDOM, 0.5, 0.3), "lam=0.5, sigma=0.3, by draws"),
        (lambda: Agent(Means()), "Means(), by draws"),
    ],
    ids=["rlsvi", "range", "lsvi", "bootstrap", "incremental", "own"],
)
def test_an_agent_says_which_settings_are_in_use(agent, settings):
    assert settings in repr(agent())


def test_every_getter_is_tried():
    calls = {"act", "learn", "observe", "plan"}
    assert {name for name in dir(Agent) if not name.startswith("_")} - calls <= set(GETTERS)


# ------------------------------------------------------------------ a wrong range of values


def by_hand(agent, mdp, episodes, limit):
    rng = np.random.default_rng(2)
    for _ in range(episodes):
        agent.plan()
        s = mdp.start(rng)
        for h in range(limit):
            a = agent.act(h, s)
            r, s_next, _ = mdp.step(h, s, a, rng)
            agent.observe(h, s, a, r, s_next)
            s = s_next
    agent.plan()  # which says that the last episode is over


PLAY = {
    "compiled": lambda agent, mdp, n, limit: agent.learn(mdp, n, 2, limit=limit),
    "steps": lambda agent, mdp, n, limit: agent.learn(Steps(mdp), n, 2, limit=limit),
    "hand": by_hand,
}


class Steps:
    """An environment of which nothing is known but start and step."""

    def __init__(self, mdp):
        self.start, self.step = mdp.start, mdp.step


def paying(r, gamma=None):
    """One state for ever, which pays r for each of two actions; or five steps of it."""
    one = {"P": np.ones((1, 2, 1)), "R": np.array([[r, r]])}
    return DiscountedMDP(**one, gamma=gamma) if gamma else FiniteMDP.stationary(**one, H=5)


def coin(support=(0, 1)):
    """A bandit: one of two values, by a fair coin."""
    return FiniteMDP(np.ones((1, 1, 2, 1)), np.full((1, 1, 2), sum(support) / 2), support=support)


def sea():
    """Eight rows of a deep sea: each step to the right costs a little, and the treasure is far."""
    P, R = np.zeros((8, 8, 2, 8)), np.zeros((8, 8, 2, 8))
    for h, s in np.ndindex(8, 8):
        P[h, s, 0, max(s - 1, 0)] = P[h, s, 1, min(s + 1, 7)] = 1.0
        R[h, s, 1] = -0.01 / 8
    R[7, 7, 1] += 1.0
    return FiniteMDP(P, R)


RANGES = {  # environment, discount, range, steps of an episode, and the word of the warning
    "above": (lambda: paying(1.0), 1.0, (0, 1), 5, "Widen"),
    "right": (lambda: paying(1.0), 1.0, (0, 5), 5, None),
    "above, no H": (lambda: paying(1.0, 0.9), 0.9, (0, 4), 50, "Widen"),
    "right, no H": (lambda: paying(1.0, 0.9), 0.9, (0, 10), 50, None),
    "too low for costs": (lambda: paying(-1.0, 0.9), 0.9, (-20, -15), 50, "Widen"),
    "costs that the clock cuts off": (lambda: paying(-1.0, 0.9), 0.9, (-10, -9.9), 3, None),
    "below": (lambda: paying(-3.0), 1.0, (-2, 0), 5, None),
    "far inside": (coin, 1.0, (0, 1000), 1, "Narrow"),
    "inside": (coin, 1.0, (0, 10), 1, None),
    "never above in the mean": (lambda: coin((-1, 2)), 1.0, (-1, 0.5), 1, None),
    "all equal": (lambda: paying(0.0), 1.0, (0, 1), 5, None),
    "to be found": (sea, 1.0, (0, 1), 8, None),
}


@pytest.mark.parametrize("play", PLAY)
@pytest.mark.parametrize("name", RANGES)
def test_a_range_that_returns_contradict_is_mentioned_once(name, play):
    make, gamma, value_range, limit, word = RANGES[name]
    mdp = make()
    phi = features.OneHot(getattr(mdp, "H", None), mdp.S, mdp.A)
    agent = rlsvi(phi, gamma=gamma, value_range=value_range, rng=1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            PLAY[play](agent, mdp, 40, limit)
    told = [str(one.message) for one in told if "value_range" in str(one.message)]
    assert len(told) == (word is not None), told
    assert all(word in message for message in told)


def test_a_mean_that_never_hoped_does_not_say_that_a_range_is_too_wide():
    agent = lsvi(features.OneHot(8, 8, 2), value_range=(0, 1), epsilon=0.1, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.learn(sea(), 300, rng=2)


def test_the_returns_of_a_compiled_loop_are_those_of_steps():
    kept = []
    for play in PLAY.values():
        mdp = coin((-1, 2))
        agent = rlsvi(features.OneHot(1, 1, 2), value_range=(-1, 9), rng=1)
        play(agent, mdp, 40, 1)
        kept.append(agent._returns.watch.kept)
    assert kept[0][0] == 40
    assert same(kept[0], kept[1])
    assert same(kept[0], kept[2])


# ------------------------------------------------------------------ drawing again in mid-episode


@pytest.mark.parametrize(
    ("redraw", "due"),
    [
        (2, lambda path: len(path) > 2),
        (lambda s: s % 2, lambda path: path[-1] % 2 in {s % 2 for s in path[:-1]}),
        (None, lambda path: path[-1] in path[:-1]),  # the default for one-hot features
        (math.inf, lambda path: False),
    ],
    ids=["steps", "function", "repeats", "never"],
)
@pytest.mark.parametrize("door", [rlsvi, lsvi])
def test_a_sample_is_drawn_again_as_by_somebody_who_calls_plan(door, redraw, due):
    phi, rng = features.OneHot(None, S, A), np.random.default_rng(2)
    if door is lsvi and redraw is None:
        due = lambda path: False  # noqa: E731
    agent = door(phi, rng=1, options=Options(redraw=redraw))
    driven = door(phi, rng=1, options=Options(redraw=math.inf))
    for _ in range(6):
        s, path = int(rng.integers(S)), []
        agent.plan()
        driven.plan()
        for h in range(8):
            path.append(s)
            if due(path):
                driven.plan()
                path = [s]
            a, r, s_next = agent.act(h, s), float(rng.normal()), int(rng.integers(S))
            assert a == driven.act(h, s)
            assert same(agent.values(h, s), driven.values(h, s))
            agent.observe(h, s, a, r, s_next)
            driven.observe(h, s, a, r, s_next)
            s = s_next
    assert agent.episode == 5


# ------------------------------------------------------------------ environments and learners


class Corridor:
    """Positions 0.0, 0.1, …, in an array that is written into; at 0.5 it ends with a reward. Steps
    to the left are not allowed at 0."""

    def __init__(self):
        self.at = np.zeros(1)

    def start(self, rng):
        self.at[0] = 0.0
        return self.at

    def step(self, h, s, a, rng):
        self.at[0] += 0.1 if a else -0.1
        return float(self.at[0] > 0.45), self.at, bool(self.at[0] > 0.45)

    def legal(self, h, s):
        return [1] if s[0] < 0.05 else None


def near(s):
    """Features that are written into, too."""
    near.row[:] = np.maximum(0, 1 - 10 * np.abs(s[0] - np.arange(6) / 10))
    return near.row


near.row = np.zeros(6)


def test_an_environment_and_features_of_ones_own():
    """That use their arrays again, with masks, and an end that is not the clock's."""
    agent = rlsvi(features.PerActionFeatures(near, 2), value_range=(0, 1), gamma=0.9, rng=1)
    run = agent.learn(Corridor(), 40, rng=2, limit=50)
    assert run.length[-10:].tolist() == [5] * 10
    assert (run.first_action == 1).all()
    assert agent.mean_values(0, [0.4])[1] == pytest.approx(1, abs=0.01)
    assert agent.mean_values(0, [0.0])[1] == pytest.approx(0.9**4, abs=0.02)
    assert agent.evaluate(Corridor(), 3, rng=3, limit=50).tolist() == [1, 1, 1]


class Walk:
    """A walk to 0.3 by a step that writes into the state that it is given, or into its own."""

    H = 6

    def __init__(self, writes):
        self.writes = writes

    def start(self, rng):
        return np.zeros(1)

    def step(self, h, s, a, rng):
        s = s if self.writes else s.copy()
        s[0] += 0.1 if a else -0.1
        return float(s[0] > 0.25), s, bool(s[0] > 0.25)

    def legal(self, h, s):
        return [None, [0, 1], [1, 0], None, None, None][h]


def test_a_step_may_write_into_the_state_that_it_is_given():
    """And is never asked what is allowed beyond the last period."""

    def learned(writes):
        agent = rlsvi(features.PerActionFeatures(near, 2), value_range=(0, 1), gamma=0.9, rng=1)
        run = agent.learn(Walk(writes), 30, rng=2)
        return run, agent.mean_values(0, [0.2]), agent.evaluate(Walk(writes), 3, rng=3)

    assert learned(False)[0].reward.sum() > 20
    assert same(learned(True), learned(False))


def test_features_cannot_write_into_their_observation():
    def scaled(s):
        s *= 2
        return np.outer([1.0, -1.0], s)

    agent = rlsvi(scaled, gamma=0.9, rng=1)
    with pytest.raises(ValueError, match="read-only"):
        agent.learn(Walk(False), 1, rng=2)


class Means(Learner):
    """A learner in ten lines: means of rewards, one period."""

    def __init__(self):
        self.sums = {}

    def fit(self, rng, before):
        noise = 0.0 if rng is None else rng.normal(size=2)
        n, total = np.array([self.sums.get(a, (0, 0.0)) for a in range(2)]).T
        return total / np.maximum(n, 1) + noise / np.sqrt(n + 0.01)

    def values(self, fitted, h, s):
        return fitted.copy()

    def add(self, h, s, a, r, s_next):
        n, total = self.sums.get(a, (0, 0.0))
        self.sums[a] = n + 1, total + r


class Arms:
    def start(self, rng):
        return "here"

    def step(self, h, s, a, rng):
        return float(a + rng.normal()), s, True


def test_a_learner_of_ones_own_is_as_good_as_ours():
    agent = Agent(Means(), rng=1)
    run = agent.learn(Arms(), 500, rng=2)
    assert run.first_action[-100:].mean() > 0.9
    assert run.max_state.tolist() == [-1] * 500
    assert agent.greedy(0, "here") == 1
    assert agent.n_transitions == 500
    assert agent.evaluate(Arms(), 100, rng=3).mean() > 0.5
    with pytest.raises(NotImplementedError, match="table of states"):
        agent.Q  # noqa: B018


class Paying(FiniteMDP):
    """An MDP whose steps pay 100 more than it says."""

    def step(self, h, s, a, rng):
        r, s_next, over = super().step(h, s, a, rng)
        return r + 100, s_next, over


@pytest.mark.parametrize("phi", [features.OneHot(3, 5, 2), np.ones((3, 5, 2, 1))])
def test_steps_of_an_mdp_of_ones_own_are_played(phi, make_mdp):
    mdp = make_mdp(1, 3, 5, 2)
    agent = rlsvi(phi, rng=1)
    assert agent.learn(Paying(mdp.P, mdp.R), 5, rng=2).reward.min() > 200
    assert agent.evaluate(Paying(mdp.P, mdp.R), 5, rng=3).min() > 200


@pytest.mark.parametrize("phi", [features.OneHot(3, 5, 2), np.ones((3, 5, 2, 1))])
def test_masks_are_not_forgotten_where_there_are_none(phi):
    """An MDP says nothing of them, and what forbidden actions would pay is not earned."""
    pays = np.zeros((3, 5, 2))
    pays[1, :, 0] = 1.0
    mdp = FiniteMDP(np.full((3, 5, 2, 5), 0.2), pays)
    agent = rlsvi(phi, rng=1)
    for s in range(5):
        agent.observe(0, 0, 0, 0.0, s, [1])
    assert not agent.learn(mdp, 5, rng=2).reward.any()


class Named(Agent):
    """An agent with something of its own."""

    def __init__(self, name, learner, **how):
        super().__init__(learner, **how)
        self.name = name


def test_an_agent_of_ones_own_can_be_copied_and_pickled():
    mdp = chain(4)
    one = Named("mine", rlsvi(features.tabular(mdp)).learner, rng=1)
    one.learn(mdp, 5, rng=2)
    others = [copy.deepcopy(one), pickle.loads(pickle.dumps(one))]
    run = one.learn(mdp, 5, rng=3)
    for other in others:
        assert other.name == "mine"
        assert same(other.learn(mdp, 5, rng=3), run)


@pytest.mark.parametrize("gamma", [0.9, 0.999])
def test_the_first_mean_in_compiled_code_settles(gamma):
    """A state that pays 1 in every step, seen once before the first episode."""
    mdp = DiscountedMDP(np.ones((1, 1, 1)), np.ones((1, 1, 1)), gamma)

    class Steps:
        start, step = mdp.start, mdp.step

    found = []
    for env in (mdp, Steps()):
        agent = lsvi(features.OneHot(None, 1, 1), 1e-9, gamma=gamma, rng=1)
        agent.observe(0, 0, 0, 1.0, 0)
        found.append(agent.learn(env, 1, 2, limit=3).predicted_value[0])
    np.testing.assert_allclose(found, 1 / (1 - gamma), rtol=1e-4)
    assert found[0] == found[1]


@pytest.mark.parametrize("mean_sweeps", [None, 50])
def test_a_mean_that_does_not_settle_is_mentioned_unless_its_sweeps_are_bounded(mean_sweeps):
    rng = np.random.default_rng(72)
    options = Options(mean_sweeps=mean_sweeps)
    agent = lsvi(rng.standard_normal((4, 3, 3)), 0.01, gamma=0.99, options=options, rng=1)
    for _ in range(2):
        s, a, r, s_next = rng.integers(4), rng.integers(3), rng.standard_normal(), rng.integers(4)
        agent.observe(0, int(s), int(a), r, int(s_next))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        agent.mean_values(0, 0)
    assert any("mean_sweeps" in str(one.message) for one in told) == (mean_sweeps is None)


@pytest.mark.parametrize(
    "make",
    [
        partial(rlsvi, features.OneHot(None, S, 1)),
        partial(rlsvi, np.eye(S)[:, None]),
        partial(rlsvi, lambda s: np.eye(S)[[s]]),
        partial(lsvi, features.OneHot(None, S, 1)),
    ],
    ids=["counts", "sums", "rows", "lsvi"],
)
def test_a_bound_on_sweeps_is_how_far_the_mean_looks_ahead(make):
    agent = make(1e-6, gamma=0.9, options=Options(mean_sweeps=3), rng=1)
    for s in range(S):  # a reward at the end of a road
        agent.observe(0, s, 0, float(s == S - 1), s + 1 if s < S - 1 else None)
    found = [agent.mean_values(0, s)[0] for s in range(S)]
    np.testing.assert_allclose(found, [0] * (S - 3) + [0.81, 0.9, 1], atol=1e-5)
