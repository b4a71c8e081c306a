"""One-hot features with a discount: the verbatim weights, at the cost of what was visited."""

import copy
import math
import pickle
import time
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from rlsvi_core import StoredAgent, VerbatimAgent, features, lsvi, rlsvi
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


MAKES = {
    "rlsvi": lambda **kw: rlsvi(PHI, 0.5, 0.3, rng=1, **kw),
    "cut": lambda **kw: rlsvi(PHI, 0.5, 0.3, value_range=(-1, 2), gamma=0.95, rng=1, **kw),
    "as printed": lambda **kw: rlsvi(PHI, 0.5, 0.3, sweeps=1, draws="per sweep", rng=1, **kw),
    "new draws": lambda **kw: rlsvi(PHI, 0.5, 0.3, sweeps=4, draws="per sweep", rng=1, **kw),
    "mean in targets": lambda **kw: rlsvi(PHI, 0.5, 0.3, targets="mean", rng=1, **kw),
    "prior": lambda **kw: rlsvi(PHI, 0.5, 0.3, first_episode="prior", rng=1, **kw),
    "one draw": lambda **kw: rlsvi(PHI, 0.5, 0.3, redraw="never", rng=1, **kw),
    "settled": lambda **kw: rlsvi(PHI, 0.5, 0.3, gamma=0.6, sweeps=math.inf, rng=1, **kw),
    "epsilon": lambda **kw: lsvi(PHI, 0.5, epsilon=0.5, half_life=5, rng=1, **kw),
    "eta": lambda **kw: lsvi(PHI, 0.5, eta=0.5, rng=1, **kw),
}


@pytest.mark.parametrize("masks", [False, True], ids=["all", "masks"])
@pytest.mark.parametrize("choice", MAKES)
def test_a_run_is_the_same_in_every_form(choice, masks):
    agents = [MAKES[choice](form=form) for form in (None, StoredAgent, VerbatimAgent)]
    assert type(agents[0]) is DiscountedAgent
    fast, *others = (Lake(2).play(agent, 15, 3, masks) for agent in agents)
    assert others == [fast, fast]
    for agent in agents:
        agent.plan()
    for other in agents[1:]:
        np.testing.assert_allclose(agents[0].theta, other.theta, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(agents[0].mean, other.mean, rtol=1e-9, atol=1e-9)
    legal = [np.flatnonzero(ALLOWED[s]) if masks else None for s in range(S)]
    greedy = [[agent.greedy(0, s, legal[s]) for s in range(S)] for agent in agents]
    assert greedy[0] == greedy[1] == greedy[2]
    twins = [agent._mean_agent().theta for agent in agents]
    np.testing.assert_allclose(twins[0], twins[2], rtol=1e-9, atol=1e-9)


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
@pytest.mark.parametrize("when", ["at repeats", 2])
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
            if s in met if when == "at repeats" else len(met) == 2:
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
    assert again == {"at repeats": 4, 2: 4}[when]


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
    told = agent._told[0]
    assert told.sum() >= 7
    assert np.array_equal(np.isinf(agent.Q[0][told]), ~ALLOWED[told])
    assert agent.policy()[np.isinf(agent.Q)].max() == 0
    with pytest.raises(ValueError, match=r"same at every visit.*state 0"):
        agent.act(0, 0, np.flatnonzero(~ALLOWED[0]))


def test_many_states_take_memory_for_weights_and_time_for_what_was_visited():
    """As state features crossed with actions these asked for 75 GB."""

    def planned(sweeps):
        agent = rlsvi(features.one_hot(None, 50_000, 4), gamma=0.9, sweeps=sweeps, rng=1)
        agent.observe(0, 49_999, 3, 1.0, 7)
        agent.observe(1, 7, 0, 1.0, None)
        agent.plan()
        took = []
        for _ in range(3):
            start = time.perf_counter()
            agent.plan()
            took.append(time.perf_counter() - start)
        return min(took)

    planned(1)  # compiled
    tracemalloc.start()
    planned(1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 16e6
    assert planned(5000) < 10 * planned(1)  # were all pairs swept, some thousand


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"]
)
def test_a_copy_goes_on_as_the_original_does(duplicate):
    agent = rlsvi(PHI, sweeps=math.inf, rng=1)
    Lake(2).play(agent, 5, 3, masks=True)
    other = duplicate(agent)
    assert Lake(2).play(agent, 10, 4, True) == Lake(2).play(other, 10, 4, True)
    assert np.array_equal(agent.theta, other.theta)


def test_evaluating_changes_nothing():
    agent, other = (rlsvi(PHI, 0.5, 0.3, rng=1) for _ in range(2))
    for one in (agent, other):
        Lake(2).play(one, 5, 3, masks=True)
    before = pickle.dumps((agent.theta, agent.mean, agent._closed, agent.seen))
    for s in range(S):
        assert ALLOWED[s, agent.greedy(3, s, np.flatnonzero(ALLOWED[s]))]
    assert pickle.dumps((agent.theta, agent.mean, agent._closed, agent.seen)) == before
    assert Lake(2).play(agent, 5, 4, True) == Lake(2).play(other, 5, 4, True)


def test_one_hot_features_without_a_horizon_are_states_crossed_with_actions():
    crossed = features.PerAction(lambda s: np.eye(5)[s], A=2, d=5)
    for s in range(5):
        assert np.array_equal(features.OneHot(None, 5, 2)(9, s), crossed(9, s))
        assert np.array_equal(features.OneHot(None, 5, 2).compact(9, s), crossed.compact(9, s))
    assert np.asarray(features.OneHot(None, 5, 2)).shape == (5, 2, 10)
    assert type(rlsvi(features.one_hot(None, 5, 2), H=3)) is TabularAgent
    assert features.FeatureMap.of(features.one_hot(None, 5, 2), 3) == features.OneHot(3, 5, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: rlsvi(features.one_hot(3, 5, 2), form=DiscountedAgent),
            "without a horizon; H is 3",
        ),
        (lambda: rlsvi(lambda s: np.eye(2), form=DiscountedAgent), "features must be a OneHot"),
        (lambda: rlsvi(PHI, form=TabularAgent, sweeps=1), r"\(H, S, A\) is \(None, 9, 3\)"),
        (lambda: rlsvi(PHI, form=DiscountedAgent, window=5), "does not offer window; window is 5"),
        (lambda: rlsvi(PHI, sweeps=math.inf, draws="per sweep"), "sweeps come to an end if"),
        (lambda: rlsvi(PHI, redraw="often"), "redraw must be one of 'never', 'at repeats'"),
        (lambda: rlsvi(PHI, redraw=0), "redraw must be a whole number"),
        (lambda: rlsvi(PHI, redraw=np.ones(2)), "redraw must be a whole number"),
        (lambda: rlsvi(PHI, H=3, redraw=5), "one draw an episode; redraw is 5 and H is 3"),
        (lambda: rlsvi(lambda s: np.eye(2), redraw="at repeats"), "where states are numbers"),
        (lambda: rlsvi(PHI, sweeps=-math.inf), "sweeps must be a whole number"),
        (lambda: rlsvi(PHI).act(-1, 0), "h must be a whole number"),
        (lambda: rlsvi(PHI).observe(0, 0, 0, math.nan, 1), "r must be a finite number"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
