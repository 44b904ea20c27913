"""Print how long each translation layer takes to come back from a power cut, and the energy of that, by capacity.

    python tools/recovery_by_layer.py [CAPACITY_GIB ...]

A drive of preset `limit` (8 channels of 4 dies) with pages of 16 KiB, blocks of 64 pages and 28 % of spare flash,
filled, under 4,000 random writes. Each figure is the median of 5 cuts at random times. The last rows are of page
mapping with checkpoints after so many bytes.
"""

import sys

import flashwatt

INTERVALS_MIB = (32, 256)


def cell(gib: int, layer: str, recovery: dict[str, int]) -> str:
    """Give the medians of five cuts of a drive of this capacity."""
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
            "recovery": recovery,
            "run": {"precondition": "filled"},
            "workload": {"uniform": {"requests": 4000}},
        }
    )
    crash = flashwatt.crash(drive, cuts=5)
    assert crash.lost_units == 0, f"{layer} loses durable data"
    time_s, energy_j = (crash.cuts[name].median() for name in ("recovery_ns", "energy_j"))
    return f"{time_s / 1e9:.3f} s, {energy_j:.2f} J"


capacities = [int(gib) for gib in sys.argv[1:]] or [1, 4, 16, 64]
print(f"| layer | {' | '.join(f'{gib} GiB' for gib in capacities)} |")
print(f"|---|{'---|' * len(capacities)}")
rows: list[tuple[str, str, dict[str, int]]] = [(f"`{layer}`", layer, {}) for layer in flashwatt.names("ftls")]
for mib in INTERVALS_MIB:
    rows.append((f"`page`, {mib} MiB", "page", {"checkpoint_interval_bytes": mib << 20}))
for row, layer, recovery in rows:
    cells = [cell(gib, layer, recovery) for gib in capacities]
    print(f"| {row} | {' | '.join(cells)} |", flush=True)
