"""The reference of keys and presets: `explain`, `init`, `schema`, and the pages about them."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
import tomli

from conftest import spelled_out
from flashwatt import Config, FlashwattError
from flashwatt.cli.explanation import explain
from flashwatt.config import reference
from flashwatt.config.template import template
from flashwatt.report import keys as report_keys

if TYPE_CHECKING:
    from conftest import Cli

ROOT = Path(__file__).parents[2]
CONFIGS = sorted([*ROOT.glob("presets/*.toml"), *ROOT.glob("examples/*.toml")])
every_preset = pytest.mark.parametrize("preset", reference.presets())


@every_preset
def test_presets_are_explained_whole(flashwatt: Cli, preset: str) -> None:
    result = flashwatt("explain", preset)
    assert result.returncode == 0, result.stderr
    about, settings = reference.preset(preset)
    assert about.splitlines()[0] in result.stdout
    assert len(settings) > 30
    for setting in settings.values():
        assert f"{setting['key'].rpartition('.')[2]} = {reference.written(setting['value'])}" in result.stdout
    assert result.stdout.count("Source: ") == sum(bool(setting["source"]) for setting in settings.values())


def test_figures_of_a_report_are_explained(flashwatt: Cli) -> None:
    told = flashwatt("explain", "flash.write_amplification").stdout
    assert "`rmw_factor` × `buffer_factor` (1 without a buffer) × `gc_factor`" in " ".join(told.split())
    assert flashwatt("explain", "write_amplification").stdout == told, "its end is enough where there is one such key"
    table = flashwatt("explain", "flash").stdout
    for words in ("Pages read, pages programmed, blocks erased.", "write_amplification  Bytes programmed"):
        assert words in table
    unknown = flashwatt("explain", "write_amplificaton").stderr
    assert "did you mean `flash.write_amplification`?" in unknown
    assert "several keys end in this" in flashwatt("explain", "peak").stderr
    for word, key in (("WAF", "flash.write_amplification"), ("waf", "flash.write_amplification"), ("J/GB", "j_per_gb")):
        assert key in flashwatt("explain", word).stdout.splitlines()[0]
    assert "device.timing.erase_ns" in flashwatt("explain", "tBERS").stdout
    known = report_keys.report_keys()
    assert not [key for key, doc in known.items() if not doc], "a key without a meaning"
    assert {"energy_j.nand.program", "latency_ns.read.p99", "current_ma.supply_v", "window.flash_ops"} <= set(known)
    for key in ("controller.active", "controller.idle", "dram.active", "dram.idle"):
        assert "Energy in J at the" in flashwatt("explain", f"energy_j.{key}").stdout
    for key in ("rmw_factor", "buffer_factor", "gc_factor"):
        assert "/" in known[f"flash.{key}"], "a formula"


def test_a_key_is_explained(flashwatt: Cli) -> None:
    result = flashwatt("explain", "device.timing.erase_ns")
    for words in ("whole number; ns; 1 to", "tBERS", "x25m = 2_000_000", "ES Table III", "rftl-4g = 1_500_000"):
        assert words in result.stdout
    whole, end = (flashwatt("explain", key).stdout for key in ("device.timing.page_transfer_ns", "page_transfer_ns"))
    assert whole == end, "its end is enough where there is one such key"
    found = json.loads(flashwatt("explain", "energy.dram_rule", "--json").stdout)
    assert [one["name"] for one in found["choices"]] == ["with_controller", "per_op"]
    assert found["default"] == "per_op"
    assert found["presets"]["x25m"]["value"] == "with_controller"
    table = flashwatt("explain", "device.timing").stdout
    assert "read_ns" in table
    assert "tBERS" in table


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("device.timing.raed_ns", "device.timing.read_ns"), ("park-2g", "park-1g"), ("workload.zipf.teta", "theta")],
)
def test_a_misspelt_name_gets_the_nearest(flashwatt: Cli, wrong: str, right: str) -> None:
    result = flashwatt("explain", wrong)
    assert result.returncode == 2
    assert result.stdout == ""
    assert right in result.stderr.partition("did you mean")[2]


def test_an_ending_of_several_keys_names_them(flashwatt: Cli) -> None:
    result = flashwatt("explain", "volts")
    assert result.returncode == 2
    assert "`energy.nand.volts`" in result.stderr


@every_preset
def test_a_template_is_its_preset_until_it_is_changed(preset: str) -> None:
    assert Config(template(preset)).resolve() == Config(f'device.preset = "{preset}"').resolve()


@every_preset
def test_a_template_with_every_value_of_the_preset_is_the_preset(preset: str) -> None:
    _, settings = reference.preset(preset)
    text, uncommented = spelled_out(preset)
    assert uncommented == len(settings)
    assert Config(text).resolve() == Config(f'device.preset = "{preset}"').resolve()


@every_preset
def test_a_template_has_every_key_of_the_drive(preset: str) -> None:
    text = template(preset)
    is_disk = "[hdd.geometry]" in text
    tables = ("hdd",) if is_disk else ("device", "energy", "controller", "wear", "write_buffer")
    for key, facts in reference.keys().items():
        if key.partition(".")[0] in tables and "object" not in facts["types"]:
            assert re.search(rf"^#?{key.rpartition('.')[2]} =", text, re.MULTILINE), key


def test_init_writes_the_schema_beside_it(flashwatt: Cli, tmp_path: Path) -> None:
    assert flashwatt("init", "rftl-4g").stdout == template("rftl-4g")
    result = flashwatt("init", "rftl-4g", "--out", "drive.toml")
    assert result.returncode == 0, result.stderr
    first = (tmp_path / "drive.toml").read_text().splitlines()[0]
    beside = tmp_path / first.removeprefix("#:schema ")
    assert json.loads(beside.read_text()) == json.loads(flashwatt("schema").stdout)
    again = flashwatt("init", "--out", "drive.toml")
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert flashwatt("init", "--out", "drive.toml", "--force").returncode == 0
    assert flashwatt("run", "drive.toml", "--requests", "100").returncode == 0


@cache
def by_schema() -> jsonschema.Draft7Validator:
    """Check that the schema is one, which takes as long as to check a configuration by it."""
    jsonschema.Draft7Validator.check_schema(reference.schema())
    return jsonschema.Draft7Validator(reference.schema())


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_schema_accepts_every_configuration_of_the_engine(path: Path) -> None:
    by_schema().validate(tomli.loads(path.read_text()))


@pytest.mark.parametrize(
    "text",
    [
        "device.chanels = 4",
        "device.channels = 0",
        'device.preset = "x25n"',
        'ftl = "pages"',
        "[workload.zipf]\nthetta = 1",
        "[workload.zipf]\nscattered = 2",
        "[gc.policy.d_choices]\nd = 0",
        '[energy.nand]\ntransfer_ma = "operations"',
        "[workload.uniform]\n[workload.zipf]",
        "run.seed = 1.5",
    ],
)
def test_the_schema_refuses_with_the_engine(text: str) -> None:
    assert not by_schema().is_valid(tomli.loads(text))
    with pytest.raises(FlashwattError):
        Config(text).resolve()


def test_every_page_is_in_the_navigation() -> None:
    nav = (ROOT / "mkdocs.yml").read_text()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        assert str(page.relative_to(ROOT / "docs")) in nav
    for example in sorted((ROOT / "examples").glob("[0-9][0-9]_*.py")):
        assert f"tutorial/{example.stem}.md" in nav


def test_the_energy_model_has_all_fourteen_equations() -> None:
    page = (ROOT / "docs/energy-model.md").read_text()
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == [str(number) for number in range(1, 15)]
    for word in (
        "always_on",
        "flash_off",
        "busy_only",
        "busy_or_loading",
        "per_op",
        "with_controller",
        "energy_integral_j",
    ):
        assert f"`{word}`" in page


def test_recordings_are_explained() -> None:
    for key, words in (("series", "owed_j"), ("series.power_w", "Mean power in each bin"), ("edges.total_ma", "sum")):
        assert words in explain(key)["doc"], key


# Words that are no keys.


@pytest.mark.parametrize(
    ("word", "name", "said"),
    [
        ("WA", "Write amplification", "docs/glossary.md"),
        ("garbage collector", "Garbage collection", "docs/glossary.md"),
        ("busy dies", "Busy dies", "parallelism.mean_active_dies"),
        ("PCIe 4", "PCIe, NVMe, SATA", "device.host_link"),
        ("slc", "SLC cache", "docs/"),
        ("SLC cache", "SLC cache", "docs/"),
        ("pSLC", "SLC cache", "docs/"),
        ("multi-plane", "multi-plane", "docs/"),
        ("suspend", "suspend", "docs/"),
        ("ZNS", "ZNS", "Not modelled: the host sees one space"),
        ("FDP", "ZNS", "Not modelled"),
        ("throttling", "temperature", "Not modelled"),
    ],
)
def test_a_word_is_explained(flashwatt: Cli, word: str, name: str, said: str) -> None:
    result = flashwatt("explain", word)
    assert result.returncode == 0, result.stderr
    assert name.lower() in " ".join(result.stdout.split()).lower()
    assert said in " ".join(result.stdout.split())
    assert json.loads(flashwatt("explain", word, "--json").stdout)["terms"]


def test_the_terms_are_those_of_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "tools"))
    import terms

    assert terms.FILE.read_text(encoding="utf-8") == terms.written(), "python tools/terms.py writes them"
    assert len(terms.terms()) > 50


def test_a_word_is_looked_for_behind_keys(flashwatt: Cli) -> None:
    assert "list schedulers" in flashwatt("explain", "cfq").stderr or "sched" in flashwatt("explain", "cfq").stdout
    assert "device.op_ratio" in flashwatt("explain", "op_ratio").stdout
    assert "did you mean `device.channels`" in flashwatt("explain", "chanels").stderr
