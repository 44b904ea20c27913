"""What a run is asked for on the command line: one workload, one drive, names that fit; and what it leaves unsaid."""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from flashwatt.base.progress import CUTTING
from flashwatt.base.units import duration
from flashwatt.cli.delivery import OF_A_RUN
from flashwatt.cli.terminal import note
from flashwatt.config.reference import DEFAULT_PRESET

if TYPE_CHECKING:
    from pathlib import Path

    from flashwatt.config.config import Config
    from flashwatt.oplog import Kind

LOGS: tuple[Kind, ...] = ("op_log", "request_log", "capture", "dispatch_log")
"""The options that name the file of a log."""


def check(config: Path | None, options: dict[str, Any], sets: tuple[str, ...]) -> None:
    """Refuse options that contradict each other, before any file is read."""
    _check_sets(sets)
    _check_sources(config, options, sets)
    _check_names(options, sets)
    _check_log_names(options)


class SlowStart:
    """Says once that laying down the start state takes long, and how long, where no bar shows it."""

    _AFTER_S, _LONG_S = 5.0, 30.0

    def __init__(self) -> None:
        """Begin before the run."""
        self._begin_s: float | None = None
        self._first = 0

    def look(self, done: int, total: int | None, preparing: str | None) -> None:
        """Take the progress of the run."""
        if preparing in (None, CUTTING) or not total or self._first < 0 or sys.stderr.isatty():
            return
        now_s = time.monotonic()
        if self._begin_s is None:
            self._begin_s, self._first = now_s, done
        elapsed_s = now_s - self._begin_s
        if elapsed_s < self._AFTER_S or done <= self._first:
            return
        left_s = elapsed_s * (total - done) / (done - self._first)
        self._first = -1
        if left_s > self._LONG_S:
            remedy = "device.scale makes the drive smaller, `flashwatt age` saves the state for many runs"
            note(f"{preparing}: {total:,} requests, about {duration(left_s * 1e9)} more ({remedy})")


def check_content(config: Config, options: dict[str, Any], sets: tuple[str, ...], *, is_file: bool) -> None:
    """Refuse a study, and options that the configuration has no use for; say what it leaves unsaid."""
    if is_file and re.search(r"^[ \t]*(\[\[?grid[\].]|grid[ \t.=])", config.text, re.MULTILINE):
        found = f"{config.name}: a study, not the configuration of one run; found grid"
        raise click.UsageError(f"{found}; `flashwatt sweep {config.name} --out DIR` runs it")
    _check_trace_options(config.text, sets, options)
    if is_file:
        _say_what_is_left_out(config, sets, options)


def _check_sets(sets: tuple[str, ...]) -> None:
    """Refuse an override that holds a second one."""
    for one in sets:
        key, _, value = one.partition("=")
        if second := re.match(r"""[^\[{"'=]*,[ ]*([a-z_]+\.[a-z_.]+)[ ]*=""", value):
            expected = f"expected one --set for each key: --set {key}={value[: value.index(',')]} --set {second[1]}=…"
            raise click.UsageError(f"--set: {key.strip()}: two keys in one; found {one}; {expected}")


def _check_sources(config: Path | None, options: dict[str, Any], sets: tuple[str, ...]) -> None:
    """Refuse a run of nothing and one of two workloads; say which drive runs if none was named."""
    kinds = {"--fio": options["fio"], "--trace": options["trace"]}
    kinds |= {f"--{one}": options[one] for one in ("personality", "program")}
    given = [option for option, value in kinds.items() if value]
    if options["fs"] and options["trace"]:
        given = ["--fs", "--trace"]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and {given[1]} are two workloads; a run has one")
    if config or options["preset"]:
        return
    if any(_is_preset(one.partition("=")[0]) for one in sets):
        return
    asked = ("fio", "trace", "fs", "personality", "program", "scheduler", "requests")
    if not any(options[one] for one in asked) and not sets:
        raise click.UsageError(
            "nothing to run; expected a configuration (CONFIG.toml), a trace, --preset NAME or --fio JOB.fio; "
            "`flashwatt try bursts` runs an example"
        )
    options["preset"] = DEFAULT_PRESET
    note(f"the drive is the default preset, {DEFAULT_PRESET}; --preset NAME chooses another (flashwatt list presets)")


