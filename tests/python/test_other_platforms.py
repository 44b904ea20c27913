"""The package on systems that lack what Unix has: it can be imported, and runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from flashwatt import _core

ROOT = Path(__file__).parents[2]

WITHOUT_UNIX = """
import os, pkgutil, signal, sys
import altair, click, platformdirs, polars, rich, scipy.optimize, subprocess, tempfile, vl_convert  # they may use Unix
import dask_jobqueue, distributed, distributed.deploy, dask_jobqueue.slurm  # likewise
for module in ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"):
    sys.modules[module] = None  # importing it is an error
for name in ("SIGALRM", "SIGHUP", "SIGPIPE", "SIGTSTP", "SIGUSR1", "SIGWINCH"):
    delattr(signal, name)
for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECT", "fchmod", "fchown", "fork", "geteuid", "getuid",
             "killpg", "mkfifo", "pread", "sched_getaffinity", "statvfs", "uname"):
    delattr(os, name)
import flashwatt
for module in pkgutil.walk_packages(flashwatt.__path__, "flashwatt."):
    if not module.name.endswith("__main__") and ".experiments." not in module.name:
        __import__(module.name)
report = flashwatt.run(workload__uniform__requests=10, op_log="operations.jsonl")
results = flashwatt.sweep({"device.ways": [1, 2]}, base={"workload.uniform.requests": 10}, workers=1, out="swept")
print(report.status, len(results))
"""


def test_every_module_is_imported_and_runs_where_unix_is_not(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(_core.__file__).parents[1])}
    command = [sys.executable, "-c", WITHOUT_UNIX]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "complete 2\n", "")
    assert (tmp_path / "operations.jsonl").stat().st_size > 0
    assert (tmp_path / "swept/results.parquet").stat().st_size > 0


def test_a_target_without_its_library_is_passed_over_aloud() -> None:
    script = ROOT / "tools/other_platforms.sh"
    result = subprocess.run(["bash", script, "no-such-target"], capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert "flashwatt: NOT CHECKED: no-such-target: " in result.stderr
    assert "Checking" not in result.stdout
