"""The register: every checkable statement of the paper, how it is checked, and the verdict.

A claim is a function whose docstring is the statement in our words; it returns what was found. The
verdict it should reach is registered beside it, and ``rlsvi check`` fails when the two differ.

Kinds of check: ``exact`` (closed form, dynamic programming or enumeration, to rounding),
``certified`` (ball arithmetic), ``Monte Carlo`` (stated error rate), ``experiment`` (computed from
a stored table), ``reading`` (the text itself is at issue) and ``none``.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import bases, store
from .agents import VerbatimAgent, lsvi, rlsvi
from .agents.base import action_probabilities
from .agents.verbatim import algorithm_3, regression_problem
from .envs import chain
from .envs.chain import RIGHT
from .experiments import FIGURES, scaling
from .experiments.chain import learning_time, learning_times, medians
from .mdp import FiniteMDP
from .regression import GaussianPosterior

HOLDS = "holds"
PARTLY = "holds in part"
FAILS = "does not hold"
MISPRINT = "misprint"
OPEN = "can't be checked here"
VERDICTS = (HOLDS, PARTLY, FAILS, MISPRINT, OPEN)


class Evidence(NamedTuple):
    verdict: str
    found: str  # one sentence, numbers to three digits
    numbers: dict[str, Any]


@dataclass(frozen=True)
class Claim:
    id: str
    place: str
    statement: str
    paper: str  # the paper's own number or formula
    kind: str
    verdict: str  # as registered
    judge: Callable[[], Evidence]


REGISTER: dict[str, Claim] = {}


def claim(id: str, place: str, *, paper: str, kind: str, verdict: str):
    """Register a check. Its docstring is the statement."""

    def register(judge: Callable[[], Evidence]):
        statement = " ".join(judge.__doc__.split())
        REGISTER[id] = Claim(id, place, statement, paper, kind, verdict, judge)
        return judge

    return register


def _unless(wrong: bool, found: str, verdict: str = HOLDS, **numbers) -> Evidence:
    """The verdict stands unless the check came out wrong."""
    return Evidence(FAILS if wrong else verdict, found, numbers)


def _random_mdp(rng, H=2, S=2, A=2) -> FiniteMDP:
    return FiniteMDP(rng.dirichlet(np.ones(S), (H, S, A)), rng.uniform(-1, 1, (H, S, A, S)),
                     terminal=rng.uniform(-1, 1, S), initial=rng.dirichlet(np.ones(S)))


def _policies(mdp: FiniteMDP):
    """Every deterministic policy, as (H, S) arrays."""
    for actions in itertools.product(range(mdp.A), repeat=mdp.H * mdp.S):
        yield np.array(actions).reshape(mdp.H, mdp.S)


def uniform_policy(mdp: FiniteMDP) -> np.ndarray:
    return np.full((mdp.H, mdp.S, mdp.A), 1 / mdp.A)


def arrival_probability(N: int) -> float:
    """The chance that one uniformly random episode on the N-chain ends in state N."""
    mdp = chain(N)
    return float(mdp.occupancy(uniform_policy(mdp))[-1, N - 1])


def _p_star(N: int) -> float:
    return (1 - 1 / N) ** (N - 1)


# --------------------------------------------------------------------------- section 1

@claim("1.exponential", "Section 1", paper="exponential in the worst case", kind="exact",
       verdict=PARTLY)
def _():
    """Earlier algorithms that generalize through a linear value function can need a learning time
    exponential in the planning horizon."""
    waits = {N: 1 / arrival_probability(N) for N in (10, 20, 30, 40, 50)}
    growth = (waits[50] / waits[10]) ** (1 / 40)
    return _unless(
        not 1.99 < growth < 2.02,
        f"Shown for LSVI with ε-greedy or Boltzmann exploration on the chain: the expected wait "
        f"for the first reward grows {growth:.3g}-fold with each further state. Other "
        f"algorithms are not examined.", PARTLY, growth=growth)


@claim("1.gains", "Section 1", paper="dramatic efficiency gains", kind="experiment", verdict=HOLDS)
def _():
    """With identical features, RLSVI is dramatically more efficient than LSVI with dithering."""
    table = store.load(FIGURES["fig2a"])
    times, seeds = learning_times(table), table.seed.nunique()
    learned = {agent: int(np.isfinite(times.loc[agent]).sum()) for agent in times.index.levels[0]}
    median = learning_time(table, "rlsvi")
    return _unless(
        not (learned["rlsvi"] >= 0.9 * seeds and learned["epsilon-greedy"] == 0),
        f"50-chain, 2000 episodes: RLSVI learned in {learned['rlsvi']} of {seeds} seeds (median "
        f"{median.median:.0f} episodes, 95% interval {median.low:.0f}–{median.high:.0f}); "
        f"ε-greedy in {learned['epsilon-greedy']}.",
        learned=learned, seeds=seeds, median=median.median, interval=[median.low, median.high])


@claim("1.lower-bound", "Section 1", paper="Õ(√(H³SAT)) is optimal up to logarithms", kind="none",
       verdict=OPEN)
def _():
    """The regret bound of Theorem 1 matches the worst-case lower bound up to logarithms."""
    return Evidence(OPEN, "A statement about all algorithms, not one a computation can settle. The "
                    "later literature gives the lower bound Ω(√(H²SAT)) for time-dependent "
                    "transitions, a factor √H below.", {})


@claim("1.first", "Section 1", paper="first of its kind", kind="none", verdict=OPEN)
def _():
    """RLSVI is the first algorithm that is provably efficient without generalization and
    demonstrably efficient with it."""
    return Evidence(OPEN, "A statement about the literature of 2016.", {})


# --------------------------------------------------------------------------- section 2

@claim("2.optimal-iff-greedy", "Section 2", paper="iff", kind="exact", verdict=HOLDS)
def _():
    """A policy is optimal in every state and period exactly if it is greedy for Q*."""
    rng, policies, wrong = np.random.default_rng(0), 0, 0
    for _ in range(20):
        mdp = _random_mdp(rng)
        for policy in _policies(mdp):
            optimal = np.allclose(mdp.evaluate(policy), mdp.V, atol=1e-12, rtol=0)
            greedy = np.take_along_axis(mdp.optimal_actions, policy[..., None], 2).all()
            policies, wrong = policies + 1, wrong + (optimal != greedy)
    return _unless(wrong > 0, f"All {policies} deterministic policies of 20 random MDPs: "
                   f"{wrong} exceptions.", policies=policies, exceptions=wrong)


@claim("2.regret", "Section 2", paper="E[V* − Σr]", kind="Monte Carlo", verdict=HOLDS)
def _():
    """Realised reward and exact policy evaluation give the same expected regret."""
    rng = np.random.default_rng(1)
    mdp = _random_mdp(rng, H=4, S=3)
    policy, episodes = rng.integers(0, 2, (4, 3)), 100_000
    realised = mdp.value - mdp.simulate(policy, episodes, rng)[2].sum(axis=1)
    exact, error = mdp.regret(policy), realised.std() / np.sqrt(episodes)
    z = abs(realised.mean() - exact) / error
    return _unless(z > 4.5, f"Exact {exact:.3g}, realised {realised.mean():.3g} ± {error:.1g} over "
                   f"{episodes} episodes (fails by chance 7 times in a million).",
                   exact=exact, realised=float(realised.mean()), standard_errors=float(z))


@claim("2.coherent", "Section 2", paper="Q* in the span of Φ", kind="exact", verdict=HOLDS)
def _():
    """The random basis of the experiments is coherent (Q* lies in its span) and the noisy one is
    not."""
    mdp = chain(20)

    def residual(Phi) -> float:
        """The worst period's distance from Q* to the span, relative to Q*."""
        worst = 0.0
        for h in range(mdp.H):
            rows, q = Phi[h].reshape(-1, Phi.shape[3]), mdp.Q[h].ravel()
            fit = np.linalg.lstsq(rows, q)[0]
            worst = max(worst, np.linalg.norm(rows @ fit - q) / np.linalg.norm(q))
        return worst

    inside = max(residual(bases.coherent(mdp.Q, 10, 0, reading=r))
                 for r in ("stacked", "per_period"))
    outside = residual(bases.agnostic(mdp.Q, 10, 0.1, 0))
    return _unless(inside > 1e-9 or outside < 0.01,
                   f"Relative distance from Q* to the span, worst period: below 1e-9 for both "
                   f"readings of the coherent basis, {outside:.2g} for the agnostic one.",
                   coherent=inside, agnostic=outside)


