"""Every key of MQSim's files by element. The documentation's tables are made of this."""

from __future__ import annotations

from flashwatt.mqsim.drive_keys import DEVICE, FLASH, HOST
from flashwatt.mqsim.flow_keys import FLOW, SYNTHETIC, TRACE
from flashwatt.mqsim.key import SUSPENDED

STRAY = {
    "Prefered_suspend_erase_time_for_read": SUSPENDED,
    "Intensity": "the name of Bandwidth in earlier versions",
}
"""Names that occur in MQSim's files or its source, and that one of the two does not know."""

SECTIONS = {
    "Host_Parameter_Set": HOST,
    "Device_Parameter_Set": DEVICE,
    "Flash_Parameter_Set": FLASH,
    "IO_Flow_Parameter_Set_Synthetic": SYNTHETIC,
    "IO_Flow_Parameter_Set_Trace_Based": TRACE,
}
"""The keys of each element that has any."""


def table(section: str) -> str:
    """Write the keys of a section as a table in Markdown, for the documentation."""
    common = FLOW if section in ("IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based") else ()
    rows = ["| MQSim | FlashWatt | what differs, or why there is none |", "|---|---|---|"]
    for key in SECTIONS.get(section, FLOW):
        if key not in common:
            to = ", ".join(f"`{one}`" for one in key.to.split(", ")) if key.to else "none"
            rows.append(f"| `{key.name}` | {to} | {key.note} |")
    return "\n".join(rows)
