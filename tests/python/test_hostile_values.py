"""Values that no run can use, each kind wherever it may stand: refused by a message before the run."""

from __future__ import annotations

import copy
import math
import pickle
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import click
import pytest

import flashwatt
from flashwatt import Config, Drive, FlashwattError
from flashwatt.cli.main import cli
from flashwatt.cli.options import Finite
from flashwatt.config.reference import keys
from flashwatt.sweeps.tuning import MicroTest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NO_NUMBERS = ("nan", "inf", "-inf", "1e400", "-1e400")
SMALL = {"device.preset": "x25m", "device.channels": 2, "device.blocks_per_plane": 16, "device.op_ratio": 0.5}


def options(group: click.Group) -> Iterator[click.Parameter]:
    for command in group.commands.values():
        yield from options(command) if isinstance(command, click.Group) else command.params


def test_every_number_of_an_option_is_finite() -> None:
    for one in options(cli):
        assert one.type.name != "float", one.name
        assert not isinstance(one.type, click.FloatRange) or isinstance(one.type, Finite), one.name
    for text in NO_NUMBERS:
        with pytest.raises(click.BadParameter, match=r"finite|range"):
            Finite(0, 50).convert(text, None, None)
    assert Finite().convert("1e300", None, None) == 1e300


def test_every_number_of_a_configuration_is_finite() -> None:
    """Beside the drive that a key belongs to, or alone: what is refused is the value."""
    tried = 0
    for key, one in keys().items():
        if not {"integer", "number"} & set(one["types"]):
            continue
        for text in NO_NUMBERS:
            with pytest.raises(FlashwattError):
                Config(sets=(f"{key}={text}",)).resolve()
        tried += 1
    assert tried > 100


CALLS: dict[str, Callable[[], Any]] = {
    "a flush with a place": lambda: Drive(SMALL).submit("flush", 4096, 0),
    "a flush with a length": lambda: Drive(SMALL).submit("flush", 0, 4096),
    "a kind with half of a pair": lambda: Drive(SMALL).submit("\ud800"),  # type: ignore[arg-type]
    "a device": lambda: Drive("/dev/null"),
    "a device of random bytes": lambda: Config.of("/dev/urandom"),
    "a NUL in a log's name": lambda: flashwatt.run(SMALL, op_log="a\0b"),
    "half of a pair in a log's name": lambda: flashwatt.run(SMALL, capture="a\ud800b"),
    "a NUL in a configuration's name": lambda: flashwatt.run("a\0b"),
    "half of a pair in a configuration's name": lambda: flashwatt.run("a\ud800b"),
    "a NUL in a report's name": lambda: flashwatt.Report.read("a\0b"),
    "a NUL in a picture's name": lambda: flashwatt.plot.energy(flashwatt.run(TINY)).save("a\0b.svg"),
    "half of a pair in a text": lambda: Config("device.preset = '\ud800'").resolve(),
    "half of a pair in a value": lambda: flashwatt.resolve({"device.preset": "\ud800"}),
    "a copy": lambda: copy.copy(Drive(SMALL)),
    "a deep copy": lambda: copy.deepcopy(Drive(SMALL)),
    "a pickle": lambda: pickle.dumps(Drive(SMALL)),
    "a dictionary in itself": lambda: flashwatt.run(_in_itself()),
    "a dictionary in itself, laid over": lambda: Config().override(_in_itself()),
    "a list in itself": lambda: flashwatt.sweep({"device.channels": _list_in_itself()}),
}
TINY = {**SMALL, "workload.uniform.requests": 5}


def _in_itself() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["device"] = found
    return found


def _list_in_itself() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_a_broken_argument_is_refused_by_a_message(name: str) -> None:
    with pytest.raises(FlashwattError) as error:
        CALLS[name]()
    str(error.value).encode()  # it can be printed


def test_the_micro_test_takes_disks_and_arrays() -> None:
    for settings, depth, size in (
        ({"device.preset": "caviar-80g"}, 1, 80_026_361_856),
        ({"device.preset": "x25m", "array.level": "raid0", "array.members": 2}, 64, 159_999_983_616),
        ({"device.preset": "x25m"}, 32, 80_000_000_000),
    ):
        test = MicroTest.of(Config().override(settings))
        assert max(test.batches) == depth
        assert max(test.regions) == 2 ** int(math.log2(size))
        assert test.study().size == 2 * len(test.batches) * len(test.regions)


@pytest.mark.parametrize("ftl", ["page", "dftl", "tpftl"])
def test_the_least_spare_flash_suffices_beside_backups(ftl: str) -> None:
    """A drive that starts in the steady state with the least spare flash that is accepted runs."""
    sizes = {"channels": 1, "ways": 2, "blocks_per_plane": 24, "pages_per_block": 16, "page_bytes": 4096}
    drive = Config().override({"device": {"preset": "limit", **sizes}, "ftl": ftl, "run.measure.requests": 2000})
    for paired in ("backup", "hold_ack"):
        for spare in range(6, 16):  # blocks of a die
            one = drive.override({"device.nand.paired_pages": paired, "device.spare_fraction": (spare + 0.01) / 24})
            try:
                one.resolve()
            except FlashwattError:
                continue
            assert flashwatt.run(one).status == "complete", (paired, spare)
            break


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="`ulimit -v` is of Linux")
def test_power_cuts_without_memory_end_in_a_message(tmp_path: Path) -> None:
    cut = "from flashwatt import crash; crash({'device.preset': 'x25m'}, cuts=1)"
    run = "from flashwatt import run; run({'device.preset': 'x25m', 'run.power_cuts.cuts': 1})"
    for script in (cut, run):
        line = f'ulimit -v 1000000; exec {sys.executable} -c "{script}"'
        ended = subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.returncode == 1
        assert "FlashwattError: device: the drive needs more memory than there is" in ended.stderr


def test_no_window_has_a_mean_power_above_its_peak() -> None:
    """Windows of some requests, in which DRAM and the host interface still work for requests before them."""
    draw = random.Random(8)
    for seed in range(16):
        sizes = {
            "channels": draw.choice([1, 2]),
            "ways": 1,
            "blocks_per_plane": 24,
            "pages_per_block": draw.choice([4, 16]),
        }
        uniform = {
            "requests": 120,
            "request_bytes": draw.choice([512, 22016, 65536]),
            "read_fraction": draw.choice([0, 0.5]),
        }
        window = {"measure.requests": draw.choice([1, 5, 20]), "warmup.requests": draw.choice([0, 7, 60]), "seed": seed}
        one = {
            "device": {"preset": draw.choice(["slc-4way", "energysim", "limit"]), "op_ratio": 0.5, **sizes},
            "ftl": draw.choice(["page", "block", "dftl"]),
            "workload.uniform": uniform | draw.choice([{"rate_per_s": 20_000}, {"queue_depth": 8}]),
            "run": window | {"count_drain": draw.random() < 0.3},
        }
        report = flashwatt.run(one).to_dict()
        assert report["status"] == "complete", one
        assert report["power_w"]["mean"] <= report["power_w"]["peak"] * (1 + 1e-9), one
        assert report["energy_integral_j"] == pytest.approx(report["energy_j"]["total"], rel=1e-9), one
