"""The command line: ``rlsvi list | run | plot | check | verify``.

Exit status: 0 all is well, 1 a check failed or runs were not finished, 2 bad usage.

Help and usage errors must not take seconds, so what is slow to import is imported by the verb that
needs it, and names are looked up in the catalogue's own list.
"""

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any

from . import StudyError
from .catalogue import EXPERIMENTS, FIGURES, TOPIC, claims, drawings, tables


def _known(kind: str, names: list[str], valid: Any) -> list[str]:
    """The names, if all are valid; otherwise say which are not and what was probably meant."""
    for name in names:
        if name not in valid:
            from difflib import get_close_matches
            near = get_close_matches(name, valid, n=3, cutoff=0.4) or list(valid)
            print(f"rlsvi: there is no {kind} named {name!r}. Did you mean {', '.join(near)}?",
                  file=sys.stderr)
            raise SystemExit(2)
    return names


def _named(names: list[str]) -> list[Any]:
    """The experiments meant, each once; all if none is named."""
    meant = [table for name in _known("experiment", names, [*TOPIC, *FIGURES])
             for table in tables(name)]
    return [EXPERIMENTS[name] for name in dict.fromkeys(meant or (() if names else TOPIC))]


def _list(args: argparse.Namespace) -> int:
    from . import store
    try:
        folder = store.results_folder()
    except store.StoreError as error:
        folder = None
        print(f"Nothing is stored here: {error}\n")
    print("Experiments")
    for one in EXPERIMENTS.values():
        print(f"  {one.name:21} {one.title} ({one.place})")
        for scale, setting in one.scales.items():
            print(f"  {'':21}   {scale}: {len(setting.tasks)} runs"
                  + (f"; {_state(one, scale)}" if folder else ""))
    print("\nFigures of the paper that are drawn from these")
    for name, sources in FIGURES.items():
        print(f"  {name:21} {', '.join(sources) or 'needs no table'}")
    print("\nClaims")
    for claim in claims().values():
        print(f"  {claim.id:24} {claim.verdict:20} {claim.place}")
    return 0


def _state(experiment: Any, scale: str) -> str:
    from . import store
    try:
        record = store.provenance(experiment, scale)
    except store.StoreError:
        return "not stored"
    how = {"computed": "", "verified": ", verified with today's code",
           None: ", by an earlier version of the code"}[store.vouched(experiment, record)]
    return f"stored, {record['computed']['cpu_seconds']:.0f} CPU-s{how}"


def _run(args: argparse.Namespace) -> int:
    experiments = _named(args.experiment)
    from . import runner, store
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: take the workers along
    # What the tables' provenance says: to be copied on another machine, so without names of this.
    where = "--dask ADDRESS" if args.dask else f"--jobs {args.jobs}"
    command = " ".join(["rlsvi run", *args.experiment, f"--scale {args.scale}", where])
    failed = 0
    for one in experiments:
        try:
            target = runner.sweep(one, args.scale, store.results_folder(), jobs=args.jobs,
                                  dask=args.dask, command=command)
            print(f"{one.name}: wrote {target}")
        except runner.RunError as error:
            failed += 1
            print(f"rlsvi: {error}", file=sys.stderr)
    return 1 if failed else 0


def _plot(args: argparse.Namespace) -> int:
    names = _known("figure", args.figure, [*TOPIC, *FIGURES]) or [*TOPIC, *FIGURES]
    from matplotlib import pyplot as plt

    from . import store
    folder, suffix = store.results_folder(), "" if args.scale == "paper" else f".{args.scale}"
    pictures = {name: drawing for asked in names for name, drawing in drawings(asked).items()}
    for name, (draw, sources) in pictures.items():
        target = folder / f"{name}{suffix}.png"
        figure = draw(*(store.load(EXPERIMENTS[source], args.scale) for source in sources))
        figure.savefig(target, dpi=150)
        plt.close(figure)
        print(f"{name}: wrote {target}")
    return 0


