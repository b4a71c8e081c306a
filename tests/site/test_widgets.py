"""The things to play with: their arithmetic against Python's, and each on its page in a browser.

The scripts are loaded by themselves for the first part, so it needs no book; the second part moves
a control on the built page and computes in Python what must then stand there.
"""

import html
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from book._ext.browser import PHONE, ROOT
from book._ext.customers import made
from book._ext.customers import read as written
from rlsvi_core import Agent, Options, chain, features
from rlsvi_core.beyond.bootstrap import Draw, Weighted
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.envs.tetris import RULES, Tetris, place, placements
from rlsvi_core.learner import Problem, Weights
from rlsvi_core.rlsvi import Printed
from rlsvi_study import engine
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.conjecture.toll import looked_at
from rlsvi_study.judging import verdicts
from rlsvi_study.regret.optimism import one_period_gap
from rlsvi_study.tetris import figures
from rlsvi_study.theory import crossings
from rlsvi_study.traps import toll

STATIC = ROOT / "book/_static"


# ------------------------------------------------------------ the arithmetic, without a page


@pytest.fixture(scope="module")
def scripts(browser):
    """An empty page: no script finds anything to draw."""
    page = browser.new_page()
    for name in ("rlsvi", "laws", "tetris", "ui", "toll"):
        page.add_script_tag(path=STATIC / f"{name}.js")
    yield page
    page.close()


class Fed(np.random.Generator):
    """A generator whose draws are given: normals, and uniforms."""

    def __init__(self, normals, uniforms):
        super().__init__(np.random.PCG64(0))  # somebody asks for its state
        self.normals, self.uniforms = iter(normals), iter(uniforms)

    def standard_normal(self, size):
        return np.array([next(self.normals) for _ in range(size)])

    def random(self):
        return next(self.uniforms)


def play(agent, mdp, episodes, uniforms):
    """Algorithm 2 with the environment's uniforms given: actions, rewards and furthest states."""
    actions, rewards, furthest = [], [], []
    for _ in range(episodes):
        agent.plan()
        states = [0]
        for h in range(mdp.H):
            s = states[-1]
            a = agent.act(h, s)
            s_next = int(np.searchsorted(mdp.P[0, s, a].cumsum(), next(uniforms), side="right"))
            r = float(h == mdp.H - 1 and s_next == mdp.S - 1)
            agent.observe(h, s, a, r, s_next)
            actions.append(a)
            states.append(s_next)
        rewards.append(r)
        furthest.append(max(states))
    return actions, rewards, furthest


class Dealt(Printed):
    """As printed, with noise that the test deals out, and the sample or the mean in the targets."""

    targets = "sample"

    def noise(self, rng, rows):
        return np.zeros(self.K) if rng is None else rng.standard_normal(self.K)

    def in_targets(self, theta, mean):
        return mean if self.targets == "mean" else theta


def printed(Phi, rng, lam=1.0, sigma=0.1, *, targets="sample", first="uniform", **acting):
    learner = Dealt(Problem(features.Table(Phi), lam, sigma, options=Options(first=first)))
    learner.targets = targets
    return Agent(learner, rng=rng, **acting)


FEED = """({N, Phi, options, normals, uniforms, env, episodes}) => {
  const feed = draws => { let i = 0; return () => draws[i++]; };
  const agent = new RLSVI.Agent(Phi, options, {normal: feed(normals), uniform: feed(uniforms)});
  const chain = RLSVI.chain(N), chance = feed(env), actions = [], rewards = [];
  for (let l = 0; l < episodes; l++) {
    const one = RLSVI.episode(chain, agent, chance);
    actions.push(...one.actions);
    rewards.push(one.reward);
  }
  agent.plan();
  return {actions, rewards, theta: agent.theta.map(x => [...x])};
}"""


@pytest.mark.parametrize(
    "options",
    [
        {"sample": True, "lam": 1.0, "sigma": 0.1},
        {"sample": True, "lam": 0.3, "sigma": 1.0},
        {"sample": True, "lam": 1.0, "sigma": 0.1, "targets": "mean"},
        {"sample": False, "lam": 1.0, "sigma": 1.0, "epsilon": 0.1},
    ],
    ids=["rlsvi", "other", "mean in targets", "lsvi"],
)
@pytest.mark.parametrize(("N", "K"), [(6, 0), (5, 3), (12, 6)])
def test_the_same_draws_give_the_same_weights_and_actions(scripts, N, K, options):
    mdp, episodes, rng = chain(N), 80, np.random.default_rng(N)
    Phi = features.coherent(mdp.Q, K, rng=1) if K else features.tabular(mdp)
    normals = rng.standard_normal(episodes * mdp.H * Phi.shape[-1])
    uniforms, env = rng.random((2, episodes * mdp.H))
    agent = printed(Phi, Fed(normals, uniforms), **options)
    actions, rewards, _ = play(agent, mdp, episodes, iter(env))
    agent.plan()
    there = scripts.evaluate(
        FEED,
        {
            "N": N,
            "Phi": Phi.tolist(),
            "options": options,
            "normals": normals.tolist(),
            "uniforms": uniforms.tolist(),
            "env": env.tolist(),
            "episodes": episodes,
        },
    )
    assert there["actions"] == actions
    assert there["rewards"] == rewards
    assert np.abs(np.array(there["theta"]) - agent.theta).max() <= 1e-9


@pytest.mark.parametrize("N", [2, 5, 20])
def test_the_chain_is_the_papers(scripts, N):
    there = scripts.evaluate("N => RLSVI.chain(N)", N)
    mdp = chain(N)
    assert np.allclose(there["Q"], mdp.Q, rtol=1e-13, atol=0)
    assert math.isclose(there["wait"], 2 ** (N - 1) / mdp.value, rel_tol=1e-12)


def test_random_features_span_the_constant_and_the_values(scripts):
    Phi = np.array(
        scripts.evaluate("""() => RLSVI.coherent(RLSVI.chain(9), 5, RLSVI.generator(7))
        .map(h => h.map(s => s.map(a => [...a])))""")
    )
    columns, mdp = Phi.reshape(-1, 5), chain(9)
    assert np.allclose(np.linalg.norm(columns, axis=0), len(columns))
    assert np.linalg.matrix_rank(columns) == 5
    for wanted in (np.ones(len(columns)), mdp.Q.ravel()):
        weights = np.linalg.lstsq(columns, wanted, rcond=None)[0]
        assert np.allclose(columns @ weights, wanted, atol=1e-10)


