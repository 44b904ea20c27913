"""The table of commands: where each is defined, and the line about it in `flashwatt --help`.

The lines stand here so that the help and completion load no command. A test compares them with the commands' own texts.
"""

from __future__ import annotations

from typing import NamedTuple


class Listed(NamedTuple):
    """A command, before it is loaded."""

    module: str
    """The module of `flashwatt.cli` that defines it."""
    function: str
    help: str
    """The first sentence of its help."""


COMMANDS = {
    "version": Listed("version", "version", "Print the version"),
    "try": Listed(
        "try_",
        "try_",
        "Simulate the example NAME, print its figures, and draw them; without a NAME, list the examples",
    ),
    "run": Listed("run", "run", "Simulate a drive under a workload, and report the figures"),
    "age": Listed(
        "age",
        "age",
        'Prepare the drive of CONFIG.toml and save it; runs begin from it with precondition = { snapshot = "FILE.fw" }',
    ),
    "crash": Listed(
        "crash",
        "crash",
        "Cut the power of a drive at any instant, let it come back, and say what is lost and what that costs",
    ),
    "price": Listed(
        "run",
        "price",
        "Compute the energy of a report's run with other currents and voltages, without simulating it again",
    ),
    "trace": Listed("trace", "trace", "Look at recorded traces, and convert them"),
    "standin": Listed(
        "standin",
        "standin",
        "Make a stand-in of a trace: a model with its statistics, to share where the trace cannot be",
    ),
    "fs": Listed("fs", "fs", "Look into the file system of a workload"),
    "dio": Listed(
        "dio", "dio", "Measure a drive by direct I/O: rate, latency, power and energy of every pattern and size"
    ),
    "battery": Listed(
        "battery",
        "battery",
        "Compute how many gigabytes a battery moves through a drive: Wh × 3600 J over J/MB, and the efficiency",
    ),
    "sweep": Listed("sweep", "sweep", "Run every combination of the grid in STUDY.toml, with every seed"),
    "pack": Listed(
        "pack",
        "pack",
        "Write a study, what it names, and its results to one archive, for somebody who runs it again",
    ),
    "unpack": Listed("pack", "unpack", "Check the archive FILE.zip that `flashwatt pack` wrote, and unpack it to DIR"),
    "compare": Listed(
        "sweep", "compare", "Lay reports side by side: their figures, and the differences of their configurations"
    ),
    "reproduce": Listed(
        "reproduce",
        "reproduce",
        "Rerun published experiments, and lay the published figures beside the simulated ones",
    ),
    "tune": Listed("tune", "tune", "Find the parameters of a scheduler that suit a drive, by a micro-test"),
    "calibrate": Listed("calibrate", "calibrate", "Fit parameters of PRESET to the measurements in TABLE.toml"),
    "model": Listed("model", "model", "Print the results of the papers' analytical models"),
    "list": Listed("listing", "list_", "Print the registered names of a KIND, each with one line about it"),
    "explain": Listed(
        "explain", "explain", "Explain a preset, a key of a configuration or of a report, or a word of the field"
    ),
    "init": Listed(
        "explain",
        "init",
        "Write a configuration to start from: every key with its meaning, and the values of PRESET as comments",
    ),
    "schema": Listed("explain", "schema", "Print the JSON schema of configurations, for editors and checkers"),
}
"""By the words of the command line, in the order in which messages name them."""
