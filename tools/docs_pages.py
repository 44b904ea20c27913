"""Pages made while the site is built: references from the engine's lists, the tutorial from the examples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

from flashwatt.config import reference
from flashwatt.reproduce import reproduce
from flashwatt.reproduce.catalogue import choose
from flashwatt.reproduce.show import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ABOUT_KEYS = """# Configuration

A configuration is a TOML file. Every key may be left out, and each may be given as `--set KEY=VALUE` as well. The file
is laid over the preset that `device.preset` names. `flashwatt explain KEY` prints the same text, `flashwatt init`
writes a file to start from, `flashwatt schema` prints the JSON schema for editors. `[run.precondition.NAME]` takes the
keys of `[workload.NAME]`.

*Required* keys have no default: every preset gives them."""
ABOUT_VALIDATION = """# Validation

This page compares simulated drives with closed forms, and with equivalent drives. It was made while the site was built,
by

```sh
flashwatt reproduce --paper theory
```

which also draws the figures. The papers' own figures, published beside simulated, come from
`flashwatt reproduce --all`: see [Reproduce the papers](reproduce.md)."""
EXAMPLES = Path(__file__).parents[1] / "examples"
VALIDATION = Path(__file__).parents[1] / "target" / "validation"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages; called by MkDocs."""
    pages = {"reference/configuration.md": configuration(), "reference/presets.md": presets()}
    pages["validation.md"] = validation()
    pages |= {f"tutorial/{path.stem}.md": tutorial(path) for path in sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def validation() -> str:
    """Run the validation experiments, and lay them out: claim, setting, verdicts, the command that prints them."""
    experiments = choose((), "theory")
    rows = reproduce(experiments, VALIDATION).rows
    parts = [ABOUT_VALIDATION]
    for one in experiments:
        found = markdown(row for row in rows if row.experiment == one.id)
        parts.append(f"## {one.id}: {one.title}\n\n{one.readme}\n\n`flashwatt reproduce {one.id}`\n\n{found}")
    return "\n\n".join(parts) + "\n"


def tutorial(path: Path) -> str:
    """Turn a script with percent cells into a page: prose as it is, code in fences."""
    parts = []
    for cell in path.read_text(encoding="utf-8").split("# %%")[1:]:
        if cell.startswith(" [markdown]\n"):
            parts.append(re.sub(r"^# ?", "", cell.removeprefix(" [markdown]\n"), flags=re.MULTILINE).strip())
        else:
            parts.append(f"```python\n{cell.strip()}\n```")
    note = f"This page is `examples/{path.name}`: a script that also opens as a notebook."
    title, _, rest = "\n\n".join(parts).partition("\n")
    return f"{title}\n\n*{note}*\n{rest}\n"


def configuration() -> str:
    """Write the reference of all keys, a section for each table."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for key in reference.keys().values():
        table, _, _ = key["key"].rpartition(".")
        if table and not key["key"].startswith("run.precondition."):
            tables.setdefault(table, []).append(key)
    lines = [ABOUT_KEYS]
    for table, keys in tables.items():
        lines += ["", f"## `[{table}]`", "", escaped(reference.keys()[table]["doc"]), "", *table_of(keys)]
    return "\n".join(lines) + "\n"


def table_of(keys: list[dict[str, Any]]) -> Iterator[str]:
    """Write the rows of one table's keys."""
    yield "| key | values | default | meaning |"
    yield "|---|---|---|---|"
    for key in keys:
        bare = {**key, "default": None, "required": False}
        default = f"`{reference.written(key['default'])}`" if key["default"] is not None else ""
        default = "*required*" if key["required"] else default
        names = "".join(f"<br>`{one['name']}`: {one['doc']}" for one in key["choices"])
        doc = key["doc"].replace("\n\n", "<br>") + names
        name = key["key"].rpartition(".")[2]
        yield f"| `{name}` | {escaped(reference.facts(bare))} | {escaped(default)} | {escaped(doc)} |"


def presets() -> str:
    """Write every preset with its values and sources."""
    lines = ["# Presets", "", "Drives as data. `flashwatt explain PRESET` prints the same."]
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
