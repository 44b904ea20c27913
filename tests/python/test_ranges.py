"""The ranges of a preset's parameters: their table, the corners, the intervals, and what the command prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt import Config
from flashwatt.cli.ranges import filled
from flashwatt.config import reference
from flashwatt.sweeps import ranges
from flashwatt.sweeps.ranges import FIGURES, Moved, corner

if TYPE_CHECKING:
    from conftest import Cli

SMALL = ("device.scale=1/2048", "device.channels=2", "write_buffer.bytes=4194304")
FILL = (*SMALL, "run.precondition=empty", "workload.uniform.sequential=true", "workload.uniform.read_fraction=0")


@pytest.mark.parametrize("preset", ranges.presets())
def test_a_preset_lies_within_its_own_ranges(preset: str) -> None:
    _, settings = reference.preset(preset)
    for one in ranges.parameters(preset):
        value = settings[one.key]["value"]
        ends = (
            zip(one.low, value, one.high, strict=True) if isinstance(one.low, tuple) else [(one.low, value, one.high)]
        )
        assert all(low <= is_ <= high and low < high for low, is_, high in ends), one
        assert one.source


def test_a_preset_without_ranges_is_refused_by_name() -> None:
    with pytest.raises(flashwatt.FlashwattError, match=r"found `tlc-nvme-1t`; expected one of .*did you mean `tlc-"):
        ranges.parameters("tlc-nvme-1t")


def test_corners_by_hand() -> None:
    """With a = 1 … 3, b = 10 … 30: a raises the figure, b lowers it, c does nothing, d raises it at both ends."""
    effects = [
        Moved("a", 5.0, ((1, 4.0), (3, 7.0))),
        Moved("b", 5.0, ((10, 6.0), (30, 4.5))),
        Moved("c", 5.0, ((0, 5.0), (9, 5.0))),
        Moved("d", 5.0, ((0, 5.5), (9, 5.2))),
        Moved("e", 5.0, ()),
    ]
    assert corner(effects, 0) == (("a", 1), ("b", 30))
    assert corner(effects, 1) == (("a", 3), ("b", 10), ("d", 0))
    assert [(one.low, one.high) for one in effects][-2:] == [(5.0, 5.5), (5.0, 5.0)]


@pytest.fixture(scope="module")
def found() -> ranges.Ranges:
    """The ranges of a few keys on a small drive that is filled."""
    config = Config(sets=("device.preset=tlc-client-1t", *FILL, "workload.uniform.requests=1500"))
    wanted = ("device.cells.program_ns", "device.cells.slc.program_ns", "energy.controller.active_ma")
    others = [one.key for one in ranges.parameters("tlc-client-1t") if one.key not in wanted]
    return ranges.ranges(config, keep=others)


def test_intervals_hold_what_was_run(found: ranges.Ranges) -> None:
    assert [one.key for one in found.parameters] == [
        "device.cells.program_ns",
        "device.cells.slc.program_ns",
        "energy.controller.active_ma",
    ]
    assert 7 <= found.runs <= 7 + 2 * len(FIGURES)
    for name, one in found.figures.items():
        assert one.low <= one.nominal <= one.high, name
        assert all(one.low <= effect.low <= one.nominal <= effect.high <= one.high for effect in one.effects), name
        widths = [effect.high - effect.low for effect in one.effects]
        assert widths == sorted(widths, reverse=True)
        assert min(widths, default=1) > 0


def test_the_controller_moves_power_and_no_rate(found: ranges.Ranges) -> None:
    assert "energy.controller.active_ma" not in [one.key for one in found.figures["mb_s"].effects]
    power = next(one for one in found.figures["power_w"].effects if one.key == "energy.controller.active_ma")
    # 606 to 1212 mA at 3.3 V, while a request is in the drive: nearly always in a fill.
    assert power.high - power.low == pytest.approx(2.0, rel=0.05)


def test_they_are_the_same_again_and_with_more_processes(found: ranges.Ranges) -> None:
    config = Config(sets=("device.preset=tlc-client-1t", *FILL, "workload.uniform.requests=1500"))
    kept = [one.key for one in ranges.parameters("tlc-client-1t") if one not in found.parameters]
    assert ranges.ranges(config, keep=kept, workers=2) == found


def test_the_command(flashwatt: Cli) -> None:
    chosen = ("device.scale=1/256", "workload.uniform.requests=1000", "run.precondition=empty")
    sets = [word for one in chosen for word in ("--set", one)]
    done = flashwatt("run", "--preset", "tlc-96l-1t", "--ranges", "--json", *sets)
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    assert printed["preset"] == "tlc-96l-1t"
    assert list(printed["figures"]) == ["mb_s", "power_w", "j_per_gb"], "no cache, no knee"
    assert all(one["source"] for one in printed["parameters"])


def test_without_a_workload_a_64th_of_the_drive_is_filled() -> None:
    config, factors = filled(Config(sets=("device.preset=tlc-client-1t",)), {"device.preset"})
    whole = config.resolve()
    assert factors == {"device.timing.erase_ns": 63 / 1536}, "a block has 63 pages, where the whole drive has 1,536"
    assert whole["device"]["timing"]["erase_ns"] == round(3_500_000 * 63 / 1536)
    assert whole["device"]["scale"] == 1 / 64
    assert whole["run"]["precondition"] == "empty"
    sequential = whole["workload"]["sequential"]
    (size,) = sequential["sizes"]["write"]
    written = sequential["requests"] * size["bytes"]
    assert sequential["read_fraction"] == 0
    assert 0 <= whole["device"]["logical_bytes"] - written < size["bytes"]
    sets = ("device.preset=tlc-client-1t", "device.scale=1/8", "device.timing.erase_ns=3000000")
    scaled, factors = filled(Config(sets=sets), {one.partition("=")[0] for one in sets})
    assert scaled.resolve()["device"]["scale"] == 1 / 8
    assert (scaled.resolve()["device"]["timing"]["erase_ns"], factors) == (3_000_000, {})


def test_mistakes(flashwatt: Cli) -> None:
    unknown = flashwatt("run", "--preset", "x25m", "--ranges")
    assert unknown.returncode != 0
    assert "--ranges: no ranges are known of the parameters of this preset; found `x25m`" in unknown.stderr
    assert "`tlc-client-1t`" in unknown.stderr
    both = flashwatt("run", "--preset", "tlc-client-1t", "--ranges", "--out", "x")
    assert both.returncode == 2
    assert "--out is about one run, --ranges about many" in both.stderr