def test_the_laws_are_scipys(scripts):
    rng = np.random.default_rng(0)
    a, b, x = *10 ** rng.uniform(-2, 2, (2, 500)), rng.random(500) ** 2
    there = np.array(
        scripts.evaluate(
            """q => q.map(([a, b, x]) => [Laws.lgamma(a),
        Laws.erfc(9 * x - 2), Laws.betainc(a, b, x), Laws.beta(a, b).pdf(x),
        Laws.normal(a, b).cdf(x)])""",
            np.column_stack([a, b, x]).tolist(),
        )
    ).T
    here = (
        special.gammaln(a),
        special.erfc(9 * x - 2),
        special.betainc(a, b, x),
        stats.beta.pdf(x, a, b),
        stats.norm.cdf(x, a, np.sqrt(b)),
    )
    for ours, scipys in zip(there, here, strict=True):
        assert np.allclose(ours, scipys, rtol=1e-10, atol=1e-12)


def test_crossings_are_the_certified_ones(scripts):
    rng = np.random.default_rng(1)
    n, share = 10 ** rng.uniform(-2, 0, 40), rng.uniform(0.485, 0.515, 40)
    cases = (
        np.vstack(
            [  # anywhere, in the tongue, in the sliver, and where something is equal to 1
                10 ** rng.uniform(-2, 2, (40, 2)),
                np.column_stack([n * share, n * (1 - share)]),
                rng.uniform((1.0002, 0.306), (1.008, 0.332), (30, 2)),
                [(1, 1), (1, 0.5), (2, 1), (1.001, 18.5)],
            ]
        )
        .round(6)
        .tolist()
    )
    there = scripts.evaluate(
        """cases => cases.map(([a, b]) => {
        const found = Laws.crossings(a, b);
        return [found.densities, found.functions, found.count]; })""",
        cases,
    )
    seen = set()
    for case, (densities, functions, count) in zip(cases, there, strict=True):
        wanted = crossings.count_crossings(*case)
        assert (len(densities), count) == wanted, case
        assert len(functions) == count
        seen.add(wanted)
    assert {(0, 1), (1, 1), (2, 1), (3, 1), (2, 3)} <= seen
    for case, (densities, functions, _) in list(zip(cases, there, strict=True))[::12]:
        for ours, certified in (
            (densities, crossings.pdf_crossings(*case)),
            (functions, crossings.cdf_crossings(*case)),
        ):
            assert np.allclose(ours, [float(c.logit) for c in certified], rtol=1e-6, atol=1e-6)


def played(rule, weights, pieces):
    """Tetris by the library: orientation, column, row and score of each placement, and the end."""
    game, score, moves = Tetris(rule=rule), 0, []
    (X, over, where), rows = game.buffers(), np.zeros_like(game.rows)
    for piece in pieces:
        n = placements(game.model, rows, piece, X, over, where)
        if n == 0:
            return moves, True
        a = (np.array(weights) @ X[:, :n].astype(np.int64)).argmax()
        o, c, y = map(int, where[a])
        score += place(game.model, rows, o, c, y)
        moves.append([o - int(game.model.first[piece]), c, y, score])
        if over[a]:
            return moves, True
    return moves, False


def policies():
    page = figures.player(engine.load(EXPERIMENTS["fig7"]))
    return json.loads(html.unescape(re.search('data-policies="([^"]*)"', page)[1]))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("policy", [0, 1], ids=["early", "late"])
def test_tetris_is_played_as_python_plays_it(scripts, rule, policy):
    weights = policies()[policy][1]
    ended = 0
    for seed in range(2):
        pieces = np.random.default_rng(seed).integers(7, size=400).tolist()
        there = scripts.evaluate(
            """([rule, weights, pieces]) => {
          const game = new Tetris.Game(rule), moves = [];
          for (const piece of pieces) if (!game.over) {
            const spot = game.play(piece, weights);
            if (spot) moves.push([spot.o, spot.c, spot.y, game.score]);
          }
          return [moves, game.over];
        }""",
            [rule, weights, pieces],
        )
        moves, over = played(rule, weights, pieces)
        assert there == [moves, over]
        ended += over
    assert ended == (0 if policy else 2)  # the early policy's end, so endings are compared too


@pytest.mark.parametrize("rule", RULES)
def test_every_placement_and_feature_is_pythons(scripts, rule):
    """On boards as no good player leaves them: random placements, to the end."""
    game, rng = Tetris(rule=rule), np.random.default_rng(1)
    X, over, where = game.buffers()
    boards, wanted = [], []
    for _ in range(3):
        rows = np.zeros_like(game.rows)
        while n := placements(game.model, rows, piece := int(rng.integers(7)), X, over, where):
            boards.append([piece, rows.tolist()])
            first = int(game.model.first[piece])
            wanted.append(
                [
                    [int(o) - first, int(c), int(y), bool(over[a]), X[:, a].tolist()]
                    for a, (o, c, y) in enumerate(where[:n])
                ]
            )
            a = rng.integers(n)
            place(game.model, rows, *where[a])
            if over[a]:
                break
    assert (
        scripts.evaluate(
            """([rule, boards]) => boards.map(([piece, rows]) => {
      const game = Object.assign(new Tetris.Game(rule), {rows});
      return game.spots(piece).map(({o, c, y, over, after, gone}) =>
        [o, c, y, over, [...Tetris.features(10, after), gone.length]]);
    })""",
            [rule, boards],
        )
        == wanted
    )


GATE, SIDE, LEAP = 0, 1, 1  # the dead are where the gate was, the living at the side


