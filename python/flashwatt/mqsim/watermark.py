"""The blocks that a collection keeps free, where MQSim's number is more than the drive can spare."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flashwatt import _core

if TYPE_CHECKING:
    from flashwatt.mqsim.draft import Draft, Line


def fit_watermark(draft: Draft, name: str) -> None:
    """Lower the watermark of the collection to what the drive can spare, if MQSim's is more than that."""
    try:
        draft.resolve(name)
    except _core.FlashwattError:
        place = next(at for at, line in enumerate(draft.lines) if line.key == "low_watermark_blocks")
        wanted = draft.lines[place : place + 2]
        fits, fails = 2, wanted[0].value
        if not _fits(draft, name, place, wanted, fits):
            draft.resolve(name)  # what is wrong even with the least watermark
        while fails - fits > 1:
            middle = (fits + fails) // 2
            fits, fails = (middle, fails) if _fits(draft, name, place, wanted, middle) else (fits, middle)
        _fits(draft, name, place, wanted, fits)


def _fits(draft: Draft, name: str, place: int, wanted: list[Line], low: int) -> bool:
    """Try a lower watermark, and as many of the blocks below it for the host's reserve as are wanted."""
    watermark, reserve = wanted
    said = f"{watermark.said}; more than the drive has to spare: MQSim would serve few writes, or none"
    draft.lines[place] = replace(watermark, value=low, said=said)
    draft.lines[place + 1] = replace(reserve, value=max(1, min(reserve.value, low - 1)))
    try:
        draft.resolve(name)
    except _core.FlashwattError:
        return False
    return True
