"""A key of MQSim: its values, what it becomes, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flashwatt.mqsim.kinds import Kind

NS_MAX = 1_000_000_000_000
"""The longest time that a configuration takes, in ns."""
SUSPENDED = "an operation is suspended whatever is left of it"


@dataclass(frozen=True)
class Key:
    """A key of MQSim."""

    name: str
    kind: Kind
    default: Any
    """MQSim's value where a file does not give it; None if it has none."""
    to: str = ""
    """The keys of FlashWatt that it becomes; empty if there are none."""
    note: str = ""
    """What differs; of a key that becomes nothing, why."""

    @property
    def fate(self) -> str:
        """In one word or two: what becomes of it."""
        if not self.to:
            return "none"
        return "approximated" if self.note else "converted"
