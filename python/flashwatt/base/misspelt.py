"""Names that a user may have misspelt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

_SHOWN = 20
ASKED = 3
"""Names that a message asks about at most."""


def known(
    place: str,
    found: Iterable[str],
    expected: Collection[str],
    *,
    near: Collection[str] = (),
    meanings: Mapping[str, str] | None = None,
) -> None:
    """Raise a `FlashwattError` for the first name that is not among the expected ones, with the one nearest to it.

    A string instead of several names is refused: its letters would be taken for them. `near` are further names that
    the user may have meant. If no name is near, those whose meanings have the word are asked about.
    """
    if isinstance(found, str):
        raise _core.FlashwattError(f"{place}: found {found!r}; expected a list of names: [{found!r}]")
    for name in found:
        if name not in expected:
            help_ = hint(name, expected, near, meanings)
            said = name.encode(errors="backslashreplace").decode()
            raise _core.FlashwattError(f"{place}: unknown name; found `{said}`; {help_}") from None


def hint(
    name: str, expected: Collection[str], near: Collection[str] = (), meanings: Mapping[str, str] | None = None
) -> str:
    """Give the expected names, not all of very many, and those nearest to the name that was found."""
    if not expected:
        return "expected none: there is nothing to name"
    names = [f"`{one}`" for one in expected]
    more = f", … ({len(names)} in all)" if len(names) > _SHOWN else ""
    found = [one for one in with_word(name, meanings or {}) if one in expected][:ASKED]
    similar = nearest(name, [*expected, *near])
    asked = (found or similar) if " " in name else (similar or found)  # no name has a space
    meant = " or ".join(f"`{one}`" for one in asked)
    return f"expected one of {', '.join(names[:_SHOWN])}{more}" + (f"; did you mean {meant}?" if meant else "")


def nearest(name: str, among: Iterable[str]) -> list[str]:
    """Find names that end in the one that was found, in any case of letters; else the one that looks most like it."""
    from difflib import get_close_matches

    spelled = {_spelled(one): one for one in among}
    wanted = _spelled(name)
    if wanted in spelled:
        return [spelled[wanted]]
    ends = [spelled[one] for one in sorted(spelled) if one.endswith(f".{wanted}")]
    return ends[:ASKED] or [spelled[one] for one in get_close_matches(wanted, spelled, n=1)]


def with_word(word: str, meanings: Mapping[str, str]) -> list[str]:
    """Find the names whose meanings have this word, in any case of letters: an abbreviation (WAF), a unit (J/GB)."""
    whole = re.compile(rf"(?<![\w/]){re.escape(word)}(?![\w/])", re.IGNORECASE)
    return [name for name, meaning in meanings.items() if whole.search(meaning)]


def _spelled(name: str) -> str:
    return name.lower().replace("__", ".")
