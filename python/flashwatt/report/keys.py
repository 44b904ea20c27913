"""The meanings of a report's keys: the docstrings of its classes, by dotted key."""

from __future__ import annotations

import ast
import inspect
from dataclasses import is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from flashwatt.report import cuts, report, sections, shape
from flashwatt.report.metrics import LISTS, NO_FIGURES, listed_parts, metric_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType


@cache
def report_keys() -> dict[str, str]:
    """Give every key of a report with its meaning, tables before their keys."""
    found: dict[str, str] = {}
    docs = {**_docs(sections), **_docs(report), **_docs_of_cuts()}
    for name, attribute in vars(report.Report).items():
        if isinstance(attribute, report.Section):
            _add(found, name, attribute.kind, docs["Report"].get(name, ""), docs)
    for name, recording in (("series", shape.Series), ("edges", shape.Edges)):
        _add(found, name, recording, "", _docs(shape))
    return found


@cache
def meanings() -> dict[str, str]:
    """Give every key of a report with its meaning and the name that it has in tables: "energy per GB"."""
    return {key: f"{doc} {metric_of(key).name}" for key, doc in report_keys().items()}


@cache
def figures() -> tuple[str, ...]:
    """Give the dotted key of every number that a report can hold, outside its lists, ledgers and recordings."""
    return tuple(key for key in _all_numbers() if not listed_parts(key))


@cache
def listed_figures() -> tuple[str, ...]:
    """Give the keys of the numbers in lists of tables, with `NAME` for a table's name: `files.flows.NAME.count`."""
    return tuple(key for key in _all_numbers() if listed_parts(key))


def is_figure(key: str) -> bool:
    """Whether a report can hold a number under this key: of tables in lists, whatever their name."""
    part = listed_parts(key)
    return key in figures() or bool(part and f"{part.list}.NAME.{part.figure}" in listed_figures())


def _all_numbers() -> Iterator[str]:
    found = (key for name, one in vars(report.Report).items() if isinstance(one, report.Section)
             for key in _numbers(name, one.kind))  # fmt: skip
    return (key for key in found if key.partition(".")[0] not in NO_FIGURES)


def _numbers(key: str, kind: Any) -> Iterator[str]:
    options: tuple[Any, ...] = (*get_args(kind), kind)
    if key in LISTS:
        named = LISTS[key]
        options = next(get_args(option) for option in options if get_origin(option) is list)
        key = f"{key}.NAME"
    elif get_origin(kind) in (list, dict):
        return
    else:
        named = None
    table: Any = next((option for option in options if is_dataclass(option)), None)
    if table:
        for name, hint in get_type_hints(table).items():
            if name != named:
                yield from _numbers(f"{key}.{name}", hint)
    elif int in options or float in options:
        yield key


def _add(found: dict[str, str], key: str, kind: Any, doc: str, docs: dict[str, dict[str, str]]) -> None:
    options = (*get_args(kind), kind)
    listed = [inner for option in options if get_origin(option) is list for inner in get_args(option)]
    table: Any = next((option for option in (*options, *listed) if is_dataclass(option)), None)
    found[key] = " ".join(filter(None, [inspect.getdoc(table) if table else "", doc]))
    if table:
        for name, hint in get_type_hints(table).items():
            _add(found, f"{key}.{name}", hint, docs[table.__name__].get(name, ""), docs)


def _docs_of_cuts() -> dict[str, dict[str, str]]:
    """Those of the power cuts: of what does not vary from the source, of the figures from the engine."""
    written, of_figures = _docs(cuts), cuts.docs()
    return {**written, **of_figures, "PowerCuts": {**written["CutSummary"], **of_figures["PowerCuts"]}}


def _docs(module: ModuleType) -> dict[str, dict[str, str]]:
    """The docstrings that stand below attributes, by class and attribute: Python drops them, the source has them."""
    classes = [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.ClassDef)]
    return {one.name: dict(_of_class(one)) for one in classes}


def _of_class(node: ast.ClassDef) -> list[tuple[str, str]]:
    found = []
    for statement, below in zip(node.body, node.body[1:], strict=False):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        match targets, below:
            case [ast.Name(id=name)], ast.Expr(value=ast.Constant(value=str(doc))):
                found.append((name, inspect.cleandoc(doc)))
    return found
