"""What was chosen: how weights are fitted to data, in the words of :func:`rlsvi_core.agents.rlsvi`."""

import math
from typing import NamedTuple

from .. import checks


class Choices(NamedTuple):
    """How weights are fitted. A name means the same in every form of an algorithm; a form that does
    not offer a choice refuses it. :func:`rlsvi_core.agents.rlsvi` explains the names."""

    gamma: float = 1.0
    clip: tuple[float, float] = (-math.inf, math.inf)
    weights: str = "per period"
    window: int | None = None
    sweeps: float = 1
    draws: str = "per episode"
    targets: str = "sample"
    variance: str = "known"
    lam_of_mean: float | None = None
    half_life: float = math.inf
    redraw: str | int = "never"

    def checked(self) -> "Choices":
        """The same choices, refused if one of them cannot be."""
        gamma = checks.between(
            "gamma", self.gamma, 0, 1, hint="It discounts what follows; 0 is a bandit."
        )
        checks.one_of(
            "weights", self.weights, ("per period", "shared"), hint="The first is the default."
        )
        window = (
            self.window
            if self.window is None
            else checks.whole(
                "window", self.window, 1, hint="It counts transitions; None keeps all."
            )
        )
        sweeps = (
            self.sweeps
            if self.sweeps == math.inf
            else checks.whole(
                "sweeps",
                self.sweeps,
                1,
                hint="The paper fits once per episode; math.inf is as many as change something.",
            )
        )
        checks.one_of(
            "draws", self.draws, ("per sweep", "per episode"), hint="The first is as printed."
        )
        if sweeps == math.inf and self.draws == "per sweep":
            checks.fail(
                "sweeps come to an end if they have the same draws",
                "sweeps is inf and draws is 'per sweep'",
                "Leave one of them out.",
            )
        checks.one_of("targets", self.targets, ("sample", "mean"), hint="'sample' is as printed.")
        checks.one_of(
            "variance", self.variance, ("known", "unknown"), hint="'unknown' is appendix D.2."
        )
        redraw = self.redraw
        if isinstance(redraw, str):
            checks.one_of(
                "redraw", redraw, ("never", "at repeats"), hint="Or pass a number of steps."
            )
        else:
            redraw = checks.whole(
                "redraw", redraw, 1, hint="It counts steps; or pass 'never' or 'at repeats'."
            )
        if self.lam_of_mean is not None:
            checks.positive(lam_of_mean=self.lam_of_mean)
        if not (isinstance(self.half_life, float) and self.half_life == math.inf) and not (
            checks.is_number(self.half_life) and self.half_life > 1 / checks.LARGEST
        ):
            checks.fail(
                "half_life counts episodes and must be above 0",
                f"it is {self.half_life!r}",
                "Leave it out for a constant epsilon.",
            )
        return self._replace(
            gamma=gamma,
            window=window,
            sweeps=sweeps,
            redraw=redraw,
            half_life=float(self.half_life),
        )

    def beyond(self, offered: frozenset[str]) -> list[str]:
        """The names chosen otherwise than by default that are not among those offered."""
        return [
            name
            for name, default in self._field_defaults.items()
            if name not in offered and getattr(self, name) != default
        ]
