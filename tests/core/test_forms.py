"""One algorithm, whatever the form: every choice, in every form that offers it, gives the weights
of a textbook written with explicit inverses; a form that does not offer it says so."""

import copy
import inspect
import math
from dataclasses import fields

import numpy as np
import pytest

from rlsvi_core import Reading, StoredAgent, VerbatimAgent, chain, features, lsvi, rlsvi
from rlsvi_core.agents import Choices, DiscountedAgent, FiniteAgent, TabularAgent
from rlsvi_core.agents.choices import UNBOUNDED
from rlsvi_core.agents.continual import FastContinual
from rlsvi_core.agents.incremental import incremental
from rlsvi_core.agents.rivals import psrl
from rlsvi_core.beyond import boxes
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.envs.tetris import Tetris
from rlsvi_core.regression import normals_of
from rlsvi_study.recommender.products import ProductAgent, Products
from rlsvi_study.tetris.ring import Placements, RingAgent

pytestmark = pytest.mark.filterwarnings("ignore:value_range")  # narrow ones, so that they cut
LAM, SIGMA = 0.5, 0.3


class Finite:
    """Random transitions between five states, three periods of them, of which some end early."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def episode(self, phi):
        s = int(self.rng.integers(5))
        for h in range(3):
            a, s_next = int(self.rng.integers(2)), int(self.rng.integers(5))
            over = self.rng.random() < 0.2
            yield h, s, a, float(self.rng.standard_normal()), None if over else s_next
            if over:
                return
            s = s_next


class Boxed(Finite):
    """The same with observations in a square."""

    def episode(self, phi):
        place = self.rng.uniform(-1, 1, (5, 2))
        for h, s, a, r, s_next in super().episode(phi):
            yield h, place[s], a, r, None if s_next is None else place[s_next]


class Paired(Finite):
    """The same with states of two components, which take two and three values."""

    def episode(self, phi):
        for h, s, a, r, s_next in super().episode(phi):
            yield h, (s % 2, s % 3), a, r, None if s_next is None else (s_next % 2, s_next % 3)


class Played:
    """Random actions among the legal ones, in an environment of ours."""

    def __init__(self, env, seed):
        self.env, self.rng = env, np.random.default_rng(seed)

    def episode(self, phi):
        s, h, over = np.array(self.env.start(self.rng)), 0, False
        while not over:
            a = int(self.rng.choice(phi.legal(h, s)))
            r, s_next, over = self.env.step(h, s, a, self.rng)
            s_next = np.array(s_next)
            yield h, s, a, float(r), None if over else s_next
            s, h = s_next, h + 1


RANDOM = np.random.default_rng(0).standard_normal((3, 5, 2, 4))
BOX = boxes.random_fourier(([-1.0, -1.0], [1.0, 1.0]), A=2, d=4, length_scale=0.5, rng=5)
TILES = boxes.tiles(([-1.0, -1.0], [1.0, 1.0]), A=2, tilings=3, bins=2)
GAME = Tetris(4, 6, "OS")
WORLDS = {  # the feature map, its horizon if it has none, what happens, and the forms it allows
    "table": (
        lambda: features.Table(RANDOM),
        None,
        Finite,
        (FiniteAgent, StoredAgent, VerbatimAgent),
    ),
    "one-hot": (
        lambda: features.OneHot(3, 5, 2),
        None,
        Finite,
        (TabularAgent, FiniteAgent, StoredAgent, VerbatimAgent),
    ),
    "one-hot, no H": (
        lambda: features.OneHot(None, 5, 2),
        None,
        Finite,
        (DiscountedAgent, StoredAgent, VerbatimAgent),
    ),
    "one-hot, later H": (
        lambda: features.OneHot(None, 5, 2),
        3,
        Finite,
        (TabularAgent, VerbatimAgent),
    ),
    "one table": (lambda: features.Table(RANDOM[0]), None, Finite, (StoredAgent, VerbatimAgent)),
    "crossed": (lambda: BOX, None, Boxed, (StoredAgent, VerbatimAgent)),
    "crossed, H": (lambda: BOX, 3, Boxed, (StoredAgent, VerbatimAgent)),
    "tiles": (lambda: TILES, None, Boxed, (StoredAgent, VerbatimAgent)),
    "components": (
        lambda: features.one_hot(None, (2, 3), 2),
        None,
        Paired,
        (StoredAgent, VerbatimAgent),
    ),
    "products": (
        lambda: Products(3, 3),
        None,
        lambda seed: Played(Recommender.random(2.0, 1, N=3, J=3), seed),
        (ProductAgent, VerbatimAgent),
    ),
    "products, all": (
        lambda: Products(3, 3, "all"),
        None,
        lambda seed: Played(Recommender.random(2.0, 1, N=3, J=3), seed),
        (ProductAgent, VerbatimAgent),
    ),
    "tetris": (
        lambda: Placements(GAME),
        None,
        lambda seed: Played(GAME, seed),
        (RingAgent, VerbatimAgent),
    ),
    "tetris, reward": (
        lambda: Placements(GAME, "reward"),
        None,
        lambda seed: Played(GAME, seed),
        (RingAgent, VerbatimAgent),
    ),
}
BOTH = {
    "as it is": {},
    "discounted": {"gamma": 0.7},
    "bandit": {"gamma": 0.0},
    "clipped": {"value_range": (0.3, 0.9)},
    "value range, not clipped": {"value_range": (-0.3, 0.4), "clip": False},
    "window": {"window": 20},
    "mean in targets": {"targets": "mean"},
    "variance unknown": {"variance": "unknown"},
    "another λ": {"lam_of_mean": 2.0},
    "prior first": {"first_episode": "prior"},
}
HORIZON = {
    **BOTH,
    "shared": {"weights": "shared"},
    "shared, new draws": {"weights": "shared", "draws": "per sweep"},
    "shared, unknown": {"weights": "shared", "variance": "unknown", "window": 30},
    "draws": {"draws": "per sweep"},
}
STATIONARY = {
    **BOTH,
    "sweeps": {"sweeps": 3},
    "settled": {"sweeps": math.inf, "gamma": 0.2},
    "settled, cut": {
        "sweeps": math.inf,
        "gamma": 0.2,
        "value_range": (-0.3, 0.4),
        "targets": "mean",
    },
    "new draws": {"sweeps": 3, "draws": "per sweep"},
    "as printed": {"sweeps": 1, "first_episode": "prior", "window": 50},
    "unknown, new draws": {"variance": "unknown", "draws": "per sweep", "window": 30},
}
LSVI = ("gamma", "value_range", "clip", "window", "weights", "sweeps")
CASES = [
    (world, form, choice)
    for world, (phi, H, _, forms) in WORLDS.items()
    for form in forms
    for choice in (STATIONARY if H is None and phi().H is None else HORIZON)
]


def flat(form, weights):
    """The weights of any form as a row per period."""
    if form is ProductAgent:
        return weights.transpose(0, 2, 1).reshape(len(weights), -1)
    return weights.reshape(len(weights), -1) if weights.ndim > 1 else weights[None]


def state_of(agent):
    weights = agent.theta
    return flat(type(agent), weights).copy(), flat(
        type(agent), getattr(agent, "mean", weights)
    ).copy()


def textbook(
    phi,
    log,
    rng,
    theta,
    mean,
    *,
    lam=LAM,
    sigma=SIGMA,
    gamma=None,
    weights="per period",
    window=None,
    sweeps=10,
    targets="sample",
    draws="per episode",
    value_range=None,
    clip=True,
    variance="known",
    lam_of_mean=None,
    first_episode="zero",
    sample=True,
):
    """The weights of an episode after the steps in the log, by the formulas of the paper. A step is
    (period, features of what was done, reward, features of what could follow)."""
    H, K = phi.H, theta.shape[1] - len(phi.known)
    gamma = (0.99 if H is None else 1.0) if gamma is None else gamma
    low, high = value_range if value_range and clip else (-math.inf, math.inf)
    scale = 1.0 if variance == "unknown" or not sample else sigma
    apart, drawn = H is not None and weights == "per period", None
    after = theta[0] if H is None else np.zeros(theta.shape[1])
    if H is None and targets == "mean":
        after = mean[0]
    for h in [0] * min(sweeps, 40) if H is None else range(H)[::-1]:
        steps = [step for step in log if step[0] == h or not apart][-(window or 0) :]
        A, b = np.zeros((len(steps), theta.shape[1])), np.zeros(len(steps))
        for i, (_, row, r, following) in enumerate(steps):
            A[i] = row
            b[i] = r - A[i, K:] @ phi.known
            if following is not None:
                b[i] += gamma * min(max(max(following @ after), low), high)
        A = A[:, :K]

        def precision(lam, A=A):
            return A.T @ A / scale**2 + lam * np.eye(K)

        center = lam if lam_of_mean is None else lam_of_mean
        mean[h, :K] = np.linalg.inv(precision(center)) @ A.T @ b / scale**2
        theta[h, :K] = mean[h, :K]
        if sample:
            if drawn is None or apart or draws == "per sweep":
                by_key = isinstance(phi, features.OneHot) and H is None
                drawn = (
                    normals_of(int(rng.integers(2**63)), np.arange(K))
                    if by_key
                    else rng.standard_normal(K),
                    (rng.standard_gamma(1 + len(b) / 2) if variance == "unknown" else math.nan),
                )
            z, g = drawn
            deviation = np.linalg.solve(np.linalg.cholesky(precision(lam)).T, z)
            if variance == "unknown":
                deviation *= math.sqrt((1 + (b @ b - b @ A @ mean[h, :K]) / 2) / g)
            theta[h, :K] += deviation
        after = (theta if targets == "sample" or not sample else mean)[h].copy()
    if not apart:
        theta[:], mean[:] = theta[0], mean[0]
    return theta, mean


def compare(make, world, form, choices, sample):
    phi_of, H, world_of, _ = WORLDS[world]
    phi, episodes, log = features.FeatureMap.of(phi_of(), H), world_of(1), []
    choices = {"gamma": 0.9} | choices if world == "one table" else choices
    choices = {"window": 40} | choices if form is RingAgent else choices
    agent = make(phi, lam=LAM, rng=3, form=form, **as_options(choices))
    assert type(agent) is form
    for l in range(12):
        (theta, mean), rng = state_of(agent), copy.deepcopy(agent.rng)
        agent.plan()
        if l > 0 or choices.get("first_episode") == "prior":
            theta, mean = textbook(phi, log, rng, theta, mean, sample=sample, **choices)
            found = state_of(agent)
            np.testing.assert_allclose(found[0], theta, rtol=1e-6, atol=1e-7)
            if hasattr(agent, "mean"):
                np.testing.assert_allclose(found[1], mean, rtol=1e-6, atol=1e-7)
            assert agent.rng.bit_generator.state == rng.bit_generator.state
        for h, s, a, r, s_next in episodes.episode(phi):
            agent.observe(h, s, a, r, s_next)
            over = s_next is None or h + 1 == phi.H
            row = phi(h, s)[list(phi.legal(h, s)).index(a)]
            log.append((h, row, r, None if over else phi.following(h + 1, s_next)))


READINGS = {field.name for field in fields(Reading)}


def as_options(choices):
    """Choices as the doors take them: the paper's readings in one argument."""
    reading = {name: value for name, value in choices.items() if name in READINGS}
    others = {name: value for name, value in choices.items() if name not in READINGS}
    return others | ({"reading": Reading(**reading)} if reading else {})


