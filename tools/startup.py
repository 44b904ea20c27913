"""Instructions that commands execute from their start to their end, where they have next to nothing to do.

Callgrind counts them, so that a busy machine gives the same figures. Those of a bare Python and of click stand above:
they are the floor. Each command runs once before it is counted, so that its modules are compiled. Without valgrind
nothing is counted, and a line says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ONE = ("run", "--preset", "x25m", "--set", "workload.uniform.requests=1")
FLASHWATT = ("-m", "flashwatt")
CASES: dict[str, tuple[tuple[str, ...], float | None]] = {
    "Python": (("-c", "pass"), None),
    "import click": (("-c", "import click"), None),
    "--version": ((*FLASHWATT, "--version"), 260),
    "--help": ((*FLASHWATT, "--help"), None),
    "run of one request, --json": ((*FLASHWATT, *ONE, "--json"), 400),
    "run of one request": ((*FLASHWATT, *ONE), None),
}
"""By their names: the words after `python`, and the goal in millions of instructions."""


def main() -> None:
    """Print a line for each case."""
    if shutil.which("valgrind") is None:
        sys.stdout.write("instructions of a start: not counted, because valgrind is not installed\n")
        return
    for name, (words, goal) in CASES.items():
        beside = "" if goal is None else f"   goal {goal:,.0f} M"
        sys.stdout.write(f"instructions, {name:<28} {_executed(words) / 1e6:8,.1f} M{beside}\n")


def _executed(words: tuple[str, ...]) -> int:
    # The order of a set's members would differ from run to run, and without compiled modules compiling would count.
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        counted = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        for before in ([], counted):
            command = [*before, sys.executable, *words]
            subprocess.run(command, env=environment, check=True, capture_output=True, cwd=folder)
        found = re.search(r"^(?:summary|totals): (\d+)", out.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise SystemExit("callgrind's output has no sum")
    return int(found[1])


if __name__ == "__main__":
    main()
