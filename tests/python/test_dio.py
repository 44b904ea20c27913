"""`flashwatt dio` on simulated drives: points worked out by hand, samples of power, probes, files, comparisons."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from array import array
from typing import TYPE_CHECKING, Any

import pytest

from flashwatt import _core, plot
from flashwatt.config.config import Config
from flashwatt.dio import beside, result
from flashwatt.dio.battery import gigabytes
from flashwatt.dio.figures import latencies, quantile
from flashwatt.dio.load import PATTERNS, Load, Plan, patterns_of, sizes_of
from flashwatt.dio.measure import Bench
from flashwatt.dio.probes import knee_of, levels
from flashwatt.dio.simulated import Simulated, draws_from_12v
from flashwatt.drive import Drive

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

KIB, MIB = 1 << 10, 1 << 20
X25M = Config('device.preset = "x25m"')
RAPTOR = Config('device.preset = "raptor-x"')
WATTS = 5 * 0.207
"""Of the X25-M with one die at work, at 5 V: 30 mA controller, 100 mA DRAM, 20 × 3 mA idle dies, 17 mA for the one."""
IDLE_WATTS = 5 * 0.095
"""Of the same drive without requests: 15 + 20 + 60 mA."""


def on(_done: int, _total: int | None) -> bool:
    return True


def two(pattern: str, depth: int = 1) -> Load:
    return Load(PATTERNS[pattern], 4 * KIB, 2, 10**12, 80_000_000_000, 4 * KIB, depth)


@pytest.mark.parametrize(
    ("pattern", "each_ns"),
    [
        ("seqwrite", 82_000 + 900_000),  # over the bus, then the program
        ("randwrite", 82_000 + 900_000),
        ("seqread", 50_000 + 82_000),  # the read, then over the bus
        ("randread", 50_000 + 82_000),
    ],
)
def test_two_requests_take_the_time_and_the_energy_worked_out_by_hand(pattern: str, each_ns: int) -> None:
    plan = Plan(sizes=[4 * KIB], patterns=[PATTERNS[pattern]], bytes=8 * KIB)
    bench = Bench(Simulated(X25M, "x25m"), plan, 80_000_000_000, lambda _content: None, on)
    bench.sweep()
    (point,) = bench.content["points"]
    seconds = 2 * each_ns / 1e9
    assert (point["requests"], point["bytes"], point["seconds"]) == (2, 8 * KIB, seconds)
    assert point["latency_ns"] == dict.fromkeys(("mean", "min", "p50", "p99", "max"), each_ns)
    assert point["mb_s"] == pytest.approx(0.008192 / seconds, rel=1e-12)
    assert point["iops"] == pytest.approx(2 / seconds, rel=1e-12)
    assert point["energy_j"] == pytest.approx(WATTS * seconds, rel=1e-9)
    assert point["power_w"]["mean"] == pytest.approx(WATTS, rel=1e-9)
    assert point["power_w"]["rails"] == {"5V": point["power_w"]["mean"]}
    assert point["j_per_mb"] == pytest.approx(WATTS * seconds / 0.008192, rel=1e-9)
    assert point["mb_per_j"] == pytest.approx(0.008192 / (WATTS * seconds), rel=1e-9)
    assert point["iops_per_w"] == pytest.approx(2 / seconds / WATTS, rel=1e-9)


def test_two_requests_at_once_share_the_bus_of_no_channel() -> None:
    """Sequential pages lie on two channels: both writes begin 30 µs apart (the channel switch) and overlap."""
    measured = Simulated(X25M, "x25m").run(two("seqwrite", depth=2), on)
    assert list(measured.times_ns) == [0, 982_000, 0, 1_012_000]


def test_power_is_sampled_every_millisecond_and_adds_up_to_the_energy() -> None:
    drive = Simulated(X25M, "x25m")
    measured = drive.run(two("seqwrite"), on)
    source = drive.power()
    assert source is not None
    power = source.over(0, measured.took_ns)
    assert power is not None
    assert power.rails["5V"] == pytest.approx([WATTS, WATTS])  # 1 ms, and the 0.964 ms behind it
    began, ended = drive.idle(2_500_000, on)
    assert (began, ended) == (1_964_000, 4_464_000)
    power = source.over(began, ended)
    assert power is not None
    assert power.rails["5V"] == pytest.approx([IDLE_WATTS] * 3)
    assert power.energy_j == pytest.approx(IDLE_WATTS * 0.0025)
    assert source.over(0, 1_964_000) is None  # another window than the last


def test_a_point_ends_at_its_time_limit() -> None:
    """At 982 µs a write, the eleventh begins at 9.82 ms and the twelfth would begin behind the limit of 10 ms."""
    plan = Plan(sizes=[4 * KIB], patterns=[PATTERNS["seqwrite"]], seconds=0.01)
    bench = Bench(Simulated(X25M, "x25m"), plan, MIB, lambda _content: None, on)
    bench.sweep()
    assert bench.content["points"][0]["requests"] == 11


def test_a_flush_behind_writes_counts_to_their_time_and_energy() -> None:
    """With a buffer and a link of no time a write ends at once; the flush programs it."""
    buffered = X25M.override({"write_buffer": {"bytes": MIB}})
    plan = Plan(sizes=[4 * KIB], patterns=[PATTERNS["randwrite"]], bytes=4 * KIB)
    bench = Bench(Simulated(buffered, "x25m"), plan, MIB, lambda _content: None, on)
    bench.sweep()
    (point,) = bench.content["points"]
    assert (point["latency_ns"]["max"], point["flush_s"]) == (0, point["seconds"])
    assert point["seconds"] == pytest.approx(982e-6)
    assert point["energy_j"] == pytest.approx(WATTS * 982e-6)


def test_preparing_writes_come_before_random_writes_only() -> None:
    told = []
    plan = Plan(sizes=[64 * KIB], bytes=MIB, prepare_bytes=2 * MIB)
    bench = Bench(Simulated(X25M, "x25m"), plan, 8 * MIB, lambda c: told.append(c["written"]["bytes"] // MIB), on)
    bench.sweep()
    # kept: SR, RR; before and after SW; before the preparation and before and after RW
    assert told == [0, 0, 0, 1, 1, 3, 4]
    assert bench.content["written"] == {"bytes": 4 * MIB, "until_byte": 8 * MIB, "under_way": None}


def test_log_blocks_ask_for_preparing_writes(flashwatt: Cli) -> None:
    arguments = ("dio", "x25m", "--sizes", "1MiB", "--bytes", "1MiB", "--set", "device.scale=1/64", "--json")
    for ftl, prepared in (("page", 0), ("fast", 1 << 30)):
        done = flashwatt(*arguments, "--set", f"ftl={ftl}")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["plan"]["prepare_bytes"] == prepared


def test_a_drive_with_parts_on_12_v_has_two_rails() -> None:
    of_a_disk = {"spindle": {"rotating": {"v5_w": 0.5, "v12_w": 3.0}}}
    assert draws_from_12v({"hdd": {"energy": of_a_disk}})
    assert draws_from_12v({"array": {"drives": [{"device": {}}, {"hdd": {"energy": of_a_disk}}]}})
    assert not draws_from_12v({"hdd": {"energy": {"spindle": {"rotating": {"v5_w": 0.5, "v12_w": 0.0}}}}})
    assert Simulated(X25M, "x25m").rails == ["5V"]
    assert Simulated(RAPTOR, "raptor-x").rails == ["5V", "12V"]


def test_an_idle_disk_draws_its_spindle_and_arm_from_12_v() -> None:
    """Raptor X: spindle 5.3 W and arm 0.3 W from +12 V; idle electronics 2.9 W and interface 0.5 W from +5 V."""
    disk = Simulated(RAPTOR, "raptor-x")
    began, ended = disk.idle(2_500_000, on)
    source = disk.power()
    assert source is not None
    power = source.over(began, ended)
    assert power is not None
    assert power.rails["12V"] == pytest.approx([5.3 + 0.3] * 3)
    assert power.rails["5V"] == pytest.approx([2.9 + 0.5] * 3)
    assert power.energy_j == pytest.approx(9.0 * 0.0025)


def test_a_read_of_the_next_cylinder_takes_the_energy_of_its_seek_from_12_v() -> None:
    """Raptor X: 4 heads and 1172 sectors on each outer track, 6 ms a revolution, 512 bytes over 150 MB/s.

    +12 V: spindle and arm all the time, and 5 W more while the arm moves by one cylinder (0.4 ms). +5 V: active
    electronics (3.5 W) and interface (0.5 W) all the time, 0.4 W more while the sector passes, 0.1 W more while it
    crosses the interface.
    """
    drive = Drive(RAPTOR)
    drive.submit("read", 4 * 1172 * 512, 512)
    (done,) = drive.advance_to_done(10**9)
    assert 550_000 < done.end_ns < 550_000 + 6_100_000  # command, seek, up to a revolution, and the sector
    energies, seconds = drive.energy_by_supply_j(), done.end_ns / 1e9
    assert energies.v12 == pytest.approx(5.6 * seconds + 5.0 * 0.4e-3, rel=1e-9)
    passing_s, crossing_s = 0.006 / 1172, 512 / 150e6
    assert energies.v5 == pytest.approx(4.0 * seconds + 0.4 * passing_s + 0.1 * crossing_s, rel=1e-7)
    assert energies.v5 + energies.v12 == pytest.approx(drive.energy_j(), rel=1e-12)


def test_quantiles_are_values_that_occurred() -> None:
    assert [quantile(range(1, 101), share) for share in (0.5, 0.99)] == [50, 99]
    assert [quantile([7], share) for share in (0.5, 0.99)] == [7, 7]
    assert latencies([3, 1, 2]) == {"mean": 2, "min": 1, "p50": 2, "p99": 3, "max": 3}
    assert latencies([]) is None


def test_sizes_and_patterns_are_read_as_people_write_them() -> None:
    assert sizes_of("4KiB..32KiB") == (4096, 8192, 16384, 32768)
    assert sizes_of("4KiB, 1MiB,8192") == (4096, MIB, 8192)
    assert [one.name for one in patterns_of("randwrite,seqread")] == ["sequential read", "random write"]


def test_equal_seeds_give_equal_offsets_and_sizes_differ() -> None:
    plan = Plan()
    first, second = (plan.load(PATTERNS["randread"], size, 1 << 30).seed for size in (4096, 8192))
    assert first != second
    of = [[next(offsets) for _ in range(50)] for offsets in (two("randread").offsets(), two("randread").offsets())]
    assert of[0] == of[1]
    assert all(offset % (4 * KIB) == 0 for offset in of[0])


def test_the_buffer_of_a_drive_is_the_knee_of_its_response_times(flashwatt: Cli) -> None:
    """16 MiB within a quarter (Seo et al. 2008 find 16 MB), and none where there is none."""
    link = ("--set", "device.host_link.bandwidth_mb_s=300")
    for bytes_, found in ((16 * MIB, 16 * MIB), (0, None)):
        done = flashwatt("dio", "x25m", "--buffer-probe", *link, "--set", f"write_buffer.bytes={bytes_}", "--json")
        knee = json.loads(done.stdout)["probes"]["buffer"]["buffer_bytes"]
        assert knee is None if found is None else knee == pytest.approx(found, rel=0.25)


def test_the_knee_is_where_two_lines_cross() -> None:
    """1 ns a byte up to 3000 bytes, 4 ns behind it: the lines through (1024, 2048) and (4096, 8192) cross at 3000."""
    sizes = [512 << power for power in range(6)]
    assert knee_of([(s, s + 3 * max(0, s - 3000)) for s in sizes]) == pytest.approx(3000)
    assert knee_of([(s, s) for s in sizes]) is None
    assert knee_of([(s, max(s, 3000)) for s in sizes]) is None  # all dies busy from there on: nothing went faster


def test_the_knee_of_a_burst_is_where_writes_begin_to_take_twice_as_long() -> None:
    """75 writes of 4 MB in 10 ms each, then 30 ms each: 300 MB at 400 MB/s, then 133."""
    ends = [10 * n for n in range(1, 76)] + [750 + 30 * n for n in range(1, 182)]
    found = levels([10**6 * end for end in ends], 4_000_000)
    assert found["knee_mb"] == 300
    assert (found["before_mb_s"], found["after_mb_s"]) == (pytest.approx(400), pytest.approx(4 / 0.03))
    assert levels([10**7 * n for n in range(1, 257)], 4_000_000)["knee_mb"] is None


def test_idle_and_sleep_of_a_simulated_ssd(flashwatt: Cli) -> None:
    done = flashwatt("dio", "x25m", "--idle", "3", "--sleep", "2s", "--json")
    probes = json.loads(done.stdout)["probes"]
    assert (probes["idle"]["seconds"], probes["sleep"]["seconds"], probes["sleep"]["ignored"]) == (3, 2, True)
    assert probes["idle"]["power"]["mean_w"] == pytest.approx(IDLE_WATTS)
    assert probes["idle"]["power"]["bin_mean_w"] == pytest.approx([IDLE_WATTS] * 30)


def test_a_burst_is_watched(flashwatt: Cli) -> None:
    done = flashwatt("dio", "x25m", "--burst", "1", "--json")
    burst = json.loads(done.stdout)["probes"]["burst"]
    assert (len(burst["ends_ns"]), burst["request_bytes"], burst["levels"]["knee_mb"]) == (256, 4 * MIB, None)
    joules = burst["power"]["energy_j"]
    assert joules == pytest.approx(burst["power"]["mean_w"] * (burst["ended_ns"] - burst["began_ns"]) / 1e9)
    assert burst["after"]["began_ns"] == burst["ended_ns"]


SMALL = ("--sizes", "4KiB,64KiB", "--bytes", "256KiB")


def test_a_result_is_kept_drawn_printed_and_compared(flashwatt: Cli, tmp_path: Path) -> None:
    for name, channels in (("ten", 10), ("five", 5)):
        done = flashwatt("dio", "x25m", *SMALL, "--set", f"device.channels={channels}", "--out", name)
        assert done.returncode == 0, done.stderr
        assert {one.name for one in (tmp_path / name).iterdir()} == {"dio.json", "dio.html", "rate.svg", "energy.svg"}
    table = done.stdout.splitlines()
    assert table[0] == "x25m: 80.0 GB, simulated time"
    assert "power: simulated, +5 V, sampled every 1 ms" in table
    assert sum(line.startswith(" ") and "iB" in line for line in table) == 8
    content = result.read(tmp_path / "ten")
    assert content["target"]["config"].startswith("[device]") or "x25m" in content["target"]["config"]
    compared = flashwatt("compare", "ten", "five", "--json", "--only", "mb_s,j_per_mb", "--html", "both.html")
    points = json.loads(compared.stdout)["points"]
    (wide,) = [one for one in points if (one["pattern"], one["request_bytes"]) == ("random write", 64 * KIB)]
    assert wide["mb_s"]["ten"] > wide["mb_s"]["five"]  # 16 pages on 20 dies, on 10
    assert (tmp_path / "both.html").read_text().count("vega") > 0
    printed = flashwatt("compare", "ten", "five")
    assert "rate, MB/s" in printed.stdout
    rows = flashwatt("compare", "ten", "five", "--format", "csv").stdout.splitlines()
    assert (len(rows), rows[0].split(",")[:3]) == (17, ["report", "target", "pattern"])


def test_ctrl_c_ends_a_simulated_run_with_the_points_until_then(tmp_path: Path) -> None:
    """The signal comes when the result has its first point: in the second one, of 2^19 requests."""
    command = [sys.executable, "-m", "flashwatt", "dio", "x25m", "--sizes", "4KiB", "--out", "o"]
    command += ["--bytes", "2GiB", "--seconds", "100000", "--patterns", "seqread,randread"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    path = tmp_path / "o/dio.json"
    while not path.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    content = result.read(path)
    assert content["status"] == "interrupted"
    first, second = content["points"]
    assert (first["requests"], first["interrupted"]) == (2**19, False)
    assert (second["interrupted"], 0 < second["requests"] < 2**19) == (True, True)
    said = f"interrupted after 1 point and {second['requests']} requests of the next, kept in o/dio.json"
    assert said in stderr


def test_csv_and_json_have_all_points(flashwatt: Cli) -> None:
    rows = flashwatt("dio", "x25m", *SMALL, "--csv").stdout.splitlines()
    points = json.loads(flashwatt("dio", "x25m", *SMALL, "--json").stdout)["points"]
    assert len(rows) == 1 + len(points) == 9
    columns = rows[0].split(",")
    assert float(rows[1].split(",")[columns.index("mb_s")]) == points[0]["mb_s"]
    assert {"latency_p99_ns", "power_mean_w", "power_5v_w", "j_per_mb"} <= set(columns)


def test_the_same_seed_gives_the_same_bytes(flashwatt: Cli) -> None:
    first, second = (flashwatt("dio", "x25m", *SMALL, "--json").stdout for _ in range(2))
    assert json.loads(first)["points"]
    assert first == second


def test_a_battery_is_its_energy_over_joules_per_megabyte(flashwatt: Cli) -> None:
    """The papers' four figures for 50 Wh: 2.2 GB, 46 GB, 1.8 TB and 3 TB from 81.8, 3.91, 0.10 and 0.06 J/MB."""
    anchors = {81.8: 2.2, 3.91: 46, 0.10: 1800, 0.06: 3000}
    for j_per_mb, gb in anchors.items():
        assert gigabytes(j_per_mb, 50) == pytest.approx(gb, rel=0.01)
    flashwatt("dio", "x25m", "--sizes", "4KiB", "--patterns", "randwrite", "--bytes", "8KiB", "--out", "d")
    flashwatt("run", "--preset", "x25m", "--requests", "500", "--out", "r", "--set", "workload.uniform.read_fraction=0")
    rows = json.loads(flashwatt("battery", "d", "r", "--wh", "10", "--json").stdout)["rows"]
    assert rows[0]["j_per_mb"] == pytest.approx(WATTS * 0.000982 / 0.004096)
    assert rows[0]["gb_per_battery"] == pytest.approx(36 / rows[0]["j_per_mb"])
    assert (rows[1]["target"], rows[1]["pattern"]) == ("x25m (r)", "uniform")
    assert "A battery of 50 Wh" in flashwatt("battery", "d").stdout


