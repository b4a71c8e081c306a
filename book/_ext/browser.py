"""The built site in a browser: for the tests that read it, and for `benchmarks.site`, which weighs
it."""

import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build/html"
NAMES = (  # the shell is the same browser without windows, and a sixth faster
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# Hidden solutions and folded code are opened.
UNFOLD = """() => {
  document.querySelectorAll('details').forEach(e => e.open = true);
  document.querySelectorAll('.toggle-hidden').forEach(e => e.classList.remove('toggle-hidden'));
  dispatchEvent(new Event('resize'));  // the theme looks again for boxes that scroll
}"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """A browser that moves on hangs up on what it no longer needs."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def served(site: Path = SITE, by: type[Quiet] = Quiet) -> Iterator[str]:
    """The address at which the site can be read meanwhile."""
    with Server(("127.0.0.1", 0), partial(by, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def chromium(playwright) -> str | None:
    """Where there is one: named by CHROMIUM, the system's, or playwright's own."""
    places = [
        os.environ.get("CHROMIUM"),
        *map(shutil.which, NAMES),
        playwright.chromium.executable_path,
    ]
    return next((place for place in places if place and Path(place).exists()), None)
