"""Disks from descriptions and from DiskSim's files, beside measured ones."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import tomli

import flashwatt
from flashwatt.disks.convert import from_disksim, from_json

if TYPE_CHECKING:
    from types import ModuleType

    from conftest import Cli

ROOT = Path(__file__).parents[2]
MEASURED = Path(__file__).parent / "data/disks"
WHOLE = ROOT.parent / "shared/disks"
"""The whole recordings, where they are at hand: for the soak."""

BOUNDS = {"atlas_III": (0.45, 0.40), "cheetah9LP": (0.20, 0.55), "hp_c3323a": (0.45, 0.28), "st41601n": (0.20, 0.93)}
"""Of the first 1,200 requests: the greatest demerit in ms, and the least share within 0.5 ms of the measured time."""


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("disks_beside", ROOT / "tools/disks_beside.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", BOUNDS)
def test_a_disk_takes_the_measured_times(name: str) -> None:
    demerit_ms, near = BOUNDS[name]
    found = tool().beside(MEASURED, name)
    assert found.demerit_ms <= demerit_ms
    assert found.near >= near


@pytest.mark.skipif(
    "FLASHWATT_SOAK" not in os.environ or not WHOLE.is_dir(), reason="the whole recordings, in the soak"
)
@pytest.mark.parametrize("name", BOUNDS)
def test_a_disk_takes_the_measured_times_of_a_whole_recording(name: str) -> None:
    found = tool().beside(WHOLE, name)
    assert found.demerit_ms <= found.bound_ms
    assert found.near >= {"st41601n": 0.9}.get(name, 0)


def test_the_demerit_is_the_distance_of_two_distributions() -> None:
    """Two times, 1 and 3 ms, beside 1.5 and 3.5 ms: 0.5 ms apart everywhere."""
    assert tool().demerit([1.0, 3.0], [3.5, 1.5]) == pytest.approx(0.5)
    assert tool().demerit([1.0, 3.0], [1.0, 3.0]) == 0


DISK: dict[str, Any] = {
    "disk": "made up",
    "rpm": 6000,
    "heads": 2,
    "order_of_tracks": "every cylinder from head 0 on",
    "sparing": "spare sectors at the end of each cylinder; slipped sectors move the rest of that cylinder on",
    "head_switch_ms": 1.0,
    "write_settle_ms": 0.25,
    "seek_points_cylinders_ms": [[1, 1.5], [9, 5.5]],
    "bus_read_us_per_sector": 51.2,
    "bus_write_us_per_sector": 102.4,
    "overheads_ms": {
        "read_hit_after_read": 0.1,
        "read_hit_after_write": 0.2,
        "read_miss_after_read": 0.3,
        "read_miss_after_write": 0.4,
        "write_hit_after_read": 0.5,
        "write_hit_after_write": 0.6,
        "write_miss_after_read": 0.7,
        "write_miss_after_write": 0.8,
    },
    "read_completion_ms": 0.01,
    "write_completion_ms": 0.02,
    "buffer": {
        "segments": 4,
        "write_segments": 2,
        "separate_write_segment": False,
        "segment_sectors": 64,
        "read_fill_ratio": 0.5,
        "write_fill_ratio": 0.25,
        "read_ahead": "until the segment is full",
        "read_ahead_max_sectors": 32,
        "returned_data_may_be_overwritten": 0,
        "read_ahead_after_hits": True,
        "keeps_sectors_before_the_request": False,
        "reads_on_arrival": False,
        "writes_on_arrival": True,
        "write_cache": "contiguous writes",
        "reads_hit_written_data": True,
        "write_stops_read_ahead": True,
    },
    "zones": [
        {
            "first_cylinder": 0,
            "last_cylinder": 5,
            "sectors_per_track": 40,
            "first_sector_offset": 3,
            "unused_front_sectors": 10,
            "track_skew_sectors": 5,
            "cylinder_skew_sectors": 7,
            "spares": 2,
            "slips": [90, 5],
            "defects": [[20, 478]],
        },
        {"first_cylinder": 7, "last_cylinder": 9, "sectors_per_track": 30},
    ],
}


def described(tmp_path: Path, **changes: Any) -> dict[str, Any]:
    """Convert the made-up disk with some keys changed; give its configuration's table."""
    path = tmp_path / "made.json"
    path.write_text(json.dumps({**DISK, **changes}))
    table: dict[str, Any] = tomli.loads(from_json(path).config)["hdd"]
    return table


