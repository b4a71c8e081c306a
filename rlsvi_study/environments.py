"""The environments behind the tasks (needs the ``gym`` extra).

A ``Task`` notes whether its last step was the end of an episode, or not; a sparse one pays 1 for that
end and nothing before. A ``Corridor`` of N cells is walked from the left end; only the right one
pays, and ends it. Its time limit is N steps, one more than it takes: against the left wall one wrong
step is forgiven, elsewhere none. The observation is the position in [0, 1].
"""

from typing import Any

import numpy as np

from rlsvi_core.checks import missing

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise missing("rlsvi_study.environments", "gymnasium", extra="gym") from error

from gymnasium.spaces import Box, Discrete


class Task(gymnasium.Wrapper):
    """The same environment, with ``terminated`` of the last step; if sparse, with that as reward."""

    def __init__(self, env: Any, sparse: bool) -> None:
        super().__init__(env)
        self.sparse, self.terminated = sparse, False

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        s, r, self.terminated, truncated, info = self.env.step(action)
        return s, float(self.terminated if self.sparse else r), self.terminated, truncated, info


class Corridor(gymnasium.Env):
    """N cells in a row; action 1 goes right, 0 left."""

    def __init__(self, N: int) -> None:
        self.N = N
        self.observation_space, self.action_space = Box(0.0, 1.0, (1,)), Discrete(2)

    def _observed(self) -> np.ndarray:
        return np.array([self.x / (self.N - 1)], np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict]:
        super().reset(seed=seed)
        self.x = 0
        return self._observed(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.x = max(0, self.x + (1 if action else -1))
        end = self.x == self.N - 1
        return self._observed(), float(end), end, False, {}


def corridor(N: int) -> Any:
    return gymnasium.wrappers.TimeLimit(Corridor(N), N)


def make(name: str, *, sparse: bool = False, **settings: Any) -> Any:
    """An environment of Gymnasium's, or a corridor."""
    env = corridor(**settings) if name == "corridor" else gymnasium.make(name, **settings)
    return Task(env, sparse)
