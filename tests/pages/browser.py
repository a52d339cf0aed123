"""The pages of the site in headless Chromium: `python -m pages.browser SITE --pyodide FOLDER`, in tests/.

Every page is opened at two widths, light and dark: nothing may be wider than the window, text must be
readable on its background, links must lead somewhere. Then the playground answers what is typed.
`nox -s browser` builds the site, gets Pyodide, and runs this.
"""

from __future__ import annotations

import argparse
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

from playwright.sync_api import sync_playwright  # type: ignore[import-not-found]

WIDTHS = (400, 1400)
READABLE = 4.5
"""The least ratio of luminances of text and background (WCAG 2, level AA)."""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LINKS = "[...document.querySelectorAll('a[href]')].map(link => link.href)"
ANCHORS = "[...document.querySelectorAll('[id]')].map(one => one.id)"
CONTRAST = """() => {
    const parts = colour => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = colour => parts(colour)
        .map(one => one / 255)
        .map(one => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
        .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
    const ground = one => {
        for (; one; one = one.parentElement) {
            const colour = getComputedStyle(one).backgroundColor;
            if (!colour.startsWith("rgba") || !colour.endsWith(", 0)")) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    const texts = ["p", "li", "td", "pre", "h1", "a"].map(one => `article ${one}`).join();
    return [...document.querySelectorAll(texts)]
        .filter(one => one.offsetParent && one.textContent.trim())
        .map(one => {
            const pair = [light(getComputedStyle(one).color), light(ground(one))].sort((a, b) => b - a);
            return [(pair[0] + 0.05) / (pair[1] + 0.05), one.textContent.trim().slice(0, 40)];
        })
        .sort((a, b) => a[0] - b[0])[0] ?? [21, ""];
}"""


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *_: Any) -> None:
        pass


def served(folder: Path) -> str:
    """Serve a folder on this machine, and return its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"


def check_looks(page: Any, name: str) -> list[str]:
    """Return what is wrong with the layout and the colours of a page."""
    wrong = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            beyond = page.evaluate(TOO_WIDE)
            if beyond > 0:
                wrong.append(f"{name}: {beyond} pixels too wide at {width}")
        ratio, text = page.evaluate(CONTRAST)
        if ratio < READABLE:
            wrong.append(f"{name}: contrast {ratio:.1f} in {scheme} of {text!r}")
    return wrong


def check_links(links: dict[str, list[str]], anchors: dict[str, set[str]], home: str) -> list[str]:
    """Return the links within the site that lead nowhere."""
    wrong = []
    for page, found in links.items():
        for link in found:
            target, anchor = urldefrag(link)
            if target.startswith(home) and target.endswith(".html"):
                if target not in anchors:
                    wrong.append(f"{page}: no page {target}")
                elif anchor and anchor not in anchors[target]:
                    wrong.append(f"{page}: no place {link}")
    return wrong


def check_playground(page: Any, home: str) -> list[str]:
    """Return what the playground answers wrongly."""

    def shows(part: str) -> bool:
        try:
            page.wait_for_function(
                "part => document.getElementById('playground-output').textContent.includes(part)",
                arg=part,
                timeout=20_000,
            )
        except Exception:  # noqa: BLE001  the answer is shown instead
            return False
        return True

    page.goto(urljoin(home, "playground.html?pyodide=/pyodide/"))
    page.wait_for_function(
        "document.getElementById('playground-state').textContent.startsWith('Ready.')", timeout=120_000
    )
    wrong = []
    for text, sizes, part in (
        ("i j, j k -> i k", "i=2 j=3 k=2", "i=2  k=2\n[["),
        ("y[N] = sum[C](x[N C])", "N=2 C=3", "y: N=2  float64"),
        ("y[N K] = x[N C] * w[C K]", "", "RuleError[NE240]: 'C' would be dropped"),
        ("y[N = x", "", "ParseError[NE143]"),
        ("g[C] = grad(sum[C](x[C] ** 2), x[C])", "C=2", "g: C=2  float64"),
    ):
        page.fill("#playground-text", text)
        page.fill("#playground-sizes", sizes)
        if not shows(part):
            wrong.append(f"playground: {text!r} shows {page.inner_text('#playground-output')!r}")
    page.locator("details summary").click()
    page.locator("#playground-operands textarea").first.fill("[1.0, 10.0]")
    if not shows("[ 2., 20.]"):
        wrong.append(f"playground: an edited operand shows {page.inner_text('#playground-output')!r}")
    return wrong


def main() -> int:
    """Check the site; the exit code is 1 if anything is wrong."""
    options = argparse.ArgumentParser(description="Check the site in headless Chromium.")
    options.add_argument("site", type=Path)
    options.add_argument("--pyodide", type=Path, help="a folder with Pyodide, to drive the playground")
    options.add_argument("--chromium", help="the browser, if Playwright has none of its own")
    options.add_argument("--pictures", type=Path, help="a folder for pictures of some pages")
    given = options.parse_args()
    site = given.site.resolve()
    home = served(site)
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    wrong: list[str] = []
    links: dict[str, list[str]] = {}
    anchors: dict[str, set[str]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("pageerror", lambda fault: wrong.append(f"{page.url}: {fault}"))
        for name in pages:
            page.goto(home + name)
            links[name], anchors[home + name] = page.evaluate(LINKS), {*page.evaluate(ANCHORS)}
            wrong += check_looks(page, name)
            if given.pictures and name in {
                "index.html",
                "language.html",
                "api/texts.html",
                "playground.html",
            }:
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme=scheme)
                    for width in WIDTHS:
                        page.set_viewport_size({"width": width, "height": 1200})
                        given.pictures.mkdir(parents=True, exist_ok=True)
                        stem = f"{name.replace('/', '-').removesuffix('.html')}-{scheme}-{width}.png"
                        page.screenshot(path=given.pictures / stem)
        wrong += check_links(links, anchors, home)
        if given.pyodide:
            (site / "pyodide").unlink(missing_ok=True)
            (site / "pyodide").symlink_to(given.pyodide.resolve())
            wrong += check_playground(page, home)
            (site / "pyodide").unlink()
        browser.close()
    print("\n".join(wrong) or f"{len(pages)} pages, {sum(map(len, links.values()))} links: nothing is wrong")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
