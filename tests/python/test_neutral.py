"""Two equivalent configurations give the same figures (law 11). Tests of the engine have the options of the drive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import flashwatt
from conftest import spelled_out

TRACE = Path(__file__).parents[2] / "examples" / "trace.csv"
# Keys that identify a run and are no result of it.
IDENTITY = ("version", "config", "config_sha256", "engine")
IDENTITY_OF_THE_WORKLOAD = ("name", "inputs", "input_sha256")

# Large drives, in small.
SMALL_BYTES = {
    "x25m": 4 * 10**9,
    "x25m-calibrated": 4 * 10**9,
    "pardispatcher-60g": 4 * 10**9,
    "tlc-nvme-1t": 64 * 10**9,
}


def _figures(report: flashwatt.Report) -> dict[str, Any]:
    figures = report.to_dict()
    for key in IDENTITY:
        del figures[key]
    for key in IDENTITY_OF_THE_WORKLOAD:
        figures["workload"].pop(key, None)
    return figures


def _replay(*traces: Path) -> dict[str, Any]:
    shared = {"path": [str(trace) for trace in traces], "share_devices": True}
    return _figures(flashwatt.run(workload={"trace": shared}))


def test_a_trace_cut_in_two_files_is_the_trace(tmp_path: Path) -> None:
    """Two files of one trace are merged by the times of their records."""
    remarks, header, *records = TRACE.read_text().splitlines()
    halves = records[: len(records) // 2], records[len(records) // 2 :]
    parts = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for part, half in zip(parts, halves, strict=True):
        part.write_text("\n".join([remarks, header, *half]) + "\n")
    assert _replay(*parts) == _replay(TRACE)


@pytest.mark.parametrize("preset", flashwatt.names("presets"))
def test_a_preset_spelled_out_is_the_preset(preset: str) -> None:
    """A configuration with every key of a preset, uncommented, runs as the preset does."""
    small = SMALL_BYTES.get(preset)
    workload = ({"device__logical_bytes": small} if small else {}) | {
        "workload__uniform__requests": 1_000,
        "workload__uniform__read_fraction": 0.5,
    }
    texts = spelled_out(preset)[0], f'device.preset = "{preset}"'
    spelled, named = (_figures(flashwatt.run(flashwatt.Config(text), **workload)) for text in texts)
    assert spelled == named
