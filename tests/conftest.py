"""Shared by the tests: small MDPs to order, and the rules for random tests.

Tests come in three strengths. Exact ones compare with closed forms or a second implementation.
Property tests (hypothesis) are derandomised, so a run never depends on luck. Statistical tests fix
their seed and reject at ``RATE``: were the code right and the seed new, one test in a million
would fail.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from rlsvi_core import FiniteMDP

settings.register_profile(
    "rlsvi",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "long", settings.get_profile("rlsvi"), derandomize=False, max_examples=2000
)  # pytest --hypothesis-profile=long
# for `make coverage`, where nothing is compiled
settings.register_profile("few", settings.get_profile("rlsvi"), max_examples=5)
settings.load_profile("rlsvi")


@pytest.fixture(scope="session")
def make_mdp():
    """A random time-dependent MDP: sparse rows, terminal rewards, random start."""

    def make(seed, H, S, A, *, noisy=False):
        rng = np.random.default_rng(seed)
        P = rng.dirichlet(np.ones(S), (H, S, A)) * (rng.random((H, S, A, S)) < 0.7)
        P[..., 0] += P.sum(axis=-1) == 0
        P /= P.sum(axis=-1, keepdims=True)
        return FiniteMDP(
            P,
            rng.uniform(-1, 1, P.shape),
            terminal=rng.uniform(-1, 1, S),
            initial=rng.dirichlet(np.ones(S)),
            support=(-1.5, 2) if noisy else None,
        )

    return make


@pytest.fixture(scope="session")
def make_dyadic_mdp():
    """Probabilities in quarters and rewards in {-1, 0, 1}: every value is exact, ties abound."""

    def make(seed, H, S, A):
        rng = np.random.default_rng(seed)
        P = rng.multinomial(4, np.full(S, 1 / S), (H, S, A)) / 4
        return FiniteMDP(
            P,
            rng.integers(-1, 2, P.shape),
            terminal=rng.integers(-1, 2, S),
            initial=rng.multinomial(4, np.full(S, 1 / S)) / 4,
        )

    return make
