r"""Appendix B: how fast RLSVI's regret grows on the gambles and at the toll of ``counterexamples``.

All of them meet what Conjecture 1 asks for, with σ = 1 and λ = 1; on the long gamble
:math:`\lambda = 3/H^2`, for which :math:`\sum_h\theta_h^2 \le H/\lambda`. Regret is exact: it
depends on the actions of period 0 alone. At the toll three agents are compared, by what they
generalize:

- ``given``: RLSVI with the world's one feature.
- ``truncated``: the same, but :math:`\tilde V_h` is cut to :math:`\pm(H - h)\sigma`, the range that
  rewards within ±σ allow.
- ``one-hot``: RLSVI without generalization.

``play_one_feature`` has the first two agents.

**The costly road**, with λ = 1, σ = H√d and ‖φ‖ ≤ 1, as linear MDPs are usually tuned: d = 3, so
ρ = 3H²; b = 1, r = 0.15, c = 0.05, p = 0.1. A run has 32ρ/p episodes, so that about 32ρ start at the side.

- ``printed``: RLSVI as printed.
- ``truncated``: the same, but :math:`\tilde V_h` is cut to [−H, 0], the range that costs allow.
- ``wide``: the same, but cut to ±H.
- ``bootstrap``: random weights on the data, with the range [−H, 0].

*What counts*, fixed before any of these runs (another program had measured ``printed`` with other
seeds): the mean of regret/√T **grows** if it rises at least 1.5-fold from each H to the next. It **does
not grow** if at the largest H it is at most twice as high as at H = 10: as σ is of the order of H, it
takes about H² leaps to learn what a leap at the gate costs, which alone is a factor of √3 = 1.73 at
H = 30. Anything between is reported as such.

**The road with one action**: what RLSVI as printed does with the same seeds if both actions of the
road are a walk, or both a leap, so that a period never hands on the larger of two different values.
*What counts*, fixed before these runs but for the two of seed 0 at H = 10 (another program had measured
both, with other seeds, to be as low as ``truncated``): the rule above, from H = 10 to 30, where the road
with two actions **grows** by it. If regret/√T **does not grow** with either action alone, the choice
between walk and leap is what makes it grow.

**The largest error** of a sampled value, :math:`|\max_a \tilde Q_0(s_0, a) - V^*_0(s_0)|`, over the last
800 of 32ρ episodes, with λ = 1 and σ = 10, so ρ = 100: on the costly road, where each of them starts
at the side, and in the random linear MDPs of ``low_rank``, one for each seed, in the simplex and in
random coordinates. *What counts*, fixed before these seeds: the error, a mean of logarithms, **grows**
if from each H to the next (10, 20, 40, 80) it multiplies by more than before; it **does not grow** if
it is at H = 80 at most 1.5 times as large a share of H as at H = 10.
"""

import math
from collections.abc import Callable

from rlsvi_core import bootstrap, features, rlsvi
from rlsvi_core.agents import Agent
from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.runtime.compilation import Generator, Ints

from ..counterexamples import gamble, long_gamble, toll
from ..engine import Plot, Rows, define_experiment, grid, quick_scale, streams
from .costly_road import ALIVE, costly_road_mdp
from .low_rank import low_rank
from .one_feature import simulate_openings
from .toll import TOLL_G, proof_episodes

PASS = 0  # the other action plays
GATE = 0  # the other start is the side
LEAP = 1  # at the gate; the other action quits


def _regret_by_decade(passes: Ints, loss: float) -> Rows:
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
    first = simulate_openings(mdp, Phi, episodes, env, own, sigma=factor)
    return _regret_by_decade((first.action == PASS).cumsum(), mdp.optimal_value)


def long_gamble_regret(H: int, seed: int, episodes: int) -> Rows:
    """Regret on the long gamble."""
    mdp, Phi = long_gamble(H)
    _, env, own = streams((seed, H))
    first = simulate_openings(mdp, Phi, episodes, env, own, lam=3 / H**2)
    return _regret_by_decade((first.action == PASS).cumsum(), mdp.optimal_value)


def toll_regret(agent: str, H: int, seed: int) -> Rows:
    """Leaps in as many episodes as the proof looks at, and how many started at the side."""
    most = {"given": math.inf, "truncated": 1.0, "one-hot": math.inf}[agent]
    mdp, Phi = toll(H, L := proof_episodes(H), TOLL_G)
    _, env, own = streams((seed, H))
    if agent == "one-hot":
        learner = rlsvi(features.one_hot(mdp.H, mdp.S, mdp.A), 1.0, 1.0, rng=own)
        paid = learner.learn(mdp, L, env).reward
        return [{"sides": int((paid == -1 / TOLL_G).sum()), "regret": int((paid == -1).sum())}]
    first = simulate_openings(mdp, Phi, L, env, own, most=most)
    leaps = (first.start == GATE) & (first.action == LEAP)
    return [{"sides": int((first.start != GATE).sum()), "regret": int(leaps.sum())}]


LAST = 800  # episodes whose values are looked at


def costly_road_regret(agent: str, H: int, seed: int, p: float) -> Rows:
    """Leaps at the gate, each of which costs 1: all, and those of the last eighth of the episodes."""
    mdp, Phi = costly_road_mdp(H, p)
    _, env, own = streams((seed, H))
    sigma = H * math.sqrt(Phi.shape[-1])
    L = round(32 * sigma**2 / p)
    agents: dict[str, Callable[[], Agent]] = {
        "printed": lambda: rlsvi(Phi, 1.0, sigma, rng=own),
        "truncated": lambda: rlsvi(Phi, 1.0, sigma, value_range=(-H, 0.0), rng=own),
        "wide": lambda: rlsvi(Phi, 1.0, sigma, value_range=(-H, H), rng=own),
        "bootstrap": lambda: bootstrap(Phi, (-H, 0.0), rng=own),
    }
    return _leaps(agents[agent](), mdp, L, env)


