"""RLSVI and LSVI: the fast and the verbatim form, against each other and against the paper."""

import copy
import enum
import itertools
import math
import pickle
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from rlsvi_core import FiniteMDP, Reading, VerbatimAgent, chain, features, lsvi, rlsvi
from rlsvi_core.agents import DiscountedAgent, FiniteAgent, StoredAgent, rivals, tabular
from rlsvi_core.agents.acting import action_probabilities
from rlsvi_core.agents.continual import FastContinual
from rlsvi_core.agents.incremental import IncrementalAgent, VerbatimIncremental, incremental
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.envs.tetris import Tetris
from rlsvi_core.episodes import empty_run, record_step
from rlsvi_core.mdp import DiscountedMDP
from rlsvi_study.recommender.products import Products
from rlsvi_study.tetris.ring import Placements, RingAgent

RATE = 1e-6  # how often a statistical test of right code fails under a new seed

FORMS = [FiniteAgent, VerbatimAgent]
INCREMENTAL = {FiniteAgent: IncrementalAgent, VerbatimAgent: VerbatimIncremental}
AGENTS = {
    "rlsvi": lambda Phi, **kw: rlsvi(Phi, 1.0, 0.1, **kw),
    "rlsvi, prior first": lambda Phi, **kw: rlsvi(
        Phi, 0.7, 0.5, reading=Reading(first_episode="prior"), **kw
    ),
    "lsvi greedy": lambda Phi, **kw: lsvi(Phi, 0.5, **kw),
    "lsvi ε-greedy": lambda Phi, **kw: lsvi(Phi, 0.5, epsilon=0.2, **kw),
    "lsvi Boltzmann": lambda Phi, **kw: lsvi(Phi, 0.5, eta=0.3, **kw),
    "incremental": lambda Phi, form=FiniteAgent, **kw: incremental(
        Phi, 1.0, 0.1, lambda l: 1 / (l + 2), form=INCREMENTAL[form], **kw
    ),
}
BASES = {
    "tabular": features.tabular,
    "coherent": lambda mdp: features.coherent(mdp.Q, 4, 1),
    "per period": lambda mdp: features.coherent(mdp.Q, 4, 1, reading="per_period"),
    "agnostic": lambda mdp: features.agnostic(mdp.Q, 4, 0.5, 1),
}
every_agent = pytest.mark.parametrize("agent_of", AGENTS.values(), ids=AGENTS)
every_basis = pytest.mark.parametrize("basis_of", BASES.values(), ids=BASES)
every_form = pytest.mark.parametrize("form", FORMS)


class Game:
    """An episodic environment written afresh, from dense arrays, with the library's draws."""

    def __init__(self, mdp, rng):
        self.mdp, self.rng = mdp, np.random.default_rng(rng)

    def _pick(self, p):
        last = int(np.flatnonzero(p)[-1])
        return min(int(np.searchsorted(np.cumsum(p), self.rng.random(), side="right")), last)

    def _reward(self, mean):
        if self.mdp.support is None:
            return mean
        low, high = self.mdp.support
        return high if self.rng.random() < (mean - low) / (high - low) else low

    def play(self, agent):
        """One episode through plan, act and observe: its states, actions and rewards."""
        m = self.mdp
        agent.plan()
        states, actions, rewards = [self._pick(m.initial)], [], []
        for h in range(m.H):
            s, t = states[-1], h if len(m.P) > 1 else 0
            a = agent.act(h, s)
            s_next = self._pick(m.P[t, s, a])
            r = self._reward(m.R[t, s, a, s_next])
            if h == m.H - 1:
                r += self._reward(m.terminal[s_next])
            agent.observe(h, s, a, r, s_next)
            states, actions, rewards = [*states, s_next], [*actions, a], [*rewards, r]
        return states, actions, rewards


def played(agent, mdp, episodes, rng):
    """Trajectories of several episodes as three integer or float arrays."""
    game = Game(mdp, rng)
    return tuple(
        np.array(x) for x in zip(*(game.play(agent) for _ in range(episodes)), strict=True)
    )


def textbook(Phi, states, actions, rewards, lam, sigma, normals):
    """Algorithm 1 by explicit loops and explicit inverses; LSVI if ``normals`` is None."""
    H, _, A, K = Phi.shape
    theta = [np.zeros(K) for _ in range(H)]
    for h in range(H - 1, -1, -1):
        precision, right = lam * np.eye(K), np.zeros(K)
        for s, a, r in zip(states, actions, rewards, strict=True):
            phi, target = Phi[h, s[h], a[h]], r[h]
            if h != H - 1:
                target = target + max(sum(Phi[h + 1, s[h + 1], x] * theta[h + 1]) for x in range(A))
            precision = precision + np.outer(phi, phi) / sigma**2
            right = right + phi * target / sigma**2
        theta[h] = np.linalg.inv(precision) @ right
        if normals is not None:
            theta[h] = theta[h] + np.linalg.inv(np.linalg.cholesky(precision)).T @ normals(K)
    return np.array(theta)


def relative_gap(x, y):
    return np.abs(x - y).max() / max(np.abs(y).max(), 1e-300)


def observe_all(agent, states, actions, rewards):
    for s, a, r in zip(states, actions, rewards, strict=True):
        for h in range(agent.H):
            agent.observe(h, s[h], a[h], r[h], s[h + 1])


@pytest.mark.parametrize("form", [int, "VerbatimAgent", FiniteMDP])
def test_a_form_is_a_class_of_agents(form):
    with pytest.raises(ValueError, match="form"):
        rlsvi(np.ones((2, 1, 1, 1)), form=form)


def test_the_record_of_an_episode():
    run = empty_run(2)
    for h, a, r, s_next in ((0, 3, 0.5, 7), (1, 5, 0.25, 2)):
        record_step(run, 1, h, a, r, s_next)
    assert (run.opening[1], run.reward[1], run.furthest[1]) == (3, 0.75, 7)
    assert (run.opening[0], run.reward[0], run.furthest[0]) == (0, 0, 0)


# --- fast = verbatim = textbook -------------------------------------------------------------


def test_learn_is_plan_act_and_observe(make_mdp):
    """Of the printed form, whose loop the others share or are compared with."""
    mdp = make_mdp(2, 4, 3, 3, noisy=True)
    Phi = features.coherent(mdp.Q, 4, 1)
    driven, learned = (rlsvi(Phi, rng=7, form=VerbatimAgent) for _ in range(2))
    states, actions, rewards = played(driven, mdp, 30, 8)
    run = learned.learn(mdp, 30, 8)
    np.testing.assert_allclose(run.reward, rewards.sum(axis=1), rtol=1e-12, atol=1e-12)
    assert np.array_equal(run.furthest, states.max(axis=1))
    assert np.array_equal(run.opening, actions[:, 0])
    assert run.length.tolist() == [4] * 30
    assert np.array_equal(learned.theta, driven.theta)


