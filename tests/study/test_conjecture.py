"""Conjecture 1: the worlds that refute it, the agents, the proofs' steps, what is measured."""

import math
from fractions import Fraction
from itertools import combinations, pairwise

import matplotlib
import numpy as np
import pytest
from flint import arb, fmpq
from scipy.linalg import hadamard
from scipy.stats import binom, kstest, norm

from rlsvi_core import rlsvi
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.mdp import FiniteMDP
from rlsvi_study.conjecture import claims, costly_road, experiments, gambles
from rlsvi_study.conjecture import toll as at_the_toll
from rlsvi_study.conjecture.hypotheses import is_bellman_closed, is_linear_mdp, meets_hypotheses
from rlsvi_study.conjecture.toll import (
    proof_episodes,
    regret_lower_bound,
    regret_per_sqrt_T,
    simulate_recursion,
)
from rlsvi_study.counterexamples import gamble, long_gamble, needle, toll
from rlsvi_study.engine import streams
from rlsvi_study.judging.intervals import mean_interval
from rlsvi_study.judging.outcomes import DEPENDS, FAILS

matplotlib.use("Agg")
RATE = 1e-6  # how often a statistical test of right code fails under a new seed


# --- the worlds -----------------------------------------------------------------------------


def test_the_gamble_is_worth_a_fifth():
    mdp, Phi = gamble(p=0.55, sigma=3.0)
    assert mdp.optimal_value == pytest.approx(0.6)
    assert mdp.regret(np.zeros((1, 3), int)) == pytest.approx(0.6)
    states, _, rewards = mdp.simulate(np.ones((1, 3), int), 1000, rng=1)
    assert (rewards[:, 0] == rewards[:, 1]).all()
    assert set(rewards[:, 0]) == {-3.0, 3.0}
    assert ((states[:, 1] == 1) == (rewards[:, 0] > 0)).all()
    np.testing.assert_allclose(Phi[..., 0] * 0.6, mdp.Q)


@pytest.mark.parametrize("H", [2, 4, 9])
def test_the_long_gamble_pays_one_coin_in_every_period(H):
    mdp, Phi = long_gamble(H, sigma=2.0)
    assert mdp.optimal_value == pytest.approx(0.2 * H)
    assert (mdp.terminal == 0).all()
    theta = 2.0 * np.array([0.1 * H, *range(H - 1, 0, -1)])
    np.testing.assert_allclose(np.einsum("hsak,h->hsa", Phi, theta), mdp.Q, atol=1e-12)
    _, _, rewards = mdp.simulate(np.ones((H, 4), int), 400, rng=1)
    assert set(rewards.sum(axis=1)) == {-2.0 * H, 2.0 * H}
    assert (rewards[:, :H] == rewards[:, :1]).all()


@pytest.mark.parametrize("H", [2, 5, 12])
def test_nobody_should_leap_at_the_toll(H):
    mdp, Phi = toll(H, L=50)
    theta = np.eye(H)[0] * -1 / 16
    np.testing.assert_array_equal(np.einsum("hsak,h->hsa", Phi, theta), mdp.Q)
    assert mdp.optimal_value == pytest.approx(-1 / 16 / 50)
    assert np.abs(mdp.R).max() == 1
    assert mdp.initial.tolist() == [0.98, 0.02]


@pytest.mark.parametrize("theta", [-3.0, -0.5, 0.25, 2.0])
def test_the_long_gambles_features_are_closed_and_the_tolls_are_not(theta):
    rng = np.random.default_rng(1)
    for H in (2, 4, 9):
        assert is_bellman_closed(*long_gamble(H, sigma=2.0), rng)
        assert not is_bellman_closed(*toll(H, L=50), rng)
    mdp, Phi = long_gamble(4, sigma=2.0)
    after = mdp.R + (Phi[..., 0] * theta).max(axis=2)[-1]  # every later period has these features
    update = (mdp.P * after).sum(axis=3)
    times = (2.0 + theta) * np.array([0.1, 1, 1, 1])
    np.testing.assert_allclose(update, Phi[..., 0] * times[:, None, None], atol=1e-12)


