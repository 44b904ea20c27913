"""A study with everything that it names in one directory: where each file goes there, and the texts that name it.

A path in a configuration leads from the file that it stands in, a path in a grid from the working directory. What lies
below keeps its place, so that the texts stay as they are. A file that is named by an absolute path, or above the
study, goes to `inputs/`, and the texts name it there. Its base name stays: a report has it.
"""

from __future__ import annotations

import os
import posixpath
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base.literals import literal
from flashwatt.base.missing import printable
from flashwatt.config.config import parse_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flashwatt.sweeps.study import Study

STUDY = "study.toml"
"""The name of every study in its directory."""
RESERVED = ("README.md", "MANIFEST.json", "results", "rerun")
"""Names in the directory that are no input's."""


@dataclass(frozen=True, slots=True)
class Relocated:
    """A study in a directory of its own, which need not be there yet. Names have `/` on every system."""

    texts: dict[str, str]
    """The study, and the configuration that it is based on, by their names in the directory."""
    files: dict[str, Path]
    """The other files that its runs read: where each is now, by its name in the directory."""
    value: Callable[[Any], Any]
    """Give a value of the grid as the study in the directory has it."""


def relocated(study: Study) -> Relocated:
    """Choose the place of every file. Raises `FlashwattError` for a study without a text."""
    if not study.text:
        found = f"{study.name}: no text of a study; found one that a program has made"
        raise _core.FlashwattError(f"{found}; expected the path of a STUDY.toml")
    places = _Places(_inputs(study))
    content = parse_toml(study.text, study.name)
    base, texts = content.get("base"), {}
    here = Path(study.name).parent
    if isinstance(base, str):
        name = places.of(os.path.abspath(here / base), base)  # noqa: PTH100 (links stay links)
        folder = posixpath.dirname(name)
        tree = parse_toml(study.base.text, study.base.name)
        texts[name] = rewritten(study.base.text, tree, _mapped(tree, places.from_file((here / base).parent, folder)))
        del places.files[name]
        kept = base if posixpath.normpath(base) == name else name
    else:
        kept = _mapped(base, places.from_file(here, ""))

    def value(one: Any) -> Any:
        return _mapped(one, places.from_here)

    changed = {"base": kept, "grid": value(content.get("grid"))}
    whole = {**content, **{key: one for key, one in changed.items() if key in content}}
    texts[STUDY] = rewritten(study.text, content, whole)
    if missing := places.inputs - set(places.files.values()):
        found = f"{study.name}: the study does not name {printable(min(missing))}, which its runs read"
        raise _core.FlashwattError(f"{found}; expected the path in its base or its grid")
    return Relocated(texts, {name: Path(path) for name, path in places.files.items()}, value)


def placed(study: Study, directory: Path, names: Mapping[str, Any]) -> Study:
    """Let a study of a directory name these files of its grid as from everywhere."""

    def of(text: str) -> str:
        return str(directory / text) if posixpath.normpath(text) in names else text

    grids = tuple({key: _mapped(values, of) for key, values in grid.items()} for grid in study.grids)
    return replace(study, grids=grids)


def rewritten(text: str, tree: Any, wanted: Any) -> str:
    """Change the values of a TOML text to those wanted, which differ in strings.

    Comments and the order of lines stay if each string stands in the text as it is; else all is written anew.
    """
    for old, new in dict.fromkeys(_changes(tree, wanted)):
        for quoted in (literal(old), f"'{old}'"):
            text = text.replace(quoted, literal(new))
    with suppress(_core.FlashwattError):
        if parse_toml(text, STUDY) == wanted:
            return text
    return "".join(f"{literal(key)} = {literal(value)}\n" for key, value in wanted.items())


@dataclass
class _Places:
    """The names that files get in the directory."""

    inputs: set[str]
    """The files that the runs read, as absolute paths."""
    files: dict[str, str] = field(default_factory=dict)
    """Absolute paths by the names in the directory."""

    def of(self, path: str, wanted: str) -> str:
        """Give the name of a file: the one wanted if that is free and below the directory."""
        number = 1
        name = posixpath.normpath(wanted)
        while not self._is_free(name, path):
            folder = "inputs" if number == 1 else f"inputs/{number}"
            name = posixpath.join(folder, os.path.basename(path))  # noqa: PTH119
            number += 1
        self.files[name] = path
        return name

    def from_file(self, beside: Path, folder: str) -> Callable[[str], str]:
        """Give what renames a path in a configuration of the directory `beside`, which goes to `folder`."""

        def renamed(text: str) -> str:
            path = os.path.abspath(beside / text)  # noqa: PTH100
            if not text or path not in self.inputs:
                return self.from_here(text)  # a program of files is named from the working directory
            wanted = posixpath.normpath(posixpath.join(folder, text))
            name = self.of(path, wanted)
            return text if name == wanted else posixpath.relpath(name, folder or ".")

        return renamed

    def from_here(self, text: str) -> str:
        """Rename a path that leads from the working directory."""
        path = os.path.abspath(text)  # noqa: PTH100
        if not text or path not in self.inputs:
            return text
        name = self.of(path, text)
        return text if name == posixpath.normpath(text) else name

    def _is_free(self, name: str, path: str) -> bool:
        first = name.partition("/")[0]
        if first == ".." or not first or "\\" in name or ":" in name or first in (*RESERVED, STUDY):
            return False
        near = (other for other in self.files if other.startswith(f"{name}/") or name.startswith(f"{other}/"))
        return self.files.get(name, path) == path and not any(near)


def _inputs(study: Study) -> set[str]:
    """Give the files that any run reads beside the configurations, as absolute paths."""
    points = (dict(zip(grid, values, strict=True)) for grid in study.grids for values in product(*grid.values()))
    paths = {path for point in points for path in study.base.override(point).inputs()}
    return {os.path.abspath(path) for path in paths}  # noqa: PTH100


def _mapped(value: Any, of: Callable[[str], str]) -> Any:
    """Change every text in a tree."""
    if isinstance(value, dict):
        return {key: _mapped(one, of) for key, one in value.items()}
    if isinstance(value, list):
        return [_mapped(one, of) for one in value]
    return of(value) if isinstance(value, str) else value


def _changes(old: Any, new: Any) -> list[tuple[str, str]]:
    """Give the texts that differ between two trees of the same shape."""
    if isinstance(old, dict):
        return [pair for key in old for pair in _changes(old[key], new[key])]
    if isinstance(old, list):
        return [pair for one, other in zip(old, new, strict=True) for pair in _changes(one, other)]
    return [(old, new)] if old != new else []