class AtTheToll:
    """The library's agents at the toll, as printed, all with the same data: RLSVI, whose first episode
    is drawn from the prior, and whose V_h can be cut to ±(H − h); and the bootstrap. A draw is a
    normal for each period, or the weights of large and small features, of imagined visits, and the
    share of these that brought the largest value."""

    def __init__(self, H, uniforms):
        self.mdp, Phi = toll(H, looked_at(H))
        self.rlsvi = printed(Phi, 0, sigma=1.0, first="prior")
        problem = Problem(features.Table(Phi), 1.0, 1.0, low=-H, high=H)
        self.bootstrap = Agent(Weighted(problem, (-H, H), 0.01), rng=0)
        self.H, self.uniforms, self.leaps, self.name = H, uniforms, 0, "printed"

    @property
    def agent(self):
        return self.bootstrap if self.name == "weights" else self.rlsvi

    @property
    def phi(self):
        """Features seen, by period."""
        return [np.array([t.phi[0] for t in data]) for data in self.rlsvi.learner.kept]

    def plan(self, draw):
        if self.name == "weights":
            draws = zip(self.phi[::-1], draw[::-1], strict=True)
            self.bootstrap.learner.draw_weights = lambda *_: weights_of_data(*next(draws))
            self.bootstrap.plan()
            return
        agent, after = self.rlsvi, np.zeros(1)
        agent.rng, learner, theta = Fed(draw[::-1], ()), agent.learner, np.zeros((self.H, 1))
        as_printed = learner.problem
        if self.name == "printed":
            agent.plan()
            return
        for h in reversed(range(self.H)):
            most = self.H - h - 1.0  # of V_{h+1}
            learner.problem = replace(as_printed, low=-most, high=most)
            A, b = learner.regression_problem(learner.kept[h], after)
            _, after = learner.solve(A, b, agent.rng.standard_normal(1))
            theta[h] = after
        learner.problem, agent.fitted = as_printed, Weights(theta)

    def episode(self):
        s = SIDE if next(self.uniforms) < 1 / looked_at(self.H) else GATE
        for h in range(self.H):
            a = int(self.agent.values(h, s).argmax())
            self.leaps += s == GATE and h == 0 and a == LEAP
            for agent in (self.rlsvi, self.bootstrap):
                agent.observe(h, s, a, self.mdp.R[h, s, a, s], s)

    @property
    def seems(self):
        """Values of being alive, and in period 0 of a leap."""
        H, theta = self.H, self.agent.theta[:, 0]
        V = np.maximum(theta, 16 * theta)
        limit = {"printed": math.inf, "truncated": np.arange(H, 0, -1), "weights": H}[self.name]
        return np.array([16 * theta[0], *np.clip(V, -limit, limit)[1:]])


def weights_of_data(phi, draw):
    """The weights of a period's data from those of all large and of all small features."""
    large, small, visits, share = draw
    data = np.zeros(len(phi))
    for size, weight in ((16, large), (1, small)):
        data[phi == size] = weight / max(1, (phi == size).sum())
    return Draw(data, np.array([visits]), np.array([share]))


@pytest.mark.parametrize("name", ["printed", "truncated", "weights"])
@pytest.mark.parametrize("H", [7, 11])
def test_at_the_toll_the_same_draws_give_the_same_weights(scripts, H, name):
    episodes, rng = 60, np.random.default_rng(H)
    uniforms = rng.uniform(0, 15 / looked_at(H), episodes)  # so one in 15 starts at the side
    first, *there = scripts.evaluate(
        """({H, name, uniforms}) => {
      let i = 0;
      const run = new Toll.Run(H, { ...RLSVI.generator(H), uniform: () => uniforms[i++] });
      const state = () => ({draw: [...(name === "weights" ? run.weights : run.z)], theta: [...run.theta],
        seems: [run.leap, ...run.V.slice(1)], growth: run.growth, leaps: run.leaps, sides: run.sides});
      run.become(name);
      return [state(), ...uniforms.map(() => { run.episode(); return state(); })];
    }""",
        {"H": H, "name": name, "uniforms": uniforms.tolist()},
    )
    here = AtTheToll(H, iter(uniforms.tolist()))
    here.name = name
    here.plan(first["draw"])
    for one in there:
        here.episode()
        here.plan(one["draw"])
        assert np.allclose(one["theta"], here.agent.theta[:, 0], rtol=1e-9, atol=1e-12)
        assert np.allclose(one["seems"], here.seems, rtol=1e-9, atol=1e-12)
        assert one["leaps"] == here.leaps
        if name != "weights":
            growth = math.prod(16 * x.sum() / (1 + (x**2).sum()) for x in here.phi[1:-1])
            assert math.isclose(one["growth"], growth, rel_tol=1e-12)
    assert there[-1]["sides"] >= 2
    assert name != "printed" or max(max(one["seems"]) for one in there) > 100


def test_gamma_and_beta_variates_are_as_numpys(scripts):
    """Kolmogorov and Smirnov's test with 4000 of each, at fixed seeds: another seed would fail with
    a probability below 1%, in eight comparisons. Small ones are often 0 or 1 to the last digit."""
    rng = np.random.default_rng(0)
    for shape in (0.02, 0.7, 1, 30):
        there = scripts.evaluate(
            """shape => {
          const luck = RLSVI.generator(5), many = draw => Array.from({ length: 4000 }, draw);
          return [many(() => luck.gamma(shape)), many(() => luck.beta(shape, 2 * shape))];
        }""",
            shape,
        )
        for ours, numpys in zip(
            there, (rng.gamma(shape, size=4000), rng.beta(shape, 2 * shape, 4000)), strict=True
        ):
            assert stats.ks_2samp(np.round(ours, 9), np.round(numpys, 9)).pvalue > 1e-3, shape


@pytest.mark.parametrize("H", [7, 9, 11, 13])
def test_at_the_toll_a_longer_road_is_paid_for_longer_unless_cut(scripts, H):
    """The run that the chapter shows first, and how it goes on with another agent."""
    L, printed, fixed, switched = scripts.evaluate(
        """H => {
      const play = (run, episodes, agent) => {
        run.become(agent);
        while (run.episodes < episodes) run.episode();
        return run.leaps;
      };
      const L = Toll.lookedAt(H), make = () => new Toll.Run(H, RLSVI.generator(169)), fixes = ["truncated", "weights"];
      return [L, play(make(), L, "printed"), fixes.map(agent => play(make(), L, agent)), fixes.map(agent => {
        const run = make(), before = play(run, L, "printed");
        return play(run, 2 * L, agent) - before;
      })];
    }""",
        H,
    )
    assert L == looked_at(H)
    assert printed > 0.2 * L
    assert printed / math.sqrt(H * L) > 0.5 * 2 ** ((H - 7) / 2)
    for leaps, limit in zip(fixed, (20, 2 * H * math.log(L)), strict=True):
        assert leaps < limit
    assert max(switched) < 5  # with the same data, and from that episode on


