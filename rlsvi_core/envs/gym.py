"""A bridge to Gymnasium, both ways (needs the ``gym`` extra).

``play`` lets an agent learn in any Gymnasium environment with discrete observations and actions;
``MDPEnv`` offers a FiniteMDP to other people's agents.
"""

import gymnasium
import numpy as np

from ..mdp import FiniteMDP, first_state, last_reward, step


class MDPEnv(gymnasium.Env):
    """A FiniteMDP as an environment: the observation is the state, an episode lasts H steps."""

    def __init__(self, mdp: FiniteMDP):
        self.mdp, self._h = mdp, mdp.H  # no episode under way
        self.observation_space = gymnasium.spaces.Discrete(mdp.S)
        self.action_space = gymnasium.spaces.Discrete(mdp.A)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._h, self._s = 0, first_state(self.mdp.model, self.np_random)
        return int(self._s), {}

    def step(self, action):
        if not self.action_space.contains(action) or self._h >= self.mdp.H:
            raise ValueError(f"step needs an action from {self.action_space} in an episode of "
                             f"{self.mdp.H} steps; got {action!r} after {self._h} steps. Call "
                             f"reset() to start a new episode.")
        r, self._s = step(self.mdp.model, self._h, self._s, int(action), self.np_random)
        self._h += 1
        over = self._h == self.mdp.H
        if over:
            r += last_reward(self.mdp.model, self._s, self.np_random)
        return int(self._s), float(r), over, False, {}


def play(agent, env: gymnasium.Env, episodes: int, seed: int | None = None) -> np.ndarray:
    """Let the agent learn in the environment; returns the reward of each episode.

    Episodes end when the environment says so, or after the agent's H periods.
    """
    for name, space, size in (("observation", env.observation_space, agent.S),
                              ("action", env.action_space, agent.A)):
        if not isinstance(space, gymnasium.spaces.Discrete) or space.n != size or space.start != 0:
            raise ValueError(f"the agent's basis needs the {name} space Discrete({size}); the "
                             f"environment has {space}. Wrap the environment, or make a basis "
                             f"Phi[h, s, a] of the right size.")
    rewards = np.zeros(episodes)
    for i in range(episodes):
        s, _ = env.reset(seed=seed if i == 0 else None)
        agent.plan()
        for h in range(agent.H):
            a = agent.act(h, s)
            s_next, r, terminated, truncated, _ = env.step(a)
            agent.observe(h, s, a, r, None if terminated and h < agent.H - 1 else s_next)
            rewards[i] += r
            s = s_next
            if terminated or truncated:
                break
    return rewards
