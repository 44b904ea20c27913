"""Prices an operation log: the energy of a run by arithmetic that shares nothing with the engine.

    price_op_log.py LOG.csv REPORT.json [LOG.csv REPORT.json ...]

Reads the log's times and the report's `config`, and prints the energy in J by component, and of flash operations by
cause, as JSON, a line for each. What is active when is found from the union of intervals, not from counters kept while
the run went on.
"""

import bisect
import csv
import json
import math
import sys
from collections import Counter, defaultdict


def merged(intervals):
    """The union of intervals, as stretches in order that do not touch."""
    stretches = []
    for start, end in sorted(one for one in intervals if one[0] < one[1]):
        if stretches and start <= stretches[-1][1]:
            stretches[-1][1] = max(stretches[-1][1], end)
        else:
            stretches.append([start, end])
    return stretches


def union(intervals):
    """Length of the union of intervals."""
    return sum(end - start for start, end in merged(intervals))


def ending_after(stretches, at):
    """Those of stretches in order that end after a time."""
    first = bisect.bisect_right(stretches, at, key=lambda stretch: stretch[1])
    return (stretches[i] for i in range(first, len(stretches)))


def overlap(operations, intervals):
    """Total length of the parts of operations within the union of intervals."""
    stretches, sum_of = merged(intervals), 0
    for first, last in operations:
        for start, end in ending_after(stretches, first):
            if start >= last:
                break
            sum_of += min(last, end) - max(first, start)
    return sum_of


def without(intervals, others):
    """The parts of stretches in order that lie in none of the others, which are stretches in order, too."""
    parts = []
    for first, last in intervals:
        for start, end in ending_after(others, first):
            if start >= last:
                break
            parts.append((first, start))
            first = end
        parts.append((first, last))
    return [part for part in parts if part[0] < part[1]]


def served(jobs, begin, end):
    """Time from `begin` to `end` in which jobs, given at these times and done one after the other, are under way."""
    until, length = 0, 0
    for at, ns in sorted(jobs):
        start, until = max(until, at), max(until, at) + ns
        length += max(0, min(until, end) - max(start, begin))
    return length


def stretches_of(row, column):
    """The stretches that a column of a line names."""
    return [tuple(map(int, one.split("-"))) for one in (row.get(column) or "").split(";") if one]


class Die:
    """What a die's operations say about it. A piece of work has the causes of the log's lines that share it."""

    def __init__(self):
        self.lines = []
        self.reads = []
        self.data_out = []
        self.buses = defaultdict(list)
        self.arrays = defaultdict(list)
        self.planes = {}
        self.suspended = {}

    def add(self, row, kind, t):
        in_end = int(row.get("in_end_ns") or t[1])
        # A row leaves its die idle between two pages that move in: a program is under way in its own transfer and in the array.
        if kind == "first_pass":  # of two passes of a program: it moves in and is programmed in both
            kind = "program"
        self.lines += [(t[0], in_end), (t[1], t[4])] if kind == "program" else [(t[0], t[4])]
        if kind.endswith("read"):
            self.reads.append((t[0], t[4]))
        self.buses[kind.removeprefix("spare_") if kind != "copyback" else "read", t[0], in_end].append(row["cause"])
        for begin, end in stretches_of(row, "earlier_moves"):
            self.lines.append((begin, end))
            self.buses["program", begin, end].append(row["cause"])
        if kind == "read":
            self.buses["read", t[3], t[4]].append(row["cause"])
            self.data_out.append((t[3], t[2], row["cause"]))
        program = "slc_program" if row.get("mode") == "slc" else "program"
        states = {"read": ("read",), "spare_read": ("read",), "program": (program,), "erase": ("erase",)}
        ends = (t[2], t[4]) if kind == "copyback" else (t[2] if kind == "read" else t[4],)
        work = []
        for state, end in zip(states.get(kind, ("read", program)), ends):
            work.append((state, work[-1][2] if work else t[1], end))
        work = tuple(work)
        self.arrays[work].append(row["cause"])
        self.planes[work] = int(row.get("planes") or 1)
        self.suspended[work] = stretches_of(row, "suspensions")

    def pieces(self):
        """Each piece of work: its state, its causes, its start and end, and how many parts do it."""
        arrays, begins = [], {}
        for work, causes in self.arrays.items():
            for state, start, end in work:
                for first, last in without([(start, end)], merged(self.suspended[work])):
                    arrays.append((state, causes, first, last, self.planes[work] - 1))
        works = merged((first, last) for *_, first, last, _ in arrays)
        for state, causes, first, last, extra in arrays:
            yield state, causes, first, last, 1
            yield "extra_" + state, causes, first, last, extra
        for (kind, first, last), causes in self.buses.items():
            beside = without([(first, last)], works)
            begins[first] = causes
            yield from ((kind + "_bus", causes, *part, 1) for part in beside)
            yield from ((kind + "_bus_beside", causes, *part, 1) for part in without([(first, last)], beside))
        for _, causes, first, _, _ in arrays:
            begins.setdefault(first, causes)
        # A suspended operation waits while no read is under way, else the read whose data moves next.
        at_work = merged(works + [[first, last] for _, first, last in self.buses])
        waits, reads = without(merged(self.lines), at_work), merged(self.reads)
        for work, causes in self.arrays.items():
            if not self.suspended[work]:
                continue
            stretches = without(merged(self.suspended[work]), reads)
            rest = without(waits, stretches)
            yield from (("wait", causes, *part, 1) for part in without(waits, rest))
            waits = rest
        self.data_out.sort()
        for first, last in waits:
            after = bisect.bisect_left(self.data_out, (last,))
            _, ready, cause = self.data_out[after] if after < len(self.data_out) else (0, math.inf, None)
            yield "wait", [cause] if ready <= first else begins[last], first, last, 1


