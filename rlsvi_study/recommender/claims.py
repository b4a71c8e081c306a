"""Claims of section 6.3 and appendix E. Regret is exact, runs of an instance are averaged, and
intervals are Student's over instances, of paired differences wherever two arms are compared."""

from functools import cache

import numpy as np
import pandas as pd

from rlsvi_core import VerbatimAgent, rlsvi
from rlsvi_core.envs.recommender import Recommender, number_of_states

from ..choices import limit
from ..experiment import streams
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
from ..store import Tables
from . import runs
from .bandit import BernoulliBandit
from .products import Products, expected_likes
from .runs import (
    BOLTZMANN,
    EPSILON,
    EXPERIMENTS,
    MYOPIC,
    PAPER_ETAS,
    ahead_from,
    curves,
    instance,
    rates,
)

STORED = Tables(EXPERIMENTS)
N, J = 10, 5
STUDY, LATER, READINGS, RIVALS = runs.EXPERIMENTS  # the names of the tables
FIG8, FIG9 = "Section 6.3, figure 8", "Section 6.3, figure 9"


def written(interval: Mean) -> str:
    """A mean and its 95% interval as text."""
    texts = [f"{x:.0f}" if abs(x) >= 100 else f"{x:.3g}" for x in interval]
    return "{} ({} to {})".format(*texts).replace("-", "−")


def opposite(interval: Mean) -> Mean:
    """The same difference, the other way round."""
    return Mean(-interval.mean, -interval.high, -interval.low)


def final_regret(table: pd.DataFrame, arm: str) -> pd.Series:
    """An arm's cumulative regret at the end, for each instance."""
    return curves(table, arm).iloc[-1]


def more_regret(table: pd.DataFrame, arm: str, than: str = "rlsvi", of: int = 1) -> Mean:
    """How much more regret an arm has than another at the end, paired by instance; one of so many
    comparisons that are to hold together."""
    return mean_interval(final_regret(table, arm) - final_regret(table, than), for_all(of))