def refused(form, choices):
    """The first name that a form does not offer, or None."""
    given = as_options(choices)
    clip = given.pop("value_range", UNBOUNDED)
    clip = clip if given.pop("clip", True) else UNBOUNDED
    return next(iter(Choices(clip=clip, **given).unsupported(form.OFFERS)), None)


@pytest.mark.parametrize(
    ("world", "form", "choice"), CASES, ids=lambda x: getattr(x, "__name__", x)
)
def test_every_choice_in_every_form_gives_the_weights_of_the_textbook(world, form, choice):
    choices = (HORIZON | STATIONARY)[choice]
    name = refused(form, choices)
    if name is None:
        compare(lambda phi, **kw: rlsvi(phi, sigma=SIGMA, **kw), world, form, choices, True)
        if set(choices) <= set(LSVI):
            compare(lsvi, world, form, choices, False)
    else:
        phi_of, H, *_ = WORLDS[world]
        gamma = {"gamma": 0.9} if world == "one table" else {}
        with pytest.raises(ValueError, match=name):
            rlsvi(phi_of(), LAM, SIGMA, H=H, form=form, **gamma, **as_options(choices))
        offers = rlsvi(phi_of(), LAM, SIGMA, H=H, **gamma, **as_options(choices))
        assert type(offers) is not form  # the default is a form that does


