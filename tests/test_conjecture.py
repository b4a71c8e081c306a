"""Conjecture 1: the worlds, the agent with one feature, the proofs; and falsehoods planted."""

import math

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.linalg import hadamard
from scipy.stats import kstest, norm

from rlsvi_core import rlsvi
from rlsvi_study import catalogue
from rlsvi_study.conjecture import claims, figures, runs
from rlsvi_study.conjecture.traps import gamble, needle, toll
from rlsvi_study.experiment import streams
from rlsvi_study.register import FAILS, HOLDS

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


@pytest.mark.parametrize("H", [2, 5, 12])
def test_nobody_should_enter_the_toll(H):
    mdp, Phi = toll(H)
    theta = np.eye(H)[0] * -0.125
    np.testing.assert_array_equal(np.einsum("hsak,h->hsa", Phi, theta), mdp.Q)
    assert mdp.value == 0
    assert np.abs(mdp.R).max() == 1


@pytest.mark.parametrize("hidden", [1, 17, 31])
def test_the_needle_is_linear_in_the_hidden_vector(hidden):
    v = np.vstack([np.eye(16), hadamard(16) / 4])
    mdp, Phi = needle(v, hidden, H=5)
    np.testing.assert_allclose(Phi @ v[hidden], mdp.Q, atol=1e-14)
    assert (mdp.optimal_actions[:, 0].sum(axis=1) == 1).all()
    assert mdp.optimal_actions[:, 0, hidden].all()
    assert mdp.P[:-1, :-1, :, :-1].sum(axis=3).max() <= 0.75
    assert mdp.value == pytest.approx(v[0] @ v[hidden] + 0.5)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: gamble(p=0.4), "it is 0.4"), (lambda: gamble(sigma=0.0), "sigma"),
    (lambda: toll(1), "H"), (lambda: toll(3, G=-1.0), "G"),
    (lambda: needle(np.eye(3), 0, 2), "hidden"), (lambda: needle(np.eye(3), 3, 2), "hidden"),
    (lambda: needle(2 * np.eye(3), 1, 2), "within ±1/4"),
    (lambda: needle([[1.0, 0.0], [0.6, 0.8]], 1, 2), "within ±1/4")])
def test_other_worlds_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_the_conjecture_does_not_cover_is_seen():
    assert claims.is_instance(gamble())
    assert not claims.is_instance(gamble(sigma=2.0))  # a reward beyond σ
    assert not claims.is_instance(gamble(), lam=26.0)  # θ² = 0.04 > 1/26
    mdp, Phi = toll(3)
    assert not claims.is_instance((mdp, np.concatenate([Phi, Phi], axis=-1)))  # θ not unique
    assert not claims.is_instance((mdp, Phi**2))  # Q* not linear


# --- the agents -----------------------------------------------------------------------------


@pytest.mark.parametrize(("world", "sigma"), [(gamble(), 1.0), (gamble(), 2.0), (toll(3), 1.0),
                                              (toll(6), 1.0)])
@pytest.mark.parametrize("seed", range(4))
def test_the_agent_with_one_feature_is_the_librarys(world, sigma, seed):
    mdp, Phi = world
    ours, theirs = streams(seed)[1:], streams(seed)[1:]
    first = runs.openings(mdp, Phi, sigma, 3000, *ours)
    agent = rlsvi(Phi, 1.0, sigma, rng=theirs[1])
    assert (first == agent.learn(mdp, 3000, theirs[0]).opening).all()
    for one, other in zip(ours, theirs, strict=True):  # and not a draw more
        assert one.random() == other.random()


def all_walked(H):
    """RLSVI that walked all the way at the toll, once."""
    agent = rlsvi(toll(H)[1], 1.0, 1.0, rng=1)
    for h in range(H):
        agent.observe(h, 0, 1, -0.125 if h == 0 else 0.0, 0)
    return agent


def test_what_is_imagined_is_what_the_agent_samples():
    agent, X = all_walked(5), []
    for _ in range(4000):
        agent.plan()
        X.append(agent.Q[1, 0].max())
        assert agent.Q[0, 0].argmax() != runs.WALK
    assert kstest(X, claims.imagined(5, 4000, rng=2)[:, 0]).pvalue > RATE