@pytest.mark.parametrize("name", ["rlsvi", "rlsvi, prior first", "lsvi ε-greedy"])
@every_form
def test_both_forms_equal_a_textbook_of_loops_and_inverses(name, form, make_mdp):
    mdp = make_mdp(3, 3, 3, 2, noisy=True)
    Phi = np.random.default_rng(0).standard_normal((3, 3, 2, 3))
    agent, game = AGENTS[name](Phi, rng=9, form=form), Game(mdp, 10)
    history = ([], [], [])
    for l in range(12):
        normals = copy.deepcopy(agent.rng).standard_normal if agent.sample else None
        episode = game.play(agent)
        if l == 0 and name != "rlsvi, prior first":
            theta = np.zeros_like(agent.theta)  # the footnote's rule
        else:
            theta = textbook(Phi, *history, agent.lam, agent.sigma, normals)
        np.testing.assert_allclose(agent.theta, theta, rtol=1e-9, atol=1e-9)
        for kept, new in zip(history, episode, strict=True):
            kept.append(new)


@every_form
def test_actions_are_greedy_in_the_weights_of_the_episode(form, make_mdp):
    mdp = make_mdp(4, 3, 3, 3)
    Phi = np.random.default_rng(1).standard_normal((3, 3, 3, 3))
    agent, game = rlsvi(Phi, rng=1, form=form), Game(mdp, 2)
    for l in range(20):
        states, actions, _ = game.play(agent)
        for h in range(3):
            best = np.argmax([sum(Phi[h, states[h], a] * agent.theta[h]) for a in range(3)])
            assert l == 0 or actions[h] == best


@every_form
def test_tabular_rlsvi_is_the_closed_form_of_section_5(form, make_mdp):
    mdp, lam, sigma = make_mdp(5, 3, 3, 2, noisy=True), 0.8, 0.6
    agent = rlsvi(features.tabular(mdp), lam, sigma, rng=11, form=form)
    states, actions, rewards = played(agent, mdp, 25, 12)
    rng = copy.deepcopy(agent.rng)
    agent.plan()
    V = np.zeros(3)
    for h in reversed(range(3)):
        z = rng.standard_normal(6).reshape(3, 2)
        theta = np.empty((3, 2))
        for s, a in np.ndindex(3, 2):
            here = (states[:, h] == s) & (actions[:, h] == a)
            n = here.sum()
            R = rewards[here, h].mean() if n else 0
            PV = V[states[here, h + 1]].mean() if n else 0
            mean, variance = n * (R + PV) / (n + lam * sigma**2), sigma**2 / (n + lam * sigma**2)
            theta[s, a] = mean + math.sqrt(variance) * z[s, a]
        np.testing.assert_allclose(agent.theta[h].reshape(3, 2), theta, rtol=1e-11, atol=1e-12)
        V = theta.max(axis=1)


@every_form
@given(st.integers(0, 10**6), st.floats(0.1, 10), st.floats(0.1, 10))
def test_one_period_of_rlsvi_is_bayesian_linear_regression(form, seed, lam, sigma):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((1, 4, 2, 3))
    agent = rlsvi(Phi, lam, sigma, rng=seed, form=form)
    s, a, r = rng.integers(4, size=9), rng.integers(2, size=9), rng.standard_normal(9)
    observe_all(agent, np.column_stack([s, s]), a[:, None], r[:, None])
    z = copy.deepcopy(agent.rng).standard_normal(3)
    agent.plan()
    A = Phi[0, s, a]
    # Conditioning the joint Gaussian of (θ, y) on y = r, by the Schur complement.
    gain = np.linalg.solve(A @ A.T / lam + sigma**2 * np.eye(9), A / lam).T
    mean, covariance = gain @ r, (np.eye(3) - gain @ A) / lam
    white = np.linalg.cholesky(np.linalg.inv(covariance)).T @ (agent.theta[0] - mean)
    np.testing.assert_allclose(white, z, rtol=1e-6, atol=1e-6)


def test_the_fast_form_stays_accurate_where_the_printed_inverse_does_not():
    # One period, LSVI with ridge 2e-8 and collinear features, against rational arithmetic.
    rng = np.random.default_rng(2)
    Phi = rng.standard_normal((1, 6, 2, 3))
    Phi[..., 2] = Phi[..., 0] * (1 + 1e-9)
    pairs, r = list(np.ndindex(6, 2)), rng.standard_normal(12)
    agent = lsvi(Phi, 2e-8)
    for (s, a), y in zip(pairs, r, strict=True):
        agent.observe(0, s, a, y, 0)
    agent.plan()
    A = Phi.reshape(12, 3)
    F = [[Fraction(x) for x in row] for row in A]
    M = [
        [sum(f[j] * f[k] for f in F) + (j == k) * Fraction(2e-8) for k in range(3)]
        + [sum(f[j] * Fraction(y) for f, y in zip(F, r, strict=True))]
        for j in range(3)
    ]
    for j in range(3):
        M[j] = [x / M[j][j] for x in M[j]]
        for i in {0, 1, 2} - {j}:
            M[i] = [x - M[i][j] * y for x, y in zip(M[i], M[j], strict=True)]
    exact = np.array([float(sum(f[j] * M[j][3] for j in range(3))) for f in F])
    printed = A @ np.linalg.inv(A.T @ A + 2e-8 * np.eye(3)) @ A.T @ r
    assert relative_gap(A @ agent.theta[0], exact) < 1e-11
    assert relative_gap(printed, exact) > 1e-8


@every_form
def test_nothing_follows_an_episode_that_ended_early(form):
    # Two periods, one state, θ_1 = 3 from data of its own; period 0 then ends early or goes on.
    for s_next, expected in ((None, 1.0), (0, 1.0 + 3.0)):
        agent = lsvi(np.ones((2, 1, 1, 1)), lam=1e-9, form=form)
        agent.observe(1, 0, 0, 3.0, 0)
        agent.observe(0, 0, 0, 1.0, s_next)
        agent.plan()
        np.testing.assert_allclose(agent.theta[:, 0], [expected, 3.0], rtol=1e-8)


