"""How fast is an episode? ``python -m benchmarks`` prints one table, measured in one run.

Three ways to do the same work on the 50-chain of figure 2, after 100 and 1000 episodes:

- *fast*: a whole episode of ``SumLearner`` (plan, act, observe, simulate);
- *numpy*: the plan of one episode from the same sufficient statistics, in numpy done well: one
  batched Cholesky factorisation for all periods, and two triangular solves for each;
- *plain*: the plan of one episode by ``rlsvi_core.algorithms``, from all transitions.

The last two leave out the Python loop that plays the episode, so the ratios flatter them. *bare*
is the floating-point work of the fast form, counted, at the rate a plain compiled loop over
vectors of length K reaches in this run. CPU time of one thread; medians of repeats.

Further tables: what an episode costs after more and more of them; random weights on the data beside
noise; the recommendation engine (``benchmarks.recommender``) in the same three forms, and Tetris
(``benchmarks.tetris``), the compiled game against plain Python and stationary RLSVI's pass over its
buffer; and the tabular agents beside another library's (``benchmarks.others``). What a step costs in
an environment of Gymnasium's, ``python -m benchmarks.tasks`` says; and what a page of the book costs
its reader, ``python -m benchmarks.site``. ``--size 0.01`` plays a hundredth of the episodes, to see
that everything runs.
"""

import argparse
import copy
import time
from functools import cache

import numpy as np
import psutil
from scipy.linalg.blas import dtrsv

from rlsvi_core import bootstrap, chain, features, rlsvi
from rlsvi_core.algorithms import algorithm_1
from rlsvi_core.runtime.compilation import jit

from . import add_size, cpu_seconds, others, recommender, scaled, tetris


class NumpyStatistics:
    """The sums that ``SumLearner`` keeps, with a factorisation and matrix products an episode."""

    def __init__(self, Phi, lam, sigma, rng):
        self.Phi, self.ridge, self.sigma, self.rng = Phi, lam * sigma**2, sigma, rng
        H, S, _, K = Phi.shape
        self.M = np.tile(self.ridge * np.eye(K), (H, 1, 1))
        self.c, self.g = np.zeros((H, K)), np.zeros((H, S, K))
        self.theta = np.zeros((H, K))

    def observe(self, h, s, a, r, s_next):
        phi = self.Phi[h, s, a]
        self.M[h] += np.outer(phi, phi)
        self.c[h] += r * phi
        self.g[h, s_next] += phi

    def plan(self):
        H, _, _, K = self.Phi.shape
        factors = np.linalg.cholesky(self.M)
        z = self.sigma * self.rng.standard_normal((H, K))[::-1]  # drawn from the last period on
        for h in reversed(range(H)):
            b = self.c[h]
            if h < H - 1:
                b = b + (self.Phi[h + 1] @ self.theta[h + 1]).max(axis=1) @ self.g[h]
            U = factors[h].T  # in the order BLAS reads without a copy
            self.theta[h] = dtrsv(U, dtrsv(U, b, trans=1) + z[h])


class PlainAlgorithm:
    """Algorithm 1 in plain NumPy, from all transitions."""

    def __init__(self, Phi, lam, sigma, rng):
        self.Phi, self.lam, self.sigma, self.rng = Phi, lam, sigma, rng
        self.steps = [[] for _ in Phi]

    def observe(self, h, s, a, r, s_next):
        self.steps[h].append((s, a, r, s_next))

    def plan(self):
        steps = np.array(self.steps).reshape(len(self.Phi), -1, 4).transpose(2, 1, 0)
        s, a, _, s_next = steps.astype(int)
        s = np.column_stack([s, s_next[:, -1:]])
        self.theta = algorithm_1(self.Phi, s, a, steps[2], self.lam, self.sigma, self.rng)


@jit
def _plain_loop(x, y, a, repeats):
    for _ in range(repeats):
        for i in range(x.shape[0]):
            y[i] += a * x[i]


@cache
def flop_rate(K: int) -> float:
    """Floating-point operations a second of y += a x on vectors of length K."""
    x, y, repeats = np.ones(K), np.zeros(K), 10_000_000 // K
    _plain_loop(x, y, 1e-9, 1)
    return 2 * K * repeats / cpu_seconds(lambda: _plain_loop(x, y, 1e-9, repeats), 5)


