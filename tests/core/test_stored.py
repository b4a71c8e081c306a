"""Features computed on the fly: rows in arrays against the verbatim form, and bad input."""

import copy
import math
import pickle

import numpy as np
import pytest

from rlsvi_core import (
    FiniteMDP,
    StoredAgent,
    VerbatimAgent,
    chain,
    features,
    lsvi,
    rlsvi,
    suggest_parameters,
)
from rlsvi_core.agents import FiniteAgent, TabularAgent

pytestmark = pytest.mark.filterwarnings("ignore:value_range")  # narrow ones, so that they cut
BOX = ([-1.0, -1.0], [1.0, 1.0])
A, D = 3, 6
CROSSED = features.random_fourier(BOX, A, d=D, length_scale=0.4, rng=5)


class Crossed(features.FeatureMap):
    """The same rows as CROSSED, of which nothing is known but that they are rows."""

    K, A = A * D, A

    def __call__(self, h, s):
        return CROSSED(h, s)


def by_period(h, s):
    return CROSSED(h, s) * (1 + h)


class ByPeriod(features.FeatureMap):
    K, A = A * D, A

    def __call__(self, h, s):
        return by_period(h, s)


class Walk:
    """A noisy walk in a square; masks, early ends and truncation by chance."""

    A = 3

    def __init__(self, seed, longest=12, masks=False):
        self.rng, self.longest, self.masks = np.random.default_rng(seed), longest, masks

    def legal(self):
        if not self.masks:
            return None
        return np.sort(self.rng.permutation(A)[: self.rng.integers(1, A + 1)])

    def play(self, agent, episodes):
        actions = []
        for _ in range(episodes):
            agent.plan()
            s, legal = self.rng.uniform(-1, 1, 2), self.legal()
            for h in range(self.longest):
                a = agent.act(h, s, legal=legal)
                assert legal is None or a in legal
                s_next = np.clip(s + 0.3 * (a - 1) + 0.1 * self.rng.standard_normal(2), -1, 1)
                over, r = self.rng.random() < 0.1, float(s_next @ [1, -0.5])
                legal = self.legal()
                agent.observe(h, s, a, r, None if over else s_next, legal_next=legal)
                actions.append(a)
                s = s_next
                if over:
                    break
        return actions


CHOICES = {
    "stationary": {"gamma": 0.9},
    "window": {"gamma": 0.9, "sweeps": 2, "window": 30},
    "clip": {"gamma": 0.9, "sweeps": 3, "value_range": (-0.5, 0.4)},
    "per period": {"H": 12},
    "per period with a window": {"H": 12, "window": 7},
    "shared": {"H": 12, "weights": "shared", "gamma": 0.95, "window": 40},
}
every_choice = pytest.mark.parametrize("choices", CHOICES.values(), ids=CHOICES)


