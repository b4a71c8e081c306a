r"""Section 6.3: least-squares agents for the recommendation engine, one small regression a product.

The basis is :math:`\phi_m(x, a) = 1\{a = m\}` and :math:`\phi_{mn}(x, a) = x_n 1\{a = m\}`,
:math:`K = N^2 + N` features a period. Sorted by product, a row is zero outside the block of its own
product, so :math:`A^\top A` is block diagonal: K-dimensional regression is N independent ones
of dimension N + 1, with rows :math:`(1, x)`. Two forms, the same weights from the same draws:

- ``DenseAgent`` rebuilds A and b from all data and solves with K columns, as printed;
- ``BlockAgent`` keeps a triangular factor for each block and, for the targets, how often each
  product led to each state. By :math:`x' = x \pm e_a` the pair (x', a) fixes row and reward, so

  .. math:: (A^\top b)_a = c_a + \sum_{x'} n_h(x', a)\, \tilde V_{h+1}(x')\, (1, x' \mp e_a)^\top,

  with one term for each state that ever followed. An episode's cost is bounded by the number of
  states, not by the number of episodes.

One posterior, many algorithms: RLSVI samples the weights, LSVI takes their mean and dithers, the
linear bandit (``bandits``) is RLSVI without :math:`\tilde V_{h+1}`. Only products the customer has
not seen are compared, in acting and in :math:`\tilde V`. Three switches undo a choice that the
text leaves open: ``over="all"`` lets the target's maximum range over all N products,
``weights="shared"`` pools the periods into one regression (swept H times, the last θ acting in
every period), and ``dislike=-1`` codes rewards as −1/+1 instead of 0/1.
"""

import math
from abc import ABC, abstractmethod
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from ..compiled import jit
from ..envs.recommender import Recommender, States, answer, number_of_states
from ..mdp import draw
from ..regression import add_row, check_positive, solve, solve_transposed
from .base import action_probabilities
from .verbatim import posterior

NEGLIGIBLE = 1e-14  # states less likely than this are left out: an error below 1e-9 likes


class Run(NamedTuple):
    """What a stretch of learning did, one entry an episode."""

    likes: np.ndarray  # realised
    expected: np.ndarray  # exact expected likes of the policy that was played
    opening: np.ndarray  # the product shown first


@jit
def _choose(theta, x, epsilon, eta, products, q, p, rng):
    """Draw an unseen product by its value (1, x) · θ[:, a]."""
    N, count = x.shape[0], 0
    for a in range(N):
        if x[a] == 0:
            products[count], q[count] = a, theta[0, a]
            for n in range(N):
                if x[n] != 0:
                    q[count] += x[n] * theta[1 + n, a]
            count += 1
    action_probabilities(q[:count], epsilon, eta, p[:count])
    return products[draw(p[:count], rng.random())]


@jit
def _values(theta, inverse, products, h, multiply, q):
    """Fill q[i, j] with the value of unseen product i after the answers j on a set of products.

    A value is a sum of weights, each with its answer's sign; each further product doubles the row.
    exp(Q/η) is a product of factors or their inverses in the same way.
    """
    for i in range(products.shape[0] - h):
        a, row = products[h + i], q[i]
        row[0] = theta[0, a]
        for k in range(h):
            half, like, dislike = 1 << k, theta[1 + products[k], a], inverse[1 + products[k], a]
            for j in range(half):
                row[half + j] = row[j] * like if multiply else row[j] + like
                row[j] = row[j] * dislike if multiply else row[j] + dislike


@jit
def _softmax_numerators(q, size, eta):
    """Turn values into e^{(Q − max Q)/η}, or into marks on the maximisers if η = 0."""
    for j in range(size):
        top = -np.inf
        for i in range(q.shape[0]):
            top = max(top, q[i, j])
        for i in range(q.shape[0]):
            if eta > 0.0:
                q[i, j] = math.exp((q[i, j] - top) / eta)
            else:
                q[i, j] = 1.0 if q[i, j] == top else 0.0


