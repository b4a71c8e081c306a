"""The compiled loops that agents and environments are made of, with the records they work on.

A study with an agent, or a fast form, of its own builds it from these. Compiled code checks
nothing: what it is handed must have been checked, and must have the types that are written there
(see ``rlsvi_core.checks``). Unlike the rest of the reference, these names may change with any
version.
"""

from .agents.acting import action_probabilities, choose, highest, values
from .agents.base import repeated
from .agents.finite import Statistics, Targets, add_transition, no_data
from .agents.history import History, no_history, remember, target_sum, with_capacity
from .agents.states import ENDED
from .agents.tabular import play_episode, value_iteration, value_of_policy
from .envs.recommender import States, answer, states
from .envs.tetris import draw_piece, measure, place, placements
from .episodes import empty_run, record_step
from .mdp import Model, first_state, last_reward, period, step
from .regression import (
    add_row,
    draw,
    draw_noise,
    draw_weight,
    drawn_sigma,
    fill_normal,
    solve,
    solve_transposed,
)

__all__ = [
    "ENDED",
    "History",
    "Model",
    "States",
    "Statistics",
    "Targets",
    "action_probabilities",
    "add_row",
    "add_transition",
    "answer",
    "choose",
    "draw",
    "draw_noise",
    "draw_piece",
    "draw_weight",
    "drawn_sigma",
    "empty_run",
    "fill_normal",
    "first_state",
    "highest",
    "last_reward",
    "measure",
    "no_data",
    "no_history",
    "period",
    "place",
    "placements",
    "play_episode",
    "record_step",
    "remember",
    "repeated",
    "solve",
    "solve_transposed",
    "states",
    "step",
    "target_sum",
    "value_iteration",
    "value_of_policy",
    "values",
    "with_capacity",
]
