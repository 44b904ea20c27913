"""The order of `flashwatt --help`, and of the options of commands that have many: names, which load no command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

SECTIONS = {
    "First run": ("try", "run", "explain", "list", "init", "schema"),
    "Studies": ("sweep", "compare", "pack", "unpack", "tune", "calibrate"),
    "Traces": ("trace", "standin"),
    "Drives": ("age", "crash", "price", "fs"),
    "Measurements": ("dio",),
    "Papers": ("reproduce", "model"),
}
"""Commands by the heading above them in the help."""

HIDDEN = {"version": "--version", "battery": "compare --battery"}
"""Commands of earlier versions that work and are not listed, and what is said instead of each."""

_RUN = {
    "Drive and host": ("preset", "scheduler", "sets"),
    "Workload: a trace": (
        "trace",
        "trace_format",
        "time_unit",
        "offset_unit",
        "size_unit",
        "sort",
        "max_gap",
        "devices",
        "fold",
        "clip",
        "skip_bad",
        "align_starts",
        "share_devices",
    ),
    "Workload: files": ("fs", "personality", "program", "fio"),
    "Length and results": ("requests", "out", "as_json", "quiet", "force"),
    "Over time": ("series", "series_ms", "edges_ms"),
    "How sure": ("ranges",),
    "Logs and checks": ("op_log", "request_log", "capture", "dispatch_log", "check"),
}
PANELS: Mapping[str, Mapping[str, tuple[str, ...]]] = {"run": _RUN}
"""Options of a command by the heading above them in its help."""


def write_sections(formatter: click.HelpFormatter, sentences: Mapping[str, str]) -> None:
    """Write the commands of each section with their sentences; those without a section come last."""
    placed = {name for names in SECTIONS.values() for name in names}
    others = tuple(name for name in sentences if name not in placed and name not in HIDDEN)
    for title, names in {**SECTIONS, "Further commands": others}.items():
        if rows := [(name, sentences[name]) for name in names if name in sentences]:
            with formatter.section(title):
                formatter.write_dl(rows)


class Panelled(click.Command):
    """A command whose help has its options below headings, as `PANELS` groups them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each panel, and the others last."""
        there = {one.name: one for one in self.get_params(ctx) if isinstance(one, click.Option)}
        panels = PANELS[self.name or ""]
        placed = {name for names in panels.values() for name in names}
        for title, names in {**panels, "Others": tuple(name for name in there if name not in placed)}.items():
            records = [there[name].get_help_record(ctx) for name in names if name in there]
            if rows := [one for one in records if one]:
                with formatter.section(title):
                    formatter.write_dl(rows)
