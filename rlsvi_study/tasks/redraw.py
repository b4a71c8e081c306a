r"""Drawing again in mid-episode, and a vote of samples.

:mod:`rlsvi_core.beyond.discounted` explains why one sample for a whole episode may lead in a
circle. A sample can be redrawn after :math:`1/(1 - \gamma)` steps, or when a state recurs that was
visited since the last draw; observations in a box never recur. That *helps* if, with the same
seeds, the mean reward of all episodes is higher in at least one task and lower in none, by
Student's 95% intervals of the differences. This rule was fixed before the stored seeds were run.
``Vote`` acts as most of some samples do, in place of the posterior mean.
"""

import copy
from typing import Any

import numpy as np

from rlsvi_core import Agent


class Vote(Agent):
    """Acts as most of some samples do, ties at random; the agent is left as it was."""

    def __init__(self, agent: Agent, draws: int, rng: np.random.Generator) -> None:
        super().__init__(agent.learner, rng=rng)
        agent, self.samples = copy.deepcopy(agent), list[Agent]()
        for _ in range(draws):
            agent.rng = rng
            agent.plan()
            self.samples.append(agent)
            agent = copy.deepcopy(agent)

    def greedy(self, h: int, s: Any, legal: Any = None) -> int:
        votes = np.bincount([agent.act(h, s, legal) for agent in self.samples])
        return int(self.rng.choice(np.flatnonzero(votes == votes.max())))
