"""Runs a job in FlashWatt, and reads what came of it."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from plan import DRIVE, HERE, Job, host_sets


class Request(NamedTuple):
    """A request of a process."""

    kind: str
    end_ns: int
    offset_bytes: int
    bytes: int


def run(scheduler: str, job: Job, sets: list[str]) -> tuple[dict[str, Any], list[Request]]:
    """The report of a run, and its requests in the order of their ends."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "requests.csv"
        command = [sys.executable, "-m", "flashwatt", "run", str(DRIVE), "--fio", str(HERE / "jobs" / job.file)]
        command += ["--request-log", str(log), "--json", "--quiet"]
        for key in [*host_sets(scheduler, job), *sets]:
            command += ["--set", key]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"flashwatt failed: {done.stderr}")
        with log.open() as file:
            rows = [
                Request(row["kind"], int(row["end_ns"]), int(row["offset_bytes"]), int(row["bytes"]))
                for row in csv.DictReader(file)
            ]
        return json.loads(done.stdout), rows


def request_log(scheduler: str, job: Job, sets: list[str]) -> list[Request]:
    """The requests of a run in the order of their ends."""
    return run(scheduler, job, sets)[1]


def registered() -> set[str]:
    """Schedulers that this build has."""
    command = [sys.executable, "-m", "flashwatt", "list", "schedulers"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in listed.splitlines() if line.strip()}
