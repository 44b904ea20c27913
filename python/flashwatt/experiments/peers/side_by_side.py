"""Two simulators side by side: figures, differences, and the reasons for the large ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt.base.files import read_text
from flashwatt.config.config import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable

LARGE = 0.02
"""A relative difference above this has its reason beside it."""
_DECIMALS = ((10_000, 0), (1_000, 1), (10, 2))
_MOST_DECIMALS = 3


class Line(NamedTuple):
    """One case."""

    case: str
    peer: float
    ours: float
    theory: float | None = None
    reason: str = ""
    """Why the two differ, if that is known."""

    @property
    def difference(self) -> float:
        """How much more ours is than the peer's, relative to it."""
        return self.ours / self.peer - 1

    @property
    def large(self) -> bool:
        """Whether the difference needs a reason."""
        return abs(self.difference) > LARGE


def figures_of(name: str) -> dict[str, Any]:
    """Give the file of a simulator: its commit, settings and figures."""
    file = Path(__file__).parent / f"{name}.toml"
    return parse_toml(read_text(file), str(file))


def unexplained(lines: Iterable[Line]) -> int:
    """Count the large differences that no reason stands beside."""
    return sum(line.large and not line.reason for line in lines)


def table(peer: str, unit: str, lines: Iterable[Line], theory: str = "theory") -> str:
    """Lay the figures out in Markdown; `theory` names the third column of figures."""
    heads = ("", f"{peer} ({unit})", f"FlashWatt ({unit})", "difference", theory)
    shares = (f"{peer} / {theory}", f"FlashWatt / {theory}", "reason of a difference above 2 %")
    rows = [(*heads, *shares), ("---",) * (len(heads) + len(shares)), *map(_cells, lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cells(line: Line) -> tuple[str, ...]:
    against = ("–", "–", "–")
    if line.theory is not None:
        against = (_figure(line.theory), f"{line.peer / line.theory:.4f}", f"{line.ours / line.theory:.4f}")
    reason = (line.reason or "not known") if line.large else ""
    return (line.case, f"{line.peer:,}", _figure(line.ours), _percent(line.difference), *against, reason)


def _percent(share: float) -> str:
    return f"{round(100 * share, 2) + 0.0:+.2f} %".replace("-", "−")  # no -0.00


def _figure(value: float) -> str:
    decimals = next((few for least, few in _DECIMALS if value >= least), _MOST_DECIMALS)
    return f"{value:,.{decimals}f}"
