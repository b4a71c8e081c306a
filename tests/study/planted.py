"""Planted falsehoods: what must change a verdict, for every claim that a computation decides.

- ``TABLES``: false tables, handed to every judge that reads stored ones; nothing is written down
  claim by claim.
- ``ALGEBRA``: sides that are not equal, coefficients of the other sign, functions that balls find
  lower or higher, for every symbolic or certified claim that rests on such.
- ``FUNCTIONS``: a function behind some claims that returns something else, or an expression with a
  wrong step, or a constant that a judge reads. One for each claim is enough.
"""

from types import SimpleNamespace as Fake

import numpy as np
from flint import arb
from sympy import Rational

from rlsvi_core import Options, rlsvi
from rlsvi_core.envs.dirichlet import DirichletPrior
from rlsvi_core.envs.recommender import Recommender
from rlsvi_study.catalogue import EXPERIMENTS
from rlsvi_study.chain import claims as chain
from rlsvi_study.chain import dithering
from rlsvi_study.conjecture import claims as conjecture
from rlsvi_study.engine import StoredTables
from rlsvi_study.extensions import claims as extensions
from rlsvi_study.judging import algebra, evidence
from rlsvi_study.lemmas import printed_lines, single_crossing
from rlsvi_study.recommender import claims as recommender
from rlsvi_study.regret import (
    bias,
    lemma2,
    lower_bounds,
    sampled_optimism,
    shrunk_model,
    upper_bound,
)
from rlsvi_study.regret import claims as regret

# --------------------------------------------------------------------- tables

STORED = StoredTables(EXPERIMENTS)


class Changed(dict):
    """The stored tables, changed: each is read once, when it is first asked for."""

    def __init__(self, change):
        self.change = change  # of a name and its table

    def __missing__(self, name):
        self[name] = self.change(name, STORED[name])
        return self[name]


TIMES = {"seed", "episode", "game", "policy"}


def _axes(name, table):
    """The columns that say which run and time a row is of; what is left was measured."""
    settings = {name for cell in EXPERIMENTS[name].scales["paper"].grid for name in cell}
    return [column for column in table if column in settings | TIMES]


def _number(column):
    return column.dtype.kind in "if"


def _turned_round(table, columns):
    for name in columns:
        values = sorted(table[name].dropna().unique())
        table[name] = table[name].map(dict(zip(values, values[::-1], strict=True)))
    return table


def exchanged(table, axes):
    """Agents, arms, rules, readings: each label stands for another."""
    return _turned_round(table, [name for name in axes if not _number(table[name])])


def rotated(table, axes):
    """The same: each stands for the next."""
    for name in (name for name in axes if not _number(table[name])):
        values = sorted(table[name].dropna().unique())
        table[name] = table[name].map(dict(zip(values, values[1:] + values[:1], strict=True)))
    return table


def backwards(table, axes):
    """Sizes, parameters and time: the first is the last."""
    return _turned_round(table, [name for name in axes if _number(table[name]) and name != "seed"])


def level(table, axes):
    """No run differs from another."""
    for name in table.columns.difference(axes):
        table[name] = table[name].median() if _number(table[name]) else table[name]
    return table


def shuffled(table, axes):
    """What was measured belongs to any run."""
    order = np.random.default_rng(0).permutation(len(table))
    for name in table.columns.difference(axes):
        table[name] = table[name].to_numpy()[order]
    return table


def multiplied(by):
    """So many times as much, or the opposite; and yes for no."""

    def lie(table, axes):
        for name in table.columns.difference(axes):
            kind = table[name].dtype.kind
            if kind == "b":
                table[name] = ~table[name]
            elif kind in "if":
                table[name] = table[name] * by(table)
        return table

    return lie


