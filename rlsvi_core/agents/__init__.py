"""The paper's learning algorithms, and one way to ask for each.

RLSVI draws its weights from the posterior and acts greedily; LSVI takes the posterior mean and
dithers. What they generalise by is a feature map, and the feature map decides which form runs: a
fast one where its structure allows, else the verbatim one. All forms have the same interface
(:class:`Agent`) and, given the same draws, the same weights.
"""

from typing import Any

from ..features import FeatureMap, OneHot
from .base import Agent, LinearAgent, Run
from .finite import FiniteAgent
from .products import ProductAgent, Products
from .stationary import Placements, RingAgent
from .tabular import TabularAgent
from .verbatim import VerbatimAgent

__all__ = ["Agent", "FiniteAgent", "LinearAgent", "Placements", "ProductAgent",
           "Products", "RingAgent", "Run", "TabularAgent", "VerbatimAgent", "lsvi", "rlsvi"]

FAST: dict[type, type[LinearAgent]] = {
    OneHot: TabularAgent, Products: ProductAgent, Placements: RingAgent}


def _form(features: Any) -> type[LinearAgent]:
    """The fast form of a feature map, if it has one."""
    return FAST.get(type(features), VerbatimAgent) if isinstance(
        features, FeatureMap) else FiniteAgent


def rlsvi(features: Any, lam: float = 1.0, sigma: float = 0.1, *, rng: Any = None,
          form: type[LinearAgent] | None = None, **options: Any) -> Any:
    """Randomized least-squares value iteration: a posterior sample of the weights, greedy actions.

    Parameters
    ----------
    features : what to generalise by: an (H, S, A, K) table, ``features.OneHot(H, S, A)``, or any
        :class:`rlsvi_core.features.FeatureMap`. With a horizon this is Algorithms 1 and 2, without
        one Algorithms 7 and 8.
    lam : prior precision λ of a weight.
    sigma : standard deviation σ of the noise in a target.
    rng : the agent's own generator or its seed.
    form : which implementation; by default the fastest that the features allow.
    options : what the form offers, such as ``first_episode="prior"`` (Algorithm 1 as printed;
        ``"zero"``, the default, is the footnote's uniformly random first episode) or ``gamma``.

    Returns
    -------
    Agent
        with ``plan``, ``act``, ``observe`` and ``learn``.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(10)
    >>> agent = rlsvi(features.coherent(mdp.Q, K=5, rng=1), lam=1.0, sigma=0.1, rng=2)
    >>> agent.learn(mdp, episodes=500, rng=3).reward[-100:].mean() > 0.3
    np.True_
    """
    return (form or _form(features))(features, lam, sigma, sample=True, rng=rng,  # type: ignore
                                     **options)


def lsvi(features: Any, lam: float = 1.0, *, epsilon: float = 0.0, eta: float = 0.0,
         rng: Any = None, form: type[LinearAgent] | None = None, **options: Any) -> Any:
    """Least-squares value iteration (Algorithm 3): the posterior mean, and dithering.

    Parameters
    ----------
    features, lam, rng, form, options : as for :func:`rlsvi`; the ridge is λ.
    epsilon : the probability of a uniformly random action (Algorithm 5).
    eta : the temperature of a ∝ exp(Q/η) (Algorithm 4); 0 is the greedy limit.

    Returns
    -------
    Agent
        with ``plan``, ``act``, ``observe`` and ``learn``.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> lsvi(features.tabular(chain(5)), epsilon=0.1)
    FiniteAgent(LSVI, lam=1, epsilon=0.1; 0 transitions seen)
    """
    return (form or _form(features))(features, lam, 1.0, sample=False,  # type: ignore
                                     epsilon=epsilon, eta=eta, rng=rng, **options)
