"""Chapters as one PDF with an outline: `make pdf`, after `make book`, prints the book and puts it beside
the site, whose start page then has a link to it. ``python -m book._ext.pdf --to FILE PAGE…`` prints
other pages.

The browser that also tests the site reads every chapter, in the order of the table of contents, and
prints them as one document. Folded proofs and solutions are open, folded code is left out, and a
thing to play with is a picture of itself. What is for searching or for a computer stays on the site:
all verdicts, the runs, the projects and the API reference. A link to them is plain text.
"""

import argparse
import io
import logging
import sys
from base64 import b64encode
from pathlib import Path

import yaml
from playwright.sync_api import sync_playwright
from pypdf import PdfWriter
from pypdf.generic import NameObject, TextStringObject

from .browser import FLAGS, ROOT, SITE, UNFOLD, chromium, served
from .stills import play

BOOK = SITE / "rlsvi-companion.pdf"

SCALE = 0.84  # text of ten points
MARGIN = {"top": "14mm", "bottom": "14mm", "left": "16mm", "right": "16mm"}
WIDTH = round((210 - 2 * 16) / 25.4 * 96 / SCALE)  # of the text on A4, in the page's own pixels
FOOT = (
    '<div style="width: 100%; text-align: center; font: 8px sans-serif">'
    '<span class="pageNumber"></span></div>'
)
# A chapter as part of one document: what it names begins with its own name, and so do the links.
GATHER = """([here, pages]) => {
  const article = document.querySelector("article");
  const dropped = ["script", "link", "style", "noscript", ".headerlink", ".toggle-button",
                   ".copybtn", ".explorer", ".toctree-wrapper", "details.above-input"];
  article.querySelectorAll(dropped).forEach(e => e.remove());
  article.querySelectorAll(".zoom").forEach(e => e.replaceWith(...e.childNodes));
  article.querySelectorAll("img").forEach(e => { e.loading = "eager"; e.src = e.src; });
  article.querySelectorAll("[id]").forEach(e => { e.id = `${here}--${e.id}`; });
  for (const link of article.querySelectorAll("a[href]")) {
    const to = new URL(link.href), anchor = decodeURIComponent(to.hash.slice(1));
    if (to.origin !== location.origin) continue;
    const page = to.pathname.slice(1).replace(/\\.html$/, "");
    if (pages.includes(page)) link.setAttribute("href", `#${page}${anchor && `--${anchor}`}`);
    else if (link.matches(".sd-stretched-link")) link.remove(); // its text is never shown
    else link.replaceWith(...link.childNodes);
  }
  return article.innerHTML;
}"""
BIND = """async chapters => {
  document.body.innerHTML = chapters.map(([name, html]) => `
    <main class="bd-main"><div class="bd-content"><div class="bd-article-container">
    <article class="bd-article fitted" id="${name}">${html}</article></div></div></main>`).join("");
  for (const link of document.querySelectorAll("a[href^='#']")) {
    const id = link.getAttribute("href").slice(1);
    if (!document.getElementById(id)) link.setAttribute("href", `#${id.split("--")[0]}`);
  }
  await Promise.all([...document.images].map(e => e.decode().catch(() => { throw e.src; })));
  await Promise.all([...document.fonts].map(font => font.load()));
}"""
SHEET = """
  .bd-main, .bd-content, .bd-article-container, .bd-article {
    display: block !important;
    width: 100% !important;
    max-width: none !important;
    min-height: 0 !important;
    margin: 0 !important;
    padding: 0 !important;
  }
  .bd-main + .bd-main { break-before: page; }
  .bd-article { line-height: 1.33; zoom: 1 !important; }
  .bd-article h1 { display: block !important; font-size: 1.7rem; margin: 0 0 0.6rem; }
  .bd-article h2 { font-size: 1.4rem; margin: 1.2rem 0 0.5rem; }
  .bd-article h3 { font-size: 1.15rem; margin: 1rem 0 0.4rem; }
  .bd-article :is(h1, h2, h3, h4) { break-after: avoid; }
  .bd-article :is(p, ul, ol, dl, .cell, .admonition, .highlight) { margin-block: 0 0.5rem; }
  .bd-article > section:last-child, .bd-article > section > :last-child { margin-bottom: 0; }
  .bd-article .cell { display: block !important; }
  .bd-article figure { margin-block: 0.3rem 0.6rem; break-inside: avoid; }
  .bd-article figure img { max-height: 240mm; width: auto !important; }  /* its letters, seven points */
  .bd-article .still { display: block; max-width: 100%; max-height: 200mm; margin: 0.5rem auto; break-inside: avoid; }
  .bd-article .admonition { break-inside: auto !important; }
  .bd-article .admonition-title { break-after: avoid; }
  .bd-article :is(.cell, .cell_input, .highlight, .chapter-card, .sd-card, .exercise) { break-inside: avoid !important; }
  .bd-article :is(td, th) { padding-block: 0.15rem !important; }
  .bd-article .stored table, .bd-article figcaption { font-size: 0.88em; }
  .bd-article div.math { margin: 0.5em 0; }
"""


