"""Appendix F and section 7: incremental and continual RLSVI, the lock, the bootstrap."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest

from rlsvi_core import GaussianPosterior, Reading, VerbatimAgent, chain, features, lsvi, rlsvi
from rlsvi_core.agents.continual import FastContinual
from rlsvi_core.agents.incremental import IncrementalAgent, VerbatimIncremental, incremental
from rlsvi_core.envs.chains import LEFT, RIGHT, lock
from rlsvi_core.mdp import DiscountedMDP, first_state, step
from rlsvi_study.extensions.bootstrap import BootstrapAgent
from rlsvi_study.extensions.runs import printed, value_travels

STEPS = {"0": 0.0, "constant": 0.05, "1/(l+2)": lambda l: 1 / (l + 2)}
every_step = pytest.mark.parametrize("nu", STEPS.values(), ids=STEPS)
every_form = pytest.mark.parametrize("form", [IncrementalAgent, VerbatimIncremental])
every_prior = pytest.mark.parametrize("prior", ["forgotten", "kept"])


def size(nu, l):
    return nu(l) if callable(nu) else nu


# --- incremental RLSVI ----------------------------------------------------------------------


@every_form
def test_greedy_acts_on_the_mean_of_an_incremental_agent(form):
    """In one period, with nothing forgotten, that is LSVI's with the ridge λσ²."""
    Phi, rng = np.random.default_rng(1).standard_normal((1, 5, 3, 4)), np.random.default_rng(2)
    agent, mean = incremental(Phi, 1.0, 3.0, rng=3, form=form), lsvi(Phi, 9.0)
    for s, a in np.ndindex(5, 3):
        r = rng.standard_normal()
        agent.observe(0, s, a, r, None)
        mean.observe(0, s, a, r, None)
    agent.plan()
    mean.plan()
    best = mean.Q[0].argmax(axis=1)
    assert not np.array_equal(agent.Q[0].argmax(axis=1), best)
    assert [agent.greedy(0, s) for s in range(5)] == best.tolist()


class AllRows:
    """The same agent from all its past: rows, frozen targets, and how much of each is left."""

    def __init__(self, Phi, lam, sigma, nu, prior):
        self.Phi, self.lam, self.sigma, self.nu, self.prior = Phi, lam, sigma, nu, prior
        self.rows = [[] for _ in Phi]

    def add(self, theta, states, actions, rewards):
        H = len(self.Phi)
        for h in range(H):
            V = max(self.Phi[h + 1, states[h + 1]] @ theta[h + 1]) if h < H - 1 else 0.0
            self.rows[h].append((self.Phi[h, states[h], actions[h]], rewards[h] + V))

    def moments(self, h):
        """Mean and covariance of θ_h: a weighted regression, solved by an explicit inverse."""
        l = len(self.rows[h])
        left = [math.prod(1 - size(self.nu, j) for j in range(i + 1, l)) for i in range(l)]
        prior = 1 if self.prior == "kept" else math.prod(1 - size(self.nu, j) for j in range(l))
        K = self.Phi.shape[3]
        precision, y = prior * self.lam * np.eye(K), np.zeros(K)
        for weight, (phi, target) in zip(left, self.rows[h], strict=True):
            precision = precision + weight * np.outer(phi, phi) / self.sigma**2
            y = y + weight * phi * target / self.sigma**2
        return np.linalg.inv(precision) @ y, np.linalg.inv(precision)


def episode(agent, mdp, rng):
    """One episode through plan, act and observe."""
    agent.plan()
    s = int(rng.choice(mdp.S, p=mdp.initial))
    states, actions, rewards = [s], [], []
    for h in range(mdp.H):
        a = agent.act(h, s)
        s_next = int(rng.choice(mdp.S, p=mdp.P[h, s, a]))
        r = mdp.R[h, s, a, s_next] + (mdp.terminal[s_next] if h == mdp.H - 1 else 0.0)
        agent.observe(h, s, a, r, s_next)
        states, actions, rewards, s = [*states, s_next], [*actions, a], [*rewards, r], s_next
    return states, actions, rewards


