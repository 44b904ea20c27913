"""FlashWatt's block layer beside captured runs of a real Linux kernel, and the tools that compare (`tools/linux`)."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from capture import kept, runs_of_log
from compare import Row, flashwatt_figures
from figures import Dispatched, figures, tau
from plan import JOBS, PAGE_BYTES, REGION_BYTES, RULES, RUNS

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools/linux"
CAPTURE = ROOT / "tests/python/data/linux"
SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq")

if TYPE_CHECKING:
    from collections.abc import Iterable


@cache
def compared() -> dict[str, Any]:
    """Both sides, as the page has them."""
    command = [sys.executable, str(TOOLS / "compare.py"), str(CAPTURE), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def rows() -> Iterable[dict[str, Any]]:
    return [row for row in compared()["rows"] if row["scheduler"] in SCHEDULERS]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_figure_is_within_its_bar_or_has_a_rule(scheduler: str) -> None:
    mine = [row for row in rows() if row["scheduler"] == scheduler]
    barred = [row for row in mine if row["bar"] is not None]
    assert {"random", "streams", "buffered"} <= {row["job"] for row in barred}
    assert not [row for row in barred if not row["is_within"] and row["rule"] is None]


def test_rules_are_for_lacking_tags_merged_queues_and_the_first_to_begin() -> None:
    """Elsewhere every figure keeps to its bar without a rule, and no rule stands there for nothing."""
    plain = [row for row in rows() if row["job"] in ("single", "four", "apart", "buffered")]
    plain += [
        row for row in rows() if row["scheduler"] in ("mq-deadline", "kyber") and row["job"] in ("random", "streams")
    ]
    assert len(plain) > 100
    assert all(row["is_within"] and row["rule"] is None for row in plain)
    assert {row["rule"] for row in rows() if not row["is_within"]} == RULES.keys()


def test_orders_agree_where_the_rules_decide() -> None:
    """Streams and write-back leave little to chance, and so does a queue in which nobody waits."""
    taus = {(row["scheduler"], row["job"]): row["flashwatt"] for row in rows() if row["figure"].startswith("Kendall")}
    decided = [(scheduler, job) for scheduler in SCHEDULERS for job in ("four", "buffered")]
    decided += [
        ("mq-deadline", "streams"),
        ("mq-deadline", "short_streams"),
        ("kyber", "short_streams"),
        ("bfq", "apart"),
    ]
    assert all(taus[key] > 0.9 for key in decided)


@pytest.mark.parametrize("scheduler", ["mq-deadline", "kyber"])
def test_the_requests_of_the_first_to_begin_are_divided(
    scheduler: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The rule "first to begin" on FlashWatt's side: a reader or a writer begins 15 ms before the others."""
    means = []
    for first in ("reader", "writer"):
        monkeypatch.setattr("flashwatt_side.HERE", tmp_path)
        text = (TOOLS / "jobs/short_streams.fio").read_text()
        head = text[: text.index("[readers]")].replace("offset_increment=1g\n", "")
        late = {"reader": (0, 15), "writer": (15, 0)}[first]
        sections = [
            f"[reader0]\nrw=read\nstartdelay={late[0]}ms",
            "[reader1]\nrw=read\noffset=1g\nstartdelay=15ms",
            f"[writer0]\nrw=write\noffset=2g\nnew_group=1\nstartdelay={late[1]}ms",
            "[writer1]\nrw=write\noffset=3g\nstartdelay=15ms",
        ]
        (tmp_path / "jobs").mkdir(exist_ok=True)
        (tmp_path / "jobs/short_streams.fio").write_text(head + "\n".join(sections) + "\n")
        means.append(flashwatt_figures(scheduler, JOBS["short_streams"])[0].mean_kib)
    reader_first, writer_first = means
    assert reader_first["R"] < 200 < reader_first["W"]
    assert writer_first["W"] < 200 < writer_first["R"]


def test_the_overhead_is_below_five_percent_in_every_run() -> None:
    overhead = compared()["overhead"]
    assert len(overhead) == RUNS
    assert max(overhead) < 0.05


def test_the_page_has_both_columns() -> None:
    page = (ROOT / "docs/validation-linux.md").read_text()
    section = ""
    lines = 0
    for line in compared()["page"].splitlines():
        section = line if line.startswith("### ") else section
        if line.startswith("| ") and any(f"### `{name}`" in section for name in SCHEDULERS):
            assert line in page, section
            lines += 1
    assert lines > 50


def test_the_captured_files_are_small() -> None:
    assert sum(file.stat().st_size for file in CAPTURE.iterdir()) < 300 * 1024


def dispatched(*requests: tuple[int, str, int, int]) -> list[Dispatched]:
    return [Dispatched(ms * 1_000_000, kind, page, pages) for ms, kind, page, pages in requests]