def chapters() -> list[tuple[str, int]]:
    """Every page, and how deep it lies in the table of contents."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))

    def below(pages, depth):
        for page in pages:
            if "glob" in page:
                files = sorted(
                    file.relative_to(ROOT).with_suffix("") for file in ROOT.glob(page["glob"])
                )
                yield from ((file.as_posix(), depth) for file in files)
            else:
                yield page["file"], depth
                yield from below(page.get("sections", []), depth + 1)

    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    return [(toc["root"], 0), *below(chapters, 0)]


def printed() -> list[str]:
    left = ("book/api/", "book/project-", "book/runs", "book/verdicts")
    return [name for name, _ in chapters() if not name.startswith(left)]


def still(widget) -> None:
    """A picture of it in its place."""
    shot = b64encode(widget.screenshot()).decode()
    widget.evaluate(
        """(e, shot) => {
      const picture = document.createElement("img");
      Object.assign(picture, { className: "still", src: `data:image/png;base64,${shot}`,
        alt: `${e.querySelector(".widget-title, p")?.textContent} (moves on the site)` });
      e.replaceWith(picture);
    }""",
        shot,
    )


def read(page, address: str, name: str, pages: list[str]) -> str:
    """A chapter's text and pictures as HTML."""
    page.emulate_media(media="null")
    page.goto(f"{address}/{name}.html", wait_until="load")
    page.evaluate(UNFOLD)
    for widget in reversed(play(page)):  # each leaves the list
        still(widget)
    page.wait_for_timeout(200)  # formulas fit their places
    return page.evaluate(GATHER, [name, pages])


def bind(browser, target: Path, names: list[str]) -> None:
    with served() as address:
        page = browser.new_page(viewport={"width": WIDTH, "height": 1200}, device_scale_factor=2)
        texts = [(name, read(page, address, name, names)) for name in names]
        page.goto(f"{address}/{names[0]}.html", wait_until="load")
        page.evaluate("document.documentElement.dataset.theme = 'light'")
        page.add_style_tag(url=f"{address}/_static/mathjax/mathjax.css")
        page.add_style_tag(content=SHEET)
        page.evaluate(BIND, texts)
        sheets = page.pdf(
            format="A4",
            print_background=True,
            scale=SCALE,
            margin=MARGIN,
            display_header_footer=True,
            header_template="<i></i>",
            footer_template=FOOT,
            outline=True,
            tagged=True,
        )
        page.close()
    logging.getLogger("pypdf").setLevel(logging.ERROR)  # the browser's count of objects is too low
    book = PdfWriter(clone_from=io.BytesIO(sheets))
    for item in outline(book.root_object["/Outlines"]):
        title, half = item["/Title"], len(item["/Title"]) // 2
        if title[:half] == title[half:]:  # Chromium says it twice at the top of a sheet
            item[NameObject("/Title")] = TextStringObject(title[:half])
    book.write(target)


def outline(parent):
    """The entries below this one, at every depth."""
    item = parent.get("/First")
    while item is not None:
        one = item.get_object()
        yield one
        yield from outline(one)
        item = one.get("/Next")


def link() -> None:
    """From the start page, below its text."""
    start = SITE / "book/index.html"
    page, words = start.read_text("utf8"), f'<p><a href="../{BOOK.name}">The book as a PDF</a></p>'
    if words not in page:
        start.write_text(page.replace("</article>", f"{words}\n</article>"), "utf8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Print the book, or some pages of it.")
    parser.add_argument("--to", type=Path, default=BOOK)
    parser.add_argument("pages", nargs="*", default=printed(), metavar="PAGE")
    args = parser.parse_args()
    if not (SITE / "book/index.html").exists():
        sys.exit("There is no book in _build/html to print. Make it first: make book")
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=chromium(playwright), args=FLAGS)
        bind(chrome, args.to, args.pages)
        chrome.close()
    if args.to == BOOK:
        link()
