"""Laws over MDPs: their draws, and what data add to them."""

import numpy as np
import pytest
from scipy import stats

from rlsvi_core.envs.dirichlet import DirichletPrior, fill_dirichlet, zero_counts

RATE = 1e-6  # how often a statistical test of right code fails under a new seed


def prior(**more):
    """Weights that differ from place to place."""
    alpha_R = 1 + np.arange(24.0).reshape(2, 3, 2, 2) / 8
    alpha_P = 4 - np.arange(36.0).reshape(2, 3, 2, 3) / 12
    return DirichletPrior(alpha_R, alpha_P, **more)


def drawn(alpha, n):
    rng, out = np.random.default_rng(4), np.empty((n, len(alpha)))
    for row in out:
        fill_dirichlet(np.array(alpha), rng, row)
    return out


def test_each_part_of_a_draw_has_the_beta_law():
    alpha = [0.3, 2.0, 0.0, 0.9]
    draws = drawn(alpha, 4000)
    np.testing.assert_allclose(draws.sum(axis=1), 1, rtol=1e-14)
    assert not draws[:, 2].any()
    for k in (0, 1, 3):
        law = stats.beta(alpha[k], sum(alpha) - alpha[k])
        assert stats.kstest(draws[:, k], law.cdf).pvalue > RATE / 3


def test_where_all_weights_are_tiny_a_draw_is_a_corner_chosen_by_weight():
    """Gamma variables of such shapes underflow to 0."""
    alpha = np.array([1e-4, 5e-4, 3e-4])
    corners = (drawn(alpha, 4000) == 1).sum(axis=0)
    assert corners.sum() > 3900
    assert stats.chisquare(corners, corners.sum() * alpha / alpha.sum()).pvalue > RATE


def test_many_values_at_once_have_the_law_of_solved_samples():
    law = prior(support=(-2.0, 3.0))
    one, two = law.sample_Q(1500, rng=5), np.array([law.sample(seed).Q for seed in range(1, 1501)])
    for at in np.ndindex(law.shape):
        found = stats.ks_2samp(one[:, *at], two[:, *at])
        assert found.pvalue > RATE / 12


def test_the_mean_of_samples_is_the_mean_mdp():
    law = prior(support=(-2.0, 3.0))
    samples = [law.sample(seed) for seed in range(1, 1501)]
    for name in ("P", "R"):
        found = np.array([getattr(mdp, name) for mdp in samples])
        mean, spread = found.mean(axis=0), found.std(axis=0) / np.sqrt(len(found))
        assert (np.abs(mean - getattr(law.mean_mdp(), name)) <= 6 * spread + 1e-12).all()


def test_counts_are_added_to_the_weights_place_by_place():
    law, seen = prior(support=(-2.0, 3.0), initial=[0.0, 0.25, 0.75]), zero_counts(2, 3, 2)
    seen.R[0, 2, 1, 0], seen.P[1, 0, 1, 2] = 5, 3
    after = law.posterior(seen)
    assert np.array_equal(after.alpha_R - law.alpha_R, seen.R)
    assert np.array_equal(after.alpha_P - law.alpha_P, seen.P)
    low, high = law.alpha_R[0, 2, 1]
    assert after.mean_R[0, 2, 1] == pytest.approx((3 * high - 2 * (low + 5)) / (low + 5 + high))
    assert np.array_equal(after.support, law.support)
    assert np.array_equal(after.initial, law.initial)
    weights = law.alpha_P[1, 0, 1] + [0, 0, 3]
    np.testing.assert_allclose(after.mean_P[1, 0, 1], weights / weights.sum())


def test_there_is_no_terminal_reward_also_where_no_reward_is_zero():
    mdp = prior(support=(-2.0, 3.0)).sample(1)
    assert not mdp.simulate(np.zeros((2, 3), int), 40, rng=2)[2][:, 2].any()
