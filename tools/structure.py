"""Bounds on the structure of the code, for `make lint`: lines of a function, duplicated lines.

lizard reads Rust and Python by tokens. Its duplicates are runs of tokens that stand twice, names and literals aside.
The lengths of Rust functions are clippy's (clippy.toml): lizard takes a literal like 'R' for a lifetime. The exit
status is 1 if a bound is exceeded.
"""

from __future__ import annotations

import re
import subprocess
import sys

PRODUCT = ["crates/flashwatt/src", "crates/flashwatt-live/src", "crates/flashwatt-python/src", "python/flashwatt"]
PYTHON = ["python/flashwatt", "tests/python", "tools", "examples"]
FUNCTION_LINES_MAX = 70
DUPLICATED_PERCENT_MAX = 1.5
UNBOUNDED = "100000"
LIZARD = [sys.executable, "-m", "lizard"]


def long_functions() -> list[str]:
    """A line for each Python function that is longer than the bound."""
    # Warnings of other kinds (branches, parameters) are out of the question here.
    bounds = ["-w", "-L", str(FUNCTION_LINES_MAX), "-C", UNBOUNDED, "-a", UNBOUNDED]
    found = subprocess.run([*LIZARD, "-l", "python", *bounds, *PYTHON], capture_output=True, text=True, check=False)
    return [line for line in found.stdout.splitlines() if ": warning: " in line]


def duplicated_percent() -> float:
    """Lines of the product, without its tests, that stand twice, in percent."""
    found = subprocess.run(
        [*LIZARD, "-l", "rust", "-l", "python", "-Eduplicate", "-i", "-1", *PRODUCT],
        capture_output=True,
        text=True,
        check=True,
    )
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
