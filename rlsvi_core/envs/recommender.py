r"""Section 6.3: a customer who is shown J of N products, one after the other.

The state is :math:`x \in \{-1, 0, +1\}^N`: what she disliked, has not seen, and liked. A new
product a is liked with probability (the paper's equation for the recommendation engine)

.. math:: \mathbb P(a \mid x) = 1 \big/ \bigl(1 + e^{-(\beta_a + \sum_n \gamma_{an} x_n)}\bigr),

and the reward counts the likes. An episode is one customer, :math:`H = J`, from :math:`x = 0`; only
products she has not seen can be shown. With h products shown there are
:math:`\binom Nh 2^h` states, so N = 10 and J = 5 give 1 + 20 + 180 + 960 + 3360 = 4521 states in
which a choice is made. They are numbered in this order: a state's number fixes its period.

Signs. With :math:`\beta = 0` a customer and her mirror image (all answers reversed) are equally
likely under any fixed order of products. So every product of a fixed order is liked with
probability exactly ½, in the empty state every product is, and a policy can only gain by reacting.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..runtime import checks
from ..runtime.compilation import Array, Floats, Generator, Ints, Seed, jit

__all__ = ["Recommender"]

MAX_STATES = 1_000_000  # some seconds and 200 MB


@jit
def like_probability(beta: Floats, gamma: Floats, x: Array, a: int) -> float:
    """P(a | x), the probability that the customer likes product a."""
    z = beta[a]
    for n in range(x.shape[0]):
        z += gamma[a, n] * x[n]
    return 1.0 / (1.0 + math.exp(-z))


@jit
def show_product(beta: Floats, gamma: Floats, x: Array, a: int, rng: Generator) -> bool:
    """Show product a: put the answer into x and return whether it is a like. Uses one uniform."""
    liked = rng.random() < like_probability(beta, gamma, x, a)
    x[a] = 1 if liked else -1
    return liked


@jit
def _like_probabilities(beta: Floats, gamma: Floats, x: Array) -> Floats:
    P = np.zeros(x.shape)
    for s in range(x.shape[0]):
        for a in range(x.shape[1]):
            if x[s, a] == 0:
                P[s, a] = like_probability(beta, gamma, x[s], a)
    return P


def count_states(N: int, J: int) -> int:
    """How many states a choice can be made in: Σ_{h<J} C(N, h) 2^h."""
    return sum(math.comb(N, h) * 2**h for h in range(J))


class StateTable(NamedTuple):
    """All states in which a product is chosen. Number S stands for the end of the episode.

    Period by period, and in a period set by set: the 2^h answers on one set of products are
    neighbours, and bit k of their place says whether the k-th of its products was liked.
    """

    x: Array  # (S, N) what the customer answered so far
    start: Ints  # (J + 1,) period h has the states start[h], …, start[h + 1] − 1
    next: Array  # (S, N, 2) the state after a dislike and after a like


@cache
def enumerate_states(N: int, J: int) -> StateTable:
    """Enumerate the states."""
    if (S := count_states(N, J)) > MAX_STATES or (N > 63 and J > 1):  # sets are bits
        checks.fail(f"at most {MAX_STATES} states of 63 products are solved; N={N}, J={J} has {S}.")
    start = np.array([count_states(N, h) for h in range(J + 1)])
    sets = [
        np.sort([sum(1 << n for n in some) for some in combinations(range(N), h)]) for h in range(J)
    ]
    x = np.zeros((S, N), np.int8)
    following = np.full((S, N, 2), S, np.int32)
    for h in range(J):
        shown = (sets[h][:, None] >> np.arange(N)) & 1
        before = shown.cumsum(axis=1) - shown  # how many shown products have a smaller number
        bits = np.arange(2**h)[:, None, None]
        signs = 2 * ((bits >> before) & 1) - 1
        here = slice(start[h], start[h + 1])
        x[here] = (signs * shown).transpose(1, 0, 2).reshape(-1, N)
        if h < J - 1:
            place = np.searchsorted(sets[h + 1], sets[h][:, None] | (1 << np.arange(N)))
            low = bits & ((1 << before) - 1)  # the new answer's bit goes in between
            for liked in (0, 1):
                code = low | (liked << before) | ((bits >> before) << (before + 1))
                following[here, :, liked] = (
                    np.where(shown, S, start[h + 1] + place * 2 ** (h + 1) + code)
                    .transpose(1, 0, 2)
                    .reshape(-1, N)
                )
    return StateTable(
        checks.as_read_only(x), checks.as_read_only(start), checks.as_read_only(following)
    )


def _policy_mean(mu: Floats, q: Floats) -> Floats:
    """Σ_a μ(a) q(a), where q is −∞ for products that μ cannot pick."""
    return np.asarray((mu * np.where(mu > 0, q, 0)).sum(axis=1))


def check_state(x: Any, h: int, N: int) -> Array:
    """A state before a product is shown, as compiled code wants it and our own."""
    out = np.asarray(x)
    if out.shape != (N,) or not np.isin(out, (-1, 0, 1)).all() or np.count_nonzero(out) != h:
        checks.fail(
            f"a state has answers −1, 0, 1 on {N} products, {h} not 0 in period {h}; it is {x!r}."
        )
    return out.astype(np.int8)


@dataclass(frozen=True, eq=False)
class Recommender:
    """Customers who answer by the logistic model, with everything known exactly.

    Parameters
    ----------
    gamma : (N, N) array_like
        ``gamma[a, n]``, what the answer on product n says about product a.
    J : int
        How many products a customer is shown, at most N.
    beta : (N,) array_like, optional
        How popular each product is on its own; zero by default, as in the paper.

    Examples
    --------
    >>> customers = Recommender.random(rng=1, N=4, J=2)     # γ drawn as in the paper
    >>> customers, round(customers.optimal_value, 2)  # one in two, and what planning adds
    (Recommender(N=4, J=2), 1.35)
    """

    gamma: Floats
    J: int
    beta: Any = None
    N: int = field(init=False)  # products

    def __post_init__(self) -> None:
        gamma = checks.check_array("gamma", self.gamma, ("N", "N"))
        N = len(gamma)
        J = checks.check_integer("J", self.J, 1, N)
        beta = checks.check_array("beta", np.zeros(N) if self.beta is None else self.beta, (N,))
        checks.set_frozen_fields(self, gamma=gamma, beta=beta, N=N, J=J)

    def __repr__(self) -> str:
        return f"Recommender(N={self.N}, J={self.J})"

    @classmethod
    def random(cls, c: float = 2.0, rng: Seed = None, *, N: int = 10, J: int = 5) -> "Recommender":
        """The paper's random instance: γ_an ~ N(0, c²) independently, β = 0."""
        c = checks.check_range("c", c, 0, math.inf)
        N = checks.check_integer("N", N, 1, hint="It counts products; the paper has N=10.")
        return cls(c * checks.as_generator(rng).standard_normal((N, N)), J)

    @property
    def H(self) -> int:
        """The steps of an episode."""
        return self.J

    def start(self, rng: Generator) -> Array:
        """A new customer, who has seen nothing."""
        return np.zeros(self.N, np.int8)

    def step(self, h: int, s: Array, a: int, rng: Generator) -> tuple[float, Array, bool]:
        """Show product a to a customer in state s: 1 for a like, her next state, and whether this
        was the last product."""
        h = checks.check_index("h", h, self.J)
        a = checks.check_index("a", a, self.N)
        x = check_state(s, h, self.N)
        if x[a] != 0:
            checks.fail(f"a product is shown once; x is {x.tolist()} and a is {a}.")
        liked = show_product(self.beta, self.gamma, x, a, rng)
        return float(liked), x, h == self.J - 1

    def legal(self, h: int, s: Array) -> Ints:
        """The products that a customer in state s has not seen."""
        return np.flatnonzero(check_state(s, h, self.N) == 0)

    @cached_property
    def states(self) -> StateTable:
        """All states in which a product is chosen."""
        return enumerate_states(self.N, self.J)

    @cached_property
    def like_probabilities(self) -> Floats:
        """P(a | x) as an (S, N) array; 0 for products already shown."""
        return checks.as_read_only(_like_probabilities(self.beta, self.gamma, self.states.x))

    def _backward_induction(
        self, choose: Callable[[slice, Floats], Floats]
    ) -> tuple[Floats, Floats]:
        """Backward induction over the states s of one period after another, with V[s] =
        choose(s, Q[s]): Q as (S, N), −∞ for products shown, and V as (S + 1,)."""
        x, start, following = self.states
        Q = np.empty((start[-1], self.N))
        V = np.zeros(start[-1] + 1)
        for first, end in reversed([*pairwise(start)]):
            s = slice(first, end)
            disliked = V[following[s, :, 0]]
            liked = V[following[s, :, 1]]
            Q[s] = np.where(
                x[s] == 0,
                self.like_probabilities[s] * (1 + liked)
                + (1 - self.like_probabilities[s]) * disliked,
                -np.inf,
            )
            V[s] = choose(s, Q[s])
        return Q, V

    @cached_property
    def Q(self) -> Floats:
        """Q* as an (S, N) array; −∞ for products already shown."""
        return checks.as_read_only(
            self._backward_induction(lambda s, q: np.asarray(q.max(axis=1)))[0]
        )

    @cached_property
    def V(self) -> Floats:
        """V* as an (S,) array."""
        return checks.as_read_only(np.asarray(self.Q.max(axis=1)))

    @property
    def optimal_value(self) -> float:
        """The most likes that a customer can be expected to give."""
        return float(self.V[0])

    def evaluate(self, policy: ArrayLike) -> Floats:
        """V^μ as an (S,) array. ``policy``: (S,) products, or (S, N) probabilities of products, in
        the order of ``states.x``."""
        x = self.states.x
        mu = checks.policy_probabilities(policy, self.states.x.shape)
        checks.reject_entries((mu > 0) & (x != 0), "a product is shown once", "policy", mu)
        return self._backward_induction(lambda s, q: _policy_mean(mu[s], q))[1][:-1]

    def uniform_policy(self) -> Floats:
        """The policy that picks any unseen product, all alike."""
        unseen = self.states.x == 0
        return np.asarray(unseen / unseen.sum(axis=1, keepdims=True))

    def myopic_policy(
        self, ties: Literal["uniform", "lowest", "best", "worst"] = "uniform"
    ) -> Floats:
        """The policy that maximises P(a | x) and never plans, as (S, N) probabilities.

        With β = 0 all products tie in the empty state. ``ties``: any of the best (uniform), the
        one with the lowest number, or the one from which this policy goes on to earn most or least.
        """
        checks.check_one_of("ties", ties, ("uniform", "lowest", "best", "worst"))
        x = self.states.x
        mu = np.zeros(self.states.x.shape)

        def choose(s: slice, q: Floats) -> Floats:
            P = np.where(x[s] == 0, self.like_probabilities[s], -1.0)
            tied = P >= P.max(axis=1, keepdims=True) - 1e-12  # products that differ by rounding
            if ties == "uniform":
                mu[s] = tied / tied.sum(axis=1, keepdims=True)
            else:
                score = {"lowest": 0 * P, "best": q, "worst": -q}[ties]
                mu[s] = np.eye(self.N)[np.where(tied, score, -np.inf).argmax(axis=1)]
            return _policy_mean(mu[s], q)

        self._backward_induction(choose)
        return mu
