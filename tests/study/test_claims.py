"""Every verdict is recomputed; a wrong one is reported."""

import ast
import contextlib
import dataclasses
import inspect
import math
import re
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import planted
import pytest
from test_prose import NAMED, NUMBER, PAPER

from rlsvi_study import catalogue, verdicts
from rlsvi_study import register as claims
from rlsvi_study.chain import claims as chain_claims
from rlsvi_study.choices import FIVE, MAIN, THRESHOLDS
from rlsvi_study.cli import main
from rlsvi_study.register import (
    CONSISTENT,
    FAILS,
    HOLDS,
    KINDS,
    MISPRINT,
    OURS,
    PARTLY,
    VERDICTS,
    Evidence,
)
from rlsvi_study.tetris import runs as tetris

REGISTER = catalogue.claims()
STORED = verdicts.stored()


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


@pytest.mark.parametrize("claim", REGISTER.values(), ids=REGISTER)
def test_the_verdict_is_the_registered_one_and_what_is_found_is_stored(claim):
    """Word for word; the one place where the tests judge as the book has it."""
    now, then = verdicts.judged(claim), STORED[claim.id]
    assert now.verdict == claim.verdict
    assert dataclasses.replace(now, numbers={}) == dataclasses.replace(then, numbers={})
    assert same(now.numbers, then.numbers)
    assert now.verdict in (*VERDICTS, *([MISPRINT] if claim.part_of else []))
    assert claim.kind in KINDS
    assert claim.statement.endswith(".")
    assert now.found.endswith(".")


def test_the_claims_are_stored_in_the_registers_order():
    assert list(STORED) == list(REGISTER)


def test_a_topic_is_imported_when_a_claim_of_its_is_asked_for():
    """And each is named for the sections that it has claims of."""
    for id, one in REGISTER.items():
        _, place, *_ = one.judge.__module__.split(".")  # "register", if it is a remark
        assert place in (*claims.TOPICS[id.rpartition(".")[0]], "register")
    code = """
import sys
from rlsvi_study.register import REGISTER
REGISTER["6.2.better"]
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "rlsvi_study.tetris.claims" in loaded
    assert not loaded & {"sympy", "flint", "statsmodels", "rlsvi_study.chain.claims"}


ENTRIES = {id: one for id, one in STORED.items() if not one.part_of}


def test_the_register_is_of_a_size_that_one_can_read():
    assert 75 <= len(ENTRIES) <= 100
    assert len(MAIN) == 20
    assert all(not REGISTER[id].part_of for id in MAIN)


def test_a_line_is_part_of_a_claim():
    for one in REGISTER.values():
        assert not one.part_of or not REGISTER[one.part_of].part_of
        assert one.part_of or one.paper != OURS, one.id


# --- words ------------------------------------------------------------------------------------

SETTING = re.compile(  # N = 2 to 100, ρ from 0.96 to 1, σ above 0.1, 50-chain, [0, 1]
    r"[\w²³*̃]+ (?:= \w+ )?(?:[=≤≥<>]|from|above) ?\d[\d.]*(?: to \d[\d.]*)?|\d+-\w+|\[[^\]]*\]"
)
OF = re.compile(r"\d+ of (?:the )?\d+")
POWER = re.compile(r"(?:[\d.]+ ?· ?)?\d+(?:\^\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)|\d+/\d+")  # one number, not two
IN_PARENTHESES = re.compile(r" ?\([^()]*\)")


def counted(sentence):
    """The sentence without what is in parentheses and what names or sets something; so many of so
    many is one number."""
    bare = IN_PARENTHESES.sub("", sentence.replace("\u202f", " "))
    return OF.sub("OF", NAMED.sub(" ", SETTING.sub(" ", bare)))


def numbers_of(sentence):
    """A number with its interval, or so many of so many, is one."""
    bare = POWER.sub("7", counted(sentence))
    return bare.count("OF") + len(NUMBER.findall(bare))


def without_uncertainty(sentence):
    """The measured numbers that have neither an interval nor "of how many": none may be left, but
    the paper's own and powers of ten, which stand for a computed size."""
    with_interval = NUMBER.pattern + r"[^\d()]{0,30} \([^()]*\d(?:–| to )[−+\d][^()]*\)"
    rest = re.sub(with_interval, " ", sentence.replace("\u202f", " "))
    return [one for one in NUMBER.findall(POWER.sub(" ", counted(rest))) if one not in PAPER]


