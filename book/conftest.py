"""nbval executes the chapters and compares their output with what is stored. What it saw is kept,
so that pages can be made of it (``python -m book._ext.execute --reuse``): nothing is run twice."""

import nbformat

from book._ext.execute import COMPARED


def pytest_runtest_teardown(item, nextitem):
    if not hasattr(item, "test_outputs"):
        return  # no cell, or one that was not run
    item.cell.outputs = item.test_outputs
    if nextitem is None or nextitem.path != item.path:  # the chapter's last cell
        COMPARED.mkdir(parents=True, exist_ok=True)
        nbformat.write(item.parent.nb, COMPARED / item.path.name)