def test_a_battery_tells_results_of_one_target_apart(flashwatt: Cli, tmp_path: Path) -> None:
    flashwatt("dio", "x25m", *SMALL, "--out", "first")
    shutil.copytree(tmp_path / "first", tmp_path / "second")
    rows = json.loads(flashwatt("battery", "first", "second", "--json").stdout)["rows"]
    assert {row["target"] for row in rows} == {"x25m (first)", "x25m (second)"}
    flashwatt("run", "--preset", "x25m", "--requests", "500", "--set", "array.members=4", "--out", "array")
    shown = flashwatt("battery", "first", "second", "array").stdout
    assert "…" not in shown
    assert shown.count("x25m (first)") == 1
    assert max(map(len, shown.splitlines())) <= 80


def test_warnings_of_a_comparison_name_what_differs(tmp_path: Path) -> None:
    contents: dict[str, Any] = {}
    for label, depth in (("one", 1), ("four", 4)):
        plan = Plan(sizes=[4 * KIB], patterns=[PATTERNS["seqread"]], bytes=8 * KIB, queue_depth=depth)
        bench = Bench(Simulated(X25M, "x25m"), plan, MIB, lambda _content: None, on)
        bench.sweep()
        contents[label] = bench.content
    assert list(beside.warnings(contents)) == [
        "different queue depth: 1 (one), 4 (four)",
        "one is incomplete",
        "four is incomplete",
    ]
    contents["four"]["points"] = []
    assert any("four has no points, and only points are compared" in one for one in beside.warnings(contents))


