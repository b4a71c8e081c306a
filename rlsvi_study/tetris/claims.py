"""Claims about Tetris: section 6.2 and appendix D.

Which ending rules does the letter admit? Section 6.2 says that a game "ends when a square in the top
row becomes full. However, when a row becomes full it is removed", and that pieces move "subject to
the constraints of the grid"; appendix D adds nothing. So a full square in the top row ends a game.
The text does not say whether one looks for it once full rows are gone ("top row") or before they go
("touches"), nor whether a piece may stick out of the grid as it lands ("overflow top"): these three
are admitted. Under "clears", "fits" and "overflow" a game goes on with a full square there, which
the letter excludes; "clears" is reported because RLSVI wins under it, and decides nothing. (To let
pieces stick out and look before full rows go differs from "touches" in the last placement only, and
was not run.)

A claim is judged under each admitted rule, and is undecided under one that was not run for it. For
each seed LSVI has the annealing that does best on all other seeds of the figure
(``tuned_schedule``). Under "touches" and "overflow top" there are the paper's five seeds; to give
each of the two what "top row" has would take more than two hours of computing. LSPI's level is the
one that the paper quotes; LSPI as run here, with only the games of its newest policy, stands beside
it.

Nor does the text say whether Φ knows the reward of a placement. In the runs of figure 7 it does. In
``tetris-board`` and ``tetris-board-explores`` Φ has the features of the board alone; the claims of
section 6.2 are judged there, too, and have a verdict only where both agree. (The reward as one feature
more, a reading of mini-Tetris in half of figure 14, would be a 23rd; section 6.2 counts 22.) As all
that was known of the board alone was that LSVI ends at some 600 rows, the marks are relative there
(fixed before RLSVI and an annealing were run with it): without exploration LSVI does badly if it ends
below half of RLSVI's level; a run has learned when a block is above 300 rows. RLSVI is compared with the
one annealing that was run. With ε = 0.001 it was to be half of annealed LSVI's level, and a collapse was to be measured run by run;
as 3183 and the mean curve of figure 7 say otherwise, the first depends on the mark, and the second is
measured on that curve (both changed after the runs).
"""

from collections.abc import Callable, Mapping
from functools import cache
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from ..engine import StoredTables
from ..judging.intervals import (
    Mean,
    bootstrap_interval,
    mean_interval,
    median_interval,
    simultaneous_level,
    summarize_cells,
)
from ..judging.outcomes import (
    DEPENDS,
    FAILS,
    Judgement,
    combine_parts,
    combine_readings,
    verdict_if_all,
    verdict_of_interval,
)
from ..judging.register import Frames, claim
from ..judging.thresholds import CHOSEN, Limits
from . import experiments
from .experiments import (
    EXPERIMENTS,
    LSPI,
    RULE_TABLES,
    final_scores,
    first_learned_game,
    lead_over_best_schedule,
    paired_lead,
    score_level,
    second_half_scores,
)

STORED = StoredTables(EXPERIMENTS)
TOP = "top row"
OUT = "overflow top"
CLEARS = "clears"
TOUCHES = "touches"


def joint_verdict(by: Mapping[str, str], **numbers: Any) -> Judgement:
    """The verdicts under the ending rules, joined: a rule that the letter excludes decides nothing,
    and an admitted one that was not run leaves it undecided."""
    admitted = (rule for rule, one in RULE_TABLES.items() if one.admitted)
    return Judgement(
        combine_readings({rule: by.get(rule, DEPENDS) for rule in admitted}),
        numbers | {"by": dict(by)},
    )


def agree_with_board(value: Mapping[str, str], board: Mapping[str, str]) -> dict[str, str]:
    """For each rule, the verdict on which both readings of Φ agree, where the second was run."""
    return {
        rule: combine_readings({"value": one, "board": board.get(rule, one)})
        for rule, one in value.items()
    }


Found = Mapping[str, Mapping[str, Any]]  # what was measured, with an interval, by rule


def verdicts_above(found: Found, claimed: float) -> dict[str, str]:
    """For each rule, whether all its intervals lie above what is claimed."""
    return {
        rule: combine_parts(
            {who: verdict_of_interval(one.low, one.high, claimed) for who, one in of.items()}
        )
        for rule, of in found.items()
    }


def verdicts_below(found: Found, claimed: float) -> dict[str, str]:
    """For each rule, whether all lie below it."""
    return {
        rule: combine_parts(
            {who: verdict_of_interval(-one.high, -one.low, -claimed) for who, one in of.items()}
        )
        for rule, of in found.items()
    }


# --------------------------------------------------------------------------- who is compared


