"""Pages in a real browser: no script fails, every chart is drawn, nothing is cut off on a desk or on a phone."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from conftest import CONFIG
from flashwatt import Report, Results, plot
from flashwatt.reproduce import Terms, reproduce
from flashwatt.reproduce.catalogue import choose

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = os.environ.get("FLASHWATT_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
WIDTHS = (1280, 390)

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="NO BROWSER: pages are not tested; install chromium, or name one in FLASHWATT_BROWSER"
)

# Before anything else runs on the page.
LISTEN = """<script>
const failures = [];
addEventListener("error", event => failures.push(event.message));
addEventListener("unhandledrejection", event => failures.push(String(event.reason)));
for (const level of ["error", "warn"]) console[level] = (...words) => failures.push(words.join(" "));
</script>"""
# When all is drawn: what there is to be seen, as JSON in the page.
TELL = """<script>
setTimeout(() => {
  const texts = [...document.querySelectorAll("svg text")].filter(text => text.textContent.trim());
  const boxes = texts.map(text => text.getBoundingClientRect());
  const told = {
    failures,
    width: innerWidth,
    overflow: document.documentElement.scrollWidth - innerWidth,
    charts: document.querySelectorAll(".chart svg.marks").length,
    marks: document.querySelectorAll(["area", "rect", "line", "symbol"].map(m => `.chart .mark-${m} path`)).length,
    empty: [...document.querySelectorAll(".chart")].filter(chart =>
      !chart.querySelector(["area", "rect", "line", "symbol"].map(m => `.mark-${m} path[d]:not([d=""])`))
      || ![...chart.querySelectorAll(["area", "rect", "line", "symbol"].map(m => `.mark-${m} path`))].some(mark => {
        const box = mark.getBoundingClientRect();
        return box.width > 0 || box.height > 0;
      })).map(chart => chart.id),
    cut: texts.filter((_, at) => boxes[at].left < 0 || boxes[at].right > innerWidth).map(text => text.textContent),
    smallest_px: Math.min(...texts.map(text => parseFloat(getComputedStyle(text).fontSize))),
    loaded: performance.getEntriesByType("resource").map(entry => entry.name),
  };
  parent.postMessage(JSON.stringify(told), "*");
}, 1500);
</script>"""
# Windows have a least width, frames have none.
WINDOW = """<!DOCTYPE html><meta charset="utf-8">
<iframe src="{page}" style="border: 0; width: {width}px; height: 900px"></iframe><pre id="told"></pre>
<script>onmessage = event => {{ document.getElementById("told").textContent = event.data; }};</script>
"""


@pytest.fixture(scope="module")
def runs() -> dict[str, Report]:
    """Make two runs with everything that a plot can want."""
    base = flashwatt.Config(CONFIG)
    return {
        "ten channels": flashwatt.run(base, series=True, edges=(5_000_000, 6_000_000)),
        "a drive of four": flashwatt.run(base, device__channels=4),
    }


@pytest.fixture(scope="module")
def results() -> Results:
    """Make a small sweep."""
    grid = {"device.channels": [2, 4, 8], "controller.policy": list(flashwatt.names("dispatch"))}
    return flashwatt.sweep(grid, base=flashwatt.Config(CONFIG), seeds=2)


def look(page: Path, width: int) -> dict[str, Any]:
    """Open a page in a window of this width, and give what is to be seen."""
    text = page.read_text().replace("<head>", f"<head>{LISTEN}", 1)
    before, _, after = text.rpartition("</body>")
    probed = page.with_name(f"{page.stem}-probed.html")
    probed.write_text(f"{before}{TELL}</body>{after}")
    window = page.with_name(f"{page.stem}-{width}.html")
    window.write_text(WINDOW.format(page=probed.name, width=width))
    assert BROWSER is not None
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=10000",
        f"--user-data-dir={page.parent / 'profile'}",
        "--window-size=1400,1000",
        "--dump-dom",
        window.as_uri(),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    told = re.search(r'<pre id="told">(.+?)</pre>', dom, re.DOTALL)
    assert told, dom[-2000:]
    seen: dict[str, Any] = json.loads(html.unescape(told[1]))
    return seen


def check(page: Path, width: int, charts: int) -> None:
    """Check that a page is as it should be in a window of this width."""
    seen = look(page, width)
    assert seen["failures"] == []
    assert seen["loaded"] == []
    assert seen["width"] == width
    assert seen["charts"] == charts
    assert seen["empty"] == [], "every chart is drawn"
    assert seen["overflow"] <= 0
    assert seen["cut"] == []
    assert seen["smallest_px"] >= 11


@pytest.mark.parametrize("width", WIDTHS)
def test_power_over_time(runs: dict[str, Report], tmp_path: Path, width: int) -> None:
    check(plot.power(runs["ten channels"]).save(tmp_path / "power.html"), width, charts=1)


@pytest.mark.parametrize("width", WIDTHS)
def test_current_edge_by_edge(runs: dict[str, Report], tmp_path: Path, width: int) -> None:
    check(plot.current(runs["ten channels"]).save(tmp_path / "current.html"), width, charts=1)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_comparison(runs: dict[str, Report], tmp_path: Path, width: int) -> None:
    page = plot.write_page(tmp_path / "both.html", "Two drives", [plot.energy(runs), plot.latency(runs)])
    check(page, width, charts=2)


@pytest.mark.parametrize("width", WIDTHS)
def test_compromises(results: Results, tmp_path: Path, width: int) -> None:
    check(plot.tradeoff(results).save(tmp_path / "tradeoff.html"), width, charts=1)


def test_a_script_that_fails_is_seen(runs: dict[str, Report], tmp_path: Path) -> None:
    page = plot.energy(runs).save(tmp_path / "broken.html")
    page.write_text(page.read_text().replace('"type":"bar"', '"type":"no such mark"'))
    seen = look(page, 800)
    assert seen["failures"]
    assert seen["marks"] == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_for_a_notebook(runs: dict[str, Report], tmp_path: Path, width: int) -> None:
    page = tmp_path / "card.html"
    body = runs["ten channels"]._repr_html_()
    page.write_text(f'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>{body}</body></html>')
    seen = look(page, width)
    assert seen["failures"] == []
    assert seen["overflow"] <= 0


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, int]]:
    """Rerun every experiment of the papers in little; give each page, and how many charts there should be."""
    directory = tmp_path_factory.mktemp("papers")
    little = {
        "energysim": Terms(requests=300, sets=('run.precondition="empty"',)),  # an empty drive is quick to lay down
        "park": Terms(requests=20_000),  # collection begins
        "rftl": Terms(requests=60_000),  # the largest table is full, and pages of the map are written
    }
    pages = {}
    for name, terms in little.items():
        found = reproduce(choose((), name), directory, terms=terms)
        assert not found.fault
        page = directory / f"{name}.html"
        assert "not drawn" not in page.read_text()
        pages[name] = page, page.read_text().count('class="chart"')
    return pages


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["energysim", "park", "rftl"])
def test_the_pages_of_the_papers(papers: dict[str, tuple[Path, int]], name: str, width: int) -> None:
    page, charts = papers[name]
    assert charts >= 4
    check(page, width, charts)
