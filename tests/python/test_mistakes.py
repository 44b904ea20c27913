"""Mistakes on the command line: what the message says is wrong, and what it offers instead."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from flashwatt.cli.main import cli, main

CONFIG = '[device]\npreset = "x25m"\n[workload.uniform]\nrequests = 1000\n'
GRID = "[grid]\ndevice.channels = [4, 8]\n"
FILES = {
    "good.toml": CONFIG,
    "empty/readme": "",
    "swept/results.jsonl": '{"task": 1}\n{"task": 2}\n',
    "cut.json": '{\n  "schema": 3,\n  "con',
    "god.study.toml": f'base = "god.toml"\n{GRID}',
    "preset.study.toml": f'base = "x25m"\n{GRID}',
    "empty.study.toml": 'base = "good.toml"\n[grid]\n',
    "seeds.study.toml": f'base = "good.toml"\n{GRID}seeds = 3\n',
    "device.study.toml": f'base = "good.toml"\n[device]\nchannels = 4\n{GRID}',
    "study.toml": f'base = "good.toml"\n{GRID}',
    "mine.f": "run 1\n",
    "log.parquet": "PAR1",
    "job.fio": "[j]\nrw=read\nsize=1m\n",
}

MISTAKES = [
    ("run good.tml", ("good.tml: no such file; did you mean good.toml?",)),
    ("list policies", ("list: policies: found a word for several kinds; expected gc or wear or dispatch",)),
    ("list personalty", ("did you mean `personalities`?",)),
    ("run no/where.toml", ("no/where.toml: no such file; no: no such directory",)),
    ("run x25m", ("x25m: no such file; 'x25m' is a preset: --preset x25m",)),
    ("age x25m -o a.fw", ("'x25m' is a preset; expected a configuration",)),
    ("model power x25m", ("'x25m' is a preset: --preset x25m",)),
    ("price good.toml --table x25m", ("--table: x25m: no such file", "expected a TOML file with [energy]")),
    (
        "run good.toml --set device.channels=4,device.ways=2",
        ("two keys in one", "--set device.channels=4 --set device.ways=…"),
    ),
    ("run --preset x25m --scheduler mq-deadlin", ("--scheduler: unknown scheduler", "did you mean `mq_deadline`?")),
    (
        "run --preset x25m --scheduler noop --set host.scheduler=none",
        ("--set host.scheduler: the scheduler is given twice", "found noop (--scheduler), none (--set)"),
    ),
    (
        "run --preset x25m --scheduler cfq --set host.scheduler.deadline.fifo_batch=4",
        ("--set host.scheduler.deadline.fifo_batch: the scheduler is given twice; found cfq (--scheduler), deadline",),
    ),
    ("run --preset x25m mine.f", ("mine.f: a program of filebench, not a trace", "--program mine.f` runs it")),
    ("run --preset x25m log.parquet", ("log.parquet: a log in Parquet is for analysis", "a replay takes CSV")),
    ("run --preset x25m --trace log.parquet", ("--trace: log.parquet: a log in Parquet is for analysis",)),
    (
        "run --preset x25m --fs ext2 --set workload.files.system.lfs.segment_bytes=1048576",
        ("lfs.segment_bytes: the file system is given twice; found ext2 (--fs), lfs (--set); expected one of them",),
    ),
    (
        "run --preset x25m --fs lfs --set workload.files.system.ext2.reserved_percent=3",
        ("the file system is given twice; found lfs (--fs), ext2 (--set)",),
    ),
    (
        "run --preset x25m --fio job.fio --set workload.fio.path=other.fio",
        ("the fio job is given twice; found job.fio (--fio), other.fio (--set)",),
    ),
    ("run --preset x25m --preset=limit", ("--preset: given twice; expected it once",)),
    ("run good.toml --series-ms 0", ("--series-ms: found 0; expected milliseconds, 0.000001 or more",)),
    ("reproduce fig99", ("experiments: unknown name; found `fig99`",)),
    ("run help", ("help: no such file", "run --help` prints the help")),
    ("run good.toml --fio gob.fio", ("--fio: gob.fio: no such file; did you mean job.fio?",)),
    ("run good.toml --out good.toml", ("--out: good.toml: a file; expected a directory, or a name for a new one",)),
    ("sweep study.toml --out good.toml/x", ("--out: good.toml: a file; expected a directory",)),
    ("sweep god.study.toml --out o", ("god.study.toml:1: base: no such file; did you mean good.toml?", "'god.toml'")),
    ("sweep preset.study.toml --out o", ('x25m is a preset: base = { device.preset = "x25m" }',)),
    ("compare good.toml empty", ("empty: no report.json in this directory", "flashwatt run --out")),
    ("compare good.toml swept", ("swept: results of a sweep, not a report", "flashwatt sweep STUDY.toml --out swept")),
    ("compare good.toml good.toml", ("good.toml: a configuration; expected a report.json", "run good.toml --out DIR")),
    ("compare swept/results.jsonl cut.json", ("several JSON objects, as the runs of a sweep",)),
    ("compare cut.json swept/results.jsonl", ("cut.json:3:3: not JSON; the file ends in the middle (line 3)",)),
    ("run good.toml --trace good.toml", ("--trace: good.toml: a configuration, not a trace",)),
    ("trace info good.toml", ("good.toml: a configuration, not a trace",)),
    ("run --preset x25m job.fio", ("job.fio: a fio job file, not a trace", "--fio job.fio` runs it")),
    ("run --preset x25m --fio good.toml", ("--fio: good.toml: a configuration, not a fio job file",)),
    ("run study.toml", ("study.toml: a study, not the configuration of one run", "flashwatt sweep study.toml --out")),
    ("price good.toml --table good.toml", ("good.toml: a configuration; expected a report.json",)),
    ("price good.toml --table cut.json", ("good.toml: not a report; REPORT and --table are swapped",)),
    ("run --set", ("--set: no value; expected KEY=VALUE, as device.channels=4",)),
    ("run good.toml --out", ("--out: no value; expected DIR",)),
    ("run --preset", ("--preset: no value; expected NAME",)),
    ("run good.toml --edges-ms 5", ("--edges-ms: too few values; expected 2: FROM UNTIL, as 0 5",)),
    ("run --chanels 4", ("--chanels: unknown option", "--set device.channels=VALUE")),
    ("run --seed 3", ("--seed: unknown option", "--set run.seed=VALUE")),
    ("run --request 3", ("--request: unknown option; did you mean --requests?",)),
    ("run -p x25m", ("-p: unknown option; did you mean --preset?",)),
    ("-v", ("-v: unknown option; did you mean --version?",)),
    ("--preset x25m run", ("--preset: unknown option; it is an option of", "run --preset …")),
    ("sweep study.toml --set a=1", ("--set: unknown option; keys go into the study's base",)),
    ("sweep study.toml --requests 9", ("run.measure.requests in the study's base",)),
    ("simulate good.toml", ("unknown command; found simulate; expected one of", "did you mean run?")),
    ("rum good.toml", ("unknown command; found rum", "did you mean run?")),
    ("plot good", ("unknown command; found plot; pictures come with `flashwatt run … --series --out DIR`",)),
    ("trace stats good.toml", ("unknown command; found stats", "did you mean info?")),
    ("good.toml", ("`flashwatt run good.toml` runs",)),
    ("help run", ("`flashwatt COMMAND --help` print the help",)),
    ("run good.toml --set device.channels = 4", ("without blanks: --set device.channels=4",)),
    ("explain", ("explain: nothing to work on; expected PRESET|KEY",)),
    ("age good.toml", ("--out: missing; expected --out FILE.fw",)),
    ("sweep study.toml", ("--out: missing; expected --out DIR",)),
    ("explain gc.policy device.channels", ("too many arguments; found device.channels as well; expected PRESET|KEY",)),
    ("run good.toml --preset limit --set device.preset=x25m", ("given twice; found limit (--preset), x25m (--set)",)),
    ("run good.toml --op-log log.xlsx", ("--op-log: log.xlsx: no format of a log; found .xlsx",)),
    ("compare good.toml cut.json --html c.pdf", ("--html: c.pdf: no format of a page; found .pdf; expected .html",)),
    ("run good.toml --format excel", ("--format: an option for traces; found no trace; expected --trace FILE",)),
    ("run good.toml --sort", ("--sort: an option for traces; found no trace",)),
    ("run --preset x25m --fio job.fio --fold", ("--fold: an option for traces; found --fio",)),
    ("init x25m --out empty", ("--out: empty: a directory; expected the name of a file",)),
    ("sweep empty.study.toml --out o", ("grid: empty; expected a list of values for a key",)),
    ("sweep seeds.study.toml --out o", ("seeds.study.toml:4: grid.seeds: seeds is a key of the study: put it above",)),
    ("sweep device.study.toml --out o", ("device.study.toml:2: device: no key of a study; keys of the configuration",)),
    ("sweep study.toml --out o --baseline device.channels", ("--baseline: no value", "as device.channels=4")),
    ("sweep study.toml --out o --metrics device.channels", ("device.channels is a key of the grid",)),
    ("sweep study.toml --out o --x device.channels", ("--color and --shape take it",)),
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files that the commands are given, and work beside them."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("word", "name"), [("victims", "greedy"), ("FTL", "dftl"), ("disks", "laptop-7200")])
def test_other_words_for_kinds(word: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", word])
    assert f"\n{name} " in f"\n{capsys.readouterr().out}"


def test_help_shows_no_bound_that_is_none() -> None:
    """Of every command."""

    def walk(words: list[str], command: click.Command) -> None:
        context = click.Context(command)
        for name in command.list_commands(context) if isinstance(command, click.Group) else ():
            inner = command.get_command(context, name)
            assert inner, name
            walk([*words, name], inner)
        assert "None" not in command.get_help(context), words

    walk([], cli)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("command", "words"), MISTAKES, ids=[command for command, _ in MISTAKES])
def test_a_mistake_is_named_with_its_remedy(
    command: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(command.split())
    assert stop.value.code == 2
    message = capsys.readouterr().err
    for each in words:
        assert each in message


NOTES = [
    ("run empty.toml --requests 10", "empty.toml names no preset", "the default preset, x25m"),
    (
        "run good.toml --set workload.zipf.theta=1 --requests 10",
        "--set workload.zipf.theta replaces the workload of",
        "uniform",
    ),
    ("run good.toml --fio job.fio --requests 10", "--fio replaces the workload of good.toml, uniform", ""),
    ("run --set device.channels=4 --requests 10", "the drive is the default preset, x25m", ""),
]
"""What is no mistake, but may not be what was meant."""


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("command", "first", "second"), NOTES, ids=[command for command, *_ in NOTES])
def test_a_run_says_what_it_takes_for_granted(
    command: str, first: str, second: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty.toml").write_text("")
    main(command.split())
    message = capsys.readouterr().err
    assert first in message
    assert second in message


def test_a_configuration_that_names_its_preset_is_not_told_of_it(
    capsys: pytest.CaptureFixture[str], files: None
) -> None:
    main(["run", "good.toml", "--set", "workload.uniform.read_fraction=0.5", "--requests", "10"])
    assert capsys.readouterr().err == ""
