"""Claims about the chain: section 6.1, appendices B and C."""

import numpy as np
import pandas as pd

from rlsvi_core import features
from rlsvi_core.agents import rlsvi
from rlsvi_core.envs.chains import arrival_probability, chain

from .. import store
from ..register import FAILS, HOLDS, MISPRINT, OPEN, PARTLY, Evidence, claim, remark, unless
from . import scaling
from .runs import EXPERIMENTS, learning_time, learning_times, medians


def at_the_end(name: str) -> pd.DataFrame:
    """The last rows of an experiment's learning curves."""
    table = store.load(EXPERIMENTS[name])
    return table[table.episode == table.episode.max()]


# --------------------------------------------------------------------------- section 6.1

@claim("6.1.learns", "Section 6.1, figure 2", "roughly 500 episodes", "experiment", HOLDS)
def _():
    """Five hundred episodes or so are enough for RLSVI on the 50-chain, whatever the seed."""
    table = store.load(EXPERIMENTS["fig2a"])
    times = learning_times(table)["rlsvi"]
    median, low, high = learning_time(table, "rlsvi")
    settled = table[table.agent == "rlsvi"].groupby("seed").last_suboptimal.max().median()
    soon, early, seeds = int((times <= 500).sum()), int((times <= 1000).sum()), len(times)
    return unless(not (250 <= median <= 1000 and early >= 0.9 * seeds),
                  f"Tenth reward after {median:.0f} episodes in the median (95% interval {low:.0f}–"
                  f"{high:.0f}); {soon} of {seeds} seeds within 500, {early} within 1000. The last "
                  f"suboptimal policy comes later, in episode {settled:.0f} in the median.",
                  settled=settled, median=median, interval=[low, high], within_1000=early)


@claim("6.1.dithering", "Section 6.1", "at least 10^15 episodes", "exact", HOLDS)
def _():
    """No agent that dithers reaches the end of the 50-chain in fewer than 10^15 episodes."""
    wait = 1 / arrival_probability(50)
    return unless(wait < 1e15, f"Expected wait for the first reward: {wait:.3g} episodes "
                  f"(without slips 2^49 = {2**49:.3g}).", wait=wait)


@claim("6.1.any-dithering", "Section 6.1, footnote 3", "any ε or η is equivalent", "experiment",
       HOLDS)
def _():
    """Before the first reward, it makes no difference how an agent dithers."""
    waits = store.load(EXPERIMENTS["example1"]).pivot(index=["N", "seed"], columns="agent",
                                                  values="unrewarded")
    different = int((waits["epsilon-greedy"] != waits["boltzmann"]).sum())
    return unless(different > 0, "With the same draws ε-greedy and Boltzmann waited equally long "
                  f"in all {len(waits)} pairs of runs.", pairs=len(waits), different=different)


@claim("6.1.keeps", "Section 6.1", "maintains the optimal policy once it discovers the reward",
       "experiment", PARTLY)
