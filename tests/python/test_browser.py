"""Pages in a real browser: no script fails, every chart is drawn, nothing is cut off on a desk or on a phone."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from conftest import CONFIG
from flashwatt import Report, Results, plot
from flashwatt.plot.trace import write_trace
from flashwatt.reproduce import Terms, reproduce
from flashwatt.reproduce.catalogue import choose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashwatt.reproduce.catalogue import Experiment

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = os.environ.get("FLASHWATT_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
WIDTHS = (1280, 500, 390, 380) if "FLASHWATT_SOAK" in os.environ else (1280, 390)
"""Of a desk and of phones; each costs as much again as the page itself."""

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
# A script for the page: when all charts are drawn, it writes what is visible as JSON into the page.
TELL = """<script>
setTimeout(() => {
  const shown = text => text.textContent.trim() && text.getAttribute("opacity") !== "0";
  const texts = [...document.querySelectorAll("svg text")].filter(shown);
  const boxes = texts.map(text => text.getBoundingClientRect());
  const told = {
    page: location.pathname,
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
    cut: texts.filter((text, at) => {
      const svg = text.closest("svg").getBoundingClientRect(), box = boxes[at];
      return box.left < svg.left - 1 || box.right > Math.min(svg.right + 1, innerWidth)
        || box.bottom > svg.bottom + 1 || box.top < svg.top - 1;
    }).map(text => text.textContent),
    overlapping: texts.flatMap((text, at) => texts.slice(at + 1).filter((other, after) => {
      const [a, b] = [boxes[at], boxes[at + 1 + after]];
      const halo = text.textContent === other.textContent && Math.hypot(a.left - b.left, a.top - b.top) < 1;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      return !halo && Math.min(across, down) > 2;
    }).map(other => `${text.textContent} / ${other.textContent}`)),
    smallest_px: Math.min(...texts.map(text => parseFloat(getComputedStyle(text).fontSize))),
    ticks: [...document.querySelectorAll(".role-axis-label text")].filter(shown).map(text => text.textContent),
    fills: [...new Set(texts.map(text => getComputedStyle(text).fill))],
    loaded: performance.getEntriesByType("resource").map(entry => entry.name),
  };
  parent.postMessage(JSON.stringify(told), "*");
}, 1500);
</script>"""
# Windows have a least width, frames have none; and one browser can hold several.
FRAME = '<iframe src="{page}" style="border: 0; width: {width}px; height: 900px"></iframe>'
WINDOW = """<!DOCTYPE html><meta charset="utf-8">
<pre id="told"></pre>
<script>onmessage = event => {{ document.getElementById("told").append(event.data, "\\n"); }};</script>
{frames}
"""


@pytest.fixture(scope="module")
def runs() -> dict[str, Report]:
    """Make two runs with everything that a plot can want."""
    base = flashwatt.Config(CONFIG)
    return {
        "ten channels": flashwatt.run(base, series=True, edges=(5_000_000, 6_000_000)),
        "a drive of four": flashwatt.run(base, series=True, device__channels=4),
    }


@pytest.fixture(scope="module")
def results() -> Results:
    """Make a small sweep."""
    grid = {"device.channels": [2, 4, 8], "controller.policy": list(flashwatt.names("dispatch"))}
    return flashwatt.sweep(grid, base=flashwatt.Config(CONFIG), seeds=2)


def look(*pages: tuple[Path, Sequence[int]]) -> list[list[dict[str, Any]]]:
    """Open pages of one directory in windows of these widths, all in one browser. Gives what each window shows."""
    frames, place = [], pages[0][0].parent
    for page, widths in pages:
        text = page.read_text().replace("<head>", f"<head>{LISTEN}", 1)
        before, _, after = text.rpartition("</body>")
        page.with_name(f"{page.stem}-probed.html").write_text(f"{before}{TELL}</body>{after}")
        frames += [FRAME.format(page=f"{page.stem}-probed.html", width=width) for width in widths]
    window = place / "window.html"
    window.write_text(WINDOW.format(frames="".join(frames)))
    assert BROWSER is not None
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=60000",
        f"--user-data-dir={place / 'profile'}",
        "--window-size=1400,1000",
        "--dump-dom",
        window.as_uri(),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240).stdout
    told = re.search(r'<pre id="told">(.+?)</pre>', dom, re.DOTALL)
    assert told, dom[-2000:]
    seen: dict[str, list[dict[str, Any]]] = {}
    for line in html.unescape(told[1]).splitlines():
        window_seen = json.loads(line)
        seen.setdefault(window_seen["page"].rpartition("/")[2], []).append(window_seen)
    found = [seen.get(f"{page.stem}-probed.html", []) for page, _ in pages]
    assert [sorted(one["width"] for one in some) for some in found] == [sorted(widths) for _, widths in pages]
    return found


def check(windows: list[dict[str, Any]], charts: int) -> None:
    """Check that a page is as it should be, on a desk and on a phone."""
    for seen in windows:
        width = seen["width"]
        assert seen["failures"] == [], width
        assert seen["loaded"] == [], width
        assert seen["charts"] == charts, width
        assert seen["empty"] == [], f"every chart is drawn ({width} px)"
        assert seen["overflow"] <= 0, width
        assert seen["cut"] == [], width
        assert seen["overlapping"] == [], width
        assert seen["smallest_px"] >= 11, width


ZOOM = """<script>
setTimeout(() => {
  const svg = document.querySelector(".chart svg.marks"), box = svg.getBoundingClientRect();
  const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 3, deltaY: -800, bubbles: true };
  const wheel = new WheelEvent("wheel", { ...at, shiftKey: KEY, cancelable: true });
  document.elementFromPoint(at.clientX, at.clientY).dispatchEvent(wheel);
}, 700);
</script>"""
CHARTS = {"power": 1, "current": 1, "both": 6, "trace": 7, "versus": 2, "tradeoff": 1}
"""Charts of each page of a command's."""


