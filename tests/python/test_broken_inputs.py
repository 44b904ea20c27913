"""Configurations and traces that are wrong: each ends in one clear message, and in nothing on standard output."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli

# A configuration, and words that its message must hold: place, found, expected, and the nearest name if there is one.
CONFIGS: list[tuple[str, str, tuple[str, ...]]] = [
    ("a misspelt key", "[device]\nchanels = 4\n", ("2:1: device.chanels", "`chanels`", "did you mean `channels`?")),
    ("a misspelt table", "[devise]\nchannels = 4\n", ("1:2: devise", "expected one of", "did you mean `device`?")),
    ("a misspelt preset", 'device.preset = "x25n"\n', ("1:8: device.preset", "`x25n`", "did you mean `x25m`?")),
    ("a misspelt FTL", 'ftl = "pages"\n', ("1:1: ftl", "found `pages`", "did you mean `page`?")),
    ("a misspelt policy", '[gc]\npolicy = "gredy"\n', ("2:1: gc.policy", "`gredy`", "did you mean `greedy`?")),
    ("a misspelt workload", 'workload = "unifrom"\n', ("1:1: workload", "`unifrom`", "did you mean `uniform`?")),
    (
        "a misspelt trace format",
        '[workload.trace]\npath = "a.csv"\nformat = "mrs"\n',
        (
            "3:1: workload.trace.format",
            "unknown trace format",
            "found `mrs`",
            "ssdsim, spc, msr",
            "did you mean `msr`?",
        ),
    ),
    (
        "an event that a format does not have",
        '[workload.trace]\npath = "a.csv"\nformat = "blkparse:X"\n',
        ("3:1: workload.trace.format", "unknown event of blkparse", "found `X`", "expected one of D, Q, C"),
    ),
    (
        "a misspelt format of a start state",
        '[run.precondition.trace]\npath = "a.csv"\nformat = "sdsim"\n',
        ("3:1: run.precondition.trace.format", "found `sdsim`", "did you mean `ssdsim`?"),
    ),
    ("a word for a number", '[device]\nchannels = "four"\n', ("2:1: device.channels", '"four"', "a whole number")),
    ("a fraction of a die", "[device]\nways = 2.5\n", ("2:1: device.ways", "found 2.5", "a whole number")),
    (
        "a negative count",
        "[workload.uniform]\nrequests = -5\n",
        ("2:1: workload.uniform.requests", "found -5", "from 1"),
    ),
    ("a number beyond 64 bits", "[run]\nseed = 99999999999999999999\n", ("2:1: run.seed", "9999", "at most 64 bits")),
    ("not a number", "[device]\nop_ratio = nan\n", ("2:1: device.op_ratio", "found NaN", "expected 0.0 to")),
    ("a list for a table", "device = [1]\n", ("1:1: device", "found a list", "expected a table")),
    ("no channels", "[device]\nchannels = 0\n", ("2:1: device.channels", "found 0", "expected 1 to 1024")),
    ("an odd page", "[device]\npage_bytes = 5000\n", ("2:1: device.page_bytes", "found 5000", "a power of two")),
    ("a share above one", "[workload.uniform]\nread_fraction = 2\n", ("read_fraction", "found 2.0", "0.0 to 1.0")),
    ("shares above one", "[workload.uniform]\nread_fraction = 0.8\ntrim_fraction = 0.4\n", ("a sum of at most 1",)),
    ("half a sector", "[workload.uniform]\nrequest_bytes = 700\n", ("request_bytes", "found 700", "multiple of 512")),
    (
        "a request larger than its range",
        "[workload.uniform]\nrange_bytes = 512\n",
        ("2:1: workload.uniform.range_bytes", "longer than the range", "request_bytes ≤ range_bytes"),
    ),
    (
        "two ways to arrive",
        "[workload.uniform]\nqueue_depth = 4\nrate_per_s = 10\n",
        ("2:1: workload.uniform.queue_depth", "found queue_depth and rate_per_s", "closed loop"),
    ),
    (
        "over-provisioning, twice",
        "[device]\nop_ratio = 0.1\nspare_fraction = 0.1\n",
        ("2:1: device.op_ratio", "given twice", "/ logical"),
    ),
    (
        "no spare flash",
        '[device]\npreset = "limit"\nop_ratio = 0.0001\n',
        ("3:1: device.op_ratio", "too little spare flash", "spare blocks", "is the least"),
    ),
    ("a drive too large", "[device]\nlogical_bytes = 1e15\n", ("2:1: device.logical_bytes", "too large", "expected")),
    (
        "less current at work than idle",
        "[energy.nand]\nread_ma = 1\n",
        ("2:1: energy.nand.read_ma", "read_ma = 1.0, idle_ma = 3.0", "expected read_ma ≥ idle_ma"),
    ),
    ("no voltage", "[energy.nand]\nvolts = 0\n", ("2:1: energy.nand.volts", "found 0.0", "0.001 to 100.0")),
    ("a warm-up of everything", "[run]\nwarmup.requests = 1e9\n", ("run.warmup.requests", "takes every request")),
    ("a trace without a path", "[workload.trace]\nspeed = 2\n", ("workload.trace.path", "missing", "file name")),
    (
        "fold and clip",
        '[workload.trace]\npath = "a.csv"\nfold = true\nclip = true\n',
        ("3:1: workload.trace.fold", "exclude each other", "one of them"),
    ),
    ("two workloads", '[workload.uniform]\n[workload.trace]\npath = "a"\n', ("workload", "several names")),
    ("no TOML", "[device]\nchannels 4\n", ("2:", "not TOML", "found `channels 4`", "`key = value`")),
    ("an open table", "[device\n", ("1:8", "the bracket is not closed", "found `[device`")),
    ("a key twice", "[device]\nways = 2\nways = 3\n", ("3:1", "given twice", "found `ways = 3`")),
]

# The content of a trace, options, and words that the message must hold.
TRACES: list[tuple[str, bytes, tuple[str, ...], tuple[str, ...]]] = [
    ("an empty file", b"", (), ("bad.trace: the trace is empty",)),
    ("no request", b"# nothing\n\n", (), ("bad.trace", "format was not recognised", "found `# nothing`", "--format")),
    ("no request of the format", b"# nothing\n", ("--format", "csv"), ("bad.trace", "no valid request in this csv")),
    ("another kind of file", b"\x89PNG\r\n\x1a\n\0\0\0", (), ("not recognised", "PNG", "expected one of ssdsim, spc")),
    ("prose", b"Dear reader,\nthis is no trace.\n", (), ("not recognised", "found `Dear reader,`", "--format")),
    (
        "a column missing",
        b"0.0,0,W,0,4096\n1.0,0,W,4096\n",
        (),
        ("bad.trace:2: bytes: missing column", "found", "expected", "--skip-bad"),
    ),
    (
        "two formats",
        b"0 0 8 8 0\n1 0 16 8 0 a1b2\n",
        (),
        ("bad.trace", "several formats", "ssdsim, fiu", "--format"),
    ),
    (
        "a column too many",
        b"0.0,0,W,0,4096\n1.0,0,W,4096,512,0,9,7\n",
        ("--format", "csv"),
        ("bad.trace:2:", "found `7`", "--skip-bad"),
    ),
    ("a word for an offset", b"0.0,0,W,0,4096\n1.0,0,W,here,512\n", (), ("bad.trace:2: offset", "`here`", "expected")),
    ("a negative offset", b"0.0,0,W,0,4096\n1.0,0,R,-512,512\n", (), ("bad.trace:2: offset", "`-512`", "expected")),
    ("an unknown operation", b"0.0,0,W,0,4096\n1.0,0,X,0,512\n", (), ("bad.trace:2: operation", "`X`", "R, W, T or F")),
    ("a length of zero", b"0.0,0,W,0,4096\n1.0,0,R,0,0\n", (), ("bad.trace:2: bytes", "found", "expected")),
    ("a number too large", b"0.0,0,W,0,4096\n1.0,0,W,99999999999999999999,512\n", (), ("bad.trace:2: offset", "9999")),
    ("an address that wraps", b"0.0,0,W,18446744073709551615,512\n", ("--format", "csv"), ("bad.trace:1: offset",)),
    (
        "a request beyond the drive",
        b"0.0,0,W,0,4096\n1.0,0,W,90000000000,4096\n",
        (),
        (
            "bad.trace:2: offset",
            "beyond the drive",
            "1 of 2, the furthest until byte 90000004096",
            "at most 80000000000",
            "--fold",
            "--clip",
        ),
    ),
    ("a device that is not there", b"0.0,3,W,0,4096\n", ("--devices", "7"), ("bad.trace", "device 7", "some of 3")),
    ("a device that is no number", b"0.0,3,W,0,4096\n", ("--devices", "0,a"), ("--devices", "'0,a'", "whole numbers")),
    ("a wrong format", b"0.0,3,W,0,4096\n", ("--format", "spc"), ("bad.trace:1:", "found", "expected")),
    ("an unknown format", b"0.0,3,W,0,4096\n", ("--format", "cvs"), ("error: --format: unknown", "`csv`?")),
    ("half an archive", gzip.compress(b"0.0,0,W,0,4096\n" * 500)[:-30], (), ("bad.trace", "gzip")),
    ("no archive", b"\x1f\x8b\x08\0 but then", (), ("bad.trace", "gzip")),
    ("a binary file cut short", b"\x07\x04\x65\x74" * 5, ("--format", "blktrace"), ("bad.trace", "found", "expected")),
    ("two ways beyond the drive", b"0.0,0,W,0,4096\n", ("--fold", "--clip"), ("error: --fold: ", "exclude")),
]

# Overrides and options of the command line.
OPTIONS: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("--set", "device.channels"), ("--set: device.channels", "no value", "KEY=VALUE")),
    (("--set", "device.chanels=4"), ("--set: device.chanels", "did you mean `channels`?")),
    (("--set", "device.channels=many"), ("--set: device.channels", '"many"', "a whole number")),
    (("--set", "gc.policy=[1"), ("--set: gc.policy", "not a TOML value", "`[1`")),
    (("--requests", "0"), ("--requests", "found 0", "expected a whole number, ≥ 1")),
    (("--trace", "absent.csv"), ("--trace", "absent.csv", "no such file")),
    (("--set", "workload.trace.path=absent.csv"), ("absent.csv", "no such file")),
    (("--set", "workload.trace.path=."), (".", "directory")),
    (("--fold",), ("--fold", "an option for traces", "expected --trace FILE")),
]


def check(result: object, said: tuple[str, ...]) -> None:
    """Check that there is one message, that it holds the words, and that nothing else was printed."""
    returncode, stdout, stderr = (getattr(result, name) for name in ("returncode", "stdout", "stderr"))
    assert returncode == 2, stderr
    assert stdout == ""
    for words in said:
        assert words in stderr, stderr
    assert "Traceback" not in stderr
    assert "panicked" not in stderr
    assert stderr.count("error:") + stderr.count("Error:") == 1, stderr
    assert len(stderr) < 1000, stderr


@pytest.mark.parametrize(("text", "said"), [case[1:] for case in CONFIGS], ids=[case[0] for case in CONFIGS])
def test_broken_configurations(flashwatt: Cli, tmp_path: Path, text: str, said: tuple[str, ...]) -> None:
    (tmp_path / "bad.toml").write_text(text)
    check(flashwatt("run", "bad.toml", "--json"), ("bad.toml", *said))


@pytest.mark.parametrize(("broken", "said"), [(c[1:3], c[3]) for c in TRACES], ids=[c[0] for c in TRACES])
def test_broken_traces(
    flashwatt: Cli, config: Path, broken: tuple[bytes, tuple[str, ...]], said: tuple[str, ...]
) -> None:
    content, options = broken
    config.with_name("bad.trace").write_bytes(content)
    check(flashwatt("run", config, "--json", "--trace", "bad.trace", *options), said)


@pytest.mark.parametrize(("options", "said"), OPTIONS, ids=[" ".join(options) for options, _ in OPTIONS])
def test_broken_options(flashwatt: Cli, config: Path, options: tuple[str, ...], said: tuple[str, ...]) -> None:
    check(flashwatt("run", config, "--json", *options), said)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_drive_larger_than_memory(config: Path) -> None:
    resource = pytest.importorskip("resource")
    limit = 2 << 30
    result = subprocess.run(
        [sys.executable, "-m", "flashwatt", "run", config, "--json", "--set", "device.logical_bytes=4e12"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    check(result, ("device: the drive needs more memory", "MB of memory", "device.logical_bytes"))


@pytest.mark.parametrize("name", [b"caf\xe9.csv", b'a "quoted" \\ and # odd.csv', b"tab\there.csv", b"del\x7f.csv"])
def test_any_file_name_is_taken(flashwatt: Cli, config: Path, tmp_path: Path, name: bytes) -> None:
    path = bytes(tmp_path) + b"/" + name
    with open(path, "wb") as trace:  # noqa: PTH123
        trace.write(b"0.0,0,W,0,4096\n")
    result = flashwatt("run", config, "--trace", path.decode(errors="surrogateescape"), "--json")
    if b"\xe9" in name:
        check(result, ("caf", "not UTF-8"))
    else:
        assert result.returncode == 0, result.stderr


# A command, and the file in it that has no end.
ENDLESS: list[tuple[tuple[str, ...], str]] = [
    (("run", "/dev/zero"), "/dev/zero"),
    (("run", "pipe"), "pipe"),
    (("run", "small.toml", "--fio", "/dev/zero"), "/dev/zero"),
    (("run", "small.toml", "--fio", "pipe"), "pipe"),
    (("sweep", "/dev/zero", "--out", "out"), "/dev/zero"),
    (("sweep", "pipe", "--out", "out"), "pipe"),
    (("sweep", "study.toml", "--out", "out"), "/dev/zero"),
    (("sweep", "replay.toml", "--out", "out"), "/dev/zero"),
    (("price", "/dev/zero", "--table", "small.toml"), "/dev/zero"),
    (("price", "small.toml", "--table", "/dev/zero"), "/dev/zero"),
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize(("arguments", "file"), ENDLESS, ids=[" ".join(arguments) for arguments, _ in ENDLESS])
def test_a_file_without_an_end_is_refused_at_once(
    flashwatt: Cli, config: Path, tmp_path: Path, arguments: tuple[str, ...], file: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "study.toml").write_text('base = "/dev/zero"\n')
    (tmp_path / "replay.toml").write_text('[base]\nworkload.trace.path = "/dev/zero"\n')
    assert config.exists()
    result = flashwatt(*arguments)
    assert result.returncode == 2
    assert re.search(
        rf"{file}: not a file with an end|not a job file; found {file}; expected a file with an end"
        rf"|{file.removeprefix('/dev/')}: not a regular file",
        result.stderr,
    )


def test_a_file_that_is_too_long_is_refused_unread(flashwatt: Cli, tmp_path: Path) -> None:
    with (tmp_path / "long.toml").open("wb") as file:
        file.truncate(1 << 40)
    expected = "long.toml: too long; found 1,099,511,627,776 bytes; expected 16,777,216 at most"
    for arguments in (
        ("run", "long.toml"),
        ("sweep", "long.toml", "--out", "out"),
        ("price", "long.toml", "--table", "long.toml"),
    ):
        result = flashwatt(*arguments)
        assert result.returncode == 2
        assert expected in result.stderr


def test_a_job_file_may_begin_with_a_byte_order_mark(flashwatt: Cli, config: Path, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("\ufeff[job]\nrw=randread\nsize=1m\n", encoding="utf-8")
    result = flashwatt("run", config, "--fio", "job.fio", "--json")
    assert result.returncode == 0, result.stderr


# A run that fails, and its message, which names a remedy.
ADVICE: list[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = [
    (
        "no time to measure",
        ("--set", "run.measure.seconds=1e-9"),
        ("run.measure.seconds: nothing was measured; found no request that completed within 0.000000001 s",),
        ("run.warmup", "after 0 requests"),
    ),
    (
        "everything clipped",
        ("--trace", "far.csv", "--clip"),
        ("far.csv: every request lies beyond the drive; found 1 requests", "below byte 80000000000", "--fold"),
        ("no valid request", "--clip", "after 0 requests"),
    ),
    (
        "a wrong type is not missing",
        ("--set", "workload.trace.path=5"),
        ("workload.trace.path: wrong type; found 5",),
        ("missing",),
    ),
    (
        "a long list of sizes",
        ("--set", f"workload.uniform.request_bytes=[{', '.join(['[512, 1]'] * 1000)}]"),
        ("workload.uniform.request_bytes: invalid value; found 1000 lengths; expected at most 64 lengths",),
        ("empty",),
    ),
    (
        "an I/O log in a job file",
        ("--fio", "log.fio"),
        ("read_iolog", "run such a trace with --trace; its format is fio"),
        ("fio_iolog",),
    ),
]


@pytest.mark.parametrize(("options", "said", "not_said"), [case[1:] for case in ADVICE], ids=[c[0] for c in ADVICE])
def test_advice_is_about_what_is_wrong(
    flashwatt: Cli, config: Path, options: tuple[str, ...], said: tuple[str, ...], not_said: tuple[str, ...]
) -> None:
    config.with_name("far.csv").write_text("0.0,0,W,90000000000,4096\n")
    config.with_name("log.fio").write_text("[job]\nread_iolog=a.log\n")
    result = flashwatt("run", config, "--json", *options)
    assert result.returncode != 0
    for words in said:
        assert words in result.stderr
    for words in not_said:
        assert words not in result.stderr


def test_a_trace_for_an_experiment_without_any_is_refused_in_words(flashwatt: Cli, config: Path) -> None:
    result = flashwatt("reproduce", "X13", "--trace", f"foo={config}")
    assert result.returncode == 2
    assert "--trace: unknown name; found `foo`; expected none" in result.stderr


def test_names_in_messages_do_not_act_on_the_terminal(flashwatt: Cli, tmp_path: Path) -> None:
    for name in ("a\x1b[31m.toml", "absent\x1b[31m.toml"):
        (tmp_path / "a\x1b[31m.toml").write_text("x = 1\n")
        result = flashwatt("run", name)
        assert result.returncode == 2
        assert "[31m.toml" in result.stderr
        assert "\x1b" not in result.stderr


def test_there_are_enough_of_them() -> None:
    assert len(CONFIGS) >= 30
    assert len(CONFIGS) + len(TRACES) >= 50
