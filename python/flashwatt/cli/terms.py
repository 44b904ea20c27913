"""Words that are no key: the glossary's, and those of what is not modelled; `flashwatt explain` answers them.

`terms.json` holds docs/glossary.md and docs/limits.md, which an installed package has not; tools/terms.py writes it.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("terms.json")
_SAME = {
    "wa": "write amplification",
    "waf": "write amplification",
    "wamp": "write amplification",
    "gc": "garbage collection",
    "garbage collector": "garbage collection",
    "op": "over-provisioning",
    "overprovisioning": "over-provisioning",
    "spare": "over-provisioning",
    "dwpd": "drive writes per day",
    "rmw": "read-modify-write",
    "slc": "slc cache",
    "pslc": "slc cache",
    "slc mode": "slc cache",
    "dynamic slc": "slc cache",
    "turbowrite": "slc cache",
    "cliff": "knee",
    "dram-less": "hmb",
    "dramless": "hmb",
    "two passes": "pass",
    "two-pass": "pass",
    "foggy": "pass",
    "foggy-fine": "pass",
    "foggy and fine": "pass",
    "suspend": "suspension",
    "resume": "suspension",
    "multiplane": "multi-plane",
    "ps1": "power states",
    "apst": "power states",
    "devsleep": "power states",
    "throttling": "temperature",
    "dedup": "deduplication",
    "fdp": "zns",
    "zoned": "zns",
    "zoned namespaces": "zns",
    "streams": "zns",
    "mean active dies": "busy dies",
    "pcie 3": "pcie",
    "pcie3": "pcie",
    "pcie 4": "pcie",
    "pcie4": "pcie",
    "pcie 5": "pcie",
    "gen4": "pcie",
    "nvme": "pcie",
    "sata": "pcie",
}
"""Other words for a term, in small letters."""


class Term(NamedTuple):
    """A word of the documentation."""

    name: str
    text: str
    page: str
    """Where it stands: docs/glossary.md, or docs/limits.md for what is not modelled."""


@cache
def terms() -> list[Term]:
    """Give all terms, those of the glossary first."""
    return [Term(*one) for one in json.loads(_FILE.read_text(encoding="utf-8"))]


def find(word: str) -> list[Term]:
    """Find the terms of a word in any case of letters: of that name, or else those that have it as a whole word."""
    wanted = _plain(word)
    wanted = _SAME.get(wanted, wanted)
    named = [one for one in terms() if wanted in _names(one.name)]
    if named:
        return named
    whole = re.compile(rf"(?<!\w){re.escape(wanted)}(?:s|es)?(?!\w)")
    return [one for one in terms() if whole.search(one.name.lower())]


def _names(name: str) -> list[str]:
    """The name of a term, each of several, and the one in brackets: `PCIe, NVMe`, `Drive writes per day (DWPD)`."""
    found = re.match(r"(.*?)(?: \((.*)\))?$", name.lower())
    whole = [one for one in (found.groups() if found else ()) if one]
    return [*whole, *whole[0].split(", ")] if whole else []


def _plain(word: str) -> str:
    return " ".join(word.lower().replace("_", " ").split())