def figure7_runs(rule: str, tables: Frames = STORED) -> pd.DataFrame:
    """Figure 7 under a rule and, on its seeds, LSVI with other schedules than it has there."""
    one = RULE_TABLES[rule]
    figure, others = tables[one.figure], tables[one.others].assign(agent="lsvi")
    return pd.concat([figure.assign(schedule=one.schedule) if one.schedule else figure, others])


def lsvi_runs(rule: str, tables: Frames = STORED) -> pd.DataFrame:
    """LSVI with every schedule that was run on the seeds of figure 7."""
    return figure7_runs(rule, tables).query("agent == 'lsvi'")


def annealed_lsvi_runs(rule: str, tables: Frames = STORED) -> pd.DataFrame:
    """LSVI with the schedules among which the paper tuned: its footnote has an annealing one."""
    lsvi = lsvi_runs(rule, tables)
    return lsvi[lsvi.schedule.str.contains("halved")]


def tuned_schedule(rule: str, tables: Frames = STORED) -> pd.Series:
    """For each seed of figure 7, the annealing of LSVI that does best over the second half of the
    games on all its other seeds."""
    lsvi = annealed_lsvi_runs(rule, tables)
    return pd.Series(
        {
            seed: second_half_scores(lsvi[lsvi.seed != seed]).idxmax()
            for seed in sorted(lsvi.seed.unique())
        }
    )


def rlsvi_vs_tuned(rule: str, tables: Frames = STORED) -> pd.DataFrame:
    """RLSVI and, on the same seeds, LSVI with the tuned schedule."""
    table = figure7_runs(rule, tables)
    return table[
        (table.agent == "rlsvi") | (table.schedule == table.seed.map(tuned_schedule(rule, tables)))
    ]


def rlsvi_vs_greedy(rule: str, tables: Frames = STORED) -> pd.DataFrame:
    """RLSVI and, on the same seeds, greedy LSVI."""
    return figure7_runs(rule, tables).query("agent == 'rlsvi' or schedule == 'greedy'")


def board_feature_runs(tables: Frames) -> dict[str, pd.DataFrame]:
    """For each rule the runs in which Φ has the features of the board alone."""
    plain = tables["tetris-board"].assign(agent="lsvi")
    return dict(list(pd.concat([plain, tables["tetris-board-explores"]]).groupby("rule")))


def exploring_runs(table: pd.DataFrame) -> pd.DataFrame:
    """RLSVI, and LSVI with an annealing."""
    return table[(table.agent == "rlsvi") | table.schedule.str.contains("halved")]


