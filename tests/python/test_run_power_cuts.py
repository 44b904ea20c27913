"""`[run.power_cuts]`: in reports, on the terminal, in comparisons and sweeps; the default of `flashwatt crash`."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt as fw
from flashwatt import Config, Crash, FlashwattError, Report
from flashwatt.base.cut_figures import MAP_LOAD, cut_figures, results
from flashwatt.report.keys import figures, is_figure, report_keys
from flashwatt.report.metrics import flat, metric_of
from flashwatt.report.table import show

if TYPE_CHECKING:
    from conftest import Cli

TINY = """\
[device]
preset = "limit"
channels = 2
ways = 1
blocks_per_plane = 32
pages_per_block = 16
op_ratio = 0.8

[run]
precondition = "filled"

[workload.uniform]
requests = 200
"""
ON_FILES = {
    "device.preset": "limit",
    "device.channels": 2,
    "device.ways": 1,
    "device.blocks_per_plane": 64,
    "device.op_ratio": 0.5,
    "workload.files.personality": "varmail",
    "workload.files.operations": 800,
    "workload.files.set.nfiles": 60,
    "host.scheduler": "deadline",
}
"""A file system behind a block layer."""
CUTS = "\n[run.power_cuts]\ncuts = 6\ntwice = true\n"
CAPACITORS = {"write_buffer.bytes": 65_536, "write_buffer.protection": "capacitors"}
LOADING = {"ftl": "dftl", "recovery.map_load_fraction": 0.01}
"""A portion of the map is loaded after a cut."""
DOCS = Path(__file__).parents[2] / "docs/power-cuts.md"
ARRAY = ("inconsistent_", "hole_")
"""How the names of figures begin that cuts of arrays alone have."""
SECTION = ("config", "config_sha256", "power_cuts", "engine")


@pytest.fixture(scope="module")
def report() -> Report:
    """A run of a drive with capacitors, cut six times, each time twice."""
    return fw.run(Config(TINY + CUTS).override(CAPACITORS), ftl="fast")


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    """The drive with its cuts as a file in the directory in which commands run."""
    path = tmp_path / "drive.toml"
    path.write_text(TINY + CUTS)
    return path


def test_a_report_has_what_a_mount_finds(capsys: pytest.CaptureFixture[str]) -> None:
    """Behind a scheduler, under a file system; its figures are those of the campaign."""
    files = {**ON_FILES, "run.power_cuts.cuts": 8}
    report = fw.run(files)
    found, of = report.power_cuts, fw.crash(files)
    assert found is not None
    for figure in ("files_fsynced", "files_lost", "files_rolled_back_bytes", "host_requests_lost", "host_lost_units"):
        spread = of.spread(figure)
        assert spread is not None
        assert getattr(found, figure).max == spread.max
    assert found.files_lost.max == found.host_lost_units.max == 0 < found.files_fsynced.max
    show(report.to_dict())
    assert "no file lost of those with fsynced data" in " ".join(capsys.readouterr().out.split())


def _others(report: Report) -> dict[str, Any]:
    return {key: value for key, value in report.to_dict().items() if key not in SECTION}


# ------------------------------------------------------------------ reports


def test_every_other_figure_is_that_of_the_run_without_cuts(report: Report) -> None:
    plain = fw.run(Config(TINY).override(CAPACITORS), ftl="fast")
    assert plain.power_cuts is None
    assert json.dumps(_others(plain)) == json.dumps(_others(report))


def test_the_section_is_the_spread_of_a_campaign(report: Report) -> None:
    result = fw.crash(report.to_config())
    cuts, second = report.power_cuts, report.power_cuts and report.power_cuts.second
    assert cuts
    assert second
    assert (cuts.status, cuts.cuts, result.when, result.twice) == ("complete", 6, {"cuts": 6}, True)
    for name in cut_figures():
        found = getattr(cuts, name)
        assert (found is None) == name.startswith(("host_", "files_", MAP_LOAD, *ARRAY)), name
        assert found is None or tuple(vars_of(found)) == result.spread(name), name
    for name in cut_figures(second=True):
        found = getattr(second, name)
        assert (found is None) == name.startswith(MAP_LOAD), name
        assert found is None or tuple(vars_of(found)) == result.spread(name, second=True), name


def vars_of(spread: Any) -> list[float]:
    """The four numbers of a spread."""
    return [spread.min, spread.median, spread.p99, spread.max]


def test_every_figure_of_a_cut_has_its_meaning() -> None:
    """The engine's list is whole: the columns of a frame are its figures, and each is explained."""
    frame = fw.crash({**ON_FILES, **CAPACITORS, **LOADING}, cuts=1, twice=True).cuts
    expected = {*cut_figures(), *(f"second_{name}" for name in cut_figures(second=True))}
    of_array = {name for name in expected if name.startswith(ARRAY)}
    assert set(frame.columns) == expected - of_array
    array = fw.crash(Config(TINY), cuts=1, array__members=2, array__level="raid1").cuts
    assert of_array == set(array.columns) & of_array
    assert len(of_array) == 4
    assert {"recovery_ns", "energy_j", "lost_units", "dump_energy_j"} <= set(results())
    described = report_keys()
    for before, second in (("power_cuts", False), ("power_cuts.second", True)):
        for name, one in cut_figures(second=second).items():
            assert described[f"{before}.{name}"].endswith(one.doc), name
            assert one.doc.endswith("."), name
            assert f"{before}.{name}.p99" in figures()
    assert is_figure("power_cuts.recovery_ns.median")
    assert metric_of("power_cuts.recovery_ns.median").unit == "ns"
    assert [metric_of(f"power_cuts.{key}.max").unit for key in ("dump_energy_j", "capacitance_f")] == ["J", "F"]


