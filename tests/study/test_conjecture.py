"""Conjecture 1: the worlds, the agent with one feature, the proofs; and falsehoods planted."""

import math
from dataclasses import replace
from fractions import Fraction

import matplotlib
import numpy as np
import pandas as pd
import pytest
from flint import arb
from scipy.linalg import hadamard
from scipy.special import betaln
from scipy.stats import beta, binom, binomtest, kstest, norm, ttest_1samp, ttest_ind

from rlsvi_core import bootstrap, rlsvi
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_study import catalogue
from rlsvi_study.conjecture import claims, figures, gambles, prior, runs, weights
from rlsvi_study.engine import streams
from rlsvi_study.judging.outcomes import DEPENDS, FAILS, HOLDS, Judged
from rlsvi_study.traps import gamble, long_gamble, needle, toll

matplotlib.use("Agg")
REGISTER = catalogue.claims()
RATE = 1e-6  # how often a statistical test of right code fails under a new seed


# --- the worlds -----------------------------------------------------------------------------


def test_the_gamble_is_worth_a_fifth():
    mdp, Phi = gamble(p=0.55, sigma=3.0)
    assert mdp.value == pytest.approx(0.6)
    assert mdp.regret(np.zeros((1, 3), int)) == pytest.approx(0.6)
    states, _, rewards = mdp.simulate(np.ones((1, 3), int), 1000, rng=1)
    assert (rewards[:, 0] == rewards[:, 1]).all()
    assert set(rewards[:, 0]) == {-3.0, 3.0}
    assert ((states[:, 1] == 1) == (rewards[:, 0] > 0)).all()
    np.testing.assert_allclose(Phi[..., 0] * 0.6, mdp.Q)


@pytest.mark.parametrize("H", [2, 4, 9])
def test_the_long_gamble_pays_one_coin_in_every_period(H):
    mdp, Phi = long_gamble(H, sigma=2.0)
    assert mdp.value == pytest.approx(0.2 * H)
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
    assert mdp.value == pytest.approx(-1 / 16 / 50)
    assert np.abs(mdp.R).max() == 1
    assert mdp.initial.tolist() == [0.98, 0.02]


def leaves_the_features(world, theta):
    """Whether the Bellman update of Φθ in some period is no multiple of the one feature before it."""
    mdp, Phi = world
    for h in range(mdp.H - 1):
        update = (mdp.P[h] * (mdp.R[h] + (Phi[h + 1, ..., 0] * theta).max(axis=1))).sum(axis=2)
        phi = Phi[h, ..., 0]
        if not np.allclose(phi * (phi * update).sum() / (phi**2).sum(), update, atol=1e-12):
            return True
    return False


@pytest.mark.parametrize("theta", [-3.0, -0.5, 0.25, 2.0])
def test_the_long_gambles_features_are_closed_and_the_tolls_are_not(theta):
    for H in (2, 4, 9):
        assert not leaves_the_features(long_gamble(H, sigma=2.0), theta)
        assert leaves_the_features(toll(H, L=50), theta)
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
    assert (mdp.optimal_actions[:, 0].sum(axis=1) == 1).all()
    assert mdp.optimal_actions[:, 0, hidden].all()
    assert mdp.P[:-1, :-1, :, :-1].sum(axis=3).max() <= 0.75
    assert mdp.value == pytest.approx(v[0] @ v[hidden] + 0.5)


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
    ],
)
def test_other_worlds_are_refused(make, keyword):
    with pytest.raises(ValueError, match=keyword):
        make()


def test_what_the_conjecture_does_not_cover_is_seen():
    assert claims.is_instance(gamble())
    assert not claims.is_instance(gamble(sigma=2.0))  # a reward beyond σ
    assert not claims.is_instance(gamble(), lam=26.0)  # θ² = 0.04 > 1/26
    assert claims.is_instance(long_gamble(8), lam=3 / 64)
    assert not claims.is_instance(long_gamble(8))  # Σθ² > H
    mdp, Phi = toll(3, 20)
    assert not claims.is_instance((mdp, np.concatenate([Phi, Phi], axis=-1)))  # θ not unique
    assert not claims.is_instance((mdp, Phi**2))  # Q* not linear


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
    first = runs.openings(mdp, Phi, 3000, *ours, lam=lam, sigma=sigma)
    agent = rlsvi(Phi, lam, sigma, rng=theirs[1])
    learned = agent.learn(mdp, 3000, theirs[0])
    assert (first.action == learned.opening).all()
    if mdp.S == 2:  # the toll: what an episode is paid says where it began
        assert ((first.start == 1) == (learned.reward == -1 / 16)).all()
    for one, other in zip(ours, theirs, strict=True):  # and not a draw more
        assert one.random() == other.random()


