"""Regret over the prior: section 5."""