_OF_TRACES = (
    "trace_format",
    "time_unit",
    "offset_unit",
    "size_unit",
    "sort",
    "devices",
    "fold",
    "clip",
    "skip_bad",
    "max_gap",
)


def _check_trace_options(config: str, sets: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse an option of traces for a run without one; the configuration's text or `--set` may name it."""
    given = next((one for one in _OF_TRACES if options[one]), None)
    if given is None or options["trace"] or any("trace" in text for text in (config, *sets)):
        return
    name = {"trace_format": "--format"}.get(given, f"--{given.replace('_', '-')}")
    found = "found --fio" if options["fio"] else "found no trace"
    raise click.UsageError(f"{name}: an option for traces; {found}; expected --trace FILE")


def _check_names(options: dict[str, Any], sets: tuple[str, ...]) -> None:
    """Refuse two presets, two schedulers, two file systems or two programs on one command line."""
    keys = {"preset": "device.preset", "scheduler": "host.scheduler", "fs": "workload.files.system"}
    keys |= {"personality": "workload.files.personality", "program": "workload.files.path"}
    keys |= {"fio": "workload.files.fio" if options["fs"] else "workload.fio.path"}
    for option, of in keys.items():
        for key, name in _named(of, sets).items():
            if options[option] and name != str(options[option]):
                found = f"found {options[option]} (--{option}), {name} (--set)"
                what = {"fs": "file system", "fio": "fio job"}.get(option, option)
                raise click.UsageError(f"--set {key}: the {what} is given twice; {found}; expected one of them")


def _named(of: str, sets: tuple[str, ...]) -> dict[str, str]:
    """The names that overrides give to a key, by the key that gives each: as its value, or as a table `KEY.NAME`."""
    found = {}
    for one in sets:
        key, _, value = (part.strip() for part in one.partition("="))
        if key == of:
            found[key] = value.strip("\"'")
        elif key.startswith(f"{of}."):
            found[key] = key.removeprefix(f"{of}.").partition(".")[0]
    return found


def _is_preset(key: str) -> bool:
    return key.strip() == "device.preset"


def _check_log_names(options: dict[str, Any]) -> None:
    """Refuse a log whose name has the ending of another format: CSV would be written under it."""
    for kind in LOGS:
        path = options[kind]
        if path and path.suffix.lower() in _OTHER_FORMATS and path.name not in OF_A_RUN:
            found = f"{path}: no format of a log; found {path.suffix}; expected .csv or .parquet"
            raise click.UsageError(f"--{kind.replace('_', '-')}: {found}")


_OTHER_FORMATS = {".xlsx", ".xls", ".json", ".jsonl", ".html", ".svg", ".png", ".pdf", ".feather", ".arrow"}


def _say_what_is_left_out(base: Config, sets: tuple[str, ...], options: dict[str, Any]) -> None:
    """Say which preset runs if the configuration names none, and which of its workloads another one replaces."""
    import tomli

    try:
        content = tomli.loads(base.text)
    except tomli.TOMLDecodeError:
        return  # the engine names the fault
    keys = [one.partition("=")[0].strip() for one in sets]
    device, array = content.get("device"), content.get("array")
    named = options["preset"] or "device.preset" in keys or (isinstance(device, dict) and "preset" in device)
    by_member = isinstance(array, dict) and isinstance(array.get("members"), list)
    is_disk = "hdd" in content  # nothing of the default preset, an SSD, is in a disk
    if not (
        named or by_member or is_disk or "preset" in content
    ):  # at the top it is an unknown key, which the engine names
        note(f"{base.name} names no preset: the rest of the drive is that of the default preset, {DEFAULT_PRESET}")
    workload = content.get("workload")
    own = workload if isinstance(workload, str) else next(iter(workload), "") if isinstance(workload, dict) else ""
    kinds = [(key, key.split(".")[1]) for key in keys if key.startswith("workload.") and key.count(".") > 1]
    named = {"fio": "fio", "trace": "trace", "fs": "files", "personality": "files", "program": "files"}
    others = [(f"--{option}", kind) for option, kind in named.items() if options[option]] + [
        (f"--set {key}", kind) for key, kind in kinds
    ]
    for given, kind in others:
        if own and kind != own:
            note(f"{given} replaces the workload of {base.name}, {own}")
            return
