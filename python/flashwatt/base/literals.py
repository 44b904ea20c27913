"""Python values as a configuration's text: one `dotted.key = value` of TOML for each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Iterator


def leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values of a tree of tables, in its order; a table without keys counts as a value."""
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def flattened(tree: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Give dotted keys and values of a tree of tables; `place` names the tree in messages.

    Raises `FlashwattError` for a key that is there in two spellings, `device.ways` and `device = { ways }`: a
    dictionary would keep one of them.
    """
    found: dict[str, Any] = {}
    check_depth(tree, place)
    for key, value in leaves(tree):
        if key in found:
            raise _core.FlashwattError(f"{place}{key}: given twice, in two spellings; expected it once")
        found[key] = value
    return found


def check_depth(tree: object, place: str = "") -> None:
    """Raise `FlashwattError` for tables or lists nested deeper than any configuration; one may contain itself."""
    level = [tree]
    for _ in range(_DEPTH_MAX):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
        if len(level) > _VALUES_MAX:
            break
    expected = f"expected {_DEPTH_MAX} levels at most, and no table or list that contains itself"
    raise _core.FlashwattError(f"{place}nested too deep; {expected}")


def _inside(one: object) -> Iterator[object]:
    if isinstance(one, Mapping):
        yield from one.values()
    elif isinstance(one, list | tuple):
        yield from one


def assignments(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yield `key=value` for every value of a tree of tables, keys dotted, in the tree's order.

    Raises `FlashwattError` for a value that TOML has no words for.
    """
    check_depth(tree)
    for path, value in leaves(tree):
        yield f"{path}={literal(value, path)}"


def label(value: Any) -> str:
    """Give a key's value as a short text: `dftl (cmt_fraction 0.02)` for `{"dftl": {"cmt_fraction": 0.02}}`."""
    match value:
        case Mapping():
            return ", ".join(_named(key, item) for key, item in value.items())
        case list() | tuple():
            return ", ".join(map(label, value))
        case str():
            return value
        case bool() | None:
            return json.dumps(value)
        case _:
            return str(value)


def _named(key: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{key} ({label(value)})" if value else key
    return f"{key} {label(value)}"


def literal(value: Any, path: str = "value") -> str:
    """Give a value as TOML; `path` names it in messages. Scalars and arrays of NumPy count as Python's own."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, PathLike):
        value = fspath(value)
    match value:
        case bool() | str():
            return _text(value, path)
        case int() | float():
            return repr(value)  # Python's inf, nan and 1e+16 are TOML's as well
        case Mapping():
            return f"{{{', '.join(f'{json.dumps(key)} = {literal(item, path)}' for key, item in value.items())}}}"
        case range() if value[_RANGE_MAX:]:
            raise _core.FlashwattError(f"{path}: found {value!r}; expected at most {_RANGE_MAX:,} values")
        case list() | tuple() | range():
            return f"[{', '.join(literal(item, path) for item in value)}]"
    found = f"{path}: not a value of a configuration; found {value!r}"
    raise _core.FlashwattError(f"{found}; expected a number, a string, true or false, a list, or a table")


def _text(value: str | bool, path: str) -> str:
    try:
        return json.dumps(value, ensure_ascii=False).encode().decode().replace("\x7f", "\\u007f")
    except UnicodeEncodeError:
        raise _core.FlashwattError(f"{path}: not UTF-8; found {value!r}; expected text") from None


def shown(value: Any) -> str:
    """Give a value as a message can hold it: on one line, and not all of a long one."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"


_SHOWN_MAX = 80
_RANGE_MAX = 1_000_000
_DEPTH_MAX = 64
_VALUES_MAX = 5_000_000
