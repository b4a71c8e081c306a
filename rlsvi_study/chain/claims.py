"""Claims of sections 1 to 4 and 6.1, appendices A to C: the problem, the algorithms, the chain."""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression
from scipy.stats import beta, norm

from rlsvi_core import features
from rlsvi_core.agents import VerbatimAgent, lsvi, rlsvi
from rlsvi_core.agents.base import action_probabilities
from rlsvi_core.compiled import jit
from rlsvi_core.envs.chains import RIGHT, arrival_probability, chain
from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.regression import GaussianPosterior

from .. import register
from ..choices import limit
from ..intervals import Median, for_all, median_interval
from ..register import (
    CONTRADICTED,
    CONVENTION,
    FAILS,
    HOLDS,
    MISPRINT,
    OPEN,
    PARTLY,
    Evidence,
    claim,
    graded,
    remark,
    unless,
)
from ..store import Tables
from . import scaling
from .runs import EXPERIMENTS, learning_time, learning_times, medians

STORED = Tables(EXPERIMENTS)

def at_the_end(table: pd.DataFrame) -> pd.DataFrame:
    """The last rows of all learning curves."""
    return table.query("episode == episode.max()")


def _random_mdp(rng, H=2, S=2, A=2) -> FiniteMDP:
    return FiniteMDP(rng.dirichlet(np.ones(S), (H, S, A)), rng.uniform(-1, 1, (H, S, A, S)),
                     terminal=rng.uniform(-1, 1, S), initial=rng.dirichlet(np.ones(S)))


def _policies(mdp: FiniteMDP):
    """Every deterministic policy, as (H, S) arrays."""
    return (np.array(actions).reshape(mdp.H, mdp.S)
            for actions in itertools.product(range(mdp.A), repeat=mdp.H * mdp.S))


def _bases(mdp: FiniteMDP) -> list[np.ndarray]:
    """A tabular, a coherent and an agnostic basis."""
    return [features.tabular(mdp), features.coherent(mdp.Q, 4, 0),
            features.agnostic(mdp.Q, 4, 0.5, 0)]


def _since(good: pd.Series) -> int | None:
    """The first place from which on all is good."""
    return min((int(x) for x in good.index if good[good.index >= x].all()), default=None)


@claim("1.exponential", "Section 1", "exponential in the worst case", "exact", HOLDS)
def exponential_worst_case():
    """Earlier algorithms with linear value functions need, in the worst case, a time exponential in
    the number of parameters or in the horizon."""
    growth = (arrival_probability(10) / arrival_probability(50)) ** (1 / 40)
    every = register.REGISTER["B.any-algorithm"].verdict == HOLDS
    return Evidence(graded([growth > limit("multiplies"), every]), "LSVI with dithering does on "
                    f"the chain, where the wait for the first reward grows {growth:.3g}-fold with "
                    "each further state. If no more is known than that Q* is linear, so does every "
                    "algorithm, RLSVI included, in the parameters and the horizon together "
                    "(B.any-algorithm).", {"growth": growth, "every": every})


PRINTED = {"chain": (1.0, 0.1), "Tetris": (1.0, 1.0), "engine": (0.2, 1e-3**0.5)}  # λ and σ


@claim("1.only-exploration", "Section 1", "identical value functions, distinguished by how they "
       "explore", "exact", PARTLY)
def only_exploration_differs():
    """In the case studies RLSVI and LSVI have the same features and differ only in how they
    explore."""
    ridge = {name: lam / (lam * sigma**2) for name, (lam, sigma) in PRINTED.items()}
    return Evidence(
        graded(ratio < limit("slightly") for ratio in ridge.values()), "The features are the same. "
        "But at the printed parameters the penalty on large weights is λ in LSVI and λσ² in RLSVI: "
        f"LSVI's is {ridge['chain']:.0f} times as large on the chain, where it makes no difference "
        f"before the first reward, and {ridge['engine']:.0f} times in the recommendation engine, "
        "where it makes little (chapter E); in Tetris they are the same.", {"ridge": ridge})


@claim("1.gains", "Abstract, section 1, appendix B", "dramatic efficiency gains", "experiment",
       PARTLY)
def dramatic_gains(tables=STORED):
    """In the case studies, with identical features, RLSVI is dramatically more efficient than LSVI
    with dithering."""
    runs = tables["fig2a"]
    seeds, (median, low, high) = runs.seed.nunique(), learning_time(runs, "rlsvi")
    learned = np.isfinite(learning_times(runs)).groupby("agent").sum().to_dict()
    chain_gains = learned["rlsvi"] >= limit("learns") * seeds and learned["epsilon-greedy"] == 0
    others = {id: register.REGISTER[id].verdict for id in ("6.2.better", "6.3.boltzmann")}
    return Evidence(
        graded([True, *(verdict == HOLDS for verdict in others.values())])
        if chain_gains else FAILS,
        f"On the 50-chain {learned['rlsvi']} of {seeds} runs of RLSVI learn within 2000 episodes, "
        f"in the median after {median:.0f} (95% interval {low:.0f}–{high:.0f}), and "
        f"{learned['epsilon-greedy']} of ε-greedy LSVI. In Tetris the gain depends on how a game "
        f"ends (6.2.better: {others['6.2.better']}); in the recommendation engine it is large over "
        f"Boltzmann exploration (6.3.boltzmann: {others['6.3.boltzmann']}) and smaller over "
        "ε-greedy (6.3.dithering).",
        {"learned": learned, "seeds": seeds, "median": median, "interval": [low, high],
         "others": others})


remark("1.lower-bound", "Abstract and section 1", "Õ(√(H³SAT)) is optimal up to logarithms",
       "reading", CONTRADICTED,
       "The regret bound of Theorem 1 matches the worst-case lower bound up to logarithms.",
       "The lower bound is Ω(√(H²SAT)) when transitions change with the period (Jin et al. 2018, "
       "Theorem 3), a factor √H below, and √(HSAT) is reached when they do not (Azar, Osband and "
       "Munos 2017). Theorem 1 also bounds an average over MDPs, not the worst case.")
remark("1.first", "Section 1", "first of its kind", "none", OPEN,
       "RLSVI is the first algorithm that is provably efficient without generalization and "
       "demonstrably efficient with it.", "It would take a survey of the literature up to 2016.")


@claim("2.optimal-iff-greedy", "Section 2", "iff", "instances", HOLDS)
def optimal_iff_greedy():
    """A policy is optimal in every state and period exactly if it is greedy for Q*."""
    rng, same = np.random.default_rng(0), []
    for _ in range(20):
        mdp = _random_mdp(rng)
        for policy in _policies(mdp):
            optimal = np.allclose(mdp.evaluate(policy), mdp.V, atol=1e-12, rtol=0)
            greedy = np.take_along_axis(mdp.optimal_actions, policy[..., None], 2).all()
            same.append(optimal == greedy)
    wrong = same.count(False)
    return unless(wrong > 0, f"Among all {len(same)} deterministic policies of 20 random MDPs, "
                  f"none is one without the other: {wrong} exceptions.",
                  policies=len(same), exceptions=wrong)