def test_values_are_cut_to_what_each_period_allows():
    """Algorithms 1 and 2 in plain Python, with the next value cut in every target."""
    mdp = DirichletPrior.symmetric(4, 3, 2).sample(3)
    Phi, lam, sigma, most = np.random.default_rng(3).standard_normal((4, 3, 2, 1)), 2.0, 0.7, 0.3
    ours, (env, own) = streams(1)[1:], streams(1)[1:]
    found = runs.openings(mdp, Phi, 100, *ours, lam=lam, sigma=sigma, most=most)
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
    passed = rlsvi(Phi, 1.0, 2.0, rng=own).learn(mdp, 200, env).opening == runs.PASS
    assert runs.gamble_regret(2.0, 5, 200) == [
        {"episode": L, "regret": pytest.approx(0.2 * passed[:L].sum())} for L in (10, 100)
    ]
    mdp, Phi = long_gamble(3)
    _, env, own = streams((2, 3))
    passed = rlsvi(Phi, 1 / 3, 1.0, rng=own).learn(mdp, 100, env).opening == runs.PASS
    assert runs.long_gamble_regret(3, 2, 100) == [
        {"episode": L, "regret": pytest.approx(0.3 * passed[:L].sum())} for L in (10, 100)
    ]


def one_start_at_the_side(H, walked):
    """RLSVI after one episode that began at the side of the toll."""
    mdp, Phi = toll(H, 20)
    agent = rlsvi(Phi, 1.0, 1.0, rng=1)
    for h, action in enumerate([0, *(0 if one else 1 for one in walked)]):
        agent.observe(h, 1, action, mdp.R[h, 1, action, 1], 1)
    return agent


@pytest.mark.parametrize("walked", [(True, True, True, True), (False, True, True, False)])
def test_what_is_imagined_is_what_the_agent_samples(walked):
    agent, X = one_start_at_the_side(5, walked), []
    for _ in range(4000):
        agent.plan()
        X.append(agent.Q[1, 1].max())
    ours = claims.imagined(5, 4000, rng=2, walked=np.array(walked))
    assert kstest(X, ours[:, 0]).pvalue > RATE


def test_truncated_values_stay_in_range():
    X = claims.imagined(6, 1000, most=1.0)
    assert (np.abs(X) <= np.arange(5, 0, -1)).all()
    regret = {
        agent: [runs.toll_regret(agent, 11, seed)[0]["regret"] for seed in range(12)]
        for agent in ("given", "truncated")
    }
    assert max(regret["truncated"]) < 60 < max(regret["given"])


@pytest.mark.parametrize("agent", ["given", "one-hot"])
def test_one_episode_in_L_starts_at_the_side(agent):
    sides = [runs.toll_regret(agent, 9, seed)[0]["sides"] for seed in range(100)]
    assert abs(np.mean(sides) - 1) < norm.isf(RATE / 2) / 10  # Poisson, nearly


def test_lost_plays_silence_the_agent_as_computed():
    agent = rlsvi(gamble()[1], 1.0, 1.0, rng=1)
    agent.observe(0, 0, 1, -2.0, 2)
    plays = 0
    for _ in range(20_000):
        agent.plan()
        plays += agent.Q[0, 0, 1] > 0
    p = norm.cdf(-2 / math.sqrt(2))
    assert abs(plays - 20_000 * p) < norm.isf(RATE / 2) * math.sqrt(20_000 * p * (1 - p))


# --- falsehoods -----------------------------------------------------------------------------

