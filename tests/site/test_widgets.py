"""The things to play with: their arithmetic against Python's, and each on its page in a browser.

The scripts are loaded by themselves for the first part, so it needs no book. In the second part each
is visited once: a control is moved, and what must then stand there is computed by Python, or by the
functions that the first part has compared.
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
from rlsvi_core.envs.recommender import Recommender
from rlsvi_core.envs.tetris import RULES, Tetris, fill_placements, place_and_clear
from rlsvi_core.learners.base import RegressionProblem, Weights
from rlsvi_core.learners.bayesian_bootstrap import BootstrapWeights, spanning_inverse
from rlsvi_core.optimism import Beta, Normal, certify_crossings
from rlsvi_study.conjecture.toll import proof_episodes
from rlsvi_study.counterexamples import toll
from rlsvi_study.judging import verdicts
from rlsvi_study.lemmas.printed_lines import count_crossings
from rlsvi_study.regret.sampled_optimism import one_period_gap
from tests.core.reference import Reference

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


class Dealt(Reference):
    """The reference, with the sample or the mean in the targets."""

    targets = "sample"

    def weights_in_targets(self, theta, mean):
        return mean if self.targets == "mean" else theta


def printed(Phi, rng, lam=1.0, sigma=0.1, *, targets="sample", first="uniform", **acting):
    learner = Dealt(
        RegressionProblem(features.FeatureTable(Phi), lam, sigma, options=Options(first=first))
    )
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
        {"sample": True, "lam": 0.3, "sigma": 0.7},
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
    assert math.isclose(there["wait"], 2 ** (N - 1) / mdp.optimal_value, rel_tol=1e-12)


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
        Laws.beta(a, b).sd, Laws.normal(a, b).cdf(x)])""",
            np.column_stack([a, b, x]).tolist(),
        )
    ).T
    here = (
        special.gammaln(a),
        special.erfc(9 * x - 2),
        special.betainc(a, b, x),
        stats.beta.pdf(x, a, b),
        stats.beta.std(a, b),
        stats.norm.cdf(x, a, np.sqrt(b)),
    )
    for ours, scipys in zip(there, here, strict=True):
        assert np.allclose(ours, scipys, rtol=1e-10, atol=1e-12)


def times_crossed(alpha, beta):
    """How often the densities, and the distribution functions, cross."""
    found = count_crossings(alpha, beta)
    return found["densities"], found["functions"]


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
        wanted = times_crossed(*case)
        assert (len(densities), count) == wanted, case
        assert len(functions) == count
        seen.add(wanted)
    assert {(0, 1), (1, 1), (2, 1), (3, 1), (2, 3)} <= seen
    for case, (densities, functions, _) in list(zip(cases, there, strict=True))[::12]:
        certified = certify_crossings(Normal.matching_beta(*case), Beta(*case))
        for ours, theirs in ((densities, certified.density), (functions, certified.cdf)):
            assert np.allclose(ours, [float(c.logit) for c in theirs], rtol=1e-6, atol=1e-6)


def played(rule, weights, pieces):
    """Tetris by the library: orientation, column, row and score of each placement, and the end."""
    game, score, moves = Tetris(rule=rule), 0, []
    (X, over, where), rows = game.placement_buffers(), np.zeros_like(game.rows)
    for piece in pieces:
        n = fill_placements(game.model, rows, piece, X, over, where)
        if n == 0:
            return moves, True
        a = (np.array(weights) @ X[:, :n].astype(np.int64)).argmax()
        o, c, y = map(int, where[a])
        score += place_and_clear(game.model, rows, o, c, y)
        moves.append([o - int(game.model.first[piece]), c, y, score])
        if over[a]:
            return moves, True
    return moves, False


def policies():
    """Those that the chapter has learned, as its page has them."""
    chapter = json.loads((ROOT / "book/06c-tetris.ipynb").read_text("utf8"))
    shown = [out for one in chapter["cells"] for out in one.get("outputs", ()) if "data" in out]
    page = "".join(line for out in shown for line in out["data"].get("text/html", ()))
    return json.loads(html.unescape(re.search('data-policies="([^"]*)"', page)[1]))


@pytest.mark.parametrize("rule", RULES)
def test_every_placement_and_feature_is_pythons(scripts, rule):
    """On boards as no good player leaves them: random placements, to the end."""
    game, rng = Tetris(rule=rule), np.random.default_rng(1)
    X, over, where = game.placement_buffers()
    boards, wanted = [], []
    for _ in range(3):
        rows = np.zeros_like(game.rows)
        while n := fill_placements(game.model, rows, piece := int(rng.integers(7)), X, over, where):
            boards.append([piece, rows.tolist()])
            first = int(game.model.first[piece])
            wanted.append(
                [
                    [int(o) - first, int(c), int(y), bool(over[a]), X[:, a].tolist()]
                    for a, (o, c, y) in enumerate(where[:n])
                ]
            )
            a = rng.integers(n)
            place_and_clear(game.model, rows, *where[a])
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


