"""RLSVI taken apart: exact values by hand, the library's agents, and a second implementation."""

import math

import numpy as np
import pandas as pd
import pytest

from rlsvi_core import Agent, features, lsvi
from rlsvi_core.envs.chains import chain, deep_sea
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.learner import Problem
from rlsvi_core.rlsvi import Printed
from rlsvi_study.exploration.agents import VALUES, Parts, learn
from rlsvi_study.exploration.runs import judged
from rlsvi_study.recommender.exploring import WEIGHTS
from rlsvi_study.recommender.exploring import Parts as ProductParts
from rlsvi_study.recommender.products import Products

SIGMA = 0.1


class PrintedMean(Printed):
    """As printed, but with the mean in the targets."""

    def in_targets(self, theta, mean):
        return mean


TARGETS = {"sample": Printed, "mean": PrintedMean}


def seen(Phi, mdp, episodes=12, *agents, sigma=SIGMA, shift=0.0):
    """Parts, and agents, that have seen some episodes of coin flips; and the transitions."""
    parts, data = Parts(Phi, 1.0, sigma, np.random.default_rng(1)), [[] for _ in range(mdp.H)]
    s, a, r = mdp.simulate(np.full(mdp.Q.shape, 1 / mdp.A), episodes, 2)
    r[:, -2] += r[:, -1] - shift
    for l, h in np.ndindex(a.shape):
        step = h, int(s[l, h]), int(a[l, h]), r[l, h], int(s[l, h + 1])
        data[h].append(step[1:])
        for one in (parts, *agents):
            one.observe(*step)
    return parts, data


def textbook(Phi, data, W, choose=None, prior=0.0, sigma=SIGMA):
    """The backward pass from all transitions, by normal equations; ``prior`` is the value that the
    ridge pulls to."""
    H, S, A, K = Phi.shape
    Q, V = np.zeros((H, S, A)), np.zeros(S)
    for h in reversed(range(H)):
        rows = np.array([Phi[h, s, a] for s, a, _, _ in data[h]])
        b = np.array([r + (V[s_next] if h < H - 1 else 0.0) for _, _, r, s_next in data[h]])
        theta_0 = np.linalg.lstsq(Phi[h].reshape(-1, K), np.full(S * A, prior), rcond=None)[0]
        M = rows.T @ rows + sigma**2 * np.eye(K)
        Q[h] = Phi[h] @ np.linalg.solve(M, rows.T @ b + sigma**2 * theta_0) + W[h]
        actions = (Q if choose is None else choose)[h].argmax(axis=1)
        V = Q[h][np.arange(S), actions]
    return Q


BASES = {
    "table": lambda mdp: features.tabular(mdp),
    "coherent": lambda mdp: features.coherent(mdp.Q, 5, rng=3),
}


@pytest.fixture(params=BASES)
def problem(request):
    mdp = chain(6)
    return mdp, BASES[request.param](mdp)