PLANTED = {
    "regret/√T that does not grow": ("least_regret", lambda L: 1.0, "B.conjecture-meant"),
    "powers below a half": ("power", lambda H, x: 0.4, "B.conjecture-printed"),
    "a lower bound above what was measured": (
        "gamble_bound",
        lambda L, H=1: float(L),
        "B.gambles-measured",
    ),
    "a lower bound above what was measured at the toll": (
        "least_regret",
        lambda L: 1e9,
        "B.toll-measured",
    ),
    "a lower bound above what was measured at the linear toll": (
        "least_regret",
        lambda L: 1e9,
        "B.linear-toll-measured",
    ),
    "another rule at the linear toll": ("outcome", lambda by_H: "fails", "B.linear-toll-measured"),
    "an upper bound below what was measured": (
        "truncated_bound",
        lambda H, L: 5.0,
        "B.truncated-steps",
    ),
    "a needle in plain sight": (
        "needle",
        lambda v, hidden, H: (needle(v, hidden, H)[0], needle(v, hidden, H)[1] + 1),
        "B.worlds-are-instances",
    ),
    "a bell of half the width": (
        "half_bell",
        lambda x, true=claims.half_bell: true(2 * x),
        "B.silence-steps",
    ),
    "a mean without shrinkage": (
        "law",
        lambda world, rho, w, m, true=claims.law: (
            true(world, Fraction(0), w, m)[0],
            true(world, rho, w, m)[1],
        ),
        "B.gamble-law",
    ),
    "a threshold that is another": (
        "threshold_between",
        lambda H, low, high, true=claims.threshold_between: true(H, low, low),
        "B.enough-noise",
    ),
    "a threshold that is another on the long gamble": (
        "threshold_between",
        lambda H, low, high, true=claims.threshold_between: true(H, high, 2 * high),
        "B.long-noise",
    ),
    "features that are not the toll's": (
        "rotated_toll",
        lambda theta, world, true=claims.rotated_toll: (
            true(theta, world)[0],
            true(theta, world)[1] * 2,
        ),
        "B.any-weights",
    ),
    "a longer wait": ("regret_in_the_end", lambda f, games: 60.0, "B.enough-noise"),
}


@pytest.mark.parametrize("falsehood", PLANTED)
def test_a_planted_falsehood_is_caught(falsehood, monkeypatch):
    name, wrong, id = PLANTED[falsehood]
    monkeypatch.setattr(claims, name, wrong)
    assert REGISTER[id].judge().verdict != REGISTER[id].verdict


@pytest.mark.parametrize(
    ("id", "step"), [(id, step) for id, steps in claims.STEPS.items() for step in steps]
)
def test_if_a_step_falls_the_refutation_does(id, step, monkeypatch):
    for one in claims.STEPS[id]:
        found = Judged(FAILS if one == step else HOLDS, {})
        monkeypatch.setitem(REGISTER, one, replace(REGISTER[one], judge=lambda found=found: found))
    found = REGISTER[id].judge()
    assert found.verdict == DEPENDS
    assert found.numbers["failed"] == [step]


def test_worlds_that_tell_the_hidden_action_are_caught(monkeypatch):
    def telling(v, hidden, H):
        mdp, Phi = needle(v, hidden, H)
        R = mdp.R.copy()
        R[0, 0, 0] = hidden / 100
        return type(mdp)(mdp.P, R), Phi

    monkeypatch.setattr(claims, "needle", telling)
    assert REGISTER["B.any-algorithm"].judge().verdict == FAILS != HOLDS


def toll_table(**change):
    """Regret at the toll of 40 runs, over √T as said."""
    over = {"given": (0.5, 1.0, 5.0), "truncated": (0.3, 0.2, 0.1), "one-hot": (0.3, 0.2, 0.1)}
    return {
        "toll": pd.DataFrame(
            [
                {
                    "agent": agent,
                    "H": H,
                    "seed": seed,
                    "sides": 1,
                    "regret": x * math.sqrt(H * claims.looked_at(H)) * (0.9 + 0.2 * (seed % 2)),
                }
                for agent, row in (over | change).items()
                for H, x in zip((7, 11, 15), row, strict=True)
                for seed in range(40)
            ]
        )
    }


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, HOLDS),
        ({"given": (5.0, 5.0, 5.0)}, FAILS),  # level
        ({"given": (9.0, 8.0, 7.0)}, FAILS),  # falls
        ({"given": (0.5, 6.0, 5.0)}, FAILS),  # rises and falls
        ({"one-hot": (0.3, 0.3, 0.3)}, FAILS),
        ({"truncated": (0.1, 0.2, 0.3)}, FAILS),
    ],
)
def test_the_toll_rises_stays_level_and_falls(change, verdict):
    assert claims.toll_measured(toll_table(**change)).verdict == verdict