@claim("2.regret", "Section 2", "E[V* − Σr]", "Monte Carlo", HOLDS)
def expected_regret():
    """Realised reward and exact policy evaluation give the same expected regret."""
    mdp = _random_mdp(rng := np.random.default_rng(1), H=4, S=3)
    policy, episodes = rng.integers(0, 2, (4, 3)), 100_000
    realised = mdp.value - mdp.simulate(policy, episodes, rng)[2].sum(axis=1)
    exact, error = mdp.regret(policy), realised.std() / np.sqrt(episodes)
    z = abs(realised.mean() - exact) / error
    return unless(z > limit("standard errors"), f"Regret per episode in a random MDP: {exact:.3g} "
                  f"by dynamic programming, {realised.mean():.3g} ± {error:.1g} (a standard error) "
                  f"from the rewards of {episodes} episodes.",
                  exact=exact, realised=float(realised.mean()), standard_errors=float(z))


@claim("2.coherent", "Sections 2 and 6.1", "Q* in the span of Φ", "instances", HOLDS)
def coherent_bases():
    """The random basis of the experiments has Q* in its span (is coherent); the noisy one has it
    for ρ = 0 and typically not for ρ > 0."""
    Q = chain(20).Q

    def residual(Phi) -> float:
        """The worst period's distance from Q* to the span, relative to Q*."""
        return max(np.linalg.norm(X @ np.linalg.lstsq(X, q)[0] - q) / np.linalg.norm(q)
                   for X, q in zip(Phi.reshape(19, -1, 10), Q.reshape(19, -1), strict=True))

    inside = max(residual(features.agnostic(Q, 10, 0.0, 0)),
                 *(residual(features.coherent(Q, 10, 0, reading=reading))
                   for reading in ("stacked", "per_period")))
    outside = residual(features.agnostic(Q, 10, 0.1, 0))
    return unless(inside > 1e-9 or outside < limit("outside"), "Distance from Q* to the span, as a "
                  "share of Q*: below 1e-9 for both readings of the coherent basis and for ρ = 0, "
                  f"{outside:.2g} for ρ = 0.1 (N = 20, K = 10).", coherent=inside, agnostic=outside)


@claim("3.value", "Section 3", "p* = (1 − 1/N)^{N−1}", "exact", HOLDS)
def value_of_going_right():
    """On the chain, always going right is optimal and earns p* per episode."""
    error = max(abs(chain(N).value / (1 - 1 / N) ** (N - 1) - 1) for N in range(2, 101))
    right = all(chain(N).optimal_actions.diagonal()[RIGHT].all() for N in range(2, 30))
    return unless(error > 1e-12 or not right, "The reward needs N − 1 steps right, each "
                  "with success probability 1 − 1/N. Dynamic programming agrees, N = 2 to 100.",
                  largest_relative_error=error)


@claim("3.others", "Section 3", "all other policies give no reward", "exact", PARTLY)
def other_policies_earn_nothing():
    """Every other policy earns nothing."""
    mdp = chain(4)
    policies = list(_policies(mdp))
    right = np.array([(policy.diagonal() == RIGHT).all() for policy in policies])  # on the path
    earned = np.array([mdp.value - mdp.regret(policy) for policy in policies])
    on_path = abs(earned - right * 0.75**3).max() <= 1e-12
    return Evidence(graded([on_path, on_path and right.sum() == 1]), "Every policy that goes left "
                    "somewhere on the way 1, …, N earns nothing. Off the way actions do not "
                    f"matter: for N = 4, {right.sum()} of {len(policies)} policies earn p*, the "
                    "rest 0.", {"earning": int(right.sum()), "policies": len(policies)})


@claim("3.zero-weights", "Section 3, Example 1", "θ = 0, uniform actions", "exact", HOLDS)
def zero_weights():
    """Before the first reward, LSVI's weights are zero and dithering agents act uniformly."""
    mdp, episodes, wrong = chain(8), 0, False
    for Phi, dither in itertools.product(_bases(mdp), ({"epsilon": 0.1}, {"eta": 0.1}, {})):
        agent, env, rewarded = lsvi(Phi, rng=1, **dither), np.random.default_rng(2), False
        while not rewarded:
            agent.plan()
            wrong |= bool(np.any(agent.theta) or np.any(agent.policy() != 0.5))
            rewarded = agent.learn(mdp, 1, env).reward.any()
            episodes += not rewarded
    return unless(wrong, "While all targets are 0 the weights are (AᵀA + λI)⁻¹Aᵀ0 = 0, all "
                  "actions tie, and ties are broken evenly. This was so in all "
                  f"{episodes} unrewarded episodes (N = 8; three bases; greedy, ε-greedy and "
                  "Boltzmann).", episodes=episodes)


@claim("3.probability", "Section 3, Example 1", "p* 2^{−(S−1)}", "exact", HOLDS)
def arrival_by_chance():
    """A uniformly random episode reaches the last state with probability p* 2^{−H}."""
    error = max(abs(arrival_probability(N) / (0.5 - 0.5 / N) ** (N - 1) - 1) for N in range(2, 61))
    return unless(error > 1e-12, "N − 1 coins must fall right, and each step succeed. Dynamic "
                  "programming agrees, N = 2 to 60.",
                  largest_relative_error=error)


@claim("3.wait", "Section 3, Example 1", "E[l*] ≥ 2^{S−1} − 1", "experiment", HOLDS)
def wait_for_first_reward(tables=STORED):
    """The expected number of episodes before the first reward is at least 2^{S−1} − 1."""
    runs, exact = tables["example1"], 1 / arrival_probability(14) - 1
    waits = runs[runs.agent == "epsilon-greedy"].groupby("N").unrewarded
    q = waits.mean().index.map(arrival_probability)
    z = (waits.mean() - (1 / q - 1)) / (np.sqrt(1 - q) / q / np.sqrt(waits.size()))
    worst = float(abs(z).max())
    return unless(worst > limit("standard errors") or exact < 2**13 - 1 or runs.censored.any(),
                  f"It is 2^(S−1)/p* − 1: for S = 14 that is {exact:.3g}, and the bound is "
                  f"{2**13 - 1}. All {len(z)} simulated means lie within {worst:.2g} standard "
                  "errors of it.",
                  exact_14=exact, bound_14=2**13 - 1, worst_z=worst)