def _check(args: argparse.Namespace) -> int:
    import json
    import textwrap

    from . import store
    register = claims()
    names = _known("claim", args.claim, register) or list(register)
    reports, failed = [], 0
    for claim in (register[name] for name in names):
        try:
            verdict, found, numbers = claim.judge()
        except store.StoreError as error:
            verdict, found, numbers = "not judged", str(error), {}
        agrees = verdict == claim.verdict
        failed += not agrees
        reports.append({"id": claim.id, "place": claim.place, "statement": claim.statement,
                        "paper": claim.paper, "kind": claim.kind, "registered": claim.verdict,
                        "verdict": verdict, "found": found, "numbers": numbers})
        if not args.json:
            print(f"{'ok  ' if agrees else 'FAIL'} {claim.id:24} {verdict}"
                  + ("" if agrees else f" (registered: {claim.verdict})"))
            print(textwrap.indent(textwrap.fill(found, 90), " " * 7))
    if args.json:
        print(json.dumps(reports, indent=1, ensure_ascii=False, default=lambda x: x.tolist()))
    else:
        print(f"{len(names)} claims checked, {failed} not as registered")
    return 1 if failed else 0


def _verify(args: argparse.Namespace) -> int:
    experiments = _named(args.experiment)
    from random import SystemRandom

    from . import store, verification
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder, failed = store.results_folder(), 0
    seed = SystemRandom().randrange(2**32) if args.seed is None else args.seed
    if not args.stamp:
        print(f"drawn with --seed {seed}")
    for one in experiments:
        if args.stamp:
            how = store.vouched(one, store.provenance(one, args.scale, folder))
            if how:
                print(f"{one.name}: nothing to do, {how} by today's code")
                continue
            wrong = verification.stamp(one, args.scale, folder, jobs=args.jobs)
            good = "stamped: {runs} of {of} runs recomputed in {cpu_seconds} CPU-s, all equal"
            good = good if wrong else good.format(
                **store.provenance(one, args.scale, folder)["verified"][-1])
        else:
            wrong = verification.verify(one, args.scale, folder, runs=args.runs, seed=seed,
                                        jobs=args.jobs)
            good = "recomputed runs equal the stored ones"
        failed += bool(wrong)
        print(f"{one.name}: " + ("MISMATCH\n  " + "\n  ".join(wrong) if wrong else good))
    return 1 if failed else 0


class _Version(argparse.Action):
    """Looked up when asked for: that takes longer than all else here."""

    def __call__(self, *_: Any) -> None:
        from importlib.metadata import version
        print(f"rlsvi {version('rlsvi-core')}")
        raise SystemExit(0)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, not {text!r}")
    return int(text)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="rlsvi", description="Recompute, draw and check the paper.")
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and stop")
    sub = top.add_subparsers(dest="verb", required=True)

    def verb(name, function, help, **positional):
        p = sub.add_parser(name, help=help, description=help)
        for key, what in positional.items():
            p.add_argument(key, nargs="*", metavar=key.upper(), help=what)
        p.add_argument("--out", type=Path,
                       help="folder of results (default: the nearest 'results')")
        p.set_defaults(function=function)
        return p

    verb("list", _list, "experiments and claims, with their size and whether they are stored")
    run = verb("run", _run, "compute experiments; running again resumes",
               experiment="name, or number of a figure (default: all)")
    where = run.add_mutually_exclusive_group()
    where.add_argument("--dask", metavar="ADDRESS", help="scheduler of a Dask cluster")
    plot = verb("plot", _plot, "draw figures from stored tables",
                figure="fig1 … fig14, or an experiment (default: all)")
    check = verb("check", _check, "judge the paper's claims anew", claim="default: all")
    check.add_argument("--json", action="store_true", help="print everything, for programs")
    verify = verb("verify", _verify, "recompute part of stored tables and compare exactly",
                  experiment="default: all")
    slice_ = verify.add_mutually_exclusive_group()
    slice_.add_argument("--runs", type=_count, default=2, help="how many runs of each table")
    slice_.add_argument("--stamp", action="store_true",
                        help="recompute a twentieth, which nobody picks, of each table that "
                             "today's code did not compute, and record that it is equal")
    verify.add_argument("--seed", type=int, help="which runs; random by default")
    for p in (where, verify):
        p.add_argument("--jobs", type=_count, default=1, help="local processes")
    for p, default in ((run, "quick"), (plot, "paper"), (verify, "paper")):
        p.add_argument("--scale", choices=("quick", "paper"), default=default)
    return top


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    try:
        if args.out is None:
            return args.function(args)
        from .store import results_in
        with results_in(args.out):
            return args.function(args)
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("\nrlsvi: stopped; finished runs are kept, run the same command to resume",
              file=sys.stderr)
        return 130
    except StudyError as error:
        print(f"rlsvi: {error}", file=sys.stderr)
        return 1
