"""One way to look into an agent: ``values`` and ``mean_values`` are the same in every form.

The verbatim form is held against the features, its weights and LSVI; every other form against the
verbatim one and its own table Q. Three periods, unequal rows, and masks where a form takes them.
"""

import copy

import numpy as np
import pytest

from rlsvi_core import GaussianPosterior, StoredAgent, VerbatimAgent, features, lsvi, rlsvi
from rlsvi_core.agents import DiscountedAgent, FiniteAgent, TabularAgent
from rlsvi_core.agents.continual import FastContinual
from rlsvi_core.agents.incremental import incremental
from rlsvi_core.agents.rivals import psrl, ucbvi, uniform
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.envs.tetris import Tetris
from rlsvi_study.recommender.products import ProductAgent, Products
from rlsvi_study.tetris.ring import Placements, RingAgent

H, S, A, K = 3, 4, 3, 5
LAM, SIGMA = 0.7, 0.4
TABLE = np.random.default_rng(1).standard_normal((H, S, A, K)) * np.arange(1, A + 1)[:, None]
STEPS = [  # episodes of one, two and three steps, with unequal rewards
    *[(0, 0, 1, 0.3, 2), (1, 2, 0, -0.6, 3), (2, 3, 2, 1.1, 1)],
    *[(0, 3, 2, -0.2, 0), (1, 0, 1, 0.8, None)],
    *[(0, 0, 0, 0.5, 1), (1, 1, 2, 0.0, 3), (2, 3, 0, -0.9, 2)],
    *[(0, 1, 1, 0.4, None)],
    *[(0, 0, 1, -0.7, 2), (1, 2, 2, 0.1, 2), (2, 2, 1, 0.6, 0)],
]
OPEN = {(0, 0): [0, 1], (1, 2): [0, 2], (2, 3): [0, 2], (2, 2): [1]}  # elsewhere everything
FORMS = {
    "finite": (FiniteAgent, TABLE, {}),
    "stored": (StoredAgent, TABLE, {}),
    "tabular": (TabularAgent, features.OneHot(H, S, A), {}),
    "discounted": (DiscountedAgent, features.OneHot(None, S, A), {"gamma": 0.8, "sweeps": 4}),
    "stored, no H": (StoredAgent, features.OneHot(None, S, A), {"gamma": 0.8, "sweeps": 4}),
}
every_form = pytest.mark.parametrize(("form", "phi", "choices"), FORMS.values(), ids=FORMS)


def legal(h, s):
    return np.array(OPEN.get((h, s), range(A)))


def informed(make, masks=False):
    """An agent that has observed the steps, before an episode."""
    agent = make()
    for h, s, a, r, s_next in STEPS:
        follows = masks and s_next is not None and h + 1 < H
        agent.observe(h, s, a, r, s_next, legal(h + 1, s_next) if follows else None)
    agent.plan()
    return agent


def pair(form, phi, choices, masks=False):
    return [
        informed(lambda one=one: rlsvi(phi, LAM, SIGMA, form=one, rng=2, **choices), masks)
        for one in (form, VerbatimAgent)
    ]


def everywhere(agent, look, steps=H):
    return np.array([[getattr(agent, look)(h, s) for s in range(S)] for h in range(steps)])


def test_the_verbatim_form_shows_its_weights_and_those_of_lsvi():
    agent = informed(lambda: rlsvi(TABLE, LAM, SIGMA, form=VerbatimAgent, rng=2))
    mean = informed(lambda: lsvi(TABLE, LAM * SIGMA**2, form=VerbatimAgent))
    np.testing.assert_allclose(
        everywhere(agent, "values"), np.einsum("hsak,hk->hsa", TABLE, agent.theta)
    )
    np.testing.assert_allclose(
        everywhere(agent, "mean_values"), np.einsum("hsak,hk->hsa", TABLE, mean.theta)
    )
    np.testing.assert_allclose(everywhere(mean, "values"), everywhere(mean, "mean_values"))


@every_form
def test_every_form_shows_what_the_verbatim_one_does(form, phi, choices):
    agent, verbatim = pair(form, phi, choices)
    assert type(agent) is form
    for look in ("values", "mean_values"):
        found = everywhere(agent, look)
        np.testing.assert_allclose(found, everywhere(verbatim, look), rtol=1e-9, atol=1e-12)
    periods = 1 if agent.H is None else H
    np.testing.assert_allclose(everywhere(agent, "values", periods), agent.Q)


@every_form
def test_looking_changes_nothing(form, phi, choices):
    agent = pair(form, phi, choices)[0]
    other = copy.deepcopy(agent)
    agent.values(1, 2)[:] = np.nan  # it is the caller's own
    agent.mean_values(2, 3)[:] = np.nan
    assert np.isfinite([agent.values(1, 2), agent.mean_values(2, 3)]).all()
    assert agent.rng.bit_generator.state == other.rng.bit_generator.state
    for one in (agent, other):
        one.plan()
    np.testing.assert_array_equal(everywhere(agent, "values"), everywhere(other, "values"))


