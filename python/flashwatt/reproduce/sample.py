"""A figure with several seeds: the mean, its interval, and what they say about a bound."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from flashwatt.sweeps.statistics import mean_and_ci

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashwatt.reproduce.criterion import Value


@dataclass(frozen=True, slots=True)
class Sample:
    """The figure with each seed."""

    values: tuple[Value, ...]

    @property
    def mean(self) -> Value:
        """The mean; the figure itself where all are equal; of a yes or no, the share of yes."""
        first = self.values[0]
        return first if all(one == first for one in self.values) else fmean(self.values)

    @property
    def half_width(self) -> float | None:
        """Half the width of the mean's 95 % confidence interval (Student); None for one value, and for a yes or no."""
        if len(self.values) == 1 or isinstance(self.values[0], bool):
            return None
        return mean_and_ci(self.values)[1]

    def reaches(self, ends: Sequence[float]) -> bool:
        """Whether one of these ends of a bound lies within the interval; of a yes or no, whether the seeds disagree."""
        if isinstance(self.values[0], bool):
            return len(set(self.values)) > 1
        half = self.half_width or 0
        return half > 0 and any(abs(end - self.mean) <= half for end in ends)


def averaged_text(texts: Sequence[str]) -> str:
    """One text in Markdown from those of several seeds: each number that differs becomes a mean with its interval.

    Lines, and cells of tables, are laid side by side. Where they differ in words, all versions stand, with the number
    of seeds.
    """
    if len({text.count("\n") for text in texts}) > 1:
        return f"{texts[0]}\n\nThe first of {len(texts)} seeds."
    lines = [_line(some) for some in zip(*(text.split("\n") for text in texts), strict=True)]
    return "\n".join(lines)


def _line(versions: Sequence[str]) -> str:
    cells = [one.split("|") for one in versions]
    if len({len(one) for one in cells}) > 1:
        return _versions(versions)
    return "|".join(_cell(some) for some in zip(*cells, strict=True))


def _cell(versions: Sequence[str]) -> str:
    if len(set(versions)) == 1:
        return versions[0]
    found = [_NUMBER.findall(one) for one in versions]
    if len({_NUMBER.sub("", one) for one in versions}) > 1:
        return _versions(versions)
    means = iter([_mean(some) for some in zip(*found, strict=True)])
    return _NUMBER.sub(lambda _: next(means), versions[0])


_NUMBER = re.compile(r"[+\-−]?\d(?:[\d,]*\d)?(?:\.\d+)?")


def _mean(written: Sequence[str]) -> str:
    """The mean of numbers as they are written, with its interval, in as many decimals."""
    if len(set(written)) == 1:
        return written[0]
    decimals = max(len(one.partition(".")[2]) for one in written)
    sign = "+" if any(one.startswith("+") for one in written) else ""
    values = [float(one.replace(",", "").replace("−", "-")) for one in written]
    mean, half_width = mean_and_ci(values)
    grouped = "," if any("," in one for one in written) else ""
    said = f"{mean:{sign}{grouped}.{decimals}f} ± {half_width or 0:{grouped}.{decimals}f}"
    return said.replace("-", "−") if any("−" in one for one in written) else said


def _versions(versions: Sequence[str]) -> str:
    """All versions, each with the number of its seeds; one that is empty goes without saying."""
    counts = Counter(one.strip() for one in versions)
    said = [f"{one} ({count} of {len(versions)} seeds)" for one, count in counts.items() if one]
    return f" {'; '.join(said)} "