def exact_Q(Phi, states, actions, rewards, lam, sigma, z):
    """Q̃ of Algorithm 1 in 60 digits, rounded once at the end; z[h] are the normals of period h."""
    H, S, A, K = Phi.shape
    phi = {pair: [Decimal(float(x)) for x in Phi[pair]] for pair in np.ndindex(H, S, A)}
    Q = {}
    with localcontext(prec=60):
        for h in reversed(range(H)):
            rows = [phi[h, s[h], a[h]] for s, a in zip(states, actions, strict=True)]
            b = [
                Decimal(float(r[h]))
                + (max(Q[h + 1, s[h + 1], x] for x in range(A)) if h < H - 1 else 0)
                for s, r in zip(states, rewards, strict=True)
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


@every_form
@pytest.mark.parametrize("episodes", [2, 5, 6, 25])  # the basis has five columns
@pytest.mark.parametrize(("lam", "sigma"), [(1.0, 0.1), (100.0, 0.01)])
def test_both_forms_agree_with_sixty_digits_at_the_settings_of_the_paper(
    form, episodes, lam, sigma
):
    mdp = chain(8)
    Phi = features.coherent(mdp.Q, 5, 1)
    agent = rlsvi(Phi, lam, sigma, rng=1, form=form)
    data = played(agent, mdp, episodes, 2)
    z = copy.deepcopy(agent.rng).standard_normal((mdp.H, 5))[::-1]
    agent.plan()
    Q = exact_Q(Phi, *data, lam, sigma, z)
    assert relative_gap(np.einsum("hsak,hk->hsa", Phi, agent.theta), Q) < 1e-8


# --- least-squares value iteration ----------------------------------------------------------


@every_form
def test_lsvi_minimises_the_printed_objective(form, make_mdp):
    mdp, lam = make_mdp(6, 3, 4, 2, noisy=True), 0.3
    Phi = features.agnostic(mdp.Q, 4, 0.5, 1)
    agent = lsvi(Phi, lam, epsilon=0.3, rng=1, form=form)
    states, actions, rewards = played(agent, mdp, 30, 2)
    agent.plan()
    for h in range(3):
        A = Phi[h, states[:, h], actions[:, h]]
        b = rewards[:, h].copy()
        if h < 2:
            b += (Phi[h + 1] @ agent.theta[h + 1]).max(axis=1)[states[:, h + 1]]
        theta = agent.theta[h]
        np.testing.assert_allclose(A.T @ (A @ theta - b) + lam * theta, 0, atol=1e-11)

        def objective(zeta, A=A, b=b):
            return ((A @ zeta - b) ** 2).sum() + lam * (zeta**2).sum()

        for step in np.vstack([np.eye(4), -np.eye(4)]) * 1e-3:
            assert objective(theta + step) > objective(theta)


@every_basis
@every_form
def test_lsvi_weights_are_exactly_zero_until_the_first_reward(basis_of, form):
    mdp = chain(6)
    for dither in ({"epsilon": 0.1}, {"eta": 0.5}):
        agent, rng = lsvi(basis_of(mdp), rng=3, form=form, **dither), np.random.default_rng(4)
        for _ in range(400):
            rewarded = agent.learn(mdp, 1, rng).reward[0] > 0
            assert not agent.theta.any()
            if rewarded:
                break
        agent.plan()
        assert rewarded
        assert agent.theta.any()


@given(st.integers(0, 10**6), st.floats(0.1, 10), st.floats(0.1, 3))
def test_rlsvi_without_its_noise_is_lsvi_with_ridge_lam_sigma_squared(seed, lam, sigma):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((3, 4, 2, 3))
    s, a, r = rng.integers(4, size=(4, 9)), rng.integers(2, size=(3, 9)), rng.random((3, 9))

    class Silent(np.random.Generator):
        def standard_normal(self, K):
            return np.zeros(K)

    one = rlsvi(Phi, lam, sigma, rng=Silent(np.random.PCG64()), form=VerbatimAgent)
    two = lsvi(Phi, lam * sigma**2, form=VerbatimAgent)
    for agent in (one, two):
        observe_all(agent, s.T, a.T, r.T)
        agent.plan()
    np.testing.assert_allclose(one.theta, two.theta, rtol=1e-8, atol=1e-8)


# --- from values to actions -----------------------------------------------------------------

values = st.lists(st.sampled_from([-3.0, 0.0, 1.0, 1.5]), min_size=1, max_size=5)


def law(q, epsilon=0.0, eta=0.0):
    out = np.full(len(q), np.nan)
    action_probabilities(np.array(q, dtype=float), epsilon, eta, out)
    return out


@given(values, st.integers(0, 8))
def test_epsilon_greedy_is_the_law_of_algorithm_5_by_enumeration(q, eighths):
    epsilon, best = Fraction(eighths, 8), [a for a in range(len(q)) if q[a] == max(q)]
    p = [Fraction(0)] * len(q)
    for xi, coin in ((1, epsilon), (0, 1 - epsilon)):
        choices = range(len(q)) if xi else best
        for a in choices:
            p[a] += coin / len(choices)
    np.testing.assert_allclose(law(q, float(epsilon)), [float(x) for x in p], rtol=1e-15)


@given(values, st.floats(0.05, 50))
def test_boltzmann_is_the_law_of_algorithm_4(q, eta):
    weights = [math.exp(x / eta) for x in q]
    expected = [w / sum(weights) for w in weights]
    np.testing.assert_allclose(law(q, eta=eta), expected, rtol=1e-12)


def test_greedy_splits_every_tie_evenly():
    for tied in itertools.product([0.0, 1.0], repeat=4):
        best = [q == max(tied) for q in tied]
        assert law(tied).tolist() == [b / sum(best) for b in best]


@pytest.mark.parametrize("q", [[1e17, 0.0, 1e17], [0.0, -1e300, 0.0], [1e300, -1e300, 1e300]])
@pytest.mark.parametrize("eta", [0.0, 5e-324, 1e-300, 1e-3])
def test_huge_values_and_vanishing_temperatures_give_the_greedy_law(q, eta):
    assert law(q, eta=eta).tolist() == [0.5, 0.0, 0.5]


def test_boltzmann_ignores_a_common_shift_and_flattens_when_hot():
    np.testing.assert_allclose(law([2.0, 3.0], eta=1.0), law([2.0**40, 2.0**40 + 1], eta=1.0))
    np.testing.assert_allclose(law([0.0, 1.0, 7.0], eta=1e12), 1 / 3, rtol=1e-10)


@every_form
def test_the_first_episode_is_uniform_on_the_chain(form):
    mdp, actions = chain(20), []
    Phi = features.coherent(mdp.Q, 4, 1)
    for seed in range(200):
        actions += Game(mdp, seed).play(rlsvi(Phi, rng=1000 + seed, form=form))[1]
    # Exact binomial on 3800 fair coins: right code fails once in 10^6 choices of seeds.
    assert binomtest(sum(actions), len(actions), 0.5).pvalue > RATE


def test_dithering_finds_the_reward_with_probability_p_star_over_2_to_the_H():
    mdp, trials = chain(4), 1500
    Phi = features.coherent(mdp.Q, 3, 1)
    rng = np.random.default_rng(7)
    found = sum(
        lsvi(Phi, epsilon=0.1, rng=rng).learn(mdp, 1, rng).reward[0] > 0 for _ in range(trials)
    )
    assert binomtest(int(found), trials, 0.75**3 / 8).pvalue > RATE  # exact binomial


@every_form
def test_a_first_episode_from_the_prior_draws_normal_over_root_lam(form):
    agent = rlsvi(
        np.ones((2, 3, 2, 4)), lam=4.0, reading=Reading(first_episode="prior"), rng=8, form=form
    )
    agent.plan()
    z = np.random.default_rng(8).standard_normal((2, 4))[::-1]  # the last period is drawn first
    np.testing.assert_allclose(agent.theta, z / 2, rtol=1e-14)


@every_agent
@every_form
def test_policy_is_the_law_act_draws_from(agent_of, form, make_mdp):
    mdp = make_mdp(7, 2, 2, 3)
    agent = agent_of(features.agnostic(mdp.Q, 3, 0.5, 1), rng=9, form=form)
    agent.learn(mdp, 5, 10)
    agent.plan()
    policy, shadow = agent.policy(), copy.deepcopy(agent.rng)
    assert (policy > 0).sum(axis=2).max() == (1 if agent.epsilon == agent.eta == 0 else 3)
    for h, s in [*np.ndindex(2, 2)] * 20:
        edges = np.cumsum(policy[h, s])
        assert agent.act(h, s) == np.searchsorted(edges, shadow.random(), side="right")


# --- learning on ----------------------------------------------------------------------------


def test_compiled_generators_draw_what_numpy_draws():
    @numba.njit
    def mixed(rng, out):
        for i in range(out.shape[0]):
            out[i] = rng.standard_normal() if i % 3 else rng.random()

    rng, out = np.random.default_rng(11), np.empty(3000)
    mixed(np.random.default_rng(11), out)
    expected = [rng.standard_normal() if i % 3 else rng.random() for i in range(3000)]
    assert out.tolist() == expected


@every_agent
@every_form
def test_expected_is_the_exact_value_of_the_policy_played(agent_of, form, make_mdp):
    for mdp in (chain(5), make_mdp(9, 3, 3, 3, noisy=True)):
        agent = agent_of(features.agnostic(mdp.Q, 4, 0.3, 1), rng=14, form=form)
        rng = np.random.default_rng(15)
        for _ in range(12):
            run = agent.learn(mdp, 1, rng, exact=True)
            value = mdp.initial @ mdp.evaluate(agent.policy())[0]  # weights are still the episode's
            assert math.isclose(run.expected[0], value, rel_tol=1e-12, abs_tol=1e-12)
            assert run.expected[0] <= mdp.value + 1e-12


@every_form
def test_expected_is_nan_and_changes_nothing_unless_asked_for(form):
    mdp = chain(5)
    Phi = features.coherent(mdp.Q, 4, 1)
    runs = [rlsvi(Phi, rng=1, form=form).learn(mdp, 40, 2, exact=exact) for exact in (True, False)]
    assert np.isnan(runs[1].expected).all()
    assert np.isfinite(runs[0].expected).all()
    assert np.array_equal(runs[0].reward, runs[1].reward)


@every_form
@pytest.mark.parametrize("noisy", [False, True])
def test_every_step_uses_a_fixed_number_of_draws(form, noisy, make_mdp):
    mdp = make_mdp(10, 3, 3, 2, noisy=noisy)
    agent = lsvi(features.tabular(mdp), epsilon=0.5, rng=1, form=form)
    rng = np.random.default_rng(2)
    agent.learn(mdp, 10, rng)
    world, mind = np.random.default_rng(2), np.random.default_rng(1)
    world.random(10 * (1 + 3 + (4 if noisy else 0)))  # a start, 3 moves and, if random, 4 rewards
    mind.random(10 * 3)
    assert rng.random() == world.random()
    assert agent.rng.random() == mind.random()


def test_learning_on_the_chain_reaches_the_optimal_policy():
    mdp = chain(10)
    run = rlsvi(features.coherent(mdp.Q, 5, 1), rng=2).learn(mdp, 1500, 3, exact=True)
    assert np.mean(mdp.value - run.expected[-500:] < 1e-12) > 0.95
    assert np.mean(mdp.value - run.expected[:5] > 1e-12) > 0.5


@pytest.mark.parametrize("i", [-3, 1, 4])
@every_form
def test_scaled_features_with_scaled_lam_play_bit_for_bit_alike(form, i):
    mdp, c = chain(6), 2.0**i
    Phi = features.coherent(mdp.Q, 4, 1)
    one, two = (rlsvi(f * Phi, f**2, 0.1, rng=1, form=form) for f in (1.0, c))
    episodes = 600 if form is FiniteAgent else 60
    runs = [agent.learn(mdp, episodes, 2, exact=True) for agent in (one, two)]
    assert np.array_equal(runs[0].reward, runs[1].reward)
    assert np.array_equal(runs[0].expected, runs[1].expected)
    assert np.array_equal(one.theta, two.theta * c)


def test_scaled_features_with_scaled_lam_play_alike_to_rounding():
    mdp = chain(6)
    Phi = features.coherent(mdp.Q, 4, 1)
    one, two = (rlsvi(f * Phi, f**2, 0.1, rng=1) for f in (1.0, 3.0))
    assert np.array_equal(one.learn(mdp, 300, 2).reward, two.learn(mdp, 300, 2).reward)
    assert relative_gap(3 * two.theta, one.theta) < 1e-6


def test_the_fast_form_keeps_nothing_per_episode():
    mdp = chain(5)
    Phi = features.coherent(mdp.Q, 3, 1)

    def growth(form, episodes):
        agent = rlsvi(Phi, rng=1, form=form)
        agent.learn(mdp, 1, 2)
        before = len(pickle.dumps(agent))
        agent.learn(mdp, episodes, 3)
        return len(pickle.dumps(agent)) - before

    assert abs(growth(FiniteAgent, 2000)) < 64  # a counter or two may need a longer integer
    assert growth(VerbatimAgent, 100) > 64


@pytest.mark.parametrize("form", [None, StoredAgent, VerbatimAgent])
@pytest.mark.parametrize("phi", [features.tabular(chain(5)), features.OneHot(4, 5, 2)])
def test_a_table_learns_from_any_environment(phi, form):
    """By steps what compiled code does otherwise."""

    class Own:
        start, step = chain(5).start, chain(5).step

    one, two = (rlsvi(phi, rng=1, form=form).learn(env, 40, 2) for env in (chain(5), Own()))
    assert one.reward.sum() > 0
    for name in ("reward", "opening", "length", "furthest"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


# --- what is mentioned ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: rlsvi(features.tabular(chain(3)), rng=1),
        lambda: rlsvi(features.OneHot(2, 3, 2), rng=1),
        lambda: rlsvi(features.OneHot(None, 3, 2), gamma=0.9, rng=1),
        lambda: rlsvi(lambda s: np.eye(2) + s, rng=1),
    ],
)
def test_a_forgotten_plan_is_mentioned(make):
    agent = make()
    with pytest.warns(UserWarning, match="plan") as all:
        assert {agent.act(0, 1) for _ in range(20)} == {0, 1}
    assert len(all) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent = make()
        agent.observe(0, 1, 1, 1.0, 2)  # data may come before
        agent.greedy(0, 1)
        agent.plan()
        agent.act(0, 1)


