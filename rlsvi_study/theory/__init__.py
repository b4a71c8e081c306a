"""Appendix G: the proof, step by step, and its repair."""
