"""What the tests of agents share: features, random steps to observe, masks and options."""

import copy
import pickle
import warnings

import numpy as np
import pytest

from rlsvi_core import Options, features, lsvi, rlsvi
from rlsvi_core.features import boxes
from rlsvi_core.learners import base

H, S, A = 3, 5, 2
LAM, SIGMA = 0.5, 0.3
RANDOM = np.random.default_rng(11).standard_normal((H, S, A, 4))
BOX = boxes.random_fourier(([-1.0, -1.0], [1.0, 1.0]), A=A, d=4, length_scale=0.5, rng=5)
TILES = boxes.tiles(([-1.0, -1.0], [1.0, 1.0]), A=A, tilings=3, bins=2)
PLACES = np.random.default_rng(1).uniform(-1, 1, (S, 2))
OPEN = np.random.default_rng(5).random((S, A)) < 0.6  # what masks allow in a state
OPEN[:, 0] |= ~OPEN.any(axis=1)


def line(s):
    """A function of the observation, whose number of features nobody knows before."""
    return np.kron(np.eye(A), [1.0, s / S])


WORLDS = {  # the features, H if they have none, and what an agent sees of the states 0, …, S − 1
    "table": (RANDOM, None, range(S)),
    "one table": (RANDOM[0], None, range(S)),
    "one table, H": (RANDOM[0], H, range(S)),
    "one-hot": (features.OneHot(H, S, A), None, range(S)),
    "one-hot, no H": (features.OneHot(None, S, A), None, range(S)),
    "one-hot, later H": (features.OneHot(None, S, A), H, range(S)),
    "function": (line, None, range(S)),
    "function, H": (line, H, range(S)),
    "crossed": (BOX, None, PLACES),
    "crossed, H": (BOX, H, PLACES),
    "tiles": (TILES, None, PLACES),
}
ANY = {
    "as it is": {},
    "discounted": {"gamma": 0.7},
    "bandit": {"gamma": 0.0},
    "cut": {"gamma": 0.8, "value_range": (0.3, 0.9)},
    "window": {"options": Options(window=20)},
    "prior first": {"options": Options(first="prior")},
}
HORIZON = ANY | {
    "all": {
        "gamma": 0.8,
        "value_range": (0.3, 0.9),
        "options": Options(window=30, first="prior"),
    },
}
STATIONARY = ANY | {
    "sweeps": {"options": Options(sweeps=3)},
    "settled": {"gamma": 0.2, "value_range": (-0.3, 0.4), "options": Options(sweeps=20)},
    "as printed": {"options": Options(sweeps=1, first="prior", window=50)},
}
CHOICES = HORIZON | STATIONARY


def given(world, choice):
    """Features and arguments for an entry point."""
    phi, horizon, _ = WORLDS[world]
    arguments = {"H": horizon} | CHOICES[choice]
    if world == "one table":  # which needs a discount
        arguments = {"gamma": 0.9} | arguments
    return phi, arguments


def cases(keep=lambda agent: True):
    """Each world with the choices that it has, if the agent's learner is asked for."""
    for world in WORLDS:
        horizon = rlsvi(given(world, "as it is")[0], **given(world, "as it is")[1]).H
        for choice in STATIONARY if horizon is None else HORIZON:
            phi, arguments = given(world, choice)
            options = arguments.get("options", Options())
            if options.window and isinstance(phi, features.OneHot):
                continue
            if options.first == "prior" and phi is line:
                continue
            if keep(rlsvi(phi, **arguments).learner):
                yield world, choice


def agents_of(phi, **arguments):
    """RLSVI, and LSVI if it has these options."""
    yield rlsvi(phi, LAM, SIGMA, rng=3, **arguments)
    if arguments.get("options", Options()).first == "uniform":
        yield lsvi(phi, LAM, epsilon=0.3, rng=3, **arguments)


def legal(s, masks):
    """The actions that masks allow in a state."""
    return np.flatnonzero(OPEN[s]) if masks and s is not None else None


def episode(rng, masks=False):
    """Random steps, H at most; some episodes end early."""
    s = int(rng.integers(S))
    for h in range(H):
        a = int(rng.choice(np.arange(A) if not masks else legal(s, masks)))
        s_next = None if rng.random() < 0.2 else int(rng.integers(S))
        yield h, s, a, float(rng.standard_normal()), s_next
        if s_next is None:
            return
        s = s_next


@pytest.fixture(autouse=True)
def short_means(monkeypatch):
    """Twelve sweeps for a mean without a horizon, because the reference takes long for 1000."""
    monkeypatch.setattr(base, "max_sweeps", lambda gamma: 12)
    warnings.filterwarnings("ignore", "the mean has not settled")


def copied(agent):
    """By way of a file where that can be."""
    try:
        return pickle.loads(pickle.dumps(agent))
    except (AttributeError, pickle.PicklingError):
        return copy.deepcopy(agent)


class Plain:
    """A finite MDP as an environment of which nothing is known but start, step and H."""

    def __init__(self, mdp):
        self.H, self.start, self.step = mdp.H, mdp.start, mdp.step
        self.initial, self.evaluate = mdp.initial, mdp.evaluate  # for exact=True


def same(one, two):
    """Whether two things are in the same state, to the bit."""
    if type(one) is not type(two):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == two.shape and one.dtype == two.dtype and one.tobytes() == two.tobytes()
    if isinstance(one, np.random.Generator):
        return one.bit_generator.state == two.bit_generator.state
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if hasattr(one, "__iter__") and not isinstance(one, (str, bytes)):
        return len(one) == len(two) and all(map(same, one, two))
    if hasattr(one, "__dict__") and not callable(one):
        return same(vars(one), vars(two))
    return one == two or one != one
