"""FlashWatt simulates a flash SSD under a workload and accounts for every joule.

>>> import flashwatt
>>> report = flashwatt.run(device__preset="x25m", workload__uniform__requests=1000)
>>> report.status, report.flash.programs.host
('complete', 1000)

Heavy modules are loaded on first use: polars with the first frame, altair with `flashwatt.plot`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flashwatt._core import FlashwattError, RunInterruptedError, __version__

if TYPE_CHECKING:
    from flashwatt import plot, traces
    from flashwatt.calibration.calibration import CalibrationInterruptedError, calibrate
    from flashwatt.calibration.result import Calibration
    from flashwatt.config.config import Config
    from flashwatt.drive import Done, Drive
    from flashwatt.power_cuts import Crash, crash
    from flashwatt.report.comparison import Comparison, compare
    from flashwatt.report.report import Report
    from flashwatt.runs import age, names, reprice, resolve, run
    from flashwatt.sweeps.cluster.dask import Dask
    from flashwatt.sweeps.executor import Executor
    from flashwatt.sweeps.pack import pack
    from flashwatt.sweeps.results import Results
    from flashwatt.sweeps.statistics import pareto
    from flashwatt.sweeps.study import Study
    from flashwatt.sweeps.sweep import SweepInterruptedError, SweepNotSavedError, sweep
    from flashwatt.sweeps.unpack import Unpacked, unpack

__all__ = [
    "Calibration",
    "CalibrationInterruptedError",
    "Comparison",
    "Config",
    "Crash",
    "Dask",
    "Done",
    "Drive",
    "Executor",
    "FlashwattError",
    "Report",
    "Results",
    "RunInterruptedError",
    "Study",
    "SweepInterruptedError",
    "SweepNotSavedError",
    "Unpacked",
    "__version__",
    "age",
    "calibrate",
    "compare",
    "crash",
    "names",
    "pack",
    "pareto",
    "plot",
    "reprice",
    "resolve",
    "run",
    "sweep",
    "theory",
    "traces",
    "unpack",
]

_HOMES = {  # no module or folder has the name of a function: importing it would replace the function
    "Calibration": "calibration.result",
    "CalibrationInterruptedError": "calibration.calibration",
    "Comparison": "report.comparison",
    "Config": "config.config",
    "Crash": "power_cuts",
    "Dask": "sweeps.cluster.dask",
    "Done": "drive",
    "Drive": "drive",
    "Executor": "sweeps.executor",
    "Report": "report.report",
    "Results": "sweeps.results",
    "Study": "sweeps.study",
    "SweepInterruptedError": "sweeps.sweep",
    "SweepNotSavedError": "sweeps.sweep",
    "Unpacked": "sweeps.unpack",
    "age": "runs",
    "calibrate": "calibration.calibration",
    "compare": "report.comparison",
    "crash": "power_cuts",
    "names": "runs",
    "pack": "sweeps.pack",
    "pareto": "sweeps.statistics",
    "reprice": "runs",
    "resolve": "runs",
    "run": "runs",
    "sweep": "sweeps.sweep",
    "unpack": "sweeps.unpack",
}
_MODULES = ("plot", "theory", "traces")


def __getattr__(name: str) -> Any:
    """Load a name's module on first use (PEP 562)."""
    if name in _MODULES:
        return import_module(f"flashwatt.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'flashwatt' has no attribute {name!r}")
    value = getattr(import_module(f"flashwatt.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
