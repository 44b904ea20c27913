"""The report's section `host`: every key has a description, and the reference has ranges of schedulers' parameters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from flashwatt.report.keys import report_keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Cli

CONFIG = """
[device]
scale = "1/64"
[host]
scheduler = "mq_deadline"
[workload.uniform]
requests = 200
processes = 2
queue_depth = 4
"""


def _keys(value: Any, key: str) -> Iterator[str]:
    yield key
    match value:
        case dict():
            for name, inner in value.items():
                yield from _keys(inner, f"{key}.{name}")
        case [dict() as first, *_]:
            for name, inner in first.items():
                yield from _keys(inner, f"{key}.{name}")


def test_every_key_of_the_section_is_described(flashwatt: Cli, tmp_path: Path) -> None:
    config = tmp_path / "host.toml"
    config.write_text(CONFIG)
    report = json.loads(flashwatt("run", str(config), "--json").stdout)
    described = report_keys()
    keys = list(_keys(report["host"], "host"))
    assert len(keys) > 90
    assert [key for key in keys if not described.get(key)] == []
    assert report["host"]["fairness"] == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("host.scheduler.deadline.fifo_batch", ("1 to 65536", "16")),
        ("host.plug_ns", ("3000000",)),
        ("host.queue_depth", ("1 to 65536",)),
    ],
)
def test_explain_gives_range_and_default(flashwatt: Cli, key: str, parts: tuple[str, ...]) -> None:
    text = flashwatt("explain", key).stdout.replace(",", "").replace("_", "")
    for part in parts:
        assert part in text, text
