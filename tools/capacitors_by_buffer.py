"""Print what capacitors must be able to do to bring a full write buffer to flash, by its size.

    python tools/capacitors_by_buffer.py [BUFFER_MIB ...]

A drive of preset `limit` (8 channels of 4 dies) with pages of 16 KiB, blocks of 64 pages and 1 GiB for the host.
"""

import sys

import flashwatt

drive = flashwatt.Config.of(
    {
        "device": {
            "preset": "limit",
            "logical_bytes": 1 << 30,
            "op_ratio": 0.28,
            "page_bytes": 16384,
            "pages_per_block": 64,
            "timing": {"page_transfer_ns": 13_653},
        },
        "run": {"precondition": "filled"},
        "workload": {"uniform": {"requests": 1}},
    }
)
print("| buffer | pages | time | energy | 3.3 to 2.7 V | 12 to 5 V |\n|---|---|---|---|---|---|")
for mib in [int(size) for size in sys.argv[1:]] or [1, 4, 16, 64]:
    held = drive.override(write_buffer__bytes=mib << 20, write_buffer__protection="capacitors")
    full = flashwatt.crash(held, at_ns=0).capacitors
    wide = flashwatt.crash(held, at_ns=0, write_buffer__capacitor_max_v=12, write_buffer__capacitor_min_v=5).capacitors
    assert full is not None
    assert wide is not None
    takes = f"{full.dump_ns / 1e6:.2f} ms | {full.dump_energy_j * 1e3:.1f} mJ"
    farads = f"{full.capacitance_f * 1e3:.1f} mF | {wide.capacitance_f * 1e3:.2f} mF"
    print(f"| {mib} MiB | {full.dump_pages:,} | {takes} | {farads} |", flush=True)
