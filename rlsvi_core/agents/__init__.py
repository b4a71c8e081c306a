"""The paper's learning algorithms.

Each is (what the estimate is) × (how it becomes an action). RLSVI draws its weights from the
posterior and acts greedily; LSVI takes the posterior mean and dithers. Both come in two forms with
the same interface and, given the same draws, the same weights: ``form=FastAgent`` (the default)
and ``form=VerbatimAgent``, which rebuilds the regression as Algorithms 1 and 3 print it.
"""

from .base import Agent, Run
from .finite import FastAgent
from .verbatim import VerbatimAgent

__all__ = ["Agent", "FastAgent", "Run", "VerbatimAgent", "lsvi", "rlsvi"]


def rlsvi(Phi, lam: float = 1.0, sigma: float = 0.1, *, first_episode: str = "zero", rng=None,
          form: type[Agent] = FastAgent) -> Agent:
    """Algorithms 1 and 2: a posterior sample of the weights, and greedy actions.

    ``first_episode="zero"`` is the footnote's rule (θ̃ = 0 before any data, so the first episode is
    uniformly random); ``"prior"`` is what Algorithm 1 alone gives, θ̃ ~ N(0, I/λ).
    """
    return form(Phi, lam, sigma, sample=True, first_episode=first_episode, rng=rng)


def lsvi(Phi, lam: float = 1.0, *, epsilon: float = 0.0, eta: float = 0.0, rng=None,
         form: type[Agent] = FastAgent) -> Agent:
    """Algorithm 3 with greedy actions, ε-greedy (5) or Boltzmann (4) exploration.

    ``epsilon`` is the probability of a uniformly random action; ``eta`` the temperature of
    a ∝ exp(Q/η), with η = 0 the greedy limit.
    """
    if epsilon > 0 and eta > 0:
        raise ValueError(f"choose one way to dither: epsilon={epsilon:g} (Algorithm 5) or "
                         f"eta={eta:g} (Algorithm 4), not both.")
    return form(Phi, lam, 1.0, sample=False, epsilon=epsilon, eta=eta, rng=rng)
