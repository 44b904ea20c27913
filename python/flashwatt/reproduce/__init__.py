"""Published studies rerun: every published figure beside the simulated one, with a verdict.

experiments/PAPER/paper.toml          who published it, and what its experiments share
experiments/PAPER/xNN/experiment.toml runs (overrides and axes), and criteria: published, expected, source
experiments/PAPER/xNN/measure.py      `quantities`: what the criteria speak of, out of the reports; `figures`
experiments/PAPER/xNN/README.md       claim, setting, deviations

catalogue ─ the experiments ─▶ campaign ─ tasks, run once each ─▶ evidence ─ reports by labels ─▶ verdicts ─▶ page
"""

from flashwatt.reproduce.campaign import reproduce
from flashwatt.reproduce.catalogue import catalogue
from flashwatt.reproduce.evidence import Evidence, Runs
from flashwatt.reproduce.plan import Terms
from flashwatt.reproduce.verdict import Row, Verdict

__all__ = ["Evidence", "Row", "Runs", "Terms", "Verdict", "catalogue", "reproduce"]
