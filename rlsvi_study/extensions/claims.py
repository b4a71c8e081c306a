"""Claims of appendix F (incremental and continual learning) and of section 7 (closing remarks)."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from rlsvi_core import features
from rlsvi_core.agents import FiniteAgent, VerbatimAgent, rlsvi
from rlsvi_core.agents.continual import FastContinual
from rlsvi_core.agents.incremental import VerbatimIncremental, incremental
from rlsvi_core.envs.chains import arrival_probability, chain, lock

from .. import register
from ..choices import limit
from ..intervals import by_cell, for_all, median_interval
from ..register import (
    FAILS,
    HOLDS,
    MISPRINT,
    OPEN,
    PARTLY,
    Evidence,
    claim,
    graded,
    remark,
    slip,
    unless,
)
from ..store import Tables
from .runs import EXPERIMENTS, printed, value_travels, waits

STORED = Tables(EXPERIMENTS)
GAMMA = 0.99  # the paper names no discount factor


@claim("7.bound", "Section 7", "a regret bound that affirms efficiency", "reading", PARTLY)
def regret_bound():
    """The paper establishes a regret bound for RLSVI without generalization."""
    verdict = {id: one.verdict for id, one in register.claims_of("5", "G").items() if one.counts}
    steps, broken = len(verdict), list(verdict.values()).count(FAILS)
    mended = all(register.REGISTER[id].verdict == HOLDS
                 for id in ("5.theorem1", "5.lemma2", "G.gauss-dirichlet"))
    return Evidence(HOLDS if not broken else PARTLY if mended else FAILS, f"Of {steps} statements "
                    f"in section 5 and appendix G, {broken} do not hold as printed (consequences "
                    "of others not counted). The theorem and its lemmas are true, with other "
                    "proofs, on average over the prior, at the smallest λ and σ named; its "
                    "constant grows with both.",
                    {"steps": steps, "broken": broken})


@claim("7.effective", "Section 7", "where the state of the art is ineffective", "reading", PARTLY)
def effective_where_others_fail():
    """RLSVI explores efficiently in several environments where other approaches fail."""
    verdicts = {id: register.REGISTER[id].verdict
                for id in ("6.1.learns", "6.2.better", "6.3.dithering")}
    learns, better, needed = verdicts.values()
    return Evidence(FAILS if learns != HOLDS else HOLDS if better == needed == HOLDS else PARTLY,
                    f"That it learns the chain {learns} (6.1.learns), that it is better in Tetris "
                    f"{better} (6.2.better), that dithering falls short in the recommendation "
                    f"engine {needed} (6.3.dithering). The rival tried is LSVI with dithering, not "
                    "the state of the art.", {"verdicts": verdicts})


@claim("7.bootstrap", "Section 7", "via a nonparametric bootstrap", "experiment", PARTLY)
def bootstrap(tables=STORED):
    """A nonparametric bootstrap of the data can take the place of the posterior sample."""
    table = tables["bootstrap"]
    weights = table[table.agent == "bootstrap"].largest_weight
    far = waits(table[table.features == "tabular"], ["N", "agent"]).loc[14]
    alone, both, median = far.loc["bootstrap"], far.loc["bootstrap + prior"], far["median"]
    zero = bool((weights == 0).all())
    return Evidence(
        graded([not zero, both["high"] < alone["low"]]),
        f"Not by itself on the chain: all weights stay 0 until the first reward, in all "
        f"{len(weights)} runs, and {alone['lost']:.0f} of {alone['runs']:.0f} see none in 1000 "
        f"episodes at N = 14. A random prior explores: the first reward comes after "
        f"{both['median']:.0f} episodes in the median with a bootstrap, {median['prior']:.0f} "
        f"without, {median['rlsvi']:.0f} for RLSVI.", {"zero": zero, "medians": {
            agent: x if math.isfinite(x) else None for agent, x in median.items()}})


remark("7.nonlinear", "Section 7", "may still be useful in the nonlinear setting", "none", OPEN,
       "Randomized value functions are also useful with nonlinear value functions.",
       "It would take neural networks and their benchmarks; all value functions here are linear.")


remark("F.reference", "Appendix F", "Algorithms 1 and 8", "reading", MISPRINT,
       "Incremental RLSVI extends Algorithms 1 and 8, and acts by Algorithm 8.",
       "Algorithm 8 is for games without a horizon; Algorithm 2, of the same name, is meant.")


def _stored_numbers(agent) -> int:
    """How many numbers an agent keeps to plan from."""
    if isinstance(agent, VerbatimAgent):
        return sum(np.size(part) for period in agent.data for row in period for part in row)
    if isinstance(agent, FiniteAgent):
        return sum(part.size for part in agent._data)
    return agent.precision.size + agent.y.size


@claim("F.batch", "Appendix F.1", "needs all past observations", "instances", PARTLY)
def batch_keeps_all_data():
    """Batch RLSVI needs all past observations for its means: its episodes get ever slower."""
    mdp, sizes = chain(10), {}
    Phi = features.coherent(mdp.Q, 5, 0)
    printed_, sums = (rlsvi(Phi, rng=1, form=form) for form in (VerbatimAgent, FiniteAgent))
    for l, more in ((50, 50), (150, 100)):
        for agent in (printed_, sums):
            agent.learn(mdp, more, 2)
            sizes[f"{type(agent).__name__} {l}"] = _stored_numbers(agent)
    early, fixed, late, same = sizes.values()
    gap = float(np.abs(sums.theta - printed_.theta).max())
    return Evidence(graded([late == 3 * early, same > fixed or gap > 1e-6]), "As printed it keeps "
                    f"{early} numbers after 50 episodes and {late} after 150. But with finitely "
                    f"many states {fixed} sums, however long it runs, give the same weights.",
                    {"gap": gap, "sizes": sizes})


@claim("F.mean", "Appendix F.1", "θ̄ = Σ⁻¹y", "exact", MISPRINT)
def mean_formula():
    """The mean is the precision times y."""
    rng = np.random.default_rng(0)
    truth, Phi = rng.standard_normal(3), rng.standard_normal((1, 100, 1, 3))
    agent = incremental(Phi, 1e-6, 0.1, form=VerbatimIncremental)
    for s in range(100):
        agent.observe(0, s, 0, float(Phi[0, s, 0] @ truth), None)
    means = np.linalg.solve(agent.precision[0], agent.y[0]), agent.precision[0] @ agent.y[0]
    error, off = (float(np.abs(mean / truth - 1).max()) for mean in means)
    return Evidence(slip(off < limit("similar scale"), error < 1e-6), "θ̄ = Σy is meant: from 100 "
                    "exact observations it gives the weights, and Σ⁻¹y is "
                    f"{off:.0e} times too large.", {"error": error, "printed": off})


remark("F.last-period", "Appendix F.1", "r_lh + max (Φ_{h+1}θ̃_{l,h+1})", "reading", MISPRINT,
       "One and the same target serves every period.", "In the last period there is no θ̃_{l,H}, "
       "and r_{lH}, the chain's only reward, is left out. Algorithm 1's target is meant.")


@claim("F.step-size", "Appendix F.1", "ν_l controls the influence", "exact", HOLDS)
def step_size():
    """The step size controls how much past observations count."""
    agent = incremental(np.eye(2).reshape(1, 1, 2, 2), 1.0, 0.1, 0.01, form=VerbatimIncremental)
    for _ in range(1000):
        agent.observe(0, 0, 0, 0.0, None)
    tried, untried = 1 / np.diag(agent.precision[0])
    expected = sum(0.99**i for i in range(1000)) / 0.01 + 0.99**1000, 0.99**1000
    return unless(not np.allclose([1 / tried, 1 / untried], expected, rtol=1e-9, atol=0),
                  "It does: an observation's weight is multiplied by 1 − ν in each later episode. "
                  "So is the prior's, which the text does not say: 1000 episodes with ν = 0.01 "
                  f"make the variance without data {untried:.2g} times as large.",
                  tried=float(tried), untried=float(untried))


@claim("F.cost", "Appendix F.1", "episode-independent", "instances", HOLDS)
def constant_cost():
    """An episode of incremental RLSVI takes the same computation however many came before."""
    mdp, K, sizes = chain(10), 5, []
    agent = incremental(features.coherent(mdp.Q, K, 0), 1.0, 0.1, 0.01, rng=1,
                        form=VerbatimIncremental)
    for episodes in (1, 99, 100):
        agent.learn(mdp, episodes, 2)
        sizes.append(_stored_numbers(agent))
    return unless(set(sizes) != {mdp.H * K * (K + 1)}, f"It keeps HK(K+1) = {sizes[0]} numbers "
                  f"after 1, 100 and 200 episodes, and uses each once per episode (K = {K}).",
                  sizes=sizes)


def ratios(table: pd.DataFrame, by: list[str], agent: str, column: str,
           among: list[str]) -> pd.DataFrame:
    """What each other agent has in multiples of this one's, seed by seed: the median of each
    setting, with intervals that hold for all of them together."""
    pairs = [*by, "seed"]
    own = table[table.agent == agent].set_index(pairs)[column]
    rest = table[table.agent != agent].set_index(pairs)
    ratio = rest.assign(ratio=rest[column] / own.reindex(rest.index)).reset_index()
    one_of = for_all(len(ratio[by + among].drop_duplicates()))
    return by_cell(ratio, by + among, lambda cell: median_interval(cell.ratio, one_of)._asdict())


@claim("F.batch-better", "Appendix F.1", "expected: batch incurs lower regret", "experiment", HOLDS)
def batch_better(tables=STORED):
    """Batch RLSVI is more data-efficient than the incremental version and has lower regret."""
    table = tables["incremental"]
    multiples = ratios(table[table.episode == table.episode.max()], ["N", "lam"], "batch", "regret",
                    ["agent", "prior"])
    behind, ahead = int((multiples.low > 1).sum()), int((multiples.high < 1).sum())
    best = multiples.xs(1.0, level="lam").sort_values("median").groupby("N").first()
    found = ", ".join(f"{r.median:.3g} ({r.low:.3g} to {r.high:.3g}) at N = {r.Index}"
                      for r in best.itertuples())
    return Evidence(
        HOLDS if behind == len(multiples) else PARTLY if ahead == 0 else FAILS, "After 2000 "
        f"episodes incremental regret is higher in the median in {behind} of {len(multiples)} "
        f"settings, lower in {ahead} (95% for all together). With the best step size and λ = 1 it "
        f"is, in multiples of the batch version's, {found}.",
        {"behind": behind, "ahead": ahead, "settings": len(multiples),
         "best": {str(N): list(r) for N, r in best.iterrows()}})


def episodes_to_travel(k: int) -> float:
    """More than so many episodes until, with ν = 0, half of a reward is known k periods before it.

    v_k(l) = P(R_l > k) ≥ ½ makes k + 1 a lower bound for a median of R_l. Of a sum of independent
    coins no median exceeds the mean, rounded up, and this mean is at most 1 + log l: so
    k + 1 < 2 + log l.
    """
    return math.exp(k - 1)


@claim("F.travel", "Appendix F.1", register.OURS, "exact", HOLDS)
def reward_travels_back():
    """With ν = 0, frozen targets carry a reward back k periods in a time exponential in k."""
    v, far = value_travels(8, 0.0, 10_000), chain(50).H - 1
    half = {k: int(np.argmax(v[:, k] >= 0.5)) for k in (2, 4, 6, 8)}
    growth = (half[8] / half[2]) ** (1 / 6)
    constant = int(np.argmax(value_travels(far, 0.03, 5000)[:, far] >= 0.5))
    bounded = all(l > episodes_to_travel(k) for k, l in half.items())
    return unless(not bounded or growth < limit("multiplies"), "Half of a reward is known 8 "
                  f"periods earlier after {half[8]} episodes (one path, no noise), and "
                  f"{growth:.2g} times as many are needed for each further period. The {far} "
                  f"periods of the 50-chain take more than "
                  f"10^{int(math.log10(episodes_to_travel(far)))} episodes, or {constant} with "
                  f"ν = 0.03; dithering finds the reward in "
                  f"{1 / arrival_probability(50):.0e} episodes on average.",
                  half=half, growth=growth, constant=constant)


def marginal_variances(precision: Iterable[float]) -> dict[str, list[float]]:
    """Var w_0 = 0, Var w_1, … in one direction under both laws, given its posterior precision at
    t = 1, 2, …"""
    precision = list(precision)

    def variances(rho: float) -> list[float]:
        found = [0.0]
        for p in precision:
            found.append(rho**2 * found[-1] + (1 - rho**2) / p)
        return found

    return {"printed": variances(printed(GAMMA)), "mended": variances(GAMMA)}


@claim("F.autocorrelation", "Appendix F.2, Algorithm 13",
       "N(√(1−γ²) w_t, γ²Σ_{t+1}), to ensure autocorrelation", "exact", MISPRINT)
def autocorrelation():
    """The law of the perturbation makes consecutive ones strongly correlated."""
    still = marginal_variances([1.0] * 5000)
    same = all(math.isclose(V[-1], 1.0, rel_tol=1e-12) for V in still.values())
    rho = printed(GAMMA)  # Cov(w_t, w_{t+1}) = ρ Var(w_t)
    return Evidence(slip(same and rho > limit("uncorrelated"), same), "The coefficients are "
                    "exchanged: the variance tends to Σ, but w_t and w_{t+1} have the correlation "
                    f"√(1−γ²), {rho:.2f} at γ = {GAMMA}, in place of γ.",
                    {"printed": rho, "mended": GAMMA})


@claim("F.marginal", "Appendix F.2", "marginal covariances differ only slightly", "exact", FAILS,
       follows="F.autocorrelation")
def marginal_covariance():
    """The marginal covariance of the perturbation changes only slightly from step to step."""
    lam, sigma, first = 1.0, 0.1, 500  # a direction tried once, at step 500
    variances = marginal_variances([lam] * first + [lam + 1 / sigma**2])
    drop = {name: V[first] / V[first + 1] for name, V in variances.items()}
    return Evidence(HOLDS if drop["printed"] < limit("slightly") else FAILS, "When an action is "
                    f"first tried (λ = 1, σ = 0.1, γ = {GAMMA}) its variance falls "
                    f"{drop['printed']:.0f}-fold in one step as printed, "
                    f"{drop['mended']:.3g}-fold if mended.", drop)


@claim("F.explores", "Appendix F.2", "to incentivize exploration", "experiment", PARTLY)
def explores(tables=STORED):
    """The perturbations of continual RLSVI make it explore."""
    cells = waits(tables["continual"], ["agent", "gamma", "n"]).reset_index()
    opened = cells[np.isfinite(cells["median"])].groupby(["agent", "gamma"]).n.max()
    opened = opened.unstack(fill_value=0).reindex(["printed", "mended", "greedy"], fill_value=0)
    text = "; ".join(f"{n['printed']} moves as printed, {n['mended']} mended and {n['greedy']} "
                     f"without perturbation at γ = {gamma}" for gamma, n in opened.items())
    return Evidence(graded(opened.loc["printed"] > opened.loc["greedy"]),
                    "The longest lock (of 2 to 24 moves) that half of 20 runs open within 20000 "
                    f"steps has {text}.", {"longest": opened.to_dict("index")})


@claim("F.plans", "Appendix F.2", "avoiding abrupt changes is important", "experiment", HOLDS)
def longer_plans(tables=STORED):
    """Perturbations that change little from step to step let the agent carry out longer plans."""
    table = tables["continual"].query("agent in ('mended', 'printed')")
    each = ratios(table, ["gamma", "n"], "printed", "first_reward", [])
    long = each.index.get_level_values("n") >= limit("long plan")
    sooner, later = each.high < 1, each.low > 1
    wait = np.log(table[table.n >= limit("long plan")].pivot(
        index=["gamma", "n", "seed"], columns="agent", values="first_reward"))
    whole = median_interval(np.exp((wait.mended - wait.printed).groupby("seed").mean()))
    median = waits(table, ["agent", "gamma", "n"])["median"]
    one, two = median["mended", 0.95, 20], median["printed", 0.95, 20]
    wins, losses, settings = int(sooner[long].sum()), int(later[long].sum()), int(long.sum())
    return Evidence(
        HOLDS if whole.high < 1 and not losses else PARTLY if wins else FAILS,
        f"With the correlation γ a lock of {limit('long plan')} moves or more opens in "
        f"{whole.median:.2f} ({whole.low:.2f} to {whole.high:.2f}) times the steps that it takes "
        f"as printed: the geometric mean of {settings} settings, the median of 20 seeds. It opens "
        f"sooner in {wins} of them, later in {losses} (95% for all {len(each)} settings together): "
        f"with γ = 0.95 and 20 moves after {one:.0f} steps in the median against {two:.0f}. A "
        f"shorter lock opens sooner in {sooner[~long].sum()} of {(~long).sum()}, later in "
        f"{later[~long].sum()}.",
        {"ratio": whole, "wins": wins, "losses": losses, "settings": settings})


@claim("F.start", "Appendix F.2", register.OURS, "exact", HOLDS)
def start_from_zero():
    """From θ̃_0 = w_0 = 0 the first action is a tie; the perturbation then has nearly its full size
    at once as printed, and takes its time if mended."""
    agent = FastContinual(np.eye(4).reshape(2, 2, 4), GAMMA, GAMMA, rng=0)
    tied = not (agent.Phi @ agent.theta).any()
    agent.learn(lock(2), 1, 0)
    grown = marginal_variances([1.0] * 100)
    first = {name: V[1] for name, V in grown.items()}
    half = int(np.argmax(np.array(grown["mended"]) >= 0.5))
    return unless(not tied or not agent.w.any() or first["printed"] < limit("nearly"),
                  f"The variance of w_1 is {first['printed']:.2f} of its full size as printed, "
                  f"{first['mended']:.2f} if mended, and then half of it after {half} steps (γ = "
                  f"{GAMMA}). A draw w_0 ~ N(0, I/λ) would mend that too.", half=half, first=first)