@pytest.mark.parametrize(
    ("sentence", "count", "bare"),
    [
        ("It takes 286 episodes (248–350) on the 50-chain, 3183 in the paper.", 2, []),
        (
            "It takes 286 episodes (248–350), then 12, in 41 of 50 runs (figure 2, N = 50).",
            3,
            ["12"],
        ),
        ("By Theorem 1 with λ = 1 it holds.", 0, []),
        ("It is −213 (−236 to −190) likes.", 1, []),
    ],
)
def test_numbers_are_counted_and_want_their_uncertainty(sentence, count, bare):
    assert numbers_of(sentence) == count
    assert without_uncertainty(sentence) == bare


@pytest.mark.parametrize("one", ENTRIES.values(), ids=ENTRIES)
def test_what_was_found_is_one_plain_sentence_and_one_line_of_evidence(one):
    assert not re.search(r"[a-z)\d]\. [A-Z]", one.found), "one sentence"
    assert numbers_of(one.found) <= 2
    assert len(one.found.split()) <= 32
    assert len(one.evidence.split()) <= 45
    assert len(one.statement.split()) <= 30


@pytest.mark.parametrize("id", MAIN)
def test_every_measured_number_of_the_twenty_has_its_uncertainty(id):
    if STORED[id].kind in ("experiment", "Monte Carlo"):
        assert without_uncertainty(STORED[id].found) == []


@pytest.mark.parametrize("subject", FIVE)
def test_a_sentence_of_the_start_page_is_short_and_its_numbers_have_intervals(subject):
    sentence = verdicts.five(STORED)[subject]
    assert numbers_of(sentence) <= 2
    assert without_uncertainty(sentence) == []
    assert len(sentence) <= 165  # with its subject and badges two lines on a desk
    assert set(FIVE[subject].claims.values()) <= set(MAIN)


def test_the_start_page_has_exploration_theorem_conjecture_tetris_and_recommender():
    assert [next(iter(one.claims.values())).rpartition(".")[0] for one in FIVE.values()] == [
        "6.1",
        "5",
        "B",
        "6.2",
        "6.3",
    ]


# --- judges -----------------------------------------------------------------------------------


def only_verdict(judge):
    """The verdict if it is a remark's, or if every return of the judge names the same one outright,
    as in ``return Evidence(HOLDS, …)``; otherwise it is computed."""
    if judge.__qualname__.startswith("remark."):
        return judge().verdict
    if judge.__name__ == "<lambda>":  # a row of a table
        return "named" if "Evidence" in judge.__code__.co_names else None
    tree = ast.parse(textwrap.dedent(inspect.getsource(judge)))
    named = [
        ast.unparse(node.value.args[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Return)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) == "Evidence"
    ]
    returns = sum(isinstance(node, ast.Return) for node in ast.walk(tree))
    same = len(set(named)) == 1 and len(named) == returns
    return named[0] if same and named[0].isupper() else None


def test_a_judge_that_can_only_say_one_thing_says_so_by_its_kind():
    constant = {id for id, claim in REGISTER.items() if only_verdict(claim.judge)}
    assert {"G.gamma-index", "1.lower-bound"} <= constant  # the test sees them
    assert {REGISTER[id].kind for id in constant} == {"reading"}


def labels(judge):
    """Every verdict that the code of a judge can come to."""
    found, seen, todo = set(), set(), [judge]
    reach = {
        "parts": {HOLDS, PARTLY, FAILS},
        "unless": {HOLDS, FAILS},
        "shown": {HOLDS, FAILS},
        "slip": {HOLDS, MISPRINT, FAILS},
    }
    names = {
        name: getattr(claims, name)
        for name in ("HOLDS", "CONSISTENT", "PARTLY", "FAILS", "MISPRINT", "CONTRADICTED")
    }
    while todo:
        one = todo.pop()
        for name in one.__code__.co_names:
            found |= {names[name]} if name in names else reach.get(name, set())
            inner = one.__globals__.get(name)
            if (
                inspect.isfunction(inner)
                and inner.__module__.startswith("rlsvi_study.")
                and (name not in seen and name not in reach)
            ):
                seen.add(name)
                todo.append(inner)
        todo += [
            type(judge)(code, one.__globals__)
            for code in one.__code__.co_consts
            if inspect.iscode(code) and not code.co_freevars
        ]
    return found


