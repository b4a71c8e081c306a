"""The rendered book, read in a browser: every page, at a desk and on a phone, in light and in dark.

Each page is one test, and a failing one lists everything wrong with it. `make test` builds the book
first; run by name, this file checks whatever stands in `_build/html`.
"""

import inspect
import pkgutil
import re
from functools import cache
from html import unescape
from importlib import import_module
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

import rlsvi_core
from book._ext.browser import DESK, PHONE, SITE, UNFOLD
from book._ext.site import MOVED

PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.glob("book/**/*.html")
    if path.stem not in MOVED
)
PAGES += ["search.html"] if PAGES else []
SMALL = {"width": 320, "height": 640}

pytestmark = pytest.mark.skipif(not PAGES, reason="no book in _build/html; build it: make book")

# What only the browser knows: problems, and the elements that have them. Hidden solutions and folded
# code are opened first (UNFOLD), so that they are held to the same rules as the rest.
ANYWHERE = """() => {
  const all = what => [...document.querySelectorAll(what)], right = e => e.getBoundingClientRect().right;
  const seen = new Set(), again = id => seen.has(id) || !seen.add(id);
  const clipped = side => all(`${side} :is(a, a *)`)
    .filter(e => right(e) > right(document.querySelector(side)) + 1);
  const text = list => list.map(e => e.textContent.slice(0, 60));
  return {
    "math not typeset": text(all(".math").filter(e => !e.querySelector("mjx-container math"))),
    "TeX error": all("mjx-merror, [data-mjx-error]").map(e => e.dataset.mjxError || e.textContent),
    "unresolved reference": document.body.innerText.match(/[?]{3}/g) ?? [],
    "id given twice": all("[id]").map(e => e.id).filter(again),
    "clipped in the contents": text([".bd-sidebar-primary", ".bd-sidebar-secondary"].flatMap(clipped)),
  };
}"""

# On a phone the page itself must not scroll sideways. Named are the outermost elements that stick out,
# leaving aside what lies inside a box that scrolls on its own. A formula wider than its place scrolls
# and says so: cut, it could read as another statement. A table whose rows became cards need not scroll.
ON_A_PHONE = """async () => {
  for (let frames = 3; frames > 0; frames--) await new Promise(requestAnimationFrame); // it is laid out
  const all = what => [...document.querySelectorAll(what)], right = e => e.getBoundingClientRect().right;
  const left = e => e.getBoundingClientRect().left;
  const { clientWidth: width, scrollWidth: scroll } = document.documentElement;
  const boxed = e => e && e.tagName !== "BODY" &&
    (getComputedStyle(e).overflowX !== "visible" || boxed(e.parentElement));
  const out = all("article *").filter(e => right(e) > width + 1
    && !(right(e.parentElement) > width + 1) && !boxed(e.parentElement));
  return {
    "too wide": [...(scroll > width ? [`page is ${scroll} wide`] : []),
                 ...out.map(e => `<${e.tagName.toLowerCase()} class="${e.className}">`)],
    "hidden on the left": all("article div.math").filter(e => left(e.querySelector("mjx-math")) < left(e) - 1)
      .map(e => e.textContent.slice(0, 60)),
    "upon its number": all("article div.math:not(.above) .eqno").filter(e =>
      right(e.parentElement.querySelector("mjx-math")) > left(e) + 1).map(e => e.textContent),
    "cut": all("article .math").filter(e => !e.closest(".scrolls")
      && right(e.querySelector("mjx-math")) > right(e) + 1).map(e => e.textContent.slice(0, 60)),
    "scrolls": all("table.table.scrolls").map(e => e.textContent.trim().slice(0, 60)),
  };
}"""

# axe-core's time goes with the number of elements, and most of them are those of formulas, typeset and
# as MathML, for which it has no rule. Colours do not fade over.
LEAN = """() => {
  document.querySelectorAll("mjx-container").forEach(e => { e.textContent = "formula"; });
  document.head.append(Object.assign(document.createElement("style"),
    { textContent: "* { transition: none !important; }" }));
}"""

# A moment after the last change the theme looks which boxes scroll, so that a keyboard can reach them.
# By less than 13 pixels is no scrolling, to axe-core either.
REACHED = """() => [...document.querySelectorAll("pre, .cell_output > .output, .pst-scrollable-table-container")]
  .every(e => e.tabIndex === 0 || Math.max(e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight) < 13)"""

