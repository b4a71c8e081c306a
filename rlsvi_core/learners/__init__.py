"""What is kept of the data, and how values are fitted to it. Learners that keep sums, counts or rows
give the weights of :mod:`rlsvi_core.algorithms` from the same draws. Appendix F's two and the
bootstrap are algorithms of their own."""