# --------------------------------------------------------------------------- section 3

@claim("3.value", "Section 3", paper="p* = (1 − 1/N)^{N−1}", kind="exact", verdict=HOLDS)
def _():
    """On the chain, always going right is optimal and earns p* an episode."""
    error = max(abs(chain(N).value / _p_star(N) - 1) for N in range(2, 101))
    right = all(chain(N).optimal_actions[np.arange(N - 1), np.arange(N - 1), RIGHT].all()
                for N in range(2, 30))
    return _unless(error > 1e-12 or not right, "Dynamic programming agrees to rounding for N = 2 "
                   "to 100.", largest_relative_error=error)


@claim("3.others", "Section 3", paper="all other policies give no reward", kind="exact",
       verdict=PARTLY)
def _():
    """Every other policy earns nothing."""
    mdp = chain(4)
    values = [(mdp.value - mdp.regret(policy),
               all(policy[h, h] == RIGHT for h in range(mdp.H))) for policy in _policies(mdp)]
    wrong = sum(abs(v - (_p_star(4) if on_path else 0)) > 1e-12 for v, on_path in values)
    earning = sum(on_path for _, on_path in values)
    return _unless(wrong > 0, f"True of policies that turn left on the path 1, 2, …, N. Off the "
                   f"path actions do not matter: {earning} of the {len(values)} policies for N = 4 "
                   f"earn p*, the rest exactly 0.", PARTLY, earning=earning, policies=len(values))


@claim("3.zero-weights", "Section 3, Example 1", paper="θ = 0 and uniform actions for l < l*",
       kind="exact", verdict=HOLDS)
