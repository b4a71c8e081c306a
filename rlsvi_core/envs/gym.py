"""A bridge to Gymnasium, both ways (needs the ``gym`` extra).

``play`` lets an agent learn in any Gymnasium environment with discrete observations and actions;
``MDPEnv`` offers a FiniteMDP to other people's agents.
"""

from typing import Any

import numpy as np

from ..checks import fail, missing, whole
from ..compiled import Floats
from ..mdp import FiniteMDP

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise missing("rlsvi_core.envs.gym", "gymnasium", extra="gym") from error

__all__ = ["MDPEnv", "play"]


class MDPEnv(gymnasium.Env[int, int]):
    """A FiniteMDP as an environment: the observation is the state, an episode lasts H steps.

    Parameters
    ----------
    mdp : the FiniteMDP to play.

    Examples
    --------
    >>> from rlsvi_core import chain
    >>> env = MDPEnv(chain(3))
    >>> env.reset(seed=1), env.step(0)
    ((0, {}), (0, 0.0, False, False, {}))
    """

    def __init__(self, mdp: FiniteMDP) -> None:
        self.mdp, self._h, self._s = mdp, mdp.H, 0  # no episode under way
        self.observation_space: gymnasium.Space[Any] = gymnasium.spaces.Discrete(mdp.S)
        self.action_space: gymnasium.Space[Any] = gymnasium.spaces.Discrete(mdp.A)

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self._h, self._s = 0, self.mdp.start(self.np_random)
        return self._s, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Play an action; the last reward of an episode includes the terminal one."""
        if not self.action_space.contains(action) or self._h >= self.mdp.H:
            fail(f"step needs an action from {self.action_space} in an episode of {self.mdp.H} "
                 f"steps", f"got {action!r} after {self._h} steps",
                 "Call reset() to start a new episode.")
        r, self._s, over = self.mdp.step(self._h, self._s, int(action), self.np_random)
        self._h += 1
        return self._s, float(r), over, False, {}


def play(agent: Any, env: gymnasium.Env[Any, Any], episodes: int,
         seed: int | None = None) -> Floats:
    """Let an agent learn in an environment.

    An episode ends when the environment says so, or after the agent's H periods. *Terminated*
    means that nothing of value follows. *Truncated* does not: the clock ran out, but the state
    that was reached keeps its value.

    Parameters
    ----------
    agent : RLSVI, LSVI or another with ``plan``, ``act`` and ``observe``, and numbers H, S and A.
    env : a Gymnasium environment with the spaces Discrete(S) and Discrete(A).
    episodes, seed : how many; for the first reset, the environment goes on from there.

    Returns
    -------
    (episodes,) array, the reward of each.

    Examples
    --------
    >>> from rlsvi_core import chain, features, rlsvi
    >>> agent = rlsvi(features.tabular(chain(4)), rng=1)
    >>> play(agent, MDPEnv(chain(4)), episodes=100, seed=2).shape
    (100,)
    """
    for name, space, size in (("observation", env.observation_space, agent.S),
                              ("action", env.action_space, agent.A)):
        if not isinstance(space, gymnasium.spaces.Discrete) or space.n != size or space.start != 0:
            fail(f"the agent's basis needs the {name} space Discrete({size})",
                 f"the environment has {space}", "Wrap the environment, or make a basis "
                 "Phi[h, s, a] of the right size.")
    rewards = np.zeros(whole("episodes", episodes, mend="Pass episodes=1000, say."))
    for i in range(episodes):
        first, _ = env.reset(seed=seed if i == 0 else None)
        s, total = int(first), 0.0
        agent.plan()
        for h in range(agent.H):
            a = agent.act(h, s)
            observed, reward, terminated, truncated, _ = env.step(a)
            s_next, r = int(observed), float(reward)
            # After the last period nothing is counted on anyway; only an early end is news.
            agent.observe(h, s, a, r, None if terminated and h + 1 < agent.H else s_next)
            s, total = s_next, total + r
            if terminated or truncated:
                break
        rewards[i] = total
    return rewards