@pytest.mark.parametrize("hidden", [1, 17, 31])
def test_the_needle_is_linear_in_the_hidden_vector(hidden):
    v = np.vstack([np.eye(16), hadamard(16) / 4])
    mdp, Phi = needle(v, hidden, H=5)
    np.testing.assert_allclose(Phi @ v[hidden], mdp.Q, atol=1e-14)
    best = mdp.Q[:, 0] >= mdp.V[:-1, :1] - 1e-12
    assert (best.sum(axis=1) == 1).all()
    assert best[:, hidden].all()
    assert mdp.P[:-1, :-1, :, :-1].sum(axis=3).max() <= 0.75
    assert mdp.optimal_value == pytest.approx(v[0] @ v[hidden] + 0.5)


@pytest.mark.parametrize(
    ("make", "keyword"),
    [
        (lambda: gamble(p=0.4), r"\bp\b"),
        (lambda: gamble(sigma=0.0), "sigma"),
        (lambda: long_gamble(1), "H"),
        (lambda: long_gamble(3, p=0.2), r"\bp\b"),
        (lambda: long_gamble(3, sigma=-1.0), "sigma"),
        (lambda: toll(1, 9), "H"),
        (lambda: toll(3, 9, G=-1.0), "G"),
        (lambda: toll(3, 0.5), "L"),
        (lambda: needle(np.eye(3), 0, 2), "hidden"),
        (lambda: needle(np.eye(3), 3, 2), "hidden"),
        (lambda: needle(2 * np.eye(3), 1, 2), "vectors"),
        (lambda: needle([[1.0, 0.0], [0.6, 0.8]], 1, 2), "vectors"),
        (lambda: costly_road.costly_road_mdp(1, 0.5), "H"),
        (lambda: costly_road.costly_road_mdp(3, 1.5), r"\bp\b"),
        (lambda: costly_road.costly_road_mdp(3, 0.5, c=0.9), r"\bc\b"),
        (lambda: costly_road.costly_road_mdp(3, 0.5, d=2), r"\bd\b"),
    ],
)
def test_other_worlds_are_refused(make, keyword):
    with pytest.raises(ValueError, match=keyword):
        make()


def test_what_the_conjecture_does_not_cover_is_seen():
    assert meets_hypotheses(gamble())
    assert not meets_hypotheses(gamble(sigma=2.0))  # a reward beyond σ
    assert not meets_hypotheses(gamble(), lam=26.0)  # θ² = 0.04 > 1/26
    assert meets_hypotheses(long_gamble(8), lam=3 / 64)
    assert not meets_hypotheses(long_gamble(8))  # Σθ² > H
    mdp, Phi = toll(3, 20)
    assert not meets_hypotheses((mdp, np.concatenate([Phi, Phi], axis=-1)))  # θ not unique
    assert not meets_hypotheses((mdp, Phi**2))  # Q* not linear


def test_other_worlds_are_not_linear():
    assert not is_linear_mdp(*toll(5, L=50))
    mdp, Phi = costly_road.costly_road_mdp(5, 0.3)
    R = mdp.R.copy()
    R[2, 1, 1] = -1.0  # a price in the middle of the road: two features price two actions
    assert is_linear_mdp(FiniteMDP(mdp.P, R, initial=mdp.initial), Phi)
    R[2, 1, 0], R[2, 0, 0] = 1.0, -3.0  # and the dead have two actions of one feature
    assert not is_linear_mdp(FiniteMDP(mdp.P, R, initial=mdp.initial), Phi)


def test_nothing_tells_the_hidden_action_and_regret_is_exponential():
    """The needle: worlds agree but for both hidden actions and the last period; and the proof's
    numbers, with L = (m − 1)/4K episodes and m = ½e^(K/64) actions."""
    worlds = {hidden: needle(np.eye(8), hidden, 6)[0] for hidden in range(1, 8)}
    for one, other in combinations(worlds, 2):
        rest = [b for b in range(8) if b not in (one, other)]
        for x in "PR":
            ours, theirs = (getattr(worlds[world], x)[:-1, :, rest] for world in (one, other))
            np.testing.assert_array_equal(ours, theirs)
    rates = []
    for K in (2000, 4000, 8000):
        m = math.exp(K / 64) / 2
        L = (m - 1) / (4 * K)
        assert m * (m - 1) / 2 * 2 * math.exp(-K / 32) < 1  # Hoeffding: so many vectors exist
        assert L * 0.75 ** (K - 1) + L * K / (m - 1) < 0.5  # nothing is seen
        rates.append(math.log(L / 8 / math.sqrt(L * K)) / K)
    assert 0 < rates[0] < rates[-1]