class Weighted(Reference):
    """The bootstrap with a single feature, which is handed its weights by ``draw_weights``."""

    def __init__(self, problem):
        super().__init__(problem)
        self.inverse = [spanning_inverse(rows.reshape(-1, 1)) for rows in problem.features.Phi]

    def draw_noise(self, rng):
        return self.draw_weights()

    def solve(self, h, after, draw):
        A, b = self.regression_problem(h, after)
        c = (A @ self.inverse[h])[:, 0]
        _, low, high = self.problem.targets
        imagined = draw.visits * (low + (high - low) * draw.share)
        v = (draw.data @ (c * b) + imagined) / (draw.data @ c**2 + draw.visits)
        return self.inverse[h] @ v, self.inverse[h] @ v


class AtTheToll:
    """The library's agents at the toll, as printed, all with the same data: RLSVI, whose first episode
    is drawn from the prior, and whose V_h can be cut to ±(H − h); and the bootstrap. A draw is a
    normal for each period, or the weights of large and small features, of imagined visits, and the
    share of these that brought the largest value."""

    def __init__(self, H, uniforms):
        self.mdp, Phi = toll(H, proof_episodes(H))
        self.rlsvi = printed(Phi, 0, sigma=1.0, first="prior")
        options = Options(first="prior")  # there are imagined visits before any data
        problem = RegressionProblem(
            features.FeatureTable(Phi), 1.0, 1.0, low=-H, high=H, options=options
        )
        self.bootstrap = Agent(Weighted(problem), rng=0)
        self.H, self.uniforms, self.leaps, self.name = H, uniforms, 0, "printed"

    @property
    def agent(self):
        return self.bootstrap if self.name == "weights" else self.rlsvi

    @property
    def phi(self):
        """Features seen, by period."""
        return [np.array([t.row[0] for t in data]) for data in self.rlsvi.learner.kept]

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
            _, after = learner.solve(h, after, agent.rng.standard_normal(1))
            theta[h] = after
        learner.problem, agent.fitted = as_printed, Weights(theta)

    def episode(self):
        s = SIDE if next(self.uniforms) < 1 / proof_episodes(self.H) else GATE
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
    return BootstrapWeights(data, np.array([visits]), np.array([share]))


@pytest.mark.parametrize("name", ["printed", "truncated", "weights"])
@pytest.mark.parametrize("H", [7, 11])
def test_at_the_toll_the_same_draws_give_the_same_weights(scripts, H, name):
    episodes, rng = 60, np.random.default_rng(H)
    uniforms = rng.uniform(0, 15 / proof_episodes(H), episodes)  # so one in 15 starts at the side
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


# ------------------------------------------------------------ on their pages


@pytest.fixture
def widget(at):
    """widget(chapter): what stands first on its page to be played with, on a phone, where nothing moves
    by itself."""

    def ready(chapter, what="[data-widget][data-ready]"):
        one = at(f"book/{chapter}", viewport=PHONE, reduced_motion="reduce").locator(what).first
        one.wait_for()
        return one

    return ready


def press(one, button, times=1):
    """Press a button so many times at once."""
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


def uniforms(page, seed, n):
    """The first random numbers of a seed."""
    return page.evaluate(
        """([seed, n]) => {
          const luck = RLSVI.generator(seed);
          return Array.from({ length: n }, luck.uniform);
        }""",
        [seed, n],
    )


RUN = """([N, episodes, seed, options]) => {
  const chain = RLSVI.chain(N), Phi = RLSVI.coherent(chain, 10, RLSVI.generator(10));
  const chance = RLSVI.generator(11), agent = new RLSVI.Agent(Phi, options, RLSVI.generator(seed));
  return Array.from({ length: episodes }, () => RLSVI.episode(chain, agent, chance.uniform).reward);
}"""


