"""Claims about Tetris: section 6.2 and appendix D.

A game ends as printed, when a square in the top row becomes full: this rule decides. What the
other one, under which pieces may stick out, would say is in the evidence, and in the finding where
it turns the verdict. LSVI has the schedule that tuning on other seeds prefers. LSPI has only the
games of its newest policy and starts from one that scores, as in the paper.
"""

from collections.abc import Iterable
from functools import cache
from math import comb, inf, log2
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from rlsvi_core.envs.tetris import Tetris

from ..engine import Tables
from ..intervals import Mean, bootstrap, by_cell, for_all, mean_interval, median_interval
from ..register import CONSISTENT, FAILS, HOLDS, PARTLY, Evidence, Frames, claim, parts, unless
from ..thresholds import CHOSEN, Limits
from . import runs
from .runs import EXPERIMENTS, LSPI, apart, finals, lead, learned_at, level, levels

STORED = Tables(EXPERIMENTS)


class Compared(NamedTuple):
    """The tables of an ending rule: figure 7, LSVI with other schedules on its seeds, and LSVI with
    all schedules on seeds of their own."""

    name: str
    others: str
    tuning: str


RULES = {
    "top row": Compared("tetris-top-row", "tetris-top-row-schedules", "tetris-top-row-tuning"),
    "clears": Compared("fig7", "tetris-schedules", "fig7-tuning"),
}
PRINTED, OTHER = RULES  # the rule that decides, and the one under which pieces may stick out
STICK_OUT = "where pieces may stick out"


def _text(one: Iterable[float], form: str = ".0f") -> str:
    """A number and its interval."""
    mean, low, high = (f"{number:{form}}".replace("inf", "∞") for number in [*one][:3])
    return f"{mean} ({low}{' to ' if low[0] in '+-' else '–'}{high})"


# --------------------------------------------------------------------------- who is compared


def every_schedule(rule: str, tables: Frames = STORED) -> pd.DataFrame:
    """Figure 7 under a rule and, on its seeds, LSVI with other schedules than it has there."""
    name, others, _ = RULES[rule]
    return pd.concat(
        [
            tables[name].assign(schedule=runs.FIGURE_7_SCHEDULE[rule]),
            tables[others].assign(agent="lsvi"),
        ]
    )


def schedules(rule: str, tables: Frames = STORED) -> pd.DataFrame:
    """LSVI with every schedule that was run on the seeds of figure 7."""
    return every_schedule(rule, tables).query("agent == 'lsvi'")


def tuned(rule: str, tables: Frames = STORED) -> str:
    """The schedule that does best over the second half of the games on the tuning's own seeds, of
    those that were run on the seeds of figure 7."""
    half = runs.second_half(tables[RULES[rule].tuning])
    return str(half[half.index.isin(schedules(rule, tables).schedule)].idxmax())


def compared(rule: str, tables: Frames = STORED) -> pd.DataFrame:
    """RLSVI and, on the same seeds, LSVI with the tuned schedule."""
    table = every_schedule(rule, tables)
    return table[(table.agent == "rlsvi") | (table.schedule == tuned(rule, tables))]


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


def in_games(lspi: pd.DataFrame) -> pd.DataFrame:
    """LSPI's table with the number of games played in place of that of policies."""
    return lspi.assign(game=lspi.policy * lspi.each)


class Count(NamedTuple):
    learned: int
    seeds: int

    def __str__(self) -> str:
        return f"{self.learned} of {self.seeds}"


def how_many_learn(table: pd.DataFrame, above: float) -> Count:
    """How many seeds ever come above the level of a player."""
    games = learned_at(table, above=above)
    return Count(int((games < inf).sum()), len(games))


