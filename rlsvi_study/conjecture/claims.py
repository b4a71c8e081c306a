r"""Appendix B: Conjecture 1 judged, as printed and as meant.

The conjecture: if :math:`Q^*_h = \Phi_h\theta_h` for exactly one θ, with
:math:`\sum_h \|\theta_h\|^2 \le KH/\lambda` and rewards in [−σ, σ], then RLSVI's regret is at most
:math:`\sqrt T\,\mathrm{poly}(K, H, \max\|\Phi\|, \sigma, 1/\lambda)`. As printed the polynomial may
depend on the MDP, so on one MDP it says √T; meant is one polynomial for all. The page *B. Proofs* has
the proofs that both are false; ``gambles``, ``toll`` and ``costly_road`` have the functions that
check their steps.
"""

import math

import numpy as np
from scipy.linalg import hadamard

from ..counterexamples import gamble, long_gamble, needle, toll
from ..engine import StoredTables
from ..judging.evidence import failed_steps
from ..judging.outcomes import DEPENDS, FAILS, Judgement, combine_readings
from ..judging.register import Frames, claim
from .costly_road import STEPS as COSTLY_ROAD
from .experiments import EXPERIMENTS
from .gambles import STEPS as GAMBLES
from .gambles import WORST, fitted_exponent, gamble_runs, regret_exponent
from .hypotheses import meets_hypotheses
from .toll import STEPS as TOLL
from .toll import proof_episodes, regret_lower_bound, regret_per_sqrt_T

STORED = StoredTables(EXPERIMENTS)
PLACE = "Appendix B, Conjecture 1"


def check_worlds_are_instances() -> bool:
    """The gamble, the toll and the needle meet every hypothesis of Conjecture 1 with λ = σ = 1, the
    long gamble with λ = 3/H², the gambles and the toll up to H = 40; V* and θ are as the proofs
    have them. The needle has 32 actions in dimension 16, and θ = v* to rounding."""
    vectors = np.vstack([np.eye(16), hadamard(16) / 4])  # products between the two halves are ±1/4
    worlds = [
        (gamble(), 1.0),
        *((long_gamble(H), 3 / H**2) for H in range(2, 41)),
        *((toll(H, proof_episodes(H)), 1.0) for H in range(7, 41, 2)),
        (needle(vectors, 5, H=3), 1.0),
    ]
    (play, _), (long, _), (last, Phi) = (worlds[i][0] for i in (0, 7, -1))
    off = (
        np.abs(Phi @ vectors[5] - last.Q).max()
        + abs(play.optimal_value - 0.2)
        + abs(long.optimal_value - 0.8)
    )
    meet = all(meets_hypotheses(world, lam) for world, lam in worlds)
    return bool(meet and off <= 1e-12 and last.optimal_value >= 0.25)


STEPS_PRINTED = check_worlds_are_instances, *GAMBLES
STEPS_MEANT = check_worlds_are_instances, *TOLL, *COSTLY_ROAD


@claim(
    "B.conjecture-printed",
    place=PLACE,
    paper="for each M there is poly: Regret ≤ √T · poly",
    kind="certified",
    verdict=FAILS,
    part_of="B.conjecture-meant",
)
def conjecture_printed(tables: Frames = STORED) -> Judgement:
    """For each MDP that meets the hypotheses there is a polynomial with Regret ≤ √T · poly(K, H,
    max ‖Φ‖, σ, 1/λ).

    On one MDP with one feature and eight periods, the long gamble, regret is proved to grow at least
    like the power {least[8]:.2f} of T; measured, {slopes[8]:.2g}.

    Ours. With one period, {least[1]:.2f}; with H periods more than 1 − 1.6/H, so for every power below 1
    there is an MDP. A σ that fits returns, not rewards, bounds regret on the gambles."""
    failed = failed_steps(STEPS_PRINTED)
    powers = {H: float(regret_exponent(H, x)) for H, x in WORST.items()}
    refuted = not failed and min(powers.values()) > 0.5
    return Judgement(
        FAILS if refuted else DEPENDS,
        {
            "failed": failed,
            "powers": powers,
            "least": {H: math.floor(100 * one) / 100 for H, one in powers.items()},
            "slopes": {H: fitted_exponent(own) for H, own in gamble_runs(tables).items()},
        },
    )


@claim(
    "B.conjecture-meant",
    place=PLACE,
    paper="Regret ≤ √T · poly(K, H, max ‖Φ‖, σ, 1/λ)",
    kind="certified",
    verdict=FAILS,
    main=True,
)
def conjecture_meant(tables: Frames = STORED) -> Judgement:
    """If Q*_h = Φ_hθ_h for exactly one θ with Σ‖θ‖² ≤ KH/λ and rewards lie in [−σ, σ], then there is a
    polynomial with Regret ≤ √T · poly(K, H, max ‖Φ‖, σ, 1/λ).

    With one polynomial for all MDPs, as meant (out for every algorithm if K grows, too, by Weisz et al.
    and Wang et al., 2021): at the toll regret/√T is proved to grow exponentially in
    H, and measured to rise from {first:.2g} at H = {horizons[0]} to {last:.2g} at H = {horizons[1]};
    with one for each MDP, as printed, a gamble refutes the conjecture (B.conjecture-printed).

    Both are ours, proved for every λ and σ: with K = 1, and with K of order H² log H in linear MDPs
    with features of length 1 at most, too. Measured with λ = σ = 1, {runs} runs of
    (256/257)^H 8^(H/2−2) episodes, Student's intervals. The needle defeats every algorithm as K and H grow."""
    failed = failed_steps(STEPS_MEANT)
    growth = [
        regret_lower_bound(proof_episodes(H + 2))
        / regret_lower_bound(proof_episodes(H))
        * math.sqrt(H * proof_episodes(H) / ((H + 2) * proof_episodes(H + 2)))
        for H in (20, 40, 60)
    ]
    rising = regret_per_sqrt_T(tables["toll"])
    horizons = min(rising), max(rising)
    refuted = not failed and min(growth) > 1
    readings = {
        "as meant": FAILS if refuted else DEPENDS,
        "as printed": conjecture_printed(tables).verdict,
    }
    return Judgement(
        combine_readings(readings),
        {
            "failed": failed,
            "growth": growth,
            "over_root_T": rising,
            "horizons": horizons,
            "first": rising[horizons[0]],
            "last": rising[horizons[1]],
            "runs": tables["toll"].seed.nunique(),
        },
    )
