"""Claims of section 1: on the three case studies together, and on Theorem 1 beside other bounds."""

import numpy as np

from .chain.dithering import arrival_probability
from .chain.runs import EXPERIMENTS as CHAIN
from .chain.runs import learning_time, learning_times
from .engine import Tables
from .judging.outcomes import DEPENDS, FAILS, Judged, agreed, decided, jointly
from .judging.register import Frames, claim
from .judging.thresholds import CHOSEN, Limits
from .recommender.claims import better_than_boltzmann
from .recommender.runs import EXPERIMENTS as RECOMMENDER
from .tetris.claims import better_than_tuned_epsilon
from .tetris.runs import EXPERIMENTS as TETRIS

STORED = Tables({**CHAIN, **RECOMMENDER, **TETRIS})


@claim(
    "1.gains",
    place="Abstract, section 1 and appendix B",
    paper="dramatic efficiency gains",
    kind="experiment",
    verdict=DEPENDS,
    on="reading",
    main=True,
)
def dramatic_gains(tables: Frames = STORED, limits: Limits = CHOSEN) -> Judged:
    """The results demonstrate that RLSVI is dramatically more efficient than LSVI with dithering.

    whether each of the three studies must show it: on the chain {learned[rlsvi]} of {seeds} runs
    learn, with ε-greedy {learned[epsilon-greedy]}; on the recommendation engine the claim {engine}
    (6.3.boltzmann), in Tetris it {tetris} (6.2.better).

    On the chain learning takes a median of {time:.0f} episodes; dithering's first reward alone
    takes a median of {dithering:.2g}.
    """
    runs = tables["fig2a"]
    seeds = runs.seed.nunique()
    learned = np.isfinite(learning_times(runs)).groupby("agent").sum().to_dict()
    on_chain = decided(learned["rlsvi"] >= limits["learns"] * seeds, learned["epsilon-greedy"] == 0)
    engine = better_than_boltzmann(tables, limits).verdict
    tetris = better_than_tuned_epsilon(tables).verdict
    each = jointly({"chain": on_chain, "Tetris": tetris, "engine": engine})
    return Judged(
        agreed({"some study": on_chain, "each study": each}),  # on the chain it is no mere factor
        {
            "learned": learned,
            "seeds": seeds,
            "time": learning_time(runs, "rlsvi"),
            "dithering": np.log(2) / arrival_probability(50),
            "tetris": tetris,
            "engine": engine,
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
def optimal_up_to_logarithms() -> Judged:
    """The regret bound of Theorem 1 matches the worst-case lower bound up to logarithms.

    It is a factor √H above: the lower bound cited is Ω(√(DSAT)) with a diameter D (Jaksch et al.
    2010), here it is Ω(√(H²SAT)) (Jin et al. 2018), and that is attained up to logarithms for
    large T (Xiong et al. 2022).

    Here transitions change with the period; where they do not, √(HSAT) is attained (Azar, Osband
    and Munos 2017). Domingues et al. (2021) prove the lower bound in full and write it
    √(H³SAT), but their T counts episodes; the paper's counts periods. Theorem 1 bounds an average
    over MDPs, not the worst case.
    """
    return Judged(FAILS, {})
