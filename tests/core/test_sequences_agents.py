"""Calls of an agent in any order: what must not matter does not, and every form is the
printed one.

A state machine of hypothesis plans, acts, observes, learns, evaluates, pickles and copies an agent,
presses Ctrl-C in mid-learn, and makes calls that are refused. Two others are the model. ``plain`` is the same agent with the
first four kinds of calls alone: after each call, both are in the same state to the bit, and so are
their posterior means. ``verbatim`` is the printed form with the same calls and the same draws: it
has the same weights, up to rounding.
"""

import copy
import pickle
import signal
import sys
from collections import deque
from contextlib import contextmanager, suppress
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

from rlsvi_core import (
    FiniteMDP,
    Reading,
    StoredAgent,
    VerbatimAgent,
    bootstrap,
    features,
    lsvi,
    rlsvi,
)
from rlsvi_core.agents import VerbatimBootstrap
from rlsvi_core.agents.continual import FastContinual
from rlsvi_core.agents.incremental import IncrementalAgent, VerbatimIncremental, incremental
from rlsvi_core.agents.rivals import psrl, ucbvi
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.envs.tetris import Tetris
from rlsvi_core.mdp import DiscountedMDP
from rlsvi_study.recommender.products import Products
from rlsvi_study.tetris.ring import Placements

H, S, A = 3, 4, 3
RANDOM = np.random.default_rng(1)
P, R = RANDOM.dirichlet(np.ones(S), (H, S, A)), RANDOM.normal(size=(H, S, A, S))
MDP, ENDLESS = FiniteMDP(P, R), DiscountedMDP(P[0], R[0], 0.9)
PRIOR = DirichletPrior.symmetric(H, S, A)
TABLE = RANDOM.normal(size=(H, S, A, 5)) / 2
SCRATCH = {
    "_at_mean",
    "_is_warned",
    "_last",
    "_factor",
    "_q",
    "_p",
    "_row",
    "run",  # of no consequence later
    "features",
}  # the same for ever


# ------------------------------------------------------------------ what there is to observe


class Numbers:
    """Any transition between numbered states, in any order; with masks, an action of the state's
    own number is forbidden."""

    between_games = True

    def __init__(self, form):
        self.masks, self.rewards, self.ends = form.masks, form.rewards, form.ends

    def legal(self, s):
        return np.array([a for a in range(A) if a != s]) if self.masks else None

    def state(self, draw):
        s = draw(st.integers(0, S - 1))
        return draw(st.integers(0, H - 1)), s, self.legal(s)

    def transition(self, draw):
        h, s, legal = self.state(draw)
        a = int(draw(st.sampled_from(list(range(A) if legal is None else legal))))
        s_next = draw(st.integers(0, S - 1) | (st.none() if self.ends else st.nothing()))
        follows = None if s_next is None else self.legal(s_next)
        return {
            "h": h,
            "s": s,
            "a": a,
            "r": draw(st.sampled_from(self.rewards)),
            "s_next": s_next,
            **({"legal_next": follows} if self.masks else {}),
        }


class Game:
    """The transitions of an environment, in their order, with actions that nobody chose well."""

    masks = False

    def __init__(self, env):
        self.env, self.rng, self.ended = env, np.random.default_rng(1), True
        self.begin()

    def begin(self):
        self.h, self.s, self.ended = 0, self.env.start(self.rng).copy(), False

    @property
    def between_games(self):
        return self.h == 0

    def state(self, draw):
        return self.h, self.s.copy(), None

    def transition(self, draw):
        h, s = self.h, self.s
        choices = np.flatnonzero(s == 0) if s.ndim == 1 else range(len(s))  # products, placements
        a = int(draw(st.sampled_from(list(choices))))
        r, s_next, ended = self.env.step(h, s.copy(), a, self.rng)
        self.h, self.s = h + 1, s_next.copy()
        if ended:
            self.begin()
        return {"h": h, "s": s, "a": a, "r": r, "s_next": None if ended else s_next}


# ------------------------------------------------------------------ the agents


def line(s):
    """State features crossed with the actions."""
    return np.where(np.eye(A)[:, :, None] == 1, [1.0, s / 3], 0.0).reshape(A, -1)


class Line(features.FeatureMap):
    K = 2 * A

    def __call__(self, h, s):
        return line(s)


class Form(NamedTuple):
    make: Any  # of the form, None or the verbatim one
    weights: Any = None  # of an agent, in the verbatim order; None: there is no other form
    verbatim: Any = VerbatimAgent
    world: Any = Numbers
    env: Any = lambda: MDP
    rewards: Any = (-1.0, 0.0, 0.3, 1.0)
    masks: bool = False
    ignores: frozenset = frozenset()  # arguments that say nothing new
    ends: bool = True
    mean: bool = True  # whether there is one to act on
    impossible: tuple = ()  # rewards, where any number is not possible


