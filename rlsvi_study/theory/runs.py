r"""Section 5: Bayesian regret beside the explicit bound of ``theory.theorem1``, and what the σ of
Theorem 1 costs with one state and two actions (``theory.price``).

**theorem1-bound.** The prior is the symmetric one with :math:`\mathbf 1^\top\alpha^R =
\mathbf 1^\top\alpha^P = 1`, the MDPs those of the table ``theorem1``; regret and the regret of
uniform play are exact given the MDP and the policies played. λ and σ are the smallest that
Theorem 1 prints, or the smallest that its repaired proof needs: :math:`\lambda\sigma^2 = 1` and
:math:`\sigma^2 = \tfrac14 (1 + (H-1)^2)`.

**price.** S = 1, A = 2, λ = 2, :math:`\sigma^2 = H^2 + 1`, ρ = λσ², regret after ρ, 2ρ, 4ρ, …, Hρ
episodes. Rewards are from the same prior, or sure: −½ and −1, which is one MDP.

**rate.** λσ² = 1 and :math:`\sigma^2 = \tfrac14 (1 + (H-1)^2)`, the smallest of the repaired proof.
The MDPs are from the prior, or all :func:`tight`, in which the first term of the bound is proved to
be of the right order (``theory.price``); regret after SAH², 4SAH², 16SAH² and 64SAH² episodes, so up
to T = 64SAH³, and after SAH(H²+1). The rule, written before any of its runs: over the first term
without logarithms, σH√(SAL), mean regret has a power of H, S or A, the slope of its logarithm by
least squares over H = 8, 16, 32 (S = 1, A = 2), S = 1, 2, 4, 8 or A = 2, 4, 8 (H = 8), with a Student
interval by the delta method, 95% for all powers together. Where the interval of H's power after
64SAH² episodes has 0 in it and not −½, √(H³SAT) fits and √(H²SAT) does not; with −½ and not 0, the
other way round; with both or neither it is open.
"""

import numpy as np

from rlsvi_core import Options, features, rlsvi
from rlsvi_core.compiled import Floats, Generator
from rlsvi_core.mdp import FiniteMDP

from ..engine import Experiment, Rows, Scale, streams
from ..parameters import least_parameters, make_prior, theorem1_parameters


def regret_of(
    mdp: FiniteMDP,
    lam: float,
    sigma: float,
    episodes: int,
    env_rng: Generator,
    agent_rng: Generator,
) -> Floats:
    """The cumulative regret of RLSVI without generalization, which first draws from its prior."""
    one_hot = features.one_hot(mdp.H, mdp.S, mdp.A)
    agent = rlsvi(one_hot, lam, sigma, options=Options(first="prior"), rng=agent_rng)
    return (mdp.value - agent.learn(mdp, episodes, env_rng, exact=True).expected).cumsum()


PARAMETERS = {"printed": theorem1_parameters, "repaired": least_parameters}


def regret_beside_uniform(
    parameters: str, H: int, S: int, A: int, seed: int, episodes: int
) -> Rows:
    """RLSVI's regret on one MDP from the prior at episodes 1, 4, 16, …, and uniform play's."""
    prior = make_prior(H, S, A)
    mdp_rng, env_rng, agent_rng = streams((seed, H, S, A))
    mdp, (lam, sigma) = prior.sample(mdp_rng), PARAMETERS[parameters](prior)
    regret = regret_of(mdp, lam, sigma, episodes, env_rng, agent_rng)
    uniform = mdp.regret(np.full((H, S, A), 1 / A))
    return [
        {"episode": L, "regret": round(float(regret[L - 1]), 6), "uniform": round(L * uniform, 6)}
        for L in (4**k for k in range(9))
        if L <= episodes
    ]


BASE = 5, 5, 3
OTHERS = ((1, 1, 2), (1, 1, 10), (2, 2, 2), (3, 2, 2), (2, 5, 3), (4, 3, 4), (8, 2, 2), (3, 5, 1))


def _cells(sizes: tuple[tuple[int, int, int], ...], episodes: int) -> tuple[dict, ...]:
    return tuple(
        {"parameters": name, "H": H, "S": S, "A": A, "episodes": episodes}
        for name in PARAMETERS
        for H, S, A in sizes
    )