def a_customer(table: pd.DataFrame, arm: str) -> pd.Series:
    """An arm's regret per customer over the last tenth of them, for each instance."""
    every = rates(table, arm)
    return every.iloc[-len(every) // 10:].mean()


def ahead_at_the_end(table: pd.DataFrame, arm: str, of: int = 1) -> Mean:
    """By how many likes per customer RLSVI is ahead of an arm at the end, paired by instance; one
    of so many comparisons that are to hold together."""
    return mean_interval(a_customer(table, arm) - a_customer(table, "rlsvi"), for_all(of))


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
def printed_number_of_states():
    """The engine has 3^J states."""
    choice = number_of_states(N, J)
    return Evidence(MISPRINT if choice == 4521 != 3**J else HOLDS, f"3^J is {3**J} for J = 5. Of "
                    f"the 3^N = {3**N} vectors of answers, {choice} have fewer than J of them, "
                    "which is the number that the paper gives later.",
                    {"3^J": 3**J, "3^N": 3**N, "with a choice": choice})


@claim("6.3.4521", "Section 6.3", "4521", "exact", HOLDS)
def exact_number_of_states():
    """With N = 10 and J = 5 there are 4521 states, few enough to solve each instance exactly."""
    found = len(instance(0).states.x)
    ended = number_of_states(N, J + 1) - found
    return unless(found != 4521, f"There are {found} states with a product to choose, and "
                  f"{ended} more in which the episode has ended.", states=found, ended=ended)


@claim("6.3.dimension", "Section 6.3", "K = N² + N, exponentially smaller than |S|", "exact", HOLDS)
def dimension():
    """The features number N² + N, far fewer than the states, which grow exponentially in J."""
    phi = Products(N, J)
    rows = np.concatenate([phi(0, x) for x in instance(0).states.x])
    K, rank = rows.shape[1], int(np.linalg.matrix_rank(rows.T @ rows))
    growth = min(number_of_states(N, j + 1) / number_of_states(N, j) for j in range(2, J))
    return unless(K != N**2 + N or growth < limit("multiplies"), f"{K} features per period; "
                  f"each further product multiplies the states by {growth:.2g} or more. As x_a = 0 "
                  f"whenever a can be shown, the dimension is N² = {rank}.", features=K, rank=rank)


remark("6.3.basis", "Section 6.3", "Φ_h = ((φ_n)_n, (φ_m)_m)", "reading", MISPRINT,
       "The basis of a period consists of (φ_n)_n and (φ_m)_m.",
       "That names N functions twice. The second family is φ_mn, and K = N² + N as stated.")


@claim("6.3.agnostic", "Section 6.3", "agnostic, barring a freak event", "instances", HOLDS)
def agnostic_basis():
    """No weights represent Q* exactly: the learning problem is agnostic."""
    misfit, worth = [], []
    for customers in map(instance, range(10)):
        x, _, start, _ = customers.states
        fit = least_squares(customers, customers.Q)
        for s in map(slice, start[1:-1], start[2:]):
            Q, found = (values[s][x[s] == 0] for values in (customers.Q, fit))
            misfit.append(np.sqrt(np.mean((found - Q) ** 2)) / Q.std())
        worth.append(customers.evaluate(fit.argmax(axis=1))[0] / customers.value)
    return unless(min(misfit) < limit("outside"), f"In {len(worth)} instances least squares misses "
                  f"Q*, after the first period, by {100 * min(misfit):.0f}% of its spread or more. "
                  f"Greedy play on that fit still earns {100 * np.mean(worth):.1f}% of the "
                  "optimum.",
                  least=float(min(misfit)), worth=float(np.mean(worth)))


@claim("6.3.regret", "Section 6.3", "regret computed from the exact solution", "experiment", HOLDS)
def exact_regret(tables=STORED):
    """Regret by exact evaluation of each customer's policy agrees with the likes given."""
    last = tables[STUDY].query("episode == 1200 and realised.notna()")
    gap = (last.realised - last.regret).groupby(last.arm)
    z = gap.mean() / gap.sem()
    return unless(z.abs().max() > limit("standard errors"), "After 1200 customers they differ by "
                  f"{z.abs().max():.2g} standard errors or less ({len(z)} arms, 100 instances).",
                  z=z.to_dict())


@claim("6.3.boltzmann", FIG8, "much more efficient", "experiment", HOLDS)
def better_than_boltzmann(tables=STORED):
    """After 1200 customers RLSVI has less regret than Boltzmann exploration at every η."""
    study = tables[STUDY]
    own = float(final_regret(study, "rlsvi").mean())
    more = {f"{eta:g}": more_regret(study, BOLTZMANN[eta], of=len(PAPER_ETAS))
            for eta in PAPER_ETAS}
    best, worst = (of(more, key=more.get) for of in (min, max))
    return unless(
        min(one.low for one in more.values()) <= 0,
        f"RLSVI's mean regret is {own:.0f} likes (100 instances). Boltzmann exploration has "
        f"{written(more[best])} more at the best temperature of the grid, η = {best}, which is "
        f"{1 + more[best].mean / own:.2g} times as much, and {1 + more[worst].mean / own:.2g} "
        "times as much at the worst (95% for all six together).",
        rlsvi=own, more=more, best=more[best])


@claim("6.3.boltzmann-early", FIG8, OURS, "experiment", PARTLY)
def boltzmann_early(tables=STORED):
    """RLSVI is ahead of Boltzmann exploration from the beginning on."""
    study, level = tables[STUDY], for_all(len(PAPER_ETAS))
    own = curves(study, "rlsvi")
    since = {f"{eta:g}": ahead_from(curves(study, BOLTZMANN[eta]), own, level)
             for eta in PAPER_ETAS}
    late = [n is None or n > limit("beginning") for n in since.values()]
    listed = ", ".join(f"{n} (η = {eta})" for eta, n in since.items())
    return Evidence(FAILS if None in since.values() else PARTLY if any(late) else HOLDS,
                    "Only later: its regret is reliably lower (95% for all six together) from "
                    f"customer {listed} on.", {"since": since})


@claim("6.3.temperatures", FIG8, "a wide range of temperatures", "experiment", HOLDS)
def range_of_temperatures(tables=STORED):
    """RLSVI explores much more efficiently than Boltzmann exploration over a wide range of
    temperatures."""
    readings = tables[READINGS]
    more = {eta: more_regret(readings, BOLTZMANN[eta], of=len(BOLTZMANN))
            for eta in sorted(BOLTZMANN)}
    best = min(more, key=more.get)
    return unless(more[best].low <= 0, f"Of {len(more)} temperatures from {min(more):g} to "
                  f"{max(more):g}, four of them between the paper's, η = {best:g} does best: it "
                  f"has {written(more[best])} more regret than RLSVI after 1200 customers "
                  f"({readings.seed.nunique()} instances, 95% for all together).",
                  best=best, more={f"{eta:g}": one for eta, one in more.items()})


@claim("6.3.exploration", "Section 6.3", "in some settings exploration can be crucial",
       "experiment", HOLDS)
def exploration_is_crucial(tables=STORED):
    """There are settings where efficient exploration is crucial."""
    readings = tables[READINGS]
    own = float(final_regret(readings, "rlsvi").mean())
    greedy = more_regret(readings, EPSILON[0.0])
    return unless(greedy.low <= limit("needed") * own, "This is one: LSVI without exploration has "
                  f"{written(greedy)} more regret than RLSVI's {own:.0f} after 1200 customers (20 "
                  "instances). How one explores matters less (6.3.dithering).",
                  rlsvi=own, greedy=greedy)


DITHERING = {"epsilon": "epsilon 0.1", "coded": "epsilon 0.1, rewards ±1",
             "boltzmann": "boltzmann 0.3, rewards ±1"}  # the strongest among the readings


@cache
def learned_better(arm: str, of: int) -> Mean:
    """By how many likes the policy that an arm has learned, played without dithering, is better
    than the optimal myopic one after 1200 customers of each of 20 instances."""
    better = []
    for seed, customers in enumerate(map(instance, range(20))):
        _, env_rng, agent_rng = streams((seed, 0))
        agent = runs.learner(arm, N, J, agent_rng)
        agent.learn(customers, 1200, env_rng)
        agent.plan()
        better.append(expected_likes(customers.states, customers.P, agent.theta, 0.0, 0.0)
                      - customers.evaluate(customers.myopic())[0])
    return mean_interval(better, for_all(of))


@claim("6.3.dithering", "Section 6", "learns this optimal strategy when dithering does not",
       "experiment", PARTLY)
def better_than_dithering(tables=STORED):
    """RLSVI learns a strategy better than the best myopic one when dithering strategies do not."""
    rivals, all_of = tables[RIVALS], len(DITHERING)
    own = float(final_regret(rivals, "rlsvi").mean())
    more = {name: more_regret(rivals, arm, of=all_of) for name, arm in DITHERING.items()}
    coded = more_regret(rivals, "rlsvi, rewards ±1")
    myopic = a_customer(tables[STUDY], MYOPIC["uniform"])
    behind = {name: mean_interval(a_customer(rivals, arm) - myopic, for_all(all_of))
              for name, arm in DITHERING.items()}
    short = mean_interval(a_customer(rivals, "rlsvi"))
    ahead = mean_interval(a_customer(rivals, "rlsvi") - myopic, for_all(all_of)).high < 0
    learned = {name: learned_better(DITHERING[name], 2) for name in ("epsilon", "coded")}
    return Evidence(
        graded([min(one.low for one in behind.values()) > 0,
                max(one.low for one in learned.values()) <= 0]) if ahead else FAILS,
        f"None of the dithering agents plays one. After 1200 customers ε-greedy LSVI (ε = 0.1) "
        f"has {written(more['epsilon'])} likes more regret than RLSVI's {own:.0f}, or "
        f"{written(more['coded'])} more if dislikes count −1; with that coding Boltzmann "
        f"exploration (η = 0.3) has {written(more['boltzmann'])} more. With their last 120 "
        f"customers they earn {written(behind['epsilon'])}, {written(behind['coded'])} and "
        f"{written(behind['boltzmann'])} likes per customer less than the optimal myopic policy "
        f"(100 instances, 95% for all three; ε and η chosen on the first 20). But ε-greedy LSVI "
        f"has learned one: played without the dithering, its policy is better than the myopic one "
        f"by {written(learned['epsilon'])} likes per customer, and with that coding by "
        f"{written(learned['coded'])} (20 instances). RLSVI gains by the coding too, "
        f"{written(opposite(coded))} likes in all. Optimal it is not: its last 120 customers each "
        f"like {written(short)} fewer products than under the optimal policy.",
        {"own": own, **more, "rlsvi_coded": coded, "behind": behind, "learned": learned,
         "short": short})


@claim("6.3.bandits", FIG9, "outperforms benchmark bandit algorithms", "experiment", HOLDS)
def better_than_bandits(tables=STORED):
    """RLSVI outperforms the Bernoulli and the linear contextual bandit."""
    study = tables[STUDY]
    more = {arm: more_regret(study, arm, of=2) for arm in ("linear", "bernoulli")}
    late = ahead_at_the_end(study, "linear")
    since = ahead_from(rates(study, "linear"), rates(study, "rlsvi"))
    total = ahead_from(curves(study, "linear"), curves(study, "rlsvi"))
    return Evidence(
        HOLDS if more["linear"].low > 0 else PARTLY if late.low > 0 else FAILS,
        f"Neither bandit plans. From customer {since} on RLSVI serves each customer better than "
        f"the linear bandit, over the last 120 by {written(late)} likes. Its regret is reliably "
        f"lower from customer {total} on, after 1200 by {written(more['linear'])}, and lower than "
        f"the Bernoulli bandit's by {written(more['bernoulli'])}.",
        {"late": late, "more": more, "since": since, "total_since": total})


@claim("6.3.linear-first", FIG9, "the linear bandit is better at first", "experiment", HOLDS)
def linear_first(tables=STORED):
    """The linear contextual bandit outperforms RLSVI at first."""
    study = tables[STUDY]
    each = rates(study, "rlsvi") - rates(study, "linear")
    lead = (curves(study, "rlsvi") - curves(study, "linear")).mean(axis=1)
    early = mean_interval(each.loc[:300].mean())
    until = max((int(n) for n, row in each.iterrows() if mean_interval(row).low > 0), default=0)
    return unless(early.low <= 0, f"By {written(early)} likes per customer over the first 300; "
                  f"reliably up to customer {until}. Its lead is largest near customer "
                  f"{lead.idxmax()}, with {lead.max():.0f} likes in all.",
                  early=early, until=until, peak=int(lead.idxmax()))


@claim("6.3.bernoulli", FIG9, "does not learn much after 1200 episodes", "exact", HOLDS)
def bernoulli_hardly_learns():
    """The Bernoulli bandit hardly learns, for want of context."""
    def expected(customers, seed):
        bandit = BernoulliBandit(Products(N, J), rng=seed)
        return bandit.learn(customers, 1200, seed, exact=True).expected

    gain = max(float(np.abs(expected(instance(seed), seed) - J / 2).max()) for seed in range(5))
    popular = expected(Recommender(instance(4).gamma, J, beta=np.linspace(-2, 2, N)), 0)
    before, after = popular[:100].mean(), popular[-100:].mean()
    return unless(gain > 1e-12, "It cannot learn at all: with β = 0 a customer and her mirror "
                  f"image are equally likely, so every order fixed in advance earns J/2 = {J / 2} "
                  f"likes. With β from −2 to 2 it improves from {before:.3g} to {after:.3g}.",
                  deviation=gain, before=before, after=after)


NO_PLAN = ("uniform", "lowest")  # ties of the first product broken without a look ahead


@claim("6.3.myopic", FIG9, "outperforms even the optimal myopic policy", "experiment", HOLDS)
def better_than_myopic(tables=STORED):
    """By the end of the study RLSVI serves customers better than the optimal myopic policy, which
    knows the model and does not plan."""
    study = tables[STUDY]
    more = {ties: ahead_at_the_end(study, arm, of=len(MYOPIC)) for ties, arm in MYOPIC.items()}
    return Evidence(
        graded(more[ties].low > 0 for ties in NO_PLAN),
        f"Over the last 120 of 1200 customers RLSVI earns {written(more['uniform'])} likes per "
        f"customer more if that policy opens with a random product, {written(more['lowest'])} more "
        f"if with the first: all products tie there. A policy that opens with the best of them by "
        f"Q*, and so plans, is ahead of RLSVI by {written(opposite(more['best']))}; one that opens "
        f"with the worst is behind by {written(more['worst'])} (100 instances, 95% for all four).",
        {"more": more, "won": [ties for ties, one in more.items() if one.low > 0],
         "lost": [ties for ties, one in more.items() if one.high < 0]})


@claim("6.3.myopic-regret", FIG9, OURS, "experiment", FAILS)
def myopic_regret(tables=STORED):
    """Within 1200 customers RLSVI's cumulative regret falls below the optimal myopic policy's."""
    study, longer = tables[STUDY], tables[LATER]
    more = {ties: more_regret(study, MYOPIC[ties], of=2) for ties in NO_PLAN}
    own = curves(longer, "rlsvi")
    later = {ties: ahead_from(curves(longer, MYOPIC[ties]), own) for ties in NO_PLAN}
    return Evidence(
        graded(one.low > 0 for one in more.values()),
        f"Not yet: the myopic policy's regret minus RLSVI's is {written(more['uniform'])} after "
        f"1200 customers if it opens with a random product, {written(more['lowest'])} if with the "
        f"first. RLSVI's is reliably lower only from customer {later['uniform']} and "
        f"{later['lowest']} on.",
        {"more": more, "later": later})


@claim("6.3.eventually", "Section 6.3", "eventually learns a richer policy", "experiment", HOLDS)
def eventually_beats_myopic(tables=STORED):
    """As more data are gathered, RLSVI eventually outperforms the myopic policy."""
    later = tables[LATER]
    more = {ties: ahead_at_the_end(later, MYOPIC[ties], of=4) for ties in (*NO_PLAN, "best")}
    bandit = ahead_at_the_end(later, "linear", of=4)
    gap = float(a_customer(later, "rlsvi").mean())
    return Evidence(
        graded(more[ties].low > 0 for ties in NO_PLAN),
        f"Over the last 600 of 6000 customers RLSVI earns {written(more['uniform'])} likes per "
        f"customer more than the myopic policy that opens with a random product, "
        f"{written(bandit)} more than the linear bandit, and {gap:.2g} fewer than the optimum. "
        f"If it opens with the product found by planning, the myopic policy is ahead of RLSVI by "
        f"{written(opposite(more['best']))} (40 instances, 95% for all four).",
        {"more": more, "bandit": bandit, "gap": gap})


remark("E.runs", "Appendix E, Algorithm 9", "10 repetitions (text); 100 (bandits)", "reading",
       MISPRINT, "Every algorithm is repeated ten times on each instance.",
       "Algorithm 9 runs the bandits 100 times, and is followed here. Intervals are over "
       "instances, so it makes little difference.")


@claim("E.mean", "Appendix E, Algorithm 11", "λσ² in the mean", "reading", MISPRINT)
def ridge_of_the_mean(tables=STORED):
    """The linear bandit's mean has the ridge λσ² where its covariance has λ."""
    readings = tables[READINGS]
    change = more_regret(readings, "linear, printed mean", than="linear")
    corrected = final_regret(readings, "linear").mean()
    return Evidence(MISPRINT, "Algorithm 1 has λ in both. It makes no difference: regret changes "
                    f"by {written(change)} of {corrected:.0f} likes.", {"change": change})


@claim("E.bernoulli-aim", "Appendix E", "aims to learn the myopic policy", "instances", FAILS)
def bernoulli_aim():
    """The Bernoulli bandit aims to learn the myopic policy."""
    earned = float(np.mean([one.evaluate(one.myopic())[0] for one in map(instance, range(20))]))
    return unless(earned > J / 2 + limit("more likes"), f"It aims at an order fixed in advance, "
                  f"worth {J / 2} likes. The myopic policy reacts to the answers and earns "
                  f"{earned:.3g} (mean of 20 instances).", myopic=earned)


@claim("E.linear-aim", "Appendix E", "aims to learn the myopic policy", "instances", HOLDS)
def linear_aim():
    """The linear bandit aims to learn the myopic policy."""
    same, worth = [], []
    for customers in map(instance, range(10)):
        policy = least_squares(customers, customers.P).argmax(axis=1)
        myopic = customers.myopic("lowest")
        myopic[0] = np.eye(N)[policy[0]]  # all openings tie: give both the same
        same.append(myopic[np.arange(len(policy)), policy].mean())
        worth.append(customers.evaluate(policy)[0] / customers.evaluate(myopic)[0])
    agrees, earns = float(np.mean(same)), float(np.mean(worth))
    return Evidence(graded([earns > limit("aims at"), agrees > limit("mostly")]), "It does, as "
                    "near as a linear fit can come: fitted to all states alike, it makes the "
                    f"myopic choice in {100 * agrees:.0f}% of them and earns {100 * earns:.1f}% as "
                    "much.",
                    {"same": agrees, "worth": earns})


@claim("E.incremental", "Appendix E", "can be implemented incrementally", "instances", HOLDS)
def incremental_bandit():
    """The linear bandit can be implemented incrementally, and so efficiently."""
    customers, worst = instance(0, N=5, J=3), 0.0
    fast, dense = (rlsvi(Products(5, 3), 0.2, 1e-3**0.5, gamma=0.0, rng=1, form=form)
                   for form in (None, VerbatimAgent))
    for l in range(80):
        for agent in (fast, dense):
            agent.learn(customers, 1, l)
        theta = dense.theta.reshape(3, 5, 6).transpose(0, 2, 1)  # product by product
        worst = max(worst, float(np.abs(fast.theta - theta).max() / max(1.0, np.abs(theta).max())))
    return unless(worst > 1e-7, "An answer takes N + 1 rotations of a triangular factor; the "
                  "weights equal, to rounding, those computed from all data.", worst=worst)
