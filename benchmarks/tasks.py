"""What does a step cost in an environment of Gymnasium's? ``python -m benchmarks.tasks``

Microseconds of CPU time per step of the environment: *alone*, with a fixed action; *RLSVI*, all of
it, as ``play`` runs it, learning and planning included; *DQN*, stable-baselines3's with its
defaults for as many steps, where that is installed (in an environment of its own: pip install
stable-baselines3). One run each: DQN's cost hardly changes, RLSVI's plans grow with its window.

Then Taxi with one-hot features and a discount: the form that counts, and the one that keeps rows,
with the size of the agent when it has learned.
"""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # CPU time of one thread, for all of them

import pickle
import time
from itertools import islice

import gymnasium
import numpy as np

from rlsvi_core import StoredAgent, features, rlsvi
from rlsvi_core.agents import DiscountedAgent
from rlsvi_core.envs.gym import each_episode, play

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


def discounted(episodes=((DiscountedAgent, 1000), (StoredAgent, 20)), steps: int = 40) -> None:
    """Taxi in episodes of 40 steps, without a horizon; greedy is in whole ones."""
    print(f"\n{'Taxi, discounted':16} {'episodes':>8} {'CPU s':>7} {'MB':>7} {'greedy':>7}")
    short, whole = gymnasium.make("Taxi-v4", max_episode_steps=steps), gymnasium.make("Taxi-v4")
    for form, number in episodes:
        agent = rlsvi(features.one_hot(None, 500, 6), value_range=(-100, 20), sigma=0.1, rng=1,
                      form=form)
        took, _ = cpu_seconds(lambda agent=agent, number=number: play(agent, short, number, seed=0))
        size = len(pickle.dumps(agent)) / 1e6
        late = play(agent, whole, 100, seed=1000, learn=False).mean()
        print(f"{form.__name__:16} {number:8} {took:7.1f} {size:7.1f} {late:7.2f}", flush=True)


if __name__ == "__main__":
    table()
    discounted()