def test_a_description_becomes_keys(tmp_path: Path) -> None:
    hdd = described(tmp_path)
    geometry, layout = hdd["geometry"], hdd["geometry"].pop("layout")
    assert geometry == {"rpm": 6000, "heads": 2, "track_order": "ascending", "spare_range": "cylinder"}
    assert layout[0] == {
        "first_cylinder": 0,
        "cylinders": 6,
        "sectors_per_track": 40,
        "offset_sectors": 3,
        "reserved_sectors": 10,
        "track_skew_sectors": 5,
        "cylinder_skew_sectors": 7,
        "spares": 2,
        "slips": [90, 5],
        "defects": [[20, 478]],
    }
    assert layout[1]["first_cylinder"] == 7
    assert hdd["seek"] == {"points": [[1, 1500000], [9, 5500000]], "write_settle_ns": 250000, "head_switch_ns": 1000000}
    interface = hdd["interface"]
    assert (interface["read_rate_mb_s"], interface["write_rate_mb_s"]) == (10.0, 5.0)
    assert (interface["read_fill_fraction"], interface["write_fill_fraction"]) == (0.5, 0.25)
    assert (interface["read_completion_ns"], interface["write_completion_ns"]) == (10000, 20000)
    assert interface["write_start"] == "overlapped"
    commands = interface["commands"]
    assert sorted(commands.values()) == [100000 * n for n in range(1, 9)]
    assert commands["write_miss_after_write_ns"] == 800000
    buffer = hdd["buffer"]
    assert (buffer["segments"], buffer["segment_bytes"], buffer["read_ahead_bytes"]) == (4, 64 * 512, 32 * 512)
    assert (buffer["read_ahead_to"], buffer["returned"], buffer["holds_writes"]) == ("segment", "kept", True)
    assert (buffer["reads_on_arrival"], buffer["writes_on_arrival"]) == (False, True)
    assert hdd["write_cache"] == {"bytes": 2 * 64 * 512, "extents": 2, "goes_first": True}