# Nearly all that axe-core does is to look at colours. Texts of the same colour, size and weight on the
# same ground are as easy to read as any one of them.
OF_EACH_LOOK = """() => {
  const looks = new Map(), grounds = new Map([[null, ""]]);
  const ground = e => {
    if (!grounds.has(e)) {
      const { opacity, backgroundColor, backgroundImage } = getComputedStyle(e);
      const own = [opacity, backgroundColor, backgroundImage].join();
      grounds.set(e, (own === "1,rgba(0, 0, 0, 0),none" ? "" : own) + ground(e.parentElement));
    }
    return grounds.get(e);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !e.checkVisibility()) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(e);
    looks.set([color, fontSize, fontWeight, ground(e)].join(), e);
  }
  return [...looks.values()];
}"""

ONLY_THIS_PAGE = {"resultTypes": ["violations"], "preload": False}  # no style sheets asked for anew
COLOURS = ONLY_THIS_PAGE | {"runOnly": ["color-contrast"]}
ALL_ELSE = ONLY_THIS_PAGE | {"rules": {"color-contrast": {"enabled": False}}}


def found(page, options, where="document"):
    """What axe-core finds in the way of some reader."""
    run = f"async options => (await axe.run({where}, options)).violations"
    for rule in page.evaluate(run, options):
        for node in rule["nodes"]:
            reasons = node["any"] + node["all"] + node["none"]
            yield f"{rule['id']}: {node['html'][:80]}: {reasons[0]['message']}"


def barriers(page):
    """Contrast in both themes; alternative texts, names and order in one."""
    page.evaluate(Axe().axe_script)
    for theme in ("dark", "light"):
        page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        colours = found(page, COLOURS, f"{{include: ({OF_EACH_LOOK})()}}")
        yield from (f"{theme}: {what}" for what in colours)
    page.wait_for_function(REACHED)
    yield from found(page, ALL_ELSE)


@cache
def ids(path):
    return set(re.findall(r'\s(?:id|name)="([^"]+)"', path.read_text("utf8")))


def dead_links(hrefs, server):
    for href in sorted(set(hrefs)):
        url, anchor = urldefrag(href)
        if not url.startswith(server):
            continue
        path = SITE / unquote(urlsplit(url).path).lstrip("/")
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            yield f"dead link: {href.removeprefix(server)}"
        elif path.suffix == ".html" and anchor and unquote(anchor) not in ids(path):
            yield f"no such anchor: {href.removeprefix(server)}"


def listed(problems, where=""):
    return [f"{where}{problem}: {what}" for problem in problems for what in problems[problem]]


@pytest.fixture(scope="session")
def watched(browser, server):
    """A tab, and what goes wrong in it."""
    page, problems = browser.new_page(viewport=DESK), []
    page.on(
        "request",
        lambda r: (
            r.url.startswith((server, "data:", "blob:"))
            or problems.append(f"request to another host: {r.url}")
        ),
    )
    page.on(
        "response",
        lambda r: r.status < 400 or problems.append(f"answer {r.status}: {r.url}"),
    )
    page.on(
        "console",
        lambda m: m.type in ("error", "warning") and problems.append(f"console {m.type}: {m.text}"),
    )
    page.on("pageerror", lambda e: problems.append(f"script error: {e}"))
    return page, problems


@pytest.mark.parametrize("name", PAGES or ["book/index.html"])
def test_page(name, watched, server):
    """All that is asked of a page, in one visit."""
    page, problems = watched
    problems.clear()
    page.goto(f"{server}/{name}")
    if page.locator(".bd-article").count():
        page.wait_for_selector(".bd-article.fitted")
    page.evaluate(UNFOLD)
    problems += listed(page.evaluate(ANYWHERE))
    links = page.eval_on_selector_all("a[href], img", "all => all.map(e => e.href ?? e.src)")
    problems += dead_links(links, server)
    for phone in (PHONE, SMALL):
        page.set_viewport_size(phone)
        problems += listed(page.evaluate(ON_A_PHONE), f"on a phone of {phone['width']}: ")
    page.set_viewport_size(DESK)
    page.evaluate(LEAN)
    problems += barriers(page)
    if problems:
        pytest.fail(f"{name}\n  " + "\n  ".join(problems), pytrace=False)


