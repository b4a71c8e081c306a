r"""The bootstrap where states are numbers and outcomes repeat.

In period h a pair :math:`(s, a)` has outcomes :math:`(r, s')`, each seen so many times. n equal data
with Exp(1) weights are one with a Gamma(n) weight, so an episode costs a gamma variate per distinct
outcome, however often it was seen. With the weights :math:`w_o` of the outcomes of a pair, put
:math:`W = \sum_o w_o` and :math:`Y = \sum_o w_o (r_o + \gamma\tilde V(s_o'))`. With one-hot features

.. math:: \tilde Q_h(s, a) = \frac{G_k t_k + Y}{G_k + W}, \qquad
    t_k = \underline V + (\overline V - \underline V) T_k ,

with k the pair itself, a Dirichlet draw over its outcomes and the imagined ones. With others, and
:math:`c(s, a)` the coefficients of ``spanning``,

.. math:: v_h = \Bigl(\sum_{s,a} W c^\top c + \text{diag}(G)\Bigr)^{-1}
    \Bigl(\sum_{s,a} Y c^\top + (G_k t_k)_k\Bigr), \qquad \tilde Q_h = C_h v_h .

The law is that of ``weighted``, and so are the values, given the weights of the outcomes. Without a
horizon there are sweeps with the same weights.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np

from .. import checks
from ..compiled import Array, Floats, Generator, Ints, jit
from ..episodes import Run, record_step
from ..features import FeatureMap, OneHot, Table
from ..mdp import FiniteMDP, Model, first_state, last_reward, step
from ..regression import solve, solve_transposed
from .acting import choose, highest
from .base import SETTLED
from .choices import MOST_SWEEPS, Choices
from .finite import Targets
from .spanning import spanners
from .states import ENDED, CompiledLoop
from .tabular import exact_values
from .weighted import Bootstrap, Draw, draw_visits

__all__ = ["TableBootstrap"]


class Outcomes(NamedTuple):
    """What was seen. The outcomes of (h, s, a) are a list, by next state and reward."""

    first: Ints  # (H, S, A) the first node of its list, or −1
    state: Ints  # (M,) of a node: the next state, or ENDED
    reward: Floats  # (M,)
    number: Floats  # (M,) how often it was seen
    link: Ints  # (M,) the next node, or −1
    used: Ints  # (1,) nodes in use


def no_outcomes(H: int, S: int, A: int) -> Outcomes:
    """Before any visit."""
    none = np.zeros(0, np.int64)
    return Outcomes(
        np.full((H, S, A), -1), none, np.zeros(0), np.zeros(0), none, np.zeros(1, np.int64)
    )


def with_capacity(seen: Outcomes, more: int) -> Outcomes:
    """The same with space for so many nodes more."""
    have, used = len(seen.state), int(seen.used[0])
    if used + more <= have:
        return seen
    extra = max(used + more - have, have)
    nodes = {name: np.pad(getattr(seen, name), (0, extra)) for name in NODES}
    return seen._replace(**nodes)


NODES = ("state", "reward", "number", "link")


@jit
def remember(seen: Outcomes, h: int, s: int, a: int, r: float, s_next: int) -> None:
    """Take in one transition."""
    before, node = -1, seen.first[h, s, a]
    while node >= 0 and (
        seen.state[node] < s_next or (seen.state[node] == s_next and seen.reward[node] < r)
    ):
        before, node = node, seen.link[node]
    if node < 0 or seen.state[node] != s_next or seen.reward[node] != r:
        new = seen.used[0]
        seen.used[0] += 1
        seen.state[new], seen.reward[new], seen.number[new] = s_next, r, 0.0
        seen.link[new] = node
        if before < 0:
            seen.first[h, s, a] = new
        else:
            seen.link[before] = new
        node = new
    seen.number[node] += 1.0


@jit
def draw_weights(seen: Outcomes, kappa: float, rng: Generator, draw: Draw) -> None:
    """Steps 1 and 2 of the algorithm."""
    for node in range(seen.used[0]):
        draw.data[node] = rng.standard_gamma(seen.number[node])
    draw_visits(kappa, rng, draw.visits, draw.share)


@jit
def _sums(seen: Outcomes, w: Floats, h: int, s: int, a: int, V: Floats) -> tuple[float, float]:
    """W and Y of a pair; V holds γṼ."""
    W, Y, node = 0.0, 0.0, seen.first[h, s, a]
    while node >= 0:
        W += w[node]
        Y += w[node] * seen.reward[node]
        if seen.state[node] != ENDED:
            Y += w[node] * V[seen.state[node]]
        node = seen.link[node]
    return W, Y


@jit
def _factorise(M: Floats) -> None:
    """Overwrite the upper half of M by U with U'U = M."""
    K = M.shape[0]
    for k in range(K):
        for i in range(k):
            u = M[i, k]
            for j in range(k, K):
                M[k, j] -= u * M[i, j]
        root = math.sqrt(M[k, k])
        for j in range(k, K):
            M[k, j] /= root


