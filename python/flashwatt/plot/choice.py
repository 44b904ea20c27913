"""The reports that a chart compares, with their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.literals import shown
from flashwatt.report.report import Report, content_of
from flashwatt.report.table import drive_name

if TYPE_CHECKING:
    from typing import TypeAlias

    Reports: TypeAlias = Report | Mapping[str, Report]
    """One report, or several by the names that the chart gives them."""


def labelled(reports: Reports) -> dict[str, dict[str, Any]]:
    """The contents of reports by their labels; a single one is called by its drive. `FlashwattError` for none."""
    if not isinstance(reports, Report | Mapping):
        remedy = "flashwatt.Report.read(path) reads one from a file"
        found = f"found {shown(reports)}; expected a Report, or a dictionary of reports by their names"
        raise _core.FlashwattError(f"reports: {found} ({remedy})")
    if isinstance(reports, Report):
        content = content_of(reports)
        device = content["config"].get("device")
        name = (device.get("preset") or device["description"]) if device else drive_name(content)
        return {name: content}
    if not reports:
        raise _core.FlashwattError("no report to draw; expected at least one")
    for label, report in reports.items():
        if not isinstance(report, Report):
            raise _core.FlashwattError(f"reports: {label}: found {shown(report)}; expected a Report")
    return {label: content_of(report) for label, report in reports.items()}
