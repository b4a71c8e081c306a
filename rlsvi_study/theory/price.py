r"""What the σ and λ of Theorem 1 cost: two lower bounds for RLSVI with one state and two actions.

Here S = 1, A = 2, rewards in [−1, 0], nothing is paid at the end, ρ = λσ². Period h has a worse arm
w and a better arm b, whose means differ by the gap :math:`\Delta_h`. :math:`n_w, n_b` are their
visits so far, :math:`\kappa = n/(n+\rho)`, and :math:`\tilde Q_a = \kappa_a(\hat R_a +
\tilde V_{h+1}) + w_a` with noise :math:`w_a` of variance :math:`\sigma^2/(n_a+\rho)`.

**Proposition 1 (at first).** In every such MDP, for all λ, σ > 0 and every L ≤ ρ,

.. math:: \mathbb E\,\mathrm{Regret} \ge \frac{p}{1+2p}\, L \sum_h \Delta_h, \qquad
   p = \Phi\bigl(-\tfrac14\sqrt{3\lambda}\,\max(1, v)\bigr), \quad
   v = \frac{2+\sqrt2}{\sqrt{2\pi\lambda}} .

*Proof.* Fix h, the data of l < L episodes, and let :math:`n_w \le n_b`. All κ are at most ½.

1. *What follows is not overrated without end.* Rewards are at most 0, so :math:`\tilde V_h^+ \le
   \frac12\tilde V_{h+1}^+ + \max(w_1, w_2, 0)`. The range of three numbers is half the sum of their
   distances and the noise is symmetric, so :math:`\mathbb E\max(w_1, w_2, 0) =
   \frac14\mathbb E(|w_1| + |w_2| + |w_1 - w_2|) = (s_1 + s_2 + \sqrt{s_1^2+s_2^2})/(2\sqrt{2\pi})`
   for standard deviations :math:`s_i \le 1/\sqrt\lambda`. Backwards from :math:`\tilde V_H = 0`,
   :math:`\mathbb E\tilde V_{h+1}^+ \le v`.
2. *The handicap.* Given :math:`\tilde V_{h+1}`, the mean of :math:`\tilde Q_w - \tilde Q_b` is at
   least :math:`-X`, :math:`X = \kappa_w + (\kappa_b - \kappa_w)\tilde V_{h+1}^+ \ge 0`. As
   :math:`\kappa_w \le \kappa_b \le \frac12`, :math:`\mathbb E X \le \frac12\max(1, v)`.
3. *The noise.* :math:`\frac1{n_w+\rho} + \frac1{n_b+\rho} \ge \frac4{l+2\rho} \ge \frac4{3\rho}`:
   the difference has a variance of at least 4/(3λ).
4. :math:`x \mapsto \Phi(-x)` is convex for x ≥ 0, so by Jensen w is played with probability at
   least p. (If the first episode is played with z = 0 and ties uniformly: ½ > p.)
5. *Counting.* Let x be the expected number of episodes that begin with :math:`n_w > n_b`. The
   others give :math:`\mathbb E N_w(L) \ge p(L - x)`. At the last of those, l say, w had more than
   l/2 visits, and there are at most l of them: :math:`\mathbb E N_w(L) \ge x/2`. Together
   :math:`\mathbb E N_w(L) \ge pL/(1+2p)`. :math:`\square`

So at L = ρ regret is of order Hρ. With Theorem 1's smallest :math:`\sigma^2 = H^2+1` and a fixed λ
that is of order :math:`\sqrt{H^3AT}` at this T: no bound :math:`CH^a\sqrt T` for all H and T has
:math:`a < \frac32`. It holds in each MDP, so also on average over the theorem's prior.

**Proposition 2 (later).** Let rewards have the same Dirichlet prior in all periods,
:math:`g = \mathbb E\Delta_h` and u > 0 the mean of the better arm's loss −R; let λ and σ meet the
conditions of Theorem 1 (``theory.theorem1``), :math:`B_L` be its bound, :math:`H \ge
\max(70/(\lambda u^2), 32/u)`, and L such that :math:`B_L \le \frac18 uHL` and :math:`L \ge 6\rho
H`, which is of order ρH log H. Then :math:`\mathbb E\,\mathrm{Regret} \ge gu^2\rho H(H-1)/1024`.

*Proof.* Fix h with :math:`k = h+1 \le H/2`. Periods from k on do not depend on what happens before
them: there is one state and plans are made backwards. Let :math:`y = -\tilde V_k` and
:math:`\bar y = \mathbb E[y \mid \text{data}]`.

1. Steps 2 to 5 of Theorem 1, for periods from k on: :math:`\sum_l \mathbb E(\tilde V_k -
   V^{\tilde\mu}_k) \le B_L`. As :math:`\mathbb E V^{\tilde\mu}_k \le \mathbb E V^*_k \le -\frac12
   uH`, the mean of :math:`\mathbb E\bar y` over the episodes is at least :math:`\frac38 uH`. By
   step 1 :math:`\bar y \le H`. So :math:`\bar y \ge \frac14 uH` with probability at least
   :math:`\frac18 u`, on average over the episodes.
2. In each period :math:`\tilde V_k` depends on the noise of one arm, with a slope of at most
   :math:`1/\sqrt\lambda` in z. By Poincaré's inequality for the normal law
   :math:`\mathrm{Var}[y \mid \text{data}] \le H/\lambda`.
3. Let also :math:`n_w + \rho \le \frac1{16}\rho uH` and :math:`n_b + \rho \ge 4(n_w+\rho)`. With
   :math:`\delta = \rho/(n_w+\rho)`, :math:`\kappa_b - \kappa_w = \delta - \frac\rho{n_b+\rho} \ge
   \frac34\delta`, so :math:`D = \tilde Q_w - \tilde Q_b` has the mean
   :math:`\ge -1 + \frac34\delta\cdot\frac14 uH \ge \frac18\delta uH`, since
   :math:`\delta uH \ge 16`; its variance is at most :math:`\frac54\frac\delta\lambda +
   \delta^2\frac H\lambda`, no more than the square of its mean as :math:`\lambda u^2H \ge 70`. By
   Cantelli w is played with probability at least ½: what is shrunk less looks worse.
4. *Counting.* Let :math:`N = \rho(\frac1{16}uH - 1) \ge \frac1{32}\rho uH`. If :math:`N_w(L) > N`
   with probability above u/16, :math:`\mathbb E N_w(L) \ge \frac1{16}uN`. If not, step 3 applies in
   :math:`L(\frac u8 - \frac u{16}) - (5N + 3\rho + 1)` episodes or more, on average, and half of
   that is at least :math:`\frac1{16}uN`, too, as :math:`L \ge \frac{16}u\,6(N+\rho) = 6\rho H`.
5. None of this depends on the rewards of period h, so it costs :math:`g\,\frac1{16}uN \ge
   gu^2\rho H/512`; and there are :math:`\lfloor H/2\rfloor` such periods. :math:`\square`

With the printed λ and σ that is of order :math:`H^4`, at :math:`T \approx H^4\log H`: the second
term of Theorem 1's bound is real, and no bound :math:`CH^a\sqrt T` for all H and T, times any power
of log HT, has a < 2. On the other hand regret is at most HL = T, and the smaller of T and the
second term is at most the root of their product: :math:`H^2\sqrt{SAT}` times logarithms holds for
all T. It is λσ², not σ, that costs the last :math:`\sqrt H`. With the smallest ρ of the repaired
proof, :math:`\rho = \max(m_R, m_P) = m`, the second term is of order :math:`H^2SA\,m\log L`; if m
is fixed, :math:`\sqrt{H^3SAT}` times logarithms holds for all T.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from sympy import diff, erfc, exp, integrate, oo, pi, sin, sqrt, symbols

from rlsvi_core.optimism.balls import sign

from ..algebra import Sides, identity
from ..engine import Tables
from ..intervals import Mean, for_all, mean_interval
from ..register import HOLDS, OURS, Evidence, Frames, claim, fallen, unless
from . import runs, theorem1

STORED = Tables(runs.EXPERIMENTS)
PLACE = "Section 5, Theorem 1"
LAM = 2  # Theorem 1's smallest λ with weights of 1 in all
GAP, BETTER = 4 / np.pi**2, 1 / 2 - 2 / np.pi**2  # E|R_1 − R_2| and −E max(R_1, R_2): Beta(½, ½)


# --------------------------------------------------------------------- at first


def ahead(kappa_w: Any, kappa_b: Any, R_w: Any, R_b: Any, V: Any) -> Any:
    """The mean of Q̃_w − Q̃_b, given that Ṽ_{h+1} = V."""
    return kappa_w * (R_w + V) - kappa_b * (R_b + V)


def handicap(kappa_w: Any, kappa_b: Any, V: Any) -> Any:
    """The most by which w is behind, for V ≥ 0 in place of Ṽ⁺."""
    return kappa_w + (kappa_b - kappa_w) * V


def largest(s_1: Any, s_2: Any) -> Any:
    """E max(w_1, w_2, 0) of independent normals around 0."""
    return (s_1 + s_2 + sqrt(s_1**2 + s_2**2)) / (2 * sqrt(2 * pi))


def overrated(lam: Any) -> Any:
    """v, at least E Ṽ⁺ as long as no κ exceeds ½."""
    return (2 + sqrt(2)) / sqrt(2 * pi * lam)


def share(p: Any) -> Any:
    """How often w is played at least, if with probability p whenever it is not ahead in visits."""
    return p / (1 + 2 * p)


def at_first() -> Iterable[Sides]:
    """Equal sides: what is left of each is visibly not negative."""
    kw, d, rw, rb, P, M = symbols("k d r q P M", positive=True)  # κ_b = κ_w + d, Ṽ = P or −M
    kb = kw + d
    for V, V_plus, spare in ((P, P, 0), (-M, 0, d * M)):
        yield (
            ahead(kw, kb, -rw, -rb, V) + handicap(kw, kb, V_plus),
            kw * (1 - rw) + kb * rb + spare,
        )
    s_1, s_2, x, lam, a, b = symbols("s_1 s_2 x lam a b", positive=True)

    def absolute(s: Any) -> Any:
        return integrate(2 * x * exp(-(x**2) / (2 * s**2)) / (s * sqrt(2 * pi)), (x, 0, oo))

    yield largest(s_1, s_2), (absolute(s_1) + absolute(s_2) + absolute(sqrt(s_1**2 + s_2**2))) / 4
    yield overrated(lam), overrated(lam) / 2 + largest(1 / sqrt(lam), 1 / sqrt(lam))
    yield 1 / a + 1 / b, 4 / (a + b) + (a - b) ** 2 / (a * b * (a + b))
    yield diff(erfc(x / sqrt(2)) / 2, x, 2), x * exp(-(x**2) / 2) / sqrt(2 * pi)
    p, L, N, late = symbols("p L N late", positive=True)
    yield (1 + 2 * p) * (N - share(p) * L), (N - p * (L - late)) + 2 * p * (N - late / 2)
    phi = symbols("phi", positive=True)  # reward −sin²φ, whose distribution function is 2φ/π
    F = 2 * phi / pi
    yield 2 * integrate(F * (1 - F) * diff(sin(phi) ** 2, phi), (phi, 0, pi / 2)), 4 / pi**2


def chance(lam: int) -> arb:
    """p, as a ball."""
    v = (2 + arb(2).sqrt()) / (2 * arb.pi() * lam).sqrt()
    return (arb(3 * lam).sqrt() / 4 * v.max(arb(1)) / arb(2).sqrt()).erfc() / 2


def at_least(H: int, L: int) -> float:
    """What Proposition 1 says of the theorem's prior at λ = 2, for L ≤ ρ."""
    return GAP * H * L * float(share(chance(LAM)))


