"""What the library refuses, at its entry points and in mid-run, and what agents mention."""

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
    suggest_parameters,
)
from rlsvi_core.envs import Tetris, lock, river_swim
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.features import boxes
from rlsvi_core.learners.appendix_f import ContinualLearner, incremental
from rlsvi_core.optimism import (
    Beta,
    DirichletMean,
    FiniteDistribution,
    Normal,
    certify_crossings,
    compare_samples,
    estimate_gap,
    least_variance,
)
from rlsvi_core.optimism.balls import decide
from rlsvi_core.regression import GaussianPosterior
from rlsvi_core.runtime.env_protocol import MAX_UNLIMITED_STEPS

PHI = np.random.default_rng(3).standard_normal((4, 3, 2, 5))
HOT, TIMELESS = features.OneHot(4, 3, 2), features.OneHot(None, 3, 2)
MDP = FiniteMDP(np.full((4, 3, 2, 3), 1 / 3), np.zeros((4, 3, 2)))
ENDLESS = DiscountedMDP(MDP.P[0], MDP.R[0], 0.9)
P0, R0 = np.full((2, 2, 1, 2), 0.5), np.zeros((2, 2, 1, 2))
Q0, BOX = np.random.default_rng(4).random((2, 3, 2)), ([-1.2, -0.07], [0.6, 0.07])
CUSTOMERS = Recommender.random(rng=2, N=4, J=3)


def rows(s):
    return np.kron(np.eye(2), [1.0, s])


def edited(array, where, value):
    array = array.copy()
    array[where] = value
    return array


class Own:
    """An environment whose step returns what it is told."""

    def __init__(self, stepped, H=4, **sizes):
        self.stepped, self.H = stepped, H
        vars(self).update(sizes)

    def start(self, rng):
        return 0

    def step(self, h, s, a, rng):
        return self.stepped


class Paying(FiniteMDP):
    """It has a step of its own, so that its arrays are not its law."""

    def step(self, h, s, a, rng):
        r, s_next, over = super().step(h, s, a, rng)
        return r + 1.0, s_next, over


class Forgetful(Learner):
    """Its fit keeps what it fitted to itself."""

    def fit(self, rng, before):
        self.Q = np.zeros(2)

    def values(self, fitted, h, s):
        return self.Q


