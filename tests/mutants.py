"""Which wrong changes would nobody notice? ``make mutants`` makes a sample of them and looks.

A mutant is one small change of the code: a comparison moved by its edge, + for −, a constant off by
one, a quantile moved, a condition or a verdict turned round, arguments swapped, a statement left
out, nothing returned. Each is made in a copy of the tree, never in the tree itself, and the tests
that cover its file (``COVERS``) are run on the copy, its own verdicts first, until one fails: the
mutant is killed, or ends in a timeout, or survives. A survivor is a test that is missing.

The sample is drawn by the hash of the line and the change, some of every module: it is the same
for everybody, and an edit elsewhere leaves it alone. Answers go to a journal, ``.cache/mutants``,
and a run that was stopped goes on from there. A survivor is tried again when the tests that cover
it have changed; what was killed stays so while its file does. The tests in ``NOTICE_ANYTHING`` are
not asked: they notice that code or bits have changed, not that they are wrong.

``python tests/mutants.py [--minutes M] [PART …]`` takes only files whose path has one of the parts,
and stops after some minutes; 0 reports what is known.
"""

import argparse
import ast
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from bisect import bisect
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from unittest import mock

import hypothesis  # noqa: F401
import pandas as pd  # noqa: F401
import psutil
import pytest
import scipy.stats  # noqa: F401

from rlsvi_core import compiled
from rlsvi_study.fingerprint import behind

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "mutants"
SEED = 2016
FIRST, OTHERS = 5, 3  # mutants of a module: where none may survive, and elsewhere
GOAL = 0.95  # of all that are not equivalent
PATIENCE, STILL = 600, 60  # CPU seconds for the tests of a file; seconds in which nothing moves

# What covers a file: tests/test_*.py, and for the library also the file's own examples. Up to the
# blank line stand those of which no mutant may survive.
COVERS = {
    "rlsvi_core/regression.py": "regression",
    "rlsvi_study/store.py": "store tables",
    "rlsvi_study/runner.py": "store tables runner faults",
    "rlsvi_study/register.py": "register claims",
    "rlsvi_study/intervals.py": "intervals",
    "rlsvi_core/agents/__init__.py": "stored agents",
    "rlsvi_core/agents/base.py": "stored agents",
    "rlsvi_core/agents/continual.py": "extensions agents",
    "rlsvi_core/agents/finite.py": "agents",
    "rlsvi_core/agents/incremental.py": "extensions agents",
    "rlsvi_core/agents/products.py": "recommender agents",
    "rlsvi_core/agents/stationary.py": "stationary agents",
    "rlsvi_core/agents/stored.py": "stored agents",
    "rlsvi_core/agents/tabular.py": "regret agents",
    "rlsvi_core/agents/verbatim.py": "stored agents stationary",

    "rlsvi_core/checks.py": "library features regression mdp agents gym",
    "rlsvi_core/compiled.py": "library",
    "rlsvi_core/mdp.py": "mdp",
    "rlsvi_core/envs/chains.py": "chain extensions gym",
    "rlsvi_core/envs/dirichlet.py": "regret library",
    "rlsvi_core/envs/gym.py": "gym",
    "rlsvi_core/envs/recommender.py": "recommender",
    "rlsvi_core/envs/tetris.py": "tetris library",
    "rlsvi_core/envs/traps.py": "conjecture",
    "rlsvi_core/features/boxes.py": "features",
    "rlsvi_core/features/maps.py": "features stored",
    "rlsvi_core/features/paper.py": "features",
    "rlsvi_core/optimism/balls.py": "order proofs",
    "rlsvi_core/optimism/order.py": "order",
    "rlsvi_study/catalogue.py": "cli own_study",
    "rlsvi_study/cli.py": "cli own_study tables claims",
    "rlsvi_study/experiment.py": "store own_study experiments tables",
    "rlsvi_study/fingerprint.py": "tables own_study runner",
    "rlsvi_study/chain/claims.py": "experiments scaling claims",
    "rlsvi_study/chain/scaling.py": "scaling claims",
    "rlsvi_study/conjecture/claims.py": "conjecture claims",
    "rlsvi_study/extensions/claims.py": "extension_runs claims",
    "rlsvi_study/recommender/claims.py": "recommender_study claims",
    "rlsvi_study/regret/bias.py": "regret claims",
    "rlsvi_study/regret/claims.py": "regret claims",
    "rlsvi_study/regret/optimism.py": "regret claims",
    "rlsvi_study/tetris/claims.py": "tetris_study claims",
    "rlsvi_study/theory/crossings.py": "crossings proofs",
    "rlsvi_study/theory/evidence.py": "proofs theorem1",
    "rlsvi_study/theory/forms.py": "order proofs",
    "rlsvi_study/theory/printed.py": "proofs claims",
    "rlsvi_study/theory/repaired.py": "proofs claims",
    "rlsvi_study/theory/theorem1.py": "theorem1 claims",
}
UNTOUCHABLE = tuple(COVERS)[:list(COVERS).index("rlsvi_core/checks.py")]
NOTICE_ANYTHING = ("tests/test_tables.py::test_todays_code_computed_or_verified_the_table",
                   "tests/test_tables.py::test_a_slice_of_the_table_is_recomputed_to_the_bit")
