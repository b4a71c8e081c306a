"""Claims of appendix F (incremental and continual learning) and of section 7 (closing remarks)."""

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from rlsvi_core import features
from rlsvi_core.agents import FastAgent, VerbatimAgent, rlsvi
from rlsvi_core.agents.continual import FastContinual, printed
from rlsvi_core.agents.incremental import VerbatimIncremental, incremental
from rlsvi_core.envs.chains import arrival_probability, chain, lock

from .. import register, store
from ..register import FAILS, HOLDS, MISPRINT, OPEN, PARTLY, REGISTER, Evidence, claim, unless
from .runs import EXPERIMENTS, regret_ratio, value_travels, waits

# --------------------------------------------------------------------------- section 7

@claim("7.bound", "Section 7", "a regret bound that affirms efficiency", "reading", PARTLY)
def _():
    """The paper establishes a regret bound for RLSVI without generalization."""
    steps = [one for id, one in REGISTER.items() if id.startswith(("5.", "G."))
             and one.paper != register.OURS]
    broken = sum(one.verdict == FAILS for one in steps)
    mended = all(REGISTER[lemma].verdict == HOLDS for lemma in ("5.lemma2", "G.gauss-dirichlet"))
    return Evidence(
        HOLDS if not broken else PARTLY if mended else FAILS,
        f"Of {len(steps)} statements judged in section 5 and appendix G, {broken} do not hold as "
        f"printed. The two lemmas they serve are true, with other proofs; the bound does not cover "
        f"every λ and σ it is stated for.", {"steps": len(steps), "broken": broken})


@claim("7.effective", "Section 7", "explores efficiently in several environments where state of "
       "the art approaches are ineffective", "reading", PARTLY)
def _():
    """RLSVI explores efficiently in several environments where other approaches fail."""
    chain_, tetris, shop = (REGISTER[id] for id in ("6.1.learns", "6.2.better", "6.3.exploration"))
    return unless(chain_.verdict != HOLDS, f"On the chain, yes: learning {chain_.verdict}, and "
                  f"dithering waits 10^15 episodes. In Tetris the advantage {tetris.verdict}. In "
                  f"the recommendation engine the need for more than dithering {shop.verdict}. The "
                  "rival tried is LSVI with dithering, not the state of the art in exploration.",
                  HOLDS if tetris.verdict == shop.verdict == HOLDS else PARTLY,
                  verdicts={one.id: one.verdict for one in (chain_, tetris, shop)})


@claim("7.bootstrap", "Section 7", "approximate posterior samples via a nonparametric bootstrap",
       "experiment", PARTLY)
def _():
    """A nonparametric bootstrap of the data can take the place of the posterior sample."""
    table = store.load(EXPERIMENTS["bootstrap"])
    plain = table[table.agent == "bootstrap"]
    cells = waits(table[table.features == "tabular"], ["agent", "N"])
    far = {agent: cells.loc[agent, 14] for agent in ("rlsvi", "prior", "bootstrap + prior",
                                                     "bootstrap")}
    zero = bool((plain.largest_weight == 0).all())
    explores = far["bootstrap + prior"]["high"] < far["bootstrap"]["low"]
    return unless(
        not zero or not explores,
        f"Not by itself: until the first reward all weights are exactly 0 in all {len(plain)} "
        f"runs, so it acts uniformly, and at N = 14 {far['bootstrap']['lost']:.0f} of "
        f"{far['bootstrap']['runs']:.0f} runs see no reward in 1000 episodes. With a random prior "
        f"it explores: median {far['bootstrap + prior']['median']:.0f} episodes, RLSVI "
        f"{far['rlsvi']['median']:.0f}. But the random prior alone, without any resampling, takes "
        f"{far['prior']['median']:.0f}.", PARTLY,
        medians={agent: float(cell["median"]) if math.isfinite(cell["median"]) else None
                 for agent, cell in far.items()}, zero=zero)


