"""What the paper calls a number of replicas, and the grid of what it does not state."""

from __future__ import annotations

from flashwatt.reproduce.evidence import NoEvidenceError


def scheme(replicas: str) -> str:
    """Without any it is DFTL."""
    return "DFTL" if replicas == "0" else f"RFTL({replicas})"


def no_grid() -> float:
    """Raise `NoEvidenceError`: the grid has not been run yet."""
    raise NoEvidenceError("the grid of depths, policies, strides and batch update has not been run")