def test_one_is_no_plural(scripts):
    there = scripts.evaluate("[0, '0.3', 1, '1', 12345].map(n => UI.counted(n, 'like'))")
    assert there == ["0 likes", "0.3 likes", "1 like", "1 like", "12345 likes"]


# ------------------------------------------------------------ on their pages


class Stream(np.random.Generator):
    """The page's own random numbers: mulberry32, Box and Muller's normals, and gammas of both."""

    def __init__(self, seed):
        super().__init__(np.random.PCG64(0))
        self.state = seed

    def random(self):
        self.state = self.state + 0x6D2B79F5 & 0xFFFFFFFF
        t = (self.state ^ self.state >> 15) * (self.state | 1) & 0xFFFFFFFF
        t ^= t + ((t ^ t >> 7) * (t | 61) & 0xFFFFFFFF) & 0xFFFFFFFF
        return (t ^ t >> 14) / 2**32

    def normal(self):
        return math.sqrt(-2 * math.log(1 - self.random())) * math.cos(2 * math.pi * self.random())

    def standard_normal(self, size):
        return np.array([self.normal() for _ in range(size)])

    def log_gamma(self, shape):
        if shape < 1:
            larger = self.log_gamma(shape + 1)
            return larger + math.log(1 - self.random()) / shape
        d = shape - 1 / 3
        while True:
            x = self.normal()
            v = (1 + x / math.sqrt(9 * d)) ** 3
            if v > 0 and math.log(1 - self.random()) < x * x / 2 + d * (1 - v + math.log(v)):
                return math.log(d * v)

    def standard_gamma(self, shape):
        return math.exp(self.log_gamma(shape)) if shape else 0.0

    def beta(self, a, b):
        odds = self.log_gamma(b) - self.log_gamma(a)
        return float(special.expit(-odds))


@pytest.fixture
def widget(at):
    """widget(chapter): what stands first on its page to be played with, on a phone, and its page."""

    def ready(chapter, what="[data-widget][data-ready]", **settings):
        one = at(f"book/{chapter}", **{"viewport": PHONE} | settings).locator(what).first
        one.wait_for()
        return one

    return ready


RACE = "[data-widget=race][data-ready]"  # of the start page, which has another widget


def press(one, button, times):
    """Press a button so many times at once; that a finger and a key can, other tests show."""
    one.get_by_role("button", name=button, exact=True).evaluate(
        "(e, n) => { for (; n > 0; n--) e.click(); }", times
    )


def move(one, label, keys):
    """Move the slider of that name, as from a keyboard; what it then says."""
    slider = one.get_by_role("slider", name=label, exact=True)
    for key, times in keys.items():
        for _ in range(times):
            slider.press(key)
    return slider.get_attribute("aria-valuetext")


def reading(one, key, column=0):
    return one.locator(f'[data-reading="{key} {column}"]').inner_text()


def plain(text):
    """A number as the page writes it."""
    digits = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-", "\u202f")
    mantissa, _, power = text.translate(digits).partition(" × 10")
    return float(mantissa) * 10.0 ** int(power or 0)


def numbers(one):
    """Those in the text of an element, or in a text."""
    text = one if isinstance(one, str) else one.inner_text()
    return [*map(plain, re.findall(r"−?\d[\d\u202f]*(?:\.\d+)?(?: × 10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?", text))]


def coherent_there(page, N, K, seed):
    return np.array(
        page.evaluate(
            """([N, K, seed]) => RLSVI.coherent(RLSVI.chain(N), K,
        RLSVI.generator(seed)).map(h => h.map(s => s.map(a => [...a])))""",
            [N, K, seed],
        )
    )


def test_the_race_runs_as_python_does(widget):
    one = widget("03-dithering", reduced_motion="reduce")
    assert move(one, "N, states of the chain", {"Home": 1, "ArrowRight": 5}) == "9"
    assert move(one, "K, features", {"Home": 1, "ArrowRight": 2}) == "4"
    mdp, episodes = chain(9), 40
    assert round(2**8 / mdp.value) in numbers(one.locator(".wait"))
    one.get_by_role("button", name="One episode").click()
    press(one, "One episode", episodes - 1)
    Phi = coherent_there(one.page, 9, 4, 10)
    for key, seed, options in (
        ("rlsvi", 12, {"lam": 1.0, "sigma": 0.1, "sample": True}),
        ("lsvi", 13, {"lam": 1.0, "sigma": 1.0, "sample": False, "epsilon": 0.1}),
    ):
        luck = Stream(11)
        _, rewards, furthest = play(
            printed(Phi, Stream(seed), **options), mdp, episodes, iter(luck.random, None)
        )
        assert int(reading(one, key)) == 1 + max(furthest)
        assert int(reading(one, key, 1)) == sum(rewards)
        assert numbers(reading(one, key, 2)) == ([1 + rewards.index(1)] if any(rewards) else [])
    one.get_by_role("button", name="Reset").click()
    assert one.get_attribute("data-episodes") == "0"
    assert move(one, "N, states of the chain", {}) == "20"
    assert move(one, "K, features", {}) == "10"


def test_the_race_of_the_start_page_says_how_long_coins_take(widget):
    """To the last digit, in years at its speed; N is all there is to set."""
    one = widget("index", RACE, reduced_motion="reduce")
    assert one.get_by_role("slider").count() == one.get_by_role("button").count() == 1
    one.page.evaluate(FRAMES)
    one.get_by_role("button", name="Play").click()
    one.page.evaluate("() => pass(25, 100)")
    wait = 2**49 / chain(50).value
    done, mean, years, speed = numbers(one.locator(".wait"))
    assert done == int(one.get_attribute("data-episodes")) == 125
    assert speed == 50
    assert math.isclose(mean, wait, rel_tol=1e-13)
    assert math.isclose(years * 31557600 * 50, wait, rel_tol=0.05)
    assert move(one, "N, states of the chain", {"Home": 1}) == "4"  # and runs on
    one.page.evaluate("() => pass(60, 100)")
    done, mean, first = numbers(one.locator(".wait"))
    assert math.isclose(mean, 2**3 / chain(4).value, abs_tol=0.5)
    assert first <= done


