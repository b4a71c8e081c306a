"""Arguments that nobody should pass are answered by a result or by a plain error.

``GOOD`` has calls that work. One or two arguments of a call are replaced by something else: another
type, NaN, a number out of range, an array of another shape. Then the call either returns, with no
NaN or infinity that the good call does not return too, or it is refused, by us or by Python.
Everything else is a bug: a crash, an error of the compiler's, or machine code compiled anew because
arguments reached it unchecked. A public name without an entry is not tried: add one where an
argument can reach compiled code.

``pytest --hypothesis-profile=long tests/core/test_bad_input.py`` tries many more, other ones every time.
With ``NUMBA_BOUNDSCHECK=1``, and with ``XDG_CACHE_HOME`` set to a folder of its own, it also shows
that compiled code reads no array beyond its end.
"""

import enum
import importlib
import math
import pkgutil
import traceback
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numba.core.registry import CPUDispatcher
from rlsvi_core.agents import Reading, VerbatimAgent, continual, incremental, rivals

import rlsvi_core
from rlsvi_core import (
    FiniteMDP,
    GaussianPosterior,
    bootstrap,
    checks,
    features,
    lsvi,
    mdp,
    regression,
    rlsvi,
)
from rlsvi_core.beyond import boxes
from rlsvi_core.envs import chains, dirichlet, gym, recommender, tetris
from rlsvi_core.mdp import DiscountedMDP
from rlsvi_core.optimism import order
from rlsvi_study import StudyError, engine, intervals

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(rlsvi_core.__path__, "rlsvi_core.")
]
COMPILED = {
    f"{thing.__module__}.{thing.__name__}": thing
    for module in MODULES
    for thing in vars(module).values()
    if isinstance(thing, CPUDispatcher)
}

# ------------------------------------------------------------------ good calls

P = np.full((2, 3, 2, 3), 1 / 3)
START, ONES, EYE = np.eye(3)[0], np.ones(3), np.eye(3)
MDP = chains.chain(3)  # H = 2, S = 3, A = 2
LOCK = chains.lock(3, 0.5)
PHI = np.arange(36.0).reshape(2, 3, 2, 3) / 36
HOT = features.OneHot(2, 3, 2)
PRIOR = dirichlet.DirichletPrior.symmetric(2, 3, 2)
CUSTOMERS = recommender.Recommender.random(rng=1, N=3, J=2)
RNG = np.random.default_rng(1)
BOX = ([0.0, -1.0], [1.0, 1.0])
SCALE = engine.Scale({"lam": 1.0, "episodes": 2}, ({"N": 2}, {"N": 3}), range(2))


def rows(s):
    """Features of whatever was observed."""
    return np.kron(np.eye(2), [1.0, s if isinstance(s, float) else 0.5])


def game():
    game = tetris.Tetris(4, 5, "SZ")
    game.start(rng=1)
    return game


def begun(env):
    env.reset(seed=1)
    return env


GOOD = {}


def good(name, call, /, **arguments):
    GOOD[name] = call, arguments


def good_agent(name, make, env, s, s_next, **arguments):
    """An agent that learns, and its methods; a plan follows from whatever they took in."""

    def then_plan(method):
        def call(**given):
            agent = make(**arguments)
            result = getattr(agent, method)(**given)
            agent.plan()
            return result, agent

        return call

    good(name, lambda **given: make(**given).learn(env, 2, rng=1), **arguments)
    good(f"{name}.act", then_plan("act"), h=0, s=s)
    good(f"{name}.greedy", then_plan("greedy"), h=0, s=s)
    good(f"{name}.observe", then_plan("observe"), h=0, s=s, a=1, r=1.0, s_next=s_next)
    good(f"{name}.learn", then_plan("learn"), env=env, episodes=2, rng=1)
    good(f"{name}.evaluate", then_plan("evaluate"), env=env, episodes=2, rng=1)


