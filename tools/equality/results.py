"""The bytes of a case's result, part by part: reports without what differs between equal runs, logs as they are."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flashwatt
from equality.traces import CONVERTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from equality.cases import Case

Parts = dict[str, bytes]
_OF_A_BUILD = ("version", "engine", "build_id", "BUILD_ID")
"""Keys of a report that say which build ran, and for how long."""
REFUSAL = "refusal"
"""The part that a case has instead of all others if it is refused."""


def canonical(content: Any) -> bytes:
    """Give the JSON of a report without its version and its times. The order of the keys counts."""
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if key not in _OF_A_BUILD}
    return (json.dumps(content, indent=1) + "\n").encode()


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    folder.mkdir(parents=True)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        shutil.rmtree(folder)


def result_of(case: Case, root: Path) -> Parts:
    """Run a case in a folder of its own, so that messages and reports have names of files without folders."""
    with _inside(root / f"{case.number:03}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in case.files.items():
            Path(name).write_bytes(content)
        try:
            if (csv := next((name for name in case.files if name.startswith(f"{CONVERTED}.")), None)) is not None:
                flashwatt.traces.convert(csv, f"{CONVERTED}.fwt")
            return _RUN[case.sort](case)
        except flashwatt.FlashwattError as error:
            return {REFUSAL: f"{error}\n".encode()}


def _logged(names: dict[str, Any]) -> Parts:
    return {key: _log(Path(name)) for key, name in names.items() if Path(name).exists()}


def _log(path: Path) -> bytes:
    """Give the bytes of a log. Parquet's own bytes are those of a library: its rows count."""
    if path.suffix != ".parquet":
        return path.read_bytes()
    import polars as pl

    return pl.read_parquet(path).write_csv().encode()


def _run(case: Case) -> Parts:
    report = flashwatt.run(case.settings, **case.options)
    logs = ("op_log", "request_log", "capture", "dispatch_log")
    named = {key: case.options[key] for key in logs if key in case.options}
    return {"report": canonical(report.to_dict()), **_logged(named)}


def _crash(case: Case) -> Parts:
    return {"crash": canonical(flashwatt.crash(case.settings, **case.options).to_dict())}


def _age(case: Case) -> Parts:
    said = flashwatt.age(case.settings, to="aged.fw", run_workload=case.options["run_workload"])
    then = {key: value for key, value in case.settings.items() if not key.startswith("run.precondition")}
    if (seed := case.options["then_seed"]) is not None:
        then["run.seed"] = seed
    report = flashwatt.run({**then, "run.precondition.snapshot": "aged.fw"}, op_log="ops.csv")
    snapshot = Path("aged.fw").read_bytes()
    return {"said": canonical(said), "snapshot": snapshot, "report": canonical(report.to_dict()), **_logged(_OPS)}


_OPS = {"op_log": "ops.csv"}


def _reprice(case: Case) -> Parts:
    report = flashwatt.run(case.settings)
    priced = flashwatt.reprice(report, case.options["table"])
    return {"report": canonical(report.to_dict()), "priced": canonical(priced.to_dict())}


def _drive(case: Case) -> Parts:
    """Send a script of requests that is drawn as it goes, cut the power now and then, and keep all that is said."""
    rng = random.Random(case.options["script_seed"])
    drive = flashwatt.Drive(case.settings, cuttable=case.options["cuttable"])
    pages = drive.logical_bytes // 4096
    said: list[Any] = []
    for at in range(300):
        kind: Any = rng.choice(("read", "read", "write", "write", "write", "trim", "flush"))
        place = (0, 0) if kind == "flush" else (4096 * rng.randrange(min(pages, 4096) - 8), 4096 * rng.randint(1, 8))
        due = drive.now_ns + rng.choice((0, 0, 50_000, 2_000_000))
        said.append(drive.submit(kind, *place, due, fua=kind == "write" and rng.random() < 1 / 8, origin=at % 3))
        if rng.random() < 1 / 4:
            said += drive.advance(drive.now_ns + rng.choice((1000, 300_000, 4_000_000)))
            said += [drive.energy_j(), drive.power_w(), drive.next_event_ns()]
        if case.options["cuttable"] and at % 100 == 60:  # noqa: PLR2004
            said += drive.cut()
    return {"said": canonical(said), "report": canonical(drive.report().to_dict())}


def _trace(case: Case) -> Parts:
    path, to = case.settings["workload.trace.path"], f"converted.{case.options['to']}"
    found = {
        "info": flashwatt.traces.info(path),
        "profile": flashwatt.traces.profile(path),
        "convert": flashwatt.traces.convert(path, to),
    }
    parts = {name: canonical(content) for name, content in found.items()} | {"converted": Path(to).read_bytes()}
    try:
        parts["standin"] = canonical(flashwatt.traces.fit_standin(path))
    except flashwatt.FlashwattError as error:
        parts["standin"] = str(error).encode()
    return parts


def _command(case: Case) -> Parts:
    """Start the command line on a file of the configuration. JSON that it prints is taken as a report."""
    Path("drive.toml").write_text(flashwatt.Config.of(case.settings).merged(), encoding="utf-8")
    words = case.options["words"].split()
    environment = {**os.environ, "PYTHONPATH": str(Path(flashwatt.__file__).parents[1]), "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", "flashwatt", *words], env=environment, capture_output=True, check=False, text=True
    )
    is_json = done.stdout.startswith("{")
    return {
        "status": str(done.returncode).encode(),
        "errors": done.stderr.encode(),
        "printed": canonical(json.loads(done.stdout)) if is_json else done.stdout.encode(),
        **_logged(_OPS),
    }


def _sweep(case: Case) -> Parts:
    results = flashwatt.sweep(
        case.options["grid"], base=case.settings, seeds=case.options["seeds"], workers=2, out="out", progress=False
    )
    reports = [[point, seed, json.loads(canonical(report.to_dict()))] for point, seed, report in results]
    return {"reports": canonical(reports), "frame": results.frame().write_csv().encode()}


_RUN = {
    "run": _run,
    "crash": _crash,
    "age": _age,
    "reprice": _reprice,
    "drive": _drive,
    "trace": _trace,
    "command": _command,
    "sweep": _sweep,
}
