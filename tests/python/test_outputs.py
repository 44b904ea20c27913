"""No file of the user is destroyed, wherever a result is written, and also if writing stops half-way."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import flashwatt
from conftest import CONFIG
from flashwatt import plot, traces
from flashwatt.base import marks, outputs
from flashwatt.cli.main import main
from flashwatt.report.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Cli

TRACE = "0.0,0,W,0,4096\n2.0,0,R,0,4096\n"
STUDY = 'base = "small.toml"\n[grid]\n"device.channels" = [2]\n'
PRICES = "[energy.nand]\nprogram_ma = 10\n"
MINE = "mine\n"
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root: NOT TESTED HERE")


@pytest.fixture
def work(tmp_path: Path, config: Path) -> Path:
    """A directory with something of everything that commands read."""
    (tmp_path / "trace.csv").write_text(TRACE)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "prices.toml").write_text(PRICES)
    report = flashwatt.run(config, latency=True)
    for name in ("one.json", "two.json"):
        report.write(tmp_path / name)
    return tmp_path


@pytest.fixture
def command(work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run the command line in this process, which takes less time than one of its own."""
    monkeypatch.chdir(work)

    def start(*arguments: object) -> subprocess.CompletedProcess[str]:
        status = 0
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = int(stop.code or 0)
        said = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, status, said.out, said.err)

    return start


def leftovers(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob(".*"))


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def refused(result: subprocess.CompletedProcess[str], *words: str) -> None:
    assert result.returncode == 2, (result.stdout, result.stderr)
    for word in words:
        assert word in result.stderr
    assert "Traceback" not in result.stderr


# Every command that writes: its words, and the files that it writes.
COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "run": (["run", "small.toml", "--out", "out"], ["out/report.json", "out/config.toml"]),
    "price": (["price", "one.json", "--table", "prices.toml", "--out", "out"], ["out/report.json"]),
    "op-log": (["run", "small.toml", "--op-log", "ops.csv"], ["ops.csv"]),
    "op-log parquet": (["run", "small.toml", "--op-log", "ops.parquet"], ["ops.parquet"]),
    "request-log": (["run", "small.toml", "--request-log", "requests.csv"], ["requests.csv"]),
    "capture": (["run", "small.toml", "--capture", "stream.csv"], ["stream.csv"]),
    "convert": (["trace", "convert", "trace.csv", "--format", "csv", "--out", "new.csv"], ["new.csv"]),
    "convert binary": (["trace", "convert", "trace.csv", "--format", "csv", "--out", "new.fwt.gz"], ["new.fwt.gz"]),
    "plot": (["trace", "plot", "trace.csv", "--format", "csv", "--out", "out"], ["out/trace.svg", "out/trace.html"]),
    "compare": (["compare", "one.json", "two.json", "--html", "page.html"], ["page.html"]),
    "sweep": (["sweep", "study.toml", "--out", "out"],
              ["out/results.jsonl", "out/results.parquet", "out/tradeoff.html"]),
    "reproduce": (["reproduce", "X13", "--requests", "1", "--out", "out"], ["out/verdicts.json", "out/energysim.html"]),
    "init": (["init", "--out", "new.toml"], ["flashwatt.schema.json"]),
}  # fmt: skip
CASES = [(name, file) for name, (_, files) in COMMANDS.items() for file in files]


@pytest.mark.parametrize(("name", "file"), CASES, ids=[f"{name}: {file}" for name, file in CASES])
def test_a_foreign_file_is_refused_before_the_work(command: Cli, work: Path, name: str, file: str) -> None:
    path = work / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(MINE)
    before = sorted(work.rglob("*"))
    result = command(*COMMANDS[name][0])
    refused(result, str(file))
    assert result.stdout == ""
    assert path.read_text() == MINE
    assert sorted(work.rglob("*")) == before


