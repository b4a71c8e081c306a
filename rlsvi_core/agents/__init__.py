"""The paper's learning algorithms, and one way to ask for each.

RLSVI draws its weights from the posterior and acts greedily; LSVI takes the posterior mean and
dithers. Both generalise through a feature map. The feature map and the options decide which form
runs: a fast one where their structure allows it, otherwise one that keeps rows in arrays, or the
verbatim one. The form never changes the algorithm. All forms have the same interface
(:class:`Agent`) and compute the same weights from the same draws. A form refuses an option that it
does not support.

**Which λ and σ?** Pass the range of optimal values, ``value_range=(low, high)``, and scale features
to norm 1. The guide has what was measured, in one table of choices.
"""

import difflib
import math
from typing import Any

from .. import checks
from ..compiled import Seed
from ..episodes import Outcome, Run
from ..features import FeatureMap, OneHot, Table
from ..regression import suggest_parameters
from .base import RANGE, Agent, LinearAgent
from .choices import UNBOUNDED, Choices, Reading, Redraw, Weights
from .discounted import DiscountedAgent
from .finite import FiniteAgent
from .outcomes import TableBootstrap
from .stored import StoredAgent
from .tabular import TabularAgent
from .verbatim import VerbatimAgent
from .weighted import Bootstrap, StoredBootstrap, VerbatimBootstrap

__all__ = [
    "Agent",
    "Bootstrap",
    "Choices",
    "DiscountedAgent",
    "FiniteAgent",
    "LinearAgent",
    "Outcome",
    "Reading",
    "Run",
    "StoredAgent",
    "StoredBootstrap",
    "TableBootstrap",
    "TabularAgent",
    "VerbatimAgent",
    "VerbatimBootstrap",
    "bootstrap",
    "lsvi",
    "rlsvi",
]

FORMS: tuple[type[LinearAgent], ...] = (*VerbatimAgent.FASTER, VerbatimAgent)
BOOTSTRAPS: tuple[type[Bootstrap], ...] = (TableBootstrap, StoredBootstrap, VerbatimBootstrap)


def rlsvi(
    features: Any,
    lam: float | None = None,
    sigma: float | None = None,
    *,
    value_range: tuple[float, float] | None = None,
    clip: bool = True,
    H: int | None = None,
    gamma: float | None = None,
    weights: Weights = "per period",
    window: int | None = None,
    sweeps: float | None = None,
    redraw: Redraw | None = None,
    reading: Reading = Reading(),  # noqa: B008, a constant
    form: type[LinearAgent] | None = None,
    rng: Seed = None,
) -> LinearAgent:
    """Randomized least-squares value iteration: a posterior sample of the weights, greedy actions.

    With a horizon this is Algorithms 1 and 2, with weights of its own for each period. Without one
    it is Algorithms 7 and 8: one weight vector for all time, and a discount.

    Parameters
    ----------
    features : FeatureMap, array_like or callable
        What to generalise by: an (H, S, A, K) or (S, A, K) table, a function of the
        observation, or of period and observation, that returns (A, K) rows, or any
        :class:`rlsvi_core.features.maps.FeatureMap`, such as ``features.one_hot(H, S, A)`` or
        ``boxes.tiles(box, A)``. An agent can be pickled if they can: a function of a module
        can, a lambda cannot.
    lam : float, optional
        Prior precision λ of a weight; 1, or what ``value_range`` suggests.
    sigma : float, optional
        Standard deviation σ of the noise in a target; 0.1, or what ``value_range`` suggests.
    value_range : tuple of float, optional
        The least and the largest optimal value: the (discounted) sum of rewards that the best
        policy earns on average from the worst state and from the best. Sets λ and σ by
        :func:`rlsvi_core.regression.suggest_parameters`, and clips. The agent warns once if
        returns contradict it (:mod:`rlsvi_core.agents.monitor`).
    clip : bool
        Clip the next value in every target to ``value_range``, where that is given.
    H : int, optional
        Number of periods, where features have none of their own.
    gamma : float, optional
        The discount γ in the targets: 1 with a horizon, 0.99 without; 0 is the bandit.
    weights : {"per period", "shared"}
        With a horizon, ``"per period"``, or ``"shared"``: H fits to the transitions of all
        periods, of which the last one's weights act throughout.
    window : int, optional
        Transitions kept in each regression; None: all.
    sweeps : float, optional
        Without a horizon, fits per episode, each with the weights of the one before in its
        targets; 10 by default, 1 is as printed. ``math.inf``: until nothing changes, at most
        10 000, so that an episode acts on one value function; for one-hot features this is cheap.
    redraw : {"never", "at repeats"}, int or callable, optional
        Without a horizon, when to draw again in mid-episode: after a number of steps, or,
        where states are numbers, ``"at repeats"``: when a state recurs that was visited since the
        last draw. This is the default for one-hot features; for all others it is ``"never"``, as
        printed. With a function of the observation, such as ``lambda s: tuple(np.round(s, 1))``,
        the agent draws again when one of its values recurs.
    reading : Reading
        How the paper is read where its text and its listings differ.
    form : type, optional
        Which implementation; by default the fastest that features and choices allow.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.

    Returns
    -------
    LinearAgent
        With ``plan``, ``act``, ``observe``, ``learn``, ``greedy``, ``evaluate``, ``values`` and
        ``mean_values``.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(10)
    >>> agent = rlsvi(features.coherent(mdp.Q, K=5, rng=1), lam=1.0, sigma=0.1, rng=2)
    >>> agent.learn(mdp, episodes=500, rng=3).reward[-100:].mean() > 0.3
    np.True_
    """
    phi = FeatureMap.of(features, H)
    lam_0, sigma_0 = (1.0, 0.1) if value_range is None else suggest_parameters(value_range)
    choices = Choices(
        clip=_clipped(value_range, clip),
        weights=weights,
        window=window,
        redraw=_redraw(phi, redraw),
        reading=reading,
        **_time(phi, gamma, sweeps),
    )
    agent: LinearAgent = _form((phi.fast, *FORMS), form, phi, choices)(
        phi,
        lam_0 if lam is None else lam,
        sigma_0 if sigma is None else sigma,
        sample=True,
        choices=choices,
        value_range=value_range,
        rng=rng,
    )
    return agent


