"""RLSVI taken apart: an exact value by hand, the library's agents, and the textbook's backward pass."""

import math

import numpy as np
import pytest

from rlsvi_core import Agent, features, lsvi
from rlsvi_core.envs.chains import chain, deep_sea
from rlsvi_core.learners.base import RegressionProblem
from rlsvi_study.beyond.exploration import VALUES, Parts, learn
from tests.core.reference import Reference

SIGMA = 0.1


class MeanInTargets(Reference):
    def weights_in_targets(self, theta, mean):
        return mean


TARGETS = {"sample": Reference, "mean": MeanInTargets}


def seen(Phi, mdp, *agents):
    """Parts, and agents, that have seen some episodes of coin flips; and the transitions."""
    parts, data = Parts(Phi, 1.0, SIGMA, np.random.default_rng(1)), [[] for _ in range(mdp.H)]
    s, a, r = mdp.simulate(np.full(mdp.Q.shape, 1 / mdp.A), 12, 2)
    r[:, -2] += r[:, -1]
    for l, h in np.ndindex(a.shape):
        step = h, int(s[l, h]), int(a[l, h]), r[l, h], int(s[l, h + 1])
        data[h].append(step[1:])
        for one in (parts, *agents):
            one.observe(*step)
    return parts, data


@pytest.fixture(params=["table", "coherent"])
def problem(request):
    mdp = chain(6)
    table = request.param == "table"
    return mdp, features.tabular(mdp) if table else features.coherent(mdp.Q, 5, rng=3)


@pytest.mark.parametrize("targets", TARGETS)
def test_the_parts_that_the_library_has_are_the_librarys(problem, targets):
    mdp, Phi = problem
    agent = Agent(
        TARGETS[targets](RegressionProblem(features.FeatureTable(Phi), 1.0, SIGMA)), rng=5
    )
    greedy = lsvi(Phi, SIGMA**2)
    parts, _ = seen(Phi, mdp, agent, greedy)
    z = np.random.default_rng(5).standard_normal(parts.fixed.shape[1:])[::-1]  # last period first
    agent.plan()
    greedy.plan()
    W = parts.noise(z)
    Q = parts.backup(W) if targets == "sample" else parts.lsvi() + W
    np.testing.assert_allclose(Q, agent.Q, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(parts.lsvi(), greedy.Q, rtol=1e-6, atol=1e-8)


def test_the_backward_pass_is_the_textbooks(problem):
    """From all transitions, by normal equations."""
    mdp, Phi = problem
    parts, data = seen(Phi, mdp)
    W = parts.noise()
    Q, V = np.zeros(W.shape), np.zeros(mdp.S)
    for h in reversed(range(mdp.H)):
        rows = np.array([Phi[h, s, a] for s, a, _, _ in data[h]])
        b = np.array([r + (V[s_next] if h < mdp.H - 1 else 0.0) for _, _, r, s_next in data[h]])
        M = rows.T @ rows + SIGMA**2 * np.eye(Phi.shape[3])
        Q[h] = Phi[h] @ np.linalg.solve(M, rows.T @ b) + W[h]
        V = Q[h].max(axis=1)
    np.testing.assert_allclose(parts.backup(W), Q, rtol=1e-6, atol=1e-8)


def test_spread_and_optimism_add_up_to_a_sample(problem):
    mdp, Phi = problem
    parts, _ = seen(Phi, mdp)
    state = parts.rng.bit_generator.state
    sample = parts.sample()
    parts.rng.bit_generator.state = state
    spread = parts.spread()
    np.testing.assert_allclose(spread + parts.optimism() - parts.lsvi(), sample, atol=1e-9)


def test_the_optimism_of_two_periods_by_hand():
    """One state, two actions. Left was taken three times in period 0, and once in period 1. There
    values are N(0, ½) and N(0, 1), whose larger one has the mean √(1.5/2π); three visits out of
    3 + λσ² = 4 hand that on to the pair tried, and nothing to the one untried."""
    basis = np.tile(np.eye(2).reshape(1, 1, 2, 2), (2, 1, 1, 1))
    parts = Parts(basis, 1.0, 1.0, np.random.default_rng(0))
    for h in (0, 0, 0, 1):
        parts.observe(h, 0, 0, 0.0, 0)
    parts.fixed = np.random.default_rng(6).standard_normal((20_000, 2, 2))
    expected = parts.optimism()
    assert (expected[1] == 0).all()
    assert expected[0, 0, 1] == 0  # so the greedy agent never tries it
    exact = 0.75 * math.sqrt(1.5 / (2 * math.pi))
    # |z₁ − z₂|/2 has a standard deviation of .37: wrong by chance 7 times in a million
    assert abs(expected[0, 0, 0] - exact) < 4.5 * 0.75 * 0.37 / math.sqrt(20_000)
    assert (parts.lsvi() == 0).all()


@pytest.mark.parametrize("agent", VALUES)
def test_an_agent_earns_what_its_policies_are_worth(agent):
    mdp = deep_sea(4, rng=1)
    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    earned = learn(mdp, agent, features.tabular(mdp), 1.0, SIGMA, 40, *rngs)
    assert earned[0] == pytest.approx(mdp.evaluate(np.full(mdp.Q.shape, 0.5))[0, 0])
    assert (earned <= mdp.optimal_value + 1e-12).all()
