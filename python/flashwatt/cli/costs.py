"""`flashwatt price --kwh-price`: what the energy of a run costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path

_J_PER_KWH = 3.6e6


def costs(joules: float, kwh_per_month: float | None, j_per_tb_written: float | None, price: float) -> dict[str, float]:
    """Give the costs, in the currency of the price of a kilowatt-hour, of what is known."""
    kwh = {
        "run": joules / _J_PER_KWH,
        "month": kwh_per_month,
        "tb_written": None if j_per_tb_written is None else j_per_tb_written / _J_PER_KWH,
    }
    return {name: price * one for name, one in kwh.items() if one is not None}


def show_costs(path: Path, price: float, *, as_json: bool) -> None:
    """Print the costs of a report."""
    from flashwatt.report.report import Report

    report = Report.read(path)
    efficiency = report.efficiency
    found = costs(report.energy_j.total, efficiency.kwh_per_month, efficiency.j_per_tb_written, price)
    if as_json:
        click.echo(json.dumps({"kwh_price": price, "costs": found}))
        return
    names = {"run": "the run", "month": "a month of this", "tb_written": "a TB written"}
    click.echo(f"energy costs, at {price:g} a kWh")
    for name, cost in found.items():
        click.echo(f"  {names[name]:<16} {cost:>12.4g}")
