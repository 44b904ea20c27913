"""Pictures of reports and sweeps: one definition each, as an interactive page, SVG, PNG or PDF.

>>> flashwatt.plot.power(flashwatt.run("drive.toml", series=True)).save("power.html")

A page holds all it needs, its JavaScript included, and loads nothing from anywhere.
"""

from flashwatt.plot.activity import activity, write_activity
from flashwatt.plot.chart import Chart, write_page
from flashwatt.plot.current import current
from flashwatt.plot.dio import dio
from flashwatt.plot.energy import energy
from flashwatt.plot.files import operations
from flashwatt.plot.host import queue, waits
from flashwatt.plot.knee import knee, write_knee
from flashwatt.plot.latency import latency
from flashwatt.plot.power import power
from flashwatt.plot.probes import probes
from flashwatt.plot.recovery import cuts, recovery
from flashwatt.plot.tradeoff import tradeoff
from flashwatt.plot.versus import versus

__all__ = [
    "Chart",
    "activity",
    "current",
    "cuts",
    "dio",
    "energy",
    "knee",
    "latency",
    "operations",
    "power",
    "probes",
    "queue",
    "recovery",
    "tradeoff",
    "versus",
    "waits",
    "write_activity",
    "write_knee",
    "write_page",
]