def test_the_conjectures_sentence_is_of_all_runs_and_over_root_T():
    found = claims.conjecture_meant({**gamble_tables((0.65, 0.85, 0.95)), **toll_table()})
    assert found.verdict == FAILS
    assert {H: round(one.mean, 2) for H, one in found.numbers["over_root_T"].items()} == {
        7: 0.5,
        11: 1.0,
        15: 5.0,
    }


def gamble_tables(powers):
    """Regret of 40 runs that is a power of the episode, by H; the doubled σ has none."""

    def rows(power, **more):
        return [
            {**more, "seed": seed, "episode": L, "regret": (0.9 + 0.2 * (seed % 2)) * L**power}
            for seed in range(40)
            for L in (10, 10**2, 10**3, 10**4, 10**5, 10**6)
        ]

    return {
        "gamble": pd.DataFrame(rows(powers[0], factor=1.0) + rows(0.0, factor=2.0)),
        "long-gamble": pd.DataFrame(rows(powers[1], H=4) + rows(powers[2], H=8)),
    }


@pytest.mark.parametrize(
    ("powers", "verdict"),
    [((0.65, 0.85, 0.95), HOLDS), ((0.5, 0.85, 0.95), FAILS), ((0.65, 0.95, 0.85), FAILS)],
)
def test_the_gambles_outgrow_the_root(powers, verdict):
    found = claims.gambles_measured(gamble_tables(powers))
    assert found.verdict == verdict
    assert [one.mean for one in found.numbers["slopes"].values()] == pytest.approx(powers)


@pytest.mark.parametrize(("H", "L"), [(1, 10**4), (4, 10**5), (8, 10**6)])
def test_the_gambles_bound_is_what_some_histories_give(H, L):
    x, rho = 0.5, 1.0 if H == 1 else 3 / H**2
    c = 2 * x**2 if H == 1 else H**2 * x**2 / 2 / (1 + (H - 1) * x**2)
    m = math.ceil(math.log(L) / c + 2 * H * rho)
    loss = 0.2 if H == 1 else 0.1 * H
    least = loss / 2 * (L - m) * binom.cdf(math.floor(m * (1 - x) / 2), m, 0.55)
    assert least <= claims.gamble_bound(L, H) < loss * L


def test_silences_are_bounded_from_where_it_is_said():
    f = 1.6845
    assert gambles.silence(0.95 * f, 4000) > 2 * gambles.silence(0.95 * f, 1000) > 20
    assert gambles.silence(1.05 * f, 4000) < gambles.silence(1.05 * f, 1000)


def test_the_explicit_terms_are_above_the_exact_ones():
    end = claims.regret_in_the_end(2.0, 5000)
    for games in (500, 1000):
        assert end - claims.regret_in_the_end(2.0, games) < float(claims.later_regret(games))


def test_a_silence_by_hand():
    play = [norm.cdf(z) for z in (-2 / math.sqrt(2), 2 / math.sqrt(2))]
    assert gambles.silence(1.0, 1) == pytest.approx(math.log(0.45 / play[0] + 0.55 / play[1]))
    assert gambles.silence(1.0, 0) == pytest.approx(math.log(2))


def test_regret_in_the_end_is_that_of_long_runs():
    mdp, Phi = gamble()
    passes = [
        int(
            (
                runs.openings(mdp, Phi, 20_000, *streams(seed)[1:], sigma=2.0).action == runs.PASS
            ).sum()
        )
        for seed in range(100)
    ]
    mean, error = 0.2 * np.mean(passes), 0.2 * np.std(passes) / 10
    assert abs(mean - claims.regret_in_the_end(2.0, 5000)) < 5 * error


