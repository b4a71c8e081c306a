"""A companion to Osband, Van Roy and Wen (2016), *Generalization and Exploration via Randomized
Value Functions*: its algorithms, environments and the numerics of its proofs, as code that reads
like the paper. ``rlsvi_core/algorithms.py`` is the file to read first.

>>> from rlsvi_core import chain, features, rlsvi
>>> mdp = chain(50)
>>> agent = rlsvi(features.coherent(mdp.Q, K=10, rng=1), lam=1.0, sigma=0.1, rng=2)
>>> run = agent.learn(mdp, episodes=2000, rng=3)
>>> run.reward.sum()
np.float64(608.0)
"""

from importlib.metadata import PackageNotFoundError, version

from . import features
from .agents import Agent, bootstrap, lsvi, rlsvi
from .envs import chain
from .learners.base import Learner, Options
from .mdp import DiscountedMDP, FiniteMDP
from .regression import suggest_parameters
from .runtime.loop import Run

try:
    __version__ = version("rlsvi-core")
except PackageNotFoundError:  # a source tree on the path, not installed
    __version__ = "unknown"

__all__ = [
    "Agent",
    "DiscountedMDP",
    "FiniteMDP",
    "Learner",
    "Options",
    "Run",
    "__version__",
    "bootstrap",
    "chain",
    "features",
    "lsvi",
    "rlsvi",
    "suggest_parameters",
]