EQUIVALENT = {  # the mutant's id: why nothing can notice
    "rlsvi_study/runner.py: found = tasks[future], ([], 0.0, f\"KilledWorker ({deaths})\"): "
    "0.0 → 0.5":
        "the seconds of a run that failed are not read",
    "rlsvi_study/cli.py: seed = SystemRandom().randrange(2**32) if args.seed is None else "
    "args.seed: 2 → 3":
        "any seed will do where none was asked for; it is printed, and serves again",
    "rlsvi_study/chain/claims.py: lam, sigma = rng.uniform(0.1, 10, 2): 10 → 11":
        "what is claimed of all λ and σ is tried on some; others will do as well",
    'rlsvi_study/chain/scaling.py: "power": (lambda x, a, b: a * x**b, (1.0, 1.0)),: 1.0 → 2.0':
        "where a search begins; it begins at three places, and the best is the same",
    "rlsvi_study/theory/theorem1.py: w = fractions(rng.integers(-40, 40, data.seen_P.shape[:3]), "
    "16): 16 → 17":
        "the noise may be any; what is told of the bias has none in it",
    "rlsvi_study/theory/crossings.py: end = _bracket(f, -sign_left, left or 0.0, 1) if right is "
    "None else right: 1 → 2":
        "longer strides to a place beyond the zero; the bisection from there ends at the same one",
}

# --------------------------------------------------------------------------- changes

TURNED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
          ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
          ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "/", ast.Mod: "*",
          ast.Pow: "*", ast.BitAnd: "|", ast.BitOr: "&"}
OPERATOR = re.compile(rb"not\s+in\b|is\s+not\b|in\b|is\b|\*\*|//|[<>=!]=|[-+*/%<>&|@^]")
ANOTHER = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "floor": "ceil",
           "HOLDS": "FAILS", "PARTLY": "HOLDS", "MISPRINT": "FAILS"}
ANOTHER = {new: old for old, new in ANOTHER.items()} | ANOTHER


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    text: str  # of the line where it begins
    change: str
    place: tuple[int, int]  # bytes to replace
    new: bytes
    numba: bool  # in a compiled function
    nth: int = 0  # of those on equal lines

    @property
    def id(self) -> str:
        return f"{self.file}: {self.text}: {self.change}" + f" ({self.nth + 1})" * (self.nth > 0)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.change}: {self.text}"


def _number(x: float) -> str:
    """Another constant: an edge off by one, a quantile, a tolerance."""
    if isinstance(x, int):
        return str(x + 1)
    return repr(x * 1e6 if 0 < x < 1e-3 else x / 2 if 0 < x <= 0.5 else (1 + x) / 2 if x < 1 else
                x + 1)