@pytest.mark.parametrize(("name", "file"), CASES, ids=[f"{name}: {file}" for name, file in CASES])
def test_a_link_and_a_fifo_stay(command: Cli, work: Path, name: str, file: str) -> None:
    path = work / file
    path.parent.mkdir(exist_ok=True)
    (work / "target").write_text("")
    path.symlink_to(work / "target")
    refused(command(*COMMANDS[name][0]), "a symbolic link")
    assert path.is_symlink()
    assert (work / "target").read_text() == ""
    path.unlink()
    os.mkfifo(path)
    refused(command(*COMMANDS[name][0]), "a device or a FIFO")
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize(
    "name", ["run", "price", "op-log", "op-log parquet", "request-log", "capture", "convert", "convert binary"]
)
def test_the_same_command_again_replaces_its_files(command: Cli, work: Path, name: str) -> None:
    words, files = COMMANDS[name]
    for _ in range(2):
        result = command(*words)
        assert result.returncode == 0, result.stderr
    assert all((work / file).stat().st_size for file in files)
    assert leftovers(work) == []
    (work / files[-1]).write_text(MINE)
    assert command(*words, "--force").returncode == 0
    assert (work / files[-1]).read_bytes() != MINE.encode()


@pytest.mark.parametrize("name", ["plot", "compare", "sweep"])
def test_pictures_and_tables_of_an_earlier_command_are_replaced(command: Cli, work: Path, name: str) -> None:
    words, files = COMMANDS[name]
    (work / "out").mkdir()
    old = {".html": f"<head>{marks.META}</head>".encode(), ".svg": marks.svg("<svg></svg>").encode()}
    for path in (work / file for file in files):
        if path.suffix == ".parquet":
            pl.DataFrame({"a": [1]}).write_parquet(path, metadata=marks.PARQUET)
        elif path.suffix in old:
            path.write_bytes(old[path.suffix])
    result = command(*words)
    assert result.returncode == 0, result.stderr
    assert all((work / file).stat().st_size > 1000 for file in files)
    assert leftovers(work) == []


