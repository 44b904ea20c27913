"""No output of any command replaces a file that the command reads, under whatever name, also with --force."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import pytest

import flashwatt
from conftest import CONFIG
from flashwatt.base import marks
from flashwatt.base.outputs import check, clear, save
from flashwatt.base.reads import is_read, reading, reads, renewed
from flashwatt.cli.delivery import EDGES, SERIES
from flashwatt.cli.dio import _FILES as OF_DIO
from flashwatt.cli.main import cli, main
from flashwatt.cli.terminal import Output
from mqsim_files import drive

if TYPE_CHECKING:
    from collections.abc import Iterator

TRACE = "0.0,0,W,0,4096\n2.0,0,R,0,4096\n"
STUDY = "base = { workload.trace.path = {} }\n[grid]\ndevice.channels = [2]\n"
READINGS = "time_s,watts\n0,1\n1,2\n"
TABLE = '[free]\n"device.timing.read_ns" = [10000, 90000]\n[[rows]]\nname = "r"\n'


class Case(NamedTuple):
    """A command line in which `IN` stands for a file that it reads, and `OUT` for what it writes."""

    line: str
    content: str
    names: tuple[str, ...] = ("kept",)
    """What the file is called; in a directory `OUT` the name of one of the command's own files."""


_RUN = "run small.toml --set workload.trace.path='IN' --series --edges-ms 0 1"
_SIMULATED = "dio small.toml --sizes 4KiB --patterns seqread --bytes 4KiB"
_REAL = "dio IN --sizes 4KiB --bytes 4KiB --seconds 1 --buffered"
CASES = {
    "run": [
        Case(f"{_RUN} --out DIR --force", TRACE, ("report.json", "config.toml", *SERIES, *EDGES)),
        *(Case(f"{_RUN} --{log} OUT --force", TRACE) for log in ("op-log", "request-log", "capture", "dispatch-log")),
        Case("run IN --capture OUT --force", CONFIG, ("kept.toml",)),
        Case("run --trace IN --op-log OUT --force", TRACE, ("kept.csv", "op.parquet.csv")),
    ],
    "price": [Case("price one.json --table IN --out DIR --force", "[energy.nand]\nread_ma = 30\n", ("report.json",))],
    "age": [Case("age IN -o OUT --force", CONFIG)],
    "crash": [
        Case("crash IN --cuts 1 -o OUT --force", CONFIG, ("kept.json",)),
        Case("crash IN --cuts 1 --plot OUT --force", CONFIG, ("kept.html",)),
        Case("crash small.toml --set workload.trace.path='IN' --cuts 1 -o OUT --force", TRACE, ("kept.json",)),
    ],
    "init": [Case("init --mqsim IN --out OUT --force", drive())],
    "trace convert": [Case("trace convert IN --out OUT --force", TRACE, ("kept.csv", "kept.fwt"))],
    "trace plot": [Case("trace plot IN --out DIR --force", TRACE, ("trace.svg", "trace.html"))],
    "standin fit": [Case("standin fit IN --out OUT --force", TRACE)],
    "dio": [
        Case(f"{_REAL} --out DIR --force", "x" * 65536, tuple(OF_DIO)),
        Case(f"{_REAL} --power IN --out DIR --force".replace("IN", "target", 1), READINGS, ("dio.json", "power.svg")),
        Case(f"{_SIMULATED} --set workload.trace.path='IN' --out DIR --force", TRACE, ("dio.json",)),
    ],
    "sweep": [
        Case("sweep IN --out DIR --force", STUDY, ("results.parquet", "tradeoff.html")),
        Case("sweep study.toml --out DIR --force", TRACE, ("results.parquet",)),
    ],
    "pack": [
        Case("pack IN --out DIR -o OUT --force", STUDY),
        Case("pack study.toml --out DIR -o OUT --force", TRACE),
    ],
    "compare": [Case("compare one.json IN --html OUT --force", "REPORT", ("kept.html",))],
    "calibrate": [Case("calibrate x25m IN --out DIR --force", TABLE, ("calibrated.toml", "calibration.json"))],
    "tune pardispatcher": [Case("tune pardispatcher IN --out DIR --force", CONFIG, ("results.parquet",))],
    "reproduce": [
        Case("reproduce P1 --trace financial1=IN --out DIR --force", TRACE, ("verdicts.json",)),
    ],
}
NO_INPUTS = {"try"}
"""Commands that read no file of the user."""
ELSEWHERE = {"unpack"}
"""Commands that need an archive with names of its own: `test_pack.py` has its case."""


