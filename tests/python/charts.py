"""What charts hold."""

from __future__ import annotations

import csv
import io


def rows_of(text: str) -> list[dict[str, float]]:
    """Read the rows of a chart's data that is CSV."""
    return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(io.StringIO(text))]
