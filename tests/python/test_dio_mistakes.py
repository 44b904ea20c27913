"""Wrong inputs of `flashwatt dio` and `flashwatt battery`: each is named, with what was found and what was expected."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from flashwatt.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
METERS = {
    "words.csv": "volts,amperes\n5,1\n5,1\n",
    "dark.csv": "time_s,temperature\n0,30\n1,30\n",
    "back.csv": "time_s,watts\n0,1\n2,1\n1,1\n",
    "minus.csv": "time_s,watts\n0,1\n1,-2\n",
    "text.csv": "time_s,watts\n0,1\n1,much\n",
    "one.csv": "time_s,watts\n0,1\n",
    "both.csv": "time_s,watts,watts_5v\n0,1,1\n1,1,1\n",
    "late.csv": "time_s,watts\n5000,1\n5000.001,1\n",
}
READ = "dio f.bin --sizes 4KiB --bytes 4KiB --buffered"
MISTAKES = [
    ("dio nothing.bin", ("nothing.bin: no such file, and no such preset; expected one of `",)),
    ("dio x25n", ("x25n: no such file", "did you mean `x25m`?")),
    ("dio dir", ("dir: a directory; expected a file on it, or its block device",)),
    ("dio zero.bin", ("zero.bin: an empty target; found 0 bytes", "truncate -s 1G")),
    ("dio /dev/null --buffered", ("/dev/null: not a target; found a special file",)),
    ("dio x25m --sizes 0", ("--sizes: found 0; expected whole bytes, ≥ 1",)),
    ("dio x25m --sizes 4000", ("--sizes: found 4000 bytes; expected a multiple of 512, the sector of x25m",)),
    (
        "dio f.bin --buffered --sizes 8MiB",
        ("found 8388608 bytes; expected 1048576 at most, the size of",),
    ),
    ("dio x25m --sizes 4KiB,4KiB", ("--sizes: found 4096 twice; expected it once",)),
    ("dio x25m --sizes 1MiB..4KiB", ("found 1MiB..4KiB; expected the smaller size first",)),
    ("dio x25m --sizes much", ('--sizes: not a number; found "much"; expected a number in bytes',)),
    ("dio x25m --patterns seqread,rndread", ("--patterns: unknown name; found `rndread`", "did you mean `randread`?")),
    ("dio x25m --span 1TB", ("--span: found 1000000000000 bytes; expected 80000000000 at most",)),
    ("dio x25m --align 100", ("--align: found 100 bytes; expected a multiple of 512",)),
    ("dio x25m --bytes 1TB --sizes 512", ("--bytes: found 1953125000 requests of 512 bytes in a point",)),
    ("dio x25m --queue-depth 0", ("--queue-depth: found 0; expected a whole number, ≥ 1 and ≤ 1024",)),
    ("dio x25m --queue-depth 1024 --sizes 2MiB", ("1024 requests of 2097152 bytes at once",)),
    ("dio x25m --seconds 0", ("--seconds: found 0; expected seconds, > 0",)),
    ("dio x25m --idle nan", ("--idle:", "nan")),
    ("dio x25m --write", ("--write: an option for real targets; found x25m, a simulated drive",)),
    ("dio x25m --json --csv", ("--json and --csv are two formats; expected one of them",)),
    (f"{READ} --set device.channels=4", ("--set: an option for simulated drives; found f.bin",)),
    (f"{READ} --sleep 1", ("--sleep: an option for simulated drives; found f.bin; expected --idle",)),
    (f"{READ} --patterns seqwrite", ("--patterns seqwrite: it writes; found no --write; expected --write",)),
    (f"{READ} --write", ("f.bin: not empty; found data; expected an empty target, or --overwrite f.bin",)),
    (
        f"{READ} --power gone.csv --out o",
        ("gone.csv: no such file; did you mean", "the result without power is kept in o"),
    ),
    (f"{READ} --power words.csv", ("words.csv:1: no column of times; found volts, amperes; expected one of time,",)),
    (
        f"{READ} --power dark.csv",
        ("dark.csv:1: no column of power; found time_s, temperature; expected watts,",),
    ),
    (f"{READ} --power both.csv", ("both.csv:1: power in all and by rail",)),
    (f"{READ} --power back.csv --out o", ("back.csv:4: time_s: times go back or stand still; found 1; expected more",)),
    (f"{READ} --power minus.csv --out o", ("minus.csv:3: watts: negative power; found -2 W; expected 0 or more",)),
    (f"{READ} --power text.csv --out o", ("text.csv:3: watts: found 'much'; expected a number",)),
    (f"{READ} --power one.csv --out o", ("one.csv: found 1 readings; expected two or more",)),
    (
        f"{READ} --power late.csv --out o",
        (
            "late.csv: no measurement is covered; found readings from 5000.000 s until 5000.001 s",
            "--power-offset moves them",
        ),
    ),
    ("dio d", ("d: a result of `flashwatt dio`; expected --power FILE",)),
    (
        "dio d --power late.csv --sizes 4KiB",
        ("--sizes: an option of a benchmark; found the result d; expected --power",),
    ),
    (
        "dio x25m --idle 1 --bytes 1MiB",
        ("--bytes: an option of points; found only probes; expected --sizes or --patterns",),
    ),
    ("dio x25m --burst 1 --span 1MiB", ("--burst: found 1048576 bytes of the target; expected 4194304 or more",)),
    ("dio x25m --patterns seqread --prepare 1MiB", ("--prepare: it comes before random writes; found none",)),
    (
        f"{READ} --power-offset 3",
        ("--power-offset: it moves the times of a CSV; found none; expected --power FILE.csv",),
    ),
    ("dio d --power late.csv", ("--power: an option for real targets; found the result of x25m",)),
    ("compare d r", ("r: not a result of `flashwatt dio`, as the others; expected one kind",)),
    ("compare d d --only mbs", ("--only: unknown name; found `mbs`", "`mb_s`")),
    ("battery d --wh 0", ("--wh: found 0; expected the energy of a battery in Wh, > 0",)),
    ("battery d --wh nan", ("--wh: found nan",)),
    ("battery r", ("nothing was written; found 50 reads and no write; expected a report with writes",)),
    ("battery probed", ("probed: found no points; expected points, as `flashwatt dio` without a probe",)),
    ("battery quiet", ("quiet: no point has an energy; expected a result with power",)),
    ("battery f.toml", ("f.toml: a configuration; expected a report.json",)),
]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with targets, meters, results and reports."""
    path = tmp_path_factory.mktemp("workshop")
    (path / "dir").mkdir()
    (path / "f.bin").write_bytes(os.urandom(MIB))
    (path / "zero.bin").touch()
    (path / "f.toml").write_text('[device]\npreset = "x25m"\n')
    for name, text in METERS.items():
        (path / name).write_text(text)
    before = os.getcwd()  # noqa: PTH109
    os.chdir(path)
    try:
        main(["dio", "x25m", "--sizes", "4KiB", "--bytes", "4KiB", "--out", "d", "-q"])
        main(
            [
                "run",
                "--preset",
                "x25m",
                "--requests",
                "50",
                "--set",
                "workload.uniform.read_fraction=1",
                "--out",
                "r",
                "-q",
            ]
        )
    finally:
        os.chdir(before)
    quiet = json.loads((path / "d/dio.json").read_text())
    for one in quiet["points"]:
        one["j_per_mb"] = None
    (path / "probed").mkdir()
    (path / "probed/dio.json").write_text(json.dumps({**quiet, "points": []}))
    (path / "quiet").mkdir()
    (path / "quiet/dio.json").write_text(json.dumps(quiet))
    return path


@pytest.mark.parametrize(("words", "said"), MISTAKES, ids=[words for words, _ in MISTAKES])
def test_a_mistake_is_named(
    words: str,
    said: tuple[str, ...],
    workshop: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(workshop)
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    printed = capsys.readouterr().err
    assert ended.value.code in (1, 2)
    for one in said:
        assert one in printed, printed
    assert "Traceback" not in printed


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_may_not_be_read_is_named(workshop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = workshop / "secret.bin"
    path.write_bytes(bytes(MIB))
    path.chmod(0)
    with pytest.raises(SystemExit):
        main(["dio", str(path)])
    assert "secret.bin: it cannot be opened: Permission denied" in capsys.readouterr().err


def test_there_are_twenty_at_least() -> None:
    assert len(MISTAKES) >= 20
