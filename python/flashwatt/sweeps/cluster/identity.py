"""What a worker of a cluster must have in common with the process that gives it tasks.

The functions go to the workers by value, so that they also run where this package is not installed.
"""

from __future__ import annotations

import socket
from typing import TypedDict


class Identity(TypedDict):
    """A worker's host, and the package that it has."""

    host: str
    version: str
    build: str
    """Empty if the package cannot be loaded."""
    fault: str
    """Why it cannot be loaded."""


def identity() -> Identity:
    """Say what this process has."""
    host = socket.gethostname()
    try:
        from flashwatt import _core
    except ImportError as error:
        return Identity(host=host, version="", build="", fault=str(error))
    return Identity(host=host, version=_core.__version__, build=_core.BUILD_ID, fault="")


def difference(theirs: Identity, ours: Identity) -> str:
    """Say in what a worker differs from the process that gives it tasks; empty if in nothing."""
    host = f"the worker on {theirs['host']}"
    wanted = f"FlashWatt {ours['version']}, build {ours['build'][:16]}, as on {ours['host']}"
    if not theirs["build"]:
        return f"{host}: found no FlashWatt ({theirs['fault']}); expected {wanted}"
    if (theirs["version"], theirs["build"]) != (ours["version"], ours["build"]):
        found = f"FlashWatt {theirs['version']}, build {theirs['build'][:16]}"
        return f"{host}: another build; found {found}; expected {wanted}"
    return ""
