"""Names that a user may have misspelt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_SHOWN = 20


def known(place: str, found: Iterable[str], expected: Collection[str]) -> None:
    """Raise a `FlashwattError` for the first name that is not among the expected ones, with the one nearest to it."""
    for name in found:
        if name not in expected:
            raise _core.FlashwattError(f"{place}: unknown name; found `{name}`; {hint(name, expected)}")


def hint(name: str, expected: Collection[str]) -> str:
    """Give the expected names, not all of very many, and the one nearest to the name that was found."""
    from difflib import get_close_matches

    if not expected:
        return "expected none: there is nothing to name"
    names = [f"`{one}`" for one in expected]
    more = f", … ({len(names)} in all)" if len(names) > _SHOWN else ""
    lower = {one.lower(): one for one in expected}  # the case of letters is no reason to find nothing
    nearest = get_close_matches(name.lower(), lower, n=1)
    question = f"; did you mean `{lower[nearest[0]]}`?" if nearest else ""
    return f"expected one of {', '.join(names[:_SHOWN])}{more}{question}"