def decided(table, axes):
    """The labels decide, the later the more, and it matters the less which run it is."""
    rank = sum(table[name].rank(method="dense") - 1 for name in axes if not _number(table[name]))
    for name in table.columns.difference(axes):
        if _number(table[name]):
            mean = table[name].mean()
            table[name] = mean * 2.0**rank + (table[name] - mean) * 1e-3**rank
    return table


def steady(table, axes):
    """RLSVI does the same in every run and at all times."""
    for name in table.columns.difference(axes) if "agent" in table else ():
        if _number(table[name]):
            table[name] = table[name].mask(table.agent == "rlsvi", table[name].mean())
    return table


def towering(table, axes):
    """RLSVI has a hundred thousand times as much."""
    for name in table.columns.difference(axes) if "agent" in table else ():
        if _number(table[name]):
            more = table[name].astype(float) * 1e5
            table[name] = more.where(table.agent == "rlsvi", table[name])
    return table


def noisy(table, axes):
    """Any run may have had a hundredth or a hundred times as much."""
    rng = np.random.default_rng(0)
    for name in table.columns.difference(axes):
        if _number(table[name]):
            table[name] = table[name] * 100 ** rng.uniform(-1, 1, len(table))
    return table


def _false(lie):
    return Changed(lambda name, table: lie(table, _axes(name, table)))


TABLES = {  # what changes most verdicts comes first, what is dear to judge last
    "all alike": _false(level),
    "shuffled": _false(shuffled),
    "axes backwards": _false(backwards),
    "labels exchanged": _false(exchanged),
    "labels rotated": _false(rotated),
    "ever faster": _false(multiplied(lambda table: table.get("episode", table.get("game", 1)))),
    "the opposite": _false(multiplied(lambda table: -1)),
    "labels decide": _false(decided),
    "RLSVI steady": _false(steady),
    "RLSVI towering": _false(towering),
    "hardly measured": _false(noisy),
}

# --------------------------------------------------------------------- algebra


def _shifted(by):
    return lambda decide: lambda f, *box, **where: decide(lambda *x: f(*x) + by, *box, **where)


ALGEBRA = {  # what is told instead of evidence.py's and balls.py's answers
    "sides differ": {
        "expressions_equal": lambda same: lambda left, right: same(left + Rational(1, 7), right),
        "has_positive_coefficients": lambda right: lambda term, *of: right(-term, *of),
        "decide": _shifted(-10),
        "to_digits": lambda right: lambda f, digits=15: arb(0),
    },
    "sides agree": {
        "expressions_equal": lambda same: lambda left, right: True,
        "decide": _shifted(10),
    },
}


def plant_algebra(lies, monkeypatch):
    for module in (algebra, evidence, lemma2, printed_lines, single_crossing):
        for name in lies.keys() & vars(module).keys():
            monkeypatch.setattr(module, name, lies[name](getattr(module, name)))


# --------------------------------------------------------------------- functions


def _nothing(*_, **__):
    return 0.0


