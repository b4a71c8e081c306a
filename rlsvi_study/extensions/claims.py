"""Claims of appendix F (incremental and continual learning) and of section 7 (closing remarks)."""

import numpy as np
import pandas as pd

from rlsvi_core import Agent, features
from rlsvi_core.envs.chains import chain

from ..engine import StoredTables
from ..judging.intervals import Median, median_interval, simultaneous_level, summarize_cells
from ..judging.outcomes import (
    DEPENDS,
    HOLDS,
    MISPRINT,
    Judgement,
    combine_parts,
    combine_readings,
    judge_unless,
    last_rows,
    misprint_verdict,
    verdict_if_all,
    verdict_of_interval,
)
from ..judging.register import Frames, claim
from ..judging.thresholds import CHOSEN, Limits
from .experiments import EXPERIMENTS, median_waits, printed_rho
from .printed_incremental import PrintedIncrementalLearner

STORED = StoredTables(EXPERIMENTS)
DISCOUNTS = (0.9, 0.95, 0.99)  # the paper names no discount factor
GAMMA = 0.99


@claim(
    "7.bootstrap",
    place="Section 7",
    paper="via a nonparametric bootstrap",
    kind="experiment",
    verdict=HOLDS,
)
def bootstrap_samples_posterior(tables: Frames = STORED) -> Judgement:
    """RLSVI might be adapted to take approximate posterior samples from a nonlinear value function
    via a nonparametric bootstrap.

    RLSVI was so adapted, by Osband and Van Roy (2015), whom the paper cites and who call artificial data critical,
    and with deep networks by Osband et al. (2016); here, with linear values and a random prior, it
    finds the reward of the 14-chain after a median of {both:.0f} episodes, and the prior alone, without
    resampling, after {prior:.0f}.

    RLSVI after {rlsvi:.0f}. Resampling alone, which is not the method cited, keeps all weights at 0 until the
    first reward, in {zero} of {runs} runs, and finds none in 1000 episodes in {lost} of {alone}.
    """
    table = tables["bootstrap"]
    plain = table[table.agent == "bootstrap"].largest_weight
    far = median_waits(table[table.features == "tabular"], ["N", "agent"]).loc[14]
    agents = ("bootstrap + prior", "prior", "bootstrap", "rlsvi")
    both, prior, alone, rlsvi = (far.loc[one] for one in agents)
    return judge_unless(
        both["high"] >= alone["low"],
        both=Median(*both[["median", "low", "high"]]),
        prior=Median(*prior[["median", "low", "high"]]),
        rlsvi=Median(*rlsvi[["median", "low", "high"]]),
        zero=int((plain == 0).sum()),
        runs=len(plain),
        lost=int(alone["lost"]),
        alone=int(alone["runs"]),
    )


@claim(
    "F.cost",
    place="Appendix F.1",
    paper="episode-independent",
    kind="instances",
    verdict=HOLDS,
)
def cost_stays_constant() -> Judgement:
    """The compute time per episode of these incremental algorithms, by summary statistics and by
    stochastic gradient descent, does not depend on the episode.

    With summary statistics RLSVI keeps HK(K + 1) numbers, however many episodes it has seen, and uses
    each once per episode; a stochastic gradient costs the same at any time, and so does a fixed number
    of them per episode.

    {sizes[0]}, {sizes[1]} and {sizes[2]} numbers after 1, 100 and 200 episodes on the 10-chain with K =
    {K}. Without a fixed number of gradients per episode the second would not be incremental.
    """
    mdp, K, sizes = chain(10), 5, []
    learner = PrintedIncrementalLearner(features.coherent(mdp.Q, K, 0), nu=0.01)
    for episodes in (1, 99, 100):
        Agent(learner, rng=1).learn(mdp, episodes, 2)
        sizes.append(learner.precision.size + learner.y.size)
    return judge_unless(set(sizes) != {mdp.H * K * (K + 1)}, K=K, sizes=sizes)