def test_each_choice_is_tried():
    doors = {*inspect.signature(rlsvi).parameters, *inspect.signature(lsvi).parameters}
    tried = {name for choices in (HORIZON | STATIONARY).values() for name in choices}
    elsewhere = {
        "features",
        "lam",
        "sigma",
        "H",
        "rng",
        "form",
        "epsilon",
        "eta",
        "half_life",
        "redraw",
    }
    assert doors - {"reading"} | READINGS == tried | elsewhere


def test_a_value_range_clips_in_every_form():
    """Without a cut, features that extrapolate would promise more than there can be."""
    mdp = chain(5)
    rewards = {
        rlsvi(features.tabular(mdp), value_range=(0, 1), rng=2, form=form)
        .learn(mdp, 30, rng=3)
        .reward.sum()
        for form in (None, FiniteAgent, StoredAgent, VerbatimAgent)
    }
    assert len(rewards) == 1


@pytest.mark.parametrize("make", [rlsvi, lsvi])
def test_defaults_follow_from_the_horizon_not_from_the_form(make):
    for form in (None, StoredAgent, VerbatimAgent):
        with_horizon, without = (make(BOX, H=H, form=form).choices for H in (3, None))
        assert (with_horizon.gamma, with_horizon.sweeps) == (1.0, 1)
        assert (without.gamma, without.sweeps, without.reading) == (0.99, 10, Reading())


