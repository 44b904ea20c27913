"""Write python/flashwatt/cli/terms.json from docs/glossary.md and docs/limits.md, for `flashwatt explain`."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "python/flashwatt/cli/terms.json"


def terms() -> list[tuple[str, str, str]]:
    """Give name, text and page of every term."""
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    found = re.findall(r"^\*\*(.+?)\*\*\n: (.+?)(?=\n\n|\Z)", glossary, re.MULTILINE | re.DOTALL)
    limits = (ROOT / "docs/limits.md").read_text(encoding="utf-8")
    table = limits.partition("## Not modelled")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)[1:]
    return [
        *((name, _plain(text), "docs/glossary.md") for name, text in found),
        *((_plain(what), f"Not modelled: {_plain(text)}.", "docs/limits.md") for what, text in rows),
    ]


def _plain(text: str) -> str:
    """Give the text of Markdown without links."""
    return " ".join(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text).split())


def written() -> str:
    """Give the content of the file, a term on each line."""
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in terms())
    return f"[\n{lines}\n]\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
