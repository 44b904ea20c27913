"""The long lists of a report as frames of polars, which every Arrow library reads without a copy.

Units stand last in the names of columns.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.files import printable
from flashwatt.base.outputs import replacing, save

if TYPE_CHECKING:
    from os import PathLike

    from flashwatt.base.files import Json

_OP_LOG = {
    "record": pl.Categorical,
    "cause": pl.Categorical,
    "die": pl.UInt32,
    "block": pl.UInt32,
    "page": pl.UInt32,
    "start_ns": pl.UInt64,
    "array_start_ns": pl.UInt64,
    "array_end_ns": pl.UInt64,
    "out_start_ns": pl.UInt64,
    "end_ns": pl.UInt64,
    "map_accesses": pl.UInt32,
    "bytes": pl.UInt64,
}

_OP_LOG_OF_CELLS = {
    **_OP_LOG,
    "in_end_ns": pl.UInt64,
    "row_pages": pl.UInt32,
    "planes": pl.UInt32,
    "page_type": pl.Categorical,
    "mode": pl.Categorical,
    "suspensions": pl.String,
    "earlier_moves": pl.String,
}
"""Of a drive with rows and cells."""

_REQUEST_LOG = {
    "kind": pl.Categorical,
    "arrival_ns": pl.UInt64,
    "start_ns": pl.UInt64,
    "end_ns": pl.UInt64,
    "offset_bytes": pl.UInt64,
    "bytes": pl.UInt64,
    "origin": pl.UInt16,
}

_TRACE = {
    "time_us": pl.Float64,
    "device": pl.UInt32,
    "op": pl.Categorical,
    "offset": pl.UInt64,
    "bytes": pl.UInt64,
    "fua": pl.UInt8,
    "process": pl.UInt32,
    "sync": pl.UInt8,
}


def series(report: Json) -> pl.DataFrame:
    """Power over time and what the drive did, one row per bin; the last one ends with the run."""
    recorded = report.get("series")
    if not recorded:
        raise _core.FlashwattError("the report holds no power over time; ask for it: run(..., series=True)")
    components = {f"{name}_w": watts for name, watts in recorded["power_w"].items()}
    frame = pl.DataFrame(components, schema=dict.fromkeys(components, pl.Float64))
    first, interval = recorded["start_ns"], recorded["interval_ns"]
    end = min(first + round(report["throughput"]["simulated_s"] * 1e9), 2**63 - 1)
    start = first + pl.int_range(pl.len(), dtype=pl.Int64) * interval
    power = frame.select(
        start.alias("start_ns"),
        pl.min_horizontal(start + interval, pl.lit(end, pl.Int64)).alias("end_ns"),
        pl.all(),
        pl.sum_horizontal(pl.all()).alias("total_w"),
    )
    return power.with_columns(*_activity(recorded.get("activity") or {}))


def _activity(activity: Json) -> list[pl.Series]:
    """What an SSD did, beside its power."""
    by_cause = activity.get("energy_by_cause_j", {})
    columns = {key: values for key, values in activity.items() if key != "energy_by_cause_j"}
    columns |= {f"energy_{cause}_j": values for cause, values in by_cause.items()}
    kinds = {int: pl.Int64, float: pl.Float64}
    kind = {key: kinds.get(type(next(iter(values), 0.0)), pl.Float64) for key, values in columns.items()}
    return [pl.Series(key, values, kind[key]) for key, values in columns.items()]


def edges(report: Json) -> pl.DataFrame:
    """Current as it changed, one row from each change to the next; the last one ends with the window."""
    recorded = report.get("edges")
    if not recorded:
        asked = "run(..., edges=(from_ns, until_ns))"
        raise _core.FlashwattError(f"the report holds no edges of the current; ask for them: {asked}")
    components = {f"{name}_ma": milliamperes for name, milliamperes in recorded["current_ma"].items()}
    start = recorded["time_ns"]
    times = {"start_ns": start, "end_ns": [*start[1:], recorded["until_ns"]][: len(start)]}
    columns = {**times, **components, "total_ma": recorded["total_ma"]}
    schema = {name: pl.Int64 if name in times else pl.Float64 for name in columns}
    return pl.DataFrame(columns, schema=schema)


def latency(report: Json) -> pl.DataFrame:
    """Distribution of latencies, one row per bin that is not empty."""
    histogram = report.get("latency_histogram")
    if not histogram:
        raise _core.FlashwattError("the report holds no histogram of latencies; ask for it: run(..., latency=True)")
    schema = {"upper_ns": pl.UInt64, "count": pl.UInt64}
    parts = [
        pl.DataFrame(bars, schema=schema).select(pl.lit(kind).alias("kind"), pl.all())
        for kind, bars in histogram.items()
    ]
    count = pl.col("count")
    share = (1 - (count.sum() - count.cum_sum()) / count.sum()).over("kind")  # exactly 1 in the last bin
    kind = pl.col("kind").cast(pl.Enum(list(histogram)))
    return pl.concat(parts).with_columns(kind, share.alias("cumulative_fraction"))


def op_log(path: str | PathLike[str]) -> pl.LazyFrame:
    """Give the operation log of a run (`--op-log FILE`) as a lazy frame."""
    path = Path(path)
    if path.suffix == ".parquet":
        return pl.scan_parquet(path)
    with path.open(encoding="utf-8", errors="replace") as log:
        has_cells = log.readline().rstrip("\n").split(",") == list(_OP_LOG_OF_CELLS)
    return pl.scan_csv(path, schema=_OP_LOG_OF_CELLS if has_cells else _OP_LOG)


def request_log(path: str | PathLike[str]) -> pl.LazyFrame:
    """Give the log of a run's requests (`--request-log FILE`) as a lazy frame."""
    path = Path(path)
    return pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_csv(path, schema=_REQUEST_LOG)


