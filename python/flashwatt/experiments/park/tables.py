"""Mapping tables by capacity, of drives with pages of 2 KB in blocks of 128 KB."""

from __future__ import annotations

import json
import math

from flashwatt import _core

PAGE_BYTES, BLOCK_BYTES = 2048, 131072
SMALLEST, LARGEST = 2**29, 2**40
SCHEMES = ("page", "fast", "last", "dftl", "block")


def kib() -> dict[int, dict[str, float]]:
    """KB of each scheme's tables by capacity: powers of two."""
    sizes = [2**power for power in range(int(math.log2(SMALLEST)), int(math.log2(LARGEST)) + 1)]
    found = [json.loads(_core.mapping_memory(size, PAGE_BYTES, BLOCK_BYTES)) for size in sizes]
    return {row["capacity_bytes"]: {scheme: row[scheme] / 1024 for scheme in SCHEMES} for row in found}
