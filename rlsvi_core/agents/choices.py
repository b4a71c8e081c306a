"""What was chosen: how weights are fitted to data, and how the paper is read. Both are checked once,
when they are made."""

import math
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from .. import checks

Weights = Literal["per period", "shared"]
Redraw = Literal["never", "at repeats"] | int | Callable[[Any], Hashable]
Draws = Literal["per episode", "per sweep"]
InTargets = Literal["sample", "mean"]
Variance = Literal["known", "unknown"]
FirstEpisode = Literal["zero", "prior"]

UNBOUNDED = (-math.inf, math.inf)
MOST_SWEEPS = 10_000  # after so many, sweeps until nothing changes stop all the same


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How RLSVI is read where the paper's text, listings and footnotes differ or leave it open. The
    defaults are what is used here; the studies compare the others.

    Parameters
    ----------
    draws : {"per episode", "per sweep"}
        With ``"per episode"`` all fits of one weight vector in an episode use the same normal
        draws, so that they converge to one value function; with ``"per sweep"``, as printed, each
        fit has its own.
    targets : {"sample", "mean"}
        Put the ``"sample"`` (as printed) or the posterior ``"mean"`` into the targets.
    variance : {"known", "unknown"}
        ``"known"``, or ``"unknown"`` (appendix D.2; then σ is not used).
    lam_of_mean : float, optional
        Another λ for the mean alone, as Algorithm 11 prints it; None: the same.
    first_episode : {"zero", "prior"}
        ``"zero"`` is the footnote's rule: weights 0 before any data, so a uniformly random first
        episode. ``"prior"`` is Algorithm 1 alone, a draw from the prior.

    Examples
    --------
    >>> from rlsvi_core import chain, features, rlsvi
    >>> agent = rlsvi(features.tabular(chain(5)), reading=Reading(first_episode="prior"), rng=1)
    >>> agent.learn(chain(5), episodes=100, rng=2).reward.sum() > 20
    np.True_
    """

    draws: Draws = "per episode"
    targets: InTargets = "sample"
    variance: Variance = "known"
    lam_of_mean: float | None = None
    first_episode: FirstEpisode = "zero"

    def __post_init__(self) -> None:
        checks.one_of("draws", self.draws, get_args(Draws), hint="'per sweep' is as printed.")
        checks.one_of("targets", self.targets, get_args(InTargets), hint="'sample' is as printed.")
        checks.one_of(
            "variance", self.variance, get_args(Variance), hint="'unknown' is appendix D.2."
        )
        checks.one_of(
            "first_episode",
            self.first_episode,
            get_args(FirstEpisode),
            hint="'zero' is the footnote's rule, 'prior' Algorithm 1 as printed.",
        )
        if self.lam_of_mean is not None:
            checks.positive(lam_of_mean=self.lam_of_mean)


@dataclass(frozen=True, kw_only=True)
class Choices:
    """How weights are fitted. A name means the same in every form of an algorithm; a form that does
    not offer a choice refuses it. :func:`rlsvi_core.agents.rlsvi` explains the names.

    Parameters
    ----------
    gamma : float
        The discount γ in the targets.
    clip : tuple of float
        The range to which the next value in a target is clipped.
    weights : {"per period", "shared"}
        Whether each period has weights of its own.
    window : int, optional
        Transitions kept in each regression; None: all.
    sweeps : float
        Fits per episode without a horizon; a whole number or ``math.inf``.
    half_life : float
        ε is halved every so many episodes.
    redraw : {"never", "at repeats"}, int or callable
        When to draw again in mid-episode.
    reading : Reading
        How the paper is read.
    """

    gamma: float = 1.0
    clip: tuple[float, float] = UNBOUNDED
    weights: Weights = "per period"
    window: int | None = None
    sweeps: float = 1
    half_life: float = math.inf
    redraw: Redraw = "never"
    reading: Reading = Reading()

    def __post_init__(self) -> None:
        checks.instance("reading", self.reading, Reading, hint="Reading(targets='mean'), say.")
        hint = "It discounts what follows; 0 is a bandit."
        checks.set_fields(self, gamma=checks.between("gamma", self.gamma, 0, 1, hint=hint))
        checks.one_of(
            "weights", self.weights, get_args(Weights), hint="'per period' is the default."
        )
        if self.window is not None:
            hint = "It counts transitions; None keeps all."
            checks.set_fields(self, window=checks.whole("window", self.window, 1, hint=hint))
        self._check_sweeps()
        self._check_redraw()
        self._check_half_life()

    def _check_sweeps(self) -> None:
        if isinstance(self.sweeps, float) and self.sweeps == math.inf:
            if self.reading.draws == "per sweep":
                checks.fail(
                    "sweeps come to an end if they have the same draws",
                    "sweeps is inf and draws is 'per sweep'",
                    "Leave one of them out.",
                )
            return
        hint = "The paper fits once per episode; math.inf is as many as change something."
        sweeps = checks.whole("sweeps", self.sweeps, 1, MOST_SWEEPS, hint=hint)
        checks.set_fields(self, sweeps=sweeps)

    def _check_redraw(self) -> None:
        if isinstance(self.redraw, str):
            words = get_args(get_args(Redraw)[0])
            checks.one_of("redraw", self.redraw, words, hint="Or pass a number of steps.")
        elif not callable(self.redraw):
            hint = "It counts steps; or pass 'never', 'at repeats' or a function."
            checks.set_fields(self, redraw=checks.whole("redraw", self.redraw, 1, hint=hint))

    def _check_half_life(self) -> None:
        forever = isinstance(self.half_life, float) and self.half_life == math.inf
        if not forever and not (
            checks.is_number(self.half_life) and self.half_life > 1 / checks.LARGEST
        ):
            checks.fail(
                "half_life counts episodes and must be above 0",
                f"it is {self.half_life!r}",
                "Leave it out for a constant epsilon.",
            )
        checks.set_fields(self, half_life=float(self.half_life))

    def unsupported(self, offered: frozenset[str]) -> dict[str, object]:
        """What was chosen otherwise than by default, here or in the reading, and is not among the
        names offered."""
        default = _named(Choices())
        return {
            name: chosen
            for name, chosen in _named(self).items()
            if name not in offered and chosen != default[name]
        }


def _named(choices: Choices) -> dict[str, object]:
    """Every choice by its name, those of the reading too."""
    named = asdict(choices)
    named.update(named.pop("reading"))
    return named
