"""Reports side by side."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

import flashwatt as package
from conftest import CONFIG
from flashwatt.report.compare import show
from flashwatt.report.comparison import Comparison, change, compared, labels
from flashwatt.report.metrics import metric_of

if TYPE_CHECKING:
    from conftest import Cli

BASE = package.Config(CONFIG)


@pytest.fixture
def made(tmp_path: Path) -> list[str]:
    """Write three reports of different drives; give their directories."""
    for name, channels in (("wide", 10), ("narrow", 4), ("slim", 2)):
        (tmp_path / name).mkdir()
        package.run(BASE, device__channels=channels).write(tmp_path / name / "report.json")
    return ["wide", "narrow", "slim"]


def test_the_table_says_what_differs_and_what_came_of_it(flashwatt: Cli, made: list[str]) -> None:
    result = flashwatt("compare", *made)
    assert result.returncode == 0, result.stderr
    for word in (*made, "device.channels", "throughput", "energy per GB", "write latency, p99", "×"):
        assert word in result.stdout
    assert "device.ways" not in result.stdout


def test_reports_of_unlike_map_units_are_told() -> None:
    def told(*units: int) -> str:
        stream = io.StringIO()
        drives = {f"of {unit}": package.run(BASE, ftl__page__map_unit_bytes=unit, latency=False) for unit in units}
        show(Comparison(drives), Console(file=stream, width=100))
        return " ".join(stream.getvalue().split())

    assert "the runs map different units" not in told(4096)
    assert "ftl.map_unit_bytes: 1024 bytes (of 1024), 4096 bytes (of 4096); compare write_amplification" in told(
        4096, 1024
    )


def test_disks_and_arrays_have_no_map_to_compare(flashwatt: Cli, tmp_path: Path) -> None:
    disk, array = {"device.preset": "laptop-7200"}, {"device.preset": "limit", "array.members": 2}
    for name, drive in (("disk", disk), ("array", array)):
        package.run(drive, workload__uniform__requests=100).write(tmp_path / f"{name}.json")
    result = flashwatt("compare", "disk.json", "array.json", "--html", "page.html")
    assert (result.returncode, result.stderr) == (0, "flashwatt: wrote page.html\n")
    assert "mean power" in result.stdout


def test_as_json(flashwatt: Cli, made: list[str], tmp_path: Path) -> None:
    told = json.loads(flashwatt("compare", *made, "--json").stdout)
    assert list(told) == made
    assert [one["config"]["device.channels"] for one in told.values()] == [10, 4, 2]
    report = json.loads((tmp_path / "narrow/report.json").read_text())
    assert told["narrow"]["metrics"]["energy_j.total"] == report["energy_j"]["total"]


def test_the_page(flashwatt: Cli, made: list[str], tmp_path: Path) -> None:
    result = flashwatt("compare", *made, "--html", "page.html")
    assert result.returncode == 0, result.stderr
    page = (tmp_path / "page.html").read_text()
    assert 'id="chart1"' in page
    assert "wrote page.html" in result.stderr
    package.run(BASE, latency=False).write(tmp_path / "slim/report.json")
    result = flashwatt("compare", *made, "--html", "page.html")
    assert "no latencies drawn: slim came without" in result.stderr
    assert 'id="chart1"' not in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("wide",), "one report alone"),
        (("wide", "absent"), "absent"),
        (("wide", "empty"), "empty: no report.json in this directory"),
        (("wide", "other.json"), "other.json: not a report; found no `schema`"),
        ((), "REPORT"),
    ],
)
def test_an_invalid_report_is_a_message(
    flashwatt: Cli, made: list[str], tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert made
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.json").write_text("{}")
    result = flashwatt("compare", *arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["a.json", "b.json"], ["a", "b"]),
        (["a.json"], ["a"]),
        (["x/a/report.json"], ["a"]),
        (["x/a/report.json", "x/b/report.json"], ["a", "b"]),
        (["x/a/report.json", "y/a/report.json"], ["x/a", "y/a"]),
        (["a/report.json", "b.json"], ["report", "b"]),
        (["a.json", "a.json"], ["1: a.json", "2: a.json"]),
    ],
)
def test_labels_are_as_short_as_they_can_be(paths: list[str], expected: list[str]) -> None:
    assert labels([Path(path) for path in paths]) == expected


def test_the_best_of_each_figure_is_marked() -> None:
    reports = {"fast": package.run(BASE), "slow": package.run(BASE, device__channels=2)}
    stream = io.StringIO()
    show(Comparison(reports), Console(file=stream, width=100, force_terminal=True, color_system="standard"))
    (throughput,) = (line for line in stream.getvalue().splitlines() if "throughput" in line)
    assert throughput.index("\x1b[1;32m") < throughput.index("IOPS")
    assert "read latency, p99" in stream.getvalue()


def test_an_end_that_was_not_complete_is_told() -> None:
    report = package.run(BASE)
    ended = package.Report({**report.to_dict(), "status": "failed: [no] page left", "warnings": ["12 folded"]})
    stream = io.StringIO()
    show(Comparison({"a": report, "b": ended}), Console(file=stream, width=100))
    assert "b: failed: [no] page left" in stream.getvalue()
    assert "b: 12 folded" in stream.getvalue()
    assert compared({"a": report, "b": ended})["b"]["status"] == "failed: [no] page left"


@pytest.fixture(scope="module")
def drives() -> dict[str, package.Report]:
    """Give reports of drives that differ in nearly everything."""
    presets = ("x25m", "tlc-nvme-1t", "pardispatcher-60g")
    return {name: package.run(package.Config(f'device.preset = "{name}"\n{LOAD}'), latency=False) for name in presets}


LOAD = "[workload.uniform]\nrequests = 500\nread_fraction = 0.5\n"


def printed(reports: dict[str, package.Report], width: int, only: tuple[str, ...] = ()) -> str:
    """Print a comparison to a string."""
    stream = io.StringIO()
    show(Comparison(reports, only), Console(file=stream, width=width))
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 140, 220])
def test_every_row_has_its_label_at_every_width(drives: dict[str, package.Report], width: int) -> None:
    text = printed(drives, width)
    assert max(map(len, text.splitlines())) <= width
    for label in ("throughput", "write latency, p99", "energy per GB", "device.preset", "energy.dram.idle_ma"):
        assert re.search(rf"^ *{re.escape(label)} +\S", text, re.MULTILINE), label
    assert width < 80 or text.count("throughput") == 1
    assert text.index("IOPS per watt") < text.index("device.channels")
    assert "description" not in text
    assert "simulated drive of" not in text
    assert re.search(r"dram\.idle_ma +20 +15", text)
    assert "_ua" not in text
    assert "millivolts" not in text


def test_more_reports_than_fit_go_on_below(drives: dict[str, package.Report]) -> None:
    many = {f"{name}-{at}": report for at in range(3) for name, report in drives.items()}
    text = printed(many, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("throughput") > 2
    for name in many:
        assert name.partition("-")[0] in text


def test_only_what_is_asked_for(drives: dict[str, package.Report]) -> None:
    text = printed(drives, 100, ("latency_ns.read.p99_9", "energy_j.nand", "device.ways", "device.description"))
    for words in ("read latency, p99.9", "energy of NAND", "energy_j.nand.program", "device.ways", "3D TLC"):
        assert words in text
    assert "throughput" not in text
    assert "device.channels" not in text
    told = compared(drives, ["throughput.iops", "ftl.page.map_unit_bytes"])["x25m"]
    assert list(told["metrics"]) == ["throughput.iops"]
    assert told["config"] == {"ftl.page.map_unit_bytes": 4096}
    with pytest.raises(package.FlashwattError, match=r"^only: unknown name; found `energy_j.totl`; .*`energy_j.total`"):
        compared(drives, ["energy_j.totl"])
    for abbreviation, key in (
        ("WAF", "flash.write_amplification"),
        ("j/gb", "efficiency.j_per_gb"),
        ("energy per GB", "efficiency.j_per_gb"),
    ):
        with pytest.raises(package.FlashwattError, match=rf"did you mean `{key}`\?$"):
            compared(drives, [abbreviation])


def test_keys_may_be_given_in_one_list_or_several(flashwatt: Cli, made: list[str]) -> None:
    several = flashwatt("compare", *made, "--only", "power_w.mean", "--only", "device.channels", "--json")
    one = flashwatt("compare", *made, "--only", "power_w.mean,device.channels", "--json")
    assert several.returncode == 0, several.stderr
    assert one.stdout == several.stdout
    assert list(json.loads(one.stdout)["wide"]["metrics"]) == ["power_w.mean"]


def test_an_invalid_report_is_refused_at_once(flashwatt: Cli, made: list[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file in ("/dev/zero", "pipe"):
        result = flashwatt("compare", made[0], file)
        assert result.returncode == 2
        assert f"{file}: not a file with an end; found a " in result.stderr


def testchanges_are_short_and_say_what_they_are_of() -> None:
    pairs = [(1, 1), (2, 1), (1, 1.5), (1, 1.9996), (1, 0), (3, 6), (1, 123456), (1, 4e6), (0, 1), (1, None), (1, -1)]
    found = [change(*pair) for pair in pairs]
    assert found == ["=", "-50.0 %", "+50.0 %", "+100 %", "-100 %", "×2.00", "×1e+05", "×4e+06", "–", "–", "×-1"]


def test_figures_have_units_of_their_own() -> None:
    """A count of latencies is no time, and the voltage of currents no current."""
    assert metric_of("latency_ns.write.count").write(2000) == "2,000"
    assert metric_of("current_ma.supply_v").write(5.0).endswith(" V")


def test_a_comparison_as_a_frame(drives: dict[str, package.Report]) -> None:
    frame = package.compare(drives).frame()
    assert frame["report"].to_list() == list(drives)
    assert frame["status"].to_list() == ["complete"] * 3
    assert frame["device.channels"].to_list() == [10, 8, 8]
    assert frame["energy_j.total"].to_list() == [report.energy_j.total for report in drives.values()]
    assert frame["wear.erase_count.stddev"].null_count() == 0, "every figure of the report is there"
    some = package.compare(drives, only=["power_w", "device.ways"]).frame()
    assert some.columns[:5] == ["report", "status", "warnings", "device.ways", "power_w.mean"]
    assert not [key for key in some.columns[4:] if not key.startswith("power_w.")]


def test_a_comparison_in_a_notebook(drives: dict[str, package.Report]) -> None:
    odd = {"a <b>": drives["x25m"], "tlc": drives["tlc-nvme-1t"]}
    card = package.compare(odd)._repr_html_()
    assert "<th>a &lt;b&gt;</th>" in card
    assert "a <b>" not in card
    assert re.search(r"<td>throughput</td><td>[0-9,]+ IOPS</td><td><b>[0-9,]+ IOPS</b> <span", card)
    assert "device.channels" in card
    assert "<script" not in card


def test_reports_may_be_paths_or_labelled_or_neither(tmp_path: Path, drives: dict[str, package.Report]) -> None:
    for name, report in zip("ab", drives.values(), strict=False):
        (tmp_path / name).mkdir()
        report.write(tmp_path / name / "report.json")
    assert list(package.compare(tmp_path / "a", str(tmp_path / "b" / "report.json")).reports) == ["a", "b"]
    assert list(package.compare({"old": tmp_path / "a", "new": drives["x25m"]}).reports) == ["old", "new"]
    assert list(package.compare(drives["x25m"], tmp_path / "a").reports) == ["1: x25m", "2: x25m"]
    assert repr(package.compare(drives)).count("throughput") == 1
    for wrong in ((), (5,), (drives, drives["x25m"]), ({},)):
        with pytest.raises(package.FlashwattError, match=r"^compare: .*expected"):
            package.compare(*wrong)  # type: ignore[arg-type]
    with pytest.raises(package.FlashwattError, match="only: found 'power_w'; expected a list"):
        package.compare(drives, only="power_w")


def test_a_comparison_in_latex(drives: dict[str, package.Report]) -> None:
    lines = package.compare(drives, only=["power_w.mean", "power_w.peak", "device.description"]).to_latex().splitlines()
    assert lines[2:5] == [r"\begin{tabular}{lrrr}", r"\toprule", r" & x25m & tlc-nvme-1t & pardispatcher-60g \\"]
    means = [report.power_w.mean for report in drives.values()]
    cells = [f"{mean:.2f}" for mean in means]
    best = means.index(min(means))
    cells[best] = rf"\textbf{{{cells[best]}}}"
    assert lines[6] == f"mean power (W) & {' & '.join(cells)} \\\\"
    assert lines.count(r"\midrule") == 2


def test_tables_of_reports_from_the_command(flashwatt: Cli, made: list[str]) -> None:
    csv = flashwatt("compare", made[0], "--format", "csv")
    assert csv.returncode == 0, csv.stderr
    head, row = csv.stdout.splitlines()
    assert head.startswith("report,status,warnings,")
    assert row.startswith("wide,complete,")
    assert len(head.split(",")) > 100
    latex = flashwatt("compare", *made, "--format", "latex", "--only", "power_w.mean")
    assert r"\begin{tabular}{lrrr}" in latex.stdout
    wrong = flashwatt("compare", *made, "--only", "power")
    assert "--only: unknown name; found `power`" in wrong.stderr


def test_a_drive_has_the_name_that_its_user_gave_it(drives: dict[str, package.Report]) -> None:
    acme = package.run(BASE, device__description="ACME 1", device__preset="tlc-nvme-1t", latency=False)
    assert "ACME 1 (tlc-nvme-1t): 8 channels" in repr(acme)
    assert "ACME 1 (tlc-nvme-1t): 8 channels" in acme._repr_html_()
    assert "tlc-nvme-1t: 8 channels" in repr(drives["tlc-nvme-1t"])
    assert list(package.compare(acme).reports) == ["1: ACME 1 (tlc-nvme-1t)"]
