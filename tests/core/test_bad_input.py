"""What agents refuse, at their doors and in mid-run, and what they mention."""

import math
import warnings

import numpy as np
import pytest

from rlsvi_core import (
    Agent,
    DiscountedMDP,
    FiniteMDP,
    Learner,
    Options,
    bootstrap,
    chain,
    features,
    lsvi,
    rlsvi,
)
from rlsvi_core.agent import LONGEST
from rlsvi_core.beyond.boxes import tiles
from rlsvi_core.envs import lock
from rlsvi_core.learners.continual import Continual
from rlsvi_core.learners.incremental import incremental

PHI = np.random.default_rng(0).standard_normal((2, 3, 2, 4))
HOT, TIMELESS = features.OneHot(2, 3, 2), features.OneHot(None, 3, 2)
MDP = FiniteMDP(np.full((2, 3, 2, 3), 1 / 3), np.zeros((2, 3, 2)))
REFUSED = (ValueError, TypeError, IndexError)


def rows(s):
    return np.kron(np.eye(2), [1.0, s])


class Own:
    """An environment whose step returns what it is told."""

    def __init__(self, stepped, H=2):
        self.stepped, self.H = stepped, H

    def start(self, rng):
        return 0

    def step(self, h, s, a, rng):
        return self.stepped


