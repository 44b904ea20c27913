"""Pages made while the site is built: references from the engine's lists, the tutorial from the examples."""

from __future__ import annotations

import re
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashwatt import _core
from flashwatt.cli.main import cli
from flashwatt.config import reference
from flashwatt.reproduce import Terms, reproduce
from flashwatt.reproduce.catalogue import EXPERIMENTS, choose
from flashwatt.reproduce.show import criteria as table_of_criteria
from flashwatt.reproduce.show import markdown

sys.path.append(str(Path(__file__).parent))  # MkDocs loads this file alone
from docs_cells import tutorial
from docs_front import CONFIG, front
from docs_kept import Kept, hash_of, quarters, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

MARK = "<!-- The site has more: `make docs` puts it in place of the lines below. -->"
"""In a page in `docs`: what is above it stays, so that links to the page lead somewhere in the repository as well."""
DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = Path(__file__).parents[1] / "examples"
BUILT = Path(__file__).parents[1] / "target"
"""Where pages and the runs behind them are kept, so that the next build of the site has them."""
REPRODUCED = {"validation": "theory", "peers": "peers"}
"""Papers by the names of their pages."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Let every page say its version; called by MkDocs."""
    config.site_name = f"{config.site_name} {_core.__version__}"
    config.copyright = f"FlashWatt {_core.__version__}. {config.copyright}"
    return config


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Put the interactive picture in place of the one on the first page; called by MkDocs."""
    return live(markdown) if page.file.src_uri == "index.md" else markdown


def live(markdown: str) -> str:
    """Replace the first picture of a page by the interactive one, with the picture for browsers without scripts."""
    found = re.search(r"^<picture>.*?</picture>$", markdown, re.MULTILINE | re.DOTALL)
    if not found:
        raise SystemExit("docs/index.md: found no <picture>; expected that of the power over time")
    title = "Power over time, interactive: drag to move, Shift and the mouse wheel to zoom"
    frame = f'<iframe class="live" src="power-live.html" title="{title}" loading="eager"></iframe>'
    return markdown.replace(found[0], f"{frame}\n<noscript>{found[0]}</noscript>", 1)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Put the pages in place of those in `docs` that have the mark, and add their pictures; called by MkDocs."""
    from mkdocs.structure.files import File  # the other functions need no MkDocs

    for name, text in (quick_pages() | slow_pages()).items():
        begun = files.get_file_from_path(name)
        if begun:
            files.remove(begun)
        files.append(File.generated(config, name, content=completed(name, text) if name.endswith(".md") else text))
    say("laying out all pages ...")
    return files


def completed(name: str, text: str) -> str:
    """Give what stands above the mark in a page in `docs`, and the text after it."""
    above, mark, _ = (DOCS / name).read_text(encoding="utf-8").partition(MARK)
    if not mark:
        raise SystemExit(f"docs/{name}: found no mark; expected the line {MARK}")
    return f"{above}{text}"


def on_post_build(config: MkDocsConfig) -> None:
    """Say where the site is; called by MkDocs."""
    say(f"done, see {Path(config.site_dir, 'index.html')}")


def quick_pages() -> dict[str, str]:
    """Make the pages that need no simulation."""
    pages = {"reference/configuration.md": configuration(), "reference/presets.md": presets()}
    return pages | {"reference/command-line.md": command_line(), "criteria.md": criteria()}


def slow_pages() -> dict[str, str]:
    """Make the pages that need simulations, and their pictures, or take those of an earlier build."""
    examples = sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))
    kept = Kept(BUILT / "docs", 1 + len(REPRODUCED) + len(examples))
    pages = dict(kept.pages("front", hash_of([CONFIG]), "running the demo", front))
    for name, paper in REPRODUCED.items():
        doing = f"running the experiments of `{paper}`"
        make = partial(rerun, paper, name)
        pages |= kept.pages(name, hash_of([EXPERIMENTS / paper]), doing, make)
    for path in examples:
        pages |= kept.pages(path.stem, hash_of([path]), f"running examples/{path.name}", partial(tutorial_of, path))
    return pages