def fewest(p: Fraction, L: int) -> Fraction:
    """The smallest E N_w(L) over all that w's chances can be, at least p whenever n_w ≤ n_b: by
    dynamic programming, backwards in time."""
    value = {n: Fraction(n) for n in range(L + 1)}
    for l in reversed(range(L)):
        value = {
            n: (1 - low) * value[n] + low * value[n + 1]
            for n in range(l + 1)
            for low in [p if 2 * n <= l else 0]
        }
    return value[0]


@claim("5.", PLACE, OURS, "certified", HOLDS, part_of="5.theorem1")
def price_of_sigma(at_two: str = "0.27", constant: str = "0.071") -> Evidence:
    """In the first λσ² episodes, with one state and two actions, RLSVI's expected regret is at
    least a share c(λ) > 0 of what the worse arms would cost. At λ = 2 and σ² = H² + 1, with the
    prior Dirichlet(½, ½), it is at least 0.071 √(H³AT) after λσ² episodes."""
    p, gap = chance(LAM), 4 / arb.pi() ** 2
    algebra = identity(
        *at_first(), found="Every step is an identity with a rest that is not negative."
    )
    exact = Fraction(at_two)
    too_few = [L for L in range(1, 41) if fewest(exact, L) < share(exact) * L]
    wrong = (
        algebra.verdict != HOLDS
        or bool(too_few)
        or sign(lambda: p - arb(at_two)) < 0
        or sign(lambda: gap * share(p) - arb(constant)) < 0
    )
    return unless(
        wrong,
        f"The worse arm is played with probability {float(p):.3f} or more, "
        "whatever H is, unless it is ahead in visits. So no bound C Hᵃ√T for all H and "
        "T has a < 3/2.",
        f"{algebra.found} The counting also by dynamic programming, exactly, up to 40 episodes.",
        p=float(p),
        constant=float(gap * share(p)),
    )


