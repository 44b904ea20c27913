"""The repository's Markdown has no dead link: files, headings and paths in backticks are there."""

from __future__ import annotations

import fnmatch
import html
import os
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IGNORED = [".git", *(line.strip() for line in (ROOT / ".gitignore").read_text().splitlines() if line.strip())]
TO_BE_WRITTEN = {
    "crates/flashwatt-ssd/src/gc/patient.rs",
    "crates/flashwatt-host/src/sched/shortest.rs",
    "crates/flashwatt/tests/host/shortest.rs",
}
"""Files that readers of a guide write."""
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b")
"""A part of a path that stands for any name, as in `src/NAME.rs`."""


def is_kept(path: Path) -> bool:
    """Whether a path of this directory is one of the repository: no rule of .gitignore names it or a folder above."""
    parts = path.relative_to(ROOT).parts
    return not any(
        fnmatch.fnmatch(part, rule.strip("/"))
        for rule in IGNORED
        for part in (parts[:1] if rule.startswith("/") else parts)
    )


def pages() -> list[Path]:
    found = []
    for directory, folders, names in os.walk(ROOT):  # links to folders are not followed: each page once
        here = Path(directory)
        folders[:] = [name for name in folders if is_kept(here / name)]
        found += [here / name for name in names if name.endswith(".md") and is_kept(here / name)]
    return sorted(found)


PAGES = pages()
TOP = {path.name for path in ROOT.iterdir() if is_kept(path)}


def prose(text: str) -> str:
    """Leave out blocks of code, whose lines are no Markdown."""
    return re.sub(r"^( *)(```+).*?^\1\2\s*$", "", text, flags=re.MULTILINE | re.DOTALL)


def links(text: str) -> list[str]:
    """Give what the links and pictures of a page lead to, those to other sites left out."""
    bare = re.sub(r"(`+).+?\1", "", re.sub(r"<!--.*?-->", "", prose(text), flags=re.DOTALL))
    found = re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", bare)
    found += re.findall(r"^\s*\[[^\]]+\]:\s*(\S+)", bare, re.MULTILINE)
    found += re.findall(r"<[^>]*\b(?:href|src|srcset)=[\"']([^\"']+)", bare)
    return [html.unescape(one) for one in found if not re.match(r"\w+:", one)]


def anchors(text: str) -> set[str]:
    """Give the anchors of headings that are the same on the site and on a forge.

    MkDocs leaves out what is not ASCII and joins dashes, GitHub and GitLab do neither; they number equal headings
    differently.
    """
    headings = re.findall(r"^#{1,6} +(.+?)(?: +#+)?$", prose(text), re.MULTILINE)
    plain = [re.sub(r"!?\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", one).strip() for one in headings]
    of_site = Counter(map(slug_of_site, plain))
    return {slug for slug in map(slug_of_forge, plain) if of_site[slug]}


def slug_of_site(heading: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())


