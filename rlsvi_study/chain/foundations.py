"""Claims of sections 1 to 4 and of appendix A: the problem, dithering, and the algorithms."""

import itertools

import numpy as np

from rlsvi_core import features
from rlsvi_core.agents import VerbatimAgent, lsvi, rlsvi
from rlsvi_core.agents.base import action_probabilities
from rlsvi_core.envs.chains import RIGHT, arrival_probability, chain
from rlsvi_core.mdp import FiniteMDP
from rlsvi_core.regression import GaussianPosterior

from .. import store
from ..register import FAILS, HOLDS, MISPRINT, OPEN, PARTLY, Evidence, claim, remark, unless
from .runs import EXPERIMENTS, learning_time, learning_times


def _random_mdp(rng, H=2, S=2, A=2) -> FiniteMDP:
    return FiniteMDP(rng.dirichlet(np.ones(S), (H, S, A)), rng.uniform(-1, 1, (H, S, A, S)),
                     terminal=rng.uniform(-1, 1, S), initial=rng.dirichlet(np.ones(S)))


def _policies(mdp: FiniteMDP):
    """Every deterministic policy, as (H, S) arrays."""
    return (np.array(actions).reshape(mdp.H, mdp.S)
            for actions in itertools.product(range(mdp.A), repeat=mdp.H * mdp.S))


# --------------------------------------------------------------------------- section 1

@claim("1.exponential", "Section 1", "exponential in the worst case", "exact", PARTLY)
def _():
    """Earlier algorithms with linear value functions can need time exponential in the horizon."""
    waits = {N: 1 / arrival_probability(N) for N in (10, 20, 30, 40, 50)}
    growth = (waits[50] / waits[10]) ** (1 / 40)
    return unless(not 1.99 < growth < 2.02, "Shown for dithering LSVI on the chain only: the "
                  f"expected wait for the first reward grows {growth:.3g}-fold with each further "
                  "state.", PARTLY, growth=growth)


@claim("1.gains", "Section 1", "dramatic efficiency gains", "experiment", HOLDS)
def _():
    """With identical features, RLSVI is dramatically more efficient than LSVI with dithering."""
    table = store.load(EXPERIMENTS["fig2a"])
    times, seeds = learning_times(table), table.seed.nunique()
    learned = {agent: int(np.isfinite(times.loc[agent]).sum()) for agent in times.index.levels[0]}
    median = learning_time(table, "rlsvi")
    return unless(
        learned["rlsvi"] < 0.9 * seeds or learned["epsilon-greedy"] > 0,
        f"50-chain, 2000 episodes: RLSVI learned in {learned['rlsvi']} of {seeds} seeds (median "
        f"{median.median:.0f} episodes, 95% interval {median.low:.0f}–{median.high:.0f}); "
        f"ε-greedy in {learned['epsilon-greedy']}.",
        learned=learned, seeds=seeds, median=median.median, interval=[median.low, median.high])


remark("1.lower-bound", "Section 1", "Õ(√(H³SAT)) is optimal up to logarithms", "none", OPEN,
       "The regret bound of Theorem 1 matches the worst-case lower bound up to logarithms.",
       "A statement about all algorithms. The later literature gives the lower bound Ω(√(H²SAT)) "
       "for time-dependent transitions, a factor √H below.")
remark("1.first", "Section 1", "first of its kind", "none", OPEN,
       "RLSVI is the first algorithm that is provably efficient without generalization and "
       "demonstrably efficient with it.", "A statement about the literature of 2016.")


# --------------------------------------------------------------------------- section 2

@claim("2.optimal-iff-greedy", "Section 2", "iff", "exact", HOLDS)
def _():
    """A policy is optimal in every state and period exactly if it is greedy for Q*."""
    rng, same = np.random.default_rng(0), []
    for mdp in (_random_mdp(rng) for _ in range(20)):
        for policy in _policies(mdp):
            optimal = np.allclose(mdp.evaluate(policy), mdp.V, atol=1e-12, rtol=0)
            same.append(optimal == np.take_along_axis(
                mdp.optimal_actions, policy[..., None], 2).all())
    policies, wrong = len(same), same.count(False)
    return unless(wrong > 0, f"All {policies} deterministic policies of 20 random MDPs: "
                  f"{wrong} exceptions.", policies=policies, exceptions=wrong)


@claim("2.regret", "Section 2", "E[V* − Σr]", "Monte Carlo", HOLDS)
def _():
    """Realised reward and exact policy evaluation give the same expected regret."""
    mdp = _random_mdp(rng := np.random.default_rng(1), H=4, S=3)
    policy, episodes = rng.integers(0, 2, (4, 3)), 100_000
    realised = mdp.value - mdp.simulate(policy, episodes, rng)[2].sum(axis=1)
    exact, error = mdp.regret(policy), realised.std() / np.sqrt(episodes)
    z = abs(realised.mean() - exact) / error
    return unless(z > 4.5, f"Exact {exact:.3g}, realised {realised.mean():.3g} ± {error:.1g} over "
                  f"{episodes} episodes (fails by chance 7 times in a million).",
                  exact=exact, realised=float(realised.mean()), standard_errors=float(z))


