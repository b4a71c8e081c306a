"""Section 3, figure 1: the chain."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from rlsvi_core import chain


def always(action, mdp):
    return np.full((mdp.H, mdp.S), action)


@pytest.mark.parametrize("N", range(2, 61))
def test_going_right_is_optimal_and_earns_p_star(N):
    mdp = chain(N)
    assert math.isclose(mdp.value, (1 - 1 / N) ** (N - 1), rel_tol=1e-12)
    assert abs(mdp.regret(always(1, mdp))) < 1e-14
    assert (mdp.H, mdp.S, mdp.A) == (N - 1, N, 2)


@pytest.mark.parametrize("N", [2, 3, 10, 60])
def test_the_uniform_policy_reaches_N_with_probability_p_star_over_2_to_the_H(N):
    mdp = chain(N)
    uniform = np.full((N - 1, N, 2), 0.5)
    probability = (1 - 1 / N) ** (N - 1) / 2.0 ** (N - 1)
    assert math.isclose(mdp.occupancy(uniform)[-1, -1], probability, rel_tol=1e-12)
    assert math.isclose(mdp.evaluate(uniform)[0, 0], probability, rel_tol=1e-12)


@pytest.mark.parametrize("N", [2, 3, 7])
def test_right_slips_left_with_probability_one_over_N_and_left_never_fails(N):
    P = chain(N).P[0]
    for s in range(N):
        left, right = max(s - 1, 0), min(s + 1, N - 1)
        assert P[s, 0, left] == 1
        assert math.isclose(P[s, 1, left], 1 / N, rel_tol=1e-15)
        assert math.isclose(P[s, 1, right], 1 - 1 / N, rel_tol=1e-15)


def test_a_simulated_right_succeeds_nine_times_in_ten_on_the_10_chain():
    mdp = chain(10)
    states, _, _ = mdp.simulate(always(1, mdp), 20_000, rng=0)
    rights = int((states[:, 1] == 1).sum())  # exact binomial: fails once in 10^6 seeds
    assert binomtest(rights, 20_000, 0.9).pvalue > 1e-6


@pytest.mark.parametrize("N", [2, 3, 4, 5, 20])
def test_one_left_on_the_path_earns_nothing(N):
    mdp = chain(N)
    for h in range(mdp.H):
        policy = always(1, mdp)
        policy[h, h] = 0  # on the only rewarded path, s_h = h
        assert mdp.evaluate(policy)[0, 0] == 0
        assert math.isclose(mdp.regret(policy), mdp.value)


def test_all_other_policies_give_no_reward_by_enumeration():
    mdp = chain(3)
    path = [(0, 0), (1, 1)]
    for actions in itertools.product((0, 1), repeat=6):
        policy = np.reshape(actions, (2, 3))
        right = all(policy[h, s] == 1 for h, s in path)
        assert math.isclose(mdp.evaluate(policy)[0, 0], 4 / 9 if right else 0, rel_tol=1e-15)


@pytest.mark.parametrize("N", [2, 5, 30, 60])
def test_Q_lies_in_the_unit_interval_and_is_zero_off_reach(N):
    mdp = chain(N)
    assert mdp.Q.min() >= 0
    assert mdp.Q.max() <= 1
    for h, s in np.ndindex(mdp.H, mdp.S):
        if s + mdp.H - h < N - 1:  # too far to arrive in time
            assert not mdp.Q[h, s].any()


def test_the_reward_is_paid_once_and_at_the_end():
    mdp = chain(4)
    states, _, rewards = mdp.simulate(always(1, mdp), 500, rng=1)
    assert not rewards[:, :-1].any()
    assert np.array_equal(rewards[:, -1], states[:, -1] == 3)
    assert 0 < rewards.sum() < 500


def test_two_states_by_hand():
    mdp = chain(2)
    assert mdp.Q.tolist() == [[[0, 0.5], [0, 0.5]]]
    assert mdp.V.tolist() == [[0.5, 0.5], [0, 1]]
    assert mdp.initial.tolist() == [1, 0]


@pytest.mark.parametrize("N", [1, 0, -3, 2.0, "5", None])
def test_a_chain_needs_an_integer_of_at_least_two_states(N):
    with pytest.raises(ValueError, match="N"):
        chain(N)
