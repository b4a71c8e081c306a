r"""RLSVI taken apart: is it the sampling or the optimism that explores?

Given the data, LSVI has values :math:`\bar Q`, and RLSVI draws values :math:`\tilde Q`. So

.. math::
    \tilde Q = \bar Q
    + \underbrace{\mathbb E\tilde Q - \bar Q}_{\text{optimism}}
    + \underbrace{\tilde Q - \mathbb E\tilde Q}_{\text{spread}}.

In the last period the optimism is zero. Before it, a target holds the maximum of sampled values,
whose mean is above the maximum of the means: two untried actions worth :math:`N(0, 1)` each make
a state worth :math:`1/\sqrt\pi` on average. This travels backwards like every other value.

One backward pass serves all agents. The noise of Algorithm 1, line 4, does not depend on targets,
so a table W of it can be drawn before: :math:`W_h = \sigma\Phi_h U_h^{-1} z_h` with the factor
:math:`U_h` of ``rlsvi_core.regression``. :func:`backup` then computes

.. math::
    Q_h = \Phi_h\bar\theta_h(V_{h+1}) + W_h, \qquad V_h(s) = Q_h(s, \alpha_h(s)),

where :math:`\bar\theta_h(V)` is the posterior mean for the targets :math:`r + V(s')`, and α is
greedy in Q. All agents act greedily on Q, ties at random:

- ``sample``: RLSVI as printed;
- ``mean``: the mean in the targets. LSVI's values, and W is added to them afterwards;
- ``optimism``: :math:`\mathbb E\tilde Q`, no sampling. The mean over 2m fixed tables ±W of noise,
  so the agent is a function of its data; in the last period this is exactly LSVI;
- ``spread``: :math:`\tilde Q - \mathbb E\tilde Q + \bar Q`, sampling without the optimism.
"""

import math
from collections.abc import Callable

import numpy as np

from rlsvi_core.learners.sums import FeatureSums, add_transition, empty_sums
from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.regression import fill_posterior_draw, solve_upper, solve_upper_transposed
from rlsvi_core.runtime.compilation import Floats, Generator, jit

PAIRS = 8  # m: the expected sample is a mean over so many pairs ±W


@jit
def backup(Phi: Floats, data: FeatureSums, W: Floats, Q: Floats) -> None:
    """Fill Q backwards in time."""
    H, S, A, K = Phi.shape
    V, x, theta, none = np.zeros(S), np.empty(K), np.empty(K), np.zeros(K)
    for h in range(H - 1, -1, -1):
        for k in range(K):
            x[k], theta[k] = data.c[h, k], 0.0
        if h < H - 1:
            for i in range(data.number[h]):
                s = data.followed[h, i]
                for k in range(K):
                    x[k] += V[s] * data.g[h, s, k]
        solve_upper_transposed(data.U[h], x)
        fill_posterior_draw(data.U[h], x, 0.0, none, theta)
        for s in range(S):
            for a in range(A):
                Q[h, s, a] = W[h, s, a]
                for k in range(K):
                    Q[h, s, a] += Phi[h, s, a, k] * theta[k]
            V[s] = Q[h, s, Q[h, s].argmax()]


@jit
def noise(Phi: Floats, data: FeatureSums, sigma: float, z: Floats, W: Floats) -> None:
    """W_h = σ Φ_h U_h⁻¹ z_h."""
    H, S, A, K = Phi.shape
    w = np.empty(K)
    for h in range(H):
        w[:] = z[h]
        solve_upper(data.U[h], w)
        for s in range(S):
            for a in range(A):
                W[h, s, a] = 0.0
                for k in range(K):
                    W[h, s, a] += sigma * Phi[h, s, a, k] * w[k]


class Parts:
    """The data of an agent, and the parts of its values."""

    def __init__(self, Phi: Floats, lam: float, sigma: float, rng: Generator) -> None:
        self.Phi, self.sigma, self.rng = Phi, sigma, rng
        H, S, A, K = Phi.shape
        self.data = empty_sums(H, S, K, math.sqrt(lam) * sigma)
        self.fixed = rng.standard_normal((PAIRS, H, K))
        self._none, self._row = np.zeros((H, S, A)), np.empty(K)

    def observe(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        add_transition(self.Phi, self.data, h, s, a, r, s_next, self._row)

    def noise(self, z: Floats | None = None) -> Floats:
        """W, by these draws or by new ones."""
        W = np.empty_like(self._none)
        z = self.rng.standard_normal(self.fixed.shape[1:]) if z is None else z
        noise(self.Phi, self.data, self.sigma, z, W)
        return W

    def backup(self, W: Floats) -> Floats:
        Q = np.empty_like(W)
        backup(self.Phi, self.data, W, Q)
        return Q

    def lsvi(self) -> Floats:
        return self.backup(self._none)

    def sample(self) -> Floats:
        return self.backup(self.noise())

    def mean(self) -> Floats:
        return self.lsvi() + self.noise()

    def optimism(self) -> Floats:
        tables = map(self.noise, self.fixed)
        return np.asarray(np.mean([self.backup(W) + self.backup(-W) for W in tables], axis=0)) / 2

    def spread(self) -> Floats:
        return self.sample() - self.optimism() + self.lsvi()


VALUES: dict[str, Callable[[Parts], Floats]] = {
    "sample": Parts.sample,
    "mean": Parts.mean,
    "optimism": Parts.optimism,
    "spread": Parts.spread,
}


def learn(
    mdp: FiniteMDP,
    agent: str,
    Phi: Floats,
    lam: float,
    sigma: float,
    episodes: int,
    env_rng: Generator,
    agent_rng: Generator,
) -> Floats:
    """The expected reward of each episode's policy, exactly. The first episode is uniformly random,
    as in the paper."""
    parts, Q = Parts(Phi, lam, sigma, agent_rng), np.zeros(Phi.shape[:3])
    expected = np.empty(episodes)
    for l in range(episodes):
        if l > 0:
            Q = VALUES[agent](parts)
        best = Q == Q.max(axis=2, keepdims=True)
        policy = best / best.sum(axis=2, keepdims=True)
        expected[l] = mdp.initial @ mdp.evaluate(policy)[0]
        (s,), (a,), (r,) = mdp.simulate(policy, 1, env_rng)
        r[-2] += r[-1]
        for h in range(mdp.H):
            parts.observe(h, s[h], a[h], r[h], s[h + 1])
    return expected
