"""The whole book as one PDF with an outline: `make pdf`, after `make book`.

The pages are printed by the browser that also tests them, in the order of the table of contents,
with folded code and solutions open, and bound together.
"""

import io
import os
import shutil
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build/html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Everything is open, nothing scrolls, and the light theme is on paper.
PRINT = """async () => {
  document.documentElement.dataset.theme = 'light';
  document.querySelectorAll('details').forEach(e => e.open = true);
  document.querySelectorAll('.toggle-hidden').forEach(e => e.classList.remove('toggle-hidden'));
  document.querySelectorAll('img[loading]').forEach(e => e.loading = 'eager');
  await window.MathJax?.startup?.promise;
}"""


def chapters() -> list[tuple[str, int]]:
    """Every page, and how deep it lies in the table of contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    below = ((page["file"], depth) for part in toc["parts"] for chapter in part["chapters"]
             for depth, page in ((0, chapter), *((1, one) for one in chapter.get("sections", []))))
    return [(toc["root"], 0), *below]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def bind(target: Path) -> None:
    book, parent = PdfWriter(), None
    handler = partial(Quiet, directory=SITE)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page()
        for name, depth in chapters():
            page.goto(f"http://127.0.0.1:{server.server_port}/{name}.html", wait_until="load")
            page.evaluate(PRINT)
            title = page.locator("h1").first.inner_text().rstrip("#")
            first = len(book.pages)
            book.append(PdfReader(io.BytesIO(page.pdf(format="A4", print_background=True, margin={
                side: "15mm" for side in ("top", "bottom", "left", "right")}))),
                import_outline=False)
            item = book.add_outline_item(title, first, parent=parent if depth else None)
            parent = parent if depth else item
            print(f"{len(book.pages):5d} pages, {title}", flush=True)
        browser.close()
        server.shutdown()
    book.compress_identical_objects()
    book.write(target)


if __name__ == "__main__":
    if not (SITE / "book/index.html").exists():
        sys.exit("There is no book in _build/html to print. Make it first: make book")
    bind(ROOT / "_build/rlsvi-companion.pdf")
