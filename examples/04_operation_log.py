# %% [markdown]
# # Every flash operation
#
# The operation log has a row for each operation, request and event. It is kept in a file; `scan_op_log` reads only
# the requested part of it, so that runs may be long.

# %%
import polars as pl

import flashwatt

report = flashwatt.run(
    {"device": {"preset": "x25m", "op_ratio": 0.25}, "run": {"precondition": "steady"}},
    workload__uniform={"requests": 4_000, "read_fraction": 0.3, "burst_requests": 500, "burst_gap_ns": 250_000_000},
    op_log=True,
)
log = report.op_log()
log.group_by("record", "cause").len().sort("len", descending=True)

# %% [markdown]
# How evenly are the dies used, and for whom?

# %%
operations = report.scan_op_log().filter(pl.col("die").is_not_null())
busy_ms = (pl.col("end_ns") - pl.col("start_ns")) / 1e6
for_gc = pl.col("cause").cast(pl.String) == "gc"
(
    operations.group_by("die")
    .agg(
        pl.len().alias("operations"),
        busy_ms.sum().alias("busy_ms"),
        busy_ms.filter(for_gc).sum().alias("for_gc_ms"),
    )
    .sort("die")
    .collect()
)

# %% [markdown]
# How long did requests wait while garbage was collected? A request's latency here is that from its admission on.

# %%
requests = log.filter(pl.col("record") == "request")
requests.group_by("cause").agg(
    pl.len().alias("requests"),
    ((pl.col("end_ns") - pl.col("start_ns")) / 1e6).quantile(0.99).alias("p99_ms"),
)

# %% [markdown]
# For a log that is too large for memory, name a file: `op_log="ops.parquet"` keeps a tenth of the size of the text.

# %%
report.scan_op_log().sink_parquet("operations.parquet")
