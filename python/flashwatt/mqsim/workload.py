"""The workload: one synthetic flow as a model, or the traces of flows as one replay."""

from __future__ import annotations

import os
from math import erf, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt.base.reads import reads

if TYPE_CHECKING:
    from flashwatt.mqsim.draft import Draft
    from flashwatt.mqsim.flows import Flow
    from flashwatt.mqsim.values import Values

SECTOR_BYTES = 512
REQUESTS_MAX = 10**15
"""Of a model whose end is a time."""
_LENGTHS_MAX = 32
_MODELS = {"STREAMING": "sequential", "RANDOM_UNIFORM": "uniform", "RANDOM_HOTCOLD": "hot_cold"}


def range_of(flow: Flow, drive_bytes: int, whole_bytes: int, page_bytes: int) -> tuple[int, int]:
    """Give the first byte of a flow's range, and its length.

    The flow's part of the drive begins at a page; the share that it works on is one of MQSim's drive, which is larger
    if only the pages with data were kept.
    """
    begin = int(flow.begin * drive_bytes) // page_bytes * page_bytes
    share = flow.values["Working_Set_Percentage"] / 100
    length = int(flow.length * whole_bytes * share) // SECTOR_BYTES * SECTOR_BYTES
    return begin, min(length, drive_bytes - begin)


def add_model(draft: Draft, flow: Flow, span: tuple[int, int]) -> None:
    """Add the lines of a synthetic flow."""
    given = flow.values
    name = _model(given)
    table = f"workload.{name}"
    stop, count = given["Stop_Time"], given["Total_Requests_To_Generate"]
    check_end(given)
    if stop:
        draft.take(f"{table}.requests", REQUESTS_MAX, given.of("Stop_Time"), "the time ends it")
    else:
        draft.take(f"{table}.requests", count, given.of("Total_Requests_To_Generate"))
    sizes = (
        "Average_Request_Size",
        *(("Variance_Request_Size",) if given["Request_Size_Distribution"] == "NORMAL" else ()),
    )
    lengths = lengths_of(given)
    sole = lengths[0][0] if len(lengths) == 1 else [list(one) for one in lengths]
    draft.take(f"{table}.request_bytes", sole, given.of(*sizes), "sectors of 512 bytes")
    draft.take(f"{table}.read_fraction", given["Read_Percentage"] / 100, given.of("Read_Percentage"))
    aligned = given["Generated_Aligned_Addresses"]
    align = given["Address_Alignment_Unit"] if aligned else 1
    names = ("Address_Alignment_Unit",) if aligned else ("Generated_Aligned_Addresses",)
    draft.take(f"{table}.align_bytes", align * SECTOR_BYTES, given.of(*names))
    if span[0]:
        draft.choose(f"{table}.start_bytes", span[0], f"the part of flow {flow.number}")
    draft.take(f"{table}.range_bytes", span[1], given.of("Working_Set_Percentage"))
    if given["Synthetic_Generator_Type"] == "QUEUE_DEPTH":
        draft.take(
            f"{table}.queue_depth", given["Average_No_of_Reqs_in_Queue"], given.of("Average_No_of_Reqs_in_Queue")
        )
    else:
        draft.take(f"{table}.rate_per_s", rate_per_s(given), given.of("Bandwidth"), "over the average length")
        draft.choose(f"{table}.gaps", "exponential", "as in MQSim")
    if name == "hot_cold":
        hot = given["Percentage_of_Hot_Region"]
        draft.take(f"{table}.hot_fraction", hot / 100, given.of("Percentage_of_Hot_Region"))
        draft.take(
            f"{table}.hot_share",
            (100 - hot) / 100,
            given.of("Percentage_of_Hot_Region"),
            "MQSim gives the hot part the rest of 100 %",
        )
    if stop:
        draft.take("run.measure.seconds", stop / 1e9, given.of("Stop_Time"))


def check_end(given: Values) -> None:
    """Raise `FlashwattError` for a flow that sends nothing."""
    if not given["Stop_Time"] and not given["Total_Requests_To_Generate"]:
        raise given.fault(
            "Stop_Time", "a time of more than 0 ns, or Total_Requests_To_Generate: the flow sends nothing"
        )


def _model(given: Values) -> str:
    """Name the model; a hot region of nothing is none."""
    if given["Address_Distribution"] == "RANDOM_HOTCOLD" and given["Percentage_of_Hot_Region"] == 0:
        return "uniform"
    return _MODELS[given["Address_Distribution"]]


def rate_per_s(given: Values) -> float:
    """Give the requests per second of a flow by bandwidth."""
    rate: float = given["Bandwidth"] / (given["Average_Request_Size"] * SECTOR_BYTES)
    return rate


