"""Every verdict is recomputed; a wrong one is reported."""

import contextlib
import dataclasses
import functools
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import planted
import pytest

from rlsvi_study import catalogue
from rlsvi_study.cli import main
from rlsvi_study.judging import register as claims
from rlsvi_study.judging import verdicts
from rlsvi_study.judging.outcomes import (
    FAILS,
    HOLDS,
    MISPRINT,
    VERDICTS,
    Judgement,
    misprint_verdict,
)
from rlsvi_study.judging.thresholds import THRESHOLDS

KINDS = {"exact", "symbolic", "certified", "instances", "Monte Carlo", "experiment", "reading"}
REGISTER = catalogue.load_claims()
STORED = verdicts.load_verdicts()


def same(now, then):
    """Equal numbers: to seven digits. The last ones depend on the machine, of a fit the last
    eight."""
    if isinstance(now, dict):
        return now.keys() == then.keys() and all(same(now[key], then[key]) for key in now)
    if isinstance(now, list):
        return len(now) == len(then) and all(map(same, now, then))
    if isinstance(now, float):
        return math.isclose(now, then, rel_tol=1e-7, abs_tol=1e-9)
    return now == then


@pytest.mark.parametrize("id", REGISTER)
def test_the_verdict_is_the_registered_one_and_what_is_found_is_stored(id):
    """Word for word; the one place where the tests judge as the book has it."""
    claim, then = REGISTER[id], STORED[id]
    now = verdicts.judge_claim(claim)
    assert now.verdict == claim.verdict
    assert dataclasses.replace(now, numbers={}) == dataclasses.replace(then, numbers={})
    assert same(now.numbers, then.numbers)
    assert now.verdict in (*VERDICTS, *([MISPRINT] if claim.part_of else []))
    assert claim.kind in KINDS


def test_the_claims_are_stored_in_the_registers_order():
    """In a process of its own: here topics may have been imported in another order."""
    code = "from rlsvi_study.catalogue import load_claims; print(*load_claims())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert list(STORED) == done.stdout.split()


def test_a_line_is_part_of_a_claim():
    for one in REGISTER.values():
        assert not one.part_of or not REGISTER[one.part_of].part_of
        assert not (one.part_of and one.main), one.id


# --- planted falsehoods -----------------------------------------------------------------------

FROM_TABLES = {id for id, one in REGISTER.items() if one.kind == "experiment"}
FROM_FUNCTIONS = [(id, *lie) for *lie, ids in planted.FUNCTIONS for id in ids.split()]
FROM_ALGEBRA = {id for id, one in REGISTER.items() if one.kind in ("symbolic", "certified")}
FROM_ALGEBRA -= {id for id, *_ in FROM_FUNCTIONS}


def changed(id, *tables):
    """Whether the verdict is another now; that the judge breaks down is no answer. The words, which
    may no longer fit, are left out."""
    one = REGISTER[id]
    lied_to = functools.partial(one.judge, *tables)
    with contextlib.suppress(ArithmeticError, LookupError, ValueError):
        now = claims.run_judge(dataclasses.replace(one, judge=lied_to, found="", evidence=""))
        return now.verdict != one.verdict
    return False


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
# Two claims have false tables of their own, in test_tetris_study.
@pytest.mark.parametrize("id", sorted(FROM_TABLES - {"6.2.sooner", "D.discount"}))
def test_a_table_that_says_otherwise_changes_the_verdict(id):
    assert any(changed(id, tables) for tables in planted.TABLES.values())


@pytest.mark.parametrize("id", sorted(FROM_ALGEBRA))
def test_a_wrong_formula_changes_the_verdict(id, monkeypatch):
    for lies in planted.ALGEBRA.values():
        with monkeypatch.context() as patched:
            planted.plant_algebra(lies, patched)
            if changed(id):
                return
    pytest.fail(f"none of these changes it: {', '.join(planted.ALGEBRA)}")


@pytest.mark.parametrize(
    ("id", "owner", "name", "lie"),
    FROM_FUNCTIONS,
    ids=[f"{id}-{name}" for id, _, name, _ in FROM_FUNCTIONS],
)
def test_a_function_that_lies_changes_the_verdict(id, owner, name, lie, monkeypatch):
    planted.plant_function(owner, name, lie, monkeypatch)
    assert changed(id)


@pytest.mark.parametrize(
    ("printed", "meant", "verdict"),
    [(True, True, HOLDS), (True, False, HOLDS), (False, True, MISPRINT), (False, False, FAILS)],
)
def test_a_slip_is_a_misprint_only_if_what_is_meant_holds(printed, meant, verdict):
    assert misprint_verdict(printed, meant) == verdict


def test_check_exits_1_when_a_verdict_differs(monkeypatch, capsys):
    wrong = dataclasses.replace(REGISTER["3.regret"], judge=lambda: Judgement(FAILS, {}))
    monkeypatch.setitem(claims.REGISTER, "3.regret", wrong)
    assert main(["check", "3.regret"]) == 1
    assert "FAIL 3.regret" in capsys.readouterr().out


def test_check_stores_in_the_registers_order_unless_a_verdict_differs(tmp_path, monkeypatch):
    file, words = (
        tmp_path / verdicts.VERDICTS_FILE,
        ["check", "3.regret", "--store", "--out", str(tmp_path)],
    )
    gone = dataclasses.replace(STORED["3.regret"], id="3.gone")
    others = [one for id, one in STORED.items() if id != "3.regret"]
    file.write_text(verdicts.findings_to_json([gone, *others]))
    assert main(words) == 0
    written = file.read_bytes()
    assert [one["id"] for one in json.loads(written)] == list(REGISTER)
    wrong = dataclasses.replace(REGISTER["3.regret"], judge=lambda: Judgement(FAILS, {}))
    monkeypatch.setitem(claims.REGISTER, "3.regret", wrong)
    assert main(words) == 1
    assert file.read_bytes() == written


def test_every_claim_has_a_chapter():
    book = Path(__file__).parents[2] / "book"
    assert all((book / f"{one.page}.ipynb").exists() for one in REGISTER.values())


def test_every_threshold_is_used_and_every_one_used_is_there():
    source = "".join(
        path.read_text("utf8") for path in (Path(__file__).parents[2] / "rlsvi_study").rglob("*.py")
    )
    assert set(re.findall(r"limits\[['\"]([^'\"]+)['\"]\]", source)) == set(THRESHOLDS)


def test_a_late_threshold_lies_between_its_ends():
    for one in THRESHOLDS.values():
        low, high = one.ends or (one.value, one.value)
        assert low <= one.value <= high
        assert low < high or not one.ends
