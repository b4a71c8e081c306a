"""Section 5 on finite MDPs: the prior, the tabular agents, the terms of the proof, its edges."""

import math
from fractions import Fraction
from types import SimpleNamespace as Fake

import numpy as np
import pandas as pd
import pytest

from rlsvi_core.envs.dirichlet import DirichletPrior, zero_counts
from rlsvi_study import baselines, parameters
from rlsvi_study.engine import streams
from rlsvi_study.judging.outcomes import DEPENDS, FAILS, HOLDS
from rlsvi_study.regret import bias, claims, sampled_optimism
from rlsvi_study.regret import experiments as regret
from rlsvi_study.regret.claims import ratio_of_means, tuned_ratio
from rlsvi_study.regret.sampled_optimism import sample_Q

RATE = 1e-6  # how often a statistical test of right code fails under a new seed


@pytest.fixture(scope="module")
def prior():
    rng = np.random.default_rng(0)
    return DirichletPrior(
        rng.uniform(0.2, 2, (3, 3, 2, 2)),
        rng.uniform(0.2, 2, (3, 3, 2, 3)),
        initial=[0.5, 0.25, 0.25],
    )


def test_theorem_1_takes_its_parameters_from_the_strongest_place():
    """Rewards weigh most in the last place and transitions in the first."""
    alpha_R = 1 + np.arange(24.0).reshape(2, 3, 2, 2) / 8
    law = DirichletPrior(alpha_R, 4 - np.arange(36.0).reshape(2, 3, 2, 3) / 12)
    assert law.m_R.argmax() != law.m_P.argmax()
    lam, sigma = parameters.theorem1_parameters(law)
    places = [law.m_R[at] + law.m_P[at] for at in np.ndindex(law.shape)]
    assert lam == pytest.approx(max(places))
    assert lam < law.m_R.max() + law.m_P.max()
    assert sigma == math.sqrt(2**2 + 1)
    lam, sigma = parameters.minimal_parameters(law)
    assert lam * sigma**2 == pytest.approx(max(law.m_R.max(), law.m_P.max()))
    assert sigma == math.sqrt(1 / 2)


@pytest.fixture(scope="module")
def history(prior):
    mdp = prior.sample(1)
    return mdp.simulate(np.full((3, 3, 2), 0.5), 40, 2)


def counted(prior, states, actions, rewards):
    """The counts of a history, in the form that ``FiniteMDP.simulate`` gives it."""
    counts, h, high = zero_counts(*prior.shape), np.arange(prior.shape[0]), prior.support[1]
    s, s_next, r, last = states[:, :-1], states[:, 1:], rewards[:, :-1], rewards[:, -1]
    np.add.at(counts.R, (h, s, actions, (r == high).astype(int)), 1)
    np.add.at(counts.P, (h, s, actions, s_next), 1)
    np.add.at(counts.total, (h, s, actions), r)
    np.add.at(counts.total, (h[-1], s[:, -1], actions[:, -1]), last)
    return counts


# --- the prior ------------------------------------------------------------------------------


def test_the_posterior_means_are_the_papers(prior, history):
    states, actions, rewards = history
    posterior = prior.posterior(counted(prior, *history))
    for h, s, a in np.ndindex(3, 3, 2):
        here = (states[:, h] == s) & (actions[:, h] == a)
        n = here.sum()
        R = rewards[here, h].mean() if n else 0.0
        P = np.bincount(states[here, h + 1], minlength=3) / max(n, 1)
        alpha_R, alpha_P = prior.alpha_R[h, s, a], prior.alpha_P[h, s, a]
        assert posterior.mean_R[h, s, a] == pytest.approx(
            (-alpha_R[0] + n * R) / (alpha_R.sum() + n), abs=1e-14
        )
        np.testing.assert_allclose(
            posterior.mean_P[h, s, a], (alpha_P + n * P) / (alpha_P.sum() + n), atol=1e-14
        )


def test_a_policys_mean_value_is_its_value_in_the_mean_mdp(prior):
    policy = np.random.default_rng(6).integers(2, size=(3, 3))
    values = np.array([prior.sample(i).evaluate(policy)[0] for i in range(200)])
    z = (values.mean(axis=0) - prior.mean_mdp().evaluate(policy)[0]) / (
        values.std(axis=0) / math.sqrt(200)
    )
    assert np.abs(z).max() < 5.2


# --- the agents -----------------------------------------------------------------------------


def test_many_draws_are_single_draws(prior, history):
    counts, rng = counted(prior, *history), np.random.default_rng(9)
    for Q in sample_Q(counts, 2.0, 1.5, 5, 9):
        assert np.array_equal(Q, sample_Q(counts, 2.0, 1.5, 1, rng)[0])