def regret_over_batch(table: pd.DataFrame) -> pd.DataFrame:
    """The regret of each incremental version as a multiple of the batch version's, seed by seed: the
    median of each setting, with intervals that hold for all of them together."""
    pairs = ["N", "lam", "seed"]
    settings = ["N", "lam", "agent", "prior"]
    batch = table[table.agent == "batch"].set_index(pairs).regret
    rest = table[table.agent != "batch"].set_index(pairs)
    ratio = rest.assign(ratio=rest.regret / batch.reindex(rest.index)).reset_index()
    one_of = simultaneous_level(len(ratio[settings].drop_duplicates()))
    return summarize_cells(
        ratio, settings, lambda cell: median_interval(cell.ratio, one_of)._asdict()
    )


@claim(
    "F.batch-better",
    place="Appendix F.1",
    paper="expected: batch incurs lower regret",
    kind="experiment",
    verdict=HOLDS,
)
def batch_better(tables: Frames = STORED) -> Judgement:
    """The batch version of RLSVI is expected to be more data efficient than these incremental
    algorithms and thus incur lower regret.

    The incremental version with summary statistics has more regret in {behind} of {settings} settings.

    The median over 20 seeds after 2000 episodes (95% for all together). On the {longest}-chain, with
    λ = 1 and the best step size, it has {times:.3g} times the batch version's. The other version, by
    stochastic gradient descent, the text names without a formula, a step size or a number of steps, so
    nothing can be run.
    """
    multiples = regret_over_batch(last_rows(tables["incremental"]))
    behind = int((multiples.low > 1).sum())
    best = multiples.xs(1.0, level="lam").sort_values("median").groupby("N").first()
    return judge_unless(
        behind < len(multiples),
        behind=behind,
        settings=len(multiples),
        longest=int(best.index[-1]),
        times=Median(*best.iloc[-1]),
    )


def variance_drop_at_first_trial(gamma: float) -> dict[str, float]:
    """By what factor the variance of the perturbation in one direction falls, under both laws, in the
    step after 500 without data in which that direction is tried (λ = 1, σ = 0.1)."""
    precision = [1.0] * 500 + [1.0 + 1 / 0.1**2]
    fall = {}
    for law, rho in (("printed", printed_rho(gamma)), ("corrected", gamma)):
        before = variance = 0.0
        for p in precision:
            before, variance = variance, rho**2 * variance + (1 - rho**2) / p
        fall[law] = before / variance
    return fall


@claim(
    "F.autocorrelation",
    place="Appendix F.2, Algorithm 13",
    paper="N(√(1−γ²) w_t, γ²Σ_{t+1}), to ensure autocorrelation",
    kind="exact",
    verdict=DEPENDS,
    on="condition",
)
def perturbation_autocorrelation(limits: Limits = CHOSEN) -> Judgement:
    """The law of the perturbations, its two coefficients exchanged back (a misprint), ensures
    autocorrelation, and that marginal covariances of consecutive ones differ only slightly.

    which γ is taken, as the paper names none: with the law as meant consecutive perturbations have the
    correlation γ, and when an action is first tried its variance falls {meant[0.99]:.3g}-fold in one
    step at γ = 0.99, but {meant[0.9]:.3g}-fold at 0.9.

    At γ = 0.95 it falls {meant[0.95]:.3g}-fold. As printed the law serves neither purpose when γ is
    near 1, so it is a misprint: the correlation is √(1−γ²), {printed[0.99]:.2f} at γ = 0.99, and the
    variance falls {fall[printed]:.0f}-fold. Slightly: by 5% to 25%.
    """
    falls = {gamma: variance_drop_at_first_trial(gamma) for gamma in DISCOUNTS}
    meant = {gamma: fall["corrected"] for gamma, fall in falls.items()}
    return Judgement(  # Cov(w_t, w_{t+1}) = ρ Var(w_t)
        combine_readings(
            {
                gamma: verdict_if_all(
                    gamma > limits["uncorrelated"], meant[gamma] < limits["slightly"]
                )
                for gamma in DISCOUNTS
            }
        ),
        {
            "printed": {f"{gamma:g}": printed_rho(gamma) for gamma in DISCOUNTS},
            "meant": {f"{gamma:g}": one for gamma, one in meant.items()},
            "fall": variance_drop_at_first_trial(GAMMA),
        },
    )


