"""c(n) at every mean: what balls enclose is what the proof says, and its checks can fail."""

import numpy as np
import pandas as pd
import pytest
from flint import arb, ctx

from rlsvi_study.judging.outcomes import FAILS, HOLDS
from rlsvi_study.theory import means, meeting
from rlsvi_study.theory.sharp import c

RNG = np.random.default_rng(3)
POINTS = [  # n, the share of the largest δ, and t as a share of its range
    (float(n), float(share), float(far))
    for n, share, far in zip(
        [1, 1.001, 2, 1e3, 1e6, *(1 / RNG.uniform(0.01, 1, 55))],
        RNG.uniform(0.02, 1, 60),
        RNG.uniform(0.05, 1, 60),
        strict=True,
    )
]


def exact_values(n, delta, t):
    """G/(Mδ²), D/δ² and ρ̂, by incomplete beta functions."""
    n, delta, t = arb(n), arb(delta), arb(t)
    m = arb(1) / 2 - delta
    a, b, z, v = n * m, n * (1 - m), m + t, c(n)

    def log_J(z):
        return a * z.log() + b * (1 - z).log() - a.lgamma() - b.lgamma() + n.lgamma() - n.log()

    def tail(z):
        return 1 - z.beta_lower(a, b, regularized=True)

    M = (v / (2 * arb.pi())).sqrt()
    K, J = M * (-t * t / (2 * v)).exp(), log_J(z).exp()
    gap = K - J - t * ((t / (2 * v).sqrt()).erfc() / 2 - tail(z))
    skew = (1 - 2 * tail(m)) / (log_J(m).exp() * delta / (arb(1) / 4 - delta**2))
    return gap / (M * delta**2), (K / J).log() / delta**2, skew


@pytest.mark.parametrize(("n", "share", "far"), POINTS)
def test_the_bounds_are_bounds(n, share, far):
    with ctx.workprec(256):
        e, delta = 1 / arb(n), share * (1 / (4 * (n + 2))) ** 0.5
        Delta = arb(n).sqrt() * arb(delta)
        t = far * float(min(2.5 * arb(delta), delta + meeting.reach(e) / arb(n).sqrt()))
        R, ell = arb(t) / arb(delta), arb(delta) ** 2 / (arb(1) / 4 - arb(delta) ** 2)
        gap, quotient, skew = exact_values(n, delta, t)
        assert meeting.psi(e, Delta, R).lower() < gap  # a ball, for the error of a quadrature
        assert meeting.quotient_below(e, Delta, R) < quotient < meeting.quotient_above(e, Delta, R)
        assert arb(4) / 3 < skew < meeting.skew(e, ell)
        assert meeting.theta_below(e) < 1 / (4 * c(arb(n))) - arb(n) < meeting.theta_above(e)


def test_the_bounds_are_close_for_many_visits():
    with ctx.workprec(256):
        gap, quotient, _ = exact_values(1e6, 0.4661e-3, 1.713 * 0.4661e-3)
        e, Delta, R = arb(1) / 10**6, arb(0.4661), arb(1.713)
        assert abs(gap - meeting.psi(e, Delta, R)) < 1e-3
        assert meeting.quotient_above(e, Delta, R) - quotient < 1e-3


@pytest.mark.parametrize(
    "lie",
    [
        lambda table: table.iloc[1:],
        lambda table: pd.concat([table, table.iloc[:1]]),
        lambda table: table.assign(margin=table.margin.where(table.piece != 40, 0.0)),
    ],
)
def test_a_piece_that_is_missing_or_undecided_fails_the_theorem(lie):
    table = means.STORED["every-mean"]
    assert means.sharp_at_every_mean({"every-mean": lie(table)}).verdict == FAILS


def test_the_theorem_falls_with_a_step(monkeypatch):
    for step, verdict in ((None, HOLDS), ("G.far", FAILS)):
        monkeypatch.setattr(means, "fallen", lambda steps, step=step: [step] if step else [])
        assert means.sharp_at_every_mean().verdict == verdict
