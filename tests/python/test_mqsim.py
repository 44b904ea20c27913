"""Drives and workloads of MQSim become configurations that run; what is none is refused with its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import tomli

import flashwatt
from flashwatt.cli.main import main
from flashwatt.experiments.peers.side_by_side import figures_of
from flashwatt.mqsim import keys
from flashwatt.mqsim.convert import Asked, Converted, convert
from mqsim_files import SMALL, TRACE, drive, flow, workload

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "python/flashwatt/experiments/peers"


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def converted(text: str, flows: str | None = None, **asked: Any) -> Converted:
    Path("ssd.xml").write_text(text)
    if flows is not None:
        Path("flows.xml").write_text(flows)
        asked["workload"] = Path("flows.xml")
    found = convert(Asked(Path("ssd.xml"), **{"out": Path("out.toml"), **asked}))
    Path("out.toml").write_text(found.config)
    if found.jobs is not None:
        Path("out.fio").write_text(found.jobs)
    return found


def settings(text: str, flows: str | None = None, **asked: Any) -> dict[str, Any]:
    return tomli.loads(converted(text, flows, **asked).config)


def test_the_settings_are_those_of_the_comparison_with_mqsim() -> None:
    """MQSim's keys for experiment P1 give its settings, and a read alone takes command, array and transfer."""
    published = {
        "Flash_Channel_Count": 8,
        "Chip_No_Per_Channel": 4,
        "Die_No_Per_Chip": 1,
        "Plane_No_Per_Die": 1,
        "Block_No_Per_Plane": 512,
        "Page_No_Per_Block": 128,
        "Page_Capacity": 4096,
        "Block_Erase_Latency": 3_500_000,
        **{f"Page_Read_Latency_{page}": 50_000 for page in ("LSB", "CSB", "MSB")},
        **{f"Page_Program_Latency_{page}": 600_000 for page in ("LSB", "CSB", "MSB")},
        "Channel_Transfer_Rate": 1000,
        "PCIe_Lane_Bandwidth": 1e6,
        "Queue_Fetch_Size": 65_535,
        "IO_Queue_Depth": 65_535,
        "Overprovisioning_Ratio": 0.1,
        "GC_Block_Selection_Policy": "GREEDY",
        "Ideal_Mapping_Table": "true",
        "Enabled_Preconditioning": "false",
        "Static_Wearleveling_Enabled": "false",
        "CMD_Suspension_Support": "NONE",
    }
    one = flow(Average_No_of_Reqs_in_Queue=1, Working_Set_Percentage=100, Device_Level_Data_Caching_Mode="TURNED_OFF")
    converted(drive(published), workload((one,)))
    ours = flashwatt.Config.of("out.toml").resolve()
    paper = flashwatt.Config("").override(tomli.loads((PEERS / "paper.toml").read_text())["overrides"])
    theirs = paper.override(device__spare_fraction=0.1).resolve()
    ours["device"]["host_link"]["queue_depth"] += 1  # MQSim's largest is one less than ours
    del ours["device"]["bus"]  # whole pages and requests of whole pages
    for one in ("rated_cycles",):
        ours["device"]["nand"].pop(one, None), theirs["device"]["nand"].pop(one, None)
    for table in ("device", "ftl", "controller", "energy"):
        assert ours[table] == theirs[table], table
    iops = flashwatt.run("out.toml").throughput.iops
    assert iops == pytest.approx(1e9 / (300 + 50_000 + 4096), rel=1e-6)
    measured = figures_of("mqsim")["reads"]
    assert iops == pytest.approx(measured["1"]["iops"], rel=0.01)
    deep = flashwatt.run("out.toml", workload__uniform={"queue_depth": 16, "requests": 40_000})
    assert deep.throughput.iops == pytest.approx(measured["16"]["iops"], rel=0.01)


def test_every_key_is_accounted_for() -> None:
    """A key of the files stands behind a value, or in one of the lists at the end."""
    found = converted(drive(), workload((flow(Seed=3, Priority_Class="LOW", Channel_IDs="0,1"),))).config
    names = {one for path in ("ssd.xml", "flows.xml") for one in re.findall(r"<(\w+)>[^<\n]+<", Path(path).read_text())}
    assert len(names) > 70
    assert [name for name in names if not re.search(rf"[#,] +{name}[ :]", found)] == []
    assert "Data_Cache_DRAM_tCL: data passes through DRAM in no time" in found