@claim(
    "F.marginal",
    place="Appendix F.2",
    paper="w_{t+1} ~ N(√(1−γ²) w_t, γ²Σ_{t+1})",
    kind="exact",
    verdict=MISPRINT,
    part_of="F.autocorrelation",
)
def marginal_covariance_changes(limits: Limits = CHOSEN) -> Judgement:
    """The marginal covariance of the perturbation changes only slightly from step to step.

    N(γ w_t, (1−γ²)Σ_{{t+1}}). When an action is first tried (λ = 1, σ = 0.1, γ = 0.99) its variance
    falls {printed:.0f}-fold in one step as printed, {corrected:.3g}-fold so.
    """
    fall = variance_drop_at_first_trial(GAMMA)
    return Judgement(
        misprint_verdict(
            fall["printed"] < limits["slightly"], fall["corrected"] < limits["slightly"]
        ),
        fall,
    )


def log_wait_ratio(table: pd.DataFrame, agent: str, than: str) -> pd.Series:
    """How much longer one agent waits than another until a lock opens, as a logarithm."""
    wait = np.log(table.pivot(index=["gamma", "n", "seed"], columns="agent", values="first_reward"))
    return wait[agent] - wait[than]


@claim(
    "F.explores",
    place="Appendix F.2",
    paper="to incentivize exploration",
    kind="experiment",
    verdict=DEPENDS,
    on="condition",
)
def continual_explores(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judgement:
    """Continual RLSVI, with the law that is meant (F.autocorrelation), perturbs value estimates in
    directions of significant uncertainty, which incentivizes exploration, and avoids abrupt changes,
    which allows the agent to execute multi-period plans.

    how long the plan is: at γ = 0.9, 0.95 and 0.99 locks of 12 moves or more open in
    {times[corrected][0.9]:.2f}, {times[corrected][0.95]:.2f} and {times[corrected][0.99]:.2f} times
    the steps taken without perturbation, and at 0.99 shorter ones in {short:.1f} times.

    With the law as printed, which changes them abruptly, long locks take {times[printed][0.9]:.2f},
    {times[printed][0.95]:.2f} and {times[printed][0.99]:.2f} times as many. Long ones open in
    {ratio:.2f} times the steps that the printed law takes, shorter ones in {shorter:.2f} times.
    Geometric mean over locks, median of 20 seeds, at most 20000 steps. A long plan has 8 to 16 moves
    at least.
    """
    table = tables["continual"]
    long = table.n >= limits["long plan"]

    def multiples(locks: pd.DataFrame, agent: str) -> dict[str, Median]:
        return {
            str(gamma): median_interval(np.exp(one.groupby("seed").mean()), simultaneous_level(6))
            for gamma, one in log_wait_ratio(locks, agent, "greedy").groupby("gamma")
        }

    def against_the_printed_law(locks: pd.DataFrame) -> Median:
        waits = log_wait_ratio(locks, "corrected", "printed")
        return median_interval(np.exp(waits.groupby("seed").mean()))

    def fewer(multiple: Median) -> str:
        return verdict_of_interval(-multiple.high, -multiple.low, -1)

    times = {agent: multiples(table[long], agent) for agent in ("printed", "corrected")}
    ratio, shorter = against_the_printed_law(table[long]), against_the_printed_law(table[~long])
    explores = combine_parts({gamma: fewer(one) for gamma, one in times["corrected"].items()})
    plans = combine_readings({"long plans": fewer(ratio), "shorter ones": fewer(shorter)})
    return Judgement(
        combine_parts({"explores": explores, "plans": plans}),
        {
            "times": times,
            "short": multiples(table[~long], "corrected")["0.99"],
            "ratio": ratio,
            "shorter": shorter,
        },
    )
