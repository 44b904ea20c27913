"""What the paper calls a number of replicas."""

from __future__ import annotations


def scheme(replicas: str) -> str:
    """Without any it is DFTL."""
    return "DFTL" if replicas == "0" else f"RFTL({replicas})"
