"""The JavaScript that draws the charts of a page, kept in the user's cache directory.

vl-convert takes seconds of processor time to put its 900 kB together, and gives the same text each time. So the first
page that a user writes with a version of vl-convert makes a file, and later processes read it. A cache that cannot be
written, or that does not hold what was written to it, costs time and nothing else.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import altair as alt
from platformdirs import user_cache_path

from flashwatt.base.painter import paint

VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""The version of Vega-Lite that Altair writes."""
_GLOBALS = "window.vegaEmbed = vegaEmbed;"


@cache
def library() -> str:
    """The JavaScript of a page. Raises `FlashwattError` if it can neither be read nor made."""
    path = cached_at()
    if (kept := _read(path)) is not None:
        return kept
    made = paint("javascript_bundle", _GLOBALS, vl_version=VEGA_LITE).decode()
    with suppress(OSError):
        _keep(path, made)
    return made


def cached_at() -> Path:
    """The file that keeps the JavaScript: one for each version of what makes it."""
    made_by = sha256(f"{version('vl-convert-python')} {VEGA_LITE} {_GLOBALS}".encode()).hexdigest()
    return user_cache_path("flashwatt", appauthor=False) / f"charts-{made_by[:16]}.js"


def _read(path: Path) -> str | None:
    """Read a kept text; None if there is none, or if its first line is not the hash of the rest."""
    try:
        digest, _, content = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return content.decode() if digest == _digest(content) else None


def _keep(path: Path, text: str) -> None:
    """Write a text so that no other process sees a part of it. Raises `OSError`."""
    content = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_digest(content) + b"\n" + content)
        Path(part).replace(path)
    except OSError:
        Path(part).unlink(missing_ok=True)
        raise


def _digest(content: bytes) -> bytes:
    return b"// " + sha256(content).hexdigest().encode()
