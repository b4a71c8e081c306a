r"""Pairs that span all others: where the bootstrap's imagined visits are made.

Among the rows :math:`\phi(s, a)` that an agent may meet, K that span them, :math:`B`, such that
every row is a combination :math:`c = \phi B^{-1}` of them with coefficients of at most 2 in size (a
barycentric spanner; Awerbuch and Kleinberg 2004). Rows are taken one after another: if a row has a
larger coefficient, it replaces the pair in question. Each time the volume :math:`|\det B|` at least
doubles, so that there are few replacements.

Coefficients do not change if features are scaled, rotated or mixed by any invertible matrix:
whatever is said about values of these pairs does not depend on the units of the features. With
one-hot features the pairs are all pairs, and B is the identity.
"""

import numpy as np

from .. import checks
from ..compiled import Floats, jit
from ..features import FeatureMap, Table

LARGEST = 2.0  # coefficient
UNMET = 1e-9  # the length, beside a feature's first value, of what stands for it before it is met


@jit
def _replace(rows: Floats, inverse: Floats, met: Floats) -> bool:
    """Take in some rows; whether some pair was replaced."""
    K = inverse.shape[0]
    changed = False
    c = np.empty(K)
    for i in range(rows.shape[0]):
        c[:] = 0.0
        for j in range(K):
            x = rows[i, j]
            if x != 0.0:  # as most are, in tables and tiles
                for k in range(K):
                    c[k] += x * inverse[j, k]
        worst = 0
        for k in range(K):
            worst = k if abs(c[k]) > abs(c[worst]) else worst
        if abs(c[worst]) > LARGEST:
            changed = True
            met[worst] = 1.0
            for j in range(K):
                inverse[j, worst] /= c[worst]
                for k in range(K):
                    if k != worst:
                        inverse[j, k] -= inverse[j, worst] * c[k]
    return changed


class Spanner:
    """Pairs that span the rows met so far.

    Parameters
    ----------
    K : int
        Number of features.

    Examples
    --------
    >>> spanner = Spanner(2)
    >>> spanner.add([[3.0, 0.0], [1.0, 1.0], [4.0, 1.0]])
    True
    >>> np.array([[3.0, 0.0], [1.0, 1.0], [4.0, 1.0]]) @ spanner.inverse
    array([[1., 0.],
           [0., 1.],
           [1., 1.]])
    """

    def __init__(self, K: int) -> None:
        checks.array_size("the spanning pairs", K, K)
        self._inverse = np.zeros((K, K))
        self._met = np.zeros(K)
        self._zero = np.ones(K, bool)  # features that all rows so far had at 0

    def add(self, rows: Floats) -> bool:
        """Take in some rows; whether that changed anything."""
        rows = np.asarray(rows, float)
        new = self._zero & rows.any(axis=0)
        if new.any():  # each by its own size: units do not matter
            self._inverse[new, new] = 1 / (UNMET * np.abs(rows).max(axis=0)[new])
            self._zero &= ~new
        return bool(_replace(rows, self._inverse, self._met))

    @property
    def inverse(self) -> Floats:
        """B⁻¹, by which rows become coefficients; 0 in directions that no row has had."""
        return self._inverse * self._met

    @classmethod
    def of(cls, rows: Floats) -> "Spanner":
        """For all rows there are: none is left with a larger coefficient."""
        spanner = cls(rows.shape[1])
        while spanner.add(rows):
            pass
        return spanner


def spanners(phi: FeatureMap, K: int) -> list[Spanner]:
    """One for each regression: of all rows where they are known, else of those that will be met;
    K is the number of features, of a block where there are blocks."""
    periods = phi.H or 1
    if not isinstance(phi, Table):
        return [Spanner(K) for _ in range(periods)]
    if phi.Phi.strides[0] == 0:  # the same in all periods
        return [Spanner.of(phi.Phi[0].reshape(-1, K))] * periods
    return [Spanner.of(rows) for rows in phi.Phi.reshape(periods, -1, K)]