def _():
    """From its first reward on, RLSVI plays the optimal policy in all but a few episodes."""
    long, short = (at_the_end(name).query("agent == 'rlsvi'") for name in ("fig2b", "fig2a"))
    share = float((short.lapses / short.suboptimal).median())
    settled = (long.last_suboptimal < long.episode // 10).all()
    return Evidence(
        FAILS if not settled else PARTLY if share > 0.1 else HOLDS,
        f"In the long run, yes: of a million episodes the five runs had {long.suboptimal.min()}–"
        f"{long.suboptimal.max()} suboptimal, none after episode {long.last_suboptimal.max()}. But "
        f"{short.lapses.median():.0f} suboptimal ones, {100 * share:.0f}%, come after the first "
        f"reward (medians of {len(short)} seeds).",
        {"lapses": long.lapses.tolist(), "last": long.last_suboptimal.tolist(), "share": share})


@claim("6.1.numbers", "Section 6.1 and footnote 4",
       "2^99 > 10^28, H²SA > 10^6; 2^49 > 10^14, H²SA > 10^5", "exact", HOLDS)
def _():
    """The dithering and tabular bounds at N = 100 and N = 50 have the magnitudes stated."""
    size = {N: (2 ** (N - 1), (N - 1) ** 2 * N * 2) for N in (50, 100)}
    exceeded = np.greater((size[100], size[50]), ((10**28, 10**6), (10**14, 10**5)))
    return unless(not exceeded.all(), f"N = 100: {size[100][0]:.2g} and {size[100][1]:.3g}; N = "
                  f"50: {size[50][0]:.2g} and {size[50][1]:.3g}.", sizes=size)


@claim("6.1.beats-bounds", "Section 6.1, figure 3", "below 2^{N−1} and H²SA/10", "experiment",
       HOLDS)
def _():
    """RLSVI with ten features learns faster than the dithering and the tabular bounds."""
    cells = medians(store.load(EXPERIMENTS["fig3"]), "N")
    N = cells.index.to_numpy()
    beaten = cells["high"] < np.minimum((N - 1) ** 2 * N * 2 / 10, 2.0 ** (N - 1))
    from_N = min((int(n) for n in N if beaten[N >= n].all()), default=None)
    return Evidence(FAILS if from_N is None else HOLDS if from_N == N.min() else PARTLY,
                    "Median and its interval lie below both for every chain tried from N = "
                    f"{from_N} to {N.max()}: at N = 100 the median is {cells['median'][100]:.0f}, "
                    f"H²SA/10 is {99**2 * 100 * 2 / 10:.3g}.",
                    {"from_N": from_N, "median_100": cells["median"][100]})


@claim("6.1.features", "Section 6.1, figure 4", "graceful, and flattening towards K = 100",
       "experiment", HOLDS)
def _():
    """Learning time grows gracefully with K, and less and less as K nears the dimension 100."""
    cells = medians(store.load(EXPERIMENTS["fig4"]), "K")["median"]
    early, late = (cells[20] - cells[2]) / 18, (cells[100] - cells[50]) / 50
    return unless(not (late < early / 2 and np.isfinite(cells).all()),
                  f"Medians: {cells[2]:.0f} (K = 2), {cells[20]:.0f} (20), {cells[50]:.0f} (50), "
                  f"{cells[100]:.0f} (100), {cells[150]:.0f} (150). Each further feature costs "
                  f"{early:.3g} episodes up to K = 20 and {late:.3g} between 50 and 100.",
                  medians=cells.to_dict(), early=early, late=late)


@claim("6.1.polynomial", "Section 6.1, figure 5", "consistent with polynomial learning",
       "experiment", HOLDS)
def _():
    """Learning time is consistent with a polynomial in N and in K."""
    found, numbers, wrong = [], {}, False
    for name, axis in (("fig3", "N"), ("fig4", "K")):
        table = store.load(EXPERIMENTS[name])
        power, laws = scaling.exponent(table, axis), scaling.compare_laws(table, axis)
        wrong |= laws["exponential"] - laws[["linear", "quadratic", "power"]].min() < 10
        found.append(f"{axis}^{power.power:.2f} (95% interval {power.low:.2f}–{power.high:.2f}), "
                     f"exponential worse by {laws['exponential']:.0f} in AIC")
        numbers[axis] = {"exponent": power._asdict(), "aic": laws.to_dict()}
    return unless(wrong, f"Over the range tried: {'; '.join(found)}.", **numbers)


def success_rates() -> pd.DataFrame:
    """Share of figure 6's runs that learned, over a window of 41 values of ρ, for each noise."""
    lost = store.load(EXPERIMENTS["fig6"]).pivot(index="rho", columns="noise", values="censored")
    return (~lost).rename_axis(columns=None).rolling(41, center=True).mean().dropna()


def falls_below(level: float) -> dict[str, float]:
    """The first ρ at which the share of runs that learn is below a level; 1 if none is."""
    below = success_rates() < level
    return below.idxmax().where(below.any(), 1.0).to_dict()


@claim("6.1.rho", "Section 6.1, figure 6", "stable for 0 < ρ < ρ*", "experiment", PARTLY)
def _():
    """With a slightly wrong basis RLSVI still learns: learning is stable up to some ρ*."""
    stable, half = falls_below(0.95), falls_below(0.5)
    table = store.load(EXPERIMENTS["fig6"])
    runs = table[table.noise == "deviation"].set_index("rho").tenth_reward
    start, edge = (float(np.median(runs[abs(runs.index - rho) <= 0.02]))
                   for rho in (0.02, stable["deviation"]))
    return Evidence(
        FAILS if stable["deviation"] <= 0.02 else HOLDS if edge < 2 * start else PARTLY,
        f"95% of runs learn to ρ = {stable['deviation']:.2f}, half to {half['deviation']:.2f} "
        f"(as a variance: {stable['variance']:.2f} and {half['variance']:.2f}); but up to that "
        f"first ρ the median learning time grows from {start:.0f} to {edge:.0f} episodes.",
        {"stable": stable, "half": half, "start": start, "edge": edge})


@claim("6.1.rho-large", "Section 6.1, figure 6", "not effective for large ρ", "experiment", HOLDS)
def _():
    """With an extremely wrong basis RLSVI does not learn."""
    rates = success_rates().iloc[-1].to_dict()
    shares = ", ".join(f"{rate:.2g} ({noise})" for noise, rate in rates.items())
    return unless(max(rates.values()) > 0.25,
                  f"Share of runs that learned for ρ from 0.96 to 1: {shares}.", **rates)


@claim("6.1.binary", "Section 6.1, footnote 5", "Q* ∈ {0, 1}", "exact", FAILS)
def _():
    """On the chain Q* takes only the values 0 and 1."""
    Q = chain(20).Q
    between = float(((Q > 0.01) & (Q < 0.99)).mean())
    return Evidence(FAILS if between > 0 else HOLDS, f"{100 * between:.0f}% of Q* (N = 20) lies "
                    "between 0.01 and 0.99. Q* ∈ [0, 1] is true.", {"between": between})


remark("6.1.ucrl", "Section 6.1", "10^10 suboptimal episodes", "none", OPEN,
       "The best known bound for UCRL starts to say something after 10^10 suboptimal episodes.",
       "Rests on the constants of another paper's appendix.")
remark("6.1.figure-number", "Section 6.1", "Figure 1 shows …", "reading", MISPRINT,
       "The learning curves of RLSVI on the 50-chain are in Figure 1.",
       "Figure 1 is the drawing of the chain; Figure 2 is meant.")


# --------------------------------------------------------------------------- appendix B

remark("B.quantifiers", "Appendix B, Conjecture 1", "for all M … there exists poly", "reading",
       MISPRINT, "For every MDP and basis there is a polynomial that bounds the regret.",
       "In this order the polynomial may depend on the MDP, and what is left is √T on each. One "
       "polynomial for all MDPs is meant. Both are refuted (B.conjecture-printed, -meant).")


@claim("B.consistent", "Appendix B", "empirical results consistent with the conjecture", "exact",
       PARTLY)
def _():
    """The chain experiments are consistent with Conjecture 1."""
    mdp, K, lam, sigma = chain(50), 10, 1.0, 0.1
    Phi, bound = features.coherent(mdp.Q, K, 0), K * mdp.H / lam
    fits = [np.linalg.lstsq(Phi[h].reshape(-1, K), mdp.Q[h].ravel()) for h in range(mdp.H)]
    total, rank = float(sum(fit[0] @ fit[0] for fit in fits)), int(min(fit[2] for fit in fits))
    return unless(not (total <= bound and rank == K and mdp.terminal.max() > sigma),
                  f"Learning looks polynomial, but the experiments are not an instance: weights "
                  f"are unique and small (Σ‖θ‖² = {total:.2g} ≤ KH/λ = {bound:g}), yet the reward "
                  f"1 lies outside [−σ, σ] with σ = {sigma:g}.", PARTLY,
                  squared_norm=total, bound=bound, rank=rank)


# --------------------------------------------------------------------------- appendix C

@claim("C.rescaling", "Appendix C", "exactly replicated", "exact", HOLDS)
def _():
    """Rescaling the features is undone exactly by rescaling the parameters."""
    mdp = chain(30)
    Phi = features.coherent(mdp.Q, 8, 0)
    plain, *scaled = (rlsvi(c * Phi, c**2, 0.1, rng=1).learn(mdp, 500, 2).reward
                      for c in (1.0, 0.125, 64.0))
    same = all(np.array_equal(plain, other) for other in scaled)
    return unless(not same or plain.sum() < 10, "Features times c and λ times c² (σ unchanged): "
                  f"the same {plain.sum():.0f} rewards in 500 episodes for c = 1/8 and 64.",
                  identical=same)


@claim("C.similar-scale", "Appendix C", "on a similar scale to Q*", "exact", FAILS)
def _():
    """Scaling columns to norm HSA puts the features on a similar scale to Q*."""
    Q = chain(50).Q
    ratio = float(np.sqrt((features.coherent(Q, 10, 0)**2).mean()) / np.sqrt((Q**2).mean()))
    table = store.load(EXPERIMENTS["readings"])
    root = table[(table.reading == "stacked") & (table.norm == "√HSA")]
    learned = (~root.censored).groupby(root.lam).sum()
    return Evidence(HOLDS if ratio < 10 else FAILS,
                    f"For N = 50 the features' root mean square is {ratio:.0f} times that of Q*. "
                    f"With norm √(HSA) (entries of size 1) {learned[1.0]} of {root.seed.nunique()} "
                    f"runs learn within 5000 episodes at λ = 1, and {learned[100.0]} at λ = 100.",
                    {"ratio": ratio, "learned": learned.to_dict()})


def _robust(name: str, parameter: str) -> tuple[pd.Series, pd.Series]:
    """Final regret (median) and share of runs that learned, for each value of a parameter."""
    last = at_the_end(name).groupby(parameter)
    return last.regret.median(), last.rewards.agg(lambda r: (r >= 10).mean())


def _stability(name: str, parameter: str, symbol: str, reference: float) -> Evidence:
    """How wide the unbroken range around a value is with at most twice its regret, 90% learning."""
    regret, learned = _robust(name, parameter)
    good = (regret <= 2 * regret[reference]) & (learned >= 0.9)
    stretch = (~good).cumsum()  # counts the breaks so far: the same along an unbroken range
    stable = regret.index[good & (stretch == stretch[reference])]
    low, high, orders = stable.min(), stable.max(), np.log10(stable.max() / stable.min())
    return unless(not good[reference] or orders < 2,
                  f"For {symbol} from {low:.0e} to {high:.0e}, {orders:.0f} orders of magnitude, "
                  "90% of runs learn, and regret after 10 000 episodes stays within twice that at "
                  f"{reference:g}.", regret=regret.to_dict(), learned=learned.to_dict())


@claim("C.lambda", "Appendix C, figure 10", "remarkably stable", "experiment", HOLDS)
def _():
    """With σ = 0.1, learning is stable for λ over several orders of magnitude."""
    return _stability("fig10", "lam", "λ", 1.0)


@claim("C.sigma", "Appendix C, figure 11", "remarkably stable", "experiment", HOLDS)
def _():
    """With λ = 100, learning is stable for σ over several orders of magnitude."""
    return _stability("fig11", "sigma", "σ", 0.1)


@claim("C.large-sigma", "Appendix C", "slower learning", "experiment", HOLDS)
def _():
    """A large σ makes learning slower."""
    regret, _ = _robust("fig11", "sigma")
    return unless(not regret[10.0] > regret[1.0] > regret[0.1],
                  f"Median regret after 10 000 episodes: {regret[0.1]:.0f} at σ = 0.1, "
                  f"{regret[1.0]:.0f} at 1, {regret[10.0]:.0f} at 10.", regret=regret.to_dict())


@claim("C.small-sigma", "Appendix C", "too small a σ may explore too little", "experiment", OPEN)
def _():
    """In a stochastic domain, too small a σ concentrates the posterior too fast to explore."""
    regret, learned = _robust("fig11", "sigma")
    hurt = regret[1e-5] > 2 * regret[0.1] or learned[1e-5] < 0.9
    return Evidence(HOLDS if hurt else OPEN, "No domain is named. Not on this chain: at σ = 1e-05 "
                    f"the median regret is {regret[1e-5]:.0f} against {regret[0.1]:.0f} at 0.1, "
                    f"and {100 * learned[1e-5]:.0f}% of runs learn.", {"regret": regret.to_dict()})


@claim("C.plateau", "Appendix C, figure 12", "linear in K, flat once K ≥ SA", "experiment", HOLDS)
def _():
    """Learning time rises with K at first and is level once K reaches SA."""
    cells = medians(store.load(EXPERIMENTS["fig4"]), "K")
    times, level = cells["median"], float(cells["median"][100])
    near = abs(times / level - 1) < 0.25
    from_K = min((int(K) for K in times.index if near[times.index >= K].all()), default=None)
    rising = cells["low"][20] > cells["high"][2]
    return unless(from_K is None or from_K > 100 or not rising,
                  f"N = 50: from {times[2]:.0f} at K = 2 to {times[20]:.0f} at 20; from K = "
                  f"{from_K} on, well before SA = 100, all medians (to K = 150) lie within 25% of "
                  f"the one at 100, {level:.0f}.", flat_from=from_K, level=level)


@claim("C.quadratic", "Appendix C, figure 13", "fits the data pretty well", "experiment", HOLDS)
def _():
    """For each K, learning time is well described by a quadratic in N."""
    misses, better = [], []
    for K, runs in store.load(EXPERIMENTS["fig13"]).groupby("K"):
        cells, laws = medians(runs, "N")["median"], scaling.compare_laws(runs, "N")
        fit = scaling.quadratic(cells.index.to_numpy(float), cells.to_numpy())
        misses.append(float(np.median(abs(fit / cells - 1))))
        better += [int(K)] if laws["linear"] - laws["quadratic"] > 10 else []
    return unless(max(misses) > 0.25, f"Typical miss of the fitted medians: at most "
                  f"{100 * max(misses):.0f}% for any K. The curvature is clear (AIC by 10) for "
                  f"{len(better)} of {len(misses)} values of K; elsewhere a line does as well.",
                  misses=misses, curved=better)
