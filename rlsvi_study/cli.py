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
from collections.abc import Collection, Iterable
from contextvars import copy_context
from pathlib import Path
from typing import Any

from . import StudyError, value_of
from .catalogue import FIGURES, THE_PAPERS, Study, claims, study

Words = argparse.Namespace


def _say(message: object) -> None:
    print(f"rlsvi: {message}", file=sys.stderr)


def _usage(message: str) -> SystemExit:
    _say(message)
    return SystemExit(2)


def _known(kind: str, names: Iterable[str], valid: Collection[str]) -> list[str]:
    """The names, or all; if one is not valid, say what was probably meant."""
    for name in names:
        if name not in valid:
            from difflib import get_close_matches

            near = get_close_matches(name, valid, n=3, cutoff=0.4) or valid
            raise _usage(f"there is no {kind} named {name!r}. Did you mean {', '.join(near)}?")
    return list(names) or list(valid)


def _study(args: Words) -> Study:
    if args.file and not args.file.is_file():
        raise _usage(f"a study is a file; there is none at {args.file}. Check name and folder.")
    return study(args.file) if args.file else THE_PAPERS


def _asked(args: Words, one: Any) -> tuple[Any, str]:
    """The experiment as it is to be, with what is set, and the scale."""
    scale = args.scale or (args.usual if args.usual in one.scales else next(iter(one.scales)))
    _known(f"scale of {one.name}", [scale], one.scales)
    _known(f"setting of {one.name}", values := dict(args.set), one.settable)
    return one.having(**values), scale


def _experiments(args: Words) -> list[tuple[Any, str]]:
    """The experiments behind the names, each once, and their scale."""
    where = _study(args)
    known = _known("experiment", args.names, (*where.experiments, *where.figures))
    tables = dict.fromkeys(table for name in known for table in where.figures.get(name, (name,)))
    if not tables:
        raise _usage("fig1 is a drawing without a table. See it with: rlsvi plot fig1")
    return [_asked(args, where.experiments[table]) for table in tables]


def _list(args: Words) -> int:
    from . import engine, verdicts

    here, damaged = True, 0
    try:
        engine.results_folder()
    except StudyError as error:
        here = False
        print(f"Nothing is stored here: {error}\n")
    print("Experiments")
    experiments = _study(args).experiments
    for one in map(experiments.get, _known("experiment", args.names, experiments)):
        print(f"  {one.name:21} {one.title} ({one.place})")
        for scale, setting in one.scales.items():
            state = f"; {_state(one, scale)}" * here
            damaged |= "DAMAGED" in state
            print(f"  {'':21}   {scale}: {len(setting.tasks)} runs{state}")
    if args.names or args.file:
        return int(damaged)
    print("\nFigures of the paper that are drawn from these")
    for name, sources in FIGURES.items():
        print(f"  {name:21} {', '.join(sources) or 'needs no table'}")
    print("\nClaims")
    try:
        known = verdicts.stored()
    except StudyError:  # nothing is stored here: their topics have them too
        known = claims()
    for claim in known.values():
        print(f"  {claim.id:24} {claim.verdict:20} {claim.place}")
    return int(damaged)


def _state(experiment: Any, scale: str) -> str:
    from . import engine

    try:
        done = engine.finished(experiment, scale)
        runs = f"{done} of {len(experiment.scales[scale].tasks)} runs are done" * (done > 0)
        if not engine.path(experiment, scale).with_suffix(".json").exists():
            return runs or "not stored"
        record, _ = engine.stored(experiment, scale)
        edited = ", before its file was edited" * engine.stale(experiment, scale)
    except StudyError as error:
        return f"DAMAGED: {error}"
    return f"stored, {record['computed']['cpu_seconds']:.0f} CPU-s{edited}" + f"; {runs} again" * (
        done > 0
    )


