r"""Section 6.3, appendix E: RLSVI for the recommendation engine, one small regression per product.

The basis is :math:`\phi_m(x, a) = 1\{a = m\}` and :math:`\phi_{mn}(x, a) = x_n 1\{a = m\}`,
:math:`K = N^2 + N` features per period: the map :class:`ProductFeatures`. Sorted by product, a row
is zero outside the block of its own product, so :math:`A^\top A` is block diagonal: K-dimensional
regression is N independent ones of dimension N + 1, with rows :math:`(1, x)`.
:class:`ProductLearner` keeps a triangular factor for each block and, for the targets, how often each
product led to each state. By :math:`x' = x \pm e_a` the pair (x', a) fixes row and reward, so

.. math:: (A^\top b)_a = c_a + \sum_{x'} n_h(x', a)\, \tilde V_{h+1}(x')\, (1, x' \mp e_a)^\top,

with one term for each state that ever followed. An episode's cost is bounded by the number of
states, not by the number of episodes.

``Agent(ProductLearner(N, J, lam, sigma))`` is RLSVI. LSVI is ``Agent(ProductLearner(N, J, lam),
sample=False)`` and dithers. The **linear contextual bandit** is RLSVI with :math:`\gamma = 0`: its
target is the reward alone.

Only products the customer has not seen are compared, in acting and in :math:`\tilde V`: the model has
no answer to a product shown again, so that is no action of the state, and Algorithms 1 and 2
maximise over the same actions. Four parameters make another choice, of which the first two are
misreadings (in the paper each period has a regression of its own):

- ``over_all``: a target's maximum is over all N products;
- ``shared``: the periods are pooled into one regression, swept H times, each time with another
  draw, and the last θ acts in every period;
- ``dislike=-1``: rewards are −1 and +1 instead of 0 and 1;
- ``lam_of_mean``: the mean has this λ, and ``lam`` is that of the covariance. As printed the bandit's
  mean has :math:`\lambda\sigma^2`, where the posterior of the paper's own model has :math:`\lambda`
  in both.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rlsvi_core import Learner
from rlsvi_core.envs.recommender import (
    Recommender,
    StateTable,
    check_state,
    count_states,
    enumerate_states,
    show_product,
)
from rlsvi_core.features import PerActionFeatures
from rlsvi_core.learners.base import Weights
from rlsvi_core.regression import add_row, fill_noise, fill_posterior_draw, solve_upper_transposed
from rlsvi_core.runtime import checks
from rlsvi_core.runtime.compilation import Array, Floats, Generator, Ints, jit, jit_inline
from rlsvi_core.runtime.loop import PlayRequest, fill_action_probabilities, max_value, sample_action

__all__ = ["ProductFeatures", "ProductLearner"]

NEGLIGIBLE = 1e-14  # states less likely than this are left out: an error below 1e-9 likes


class ProductFeatures(PerActionFeatures):
    """The basis of section 6.3: K = N² + N features, product by product, φ_a and then φ_an.

    Parameters
    ----------
    N, J : products, and how many of them a customer is shown.

    Examples
    --------
    >>> ProductFeatures(2, 2)(1, [0, 1]).tolist()
    [[1.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0, 1.0]]
    """

    def __init__(self, N: int, J: int) -> None:
        super().__init__(_one_and_answers, N, N + 1, J)


def _one_and_answers(x: Any) -> Floats:
    return np.append(1.0, x)


@jit_inline
def _fill_all_values(theta: Floats, x: Array, q: Floats) -> None:
    """Fill q with the values (1, x) · θ[:, a] of all products."""
    for a in range(q.shape[0]):
        q[a] = theta[0, a]
    for n in range(x.shape[0]):
        if x[n] != 0:
            for a in range(q.shape[0]):
                q[a] += x[n] * theta[1 + n, a]


@jit_inline
def _fill_unseen_values(theta: Floats, x: Array, q: Floats) -> None:
    """The same, with −∞ for those that the customer has seen."""
    _fill_all_values(theta, x, q)
    for a in range(q.shape[0]):
        if x[a] != 0:
            q[a] = -np.inf


@jit
def expected_likes(
    states: StateTable, P: Floats, theta: Floats, epsilon: float, eta: float
) -> float:
    """Expected likes of the policy of θ, pushing probability forward through all states."""
    x, start, following = states
    H, _, N = theta.shape
    q, p, mass, likes = np.empty(N), np.empty(N), np.zeros(x.shape[0] + 1), 0.0
    mass[0] = 1.0
    for h in range(H):
        for s in range(start[h], start[h + 1]):
            if mass[s] < NEGLIGIBLE:
                continue
            _fill_unseen_values(theta[h], x[s], q)
            fill_action_probabilities(q, epsilon, eta, p)
            for a in range(N):
                if p[a] > 0.0:
                    share = mass[s] * p[a]
                    likes += share * P[s, a]
                    mass[following[s, a, 0]] += share * (1.0 - P[s, a])
                    mass[following[s, a, 1]] += share * P[s, a]
    return likes


class ProductSums(NamedTuple):
    """Sufficient statistics. States that followed are nodes of a tree: from the root, one edge for
    each answer, in the order of the products."""

    U: Floats  # (F, T, N, N + 1, N + 2) factors of A'A + ridge, with U^{-T} Σ φ r appended
    child: Ints  # (M, 2N) the node after an answer on product n: dislike 2n, like 2n + 1
    x: Array  # (M, N) the state of a node
    times: Ints  # (M, N) how often each product was the last one before it
    followed: Ints  # (M, J) the nodes that ever followed period h
    number: Ints  # (J + 1,) how many those are; last, the nodes in use


class ProductRecord(NamedTuple):
    """What compiled code works on."""

    sums: ProductSums
    any: Array  # (1,) whether there are data
    noise: float  # σ, or 0 for the mean
    gamma: float
    over_all: bool
    dislike: float
    row: Floats  # scratch space
    theta: Floats  # (J, N + 1, N) the weights


@jit
def _find_or_add_state(sums: ProductSums, x: Array) -> int:
    """The node of state x, made if it is new."""
    node = 0
    for n in range(x.shape[0]):
        if x[n] != 0:
            edge = 2 * n + (x[n] > 0)
            if sums.child[node, edge] == 0:
                new = sums.number[-1]
                sums.number[-1] += 1
                sums.child[node, edge] = new
                sums.x[new] = sums.x[node]
                sums.x[new, n] = x[n]
            node = sums.child[node, edge]
    return node


@jit
def _add_answer(data: ProductRecord, h: int, before: Array, a: int, liked: bool) -> None:
    """Add one answer to the sums."""
    U, _, _, times, followed, number = data.sums
    N, t, row = before.shape[0], h if U.shape[1] > 1 else 0, data.row
    for f in range(U.shape[0]):
        row[0], row[N + 1] = 1.0, 1.0 if liked else data.dislike
        for n in range(N):
            row[1 + n] = before[n]
        add_row(U[f, t, a], row)
    if h < followed.shape[1] - 1:
        x = before.copy()
        x[a] = 1 if liked else -1
        node = _find_or_add_state(data.sums, x)
        if not times[node].any():
            followed[number[h], h] = node
            number[h] += 1
        times[node, a] += 1
    data.any[0] = True


@jit
def _add_next_values(data: ProductRecord, h: int, theta: Floats, q: Floats, b: Floats) -> None:
    """Add Σ_{x'} n_h(x', a) V(x') (1, x) to b_a, over the states x' that have followed period h;
    V is the maximum of the values that θ gives."""
    _, _, states, times, followed, number = data.sums
    N = q.shape[0]
    for i in range(number[h]):
        node = followed[i, h]
        x = states[node]
        if data.over_all:
            _fill_all_values(theta, x, q)
        else:
            _fill_unseen_values(theta, x, q)
        V = max_value(q)
        for a in range(N):
            if times[node, a] > 0:
                share = times[node, a] * V
                b[a, 0] += share
                for n in range(N):
                    b[a, 1 + n] += share * x[n]
    for a in range(N):
        b[a, 1 + a] = 0.0  # before product a was shown, x_a was 0


@jit
def _fit_products(data: ProductRecord, rng: Generator) -> None:
    """Algorithm 1 (noise = σ), Algorithm 3 (noise = 0), or, with γ = 0, Algorithm 11."""
    U, theta = data.sums.U, data.theta
    theta[:] = 0.0
    if not data.any[0]:
        return
    H, d, N = theta.shape
    apart, shared = U.shape[0] > 1, U.shape[1] < H  # two factors for two λ; one for all periods
    b, q, z = np.empty((N, d)), np.empty(N), np.zeros((H, N, d))
    extra, nothing = np.empty(d), np.zeros(d)
    if data.noise != 0.0:
        fill_noise(rng, z)
    for h in range(H - 1, -1, -1):
        b[:] = 0.0
        if data.gamma > 0.0 and h < H - 1:  # the one line that the bandit lacks
            for g in range(H - 1) if shared else range(h, h + 1):
                _add_next_values(data, g, theta[h + 1], q, b)
        for a in range(N):
            mean, spread, w = U[0, 0 if shared else h, a], U[-1, 0 if shared else h, a], b[a]
            if data.gamma > 0.0:
                for k in range(d):
                    w[k] *= data.gamma
                solve_upper_transposed(mean, w)
            fill_posterior_draw(mean, mean[:, d], 0.0 if apart else data.noise, z[H - 1 - h, a], w)
            if apart:
                extra[:] = 0.0
                fill_posterior_draw(spread, nothing, data.noise, z[H - 1 - h, a], extra)
                w += extra
            for k in range(d):
                theta[h, k, a] = w[k]
    if shared:
        for h in range(1, H):
            theta[h] = theta[0]


@jit
def _serve_customers(
    beta: Floats,
    gamma: Floats,
    states: StateTable,
    P: Floats,
    data: ProductRecord,
    task: PlayRequest,
) -> None:
    """Fit, serve a customer, add her answers, repeat."""
    exact, epsilon, eta = task.exact, task.epsilon, task.eta
    rng, own = task.rng, task.agent_rng
    count, run = task.counts, task.run
    H, _, N = data.theta.shape
    q, p, before, x = np.empty(N), np.empty(N), np.zeros(N, np.int8), np.zeros(N, np.int8)
    for i in range(run.reward.shape[0]):
        _fit_products(data, own)
        count[0] += 1
        if exact[i]:
            run.expected[i] = expected_likes(states, P, data.theta, epsilon[i], eta)
        x[:] = 0
        for h in range(H):
            _fill_unseen_values(data.theta[h], x, q)
            a = sample_action(q, epsilon[i], eta, p, own.random())
            before[:] = x
            liked = show_product(beta, gamma, x, a, rng)
            _add_answer(data, h, before, a, liked)
            count[1] += 1
            run.reward[i] += liked
            if h == 0:
                run.first_action[i], run.predicted_value[i] = a, max_value(q)
        run.length[i] = H


class CustomerLearner(Learner):
    """What learners share that serve customers in compiled code: ``serve``, given the customers'
    preferences, the states whose policies are evaluated, ``make_record(fitted, sample)`` and a
    task."""

    serve: Any
    make_record: Any

    def __init__(self, N: int, J: int) -> None:
        self.A = self.N = checks.check_integer("N", N, 1, hint="The paper has N=10 and J=5.")
        self.H = self.J = checks.check_integer(
            "J", J, 1, N, hint="A customer sees no product twice."
        )

    def compile_player(
        self, env: Any, limit: int | None
    ) -> Callable[[Weights, PlayRequest], None] | None:
        if type(env) is not Recommender or (env.N, env.J) != (self.N, self.J):
            return None

        def play(fitted: Weights, task: PlayRequest) -> None:
            some, P = enumerate_states(env.N, 1), checks.as_read_only(np.zeros((1, env.N)))
            if task.exact.any():  # else only the empty state is listed
                some, P = env.states, env.like_probabilities
            self.reserve(len(task.run.reward))
            self.serve(env.beta, env.gamma, some, P, self.make_record(fitted, task.sample), task)

        return play

    def reserve(self, customers: int) -> None:
        """Make room for so many more; nothing, by default."""

    def empty_fit(self) -> Weights:
        """Weights 0, with which all products tie."""
        return Weights(np.zeros((self.J, self.N + 1, self.N)))

    def values(self, fitted: Weights, h: int, s: Any) -> Floats:
        """Of products that the customer has seen, −∞."""
        q = np.empty(self.N)
        _fill_unseen_values(
            fitted.theta[checks.check_index("h", h, self.J)], check_state(s, h, self.N), q
        )
        return q


class ProductLearner(CustomerLearner):
    """Keeps sums, not data; weights θ_h and values Q_h(x, a) = (1, x) · θ_h[:, a].

    Parameters
    ----------
    N, J : products, and how many of them a customer is shown.
    lam, sigma, gamma : as for ``rlsvi_core.agents``; LSVI has σ = 1.
    over_all, shared, dislike, lam_of_mean : readings of the paper; see above.

    Examples
    --------
    >>> from rlsvi_core import Agent
    >>> customers = Recommender.random(rng=1, N=4, J=2)
    >>> agent = Agent(ProductLearner(4, 2, lam=0.2, sigma=0.03), rng=2)
    >>> run = agent.learn(customers, 200, rng=3)
    >>> agent
    Agent(ProductLearner(H=2, A=4), lam=0.2, sigma=0.03, gamma=1, by draws; 400 transitions seen)
    """

    serve = staticmethod(_serve_customers)

    def __init__(
        self,
        N: int,
        J: int,
        lam: float,
        sigma: float = 1.0,
        gamma: float = 1.0,
        *,
        over_all: bool = False,
        shared: bool = False,
        dislike: float = 0.0,
        lam_of_mean: float | None = None,
    ) -> None:
        super().__init__(N, J)
        checks.check_positive(lam=lam, sigma=sigma)
        self.lam, self.sigma, self.gamma = lam, sigma, gamma
        self.over_all, self.shared, self.dislike = over_all, shared, dislike
        number = np.zeros(J + 1, np.int64)
        number[-1] = 1  # the root
        blank, blocks = np.eye(N + 1, N + 2), (1 if shared else J, N, 1, 1)
        lams = (lam,) if lam_of_mean is None else (lam_of_mean, lam)
        self.sums = ProductSums(
            np.stack([np.tile(math.sqrt(one * sigma**2) * blank, blocks) for one in lams]),
            np.zeros((1, 2 * N), np.int64),
            np.zeros((1, N), np.int8),
            np.zeros((1, N), np.int64),
            np.zeros((1, J), np.int64),
            number,
        )
        self.any = np.zeros(1, bool)
        self._row: Floats = np.empty(N + 2)

    @property
    def settings(self) -> dict[str, str]:
        return {"lam": f"{self.lam:g}", "sigma": f"{self.sigma:g}"}

    def reserve(self, customers: int) -> None:
        """Make room for the nodes that so many customers can add."""
        used, have = int(self.sums.number[-1]), len(self.sums.x)
        wanted = min(used + customers * self.J**2 // 2, count_states(self.N, self.J))
        if wanted > have:
            grown = {
                name: np.pad(getattr(self.sums, name), ((0, max(wanted - have, have)), (0, 0)))
                for name in ("child", "x", "times", "followed")
            }
            self.sums = self.sums._replace(**grown)

    def make_record(self, fitted: Weights, sample: bool) -> ProductRecord:
        return ProductRecord(
            self.sums,
            self.any,
            self.sigma if sample else 0.0,
            self.gamma,
            self.over_all,
            self.dislike,
            self._row,
            fitted.theta,
        )

    def fit(self, rng: Generator | None, before: Weights | None) -> Weights:
        fitted = self.empty_fit()
        _fit_products(self.make_record(fitted, rng is not None), rng or np.random.default_rng(0))
        return fitted

    def add(
        self, h: int, s: Any, a: int, r: float, s_next: Any | None, legal_next: Any = None
    ) -> None:
        """r is 1 for a like, 0 for a dislike."""
        h, a = checks.check_index("h", h, self.J), checks.check_index("a", a, self.N)
        x = check_state(s, h, self.N)
        self.reserve(1)
        _add_answer(self.make_record(self.empty_fit(), False), h, x, a, bool(r))
