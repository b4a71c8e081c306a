"""What does a step cost in an environment of Gymnasium's? ``python -m benchmarks.tasks``

Microseconds of CPU time per step of the environment: *alone*, which takes the same actions again;
*play*, all of it, resets, learning and planning included; *plan*, the part of it that is spent
between episodes, which grows with the transitions that are kept; *DQN*, stable-baselines3's with
its defaults for as many steps, where that is installed (in an environment of its own: pip install
stable-baselines3). The least of three runs of each, taken in turn.

Then Taxi with one-hot features and a discount: the form that counts, and the one that keeps rows,
with the size of the agent when it has learned.
"""

import argparse
import math
import pickle
import time

import gymnasium
import numpy as np

from rlsvi_core import Options, features, rlsvi
from rlsvi_core.features import boxes
from rlsvi_core.learners.counts import CountLearner
from rlsvi_core.learners.rows import RowLearner

from . import add_size, scaled

try:
    from stable_baselines3 import DQN
except ImportError:
    DQN = None


CAR = "MountainCar-v0", (-100, 0)
TASKS = {  # environment, range of values, features of (space, number of actions), episodes
    "FrozenLake, one-hot, H = 100": (
        "FrozenLake-v1",
        (0, 1),
        lambda space, A: features.one_hot(100, int(space.n), A),
        500,
    ),
    "MountainCar, polynomials (45)": (*CAR, lambda box, A: boxes.polynomial(box, A, 8), 50),
    "MountainCar, Fourier (200)": (*CAR, lambda box, A: boxes.random_fourier(box, A, rng=1), 30),
    "MountainCar, tiles (648)": (*CAR, boxes.tiles, 30),
}


class Recorded(gymnasium.Wrapper):
    """Keeps what was asked of an environment: actions, and None for a reset."""

    def __init__(self, env) -> None:
        super().__init__(env)
        self.asked = []

    def reset(self, **options):
        self.asked.append(None)
        return super().reset(**options)

    def step(self, action):
        self.asked.append(action)
        return super().step(action)


def ask_again(env, asked) -> None:
    """The environment alone."""
    seed = 1
    for action in asked:
        if action is None:
            env.reset(seed=seed)
            seed = None
        else:
            env.step(action)


def timed(work) -> tuple[float, object]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def time_fits(learner) -> list[float]:
    """Seconds of each fit that the learner will make."""
    fit, spent = learner.fit, []

    def noted(*given):
        took, fitted = timed(lambda: fit(*given))
        spent.append(took)
        return fitted

    learner.fit = noted
    return spent


def table(size: float) -> None:
    print("CPU microseconds per step\n")
    print(
        f"{'':30} {'episodes':>8} {'steps':>6} {'alone':>7} {'play':>7} {'plan':>7} "
        f"{'play/alone':>10} {'DQN':>7}  last 20"
    )
    for name, (which, value_range, make, episodes) in TASKS.items():
        env, episodes = gymnasium.make(which), scaled(episodes, size)
        phi = make(env.observation_space, int(env.action_space.n))
        recorded, times = Recorded(env), []

        def learn(world, phi=phi, value_range=value_range, episodes=episodes):
            agent = rlsvi(phi, value_range=value_range, rng=2)
            plans = time_fits(agent.learner)
            return agent.learn(world, episodes, 1), sum(plans)

        played, _ = learn(recorded)  # and compiled
        for _ in range(3):
            took, (_, plans) = timed(lambda learn=learn, env=env: learn(env))
            bare, _ = timed(lambda env=env, asked=recorded.asked: ask_again(env, asked))
            times.append((bare, took, plans))
        steps = int(played.length.sum())
        bare, took, plans = 1e6 * np.min(times, axis=0) / steps
        returns = f"RLSVI {played.reward[-20:].mean():.1f}"
        theirs = "–"
        if DQN is not None:
            model = DQN("MlpPolicy", gymnasium.make(which), device="cpu", seed=1)
            spent, _ = timed(lambda model=model, steps=steps: model.learn(steps))
            theirs = f"{1e6 * spent / steps:.0f}"
            late = [episode["r"] for episode in model.ep_info_buffer][-20:]
            returns += f", DQN {np.mean(late):.1f}"
        print(
            f"{name:30} {episodes:8} {steps:6} {bare:7.1f} {took:7.1f} {plans:7.1f} "
            f"{took / bare:10.1f} {theirs:>7}  {returns}",
            flush=True,
        )
    if DQN is None:
        print("\nstable-baselines3 is not installed: pip install stable-baselines3")


def discounted(size: float) -> None:
    """Taxi in episodes of 40 steps, without a horizon; greedy is in whole ones."""
    print(f"\n{'Taxi, discounted':16} {'episodes':>8} {'CPU s':>7} {'MB':>7} {'greedy':>7}")
    short, whole = gymnasium.make("Taxi-v4", max_episode_steps=40), gymnasium.make("Taxi-v4")
    for form, episodes in ((CountLearner, 1000), (RowLearner, 20)):
        number = scaled(episodes, size)
        agent = rlsvi(
            features.one_hot(None, 500, 6),
            value_range=(-100, 20),
            sigma=0.1,
            options=Options(redraw=math.inf),
            rng=1,
        )
        agent.learner = form(agent.learner.problem)
        took, _ = timed(lambda agent=agent, number=number: agent.learn(short, number, 0))
        megabytes = len(pickle.dumps(agent)) / 1e6
        late = agent.evaluate(whole, scaled(100, size), 1000).mean()
        print(f"{form.__name__:16} {number:8} {took:7.1f} {megabytes:7.1f} {late:7.2f}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tasks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_size(parser)
    size = parser.parse_args(arguments).size
    table(size)
    discounted(size)


if __name__ == "__main__":
    main()
