"""Pictures of the things to play with, for a page on which no script may run.
``python -m book._ext.stills``, after ``make book``, writes them to ``_static/still``; ``site`` puts
them into the pages. `make pdf` takes the same pictures anew."""

import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from .browser import DESK, FLAGS, ROOT, SITE, chromium, served

FOLDER = ROOT / "book/_static/still"


def play(page) -> list:
    """The widgets of a page, after some seconds, without what cannot be pressed on paper."""
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    if widgets := page.locator("article .widget").all():
        for button in page.locator("article .widget").get_by_role("button", name="Play").all():
            button.click()
        page.wait_for_timeout(2500)
        page.emulate_media(media="print")
    return widgets


def take(page, address: str, path: Path) -> None:
    page.emulate_media(media="null")
    page.goto(f"{address}/{path.relative_to(SITE).as_posix()}", wait_until="load")
    for widget in play(page):
        with Image.open(io.BytesIO(widget.screenshot())) as picture:
            small = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
            small.save(FOLDER / f"{widget.get_attribute('data-widget')}.png", optimize=True)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright, served() as address:
        chrome = playwright.chromium.launch(executable_path=chromium(playwright), args=FLAGS)
        tab = chrome.new_page(viewport=DESK)
        for path in sorted(SITE.glob("book/0*.html")) + sorted(SITE.glob("book/[A-Z]*.html")):
            if "data-widget=" in path.read_text("utf8"):
                take(tab, address, path)
        chrome.close()
