"""Is the book light? ``python -m benchmarks.site`` measures every page of ``_build/html``.

Each page is opened with an empty cache over a simulated line of 1.6 Mbit/s and 150 ms, served with
gzip, once as on a desk and once as on a phone, and scrolled to its end. The table has the worse of
both for

- *kB*: what came over the line, compressed, everything that the page asks for;
- *math*: seconds until every formula of the page is typeset, in its place, and has its fonts;
- *shift*: the sum of all layout shifts, of which Chromium's own score is at most a part.

The goals are 1500 kB and 3 s for a page, and a shift below 0.05. Times are of this machine, so
measure on an idle one. ``--pages 05 06c`` takes those pages alone whose names hold one of the words.
"""

import argparse
import gzip
import io
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

from book._ext.browser import FLAGS, SITE, Quiet, chromium, served

LINE = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000}
SIZES = {"desk": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
GOALS = {"kB": 1500, "math": 3.0, "shift": 0.05}
PACKED = {".html", ".js", ".css", ".svg", ".json", ".txt"}

# Before anything of the page: note every shift, and when the mathematics was there. A frame is laid
# out after its callbacks, and only then are fonts asked for: hence two frames in a row.
WATCH = """() => {
  window.shifts = [];
  new PerformanceObserver(list => list.getEntries().forEach(entry => shifts.push([entry.value,
    ...entry.sources.map(({node}) => node?.className || node?.nodeName || '')])))
    .observe({type: 'layout-shift', buffered: true});
  const there = () => document.readyState !== 'loading' && document.fonts.status === 'loaded'
    && document.querySelector('.bd-article.fitted')
    && [...document.querySelectorAll('.math')].every(one => one.querySelector('mjx-container'));
  const look = (done, before) => {
    const now = there();
    if (before && now) done(performance.now() / 1000);
    else requestAnimationFrame(() => look(done, now));
  };
  window.typeset = new Promise(done => look(done, false));
}"""
SCROLL = """async () => {
  for (let y = 0; y < document.body.scrollHeight; y += innerHeight) {
    scrollTo({top: y, behavior: 'instant'});
    await new Promise(done => setTimeout(done, 80));
  }
}"""


class Packed(Quiet):
    """Serves text compressed."""

    def send_head(self):
        path = Path(self.translate_path(self.path))
        if path.suffix not in PACKED or not path.exists():
            return super().send_head()
        body = packed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return io.BytesIO(body)


@cache
def packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 6)


class Cost(NamedTuple):
    kB: float
    math: float | None  # None: there is none
    shift: float
    files: dict[str, float]  # what was asked for, in kB
    shifts: list[list]  # each with the classes of what moved


def cost(browser: Browser, address: str, size: dict[str, int]) -> Cost:
    """What a page costs a reader who has none of the site yet."""
    context = browser.new_context(viewport=size)
    page, files, names = context.new_page(), {}, {}
    line = context.new_cdp_session(page)
    line.on(
        "Network.responseReceived",
        lambda e: names.setdefault(e["requestId"], e["response"]["url"].rpartition("/")[2]),
    )
    line.on(
        "Network.loadingFinished",
        lambda e: files.update(
            {names.get(e["requestId"], e["requestId"]): e["encodedDataLength"] / 1000}
        ),
    )
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", LINE)
    page.add_init_script(f"({WATCH})()")
    page.goto(address, wait_until="networkidle", timeout=120_000)
    typeset = page.evaluate("document.querySelector('.math') && window.typeset")
    page.evaluate(SCROLL)
    page.wait_for_load_state("networkidle")
    shifts = page.evaluate("shifts")
    context.close()
    return Cost(sum(files.values()), typeset, sum(one[0] for one in shifts), files, shifts)


def worse(costs: list[Cost]) -> Cost:
    heavy, shifty = (max(costs, key=lambda one: getattr(one, key)) for key in ("kB", "shift"))
    math = None if heavy.math is None else max(one.math for one in costs)
    return heavy._replace(math=math, shift=shifty.shift, shifts=shifty.shifts)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--why", action="store_true", help="what weighs and what moves on each")
    options = parser.parse_args(arguments)
    names = sorted(path.relative_to(SITE).as_posix() for path in SITE.glob("book/**/*.html"))
    chosen = [name for name in names if any(word in name for word in options.pages)]
    if not chosen:
        sys.exit("There is no such page in _build/html. Make the book first: make book")
    size = sum(path.stat().st_size for path in SITE.rglob("*") if path.is_file()) / 1e6
    print(f"site: {size:.1f} MB\n\n{'kB':>6} {'math':>6} {'shift':>6}  page")
    missed = []
    with served(by=Packed) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(playwright), args=FLAGS)
        for name in chosen:
            one = worse([cost(browser, f"{address}/{name}", size) for size in SIZES.values()])
            math = "–" if one.math is None else f"{one.math:.1f} s"
            print(f"{one.kB:6.0f} {math:>6} {one.shift:6.3f}  {name}", flush=True)
            if options.why:
                for file in sorted(one.files, key=one.files.get)[:-9:-1]:
                    print(f"{one.files[file]:14.0f} kB  {file}")
                for value, *moved in sorted(one.shifts, reverse=True)[:4]:
                    print(f"{value:14.3f} moved  {', '.join(moved)[:100]}")
            missed += [
                f"{name}: {key} {value:.3g}, goal {GOALS[key]:g}"
                for key in GOALS
                if (value := getattr(one, key) or 0) > GOALS[key]
            ]
        browser.close()
    print("\nMissed: " + ("nothing" if not missed else "\n  ".join(["", *missed])))


if __name__ == "__main__":
    main()
