"""What makes RLSVI explore: ours, by the rule in ``runs``, on the chain and in the deep sea."""

import pandas as pd

from ..engine import Tables
from ..judging.intervals import Mean
from ..judging.outcomes import DEPENDS, FAILS, HOLDS, Judged, jointly
from ..judging.register import OURS, Frames, claim
from .runs import EXPERIMENTS, judged

STORED = Tables(EXPERIMENTS)
WHOLE = "4.approximate-posterior"


def _share(found: pd.DataFrame, agent: str, least: bool) -> Mean:
    """The least or the largest share of RLSVI's gain on any problem, with its interval."""
    of = found.xs(agent, level="agent")[["share", "low", "high"]].astype(float).round(2) + 0.0
    return Mean(*map(float, of.loc[of.share.idxmin() if least else of.share.idxmax()]))


def _settled(found: pd.DataFrame, agents: dict[str, str]) -> str:
    """Whether each agent explores or does not, as it should, on every problem; on some it may be
    open."""
    said = {agent: found.xs(agent, level="agent").explores for agent in agents}
    return jointly(
        {
            (agent, problem): {agents[agent]: HOLDS, "open": DEPENDS}.get(word, FAILS)
            for agent, words in said.items()
            for problem, word in words.items()
        }
    )


@claim(
    "4.spread",
    place="Section 4",
    paper=OURS,
    kind="experiment",
    verdict=DEPENDS,
    part_of=WHOLE,
)
def spread(tables: Frames = STORED) -> Judged:
    """RLSVI explores by the spread of its samples and not by the optimism of their mean.

    Undecided for two draws, which remove the bias of the maximum: they have at least
    {two_draws:.2f} of RLSVI's gain over uniform play, where the spread alone has at least
    {spread:.2f} and the optimism alone at most {optimism:.2f}.

    Chain with a table and with ten features, deep sea. To explore is to have more than half, by
    intervals that hold for all comparisons together.
    """
    found = judged(tables["explore"])
    return Judged(
        _settled(found, {"spread": "yes", "two draws": "yes", "optimism": "no"}),
        {
            "spread": _share(found, "spread", True),
            "two_draws": _share(found, "two draws", True),
            "optimism": _share(found, "optimism", False),
        },
    )


@claim(
    "4.in-targets",
    place="Section 4",
    paper=OURS,
    kind="experiment",
    verdict=DEPENDS,
    part_of=WHOLE,
)
def in_targets(tables: Frames = STORED) -> Judged:
    """RLSVI does not explore with the mean in its targets.

    Undecided in the deep sea, where with the mean in the targets it has {mean:.2f} of the gain that
    it has with the sample there; on both chains it does not.

    Chain with a table and with ten features, deep sea: rewards come at the end of an episode.
    """
    found = judged(tables["explore"])
    return Judged(_settled(found, {"mean": "no"}), {"mean": _share(found, "mean", False)})


@claim(
    "4.optimistic",
    place="Section 4",
    paper=OURS,
    kind="experiment",
    verdict=DEPENDS,
    part_of=WHOLE,
)
def optimistic(tables: Frames = STORED) -> Judged:
    """LSVI that imagines the largest value for every pair explores, too, without sampling.

    Undecided on the chain with ten features, where it has {least:.2f} of RLSVI's gain; with a table
    and in the deep sea it does, and better than RLSVI.

    It is told the largest value.
    """
    found = judged(tables["explore"])
    return Judged(
        _settled(found, {"optimistic": "yes"}), {"least": _share(found, "optimistic", True)}
    )
