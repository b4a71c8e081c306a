"""Random weights on the data: the definition, the forms, and what is proved of them."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from rlsvi_core import bootstrap, chain, features, rlsvi
from rlsvi_core.agents import StoredBootstrap, TableBootstrap, VerbatimAgent, VerbatimBootstrap
from rlsvi_core.agents.spanning import Spanner
from rlsvi_core.agents.states import ENDED
from rlsvi_core.agents.weighted import Draw
from rlsvi_core.beyond import boxes
from rlsvi_study.traps import gamble, long_gamble, toll

pytestmark = pytest.mark.filterwarnings("ignore:value_range")  # narrow ones, so that they cut
H, S, A, K = 3, 4, 3, 5
RANGE = (-0.2, 0.4)  # narrow, so that it cuts
RNG = np.random.default_rng(1)
TABLE = RNG.standard_normal((H, S, A, K)) * np.arange(1, A + 1)[:, None]
REPEATED = [
    *[(0, 0, 1, 0.3, 2), (1, 2, 0, -0.6, 3), (2, 3, 2, 1.1, 1)],
    *[(0, 3, 2, -0.2, 0), (1, 0, 1, 0.8, None)],
    *[(0, 0, 1, 0.3, 2), (1, 2, 0, -0.6, 3), (2, 3, 2, 1.1, 2)],
    *[(0, 0, 1, -0.7, 2), (1, 2, 2, 0.1, 2), (2, 2, 1, 0.6, 0)],
    *[(0, 0, 1, 0.3, 1), (1, 1, 0, 0.4, None)],
]
OPEN = {(0, 0): [0, 1], (1, 2): [0, 2], (2, 3): [0, 2], (2, 2): [1]}  # elsewhere everything


def informed(agent, masks=False, steps=REPEATED):
    for h, s, a, r, s_next in steps:
        legal = None
        if masks and s_next is not None and h + 1 < H:
            legal = np.array(OPEN.get((h + 1, s_next), range(A)))
        agent.observe(h, s, a, r, s_next, legal)
    return agent


def everywhere(agent, look="values"):
    return np.array([[getattr(agent, look)(h, s) for s in range(S)] for h in range(agent.H or 1)])


# ------------------------------------------------------------------ the definition


def textbook(Phi, inverse, draws, gamma, steps=REPEATED):
    """Steps 1 to 4 with explicit sums and an inverse, for weights of its own per period."""
    low, high = RANGE
    theta, V = np.zeros((H + 1, K)), np.zeros(S)
    for h in reversed(range(H)):
        C, draw = Phi[h] @ inverse[h], draws[h]
        M, x = np.diag(draw.visits), draw.visits * (low + (high - low) * draw.share)
        mine = [step for step in steps if step[0] == h]
        for w, (_, s, a, r, s_next) in zip(draw.data, mine, strict=True):
            follows = s_next is not None and h < H - 1
            M = M + w * np.outer(C[s, a], C[s, a])
            x = x + w * (r + (gamma * V[s_next] if follows else 0.0)) * C[s, a]
        theta[h] = inverse[h] @ np.linalg.inv(M) @ x
        V = np.clip((Phi[h] @ theta[h]).max(axis=1), low, high)
    return np.einsum("hsak,hk->hsa", Phi, theta[:H])


def test_the_verbatim_form_solves_the_weighted_problem():
    agent = informed(bootstrap(TABLE, RANGE, 0.3, gamma=0.9, form=VerbatimBootstrap, rng=2))
    draws, draw_weights = [], agent._draw_weights
    agent._draw_weights = lambda rows: draws.append(draw_weights(rows)) or draws[-1]
    agent.plan()
    inverse = [spanner.inverse for spanner in agent.spanners]
    np.testing.assert_allclose(
        everywhere(agent), textbook(TABLE, inverse, draws[::-1], 0.9), rtol=1e-9
    )


def test_the_mean_has_a_ridge_towards_the_middle():
    agent, kappa = informed(bootstrap(TABLE, RANGE, 0.3, gamma=0.9, rng=2)), 0.3
    inverse = [Spanner.of(rows.reshape(-1, K)).inverse for rows in TABLE]
    ones = [
        Draw(
            np.ones(sum(step[0] == h for step in REPEATED)), np.full(K, 2 * kappa), np.full(K, 0.5)
        )
        for h in range(H)
    ]
    np.testing.assert_allclose(
        everywhere(agent, "mean_values"), textbook(TABLE, inverse, ones, 0.9), rtol=1e-9
    )


def test_weights_have_their_laws():
    """Each of four tests fails once in 1000 seeds."""
    agent = bootstrap(TABLE, RANGE, 0.3, form=VerbatimBootstrap, rng=3)
    draws = [agent._draw_weights(4) for _ in range(500)]
    data, visits, share = (np.concatenate(column) for column in zip(*draws, strict=True))
    assert stats.kstest(data, stats.expon.cdf).pvalue > 0.001
    assert stats.kstest(visits, stats.gamma(0.6).cdf).pvalue > 0.001
    assert stats.kstest(share, stats.beta(0.3, 0.3).cdf).pvalue > 0.001
    assert stats.pearsonr(visits, share).pvalue > 0.001


# ------------------------------------------------------------------ the pairs


def test_spanning_pairs_leave_no_large_coefficient():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((30, 6)) * 10.0 ** rng.integers(-3, 4, 6)
        inverse = Spanner.of(rows).inverse
        assert np.abs(rows @ inverse).max() <= 2 * (1 + 1e-9)
        met = (np.abs(rows @ inverse - 1) < 1e-9).any(axis=0)  # a pair is one of the rows
        assert met.all()


def test_directions_that_no_row_has_are_left_out():
    rows = np.random.default_rng(1).standard_normal((9, 2)) @ [[1.0, 0, 2, 0], [0, 0, 1, 3]]
    inverse = Spanner.of(rows).inverse
    assert (inverse != 0).any(axis=0).sum() == 2
    solved = np.linalg.lstsq(rows @ inverse, rows, rcond=None)[0]
    np.testing.assert_allclose(rows @ inverse @ solved, rows, atol=1e-8)


@pytest.mark.parametrize("form", [TableBootstrap, StoredBootstrap, VerbatimBootstrap])
def test_units_of_features_do_not_matter(form):
    """The same pairs are imagined, perhaps in another order, so that draws differ and means do not."""
    mixed = TABLE @ (np.random.default_rng(5).standard_normal((K, K)) * [1e-3, 1.0, 1.0, 1.0, 1e3])
    agents = [informed(bootstrap(Phi, RANGE, rng=2, form=form)) for Phi in (TABLE, mixed)]
    means = [everywhere(agent, "mean_values") for agent in agents]
    np.testing.assert_allclose(*means, rtol=1e-6, atol=1e-8)
    C = [
        np.sort(Phi[0].reshape(-1, K) @ Spanner.of(Phi[0].reshape(-1, K)).inverse)
        for Phi in (TABLE, mixed)
    ]
    np.testing.assert_allclose(*C, rtol=1e-6, atol=1e-8)


def test_rows_met_on_the_way_are_enough():
    """A function of the observation, whose rows are not known before."""
    known = bootstrap(TABLE, RANGE, rng=2, form=StoredBootstrap)
    agent = bootstrap(lambda h, s: TABLE[h, s], RANGE, H=H, rng=2)
    agent.plan()
    assert (agent.values(0, 0) == 0).all()  # nothing was met
    for one in (agent, known):
        informed(one)
        one.plan()
    for h, s in {(h, s) for h, s, *_ in REPEATED}:
        c = TABLE[h, s] @ agent.spanners[h].inverse
        assert np.abs(c).max() <= 2 * (1 + 1e-9)


# ------------------------------------------------------------------ the forms


def handed(table, verbatim):
    """Give the verbatim form the weights that the outcomes have in the table's."""
    seen, draw = table.seen, table.draw
    K = draw.visits.shape[1]

    def weight(h, s, a, r, s_next):
        last = s_next is None or h == (table.H or math.inf) - 1
        state, node = ENDED if last else s_next, seen.first[h if table.H else 0, s, a]
        while (seen.state[node], seen.reward[node]) != (state, r):
            node = seen.link[node]
            assert node >= 0, "an outcome that was not kept"
        return draw.data[node] / seen.number[node]

    order = iter(reversed(range(table.H)) if table.H else [0])

    def draw_weights(rows):
        h = next(order)
        data = [weight(*step) for step in REPEATED if table.H is None or step[0] == h]
        assert len(data) == rows
        visits, share = draw.visits[h], draw.share[h]
        if table.H is None and table.C is None:  # other features: actions side by side
            visits, share = (one.reshape(S, A).T.ravel() for one in (visits, share))
        assert len(visits) == K
        return Draw(np.array(data), visits, share)

    verbatim._draw_weights = draw_weights
    verbatim.plan()
    del verbatim._draw_weights