@every_step
@every_form
@every_prior
def test_incremental_is_a_weighted_regression_on_frozen_targets(nu, form, prior, make_mdp):
    mdp = make_mdp(1, 3, 4, 3)
    Phi = np.random.default_rng(2).standard_normal((3, 4, 3, 3))
    agent = incremental(Phi, 0.7, 0.5, nu, prior=prior, rng=3, form=form)
    past, rng = AllRows(Phi, 0.7, 0.5, nu, prior), np.random.default_rng(4)
    for _ in range(25):
        z = copy.deepcopy(agent.rng).standard_normal((3, 3))[::-1]  # the last period comes first
        trajectory = episode(agent, mdp, rng)
        for h in range(3):
            mean, covariance = past.moments(h)
            root = np.linalg.inv(np.linalg.cholesky(np.linalg.inv(covariance))).T
            np.testing.assert_allclose(agent.theta[h], mean + root @ z[h], rtol=1e-8, atol=1e-9)
        past.add(agent.theta, *trajectory)  # the sample the episode was played by


@every_form
def test_one_feature_one_period_by_hand(form):
    agent = incremental(np.ones((1, 1, 1, 1)), 1.0, 0.5, 0.5, rng=0, form=form)
    means = []
    for r in (1.0, 3.0):
        agent.observe(0, 0, 0, r, 0)
        z = copy.deepcopy(agent.rng).standard_normal()
        agent.plan()
        means.append((agent.theta[0, 0], z))
    # 1/σ² = 4. Σ⁻¹: 1 → ½ + 4 → ¼ + 2 + 4; y: 0 → 4 → 2 + 12.
    for (theta, z), (y, precision) in zip(means, ((4, 4.5), (14, 6.25)), strict=True):
        assert theta == pytest.approx(y / precision + z / math.sqrt(precision), rel=1e-14)


@every_form
def test_with_one_period_and_nothing_forgotten_it_is_batch_rlsvi(form, make_mdp):
    mdp = make_mdp(5, 1, 4, 3)
    Phi = np.random.default_rng(6).standard_normal((1, 4, 3, 3))
    one = rlsvi(Phi, reading=Reading(first_episode="prior"), rng=7)
    two = incremental(Phi, rng=7, form=form)
    runs = [agent.learn(mdp, 200, 8) for agent in (one, two)]
    assert np.array_equal(runs[0].reward, runs[1].reward)
    np.testing.assert_allclose(two.theta, one.theta, rtol=1e-9)


def test_with_targets_recomputed_it_would_be_batch_rlsvi():
    mdp = chain(5)
    Phi = features.coherent(mdp.Q, 3, 1)
    agent = incremental(Phi, rng=2, form=VerbatimIncremental)
    shadow = rlsvi(Phi, agent.lam, agent.sigma, rng=4, form=VerbatimAgent)
    agent.observe = lambda *step, observe=agent.observe: (observe(*step), shadow.observe(*step))
    agent.learn(mdp, 40, 3)
    shadow.plan()
    theta = np.vstack([shadow.theta, np.zeros(3)])
    for h in range(mdp.H):  # y with all targets recomputed, in place of the frozen ones
        A, b = shadow.regression_problem(shadow.data[h], theta[h + 1])
        np.testing.assert_allclose(
            agent.precision[h], A.T @ A / agent.sigma**2 + agent.lam * np.eye(3), rtol=1e-9
        )  # Σ is the batch's
        agent.y[h] = A.T @ b / agent.sigma**2
    agent.rng = np.random.default_rng(4)
    agent.plan()
    np.testing.assert_allclose(agent.theta, shadow.theta, rtol=1e-7, atol=1e-9)


