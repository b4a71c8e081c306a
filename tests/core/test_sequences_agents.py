"""Calls of an agent in any order: what must not matter does not.

A state machine of hypothesis plans, acts, observes, learns, looks, pickles and copies an agent, and
makes calls that are refused. Two others are the model. ``plain`` is the same agent with the first
four kinds of calls alone: after each call both are in the same state, to the bit. ``slow`` is the
reference with the same calls and the same draws: it has the same values, up to rounding.
"""

import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from reference import Reference
from worlds import copied, same, short_means  # noqa: F401

from rlsvi_core import Agent, FiniteMDP, Options, bootstrap, features, lsvi, rlsvi
from rlsvi_core.learners.appendix_f import ContinualLearner, incremental

H, S, A = 3, 5, 4
RANDOM = np.random.default_rng(1)
P, R = RANDOM.dirichlet(np.ones(S), (H, S, A)), RANDOM.normal(size=(H, S, A, S))
MDP = FiniteMDP(P, R)
TABLE = RANDOM.normal(size=(H, S, A, 6)) / 2
ONE_HOT, TIMELESS = features.OneHot(H, S, A), features.OneHot(None, S, A)
CUT = {"value_range": (-1.5, 1.2), "rng": 1}


def line(s):
    """State features crossed with the actions."""
    return np.where(np.eye(A)[:, :, None] == 1, [1.0, s / 3], 0.0).reshape(A, -1)


def halved(episode):
    return 0.5 * 2.0 ** (-episode / 3)


class Kind(NamedTuple):
    make: Any
    masks: bool = False
    slow: bool = True  # whether there is a reference
    rewards: tuple = (-1.0, 0.0, 0.3, 1.0)


NOISE = {"lam": 1.0, "sigma": 0.5, "rng": 1}
KINDS = {
    "counts": Kind(partial(rlsvi, ONE_HOT, **NOISE)),
    "counts, masks": Kind(partial(rlsvi, ONE_HOT, sigma=0.5, **CUT), True),
    "counts, epsilon": Kind(partial(lsvi, ONE_HOT, epsilon=halved, rng=1)),
    "sums": Kind(partial(rlsvi, TABLE, gamma=0.9, **NOISE)),
    "sums, masks": Kind(partial(rlsvi, TABLE, options=Options(first="prior"), **NOISE), True),
    "sums, eta": Kind(partial(lsvi, TABLE, eta=0.5, **CUT)),
    "sums, no H": Kind(partial(rlsvi, TABLE[0], gamma=0.5, **NOISE), True),
    "discounted": Kind(partial(rlsvi, TIMELESS, gamma=0.8, **NOISE)),
    "discounted, masks": Kind(
        partial(rlsvi, TIMELESS, sigma=0.5, options=Options(sweeps=3), **CUT), True
    ),
    "discounted, epsilon": Kind(partial(lsvi, TIMELESS, epsilon=halved, rng=1), True),
    "rows": Kind(partial(rlsvi, line, gamma=0.5, options=Options(sweeps=2), **NOISE)),
    "rows, window": Kind(
        partial(rlsvi, line, sigma=0.5, options=Options(window=7, redraw=2), **CUT), True
    ),
    "rows, H": Kind(partial(rlsvi, line, H=H, **NOISE), True),
    "rows, bandit": Kind(partial(rlsvi, line, gamma=0.0, **NOISE)),
    "outcomes": Kind(partial(bootstrap, TABLE, kappa=0.3, gamma=0.9, **CUT), slow=False),
    "outcomes, one-hot": Kind(partial(bootstrap, ONE_HOT, **CUT), True, False),
    "outcomes, no H": Kind(partial(bootstrap, TIMELESS, gamma=0.8, **CUT), True, False),
    "incremental": Kind(partial(incremental, TABLE, nu=0.1, prior="kept", **NOISE), slow=False),
    "continual": Kind(
        lambda: Agent(ContinualLearner(TABLE[0], 0.3, 0.9), redraw=2, rng=1), slow=False
    ),
}
SPOILED = {
    "h": [-1, "x", None],
    "s": [np.nan, None, 99],
    "a": [99, -1, None, 0.5],
    "r": [np.nan, None, "x", np.float32("inf")],
    "s_next": [np.nan, 99],
    "legal": [[], [99], [True, False, True, True], "x", np.array([0.0])],
}
SPOILED["legal_next"] = SPOILED["legal"]
SCRATCH = {
    "_at_mean",
    "_stale",
    "_pace",
    "_last",
    "_largest",
    "_queue",
    "row",
    "q",
    "draw",
    "nu",
}  # of no consequence


def essence(agent):
    """Its state, without what is of no consequence: what waits to be taken in, and the room for it."""
    agent = copy.deepcopy(agent)
    learner = agent.learner
    if hasattr(learner, "record"):
        learner.flush_queue()
        record = {k: v for k, v in learner.record._asdict().items() if k not in SCRATCH}
        if "seen" in record:
            used = record["seen"].used[0]
            nodes = ("state", "reward", "number", "link")
            seen = record["seen"]
            record["seen"] = seen._replace(**{n: getattr(seen, n)[:used] for n in nodes})
        learner.record = record
    elif hasattr(learner, "flush_queue"):
        learner.flush_queue()
        learner.kept = [(kept.columns, kept.gram, kept.c) for kept in learner.kept]
    state = agent.__getstate__() | vars(learner)
    return {
        name: value
        for name, value in state.items()
        if name not in SCRATCH | {"learner", "problem", "_run", "_done"}
    }


