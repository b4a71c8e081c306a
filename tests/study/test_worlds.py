"""An inventory and a grid with a key, against the words that define them."""

from collections import deque

import numpy as np
import pytest

from rlsvi_study.beyond.worlds import inventory, key_and_door


@pytest.mark.parametrize("M", [1, 4])
def test_a_period_of_the_shop_is_what_a_simulated_one_is(M):
    """Exactly, summed over demands, of which those beyond M leave the shop as empty as M does."""
    shop = inventory(M, H=1)
    for s, a in np.ndindex(M + 1, M + 1):
        room, p, mean = min(a, M - s), np.zeros(M + 1), 0.0
        for demand in range(M + 1):
            chance = 0.8**demand * (0.2 if demand < M else 1.0)
            sold = min(demand, s + room)
            p[s + room - sold] += chance
            mean += chance * (8 * sold - (4 + 2 * room if room else 0) - (s + room))
        assert shop.P[0, s, a] == pytest.approx(p, abs=1e-12)
        assert shop.Q[0, s, a] == pytest.approx(mean)


@pytest.mark.parametrize("N", [2, 5])
def test_the_door_is_as_far_as_a_search_finds_it(N):
    """Breadth first over (row, column, key), by the words alone."""
    start = (0, 0, False)
    steps, todo = {start: 0}, deque([start])
    while todo:
        y, x, key = todo.popleft()
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            there = min(max(y + down, 0), N - 1), min(max(x + right, 0), N - 1)
            after = (*there, key or there == (N - 1, 0))
            if key and there == (0, N - 1):
                after = "open"
            if after not in steps:
                steps[after] = steps[y, x, key] + 1
                todo.extend([after] if after != "open" else [])
    assert steps["open"] == 3 * (N - 1)
    assert key_and_door(N, H=steps["open"]).optimal_value == 1
    assert key_and_door(N, H=steps["open"] - 1).optimal_value == 0
    assert len(steps) <= key_and_door(N).S == 2 * N * N + 1


def test_nothing_is_random_in_the_grid_and_the_door_pays_once():
    grid = key_and_door(4)
    assert set(np.unique(grid.P)) == {0, 1}
    states, _, rewards = grid.simulate(grid.Q.argmax(axis=2), 5, rng=1)
    assert (rewards.sum(axis=1) == 1).all()
    assert (states[:, -1] == grid.S - 1).all()