def test_truncated_values_stay_in_range():
    X = claims.imagined(6, 1000, most=1.0)
    assert (np.abs(X) <= np.arange(5, 0, -1)).all()
    mdp, Phi = toll(8)
    leaps = [[int((runs.openings(mdp, Phi, 1.0, 4000, *streams(seed)[1:], most) == runs.LEAP).sum())
              for seed in range(12)] for most in (math.inf, 1.0)]
    assert max(leaps[1]) < 60 < max(leaps[0])


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
    "regret that grows like √T": ("gamble_bound", lambda L: math.sqrt(L), "B.conjecture-printed"),
    "a gamble that ends soon": ("EXPONENT", 0.4, "B.conjecture-printed"),
    "a toll that doubles": ("toll_bound", lambda H: 2.0**H, "B.conjecture-meant"),
    "values that grow threefold": (
        "toll_moments", lambda H, true=claims.toll_moments: (
            true(2)[0] * 3 ** (H - 2), true(H)[1]), "B.toll-steps"),
    "values that are halved": (
        "imagined", lambda *rest, true=claims.imagined: true(*rest) / 2, "B.amplification"),
    "a lower bound above what was measured": (
        "gamble_bound", lambda L: float(L), "B.gamble-measured"),
    "a lower bound above what was measured at the toll": (
        "toll_bound", lambda H: 1e4, "B.toll-measured"),
    "a needle in plain sight": (
        "needle", lambda v, hidden, H: (needle(v, hidden, H)[0], needle(v, hidden, H)[1] + 1),
        "B.worlds-are-instances"),
    "likelier losses than computed": (
        "tail", lambda x, true=claims.tail: true(x / 2), "B.gamble-steps"),
    "a bell of half the width": (
        "half_bell", lambda x, true=claims.half_bell: true(2 * x), "B.gamble-steps")}


@pytest.mark.parametrize("falsehood", PLANTED)
def test_a_planted_falsehood_is_caught(falsehood, monkeypatch):
    name, wrong, id = PLANTED[falsehood]
    monkeypatch.setattr(claims, name, wrong)
    assert REGISTER[id].judge().verdict != REGISTER[id].verdict


def test_worlds_that_tell_the_hidden_action_are_caught(monkeypatch):
    def telling(v, hidden, H):
        mdp, Phi = needle(v, hidden, H)
        R = mdp.R.copy()
        R[0, 0, 0] = hidden / 100
        return type(mdp)(mdp.P, R), Phi

    monkeypatch.setattr(claims, "needle", telling)
    assert REGISTER["B.any-algorithm"].judge().verdict == FAILS != HOLDS


def toll_table(**change):
    """Regret at the toll of 40 runs: early, over √T, as measured unless changed; late likewise."""
    given = {6: 0.45, 8: 0.93, 10: 2.0, 12: 5.8} | change.get("given", {})
    rows = [("given", H, x * math.sqrt(H * claims.looked_at(H)), 1000.0 * x)
            for H, x in given.items()]
    rows += [(agent, 12, 1.0, change.get(agent.replace("-", "_"), 100.0))
             for agent in ("one-hot", "truncated")]
    return {"toll": pd.DataFrame([
        {"agent": agent, "H": H, "seed": seed, "walked": True, "leaps": 20,
         "early": early * (0.9 + 0.2 * (seed % 2)), "regret": late * (0.9 + 0.2 * (seed % 2))}
        for agent, H, early, late in rows for seed in range(40)])}


@pytest.mark.parametrize(("change", "verdict"), [
    ({}, HOLDS),
    ({"given": {6: 5.8}}, FAILS),  # level from first to last
    ({"given": {6: 9.0, 8: 8.0, 10: 7.0}}, FAILS),  # falls
    ({"one_hot": 9000.0}, FAILS), ({"truncated": 5800.0}, FAILS)])
def test_the_toll_rises_stays_level_and_falls(change, verdict):
    assert claims.toll_measured(toll_table(**change)).verdict == verdict


def test_the_conjectures_sentence_is_of_all_runs_and_over_root_T():
    found = claims.conjecture_meant(toll_table())
    assert found.verdict == FAILS
    assert {H: round(one.mean, 2) for H, one in found.numbers["over_root_T"].items()} == {
        6: 0.45, 8: 0.93, 10: 2.0, 12: 5.8}


def test_silences_are_bounded_from_where_it_is_said():
    x, f = claims.slowest_silence()
    assert claims.silence(0.95 * f, 4000) > 2 * claims.silence(0.95 * f, 1000) > 20
    assert claims.silence(1.05 * f, 4000) < claims.silence(1.05 * f, 1000)
    lost = math.sqrt(2 / math.log(1 / claims.LOSE))  # the history of losses alone, x = 1
    assert lost < f
    assert 0 < x < 1


def test_a_silence_by_hand():
    play = [norm.cdf(z) for z in (-2 / math.sqrt(2), 2 / math.sqrt(2))]
    assert claims.silence(1.0, 1) == pytest.approx(math.log(0.45 / play[0] + 0.55 / play[1]))
    assert claims.silence(1.0, 0) == pytest.approx(math.log(2))


def test_regret_in_the_end_is_that_of_long_runs():
    mdp, Phi = gamble()
    passes = [int((runs.openings(mdp, Phi, 2.0, 20_000, *streams(seed)[1:]) == 0).sum())
              for seed in range(200)]
    mean = 0.2 * np.mean(passes)
    assert abs(mean - claims.regret_in_the_end(2.0)) < 5 * 0.2 * np.std(passes) / math.sqrt(200)


def test_the_amplification_is_drawn():
    assert len(figures.amplification(H=5, draws=500).axes) == 2