def good_map(name, make, s, **arguments):
    """A feature map, and its rows."""
    good(name, lambda **given: make(**given)(0, s), **arguments)
    for method in ("__call__", "compact", "following", "legal"):
        good(f"{name}.{method}", getattr(make(**arguments), method), h=0, s=s)


def good_env(name, make, **arguments):
    """An environment of Gymnasium."""
    good(name, lambda **given: begun(make(**given)).step(0), **arguments)
    good(f"{name}.reset", lambda **given: make(**arguments).reset(**given), seed=1, options=None)
    good(f"{name}.step", lambda **given: begun(make(**arguments)).step(**given), action=0)


# MDPs and the regression
good("FiniteMDP", FiniteMDP, P=P, R=P, terminal=ONES, initial=START, support=(0, 1), H=2)
good("stationary", FiniteMDP.stationary, P=P[0], R=P[0], H=2, terminal=ONES, initial=START)
good("DiscountedMDP", DiscountedMDP, P=P[0], R=P[0], gamma=0.5, initial=START, support=(0, 1))
good("evaluate, discounted", LOCK.evaluate, policy=np.zeros(3, int))
for name in ("evaluate", "regret", "occupancy"):
    good(name, getattr(MDP, name), policy=np.zeros((2, 3), int))
good("simulate", MDP.simulate, policy=np.zeros((2, 3), int), episodes=2, rng=1)
good("start", MDP.start, rng=RNG)
good("step", MDP.step, h=0, s=1, a=1, rng=RNG)
good("step, discounted", LOCK.step, h=0, s=1, a=1, rng=RNG)
good("rescale", regression.rescale, lam=1.0, sigma=1.0, features=2.0, targets=2.0)
good("suggest_parameters", regression.suggest_parameters, value_range=(0.0, 1.0), feature_norm=1.0)
good("GaussianPosterior", GaussianPosterior, K=3, lam=1.0, sigma=1.0)
good("add_rows", lambda **given: GaussianPosterior(3).add_rows(**given), A=EYE, b=ONES)
good("add_row", lambda **given: GaussianPosterior(3).add_row(**given), phi=ONES, y=1.0)
good("draw", GaussianPosterior(3).draw, z=ONES, g=1.0)
good("sample", GaussianPosterior(3).sample, rng=1, unknown_variance=True)
# environments
good("chain", chains.chain, N=4)
good("lock", chains.lock, n=3, gamma=0.9)
good("deep_sea", chains.deep_sea, N=3, rng=1)
good("river_swim", chains.river_swim, N=3, H=4)
good(
    "DirichletPrior",
    lambda **given: dirichlet.DirichletPrior(**given).sample_Q(2, 1),
    alpha_R=np.ones((2, 3, 2, 2)),
    alpha_P=P,
    initial=START,
    support=(-1.0, 0.0),
    alpha_T=np.ones((3, 2)),
)
good(
    "symmetric",
    lambda **given: dirichlet.DirichletPrior.symmetric(**given).sample_Q(2, 1),
    H=2,
    S=3,
    A=2,
    alpha_R=1.0,
    alpha_P=1.0,
    initial=START,
    support=(-1.0, 0.0),
)
good(
    "posterior",
    lambda **given: PRIOR.posterior(dirichlet.Counts(**given)),
    **dirichlet.no_counts(2, 3, 2)._asdict(),
)
good("prior.sample", PRIOR.sample, rng=1)
good("prior.sample_Q", PRIOR.sample_Q, n=2, rng=1)
good("Recommender", recommender.Recommender, gamma=EYE, J=2, beta=START)
good("Recommender.random", recommender.Recommender.random, c=1.0, rng=1, N=3, J=2)
good("Recommender.step", CUSTOMERS.step, h=0, s=np.zeros(3, np.int8), a=1, rng=RNG)
good("Recommender.evaluate", CUSTOMERS.evaluate, policy=CUSTOMERS.uniform())
good("Recommender.myopic", CUSTOMERS.myopic, ties="best")
good(
    "Tetris",
    lambda **given: (game := tetris.Tetris(**given), game.start(1), game.drop(0)),
    width=4,
    height=5,
    pieces="SZ",
    rule="fits",
)
good("Tetris.step", lambda **given: game().step(**given), h=0, s=game().start(rng=1), a=0, rng=RNG)
good("Tetris.drop", lambda **given: game().drop(**given), a=0)
good_env("MDPEnv", gym.MDPEnv, mdp=MDP, clock=True)
good_env("RecommenderEnv", gym.RecommenderEnv, customers=CUSTOMERS)
good_env("TetrisEnv", gym.TetrisEnv, width=4, height=5, pieces="SZ", rule="fits")
good(
    "play",
    gym.play,
    agent=rlsvi(HOT, rng=1),
    env=gym.MDPEnv(MDP),
    episodes=2,
    seed=1,
    learn=True,
    progress=False,
)
# features
good_map("tiles", boxes.tiles, [0.5, 0.5], box=BOX, A=2, tilings=2, bins=2)
good_map(
    "random_fourier",
    boxes.random_fourier,
    [0.5, 0.5],
    box=BOX,
    A=2,
    d=4,
    length_scale=0.5,
    rng=1,
)
good_map("fourier_basis", boxes.fourier_basis, [0.5, 0.5], box=BOX, A=2, order=2)
good_map("polynomial", boxes.polynomial, [0.5, 0.5], box=BOX, A=2, degree=2)
good_map("OneHot", features.OneHot, 1, H=2, S=3, A=2)
good_map("Table", features.Table, 1, Phi=PHI, H=2)
good("FeatureMap.of", features.FeatureMap.of, features=PHI, H=2)
good("features.check", features.check, features=rows, observations=[0.1, 0.5], h=0)
good("features.tabular", features.tabular, mdp=MDP)
good("coherent", features.coherent, Q=MDP.Q, K=3, rng=1, reading="stacked", norm=2.0)
good("agnostic", features.agnostic, Q=MDP.Q, K=3, rho=0.1, rng=1, noise="deviation")
# agents
good_agent(
    "rlsvi",
    rlsvi,
    MDP,
    1,
    2,
    features=PHI,
    lam=1.0,
    sigma=0.5,
    value_range=(0.0, 1.0),
    H=2,
    rng=1,
    form=None,
    reading=Reading(first_episode="prior"),
)
good_agent("rlsvi, one-hot", rlsvi, MDP, 1, 2, features=HOT, lam=1.0, sigma=0.5, rng=1)
good_agent(
    "rlsvi, one-hot, discounted",
    rlsvi,
    MDP,
    1,
    2,
    features=features.OneHot(None, 3, 2),
    gamma=0.9,
    sweeps=2,
    rng=1,
)
good_agent(
    "rlsvi, computed",
    rlsvi,
    MDP,
    1,
    2,
    features=rows,
    lam=1.0,
    sigma=0.5,
    H=2,
    gamma=0.9,
    window=50,
    value_range=(0.0, 2.0),
    rng=1,
)
good_agent(
    "rlsvi, discounted",
    rlsvi,
    MDP,
    1,
    2,
    features=rows,
    lam=1.0,
    sigma=0.5,
    gamma=0.9,
    sweeps=2,
    rng=1,
)
good_agent(
    "rlsvi, verbatim",
    rlsvi,
    MDP,
    1,
    2,
    features=features.Table(PHI),
    lam=1.0,
    sigma=0.5,
    value_range=(0.0, 2.0),
    rng=1,
    form=VerbatimAgent,
)
for name, phi, more in (
    ("bootstrap", PHI, {"H": 2}),
    ("bootstrap, one-hot", HOT, {}),
    ("bootstrap, computed", rows, {"gamma": 0.9, "sweeps": 2, "window": 50}),
):
    good_agent(
        name, bootstrap, MDP, 1, 2, features=phi, value_range=(0.0, 2.0), kappa=0.5, rng=1, **more
    )
