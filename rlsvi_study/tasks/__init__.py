"""Other people's tasks: Gymnasium's, sparse ones and the deep sea, by one rule for λ and σ."""
