"""nbval executes the chapters and compares their text with what is stored; pictures, which it
passes by, are compared here. What it saw is kept, so that pages can be made of it (``python -m
book._ext.execute --reuse``): nothing is run twice."""

import nbformat
import pytest

from book._ext.execute import COMPARED
from book._ext.pictures import differences


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    yield
    if getattr(item, "test_outputs", None) is not None:
        found = differences(item.cell.outputs, item.test_outputs)
        assert not found, f"the figure has changed. {'; '.join(found)}. Look at it: make execute"


def pytest_runtest_teardown(item, nextitem):
    if not hasattr(item, "test_outputs"):
        return  # no cell, or one that was not run
    item.cell.outputs = item.test_outputs
    if nextitem is None or nextitem.path != item.path:  # the chapter's last cell
        COMPARED.mkdir(parents=True, exist_ok=True)
        nbformat.write(item.parent.nb, COMPARED / item.path.name)
