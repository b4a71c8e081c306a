"""What the three case studies show together."""

import pandas as pd
import pytest

from rlsvi_study import overall
from rlsvi_study.judging.outcomes import DEPENDS, FAILS, HOLDS
from rlsvi_study.recommender.claims import DITHERING
from rlsvi_study.tetris.claims import RULE_TABLES

CHAIN, STUDY, RIVALS = (
    overall.STORED[name] for name in ("fig2a", "recommender", "recommender-rivals")
)


@pytest.mark.parametrize(
    ("chain", "engine", "tetris", "verdict"),
    [
        (True, 1.0, 3.0, HOLDS),
        (True, 1.0, 0.9, DEPENDS),
        (True, 0.1, 3.0, DEPENDS),  # by each study it fails, by one it holds
        (False, 1.0, 0.9, DEPENDS),
        (False, 0.1, 0.9, FAILS),
    ],
)
def test_gains_in_each_study_or_in_one(chain, engine, tetris, verdict, monkeypatch):
    """Scores in Tetris are in multiples of LSVI's, regret in the engine in those stored, for ε-greedy
    in ten times those, because once is too little for the word."""
    lsvi = pd.Series([3000.0, 3300.0, 3100.0])
    scores = {"rlsvi": tetris * lsvi, "lsvi": lsvi}
    monkeypatch.setattr(
        overall, "by_rule_and_agent", lambda *given: dict.fromkeys(RULE_TABLES, scores)
    )
    dithers = STUDY.arm.str.startswith("boltzmann")
    epsilon = RIVALS.arm == DITHERING["epsilon"]
    tables = {
        "fig2a": CHAIN if chain else CHAIN.assign(tenth_reward=0),
        "recommender": STUDY.assign(regret=STUDY.regret.mask(dithers, STUDY.regret * engine)),
        "recommender-rivals": RIVALS.assign(
            regret=RIVALS.regret.mask(epsilon, RIVALS.regret * 10 * engine)
        ),
    }
    assert overall.dramatic_gains(tables).verdict == verdict
