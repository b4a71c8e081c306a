r"""Appendix E: the two bandits that RLSVI is compared with.

The **linear contextual bandit** is RLSVI whose target is the reward alone: nothing is propagated
backward. As printed its mean has the ridge :math:`\lambda\sigma^2` where its covariance has
:math:`\lambda`; the posterior of the paper's own model has :math:`\lambda` in both. Multiplied by
:math:`\sigma^2`, the printed mean adds :math:`\lambda\sigma^4` to :math:`A^\top A`, the
corrected one :math:`\lambda\sigma^2`.

The **Bernoulli bandit** is Thompson sampling with a Beta posterior for each product. It sorts the
products by sampled popularity before the customer arrives and never looks at her answers while it
serves her: a fixed order, which earns J/2 whatever it has learned (see ``envs.recommender``).
"""

from typing import Literal

import numpy as np

from ..compiled import jit
from ..envs.recommender import Recommender, answer
from ..regression import check_positive
from .products import BasisAgent, BlockAgent, Run, _blank, _exact_part


def linear_bandit(N: int, J: int, lam: float = 0.2, sigma: float = 1e-3**0.5, *,
                  mean: Literal["corrected", "printed"] = "corrected",
                  form: type[BasisAgent] = BlockAgent, **reading) -> BasisAgent:
    """The paper's linear contextual bandit: ``products.rlsvi`` without the next period's values."""
    check_positive(lam=lam, sigma=sigma)
    if mean not in ("corrected", "printed"):
        raise ValueError(f"mean must be 'corrected' (the posterior's) or 'printed' (line 4 of the "
                         f"paper's algorithm); it is {mean!r}. Choose one of the two.")
    ridges = (lam * sigma**2,) if mean == "corrected" else (lam * sigma**4, lam * sigma**2)
    return form(N, J, ridges, sigma, bootstrap=False, **reading)


@jit
def fixed_order(states, P, order, J):
    """Expected likes of showing products in a fixed order, over the 2^J − 1 states it can reach."""
    following = states.next
    here, mass = np.zeros(1, np.int64), np.ones(1)
    total = 0.0
    for h in range(J):
        a = order[h]
        there, share = np.empty(2 * here.size, np.int64), np.empty(2 * here.size)
        for i in range(here.size):
            p = P[here[i], a]
            total += mass[i] * p
            for liked in range(2):
                there[2 * i + liked] = following[here[i], a, liked]
                share[2 * i + liked] = mass[i] * (p if liked else 1.0 - p)
        here, mass = there, share
    return total


@jit
def _serve(beta, gamma, J, states, P, exact, alpha, beta_, rng, agent_rng, likes, expected,
           opening):
    N = alpha.shape[0]
    p, x = np.empty(N), np.zeros(N, np.int8)
    for i in range(likes.shape[0]):
        for n in range(N):
            p[n] = agent_rng.beta(alpha[n], beta_[n])
        order = np.argsort(-p)
        opening[i] = order[0]
        if exact[i]:
            expected[i] = fixed_order(states, P, order, J)
        x[:] = 0
        for h in range(J):
            a = order[h]
            if answer(beta, gamma, x, a, rng):
                alpha[a] += 1.0
                likes[i] += 1.0
            else:
                beta_[a] += 1.0


class BernoulliBandit:
    """Thompson sampling with a uniform prior on how popular each product is."""

    def __init__(self, N: int, J: int, *, rng=None):
        self.N, self.J, self.rng = N, J, np.random.default_rng(rng)
        self.alpha, self.beta = np.ones(N), np.ones(N)

    _check_fits = BasisAgent._check_fits

    def learn(self, customers: Recommender, episodes: int, rng=None, *,
              exact: bool | np.ndarray = False) -> Run:
        """Sample, sort, serve a customer, count her answers, repeat."""
        self._check_fits(customers)
        run = _blank(episodes)
        _serve(customers.beta, customers.gamma, self.J, *_exact_part(customers, episodes, exact),
               self.alpha, self.beta, np.random.default_rng(rng), self.rng, *run)
        return run