def test_a_forgotten_prior_lets_the_variance_grow_without_end_and_a_kept_one_does_not():
    for prior, expected in (("forgotten", 0.9**100), ("kept", 1.0)):
        agent = incremental(
            np.eye(2).reshape(1, 1, 2, 2),
            1.0,
            1.0,
            0.1,
            prior=prior,
            rng=1,
            form=VerbatimIncremental,
        )
        for _ in range(100):
            agent.observe(0, 0, 0, 0.0, None)  # action 1 is never tried
        assert agent.precision[0, 1, 1] == pytest.approx(expected, rel=1e-9)


@every_form
def test_an_episode_that_ends_early_has_no_next_value_and_ages_no_later_period(form):
    Phi = np.ones((3, 1, 1, 1))
    agent = incremental(Phi, 1.0, 1.0, lambda l: 1 / (l + 2), rng=1, form=form)
    agent.plan()
    agent.observe(0, 0, 0, 5.0, None)
    z = copy.deepcopy(agent.rng).standard_normal(3)[::-1]
    agent.plan()
    expected = [5 / 1.5 + z[0] / math.sqrt(1.5), z[1], z[2]]
    np.testing.assert_allclose(agent.theta[:, 0], expected, rtol=1e-14)


@pytest.mark.parametrize("nu", [1.0, -0.1, lambda l: 1 / (l + 1)])
def test_a_step_size_that_forgets_everything_is_refused(nu):
    with pytest.raises(ValueError, match="nu"):
        incremental(np.ones((1, 1, 1, 1)), nu=nu)


def test_a_prior_is_forgotten_or_kept():
    with pytest.raises(ValueError, match="prior"):
        incremental(np.ones((1, 1, 1, 1)), prior="lost")


def records(l, most):
    """P(R = m) for the number of records among l random numbers, m ≤ most, exactly."""
    law = [Fraction(1), *[Fraction(0)] * most]
    for i in range(1, l + 1):
        law = [law[m] * Fraction(i - 1, i) + (law[m - 1] / i if m else 0) for m in range(most + 1)]
    return law


def test_value_travels_as_slowly_as_records_fall():
    v = value_travels(4, 0.0, 60)
    for l in (1, 2, 7, 60):
        law = records(l, 4)
        for k in range(5):
            assert v[l, k] == pytest.approx(float(1 - sum(law[: k + 1])), abs=1e-14)


def test_value_travels_as_the_agent_learns_without_noise():
    """A path of one state with a reward at its end, almost no noise and hardly any prior."""
    Phi = np.ones((4, 1, 1, 1))
    for nu in STEPS.values():
        agent = incremental(Phi, 1e-12, 1e-3, nu, first_episode="zero", rng=1)
        v = value_travels(3, nu, 40)
        for l in range(40):
            agent.plan()
            if l:
                np.testing.assert_allclose(agent.theta[::-1, 0], v[l], atol=0.02)
            for h in range(4):
                agent.observe(h, 0, 0, float(h == 3), 0)


# --- the discounted MDP and the lock --------------------------------------------------------


def test_the_lock_has_its_closed_form():
    for n, gamma in ((1, 0.5), (5, 0.99), (24, 0.9)):
        mdp = lock(n, gamma)
        expected = [gamma ** (n - 1 - s) / (1 - gamma**n) for s in range(n)]
        np.testing.assert_allclose(mdp.V, expected, rtol=1e-12)
        assert (mdp.gaps[:, LEFT] > 1e-3).all()
        assert (abs(mdp.gaps[:, RIGHT]) < 1e-12).all()


def test_a_uniform_agent_opens_the_lock_after_two_to_the_n_plus_one_minus_two_steps():
    for n in (1, 3, 8):
        P = lock(n).P.mean(axis=1)
        P[n - 1, 0] -= 0.5  # half of the last state's moves pay, and end the wait
        assert np.linalg.solve(np.eye(n) - P, np.ones(n))[0] == pytest.approx(2 ** (n + 1) - 2)


