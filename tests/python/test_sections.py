"""The help has commands and options below headings, and earlier names of commands still work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
import pytest

from flashwatt.cli.main import cli
from flashwatt.cli.sections import HIDDEN, PANELS, SECTIONS

if TYPE_CHECKING:
    from conftest import Cli


def help_of(name: str = "") -> str:
    command: click.Command = cli.commands[name] if name else cli  # type: ignore[attr-defined]
    return command.get_help(click.Context(command, info_name=name or "flashwatt"))


def test_every_command_has_one_section_or_is_hidden() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted([*listed, *HIDDEN]) == sorted(cli.commands)  # type: ignore[attr-defined]
    shown = re.findall(r"^(\S.*):$|^  (\w+)  ", help_of(), re.MULTILINE)
    headings = [heading for heading, _ in shown if heading]
    assert headings == ["Options", *SECTIONS]
    assert [name for _, name in shown if name] == listed


@pytest.mark.parametrize("name", PANELS)
def test_every_option_has_one_panel(name: str) -> None:
    command = cli.commands[name]  # type: ignore[attr-defined]
    placed = [one for names in PANELS[name].values() for one in names]
    assert sorted(placed) == sorted(one.name for one in command.params if isinstance(one, click.Option))
    text = help_of(name)
    assert all(f"{heading}:\n" in text for heading in PANELS[name])
    assert text.rstrip().endswith("Show this message and exit.")


def test_earlier_names_work_and_are_not_offered(flashwatt: Cli) -> None:
    assert flashwatt("version").stdout == flashwatt("--version").stdout
    wrong = flashwatt("batery").stderr
    assert "expected one of" in wrong
    assert not [name for name in HIDDEN if f" {name}," in wrong]


def test_a_battery_by_its_two_names(flashwatt: Cli) -> None:
    assert flashwatt("run", "--requests", 100, "--out", "r").returncode == 0
    for format_ in ([], ["--json"]):
        by_option = flashwatt("compare", "r", "--battery", 20, *format_)
        assert by_option.stdout == flashwatt("battery", "r", "--wh", 20, *format_).stdout
        assert "x25m" in by_option.stdout
    assert "--battery: found -3; expected the energy" in flashwatt("compare", "r", "--battery", -3).stderr
    assert (
        "--battery prints a table of its own" in flashwatt("compare", "r", "--battery", 3, "--format", "latex").stderr
    )