def test_a_judge_that_computes_can_say_that_it_holds_and_that_it_does_not():
    short = {
        id: {HOLDS, FAILS} - labels(one.judge)
        for id, one in REGISTER.items()
        if one.kind != "reading" and one.verdict != MISPRINT
    }
    assert not {id: missing for id, missing in short.items() if missing}


def test_an_id_that_ends_in_a_dot_is_completed_by_the_name(monkeypatch):
    monkeypatch.setattr(claims, "REGISTER", {})

    @claims.claim("9.", "Section 9", "none", "exact", HOLDS)
    def two_words():
        """A statement on
        two lines."""
        return claims.unless(False, "It holds.", wrong=0)

    [(id, one)] = claims.REGISTER.items()
    assert (id, one.id, one.statement) == ("9.two-words", id, "A statement on two lines.")
    assert one.judge() == (HOLDS, "It holds.", {"wrong": 0}, "")


# --- planted falsehoods -----------------------------------------------------------------------

CANNOT = {id for id, one in REGISTER.items() if one.judge.__qualname__.startswith("remark.")}
READ_TABLES = {
    id for id, one in REGISTER.items() if "tables" in inspect.signature(one.judge).parameters
}
FROM_TABLES = {id for id, one in REGISTER.items() if one.kind == "experiment"}
FROM_FUNCTIONS = [(id, *lie) for *lie, ids in planted.FUNCTIONS for id in ids.split()]
FROM_ALGEBRA = (
    REGISTER.keys()
    - CANNOT
    - FROM_TABLES
    - planted.CONSTANTS.keys()
    - {id for id, *_ in FROM_FUNCTIONS}
)


def changed(id, *tables):
    """Whether the judge now says something else; that it breaks down is no answer. What thresholds
    make of its verdict is left out on both sides."""
    with contextlib.suppress(ArithmeticError, LookupError, ValueError):
        return REGISTER[id].judge(*tables).verdict != as_judged(id)
    return False


@cache
def as_judged(id):
    one = REGISTER[id]
    return one.judge().verdict if STORED[id].turned else one.verdict


def test_a_claim_that_no_falsehood_can_change_says_so_by_its_kind():
    assert {REGISTER[id].kind for id in CANNOT} == {"reading"}
    assert {REGISTER[id].kind for id in FROM_ALGEBRA} == {"symbolic", "certified"}
    assert len(CANNOT) < 0.15 * len(REGISTER)


def test_a_judge_is_given_the_tables_it_reads():
    assert FROM_TABLES < READ_TABLES
    folder = Path(claims.__file__).parent
    assert not [file for file in folder.glob("*/*.py") if "engine.load" in file.read_text("utf8")]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("id", sorted(FROM_TABLES))
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


@pytest.mark.parametrize("id", planted.CONSTANTS)
def test_another_constant_changes_the_verdict(id):
    one = REGISTER[id]
    assert one.judge(**planted.CONSTANTS[id]).verdict != one.verdict


@pytest.mark.parametrize(
    ("printed", "meant", "verdict"),
    [(True, True, HOLDS), (True, False, HOLDS), (False, True, MISPRINT), (False, False, FAILS)],
)
def test_a_slip_is_a_misprint_only_if_what_is_meant_holds(printed, meant, verdict):
    assert claims.slip(printed, meant) == verdict


@pytest.mark.parametrize(
    ("id", "module", "name", "wrong", "verdict"),
    [
        ("1.exponential", chain_claims, "arrival_probability", lambda N: 0.5, PARTLY),
        (
            "2.coherent",
            chain_claims.features,
            "agnostic",
            lambda Q, K, rho, rng: chain_claims.features.coherent(Q, K, rng),
            FAILS,
        ),
        ("C.plateau", chain_claims.scaling, "compare_laws", lambda *of: {"linear": 99.0}, FAILS),
    ],
)
def test_a_planted_falsehood_changes_the_verdict(id, module, name, wrong, verdict, monkeypatch):
    monkeypatch.setattr(module, name, wrong)
    assert REGISTER[id].judge().verdict == verdict != REGISTER[id].verdict


