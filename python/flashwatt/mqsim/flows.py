"""The flows of a scenario: their values, and the parts and the addresses of the drive that each has."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base.files import printable
from flashwatt.mqsim import tree
from flashwatt.mqsim.tree import fault
from flashwatt.mqsim.values import Values, values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashwatt.mqsim.tree import Element

ROOT = "MQSim_IO_Scenarios"
SYNTHETIC, TRACE = "IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based"
COUNTS = {
    "Channel_IDs": "Flash_Channel_Count",
    "Chip_IDs": "Chip_No_Per_Channel",
    "Die_IDs": "Die_No_Per_Chip",
    "Plane_IDs": "Plane_No_Per_Die",
}
"""The keys of a flow that name parts of the drive, and those of the drive that say how many there are."""

_FLOWS_MAX = 64
_PARTS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow."""

    number: int
    values: Values
    parts: tuple[tuple[int, ...], ...]
    """Its channels, chips, dies and planes."""
    begin: float
    length: float
    """The addresses that it has, as shares of the drive's."""

    @property
    def is_trace(self) -> bool:
        """Whether it replays a trace."""
        return self.values.section == TRACE

    @property
    def reads_only(self) -> bool:
        """Whether it writes nothing; of a trace that is not known."""
        return not self.is_trace and self.values["Read_Percentage"] == 100  # noqa: PLR2004

    @property
    def writes_only(self) -> bool:
        """Whether it reads nothing; of a trace that is not known."""
        return not self.is_trace and self.values["Read_Percentage"] == 0


def read(path: Path, scenario: int | None, flow: int | None, drive: Values, flash: Values) -> list[Flow]:
    """Read the flows of a scenario, or one of them. Raises `FlashwattError` for several scenarios and no choice."""
    top = tree.read(path)
    file = printable(path)
    check_top(file, top, ROOT)
    elements = _of_scenario(file, top, scenario)
    read = [values(file, one) for one in elements]
    parts = [_parts(one, drive, flash) for one in read]
    shares = _shares(parts)
    flows = [
        Flow(number, one, part, sum(shares[: number - 1]), shares[number - 1])
        for number, (one, part) in enumerate(zip(read, parts, strict=True), 1)
    ]
    if flow is None:
        return flows
    if flow > len(flows):
        raise _core.FlashwattError(f"--flow: found {flow}; expected {_range(len(flows))}, as the scenario has")
    return [flows[flow - 1]]


def check_top(file: str, top: Element, expected: str) -> None:
    """Raise `FlashwattError` for a file with another outermost element, and say what that is."""
    if top.name == expected:
        return
    known = {
        ROOT: "a workload of MQSim; give it as --mqsim-workload",
        "Execution_Parameter_Set": "a drive of MQSim; give it as --mqsim",
        "MQSim_Results": "the results of a run of MQSim, which say nothing of the drive",
    }
    found = f"<{top.name}>{f' ({known[top.name]})' if top.name in known else ''}"
    raise fault(file, top.line, "outermost element", found, f"<{expected}>")


def _range(count: int) -> str:
    return "1" if count == 1 else f"1 to {count}"


def _of_scenario(file: str, top: Element, number: int | None) -> list[Element]:
    for one in top.inner:
        if one.name != "IO_Scenario":
            raise fault(file, one.line, top.name, f"<{one.name}>", "<IO_Scenario>")
    count = len(top.inner)
    if not count:
        raise fault(file, top.line, top.name, "no scenario", "at least one <IO_Scenario>")
    if number is None and count > 1:
        expected = f"--scenario 1 to {count}: MQSim runs one after the other, a configuration is one run"
        raise fault(file, top.line, top.name, f"{count} scenarios", expected)
    if number is not None and number > count:
        raise fault(file, top.line, "--scenario", str(number), f"{_range(count)}, as the file has")
    scenario = top.inner[(number or 1) - 1]
    for one in scenario.inner:
        if one.name not in (SYNTHETIC, TRACE):
            raise fault(file, one.line, scenario.name, f"<{one.name}>", f"<{SYNTHETIC}> or <{TRACE}>")
    if not 0 < len(scenario.inner) <= _FLOWS_MAX:
        raise fault(file, scenario.line, scenario.name, f"{len(scenario.inner)} flows", f"1 to {_FLOWS_MAX}")
    return scenario.inner


def _parts(flow: Values, drive: Values, flash: Values) -> tuple[tuple[int, ...], ...]:
    """Give the parts of a flow; those of a key that is not given, and all with SATA, are all."""
    found = []
    for name, counted in COUNTS.items():
        count = (drive if counted in drive.keys else flash)[counted]
        ids = flow[name] or tuple(range(count))
        if ids[-1] >= count:
            raise flow.fault(name, f"numbers from 0 to {count - 1}: {counted} is {count}")
        found.append(tuple(range(count)) if drive["HostInterface_Type"] == "SATA" else ids)
    return tuple(found)


def _shares(parts: Sequence[tuple[tuple[int, ...], ...]]) -> list[float]:
    """Give the share of the drive's addresses of each flow: flows have equal shares of each plane that they use."""
    if len(set(parts)) == 1:
        return [1 / len(parts)] * len(parts)
    planes = [[*product(*one)] for one in parts if _count(one) <= _PARTS_MAX]
    if len(planes) < len(parts):
        return [1 / len(parts)] * len(parts)
    users: dict[tuple[int, ...], int] = {}
    for one in planes:
        for plane in one:
            users[plane] = users.get(plane, 0) + 1
    weights = [sum(1 / users[plane] for plane in one) for one in planes]
    return [weight / sum(weights) for weight in weights]


def _count(parts: tuple[tuple[int, ...], ...]) -> int:
    count = 1
    for one in parts:
        count *= len(one)
    return count