@claim("3.regret", "Section 3, Example 1", "lim inf Regret ≥ 2^{S−1} − 1", "exact", HOLDS)
def regret_of_dithering():
    """The regret of a dithering agent is in the long run at least 2^{S−1} − 1."""
    # Uniform play costs p* − q per episode and lasts 1/q episodes on average.
    error = max(abs(chain(N).regret(np.full((N - 1, N, 2), 0.5)) / arrival_probability(N)
                    / (2.0 ** (N - 1) - 1) - 1) for N in range(2, 61))
    return unless(error > 1e-9, "The search for the first reward costs exactly that, its "
                  "rewarded episode included: p*/q − 1, where q = p* 2^(1−S) is the chance that "
                  "an episode is rewarded (S = 2 to 60).", largest_relative_error=error)


@claim("3.any-basis", "Section 3", "for any choice of basis function", "instances", HOLDS)
def any_basis():
    """The first reward comes at the same time whatever the basis and whichever way one dithers."""
    mdp = chain(8)
    bases = [*_bases(mdp), np.zeros((mdp.H, mdp.S, mdp.A, 1))]
    dithers = {"epsilon": 0.05}, {"epsilon": 0.5}, {"eta": 0.01}, {"eta": 10.0}
    rewards = [lsvi(Phi, rng=3, **dither).learn(mdp, 5000, 4).reward
               for Phi, dither in itertools.product(bases, dithers)]
    first = {int(reward.argmax()) if reward.any() else None for reward in rewards}
    return unless(len(first) != 1 or None in first, "With the same random draws (N = 8) the first "
                  f"reward comes in episode {', '.join(map(str, first))} for all {len(rewards)} "
                  "pairs of a basis and a way to dither.", episodes=list(first), pairs=len(rewards))


@jit
def reinforce(N, step_size, rewards, budget, rng):
    """Episodes until so many rewards of REINFORCE on the chain, from a uniform softmax policy; and
    how far its preferences had moved from zero before the first (the paper's l*)."""
    preference, path = np.zeros((N - 1, N)), np.zeros((N - 1, 2), np.int64)  # for right over left
    earned, moved, first = 0, 0.0, 0
    for episode in range(1, budget + 1):
        s = 0
        for h in range(N - 1):
            right = rng.random() < 1 / (1 + np.exp(-preference[h, s]))
            path[h, 0], path[h, 1] = s, int(right)
            s = min(s + 1, N - 1) if right and rng.random() < 1 - 1 / N else max(s - 1, 0)
        reward = 1.0 if s == N - 1 else 0.0
        for h in range(N - 1):  # the gradient of log π(a|s), times the return
            p = 1 / (1 + np.exp(-preference[h, path[h, 0]]))
            preference[h, path[h, 0]] += step_size * reward * (path[h, 1] - p)
        if earned == 0 and reward == 0:
            moved = max(moved, np.abs(preference).max())
        earned += int(reward)
        if earned == 1 and first == 0:
            first = episode
        if earned == rewards:
            return first, episode, moved
    return first, budget + 1, moved


@claim("3.policy-gradient", "Section 3", "a similar result holds", "Monte Carlo", HOLDS)
def policy_gradient():
    """Policy gradient algorithms suffer in the same way."""
    lengths, seeds, rng = range(4, 15, 2), 30, np.random.default_rng(12)
    found = {N: np.array([reinforce(N, 1.0, 10, 10**6, rng) for _ in range(seeds)])
             for N in lengths}
    q = {N: arrival_probability(N) for N in lengths}
    z = [(found[N][:, 0].mean() - 1 / q[N]) * q[N] / np.sqrt((1 - q[N]) / seeds) for N in lengths]
    moved, worst = max(runs[:, 2].max() for runs in found.values()), float(np.abs(z).max())
    first, tenth = found[14][:, :2].mean(axis=0)
    return unless(moved > 0 or worst > limit("standard errors") or 1 / q[14] < 2**13,
                  "REINFORCE, from a uniform softmax policy: while returns are zero so is its "
                  "gradient, and it stays uniform. So the first reward takes 2^(N−1)/p* episodes "
                  f"on average, {1 / q[14]:.3g} for N = 14; measured {first:.3g}, the tenth after "
                  f"{tenth:.3g} (step size 1, {seeds} runs for each of N = 4, 6, …, 14).",
                  moved=float(moved), worst_z=worst, first_14=first, tenth_14=tenth)


@claim("4.posterior", "Section 4, Algorithm 1", "θ̄ and Σ of line 3", "instances", HOLDS)
def posterior():
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
    return unless(error > 1e-10, "In 50 random problems it equals, to rounding, the law of the "
                  "weights given the data under their joint Gaussian law.", largest_error=error)


@claim("4.footnote", "Section 4, footnote 1", "hence θ̃ = 0 when l = 0", "reading", CONVENTION)
def no_data_convention():
    """When there are no data, the sample is set to zero."""
    lam = 4.0
    covariance = GaussianPosterior(3, lam).covariance
    return Evidence(CONVENTION if np.allclose(covariance, np.eye(3) / lam) else HOLDS, "It is "
                    "a choice: with no rows line 4 would sample the prior N(0, I/λ). The library "
                    "offers both.",
                    {"variance": covariance[0, 0], "lam": lam})


remark("4.data", "Section 4, Algorithms 1, 3 and 11", "data of episodes i < L", "reading", MISPRINT,
       "Before episode l the algorithm is given the data of all episodes i < L.",
       "Those of i < l are meant: A and b have l rows, and L is the number of all episodes.")
remark("4.inputs", "Section 4, Algorithms 1, 3 and 7", "data Φ(s_ih, a_ih), r_ih", "reading",
       MISPRINT, "The features of the pairs played and the rewards are all the data needed.",
       "A target is a maximum over the actions of the next state: their features are needed too, "
       "or the states themselves.")


def two_periods(n: int, lam: float, sigma: float) -> np.ndarray:
    """RLSVI's standard deviations of Q_0 and Q_1 in multiples of the posterior's: one state and one
    action, n rewards Q_1 + noise of the last period and n rewards Q_0 − Q_1 + noise before it.

    The posterior lets the first rewards speak about Q_1, too; RLSVI draws Q_1 without them.
    """
    weight = n / sigma**2
    exact = np.linalg.inv(lam * np.eye(2) + weight * np.array([[1, -1], [-1, 2]]))
    last = 1 / (lam + weight)  # of Q_1, and of Q_0 given Q_1
    return np.sqrt([(weight * last) ** 2 * last + last, last] / np.diag(exact))


