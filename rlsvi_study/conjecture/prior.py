r"""Appendix B: Conjecture 1 where the paper's prior is true, and where features are closed.

RLSVI's model is :math:`\theta_h \sim N(0, I/\lambda)`. Three things can then be meant.

**The basis may be chosen after θ.** Then a prior protects little. Algorithm 1 does not change
if a basis is rotated, :math:`\Phi_h \to \Phi_h U_h`, so only the lengths of the weights matter, and a
second feature makes them as long as one likes: ``rotated_toll`` has the toll's regret for every
:math:`\theta_0, \dots, \theta_{H-1} \in \mathbb R^2` with :math:`\|\theta_0\| \ge c/G`. A third
state, which no episode reaches, has the feature :math:`(0, c_h)` with
:math:`c_h = \min(1, \sigma/(2|t_h|))` and the value :math:`c_h t_h`; it pays the difference of two
such values.

**Basis and transitions are fixed, then θ is drawn.** Then Φ, P and θ determine the rewards,

.. math:: r_h(s, a) = \Phi_h(s, a)\theta_h - \sum_{s'} P_h(s' \mid s, a) V^*_{h+1}(s'), \qquad
   V^*_h(s) = \max_a \Phi_h(s, a)\theta_h,

up to noise of mean zero. Every problem with a known basis in which θ is independent of the
transitions and has the prior's law is of this form. Rewards lie in [−σ, σ] only for some θ, so θ is
drawn until they do. *If each does with probability ½ at least, then* :math:`\|\phi\| \le
\sigma\sqrt\lambda/0.674`: given :math:`\theta_{h+1}`, a mean reward is normal with the variance
:math:`\|\phi\|^2/\lambda`, and no interval of that length is likelier than the centred one. One
observation then hands on at most
:math:`|\phi'^\top\phi|/(\|\phi\|^2 + \rho) \le \|\phi'\|/(2\sqrt\rho) < 0.75` of a target:
the toll's amplification after a single start is impossible. After many starts it is not: n walks
(feature w) and m leaps (feature 1) hand on :math:`(nw + m)/(nw^2 + m + \rho)` to a leap, which is more
than 1 if :math:`nw(1 - w) > \rho`.

**The features are closed** under Bellman's operator (``rlsvi_study.worlds.low_rank``).

The rule, fixed before the runs. σ = 1 and λ = 16 in the first two families, so that few draws of θ
have to be repeated.

- ``toll``: the toll's transitions; on the road w = 0.4 and a leap has 1; 200 000 episodes, of which
  1000 start at the side on average. Regret at the gate is counted, a part of the whole.
- ``random``: S = 4, A = 2, K = 2; transitions uniform on the simplex, features uniform on the unit
  circle, drawn anew for every seed; 2000 episodes, exact regret.
- ``closed``: S = 20, A = 4, K = 4, rewards in [0, 1], λ = σ = 1, and values cut to [0, H];
  2000 episodes, exact regret. θ is not the prior's.

H is 8, 16, 32 and 64, with 30 seeds each. The number looked at is mean regret over √T, T = LH, with
Student's 95% interval; for closed features it is divided by H² too, as in the bound
:math:`\tilde O(d^2H^2\sqrt T)` of Zanette et al. (2020). A family *rises* if its interval at the
largest H lies above those at all other H, *does not rise* if its mean at the largest H is at most
that at the smallest, and else nothing is said. Four H exclude no polynomial, whatever they show.

Seen after the runs: with as many episodes for every H, regret over :math:`H^2\sqrt T` falls for an
agent that acts by chance, too. So the closed features are reported and have no part in a verdict.
"""

import math

import numpy as np

from rlsvi_core import rlsvi
from rlsvi_core.compiled import Floats, Generator
from rlsvi_core.mdp import FiniteMDP

from ..engine import Rows, streams
from ..traps import toll
from ..worlds import low_rank
from .one_feature import openings

GATE = 0
LAM, WALK, SIDES = 16.0, 0.4, 1000
EPISODES = {"toll": 200_000, "random": 2000, "closed": 2000}