class Sequence(RuleBasedStateMachine):
    def __init__(self, kind):
        super().__init__()
        self.kind, self.learned, self.seen = kind, 0, 0
        self.agent, self.plain, self.slow = kind.make(), kind.make(), None
        if kind.slow:
            self.slow = copy.deepcopy(self.agent)
            self.slow.learner = Reference(self.agent.learner.problem)
        self.each("plan")
        self.each("act", 0, S - 1)  # which tells how many features there are

    def each(self, method, *args, **kwargs):
        """Make a call of all three, each with arguments of its own; returns the agent's answer."""
        answer, plain, slow = (
            one and getattr(one, method)(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            for one in (self.agent, self.plain, self.slow)
        )
        assert same(answer, plain)
        if self.slow and method == "learn":
            np.testing.assert_allclose(
                answer.predicted_value, slow.predicted_value, rtol=1e-6, atol=1e-8
            )
            slow = slow._replace(predicted_value=answer.predicted_value)
        assert not self.slow or same(answer, slow)
        return answer

    def legal(self, s):
        """With masks, an action of the state's own number is forbidden."""
        return np.array([a for a in range(A) if a != s]) if self.kind.masks else None

    def state(self, draw):
        h, s = draw(st.integers(0, H - 1)), draw(st.integers(0, S - 1))
        return {"h": h, "s": s} | ({"legal": self.legal(s)} if self.kind.masks else {})

    def transition(self, draw):
        h, s, legal = draw(st.integers(0, H - 1)), draw(st.integers(0, S - 1)), range(A)
        legal = list(legal if not self.kind.masks else self.legal(s))
        s_next = draw(st.integers(0, S - 1) | st.none())
        follows = None if s_next is None else self.legal(s_next)
        return {
            "h": h,
            "s": s,
            "a": int(draw(st.sampled_from(legal))),
            "r": draw(st.sampled_from(self.kind.rewards)),
            "s_next": s_next,
        } | ({"legal_next": follows} if self.kind.masks else {})

    @rule()
    def plan(self):
        self.each("plan")

    @rule(data=st.data())
    def act(self, data):
        at = self.state(data.draw)
        assert self.each("act", **at) in (range(A) if at.get("legal") is None else at["legal"])

    @rule(data=st.data())
    def observe(self, data):
        self.each("observe", **self.transition(data.draw))
        self.seen += 1

    @precondition(lambda self: not self.kind.masks)
    @rule(episodes=st.integers(0, 3))
    def learn(self, episodes):
        self.learned += 1
        run = self.each("learn", MDP, episodes, rng=self.learned)
        self.seen += int(run.length.sum())

    @rule(data=st.data())
    def look(self, data):
        at = self.state(data.draw)
        assert self.agent.greedy(**at) in (range(A) if at.get("legal") is None else at["legal"])
        if not self.kind.masks:  # and after it, for ties may be broken otherwise
            self.agent.evaluate(MDP, 1, rng=1)
        for look in ("values", "mean_values"):
            found = getattr(self.agent, look)(**at)
            np.testing.assert_array_equal(found, getattr(copy.deepcopy(self.plain), look)(**at))
            if self.slow:
                slow = getattr(copy.deepcopy(self.slow), look)(**at)
                np.testing.assert_allclose(found, slow, rtol=1e-6, atol=1e-8)

    @rule()
    def copy(self):
        self.agent = copied(self.agent)

    @rule(data=st.data())
    def refused(self, data):
        """A good call with one argument spoiled."""
        due = self.agent._due  # then act draws before it looks at the state
        method = "observe" if due else data.draw(st.sampled_from(["act", "observe"]))
        good = (self.state if method == "act" else self.transition)(data.draw)
        silent = {"h"} if self.agent.H is None else set()
        if good.get("s_next", 0) is None or good["h"] == H - 1:
            silent |= {"s_next", "legal_next"}  # nothing follows
        name = data.draw(st.sampled_from(sorted(set(good) - silent)))
        good[name] = data.draw(st.sampled_from(SPOILED[name]))
        computed = self.agent.learner.S is None
        if computed and good[name] in (99, None):
            return  # of any number there are features, and of None an error of their own
        with pytest.raises((ValueError, IndexError, TypeError)) as caught:
            getattr(self.agent, method)(**good)
        assert caught.traceback[-1].name == "fail", caught.value

    @invariant()
    def nothing_else_matters(self):
        one, two = essence(self.agent), essence(self.plain)
        assert not [name for name in one | two if not same(one.get(name), two.get(name))]
        assert self.slow is None or same(self.agent.rng, self.slow.rng)

    @invariant()
    def every_transition_is_counted(self):
        assert self.agent.n_transitions == self.seen


@pytest.mark.filterwarnings("ignore:plan", "ignore:agent and environment")
@pytest.mark.parametrize("name", KINDS)
def test_calls_in_any_order(name):
    run_state_machine_as_test(
        lambda: Sequence(KINDS[name]),
        settings=settings(
            max_examples=max(settings().max_examples // 4, 1),
            stateful_step_count=25,
            phases=[Phase.generate],
        ),
    )