@claim("7.nonlinear", "Section 7", "may still be useful in the nonlinear setting", "none", OPEN)
def _():
    """Randomized value functions are also useful with nonlinear value functions."""
    return Evidence(OPEN, "Needs neural networks and their benchmarks; nothing here is nonlinear.",
                    {})


# --------------------------------------------------------------------------- appendix F.1

@claim("F.reference", "Appendix F", "Algorithms 1 and 8", "reading", MISPRINT)
def _():
    """Incremental RLSVI extends Algorithms 1 and 8, and acts by Algorithm 8."""
    return Evidence(MISPRINT, "Two algorithms are called 'RLSVI with greedy action'. Number 8 is "
                    "the stationary one, of games without a horizon; number 2 is meant.", {})


def _stored_numbers(agent) -> int:
    """How many numbers an agent keeps to plan from."""
    if isinstance(agent, VerbatimAgent):
        return sum(column.size for period in agent.data for column in period)
    if isinstance(agent, FastAgent):
        return sum(part.size for part in agent._data)
    return agent.precision.size + agent.y.size


@claim("F.batch", "Appendix F.1", "needs all past observations", "exact", PARTLY)
def _():
    """The batch algorithm needs all past observations for its means, so that its episodes get
    slower and slower."""
    mdp = chain(10)
    Phi = features.coherent(mdp.Q, 5, 0)
    size, theta = {}, {}
    for form in (VerbatimAgent, FastAgent):
        agent = rlsvi(Phi, rng=1, form=form)
        for l in (50, 150):
            agent.learn(mdp, 50 if l == 50 else 100, 2)
            size[form.__name__, l] = _stored_numbers(agent)
        theta[form] = agent.theta
    gap = float(np.abs(theta[FastAgent] - theta[VerbatimAgent]).max())
    grows = size["VerbatimAgent", 150] == 3 * size["VerbatimAgent", 50]
    fixed = size["FastAgent", 150] == size["FastAgent", 50]
    return unless(not grows or not fixed or gap > 1e-6, "As printed, yes: the data kept grow from "
                  f"{size['VerbatimAgent', 50]} numbers after 50 episodes to "
                  f"{size['VerbatimAgent', 150]} after 150. But with finitely many states the sums "
                  f"of features by next state suffice: {size['FastAgent', 150]} numbers for ever, "
                  "and the same weights to rounding. With continuous states it stands.", PARTLY,
                  gap=gap, sizes={f"{name} {l}": n for (name, l), n in size.items()})


@claim("F.mean", "Appendix F.1", "θ̄ = Σ⁻¹y", "exact", MISPRINT)
def _():
    """The mean is the precision times y."""
    rng = np.random.default_rng(0)
    truth, Phi = rng.standard_normal(3), rng.standard_normal((1, 100, 1, 3))
    agent = incremental(Phi, 1e-6, 0.1, form=VerbatimIncremental)
    for s in range(100):
        agent.observe(0, s, 0, float(Phi[0, s, 0] @ truth), None)
    right = np.linalg.solve(agent.precision[0], agent.y[0])
    wrong = agent.precision[0] @ agent.y[0]
    error, off = (float(np.abs(x / truth - 1).max()) for x in (right, wrong))
    return unless(error > 1e-6 or off < 10, "θ̄ = Σy is meant. From 100 exact observations it "
                  f"gives the true weights to rounding; Σ⁻¹y is off by a factor of {off:.0e}. Nor "
                  "do its units fit: features times c and λ times c² leave φΣy as it is and "
                  "multiply φΣ⁻¹y by c⁴.", MISPRINT, error=error, printed=off)


@claim("F.last-period", "Appendix F.1", "r_lh + max (Φ_{h+1}θ̃_{l,h+1})", "reading", MISPRINT)
def _():
    """One and the same target serves every period."""
    return Evidence(MISPRINT, "In the last period it asks for a θ̃_{l,H} that does not exist, and "
                    "r_{lH} appears nowhere; on the chain that is the only reward. Algorithm 1's "
                    "r_{l,H−1} + r_{lH} is meant.", {})