# --------------------------------------------------------------------- later


class Later(NamedTuple):
    """What Proposition 2 says."""

    L: int  # from so many episodes on
    regret: float  # at least


def least_horizon(lam: float = LAM, u: float = BETTER) -> int:
    """From this H on Proposition 2 says something."""
    return int(np.ceil(max(70 / (lam * u**2), 32 / u)))


def later(H: int, lam: float = LAM, g: float = GAP, u: float = BETTER) -> Later:
    """Proposition 2 at the smallest σ that is printed."""
    sigma = np.sqrt(H**2 + 1.0)
    rho = lam * sigma**2
    enough = theorem1.first(
        lambda L: bool(
            sum(theorem1.terms(H, 1, 2, L, lam, sigma)) <= u * H * L / 8 and L >= 6 * rho * H
        )
    )
    return Later(enough, g * u**2 * rho * H * (H - 1) / 1024)


def spread(kappa_difference: Any, delta: Any, H: Any, lam: Any) -> Any:
    """The variance of D at most, in step 3."""
    return Fraction(5, 4) * delta / lam + kappa_difference**2 * H / lam


def in_step_3() -> Iterable[Sides]:
    """δ, H and λ at the edge of what is allowed: δuH = 16 + a, λu²H = 70 + b, u = 1/(1 + c)."""
    a, b, c, n_w, n_b, rho = symbols("a b c n_w n_b rho", positive=True)
    yield n_b / (n_b + rho) - n_w / (n_w + rho), rho / (n_w + rho) - rho / (n_b + rho)
    x = 16 + a  # δuH
    yield -1 + 3 * x / 16 - x / 8, a / 16
    u, H = 1 / (1 + c), symbols("H", positive=True)
    delta, lam = x / (u * H), (70 + b) / (u**2 * H)
    spare = (x / 8) ** 2 - spread(delta, delta, H, lam)  # the square of the mean less the variance
    yield (70 + b) * spare, x * (16 + 80 * (1 - u) + 6 * a + 16 * b + a * b) / 64