def test_results_of_another_schema_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "dio.json"
    path.write_text('{"dio": 99}')
    with pytest.raises(_core.FlashwattError, match="found schema 99; expected 1"):
        result.read(path)
    path.write_text('{"dio": 1, "version": "0"}')
    with pytest.raises(_core.FlashwattError, match="status: missing"):
        result.read(path)


def test_times_are_pairs() -> None:
    from flashwatt.dio.target import Measured

    measured = Measured(5, array("Q", [0, 10, 10, 25]), stopped=False)
    assert (measured.requests, measured.took_ns, measured.latencies_ns()) == (2, 25, [10, 15])


def test_a_drive_with_log_blocks_bursts_and_then_works_on(flashwatt: Cli) -> None:
    """300 to 330 MB at once, then slower; then pulses of twice the idle power (Park et al. 2011, Fig. 9)."""
    from flashwatt.dio.probe_tables import pulses

    burst = json.loads(flashwatt("dio", "mlc-4way", "--burst", "300", "--json").stdout)["probes"]["burst"]
    assert 270 <= burst["levels"]["knee_mb"] <= 360
    assert burst["levels"]["before_mb_s"] > 3 * burst["levels"]["after_mb_s"]
    found = pulses(burst["after"])
    assert found is not None
    assert found[0] == pytest.approx(2.0, rel=0.2)
    assert 60 <= found[1] <= 600