@claim("F.step-size", "Appendix F.1", "ν_l controls the influence of past observations", "exact",
       PARTLY)
def _():
    """The step size controls how much past observations count."""
    agent = incremental(np.eye(2).reshape(1, 1, 2, 2), 1.0, 0.1, 0.01, form=VerbatimIncremental)
    for _ in range(1000):
        agent.observe(0, 0, 0, 0.0, None)
    tried, untried = (1 / agent.precision[0, k, k] for k in (0, 1))
    weights = sum(0.99**i for i in range(1000)) / 0.01
    wrong = not math.isclose(1 / tried, weights + 0.99**1000, rel_tol=1e-9)
    return unless(wrong or not math.isclose(untried, 0.99**-1000, rel_tol=1e-9),
                  "It does: row i keeps the weight ∏(1−ν_j) of the episodes since. But the prior "
                  "is forgotten as well. With ν = 0.01, after 1000 episodes without data in a "
                  f"direction its variance is {untried:.2g} times the prior's, and grows on "
                  "without end. And ν_l = 1/(l+1) is ruled out: it forgets the prior at once and "
                  "leaves Σ infinite.", PARTLY, tried=tried, untried=untried)


@claim("F.cost", "Appendix F.1", "episode-independent", "exact", HOLDS)
def _():
    """An episode of incremental RLSVI takes the same computation however many came before."""
    mdp = chain(10)
    agent = incremental(features.coherent(mdp.Q, 5, 0), 1.0, 0.1, 0.01, rng=1,
                        form=VerbatimIncremental)
    sizes = []
    for episodes in (1, 99, 100):
        agent.learn(mdp, episodes, 2)
        sizes.append(_stored_numbers(agent))
    H, K = agent.H, agent.K
    return unless(set(sizes) != {H * K * (K + 1)},
                  f"H·K·(K+1) = {sizes[0]} numbers after 1, 100 and 200 episodes (H = {H}, K = "
                  f"{K}), each touched once an episode, and H systems of size K solved. So it is "
                  f"for batch RLSVI with finitely many states.", sizes=sizes)


@claim("F.batch-better", "Appendix F.1", "expected: batch incurs lower regret", "experiment", HOLDS)
def _():
    """Batch RLSVI is more data-efficient than the incremental version and has lower regret."""
    table = store.load(EXPERIMENTS["incremental"])
    cells = table[["N", "lam"]].drop_duplicates().itertuples(index=False, name=None)
    ratios = {(*cell, *arm): ratio for cell in cells
              for arm, ratio in regret_ratio(table, *cell).items()}
    behind = sum(ratio.low > 1 for ratio in ratios.values())
    ahead = sum(ratio.high < 1 for ratio in ratios.values())
    best = {N: min((r for (n, lam, *_), r in ratios.items() if n == N and lam == 1),
                   key=lambda r: r.median) for N in sorted(table.N.unique())}
    found = "; ".join(f"{r.median:.2g} ({r.low:.2g} to {r.high:.2g}) at N = {N}"
                      for N, r in best.items())
    return Evidence(
        HOLDS if behind == len(ratios) else PARTLY if ahead == 0 else FAILS,
        f"In {behind} of {len(ratios)} settings (chain, λ, step size, prior) the incremental "
        f"version has more regret after 2000 episodes beyond doubt, in {ahead} less. Times batch "
        f"regret for the best step size, λ = 1: {found}.",
        {"behind": behind, "ahead": ahead, "settings": len(ratios),
         "best": {str(N): list(r) for N, r in best.items()}})


def episodes_to_travel(k: int) -> float:
    """More than so many episodes until, with ν = 0, half of a reward is known k periods before it.

    v_k(l) = P(R_l > k) ≥ ½ makes k + 1 a lower bound for a median of R_l. Of a sum of independent
    coins no median exceeds the mean, rounded up, and this mean is at most 1 + log l: so
    k + 1 < 2 + log l.
    """
    return math.exp(k - 1)