def _():
    """Before the first reward, LSVI's weights are zero and dithering agents act uniformly."""
    mdp, episodes = chain(8), 0
    for Phi in (bases.tabular(mdp), bases.coherent(mdp.Q, 6, 0), bases.agnostic(mdp.Q, 6, 0.5, 0)):
        for dither in ({"epsilon": 0.1}, {"eta": 0.1}, {}):
            agent, env = lsvi(Phi, rng=1, **dither), np.random.default_rng(2)
            while True:
                agent.plan()
                if np.any(agent.theta) or np.any(agent.policy() != 0.5):
                    return Evidence(FAILS, f"θ is not zero after {episodes} episodes.", {})
                if agent.learn(mdp, 1, env).reward.any():
                    break
                episodes += 1
    return Evidence(HOLDS, f"Exactly zero, and actions exactly ½–½, throughout {episodes} "
                    f"unrewarded episodes (N = 8; three bases; greedy, ε-greedy, Boltzmann).",
                    {"episodes": episodes})


@claim("3.probability", "Section 3, Example 1", paper="p* 2^{−(S−1)}", kind="exact", verdict=HOLDS)
def _():
    """A uniformly random episode reaches the last state with probability p* 2^{−H}."""
    error = max(abs(arrival_probability(N) / (_p_star(N) * 2.0 ** (1 - N)) - 1)
                for N in range(2, 61))
    return _unless(error > 1e-12, "Dynamic programming agrees to rounding for N = 2 to 60.",
                   largest_relative_error=error)


@claim("3.wait", "Section 3, Example 1", paper="E[l*] ≥ 2^{S−1} − 1", kind="experiment",
       verdict=HOLDS)
def _():
    """The expected number of episodes before the first reward is at least 2^{S−1} − 1."""
    table = store.load(FIGURES["example1"])
    worst, cells = 0.0, 0
    for N, runs in table[table.agent == "epsilon-greedy"].groupby("N"):
        q = arrival_probability(N)
        z = (runs.unrewarded.mean() - (1 / q - 1)) / (np.sqrt(1 - q) / q / np.sqrt(len(runs)))
        worst, cells = max(worst, abs(z)), cells + 1
    exact = 1 / arrival_probability(14) - 1
    return _unless(worst > 4.5 or exact < 2**13 - 1 or table.censored.any(),
                   f"E[l*] = 2^(S−1)/p* − 1 exactly: {exact:.3g} for S = 14, where the bound says "
                   f"{2**13 - 1}. Simulated means lie within {worst:.2g} standard errors for "
                   f"all {cells} lengths.", exact_14=exact, bound_14=2**13 - 1, worst_z=worst)


@claim("3.regret", "Section 3, Example 1", paper="lim inf Regret ≥ 2^{S−1} − 1", kind="exact",
       verdict=HOLDS)
def _():
    """The regret of a dithering agent is in the long run at least 2^{S−1} − 1."""
    error = 0.0
    for N in range(2, 61):
        mdp, q = chain(N), arrival_probability(N)
        # Uniform play costs p* − q an episode and lasts 1/q episodes in the mean.
        error = max(error, abs(mdp.regret(uniform_policy(mdp)) / q / (2.0 ** (N - 1) - 1) - 1))
    return _unless(error > 1e-9, "The search, its rewarded last episode included, costs "
                   "2^(S−1) − 1 exactly (N = 2 to 60): for it the paper's bound is an equality.",
                   largest_relative_error=error)


@claim("3.any-basis", "Section 3", paper="for any choice of basis function", kind="exact",
       verdict=HOLDS)
def _():
    """The first reward comes at the same time whatever the basis and whichever way one dithers."""
    mdp, first = chain(8), {}
    for name, Phi in (("tabular", bases.tabular(mdp)), ("coherent", bases.coherent(mdp.Q, 4, 0)),
                      ("agnostic", bases.agnostic(mdp.Q, 4, 0.5, 0)),
                      ("no features", np.zeros((mdp.H, mdp.S, mdp.A, 1)))):
        for dither in ({"epsilon": 0.05}, {"epsilon": 0.5}, {"eta": 0.01}, {"eta": 10.0}):
            reward = lsvi(Phi, rng=3, **dither).learn(mdp, 5000, 4).reward
            first[name, str(dither)] = int(np.argmax(reward > 0)) if reward.any() else None
    episode = set(first.values())
    return _unless(len(episode) != 1 or None in episode,
                   f"Same random draws, N = 8: first reward in episode "
                   f"{', '.join(map(str, episode))} for all {len(first)} pairs of basis "
                   f"and dithering.", episodes=list(episode), pairs=len(first))


@claim("3.policy-gradient", "Section 3", paper="a similar result holds", kind="none", verdict=OPEN)
def _():
    """Policy gradient algorithms suffer in the same way."""
    return Evidence(OPEN, "No algorithm is named. The argument carries over to any update that is "
                    "zero while all returns are zero and that starts from the uniform policy.", {})


# --------------------------------------------------------------------------- section 4

@claim("4.posterior", "Section 4, Algorithm 1", paper="θ̄ and Σ of line 3", kind="exact",
       verdict=HOLDS)
