"""Bounds on the structure of the code, for `make lint`: lines of a function, duplicated lines.

The lengths of Rust functions are clippy's (clippy.toml). lizard, which reads Rust and Python by tokens, finds
duplicates: runs of tokens that stand twice, names and literals aside. The exit status is 1 if a bound is exceeded.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

PRODUCT = [*map(str, sorted(Path("crates").glob("*/src"))), "python/flashwatt"]
PYTHON = ["python/flashwatt", "tests/python", "tools", "examples"]
FUNCTION_LINES_MAX = 70
DUPLICATED_PERCENT_MAX = 1.5


def long_functions() -> list[str]:
    """Give a line for each Python function that is longer than the bound."""
    found = []
    for path in sorted(path for folder in PYTHON for path in Path(folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes(), path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_MAX:
                    found.append(f"{path}:{node.lineno}: {node.name} has {lines} lines")
    return found


def duplicated_percent() -> float:
    """Lines of the product, without its tests, that stand twice, in percent."""
    command = [sys.executable, "-m", "lizard", "-l", "rust", "-l", "python", "-Eduplicate", "-i", "-1", *PRODUCT]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    rate = re.search(r"Total duplicate rate: ([0-9.]+)%", found.stdout)
    if rate is None:
        raise SystemExit("tools/structure.py: lizard printed no duplicate rate")
    return float(rate[1])


def main() -> int:
    """Print each figure beside its bound."""
    functions, percent = long_functions(), duplicated_percent()
    print(*functions, sep="\n", end="\n" if functions else "")
    print(f"Python functions over {FUNCTION_LINES_MAX} lines: {len(functions)} (bound 0)")
    print(f"duplicated lines: {percent:.2f} % (bound {DUPLICATED_PERCENT_MAX} %)")
    return int(bool(functions) or percent > DUPLICATED_PERCENT_MAX)


if __name__ == "__main__":
    sys.exit(main())