def test_draws_given_dense_counts_are_the_agents_own(prior):
    agent, mdp = regret.theorem1_agent(prior, 2.0, 1.5, rng=1), prior.sample(2)
    agent.learn(mdp, 40, 3)
    agent.rng = np.random.default_rng(4)
    agent.plan()
    assert np.array_equal(
        agent.Q,
        sample_Q(
            baselines.dense_counts(agent.learner.transition_counts, prior.support), 2.0, 1.5, 1, 4
        )[0],
    )


def test_regret_and_its_two_parts_are_exact(prior):
    mdp = prior.sample(1)
    for make in (regret.theorem1_agent, baselines.psrl, baselines.uniform_agent):
        agent, env = make(prior, rng=1), np.random.default_rng(2)
        for _ in range(15):
            run = agent.learn(mdp, 1, env, exact=True)
            best = agent.Q == agent.Q.max(axis=2, keepdims=True)
            policy = best / best.sum(axis=2, keepdims=True)
            assert mdp.optimal_value - run.expected[0] == pytest.approx(
                mdp.regret(policy), abs=1e-13
            )
            assert run.predicted_value[0] in agent.Q[0].max(axis=1)


def test_counts_of_a_run_are_counts_of_its_history(prior, history):
    counts = counted(prior, *history)
    states, actions, rewards = history
    assert counts.n.sum() == actions.size
    assert counts.R.sum(axis=3).tolist() == counts.n.tolist()
    np.testing.assert_allclose(-counts.R[..., 0], counts.total)
    assert counts.total.sum() == rewards.sum()


def test_psrl_plans_with_the_posterior(prior):
    agent, mdp = baselines.psrl(prior, rng=3), prior.sample(1)
    agent.learn(mdp, 30, 4)
    counts, agent.rng = agent.learner.counts, np.random.default_rng(5)
    agent.learn(mdp, 1, 6)
    assert np.array_equal(agent.Q, prior.posterior(counts).sample_Q(1, 5)[0])


def test_psrls_sampled_value_is_unbiased_in_the_mean():
    # Given the data, sampled and true MDP have one law: E[Δ^opt] = 0 in every episode.
    prior = DirichletPrior.symmetric(2, 2, 2)
    optimism = []
    for seed in range(400):
        mdp = prior.sample((seed, 0))
        run = baselines.psrl(prior, rng=(seed, 1)).learn(mdp, 20, (seed, 2), exact=True)
        optimism.append(mdp.optimal_value - run.predicted_value.mean())
    optimism = np.array(optimism)
    assert abs(optimism.mean()) < 5 * optimism.std() / math.sqrt(400)


def test_ucbvi_is_optimistic_monotone_and_learns(prior):
    mdp, env = prior.sample(1), np.random.default_rng(2)
    agent = baselines.ucbvi(prior, 2000, 0.02, rng=1)
    before = agent.Q
    for _ in range(20):
        run = agent.learn(mdp, 100, env, exact=True)
        assert (agent.Q <= before).all()
        assert (run.predicted_value >= mdp.optimal_value).all()
        before = agent.Q
    assert mdp.optimal_value - run.expected.mean() < 0.5 * mdp.regret(np.full((3, 3, 2), 0.5))


def test_ucbvis_published_bonus(prior):
    agent = baselines.ucbvi(prior, 100, delta=0.1)
    assert agent.learner.record.bonus == pytest.approx(7 * 3 * math.log(5 * 3 * 2 * 300 / 0.1))


def test_agents_refuse_what_they_cannot_play(prior):
    with pytest.raises(ValueError, match="FiniteMDP"):
        regret.theorem1_agent(prior).learn(DirichletPrior.symmetric(1, 1, 2).sample(0), 1)
    paying = DirichletPrior.symmetric(*prior.shape, support=(0, 1)).sample(0)
    for make, rule in ((baselines.psrl, "PSRL"), (baselines.uniform_agent, "largest")):
        with pytest.raises(ValueError, match=rule):
            make(prior, rng=1).learn(paying, 10, 2)
    with pytest.raises(ValueError, match="sigma"):
        regret.theorem1_agent(prior, 1.0, 0.0)


# --- the terms of the proof -----------------------------------------------------------------


def test_the_value_is_its_posterior_form_plus_bias_plus_noise(prior, history):
    counts, lam, sigma = counted(prior, *history), 2.0, 1.5
    for Q in sample_Q(counts, lam, sigma, 20, 3):
        posterior, V = prior.posterior(counts), np.vstack([Q[1:].max(axis=2), np.zeros(3)])
        through = posterior.mean_R + np.einsum("hsat,ht->hsa", posterior.mean_P, V)
        np.testing.assert_allclose(
            through + sum(bias.bias_terms(prior, counts, Q, lam, sigma)), Q, atol=1e-13
        )


