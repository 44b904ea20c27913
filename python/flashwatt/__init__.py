"""FlashWatt simulates a flash SSD under a workload and accounts for every joule.

>>> import flashwatt
>>> report = flashwatt.run_text('device.preset = "x25m"', sets=["workload.uniform.requests=1000"])
>>> report["status"]
'complete'
"""

from flashwatt._core import FlashwattError, RunInterruptedError, __version__
from flashwatt.run import Report, names, reprice, resolve, run_file, run_text, trace_info

__all__ = [
    "FlashwattError",
    "Report",
    "RunInterruptedError",
    "__version__",
    "names",
    "reprice",
    "resolve",
    "run_file",
    "run_text",
    "trace_info",
]