@claim("2.coherent", "Section 2", "Q* in the span of Φ", "exact", HOLDS)
def _():
    """The random basis of the experiments has Q* in its span (is coherent), the noisy one not."""
    mdp = chain(20)

    def residual(Phi) -> float:
        """The worst period's distance from Q* to the span, relative to Q*."""
        periods = zip(Phi.reshape(mdp.H, -1, 10), mdp.Q.reshape(mdp.H, -1), strict=True)
        return max(np.linalg.norm(X @ np.linalg.lstsq(X, q)[0] - q) / np.linalg.norm(q)
                   for X, q in periods)

    readings = [features.coherent(mdp.Q, 10, 0, reading=r) for r in ("stacked", "per_period")]
    inside, outside = max(map(residual, readings)), residual(features.agnostic(mdp.Q, 10, 0.1, 0))
    return unless(inside > 1e-9 or outside < 0.01, "Relative distance from Q* to the span: below "
                  f"1e-9 for both readings of the coherent basis, {outside:.2g} for the agnostic.",
                  coherent=inside, agnostic=outside)


# --------------------------------------------------------------------------- section 3

@claim("3.value", "Section 3", "p* = (1 − 1/N)^{N−1}", "exact", HOLDS)
def _():
    """On the chain, always going right is optimal and earns p* an episode."""
    error = max(abs(chain(N).value / (1 - 1 / N) ** (N - 1) - 1) for N in range(2, 101))
    right = all(chain(N).optimal_actions.diagonal()[RIGHT].all() for N in range(2, 30))
    return unless(error > 1e-12 or not right, "Dynamic programming agrees, N = 2 to 100.",
                  largest_relative_error=error)


@claim("3.others", "Section 3", "all other policies give no reward", "exact", PARTLY)
def _():
    """Every other policy earns nothing."""
    mdp = chain(4)
    policies = list(_policies(mdp))
    right = np.array([(policy.diagonal() == RIGHT).all() for policy in policies])  # on the path
    earned = np.array([mdp.value - mdp.regret(policy) for policy in policies])
    return unless(abs(earned - right * 0.75**3).max() > 1e-12,
                  "True of policies that turn left on the path 1, 2, …, N; off it actions do not "
                  f"matter. For N = 4, {right.sum()} of the {len(policies)} policies earn p*, the "
                  "rest exactly 0.", PARTLY, earning=int(right.sum()), policies=len(policies))


@claim("3.zero-weights", "Section 3, Example 1", "θ = 0 and uniform actions for l < l*", "exact",
       HOLDS)
def _():
    """Before the first reward, LSVI's weights are zero and dithering agents act uniformly."""
    mdp, episodes, wrong = chain(8), 0, False
    bases = (features.tabular(mdp), features.coherent(mdp.Q, 6, 0),
             features.agnostic(mdp.Q, 6, 0.5, 0))
    for Phi, dither in itertools.product(bases, ({"epsilon": 0.1}, {"eta": 0.1}, {})):
        agent, env, rewarded = lsvi(Phi, rng=1, **dither), np.random.default_rng(2), False
        while not rewarded:
            agent.plan()
            wrong |= bool(np.any(agent.theta) or np.any(agent.policy() != 0.5))
            rewarded = agent.learn(mdp, 1, env).reward.any()
            episodes += not rewarded
    return unless(wrong, f"Exactly zero, and actions exactly ½–½, throughout {episodes} unrewarded "
                  "episodes (N = 8; three bases; greedy, ε-greedy, Boltzmann).", episodes=episodes)


@claim("3.probability", "Section 3, Example 1", "p* 2^{−(S−1)}", "exact", HOLDS)
def _():
    """A uniformly random episode reaches the last state with probability p* 2^{−H}."""
    error = max(abs(arrival_probability(N) / (0.5 - 0.5 / N) ** (N - 1) - 1)
                for N in range(2, 61))
    return unless(error > 1e-12, "Dynamic programming agrees to rounding for N = 2 to 60.",
                  largest_relative_error=error)


@claim("3.wait", "Section 3, Example 1", "E[l*] ≥ 2^{S−1} − 1", "experiment", HOLDS)
def _():
    """The expected number of episodes before the first reward is at least 2^{S−1} − 1."""
    table = store.load(EXPERIMENTS["example1"])
    waits = table[table.agent == "epsilon-greedy"].groupby("N").unrewarded
    q = waits.mean().index.map(arrival_probability)
    z = (waits.mean() - (1 / q - 1)) / (np.sqrt(1 - q) / q / np.sqrt(waits.size()))
    worst, exact = float(abs(z).max()), 1 / arrival_probability(14) - 1
    return unless(worst > 4.5 or exact < 2**13 - 1 or table.censored.any(),
                  f"E[l*] = 2^(S−1)/p* − 1 exactly: {exact:.3g} for S = 14, where the bound says "
                  f"{2**13 - 1}. Simulated means lie within {worst:.2g} standard errors for "
                  f"all {len(z)} lengths.", exact_14=exact, bound_14=2**13 - 1, worst_z=worst)