def random_discounted(seed, S=4, A=3, gamma=0.9):
    rng = np.random.default_rng(seed)
    return DiscountedMDP(rng.dirichlet(np.ones(S), (S, A)), rng.uniform(-1, 1, (S, A, S)), gamma)


def test_value_iteration_solves_bellmans_equation():
    for seed in range(3):
        mdp = random_discounted(seed)
        lookahead = (mdp.P * (mdp.R + mdp.gamma * mdp.V)).sum(axis=2)
        np.testing.assert_allclose(mdp.Q, lookahead, rtol=1e-12, atol=1e-13)


def test_discounted_gaps_add_up_to_the_shortfall():
    mdp = random_discounted(4)
    for mu in (np.random.default_rng(4).dirichlet(np.ones(3), 4), np.eye(3)[mdp.Q.argmax(axis=1)]):
        P, R = np.einsum("sa,sat->st", mu, mdp.P), np.einsum("sa,sat,sat->s", mu, mdp.P, mdp.R)
        V, total = np.linalg.solve(
            np.eye(4) - mdp.gamma * P, np.stack([R, (mu * mdp.gaps).sum(axis=1)], axis=1)
        ).T
        np.testing.assert_allclose(total, mdp.V - V, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (lambda: lock(0), "n"),
        (lambda: lock(3, 1.0), "gamma"),
        (lambda: FastContinual(np.ones((2, 2)), 0.9, 0.9), "shape"),
        (lambda: FastContinual(np.ones((2, 2, 1)), 0.9, 1.5), "rho"),
        (lambda: FastContinual(np.ones((2, 2, 1)), 0.9, 0.5, 0.0), "lam"),
        (lambda: FastContinual(np.ones((2, 2, 1)), 0.9, 0.5).learn(lock(3), 1), "features"),
        (lambda: FastContinual(np.ones((2, 2, 1)), 0.9, 0.5).learn(lock(2), -1), "steps"),
        (lambda: FastContinual(np.ones((2, 2, 1)), 0.9, 0.5).observe(0, 0, 0, 0.0, 2), "s_next"),
        (
            lambda: FastContinual(np.ones((2, 2, 1)), 0.9, 0.5).observe(0, 0, 0, math.nan, 1),
            "finite",
        ),
        (lambda: FastContinual(np.ones((2, 2, 1)), 0.9, 0.5).act(0, -1), "s"),
        (lambda: FastContinual(np.ones((2, 2, 1)), 0.9, 0.5).learn(lock(2), 1, start=2), "start"),
    ],
)
def test_bad_input_is_refused(call, keyword):
    with pytest.raises((IndexError, ValueError), match=keyword):
        call()


# --- continual RLSVI ------------------------------------------------------------------------