def test_check_exits_1_when_a_verdict_differs(monkeypatch, capsys):
    wrong = dataclasses.replace(REGISTER["3.value"], judge=lambda: Evidence(FAILS, "No.", {}))
    monkeypatch.setitem(REGISTER, "3.value", wrong)
    assert main(["check", "3.value"]) == 1
    assert "FAIL 3.value" in capsys.readouterr().out


def test_the_sections_add_up_to_the_tally():
    counts, tally = verdicts.by_section(STORED.values()), verdicts.tally(STORED.values())
    for v in VERDICTS:
        assert (
            tally["the twenty"][v] + tally["the others"][v]
            == sum(section[v] for section in counts.values())
            == sum(one.verdict == v for one in ENTRIES.values())
        )
    assert sum(tally["the twenty"].values()) == 20
    names = list(counts)
    assert names.index("Section 6.3") < names.index("Section 7") < names.index("Appendix B")


def test_every_claim_has_a_chapter():
    book = Path(__file__).parents[2] / "book"
    assert all((book / f"{one.page}.ipynb").exists() for one in REGISTER.values())
    assert REGISTER["6.1.rho"].page == "06b-agnostic"
    assert REGISTER["6.psrl"].page == "05-tabular"


def test_every_threshold_is_used_and_every_one_used_is_there():
    source = "".join(
        path.read_text("utf8") for path in (Path(__file__).parents[2] / "rlsvi_study").rglob("*.py")
    )
    assert set(re.findall(r'limit\("([^"]+)"\)', source)) == set(THRESHOLDS)
    assert tetris.LEARNED == THRESHOLDS["LEARNED"].value  # its figures have it too


def test_a_late_threshold_lies_within_its_range():
    for one in THRESHOLDS.values():
        low, high = one.range or (one.value, one.value)
        assert low <= one.value <= high
        assert low < high or not one.range


def test_within_its_range_no_threshold_decides_between_yes_and_no():
    """Where one does, the verdict says no more than "consistent with", or "in part"."""
    turned = {id: one.verdict for id, one in STORED.items() if one.turned}
    assert set(turned.values()) <= {CONSISTENT, PARTLY}
    assert {id for id, one in STORED.items() if one.verdict == CONSISTENT} <= set(turned) | {
        "D.variance"
    }  # whose interval has both signs


# Numbers in comparisons of the judges that are the paper's, a proof's or a unit's, no threshold.
MATHEMATICS = {0.5, 0.01, 0.25}
ROUNDING = 1e-6


def test_no_judge_has_a_threshold_of_its_own():
    """Those that are no whole number, at least; for numerical agreement at most 1e-6 may stand."""
    folder, own = Path(claims.__file__).parent, set()
    for path in (
        *folder.glob("*/claims.py"),
        *folder.glob("theory/*ed.py"),
        folder / "theory/theorem1.py",
    ):
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            if isinstance(node, ast.Compare):
                own |= {
                    part.value
                    for side in (node.left, *node.comparators)
                    for part in (side, getattr(side, "left", 0), getattr(side, "right", 0))
                    if isinstance(part, ast.Constant)
                    and isinstance(part.value, float)
                    and part.value > ROUNDING
                    and part.value % 1
                }
    assert own == MATHEMATICS, own ^ MATHEMATICS


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("-358 of 1.31e+04, 1e-06", "−358 of 1.31·10⁴, 10⁻⁶"),
        ("10^15, 3.1e-05", "10¹⁵, 3.1·10⁻⁵"),
        ("95% (-1 to +2)", "95% (−1 to +2)"),
        ("2–3, x-1, B.conjecture-meant", "2–3, x-1, B.conjecture-meant"),
    ],
)
def test_numbers_are_typeset(text, printed):
    assert claims.typeset(text) == printed