@claim("4.approximate-posterior", "Section 4", "approximates a posterior", "instances", PARTLY)
def approximate_posterior():
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
    wider = float(max(two_periods(n, *PRINTED["chain"]).max() for n in (1, 10, 100)))
    seen = np.array([50.5, 50.5])  # Beta(½, ½) after 100 rewards, half of them −1
    lam, sigma = 2.0, np.sqrt(2.0)  # Theorem 1's smallest, for this prior and H = 1
    coin = float(sigma / np.sqrt(100 + lam * sigma**2) / beta.std(*seen))
    return Evidence(
        graded([True, wider < limit("slightly"), coin < limit("effective")]) if error <= 1e-10
        else FAILS, "For H = 1 and Gaussian rewards it samples the posterior itself. For H > 1 it "
        "treats the sampled values of later periods as if they had been observed, which a "
        f"posterior does not; with two periods its spread is at most {wider - 1:.1%} larger "
        "(λ = 1, σ = 0.1, one state and action, Gaussian rewards). With rewards −1 and 0 and "
        f"the λ and σ of Theorem 1 it is {coin:.2g} times as wide (H = 1, 100 rewards).",
        {"largest_error": error, "two_periods": wider, "coin": coin})


@claim("6.1.learns", "Section 6.1, figure 2", "roughly 500 episodes", "experiment", HOLDS)
def learns(tables=STORED):
    """RLSVI consistently learns the optimal policy of the 50-chain in roughly 500 episodes."""
    runs = tables["fig2a"].query("agent == 'rlsvi'")
    times, (median, low, high) = learning_times(runs), learning_time(runs, "rlsvi")
    settled = runs.groupby("seed").last_suboptimal.max().median()
    soon, early, seeds = int((times <= 500).sum()), int((times <= 1000).sum()), len(times)
    share = beta.ppf((0.025, 0.975), (early, early + 1), (seeds - early + 1, seeds - early))
    late, factor = int(np.isinf(times).sum()), limit("roughly")
    return unless(not (500 / factor <= median <= 500 * factor
                       and early >= limit("consistently") * seeds),
                  f"The tenth reward comes after {median:.0f} episodes in the median (95% interval "
                  f"{low:.0f}–{high:.0f}); {soon} of {seeds} runs have it within 500, {early} "
                  f"within 1000 (a share of {share[0]:.2f} to {np.nan_to_num(share[1], nan=1):.2f} "
                  f"with 95% confidence), {late} not within 2000. The last suboptimal policy comes "
                  f"in episode {settled:.0f} in the median.",
                  settled=settled, median=median, interval=[low, high], within_1000=early,
                  dithering=1 / arrival_probability(50))


@claim("6.1.dithering", "Section 6.1", "at least 10^15 episodes", "exact", PARTLY)
def dithering_wait():
    """On the 50-chain any dithering strategy would take at least 10^15 episodes."""
    q = arrival_probability(50)  # of a uniformly random episode
    mean, median, sooner = 1 / q, np.log(2) / q, -np.expm1(-q * 1e15)
    return Evidence(
        FAILS if mean < 1e15 else PARTLY if sooner > limit("at least") else HOLDS,
        f"In the mean and in the median it would: the first reward takes {mean:.3g} and "
        f"{median:.3g} episodes. But the wait is geometric: it is shorter than 10^15 with "
        f"probability {sooner:.2f}, and one run in twenty waits less than {-np.log(0.95) / q:.2g}.",
        {"mean": mean, "median": median, "sooner": sooner})


@claim("6.1.any-dithering", "Section 6.1, footnote 3", "any ε, η equivalent", "experiment", HOLDS)
def any_dithering(tables=STORED):
    """Before the first reward, it makes no difference how an agent dithers."""
    waits = tables["example1"].pivot(index=["N", "seed"], columns="agent", values="unrewarded")
    different = int((waits["epsilon-greedy"] != waits["boltzmann"]).sum())
    return unless(different > 0, "With the same draws ε-greedy and Boltzmann waited equally long "
                  f"in all {len(waits)} pairs of runs.", pairs=len(waits), different=different)


@claim("6.1.keeps", "Section 6.1", "maintains the optimal policy", "experiment", PARTLY)
def keeps_optimal_policy(tables=STORED):
    """From its first reward on, RLSVI plays the optimal policy in all but a few episodes."""
    long, short = (at_the_end(tables[name]).query("agent == 'rlsvi'")
                   for name in ("fig2b", "fig2a"))
    share = float((short.lapses / short.suboptimal).median())
    settled = (long.last_suboptimal < limit("settled") * long.episode).all()
    return Evidence(
        FAILS if not settled else PARTLY if share > limit("essentially") else HOLDS,
        f"In the long run, yes: of a million episodes {long.suboptimal.min()}–"
        f"{long.suboptimal.max()} are suboptimal, none after episode {long.last_suboptimal.max()} "
        f"(5 runs). But of its suboptimal episodes a run has {short.lapses.median():.0f}, or "
        f"{100 * share:.0f}%, after its first reward (medians of {len(short)} runs).",
        {"lapses": long.lapses.tolist(), "last": long.last_suboptimal.tolist(), "share": share})


@claim("6.1.numbers", "Section 6.1 and footnote 4",
       "2^99 > 10^28, H²SA > 10^6; 2^49 > 10^14, H²SA > 10^5", "exact", HOLDS)
def sizes_of_bounds(dithering_at_100=10**28):
    """The dithering and tabular bounds at N = 100 and N = 50 have the magnitudes stated."""
    size = {N: (2 ** (N - 1), (N - 1) ** 2 * N * 2) for N in (50, 100)}
    exceeded = np.greater((size[100], size[50]), ((dithering_at_100, 10**6), (10**14, 10**5)))
    said = ", ".join(f"{ours:.2g} and {tabular:.3g} for N = {N}"
                     for N, (ours, tabular) in size.items())
    return unless(not exceeded.all(), f"They are {said}.", sizes=size)


@claim("6.1.beats-bounds", "Section 6.1, figure 3", "< 2^{N−1}, H²SA/10", "experiment", HOLDS)
def beats_bounds(tables=STORED):
    """RLSVI with ten features learns faster than the dithering and the tabular bounds."""
    cells = medians(tables["fig3"], "N")
    N, median = cells.index.to_numpy(), cells["median"][100]
    tabular = pd.Series((N - 1) ** 2 * N * 2 / 10, N)
    from_N = _since(cells["high"] < np.minimum(tabular, 2.0 ** (N - 1)))
    return Evidence(FAILS if from_N is None else HOLDS if from_N == N.min() else PARTLY,
                    f"The median's interval lies below both from N = {from_N} to {N.max()}: at 100 "
                    f"the median is {median:.0f}, H²SA/10 is {tabular[100]:.3g}.",
                    {"from_N": from_N, "median_100": median})


@claim("6.1.generalization", "Section 6.1, figure 3", "generalization … to outperform these bounds",
       "experiment", PARTLY)
