"""The text of `flashwatt explain` for a preset, a key of a configuration, or a key of a report."""

from __future__ import annotations

import textwrap
from typing import Any

from flashwatt import _core
from flashwatt.base.misspelt import ASKED, known, nearest, with_word
from flashwatt.cli.terms import find
from flashwatt.config.reference import Key, facts, keys, preset, presets, written
from flashwatt.report.keys import meanings, report_keys

_WIDTH = 100


def explain(name: str) -> dict[str, Any]:
    """Explain a preset, a key of a configuration or a key of a report. `FlashwattError` names the nearest one."""
    if name in presets():
        return _preset(name)
    if name not in keys() and not _ending(name):
        reported = [key for key in report_keys() if key == name or key.endswith(f".{name}")]
        # A column of a series has the name of the figure whose course it is.
        reported = [key for key in reported if not key.startswith("series.")] or reported
        if len(reported) == 1 or name in reported:
            return _report_key(name if name in reported else reported[0])
        if reported:
            raise _ambiguous(name, reported)
        if (small := name.lower()) != name and any(key.endswith(f".{small}") for key in (*keys(), *report_keys())):
            return explain(small)
        if not _kind_of(name) and (found := _by_word(name)):
            return found
    whole = _key(_whole(name))
    if whole["key"] != name and whole["keys"] and (terms := find(name)):  # the name of a table, and a word of the field
        return {**whole, "word": name, "terms": [one._asdict() for one in terms]}
    return whole


def _by_word(name: str) -> dict[str, Any] | None:
    """Explain the one key that an abbreviation stands for, or what the documentation says of a word."""
    found = find(name)
    try:
        meant = _abbreviated(name)
    except _core.FlashwattError:
        if not found:
            raise
        meant = None
    if meant and not (found and " " in name):  # no key has a space in it
        return explain(meant)
    return {"word": name, "terms": [one._asdict() for one in found]} if found else None


def _report_key(name: str) -> dict[str, Any]:
    below = {key: doc for key, doc in report_keys().items() if key.rpartition(".")[0] == name}
    return {"report_key": name, "doc": report_keys()[name], "keys": below}


def _whole(name: str) -> str:
    """Give the whole key for the end of one; raise `FlashwattError` if no key or several keys end so."""
    if name in keys():
        return name
    ending = _ending(name)
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise _ambiguous(name, ending)
    if kind := _kind_of(name):
        raise _core.FlashwattError(f"explain: found `{name}`; `flashwatt list {kind} {name}` describes it")
    known("explain", [name], _names())
    return name


def _kind_of(name: str) -> str | None:
    """Give the kind under which a name is registered: a personality, a layer, a policy."""
    return next((kind for kind in _core.kinds() if name in dict(_core.list_names(kind) or [])), None)


def _abbreviated(word: str) -> str | None:
    """Give the one key whose meaning has an abbreviation or a unit (WAF, J/GB), or None if no key has.

    Raise `FlashwattError` with the first of them if several have. A word in small letters may as well be a misspelt
    name: it is looked for only if no name is near.
    """
    if word == word.lower() and nearest(word, _names()):
        return None
    found = with_word(word, {**meanings(), **{key: one["doc"] for key, one in keys().items()}})
    if len(found) > 1:
        asked = " or ".join(f"`{key}`" for key in found[:ASKED])
        raise _core.FlashwattError(f"explain: unknown name; found `{word}`; did you mean {asked}?")
    return found[0] if found else None


def _names() -> list[str]:
    return [*presets(), *keys(), *report_keys()]


def _ending(name: str) -> list[str]:
    """List the keys that end in a name. A workload's keys count once: as a start state it has the same."""
    found = [key for key in keys() if key.endswith(f".{name}")]
    return [key for key in found if key.replace("run.precondition.", "workload.", 1) not in (set(keys()) - {key})]