good_agent("lsvi", lsvi, MDP, 1, 2, features=PHI, lam=1.0, epsilon=0.0, eta=0.0, H=2, rng=1)
good_agent(
    "incremental",
    incremental.incremental,
    MDP,
    1,
    2,
    Phi=PHI,
    lam=1.0,
    sigma=0.5,
    nu=0.1,
    prior="kept",
    rng=1,
)
good("psrl", lambda **given: rivals.psrl(**given).learn(PRIOR.sample(1), 2), prior=PRIOR, rng=1)
good(
    "ucbvi",
    lambda **given: rivals.ucbvi(**given).learn(PRIOR.sample(1), 2),
    prior=PRIOR,
    episodes=10,
    scale=1.0,
    delta=0.05,
    rng=1,
)
good(
    "FastContinual",
    lambda **given: continual.FastContinual(**given).learn(LOCK, 2, rng=1),
    Phi=PHI[0],
    gamma=0.9,
    rho=0.9,
    lam=1.0,
    sigma=0.5,
    epsilon=0.1,
    rng=1,
)
# what all studies use; intervals may be infinite, so of those only the errors are looked at
good(
    "mean_interval",
    lambda **given: bool(intervals.mean_interval(**given)),
    values=[1.0, 2.0],
    level=0.9,
)
good(
    "median_interval",
    lambda **given: bool(intervals.median_interval(**given)),
    values=[1.0, 2.0],
    level=0.9,
)
good("for_all", intervals.for_all, comparisons=3, level=0.9)
good(
    "median_times",
    intervals.median_times,
    table=pd.DataFrame({"N": [2, 3], "t": [1.0, 2.0], "censored": [False, True]}),
    by=["N"],
    time="t",
    censored="censored",
)
good("Scale", engine.Scale, constants={"lam": 1.0}, grid=({"N": 2}, {"N": 3}), seeds=range(2))
good("Scale.having", SCALE.having, seeds=3, lam=2, N=4)
good(
    "Experiment",
    engine.Experiment,
    name="own",
    place="here",
    title="Own",
    run=lambda seed, lam, N, episodes: [],
    scales={"quick": SCALE},
    length="episodes",
)
good("streams", engine.streams, seed=1)
good("grid", engine.grid, N=[1, 2], lam=(1.0, 2.0))