def generalization(tables=STORED):
    """Outperforming the tabular lower bound H²SA/10 demonstrates generalization."""
    with_ten, tabular = (medians(tables[name], "N") for name in ("fig3", "fig3-tabular"))
    N = tabular.index.to_numpy()
    line = pd.Series((N - 1) ** 2 * N * 2 / 10, N)
    no_bound = bool((tabular["high"] < line).all())  # tabular RLSVI is below it as well
    ten, one_hot = with_ten.loc[50], tabular.loc[50]
    helps = bool(ten["high"] < one_hot["low"])
    return Evidence(
        HOLDS if not no_bound else PARTLY if helps else FAILS,
        "Not by itself: tabular RLSVI, which cannot generalize, is below this line for every N "
        f"tried from {N.min()} to {N.max()}: at 50 its median is {one_hot['median']:.0f} episodes "
        f"(95% interval {one_hot['low']:.0f}–{one_hot['high']:.0f}), the line {line[50]:.0f}. A "
        "worst-case bound says nothing about this chain. What shows generalization is that ten "
        f"features take {ten['median']:.0f} ({ten['low']:.0f}–{ten['high']:.0f}), "
        f"{one_hot['median'] / ten['median']:.2g} times fewer.",
        {"tabular": tabular["median"].to_dict(), "line": line.to_dict(), "ten": ten["median"],
         "one_hot": [one_hot["low"], one_hot["high"]]})


@claim("6.1.features", "Section 6.1, figure 4", "graceful, flattening", "experiment", HOLDS)
def more_features(tables=STORED):
    """Learning time grows gracefully with K, and less and less as K nears the dimension 100."""
    cells = medians(tables["fig4"], "K")["median"]
    early, late = (cells[20] - cells[2]) / 18, (cells[100] - cells[50]) / 50
    listed = ", ".join(f"{cells[K]:.0f} (K = {K})" for K in (2, 20, 50, 100, 150))
    return unless(not (late < limit("flattening") * early and np.isfinite(cells).all()),
                  f"It takes {listed} episodes in the median. A further feature costs {early:.3g} "
                  f"episodes up to K = 20 and {late:.2g} from 50 to 100.",
                  medians=cells.to_dict(), early=early, late=late)


@claim("6.1.large-K", "Section 6.1, figure 4", "even for large K far superior", "experiment", HOLDS)
def large_K(tables=STORED):
    """Even with many features RLSVI is far below the dithering and the tabular bound."""
    cells = medians(tables["fig4"], "K").query("K >= 100")
    most, bound = float(cells["high"].max()), 49**2 * 50 * 2
    return unless(most > bound / 10, f"From K = 100 to {cells.index.max()} no median's interval "
                  f"reaches above {most:.0f} episodes; H²SA is {bound}, a tenth of it "
                  f"{bound // 10}, 2^49 is {2**49:.2g}. But with K ≥ SA = 100 nothing is "
                  "generalized: see 6.1.generalization.", most=most)


@claim("6.1.polynomial", "Section 6.1, figure 5", "polynomial learning", "experiment", HOLDS)
def polynomial_learning(tables=STORED):
    """Learning time is consistent with a polynomial in N and in K."""
    found, numbers, wrong = [], {}, False
    for name, axis, middle in (("fig3", "N", 50), ("fig4", "K", 20)):
        table = tables[name]
        laws = scaling.compare_laws(table, axis)
        ahead = laws["exponential"] - laws[["linear", "quadratic", "power"]].min()
        wrong |= ahead < limit("AIC")
        parts = [scaling.exponent(part, axis) for part in (
            table[table[axis] <= middle], table[table[axis] >= middle])]
        found.append(
            f"in {axis} a quadratic fits best (power law worse by {laws['power']:.0f} in AIC, "
            f"exponential by {laws['exponential']:.0f}), and the local power is "
            f"{_power(parts[0])} up to {axis} = {middle}, {_power(parts[1])} beyond")
        numbers[axis] = {"powers": [part._asdict() for part in parts], "aic": laws.to_dict()}
    return unless(wrong, f"Over the range tried: {'; '.join(found)}.", **numbers)


def _with_interval(of: Median) -> str:
    return f"{of.median:.2f} ({of.low:.2f} to {of.high:.2f})"


def _power(law: scaling.PowerLaw) -> str:
    return f"{law.power:.2f} ({law.low:.2f}–{law.high:.2f})"


def success_rates(fig6: pd.DataFrame) -> pd.DataFrame:
    """Share of figure 6's runs that learned, over a window of 41 values of ρ, for each noise."""
    lost = fig6.pivot(index="rho", columns="noise", values="censored")
    return (~lost).rename_axis(columns=None).rolling(41, center=True).mean().dropna()


def falls_below(fig6: pd.DataFrame, level: float, repeats: int = 300) -> dict[str, Median]:
    """The ρ at which the chance to learn falls below a level, for each noise: by the best falling
    curve (isotonic regression), with a 95% interval from runs drawn anew by that curve; 1 if it
    never does."""
    rng = np.random.default_rng(0)

    def fit(learned: np.ndarray) -> np.ndarray:
        return isotonic_regression(learned.astype(float), increasing=False).x

    def passage(curve: np.ndarray, rho: np.ndarray) -> float:
        return float(rho[below[0]]) if (below := np.flatnonzero(curve < level)).size else 1.0

    found = {}
    for noise, cell in fig6.sort_values("rho").groupby("noise"):
        curve, rho = fit(~cell.censored.to_numpy()), cell.rho.to_numpy()
        drawn = [passage(fit(rng.random(rho.size) < curve), rho) for _ in range(repeats)]
        found[noise] = Median(passage(curve, rho), *map(float, np.quantile(drawn, (0.025, 0.975))))
    return found


@claim("6.1.rho", "Section 6.1, figure 6", "stable for 0 < ρ < ρ*", "experiment", PARTLY)
def slightly_wrong_basis(tables=STORED):
    """There is some region 0 < ρ < ρ* of slightly wrong bases where learning remains stable."""
    fig6 = tables["fig6"]
    stable, half = falls_below(fig6, limit("stable ρ")), falls_below(fig6, 0.5)
    runs = fig6.query("noise == 'deviation'")
    half_window = limit("some region")

    def learning_time_near(rho: float) -> float:
        return float(runs[abs(runs.rho - rho) <= half_window].tenth_reward.median())

    start = learning_time_near(half_window)
    edge = learning_time_near(stable["deviation"].median)
    return Evidence(
        FAILS if stable["deviation"].median <= limit("some region")
        else HOLDS if edge < limit("same regret") * start else PARTLY,
        f"95% of runs learn up to ρ = {_with_interval(stable['deviation'])}, half up to "
        f"{_with_interval(half['deviation'])} (95% intervals; ρ read as a variance: "
        f"{stable['variance'].median:.2f} and {half['variance'].median:.2f}); but up to that first "
        f"ρ the median learning time grows from {start:.0f} to {edge:.0f} episodes.",
        {"stable": stable, "half": half, "start": start, "edge": edge})