BOUND = Experiment(
    "theorem1-bound",
    "Section 5, Theorem 1",
    "Expected regret beside the explicit bound, by L",
    regret_beside_uniform,
    {
        "quick": Scale({}, _cells(OTHERS[:1], 4**7), range(2)),
        "paper": Scale({}, (*_cells((BASE,), 4**8), *_cells(OTHERS, 4**7)), range(32)),
    },
)


def sure(H: int) -> FiniteMDP:
    """One state; in every period one arm pays −½ and the other −1."""
    R = np.tile([-0.5, -1.0], (H, 1)).reshape(H, 1, 2, 1)
    return FiniteMDP(np.ones_like(R), R)


def price_of_sigma(rewards: str, H: int, seed: int) -> Rows:
    """RLSVI's regret with one state and two actions after ρ, 2ρ, 4ρ, …, Hρ episodes."""
    prior = make_prior(H, 1, 2)
    mdp_rng, env_rng, agent_rng = streams((seed, H))
    mdp = prior.sample(mdp_rng) if rewards == "prior" else sure(H)
    lam, sigma = theorem1_parameters(prior)
    rho = round(lam * sigma**2)
    regret = regret_of(mdp, lam, sigma, H * rho, env_rng, agent_rng)
    return [
        {"episode": k * rho, "times": k, "regret": round(float(regret[k * rho - 1]), 6)}
        for k in (2**i for i in range(H.bit_length()))
    ]


HORIZONS = 2, 4, 8, 16, 32


def _worlds(horizons: tuple[int, ...]) -> tuple[dict, ...]:
    return tuple({"rewards": rewards, "H": H} for rewards in ("prior", "sure") for H in horizons)


PRICE = Experiment(
    "price",
    "Section 5, Theorem 1",
    "Regret at the printed σ against H, one state, two actions",
    price_of_sigma,
    {
        "quick": Scale({}, _worlds(HORIZONS[:2]), range(4)),
        "paper": Scale({}, _worlds(HORIZONS), range(100)),
    },
)


def tight(H: int, S: int, A: int, gap: float) -> FiniteMDP:
    """S states that are never left, each as likely at the start. In the first half of the periods
    one arm pays 0 and the others −gap; from then on all pay −1. Nothing else is random."""
    R = np.full((H, S, A), -1.0)
    R[: H // 2] = -gap
    R[: H // 2, :, 0] = 0.0
    P = np.broadcast_to(np.eye(S)[None, :, None], (H, S, A, S))
    return FiniteMDP(P, R, initial=np.full(S, 1 / S))


TIMES = 1, 4, 16, 64


def regret_at_least_ridge(world: str, H: int, S: int, A: int, seed: int) -> Rows:
    """RLSVI's regret with λσ² = 1 at the lengths that ``rate`` compares."""
    prior, once = make_prior(H, S, A), S * A * H**2
    mdp_rng, env_rng, agent_rng = streams((seed, H, S, A))
    lam, sigma = least_parameters(prior)
    lengths = sorted({*(k * once for k in TIMES), S * A * H * (H**2 + 1)})
    mdp = (
        prior.sample(mdp_rng)
        if world == "prior"
        else tight(H, S, A, sigma * np.sqrt(S * A / lengths[-1]))
    )
    regret = regret_of(mdp, lam, sigma, lengths[-1], env_rng, agent_rng)
    return [{"episode": L, "regret": round(float(regret[L - 1]), 6)} for L in lengths]


def _sizes(sizes: tuple[tuple[int, int, int], ...]) -> tuple[dict, ...]:
    return tuple(
        {"world": world, "H": H, "S": S, "A": A}
        for world in ("prior", "tight")
        for H, S, A in sizes
    )


RATE = Experiment(
    "rate",
    "Section 5, Theorem 1",
    "Regret at the smallest λ and σ over the bound's first term, by H, S and A",
    regret_at_least_ridge,
    {
        "quick": Scale({}, _sizes(((4, 1, 2), (8, 1, 2))), range(4)),
        "paper": Scale(
            {},
            _sizes(
                (
                    *((H, 1, 2) for H in (4, 8, 16, 32)),
                    *((8, S, 2) for S in (2, 4, 8)),
                    *((8, 1, A) for A in (4, 8)),
                )
            ),
            range(40),
        ),
    },
)


EXPERIMENTS = {one.name: one for one in (BOUND, PRICE, RATE)}