@jit
def expected_likes(states, P, theta, epsilon, eta, mass):
    """Expected likes of the policy of θ, pushing probability forward; ``mass`` is scratch.

    The law of an action is that of ``action_probabilities``, for all answers on a set at once.
    """
    _, products, start, following = states
    H, _, N = theta.shape
    q, scale, likes = np.empty((N, 1 << H)), np.empty(1 << H), np.zeros(1 << H)
    mass[:] = 0.0
    mass[0] = 1.0
    for h in range(H):
        size, floor = 1 << h, epsilon / (N - h)
        # Where it cannot overflow, exp(Q/η) is a product of factors: few exponentials.
        multiply = eta > 0.0 and epsilon == 0.0 and np.abs(theta[h]).max() * (h + 1) < 300 * eta
        weights = np.exp(theta[h] / eta) if multiply else theta[h]
        inverse = 1.0 / weights if multiply else -weights
        for first in range(start[h], start[h + 1], size):
            busy = False
            for s in range(first, first + size):
                busy |= mass[s] >= NEGLIGIBLE
            if not busy:
                continue
            _values(weights, inverse, products[first], h, multiply, q)
            if not multiply:
                _softmax_numerators(q[:N - h], size, eta)
            scale[:size] = 0.0
            for i in range(N - h):
                for j in range(size):
                    scale[j] += q[i, j]
            for j in range(size):
                scale[j] = (1.0 - epsilon) / scale[j]
            for i in range(N - h):
                a = products[first, h + i]
                for j in range(size):
                    q[i, j] = mass[first + j] * (floor + scale[j] * q[i, j])
                    likes[j] += q[i, j] * P[first + j, a]
                if h < H - 1:
                    for j in range(size):
                        s = first + j
                        mass[following[s, a, 0]] += q[i, j] * (1.0 - P[s, a])
                        mass[following[s, a, 1]] += q[i, j] * P[s, a]
    return likes.sum()


@jit
def greedy_likes(states, P, theta):
    """The same for greedy actions, over the 2^H − 1 states they reach; −1 if there is a tie."""
    x, products, _, following = states
    H, _, N = theta.shape
    here, there = np.zeros(1 << H, np.int64), np.zeros(1 << H, np.int64)
    mass, share = np.ones(1 << H), np.ones(1 << H)
    likes = 0.0
    for h in range(H):
        for j in range(1 << h):
            s, best, top, tied = here[j], 0, -np.inf, False
            for i in range(h, N):
                a = products[s, i]
                value = theta[h, 0, a]
                for k in range(h):
                    value += x[s, products[s, k]] * theta[h, 1 + products[s, k], a]
                tied = value == top or (tied and value < top)
                if value > top:
                    best, top = a, value
            if tied:
                return -1.0
            p = P[s, best]
            likes += mass[j] * p
            there[2 * j], there[2 * j + 1] = following[s, best, 0], following[s, best, 1]
            share[2 * j], share[2 * j + 1] = mass[j] * (1.0 - p), mass[j] * p
        here, there, mass, share = there, here, share, mass
    return likes


@jit
def evaluate(states, P, theta, epsilon, eta, mass):
    """Expected likes, by the cheaper way where there is one."""
    likes = greedy_likes(states, P, theta) if epsilon == 0.0 and eta == 0.0 else -1.0
    return likes if likes >= 0.0 else expected_likes(states, P, theta, epsilon, eta, mass)