@claim("6.1.rho-large", "Section 6.1, figure 6", "not effective for large ρ", "experiment", HOLDS)
def very_wrong_basis(tables=STORED):
    """With an extremely wrong basis RLSVI is not effective."""
    rates = success_rates(tables["fig6"]).iloc[-1].to_dict()
    shares = " and ".join(f"{rate:.2g} (as a {noise})" for noise, rate in rates.items())
    return unless(max(rates.values()) > limit("not effective"),
                  f"The share of runs that learn for ρ from 0.96 to 1 is {shares}.", **rates)


@claim("6.1.binary", "Section 6.1, footnote 5", "Q* ∈ {0, 1}", "exact", FAILS)
def binary_values():
    """On the chain Q* takes only the values 0 and 1."""
    Q, least = chain(20).Q, limit("neither")
    between = float(((Q > least) & (Q < 1 - least)).mean())
    return Evidence(FAILS if between > 0 else HOLDS, f"For N = 20, {100 * between:.0f}% of the "
                    f"values of Q* lie between {least:g} and {1 - least:g}. Q* ∈ [0, 1] is true.",
                    {"between": between})


remark("6.1.ucrl", "Section 6.1", "10^10 suboptimal episodes", "none", OPEN,
       "The best known bound for UCRL starts to say something after 10^10 suboptimal episodes.",
       "It rests on the constants of another paper's appendix. Its setting, H = 15 and S = 6, is "
       "not the 50-chain's, and with δ = 1 a bound promises nothing.")
remark("6.1.figure-number", "Section 6.1", "Figure 1 shows …", "reading", MISPRINT,
       "The learning curves of RLSVI on the 50-chain are in Figure 1.",
       "Figure 1 is the drawing of the chain; Figure 2 is meant.")


@claim("A.ridge", "Appendix A", "argmin ‖Aζ − b‖² + λ‖ζ‖²", "instances", HOLDS)
def ridge():
    """LSVI's weights minimise the penalised squared error of each period."""
    mdp = _random_mdp(np.random.default_rng(8), H=4, S=5, A=3)
    Phi, lam, worst = features.coherent(mdp.Q, 6, 9), 0.7, 0.0
    agent = lsvi(Phi, lam, epsilon=1.0, rng=10, form=VerbatimAgent)
    agent.learn(mdp, 40, 11)
    agent.plan()
    theta = np.vstack([agent.theta, np.zeros(6)])
    for h in range(mdp.H):
        A, b = agent.regression_problem(agent.data[h], theta[h + 1])
        gradient = A.T @ (A @ theta[h] - b) + lam * theta[h]
        worst = max(worst, np.abs(gradient).max() / np.abs(A.T @ b).max())
    return unless(worst > 1e-9, "The gradient vanishes to rounding in every period of a random "
                  "MDP with 40 episodes of data.", largest_relative_gradient=worst)


@claim("A.dithering", "Appendix A", "ε and η set how far actions stray from greedy",
       "instances", HOLDS)
def dithering_parameters():
    """The parameters ε and η control how far the actions are from greedy."""
    q, p = np.array([0.3, 1.0, 0.1, 0.9]), np.empty(4)

    def strays(epsilon, eta):
        action_probabilities(q, epsilon, eta, p)
        return 1 - p[1]

    by_epsilon = [strays(e, 0.0) for e in np.linspace(0, 1, 101)]
    by_eta = [strays(0.0, t) for t in np.geomspace(1e-3, 1e3, 101)]
    rising = np.all(np.diff(by_epsilon) > 0) and np.all(np.diff(by_eta) >= 0)
    ends = np.allclose([by_epsilon[0], by_epsilon[-1], by_eta[0]], [0, 0.75, 0], 0, 1e-12)
    return unless(not (rising and ends), "With four actions the chance of one that is not "
                  f"greedy rises from 0 to {by_epsilon[-1]:.2g} as ε goes from 0 to 1, and from 0 "
                  f"to {by_eta[-1]:.2g} as η goes from 0.001 to 1000.", at_eta_1000=by_eta[-1])


remark("A.boltzmann", "Appendix A, Algorithm 4", "a ~ E[Q/η]", "reading", MISPRINT,
       "Boltzmann exploration samples its action from E[(Φθ)(x, a)/η].",
       "An expectation is a number, not a law. The usual law is meant, and used here: a has "
       "probability proportional to exp(Q/η).")
remark("A.target", "Appendix A, Algorithm 3", "θ̃ in the target", "reading", MISPRINT, "LSVI's "
       "targets use a sampled θ̃.", "LSVI samples nothing; its own θ of the next period is meant.")


remark("A.empty", "Appendix A", "θ = 0 when l = 0", "reading", HOLDS,
       "When there are no data, LSVI's weights are zero.",
       "The formula itself gives (λI)⁻¹0 = 0 if A and b are empty; nothing has to be set.")
remark("A.terminal-reward", "Appendices A and E, Algorithms 4, 5 and 12", "observe r_lh and "
    "x_{l,h+1}",
       "reading", MISPRINT, "An episode's observations are the rewards of periods 0 to "
       "H − 1 and the states.",
       "The terminal reward r_{lH}, the chain's only one, is never observed; Algorithm 2 has the "
       "line “Observe r_{lH}”.")


remark("B.quantifiers", "Appendix B, Conjecture 1", "for all M … there exists poly", "reading",
       MISPRINT, "For every MDP and basis there is a polynomial that bounds the regret.",
       "In this order the polynomial may depend on the MDP, and no more is claimed than √T for "
       "each. One polynomial for all MDPs is meant. Both are refuted (B.conjecture-printed, "
       "B.conjecture-meant).")
remark("B.no-states", "Appendix B", "does not depend on the number of states or actions", "reading",
       HOLDS, "The conjectured bound does not depend on the number of states or actions but on the "
       "number of basis functions.", "S and A do not occur in it, K does.")