def _():
    """Line 3 is the posterior of a linear model with prior N(0, I/λ) and noise variance σ²."""
    rng, error = np.random.default_rng(5), 0.0
    for _ in range(50):
        n, K = rng.integers(1, 12), rng.integers(1, 8)
        lam, sigma = rng.uniform(0.1, 10, 2)
        X, y = rng.normal(size=(n, K)), rng.normal(size=n)
        ours = GaussianPosterior(K, lam, sigma)
        for row, target in zip(X, y, strict=True):
            ours.add_row(row, target)
        # Condition the joint Gaussian of (θ, y) on y: no precision matrix in sight.
        gain = X.T / lam @ np.linalg.inv(X @ X.T / lam + sigma**2 * np.eye(n))
        error = max(error, np.abs(ours.mean - gain @ y).max(),
                    np.abs(ours.covariance - (np.eye(K) - gain @ X) / lam).max())
    return _unless(error > 1e-10, "Equal to conditioning the joint Gaussian of weights and data, "
                   "in 50 random problems, to rounding.", largest_error=error)


@claim("4.footnote", "Section 4, footnote 1", paper="hence θ̃ = 0 when l = 0", kind="reading",
       verdict=FAILS)
def _():
    """That the first sample is zero follows from there being no data."""
    K, lam = 3, 4.0
    covariance = GaussianPosterior(K, lam).covariance
    is_prior = np.allclose(covariance, np.eye(K) / lam)
    return Evidence(FAILS if is_prior else HOLDS,
                    "With no rows, line 4 samples the prior N(0, I/λ). Zero is a convention added "
                    "by the footnote; both are offered, zero is the default.",
                    {"variance": covariance[0, 0], "lam": lam})


@claim("4.approximate-posterior", "Section 4", paper="approximates a posterior over value "
       "functions", kind="exact", verdict=PARTLY)
def _():
    """RLSVI samples from an approximation to the posterior over value functions."""
    rng, n, lam, sigma = np.random.default_rng(6), 30, 2.0, 0.5
    X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    exact = GaussianPosterior(3, lam, sigma)
    agent = rlsvi(X.reshape(1, n, 1, 3), lam, sigma, rng=7)
    for i in range(n):
        agent.observe(0, i, 0, y[i], 0)
        exact.add_row(X[i], y[i])
    agent.plan()
    error = np.abs(agent.theta[0] - exact.sample(7)).max()
    return _unless(error > 1e-10, "For H = 1 and Gaussian rewards it is the posterior itself (the "
                   "same draws give the same weights). For H > 1 later periods' samples enter as "
                   "if they were data; section 5 bounds what that costs in the tabular case.",
                   PARTLY, largest_error=error)


# --------------------------------------------------------------------------- appendix A

@claim("A.ridge", "Appendix A", paper="argmin ‖Aζ − b‖² + λ‖ζ‖²", kind="exact", verdict=HOLDS)
def _():
    """LSVI's weights minimise the penalised squared error of each period."""
    mdp = _random_mdp(np.random.default_rng(8), H=4, S=5, A=3)
    Phi, lam, worst = bases.coherent(mdp.Q, 6, 9), 0.7, 0.0
    agent = _with_data(mdp, Phi)
    theta = algorithm_3(Phi, agent.data, lam)
    for h in range(mdp.H):
        A, b = regression_problem(Phi, agent.data, theta, h)
        gradient = A.T @ (A @ theta[h] - b) + lam * theta[h]
        worst = max(worst, np.abs(gradient).max() / np.abs(A.T @ b).max())
    return _unless(worst > 1e-9, "The gradient vanishes to rounding in every period of a random "
                   "MDP with 40 episodes of data.", largest_relative_gradient=worst)


def _with_data(mdp, Phi):
    agent = lsvi(Phi, epsilon=1.0, rng=10, form=VerbatimAgent)
    agent.learn(mdp, 40, 11)
    return agent


@claim("A.dithering", "Appendix A", paper="ε and η set how far actions stray from greedy",
       kind="exact", verdict=HOLDS)
def _():
    """The parameters ε and η control how far the actions are from greedy."""
    q, p = np.array([0.3, 1.0, 0.1, 0.9]), np.empty(4)

    def strays(epsilon, eta):
        action_probabilities(q, epsilon, eta, p)
        return 1 - p[1]

    by_epsilon = [strays(e, 0.0) for e in np.linspace(0, 1, 101)]
    by_eta = [strays(0.0, t) for t in np.geomspace(1e-3, 1e3, 101)]
    rising = np.all(np.diff(by_epsilon) > 0) and np.all(np.diff(by_eta) >= 0)
    ends = abs(by_epsilon[0]) < 1e-12 and abs(by_epsilon[-1] - 0.75) < 1e-12 and by_eta[0] < 1e-12
    return _unless(not (rising and ends), f"The chance of a non-greedy action rises from 0 to "
                   f"1 − 1/A in ε, and from 0 to {by_eta[-1]:.3g} as η goes from 0.001 to 1000.",
                   at_eta_1000=by_eta[-1])


@claim("A.boltzmann", "Appendix A, Algorithm 4", paper="a ~ E[Q/η]", kind="reading",
       verdict=MISPRINT)
def _():
    """Boltzmann exploration samples its action from E[(Φθ)(x, a)/η]."""
    return Evidence(MISPRINT, "An expectation is a number, not a law. Implemented as a ∝ exp(Q/η), "
                    "the usual Boltzmann law.", {})