PHI = RANDOM[:2, :3]


@pytest.mark.parametrize(
    ("call", "error", "keyword"),
    [
        (lambda: rlsvi(PHI, sample=False), TypeError, "sample"),
        (lambda: rlsvi(PHI, epsilon=0.1), TypeError, "epsilon"),
        (lambda: lsvi(PHI, variance="unknown"), TypeError, "variance"),
        (lambda: rlsvi(BOX, weights="shared"), ValueError, "weights"),
        (lambda: rlsvi(PHI, sweeps=3), ValueError, "sweeps"),
        (lambda: rlsvi(PHI, weights="each"), ValueError, "weights"),
        (lambda: rlsvi(PHI, form="verbatim"), ValueError, "form"),
        (lambda: rlsvi(PHI, window=5, form=FiniteAgent), ValueError, "window"),
        (lambda: rlsvi(PHI, 1.0, 1e-9), ValueError, "sigma"),  # its values would lose all digits
        (lambda: FastContinual(PHI[0], 0.9, 0.9, 1e-12), ValueError, "sigma"),
        (lambda: rlsvi(PHI, form=TabularAgent), ValueError, "OneHot"),
        (lambda: rlsvi(Products(3, 2), form=StoredAgent), ValueError, "actions"),
        (lambda: rlsvi(Placements(GAME), form=RingAgent), ValueError, "window"),
        (lambda: psrl(DirichletPrior.symmetric(2, 3, 2)).act(0, 0, [0]), ValueError, "mask"),
        (lambda: incremental(PHI).act(0, 0, [0]), ValueError, "mask"),
        (lambda: rlsvi(Products(3, 2)).act(0, np.zeros(3), [0]), ValueError, "mask"),
    ],
)
def test_what_a_door_or_a_form_does_not_offer_is_refused(call, error, keyword):
    with pytest.raises(error, match=keyword):
        call()


