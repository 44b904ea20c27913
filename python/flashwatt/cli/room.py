"""Address space: polars ends the process where it finds none left, so it is checked before polars is loaded."""

from __future__ import annotations

import mmap
import sys

FRAMES_BYTES = 900_000_000
"""Address space that tables and charts reserve, with the threads of two processors. They use far less of it."""


def left_over(wanted_bytes: int) -> bool:
    """Return whether `wanted_bytes` of address space can be reserved; none of it is used."""
    if sys.platform == "win32":
        return True
    try:
        mmap.mmap(-1, wanted_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except (OSError, MemoryError):
        return False
    return True