def commands(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")
        else:
            yield f"{above}{name}", command


def test_every_command_that_writes_is_tried() -> None:
    writing = {name for name, command in commands(cli) if any(isinstance(one.type, Output) for one in command.params)}
    assert writing == {*CASES, *NO_INPUTS, *ELSEWHERE}
    for name, command in commands(cli):
        for one in command.params:  # a path without a direction would be taken for one that is read
            if one.name in ("out", "html", "plot", "capture") or (one.name or "").endswith("_log"):
                assert isinstance(one.type, Output), (name, one.name)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    flashwatt.run(flashwatt.Config(CONFIG)).write(path := tmp_path_factory.mktemp("report") / "report.json")
    return path.read_text()


@pytest.mark.parametrize("command", CASES)
def test_a_file_that_is_read_stays(
    command: str, report: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(CONFIG)
    Path("one.json").write_text(report)
    Path("target").write_bytes(bytes(65536))
    for case in CASES[command]:
        for name in case.names:
            _try(case, name, report)
            said = capsys.readouterr().err
            assert "read" in said or "--out" in said, (case.line, name, said)


def _try(case: Case, name: str, report: str) -> None:
    shutil.rmtree("dir", ignore_errors=True)
    kept = Path("dir", name)
    kept.parent.mkdir()
    content = report if case.content == "REPORT" else case.content.replace("{}", repr(str(kept.resolve())))
    kept.write_text(content)
    Path("study.toml").write_text(STUDY.replace("{}", repr(str(kept))))
    words = case.line.replace("'IN'", f'"{kept}"').replace("IN", str(kept)).replace("OUT", str(kept))
    with pytest.raises(SystemExit) as stop:
        main(words.replace("DIR", "dir").split())
    assert stop.value.code == 2, words
    assert kept.read_text() == content, words
    assert [path.name for path in Path("dir").iterdir() if path.suffix == ".part"] == []


def test_every_name_of_a_file_counts(tmp_path: Path) -> None:
    kept, other = tmp_path / "kept", tmp_path / "other"
    kept.write_text(TRACE)
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "soft").symlink_to(kept)
    os.link(kept, tmp_path / "hard")
    spellings = [kept, tmp_path / "folder/kept", tmp_path / "soft", tmp_path / "hard", tmp_path / "x/../kept"]
    (tmp_path / "x").mkdir()
    for one in spellings:
        for another in spellings:
            with reading():
                reads(one)
                assert is_read(another), (one, another)
                assert not is_read(other)
                with pytest.raises(flashwatt.FlashwattError, match="a file that is read"):
                    save(another, b"", marks.PAGE, force=True)
        assert not is_read(one)  # the list is closed
    with reading():
        reads(tmp_path / "to come")
        assert is_read(tmp_path / "x/../to come")
        with pytest.raises(flashwatt.FlashwattError, match="a file that is read"):
            check(tmp_path / "to come", marks.PAGE)
    assert kept.read_text() == TRACE


def test_a_file_is_renewed_where_the_command_says_so(tmp_path: Path) -> None:
    page = f"<!DOCTYPE html>\n{marks.META}\n".encode()
    kept = tmp_path / "kept.html"
    kept.write_bytes(page)
    with reading():
        reads(kept)
        assert clear([(kept, marks.PAGE)]) == []
        with reading(), renewed(kept):
            save(kept, page, marks.PAGE)
        assert is_read(kept)
    assert clear([(kept, marks.PAGE)]) == [kept]
