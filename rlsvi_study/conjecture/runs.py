r"""Appendix B: how fast RLSVI's regret grows on the gambles and at the toll of ``traps``.

All of them meet what Conjecture 1 asks for, with σ = 1 and λ = 1; on the long gamble
:math:`\lambda = 3/H^2`, for which :math:`\sum_h\theta_h^2 \le H/\lambda`. Regret is exact: it
depends on the actions of period 0 alone. At the toll three agents are compared, by what they
generalize:

- ``given``: RLSVI with the world's one feature.
- ``truncated``: the same, but :math:`\tilde V_h` is cut to :math:`\pm(H - h)\sigma`, the range that
  rewards within ±σ allow.
- ``one-hot``: RLSVI without generalization.

``one_feature`` has the first two agents, and ``prior`` the table ``prior``.
"""

import math

from rlsvi_core import features, rlsvi
from rlsvi_core.compiled import Ints

from ..engine import Experiment, Rows, Scale, grid, streams
from ..traps import gamble, long_gamble, toll
from .one_feature import openings
from .prior import GATE, prior_regret

PASS, PLAY = QUIT, LEAP = 0, 1
TOLL_G = 16.0


def _by_decade(passes: Ints, loss: float) -> Rows:
    """Regret after 10, 100, … episodes, if each pass costs so much."""
    return [
        {"episode": L, "regret": round(int(passes[L - 1]) * loss, 6)}
        for L in (10**k for k in range(1, 19))
        if L <= len(passes)
    ]


def gamble_regret(factor: float, seed: int, episodes: int) -> Rows:
    """Regret on the gamble, for an agent whose σ is so many times that of the rewards."""
    mdp, Phi = gamble()
    _, env, own = streams(seed)
    first = openings(mdp, Phi, episodes, env, own, sigma=factor)
    return _by_decade((first.action == PASS).cumsum(), mdp.value)


def long_gamble_regret(H: int, seed: int, episodes: int) -> Rows:
    """Regret on the long gamble."""
    mdp, Phi = long_gamble(H)
    _, env, own = streams((seed, H))
    first = openings(mdp, Phi, episodes, env, own, lam=3 / H**2)
    return _by_decade((first.action == PASS).cumsum(), mdp.value)


def looked_at(H: int) -> int:
    """After how many episodes the proof looks at the toll: κ^H 8^{H/2 − 1}/8, κ = G²/(1 + G²)."""
    kappa = TOLL_G**2 / (1 + TOLL_G**2)
    return math.floor(kappa**H * 8 ** (H / 2 - 2))


def toll_regret(agent: str, H: int, seed: int) -> Rows:
    """Leaps in as many episodes as the proof looks at, and how many started at the side."""
    mdp, Phi = toll(H, L := looked_at(H), TOLL_G)
    _, env, own = streams((seed, H))
    if agent == "one-hot":
        learner = rlsvi(features.one_hot(mdp.H, mdp.S, mdp.A), 1.0, 1.0, rng=own)
        paid = learner.learn(mdp, L, env).reward
        return [{"sides": int((paid == -1 / TOLL_G).sum()), "regret": int((paid == -1).sum())}]
    first = openings(mdp, Phi, L, env, own, most=1.0 if agent == "truncated" else math.inf)
    leaps = (first.start == GATE) & (first.action == LEAP)
    return [{"sides": int((first.start != GATE).sum()), "regret": int(leaps.sum())}]


PLACE = "Appendix B, Conjecture 1"
GAMBLE = Experiment(
    "gamble",
    PLACE,
    "Regret on the gamble, for the σ of a reward and doubled",
    gamble_regret,
    {
        "quick": Scale({"episodes": 10**4}, grid(factor=(1.0, 2.0)), range(20)),
        "paper": Scale({"episodes": 10**6}, grid(factor=(1.0, 2.0)), range(400)),
    },
)
LONG_GAMBLE = Experiment(
    "long-gamble",
    PLACE,
    "Regret on the long gamble, by H",
    long_gamble_regret,
    {
        "quick": Scale({"episodes": 10**4}, grid(H=(4, 8)), range(20)),
        "paper": Scale({"episodes": 10**6}, grid(H=(4, 8)), range(400)),
    },
)
TOLL = Experiment(
    "toll",
    PLACE,
    "Leaps at the toll, by H and by what is generalized",
    toll_regret,
    {
        "quick": Scale({}, grid(agent=("given", "truncated"), H=(7, 9)), range(4)),
        "paper": Scale(
            {}, grid(agent=("given", "truncated", "one-hot"), H=range(7, 16, 2)), range(400)
        ),
    },
)
PRIOR = Experiment(
    "prior",
    PLACE,
    "Regret where θ is drawn from the prior or features are closed, by H",
    prior_regret,
    {
        "quick": Scale({}, grid(family=("random", "closed"), H=(8, 16)), range(4)),
        "paper": Scale({}, grid(family=("toll", "random", "closed"), H=(8, 16, 32, 64)), range(30)),
    },
)
EXPERIMENTS = {e.name: e for e in (GAMBLE, LONG_GAMBLE, TOLL, PRIOR)}
