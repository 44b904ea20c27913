"""The conversion as a whole: MQSim's files in, the text of a configuration out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base.files import printable
from flashwatt.base.plain import plain
from flashwatt.config.reference import preset as described
from flashwatt.mqsim import flows as scenarios
from flashwatt.mqsim import jobs, tree, workload
from flashwatt.mqsim.draft import Draft
from flashwatt.mqsim.drive import Drive
from flashwatt.mqsim.flows import check_top
from flashwatt.mqsim.tree import Element, fault
from flashwatt.mqsim.values import Values, values
from flashwatt.mqsim.watermark import fit_watermark

if TYPE_CHECKING:
    from flashwatt.mqsim.flows import Flow

PRESET = "limit"
"""The preset for what MQSim's files leave open, as in the comparison with MQSim (`reproduce --paper peers`)."""

_ROOT, _HOST, _DEVICE, _FLASH = (
    "Execution_Parameter_Set",
    "Host_Parameter_Set",
    "Device_Parameter_Set",
    "Flash_Parameter_Set",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be converted."""

    drive: Path
    workload: Path | None = None
    scenario: int | None = None
    flow: int | None = None
    preset: str = PRESET
    out: Path | None = None
    """The file that the configuration goes to: paths in it lead from its directory."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A configuration, and the fio job file that it names, if it does."""

    config: str
    jobs: str | None = None
    said: str = ""
    """How many keys were approximated, and how many have no counterpart."""


def convert(asked: Asked) -> Converted:
    """Convert a drive of MQSim, and the flows of a scenario. Raises `FlashwattError` for what is no drive."""
    _check_preset(asked.preset)
    host, device, flash = _sections(asked.drive)
    flows = []
    if asked.workload:
        flows = scenarios.read(asked.workload, asked.scenario, asked.flow, device, flash)
    drive = Drive(host, device, flash, flows)
    draft = Draft()
    file = printable(asked.drive)
    draft.choose("device.preset", asked.preset, "for what MQSim's files leave open: currents and voltages above all")
    if "device.scale" in described(asked.preset)[1]:
        draft.choose("device.scale", 1.0, "the whole drive")
    if "controller.read_transfer" in described(asked.preset)[1]:
        draft.choose("controller.read_transfer", "on_bus", "the data of MQSim's reads takes a channel")
    drive.add(draft)
    _start(draft, drive)
    fit_watermark(draft, file)
    drive_bytes = draft.resolve(file)["device"]["logical_bytes"]
    job_text = _workload(draft, asked, flows, (drive_bytes, drive.logical_bytes))
    if job_text is None:
        draft.resolve(file)
    draft.exact |= drive.exact() | _exact_parts(drive)
    unused = drive.unused() | workload.unused(flows)
    if not device["Enabled_Preconditioning"]:
        unused["Initial_Occupancy_Percentage"] = "Enabled_Preconditioning is false"
    for one in (host, device, flash, *(flow.values for flow in flows)):
        draft.account(one, unused)
    if job_text is not None:
        draft.kept |= dict.fromkeys(draft.kept.keys() & flows[0].values.keys.keys(), "in the job file")
    said = f"{len(draft.near)} keys of MQSim were approximated, {len(draft.none)} have no counterpart"
    return Converted(_head(asked, flows) + draft.body() + draft.remarks(), job_text, said)


def _check_preset(name: str) -> None:
    if any(key.startswith("hdd.") for key in described(name)[1]):
        raise _core.FlashwattError(
            f"{name}: a disk; expected the preset of an SSD, whose currents the drive is to have"
        )


def _sections(path: Path) -> tuple[Values, Values, Values]:
    """Read the three elements of a drive. The host's may be missing: MQSim has values of its own for it."""
    file = printable(path)
    top = tree.read(path)
    check_top(file, top, _ROOT)
    found = _inner(file, top, (_HOST, _DEVICE))
    if _DEVICE not in found:
        raise fault(file, top.line, top.name, f"no <{_DEVICE}>", "one, with the drive in it")
    flash = [one for one in found[_DEVICE].inner if one.name == _FLASH]
    if len(flash) != 1:
        raise fault(
            file, found[_DEVICE].line, _DEVICE, f"{len(flash)} elements <{_FLASH}>", "one, with the flash in it"
        )
    host = found.get(_HOST) or Element(_HOST, top.line)
    return values(file, host), values(file, found[_DEVICE], frozenset({_FLASH})), values(file, flash[0])


def _inner(file: str, top: Element, names: tuple[str, ...]) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for one in top.inner:
        if one.name not in names or one.name in found:
            raise fault(file, one.line, top.name, f"<{one.name}>", " and ".join(f"one <{name}>" for name in names))
        found[one.name] = one
    return found


def _start(draft: Draft, drive: Drive) -> None:
    """Add the start state; a drive that holds data in a part of its pages is made as small as that part."""
    device, flows = drive.device, drive.flows
    source = device.of("Enabled_Preconditioning")
    if not device["Enabled_Preconditioning"]:
        empty = flows and all(flow.writes_only for flow in flows)
        draft.take("run.precondition", "empty" if empty else "filled", source)
        return
    reads = flows and all(flow.reads_only for flow in flows)
    draft.take(
        "run.precondition",
        "filled" if reads else "steady",
        source,
        "" if reads else "minutes on a large drive; see docs/from-mqsim.md",
    )
    if not flows:
        return
    percent = max(max(flow.values["Initial_Occupancy_Percentage"], _working_set(flow)) for flow in flows)
    page = drive.flash["Page_Capacity"]
    logical = drive.logical_bytes * percent // 100 // page * page
    if percent == 100:  # noqa: PLR2004
        return
    at = next(at for at, line in enumerate(draft.lines) if line.key == "spare_fraction")
    sources = flows[0].values.of("Initial_Occupancy_Percentage")
    draft.take("device.logical_bytes", logical, sources, f"{percent} % of {drive.logical_bytes:,}, the pages with data")
    draft.lines[at] = draft.lines.pop()


def _working_set(flow: Flow) -> int:
    percent: int = 100 if flow.is_trace else flow.values["Working_Set_Percentage"]
    return percent


def _workload(draft: Draft, asked: Asked, flows: list[Flow], sizes: tuple[int, int]) -> str | None:
    """Add the workload; give the text of a job file if it is one."""
    if not flows or not asked.workload:
        return None
    beside = asked.out.parent if asked.out else Path()
    kinds = {flow.is_trace for flow in flows}
    if len(kinds) > 1:
        found = f"found {len(flows)} flows, of traces and synthetic ones; expected --flow 1 to {len(flows)}"
        raise _core.FlashwattError(f"{printable(asked.workload)}: {found}: a run replays traces or draws requests")
    if kinds == {True}:
        workload.add_traces(draft, flows, asked.workload, beside)
        return None
    page = next(line.value for line in draft.lines if line.key == "page_bytes")
    spans = [workload.range_of(flow, *sizes, page) for flow in flows]
    if len(flows) == 1:
        workload.add_model(draft, flows[0], spans[0])
        return None
    if asked.out is None:
        found = f"found {len(flows)} flows, which become a fio job file beside the configuration"
        expected = f"expected --out FILE for both, or --flow 1 to {len(flows)} for one of them"
        raise _core.FlashwattError(f"{printable(asked.workload)}: {found}; {expected}")
    if job_file(asked.out) == asked.out:
        found = f"found {printable(asked.out)}, which is the name of the job file of the flows"
        raise _core.FlashwattError(f"--out: {found}; expected a name that ends in .toml")
    depth = next(line.value for line in draft.lines if line.key == "queue_depth")
    draft.choose("workload.fio.path", job_file(asked.out).name, f"{len(flows)} flows, a job for each")
    draft.near["several flows"] = (
        "jobs of one fio job file: shares of lengths in whole percents, rates in whole requests per second"
    )
    said = plain(f"The flows of {printable(asked.workload)}, for {printable(asked.out.name)}.")
    return jobs.text(flows, spans, depth, said)


def job_file(out: Path) -> Path:
    """Name the job file beside a configuration."""
    return out.with_suffix(".fio")


def _exact_parts(drive: Drive) -> set[str]:
    """Name the keys of parts with which all flows use all of a drive."""
    exact = set()
    for at, (name, counted) in enumerate(scenarios.COUNTS.items()):
        count = (drive.device if counted in drive.device.keys else drive.flash)[counted]
        if all(len(flow.parts[at]) == count for flow in drive.flows):
            exact.add(name)
    return exact


def _head(asked: Asked, flows: list[Flow]) -> str:
    """Write the lines above the configuration."""
    lines = [f"A drive of MQSim: {printable(asked.drive)}"]
    if asked.workload:
        number = f"scenario {asked.scenario or 1}"
        one = f", flow {flows[0].number}" if asked.flow else ""
        lines.append(f"Its workload: {printable(asked.workload)}, {number}{one}")
    else:
        lines.append("Without a workload: that of the preset is run; --mqsim-workload converts MQSim's.")
    lines += [
        "Behind each value: the key of MQSim that it came from. The keys that were approximated, and those without a",
        "counterpart, are listed at the end. MQSim knows no energy: that of the preset is reported.",
    ]
    return "".join(f"# {plain(line)}\n" for line in lines)
