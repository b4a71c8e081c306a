"""Section 2: backward induction, policy evaluation and simulation of a finite-horizon MDP."""

import copy
import itertools
import pickle
import signal
import time
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare

from rlsvi_core import FiniteMDP
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.mdp import DiscountedMDP

RATE = 1e-6  # how often a statistical test of right code fails under a new seed

seeds = st.integers(0, 10**9)
small = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))  # H, S, A
tiny = st.sampled_from([(1, 1, 3), (1, 3, 2), (2, 2, 2), (3, 2, 2), (2, 1, 4), (2, 2, 3)])


def dense_Q(mdp):
    """The definition of section 2, one sum at a time over the dense P."""
    V = [list(mdp.terminal)]
    Q = []
    for h in reversed(range(mdp.H)):
        t = h if len(mdp.P) > 1 else 0
        q = [
            [
                sum(mdp.P[t, s, a, n] * (mdp.R[t, s, a, n] + V[0][n]) for n in range(mdp.S))
                for a in range(mdp.A)
            ]
            for s in range(mdp.S)
        ]
        Q.insert(0, q)
        V.insert(0, [max(row) for row in q])
    return np.array(Q), np.array(V)


def value_by_paths(mdp, mu, h0, s0):
    """V^μ_h0(s0) with no recursion: Σ over whole trajectories of probability × total reward."""
    steps = list(itertools.product(range(mdp.A), range(mdp.S)))
    value = 0.0
    for path in itertools.product(steps, repeat=mdp.H - h0):
        s, probability, total = s0, 1.0, 0.0
        for h, (a, n) in enumerate(path, start=h0):
            probability *= mu[h, s, a] * mdp.P[h, s, a, n]
            total += mdp.R[h, s, a, n]
            s = n
        value += probability * (total + mdp.terminal[s])
    return value


def all_policies(mdp):
    for actions in itertools.product(range(mdp.A), repeat=mdp.H * mdp.S):
        yield np.reshape(actions, (mdp.H, mdp.S))


def random_policy(seed, mdp):
    return np.random.default_rng(seed).dirichlet(np.full(mdp.A, 0.7), (mdp.H, mdp.S))


def chi_square_ok(counts, probabilities, tests=1):
    """No category that can't occur did, and the others pass at RATE shared over ``tests``."""
    counts, probabilities = np.ravel(counts), np.ravel(probabilities)
    assert counts[probabilities == 0].sum() == 0
    common = probabilities * counts.sum() > 20
    rest = (counts[~common].sum(), probabilities[~common].sum() * counts.sum())
    seen = np.append(counts[common], rest[0])
    mean = np.append(probabilities[common] * counts.sum(), rest[1])
    if mean[-1] < 20:  # too rare for the chi-square law; the other categories bear the test
        seen, mean = seen[:-1], mean[:-1] * (seen[:-1].sum() / mean[:-1].sum())
    assert len(seen) < 2 or chisquare(seen, mean).pvalue > RATE / tests


# --- optimal values -------------------------------------------------------------------------


