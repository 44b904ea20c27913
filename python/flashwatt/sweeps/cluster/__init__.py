"""Sweeps on a Dask cluster.

dask ─ opens or finds the cluster ─▶ coordinator ─ batches of tasks ─▶ worker ─ runs them on another machine
                                          ◀─ answers, starts, shares ─        inputs: files by their hashes

Only `worker`, `inputs` and `identity` run on the workers. Nothing here is loaded before a cluster is asked for.
"""
