"""`flashwatt try`: an example from nothing to a table and a picture."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

import click

from flashwatt.cli import completion
from flashwatt.cli.run import run
from flashwatt.cli.terminal import DIRECTORY, force, say


class Example(NamedTuple):
    """What `try` can simulate."""

    said: str
    """What it is, in a line."""
    files: dict[str, str]
    """What the files that it leaves hold, the first one first; report.json and config.toml come last."""
    commands: dict[str, str]
    """Commands to go on with, and what each shows."""


_POWER = {
    "power.html": "power over time, component by component: open it in a browser",
    "power.svg": "the same picture for a document",
}
EXAMPLES = {
    "bursts": Example(
        "a used drive of 2008 under bursts of small requests, with collection of garbage",
        _POWER,
        {
            "run {out}/config.toml --set device.op_ratio=0.0737": "as much spare flash as it is sold with",
            "run TRACE": "a recorded trace of your own",
            "list presets": "other drives, for --preset",
            "init --out drive.toml": "a configuration to edit, every key explained",
            "explain efficiency.j_per_gb": "the meaning of a figure or of a key",
        },
    ),
    "modern": Example(
        "a TLC drive of today that is filled until its SLC cache is full, and on",
        {
            "knee.html": "throughput over power, with the knee: where the cache is full. Open it in a browser",
            "knee.svg": "the same picture for a document",
            "power.html": "power over time, component by component",
        },
        {
            "run {out}/config.toml --series --out {out}/through --set slc_cache.after=through": "all through the cache",
            "run {out}/config.toml --series --out {out}/small --set slc_cache.dynamic_bytes=30GB": "a smaller cache",
            "run --preset tlc-client-1t --ranges": "how far the figures can be trusted",
            "explain tlc-client-1t": "the source of every number",
            'explain "SLC cache"': "the meaning of a word",
        },
    ),
}
"""The examples by their names; NAME.toml beside this file is the configuration of each."""

_LONG = 70
"""A command of as many letters is not lined up with the others."""
_LEFT = {"report.json": "every number above, and more", "config.toml": "the run's configuration"}


@click.command("try")
@click.argument("name", required=False, metavar="[NAME]", shell_complete=completion.examples)
@click.option("--out", type=DIRECTORY, default="flashwatt-try", show_default=True, help="Keep the results there.")
@force
@click.pass_context
def try_(context: click.Context, name: str | None, out: Path, force: bool) -> None:
    """Simulate the example NAME, print its figures, and draw them; without a NAME, list the examples."""
    if name is None:
        say(listed())
        return
    if name not in EXAMPLES:
        from flashwatt.base.misspelt import hint

        raise click.UsageError(f"unknown example; found `{name}`; {hint(name, EXAMPLES)}")
    context.invoke(run, files=(Path(__file__).with_name(f"{name}.toml"),), series=True, out=out, force=force)
    say(next_steps(EXAMPLES[name], shlex.quote(str(out))))


def listed() -> str:
    """The examples, one a line."""
    width = max(map(len, EXAMPLES))
    return "\n".join(f"flashwatt try {name:<{width}}   {one.said}" for name, one in EXAMPLES.items())


def next_steps(example: Example, out: str) -> str:
    """What the files of an example hold, and commands to go on with."""
    files = {f"{out}/{name}": said for name, said in {**example.files, **_LEFT}.items()}
    commands = {f"flashwatt {one.format(out=out)}": said for one, said in example.commands.items()}
    wide = max(map(len, files))
    lines = ["", f"The results are in {out}:", *(f"  {name:<{wide}}  {said}" for name, said in files.items())]
    wide = max(len(one) for one in commands if len(one) < _LONG)
    return "\n".join([*lines, "", "Next:", *(f"  {one:<{wide}}  # {said}" for one, said in commands.items())])