def theta(agent):
    return agent.theta.ravel()


def table(agent):
    """Of an (H, S, A) table the verbatim weights; what a mask forbids is not compared."""
    return agent.theta.ravel() if isinstance(agent, VerbatimAgent) else agent.Q.ravel()


def products(agent):
    return (
        agent.theta.ravel()
        if isinstance(agent, VerbatimAgent)
        else agent.theta.transpose(0, 2, 1).ravel()
    )


def on(phi, make=rlsvi, lam=1.0, *more, **options):
    """Makes an agent in the form it is told."""
    return lambda form: make(phi, lam, *more, form=form, rng=1, **options)


NOISE = (1.0, 0.5)
TABULAR, TIMELESS = features.OneHot(H, S, A), features.OneHot(None, S, A)
CUT = {"value_range": (-1.5, 1.2)}
FORMS = {
    "tabular": Form(on(TABULAR, rlsvi, *NOISE), table),
    "tabular, masks": Form(on(TABULAR, rlsvi, *NOISE, **CUT), table, masks=True),
    "tabular, epsilon": Form(on(TABULAR, lsvi, epsilon=0.5, half_life=3), table),
    "finite": Form(on(TABLE, rlsvi, *NOISE, gamma=0.9), theta),
    "finite, masks": Form(
        on(TABLE, rlsvi, *NOISE, reading=Reading(first_episode="prior")), theta, masks=True
    ),
    "finite, epsilon": Form(on(TABLE, lsvi, epsilon=0.5, half_life=3), theta),
    "finite, eta": Form(on(TABLE, lsvi, eta=0.5, **CUT), theta),
    "discounted": Form(on(TIMELESS, rlsvi, *NOISE, gamma=0.8), theta),
    "discounted, masks": Form(
        on(TIMELESS, rlsvi, *NOISE, sweeps=3, reading=Reading(draws="per sweep"), **CUT),
        theta,
        masks=True,
    ),
    "discounted, epsilon": Form(on(TIMELESS, lsvi, epsilon=0.5, half_life=3), theta, masks=True),
    "stored": Form(
        lambda form: rlsvi(
            Line() if form else line,
            *NOISE,
            form=form,
            gamma=0.5,
            rng=1,
            sweeps=2,
            reading=Reading(first_episode="prior"),
        ),
        theta,
    ),
    "stored, masks": Form(
        lambda form: rlsvi(
            Line() if form else line,
            *NOISE,
            form=form,
            rng=1,
            window=7,
            reading=Reading(targets="mean"),
            **CUT,
        ),
        theta,
        masks=True,
    ),
    "stored, H": Form(
        lambda form: rlsvi(Line() if form else line, *NOISE, form=form, rng=1, H=H),
        theta,
        masks=True,
    ),
    "stored, shared": Form(
        lambda form: rlsvi(
            Line() if form else line,
            *NOISE,
            form=form,
            rng=1,
            H=H,
            weights="shared",
            reading=Reading(variance="unknown"),
            **CUT,
        ),
        theta,
        masks=True,
    ),
    "stored, epsilon": Form(
        lambda form: lsvi(TABLE, epsilon=0.5, half_life=3, rng=1, form=form or StoredAgent),
        theta,
        masks=True,
    ),
    "bootstrap": Form(lambda form: bootstrap(TABLE, (-1.5, 1.2), 0.3, gamma=0.9, rng=1)),
    "bootstrap, one-hot": Form(lambda form: bootstrap(TABULAR, (-1.5, 1.2), rng=1), masks=True),
    "bootstrap, no H": Form(
        lambda form: bootstrap(TIMELESS, (-1.5, 1.2), gamma=0.8, rng=1), masks=True
    ),
    "bootstrap, stored": Form(
        lambda form: bootstrap(
            Line() if form else line, (-1.5, 1.2), 0.3, form=form, gamma=0.5, window=7, rng=1
        ),
        theta,
        VerbatimBootstrap,
        masks=True,
    ),
    "verbatim": Form(
        lambda form: rlsvi(Line(), *NOISE, reading=Reading(lam_of_mean=2.0), rng=1, **CUT),
        masks=True,
    ),
    "incremental": Form(
        lambda form: incremental(
            TABLE, *NOISE, nu=0.1, prior="kept", rng=1, form=form or IncrementalAgent
        ),
        theta,
        VerbatimIncremental,
    ),
    "psrl": Form(
        lambda form: psrl(PRIOR, rng=1),
        env=lambda: PRIOR.sample(2),
        rewards=(-1.0, 0.0),
        mean=False,
        impossible=(-0.5, 1.0),
    ),
    "ucbvi": Form(
        lambda form: ucbvi(PRIOR, 50, rng=1),
        env=lambda: PRIOR.sample(2),
        rewards=(-1.0, -0.5),
        masks=True,
        mean=False,
        impossible=(0.5,),
    ),
    "continual": Form(
        lambda form: FastContinual(TABLE[0], 0.9, 0.9, rng=1),
        env=lambda: ENDLESS,
        ends=False,
        mean=False,
        ignores=frozenset({"h", "legal", "legal_next"}),
    ),
    "products": Form(
        on(Products(4, 3), rlsvi, *NOISE),
        products,
        world=Game,
        env=lambda: Recommender.random(2.0, 1, N=4, J=3),
        ignores=frozenset({"s_next"}),
    ),
    "ring": Form(
        on(Placements(Tetris(6, 7)), rlsvi, 1.0, 1.0, window=6, gamma=0.5),
        theta,
        world=Game,
        env=lambda: Tetris(6, 7),
    ),
}
SPOILED = {
    "h": [-1, "x", None],
    "s": [np.nan, np.inf],
    "a": [99, -1, None, 0.5],
    "r": [np.nan, None, "x", np.float32("inf")],
    "s_next": [np.nan, np.inf],
    "legal": [[], [99], [True, False, True], "x", np.array([0.0])],
}
SPOILED["legal_next"] = SPOILED["legal"]


