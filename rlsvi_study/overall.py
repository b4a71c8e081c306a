"""Claims of section 1: on the three case studies together, and on Theorem 1 beside other bounds."""

import numpy as np

from .chain.dithering import arrival_probability
from .chain.experiments import EXPERIMENTS as CHAIN
from .chain.experiments import learning_times, median_learning_time
from .engine import StoredTables
from .judging.outcomes import (
    DEPENDS,
    FAILS,
    HOLDS,
    Judgement,
    combine_parts,
    combine_readings,
    paired_ratio,
    verdict_if_all,
    verdict_of_interval,
)
from .judging.register import Frames, claim
from .judging.thresholds import CHOSEN, Limits
from .recommender.claims import DITHERING, final_regret
from .recommender.experiments import BOLTZMANN, PAPER_ETAS
from .recommender.experiments import EXPERIMENTS as RECOMMENDER
from .tetris.claims import RULE_TABLES, by_rule_and_agent, final_scores, score_ratio
from .tetris.experiments import EXPERIMENTS as TETRIS

STORED = StoredTables({**CHAIN, **RECOMMENDER, **TETRIS})


@claim(
    "1.gains",
    place="Abstract, section 1 and appendix B",
    paper="dramatic efficiency gains",
    kind="experiment",
    verdict=DEPENDS,
    on="reading",
    main=True,
)
def dramatic_gains(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judgement:
    """The results demonstrate that RLSVI is dramatically more efficient than LSVI with dithering.

    whether each of the three studies must show it: on the chain {learned[rlsvi]} of {seeds} runs
    learn, with ε-greedy {learned[epsilon-greedy]}; on the recommendation engine Boltzmann
    exploration has at least {engine[boltzmann]:.2f} times RLSVI's regret, ε-greedy LSVI
    {engine[epsilon]:.2f} times; in Tetris RLSVI has {scores[top row]:.2f}, {scores[touches]:.2f} and
    {scores[overflow top]:.2f} times the score of tuned LSVI.

    On the chain learning takes a median of {time:.0f} episodes; dithering's first reward alone
    takes a median of {dithering:.2g}. ε-greedy in the engine: ε = 0.1. Tetris: the top row tested once
    full rows are gone, before, and if pieces may stick out.
    """
    runs, study = tables["fig2a"], tables["recommender"]
    seeds = runs.seed.nunique()
    learned = np.isfinite(learning_times(runs)).groupby("agent").sum().to_dict()
    on_chain = verdict_if_all(
        learned["rlsvi"] >= limits["learns"] * seeds, learned["epsilon-greedy"] == 0
    )
    regret = final_regret(study, "rlsvi")
    rivals = tables["recommender-rivals"]
    engine = {
        "boltzmann": min(
            paired_ratio(final_regret(study, BOLTZMANN[eta]), regret) for eta in PAPER_ETAS
        ),
        "epsilon": paired_ratio(
            final_regret(rivals, DITHERING["epsilon"]), final_regret(rivals, "rlsvi")
        ),
    }
    scores = {
        rule: score_ratio(found["rlsvi"], found["lsvi"])
        for rule, found in by_rule_and_agent(final_scores, tables).items()
        if RULE_TABLES[rule].admitted
    }
    each = {
        "chain": on_chain,
        "engine": combine_parts(
            {
                agent: verdict_of_interval(one.low, one.high, limits["much more"])
                for agent, one in engine.items()
            }
        ),
        "Tetris": combine_readings(
            {
                rule: verdict_of_interval(one.low, one.high, limits["much better"])
                for rule, one in scores.items()
            }
        ),
    }
    some = verdict_if_all(HOLDS in each.values())
    return Judgement(
        combine_readings({"some study": some, "each study": combine_parts(each)}),
        {
            "learned": learned,
            "seeds": seeds,
            "time": median_learning_time(runs, "rlsvi"),
            "dithering": np.log(2) / arrival_probability(50),
            "engine": engine,
            "scores": scores,
        },
    )


@claim(
    "1.lower-bound",
    place="Section 1",
    paper="Õ(√(H³SAT)) is optimal up to logarithms",
    kind="reading",
    verdict=FAILS,
    main=True,
)
def optimal_up_to_logarithms() -> Judgement:
    """The regret bound of Theorem 1 matches the worst-case lower bound up to logarithms.

    It is a factor √H above: the lower bound cited is Ω(√(DSAT)) with a diameter D (Jaksch et al.
    2010), here it is Ω(√(H²SAT)) (Jin et al. 2018), and that is attained up to logarithms for
    large T (Xiong et al. 2022).

    Here transitions change with the period; where they do not, √(HSAT) is attained (Azar, Osband
    and Munos 2017). Domingues et al. (2021) prove the lower bound in full and write it
    √(H³SAT), but their T counts episodes; the paper's counts periods. Theorem 1 bounds an average
    over MDPs, not the worst case.
    """
    return Judgement(FAILS, {})


@claim(
    "1.near-optimal",
    place="Abstract",
    paper="demonstrates near-optimality in a tabula rasa context",
    kind="reading",
    verdict=DEPENDS,
    on="reading",
)
def nearly_optimal() -> Judgement:
    """The upper bound on RLSVI's expected regret demonstrates near-optimality in tabula rasa
    learning.

    what is near: in S, A and T the bound has the powers of the lower bound Ω(√(H²SAT)), but it is a
    factor √H above it, so not up to logarithms (1.lower-bound).

    Theorem 1 has a verdict of its own (5.theorem1).
    """
    readings = {"in S, A and T": HOLDS, "up to logarithms": FAILS}
    return Judgement(combine_readings(readings), {})
