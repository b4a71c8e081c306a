"""Execute the chapters side by side, into the cache from which the pages are made.

``python -m book._ext.execute [--jobs N]`` runs them; with ``--reuse`` it takes what nbval ran and
compared just before. A line tells how many are done.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from subprocess import DEVNULL

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(  # what takes longest comes first: the solutions, then what is large
    (ROOT / "book").glob("*.ipynb"),
    key=lambda chapter: (chapter.stem != "solutions", -chapter.stat().st_size),
)
CACHE = ROOT / "_build/.jupyter_cache"
COMPARED = ROOT / ".cache/executed"


def executed(chapter: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(chapter, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        resources={"metadata": {"path": str(chapter.parent)}},
        record_timing=False,
    )
    # What cells write to stderr is in the notebook. What the kernel's own process writes, when it is
    # interrupted to be shut down, would read like an error of ours.
    client.execute(stderr=DEVNULL)
    return notebook


def compared(chapter: Path) -> nbformat.NotebookNode:
    """As nbval ran it; a chapter without code it leaves out."""
    notebook = nbformat.read(chapter, as_version=4)
    if any(cell.cell_type == "code" for cell in notebook.cells):
        notebook = nbformat.read(COMPARED / chapter.name, as_version=4)
    return notebook


def all_executed(jobs: int) -> Iterator[tuple[Path, nbformat.NotebookNode]]:
    """Each chapter as it is done."""
    with ProcessPoolExecutor(jobs) as pool:
        waiting = {pool.submit(executed, chapter): chapter for chapter in CHAPTERS}
        for done, future in enumerate(as_completed(waiting), 1):
            chapter = waiting[future]
            try:
                yield chapter, future.result()
            except CellExecutionError as error:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"\n{chapter.name}: {error}")
            tell(done)


def tell(done: int) -> None:
    """At a terminal one line moves on; a log gets a line now and then."""
    line, last = f"== book: {done} of {len(CHAPTERS)} chapters executed", done == len(CHAPTERS)
    if sys.stdout.isatty():
        print(f"\r{line}", end="\n" if last else "", flush=True)
    elif done % 5 == 0 or last:
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="kernels at a time")
    parser.add_argument(
        "--reuse", action="store_true", help="take what nbval has just run and compared"
    )
    args = parser.parse_args()
    shutil.rmtree(CACHE, ignore_errors=True)
    cache = get_cache(CACHE)
    chapters = (
        ((chapter, compared(chapter)) for chapter in CHAPTERS)
        if args.reuse
        else all_executed(args.jobs)
    )
    for chapter, notebook in chapters:
        cache.cache_notebook_bundle(CacheBundleIn(notebook, str(chapter)), overwrite=True)


if __name__ == "__main__":
    main()