def test_the_root_forwards_to_the_start_page(tab, server):
    tab.goto(server)
    tab.wait_for_url("**/book/index.html")


@pytest.mark.parametrize("old", MOVED)
def test_an_old_address_forwards_to_where_its_contents_are(tab, server, old):
    tab.goto(f"{server}/book/{old}.html#somewhere")
    page = MOVED[old].partition("#")[0]
    tab.wait_for_url(f"**/book/{page}.html#somewhere")
    assert f"book/{page}.html" in PAGES


def test_a_page_beside_the_way_is_found_and_not_listed(tab, server):
    beside = "book/B-proofs.html"
    assert beside in PAGES
    tab.goto(f"{server}/search.html?q=costly road")
    tab.get_by_text("Search finished").wait_for()
    assert tab.locator(f"#search-results a[href*='{beside}']").count()
    for page in ("B-conjecture", "B-proofs"):
        tab.goto(f"{server}/book/{page}.html")
        ways = ".bd-sidebar-primary a, .prev-next-footer a"
        hrefs = tab.eval_on_selector_all(ways, "all => all.map(e => e.getAttribute('href'))")
        assert len(hrefs) > 20
        assert not [one for one in hrefs if one.endswith("B-proofs.html")]


def test_barriers_are_noticed(tab):
    """Among many texts that are none."""
    tab.set_content("""<html lang="en"><title>t</title>
        <style>[data-theme=dark] .box { background: #333 } div { color: #444; background: #fff }</style>
        <main><h1>Planted</h1><div>well</div><div class="box">not in the dark</div><div>well</div>
        <p style="color: #aaa">too pale</p><p>well</p><img src="data:,"></main></html>""")
    pale, dark = "color-contrast: <p style", 'color-contrast: <div class="box"'
    wanted = [f"light: {pale}", f"dark: {dark}", f"dark: {pale}", "image-alt: <img"]
    for what, start in zip(sorted(barriers(tab)), sorted(wanted), strict=True):
        assert what.startswith(start)


def test_a_page_has_its_colours_before_its_scripts(browser, server):
    grounds = []
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.route("**/*.js*", lambda route: route.abort())
        page.goto(f"{server}/book/03-dithering.html")
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert grounds == ["rgb(255, 255, 255)", "rgb(18, 18, 18)"]


def test_on_paper_folds_are_open_and_nothing_can_be_pressed(at):
    page = at("book/G-gauss-dirichlet")
    folds = page.locator("article .dropdown > :nth-child(2)")
    pressed = page.locator(".widget :is(button, input), .toggle-button")
    visible = "all => all.map(e => e.checkVisibility({ visibilityProperty: true }))"
    assert set(folds.evaluate_all(visible)) == {False}
    assert True in pressed.evaluate_all(visible)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert set(folds.evaluate_all(visible)) == {True}
    assert set(pressed.evaluate_all(visible)) == {False}
    assert page.locator(".widget svg").first.is_visible()


def test_a_narrower_column_fits_its_formulas_again(at):
    page = at("book/A-lsvi")
    page.evaluate("() => { document.querySelector('.bd-article').style.width = '330px'; }")
    assert not listed(page.evaluate(ON_A_PHONE))


def test_a_search_finds_chapters_before_the_reference(tab, server):
    for word in ("tetris", "recommender", "chain", "bootstrap"):
        tab.goto(f"{server}/search.html?q={word}")
        tab.get_by_text("Search finished").wait_for()
        found = tab.eval_on_selector_all(
            "#search-results li > a", "all => all.map(e => e.href.includes('/api/'))"
        )
        assert found == sorted(found), word
        assert set(found) == {False, True}, word


def test_a_search_finds_a_greek_letter_by_its_name(tab, server):
    found = []
    for word in ("set lambda", "set λ"):
        tab.goto(f"{server}/search.html?q={word}")
        tab.get_by_text("Search finished").wait_for()
        found.append(
            tab.eval_on_selector_all("#search-results li > a", "all => all.map(e => e.href)")
        )
    assert found[0]
    assert [one.partition("?")[0] for one in found[0]] == [
        one.partition("?")[0] for one in found[1]
    ]


def test_a_fold_is_named_by_what_it_opens(at):
    page = at("book/G-gauss-dirichlet")
    assert page.locator(".toggle-button").count() > 0
    assert page.get_by_text("Show code cell source").count() > 0
    assert page.locator("[aria-label='Toggle hidden content']").count() == 0


