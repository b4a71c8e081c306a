"""Appendix G, Lemma 3 on finite laws: the four equivalent forms of stochastic optimism."""

from itertools import pairwise

import numpy as np
from flint import fmpq
from scipy.optimize import linprog

from rlsvi_core.compiled import Floats, Generator
from rlsvi_core.optimism.order import Finite


def _places(X: Finite, Y: Finite) -> list[fmpq]:
    """Where the gap can turn; at the lowest of them it is the gap of the means."""
    return sorted({*X.values, *Y.values})


def by_maxima(X: Finite, Y: Finite) -> bool:
    """Form 1: E max(X, Z) ≥ E max(Y, Z) for independent Z; constants suffice, by conditioning."""

    def expected_maximum(W: Finite, z: fmpq) -> fmpq:
        return sum((w * max(v, z) for v, w in zip(*W, strict=True)), fmpq(0))

    return all(expected_maximum(X, z) >= expected_maximum(Y, z) for z in _places(X, Y))


def by_tails(X: Finite, Y: Finite) -> bool:
    """Form 2: the tails' difference, integrated from any point upwards, is never negative."""
    total = fmpq(0)
    for low, high in reversed(list(pairwise(_places(X, Y)))):
        total += (high - low) * (X.tail(high) - Y.tail(high))  # tails are constant on (low, high]
        if total < 0:
            return False
    return True


def by_coupling(X: Finite, Y: Finite) -> Floats | None:
    """Form 3: a joint law of (Y, X) under which E[X | Y] ≥ Y, if there is one.

    Then A = E[X | Y] − Y ≥ 0 and W = X − E[X | Y] is noise: X = Y + A + W.
    """
    x, p = (np.array([float(t) for t in part]) for part in X)
    y, q = (np.array([float(t) for t in part]) for part in Y)
    rows, columns = y.size, x.size
    marginals = np.vstack(
        [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    )
    drift = np.kron(np.diag(y), np.ones(columns)) - np.kron(np.eye(rows), x)
    found = linprog(
        np.zeros(rows * columns),
        A_ub=drift,
        b_ub=np.zeros(rows),
        A_eq=marginals,
        b_eq=np.concatenate([q, p]),
        method="highs",
    )
    if found.status not in (0, 2):  # solved, or shown to be infeasible
        raise ArithmeticError(f"the linear program was not settled: {found.message}")
    return np.reshape(found.x, (rows, columns)) if found.status == 0 else None


def by_utility(X: Finite, Y: Finite, rng: Generator, trials: int = 50) -> bool:
    """Form 4: E u(X) ≥ E u(Y) for piecewise linear convex increasing u: hinges and random ones."""
    places = _places(X, Y)
    utilities = [
        *np.eye(len(places), dtype=int).tolist(),
        *rng.integers(0, 10, (trials, len(places))).tolist(),
    ]

    def expected(W: Finite, slopes: list[int]) -> fmpq:
        return sum((c * W.excess(z) for c, z in zip(slopes, places, strict=True)), fmpq(0))

    return all(expected(X, u) >= expected(Y, u) for u in utilities)


def random_law(rng: Generator, size: int = 4) -> Finite:
    """A law of a few small whole numbers, for trials."""
    return Finite.of(rng.integers(-6, 7, size).tolist(), rng.integers(1, 6, size).tolist())