def currents(nand):
    """Current in µA of a die, or of what works beside it, by state."""
    array = {kind: nand[kind + "_ua"] for kind in ("read", "program", "erase")}
    bus = {kind: ua if nand["transfer_ua"] is None else nand["transfer_ua"] for kind, ua in array.items()}
    current = array | {kind + "_bus": ua for kind, ua in bus.items()}
    if (page := nand["transfer"]) is not None:  # the charge of one time, spread over another, to the nearest µA
        for kind in ("read_bus", "program_bus"):
            spread = (current[kind] - nand["idle_ua"]) * page["charged_ns"] + page["taken_ns"] // 2
            current[kind] = nand["idle_ua"] + spread // page["taken_ns"]
    current |= {kind + "_bus_beside": current[kind + "_bus"] - nand["idle_ua"] for kind in bus}
    extra = {kind: nand.get(f"extra_plane_{kind}_ua", 0) for kind in bus}
    extra["slc_program"] = nand.get("slc_extra_plane_program_ua", extra["program"])
    current |= {"extra_" + kind: ua for kind, ua in extra.items()}
    return current | {"slc_program": nand.get("slc_program_ua", nand["program_ua"]), "wait": nand["idle_ua"]}


def component(state):
    """The component that a state counts as."""
    if state == "wait" or "_bus" in state:
        return "transfer"
    return state.removeprefix("extra_").removeprefix("slc_")


