"""Hostile arguments for every public callable, in a process of its own: a crash must be noticed.

``GOOD`` has a call that works for each of them. One or two of its arguments are replaced by what
nobody should pass: other types, NaN, numbers out of range, arrays of another shape or type. The
answer must be a result without NaN or infinities that the good call does not have, or an error of
ours: raised by ``rlsvi_core.checks.fail``, in its form *the rule; the value. The hint.* Everything
else has *escaped*: an error of numpy, numba or Python, a NaN, or machine code compiled anew for
arguments of a type that it was not made for (what reaches compiled code was not checked).

    python tests/fuzz.py [EXAMPLES] [PART OF A NAME …]

tries so many inputs for each callable, prints what escaped and how many were tried; status 1 if
anything escaped. ``tests/test_fuzz.py`` runs it, also with bounds checked in compiled code.
"""

import faulthandler
import importlib
import inspect
import math
import pkgutil
import re
import resource
import sys
import traceback
import warnings
from collections import deque
from contextlib import suppress
from fractions import Fraction
from functools import partial

import gymnasium
import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numba.core.registry import CPUDispatcher

import rlsvi_core
from rlsvi_core import FiniteMDP, GaussianPosterior, agents, features
from rlsvi_core.agents import base, continual, incremental, tabular, verbatim
from rlsvi_core.envs import chains, dirichlet, gym, recommender, tetris, traps
from rlsvi_core.mdp import DiscountedMDP
from rlsvi_core.optimism import balls, order
from rlsvi_core.regression import rescale, suggest_parameters
from rlsvi_study import experiment, intervals

MODULES = [importlib.import_module(name) for name in ("rlsvi_core", *(
    found.name for found in pkgutil.walk_packages(rlsvi_core.__path__, "rlsvi_core.")),
    "rlsvi_study.intervals", "rlsvi_study.experiment")]
COMPILED = {f"{thing.__module__}.{thing.__name__}": thing for module in MODULES
            for thing in vars(module).values() if isinstance(thing, CPUDispatcher)}


# ------------------------------------------------------------------ what is public

def short(thing):
    return f"{thing.__module__.removeprefix('rlsvi_core').removeprefix('.')}.{thing.__qualname__}"


def methods(kind):
    """The public methods that our code gives to a class, and its call."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        function = getattr(found, "__func__", found)
        if ((not name.startswith("_") or name == "__call__") and inspect.isfunction(function)
                and function.__module__.startswith("rlsvi")):
            yield name


def subclasses(kind):
    for one in kind.__subclasses__():
        if one.__module__.startswith("rlsvi_core"):
            yield one
            yield from subclasses(one)


def public():
    """The names of all that a user can call: what stands in an ``__all__`` (in modules of studies,
    what has no underscore), the agents that functions return, and the methods of classes. Records
    and protocols have no code of their own."""
    things = {id(thing): thing for module in MODULES for name, thing in vars(module).items()
              if name in getattr(module, "__all__", ()) or (
                  module.__name__.startswith("rlsvi_study") and not name.startswith("_")
                  and getattr(thing, "__module__", "") == module.__name__)}
    things |= {id(kind): kind for kind in subclasses(base.LinearAgent)}
    for thing in things.values():
        if not callable(thing) or not getattr(thing, "__module__", "").startswith("rlsvi") or (
                inspect.isclass(thing) and (inspect.isabstract(thing) or issubclass(
                    thing, Exception) or getattr(thing, "_is_protocol", False))):
            continue
        record = inspect.isclass(thing) and issubclass(thing, tuple)
        if not record:
            yield short(thing)
        if inspect.isclass(thing):
            yield from (f"{short(thing)}.{name}" for name in methods(thing))


# ------------------------------------------------------------------ a good call of each

def rng():
    return np.random.default_rng(1)


P = np.full((2, 3, 2, 3), 1 / 3)
MDP = chains.chain(3)  # H = 2, S = 3, A = 2
LOCK = chains.lock(3, 0.5)
PHI = np.arange(36.0).reshape(2, 3, 2, 3) / 36
HOT = features.OneHot(2, 3, 2)
PRIOR = dirichlet.DirichletPrior.symmetric(2, 3, 2)
SEEN = dirichlet.no_counts(2, 3, 2)
CUSTOMERS = recommender.Recommender.random(rng=1, N=3, J=2)
GAME = tetris.Tetris(4, 5, "SZ")
STATE = tetris.Tetris(4, 5, "SZ").start(rng=1)
BOX = ([0.0, -1.0], [1.0, 1.0])
OPTIONS = {"lam": 1.0, "sigma": 0.5, "sample": True}
DITHER = {"epsilon": 0.0, "eta": 0.0, "first_episode": "prior", "rng": 1}
POLICY = np.zeros((2, 3), int)


TABLE = pd.DataFrame({"N": [2, 2, 3], "t": [1.0, 2.0, 3.0], "censored": [False, True, False]})


def run(seed, lam, N, episodes):
    return [{"reward": 1.0} for _ in range(episodes)]


SCALE = experiment.Scale({"lam": 1.0, "episodes": 2}, ({"N": 2}, {"N": 3}), range(2))
OWN = experiment.Experiment("own", "here", "Own", run, {"quick": SCALE}, length="episodes")


def rows(s):
    return np.kron(np.eye(2), [1.0, s if isinstance(s, float) else 0.5])


class Line:
    """An environment of one's own: a position, and two actions."""

    def start(self, rng):
        return 0.5

    def step(self, h, s, a, rng):
        return 1.0, 0.25, h == 1


