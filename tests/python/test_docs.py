"""What `make docs` needs is in requirements-docs.txt, and pages are made again only when what makes them changes."""

from __future__ import annotations

import ast
import os
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from flashwatt import _core
from flashwatt.plot.chart import both_schemes

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"
EXAMPLES = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))


@pytest.fixture
def docs_kept(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import tools/docs_kept.py."""
    monkeypatch.syspath_prepend(str(TOOLS))
    import docs_kept

    return docs_kept  # type: ignore[no-any-return]


@pytest.fixture
def docs_pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import tools/docs_pages.py."""
    monkeypatch.syspath_prepend(str(TOOLS))
    import docs_pages

    return docs_pages  # type: ignore[no-any-return]


# What the build needs.


def required(file: str) -> set[str]:
    """Give the names that a requirements file has, those of the files that it names included."""
    lines = [line for line in (ROOT / file).read_text().splitlines() if line and not line.startswith("#")]
    names = {re.split(r"[=;\s]", line)[0] for line in lines if not line.startswith("-r ")}
    return names.union(*(required(line.split()[1]) for line in lines if line.startswith("-r ")))


def imported(path: Path) -> set[str]:
    """Give the packages that a script imports, those in functions included, without Python's own and its neighbours."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {one.name.split(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return {name for name in names - sys.stdlib_module_names if not (path.parent / f"{name}.py").exists()}


@pytest.mark.parametrize("path", [*EXAMPLES, *sorted(TOOLS.glob("docs_*.py"))], ids=lambda path: path.name)
def test_what_a_page_imports_is_installed_for_the_build(path: Path) -> None:
    needed = imported(path) - {"flashwatt"}
    assert {name.lower() for name in needed} <= {name.lower() for name in required("requirements-docs.txt")}


def test_requirements_pin_the_same_versions() -> None:
    pins: dict[str, set[str]] = {}
    for file in sorted(ROOT.glob("requirements*.txt")):
        if file.name != "requirements-lowest.txt":
            for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)(?!.*python_version <)", file.read_text(), re.M):
                pins.setdefault(name, set()).add(version)
    assert len(pins) > 40
    assert {name: versions for name, versions in pins.items() if len(versions) > 1} == {}


# The hash of what makes a page.


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, Path]:
    """Lay out a small package, tools and an input."""
    texts = {
        "package/plot/power.py": "bars = 1\n",
        "package/experiments/theory/v1/measure.py": "",
        "package/_core.abi3.so": "engine",
        "tools/docs_pages.py": "",
        "tools/bench.py": "",
        "examples/01_first.py": "print(1)\n",
        "papers/theory/paper.toml": "title = 1\n",
        "papers/theory/v1/README.md": "claim\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in texts}


def of(docs_kept: ModuleType, sources: dict[str, Path]) -> str:
    root = sources["tools/bench.py"].parents[1]
    inputs = [root / "examples/01_first.py", root / "papers/theory"]
    found: str = docs_kept.hash_of(inputs, package=root / "package", tools=root / "tools")
    return found


@pytest.mark.parametrize(
    "name", ["package/plot/power.py", "tools/docs_pages.py", "examples/01_first.py", "papers/theory/v1/README.md"]
)
def test_the_hash_follows_what_makes_a_page(docs_kept: ModuleType, sources: dict[str, Path], name: str) -> None:
    before = of(docs_kept, sources)
    text = sources[name].read_text()
    sources[name].write_text(f"{text}#")
    assert of(docs_kept, sources) != before
    sources[name].write_text(text)
    assert of(docs_kept, sources) == before
    beside = sources[name].rename(sources[name].with_stem(f"{sources[name].stem}_2"))
    if name != "examples/01_first.py":  # an input that is a file is there
        assert of(docs_kept, sources) != before
    beside.rename(sources[name])
    assert of(docs_kept, sources) == before


def test_the_hash_leaves_out_what_makes_none(docs_kept: ModuleType, sources: dict[str, Path]) -> None:
    before = of(docs_kept, sources)
    os.utime(sources["package/plot/power.py"], (1, 1))
    for name in ("package/experiments/theory/v1/measure.py", "package/_core.abi3.so", "tools/bench.py"):
        sources[name].write_text("other")
    compiled = sources["package/plot/power.py"].parent / "__pycache__/power.cpython-311.pyc"
    compiled.parent.mkdir()
    compiled.write_text("compiled")
    assert of(docs_kept, sources) == before


def test_the_hash_follows_the_engine_and_the_packages_that_draw(
    docs_kept: ModuleType, sources: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = [of(docs_kept, sources)]
    with monkeypatch.context() as patched:
        versions = {name: metadata.version(name) for name in ("altair", "polars")}
        patched.setattr(metadata, "version", lambda name: versions.get(name, "0") + ("" if name == "polars" else ".1"))
        found.append(of(docs_kept, sources))
    with monkeypatch.context() as patched:
        patched.setattr(_core, "BUILD_ID", None, raising=False)
        other = shutil.copy(sources["package/_core.abi3.so"], tmp_path / "other.so")
        patched.setattr(_core, "__file__", str(other))
        found.append(of(docs_kept, sources))
        Path(other).write_text("another engine")
        found.append(of(docs_kept, sources))
    with monkeypatch.context() as patched:
        patched.setattr(_core, "BUILD_ID", "0123", raising=False)
        found.append(of(docs_kept, sources))
    assert len(set(found)) == len(found)
    assert of(docs_kept, sources) == found[0]


# What is kept.


def test_pages_are_kept_until_what_makes_them_changes(
    docs_kept: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []

    def build(made_of: str) -> dict[str, str]:
        def make() -> dict[str, str]:
            made.append(made_of)
            return {"peers.md": f"# Peers of {made_of}\n", "tutorial/a.svg": "<svg>η</svg>"}

        pages: dict[str, str] = docs_kept.Kept(tmp_path / "docs", 8).pages("peers", made_of, "running P1", make)
        assert pages == {"peers.md": f"# Peers of {made_of}\n", "tutorial/a.svg": "<svg>η</svg>"}
        return pages

    for made_of in ("one", "one", "two", "two"):
        build(made_of)
    assert made == ["one", "two"]
    said = capsys.readouterr().err.splitlines()
    assert said == 2 * [
        "docs: peers (1 of 8): running P1 ...",
        "docs: peers (1 of 8): unchanged, kept from an earlier build",
    ]
    (kept,) = (tmp_path / "docs").iterdir()
    for torn in (kept.read_text()[:30], "[]", "{}"):
        kept.write_text(torn)
        build("two")
    assert made == ["one", "two", "two", "two", "two"]


def test_progress_is_a_line_at_each_quarter(docs_kept: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    fresh = docs_kept.quarters("validation")
    for done in range(0, 101, 10):
        fresh(done, 100)
    resumed = docs_kept.quarters("peers")
    for done in (60, 70, 80, 100):
        resumed(done, 100)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        *(f"docs: validation: {done}% done" for done in (30, 50, 80, 100)),
        "docs: peers: 60% of the runs kept from earlier builds",
        *(f"docs: peers: {done}% done" for done in (80, 100)),
    ]


def test_pages_of_the_build_are_begun_in_the_repository(
    docs_pages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a link to one leads somewhere without a build."""
    monkeypatch.setattr(docs_pages, "BUILT", tmp_path)
    monkeypatch.setattr(docs_pages, "rerun", lambda _paper, name: {f"{name}.md": "verdicts"})
    monkeypatch.setattr(docs_pages, "tutorial", lambda _path: ("cells", {}))
    monkeypatch.setattr(docs_pages, "front", dict)
    made = docs_pages.quick_pages() | docs_pages.slow_pages()
    docs = ROOT / "docs"
    begun = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md") if docs_pages.MARK in path.read_text()}
    assert begun == made.keys()
    for name, text in made.items():
        page = docs_pages.completed(name, text)
        assert page.startswith("# ")
        assert page.endswith(f"\n{text}")
        assert docs_pages.MARK not in page
    for path in EXAMPLES:
        title = path.read_text().splitlines()[1].removeprefix("# ")
        assert (docs / f"tutorial/{path.stem}.md").read_text().startswith(f"{title}\n"), path


def test_a_page_without_the_mark_is_an_error(docs_pages: ModuleType) -> None:
    with pytest.raises(SystemExit, match=r"docs/limits\.md: found no mark; expected the line <!-- The site has more"):
        docs_pages.completed("limits.md", "more")


def test_every_slow_page_is_kept(
    docs_pages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[str] = []

    def rerun(paper: str, name: str) -> dict[str, str]:
        made.append(paper)
        return {f"{name}.md": paper}

    def tutorial(path: Path) -> tuple[str, dict[str, str]]:
        made.append(path.name)
        return path.name, {f"{path.stem}_1.svg": "<svg>"}

    examples = tmp_path / "examples"
    shutil.copytree(ROOT / "examples", examples)
    monkeypatch.setattr(docs_pages, "BUILT", tmp_path / "target")
    monkeypatch.setattr(docs_pages, "EXAMPLES", examples)
    monkeypatch.setattr(docs_pages, "rerun", rerun)
    monkeypatch.setattr(docs_pages, "tutorial", tutorial)
    monkeypatch.setattr(docs_pages, "front", lambda: {"power-live.html": "<html>"})
    pages = docs_pages.slow_pages()
    assert made == ["theory", "peers", *(path.name for path in EXAMPLES)]
    assert {"validation.md", "peers.md", "tutorial/01_first_run.md", "tutorial/01_first_run_1.svg"} <= pages.keys()
    assert docs_pages.slow_pages() == pages
    assert len(made) == 2 + len(EXAMPLES)
    first = examples / "01_first_run.py"
    first.write_text(first.read_text() + "\n")
    assert docs_pages.slow_pages() == pages
    assert made[2 + len(EXAMPLES) :] == ["01_first_run.py"]
    said = capsys.readouterr().err.splitlines()
    assert "power-live.html" in pages
    assert said[0] == f"docs: front (1 of {len(said) // 3}): running the demo ..."
    assert said[1] == f"docs: validation (2 of {len(said) // 3}): running the experiments of `theory` ..."


# What a reader sees.

COLUMNS = 116
"""Columns of code and output that fit beside the navigation of the site in a window of 1280 pixels."""


def test_no_line_of_code_is_wider_than_a_window() -> None:
    pages = [ROOT / "README.md", ROOT / "packaging/pypi.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = (
        (page, text) for page in pages for text in re.findall(r"^ *```\w.*?^ *```$", page.read_text(), re.M | re.S)
    )
    wide = [(page.name, line) for page, text in blocks for line in text.splitlines() if len(line) > COLUMNS]
    assert wide == [], "wrap a command with a backslash"


def test_the_first_page_has_the_live_picture(docs_pages: ModuleType) -> None:
    page = docs_pages.live((ROOT / "docs/index.md").read_text())
    assert '<iframe class="live" src="power-live.html"' in page
    assert re.search(r"<noscript><picture>.*power\.svg.*</picture></noscript>", page, re.DOTALL)
    with pytest.raises(SystemExit, match="found no <picture>"):
        docs_pages.live("# FlashWatt")


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.svg")), ids=lambda path: path.name)
def test_pictures_are_for_light_and_dark_pages(path: Path) -> None:
    text = path.read_text()
    assert "rect[fill=white]{fill:none}@media (prefers-color-scheme:dark)" in text
    assert both_schemes(text) == text
    ElementTree.fromstring(text)