# ------------------------------------------------------------------ bad arguments

NUMBERS = [
    math.nan,
    math.inf,
    -math.inf,
    -1,
    0,
    1,
    1.5,
    1e300,
    1e-300,
    -1e300,
    2**31,
    2**64,
    10**400,
    True,
    1j,
    Fraction(1, 3),
    np.int32(1),
    np.uint8(1),
    np.float32(0.5),
    np.float64("nan"),
    np.True_,
]
ARRAYS = [
    [],
    (),
    (1, 0),
    (math.nan, 1.0),
    (0.0, math.inf),
    [None],
    [1, 2, 3],
    [[1, 2], [3]],
    range(3),
    np.zeros(0),
    np.zeros((0, 3)),
    np.array(1.0),
    np.array(1),
    np.eye(3),
    np.array(["a", "b"]),
    np.array([None, {}]),
    np.array(["2000-01-01"], "M8[D]"),
    np.array([1j, 2]),
    np.zeros((1, 1, 1, 1, 1)),
    np.ones((1, 1, 1, 1)),
    np.zeros(2, [("a", int)]),
]
WORDS = [None, "", "abc", "é", b"1", {}, {"a": 1}, {1}]
CALLABLES = [
    len,
    dict,
    lambda *_: None,
    lambda *_: math.nan,
    lambda *_: "abc",
    lambda *_: np.full((2, 2), np.nan),
]
THINGS = [object(), np.random, RNG, MDP, LOCK, PRIOR, CUSTOMERS, game(), HOT]
SPOILED = [  # of an array that was good
    np.transpose,
    lambda x: x[None],
    lambda x: x[0],
    lambda x: x[:-1],
    np.ndarray.tolist,
    lambda x: np.concatenate([x, x]),
    lambda x: -x.astype(float) - 1,
    lambda x: x + 300.0,
    lambda x: x + 1j,
    lambda x: x + 0.5,
    lambda x: x[..., ::-1],
    np.asfortranarray,
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    lambda x: np.broadcast_to(x[:1], x.shape),
    *(lambda x, kind=kind: x.astype(kind) for kind in (object, str, bool, np.float32, np.int8)),
    *(
        lambda x, last=last: np.append(x.ravel()[:-1].astype(float), last).reshape(x.shape)
        for last in (math.nan, math.inf, -math.inf, 1e300)
    ),
]


