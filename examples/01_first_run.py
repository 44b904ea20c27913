# %% [markdown]
# # A first run
#
# A drive, a workload, a report. Every key of a configuration can be given as a keyword, with `__` for the dot; other
# values come from the preset. `flashwatt list presets` names the drives.

# %%
import flashwatt

report = flashwatt.run(
    device__preset="x25m",
    workload__uniform={"requests": 20_000, "request_bytes": 4096, "read_fraction": 0.7},
)
report

# %% [markdown]
# The report's sections are attributes with units at the end of their names. Editors and type checkers know them all.

# %%
energy = report.energy_j
print(f"{energy.total:.3f} J, of which {energy.nand.program / energy.total:.0%} programs pages")
p99_ns = report.latency_ns.read.p99 or 0
print(f"{report.throughput.iops:,.0f} IOPS; 99 % of the reads took {p99_ns / 1e6:.2f} ms or less")

# %% [markdown]
# A configuration may also be a file or a dictionary, and be kept to lay other values over it.

# %%
drive = flashwatt.Config.of({"device": {"preset": "x25m"}, "workload": {"uniform": {"requests": 20_000}}})
reports = {f"{channels} channels": flashwatt.run(drive, device__channels=channels) for channels in (2, 5, 10)}
flashwatt.plot.energy(reports)

# %% [markdown]
# Fewer channels draw less power, and need more energy: the drive is on for longer.

# %%
for name, run in reports.items():
    print(f"{name}: {run.power_w.mean:.2f} W for {run.throughput.simulated_s:.2f} s is {run.energy_j.total:.2f} J")

# %% [markdown]
# `save` writes the same picture as a page to look closer (.html) or for a document (.svg, .png, .pdf).

# %%
flashwatt.plot.energy(reports).save("energy.html")