def test_values_that_grow_beyond_all_numbers_are_refused():
    agent = rlsvi(lambda s: np.array([[s]]), lam=1e-6, gamma=0.99, sweeps=math.inf, rng=1)
    for _ in range(50):
        agent.observe(0, 1.0, 0, 0.0, 2.0)
    before = copy.deepcopy(agent)
    with pytest.raises(FloatingPointError, match="finite"), np.errstate(all="ignore"):
        agent.plan()
    assert np.array_equal(agent.theta, before.theta)
    assert agent.rng.random() == before.rng.random()


def test_a_half_life_without_anything_that_decays_is_refused():
    with pytest.raises(ValueError, match="half_life"):
        lsvi(features.one_hot(2, 3, 2), half_life=10)


def test_exact_values_without_a_horizon_are_refused():
    with pytest.raises(ValueError, match="exact"):
        rlsvi(features.one_hot(None, 5, 2), rng=1).learn(chain(5), 3, 2, exact=True)


def test_a_class_is_not_features():
    with pytest.raises(TypeError, match="class"):
        rlsvi(features.OneHot, H=2)


def test_a_warning_reaches_code_without_a_module():
    with pytest.warns(UserWarning, match="plan"):
        exec("agent.act(0, 1)", {"agent": rlsvi(features.one_hot(2, 3, 2), rng=1)})


