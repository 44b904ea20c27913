"""Power over time: component by component for one run, one line each for several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.scripts import blaming
from flashwatt.base.units import duration, si
from flashwatt.plot.chart import Chart
from flashwatt.plot.choice import labelled
from flashwatt.plot.stack import (
    HEADROOM,
    ZOOM,
    areas,
    job_starts,
    lines,
    mark,
    names_of,
    time_axis,
    time_unit,
    value_axis,
)
from flashwatt.plot.style import INK, PAPER, short
from flashwatt.report.report import Report
from flashwatt.report.table import describe_device, describe_workload

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from flashwatt.base.files import Json
    from flashwatt.plot.choice import Reports
    from flashwatt.plot.style import Canvas, Look

_PICTURE_BINS, _PAGE_BINS = 430, 3000  # two pixels each in a picture; a page can be zoomed


@blaming
def power(reports: Reports, *, window_ns: tuple[float, float] | None = None, **look: Unpack[Look]) -> Chart:
    """Mean power over time. One report: each component, stacked, with the highest bin and the peak marked.

    Several reports by their names: the whole drive's power, one line for each. `window_ns` is the part of the simulated
    time that is drawn, (from, until) in ns; bins that lie partly in it are drawn whole. Further options are those of
    `Chart.restyle`. Raises `FlashwattError` for a report without a series (`run(..., series=True)` records one), for a
    series without bins, and for a window without a bin of it.
    """
    contents = {label: _cut(content, window_ns) for label, content in labelled(reports).items()}
    if not isinstance(reports, Report) and len(contents) > 1:
        return _several(contents, look)
    content = next(iter(contents.values()))
    title, subtitle = _words(content, whole=window_ns is None)

    def draw(on: Canvas) -> alt.LayerChart:
        return power_chart(content, on, _PAGE_BINS if on.page else _PICTURE_BINS)

    return Chart(title, subtitle, draw, ZOOM, look)


def _cut(content: Json, window_ns: tuple[float, float] | None) -> Json:
    """Give the report with the bins of its series that lie in the window, wholly or in part."""
    series = content.get("series")
    if not series:
        raise _core.FlashwattError("the report holds no power over time; ask for it: run(..., series=True)")
    if not _bins(series):
        raise _core.FlashwattError("the series is empty, since the run took no time")
    if window_ns is None:
        return content
    begin, until = window_ns
    start, interval, end = series["start_ns"], series["interval_ns"], _end_ns(content)
    if not (begin < until and begin < end and until > start):
        expected = f"expected (from, until) with from < until, that meet the series from {start:,.0f} to {end:,.0f} ns"
        raise _core.FlashwattError(f"window_ns: found ({begin:,.0f}, {until:,.0f}); {expected}")
    first, last = max(0, int((begin - start) // interval)), -int((start - until) // interval)
    cut = {key: values[first:last] for key, values in series["power_w"].items()}
    window = {**series, "start_ns": start + first * interval, "power_w": cut}
    return {**content, "series": window, "end_ns": min(end, start + (first + _bins(window)) * interval)}


def _several(contents: dict[str, Json], look: Look) -> Chart:
    """Draw the drive's power of several runs over one axis of time."""
    means = [si(content["power_w"]["mean"], "W") for content in contents.values()]
    said = ", ".join(f"{label} {mean}" for label, mean in zip(contents, means, strict=True))
    intervals = dict.fromkeys(duration(one["series"]["interval_ns"], exact=True) for one in contents.values())
    names = ", ".join(dict.fromkeys(content["workload"]["name"] for content in contents.values()))
    subtitle = f"Mean power over the whole run: {said}. Means over {', '.join(intervals)}. Workload: {names}."
    return Chart("Power over time", (subtitle,), lambda on: _lines(contents, on), ZOOM, look)


def _lines(contents: dict[str, Json], on: Canvas) -> alt.LayerChart:
    scale, unit = time_unit(max(map(_end_ns, contents.values())) - min(map(_start_ns, contents.values())))
    bins, names = _PAGE_BINS if on.page else _PICTURE_BINS, list(contents)
    rows: list[dict[str, Any]] = [
        {"time": row["time"], "run": label, "value": short(sum(row.values()) - row["time"])}
        for label, content in contents.items()
        for row in _rows(content, scale, bins)
    ]
    return lines(rows, ("run", names), (unit, "W"), on, title="power (W)", key=True)


def power_chart(report: Json, on: Canvas, bins: int) -> alt.LayerChart:
    """Draw a report's series, with neighbouring bins joined to at most a given number."""
    drawn: alt.LayerChart = on.sized(alt.layer(*power_layers(report, on, bins)))
    return drawn


