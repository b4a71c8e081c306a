"""Appendix F and section 7: what a row means, computed again by hand."""

import math

import numpy as np
import pytest

from rlsvi_core import Agent, Options, chain, features, lsvi, rlsvi
from rlsvi_core.envs.chains import LEFT, RIGHT, lock
from rlsvi_core.learners.appendix_f import ContinualLearner
from rlsvi_study.engine import streams
from rlsvi_study.extensions import claims
from rlsvi_study.extensions.experiments import bootstrap_time, incremental_curve, opening_time
from rlsvi_study.extensions.printed_incremental import PrintedIncrementalLearner
from rlsvi_study.extensions.resampling import ResamplingLearner
from rlsvi_study.judging.outcomes import FAILS
from tests.core.reference import reference


@pytest.mark.parametrize(
    ("agent", "prior", "nu"),
    [
        ("batch", "kept", None),
        ("ν = 0", "kept", 0.0),
        ("ν = 0.03", "forgotten", 0.03),
        ("ν = 1/(l+2)", "kept", lambda l: 1 / (l + 2)),
        ("ν = H/(l+H+1)", "forgotten", lambda l: 4 / (l + 5)),
    ],
)
def test_an_incremental_curve_episode_by_episode(agent, prior, nu):
    N, seed, lam, K, sigma = 5, 6, 0.7, 3, 0.1
    basis_rng, env_rng, agent_rng = streams(seed)
    Phi = features.coherent(chain(N).Q, K, basis_rng)
    learner = (
        reference(rlsvi(Phi, lam, sigma, options=Options(first="prior")), rng=agent_rng)
        if nu is None
        else Agent(PrintedIncrementalLearner(Phi, lam, sigma, nu, prior), rng=agent_rng)
    )
    best, regret, rewards, tenth, furthest, expected = (1 - 1 / N) ** (N - 1), 0.0, 0, 0, 0, []
    for l in range(1, 151):
        run = learner.learn(chain(N), 1, env_rng)
        # Only a policy that goes right all along the path earns anything, and then p*.
        right = all(
            Phi[h, h, RIGHT] @ learner.theta[h] > Phi[h, h, LEFT] @ learner.theta[h]
            for h in range(N - 1)
        )
        regret += 0.0 if right else best
        rewards += int(run.reward[0])
        furthest = max(furthest, 1 + int(run.max_state[0]))
        tenth = tenth or l * (rewards == 10)
        if l % 10 == 0:
            expected.append(
                {
                    "episode": l,
                    "regret": pytest.approx(regret, abs=2e-6),
                    "rewards": rewards,
                    "tenth_reward": tenth,
                    "furthest": furthest,
                }
            )
    assert incremental_curve(agent, prior, seed, N, lam, K, sigma, 150, 10) == expected
    assert 10 < tenth < 150  # rows before and after it were compared


class Recorded:
    """An MDP that writes down what is done in it."""

    def __init__(self, mdp):
        self.mdp, self.start, self.record = mdp, mdp.start, []

    def step(self, h, s, a, rng):
        r, s_next, over = self.mdp.step(h, s, a, rng)
        self.record.append((s, a, r))
        return r, s_next, over


@pytest.mark.parametrize(
    ("agent", "rho", "epsilon"),
    [
        ("printed", math.sqrt(1 - 0.9**2), 0.0),
        ("corrected", 0.9, 0.0),
        ("fresh", 0.0, 0.0),
        ("greedy", 1.0, 0.0),
        ("epsilon-greedy", 1.0, 0.1),
    ],
)
def test_when_a_lock_opens_and_what_is_lost_until_then(agent, rho, epsilon):
    n, gamma, steps = 3, 0.9, 150
    _, env_rng, rng = streams(4)
    learner = ContinualLearner(np.eye(6).reshape(3, 2, 6), gamma, rho, 2.0, 0.3)
    world = Recorded(lock(n, gamma))
    Agent(learner, redraw=1, epsilon=epsilon, rng=rng).learn(world, 1, env_rng, limit=steps)
    states, actions, rewards = map(np.array, zip(*world.record, strict=True))
    # A move to the right loses nothing; one to the left, the way that was behind.
    V = [gamma ** (n - 1 - s) / (1 - gamma**n) for s in range(n)]
    left = states[actions == LEFT]
    opened = [t for t, reward in enumerate(rewards, 1) if reward > 0]
    assert opening_time(agent, n, gamma, 4, 2.0, 0.3, steps) == [
        {
            "first_reward": opened[0],
            "lost": False,
            "rewards": len(opened),
            "regret": pytest.approx(sum(V[s] - gamma * V[0] for s in left), abs=2e-6),
        }
    ]
    assert opening_time(agent, n, gamma, 4, 2.0, 0.3, opened[0] - 1)[0]["lost"]


