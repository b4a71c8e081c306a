"""What makes RLSVI explore: ours, by the rule in ``runs``, on the chain and in the deep sea."""

import pandas as pd

from ..engine import Tables
from ..register import DEPENDS, FAILS, HOLDS, OURS, Evidence, Frames, claim
from .runs import EXPERIMENTS, judged

STORED = Tables(EXPERIMENTS)


def _worst(found: pd.DataFrame, agent: str, least: bool) -> dict[str, float]:
    """The least or the largest share of RLSVI's gain on any problem, with its interval."""
    shares = found.xs(agent, level="agent")[["share", "low", "high"]].astype(float).round(2) + 0.0
    row = shares.loc[shares.share.idxmin() if least else shares.share.idxmax()]
    return {str(name): float(value) for name, value in row.items()}


def _text(one: dict[str, float]) -> str:
    return "{share:.2f} ({low:.2f} to {high:.2f})".format(**one)


def _said(found: pd.DataFrame, agent: str) -> set[str]:
    """Whether it explores, on the problems of the table."""
    return set(found.xs(agent, level="agent").explores)


def _settled(found: pd.DataFrame, agents: dict[str, str]) -> str:
    """Holds if each agent explores or does not, as it should, on every problem; consistent with it
    if this is open on some problem and never the other way round."""
    said = [_said(found, agent) - {should} for agent, should in agents.items()]
    return HOLDS if not any(said) else DEPENDS if set().union(*said) == {"open"} else FAILS


@claim("4.spread", "Section 4", OURS, "experiment", DEPENDS, part_of="4.approximate-posterior")
def spread(tables: Frames = STORED) -> Evidence:
    """RLSVI explores by the spread of its samples and not by the optimism of their mean."""
    found = judged(tables["explore"])
    alone, double = (_worst(found, agent, True) for agent in ("spread", "two draws"))
    high = _worst(found, "optimism", False)
    return Evidence(
        _settled(found, {"spread": "yes", "two draws": "yes", "optimism": "no"}),
        f"With the spread alone an agent has at least {_text(alone)} of RLSVI's gain over uniform "
        f"play, with the optimism alone at most {_text(high)}.",
        {"spread": alone, "optimism": high, "two draws": double},
        "Chain with a table and with ten features, deep sea. Without the bias of the maximum, by "
        f"two draws, at least {_text(double)}.",
    )


@claim("4.in-targets", "Section 4", OURS, "experiment", DEPENDS, part_of="4.approximate-posterior")
def in_targets(tables: Frames = STORED) -> Evidence:
    """RLSVI does not explore with the mean in its targets."""
    found = judged(tables["explore"])
    mean = _worst(found, "mean", False)
    return Evidence(
        _settled(found, {"mean": "no"}),
        f"With the mean in the targets it has at most {_text(mean)} of the gain that it has with "
        "the sample there.",
        {"mean": mean},
        "Chain with a table and with ten features, deep sea: rewards come at the end of an episode.",
    )


@claim("4.optimistic", "Section 4", OURS, "experiment", DEPENDS, part_of="4.approximate-posterior")
def optimistic(tables: Frames = STORED) -> Evidence:
    """LSVI that imagines the largest value for every pair explores, too, without sampling."""
    found = judged(tables["explore"])
    least = _worst(found, "optimistic", True)
    said = set(found.xs("optimistic", level="agent").compared)
    return Evidence(
        _settled(found, {"optimistic": "yes"}),
        f"It has at least {_text(least)} of RLSVI's gain.",
        {"optimistic": least},
        f"Compared with RLSVI: {', '.join(sorted(said))}. It is told the largest value.",
    )
