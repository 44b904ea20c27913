"""The keys of MQSim's drives, with the defaults and bounds that they have at commit 7ec40e3."""

from __future__ import annotations

from itertools import permutations

from flashwatt.mqsim.key import NS_MAX, SUSPENDED, Key
from flashwatt.mqsim.kinds import Flag, Real, Whole, Word

_DRAM = "data passes through DRAM in no time"
_ORDERS = tuple(map("".join, permutations("CDPW")))

HOST = (
    Key(
        "PCIe_Lane_Bandwidth",
        Real(1e-6, unit="GB/s"),
        0.4,
        "device.host_link.bandwidth_mb_s",
        "times PCIe_Lane_Count × 128 / 156: MQSim sends 28 bytes around 128 of data; the time of a "
        "bare command is left out",
    ),
    Key("PCIe_Lane_Count", Whole(1, 1024), 4, "device.host_link.bandwidth_mb_s"),
    Key(
        "SATA_Processing_Delay",
        Whole(0, NS_MAX, "ns"),
        0,
        "device.host_link.command_ns",
        "with SATA; MQSim waits so long at the submission and again at the completion, here once",
    ),
    Key("Enable_ResponseTime_Logging", Flag(), False, "", "an option of the command: `flashwatt run --series`"),
    Key("ResponseTime_Logging_Period_Length", Whole(), 400_000, "", "an option of the command: `--series-ms`"),
)

DEVICE = (
    Key("Seed", Whole(0, (1 << 31) - 1), 123, "run.seed"),
    Key(
        "Enabled_Preconditioning",
        Flag(),
        True,
        "run.precondition",
        "true: `steady`, or `filled` where all flows read; false: `empty` if all flows write, else "
        "`filled`, as MQSim reads pages that were never written",
    ),
    Key("Memory_Type", Word("FLASH"), "FLASH", "", "all drives have flash"),
    Key(
        "HostInterface_Type",
        Word("NVME", "SATA"),
        "NVME",
        "device.host_link",
        "it decides which keys count; there are no protocols",
    ),
    Key(
        "IO_Queue_Depth",
        Whole(1, 65_535),
        1024,
        "device.host_link.queue_depth",
        "with SATA; with NVMe it bounds Queue_Fetch_Size",
    ),
    Key(
        "Queue_Fetch_Size",
        Whole(1, 65_535),
        512,
        "device.host_link.queue_depth",
        "with NVMe; times the flows, which share one queue here",
    ),
    Key(
        "Caching_Mechanism",
        Word("SIMPLE", "ADVANCED"),
        "ADVANCED",
        "write_buffer",
        "one buffer, which keeps writes until they are in flash",
    ),
    Key("Data_Cache_Sharing_Mode", Word("SHARED", "EQUAL_PARTITIONING"), "SHARED", "", "the write buffer is shared"),
    Key(
        "Data_Cache_Capacity",
        Whole(0, 1 << 40, "bytes"),
        512 << 20,
        "write_buffer.bytes",
        "0 where no flow caches writes; reads are not cached but for data that waits to be written",
    ),
    Key("Data_Cache_DRAM_Row_Size", Whole(), 8192, "", _DRAM),
    Key("Data_Cache_DRAM_Data_Rate", Whole(), 800, "", f"{_DRAM}; `energy.dram.data_mb_s` prices it"),
    Key("Data_Cache_DRAM_Data_Busrt_Size", Whole(), 4, "", _DRAM),
    Key("Data_Cache_DRAM_tRCD", Whole(), 13, "", _DRAM),
    Key("Data_Cache_DRAM_tCL", Whole(), 13, "", _DRAM),
    Key("Data_Cache_DRAM_tRP", Whole(), 13, "", _DRAM),
    Key("Address_Mapping", Word("PAGE_LEVEL"), "PAGE_LEVEL", "ftl"),
    Key(
        "Ideal_Mapping_Table",
        Flag(),
        False,
        "ftl",
        "true: `page`, false: `dftl`, which evicts and writes back by rules of its own",
    ),
    Key(
        "CMT_Capacity",
        Whole(1, 1 << 40, "bytes"),
        2 << 20,
        "ftl.dftl.cmt_entries, ftl.dftl.entry_bytes",
        "in entries of MQSim's sizes, which follow from the numbers of pages and sectors",
    ),
    Key("CMT_Sharing_Mode", Word("SHARED", "EQUAL_PARTITIONING"), "SHARED", "", "the mapping table is shared"),
    Key(
        "Plane_Allocation_Scheme",
        Word(*_ORDERS),
        "CWDP",
        "ftl.page.allocation, ftl.dftl.allocation",
        "`static`, channels first, then dies, as CWDP and CDWP: another order is not kept",
    ),
    Key(
        "Transaction_Scheduling_Policy",
        Word("OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER"),
        "OUT_OF_ORDER",
        "controller.policy, controller.bus_order",
        "`out_of_order`, and `data_first` as in MQSim; without priorities of flows",
    ),
    Key("Overprovisioning_Ratio", Real(0, 1), 0.07, "device.spare_fraction"),
    Key(
        "GC_Exec_Threshold",
        Real(0, 1),
        0.05,
        "gc.low_watermark_blocks, gc.reserved_blocks",
        "of a die, not of a plane; at least 10 blocks a plane as in MQSim, of which 9 are kept from "
        "the host; fewer if the drive cannot spare them",
    ),
    Key(
        "GC_Block_Selection_Policy",
        Word("GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO"),
        "RGA",
        "gc.policy",
        "among the blocks of a die, not of a plane; RGA: `d_choices` with d = log2 of the blocks of a "
        "plane; RANDOM, RANDOM_P and RANDOM_PP: `random`, among full blocks with space to gain",
    ),
    Key("Use_Copyback_for_GC", Flag(), False, "device.nand.copyback"),
    Key("Preemptible_GC_Enabled", Flag(), True, "gc.preemptible"),
    Key(
        "GC_Hard_Threshold",
        Real(0, 1),
        0.005,
        "",
        "a collection lets requests pass at any number of free blocks, or at none",
    ),
    Key("Dynamic_Wearleveling_Enabled", Flag(), True, "wear.policy", "MQSim reads it, and takes true"),
    Key(
        "Static_Wearleveling_Enabled",
        Flag(),
        True,
        "wear.policy",
        "`static_swap`, which includes the dynamic one; MQSim reads it, and takes true",
    ),
    Key(
        "Static_Wearleveling_Threshold",
        Whole(0, (1 << 32) - 1, "erases"),
        100,
        "wear.min_gap",
        "above the mean of the blocks; in MQSim between the most and the least worn block of a plane, and always 100",
    ),
    Key("Preferred_suspend_erase_time_for_read", Whole(), 700_000, "", SUSPENDED),
    Key("Preferred_suspend_erase_time_for_write", Whole(), 700_000, "", "writes suspend nothing"),
    Key("Preferred_suspend_write_time_for_read", Whole(), 100_000, "", SUSPENDED),
    Key("Flash_Channel_Count", Whole(1, 1024), 8, "device.channels"),
    Key("Flash_Channel_Width", Whole(1, 1024, "bytes"), 1, "device.timing.page_transfer_ns"),
    Key(
        "Channel_Transfer_Rate",
        Whole(1, 1_000_000, "MT/s"),
        300,
        "device.timing.page_transfer_ns",
        "Page_Capacity / (rate × width) for whole pages, and its share for the sectors that are asked for; "
        "MQSim cuts the time of a transfer to whole ns",
    ),
    Key("Chip_No_Per_Channel", Whole(1, 64), 4, "device.ways"),
    Key(
        "Flash_Comm_Protocol",
        Word("NVDDR2"),
        "NVDDR2",
        "device.timing.command_ns",
        "300 ns; in MQSim's source a read's command takes 290, a program's 361",
    ),
)

