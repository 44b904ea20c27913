"""`flashwatt model`: the figures of SPEC D6 and D7 through the command line."""

import json

import pytest

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
