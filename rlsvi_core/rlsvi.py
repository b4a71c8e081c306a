r"""The entry points: ``rlsvi``, ``lsvi`` and ``bootstrap`` return an agent for any features.

RLSVI draws its weights from a posterior and acts greedily; LSVI takes the posterior mean and
dithers. Both generalise through a feature map. A transition :math:`(s_i, a_i, r_i, s_i')` is a row
:math:`\phi_i = \Phi(s_i, a_i)` of A and a target

.. math:: b_i = r_i + \gamma \max_\alpha (\Phi\theta^+)(s_i', \alpha),
    \qquad b_i = r_i \text{ if nothing follows},

of b. The printed algorithms differ in how time is indexed, that is, in which transitions enter a fit
and whose weights :math:`\theta^+` stand in its targets:

- **per period** (Algorithms 1 and 3): H fits, from the last period backwards, each to the
  transitions of its own period with the weights of the next one;
- **stationary** (Algorithm 7, no horizon): ``sweeps`` fits to the last ``window`` transitions, with
  the weights of the fit before. (The paper prints the terminal test on :math:`s_i`, from which no
  action is ever taken; it belongs to :math:`s_i'`.)

RLSVI and LSVI differ in one line, sample or mean, and the linear bandit of appendix E (Algorithm
11) is RLSVI with :math:`\gamma = 0`.

:mod:`rlsvi_core.algorithms` has the algorithms line by line. They rebuild A and b from all data, at
a cost that grows with every transition. The entry points take a learner that computes the same
weights from the same draws (:mod:`rlsvi_core.learners`): for a table or one-hot features at a cost
that does not grow, and for features computed on the fly at one that grows slower.

**Which λ and σ?** Pass the range of optimal values, ``value_range=(low, high)``, and scale features
to norm 1. The guide has what was measured, in one table of choices.
"""

import math
from typing import Any

from . import checks
from .agent import Agent, Epsilon, itself
from .compiled import Seed
from .features import FeatureMap, OneHot, Table
from .learner import Learner, Options, Problem
from .regression import suggest_parameters

__all__ = ["bootstrap", "lsvi", "rlsvi"]

RANGE = "Pass what the best policy earns from the worst state and from the best."


def _learner(problem: Problem) -> Learner:
    """What fits this problem fastest."""
    from .learners.counts import Counts
    from .learners.rows import Rows
    from .learners.sums import Sums

    phi = problem.features
    options = problem.options
    if options.window is None and isinstance(phi, OneHot):
        return Counts(problem)
    if options.window is None and isinstance(phi, Table):
        return Sums(problem)
    return Rows(problem)


def _problem(
    features: Any,
    lam: float | None,
    suggested: float,
    sigma: float,
    value_range: tuple[float, float] | None,
    H: int | None,
    gamma: float | None,
    options: Options,
) -> Problem:
    """What is fitted, checked; the defaults of time depend on whether there is a horizon."""
    phi = FeatureMap.of(features, H)
    unit = lam is None and value_range is not None
    lam = suggested if lam is None else lam
    if unit and isinstance(phi, Table):
        checks.mention_norm(phi.Phi)
    checks.positive(lam=lam, sigma=sigma)
    checks.instance("options", options, Options, hint="Pass Options(sweeps=1), say.")
    if phi.H is not None:
        for name in ("sweeps", "mean_sweeps", "redraw"):
            if getattr(options, name) is not None:
                checks.fail(
                    f"with a horizon there are no {name}; it is {getattr(options, name)!r}."
                )
    elif isinstance(phi, Table) and gamma is None:
        checks.fail(
            f"a table of shape {phi.Phi.shape[1:]} needs a horizon or a discount. Pass H or gamma."
        )
    if options.window is not None and isinstance(phi, OneHot):
        checks.fail(
            f"of {phi!r} counts are kept, no window of {options.window}. Pass it as an array."
        )
    if options.first == "prior" and not (phi.K and phi.A):
        checks.fail(
            f"a first draw from the prior takes known K and A; {phi!r} has {phi.K} and {phi.A}."
        )
    usual = 0.99 if phi.H is None else 1.0
    hint = "It discounts what follows; 0 is a bandit."
    gamma = checks.between("gamma", usual if gamma is None else gamma, 0, 1, hint=hint)
    low = -math.inf
    high = math.inf
    if value_range is not None:
        low, high = checks.pair("value_range", value_range, hint=RANGE)
    return Problem(phi, float(lam), float(sigma), gamma, low, high, options, unit)


def _redraw(problem: Problem) -> Any:
    """When to draw again in mid-episode; None: never."""
    redraw = problem.options.redraw
    if redraw is None and problem.features.H is None and isinstance(problem.features, OneHot):
        return itself
    return None if redraw == math.inf else redraw


def _refuse(entry: str, options: Options, *names: str) -> None:
    """For options that would be ignored."""
    for name in names:
        if (given := getattr(options, name)) != getattr(Options(), name):
            checks.fail(f"{entry} has no use for {name}; it is {given!r}. Leave it out.")