# Whether a race has stood still for a third of a second, when asked at every frame.
STILL = """e => {
  e.still = e.dataset.episodes === e.before ? e.still + 1 : 0;
  e.before = e.dataset.episodes;
  return e.still >= 20;
}"""
RUNS = "e => e.dataset.episodes > 5"


def until(one, condition):
    one.page.wait_for_function(condition, arg=one.element_handle())


def test_the_race_starts_by_itself_where_motion_is_welcome_and_waits_out_of_sight(widget):
    one = widget("index", RACE)
    one.scroll_into_view_if_needed()
    until(one, RUNS)
    one.page.evaluate("scrollTo({ top: 1e6, behavior: 'instant' })")
    until(one, STILL)
    there = int(one.get_attribute("data-episodes"))
    one.page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    until(one, f"e => e.dataset.episodes > {there} + 5")
    calm = widget("index", RACE, reduced_motion="reduce")
    calm.scroll_into_view_if_needed()
    until(calm, STILL)
    assert calm.get_attribute("data-episodes") == "0"


# The bottom edges of the title, of the race and of the verdicts; how many lines the title has.
EDGES = """() => {
  const bottom = e => e.getBoundingClientRect().bottom;
  const title = document.querySelector("article h1");
  const line = parseFloat(getComputedStyle(title).lineHeight);
  return {race: bottom(document.querySelector("[data-widget=race]")),
          verdicts: [...document.querySelectorAll(".five p")].map(bottom),
          lines: Math.round(title.getBoundingClientRect().height / line)};
}"""


def test_the_first_screen_has_the_race_and_the_verdicts(widget):
    desk = widget("index", RACE, viewport={"width": 1280, "height": 800}).page.evaluate(EDGES)
    assert desk["lines"] == 1
    assert desk["race"] <= 800
    assert max(desk["verdicts"]) <= 800
    phone = widget("index", RACE).page.evaluate(EDGES)
    assert phone["race"] <= PHONE["height"]
    assert max(phone["verdicts"]) <= 2 * PHONE["height"]


def test_the_race_plays_and_pauses(widget):
    one = widget("index", RACE, reduced_motion="reduce")
    assert one.get_attribute("data-episodes") == "0"
    play, wide = one.get_by_role("button", name="Play"), "e => e.getBoundingClientRect().width"
    before = play.evaluate(wide)
    play.focus()
    one.page.keyboard.press("Enter")
    until(one, "e => e.dataset.episodes > 20")
    pause = one.get_by_role("button", name="Pause")
    assert pause.evaluate(wide) == before
    pause.click()
    held = one.get_attribute("data-episodes")
    until(one, STILL)
    assert one.get_attribute("data-episodes") == held


def test_the_race_starts_by_itself_on_a_phone_held_sideways(widget):
    one = widget("index", RACE, viewport={"width": PHONE["height"], "height": PHONE["width"]})
    one.evaluate("e => e.scrollIntoView()")
    until(one, RUNS)


# A browser in which time passes when a test says so: so many frames, of so many milliseconds.
FRAMES = """() => {
  let now = 0, count = 0;
  const frames = new Map();
  performance.now = () => now;
  window.requestAnimationFrame = frame => { frames.set(++count, frame); return count; };
  window.cancelAnimationFrame = one => frames.delete(one);
  window.pass = (n, milliseconds) => {
    for (; n > 0; n--) {
      const due = [...frames.values()];
      frames.clear();
      now += milliseconds;
      due.forEach(frame => frame(now));
    }
  };
}"""


def test_a_new_race_goes_on_running_and_quotes_its_real_speed(widget):
    one = widget("03-dithering")
    page, wait = one.page, 2**19 / chain(20).value
    page.evaluate(FRAMES)
    for begin in (
        lambda: move(one, "σ", {"ArrowRight": 1}),
        one.get_by_role("button", name="New race").click,
    ):
        begin()
        assert one.get_attribute("data-episodes") == "0"
        assert one.get_by_role("button", name="Pause").is_visible()
        # The machine is in time; then it has a frame a second, and makes up for a tenth of it.
        for frames, milliseconds, episodes, speed in ((25, 100, 125, 50), (6, 1000, 155, 5)):
            page.evaluate("([n, ms]) => pass(n, ms)", [frames, milliseconds])
            assert one.get_attribute("data-episodes") == str(episodes)
            told = one.locator(".wait").inner_text()
            *_, duration, quoted = numbers(told)
            assert quoted == speed
            unit = 3600 if "hours" in told else 86400
            assert math.isclose(duration * unit, wait / speed, rel_tol=0.05)


def walks(agent, mdp, luck):
    """Draw a value function and walk by it: (state, right, left, action, next state) by period."""
    agent.plan()
    s = 0
    for h in range(mdp.H):
        left, right = agent.values(h, s)
        a = agent.act(h, s)
        s_next = min(s + 1, mdp.S - 1) if luck.random() >= 1 / mdp.S and a else max(s - 1, 0)
        yield s, right, left, a, s_next
        s = s_next


HEIGHTS = """one => {
  const top = name => [...one.querySelectorAll(`.spot.${name}`)].map(e => e.getBBox()).map(b =>
    [b.x + b.width / 2, b.y + b.height / 2]), column = one.querySelector(".column").getBBox();
  const here = spots => spots.find(([x]) => x > column.x && x < column.x + column.width)[1];
  return {right: here(top("rlsvi")), left: here(top("left")), states: top("left").length};
}"""