def solved_by(P: Floats, Phi: Floats, theta: Floats, initial: Floats) -> FiniteMDP:
    """The MDP with these transitions in which Q* = Φθ; rewards are sure.

    >>> mdp, Phi = toll(5, 20)
    >>> theta = np.random.default_rng(1).standard_normal((5, 1))
    >>> drawn = solved_by(mdp.P, Phi, theta, mdp.initial)
    >>> bool(np.allclose(drawn.Q, np.einsum("hsak,hk->hsa", Phi, theta)))
    True
    """
    Q = np.einsum("hsak,hk->hsa", Phi, theta)
    later = np.vstack([Q[1:].max(axis=2), np.zeros(P.shape[1])])
    r = Q - np.einsum("hsat,ht->hsa", P, later)
    return FiniteMDP(P, np.repeat(r[..., None], P.shape[-1], axis=-1), initial=initial)


def drawn(P: Floats, Phi: Floats, initial: Floats, rng: Generator) -> FiniteMDP:
    """The same for θ of the prior, drawn until all rewards lie in [−1, 1]."""
    while True:
        theta = rng.standard_normal((len(Phi), Phi.shape[-1])) / math.sqrt(LAM)
        mdp = solved_by(P, Phi, theta, initial)
        if np.abs(mdp.R).max() <= 1:
            return mdp


def prior_toll(H: int, L: int, rng: Generator) -> tuple[FiniteMDP, Floats]:
    """The toll's transitions with the features w and 1; 1000 of L episodes start at the side."""
    mdp, Phi = toll(H, L / SIDES, 1 / WALK)
    Phi = WALK * Phi
    return drawn(mdp.P, Phi, mdp.initial, rng), Phi


def random_basis(H: int, rng: Generator) -> tuple[FiniteMDP, Floats]:
    """Transitions uniform on the simplex, features uniform on the circle."""
    P, angle = rng.dirichlet(np.ones(4), (H, 4, 2)), rng.uniform(0, 2 * np.pi, (H, 4, 2))
    Phi = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return drawn(P, Phi, np.eye(4)[0], rng), Phi


def prior_regret(family: str, H: int, seed: int) -> Rows:
    """Regret of as many episodes as the family has."""
    basis, env, own = streams((seed, H))
    L = EPISODES[family]
    if family == "toll":
        mdp, Phi = prior_toll(H, L, basis)
        first = openings(mdp, Phi, L, env, own, lam=LAM)
        gaps = mdp.Q[0, GATE].max() - mdp.Q[0, GATE]
        return [{"regret": float(gaps[first.action[first.start == GATE]].sum())}]
    if family == "random":
        mdp, Phi = random_basis(H, basis)
        agent = rlsvi(Phi, LAM, 1.0, rng=own)
    else:
        mdp, Phi = low_rank(H, 20, 4, 4, basis)
        agent = rlsvi(Phi, 1.0, 1.0, value_range=(0.0, float(H)), rng=own)
    expected = agent.learn(mdp, L, env, exact=True).expected
    return [{"regret": float((mdp.value - expected).sum())}]


def rotated_toll(theta: Floats, world: tuple[FiniteMDP, Floats]) -> tuple[FiniteMDP, Floats]:
    """A toll with two features in whose basis these (H, 2) weights are the only ones."""
    mdp, Phi = world
    H, (own, *_) = mdp.H, np.linalg.lstsq(Phi[0].reshape(-1, 1), mdp.Q[0].ravel(), rcond=None)
    first = np.append(own, np.zeros(H - 1))
    t = np.sqrt((theta**2).sum(axis=1) - first**2)
    aside = np.minimum(1, 1 / (2 * t))
    P, R, F = np.zeros((H, 3, 2, 3)), np.zeros((H, 3, 2, 3)), np.zeros((H, 3, 2, 2))
    P[:, :2, :, :2], R[:, :2, :, :2], F[:, :2, :, :1] = mdp.P, mdp.R, Phi
    P[:, 2, :, 2], F[:, 2, :, 1] = 1.0, aside[:, None]
    R[:, 2, :, 2] = (aside * t - np.append((aside * t)[1:], 0.0))[:, None]
    for h, (x, y) in enumerate(theta):  # U θ_h = (first, t): a rotation, as complex numbers
        turn = complex(first[h], t[h]) / complex(x, y)
        F[h] = F[h] @ np.array([[turn.real, -turn.imag], [turn.imag, turn.real]])
    return FiniteMDP(P, R, initial=[*mdp.initial, 0.0]), F