class Centred:
    def transform(self, X):
        return np.asarray(X) - 0.5


class OwnMap(features.FeatureMap):
    K = 4

    def __call__(self, h, s):
        return rows(s)


def lived(env, agent):
    """What an agent is like after some episodes in which it met nothing unusual."""
    agent.learn(env, 2, rng=1)
    return agent


def game():
    game = tetris.Tetris(4, 5, "SZ")
    game.start(rng=1)
    return game


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False, max_episode_steps=3)


def begun(env):
    env.reset(seed=1)
    return env


GOOD = {
    "mdp.FiniteMDP": lambda: (lambda **k: (m := FiniteMDP(**k), m.value), {
        "P": P, "R": P, "terminal": np.zeros(3), "initial": np.eye(3)[0], "support": (0, 1),
        "H": 2}),
    "mdp.FiniteMDP.stationary": lambda: (lambda **k: (m := FiniteMDP.stationary(**k), m.value), {
        "P": P[0], "R": P[0], "H": 2, "terminal": np.zeros(3), "initial": np.eye(3)[0],
        "support": (0, 1)}),
    **{f"mdp.FiniteMDP.{name}": partial(lambda name: (getattr(MDP, name), {"policy": POLICY}), name)
       for name in ("evaluate", "regret", "occupancy")},
    "mdp.FiniteMDP.simulate": lambda: (MDP.simulate, {"policy": POLICY, "episodes": 2, "rng": 1}),
    "mdp.FiniteMDP.start": lambda: (MDP.start, {"rng": rng()}),
    "mdp.FiniteMDP.step": lambda: (MDP.step, {"h": 0, "s": 1, "a": 1, "rng": rng()}),
    "mdp.FiniteMDP.from_gym": lambda: (FiniteMDP.from_gym, {"env": lake(), "H": 3}),
    "mdp.DiscountedMDP": lambda: (lambda **k: (m := DiscountedMDP(**k), m.V, m.gaps), {
        "P": P[0], "R": P[0], "gamma": 0.5, "initial": np.eye(3)[0], "support": (0, 1)}),
    "regression.rescale": lambda: (rescale, {"lam": 1.0, "sigma": 1.0, "features": 2.0,
                                             "targets": 2.0}),
    "regression.suggest_parameters": lambda: (
        suggest_parameters, {"value_range": (0.0, 1.0), "feature_norm": 1.0}),
    "regression.GaussianPosterior": lambda: (
        lambda **k: (p := GaussianPosterior(**k), p.mean, p.sample(1), p.covariance, p.precision),
        {"K": 2, "lam": 1.0, "sigma": 1.0}),
    "regression.GaussianPosterior.add_rows": lambda: (
        lambda **k: (p := GaussianPosterior(2).add_rows(**k), p.mean, p.sample(1)),
        {"A": np.eye(2), "b": np.ones(2)}),
    "regression.GaussianPosterior.add_row": lambda: (
        lambda **k: (p := GaussianPosterior(2).add_row(**k), p.mean, p.sample(1)),
        {"phi": np.ones(2), "y": 1.0}),
    "regression.GaussianPosterior.sample": lambda: (
        GaussianPosterior(2).sample, {"rng": 1, "unknown_variance": True}),
    # ---- environments
    "envs.chains.chain": lambda: (chains.chain, {"N": 4}),
    "envs.chains.lock": lambda: (lambda **k: chains.lock(**k).V, {"n": 3, "gamma": 0.9}),
    "envs.chains.deep_sea": lambda: (chains.deep_sea, {"N": 3, "rng": 1}),
    "envs.chains.river_swim": lambda: (chains.river_swim, {"N": 3, "H": 4}),
    "envs.traps.gamble": lambda: (traps.gamble, {"p": 0.6, "sigma": 1.0}),
    "envs.traps.toll": lambda: (traps.toll, {"H": 3, "G": 8.0, "c": 0.5}),
    "envs.traps.needle": lambda: (traps.needle, {"vectors": np.eye(4), "hidden": 2, "H": 3}),
    "envs.dirichlet.DirichletPrior": lambda: (
        lambda **k: (p := dirichlet.DirichletPrior(**k), p.sample_Q(2, 1), p.sample(1)), {
            "alpha_R": np.ones((2, 3, 2, 2)), "alpha_P": np.ones((2, 3, 2, 3)),
            "initial": np.eye(3)[0], "support": (-1.0, 0.0), "alpha_T": np.ones((3, 2))}),
    "envs.dirichlet.DirichletPrior.symmetric": lambda: (
        lambda **k: dirichlet.DirichletPrior.symmetric(**k).sample_Q(2, 1), {
            "H": 2, "S": 3, "A": 2, "alpha_R": 1.0, "alpha_P": 1.0, "initial": np.eye(3)[0],
            "support": (-1.0, 0.0), "alpha_T": np.ones((3, 2))}),
    "envs.dirichlet.DirichletPrior.mean_mdp": lambda: (PRIOR.mean_mdp, {}),
    "envs.dirichlet.DirichletPrior.posterior": lambda: (
        lambda counts=None, **k: PRIOR.posterior(dirichlet.Counts(**k) if counts is None
                                                 else counts), {
            "counts": None, "R": SEEN.R, "P": SEEN.P, "T": SEEN.T, "total": SEEN.total}),
    "envs.dirichlet.DirichletPrior.sample": lambda: (PRIOR.sample, {"rng": 1}),
    "envs.dirichlet.DirichletPrior.sample_Q": lambda: (PRIOR.sample_Q, {"n": 2, "rng": 1}),
    "envs.recommender.Recommender": lambda: (
        lambda **k: (c := recommender.Recommender(**k), c.value, c.P),
        {"gamma": np.ones((3, 3)), "J": 2, "beta": np.zeros(3)}),
    "envs.recommender.Recommender.random": lambda: (
        lambda **k: recommender.Recommender.random(**k).value, {"c": 1.0, "rng": 1, "N": 3,
                                                                "J": 2}),
    "envs.recommender.Recommender.start": lambda: (CUSTOMERS.start, {"rng": rng()}),
    "envs.recommender.Recommender.step": lambda: (CUSTOMERS.step, {
        "h": 0, "s": np.zeros(3, np.int8), "a": 1, "rng": rng()}),
    "envs.recommender.Recommender.evaluate": lambda: (CUSTOMERS.evaluate, {
        "policy": CUSTOMERS.uniform()}),
    "envs.recommender.Recommender.uniform": lambda: (CUSTOMERS.uniform, {}),
    "envs.recommender.Recommender.myopic": lambda: (CUSTOMERS.myopic, {"ties": "best"}),
    "envs.tetris.Tetris": lambda: (
        lambda **k: (g := tetris.Tetris(**k), g.start(1), g.drop(0)),
        {"width": 4, "height": 5, "pieces": "SZ", "rule": "fits"}),
    "envs.tetris.Tetris.start": lambda: (game().start, {"rng": 1}),
    "envs.tetris.Tetris.step": lambda: (game().step, {"h": 0, "s": STATE, "a": 0, "rng": rng()}),
    "envs.tetris.Tetris.drop": lambda: (game().drop, {"a": 0}),
    "envs.tetris.Tetris.board": lambda: (game().board, {}),
    "envs.tetris.Tetris.buffers": lambda: (game().buffers, {}),
    "envs.gym.MDPEnv": lambda: (lambda **k: begun(gym.MDPEnv(**k)).step(0), {"mdp": MDP,
                                                                            "clock": True}),
    "envs.gym.RecommenderEnv": lambda: (lambda **k: begun(gym.RecommenderEnv(**k)).step(0),
                                        {"customers": CUSTOMERS}),
    "envs.gym.TetrisEnv": lambda: (lambda **k: begun(gym.TetrisEnv(**k)).render(), {
        "width": 4, "height": 5, "pieces": "SZ", "rule": "fits", "render_mode": "ansi"}),
    **{f"envs.gym.{name}.{method}": partial(
        lambda kind, inner, method, arguments: (getattr(begun(kind(*inner)), method), arguments),
        getattr(gym, name), inner, method, arguments)
       for name, inner in (("MDPEnv", (MDP,)), ("RecommenderEnv", (CUSTOMERS,)),
                           ("TetrisEnv", (4, 5, "SZ")))
       for method, arguments in (("reset", {"seed": 1, "options": None}), ("step", {"action": 0}),
                                 ("render", {})) if method != "render" or name == "TetrisEnv"},
    "envs.gym.play": lambda: (gym.play, {
        "agent": tabular_agent(), "env": gym.MDPEnv(MDP), "episodes": 2, "seed": 1, "learn": True,
        "progress": False}),
    "envs.gym.each_episode": lambda: (lambda **k: next(gym.each_episode(**k)), {
        "agent": tabular_agent(), "env": gym.MDPEnv(MDP), "seed": 1, "learn": True}),
    # ---- features
    "features.boxes.tiles": lambda: (lambda **k: features.tiles(**k)(0, [0.5, 0.5]), {
        "box": BOX, "A": 2, "tilings": 2, "bins": 2}),
    "features.boxes.random_fourier": lambda: (
        lambda **k: features.random_fourier(**k)(0, [0.5, 0.5]),
        {"box": BOX, "A": 2, "d": 4, "length_scale": 0.5, "rng": 1}),
    "features.boxes.fourier_basis": lambda: (
        lambda **k: features.fourier_basis(**k)(0, [0.5, 0.5]), {"box": BOX, "A": 2, "order": 2}),
    "features.boxes.polynomial": lambda: (
        lambda **k: features.polynomial(**k)(0, [0.5, 0.5]), {"box": BOX, "A": 2, "degree": 2}),
    "features.maps.Computed": lambda: (lambda **k: features.Computed(**k)(0, 0.5), {
        "function": rows, "H": 2}),
    "features.maps.FeatureMap": lambda: (features.FeatureMap, {}),
    "features.maps.OneHot": lambda: (lambda **k: np.asarray(features.OneHot(**k)), {
        "H": 2, "S": 3, "A": 2}),
    "features.maps.PerAction": lambda: (lambda **k: features.PerAction(**k)(0, 0.5), {
        "phi": lambda s: [1.0, 0.5], "A": 2, "d": 2, "H": 2}),
    "features.maps.Table": lambda: (lambda **k: features.Table(**k)(0, 0), {"Phi": PHI, "H": 2}),
    "agents.products.Products": lambda: (lambda **k: agents.Products(**k)(0, [0, 0, 1]), {
        "N": 3, "J": 2, "over": "all"}),
    "agents.stationary.Placements": lambda: (lambda **k: agents.Placements(**k)(0, STATE), {
        "game": GAME, "reading": "value"}),
    "agents.stationary.Placements.checked": lambda: (agents.Placements(GAME).checked, {"s": STATE}),
    **{f"{name}.{method}": partial(lambda phi, method, s: (
        getattr(phi, method), {"h": 0, "s": s}), phi, method, s)
       for name, phi, s in (
           ("features.maps.FeatureMap", OwnMap(), 0.5),
           ("features.maps.Computed", features.Computed(rows, 2), 0.5),
           ("features.maps.OneHot", HOT, 1), ("features.maps.Table", features.Table(PHI), 1),
           ("features.maps.PerAction", features.PerAction(lambda s: [1.0, 0.5], 2), 0.5),
           ("agents.products.Products", agents.Products(3, 2), np.zeros(3, int)),
           ("agents.stationary.Placements", agents.Placements(GAME), STATE))
       for method in ("__call__", "compact", "following", "legal")},
    **{f"{name}.of": lambda: (lambda **k: features.FeatureMap.of(**k), {"features": PHI, "H": 2})
       for name in (*(f"features.maps.{one}" for one in ("FeatureMap", "Computed", "OneHot",
                                                         "PerAction", "Table")),
                    "agents.products.Products", "agents.stationary.Placements")},
    "features.maps.check": lambda: (features.check, {"features": rows, "observations": [0.1, 0.5],
                                                     "h": 0}),
    "features.maps.from_transformer": lambda: (
        lambda **k: features.from_transformer(**k)(0, [0.5, 1.0]),
        {"transformer": Centred(), "A": 2}),
    "features.maps.one_hot": lambda: (lambda **k: features.one_hot(**k)(0, 1), {
        "H": 2, "S": 3, "A": 2}),
    "features.paper.tabular": lambda: (features.tabular, {"mdp": MDP}),
    "features.paper.coherent": lambda: (features.coherent, {
        "Q": MDP.Q, "K": 3, "rng": 1, "reading": "stacked", "norm": 2.0}),
    "features.paper.agnostic": lambda: (features.agnostic, {
        "Q": MDP.Q, "K": 3, "rho": 0.1, "rng": 1, "noise": "deviation"}),
    # ---- agents
    "agents.rlsvi": lambda: (lambda **k: lived(MDP, agents.rlsvi(**k)), {
        "features": PHI, "lam": 1.0, "sigma": 0.5, "value_range": (0.0, 1.0), "H": 2, "rng": 1,
        "form": None, "first_episode": "prior"}),
    "agents.lsvi": lambda: (lambda **k: lived(MDP, agents.lsvi(**k)), {
        "features": PHI, "lam": 1.0, "epsilon": 0.0, "eta": 0.0, "value_range": (0.0, 1.0), "H": 2,
        "rng": 1, "form": None}),
    "agents.incremental.incremental": lambda: (
        lambda **k: lived(MDP, incremental.incremental(**k)), {
            "Phi": PHI, "lam": 1.0, "sigma": 0.5, "nu": 0.1, "form": incremental.IncrementalAgent,
            "prior": "kept", "first_episode": "prior", "rng": 1}),
    **{f"agents.incremental.{kind.__name__}": partial(
        lambda kind: (lambda **k: lived(MDP, kind(**k)), {
            "Phi": PHI, "lam": 1.0, "sigma": 0.5, "nu": 0.1, "prior": "kept",
            "first_episode": "prior", "rng": 1}), kind)
       for kind in (incremental.IncrementalAgent, incremental.VerbatimIncremental)},
    "agents.finite.FiniteAgent": lambda: (lambda **k: lived(MDP, agents.FiniteAgent(**k)), {
        "Phi": PHI, **OPTIONS, **DITHER, "H": 2}),
    "agents.tabular.TabularAgent": lambda: (lambda **k: lived(MDP, agents.TabularAgent(**k)), {
        "features": HOT, **OPTIONS, **DITHER, "rule": None, "support": None}),
    "agents.products.ProductAgent": lambda: (
        lambda **k: lived(CUSTOMERS, agents.ProductAgent(**k)), {
            "features": agents.Products(3, 2), **OPTIONS, **DITHER, "gamma": 0.9,
            "weights": "shared", "dislike": -1.0, "lam_of_mean": 2.0}),
    "agents.stationary.RingAgent": lambda: (lambda **k: lived(GAME, agents.RingAgent(**k)), {
        "features": agents.Placements(GAME), **OPTIONS, **DITHER, "gamma": 0.9, "window": 50,
        "sweeps": 2, "targets": "mean", "variance": "known", "half_life": 10.0}),
    "agents.verbatim.VerbatimAgent": lambda: (
        lambda **k: lived(Line(), agents.VerbatimAgent(**k)), {
            "features": features.PerAction(lambda s: [1.0, 0.5], 2, 2), **OPTIONS, **DITHER, "H": 2,
            "gamma": 0.9, "weights": "shared", "window": 50, "sweeps": 2, "targets": "mean",
            "draws": "per sweep", "clip": (0.0, 2.0), "variance": "known", "lam_of_mean": 2.0,
            "half_life": 10.0}),
    "agents.stored.StoredAgent": lambda: (lambda **k: lived(Line(), agents.StoredAgent(**k)), {
        "features": rows, **OPTIONS, **DITHER, "H": 2, "gamma": 0.9, "weights": "shared",
        "window": 50, "sweeps": 2, "targets": "mean", "draws": "per sweep", "clip": (0.0, 2.0),
        "variance": "known", "lam_of_mean": None, "half_life": 10.0}),
    "agents.continual.FastContinual": lambda: (
        lambda **k: lived(LOCK, continual.FastContinual(**k)), {
            "Phi": PHI[0], "gamma": 0.9, "rho": 0.9, "lam": 1.0, "sigma": 0.5, "epsilon": 0.1,
            "rng": 1}),
    "agents.continual.FastContinual.act": lambda: (continual_agent().act, {"h": 0, "s": 1}),
    "agents.continual.FastContinual.observe": lambda: (continual_agent().observe, {
        "h": 0, "s": 1, "a": 1, "r": 1.0, "s_next": 2}),
    "agents.continual.FastContinual.plan": lambda: (continual_agent().plan, {}),
    "agents.continual.FastContinual.learn": lambda: (continual_agent().learn, {
        "mdp": LOCK, "steps": 3, "rng": 1, "start": 0}),
    "agents.tabular.psrl": lambda: (lambda **k: lived(PRIOR.sample(1), tabular.psrl(**k)), {
        "prior": PRIOR, "rng": 1}),
    "agents.tabular.ucbvi": lambda: (lambda **k: lived(MDP, tabular.ucbvi(**k)), {
        "prior": PRIOR, "episodes": 10, "scale": 1.0, "delta": 0.05, "rng": 1}),
    "agents.tabular.uniform": lambda: (lambda **k: lived(MDP, tabular.uniform(**k)), {
        "prior": PRIOR, "rng": 1}),
    "agents.tabular.theorem1_parameters": lambda: (tabular.theorem1_parameters, {"prior": PRIOR}),
    # ---- optimism
    "optimism.balls.decide": lambda: (balls.decide, {
        "f": lambda x: x * x - x + 1, "box": [(0, 1)], "where": (), "bits": 64, "limit": 50}),
    "optimism.order.compare": lambda: (order.compare, {
        "x": np.arange(100.0), "y": np.arange(120.0), "error": 0.1, "places": 5}),
    "optimism.order.gap": lambda: (order.gap, {
        "X": order.Normal.of(0, 1), "Y": order.Beta.of(1, 2), "z": [0.1, 0.5], "digits": 10}),
    "optimism.order.Normal.of": lambda: (lambda **k: order.Normal.of(**k).excess(0), {
        "mean": 0.5, "variance": 1}),
    "optimism.order.Normal.matching": lambda: (lambda **k: order.Normal.matching(**k).tail(0), {
        "alpha": 0.5, "beta": 1}),
    "optimism.order.Beta.of": lambda: (lambda **k: order.Beta.of(**k).excess(0.5), {
        "alpha": 0.5, "beta": 1}),
    "optimism.order.Finite.of": lambda: (lambda **k: order.Finite.of(**k).excess(0.5), {
        "values": [0, 1], "weights": [1, 2]}),
    "optimism.order.DirichletMean.of": lambda: (
        lambda **k: order.DirichletMean.of(**k).excess(0.5), {"alpha": [1, 2], "V": [0, 0.5]}),
    **{f"optimism.order.{type(law).__name__}.{method}": partial(
        lambda law, method: (getattr(law, method), {"z": 0.5}), law, method)
       for law in (order.Normal.of(0, 1), order.Beta.of(1, 2), order.Finite.of([0, 1], [1, 2]),
                   order.DirichletMean.of([1, 2], [0, 0.5]))
       for method in ("tail", "excess")},
    # ---- the shared floor of the studies
    "rlsvi_study.intervals.mean_interval": lambda: (intervals.mean_interval, {
        "values": [1.0, 2.0], "level": 0.9}),
    "rlsvi_study.intervals.median_interval": lambda: (intervals.median_interval, {
        "values": [1.0, 2.0], "level": 0.9}),
    "rlsvi_study.intervals.student": lambda: (intervals.student, {"values": [1.0, 2.0]}),
    "rlsvi_study.intervals.for_all": lambda: (intervals.for_all, {"comparisons": 3, "level": 0.9}),
    "rlsvi_study.intervals.by_cell": lambda: (intervals.by_cell, {
        "table": TABLE, "by": "N", "summary": lambda cell: {"runs": len(cell)}}),
    "rlsvi_study.intervals.median_times": lambda: (intervals.median_times, {
        "table": TABLE, "by": ["N"], "time": "t", "censored": "censored"}),
    "rlsvi_study.experiment.as_json": lambda: (experiment.as_json, {"value": {"a": np.int64(1)}}),
    "rlsvi_study.experiment.Scale": lambda: (experiment.Scale, {
        "constants": {"lam": 1.0}, "grid": ({"N": 2}, {"N": 3}), "seeds": range(2)}),
    "rlsvi_study.experiment.Scale.having": lambda: (SCALE.having, {"seeds": 3, "lam": 2, "N": 4}),
    "rlsvi_study.experiment.Experiment": lambda: (experiment.Experiment, {
        "name": "own", "place": "here", "title": "Own", "run": run, "scales": {"quick": SCALE},
        "length": "episodes", "along": None, "portable": True, "words": ""}),
    "rlsvi_study.experiment.Experiment.having": lambda: (OWN.having, {"lam": 2, "N": 4,
                                                                     "seeds": 3}),
    "rlsvi_study.experiment.Experiment.cut": lambda: (OWN.cut, {
        "scale": "quick", "task": SCALE.tasks[0], "share": 0.5}),
    "rlsvi_study.experiment.Experiment.arguments": lambda: (OWN.arguments, {
        "scale": "quick", "task": SCALE.tasks[0]}),
    "rlsvi_study.experiment.Experiment.rows": lambda: (OWN.rows, {
        "scale": "quick", "task": SCALE.tasks[0]}),
    "rlsvi_study.experiment.Task.labelled": lambda: (SCALE.tasks[0].labelled, {
        "rows": [{"reward": 1.0}]}),
    "rlsvi_study.experiment.streams": lambda: (experiment.streams, {"seed": 1}),
    "rlsvi_study.experiment.grid": lambda: (experiment.grid, {"N": [1, 2], "lam": (1.0, 2.0)}),
}
AGENTS = {  # an agent of each form, its environment, and a transition that it may see
    "agents.finite.FiniteAgent": (
        lambda: agents.FiniteAgent(PHI, **OPTIONS, rng=1), MDP, 0, 1, 1, 1.0, 2),
    "agents.tabular.TabularAgent": (lambda: tabular_agent(), MDP, 0, 1, 1, 1.0, 2),
    "agents.products.ProductAgent": (
        lambda: agents.ProductAgent(agents.Products(3, 2), **OPTIONS, rng=1), CUSTOMERS, 0,
        np.zeros(3, int), 1, 1.0, np.eye(3, dtype=int)[1]),
    "agents.stationary.RingAgent": (
        lambda: agents.RingAgent(agents.Placements(GAME), **OPTIONS, window=5, rng=1),
        tetris.Tetris(4, 5, "SZ"), 0, STATE, 0, 0, None),
    "agents.stored.StoredAgent": (
        lambda: agents.StoredAgent(rows, **OPTIONS, rng=1, H=2), Line(), 0, 0.5, 1, 1.0, 0.25),
    "agents.verbatim.VerbatimAgent": (
        lambda: agents.VerbatimAgent(features.Table(PHI), **OPTIONS, rng=1), MDP, 0, 1, 1, 1.0, 2),
    "agents.incremental.IncrementalAgent": (
        lambda: incremental.incremental(PHI, rng=1), MDP, 0, 1, 1, 1.0, 2),
    "agents.incremental.VerbatimIncremental": (
        lambda: incremental.VerbatimIncremental(PHI, 1.0, 0.5, 0.1, rng=1), MDP, 0, 1, 1, 1.0, 2),
}


