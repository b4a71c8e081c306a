"""What a user might pick instead: rlberry's tabular RLSVI, PSRL and UCBVI beside ours.

Both keep statistics for every (s, a, h) of the same chain and are timed as a user calls them, ours
by ``learn``, theirs by ``fit``: plan, act, observe, simulate. Their plans are compiled by numba
too, as dense sums over all next states; their episodes are played in Python. For PSRL both draw a
gamma variable for each of HSAS transitions, which is nearly all the work. The reward is paid on
arrival, for ours less 1 in every period, so that it lies in [−1, 0] as section 5 has it.

The last release of rlberry with all three is 0.6.0. It needs a gymnasium older than 1, hence an
environment of its own; where it is not installed the table says so.
"""

import numpy as np

from rlsvi_core import FiniteMDP, chain, features, rlsvi
from rlsvi_core.agents.tabular import psrl, ucbvi
from rlsvi_core.envs.dirichlet import DirichletPrior

try:
    import rlberry
    from rlberry.agents.psrl import PSRLAgent
    from rlberry.agents.rlsvi import RLSVIAgent
    from rlberry.agents.ucbvi import UCBVIAgent
    from rlberry.envs.finite import FiniteMDP as TheirMDP
except (ImportError, AttributeError) as error:  # the latter with a gymnasium from 1 on
    MISSING = (
        f"not installed ({error}): in an environment of its own, "
        "pip install 'rlberry==0.6.0' 'gymnasium<1' numba psutil"
    )
else:
    MISSING = ""


def pairs(N: int, episodes: int):
    """(name, ours, theirs): each plays so many episodes of the N-chain and keeps what it learns."""
    mdp = chain(N)
    P, H, S, A = mdp.P[0], mdp.H, mdp.S, mdp.A
    paid = np.broadcast_to(mdp.terminal, P.shape)
    env = FiniteMDP.stationary(P, paid - 1.0, H, support=(-1, 0))
    their_env = TheirMDP((P * paid).sum(axis=2), P)
    prior = DirichletPrior.symmetric(H, S, A, alpha_R=1.0, alpha_P=1 / S)  # as theirs by default
    for ours, their_class in (
        (rlsvi(features.OneHot(H, S, A), rng=1), RLSVIAgent),
        (psrl(prior, rng=1), PSRLAgent),
        (ucbvi(prior, 1000, rng=1), UCBVIAgent),
    ):
        theirs = their_class(their_env, horizon=H, stage_dependent=True)
        rng = np.random.default_rng(2)
        yield (
            their_class.name,
            lambda ours=ours, rng=rng: ours.learn(env, episodes, rng),
            lambda theirs=theirs: theirs.fit(budget=episodes),
        )


def table(cpu_seconds, lengths=(10, 20, 40), episodes: int = 100) -> None:
    print("\nTabular agents on the N-chain: CPU time of a step of an episode in microseconds\n")
    if MISSING:
        print(f"rlberry is {MISSING}")
        return
    rlberry.logger.setLevel("ERROR")  # else it reports its progress every few seconds
    print(f"{'N':>4} {'agent':>7} {'ours':>8} {'rlberry':>9} {'rlberry/ours':>13}")
    for N in lengths:
        for name, ours, theirs in pairs(N, episodes):
            ours(), theirs()  # compiled, and with some history
            fast, slow = (
                1e6 * cpu_seconds(work, 5) / (episodes * (N - 1)) for work in (ours, theirs)
            )
            print(f"{N:4} {name:>7} {fast:8.2f} {slow:9.1f} {slow / fast:13.2g}", flush=True)