# --- the agents -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("world", "lam", "sigma"),
    [
        (gamble(), 1.0, 1.0),
        (gamble(), 1.0, 2.0),
        (long_gamble(4), 3 / 16, 1.0),
        (toll(3, 9), 1.0, 1.0),
        (toll(7, 22), 1.0, 1.0),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_the_agent_with_one_feature_is_the_librarys(world, lam, sigma, seed):
    mdp, Phi = world
    ours, theirs = streams(seed)[1:], streams(seed)[1:]
    first = experiments.simulate_openings(mdp, Phi, 3000, *ours, lam=lam, sigma=sigma)
    agent = rlsvi(Phi, lam, sigma, rng=theirs[1])
    learned = agent.learn(mdp, 3000, theirs[0])
    assert (first.action == learned.first_action).all()
    if mdp.S == 2:  # the toll: what an episode is paid says where it began
        assert ((first.start == 1) == (learned.reward == -1 / 16)).all()
    for one, other in zip(ours, theirs, strict=True):  # and not a draw more
        assert one.random() == other.random()


def test_values_are_cut_to_what_each_period_allows():
    """Algorithms 1 and 2 in plain Python, with the next value cut in every target."""
    mdp = DirichletPrior.symmetric(4, 3, 2).sample(3)
    Phi, lam, sigma, most = np.random.default_rng(3).standard_normal((4, 3, 2, 1)), 2.0, 0.7, 0.3
    ours, (env, own) = streams(1)[1:], streams(1)[1:]
    found = experiments.simulate_openings(mdp, Phi, 100, *ours, lam=lam, sigma=sigma, most=most)
    theta, data = np.zeros(4), [[] for _ in range(4)]
    for episode in range(100):
        for h in reversed(range(4) if episode else ()):
            M, total = lam * sigma**2, 0.0
            for x, r, s_next in data[h]:
                bound = most * (3 - h)
                value = max(Phi[h + 1, s_next, :, 0] * theta[h + 1]) if h < 3 else 0.0
                M, total = M + x**2, total + x * (r + min(max(value, -bound), bound))
            theta[h] = total / M + sigma * own.standard_normal() / math.sqrt(M)
        s = mdp.start(env)
        assert s == found.start[episode]
        for h in range(4):
            q, u = Phi[h, s, :, 0] * theta[h], own.random()
            best = np.flatnonzero(q == q.max())
            a = best[int(u * len(best))]
            assert h > 0 or a == found.action[episode]
            r, s_next, _ = mdp.step(h, s, a, env)
            data[h].append((Phi[h, s, a, 0], r, s_next))
            s = s_next


def test_every_pass_costs_the_value_of_the_gamble():
    mdp, Phi = gamble()
    _, env, own = streams(5)
    passed = rlsvi(Phi, 1.0, 2.0, rng=own).learn(mdp, 200, env).first_action == experiments.PASS
    assert experiments.gamble_regret(2.0, 5, 200) == [
        {"episode": L, "regret": pytest.approx(0.2 * passed[:L].sum())} for L in (10, 100)
    ]
    mdp, Phi = long_gamble(3)
    _, env, own = streams((2, 3))
    passed = rlsvi(Phi, 1 / 3, 1.0, rng=own).learn(mdp, 100, env).first_action == experiments.PASS
    assert experiments.long_gamble_regret(3, 2, 100) == [
        {"episode": L, "regret": pytest.approx(0.3 * passed[:L].sum())} for L in (10, 100)
    ]


@pytest.mark.parametrize("walked", [(True, True, True, True), (False, True, True, False)])
def test_what_is_imagined_is_what_the_agent_samples(walked):
    H, X = 5, []
    mdp, Phi = toll(H, 20)
    agent = rlsvi(Phi, 1.0, 1.0, rng=1)
    for h, action in enumerate([0, *(0 if one else 1 for one in walked)]):
        agent.observe(h, 1, action, mdp.R[h, 1, action, 1], 1)
    for _ in range(4000):
        agent.plan()
        X.append(agent.Q[1, 1].max())
    assert (
        kstest(X, simulate_recursion(H, 4000, rng=2, walked=np.array(walked))[:, 0]).pvalue > RATE
    )
    assert (np.abs(simulate_recursion(H, 1000, most=1.0)) <= np.arange(H - 1, 0, -1)).all()


# --- the steps ------------------------------------------------------------------------------


def stubs(steps, falls):
    """Steps of the same names of which one does not hold."""

    def stub(step):
        def holds():
            return step is not falls

        holds.__name__ = step.__name__
        return holds

    return tuple(map(stub, steps))


@pytest.mark.parametrize("step", claims.STEPS_PRINTED)
def test_if_a_step_falls_the_refutation_as_printed_does(step, monkeypatch):
    monkeypatch.setattr(claims, "STEPS_PRINTED", stubs(claims.STEPS_PRINTED, step))
    found = claims.conjecture_printed()
    assert (found.verdict, found.numbers["failed"]) == (DEPENDS, [step.__name__])


@pytest.mark.parametrize("step", claims.STEPS_MEANT)
def test_if_a_step_falls_the_refutation_as_meant_does(step, monkeypatch):
    monkeypatch.setattr(claims, "STEPS_PRINTED", stubs(claims.STEPS_PRINTED, None))
    monkeypatch.setattr(claims, "STEPS_MEANT", stubs(claims.STEPS_MEANT, step))
    found = claims.conjecture_meant()
    assert (found.verdict, found.numbers["failed"]) == (DEPENDS, [step.__name__])


@pytest.mark.parametrize(
    ("module", "name", "lie", "step"),
    [
        (
            gambles,
            "decay_rate",
            lambda right: lambda H, x: 2 * right(H, x),
            gambles.check_gamble_posterior,
        ),
        (
            gambles,
            "kl_divergence",
            lambda right: lambda x: right(x) / 2,
            gambles.check_bad_histories,
        ),
        (
            at_the_toll,
            "recursion_factors",
            lambda right: lambda walked, *rho: right(not walked, *rho),
            at_the_toll.check_toll_posterior,
        ),
        (
            at_the_toll,
            "leap_feature",
            lambda right: lambda rho: right(rho) / 2,
            at_the_toll.check_toll_recursion,
        ),
        (
            at_the_toll,
            "regret_lower_bound",
            lambda _: lambda L: 0.116 * L,
            at_the_toll.check_toll_recursion,
        ),
        (
            costly_road,
            "is_bellman_closed",
            lambda _: lambda *given: False,
            costly_road.check_linear_road,
        ),
        (
            costly_road,
            "TUNINGS",
            lambda _: (costly_road.Tuning(2, 0.01, 1.0),),  # r > σ
            costly_road.check_feature_count,
        ),
        (
            costly_road,
            "TUNINGS",
            lambda _: (costly_road.Tuning(2, 0.1, 0.2),),  # r > σ
            costly_road.check_counting,
        ),
        (
            costly_road,
            "period_posterior",
            lambda right: lambda *of: right(*of)._replace(mean=-right(*of).mean),
            costly_road.check_early_draws,
        ),
        (costly_road, "WALKED", lambda _: 1.0, costly_road.check_amplification),
        (costly_road, "LOST", lambda _: 8.8, costly_road.check_amplification),
        (costly_road, "X", lambda _: 2.0, costly_road.check_few_leaps),
        (costly_road, "POWER", lambda _: 5000, costly_road.check_counting),
        (costly_road, "GROWTH", lambda _: 1.0, costly_road.check_road_growth),
    ],
)
def test_a_step_that_is_not_so_is_noticed(module, name, lie, step, monkeypatch):
    assert step() is True
    monkeypatch.setattr(module, name, lie(getattr(module, name)))
    assert step() is False


def test_on_the_costly_road_a_period_hands_on_what_the_proof_says():
    """The posterior of the proof is the library's, at the road's own features and costs."""
    tuning, walks, leaps = costly_road.Tuning(H=3, rho=4.0, cost=0.5), 5, 2
    mdp, Phi = costly_road.costly_road_mdp(3, 0.5, tuning.feature_scale, tuning.step_cost)
    agent = rlsvi(Phi, 1.0, 2.0, rng=1)
    for action in [0] * walks + [1] * leaps:
        agent.observe(2, costly_road.ALIVE, action, mdp.R[2, 1, action, 1], costly_road.ALIVE)
    mean, _ = costly_road.period_posterior(walks, leaps, tuning)
    values = [
        -tuning.step_cost * feature @ mean
        for feature in costly_road.road_features(tuning.feature_scale)
    ]
    np.testing.assert_allclose(agent.mean_values(2, costly_road.ALIVE), values, rtol=1e-9)


def test_after_so_many_starts_the_agent_walks_whatever_it_did_before():
    tuning = costly_road.Tuning(H=4, rho=2.0, cost=1.0)
    mdp, Phi = costly_road.costly_road_mdp(4, 1.0, tuning.feature_scale, tuning.step_cost)
    agent = rlsvi(Phi, 2.0, 1.0, rng=1)

    def episode(action):
        for h in range(4):
            a = action(h)
            agent.observe(h, costly_road.ALIVE, a, mdp.R[h, 1, a, 1], costly_road.ALIVE)
            taken.append(a if h else 0)

    taken = []
    for i in range(tuning.n_0):
        episode(lambda h, i=i: int((i + h) % 3 > 0))  # two in three leap
    taken.clear()
    for _ in range(3 * tuning.n_0):
        agent.plan()
        episode(lambda h: agent.act(h, costly_road.ALIVE))
    assert sum(taken) == 0


def test_a_leap_at_the_gate_is_what_pays_one():
    mdp, Phi = costly_road.costly_road_mdp(3, 0.5)
    learned = rlsvi(Phi, 1.0, 2.0, rng=1).learn(mdp, 2000, 2, exact=True)
    side = mdp.V[0, costly_road.ALIVE]
    assert set(learned.reward.round(9)) == {0.0, -1.0, side.round(9)}
    leaps = learned.reward == -1.0
    regret = (mdp.optimal_value - learned.expected).round(9)
    assert set(regret[1:][leaps[1:]]) == {0.5}  # half of the episodes start at the gate
    assert 0 < leaps.sum() < regret.astype(bool).sum()


@pytest.mark.parametrize("rho", [0.5, 3.0])
def test_up_to_four_rho_observations_values_stay_small(rho):
    """The largest value of any feature of length 1, where all observations have one direction."""
    rng, H, K, worst = np.random.default_rng(5), 6, 3, []
    n, bound = int(4 * rho), H * (1 + math.sqrt(K / rho))  # λ = ρ, σ = 1, |r| ≤ 1
    for _ in range(40):
        theta, V = np.zeros((200, K)), np.zeros(200)
        for _ in range(H):
            # all alike: what amplifies most
            A = rng.standard_normal(K) * rng.uniform(0.1, 1, (n, 1))
            A /= max(1.0, np.linalg.norm(A, axis=1).max())
            M = rho * np.eye(K) + A.T @ A
            noise = rng.multivariate_normal(np.zeros(K), np.linalg.inv(M), 200)
            theta = (1 + V)[:, None] * np.linalg.solve(M, A.sum(axis=0)) + noise
            V = np.linalg.norm(theta, axis=1)  # the largest value of a feature of length 1
        worst.append(V.mean())
    assert max(worst) <= bound


# --- the bounds, from both sides --------------------------------------------------------------


@pytest.mark.parametrize(("H", "L"), [(1, 10**4), (4, 10**5), (8, 10**6)])
def test_the_gambles_bound_is_what_the_worst_history_gives(H, L):
    rho, loss, given = 1.0 if H == 1 else 3 / H**2, 0.2 if H == 1 else 0.1 * H, []
    for x in (i / 100 for i in range(5, 101)):
        c = 2 * x**2 if H == 1 else H**2 * x**2 / 2 / (1 + (H - 1) * x**2)
        m = math.ceil(math.log(L) / c + 2 * H * rho)
        bad = binom.cdf(math.floor(m * (1 - x) / 2 + 1e-9), m, 0.55)
        given.append(loss / 2 * max(L - m, 0) * bad)
    assert gambles.gamble_lower_bound(L, H) == pytest.approx(max(given))


def test_the_tolls_bound_is_what_one_start_at_the_side_gives():
    """Episode i of L is the only one there, and later ones leap with probability ½Φ(−1)."""
    L = 1000
    alone = 1 / L * (1 - 1 / L) ** (L - 1)
    exact = sum(alone * (L - i) * norm.cdf(-1) / 2 for i in range(2, L + 1))
    assert 0.999 * exact < regret_lower_bound(L) <= exact


def test_without_a_reward_in_period_0_the_long_gamble_fails_from_four_periods_on():
    def power(H, x):
        certainty = gambles.decay_rate(H, x) * (H - 1) ** 2 / H**2
        return 1 - float(gambles.kl_divergence(arb(x))) / certainty

    best = {H: max(power(H, i / 100) for i in range(5, 100)) for H in (3, 4, 8)}
    assert best[3] < 0.5 < best[4] < best[8]


def test_a_silence_by_hand():
    play = [norm.cdf(z) for z in (-2 / math.sqrt(2), 2 / math.sqrt(2))]
    assert gambles.log_wait(1.0, 1) == pytest.approx(math.log(0.45 / play[0] + 0.55 / play[1]))
    assert gambles.log_wait(1.0, 0) == pytest.approx(math.log(2))


# --- enough noise on the gambles --------------------------------------------------------------


@pytest.mark.parametrize(("H", "low", "high"), [(1, 1684, 1685), (4, 2650, 2651), (8, 4751, 4752)])
def test_the_least_noise_that_bounds_regret_lies_between(H, low, high):
    """f*² is the largest γ_x/KL: at the worst x it is above the first, and between two neighbours
    of a grid, as γ_x and KL grow with x, nowhere above the second; certified in balls."""
    grid = [arb(fmpq(i, 20_000)) for i in range(20_001)]
    x = arb(gambles.WORST[H])
    assert gambles.decay_rate(H, x) > fmpq(low, 1000) ** 2 * gambles.kl_divergence(x)
    assert all(
        gambles.decay_rate(H, b) < fmpq(high, 1000) ** 2 * gambles.kl_divergence(a)
        for a, b in pairwise(grid)
    )


def test_noise_as_large_as_returns_is_always_enough():
    """2 KL > x², so f* < H; and y² is at most what the proof says, with σ H times the rewards'."""
    grid = [arb(fmpq(i, 8000)) for i in range(8001)]
    assert all(2 * gambles.kl_divergence(a) > b**2 for a, b in pairwise(grid))
    for H in range(2, 9):
        for m, w in ((1, 0), (7, 2), (40, 19), (300, 60)):
            x, rho = 1 - Fraction(2 * w, m), Fraction(3)
            mean, variance = gambles.exact_posterior(long_gamble(H), rho, w, m - w)
            assert mean**2 / variance <= 2 * gambles.decay_rate(H, x) * m


def test_with_twice_the_noise_regret_on_the_gamble_ends():
    first, second, third = (gambles.regret_after_waits(2.0, 1000 * k) for k in (1, 2, 3))
    assert third - second < 0.1 * (second - first)
    assert f"{third:.1f}" == f"{third + 0.2 * (third - second):.1f}" == "58.6"
    assert gambles.log_wait(0.95 * 1.6845, 4000) > 2 * gambles.log_wait(0.95 * 1.6845, 1000) > 20
    assert gambles.log_wait(1.05 * 1.6845, 4000) < gambles.log_wait(1.05 * 1.6845, 1000)


# --- what is measured -------------------------------------------------------------------------


def test_on_the_gambles_regret_outgrows_the_root_and_the_bound():
    powers = []
    for H, own in gambles.gamble_runs(claims.STORED).items():
        powers.append(gambles.fitted_exponent(own))
        for L, cell in own[own.episode >= 100].groupby("episode"):
            assert mean_interval(cell.regret).high > gambles.gamble_lower_bound(L, H)
    assert min(one.low for one in powers) > 0.5
    assert powers == sorted(powers)  # the longer, the more


def test_at_the_toll_regret_outgrows_the_root_unless_values_are_truncated():
    given = regret_per_sqrt_T(claims.STORED["toll"])
    assert all(b.mean > a.mean for a, b in pairwise(given.values()))
    assert given[7].high < given[15].low
    for H, one in given.items():
        assert one.high * math.sqrt(H * proof_episodes(H)) > regret_lower_bound(proof_episodes(H))
    for agent in ("truncated", "one-hot"):
        other = regret_per_sqrt_T(claims.STORED["toll"], agent)
        assert other[15].high < other[7].low


def test_growth_is_judged_by_the_rule_that_was_fixed():
    assert costly_road.regret_trend([2.0, 3.1, 4.7]) == "grows"
    assert costly_road.regret_trend([2.0, 3.1, 4.6]) == "between"
    assert costly_road.regret_trend([2.0, 5.0, 3.9]) == "does not grow"
    assert costly_road.error_trend({10: 3.0, 20: 7.0, 40: 21.0}) == "grows"
    assert costly_road.error_trend({10: 3.0, 20: 9.0, 40: 19.0}) == "between"
    assert costly_road.error_trend({10: 3.0, 20: 9.0, 40: 17.0}) == "does not grow"
    assert costly_road.error_trend({10: 3.0, 20: 5.5, 40: 10.9}) == "both"


def test_on_the_costly_road_only_values_that_end_at_zero_do_little_harm():
    table, words = claims.STORED["costly-road"], {}
    over = {agent: costly_road.regret_per_sqrt_T(table, agent) for agent in table.agent.unique()}
    for agent, means in over.items():
        words[agent] = costly_road.regret_trend([one.mean for one in means.values()])
    assert words["truncated"] == words["bootstrap"] == "does not grow"
    assert over["wide"].items() <= over["printed"].items()  # the same agent, leap for leap
    assert over["printed"][40].low > 5 * over["printed"][10].high
    late = table[table.H >= 20].groupby("agent").late.min()
    assert late["printed"] > 1000 > 0 == late["truncated"] == late["bootstrap"]


def test_with_one_action_regret_does_not_grow_on_the_costly_road():
    """It takes both to amplify: the control has the same seeds and one action fewer."""
    table = claims.STORED["one-action-road"].rename(columns={"action": "agent"})
    both = costly_road.regret_per_sqrt_T(claims.STORED["costly-road"], "printed")
    assert costly_road.regret_trend([both[H].mean for H in (10, 20, 30)]) == "grows"
    for action in ("walk", "leap"):
        means = costly_road.regret_per_sqrt_T(table, action)
        assert costly_road.regret_trend([means[H].mean for H in (10, 20, 30)]) == "does not grow"
        assert all(means[H].high < both[H].low / 2 for H in means)


def test_errors_grow_on_the_costly_road_and_are_a_constant_share_of_h_in_random_mdps():
    table = claims.STORED["largest-error"]
    errors = {world: costly_road.mean_errors(table, world) for world in table.world.unique()}
    assert costly_road.error_trend(errors.pop("costly road")) == "grows"
    for one in errors.values():
        assert costly_road.error_trend(one) == "both"
        assert 0.8 < one[80] / 80 / (one[10] / 10) < 1


def test_the_conjectures_sentence_is_of_all_runs_and_over_root_T():
    table = claims.STORED["toll"].query("agent == 'given' and H == 15")
    found = claims.conjecture_meant()
    assert found.verdict == FAILS
    assert found.numbers["last"].mean == pytest.approx(
        table.regret.mean() / math.sqrt(15 * proof_episodes(15))
    )
