"""The paper's learning algorithms, and one way to ask for each.

RLSVI draws its weights from the posterior and acts greedily; LSVI takes the posterior mean and
dithers. What they generalise by is a feature map, and the feature map decides which form runs: a
fast one where its structure allows, else rows in arrays, or the verbatim one. All forms have the
same interface (:class:`Agent`) and, given the same draws, the same weights.

**Which λ and σ?** Say what values can be, ``value_range=(low, high)``, and scale features to norm
1; :func:`rlsvi_core.regression.suggest_parameters` has the rule and its reasons.
"""

from typing import Any

from .. import checks
from ..features import FeatureMap, OneHot, Table
from ..regression import suggest_parameters
from .base import Agent, LinearAgent, Run
from .finite import FiniteAgent
from .products import ProductAgent, Products
from .stationary import Placements, RingAgent
from .stored import StoredAgent
from .tabular import TabularAgent
from .verbatim import VerbatimAgent

__all__ = ["Agent", "FiniteAgent", "LinearAgent", "Placements", "ProductAgent",
           "Products", "RingAgent", "Run", "StoredAgent", "TabularAgent", "VerbatimAgent", "lsvi",
           "rlsvi"]

FAST: dict[type, type[LinearAgent]] = {
    OneHot: TabularAgent, Products: ProductAgent, Placements: RingAgent}


def _made(features: Any, lam: float | None, sigma: float | None, value_range: Any, H: int | None,
          form: type[LinearAgent] | None, options: dict[str, Any]) -> Any:
    """The agent, in the fastest form that the features allow."""
    phi = FeatureMap.of(features, H)
    if form is not None and not (isinstance(form, type) and issubclass(form, LinearAgent)):
        checks.fail("form must be a class of agents", f"it is {form!r}", "Leave it out for the "
                    "fastest that the features allow, or pass form=VerbatimAgent, say.")
    if isinstance(phi, Table) and phi.H is None and "gamma" not in options:
        checks.fail("a table for all periods needs a horizon or a discount",
                    f"it has shape {phi.Phi.shape[1:]}", "Pass H=20, say, or gamma=0.99; or an "
                    "(H, S, A, K) array, as rlsvi_core.features makes them.")
    varied = phi.known.size or type(phi).legal is not FeatureMap.legal \
        or type(phi).following is not FeatureMap.following  # actions that come and go
    fast = FiniteAgent if isinstance(phi, Table) and phi.H is not None else FAST.get(type(phi))
    made: Any = form or fast or (VerbatimAgent if varied else StoredAgent)
    if value_range is not None:
        proposed = suggest_parameters(value_range)
        lam = proposed[0] if lam is None else lam
        sigma = proposed[1] if sigma is None else sigma
        if issubclass(made, VerbatimAgent):
            options.setdefault("clip", value_range)
    return made(phi, 1.0 if lam is None else lam, 0.1 if sigma is None else sigma, **options)


def rlsvi(features: Any, lam: float | None = None, sigma: float | None = None, *,
          value_range: tuple[float, float] | None = None, H: int | None = None, rng: Any = None,
          form: type[LinearAgent] | None = None, **options: Any) -> Any:
    """Randomized least-squares value iteration: a posterior sample of the weights, greedy actions.

    Parameters
    ----------
    features : what to generalise by: an (H, S, A, K) or (S, A, K) table, a function of the
        observation, or of period and observation, that returns (A, K) rows, or any
        :class:`rlsvi_core.features.maps.FeatureMap`, such as ``features.one_hot(H, S, A)`` or
        ``features.tiles(box, A)``.
    lam : prior precision λ of a weight; 1 unless ``value_range`` says better.
    sigma : standard deviation σ of the noise in a target; 0.1 unless ``value_range`` says better.
    value_range : the least and the largest value (sum of rewards to come) there can be. Sets λ and
        σ by :func:`rlsvi_core.regression.suggest_parameters` and, where features are computed,
        clips targets.
    H : number of periods, where features have none of their own. With a horizon this is Algorithms
        1 and 2; without one Algorithms 7 and 8, with a discount.
    rng : the agent's own generator or its seed.
    form : which implementation; by default the fastest that the features allow.
    options : what the form offers, such as ``first_episode="prior"`` (Algorithm 1 as printed;
        ``"zero"``, the default, is the footnote's uniformly random first episode), ``gamma`` or
        ``window``; see :class:`rlsvi_core.agents.stored.StoredAgent` for computed features.

    Returns
    -------
    Agent
        with ``plan``, ``act``, ``observe``, ``learn``, ``greedy`` and ``evaluate``.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(10)
    >>> agent = rlsvi(features.coherent(mdp.Q, K=5, rng=1), lam=1.0, sigma=0.1, rng=2)
    >>> agent.learn(mdp, episodes=500, rng=3).reward[-100:].mean() > 0.3
    np.True_
    """
    return _made(features, lam, sigma, value_range, H, form,
                 {"sample": True, "rng": rng, **options})


def lsvi(features: Any, lam: float | None = None, *, epsilon: float = 0.0, eta: float = 0.0,
         value_range: tuple[float, float] | None = None, H: int | None = None, rng: Any = None,
         form: type[LinearAgent] | None = None, **options: Any) -> Any:
    """Least-squares value iteration (Algorithm 3): the posterior mean, and dithering.

    Parameters
    ----------
    features, lam, value_range, H, rng, form, options : as for :func:`rlsvi`; the ridge is λ, by
        ``value_range`` the λσ² that is RLSVI's.
    epsilon : the probability of a uniformly random action (Algorithm 5).
    eta : the temperature of a ∝ exp(Q/η) (Algorithm 4); 0 is the greedy limit.

    Returns
    -------
    Agent
        with ``plan``, ``act``, ``observe``, ``learn``, ``greedy`` and ``evaluate``.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> lsvi(features.tabular(chain(5)), epsilon=0.1)
    FiniteAgent(LSVI, lam=1, epsilon=0.1; 0 transitions seen)
    """
    if lam is None and value_range is not None:
        proposed = suggest_parameters(value_range)
        lam = proposed[0] * proposed[1] ** 2
    return _made(features, lam, 1.0, value_range, H, form,
                 {"sample": False, "epsilon": epsilon, "eta": eta, "rng": rng, **options})
