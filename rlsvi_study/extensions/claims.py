"""Claims of appendix F (incremental and continual learning) and of section 7 (closing remarks)."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from rlsvi_core import Agent, features, rlsvi
from rlsvi_core.envs.chains import chain, lock
from rlsvi_core.learners.continual import Continual

from ..engine import Tables
from ..judging.intervals import Median, by_cell, for_all, median_interval
from ..judging.outcomes import (
    DEPENDS,
    HOLDS,
    MISPRINT,
    Judged,
    agreed,
    decided,
    jointly,
    measured,
    slip,
    unless,
)
from ..judging.register import OURS, REGISTER, Frames, claim, remark
from ..judging.thresholds import CHOSEN, Limits
from ..worlds import arrival_probability
from .incremental import PrintedIncremental
from .runs import EXPERIMENTS, printed, value_travels, waits

STORED = Tables(EXPERIMENTS)
DISCOUNTS = 0.9, 0.95, 0.99  # the paper names no discount factor
GAMMA = DISCOUNTS[-1]


ENVIRONMENTS = {"chain": "6.1.generalization", "tetris": "6.2.better", "engine": "6.3.boltzmann"}


@claim(
    "7.effective",
    place="Section 7",
    paper="where state of the art approaches are ineffective",
    kind="reading",
    verdict=DEPENDS,
)
def effective_where_others_are_not() -> Judged:
    """RLSVI explores efficiently in several environments where state of the art approaches are
    ineffective.

    On what the state of the art is, which is not named: against LSVI with dithering it {chain} on the
    chain, {tetris} in Tetris and {engine} on the recommendation engine; against algorithms that
    explore, the paper compares nothing.

    The verdicts of 6.1.generalization, 6.2.better and 6.3.boltzmann.
    """
    verdicts = {name: REGISTER[id].verdict for name, id in ENVIRONMENTS.items()}
    hold, may = (
        sum(one in some for one in verdicts.values()) for some in ([HOLDS], [HOLDS, DEPENDS])
    )
    dithering = measured(hold, may, 1.5)  # several: two or more
    return Judged(jointly({"dithering": dithering, "others": DEPENDS}), verdicts)


@claim(
    "7.bootstrap",
    place="Section 7",
    paper="via a nonparametric bootstrap",
    kind="experiment",
    verdict=HOLDS,
)
def bootstrap(tables: Frames = STORED) -> Judged:
    """RLSVI might be adapted to take approximate posterior samples from a nonlinear value function
    via a nonparametric bootstrap.

    RLSVI was so adapted, by Osband and Van Roy (2015), whom the paper cites and who call artificial data critical,
    and with deep networks by Osband et al. (2016); here, with linear values and a random prior, it
    finds the reward of the 14-chain after a median of {both:.0f} episodes.

    RLSVI after {rlsvi:.0f}. Resampling alone, which is not the method cited, keeps all weights at 0 until the
    first reward, in {zero} of {runs} runs, and finds none in 1000 episodes in {lost} of {alone}.
    """
    table = tables["bootstrap"]
    plain = table[table.agent == "bootstrap"].largest_weight
    far = waits(table[table.features == "tabular"], ["N", "agent"]).loc[14]
    both, alone, rlsvi = (far.loc[one] for one in ("bootstrap + prior", "bootstrap", "rlsvi"))
    return unless(
        both["high"] >= alone["low"],
        both=Median(*both[["median", "low", "high"]]),
        rlsvi=Median(*rlsvi[["median", "low", "high"]]),
        zero=int((plain == 0).sum()),
        runs=len(plain),
        lost=int(alone["lost"]),
        alone=int(alone["runs"]),
    )


@claim(
    "F.batch",
    place="Appendix F.1",
    paper="needs all past observations",
    kind="instances",
    verdict=DEPENDS,
)
def batch_keeps_all_data() -> Judged:
    """Algorithm 1 is a batch algorithm, in the sense that it needs all past observations to compute
    its means, so its time per episode grows.

    On whether its steps are meant, or its means: as printed it keeps {sizes[rows 50]} numbers after
    50 episodes and {sizes[rows 150]} after 150; but states are finitely many, so observations can be
    counted, and {sizes[sums 150]} sums give the same means then and later.

    On the 10-chain with 5 features; the weights differ by {gap:.0e} at most.
    """
    mdp, sizes = chain(10), {}
    Phi = features.coherent(mdp.Q, 5, 0)
    batch, sums = (rlsvi(Phi, printed=printed, rng=1) for printed in (True, False))
    for l, more in ((50, 50), (150, 100)):
        for agent in (batch, sums):
            agent.learn(mdp, more, 2)
        rows = (row for period in batch.learner.kept for row in period)
        sizes[f"rows {l}"] = sum(np.size(part) for row in rows for part in row)
        sizes[f"sums {l}"] = sum(part.size for part in sums.learner.sums)
    gap = float(np.abs(sums.theta - batch.theta).max())
    grows = sizes["rows 150"] == 3 * sizes["rows 50"]
    other = gap > 1e-6 or sizes["sums 150"] > sizes["sums 50"]  # no other way to the same means
    readings = {"its steps": decided(grows), "its means": decided(grows, other)}
    return Judged(agreed(readings), {"gap": gap, "sizes": sizes})


@claim(
    "F.step-size",
    place="Appendix F.1",
    paper="ν_l controls the influence",
    kind="exact",
    verdict=HOLDS,
)
def step_size() -> Judged:
    """The step size controls the influence of past observations on the covariance and the mean.

    An observation's weight is multiplied by 1 − ν in each later episode, and so is the prior's.

    The text does not say the latter: 1000 episodes with ν = 0.01 make the variance without data
    {untried:.2g} times as large.
    """
    learner = PrintedIncremental(np.eye(2).reshape(1, 1, 2, 2), nu=0.01)
    for _ in range(1000):
        learner.add(0, 0, 0, 0.0, None)
    tried, untried = 1 / np.diag(learner.precision[0])
    expected = sum(0.99**i for i in range(1000)) / 0.01 + 0.99**1000, 0.99**1000
    return unless(
        not np.allclose([1 / tried, 1 / untried], expected, rtol=1e-9, atol=0),
        tried=float(tried),
        untried=float(untried),
    )


@claim(
    "F.cost",
    place="Appendix F.1",
    paper="episode-independent",
    kind="instances",
    verdict=HOLDS,
)
def constant_cost() -> Judged:
    """The compute time per episode of incremental RLSVI with summary statistics does not depend on
    the episode.

    It keeps HK(K + 1) numbers, however many episodes it has seen, and uses each once per episode.

    {sizes[0]}, {sizes[1]} and {sizes[2]} after 1, 100 and 200 episodes on the 10-chain with K = {K}.
    """
    mdp, K, sizes = chain(10), 5, []
    learner = PrintedIncremental(features.coherent(mdp.Q, K, 0), nu=0.01)
    for episodes in (1, 99, 100):
        Agent(learner, rng=1).learn(mdp, episodes, 2)
        sizes.append(learner.precision.size + learner.y.size)
    return unless(set(sizes) != {mdp.H * K * (K + 1)}, K=K, sizes=sizes)


remark(
    "F.cost-gradient",
    "Appendix F.1",
    "these incremental algorithms",
    DEPENDS,
    "The compute time per episode of incremental RLSVI by random sampling and stochastic gradient "
    "descent does not depend on the episode.",
    "On how many gradient steps an episode takes, which the paper does not say: a fixed number takes "
    "a fixed time, but need not approximate the means; as many as a given accuracy needs may grow.",
    "Past observations, from which samples are drawn, must all be stored. Nothing was run.",
)


def ratios(
    table: pd.DataFrame, by: list[str], agent: str, column: str, among: list[str]
) -> pd.DataFrame:
    """What each other agent has in multiples of this one's, seed by seed: the median of each
    setting, with intervals that hold for all of them together."""
    pairs = [*by, "seed"]
    own = table[table.agent == agent].set_index(pairs)[column]
    rest = table[table.agent != agent].set_index(pairs)
    ratio = rest.assign(ratio=rest[column] / own.reindex(rest.index)).reset_index()
    one_of = for_all(len(ratio[by + among].drop_duplicates()))
    return by_cell(ratio, by + among, lambda cell: median_interval(cell.ratio, one_of)._asdict())


@claim(
    "F.batch-better",
    place="Appendix F.1",
    paper="expected: batch incurs lower regret",
    kind="experiment",
    verdict=DEPENDS,
)
def batch_better(tables: Frames = STORED) -> Judged:
    """The batch version of RLSVI is expected to be more data efficient than these incremental
    algorithms and thus incur lower regret.

    On which of the two is meant: the incremental version with summary statistics has more regret in
    {behind} of {settings} settings; the one by stochastic gradient descent was not run.

    The median over 20 seeds after 2000 episodes (95% for all together). On the {longest}-chain, with
    λ = 1 and the best step size, it has {times:.3g} times the batch version's.
    """
    table = tables["incremental"]
    multiples = ratios(
        table[table.episode == table.episode.max()],
        ["N", "lam"],
        "batch",
        "regret",
        ["agent", "prior"],
    )
    behind = int((multiples.low > 1).sum())
    best = multiples.xs(1.0, level="lam").sort_values("median").groupby("N").first()
    incremental = {
        "summary statistics": decided(behind == len(multiples)),
        "stochastic gradient descent": DEPENDS,  # not run
    }
    return Judged(
        jointly(incremental),
        {
            "behind": behind,
            "settings": len(multiples),
            "longest": int(best.index[-1]),
            "times": Median(*best.iloc[-1]),
        },
    )


def episodes_to_travel(k: int) -> float:
    """More than so many episodes until, with ν = 0, half of a reward is known k periods before it.

    v_k(l) = P(R_l > k) ≥ ½ makes k + 1 a lower bound for a median of R_l. Of a sum of independent
    coins no median exceeds the mean, rounded up, and this mean is at most 1 + log l: so
    k + 1 < 2 + log l.
    """
    return math.exp(k - 1)


@claim(
    "F.travel",
    place="Appendix F.1",
    paper=OURS,
    kind="exact",
    verdict=HOLDS,
    part_of="F.batch-better",
)
def reward_travels_back(limits: Limits = CHOSEN) -> Judged:
    """With ν = 0, frozen targets carry a reward back k periods in a time exponential in k.

    Half of a reward is known 8 periods earlier after {half[8]} episodes (one path, no noise), and
    {growth:.2g} times as many are needed for each further period.

    The {far} periods of the 50-chain take more than {least:.0e} episodes, or {constant} with
    ν = 0.03; dithering finds the reward in {dithering:.0e} episodes on average.
    """
    v, far = value_travels(8, 0.0, 10_000), chain(50).H - 1
    half = {k: int(np.argmax(v[:, k] >= 0.5)) for k in (2, 4, 6, 8)}
    growth = (half[8] / half[2]) ** (1 / 6)
    bounded = all(l > episodes_to_travel(k) for k, l in half.items())
    return unless(
        not bounded or growth < limits["multiplies"],
        half=half,
        growth=growth,
        far=far,
        least=episodes_to_travel(far),
        constant=int(np.argmax(value_travels(far, 0.03, 5000)[:, far] >= 0.5)),
        dithering=1 / arrival_probability(50),
    )


def marginal_variances(
    precision: Iterable[float], gamma: float | None = None
) -> dict[str, list[float]]:
    """Var w_0 = 0, Var w_1, … in one direction under both laws, given its posterior precision at
    t = 1, 2, …"""
    precision, gamma = list(precision), GAMMA if gamma is None else gamma

    def variances(rho: float) -> list[float]:
        found = [0.0]
        for p in precision:
            found.append(rho**2 * found[-1] + (1 - rho**2) / p)
        return found

    return {"printed": variances(printed(gamma)), "corrected": variances(gamma)}


def _fall(variances: dict[str, list[float]]) -> dict[str, float]:
    """How many times as large the last but one is as the last."""
    return {name: V[-2] / V[-1] for name, V in variances.items()}


FIRST_TRIAL = [1.0] * 500 + [1.0 + 1 / 0.1**2]  # λ = 1, σ = 0.1: a direction tried at step 500


@claim(
    "F.autocorrelation",
    place="Appendix F.2, Algorithm 13",
    paper="N(√(1−γ²) w_t, γ²Σ_{t+1}), to ensure autocorrelation",
    kind="exact",
    verdict=DEPENDS,
)
def autocorrelation(limits: Limits = CHOSEN) -> Judged:
    """The law of the perturbations, its two coefficients exchanged back (a misprint), ensures
    autocorrelation, and that marginal covariances of consecutive ones differ only slightly.

    On γ, which the paper does not name: with the law as meant consecutive perturbations have the
    correlation γ, and when an action is first tried its variance falls {meant[0.99]:.3g}-fold in one
    step at γ = 0.99, but {meant[0.9]:.3g}-fold at 0.9.

    At γ = 0.95 it falls {meant[0.95]:.3g}-fold. As printed the law serves neither purpose when γ is
    near 1, so it is a misprint: the correlation is √(1−γ²), {printed[0.99]:.2f} at γ = 0.99, and the
    variance falls {fall[printed]:.0f}-fold. Slightly: by 5% to 25%.
    """
    falls = {gamma: _fall(marginal_variances(FIRST_TRIAL, gamma)) for gamma in DISCOUNTS}
    meant = {gamma: fall["corrected"] for gamma, fall in falls.items()}
    return Judged(  # Cov(w_t, w_{t+1}) = ρ Var(w_t)
        agreed(
            {
                gamma: decided(gamma > limits["uncorrelated"], meant[gamma] < limits["slightly"])
                for gamma in DISCOUNTS
            }
        ),
        {
            "printed": {f"{gamma:g}": printed(gamma) for gamma in DISCOUNTS},
            "meant": {f"{gamma:g}": one for gamma, one in meant.items()},
            "fall": falls[DISCOUNTS[-1]],
        },
    )


@claim(
    "F.fixed",
    place="Appendix F.2",
    paper=OURS,
    kind="exact",
    verdict=HOLDS,
    part_of="F.autocorrelation",
)
def fixed_covariance() -> Judged:
    """While Σ does not change, the variance of the perturbation tends to it under both laws.

    To rounding, after 5000 steps without data.
    """
    ends = {name: V[-1] for name, V in marginal_variances([1.0] * 5000).items()}
    return unless(any(not math.isclose(V, 1.0, rel_tol=1e-12) for V in ends.values()), **ends)


@claim(
    "F.marginal",
    place="Appendix F.2",
    paper="w_{t+1} ~ N(√(1−γ²) w_t, γ²Σ_{t+1})",
    kind="exact",
    verdict=MISPRINT,
    part_of="F.autocorrelation",
)
def marginal_covariance(limits: Limits = CHOSEN) -> Judged:
    """The marginal covariance of the perturbation changes only slightly from step to step.

    N(γ w_t, (1−γ²)Σ_{{t+1}}). When an action is first tried (λ = 1, σ = 0.1, γ = 0.99) its variance
    falls {printed:.0f}-fold in one step as printed, {corrected:.3g}-fold so.
    """
    fall = _fall(marginal_variances(FIRST_TRIAL))
    return Judged(
        slip(fall["printed"] < limits["slightly"], fall["corrected"] < limits["slightly"]), fall
    )


def longer(table: pd.DataFrame, agent: str, than: str) -> pd.Series:
    """How much longer one agent waits than another until a lock opens, as a logarithm."""
    wait = np.log(table.pivot(index=["gamma", "n", "seed"], columns="agent", values="first_reward"))
    return wait[agent] - wait[than]


@claim(
    "F.explores",
    place="Appendix F.2",
    paper="to incentivize exploration",
    kind="experiment",
    verdict=DEPENDS,
)
def explores(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judged:
    """Continual RLSVI, with the law that is meant (F.autocorrelation), perturbs value estimates in
    directions of significant uncertainty, which incentivizes exploration.

    On how long the plan is: at γ = 0.9, 0.95 and 0.99 locks of 12 moves or more open in
    {times[corrected][0.9]:.2f}, {times[corrected][0.95]:.2f} and {times[corrected][0.99]:.2f} times
    the steps taken without perturbation, and at 0.99 shorter ones in {short:.1f} times.

    With the law as printed long locks take {times[printed][0.9]:.2f}, {times[printed][0.95]:.2f} and
    {times[printed][0.99]:.2f} times as many. Geometric mean over locks, median of 20 seeds, at most
    20000 steps. A long plan has 8 to 16 moves at least.
    """
    table = tables["continual"]
    long = table.n >= limits["long plan"]

    def multiples(locks: pd.DataFrame, agent: str) -> dict[str, Median]:
        return {
            str(gamma): median_interval(np.exp(one.groupby("seed").mean()), for_all(6))
            for gamma, one in longer(locks, agent, "greedy").groupby("gamma")
        }

    times = {agent: multiples(table[long], agent) for agent in ("printed", "corrected")}
    sooner = {gamma: measured(-one.high, -one.low, -1) for gamma, one in times["corrected"].items()}
    short = multiples(table[~long], "corrected")["0.99"]
    return Judged(jointly(sooner), {"times": times, "short": short})


@claim(
    "F.plans",
    place="Appendix F.2",
    paper="avoiding abrupt changes is important",
    kind="experiment",
    verdict=DEPENDS,
)
def longer_plans(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judged:
    """Avoiding frequent abrupt changes of the perturbation is important, as it allows the agent to
    execute multi-period plans.

    On how long the plan is: a lasting perturbation opens locks of 12 moves or more in {ratio:.2f}
    times the steps that the printed law takes, and shorter ones in {shorter:.2f} times.

    Correlation γ: geometric mean of {long[settings]} and {short[settings]} settings, median of 20
    seeds. It opens {long[sooner]} of the long ones sooner, {long[later]} later, and of the others
    {short[sooner]} and {short[later]} (95% for all together). A long plan has 8 to 16 moves at
    least.
    """
    table = tables["continual"].query("agent in ('corrected', 'printed')")
    each = ratios(table, ["gamma", "n"], "printed", "first_reward", [])
    moves = each.index.get_level_values("n")

    def count(cells: pd.DataFrame) -> dict[str, int]:
        sooner, later = int((cells.high < 1).sum()), int((cells.low > 1).sum())
        return {"settings": len(cells), "sooner": sooner, "later": later}

    def ratio(locks: pd.DataFrame) -> Median:
        waits = longer(locks, "corrected", "printed")
        return median_interval(np.exp(waits.groupby("seed").mean()))

    long = table.n >= limits["long plan"]
    ratios_of = {"long plans": ratio(table[long]), "shorter ones": ratio(table[~long])}
    return Judged(
        agreed({name: measured(-one.high, -one.low, -1) for name, one in ratios_of.items()}),
        {
            "ratio": ratios_of["long plans"],
            "shorter": ratios_of["shorter ones"],
            "long": count(each[moves >= limits["long plan"]]),
            "short": count(each[moves < limits["long plan"]]),
        },
    )


@claim(
    "F.start",
    place="Appendix F.2",
    paper=OURS,
    kind="exact",
    verdict=HOLDS,
    part_of="F.autocorrelation",
)
def start_from_zero(limits: Limits = CHOSEN) -> Judged:
    """From θ̃_0 = w_0 = 0 the first action is a tie; the perturbation then has nearly its full size
    at once as printed, and grows slowly if corrected.

    The variance of w_1 is {first[printed]:.2f} of its full size as printed, {first[corrected]:.2f}
    if corrected, and then half of it after {half} steps (γ = 0.99).

    A draw w_0 ~ N(0, I/λ) would correct that, too.
    """
    agent = Continual(np.eye(4).reshape(2, 2, 4), GAMMA, GAMMA, rng=0)
    tied = not (agent.Phi @ agent.theta).any()
    agent.learn(lock(2), 1, 0)
    grown = marginal_variances([1.0] * 100)
    first = {name: V[1] for name, V in grown.items()}
    return unless(
        not tied or not agent.w.any() or first["printed"] < limits["nearly"],
        half=int(np.argmax(np.array(grown["corrected"]) >= 0.5)),
        first=first,
    )
