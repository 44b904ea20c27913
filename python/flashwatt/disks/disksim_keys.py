"""Keys of DiskSim 4's disks: those that are converted, and those without a counterpart."""

from __future__ import annotations

LAYOUT = ("ascending", "serpentine in each zone", "serpentine")
"""`LBN-to-PBN mapping scheme` by number, in a description's words."""

SPARING = (
    "none",
    "spare tracks at the end of each zone; slipped tracks are left out",
    "spare sectors at the end of each cylinder",
    "spare sectors at the end of each track",
    "spare sectors at the end of each cylinder; slipped sectors move all that follows in the zone on",
    "spare sectors at the front of each cylinder",
    "spare sectors at the front of each cylinder; slipped sectors move all that follows in the zone on",
    "spares at the end of the disk",
    "spare sectors at the end of each range of cylinders",
    "spare sectors at the end of each zone",
    "spare sectors at the end of each zone; slipped sectors move all that follows in the zone on",
)
"""`Sparing scheme used` by number."""

DISK = {
    "Buffer continuous read": (
        "none",
        "to the end of the track",
        "to the end of the cylinder",
        "until the segment is full",
        "to the end of the track; of the next one too in a sequential stream",
    ),
    "Fast write level": ("none", "contiguous writes", "contiguous writes"),
}
"""Numbers of `disksim_disk` that stand for a name."""

MODEL = frozenset({"Number of data surfaces", "Number of cylinders", "Block count", "Layout Model", "Mechanical Model"})
"""Keys of `dm_disk`."""

MECHANISM = frozenset(
    {
        "Access time type",
        "Constant access time",
        "Seek type",
        "Constant seek time",
        "Single cylinder seek time",
        "Average seek time",
        "Full strobe seek time",
        "Full seek curve",
        "Add. write settling delay",
        "Head switch time",
        "Rotation speed (in rpms)",
        "Percent error in rpms",
        "First ten seek times",
        "HPL seek equation values",
    }
)
"""Keys of `dm_mech_g1`."""

LAYOUT_KEYS = frozenset(
    {"LBN-to-PBN mapping scheme", "Sparing scheme used", "Rangesize for sparing", "Skew units", "Zones"}
)
"""Keys of `dm_layout_g1`."""

DISK_KEYS = frozenset(
    {
        "Model",
        "Scheduler",
        "Max queue length",
        "Bulk sector transfer time",
        "Segment size (in blks)",
        "Number of buffer segments",
        "Print stats",
        "Per-request overhead time",
        "Time scale for overheads",
        "Avg sectors per cylinder",
        "Maximum number of write segments",
        "Use separate write segment",
        "Low (write) water mark",
        "High (read) water mark",
        "Calc sector by sector",
        "Enable caching in buffer",
        "Buffer continuous read",
        "Minimum read-ahead (blks)",
        "Maximum read-ahead (blks)",
        "Read-ahead over requested",
        "Read-ahead on idle hit",
        "Read any free blocks",
        "Fast write level",
        "Immediate buffer read",
        "Immediate buffer write",
        "Write hit stop prefetch",
        "Allow read hits on write data",
        "Data preparation overhead",
        "First reselect overhead",
        "Other reselect overhead",
        "Extra write disconnect",
        "Extradisc command overhead",
        "Extradisc disconnect overhead",
        "Extradisc inter-disconnect delay",
        "Extradisc seek delta",
        "Read completion overhead",
        "Write completion overhead",
        *(
            f"{kind} {hit} over. after {last}"
            for kind in ("Read", "Write")
            for hit in ("hit", "miss")
            for last in ("read", "write")
        ),
    }
)
"""Keys of `disksim_disk` that are converted, or say nothing of what a disk does."""

_RESELECT = "a disk that lets go of the bus takes no time for that here, beside what goes on meanwhile"
_SNEAK = "reads that are in the buffer go ahead of those that wait for the medium in any case"

REMARKS: dict[str, tuple[object, str]] = {
    "Access time type": ("trackSwitchPlusRotation", "seek and rotation are simulated in any case"),
    "Percent error in rpms": (0.0, "the disk turns at its rate"),
    "Hold bus entire read xfer": (0, "a transfer takes the bus in one piece in any case"),
    "Hold bus entire write xfer": (0, "a transfer takes the bus in one piece in any case"),
    "Allow almost read hits": (1, "a read whose first sector is being read ahead joins it in any case"),
    "Allow sneaky full read hits": (1, _SNEAK),
    "Allow sneaky partial read hits": (1, _SNEAK),
    "Allow sneaky intermediate read hits": (1, _SNEAK),
    "Allow write prebuffering": (1, "data of writes moves while others wait in any case"),
    "Preseeking level": (2, "the arm moves on when the medium is free"),
    "Never disconnect": (0, "other requests may use the bus"),
    "Set watermark by reqsize": (1, "a share of the request, or of a segment if that is smaller"),
    "Combine seq writes": (1, "writes that continue each other are joined in any case"),
    "Stop prefetch in sector": (1, "reading ahead stops at once, and keeps whole sectors"),
    "Disconnect write if seek": (0, _RESELECT),
    "Read directly to buffer": (1, "there is no separate buffer of a sector"),
    "Immed transfer partial hit": (1, "what is in the buffer moves at once in any case"),
    "Read disconnect afterread": (0.0, _RESELECT),
    "Read disconnect afterwrite": (0.0, _RESELECT),
    "Write disconnect overhead": (0.0, _RESELECT),
    "Extradisc 2nd disconnect overhead": (0.0, _RESELECT),
    "Minimum seek delay": (0.0, "a write waits for no longer than its way and its data take"),
}
"""Keys without a counterpart: the value that a disk behaves as here, and what it does."""
