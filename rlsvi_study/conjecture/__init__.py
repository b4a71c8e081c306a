"""Appendix B: Conjecture 1, and the small worlds that refute it."""
