"""Lemma 2 for vectors: what its repaired induction needs besides Lemma 1, and a line that it replaces. The
page ``05-proofs`` has the proof."""

from collections.abc import Callable
from operator import itemgetter

from sympy import expand, symbols

from rlsvi_core.optimism.order import FiniteDistribution

from ..judging.algebra import Sides
from ..judging.evidence import has_positive_coefficients
from ..judging.outcomes import FAILS, HOLDS, Judgement, judge_unless
from ..judging.register import claim


def shrunk_noise_identities() -> list[Sides]:
    """Shrinking by k = (n+m)/(n+λσ²) ≤ 1 keeps the variance below that of RLSVI's noise if
    σ² ≥ ¼(1 + (H−1)²), and keeps the mean below RLSVI's.

    1/(n+λσ²) − k²/(n+m) = (λσ² − m)/(n+λσ²)² ≥ 0, and the means differ by at most m/(n+λσ²) ≥ 0 in
    RLSVI's favour, as a prior of weight m has at most that much on −1."""
    n, m, more, c = symbols("n m more c", positive=True)  # λσ² = m + more; the data's mean is −c
    total = n + m + more
    k = (n + m) / total
    return [
        (1 / total - k**2 / (n + m), more / total**2),
        (-n * c / total - k * (-n * c - m) / (n + m), m / total),
    ]


@claim(
    "5.theorem-conditions",
    place="Section 5, Lemma 2",
    paper="λ ≥ m_R + m_P, σ² ≥ H² + 1 are enough",
    kind="symbolic",
    verdict=HOLDS,
    part_of="5.lemma2",
)
def theorem_conditions() -> Judgement:
    """The theorem's λ and σ satisfy the repaired conditions.

    H² + 1 > ¼(1 + (H−1)²), by ({by})/4, and (m_R + m_P)(H² + 1) > max(m_R, m_P)."""
    H, later, m_R, m_P = symbols("H later m_R m_P", positive=True)  # later = H − 1
    sigma2 = (later + 1) ** 2 + 1
    of_sigma = 4 * sigma2 - (1 + later**2)
    of_lambda = [(m_R + m_P) * sigma2 - m for m in (m_R, m_P)]
    by = str(expand(of_sigma.subs(later, H - 1))).replace("**2", "²").replace("*", "")
    positive = all(
        has_positive_coefficients(spare, later, m_R, m_P) for spare in (of_sigma, *of_lambda)
    )
    return judge_unless(not positive, by=by)


def is_optimistic(X: FiniteDistribution, Y: FiniteDistribution) -> bool:
    """Whether X is stochastically optimistic for Y, exactly: the gap turns at their values only, and below
    them it is the gap of the means."""
    levels = {*X.values, *Y.values}
    return X.mean >= Y.mean and all(X.excess(z) >= Y.excess(z) for z in levels)


@claim(
    "5.marginals-control-the-maximum",
    place="Section 5, proof of Lemma 2",
    paper="Q̃(s,a) ≽so Q*(s,a) ⇒ Ṽ(s) ≽so V*(s)",
    kind="exact",
    verdict=FAILS,
    part_of="5.lemma2",
)
def marginals_control_the_maximum() -> Judgement:
    """Optimism of each Q̃(s, a) for Q*(s, a) makes their maximum over actions optimistic.

    A fair coin used for both actions has the marginals of two independent coins, but its maximum has mean
    {same:g} against {independent:g}: the induction must carry the whole vector."""
    same = [(0, 0), (1, 1)]  # equally likely
    independent = [(0, 0), (0, 1), (1, 0), (1, 1)]

    def law(
        of: Callable[[tuple[int, int]], int], joint: list[tuple[int, int]]
    ) -> FiniteDistribution:
        return FiniteDistribution([of(pair) for pair in joint], [1] * len(joint))

    marginals = all(
        is_optimistic(law(itemgetter(i), same), law(itemgetter(i), independent)) for i in (0, 1)
    )
    of_same, of_independent = law(max, same), law(max, independent)
    return judge_unless(
        marginals and not is_optimistic(of_same, of_independent),
        same=float(of_same.mean),
        independent=float(of_independent.mean),
    )