def bad(value):
    """What to pass in place of a good argument."""
    found = st.sampled_from([*NUMBERS, *ARRAYS, *WORDS, *CALLABLES, *THINGS])
    if (x := np.asarray(value)).dtype.kind in "if" and x.ndim and x.size:
        found |= st.sampled_from(SPOILED).map(lambda spoil: spoil(x))
    return found | st.builds(iter, st.just(()))


# ------------------------------------------------------------------ the answer


def not_finite(thing, at="", depth=0):
    """Where a result has numbers that are not finite, in records and our own objects too."""
    if type(thing).__module__.startswith("rlsvi") and hasattr(thing, "__dict__") and depth < 3:
        lazy = {
            name
            for name, of in vars(type(thing)).items()
            if isinstance(of, (property, cached_property))
        }
        thing, depth = (
            {
                name: getattr(thing, name)
                for name in {*vars(thing), *lazy}
                if not name.startswith("_")
            },
            depth + 1,
        )
    if isinstance(thing, (tuple, list)):
        thing = dict(enumerate(thing))
    if isinstance(thing, dict):
        return {
            place
            for key, value in thing.items()
            for place in not_finite(value, f"{at}.{key}", depth)
        }
    numbers = np.asarray(thing if isinstance(thing, (float, np.floating, np.ndarray)) else 0)
    return {at} if numbers.dtype.kind == "f" and not np.isfinite(numbers).all() else set()


PLAIN = StudyError, TypeError, ValueError, AttributeError, LookupError, OverflowError


