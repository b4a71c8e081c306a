"""The chain: sections 1 to 4 and 6.1, appendices A to C."""
