"""One server and one browser for all tests of a worker. Tabs with the same settings share a cache, so
a page comes with most of its files already there."""

import os

import pytest

from book._ext.browser import DESK, FLAGS, SITE, chromium, served

# Other hosts have no address: they can be asked for, which a test notices, and never reached.
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


@pytest.fixture(scope="session")
def server():
    with served() as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        path = chromium(playwright)
        if path is None:
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
                "no Chromium found, the rendered book is NOT checked. Get one with `make browser`, "
                "or point CHROMIUM at it"
            )
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS, ALONE])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def contexts(browser):
    return {}


@pytest.fixture
def tab(browser, contexts):
    """tab(**settings): an empty tab, at a desk if nothing else is said."""
    opened = []

    def empty(**settings):
        settings = {"viewport": DESK} | settings
        key = repr(sorted(settings.items()))
        if key not in contexts:
            contexts[key] = browser.new_context(**settings)
        opened.append(contexts[key].new_page())
        return opened[-1]

    yield empty
    for page in opened:
        page.close()


@pytest.fixture
def at(tab, server):
    """at("book/03-dithering", **settings): a page of the book, when its text is shown."""

    def shown(name, **settings):
        if not (SITE / f"{name}.html").exists():
            pytest.skip(f"{name} is not built")
        page = tab(**settings)
        page.goto(f"{server}/{name}.html")
        if settings.get("java_script_enabled", True):
            page.wait_for_selector(".bd-article.fitted")
        return page

    return shown