def main(log_path, report_path):
    with open(log_path, newline="") as log, open(report_path) as report:
        rows, config = list(csv.DictReader(log)), json.load(report)["config"]
    energy, device = config["energy"], config["device"]
    terminal = None if energy["mode"] == "component" else energy["mode"]["terminal"]
    watts = lambda ua, part: ua * (terminal or part["millivolts"])  # in nW
    nand, link, con, dram = energy["nand"], energy["host_interface"], energy["controller"], energy["dram"]
    mark = lambda name: max((i, int(row["start_ns"] or row["end_ns"])) for i, row in enumerate(rows) if row["record"] == name)
    (first, begin), (last, end) = mark("window"), mark("end" if config["run"]["count_drain"] else "drain")
    clip = lambda start, stop: (max(start, begin), min(stop, end))
    by_pages = link.get("charged_data") == "flash_pages"
    link_ns = lambda moved: math.ceil(moved * 1e3 / link["bandwidth_mb_s"])
    dies, requests, link_jobs, dram_jobs, host_bytes = defaultdict(Die), [], [], [], 0
    for at, row in enumerate(rows):
        kind = row["record"]
        if kind == "map":
            dram_jobs.append((int(row["start_ns"]), int(row["map_accesses"]) * dram["map_access_ns"]))
        elif kind == "host_memory":
            link_jobs.append((int(row["start_ns"]), link_ns(int(row["bytes"]))))
            host_bytes += int(row["bytes"]) if first < at < last else 0
        elif kind == "buffer":
            data_ns = -(-int(row["bytes"]) * dram["page_data_ns"] // device["page_bytes"])
            dram_jobs.append((int(row["start_ns"]), data_ns))
        elif kind == "request":
            start = int(row["start_ns"])
            requests.append(clip(start, int(row["end_ns"])))
            if not by_pages:
                link_jobs.append((start, link_ns(int(row["bytes"]))))
        elif kind in ("read", "spare_read", "first_pass", "program", "erase", "copyback"):
            t = [int(row[c + "_ns"]) for c in ("start", "array_start", "array_end", "out_start", "end")]
            dies[row["die"]].add(row, kind, t)
            moved = int(row["bytes"] or device["page_bytes"])
            for moves_at in [t[0], *(begin for begin, _ in stretches_of(row, "earlier_moves"))]:
                if row["cause"] in ("host", "journal") and kind not in ("erase", "spare_read"):
                    dram_jobs.append((moves_at, -(-moved * dram["page_data_ns"] // device["page_bytes"])))
                if by_pages and kind in ("read", "first_pass", "program"):
                    link_jobs.append((moves_at, link_ns(moved)))
    current, by_component, by_cause, arrays, ops = currents(nand), Counter(), Counter(), [], []
    for die in dies.values():
        ops += [clip(*stretch) for stretch in merged(die.lines)]
        for state, causes, *stretch, parts in die.pieces():
            first, last = clip(*stretch)
            if first >= last:
                continue
            if state in ("read", "program", "slc_program", "erase"):
                arrays.append((first, last))
            power, ns, number = parts * watts(current[state], nand), last - first, len(causes)
            by_component[component(state)] += ns * power
            for place, cause in enumerate(causes):  # shared evenly, what is left to the first
                by_cause[cause] += (ns // number + (ns % number if place == 0 else 0)) * power
    ops = [op for op in ops if op[0] < op[1]]
    total, busy, active = end - begin, union(ops), union(ops + requests)
    # How long flash, and everything else, is charged for.
    array = union(arrays)
    accounting = energy["idle_accounting"]
    charged = {"always_on": (total, total), "flash_off": (active, total), "busy_only": (array, array)}
    flash_on, on = (charged | {"busy_or_loading": (busy, busy)})[accounting]
    con_active = min(active, on)
    # A die idles while flash is charged and it is in no operation.
    in_operation = sum(last - first for first, last in ops) if accounting != "busy_only" else overlap(ops, arrays)
    idle_ns = device["channels"] * device["ways"] * flash_on - in_operation
    per_op = energy["dram_rule"] == "per_op"
    dram_active, part = (served(dram_jobs, begin, end) if per_op else con_active), dram["part"]
    answer = {
        "controller": watts(con["active_ua"], con) * con_active + watts(con["idle_ua"], con) * (on - con_active),
        "dram": watts(part["idle_ua"], part) * (on - dram_active) + watts(part["active_ua"], part) * dram_active,
        **{"nand." + kind: by_component[kind] for kind in ("read", "program", "erase", "transfer")},
        "nand.idle": idle_ns * watts(nand["idle_ua"], nand),
        "host_interface": served(link_jobs, begin, end) * watts(link["active_ua"], link),
    }
    host_memory = host_bytes * 8 * energy.get("host_memory_pj_per_bit", 0) * 1e6  # the host's, and not the drive's
    answer |= {"total": sum(answer.values()), "host_memory": host_memory} | {"cause." + cause: nw_ns for cause, nw_ns in by_cause.items()}
    print(json.dumps({name: nw_ns * 1e-18 for name, nw_ns in answer.items()}))


for pair in zip(sys.argv[1::2], sys.argv[2::2]):
    main(*pair)