@pytest.mark.parametrize("form", [None, VerbatimAgent])
def test_the_same_seed_for_agent_and_environment_is_mentioned(form):
    mdp = chain(3)
    Phi = features.tabular(mdp)
    with pytest.warns(UserWarning, match="seed"):
        rlsvi(Phi, rng=1, form=form).learn(mdp, 1, rng=1)
    with pytest.warns(UserWarning, match="seed"):
        FastContinual(np.eye(4).reshape(2, 2, 4), 0.9, 0.9, rng=1).learn(ENDLESS, 1, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rlsvi(Phi, rng=1, form=form).learn(mdp, 1, rng=2)
        rlsvi(Phi, form=form).learn(mdp, 1)
        one = np.random.default_rng(1)  # whose draws are all different
        rlsvi(Phi, rng=one, form=form).learn(mdp, 1, rng=one)


ENDLESS = DiscountedMDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2, 2)), 0.9)


# --- what is refused ------------------------------------------------------------------------

Phi0 = np.ones((2, 3, 2, 4))


@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (lambda: rlsvi(Phi0[0, 0]), "shape"),
        (lambda: rlsvi(Phi0[0]), "horizon"),
        (lambda: rlsvi(Phi0, H=3), "H=3"),
        (lambda: rlsvi(Phi0[0], form=FiniteAgent, gamma=1.0), "H"),
        (lambda: rlsvi(Phi0 * np.nan), "Phi"),
        (lambda: lsvi(Phi0[..., :0]), "shape"),
        (lambda: rlsvi(Phi0, lam=0.0), "lam"),
        (lambda: rlsvi(Phi0, sigma=-1.0), "sigma"),
        (lambda: lsvi(Phi0, math.nan), "lam"),
        (lambda: rlsvi(Phi0, reading=Reading(first_episode="one")), "first_episode"),
        (lambda: lsvi(Phi0, epsilon=1.5), "epsilon"),
        (lambda: lsvi(Phi0, epsilon=-0.1), "epsilon"),
        (lambda: lsvi(Phi0, eta=-1.0), "eta"),
        (lambda: lsvi(Phi0, eta=math.inf), "eta"),
        (lambda: lsvi(Phi0, epsilon=0.1, eta=0.1), "epsilon"),
        (lambda: rlsvi(Phi0).learn(chain(4), 1), "features"),
        (lambda: rlsvi(Phi0).learn(chain(3), -1), "episodes"),
        (lambda: rlsvi(Phi0).learn(chain(3), 2.0), "episodes"),
        (lambda: rlsvi(Phi0, form=VerbatimAgent).learn(chain(4), 1), "features"),
    ],
)
def test_what_cannot_be_is_refused(call, keyword):
    with pytest.raises(ValueError, match=keyword):
        call()


@every_form
@pytest.mark.parametrize(
    "transition",
    [
        (2, 0, 0, 0.0, 0),
        (-1, 0, 0, 0.0, 0),
        (0, 3, 0, 0.0, 0),
        (0, 0, 2, 0.0, 0),
        (0, 0, 0, 0.0, 3),
        (0, 0, 0, 0.0, -1),
        (0, 0, 0, math.nan, 0),
        (1, 0, 0, math.inf, 0),
    ],
)
def test_a_transition_outside_the_basis_is_refused_and_leaves_no_trace(form, transition):
    agent = rlsvi(Phi0, rng=1, form=form)
    before = pickle.dumps(agent.__dict__)
    with pytest.raises((IndexError, ValueError)):
        agent.observe(*transition)
    assert pickle.dumps(agent.__dict__) == before


