"""A drive of today with an SLC cache: its fill, the knee in the table and in pictures, and `flashwatt try modern`."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import pytest

import flashwatt
from flashwatt import Report, plot

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

_FILL = {
    "device__preset": "tlc-client-1t",
    "device__scale": 1 / 256,
    "run__precondition": "empty",
    "workload__uniform__sequential": True,
    "workload__uniform__read_fraction": 0.0,
    "workload__uniform__request_bytes": 131_072,
    "workload__uniform__queue_depth": 32,
}


@pytest.fixture(scope="module")
def filled() -> Report:
    """A 256th of the drive, filled."""
    return flashwatt.run(series=True, workload__uniform__requests=29_700, **_FILL)


def test_the_knee_is_where_the_cache_is_full(filled: Report) -> None:
    config, knee = filled.config, filled.knee()
    assert knee is not None
    blocks = config["slc_cache"]["static_blocks"] + config["slc_cache"]["dynamic_blocks"]
    device = config["device"]
    # A block of four planes holds a third of its pages in SLC mode.
    block_bytes = device["pages_per_block"] * device["planes"] * device["page_bytes"] // 3
    cache_bytes = blocks * device["channels"] * device["ways"] * block_bytes
    buffer_bytes = config["write_buffer"]["bytes"]
    assert cache_bytes * 0.98 <= knee.written_bytes <= (cache_bytes + buffer_bytes) * 1.02


def test_levels_are_those_of_the_closed_form(filled: Report) -> None:
    """P·page·dies / (tPROG + tCBSY) in SLC mode, B times as much in tWL + tCBSY: transfers are hidden."""
    knee = filled.knee()
    assert knee is not None
    slc, native = (rows * 4 * 16_384 * 16 / us for rows, us in ((1, 206.715 + 3), (3, 1068.5 + 3)))
    first = knee.levels[0]
    assert knee.before.write_mb_s == pytest.approx(slc, rel=0.01)
    assert first.write_mb_s == pytest.approx(native, rel=0.01)
    assert knee.before.j_per_gb < first.j_per_gb < knee.levels[-1].j_per_gb


def test_bytes_and_joules_of_the_levels_add_up(filled: Report) -> None:
    knee = filled.knee()
    assert knee is not None
    parts, bins = (knee.before, *knee.levels), filled.series()
    left_out = filled.workload.write_bytes - sum(one.written_bytes for one in parts)
    buffer_bytes = filled.config["write_buffer"]["bytes"]
    bin_bytes = bins["write_mb_s"][0] * bins["end_ns"][0] / 1e3
    assert 4 * buffer_bytes <= left_out <= 4 * buffer_bytes + bin_bytes
    assert knee.written_bytes == pytest.approx(left_out + knee.before.written_bytes)
    joules = sum(one.power_w * one.seconds for one in parts)
    share = sum(one.seconds for one in parts) / filled.throughput.simulated_s
    assert joules == pytest.approx(share * filled.energy_j.total, rel=0.01)
    assert [one.j_per_gb for one in parts] == [
        pytest.approx(one.power_w * one.seconds / one.written_bytes * 1e9) for one in parts
    ]


def test_the_picture_marks_the_knee(filled: Report, tmp_path: Path) -> None:
    knee = filled.knee()
    assert knee is not None
    spec = json.dumps(plot.knee(filled).spec())
    assert f"{100 * knee.share:.1f} % of the drive" in spec
    assert plot.knee(filled).title.startswith("Writes fall from ")
    svg = plot.knee(filled).svg()
    assert "knee: " in svg
    assert "power (W)" in svg
    page = plot.write_knee(filled, tmp_path / "knee.html").read_text()
    assert page.count("over time") >= 2


def test_without_a_cache_there_is_no_knee(tmp_path: Path) -> None:
    sets = {"slc_cache__static_bytes": 0, "slc_cache__dynamic": False}
    report = flashwatt.run(series=True, workload__uniform__requests=5_000, **{**_FILL, **sets})
    assert report.knee() is None
    assert plot.knee(report).subtitle[-1] == "The rate of writes does not fall: no knee."


def test_mistakes(filled: Report) -> None:
    with pytest.raises(flashwatt.FlashwattError, match="height: the picture has two panels"):
        plot.knee(filled, height=300)
    short = flashwatt.run(device__preset="limit", device__blocks_per_plane=64, workload__uniform__requests=10)
    with pytest.raises(flashwatt.FlashwattError, match="holds nothing over time"):
        short.knee()
    disk = flashwatt.run(device__preset="laptop-7200", series=True, workload__uniform__requests=10)
    with pytest.raises(flashwatt.FlashwattError, match="holds power alone"):
        plot.knee(disk)


def test_try_modern_shows_the_knee(flashwatt: Cli, tmp_path: Path) -> None:
    done = flashwatt("try", "modern", "--out", "first")
    assert done.returncode == 0, done.stderr
    assert re.search(r"knee +after 1\.\d+ GB, 11\.\d % of the drive", done.stdout)
    assert re.search(r"before it +5,0\d\d MB/s at [\d.]+ W, [\d.]+ J/GB", done.stdout)
    named = re.findall(r"^  (first/\S+) ", done.stdout, re.MULTILINE)
    assert [one.partition("/")[2] for one in named] == [
        "knee.html",
        "knee.svg",
        "power.html",
        "report.json",
        "config.toml",
    ]
    assert all((tmp_path / one).stat().st_size > 0 for one in named)
    commands = re.findall(r"^  flashwatt ([^#\n]*)", done.stdout, re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        if "--ranges" in command:  # a minute: test_ranges.py has a small one
            continue
        again = flashwatt(*shlex.split(command))
        assert again.returncode == 0, again.stderr