def test_a_walk_follows_the_values_of_its_own_period(widget):
    """With a sample in the targets, and with the mean, as a button chooses; both walk at once."""
    one = widget("04-randomized-value-functions", reduced_motion="reduce")
    assert move(one, "episodes", {"Home": 1, "ArrowRight": 3}) == "10"
    mdp = chain(10)
    agents = {}
    for targets in ("sample", "mean"):
        agent = printed(features.tabular(mdp), Stream(12), targets=targets)
        _, rewards, furthest = play(agent, mdp, 10, iter(Stream(11).random, None))
        agent.rng = Stream(14)
        agents[targets] = agent, Stream(15), [sum(rewards), max(furthest) + 1]
    for _ in range(2):  # what the slider shows, and what the button then draws
        for targets, button in (("sample", "a sample"), ("mean", "the mean")):
            one.get_by_role("button", name=button, exact=True).click()
            agent, luck, past = agents[targets]
            steps = list(walks(agent, mdp, luck))
            walk = max(s_next for *_, s_next in steps)
            assert [int(reading(one, targets, i)) for i in range(3)] == [*past, walk + 1]
            for h, (s, right, left, a, s_next) in enumerate(steps):
                one.get_by_role("slider", name="period h").fill(str(h))
                told = [h, s + 1, right, left, s_next + 1]
                assert numbers(one.locator(".told")) == pytest.approx(told, abs=6e-4)
                drawn = one.evaluate(HEIGHTS)
                assert drawn["states"] == h + 1
                if abs(right - left) > 1e-3 and max(abs(right), abs(left)) < 2.5:
                    assert (drawn["right"] < drawn["left"]) == a  # the higher mark is followed
        one.get_by_role("button", name="Draw again").click()


GROUND = "e => getComputedStyle(e).backgroundColor"


def test_the_gap_of_an_arm_is_pythons(widget):
    one = widget("05-tabular")
    names = ("paid −1", "paid 0", "λ", "σ")
    sliders = [one.get_by_role("slider", name=name, exact=True) for name in names]
    first = [int(slider.input_value()) for slider in sliders]
    seen = set()
    # From the chapter's arm: the same; a long record and less noise; less ridge.
    for steps in ((0, 0, 0, 0), (27, 29, 0, -45), (0, 0, -20, 0)):
        for slider, start, by in zip(sliders, first, steps, strict=True):
            slider.fill(str(start + by))  # at one stroke, as a finger does
        low, high, lam, sigma = (plain(one.get_attribute("aria-valuetext")) for one in sliders)
        assert (low, high) == (3 + steps[0], 1 + steps[1])
        rho = lam * sigma**2
        gap = one_period_gap((0.5, 0.5), low, high, lam, sigma, np.linspace(-1, 0, 201))
        means = -low / (low + high + rho) + (low + 0.5) / (low + high + 1)
        least = min(gap.min(), means)
        assert math.isclose(plain(reading(one, "gap")), least, rel_tol=0.01, abs_tol=1e-12)
        assert math.isclose(plain(reading(one, "drawn")), -low / (low + high + rho), rel_tol=0.01)
        told, word = one.locator(".told"), one.locator(".verdict")
        assert word.get_attribute("data-verdict") == ("fails" if least < 0 else "holds")
        assert word.evaluate(GROUND) == ("rgb(107, 13, 26)" if least < 0 else "rgb(11, 110, 79)")
        assert told.evaluate(GROUND) == "rgba(0, 0, 0, 0)"  # the sentence is none of the badge
        promised = rho >= 1 and sigma**2 >= 1 / 4
        assert ("nothing" in told.inner_text()) != promised
        seen.add((promised, least < 0))
    assert seen == {(True, False), (False, True)}


def test_crossings_are_counted_on_the_page(widget):
    one = widget("G-gauss-dirichlet")

    def check():
        case = [
            plain(one.get_by_role("slider", name=name).get_attribute("aria-valuetext"))
            for name in ("α", "β")
        ]
        numbers = tuple(int(reading(one, key)) for key in ("densities", "functions"))
        assert numbers == crossings.count_crossings(*case)
        return case, numbers

    assert check()[0] == [2, 3]
    one.get_by_role("button", name="0.05, 0.05").click()
    assert check() == ([0.05, 0.05], (2, 3))
    one.get_by_role("button", name="1.002, 0.32").click()
    assert check()[1] == (3, 1)
    move(one, "α", {"PageUp": 2})
    check()
    first, second = one.locator(".map").all()
    first.click(position={"x": 270, "y": 60})
    assert min(check()[0]) > 1
    second.click(position={"x": 90, "y": 100})
    assert check()[1] == (2, 3)


def test_the_customers_are_the_studys():
    there, here = written(), made()
    assert there["J"] == here["J"]
    for key in ("gamma", "theta"):
        assert np.allclose(there[key], here[key], rtol=0, atol=2e-6), "run book/_ext/customers.py"


def test_a_customer_is_served_as_python_would(widget):
    data = written()
    customers, theta = Recommender(np.array(data["gamma"]), data["J"]), np.array(data["theta"])
    x, _, following = customers.states
    rows = np.column_stack([np.ones(len(x)), x])
    q = np.einsum("si,sia->sa", rows, theta[np.abs(x).sum(axis=1)])
    learned = np.where(x == 0, q, -np.inf).argmax(axis=1)
    one = widget("06d-recommender")
    for key, value in (
        ("myopic", customers.evaluate(customers.myopic())[0]),
        ("learned", customers.evaluate(learned)[0]),
        ("optimal", customers.value),
    ):
        assert math.isclose(plain(reading(one, key)), value, abs_tol=0.0051)

    one.get_by_role("checkbox").check()
    cards = one.locator(".product")
    s, lost, luck, total = 0, 0.0, Stream(1), 0
    uniforms = [luck.random() for _ in range(customers.J)]
    for u in uniforms:
        shown = [card.inner_text().split("\n") for card in cards.all()]
        for a in np.flatnonzero(x[s] == 0):
            assert abs(float(shown[a][1]) - customers.P[s, a]) <= 0.00501
            assert ("optimal" in shown[a][-1]) == (a == customers.Q[s].argmax())
            assert ("learned" in shown[a][-1]) == (a == learned[s])
        a = int(np.flatnonzero(x[s] == 0)[1])
        cards.nth(a).press("Enter")
        liked = u < customers.P[s, a]
        lost += customers.V[s] - customers.Q[s, a]
        total += liked
        s = following[s, a, int(liked)]
        assert math.isclose(float(one.get_attribute("data-lost")), lost, abs_tol=1e-6)
        # A keyboard goes on from the next product that may be shown, or to the next customer.
        place = cards.evaluate_all("all => all.indexOf(document.activeElement)")
        assert place == (-1 if s == len(x) else a + 1)
    assert numbers(one.get_by_role("status"))[:2] == [total, 5]
    assert plain(reading(one, "you", 1)) == total
    s, most = 0, 0
    for u in uniforms:  # the same customer, served by the optimal policy
        a = customers.Q[s].argmax()
        liked = u < customers.P[s, a]
        most, s = most + liked, following[s, a, int(liked)]
    assert plain(reading(one, "optimal", 1)) == most
    one.locator(":focus").press("Enter")
    assert numbers(one.get_by_role("status"))[:2] == [1, 5]
    assert cards.evaluate_all("all => all.indexOf(document.activeElement)") == 0