@claim("B.consistent", "Appendix B", "consistent with the conjecture", "exact", PARTLY)
def consistent_with_conjecture():
    """The chain experiments are consistent with Conjecture 1."""
    mdp, K, lam, sigma = chain(50), 10, 1.0, 0.1
    Phi, bound = features.coherent(mdp.Q, K, 0), K * mdp.H / lam
    fits = [np.linalg.lstsq(Phi[h].reshape(-1, K), mdp.Q[h].ravel()) for h in range(mdp.H)]
    total, rank = float(sum(fit[0] @ fit[0] for fit in fits)), int(min(fit[2] for fit in fits))
    return Evidence(graded([total <= bound and rank == K, mdp.terminal.max() <= sigma]),
                    f"Learning looks polynomial. But the experiments are no instance: the weights "
                    f"are unique and small (Σ‖θ‖² = {total:.2g} ≤ KH/λ = {bound:g}), and the "
                    f"reward 1 is above σ = {sigma:g}.",
                    {"squared_norm": total, "bound": bound, "rank": rank})


@claim("C.rescaling", "Appendix C", "exactly replicated", "instances", HOLDS)
def rescaling():
    """Rescaling the features is undone exactly by rescaling the parameters."""
    mdp = chain(30)
    Phi = features.coherent(mdp.Q, 8, 0)
    plain, *scaled = (rlsvi(c * Phi, c**2, 0.1, rng=1).learn(mdp, 500, 2).reward
                      for c in (1.0, 0.125, 64.0))
    same = all(np.array_equal(plain, other) for other in scaled)
    return unless(not same or plain.sum() < limit("rewards"), "Features times c need λ times c², "
                  f"σ as it is: the same {plain.sum():.0f} rewards in the same 500 episodes for c "
                  "= 1/8, 1 and 64.",
                  identical=same)


@claim("C.similar-scale", "Appendix C", "on a similar scale to Q*", "exact", FAILS)
def similar_scale(tables=STORED):
    """Scaling columns to norm HSA puts the features on a similar scale to Q*."""
    Q = chain(50).Q
    ratio = float(np.sqrt((features.coherent(Q, 10, 0)**2).mean()) / np.sqrt((Q**2).mean()))
    root = tables["readings"].query("reading == 'stacked' and norm == '√HSA'")
    learned = (~root.censored).groupby(root.lam).sum()
    return Evidence(HOLDS if ratio < limit("similar scale") else FAILS, "For N = 50 their root "
                    f"mean square is {ratio:.0f} times that of Q*. With the norm √(HSA), which is "
                    f"on that scale, {learned[1.0]} of {root.seed.nunique()} runs learn within "
                    f"5000 episodes at λ = 1 and {learned[100.0]} at λ = 100, the λ of "
                    "the paper's Figure 11.", {"ratio": ratio, "learned": learned.to_dict()})


def _robust(table: pd.DataFrame, parameter: str) -> tuple[pd.Series, pd.Series]:
    """Final regret (median) and share of runs that learned, for each value of a parameter."""
    last = at_the_end(table).groupby(parameter)
    return last.regret.median(), last.rewards.agg(lambda r: (r >= limit("rewards")).mean())


class Stable(NamedTuple):
    low: float
    high: float
    orders: float
    regret: pd.Series
    learned: pd.Series
    most: Median  # of the others' regret in the range, in multiples of the reference's

    @property
    def wide(self) -> bool:
        return self.orders >= limit("several orders")


def _stable(table: pd.DataFrame, parameter: str, reference: float) -> Stable:
    """The unbroken range around a value where nearly all runs learn with a similar regret."""
    regret, learned = _robust(table, parameter)
    good = (regret <= limit("same regret") * regret[reference]) & (learned >= limit("learns"))
    stretch = (~good).cumsum()  # counts the breaks so far: the same along an unbroken range
    stable = regret.index[good & (stretch == stretch[reference])]
    low, high = (stable.min(), stable.max()) if good[reference] else (reference, reference)
    runs = at_the_end(table).pivot(index="seed", columns=parameter, values="regret")
    others = runs.columns[(runs.columns >= low) & (runs.columns <= high)].drop(reference)
    most = max((median_interval(runs[value] / runs[reference], for_all(len(others)))
                for value in others), default=Median(1.0, 1.0, 1.0))
    return Stable(low, high, float(np.log10(high / low)), regret, learned, most)


def _stability(table: pd.DataFrame, parameter: str, symbol: str, reference: float) -> Evidence:
    found = _stable(table, parameter, reference)
    return unless(not found.wide, f"For {symbol} from {found.low:.0e} to {found.high:.0e}, "
                  f"{found.orders:.0f} orders of magnitude, 90% of runs learn, and median regret "
                  f"after 10000 episodes stays within twice that at {reference:g}.",
                  regret=found.regret.to_dict(), learned=found.learned.to_dict())


@claim("6.1.robust", "Section 6.1", "robust over several orders of magnitude in σ and λ",
       "experiment", HOLDS)
def robust(tables=STORED):
    """The results are robust over several orders of magnitude in both σ and λ."""
    lam, sigma = _stable(tables["fig10"], "lam", 1.0), _stable(tables["fig11"], "sigma", 0.1)
    return Evidence(
        graded([lam.wide, sigma.wide]), f"Median regret after 10000 episodes stays within twice "
        f"that of the reference, and 90% of runs learn, for λ from {lam.low:.0e} to {lam.high:.0e} "
        f"(σ = 0.1; {lam.orders:.0f} orders of magnitude) and for σ from {sigma.low:.0e} to "
        f"{sigma.high:.0e} (λ = 100; {sigma.orders:.0f}). Relative to the reference, "
        f"seed by seed, its median is at most {_with_interval(lam.most)} in the first range and "
        f"{_with_interval(sigma.most)} in the second (20 runs each, 95% for each range).",
        {"lam": [lam.low, lam.high], "sigma": [sigma.low, sigma.high],
         "most": {"lam": lam.most, "sigma": sigma.most}})


@claim("C.lambda", "Appendix C, figure 10", "remarkably stable", "experiment", HOLDS)
def stable_in_lambda(tables=STORED):
    """With σ = 0.1, learning is stable for λ over several orders of magnitude."""
    return _stability(tables["fig10"], "lam", "λ", 1.0)


@claim("C.sigma", "Appendix C, figure 11", "remarkably stable", "experiment", HOLDS)
def stable_in_sigma(tables=STORED):
    """With λ = 100, learning is stable for σ over several orders of magnitude."""
    return _stability(tables["fig11"], "sigma", "σ", 0.1)


@claim("C.large-sigma", "Appendix C", "slower learning", "experiment", HOLDS)
def large_sigma(tables=STORED):
    """A large σ makes learning slower."""
    regret, _ = _robust(tables["fig11"], "sigma")
    return unless(not regret[10.0] > regret[1.0] > regret[0.1],
                  f"Regret after 10000 episodes is {regret[0.1]:.0f} at σ = 0.1, "
                  f"{regret[1.0]:.0f} at 1 and {regret[10.0]:.0f} at 10 (medians, λ = 100).",
                  regret=regret.to_dict())


