"""Features computed on the fly: rows in arrays against the verbatim form, and bad input."""

import copy
import math

import numpy as np
import pytest

from rlsvi_core import (
    Reading,
    StoredAgent,
    VerbatimAgent,
    chain,
    features,
    lsvi,
    rlsvi,
    suggest_parameters,
)
from rlsvi_core.agents import FiniteAgent, TabularAgent
from rlsvi_core.beyond import boxes

pytestmark = pytest.mark.filterwarnings("ignore:value_range")  # narrow ones, so that they cut
BOX = ([-1.0, -1.0], [1.0, 1.0])
A, D = 3, 6
CROSSED = boxes.random_fourier(BOX, A, d=D, length_scale=0.4, rng=5)


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
def test_greedy_is_lsvi_with_the_ridge_lam_sigma_squared(form, make_mdp):
    """Whatever the episode's sample is; the ridge is large, so that it matters."""
    mdp, rng = make_mdp(1, 3, 4, 2), np.random.default_rng(2)
    phi = features.one_hot(3, 4, 2)
    agent, mean = rlsvi(phi, 0.5, 3.0, rng=1, form=form), lsvi(phi, 4.5, form=VerbatimAgent)
    visits = [(h, s, a) for h, s, a in np.ndindex(3, 4, 2) for _ in range(1 + (h + s + 2 * a) % 4)]
    for h, s, a in visits:
        transition = h, s, a, rng.standard_normal(), int(rng.integers(4))
        agent.observe(*transition)
        mean.observe(*transition)
    agent.plan()
    mean.plan()
    best = mean.Q.argmax(axis=2)
    assert not np.array_equal(agent.Q.argmax(axis=2), best)
    assert [agent.greedy(h, s) for h, s in np.ndindex(3, 4)] == best.ravel().tolist()
    value = mdp.initial @ mdp.evaluate(best)[0]
    # Returns lie in [-4, 4]: by Hoeffding a mean of 2000 is 0.48 off once in 10^6 seeds.
    assert agent.evaluate(mdp, 2000, rng=4).mean() == pytest.approx(value, abs=0.48)


def test_greedy_before_any_data_is_uniform():
    for phi in (CROSSED, lambda s: CROSSED(0, s)):
        agent = rlsvi(phi, rng=1, reading=Reading(first_episode="prior"))
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
    # Untried values are drawn around 0, so their scale is that of the values seen from there.
    assert suggest_parameters((90, 100)) == suggest_parameters((0, 100))
    assert suggest_parameters((-100, -90)) == suggest_parameters((-100, 0))
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


# --- bad input ------------------------------------------------------------------------------------


def changing(s):
    return np.ones((2, 3 if s < 1 else 4)) * s


@pytest.mark.parametrize(
    ("make", "s", "keyword"),
    [
        (lambda: rlsvi(changing), 2.0, "shape"),
        (lambda: rlsvi(features.PerAction(lambda s: [1.0] * int(s + 1), 2)), 2.0, "shape"),
        (lambda: rlsvi(changing), math.nan, "shape"),
        (lambda: rlsvi(lambda s: np.full((2, 3), s)), math.nan, "finite"),
    ],
)
def test_features_that_go_wrong_in_mid_run_are_refused_and_leave_no_trace(make, s, keyword):
    agent = make()
    agent.plan()
    agent.act(0, 0.0)
    with pytest.raises(ValueError, match=keyword):
        agent.observe(0, 0.0, 0, 1.0, s)
    with pytest.raises(ValueError, match=keyword):
        agent.act(0, s)
    assert agent.transitions == 0