def test_the_largest_biases_are_attained(prior):
    lam, sigma = parameters.theorem1_parameters(prior)
    counts = sampled_optimism.one_visit_counts(prior, high=False)
    for array in counts:
        array *= 7
    Q = np.full(prior.shape, -3.0)  # Ṽ = −H
    found = bias.bias_terms(prior, counts, Q, lam, sigma)
    most = bias.largest_terms(prior, 7, lam, sigma)
    np.testing.assert_allclose(found.b_R, most.b_R, atol=1e-14)
    np.testing.assert_allclose(found.b_P[:-1], most.b_P[:-1], atol=1e-13)


# --- the edges of Lemma 2 -------------------------------------------------------------------


def test_the_one_period_gap_is_that_of_the_samples():
    prior = DirichletPrior(np.full((1, 1, 1, 2), (0.7, 1.2)), np.ones((1, 1, 1, 1)))
    counts = zero_counts(1, 1, 1)
    counts.R[0, 0, 0], counts.P[...], counts.total[...] = (3, 2), 5, -3
    X, Y = (Q.ravel() for Q in sampled_optimism.paired_samples(prior, counts, 2.0, 0.3, 40_000, 1))
    for z in (-0.9, -0.5, -0.3, -0.1):
        x, y = np.maximum(X - z, 0), np.maximum(Y - z, 0)
        error = math.sqrt((x.var() + y.var()) / 40_000)
        exact = sampled_optimism.one_period_gap((0.7, 1.2), 3, 2, 2.0, 0.3, z)
        assert abs(x.mean() - y.mean() - exact) < 5 * error + 1e-12


def test_paired_samples_have_the_closed_form_means():
    prior = DirichletPrior(np.full((1, 1, 2, 2), (0.1, 0.9)), np.ones((1, 1, 2, 1)))
    counts = zero_counts(1, 1, 2)
    counts.R[0, 0, :, 1] = counts.P[0, 0, :, 0] = 1, 20
    counts.total[0, 0, 0] = -1.0
    lam, sigma = parameters.theorem1_parameters(prior)
    X, Y = sampled_optimism.paired_samples(
        prior, counts, lam, sigma, 50_000, np.random.default_rng(2)
    )
    exact_Y = -Fraction(1, 10) / 2
    exact_X = Fraction(-1, 1 + round(lam * sigma**2))
    assert abs(X[:, 0, 0, 0].mean() - exact_X) < 5 * X[:, 0, 0, 0].std() / math.sqrt(50_000)
    assert abs(Y[:, 0, 0, 0].mean() - exact_Y) < 5 * Y[:, 0, 0, 0].std() / math.sqrt(50_000)


# --- the experiments ------------------------------------------------------------------------


def test_the_power_of_time_is_that_of_the_last_factor_of_16():
    table = pd.DataFrame(
        [
            {
                "agent": "rlsvi",
                **regret.BASE,
                "episodes": episodes,
                "episode": L,
                "seed": seed,
                "regret": (2 + seed) * (L**0.3 if 16 * L >= episodes else 1e3),
            }
            for episodes in (regret.COMPARISON_EPISODES, 4 * regret.COMPARISON_EPISODES)
            for L in (4**k for k in range(9))
            for seed in range(4)
            if L <= episodes
        ]
    )
    assert regret.fitted_power(table, "rlsvi", "episode") == pytest.approx(0.3)


def row(mdp, run, L):
    """What is recorded after L episodes, to the nearest millionth."""
    return {
        "episode": L,
        "regret": pytest.approx((mdp.optimal_value - run.expected[:L]).sum(), abs=1e-6),
        "concentration": pytest.approx(
            (run.predicted_value[:L] - run.expected[:L]).sum(), abs=1e-6
        ),
    }


def test_a_row_has_regret_and_concentration_so_far():
    prior = regret.theorem1_prior(2, 3, 4)
    mdp_rng, env_rng, agent_rng = streams((3, 2, 3, 4))
    mdp = prior.sample(mdp_rng)
    run = regret.theorem1_agent(prior, 1.0, 0.5, rng=agent_rng).learn(mdp, 20, env_rng, exact=True)
    found = regret.bayesian_regret("rlsvi-small", 2, 3, 4, seed=3, episodes=20)
    assert found == [row(mdp, run, L) for L in (1, 4, 16)]


def test_a_tuned_row_has_a_share_of_theorem_1s_sigma():
    prior = regret.theorem1_prior(**regret.BASE)
    mdp_rng, env_rng, agent_rng = streams(7)
    mdp, (lam, sigma) = prior.sample(mdp_rng), parameters.theorem1_parameters(prior)
    run = regret.theorem1_agent(prior, lam, 0.2 * sigma, agent_rng).learn(
        mdp, 32, env_rng, exact=True
    )
    tuned = regret.tuned_regret("rlsvi", 0.2, seed=7, episodes=32)
    assert tuned == [row(mdp, run, L) for L in (1, 4, 16)]