class BasisAgent(ABC):
    """An agent with weights θ_h and values Q_h(x, a) = (1, x) · θ_h[:, a]: N products, J periods.

    ``plan()`` before each customer, ``act(x)`` for a product, ``observe(x, a, liked)`` after her
    answer; ``learn`` does all of this. The period is the number of products she has seen.
    ``ridges`` are added to A'A: one for all, or one for the mean and one for the noise.
    """

    def __init__(self, N: int, J: int, ridges: tuple[float, ...], noise: float, *,
                 bootstrap: bool = True, epsilon: float = 0.0, eta: float = 0.0,
                 dislike: float = 0.0, over: Literal["unseen", "all"] = "unseen",
                 weights: Literal["per period", "shared"] = "per period", rng=None):
        for name, value in (("N", N), ("J", J)):
            if not (isinstance(value, (int, np.integer)) and 1 <= value <= N):
                raise ValueError(f"{name} must be a whole number from 1 to N; it is {value!r}. "
                                 f"The paper has N=10 and J=5.")
        if not (0 <= epsilon <= 1 and 0 <= eta < math.inf and epsilon * eta == 0):
            raise ValueError(f"dither by a probability epsilon or a temperature eta, not both; "
                             f"epsilon is {epsilon!r} and eta {eta!r}. 0 is greedy.")
        if over not in ("unseen", "all") or weights not in ("per period", "shared"):
            raise ValueError(f"over is 'unseen' or 'all', weights 'per period' or 'shared'; they "
                             f"are {over!r} and {weights!r}. The first of each is the default.")
        self.N, self.J, self.ridges, self.noise, self.bootstrap = N, J, ridges, noise, bootstrap
        self.epsilon, self.eta, self.dislike = float(epsilon), float(eta), float(dislike)
        self.over, self.weights = over, weights
        self.rng = np.random.default_rng(rng)
        self.theta = np.zeros((J, N + 1, N))
        self.transitions = 0

    @abstractmethod
    def _estimate(self) -> None:
        """Set theta from the data of all customers so far."""

    @abstractmethod
    def _remember(self, x: np.ndarray, a: int, liked: bool) -> None:
        """Take in one answer."""

    def plan(self) -> None:
        """Fix the weights for the next customer; θ = 0 for the first, as in the footnote."""
        if self.transitions > 0:
            self._estimate()

    def act(self, x) -> int:
        """Choose a product for a customer in state x."""
        N, h = self.N, np.count_nonzero(x)
        return int(_choose(self.theta[h], np.asarray(x, np.int8), self.epsilon, self.eta,
                           np.empty(N, np.int64), np.empty(N), np.empty(N), self.rng))

    def observe(self, x, a: int, liked: bool) -> None:
        x = np.asarray(x, np.int8)
        if x.shape != (self.N,) or np.count_nonzero(x) >= self.J or x[a] != 0:
            raise ValueError(f"observe needs the state before the product was shown: fewer than "
                             f"J={self.J} answers and x[{a}] = 0; x is {x.tolist()}. Copy x "
                             f"before the customer answers.")
        self._remember(x, a, liked)
        self.transitions += 1

    def learn(self, customers: Recommender, episodes: int, rng=None, *,
              exact: bool | np.ndarray = False) -> Run:
        """Plan, serve a customer, remember her answers, repeat. Call it again to go on.

        ``exact=True`` evaluates each episode's policy over all states it can reach; an array says
        for which episodes. ``expected`` is NaN for the others.
        """
        self._check_fits(customers)
        rng, run = np.random.default_rng(rng), _blank(episodes)
        states, P, exact = _exact_part(customers, episodes, exact)
        mass = np.empty(len(states.x) + 1)
        for i in range(episodes):
            self.plan()
            if exact[i]:
                run.expected[i] = evaluate(states, P, self.theta, self.epsilon, self.eta, mass)
            x = np.zeros(self.N, np.int8)
            for h in range(self.J):
                a, before = self.act(x), x
                liked, x = customers.show(x, a, rng)
                self.observe(before, a, liked)
                run.likes[i] += liked
                run.opening[i] = a if h == 0 else run.opening[i]
        return run

    def _check_fits(self, customers: Recommender) -> None:
        if (customers.N, customers.J) != (self.N, self.J):
            raise ValueError(f"the agent is for (N, J) = {(self.N, self.J)}; these customers have "
                             f"{(customers.N, customers.J)}. Make one agent for each size.")


def _blank(episodes: int) -> Run:
    return Run(np.zeros(episodes), np.full(episodes, np.nan), np.zeros(episodes, np.int64))


def _exact_part(customers: Recommender, episodes: int, exact) -> tuple:
    """States, P(a | x) and which episodes to evaluate; nothing is enumerated if none is."""
    exact = np.broadcast_to(exact, episodes).astype(np.bool_)
    if exact.any():
        return customers.states, customers.P, exact
    nothing = np.zeros((0, customers.N))
    return (States(nothing.astype(np.int8), nothing.astype(np.int64), np.zeros(1, np.int64),
                   np.zeros((0, customers.N, 2), np.int32)), nothing, exact)


# --------------------------------------------------------------------------- as printed

