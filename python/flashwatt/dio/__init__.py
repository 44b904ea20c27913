"""Direct I/O: one micro-benchmark for simulated drives and real ones, with their power.

`target` is what a drive must do, `simulated` and `real` do it, `measure` and `probes` are what is measured.
"""