def one_action_road_regret(action: str, H: int, seed: int, p: float) -> Rows:
    """Leaps at the gate of RLSVI as printed, if both actions of the road are a walk, or a leap."""
    mdp, Phi = costly_road_mdp(H, p)
    only = ["walk", "leap"].index(action)
    Phi[1:, ALIVE, :] = Phi[1:, ALIVE, [only]]
    _, env, own = streams((seed, H))
    sigma = H * math.sqrt(Phi.shape[-1])
    return _leaps(rlsvi(Phi, 1.0, sigma, rng=own), mdp, round(32 * sigma**2 / p), env)


def _leaps(agent: Agent, mdp: FiniteMDP, L: int, env: Generator) -> Rows:
    """Leaps at the gate in L episodes, and in the last eighth of them."""
    leaps = agent.learn(mdp, L, env).reward == -1.0  # who starts at the side pays more
    return [{"episodes": L, "regret": int(leaps.sum()), "late": int(leaps[-(L // 8) :].sum())}]


def largest_error(world: str, H: int, seed: int, sigma: float) -> Rows:
    """The largest error of what the printed agent's draws promise at the start."""
    basis, env, own = streams((seed, H))
    mdp, Phi = (
        costly_road_mdp(H, 1.0)
        if world == "costly road"
        else low_rank(H, world == "random coordinates", basis)
    )
    learned = rlsvi(Phi, 1.0, sigma, rng=own).learn(mdp, round(32 * sigma**2), env)
    return [{"error": float(abs(learned.predicted_value[-LAST:] - mdp.optimal_value).max())}]


PLACE = "Appendix B, Conjecture 1"
EXPERIMENTS = {
    one.name: one
    for one in (
        define_experiment(
            "gamble",
            place=PLACE,
            title="Regret on the gamble, for the σ of a reward and doubled",
            run=gamble_regret,
            constants={"episodes": 10**6},
            length="episodes",
            cells=grid(factor=(1.0, 2.0)),
            seeds=range(400),
            quick=quick_scale(cells=grid(factor=(1.0, 2.0)), seeds=range(20), episodes=10**4),
            plot=Plot(
                "episode",
                "regret",
                ("factor",),
                show="mean",
                log="xy",
                xlabel="episodes L",
                ylabel="expected regret",
            ),
        ),
        define_experiment(
            "long-gamble",
            place=PLACE,
            title="Regret on the long gamble, by H",
            run=long_gamble_regret,
            constants={"episodes": 10**6},
            length="episodes",
            cells=grid(H=(4, 8)),
            seeds=range(400),
            quick=quick_scale(cells=grid(H=(4, 8)), seeds=range(20), episodes=10**4),
            plot=Plot(
                "episode",
                "regret",
                ("H",),
                show="mean",
                log="xy",
                xlabel="episodes L",
                ylabel="expected regret",
            ),
        ),
        define_experiment(
            "toll",
            place=PLACE,
            title="Leaps at the toll, by H and by what is generalized",
            run=toll_regret,
            cells=grid(agent=("given", "truncated", "one-hot"), H=range(7, 16, 2)),
            seeds=range(400),
            quick=quick_scale(cells=grid(agent=("given", "truncated"), H=(7, 9)), seeds=range(4)),
            plot=Plot(
                "H", "regret", ("agent",), show="mean", log="y", xlabel="horizon H", ylabel="leaps"
            ),
        ),
        define_experiment(
            "costly-road",
            place=PLACE,
            title="Leaps on the costly road, by H and by agent",
            run=costly_road_regret,
            constants={"p": 0.1},
            cells=grid(agent=("printed",), H=(10, 20, 30, 40))
            + grid(agent=("truncated", "wide", "bootstrap"), H=(10, 20, 30)),
            seeds=range(6),
            quick=quick_scale(
                cells=grid(agent=("printed", "truncated", "wide", "bootstrap"), H=(5, 10)),
                seeds=range(2),
            ),
            plot=Plot(
                "H", "regret", ("agent",), show="mean", log="y", xlabel="horizon H", ylabel="leaps"
            ),
        ),
        define_experiment(
            "one-action-road",
            place=PLACE,
            title="Leaps on the costly road if it has one action, by H",
            run=one_action_road_regret,
            constants={"p": 0.1},
            cells=grid(action=("walk",), H=(10, 20, 30, 40))
            + grid(action=("leap",), H=(10, 20, 30)),
            seeds=range(6),
            quick=quick_scale(cells=grid(action=("walk", "leap"), H=(5, 10)), seeds=range(2)),
            plot=Plot("H", "regret", ("action",), show="mean", xlabel="horizon H", ylabel="leaps"),
        ),
        define_experiment(
            "largest-error",
            place=PLACE,
            title="The largest error of a sampled value, by H, on the costly road and in random MDPs",
            run=largest_error,
            constants={"sigma": 10.0},
            cells=grid(world=("costly road", "simplex", "random coordinates"), H=(10, 20, 40, 80)),
            seeds=range(100),
            quick=quick_scale(
                cells=grid(world=("costly road", "simplex", "random coordinates"), H=(10, 20)),
                seeds=range(4),
            ),
            plot=Plot(
                "H", "error", ("world",), log="y", xlabel="horizon H", ylabel="largest error"
            ),
        ),
    )
}