def tabular_agent():
    return agents.TabularAgent(HOT, **OPTIONS, rng=1)


def continual_agent():
    return continual.FastContinual(PHI[0], 0.9, 0.9, rng=1)


def then_plan(agent, method):
    """The method, and the plan that follows from what it took in."""
    def call(**arguments):
        result = getattr(agent, method)(**arguments)
        agent.plan()
        return result, agent
    return call


for _name, (_make, _env, _h, _s, _a, _r, _next) in AGENTS.items():
    _legal = {"legal": [0, 1]} if _name.endswith(("StoredAgent", "VerbatimAgent")) else {}
    _after = {"legal_next": [0, 1]} if _legal else {}
    _played = {"env": _env, "episodes": 2, "rng": 1}
    for _method, _arguments in {
            "act": {"h": _h, "s": _s, **_legal}, "greedy": {"h": _h, "s": _s, **_legal},
            "observe": {"h": _h, "s": _s, "a": _a, "r": _r, "s_next": _next, **_after},
            "plan": {}, "learn": {**_played, "exact": False}, "evaluate": _played,
            **({"values": {"h": _h, "s": _s}} if _legal else {})}.items():
        GOOD[f"{_name}.{_method}"] = partial(
            lambda make, method, arguments: (then_plan(make(), method), arguments),
            _make, _method, _arguments)
    if _legal:
        GOOD[f"{_name}.fit"] = partial(lambda make: (make().fit, {
            "A": np.eye(3), "b": np.ones(3)}), AGENTS["agents.verbatim.VerbatimAgent"][0])
        GOOD[f"{_name}.regression_problem"] = partial(lambda make: (make().regression_problem, {
            "data": deque([verbatim.Transition(np.ones(3), 1.0, np.ones((2, 3)))]),
            "after": np.ones(3)}), AGENTS["agents.verbatim.VerbatimAgent"][0])
    GOOD[f"{_name}.policy"] = partial(lambda make: (make().policy, {}), _make)


