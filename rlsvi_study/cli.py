"""The command line: ``rlsvi list | run | plot | check | verify``.

All but ``check`` also take the file of a user's own study (see ``engine/experiment.py``).

Exit status: 0 success, 1 a check failed, runs were not finished or a file could not be used, 2 bad
usage, 130 stopped.

Help and usage errors must not take seconds, so what is slow to import is imported by the verb that
needs it, and names are looked up in the catalogue's own list.
"""

import argparse
import io
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import StudyError
from .catalogue import FIGURES, PAPER_STUDY, Study, load_claims, load_user_study

if TYPE_CHECKING:
    from .engine import Experiment
    from .judging.register import Claim


def _log(message: object) -> None:
    print(f"rlsvi: {message}", file=sys.stderr)


def _usage_error(message: str) -> SystemExit:
    _log(message)
    return SystemExit(2)


def _validate_names(kind: str, names: Iterable[str], valid: Collection[str]) -> list[str]:
    """The names, or all; if one is not valid, say what was probably meant."""
    for name in names:
        if name not in valid:
            from difflib import get_close_matches

            near = get_close_matches(name, valid, n=3, cutoff=0.4) or valid
            raise _usage_error(
                f"there is no {kind} named {name!r}. Did you mean {', '.join(near)}?"
            )
    return list(names) or list(valid)


def _load_study(args: Namespace) -> Study:
    if args.file and not args.file.is_file():
        raise _usage_error(
            f"a study is a file; there is none at {args.file}. Check name and folder."
        )
    return load_user_study(args.file) if args.file else PAPER_STUDY


def _choose_scale(args: Namespace, experiment: "Experiment") -> "tuple[Experiment, str]":
    """The experiment and the scale that is asked for, or else the verb's usual one, or its first."""
    usual = args.usual if args.usual in experiment.scales else next(iter(experiment.scales))
    scale = args.scale or usual
    _validate_names(f"scale of {experiment.name}", [scale], experiment.scales)
    return experiment, scale


def _names(args: Namespace, where: Study) -> list[str]:
    """The names of tables and figures, or all that are drawn from a table."""
    names = _validate_names("experiment", args.names, (*where.experiments, *where.figures))
    if "fig1" in args.names:
        raise _usage_error(
            "fig1 is a diagram of the chain, without a table. Chapter 3 of the book has it."
        )
    return [name for name in dict.fromkeys(names) if where.figures.get(name, (name,))]


def _named_experiments(args: Namespace) -> "list[tuple[Experiment, str]]":
    """The experiments behind the names, each once, and their scale. If a table and a figure have
    the same name, it is the table."""
    where = _load_study(args)
    tables = dict.fromkeys(
        table
        for name in _names(args, where)
        for table in ([name] if name in where.experiments else where.figures[name])
    )
    return [_choose_scale(args, where.experiments[table]) for table in tables]


def _list(args: Namespace) -> int:
    from . import engine
    from .judging import verdicts

    here, damaged = True, False
    try:
        engine.results_folder()
    except StudyError as error:
        here = False
        print(f"Nothing is stored here: {error}\n")
    print("Experiments")
    experiments = _load_study(args).experiments
    for name in _validate_names("experiment", args.names, experiments):
        one = experiments[name]
        print(f"  {name:21} {one.title} ({one.place})")
        for scale, setting in one.scales.items():
            state = f"; {_storage_status(one, scale)}" if here else ""
            damaged |= "DAMAGED" in state
            print(f"  {'':21}   {scale}: {len(setting.tasks)} runs{state}")
    if args.names or args.file:
        return int(damaged)
    print("\nFigures of the paper that are drawn from these")
    for name, sources in FIGURES.items():
        print(f"  {name:21} {', '.join(sources) or 'needs no table'}")
    print("\nClaims")
    known: Mapping[str, Any]
    try:
        known = verdicts.load_verdicts()
    except StudyError:  # nothing is stored here: their topics have them too
        known = load_claims()
    for claim in known.values():
        print(f"  {claim.id:24} {claim.verdict:8} {claim.place}")
    return int(damaged)