@claim("F.travel", "Appendix F.1", register.OURS, "exact", HOLDS)
def _():
    """If nothing is forgotten (ν = 0), frozen targets carry a reward back k periods in a time
    exponential in k."""
    v = value_travels(8, 0.0, 10_000)
    half = {k: int(np.argmax(v[:, k] >= 0.5)) for k in (2, 4, 6, 8)}
    growth = (half[8] / half[2]) ** (1 / 6)
    H = chain(50).H
    constant = int(np.argmax(value_travels(H - 1, 0.03, 5000)[:, H - 1] >= 0.5))
    bounded = all(l > episodes_to_travel(k) for k, l in half.items())
    return unless(not bounded or not 2.5 < growth < 3, "Without noise, on one path: half of the "
                  f"reward is known 2, 4, 6, 8 periods before it after {half[2]}, {half[4]}, "
                  f"{half[6]} and {half[8]} episodes, {growth:.2g} times as many for each further "
                  f"period. For the {H - 1} of the 50-chain it takes more than "
                  f"10^{int(math.log10(episodes_to_travel(H - 1)))}; dithering finds the reward "
                  f"there in {1 / arrival_probability(50):.0e}, in the mean. With ν = 0.03: "
                  f"{constant}.", half=half, growth=growth, constant=constant)


# --------------------------------------------------------------------------- appendix F.2

GAMMA = 0.99  # the paper names no discount factor


def marginal_variances(precision: Sequence[float]) -> dict[str, list[float]]:
    """Var w_0 = 0, Var w_1, … in one direction under both laws, given its posterior precision at
    t = 1, 2, …"""
    return {name: list(accumulate(precision, initial=0.0, func=lambda V, p, rho=rho: (
        rho**2 * V + (1 - rho**2) / p))) for name, rho in correlations().items()}


def correlations() -> dict[str, float]:
    return {"printed": printed(GAMMA), "mended": GAMMA}


@claim("F.autocorrelation", "Appendix F.2, Algorithm 13",
       "N(√(1−γ²) w_t, γ²Σ_{t+1}), to ensure autocorrelation", "exact", MISPRINT)
def _():
    """The law of the perturbation makes consecutive ones strongly correlated."""
    still = marginal_variances([1.0] * 5000)
    same = all(math.isclose(V[-1], 1.0, rel_tol=1e-12) for V in still.values())
    low, high = correlations().values()  # Cov(w_t, w_{t+1}) = ρ Var(w_t)
    return unless(not same or not low < 0.2 < 0.9 < high, "The two coefficients are exchanged. The "
                  "long-run variance is Σ either way, but the correlation of w_t and w_{t+1} as "
                  f"printed is √(1−γ²), {low:.2f} at γ = {GAMMA} and falling to 0 as γ tends to 1, "
                  f"where plans are longest. N(γw_t, (1−γ²)Σ_{{t+1}}) has {high:.2f}.", MISPRINT,
                  printed=low, mended=high)


@claim("F.marginal", "Appendix F.2", "marginal covariances differ only slightly", "exact", FAILS)
def _():
    """The marginal covariance of the perturbation changes only slightly from step to step."""
    lam, sigma, first = 1.0, 0.1, 500
    precision = np.full(1000, lam)
    precision[first:] += 1 / sigma**2  # a direction tried once, at step 500
    drop = {name: V[first] / V[first + 1] for name, V in marginal_variances(precision).items()}
    return Evidence(HOLDS if drop["printed"] < 1.1 else FAILS, "Not as printed: when an action is "
                    f"tried for the first time (λ = 1, σ = 0.1, γ = {GAMMA}) its variance falls "
                    f"{drop['printed']:.0f}-fold in one step, and from w_0 = 0 it jumps to "
                    f"{GAMMA**2:.2f} of its full size. Mended, no step takes away more than 1 − "
                    f"γ²: the same trial divides it by {drop['mended']:.3g}.", drop)


