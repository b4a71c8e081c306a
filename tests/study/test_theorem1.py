"""Theorem 1: the models, the bound, the steps of its proof, and lower bounds by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from rlsvi_core import features, rlsvi
from rlsvi_core.envs.dirichlet import DirichletPrior, zero_counts
from rlsvi_study.judging.evidence import failed_steps
from rlsvi_study.judging.outcomes import DEPENDS, FAILS, HOLDS
from rlsvi_study.judging.thresholds import CHOSEN
from rlsvi_study.parameters import minimal_parameters, theorem1_prior
from rlsvi_study.regret import claims, experiments, lower_bounds, shrunk_model, upper_bound
from rlsvi_study.regret.shrunk_model import fractions

ZERO = fractions([0, 0])
BASE = tuple(experiments.BASE.values())


def histories(seed=0, **sizes):
    return shrunk_model.example_histories(np.random.default_rng(seed), **sizes)


# --- the models -----------------------------------------------------------------------------


def test_the_mean_mdp_is_the_posteriors():
    data = histories(S=3)["random"].as_floats()
    prior, counts = DirichletPrior(data.alpha_R, data.alpha_P), zero_counts(3, 3, 2)
    counts.R[:], counts.P[:] = data.seen_R, data.seen_P
    posterior, given = prior.posterior(counts), shrunk_model.shrunk_models(data, 5.0)
    np.testing.assert_allclose(given.R_bar, posterior.mean_R)
    np.testing.assert_allclose(given.P_bar, posterior.mean_P)
    mu = np.random.default_rng(1).integers(0, 2, (3, 3))
    np.testing.assert_allclose(
        shrunk_model.policy_values(given.P_bar, given.R_bar, mu, np.zeros(3)),
        posterior.mean_mdp().evaluate(mu),
        atol=1e-12,
    )


def test_the_shrunk_model_with_noise_is_what_the_agent_plans_by():
    lam, sigma, (H, S, A) = 0.7, 1.3, (4, 3, 2)
    agent, seen = rlsvi(features.one_hot(H, S, A), lam, sigma, rng=5), np.random.default_rng(6)
    seen_R, seen_P = np.zeros((H, S, A, 2)), np.zeros((H, S, A, S))
    for _ in range(40):
        h, s, a, low, s_next = (int(seen.integers(n)) for n in (H, S, A, 2, S))
        agent.observe(h, s, a, -float(1 - low), s_next)
        seen_R[h, s, a, low] += 1
        seen_P[h, s, a, s_next] += 1
    agent.plan()
    data = shrunk_model.HistoryData(seen_R + 1, seen_P + 1, seen_R, seen_P, np.array([-1.0, 0.0]))
    given = shrunk_model.shrunk_models(data, lam * sigma**2)
    z = np.random.default_rng(5).standard_normal((H, S, A))[::-1]  # drawn from the last period on
    w = sigma * z / np.sqrt(given.n + lam * sigma**2)
    V, mu = shrunk_model.optimal_values(given.P_sh, given.R_sh + w, np.zeros(S))
    np.testing.assert_allclose(V[:-1], agent.Q.max(axis=2))
    assert (mu == agent.Q.argmax(axis=2)).all()


@pytest.mark.parametrize("name", histories())
def test_with_one_action_the_gain_of_optimism_is_the_bias_exactly(name):
    """E Ṽ − E V* = E_sh Σ b′ ≥ 0 where nothing is selected: steps 1 and 3 at once."""
    data = histories(3, A=1)[name]
    given, mu = shrunk_model.shrunk_models(data, data.m), np.zeros((3, 2), int)
    ours = shrunk_model.policy_values(given.P_sh, given.R_sh, mu, ZERO)[0]
    truth = shrunk_model.policy_values(given.P_bar, given.R_bar, mu, ZERO)[0]
    both = shrunk_model.telescope(data, data.m, 0 * given.n, ZERO)
    assert (ours - truth == both.right).all()
    assert (both.left == both.right).all()
    assert (both.right >= 0).all()


@pytest.mark.parametrize(
    ("worth", "end"),
    [((-1, Fraction(-1, 2), Fraction(-1, 5), 0), (0, 0)), ((-1, 0), (Fraction(-3, 2), 0))],
    ids=["four rewards", "a known terminal reward"],
)
def test_other_rewards_obey_the_same_steps(worth, end):
    """Steps 1 and 3, with σ² ≥ ¼(1 + (H−1+G)²) and H − h + G for H − h."""
    rng, G = np.random.default_rng(6), -float(min(end))
    for data in shrunk_model.example_histories(rng, worth=worth).values():
        w = fractions(rng.integers(-40, 40, data.seen_P.shape[:3]), 16)
        left, right, bias, most = shrunk_model.telescope(data, data.m, w, fractions(end))
        assert (left == right).all()
        assert (bias >= 0).all()
        assert (bias <= most).all()
        sigma, last = math.sqrt((1 + (2 + G) ** 2) / 4), np.array(end, float)
        z = shrunk_model.optimism_violation(data.as_floats(), float(data.m), sigma, last, 8000, rng)
        assert z < CHOSEN["standard errors"]


def test_paths_weigh_as_dirichlet_moments():
    third = Fraction(1, 3)
    # E p(1 − p)
    assert shrunk_model.dirichlet_moment([Fraction(1), Fraction(1)], [1, 1]) == Fraction(1, 6)
    assert shrunk_model.dirichlet_moment([third, third], [2, 0]) == third * (1 + third) / (
        2 * third * (1 + 2 * third)
    )


def test_transitions_that_repeat_by_hand():
    """Beta(5, 5) and tiny weights: E p + … + E p⁴, and ½ + … + 1/16."""
    (truth, ours), _ = shrunk_model.stationary_counterexample(Fraction(1, 10**9)).values()
    p = [math.prod((5 + j) / (10 + j) for j in range(k)) for k in range(1, 5)]
    assert truth == pytest.approx(sum(p) - 4, abs=1e-6)
    assert ours == pytest.approx(15 / 16 - 4, abs=1e-6)
    assert truth > ours  # Lemma 2 fails


# --- the bound ------------------------------------------------------------------------------


def test_the_bound_by_hand_and_broadcast():
    H, S, A, L, lam, sigma = 2, 3, 4, 100, 0.5, 2.0
    rho, T = 2.0, 200
    Lambda = 1 / rho + math.log(1 + L / (S * A * rho))
    first = sigma * math.sqrt(2 * math.log(A) * Lambda * S * A * H * T)
    second = 0.5 * H * (H + 1) * S * A * (1 + rho * math.log(1 + L / (S * A * rho)))
    assert float(upper_bound.regret_bound(H, S, A, L, lam, sigma, 1)) == pytest.approx(
        first + second
    )
    many = upper_bound.regret_bound(
        H, np.array([[1], [3]]), A, np.array([1, 10, 100]), lam, sigma, 1
    )
    assert many.shape == (2, 3)
    assert many[1, 2] == pytest.approx(first + second)


@pytest.mark.parametrize("broken", [{"lam": 0.2}, {"sigma": 0.5, "lam": 8.0}, {"m": 3.0}])
def test_no_bound_is_claimed_outside_its_conditions(broken):
    given = {"H": 2, "S": 3, "A": 4, "L": 100, "lam": 0.5, "sigma": 2.0, "m": 1.0}
    assert np.isfinite(upper_bound.regret_bound(**given))
    assert upper_bound.regret_bound(**given | broken) == np.inf


def test_measured_regret_is_below_the_explicit_bound():
    """In every size, with the printed and with the smallest λ and σ, where the bound is finite."""
    cells = upper_bound.add_bound(claims.STORED["theorem1-bound"])
    assert np.isfinite(cells.bound).all()
    assert (cells.regret <= cells.bound).all()


def test_where_the_bound_begins_to_say_something():
    least = minimal_parameters(theorem1_prior(*BASE))
    L = upper_bound.episodes_until(1.6, *BASE, *least)
    assert float(upper_bound.regret_bound(*BASE, L, *least, 1.0)) <= 1.6 * L
    assert float(upper_bound.regret_bound(*BASE, L - 1, *least, 1.0)) > 1.6 * (L - 1)


@pytest.mark.parametrize("sizes", upper_bound.DIRICHLET.values())
def test_the_second_term_leads_until_then(sizes):
    (H, S, A, m_R, m_P), until = sizes, upper_bound.first_term_leads_from(*sizes)
    before, then = (
        upper_bound.bound_terms(H, S, A, L, m_R + m_P, math.sqrt(H**2 + 1))
        for L in (until - 1, until)
    )
    assert before.bias > before.noise
    assert then.noise >= then.bias


def test_the_bandits_lower_bound_by_hand():
    """Before any data either arm is as likely; with a huge ridge for ever."""
    lam, sigma, each = 2.0, 1.5, 4 / math.pi**2  # E|R_1 − R_2| of two Beta(½, ½)
    again = norm.cdf(-1 / math.sqrt(2 * sigma**2 * (1 + lam * sigma**2)))
    assert upper_bound.wrong_arm_bound(lam, sigma, 2) == pytest.approx(each * (0.5 + again))
    assert upper_bound.wrong_arm_bound(1e12, 2.0, 100) == pytest.approx(each * 50, rel=1e-4)
    r = np.random.default_rng(0).beta(0.5, 0.5, (2, 400_000))
    assert np.abs(r[0] - r[1]).mean() == pytest.approx(each, abs=0.002)


# --- the steps ------------------------------------------------------------------------------


def pooled(rows, row, reward, H, true=shrunk_model.value_by_paths):
    return true(rows, lambda h, s: (0, s), reward, H)


def stale(data, rho, w, end, true=shrunk_model.telescope):
    """b′ with the weights of another ρ."""
    return true(data, rho, w, end)._replace(right=true(data, rho + 1, w, end).right)


@pytest.mark.parametrize(
    ("module", "name", "lie", "step"),
    [
        (upper_bound, "min_sigma", lambda H: 0.3, upper_bound.check_mean_optimism),
        (upper_bound, "telescope", stale, upper_bound.check_telescope),
        (
            upper_bound,
            "noise_penalty",
            lambda n, rho, sigma, A, eta: eta * sigma**2 / (2 * (n + rho)),  # without log A
            upper_bound.check_penalized_recursion,
        ),
        (
            upper_bound,
            "visit_sum_bound",
            lambda L, D, rho: D * math.log1p(L / (D * rho)) / 2,
            upper_bound.check_counting_sums,
        ),
        (shrunk_model, "value_by_paths", pooled, claims.mean_mdp),
        (
            lower_bounds,
            "random_losses",
            lambda rng, H: fractions(np.full(H + 1, H)),
            lower_bounds.check_later_values,
        ),
        (
            lower_bounds,
            "min_expected_visits",
            lambda *given: Fraction(1, 9),
            lower_bounds.check_min_visits,
        ),
        (lower_bounds, "min_share", lambda p: p / (2 + 2 * p), lower_bounds.check_part_a_constant),
        (lower_bounds, "LEAST_H", 1, lower_bounds.check_unlikely_event),
        (
            lower_bounds,
            "part_b_at_printed",
            lambda H, S=1, A=2: lower_bounds.ProvedBound(H, H**2.0 * S * (A - 1)),
            lower_bounds.check_second_term_growth,
        ),
        (lower_bounds, "min_sigma", lambda H: H**2.0, lower_bounds.check_least_ridge),
    ],
)
def test_a_step_that_is_not_so_is_noticed(module, name, lie, step, monkeypatch):
    assert not failed_steps([step])
    monkeypatch.setattr(module, name, lie)
    assert failed_steps([step]) == [step.__name__]


def test_a_ridge_below_the_prior_weight_is_caught(monkeypatch):
    half = property(lambda data: data.alpha_P.sum(-1).min() / 2)
    monkeypatch.setattr(shrunk_model.HistoryData, "m", half)
    assert not upper_bound.check_telescope()


def stubs(steps, falls):
    """Steps of the same names of which one does not hold."""

    def stub(step):
        def holds():
            return step is not falls

        holds.__name__ = step.__name__
        return holds

    return tuple(map(stub, steps))


@pytest.mark.parametrize("step", [None, *claims.THEOREM_1])
def test_the_theorem_falls_with_any_of_its_steps(step, monkeypatch):
    monkeypatch.setattr(claims, "THEOREM_1", stubs(claims.THEOREM_1, step))
    for name in ("FIRST_TERM", "SECOND_TERM"):
        monkeypatch.setattr(claims, name, stubs(getattr(claims, name), None))
    found = claims.theorem1()
    assert found.verdict == (FAILS if step else DEPENDS)
    assert found.numbers["failed"] == ([step.__name__] if step else [])


@pytest.mark.parametrize("step", [None, *claims.FIRST_TERM])
def test_the_theorem_holds_for_any_sigma_if_a_step_against_it_falls(step, monkeypatch):
    monkeypatch.setattr(claims, "THEOREM_1", ())
    monkeypatch.setattr(claims, "FIRST_TERM", stubs(claims.FIRST_TERM, step))
    second = stubs(claims.SECOND_TERM, claims.SECOND_TERM[0])  # which is not against it either
    monkeypatch.setattr(claims, "SECOND_TERM", second)
    assert claims.theorem1().verdict == (HOLDS if step else DEPENDS)


@pytest.mark.parametrize("step", [None, *claims.SECOND_TERM])
def test_the_last_line_stands_if_a_step_against_it_falls(step, monkeypatch):
    monkeypatch.setattr(claims, "SECOND_TERM", stubs(claims.SECOND_TERM, step))
    assert (claims.last_line_of_proof().verdict == FAILS) is (step is None)


@pytest.mark.parametrize(
    "larger", [lambda H, S: H, lambda H, S: np.sqrt(S)], ids=["H³ for H²", "S for √S"]
)
def test_a_bound_of_another_order_is_not_the_theorems(larger, monkeypatch):
    right = upper_bound.bound_terms

    def wrong(H, S, *rest):
        noise, bias = right(H, S, *rest)
        return upper_bound.BoundTerms(larger(H, S) * noise, bias)

    assert upper_bound.check_rate()
    monkeypatch.setattr(upper_bound, "bound_terms", wrong)
    assert not upper_bound.check_rate()


# --- both terms are real --------------------------------------------------------------------


def test_the_fewest_visits_by_hand():
    """At first w is played with p; if it was, it need not be in the next episode. With three arms each
    of the others must be played before b is the least visited."""
    p = Fraction(1, 4)
    assert lower_bounds.min_expected_visits(p, 1) == p
    assert lower_bounds.min_expected_visits(p, 2) == p + (1 - p) * p
    assert lower_bounds.min_expected_visits(p, 3) == p * (1 + p) + (1 - p) * (2 * p)
    assert lower_bounds.min_expected_visits(p, 2, A=3) == p + p
    assert (
        lower_bounds.min_expected_visits(p, 3, A=3)
        == p * (p * 2 + (1 - p) * (1 + p)) + (1 - p) * 2 * p
    )


def first_at(wanted, most=10**12):
    """The first L that is at least what is wanted of it."""
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if middle >= wanted(middle) else (middle, high)
    return high


@pytest.mark.parametrize(("H", "S", "A", "lam", "sigma"), [(8, 1, 2, 0.08, 3.5), (12, 4, 3, 2, 9)])
def test_the_first_term_by_hand(H, S, A, lam, sigma):
    """From L ≥ 32SAΛ(ρH + 16σ² log A) on the bound is above a regret of 0.03 σ√(SAHT), a constant of
    √2/4 · p/(1 + 2p) · ¾, less what is rare."""
    rho = lam * sigma**2
    L = first_at(
        lambda L: (
            (32 * S * A * (1 / rho + math.log(1 + L / (S * A * rho))))
            * (rho * H + 16 * sigma**2 * math.log(A))
        )
    )
    regret = 0.03 * sigma * math.sqrt(S * A * H * L * H)
    assert regret < sum(upper_bound.bound_terms(H, S, A, L, lam, sigma))
    p = norm.cdf(-1)
    constant = math.sqrt(2) / 4 * p / (1 + 2 * p) * (0.75 - 2 * 2**-8)
    assert float(lower_bounds.part_a_constant()) == pytest.approx(constant)


@pytest.mark.parametrize(("H", "S", "A"), [(64, 1, 2), (1000, 3, 5)])
def test_the_second_term_by_hand(H, S, A):
    """L ≥ 80SAρHΛ, regret (3/512)ρH²S(A − 1) at λ = 2 and σ² = H² + 1; the bound's term is above it."""
    rho = 2 * (H**2 + 1)
    L, regret = lower_bounds.part_b_at_printed(H, S, A)
    assert L == first_at(
        lambda L: 80 * S * A * rho * H * (1 / rho + math.log(1 + L / (S * A * rho))), 10**16
    )
    assert regret == pytest.approx(3 / 512 * rho * H**2 * S * (A - 1))
    assert regret < upper_bound.bound_terms(H, S, A, L, 2, math.sqrt(H**2 + 1)).bias