def rlsvi(
    features: Any,
    lam: float | None = None,
    sigma: float | None = None,
    *,
    value_range: tuple[float, float] | None = None,
    H: int | None = None,
    gamma: float | None = None,
    options: Options = Options(),  # noqa: B008, a constant
    rng: Seed = None,
) -> Agent:
    """Randomized least-squares value iteration: a posterior sample of the weights, greedy actions.

    With a horizon this is Algorithms 1 and 2, with weights of its own for each period. Without one
    it is Algorithms 7 and 8: one weight vector for all time, and a discount.

    Parameters
    ----------
    features : FeatureMap, array_like or callable
        What to generalise by: an (H, S, A, K) or (S, A, K) table, a function of the
        observation that returns (A, K) rows, or any
        :class:`rlsvi_core.features.maps.FeatureMap`, such as ``features.one_hot(H, S, A)``. An
        agent can be pickled if they can: a function of a module can, a lambda cannot.
    lam : float, optional
        Prior precision λ of a weight; 1, or what ``value_range`` suggests.
    sigma : float, optional
        Standard deviation σ of the noise in a target; 0.1, or what ``value_range`` suggests.
    value_range : tuple of float, optional
        The least and the largest optimal value: the (discounted) sum of rewards that the best
        policy earns on average from the worst state and from the best. Sets λ and σ by
        :func:`rlsvi_core.regression.suggest_parameters`, and next values are truncated to it.
        Where every step costs it ends at 0, as too wide a range can do as badly as none. A warning
        says so if the returns that are seen lie above it or far inside it; one that is wrong
        otherwise is silent.
    H : int, optional
        Number of periods, where features have none of their own.
    gamma : float, optional
        The discount γ in the targets: 1 with a horizon, 0.99 without; 0 is the bandit. An (S, A, K)
        table needs H or gamma.
    options : Options
        What one rarely sets: :class:`rlsvi_core.learner.Options`.
    rng : Generator, SeedSequence or int, optional
        The agent's own generator or its seed.

    Returns
    -------
    Agent
        With ``learn``, ``evaluate``, ``values``, ``mean_values``, ``greedy``, and ``plan``, ``act``
        and ``observe``.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(10)
    >>> agent = rlsvi(features.coherent(mdp.Q, K=5, rng=1), lam=1.0, sigma=0.1, rng=2)
    >>> agent.learn(mdp, episodes=500, rng=3).reward[-100:].mean() > 0.3
    np.True_
    """
    lam_0, sigma_0 = (1.0, 0.1) if value_range is None else suggest_parameters(value_range)
    problem = _problem(
        features,
        lam,
        lam_0,
        sigma_0 if sigma is None else sigma,
        value_range,
        H,
        gamma,
        options,
    )
    return Agent(_learner(problem), redraw=_redraw(problem), gamma=problem.gamma, rng=rng)


def lsvi(
    features: Any,
    lam: float | None = None,
    *,
    epsilon: Epsilon = 0.0,
    eta: float = 0.0,
    value_range: tuple[float, float] | None = None,
    H: int | None = None,
    gamma: float | None = None,
    options: Options = Options(),  # noqa: B008, a constant
    rng: Seed = None,
) -> Agent:
    """Least-squares value iteration (Algorithm 3): the posterior mean, and dithering.

    Parameters
    ----------
    features, value_range, H, gamma, options, rng
        As for :func:`rlsvi`.
    lam : float, optional
        The ridge; 1, or the λσ² that ``value_range`` suggests to RLSVI.
    epsilon : float or callable
        The probability of a uniformly random action (Algorithm 5), or a function of the episode,
        0, 1, …, that returns it.
    eta : float
        The temperature of a ∝ exp(Q/η) (Algorithm 4); 0 is the greedy limit.

    Returns
    -------
    Agent
        As :func:`rlsvi` returns it.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> lsvi(features.tabular(chain(5)), epsilon=0.1)
    Agent(Sums(H=4, S=5, A=2), lam=1, sigma=1, gamma=1, by the mean; 0 transitions seen)
    """
    _refuse("lsvi", options, "first")
    lam_0, sigma_0 = (1.0, 1.0) if value_range is None else suggest_parameters(value_range)
    problem = _problem(features, lam, lam_0 * sigma_0**2, 1.0, value_range, H, gamma, options)
    return Agent(
        _learner(problem),
        sample=False,
        epsilon=epsilon,
        eta=eta,
        redraw=problem.options.redraw,
        gamma=problem.gamma,
        rng=rng,
    )


def bootstrap(
    features: Any,
    value_range: tuple[float, float],
    kappa: float = 0.01,
    *,
    H: int | None = None,
    gamma: float | None = None,
    options: Options = Options(),  # noqa: B008, a constant
    rng: Seed = None,
) -> Agent:
    """Value iteration on a Bayesian bootstrap of the data, greedy actions: no λ, no σ.

    Instead of noise, transitions have random weights, and κ visits are imagined for each end of the
    range of values; :mod:`rlsvi_core.learners.bootstrap` explains the algorithm.

    Parameters
    ----------
    features, H, gamma, options, rng
        As for :func:`rlsvi`, with a table of features or one-hot ones; of the options ``first`` and
        ``window`` stay as they are. It does not matter in which units features are.
    value_range : tuple of float
        As for :func:`rlsvi`, the least and the largest optimal value; next values are truncated to
        it. The closer, the better; but where one random outcome decides an episode, the least and the
        largest return.
    kappa : float
        κ, how many visits are imagined at each of the two ends: 1 explores long, 0.01 believes
        nearly all that it saw. The guide has what was measured, and where RLSVI does better.

    Returns
    -------
    Agent
        As :func:`rlsvi` returns it.

    Examples
    --------
    >>> from rlsvi_core import chain, features
    >>> mdp = chain(10)
    >>> agent = bootstrap(features.coherent(mdp.Q, K=5, rng=1), (0, 1), rng=2)
    >>> agent.learn(mdp, episodes=500, rng=3).reward[-100:].mean() > 0.3
    np.True_
    """
    from .learners.bootstrap import Outcomes

    _refuse("bootstrap", options, "first", "window")
    checks.pair("value_range", value_range, hint=RANGE)
    problem = _problem(features, 1.0, 1.0, 1.0, value_range, H, gamma, options)
    return Agent(Outcomes(problem, kappa), redraw=_redraw(problem), gamma=problem.gamma, rng=rng)