class VerbatimContinual(FastContinual):
    """Algorithm 13 as printed: keeps every transition and solves anew after each step."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.data = []

    def observe(self, h, s, a, r, s_next):
        self.data.append((s, a, r, s_next))

    def plan(self):
        s, a, r, s_next = (np.array(column) for column in zip(*self.data, strict=True))
        V = (self.Phi @ self.theta).max(axis=1)
        A, b = self.Phi[s, a], r + self.gamma * V[s_next]
        posterior = GaussianPosterior(self.K, self.lam, self.sigma).add_rows(A, b)
        noise = posterior.sample(self.rng) - posterior.mean
        self.w = self.rho * self.w + math.sqrt(1 - self.rho**2) * noise
        self.theta = posterior.mean + self.w

    def learn(self, mdp, steps, rng):
        rng = np.random.default_rng(rng)
        states, actions, rewards = [first_state(mdp.model, rng)], [], []
        for t in range(steps):
            s, a = states[-1], self.act(t, states[-1])
            r, s_next = step(mdp.model, 0, s, a, rng)
            self.observe(t, s, a, r, s_next)
            self.plan()
            states, actions, rewards = [*states, s_next], [*actions, a], [*rewards, r]
        return states, actions, rewards


@pytest.mark.parametrize("rho", [0.0, printed(0.9), 0.9, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_fast_and_verbatim_continual_rlsvi_are_one(rho, epsilon):
    cases = (
        (lock(4, 0.9), np.eye(8).reshape(4, 2, 8)),
        (random_discounted(1), np.random.default_rng(2).standard_normal((4, 3, 5))),
    )
    for mdp, Phi in cases:
        fast, slow = (
            form(Phi, 0.9, rho, 0.5, 0.3, epsilon=epsilon, rng=3)
            for form in (FastContinual, VerbatimContinual)
        )
        one, two = (agent.learn(mdp, 150, 4) for agent in (fast, slow))
        assert all(np.array_equal(x, y) for x, y in zip(one, two, strict=True))
        np.testing.assert_allclose(fast.theta, slow.theta, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(fast.w, slow.w, rtol=1e-7, atol=1e-9)


def test_algorithm_13_by_hand():
    Phi, gamma = np.ones((1, 1, 1)), 0.8
    agent = FastContinual(Phi, gamma, printed(gamma), 1.0, 0.5, rng=5)
    z = np.random.default_rng(5).standard_normal(2)
    agent.observe(0, 0, 0, 2.0, 0)
    agent.plan()  # Σ⁻¹ = 1 + 4, θ̃_0 = 0
    w = 0.8 * z[0] / math.sqrt(5)  # coefficients as printed: mean 0.6 w, variance 0.64 Σ
    theta = 4 * 2 / 5 + w
    assert agent.theta[0] == pytest.approx(theta, rel=1e-14)
    agent.observe(1, 0, 0, 1.0, 0)
    agent.plan()  # Σ⁻¹ = 1 + 8; both targets are computed anew
    mean = 4 * (2 + 0.8 * theta + 1 + 0.8 * theta) / 9
    w = 0.6 * w + 0.8 * z[1] / 3
    assert (agent.theta[0], agent.w[0]) == pytest.approx((mean + w, w), rel=1e-14)


def test_the_perturbation_has_the_autocorrelation_it_is_given():
    """With no new information Σ stays put: the features of what is visited are zero."""
    Phi = np.zeros((1, 2, 400))
    Phi[0, 1] = 1.0
    for rho in (0.0, printed(0.99), 0.99):
        agent, path = FastContinual(Phi, 0.99, rho, 4.0, rng=6), []
        for _ in range(1000):
            agent.observe(0, 0, 0, 0.0, 0)
            agent.plan()
            path.append(agent.w.copy())
        x, y = np.array(path[499:-1]), np.array(path[500:])
        # 400 independent paths of 500 steps from a law that has settled (0.99^998 < 1e-4). The
        # slowest one has 400 × 500 × 0.01/1.99 ≈ 1000 effective draws: five deviations of the
        # variance are 5 √(2/1000) of it.
        assert (x**2).mean() == pytest.approx(0.25, rel=0.22)
        assert (x * y).mean() / (x**2).mean() == pytest.approx(rho, abs=0.02)


def test_learning_can_go_on_where_it_stopped():
    mdp, Phi = lock(4), np.eye(8).reshape(4, 2, 8)
    whole = FastContinual(Phi, 0.99, 0.99, rng=1).learn(mdp, 300, 2)
    agent, rng = FastContinual(Phi, 0.99, 0.99, rng=1), np.random.default_rng(2)
    first = agent.learn(mdp, 100, rng)
    rest = agent.learn(mdp, 200, rng, start=first.state[-1])
    assert np.array_equal(whole.action, np.concatenate([first.action, rest.action]))
    assert np.array_equal(whole.state, np.concatenate([first.state[:-1], rest.state]))


# --- the bootstrap --------------------------------------------------------------------------


def test_a_bootstrap_of_zeros_is_zero():
    mdp = chain(12)
    agent = BootstrapAgent(features.coherent(mdp.Q, 6, 1), resample=True, random_prior=False, rng=2)
    run = agent.learn(mdp, 50, 3)
    assert run.reward.sum() == 0
    agent.plan()
    assert not agent.theta.any()


def test_without_resampling_or_prior_it_is_greedy_lsvi_with_rlsvis_ridge(make_mdp):
    mdp = make_mdp(3, 3, 3, 2, noisy=True)
    Phi = np.random.default_rng(1).standard_normal((3, 3, 2, 3))
    agent = BootstrapAgent(Phi, 0.5, 0.4, resample=False, random_prior=False, rng=2)
    shadow = lsvi(Phi, 0.5 * 0.4**2, form=VerbatimAgent)
    agent.observe = lambda *step, observe=agent.observe: (observe(*step), shadow.observe(*step))
    agent.learn(mdp, 100, 4)
    agent.plan()
    shadow.plan()
    np.testing.assert_allclose(agent.theta, shadow.theta, rtol=1e-9, atol=1e-12)


def test_resampled_rows_and_a_random_prior_by_explicit_regression(make_mdp):
    mdp = make_mdp(4, 2, 3, 2)
    Phi = np.random.default_rng(5).standard_normal((2, 3, 2, 3))
    agent = BootstrapAgent(Phi, 2.0, 0.5, resample=True, random_prior=True, rng=6)
    shadow = rlsvi(Phi, rng=0, form=VerbatimAgent)
    agent.observe = lambda *step, observe=agent.observe: (observe(*step), shadow.observe(*step))
    agent.learn(mdp, 30, 7)
    rng = copy.deepcopy(agent.rng)
    agent.plan()
    zeta = rng.standard_normal((2, 3)) / math.sqrt(2)
    drawn = rng.integers(30, size=(2, 30))
    theta = np.zeros((3, 3))
    for h in (1, 0):
        A, b = shadow.regression_problem(shadow.data[h], theta[h + 1])
        A, b = A[drawn[h]], b[drawn[h]]
        theta[h] = zeta[h] + np.linalg.solve(
            A.T @ A + 2.0 * 0.25 * np.eye(3), A.T @ (b - A @ zeta[h])
        )
    np.testing.assert_allclose(agent.theta, theta[:2], rtol=1e-9)


def test_a_bootstrap_draws_only_rows_that_exist():
    """An episode that ends early leaves its later periods without data, and so without weights."""
    agent = BootstrapAgent(np.ones((2, 1, 1, 1)), resample=True, random_prior=False, rng=1)
    agent.observe(0, 0, 0, 1.0, 0)
    agent.observe(1, 0, 0, 1.0, None)
    agent.observe(0, 0, 0, 1.0, None)
    agent.plan()
    # The ridge is 0.01. One row of 1 in period 1; two in period 0, the first of which goes on.
    later = 1 / 1.01
    either = [(2 + i * later) / 2.01 for i in (0, 1, 2)]
    assert agent.theta[1, 0] == pytest.approx(later)
    assert min(abs(agent.theta[0, 0] - value) for value in either) < 1e-12


@pytest.mark.parametrize("prior", ["forgotten", "kept"])
def test_an_episode_that_ends_early_leaves_each_period_its_own_step_size(prior):
    """Period 2 has seen one episode fewer: the next one's step size there is that of l = 1."""
    mdp = chain(4)
    Phi = features.coherent(mdp.Q, 3, 1)
    agents = [
        incremental(Phi, nu=lambda l: 1 / (l + 2), prior=prior, rng=2, form=form)
        for form in (IncrementalAgent, VerbatimIncremental)
    ]
    for agent in agents:
        agent.plan()
        for h, s_next in ((0, 1), (1, None)):
            agent.observe(h, h, 1, 0.5, s_next)
        agent.learn(mdp, 20, 3)
    np.testing.assert_allclose(agents[0].theta, agents[1].theta, rtol=1e-8, atol=1e-10)