def _run(args: Words) -> int:
    experiments, failed = _experiments(args), 0
    from . import engine

    # What the tables' provenance says: to be copied on another machine, so without names of this.
    where = "--dask ADDRESS" if args.dask else f"--jobs {args.jobs}"
    folder = engine.results_folder()
    for one, scale in experiments:
        if not args.again and engine.current(one, scale, folder):
            print(
                f"{one.name}: already stored, by this code, in {engine.path(one, scale, folder)}; "
                f"--again recomputes it"
            )
            continue
        if not args.again and (other := engine.other_file(one, scale, folder)):
            failed = 1
            _say(
                f"{engine.path(one, scale, folder)} was computed by {other} and would be lost. "
                f"Give the experiment another name, name another folder with --out, or overwrite "
                f"it with --again."
            )
            continue
        try:
            target = engine.sweep(
                one,
                scale,
                folder,
                jobs=args.jobs,
                dask=args.dask,
                command=f"{engine.command(one, scale)} {where}",
            )
            print(f"{one.name}: wrote {target}")
        except engine.RunError as error:
            failed = 1
            _say(error)
    return failed


def _say_if_stale(args: Words, one: Any, scale: str) -> None:
    from . import engine

    if engine.stale(one, scale):
        _say(
            f"{engine.path(one, scale).name} was computed before {args.file} was edited. "
            f"Recompute it with: {engine.command(one, scale)}"
        )


def _plot(args: Words) -> int:
    os.environ["MPLBACKEND"] = "agg"  # pictures go to files, wherever windows would open
    where = _study(args)
    if not where.drawn:
        raise StudyError(
            f"{args.file} must define DRAW to be drawn, a dict of functions from a "
            f"table to a figure; it has none. Add one under an experiment's name."
        )
    names = _known("figure", args.names, where.drawn)
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    from . import engine

    pictures = {name: drawing for asked in names for name, drawing in where.drawings(asked).items()}
    for name, (sources, draw) in pictures.items():
        tables = [_asked(args, where.experiments[source]) for source in sources]
        file = (
            engine.path(*tables[0]).name.replace(sources[0], name, 1) if tables else f"{name}.csv"
        )
        target = (engine.results_folder() / file).with_suffix(".png")
        stored, picture = [engine.load(*table) for table in tables], io.BytesIO()
        for table in tables:
            _say_if_stale(args, *table)
        try:
            figure = getattr(draw(*stored), "figure", None)
            if isinstance(figure, Figure):
                figure.savefig(picture, dpi=150)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise StudyError(
                f"{name}: what draws its table raised {error!r}. Fix it, or the "
                f"table; in Python, engine.load gives it to you."
            ) from error
        if not isinstance(figure, Figure):
            raise StudyError(
                f"a drawing must return a figure, or what seaborn returns; that of "
                f"{name} does not. Let it end in 'return'."
            )
        plt.close(figure)
        engine.write({target: picture.getvalue()})
        print(f"{name}: wrote {target}")
    return 0


def _check(args: Words) -> int:
    import textwrap

    from . import verdicts
    from .register import REGISTER

    for name in args.names:
        try:
            REGISTER[name]
        except KeyError:
            _known("claim", [name], claims())
    found, failed = [], 0
    for claim in [REGISTER[name] for name in args.names] or claims().values():
        try:
            one = verdicts.judged(claim)
        except StudyError as error:
            one = verdicts.not_judged(claim, str(error))
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
        verdicts.as_json(found)
        if args.json
        else f"{len(found)} claims checked, {failed} not as registered"
    )
    if failed:
        return 1
    if args.store:
        kept = verdicts.stored() if args.names else {}
        target = verdicts.write((kept | {one.id: one for one in found}).values())
        _say(f"wrote {target}")
    return 0


def _verify(args: Words) -> int:
    experiments, failed = _experiments(args), 0
    from . import engine

    folder, parts, spent = engine.results_folder(), 0, 0.0
    for one, scale in experiments:
        try:
            found = engine.verify(
                one, scale, folder, jobs=args.jobs, seconds=60 * args.minutes / len(experiments)
            )
        except StudyError as error:  # of one table; the others have a right to their turn
            failed = 1
            _say(error)
            continue
        parts, spent = parts + len(found.parts), spent + found.cpu_seconds
        _say_if_stale(args, one, scale)
        runs = (
            f"{len(found.parts)} of {len(one.scales[scale].tasks)} runs recomputed, "
            f"{found.share:.2g} of the rows"
        )
        near = f", {found.within} within the range of the seeds" * (found.within > 0)
        print(
            f"{one.name}: " + "\n  ".join([f"{runs}, MISMATCH", *found.differences])
            if found.differences
            else f"{one.name}: {runs}, equal{near}",
            flush=True,
        )
        failed |= bool(found.differences)
    print(f"{len(experiments)} tables, {parts} runs or beginnings of runs, {spent:.0f} CPU-s")
    return int(failed)