REFUSED = [  # what is said about a call; one value for each rule
    # the entry points
    ("Phi", lambda: rlsvi(np.ones((2, 3)))),
    ("Phi", lambda: rlsvi(PHI * np.nan)),
    ("masked", lambda: rlsvi(np.ma.masked_greater(PHI, 1.0))),
    ("shape", lambda: rlsvi(np.zeros((0, 3, 2, 4)))),
    ("shape", lambda: incremental(PHI[0])),  # it would be one of a single period
    ("lam", lambda: rlsvi(PHI, 0)),
    ("lam", lambda: rlsvi(PHI, "1")),
    ("sigma", lambda: rlsvi(PHI, 1.0, math.nan)),
    ("sigma", lambda: rlsvi(PHI, 1.0, 1e-9)),  # values would lose all digits
    ("sigma", lambda: ContinualLearner(PHI[0], 0.9, 0.9, 1e-13)),
    ("sigma", lambda: lsvi(PHI, sigma=1.0)),
    ("sigma", lambda: bootstrap(PHI, (0, 1), sigma=1.0)),
    ("gamma", lambda: rlsvi(PHI, gamma=1.5)),
    ("gamma", lambda: rlsvi(PHI[0])),  # a table for all periods: H or a discount
    ("gamma", lambda: ContinualLearner(PHI[0], 1.5, 0.9)),
    ("gamma", lambda: Agent(rlsvi(PHI).learner, gamma=2)),
    ("value_range", lambda: rlsvi(PHI, value_range=(1, 0))),
    ("value_range", lambda: rlsvi(PHI, value_range="01")),
    ("value_range", lambda: rlsvi(PHI, value_range={0: 5, 1: 7})),
    ("value_range", lambda: rlsvi(PHI, value_range=(0, 1e-90))),
    ("value_range", lambda: bootstrap(PHI, (1, 0))),
    ("value_range", lambda: bootstrap(PHI)),
    ("feature_norm", lambda: suggest_parameters((0, 1), 0.0)),
    ("learner", lambda: Agent(Learner)),
    ("sample", lambda: Agent(rlsvi(PHI).learner, sample="mean")),
    ("H", lambda: rlsvi(PHI, H=3)),
    ("H", lambda: rlsvi(rows, H=2.5)),
    ("rng", lambda: rlsvi(PHI, rng="a")),
    ("rng", lambda: rlsvi(PHI).learn(MDP, 1, rng=-1)),
    ("epsilon", lambda: lsvi(PHI, epsilon=1.1)),
    ("epsilon", lambda: rlsvi(PHI, epsilon=0.1)),
    ("epsilon", lambda: lsvi(PHI, epsilon=lambda episode: 2.0).learn(MDP, 1)),
    ("epsilon", lambda: lsvi(PHI, epsilon=0.1, eta=1.0)),
    ("epsilon", lambda: Agent(rlsvi(PHI).learner, epsilon=2.0)),
    ("eta", lambda: lsvi(PHI, eta=math.inf)),
    ("kappa", lambda: bootstrap(HOT, (0, 1), 0.0)),
    ("kappa", lambda: bootstrap(HOT, (0, 1), 1e9)),
    ("options", lambda: rlsvi(PHI, options={"sweeps": 1})),
    ("window", lambda: Options(window=2.5)),
    ("sweeps", lambda: Options(sweeps=0)),
    ("sweeps", lambda: rlsvi(PHI, options=Options(sweeps=3))),
    ("redraw", lambda: Options(redraw="never")),
    ("redraw", lambda: rlsvi(PHI, options=Options(redraw=3))),
    ("redraw", lambda: Agent(rlsvi(PHI).learner, redraw=0)),
    ("first", lambda: Options(first="zero")),
    ("first", lambda: lsvi(HOT, options=Options(first="prior"))),
    ("window", lambda: bootstrap(HOT, (0, 1), options=Options(window=9))),
    ("table", lambda: bootstrap(lambda s: np.eye(2), (0, 1))),
    ("nu", lambda: incremental(PHI, nu=1.0)),
    ("nu", lambda: incremental(PHI, nu=lambda l: 1 / (l + 1))),
    ("prior", lambda: incremental(PHI, prior="lost")),
    ("rho", lambda: ContinualLearner(PHI[0], 0.9, 1.5)),
    # an agent in its environment
    ("exact", lambda: rlsvi(HOT).learn(Own((0.0, 0, False)), 1, exact=True)),
    ("exact", lambda: rlsvi(HOT).learn(MDP, 2, exact=[0, 1])),
    ("exact", lambda: rlsvi(HOT).learn(MDP, 2, exact=[True])),
    ("exact", lambda: rlsvi(HOT).learn(Paying(MDP.P, MDP.R), 1, exact=True)),
    ("step returns", lambda: rlsvi(HOT).learn(Own((0, 0.0, False, False, {})), 1)),
    ("step returns", lambda: rlsvi(HOT).learn(Own(None), 1)),
    ("row for each of 3", lambda: rlsvi(rows, H=4).evaluate(Own((0.0, 0, False), A=3), 1)),
    ("fit returns", lambda: Agent(Forgetful()).learn(MDP, 1)),
    ("episodes", lambda: rlsvi(PHI).learn(MDP, -1)),
    ("episodes", lambda: rlsvi(PHI).learn(MDP, 10**12)),
    ("start", lambda: rlsvi(PHI).learn("chain", 1)),
    ("start", lambda: rlsvi(PHI).learn(FiniteMDP, 1)),
    ("made for S", lambda: rlsvi(PHI).learn(chain(4), 1)),
    ("made for A", lambda: rlsvi(HOT).learn(Own((0.0, 0, False), A=3), 1)),
    ("made for S", lambda: rlsvi(HOT).learn(Own((0.0, 0, False), S=4, A=2), 1)),
    ("a row for each", lambda: rlsvi(lambda s: np.ones((1, 2)), H=4).learn(MDP, 1)),
    ("a row for each", lambda: rlsvi(rows).learn(Own((0.0, 0, False), A=3), 1)),
    ("features", lambda: rlsvi(lambda s: np.ones((2, 3)) * np.nan).act(0, 0.5)),
    ("features", lambda: rlsvi(lambda s: np.ones(3)).act(0, 0.5)),
    ("one length", lambda: rlsvi(TIMELESS).learn(MDP, 1, limit=3)),
    ("limit", lambda: rlsvi(TIMELESS).learn(lock(3), 1, limit=0)),
    ("environment's H", lambda: rlsvi(TIMELESS).learn(Own((0.0, 0, False), 2.5), 1)),
    ("discount", lambda: rlsvi(TIMELESS).learn(ENDLESS, 1, limit=3)),
    ("discount", lambda: rlsvi(HOT).evaluate(ENDLESS, 1)),
    ("must end", lambda: rlsvi(TIMELESS, gamma=0.9).learn(ENDLESS, 1)),
    ("horizon", lambda: rlsvi(TIMELESS, gamma=0.9).learn(ENDLESS, 1, limit=3, exact=True)),
    ("reward", lambda: rlsvi(HOT).learn(Own((math.nan, 0, False)), 1)),
    ("step returns", lambda: rlsvi(HOT).learn(Own((1.0, 0)), 1)),
    ("s_next", lambda: rlsvi(HOT).learn(Own((1.0, 7, False)), 1)),
    ("legal", lambda: rlsvi(HOT).act(0, 0, [])),
    ("legal", lambda: rlsvi(HOT).act(0, 0, [True, False])),
    ("legal", lambda: rlsvi(HOT).greedy(0, 0, [2])),
    ("legal", lambda: rlsvi(rows).observe(0, 0.5, 0, 1.0, 0.5, [2])),
    ("h must", lambda: rlsvi(HOT).act(4, 0)),
    ("s must", lambda: rlsvi(HOT).values(0, -1)),
    ("s must", lambda: rlsvi(TIMELESS).mean_values(0, 3)),
    ("a must", lambda: rlsvi(HOT).observe(0, 0, 0.0, 1.0, 0)),
    ("a must", lambda: rlsvi(rows).observe(0, 0.5, 2, 1.0, 0.5)),
    ("s_next must", lambda: incremental(PHI).observe(0, 0, 0, 1.0, 3)),
    ("s_next must", lambda: ContinualLearner(PHI[0], 0.9, 0.5).add(0, 0, 0, 0.0, 3)),
    ("r must", lambda: rlsvi(HOT).observe(0, 0, 0, math.nan, 0)),
    # MDPs and policies
    ("P must", lambda: FiniteMDP(P0[0], R0[0])),
    ("P must", lambda: FiniteMDP(edited(P0, (1, 0, 0, 1), np.nan), R0)),
    ("P", lambda: FiniteMDP(edited(P0, (0, 1, 0), [1.5, -0.5]), R0)),
    ("P", lambda: FiniteMDP(edited(P0, (1, 1, 0), [0.5, 0.25]), R0)),
    ("period", lambda: FiniteMDP(P0, R0, H=3)),
    ("R must", lambda: FiniteMDP(P0, R0[0])),
    ("R must", lambda: FiniteMDP(P0, edited(R0, (0, 1, 0, 0), np.inf))),
    ("terminal", lambda: FiniteMDP(P0, R0, terminal=[0, 0, 0])),
    ("initial", lambda: FiniteMDP(P0, R0, initial=[0.5, 0.4])),
    ("support", lambda: FiniteMDP(P0, R0, support=(1, 1))),
    ("support", lambda: FiniteMDP(P0, edited(R0, (1, 0, 0, 0), 3), support=(0, 1))),
    ("support", lambda: FiniteMDP(P0, R0, terminal=[0, -1], support=(0, 1))),
    ("H", lambda: FiniteMDP.stationary(P0[0], R0[0], H=None)),
    ("policy", lambda: MDP.evaluate(np.zeros((4, 3)))),  # of floats
    ("policy", lambda: MDP.evaluate(np.zeros((3, 4), int))),
    ("policy", lambda: MDP.simulate(np.full((4, 3, 2), 0.25), 1)),
    ("policy", lambda: ENDLESS.evaluate([[0, 0]])),
    ("action", lambda: MDP.evaluate(np.full((4, 3), 2))),
    ("action", lambda: MDP.occupancy(np.full((4, 3), -1))),
    ("gamma", lambda: DiscountedMDP(P0[0], R0[0], 1 - 1e-7)),  # its values would take for ever
    ("s must", lambda: ENDLESS.step(0, 3, 0, np.random.default_rng(1))),
    # features
    ("reading", lambda: features.coherent(Q0, 3, reading="tall")),
    ("shape", lambda: features.coherent(Q0[0], 3)),
    ("Q", lambda: features.coherent(Q0 * np.nan, 3)),
    ("K", lambda: features.coherent(Q0, 1)),
    ("K", lambda: features.coherent(Q0, 13)),
    ("norm", lambda: features.coherent(Q0, 3, norm=0.0)),
    ("rho", lambda: features.agnostic(Q0, 2, math.nan)),
    ("noise", lambda: features.agnostic(Q0, 2, 0.1, noise="std")),
    ("S", lambda: features.OneHot(2, 0, 2)),
    (r"\bs\b", lambda: HOT(0, 3)),
    (r"one_hot\(10, 2000, 2\)", lambda: features.tabular(river_swim(2000, 10))),
    ("S must", lambda: features.one_hot(None, [4, 5], 3)),
    ("pair", lambda: boxes.tiles([0.0], 2)),
    ("box", lambda: boxes.tiles(([0.0], [np.inf]), 2)),
    ("box", lambda: boxes.polynomial(([1.0], [0.0]), 2)),
    ("d is even", lambda: boxes.random_fourier(BOX, 2, d=7)),
    ("length_scale", lambda: boxes.random_fourier(BOX, 2, length_scale=-1)),
    ("A must", lambda: boxes.tiles(BOX, 0)),
    ("coordinates", lambda: boxes.tiles(BOX, 2)(0, [1.0])),
    ("finite", lambda: boxes.tiles(BOX, 2)(0, [np.nan, 0.0])),
    ("features", lambda: features.PerActionFeatures(lambda s: [], 2)(0, 1)),
    ("vector", lambda: features.PerActionFeatures(lambda s: [1.0, s], 2, 3)(0, 0.5)),
    ("vector", lambda: features.PerActionFeatures(lambda s: [[1.0, s]], 2, 2).block_rows(0, 0.5)),
    # the posterior
    ("lam", lambda: GaussianPosterior(2, lam=0)),
    ("shape", lambda: GaussianPosterior(2).add_row([1.0], 0.0)),
    ("finite", lambda: GaussianPosterior(2).add_row([1.0, math.nan], 0.0)),
    ("z must", lambda: GaussianPosterior(2).draw_with_noise([1.0, math.nan])),
    # environments
    ("N", lambda: chain(1)),
    ("gamma", lambda: Recommender(np.zeros((2, 3)), 1)),
    ("beta", lambda: Recommender(np.zeros((2, 2)), 1, beta=[1.0])),
    ("J", lambda: Recommender(np.zeros((3, 3)), 4)),
    ("c must", lambda: Recommender.random(-1.0)),
    ("states", lambda: Recommender.random(1.0, 2, N=40, J=20).optimal_value),
    ("period", lambda: CUSTOMERS.step(0, [1, 0, 0, 0], 3, None)),
    ("once", lambda: CUSTOMERS.evaluate(np.zeros(33, int))),
    ("ties", lambda: CUSTOMERS.myopic_policy("random")),
    ("width", lambda: Tetris(3)),
    ("width", lambda: Tetris(63)),
    ("height", lambda: Tetris(height=3)),
    ("pieces", lambda: Tetris(pieces="SS")),
    ("rule", lambda: Tetris(rule="gravity")),
    ("game", lambda: Tetris().drop(0)),
    ("alpha_P", lambda: DirichletPrior(np.ones((2, 3, 2, 2)), np.zeros((2, 3, 2, 3)))),
    # optimism
    ("variance", lambda: Normal(0, 0)),
    ("finite", lambda: Normal(math.nan, 1)),
    ("finite", lambda: Beta(1, 1).tail(math.nan)),
    ("beta", lambda: Beta(1, -2.5)),
    ("weights", lambda: FiniteDistribution([1, 2], [1])),
    ("weights", lambda: FiniteDistribution([1, 2], [1, -1])),
    ("whole", lambda: DirichletMean([0.5, 1], [0, 1]).excess(0.5)),
    ("V must", lambda: DirichletMean([1, 1], [0, 2])),
    ("α must", lambda: DirichletMean([0, 0], [0, 1])),
    ("n must", lambda: Beta(1, 2).sample(-1)),
    ("different", lambda: least_variance(DirichletMean([1, 0], [0, 1]))),
    ("sample x", lambda: estimate_gap([[1.0, 2.0]], [1.0, 2.0], 0)),
    ("z must", lambda: estimate_gap(np.arange(200.0), np.arange(200.0), math.nan)),
    ("1e-6", lambda: certify_crossings(Normal(0, 1), Beta(1e-7, 1))),
    ("100", lambda: compare_samples([1.0] * 99, np.arange(200.0))),
    ("sample y", lambda: compare_samples(np.arange(200.0), [np.nan] * 200)),
    ("error", lambda: compare_samples(np.arange(200.0), np.arange(200.0), error=1.0)),
    ("edge", lambda: decide(lambda x: x, [(0.0, math.inf)])),
    ("edge", lambda: decide(lambda x: x, [(1.0, 1.0)])),
]


