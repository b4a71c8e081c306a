"""What does a step cost in an environment of Gymnasium's? ``python -m benchmarks.tasks``

Microseconds of CPU time per step of the environment: *alone*, with a fixed action; *RLSVI*, all of
it, as ``play`` runs it, learning and planning included; *DQN*, stable-baselines3's with its
defaults for as many steps, where that is installed (in an environment of its own: pip install
stable-baselines3). One run each: DQN's cost hardly changes, RLSVI's plans grow with its window.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # CPU time of one thread, for all of them

import time
from itertools import islice

import gymnasium
import numpy as np

from rlsvi_core import features, rlsvi
from rlsvi_core.envs.gym import each_episode

try:
    from stable_baselines3 import DQN
except ImportError:
    DQN = None


def learner(env):
    """RLSVI for an environment: one-hot features with a horizon, or 200 random Fourier ones."""
    A, space = int(env.action_space.n), env.observation_space
    if hasattr(space, "n"):
        H = env.spec.max_episode_steps
        return rlsvi(features.one_hot(H, int(space.n), A), value_range=(0, 1), rng=1)
    return rlsvi(features.random_fourier(space, A, rng=1), value_range=(-100, 0), window=5000,
                 rng=2)


def alone(env, steps: int) -> None:
    """Take so many steps, always the same action."""
    env.reset(seed=0)
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(0)
        if terminated or truncated:
            env.reset()


def cpu_seconds(work) -> tuple[float, object]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def table(tasks=(("FrozenLake-v1", 500), ("MountainCar-v0", 100))) -> None:
    print("CPU microseconds per step\n")
    print(f"{'':16} {'episodes':>8} {'steps':>6} {'alone':>7} {'RLSVI':>7} {'DQN':>7}  last 20")
    for name, episodes in tasks:
        env = gymnasium.make(name)
        agent = learner(env)
        next(each_episode(agent, env, 0))  # compiled
        took, played = cpu_seconds(lambda agent=agent, env=env, episodes=episodes: list(islice(
            each_episode(agent, env, 1), episodes)))
        steps = sum(episode.length for episode in played)
        returns = f"RLSVI {np.mean([episode.reward for episode in played[-20:]]):.1f}"
        bare, _ = cpu_seconds(lambda env=env, steps=steps: alone(env, steps))
        theirs = "–"
        if DQN is not None:
            model = DQN("MlpPolicy", gymnasium.make(name), device="cpu", seed=1)
            spent, _ = cpu_seconds(lambda model=model, steps=steps: model.learn(steps))
            theirs = f"{1e6 * spent / steps:.0f}"
            late = [episode["r"] for episode in model.ep_info_buffer][-20:]
            returns += f", DQN {np.mean(late):.1f}"
        print(f"{name:16} {episodes:8} {steps:6} {1e6 * bare / steps:7.1f} "
              f"{1e6 * took / steps:7.1f} {theirs:>7}  {returns}", flush=True)
    if DQN is None:
        print("\nstable-baselines3 is not installed: pip install stable-baselines3")


if __name__ == "__main__":
    table()