def _changes(node: ast.AST, at) -> Iterator[tuple[tuple[int, int], str]]:
    """The places and their new text; ``at`` gives a node's place, or that between two nodes."""
    if isinstance(node, ast.Compare):
        terms = [node.left, *node.comparators]
        for left, right, op in zip(terms, terms[1:], node.ops, strict=False):
            yield at(left, right), TURNED[type(op)]
    elif isinstance(node, ast.BinOp) and type(node.op) in TURNED:
        if not any(isinstance(one, ast.JoinedStr) or isinstance(getattr(one, "value", 0), str)
                   for one in (node.left, node.right)):  # those are texts
            yield at(node.left, node.right), TURNED[type(node.op)]
    elif isinstance(node, ast.AugAssign) and type(node.op) in TURNED:
        yield at(node.target, node.value), TURNED[type(node.op)]
        yield at(node), "pass"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield at(node), "pass"
    elif isinstance(node, ast.Return) and node.value is not None:
        yield at(node), "return None"
    elif isinstance(node, ast.BoolOp):
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield at(left, right), "or" if isinstance(node.op, ast.And) else "and"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        if not isinstance(node.operand, ast.Constant):
            yield at(node), at.text(node.operand)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield at(node), str(not node.value)
        elif isinstance(node.value, int | float):
            yield at(node), _number(node.value)
    elif isinstance(node, ast.Name) and node.id in ANOTHER and isinstance(node.ctx, ast.Load):
        yield at(node), ANOTHER[node.id]
    elif isinstance(node, ast.Attribute) and node.attr in ANOTHER:
        start, stop = at(node)
        yield (stop - len(node.attr), stop), ANOTHER[node.attr]
    if isinstance(node, ast.If | ast.IfExp):
        yield at(node.test), f"not ({at.text(node.test)})"
    if isinstance(node, ast.Call) and len(node.args) == 2 and not any(
            isinstance(one, ast.Starred) for one in node.args):
        (a, _), (_, b) = map(at, node.args)
        yield (a, b), ", ".join(at.text(one) for one in reversed(node.args))


class _Place:
    """Where a node stands in the bytes of its file."""

    def __init__(self, source: bytes):
        self.source, self.starts = source, [0]
        for line in source.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    def __call__(self, node: ast.AST, right: ast.AST | None = None) -> tuple[int, int]:
        start = self.starts[node.lineno - 1] + node.col_offset
        stop = self.starts[node.end_lineno - 1] + node.end_col_offset
        if right is None:
            return start, stop
        between = re.compile(rb"\b(?:and|or)\b|" + OPERATOR.pattern).search(
            self.source, stop, self.starts[right.lineno - 1] + right.col_offset)
        return between.span()

    def text(self, node: ast.AST) -> str:
        return self.source[slice(*self(node))].decode()


