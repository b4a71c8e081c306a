"""Beyond the paper, for one's own problem."""