def test_the_race_shows_the_runs_of_its_length(widget):
    one = widget("03-dithering")
    assert move(one, "states of the chain", {"Home": 1, "ArrowRight": 4}) == "8"
    press(one, "Play")
    one.page.wait_for_function("e => e.dataset.episodes > 60", arg=one.element_handle())
    press(one, "Pause")
    episodes = int(one.get_attribute("data-episodes"))
    shown = [numbers(text) for text in one.locator("svg text").all_text_contents() if ":" in text]
    for told, seed, options in (
        (shown[0], 12, {"lam": 1.0, "sigma": 0.1, "sample": True}),
        (shown[1], 13, {"lam": 1.0, "sigma": 1.0, "sample": False, "epsilon": 0.1}),
    ):
        rewards = one.page.evaluate(RUN, [8, episodes, seed, options])
        assert told == ([1 + rewards.index(1), sum(rewards)] if any(rewards) else [])


def test_the_race_of_the_start_page_says_how_long_coins_take_and_plays(widget):
    """To the last digit, and in years at its speed."""
    one = widget("index", "[data-widget=race][data-ready]")
    assert one.get_attribute("data-episodes") == "0"
    wait = 2**49 / chain(50).optimal_value
    done, mean, years, speed = numbers(one.locator(".wait"))
    assert (done, speed) == (0, 50)
    assert math.isclose(mean, wait, rel_tol=1e-13)
    assert math.isclose(years * 31557600 * speed, wait, rel_tol=0.05)
    one.get_by_role("button", name="Play").press("Enter")
    one.page.wait_for_function("e => e.dataset.episodes > 20", arg=one.element_handle())
    press(one, "Pause")
    held = one.get_attribute("data-episodes")
    one.page.wait_for_timeout(200)
    assert one.get_attribute("data-episodes") == held


SET = """(slider, wanted) => {
  for (slider.value = 0; ; slider.stepUp()) {
    slider.dispatchEvent(new Event("input"));
    if (slider.getAttribute("aria-valuetext") === wanted) return true;
    if (slider.value === slider.max) return false;
  }
}"""


@pytest.mark.parametrize(
    ("sigma", "promised", "optimistic"),
    [
        ("0.6", True, True),
        ("0.1", False, False),
        ("0.48", False, True),  # σ is above ¼, and σ² is not
        ("1.4", True, True),
    ],
)
def test_the_gap_of_an_arm_is_pythons(widget, sigma, promised, optimistic):
    one, sigma = widget("05-tabular"), float(sigma)
    low, high, rho = 3, 1, 1.0
    assert one.get_by_role("slider").evaluate(SET, str(sigma)), f"σ has no place {sigma}"
    gap = one_period_gap((0.5, 0.5), low, high, rho / sigma**2, sigma, np.linspace(-1, 0, 201))
    least = gap.min()
    assert math.isclose(plain(reading(one, "gap")), least, rel_tol=0.01, abs_tol=1e-12)
    assert math.isclose(plain(reading(one, "drawn")), -low / (low + high + rho), rel_tol=0.01)
    assert (least >= 0) == optimistic
    word = one.locator(".verdict").get_attribute("data-verdict")
    assert word == ("holds" if optimistic else "fails")
    assert ("nothing" in one.locator(".told").inner_text()) != promised


def test_crossings_are_counted_on_the_page(widget):
    one = widget("G-gauss-dirichlet")
    told = one.get_by_role("status")

    def counted():
        shape = plain(one.get_by_role("slider").get_attribute("aria-valuetext"))
        zeros = count_crossings(shape, shape)["cdf"]
        assert numbers(told.inner_text().split(" x = ")[1].split(". ")[0]) == [
            pytest.approx(x, rel=0.01) for x in zeros
        ]
        assert one.locator(".dot").count() == len(zeros)
        return len(zeros)

    assert counted() == 3
    assert told.locator(".verdict").get_attribute("data-verdict") == "fails"
    move(one, "α = β", {"PageUp": 3})
    assert counted() == 1
    assert told.locator(".verdict").get_attribute("data-verdict") == "holds"


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
        ("myopic", customers.evaluate(customers.myopic_policy())[0]),
        ("learned", customers.evaluate(learned)[0]),
        ("optimal", customers.optimal_value),
    ):
        assert math.isclose(plain(reading(one, key)), value, abs_tol=0.0051)
    one.get_by_role("checkbox").check()
    cards = one.locator(".product")
    s, lost, total = 0, 0.0, 0
    for u in uniforms(one.page, 1, customers.J):
        shown = [card.inner_text().split("\n") for card in cards.all()]
        for a in np.flatnonzero(x[s] == 0):
            assert abs(float(shown[a][1]) - customers.like_probabilities[s, a]) <= 0.00501
            assert ("optimal" in shown[a][-1]) == (a == customers.Q[s].argmax())
            assert ("learned" in shown[a][-1]) == (a == learned[s])
        a = int(np.flatnonzero(x[s] == 0)[1])
        cards.nth(a).press("Enter")
        lost += customers.V[s] - customers.Q[s, a]
        liked = u < customers.like_probabilities[s, a]
        total += liked
        s = following[s, a, int(liked)]
        assert math.isclose(float(one.get_attribute("data-lost")), lost, abs_tol=1e-6)
    assert numbers(one.get_by_role("status"))[:2] == [total, 5]
    assert plain(reading(one, "you", 1)) == total