def test_values_by_hand() -> None:
    found = settings(
        drive(
            Flash_Technology="TLC",
            Page_Program_Latency_CSB=1_750_000,
            Page_Program_Latency_MSB=2_750_000,
            Channel_Transfer_Rate=333,
            Flash_Channel_Width=2,
            Page_Capacity=8192,
            Die_No_Per_Chip=2,
            Plane_No_Per_Die=2,
            PCIe_Lane_Bandwidth=0.5,
            Ideal_Mapping_Table="false",
            GC_Exec_Threshold=0.0625,
            Overprovisioning_Ratio=0.2,
        )
    )
    timing, device = found["device"]["timing"], found["device"]
    # of 16 pages ten are LSB (0 to 5, 8, 9, 14, 15), four CSB, two MSB
    assert timing["program_ns"] == (10 * 750_000 + 4 * 1_750_000 + 2 * 2_750_000) / 16
    assert timing["page_transfer_ns"] == round(8192 / (333e6 * 2) * 1e9)
    assert device["bus"] == {"partial_pages": True, "partial_unit": "sector"}
    assert (device["channels"], device["ways"], device["planes"]) == (2, 4, 2)
    assert device["host_link"]["bandwidth_mb_s"] == pytest.approx(4 * 500 * 128 / 156)
    # 16 planes of 4,096 pages: 16 bits; a page has 16 sectors: (2 x 16 + 16) / 8 bytes cached, (16 + 16) / 8 stored
    assert found["ftl"]["dftl"]["entry_bytes"] == 4
    assert found["ftl"]["dftl"]["cmt_entries"] == 65_536, "all pages: 2 MiB hold more entries of 6 bytes"
    assert found["gc"]["low_watermark_blocks"] == 2 * 16
    assert found["gc"]["policy"] == {"d_choices": {"d": 8}}
    upper = settings(drive(Page_Program_Latency_MSB=900_000))["device"]["timing"]
    assert (upper["program_ns"], upper["program_upper_ns"]) == (750_000, 900_000)
    sata = settings(drive(HostInterface_Type="SATA", SATA_Processing_Delay=4000, IO_Queue_Depth=32))["device"][
        "host_link"
    ]
    assert (sata["command_ns"], sata["queue_depth"]) == (4000, 32)


def test_what_reads_suspend() -> None:
    """MQSim's own value lets erases be suspended."""
    assert settings(drive())["device"]["suspend"] == {"erase_ns": 700_000}
    both = settings(drive(CMD_Suspension_Support="PROGRAM_ERASE", Suspend_Program_Time=50_000))["device"]["suspend"]
    assert both == {"program_ns": 50_000, "erase_ns": 700_000}
    none = converted(drive(CMD_Suspension_Support="NONE")).config
    assert "suspend" not in tomli.loads(none)["device"]
    assert "CMD_Suspension_Support is NONE" in none


def test_the_data_of_reads_takes_the_channel() -> None:
    """The preset has it take none, which MQSim does not; and the largest pages are moved as a whole."""
    assert settings(drive(), preset="energysim")["controller"]["read_transfer"] == "on_bus"
    assert "bus" not in settings(drive(Page_Capacity=262_144))["device"]


def test_a_watermark_is_what_the_drive_can_spare() -> None:
    """10 blocks of a plane are more than 7 % of 96; the greatest number that works is taken, and said."""
    found = converted(drive(Block_No_Per_Plane=96)).config
    low = tomli.loads(found)["gc"]["low_watermark_blocks"]
    assert 2 <= low < 10
    assert "more than the drive has to spare" in found
    more = flashwatt.Config.of("out.toml").override(gc__low_watermark_blocks=low + 1)
    with pytest.raises(flashwatt.FlashwattError, match="spare"):
        more.resolve()