def is_ours(error):
    """Whether ``checks.fail`` raised an error."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (last.filename, last.name) == (checks.__file__, "fail")


@cache
def infinite_when_good(name):
    call, arguments = GOOD[name]
    return not_finite(call(**arguments))


def answer(name, /, **changed):
    """Make a call with other arguments; an error that is not plain is raised, and so is a bug."""
    call, arguments = GOOD[name]
    usual = infinite_when_good(name)
    before = {name: len(thing.overloads) for name, thing in COMPILED.items()}
    try:
        wrong = not_finite(call(**arguments | changed)) - usual
        assert not wrong, f"NaN or infinite: {wrong}"
    except PLAIN:
        pass
    anew = [name for name, thing in COMPILED.items() if 0 < before[name] < len(thing.overloads)]
    assert not anew, f"compiled anew, for arguments that were not checked: {anew}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GOOD)
@settings(
    max_examples=settings().max_examples // 5, phases=[Phase.generate], report_multiple_bugs=False
)  # of a list there is nothing to shrink
@given(st.data())
def test_bad_arguments_are_answered_by_a_result_or_a_plain_error(name, data):
    arguments = GOOD[name][1]
    chosen = data.draw(st.sets(st.sampled_from(sorted(arguments)), min_size=1, max_size=2))
    with np.errstate(all="ignore"):
        answer(name, **{one: data.draw(bad(arguments[one]), one) for one in sorted(chosen)})


def test_nothing_compiled_is_public_but_the_kernels():
    assert not [
        name
        for module in MODULES
        if module.__name__ != "rlsvi_core.kernels"
        for name in getattr(module, "__all__", ())
        if isinstance(getattr(module, name), CPUDispatcher)
    ]


def test_a_missing_check_is_noticed(monkeypatch):
    answer("step", s=np.int32(1))
    monkeypatch.setattr(mdp, "index", lambda name, value, size: value)
    with pytest.raises(AssertionError, match="compiled anew"):
        answer("step", s=np.int32(1))


@pytest.mark.parametrize(
    "value",
    [
        np.float32("inf"),
        np.float16("-inf"),
        np.float16("nan"),
        np.longdouble("1e400"),
        "1",
        None,
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_number_is_finite_as_a_float(value):
    assert not checks.is_number(value)
    with pytest.raises(ValueError, match="reward"):
        checks.finite("reward", value)


def test_numbers_of_other_precision_are_compared_as_floats():
    for zero in (np.float32(0), np.float16(0), np.longdouble(0)):
        with pytest.raises(ValueError, match="lam"):
            checks.positive(lam=zero)
    assert checks.inside("rate", np.longdouble("0.5"), 0, 1, hint="") == 0.5
    with pytest.raises(ValueError, match="value_range"):
        checks.pair("value_range", (np.float16(1), np.float64(1)), hint="")


State = enum.IntEnum("State", ["HERE", "THERE"], start=0)
POSTERIOR = GaussianPosterior(3)


@pytest.mark.parametrize(
    ("call", "keyword"),
    [
        (lambda: POSTERIOR.draw(pd.Series(["a", "b", "c"])), "z"),
        (lambda: POSTERIOR.draw("abc"), "z"),
        (lambda: POSTERIOR.draw([1.0, math.nan, 0.0]), "z"),
        (lambda: POSTERIOR.draw(ONES, 0.0), "g"),
        (lambda: POSTERIOR.draw(ONES, -1.0), "g"),
        (lambda: POSTERIOR.draw(ONES, "1"), "g"),
        (lambda: recommender.Recommender.random(N=64, J=2, rng=1).value, "63"),
        (lambda: order.dirichlet_samples([1, 2], [0, 1], 10, rng="a"), "rng"),
        (lambda: regression.rescale(1.0, 1.0, features=1e100, targets=1e-100), "lam"),
        (lambda: regression.rescale(1.0, 1.0, features=1e-100, targets=1e100), "lam"),
        (lambda: regression.suggest_parameters((0.0, 1e99)), "lam"),
    ],
)
def test_what_was_answered_by_a_foreign_error_is_refused_by_us(call, keyword):
    with pytest.raises((ValueError, TypeError, IndexError), match=keyword) as caught:
        call()
    assert is_ours(caught.value)


def test_what_is_as_good_as_what_was_meant_is_taken():
    z = [0.5, 1.0, -1.0]
    assert np.array_equal(POSTERIOR.draw(pd.Series(z)), POSTERIOR.draw(np.array(z)))
    assert np.array_equal(POSTERIOR.draw(z, 2), POSTERIOR.draw(z, np.float32(2)))
    assert order.dirichlet_samples([1, 2], [0, 1], 10, rng=1).shape == (10,)
    assert MDP.step(0, State.THERE, State.HERE, np.random.default_rng(1))[1] == State.HERE
    assert rlsvi(HOT, rng=1).act(0, State.THERE) in (0, 1)
    assert recommender.Recommender.random(N=64, J=1, rng=1).value == 0.5


@pytest.mark.parametrize("error", [KeyError("x"), RuntimeError("no"), ZeroDivisionError()])
def test_check_reports_whatever_features_raise(error):
    def raises(s):
        raise error

    (said,) = features.check(raises, [1.0])
    assert type(error).__name__ in said
