"""What is kept of the data, and how values are fitted to it: sums, counts or rows; and the two
learners of appendix F. Each gives the weights of :class:`rlsvi_core.rlsvi.Printed` from the same
draws."""