def test_a_flow_is_a_model() -> None:
    hot = flow(
        Address_Distribution="RANDOM_HOTCOLD",
        Percentage_of_Hot_Region=10,
        Synthetic_Generator_Type="BANDWIDTH",
        Stop_Time=2_000_000,
        Read_Percentage=30,
    )
    found = settings(drive(), workload((hot,)))
    model = found["workload"]["hot_cold"]
    assert model["rate_per_s"] == 10_000
    assert (model["hot_fraction"], model["hot_share"], model["read_fraction"]) == (0.1, 0.9, 0.3)
    assert model["range_bytes"] == pytest.approx(0.5 * 0.93 * 4 * 256 * 16 * 4096, abs=4096)
    assert found["run"]["measure"]["seconds"] == 0.002
    report = flashwatt.run("out.toml")
    assert report.status == "complete"
    assert 5 < report.workload.requests < 50


def test_lengths_of_a_normal_distribution() -> None:
    """MQSim rounds up: half of the requests have at most the mean, and a sector is the least."""
    normal = flow(Request_Size_Distribution="NORMAL", Average_Request_Size=8, Variance_Request_Size=2)
    lengths = settings(drive(), workload((normal,)))["workload"]["uniform"]["request_bytes"]
    assert lengths[0][0] == 512
    assert sum(share for _, share in lengths) == pytest.approx(1, abs=1e-5)
    assert sum(share for size, share in lengths if size <= 8 * 512) == pytest.approx(0.5, abs=1e-5)
    wide = flow(Request_Size_Distribution="NORMAL", Average_Request_Size=1000, Variance_Request_Size=300)
    assert len(settings(drive(), workload((wide,)))["workload"]["uniform"]["request_bytes"]) <= 32
    assert flashwatt.run("out.toml", run__measure__requests=20).status == "complete"


def test_several_flows_are_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    two = workload((flow(Read_Percentage=0), flow(Read_Percentage=40, Average_No_of_Reqs_in_Queue=2)))
    found = converted(drive(), two)
    assert found.jobs
    assert "rw=randwrite\n" in found.jobs
    assert "rwmixread=40\n" in found.jobs
    report = flashwatt.run("out.toml")
    assert (report.status, report.workload.requests) == ("complete", 400)
    with pytest.raises(flashwatt.FlashwattError, match=r"flows.xml: found 2 flows.*expected --out FILE.*--flow 1 to 2"):
        converted(drive(), two, out=None)
    with pytest.raises(
        flashwatt.FlashwattError, match=r"flows.xml:\d+: Average_Request_Size: found '99999'; expected less"
    ):
        converted(drive(), workload((flow(), flow(Average_Request_Size=99_999))))
    with pytest.raises(
        flashwatt.FlashwattError, match=r"flows.xml:\d+: Address_Alignment_Unit: found '99999'; expected"
    ):
        converted(drive(), workload((flow(), flow(Address_Alignment_Unit=99_999))))
    converted(drive(), two)
    only = settings(drive(), two, flow=2)["workload"]["uniform"]
    assert only["start_bytes"] == pytest.approx(0.5 * 0.93 * 4 * 256 * 16 * 4096, abs=8192), "its part of the drive"
    main_ends(0, "init --mqsim ssd.xml --mqsim-workload flows.xml --out new.toml", capsys)
    assert Path("new.fio").read_text().splitlines()[0].endswith("for new.toml.")
    said = main_ends(2, "init --mqsim ssd.xml --mqsim-workload flows.xml --out jobs.fio", capsys)
    assert "--out: found jobs.fio, which is the name of the job file of the flows; expected a name that ends in" in said
    Path("old.fio").write_text("mine")
    said = main_ends(2, "init --mqsim ssd.xml --mqsim-workload flows.xml --out old.toml", capsys)
    assert "old.fio is there already" in said
    assert not Path("old.toml").exists()


def test_flows_on_a_part_of_the_drive() -> None:
    """Where all flows name the same parts, the drive is built of these."""
    part = flow(Channel_IDs="1", Chip_IDs="0,1")
    found = converted(drive(), workload((part, part))).config
    assert tomli.loads(found)["device"]["channels"] == 1
    assert "the flows use a part: Channel_IDs has 1" in found
    other = flow(Channel_IDs="0,1")
    assert settings(drive(), workload((part, other)))["device"]["channels"] == 2
    assert "offset=0\n" in Path("out.fio").read_text()
    # the first flow shares channel 1 with the second, which has channel 0 alone: 1 to 3 of the addresses
    quarter = flashwatt.Config.of("out.toml").resolve()["device"]["logical_bytes"] / 4
    assert int(re.findall(r"offset=(\d+)", Path("out.fio").read_text())[1]) == pytest.approx(quarter, abs=4096)


