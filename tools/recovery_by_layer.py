"""Print how long each translation layer takes to come back from a power cut, and the energy of that, by capacity.

    python tools/recovery_by_layer.py [CAPACITY_GIB ...]
    python tools/recovery_by_layer.py --draw docs/power-cuts.md

A drive of preset `limit` (8 channels of 4 dies) with pages of 16 KiB, blocks of 64 pages and 28 % of spare flash,
filled, under 4,000 random writes. Each figure is the median of 5 cuts at random times. The last rows
are of some layers with checkpoints after this number of programmed bytes. All layers up to 64 GiB take some ten
minutes. With `--draw` the table is not made but read from a text, and its two charts are written beside that:
recovery-time.svg and recovery-energy.svg.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import flashwatt
from flashwatt.plot.figures import Bar, bars

SAID = "Medians of 5 power cuts; 8 channels of 4 dies, pages of 16 KiB. Logarithmic axis."
CHECKPOINTS_MIB = (("page", 32), ("page", 256), ("dftl", 256), ("fast", 256))
CHARTS = {"time": "recovery time (s)", "energy": "recovery energy (J)"}


def drive(layer: str, gib: int, recovery: dict[str, int]) -> flashwatt.Config:
    """Give the drive under its workload. With checkpoints a map on flash has 2 blocks of each die to spare, not 3."""
    device = {"preset": "limit", "logical_bytes": gib << 30, "op_ratio": 0.28, "page_bytes": 16384}
    tables = {
        "device": {**device, "pages_per_block": 64},
        "ftl": {layer: {"map_reserved_blocks": 2}} if recovery and layer == "dftl" else layer,
        "recovery": recovery,
        "run": {"precondition": "filled"},
        "workload": {"uniform": {"requests": 4000}},
    }
    return flashwatt.Config.of(tables)


def table(capacities: list[int]) -> Iterator[str]:
    """Give the lines of the table, each when its figures are there."""
    yield f"| layer | {' | '.join(f'{gib} GiB' for gib in capacities)} |"
    yield f"|---|{'---|' * len(capacities)}"
    rows: list[tuple[str, str, dict[str, int]]] = [(f"`{layer}`", layer, {}) for layer in flashwatt.names("ftls")]
    for layer, mib in CHECKPOINTS_MIB:
        rows.append((f"`{layer}`, {mib} MiB", layer, {"checkpoint_interval_bytes": mib << 20}))
    for row, layer, recovery in rows:
        cells = []
        for gib in capacities:
            crash = flashwatt.crash(drive(layer, gib, recovery), cuts=5)
            assert crash.lost_units == 0, f"{layer} loses durable data"
            time_ns, energy_j = (crash.cuts[name].median() for name in ("recovery_ns", "energy_j"))
            cells.append(f"{time_ns / 1e9:.3f} s, {energy_j:.2f} J")
        yield f"| {row} | {' | '.join(cells)} |"


def draw(text: Path) -> None:
    """Draw the table that stands in a text."""
    lines = text.read_text().splitlines()
    capacities = next(re.findall(r"\d+ GiB", line) for line in lines if line.startswith("| layer | "))
    rows: dict[str, list[Bar]] = {name: [] for name in CHARTS}
    for line in lines:
        layer, figures = re.match(r"\| `(\w+)`(, \d+ MiB)? \|", line), re.findall(r"([\d.]+) s, ([\d.]+) J", line)
        if layer and figures:
            for gib, pair in zip(capacities, figures, strict=True):
                for name, value in zip(CHARTS, pair, strict=True):
                    rows[name].append(Bar(layer[1] + (layer[2] or ""), gib, float(value)))
    for name, unit in CHARTS.items():
        title = f"Recovery {name} by translation layer and capacity"
        bars(title, SAID, rows[name], unit, log=True).save(text.parent / f"recovery-{name}.svg")


def main() -> None:
    """Print the table, or draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capacities", metavar="CAPACITY_GIB", type=int, nargs="*", default=[1, 4, 16, 64])
    parser.add_argument("--draw", metavar="TEXT.md", type=Path)
    asked = parser.parse_args()
    if asked.draw:
        draw(asked.draw)
        return
    for line in table(asked.capacities):
        print(line, flush=True)


if __name__ == "__main__":
    main()