def lengths_of(given: Values) -> list[tuple[int, float]]:
    """Give the lengths of requests in bytes with their shares: one, or those of a normal distribution."""
    mean = given["Average_Request_Size"]
    deviation = given["Variance_Request_Size"] if given["Request_Size_Distribution"] == "NORMAL" else 0
    if not deviation:
        return [(mean * SECTOR_BYTES, 1.0)]
    least, most = max(1, int(mean - 4 * deviation)), int(mean + 4 * deviation) + 1
    step = -(-(most - least + 1) // _LENGTHS_MAX)
    shares: list[tuple[int, float]] = []
    for last in range(least + step - 1, most + step, step):
        # MQSim rounds up, and takes one sector for less: the first length has all below it.
        below = 0.0 if last < least + step else _normal(last - step, mean, deviation)
        above = 1.0 if last >= most else _normal(last, mean, deviation)
        shares.append(((last - (step - 1) // 2) * SECTOR_BYTES, round(above - below, 6)))
    return [one for one in shares if one[1] > 0]


def _normal(value: float, mean: float, deviation: float) -> float:
    return (1 + erf((value - mean) / deviation / sqrt(2))) / 2


def add_traces(draft: Draft, flows: list[Flow], workload: Path, beside: Path) -> None:
    """Add the lines of flows that replay traces: one replay of all of them."""
    first = flows[0].values
    table = "workload.trace"
    for name in ("Percentage_To_Be_Executed", "Relay_Count", "Time_Unit"):
        other = next((flow.values for flow in flows if flow.values[name] != first[name]), None)
        if other:
            raise other.fault(
                name, f"{first[name]}, as of the first flow: one replay has one (--flow N takes one flow)"
            )
    paths = [_found(flow.values, workload, beside) for flow in flows]
    sources = [flow.values.of("File_Path")[0] for flow in flows]
    missing = [path for path in paths if not (beside / path).is_file()]
    said = f"no such file when this was written: {', '.join(missing)}" if missing else ""
    draft.take(f"{table}.path", paths if len(paths) > 1 else paths[0], sources, said)
    draft.choose(f"{table}.format", "ssdsim", "MQSim's ASCII traces")
    unit = first.of("Time_Unit")
    draft.take(f"{table}.time_unit", "us" if first["Time_Unit"] == "MICROSECOND" else "ns", unit)
    if first["Time_Unit"] == "PICOSECOND":
        draft.take(f"{table}.speed", 1000, unit, "ps are read as ns, and divided")
    draft.choose(f"{table}.fold", True, "MQSim takes addresses modulo the flow's part of the drive")
    if first["Relay_Count"] > 1:
        draft.take(f"{table}.repeat", first["Relay_Count"], first.of("Relay_Count"))
    elif first["Percentage_To_Be_Executed"] < 100:  # noqa: PLR2004
        _add_share(draft, flows, [beside / path for path in paths])


def _add_share(draft: Draft, flows: list[Flow], paths: list[Path]) -> None:
    """Limit the replay to a share of the records, which takes counting them."""
    given = flows[0].values
    try:
        records = sum(_lines(path) for path in paths)
    except OSError:
        raise given.fault(
            "Percentage_To_Be_Executed", "100, or a trace that is there: its records must be counted"
        ) from None
    most = records * given["Percentage_To_Be_Executed"] // 100
    if not most:
        raise given.fault("Percentage_To_Be_Executed", f"a share that is a request or more: the trace has {records}")
    draft.take("workload.trace.max_requests", most, given.of("Percentage_To_Be_Executed"), f"of {records:,}")


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for line in file if line.strip())


def _found(given: Values, workload: Path, beside: Path) -> str:
    """Give the path of a trace from the directory of the configuration; one that is not there as it stands."""
    name: str = given["File_Path"]
    for place in (Path(), workload.parent):
        path = place / name
        try:
            if path.is_file():
                reads(path)  # no output may replace it
                return str(path) if path.is_absolute() else Path(os.path.relpath(path, beside)).as_posix()
        except (OSError, ValueError):  # a name that no file can have
            break
    return name


def unused(flows: list[Flow]) -> dict[str, str]:
    """Give the keys that count for none of the flows because of others, each with why."""
    checks: dict[str, tuple[str, tuple[Any, ...]]] = {
        "Percentage_of_Hot_Region": ("Address_Distribution", ("RANDOM_HOTCOLD",)),
        "Variance_Request_Size": ("Request_Size_Distribution", ("NORMAL",)),
        "Average_No_of_Reqs_in_Queue": ("Synthetic_Generator_Type", ("QUEUE_DEPTH",)),
        "Bandwidth": ("Synthetic_Generator_Type", ("BANDWIDTH",)),
        "Address_Alignment_Unit": ("Generated_Aligned_Addresses", (True,)),
        "Percentage_To_Be_Executed": ("Relay_Count", (1,)),
    }
    found = {}
    for name, (other, needed) in checks.items():
        having = [flow.values for flow in flows if name in flow.values.keys]
        if having and not any(one[other] in needed for one in having):
            found[name] = f"{other} is {str(having[0][other]).upper() if other != 'Relay_Count' else having[0][other]}"
    if all(flow.is_trace or flow.values["Stop_Time"] for flow in flows):
        found["Total_Requests_To_Generate"] = "Stop_Time ends the flow"
    return found