def limit_by_another_route(f, H, games):
    """Expected passes on the long gamble before so many games, if each is waited for: the posterior
    of each period in turn, as a plain recursion on means and variances."""
    rho, total = 3 / H**2, 0.0
    for m in range(games):
        w = np.arange(m + 1)
        x, shrink, unit = 1 - 2 * w / max(m, 1), m / (m + f * f * rho), f * f / (m + f * f * rho)
        mean, variance = np.zeros(m + 1), np.zeros(m + 1)
        for _ in range(H - 1):
            mean, variance = shrink * (1 + mean), shrink**2 * variance + unit
        mean, variance = -shrink * x * (1 + mean), (shrink * x) ** 2 * variance + unit
        play = norm.cdf(mean / np.sqrt(variance))
        total += float(binom.pmf(w, m, 0.55) @ (1 / play - 1))
    return total


def test_the_long_gamble_is_bounded_from_where_it_is_said():
    """f* = 2.65 for H = 4: above it passes converge, and long runs have that many; below not."""
    H, f = 4, 4.0
    first, second, third = (limit_by_another_route(f, H, m) for m in (400, 800, 1200))
    assert third - second < 0.5 * (second - first)
    assert limit_by_another_route(2.0, H, 400) > 100 * limit_by_another_route(2.0, H, 200)
    mdp, Phi = long_gamble(H)
    passes = [
        (
            runs.openings(mdp, Phi, 20_000, *streams((seed, 7))[1:], lam=3 / H**2, sigma=f).action
            == runs.PASS
        ).sum()
        for seed in range(200)
    ]
    few = limit_by_another_route(f, H, 2000)
    assert abs(np.mean(passes) - few) < 5 * np.std(passes) / math.sqrt(200)


@pytest.mark.parametrize(
    ("sigma", "G", "enough"), [(1.0, 16, True), (3.0, 80, True), (3.0, 16, False)]
)
def test_values_of_the_toll_are_as_often_large_as_proved(sigma, G, enough):
    """The proof's normal variable for λ = 1, by the library's agent after one start with walks alone;
    with a leap that is too small for σ nothing is amplified."""
    H = 8
    mdp, Phi = toll(H, 20, G)
    agent = rlsvi(Phi, 1.0, sigma, rng=1)
    for h in range(H):
        agent.observe(h, 1, 0, mdp.R[h, 1, 0, 1], 1)
    least = claims.least_spread(H, H - 1, gambles.exact(sigma**2))
    level, high = sigma * float(arb(least).sqrt()), 0
    for _ in range(3000):
        agent.plan()
        high += agent.Q[1, 1].max() >= level
    assert (binomtest(high, 3000, norm.sf(1), alternative="less").pvalue > RATE) == enough


# --- where the prior is true ----------------------------------------------------------------


def test_the_prior_determines_the_rewards():
    for mdp, Phi in (
        prior.prior_toll(6, 5000, np.random.default_rng(1)),
        prior.random_basis(6, np.random.default_rng(2)),
    ):
        assert claims.is_instance((mdp, Phi), lam=1e-3)
        assert np.abs(mdp.R).max() <= 1


def test_regret_at_the_gate_is_that_of_a_second_program(monkeypatch):
    """RLSVI with one feature in plain Python, its own draws; the means of both agree."""
    monkeypatch.setitem(prior.EPISODES, "toll", 300)
    monkeypatch.setattr(prior, "SIDES", 60)
    H, w, lam, theirs = 5, prior.WALK, prior.LAM, []
    for seed in range(150):
        rng = np.random.default_rng((seed, 99))
        while True:
            theta = rng.normal(0, lam**-0.5, H)
            V = np.append(np.maximum(w * theta, theta), 0.0)
            road = np.concatenate([w * theta - V[1:], (theta - V[1:])[1:], theta[:1]])
            if np.abs(road).max() <= 1:
                break
        data, regret, sampled = [[] for _ in range(H)], 0.0, np.zeros(H)
        for episode in range(300):
            for h in reversed(range(H) if episode else ()):
                later = max(w * sampled[h + 1], sampled[h + 1]) if h < H - 1 else 0.0
                M = lam + sum(x * x for x, _, _ in data[h])
                total = sum(x * (r + alive * later) for x, r, alive in data[h])
                sampled[h] = total / M + rng.normal() / math.sqrt(M)
            if rng.random() < 0.2:
                for h in range(H):
                    x = w if h == 0 or sampled[h] < 0 else 1.0
                    data[h].append((x, x * theta[h] - V[h + 1], 1))
            else:
                leaps = rng.random() < 0.5 if sampled[0] == 0 else sampled[0] > 0
                regret += abs(theta[0]) * (leaps != (theta[0] > 0))
                if leaps:
                    data[0].append((1.0, theta[0], 0))
        theirs.append(regret)
    ours = [prior.prior_regret("toll", H, seed)[0]["regret"] for seed in range(150)]
    assert ttest_ind(ours, theirs, equal_var=False).pvalue > RATE
    assert np.mean(ours) > 1