# ------------------------------------------------------------------ hostile arguments

class Empty:
    """Has every method that is asked for; all return nothing."""

    def start(self, rng):
        return None

    def step(self, h, s, a, rng):
        return None

    def __repr__(self):
        return "Empty()"


ANYTHING = {
    "None": None, "a word": "abc", "no word": "", "bytes": b"1", "NaN": math.nan, "inf": math.inf,
    "-inf": -math.inf, "-1": -1, "0": 0, "1": 1, "1.5": 1.5, "1e300": 1e300, "1e-300": 1e-300,
    "-1e300": -1e300, "2^31": 2**31, "2^64": 2**64, "10^400": 10**400, "True": True,
    "complex": 1j, "a fraction": Fraction(1, 3), "np.int32": np.int32(1), "np.uint8": np.uint8(1),
    "np.float32": np.float32(0.5), "np.nan": np.float64("nan"), "np.True": np.True_,
    "[]": [], "()": (), "{}": {}, "a dict": {"a": 1}, "a set": {1}, "(1, 0)": (1, 0),
    "(NaN, 1)": (math.nan, 1.0), "(0, inf)": (0.0, math.inf), "[None]": [None],
    "three": [1, 2, 3], "ragged": [[1, 2], [3]], "a range": range(3), "an object": object(),
    "a class": dict, "a function": len, "returns None": lambda *_: None,
    "returns NaN": lambda *_: math.nan, "returns rows of NaN": lambda *_: np.full((2, 2), np.nan),
    "returns a word": lambda *_: "abc", "an empty environment": Empty(),
    "no numbers": np.zeros(0), "no rows": np.zeros((0, 3)), "0-d": np.array(1.0),
    "0-d int": np.array(1), "words": np.array(["a", "b"]), "objects": np.array([None, {}]),
    "times": np.array(["2000-01-01"], "M8[D]"), "complex array": np.array([1j, 2]),
    "5-d": np.zeros((1, 1, 1, 1, 1)), "a matrix": np.eye(3), "an MDP": MDP, "another": LOCK,
    "a prior": PRIOR, "customers": CUSTOMERS, "a game": GAME, "one hot": HOT,
    "a small table": np.ones((1, 1, 1, 1)), "records": np.zeros(2, [("a", int)])}