class Followers:
    """Counts the pairs of a period and a state that has followed it. The last period looks nothing
    up, so nothing follows it."""

    def __init__(self, H: int):
        self.H, self.pairs = H, set()

    def observe(self, h, s, a, r, s_next):
        if h < self.H - 1:
            self.pairs.add((h, s_next))


def flops(agent, followers: Followers) -> int:
    """Additions, multiplications, divisions and roots of one episode of the fast form."""
    H, _, A, K = agent.learner.record.Phi.shape
    look_ups = len(followers.pairs) * (2 * A * K + 2 * K)  # values, and their share of A'b
    solves = H * 2 * K * K
    rotations = H * (3 * K * (K - 1) + 6 * K)
    rest = H * (2 * K + 3 * K + 2 * A * K)  # noise, sums, the values acted on
    return look_ups + solves + rotations + rest


def play(mdp, agents, episodes, env_rng) -> None:
    """Let the first agent play; all of them remember."""
    for _ in range(episodes):
        agents[0].plan()
        s = mdp.start(env_rng)
        for h in range(mdp.H):
            a = agents[0].act(h, s)
            r, s_next, _ = mdp.step(h, s, a, env_rng)
            for agent in agents:
                agent.observe(h, s, a, r, s_next)
            s = s_next


def table(N: int, sizes, history) -> None:
    mdp = chain(N)
    print(f"{N}-chain, CPU time of an episode in microseconds\n")
    print(
        f"{'K':>4} {'episodes':>9} {'bare':>7} {'fast':>8} {'numpy':>9} {'plain':>10}"
        f" {'fast/bare':>10} {'numpy/fast':>11} {'plain/fast':>14}"
    )
    for K in sizes:
        Phi, rate, env_rng = features.coherent(mdp.Q, K, 1), flop_rate(K), np.random.default_rng(3)
        fast = rlsvi(Phi, 1.0, 0.1, rng=2)
        smart = NumpyStatistics(Phi, 1.0, 0.1, np.random.default_rng(2))
        plain = PlainAlgorithm(Phi, 1.0, 0.1, np.random.default_rng(2))
        followers, done = Followers(mdp.H), 0
        for l in history:
            play(mdp, (fast, smart, plain, followers), l - done, env_rng)
            done = l
            bare = flops(fast, followers) / rate
            slow = cpu_seconds(plain.plan, 3)
            numpy = cpu_seconds(smart.plan, 9)
            batch = max(5, 1000 // K)
            quick = _episodes_of_a_copy(fast, mdp, batch)
            print(
                f"{K:4} {l:9} {1e6 * bare:7.0f} {1e6 * quick:8.0f} {1e6 * numpy:9.0f} "
                f"{1e6 * slow:10.0f} {quick / bare:10.1f} {numpy / quick:11.0f} "
                f"{slow / quick:14.0f}",
                flush=True,
            )


def _episodes_of_a_copy(agent, mdp, batch: int) -> float:
    """CPU seconds of an episode after the agent's history, which is left as it was."""
    trial, env_rng = copy.deepcopy(agent), np.random.default_rng(4)
    trial.learn(mdp, 1, env_rng)
    return cpu_seconds(lambda: trial.learn(mdp, batch, env_rng), 9) / batch


def by_size(lengths, sizes, episodes: int = 300) -> None:
    """The fast form on other chains: CPU time of an episode, and how far from the bare work."""
    print(f"\nThe fast form after {episodes} episodes: microseconds an episode (times bare work)\n")
    print(f"{'N':>4}" + "".join(f"{f'K={K}':>16}" for K in sizes))
    for N in lengths:
        cells, mdp = [], chain(N)
        for K in sizes:
            agent = rlsvi(features.coherent(mdp.Q, K, 1), 1.0, 0.1, rng=2)
            followers = Followers(mdp.H)
            play(mdp, (agent, followers), episodes, np.random.default_rng(3))
            spent = _episodes_of_a_copy(agent, mdp, max(2, 20_000 // (N * K)))
            bare = flops(agent, followers) / flop_rate(K)
            cells.append(f"{1e6 * spent:8.0f} ({spent / bare:3.1f})")
        print(f"{N:4}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def by_history(N: int, K: int, history) -> None:
    """Where time has no index of its own, or ends at once: an episode after more and more of them."""
    mdp = chain(N)
    Phi = features.coherent(mdp.Q, K, 1)
    print(f"\n{N}-chain, K={K}: microseconds an episode after so many\n")
    print(f"{'':>16}" + "".join(f"{l:>9}" for l in history))
    for name, agent in (
        ("discount", rlsvi(Phi[0], gamma=0.99, rng=2)),
        ("bandit", rlsvi(lambda s: Phi[0, s], gamma=0.0, rng=2)),
    ):
        cells, done, env_rng = [], 0, np.random.default_rng(3)
        for l in history:
            agent.learn(mdp, l - done, env_rng)
            done = l
            cells.append(_episodes_of_a_copy(agent, mdp, 3))
        print(f"{name:>16}" + "".join(f"{1e6 * spent:9.0f}" for spent in cells), flush=True)


def by_noise(lengths, K: int, episodes: int = 300) -> None:
    """Weights on the data beside noise: CPU time of an episode, in tables and with features."""
    print(f"\nAfter {episodes} episodes: microseconds an episode (times RLSVI's)\n")
    print(f"{'N':>4} {'features':>10} {'RLSVI':>8} {'bootstrap':>16}")
    for N in lengths:
        mdp = chain(N)
        for name, Phi in (
            ("one-hot", features.OneHot(mdp.H, mdp.S, mdp.A)),
            (f"K={K}", features.coherent(mdp.Q, K, 1)),
        ):
            spent = []
            for agent in (rlsvi(Phi, value_range=(0, 1), rng=2), bootstrap(Phi, (0, 1), rng=2)):
                agent.learn(mdp, episodes, np.random.default_rng(3))
                spent.append(_episodes_of_a_copy(agent, mdp, max(2, 2000 // N)))
            noise, weights = spent
            print(
                f"{N:4} {name:>10} {1e6 * noise:8.0f} {1e6 * weights:8.0f} "
                f"({weights / noise:5.1f})",
                flush=True,
            )


def long_run(N: int, K: int, episodes: int) -> None:
    """The fast form's cost and memory along one long run."""
    mdp, env_rng, process = chain(N), np.random.default_rng(3), psutil.Process()
    agent = rlsvi(features.coherent(mdp.Q, K, 1), 1.0, 0.1, rng=2)
    agent.learn(mdp, 10, env_rng)
    print(f"\n{N}-chain, K={K}: one run of {episodes} episodes\n")
    print(f"{'up to episode':>14} {'us/episode':>11} {'memory, MB':>11} {'rewards':>8}")
    done, rewards = 10, 0
    for stop in np.unique(np.linspace(0, episodes, 11).astype(int))[1:]:
        start = time.process_time()
        while done < stop:  # in batches, so that what is recorded does not grow either
            batch = min(10_000, stop - done)
            rewards += int(agent.learn(mdp, batch, env_rng).reward.sum())
            done += batch
        spent = time.process_time() - start
        print(
            f"{stop:14} {1e6 * spent / (episodes / 10):11.1f} "
            f"{process.memory_info().rss / 2**20:11.0f} {rewards:8}",
            flush=True,
        )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--long",
        type=int,
        metavar="EPISODES",
        default=100_000,
        help="length of the long run (default 100000; 0 leaves it out)",
    )
    add_size(parser)
    options = parser.parse_args(arguments)
    size = options.size
    table(50, (10, 100), [scaled(l, size) for l in (100, 1000)])
    lengths = (20, 50, 100, 200)[: scaled(4, size)]
    by_size(lengths, (2, 10, 20, 50, 100), scaled(300, size))
    by_history(20, 10, [scaled(l, size) for l in (100, 1000)])
    by_noise(lengths[:3], 10, scaled(300, size))
    recommender.table([scaled(l, size) for l in (100, 400, 1200)])
    tetris.table(scaled(20_000, size), scaled(100_000, size), scaled(100, size))
    others.table(episodes=scaled(100, size))
    if options.long:
        long_run(50, 10, scaled(options.long, size))


if __name__ == "__main__":
    main()
