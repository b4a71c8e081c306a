"""For those who wait: Ctrl-C is answered soon, at a moment at which nothing is half done, and a bar
shows how far it is.

Python raises ``KeyboardInterrupt`` between any two lines, also between the one that keeps a
transition and the one that counts it. Inside ``with HELD`` the signal waits for the end of the
block. Loops that last are cut into blocks of a tenth of a second; where one lasts longer, it calls
``HELD.raise_late()`` whenever everything is consistent.
"""

import math
import time
from _signal import getsignal  # type: ignore[import-not-found]
from _signal import signal as set_handler
from collections.abc import Iterator
from contextlib import nullcontext
from signal import SIGINT, raise_signal
from threading import get_ident, main_thread
from typing import Any

from . import checks

MAIN = main_thread().ident
PATIENCE = 1.0  # seconds that a signal waits for the end of an episode
CHUNK = 0.1  # seconds of work between two answers to a signal
GROWTH = 10  # of a chunk, at most, while its time is still being found


class Held:
    """The process's one Ctrl-C. ``with HELD:`` lets it wait until the outermost block has ended;
    then, or in ``raise_late``, it goes to the handler that was there before. Only the main thread
    has signals, so in others the block does nothing.

    Agents enter such a block in every step, so handlers are set by what ``signal.signal`` calls: it
    takes a tenth of the time.
    """

    def __init__(self) -> None:
        self.depth = 0  # of blocks in blocks
        self.since: float | None = None  # when the signal came that waits
        self.outside = False  # whether other people's code runs, which a second signal cuts
        self._before: Any = None  # the handler

    def __enter__(self) -> None:
        if get_ident() != MAIN:
            return
        if self.depth == 0:
            if getsignal(SIGINT) is None:  # not Python's, and could not be restored
                return
            self.since, self.outside = None, False
            self._before = set_handler(SIGINT, self._handle)
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        if get_ident() != MAIN or self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0:
            set_handler(SIGINT, self._before)
            if self.since is not None:
                self.since = None
                raise_signal(SIGINT)

    def _handle(self, *_: object) -> None:
        if self.since is None:
            self.since = time.monotonic()
        elif self.outside:
            self._answer()

    def _answer(self) -> None:
        self.since, self.outside = None, False
        set_handler(SIGINT, self._before)
        try:
            raise_signal(SIGINT)
        finally:
            set_handler(SIGINT, self._handle)

    def raise_late(self) -> None:
        """Answer a signal that has waited long enough."""
        if (
            self.since is not None
            and time.monotonic() - self.since >= PATIENCE
            and get_ident() == MAIN
        ):
            self._answer()


HELD = Held()


def chunks(total: int, first: int) -> Iterator[tuple[int, int]]:
    """Cut 0, …, total − 1 into pieces (start, stop) that take about ``CHUNK`` seconds each, by what
    the last one took; the first has so many."""
    start, size = 0, max(first, 1)
    while start < total:
        stop, began = min(start + size, total), time.perf_counter()
        yield start, stop
        took = time.perf_counter() - began
        size = max(1, math.floor(size * min(CHUNK / max(took, 1e-9), GROWTH)))
        start = stop


def bar(user: str, total: int, show: bool) -> Any:
    """A bar that counts so many episodes; if it is not asked for, None as a context."""
    if not show:
        return nullcontext()
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError as error:
        raise checks.missing(f"{user}(progress=True)", "tqdm", extra="gym") from error
    return tqdm(total=total, unit="episode")
