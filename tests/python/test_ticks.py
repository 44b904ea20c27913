"""The text of every tick tells the tick's value, on every axis of every chart.

A picture is drawn with labels that hold both: the text that the chart would show, and the value of the tick. SVG, PNG,
PDF and pages are drawn from the same definition.
"""

from __future__ import annotations

import copy
import re
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import flashwatt
from conftest import CONFIG
from flashwatt import plot, traces
from flashwatt.base.painter import paint
from flashwatt.plot import figures
from flashwatt.plot.library import VEGA_LITE
from flashwatt.plot.trace import trace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flashwatt.plot import Chart

VALUES = {
    "shares": [0.07, 0.15, 0.28, 0.5],
    "powers of four": [1, 4, 16, 64],
    "of one size": [100_000, 100_001, 100_002.5],
    "far apart": [1, 10, 1_000_000],
    "bytes": [4096, 65_536, 1_048_576],
    "small": [1.25e-7, 3e-7, 9.5e-6],
    "around zero": [-0.3, -0.07, 0.0, 0.125],
    "many": list(range(0, 1500, 100)),
}
_UNITS = {"": 1, "%": 1e-2, "µs": 1, "ms": 1e3, "s": 1e6}
_PAIR = re.compile(r">([^<>]*)≙([^<>]*)<")


def versus_of(values: list[float], **options: Any) -> Chart:
    frame = pl.DataFrame(
        {"parameter": [float(value) for value in values], "figure": [3 * value + 1e-9 for value in values], "seed": 1}
    )
    return plot.versus(frame, "parameter", "figure", **options)


def every(tmp_path: Path) -> Iterator[tuple[str, Chart]]:
    """Every chart of the package, small."""
    base = flashwatt.Config(CONFIG)
    files = {"workload.files.system": "lfs", "workload.files.personality": "varmail", "run.measure.requests": 200}
    one = flashwatt.run(base, series=True, edges=(5_000_000, 6_000_000), host__scheduler="noop")
    yield from ((f"versus, {name}", versus_of(values)) for name, values in VALUES.items())
    above = {name: values for name, values in VALUES.items() if min(values) > 0}
    yield from ((f"versus, {name}, log", versus_of(one, log_x=True, log_y=True)) for name, one in above.items())
    yield from ((name, getattr(plot, name)(one)) for name in ("power", "current", "energy", "queue", "waits"))
    yield from ((f"latency, {form}", plot.latency(one, form=form)) for form in ("tail", "cdf", "box", "bars"))  # type: ignore[arg-type]
    yield "operations", plot.operations(flashwatt.run({"device.preset": "x25m", **files}))
    results = flashwatt.sweep({"device.channels": [2, 8]}, base=base)
    yield "tradeoff", plot.tradeoff(results)
    yield "activity", plot.activity(one, "throughput")
    yield "knee", plot.knee(one)
    small = {"device.channels": 2, "device.blocks_per_plane": 32, "ftl": "fast", "workload.uniform.requests": 100}
    crash = flashwatt.crash(base.override(small), cuts=12)
    yield from ((name, getattr(plot, name)(crash)) for name in ("recovery", "cuts"))
    yield "recovery, high", plot.recovery(crash, height=2000)
    yield "dio", plot.dio({"drive": {"points": [_point(size) for size in (512, 4096, 1 << 20, 3 << 20)]}}, "mb_s")
    (tmp_path / "t.csv").write_text("".join(f"{at}.5,0,W,{at * 8192},4096\n" for at in range(40)))
    yield "trace", trace(traces.profile(tmp_path / "t.csv"))
    points = [
        figures.Point(series="a", x=x, y=y) for x, y in zip(VALUES["shares"], VALUES["powers of four"], strict=True)
    ]
    for log in (False, True):
        yield f"lines, {log}", figures.lines("t", "s", points, ("x", "y"), log_x=log, log_y=log)
        yield (
            f"bars, {log}",
            figures.bars(
                "t",
                "s",
                [figures.Bar(group="g", series="a", value=0.07), figures.Bar(group="g", series="b", value=12)],
                "u",
                log=log,
            ),
        )
    yield (
        "shares",
        figures.shares(
            "t",
            "s",
            [figures.Bar(group="g", series="a", value=0.07), figures.Bar(group="g", series="b", value=0.93)],
            "u",
        ),
    )


def _point(size: int) -> dict[str, Any]:
    return {"request_bytes": size, "mb_s": size / 1000, "pattern": "seqread"}


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Chart]:
    """Every chart by its name."""
    return dict(every(tmp_path_factory.mktemp("charts")))


def test_every_chart_is_there(charts: dict[str, Chart]) -> None:
    drawn = {name.partition(",")[0] for name in charts}
    assert drawn >= {
        name for name in plot.__all__ if name not in ("Chart", "write_activity", "write_knee", "write_page", "probes")
    }  # as `power`


def _marked(part: Any) -> None:
    """Let every axis of numbers write its labels and the values of its ticks."""
    if isinstance(part, list):
        for one in part:
            _marked(one)
    if not isinstance(part, dict):
        return
    for channel in ("x", "y"):
        place = part.get("encoding", {}).get(channel, {})
        if place.get("type") == "quantitative" and place.get("axis", {}) is not None and "field" in place:
            axis = place.setdefault("axis", {})
            axis["labelExpr"] = f"({axis.get('labelExpr', 'datum.label')}) + '≙' + datum.value"
            axis["labelOverlap"] = False
    for inner in part.values():
        _marked(inner)


def _read(text: str) -> float:
    found = re.fullmatch(r"([-−]?[\d.,]+(?:e[-+−]?\d+)?)\s*(%|µs|ms|s|)", text)
    assert found, text
    return float(found[1].replace(",", "").replace("−", "-")) * _UNITS[found[2]]


def ticks(chart: Chart, *, page: bool) -> list[tuple[str, float]]:
    spec = copy.deepcopy(chart.spec(page=page))
    _marked(spec)
    if page:
        spec["width"] = 600
    svg = paint("vegalite_to_svg", spec, vl_version=VEGA_LITE).decode()
    found = [(unescape(text).strip(), float(value)) for text, value in _PAIR.findall(svg)]
    return [(text, value) for text, value in found if text]


def test_every_tick_tells_its_value(charts: dict[str, Chart]) -> None:
    for name, chart in charts.items():
        found = ticks(chart, page=name == "versus, shares")
        assert found, name
        values = sorted({value for _, value in found})
        nearest = min((b - a for a, b in pairwise(values)), default=abs(values[0]) or 1.0)
        for text, value in found:
            assert abs(_read(text) - value) <= max(1e-9 * abs(value), 1e-3 * nearest), (name, text, value)


def test_a_parameter_is_labelled_as_it_is(charts: dict[str, Chart]) -> None:
    """By hand: what the picture shows at the values of a parameter."""
    for name, wanted in (
        ("shares", ["0.07", "0.15", "0.28", "0.5"]),
        ("powers of four", ["1", "4", "16", "64"]),
        ("around zero", ["−0.3", "−0.07", "0", "0.125"]),
    ):
        said = [text for text, value in ticks(charts[f"versus, {name}"], page=False) if value in VALUES[name]]
        assert [one for one in wanted if one in said] == wanted, (name, said)
