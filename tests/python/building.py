"""What the library is compiled from, read from the build script."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def sources() -> list[str]:
    """Read from the build script what it hashes: files, and folders with everything in them."""
    script = (ROOT / "crates/flashwatt-python/build.rs").read_text()
    listed = re.search(r"const SOURCES.*?\[(.*?)\];", script, re.DOTALL)
    assert listed
    return re.findall(r'"(.*?)"', listed[1])


def build_id(root: Path) -> str:
    """Make the `BUILD_ID` of a folder with sources anew."""
    listed = [root / source for source in sources()]
    files = [file for one in listed for file in ([one] if one.is_file() else one.rglob("*")) if file.is_file()]
    lines = []
    for path in sorted(file.relative_to(root).as_posix() for file in files):
        if "/." in path:
            continue
        content = (root / path).read_bytes().replace(b"\r", b"")
        if path.endswith("/Cargo.toml"):
            content = content.partition(b"\n[[")[0].rstrip()
        lines.append(f"{hashlib.sha256(content).hexdigest()}  {path}\n")
    return hashlib.sha256("".join(lines).encode()).hexdigest()
