"""Print how long each translation layer takes to come back from a power cut, and the energy of that, by capacity.

    python tools/recovery_by_layer.py [CAPACITY_GIB ...]

A drive of preset `limit` (8 channels of 4 dies) with pages of 16 KiB, blocks of 64 pages and 28 % of spare flash,
filled, under 4,000 random writes. Each figure is the median of 5 cuts at random times.
"""

import sys

import flashwatt

capacities = [int(gib) for gib in sys.argv[1:]] or [1, 4, 16, 64]
print(f"| layer | {' | '.join(f'{gib} GiB' for gib in capacities)} |")
print(f"|---|{'---|' * len(capacities)}")
for layer in flashwatt.names("ftls"):
    cells = []
    for gib in capacities:
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
        time_s, energy_j = (crash.cuts[name].median() for name in ("recovery_ns", "energy_j"))
        cells.append(f"{time_s / 1e9:.3f} s, {energy_j:.2f} J")
    print(f"| `{layer}` | {' | '.join(cells)} |", flush=True)
