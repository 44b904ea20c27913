"""Print how long each translation layer takes to come back from a power cut, and the energy of that, by capacity.

    python tools/recovery_by_layer.py [--draw DIRECTORY] [CAPACITY_GIB ...]

A drive of preset `limit` (8 channels of 4 dies) with pages of 16 KiB, blocks of 64 pages and 28 % of spare flash,
filled, under 4,000 random writes. Each figure is the median of 5 cuts at random times. With `--draw` the two charts
of the guide are written, too: recovery-time.svg and recovery-energy.svg.
"""

import argparse
from pathlib import Path

import flashwatt
from flashwatt.plot.figures import Bar, bars

SAID = "Medians of 5 power cuts, 8 channels of 4 dies."
CHARTS = {
    "recovery-time.svg": ("recovery_ns", 1e9, "Recovery time by translation layer and capacity", "s"),
    "recovery-energy.svg": ("energy_j", 1, "Recovery energy by translation layer and capacity", "J"),
}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("capacities", metavar="CAPACITY_GIB", type=int, nargs="*", default=[1, 4, 16, 64])
parser.add_argument("--draw", metavar="DIRECTORY", type=Path)
asked = parser.parse_args()

rows: dict[str, list[Bar]] = {name: [] for name in CHARTS}
print(f"| layer | {' | '.join(f'{gib} GiB' for gib in asked.capacities)} |")
print(f"|---|{'---|' * len(asked.capacities)}")
for layer in flashwatt.names("ftls"):
    cells = []
    for gib in asked.capacities:
        drive = flashwatt.Config.of(
            {
                "device": {
                    "preset": "limit",
                    "logical_bytes": gib << 30,
                    "op_ratio": 0.28,
                    "page_bytes": 16384,
                    "pages_per_block": 64,
                },
                "ftl": layer,
                "run": {"precondition": "filled"},
                "workload": {"uniform": {"requests": 4000}},
            }
        )
        crash = flashwatt.crash(drive, cuts=5)
        assert crash.lost_units == 0, f"{layer} loses durable data"
        for name, (figure, size, *_) in CHARTS.items():
            rows[name].append(Bar(layer, f"{gib} GiB", crash.cuts[figure].median() / size))
        time_s, energy_j = (rows[name][-1].value for name in CHARTS)
        cells.append(f"{time_s:.3f} s, {energy_j:.2f} J")
    print(f"| `{layer}` | {' | '.join(cells)} |", flush=True)
if asked.draw:
    for name, (_, _, title, unit) in CHARTS.items():
        bars(title, SAID, rows[name], unit, log=True).save(asked.draw / name)