def bootstrap_by_hand(resample, random_prior, seed, lam, sigma, budget):
    """The chain of two states: one period, and the right action pays every other time."""
    _, env_rng, rng = streams(seed)
    ridge, rows, found, largest = lam * sigma**2, [], [], 0.0
    for l in range(1, budget + 1):
        theta = np.zeros(4)  # state 0 left, right; state 1 left, right. Zero before any data
        if rows:
            zeta = rng.standard_normal((1, 4))[0] / math.sqrt(lam) if random_prior else theta.copy()
            drawn = (
                rng.integers([[len(rows)]], size=(1, len(rows)))[0]
                if resample
                else range(len(rows))
            )
            for k in range(4):
                y = [rows[i][1] for i in drawn if rows[i][0] == k]
                theta[k] = (sum(y) + ridge * zeta[k]) / (len(y) + ridge)
        u = rng.random()
        a = int(u >= 0.5) if theta[0] == theta[1] else int(theta[1] > theta[0])
        env_rng.random()
        rows.append((a, float(env_rng.random() >= 0.5 and a == RIGHT)))
        largest = max(largest, abs(theta).max()) if not found else largest
        found += [l] * (rows[-1][1] > 0)
        if len(found) == 10:
            break
    return found, largest, l


@pytest.mark.parametrize(
    ("agent", "resample", "random_prior"),
    [("bootstrap", True, False), ("bootstrap + prior", True, True), ("prior", False, True)],
)
def test_a_bootstrap_on_two_states_by_hand(agent, resample, random_prior):
    for seed in range(5):
        found, largest, last = bootstrap_by_hand(resample, random_prior, seed, 2.0, 0.5, 1000)
        assert bootstrap_time(agent, "tabular", 2, seed, 2.0, 0.5, 0, 1000) == [
            {
                "first_reward": found[0],
                "lost": False,
                "tenth_reward": found[9],
                "censored": False,
                "largest_weight": pytest.approx(largest, rel=1e-9),
            }
        ]
        assert last == found[9]
        assert (largest == 0) == (not random_prior or found[0] == 1)
        (cut,) = bootstrap_time(agent, "tabular", 2, seed, 2.0, 0.5, 0, found[9] - 1)
        assert (cut["tenth_reward"], cut["censored"]) == (found[9] - 1, True)


def test_with_neither_resampling_nor_a_prior_it_is_lsvi_however_much_it_has_seen():
    Phi, rng = features.coherent(chain(4).Q, 3, 1), np.random.default_rng(2)
    agent = Agent(ResamplingLearner(Phi, 2.0, 0.5, resample=False, random_prior=False))
    plain = lsvi(Phi, 2.0 * 0.5**2)
    for _ in range(400):  # more than any room that was made at first
        h, s, a, s_next = (int(rng.integers(n)) for n in (3, 4, 2, 4))
        for one in (agent, plain):
            one.observe(h, s, a, float(h + s * a), s_next)
    agent.plan()
    plain.plan()
    np.testing.assert_allclose(agent.theta, plain.theta, rtol=1e-9)


def test_the_mean_is_the_covariance_times_y_and_not_the_precision():
    rng = np.random.default_rng(0)
    truth, Phi = rng.standard_normal(3), rng.standard_normal((1, 100, 1, 3))
    learner = PrintedIncrementalLearner(Phi, lam=1e-6)
    for s in range(100):
        learner.add(0, s, 0, float(Phi[0, s, 0] @ truth), None)
    assert np.linalg.solve(learner.precision[0], learner.y[0]) == pytest.approx(truth, rel=1e-6)
    assert np.abs(learner.precision[0] @ learner.y[0] / truth).max() > 1e8


def test_a_bootstrap_whose_interval_reaches_that_without_a_prior_is_not_ahead():
    """Its median is: 11 of its runs need 100 episodes, the others 900, where 500 are needed without."""
    table = claims.STORED["bootstrap"]
    at = (table.features == "tabular") & (table.N == 14)
    own = at & (table.agent == "bootstrap + prior")
    table.loc[at & (table.agent == "bootstrap"), ["first_reward", "lost"]] = [500, False]
    table.loc[own, "lost"] = False
    table.loc[own, "first_reward"] = np.where(np.arange(own.sum()) < 11, 100, 900)
    assert claims.bootstrap_samples_posterior({"bootstrap": table}).verdict == FAILS