@pytest.fixture(scope="module")
def seen(
    runs: dict[str, Report], results: Results, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[dict[str, Any]]]:
    """Make every page that a command writes, and some that are changed. One browser shows all of them."""
    place = tmp_path_factory.mktemp("pages")
    one, power = runs["ten channels"], plot.power(runs["ten channels"])
    plot.current(one).save(place / "current.html")
    latencies = [plot.latency(runs, form=form) for form in ("tail", "cdf", "box", "bars")]
    plot.write_page(place / "both.html", "Two drives", [plot.energy(runs), plot.power(runs), *latencies])
    _trace(place)
    numbers, names = "device.channels", "controller.policy"
    versus = [
        plot.versus(results, *axes) for axes in ((numbers, "power_w.peak", names), (names, "power_w.peak", numbers))
    ]
    plot.write_page(place / "versus.html", "Peak power", versus)
    plot.tradeoff(results).save(place / "tradeoff.html")
    text = power.save(place / "power.html").read_text()
    # A headless browser prefers bright pages; the script's question is answered for it.
    dark = text.replace('matchMedia("(prefers-color-scheme: dark)")', "matchMedia('all')")
    before, _, after = text.rpartition("</body>")
    zoomed = {key: f"{before}{ZOOM.replace('KEY', key)}</body>{after}" for key in ("false", "true")}
    broken = plot.energy(runs).save(place / "broken.html").read_text()
    card = f'<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>{one._repr_html_()}</body></html>'
    changed = {
        "bright": text,
        "dark": dark,
        "zoom-false": zoomed["false"],
        "zoom-true": zoomed["true"],
        "broken": broken.replace('"type":"bar"', '"type":"no such mark"'),
    }
    for name, page in {**changed, "card": card}.items():
        (place / f"{name}.html").write_text(page)
    asked = {**dict.fromkeys([*CHARTS, "card"], WIDTHS), **dict.fromkeys(changed, (800,))}
    windows = look(*((place / f"{name}.html", widths) for name, widths in asked.items()))
    return dict(zip(asked, windows, strict=True))


def _trace(place: Path) -> None:
    """Write the page of a trace with requests of many sizes."""
    trace = place / "many-sizes.csv"
    sizes = [512 << power for power in range(16)]
    lines = [f"{100_000 * at},0,{'RWT'[at % 3]},{at << 20},{size}" for at, size in enumerate(3 * sizes)]
    trace.write_text("\n".join([*lines, "5000000,0,F,0,0", f"5100000,0,R,0,{sizes[0]}"]) + "\n")
    write_trace(flashwatt.traces.profile(trace), place)


@pytest.mark.parametrize("name", CHARTS)
def test_a_page_is_as_it_should_be(seen: dict[str, list[dict[str, Any]]], name: str) -> None:
    check(seen[name], CHARTS[name])


