"""Claims of section 6.3 and appendix E. Regret is exact, runs of an instance are averaged, and
intervals are Student's over instances, of paired differences wherever two arms are compared."""

from functools import cache

import numpy as np
import pandas as pd

from rlsvi_core import Products, VerbatimAgent, rlsvi
from rlsvi_core.envs.recommender import Recommender, number_of_states

from .. import store
from ..choices import limit
from ..intervals import Mean, for_all, mean_interval
from ..register import (
    FAILS,
    HOLDS,
    MISPRINT,
    OURS,
    PARTLY,
    Evidence,
    claim,
    graded,
    remark,
    unless,
)
from . import runs
from .bandit import BernoulliBandit
from .runs import BOLTZMANN, EPSILON, MYOPIC, PAPER_ETAS, ahead_from, curves, instance, rates

N, J = 10, 5
STUDY, LATER, READINGS, RIVALS = runs.EXPERIMENTS
FIG8, FIG9 = "Section 6.3, figure 8", "Section 6.3, figure 9"


@cache
def stored(name: str) -> pd.DataFrame:
    return store.load(runs.EXPERIMENTS[name])


def written(interval: Mean) -> str:
    """A mean and its 95% interval as text."""
    texts = [f"{x:.0f}" if abs(x) >= 100 else f"{x:.3g}" for x in interval]
    return "{} ({} to {})".format(*texts).replace("-", "−")


def regret(name: str, arm: str) -> pd.DataFrame:
    """Cumulative regret: a row for each episode, a column for each instance."""
    return curves(stored(name), arm)


def more_regret(name: str, arm: str, than: str = "rlsvi", of: int = 1) -> Mean:
    """How much more regret an arm has than another at the end, paired by instance; one of so many
    comparisons that are to hold together."""
    return mean_interval((regret(name, arm) - regret(name, than)).iloc[-1], for_all(of))