def test_the_start_state() -> None:
    before = drive(Enabled_Preconditioning="true")
    found = settings(before, workload((flow(Read_Percentage=0),)))
    whole = int(4 * 256 * 16 * 0.93) * 4096
    assert found["run"]["precondition"] == "steady"
    assert found["device"]["logical_bytes"] == whole * 75 // 100 // 4096 * 4096
    assert settings(before, workload((flow(),)))["run"]["precondition"] == "filled"
    assert settings(drive(), workload((flow(Read_Percentage=0),)))["run"]["precondition"] == "empty"
    assert settings(drive(), workload((flow(Read_Percentage=1),)))["run"]["precondition"] == "filled"


def test_traces_are_a_replay() -> None:
    Path("traces").mkdir()
    Path("traces/a.trace").write_text("0 0 303 8 0\n26000 1 240840 8 1\n26001 0 311 16 0\n27000 0 99 8 1\n")
    one = flow(TRACE, File_Path="traces/a.trace", Percentage_To_Be_Executed=50, Time_Unit="MICROSECOND")
    found = settings(drive(), workload((one,)))["workload"]["trace"]
    assert found == {"path": "traces/a.trace", "format": "ssdsim", "time_unit": "us", "fold": True, "max_requests": 2}
    assert flashwatt.run("out.toml").workload.requests == 2
    twice = flow(TRACE, File_Path="traces/a.trace", Relay_Count=2)
    assert settings(drive(), workload((twice, twice)))["workload"]["trace"]["path"] == ["traces/a.trace"] * 2
    assert flashwatt.run("out.toml").workload.requests == 16
    gone = converted(drive(), workload((flow(TRACE, File_Path="x\n[gc]"),))).config
    assert tomli.loads(gone)["workload"]["trace"]["path"] == "x\n[gc]", "a name stays a name"
    assert "no such file when this was written" in gone
    with pytest.raises(flashwatt.FlashwattError, match=r"expected --flow 1 to 2"):
        converted(drive(), workload((twice, flow())))


def main_ends(status: int, line: str, capsys: pytest.CaptureFixture[str]) -> str:
    ended: object = 0
    try:
        main(line.split())
    except SystemExit as stop:
        ended = stop.code
    captured = capsys.readouterr()
    assert ended == status, captured.err
    assert "Traceback" not in captured.err
    return captured.err if status else captured.out


