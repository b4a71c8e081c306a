"""Appendix G and Lemma 2 of section 5: every step of a proof is judged."""

from . import means, printed, repaired, sharp

JUDGES = printed, sharp, means, repaired  # importing them fills the register, in this order