def _storage_status(experiment: "Experiment", scale: str) -> str:
    """Whether a table is stored, and how far a sweep is that has not written it."""
    from . import engine

    try:
        finished = engine.finished(experiment, scale)
        runs = f"{finished} of {len(experiment.scales[scale].tasks)} runs are done"
        if not engine.table_path(experiment, scale).with_suffix(".json").exists():
            return runs if finished else "not stored"
        record, _ = engine.read_checked(experiment, scale)
        state = f"stored, {record['computed']['cpu_seconds']:.0f} CPU-s"
        if edited := engine.files_edited_since(experiment, scale):
            state += f", before {', '.join(edited)} was edited"
    except StudyError as error:
        return f"DAMAGED: {error}"
    return f"{state}; {runs} again" if finished else state


def _run(args: Namespace) -> int:
    experiments, status = _named_experiments(args), 0
    from . import engine

    # What the tables' provenance says: to be copied on another machine, so without names of this.
    workers = "--dask ADDRESS" if args.dask else f"--jobs {args.jobs}"
    folder = engine.results_folder()
    if any(scale == "paper" for _, scale in experiments):
        _warn_if_uncommitted(engine.git_revision())
    for experiment, scale in experiments:
        try:
            engine.run_experiment(
                experiment,
                scale,
                folder,
                jobs=args.jobs,
                dask=args.dask,
                again=args.again,
                command=f"{experiment.command_line(scale)} {workers}",
            )
        except StudyError as error:  # of one table; the others have a right to their turn
            status = 1
            _log(error)
    return status


def _warn_if_uncommitted(revision: str) -> None:
    if revision.endswith("+changes"):
        _log(
            f"rlsvi_core or rlsvi_study has uncommitted changes, and what is computed now is recorded "
            f"as of {revision}, which nobody else can check out. Commit them first."
        )


def _warn_if_stale(experiment: "Experiment", scale: str) -> None:
    from . import engine

    if edited := engine.files_edited_since(experiment, scale):
        _log(
            f"{engine.table_path(experiment, scale).name} was computed before {', '.join(edited)} was "
            f"edited. Recompute it with: {experiment.command_line(scale)}"
        )


def _plot(args: Namespace) -> int:
    os.environ["MPLBACKEND"] = "agg"  # pictures go to files, wherever windows would open
    where, status = _load_study(args), 0
    names = _names(args, where)
    from matplotlib import pyplot as plt

    from . import engine, plotting

    for name in names:
        parts = []
        try:
            for table in where.figures.get(name, (name,)):
                experiment, scale = _choose_scale(args, where.experiments[table])
                parts.append(plotting.read_part(experiment, scale, name))
                _warn_if_stale(experiment, scale)
            figure, picture = plotting.draw_tables(parts), io.BytesIO()
        except StudyError as error:  # of one picture; the others have a right to their turn
            status = 1
            _log(error)
            continue
        figure.savefig(picture)
        plt.close(figure)
        suffix = "" if scale == "paper" else f".{scale}"
        target = engine.results_folder() / "figures" / f"{name}{suffix}.png"
        engine.write_atomically({target: picture.getvalue()})
        print(f"{name}: wrote {target}")
    return status


def _select_claims(names: list[str]) -> dict[str, "Claim"]:
    """Those of the sections of these claims, whose judges alone are imported; all if one of them is
    unknown or none is named."""
    some = load_claims({id.rpartition(".")[0] for id in names})
    return some if names and some.keys() >= set(names) else load_claims()


