# %% [markdown]
# # Power over time
#
# Bursts of writes on a well-used drive, with pauses between them. `series=True` records the mean power of each
# component in bins of equal length; a number is the length of a bin in nanoseconds.

# %%
import polars as pl

import flashwatt

report = flashwatt.run(
    {"device": {"preset": "x25m", "op_ratio": 0.25}, "run": {"precondition": "steady"}},
    workload__uniform={"requests": 5_000, "read_fraction": 0.3, "burst_requests": 500, "burst_gap_ns": 250_000_000},
    series=1_000_000,
)
flashwatt.plot.power(report)

# %% [markdown]
# The series is a frame. Here: how long the drive drew how much.

# %%
series = report.series()
(
    series.with_columns(((pl.col("end_ns") - pl.col("start_ns")) * 1e-9).alias("seconds"))
    .group_by((pl.col("total_w") * 2).floor().alias("from_w") / 2)
    .agg(pl.col("seconds").sum(), (pl.col("total_w") * pl.col("seconds")).sum().alias("energy_j"))
    .sort("from_w")
)

# %% [markdown]
# Bins are means. `edges` records every change of the current in a window of time, here the first two
# milliseconds of writes: how fast it rises, and how high with all dies at work.

# %%
burst = flashwatt.run(device__preset="x25m", workload__uniform__requests=100, edges=(0, 2_000_000))
flashwatt.plot.current(burst)

# %%
burst.edges().select("start_ns", "end_ns", "nand_program_ma", "total_ma").head()

# %% [markdown]
# pandas, DuckDB, PyArrow and other Arrow libraries read frames without conversion:
# `pandas.DataFrame.from_arrow(series)`, `duckdb.sql("SELECT max(total_w) FROM series")`. For later, there is Parquet.

# %%
series.write_parquet("power.parquet")

# %% [markdown]
# How latencies are spread is a frame, too, and a picture down to the slowest request.

# %%
slow = report.latency().filter(pl.col("cumulative_fraction") > 0.99)
print(f"{slow['count'].sum()} requests are the slowest hundredth of their kind")
flashwatt.plot.latency(report)