def split_by_agent(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {agent: table[table.agent == agent] for agent in ("rlsvi", "lsvi")}


def by_rule_and_agent(
    of: Callable[[pd.DataFrame], Any], tables: Frames
) -> dict[str, dict[str, Any]]:
    """What becomes of RLSVI and of tuned LSVI, under each rule."""
    return {
        rule: {
            agent: of(table)
            for agent, table in split_by_agent(rlsvi_vs_tuned(rule, tables)).items()
        }
        for rule in RULE_TABLES
    }


def board_by_rule_and_agent(
    of: Callable[[pd.DataFrame], Any], tables: Frames
) -> dict[str, dict[str, Any]]:
    """The same with the board alone."""
    return {
        rule: {agent: of(part) for agent, part in split_by_agent(exploring_runs(table)).items()}
        for rule, table in board_feature_runs(tables).items()
    }


def final_level(table: pd.DataFrame, schedule: str) -> Any:
    """The level at which LSVI ends with a schedule."""
    return score_level(final_scores(table[table.schedule == schedule]))


def greedy_lsvi_runs(rule: str, tables: Frames = STORED) -> pd.DataFrame:
    """LSVI without exploration."""
    return lsvi_runs(rule, tables).query("schedule == 'greedy'")


def lspi_runs(
    table: pd.DataFrame, rule: str, start: str = "scoring", replay: bool = False, each: int = 50
) -> pd.DataFrame:
    """LSPI from such a start, with the games of its newest policy or with a buffer of all."""
    return table[
        (table.rule == rule)
        & (table.start == start)
        & (table.replay == replay)
        & (table.each == each)
    ]


def lspi_scores(table: pd.DataFrame, last: int | None = None) -> pd.Series:
    """The best policy of each seed, or the mean of its last ones."""
    return (
        table.groupby("seed").score.max()
        if last is None
        else table[table.policy > table.policy.max() - last].groupby("seed").score.mean()
    )


class SeedCount(NamedTuple):
    learned: int
    seeds: int

    @property
    def share(self) -> float:
        return self.learned / self.seeds

    def __str__(self) -> str:
        return f"{self.learned} of {self.seeds}"


def count_learners(table: pd.DataFrame, above: float) -> SeedCount:
    """How many seeds ever come above the level of a player."""
    games = first_learned_game(table, above=above)
    return SeedCount(int((games < inf).sum()), len(games))


def score_ratio(scores: pd.Series, others: pd.Series) -> Mean:
    """Their mean, as a multiple of the others'."""
    return bootstrap_interval(lambda x, y: x.mean(-1) / y.mean(-1), scores, others)


def share_of_explorer(agent: str, table: pd.DataFrame, schedule: str) -> Mean:
    """LSVI with a schedule that explores less ends at such a share of one who explores."""
    lsvi = table[(table.agent == "lsvi") & (table.schedule == schedule)]
    explores = exploring_runs(table)
    return score_ratio(final_scores(lsvi), final_scores(explores[explores.agent == agent]))


# --------------------------------------------------------------------------- section 6.2


@claim(
    "6.2.lspi",
    place="Section 6.2",
    paper="above 3183, LSPI's best level",
    kind="experiment",
    verdict=DEPENDS,
    on="reading",
    main=True,
)
def above_lspi(tables: Frames = STORED) -> Judgement:
    """Both RLSVI and LSVI improve significantly on LSPI with the same features: they end above its
    best level, 3183 rows per game.

    whether Φ knows the reward of a placement: if it does, RLSVI ends at {top row[rlsvi]:.0f} rows and
    tuned LSVI at {top row[lsvi]:.0f} if the top row is tested once full rows are gone; at
    {touches[rlsvi]:.0f} and {touches[lsvi]:.0f} if before, where five seeds decide nothing for RLSVI; at {overflow top[rlsvi]:.0f} and
    {overflow top[lsvi]:.0f} if pieces may stick out. If Φ has the 22 features of the board alone, at
    {board[top row][rlsvi]:.0f} and {board[top row][lsvi]:.0f} in the first.

    LSPI as run here, where Φ knows the reward, with the games of its newest policy, has {lspi[best]:.0f} in
    its best 50 games, RLSVI {peak[rlsvi]:.0f} and LSVI {peak[lsvi]:.0f}, in the first. Best of 20 blocks of 50 games, seed by seed: LSPI plays one block with
    each policy. Under “clears”, which the letter excludes, {clears[rlsvi]:.0f} and
    {clears[lsvi]:.0f}. LSPI ends at {lspi[last]:.0f}; with the buffer of past games, which the text denies
    it, it has {lspi[buffer]:.0f} at best. The “LSPI” cited is TD-based policy iteration.
    """
    found, board = (
        of(lambda table: score_level(final_scores(table)), tables)
        for of in (by_rule_and_agent, board_by_rule_and_agent)
    )
    own, buffer = (lspi_runs(tables["tetris-lspi"], TOP, replay=kept) for kept in (False, True))
    scores = {"best": lspi_scores(own), "last": lspi_scores(own, 4), "buffer": lspi_scores(buffer)}
    lspi = {name: score_level(one) for name, one in scores.items()}
    peak = {
        agent: score_level(table.groupby("seed").score.max())
        for agent, table in split_by_agent(rlsvi_vs_tuned(TOP, tables)).items()
    }
    by = agree_with_board(verdicts_above(found, LSPI), verdicts_above(board, LSPI))
    return joint_verdict(by, **found, board=board, lspi=lspi, peak=peak)


def curves_after_learning(
    table: pd.DataFrame, time: str, above: float, least: float
) -> list[np.ndarray]:
    """The curves from their first block above the level of a player on, if so many are left."""
    curves = table.pivot(index="seed", columns=time, values="score").to_numpy()
    found = [curve[np.argmax(curve > above) :] for curve in curves if curve.max() > above]
    return [curve for curve in found if len(curve) >= least]


def share_of_peak(curves: list[np.ndarray]) -> np.ndarray:
    """The last four blocks, of 50 games each, as a share of the best one, curve by curve."""
    return np.array([blocks[..., -4:].mean(-1) / blocks.max(-1) for blocks in curves])


@cache
def null_share_of_peak(lengths: tuple[int, ...], repeats: int = 2000) -> float:
    """That share in the mean, for level curves of so many blocks: a game's score is exponential, as
    nearly all are here, so a block of 50 has the law Gamma(50)/50."""
    blocks = np.random.default_rng(0).gamma(50, 1 / 50, (repeats, sum(lengths)))
    curves = np.split(blocks, np.cumsum(lengths)[:-1], axis=1)
    return float(np.stack(list(share_of_peak(curves)), axis=1).mean())


def retention(curves: list[np.ndarray]) -> Mean:
    """What is left at the end, as a share of what would be without a decline; of fewer than two
    curves one cannot say."""
    if len(curves) < 2:
        return Mean(np.nan, -inf, inf)
    return mean_interval(share_of_peak(curves) / null_share_of_peak(tuple(map(len, curves))))


def mean_curve_retention(table: pd.DataFrame) -> float:
    """What is left over the last 200 games of the best block of the mean curve of all seeds."""
    blocks = table.groupby("game").score.mean()
    return float(blocks.iloc[-4:].mean() / blocks.max())


@claim(
    "6.2.collapse",
    place="Section 6.2",
    paper="unlike LSPI, do not collapse",
    kind="experiment",
    verdict=DEPENDS,
    on="reading",
)
def no_collapse(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judgement:
    """Unlike LSPI, RLSVI and LSVI do not collapse after finding their peak performance.

    whether Φ knows the reward of a placement: if it does, RLSVI ends at {top row[rlsvi]:.2f} of what it
    would have without a decline if the top row is tested once full rows are gone, at
    {touches[rlsvi]:.2f} if before, and at {overflow top[rlsvi]:.2f} if pieces may stick out; tuned LSVI at
    {top row[lsvi]:.2f}, {touches[lsvi]:.2f} and {overflow top[lsvi]:.2f}. If Φ has the 22 features of the
    board alone, RLSVI's mean curve over five seeds ends at {board[top row][rlsvi]:.2f},
    {board[touches][rlsvi]:.2f} and {board[overflow top][rlsvi]:.2f} of its peak, because one run in each
    rises to thousands of rows and falls back; LSVI's at {board[top row][lsvi]:.2f},
    {board[touches][lsvi]:.2f} and {board[overflow top][lsvi]:.2f}.

    LSPI as run here {lspi:.2f}; that it collapses is its authors' finding. Under “clears”, which the
    letter excludes, {clears[rlsvi]:.2f} and {clears[lsvi]:.2f}. The last 200 games, of runs with
    {blocks:.0f} blocks of 50 games or more from the first good one on: {asked[top row]}, {asked[touches]} and
    {asked[overflow top]} of RLSVI's. A collapse: below half.
    """

    def kept(table: pd.DataFrame, time: str = "game") -> Mean:
        return retention(curves_after_learning(table, time, limits["learned"], limits["blocks"]))

    found = by_rule_and_agent(kept, tables)
    board = board_by_rule_and_agent(mean_curve_retention, tables)
    board_keeps = {
        rule: verdict_if_all(min(of.values()) > limits["collapse"]) for rule, of in board.items()
    }
    lspi = kept(lspi_runs(tables["tetris-lspi"], TOP), "policy")
    asked = {
        rule: len(
            curves_after_learning(
                rlsvi_vs_tuned(rule, tables).query("agent == 'rlsvi'"),
                "game",
                limits["learned"],
                limits["blocks"],
            )
        )
        for rule in RULE_TABLES
    }
    return joint_verdict(
        agree_with_board(verdicts_above(found, limits["collapse"]), board_keeps),
        **found,
        board=board,
        lspi=lspi,
        asked=asked,
        blocks=limits["blocks"],
    )


@claim(
    "6.2.exploration",
    place="Section 6.2",
    paper="due to improved exploration schemes",
    kind="experiment",
    verdict=FAILS,
)
def learns_by_exploring(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judgement:
    """We believe that RLSVI and LSVI learn from scratch due to improved exploration schemes (read
    as: without exploration LSVI does not).

    LSVI learns from scratch without any exploration: in {value[top row]} seeds if the top row is tested
    once full rows are gone, in {value[touches]} if before, and in {value[overflow top]} if pieces may stick
    out, if Φ knows the reward of a placement; and with the 22 features of the board alone it ends at
    {board[top row]:.2f}, {board[touches]:.2f} and {board[overflow top]:.2f} of RLSVI's level.

    If Φ knows the reward it ends at {rows[top row]:.0f}, {rows[touches]:.0f} and {rows[overflow top]:.0f}
    rows, with the board alone all end at some 600, and five seeds each. Under “clears”, which the letter
    excludes, {value[clears]} learn. Learned: a block of 50 games above 1000 rows per game, of 1000 games.
    The last 200 games.
    """
    value = {
        rule: count_learners(greedy_lsvi_runs(rule, tables), limits["learned"])
        for rule in RULE_TABLES
    }
    rows = {rule: final_level(lsvi_runs(rule, tables), "greedy") for rule in RULE_TABLES}
    board = {
        rule: share_of_explorer("rlsvi", table, "greedy")
        for rule, table in board_feature_runs(tables).items()
    }
    by = agree_with_board(
        {rule: verdict_if_all(one.share < limits["learns"]) for rule, one in value.items()},
        verdicts_below(
            {rule: {"greedy": one} for rule, one in board.items()}, limits["badly, board"]
        ),
    )
    return joint_verdict(by, value=value, board=board, rows=rows)


@claim(
    "6.2.better",
    place="Section 6.2, figure 7",
    paper="RLSVI significantly better than tuned ε",
    kind="experiment",
    verdict=DEPENDS,
    on="data",
    main=True,
)
def better_than_tuned_epsilon(tables: Frames = STORED) -> Judgement:
    """RLSVI improves significantly even on LSVI with a tuned ε schedule.

    with five seeds, if the top row is tested before full rows go, or if pieces may stick out, or if Φ
    has the board alone. If Φ knows the reward, RLSVI minus tuned LSVI is {touches, tuned:+.0f} and
    {overflow top, tuned:+.0f} rows per game; tested once full rows are gone, with twenty, it is
    {top row, tuned:+.0f}, so there it fails. Minus greedy LSVI it is {greedy[touches]:+.0f},
    {greedy[overflow top]:+.0f} and {greedy[top row]:+.0f}. With the board alone, minus one untuned
    annealing, which plays as greedy LSVI in most runs, it is {board[touches]:+.0f},
    {board[overflow top]:+.0f} and {board[top row]:+.0f}.

    Tuned: for each seed the annealing that is best on the others, of {annealings[top row]} if tested
    once full rows are gone, of {annealings[touches]} if before and of {annealings[overflow top]} if pieces
    may stick out. Against the best of all {schedules[top row]} schedules in hindsight
    {hindsight[top row]:+.0f} in the first (95% for all together). Twenty seeds in all would take more than
    two hours of computing. Under “clears”, which the letter excludes, {clears, tuned:+.0f}. Last 200 games.
    """
    tried = {rule: lsvi_runs(rule, tables).schedule.nunique() for rule in RULE_TABLES}
    ahead = {rule: score_level(paired_lead(rlsvi_vs_tuned(rule, tables))) for rule in RULE_TABLES}
    board = {
        rule: score_level(paired_lead(exploring_runs(table)))
        for rule, table in board_feature_runs(tables).items()
    }
    by_value, by_board = (
        {rule: verdict_of_interval(one.low, one.high) for rule, one in found.items()}
        for found in (ahead, board)
    )
    return joint_verdict(
        agree_with_board(by_value, by_board),
        board=board,
        **{f"{rule}, tuned": one for rule, one in ahead.items()},
        hindsight={
            rule: score_level(lead_over_best_schedule(figure7_runs(rule, tables)), n)
            for rule, n in tried.items()
        },
        greedy={
            rule: score_level(paired_lead(rlsvi_vs_greedy(rule, tables))) for rule in RULE_TABLES
        },
        schedules=tried,
        annealings={
            rule: annealed_lsvi_runs(rule, tables).schedule.nunique() for rule in RULE_TABLES
        },
    )


@claim(
    "6.2.fixed-epsilon",
    place="Section 6.2, footnote",
    paper="no good performance for any fixed ε",
    kind="experiment",
    verdict=DEPENDS,
    on="reading",
)
def fixed_epsilon_fails(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judgement:
    """We found that LSVI does not achieve good performance with any fixed ε.

    whether Φ knows the reward of a placement, and what good is where it does not. If it does, LSVI ends
    with ε = 0.001 throughout at {value[top row]:.0f} rows if the top row is tested once full rows are gone,
    at {value[touches]:.0f} if before, and at {value[overflow top]:.0f} if pieces may stick out. If Φ has the
    22 features of the board alone, it ends at {board[top row]:.0f}, {board[touches]:.0f} and
    {board[overflow top]:.0f}, far below the 3183 that the paper names; but so do all, and this is
    {share[top row]:.2f}, {share[touches]:.2f} and {share[overflow top]:.2f} of the level of an annealing.

    Good: above 3183, or with the board alone more than half the annealing's, which plays as greedy LSVI
    does in most of the runs. If Φ knows the reward ε = 0.1 has {large:.0f} in the first. Under “clears”,
    which the letter excludes, ε = 0.001 has {value[clears]:.0f}. Other ε were not run with the board alone.
    """
    runs_with = board_feature_runs(tables)
    value = {rule: final_level(lsvi_runs(rule, tables), "ε = 0.001") for rule in RULE_TABLES}
    board = {rule: final_level(table, "ε = 0.001") for rule, table in runs_with.items()}
    share = {
        rule: share_of_explorer("lsvi", table, "ε = 0.001") for rule, table in runs_with.items()
    }
    by_value, by_level, by_share = (
        verdicts_below({rule: {"ε = 0.001": one} for rule, one in found.items()}, mark)
        for found, mark in ((value, LSPI), (board, LSPI), (share, limits["badly, board"]))
    )
    return joint_verdict(
        agree_with_board(by_value, agree_with_board(by_level, by_share)),
        value=value,
        board=board,
        share=share,
        large=final_level(lsvi_runs(TOP, tables), "ε = 0.1"),
    )


@claim(
    "6.2.sooner",
    place="Section 6",
    paper="faster learning",
    kind="experiment",
    verdict=DEPENDS,
    on="data",
)
def learns_sooner(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judgement:
    """In Tetris RLSVI leads to faster learning.

    with five seeds, if the top row is tested before full rows go, or if pieces may stick
    out, or if Φ has the board alone. If Φ knows the reward, RLSVI learns sooner than tuned LSVI in
    {touches[sooner]} and in {overflow top[sooner]} of the five, later in {touches[later]} and in
    {overflow top[later]}; if the top row is tested once full rows are gone, sooner in {top row[sooner]} and
    later in {top row[later]} of {top row[seeds]}. With the board alone it is sooner in
    {board[touches][sooner]}, {board[overflow top][sooner]} and {board[top row][sooner]} of five.

    It takes {touches[ratio]:.1f}, {overflow top[ratio]:.1f} and {top row[ratio]:.1f} times as many
    games (geometric means of the seeds in which both learn). Under “clears”, which the
    letter excludes, sooner in {clears[sooner]} and later in {clears[later]}. Learned: a
    block of 50 games above 1000 rows per game. Sign tests, one-sided at 5%.
    """

    def sooner(table: pd.DataFrame, above: float) -> dict[str, Any]:
        games = first_learned_game(table, ["agent"], above).unstack("agent")
        both = games[np.isfinite(games).all(axis=1)]
        longer = np.log(both["rlsvi"] / both["lsvi"])
        ratio = mean_interval(longer) if len(longer) else (np.nan, -inf, inf)
        return {
            "sooner": int((games["rlsvi"] < games["lsvi"]).sum()),
            "later": int((games["lsvi"] < games["rlsvi"]).sum()),
            "seeds": len(games),
            "ratio": Mean(*np.exp(ratio)),
        }

    def by_sign(found: Mapping[str, dict[str, Any]]) -> dict[str, str]:
        counts = {
            rule: (one["sooner"], one["sooner"] + one["later"]) for rule, one in found.items()
        }
        shares = {
            rule: binomtest(*count).proportion_ci(0.9) for rule, count in counts.items() if count[1]
        }
        return {
            rule: verdict_of_interval(shares[rule].low, shares[rule].high, 0.5)
            if rule in shares
            else DEPENDS
            for rule in counts
        }

    found = {rule: sooner(rlsvi_vs_tuned(rule, tables), limits["learned"]) for rule in RULE_TABLES}
    board = {
        rule: sooner(exploring_runs(table), limits["learned, board"])
        for rule, table in board_feature_runs(tables).items()
    }
    return joint_verdict(agree_with_board(by_sign(found), by_sign(board)), **found, board=board)


def spread_ratio(scores: pd.Series, others: pd.Series) -> Mean:
    """The relative spread over seeds, as a multiple of the others'."""
    return bootstrap_interval(
        lambda x, y: experiments.relative_spread(x) / experiments.relative_spread(y), scores, others
    )


# --------------------------------------------------------------------------- appendix D


DISCOUNTED = {
    TOP: "tetris-top-row-discount",
    CLEARS: "tetris-discount",
    TOUCHES: "tetris-other-rules-discount",
    OUT: "tetris-other-rules-discount",
}
UNKNOWN = {
    TOP: "tetris-top-row-variance",
    CLEARS: "tetris-variance",
    TOUCHES: "tetris-other-rules-variance",
    OUT: "tetris-other-rules-variance",
}


def filter_rule(rule: str, table: pd.DataFrame) -> pd.DataFrame:
    """The runs under a rule, from a table of one rule or of two."""
    return table[table.rule == rule] if "rule" in table else table


def discount_runs(tables: Frames = STORED, rule: str = CLEARS) -> pd.DataFrame:
    """The runs with other discounts and, as long and on the same seeds, those of figure 7; LSVI with
    one schedule."""
    table, usual = filter_rule(rule, tables[DISCOUNTED[rule]]), figure7_runs(rule, tables)
    one = RULE_TABLES[rule].schedule or RULE_TABLES[TOP].schedule
    alike = (
        ((usual.agent == "rlsvi") | (usual.schedule == one))
        & usual.seed.isin(table.seed)
        & (usual.game <= table.game.max())
    )
    return pd.concat([table, usual[alike].assign(gamma=0.99)])


@claim(
    "D.discount",
    place="Appendix D",
    paper="γ = 0.99 helpful for stability in both",
    kind="experiment",
    verdict=DEPENDS,
    on="data",
)
def discount_helps(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judgement:
    """A discount of 0.99 is helpful for the stability of both RLSVI and LSVI (read as: runs end
    more alike than without one).

    with ten seeds, if the top row is tested once full rows are gone: RLSVI's runs spread
    {top row[ratio][rlsvi]:.2f} times as much as with γ = 1, and LSVI's {top row[ratio][lsvi]:.2f} times;
    with five, tested before they go, {touches[ratio][rlsvi]:.2f} and {touches[ratio][lsvi]:.2f} times, and if
    pieces may stick out {overflow top[ratio][rlsvi]:.2f} and {overflow top[ratio][lsvi]:.2f} times.

    RLSVI learned in {top row[learn][0.99]}, {touches[learn][0.99]} and {overflow top[learn][0.99]} seeds, with
    γ = 1 in {top row[learn][1.0]}, {touches[learn][1.0]} and {overflow top[learn][1.0]}. Under “clears”, which
    the letter excludes, its runs spread {clears[ratio][rlsvi]:.2f} times as much. Spread: standard deviation
    over seeds of the last 200 games of 600, relative to their mean.
    """
    found: dict[str, dict[str, Any]] = {}
    for rule in RULE_TABLES:
        agents = split_by_agent(discount_runs(tables, rule))
        last = {agent: final_scores(table, ["gamma"]) for agent, table in agents.items()}
        found[rule] = {
            "ratio": {agent: spread_ratio(one[0.99], one[1.0]) for agent, one in last.items()},
            "learn": {
                str(gamma): count_learners(part, limits["learned"])
                for gamma, part in agents["rlsvi"].groupby("gamma")
            },
        }
    return joint_verdict(
        verdicts_below({rule: of["ratio"] for rule, of in found.items()}, 1), **found
    )


@claim(
    "D.variance",
    place="Appendix D.2",
    paper="slightly better with an unknown variance",
    kind="experiment",
    verdict=DEPENDS,
    on="data",
)
def unknown_variance_helps(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judgement:
    """We found slightly better performance of RLSVI with an inverse gamma prior over an unknown
    variance.

    with five seeds, if the top row is tested before full rows go, or if pieces may stick out: with an
    unknown variance RLSVI gains {touches[gap]:+.0f} and {overflow top[gap]:+.0f} rows per game; tested once
    full rows are gone, with ten, {top row[gap]:+.0f}.

    Paired, the last 200 of 1000 games. It learns after a median of {top row[unknown]:.0f} games, against
    {top row[known]:.0f}, under this last rule. Under “clears”, which the letter excludes, {clears[gap]:+.0f} on
    {clears[gap].seeds}.
    """
    found: dict[str, dict[str, Any]] = {}
    for rule in RULE_TABLES:
        unknown = filter_rule(rule, tables[UNKNOWN[rule]])
        known = tables[RULE_TABLES[rule].figure].query("agent == 'rlsvi' and seed in @unknown.seed")
        found[rule] = {
            "gap": score_level(final_scores(unknown) - final_scores(known)),
            "unknown": median_interval(first_learned_game(unknown, above=limits["learned"])),
            "known": median_interval(first_learned_game(known, above=limits["learned"])),
        }
    return joint_verdict(
        {rule: verdict_of_interval(of["gap"].low, of["gap"].high) for rule, of in found.items()},
        **found,
    )


def simultaneous_leads(table: pd.DataFrame, by: str | list[str]) -> pd.DataFrame:
    """RLSVI's lead in each cell, with intervals that hold for all cells together."""
    one_of = simultaneous_level(len(table[by].drop_duplicates()))
    return summarize_cells(
        table, by, lambda cell: mean_interval(lead_over_best_schedule(cell), one_of)._asdict()
    )


# the level of each interval
CELLS = simultaneous_level(len(experiments.MINI_RULES) * len(experiments.MINI_READINGS))


def by_rule_and_reading(table: pd.DataFrame, of: Callable[[pd.DataFrame], Any]) -> dict[str, Any]:
    """For each rule, and each reading of Φ, what becomes of the runs."""
    return {
        rule: {reading: of(cell) for reading, cell in one.groupby("reading")}
        for rule, one in table.groupby("rule")
    }


def final_scores_by_agent(table: pd.DataFrame) -> list[pd.Series]:
    """RLSVI's in the last 200 games, and LSVI's."""
    return [final_scores(one) for one in split_by_agent(table).values()]


def mini_ratio_over_full(cell: pd.DataFrame, tables: Frames) -> Mean:
    """RLSVI's score as a multiple of LSVI's on four rows, as a multiple of that in figure 7."""
    (rule,) = cell.rule.unique()
    return bootstrap_interval(
        lambda a, b, c, d: a.mean(-1) / b.mean(-1) * d.mean(-1) / c.mean(-1),
        *final_scores_by_agent(cell),
        *final_scores_by_agent(rlsvi_vs_tuned(rule, tables)),
    )


@claim(
    "D.mini",
    place="Appendix D.3, figure 14",
    paper="RLSVI greatly outperforms tuned LSVI",
    kind="experiment",
    verdict=DEPENDS,
    on="reading",
)
def mini_tetris_lead(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judgement:
    """On four rows with S and Z, RLSVI greatly outperforms LSVI even with a tuned ε schedule: it
    learns faster and reaches a higher convergent policy, and its lead is much more extreme than in
    figure 7.

    of Φ and of the rule that ends a game: of six combinations, on ten columns, only if pieces may stick
    out and the reward is one feature more does RLSVI have far more than tuned LSVI, {ratio[overflow top][reward]:.2f} times its score;
    if Φ knows the reward {ratio[overflow top][value]:.2f} times; if the top row is tested once full rows
    are gone {ratio[top row][reward]:.2f} and {ratio[top row][value]:.2f} times, and if before they go
    {ratio[touches][reward]:.2f} and {ratio[touches][value]:.2f} times.

    In the first of these LSVI's schedule is “{schedule}”, one of {tied} that its tuning ranks first alike,
    and {bare} of its {runs} runs never clear a row. Early leads, of 200 games, {first[overflow top][reward]:+.2f},
    {first[overflow top][value]:+.2f}, {first[top row][reward]:+.2f}, {first[top row][value]:+.2f},
    {first[touches][reward]:+.2f} and {first[touches][value]:+.2f} rows. In figure 7 it has
    {full[overflow top]:.2f}, {full[top row]:.2f} and {full[touches]:.2f} times. Under “clears”, which the letter
    excludes, {ratio[clears][reward]:.2f} and {ratio[clears][value]:.2f}. The board alone was not
    run on four rows. On 5 to 8 columns, “touches” not run and “clears” included, ahead in {narrow[ahead]} of {narrow[cells]}, behind in {narrow[behind]} (leads 95% for all
    together). Last 200 games of 1000.
    """
    table, much = tables["fig14"], limits["much better"]
    ratio = by_rule_and_reading(table, lambda cell: score_ratio(*final_scores_by_agent(cell)))
    leads = by_rule_and_reading(
        table, lambda cell: mean_interval(lead_over_best_schedule(cell), CELLS)
    )
    early = table.query("game <= 200")
    first = by_rule_and_reading(
        early, lambda cell: mean_interval(lead_over_best_schedule(cell), CELLS)
    )
    more = by_rule_and_reading(table, lambda cell: mini_ratio_over_full(cell, tables))
    sentence = {
        "greatly outperforms": (ratio, much),
        "learns faster": (first, 0.0),
        "more extreme": (more, much),
    }

    def verdict(rule: str, reading: str) -> str:
        return combine_parts(
            {
                part: verdict_of_interval(
                    found[rule][reading].low, found[rule][reading].high, claimed
                )
                for part, (found, claimed) in sentence.items()
            }
        )

    by = {
        rule: combine_readings({reading: verdict(rule, reading) for reading in of})
        for rule, of in ratio.items()
    }
    narrow = simultaneous_leads(tables["tetris-widths"], ["width", "rule", "reading"])
    winning = "rule == @OUT and reading == 'reward'"
    tuning, cell = tables["fig14-tuning"].query(winning), table.query(winning)
    best = split_by_agent(cell)["lsvi"].groupby("seed").score.max()
    half = second_half_scores(tuning)
    return joint_verdict(
        by,
        ratio=ratio,
        lead=leads,
        first=first,
        schedule=experiments.MINI_TUNED[OUT]["reward"],
        tied=int(np.isclose(half, half.max()).sum()),
        bare=int((best == 0).sum()),
        runs=len(best),
        full={
            rule: score_ratio(*final_scores_by_agent(rlsvi_vs_tuned(rule, tables)))
            for rule in ratio
        },
        narrow={
            "cells": len(narrow),
            "ahead": int((narrow.low > 0).sum()),
            "behind": int((narrow.high < 0).sum()),
        },
        **{
            "far better": sum(one.low > much for of in ratio.values() for one in of.values()),
            "better": sum(one.low > 0 for of in leads.values() for one in of.values()),
        },
    )
