"""Circles between the files of a folder of the engine: files of which each imports, over others, itself.

Between crates the compiler allows imports in one direction only. Within a folder this script prints the circles that
are left. A file stands for the folder of its name, too. A module's own file (`mod.rs`) is not
counted: it names its children, and they name what is in it.

What is left, and why:

- `flashwatt/config`: raw settings derive the schema, the schema lists presets, and presets are parsed as raw settings.
- `flashwatt-core/energy`: meter, series and windows are one machine in ten files.
- `flashwatt-core/kernel`: the loop `Sim` is one type in four files; completed requests hold those of each origin, which
  are such.
- `flashwatt-live`: a measurement, its threads and its ring share the target and the record of a request.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

CRATES = Path(__file__).parents[1] / "crates"
USE = re.compile(r"(?m)^[ \t]*(pub(?:\([a-z: ]+\))? )?use ([^;]+);")
PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")

Module = tuple[str, ...]


def main() -> None:
    """Print a line for each circle, and their number."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sources", nargs="*", type=Path, help="folders of sources; by default those of all crates")
    roots = parser.parse_args().sources or sorted(CRATES.glob("*/src"))
    found = [(root, circle) for root in roots for circle in circles(root)]
    for root, circle in found:
        folder = root.joinpath(*circle[0][:-1])
        sys.stdout.write(f"{folder}: {', '.join(module[-1] for module in circle)}\n")
    sys.stdout.write(f"{len(found)} circles\n")


def circles(root: Path) -> list[list[Module]]:
    """The circles between siblings of all folders, each sorted."""
    texts = {_module(root, file): _code(file.read_text("utf-8")) for file in _sources(root)}
    exported = {
        (*module, path[-1]): _absolute(path, module)
        for module, text in texts.items()
        for visible, body in USE.findall(text)
        if visible
        for path in _paths(body)
    }
    reach = {module: _imports(module, text, texts, exported) for module, text in texts.items()}
    folders = {module[:-1] for module in texts}
    return [circle for folder in sorted(folders) for circle in _of_folder(folder, reach)]


def _of_folder(folder: Module, reach: dict[Module, set[Module]]) -> list[list[Module]]:
    size = len(folder) + 1
    arrows: dict[Module, set[Module]] = {}
    for module, targets in reach.items():
        if module[: size - 1] == folder and len(module) >= size:
            inside = {target[:size] for target in targets if target[: size - 1] == folder and len(target) >= size}
            arrows.setdefault(module[:size], set()).update(inside - {module[:size]})
    behind = {module: _behind(module, arrows) for module in arrows}
    groups = {tuple(sorted(other for other in behind[one] if one in behind.get(other, ()))) for one in arrows}
    return sorted([list(group) for group in groups if len(group) > 1])


def _behind(start: Module, arrows: dict[Module, set[Module]]) -> set[Module]:
    """All that a module imports, over others or not."""
    found: set[Module] = set()
    left = [start]
    while left:
        new = arrows.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


def _imports(module: Module, text: str, texts: dict[Module, str], exported: dict[Module, Module]) -> set[Module]:
    """The modules in whose files the paths of a text end. What a module hands on is looked up where it is defined."""
    paths = [path for visible, body in USE.findall(text) if not visible for path in _paths(body)]
    paths += [tuple(path.split("::")) for path in PATH.findall(USE.sub("", text))]
    found = set()
    for path in paths:
        target = _absolute(path, module)
        for size in range(len(target), 0, -1):
            if target[:size] in exported and target[:size] not in texts:
                target = exported[target[:size]] + target[size:]
                break
        found |= {target[:size] for size in range(len(target), 0, -1) if target[:size] in texts}
    return {
        target for target in found if not any(other != target and other[: len(target)] == target for other in found)
    }


def _absolute(path: Module, module: Module) -> Module:
    at = list(module)
    names = list(path)
    if names[0] == "crate":
        return tuple(names[1:])
    while names and names[0] in {"super", "self"}:
        if names.pop(0) == "super" and at:
            at.pop()
    return (*at, *names)


def _paths(body: str) -> list[Module]:
    """The paths of a `use`, with lists in braces spread."""
    head, brace, rest = body.partition("{")
    if not brace:
        return [tuple(head.split(" as ")[0].replace("\n", "").replace(" ", "").split("::"))]
    items, depth, start, inner = [], 0, 0, rest[: rest.rindex("}")]
    for at, letter in enumerate(inner + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            items.append(inner[start:at].strip())
            start = at + 1
    return [path for item in items if item for path in _paths(head + item)]


def _sources(root: Path) -> list[Path]:
    """Every file but for tests."""
    files = sorted(root.rglob("*.rs"))
    return [
        file for file in files if "tests" not in file.relative_to(root).with_suffix("").parts and file.stem != "lib"
    ]


def _module(root: Path, file: Path) -> Module:
    names = file.relative_to(root).with_suffix("").parts
    return names[:-1] if names[-1] == "mod" else names


def _code(text: str) -> str:
    """The text without comments and tests, which stand at the end of a file."""
    lines = [line.split("//")[0] for line in text.splitlines()]
    tests = (at for at, line in enumerate(lines) if line == "#[cfg(test)]" and "{" in "".join(lines[at : at + 3]))
    end = next(tests, None)
    return "\n".join(lines[:end])


if __name__ == "__main__":
    main()
