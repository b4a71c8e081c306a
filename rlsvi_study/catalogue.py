"""Everything there is to run, to judge and to draw, from all topics."""

from . import register
from .chain import claims, figures, foundations, runs
from .experiment import Experiment
from .extensions import claims as extensions_claims
from .extensions import figures as extensions_figures
from .extensions import runs as extensions_runs
from .recommender import claims as recommender_claims
from .recommender import figures as recommender_figures
from .recommender import runs as recommender_runs
from .regret import claims as regret_claims
from .regret import figures as regret_figures
from .regret import runs as regret_runs
from .tetris import claims as tetris_claims
from .tetris import figures as tetris_figures
from .tetris import runs as tetris_runs
from .theory import claims as theory_claims

EXPERIMENTS: dict[str, Experiment] = {
    **runs.EXPERIMENTS, **recommender_runs.EXPERIMENTS, **regret_runs.EXPERIMENTS,
    **tetris_runs.EXPERIMENTS, **extensions_runs.EXPERIMENTS}
DRAW = {**figures.DRAW, **recommender_figures.DRAW, **regret_figures.DRAW, **tetris_figures.DRAW,
        **extensions_figures.DRAW}
JUDGES = (claims, foundations, extensions_claims, recommender_claims, regret_claims, tetris_claims,
          theory_claims)  # importing them fills the register
register.in_the_papers_order()