def a_customer(name: str, arm: str) -> pd.Series:
    """An arm's regret per customer over the last tenth of them, for each instance."""
    every = rates(stored(name), arm)
    return every.iloc[-len(every) // 10:].mean()


def ahead_at_the_end(name: str, arm: str) -> Mean:
    """By how many likes per customer RLSVI is ahead of an arm at the end, paired by instance."""
    return mean_interval(a_customer(name, arm) - a_customer(name, "rlsvi"))


def least_squares(customers: Recommender, target: np.ndarray) -> np.ndarray:
    """The best fit of the basis to an (S, N) array, period by period, all states alike."""
    x, _, start, _ = customers.states
    fit = np.full(x.shape, -np.inf)
    for h in range(J):
        for a in range(N):
            s = start[h] + np.flatnonzero(x[start[h]:start[h + 1], a] == 0)
            rows = np.column_stack([np.ones(len(s)), x[s]])
            fit[s, a] = rows @ np.linalg.lstsq(rows, target[s, a], rcond=None)[0]
    return fit


@claim("6.3.states", "Section 6.3", "|S| = 3^J", "exact", MISPRINT)
def _():
    """The engine has 3^J states."""
    choice = number_of_states(N, J)
    return Evidence(MISPRINT if choice == 4521 != 3**J else HOLDS, f"3^J is {3**J}. Of 3^N = "
                    f"{3**N} vectors of answers {choice} have fewer than J, the paper's own later "
                    "figure.", {"3^J": 3**J, "3^N": 3**N, "with a choice": choice})


@claim("6.3.4521", "Section 6.3", "4521", "exact", HOLDS)
def _():
    """With N = 10 and J = 5 there are 4521 states, few enough to solve each instance exactly."""
    found = len(instance(0).states.x)
    ended = number_of_states(N, J + 1) - found
    return unless(found != 4521, f"{found} states with a product to choose, and {ended} in which "
                  "the episode has ended.", states=found, ended=ended)


@claim("6.3.dimension", "Section 6.3", "K = N² + N, exponentially smaller than |S|", "exact", HOLDS)
def _():
    """The features number N² + N, far fewer than the states, which grow exponentially in J."""
    phi = Products(N, J)
    rows = np.concatenate([phi(0, x) for x in instance(0).states.x])
    K, rank = rows.shape[1], int(np.linalg.matrix_rank(rows.T @ rows))
    growth = min(number_of_states(N, j + 1) / number_of_states(N, j) for j in range(2, J))
    return unless(K != N**2 + N or growth < 2, f"{K} features per period; each further product "
                  f"multiplies the states by {growth:.2g} or more. As x_a = 0 whenever a can be "
                  f"shown, the dimension is N² = {rank}.", features=K, rank=rank)


remark("6.3.basis", "Section 6.3", "Φ_h = ((φ_n)_n, (φ_m)_m)", "reading", MISPRINT,
       "The basis of a period consists of (φ_n)_n and (φ_m)_m.",
       "That names N functions twice. The second family is φ_mn, and K = N² + N as stated.")


@claim("6.3.agnostic", "Section 6.3", "agnostic, barring a freak event", "instances", HOLDS)
def _():
    """No weights represent Q* exactly: the learning problem is agnostic."""
    misfit, worth = [], []
    for customers in map(instance, range(10)):
        x, _, start, _ = customers.states
        fit = least_squares(customers, customers.Q)
        for s in map(slice, start[1:-1], start[2:]):
            Q, found = (values[s][x[s] == 0] for values in (customers.Q, fit))
            misfit.append(np.sqrt(np.mean((found - Q) ** 2)) / Q.std())
        worth.append(customers.evaluate(fit.argmax(axis=1))[0] / customers.value)
    return unless(min(misfit) < 1e-3, f"In {len(worth)} instances least squares misses Q*, after "
                  f"the first period, by {100 * min(misfit):.0f}% of its spread or more. Greedy "
                  f"play on that fit still earns {100 * np.mean(worth):.1f}% of the optimum.",
                  least=float(min(misfit)), worth=float(np.mean(worth)))


@claim("6.3.regret", "Section 6.3", "regret computed from the exact solution", "experiment", HOLDS)
def _():
    """Regret by exact evaluation of each customer's policy agrees with the likes given."""
    last = stored(STUDY).query("episode == 1200 and realised.notna()")
    gap = (last.realised - last.regret).groupby(last.arm)
    z = gap.mean() / gap.sem()
    return unless(z.abs().max() > limit("standard errors"), "After 1200 customers they differ by "
                  f"{z.abs().max():.2g} standard errors or less ({len(z)} arms, 100 instances).",
                  z=z.to_dict())


@claim("6.3.boltzmann", FIG8, "much more efficient", "experiment", HOLDS)
def _():
    """After 1200 customers RLSVI has less regret than Boltzmann exploration at every η."""
    own = float(regret(STUDY, "rlsvi").iloc[-1].mean())
    more = {f"{eta:g}": more_regret(STUDY, BOLTZMANN[eta], of=len(PAPER_ETAS))
            for eta in PAPER_ETAS}
    best, worst = (of(more, key=more.get) for of in (min, max))
    return unless(
        min(one.low for one in more.values()) <= 0,
        f"RLSVI's mean regret is {own:.0f} likes (100 instances). The best temperature of the "
        f"grid, η = {best}, has {written(more[best])} more, {1 + more[best].mean / own:.2g} times "
        f"as much; the worst {1 + more[worst].mean / own:.2g} times (intervals that hold "
        "together).",
        rlsvi=own, more=more, best=more[best])


@claim("6.3.boltzmann-early", FIG8, OURS, "experiment", PARTLY)
def _():
    """RLSVI is ahead of Boltzmann exploration from the beginning on."""
    since = {f"{eta:g}": ahead_from(regret(STUDY, BOLTZMANN[eta]), regret(STUDY, "rlsvi"))
             for eta in PAPER_ETAS}
    late = [n is None or n > 30 for n in since.values()]
    return Evidence(FAILS if None in since.values() else PARTLY if any(late) else HOLDS,
                    "Its regret is reliably lower (95%, paired) from customer " + ", ".join(
                        f"{n} (η = {eta})" for eta, n in since.items()) + " on.", {"since": since})


@claim("6.3.temperatures", FIG8, "a wide range of temperatures", "experiment", HOLDS)
def _():
    """No temperature between those of the grid changes the picture."""
    more = {eta: more_regret(READINGS, BOLTZMANN[eta], of=len(BOLTZMANN))
            for eta in sorted(BOLTZMANN)}
    best = min(more, key=more.get)
    return unless(more[best].low <= 0, f"Of {len(more)} from {min(more):g} to {max(more):g} the "
                  f"best is η = {best:g}, off the paper's grid: {written(more[best])} more regret "
                  f"than RLSVI's ({stored(READINGS).seed.nunique()} instances).",
                  best=best, more={f"{eta:g}": one for eta, one in more.items()})


@claim("6.3.exploration", "Section 6.3", "in some settings exploration can be crucial",
       "experiment", HOLDS)
def _():
    """There are settings where efficient exploration is crucial."""
    own = float(regret(READINGS, "rlsvi").iloc[-1].mean())
    greedy = more_regret(READINGS, EPSILON[0.0])
    return unless(greedy.low <= limit("needed") * own, "This is one: without exploration LSVI has "
                  f"{written(greedy)} more regret than RLSVI's {own:.0f} after 1200 customers (20 "
                  "instances). How one explores matters less: see 6.3.dithering.",
                  rlsvi=own, greedy=greedy)


@claim("6.3.dithering", "Section 6", "RLSVI learns this strategy when dithering does not",
       "experiment", PARTLY)
def _():
    """RLSVI learns a strategy better than myopic play when dithering strategies do not learn it."""
    own, more = regret(READINGS, "rlsvi").iloc[-1].mean(), {}
    for name, arms in (("ε", EPSILON), ("η", BOLTZMANN)):
        found = {at: more_regret(READINGS, arm, of=len(arms)) for at, arm in arms.items()}
        more[name] = min(found.items(), key=lambda item: item[1])
    coded = more_regret(READINGS, "epsilon 0.1, rewards ±1")
    (epsilon, least), (eta, boltzmann) = more.values()
    return Evidence(
        graded(one.low > limit("needed") * own for _, one in more.values()),
        f"Not with Boltzmann exploration: at the best temperature, η = {eta:g}, it has "
        f"{written(boltzmann)} more regret than RLSVI's {own:.0f} after 1200 customers. But "
        f"ε-greedy LSVI learns it too, a little later: {written(least)} more at ε = {epsilon:g}, "
        f"{written(coded)} with likes and dislikes coded ±1 (20 instances).",
        {"own": own, "epsilon": least, "eta": boltzmann, "coded": coded})


@claim("6.3.bandits", FIG9, "outperforms benchmark bandit algorithms", "experiment", HOLDS)
def _():
    """RLSVI outperforms the Bernoulli and the linear contextual bandit."""
    more = {arm: more_regret(STUDY, arm) for arm in ("linear", "bernoulli")}
    late = ahead_at_the_end(STUDY, "linear")
    since, total = (ahead_from(of(stored(STUDY), "linear"), of(stored(STUDY), "rlsvi"))
                    for of in (rates, curves))
    return Evidence(
        HOLDS if more["linear"].low > 0 else PARTLY if late.low > 0 else FAILS,
        f"From customer {since} on each is served better than by the linear bandit, which does not "
        f"plan, at the end by {written(late)} likes per customer. Regret is reliably lower from "
        f"{total} on, after 1200 by {written(more['linear'])}; than the Bernoulli bandit's by "
        f"{written(more['bernoulli'])}.",
        {"late": late, "more": more, "since": since, "total_since": total})


@claim("6.3.linear-first", FIG9, "the linear bandit is better at first", "experiment", HOLDS)
def _():
    """The linear contextual bandit outperforms RLSVI at first."""
    each, lead = (of(stored(STUDY), "rlsvi") - of(stored(STUDY), "linear")
                  for of in (rates, curves))
    early, lead = mean_interval(each.loc[:300].mean()), lead.mean(axis=1)
    until = max((int(n) for n, row in each.iterrows() if mean_interval(row).low > 0), default=0)
    return unless(early.low <= 0, f"By {written(early)} likes per customer over the first 300, and "
                  f"reliably up to {until}. Its lead peaks near {lead.idxmax()}, at "
                  f"{lead.max():.0f} likes.", early=early, until=until, peak=int(lead.idxmax()))


@claim("6.3.bernoulli", FIG9, "does not learn much after 1200 episodes", "exact", HOLDS)
def _():
    """The Bernoulli bandit hardly learns, for want of context."""
    def expected(customers, seed):
        bandit = BernoulliBandit(Products(N, J), rng=seed)
        return bandit.learn(customers, 1200, seed, exact=True).expected

    gain = max(float(np.abs(expected(instance(seed), seed) - J / 2).max()) for seed in range(5))
    popular = expected(Recommender(instance(4).gamma, J, beta=np.linspace(-2, 2, N)), 0)
    before, after = popular[:100].mean(), popular[-100:].mean()
    return unless(gain > 1e-12, "It cannot: with β = 0 a customer and her mirror image are equally "
                  f"likely, so every fixed order earns J/2 = {J / 2} (to {gain:.0e}). With β from "
                  f"−2 to 2 it improves from {before:.3g} to {after:.3g}.",
                  deviation=gain, before=before, after=after)


NO_PLAN = ("uniform", "lowest")  # ties of the first product broken without a look ahead


@claim("6.3.myopic", FIG9, "outperforms even the optimal myopic policy", "experiment", HOLDS)
def _():
    """By the end of the study RLSVI serves customers better than the optimal myopic policy, which
    knows the model and does not plan."""
    more = {ties: ahead_at_the_end(STUDY, arm) for ties, arm in MYOPIC.items()}
    return Evidence(
        graded(more[ties].low > 0 for ties in NO_PLAN),
        f"Likes per customer by which RLSVI is ahead over the last 120 of 1200 (100 instances): "
        f"{written(more['uniform'])} if the myopic policy opens with any product (all tie), "
        f"{written(more['lowest'])} with the first. Opening by Q*, which is to plan, the best one "
        f"changes this to {written(more['best'])}, the worst to {written(more['worst'])}.",
        {"more": more, "won": [ties for ties, one in more.items() if one.low > 0],
         "lost": [ties for ties, one in more.items() if one.high < 0]})


@claim("6.3.myopic-regret", FIG9, OURS, "experiment", FAILS)
def _():
    """Within 1200 customers RLSVI's cumulative regret falls below the optimal myopic policy's."""
    more = {ties: more_regret(STUDY, MYOPIC[ties]) for ties in NO_PLAN}
    later = {ties: ahead_from(regret(LATER, MYOPIC[ties]), regret(LATER, "rlsvi")) for ties in more}
    return Evidence(
        graded(one.low > 0 for one in more.values()),
        f"The myopic policy's, less RLSVI's, after 1200 customers: {written(more['uniform'])} if "
        f"it opens with any product, {written(more['lowest'])} with the first. RLSVI's is the "
        f"lower from customer {later['uniform']} and {later['lowest']} on.",
        {"more": more, "later": later})


@claim("6.3.eventually", "Section 6.3", "eventually learns a richer policy", "experiment", HOLDS)
def _():
    """As more data is gathered RLSVI eventually outperforms the myopic policy."""
    more = {ties: ahead_at_the_end(LATER, MYOPIC[ties]) for ties in (*NO_PLAN, "best")}
    bandit, gap = ahead_at_the_end(LATER, "linear"), float(a_customer(LATER, "rlsvi").mean())
    return Evidence(
        graded(more[ties].low > 0 for ties in NO_PLAN),
        f"Over its last 600 of 6000 customers RLSVI earns {written(more['uniform'])} likes per "
        f"customer more than the myopic policy that opens with any product "
        f"({written(more['best'])} with the best one, found by planning), {written(bandit)} more "
        f"than the linear bandit, {gap:.2g} fewer than the optimum (40 instances).",
        {"more": more, "bandit": bandit, "gap": gap})


remark("E.runs", "Appendix E, Algorithm 9", "10 repetitions (text); 100 (bandits)", "reading",
       MISPRINT, "Every algorithm is repeated ten times on each instance.",
       "Algorithm 9, followed here, runs the bandits 100 times. Instances are the sample anyway.")


@claim("E.mean", "Appendix E, Algorithm 11", "λσ² in the mean", "reading", MISPRINT)
def _():
    """The linear bandit's mean has the ridge λσ² where its covariance has λ."""
    change = more_regret(READINGS, "linear, printed mean", than="linear")
    corrected = regret(READINGS, "linear").iloc[-1].mean()
    return Evidence(MISPRINT, "Algorithm 1 has λ in both. It makes no odds: regret changes by "
                    f"{written(change)} of {corrected:.0f}.", {"change": change})


@claim("E.bernoulli-aim", "Appendix E", "aims to learn the myopic policy", "instances", FAILS)
def _():
    """The Bernoulli bandit aims to learn the myopic policy."""
    earned = float(np.mean([one.evaluate(one.myopic())[0] for one in map(instance, range(20))]))
    return unless(earned > J / 2 + 0.5, f"It aims at a fixed order, worth {J / 2} likes. Myopic "
                  f"play reacts to answers: {earned:.3g}, mean of 20 instances.", myopic=earned)


@claim("E.linear-aim", "Appendix E", "aims to learn the myopic policy", "instances", HOLDS)
def _():
    """The linear bandit aims to learn the myopic policy."""
    same, worth = [], []
    for customers in map(instance, range(10)):
        policy = least_squares(customers, customers.P).argmax(axis=1)
        myopic = customers.myopic("lowest")
        myopic[0] = np.eye(N)[policy[0]]  # all openings tie: give both the same
        same.append(myopic[np.arange(len(policy)), policy].mean())
        worth.append(customers.evaluate(policy)[0] / customers.evaluate(myopic)[0])
    agrees, earns = float(np.mean(same)), float(np.mean(worth))
    return Evidence(HOLDS if earns > limit("aims at") else PARTLY, "As near as a "
                    "linear fit comes: fitted to all states alike, it makes the myopic choice in "
                    f"{100 * agrees:.0f}% of them and earns {100 * earns:.1f}% as much.",
                    {"same": agrees, "worth": earns})


@claim("E.incremental", "Appendix E", "can be implemented incrementally", "instances", HOLDS)
def _():
    """The linear bandit can be implemented incrementally, and so efficiently."""
    customers, worst = instance(0, N=5, J=3), 0.0
    fast, dense = (rlsvi(Products(5, 3), 0.2, 1e-3**0.5, gamma=0.0, rng=1, form=form)
                   for form in (None, VerbatimAgent))
    for l in range(80):
        for agent in (fast, dense):
            agent.learn(customers, 1, l)
        theta = dense.theta.reshape(3, 5, 6).transpose(0, 2, 1)  # product by product
        worst = max(worst, float(np.abs(fast.theta - theta).max() / max(1.0, np.abs(theta).max())))
    return unless(worst > 1e-7, "N + 1 rotations of a triangular factor take an answer; weights "
                  f"equal those from all data to {worst:.0e}, relatively.", worst=worst)
