"""Evidence that a rebuilding changes nothing: results of 200 drawn configurations and three sweeps, before and after.

    python tools/equal.py record before.jsonl --python-path BEFORE/python
    python tools/equal.py record after.jsonl
    python tools/equal.py compare before.jsonl after.jsonl

`record` writes a line for each case: its configuration, and a SHA-256 of each part of its result. A part is a report, a
log, a snapshot, the text of a refusal. Reports are taken without version and times; a snapshot names the version.
The cases follow from the seed and the registered names alone. They use the public names of the package and the command
line, so that the engine may be moved about below them. With `--keep` the parts themselves are kept beside FILE, in
FILE.parts, and `compare` prints the first keys that differ. `--order N` runs the cases in another order, drawn from N:
no case may depend on those before it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
import time
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from equality.cases import Case

MOST_REFUSED = 0.15
"""The share of the cases that may be refused: a refusal compares a message, and no simulation."""
KEYS_SHOWN = 5
_MISSING = "(missing)"


def _recorded(task: tuple[Case, Path, Path | None]) -> dict[str, Any]:
    """Run a case; give its line, and keep its parts in a folder."""
    from equality.results import result_of

    case, root, kept = task
    began = time.process_time()
    parts = result_of(case, root)
    for name, content in parts.items() if kept else ():
        folder = Path(kept or "", f"{case.number:03}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.gz").write_bytes(gzip.compress(content, 1, mtime=0))
    hashes = {name: sha256(content).hexdigest() for name, content in sorted(parts.items())}
    whole = sha256(json.dumps(hashes).encode()).hexdigest()
    line = {"number": case.number, **case.to_dict(), "parts": hashes, "sha256": whole}
    return {"line": line, "refused": parts.get("refusal"), "seconds": time.process_time() - began}


def _all_cases(options: argparse.Namespace) -> list[Case]:
    from equality.cases import cases, sweeps

    found = [*cases(options.seed), *sweeps()]
    if options.only:
        found = [case for case in found if case.number in options.only]
    if options.order:
        random.Random(options.order).shuffle(found)
    return found


def record(options: argparse.Namespace) -> int:
    """Run all cases and write a line for each, in the order of their numbers."""
    from equality.cases import coverage

    import flashwatt

    began = time.monotonic()
    todo = _all_cases(options)
    kept = Path(f"{options.file}.parts").resolve() if options.keep else None
    with TemporaryDirectory() as root:
        tasks = [(case, Path(root), kept) for case in todo]
        if options.jobs == 1:
            done = [_recorded(task) for task in tasks]
        else:
            with get_context("spawn").Pool(options.jobs) as pool:
                done = pool.map(_recorded, tasks, chunksize=1)
    done.sort(key=lambda one: one["line"]["number"])
    text = "".join(f"{json.dumps(one['line'])}\n" for one in done)
    options.file.write_text(text, encoding="utf-8")
    if not options.only:
        _print_coverage(coverage(todo))
    refused = [one for one in done if one["refused"] is not None]
    for one in refused if options.verbose else ():
        print(f"refused: {one['line']['number']}: {one['refused'].decode().strip()}")
    for one in sorted(done, key=lambda one: -one["seconds"])[:10] if options.verbose else ():
        print(f"{one['seconds']:.2f} s: case {one['line']['number']}, {one['line']['sort']}")
    print(f"{len(done)} cases of {flashwatt.__file__}, {len(refused)} of them refused")
    print(f"SHA-256 of {options.file}: {sha256(text.encode()).hexdigest()}")
    print(f"{time.monotonic() - began:.0f} s, {sum(one['seconds'] for one in done):.0f} s of this process")
    return int(len(refused) > MOST_REFUSED * len(done) and not options.only)


def _print_coverage(counted: dict[str, dict[str, int]]) -> None:
    for kind, numbers in counted.items():
        print(f"{kind}: " + ", ".join(f"{name} {number}" for name, number in numbers.items()))


def _read(path: Path) -> dict[int, dict[str, Any]]:
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return {line["number"]: line for line in lines}


def differences(one: Any, other: Any, key: str = "") -> Iterator[str]:
    """Give a line for each key at which two JSON values differ, in the order of the first."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys((*one, *other)):
            yield from differences(one.get(name, _MISSING), other.get(name, _MISSING), f"{key}.{name}".strip("."))
        if one.keys() == other.keys() and list(one) != list(other):
            yield f"{key or 'the keys'}: another order"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{key}[{at}]")
    elif one != other or type(one) is not type(other):
        yield f"{key}: {str(one)[:80]} | {str(other)[:80]}"


def _first(one: bytes, other: bytes) -> list[str]:
    """Give the first places at which two parts differ: keys of JSON, lines of a log."""
    try:
        found = list(differences(json.loads(one), json.loads(other)))
    except ValueError:
        lines = one.splitlines(), other.splitlines()
        pairs = enumerate(zip(*lines, strict=False), 1)
        found = [f"line {at}: {left[:80]!r} | {right[:80]!r}" for at, (left, right) in pairs if left != right]
        found = found or [f"{len(lines[0])} | {len(lines[1])} lines"]
    return found[:KEYS_SHOWN] + ([f"and {len(found) - KEYS_SHOWN} more"] if len(found) > KEYS_SHOWN else [])


def _tell(number: int, before: dict[str, Any], after: dict[str, Any], files: tuple[Path, Path]) -> None:
    """Print what differs in a case."""
    names = dict.fromkeys((*before["parts"], *after["parts"]))
    wrong = [name for name in names if before["parts"].get(name) != after["parts"].get(name)]
    print(f"case {number} ({before['sort']}) differs: {', '.join(wrong) or 'its configuration'}")
    for key in ("settings", "options", "files"):
        for line in list(differences(before[key], after[key]))[:KEYS_SHOWN]:
            print(f"  drawn otherwise: {key}: {line}")
    for name in wrong:
        kept = [Path(f"{file}.parts", f"{number:03}", f"{name}.gz") for file in files]
        if all(path.exists() for path in kept):
            for line in _first(*(gzip.decompress(path.read_bytes()) for path in kept)):
                print(f"  {name}: {line}")


def compare(options: argparse.Namespace) -> int:
    """Print how many cases are equal, and what differs in the others."""
    before, after = _read(options.before), _read(options.after)
    both = sorted(before.keys() & after.keys())
    wrong = [number for number in both if before[number] != after[number]]
    for number in wrong:
        _tell(number, before[number], after[number], (options.before, options.after))
    alone = sorted(before.keys() ^ after.keys())
    print(f"{len(both) - len(wrong)} cases are equal, {len(wrong)} differ, {len(alone)} are in one file only")
    return int(bool(wrong or alone))


def main() -> int:
    """Do what the words ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record")
    one.add_argument("file", type=Path)
    one.add_argument("--python-path", type=Path, help="the folder that holds the package `flashwatt` to run")
    one.add_argument("--seed", type=int, default=20)
    one.add_argument("--order", type=int, default=0)
    one.add_argument("--jobs", type=int, default=1)
    one.add_argument("--only", type=lambda text: [int(word) for word in text.split(",")], default=[])
    one.add_argument("--keep", action="store_true")
    one.add_argument("--verbose", action="store_true", help="print refusals and the slowest cases")
    two = commands.add_parser("compare")
    two.add_argument("before", type=Path)
    two.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "compare":
        return compare(options)
    if options.python_path:
        sys.path.insert(0, str(options.python_path.resolve()))
        os.environ["PYTHONPATH"] = sys.path[0]  # for the workers of sweeps
    return record(options)


if __name__ == "__main__":
    sys.exit(main())