def spoiled(x):
    """Arrays that were good, and are not quite."""
    yield "transposed", x.T
    yield "one axis more", x[None]
    yield "one axis less", x[0] if x.size and x.ndim else x
    yield "cut", x[:-1] if x.ndim else x
    yield "twice", np.concatenate([x, x]) if x.ndim else x
    yield "as list", x.tolist()
    yield "negative", -x.astype(float) - 1
    yield "far too large", x.astype(float) + 300
    yield "complex", x + 1j
    yield "objects", x.astype(object)
    yield "words", x.astype(str)
    yield "truth values", x.astype(bool)
    yield "float32", x.astype(np.float32)
    yield "int8", x.astype(np.int8)
    yield "halves", x + 0.5
    yield "every other", np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x
    yield "other way", x[..., ::-1] if x.ndim else x
    yield "read only", np.broadcast_to(x[:1], x.shape) if x.ndim else x
    yield "Fortran's", np.asfortranarray(x)
    yield "masked", np.ma.masked_array(x, mask=np.ones(x.shape, bool))
    for bad in (math.nan, math.inf, -math.inf, 1e300) if x.size else ():
        y = x.astype(float)
        y.flat[-1] = bad
        yield f"one {bad}", y


def hostile(name, good):
    """What to try in place of a good argument: (what it is, a function that makes it)."""
    found = [(what, lambda value=value: value) for what, value in ANYTHING.items()]
    found.append(("an exhausted iterator", lambda: iter(())))
    if isinstance(good, (np.ndarray, list, tuple)):
        with suppress(TypeError, ValueError):
            found += [(what, lambda x=x: x) for what, x in spoiled(np.asarray(good))]
    return found