def assert_same(one, other, masks=False):
    for _ in range(6):
        assert Walk(1, masks=masks).play(one, 3) == Walk(1, masks=masks).play(other, 3)
        np.testing.assert_allclose(one.theta, other.theta, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("masks", [False, True], ids=["all legal", "masks"])
@every_choice
def test_rows_in_arrays_give_the_verbatim_weights(choices, masks):
    reference = rlsvi(Crossed(), 0.5, 0.3, rng=3, form=VerbatimAgent, **choices)
    for phi in (CROSSED, Crossed(), lambda s: CROSSED(0, s)):
        agent = rlsvi(phi, 0.5, 0.3, rng=3, **choices)
        assert type(agent) is StoredAgent
        assert_same(agent, copy.deepcopy(reference), masks)


@every_choice
def test_lsvi_too(choices):
    agents = [
        lsvi(CROSSED, 0.1, epsilon=0.2, half_life=4, rng=3, form=form, **choices)
        for form in (None, VerbatimAgent)
    ]
    assert_same(*agents)


def test_a_function_of_period_and_observation_is_called_with_both():
    agents = [
        rlsvi(phi, 0.5, 0.3, H=12, rng=3, form=form)
        for phi, form in ((by_period, None), (ByPeriod(), VerbatimAgent))
    ]
    assert_same(*agents)


def test_the_square_of_a_window_is_that_of_its_rows():
    agent = rlsvi(CROSSED, window=25, rng=1)
    for n in (2, 3, 4, 5):
        Walk(n).play(agent, n)
        X, block, *_ = agent.data[0].columns
        assert len(X) == min(25, agent.transitions)
        for b in range(A):
            square = X[block == b].T @ X[block == b]
            np.testing.assert_allclose(np.tril(agent.data[0].gram[b]), np.tril(square), atol=1e-12)


def test_one_draw_for_all_sweeps_lets_them_converge():
    agent = rlsvi(CROSSED, 1.0, 0.3, gamma=0.5, sweeps=200, rng=1)
    Walk(2).play(agent, 5)
    agent.plan()
    theta, state = agent.theta.copy(), copy.deepcopy(agent.rng.bit_generator.state)
    Walk(2).play(other := rlsvi(CROSSED, 1.0, 0.3, gamma=0.5, sweeps=201, rng=1), 5)
    other.plan()
    np.testing.assert_allclose(other.theta, theta, atol=1e-9)
    assert other.rng.bit_generator.state == state


# --- the table that serves all periods ------------------------------------------------------------


def test_a_table_for_all_periods_is_stored_once_and_gives_the_same_bits():
    mdp, H = chain(6), 5
    once = features.coherent(mdp.Q[:1], 4, rng=1)[0]
    agents = [
        rlsvi(once, H=H, rng=2),
        rlsvi(np.tile(once, (H, 1, 1, 1)), rng=2),
        rlsvi(once, H=H, rng=2, form=VerbatimAgent),
    ]
    assert [type(agent) for agent in agents] == [FiniteAgent, FiniteAgent, VerbatimAgent]
    assert agents[0].Phi.base.nbytes == once.nbytes
    runs = [agent.learn(mdp, 40, rng=3) for agent in agents]
    np.testing.assert_array_equal(agents[0].theta, agents[1].theta)
    np.testing.assert_array_equal(runs[0].reward, runs[2].reward)


def test_a_table_without_a_horizon_is_discounted():
    table = np.eye(6).reshape(3, 2, 6)
    agent = rlsvi(table, gamma=0.9, rng=1)
    assert type(agent) is StoredAgent
    agent.plan()
    agent.observe(0, 2, agent.act(0, 2), 1.0, None)
    assert agent.act(7, 2) in (0, 1)


# --- acting on the mean ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", [FiniteAgent, VerbatimAgent, StoredAgent, TabularAgent])
def test_greedy_is_lsvi_with_the_same_ridge_and_disturbs_nothing(form):
    mdp = chain(6)
    agent = rlsvi(features.one_hot(mdp.H, mdp.S, mdp.A), 0.5, 0.2, rng=1, form=form)
    agent.learn(mdp, 60, rng=2)
    untouched = copy.deepcopy(agent)
    rewards = agent.evaluate(mdp, 5, rng=3)
    assert agent.rng.bit_generator.state == untouched.rng.bit_generator.state
    np.testing.assert_array_equal(agent.Q, untouched.Q)
    mean = agent._twin()
    mean.plan()
    shadow = lsvi(features.tabular(mdp), 0.5 * 0.2**2, form=VerbatimAgent)
    twin = rlsvi(features.tabular(mdp), 0.5, 0.2, rng=1, form=VerbatimAgent)
    twin.learn(mdp, 60, rng=2)
    shadow.data, shadow.transitions = twin.data, twin.transitions
    shadow.plan()
    np.testing.assert_allclose(mean.Q, shadow.Q, atol=1e-9)
    assert rewards.shape == (5,)
    value = mdp.initial @ mdp.evaluate(mean.policy())[0]
    assert agent.evaluate(mdp, 400, rng=4).mean() == pytest.approx(value, abs=0.2)  # 8 deviations
    for one in (agent, untouched):
        one.learn(mdp, 5, rng=5)
    np.testing.assert_array_equal(agent.Q, untouched.Q)


def test_evaluation_in_mid_run_changes_no_later_bit():
    def run(evaluate):
        agent = rlsvi(CROSSED, 0.5, 0.3, gamma=0.9, window=30, rng=1)
        walk = Walk(3)
        for _ in range(4):
            walk.play(agent, 2)
            if evaluate:
                [agent.greedy(h, np.array([0.1, 0.2])) for h in range(5)]
        return agent.theta

    np.testing.assert_array_equal(run(True), run(False))


def test_greedy_before_any_data_is_uniform():
    for phi in (CROSSED, lambda s: CROSSED(0, s)):
        agent = rlsvi(phi, rng=1, first_episode="prior")
        assert {agent.greedy(0, np.zeros(2)) for _ in range(60)} == {0, 1, 2}  # misses one: 1e-10
        assert {agent.greedy(0, np.zeros(2), [0, 2]) for _ in range(60)} == {0, 2}


# --- lambda and sigma -----------------------------------------------------------------------------


def test_the_proposal_knows_no_units():
    for scale, shift in ((1.0, 0.0), (50.0, -20.0)):
        lam, sigma = suggest_parameters((shift, shift + scale))
        assert lam == pytest.approx(1 / scale**2)
        agent = rlsvi(CROSSED, value_range=(shift, shift + scale))
        assert (agent.lam, agent.sigma, agent.choices.clip) == (lam, sigma, (shift, shift + scale))
        ridge = lsvi(CROSSED, value_range=(shift, shift + scale))
        assert ridge.lam == pytest.approx(lam * sigma**2)
    assert rlsvi(CROSSED, value_range=(0, 1), sigma=2.0).sigma == 2.0
    assert rlsvi(features.one_hot(3, 4, 2), value_range=(0, 10)).lam == pytest.approx(0.01)
    assert suggest_parameters((0, 1), feature_norm=10)[0] == pytest.approx(100)


def test_rewards_in_other_units_change_no_action():
    class Cents:
        def __init__(self, agent, scale):
            self.agent, self.plan, self.act, self.scale = agent, agent.plan, agent.act, scale

        def observe(self, h, s, a, r, s_next, legal_next):
            self.agent.observe(h, s, a, self.scale * r, s_next)

    played = [
        Walk(5).play(Cents(rlsvi(CROSSED, value_range=(-3 * c, 3 * c), rng=1), c), 20)
        for c in (1.0, 128.0)
    ]
    assert played[0] == played[1]


# --- saved and read again -------------------------------------------------------------------------


@pytest.mark.parametrize("choices", [{"gamma": 0.9, "window": 20}, {"H": 12}])
def test_an_agent_pickled_in_mid_run_continues_to_the_bit(choices):
    agent, walk = rlsvi(CROSSED, 0.5, 0.3, rng=1, **choices), Walk(2)
    walk.play(agent, 7)
    other, other_walk = pickle.loads(pickle.dumps((agent, walk)))
    assert walk.play(agent, 7) == other_walk.play(other, 7)
    np.testing.assert_array_equal(agent.theta, other.theta)
    seen = agent.transitions
    assert repr(other) == f"StoredAgent(RLSVI, lam=0.5, sigma=0.3; {seen} transitions seen)"


# --- bad input ------------------------------------------------------------------------------------


def changing(s):
    return np.ones((2, 3 if s < 1 else 4)) * s


@pytest.mark.parametrize(
    ("make", "s", "message"),
    [
        (lambda: rlsvi(lambda s: [1.0, s]), 0.5, r"shape \(actions, K\) .* they have \(2,\)"),
        (
            lambda: rlsvi(changing),
            2.0,
            r"shape \(2, 3\) .* for 2.0 they have \(2, 4\). Return a row",
        ),
        (
            lambda: rlsvi(features.PerAction(lambda s: [1.0] * int(s + 1), 2)),
            2.0,
            r"\(1, 1\).*\(1, 3",
        ),
        (lambda: rlsvi(changing), math.nan, r"shape"),
        (
            lambda: rlsvi(lambda s: np.full((2, 3), s)),
            math.nan,
            r"must be finite; for nan entry \[\[0",
        ),
    ],
)
def test_features_that_go_wrong_in_mid_run_are_refused_and_leave_no_trace(make, s, message):
    agent = make()
    agent.plan()
    if "actions" not in message:
        agent.act(0, 0.0)
        with pytest.raises(ValueError, match=message):
            agent.observe(0, 0.0, 0, 1.0, s)
    with pytest.raises(ValueError, match=message):
        agent.act(0, s)
    assert agent.transitions == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rlsvi(CROSSED, window=-1), ValueError, "window must be.* at least 1; it is -1"),
        (lambda: rlsvi(CROSSED, H=0), ValueError, "H must be.* at least 1; it is 0"),
        (lambda: rlsvi(CROSSED, H=3).act(3, np.zeros(2)), IndexError, "0, …, 2; it is 3. An epis"),
        (lambda: rlsvi(CROSSED, H=3).observe(3, np.zeros(2), 0, 0.0, None), IndexError, "longer H"),
        (lambda: rlsvi(features.one_hot(3, 4, 2), H=4), ValueError, "own, 3; H=4 was given"),
        (lambda: rlsvi(CROSSED, value_range=(1, 1)), ValueError, r"low < high; it is \(1, 1\)"),
        (
            lambda: rlsvi(CROSSED, draws="once"),
            ValueError,
            "'per sweep', 'per episode'; it is 'once'",
        ),
        (
            lambda: rlsvi(CROSSED).act(0, np.zeros(2), legal=[]),
            ValueError,
            "some action must be legal",
        ),
        (lambda: rlsvi(CROSSED).act(0, np.zeros(2), legal=[3]), IndexError, r"; it is \[3\]"),
        (lambda: rlsvi(CROSSED).act(0, np.zeros(2), legal=[True] * 3), IndexError, "flatnonzero"),
        (
            lambda: rlsvi(CROSSED).observe(0, np.zeros(2), 3, 0.0, None),
            IndexError,
            "legal.*it is 3",
        ),
        (
            lambda: rlsvi(CROSSED).observe(0, np.zeros(2), 0, math.inf, None),
            ValueError,
            "r must be",
        ),
        (lambda: rlsvi(lambda s: s, form=VerbatimAgent), ValueError, "must know the number"),
    ],
)
def test_a_refusal_names_the_rule_and_the_value(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_ridge_that_is_lost_beside_the_squares_is_refused():
    agent = rlsvi(lambda s: np.full((1, 2), 1e8), 1e-9, 1e-9)
    agent.observe(0, 0, 0, 0.0, None)
    with pytest.raises(ValueError, match=r"lost beside the squares.*Raise lam or sigma"):
        agent.plan()


def test_the_learner_explores_a_corridor_with_features():
    """Twenty steps to the right bring 1, by a state that is a number in [0, 1]."""

    class Corridor:
        def start(self, rng):
            return 0.0

        def step(self, h, s, a, rng):
            s = min(max(s + (0.05 if a else -0.05), 0.0), 1.0)
            return float(s > 0.99), s, s > 0.99 or h == 39

    phi = features.random_fourier(([0.0], [1.0]), A=2, d=40, length_scale=0.1, rng=1)
    agent = rlsvi(phi, value_range=(0, 1), rng=2)
    assert agent.learn(Corridor(), 60, rng=3).reward[-20:].mean() == 1
    assert agent.evaluate(Corridor(), 3).mean() == 1
    assert lsvi(phi, value_range=(0, 1), epsilon=0.1, rng=2).learn(Corridor(), 60).reward.sum() < 5


def test_early_ends_of_a_finite_mdp_are_learned_alike():
    mdp = FiniteMDP(*(lambda m: (m.P, m.R))(chain(4)))
    agents = [
        rlsvi(features.tabular(mdp), rng=1, form=form) for form in (StoredAgent, VerbatimAgent)
    ]
    for agent in agents:
        agent.learn(mdp, 30, rng=2)
    np.testing.assert_allclose(agents[0].Q, agents[1].Q, atol=1e-9)


@pytest.mark.parametrize("masks", [False, True], ids=["all legal", "masks"])
@every_choice
def test_tiles_by_their_numbers_give_the_verbatim_weights(choices, masks):
    phi = features.tiles(BOX, A, tilings=4, bins=2)
    agents = [rlsvi(phi, 0.5, 0.3, rng=3, form=form, **choices) for form in (None, VerbatimAgent)]
    assert type(agents[0]) is StoredAgent
    assert_same(*agents, masks)
    assert agents[0].data[0].columns[0].shape[1] == 4  # numbers, not rows


def test_tiles_with_an_unknown_variance_and_unseen_tiles_have_the_verbatim_weights():
    phi = features.tiles(BOX, A, tilings=4, bins=5)
    agents = [
        rlsvi(phi, 0.5, 0.3, rng=3, form=form, gamma=0.9, variance="unknown", first_episode="prior")
        for form in (None, VerbatimAgent)
    ]
    assert_same(*agents)
    assert (agents[0].data[0].gram.diagonal(axis1=1, axis2=2) == 0).any()


def test_the_values_of_components_are_kept_by_their_numbers():
    phi = features.one_hot(None, (2, 3), 2)
    agents = [rlsvi(phi, 0.5, 0.3, gamma=0.9, rng=3, form=form) for form in (None, VerbatimAgent)]
    for agent in agents:
        for i in range(20):
            agent.observe(0, (i % 2, i % 3), i % 2, i / 10, (1, 2))
        agent.plan()
    np.testing.assert_allclose(agents[0].theta, agents[1].theta, rtol=1e-9)
    assert agents[0].data[0].columns[0].shape == (20, 2)


WAITING = {
    "one-hot with a horizon": (lambda: features.one_hot(3, 4, 2), 1, {}),
    "one-hot with a discount": (lambda: features.one_hot(None, 4, 2), 1, {"gamma": 0.9}),
    "rows": (lambda: features.polynomial(([0.0], [3.0]), 2), [1.0], {"gamma": 0.9}),
    "tiles": (lambda: features.tiles(([0.0], [3.0]), 2, 2, 2), [1.0], {"gamma": 0.9}),
}


@pytest.mark.parametrize("name", WAITING)
def test_a_transition_that_waits_is_known_to_all_and_taken_in_once(name):
    phi, s, choices = WAITING[name]
    plain, looked_at = (rlsvi(phi(), 0.5, 0.3, rng=1, **choices) for _ in range(2))
    for i in range(1200):  # more than may wait
        for agent in (plain, looked_at):
            agent.observe(0, s, i % 2, float(i % 3 - i % 2), s)
        if i % 100 == 7:
            mean = rlsvi(phi(), 0.5, 0.3, rng=2, **choices)
            for j in range(i + 1):
                mean.observe(0, s, j % 2, float(j % 3 - j % 2), s)
            assert looked_at.greedy(0, s) == mean.greedy(0, s)
            looked_at = pickle.loads(pickle.dumps(looked_at))
    for agent in (plain, looked_at):
        agent.plan()
    if hasattr(plain, "seen"):
        assert looked_at.seen.n.sum() == 1200
    else:
        assert looked_at.data[0].count == 1200
        assert np.array_equal(looked_at.data[0].gram, plain.data[0].gram)
    table = "theta" if hasattr(plain, "theta") else "Q"
    assert np.array_equal(getattr(looked_at, table), getattr(plain, table))
