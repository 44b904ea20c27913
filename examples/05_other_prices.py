# %% [markdown]
# # Other prices, the same run
#
# The ledger of a run holds whole nanoseconds that depend on no current and no voltage: another chip's prices need no
# second simulation.

# %%
import flashwatt

report = flashwatt.run(
    {"device": {"preset": "x25m"}},
    workload__uniform={"requests": 20_000, "read_fraction": 0.5, "rate_per_s": 2000},
)
programs = {f"{current} mA": f"[energy.nand]\nprogram_ma = {current}" for current in (10, 20, 40)}
priced = {name: flashwatt.reprice(report, table) for name, table in programs.items()}
flashwatt.plot.energy(priced)

# %% [markdown]
# Peaks, windows and the series depend on operations that overlap, which the ledger does not hold: they are None,
# and the report says so.

# %%
cheap = priced["10 mA"]
print(cheap.energy_j.total, cheap.power_w.mean, cheap.power_w.peak)
print(cheap.repriced.reason if cheap.repriced else "")

# %% [markdown]
# The total energy of one run under the four idle accountings: `busy_only` charges idle power while a die works in its
# array, `busy_or_loading` also while one is loaded.

# %%
totals = report.energy_total_j
print(f"always on {totals.always_on:.2f} J, flash off {totals.flash_off:.2f} J")
print(f"busy only {totals.busy_only:.2f} J, busy or loading {totals.busy_or_loading:.2f} J")