def deviation(H: int, lam: float, draws: int, rng: np.random.Generator) -> float:
    """The variance of Ṽ_0 over H/λ: the largest of six histories, with the printed σ."""
    rho, sigma, worst = lam * (H**2 + 1), np.sqrt(H**2 + 1), 0.0
    for data in theorem1.histories(rng, H=H, S=1).values():
        data = data.floats()
        _, R_sh, P_sh, _, _ = theorem1.models(data, rho)
        V = theorem1.best(P_sh, R_sh + theorem1.noise(rng, data, rho, sigma, draws), np.zeros(1))[0]
        worst = max(worst, float(V[:, 0, 0].var() * lam / H))
    return worst


def with_least_ridge() -> float:
    """With ρ = m = 1 and the least σ, the largest that the smaller of HL and Theorem 1's bound is
    over √(H³SAT), times 1 + √(log A Λ): bounded, as σ ≤ H and (1 + log(1 + x))/√x is for x ≥ 1."""
    H, S, A, L = np.meshgrid(*[[1, 2, 5, 100, 10**4]] * 3, 10.0 ** np.arange(0, 40, 0.5))
    A, sigma = A + 1, theorem1.enough_sigma(H)
    most = np.minimum(H * L, sum(theorem1.terms(H, S, A, L, 1 / sigma**2, sigma)))
    logs = 1 + np.sqrt(np.log(A) * (1 + np.log1p(L / (S * A))))
    return float((most / (H**2 * np.sqrt(S * A * L) * logs)).max())