def test_a_report_with_cuts_is_read_again(report: Report, tmp_path: Path) -> None:
    report.write(tmp_path / "report.json")
    again = Report.read(tmp_path / "report.json")
    assert again.power_cuts == report.power_cuts
    numbers = {key for key, one in flat(again.to_dict()).items() if type(one) in (int, float)}
    assert numbers - set(figures()) <= {"version"}
    content = report.to_dict()
    content["power_cuts"]["recovery_ns"]["p99"] = "long"
    with pytest.raises(FlashwattError, match=r"power_cuts\.recovery_ns\.p99: wrong type; found 'long'"):
        Report.parse(json.dumps(content))


def test_repricing_takes_energies_of_cuts_away(report: Report) -> None:
    priced = fw.reprice(report, {"energy.nand.read_ma": 99})
    assert priced.power_cuts
    assert priced.power_cuts.energy_j is None
    assert report.power_cuts
    assert priced.power_cuts.recovery_ns == report.power_cuts.recovery_ns
    assert priced.repriced
    assert "power_cuts.energy_j" in priced.repriced.null


def test_what_pairs_lose_is_a_warning() -> None:
    lossy = Config(TINY).override({"device.nand.paired_pages": "unprotected"})
    report = fw.run(lossy, run__power_cuts={"cuts": 30})
    assert report.power_cuts
    assert report.power_cuts.pair_lost_units
    assert report.power_cuts.pair_lost_units.max > 0
    assert any("units of durable data are lost with pages spoilt" in one for one in report.warnings)


# ------------------------------------------------------------------ the terminal, comparisons, sweeps


def test_the_report_has_lines_about_cuts(flashwatt: Cli, drive: Path) -> None:
    told = flashwatt("run", drive)
    assert told.returncode == 0, told.stderr
    lines = told.stdout.splitlines()
    place = next(number for number, line in enumerate(lines) if line.strip().startswith("power cuts"))
    assert "6 cuts, nothing lost; units rolled back " in lines[place]
    assert "recovery time 25.8 ms" in lines[place + 1]
    assert "second cuts, nothing lost; units rolled back 0" in lines[place + 3]
    assert "power cuts" not in flashwatt("run", drive, "--set", "ftl=page", "--json").stderr


