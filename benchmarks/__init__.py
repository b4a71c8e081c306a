"""What everything here costs. ``python -m benchmarks --help`` has the details."""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # CPU time of several threads would count against numpy

import argparse
import time
from collections.abc import Callable

import numpy as np


def cpu_seconds(work: Callable[[], object], repeats: int) -> float:
    """Median CPU time of one call."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return float(np.median(times))


def add_size(parser: argparse.ArgumentParser) -> None:
    """The option that makes a benchmark short."""
    parser.add_argument(
        "--size",
        type=float,
        metavar="PART",
        default=1.0,
        help="the part of all episodes, games, boards and lengths that is taken (default 1)",
    )


def scaled(number: int, size: float) -> int:
    """That part of a number of things; at least one."""
    return max(1, round(size * number))
