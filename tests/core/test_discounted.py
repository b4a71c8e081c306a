"""One-hot features with a discount: the verbatim weights, at the cost of what was visited."""

import math
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from rlsvi_core import Reading, StoredAgent, VerbatimAgent, features, lsvi, rlsvi
from rlsvi_core.agents import DiscountedAgent, TabularAgent

pytestmark = pytest.mark.filterwarnings("ignore:value_range")  # narrow ones, so that they cut
S, A = 9, 3
PHI = features.one_hot(None, S, A)
ALLOWED = np.random.default_rng(5).random((S, A)) < 0.6
ALLOWED[:, 0] |= ~ALLOWED.any(axis=1)  # some action always is


class Lake:
    """A random world of S states: each pair leads to three of them, one ends an episode, and so
    does, without an end of what follows, the fifteenth step."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.next, self.r = rng.integers(S, size=(S, A, 3)), rng.normal(size=(S, A))

    def play(self, agent, episodes, seed, masks=False):
        rng, steps = np.random.default_rng(seed), []
        for _ in range(episodes):
            agent.plan()
            s, h = int(rng.integers(S - 1)), 0
            while s != S - 1 and h < 15:
                a = agent.act(h, s, np.flatnonzero(ALLOWED[s]) if masks else None)
                t = int(self.next[s, a, rng.integers(3)])
                legal = np.flatnonzero(ALLOWED[t]) if masks else None
                agent.observe(h, s, a, self.r[s, a], None if t == S - 1 else t, legal)
                steps.append((s, a, t))
                s, h = t, h + 1
        return steps


@pytest.mark.parametrize("make", [rlsvi, lsvi])
def test_gauss_seidel_ends_at_the_value_function_of_very_many_sweeps(make):
    own = {"sigma": 0.3} if make is rlsvi else {"epsilon": 0.5}
    settled, many = (
        make(PHI, 0.5, gamma=0.9, sweeps=sweeps, rng=1, form=form, **own)
        for sweeps, form in ((math.inf, DiscountedAgent), (400, VerbatimAgent))
    )
    for agent in (settled, many):
        Lake(2).play(agent, 4, 3)
        agent.plan()
    np.testing.assert_allclose(settled.theta, many.theta, rtol=0, atol=1e-9)
    if make is rlsvi:  # the next episode has other draws, and other values
        before = settled.theta.copy()
        settled.plan()
        assert np.abs(settled.theta - before).max() > 0.01


@pytest.mark.parametrize("form", [DiscountedAgent, StoredAgent, VerbatimAgent])
@pytest.mark.parametrize("when", ["at repeats", 2, lambda s: (s, "as a key")])
def test_a_sample_is_drawn_again_as_by_somebody_who_counts_and_calls_plan(form, when):
    told, own = (
        rlsvi(PHI, 0.5, 0.3, redraw=redraw, rng=1, form=form) for redraw in ("never", when)
    )
    again = 0
    for walk in ([0, 1, 2, 0, 3, 0, 4], [4, 4, 4, 5], [6, 7, 5, 4]):
        told.plan()
        own.plan()
        met = []
        for h, (s, s_next) in enumerate(pairwise(walk)):
            if len(met) == 2 if when == 2 else s in met:
                told.plan()
                met, again = [], again + 1
            before = own.theta.copy()
            own.greedy(h, s)  # disturbs nothing
            assert own.act(h, s) == told.act(h, s)
            assert np.array_equal(own.theta, told.theta)
            assert np.array_equal(own.theta, before) == (met != [] or h == 0)
            met.append(s)
            for agent in (told, own):
                agent.observe(h, s, 0, 1.0, s_next)
    assert again == 4


def test_computed_features_recognise_what_a_function_says_recurs():
    agent = rlsvi(
        lambda s: np.kron(np.eye(2), s), rng=1, redraw=lambda s: None if s[0] > 9 else round(s[0])
    )
    agent.plan()
    seen = []
    for s, s_next in pairwise([[0.1], [1.2], [2.2], [0.9], [3.0], [9.5]]):
        agent.act(0, s)
        agent.observe(0, s, 0, 1.0, s_next)
        seen.append(agent._is_due)
    assert seen == [False, False, True, False, False]
    agent = rlsvi(lambda s: np.kron(np.eye(2), s), rng=1, redraw=lambda s: s)
    agent.plan()
    with pytest.raises(ValueError, match="redraw"):
        agent.observe(0, [0.1], 0, 1.0, [0.2])
    assert agent.transitions == 0


def test_a_sample_does_not_walk_in_a_circle():
    """Two states, nothing by chance: action 0 stays where it is and costs 1, action 1 ends. The
    sample that prefers to stay is left at the next step, not when the clock stops."""

    def most_steps(redraw):
        agent, longest = rlsvi(features.one_hot(None, 2, 2), 1e-4, 2.0, redraw=redraw, rng=1), 0
        for _ in range(100):
            agent.plan()
            h, a = 0, 0
            while a == 0 and h < 100:
                a = agent.act(h, 0)
                agent.observe(h, 0, a, -1.0, None if a else 0)
                h += 1
            longest = max(longest, h)
        return longest

    assert most_steps("never") == 100
    assert most_steps("at repeats") < 30


def test_a_state_comes_again_where_states_are_numbers_and_one_hot():
    shaped = np.ones((3, 2, 2))
    assert rlsvi(PHI).choices.redraw == "at repeats"
    assert rlsvi(PHI, form=VerbatimAgent).choices.redraw == "at repeats"
    assert rlsvi(PHI, redraw="never").choices.redraw == "never"
    for others in (
        rlsvi(PHI, H=4),
        rlsvi(shaped, gamma=0.9),
        rlsvi(lambda s: np.eye(2)),
        lsvi(PHI),
    ):
        assert others.choices.redraw == "never"
    assert rlsvi(shaped, gamma=0.9, redraw="at repeats").choices.redraw == "at repeats"


def test_a_mask_closes_what_it_forbids():
    agent = rlsvi(PHI, rng=1)
    steps = Lake(2).play(agent, 20, 3, masks=True)
    assert all(ALLOWED[s, a] for s, a, _ in steps)
    told = sorted({s for step in steps for s in (step[0], step[2]) if s != S - 1})
    assert len(told) >= 7
    assert np.array_equal(np.isinf(agent.Q[0][told]), ~ALLOWED[told])
    assert agent.policy()[np.isinf(agent.Q)].max() == 0
    with pytest.raises(ValueError, match="mask"):
        agent.act(0, 0, np.flatnonzero(~ALLOWED[0]))


def test_a_draw_takes_memory_for_weights_and_normal_numbers_for_what_was_seen():
    """As state features crossed with actions these asked for 75 GB."""
    tracemalloc.start()
    agent = rlsvi(features.one_hot(None, 50_000, 4), 0.25, gamma=0.9, rng=1)
    agent.observe(0, 49_999, 3, 1.0, 7)
    agent.plan()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 16e6
    kept, all_ = agent._theta, agent.theta.reshape(4, -1)
    assert not np.delete(kept, [7, 49_999], axis=1).any()  # nothing was drawn there
    assert np.array_equal(kept[:, [7, 49_999]], all_[:, [7, 49_999]])
    assert all_.std() == pytest.approx(2.0, abs=0.02)  # 1/√λ; five deviations of 200 000
    for s in (7, 8, 49_999):
        assert np.array_equal(agent.values(0, s), all_[:, s])


def test_one_hot_features_without_a_horizon_are_states_crossed_with_actions():
    crossed = features.PerAction(lambda s: np.eye(5)[s], A=2, d=5)
    for s in range(5):
        assert np.array_equal(features.OneHot(None, 5, 2)(9, s), crossed(9, s))
        assert np.array_equal(features.OneHot(None, 5, 2).compact(9, s), crossed.compact(9, s))
    assert np.asarray(features.OneHot(None, 5, 2)).shape == (5, 2, 10)
    assert type(rlsvi(features.one_hot(None, 5, 2), H=3)) is TabularAgent
    assert features.FeatureMap.of(features.one_hot(None, 5, 2), 3) == features.OneHot(3, 5, 2)


@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (lambda: rlsvi(features.one_hot(3, 5, 2), form=DiscountedAgent), "horizon"),
        (lambda: rlsvi(lambda s: np.eye(2), form=DiscountedAgent), "OneHot"),
        (lambda: rlsvi(PHI, form=TabularAgent, sweeps=1), "H"),
        (lambda: rlsvi(PHI, form=DiscountedAgent, window=5), "window"),
        (lambda: rlsvi(PHI, sweeps=math.inf, reading=Reading(draws="per sweep")), "sweeps"),
        (lambda: rlsvi(PHI, redraw="often"), "redraw"),
        (lambda: rlsvi(PHI, redraw=0), "redraw"),
        (lambda: rlsvi(PHI, redraw=np.ones(2)), "redraw"),
        (lambda: rlsvi(PHI, H=3, redraw=5), "redraw"),
        (lambda: rlsvi(lambda s: np.eye(2), redraw="at repeats"), "redraw"),
        (lambda: rlsvi(PHI, sweeps=-math.inf), "sweeps"),
        (lambda: rlsvi(PHI).act(-1, 0), "h"),
        (lambda: rlsvi(PHI).observe(0, 0, 0, math.nan, 1), "finite"),
    ],
)
def test_what_cannot_be_is_refused(call, keyword):
    with pytest.raises(ValueError, match=keyword):
        call()
