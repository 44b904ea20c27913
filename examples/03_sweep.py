# %% [markdown]
# # Which drive is worth its energy?
#
# A sweep runs every combination of a grid, each with several seeds, on all processors. With `out="some/directory"` it
# keeps every finished run: after an interruption the same call continues from there. `flashwatt sweep STUDY.toml` does
# the same from the command line.

# %%
import flashwatt

base = flashwatt.Config.of(
    {
        "device": {"preset": "x25m", "logical_bytes": 4_000_000_000},
        "workload": {"uniform": {"requests": 5_000, "read_fraction": 0.5}},
        "run": {"precondition": "steady"},
    }
)
results = flashwatt.sweep(
    {"device.channels": [2, 4, 8], "device.op_ratio": [0.15, 0.3]},
    base=base,
    seeds=3,
    out="sweep",
)
print(results)

# %% [markdown]
# Means over the seeds, with half the width of their 95 % confidence intervals.

# %%
results.summary(["throughput.iops", "flash.write_amplification", "efficiency.j_per_gb"])

# %% [markdown]
# The points that no other point beats: none is as fast and needs as little power and energy.

# %%
results.pareto(minimize=["power_w.peak", "efficiency.j_per_gb"], maximize=["throughput.iops"])

# %%
flashwatt.plot.tradeoff(results, x="power_w.peak", y="efficiency.j_per_gb", color="device.channels")

# %% [markdown]
# Every run is there, as a row of a frame with all figures of its report and as the report itself.

# %%
for point, seed, report in results:
    if seed == 1:
        print(point, f"{report.gc.victims} victims, {report.energy_by_cause_j.gc:.3f} J for garbage collection")
results.frame().select("device.channels", "device.op_ratio", "seed", "energy_by_cause_j.gc")
