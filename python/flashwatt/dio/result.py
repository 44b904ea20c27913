"""The result of a benchmark: JSON with a versioned schema, CSV."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.files import parse_json, printable, read_text
from flashwatt.base.marks import DIO
from flashwatt.base.reads import reads
from flashwatt.dio.figures import rails_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from flashwatt.base.files import Json

SCHEMA = 1
FILE = "dio.json"
_BYTES_MAX = 256 << 20
_NEEDED = ("dio", "version", "status", "target", "plan", "power", "points", "probes", "written", "warnings")


def encoded(content: Json) -> bytes:
    """Write a result as the file holds it."""
    return (json.dumps(content, indent=1) + "\n").encode()


def file_of(path: Path) -> Path:
    """Give the dio.json of a directory, or the file itself."""
    file = path / FILE if path.is_dir() else path
    reads(file)
    return file


def is_result(path: Path) -> bool:
    """Whether a file, or the dio.json of a directory, is a result."""
    file = file_of(path)
    try:
        return file.is_file() and DIO.is_ours(file)
    except OSError:
        return False


def read(path: Path) -> Json:
    """Read a result. Raises `FlashwattError` for another file, and for one of another schema."""
    file = file_of(path)
    name = printable(file)
    content = parse_json(read_text(file, _BYTES_MAX), name)
    if not isinstance(content, dict) or "dio" not in content:
        raise _core.FlashwattError(f"{name}: not a result of `flashwatt dio`; expected a {FILE}")
    if content["dio"] != SCHEMA:
        raise _core.FlashwattError(f"{name}: dio: found schema {content['dio']}; expected {SCHEMA}")
    for key in _NEEDED:
        if key not in content:
            raise _core.FlashwattError(f"{name}: {key}: missing; expected a {FILE} as `flashwatt dio --out` wrote it")
    return content


def rows(content: Json) -> Iterator[dict[str, Any]]:
    """Give the points as flat rows, for CSV and frames."""
    rails = rails_of(content["points"])
    for one in content["points"]:
        latency, power = one["latency_ns"] or {}, one["power_w"] or {}
        plain = {
            key: value for key, value in one.items() if key not in ("latency_ns", "power_w", "began_ns", "ended_ns")
        }
        yield {
            "target": content["target"]["name"],
            **plain,
            **{f"latency_{key}_ns": latency.get(key) for key in ("mean", "min", "p50", "p99", "max")},
            **{f"power_{key}_w": power.get(key) for key in ("mean", "max")},
            **{f"power_{rail.lower()}_w": power.get("rails", {}).get(rail) for rail in rails},
        }


def csv(content: Json) -> str:
    """Write the points as CSV, one row each."""
    return csv_of(list(rows(content)))


def csv_of(found: Sequence[Mapping[str, Any]]) -> str:
    """Write rows as CSV, with a column for every key of any of them."""
    import csv as writer

    text = io.StringIO()
    if found:
        columns = dict.fromkeys(key for row in found for key in row)
        table = writer.DictWriter(text, list(columns), lineterminator="\n")
        table.writeheader()
        table.writerows(found)
    return text.getvalue()