@pytest.mark.parametrize(
    ("call", "error", "keyword"),
    [
        (lambda: rlsvi(lambda s: [1.0, s]).act(0, 0.5), ValueError, "shape"),
        (lambda: rlsvi(CROSSED, window=-1), ValueError, "window"),
        (lambda: rlsvi(CROSSED, H=0), ValueError, "H"),
        (lambda: rlsvi(CROSSED, H=3).act(3, np.zeros(2)), IndexError, "H"),
        (lambda: rlsvi(CROSSED, H=3).observe(3, np.zeros(2), 0, 0.0, None), IndexError, "H"),
        (lambda: rlsvi(features.one_hot(3, 4, 2), H=4), ValueError, "H=4"),
        (lambda: rlsvi(CROSSED, value_range=(1, 1)), ValueError, "value_range"),
        (lambda: rlsvi(CROSSED, reading=Reading(draws="once")), ValueError, "draws"),
        (lambda: rlsvi(CROSSED).act(0, np.zeros(2), legal=[]), ValueError, "legal"),
        (lambda: rlsvi(CROSSED).act(0, np.zeros(2), legal=[3]), IndexError, "legal"),
        (lambda: rlsvi(CROSSED).act(0, np.zeros(2), legal=[True] * 3), IndexError, "legal"),
        (lambda: rlsvi(CROSSED).observe(0, np.zeros(2), 3, 0.0, None), IndexError, "legal"),
        (lambda: rlsvi(CROSSED).observe(0, np.zeros(2), 0, math.inf, None), ValueError, "finite"),
        (lambda: rlsvi(lambda s: s, form=VerbatimAgent), ValueError, "number"),
    ],
)
def test_what_cannot_be_is_refused(call, error, keyword):
    with pytest.raises(error, match=keyword):
        call()


def test_a_ridge_that_is_lost_beside_the_squares_is_refused():
    agent = rlsvi(lambda s: np.full((1, 2), 1e8), 1e-9, 1e-9)
    agent.observe(0, 0, 0, 0.0, None)
    with pytest.raises(ValueError, match="lam"):
        agent.plan()


def test_the_learner_explores_a_corridor_with_features():
    """Twenty steps to the right bring 1, by a state that is a number in [0, 1]."""

    class Corridor:
        def start(self, rng):
            return 0.0

        def step(self, h, s, a, rng):
            s = min(max(s + (0.05 if a else -0.05), 0.0), 1.0)
            return float(s > 0.99), s, s > 0.99 or h == 39

    phi = boxes.random_fourier(([0.0], [1.0]), A=2, d=40, length_scale=0.1, rng=1)
    agent = rlsvi(phi, value_range=(0, 1), rng=2)
    assert agent.learn(Corridor(), 60, rng=3).reward[-20:].mean() == 1
    assert agent.evaluate(Corridor(), 3).mean() == 1
    assert lsvi(phi, value_range=(0, 1), epsilon=0.1, rng=2).learn(Corridor(), 60).reward.sum() < 5


WAITING = {
    "one-hot with a horizon": (lambda: features.one_hot(3, 4, 2), 1, {}),
    "one-hot with a discount": (lambda: features.one_hot(None, 4, 2), 1, {"gamma": 0.9}),
    "rows": (lambda: boxes.polynomial(([0.0], [3.0]), 2), [1.0], {"gamma": 0.9}),
    "tiles": (lambda: boxes.tiles(([0.0], [3.0]), 2, 2, 2), [1.0], {"gamma": 0.9}),
}


@pytest.mark.parametrize("name", WAITING)
def test_a_transition_that_waits_is_taken_in_once(name):
    phi, s, choices = WAITING[name]
    plain, looked_at, printed = (
        rlsvi(phi(), 0.5, 0.3, rng=1, form=form, **choices) for form in (None, None, VerbatimAgent)
    )
    for i in range(1200):  # more than may wait
        for agent in (plain, looked_at, printed):
            agent.observe(0, s, i % 2, float(i % 3 - i % 2), s)
        if i % 100 == 7:
            looked_at.greedy(0, s)
    for agent in (plain, looked_at, printed):
        agent.plan()
    table = "theta" if hasattr(plain, "theta") else "Q"
    weights = getattr(plain, table)
    assert np.array_equal(weights, getattr(looked_at, table))
    np.testing.assert_allclose(weights.ravel(), printed.theta.ravel(), rtol=1e-8, atol=1e-8)


def test_an_observation_that_is_written_into_between_episodes_is_looked_at_again():
    """The episode ends after one step, so that the next one begins in the period of the last."""
    reused, fresh = (rlsvi(CROSSED, 0.5, 0.3, rng=1) for _ in range(2))
    s = np.zeros(2)
    for place in ([0.1, -0.7], [0.9, 0.4], [-0.5, 0.2]):
        s[:] = place
        for agent, seen in ((reused, s), (fresh, s.copy())):
            agent.plan()
            agent.observe(0, seen, agent.act(0, seen), place[0], None)
    for agent in (reused, fresh):
        agent.plan()
    assert np.array_equal(reused.theta, fresh.theta)
