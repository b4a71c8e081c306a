"""Least-squares policy iteration: the closed form on a small process, and the loop around it."""

import numpy as np
import pytest

from rlsvi_core import Agent
from rlsvi_core.envs.tetris import Tetris
from rlsvi_study.tetris.lspi import (
    STARTS,
    PolicyIterationLearner,
    add_lstd_sums,
    run_policy_iteration,
    solve_by_elimination,
)
from rlsvi_study.tetris.ring import RingBuffer

CYCLE = (0, 0, 1, 1, 2, 2, 0, 2, 1)  # every pair of neighbours, around the corner too, just once
REWARD = (2, 0, 5)


def small_process(ended=()):
    """Three boards y, one feature each. A piece u is drawn, all three alike: it may be used, and
    leads to u, or wasted, and leads to y again. Each pays for the board it leads to. In this ring
    every piece was used, and after every board each piece came once."""
    n = len(CYCLE)
    ring = RingBuffer(
        np.zeros((n + 1, 4, 2), np.uint8),
        np.full(n + 1, 2),
        np.zeros(n, int),
        np.isin(range(n), ended),
        np.zeros((4, 4), int),
        np.array((0, n)),
    )
    for i, used in enumerate(CYCLE):
        for a, board in enumerate((used, CYCLE[i - 1])):
            ring.X[i, board, a], ring.X[i, 3, a] = 1, REWARD[board]
    return ring


def solved(ring, policy, gamma=0.9):
    A, b = np.empty((3, 3)), np.empty(3)
    add_lstd_sums(ring, np.array([*policy, 1.0]), gamma, A, b)
    solve_by_elimination(A, b)
    return b


@pytest.mark.parametrize("policy", [(0, 0, 0), (9, 0, 0), (0, 9, 4), (1, -9, -8)])
def test_the_value_of_a_policy_is_exact(policy):
    """Whatever policy filled the ring: v(y) = γ E[r(y') + v(y')] for the one that is asked for."""
    P, preferred = np.zeros((3, 3)), np.add(policy, REWARD)
    for board in range(3):
        for used in range(3):
            P[board, max(used, board, key=preferred.__getitem__)] += 1 / 3
    exact = np.linalg.solve(np.eye(3) - 0.9 * P, 0.9 * P @ REWARD)
    assert solved(small_process(), policy) == pytest.approx(exact, rel=1e-12)


def test_nothing_follows_the_last_placement():
    # The one step after board 1 that would use piece 2 ends the game: 1/3 of its future is lost.
    ring = small_process(ended=[CYCLE.index(1) + 1])
    assert CYCLE[CYCLE.index(1) + 1 :][:2] == (1, 2)
    P = np.full((3, 3), 1 / 3)
    P[1, 2] = 0
    exact = np.linalg.solve(np.eye(3) - 0.9 * P, 0.9 * P @ REWARD)
    ring.X[:, :, 1] = ring.X[:, :, 0]  # no choice, so that the policy does not matter
    assert solved(ring, (0, 0, 0)) == pytest.approx(exact, rel=1e-12)


def test_of_equals_the_placement_played_is_evaluated():
    ring = small_process()
    ring.a[:] = 1
    ring.X[:, 3] = 0
    ring.X[:, 3, 1] = 1  # the placements played pay one row, always, and nothing else does
    assert solved(ring, (0, 0, 0)) == pytest.approx([0.9 / 0.1] * 3)


def test_elimination_needs_its_pivots():
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(22, 22)), rng.normal(size=22)
    A[0, 0] = 0.0
    b = A @ x
    solve_by_elimination(A, b)
    assert b == pytest.approx(x, rel=1e-9)


def test_a_policy_keeps_its_weights_for_its_games_and_drops_them_without_replay():
    for replay in (True, False):
        game = Tetris(rule="clears")
        learner, rng = PolicyIterationLearner(game, "scoring"), np.random.default_rng(2)
        player, seen, lengths = Agent(learner, rng=1), [], []
        for n in range(7):
            if n in (3, 6):
                learner.improve(replay)
            lengths.append(player.learn(game, 1, rng).length[0])
            seen.append(player.theta[0].tolist())
        assert seen[0] == seen[1] == seen[2] != seen[3] == seen[4] == seen[5] != seen[6]
        assert (seen[0][19], seen[0][20], seen[0][22]) == (*STARTS["scoring"], 1.0)
        assert learner.buffer.at[1] == sum(lengths if replay else lengths[6:])


def test_the_first_policy_plays_what_it_was_given():
    nothing, scoring = (
        run_policy_iteration(0, "clears", start, False, 20, 1)[0]["score"] for start in STARTS
    )
    assert nothing < 1 < 10 < scoring