GOOD = drive()
TIMES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
NOT_XML = {
    "empty": (b"", "ssd.xml: empty; expected XML"),
    "text": (b"hello\n", "ssd.xml:1:1: not XML; .*found 'hello'"),
    "noughts": (bytes(64), "ssd.xml:1:1: not XML"),
    "cut": (GOOD[:900].encode(), r"ssd.xml:\d+:\d+: not XML; .*expected XML, every <NAME> with its </NAME>"),
    "bomb": (f"{TIMES}<Execution_Parameter_Set>&b;</Execution_Parameter_Set>".encode(), "ssd.xml:1: a document type"),
    "external": (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><x/>', "ssd.xml:1: a document type"),
    "entity": (b"<Execution_Parameter_Set>&e;</Execution_Parameter_Set>", "ssd.xml:1:26: not XML; undefined entity"),
    "deep": (b"<a>" * 5000, "ssd.xml:1: nested too deep; expected 16 levels at most"),
    "many": (b"<a>" + b"<b/>" * 20_001 + b"</a>", "ssd.xml:1: too many elements; expected 20,000 at most"),
    "long": (b"<a>" + b" " * (5 << 20) + b"</a>", "ssd.xml: too long; found 5,242,887 bytes; expected 4,194,304"),
    "encoding": (b'<?xml version="1.0" encoding="klingon"?><a/>', "ssd.xml:1: not XML; unknown encoding: klingon"),
    "bytes": (b'<?xml version="1.0" encoding="base64"?><a/>', "ssd.xml:1: not XML; .*expected the encoding UTF-8"),
    "wide": (GOOD.encode("utf-32"), "ssd.xml:1:[0-9]+: not XML"),
    "name": (b"<" + b"a" * 5000 + b"/>", "a name of 5,000 characters; expected 100 at most"),
    "attribute": (
        GOOD.replace("<Seed>", '<Seed unit="1">').encode(),
        "found <Seed> with the attribute .*expected values between",
    ),
    "other": (b"<html/>", "outermost element: found <html>; expected <Execution_Parameter_Set>"),
    "workload": (workload((flow(),)).encode(), "a workload of MQSim; give it as --mqsim-workload"),
    "results": (b"<MQSim_Results/>", "the results of a run of MQSim"),
    "foreign": (
        GOOD.replace("<Seed>", "".join(f"<x{one}/>" for one in range(51)) + "<Seed>").encode(),
        "51 names that are no keys of MQSim's, as <x0>; expected 50 at most",
    ),
    "no flash": (b"<Execution_Parameter_Set><Device_Parameter_Set/></Execution_Parameter_Set>", "0 elements <Flash_P"),
}


@pytest.mark.parametrize("name", NOT_XML)
def test_what_is_no_drive_of_mqsim_is_one_error(name: str) -> None:
    content, expected = NOT_XML[name]
    Path("ssd.xml").write_bytes(content)
    with pytest.raises(flashwatt.FlashwattError) as error:
        convert(Asked(Path("ssd.xml")))
    assert re.search(expected, str(error.value)), error.value
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400


NO_DRIVE: dict[str, tuple[dict[str, object], str]] = {
    "negative": ({"Flash_Channel_Count": -8}, "Flash_Channel_Count: found '-8'; expected a whole number, 1 to 1,024"),
    "nothing": ({"Flash_Channel_Count": ""}, "Flash_Channel_Count: found nothing"),
    "digits": ({"Flash_Channel_Count": "9" * 5000}, "Flash_Channel_Count: found '999"),
    "fraction": ({"Page_Capacity": "8192.5"}, "Page_Capacity: found '8192.5'"),
    "page": (
        {"Page_Capacity": 8000},
        "Page_Capacity: device.page_bytes: invalid value; found 8000; expected a power of",
    ),
    "dies": (
        {"Chip_No_Per_Channel": 64, "Die_No_Per_Chip": 2},
        "Chip_No_Per_Channel, Die_No_Per_Chip: device.ways: out",
    ),
    "no number": (
        {"Overprovisioning_Ratio": "nan"},
        "Overprovisioning_Ratio: found 'nan'; expected a number, 0 or more",
    ),
    "no space": (
        {"Overprovisioning_Ratio": 0},
        "Overprovisioning_Ratio: device.spare_fraction: too little spare flash",
    ),
    "word": ({"GC_Block_Selection_Policy": "GREDY"}, "found 'GREDY'; expected GREEDY, RGA, RANDOM"),
    "layer": ({"Address_Mapping": "HYBRID"}, "Address_Mapping: found 'HYBRID'; expected PAGE_LEVEL"),
    "truth": ({"Ideal_Mapping_Table": "maybe"}, "Ideal_Mapping_Table: found 'maybe'; expected true or false"),
    "map": ({"Ideal_Mapping_Table": "false", "CMT_Capacity": 4}, "CMT_Capacity: found '4'; expected 5 bytes or more"),
    "buffer": ({"Data_Cache_Capacity": 100}, "Data_Cache_Capacity: write_buffer.bytes: smaller than a page"),
    "element": ({"Seed": "<b>3</b>"}, "Seed: found <b> in it; expected a whole number"),
    "escape": ({"Seed": "\u202e3"}, "Seed: found '\\\\u202e3'"),
}


@pytest.mark.parametrize("name", NO_DRIVE)
def test_a_value_that_is_no_drive_has_its_place(name: str) -> None:
    changed, expected = NO_DRIVE[name]
    with pytest.raises(flashwatt.FlashwattError, match=rf"^ssd.xml:\d+: .*{expected}") as error:
        converted(drive(SMALL, **changed))
    line = int(str(error.value).split(":")[1])
    assert next(iter(changed)) in Path("ssd.xml").read_text().splitlines()[line - 1] or name in ("dies", "map")


def test_names_that_are_no_keys() -> None:
    with pytest.raises(
        flashwatt.FlashwattError, match=r"<Flash_Chanel_Count>.*did you mean Flash_Channel_Count, which"
    ):
        converted(GOOD.replace("Flash_Channel_Count", "Flash_Chanel_Count"))
    with pytest.raises(flashwatt.FlashwattError, match=r"<Page_Capacity>; expected it in <Flash_Parameter_Set>"):
        converted(GOOD.replace("<Seed>", "<Page_Capacity>4096</Page_Capacity><Seed>"))
    with pytest.raises(
        flashwatt.FlashwattError, match=r"Seed: found it a second time, after line \d+; expected it once"
    ):
        converted(GOOD.replace("<Seed>", "<Seed>1</Seed><Seed>"))
    found = converted(GOOD.replace("<Seed>", "<Chip_Colour>red</Chip_Colour><Seed>")).config
    assert "#   Chip_Colour: no key of MQSim's at 7ec40e3" in found
    least = converted(
        "<Execution_Parameter_Set><Device_Parameter_Set><Flash_Parameter_Set/></Device_Parameter_Set></Execution_Parameter_Set>"
    )
    assert "Flash_Channel_Count 8 (not in the file: MQSim's own)" in least.config


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"Channel_IDs": "0,2"}, "Channel_IDs: found '0,2'; expected numbers from 0 to 1: Flash_Channel_Count is 2"),
        ({"Channel_IDs": "0;1"}, "Channel_IDs: found '0;1'; expected whole numbers with commas"),
        ({"Total_Requests_To_Generate": 0}, "Stop_Time: found '0'; expected a time of more than 0 ns"),
        ({"Address_Distribution": "MIXED_STREAMING_RANDOM"}, "expected STREAMING, RANDOM_UNIFORM or RANDOM_HOTCOLD"),
        ({"Read_Percentage": 101}, "Read_Percentage: found '101'; expected a whole number of percent, 0 to 100"),
        (
            {"Average_Request_Size": 1 << 20},
            "Working_Set_Percentage: workload.uniform.range_bytes: a request is longer than the range",
        ),
    ],
)
def test_a_value_that_is_no_flow_has_its_place(changed: dict[str, object], expected: str) -> None:
    with pytest.raises(flashwatt.FlashwattError, match=rf"^flows.xml:\d+: .*{expected}"):
        converted(drive(), workload((flow(**changed),)))


