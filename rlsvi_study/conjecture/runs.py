r"""Appendix B: how fast RLSVI's regret grows in ``gamble`` and ``toll`` of ``traps``.

Both worlds meet all that Conjecture 1 asks for, with λ = σ = 1. Regret is exact: it depends on the
actions of period 0 alone. At the toll three agents are compared, by what they generalise:

- ``given``: RLSVI with the world's one feature.
- ``one-hot``: RLSVI without generalization.
- ``truncated``: the given feature, but :math:`\tilde V_h` is cut to :math:`\pm(H - h)\sigma`, the
  range that rewards within ±σ allow.

With one feature the regression is a division, and ``one_feature`` is Algorithms 1 and 2 written out
for it: the library's agent draw for draw, but several times as fast, and with the cut.

The first episode is uniformly random (the footnote's rule). If it walks at the toll, every later
period has seen one transition for ever, as nobody walks again.
"""

import math

import numpy as np

from rlsvi_core import rlsvi
from rlsvi_core.agents.base import choose, highest
from rlsvi_core.compiled import Floats, Generator, Ints, jit
from rlsvi_core.features import OneHot
from rlsvi_core.mdp import FiniteMDP, Model, first_state, last_reward, step
from rlsvi_core.regression import draw_weight

from ..experiment import Experiment, Rows, Scale, grid, streams
from .traps import gamble, toll

WALK, LEAP = 1, 2


@jit
def one_feature(model: Model, phi: Floats, sigma: float, limit: Floats, env: Generator,
                own: Generator, opening: Ints) -> None:
    """RLSVI with one feature, λ = 1 and V_h cut to ±limit[h]; fill in each episode's first
    action."""
    H, S, A = phi.shape
    M, c, g = np.full(H, sigma * sigma), np.zeros(H), np.zeros((H, S))  # Σφ² + λσ², Σφr, Σφ by s'
    theta, q, p = np.zeros(H), np.empty(A), np.empty(A)
    for i in range(opening.shape[0]):
        for h in range(H - 1 if i > 0 else -1, -1, -1):  # weights stay 0 before any data
            total = c[h]
            for s in range(S):
                if h < H - 1:
                    for a in range(A):
                        q[a] = phi[h + 1, s, a] * theta[h + 1]
                    total += g[h, s] * min(max(highest(q), -limit[h + 1]), limit[h + 1])
            theta[h] = draw_weight(M[h], total, sigma, own.standard_normal())
        s = first_state(model, env)
        for h in range(H):
            for a in range(A):
                q[a] = phi[h, s, a] * theta[h]
            a = choose(q, 0.0, 0.0, p, own.random())
            r, s_next = step(model, h, s, a, env)
            if h == H - 1:
                r += last_reward(model, s_next, env)
            x = phi[h, s, a]
            M[h] += x * x
            c[h] += x * r
            g[h, s_next] += x
            opening[i] = a if h == 0 else opening[i]
            s = s_next


def openings(mdp: FiniteMDP, Phi: Floats, sigma: float, episodes: int, env: Generator,
             own: Generator, most: float = math.inf) -> Ints:
    """The first action of each episode of RLSVI with one feature; V_h is cut to ±most (H − h)."""
    found, limit = np.zeros(episodes, np.int64), most * np.arange(mdp.H, 0.0, -1.0)
    one_feature(mdp.model, Phi[..., 0], sigma, limit, env, own, found)
    return found


def gamble_regret(factor: float, seed: int, episodes: int) -> Rows:
    """Regret on the gamble after 10, 100, … episodes, for an agent whose σ is so many times that of
    the rewards."""
    mdp, Phi = gamble()
    _, env, own = streams(seed)
    passes = (openings(mdp, Phi, factor, episodes, env, own) == 0).cumsum()
    return [{"episode": L, "regret": round(int(passes[L - 1]) * mdp.value, 6)}
            for L in (10**k for k in range(1, 19)) if L <= episodes]


def toll_regret(agent: str, H: int, seed: int, episodes: int) -> Rows:
    """Leaps and regret at the toll, whether the first episode walked, and the regret of the first
    4^(H−2)/9 episodes (``early``)."""
    mdp, Phi = toll(H)
    _, env, own = streams((seed, H))
    if agent == "one-hot":
        learner = rlsvi(OneHot(mdp.H, mdp.S, mdp.A), 1.0, 1.0, rng=own)
        first = learner.learn(mdp, episodes, env).opening
    else:
        most = 1.0 if agent == "truncated" else math.inf
        first = openings(mdp, Phi, 1.0, episodes, env, own, most)
    regret = (mdp.V[0, 0] - mdp.Q[0, 0])[first].cumsum()
    return [{"walked": bool(first[0] == WALK), "leaps": int((first == LEAP).sum()),
             "early": float(regret[max(1, 4 ** (H - 2) // 9) - 1]), "regret": float(regret[-1])}]


GAMBLE = Experiment(
    "gamble", "Appendix B, Conjecture 1", "Regret on the gamble, for the σ of a reward and doubled",
    gamble_regret, {
        "quick": Scale({"episodes": 10**4}, grid(factor=(1.0, 2.0)), range(20)),
        "paper": Scale({"episodes": 10**6}, grid(factor=(1.0, 2.0)), range(400))})
TOLL = Experiment(
    "toll", "Appendix B, Conjecture 1", "Leaps at the toll, by H and by what is generalised",
    toll_regret, {
        "quick": Scale({"episodes": 2**17}, grid(agent=("given",), H=(2, 4)), range(4)),
        "paper": Scale({"episodes": 2**17}, (*grid(agent=("given",), H=range(2, 13, 2)), *grid(
            agent=("one-hot", "truncated"), H=(4, 8, 12))), range(96))})
EXPERIMENTS = {e.name: e for e in (GAMBLE, TOLL)}