def slug_of_forge(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def fault_of_link(link: str, page: Path, text: str) -> str | None:
    """Say what is wrong with a link in the text of a page; None for one that leads somewhere."""
    target, _, anchor = link.partition("#")
    if not target:
        return None if anchor in anchors(text) else f"{link}: no such heading"
    file = Path(os.path.normpath(page.parent / target))
    if target.startswith("/") or not file.is_relative_to(ROOT):
        return f"{link}: leads out of the repository"
    if not file.exists() or not is_kept(file):
        return f"{link}: no such file in the repository"
    through = [one.name for one in file.parents if one.is_symlink() and one.is_relative_to(ROOT)]
    if through:
        return f"{link}: leads through {through[0]}, a symbolic link, which a forge does not follow"
    if anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
        return f"{link}: no such heading"
    return None


def faults_of_paths(text: str, page: Path) -> list[str]:
    """Say which paths in backticks are missing, and which names are not in the file that they are said to be in."""
    faults = []
    named = re.findall(r"`([\w.*-]+(?:/[\w.*-]+)+/?)(?::\d+)?`", prose(text))
    named += re.findall(r'^\s*--8<-- "([^"]+)"', text, re.MULTILINE)
    for path in named:
        if path.split("/")[0] not in TOP or path in TO_BE_WRITTEN:
            continue
        if not any(any(folder.glob(PLACEHOLDER.sub("*", path))) for folder in (ROOT, page.parent)):
            faults.append(f"`{path}`: no such file in the repository")
    for name, path in re.findall(r"`(\w+)`\s(?:of|in)\s`([\w./-]+\.\w+)`", prose(text)):
        if (ROOT / path).is_file() and name not in (ROOT / path).read_text(encoding="utf-8"):
            faults.append(f"`{name}`: not in {path}")
    return faults


def faults(text: str, page: Path) -> list[str]:
    """Say what is wrong with the links and paths of a page."""
    dead = [fault for link in links(text) if (fault := fault_of_link(link, page, text))]
    return [*dead, *faults_of_paths(text, page)]


def test_the_pages_are_those_of_the_repository() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in PAGES}
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/index.md", "docs/tutorial/01_first_run.md"} <= names
    assert not {name for name in names if name.startswith((".venv", "target", "site", "experiments"))}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_and_path_leads_somewhere(page: Path) -> None:
    assert faults(page.read_text(encoding="utf-8"), page) == []


def test_guides_ask_for_files_that_are_not_there() -> None:
    said = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert {path for path in TO_BE_WRITTEN if (ROOT / path).exists() or f"`{path}`" not in said} == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](limits.md), [b](limits.md#modelled), ![c](power.svg), [d](../README.md#one-run \"title\")", []),
        ("[a](no-such-page.md)", ["no-such-page.md: no such file in the repository"]),
        ("[one](limits.md) and [another\none](missing.md#a)", ["missing.md#a: no such file in the repository"]),
        ("[a](limits.md#nothing-of-it)", ["limits.md#nothing-of-it: no such heading"]),
        ("# Here and there\n[a](#here-and-there), [b](#there)", ["#there: no such heading"]),
        ("# A – b\n[a](#a-b), [b](#a--b)", ["#a-b: no such heading", "#a--b: no such heading"]),
        ("[a][1]\n\n[1]: gone.md", ["gone.md: no such file in the repository"]),
        ('<img src="gone.svg">', ["gone.svg: no such file in the repository"]),
        ("[a](../../elsewhere/README.md)", ["../../elsewhere/README.md: leads out of the repository"]),
        ("[a](/docs/limits.md)", ["/docs/limits.md: leads out of the repository"]),
        ("[a](../target)", ["../target: no such file in the repository"]),
        (
            "[a](../experiments/theory/paper.toml)",
            ["../experiments/theory/paper.toml: leads through experiments, a symbolic link, which a forge does not "
             "follow"],
        ),
        ("`crates/flashwatt/src/lib.rs`, `tests/python`, `docs/*.md`, `crates/flashwatt-ssd/src/gc/NAME.rs`", []),
        ("`traces/mine.csv`, `read/write`, [a](https://example.org/none)", []),
        ("`tests/python/test_none.py:12`", ["`tests/python/test_none.py`: no such file in the repository"]),
        ("`docs/none/*.md`", ["`docs/none/*.md`: no such file in the repository"]),
        ('```rust\n--8<-- "docs/none.rs"\n```', ["`docs/none.rs`: no such file in the repository"]),
        ("`nothing_such` of `tests/python/conftest.py`", ["`nothing_such`: not in tests/python/conftest.py"]),
        ("`spelled_out` in\n`tests/python/conftest.py`", []),
        ("```sh\n[a](none.md) `docs/none.md`\n```\nand `[a](none.md)`", []),
    ],
)  # fmt: skip
def test_the_check_finds_what_is_dead(text: str, expected: list[str]) -> None:
    assert faults(text, ROOT / "docs/page.md") == expected
