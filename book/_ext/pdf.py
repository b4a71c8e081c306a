"""Chapters as PDFs with an outline: `make pdf`, after `make book`, prints the lessons and, apart from
them, proofs and evidence, and puts both beside the site, whose start page then has links to them.
``python -m book._ext.pdf --to FILE PAGE…`` prints other pages.

The browser that also tests the site reads every chapter, in the order of the table of contents but
with the solutions last, and prints them as one document. Folded proofs and solutions are open, folded
code is left out, and a thing to play with is a picture of itself. What is for searching or for a
computer stays on the site: all verdicts, the runs, the projects and the API reference; so do the
pages that repeat figures in small. A link to them, or into the other PDF, is plain text.
"""

import argparse
import io
import logging
import re
import sys
from base64 import b64encode
from pathlib import Path

import yaml
from playwright.sync_api import sync_playwright
from pypdf import PdfWriter
from pypdf.generic import NameObject, TextStringObject

from .browser import FLAGS, ROOT, SITE, UNFOLD, chromium, served
from .stills import play

LESSONS, PROOFS = SITE / "rlsvi-lessons.pdf", SITE / "rlsvi-proofs.pdf"
CALLED = {LESSONS: "the lessons", PROOFS: "proofs and evidence"}
# On no paper: what is for searching or for a computer, and pages of small copies of figures.
ONLINE = ("book/api/", "book/project-", "book/runs", "book/verdicts", "book/figures", "book/sheet")
EVIDENCE = re.compile(r"book/(report|judging|errata|.*-(proofs|evidence|ablation))")
LAST, BOTH = "book/solutions", "book/references"

SCALE = 0.84  # text of ten points
MARGIN = {"top": "14mm", "bottom": "14mm", "left": "16mm", "right": "16mm"}
WIDTH = round((210 - 2 * 16) / 25.4 * 96 / SCALE)  # of the text on A4, in the page's own pixels
FOOT = (
    '<div style="width: 100%; text-align: center; font: 10px sans-serif">'
    '<span class="pageNumber"></span></div>'
)
PLACE = re.compile(r'<p class="on-paper">.*?</p>', re.S)
# A chapter as part of one document: what it names begins with its own name, and so do the links.
GATHER = """([here, pages]) => {
  const article = document.querySelector("article");
  const dropped = ["script", "link", "style", "noscript", ".headerlink", ".toggle-button",
                   ".copybtn", ".explorer", ".toctree-wrapper", "details.above-input", ".on-paper"];
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
  .bd-article.bd-article * { box-shadow: none !important; }  /* each would be a picture in the file */
  .bd-article figure { margin-block: 0.3rem 0.6rem; break-inside: avoid; }
  .bd-article figure img { max-height: 240mm; width: auto !important; }  /* its letters, seven points */
  .bd-article .still { display: block; max-width: 100%; max-height: 262mm; margin: 0.5rem auto; break-inside: avoid; }
  .bd-article .admonition { break-inside: auto !important; }
  .bd-article .admonition-title { break-after: avoid; }
  .bd-article :is(.cell, .cell_input, .highlight, .chapter-card, .sd-card, .exercise) { break-inside: avoid !important; }
  .bd-article .admonition :is([class^='highlight'], pre) { display: block; break-inside: auto !important; overflow: visible !important; orphans: 4; widows: 4; }
  .bd-article .picture { display: block; width: 100%; }
  .bd-article .picture img { width: 100%; max-height: none; }
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


def printed() -> dict[Path, list[str]]:
    """The pages of each PDF."""
    pages = [name for name, _ in chapters() if not name.startswith(ONLINE)]
    proofs = [name for name in pages if EVIDENCE.fullmatch(name)]
    lessons = [name for name in pages if name not in (*proofs, LAST)]
    return {LESSONS: [*lessons, LAST], PROOFS: [*proofs, BOTH]}


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
    """From the start page, at the place that it keeps for that."""
    start = SITE / "book/index.html"
    links = " and ".join(f'<a href="../{to.name}">{words}</a>' for to, words in CALLED.items())
    there = f'<p class="on-paper"><strong>On paper.</strong> As PDFs: {links}.</p>'
    page, places = PLACE.subn(there, start.read_text("utf8"))
    assert places == 1
    start.write_text(page, "utf8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Print the book, or some pages of it.")
    parser.add_argument("--to", type=Path, metavar="FILE")
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    args = parser.parse_args()
    if bool(args.to) != bool(args.pages):
        parser.error("--to FILE and its pages belong together")
    if not (SITE / "book/index.html").exists():
        sys.exit("There is no book in _build/html to print. Make it first: make book")
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=chromium(playwright), args=FLAGS)
        for target, names in ({args.to: args.pages} if args.to else printed()).items():
            bind(chrome, target, names)
        chrome.close()
    if not args.to:
        link()
