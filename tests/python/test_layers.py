"""The layers of the package: every import points down, whether it runs at the start, later, or only for types."""

from __future__ import annotations

import ast
import inspect
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import flashwatt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = Path(__file__).parents[2] / "python/flashwatt"

LAYERS = (
    "_core",  # the engine
    "base",
    "config",
    "disks mqsim",
    "report",
    "oplog stopwatch theory",
    "runs",
    "drive traces power_cuts",
    "dio",
    "sweeps",
    "calibration",
    "plot",
    "reproduce",
    "cli",
    "demo __main__",
    "__init__",  # the public names; no module below imports them
    "experiments",  # use the public names as any user does; found by path, imported by nothing
)
"""The folders and top-level modules of the package, from the ground up. Those on one line do not import each other."""

UPWARD: dict[tuple[str, str], str] = {}
"""Imports inside functions that may run up, as (module, imported module), each with its reason."""

RANKS = {name: rank for rank, names in enumerate(LAYERS) for name in names.split()}


class Import(NamedTuple):
    """One import statement's arrow between two modules; `base.files` is a module's name here."""

    source: str
    target: str
    place: str
    at_start: bool
    """It runs when the module is imported, not in a function and not for types alone."""


def test_every_module_has_a_layer() -> None:
    assert {top(name) for name in sources()} | {"_core"} == set(RANKS)


def test_imports_point_down() -> None:
    wrong = [
        f"{one.place}: {one.source} imports {one.target}; `{top(one.source)}` stands below `{top(one.target)}`"
        for one in every_import()
        if runs_up(one) and (one.source, one.target) not in UPWARD
    ]
    assert wrong == [], "move the shared part down, or the module up"


def test_exceptions_are_needed() -> None:
    upward = {(one.source, one.target) for one in every_import() if runs_up(one)}
    assert set(UPWARD) - upward == set()
    assert all(UPWARD.values()), "each has its reason"


def test_folders_form_no_circle() -> None:
    assert_no_circle((top(one.source), top(one.target)) for one in every_import())


def test_modules_form_no_circle_at_start() -> None:
    assert_no_circle((one.source, one.target) for one in every_import() if one.at_start)


def test_no_module_has_the_name_of_a_public_function() -> None:
    """Python binds an imported module to its name in the package, and would replace the function."""
    functions = {name for name in flashwatt.__all__ if inspect.isfunction(getattr(flashwatt, name))}
    assert {"run", "sweep"} <= functions
    assert functions & set(RANKS) == set()


def test_the_reader_finds_imports_of_every_form() -> None:
    code = """
import flashwatt.cli.main
from flashwatt import _core, plot, run
from flashwatt.base import marks, files as other
from flashwatt.report import Report
if TYPE_CHECKING:
    from flashwatt.sweeps.results import Results
def later():
    from flashwatt.traces import profile
    import json
"""
    found = {(one.target, one.at_start) for one in imports("base.marks", code)}
    at_start = {"cli.main", "_core", "plot", "__init__", "base.marks", "base.files", "report"}
    assert found == {*((name, True) for name in at_start), ("sweeps.results", False), ("traces", False)}


@pytest.mark.parametrize(
    ("source", "target", "up"),
    [
        ("base.files", "config.reference", True),
        ("config.reference", "base.files", False),
        ("base.outputs", "base.files", False),
        ("runs", "traces", True),
        ("runs", "__init__", True),
        ("runs", "_core", False),
    ],
)
def test_the_order_of_layers_is_strict(source: str, target: str, up: bool) -> None:
    assert runs_up(Import(source, target, "", at_start=True)) is up


def top(module: str) -> str:
    """Name the folder or top-level module that a layer is made of."""
    return module.partition(".")[0]


def runs_up(one: Import) -> bool:
    """Whether an import leaves its folder or top-level module for one that does not stand below it."""
    source, target = top(one.source), top(one.target)
    return source != target and RANKS[source] <= RANKS[target]


def assert_no_circle(arrows: Iterable[tuple[str, str]]) -> None:
    graph: dict[str, set[str]] = {}
    for source, target in arrows:
        if source != target:
            graph.setdefault(source, set()).add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


@cache
def sources() -> dict[str, str]:
    """Read every module: `base.files` for a file in a folder, `base` for the folder's `__init__.py`."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


@cache
def every_import() -> list[Import]:
    found = [one for name, code in sources().items() for one in imports(name, code)]
    assert len(found) > 200, "the package was not read"
    return found


def imports(module: str, code: str) -> Iterator[Import]:
    """Give a module's imports from this package."""
    for node, at_start in statements(ast.parse(code), at_start=True):
        for target in targets(node):
            yield Import(module, target, f"{module}:{node.lineno}", at_start)


def statements(node: ast.AST, *, at_start: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for child in ast.iter_child_nodes(node):
        later = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or (
            isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        )
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_start
        yield from statements(child, at_start=at_start and not later)


def targets(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Name the modules of this package that a statement imports; `__init__` for a public name of the package."""
    if isinstance(node, ast.Import):
        whole = [alias.name for alias in node.names]
    else:
        assert node.level == 0, "imports name the whole path"
        whole = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in whole:
        package, _, rest = name.partition(".")
        if package == "flashwatt":
            yield module_of(rest)


def module_of(name: str) -> str:
    """Find the module that a dotted name is, or is in."""
    while name and name != "_core" and name not in sources():
        name = name.rpartition(".")[0]
    return name or "__init__"
