"""README and guides are a new user's first hour: their files, commands and lines of Python are tried as they stand."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import tomli

import flashwatt
import forked
from flashwatt import _core

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

GUIDES = (
    "getting-started.md",
    "today.md",
    "sweeps.md",
    "model-your-drive.md",
    "calibrate.md",
    "compare-collectors.md",
    "month.md",
    "measure-a-drive.md",
    "host.md",
    "file-systems.md",
)
VARIES = re.compile(r"simulated in|CPU second")
"""Lines with times of the machine."""

SHORTER = {} if "FLASHWATT_SOAK" in os.environ else {"compare-collectors.md": ("_000 }", "00 }")}
"""Pages whose configurations are long runs, and what makes these a tenth. Of their outputs only words are compared."""

ROOT = Path(__file__).parents[2]
ON_PYPI = ROOT / "packaging/pypi.md"
PAGES = {path.name: path for path in [ROOT / "README.md", *(ROOT / "docs" / name for name in GUIDES)]}
README = (ROOT / "README.md").read_text()
SLOW = ("reproduce",)  # tried by tests of its own
WIDTH = "120"


def blocks(language: str, page: Path = PAGES["README.md"]) -> list[str]:
    """Give the blocks of a language, or of none, in a page."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def commands(page: Path) -> list[str]:
    """Give every call of the command line in a page, in order."""
    joined = (re.sub(r" *\\\n *", " ", block) for block in blocks("sh", page))
    lines = (line.split(" #")[0].strip() for block in joined for line in block.splitlines())
    return [line for line in lines if line.startswith("flashwatt ") and line.split()[1] not in SLOW]


@pytest.fixture(scope="module", params=PAGES)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make a directory with a page's files, beside the examples. Gives the page and the directory."""
    page = PAGES[request.param]
    directory = tmp_path_factory.mktemp(page.stem)
    shutil.copytree(ROOT / "examples", directory / "examples")
    for text in blocks("toml", page):
        name = re.match(r"# ([\w.-]+\.toml)\n", text)
        if name:
            long, short = SHORTER.get(page.name, ("", ""))
            assert long in text
            (directory / name[1]).write_text(text.replace(long, short) if long else text)
    return page, directory


def start(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    """Start the command line as a shell would, in a terminal of that width."""
    said, _, kept = command.partition(" > ")
    environment = {"COLUMNS": WIDTH, "PATH": "", "PYTHONUTF8": "1"}
    result = forked.run(shlex.split(said)[1:], place, env=environment, timeout=300)
    if kept:
        (place / kept.strip()).write_text(result.stdout)
    return result


def test_it_says_first_what_it_is_and_how_to_see_it() -> None:
    top = README.splitlines()[:20]
    assert top[2].startswith("FlashWatt simulates an SSD, a hard disk or an array of them under your workload")
    assert "make demo" in blocks("sh")[0]
    assert "make test" in blocks("sh")[0]
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', "\n".join(top))
    assert pictures == ["docs/power-narrow.svg", "docs/power.svg"]
    for text in ((ROOT / one).read_text() for one in pictures):
        assert ">collection</text>" in text
        assert ">idle</text>" in text
    assert len(README.splitlines()) <= 100


def test_every_command_does_what_it_should(
    place: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, directory = place
    tried = commands(page)
    assert tried
    for command in tried:
        result = start(command, directory)
        assert result.returncode == 0, f"{command}\n{result.stderr}"
        assert "Traceback" not in result.stderr
        expect(page, command, result.stdout)
    monkeypatch.chdir(directory)  # lines of Python may read what the commands wrote
    names: dict[str, object] = {}
    for text in blocks("python", page):
        capsys.readouterr()
        exec(compile(text, page.name, "exec"), names)
        shown = re.search(rf"{re.escape(text)}```\n\n```text\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        assert not shown or capsys.readouterr().out == shown[1]


def words(line: str) -> tuple[str, ...]:
    """Give the labels and units of a line; a column of warnings is there only if points differ in them."""
    return tuple(re.findall(r"[A-Za-z]\w*", line.replace(" warn ", " ")))


def expect(page: Path, command: str, printed: str) -> None:
    """Compare the output with the block of text that follows the command's block in the page, if there is one."""
    shown = re.search(
        rf"{re.escape(command)}[^\n]*\n```\n\n[^`]*?```text\n(.*?)^```$",
        re.sub(r" *\\\n *", " ", page.read_text()),
        re.MULTILINE | re.DOTALL,
    )
    seen: Callable[[str], object] = words if page.name in SHORTER else str.strip
    lines = {seen(line) for line in printed.splitlines()}
    missing = [line for line in shown[1].splitlines() if seen(line) not in lines] if shown else []
    assert [line for line in missing if line.strip() != "…" and not VARIES.search(line)] == [], command


POLICY = ROOT / "docs" / "add-a-victim-policy.md"


def test_the_commands_for_a_policy_of_ones_own_work_with_another(tmp_path: Path) -> None:
    """What needs a build is left out: the engine's tests, `make`, and the policy, whose place `random` takes."""
    lines = [line for block in blocks("console", POLICY) for line in block.splitlines()]
    tried = [line.partition("/bin/")[2] for line in lines if "/bin/flashwatt" in line]
    assert len(tried) == 2
    for command in tried:
        result = start(command.replace("patient", "random") + (" --json" if " run " in command else ""), tmp_path)
        assert result.returncode == 0, f"{command}\n{result.stderr}"
        assert "random" in result.stdout


def test_the_study_of_a_policy_of_ones_own_runs_with_those_that_are_there() -> None:
    study = tomli.loads(blocks("toml", POLICY)[0])
    base, grid = study["base"], study["grid"]
    grid["gc.policy"] = [one for one in grid.pop("gc")["policy"] if "patient" not in one]
    assert grid["gc.policy"] == ["greedy", "cost_benefit"]
    base["device"]["logical_bytes"] //= 2
    (model,) = base["workload"].values()
    for table in (model, base["run"]["warmup"]):
        table["requests"] //= 100
    results = flashwatt.sweep(grid, base=base, seeds=1)
    assert all(one.report.flash.programs.gc > 0 for one in results)


@pytest.mark.parametrize(("kind", "words"), [("ftls", "translation layers"), ("formats", "formats")])
def test_numbers_of_what_there_is_are_those_of_the_lists(kind: str, words: str) -> None:
    there_are = len(_core.list_names(kind))
    pattern = re.compile(rf"(?<={words} \| )\d+|\d+(?= {words}\b)")
    pages = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    said = [(page.name, int(number)) for page in pages for number in pattern.findall(page.read_text())]
    assert len(said) >= 2
    assert [one for one in said if one[1] != there_are] == []


def test_the_page_on_pypi_shows_what_readme_and_guides_show() -> None:
    """So its commands and lines of Python are tried."""
    tried = {line.split("  #")[0].strip() for page in PAGES.values() for line in page.read_text().splitlines()}
    lines = [line for language in ("sh", "toml", "python") for line in "".join(blocks(language, ON_PYPI)).splitlines()]
    assert len(lines) > 10
    assert [line for line in lines if line.split("  #")[0].strip() not in tried] == []


def test_the_page_on_pypi_needs_no_other_file() -> None:
    """Links to files of a clone lead nowhere there."""
    assert tomli.loads((ROOT / "pyproject.toml").read_text())["project"]["readme"] == "packaging/pypi.md"
    assert re.findall(r"\]\((?!https://)[^)]*\)|\bmake \w+", ON_PYPI.read_text()) == []
