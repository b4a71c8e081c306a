r"""Section 6.3, appendix E: RLSVI for the recommendation engine, one small regression per product.

The basis is :math:`\phi_m(x, a) = 1\{a = m\}` and :math:`\phi_{mn}(x, a) = x_n 1\{a = m\}`,
:math:`K = N^2 + N` features per period: the map :class:`Products`. Sorted by product, a row is
zero outside the block of its own product, so :math:`A^\top A` is block diagonal: K-dimensional
regression is N independent ones of dimension N + 1, with rows :math:`(1, x)`. ``ProductAgent``
keeps a triangular factor for each block and, for the targets, how often each product led to each
state. By :math:`x' = x \pm e_a` the pair (x', a) fixes row and reward, so

.. math:: (A^\top b)_a = c_a + \sum_{x'} n_h(x', a)\, \tilde V_{h+1}(x')\, (1, x' \mp e_a)^\top,

with one term for each state that ever followed. An episode's cost is bounded by the number of
states, not by the number of episodes.

RLSVI samples the weights, LSVI takes their mean and dithers. The **linear contextual bandit** is
RLSVI with :math:`\gamma = 0`: its target is the reward alone. As printed its mean has the ridge
:math:`\lambda\sigma^2` where its covariance has :math:`\lambda`; the posterior of the paper's own
model has :math:`\lambda` in both. ``Reading(lam_of_mean=lam * sigma**2)`` is the printed one.

Only products the customer has not seen are compared, in acting and in :math:`\tilde V`. Three
switches undo a choice that the text leaves open: ``over="all"`` of the feature map lets the
target's maximum range over all N products, ``weights="shared"`` pools the periods into one
regression (swept H times, the last θ acting in every period), and ``dislike=-1`` codes rewards as
−1/+1 instead of 0/1.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import Generator

from rlsvi_core import checks
from rlsvi_core.agents.base import LinearAgent
from rlsvi_core.compiled import Array, Floats, Ints, jit
from rlsvi_core.envs.recommender import Recommender, checked_state, number_of_states
from rlsvi_core.episodes import Run
from rlsvi_core.features import FeatureMap
from rlsvi_core.kernels import (
    States,
    action_probabilities,
    add_row,
    answer,
    choose,
    draw,
    empty_run,
    fill_normal,
    highest,
    record_step,
    solve_transposed,
    states,
)
from rlsvi_core.waiting import HELD

__all__ = ["ProductAgent", "Products"]

NEGLIGIBLE = 1e-14  # states less likely than this are left out: an error below 1e-9 likes


@jit
def _choose(
    theta: Floats,
    x: Array,
    epsilon: float,
    eta: float,
    products: Ints,
    q: Floats,
    p: Floats,
    u: float,
) -> int:
    """Pick an unseen product by its value (1, x) · θ[:, a]."""
    N, count = x.shape[0], 0
    for a in range(N):
        if x[a] == 0:
            products[count], q[count] = a, theta[0, a]
            for n in range(N):
                if x[n] != 0:
                    q[count] += x[n] * theta[1 + n, a]
            count += 1
    return int(products[choose(q[:count], epsilon, eta, p[:count], u)])


@jit
def expected_likes(states: States, P: Floats, theta: Floats, epsilon: float, eta: float) -> float:
    """Expected likes of the policy of θ, pushing probability forward through all states."""
    x, products, start, following = states
    H, _, N = theta.shape
    q, p, mass, likes = np.empty(N), np.empty(N), np.zeros(x.shape[0] + 1), 0.0
    mass[0] = 1.0
    for h in range(H):
        left = N - h
        for s in range(start[h], start[h + 1]):
            if mass[s] < NEGLIGIBLE:
                continue
            for i in range(left):
                a = products[s, h + i]
                q[i] = theta[h, 0, a]
                for k in range(h):
                    n = products[s, k]
                    q[i] += x[s, n] * theta[h, 1 + n, a]
            action_probabilities(q[:left], epsilon, eta, p[:left])
            for i in range(left):
                a, share = products[s, h + i], mass[s] * p[i]
                likes += share * P[s, a]
                mass[following[s, a, 0]] += share * (1.0 - P[s, a])
                mass[following[s, a, 1]] += share * P[s, a]
    return likes


class Statistics(NamedTuple):
    """Sufficient statistics. States that followed are nodes of a tree: from the root, one edge for
    each answer, in the order of the products."""

    U: Array  # (F, T, N, N + 1, N + 2) factors of A'A + ridge, with U^{-T} Σ φ r appended
    child: Array  # (M, 2N) the node after an answer on product n: dislike 2n, like 2n + 1
    shown: Array  # (M, J) the products of a node
    sign: Array  # (M, J) the answers
    times: Array  # (M, J) how often each of its products was the last
    followed: Array  # (J, M) the nodes that ever followed period h
    number: Array  # (J + 1,) how many those are; last, the nodes in use


@jit
def _node(data: Statistics, x: Array) -> int:
    """The node of state x, made if it is new."""
    _, child, shown, sign, _, _, number = data
    node, depth = 0, 0
    for n in range(x.shape[0]):
        if x[n] != 0:
            edge = 2 * n + (x[n] > 0)
            if child[node, edge] == 0:
                new = number[-1]
                number[-1] += 1
                child[node, edge] = new
                for k in range(depth):
                    shown[new, k], sign[new, k] = shown[node, k], sign[node, k]
                shown[new, depth], sign[new, depth] = n, x[n]
            node = child[node, edge]
            depth += 1
    return node


@jit
def _observe(
    data: Statistics, x: Array, h: int, a: int, r: float, liked: bool, row: Floats
) -> None:
    """Add one answer to the sums; ``row`` is scratch space of length N + 2."""
    U, _, shown, _, times, followed, number = data
    N, t = x.shape[0], h if U.shape[1] > 1 else 0
    for f in range(U.shape[0]):
        row[0], row[N + 1] = 1.0, r
        for n in range(N):
            row[1 + n] = x[n]
        add_row(U[f, t, a], row)
    if h < shown.shape[1] - 1:
        x[a] = 1 if liked else -1
        node = _node(data, x)
        x[a] = 0
        total = 0
        for k in range(h + 1):
            total += times[node, k]
            if shown[node, k] == a:
                times[node, k] += 1
        if total == 0:
            followed[h, number[h]] = node
            number[h] += 1


class Fit(NamedTuple):
    """How the weights are fitted."""

    noise: float  # σ, or 0 for the mean
    gamma: float
    low: float  # the value of what follows is cut to [low, high]
    high: float
    everything: bool  # whether a target's maximum is over all products, not the unseen ones
    repeated: bool  # whether the fits of shared weights use the same draws


@jit
def _add_next_values(
    data: Statistics, theta: Floats, h: int, how: Fit, q: Floats, b: Floats
) -> None:
    """Add Σ_{x'} n_h(x', a) V(x') (1, x) to b_a, over the states x' that have followed period h;
    V is the maximum of the values that θ gives."""
    _, _, shown, sign, times, followed, number = data
    N = q.shape[0]
    for i in range(number[h]):
        node = followed[h, i]
        for a in range(N):
            q[a] = theta[0, a]
        for k in range(h + 1):
            n, answer = 1 + shown[node, k], sign[node, k]
            for a in range(N):
                q[a] += answer * theta[n, a]
        if not how.everything:
            for k in range(h + 1):
                q[shown[node, k]] = -np.inf
        V = min(max(highest(q), how.low), how.high)
        for k in range(h + 1):
            if times[node, k] > 0:
                share, target = times[node, k] * V, b[shown[node, k]]
                target[0] += share
                for j in range(h + 1):
                    if j != k:
                        target[1 + shown[node, j]] += share * sign[node, j]


@jit
def _estimate(data: Statistics, how: Fit, rng: Generator, theta: Floats) -> None:
    """Algorithm 1 (noise = σ), Algorithm 3 (noise = 0), or, with γ = 0, Algorithm 11."""
    U = data.U
    H, d, N = theta.shape
    apart, shared = U.shape[0] > 1, U.shape[1] < H  # two factors for two λ; one for all periods
    b, q, z = np.empty((N, d)), np.empty(N), np.zeros((1 if how.repeated else H, N, d))
    extra, nothing = np.empty(d), np.zeros(d)
    if how.noise != 0.0:
        fill_normal(rng, z)
    for h in range(H - 1, -1, -1):
        b[:] = 0.0
        noise = z[0 if how.repeated else H - 1 - h]
        if how.gamma > 0.0 and h < H - 1:  # the one line that the bandit lacks
            for g in range(H - 1) if shared else range(h, h + 1):
                _add_next_values(data, theta[h + 1], g, how, q, b)
        for a in range(N):
            mean, spread, w = U[0, 0 if shared else h, a], U[-1, 0 if shared else h, a], b[a]
            if how.gamma > 0.0:
                for k in range(d):
                    w[k] *= how.gamma
                solve_transposed(mean, w)
            draw(mean, mean[:, d], 0.0 if apart else how.noise, noise[a], w)
            if apart:
                extra[:] = 0.0
                draw(spread, nothing, how.noise, noise[a], extra)
                w += extra
            for k in range(d):
                theta[h, k, a] = w[k]
    if shared:
        for h in range(1, H):
            theta[h] = theta[0]


@jit
def _learn(
    beta: Floats,
    gamma: Floats,
    states: States,
    P: Floats,
    exact: Array,
    data: Statistics,
    theta: Floats,
    how: Fit,
    epsilon: float,
    eta: float,
    dislike: float,
    has_no_data: bool,
    rng: Generator,
    agent_rng: Generator,
    run: Run,
) -> None:
    H, d, N = theta.shape
    products, q, p, row = np.empty(N, np.int64), np.empty(N), np.empty(N), np.empty(d + 1)
    x = np.zeros(N, np.int8)
    for i in range(run.reward.shape[0]):
        if i > 0 or not has_no_data:
            _estimate(data, how, agent_rng, theta)
        if exact[i]:
            run.expected[i] = expected_likes(states, P, theta, epsilon, eta)
        x[:] = 0
        run.length[i], run.furthest[i] = H, -1
        for h in range(H):
            a = _choose(theta[h], x, epsilon, eta, products, q, p, agent_rng.random())
            liked = answer(beta, gamma, x, a, rng)
            x[a] = 0
            _observe(data, x, h, a, 1.0 if liked else dislike, liked, row)
            x[a] = 1 if liked else -1
            record_step(run, i, h, a, 1.0 if liked else 0.0, -1)


def exact_part(customers: Recommender, episodes: int, exact: Any) -> tuple[States, Floats, Array]:
    """States, P(a | x) and which episodes to evaluate; if none, only the empty state is listed."""
    wanted = np.asarray(exact)
    if wanted.dtype != np.bool_ or wanted.shape not in ((), (episodes,)):
        checks.fail(
            f"exact is True, False or one of them for each of {episodes} episodes",
            f"it is {exact!r}",
            "Leave it out to evaluate none.",
        )
    wanted = np.array(np.broadcast_to(wanted, episodes))
    if wanted.any():
        return customers.states, customers.P, wanted
    return states(customers.N, 1), np.zeros((1, customers.N)), wanted


def check_customers(customers: Any, N: int, J: int) -> None:
    if not isinstance(customers, Recommender) or (customers.N, customers.J) != (N, J):
        checks.fail(
            f"the agent is for customers with (N, J) = {(N, J)}",
            f"the environment is {customers!r}",
            "Make one agent for each size.",
        )


class ProductAgent(LinearAgent):
    """Keeps sums, not data; weights θ_h and values Q_h(x, a) = (1, x) · θ_h[:, a]. ``dislike`` is
    the reward that the regression sees for one."""

    OFFERS = LinearAgent.OFFERS | {"gamma", "clip", "weights", "draws", "lam_of_mean"}
    dislike = 0.0

    def __init__(self, features: "Products", lam: float, sigma: float, **options: Any) -> None:
        checks.instance("features", features, Products, hint="Products(10, 5) makes the paper's.")
        super().__init__(features, lam, sigma, **options)
        self.N, self.J = features.N, features.J
        self.theta = np.zeros((self.J, self.N + 1, self.N))
        mean, shared = self.reading.lam_of_mean, self.choices.weights == "shared"
        self._fit = Fit(
            self.sigma if self.sample else 0.0,
            self.choices.gamma,
            *self.choices.clip,
            features.over == "all",
            shared and self.reading.draws == "per episode",
        )
        lams = (lam,) if mean is None else (mean, lam)
        N, J, T = self.N, self.J, 1 if shared else self.J
        U = [
            np.tile(math.sqrt(one * sigma**2) * np.eye(N + 1, N + 2), (T, N, 1, 1)) for one in lams
        ]
        number = np.zeros(J + 1, np.int64)
        number[-1] = 1  # the root
        self._data = Statistics(
            np.stack(U),
            np.zeros((0, 2 * N), np.int64),
            np.zeros((0, J), np.int64),
            np.zeros((0, J)),
            np.zeros((0, J), np.int64),
            np.zeros((J, 0), np.int64),
            number,
        )

    def _reserve(self, episodes: int) -> None:
        """Make room for the nodes that so many customers can add."""
        data, used = self._data, int(self._data.number[-1])
        new = min(used + episodes * self.J * self.J // 2, number_of_states(self.N, self.J))
        if new <= len(data.child):
            return
        room = max(new, min(2 * used, number_of_states(self.N, self.J))) - len(data.child)
        grown = {
            name: np.pad(getattr(data, name), ((0, room), (0, 0)))
            for name in ("child", "shown", "sign", "times")
        }
        self._data = data._replace(**grown, followed=np.pad(data.followed, ((0, 0), (0, room))))

    def _estimate(self) -> None:
        _estimate(self._data, self._fit, self.rng, self.theta)

    def _twin(self) -> Self:
        twin = super()._twin()
        twin.theta, twin._fit = np.zeros_like(self.theta), self._fit._replace(noise=0.0)
        return twin

    def _values(self, h: int, s: Any) -> Floats:
        h = checks.index("h", h, self.J)
        x = checked_state(s, h, self.N)
        return np.where(x == 0, self.theta[h, 0] + x @ self.theta[h, 1:], -np.inf)

    def act(self, h: int, s: Any, legal: Any = None) -> int:
        """Choose a product for a customer in state s = x who has seen h of them."""
        self._refuse_mask(legal)
        h, N = checks.index("h", h, self.J), self.N
        x = checked_state(s, h, N)
        return _choose(
            self.theta[h],
            x,
            self.epsilon,
            self.eta,
            np.empty(N, np.int64),
            np.empty(N),
            np.empty(N),
            self.rng.random(),
        )

    def observe(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        """Take in one answer: r is 1 for a like, 0 for a dislike."""
        self._refuse_mask(legal_next)
        h, a = checks.index("h", h, self.J), checks.index("a", a, self.N)
        checks.one_of("r", r, (0, 1), hint="It counts likes.")
        x = checked_state(s, h, self.N)
        if x[a] != 0:
            checks.fail(
                "a product is shown once",
                f"x[{a}] is {x[a]}",
                "Copy x before the customer answers.",
            )
        self._reserve(1)
        r = 1.0 if r else self.dislike
        with HELD:
            _observe(self._data, x, h, a, r, r == 1.0, np.empty(self.N + 2))
            self.transitions += 1
            self._returns.add_reward(h, r, h + 1 == self.J)

    def _prepare(self, env: Any, episodes: int, rng: Any, exact: Any) -> tuple[Generator, Run, Any]:
        """``exact`` may be an array that marks the episodes to evaluate."""
        check_customers(env, self.N, self.J)
        run = empty_run(episodes)
        wanted = exact_part(env, len(run.reward), exact)[2]
        self._reserve(len(run.reward))
        return checks.generator(rng), run, wanted if wanted.any() else False

    def _play(self, env: Recommender, exact: Any, rng: Generator, run: Run, start: int) -> None:
        episodes = len(run.reward)
        wanted = exact if exact is False else exact[start : start + episodes]
        _learn(
            env.beta,
            env.gamma,
            *exact_part(env, episodes, wanted),
            self._data,
            self.theta,
            self._fit,
            self.epsilon,
            self.eta,
            self.dislike,
            self.has_no_data,
            rng,
            self.rng,
            run,
        )
        self.transitions += episodes * self.J
        self._returns.add_episodes(run.reward + self.dislike * (self.J - run.reward))


class Products(FeatureMap):
    """The basis of section 6.3: K = N² + N features, product by product, φ_a and then φ_an.

    Parameters
    ----------
    N, J : products, and how many of them a customer is shown.
    over : whether a target's maximum is over the ``"unseen"`` products or over ``"all"``.

    Examples
    --------
    >>> Products(2, 1)(0, [0, 0]).tolist()
    [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]]
    """

    fast = ProductAgent

    def __init__(self, N: int, J: int, over: str = "unseen") -> None:
        self.N = checks.whole("N", N, 1, hint="The paper has N=10 and J=5.")
        self.J = self.H = checks.whole("J", J, 1, self.N, hint="A customer sees no product twice.")
        checks.one_of("over", over, ("unseen", "all"), hint="The first is the default.")
        self.over, self.K, self.A = over, self.N * (self.N + 1), self.N
        checks.array_size("the weights", self.J, self.K)

    def _rows(self, s: Any, actions: Array) -> Floats:
        rows = np.zeros((len(actions), self.N, self.N + 1))
        rows[np.arange(len(actions)), actions] = [1, *s]
        return rows.reshape(len(actions), -1)

    def legal(self, h: int, s: Any) -> Array:
        """The products that she has not seen."""
        return np.flatnonzero(self._checked(s) == 0)

    def _checked(self, s: Any) -> Array:
        x = checks.array("x", s, (self.N,), hint="It has an answer −1, 0 or 1 for each product.")
        checks.none_of(~np.isin(x, (-1, 0, 1)), "answers are −1, 0 or 1", "x", x, "0 is unseen.")
        return x

    def __call__(self, h: int, s: Any) -> Floats:
        return self._rows(self._checked(s), self.legal(h, s))

    def following(self, h: int, s: Any) -> Floats:
        """The rows of the unseen products, or of all."""
        return self._rows(self._checked(s), np.arange(self.N)) if self.over == "all" else self(h, s)