@given(seeds, small)
def test_optimal_values_equal_the_definition_summed_over_dense_P(make_mdp, seed, size):
    mdp = make_mdp(seed, *size, noisy=seed % 2 == 1)
    Q, V = dense_Q(mdp)
    np.testing.assert_allclose(mdp.Q, Q, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(mdp.V, V, rtol=1e-13, atol=1e-13)


@given(seeds, tiny)
def test_V_is_the_best_of_all_deterministic_policies(make_dyadic_mdp, seed, size):
    mdp = make_dyadic_mdp(seed, *size)
    best = np.full((mdp.H + 1, mdp.S), -np.inf)
    for policy in all_policies(mdp):
        best = np.maximum(best, mdp.evaluate(policy))
    assert np.array_equal(best, mdp.V)


@given(seeds, st.sampled_from([(1, 3, 2), (2, 2, 2), (3, 2, 2)]))
def test_evaluate_equals_the_sum_over_all_trajectories(make_mdp, seed, size):
    mdp = make_mdp(seed, *size)
    mu = random_policy(seed + 1, mdp)
    slow = [[value_by_paths(mdp, mu, h, s) for s in range(mdp.S)] for h in range(mdp.H + 1)]
    np.testing.assert_allclose(mdp.evaluate(mu), slow, rtol=1e-12, atol=1e-12)


@given(seeds, small)
def test_a_deterministic_policy_equals_its_one_hot_probabilities(make_mdp, seed, size):
    mdp = make_mdp(seed, *size)
    policy = np.random.default_rng(seed).integers(mdp.A, size=(mdp.H, mdp.S))
    one_hot = np.zeros((mdp.H, mdp.S, mdp.A))
    for h, s in np.ndindex(policy.shape):
        one_hot[h, s, policy[h, s]] = 1
    assert np.array_equal(mdp.evaluate(policy), mdp.evaluate(one_hot))


def test_regret_weighs_the_starting_states():
    P = np.zeros((1, 2, 2, 2))
    P[..., 0] = 1
    R = np.zeros_like(P)
    R[0, 0, 1], R[0, 1, 1] = 8, 16  # action 1 earns 8 in state 0 and 16 in state 1
    mdp = FiniteMDP(P, R, initial=[0.75, 0.25])
    assert mdp.optimal_value == 10
    assert mdp.regret(np.array([[0, 0]])) == 10
    assert mdp.regret(np.array([[0, 1]])) == 6
    assert mdp.regret(np.array([[1, 0]])) == 4


@given(seeds, small)
def test_a_stationary_mdp_is_the_same_period_stacked_H_times(make_mdp, seed, size):
    H, S, A = size
    one = make_mdp(seed, 1, S, A, noisy=True)
    rest = {"terminal": one.terminal, "initial": one.initial, "support": one.support}
    flat = FiniteMDP.stationary(one.P[0], one.R[0], H, **rest)
    tall = FiniteMDP(one.P.repeat(H, axis=0), one.R.repeat(H, axis=0), **rest)
    mu = random_policy(seed, tall)
    assert flat.H == tall.H == H
    assert len(flat.P) == 1
    assert np.array_equal(flat.Q, tall.Q)
    assert np.array_equal(flat.V, tall.V)
    assert np.array_equal(flat.evaluate(mu), tall.evaluate(mu))
    assert np.array_equal(flat.occupancy(mu), tall.occupancy(mu))
    for x, y in zip(flat.simulate(mu, 20, rng=seed), tall.simulate(mu, 20, rng=seed), strict=True):
        assert np.array_equal(x, y)


def test_defaults_are_state_zero_and_no_terminal_reward():
    mdp = FiniteMDP(np.full((1, 3, 1, 3), 1 / 3), np.zeros((1, 3, 1, 3)))
    assert mdp.initial.tolist() == [1, 0, 0]
    assert mdp.terminal.tolist() == [0, 0, 0]


# --- occupancy ------------------------------------------------------------------------------


@given(seeds, small)
def test_occupancy_is_the_product_of_transition_matrices(make_mdp, seed, size):
    mdp = make_mdp(seed, *size)
    mu = random_policy(seed, mdp)
    occupancy, d = mdp.occupancy(mu), mdp.initial
    for h in range(mdp.H):
        np.testing.assert_allclose(occupancy[h], d, atol=1e-14)
        d = d @ np.einsum("sa,san->sn", mu[h], mdp.P[h])
    np.testing.assert_allclose(occupancy[mdp.H], d, atol=1e-14)
    np.testing.assert_allclose(occupancy.sum(axis=1), 1, rtol=1e-14)


# --- simulation -----------------------------------------------------------------------------


def test_simulated_rewards_are_read_at_the_simulated_transitions(make_mdp):
    mdp = make_mdp(3, 4, 3, 2)
    s, a, r = mdp.simulate(random_policy(0, mdp), 300, rng=1)
    h = np.arange(mdp.H)
    assert np.array_equal(r[:, :-1], mdp.R[h, s[:, :-1], a, s[:, 1:]])
    assert np.array_equal(r[:, -1], mdp.terminal[s[:, -1]])
    assert (mdp.P[h, s[:, :-1], a, s[:, 1:]] > 0).all()


def test_simulated_states_actions_and_moves_have_the_exact_laws(make_mdp):
    mdp, L = make_mdp(5, 3, 3, 2), 20_000
    mu = random_policy(1, mdp)
    d = mdp.occupancy(mu)
    s, a, _ = mdp.simulate(mu, L, rng=2)
    chi_square_ok(np.bincount(s[:, 0], minlength=3), mdp.initial, tests=5)
    chi_square_ok(np.bincount(s[:, -1], minlength=3), d[-1], tests=5)
    for h in range(mdp.H):  # rate: 1e-6 for the five tests together
        counts = np.zeros((3, 2, 3))
        np.add.at(counts, (s[:, h], a[:, h], s[:, h + 1]), 1)
        chi_square_ok(counts, d[h][:, None, None] * mu[h][:, :, None] * mdp.P[h], tests=5)


def test_random_rewards_take_two_values_with_the_stated_mean():
    means, L = np.array([-1.0, -0.5, 0.25, 2.0]), 20_000
    P = np.ones((4, 1, 1, 1))
    mdp = FiniteMDP(P, means.reshape(4, 1, 1, 1), terminal=[1.0], support=(-1, 2))
    *_, r = mdp.simulate(np.zeros((4, 1), int), L, rng=4)
    assert set(r.ravel()) == {-1.0, 2.0}
    assert (r[:, 0] == -1).all()
    assert (r[:, 3] == 2).all()
    for h, mean in ((1, -0.5), (2, 0.25), (4, 1.0)):  # exact binomial, RATE for the three
        high = int((r[:, h] == 2).sum())
        assert binomtest(high, L, (mean + 1) / 3).pvalue > RATE / 3
    pairs = np.bincount(2 * (r[:, 1] == 2) + (r[:, 2] == 2), minlength=4)
    chi_square_ok(pairs, np.outer([5 / 6, 1 / 6], [7 / 12, 5 / 12]))  # and independently


@pytest.mark.parametrize(("support", "mean"), [((-1, 1), 0.4), ((1, 2), 1.4)])
def test_without_terminal_rewards_none_is_paid_whatever_the_support(support, mean):
    """The streams are those of an MDP that has some: a uniform for each reward, also for the last."""
    P, R, policy = np.ones((3, 1, 1, 1)), np.full((3, 1, 1, 1), mean), np.zeros((3, 1), int)
    mdp = FiniteMDP(P, R, support=support)
    same = FiniteMDP(P, R, terminal=[mean], support=support)
    rewards, others = (m.simulate(policy, 40, rng=5)[2] for m in (mdp, same))
    assert not rewards[:, 3].any()
    assert np.array_equal(rewards[:, :3], others[:, :3])
    steps = [mdp.step(2, 0, 0, np.random.default_rng(seed))[0] for seed in range(40)]
    assert set(steps) == set(support)
    assert DiscountedMDP(P[0], R[0], 0.5, support=support).support == support


def test_the_last_possible_successor_takes_what_rounding_left_over():
    """Of rows that sum to a little less than one: no draw, however large, may lead elsewhere."""
    P = np.array([[[[0.25, 0.75 - 5e-10, 0.0]], [[0.5, 0.25, 0.25]], [[0.0, 0.0, 1.0]]]])
    model = FiniteMDP(P, np.zeros_like(P)).model
    for s, successors in enumerate((2, 3, 1)):
        assert model.cumulative[0, s, 0, successors - 1] == 1


@given(seeds, small, st.booleans())
def test_steps_from_python_have_the_draws_of_the_compiled_ones(make_mdp, seed, size, noisy):
    mdp = make_mdp(seed, *size, noisy=noisy)
    mu = random_policy(seed + 1, mdp)
    states, actions, rewards = mdp.simulate(mu, 3, rng=seed + 2)
    rng = np.random.default_rng(seed + 2)
    for episode in range(3):
        s, over = mdp.start(rng), False
        assert s == states[episode, 0]
        for h in range(mdp.H):
            rng.random()  # that of the action
            r, s, over = mdp.step(h, s, actions[episode, h], rng)
            assert s == states[episode, h + 1]
            assert r == rewards[episode, h] + (rewards[episode, h + 1] if over else 0.0)
        assert over == "cut"


# --- rewards without the axis of the next state ----------------------------------------------


@given(seeds, small)
def test_rewards_that_do_not_depend_on_the_next_state_need_not_have_its_axis(make_mdp, seed, size):
    mdp = make_mdp(seed, *size)
    R = mdp.R[..., 0]
    full = FiniteMDP(mdp.P, np.repeat(R[..., None], mdp.S, axis=3))
    assert np.array_equal(FiniteMDP(mdp.P, R).R, full.R)
    assert np.array_equal(FiniteMDP(mdp.P, R).Q, full.Q)
    flat = FiniteMDP.stationary(mdp.P[0], full.R[0], mdp.H)
    assert np.array_equal(FiniteMDP.stationary(mdp.P[0], R[0], mdp.H).Q, flat.Q)


# --- evaluating a policy without end --------------------------------------------------------


@given(seeds, st.integers(1, 5), st.integers(1, 3))
def test_the_value_of_a_discounted_policy_solves_its_linear_equations(make_mdp, seed, S, A):
    one = make_mdp(seed, 1, S, A)
    mdp, mu = DiscountedMDP(one.P[0], one.R[0], 0.9), random_policy(seed, one)[0]
    P, r = np.einsum("sa,san->sn", mu, mdp.P), np.einsum("sa,san,san->s", mu, mdp.P, mdp.R)
    exact = np.linalg.solve(np.eye(S) - 0.9 * P, r)
    np.testing.assert_allclose(mdp.evaluate(mu), exact, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(mdp.evaluate(mdp.Q.argmax(axis=1)), mdp.V, rtol=1e-12, atol=1e-12)
    ahead = np.einsum("san,san->sa", mdp.P, mdp.R + 0.9 * mdp.V)
    np.testing.assert_allclose(mdp.Q, ahead, rtol=1e-12, atol=1e-12)


def test_value_iteration_goes_on_while_any_state_changes():
    """The last state is still from the first sweep on."""
    P = np.eye(3)[[0, 0, 2]][:, None]
    mdp = DiscountedMDP(P, np.array([[1.0], [0.0], [0.0]]), 0.9)
    np.testing.assert_allclose(mdp.V, [10, 9, 0], rtol=1e-12)
    np.testing.assert_allclose(mdp.evaluate(np.zeros(3, int)), [10, 9, 0], rtol=1e-12)


# --- Ctrl-C ---------------------------------------------------------------------------------


def dense(S, gamma):
    P = np.random.default_rng(S).dirichlet(np.ones(S), (S, 2))
    return DiscountedMDP(P, np.ones((S, 2)), gamma)


def wide(A):
    return FiniteMDP(np.ones((9, 1, A, 1)), np.zeros((9, 1, A))), np.full((9, 1), A - 1)


LONG = {
    "optimal values": lambda brief: dense(*((2, 0.5) if brief else (200, 1 - 1e-5))).Q,
    "a policy's": lambda brief: dense(*((2, 0.5) if brief else (200, 1 - 1e-5))).evaluate(
        np.ones(2 if brief else 200, int)
    ),
    "episodes": lambda brief: wide(900)[0].simulate(wide(900)[1], 2 if brief else 3_000_000),
}


@pytest.mark.parametrize("what", LONG)
def test_what_takes_many_seconds_answers_an_interrupt_within_one(what):
    """The clock is that of the process, since others may have the processor."""
    LONG[what](True)  # compiled before

    def press(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, press)
    try:
        started = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.5)
        with pytest.raises(KeyboardInterrupt):
            LONG[what](False)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert time.process_time() - started < 2  # of which up to one for making the arrays


# --- what is kept ---------------------------------------------------------------------------


def test_what_values_were_computed_from_is_not_to_be_written_into():
    records = (
        FiniteMDP(np.full((2, 3, 4, 3), 1 / 3), np.ones((2, 3, 4, 3))),
        DiscountedMDP(np.ones((1, 1, 1)), np.ones((1, 1, 1)), 0.5),
        DirichletPrior.symmetric(2, 3, 2),
        Recommender.random(rng=1, N=3, J=2),
    )
    names = "P R terminal initial Q V alpha_R alpha_P mean_R mean_P gamma beta"
    for record in (*records, copy.deepcopy(records[0]), pickle.loads(pickle.dumps(records[1]))):
        arrays = [getattr(record, name, None) for name in names.split()]
        arrays = [one for one in [*arrays, *getattr(record, "states", ())] if np.ndim(one)]
        assert len(arrays) > 4
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array *= 0
        with pytest.raises(FrozenInstanceError):
            record.initial = None


def test_rows_that_sum_to_one_in_single_precision_are_normalised(make_mdp):
    mdp = make_mdp(0, 3, 4, 2)
    single = FiniteMDP(mdp.P.astype(np.float32), mdp.R, initial=mdp.initial.astype(np.float32))
    np.testing.assert_allclose(single.P.sum(axis=-1), 1, rtol=1e-14)
    np.testing.assert_allclose(single.P, mdp.P, rtol=1e-6)
    np.testing.assert_allclose(single.initial.sum(), 1, rtol=1e-14)
    assert np.array_equal(FiniteMDP(single.P, mdp.R).P, single.P)  # which are right as they are


# --- a discounted MDP is played -------------------------------------------------------------


def test_a_discounted_mdp_is_played_as_one_with_a_horizon(make_mdp):
    one = make_mdp(1, 1, 4, 2, noisy=True)
    rest = {"initial": one.initial, "support": one.support}
    lasting = DiscountedMDP(one.P[0], one.R[0], 0.9, **rest)
    ending = FiniteMDP.stationary(one.P[0], one.R[0], 20, **rest)
    same, rng = np.random.default_rng(2), np.random.default_rng(2)
    s = lasting.start(rng)
    assert s == ending.start(same)
    for h in range(19):
        r, s_next, over = lasting.step(h, s, h % 2, rng)
        assert (r, s_next, over) == (*ending.step(h, s, h % 2, same)[:2], False)
        s = s_next
    assert lasting.step(10**6, s, 0, rng)[2] is False
