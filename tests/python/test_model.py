"""`flashwatt model`: the figures of SPEC D6 and D7 through the command line."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import polars as pl
import pytest

import flashwatt as package
from flashwatt import _core

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli


def test_mapping_memory_is_the_table_of_d7(flashwatt: Cli) -> None:
    rows = json.loads(flashwatt("model", "mapping-memory", "--json").stdout)["rows"]
    assert [row["capacity_bytes"] for row in rows] == [2**power for power in range(29, 41)]
    kib = {key: value / 1024 for key, value in rows[0].items()}
    assert (kib["page"], kib["block"], kib["dftl"]) == (768, 8, 40)
    assert kib["fast"] == kib["last"] == 46.25
    last = {key: value // 1024 for key, value in rows[-1].items()}
    assert (last["page"], last["block"], last["dftl"]) == (2_097_152, 24_576, 24_608)


def test_mapping_memory_prints_what_it_is_asked(flashwatt: Cli) -> None:
    lines = flashwatt("model", "mapping-memory", "--capacity", "512M", "--capacity", "1T").stdout.splitlines()
    assert lines[0].split() == ["KB", "of", "tables", "page", "block", "fast", "last", "dftl"]
    assert lines[1].split() == ["512", "MiB", "768.0", "8.0", "46.2", "46.2", "40.0"]
    assert len(lines) == 3


def test_rftl_is_the_grid_of_d6(flashwatt: Cli) -> None:
    found = json.loads(flashwatt("model", "rftl", "--json").stdout)
    assert found["miss"] == [0, 0.2, 0.4, 0.6, 0.8, 1]
    expected = {
        "base, P_GC = 1": [0.1, 230.1, 460.1, 690.1, 920.1, 1150.1],
        "2 copies, P = 0.250": [0.1, 185.1, 370.1, 555.1, 740.1, 925.1],
        "4 copies, P = 0.500": [0.1, 140.1, 280.1, 420.1, 560.1, 700.1],
        "6 copies, P = 0.750": [0.1, 95.1, 190.1, 285.1, 380.1, 475.1],
        "best, P = 1": [0.1, 50.1, 100.1, 150.1, 200.1, 250.1],
    }
    assert list(found["lookup_us"]) == list(expected)
    for name, values in expected.items():
        assert found["lookup_us"][name] == pytest.approx(values, rel=1e-9)
    assert [(row["replicas"], row["map_mb"]) for row in found["cost"]] == [
        (0, 200),
        (1, 400),
        (3, 800),
        (7, 1600),
        (15, 3200),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("mapping-memory", "--capacity", "12X"), "'12X' is no size"),
        (("mapping-memory", "--capacity", "0"), "is no size"),
        (("mapping-memory", "--capacity", "1K"), "smaller than a block"),
        (("mapping-memory", "--block-bytes", "3000"), "no multiple"),
        (("rftl", "--copies", "9"), "there are 8"),
        (("rftl", "--miss", "1.5"), "1.5"),
    ],
)
def test_senseless_arguments_are_named(flashwatt: Cli, arguments: tuple[str, ...], said: str) -> None:
    result = flashwatt("model", *arguments)
    assert result.returncode == 2
    assert said in result.stderr


@pytest.mark.parametrize("kind", ["program", "read"])
def test_power_is_that_of_a_run_with_n_dies_at_work(kind: str) -> None:
    """Where one to four dies do the same and nothing else happens, the edges of a run have the model's current."""
    drive = {"device": {"preset": "tlc-nvme-1t", "channels": 4, "ways": 1, "logical_bytes": 1 << 30, "op_ratio": 0.5}}
    report = package.run(
        {
            **drive,
            "workload.uniform": {
                "requests": 40,
                "request_bytes": 16_384,
                "align_bytes": 16_384,
                "read_fraction": 1.0 if kind == "read" else 0.0,
                "queue_depth": 4,
            },
            "write_buffer.bytes": 0,
        },
        edges=True,
    )
    config = package.Config.of(drive)
    levels = json.loads(_core.power_levels(config.text, config.name, list(config.sets), [1, 2, 3, 4]))
    edges = report.edges()
    own, others = f"nand_{kind}_ma", {"nand_read_ma", "nand_program_ma", "nand_erase_ma", "nand_transfer_ma"}
    calm = edges.filter(
        pl.all_horizontal(pl.col(name) == 0 for name in (others | {"host_interface_ma"}) - {own}),
        pl.col(own) > 0,
        pl.col("dram_ma") == pl.col("dram_ma").min(),
    )
    seen = set()
    of_a_die = report.config["energy"]["nand"][f"{kind}_ua"] / 1e3
    for row in calm.iter_rows(named=True):
        dies = round(row[own] / of_a_die)
        seen.add(dies)
        assert row["total_ma"] == pytest.approx(levels["at_work"][dies - 1][kind]["ma"], rel=1e-9)
    assert len(seen) >= 3
    assert levels["supply_v"] == report.current_ma.supply_v
    assert levels["quiet"]["ma"] == pytest.approx(
        sum(levels["parts"][part]["ma"] for part in ("controller_idle", "dram_idle", "dies_idle"))
    )


