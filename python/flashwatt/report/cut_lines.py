"""The power cuts of a report as some lines for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from flashwatt.base.units import count, counted, duration, si

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flashwatt.base.files import Json

_HEAD = "power cuts   "


def of_cuts(cuts: Json) -> Text:
    """Say what the cuts lost, and what the recoveries took."""
    text = Text(_HEAD, "dim")
    for number, (line, style) in enumerate(_lines(cuts)):
        text.append(f"\n{' ' * len(_HEAD)}" if number else "")
        text.append(line, style or "default")
    return text


def _lines(cuts: Json) -> Iterator[tuple[str, str]]:
    status = "" if cuts["status"] == "complete" else f" ({cuts['status']})"
    yield f"{counted(cuts['cuts'], 'cut')}{status}, {_lost(cuts)}", _style(cuts)
    if cuts["cuts"]:
        yield from _recovery(cuts)
    if (energy := cuts.get("dump_energy_j")) and (farads := cuts.get("capacitance_f")):
        time = duration(cuts["dump_ns"]["max"])
        yield f"by capacitors at most {time}, {si(energy['max'], 'J')}, {si(farads['max'], 'F')}", ""
    if rows := cuts.get("inconsistent_rows"):
        written = _spread(cuts["inconsistent_bytes"], lambda value: si(value, "B"))
        yield f"rows of the array that do not match {_spread(rows, count)}; for a scrub to write anew {written}", ""
    if wrong := _most(cuts, "hole_lost_bytes"):
        yield f"up to {si(wrong, 'B')} of the failed member's data lost", "bold red"
    if fsynced := cuts.get("files_fsynced"):
        lost = {"lost": _most(cuts, "files_lost"), "lost with spoilt pages": _most(cuts, "files_pair_lost")}
        words = [f"up to {count(most)} files {how}" for how, most in lost.items() if most] or ["no file lost"]
        back = _spread(cuts["files_rolled_back"], count)
        of = f"of those with fsynced data, {_spread(fsynced, count)}"
        yield f"{'; '.join(words)} {of}; files rolled back {back}", "bold red" if any(lost.values()) else ""
    if second := cuts.get("second"):
        yield f"second cuts, {_lost(second)}", _style(second)
        yield from _recovery(second)


def _style(of: Json) -> str:
    return "bold red" if any(_most(of, key) for key in ("lost_units", "pair_lost_units", "host_lost_units")) else ""


def _lost(of: Json) -> str:
    keys = {"lost": "lost_units", "lost with spoilt pages": "pair_lost_units", "lost to processes": "host_lost_units"}
    lost = {how: _most(of, key) for how, key in keys.items()}
    words = [f"up to {count(most)} units {how}" for how, most in lost.items() if most] or ["nothing lost"]
    if back := of.get("rolled_back_units"):
        words.append(f"units rolled back {_spread(back, count)}")
    return "; ".join(words)


def _recovery(of: Json) -> Iterator[tuple[str, str]]:
    """The time and the energy of a recovery; that of a repriced report has no energy."""
    yield f"recovery time {_spread(of['recovery_ns'], duration)}", ""
    if energy := of.get("energy_j"):
        yield f"recovery energy {_spread(energy, lambda joules: si(joules, 'J'))}", ""
    if loading := of.get("map_load_ns"):
        reads = _spread(of["map_load_reads"], count)
        yield f"of that the load of the map: time {_spread(loading, duration)}, page reads {reads}", ""


def _spread(spread: Json, write: Callable[[Any], str]) -> str:
    """The range and the median; of a figure that does not vary, its value."""
    low, median, high = (write(spread[key]) for key in ("min", "median", "max"))
    return low if low == high else f"{low} to {high}, median {median}"


def _most(of: Json, key: str) -> float:
    spread = of.get(key)
    return float(spread["max"]) if spread else 0
