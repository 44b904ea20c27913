"""Run the study of a directory again: a process of its own, because the paths in its grid lead from the directory.

The first argument is the number of workers, 0 for one on each processor; the second one asks for progress by `bar`.
"""

from __future__ import annotations

import sys

import flashwatt._core as core
from flashwatt.sweeps.relocated import STUDY
from flashwatt.sweeps.sweep import SweepInterruptedError, sweep

DIRECTORY = "rerun"
"""Where the results of the rerun go, below the directory of the study."""


def main() -> int:
    """Run it; a fault goes to the error stream. Give the exit status."""
    workers, shown = sys.argv[1:]
    try:
        sweep(STUDY, out=DIRECTORY, workers=int(workers) or None, progress=shown == "bar")
    except SweepInterruptedError as error:
        sys.stderr.write(f"{error}\n")
        return 130
    except core.FlashwattError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