@needs_root
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "force"])
@pytest.mark.parametrize("name", ["convert", "op-log", "compare"])
def test_a_device_stays_a_device(command: Cli, work: Path, name: str, force: tuple[str, ...]) -> None:
    words, (file,) = COMMANDS[name]
    try:
        os.mknod(work / file, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("needs the right to make devices: NOT TESTED HERE")
    refused(command(*words, *force), "a device or a FIFO")
    assert stat.S_ISCHR((work / file).stat().st_mode)


def test_inputs_are_never_replaced(command: Cli, work: Path) -> None:
    (work / "link.csv").symlink_to("trace.csv")
    (work / "config.toml").write_text(CONFIG)
    for log in ("trace.csv", "link.csv", "config.toml"):
        words = ("run", "config.toml", "--trace", "trace.csv", "--format", "csv", "--op-log", log, "--force")
        refused(command(*words), "found a file that is read")
    refused(command("run", "config.toml", "--out", ".", "--force"), "config.toml, which it reads; expected another dir")
    refused(command("compare", "one.json", "two.json", "--html", "one.json", "--force"), "found a file that is read")
    words = ("trace", "convert", "trace.csv", "--format", "csv", "--out", "link.csv", "--force")
    refused(command(*words), "found a file that is read")
    assert (work / "trace.csv").read_text() == TRACE
    assert (work / "config.toml").read_text() == CONFIG
    assert Report.read(work / "one.json").status == "complete"


def test_inputs_are_never_removed(command: Cli, work: Path) -> None:
    assert command("run", "small.toml", "--out", "out").returncode == 0
    (work / "out/config.toml").write_text(marks.config(PRICES))
    assert command("price", "one.json", "--table", "out/config.toml", "--out", "out").returncode == 0
    assert (work / "out/config.toml").read_text().endswith(PRICES)


@pytest.mark.parametrize("name", ["report.json", "config.toml", "power.svg", "series.parquet"])
def test_a_log_has_a_name_of_its_own(command: Cli, work: Path, name: str) -> None:
    refused(command("run", "small.toml", "--out", "out", "--op-log", f"out/{name}"), "expected another name")


def test_the_record_of_a_run_can_be_run_where_it_is(command: Cli, work: Path) -> None:
    assert command("run", "small.toml", "--out", "out").returncode == 0
    before = (work / "out/config.toml").read_bytes()
    result = command("run", "out/config.toml", "--out", "out")
    assert result.returncode == 0, result.stderr
    assert (work / "out/config.toml").read_bytes() == before
    refused(command("run", "out/config.toml", "--set", "run.seed=7", "--out", "out"), "expected another directory")


def test_a_config_that_was_edited_is_the_users(command: Cli, work: Path) -> None:
    assert command("run", "small.toml", "--out", "out").returncode == 0
    with (work / "out/config.toml").open("a") as file:
        file.write("# what I learned\n")
    refused(command("run", "small.toml", "--out", "out"), "not an unchanged config.toml written by flashwatt")
    assert "what I learned" in (work / "out/config.toml").read_text()


def test_only_files_with_our_mark_are_removed(command: Cli, work: Path) -> None:
    out = work / "out"
    assert command("run", "small.toml", "--out", "out").returncode == 0
    mine = [out / name for name in ("power.svg", "power.html", "series.parquet", "edges.parquet", "current.svg")]
    for path in mine:
        path.write_text(MINE)
    drawn = out / "current.html"
    drawn.write_text(f"<head>{marks.META}</head>")
    result = command("run", "small.toml", "--out", "out")
    assert f"removed files of an earlier run: {drawn}\n" in result.stderr.replace("out/", f"{out}/")
    assert [path.read_text() for path in mine] == [MINE] * len(mine)
    refused(command("run", "small.toml", "--series", "--out", "out"), "series.parquet: cannot be written")


def test_a_torn_line_of_a_foreign_file_is_no_result(command: Cli, work: Path) -> None:
    (work / "out").mkdir()
    notes = work / "out/results.jsonl"
    notes.write_text("my notes")
    refused(command("sweep", "study.toml", "--out", "out", "--force"), "results.jsonl", "expected another name\n")
    assert notes.read_text() == "my notes"


def test_a_first_line_that_was_torn_is_made_anew(command: Cli, work: Path) -> None:
    (work / "out").mkdir()
    (work / "out/results.jsonl").write_text('{"i')
    assert command("sweep", "study.toml", "--out", "out").returncode == 0
    assert (work / "out/results.jsonl").read_text().startswith('{"id": "')


@contextmanager
def full_disk(room_bytes: int) -> Iterator[None]:
    """Limit the length of files within the block, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_the_old_report_and_prints_the_new_one(command: Cli, work: Path) -> None:
    assert command("run", "small.toml", "--out", "out").returncode == 0
    before = (work / "out/report.json").read_bytes()
    with full_disk(4096):
        result = command("run", "small.toml", "--set", "run.seed=9", "--out", "out", "--json")
    refused(result, "out/report.json: cannot be written; found: File too large; expected room for it")
    assert json.loads(result.stdout)["seed"] == 9
    assert (work / "out/report.json").read_bytes() == before
    assert names(work / "out") == ["config.toml", "report.json"]


@pytest.mark.parametrize("name", ["plot", "compare", "convert", "init"])
def test_a_full_disk_leaves_no_half_file(command: Cli, work: Path, name: str) -> None:
    words, files = COMMANDS[name]
    (work / "trace.csv").write_text(TRACE * 500)
    before = {path: path.read_bytes() for path in work.iterdir()}
    with full_disk(4096):
        result = command(*words)
    refused(result, "File too large")
    assert not any((work / file).exists() for file in files)
    assert {path: path.read_bytes() for path in work.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_log_without_room_costs_no_result(command: Cli, work: Path, suffix: str) -> None:
    log = work / f"ops.{suffix}"
    with full_disk(4096):
        result = command("run", "small.toml", "--op-log", log.name, "--json")
    report = json.loads(result.stdout)
    assert report["workload"]["requests"] == 2000
    assert report["status"].startswith("failed: the operation log was not kept: ")
    assert f" {log.name}: File too large" in report["status"]
    assert result.returncode == 1
    assert not log.exists()
    assert leftovers(work) == []


def test_a_table_without_room_costs_no_result(command: Cli, work: Path) -> None:
    one = ("run", "small.toml", "--requests", 1, "--op-log", "ops.parquet", "--json")
    with full_disk(4700):
        result = command(*one)
        report = flashwatt.run(work / "small.toml", run__measure__requests=1, op_log=work / "ops.parquet")
    refused(result, "ops.parquet: cannot be written")
    assert json.loads(result.stdout)["status"] == "complete"
    assert report.status.startswith("failed: the operation log was not kept: ")
    assert report.energy_j.total > 0
    assert not (work / "ops.parquet").exists()
    assert leftovers(work) == []


def test_a_sweep_without_room_shows_its_results(command: Cli, work: Path) -> None:
    (work / "out").mkdir()
    with full_disk(20_000):
        result = command("sweep", "study.toml", "--out", "out", "--json")
    refused(result, "out/results.parquet: cannot be written; found: File too large")
    assert json.loads(result.stdout)["runs"] == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 512 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", disk], check=False).returncode:
        pytest.skip("no disk can be mounted here: NOT TESTED")
    yield disk
    subprocess.run(["umount", disk], check=True)


@needs_root
def test_a_disk_that_is_really_full(command: Cli, work: Path, small_disk: Path) -> None:
    assert command("run", "small.toml", "--out", small_disk / "out").returncode == 0
    before = (small_disk / "out/report.json").read_bytes()
    (small_disk / "fill").write_bytes(bytes(shutil.disk_usage(small_disk).free))
    result = command("run", "small.toml", "--series", "--out", small_disk / "out", "--op-log", small_disk / "ops.csv")
    refused(result, "report.json: cannot be written; found: No space left on device; expected room for it")
    assert "Energy by component" in result.stdout
    assert (small_disk / "out/report.json").read_bytes() == before
    assert sorted(path.name for path in small_disk.rglob("*")) == ["config.toml", "fill", "out", "report.json"]


def test_a_run_locks_its_directory(command: Cli, work: Path) -> None:
    (work / "out").mkdir()
    with outputs.locked(work / "out"):
        for name in ("run", "price", "plot", "sweep"):
            refused(command(*COMMANDS[name][0]), "out: another command is at work there")
    assert leftovers(work) == []
    assert command("run", "small.toml", "--out", "out").returncode == 0
    assert leftovers(work) == []


def test_a_foreign_lock_stays(work: Path) -> None:
    (work / ".flashwatt.lock").write_text(MINE)
    with outputs.locked(work):
        pass
    assert (work / ".flashwatt.lock").read_text() == MINE


def test_part_files_of_killed_processes_are_removed(work: Path) -> None:
    (work / ".flashwatt-1-0.part").write_text("half a table")
    (work / ".flashwatt-1-1-py.part").mkdir()
    (work / ".flashwatt-1-1-py.part/ops.csv").write_text("half a log")
    (work / "mine.part").write_text(MINE)
    with outputs.replacing(work / "living.html", marks.PAGE) as living, outputs.scratch(work / "ops.parquet") as logs:
        traces.convert(work / "trace.csv", work / "new.csv", trace_format="csv")
        flashwatt.run(work / "small.toml", op_log=work / "ops.parquet")
        assert leftovers(work) == sorted([living.name, logs.name])
    assert leftovers(work) == []
    assert (work / "mine.part").read_text() == MINE


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_killed_run_with_a_log_leaves_nothing_for_long(command: Cli, work: Path) -> None:
    words = ("run", "small.toml", "--set", "workload.uniform.requests=100_000_000_000", "--op-log", "ops.parquet")
    process = subprocess.Popen([sys.executable, "-m", "flashwatt", *words], cwd=work, stdout=subprocess.DEVNULL)
    for _ in range(600):
        if any(path.stat().st_size for path in work.glob(".flashwatt-*/.flashwatt-*")):
            break
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert leftovers(work)
    assert command("run", "small.toml", "--op-log", "ops.parquet").returncode == 0
    assert leftovers(work) == []


def started(work: Path, *words: str) -> subprocess.Popen[str]:
    """Start the command, with SIGHUP as in a terminal: these tests may themselves run under `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        return subprocess.Popen([sys.executable, "-m", "flashwatt", *words], cwd=work, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
def test_a_terminal_that_is_closed_ends_a_run_and_keeps_it(work: Path) -> None:
    words = ("run", "small.toml", "--set", "workload.uniform.requests=100_000_000_000", "--out", "out")
    process = started(work, *words, "--op-log", "ops.csv")
    for _ in range(600):
        if any(path.stat().st_size for path in work.glob(".flashwatt-*.part")):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert Report.read(work / "out/report.json").status == "interrupted"
    assert (work / "ops.csv").read_text().endswith(",,\n")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs SIGHUP")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_sweep_that_is_ended_frees_its_directory(work: Path, number: str) -> None:
    (work / "study.toml").write_text("seeds = 3000\n" + STUDY)
    process = started(work, "sweep", "study.toml", "--out", "out")
    results = work / "out/results.jsonl"
    for _ in range(600):
        if results.exists() and results.stat().st_size:
            break
        time.sleep(0.05)
    process.send_signal(getattr(signal, number))
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "interrupted" in said
    assert "Traceback" not in said
    assert leftovers(work / "out") == []


def test_an_interrupt_while_the_command_is_loaded_is_a_message(work: Path) -> None:
    for pause_s in (0.03, 0.05, 0.07, 0.1):
        process = started(work, "run", "small.toml")
        time.sleep(pause_s)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert 'flashwatt/cli/main.py", line' not in said, said


def shell(work: Path, line: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, in which `$F` is the command."""
    variables = {**os.environ, "F": f"{sys.executable} -m flashwatt", **variables}
    return subprocess.run(["sh", "-c", line], cwd=work, env=variables, capture_output=True, text=True, check=False)


def test_a_closed_error_stream_is_no_matter(work: Path) -> None:
    result = shell(work, "$F run small.toml --out out --json 2>&-")
    assert result.returncode == 0
    assert json.loads(result.stdout) == json.loads((work / "out/report.json").read_text())
    assert shell(work, "$F trace info trace.csv --format csv 2>&-").returncode == 0
    assert shell(work, "$F run small.toml --out /dev/null/x 2>&-").returncode == 2
    assert shell(work, "$F run small.toml --json <&- 2>&-").returncode == 0


def test_a_closed_output_is_an_error_and_saves_what_it_can(work: Path) -> None:
    result = shell(work, "$F run small.toml >&-")
    assert (result.returncode, "standard output is closed" in result.stderr) == (1, True)
    result = shell(work, "$F run small.toml --out out >&-")
    assert (result.returncode, "standard output: Bad file descriptor" in result.stderr) == (1, True)
    assert Report.read(work / "out/report.json").status == "complete"
    assert shell(work, "$F list >&-").returncode == 1
    result = shell(work, "$F run small.toml --out full > /dev/full")
    assert (result.returncode, "standard output: No space left on device" in result.stderr) == (1, True)
    assert Report.read(work / "full/report.json").status == "complete"
    assert "Traceback" not in result.stderr
    for json_option in ("", "--json"):
        result = shell(work, f"( $F run small.toml --out piped{json_option} {json_option}; echo $? >&2 ) | true")
        assert result.stderr.endswith("\n1\n")
        assert "wrote piped" in result.stderr
        assert Report.read(work / f"piped{json_option}/report.json").status == "complete"


def test_a_width_of_nothing_prints_all(work: Path) -> None:
    assert "Energy by component" in shell(work, "$F run small.toml", COLUMNS="0").stdout


@pytest.mark.parametrize("words", [
    ["run", "small.toml", "--out", ""],
    ["run", "small.toml", "--op-log", ""],
    ["price", "one.json", "--table", "prices.toml", "--out", ""],
    ["trace", "convert", "trace.csv", "--to", "csv", "--out", ""],
    ["trace", "plot", "trace.csv", "--out", ""],
    ["compare", "one.json", "two.json", "--html", ""],
    ["sweep", "study.toml", "--out", ""],
    ["reproduce", "X13", "--out", ""],
    ["init", "--out", ""],
], ids=lambda words: " ".join(words[:2]))  # fmt: skip
def test_an_empty_name_is_refused(command: Cli, work: Path, words: list[str]) -> None:
    before = names(work)
    refused(command(*words), "an empty name")
    assert names(work) == before


def test_the_mode_of_a_file_stays(command: Cli, work: Path) -> None:
    for name in ("run", "convert", "op-log"):
        words, files = COMMANDS[name]
        assert command(*words).returncode == 0
        (work / files[0]).chmod(0o600)
        assert command(*words).returncode == 0
        assert stat.S_IMODE((work / files[0]).stat().st_mode) == 0o600
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((work / "out/config.toml").stat().st_mode) == 0o666 & ~umask
    for name in ("price", "convert"):
        words, files = COMMANDS[name]
        (work / files[0]).unlink(missing_ok=True)
        (work / files[0]).symlink_to("nowhere")
        assert command(*words, "--force").returncode == 0
        assert stat.S_IMODE((work / files[0]).lstat().st_mode) == 0o666 & ~umask


def test_a_trace_written_by_hand_is_not_taken_for_a_converted_one(work: Path) -> None:
    header = "time_us,device,op,offset,bytes,fua\n"
    for text in (TRACE, f"{header}0,0,W,0,4096,0\n", f"{header}# mine\n", "my notes\n"):
        (work / "hand.csv").write_text(text)
        with pytest.raises(flashwatt.FlashwattError, match="not a trace written by flashwatt"):
            traces.convert(work / "trace.csv", work / "hand.csv", trace_format="csv")
        assert (work / "hand.csv").read_text() == text
    traces.convert(work / "trace.csv", work / "hand.csv", trace_format="csv", force=True)
    for name in ("hand.csv", "hand.csv.gz", "hand.csv.zst", "hand.fwt.zst"):
        for _ in range(2):
            assert traces.convert(work / "trace.csv", work / name, trace_format="csv")["requests"] == 2


PICTURES = ("html", "svg", "png", "pdf")


@pytest.mark.parametrize("suffix", PICTURES)
def test_a_script_replaces_its_own_pictures_only(work: Path, suffix: str) -> None:
    chart, path = plot.energy(Report.read(work / "one.json")), work / f"picture.{suffix}"
    for _ in range(2):
        assert chart.save(path) == path
    size = path.stat().st_size
    path.write_text(MINE)
    with pytest.raises(flashwatt.FlashwattError, match="written by flashwatt"):
        chart.save(path)
    assert path.read_text() == MINE
    chart.save(path, force=True)
    assert path.stat().st_size == size


def test_a_marked_png_is_a_png(work: Path) -> None:
    content = plot.energy(Report.read(work / "one.json")).content(Path("x.png"))
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, kinds = 8, []
    while at < len(content):
        length = int.from_bytes(content[at : at + 4], "big")
        kinds.append(content[at + 4 : at + 8])
        at += 12 + length
    assert at == len(content)
    assert (kinds[:2], kinds[-1]) == ([b"IHDR", b"tEXt"], b"IEND")


def test_tables_keep_their_mark_and_can_be_read(command: Cli, work: Path) -> None:
    assert command("run", "small.toml", "--op-log", "ops.parquet").returncode == 0
    assert marks.TABLE.is_ours(work / "ops.parquet")
    assert pl.read_parquet(work / "ops.parquet").height > 2000
    pl.DataFrame({"mine": [1]}).write_parquet(work / "ops.parquet")
    refused(command("run", "small.toml", "--op-log", "ops.parquet"), "not a table written by flashwatt")


def test_a_report_of_a_script_replaces_reports_only(work: Path) -> None:
    report = Report.read(work / "one.json")
    report.write(work / "two.json")
    (work / "two.json").write_text('{"schema": 1}')
    with pytest.raises(flashwatt.FlashwattError, match="not a report written by flashwatt"):
        report.write(work / "two.json")
    with pytest.raises(flashwatt.FlashwattError, match="an empty name"):
        report.write("")
    with pytest.raises(flashwatt.FlashwattError, match="an empty name"):
        flashwatt.sweep({"device.channels": [2]}, base=work / "small.toml", out="")
    with pytest.raises(flashwatt.FlashwattError, match="a file that is read"):
        flashwatt.run(work / "small.toml", op_log=work / "small.toml", force=True)


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6_000_000_000, resource.RLIM_INFINITY))
from flashwatt.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
def test_drawing_without_room_costs_the_picture_only(work: Path) -> None:
    words = ["run", "small.toml", "--series", "--out", "out"]
    result = subprocess.run(
        [sys.executable, "-c", LIMITED, *words], cwd=work, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "power.svg is not drawn: the process that draws was ended by SIG" in result.stderr
    assert "more address space than the limit of 6,000 MB (`ulimit -v`)" in result.stderr
    assert names(work / "out") == ["activity.html", "config.toml", "power.html", "report.json", "series.parquet"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
def test_too_little_room_is_a_message(work: Path) -> None:
    limited = LIMITED.replace("6_000_000_000", "600_000_000")
    for words, status, said in (
        (["run", "small.toml", "--series", "--out", "out"], 0, "nothing is drawn: less than 900 MB of address space"),
        (["sweep", "study.toml", "--out", "sweep"], 2, "a sweep needs 900 MB of address space; found less"),
    ):
        command = [sys.executable, "-c", limited, *words]
        result = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        assert (result.returncode, said in result.stderr) == (status, True), result.stderr
    assert names(work / "out") == ["config.toml", "report.json"]


def test_drawing_goes_on_after_a_failure() -> None:
    from flashwatt.base.painter import paint

    with pytest.raises(flashwatt.FlashwattError, match="the process that draws said: "):
        paint("vegalite_to_svg", {"mark": "no such"}, vl_version="6.4")
    assert paint("vegalite_to_svg", {"mark": "bar", "data": {"values": []}}, vl_version="6.4").startswith(b"<svg")