def test_a_row_beside_the_bound_has_the_agents_regret_and_uniform_plays():
    prior = regret.theorem1_prior(2, 3, 4)
    mdp_rng, env_rng, agent_rng = streams((3, 2, 3, 4))
    mdp, given = prior.sample(mdp_rng), parameters.minimal_parameters(prior)
    run = regret.theorem1_agent(prior, *given, agent_rng).learn(mdp, 20, env_rng, exact=True)
    uniform = mdp.regret(np.full((2, 3, 4), 1 / 4))
    assert regret.regret_beside_uniform("repaired", 2, 3, 4, seed=3, episodes=20) == [
        {
            "episode": L,
            "regret": row(mdp, run, L)["regret"],
            "uniform": pytest.approx(L * uniform, abs=1e-6),
        }
        for L in (1, 4, 16)
    ]


# --- the claims -----------------------------------------------------------------------------


def ends(**regret):
    """A table of the last episode of runs on some MDPs, with these mean regrets."""
    return pd.DataFrame(
        [
            {
                "agent": agent.replace("_", "-"),
                "seed": seed,
                "episode": 4**8,
                "regret": x + seed % 2,
            }
            for agent, x in regret.items()
            for seed in range(8)
        ]
    )


@pytest.mark.parametrize(
    ("rlsvi", "small", "verdict"),
    [
        (50.0, 80.0, HOLDS),
        (100.0, 100.0, HOLDS),
        (5000.0, 120.0, DEPENDS),
        (5000.0, 900.0, DEPENDS),
    ],
)
def test_an_approximation_to_psrl_wins_ties_and_loses(rlsvi, small, verdict):
    tables = {"theorem1": ends(psrl=100.0, rlsvi=rlsvi, rlsvi_small=small)}
    assert claims.approximates_psrl(tables).verdict == verdict


def test_an_approximation_to_psrl_is_measured_with_its_interval(monkeypatch):
    """At Theorem 1's parameters the mean of the ratio decides, and its interval does not."""
    rows = [
        {"agent": agent, "seed": seed, "episode": 4**8, "regret": x + spread * (-1) ** seed}
        for agent, x, spread in (("psrl", 100, 0), ("rlsvi", 220, 150), ("rlsvi-small", 100, 0))
        for seed in range(3, 11)
    ]
    seen, agreed = [], claims.combine_readings
    monkeypatch.setattr(
        claims, "combine_readings", lambda found: seen.append(found) or agreed(found)
    )
    claims.approximates_psrl({"theorem1": pd.DataFrame(rows)})
    assert seen[0]["regret"] == DEPENDS


@pytest.mark.parametrize(("ucbvi", "share"), [(2.0, 2.0), (1.0, 1.0), (0.5, 0.5)])
def test_both_rivals_are_tuned_on_one_half_and_compared_on_the_other(ucbvi, share):
    """Factor 0.1 is best on the first half; 1 would be on the other."""
    table = pd.DataFrame(
        [
            {
                "agent": agent,
                "factor": factor,
                "seed": seed,
                "episode": 9,
                "regret": by * (100 if (factor == 0.1) == (seed < 16) else 300) + by * (seed % 3),
            }
            for agent, by in (("rlsvi", 1.0), ("ucbvi", ucbvi))
            for factor in (0.1, 1.0)
            for seed in range(32)
        ]
    )
    best, ratio = tuned_ratio(table)
    assert best == {"rlsvi": 0.1, "ucbvi": 0.1}
    assert ratio == pytest.approx((share, share, share))


def test_the_ratio_of_means_covers_the_truth():
    rng = np.random.default_rng(0)
    below = pd.DataFrame(rng.gamma(5, 1.0, (400, 40)))
    found = [ratio_of_means(2 * row + rng.normal(0, 1, 40), row) for _, row in below.iterrows()]
    assert 0.91 < np.mean([one.low < 2 < one.high for one in found]) < 0.98


@pytest.mark.parametrize("step", [None, *claims.LEMMA_2])
def test_lemma_2_falls_with_any_step_of_its_proof(step, monkeypatch):
    def stub(one):
        def holds():
            return one is not step

        holds.__name__ = one.__name__
        return holds

    monkeypatch.setattr(
        sampled_optimism,
        "check_optimism",
        lambda *given, **rest: {"all": Fake(refuted=False, shortfall=0.0)},
    )
    monkeypatch.setattr(claims, "LEMMA_2", tuple(map(stub, claims.LEMMA_2)))
    found = claims.lemma2()
    assert found.verdict == (FAILS if step else HOLDS)
    assert found.numbers["failed"] == ([step.__name__] if step else [])