def by_agent(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {agent: table[table.agent == agent] for agent in ("rlsvi", "lsvi")}


# --------------------------------------------------------------------------- section 6.2


@claim("6.2.states", "Section 6.2", "more than 2^200 states", "exact", FAILS)
def number_of_states() -> Evidence:
    """Tetris on 20 × 10 squares has more than 2^200 states."""
    game = Tetris()

    # No row is full, and the number of full squares is even: pieces add 4, rows take away 10.
    def boards(rows: int) -> int:
        even_less_odd = sum(comb(game.width, k) * (-1) ** k for k in range(game.width)) ** rows
        return int((2**game.width - 1) ** rows + even_less_odd) // 2

    # By the printed rule the top row is empty as long as a game goes on; once it has ended, up to
    # four neighbours there are full, those of the last piece.
    ended = sum(game.width - k for k in range(4))
    pieces = len(game.pieces)
    ratio = {
        PRINTED: (pieces + ended) * boards(game.height - 1) / 2**200,
        OTHER: pieces * boards(game.height) / 2**200,
    }
    return unless(
        ratio[PRINTED] <= 1,
        f"By the printed rule the top row stays empty, which leaves at most "
        f"{ratio[PRINTED]:.2f} · 2^200 states; {STICK_OUT}, up to {ratio[OTHER]:.2f} · 2^200.",
        "Counted: boards without a full row and with an even number of full squares, times"
        " seven pieces, and the boards on which a game has ended.",
        **ratio,
    )


@claim("6.2.lspi", "Section 6.2", "≃ 3500 and 4500, above 3183", "experiment", PARTLY, main=True)
def above_lspi(tables: Frames = STORED) -> Evidence:
    """Both RLSVI and LSVI improve significantly on LSPI with the same features: they end above its
    best level, 3183 rows per game."""
    ends, best, last, kept = {}, {}, {}, {}
    for rule in RULES:
        ends[rule] = {
            agent: finals(table) for agent, table in by_agent(compared(rule, tables)).items()
        }
        own, buffer = (
            lspi_runs(tables["tetris-lspi"], rule, replay=replay) for replay in (False, True)
        )
        best[rule], last[rule] = lspi_scores(own), lspi_scores(own, 4)
        kept[rule] = lspi_scores(buffer)
    above_printed = all(level(scores).low > LSPI for scores in ends[PRINTED].values())
    above_run = all(apart(scores, best[PRINTED]).low > 0 for scores in ends[PRINTED].values())
    found = {
        rule: {agent: level(scores) for agent, scores in agents.items()}
        | {
            "lspi best": level(best[rule]),
            "lspi last": level(last[rule]),
            "lspi best, buffer": level(kept[rule]),
        }
        for rule, agents in ends.items()
    }
    ours, theirs = found[PRINTED], found[OTHER]
    return Evidence(
        parts(above_printed, above_run),
        f"{'Both' if above_printed else 'Not both'} end above the "
        f"printed level, RLSVI at {_text(ours['rlsvi'])} rows; {'so' if above_run else 'not so'} "
        f"against the best policies of LSPI as run here, {_text(ours['lspi best'])}.",
        found,
        f"Tuned LSVI {_text(ours['lsvi'])}; LSPI at last {_text(ours['lspi last'])}, best "
        f"with the buffer {_text(ours['lspi best, buffer'])}. Pieces sticking out: RLSVI "
        f"{_text(theirs['rlsvi'])}, LSVI {_text(theirs['lsvi'])}, LSPI "
        f"{_text(theirs['lspi best'])}. The “LSPI” cited is TD-based policy iteration.",
    )


@claim("6.2.fewer-games", "Section 6.2", "after many fewer games", "experiment", FAILS)
def fewer_games(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """Both reach this performance, above LSPI's best level, after many fewer games than LSPI."""
    games = {}
    for rule in RULES:
        lspi = in_games(lspi_runs(tables["tetris-lspi"], rule))
        games[rule] = {
            agent: median_interval(learned_at(table, above=LSPI))
            for agent, table in (by_agent(compared(rule, tables)) | {"lspi": lspi}).items()
        }
    ours, other = games[PRINTED], games[OTHER]
    return Evidence(
        parts(
            *(
                limits["many fewer"] * ours[agent].median < ours["lspi"].median
                for agent in ("rlsvi", "lsvi")
            )
        ),
        f"RLSVI first passes LSPI's printed level after a median of {_text(ours['rlsvi'])} games, "
        f"LSPI as run here after {_text(ours['lspi'])}.",
        {
            rule: {agent: [n if n < inf else None for n in one] for agent, one in found.items()}
            for rule, found in games.items()
        },
        f"Tuned LSVI {_text(ours['lsvi'])}. Pieces sticking out: RLSVI {_text(other['rlsvi'])}, "
        f"tuned LSVI {_text(other['lsvi'])}, LSPI {_text(other['lspi'])}. ∞: never. LSPI's 50 "
        "games per policy are our choice.",
    )


def once_learned(table: pd.DataFrame, time: str, above: float, least: float) -> list[np.ndarray]:
    """The curves from their first block above the level of a player on, if so many are left."""
    curves = table.pivot(index="seed", columns=time, values="score").to_numpy()
    found = [curve[np.argmax(curve > above) :] for curve in curves if curve.max() > above]
    return [curve for curve in found if len(curve) >= least]


def of_the_peak(curves: list[np.ndarray]) -> np.ndarray:
    """The last four blocks, of 50 games each, as a share of the best one, curve by curve."""
    return np.array([blocks[..., -4:].mean(-1) / blocks.max(-1) for blocks in curves])


@cache
def without_a_decline(lengths: tuple[int, ...], repeats: int = 2000) -> float:
    """That share in the mean, for level curves of so many blocks: a game's score is exponential, as
    nearly all are here, so a block of 50 has the law Gamma(50)/50."""
    blocks = np.random.default_rng(0).gamma(50, 1 / 50, (repeats, sum(lengths)))
    curves = np.split(blocks, np.cumsum(lengths)[:-1], axis=1)
    return float(np.stack(list(of_the_peak(curves)), axis=1).mean())


@claim("6.2.collapse", "Section 6.2", "unlike LSPI, do not collapse", "experiment", CONSISTENT)
def no_collapse(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """Unlike LSPI, RLSVI and LSVI do not collapse after finding their peak performance."""
    share, flat = {}, {}
    for rule in RULES:
        lspi = lspi_runs(tables["tetris-lspi"], rule)
        for agent, table in (by_agent(compared(rule, tables)) | {"lspi": lspi}).items():
            time = "policy" if agent == "lspi" else "game"
            curves = once_learned(table, time, limits["LEARNED"], limits["blocks"])
            if len(curves) > 1:
                share[rule, agent] = mean_interval(of_the_peak(curves))
                flat[rule, agent] = without_a_decline(tuple(map(len, curves)))
    collapsed = {key: one.mean < limits["collapse"] * flat[key] for key, one in share.items()}
    said = {key: _text(one, ".2f") for key, one in share.items()}
    return Evidence(
        parts(
            not collapsed[PRINTED, "rlsvi"],
            not collapsed[PRINTED, "lsvi"],
            collapsed[PRINTED, "lspi"],
        ),
        f"RLSVI ends at {said[PRINTED, 'rlsvi']} of its best block once it has "
        f"learned, LSPI at {said[PRINTED, 'lspi']}.",
        {" ".join(key): {**one._asdict(), "level": flat[key]} for key, one in share.items()},
        f"Tuned LSVI {said[PRINTED, 'lsvi']}; a level curve has "
        f"{flat[PRINTED, 'lsvi']:.2f}. Pieces sticking out: "
        + ", ".join(
            f"{agent.upper()} {said[OTHER, agent]}" for rule, agent in said if rule == OTHER
        )
        + ". A collapse: below half of what a level curve has.",
    )


@claim("6.2.replay", "Section 6.2", "mostly due to the replay buffer", "experiment", FAILS)
def gain_from_replay(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """These improvements over LSPI are mostly due to the buffer of past transitions."""

    def share(own: np.ndarray, kept: np.ndarray, ours: np.ndarray) -> Any:
        return (kept.mean(-1) - own.mean(-1)) / (ours.mean(-1) - own.mean(-1))

    found = {}
    for rule in RULES:
        lspi = (
            lspi_scores(lspi_runs(tables["tetris-lspi"], rule, replay=replay), 4)
            for replay in (False, True)
        )
        found[rule] = bootstrap(share, *lspi, finals(by_agent(compared(rule, tables))["rlsvi"]))
    ours = found[PRINTED]
    small = {N: level(finals(table)) for N, table in tables["tetris-buffer"].groupby("N")}
    return Evidence(
        HOLDS
        if ours.low > limits["mostly"]
        else CONSISTENT
        if ours.mean > limits["mostly"]
        else FAILS,
        f"The buffer gives LSPI {_text(ours, '.0%')} of RLSVI's gain in final rows; {STICK_OUT}, "
        f"{_text(found[OTHER], '.0%')}.",
        {**found, **{str(N): one for N, one in small.items()}},
        "There RLSVI ends at "
        + ", ".join(f"{_text(one)} rows with N = {N}" for N, one in small.items())
        + ". Last 200 games of 1000; intervals by bootstrap over seeds.",
    )


@claim(
    "6.2.scratch",
    "Section 6.2",
    "from scratch, where LSPI required a scoring initial policy",
    "experiment",
    PARTLY,
)
def learns_from_scratch(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """Both RLSVI and LSVI learn from scratch, where LSPI required an initial policy that scores."""
    counts = {}
    for rule in RULES:
        ways = {
            start: in_games(lspi_runs(tables["tetris-lspi"], rule, start))
            for start in ("nothing", "scoring")
        }
        greedy = schedules(rule, tables).query("schedule == 'greedy'")
        counts[rule] = {
            who: how_many_learn(table, limits["LEARNED"])
            for who, table in (by_agent(compared(rule, tables)) | ways | {"greedy": greedy}).items()
        }
    ours, other = counts[PRINTED], counts[OTHER]
    fresh, scoring = ours["nothing"], ours["scoring"]
    least = limits["learns"]
    each = (
        f"{ours['rlsvi']} seeds each"
        if ours["rlsvi"] == ours["lsvi"]
        else f"{ours['rlsvi']} and {ours['lsvi']} seeds"
    )
    return Evidence(
        parts(
            *(ours[agent].learned >= least * ours[agent].seeds for agent in ("rlsvi", "lsvi")),
            fresh.learned <= (1 - least) * fresh.seeds and scoring.learned > fresh.learned,
        ),
        f"RLSVI and tuned LSVI learn from scratch in {each}, LSPI as run here in {fresh}.",
        counts,
        f"LSPI with a scoring policy {scoring}; greedy LSVI {ours['greedy']}. Pieces "
        f"sticking out: RLSVI {other['rlsvi']}, tuned LSVI {other['lsvi']}, LSPI "
        f"{other['nothing']} without and {other['scoring']} with. Learned: above "
        f"{limits['LEARNED']:.0f} rows.",
    )


@claim("6.2.tuned-better", "Section 6.2", "a tuned ε schedule is much better", "experiment", HOLDS)
def tuned_schedule_is_better(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """LSVI with a tuned ε schedule is much better than LSPI, which struggles to learn without an
    initial policy."""
    found, ratio = {}, {}
    for rule in RULES:
        lspi = lspi_runs(tables["tetris-lspi"], rule, "nothing")
        scores = {
            "tuned": finals(by_agent(compared(rule, tables))["lsvi"]),
            "lspi": lspi_scores(lspi, 4),
            "lspi best": lspi_scores(lspi),
            "greedy": finals(schedules(rule, tables).query("schedule == 'greedy'")),
        }
        found[rule] = {who: level(one) for who, one in scores.items()}
        ratio[rule] = scores["tuned"].mean() / scores["lspi"].mean()
        found[rule]["gap"] = apart(scores["tuned"], scores["lspi"])
    ours, other = found[PRINTED], found[OTHER]
    as_good = tuned(PRINTED, tables) != "greedy" and ours["greedy"].high > ours["tuned"].mean
    return unless(
        not (ours["gap"].low > 0 and ratio[PRINTED] > limits["much better"]),
        f"From scratch tuned LSVI ends at {_text(ours['tuned'])} rows, LSPI at "
        f"{_text(ours['lspi'])}" + ("; but greedy LSVI does as well as tuned." if as_good else "."),
        f"Greedy LSVI {_text(ours['greedy'])}; LSPI's best policies "
        f"{_text(ours['lspi best'])}. Pieces sticking out: tuned LSVI {_text(other['tuned'])}, "
        f"LSPI {_text(other['lspi'])}, greedy LSVI {_text(other['greedy'])}.",
        **found,
    )


@claim(
    "6.2.better",
    "Section 6.2, figure 7",
    "RLSVI significantly better than tuned ε",
    "experiment",
    FAILS,
    main=True,
)
def better_than_tuned_epsilon(tables: Frames = STORED) -> Evidence:
    """RLSVI improves significantly even on LSVI with a tuned ε schedule."""
    chosen = {rule: tuned(rule, tables) for rule in RULES}
    means = {
        rule: finals(schedules(rule, tables), ["schedule"]).groupby("schedule").mean()
        for rule in RULES
    }
    gap = {rule: level(lead(compared(rule, tables))) for rule in RULES}
    best = {rule: level(lead(every_schedule(rule, tables)), len(means[rule])) for rule in RULES}
    return unless(
        gap[PRINTED].low <= 0,
        f"RLSVI minus tuned LSVI is {_text(gap[PRINTED], '+.0f')} rows per "
        f"game by the printed rule; {STICK_OUT}, {_text(gap[OTHER], '+.0f')}.",
        f"Tuned: “{chosen[PRINTED]}” and “{chosen[OTHER]}”. Against the best in hindsight,"
        f" with intervals for all schedules together: {_text(best[PRINTED], '+.0f')} and "
        f"{_text(best[OTHER], '+.0f')}. Last 200 games.",
        **best,
        **{f"{rule}, tuned": one for rule, one in gap.items()},
        tuned=chosen,
        schedules={rule: len(one) for rule, one in means.items()},
    )


@claim(
    "6.2.fixed-epsilon",
    "Section 6.2, footnote",
    "no good performance for any fixed ε",
    "experiment",
    FAILS,
)
def fixed_epsilon(tables: Frames = STORED) -> Evidence:
    """LSVI does not achieve good performance with any fixed ε."""
    best, found = {}, {}
    for rule in RULES:
        ends = levels(schedules(rule, tables), "schedule")
        fixed = [name for name in ends.index if set(runs.SCHEDULES[name]) == {"epsilon"}]
        best[rule] = ends.loc[fixed, "mean"].idxmax()
        found[rule] = {name: runs.Level(*ends.loc[name]) for name in (*fixed, "greedy")}
        found[rule]["best"] = found[rule][best[rule]]
    ours, other = found[PRINTED], found[OTHER]
    return unless(
        ours["best"].low > LSPI,
        f"By the printed rule LSVI with {best[PRINTED]} throughout ends "
        f"at {_text(ours['best'])} rows; {STICK_OUT}, the best fixed ε has "
        f"{_text(other['best'])}.",
        f"Good: above {LSPI}, the level that the paper names. ε = 0: "
        f"{_text(ours['greedy'])} and {_text(other['greedy'])}. Tried: 0.001, 0.01, 0.1.",
        **found,
    )


@claim("6.2.sooner", "Section 6", "faster learning", "experiment", FAILS)
def learns_sooner(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """In Tetris RLSVI leads to faster learning."""
    wins, losses, seeds = {}, {}, {}
    for rule in RULES:
        games = learned_at(compared(rule, tables), ["agent"], limits["LEARNED"]).unstack("agent")
        wins[rule], losses[rule] = (
            int((games[one] < games[two]).sum())
            for one, two in (("rlsvi", "lsvi"), ("lsvi", "rlsvi"))
        )
        seeds[rule] = len(games)
    told = wins[PRINTED] + losses[PRINTED]
    sooner = told and binomtest(wins[PRINTED], told, alternative="greater").pvalue < 1 - for_all(1)
    return unless(
        not sooner,
        "By the printed rule RLSVI learns sooner than tuned LSVI in "
        f"{wins[PRINTED]} of {seeds[PRINTED]} seeds; {STICK_OUT}, in {wins[OTHER]} of "
        f"{seeds[OTHER]}.",
        f"Later in {losses[PRINTED]} and {losses[OTHER]}. Learned: a block of 50 games "
        f"above {limits['LEARNED']:.0f} rows per game. One-sided sign test at 5%.",
        **{RULES[rule].name: [wins[rule], losses[rule]] for rule in RULES},
    )


def fluctuation(table: pd.DataFrame, above: float) -> np.ndarray:
    """The relative variance of a run's blocks after the one in which it has learned, run by run."""
    return np.array(
        [runs.relative_spread(curve[1:]) ** 2 for curve in once_learned(table, "game", above, 5)]
    )


def spread_ratio(scores: pd.Series, others: pd.Series) -> Mean:
    """The relative spread over seeds, as a multiple of the others'."""
    return bootstrap(lambda x, y: runs.relative_spread(x) / runs.relative_spread(y), scores, others)


@claim("6.2.stability", "Section 6", "improved stability", "experiment", FAILS)
def more_stable(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """In Tetris RLSVI leads to improved stability (read as: runs end more alike, and each
    fluctuates less once it has learned)."""
    spread = {}
    for rule in RULES:
        agents = by_agent(compared(rule, tables))
        spread[rule] = spread_ratio(*map(finals, agents.values()))
    within = bootstrap(
        lambda x, y: np.sqrt(x.mean(-1) / y.mean(-1)),
        *(
            fluctuation(table, limits["LEARNED"])
            for table in by_agent(compared(PRINTED, tables)).values()
        ),
    )
    return unless(
        not (spread[PRINTED].high < 1 and within.high < 1),
        "By the printed rule RLSVI's runs "
        f"spread {_text(spread[PRINTED], '.2f')} times as much as tuned LSVI's; {STICK_OUT}, "
        f"{_text(spread[OTHER], '.2f')} times.",
        "Spread: standard deviation over seeds of the last 200 games, relative to their "
        f"mean. Within a run blocks fluctuate {_text(within, '.2f')} times as much. Bootstrap over "
        "seeds.",
        **spread,
        within=within,
    )


# --------------------------------------------------------------------------- appendix D


@claim("D.memory", "Appendix D.1", "0 to 20, holes 0 to 199; less than 10 MB", "exact", PARTLY)
def memory_of_features() -> Evidence:
    """Features and rewards are whole numbers from 0 to 20, holes to 199; 10^5 transitions, for
    every possible action, take less than 10 MB."""
    game = Tetris()
    holes = (game.width - 1) * (game.height - 1) + game.height - 2  # no row may be full
    counts = [Tetris(pieces=piece).A for piece in game.pieces]
    actions, features = sum(counts) / len(counts), game.K - 1  # the constant needs no room
    plain = 1e5 * actions * features / 1e6
    packed = 1e5 * actions * ((features - 1) * log2(21) + log2(200)) / 8e6
    bounded = game.height <= 20 and holes <= 199
    return Evidence(
        parts(bounded, packed < 10),
        f"The bounds {'hold' if bounded else 'fail'}; the features of "
        f"all placements take {plain:.0f} MB with a byte each, {packed:.0f} MB packed.",
        {"megabytes": plain, "packed": packed, "holes": holes},
        f"An average piece has {actions:.1f} placements. Holes are at most {holes}. Boards and "
        f"pieces, from which all else follows, take {1e5 * 26 / 1e6:.1f} MB.",
    )


def every_discount(tables: Frames = STORED) -> pd.DataFrame:
    """The runs with other discounts and, as long and on the same seeds, those of figure 7."""
    table, usual = tables["tetris-discount"], tables["fig7"].assign(gamma=0.99)
    alike = usual.seed.isin(table.seed) & (usual.game <= table.game.max())
    return pd.concat([table, usual[alike]])


@claim("D.discount", "Appendix D", "γ = 0.99 helpful for stability in both", "experiment", FAILS)
def discount_helps(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """A discount of 0.99 is helpful for the stability of both RLSVI and LSVI (read as: runs end
    more alike than without one)."""
    ratio, learn = {}, {}
    for agent, table in by_agent(every_discount(tables)).items():
        last = finals(table, ["gamma"])
        ratio[agent] = {gamma: spread_ratio(last[0.99], last[gamma]) for gamma in (1.0, 0.9)}
        learn[agent] = {
            gamma: how_many_learn(part, limits["LEARNED"]) for gamma, part in table.groupby("gamma")
        }
    ours, greedy = (ratio[agent][1.0] for agent in ("rlsvi", "lsvi"))
    counts = learn["lsvi"]
    return Evidence(
        parts(ours.high < 1, greedy.high < 1),
        "Runs spread "
        f"{_text(ours, '.2f')} times as much as with γ = 1 for RLSVI, {_text(greedy, '.1f')} times "
        "for greedy LSVI.",
        {"ratio": ratio, "learn": learn},
        f"LSVI learns in {counts[0.99]} seeds, with γ = 1 in {counts[1.0]}. RLSVI against γ = 0.9: "
        f"{_text(ratio['rlsvi'][0.9], '.2f')}. Run only where pieces may stick out. Spread: as in "
        "6.2.stability.",
    )


@claim(
    "D.variance",
    "Appendix D.2",
    "slightly better with an unknown variance",
    "experiment",
    CONSISTENT,
)
def unknown_variance(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """RLSVI performs slightly better with an inverse gamma prior over an unknown variance."""
    unknown = tables["tetris-variance"]
    known = tables["fig7"].query("agent == 'rlsvi' and seed in @unknown.seed")
    gap = level(finals(unknown) - finals(known))
    games = [
        median_interval(learned_at(table, above=limits["LEARNED"])) for table in (unknown, known)
    ]
    return Evidence(
        HOLDS if gap.low > 0 else FAILS if gap.high < 0 else CONSISTENT,
        f"RLSVI with an unknown variance minus RLSVI with σ = 1 is {_text(gap, '+.0f')} rows per "
        "game on the same seeds.",
        {"gap": gap, "games": [one.median for one in games]},
        f"{gap.seeds} seeds, run only where pieces may stick out. It learns "
        f"after a median of {_text(games[0])} games, against {_text(games[1])}.",
    )


def together(table: pd.DataFrame, by: str | list[str]) -> pd.DataFrame:
    """RLSVI's lead in each cell, with intervals that hold for all cells together."""
    one_of = for_all(len(table[by].drop_duplicates()))
    return by_cell(table, by, lambda cell: mean_interval(lead(cell), one_of)._asdict())


def _ahead(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """RLSVI's lead for both readings of Φ by the printed rule, and how often it leads or is behind
    under the others."""
    printed = table.rule == PRINTED
    others = together(table[~printed], ["rule", "reading"])
    ahead, behind = int((others.low > 0).sum()), int((others.high < 0).sum())
    return together(table[printed], "reading"), (
        f"Under two other ending rules ahead in {ahead} of {len(others)} variants, behind in "
        f"{behind}"
    )


@claim("D.mini-faster", "Appendix D.3, figure 14", "RLSVI learns faster", "experiment", FAILS)
def mini_tetris_faster(tables: Frames = STORED) -> Evidence:
    """On four rows with S and Z, RLSVI learns faster than LSVI with a tuned ε schedule."""
    found, others = _ahead(tables["fig14"].query("game <= 200"))
    return unless(
        not (found.low > 0).all(),
        "At first RLSVI minus tuned LSVI is "
        f"{_text(found.loc['value'], '+.2f')} rows per game if Φ knows the reward, "
        f"{_text(found.loc['reward'], '+.2f')} if not.",
        f"The first 200 games. {others} (95% for all together). The width, not printed, is ten.",
        **found.to_dict("index"),
    )


@claim(
    "D.mini", "Appendix D.3, figure 14", "RLSVI greatly outperforms tuned LSVI", "experiment", FAILS
)
def mini_tetris_better(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """On four rows with S and Z, RLSVI greatly outperforms LSVI even with a tuned ε schedule."""
    table = tables["fig14"]
    found, others = _ahead(table)
    scores = levels(table, ["rule", "reading", "agent"])["mean"].unstack("agent")
    ratio = scores.rlsvi / scores.lsvi.clip(lower=0.01)
    every = together(table, ["rule", "reading"])
    great = (every.low > 0) & (ratio > limits["much better"])
    narrow = together(tables["tetris-widths"], ["width", "rule", "reading"])
    return unless(
        not ((found.low > 0) & (ratio[PRINTED] > limits["much better"])).all(),
        f"RLSVI minus tuned LSVI is {_text(found.loc['value'], '+.2f')} rows per game if Φ knows "
        f"the reward, {_text(found.loc['reward'], '+.2f')} if not.",
        f"{others}; greatly ahead in {int(great.sum())} of all six. On 5 to 8 columns "
        f"ahead in {int((narrow.low > 0).sum())} of {len(narrow)}, behind in "
        f"{int((narrow.high < 0).sum())} (95% for all together).",
        **{
            "far better": int(great.sum()),
            "better": int(((every.low > 0) & ~great).sum()),
            **found.to_dict("index"),
        },
    )


@claim("D.mini-extreme", "Appendix D.3", "much more extreme", "experiment", FAILS)
def mini_tetris_more_extreme(tables: Frames = STORED, limits: Limits = CHOSEN) -> Evidence:
    """RLSVI's lead over LSVI is much more extreme on four rows with S and Z than in figure 7."""
    mini, ratio = tables["fig14"].query("reading == 'value'"), {}
    for rule in RULES:
        ratio[rule] = [
            bootstrap(lambda x, y: x.mean(-1) / y.mean(-1), *map(finals, by_agent(table).values()))
            for table in (mini[mini.rule == rule], compared(rule, tables))
        ]
    small, full = ratio[PRINTED]
    return unless(
        small.mean <= limits["much better"] * full.mean,
        "RLSVI's score is "
        f"{_text(small, '.2f')} times tuned LSVI's on the small board and {_text(full, '.2f')} "
        "times on the full one.",
        f"Pieces sticking out: {_text(ratio[OTHER][0], '.2f')} and "
        f"{_text(ratio[OTHER][1], '.2f')}. Last 200 of 1000 games; Φ knows the reward; bootstrap "
        "over seeds.",
        **ratio,
    )