def lsvi(
    features: Any,
    lam: float | None = None,
    *,
    epsilon: float = 0.0,
    half_life: float = math.inf,
    eta: float = 0.0,
    value_range: tuple[float, float] | None = None,
    clip: bool = True,
    H: int | None = None,
    gamma: float | None = None,
    weights: Weights = "per period",
    window: int | None = None,
    sweeps: float | None = None,
    form: type[LinearAgent] | None = None,
    rng: Seed = None,
) -> LinearAgent:
    """Least-squares value iteration (Algorithm 3): the posterior mean, and dithering.

    Parameters
    ----------
    features, value_range, clip, H, gamma, weights, window, sweeps, form, rng
        As for :func:`rlsvi`.
    lam : float, optional
        The ridge; 1, or the λσ² that ``value_range`` suggests to RLSVI.
    epsilon : float
        The probability of a uniformly random action (Algorithm 5).
    half_life : float
        ε is halved every so many episodes.
    eta : float
        The temperature of a ∝ exp(Q/η) (Algorithm 4); 0 is the greedy limit.

    Returns
    -------
    LinearAgent
        With ``plan``, ``act``, ``observe``, ``learn``, ``greedy``, ``evaluate``, ``values`` and
        ``mean_values``.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> lsvi(features.tabular(chain(5)), epsilon=0.1)
    FiniteAgent(LSVI, H=4, lam=1, epsilon=0.1; table of features, horizon; 0 transitions seen)
    """
    phi = FeatureMap.of(features, H)
    lam_0, sigma_0 = (1.0, 1.0) if value_range is None else suggest_parameters(value_range)
    choices = Choices(
        clip=_clipped(value_range, clip),
        weights=weights,
        window=window,
        half_life=half_life,
        **_time(phi, gamma, sweeps),
    )
    if choices.half_life < math.inf and checks.is_number(epsilon) and epsilon == 0:
        checks.fail(
            "half_life is that of epsilon",
            f"half_life is {half_life!r} and epsilon 0",
            "Pass epsilon=1, say, or leave half_life out.",
        )
    agent: LinearAgent = _form((phi.fast, *FORMS), form, phi, choices)(
        phi,
        lam_0 * sigma_0**2 if lam is None else lam,
        1.0,
        sample=False,
        choices=choices,
        value_range=value_range,
        epsilon=epsilon,
        eta=eta,
        rng=rng,
    )
    return agent