# ------------------------------------------------------------------ the verdict

FORM = re.compile(r"(?s)[^;]{4,}; .+[.…] .{4,}")
UNBOUNDED = {*(f"rlsvi_study.intervals.{name}" for name in (  # infinite by their definition
    "mean_interval", "student", "median_interval", "median_times")),
    *(f"optimism.order.Beta.{name}" for name in (  # a ball may say that it needs more bits
        "of", "tail", "excess")),
    *(f"features.maps.{name}" for name in (  # what the user's function says; agents refuse it
        "Computed", "Computed.__call__", "Computed.compact", "Computed.following", "PerAction",
        "FeatureMap.__call__", "FeatureMap.compact", "FeatureMap.following"))}


def not_finite(thing, at="", depth=0, given=()):
    """Where in a result numbers are not finite, but for what was given and is only remembered."""
    if any(thing is one for one in given if isinstance(one, (tuple, list, np.ndarray))):
        return
    if isinstance(thing, (float, np.floating)):
        if not math.isfinite(thing):
            yield at
    elif isinstance(thing, np.ndarray):
        if thing.dtype.kind == "f" and not np.isfinite(thing).all():
            yield at
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from not_finite(value, f"{at}.{key}", depth, given)
    elif isinstance(thing, (tuple, list, deque)):
        for i, value in enumerate(thing):
            yield from not_finite(value, f"{at}.{i}", depth, given)
    elif (type(thing).__module__.startswith("rlsvi") and hasattr(thing, "__dict__") and depth < 3
          and not isinstance(thing, type)):
        yield from not_finite(vars(thing), at, depth + 1, given)
    elif type(thing).__name__ == "arb" and not thing.is_finite():
        yield at


