"""Tetris: section 6.2 and appendix D."""