def test_an_exercise_leads_to_its_solution_and_back(at):
    page = at("book/03-dithering")
    exercise = page.locator("#ex-tie-rules")
    exercise.get_by_role("link", name="Solution").click()
    assert page.url.endswith("solutions.html#sol-tie-rules")
    solution = page.locator("#sol-tie-rules")
    solution.locator("p").nth(1).wait_for()
    solution.locator(".admonition-title a").click()
    assert page.url.endswith("03-dithering.html#ex-tie-rules")


def test_the_sheet_is_one_sheet(at):
    page = at("book/sheet")
    page.emulate_media(media="print")
    assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) == 1


def test_pictures_keep_their_room_while_they_load():
    for name in PAGES:
        article = re.search(r"<article.*</article>", (SITE / name).read_text("utf8"), flags=re.S)
        for tag in re.findall(r"<img [^>]*>", article[0] if article else ""):
            assert re.search(r' width="\d+', tag), f"{name}: no room is kept for {tag}"
            assert re.search(r' height="\d+', tag), f"{name}: no room is kept for {tag}"


@pytest.mark.parametrize("name", ["04-randomized-value-functions", "sheet"])
def test_in_the_dark_a_colour_means_the_same_number(at, name):
    """What is white stays white: a colour map is not turned round, large or small."""
    page = at(f"book/{name}", color_scheme="dark")
    figure = page.locator("article img.colour-map")
    assert "invert" not in figure.evaluate("e => getComputedStyle(e).filter")


def test_a_figure_opens_large_and_closes(at):
    page = at("book/03-dithering")
    figures, dialog = page.locator("article figure .zoom"), page.locator("dialog.zoomed")
    assert figures.count() == page.locator("article img").count() > 1
    figure, image = figures.nth(1), dialog.locator("img")
    assert figure.locator("img").get_attribute("alt") in figure.get_attribute("aria-label")
    figure.press("Enter")
    width = image.evaluate("async e => { await e.decode(); return e.naturalWidth; }")
    assert image.bounding_box()["width"] == width > dialog.bounding_box()["width"]
    page.keyboard.press("Tab")  # from the button to the sheet, which scrolls
    page.keyboard.press("ArrowRight")
    sheet = dialog.get_by_role("region").element_handle()
    page.wait_for_function("e => e.scrollLeft > 0", arg=sheet)
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert figure.evaluate("e => e === document.activeElement")  # goes on from the figure


def test_a_formula_that_mathjax_refuses_is_told(at):
    """A macro of the book is known to it, and one that is none is no red text among the rest."""
    page = at("book/A-lsvi")
    page.evaluate(r"""() => {
      const math = tex => MathJax.tex2chtml(tex);
      document.querySelector("article").append(math(String.raw`\E[x]`), math(String.raw`\unheard of`));
    }""")
    (error,) = set(page.evaluate(ANYWHERE)["TeX error"])
    assert r"\unheard" in error


def test_a_link_to_a_page_tells_what_it_is_about():
    told = {}
    for name in set(PAGES) - {"search.html"}:
        head = (SITE / name).read_text("utf8").partition("</head>")[0]
        pairs = re.findall(r'<meta (?:name|property)="([\w:]+)"\s+content="([^"]*)"', head)
        tags = {key: unescape(text) for key, text in pairs}
        told[name] = tags["description"]
        assert re.fullmatch(r"[^\\<{]+", tags["description"]), name
        assert tags["og:description"] == tags["description"]
        assert tags["og:title"]
    assert len(set(told.values())) == len(told)


def test_every_public_name_of_the_library_is_described():
    there = set().union(*(ids(SITE / page) for page in PAGES if page.startswith("book/api/")))
    modules = [
        rlsvi_core,
        *(
            import_module(module.name)
            for module in pkgutil.walk_packages(rlsvi_core.__path__, "rlsvi_core.")
        ),
    ]
    wanted = set()
    for module in modules:
        for name in set(getattr(module, "__all__", ())) - {"__version__"}:
            one = getattr(module, name)
            home = getattr(one, "__module__", module.__name__)  # where it is defined
            wanted.add(f"module-{one.__name__}" if inspect.ismodule(one) else f"{home}.{name}")
    assert wanted
    assert wanted <= there, f"not on any page of book/api: {sorted(wanted - there)}"