def _below(node: ast.AST, numba: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """The nodes that act, and whether compiled: no annotations, decorators, messages and texts."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.Raise | ast.JoinedStr):
                inside = numba or any(isinstance(one, ast.Name) and one.id == "jit"
                                      for one in getattr(child, "decorator_list", []))
                yield child, inside
                yield from _below(child, inside)


def mutants(file: str, source: bytes) -> list[Mutant]:
    """Every mutant of a file."""
    at, found, seen = _Place(source), [], {}
    lines = source.decode().split("\n")
    for node, numba in _below(ast.parse(source)):
        for (start, stop), new in _changes(node, at):
            old = source[start:stop].decode()
            line = bisect(at.starts, start)
            text = lines[line - 1].strip()
            short = [" ".join(one.split()) for one in (old, new)]
            change = " → ".join(one if len(one) <= 60 else one[:57] + "…" for one in short)
            if old != new:
                nth = seen[text, change] = seen.get((text, change), -1) + 1
                found.append(Mutant(file, line, text, change, (start, stop), new.encode(), numba,
                                    nth))
    return found


def mutated(source: bytes, mutant: Mutant) -> bytes:
    start, stop = mutant.place
    return source[:start] + mutant.new + source[stop:]


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def sample(found: Iterable[Mutant], size: int) -> list[Mutant]:
    return sorted(found, key=lambda one: digest(f"{SEED} {one.id}".encode()))[:size]


# --------------------------------------------------------------------------- trials

def _cpu_seconds(process: int) -> float:
    """Of a process and all that it started."""
    spent = 0.0
    with suppress(psutil.Error):
        top = psutil.Process(process)
        for one in (top, *top.children(recursive=True)):
            with suppress(psutil.Error):
                spent += sum(one.cpu_times()[:2])
    return spent


class OwnVerdicts:
    """Of the verdicts, which take minutes, those whose judge is in the file's folder; and first."""

    def __init__(self, file: str):
        self.package = file.rpartition("/")[0].replace("/", ".")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        claims = {one: one.callspec.params["claim"] for one in items
                  if "claim" in getattr(getattr(one, "callspec", None), "params", {})}
        items[:] = [one for one, claim in claims.items()
                    if claim.judge.__module__.rpartition(".")[0] == self.package] + [
            one for one in items if one not in claims]


class Trials:
    """A copy of the tree, a journal of answers, and machine code that no mutant has changed."""

    def __init__(self, root: Path = ROOT, cache: Path = CACHE,
                 covers: dict[str, str] | None = None):
        self.root, self.cache, self.tree = root, cache, cache / "tree"
        self.covers = COVERS if covers is None else covers
        cache.mkdir(parents=True, exist_ok=True)
        self.journal = cache / "journal.jsonl"
        self.home, self.scratch = cache / "home", cache / "scratch"  # for machine code
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                                "--exclude-standard"], cwd=root, check=True, capture_output=True)
        names = {name for name in names.stdout.decode().split("\0") if (root / name).is_file()}
        shutil.rmtree(self.tree, ignore_errors=True)
        for name in names:
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, self.tree / name)  # with its date: numba looks at that
        self.compiled = self.folder(self.home)
        self.package = digest(*(self.read(name) for name in sorted(names)
                                if name.startswith("rlsvi_") and name.endswith(".py")))

    def read(self, name: str) -> bytes:
        return (self.tree / name).read_bytes()

    def entries(self) -> list[dict]:
        if not self.journal.exists():
            return []
        return [json.loads(line) for line in self.journal.read_text("utf8").splitlines()]

    def note(self, **entry) -> dict:
        with self.journal.open("a", encoding="utf8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        return entry

    def tests(self, file: str) -> list[str]:
        own = [file] if file.startswith("rlsvi_core") else []
        return own + [f"tests/test_{name}.py" for name in self.covers[file].split()]

    def pytest(self, tests: list[str], home: Path, about: str = "") -> tuple[str, str, float]:
        """The answer (passed, failed or timeout), the first test that failed, CPU seconds.

        A fork of this process has numba, pandas and pytest at hand: half of a short trial. Patience
        is counted in CPU seconds, or a busy machine would kill what a test did not.
        """
        said = self.cache / "said.txt"
        if not (child := os.fork()):
            self._in_child(tests, home, about, said)
        done, spent, since, late = 0, 0.0, time.monotonic(), False
        while not done:
            time.sleep(0.2)
            done, status, used = os.wait4(child, os.WNOHANG)
            if not done and (now := _cpu_seconds(child)) != spent:
                spent, since = now, time.monotonic()
            if not done and (spent > PATIENCE or time.monotonic() - since > STILL):
                os.killpg(child, signal.SIGKILL)
                late = True
        text = said.read_text("utf8", errors="replace")
        who = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, re.M)
        good = os.waitstatus_to_exitcode(status) in (pytest.ExitCode.OK,
                                                     pytest.ExitCode.NO_TESTS_COLLECTED)
        return ("timeout" if late else "passed" if good else "failed",
                who[1] if who else text[-200:], used.ru_utime + used.ru_stime)

    def _in_child(self, words: list[str], home: Path, about: str, said: Path) -> NoReturn:
        os.setsid()
        out = os.open(said, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.stdout = sys.stderr = os.fdopen(1, "w", encoding="utf8")
        os.chdir(self.tree)
        os.environ.update(PYTHONPATH=str(self.tree), XDG_CACHE_HOME=str(home), OMP_NUM_THREADS="1",
                          MPLCONFIGDIR=str(self.cache / "matplotlib"), PYTHONDONTWRITEBYTECODE="1")
        sys.dont_write_bytecode, sys.path[:1] = True, [str(self.tree)]
        for name in [name for name in sys.modules if name.startswith(("rlsvi_", "mutants"))]:
            del sys.modules[name]  # the tree's own are imported
        status = 3
        try:
            status = pytest.main(["-x", "-q", "--tb=line", "-rfE", "-p", "no:xdist", "-p",
                                  "no:cacheprovider", *words,
                                  *(f"--deselect={name}" for name in NOTICE_ANYTHING)],
                                 plugins=[OwnVerdicts(about)] if about else [])
            sys.stdout.flush()
        finally:
            os._exit(status)

    def passes(self, test: str) -> bool:
        """Whether a test that has killed passes on the tree as it is: else it says nothing."""
        entry = {"clean": test, "state": digest(self.package.encode(),
                                                self.read(test.partition("::")[0]))}
        known = [one["passes"] for one in self.entries() if entry.items() <= one.items()]
        return (known or [self.note(**entry, passes=self.pytest([test], self.home)[0] == "passed")[
            "passes"]])[0]

    def folder(self, home: Path) -> Path:
        """Where the tree as it is now keeps its machine code, by the library's own rule."""
        with (mock.patch.dict(os.environ, XDG_CACHE_HOME=str(home)),
              mock.patch.object(compiled, "PACKAGE", self.tree / "rlsvi_core")):
            return compiled.cache_folder()

    def machine_code(self, mutant: Mutant) -> None:
        """Give the mutant what is compiled already, but for modules that can tell the difference.

        The folder is named after the source, so the mutant has one of its own; that the mutated
        file is another, numba sees itself.
        """
        shutil.rmtree(self.scratch, ignore_errors=True)
        users = [file for file in self.covers
                 if mutant.numba and mutant.file in behind([self.tree / file])]
        own = self.folder(self.scratch)
        for kept in self.compiled.glob("*/*"):
            name = f"{kept.parent.name.rpartition('_')[0]}/{kept.name.partition('.')[0]}.py"
            if not any(user.endswith(name) for user in users):
                (own / kept.parent.name).mkdir(exist_ok=True)
                os.link(kept, own / kept.parent.name / kept.name)

    def try_out(self, mutant: Mutant) -> dict:
        target, source = self.tree / mutant.file, self.read(mutant.file)
        times = target.stat()
        target.write_bytes(mutated(source, mutant))
        try:
            self.machine_code(mutant)
            answer, by, seconds = self.pytest(self.tests(mutant.file), self.scratch, mutant.file)
        finally:
            target.write_bytes(source)
            os.utime(target, ns=(times.st_atime_ns, times.st_mtime_ns))
        if answer == "failed" and "::" in by and not self.passes(by):
            sys.exit(f"{by} fails on the tree as it is. Mend that first.")
        answer = {"passed": "survived", "failed": "killed"}.get(answer, answer)
        return self.note(mutant=mutant.id, file=digest(source), tests=self.state(mutant),
                         answer=answer, by=by if answer == "killed" else "",
                         seconds=round(seconds, 1))

    def state(self, mutant: Mutant) -> str:
        return digest(*(self.read(name) for name in self.tests(mutant.file) if name != mutant.file))

    def known(self, mutant: Mutant) -> list[dict]:
        """What was found about the mutant of today's file, and still stands; the newest last."""
        now = digest(self.read(mutant.file)), self.state(mutant)
        return [entry for entry in self.entries() if entry.get("mutant") == mutant.id
                and entry["file"] == now[0]
                and (entry["answer"] != "survived" or entry["tests"] == now[1])]

    def drawn(self, parts: list[str]) -> list[Mutant]:
        return [one for file in self.covers if any(part in file for part in parts or [""])
                for one in sample(mutants(file, self.read(file)),
                                  FIRST if file in UNTOUCHABLE else OTHERS)]


def stale(trials: Trials) -> list[str]:
    """Entries of EQUIVALENT that no mutant matches any more."""
    there = {one.id for file in trials.covers if any(id.startswith(file) for id in EQUIVALENT)
             for one in mutants(file, trials.read(file))}
    return [id for id in EQUIVALENT if id not in there]


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="of the paths of files to mutate")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    asked = parser.parse_args(words)
    end, trials = time.monotonic() + 60 * asked.minutes, Trials()
    drawn = trials.drawn(asked.parts)
    counted = [one for one in drawn if one.id not in EQUIVALENT]
    for i, one in enumerate(counted):
        if not trials.known(one) and time.monotonic() < end:
            entry = trials.try_out(one)
            print(f"{i + 1}/{len(counted)} {entry['answer']} in {entry['seconds']:.0f} s: {one}",
                  flush=True)
    return report(trials, drawn, counted)


def report(trials: Trials, drawn: list[Mutant], counted: list[Mutant]) -> int:
    answers = {one: found[-1]["answer"] for one in counted if (found := trials.known(one))}
    first: dict[str, str] = {}
    for entry in trials.entries():
        if "mutant" in entry:
            first.setdefault(entry["mutant"], entry["answer"])
    survivors = [one for one, answer in answers.items() if answer == "survived"]
    for one in survivors:
        print(f"survived: {one}")
    for id in stale(trials):
        print(f"no such mutant any more, take it off the list of equivalent ones: {id}")
    tried, lost = len(answers), sum(first[one.id] == "survived" for one in answers)
    print(f"{len(drawn)} mutants drawn, {len(drawn) - len(counted)} equivalent, "
          f"{len(counted) - tried} not tried yet; killed {list(answers.values()).count('killed')}, "
          f"timeout {list(answers.values()).count('timeout')}, survived {len(survivors)}")
    if tried:
        print(f"score {1 - len(survivors) / tried:.1%}; at first sight {1 - lost / tried:.1%}")
    safe = not any(one.file in UNTOUCHABLE for one in survivors)
    return 0 if safe and len(survivors) <= (1 - GOAL) * tried else 1


if __name__ == "__main__":
    sys.exit(main())