def test_a_state_outside_the_basis_has_no_action():
    with pytest.raises(IndexError, match=r"\bs\b"):
        rlsvi(Phi0).act(0, 3)


def test_the_inputs_of_these_refusals_are_otherwise_fine():
    run = rlsvi(Phi0).learn(FiniteMDP.stationary(chain(3).P[0], chain(3).R[0], 2), 3)
    assert run.reward.tolist() == [0, 0, 0]


# --- one-hot features, and what all agents share ----------------------------------------------


def test_one_hot_features_of_a_large_problem_take_memory_for_what_was_visited():
    agent = rlsvi(features.OneHot(200, 500, 6), rng=1)  # Taxi; 14 GB as a table, 2.4 GB as counts
    before = len(pickle.dumps(agent))
    for h in range(200):
        agent.observe(h, h, 0, -1.0, h + 1)
    assert len(pickle.dumps(agent)) - before < 20_000


GAME, PRIOR = Tetris(6, 7), DirichletPrior.symmetric(3, 3, 2)


def test_a_known_part_of_the_values_is_known_with_a_horizon_too():
    """Q_h = φθ_h + 2r: with φ = 1 and one state, θ_h is the mean of what is left of the targets."""

    class Known(features.FeatureMap):
        H, K, S, A, known = 2, 1, 1, 2, np.array([2.0])

        def __call__(self, h, s):
            return np.array([[1.0, 0.0], [1.0, 1.0]])  # the second action pays 1

    agent = lsvi(Known(), 1e-12)
    agent.observe(1, 0, 1, 1.0, None)
    agent.observe(0, 0, 1, 1.0, 0)
    agent.plan()
    # Period 1: 1 = θ_1 + 2. Period 0: 1 + max(θ_1, θ_1 + 2) = θ_0 + 2.
    np.testing.assert_allclose(agent.theta, [[0.0, 2.0], [-1.0, 2.0]], atol=1e-9)


# --- a range of values that the data contradict ---------------------------------------------------


FORMS_OF_A_RANGE = {
    "one-hot": lambda **options: rlsvi(features.OneHot(5, 6, 2), **options),
    "table": lambda **options: rlsvi(features.tabular(chain(6)), **options),
    "stored": lambda **options: rlsvi(features.tabular(chain(6)), form=StoredAgent, **options),
    "discounted": lambda **options: lsvi(lambda s: np.eye(12)[2 * s : 2 * s + 2], **options),
    "discounted, one-hot": lambda **options: rlsvi(features.OneHot(None, 6, 2), **options),
}


