"""The kinds of values that MQSim's keys have: what text is one, and what its value is."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Protocol

_WHOLE = re.compile(r"[+-]?[0-9]{1,30}")
_REAL = re.compile(r"[+-]?([0-9]{1,30}(\.[0-9]{0,60})?|\.[0-9]{1,60})([eE][+-]?[0-9]{1,3})?")


class Kind(Protocol):
    """A kind of value."""

    @property
    def expected(self) -> str:
        """The values that it takes, for messages and tables."""

    def parse(self, text: str) -> Any:
        """Give the value of a text; None if it is none of this kind."""


@dataclass(frozen=True)
class Whole:
    """A whole number."""

    least: int = 0
    most: int = (1 << 63) - 1
    unit: str = ""

    @property
    def expected(self) -> str:
        """The bounds; of an open end only the least."""
        bounds = f"{self.least:,} to {self.most:,}" if self.most < 1 << 40 else f"{self.least:,} or more"
        return f"a whole number{f' of {self.unit}' if self.unit else ''}, {bounds}"

    def parse(self, text: str) -> int | None:
        """Give the number, if it is within the bounds."""
        value = int(text) if _WHOLE.fullmatch(text) else None
        return value if value is not None and self.least <= value <= self.most else None


@dataclass(frozen=True)
class Real:
    """A number with a fraction."""

    least: float
    below: float = math.inf
    unit: str = ""

    @property
    def expected(self) -> str:
        """The bounds."""
        lower = f"{self.least:g} or more"
        upper = f" and below {self.below:g}" if self.below < math.inf else ""
        return f"a number{f' of {self.unit}' if self.unit else ''}, {lower}{upper}"

    def parse(self, text: str) -> float | None:
        """Give the number, if it is within the bounds."""
        value = float(text) if _REAL.fullmatch(text) else math.nan
        return value if self.least <= value < self.below else None


@dataclass(frozen=True)
class Flag:
    """True or false."""

    expected: str = "true or false"

    def parse(self, text: str) -> bool | None:
        """Give the truth, in any case of letters."""
        return {"true": True, "false": False}.get(text.lower())


class Word:
    """One of several words."""

    def __init__(self, *words: str) -> None:
        """Take the words, in capitals."""
        self.words = words

    @property
    def expected(self) -> str:
        """All words."""
        return " or ".join(filter(None, (", ".join(self.words[:-1]), self.words[-1])))

    def parse(self, text: str) -> str | None:
        """Give the word in capitals, for one in any case of letters."""
        return text.upper() if text.upper() in self.words else None


@dataclass(frozen=True)
class Numbers:
    """Whole numbers with commas between them: a set."""

    expected: str = "whole numbers with commas between them: 0,1,2,3"

    def parse(self, text: str) -> tuple[int, ...] | None:
        """Give the numbers in order, each once."""
        words = [one.strip() for one in text.split(",")]
        if not all(re.fullmatch("[0-9]{1,9}", one) for one in words):
            return None
        return tuple(sorted({int(one) for one in words}))


@dataclass(frozen=True)
class Name:
    """The name of a file."""

    expected: str = "the name of a file"

    def parse(self, text: str) -> str | None:
        """Give the name, which is not empty."""
        return text or None