class _Version(argparse.Action):
    """Looked up when asked for: that takes longer than all else here."""

    def __call__(self, *_: Any) -> None:
        from importlib.metadata import version

        print(f"rlsvi {version('rlsvi-core')}")
        raise SystemExit(0)


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 40 or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, not {text!r:.60}")
    return int(text)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= 1e6:
        raise argparse.ArgumentTypeError(f"a number of minutes above 0, not {text!r:.60}")
    return minutes


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"NAME=VALUE, such as lam=2, not {text!r}")
    return name, value_of(value)


def _address(text: str) -> str:
    if not (text.strip() and text.isprintable()):
        raise argparse.ArgumentTypeError(f"an address such as tcp://10.0.0.1:8786, not {text!r}")
    return text


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="rlsvi", description="Recompute, draw and check the paper.")
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    sub = top.add_subparsers(dest="verb", required=True)

    def verb(function, help, noun, names, scale=None):
        p = sub.add_parser(function.__name__[1:], help=help, description=help)
        p.add_argument("names", nargs="*", metavar=noun, help=f"{names} (default: all)")
        if scale:
            p.add_argument("--scale", help=f"quick or paper (default: {scale})")
            p.add_argument(
                "--set",
                metavar="NAME=VALUE",
                type=_setting,
                action="append",
                default=[],
                help="another value of a constant, one of an axis, or a "
                "number of seeds; such a table has a name of its own",
            )
        p.add_argument(
            "--out",
            type=Path,
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
        "--dask", metavar="ADDRESS", type=_address, help="scheduler of a Dask cluster"
    )
    verb(
        _plot,
        "draw figures from stored tables",
        "FIGURE",
        "fig1 … fig14, or experiments, or FILE.py and names in it",
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
        type=_minutes,
        default=1.0,
        metavar="M",
        help="CPU time to spend, about, on all of them (default: 1)",
    )
    for p in (where, verify):
        p.add_argument("--jobs", type=_count, default=1, help="local processes")
    return top


def _unread() -> None:
    """Discard what is still to be printed; Python would otherwise try once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_what_was_closed() -> None:
    """Standard output or errors, closed before we began (``rlsvi … >&-``); workers inherit them."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "w"))


def main(argv: list[str] | None = None) -> int:
    _open_what_was_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal without ≤ and σ shows their numbers
        sys.stdout.reconfigure(errors="backslashreplace")
    args, context = parser().parse_args(argv), copy_context()
    own = args.verb != "check" and args.names[:1] and args.names[0].endswith(".py")
    args.file = Path(args.names.pop(0)) if own else None
    for end in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:
        if signal.getsignal(end) is signal.SIG_DFL:  # nohup, say, has it ignored
            signal.signal(end, signal.default_int_handler)  # as Ctrl-C: take the workers along
    try:
        if args.out or args.file:
            from .engine import chosen

            context.run(chosen.set, (args.out or args.file.parent / "results").absolute())
        status: int = context.run(args.function, args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        _unread()
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
        missing = isinstance(error, ModuleNotFoundError)
        _say(
            f"the studies need {error.name}; it is not installed. Try: pip install "
            f"'rlsvi-core[study]'."
            if missing
            else f"the studies need {error.name}; {error.path} is another. Rename that file."
        )
        return 1
    except StudyError as error:
        _say(error)
        return 1
    except OSError as error:
        _say(
            f"the system refused: {error}. What was stored and the runs that are finished are "
            f"kept; fix that and run the same command again."
        )
        try:
            sys.stdout.flush()
        except OSError:  # it was the printing that failed
            _unread()
        return 1