# ------------------------------------------------------------------ the machine


def same(one, two):
    """Whether two things are in the same state, to the bit."""
    if type(one) is not type(two):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and one.tobytes() == two.tobytes()
    if isinstance(one, np.random.Generator):
        return one.bit_generator.state == two.bit_generator.state
    if isinstance(one, (tuple, list, deque)):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if hasattr(one, "__dict__") and not callable(one):
        return not differing(one, two)
    return one == two or one != one


def taken_in(agent):
    """A copy in which no transition waits and no room is left; when they are taken in, and how many
    at a time, is of no consequence."""
    agent = copy.deepcopy(agent)
    if hasattr(agent, "seen"):
        used = agent.seen.used[0]
        agent._seen = agent.seen._replace(
            **{
                name: getattr(agent.seen, name)[:used]
                for name in ("link", "state", "number", "reward")
                if name in agent.seen._fields
            }
        )
    for kept in getattr(agent, "data", []):
        getattr(kept, "take_in", lambda: None)()
    return agent


def differing(one, two):
    """The attributes in which they are not."""
    return {
        name
        for name in (vars(one).keys() | vars(two).keys()) - SCRATCH
        if not same(vars(one).get(name), vars(two).get(name))
    }


@contextmanager
def ctrl_c(at):
    """Press Ctrl-C before the so many-th line of the library that is run."""
    lines, before = 0, sys.gettrace()

    def trace(frame, event, arg):
        nonlocal lines
        if not frame.f_globals.get("__name__", "").startswith("rlsvi_"):
            return None
        lines += event == "line"
        if event == "line" and lines == at:
            signal.raise_signal(signal.SIGINT)
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def close(agent, verbatim, weights):
    one, two = weights(agent), weights(verbatim)
    there = np.isfinite(one)
    np.testing.assert_allclose(one[there], two[there], rtol=1e-6, atol=1e-8)