def test_a_word_of_a_sections_name_finds_its_claims(widget):
    page = widget("verdicts", "#claims").page
    rows = {
        "all": page.locator("#claims tbody tr"),
        "shown": page.locator("#claims tbody tr:visible"),
    }
    wanted = {
        id
        for id, one in verdicts.stored().items()
        if not one.part_of and one.section in ("Section 6.2", "Appendix D")
    }
    page.get_by_role("searchbox", name="Word").fill("tetris")
    shown = {row.get_attribute("id") for row in rows["shown"].all()}
    assert wanted <= shown < {row.get_attribute("id") for row in rows["all"].all()}
    page.get_by_role("searchbox", name="Word").fill("")
    page.get_by_role("combobox", name="Section").select_option("Section 6.2: Tetris")
    assert {row.get_attribute("id").rpartition(".")[0] for row in rows["shown"].all()} == {"6.2"}


def test_claims_are_filtered_by_weight_too_and_the_address_keeps_the_choice(widget):
    page = widget("verdicts", "#claims").page
    rows = page.locator("#claims tbody tr:visible")
    wanted = {
        id
        for id, one in verdicts.stored().items()
        if one.main and one.verdict == "holds" and not one.part_of
    }
    page.get_by_role("combobox", name="Verdict").select_option("holds")
    assert rows.count() > len(wanted)
    page.get_by_role("combobox", name="Weight").focus()
    page.keyboard.press("m")  # as one types
    assert {row.get_attribute("id") for row in rows.all()} == wanted
    page.reload()
    page.wait_for_selector(".bd-article.fitted")
    assert {row.get_attribute("id") for row in rows.all()} == wanted


def test_who_is_sent_to_a_claim_sees_it(at):
    page = at("book/verdicts")
    some = page.locator("#claims tbody tr").first
    other = {"holds", "fails"} - {some.get_attribute("data-verdict")}
    page.get_by_role("combobox", name="Verdict").select_option(other.pop())
    assert not some.is_visible()
    page.evaluate("id => { location.hash = id; }", some.get_attribute("id"))
    some.wait_for()
    page.goto(re.split("[?#]", page.url)[0] + "?weight=main&verdict=holds#6.2.lspi")
    page.wait_for_selector(".bd-article.fitted")
    sent = page.locator('[id="6.2.lspi"]')
    assert sent.is_visible()
    assert 0 <= sent.bounding_box()["y"] < page.viewport_size["height"]


def dealt(seed, n):
    luck = Stream(seed)
    return [int(7 * luck.random()) for _ in range(n)]


def test_two_policies_play_as_python_would(widget):
    one = widget("06c-tetris", reduced_motion="reduce")
    assert one.get_attribute("data-placed") == "0,0"
    ends = set()
    for seed, rule in ((2, "clears"), (3, "overflow top")):
        one.get_by_role("combobox").select_option(rule)
        one.get_by_role("button", name="Other pieces").click()
        one.get_by_role("button", name="One piece").click()
        press(one, "One piece", 129)
        for i, (name, weights) in enumerate(policies()):
            moves, over = played(rule, weights, dealt(seed, 130))
            assert numbers(reading(one, f"agent{i}")) == [len(moves)]
            assert reading(one, f"agent{i}", 1) == str(moves[-1][-1])
            board = one.get_by_role("img").nth(i)
            assert board.get_attribute("aria-label").startswith(f"{name}: {len(moves)} ")
            assert board.locator("text").is_visible() == over  # "game over"
            ends.add((i, over))
    assert ends == {(0, True), (1, False)}


def test_a_reader_places_the_same_pieces(widget):
    """As the late policy would, from the keyboard: then the scores are the same."""
    one = widget("06c-tetris", reduced_motion="reduce")
    pieces, (_, weights) = dealt(1, 20), policies()[1]
    moves, _ = played("clears", weights, pieces)
    turns = one.page.evaluate("Tetris.TURNS.map(turns => turns.map(turn => turn.width))")
    one.focus()
    for piece, (o, c, _, score) in zip(pieces, moves, strict=True):
        widths = turns[piece]
        for _ in range(o):
            one.press("ArrowUp")
        at = (10 - widths[0]) // 2  # and a turn keeps the left edge, unless the wall pushes
        for k in range(o):
            at = min(at, 10 - widths[k + 1])
        for _ in range(abs(c - at)):
            one.press("ArrowRight" if c > at else "ArrowLeft")
        one.press("ArrowDown")
        assert reading(one, "you", 1) == str(score)
    assert reading(one, "agent1", 2) == reading(one, "you", 1) == str(moves[-1][-1])
    early, _ = played("clears", policies()[0][1], pieces)
    assert reading(one, "agent0", 2) == str(early[-1][-1])
    assert one.get_attribute("data-placed") == f"{len(early)},20"  # the others kept up


