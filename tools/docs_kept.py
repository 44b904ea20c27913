"""Pages that take long to make, kept with a hash of everything that made them."""

from __future__ import annotations

import hashlib
import json
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PACKAGE = Path(_core.__file__).parent
TOOLS = Path(__file__).parent
DRAWN_WITH = ("altair", "vl-convert-python", "polars", "rich", "click", "markdown-it-py", "simpy", "numpy", "scipy")
"""Packages whose output stands on pages."""


class Kept:
    """Pages of earlier builds in a directory, one file for each step that makes some."""

    def __init__(self, directory: Path, steps: int) -> None:
        """Take the directory, which need not exist, and the number of steps that will be asked for."""
        self.directory, self.steps, self.step = directory, steps, 0

    def pages(self, name: str, made_of: str, doing: str, make: Callable[[], Mapping[str, str]]) -> Mapping[str, str]:
        """Give the pages and pictures of a step by name: those kept if they are made of the same, or new ones.

        `name` names the step, `made_of` is the hash of what makes its pages, and `doing` says what takes long.
        """
        self.step += 1
        file = self.directory / f"{name}.json"
        found = _read(file)
        if found and found["made_of"] == made_of:
            say(f"{name} ({self.step} of {self.steps}): unchanged, kept from an earlier build")
            kept: Mapping[str, str] = found["pages"]
            return kept
        say(f"{name} ({self.step} of {self.steps}): {doing} ...")
        pages = make()
        _write(file, {"made_of": made_of, "pages": dict(pages)})
        return pages


def say(what: str) -> None:
    """Print a line about the progress of the build."""
    sys.stderr.write(f"docs: {what}\n")
    sys.stderr.flush()


def quarters(name: str) -> Callable[[int, int], None]:
    """Give a progress function that prints a line at each quarter of the work that is to be done."""
    reached: list[int] = []

    def progress(done: int, total: int) -> None:
        quarter = 4 * done // total if total else 4
        if not reached and done:
            say(f"{name}: {done / total:.0%} of the runs kept from earlier builds")
        elif reached and quarter > reached[-1]:
            say(f"{name}: {done / total:.0%} done")
        reached.append(quarter)

    return progress


def hash_of(inputs: Iterable[Path], *, package: Path = PACKAGE, tools: Path = TOOLS) -> str:
    """Give the SHA-256 of what pages are made of: the inputs, and what all pages have in common.

    That is the engine, the package's other files without the experiments, the tools that lay out pages, the version of
    Python and those of the packages that draw. An input is a file, or a directory with all files below it.
    """
    sources = [path for path in _files(package) if package / "experiments" not in path.parents and path.suffix != ".so"]
    sections = {
        "engine": engine(),
        "versions": [_version(name) for name in ("Python", *DRAWN_WITH)],
        "package": _hashes(sources, package),
        "tools": _hashes(tools.glob("docs_*.py"), tools),
        "inputs": [_hashes(_files(path), path.parent) for path in inputs],
    }
    return hashlib.sha256(json.dumps(sections).encode()).hexdigest()


def engine() -> str:
    """Give the hash of the engine's sources if it tells one, or that of its library."""
    return str(getattr(_core, "BUILD_ID", None) or _sha256(Path(_core.__file__)))


def _version(name: str) -> str:
    if name == "Python":
        return f"Python {sys.version_info.major}.{sys.version_info.minor}"
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return f"{name} missing"


def _files(path: Path) -> list[Path]:
    """Give a file, or all files below a directory but those that Python compiles."""
    if not path.is_dir():
        return [path]
    return [one for one in path.rglob("*") if one.is_file() and "__pycache__" not in one.parts]


def _hashes(files: Iterable[Path], root: Path) -> list[tuple[str, str]]:
    return [(file.relative_to(root).as_posix(), _sha256(file)) for file in sorted(files)]


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _read(file: Path) -> dict[str, Any] | None:
    """Read what is kept of a step; None if there is nothing, or something else."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and {"made_of", "pages"} <= found.keys() else None


def _write(file: Path, content: dict[str, Any]) -> None:
    """Write a file whole, so that a build that is interrupted leaves none torn."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    part.replace(file)