def test_scenarios_are_chosen() -> None:
    two = workload((flow(),), (flow(Read_Percentage=7),))
    with pytest.raises(flashwatt.FlashwattError, match=r"flows.xml:1: .*found 2 scenarios; expected --scenario 1 to 2"):
        converted(drive(), two)
    assert settings(drive(), two, scenario=2)["workload"]["uniform"]["read_fraction"] == 0.07
    with pytest.raises(flashwatt.FlashwattError, match=r"--scenario: found 3; expected 1 to 2"):
        converted(drive(), two, scenario=3)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    Path("ssd.xml").write_bytes(drive().encode("utf-16"))
    Path("flows.xml").write_text(workload((flow(),)))
    both = "init --mqsim ssd.xml --mqsim-workload flows.xml"
    printed = main_ends(0, both, capsys)
    assert tomli.loads(printed)["device"]["preset"] == "limit"
    main_ends(0, f"{both} --out a.toml", capsys)
    assert Path("a.toml").read_text() == f"#:schema ./flashwatt.schema.json\n{printed}"
    main_ends(0, "run a.toml --json --requests 20", capsys)
    assert "a.toml is there already" in main_ends(2, f"{both} --out a.toml", capsys)
    assert "a file that is read" in main_ends(2, f"{both} --out flows.xml --force", capsys)
    assert tomli.loads(main_ends(0, f"{both} tlc-nvme-1t", capsys))["device"]["preset"] == "tlc-nvme-1t"
    assert "raptor-x: a disk; expected the preset of an SSD" in main_ends(2, f"{both} raptor-x", capsys)
    assert "`flashwatt init --mqsim ssd.xml` converts" in main_ends(2, "init ssd.xml", capsys)
    assert "--flow: no drive of MQSim; expected --mqsim XML as well" in main_ends(2, "init --flow 1", capsys)
    assert "expected --mqsim-workload XML as well" in main_ends(2, "init --mqsim ssd.xml --flow 1", capsys)


@pytest.mark.parametrize("section", [*keys.SECTIONS, ""])
def test_the_documentation_has_every_key(section: str) -> None:
    assert keys.table(section) in (ROOT / "docs/from-mqsim.md").read_text()