@claim("A.target", "Appendix A, Algorithm 3", paper="θ̃ in the target", kind="reading",
       verdict=MISPRINT)
def _():
    """LSVI's targets use a sampled θ̃."""
    return Evidence(MISPRINT, "Algorithm 3 computes no θ̃; its own θ of the next period is meant.",
                    {})


# --------------------------------------------------------------------------- section 6.1

@claim("6.1.learns", "Section 6.1, figure 2", paper="roughly 500 episodes", kind="experiment",
       verdict=HOLDS)
def _():
    """Five hundred episodes or so are enough for RLSVI on the 50-chain, whatever the seed."""
    table = store.load(FIGURES["fig2a"])
    times = learning_times(table)["rlsvi"]
    median = learning_time(table, "rlsvi")
    curves = table[table.agent == "rlsvi"]
    settled = curves.groupby("seed").last_suboptimal.max().median()
    early, seeds = int((times <= 1000).sum()), len(times)
    return _unless(not (250 <= median.median <= 1000 and early >= 0.9 * seeds),
                   f"Tenth reward after {median.median:.0f} episodes in the median (95% interval "
                   f"{median.low:.0f}–{median.high:.0f}); {int((times <= 500).sum())} of {seeds} "
                   f"seeds within 500, {early} within 1000. The last suboptimal policy comes "
                   f"later, in episode {settled:.0f} in the median.", settled=settled,
                   median=median.median, interval=[median.low, median.high], within_1000=early)


@claim("6.1.dithering", "Section 6.1", paper="at least 10^15 episodes", kind="exact",
       verdict=HOLDS)
def _():
    """No agent that dithers reaches the end of the 50-chain in fewer than 10^15 episodes."""
    wait = 1 / arrival_probability(50)
    return _unless(wait < 1e15, f"Expected wait for the first reward: {wait:.3g} episodes. "
                   f"2^49 alone is {2**49:.3g}; the slips supply the rest.", wait=wait)


@claim("6.1.any-dithering", "Section 6.1, footnote 3", paper="any ε or η is equivalent",
       kind="experiment", verdict=HOLDS)
def _():
    """Before the first reward, it makes no difference how an agent dithers."""
    waits = store.load(FIGURES["example1"]).pivot(index=["N", "seed"], columns="agent",
                                                  values="unrewarded")
    different = int((waits["epsilon-greedy"] != waits["boltzmann"]).sum())
    return _unless(different > 0, f"Until the first reward they are one agent: with the same draws "
                   f"ε-greedy and Boltzmann waited equally long in all {len(waits)} pairs of runs. "
                   f"After it they differ.", pairs=len(waits), different=different)


@claim("6.1.keeps", "Section 6.1", paper="maintains the optimal policy once it discovers the "
       "reward", kind="experiment", verdict=PARTLY)
