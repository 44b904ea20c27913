"""The drive: MQSim's device, its flash and its link to the host as lines of a configuration."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import TYPE_CHECKING

from flashwatt.mqsim.flows import COUNTS

if TYPE_CHECKING:
    from flashwatt.mqsim.draft import Draft
    from flashwatt.mqsim.flows import Flow
    from flashwatt.mqsim.values import Values

_HEAD_BYTES, _PAYLOAD_BYTES = 28, 128
"""MQSim's packets on the PCIe link."""
_MB_S_MAX = 1_000_000
_QUEUE_MAX = 65_536
_SERVED_BLOCKS = 10
"""MQSim serves no write of the host while a plane has fewer free blocks, whatever the file says."""
_SECTOR_BYTES = 512
_PARTIAL_BYTES_MAX = 131_072
"""Larger pages are moved as a whole."""


@dataclass(frozen=True, slots=True)
class Drive:
    """The three elements that describe a drive, and the flows that it is to serve: none, if they are not known."""

    host: Values
    device: Values
    flash: Values
    flows: list[Flow]

    @property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The channels, chips, dies and planes that are used: those of the flows, if all name the same."""
        whole = tuple(tuple(range(self._count(name))) for name in COUNTS.values())
        named = {flow.parts for flow in self.flows}
        return named.pop() if len(named) == 1 else whole

    @property
    def logical_bytes(self) -> int:
        """What the host sees of MQSim's drive, in whole pages."""
        flash = self.flash
        pages = flash["Block_No_Per_Plane"] * flash["Page_No_Per_Block"]
        for ids in self.parts:
            pages *= len(ids)
        return int(pages * (1 - self.device["Overprovisioning_Ratio"])) * int(flash["Page_Capacity"])

    def _count(self, name: str) -> int:
        count: int = (self.device if name in self.device.keys else self.flash)[name]
        return count

    def add(self, draft: Draft) -> None:
        """Add the lines of the drive."""
        self._geometry(draft)
        self._timing(draft)
        self._suspension(draft)
        self._link(draft)
        draft.take("device.nand.copyback", self.device["Use_Copyback_for_GC"], self.device.of("Use_Copyback_for_GC"))
        draft.take(
            "device.nand.rated_cycles", self.flash["Block_PE_Cycles_Limit"], self.flash.of("Block_PE_Cycles_Limit")
        )
        self._map(draft)
        self._collection(draft)
        self._wear(draft)
        self._buffer(draft)
        scheduling = self.device.of("Transaction_Scheduling_Policy")
        draft.take("controller.policy", "out_of_order", scheduling)
        draft.choose("controller.bus_order", "data_first", "as in MQSim")
        draft.take("run.seed", self.device["Seed"], self.device.of("Seed"))

    def unused(self) -> dict[str, str]:
        """Give the keys of this drive that count for nothing because of others, each with why."""
        device, flash = self.device, self.flash
        kind, cells = device["HostInterface_Type"], flash["Flash_Technology"]
        found = {"Queue_Fetch_Size" if kind == "SATA" else "SATA_Processing_Delay": f"HostInterface_Type is {kind}"}
        for page in set(_PAGES["TLC"]) - set(_PAGES[cells]):
            for operation in ("Read", "Program"):
                found[f"Page_{operation}_Latency_{page}"] = f"Flash_Technology is {cells}, which has no such pages"
        for name in ("Suspend_Program_Time", "Suspend_Erase_Time"):
            if not self._suspends(name):
                found[name] = f"CMD_Suspension_Support is {flash['CMD_Suspension_Support']}"
        if device["Ideal_Mapping_Table"]:
            found["CMT_Capacity"] = "Ideal_Mapping_Table is true"
        if not device["Static_Wearleveling_Enabled"]:
            found["Static_Wearleveling_Threshold"] = "Static_Wearleveling_Enabled is false"
        return found

    def exact(self) -> set[str]:
        """Name the keys that are approximated on some drives, and not on this one."""
        device = self.device
        found = set()
        if device["Plane_Allocation_Scheme"] in ("CWDP", "CDWP"):
            found.add("Plane_Allocation_Scheme")
        if device["Ideal_Mapping_Table"]:
            found.add("Ideal_Mapping_Table")
        if device["Dynamic_Wearleveling_Enabled"]:
            found.add("Dynamic_Wearleveling_Enabled")
        if len(self.parts[3]) == 1:
            found.add("Plane_No_Per_Die")
            if device["GC_Block_Selection_Policy"] in ("GREEDY", "FIFO"):
                found.add("GC_Block_Selection_Policy")
        return found

    def _geometry(self, draft: Draft) -> None:
        device, flash = self.device, self.flash
        channels, chips, dies, planes = (len(ids) for ids in self.parts)
        counts = (channels, chips, dies, planes)
        own = [
            f"{name} has {used}"
            for used, (name, counted) in zip(counts, COUNTS.items(), strict=True)
            if used < self._count(counted)
        ]
        said = f"the flows use a part: {', '.join(own)}" if own else ""
        draft.take("device.channels", channels, device.of("Flash_Channel_Count"), said)
        draft.take("device.ways", chips * dies, (*device.of("Chip_No_Per_Channel"), *flash.of("Die_No_Per_Chip")), said)
        draft.take("device.planes", planes, flash.of("Plane_No_Per_Die"), said)
        draft.take("device.blocks_per_plane", flash["Block_No_Per_Plane"], flash.of("Block_No_Per_Plane"))
        draft.take("device.pages_per_block", flash["Page_No_Per_Block"], flash.of("Page_No_Per_Block"))
        draft.take("device.page_bytes", flash["Page_Capacity"], flash.of("Page_Capacity"))
        draft.take("device.spare_fraction", device["Overprovisioning_Ratio"], device.of("Overprovisioning_Ratio"))

    def _timing(self, draft: Draft) -> None:
        flash, device = self.flash, self.device
        for operation, key in (("Read", "read_ns"), ("Program", "program_ns")):
            names = [f"Page_{operation}_Latency_{page}" for page in _PAGES[flash["Flash_Technology"]]]
            times = [flash[name] for name in names]
            sources = (*flash.of(*names), *flash.of("Flash_Technology"))
            if key == "program_ns" and len(times) == 2 and times[1] > times[0]:  # noqa: PLR2004
                draft.take("device.timing.program_ns", times[0], sources, "the lower pages")
                draft.take("device.timing.program_upper_ns", times[1], sources, "the upper pages")
                continue
            said = "their mean over a block" if len(set(times)) > 1 else ""
            draft.take(f"device.timing.{key}", round(_mean(times, flash["Page_No_Per_Block"])), sources, said)
            if not said:
                draft.exact |= set(names)
        draft.take("device.timing.erase_ns", flash["Block_Erase_Latency"], flash.of("Block_Erase_Latency"))
        draft.take(
            "device.timing.command_ns",
            300,
            device.of("Flash_Comm_Protocol"),
            "290 for a read in MQSim's source, 361 for a program",
        )
        width, rate, page = device["Flash_Channel_Width"], device["Channel_Transfer_Rate"], flash["Page_Capacity"]
        ours, theirs = round(page * 1000 / (rate * width)), page // width // 2 * (1000 // rate * 2)
        said = f"MQSim cuts it to {theirs}" if theirs != ours else ""
        draft.take(
            "device.timing.page_transfer_ns",
            ours,
            (*flash.of("Page_Capacity"), *device.of("Channel_Transfer_Rate", "Flash_Channel_Width")),
            said,
        )
        draft.choose("device.timing.channel_switch_ns", 0, "MQSim's channels start operations independently")
        if page <= _PARTIAL_BYTES_MAX:
            said = "MQSim moves only the sectors that are asked for"
            draft.choose("device.bus.partial_pages", True, said)
            draft.choose("device.bus.partial_unit", "sector", said)

    def _suspension(self, draft: Draft) -> None:
        """Take what reads suspend. MQSim has no time of a resumption, and no limit."""
        names = "Suspend_Program_Time", "Suspend_Erase_Time"
        for key, name in zip(("program_ns", "erase_ns"), names, strict=True):
            if self._suspends(name):
                draft.take(f"device.suspend.{key}", self.flash[name], self.flash.of(name, "CMD_Suspension_Support"))

    def _suspends(self, name: str) -> bool:
        """Whether the operation that a time belongs to is suspended: `CMD_Suspension_Support` names it."""
        return name.split("_")[1].upper() in self.flash["CMD_Suspension_Support"].split("_")

    def _link(self, draft: Draft) -> None:
        host, device = self.host, self.device
        mb_s = (
            1000
            * host["PCIe_Lane_Bandwidth"]
            * host["PCIe_Lane_Count"]
            * _PAYLOAD_BYTES
            / (_PAYLOAD_BYTES + _HEAD_BYTES)
        )
        sources = host.of("PCIe_Lane_Bandwidth", "PCIe_Lane_Count")
        fast = mb_s > _MB_S_MAX
        draft.take(
            "device.host_link.bandwidth_mb_s",
            0 if fast else float(f"{mb_s:.7g}"),
            sources,
            "so fast that it takes no time" if fast else "without the heads of packets",
        )
        if device["HostInterface_Type"] == "SATA":
            draft.take("device.host_link.command_ns", host["SATA_Processing_Delay"], host.of("SATA_Processing_Delay"))
            draft.take("device.host_link.queue_depth", device["IO_Queue_Depth"], device.of("IO_Queue_Depth"))
            return
        draft.choose("device.host_link.command_ns", 0, "MQSim has a delay of commands with SATA only")
        depth = min(device["Queue_Fetch_Size"], device["IO_Queue_Depth"]) * max(1, len(self.flows))
        said = f"of each of {len(self.flows)} flows" if len(self.flows) > 1 else ""
        draft.take(
            "device.host_link.queue_depth",
            min(depth, _QUEUE_MAX),
            device.of("Queue_Fetch_Size", "IO_Queue_Depth"),
            said,
        )

    def _map(self, draft: Draft) -> None:
        device, flash = self.device, self.flash
        scheme = device.of("Plane_Allocation_Scheme")
        if device["Ideal_Mapping_Table"]:
            draft.take("ftl.page.allocation", "static", (*device.of("Ideal_Mapping_Table"), *scheme))
            return
        pages = flash["Block_No_Per_Plane"] * flash["Page_No_Per_Block"]
        for name in COUNTS.values():
            pages *= self._count(name)
        sectors = flash["Page_Capacity"] // _SECTOR_BYTES
        cached, stored = (ceil((times * log2(pages) + sectors) / 8) for times in (2, 1))
        entries = device["CMT_Capacity"] // cached
        if not entries:
            raise device.fault(
                "CMT_Capacity", f"{cached} bytes or more: MQSim's entry for {pages:,} pages of {sectors} sectors"
            )
        sources = (*device.of("Ideal_Mapping_Table"), *device.of("CMT_Capacity"))
        draft.take("ftl.dftl.cmt_entries", min(entries, pages), sources, f"entries of {cached} bytes")
        draft.choose(
            "ftl.dftl.entry_bytes",
            min(stored, _SECTOR_BYTES),
            f"MQSim's on flash: {pages:,} pages, {sectors} bits of sectors",
        )
        draft.choose("ftl.dftl.cache", "lru", "as in MQSim")
        draft.take("ftl.dftl.allocation", "static", scheme)

    def _collection(self, draft: Draft) -> None:
        device, flash = self.device, self.flash
        blocks = flash["Block_No_Per_Plane"]
        planes = len(self.parts[3])
        low = max(_SERVED_BLOCKS, int(device["GC_Exec_Threshold"] * blocks))
        draft.take("gc.low_watermark_blocks", low * planes, device.of("GC_Exec_Threshold"), f"{low} blocks of a plane")
        draft.choose(
            "gc.reserved_blocks",
            (_SERVED_BLOCKS - 1) * planes,
            f"MQSim serves writes while a plane has {_SERVED_BLOCKS} free blocks",
        )
        draft.take("gc.preemptible", device["Preemptible_GC_Enabled"], device.of("Preemptible_GC_Enabled"))
        policy = device.of("GC_Block_Selection_Policy")
        name = device["GC_Block_Selection_Policy"]
        if name == "RGA":
            draft.take("gc.policy.d_choices.d", max(1, int(log2(blocks))), policy, "log2 of the blocks of a plane")
        else:
            draft.take("gc.policy", _POLICIES[name], policy)

    def _wear(self, draft: Draft) -> None:
        device = self.device
        names = "Dynamic_Wearleveling_Enabled", "Static_Wearleveling_Enabled"
        dynamic, static = (device[name] for name in names)
        draft.take("wear.policy", "static_swap" if static else "dynamic" if dynamic else "none", device.of(*names))
        if static:
            draft.choose("wear.ratio", 1.0, "the gap alone decides, as in MQSim")
            draft.take(
                "wear.min_gap", device["Static_Wearleveling_Threshold"], device.of("Static_Wearleveling_Threshold")
            )

    def _buffer(self, draft: Draft) -> None:
        sources = self.device.of("Data_Cache_Capacity")
        modes = {flow.values["Device_Level_Data_Caching_Mode"] for flow in self.flows} or {"WRITE_CACHE"}
        caches = bool(modes & {"WRITE_CACHE", "WRITE_READ_CACHE"})
        said = "" if caches else f"no flow caches writes: {', '.join(sorted(modes))}"
        draft.take("write_buffer.bytes", self.device["Data_Cache_Capacity"] if caches else 0, sources, said)


_POLICIES = {"GREEDY": "greedy", "RANDOM": "random", "RANDOM_P": "random", "RANDOM_PP": "random", "FIFO": "fifo"}
_PAGES = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}


def _mean(times: list[int], pages: int) -> float:
    """Give the mean over the pages of a block, in MQSim's order of pages: of TLC the first eight are particular."""
    kinds = range(pages)
    if len(times) == 3:  # noqa: PLR2004
        order = [0 if page <= 5 else 1 if page <= 7 else (page - 8) // 2 % 3 for page in kinds]  # noqa: PLR2004
    else:
        order = [page % len(times) for page in kinds]
    return sum(times[kind] for kind in order) / pages
