"""Pictures of a trace: arrivals and bytes over time, places over time, sizes, hit ratios of LRU caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base.units import count, duration, si
from flashwatt.plot.chart import Chart, write_page
from flashwatt.plot.style import short

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typing_extensions import Unpack

    from flashwatt.base.files import Json
    from flashwatt.plot.style import Canvas, Look

_COLOURS = {"reads": "#3b7dbd", "writes": "#f0932b", "trims": "#76b7b2", "flushes": "#59657a"}
_HEIGHT, _MAP_HEIGHT, _GAP = 170, 240, 26
_AXIS_LETTERS = 7  # room beside a panel, in sizes of its labels
_SVG_JOINED = 2  # cells of the map to a side of one in the SVG, which would be large otherwise
_TIME_UNITS = ((86_400e9, "d"), (3_600e9, "h"), (1e9, "s"), (1e6, "ms"), (1e3, "µs"))
_SIZE_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def write_trace(profile: Json, directory: Path, *, force: bool = False) -> list[Path]:
    """Draw a trace's profile (`flashwatt.traces.profile`) into trace.svg and trace.html; return their paths.

    Raises `FlashwattError` as `Chart.save` does.
    """
    picture = trace(profile)
    title, panels = f"{picture.title}: {picture.subtitle[0]}", _panels(profile, 1)
    page = write_page(directory / "trace.html", title, panels, force=force)
    return [picture.save(directory / "trace.svg", force=force), page]


def trace(profile: Json, **look: Unpack[Look]) -> Chart:
    """All panels of a trace's profile, one below the other; options as in `Chart.restyle`, without `height`.

    Raises `FlashwattError` for an option that no picture can have, and for a height: each panel has its own.
    """
    if look.get("height") is not None:
        raise _core.FlashwattError("height: a trace has several panels, each with its own; expected no height")
    title, subtitle = _words(profile)

    def draw(on: Canvas) -> Any:
        charts = [panel.draw(on) for panel in _panels(profile, _SVG_JOINED)]
        return alt.vconcat(*charts, spacing=_GAP).resolve_scale(color="independent", x="independent")

    return Chart(title, (subtitle,), draw, look=look)


def _panels(profile: Json, joined: int) -> list[Chart]:
    """Make one chart each; `joined` cells of the maps are joined in both directions."""
    info = profile["info"]
    panels: list[tuple[str, Callable[[Canvas], alt.Chart]]] = [("Requests over time", lambda on: _rates(profile, on))]
    if info["reads"] or info["writes"]:
        panels.append(("Bytes over time", lambda on: _bytes(profile, on)))
    for kind in ("reads", "writes", "trims"):
        if info[kind]:
            panels.append((f"Where {kind} start", lambda on, kind=kind: _places(profile, kind, joined, on)))  # type: ignore[misc]
    if profile["sizes"]:
        panels.append(("Sizes", lambda on: _sizes(profile, on)))
    if profile["reuse"]["points"]:
        panels.append(("Hits of an LRU cache", lambda on: _reuse(profile, on)))
    return [Chart(title, (), draw) for title, draw in panels]


def _view(on: Canvas) -> Any:
    """The width of a panel without its axis: panels one below the other are not fitted to a width."""
    return "container" if on.width is None else on.width - 2 * on.padding - _AXIS_LETTERS * on.font


def _fitting(on: Canvas) -> dict[str, Any]:
    """The most labels of an axis."""
    return {"tickCount": on.ticks(), "labelOverlap": True, "labelSeparation": on.font / 2}


def _unit(value: float, units: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    """The largest unit of which there are at least two, else the smallest."""
    return next((unit for unit in units if value >= 2 * unit[0]), units[-1])


def _time_axis(profile: Json, on: Canvas) -> tuple[float, alt.X]:
    end_ns = len(profile["time"]["reads"]) * profile["time"]["interval_ns"]
    scale, unit = _unit(end_ns, _TIME_UNITS)
    domain = alt.Scale(domain=[0, end_ns / scale], nice=False)
    return scale, alt.X("time:Q", title=f"time ({unit})", scale=domain, axis=alt.Axis(grid=False, **_fitting(on)))


def _rates(profile: Json, on: Canvas) -> alt.Chart:
    kinds = [kind for kind in _COLOURS if profile["info"][kind]]
    return _over_time(profile, {kind: kind for kind in kinds}, "requests per second", 1.0, on)


def _bytes(profile: Json, on: Canvas) -> alt.Chart:
    kinds = {kind: f"{kind[:-1]}_bytes" for kind in ("reads", "writes") if profile["info"][kind]}
    return _over_time(profile, kinds, "MB/s", 1e-6, on)


def _over_time(profile: Json, series: dict[str, str], title: str, factor: float, on: Canvas) -> alt.Chart:
    """Stack the rate of each of these series of bins, under its name."""
    time, (scale, x) = profile["time"], _time_axis(profile, on)
    per_s = factor * 1e9 / time["interval_ns"]
    rows = [
        {"time": short(bin_ * time["interval_ns"] / scale), "kind": kind, "rate": short(value * per_s)}
        for kind, name in series.items()
        for bin_, value in [*enumerate(time[name]), (len(time[name]), time[name][-1])]
    ]
    chart: alt.Chart = (
        alt.Chart(_table(rows))
        .mark_area(interpolate="step-after")
        .encode(
            x=x,
            y=alt.Y("rate:Q", title=title, axis=alt.Axis(tickCount=4)).stack("zero"),
            color=_colour(list(series), on),
            tooltip=["kind:N", alt.Tooltip("rate:Q", title=title, format=".4~g"), "time:Q"],
        )
        .properties(width=_view(on), height=_HEIGHT)
    )
    return chart


def _colour(kinds: list[str], on: Canvas) -> alt.Color:
    names: list[str | alt.FieldName] = list(kinds)
    scale = alt.Scale(domain=names, range=[_COLOURS[kind] for kind in kinds])
    legend = on.legend(kinds, symbolType="square", orient="top")
    return alt.Color("kind:N", scale=scale, legend=legend)


def _places(profile: Json, kind: str, joined: int, on: Canvas) -> alt.Chart:
    """Draw the start addresses of the requests of one kind over time."""
    places, (scale, x) = profile["places"], _time_axis(profile, on)
    unit_bytes, unit = _unit(profile["info"]["span_bytes"], _SIZE_UNITS)
    column, row = joined * places["column_ns"] / scale, joined * places["row_bytes"] / unit_bytes
    rows = [
        {
            "time": short(x * column),
            "end": short((x + 1) * column),
            "from": short(y * row),
            "to": short((y + 1) * row),
            "n": n,
        }
        for (x, y), n in _joined(places["cells"], 2 + ("reads", "writes", "trims").index(kind), joined).items()
    ]
    domain = alt.Scale(domain=[0, profile["info"]["span_bytes"] / unit_bytes], nice=False)
    shade = alt.Scale(type="log", range=["#e6ebf1", _COLOURS[kind], "#1c2430"], interpolate="lab")
    chart: alt.Chart = (
        alt.Chart(_table(rows))
        .mark_rect(clip=True, aria=False)  # or each of thousands of cells would have a label
        .encode(
            x=x,
            x2="end:Q",
            y=alt.Y("from:Q", title=f"{kind} start at ({unit})", scale=domain, axis=alt.Axis(tickCount=5)),
            y2="to:Q",
            color=alt.Color("n:Q", scale=shade, legend=_shades(kind)),
            tooltip=[alt.Tooltip("n:Q", title=kind), alt.Tooltip("time:Q"), alt.Tooltip("from:Q", title=unit)],
        )
        .properties(width=_view(on), height=_MAP_HEIGHT)
    )
    return chart


def _shades(kind: str) -> alt.Legend:
    """Below the map: beside it, it would leave a phone no room."""
    return alt.Legend(
        orient="bottom", direction="horizontal", title=f"{kind} to a dot", tickCount=4, format="~s", gradientLength=160
    )


def _table(rows: list[dict[str, Any]]) -> alt.InlineData:
    """Make data of rows, as CSV: smaller than JSON, and Altair does not check each of tens of thousands of them."""
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    return alt.InlineData(values="\n".join(lines), format=alt.CsvDataFormat(type="csv"))


def _joined(cells: list[list[int]], column: int, joined: int) -> dict[tuple[int, int], int]:
    """Sum one column of the cells over squares of `joined` × `joined` cells."""
    sums: dict[tuple[int, int], int] = {}
    for cell in cells:
        if cell[column]:
            place = (cell[0] // joined, cell[1] // joined)
            sums[place] = sums.get(place, 0) + cell[column]
    return sums


def _sizes(profile: Json, on: Canvas) -> alt.Chart:
    kinds = [kind for kind in ("reads", "writes", "trims") if profile["info"][kind]]
    found = {size["bytes"]: size for size in profile["sizes"]}
    sizes = [2**power for power in range(min(found).bit_length() - 1, max(found).bit_length())]
    rows = [
        {"size": f"≤ {_binary(size)}", "kind": kind, "n": found[size][kind] if size in found else 0}
        for size in sizes
        for kind in kinds
    ]
    order: list[Any] = [f"≤ {_binary(size)}" for size in sizes]
    chart: alt.Chart = (
        alt.Chart(_table(rows))
        .mark_bar()
        .encode(
            x=alt.X("size:N", sort=order, title="size of a request", axis=on.named(order)),
            xOffset=alt.XOffset("kind:N", sort=list(kinds)),
            y=alt.Y("n:Q", title="requests", axis=alt.Axis(tickCount=4)),
            color=_colour(kinds, on),
            tooltip=["kind:N", "size:N", alt.Tooltip("n:Q", title="requests")],
        )
        .properties(width=_view(on), height=_HEIGHT)
    )
    return chart


def _reuse(profile: Json, on: Canvas) -> alt.Chart:
    reuse = profile["reuse"]
    rows = [
        {"size": short(pages * reuse["page_bytes"] / 2**20), "hits": short(100 * ratio)}
        for pages, ratio in reuse["points"]
    ]
    axis = alt.Axis(format="~g", **_fitting(on))
    title = "size of an LRU cache of 4 KiB pages (MiB)"
    x = alt.X("size:Q", title=title, scale=alt.Scale(type="log", nice=False), axis=axis)
    sampled = "" if reuse["sampled"] == 1 else f", from {100 * reuse['sampled']:.2g} % of the pages"
    chart: alt.Chart = (
        alt.Chart(_table(rows))
        .mark_line(interpolate="step-after", color=_COLOURS["reads"])
        .encode(
            x=x,
            y=alt.Y("hits:Q", title=f"hits (%{sampled})", scale=alt.Scale(domain=[0, 100])),
            tooltip=[alt.Tooltip("size:Q", title="MiB"), alt.Tooltip("hits:Q", title="hits, %", format=".4~g")],
        )
        .properties(width=_view(on), height=_HEIGHT)
    )
    return chart


def _binary(size: int) -> str:
    unit = next(((scale, name) for scale, name in _SIZE_UNITS if size >= scale), (1, "B"))
    return f"{size // unit[0]} {unit[1]}"


def _words(profile: Json) -> tuple[str, str]:
    """Title and subtitle."""
    info = profile["info"]
    kinds = ", ".join(f"{count(info[kind])} {kind}" for kind in _COLOURS if info[kind])
    lasting = f"{duration(info['duration_ns'])}, {info['format']}"
    touched = f"{si(info['span_bytes'], 'B')} spanned by {len(info['devices'])} device" + "s" * (
        len(info["devices"]) > 1
    )
    return f"{info['file']}: {kinds}", f"{lasting}; {touched}"