def _():
    """From its first reward on, RLSVI plays the optimal policy in all but a few episodes."""
    long, short = store.load(FIGURES["fig2b"]), store.load(FIGURES["fig2a"])
    last = long[(long.agent == "rlsvi") & (long.episode == long.episode.max())]
    end = short[(short.agent == "rlsvi") & (short.episode == short.episode.max())]
    share = float((end.lapses / end.suboptimal).median())
    settled = bool((last.last_suboptimal < long.episode.max() // 10).all())
    return Evidence(
        FAILS if not settled else PARTLY if share > 0.1 else HOLDS,
        f"In the long run, yes: in a million episodes the five runs had "
        f"{int(last.suboptimal.min())}–{int(last.suboptimal.max())} suboptimal ones, the last in "
        f"episode {int(last.last_suboptimal.max())}. But the first reward is not the end of "
        f"exploration: in the median of {len(end)} seeds {end.lapses.median():.0f} suboptimal "
        f"episodes follow it, {100 * share:.0f}% of all.",
        {"lapses": last.lapses.tolist(), "last": last.last_suboptimal.tolist(), "share": share})


@claim("6.1.numbers", "Section 6.1 and footnote 4", paper="2^99 > 10^28, H²SA > 10^6; "
       "2^49 > 10^14, H²SA > 10^5", kind="exact", verdict=HOLDS)
def _():
    """The dithering and tabular bounds at N = 100 and N = 50 have the magnitudes stated."""
    size = {N: (2 ** (N - 1), (N - 1) ** 2 * N * 2) for N in (50, 100)}
    wrong = not (size[100][0] > 10**28 and size[100][1] > 10**6 and size[50][0] > 10**14
                 and size[50][1] > 10**5)
    return _unless(wrong, f"N = 100: {size[100][0]:.2g} and {size[100][1]:.3g}; N = 50: "
                   f"{size[50][0]:.2g} and {size[50][1]:.3g}.", sizes=size)


@claim("6.1.beats-bounds", "Section 6.1, figure 3", paper="below 2^{N−1} and H²SA/10",
       kind="experiment", verdict=HOLDS)
def _():
    """RLSVI with ten features learns faster than the dithering and the tabular bounds."""
    cells = medians(store.load(FIGURES["fig3"]), "N")
    N = cells.index.to_numpy()
    tabular = (N - 1) ** 2 * N * 2 / 10
    beaten = (cells["high"] < tabular) & (cells["high"] < 2.0 ** (N - 1))
    from_N = int(min(n for n in N if beaten[N >= n].all())) if beaten.iloc[-1] else None
    return Evidence(
        FAILS if from_N is None else HOLDS if from_N == N.min() else PARTLY,
        f"Median and its interval lie below both for every chain tried from N = {from_N} to "
        f"{N.max()}: at N = 100 the median is {cells['median'][100]:.0f}, H²SA/10 is "
        f"{tabular[N == 100][0]:.3g}.",
        {"from_N": from_N, "median_100": cells["median"][100]})


@claim("6.1.features", "Section 6.1, figure 4", paper="graceful, and flattening towards K = 100",
       kind="experiment", verdict=HOLDS)
def _():
    """Learning time grows gracefully with the number of features, and less and less as K
    approaches the dimension 100."""
    table = store.load(FIGURES["fig4"])
    cells = medians(table, "K")["median"]
    early = (cells[20] - cells[2]) / 18
    late = (cells[100] - cells[50]) / 50
    return _unless(not (late < early / 2 and np.isfinite(cells).all()),
                   f"Medians: {cells[2]:.0f} (K = 2), {cells[20]:.0f} (20), {cells[50]:.0f} (50), "
                   f"{cells[100]:.0f} (100), {cells[150]:.0f} (150). Each further feature costs "
                   f"{early:.3g} episodes up to K = 20 and {late:.3g} between 50 and 100.",
                   medians=cells.to_dict(), early=early, late=late)


@claim("6.1.polynomial", "Section 6.1, figure 5", paper="consistent with polynomial learning",
       kind="experiment", verdict=HOLDS)
def _():
    """Learning time is consistent with a polynomial in N and in K."""
    found, numbers, wrong = [], {}, False
    for name, axis in (("fig3", "N"), ("fig4", "K")):
        table = store.load(FIGURES[name])
        power, laws = scaling.exponent(table, axis), scaling.compare_laws(table, axis)
        wrong |= laws["exponential"] - laws[["linear", "quadratic", "power"]].min() < 10
        found.append(f"{axis}^{power.power:.2f} (95% interval {power.low:.2f}–{power.high:.2f}), "
                     f"exponential worse by {laws['exponential']:.0f} in AIC")
        numbers[axis] = {"exponent": power._asdict(), "aic": laws.to_dict()}
    return _unless(wrong, f"Fitted over the range tried: {'; '.join(found)}. A finite range cannot "
                   f"tell what happens beyond it.", **numbers)


def success_rate(noise: str) -> tuple[np.ndarray, np.ndarray]:
    """Share of figure 6's runs that learned, over a window of 41 values of ρ."""
    table = store.load(FIGURES["fig6"])
    learned = (~table[table.noise == noise].sort_values("rho").censored).to_numpy(float)
    return np.arange(20, 981) / 1000, np.convolve(learned, np.ones(41) / 41, "valid")


def falls_below(noise: str, level: float) -> float:
    """The first ρ at which the share of runs that learn is below a level; 1 if none is."""
    rho, rate = success_rate(noise)
    return float(rho[np.argmax(rate < level)]) if (rate < level).any() else 1.0


@claim("6.1.rho", "Section 6.1, figure 6", paper="stable for 0 < ρ < ρ*", kind="experiment",
       verdict=PARTLY)
def _():
    """With a slightly wrong basis RLSVI still learns: there is a region 0 < ρ < ρ* where learning
    is stable."""
    stable, half = {}, {}
    for noise in ("deviation", "variance"):
        stable[noise], half[noise] = (falls_below(noise, level) for level in (0.95, 0.5))
    table = store.load(FIGURES["fig6"])
    runs = table[table.noise == "deviation"].set_index("rho").tenth_reward
    start, edge = (float(np.median(runs[abs(runs.index - rho) <= 0.02]))
                   for rho in (0.02, stable["deviation"]))
    return Evidence(
        FAILS if stable["deviation"] <= 0.02 else HOLDS if edge < 2 * start else PARTLY,
        f"Success is stable, speed is not. With ρ a standard deviation 95% of runs learn up "
        f"to ρ = {stable['deviation']:.2f} and half of them up to {half['deviation']:.2f} (a "
        f"variance: {stable['variance']:.2f} and {half['variance']:.2f}); but the median learning "
        f"time grows from {start:.0f} episodes near 0 to {edge:.0f} at the edge.",
        {"stable": stable, "half": half, "start": start, "edge": edge})


@claim("6.1.rho-large", "Section 6.1, figure 6", paper="not effective for large ρ",
       kind="experiment", verdict=HOLDS)
def _():
    """With an extremely wrong basis RLSVI does not learn."""
    rates = {noise: float(success_rate(noise)[1][-1]) for noise in ("deviation", "variance")}
    return _unless(max(rates.values()) > 0.25, f"Share of runs that learned for ρ from 0.9 to 1: "
                   f"{rates['deviation']:.2g} (deviation), {rates['variance']:.2g} (variance).",
                   **rates)


@claim("6.1.binary", "Section 6.1, footnote 5", paper="Q* ∈ {0, 1}", kind="exact", verdict=FAILS)
def _():
    """On the chain Q* takes only the values 0 and 1."""
    Q = chain(20).Q
    between = float(((Q > 0.01) & (Q < 0.99)).mean())
    return Evidence(FAILS if between > 0 else HOLDS,
                    f"Slips put {100 * between:.0f}% of the entries (N = 20) strictly between, "
                    f"more than 0.01 from either end. As a remark on scale it stands: Q* lies in "
                    f"[0, 1].", {"between": between})


@claim("6.1.ucrl", "Section 6.1", paper="10^10 suboptimal episodes", kind="none", verdict=OPEN)
def _():
    """The best known bound for UCRL starts to say something after 10^10 suboptimal episodes."""
    return Evidence(OPEN, "Rests on the constants of another paper's appendix.", {})


@claim("6.1.figure-number", "Section 6.1", paper="Figure 1 shows …", kind="reading",
       verdict=MISPRINT)
def _():
    """The learning curves of RLSVI on the 50-chain are in Figure 1."""
    return Evidence(MISPRINT, "Figure 1 is the drawing of the chain; Figure 2 is meant.", {})


# --------------------------------------------------------------------------- appendix B

@claim("B.quantifiers", "Appendix B, Conjecture 1", paper="for all M … there exists poly",
       kind="reading", verdict=MISPRINT)
def _():
    """For every MDP and basis there is a polynomial that bounds the regret."""
    return Evidence(MISPRINT, "In this order the polynomial may depend on the MDP, and the "
                    "conjecture says little. One polynomial for all MDPs is meant.", {})


@claim("B.consistent", "Appendix B", paper="empirical results consistent with the conjecture",
       kind="exact", verdict=PARTLY)
def _():
    """The chain experiments are consistent with Conjecture 1."""
    mdp, K, lam, sigma = chain(50), 10, 1.0, 0.1
    Phi = bases.coherent(mdp.Q, K, 0)
    total, rank = 0.0, K
    for h in range(mdp.H):
        X = Phi[h].reshape(-1, K)
        theta, _, r, _ = np.linalg.lstsq(X, mdp.Q[h].ravel())
        total, rank = total + float(theta @ theta), min(rank, int(r))
    bounded, outside = total <= K * mdp.H / lam, mdp.terminal.max() > sigma
    return _unless(not (bounded and rank == K and outside),
                   f"Learning looks polynomial, but the experiments are not an instance: weights "
                   f"are unique and small (Σ‖θ‖² = {total:.2g} ≤ KH/λ = {K * mdp.H / lam:g}), yet "
                   f"the reward 1 lies outside [−σ, σ] with σ = {sigma:g}.", PARTLY,
                   squared_norm=total, bound=K * mdp.H / lam, rank=rank)


# --------------------------------------------------------------------------- appendix C

@claim("C.rescaling", "Appendix C", paper="exactly replicated", kind="exact", verdict=HOLDS)
def _():
    """Rescaling the features is undone exactly by rescaling the parameters."""
    mdp = chain(30)
    Phi = bases.coherent(mdp.Q, 8, 0)
    plain, *scaled = (rlsvi(c * Phi, c**2, 0.1, rng=1).learn(mdp, 500, 2).reward
                      for c in (1.0, 0.125, 64.0))
    same = all(np.array_equal(plain, other) for other in scaled)
    return _unless(not same or plain.sum() < 10, f"Features times c and λ times c² (σ unchanged): "
                   f"identical rewards in 500 episodes for c = 1/8 and 64 ({int(plain.sum())} "
                   f"rewards).", identical=same)


@claim("C.similar-scale", "Appendix C", paper="on a similar scale to Q*", kind="exact",
       verdict=FAILS)
def _():
    """Scaling columns to norm HSA puts the features on a similar scale to Q*."""
    mdp = chain(50)
    Phi = bases.coherent(mdp.Q, 10, 0)
    ratio = float(np.sqrt((Phi**2).mean()) / np.sqrt((mdp.Q**2).mean()))
    table = store.load(FIGURES["readings"])
    root = table[(table.reading == "stacked") & (table.norm == "√HSA")]
    learned = (~root.censored).groupby(root.lam).sum()
    return Evidence(HOLDS if ratio < 10 else FAILS,
                    f"For N = 50 the features' root mean square is {ratio:.0f} times that of Q*. "
                    f"Norm √(HSA) would give entries of size 1; with it {learned[1.0]} of "
                    f"{root.seed.nunique()} runs learn within 5000 episodes at λ = 1, and "
                    f"{learned[100.0]} at λ = 100.", {"ratio": ratio, "learned": learned.to_dict()})


def _robust(name: str, parameter: str) -> tuple[Any, Any]:
    """Final regret (median) and share of runs that learned, for each value of a parameter."""
    table = store.load(FIGURES[name])
    last = table[table.episode == table.episode.max()].groupby(parameter)
    return last.regret.median(), last.rewards.agg(lambda r: (r >= 10).mean())


def _stable_range(regret, learned, reference: float) -> tuple[float, float]:
    """The unbroken range around a reference value with at most twice its regret, 90% learning."""
    good = ((regret <= 2 * regret[reference]) & (learned >= 0.9)).to_numpy()
    low = high = regret.index.get_loc(reference)
    while low > 0 and good[low - 1]:
        low -= 1
    while high < len(good) - 1 and good[high + 1]:
        high += 1
    return regret.index[low], regret.index[high]


def _stability(name: str, parameter: str, symbol: str, reference: float) -> Evidence:
    regret, learned = _robust(name, parameter)
    low, high = _stable_range(regret, learned, reference)
    orders = np.log10(high / low)
    return _unless(orders < 2, f"Regret after 10 000 episodes stays within twice that at {symbol} "
                   f"= {reference:g}, and 90% of runs learn, for {symbol} from {low:.0e} to "
                   f"{high:.0e}: {orders:.0f} orders of magnitude.", regret=regret.to_dict(),
                   learned=learned.to_dict())


@claim("C.lambda", "Appendix C, figure 10", paper="remarkably stable", kind="experiment",
       verdict=HOLDS)
def _():
    """With σ = 0.1, learning is stable for λ over several orders of magnitude."""
    return _stability("fig10", "lam", "λ", 1.0)


@claim("C.sigma", "Appendix C, figure 11", paper="remarkably stable", kind="experiment",
       verdict=HOLDS)
def _():
    """With λ = 100, learning is stable for σ over several orders of magnitude."""
    return _stability("fig11", "sigma", "σ", 0.1)


@claim("C.large-sigma", "Appendix C", paper="slower learning", kind="experiment", verdict=HOLDS)
def _():
    """A large σ makes learning slower."""
    regret, _ = _robust("fig11", "sigma")
    return _unless(not regret[10.0] > regret[1.0] > regret[0.1],
                   f"Median regret after 10 000 episodes: {regret[0.1]:.0f} at σ = 0.1, "
                   f"{regret[1.0]:.0f} at 1, {regret[10.0]:.0f} at 10.", regret=regret.to_dict())


@claim("C.small-sigma", "Appendix C", paper="too small a σ may explore too little",
       kind="experiment", verdict=OPEN)
def _():
    """In a stochastic domain too small a σ makes the posterior concentrate too fast and
    exploration fail."""
    regret, learned = _robust("fig11", "sigma")
    hurt = regret[1e-5] > 2 * regret[0.1] or learned[1e-5] < 0.9
    return Evidence(HOLDS if hurt else OPEN,
                    f"The paper names no domain. On this chain it does not happen: at "
                    f"σ = 1e-05 the median regret is {regret[1e-5]:.0f} "
                    f"against {regret[0.1]:.0f} at 0.1, and {100 * learned[1e-5]:.0f}% of runs "
                    f"learn.",
                    {"regret": regret.to_dict()})


@claim("C.plateau", "Appendix C, figure 12", paper="linear in K, flat once K ≥ SA",
       kind="experiment", verdict=HOLDS)
def _():
    """Learning time rises with K at first and is level once K reaches SA."""
    cells = medians(store.load(FIGURES["fig4"]), "K")
    times, level = cells["median"], float(cells["median"][100])
    near = abs(times / level - 1) < 0.25
    from_K = min((int(K) for K in times.index if near[times.index >= K].all()), default=None)
    rising = cells["low"][20] > cells["high"][2]
    return _unless(from_K is None or from_K > 100 or not rising,
                   f"N = 50: from {times[2]:.0f} at K = 2 to {times[20]:.0f} at 20; from K = "
                   f"{from_K} on, well before SA = 100, all medians (to K = 150) lie within 25% of "
                   f"the one at 100, {level:.0f}.", flat_from=from_K, level=level)


@claim("C.quadratic", "Appendix C, figure 13", paper="fits the data pretty well",
       kind="experiment", verdict=HOLDS)
def _():
    """For each K, learning time is well described by a quadratic in N."""
    table, misses, better = store.load(FIGURES["fig13"]), [], []
    for K, runs in table.groupby("K"):
        if runs.N.nunique() > 4:
            cells = medians(runs, "N")["median"]
            fit = scaling.quadratic(cells.index.to_numpy(float), cells.to_numpy())
            misses.append(float(np.median(abs(fit / cells - 1))))
            laws = scaling.compare_laws(runs, "N")
            if laws["linear"] - laws["quadratic"] > 10:
                better.append(int(K))
    return _unless(max(misses) > 0.25, f"Typical miss of the fitted medians: at most "
                   f"{100 * max(misses):.0f}% for any K. The curvature is clear (AIC by 10) for "
                   f"{len(better)} of {len(misses)} values of K; elsewhere a line does as well.",
                   misses=misses, curved=better)


def tally() -> dict[str, int]:
    """How many claims are registered under each verdict."""
    verdicts = [one.verdict for one in REGISTER.values()]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def scoreboard(ids=None) -> str:
    """The claims and their verdicts as a Markdown table, judged now."""
    lines = ["| Claim | Paper | Here | Verdict |", "| --- | --- | --- | --- |"]
    for one in REGISTER.values():
        if ids is None or one.id in ids:
            found = one.judge()
            statement, paper, here = (text.replace("*", "\\*").replace("|", "&#124;")
                                      for text in (one.statement, one.paper, found.found))
            how = "" if one.kind == "none" else f" · {one.kind}"
            cells = f"**{statement}** {one.place}{how}", paper, here, found.verdict
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
