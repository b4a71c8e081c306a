"""What a user might pick instead: rlberry's tabular RLSVI, PSRL and UCBVI beside ours.

Both keep statistics for every (s, a, h) of the same chain and are timed as a user calls them, ours
by ``learn``, theirs by ``fit``: plan, act, observe, simulate. Their plans are compiled by numba
too, as dense sums over all next states; their episodes are played in Python. For PSRL both draw a
gamma variable for each of HSAS transitions, which is nearly all the work. The reward is paid on
arrival, for ours less 1 in every period, so that it lies in [−1, 0] as section 5 has it.

The last release of rlberry with all three is 0.6.0. It needs a gymnasium older than 1, hence an
environment of its own; where it is not installed the table has ours alone.
"""

from functools import partial

import numpy as np

from rlsvi_core import FiniteMDP, chain, features, rlsvi
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_study.baselines import psrl, ucbvi

from . import cpu_seconds

try:
    import rlberry
    from rlberry.agents.psrl import PSRLAgent
    from rlberry.agents.rlsvi import RLSVIAgent
    from rlberry.agents.ucbvi import UCBVIAgent
    from rlberry.envs.finite import FiniteMDP as TheirMDP
except (ImportError, AttributeError) as error:  # the latter with a gymnasium from 1 on
    rlberry, missing = None, error
else:
    THEIRS = {"RLSVI": RLSVIAgent, "PSRL": PSRLAgent, "UCBVI": UCBVIAgent}


def tasks(N: int, episodes: int):
    """(name, ours, theirs): each plays so many episodes of the N-chain and keeps what it learns;
    theirs is None without rlberry."""
    mdp = chain(N)
    P, H, S, A = mdp.P[0], mdp.H, mdp.S, mdp.A
    paid = np.broadcast_to(mdp.terminal, P.shape)
    env = FiniteMDP.stationary(P, paid - 1.0, H, support=(-1, 0))
    prior = DirichletPrior.symmetric(H, S, A, alpha_R=1.0, alpha_P=1 / S)  # as theirs by default
    for name, agent in (
        ("RLSVI", rlsvi(features.OneHot(H, S, A), rng=1)),
        ("PSRL", psrl(prior, rng=1)),
        ("UCBVI", ucbvi(prior, 1000, rng=1)),
    ):
        rng, theirs = np.random.default_rng(2), None
        if rlberry:
            model = TheirMDP((P * paid).sum(axis=2), P)
            their_agent = THEIRS[name](model, horizon=H, stage_dependent=True)
            theirs = partial(their_agent.fit, budget=episodes)
        yield name, partial(agent.learn, env, episodes, rng), theirs


def table(lengths=(10, 20, 40), episodes: int = 100) -> None:
    print("\nTabular agents on the N-chain: CPU time of a step of an episode in microseconds\n")
    if rlberry:
        rlberry.logger.setLevel("ERROR")  # else it reports its progress every few seconds
    else:
        print(
            f"rlberry is not installed ({missing}): in an environment of its own, "
            "pip install 'rlberry==0.6.0' 'gymnasium<1' numba psutil"
        )
    print(f"{'N':>4} {'agent':>7} {'ours':>8} {'rlberry':>9} {'rlberry/ours':>13}")
    for N in lengths:
        for name, *works in tasks(N, episodes):
            spent = []
            for work in filter(None, works):
                work()  # compiled, and with some history
                spent.append(1e6 * cpu_seconds(work, 5) / (episodes * (N - 1)))
            theirs = f"{spent[1]:9.1f} {spent[1] / spent[0]:13.2g}" if rlberry else f"{'–':>9}"
            print(f"{N:4} {name:>7} {spent[0]:8.2f} {theirs}", flush=True)
