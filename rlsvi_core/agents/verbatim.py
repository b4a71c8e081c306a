r"""Algorithms 1, 3 and 7 as printed, for any feature map: rebuild A and b from all data, and fit.

This is the form to read and to trust. A transition :math:`(s_i, a_i, r_i, s_i')` is a row
:math:`\phi_i = \Phi(s_i, a_i)` of A and a target

.. math:: b_i = r_i + \gamma \max_\alpha (\Phi\theta^+)(s_i', \alpha),
    \qquad b_i = r_i \text{ if nothing follows},

of b. The three printed algorithms differ in how time is indexed, that is, in which transitions
enter a fit and whose weights :math:`\theta^+` stand in its targets:

- **per period** (Algorithms 1 and 3): H fits, from the last period backwards, each to the
  transitions of its own period with the weights of the next one;
- **shared**: the same H fits, each to the transitions of all periods; the last one's weights act;
- **stationary** (Algorithm 7, no horizon): ``sweeps`` fits to the last ``window`` transitions, with
  the weights of the fit before. (The paper prints the terminal test on :math:`s_i`, from which no
  action is ever taken; it belongs to :math:`s_i'`.)

RLSVI and LSVI differ in one line, sample or mean, and the linear bandit of appendix E (Algorithm
11) is RLSVI with :math:`\gamma = 0`. The cost grows with every transition. The fast forms are
siblings that give the same weights from the same draws at a cost that does not (``finite``,
``tabular``), or with arrays in place of lists (``stored``).
"""

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..compiled import Array, Floats
from ..regression import GaussianPosterior
from ..waiting import HELD
from .acting import positions, values
from .base import LinearAgent, repeated
from .mapped import MappedAgent
from .stored import StoredAgent


class Transition(NamedTuple):
    phi: Floats  # Φ(s, a)
    r: float
    following: Floats  # Φ(s', ·), one row per action; no rows if nothing follows


class VerbatimAgent(MappedAgent):
    """Keeps its transitions in a list and solves the printed problem before each episode. Supports
    every option of :func:`rlsvi_core.agents.rlsvi`."""

    MADE_FOR = "as printed"
    FASTER: tuple[type[LinearAgent], ...] = (*StoredAgent.FASTER, StoredAgent)
    OFFERS = LinearAgent.OFFERS | {
        "gamma",
        "clip",
        "weights",
        "window",
        "sweeps",
        "draws",
        "targets",
        "variance",
        "lam_of_mean",
        "half_life",
        "redraw",
    }

    def regression_problem(self, data: deque[Transition], after: Floats) -> tuple[Floats, Floats]:
        """The rows A and the targets b, what is known of Q moved over."""
        after, gamma = self._checked(data, after), self.choices.gamma
        low, high = self.choices.clip
        A, b = np.zeros((len(data), self.free)), np.zeros(len(data))
        for i, (phi, r, following) in enumerate(data):
            q = np.zeros(len(following))
            values(following, after, q)
            V = min(max(float(q.max()), low), high) if q.size else 0.0  # 0 where nothing follows
            # Algorithm 1, line 2; Algorithms 3 and 11, line 3; Algorithm 7, line 1
            A[i] = phi[: self.free]
            b[i] = r + gamma * V - phi[self.free :] @ self.features.known
        return A, b

    def fit(self, A: Floats, b: Floats, z: Floats, g: float) -> tuple[Floats, Floats]:
        """The posterior mean, and the weights to act on, drawn by the noise z (and g, for σ)."""
        sigma = 1.0 if self.reading.variance == "unknown" else self.sigma
        posterior = GaussianPosterior(self.free, self.lam, sigma).add_rows(A, b)
        mean = posterior.mean  # Algorithm 1, line 3; Algorithms 3 and 11, line 4; 7, line 2
        theta = posterior.draw(z, g) if self.sample else mean  # Algorithm 1, line 4; 7, 3; 11, 5
        if self.reading.lam_of_mean is not None:
            other = GaussianPosterior(self.free, self.reading.lam_of_mean, sigma)
            other.add_rows(A, b)
            return other.mean, other.mean + (theta - mean)
        return mean, theta

    def _estimate(self) -> None:
        """Algorithms 1, 3, 7 and 11."""
        in_targets = self.theta if self.reading.targets == "sample" else self.mean
        stationary, noise = self.H is None, None
        after = in_targets[0] if stationary else np.zeros_like(in_targets[0])  # 3 and 11, line 1
        fits = reversed(range(self.H or 0))  # Algorithm 1, line 1; Algorithms 3 and 11, line 2
        for fit in repeated(self.choices.sweeps, after) if stationary else fits:
            HELD.raise_late()
            h = 0 if stationary else fit
            data = self.data[h if self.apart else 0]
            if noise is None or self.apart or self.reading.draws == "per sweep":
                noise = self._noise(len(data))
            A, b = self.regression_problem(data, after)
            self.mean[h, : self.free], self.theta[h, : self.free] = self.fit(A, b, *noise)
            after = in_targets[h]
        if not self.apart:
            self.mean[:], self.theta[:] = self.mean[0], self.theta[0]

    def _allocate(self, K: int) -> None:
        if K == 0:
            checks.fail(
                "this form must know the number of features K",
                "the feature map does not say",
                "Give the map an attribute K.",
            )
        super()._allocate(K)

    def _no_data(self) -> deque[Transition]:
        return deque(maxlen=self.choices.window)

    def _checked(self, data: Any, after: Any) -> Floats:
        width = self.theta.shape[1]
        for one in data if isinstance(data, deque) else [data]:
            if not (
                isinstance(one, Transition)
                and np.shape(one.phi) == (width,)
                and np.shape(one.following)[1:] == (width,)
            ):
                checks.fail(
                    f"data are transitions with {width} features",
                    f"here is {one!r}",
                    "Pass agent.data[h].",
                )
        return checks.array("after", after, (width,), hint="Pass agent.theta[h].")

    def _row_values(self, h: int, s: Any) -> Floats:
        theta, rows = self.theta[self._period(h)], self._rows(self.features(h, s))
        q = np.empty(len(rows))
        values(rows, theta, q)
        return q

    def _rows(self, rows: Any) -> Floats:
        return checks.array(
            "features",
            rows,
            (None, self.theta.shape[1]),
            hint="A feature map returns a row of K features for each legal action.",
        )

    def _actions(self, h: int, s: Any) -> Array:
        return self.features.legal(h, s)

    def _keep(self, h: int, s: Any, at: int, r: float, s_next: Any | None, legal_next: Any) -> None:
        rows = self._rows(self.features(h, s))
        following = rows[:0]
        if s_next is not None:
            following = self._rows(self.features.following(h + 1, s_next))
            if legal_next is not None:
                following = following[positions(self._actions(h + 1, s_next), legal_next)]
        self.data[h if self.apart else 0].append(Transition(rows[at], r, following))