@pytest.mark.parametrize(("disk", "rails"), [("laptop-7200", ["5V"]), ("raptor-x", ["5V", "12V"])])
def test_disks_are_targets_like_any_other(flashwatt: Cli, disk: str, rails: list[str]) -> None:
    """A revolution in all between random reads of 4 KiB on average: seek, and half a revolution."""
    content = json.loads(flashwatt("dio", disk, "--sizes", "4KiB", "--seconds", "5", "--json").stdout)
    assert content["power"]["rails"] == rails
    for one in content["points"]:
        assert list(one["power_w"]["rails"]) == rails
        assert sum(one["power_w"]["rails"].values()) == pytest.approx(one["power_w"]["mean"], rel=1e-9)
    by_pattern = {one["pattern"]: one for one in content["points"]}
    assert by_pattern["random read"]["latency_ns"]["mean"] > 50 * by_pattern["sequential read"]["latency_ns"]["p50"] / 2
    assert by_pattern["random read"]["j_per_mb"] > by_pattern["random write"]["j_per_mb"]


def test_a_disk_sleeps_when_it_is_told_to(flashwatt: Cli) -> None:
    """Asleep: 0.2 W of electronics and interface (5K320 table 14).

    The read waits 2.5 s for the spindle: 3.25 W, and 1.24 W of the rest.
    """
    content = json.loads(flashwatt("dio", "laptop-7200", "--idle", "3", "--sleep", "3", "--json").stdout)
    idle, sleep = content["probes"]["idle"], content["probes"]["sleep"]
    assert idle["power"]["mean_w"] == pytest.approx(0.869)
    assert (sleep["ignored"], sleep["power"]["mean_w"]) == (False, pytest.approx(0.2))
    assert 2.5e9 < sleep["wake"]["latency_ns"] < 2.55e9
    assert sleep["wake"]["power"]["mean_w"] == pytest.approx(4.49, rel=0.01)


def test_probes_are_drawn(flashwatt: Cli, tmp_path: Path) -> None:
    done = flashwatt("dio", "limit", "--burst", "1", "--idle", "2", "--buffer-probe", "--out", "probes")
    assert done.returncode == 0, done.stderr
    expected = {"dio.json", "dio.html", "power.svg", "burst_rate.svg", "response.svg"}
    assert {one.name for one in (tmp_path / "probes").iterdir()} == expected
    content = result.read(tmp_path / "probes")
    drawn = plot.probes(content)
    points = drawn["burst_rate"].rows
    # The first write of 4 MiB ends at this time; its rate is that size over it.
    ends = content["probes"]["burst"]["ends_ns"]
    assert (points[0].x, points[0].y) == (pytest.approx(4.194304), pytest.approx(4.194304e9 / ends[0]))
    assert len(points) == len(ends) == 256
    assert {point.series for point in drawn["power"].rows} == {"idle", "burst", "after the burst"}
