"""The whole book as one PDF with an outline: `make pdf`, after `make book`.

The pages are printed by the browser that also tests them, in the order of the table of contents,
with folded code and solutions open, and bound together.
"""

import io
import sys
from pathlib import Path

import yaml
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter

from .browser import FLAGS, ROOT, SITE, UNFOLD, chromium, served

# Nothing waits to be scrolled to, and the light theme is on paper.
PRINT = """async () => {
  document.documentElement.dataset.theme = 'light';
  const pictures = [...document.querySelectorAll('article img')];
  pictures.forEach(e => e.loading = 'eager');
  await Promise.all(pictures.map(e => e.decode()));
  await document.fonts.ready;
}"""


def chapters() -> list[tuple[str, int]]:
    """Every page, and how deep it lies in the table of contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))
    found = [(toc["root"], 0)]
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            found.append((chapter["file"], 0))
            for section in chapter.get("sections", []):
                files = [section["file"]] if "file" in section else sorted(
                    file.relative_to(ROOT).with_suffix("").as_posix()
                    for file in ROOT.glob(section["glob"]))
                found.extend((file, 1) for file in files)
    return found


def bind(target: Path) -> None:
    book, parent = PdfWriter(), None
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(playwright), args=FLAGS)
        page = browser.new_page()
        for name, depth in chapters():
            page.goto(f"{address}/{name}.html", wait_until="load")
            page.evaluate(UNFOLD)
            page.evaluate(PRINT)
            title = page.locator("h1").first.inner_text().rstrip("#")
            first = len(book.pages)
            sheets = page.pdf(format="A4", print_background=True, scale=0.8,
                              margin=dict.fromkeys(("top", "bottom", "left", "right"), "15mm"))
            book.append(PdfReader(io.BytesIO(sheets)), import_outline=False)
            item = book.add_outline_item(title, first, parent=parent if depth else None)
            parent = parent if depth else item
            print(f"{len(book.pages):5d} pages, {title}", flush=True)
        browser.close()
    book.compress_identical_objects()
    book.write(target)


if __name__ == "__main__":
    if not (SITE / "book/index.html").exists():
        sys.exit("There is no book in _build/html to print. Make it first: make book")
    bind(ROOT / "_build/rlsvi-companion.pdf")
