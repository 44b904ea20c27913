"""The soak: every test at its full size, with other random numbers each day. `make soak PART=cuts,files FACTOR=2`.

FACTOR multiplies the sizes. With 1 the contracts of translation layers run 10^6 requests a layer, power cuts a hundred
at random times, file systems 10^6 operations. Seconds are printed as each part ends. A part that passed is not run
again at the same commit and factor: a soak that was stopped goes on with the part in which it was. With changes that
are not committed every part is run. `target/soak` has the output of each
part and what has passed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

PLACE = Path("target/soak")
PASSED = PLACE / "passed.json"
CASES = 256
"""Cases of a property test with a factor of 1: what proptest takes by itself."""
FUZZ_SECONDS = 60


def rust(*words: str) -> list[str]:
    """Give the command that runs some of the engine's tests."""
    return ["cargo", "test", "--locked", "-p", "flashwatt", "--features", "internals", *words]


FOLDERS = ("contracts", "cuts", "files", "engine", "ftl", "host", "hdd", "inputs")


def folder(name: str) -> list[str]:
    """Give the command that runs a folder of tests. The filter `contracts::` alone takes `hdd::contracts::`, too."""
    skips = [word for other in FOLDERS for word in ("--skip", f"{other}::{name}::")]
    return rust("--test", "all", f"{name}::", "--", "--nocapture", *skips)


ALONE = ("footprint", "sound", "trace_memory")
"""Programs of tests that have one size: they are alone in their process, or do without the engine's insides."""
PARTS = {
    **{name: folder(name) for name in FOLDERS},
    "units": ["cargo", "test", "--locked", "--workspace", "--features", "flashwatt/internals", "--lib"],
    "alone": rust(*(word for name in ALONE for word in ("--test", name))),
    "elevators": ["cargo", "test", "--locked", "-p", "flashwatt-host", "--test", "elevators", "--", "--nocapture"],
    "live": ["cargo", "test", "--locked", "-p", "flashwatt-live"],
    "python": [sys.executable, "-m", "pytest", "-n", "auto", "-q"],
    "precision": [sys.executable, "tools/precision.py"],
    "tails": [sys.executable, "tools/precision.py", "--tails"],
    "pairs": [sys.executable, "tools/precision.py", "--pairs"],
    "archives": ["bash", "tools/archives.sh", sys.executable],
    "fuzz": ["bash", "tools/fuzz.sh"],
}


def commit() -> str:
    """Give the commit that is tested; a tree with changes is named as such, and its parts are run each time."""
    found = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def run(part: str, factor: float, seed: int) -> tuple[bool, float]:
    """Run a part with its output in a file. Returns whether it passed, and its seconds."""
    environment = {
        **os.environ,
        "FLASHWATT_SOAK": f"{factor:g}",
        "FLASHWATT_SEED": str(seed),
        "PROPTEST_CASES": str(max(1, round(CASES * factor))),
        "FUZZ_SECONDS": str(max(1, round(FUZZ_SECONDS * factor))),
        "FUZZ_SEED": str(seed),
    }
    began = time.monotonic()
    with (PLACE / f"{part}.log").open("wb") as log:
        done = subprocess.run(PARTS[part], env=environment, stdout=log, stderr=subprocess.STDOUT, check=False)
    return done.returncode == 0, time.monotonic() - began


def number(text: str) -> float:
    """Give the factor. A text that is none ends the program."""
    with suppress(ValueError):
        if (factor := float(text)) > 0:
            return factor
    raise SystemExit(f"make soak: FACTOR: found `{text}`; expected a number above 0")


def tell(part: str, seconds: float, what: str) -> None:
    """Print the line of a part that has ended."""
    print(f"  {part:<10} {seconds:>7.0f} s  {what}", flush=True)


def chosen(text: str) -> list[str]:
    """Give the parts that are named; all of them if none is. An unknown name ends the program."""
    names = [name for name in text.replace(",", " ").split() if name] or list(PARTS)
    if wrong := [name for name in names if name not in PARTS]:
        raise SystemExit(f"make soak: PART: unknown part; found `{wrong[0]}`; expected some of {', '.join(PARTS)}")
    return names


def main() -> int:
    """Run the parts, one after the other; the status is 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", default="")
    parser.add_argument("--factor", default="1")
    parser.add_argument("--check", action="store_true", help="check the words and run nothing")
    options = parser.parse_args()
    parts, factor = chosen(options.part), number(options.factor)
    if options.check:
        return 0
    state = f"{commit()} {factor:g}"
    seed = int(datetime.now(timezone.utc).strftime("%Y%m%d"))
    print(f"soak of {commit()}, factor {factor:g}, seed {seed}; output in {PLACE}", flush=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    passed = json.loads(PASSED.read_text()) if PASSED.exists() else {}
    before = {} if state.split(maxsplit=1)[0].endswith("-dirty") else passed.get(state, {})
    failed = []
    for part in parts:
        if part in before:
            tell(part, before[part]["seconds"], f"passed before, seed {before[part]['seed']}")
            continue
        ok, seconds = run(part, factor, seed)
        tell(part, seconds, "passed" if ok else f"FAILED: see {PLACE}/{part}.log")
        if ok:
            before[part] = {"seconds": seconds, "seed": seed}
            PASSED.write_text(json.dumps({**passed, state: before}, indent=1))
        else:
            failed.append(part)
    print(f"soak: {len(parts) - len(failed)} of {len(parts)} parts passed")
    return int(bool(failed))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("make soak: interrupted; parts that passed are kept, and the same command goes on with the others")