def test_figures_by_hand() -> None:
    """Reads of 1 and 3 pages in the first region, a write of 4 in the second; the last one is outside the window."""
    second = REGION_BYTES // PAGE_BYTES
    log = dispatched((5, "R", 0, 1), (6, "R", 10, 3), (7, "W", second, 4), (15, "W", second + 4, 64))
    found = figures(log, 10_000_000)
    assert (found.requests, found.mean_kib) == (3, {"R": 8.0, "W": 16.0})
    assert (found.reads_share, found.shares) == (0.5, (0.5, 0.5, 0.0, 0.0))
    assert found.order["R", 12] == 1
    assert figures(log, 10_000_000, from_first_write=True).requests == 1


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([0, 1, 2, 3], [0, 1, 2, 3], 1.0),
        ([0, 1, 2, 3], [3, 2, 1, 0], -1.0),
        ([0, 1, 2, 3], [0, 2, 1, 3], 4 / 6),  # five pairs agree, one is opposed
        ([0, 0, 1, 2], [0, 1, 2, 2], 4 / 5),  # of six pairs one is tied on each side, and the other four agree
    ],
)
def test_kendalls_tau_by_hand(one: list[int], other: list[int], expected: float) -> None:
    def order(places: list[int]) -> dict[tuple[str, int], int]:
        return {("R", page): place for page, place in enumerate(places)}

    assert tau(order(one), order(other)) == pytest.approx(expected)


def test_what_is_beyond_counts_from_the_range() -> None:
    """Linux 8 to 12, 10 in the mean. 11 is inside; 13 is 1 above, a tenth of the mean; 6 is 2 below."""

    def row(value: float) -> Row:
        return Row("none", "four", "x", "", [8.0, 12.0, 10.0], value, 0.15)

    assert [row(value).beyond for value in (11.0, 13.0, 6.0)] == pytest.approx([0.0, 0.1, 0.2])
    assert [row(value).is_within for value in (11.0, 13.0, 6.0)] == [True, True, False]


def test_without_the_packages_the_target_says_that_it_skips(tmp_path: Path) -> None:
    """It compares the runs that the tests have: what that prints is compared with the page above."""
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    (tmp_path / "python").write_text('#!/bin/sh\necho "runs $*"\n')
    (tmp_path / "python").chmod(0o755)
    command = ["/bin/bash", "tools/validate_linux.sh", tmp_path / "python", "linux"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "SKIPPED: no real kernel was run. linux.uml fio missing" in done.stderr
    assert done.stdout == "runs tools/linux/compare.py tests/python/data/linux\n"
    assert "Kendall's tau" in compared()["page"]


def test_a_capture_without_runs_of_the_plan_is_named(tmp_path: Path) -> None:
    described = json.loads((CAPTURE / "runs.json").read_text())
    described["runs"] = {name: run for name, run in described["runs"].items() if "short_streams" not in name}
    (tmp_path / "runs.json").write_text(json.dumps(described))
    with lzma.open(CAPTURE / "dispatched.csv.xz", "rt") as file, lzma.open(tmp_path / "dispatched.csv.xz", "wt") as out:
        out.writelines(line for line in file if not line.startswith("bfq.four.3,"))
    command = [sys.executable, str(TOOLS / "compare.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"compare: {tmp_path} lacks runs that plan.py has: "
        "mq-deadline.short_streams, kyber.short_streams, bfq.short_streams, bfq.four.3\n"
        f"Capture them: python tools/linux/capture.py {tmp_path} --jobs four short_streams\n"
    )


def test_a_capture_of_some_jobs_keeps_the_runs_of_the_others(tmp_path: Path) -> None:
    lines, runs = kept(CAPTURE, {"four", "random"})
    assert {name.split(".")[1] for name in runs} == JOBS.keys() - {"four", "random"}
    assert {line.split(",")[0] for line in lines} == runs.keys()
    assert kept(CAPTURE, set(JOBS)) == kept(tmp_path, {"four"}) == ([], {})


def test_a_guest_cannot_work_in_tmp() -> None:
    command = [sys.executable, str(TOOLS / "capture.py"), "unused", "--work", "/tmp/linux"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "capture: /tmp/linux is in /tmp, which the guest has for itself\n"


def test_marks_divide_the_log(tmp_path: Path) -> None:
    """A run stands between two reads of the disk's last page; what is outside, and flushes, belong to no run."""
    mark = f"R,{(4 << 30) - 4096},4096"
    lines = ["0,R,0,4096", f"1,{mark}", "2,R,8192,4096", "3,F,0,0", "4,W,4096,8192"]
    lines += [f"5,{mark}", f"6,{mark}", f"7,{mark}"]
    path = tmp_path / "requests.csv"
    path.write_text("\n".join(lines) + "\n")
    assert runs_of_log(path) == [[(2, "R", 2, 1), (4, "W", 1, 2)], []]