def test_a_dark_page_has_dark_charts(seen: dict[str, list[dict[str, Any]]]) -> None:
    (bright,), (dark,) = seen["bright"], seen["dark"]
    assert (bright["failures"], dark["failures"]) == ([], [])
    assert "rgb(43, 51, 64)" in bright["fills"]
    assert "rgb(43, 51, 64)" not in dark["fills"]
    assert "rgb(227, 231, 237)" in dark["fills"]


def test_shift_and_the_wheel_zoom(seen: dict[str, list[dict[str, Any]]]) -> None:
    """Without Shift a wheel scrolls the page."""
    (still,), (zoomed,) = seen["zoom-false"], seen["zoom-true"]
    assert (still["failures"], zoomed["failures"]) == ([], [])
    assert still["ticks"] == seen["bright"][0]["ticks"]
    assert still["ticks"] != zoomed["ticks"]


def test_a_script_that_fails_is_seen(seen: dict[str, list[dict[str, Any]]]) -> None:
    (broken,) = seen["broken"]
    assert broken["failures"]
    assert broken["marks"] == 0


def test_the_page_for_a_notebook(seen: dict[str, list[dict[str, Any]]]) -> None:
    for card in seen["card"]:
        assert card["failures"] == []
        assert card["overflow"] <= 0


EMPTY = 'run.precondition="empty"'
"""A drive that is quick to lay down."""
FEW_FILES = ("workload.files.set.nfiles=32", "workload.files.cache.memory_bytes=33554432", EMPTY)
"""Which memory does not hold."""
SEEDS = 2 if "FLASHWATT_SOAK" in os.environ else 1
"""Of the two pages with most runs. The other ones show intervals."""
LITTLE: dict[str, tuple[str, tuple[str, ...], Terms]] = {
    "energysim": ("energysim", (), Terms(requests=100, sets=(EMPTY,), seeds=2)),
    "park": ("park", ("X1", "X2", "X3", "X39"), Terms(requests=20_000, seeds=2)),  # collection begins
    # the largest table is full, and pages of the map are written
    "rftl": ("rftl", (), Terms(requests=40_000, seeds=SEEDS)),
    "seo2008, drives": (
        "seo2008",
        ("X4", "X5", "X6", "X7", "X8", "X9", "X12"),
        Terms(requests=300, sets=(EMPTY,), seeds=SEEDS),
    ),
    "seo2008, files": ("seo2008", ("X10", "X11"), Terms(requests=100, sets=FEW_FILES, seeds=2)),
    "theory": ("theory", ("V3", "V4"), Terms(requests=2_000, seeds=2)),
    "peers": ("peers", ("P2", "P4"), Terms(requests=2_000, seeds=2)),
}
"""Experiments in little: paper, experiments (none: all of it), terms. Two seeds are enough for intervals."""
FEWER = {"X5": 80, "X7": 80, "X8": 80, "X25": 30}
"""Requests of experiments that have some of 16 MiB at every size on every drive, and of one that draws each current."""
GRIDS = ("energysim", "park", "rftl")
"""Papers with grids, whose charts lie side by side."""


def smaller(one: Experiment) -> Experiment:
    """Give an experiment on a drive of an eighth if its paper has one SSD, or with fewer requests. Grids stay."""
    overrides = {"device.scale": "1/8"} if one.paper.name == "energysim" and one.id != "X12" else {}
    requests = FEWER.get(one.id)
    sets = [
        runs if runs.grid else replace(runs, overrides={**runs.overrides, **overrides}, requests=requests)
        for runs in one.sets
    ]
    return replace(one, sets=tuple(sets))


OFTEN = ("park", "theory", "peers")
"""The pages that `make test` looks at, too: a grid, lines and tables. The soak looks at all."""


@pytest.mark.parametrize("case", LITTLE if "FLASHWATT_SOAK" in os.environ else OFTEN)
def test_the_pages_of_the_papers(tmp_path: Path, case: str) -> None:
    name, experiments, terms = LITTLE[case]
    found = reproduce([smaller(one) for one in choose(experiments, name)], tmp_path, terms=terms)
    assert not found.fault
    page = tmp_path / f"{name}.html"
    text = page.read_text()
    assert "not drawn" not in text
    charts = text.count('class="chart"')
    assert charts >= 2
    if terms.seeds == 2:
        assert "with 95 % intervals" in text, "bars or lines have intervals"
        assert re.search(r'<td class="figure" title="simulated">[\d,.e+−-]+ ± ', text), "and so have figures of tables"
    assert ('class="multiples"' in text) == (name in GRIDS)
    (windows,) = look((page, WIDTHS))
    check(windows, charts)