CALLS = {  # what is said about each
    "Phi": [lambda: rlsvi(np.ones((2, 3))), lambda: rlsvi(PHI * np.nan), lambda: rlsvi("table")],
    "masked": [lambda: rlsvi(np.ma.masked_greater(PHI, 1.0))],
    "shape": [
        *[lambda shape=shape: rlsvi(np.zeros(shape)) for shape in ((0, 3, 2, 4), (2, 3, 2, 0))],
        lambda: incremental(PHI[0]),  # it would be one of a single period
    ],
    "instance": [lambda: rlsvi(features.OneHot)],
    "observation": [
        lambda: rlsvi(lambda: PHI),
        lambda: rlsvi(lambda a, b, c: PHI),
        lambda: features.PerAction(PHI, 2),
    ],
    "pair": [lambda box=box: tiles(box, 2) for box in (None, [0.0], (0.0, 1.0, 2.0))],
    "lam": [lambda lam=lam: rlsvi(PHI, lam) for lam in (0, -1.0, math.nan, math.inf, "1")],
    "sigma": [
        *[lambda sigma=sigma: rlsvi(PHI, 1.0, sigma) for sigma in (0, -1.0, math.nan, "1")],
        lambda: rlsvi(PHI, 1.0, 1e-9),  # values would lose all digits
        lambda: Continual(PHI[0], 0.9, 0.9, 1e-13),
        lambda: lsvi(PHI, sigma=1.0),
        lambda: bootstrap(PHI, (0, 1), sigma=1.0),
    ],
    "gamma": [
        *[lambda gamma=gamma: rlsvi(PHI, gamma=gamma) for gamma in (-0.1, 1.5, math.nan, "1")],
        lambda: rlsvi(PHI[0]),  # a table for all periods: H or a discount
        lambda: Continual(PHI[0], 1.5, 0.9),
        lambda: Agent(rlsvi(PHI).learner, gamma=2),
    ],
    "value_range": [
        *[lambda v=v: rlsvi(PHI, value_range=v) for v in ((1, 0), (0, math.inf), 3, (1, 2, 3))],
        *[
            lambda v=v: rlsvi(PHI, value_range=v)
            for v in ("01", {0: 5, 1: 7}, (0, 1e-90), (0, 1e90), (0, 10**400))
        ],
        lambda: bootstrap(PHI, (1, 0)),
        lambda: bootstrap(PHI),
        lambda: Agent(rlsvi(PHI).learner, value_range=(1, 0)),
    ],
    "learner": [lambda: Agent(None), lambda: Agent(Learner)],
    "sample": [lambda: Agent(rlsvi(PHI).learner, sample="mean")],
    "printed": [lambda: rlsvi(PHI, printed="no")],
    "exact": [
        lambda: rlsvi(HOT).learn(Own((0.0, 0, False)), 1, exact=True),
        lambda: rlsvi(TIMELESS).learn(MDP, 1, exact=True),
    ],
    "H": [
        lambda: rlsvi(PHI, H=3),
        lambda: rlsvi(HOT, H=3),
        *[lambda H=H: rlsvi(rows, H=H) for H in (0, 2.5, "2")],
    ],
    "rng": [lambda: rlsvi(PHI, rng="a"), lambda: rlsvi(PHI).learn(MDP, 1, rng=-1)],
    "epsilon": [
        *[lambda e=e: lsvi(PHI, epsilon=e) for e in (-0.1, 1.1, math.nan, "1")],
        lambda: rlsvi(PHI, epsilon=0.1),
        lambda: lsvi(PHI, epsilon=lambda episode: 2.0).learn(MDP, 1),
        lambda: setattr(lsvi(PHI), "epsilon", 2.0),
        lambda: lsvi(PHI, epsilon=0.1, eta=1.0),
        lambda: Continual(PHI[0], 0.9, 0.9, epsilon=2),
    ],
    "eta": [lambda eta=eta: lsvi(PHI, eta=eta) for eta in (-0.1, math.inf, "1")],
    "kappa": [lambda k=k: bootstrap(HOT, (0, 1), k) for k in (0.0, 1e-10, 1e9, "1", math.nan)],
    "options": [lambda: rlsvi(PHI, options={"sweeps": 1})],
    "window": [lambda w=w: Options(window=w) for w in (0, 2.5, -1)],
    "sweeps": [
        *[lambda n=n: Options(sweeps=n) for n in (0, 2.5, -1, "all")],
        lambda: rlsvi(PHI, options=Options(sweeps=3)),
    ],
    "redraw": [
        *[lambda n=n: Options(redraw=n) for n in (0, 2.5, "never")],
        lambda: rlsvi(PHI, options=Options(redraw=3)),
    ],
    "first": [
        lambda: Options(first="zero"),
        lambda: bootstrap(HOT, (0, 1), options=Options(first="prior")),
        lambda: lsvi(HOT, options=Options(first="prior")),
        lambda: incremental(PHI, first="zero"),
    ],
    "truncate": [
        lambda: bootstrap(HOT, (0, 1), options=Options(truncate=False)),
        lambda: Options(truncate="no"),
    ],
    "shared": [
        lambda: rlsvi(TIMELESS, options=Options(shared=True)),
        lambda: bootstrap(HOT, (0, 1), options=Options(shared=True)),
    ],
    "nu": [lambda nu=nu: incremental(PHI, nu=nu) for nu in (1.0, -0.1, "0", lambda l: 1 / (l + 1))],
    "prior": [lambda: incremental(PHI, prior="lost")],
    "rho": [lambda: Continual(PHI[0], 0.9, 1.5)],
    "episodes": [lambda n=n: rlsvi(PHI).learn(MDP, n) for n in (-1, 2.5, None, 10**12)],
    "steps": [lambda: Continual(PHI[0], 0.9, 0.5).learn(lock(3), -1)],
    "start": [
        lambda: Continual(PHI[0], 0.9, 0.5).learn(lock(3), 1, start=3),
        lambda: rlsvi(PHI).learn("chain", 1),
        lambda: rlsvi(PHI).learn(FiniteMDP, 1),
        lambda: rlsvi(PHI).evaluate(None, 1),
    ],
    "features": [
        lambda: rlsvi(PHI).learn(chain(4), 1),
        lambda: Continual(PHI[0], 0.9, 0.5).learn(lock(4), 1),
        lambda: rlsvi(lambda s: np.ones((2, 3)) * np.nan).act(0, 0.5),
        lambda: rlsvi(lambda s: np.ones(3)).act(0, 0.5),
        lambda: rlsvi(lambda s: "x").act(0, 0.5),
    ],
    "one length": [
        lambda: rlsvi(features.OneHot(3, 3, 2)).learn(MDP, 1),
        lambda: rlsvi(TIMELESS).learn(MDP, 1, limit=3),
    ],
    "limit": [lambda: rlsvi(TIMELESS).learn(lock(3), 1, limit=0)],
    "environment's H": [
        lambda H=H: rlsvi(TIMELESS).learn(Own((0.0, 0, False), H), 1)
        for H in (0, -1, 2.5, "2", math.inf, math.nan)
    ],
    "must end": [lambda: rlsvi(TIMELESS).learn(DiscountedMDP(MDP.P[0], MDP.R[0], 0.9), 1)],
    "reward": [
        lambda: rlsvi(HOT).learn(Own((math.nan, 0, False)), 1),
        lambda: rlsvi(HOT).learn(Own(("1", 0, False)), 1),
    ],
    "horizon": [
        lambda: rlsvi(TIMELESS).learn(
            DiscountedMDP(MDP.P[0], MDP.R[0], 0.9), 1, limit=3, exact=True
        )
    ],
    "three": [lambda: rlsvi(HOT).learn(Own((1.0, 0)), 1), lambda: rlsvi(HOT).learn(Own(None), 1)],
    "s_next": [lambda: rlsvi(HOT).learn(Own((1.0, 7, False)), 1)],
    "legal": [
        *[
            lambda l=l: rlsvi(HOT).act(0, 0, l)
            for l in ([], [2], [-1], [1, 1], [True, False], [0.0], "x")
        ],
        lambda: rlsvi(rows).observe(0, 0.5, 0, 1.0, 0.5, [2]),
        lambda: rlsvi(HOT).greedy(0, 0, [2]),
    ],
    "must be one of": [
        *[lambda h=h: rlsvi(HOT).act(h, 0) for h in (-1, 2, 0.0, None)],
        *[lambda s=s: rlsvi(HOT).values(0, s) for s in (-1, 3, 0.0, None)],
        *[lambda a=a: rlsvi(HOT).observe(0, 0, a, 1.0, 0) for a in (-1, 2, 0.0, None)],
        lambda: rlsvi(TIMELESS).mean_values(0, 3),
        lambda: rlsvi(rows).observe(0, 0.5, 2, 1.0, 0.5),
        lambda: incremental(PHI).observe(0, 0, 0, 1.0, 3),
        lambda: Continual(PHI[0], 0.9, 0.5).observe(0, 0, 0, 0.0, 3),
        lambda: Continual(PHI[0], 0.9, 0.5).act(0, -1),
    ],
    "r must be": [lambda r=r: rlsvi(HOT).observe(0, 0, 0, r, 0) for r in (math.nan, None, "1")],
}