def _check(args: Namespace) -> int:
    import textwrap

    from .judging import verdicts

    found, failed, register = [], 0, _select_claims(args.names)
    for id in _validate_names("claim", args.names, register):
        try:
            one = verdicts.judge_claim(register[id])
        except StudyError as error:
            one = verdicts.unjudged_finding(register[id], str(error))
        found.append(one)
        failed += (other := one.verdict != one.registered)
        if not args.json:
            print(
                f"{'FAIL' if other else 'ok  '} {one.id:24} {one.verdict}"
                + (f" (registered: {one.registered})" if other else "")
            )
            for words in filter(None, (one.found, one.evidence)):
                print(textwrap.indent(textwrap.fill(words, 90), " " * 7))
    print(
        verdicts.findings_to_json(found)
        if args.json
        else f"{len(found)} claims checked, {failed} not as registered"
    )
    if failed:
        return 1
    if args.store:
        known = verdicts.load_verdicts() if args.names else {}
        known |= {one.id: one for one in found}
        target = verdicts.write_verdicts(known[id] for id in load_claims() if id in known)
        _log(f"wrote {target}")
    return 0


def _verify(args: Namespace) -> int:
    experiments, status = _named_experiments(args), 0
    from . import engine

    folder = engine.results_folder()
    parts, passed_by, spent = 0, 0, 0.0
    seconds = 60 * args.minutes / len(experiments)
    for experiment, scale in experiments:
        try:
            check = engine.verify_table(experiment, scale, folder, jobs=args.jobs, seconds=seconds)
        except StudyError as error:  # of one table; the others have a right to their turn
            status = 1
            _log(error)
            continue
        if check.missing:
            passed_by += 1
            print(f"{experiment.name}: not recomputed; {check.missing}", flush=True)
            continue
        parts += len(check.parts)
        spent += check.cpu_seconds
        _warn_if_stale(experiment, scale)
        runs = (
            f"{experiment.name}: {len(check.parts)} of {len(experiment.scales[scale].tasks)} runs "
            f"recomputed, {'all' if check.share == 1 else f'{check.share:.2g}'} of the rows"
        )
        if check.differences:
            status = 1
            print("\n  ".join([f"{runs}, MISMATCH", *check.differences]), flush=True)
        else:
            near = f", {check.within} within the range of the seeds" if check.within else ""
            print(f"{runs}, equal{near}", flush=True)
    tables = f"{len(experiments) - passed_by} of {len(experiments)} tables"
    print(f"{tables}, {parts} runs or beginnings of runs, {spent:.0f} CPU-s")
    return status


class _VersionAction(argparse.Action):
    """Looked up when asked for: that takes longer than all else here."""

    def __call__(self, *_: Any) -> None:
        from importlib.metadata import version

        print(f"rlsvi {version('rlsvi-core')}")
        raise SystemExit(0)