@pytest.mark.filterwarnings("ignore:plan")
@pytest.mark.parametrize(
    ("said", "call"), REFUSED, ids=[f"{i} {said}" for i, (said, _) in enumerate(REFUSED)]
)
def test_bad_input_is_refused(said, call):
    with pytest.raises((ValueError, TypeError, IndexError), match=said):
        call()


def test_an_error_does_not_fill_the_screen():
    with pytest.raises(ValueError, match="N must") as refused:
        chain([0] * 10**5)
    assert len(str(refused.value)) < 500


def test_values_without_bound_are_refused():
    """Features that extrapolate: a state worth twice as much as the one that leads to it."""
    for phi in (np.array([[[1.0]], [[2.0]]]), lambda s: np.array([[1.0 + s]])):
        agent = rlsvi(phi, 1e-3, 0.1, gamma=0.99, rng=1, options=Options(sweeps=1000))
        agent.observe(0, 0, 0, 1.0, 1)
        with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="value_range"):
            agent.learner.fit(None, None)


def test_epsilon_and_eta_may_be_set_between_episodes():
    agent = lsvi(HOT, rng=1)
    agent.epsilon = 1.0
    assert (agent.policy() == 0.5).all()
    agent.epsilon, agent.eta = 0.0, 2.0
    agent.observe(1, 0, 0, 2.0, None)
    agent.plan()
    assert 0.5 < agent.policy()[1, 0, 0] < 1


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
    assert agent.n_transitions == MAX_UNLIMITED_STEPS - 1
    assert agent.learn(Endless(), 2, rng=2, limit=7).length.tolist() == [7, 7]
    with pytest.raises(RuntimeError, match="end"):
        agent.evaluate(Endless(), 1, rng=2)


