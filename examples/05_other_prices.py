# %% [markdown]
# # Other prices, the same run
#
# The books of a run are whole nanoseconds that depend on no current and no voltage: another chip's prices need no
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
# What depends on what happened at the same time has no price in the books: peaks, windows and the series are None,
# and the report says so.

# %%
cheap = priced["10 mA"]
print(cheap.energy_j.total, cheap.power_w.mean, cheap.power_w.peak)
print(cheap.repriced.reason if cheap.repriced else "")

# %% [markdown]
# What does idling cost? Three answers that the literature gives, for one run.

# %%
totals = report.energy_total_j
print(f"always on {totals.always_on:.2f} J, flash off {totals.flash_off:.2f} J, busy only {totals.busy_only:.2f} J")