def test_values_that_lose_digits_are_mentioned():
    with pytest.warns(UserWarning, match="digits"):
        rlsvi(PHI, 1.0, 1e-6)


# --------------------------------------------------------------------- masks

MASKED = features.OneHot(H=3, S=4, A=3)
ALLOWED = np.random.default_rng(5).random((3, 4, 3)) < 0.6
ALLOWED[..., 0] |= ~ALLOWED.any(axis=-1)  # some action always is


def masked_steps(agent, episodes, rng):
    """Play a random world in which masks depend on state and period; the steps that were taken."""
    rng, steps = np.random.default_rng(rng), []
    for _ in range(episodes):
        agent.plan()
        s = int(rng.integers(4))
        for h in range(3):
            a = agent.act(h, s, np.flatnonzero(ALLOWED[h, s]))
            r, s_next = float(rng.normal()), int(rng.integers(4))
            legal = np.flatnonzero(ALLOWED[h + 1, s_next]) if h < 2 else None
            agent.observe(h, s, a, r, s_next, legal)
            steps.append((h, s, a, r, s_next))
            s = s_next
    return steps


def empirical_values(steps):
    """Q̂ of the world as it was seen: means of rewards and next values, over allowed actions."""
    Q = np.where(ALLOWED, 0.0, -np.inf)
    for h in reversed(range(3)):
        for s, a in np.ndindex(4, 3):
            seen = [(r, s_next) for at, t, b, r, s_next in steps if (at, t, b) == (h, s, a)]
            if seen:
                Q[h, s, a] = np.mean([r + (Q[h + 1, t].max() if h < 2 else 0) for r, t in seen])
    return Q


@pytest.mark.parametrize(
    "make",
    [
        lambda **form: rlsvi(MASKED, LAM, SIGMA, rng=1, **form),
        lambda **form: lsvi(MASKED, LAM, epsilon=0.5, half_life=10, rng=1, **form),
        lambda **form: lsvi(MASKED, LAM, eta=0.5, rng=1, **form),
    ],
    ids=["rlsvi", "epsilon", "eta"],
)
def test_a_mask_means_the_same_in_every_form(make):
    agents = [make(form=form) for form in (TabularAgent, FiniteAgent, StoredAgent, VerbatimAgent)]
    played = [masked_steps(agent, 40, 2) for agent in agents]
    assert all(steps == played[0] for steps in played)
    assert all(ALLOWED[h, s, a] for h, s, a, *_ in played[0])
    greedy = [
        [agent.greedy(h, s, np.flatnonzero(ALLOWED[h, s])) for h, s in np.ndindex(3, 4)]
        for agent in agents
    ]
    assert all(actions == greedy[0] for actions in greedy)
    tabular, finite, *_ = agents
    assert np.array_equal(np.isinf(tabular.Q), np.isinf(finite.Q))
    assert tabular.policy()[np.isinf(tabular.Q)].max() == 0


@pytest.mark.parametrize("form", [TabularAgent, FiniteAgent, StoredAgent, VerbatimAgent])
def test_masked_values_are_the_exact_empirical_ones(form):
    agent = lsvi(MASKED, 1e-8, epsilon=1.0, rng=1, form=form)
    exact = empirical_values(masked_steps(agent, 200, 2))
    agent.plan()
    assert np.allclose(agent.Q[ALLOWED], exact[ALLOWED], atol=1e-6)


def test_a_mask_that_differs_from_visit_to_visit_is_refused_by_a_table():
    for form in (TabularAgent, FiniteAgent):
        agent = rlsvi(MASKED, form=form, rng=1)
        agent.act(0, 1, [0, 2])
        for legal in ([0], None):
            with pytest.raises(ValueError, match="mask"):
                agent.act(0, 1, legal)
