"""Laws over MDPs: what data add to them."""

import numpy as np

from rlsvi_core.envs.dirichlet import DirichletPrior, no_counts


def prior(**more):
    """Weights that differ from place to place."""
    alpha_R = 1 + np.arange(24.0).reshape(2, 3, 2, 2) / 8
    alpha_P = 4 - np.arange(36.0).reshape(2, 3, 2, 3) / 12
    return DirichletPrior(alpha_R, alpha_P, **more)


def test_counts_are_added_to_the_weights_place_by_place():
    law, seen = prior(alpha_T=[[1, 2], [3, 1], [0, 5]]), no_counts(2, 3, 2)
    seen.R[0, 2, 1, 0], seen.P[1, 0, 1, 2], seen.T[1, 0] = 5, 3, 4
    after = law.posterior(seen)
    assert np.array_equal(after.alpha_R - law.alpha_R, seen.R)
    assert np.array_equal(after.alpha_P - law.alpha_P, seen.P)
    assert np.array_equal(after.alpha_T - law.alpha_T, seen.T)


def test_terminal_rewards_that_are_known_to_be_zero_stay_so_whatever_was_counted():
    seen = no_counts(2, 3, 2)
    seen.T[1, 0] = 4
    after = prior().posterior(seen)
    assert not after.mean_mdp().terminal.any()
    assert not after.sample(1).terminal.any()
