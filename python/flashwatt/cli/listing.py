"""`flashwatt list`: everything that a user can name, by kind."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

from flashwatt import _core
from flashwatt.base.misspelt import known
from flashwatt.base.units import about
from flashwatt.cli import completion
from flashwatt.config.reference import facts

if TYPE_CHECKING:
    from flashwatt.config.reference import Key
    from flashwatt.reproduce.catalogue import Experiment

EXPERIMENTS = "experiments"
"""The one kind that is registered in this package and not in the engine."""

_SHOWN = 2
_CALLED = {
    "presets": "preset drives drive devices device disks disk ssds ssd hdds hdd",
    "ftls": "ftl layers layer mapping mappings translation",
    "gc": "collectors collector collection garbage-collection victims victim policies policy",
    "wear": "levelling leveling wear-levelling wear-leveling policies policy",
    "dispatch": "dispatchers dispatcher order orders policies policy",
    "schedulers": "scheduler elevators elevator io-schedulers policies policy",
    "workloads": "workload patterns pattern models model",
    "personalities": "personality programs program",
    "filesystems": "filesystem file-systems file-system fs",
    "standins": "standin stand-ins stand-in",
    "formats": "format traces trace trace-formats",
    EXPERIMENTS: "experiment papers paper",
}
"""Other words for the kinds. One that several kinds share is asked about."""


@click.command("list")
@click.argument("kind", required=False, shell_complete=completion.kinds)
@click.argument("name", required=False, shell_complete=completion.names)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON: names and descriptions, or one thing with its options."
)
def list_(kind: str | None, name: str | None, as_json: bool) -> None:
    """Print the registered names of a KIND, each with one line about it.

    With NAME, print the options of that one; of a personality its program, to start one's own from. Without KIND, print
    the kinds.
    """
    kinds = [*_core.kinds(), EXPERIMENTS]
    if kind is None:
        click.echo(json.dumps(kinds, indent=2) if as_json else "\n".join(kinds))
        return
    kind = _kind(kind, kinds)
    found = _registered(kind)
    if name is not None:
        name = next((one for one in found if name in _aliases(found[one])), name)
        known(f"list {kind}", [name], found)
        text = _program if found[name].get("files") else _reference
        click.echo(_json(found[name]) if as_json else text(found[name]))
        return
    if as_json:
        click.echo(_json({each: one["doc"] for each, one in found.items()}))
        return
    width = max(map(len, found))
    for each, one in found.items():
        click.echo(f"{each:<{width}}  {one['doc']}{_short(one)}")


def _kind(word: str, kinds: list[str]) -> str:
    """Give the kind that a word stands for. Raises `FlashwattError` for a word that stands for none, or for several."""
    if word in kinds:
        return word
    spelled = word.lower().replace("_", "-")
    meant = [kind for kind in kinds if spelled == kind or spelled in _CALLED.get(kind, "").split()]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise _core.FlashwattError(f"list: {word}: found a word for several kinds; expected {' or '.join(meant)}")
    known("list", [word], kinds)
    return word


def _registered(kind: str) -> dict[str, dict[str, Any]]:
    """Give what is registered under a kind, by name: the engine's things, or the package's own experiments."""
    if kind != EXPERIMENTS:
        return {one["name"]: one for one in json.loads(_core.registered(kind) or "[]")}
    from flashwatt.reproduce.catalogue import catalogue

    return {
        name: {"name": name, "doc": f"{one.title} ({_terms(one)})", "key": None, "options": []}
        for name, one in catalogue().items()
    }


def _terms(experiment: Experiment) -> str:
    source = "; ".join(f"{paper}, {place}" for paper, place in experiment.sources.items())
    return f"{source}; {about(experiment.cpu_s)} on one processor" if experiment.cpu_s else source


def _json(found: Any) -> str:
    return json.dumps(found, indent=2, ensure_ascii=False)


def _short(one: dict[str, Any]) -> str:
    """Write a few options behind the line of their thing; of many options only how many there are."""
    options = one["options"]
    if len(options) > _SHOWN:
        return f"; {len(options)} options"
    return "".join(f"; [{one['key']}.{one['name']}] {_option(option)}" for option in options)


def _option(option: Key) -> str:
    return f"{option['key'].rpartition('.')[2]}: {_first(option)} ({facts(option)})"


def _first(option: Key) -> str:
    doc: str = option["doc"].split("\n\n")[0]
    return doc.rstrip(".")


def _reference(one: dict[str, Any]) -> str:
    lines = [f"{one['name']}: {one['doc']}"]
    if one["key"]:
        lines.append(f'  {one["key"]} = "{one["name"]}"')
    lines += _layout(one.get("layout"))
    if one["options"]:
        lines.append(f"  or a table [{one['key']}.{one['name']}] of these keys:")
    for option in one["options"]:
        lines += ["", f"    {option['key'].rpartition('.')[2]}", f"      {facts(option)}"]
        lines += [f"      {line}" for line in _wrapped(option["doc"])]
    return "\n".join(lines)


def _aliases(one: dict[str, Any]) -> list[str]:
    layout = one.get("layout")
    return layout["aliases"] if layout else []


def _layout(layout: dict[str, Any] | None) -> list[str]:
    """Describe the records of a trace format."""
    if not layout:
        return []
    lines = []
    if aliases := layout["aliases"]:
        lines.append(f"  or by its other name{'s' if len(aliases) > 1 else ''}: {', '.join(aliases)}")
    lines += ["", *(f"  {line}" for line in _wrapped(f"Columns: {layout['columns']}"))]
    if events := layout["events"]:
        lines += ["", *(f"  {line}" for line in _wrapped(f"Events that may stand for a request: {', '.join(events)}"))]
    if example := layout["example"]:
        lines += ["", "  For example:", *(f"    {line}" for line in example.splitlines())]
    return lines


def _program(one: dict[str, Any]) -> str:
    """A built-in program as one text that `--program` takes, with the values of a second file in their places."""
    program, *others = (file["text"] for file in one["files"])
    about = ""
    own: dict[str, str] = {}
    for text in others:
        about += f"{text.partition('set ')[0].strip()}\n\n"
        own |= dict(_SET.findall(text))
    program = _SET.sub(lambda found: f"set {found[1]} = {own.get(found[1], found[2])}", program)
    head = f"# {one['name']}: {one['doc']}\n# A program of your own may start from this: --program FILE.f\n#"
    return f"{head}\n{about}{program.rstrip()}"


_SET = re.compile(r"^set (\$\w+) *= *(.+?) *$", re.MULTILINE)


def _wrapped(text: str) -> list[str]:
    import textwrap

    return [line for paragraph in text.split("\n\n") for line in textwrap.wrap(paragraph, 94)]