def signatures():
    return {name: len(thing.overloads) for name, thing in COMPILED.items()}


def verdict(call, arguments, allowed):
    """None, or how the input escaped."""
    before = signatures()
    try:
        result = call(**arguments)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = frames[-1]
        if last.name == "fail" and last.filename.endswith("checks.py"):
            if not FORM.fullmatch(str(error)):
                return f"an error of another form: {error}"
        elif not isinstance(error, balls.Undecided):
            ours = next((f for f in reversed(frames) if "rlsvi_" in f.filename), last)
            where = f"{ours.filename.rsplit('rlsvi_', 1)[-1]}:{ours.lineno}"
            return f"{type(error).__name__} at {where}: {str(error)[:150]!r}"
    else:
        if allowed is not None and (new := sorted(
                set(not_finite(result, given=arguments.values())) - allowed)):
            return f"silently NaN or infinite: {new[:3]}"
    after = signatures()
    if grown := [name for name in after if after[name] > before[name]]:
        return f"compiled anew: {grown}"
    return None


def fuzz(name, examples):
    """So many hostile calls; returns how many were made, how many escaped, and each way once."""
    make, tried, wrong, escaped = GOOD[name], 0, 0, {}
    call, arguments = make()
    if not arguments:
        with suppress(NotImplementedError):
            call()  # what is good is compiled now
        found = verdict(call, {}, None)
        return 1, int(found is not None), {found: "as it is"} if found else {}
    allowed = None if name in UNBOUNDED else set(not_finite(call(**arguments)))
    pools = {key: hostile(key, value) for key, value in arguments.items()}
    choices = st.sampled_from([(key, i) for key, pool in pools.items() for i in range(len(pool))])

    @settings(max_examples=examples, derandomize=True, database=None, deadline=None,
              suppress_health_check=list(HealthCheck))
    @given(st.lists(choices, min_size=1, max_size=2))
    def attack(chosen):
        nonlocal tried, wrong
        call, arguments = make()
        words = {}
        for key, i in chosen:
            words[key], value = pools[key][i]
            arguments = {**arguments, key: value()}
        tried += 1
        faulthandler.dump_traceback_later(600, exit=True)
        if found := verdict(call, arguments, allowed):
            wrong += 1
            escaped.setdefault(found, ", ".join(f"{key} = {word}" for key, word in words.items()))

    attack()
    return tried, wrong, escaped


def main(examples=25, *parts):
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34))
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    inputs, wrong = 0, 0
    for name in sorted(GOOD):
        if not parts or any(part in name for part in parts):
            print(name, flush=True)
            tried, bad, escaped = fuzz(name, int(examples))
            inputs, wrong = inputs + tried, wrong + bad
            for how, what in escaped.items():
                print(f"    ESCAPED {what}\n        {how}", flush=True)
    print(f"{len(GOOD)} callables, {inputs} inputs tried, {wrong} escaped")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