@jit
def _fit(
    seen: Outcomes,
    draw: Draw,
    C: Floats | None,
    targets: Targets,
    h: int,
    V: Floats,
    Q: Floats,
) -> None:
    """Step 3: set Q̃_h; V holds γṼ of what follows."""
    S, A = Q.shape[1:]
    low, width = targets.low, targets.high - targets.low
    if C is None:
        for s in range(S):
            for a in range(A):
                W, Y = _sums(seen, draw.data, h, s, a, V)
                k = s * A + a
                G, t = draw.visits[h, k], low + width * draw.share[h, k]
                Q[h, s, a] = (G * t + Y) / (G + W)
        return
    K = C.shape[3]
    M, x = np.zeros((K, K)), np.empty(K)
    for k in range(K):
        M[k, k] = draw.visits[h, k]
        x[k] = draw.visits[h, k] * (low + width * draw.share[h, k])
    for s in range(S):
        for a in range(A):
            if seen.first[h, s, a] >= 0:
                W, Y = _sums(seen, draw.data, h, s, a, V)
                c = C[h, s, a]
                for k in range(K):
                    x[k] += Y * c[k]
                    for j in range(k, K):
                        M[k, j] += W * c[k] * c[j]
    _factorise(M)
    solve_transposed(M, x)
    solve(M, x)
    for s in range(S):
        for a in range(A):
            value = 0.0
            for k in range(K):
                value += C[h, s, a, k] * x[k]
            Q[h, s, a] = value


@jit
def _look_ahead(Q: Floats, closed: Array | None, targets: Targets, h: int, V: Floats) -> None:
    """Step 4: γṼ_h, cut; what a mask has ``closed`` has the value −∞."""
    for s in range(V.shape[0]):
        if closed is not None:
            for a in range(Q.shape[2]):
                if closed[h, s, a]:
                    Q[h, s, a] = -np.inf
        V[s] = targets.gamma * min(max(highest(Q[h, s]), targets.low), targets.high)


@jit
def backwards(
    seen: Outcomes,
    draw: Draw,
    C: Floats | None,
    targets: Targets,
    closed: Array | None,
    Q: Floats,
) -> None:
    """Q̃ of all periods, from the last one."""
    V = np.zeros(Q.shape[1])
    for h in range(Q.shape[0] - 1, -1, -1):
        _fit(seen, draw, C, targets, h, V, Q)
        _look_ahead(Q, closed, targets, h, V)


@jit
def sweep(
    seen: Outcomes,
    draw: Draw,
    C: Floats | None,
    targets: Targets,
    closed: Array | None,
    sweeps: int,
    until_settled: bool,
    Q: Floats,
) -> None:
    """So many fits without a horizon, each with the values of the one before."""
    V, before = np.empty(Q.shape[1]), np.empty(Q.shape[1])
    _look_ahead(Q, closed, targets, 0, V)
    for _ in range(sweeps):
        before[:] = V
        _fit(seen, draw, C, targets, 0, V, Q)
        _look_ahead(Q, closed, targets, 0, V)
        change, largest = 0.0, 1.0
        for s in range(V.shape[0]):
            change, largest = max(change, abs(V[s] - before[s])), max(largest, abs(V[s]))
        if until_settled and change <= SETTLED * largest:
            break