def bootstrap(
    features: Any,
    value_range: tuple[float, float],
    kappa: float = 0.01,
    *,
    H: int | None = None,
    gamma: float | None = None,
    weights: Weights = "per period",
    window: int | None = None,
    sweeps: float | None = None,
    redraw: Redraw | None = None,
    form: type[Bootstrap] | None = None,
    rng: Seed = None,
) -> Bootstrap:
    """Value iteration on a Bayesian bootstrap of the data, greedy actions: no λ, no σ.

    Instead of noise, transitions have random weights, and κ visits are imagined for each end of the
    range of values; :mod:`rlsvi_core.agents.weighted` explains the algorithm.

    Parameters
    ----------
    features, H, gamma, weights, window, sweeps, redraw, form, rng
        As for :func:`rlsvi`. It does not matter in which units features are.
    value_range : tuple of float
        As for :func:`rlsvi`, the least and the largest optimal value; next values are cut to it.
        The closer, the better.
    kappa : float
        κ, how many visits are imagined at each of the two ends: 1 explores long, 0.01 believes
        nearly all that it saw. The guide has what was measured, and where RLSVI does better.

    Returns
    -------
    Bootstrap
        With ``plan``, ``act``, ``observe``, ``learn``, ``greedy``, ``evaluate``, ``values`` and
        ``mean_values``.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(10)
    >>> agent = bootstrap(features.coherent(mdp.Q, K=5, rng=1), (0, 1), rng=2)
    >>> agent.learn(mdp, episodes=500, rng=3).reward[-100:].mean() > 0.3
    np.True_
    """
    phi = FeatureMap.of(features, H)
    choices = Choices(
        clip=_clipped(checks.pair("value_range", value_range, hint=RANGE), True),
        weights=weights,
        window=window,
        redraw=_redraw(phi, redraw),
        **_time(phi, gamma, sweeps),
    )
    agent: Bootstrap = _form(BOOTSTRAPS, form, phi, choices)(
        phi, value_range, kappa, choices=choices, rng=rng
    )
    return agent


def _clipped(value_range: tuple[float, float] | None, clip: bool) -> tuple[float, float]:
    """The bounds to which next values are clipped."""
    if not clip or value_range is None:
        return UNBOUNDED
    low, high = value_range
    return float(low), float(high)


def _time(phi: FeatureMap, gamma: float | None, sweeps: float | None) -> dict[str, Any]:
    """The discount and the fits per episode, whose defaults depend on whether there is a horizon."""
    if phi.H is not None:
        if sweeps is not None:
            checks.fail(
                "with a horizon there are as many fits as periods",
                f"sweeps is {sweeps!r} and H is {phi.H}",
                "Leave sweeps out, or leave H out and discount.",
            )
        return {"gamma": 1.0 if gamma is None else gamma}
    if isinstance(phi, Table) and gamma is None:
        checks.fail(
            "a table for all periods needs a horizon or a discount",
            f"it has shape {phi.Phi.shape[1:]}",
            "Pass H=20, say, or gamma=0.99; or an (H, S, A, K) array, as rlsvi_core.features "
            "makes them.",
        )
    return {
        "gamma": 0.99 if gamma is None else gamma,
        "sweeps": 10 if sweeps is None else sweeps,
    }


def _redraw(phi: FeatureMap, redraw: Any) -> Redraw:
    """When to draw again in mid-episode."""
    if redraw is None:
        return "at repeats" if isinstance(phi, OneHot) and phi.H is None else "never"
    if str(redraw) != "never" and phi.H is not None:
        checks.fail(
            "with a horizon there is one draw an episode",
            f"redraw is {redraw!r} and H is {phi.H}",
            "Leave redraw out, or leave H out and discount.",
        )
    if str(redraw) == "at repeats" and phi.S is None:
        checks.fail(
            "a state comes again where states are numbers",
            "redraw is 'at repeats', and the features do not say how many states there are",
            "Pass a function whose values recur, redraw=lambda s: tuple(np.round(s, 1)), say, or "
            "a number of steps, 1/(1 − gamma), say.",
        )
    return redraw  # type: ignore[no-any-return]


def _form(forms: tuple[Any, ...], form: Any, phi: FeatureMap, choices: Choices) -> Any:
    """The form that was asked for, or the first that suits."""
    if form is None:
        return next(one for one in forms if one is not None and one.suits(phi, choices))
    if not (
        isinstance(form, type)
        and issubclass(form, LinearAgent)
        and issubclass(form, Bootstrap) == (forms is BOOTSTRAPS)
    ):
        names = [one.__name__ for one in forms if one is not None]
        near = difflib.get_close_matches(str(form).title(), names, 1, 0.0)[0]
        checks.fail(
            f"form must be a class of agents, such as {', '.join(names)}",
            f"it is {form!r}",
            f"Leave it out for the fastest that the features allow, or pass form={near}.",
        )
    return form