class Sequence(RuleBasedStateMachine):
    def __init__(self, form):
        super().__init__()
        self.form, self.learned, self.seen = form, 0, 0
        self.agent, self.plain = form.make(None), form.make(None)
        self.verbatim = form.weights and form.make(form.verbatim)
        self.world = Game(form.env()) if form.world is Game else Numbers(form)
        if isinstance(self.agent, StoredAgent):  # how many features there are, it sees first
            self.each("plan")
            self.each("act", 0, S - 1)

    def each(self, method, *args, **kwargs):
        """Make a call of all three, each with arguments of its own; returns the agent's answer."""
        others = [self.plain, *([self.verbatim] if self.verbatim else [])]
        answer = getattr(self.agent, method)(*args, **kwargs)
        for other in others:
            getattr(other, method)(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        return answer

    @rule()
    def plan(self):
        self.each("plan")

    @rule(data=st.data())
    def act(self, data):
        h, s, legal = self.world.state(data.draw)
        a = self.each("act", h, s, **({} if legal is None else {"legal": legal}))
        assert legal is None or a in legal

    @rule(data=st.data())
    def observe(self, data):
        self.each("observe", **self.world.transition(data.draw))
        self.seen += 1

    @precondition(lambda self: self.world.between_games and not self.form.masks)
    @rule()
    def learn(self):
        self.learned += 1
        others = [self.plain, *([self.verbatim] if self.verbatim else [])]
        run, *runs = (
            one.learn(self.form.env(), 2, rng=self.learned) for one in (self.agent, *others)
        )
        assert all(same(run, other) for other in runs)
        self.seen += int(getattr(run, "length", np.zeros(1)).sum())

    @precondition(lambda self: self.world.between_games and not self.form.masks)
    @rule(line=st.integers(1, 400))
    def learn_interrupted(self, line):
        """Ctrl-C at some line of it, and on."""
        self.learned += 1
        others = [self.plain, *([self.verbatim] if self.verbatim else [])]
        run, *_ = [one.learn(self.form.env(), 3, rng=self.learned) for one in others]
        agent, env, rng = self.agent, self.form.env(), np.random.default_rng(self.learned)
        continual = isinstance(agent, FastContinual)
        agent.run = type(run)._make(column[:0] for column in run)
        first = {}
        with suppress(KeyboardInterrupt), ctrl_c(line):
            agent.learn(env, 3, rng)
        before = agent.run
        if continual and before.state.size:
            first = {"start": int(before.state[-1])}
        after = agent.learn(env, 3 - len(before.reward), rng, **first)
        whole = [
            np.concatenate([one[: len(before.reward)], two])
            for one, two in zip(before, after, strict=True)
        ]
        assert same(list(run), whole)
        self.seen += int(getattr(run, "length", np.zeros(1)).sum())

    @precondition(lambda self: self.form.mean)
    @rule(data=st.data())
    def evaluate(self, data):
        h, s, legal = self.world.state(data.draw)
        a = self.agent.greedy(h, s, legal)
        assert legal is None or a in legal
        if not self.form.masks:
            self.agent.evaluate(self.form.env(), 1, rng=1)
        mean = self.agent.mean_values(h, s, legal)
        np.testing.assert_array_equal(mean, copy.deepcopy(self.plain).mean_values(h, s, legal))
        if self.verbatim:
            printed = copy.deepcopy(self.verbatim).mean_values(h, s, legal)
            np.testing.assert_allclose(mean, printed, rtol=1e-6, atol=1e-8)

    @rule()
    def pickle(self):
        self.agent = pickle.loads(pickle.dumps(self.agent))

    @rule()
    def copy(self):
        self.agent = copy.deepcopy(self.agent)

    @rule(data=st.data())
    def refused(self, data):
        """A good call with one argument spoiled."""
        method = data.draw(st.sampled_from(["act", "observe"]))
        if method == "act":
            good = dict(zip(("h", "s", "legal"), self.world.state(data.draw), strict=True))
        else:
            good = {"legal_next": None, **copy.deepcopy(self.world).transition(data.draw)}
        silent = self.form.ignores
        if method == "observe" and (good["s_next"] is None or good["h"] == H - 1):
            silent |= {"s_next", "legal_next"}  # nothing follows
        one = data.draw(st.sampled_from(sorted(set(good) - silent)))
        impossible = self.form.impossible if one == "r" else ()
        good[one] = data.draw(st.sampled_from(impossible or SPOILED[one]))
        given = {
            name: value
            for name, value in good.items()
            if value is not None or name == one or name == "s_next"
        }
        with pytest.raises((ValueError, IndexError, TypeError)) as caught:
            getattr(self.agent, method)(**given)
        assert caught.traceback[-1].name == "fail", caught.value

    @invariant()
    def nothing_else_matters(self):
        assert not differing(taken_in(self.agent), taken_in(self.plain))

    @invariant()
    def every_transition_is_counted(self):
        assert getattr(self.agent, "transitions", self.seen) == self.seen

    @invariant()
    def the_weights_are_the_printed_ones(self):
        if self.verbatim:
            assert same(self.agent.rng, self.verbatim.rng)
            close(self.agent, self.verbatim, self.form.weights)


@pytest.mark.filterwarnings("ignore:value_range")
@pytest.mark.parametrize("name", FORMS)
def test_calls_in_any_order(name):
    run_state_machine_as_test(
        lambda: Sequence(FORMS[name]),
        settings=settings(
            max_examples=max(settings().max_examples // 4, 1),
            stateful_step_count=25,
            phases=[Phase.generate],
        ),
    )
