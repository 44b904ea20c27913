"""The keys of MQSim's flows, with the defaults and bounds that they have at commit 7ec40e3."""

from __future__ import annotations

from flashwatt.mqsim.key import Key
from flashwatt.mqsim.kinds import Flag, Name, Numbers, Whole, Word

_OWN = "flows that all name the same parts: the drive is built of these; else every flow uses all parts"

FLOW = (
    Key("Priority_Class", Word("URGENT", "HIGH", "MEDIUM", "LOW"), "HIGH", "", "one queue, without priorities"),
    Key(
        "Device_Level_Data_Caching_Mode",
        Word("TURNED_OFF", "WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE"),
        "WRITE_CACHE",
        "write_buffer.bytes",
        "0 if no flow caches writes; else the writes of all flows pass through the buffer",
    ),
    *(
        Key(f"{part}_IDs", Numbers(), (), key, _OWN)
        for part, key in (
            ("Channel", "device.channels"),
            ("Chip", "device.ways"),
            ("Die", "device.ways"),
            ("Plane", "device.planes"),
        )
    ),
    Key(
        "Initial_Occupancy_Percentage",
        Whole(0, 100, "percent"),
        None,
        "device.logical_bytes",
        "with preconditioning: the greatest of all flows, or the working set if that is more; the "
        "drive is as small as that, since all its logical pages hold data",
    ),
)

SYNTHETIC = (
    *FLOW,
    Key("Working_Set_Percentage", Whole(1, 100, "percent"), None, "workload.*.range_bytes"),
    Key(
        "Synthetic_Generator_Type",
        Word("QUEUE_DEPTH", "BANDWIDTH"),
        None,
        "workload.*.queue_depth, workload.*.rate_per_s",
    ),
    Key("Read_Percentage", Whole(0, 100, "percent"), None, "workload.*.read_fraction"),
    Key(
        "Address_Distribution",
        Word("STREAMING", "RANDOM_UNIFORM", "RANDOM_HOTCOLD"),
        None,
        "workload.sequential, .uniform, .hot_cold",
    ),
    Key("Percentage_of_Hot_Region", Whole(0, 99, "percent"), None, "workload.hot_cold.hot_fraction, .hot_share"),
    Key("Generated_Aligned_Addresses", Flag(), None, "workload.*.align_bytes"),
    Key("Address_Alignment_Unit", Whole(1, 1 << 40, "sectors"), None, "workload.*.align_bytes"),
    Key("Request_Size_Distribution", Word("FIXED", "NORMAL"), None, "workload.*.request_bytes"),
    Key("Average_Request_Size", Whole(1, 1 << 21, "sectors"), None, "workload.*.request_bytes"),
    Key(
        "Variance_Request_Size",
        Whole(0, 1 << 20, "sectors"),
        None,
        "workload.*.request_bytes",
        "MQSim takes it for the standard deviation; a list of at most 32 lengths with their shares",
    ),
    Key("Seed", Whole(0, (1 << 31) - 1), 0, "", "the seed of the drive, `run.seed`, draws everything"),
    Key("Average_No_of_Reqs_in_Queue", Whole(1, 65_535), None, "workload.*.queue_depth"),
    Key("Bandwidth", Whole(1, 1 << 40, "bytes/s"), None, "workload.*.rate_per_s"),
    Key("Stop_Time", Whole(0, 31_622_400 * 10**9, "ns"), 0, "run.measure.seconds"),
    Key("Total_Requests_To_Generate", Whole(0, 10**15), 0, "workload.*.requests"),
)

TRACE = (
    *FLOW,
    Key(
        "File_Path",
        Name(),
        None,
        "workload.trace.path",
        "found from the working directory or from the workload's; several traces: each has a part of "
        "the drive of its own, of the size that it uses",
    ),
    Key("Percentage_To_Be_Executed", Whole(1, 100, "percent"), 100, "workload.trace.max_requests"),
    Key(
        "Relay_Count",
        Whole(1, 1_000_000),
        1,
        "workload.trace.repeat",
        "between two passes the trace's mean time between arrivals goes by, in MQSim the first arrival's",
    ),
    Key(
        "Time_Unit",
        Word("PICOSECOND", "NANOSECOND", "MICROSECOND"),
        "NANOSECOND",
        "workload.trace.time_unit",
        "MQSim reads it, and takes all times for ns",
    ),
)