@pytest.mark.filterwarnings("ignore:plan")
@pytest.mark.parametrize(
    ("call", "keyword"),
    [(call, keyword) for keyword, calls in CALLS.items() for call in calls],
    ids=[f"{keyword} {i}" for keyword, calls in CALLS.items() for i in range(len(calls))],
)
def test_bad_input_is_refused(call, keyword):
    with pytest.raises(REFUSED, match=keyword):
        call()


def test_values_without_bound_are_refused():
    """Features that extrapolate: a state worth twice as much as the one that leads to it."""
    for phi in (np.array([[[1.0]], [[2.0]]]), lambda s: np.array([[1.0 + s]])):
        agent = rlsvi(phi, 1e-3, 0.1, gamma=0.99, rng=1, options=Options(sweeps=2000))
        agent.observe(0, 0, 0, 1.0, 1)
        with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="value_range"):
            agent.plan()


@pytest.mark.parametrize("name", ["gamma", "lam", "sigma", "H", "options", "features", "theta"])
def test_what_would_be_ignored_cannot_be_set(name):
    agent = rlsvi(PHI)
    with pytest.raises(AttributeError):
        setattr(agent, name, 0.5)


def test_epsilon_and_eta_may_be_set_between_episodes():
    agent = lsvi(HOT, rng=1)
    agent.epsilon = 1.0
    assert (agent.policy() == 0.5).all()
    agent.epsilon, agent.eta = 0.0, 2.0
    agent.observe(1, 0, 0, 2.0, None)
    agent.plan()
    assert 0.5 < agent.policy()[1, 0, 0] < 1
    with pytest.raises(ValueError, match="one way"):
        agent.epsilon = 0.5
    assert (agent.epsilon, agent.eta) == (0.0, 2.0)  # what was refused is not set


# ------------------------------------------------------------------ what was silently wrong


def test_the_clock_is_not_the_end_of_a_discounted_world():
    """One state that pays 1 for action 0, for ever; the MDP lasts five steps, its values do not."""
    mdp = FiniteMDP.stationary(np.ones((1, 2, 1)), [[1.0, 0.0]], H=5)
    endless = DiscountedMDP(np.ones((1, 2, 1)), [[1.0, 0.0]], 0.99)
    for env, more in ((mdp, {}), (endless, {"limit": 5})):
        agent = rlsvi(features.one_hot(None, 1, 2), value_range=(0, 100), gamma=0.99, rng=1)
        run = agent.learn(env, 400, rng=2, **more)
        assert run.length.tolist() == [5] * 400
        np.testing.assert_allclose(agent.mean_values(0, 0), [100, 99], rtol=0.02)


