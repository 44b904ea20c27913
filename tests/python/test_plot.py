"""Pictures: they render, they carry what the report says, and they load nothing from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from flashwatt.plot import power_chart, write_power

if TYPE_CHECKING:
    from pathlib import Path

    from flashwatt import Report


def test_svg_is_complete(report: Report, tmp_path: Path) -> None:
    svg, _ = write_power(report, tmp_path)
    text = svg.read_text()
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    for words in ("power (W)", "simulated time (ms)", "NAND program", "host interface", "peak 3.41 W", "x25m"):
        assert words in text


def test_page_needs_no_network(report: Report, tmp_path: Path) -> None:
    report["config"]["device"]["preset"] = "a </script><b>name"
    _, page = write_power(report, tmp_path)
    text = page.read_text()
    assert "vegaEmbed" in text
    assert 'name="viewport"' in text
    assert "</script><b>" not in text
    assert "<script src" not in text
    markup = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert re.findall(r"src=|href=|url\(|@import", markup) == []


def test_a_report_without_a_peak_is_drawn_without_its_line(report: Report, tmp_path: Path) -> None:
    report["power_w"]["peak"] = None
    svg, _ = write_power(report, tmp_path)
    assert ">peak" not in svg.read_text()


@pytest.mark.parametrize("bins", [1, 2, 599, 600, 5000])
def test_joined_bins_keep_the_energy(report: Report, bins: int) -> None:
    chart = power_chart(report, 800, bins).to_dict()
    rows = chart["datasets"][chart["layer"][0]["data"]["name"]]
    ends = [row["time"] for row in rows]
    joules = sum(a["NAND program"] * (end - a["time"]) for a, end in zip(rows, ends[1:], strict=False)) / 1e3
    assert joules == pytest.approx(report["energy_j"]["nand"]["program"], rel=0.2 if bins < 3 else 1e-4)


def test_an_idle_drive_is_drawn(report: Report, tmp_path: Path) -> None:
    for watts in report["series"]["power_w"].values():
        watts[:] = [0.0] * len(watts)
    assert all(path.stat().st_size for path in write_power(report, tmp_path))
