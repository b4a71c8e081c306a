"""Section 5 and appendix G: stochastic optimism, and the paper's proofs step by step."""