def test_a_reader_can_play_by_touch_and_lose(widget):
    one = widget("06c-tetris", reduced_motion="reduce", has_touch=True)
    one.get_by_role("combobox").select_option("overflow")
    one.get_by_role("button", name="Right", exact=True).tap()
    one.get_by_role("button", name="Turn").tap()
    assert 5 in numbers(one.get_by_role("status"))  # its column
    one.get_by_role("button", name="Drop").tap()
    press(one, "Drop", 23)  # one upon the other
    (placed,) = numbers(reading(one, "you"))
    assert placed < 24
    assert one.get_by_role("img").nth(2).locator("text").is_visible()  # "game over"
    assert numbers(one.get_by_role("status")) == [placed, 0]


def test_tetris_stands_side_by_side_and_plays_under_one_button(widget):
    one = widget("06c-tetris")
    boards = one.locator(".player").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().toJSON())"
    )
    assert boards[0]["bottom"] == boards[1]["bottom"]
    assert boards[0]["right"] <= boards[1]["left"]
    play, wide = one.get_by_role("button", name="Play"), "e => e.getBoundingClientRect().width"
    before = play.evaluate(wide)
    play.click()
    until(one, "e => e.dataset.placed.split(',').every(n => n > 2)")
    pause = one.get_by_role("button", name="Pause")
    assert pause.evaluate(wide) == before
    pause.click()


class AtTheTollByThePage(AtTheToll):
    """With the page's own draws, normals or weights, and uniforms, which take turns."""

    def __init__(self, H, seed):
        self.luck = Stream(seed)
        super().__init__(H, iter(self.luck.random, None))
        self.draw()

    def draw(self):
        backwards = [
            self.weights(phi) if self.name == "weights" else self.luck.standard_normal(1)[0]
            for phi in self.phi[::-1]
        ]
        self.drawn = backwards[::-1]
        self.plan(self.drawn)

    def weights(self, phi):
        kappa, gamma = self.bootstrap.learner.kappa, self.luck.standard_gamma
        data = [gamma(int((phi == size).sum())) for size in (16, 1)]
        return *data, max(1e-6, gamma(2 * kappa)), self.luck.beta(kappa, kappa)

    def become(self, name):
        redraw = "weights" in (name, self.name)
        self.name = name
        if redraw:
            self.draw()
        else:
            self.plan(self.drawn)

    def episode(self):
        super().episode()
        self.draw()


BARS = "e => e.querySelectorAll('.solid').length"


def test_the_toll_is_paid_as_python_would(widget):
    """From the first start at the side on, and with another agent on the same data."""
    one = widget("B-conjecture", reduced_motion="reduce")
    assert one.evaluate(BARS) == 11  # at once
    assert move(one, "H, periods", {"Home": 1}) == "7"
    here = AtTheTollByThePage(7, int(one.get_attribute("data-seed")))
    names = ["printed", "truncated", "weights"]
    leaps, episodes = ({name: 0 for name in names} for _ in range(2))

    def play():
        before = here.leaps
        here.episode()
        episodes[here.name] += 1
        leaps[here.name] += here.leaps - before

    while not here.phi[1].any():  # nothing was seen of the road
        play()
    step, switches = one.get_by_role("button", name="One episode"), one.get_by_role("radio")
    for after, more in (("truncated", 30), ("weights", 12), ("printed", 12), (None, 10)):
        step.press("Enter")
        press(one, "One episode", more - 1)
        for _ in range(more):
            play()
        for name in names:
            assert int(reading(one, name)) == episodes[name]
            assert int(reading(one, name, 1)) == leaps[name]
        if after:
            here.become(after)
            switches.nth(names.index(after)).press("Space")
        label = one.get_by_role("img", name="Sampled values").get_attribute("aria-label")
        _, V1, _, leap, _ = numbers(label)  # in period 1, and of a leap, each with the true value
        assert np.allclose([V1, leap], here.seems[[1, 0]], rtol=0.006)
        assert one.locator(".solid.fails").count() == (leap > 0)  # the bar of a leap to come is red
    assert leaps["printed"] > 10
    assert leaps["truncated"] + leaps["weights"] < 5
    assert int(one.get_attribute("data-leaps")) == sum(leaps.values())
    label = one.get_by_role("img", name="Regret").get_attribute("aria-label")
    over, total = numbers(label)
    assert total == sum(episodes.values())
    assert math.isclose(over, here.leaps / math.sqrt(7 * total), rel_tol=0.006)


# How many different texts are read out in 60 episodes.
READ_OUT = """async e => {
  const status = e.querySelector("[role=status]"), texts = new Set(), end = Number(e.dataset.episodes) + 60;
  for (; e.dataset.episodes < end; await new Promise(requestAnimationFrame)) texts.add(status.textContent);
  return texts.size;
}"""


def test_the_toll_plays_by_touch_and_a_cut_ends_it(widget):
    one = widget("B-conjecture", reduced_motion="reduce", has_touch=True)
    faults = []
    one.page.on("pageerror", lambda e: faults.append(e))
    slider = one.get_by_role("slider")
    slider.fill("1")  # as a finger does
    assert slider.get_attribute("aria-valuetext") == "9"
    one.get_by_role("button", name="Play").tap()
    until(one, "e => e.dataset.leaps > 50")
    assert one.evaluate(READ_OUT) <= 3  # not what changes with every episode
    one.get_by_role("radio", name="truncated").tap()
    episodes, leaps = (int(one.get_attribute(f"data-{what}")) for what in ("episodes", "leaps"))
    until(one, f"e => e.dataset.episodes > {episodes + 100}")
    one.get_by_role("button", name="Pause").tap()
    assert one.locator(".solid.fails").count() == 0  # nor will it leap
    assert int(one.get_attribute("data-leaps")) < leaps + 10
    one.get_by_role("button", name="New run").tap()
    assert int(one.get_attribute("data-leaps")) < 10
    assert one.locator(".earlier").count() == 2  # the run before, in its two parts
    assert not faults


def test_at_the_toll_a_plan_grows_backwards(widget):
    one = widget("B-conjecture")
    until(one, f"e => ({BARS})(e) === 11")
    seen = one.evaluate(f"""async e => {{
      const seen = new Set();
      [...e.querySelectorAll("button")].find(b => b.textContent === "One episode").click();
      for (let n; (n = ({BARS})(e)) < 11; await new Promise(requestAnimationFrame)) seen.add(n);
      return [...seen];
    }}""")
    assert seen[0] == 0
    assert seen == sorted(seen)