def _ambiguous(name: str, ending: list[str]) -> _core.FlashwattError:
    listed = ", ".join(f"`{key}`" for key in ending[:_SHOWN])
    return _core.FlashwattError(f"explain: several keys end in this; found `{name}`; expected one of {listed}")


_SHOWN = 12


def _preset(name: str) -> dict[str, Any]:
    about, settings = preset(name)
    with_docs = [{**setting, **_facts(key)} for key, setting in settings.items()]
    return {"preset": name, "about": about, "settings": with_docs}


def _facts(key: str) -> dict[str, Any]:
    return {"unit": keys()[key]["unit"], "doc": keys()[key]["doc"]}


def _key(name: str) -> dict[str, Any]:
    values = {one: preset(one)[1][name] for one in presets() if name in preset(one)[1]}
    found = {one: {"value": setting["value"], "source": setting["source"]} for one, setting in values.items()}
    below = [key for key in keys() if key.startswith(f"{name}.") and "." not in key[len(name) + 1 :]]
    return {**keys()[name], "presets": found, "keys": {key: keys()[key]["doc"] for key in below}}


def as_text(found: dict[str, Any]) -> str:
    """Write an explanation for a terminal."""
    if "terms" in found:
        return "\n\n".join([_terms_text(found), *([_key_text(found)] if "key" in found else [])])
    if "report_key" in found:
        return _report_key_text(found)
    return _preset_text(found) if "preset" in found else _key_text(found)


def _terms_text(found: dict[str, Any]) -> str:
    lines = []
    for one in found["terms"]:
        lines += [one["name"], *_wrapped(one["text"], "  "), f"  ({one['page']})", ""]
    return "\n".join(lines[:-1])


def _report_key_text(found: dict[str, Any]) -> str:
    lines = [found["report_key"], "  in the report (report.json, --json)", *_wrapped(found["doc"], "  ")]
    if found["keys"]:
        lines += ["", "  Keys:", *_columns({key.rpartition(".")[2]: doc for key, doc in found["keys"].items()})]
    return "\n".join(lines)


def _preset_text(found: dict[str, Any]) -> str:
    lines = [found["preset"], "", *textwrap.indent(found["about"], "  ").splitlines()]
    table = ""
    for setting in found["settings"]:
        above, _, name = setting["key"].rpartition(".")
        if above != table:
            table = above
            lines += ["", f"[{table}]"]
        lines.append(f"{name} = {written(setting['value'])}{_spaced(setting['unit'])}")
        lines += _wrapped(setting["doc"].split("\n\n")[0])
        if setting["source"]:
            lines += _wrapped(f"Source: {setting['source']}")
    return "\n".join(lines)


def _key_text(found: Key) -> str:
    lines = [found["key"], f"  {facts(found)}", *_wrapped(found["doc"], "  ")]
    if found["choices"]:
        lines += ["", "  One of:", *_columns({one["name"]: one["doc"] for one in found["choices"]})]
    elif found["keys"]:
        lines += ["", "  Keys:", *_columns({key.rpartition(".")[2]: doc for key, doc in found["keys"].items()})]
    if found["presets"]:
        values = {f"{one} = {written(each['value'])}": each["source"] for one, each in found["presets"].items()}
        lines += ["", "  In presets:", *_columns(values)]
    return "\n".join(lines)


def _spaced(unit: str | None) -> str:
    return f" {_AFTER_NUMBERS.get(unit, unit)}" if unit else ""


_AFTER_NUMBERS = {"10^6 bytes/s": "MB/s"}
"""Units that begin with a number themselves, as they read behind another one."""


def _wrapped(text: str, indent: str = "    ") -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent)


def _columns(rows: dict[str, str]) -> list[str]:
    width = max(map(len, rows))
    lines = []
    for left, right in rows.items():
        first = f"    {left:<{width}}  "
        text = right.split("\n\n")[0]
        wrapped = textwrap.wrap(text, _WIDTH, initial_indent=first, subsequent_indent=" " * len(first))
        lines += wrapped or [first.rstrip()]
    return lines
