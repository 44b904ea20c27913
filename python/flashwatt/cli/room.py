"""Address space: a library that finds none left ends the process, so it is asked for before the library is loaded."""

from __future__ import annotations

import mmap
import sys

FRAMES_BYTES = 900_000_000
"""What tables and charts reserve, with the threads of two processors; what they use is far less."""


def left_over(wanted_bytes: int) -> bool:
    """Whether so much address space can be reserved; none of it is used."""
    if sys.platform == "win32":
        return True
    try:
        mmap.mmap(-1, wanted_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except (OSError, MemoryError):
        return False
    return True
