"""The command line: ``rlsvi list | run | plot | check | verify``.

Exit status: 0 all is well, 1 a check failed, 2 bad usage.
"""

import argparse
import difflib
import json
import os
import signal
import sys
import textwrap
from pathlib import Path

from . import runner, store
from .catalogue import DRAW, EXPERIMENTS
from .register import REGISTER


def _known(kind: str, names: list[str], valid) -> list[str]:
    """The names, if all are valid; otherwise say which are not and what was probably meant."""
    for name in names:
        if name not in valid:
            near = difflib.get_close_matches(name, valid, n=3, cutoff=0.4) or list(valid)
            raise SystemExit(_usage(f"there is no {kind} named {name!r}. Did you mean "
                                    f"{', '.join(near)}?"))
    return names or list(valid)


def _usage(message: str) -> int:
    print(f"rlsvi: {message}", file=sys.stderr)
    return 2


def _folder(args) -> Path:
    return Path(args.out) if args.out else store.results_folder()


def _list(args) -> int:
    print("Figures")
    for figure in EXPERIMENTS.values():
        print(f"  {figure.name:10} {figure.title} ({figure.place})")
        for scale, setting in figure.scales.items():
            try:
                record = store.provenance(figure, scale, _folder(args))
                same = record["code"] == store.code_hash(figure)
                state = (f"stored, {record['cpu_seconds']:.0f} CPU-s"
                         f"{'' if same else ', by an earlier version of the code'}")
            except store.StoreError:
                state = "not stored"
            print(f"  {'':10}   {scale}: {len(setting.tasks)} runs; {state}")
    print("\nClaims")
    for claim in REGISTER.values():
        print(f"  {claim.id:24} {claim.verdict:20} {claim.place}")
    return 0


def _run(args) -> int:
    names = _known("figure", args.figure, EXPERIMENTS)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: take the workers along
    # What the tables' provenance says: to be copied on another machine, so without names of this.
    where = "--dask ADDRESS" if args.dask else f"--jobs {args.jobs}"
    command = " ".join(["rlsvi run", *args.figure, f"--scale {args.scale}", where])
    for name in names:
        target = runner.sweep(EXPERIMENTS[name], args.scale, _folder(args), jobs=args.jobs,
                              dask=args.dask, command=command)
        print(f"{name}: wrote {target}")
    return 0


def _plot(args) -> int:
    for name in _known("figure", args.figure, EXPERIMENTS):
        table = store.load(EXPERIMENTS[name], args.scale, _folder(args))
        target = store.path(EXPERIMENTS[name], args.scale, _folder(args)).with_suffix(".png")
        DRAW[name](table).savefig(target, dpi=150)
        print(f"{name}: wrote {target}")
    return 0


def _check(args) -> int:
    names = _known("claim", args.claim, REGISTER)
    reports, failed = [], 0
    for name in names:
        claim, evidence = REGISTER[name], REGISTER[name].judge()
        agrees = evidence.verdict == claim.verdict
        failed += not agrees
        reports.append({"id": claim.id, "place": claim.place, "statement": claim.statement,
                        "paper": claim.paper, "kind": claim.kind, "registered": claim.verdict,
                        "verdict": evidence.verdict, "found": evidence.found,
                        "numbers": evidence.numbers})
        if not args.json:
            print(f"{'ok  ' if agrees else 'FAIL'} {claim.id:24} {evidence.verdict}"
                  + ("" if agrees else f" (registered: {claim.verdict})"))
            print(textwrap.indent(textwrap.fill(evidence.found, 90), " " * 7))
    if args.json:
        print(json.dumps(reports, indent=1, ensure_ascii=False, default=lambda x: x.tolist()))
    else:
        print(f"{len(names)} claims checked, {failed} not as registered")
    return 1 if failed else 0


def _verify(args) -> int:
    failed = 0
    for name in _known("figure", args.figure, EXPERIMENTS):
        wrong = runner.verify(EXPERIMENTS[name], args.scale, _folder(args), runs=args.runs,
                              rng=args.seed)
        failed += bool(wrong)
        print(f"{name}: " + ("recomputed runs equal the stored ones" if not wrong else
                             "MISMATCH\n  " + "\n  ".join(wrong)))
    return 1 if failed else 0


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, not {text!r}")
    return int(text)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="rlsvi", description="Recompute, draw and check the paper.")
    sub = top.add_subparsers(dest="verb", required=True)

    def verb(name, function, help, **positional):
        p = sub.add_parser(name, help=help, description=help)
        for key, what in positional.items():
            p.add_argument(key, nargs="*", metavar=key.upper(), help=what)
        if function is not _check:  # claims are about the project's own results
            p.add_argument("--out", help="folder of results (default: the nearest 'results')")
        p.set_defaults(function=function)
        return p

    verb("list", _list, "figures and claims, with their size and whether they are stored")
    run = verb("run", _run, "compute figures; running again resumes", figure="default: all")
    where = run.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=_count, default=1, help="local processes")
    where.add_argument("--dask", metavar="ADDRESS", help="scheduler of a Dask cluster")
    plot = verb("plot", _plot, "draw figures from stored tables", figure="default: all")
    check = verb("check", _check, "judge the paper's claims anew", claim="default: all")
    check.add_argument("--json", action="store_true", help="print everything, for programs")
    verify = verb("verify", _verify, "recompute part of stored tables and compare exactly",
                  figure="default: all")
    verify.add_argument("--runs", type=_count, default=2, help="how many runs of each table")
    verify.add_argument("--seed", type=int, default=None, help="which runs; random by default")
    for p, default in ((run, "quick"), (plot, "paper"), (verify, "paper")):
        p.add_argument("--scale", choices=("quick", "paper"), default=default)
    return top


def main(argv: list[str] | None = None) -> int:
    args = parser().parse_args(argv)
    try:
        return args.function(args)
    except (store.StoreError, runner.ClusterError) as error:
        print(f"rlsvi: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("\nrlsvi: stopped; finished runs are kept, run the same command to resume",
              file=sys.stderr)
        return 130
