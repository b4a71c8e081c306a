"""Lemma 1 by profiles: the steps of the proof, and each of them broken."""

import numpy as np
import pytest
import sympy as sp
from flint import arb

from rlsvi_core.optimism.balls import Counterexample, Proof
from rlsvi_study.judging.algebra import same
from rlsvi_study.theory import profile


@pytest.mark.parametrize(
    ("sides", "wrong"),
    [
        (profile.normal_profile, {"T": sp.Rational(1001, 1000) * profile.v}),
        (profile.beta_profile, {"total": profile.a + profile.b + 1}),
    ],
)
def test_profiles_solve_their_equations_and_no_others(sides, wrong):
    assert all(same(*pair) for pair in sides())
    assert not all(same(*pair) for pair in sides(**wrong))


def test_small_weights_are_covered_with_the_true_theta():
    assert isinstance(profile.small_weights(), Proof)
    assert isinstance(profile.small_weights(arb(0.01)), Counterexample)
    assert 8 / np.pi / 4 - 1 / 3 > 0.3  # up to there the coin's π/8 is smaller


def test_a_normal_of_less_variance_is_refuted():
    gaps = [profile.least([1, 1, 1], [0.0, 0.5, 1.0], times=t)[0] for t in (4, 8)]
    assert gaps[0] > 0 > gaps[1]