def test_the_load_of_a_portion_of_the_map_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Each of 682 units has an entry of 8 bytes, 512 to a page: a hundredth of them is on the first of two pages."""
    loading, plain = (fw.run(Config(TINY + CUTS), ftl="dftl", **more) for more in (_flat(LOADING), {}))
    for report, first in ((loading, True), (plain, False)):
        cuts = report.power_cuts
        assert cuts
        assert cuts.second
        assert [one.map_load_reads is not None for one in (cuts, cuts.second)] == [first, first]
        show(report.to_dict())
        lines = " ".join(capsys.readouterr().out.split())
        assert lines.count("of that the load of the map: time 53.8 µs, page reads 1") == 2 * first
    assert loading.power_cuts
    assert loading.power_cuts.map_load_ns
    assert loading.power_cuts.map_load_ns.max == 400 + 50_000 + 3_413
    priced = fw.reprice(loading, {"energy.nand.read_ma": 99})
    assert priced.repriced
    assert "power_cuts.map_load_energy_j" in priced.repriced.null


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    return {key.replace(".", "__"): value for key, value in settings.items() if key != "ftl"}


def test_a_comparison_shows_cuts_where_there_are_some(report: Report) -> None:
    plain = fw.run(Config(TINY))
    keys = [row.key for row in fw.compare({"cut": report, "not": plain}).figures()]
    assert {"power_cuts.recovery_ns.median", "power_cuts.energy_j.median"} <= set(keys)
    assert not [row.key for row in fw.compare({"a": plain, "b": plain}).figures() if row.key.startswith("power_cuts")]
    (row,) = fw.compare({"cut": report}, only=["power_cuts.second.recovery_ns.p99"]).figures()
    assert row.cells[0].text.endswith("ms")


def test_a_sweep_has_columns_of_cuts(flashwatt: Cli, drive: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(f'base = "{drive.name}"\n[grid]\nftl = ["page", "fast"]\n')
    asked = "power_cuts.recovery_ns.median,power_cuts.second.energy_j.max"
    told = flashwatt("sweep", "study.toml", "--out", "first", "--metrics", asked)
    assert told.returncode == 0, told.stderr
    assert "25.8 ms" in told.stdout
    wrong = flashwatt("sweep", "study.toml", "--out", "second", "--metrics", "power_cuts.recovery_ns.medain")
    assert wrong.returncode == 2
    assert "did you mean `power_cuts.recovery_ns.median`" in wrong.stderr
    results = fw.sweep({"run.power_cuts.cuts": [2, 3]}, base=Config(TINY), workers=1)
    frame = results.runs()
    assert frame["power_cuts.recovery_ns.median"].min() == 512 * 50_400
    assert results.runs(["power_cuts.cuts"])["power_cuts.cuts"].to_list() == [2, 3]


def test_a_key_of_the_section_is_explained(flashwatt: Cli) -> None:
    told = flashwatt("explain", "power_cuts.recovery_ns").stdout
    assert "Time from power on until the drive serves requests, in ns." in " ".join(told.split())
    assert "a cut at each of these simulated times" in flashwatt("explain", "run.power_cuts").stdout.lower()


def test_the_guide_shows_what_a_sweep_prints(flashwatt: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    shown = re.search(
        r"```toml\n(# cuts.*?)```\n\n```sh\nflashwatt (.*?)\n```\n\n```text\n(.*?)```",
        re.sub(r" *\\\n *", " ", DOCS.read_text()),
        re.DOTALL,
    )
    assert shown
    (tmp_path / "cuts.toml").write_text(shown[1])
    printed = flashwatt(*shlex.split(shown[2])).stdout
    told, expected = (
        [" ".join(one.split()) for one in text.splitlines() if one.strip()] for text in (printed, shown[3])
    )
    assert told == expected


# ------------------------------------------------------------------ flashwatt crash


def test_the_table_is_the_default_of_the_command(flashwatt: Cli, drive: Path) -> None:
    found = json.loads(flashwatt("crash", drive, "--json").stdout)
    assert (found["when"], found["twice"], len(found["cuts"])) == ({"cuts": 6}, True, 6)
    other = json.loads(flashwatt("crash", drive, "--at-ns", "1ms", "--json").stdout)
    assert (other["when"], other["twice"]) == ({"at_ns": 1_000_000}, True), "the place is replaced, and nothing else"
    places = json.loads(flashwatt("crash", drive, "--set", 'run.power_cuts.at_ns=["1ms", "2ms"]', "--json").stdout)
    assert places["when"] == {"at_ns": [1_000_000, 2_000_000]}, "an override drops the place of the file"
    once = json.loads(flashwatt("crash", drive, "--set", "run.power_cuts.twice=false", "--json").stdout)
    assert (once["when"], once["twice"]) == ({"cuts": 6}, False)
    result = fw.crash(drive, twice=False)
    assert (result.when, result.twice, result.cuts.columns[-1][:7]) == ({"cuts": 6}, False, "scan_me")


def test_the_table_may_give_several_places(flashwatt: Cli, drive: Path, tmp_path: Path) -> None:
    drive.write_text(f'{TINY}[run.power_cuts]\nat_ns = ["1ms", 3_000_000, 2e6]\n')
    told = flashwatt("crash", drive, "-o", "cuts.json")
    assert told.returncode == 0, told.stderr
    assert "3 cuts at given places, the last one at 3000000 ns; seed 1" in told.stdout
    result = Crash.read(tmp_path / "cuts.json")
    assert (result.when, result.asked) == ({"at_ns": [1_000_000, 2_000_000, 3_000_000]}, 3)
    assert result.cuts["at_ns"].to_list() == [1_000_000, 2_000_000, 3_000_000]
    late = flashwatt("crash", drive, "--set", 'run.power_cuts.at_ns=["1000s"]')
    assert late.returncode == 2
    assert "run.power_cuts.at_ns: the run ends before the power is cut; found 1000000000000 ns" in late.stderr


# ------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("sets", "found"),
    [
        (["run.power_cuts.cuts=0"], "run.power_cuts.cuts: out of range; found 0; expected 1 to 4294967295"),
        (["run.power_cuts.cut=5"], "run.power_cuts.cut: unknown key; found `cut`"),
        (["run.power_cuts.at_ns=5"], "run.power_cuts.at_ns: wrong type; found 5; expected a list"),
        (
            ["run.power_cuts.at_ns=[5]", "run.power_cuts.cuts=5"],
            "run.power_cuts.at_ns: says when the power is cut, as another key does",
        ),
        (["run.power_cuts.at_ns=[]"], "run.power_cuts.at_ns: an empty list; found []"),
        (['run.power_cuts.at_ns=["5 mJ"]'], "run.power_cuts.at_ns"),
        (["run.power_cuts.at_operation=[-1]"], "run.power_cuts.at_operation"),
        (["run.power_cuts.twice=2"], "run.power_cuts.twice: wrong type; found 2; expected true or false"),
        (["run.power_cuts=5"], "run.power_cuts: wrong type; found 5; expected a table"),
        (["run.replay=flashsim"], "run.replay: a power cut needs a clock; found flashsim; expected timed"),
        (["run.max_flash_ops=10"], "run.max_flash_ops: a run that is cut goes to its end"),
        (["array.members=4", "host.scheduler=noop"], "a cut of an array behind a block layer is not simulated"),
        (["run.power_cuts.while_busy=2"], "run.power_cuts.while_busy: wrong type; found 2; expected true or false"),
        (["device.op_ratio=0.02", "ftl=page"], "device"),
    ],
)
def test_what_is_wrong_is_named(flashwatt: Cli, drive: Path, sets: list[str], found: str) -> None:
    told = flashwatt("run", drive, *(word for one in sets for word in ("--set", one)))
    assert told.returncode == 2, told.stdout
    assert found in told.stderr
    assert "Traceback" not in told.stderr


def test_what_cuts_no_power_refuses_the_table(flashwatt: Cli, drive: Path) -> None:
    aged = flashwatt("age", drive, "-o", "aged.fw", "--run")
    assert aged.returncode == 2
    assert "run.power_cuts: its power is not cut; found the workload of a preparation" in aged.stderr
    with pytest.raises(FlashwattError, match=r"run\.power_cuts: its power is not cut; found a drive under the control"):
        fw.Drive(drive)