def bandit_regret(sigma: float, episodes: int = 400, lam: float = 1.0,
                  p: float = 0.75) -> np.ndarray:
    """Expected regret per episode of RLSVI with two arms, exactly: one pays ½ for sure, the other 1
    with probability p. What was seen is (pulls, wins) of the other; all chances are summed."""
    pulls, wins = np.ogrid[:episodes + 1, :episodes + 1]
    at = np.zeros((episodes + 1, episodes + 1))
    at[0, 0], cost = 1.0, np.empty(episodes)
    for l in range(episodes):
        seen, other = np.minimum(pulls, l) + lam * sigma**2, np.maximum(l - pulls, 0)
        known = other + lam * sigma**2
        gap = wins / seen - 0.5 * other / known  # of the posterior means
        spread = sigma * np.sqrt(1 / seen + 1 / known)
        pulled = at * (norm.cdf(gap / spread) if l else 0.5)  # the first episode is a tie
        cost[l] = (p - 0.5) * (1 - pulled.sum())
        at = at - pulled
        at[1:] += (1 - p) * pulled[:-1]
        at[1:, 1:] += p * pulled[:-1, :-1]
    return cost


@claim("C.small-sigma", "Appendix C", "too small a σ may explore too little", "exact", HOLDS)
def small_sigma(tables=STORED):
    """In a stochastic domain, too small a σ may concentrate the posterior too fast to explore."""
    cost = {sigma: bandit_regret(sigma) for sigma in (0.5, 0.01)}
    total = {sigma: float(np.sum(each)) for sigma, each in cost.items()}
    late = {sigma: float(each[-1] / 0.25) for sigma, each in cost.items()}
    regret, _ = _robust(tables["fig11"], "sigma")
    return unless(not total[0.01] > limit("same regret") * total[0.5], "A bandit: one arm pays ½, "
                  "the other 1 with probability ¾ and else 0 (λ = 1). After 400 episodes the worse "
                  f"arm is still played with probability {late[0.01]:.2f} at σ = 0.01, "
                  f"{late[0.5]:.2g} at σ = ½; expected regret {total[0.01]:.1f} against "
                  f"{total[0.5]:.1f}. Not on the chain, which has one reward: median regret "
                  f"{regret[1e-5]:.0f} at σ = 1e-05, {regret[0.1]:.0f} at 0.1.",
                  total=total, late=late, chain=regret.to_dict())


remark("C.column", "Appendix C", "A[·, 1] ∈ ℝⁿ", "reading", MISPRINT,
       "The first column of an m × n matrix is in ℝⁿ.", "It has m entries: ℝᵐ.")
remark("C.stack", "Appendix C, Algorithm 6, line 3", "Q* ← (Q*_1, …, Q*_h)", "reading", MISPRINT,
       "The stacked values end with period h.", "h is not bound there: (Q*_1, …, Q*_H), of length "
       "HSA. Elsewhere periods run from 0 to H − 1.")
remark("C.rescaled", "Appendix C", "we rescale the value function in step (9)", "reading", MISPRINT,
       "Step 9 of Algorithm 6 rescales the value function.",
       "It rescales the basis functions; the value function stays as it is.")


@claim("C.two-bases", "Section 6.1 and appendix C, Algorithm 6", "full details", "exact", MISPRINT)
def two_bases(tables=STORED):
    """Algorithm 6 has the full details of the basis that section 6.1 describes."""
    printed = tables["readings"].query("norm == 'HSA' and constant == 'rescaled' and "
                                       "opening == 'uniform' and lam == 1")
    times = medians(printed, "reading")
    text, algorithm = times.loc["per_period"], times.loc["stacked"]
    Q = chain(50).Q
    same = np.allclose(features.coherent(Q, 10, 0, reading="per_period"),
                       features.coherent(Q, 10, 0, reading="stacked"))
    return Evidence(HOLDS if same else MISPRINT, "These are two bases: the text projects in each "
                    "period by itself, the algorithm all periods stacked. Both are coherent, and "
                    f"with columns of norm HSA they take {text['median']:.0f} "
                    f"({text['low']:.0f}–{text['high']:.0f}) and {algorithm['median']:.0f} "
                    f"({algorithm['low']:.0f}–{algorithm['high']:.0f}) episodes in the median "
                    "(N = 50, K = 10). The algorithm is followed here.",
                    {"per_period": text["median"], "stacked": algorithm["median"]})


remark("C.captions", "Appendix C, figures 12 and 13", "Graceful scaling with number of basis "
       "functions", "reading", MISPRINT, "Two figures have the same caption and label.",
       "The second shows learning times against N with a quadratic for each K.")


@claim("C.plateau", "Appendix C, figure 12", "linear in K, flat once K ≥ SA", "experiment", HOLDS)
def plateau(tables=STORED):
    """Roughly, learning time rises linearly with K at first and is level once K reaches SA."""
    other_lengths = [runs for _, runs in tables["fig13"].groupby("N")]
    bent = max(float(scaling.compare_laws(runs[runs.K <= 20], "K")["linear"])
               for runs in (tables["fig4"], *other_lengths))
    cells = medians(tables["fig4"], "K")
    times, level = cells["median"], float(cells["median"][100])
    from_K = _since(abs(times / level - 1) < limit("level"))
    rising = cells["low"][20] > cells["high"][2]
    return unless(from_K is None or from_K > 100 or not rising or bent > limit("AIC"),
                  f"For N = 50 the median rises from {times[2]:.0f} episodes at K = 2 to "
                  f"{times[20]:.0f} at 20; from K = {from_K} on, long before SA = 100, all medians "
                  f"(to K = 150) are within 25% of the one at 100, {level:.0f}. Up to K = 20 no "
                  f"law beats a line clearly for any of {len(other_lengths)} other lengths either "
                  f"(by {bent:.2g} in AIC at most).", flat_from=from_K, level=level, bent=bent)


@claim("C.quadratic", "Appendix C, figure 13", "fits the data pretty well", "experiment", HOLDS)
def quadratic_in_N(tables=STORED):
    """For each K, learning time is well described by a quadratic in N."""
    misses, better = [], []
    for K, runs in tables["fig13"].groupby("K"):
        cells, laws = medians(runs, "N")["median"], scaling.compare_laws(runs, "N")
        fit = scaling.quadratic(cells.index.to_numpy(float), cells.to_numpy())
        misses.append(float(np.median(abs(fit / cells - 1))))
        if laws["linear"] - laws["quadratic"] > limit("AIC"):
            better.append(int(K))
    return unless(max(misses) > limit("pretty well"), "A quadratic typically "
                  f"misses the medians by {100 * max(misses):.0f}% or less. For {len(better)} of "
                  f"{len(misses)} values of K the curvature is clear (by 10 in AIC); for the "
                  "others a line does as well.",
                  misses=misses, curved=better)