def prior_table(**change):
    """Regret of 30 seeds whose means over √T, for closed features over H²√T, are as said."""
    over = {"toll": (0.1, 0.1, 0.2, 0.5), "random": (2, 2, 1, 1), "closed": (2, 1, 1, 1)}
    return {
        "prior": pd.DataFrame(
            [
                {
                    "family": family,
                    "H": H,
                    "seed": seed,
                    "regret": x
                    * math.sqrt(H * prior.EPISODES[family])
                    * (H**2 if family == "closed" else 1)
                    * (0.9 + 0.2 * (seed % 2)),
                }
                for family, row in (over | change).items()
                for H, x in zip((8, 16, 32, 64), row, strict=True)
                for seed in range(30)
            ]
        )
    }


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, HOLDS),
        ({"toll": (0.5, 0.5, 0.5, 0.5)}, FAILS),
        ({"toll": (0.1, 0.1, 0.49, 0.5)}, DEPENDS),  # not above all others
        ({"random": (1, 1, 1, 2)}, FAILS),
        ({"toll": (2, 1, 1, 1), "random": (1, 1, 1, 2)}, FAILS),
    ],
)
def test_the_rule_of_the_prior_is_applied(change, verdict):
    assert claims.prior_measured(prior_table(**change)).verdict == verdict


def test_closed_features_are_judged_over_the_square_of_the_horizon():
    for row, trend in (((2, 1, 1, 1), "does not rise"), ((1, 1, 1, 1.2), "rises")):
        found = claims.prior_measured(prior_table(closed=row)).numbers["trends"]
        assert found["closed"] == trend


def test_the_amplification_is_drawn():
    (ax,) = figures.amplification(H=5, draws=500).axes
    printed, mean, truncated, truth = (line.get_ydata() for line in ax.lines)
    assert printed[0] > truncated[0] > 0 == truth[0]  # in period 1; a truncated value stays small
    assert mean[0] > 4 > truncated[0]


# --- weights in place of noise --------------------------------------------------------------


@pytest.mark.parametrize(("kappa", "p"), [(1.0, 0.8), (0.3, 0.95)])
def test_passes_are_as_many_as_computed(kappa, p):
    passes = []
    mdp, Phi = gamble(p)
    for seed in range(300):
        run = bootstrap(Phi, (-2, 2), kappa, rng=seed).learn(mdp, 400, seed + 1000)
        passes.append((run.opening == runs.PASS).sum())
    expected = weights.expected_passes(p, kappa, plays=200)
    assert ttest_1samp(passes, expected).pvalue > RATE
    assert ttest_1samp(passes, 0.5 * expected).pvalue < 1e-3  # and they are told apart


@pytest.mark.parametrize("kappa", [2.0, 1.0, 0.3, 0.01])
def test_the_steps_of_the_gambles_proof(kappa):
    p = 0.6
    q, t = 1 - p, 0.5 * (2 * p - 1)
    for m in (0, 1, 5, 40):
        k = np.arange(m + 1)
        a, b = k + kappa, m - k + kappa
        play = beta.sf(0.5, a, b)
        few = -(a + b) * math.log(2) - np.log(b) - betaln(a, b)
        assert (np.log(play) >= few - 1e-12).all()
        chernoff = (1 - t**2) ** -kappa * ((1 - t * (p - q)) / (1 - t**2)) ** m
        assert binom.pmf(k, m, p) @ (1 - play) <= chernoff
        assert (play[2 * k >= m] >= 0.5 - 1e-12).all()


