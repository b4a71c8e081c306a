"""Lemma 1 by profiles: the steps of the proof, and each of them broken."""

import numpy as np
import pytest
import sympy as sp
from flint import arb

from rlsvi_core.optimism.balls import Counterexample, Proof
from rlsvi_study.algebra import same
from rlsvi_study.theory import profile, sharp


@pytest.mark.parametrize(
    ("sides", "wrong"),
    [
        (profile.normal_profile, {"T": sp.Rational(1001, 1000) * profile.v}),
        (profile.beta_profile, {"total": profile.a + profile.b + 1}),
        (profile.height_laws, {"power": 1 / profile.n}),
    ],
)
def test_profiles_solve_their_equations_and_no_others(sides, wrong):
    assert all(same(*pair) for pair in sides())
    assert not all(same(*pair) for pair in sides(**wrong))


@pytest.mark.parametrize("weight", [0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 200.0])
def test_at_mean_a_half_the_slopes_cross_once_and_both_profiles_take_all_of_p(weight):
    once, by_J, by_K = profile.crossing(weight)
    assert once == 1
    assert by_J == pytest.approx(1, abs=2e-3)
    assert by_K == pytest.approx(1, abs=2e-3)


def test_with_another_variance_the_normal_s_profile_does_not_fit():
    _, _, by_K = profile.crossing(3.0, variance=0.9 * float(sharp.c(arb(3))))
    assert abs(by_K - 1) > 0.04


def test_small_weights_are_covered_with_the_true_theta():
    assert isinstance(profile.small_weights(), Proof)
    assert isinstance(profile.small_weights(arb(0.01)), Counterexample)
    assert 8 / np.pi / 4 - 1 / 3 > 0.3  # up to there the coin's π/8 is smaller


def test_a_normal_of_less_variance_is_refuted():
    gaps = [profile.least([1, 1, 1], [0.0, 0.5, 1.0], times=t)[0] for t in (4, 8)]
    assert gaps[0] > 0 > gaps[1]