def tutorial_of(path: Path) -> dict[str, str]:
    """Run an example; give its page and its pictures by name."""
    page, pictures = tutorial(path)
    return {f"tutorial/{path.stem}.md": page} | {f"tutorial/{name}": svg for name, svg in pictures.items()}


def criteria() -> str:
    """Lay out the criteria of all experiments, a section for each paper."""
    everything = choose((), None)
    counts = Counter(
        "pending" if one.pending else one.class_.value for experiment in everything for one in experiment.criteria
    )
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    parts = [f"There are {sum(counts.values())} in all: {said}."]
    papers = {one.paper.name: one.paper for one in everything}
    for paper in papers.values():
        mine = [one for one in everything if one.paper.name == paper.name]
        parts += [f"## {paper.title}", paper.citation, table_of_criteria(mine)]
    return "\n\n".join(parts)


def rerun(paper: str, name: str) -> dict[str, str]:
    """Run the experiments of a paper, and lay them out: claim, setting, command, verdicts, tables."""
    experiments = choose((), paper)
    terms = Terms(seeds=1)  # three would triple the time of a build
    done = reproduce(experiments, BUILT / name, terms=terms, progress=quarters(name))
    if done.fault:
        raise SystemExit(done.fault)
    parts = []
    for one in experiments:
        found = markdown(row for row in done.rows if row.experiment == one.id)
        parts += [f"## {one.id}: {one.title}", one.readme, f"`flashwatt reproduce {one.id}`", found]
        parts += done.texts[one.id]
    return {f"{name}.md": "\n\n".join(parts) + "\n"}


def configuration() -> str:
    """Write the reference of all keys, a section for each table."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for key in reference.keys().values():
        table, _, _ = key["key"].rpartition(".")
        if table and not key["key"].startswith("run.precondition."):
            tables.setdefault(table, []).append(key)
    lines: list[str] = []
    for table, keys in tables.items():
        lines += ["", f"## `[{table}]`", "", escaped(reference.keys()[table]["doc"]), "", *table_of(keys)]
    return "\n".join(lines) + "\n"


def table_of(keys: list[dict[str, Any]]) -> Iterator[str]:
    """Write the rows of one table's keys."""
    yield "| key | values | default | meaning |"
    yield "|---|---|---|---|"
    for key in keys:
        bare = {**key, "default": None, "required": False}
        default = escaped(f"`{reference.written(key['default'])}`") if key["default"] is not None else ""
        default = "*required*" if key["required"] else default
        names = "".join(f"<br>`{one['name']}`: {one['doc']}" for one in key["choices"])
        doc = key["doc"].replace("\n\n", "<br>") + names
        name = key["key"].rpartition(".")[2]
        yield f"| `{name}` | {escaped(reference.facts(bare))} | {default} | {escaped(doc)} |"


def command_line() -> str:
    """Write the help of every command."""
    return "\n".join(help_of(cli, "flashwatt", 1)) + "\n"


def help_of(command: click.Command, name: str, level: int) -> Iterator[str]:
    """Write the help of a command and of those below it."""
    context = click.Context(command, info_name=name, max_content_width=90, terminal_width=90)
    if level > 1:
        yield f"{'#' * level} {name}\n"
    yield f"```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found and not found.hidden:
                yield from help_of(found, f"{name} {inner}", level + 1)


def presets() -> str:
    """Write every preset with its values and sources."""
    lines: list[str] = []
    for name in reference.presets():
        about, settings = reference.preset(name)
        lines += ["", f"## `{name}`", "", "```text", about, "```", "", "| key | value | source |", "|---|---|---|"]
        for key, setting in settings.items():
            unit = reference.keys()[key]["unit"] or ""
            lines.append(
                f"| `{key}` | {escaped(reference.written(setting['value']))} {unit} | {escaped(setting['source'])} |"
            )
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Escape characters that a table's cell would take for markup; brackets that look like links stay text."""
    return re.sub(r"(`[^`]*`)|([|\[\]*])", lambda hit: hit[1].replace("|", "\\|") if hit[1] else f"\\{hit[2]}", text)
