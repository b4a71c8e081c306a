"""The recommendation engine: RLSVI's episode three ways, N = 10, J = 5, K = 110.

- *fast*: a whole episode of ``ProductLearner`` (plan, act, observe, simulate);
- *numpy*: the plan of one episode block by block, from counts of distinct transitions;
- *dense*: the plan of one episode by the reference of the tests: Algorithm 1, K columns, all data.

The last two leave out the Python loop that serves the customer. CPU time of one thread.
"""

import copy

import numpy as np

from rlsvi_core import Agent, rlsvi
from rlsvi_core.envs.recommender import Recommender
from rlsvi_study.recommender.products import ProductFeatures, ProductLearner
from tests.core.reference import reference

from . import cpu_seconds


class NumpyBlocks:
    """The sums that ``ProductLearner`` keeps, in plain numpy: batched N × (N + 1)-dim regressions."""

    def __init__(self, N, J, lam, sigma, rng):
        self.N, self.J, self.sigma, self.rng = N, J, sigma, rng
        self.M = np.tile(lam * sigma**2 * np.eye(N + 1), (J, N, 1, 1))
        self.c = np.zeros((J, N, N + 1))
        self.place = [{} for _ in range(J)]
        self.after, self.product, self.row, self.count = (
            [np.zeros((0, *shape), kind) for _ in range(J)]
            for shape, kind in (((N,), float), ((), int), ((N + 1,), float), ((), float))
        )
        self.theta = np.zeros((J, N + 1, N))

    def observe(self, h, x, a, liked, after, legal):
        row, after = np.append(1.0, x), np.array(x, float)
        after[a] = 1 if liked else -1
        self.M[h, a] += np.outer(row, row)
        self.c[h, a] += row * liked
        i = self.place[h].setdefault((after.tobytes(), a), len(self.count[h]))
        if i == len(self.count[h]):
            for columns, value in (
                (self.after, after),
                (self.product, a),
                (self.row, row),
                (self.count, 0.0),
            ):
                columns[h] = np.concatenate([columns[h], [value]])
        self.count[h][i] += 1

    def plan(self):
        for h in reversed(range(self.J)):
            b = self.c[h].copy()
            if h < self.J - 1:
                Q = self.theta[h + 1, 0] + self.after[h] @ self.theta[h + 1, 1:]
                V = np.where(self.after[h] == 0, Q, -np.inf).max(axis=1)
                np.add.at(b, self.product[h], (self.count[h] * V)[:, None] * self.row[h])
            L = np.linalg.cholesky(self.M[h])
            z = self.rng.standard_normal((self.N, self.N + 1))
            w = np.linalg.solve(L, b[..., None]) + self.sigma * z[..., None]
            self.theta[h] = np.linalg.solve(L.transpose(0, 2, 1), w)[..., 0].T


def serve(customers, agents, episodes, rng) -> None:
    """Let the first agent serve; all of them remember."""
    for _ in range(episodes):
        agents[0].plan()
        x = customers.start(rng)
        for h in range(customers.J):
            a, before = agents[0].act(h, x), x
            liked, x, _ = customers.step(h, x, a, rng)
            legal = customers.legal(h + 1, x)
            for agent in agents:
                agent.observe(h, before, a, liked, x, legal)


def three_forms(N, J, lam=0.2, sigma=1e-3**0.5, rng=2):
    return (
        Agent(ProductLearner(N, J, lam, sigma), rng=rng),
        NumpyBlocks(N, J, lam, sigma, np.random.default_rng(rng)),
        reference(rlsvi(ProductFeatures(N, J), lam, sigma), rng=rng),
    )


def table(history) -> None:
    customers, rng = Recommender.random(2.0, 0), np.random.default_rng(3)
    fast, smart, dense = three_forms(10, 5)
    print("\nRecommendations, N = 10, J = 5, K = 110: CPU time of an episode in microseconds\n")
    print(
        f"{'episodes':>9} {'fast':>8} {'numpy':>9} {'dense':>10} {'numpy/fast':>11} "
        f"{'dense/fast':>11}"
    )
    done = 0
    for l in history:
        serve(customers, (fast, smart, dense), l - done, rng)
        done, trial, trial_rng = l, copy.deepcopy(fast), np.random.default_rng(4)
        trial.learn(customers, 1, trial_rng)
        quick = cpu_seconds(lambda t=trial, r=trial_rng: t.learn(customers, 20, r), 9) / 20
        numpy, slow = cpu_seconds(smart.plan, 9), cpu_seconds(dense.plan, 9)
        print(
            f"{l:9} {1e6 * quick:8.0f} {1e6 * numpy:9.0f} {1e6 * slow:10.0f} "
            f"{numpy / quick:11.0f} {slow / quick:11.0f}",
            flush=True,
        )
    whole = [
        cpu_seconds(lambda agent=agent: agent.learn(customers, done, 3), 1)
        for agent in three_forms(10, 5)[::2]
    ]
    print(
        f"\nA run of {done} customers: fast {whole[0]:.2g} s, dense {whole[1]:.2g} s, "
        f"{whole[1] / whole[0]:.0f} times as long",
        flush=True,
    )