@pytest.mark.parametrize("targets", TARGETS)
def test_the_parts_that_the_library_has_are_the_librarys(problem, targets):
    mdp, Phi = problem
    agent = Agent(TARGETS[targets](Problem(features.Table(Phi), 1.0, SIGMA)), rng=5)
    greedy = lsvi(Phi, SIGMA**2)
    parts, _ = seen(Phi, mdp, 12, agent, greedy)
    z = np.random.default_rng(5).standard_normal(parts.fixed.shape[1:])[::-1]  # last period first
    agent.plan()
    greedy.plan()
    W = parts.noise(z)
    Q = parts.backup(W) if targets == "sample" else parts.lsvi() + W
    np.testing.assert_allclose(Q, agent.Q, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(parts.lsvi(), greedy.Q, rtol=1e-6, atol=1e-8)


def test_the_backward_pass_is_the_textbooks_whoever_chooses(problem):
    mdp, Phi = problem
    parts, data = seen(Phi, mdp)
    W, other = parts.noise(), parts.sample()
    for choose in (None, other):
        expected = textbook(Phi, data, W, choose)
        np.testing.assert_allclose(parts.backup(W, choose), expected, rtol=1e-6, atol=1e-8)


def test_noise_and_its_deviations_are_those_of_the_posterior(problem):
    mdp, Phi = problem
    parts, data = seen(Phi, mdp)
    parts.rng = Numbers(1.0)
    one_draw = parts.one_draw()
    parts.rng = Numbers(0.0)
    np.testing.assert_array_equal(parts.one_draw(), parts.lsvi())
    K = Phi.shape[3]
    W = np.empty(Phi.shape[:3])
    for h in range(mdp.H):
        rows = np.array([Phi[h, s, a] for s, a, _, _ in data[h]])
        covariance = SIGMA**2 * np.linalg.inv(rows.T @ rows + SIGMA**2 * np.eye(K))
        W[h] = np.sqrt(np.einsum("sak,kl,sal->sa", Phi[h], covariance, Phi[h]))
    np.testing.assert_allclose(one_draw, textbook(Phi, data, W), rtol=1e-6, atol=1e-8)
    unit = np.stack([parts.noise(np.tile(e, (mdp.H, 1))) for e in np.eye(K)])
    np.testing.assert_allclose(np.sqrt((unit**2).sum(axis=0)), W, rtol=1e-6)


class Numbers:
    """A generator whose normal numbers are all the same."""

    def __init__(self, value):
        self.value = value

    def standard_normal(self, shape=()):
        return np.full(shape, self.value)[()]


def test_optimistic_lsvi_is_lsvi_with_imagined_targets_at_the_top(problem):
    """The top taken off the last reward is the top added to what the ridge pulls to."""
    mdp, Phi = problem
    parts, _ = seen(Phi, mdp, shift=1.0)
    _, data = seen(Phi, mdp)
    expected = textbook(Phi, data, np.zeros(Phi.shape[:3]), prior=1.0)
    np.testing.assert_allclose(parts.lsvi() + 1.0, expected, rtol=1e-6, atol=1e-7)


def two_periods():
    """One state, two actions. Left was taken n = 3 times in period 0, nothing in period 1 but Left,
    once; no reward."""
    parts = Parts(
        np.tile(np.eye(2).reshape(1, 1, 2, 2), (2, 1, 1, 1)), 1.0, 1.0, np.random.default_rng(0)
    )
    for _ in range(3):
        parts.observe(0, 0, 0, 0.0, 0)
    parts.observe(1, 0, 0, 0.0, 0)
    return parts


def test_the_optimism_of_two_periods_by_hand():
    """In period 1 values are N(0, ½) and N(0, 1), whose larger one has the mean √(1.5/2π); three
    visits out of 3 + λσ² = 4 hand that on to the pair tried, and nothing to the one untried."""
    parts = two_periods()
    parts.fixed = np.random.default_rng(6).standard_normal((20_000, 2, 2))
    expected = parts.optimism()
    assert (expected[1] == 0).all()
    assert expected[0, 0, 1] == 0  # so the greedy agent never tries it
    exact = 0.75 * math.sqrt(1.5 / (2 * math.pi))
    # |z₁ − z₂|/2 has a standard deviation of .37: wrong by chance 7 times in a million
    assert abs(expected[0, 0, 0] - exact) < 4.5 * 0.75 * 0.37 / math.sqrt(20_000)
    assert (parts.lsvi() == 0).all()


def test_two_draws_have_no_bias_and_the_same_spread():
    """Given who chooses, a value has the mean that LSVI's fit gives that policy: here 0. Its
    variance in period 0 is that of Left's own noise and 9/16 of ½ or 1, whichever is chosen."""
    parts = two_periods()
    drawn = np.array([parts.two_draws()[0, 0, 0] for _ in range(20_000)])
    assert abs(drawn.mean()) < 4.5 * drawn.std() / math.sqrt(drawn.size)
    exact = 1 / 4 + 9 / 16 * 0.75
    # The fourth moment of a mixture of normals is near 3: wrong by chance 7 times in a million
    assert abs(drawn.var() / exact - 1) < 4.5 * math.sqrt(2.2 / drawn.size)


@pytest.mark.parametrize("agent", VALUES)
def test_an_agent_earns_what_its_policies_are_worth(agent):
    mdp = deep_sea(4, rng=1)
    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    earned = learn(mdp, agent, features.tabular(mdp), 1.0, SIGMA, 1.0, 40, *rngs)
    assert earned[0] == pytest.approx(mdp.evaluate(np.full(mdp.Q.shape, 0.5))[0, 0])
    assert (earned <= mdp.value + 1e-12).all()


def test_the_rule_tells_better_from_worse_and_from_not_told_apart():
    rng = np.random.default_rng(1)
    printed = 100 + rng.standard_normal(20)
    agents = {
        "sample": printed,
        "far better": printed + 30 + rng.standard_normal(20),
        "worse": printed - 30 + rng.standard_normal(20),
        "nothing": rng.standard_normal(20),
        "as good": printed + rng.standard_normal(20),
        "wild": 300 * rng.integers(2, size=20) * 1.0,
    }
    table = pd.DataFrame(
        {"problem": "p", "agent": agent, "seed": range(20), "gain": gain}
        for agent, gain in agents.items()
    ).explode(["seed", "gain"])
    found = judged(table.astype({"gain": float})).loc["p"]
    assert found.explores.to_dict() == {
        "sample": "yes",
        "far better": "yes",
        "worse": "yes",
        "nothing": "no",
        "as good": "yes",
        "wild": "open",
    }
    assert found.compared.to_dict() == {
        "sample": "not told apart",
        "far better": "better",
        "worse": "worse",
        "nothing": "worse",
        "as good": "not told apart",
        "wild": "not told apart",
    }


# --- the recommendation engine ------------------------------------------------------------------


def served(part, episodes=30):
    """A learner of parts, and agents as printed, that have served the same customers at random."""
    customers, basis = Recommender.random(2.0, 1, N=4, J=3), Products(4, 3)
    rng = np.random.default_rng(2)
    parts = ProductParts(part, 4, 3, 0.5, 0.3, 7)
    others = {
        name: Agent(learner(Problem(basis, 0.5, 0.3)), rng=9) for name, learner in TARGETS.items()
    }
    others["lsvi"] = lsvi(basis, 0.5 * 0.3**2, printed=True)
    for _ in range(episodes):
        x = customers.start(rng)
        for h in range(3):
            a = int(rng.choice(np.flatnonzero(x == 0)))
            r, x_next, over = customers.step(h, x.copy(), a, rng)
            parts.add(h, x, a, r, x_next)
            legal = None if over else customers.legal(h + 1, x_next)
            for one in others.values():
                one.observe(h, x, a, r, x_next, legal)
            x = x_next
    return parts, others


def test_the_parts_of_the_recommender_are_the_librarys():
    parts, others = served("sample")
    for name, other in others.items():
        theta = WEIGHTS[name](parts, np.random.default_rng(9))
        other.plan()
        flat = theta.transpose(0, 2, 1).reshape(3, -1)  # as printed: product by product
        np.testing.assert_allclose(flat, other.theta, rtol=1e-6, atol=1e-9)


def test_expected_weights_are_lsvis_in_the_last_period_and_add_up():
    parts, _ = served("optimism")
    rng = np.random.default_rng(4)
    mean, expected = parts.lsvi(rng), parts.expected(rng)
    np.testing.assert_allclose(expected[-1], mean[-1], rtol=1e-9, atol=1e-12)
    assert not np.allclose(expected[0], mean[0], atol=1e-3)
    spread, sampled = (of(np.random.default_rng(4)) for of in (parts.spread, parts.sampled))
    np.testing.assert_allclose(spread + expected - mean, sampled, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(expected, parts.expected(rng))  # no new draws


def test_an_optimistic_recommender_expects_everything_to_be_liked():
    parts = ProductParts("optimistic", 4, 3, 0.5, 0.3, 7)
    parts.any[0] = True  # without data, all weights are 0
    theta = WEIGHTS["optimistic"](parts, np.random.default_rng(1))
    np.testing.assert_allclose(theta[:, 0], np.tile([[3.0], [2.0], [1.0]], 4), rtol=1e-12)
    assert (theta[:, 1:] == 0).all()