def test_the_gambles_explicit_bound_is_above():
    for p in (0.55, 0.7, 0.95):
        assert weights.most_passes(p) > weights.expected_passes(p, 1.0, 300)
    by_coins = sum(
        binom.pmf(k, m, 0.7) * (1 / binom.cdf(k, m + 1, 0.5) - 1)
        for m in range(20)
        for k in range(m + 1)
    )
    assert weights.expected_passes(0.7, 1.0, 20) == pytest.approx(by_coins)


@pytest.mark.parametrize("m", [1, 3])
def test_multiples_of_one_variate_would_have_a_threshold(m):
    rng, kappa, n = np.random.default_rng(m), 0.5, 200_000
    up, lost = kappa * rng.exponential(size=(2, n)), rng.standard_gamma(m, n)
    count = int((up[0] > up[1] + lost).sum())
    assert binomtest(count, n, 0.5 * (kappa / (1 + kappa)) ** m).pvalue > RATE


@pytest.mark.parametrize(("won", "lost"), [(0, 3), (2, 4), (5, 2)])
def test_the_long_gamble_is_played_as_often_as_proved(won, lost):
    H, kappa, draws = 3, 1.0, 3000
    _, Phi = long_gamble(H)
    agent = bootstrap(Phi, (-H, H), kappa, rng=won)
    for sign, s, times in ((1.0, 1, won), (-1.0, 2, lost)):
        for _ in range(times):
            for h in range(H):
                agent.observe(h, s if h else 0, 1, sign, s)
    count = 0
    for _ in range(draws):
        agent.plan()
        count += agent.values(0, 0)[runs.PLAY] > 0
    most = weights.play_probability(won, lost, kappa)
    assert binomtest(count, draws, most / 4, alternative="less").pvalue > RATE
    if 0 < won < lost:  # and more than is true would be noticed
        assert binomtest(count, draws, 2 * most, alternative="less").pvalue < RATE


@pytest.mark.parametrize("kappa", [1.0, 0.05])
@pytest.mark.parametrize(("H", "m"), [(2, 1), (4, 3), (9, 40), (9, 4000)])
def test_of_two_draws_with_flipped_signs_one_is_low_and_one_is_high(H, m, kappa):
    rng = np.random.default_rng(H)
    games = rng.standard_gamma(m, (H - 1, 20_000))
    least, most = rng.standard_gamma(kappa, (2, H - 1, 20_000))
    theta, flipped = (
        weights.later_weight(games, least + most, sign * (most - least)) for sign in (1, -1)
    )
    assert min(theta.min(), flipped.min()) >= -H  # so that the lower cut never acts
    assert (theta + flipped).min() >= -1e-9
    assert np.minimum(theta, flipped).max() <= H - 1 + 1e-9
    certain = (4 * H * (least + most) <= games).all(axis=0)
    assert ((1 + theta[certain]) / H >= 0.5).all()
    rare = (H - 1) * 4**kappa * (1 + 1 / (8 * H)) ** -m  # the proof allows H times
    assert (~certain).mean() <= rare + 5 / math.sqrt(20_000)
    if m < 10 and kappa == 1:  # two draws of which none is flipped can both be high
        assert np.minimum(theta, theta[::-1]).max() > H - 1


@pytest.mark.parametrize("leaps", [2, 10])
@pytest.mark.parametrize("sides", [0, 6])
def test_chernoffs_bound_on_a_leap_is_above(leaps, sides):
    H, G, kappa = 5, 4.0, 0.3
    rng = np.random.default_rng(1)
    few, side, own = (rng.standard_gamma(n, 10**5) for n in (leaps, sides, kappa))
    count = int((H / G * side + H * own > few).sum())
    bound = weights.leap_probability(leaps, sides, H, G, kappa)
    assert binomtest(count, 10**5, bound, alternative="greater").pvalue > RATE


@pytest.mark.parametrize("kappa", [1.0, 0.01])
def test_leaps_are_fewer_than_proved(kappa):
    H, G, episodes = 6, 16.0, 400
    mdp, Phi = toll(H, L=40, G=G)
    for seed in range(5):
        run = bootstrap(Phi, (-H, H), kappa, rng=seed).learn(mdp, episodes, seed + 100)
        leaps, sides = (run.reward == -1).sum(), (run.reward == -1 / G).sum()
        assert leaps < 1.5 * weights.most_leaps(episodes, int(sides), H, G, kappa)
