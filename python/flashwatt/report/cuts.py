"""The power cuts in a report: each figure of a cut with its distribution. The engine names the figures."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass
from typing import TYPE_CHECKING, Any

from flashwatt.base.cut_figures import cut_figures
from flashwatt.report.sections import said


@dataclass(frozen=True, slots=True)
class CutSpread:
    """How a figure is distributed over power cuts. A quantile is a value that occurred."""

    min: float
    """The smallest value."""
    median: float
    """Of n values the ⌈n / 2⌉-th smallest."""
    p99: float
    """Of n values the ⌈0.99 n⌉-th smallest."""
    max: float
    """The greatest value."""


@dataclass(frozen=True, slots=True)
class CutSummary:
    """What does not vary over the cuts."""

    status: str
    """`complete`, or `interrupted`: then the cuts until then are summed up."""
    cuts: int
    """Cuts that were made."""
    has_volatile_buffer: bool
    """Whether the drive has a volatile write buffer: then a write that has completed is durable after a flush only."""
    has_paired_pages: bool
    """Whether pages share cells with others, which torn pages spoil."""
    logical_units: int
    """Map units that the host can address."""
    unit_bytes: int
    """Bytes of a map unit."""
    idle_cuts: int | None = None
    """Cuts at which no flash operation was under way; null in reports of earlier versions, which do not say."""


OF_CUTS = "Power cuts of copies of the drive (`[run.power_cuts]`): the distribution of each figure of a cut."
_OF_SECOND = "Second cuts, during the recoveries (`run.power_cuts.twice`); null without them."

if TYPE_CHECKING:

    @dataclass(frozen=True)
    class SecondCuts:
        """Second cuts: an attribute for each figure of such a cut."""

        def __getattr__(self, figure: str) -> CutSpread | None: ...

    @dataclass(frozen=True)
    class PowerCuts(CutSummary):
        """Power cuts: an attribute for each figure of a cut, a column of `Crash.cuts`."""

        second: SecondCuts | None = None

        def __getattr__(self, figure: str) -> CutSpread | None: ...

else:

    def _table(name: str, doc: str, fields: dict[str, Any], *, bases: tuple[type, ...] = ()) -> type:
        """A class with these fields; a report without power cuts of some kind lacks them."""
        given = [(key, kind, field(default=None)) for key, kind in fields.items()]
        made = make_dataclass(name, given, bases=bases, frozen=True, slots=True)
        made.__doc__, made.__module__, made.__repr__ = doc, __name__, said
        return made

    def _spreads(*, second: bool) -> dict[str, Any]:
        return dict.fromkeys(cut_figures(second=second), CutSpread | None)

    SecondCuts = _table("SecondCuts", _OF_SECOND, _spreads(second=True))
    PowerCuts = _table(
        "PowerCuts", OF_CUTS, {**_spreads(second=False), "second": SecondCuts | None}, bases=(CutSummary,)
    )


def docs() -> dict[str, dict[str, str]]:
    """Give the meanings of the figures, by class and attribute."""
    first, second = ({key: one.doc for key, one in cut_figures(second=second).items()} for second in (False, True))
    return {"PowerCuts": first, "SecondCuts": second}