def test_claims_are_found_by_a_word_and_a_choice_which_the_address_keeps(widget):
    page = widget("verdicts", "#claims").page
    rows = page.locator("#claims tbody tr:visible")
    claims = {id: one for id, one in verdicts.load_verdicts().items() if not one.part_of}

    def shown():
        return {row.get_attribute("id") for row in rows.all()}

    page.get_by_role("searchbox", name="Word").fill("tetris")  # of a section's name, too
    of_tetris = {id for id, one in claims.items() if one.section in ("Section 6.2", "Appendix D")}
    assert of_tetris <= shown() < claims.keys()
    page.get_by_role("searchbox", name="Word").fill("")
    page.get_by_role("combobox", name="Verdict").select_option("holds")
    page.get_by_role("combobox", name="Weight").select_option("main")
    wanted = {id for id, one in claims.items() if one.main and one.verdict == "holds"}
    assert shown() == wanted
    page.reload()
    page.wait_for_selector(".bd-article.fitted")
    assert shown() == wanted
    sent = next(id for id, one in claims.items() if id not in wanted)
    page.evaluate("id => { location.hash = id; }", sent)  # who is sent to a claim sees it
    page.locator(f'[id="{sent}"]').wait_for()


def test_two_policies_and_a_reader_play_as_python_would(widget):
    one = widget("06c-tetris")
    ends = set()
    for seed, rule in ((2, "clears"), (3, "overflow top")):
        one.get_by_role("combobox").select_option(rule)
        press(one, "Other pieces")
        press(one, "One piece", 180)
        pieces = [int(7 * u) for u in uniforms(one.page, seed, 180)]
        for i, (name, weights) in enumerate(policies()):
            moves, over = played(rule, weights, pieces)
            assert numbers(reading(one, f"agent{i}")) == [len(moves)]
            assert reading(one, f"agent{i}", 1) == str(moves[-1][-1])
            board = one.get_by_role("img").nth(i)
            assert board.get_attribute("aria-label").startswith(f"{name}: {len(moves)} ")
            assert board.locator("text").is_visible() == over  # "game over"
            ends.add((i, over))
    assert ends == {(0, True), (1, False)}
    press(one, "Again")
    one.focus()
    for placed in (1, 2, 3):
        one.press("ArrowLeft")
        one.press("ArrowDown")
        assert numbers(reading(one, "you")) == [placed]
        assert one.get_attribute("data-placed") == f"{placed},{placed}"  # the others keep up


AT_THE_TOLL = """([seed, agent]) => {
  const run = new Toll.Run(11, RLSVI.generator(seed)), seems = () => [run.V[1], run.leap];
  while (!run.atSide) run.episode();
  run.episode();
  run.become(agent);
  const { episodes, leaps } = run, grown = seems();
  do run.episode(); while (!run.atSide && run.episodes < episodes + 500);
  return [grown, seems(), run.episodes - episodes, run.leaps - leaps];
}"""


def test_the_toll_holds_what_each_agent_believes_until_the_reader_goes_on(widget):
    """After the first start at the side, and after 500 episodes more; all with the same data before."""
    one = widget("B-conjecture")
    seed, leapt = int(one.get_attribute("data-seed")), {}

    def seems():
        label = one.get_by_role("img", name="Sampled values").get_attribute("aria-label")
        return np.array(numbers(label))[[1, 3]]

    assert seems()[1] < 0  # before that start
    press(one, "Start at the side")
    for i, name in enumerate(("printed", "truncated", "weights")):
        one.get_by_role("radio").nth(i).check()
        grown, after, episodes, leaps = one.page.evaluate(AT_THE_TOLL, [seed, name])
        assert np.allclose(seems(), grown, rtol=0.006)
        assert one.locator(".solid.fails").count() == (grown[1] > 0)  # a leap to come is red
        press(one, "500 more episodes")
        assert np.allclose(seems(), after, rtol=0.006)
        assert numbers(one.locator(".told"))[:2] == [episodes, leaps]
        leapt[name] = leaps
    assert leapt["printed"] > 300
    assert max(leapt["truncated"], leapt["weights"]) < 5
    press(one, "Another run")
    one.get_by_role("button", name="Start at the side").wait_for()
