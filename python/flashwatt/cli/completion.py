"""Completion in the shell of the names that options and arguments take: presets, kinds, keys, experiments, `--set`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from click.shell_completion import BashComplete, CompletionItem, add_completion_class

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import click

    Items = list[CompletionItem[str]]


def presets(_context: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Complete the name of a preset."""
    return _items(_listed("presets"), incomplete)


def examples(_context: click.Context, _argument: click.Parameter, incomplete: str) -> Items:
    """Complete the name of an example."""
    from flashwatt.cli.try_ import EXAMPLES

    return _items({name: one.said for name, one in EXAMPLES.items()}, incomplete)


def formats(_context: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Complete the name of a trace format."""
    return _items(_listed("formats"), incomplete)


def schedulers(_context: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Complete the name of a scheduler."""
    return _items(_listed("schedulers"), incomplete)


def filesystems(_context: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Complete the name of a file system."""
    return _items(_listed("filesystems"), incomplete)


def personalities(_context: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Complete the name of a personality."""
    return _items(_listed("personalities"), incomplete)


def kinds(_context: click.Context, _argument: click.Parameter, incomplete: str) -> Items:
    """Complete a kind of `flashwatt list`."""
    from flashwatt.cli.listing import EXPERIMENTS

    return _items(dict.fromkeys([*_core.kinds(), EXPERIMENTS], ""), incomplete)


def names(context: click.Context, argument: click.Parameter, incomplete: str) -> Items:
    """Complete a name of the kind that stands before it."""
    from flashwatt.cli.listing import EXPERIMENTS

    kind = context.params.get("kind") or ""
    return experiments(context, argument, incomplete) if kind == EXPERIMENTS else _items(_listed(kind), incomplete)


def experiments(_context: click.Context, _argument: click.Parameter, incomplete: str) -> Items:
    """Complete the id of an experiment."""
    from flashwatt.reproduce.catalogue import catalogue

    return _items({name: one.title for name, one in catalogue().items()}, incomplete)


def papers(_context: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Complete the name of a paper."""
    from flashwatt.reproduce.catalogue import catalogue

    return _items({one.paper.name: one.paper.title for one in catalogue().values()}, incomplete)


def explained(_context: click.Context, _argument: click.Parameter, incomplete: str) -> Items:
    """Complete what `flashwatt explain` explains: a preset, a key of a configuration, or one of a report."""
    from flashwatt.config.reference import keys
    from flashwatt.report.keys import report_keys

    of_config = {key: one["doc"] for key, one in keys().items()}
    return _items({**report_keys(), **of_config, **_listed("presets")}, incomplete)


def figures(_context: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Complete the key of a figure of a report, the last one of a list with commas."""
    from flashwatt.report.keys import figures, report_keys

    before, comma, _ = incomplete.rpartition(",")
    docs = report_keys()
    return _items({f"{before}{comma}{key}": docs.get(key, "") for key in figures()}, incomplete)


def overrides(_context: click.Context, _option: click.Parameter, incomplete: str) -> Items:
    """Complete a key of `--set`, and behind the `=` the values that it can have."""
    from flashwatt.config.reference import keys

    key, equals, _ = incomplete.partition("=")
    if not equals:
        return _items({f"{name}=": one["doc"] for name, one in keys().items() if one["types"] != ["object"]}, key)
    known = keys().get(key)
    return _items({f"{key}={value}": doc for value, doc in _values(known).items()}, incomplete) if known else []


def _values(key: Mapping[str, Any]) -> dict[str, str]:
    """Give the values of a key with a line about each: its choices, or the default of a number."""
    if key["choices"]:
        return {choice["name"]: choice["doc"] for choice in key["choices"]}
    if "boolean" in key["types"]:
        return {"true": "", "false": ""}
    default = key["default"]
    if isinstance(default, float) and default.is_integer() and "integer" in key["types"]:
        default = int(default)
    return {} if default is None or isinstance(default, list | dict) else {f"{default}": "the default"}


def _listed(kind: str) -> dict[str, str]:
    return dict(_core.list_names(kind) or [])


def _items(docs: Mapping[str, str], incomplete: str) -> Items:
    found: Iterable[tuple[str, str]] = ((name, doc) for name, doc in docs.items() if name.startswith(incomplete))
    return [CompletionItem(name, help=doc.partition("\n")[0] or None) for name, doc in found]


class Bash(BashComplete):
    """Bash takes `=` for the end of a word: `gc.policy=co` comes as three words, and only the last one is replaced."""

    source_template = BashComplete.source_template.replace(
        "COMPREPLY+=($value)", "COMPREPLY+=($value)\n            [[ $value == *= ]] && compopt -o nospace"
    )

    def get_completion_args(self) -> tuple[list[str], str]:
        """Give the words before the current one, and its beginning."""
        args, incomplete = super().get_completion_args()
        whole: list[str] = []
        for word in (*args, incomplete):
            if whole and (word == "=" or whole[-1].endswith("=")):
                whole[-1] += word
            else:
                whole.append(word)
        self._kept = len(whole[-1]) - len(whole[-1].rpartition("=")[2])
        return whole[:-1], whole[-1]

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Write a candidate without what stands before its last `=`."""
        is_joined = item.type == "plain" and "=" in str(item.value)[: self._kept]
        return f"{item.type},{str(item.value)[self._kept :] if is_joined else item.value}"


add_completion_class(Bash)
