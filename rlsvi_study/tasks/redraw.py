r"""Drawing again in mid-episode, and a vote of samples.

:mod:`rlsvi_core.agents.discounted` explains why one sample for a whole episode may lead in a
circle. A sample can be redrawn after :math:`1/(1 - \gamma)` steps, or when a state recurs that was
visited since the last draw; observations in a box never recur. That *helps* if, with the same
seeds, the mean reward of all episodes is higher in at least one task and lower in none, by
Student's 95% intervals of the differences. This rule was fixed before the stored seeds were run.
``Vote`` acts as most of some samples do, in place of the posterior mean.
"""

import copy
from typing import Any

import numpy as np


class Vote:
    """Acts as most of some samples do, ties at random; the agent is left as it was."""

    def __init__(self, agent: Any, draws: int, rng: np.random.Generator) -> None:
        agent, self.rng, self.samples = copy.deepcopy(agent), rng, list[Any]()
        self.S, self.A, self.H = agent.S, agent.A, agent.H
        for _ in range(draws):
            agent.rng = rng
            agent.plan()
            self.samples.append(agent)
            agent = copy.deepcopy(agent)

    def greedy(self, h: int, s: Any, legal: Any = None) -> int:
        votes = np.zeros(self.A, int)
        for agent in self.samples:
            votes[agent.act(h, s, legal)] += 1
        return int(self.rng.choice(np.flatnonzero(votes == votes.max())))