def quiet(function):
    """It mentions nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function()


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_parameters_that_do_not_fit_the_features_are_mentioned(scale):
    unit = np.full((2, 3, 2, 4), 0.5)
    for phi, H in ((scale * unit, None), (lambda s: scale * unit[0, s], 2)):
        with pytest.warns(UserWarning, match="norm"):
            rlsvi(phi, value_range=(0, 1), H=H).values(0, 0)
        quiet(lambda phi=phi, H=H: rlsvi(phi, 1.0, H=H, value_range=(0, 1)))  # λ of one's own
        quiet(lambda phi=phi, H=H: rlsvi(phi, H=H))
    quiet(lambda: rlsvi(unit, value_range=(0, 1)))
    quiet(lambda: bootstrap(scale * unit, (0, 1)))  # where units do not matter
    with pytest.warns(UserWarning, match="digits"):
        rlsvi(PHI, 1.0, 1e-6)


def test_a_forgotten_plan_is_mentioned_once():
    with pytest.warns(UserWarning, match="plan"):
        rlsvi(HOT, rng=1).act(0, 0)
    agent = rlsvi(rows, rng=1)
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


def test_values_that_are_no_numbers_and_other_words_for_the_end_are_refused():
    class Lost(Learner):
        def __init__(self, found, A=2):
            self.found, self.A = found, A

        def fit(self, rng, before):
            return self.found

        def values(self, fitted, h, s):
            return fitted

    closed = np.full(2, -np.inf)
    for found in (
        np.full(2, np.nan),
        closed,
        -closed,
        np.zeros(3),
        [0.0, 0.0],
        np.array(["a", "b"]),
    ):
        with pytest.raises(ValueError, match="values"):
            Agent(Lost(found), rng=1).learn(Own((0.0, 0, False)), 1, rng=2)
    with pytest.raises(NotImplementedError, match="add"):
        Agent(Lost(np.zeros(2)), rng=1).learn(Own((0.0, 0, False)), 1, rng=2)
    with pytest.raises(ValueError, match="cut"):
        rlsvi(HOT, rng=1).learn(Own((0.0, 0, "truncated"), HOT.H), 1, rng=2)
    with pytest.raises(ValueError, match="a state follows"):
        rlsvi(HOT, rng=1).learn(Own((0.0, None, False), HOT.H), 1, rng=2)
    run = rlsvi(HOT, rng=1).learn(Own((1.0, None, True), HOT.H), 3, rng=2)
    assert run.reward.tolist() == [1, 1, 1]
    assert run.max_state.tolist() == [0, 0, 0]


@pytest.mark.parametrize("phi", [HOT, TIMELESS, PHI], ids=["counts", "discounted", "sums"])
def test_masks_in_a_table_of_states_do_not_change(phi):
    agent = rlsvi(phi, rng=1)
    agent.observe(0, 0, 0, 1.0, 1)  # says nothing of masks
    agent.observe(0, 0, 0, 1.0, 1, [0])
    agent.observe(0, 0, 0, 1.0, 2)
    agent.observe(0, 0, 0, 1.0, 1)
    agent.observe(0, 0, 0, 1.0, 1, [0])
    with pytest.raises(ValueError, match="mask"):
        agent.observe(0, 0, 0, 1.0, 1, [1])
    assert agent.n_transitions == 5


def test_an_epsilon_that_was_set_is_checked_when_it_is_used():
    agent = lsvi(HOT, rng=1)
    agent.epsilon = 5  # percent?
    for env in (MDP, Own((0.0, 0, False))):
        with pytest.raises(ValueError, match="epsilon"):
            agent.learn(env, 1)


def test_a_clock_that_stops_before_the_horizon_is_mentioned():
    with pytest.warns(UserWarning, match="cut after 1"):
        rlsvi(HOT, rng=1).learn(Own((0.0, 0, "cut")), 1)


def test_weights_are_asked_for_after_the_first_plan():
    for phi, planned in ((PHI, False), (TIMELESS, True)):
        agent = rlsvi(phi, rng=1)
        if planned:
            agent.plan()
        with pytest.raises(AttributeError, match="plan"):
            agent.theta  # noqa: B018
