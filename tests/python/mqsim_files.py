"""Files in MQSim's format for tests: every key of its table, with values that a test gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt.mqsim.keys import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

SYNTHETIC, TRACE = "IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based"

SMALL = {
    "Flash_Channel_Count": 2,
    "Chip_No_Per_Channel": 2,
    "Die_No_Per_Chip": 1,
    "Plane_No_Per_Die": 1,
    "Block_No_Per_Plane": 256,
    "Page_No_Per_Block": 16,
    "Page_Capacity": 4096,
    "Ideal_Mapping_Table": "true",
    "Enabled_Preconditioning": "false",
    "Data_Cache_Capacity": 0,
}
FLOW = {
    "Initial_Occupancy_Percentage": 75,
    "Working_Set_Percentage": 50,
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": 100,
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": 0,
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": 8,
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": 8,
    "Variance_Request_Size": 0,
    "Average_No_of_Reqs_in_Queue": 4,
    "Bandwidth": 40_960_000,
    "Stop_Time": 0,
    "Total_Requests_To_Generate": 200,
}


def drive(values: Mapping[str, object] = SMALL, **more: object) -> str:
    """Write a drive: MQSim's own values where none are given."""
    given = {**values, **more}
    host, device, flash = (_keys(name, given) for name in ("Host", "Device", "Flash"))
    flash = f"<Flash_Parameter_Set>\n{flash}</Flash_Parameter_Set>\n"
    sections = f"<Host_Parameter_Set>\n{host}</Host_Parameter_Set>\n<Device_Parameter_Set>\n{device}{flash}"
    return f"<Execution_Parameter_Set>\n{sections}</Device_Parameter_Set>\n</Execution_Parameter_Set>\n"


def _keys(section: str, given: Mapping[str, object]) -> str:
    keys = SECTIONS[f"{section}_Parameter_Set"]
    return "".join(_element(key.name, given.get(key.name, _word(key.default))) for key in keys)


def _word(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _element(name: str, value: object) -> str:
    return f"<{name}>{value}</{name}>\n"


def flow(kind: str = SYNTHETIC, **more: object) -> str:
    """Write a flow."""
    given = {**(FLOW if kind == SYNTHETIC else {"Initial_Occupancy_Percentage": 70}), **more}
    return f"<{kind}>\n{''.join(_element(name, value) for name, value in given.items())}</{kind}>\n"


def workload(*scenarios: tuple[str, ...]) -> str:
    """Write scenarios of flows."""
    inner = "".join(f"<IO_Scenario>\n{''.join(flows)}</IO_Scenario>\n" for flows in scenarios)
    return f"<MQSim_IO_Scenarios>\n{inner}</MQSim_IO_Scenarios>\n"