@jit
def _learn(
    model: Model,
    seen: Outcomes,
    draw: Draw,
    kappa: float,
    C: Floats | None,
    targets: Targets,
    Q: Floats,
    exact: bool,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    H, p = Q.shape[0], np.empty(Q.shape)
    for i in range(run.reward.shape[0]):
        draw_weights(seen, kappa, agent_rng, draw)
        backwards(seen, draw, C, targets, None, Q)
        if exact:
            run.claimed[i], run.expected[i] = exact_values(model, Q, 0.0, 0.0, p)
        s = first_state(model, rng)
        run.furthest[i], run.length[i] = s, H
        for h in range(H):
            a = choose(Q[h, s], 0.0, 0.0, p[h, s], agent_rng.random())
            r, s_next = step(model, h, s, a, rng)
            if h == H - 1:
                r += last_reward(model, s_next, rng)
            remember(seen, h, s, a, r, s_next if h < H - 1 else ENDED)
            record_step(run, i, h, a, r, s_next)
            s = s_next


class TableBootstrap(Bootstrap, CompiledLoop):
    """Keeps outcomes and how often they were seen; the same interface and law as
    ``VerbatimBootstrap``, and the same values from the same weights.

    ``draw`` holds the weights of this episode: of outcomes, by their place in the lists, and
    of imagined visits.
    """

    OFFERS = Bootstrap.OFFERS - {"weights", "window"}
    takes_masks = True
    timeless = True

    @classmethod
    def suits(cls, features: FeatureMap, choices: Choices) -> bool:
        """Whether there is a table of features, and the choices are offered."""
        return isinstance(features, (OneHot, Table)) and super().suits(features, choices)

    def __init__(
        self, features: Any, value_range: tuple[float, float], kappa: float, **options: Any
    ) -> None:
        super().__init__(features, value_range, kappa, **options)
        periods, phi = self.H or 1, self.features
        self.C: Floats | None = None  # rows as combinations of pairs; None: they are these pairs
        if isinstance(phi, Table):
            pairs = spanners(phi, phi.K, True)
            self.C = np.array(
                [rows @ one.inverse for rows, one in zip(phi.Phi, pairs, strict=True)]
            )
        elif not isinstance(phi, OneHot):
            checks.fail(
                "TableBootstrap needs a table of features",
                f"features are {type(phi).__name__}",
                "Leave form out, or pass form=VerbatimBootstrap.",
            )
        self._Q = np.zeros((periods, self.S, self.A))
        self._seen = no_outcomes(*self._Q.shape)
        self.draw = Draw(np.zeros(0), *np.zeros((2, periods, phi.K)))

    @property
    def seen(self) -> Outcomes:
        """The outcomes."""
        return self._seen

    def _remember(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        self._seen = with_capacity(self._seen, 1)
        if self.H is not None and h == self.H - 1:
            s_next = ENDED  # nothing of value follows
        remember(self._seen, h, s, a, r, s_next)

    def _make_room(self) -> None:
        """A weight for each node there is room for."""
        if self.draw.data.size != self._seen.state.size:
            self.draw = self.draw._replace(data=np.zeros(self._seen.state.size))

    def _draw_weights(self) -> None:
        self._make_room()
        if self.sample:
            draw_weights(self._seen, self.kappa, self.rng, self.draw)
        else:
            self.draw.data[:], self.draw.visits[:] = self._seen.number, 2 * self.kappa
            self.draw.share[:] = 0.5

    def _estimate(self) -> None:
        self._draw_weights()
        problem = self._seen, self.draw, self.C, self._targets, self._closed
        if self.H is not None:
            backwards(*problem, self._Q)
            return
        settle = self.choices.sweeps == math.inf
        sweep(*problem, MOST_SWEEPS if settle else int(self.choices.sweeps), settle, self._Q)

    def _twin(self) -> Self:
        twin = super()._twin()
        twin._Q = self._Q.copy()
        twin.draw = Draw(*(np.zeros_like(one) for one in self.draw))
        return twin

    @property
    def Q(self) -> Floats:
        """The action values of this episode; −∞ where a mask forbids the action."""
        return self._Q.copy()

    def _values(self, h: int, s: int) -> Floats:
        return np.array(self._Q[self._period(h), checks.index("s", s, self.S)])

    def _close(self, h: int, s: int, legal: Any) -> None:
        super()._close(h, s, legal)
        if self._closed is not None:
            self._Q[h, s, self._closed[h, s]] = -np.inf  # before the next plan, too

    def act(self, h: int, s: int, legal: Any = None) -> int:
        h, s = self._period(h), checks.index("s", s, self.S)
        if self.episode < 0:
            self._warn_unplanned()
        if legal is not None or self._closed is not None:
            self._close(h, s, legal)
        self._redraw_if_due()
        return choose(self._Q[h, s], 0.0, 0.0, self._p, self.rng.random())

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        rng, run, exact = super()._prepare(env, episodes, rng, exact)
        if self.H is not None and isinstance(env, FiniteMDP):
            most = 4 * self._seen.first.size * env.model.successor.shape[3]  # two coins, of rewards
            self._seen = with_capacity(self._seen, min(len(run.reward) * self.H, most))
            self._make_room()
        return rng, run, exact

    def _learn(self, model: Model, exact: bool, rng: Generator, run: Run) -> None:
        _learn(
            model,
            self._seen,
            self.draw,
            self.kappa,
            self.C,
            self._targets,
            self._Q,
            exact,
            rng,
            self.rng,
            run,
        )