def test_power_prints_what_it_is_asked(flashwatt: Cli, config: Path) -> None:
    text = flashwatt("model", "power", "--preset", "x25m", "--dies", 1, "--dies", 20).stdout
    assert "currents at 5 V" in text
    assert [line.split()[:5] for line in text.splitlines() if line.split()[:1] in (["1"], ["20"])] == [
        ["1", "1.04", "W", "207", "mA"],
        ["20", "2.65", "W", "530", "mA"],
    ]
    few = json.loads(flashwatt("model", "power", config, "--set", "device.channels=3", "--json").stdout)
    assert [row["dies"] for row in few["at_work"]] == [1, 2, 4, 6]
    wrong = flashwatt("model", "power", "--dies", 21)
    assert (wrong.returncode, wrong.stderr) == (
        2,
        "flashwatt: error: --dies: not a number of dies of this drive; found 21; "
        "expected 1 to 20 (device.channels × device.ways)\n",
    )
    assert "--preset: unknown preset" in flashwatt("model", "power", "--preset", "x26m").stderr


# Write amplification by theory.

FORM = {"preset": "x25m", "channels": 2, "ways": 1, "logical_bytes": 200 << 20, "op_ratio": 0.2}
STEADY = {"device": FORM, "workload": {"uniform": {"requests": 12_000}}}
STEADY |= {"run": {"precondition": "steady", "warmup": {"requests": 6_000}}}


@pytest.fixture(scope="module")
def collected() -> package.Results:
    """Sweep over two policies from a steady start."""
    return package.sweep({"gc.policy": ["greedy", "fifo"]}, base=STEADY, seeds=2, workers=1)


def test_theory_by_hand() -> None:
    """First in, first out with r = 1 / (2 ln 2): u = exp(-(1 - u) / r) has the root u = 1/2, so that WA = 2."""
    assert package.theory.first_in_first_out(1 / (2 * math.log(2))) == pytest.approx(2)
    assert package.theory.greedy(0.5, 1) == pytest.approx(1)  # a block of one page has no valid page to copy


def test_theory_is_near_the_simulation(flashwatt: Cli, collected: package.Results) -> None:
    command = ["model", "write-amplification", "--json"]
    for key in ("preset", "channels", "ways", "logical_bytes", "op_ratio"):
        command += ["--set", f"device.{key}={json.dumps(FORM[key])}"]
    for one in collected:
        (row,) = json.loads(flashwatt(*command, "--set", f"gc.policy={one.point['gc.policy']}").stdout)["rows"]
        assert one.report.flash.write_amplification == pytest.approx(row["write_amplification"], rel=0.06)
    lines = flashwatt("model", "write-amplification", "--op-ratio", "0.1", "--op-ratio", "0.2").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["policy", "greedy", "greedy"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--preset", "laptop-7200"], "theory: not an SSD"),
        (["--set", "gc.policy=cost_benefit"], "theory: found gc.policy cost_benefit; expected one of greedy, random"),
        (["--set", "ftl=dftl"], "theory: found the layer dftl; expected page mapping"),
        (["--set", "workload.hot_cold.requests=9"], "theory: found the workload hot_cold; expected uniform"),
        (
            ["--set", "workload.uniform.request_bytes=8192"],
            "found writes of 8192 bytes; expected whole pages, 4096",
        ),
    ],
)
def test_what_theory_does_not_cover(flashwatt: Cli, options: list[str], said: str) -> None:
    result = flashwatt("model", "write-amplification", *options)
    assert result.returncode == 2
    assert said in result.stderr


def test_theory_beside_a_figure(collected: package.Results) -> None:
    wa, x = "flash.write_amplification", "device.op_ratio"
    spec = package.plot.versus(collected, "gc.policy", wa, theory=True).spec()
    rows = [row for part in spec["datasets"].values() for row in part if "theory" in row]
    found = {one.point["gc.policy"]: package.theory.of_config(one.report.config) for one in collected}
    assert {row["x"]: row["theory"] for row in rows} == {
        name: pytest.approx(form.write_amplification, rel=1e-5) for name, form in found.items()
    }
    frame = pl.DataFrame({x: [0.1, 0.2, 0.3], wa: [5.0, 3.0, 2.4]})
    chart = package.plot.versus(frame, x, wa, theory=lambda share: 1 / (2 * share))
    assert "Dashed: theory." in chart.subtitle
    rows = [row for part in chart.spec()["datasets"].values() for row in part if "theory" in row]
    assert len(rows) > 50
    assert rows[0] == {"x": 0.1, "series": "", "key": "theory", "theory": 5}
    for wrong, said in (
        (True, "found a frame"),
        (lambda _: "x", "found 'x' at 0.1"),
        (2, "expected True, or a function"),
    ):
        with pytest.raises(package.FlashwattError, match=said):
            package.plot.versus(frame, x, wa, theory=wrong)  # type: ignore[arg-type]
    with pytest.raises(package.FlashwattError, match=r"no closed form of energy_j\.total"):
        package.plot.versus(collected, "gc.policy", "energy_j.total", theory=True)