@claim("5.", PLACE, OURS, "Monte Carlo", HOLDS, part_of="5.theorem1")  # as the theorem's steps
def second_term() -> Evidence:
    """The second term of the bound is real: at the smallest λ and σ printed, with the prior
    Dirichlet(½, ½), one state and two actions, expected regret is at least a constant times H⁴ from
    some T of order H⁴ log H on. So no bound C Hᵃ√T for all H and T has a < 2."""
    algebra = identity(*in_step_3())
    horizons = [least_horizon() * 10**k for k in range(10)]
    found = [later(H) for H in horizons]
    powers = np.diff(
        [
            np.log10(one.regret / np.sqrt(float(H * one.L)))
            for H, one in zip(horizons, found, strict=True)
        ]
    )
    varies = deviation(8, LAM, 4000, np.random.default_rng(7))
    wrong = algebra.verdict != HOLDS or varies > 1 or min(powers) <= 1.5 or with_least_ridge() > 1
    failed = [] if wrong else fallen(theorem1.STEPS)
    return unless(
        wrong or bool(failed),
        f"From H = {least_horizon()} on the proved regret over √T "
        f"grows like the power {min(powers):.2f} of H or more; √(H³SAT) would allow 3/2.",
        f"It rests on the {len(theorem1.STEPS)} steps of Theorem 1. With λσ² = max(m_R, "
        "m_P) = 1, as the repaired proof allows, √(H³SAT) and logarithms do for all T.",
        failed=failed,
        powers=powers.tolist(),
        horizon=least_horizon(),
    )


# --------------------------------------------------------------------- measured


def over_rate(table: Any) -> Any:
    """The table with regret over √(H³SAT), S = 1 and A = 2."""
    return table.assign(ratio=table.regret / (table.H**2 * np.sqrt(2 * table.episode)))


@claim("5.", PLACE, OURS, "experiment", HOLDS, part_of="5.theorem1")
def price_measured(tables: Frames = STORED) -> Evidence:
    """With one state, two actions and the smallest λ and σ printed, mean regret after λσ² episodes
    is above what is proved, and after Hλσ² episodes regret over √(H³AT) grows with H."""
    table = over_rate(tables["price"])
    level, few, many = for_all(2 * table.H.nunique()), min(runs.HORIZONS), max(runs.HORIZONS)
    ends: dict[tuple[str, int], Mean] = {}
    for (rewards, H), of in table[table.times == table.H].groupby(["rewards", "H"]):
        ends[rewards, int(H)] = mean_interval(of.ratio, level)
    grows = all(ends[rewards, few].high < ends[rewards, many].low for rewards in ("prior", "sure"))
    first = table[(table.times == 1) & (table.rewards == "prior")]
    at_rho = {int(H): mean_interval(of.ratio, level) for H, of in first.groupby("H")}
    above = all(
        at_rho[H].low * H**2 * np.sqrt(2 * L) > at_least(H, L)
        for H, L in first[["H", "episode"]].drop_duplicates().itertuples(index=False)
    )
    low, high = (ends["prior", H] for H in (few, many))
    said = ", ".join(f"{one.mean:.2g}" for one in at_rho.values())
    sure = ", ".join(f"{ends['sure', H].mean:.2g}" for H in runs.HORIZONS)
    return unless(
        not (grows and above),
        f"Regret over the rate rises from {low.mean:.2g} "
        f"({low.low:.2g}–{low.high:.2g}) at H = {few} to {high.mean:.2g} "
        f"({high.low:.2g}–{high.high:.2g}) at H = {many}.",
        f"{table.seed.nunique()} runs of each H, 95% for all together. With sure rewards "
        f"{sure}; after λσ² episodes, from the prior, {said}.",
        low=low,
        high=high,
        at_rho={str(H): one for H, one in at_rho.items()},
    )
