"""One server and one browser for all tests of a worker, and one tab for all pages that are read with the
same settings: it has most of a page's files already, and has parsed its scripts."""

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


@pytest.fixture
def tab(browser):
    """A tab of its own."""
    page = browser.new_page(viewport=DESK)
    yield page
    page.close()


@pytest.fixture(scope="session")
def shared(browser):
    """shared(**settings): the tab with these settings, at a desk if nothing else is said."""
    tabs = {}

    def the_tab(**settings):
        settings = {"viewport": DESK} | settings
        key = repr(sorted(settings.items()))
        if key not in tabs:
            tabs[key] = browser.new_page(**settings)
        return tabs[key]

    return the_tab


@pytest.fixture
def at(shared, server):
    """at("book/03-dithering", **settings): a page of the book, when its text is shown."""

    def shown(name, **settings):
        if not (SITE / f"{name}.html").exists():
            pytest.skip(f"{name} is not built")
        page = shared(**settings)
        page.emulate_media(media="screen")  # whatever a test before has left
        page.goto(f"{server}/{name}.html", wait_until="domcontentloaded")
        page.wait_for_selector(".bd-article.fitted")
        return page

    return shown