@every_form
def test_forbidden_actions_are_minus_infinity(form, phi, choices):
    agent, verbatim = pair(form, phi, choices)
    for look in ("values", "mean_values"):
        q = getattr(agent, look)(1, 2, [0, 2])
        assert q[1] == -np.inf
        np.testing.assert_allclose(q, getattr(verbatim, look)(1, 2, [0, 2]), rtol=1e-9)
        assert np.isfinite(getattr(agent, look)(1, 2)).all()
    with pytest.raises(IndexError, match="legal"):
        agent.values(1, 2, [2, 0])


@pytest.mark.parametrize("name", ["finite", "tabular"])
def test_a_table_of_states_keeps_its_masks(name):
    agent, verbatim = pair(*FORMS[name], masks=True)
    seen = {(h, s) for h, s in OPEN if h > 0}  # those that followed a step
    for look in ("values", "mean_values"):
        for h, s in np.ndindex(H, S):
            mask = legal(h, s) if (h, s) in seen else None
            expected = getattr(verbatim, look)(h, s, mask)
            np.testing.assert_allclose(getattr(agent, look)(h, s), expected, rtol=1e-9)
    np.testing.assert_array_equal(everywhere(agent, "values"), agent.Q)
    assert np.isinf(agent.Q).sum() == sum(A - len(OPEN[at]) for at in seen)


def test_a_state_of_the_recommender_has_no_values_for_what_was_seen():
    customers, rng = Recommender.random(rng=1, N=4, J=3), np.random.default_rng(3)
    agents = [rlsvi(Products(4, 3), 1.0, 0.5, form=one, rng=2) for one in (None, VerbatimAgent)]
    assert type(agents[0]) is ProductAgent
    for _ in range(6):
        for agent in agents:
            agent.plan()
        x = customers.start(rng)
        for h in range(3):
            for look in ("values", "mean_values"):
                fast, verbatim = (getattr(agent, look)(h, x) for agent in agents)
                np.testing.assert_allclose(fast, verbatim, rtol=1e-9, atol=1e-12)
                assert (np.isinf(fast) == (np.array(x) != 0)).all()
            a = int(fast.argmax())
            before = np.array(x)
            r, x, _ = customers.step(h, x, a, rng)
            for agent in agents:
                agent.observe(h, before, a, r, x)
    with pytest.raises(ValueError, match="masks"):
        agents[0].values(0, np.zeros(4), [0])


def test_a_state_of_tetris_has_a_value_for_each_placement():
    game = Tetris(5, 6, "IJOST")
    agents = [
        rlsvi(Placements(game, "reward"), 1.0, 0.5, window=50, form=one, rng=2)
        for one in (None, VerbatimAgent)
    ]
    assert type(agents[0]) is RingAgent
    for agent in agents:
        agent.learn(Tetris(5, 6, "IJOST"), 4, rng=3)
        agent.plan()
    game.start(np.random.default_rng(3))  # a piece with few placements
    for look in ("values", "mean_values"):
        fast, verbatim = (getattr(agent, look)(0, game.table) for agent in agents)
        np.testing.assert_allclose(fast, verbatim, rtol=1e-6, atol=1e-9)
        assert np.isfinite(fast).sum() == len(game.table) < game.A == fast.size


def test_incremental_rlsvi_without_forgetting_has_a_mean_of_its_own():
    agent = informed(lambda: incremental(TABLE, LAM, SIGMA, rng=2))
    np.testing.assert_array_equal(everywhere(agent, "values"), agent.Q)
    posterior = GaussianPosterior(K, LAM, SIGMA)
    for h, s, a, r, _ in STEPS:
        if h == H - 1:  # in the last period targets are rewards
            posterior.add_row(TABLE[h, s, a], r)
    np.testing.assert_allclose(
        everywhere(agent, "mean_values")[H - 1], TABLE[H - 1] @ posterior.mean
    )


def test_the_continual_agent_shows_mean_and_perturbation():
    Phi, gamma = TABLE[0], 0.6
    agent, posterior = FastContinual(Phi, gamma, 0.5, LAM, SIGMA, rng=2), None
    seen = [(s, a, r, s_next) for _, s, a, r, s_next in STEPS if s_next is not None]
    for t, (s, a, r, s_next) in enumerate(seen):
        agent.observe(t, s, a, r, s_next)
        posterior, before = GaussianPosterior(K, LAM, SIGMA), agent.theta.copy()
        for s, a, r, s_next in seen[: t + 1]:
            posterior.add_row(Phi[s, a], r + gamma * (Phi[s_next] @ before).max())
        agent.plan()
    for s in range(S):
        np.testing.assert_allclose(agent.values(0, s), Phi[s] @ agent.theta)
        np.testing.assert_allclose(agent.mean_values(0, s), Phi[s] @ posterior.mean, atol=1e-9)


@pytest.mark.parametrize(
    "make", [psrl, lambda prior, rng: ucbvi(prior, 50, 0.01, rng=rng), uniform]
)
def test_a_rival_shows_its_values_and_has_no_mean(make):
    prior = DirichletPrior.symmetric(H, S, A)
    agent = make(prior, rng=1)
    agent.learn(prior.sample(2), 40, rng=3)
    assert type(agent).__name__ in repr(agent)
    np.testing.assert_array_equal(everywhere(agent, "values"), agent.Q)
    with pytest.raises(ValueError, match="posterior mean"):
        agent.mean_values(0, 1)
