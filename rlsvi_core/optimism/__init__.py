"""Section 5 and appendix G: stochastic optimism, and the numerics its proofs stand on (needs the
``proofs`` extra)."""

from importlib.util import find_spec

from ..checks import missing

if find_spec("flint") is None:  # ball arithmetic: no module here works without it
    raise missing("rlsvi_core.optimism", "python-flint", extra="proofs")
