"""Several synthetic flows as the jobs of one fio job file: jobs run beside each other, as flows do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.mqsim.workload import SECTOR_BYTES, check_end, lengths_of, rate_per_s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashwatt.mqsim.flows import Flow
    from flashwatt.mqsim.values import Values

_MODES = ("write", "rw", "read")


def text(flows: list[Flow], spans: list[tuple[int, int]], queue_depth: int, said: str) -> str:
    """Write the job file."""
    lines = [f"# {said}", "[global]", "ioengine=libaio", "direct=1", "randrepeat=0"]
    for flow, span in zip(flows, spans, strict=True):
        lines += ["", f"[flow-{flow.number}]", *_job(flow.values, span, queue_depth)]
    return "\n".join(lines) + "\n"


def _job(given: Values, span: tuple[int, int], queue_depth: int) -> Iterator[str]:
    check_end(given)
    reads = given["Read_Percentage"]
    mode = _MODES[(reads > 0) + (reads == 100)]  # noqa: PLR2004
    lengths = lengths_of(given)
    align = (given["Address_Alignment_Unit"] if given["Generated_Aligned_Addresses"] else 1) * SECTOR_BYTES
    room = f"less than the {span[1] // SECTOR_BYTES:,} sectors that the flow works on"
    if max(size for size, _ in lengths) > span[1]:
        raise given.fault("Average_Request_Size", room)
    if align > span[1]:
        raise given.fault("Address_Alignment_Unit", room)
    streams = given["Address_Distribution"] == "STREAMING"
    if streams:
        skip = -lengths[0][0] % align if len(lengths) == 1 else 0
        yield f"rw={mode}{f':{skip}' if skip else ''}"
    else:
        yield f"rw={'randrw' if mode == 'rw' else f'rand{mode}'}"
        yield "norandommap"
        yield f"blockalign={align}"
        hot = given["Percentage_of_Hot_Region"] if given["Address_Distribution"] == "RANDOM_HOTCOLD" else 0
        if hot:
            yield f"random_distribution=zoned:{100 - hot}/{hot}:{hot}/{100 - hot}"
    if mode == "rw":
        yield f"rwmixread={reads}"
    yield from _lengths(lengths)
    yield f"offset={span[0]}"
    yield f"size={span[1]}"
    yield from _pace(given, queue_depth)
    yield from _end(given, max(size for size, _ in lengths))


def _lengths(lengths: list[tuple[int, float]]) -> Iterator[str]:
    """Give the lengths; shares are whole percents, which add up to 100."""
    if len(lengths) == 1:
        yield f"bs={lengths[0][0]}"
        return
    percents = {size: round(share * 100) for size, share in lengths if round(share * 100)}
    most = max(percents, key=lambda size: percents[size])
    percents[most] += 100 - sum(percents.values())
    yield f"bssplit={':'.join(f'{size}/{percent}' for size, percent in percents.items())}"


def _pace(given: Values, queue_depth: int) -> Iterator[str]:
    if given["Synthetic_Generator_Type"] == "QUEUE_DEPTH":
        yield f"iodepth={given['Average_No_of_Reqs_in_Queue']}"
        return
    rate, reads = rate_per_s(given), given["Read_Percentage"] / 100
    both = [max(1, round(rate * share)) for share in (reads, 1 - reads)]
    yield f"iodepth={queue_depth}"
    yield f"rate_iops={both[0]},{both[1]}" if 0 < reads < 1 else f"rate_iops={max(1, round(rate))}"
    yield "rate_process=poisson"


def _end(given: Values, most_bytes: int) -> Iterator[str]:
    if given["Stop_Time"]:
        yield f"runtime={max(1, round(given['Stop_Time'] / 1000))}us"
        yield "time_based"
        return
    yield f"number_ios={given['Total_Requests_To_Generate']}"
    yield f"io_size={given['Total_Requests_To_Generate'] * most_bytes}"