def features(X: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Rows of K = N² + N features, product by product: φ_a and then φ_an for all n."""
    rows = np.zeros((len(X), X.shape[1], X.shape[1] + 1))
    rows[np.arange(len(X)), a] = np.column_stack([np.ones(len(X)), X])
    return rows.reshape(len(X), -1)


class DenseAgent(BasisAgent):
    """Keeps every answer and solves the printed K-dimensional problem before each customer."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._data = [([], [], [], []) for _ in range(self.J)]

    def _remember(self, x, a, liked):
        after = x.copy()
        after[a] = 1 if liked else -1
        reward = 1.0 if liked else self.dislike
        for column, value in zip(self._data[np.count_nonzero(x)], (x, a, reward, after),
                                 strict=True):
            column.append(value)

    def _next_values(self, theta, X):
        """Ṽ(x) = max_a Q(x, a), over unseen products or over all."""
        Q = theta[0] + X @ theta[1:]
        return (Q if self.over == "all" else np.where(X == 0, Q, -np.inf)).max(axis=1)

    def _estimate(self):
        sigma, z = self.noise or 1.0, np.zeros(self.theta[0].size)
        theta = np.zeros_like(self.theta)
        for h in reversed(range(self.J)):
            rows = []
            for t in (range(self.J) if self.weights == "shared" else (h,)):
                x, a, r, after = (np.array(column) for column in self._data[t])
                follows = np.zeros(len(r))
                if self.bootstrap and h < self.J - 1 and t < self.J - 1:  # the bandit stops here
                    follows = self._next_values(theta[h + 1], after)
                rows.append((features(x, a), r + follows))
            A, b = (np.concatenate(part) for part in zip(*rows, strict=True))
            mean, _ = posterior(A, b, self.ridges[0] / sigma**2, sigma)
            _, L = posterior(A, b, self.ridges[-1] / sigma**2, sigma)
            if self.noise > 0:
                z = self.rng.standard_normal(z.size)
            theta[h] = (mean + solve_triangular(L, z, lower=True, trans="T")).reshape(
                self.N, self.N + 1).T
        self.theta = np.broadcast_to(theta[0], theta.shape).copy() if (
            self.weights == "shared") else theta


# --------------------------------------------------------------------------- block by block

class Statistics(NamedTuple):
    """Everything the past has to say. States that followed are nodes of a tree: from the root,
    one edge for each answer, in the order of the products."""

    U: np.ndarray  # (F, T, N, N + 1, N + 2) factors of A'A + ridge, with U^{-T} Σ φ r appended
    child: np.ndarray  # (M, 2N) the node after an answer on product n: dislike 2n, like 2n + 1
    shown: np.ndarray  # (M, J) the products of a node
    sign: np.ndarray  # (M, J) the answers
    count: np.ndarray  # (M, J) how often each of its products was the last
    followed: np.ndarray  # (J, M) the nodes that ever followed period h
    number: np.ndarray  # (J + 1,) how many those are; last, the nodes in use


@jit
def _node(data, x):
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
def _observe(data, x, h, a, r, liked, row):
    """Add one answer to the sums; ``row`` is scratch space of length N + 2."""
    U, _, shown, _, count, followed, number = data
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
            total += count[node, k]
            if shown[node, k] == a:
                count[node, k] += 1
        if total == 0:
            followed[h, number[h]] = node
            number[h] += 1


@jit
def _add_next_values(data, theta, h, everything, q, b):
    """Add Σ_{x'} n_h(x', a) V(x') (1, x) to b_a, over the states x' that have followed period h;
    V is the maximum of the values that θ gives."""
    _, _, shown, sign, count, followed, number = data
    N = q.shape[0]
    for i in range(number[h]):
        node = followed[h, i]
        for a in range(N):
            q[a] = theta[0, a]
        for k in range(h + 1):
            n, answer = 1 + shown[node, k], sign[node, k]
            for a in range(N):
                q[a] += answer * theta[n, a]
        if not everything:
            for k in range(h + 1):
                q[shown[node, k]] = -np.inf
        V = -np.inf
        for a in range(N):
            V = max(V, q[a])
        for k in range(h + 1):
            if count[node, k] > 0:
                share = count[node, k] * V
                target = b[shown[node, k]]
                target[0] += share
                for j in range(h + 1):
                    if j != k:
                        target[1 + shown[node, j]] += share * sign[node, j]


@jit
def _estimate(data, noise, bootstrap, everything, rng, theta):
    """Algorithm 1 (noise = σ), Algorithm 3 (noise = 0), or, without bootstrap, a bandit."""
    U = data.U
    H, d, N = theta.shape
    apart, shared = U.shape[0] > 1, U.shape[1] < H
    b, q, z = np.empty((N, d)), np.empty(N), np.zeros(d)
    for h in range(H - 1, -1, -1):
        b[:] = 0.0
        if bootstrap and h < H - 1:  # the one line that the bandit lacks
            for g in range(H - 1) if shared else range(h, h + 1):
                _add_next_values(data, theta[h + 1], g, everything, q, b)
        for a in range(N):
            mean, spread, w = U[0, 0 if shared else h, a], U[-1, 0 if shared else h, a], b[a]
            if bootstrap:
                solve_transposed(mean, w)
            for k in range(d):
                z[k] = noise * rng.standard_normal() if noise > 0.0 else 0.0
                w[k] += mean[k, d] + (0.0 if apart else z[k])
            solve(mean, w)
            if apart:
                solve(spread, z)
            for k in range(d):
                theta[h, k, a] = w[k] + (z[k] if apart else 0.0)
    if shared:
        for h in range(1, H):
            theta[h] = theta[0]


@jit
def _learn(beta, gamma, states, P, exact, data, theta, noise, bootstrap, everything, epsilon, eta,
           dislike, first, rng, agent_rng, likes, expected, opening):
    H, d, N = theta.shape
    products, q, p, row = np.empty(N, np.int64), np.empty(N), np.empty(N), np.empty(d + 1)
    x, mass = np.zeros(N, np.int8), np.empty(states.x.shape[0] + 1)
    for i in range(likes.shape[0]):
        if i > 0 or not first:
            _estimate(data, noise, bootstrap, everything, agent_rng, theta)
        if exact[i]:
            expected[i] = evaluate(states, P, theta, epsilon, eta, mass)
        x[:] = 0
        for h in range(H):
            a = _choose(theta[h], x, epsilon, eta, products, q, p, agent_rng)
            liked = answer(beta, gamma, x, a, rng)
            x[a] = 0
            _observe(data, x, h, a, 1.0 if liked else dislike, liked, row)
            x[a] = 1 if liked else -1
            likes[i] += liked
            if h == 0:
                opening[i] = a


class BlockAgent(BasisAgent):
    """Keeps sums, not data; the same interface and the same weights as ``DenseAgent``."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        N, J, T = self.N, self.J, self.J if self.weights == "per period" else 1
        U = [np.tile(math.sqrt(ridge) * np.eye(N + 1, N + 2), (T, N, 1, 1))
             for ridge in self.ridges]
        number = np.zeros(J + 1, np.int64)
        number[-1] = 1  # the root
        self._data = Statistics(
            np.stack(U), np.zeros((0, 2 * N), np.int64), np.zeros((0, J), np.int64),
            np.zeros((0, J)), np.zeros((0, J), np.int64), np.zeros((J, 0), np.int64), number)

    def _reserve(self, episodes: int) -> None:
        """Make room for the nodes that so many customers can add."""
        data, used = self._data, int(self._data.number[-1])
        new = min(used + episodes * self.J * self.J // 2, number_of_states(self.N, self.J))
        if new <= len(data.child):
            return
        room = max(new, min(2 * used, number_of_states(self.N, self.J))) - len(data.child)
        grown = {name: np.pad(getattr(data, name), ((0, room), (0, 0)))
                 for name in ("child", "shown", "sign", "count")}
        self._data = data._replace(**grown, followed=np.pad(data.followed, ((0, 0), (0, room))))

    def _remember(self, x, a, liked):
        self._reserve(1)
        _observe(self._data, x.copy(), np.count_nonzero(x), a, 1.0 if liked else self.dislike,
                 liked, np.empty(self.N + 2))

    def _estimate(self):
        _estimate(self._data, self.noise, self.bootstrap, self.over == "all", self.rng, self.theta)

    def learn(self, customers, episodes, rng=None, *, exact=False):
        self._check_fits(customers)
        self._reserve(episodes)
        run = _blank(episodes)
        _learn(customers.beta, customers.gamma, *_exact_part(customers, episodes, exact),
               self._data, self.theta, self.noise, self.bootstrap, self.over == "all",
               self.epsilon, self.eta, self.dislike, self.transitions == 0,
               np.random.default_rng(rng), self.rng, *run)
        self.transitions += episodes * self.J
        return run


# --------------------------------------------------------------------------- the algorithms

def rlsvi(N: int, J: int, lam: float = 0.2, sigma: float = 1e-3**0.5, *,
          form: type[BasisAgent] = BlockAgent, **reading) -> BasisAgent:
    """Algorithms 1 and 2 on the basis of section 6.3, with the paper's λ = 0.2 and σ² = 10⁻³."""
    check_positive(lam=lam, sigma=sigma)
    return form(N, J, (lam * sigma**2,), sigma, **reading)


def lsvi(N: int, J: int, lam: float = 0.2, *, epsilon: float = 0.0, eta: float = 0.0,
         form: type[BasisAgent] = BlockAgent, **reading) -> BasisAgent:
    """Algorithm 3 on the same basis, with greedy, ε-greedy (5) or Boltzmann (4) actions."""
    check_positive(lam=lam)
    return form(N, J, (lam,), 0.0, epsilon=epsilon, eta=eta, **reading)
