"""Sizes, fonts and palettes of pictures: a column of a paper, greys, alternative texts; several runs in one picture."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

import flashwatt
from charts import rows_of
from conftest import CONFIG
from flashwatt import Report, plot
from flashwatt.plot.style import text_px

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flashwatt.base.files import Json
    from flashwatt.plot import Chart

COLUMN = 252  # points of a column of a paper in two columns
NAMES = ["power", "powers", "window", "current", "energy", "energies", "tail", "cdf", "box", "bars", "tradeoff"]
NAMES += ["versus", "versus_names", "recovery", "cuts"]


@pytest.fixture(scope="module")
def charts() -> dict[str, Chart]:
    """Make every picture, of one run and of two, and of a sweep."""
    base = flashwatt.Config(CONFIG)
    one = flashwatt.run(base, series=True, edges=(5_000_000, 6_000_000))
    two = {"ten channels": one, "a drive of four channels": flashwatt.run(base, series=True, device__channels=4)}
    grid = {"device.channels": [2, 8], "controller.policy": ["in_order", "out_of_order", "reads_first"]}
    results = flashwatt.sweep(grid, base=base, seeds=2)
    small = {"device.channels": 2, "device.blocks_per_plane": 32, "ftl": "fast", "workload.uniform.requests": 200}
    crash = flashwatt.crash(base.override(small), cuts=5, twice=True)
    across, names = "device.channels", "controller.policy"
    drawn = [
        plot.power(one),
        plot.power(two),
        plot.power(one, window_ns=(5_000_000, 20_000_000)),
        plot.current(one),
        plot.energy(one),
        plot.energy(two, without=["nand_idle", "controller", "dram"]),
        plot.latency(two),
        plot.latency(two, form="cdf"),
        plot.latency(two, form="box"),
        plot.latency(two, form="bars"),
        plot.tradeoff(results),
        plot.versus(results, across, "latency_ns.read.p99_9", names),
        plot.versus(results, names, "energy_j.total", across),
        plot.recovery(crash, "energy_j"),
        plot.cuts(crash),
    ]
    return dict(zip(NAMES, drawn, strict=True))


def box(
    text: str, size: float, node: ElementTree.Element, at: tuple[float, float], *, turned: bool
) -> tuple[float, float, float, float]:
    """The box of a line of text."""
    long = text_px(text, size, bold=node.get("font-weight") == "bold")
    start = {"start": 0.0, "middle": -long / 2, "end": -long}[node.get("text-anchor", "start")]
    (x, y), end, above, below = at, start + long, -0.8 * size, 0.25 * size
    return (x + above, y - end, x + below, y - start) if turned else (x + start, y + above, x + end, y + below)


def texts(svg: str) -> Iterator[tuple[str, float, tuple[float, float, float, float]]]:
    """Give each text of a picture, its size, and the box that it takes in a wide font: left, top, right, bottom."""

    def walk(node: ElementTree.Element, x: float, y: float, turned: bool) -> Iterator[Any]:
        move = node.get("transform", "")
        for kind, numbers in re.findall(r"(\w+)\(([^)]*)\)", move):
            values = [float(number) for number in re.split(r"[ ,]+", numbers)]
            if kind == "translate":
                x, y = (x + values[1], y - values[0]) if turned else (x + values[0], y + values[1])
            elif kind == "rotate":
                assert values[0] in (0, -90, 270)
                turned = turned or values[0] != 0
        if node.tag.endswith("}text") and node.get("opacity") != "0":
            size = float(re.sub("px", "", node.get("font-size", "0")))
            down = 0.0
            for line in (node, *node):  # a text of several lines has one element for each
                down += float(line.get("dy", 0)) if line is not node else 0
                if line.text and line.text.strip():
                    yield line.text, size, box(line.text, size, node, (x, y + down), turned=turned)
        for child in node:
            yield from walk(child, x, y, turned)

    yield from walk(ElementTree.fromstring(svg), 0, 0, False)


def outside(svg: str) -> list[str]:
    """The texts that the picture cuts off; a fallback font may be wider than the one that was measured."""
    width, height = (float(number) for number in re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0])
    return [
        text
        for text, _, (left, top, right, bottom) in texts(svg)
        if left < -1 or top < -1 or right > width + 1 or bottom > height + 1
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_a_paper_is_readable(charts: dict[str, Chart], tmp_path: Path, name: str) -> None:
    narrow = charts[name].restyle(width=COLUMN, title=None)
    svg = narrow.svg()
    assert f'width="{COLUMN}"' in svg
    assert min(size for _, size, _ in texts(svg)) >= 7
    assert outside(svg) == []
    assert "role-title" not in svg
    if name in ("power", "box", "versus"):
        content = narrow.save(tmp_path / "column.pdf").read_bytes()
        assert re.search(rb"/MediaBox \[0 0 252(\.0+)? \d", content)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [380, 884])
def test_titles_and_legends_fit_in_a_wide_font(charts: dict[str, Chart], name: str, width: int) -> None:
    chart = charts[name]
    svg = chart.restyle(width=width).svg()
    assert outside(svg) == []
    words = " ".join(text for text, _, _ in texts(svg))
    assert all(word in words for word in chart.title.split())


@pytest.mark.parametrize("name", NAMES)
def test_a_height_is_that_of_the_whole_picture(charts: dict[str, Chart], name: str) -> None:
    svg = charts[name].restyle(width=500, height=320).svg()
    assert re.search(r'viewBox="0 0 500 320"', svg)
    assert outside(svg) == []


@pytest.mark.parametrize("name", NAMES)
def test_greys_are_grey(charts: dict[str, Chart], name: str) -> None:
    svg = charts[name].restyle(palette="grey", title=None).svg()
    colours = set(re.findall(r'(?:fill|stroke)="#(\w{6})"', svg))
    mixed = re.findall(r'(?:fill|stroke|stop-color)="rgb\((\d+), (\d+), (\d+)\)"', svg)  # of a scale
    colours |= {"".join(f"{int(part):02x}" for part in colour) for colour in mixed}
    for colour in colours:
        red, green, blue = (int(colour[at : at + 2], 16) for at in (0, 2, 4))
        assert max(red, green, blue) - min(red, green, blue) < 48, colour  # texts are bluish greys
    assert colours & {"111111", "000000", "363636"}


def test_font_title_and_palette(charts: dict[str, Chart]) -> None:
    chart = charts["power"]
    sizes = {size for _, size, _ in texts(chart.restyle(font_size=18, title=None).svg())}
    assert sizes == {18, 19.5}
    named = chart.restyle(title="My drive").svg()
    assert "My drive" in [text for text, _, _ in texts(named)]
    assert not {text for text, _, _ in texts(named)} & {chart.title, *chart.subtitle}
    assert "#0072b2" in charts["powers"].restyle(palette="colorblind").svg()
    assert plot.energy(Report(flashwatt.run(flashwatt.Config(CONFIG)).to_dict()), width=300).spec()["width"] == 300


def test_options_that_no_picture_can_have(charts: dict[str, Chart]) -> None:
    chart: Any = charts["power"]
    for options, said in (
        ({"width": 20}, "width: found 20; expected a number from 120 to 5000"),
        ({"font_size": "large"}, "font_size: found 'large'; expected a number"),
        ({"palette": "gray"}, "palette: unknown name; found `gray`; .*did you mean `grey`"),
        ({"title": 3}, "title: found 3; expected text, or None"),
    ):
        with pytest.raises(flashwatt.FlashwattError, match=said):
            chart.restyle(**options)
    report: Any = flashwatt.run(flashwatt.Config(CONFIG))
    for wrong, said in (({"widht": 300}, "did you mean `width`"), ({"without": ["idle"]}, "without: unknown name")):
        options = wrong
        with pytest.raises(flashwatt.FlashwattError, match=said):
            plot.energy(report, **options)


def test_components_are_left_out(charts: dict[str, Chart], report: Json) -> None:
    chart = plot.energy(Report(report), without=["nand_idle", "controller", "dram", "host_interface"])
    nand = report["energy_j"]["nand"]
    rows = next(iter(chart.spec()["datasets"].values()))
    assert {row["component"] for row in rows} == {"NAND transfer", "NAND read", "NAND program", "NAND erase"}
    drawn = {row["component"]: row["share"] for row in rows}
    active = sum(value for key, value in nand.items() if key not in ("idle", "total"))
    assert drawn["NAND program"] == pytest.approx(nand["program"] / active, rel=1e-4)
    assert "Left out: NAND idle, controller, DRAM, host interface." in chart.subtitle[0]
    with pytest.raises(flashwatt.FlashwattError, match="every component"):
        plot.energy(Report(report), without=list(plot.stack.COMPONENTS))


def test_a_picture_says_what_it_shows(charts: dict[str, Chart], tmp_path: Path) -> None:
    chart = charts["power"]
    said = html.escape(chart.description)
    assert chart.title in chart.description
    assert f'<svg role="img" aria-label="{said}"' in chart.svg()
    assert chart._repr_html_().startswith(f'<img alt="{said}" src="data:image/svg+xml;base64,')
    page = chart.save(tmp_path / "power.html").read_text()
    assert f'role="img" aria-label="{said}"' in page
    assert "Shift and the mouse wheel to zoom" in page
    assert "prefers-color-scheme: dark" in page


def test_the_power_of_two_runs_is_laid_over_one_another(report: Json) -> None:
    half = {**report, "series": {**report["series"]}}
    half["series"]["power_w"] = {key: [v / 2 for v in of] for key, of in report["series"]["power_w"].items()}
    chart = plot.power({"free": Report(report), "capped": Report(half)})
    (rows,) = chart.spec()["datasets"].values()
    free, capped = ([row["value"] for row in rows if row["run"] == name] for name in ("free", "capped"))
    assert capped == pytest.approx([value / 2 for value in free], rel=1e-4)
    assert chart.spec()["layer"][0]["mark"]["type"] == "line"


def test_a_window_of_time(report: Json) -> None:
    series = report["series"]
    step, start = series["interval_ns"], series["start_ns"]
    chart = plot.power(Report(report), window_ns=(start + 2 * step, start + 4.5 * step))
    spec = chart.spec()
    rows = rows_of(spec["datasets"][spec["layer"][0]["data"]["name"]])
    assert [row["NAND program"] for row in rows[:-1]] == pytest.approx(series["power_w"]["nand_program"][2:5], rel=1e-4)
    assert rows[0]["time"] * 1e3 == pytest.approx((start + 2 * step), rel=1e-5) or rows[0]["time"] > 0
    for window in ((5.0, 5.0), (1e15, 2e15)):
        with pytest.raises(flashwatt.FlashwattError, match=r"window_ns: found .*; expected \(from, until\)"):
            plot.power(Report(report), window_ns=window)


def test_boxes_and_shares_are_where_the_quantiles_are() -> None:
    run = flashwatt.run(flashwatt.Config(CONFIG))
    found = run.latency_ns.read
    rows = next(iter(plot.latency(run, form="box").spec()["datasets"].values()))
    (box,) = (row for row in rows if row["group"] == "reads")
    for name, want in (("p50", found.p50), ("p99", found.p99), ("p99_9", found.p99_9)):
        assert want is not None
        assert 1e6 * box[name] == pytest.approx(want, rel=0.01)
    assert box["p1"] <= box["p25"] <= box["p50"] <= box["p75"] <= box["p99"]
    bars = next(iter(plot.latency(run, form="bars").spec()["datasets"].values()))
    assert found.mean is not None
    assert 1e6 * bars[0]["value"] == pytest.approx(found.mean, rel=1e-4)
    spec = plot.latency(run, form="cdf").spec()
    rows = [row for row in spec["datasets"][spec["data"]["name"]] if row["kind"] == "read"]
    assert [row["share"] for row in rows] == sorted(row["share"] for row in rows)
    assert rows[-1]["share"] == 1
    assert 1e3 * next(row["us"] for row in rows if row["share"] >= 0.5) == pytest.approx(found.p50, rel=0.01)
    with pytest.raises(flashwatt.FlashwattError, match=r"form: unknown name; found `boxes`.*did you mean `box`"):
        plot.latency(run, form="boxes")  # type: ignore[arg-type]
