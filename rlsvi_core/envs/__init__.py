"""The paper's environments, each a function that returns a FiniteMDP."""

from .chain import chain

__all__ = ["chain"]