FLASH = (
    Key(
        "Flash_Technology",
        Word("SLC", "MLC", "TLC"),
        "MLC",
        "device.timing",
        "it decides which latencies count; cells are not paired",
    ),
    Key(
        "CMD_Suspension_Support",
        Word("NONE", "PROGRAM", "PROGRAM_ERASE", "ERASE"),
        "ERASE",
        "device.suspend",
        "reads of the host suspend, writes nothing; MQSim suspends only what has long to go",
    ),
    *(
        Key(
            f"Page_Read_Latency_{page}",
            Whole(1, NS_MAX, "ns"),
            75_000,
            "device.timing.read_ns",
            "the mean over the pages of a block where the latencies differ",
        )
        for page in ("LSB", "CSB", "MSB")
    ),
    *(
        Key(
            f"Page_Program_Latency_{page}",
            Whole(1, NS_MAX, "ns"),
            750_000,
            "device.timing.program_ns, device.timing.program_upper_ns",
            "MLC: LSB and MSB pages in turn; TLC: the mean over the pages of a block where the latencies differ",
        )
        for page in ("LSB", "CSB", "MSB")
    ),
    Key("Block_Erase_Latency", Whole(1, NS_MAX, "ns"), 3_800_000, "device.timing.erase_ns"),
    Key("Block_PE_Cycles_Limit", Whole(1, 1_000_000_000), 10_000, "device.nand.rated_cycles"),
    Key(
        "Suspend_Erase_Time",
        Whole(0, NS_MAX, "ns"),
        700_000,
        "device.suspend.erase_ns",
        "in MQSim the channel is taken meanwhile",
    ),
    Key(
        "Suspend_Program_Time",
        Whole(0, NS_MAX, "ns"),
        100_000,
        "device.suspend.program_ns",
        "in MQSim the channel is taken meanwhile",
    ),
    Key("Die_No_Per_Chip", Whole(1, 64), 2, "device.ways"),
    Key(
        "Plane_No_Per_Die",
        Whole(1, 64),
        2,
        "device.planes",
        "they give a die more blocks; one operation at a time, no multi-plane commands",
    ),
    Key("Block_No_Per_Plane", Whole(1, (1 << 32) - 1), 2048, "device.blocks_per_plane"),
    Key("Page_No_Per_Block", Whole(2, 65_535), 256, "device.pages_per_block"),
    Key("Page_Capacity", Whole(512, 1 << 20, "bytes"), 8192, "device.page_bytes"),
    Key(
        "Page_Metadat_Capacity",
        Whole(),
        1872,
        "",
        "`device.nand.spare_bytes` is what the error correction leaves of it",
    ),
)