@claim("3.regret", "Section 3, Example 1", "lim inf Regret ≥ 2^{S−1} − 1", "exact", HOLDS)
def _():
    """The regret of a dithering agent is in the long run at least 2^{S−1} − 1."""
    # Uniform play costs p* − q an episode and lasts 1/q episodes in the mean.
    error = max(abs(chain(N).regret(np.full((N - 1, N, 2), 0.5)) / arrival_probability(N)
                    / (2.0 ** (N - 1) - 1) - 1) for N in range(2, 61))
    return unless(error > 1e-9, "The search, its rewarded last episode included, costs "
                  "2^(S−1) − 1 exactly (N = 2 to 60): for it the paper's bound is an equality.",
                  largest_relative_error=error)


@claim("3.any-basis", "Section 3", "for any choice of basis function", "exact", HOLDS)
def _():
    """The first reward comes at the same time whatever the basis and whichever way one dithers."""
    mdp, first = chain(8), []
    bases = (features.tabular(mdp), features.coherent(mdp.Q, 4, 0),
             features.agnostic(mdp.Q, 4, 0.5, 0), np.zeros((mdp.H, mdp.S, mdp.A, 1)))
    dithers = {"epsilon": 0.05}, {"epsilon": 0.5}, {"eta": 0.01}, {"eta": 10.0}
    for Phi, dither in itertools.product(bases, dithers):
        reward = lsvi(Phi, rng=3, **dither).learn(mdp, 5000, 4).reward
        first.append(int(np.argmax(reward > 0)) if reward.any() else None)
    episode = set(first)
    return unless(len(episode) != 1 or None in episode, "Same random draws, N = 8: first reward in "
                  f"episode {', '.join(map(str, episode))} for all {len(first)} pairs of basis and "
                  "dithering.", episodes=list(episode), pairs=len(first))


remark("3.policy-gradient", "Section 3", "a similar result holds", "none", OPEN,
       "Policy gradient algorithms suffer in the same way.",
       "No algorithm is named. The argument carries over to any update that is zero while all "
       "returns are zero and that starts from the uniform policy.")


# --------------------------------------------------------------------------- section 4

@claim("4.posterior", "Section 4, Algorithm 1", "θ̄ and Σ of line 3", "exact", HOLDS)
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
    return unless(error > 1e-10, "Equal to conditioning the joint Gaussian of weights and data, "
                  "in 50 random problems, to rounding.", largest_error=error)


@claim("4.footnote", "Section 4, footnote 1", "hence θ̃ = 0 when l = 0", "reading", FAILS)
def _():
    """That the first sample is zero follows from there being no data."""
    K, lam = 3, 4.0
    covariance = GaussianPosterior(K, lam).covariance
    return Evidence(FAILS if np.allclose(covariance, np.eye(K) / lam) else HOLDS, "With no rows, "
                    "line 4 samples the prior N(0, I/λ). Zero is a convention that the footnote "
                    "adds; both are offered.", {"variance": covariance[0, 0], "lam": lam})


@claim("4.approximate-posterior", "Section 4", "approximates a posterior over value functions",
       "exact", PARTLY)
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
    return unless(error > 1e-10, "For H = 1 and Gaussian rewards it is the posterior itself (same "
                  "draws, same weights). For H > 1 later periods' samples enter as if they were "
                  "data.", PARTLY, largest_error=error)


# --------------------------------------------------------------------------- appendix A

@claim("A.ridge", "Appendix A", "argmin ‖Aζ − b‖² + λ‖ζ‖²", "exact", HOLDS)
def _():
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


@claim("A.dithering", "Appendix A", "ε and η set how far actions stray from greedy", "exact", HOLDS)
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
    return unless(not (rising and ends), f"The chance of a non-greedy action rises from 0 to "
                  f"1 − 1/A in ε, and from 0 to {by_eta[-1]:.3g} as η goes from 0.001 to 1000.",
                  at_eta_1000=by_eta[-1])


remark("A.boltzmann", "Appendix A, Algorithm 4", "a ~ E[Q/η]", "reading", MISPRINT,
       "Boltzmann exploration samples its action from E[(Φθ)(x, a)/η].",
       "An expectation is a number, not a law. Implemented as a ∝ exp(Q/η), the usual one.")
remark("A.target", "Appendix A, Algorithm 3", "θ̃ in the target", "reading", MISPRINT,
       "LSVI's targets use a sampled θ̃.",
       "Algorithm 3 computes no θ̃; its own θ of the next period is meant.")
