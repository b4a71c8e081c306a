"""Section 3, figure 1: the chain."""

import math

import numpy as np
import pytest

from rlsvi_core import chain


@pytest.mark.parametrize("N", [3, 10])
def test_going_right_is_optimal_and_earns_p_star(N):
    mdp = chain(N)
    assert (mdp.H, mdp.S, mdp.A) == (N - 1, N, 2)
    assert math.isclose(mdp.optimal_value, (1 - 1 / N) ** (N - 1), rel_tol=1e-12)
    assert abs(mdp.regret(np.ones((N - 1, N), int))) < 1e-14


@pytest.mark.parametrize("N", [2, 3, 7])
def test_right_slips_left_with_probability_one_over_N_and_left_never_fails(N):
    P = chain(N).P[0]
    for s in range(N):
        left, right = max(s - 1, 0), min(s + 1, N - 1)
        assert P[s, 0, left] == 1
        assert math.isclose(P[s, 1, left], 1 / N, rel_tol=1e-15)
        assert math.isclose(P[s, 1, right], 1 - 1 / N, rel_tol=1e-15)


def test_the_reward_is_paid_once_and_at_the_end():
    mdp = chain(4)
    states, _, rewards = mdp.simulate(np.ones((3, 4), int), 500, rng=1)
    assert not states[:, 0].any()
    assert not rewards[:, :-1].any()
    assert np.array_equal(rewards[:, -1], states[:, -1] == 3)
    assert 0 < rewards.sum() < 500
