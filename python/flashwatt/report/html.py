"""A report in a notebook: a fragment of HTML with its own style, without scripts and without network access.

Text inherits its colour from the page, so that it is readable on light and dark pages.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from flashwatt.base.plain import plain
from flashwatt.base.units import NOTHING, count, duration, number, percent, si
from flashwatt.report.components import energies
from flashwatt.report.doubts import legend, mark, marks_of_quantile
from flashwatt.report.table import (
    CAUSES,
    KINDS,
    QUANTILES,
    at,
    describe_device,
    describe_workload,
    is_timed,
    kwh,
    marks_shown,
    most,
    part_of,
    spare_flash,
    speed,
    years,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flashwatt.base.files import Json
    from flashwatt.report.comparison import Cell, Comparison, Row


def escape(text: str) -> str:
    """Text from outside as HTML may hold it."""
    return html.escape(plain(text))


_COLOURS = {
    "NAND program": "#f0932b",
    "NAND read": "#3b7dbd",
    "NAND erase": "#d1495b",
    "NAND transfer": "#76b7b2",
    "NAND idle": "#c3cad4",
    "controller active": "#8d99aa",
    "controller idle": "#a9b3c1",
    "DRAM active": "#6c7a8f",
    "DRAM idle": "#7f8b9d",
    "host interface": "#59657a",
}
_OTHERS = ["#f0932b", "#3b7dbd", "#76b7b2", "#d1495b", "#8d99aa", "#6c7a8f", "#e3c567", "#59657a"]
"""The colours of the components of other drives than SSDs, in turn."""
_LEAST_SHARE = 0.0005  # of a bar: less is no pixel


def card(report: Json) -> str:
    """Draw a report."""
    status = report["status"]
    badge = "" if status == "complete" else f'<strong class="fw-bad">{escape(status)}</strong> '
    warnings = "".join(f'<div class="fw-warn">{escape(text)}</div>' for text in report["warnings"])
    parts = [
        f'<div class="fw-head"><b>{escape(describe_device(report))}</b>',
        f'<div class="fw-faint">{badge}{escape(describe_workload(report))}</div></div>',
        warnings,
        _legend(marks_shown(report), [report]),
        f'<div class="fw-tiles">{"".join(_tiles(report))}</div>',
        _bar(report) if is_timed(report) else "",
        f'<div class="fw-tables">{_latency(report)}{_causes(report)}{_origins(report)}</div>',
    ]
    return f'<div class="fw-report"><style>{_STYLE}</style>{"".join(parts)}</div>'


def _legend(marks: Iterable[str], reports: Iterable[Json]) -> str:
    return "".join(f'<div class="fw-warn">{escape(line)}</div>' for line in legend(marks, reports))


def comparison(compared: Comparison) -> str:
    """Draw reports side by side: figures with their changes from the first report, the best in bold, then settings."""
    warnings = "".join(f'<div class="fw-warn">{escape(text)}</div>' for text in compared.warnings())
    doubts = "".join(f'<div class="fw-warn">{escape(line)}</div>' for line in compared.legend())
    tables = [
        _rows(title, list(compared.reports), rows)
        for title, rows in (("Figures", compared.figures()), (compared.heading_of_settings, compared.settings()))
    ]
    inner = f'{warnings}{doubts}<div class="fw-tables">{"".join(tables)}</div>'
    return f'<div class="fw-report"><style>{_STYLE}</style>{inner}</div>'


def _rows(title: str, labels: list[str], rows: list[Row]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(label)}</th>" for label in ("", *labels))
    lines = "".join(f"<tr><td>{escape(row.name)}</td>{''.join(map(_cell, row.cells))}</tr>" for row in rows)
    return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _cell(cell: Cell) -> str:
    text = f"<b>{escape(cell.text)}</b>" if cell.best else escape(cell.text)
    change = f' <span class="fw-faint">{escape(cell.change)}</span>' if cell.change else ""
    return f"<td>{text}{change}</td>"


def _tiles(report: Json) -> Iterator[str]:
    for name, value, more in _timed_tiles(report) if is_timed(report) else _replay_tiles(report):
        yield f'<div class="fw-tile"><span>{name}</span><b>{escape(value)}</b><span>{escape(more)}</span></div>'


def _replay_tiles(report: Json) -> Iterator[tuple[str, str, str]]:
    """Figures of a run without a clock."""
    replay = report["replay"]
    yield _written(report)
    yield "mean write", si(replay["write_bytes_mean"], "B"), f"{number(replay['pages_per_4_kib'])} pages per 4 KiB"
    yield "pages copied", count(replay["copies"]), f"by the rules of {replay['rules']}"


def _written(report: Json) -> tuple[str, str, str]:
    doubt = mark(report, "flash.write_amplification")
    return "write amplification", number(report["flash"]["write_amplification"], 2) + doubt, _erases(report)


def _timed_tiles(report: Json) -> list[tuple[str, str, str]]:
    power = report["power_w"]
    return [
        (
            "energy",
            si(report["energy_j"]["total"], "J") + mark(report, "energy_j.total"),
            f"{si(at(report, 'efficiency', 'j_per_gb'), 'J')}{mark(report, 'efficiency.j_per_gb')} per GB",
        ),
        ("power", si(power["mean"], "W") + mark(report, "power_w.mean"), f"peak {si(power.get('peak'), 'W')}"),
        (
            "throughput",
            f"{count(report['throughput']['iops'])} IOPS{mark(report, 'throughput.iops')}",
            _rates(report),
        ),
        *([_written(report)] if "flash" in report else []),
        (
            "simulated",
            duration(report["throughput"]["simulated_s"] * 1e9),
            f"{count(report['workload']['requests'])} requests",
        ),
        *_costs(report),
    ]


def _costs(report: Json) -> Iterator[tuple[str, str, str]]:
    """What a month and what the flash costs, if the window repeats; of a report that has these figures."""
    efficiency = report["efficiency"]
    if efficiency.get("kwh_per_month") is not None:
        written = si(efficiency.get("j_per_tb_written"), "J")
        yield "a month of this", kwh(efficiency["kwh_per_month"]), f"{written} per TB written"
    if mean := at(report, "lifetime", "mean_wear"):
        worst = at(report, "lifetime", "worst_block", "years")
        more = f"worst block {years(worst)}" if worst is not None else "by mean wear"
        yield "lifetime", years(mean["years"]) + mark(report, "lifetime.mean_wear"), more
    if spare := report.get("spare"):
        effective = percent(spare["effective_op_ratio"])
        yield "spare flash, usable", effective, spare_flash(spare).partition(",")[0]


def _rates(report: Json) -> str:
    through = report["throughput"]
    return f"{number(through['read_mb_s'], 1)} MB/s read, {number(through['write_mb_s'], 1)} written"


def _erases(report: Json) -> str:
    return f"{count(report['flash']['erases']['total'])} blocks erased"


def _requests(report: Json) -> str:
    return f"{count(report['workload']['requests'])} requests"


def _bar(report: Json) -> str:
    """Energy by component as one bar of parts, with a legend."""
    energy = report["energy_j"]
    joules = {name: part or 0.0 for name, part in energies(report).items()}
    total = energy["total"] or 1.0  # nothing has a share of nothing
    shown = {name: value for name, value in joules.items() if value > _LEAST_SHARE * total}
    colours = {name: _COLOURS.get(name) or _OTHERS[place % len(_OTHERS)] for place, name in enumerate(joules)}
    parts = "".join(
        f'<i style="flex:{value:.6g} 0 0;background:{colours[name]}" title="{_said(name, value)}"></i>'
        for name, value in shown.items()
    )
    legend = "".join(
        f'<span><i style="background:{colours[name]}"></i>{name} <b>{percent(value / total)}</b></span>'
        for name, value in shown.items()
    )
    return f'<div class="fw-bar">{parts}</div><div class="fw-legend">{legend}</div>'


def _said(name: str, joules: float) -> str:
    return f"{name}: {si(joules, 'J')}"


def _latency(report: Json) -> str:
    rows = []
    for kind in KINDS:
        figures = at(report, "latency_ns", kind)
        if at(figures, "count"):
            keys = {key: f"latency_ns.{kind}.{key}" for key in QUANTILES.values()}
            times = (duration(figures.get(key)) + mark(report, path) for key, path in keys.items())
            rows.append([kind, count(figures["count"]), *times])
    return _table("Latency", ["", "requests", *QUANTILES], rows)


def _origins(report: Json) -> str:
    """The origins with the most requests: jobs, devices, files."""
    first = most(report.get("origins") or [])
    rows = [
        [
            origin["name"],
            count(origin["requests"]),
            percent(origin["bytes_share"]),
            *speed(origin),
            *(
                duration(latency[key]) + marks_of_quantile(latency["count"], key)
                for latency in [origin["latency_ns"]["all"]]
                for key in ("mean", "p99")
            ),
        ]
        for origin in first
    ]
    return _table("By origin", ["", "requests", "bytes", "IOPS", "MB/s", "mean", "p99"], rows)


def _causes(report: Json) -> str:
    total = at(report, "energy_j", "total")
    joules = {cause: part_of(at(report, "energy_by_cause_j", cause), total) for cause in CAUSES}
    rows = [[cause, si(value, "J"), percent(value / total)] for cause, value in joules.items() if value and total]
    return _table("Energy by cause", ["", "", "share"], rows)


def _table(title: str, columns: Iterable[str], rows: list[list[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell or NOTHING)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_STYLE = """
.fw-report{font:14px/1.45 Helvetica,Arial,sans-serif;max-width:880px;padding:14px 16px;border:1px solid #8884;
border-radius:8px;color:inherit;overflow-x:auto}
.fw-report .fw-faint{opacity:.72}
.fw-report .fw-bad{color:#d1495b}
.fw-report .fw-warn{margin-top:6px;padding:4px 10px;border-left:3px solid #f0932b;background:#f0932b1a}
.fw-report .fw-tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(138px,1fr));gap:10px;margin:14px 0}
.fw-report .fw-tile{display:flex;flex-direction:column}
.fw-report .fw-tile b{font-size:19px;line-height:1.3;white-space:nowrap}
.fw-report .fw-tile span{font-size:12px;opacity:.72}
.fw-report .fw-bar{display:flex;height:16px;border-radius:3px;overflow:hidden;background:#8882}
.fw-report .fw-bar i{min-width:1px}
.fw-report .fw-legend{display:flex;flex-wrap:wrap;gap:3px 16px;margin:8px 0 14px;font-size:12.5px}
.fw-report .fw-legend i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}
.fw-report .fw-tables{display:flex;flex-wrap:wrap;gap:12px 36px;align-items:start}
.fw-report table{border-collapse:collapse;margin:0;font-size:12.5px;background:none;color:inherit}
.fw-report caption{caption-side:top;text-align:left;font-weight:bold;padding:0 0 3px;color:inherit;white-space:nowrap}
.fw-report th,.fw-report td{text-align:right;padding:2px 0 2px 14px;border:0;background:none;font-weight:normal;
white-space:nowrap;font-variant-numeric:tabular-nums}
.fw-report thead th{opacity:.72;border-bottom:1px solid #8886}
.fw-report th:first-child,.fw-report td:first-child{text-align:left;padding-left:0}
""".replace("\n", "")