@claim("F.explores", "Appendix F.2",
       "perturbs in directions of significant uncertainty to incentivize exploration", "experiment",
       PARTLY)
def _():
    """Continual RLSVI explores where dithering does not."""
    cells = waits(store.load(EXPERIMENTS["continual"]), ["agent", "gamma", "n"])
    found = {agent: {gamma: max((int(n) for n, cell in cells.loc[agent, gamma].iterrows()
                                 if math.isfinite(cell["median"])), default=0)
                     for gamma in (0.9, 0.95, 0.99)} for agent in ("printed", "mended", "greedy")}
    further = [gamma for gamma in (0.9, 0.95, 0.99)
               if found["printed"][gamma] > found["greedy"][gamma]]
    text = ", ".join(f"{found['printed'][g]} as printed, {found['mended'][g]} mended and "
                     f"{found['greedy'][g]} for greedy play at γ = {g}" for g in (0.9, 0.95, 0.99))
    return Evidence(HOLDS if len(further) == 3 else PARTLY if further else FAILS,
                    "Longest lock (of 2 to 24 moves) that half of 20 runs open within 20 000 "
                    f"steps: {text}.", {"longest": found})


@claim("F.plans", "Appendix F.2", "avoiding abrupt changes is important", "experiment", HOLDS)
def _():
    """Perturbations that change little from step to step let the agent carry out longer plans."""
    cells = waits(store.load(EXPERIMENTS["continual"]), ["agent", "gamma", "n"])
    lasting, abrupt = cells.loc["mended"], cells.loc["printed"]
    sooner, later = lasting["high"] < abrupt["low"], abrupt["high"] < lasting["low"]
    long = cells.loc["mended"].index.get_level_values("n") >= 12
    one, two = lasting.loc[0.95, 20], abrupt.loc[0.95, 20]
    wins, losses, settings = int(sooner[long].sum()), int(later[long].sum()), int(long.sum())
    return Evidence(
        HOLDS if wins >= 0.8 * settings and not losses else PARTLY if wins else FAILS,
        f"With ρ = γ in place of √(1−γ²) a lock of 12 moves or more opens sooner beyond doubt in "
        f"{wins} of {settings} settings, later in {losses}. At γ = 0.95 and 20 moves: median "
        f"{one['median']:.0f} steps (95% interval {one['low']:.0f} to {one['high']:.0f}) against "
        f"{two['median']:.0f} (from {two['low']:.0f} on). Short plans do not need it: "
        f"with fewer moves the printed law is sooner in {int(later[~long].sum())} of "
        f"{int((~long).sum())}, later in {int(sooner[~long].sum())}.",
        {"wins": wins, "losses": losses, "settings": settings})


@claim("F.start", "Appendix F.2", register.OURS, "exact", HOLDS)
def _():
    """From θ̃_0 = w_0 = 0 the first action is a tie; the perturbation then has nearly its full size
    at once as printed, and takes its time if mended."""
    mdp = lock(2)
    agent = FastContinual(np.eye(4).reshape(2, 2, 4), GAMMA, GAMMA, rng=0)
    tied = not (agent.Phi @ agent.theta).any()
    agent.learn(mdp, 1, 0)
    grown = marginal_variances([1.0] * 100)
    half = next(t for t, V in enumerate(grown["mended"]) if V >= 0.5)
    return unless(not tied or not agent.w.any() or grown["printed"][1] < 0.9,
                  f"Variance of w_1 against its full size, γ = {GAMMA}: {grown['printed'][1]:.2f} "
                  f"as printed, {grown['mended'][1]:.2f} mended, which has half of it after {half} "
                  "steps. A draw w_0 ~ N(0, I/λ) would mend that too.", half=half,
                  first={name: V[1] for name, V in grown.items()})
