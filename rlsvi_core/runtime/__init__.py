"""The machine beneath agents: the loop, what an environment is, Gymnasium, checks, compilation."""
