"""Standard tasks: Gymnasium's, sparse ones and the deep sea, with one rule for λ and σ."""