FUNCTIONS = [  # where it is looked up, its name, what it becomes, whose verdict must change
    (dithering, "arrival_probability", lambda _: lambda N: 1.0, "3.regret"),
    (chain, "arrival_probability", lambda _: lambda N: 1 / N, "6.1.dithering"),
    (
        dithering,
        "lsvi",
        lambda _: (
            lambda Phi, lam=1.0, *, rng, **_: rlsvi(
                Phi, lam, rng=rng, options=Options(first="prior")
            )
        ),
        "3.regret 3.any-basis",
    ),
    (dithering, "run_reinforce", lambda _: lambda *given: (1.0, 0.0), "3.policy-gradient"),
    (
        chain,
        "GaussianPosterior",
        lambda right: lambda K, lam, *sigma: right(K, 2 * lam, *sigma),
        "4.approximate-posterior",
    ),
    (
        chain,
        "rlsvi",
        lambda right: lambda Phi, lam, *given, **rng: right(Phi, max(lam, 1.0), *given, **rng),
        "C.rescaling",
    ),
    (chain, "bandit_regret", lambda _: lambda sigma: np.full(400, 0.01), "C.small-sigma"),
    (
        regret,
        "rlsvi",
        lambda right: lambda Phi, lam, sigma, **rest: right(Phi, lam, 2 * sigma, **rest),
        "5.closed-form",
    ),
    (DirichletPrior, "posterior", lambda right: lambda prior, counts: prior, "5.posterior-means"),
    (
        sampled_optimism,
        "check_optimism",
        lambda _: lambda *given, **how: {"Q": Fake(refuted=True, shortfall=1.0)},
        "5.lemma2",
    ),
    (
        bias,
        "largest_terms",
        lambda right: lambda prior, n, *given: bias.printed_sizes(prior, n),
        "5.bias-size",
    ),
    (
        regret,
        "BASE",
        lambda prior: DirichletPrior.symmetric(*prior.shape, 2.0, 1.0),
        "5.violations",
    ),
    (
        sampled_optimism,
        "one_period_gap",
        lambda right: (
            lambda alpha, low, high, lam, sigma, z: right(alpha, low, high, lam, 0.1 * sigma, z)
        ),
        "5.sigma",
    ),
    (upper_bound, "check_rate", lambda _: lambda: False, "5.theorem1"),
    (sampled_optimism, "sample_Q", lambda right: lambda *given: -abs(right(*given)), "5.bias-sign"),
    (
        shrunk_model,
        "dirichlet_moment",
        lambda right: lambda *given: right(*given) / 2,
        "5.mean-mdp",
    ),
    (
        lower_bounds,
        "part_b_bound",
        lambda right: lambda H, *rest: right(H, *rest)._replace(regret=H**3.0),
        "5.last-line",
    ),
    (regret, "SEEN", lambda _: (0, 1), "5.empirical-mean"),
    (lemma2, "is_optimistic", lambda _: lambda X, Y: False, "5.marginals-control-the-maximum"),
    (
        printed_lines,
        "certify_crossings",
        lambda right: lambda *pair: right(*pair)._replace(cdf=right(*pair).cdf[:1]),
        "G.single-crossing G.two-crossings-suffice",
    ),
    (
        printed_lines,
        "certify_crossings",
        lambda right: lambda *pair: right(*pair)._replace(density=right(*pair).density[:1]),
        "G.densities-cross-twice",
    ),
    (
        printed_lines.NormalBetaPair,
        "turning_points",
        lambda _: lambda pair: [],
        "G.special-no-root",
    ),
    (
        conjecture,
        "meets_hypotheses",
        lambda _: lambda *world: False,
        "B.conjecture-printed B.conjecture-meant",
    ),
    (
        recommender,
        "random_customers",
        lambda right: lambda seed: Recommender(right(seed).gamma, 5, beta=np.linspace(-1, 1, 10)),
        "6.3.bernoulli",
    ),
    (
        extensions,
        "PrintedIncrementalLearner",
        lambda right: lambda Phi, nu: right(np.concatenate([Phi, Phi], axis=-1), nu=nu),
        "F.cost",
    ),
    (extensions, "printed_rho", lambda _: lambda gamma: gamma, "F.marginal"),
    (extensions, "DISCOUNTS", lambda _: (0.1, 0.2, 0.3), "F.autocorrelation"),
    (
        regret.regret,
        "BOUND_EXPONENTS",
        lambda powers: powers | {"S": 1.0},
        "5.optimistic-algorithms",
    ),
    (
        regret.regret,
        "BOUND_EXPONENTS",
        lambda powers: powers | {"H": 2.5},
        "5.optimistic-algorithms",
    ),
    (chain, "arrival_probability", lambda _: lambda N: 8e-16, "6.1.dithering"),  # the median's
]


def plant_function(owner, name, lie, monkeypatch):
    """The name stands for something else as long as the test lasts."""
    monkeypatch.setattr(owner, name, lie(getattr(owner, name)))