@pytest.mark.parametrize(
    ("changes", "table", "expected"),
    [
        ({"order_of_tracks": "serpentine in each zone"}, "geometry", {"track_order": "serpentine_by_zone"}),
        ({"order_of_tracks": "odd cylinders from the last head on"}, "geometry", {"track_order": "serpentine"}),
        (
            {
                "sparing": "spare tracks at the end of each zone; slipped tracks are left out",
                "zones": DISK["zones"][1:],
            },
            "geometry",
            {"spare_range": "zone_tracks"},
        ),
        (
            {"sparing": "spares at the end of each cylinder; slipped sectors move all that follows in the zone on"},
            "geometry",
            {"spare_range": "cylinder", "slips_use_spares": False},
        ),
        ({"sparing": "spares at the front of each cylinder"}, "geometry", {"spare_range": "cylinder_front"}),
        (
            {"sparing": "spares at the end of each range of cylinders", "sparing_range_cylinders": 3},
            "geometry",
            {"spare_range": "cylinders", "sparing_cylinders": 3},
        ),
        (
            {"sparing": "spares at the end of the disk; slips move what follows in the zone on"},
            "geometry",
            {"spare_range": "disk"},
        ),
        ({"write_settle_ms": -0.25}, "seek", {"write_settle_ns": 250000, "points_of": "writes"}),
        (
            {
                "seek_points_cylinders_ms": None,
                "seek_first_ten_ms": [float(n) for n in range(1, 11)],
                "seek_a_sqrt": [12, 1, 1, 5, 0.5],
            },
            "seek",
            {"points": [*([n, n * 1000000] for n in range(1, 11)), [11, 4316625], [12, 11000000], [13, 11500000]]},
        ),
        ({"bus_read_us_per_sector": 0.0}, "interface", {"read_rate_mb_s": 1000000.0}),
        (
            {"buffer": {**DISK["buffer"], "separate_write_segment": True}},
            "buffer",
            {"segments": 3, "holds_writes": False},
        ),
        ({"buffer": {**DISK["buffer"], "read_ahead": "none"}}, "buffer", {"read_ahead_bytes": 0}),
        (
            {"buffer": {**DISK["buffer"], "read_ahead": "to the end of the cylinder"}},
            "buffer",
            {"read_ahead_to": "cylinder"},
        ),
        ({"buffer": {**DISK["buffer"], "returned_data_may_be_overwritten": -1}}, "buffer", {"returned": "dropped"}),
        ({"buffer": {**DISK["buffer"], "write_cache": "none"}}, "write_cache", {"bytes": 0}),
        (
            {"buffer": {**DISK["buffer"], "read_ahead": "adaptive, until the segment is full"}},
            "buffer",
            {"read_ahead_to": "segment", "read_ahead_in_streams": True},
        ),
    ],
)
def test_words_of_a_description(tmp_path: Path, changes: dict[str, Any], table: str, expected: dict[str, Any]) -> None:
    found = described(tmp_path, **changes)[table]
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rpm": None}, "rpm: found nothing; expected revolutions per minute"),
        ({"rpm": -1}, "rpm: found -1; expected a number of at least 1"),
        ({"order_of_tracks": "any"}, "order_of_tracks: found any; expected `every cylinder"),
        ({"sparing": "here and there"}, "sparing: found here and there; expected where spares are"),
        ({"buffer": {**DISK["buffer"], "read_ahead": "often"}}, "buffer.read_ahead: found often"),
        ({"buffer": {**DISK["buffer"], "read_fill_ratio": 2}}, "buffer.read_fill_ratio: found 2.0; expected a share"),
        ({"seek_points_cylinders_ms": [[1]]}, "seek_points_cylinders_ms: found [1]; expected a pair"),
        ({"zones": [{"first_cylinder": 5, "last_cylinder": 2}]}, "zones[0].last_cylinder: found 2; expected at least"),
        ({"zones": []}, "zones: found []; expected a list of zones"),
        (
            {"zones": [{**DISK["zones"][0], "slips": [480]}]},
            "a slip or defect = 480 in zone 0; expected places below 480",
        ),
    ],
)
def test_a_wrong_description_is_one_error(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(flashwatt.FlashwattError) as error:
        described(tmp_path, **changes)
    assert message in str(error.value)


def test_a_misspelt_key_is_asked_about_and_an_unknown_one_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    path.write_text(json.dumps({**{key: one for key, one in DISK.items() if key != "heads"}, "haeds": 2}))
    with pytest.raises(flashwatt.FlashwattError, match=r"unknown key; found `haeds`; did you mean `heads`\?"):
        from_json(path)
    path.write_text(json.dumps({**DISK, "colour": "grey"}))
    assert "#   colour: no key of a disk\n" in from_json(path).config
    path.write_text("no")
    with pytest.raises(flashwatt.FlashwattError, match="no JSON"):
        from_json(path)


def test_a_converted_disk_runs_under_its_own_name(flashwatt: Cli, tmp_path: Path) -> None:
    path, out = tmp_path / "made.json", tmp_path / "disk.toml"
    path.write_text(json.dumps(DISK))
    done = flashwatt("init", "--disk", path, "--out", out)
    assert done.returncode == 0, done.stderr
    done = flashwatt("run", out, "--set", "workload.uniform.requests=50")
    assert done.returncode == 0, done.stderr
    assert "made up: 6,000 rpm" in done.stdout
    assert "x25m" not in done.stdout + done.stderr
    assert flashwatt("init", "--disk", path, "--disksim", path).returncode == 2
    assert "two drives to convert" in flashwatt("init", "--disk", path, "--disksim", path).stderr


def test_a_disk_without_a_preset_has_no_name_of_another_drive() -> None:
    text = "\n".join(
        line for line in from_json(MEASURED / "st41601n.disk.json").config.splitlines() if "description" not in line
    )
    device = flashwatt.Config(text).resolve()["device"]
    assert (device["preset"], device["description"]) == (None, "a hard disk")


def test_think_times_count_from_the_end_of_the_request_before(tmp_path: Path) -> None:
    """Gaps of 5 ms: the second request comes 5 ms after the first has ended, whatever the trace's clock says."""
    trace, log = tmp_path / "gaps.csv", tmp_path / "log.csv"
    trace.write_text("time_us,device,op,offset,size\n0,0,R,0,4096\n5000,0,R,1048576,4096\n5000,0,R,2097152,4096\n")
    setting = {"device": {"preset": "laptop-7200"}, "workload": {"trace": {"path": str(trace), "think_times": True}}}
    flashwatt.run(setting, request_log=log)
    _, *rows = (line.split(",") for line in log.read_text().splitlines())
    arrivals, ends = [int(row[1]) for row in rows], [int(row[3]) for row in rows]
    assert arrivals == [0, ends[0] + 5_000_000, ends[1]]
    with pytest.raises(flashwatt.FlashwattError, match="think_times: given beside closed_loop = true"):
        flashwatt.run(setting, workload__trace__closed_loop=True)


MODEL = """dm_disk made {
  Number of data surfaces = 2, Number of cylinders = 10, Block count = 700,
  Layout Model = dm_layout_g1 {
    LBN-to-PBN mapping scheme = 1, Sparing scheme used = 2, Rangesize for sparing = 1,
    Zones = [ # the outer one first
      dm_layout_g1_zone { First cylinder number = 0, Last cylinder number = 5, Blocks per track = 40,
        Offset of first block = 3.0, Skew units = sectors, Empty space at zone front = 10, Skew for track switch = 5,
        Skew for cylinder switch = 7, Number of spares = 2, slips = [ 90, 5 ], defects = [ 20, 478 ] },
      dm_layout_g1_zone { First cylinder number = 7, Last cylinder number = 9, Blocks per track = 30,
        Offset of first block = 0.5, Skew units = revolutions, Empty space at zone front = 0,
        Skew for track switch = 0.1, Skew for cylinder switch = 0.2, Number of spares = 1, slips = [], defects = [] }
    ] },
  Mechanical Model = dm_mech_g1 {
    Access time type = trackSwitchPlusRotation, Seek type = extracted, Full seek curve = made.seek,
    Add. write settling delay = 0.25, Head switch time = 1.0,
    Rotation speed (in rpms) = 6000, Percent error in rpms = 0.0
  } }
"""
SPECS = """disksim_disk MADE {
  Model = source made.model, Scheduler = disksim_ioqueue { Scheduling policy = 1 }, Max queue length = 8,
  Bulk sector transfer time = 0.05, Segment size (in blks) = 64, Number of buffer segments = 4, Print stats = 1,
  Per-request overhead time = 0.0, Time scale for overheads = 2.0, Hold bus entire read xfer = 1,
  Enable caching in buffer = 1, Buffer continuous read = 4, Maximum read-ahead (blks) = 32,
  Read-ahead over requested = -1,
  Read-ahead on idle hit = 0, Fast write level = 2, Maximum number of write segments = 2,
  Allow read hits on write data = 1,
  High (read) water mark = 0.75, Read hit over. after read = 0.1, Read completion overhead = 0.2, New key = 3
}
"""
WHOLE_FILE = """disksim_bus B { type = 1, Read block transfer time = 0.1, Write block transfer time = 0.02 }
source made.diskspecs
instantiate [ d0 ] as MADE
topology disksim_bus b0 [ disksim_disk d0 [] ]
"""


@pytest.fixture
def disksim(tmp_path: Path) -> Path:
    (tmp_path / "made.model").write_text(MODEL)
    (tmp_path / "made.diskspecs").write_text(SPECS)
    (tmp_path / "made.seek").write_text("Seek distances measured: 2\n1, 1.5\n9, 5.5\n")
    (tmp_path / "made.parv").write_text(WHOLE_FILE)
    return tmp_path


def test_a_disk_of_disksim_becomes_keys(disksim: Path) -> None:
    text = from_disksim(disksim / "made.parv").config
    hdd = tomli.loads(text)["hdd"]
    layout = hdd["geometry"].pop("layout")
    assert hdd["geometry"] == {"rpm": 6000, "heads": 2, "track_order": "serpentine_by_zone", "spare_range": "cylinder"}
    assert layout[0] == described(disksim)["geometry"]["layout"][0]
    turned = [layout[1][key] for key in ("offset_sectors", "track_skew_sectors", "cylinder_skew_sectors")]
    assert turned == [15, 3, 6]
    assert hdd["seek"] == described(disksim)["seek"]
    interface = hdd["interface"]
    assert (interface["read_rate_mb_s"], interface["write_rate_mb_s"]) == (5.12, 10.24)
    assert (interface["queue_depth"], interface["read_fill_fraction"]) == (8, 0.75)
    assert interface["commands"]["read_hit_after_read_ns"] == 200_000, "times the scale"
    assert interface["read_completion_ns"] == 400_000
    assert (hdd["buffer"]["read_ahead_to"], hdd["buffer"]["returned"]) == ("next_track", "dropped")
    assert hdd["write_cache"]["extents"] == 2
    assert "#   New key: no key of disksim_disk that is known here" in text
    assert "#   Hold bus entire read xfer = 1: a transfer takes" in text
    alone = tomli.loads(from_disksim(disksim / "made.diskspecs").config)["hdd"]["interface"]
    assert alone["read_rate_mb_s"] == 10.24, "without a bus: the disk's own rate"


def test_a_disk_that_lets_go_of_the_bus(disksim: Path) -> None:
    """Times the scale of 2: reselection delays reads from the medium by 0.2 ms, and the end of writes by 0.4 ms."""
    extra = (
        "Extra write disconnect = 1, Extradisc command overhead = 0.5, Extradisc disconnect overhead = 0.01, "
        "Extradisc inter-disconnect delay = 0.4, Extradisc seek delta = 0.25, First reselect overhead = 0.1, "
        "Other reselect overhead = 0.2, Write completion overhead = 0.05, Write miss over. after read = 9.0"
    )
    (disksim / "made.diskspecs").write_text(SPECS.replace("New key = 3", extra))
    interface = tomli.loads(from_disksim(disksim / "made.parv").config)["hdd"]["interface"]
    assert interface["read_start_delay_ns"] == 200_000
    assert interface["write_completion_ns"] == 500_000
    assert interface["commands"]["write_miss_after_read_ns"] == 1_500_000, "0.5 + 0.25 ms"
    assert interface["write_data_delay_ns"] == 520_000, "0.01 + 0.4 + 0.1 - 0.25 ms"


@pytest.mark.parametrize(
    ("kind", "more", "points"),
    [
        (
            "hpl",
            "HPL seek equation values = [ 3, 1.0, 1.0, 2.0, 0.5, 0.7 ]",
            [[1, 700000], [2, 2414214], [3, 3500000], [4, 4000000]],
        ),
        (
            "hplplus10",
            "HPL seek equation values = [ 2, 1.0, 1.0, 2.0, 0.5, -1 ], First ten seek times = [ 1,2,3,4,5,6,7,8,9,10 ]",
            [[n, n * 1000000] for n in range(1, 11)],
        ),
        ("constant", "Constant seek time = 3.0", [[1, 3000000], [2, 3000000]]),
        (
            "linear",
            "Single cylinder seek time = 1.0, Average seek time = 2.0, Full strobe seek time = 4.0",
            [[1, 1000000], [3, 2000000], [9, 4000000]],
        ),
    ],
)
def test_seek_curves_of_disksim(disksim: Path, kind: str, more: str, points: list[list[int]]) -> None:
    model = disksim / "made.model"
    model.write_text(MODEL.replace("Seek type = extracted, Full seek curve = made.seek", f"Seek type = {kind}, {more}"))
    assert tomli.loads(from_disksim(disksim / "made.parv").config)["hdd"]["seek"]["points"] == points


def test_the_curve_through_three_times_has_their_mean(disksim: Path) -> None:
    """a + b √(d - 1) + c (d - 1) with the constants of Lee and Katz: from one cylinder on to about the full stroke."""
    times = "Single cylinder seek time = 2.0, Average seek time = 10.0, Full strobe seek time = 20.0"
    model = MODEL.replace("Number of cylinders = 10", "Number of cylinders = 1000")
    (disksim / "made.model").write_text(
        model.replace("Full seek curve = made.seek", times).replace("extracted", "curve")
    )
    points = tomli.loads(from_disksim(disksim / "made.parv").config)["hdd"]["seek"]["points"]
    assert points[0] == [1, 2000000]
    assert points[-1][1] == pytest.approx(20e6, rel=0.02)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("made.parv", "source made.diskspecs", "source none.diskspecs", "none.diskspecs: No such file"),
        ("made.parv", "source made.diskspecs", "", "no block disksim_disk; expected a disk of DiskSim 4"),
        (
            "made.diskspecs",
            "Bulk sector transfer time = 0.05",
            "Bulk sector transfer time = x",
            "made.diskspecs:3: Bulk sector",
        ),
        ("made.diskspecs", "Buffer continuous read = 4", "Buffer continuous read = 9", "found 9; expected 0 to 4"),
        ("made.diskspecs", "Model = source made.model,", "", "Model: nothing is there; expected a block dm_disk"),
        ("made.model", "dm_layout_g1 {", "dm_layout_g4 {", "found dm_layout_g4; expected dm_layout_g1"),
        (
            "made.model",
            "Rotation speed (in rpms) = 6000, ",
            "",
            "dm_mech_g1: no `Rotation speed (in rpms)`; expected one",
        ),
        ("made.model", "Seek type = extracted", "Seek type = odd", "found odd; expected extracted"),
        ("made.model", "  } }\n", "", "made.model: found the end of the file"),
        ("made.seek", "9, 5.5", "9; 5.5", "made.seek:3: found `9; 5.5`; expected cylinders, ms"),
    ],
)
def test_a_wrong_file_of_disksim_is_one_error(disksim: Path, file: str, old: str, new: str, message: str) -> None:
    path = disksim / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(flashwatt.FlashwattError) as error:
        from_disksim(disksim / "made.parv")
    assert message in str(error.value)


def test_one_of_several_disks_is_named(disksim: Path) -> None:
    with (disksim / "made.parv").open("a") as file:
        file.write(SPECS.replace("MADE", "OTHER"))
    with pytest.raises(flashwatt.FlashwattError, match="several disks; expected --disksim-disk MADE or OTHER"):
        from_disksim(disksim / "made.parv")
    assert "OTHER, of DiskSim" in from_disksim(disksim / "made.parv", "OTHER").config
    with pytest.raises(flashwatt.FlashwattError, match="no disk NONE; expected one of MADE, OTHER"):
        from_disksim(disksim / "made.parv", "NONE")


def test_the_powers_are_those_of_a_disk(tmp_path: Path) -> None:
    path = tmp_path / "made.json"
    path.write_text(json.dumps(DISK))
    assert tomli.loads(from_json(path, "laptop-7200").config)["hdd"]["energy"]["spindle"]["rotating"]["v5_w"] == 0.45
    with pytest.raises(flashwatt.FlashwattError, match="limit: no disk; expected the preset of a disk"):
        from_json(path, "limit")
