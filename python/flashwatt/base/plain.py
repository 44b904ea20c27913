"""Text from outside as a terminal, an SVG or a page may hold it: without characters that act instead of being seen.

A file may be called anything: an escape sequence in its name would move the terminal's cursor, a control character is
no valid XML and ends the program that draws an SVG.
"""

from __future__ import annotations

import re
from typing import Any

_PLANES = "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17))
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # line breaks, and marks that turn the direction of text
    f"\ufdd0-\ufdef{_PLANES}"  # no characters at all
    "\ud800-\udfff]"  # halves of one
)
_PICTURES, _DELETE = 0x2400, 0x7F


def plain(text: str, *, keep: str = "") -> str:
    """Replace each character that cannot be seen by one that can (ESC by ␛, most by �), except those to `keep`."""
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else _picture(ord(found[0])), text)


def _picture(code: int) -> str:
    """Unicode has pictures of ASCII's control characters."""
    if code < ord(" "):
        return chr(_PICTURES + code)
    return "␡" if code == _DELETE else "\ufffd"


def plain_tree(value: Any) -> Any:
    """Do the same to all text in a tree of dictionaries and lists, keys included; the tree itself stays as it is.

    Line ends and tabs are kept: a chart's data may be CSV text, and both are valid in XML.
    """
    if isinstance(value, str):
        return plain(value, keep="\n\t")
    if isinstance(value, dict):
        return {plain_tree(key): plain_tree(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_tree(one) for one in value]
    return value
