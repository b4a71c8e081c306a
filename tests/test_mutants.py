"""The search for missing tests finds one that is missing, and believes one that is there."""

import os
import subprocess

import mutants
import pytest

pytestmark = pytest.mark.skipif("PYTEST_XDIST_WORKER" in os.environ, reason="trials are forks, and "
                                "a worker has threads: `make test` runs these by themselves")

TOY = b'''\
def larger(a, b):
    """Of two numbers, the larger: a - b > 0."""
    if a - b > 0:
        return a
    return b


def quantile(x: int, level=0.975):
    x += 1
    raise ValueError(f"{x + 1} is not {level}")
'''


def changes(source):
    return {(one.line, one.change) for one in mutants.mutants("toy.py", source)}


def test_every_kind_of_change_is_made_and_texts_are_left_alone():
    assert changes(TOY) == {
        (3, "a - b > 0 → not (a - b > 0)"), (3, "> → >="), (3, "- → +"), (3, "0 → 1"),
        (4, "return a → return None"), (5, "return b → return None"),
        (8, "0.975 → 0.9875"), (9, "+ → -"), (9, "x += 1 → pass"), (9, "1 → 2")}


@pytest.mark.parametrize(("line", "expected"), [
    ("x = f(a, b)", {"a, b → b, a"}), ("f(x)", {"f(x) → pass"}), ("x = not a", {"not a → a"}),
    ("x = a and b", {"and → or"}), ("x = -a", {"-a → a"}), ("x = True", {"True → False"}),
    ("x = min(a)", {"min → max"}), ("x = a.max()", {"max → min"}), ("x = HOLDS", {"HOLDS → FAILS"}),
    ("x = a is not b", {"is not → is"}), ("x = (a) * (b)", {"* → /"}),
    ("x = 1e-9", {"1e-9 → 0.001"}), ("x: Literal[1] = a", set()), ("x = 'a' + b", set()),
    ("@f(1)\ndef x(): ...", set())])
def test_a_change_is_named(line, expected):
    assert {change for _, change in changes(line.encode())} == expected


def test_a_mutant_differs_from_its_file_in_one_place_only():
    for one in mutants.mutants("toy.py", TOY):
        start, stop = one.place
        new = mutants.mutated(TOY, one)
        assert new != TOY
        assert new.startswith(TOY[:start])
        assert new.endswith(TOY[stop:])


def test_compiled_code_is_known():
    source = b"@jit\ndef f(x):\n    return x\ndef g(x):\n    return x\n"
    assert [one.numba for one in mutants.mutants("toy.py", source)] == [True, False]


def test_the_sample_is_the_same_for_everybody_and_does_not_move_with_the_lines():
    drawn = [one.id for one in mutants.sample(mutants.mutants("toy.py", TOY), 4)]
    assert drawn == [one.id for one in mutants.sample(
        mutants.mutants("toy.py", b"\n\nimport os\n" + TOY), 4)]
    assert len(set(drawn)) == 4


LISTS_OF_NAMES = {"rlsvi_core/optimism/__init__.py"}  # and what to install if one is missing


def test_of_every_module_some_are_drawn():
    sizes = [len(mutants.sample(mutants.mutants(file, (mutants.ROOT / file).read_bytes()),
                                mutants.OTHERS)) for file in mutants.COVERS]
    assert sum(sizes) + len(mutants.UNTOUCHABLE) * (mutants.FIRST - mutants.OTHERS) >= 150
    assert min(sizes) > 0
    modules = {path.relative_to(mutants.ROOT).as_posix()
               for path in (mutants.ROOT / "rlsvi_core").rglob("*.py")}
    assert {file for file in modules - set(mutants.COVERS)
            if mutants.mutants(file, (mutants.ROOT / file).read_bytes())} == LISTS_OF_NAMES


@pytest.fixture
def toy(tmp_path):
    """A repository with a module, and a test that has never seen two equal numbers."""
    root = tmp_path / "root"
    (root / "tests").mkdir(parents=True)
    (root / "toy.py").write_bytes(TOY[:TOY.index(b"def quantile")])
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\npythonpath = ['.']\n")
    test = root / "tests/test_toy.py"
    test.write_text("from toy import larger\n\n\ndef test_larger():\n"
                    "    assert larger(1, 3) == larger(3, 1) == 3\n"
                    "    assert larger(1.5, 1) == 1.5\n")
    subprocess.run(["git", "init", "-q", root], check=True)
    return root, test, lambda: mutants.Trials(root, tmp_path / "cache", {"toy.py": "toy"})


def answers(trials):
    return {one.change: trials.known(one)[-1]["answer"] if trials.known(one) else None
            for one in mutants.mutants("toy.py", trials.read("toy.py"))}


def test_survivors_are_listed_and_tried_again_when_their_tests_change(toy, capsys):
    root, test, begin = toy
    before, trials = (root / "toy.py").read_bytes(), begin()
    drawn = mutants.mutants("toy.py", before)
    for one in drawn:
        trials.try_out(one)
    assert {change for change, answer in answers(trials).items() if answer == "survived"} == {
        "> → >="}
    assert set(answers(trials).values()) == {"survived", "killed"}
    assert (root / "toy.py").read_bytes() == trials.read("toy.py") == before
    assert mutants.report(trials, drawn, drawn) == 1
    said = capsys.readouterr().out
    assert "survived: toy.py:3: > → >=: if a - b > 0:" in said
    assert "6 mutants drawn, 0 equivalent, 0 not tried yet; killed 5, timeout 0, survived 1" in said
    assert answers(begin()) == answers(trials)  # from the journal
    test.write_text(test.read_text() + "    assert larger(True, 1) is 1\n")
    assert {change for change, answer in answers(begin()).items() if answer is None} == {"> → >="}


def test_a_mutant_that_hangs_is_stopped(toy, monkeypatch):
    root, test, begin = toy
    (root / "toy.py").write_text("def f(n):\n    while n > 0:\n        n -= 1\n    return n\n")
    test.write_text("from toy import f\n\n\ndef test_f():\n    assert f(3) == 0\n")
    monkeypatch.setattr(mutants, "PATIENCE", 3)
    trials = begin()
    (endless,) = (one for one in mutants.mutants("toy.py", trials.read("toy.py"))
                  if one.change == "n -= 1 → pass")
    assert trials.try_out(endless)["answer"] == "timeout"


def test_a_killer_must_pass_on_the_tree_as_it_is(toy):
    _, test, begin = toy
    test.write_text("import pytest\n\n\n@pytest.mark.parametrize('x', ['in two words'])\n"
                    "def test_nothing(x):\n    assert False\n")
    trials = begin()
    with pytest.raises(SystemExit, match=r"test_nothing\[in two words\] fails on the tree"):
        trials.try_out(mutants.mutants("toy.py", trials.read("toy.py"))[0])


def test_an_equivalent_mutant_that_is_gone_is_reported(toy, monkeypatch):
    *_, begin = toy
    monkeypatch.setattr(mutants, "EQUIVALENT", {
        "toy.py: if a - b > 0:: > → >=": "equal numbers are equal",
        "toy.py: if b - a > 0:: > → >=": "there was such a line"})
    assert mutants.stale(begin()) == ["toy.py: if b - a > 0:: > → >="]