def power_layers(report: Json, on: Canvas, bins: int) -> list[Any]:
    """The layers of such a chart, before it has a size."""
    scale, unit = time_unit(_end_ns(report) - _start_ns(report))
    peak = report["power_w"].get("peak")
    start_ns, length_ns, highest = _highest(report)
    x = time_axis(f"simulated time ({unit})", on)
    y = value_axis("power (W)", HEADROOM * max(highest, peak or 0), on)
    interval = duration(length_ns, exact=True)
    said = f"highest mean over {interval}: {si(highest, 'W')}"
    beside = "" if peak is None else f"instantaneous peak {si(peak, 'W')}"
    layers = [areas(_rows(report, scale, bins), x, y, (unit, "W"), on)]
    layers += mark(start_ns / scale, highest, said, (x, y), on, beside=beside, above=peak)
    layers += job_starts(report, (_start_ns(report), _end_ns(report)), scale, x, on)
    if peak is not None:
        layers += _peak_line(peak, beside, on, left=start_ns > _middle_ns(report))
    return layers


def _peak_line(peak: float, said: str, on: Canvas, *, left: bool) -> list[alt.Chart]:
    """A line with a label at the side that the mark leaves free."""
    base = alt.Chart(alt.InlineData(values=[{"peak": peak}])).encode(y=alt.Y("peak:Q"))
    line = base.mark_rule(color=INK, strokeDash=[5, 4], strokeWidth=1)
    text: dict[str, Any] = {
        "text": said,
        "x": 4 if left else alt.ExprRef("width - 2"),
        "align": "left" if left else "right",
        "dy": -8 * on.font / 12,
        "fontSize": on.font,
    }
    halo = base.mark_text(**text, stroke=PAPER, strokeWidth=4)  # or a grid line might run through it
    return [line, halo, base.mark_text(**text, color=INK)]


def _rows(report: Json, scale: float, bins: int) -> list[dict[str, float]]:
    """One row per bin, wide; bins of the series are joined where there are more than `bins`."""
    series = report["series"]
    columns = {name: series["power_w"][key] for key, name in names_of(series["power_w"]).items()}
    lengths = _lengths_ns(report)
    group = max(1, -(-len(lengths) // bins))
    rows = []
    for first in range(0, len(lengths), group):
        weights = lengths[first : first + group]
        means = {name: short(_mean(values[first : first + group], weights)) for name, values in columns.items()}
        rows.append({"time": short((series["start_ns"] + first * series["interval_ns"]) / scale), **means})
    if rows:  # closes the last step
        rows.append({**rows[-1], "time": short(_end_ns(report) / scale)})
    return rows


def _lengths_ns(report: Json) -> list[float]:
    """Give the length of each bin; the end of the run may have cut the last one short."""
    series, end = report["series"], _end_ns(report)
    start, interval = series["start_ns"], series["interval_ns"]
    return [min(interval, end - (start + index * interval)) for index in range(_bins(series))]


def _bins(series: Json) -> int:
    return len(next(iter(series["power_w"].values()), ()))


def _mean(values: list[float], weights: list[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)


def _highest(report: Json) -> tuple[int, float, float]:
    """Give the start and the length of the bin with the highest mean power, in nanoseconds, and that power in W."""
    series = report["series"]
    watts = [sum(values) for values in zip(*series["power_w"].values(), strict=True)]
    index = max(range(len(watts)), key=watts.__getitem__, default=None)
    if index is None:
        return series["start_ns"], series["interval_ns"], 0.0
    return series["start_ns"] + index * series["interval_ns"], _lengths_ns(report)[index], watts[index]


def _end_ns(report: Json) -> float:
    """Give the end of the last bin, which the end of the run may have cut short."""
    if "end_ns" in report:  # of a window
        return float(report["end_ns"])
    series = report["series"]
    whole = _bins(series) * series["interval_ns"]
    return float(series["start_ns"] + min(whole, report["throughput"]["simulated_s"] * 1e9))


def _start_ns(report: Json) -> float:
    return float(report["series"]["start_ns"])


def _middle_ns(report: Json) -> float:
    return (_start_ns(report) + _end_ns(report)) / 2


def _words(report: Json, *, whole: bool) -> tuple[str, tuple[str, ...]]:
    """Title and subtitle."""
    power, (start_ns, length_ns, watts) = report["power_w"], _highest(report)
    peak = f", peak {si(power['peak'], 'W')}" if power.get("peak") is not None else ""
    interval = duration(length_ns, exact=True)
    highest = f"mean over {interval}: {si(watts, 'W')} at {duration(start_ns)}"
    described = f"{describe_device(report)}.", f"{describe_workload(report)}."
    if not whole:  # mean and peak are those of the run
        return f"Power over time: highest {highest}", described
    return f"Power over time: mean {si(power['mean'], 'W')}{peak}", (*described, f"Highest {highest}.")