def dispatch_log(path: str | PathLike[str]) -> pl.LazyFrame:
    """Give the log of the requests that the block layer dispatched (`--dispatch-log FILE`) as a lazy frame."""
    return _trace(path)


def capture(path: str | PathLike[str]) -> pl.LazyFrame:
    """Give the requests as the workload sent them (`--capture FILE`) as a lazy frame."""
    return _trace(path)


def _trace(path: str | PathLike[str]) -> pl.LazyFrame:
    path = Path(path)
    if path.suffix == ".parquet":
        return pl.scan_parquet(path)
    return pl.scan_csv(path, schema=_TRACE, comment_prefix="#")


def column(name: str, values: list[Any]) -> pl.Series:
    """Make a column of values of any kinds: tables and lists as JSON, mixed kinds as text."""
    values = [json.dumps(value) if isinstance(value, dict | list) else value for value in values]
    found = {type(value) for value in values if value is not None}
    if found == {int, float}:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    if len(found) > 1:
        return pl.Series(name, [value if value is None else str(value) for value in values], dtype=pl.String)
    return pl.Series(name, values, dtype=None if found else pl.Float64)


def write(frame: pl.DataFrame, path: Path, *, force: bool = False) -> None:
    """Write a frame as Parquet. Raises `FlashwattError` as `flashwatt.base.outputs.save` does."""
    content = io.BytesIO()  # polars does not say why a file cannot be written
    frame.write_parquet(content, metadata=marks.PARQUET)
    save(path, content.getvalue(), marks.TABLE, force=force)


def sink(frame: pl.LazyFrame, path: Path, *, force: bool = False) -> None:
    """Write a frame as Parquet piece by piece, in bounded memory. Raises `FlashwattError` as `write` does."""
    with replacing(path, marks.TABLE, force=force) as part:
        try:
            frame.sink_parquet(part, metadata=marks.PARQUET)
        except pl.exceptions.PolarsError as error:
            found = f"{printable(path)}: cannot be written; found: {error}"
            raise _core.FlashwattError(f"{found}; expected room for it; a file of that name stays as it was") from None