def test_an_episode_without_end_is_refused():
    class Endless(Own):
        def __init__(self):
            self.stepped = 0.0, 0, False

    agent = rlsvi(TIMELESS, gamma=0.9, rng=1, options=Options(redraw=math.inf))
    with pytest.raises(RuntimeError, match="end"):
        agent.learn(Endless(), 1, rng=2)
    assert agent.transitions == LONGEST - 1
    assert agent.learn(Endless(), 2, rng=2, limit=7).length.tolist() == [7, 7]
    with pytest.raises(RuntimeError, match="end"):
        agent.evaluate(Endless(), 1, rng=2)


def quiet(function):
    """It mentions nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function()


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_features_of_another_norm_are_mentioned_where_lam_rests_on_it(scale):
    unit = np.full((2, 3, 2, 4), 0.5)
    for phi, H in ((scale * unit, None), (lambda s: scale * unit[0, s], 2)):
        with pytest.warns(UserWarning, match="norm"):
            rlsvi(phi, value_range=(0, 1), H=H).values(0, 0)
        quiet(lambda phi=phi, H=H: rlsvi(phi, 1.0, H=H, value_range=(0, 1)))  # λ of one's own
        quiet(lambda phi=phi, H=H: rlsvi(phi, H=H))
    quiet(lambda: rlsvi(unit, value_range=(0, 1)))
    quiet(lambda: bootstrap(scale * unit, (0, 1)))  # where units do not matter


def test_values_that_lose_digits_are_mentioned():
    with pytest.warns(UserWarning, match="digits"):
        rlsvi(PHI, 1.0, 1e-6)


@pytest.mark.parametrize("make", [lambda: rlsvi(HOT, rng=1), lambda: rlsvi(rows, rng=1)])
def test_a_forgotten_plan_is_mentioned_once(make):
    agent = make()
    with pytest.warns(UserWarning, match="plan"):
        agent.act(0, 0)
    agent = make()
    agent.plan()
    quiet(lambda: agent.act(0, 0))
    agent.observe(0, 0, 0, 1.0, 1)
    quiet(lambda: agent.act(1, 1))  # in mid-episode
    with pytest.warns(UserWarning, match="plan"):
        agent.act(0, 0)
    quiet(lambda: agent.act(0, 0))
    agent.plan()
    quiet(lambda: agent.act(0, 0))


def test_the_same_seed_for_agent_and_environment_is_mentioned():
    with pytest.warns(UserWarning, match="seed"):
        rlsvi(HOT, rng=3).learn(MDP, 1, rng=3)
    quiet(lambda: rlsvi(HOT, rng=3).learn(MDP, 1, rng=4))
    one = np.random.default_rng(3)
    quiet(lambda: rlsvi(HOT, rng=one).learn(MDP, 1, rng=one))  # meant


DOORS = {
    "rlsvi": lambda **more: rlsvi(features.OneHot(2, 1, 2), value_range=(0, 1), rng=1, **more),
    "lsvi": lambda **more: lsvi(features.OneHot(2, 1, 2), value_range=(0, 1), rng=1, **more),
    "bootstrap": lambda **more: bootstrap(features.OneHot(2, 1, 2), (0, 1), rng=1, **more),
}


@pytest.mark.parametrize("name", DOORS)
def test_returns_beyond_the_range_of_values_are_mentioned_once(name):
    """By both loops; luck and bad actions are not."""
    rich = FiniteMDP.stationary(np.ones((1, 2, 1)), [[3.0, 3.0]], H=2)
    for env in (rich, Own((3.0, 0, False))):
        agent = DOORS[name]()
        with pytest.warns(UserWarning, match="value_range") as said:
            agent.learn(env, 50, rng=2)
        assert len(said) == 1
        quiet(lambda agent=agent, env=env: agent.learn(env, 50, rng=3))
    lucky = FiniteMDP.stationary(np.ones((1, 2, 1)), [[0.5, 0.4]], H=2, support=(0, 1))
    quiet(lambda: DOORS[name]().learn(lucky, 50, rng=2))
    seldom = FiniteMDP.stationary(np.ones((1, 2, 1)), [[0.5, 0.5]], H=2, support=(0, 50))
    for seed in range(
        20
    ):  # 1 on average, 50 or 100 at times; four standard errors of it hardly ever
        quiet(lambda seed=seed: DOORS[name]().learn(seldom, 200, rng=seed + 2))
    poor = FiniteMDP.stationary(np.ones((1, 2, 1)), [[-9.0, -9.0]], H=2)
    quiet(lambda: DOORS[name]().learn(poor, 50, rng=2))


def test_a_return_is_discounted_and_an_episode_that_was_cut_is_not_one():
    agent = rlsvi(features.OneHot(None, 1, 2), value_range=(0, 10), gamma=0.9, rng=1)
    quiet(lambda: agent.learn(Own((1.0, 0, False), H=30), 50, rng=2))  # less than 10, discounted
    agent = rlsvi(features.OneHot(None, 1, 2), value_range=(0, 10), gamma=0.9, rng=1)
    quiet(lambda: agent.learn(Own((100.0, 0, False), H=1), 50, rng=2))  # by the clock
    with pytest.warns(UserWarning, match="value_range"):
        agent.learn(Own((100.0, 0, True), H=1), 50, rng=2)


def test_an_agent_of_any_learner_checks_how_it_acts():
    learner = rlsvi(HOT).learner
    with pytest.raises(ValueError, match="epsilon"):
        Agent(learner, epsilon=2.0)
    with pytest.raises(ValueError, match="eta"):
        Agent(learner, eta=-1.0)


def test_values_that_are_no_numbers_and_other_words_for_the_end_are_refused():
    class Lost(Learner):
        def __init__(self, found, A=2):
            self.found, self.A = found, A

        def fit(self, rng, before):
            return self.found

        def values(self, fitted, h, s):
            return fitted

    minus = np.full(2, -np.inf)
    for found in (
        np.full(2, np.nan),
        minus,
        -minus,
        np.zeros(3),
        [0.0, 0.0],
        None,
        np.zeros((2, 1)),
        np.array(["a", "b"]),
        np.zeros(2, complex),
    ):
        with pytest.raises(ValueError, match="values"):
            Agent(Lost(found), rng=1).learn(Own((0.0, 0, False)), 1, rng=2)
    with pytest.raises(ValueError, match="values"):
        Agent(Lost(np.zeros(0), None), rng=1).learn(Own((0.0, 0, False)), 1, rng=2)
    with pytest.raises(NotImplementedError, match="add"):
        Agent(Lost(np.zeros(2)), rng=1).learn(Own((0.0, 0, False)), 1, rng=2)
    with pytest.raises(ValueError, match="cut"):
        rlsvi(HOT, rng=1).learn(Own((0.0, 0, "truncated"), HOT.H), 1, rng=2)
    with pytest.raises(ValueError, match="a state follows"):
        rlsvi(HOT, rng=1).learn(Own((0.0, None, False), HOT.H), 1, rng=2)
    run = rlsvi(HOT, rng=1).learn(Own((1.0, None, True), HOT.H), 3, rng=2)
    assert run.reward.tolist() == [1, 1, 1]
    assert run.furthest.tolist() == [0, 0, 0]


@pytest.mark.parametrize("phi", [HOT, TIMELESS, PHI], ids=["counts", "discounted", "sums"])
@pytest.mark.parametrize("masks", [([0], None), ([0], [1])], ids=["then all", "then others"])
def test_masks_in_a_table_of_states_do_not_change(phi, masks):
    agent = rlsvi(phi, rng=1)
    agent.observe(0, 0, 0, 1.0, 1, masks[0])
    agent.observe(0, 0, 0, 1.0, 2)  # where everything is allowed, always
    agent.observe(0, 0, 0, 1.0, 1, masks[0])
    with pytest.raises(ValueError, match="the same at every visit"):
        agent.observe(0, 0, 0, 1.0, 1, masks[1])
    assert agent.transitions == 3


def test_the_generator_may_be_set_by_a_seed():
    agent, other = rlsvi(HOT, rng=1), rlsvi(HOT, rng=7)
    agent.rng = 7
    assert np.array_equal(agent.learn(MDP, 9, rng=2).reward, other.learn(MDP, 9, rng=2).reward)
    with pytest.raises(TypeError, match="rng"):
        agent.rng = "seven"


def test_weights_are_asked_for_after_the_first_plan():
    for phi, planned in ((PHI, False), (TIMELESS, True)):
        agent = rlsvi(phi, rng=1)
        if planned:
            agent.plan()
        with pytest.raises(AttributeError, match="plan"):
            agent.theta  # noqa: B018