def _parse_count(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, not {text!r:.60}")
    return int(text)


def _parse_minutes(text: str) -> float:
    minutes = float(text)
    if not 0 < minutes < float("inf"):
        raise argparse.ArgumentTypeError(f"a number of minutes above 0, not {text!r:.60}")
    return minutes


def _parse_nonempty(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(
            f"a folder or an address, not {text!r}; is a variable empty?"
        )
    return text


def make_parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="rlsvi", description="Recompute, draw and check the paper.")
    top.add_argument("--version", action=_VersionAction, nargs=0, help="print the version and stop")
    sub = top.add_subparsers(dest="verb", required=True)

    def verb(
        function: Callable[[Namespace], int],
        help: str,
        noun: str,
        names: str,
        scale: str | None = None,
    ) -> argparse.ArgumentParser:
        p = sub.add_parser(function.__name__[1:], help=help, description=help)
        p.add_argument("names", nargs="*", metavar=noun, help=f"{names} (default: all)")
        if scale:
            p.add_argument("--scale", help=f"quick or paper (default: {scale})")
        p.add_argument(
            "--out",
            type=_parse_nonempty,
            help="folder of results (default: the nearest 'results', or the one beside your file)",
        )
        p.set_defaults(function=function, usual=scale)
        return p

    verb(
        _list,
        "experiments and claims, with their size and whether they are stored",
        "EXPERIMENT",
        "names, or FILE.py, a study of your own",
    )
    run = verb(
        _run,
        "compute experiments; running again resumes",
        "EXPERIMENT",
        "names, or numbers of figures, or FILE.py, a study of your own, and names in it",
        "quick",
    )
    run.add_argument(
        "--again",
        action="store_true",
        help="recompute what this code has already stored with these settings",
    )
    where = run.add_mutually_exclusive_group()
    where.add_argument(
        "--dask", metavar="ADDRESS", type=_parse_nonempty, help="scheduler of a Dask cluster"
    )
    verb(
        _plot,
        "draw stored tables",
        "FIGURE",
        "fig2 … fig14, or experiments, or FILE.py and names in it",
        "paper",
    )
    check = verb(_check, "judge the paper's claims again", "CLAIM", "names")
    check.add_argument("--json", action="store_true", help="print everything, for programs")
    check.add_argument(
        "--store",
        action="store_true",
        help="write what was found to verdicts.json, from which the book is built",
    )
    verify = verb(
        _verify,
        "recompute random parts of stored tables, and compare",
        "EXPERIMENT",
        "names, or FILE.py and names in it",
        "paper",
    )
    verify.add_argument(
        "--minutes",
        type=_parse_minutes,
        default=1.0,
        metavar="M",
        help="CPU time to spend, about, on all of them (default: 1)",
    )
    for p in (where, verify):
        p.add_argument("--jobs", type=_parse_count, default=1, help="local processes")
    return top


def _discard_output() -> None:
    """What is still to be printed; Python would otherwise try once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _signals_as_interrupt() -> Iterator[None]:
    """A polite kill and a closed terminal stop a command as Ctrl-C does: its workers end too."""
    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ends = [end for end in ends if signal.getsignal(end) is signal.SIG_DFL]  # nohup ignores one
    for end in ends:
        signal.signal(end, signal.default_int_handler)
    try:
        yield
    finally:
        for end in ends:
            signal.signal(end, signal.SIG_DFL)


def main(argv: list[str] | None = None) -> int:
    for fd, name in enumerate(("stdout", "stderr"), start=1):
        if getattr(sys, name) is None:  # closed, as by >&-, here and for workers
            os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
            os.set_inheritable(fd, True)
            setattr(sys, name, open(fd, "w", encoding="utf8"))  # noqa: SIM115, it stays
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal without ≤ and σ shows their numbers
        sys.stdout.reconfigure(errors="backslashreplace")
    args = make_parser().parse_args(argv)
    own = args.verb != "check" and args.names[:1] and args.names[0].endswith(".py")
    args.file = Path(args.names.pop(0)) if own else None
    try:
        with ExitStack() as surroundings:
            surroundings.enter_context(_signals_as_interrupt())
            if args.out or args.file:
                from .engine import use_results_folder

                folder = args.out or args.file.parent / "results"
                surroundings.enter_context(use_results_folder(Path(folder)))
            status: int = args.function(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        _discard_output()
        return 0
    except KeyboardInterrupt:
        print(
            "\nrlsvi: stopped; finished runs are kept, run the same command to resume",
            file=sys.stderr,
        )
        return 130
    except ImportError as error:
        if error.name is None or error.name.startswith("rlsvi"):
            raise
        _log(
            f"the studies need {error.name}, which cannot be imported ({error}). Try: pip install "
            f"'rlsvi-core[study]'."
        )
        return 1
    except StudyError as error:
        _log(error)
        return 1
    except OSError as error:
        _log(
            f"the system refused: {error}. What was stored and the runs that are finished are "
            f"kept; fix that and run the same command again."
        )
        try:
            sys.stdout.flush()
        except OSError:  # it was the printing that failed
            _discard_output()
        return 1