@pytest.mark.parametrize("masks", [False, True], ids=["", "masks"])
@pytest.mark.parametrize(
    ("phi", "options"),
    [
        (TABLE, {"gamma": 0.9}),
        (features.OneHot(H, S, A), {}),
        (TABLE[0], {"gamma": 0.8, "sweeps": 3}),
        (TABLE[0], {"H": H}),
        (features.OneHot(None, S, A), {"gamma": 0.8, "sweeps": math.inf}),
    ],
    ids=["table", "one-hot", "table, no H", "one table", "one-hot, no H"],
)
def test_the_same_values_from_the_same_weights(phi, options, masks):
    table, verbatim = (
        bootstrap(phi, RANGE, 0.3, rng=2, form=form, **options)
        for form in (None, VerbatimBootstrap)
    )
    assert type(table) is TableBootstrap
    if table.H is None:  # a mask is of a state alone
        masks = False
    informed(table, masks).plan()
    informed(verbatim, masks)
    handed(table, verbatim)
    for h, s in product(range(table.H or 1), range(S)):
        legal = OPEN.get((h, s)) if masks else None
        np.testing.assert_allclose(
            table.values(h, s, legal), verbatim.values(h, s, legal), rtol=1e-7, atol=1e-9
        )
        np.testing.assert_allclose(
            table.mean_values(h, s, legal), verbatim.mean_values(h, s, legal), rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.parametrize(
    ("phi", "options"),
    [
        (TABLE, {}),
        (TABLE, {"weights": "shared"}),
        (features.one_hot(None, (2, 2), A), {"gamma": 0.8}),
        (features.PerAction(lambda s: [1.0, s], A, 2), {"H": H}),
        (features.OneHot(None, S, A), {"gamma": 0.8, "sweeps": 3}),
    ],
    ids=["table", "shared", "components", "crossed", "one-hot"],
)
def test_arrays_are_the_verbatim_form(phi, options, window):
    def seen(s):
        return divmod(s, 2) if isinstance(phi, features.PerAction) and phi.K == 4 * A else s

    steps = [
        (h, seen(s), a, r, None if s_next is None else seen(s_next))
        for h, s, a, r, s_next in REPEATED
    ]
    agents = [
        informed(
            bootstrap(phi, RANGE, 0.3, window=window, rng=2, form=form, **options), steps=steps
        )
        for form in (StoredBootstrap, VerbatimBootstrap)
    ]
    for _ in range(2):
        for agent in agents:
            agent.plan()
        for h, s in product(range(agents[0].H or 1), range(S)):
            for look in ("values", "mean_values"):
                stored, verbatim = (getattr(agent, look)(h, seen(s)) for agent in agents)
                np.testing.assert_allclose(stored, verbatim, rtol=1e-7, atol=1e-9)


def test_nearly_collinear_rows_lose_no_digits():
    """Cubics of observations that all lie close together: the squares of the rows have a condition
    number beyond 1e20, those of their combinations do not."""
    rng = np.random.default_rng(1)
    phi = boxes.polynomial(([-1.0] * 4, [1.0] * 4), A, 3)
    agents = [
        bootstrap(phi, RANGE, 0.01, gamma=0.9, rng=2, form=form)
        for form in (StoredBootstrap, VerbatimBootstrap)
    ]
    for at in 0.3 + 0.01 * rng.normal(size=(200, 4)):
        a, r, after = int(rng.integers(A)), float(rng.random()), at + 0.001
        for agent in agents:
            agent.observe(0, at, a, r, after)
    for agent in agents:
        agent.plan()
    stored, verbatim = (agent.values(0, after) for agent in agents)
    np.testing.assert_allclose(stored, verbatim, rtol=1e-4)


def test_learning_in_one_call_or_step_by_step_is_the_same():
    mdp = chain(6)
    for phi in (features.coherent(mdp.Q, 4, 1), features.OneHot(mdp.H, mdp.S, mdp.A)):
        one, two = (bootstrap(phi, (0, 1), rng=2) for _ in range(2))
        env = np.random.default_rng(3)
        run = one.learn(mdp, 40, 3, exact=True)
        for i in range(40):
            two.plan()
            assert run.claimed[i] == mdp.initial @ two.Q[0].max(axis=1)
            s, h, ended = mdp.start(env), 0, False
            while not ended:
                a = two.act(h, s)
                r, s_next, ended = mdp.step(h, s, a, env)
                two.observe(h, s, a, r, s_next)
                s, h = s_next, h + 1
        np.testing.assert_array_equal(one.Q, two.Q)
        for name in ("state", "reward", "number"):
            used = int(one.seen.used[0])
            np.testing.assert_array_equal(
                getattr(one.seen, name)[:used], getattr(two.seen, name)[:used]
            )


# ------------------------------------------------------------------ what is proved


def played(agent, h, s, a, draws):
    """How often a is the best action, over so many draws."""
    count = 0
    for _ in range(draws):
        agent.plan()
        count += int(agent.values(h, s).argmax()) == a
    return count


def agrees(count, draws, p):
    """Whether a count is one of a coin with probability p; wrongly refused once in 10 000."""
    return stats.binomtest(count, draws, p).pvalue > 1e-4


@pytest.mark.parametrize("form", [TableBootstrap, VerbatimBootstrap])
@pytest.mark.parametrize("kappa", [1.0, 0.1])
@pytest.mark.parametrize(("won", "lost"), [(0, 1), (2, 3), (1, 4)])
def test_the_gamble_is_thompson_sampling_for_a_coin(form, kappa, won, lost):
    _, Phi = gamble()
    agent = bootstrap(Phi, (-2, 2), kappa, rng=won + 10 * lost, form=form)
    for r, times in ((2.0, won), (-2.0, lost)):
        for _ in range(times):
            agent.observe(0, 0, 1, r, None)
    p = stats.beta(won + kappa, lost + kappa).sf(0.5)
    if kappa == 1:
        assert p == pytest.approx(stats.binom(won + lost + 1, 0.5).cdf(won))
    draws = 4000 if form is TableBootstrap else 1000
    assert agrees(played(agent, 0, 0, 1, draws), draws, p)


@pytest.mark.parametrize(("won", "lost"), [(0, 1), (2, 3)])
def test_the_long_gamble_is_no_harder_once_both_outcomes_are_known(won, lost):
    """With many visits to the later periods, which have no noise, it is the same coin."""
    n = 5
    _, Phi = long_gamble(n)
    agent = bootstrap(Phi, (-n, n), 1.0, rng=won + 10 * lost)
    for sign, times in ((1.0, won), (-1.0, lost)):
        s = 1 if sign > 0 else 2
        for _ in range(times):
            agent.observe(0, 0, 1, sign, s)
        for h in range(1, n):
            for _ in range(100_000 // n):
                agent.observe(h, s, 0, sign, s)
    draws = 4000
    assert agrees(played(agent, 0, 0, 1, draws), draws, stats.beta(won + 1, lost + 1).sf(0.5))


@pytest.mark.parametrize(("leaps", "sides"), [(3, 1), (6, 4), (20, 2)])
def test_the_toll_is_paid_no_more_often_than_proved(leaps, sides):
    """P(H Γ(s)/G + H Γ(κ) > Γ(n)), by simulation too; the test fails once in 10 000."""
    n, G, kappa = 5, 4.0, 0.5
    _, Phi = toll(n, 10, G)
    agent = bootstrap(Phi, (-n, n), kappa, rng=leaps)
    for _ in range(leaps):
        agent.observe(0, 0, 1, -1.0, 0)
    for _ in range(sides):
        agent.observe(0, 1, 0, -1 / G, 1)
        for h in range(1, n):
            agent.observe(h, 1, 1, 0.0, 1)
    rng, draws = np.random.default_rng(7), 2000
    bound = (
        n * rng.standard_gamma(sides, 10**5) / G + n * rng.standard_gamma(kappa, 10**5)
        > rng.standard_gamma(leaps, 10**5)
    ).mean()
    count = played(agent, 0, 0, 1, draws)
    assert stats.binomtest(count, draws, bound, alternative="greater").pvalue > 1e-4
    if leaps < 20:
        assert count > 0.1 * bound * draws  # and it says something


def test_a_table_draws_from_a_dirichlet_posterior():
    """Mean and variance of a value whose outcomes are known; each fails once in 1000 seeds."""
    kappa, counts = 0.4, {(0.3, 2): 3, (-0.5, None): 2, (1.0, 1): 1}
    agent = bootstrap(features.OneHot(H, S, A), RANGE, kappa, rng=4)
    for (r, s_next), n in counts.items():
        for _ in range(n):
            agent.observe(2, 0, 1, r, s_next)
    outcomes = np.array([*RANGE, 0.3, -0.5, 1.0])
    alpha = np.array([kappa, kappa, 3, 2, 1])
    mean = alpha @ outcomes / alpha.sum()
    variance = (alpha @ outcomes**2 / alpha.sum() - mean**2) / (alpha.sum() + 1)
    found = []
    for _ in range(5000):
        agent.plan()
        found.append(agent.values(2, 0)[1])
    assert stats.ttest_1samp(found, mean).pvalue > 0.001
    assert stats.ttest_1samp((np.array(found) - mean) ** 2, variance).pvalue > 0.001
    assert agent.mean_values(2, 0)[1] == pytest.approx(mean)


# ------------------------------------------------------------------ what is refused


class Known(features.FeatureMap):
    K, known = 1, np.ones(1)

    def __call__(self, h, s):
        return np.ones((2, 2))


@pytest.mark.parametrize(
    ("make", "error", "word"),
    [
        (lambda: bootstrap(TABLE, RANGE, sigma=1.0), TypeError, "sigma"),
        (lambda: bootstrap(TABLE, RANGE, lam=1.0), TypeError, "lam"),
        (lambda: bootstrap(TABLE, RANGE, 0.0), ValueError, "kappa"),
        (lambda: bootstrap(TABLE, (1, 0)), ValueError, "value_range"),
        (lambda: bootstrap(TABLE), TypeError, "value_range"),
        (lambda: bootstrap(TABLE, RANGE, form=VerbatimAgent), ValueError, "form"),
        (lambda: rlsvi(TABLE, form=VerbatimBootstrap), ValueError, "form"),
        (lambda: bootstrap(TABLE, RANGE, sweeps=3), ValueError, "sweeps"),
        (lambda: bootstrap(Known(), RANGE, gamma=0.9), ValueError, "known"),
        (lambda: bootstrap(TABLE, RANGE, window=3, form=TableBootstrap), ValueError, "window"),
        (
            lambda: bootstrap(lambda s: np.eye(2), RANGE, gamma=0.9, form=TableBootstrap),
            ValueError,
            "TableBootstrap",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(make, error, word):
    with pytest.raises(error, match=word):
        make()


@pytest.mark.parametrize("kappa", [1e-10, 1e9, "1"])
def test_a_count_of_visits_that_cannot_be_drawn_is_refused(kappa):
    with pytest.raises(ValueError, match="kappa"):
        bootstrap(features.one_hot(2, 3, 2), (0, 1), kappa)


def test_it_is_written_with_what_it_was_given():
    agent = bootstrap(features.one_hot(None, 3, 2), (0, 1), 0.1, gamma=0.9)
    assert "kappa=0.1, gamma=0.9, clip=(0, 1)" in repr(agent)
    assert "sigma" not in repr(agent)