@pytest.mark.parametrize("name", FORMS_OF_A_RANGE)
@pytest.mark.parametrize("clip", [True, False])
def test_an_episode_far_beyond_the_range_of_values_is_mentioned_once(name, clip):
    agent = FORMS_OF_A_RANGE[name](value_range=(0, 1), clip=clip, rng=1)
    agent.observe(0, 0, 1, 2.0, 1)
    with pytest.warns(UserWarning, match="value_range"):
        agent.observe(1, 1, 1, 1.5, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.observe(0, 0, 1, 2.0, None)


@pytest.mark.parametrize("name", FORMS_OF_A_RANGE)
def test_luck_and_bad_actions_are_not_mentioned(name):
    """A range is one of optimal values: a return may be outside, the mean not above for long, nor
    the best for long below."""
    agent = FORMS_OF_A_RANGE[name](value_range=(0, 1), rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for r in (1.4, -50.0, 1.9, -0.5, *[-3.0] * 20, 0.5, *[1.3] * 10):
            agent.observe(0, 0, 1, r, None)


@pytest.mark.parametrize("name", FORMS_OF_A_RANGE)
@pytest.mark.parametrize(("r", "when"), [(1.6, 3), (1.1, 101), (-0.05, 401), (-3.0, 100)])
def test_returns_that_stay_outside_are_mentioned(name, r, when):
    """The mean of n may be 1/√n above; of a hundred or more, the best as much below."""
    agent = FORMS_OF_A_RANGE[name](value_range=(0, 1), rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(when - 1):
            agent.observe(0, 0, 1, r, None)
    with pytest.warns(UserWarning, match="value_range"):
        agent.observe(0, 0, 1, r, None)


@pytest.mark.parametrize("name", FORMS_OF_A_RANGE)
def test_an_episode_within_the_range_is_not_mentioned(name):
    agent = FORMS_OF_A_RANGE[name](value_range=(0.1, 1), rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(20):
            agent.observe(0, 0, 1, -2.0, 1)  # a part may be outside
            agent.observe(1, 1, 1, 2.7, None)
            agent.observe(0, 0, 1, -0.5, 1)  # cut: more might follow
        agent.observe(3, 1, 1, 9.0, None)  # without its beginning


@pytest.mark.parametrize("name", FORMS_OF_A_RANGE)
@pytest.mark.parametrize("reward", [2.5, -9.0])
def test_an_episode_that_was_cut_counts_with_any_value_to_come(name, reward):
    agent = FORMS_OF_A_RANGE[name](value_range=(0, 1), rng=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(101):
            agent.observe(0, 0, 1, reward, 1)
    assert ["value_range" in str(one.message) for one in caught] == [True]


@pytest.mark.parametrize("name", FORMS_OF_A_RANGE)
def test_a_range_without_a_horizon_is_one_of_whole_episodes(name):
    agent = FORMS_OF_A_RANGE[name](value_range=(0, 1), gamma=1.0, rng=1)
    for h in range(3):
        agent.observe(h, h, 1, 0.6, h + 1)
    with pytest.warns(UserWarning, match="value_range"):
        agent.observe(3, 3, 1, 0.6, None)


@pytest.mark.parametrize("name", FORMS_OF_A_RANGE)
def test_a_return_is_discounted_step_by_step(name):
    """Two steps later 11 is worth 2.75, which may be luck; 13 is worth more than twice the range."""
    for last, expected in ((11.0, 0), (13.0, 1)):
        agent = FORMS_OF_A_RANGE[name](value_range=(0, 1.5), gamma=0.5, rng=1)
        agent.observe(0, 0, 1, 0.0, 1)
        agent.observe(1, 1, 1, 0.0, 2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            agent.observe(2, 2, 1, last, None)
        assert len(caught) == expected


def test_the_forms_of_the_studies_mention_it_too():
    customers = Recommender.random(2.0, 1, N=4, J=3)
    with pytest.warns(UserWarning, match="value_range"):
        rlsvi(Products(4, 3), value_range=(0, 0.5), rng=1).learn(customers, 20, rng=1)
    agent = rlsvi(Products(4, 3), value_range=(0, 0.5), rng=1)
    agent.observe(0, [0, 0, 0, 0], 0, 1, None)
    agent.observe(1, [1, 0, 0, 0], 1, 1, None)
    with pytest.warns(UserWarning, match="value_range"):
        agent.observe(2, [1, 1, 0, 0], 2, 1, None)
    ring = rlsvi(Placements(GAME), value_range=(0, 0.4), clip=False, gamma=1.0, window=50, rng=1)
    assert type(ring) is RingAgent
    with pytest.warns(UserWarning, match="value_range"):
        copy.deepcopy(ring).learn(Tetris(6, 7), 30, rng=1)
    one = np.ones((2, 15))
    with pytest.warns(UserWarning, match="value_range"):
        ring.observe(0, one, 0, 1, None)


@pytest.mark.parametrize("name", FORMS_OF_A_RANGE)
def test_a_transition_is_kept_once_where_warnings_are_errors(name):
    agent = FORMS_OF_A_RANGE[name](value_range=(0, 1), rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="value_range"):
            agent.observe(0, 0, 1, 3.0, None)
        agent.observe(0, 0, 1, 3.0, None)
    assert agent.transitions == 2


@pytest.mark.parametrize("name", ["one-hot", "table", "stored"])
def test_learning_mentions_it_too(name):
    mdp = FiniteMDP.stationary(chain(6).P[0], chain(6).R[0] + 1, 5)
    with pytest.warns(UserWarning, match="value_range"):
        FORMS_OF_A_RANGE[name](value_range=(0, 1), rng=1).learn(mdp, 3, rng=2)


# --- what is silently wrong elsewhere -------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "phi"),
    [
        (tabular.TabularAgent, features.OneHot(2, 3, 2)),
        (FiniteAgent, features.OneHot(2, 3, 2)),
        (StoredAgent, features.OneHot(2, 3, 2)),
        (VerbatimAgent, features.OneHot(2, 3, 2)),
        (DiscountedAgent, features.OneHot(None, 3, 2)),
    ],
)
def test_a_policy_dithers_as_the_episode_does(form, phi):
    agent = lsvi(phi, epsilon=0.8, half_life=1, rng=1, form=form)
    for h, s in np.ndindex(phi.H or 1, 3):
        agent.observe(h, s, 0, 1.0, None)  # the other action is never tried
    for episode in range(4):
        agent.plan()
        np.testing.assert_allclose(agent.policy()[:, :, 1], 0.4 * 0.5**episode)


@pytest.mark.parametrize("form", [StoredAgent, VerbatimAgent])
def test_an_environment_and_features_may_use_their_arrays_again(form):
    class World:
        def __init__(self, fresh):
            self.s, self.fresh = np.zeros(1), fresh

        def start(self, rng):
            self.s[:] = rng.random()
            return self.s.copy() if self.fresh else self.s

        def step(self, h, s, a, rng):
            r = float(self.s[0])
            self.s[:] = rng.random()
            return r, self.s.copy() if self.fresh else self.s, h == 2

    rows = np.zeros((2, 4))

    def buffered(s):
        rows[:] = np.kron(np.eye(2), [1.0, s[0]])
        return rows

    class Map(features.FeatureMap):
        K, A = 4, 2

        def __init__(self, again):
            self.again = again

        def __call__(self, h, s):
            return buffered(s) if self.again else buffered(s).copy()

    weights = []
    for fresh in (True, False):
        agent = lsvi(Map(not fresh), form=form, rng=1)
        agent.learn(World(fresh), 4, rng=2)
        weights.append(agent.theta)
    assert np.array_equal(*weights)


class Held:
    """A state of somebody's own, whose change leaves no trace."""

    def __setitem__(self, i, x):
        self.x = x

    def __getitem__(self, i):
        return self.x


@pytest.mark.parametrize(
    "buffer",
    [np.zeros(1), np.zeros(1, object), [0.0], {0: 0.0}, ([0.0],), Held()],
    ids=["array", "objects", "list", "dict", "nested", "own"],
)
def test_an_observation_that_is_changed_in_place_is_another_one(buffer):
    calls = []

    def phi(s):
        calls.append(s)
        return np.kron(np.eye(2), [1.0, (s[0] if type(s) is tuple else s)[0]])

    agent = rlsvi(phi, reading=Reading(first_episode="prior"), rng=1)
    agent.plan()
    for x in (0.2, 0.7):
        (buffer[0] if type(buffer) is tuple else buffer)[0] = x
        agent.act(0, buffer)
        rows = np.kron(np.eye(2), [1.0, x])
        np.testing.assert_allclose(agent.values(0, buffer), rows @ agent.theta[0])
        agent.observe(0, buffer, 0, x, None)
        assert agent.data[0].columns[0][-1].tolist() == [1.0, x, 0.0, 0.0]
    plain = type(buffer) is not Held and getattr(buffer, "dtype", None) != np.dtype(object)
    assert len(calls) == (2 if plain else 6)  # the same is computed once, where it is known


def test_an_episode_without_end_is_refused(monkeypatch):
    class Endless:
        def start(self, rng):
            return 0.5

        def step(self, h, s, a, rng):
            return 0.0, 0.5, False

    monkeypatch.setattr("rlsvi_core.agents.base.LONGEST", 50)
    agent = rlsvi(lambda s: np.kron(np.eye(2), [1.0, s]), rng=1)
    for call in (agent.learn, agent.evaluate):
        with pytest.raises(RuntimeError, match="episode"):
            call(Endless(), 1, rng=1)


def test_psrl_refuses_rewards_outside_its_support_and_ucbvi_positive_ones():
    agent = rivals.psrl(PRIOR, rng=1)
    with pytest.raises(ValueError, match="r"):
        agent.observe(0, 0, 1, 0.5, 1)
    agent.observe(0, 0, 1, -1.0, 1)
    assert agent.transitions == agent.counts.total[0, 0, 1] * -1 == 1
    agent = rivals.ucbvi(PRIOR, 100, rng=1)
    with pytest.raises(ValueError, match="reward"):
        agent.observe(0, 0, 1, 0.5, 1)
    one = FiniteMDP(PRIOR.sample(1).P, np.ones((3, 3, 2, 3)))
    with pytest.raises(ValueError, match="reward"):
        agent.learn(one, 1)
    assert agent.transitions == 0


@pytest.mark.parametrize("form", [IncrementalAgent, VerbatimIncremental])
@pytest.mark.parametrize(("nu", "episodes"), [(0.5, 3000), (0.9, 620), (0.9, 650)])
def test_a_prior_forgotten_to_the_last_digit_is_refused(form, nu, episodes):
    agent = incremental(features.tabular(chain(3)), nu=nu, rng=1, form=form)
    with pytest.raises(ArithmeticError, match="variance"):
        agent.learn(chain(3), episodes, rng=2)
    kept = incremental(features.tabular(chain(3)), nu=nu, rng=1, form=form, prior="kept")
    kept.learn(chain(3), episodes, rng=2)
    assert np.isfinite(kept.theta).all()


# --- masks by hand --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "phi",
    [
        features.OneHot(4, 5, 2),
        features.OneHot(None, 5, 2),
        features.coherent(chain(5).Q, 3, 1),
        lambda s: np.kron(np.eye(2), [1.0, s]),
    ],
)
@pytest.mark.parametrize(
    "legal",
    [
        [1, 0],
        [1, 1],
        [0, 1, 1],
        [0, 2],
        [-1],
        [0.0],
        np.array([0, 1], np.int8),
        np.array([True, False]),
        0,
        "01",
    ],
    ids=str,
)
def test_a_mask_in_place_of_the_actions_that_it_allows_is_refused(phi, legal):
    """[0, 1] in a list cannot be told from a mask: it is taken for both actions."""
    agent = rlsvi(phi, rng=1)
    for call in (agent.act, agent.greedy):
        with pytest.raises(IndexError, match="legal"):
            call(0, 1, legal)
    with pytest.raises(IndexError, match="legal"):
        agent.observe(0, 1, 1, 0.0, 2, legal)
    assert agent.transitions == 0
    agent.observe(0, 1, 1, 0.0, 2, [0, 1])


@pytest.mark.parametrize("form", [tabular.TabularAgent, FiniteAgent])
def test_learning_where_nothing_is_forbidden_does_not_follow_masks(form):
    agent = rlsvi(features.OneHot(5, 6, 2), rng=1, form=form)
    agent.act(0, 1, [0])
    with pytest.raises(ValueError, match="mask"):
        agent.learn(chain(6), 1)
    agent = rlsvi(features.OneHot(5, 6, 2), rng=1, form=form)
    agent.act(0, 1, [0, 1])  # all of them
    agent.learn(chain(6), 1)


@pytest.mark.parametrize("agent", [rivals.psrl(PRIOR, rng=1), rivals.ucbvi(PRIOR, 9, rng=1)])
def test_an_agent_without_a_mean_has_no_greedy_action(agent):
    with pytest.raises(ValueError, match="mean"):
        agent.greedy(0, 0)
    with pytest.raises(ValueError, match="mean"):
        agent.evaluate(PRIOR.sample(1), 1)


# --- options after construction -------------------------------------------------------------------

MADE = {
    "tabular": lambda make, **options: make(features.OneHot(4, 5, 2), **options),
    "table": lambda make, **options: make(features.tabular(chain(5)), **options),
    "discounted": lambda make, **options: make(features.OneHot(None, 5, 2), **options),
    "stored": lambda make, **options: make(lambda s: np.eye(2), **options),
}


@pytest.mark.parametrize("name", MADE)
def test_what_would_be_ignored_cannot_be_set_and_what_can_be_set_is_checked(name):
    agent = MADE[name](rlsvi, rng=1)
    for option, value in (("lam", 2.0), ("sigma", 50.0), ("sample", False), ("choices", None)):
        with pytest.raises(AttributeError):
            setattr(agent, option, value)
    agent = MADE[name](lsvi, rng=1)
    for option, value in (("epsilon", 5), ("eta", -1.0)):
        with pytest.raises(ValueError, match=option):
            setattr(agent, option, value)
    agent.epsilon = 0.5
    with pytest.raises(ValueError, match="dithers"):
        agent.eta = 0.5
    assert (agent.dither, agent.eta) == (0.5, 0.0)


@pytest.mark.parametrize("form", [None, FiniteAgent, VerbatimAgent])
def test_an_epsilon_that_is_set_later_is_played(form):
    """With ε = 1 the chain's first action is the wrong one in half of the episodes."""
    mdp = chain(5)
    agent = lsvi(features.OneHot(4, 5, 2), form=form, rng=1)
    for h in range(4):
        agent.observe(h, h, 1, 1.0, h + 1)
    assert agent.learn(mdp, 5, rng=2).opening.tolist() == [1] * 5
    agent.epsilon = 1
    assert 5 < agent.learn(mdp, 40, rng=3).opening.sum() < 35  # P < 1e-6


def test_an_agent_is_written_with_its_form_and_what_kept_a_faster_one_away():
    table = features.tabular(chain(5))
    assert "FiniteAgent" in repr(rlsvi(table))
    assert "H=4" in repr(rlsvi(table))
    kept = repr(rlsvi(table, window=7))
    assert kept.startswith("StoredAgent")
    assert "FiniteAgent" in kept
    assert "window=7" in kept
    assert "FiniteAgent" in repr(rlsvi(table, form=VerbatimAgent))
    unknown = rlsvi(lambda s: np.eye(2), sigma=7.0, reading=Reading(variance="unknown"))
    assert "sigma" not in repr(unknown)  # it is not used
    assert "sigma=7" in repr(rlsvi(lambda s: np.eye(2), sigma=7.0))
    assert "gamma=0.5" in repr(lsvi(features.OneHot(None, 5, 2), gamma=0.5))


class Place(enum.IntEnum):
    HOME, AWAY = 0, 1


def test_a_named_number_is_a_number():
    for phi in (features.OneHot(2, 2, 2), features.OneHot(None, 2, 2), np.ones((2, 2, 2, 1))):
        agent, plain = rlsvi(phi, rng=1), rlsvi(phi, rng=1)
        for one, (s, s_next) in ((agent, (Place.HOME, Place.AWAY)), (plain, (0, 1))):
            one.plan()
            one.observe(0, s, one.act(0, s), 1.0, s_next)
            one.plan()
        assert np.array_equal(agent.Q, plain.Q)


def test_states_may_change_their_type():
    class World:
        def start(self, rng):
            return 3

        def step(self, h, s, a, rng):
            return 1.0, [4, np.zeros(2), "end"][h], h == 2

    run = rlsvi(lambda s: np.eye(2), rng=1).learn(World(), 2, rng=2)
    assert run.furthest.tolist() == [-1, -1]
    assert run.length.tolist() == [3, 3]
