"""The reference of a configuration: its keys and the presets, as the engine describes them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from flashwatt import _core
from flashwatt.base.misspelt import known

DEFAULT_PRESET = "x25m"

Key = dict[str, Any]

_TYPES = {"integer": "whole number", "boolean": "true or false", "array": "list", "object": "table"}


def schema() -> dict[str, Any]:
    """Give the JSON schema (draft 7) of a configuration file."""
    loaded: dict[str, Any] = json.loads(_core.config_schema())
    return loaded


@cache
def keys() -> dict[str, Key]:
    """Give every key with its doc, types, unit, minimum, maximum, default and choices; tables before their keys."""
    return {key["key"]: key for key in json.loads(_core.config_reference())}


def numbered(key: str, value: Any) -> Any:
    """Give the number for a text with a unit where a key takes numbers; any other value as it is, if valid or not."""
    if not isinstance(value, str) or not value.lstrip(" +-.")[:1].isdigit():
        return value
    if not {"integer", "number"} & set(keys().get(key, {}).get("types", ())):
        return value
    try:
        return json.loads(_core.number(key, value))
    except _core.FlashwattError:
        return value  # the engine names the place of what is wrong


@cache
def preset(name: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """Give a preset's description, and its values and sources by key. Raise `FlashwattError` for an unknown name."""
    known("presets", [name], [known_name for known_name, _ in _core.list_names("presets") or []])
    about, settings = json.loads(_core.preset_settings(name) or "")
    return about, {setting["key"]: setting for setting in settings}


def presets() -> list[str]:
    """Give the names of all presets."""
    return [name for name, _ in _core.list_names("presets") or []]


def facts(key: Key) -> str:
    """Describe the values of a key in one line: types, unit, range and default."""
    parts = [" or ".join(_TYPES.get(one, one) for one in key["types"])]
    if key["unit"]:
        parts.append(key["unit"])
    if key["minimum"] is not None:
        parts.append(f"{_value(key, 'minimum')} to {_value(key, 'maximum')}")
    if key["default"] is not None:
        parts.append(f"default {_value(key, 'default')}")
    if key["required"]:
        parts.append("must be given (presets do)")
    return "; ".join(parts)


def _value(key: Key, name: str) -> str:
    """Write a bound or the default of a key; of a whole number without a fraction."""
    return written(int(key[name]) if key["types"] == ["integer"] else key[name])


def written(value: Any) -> str:
    """Write a value as in TOML, whole numbers with groups of three digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}"
    return json.dumps(value, ensure_ascii=False)
