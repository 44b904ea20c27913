"""Prices an operation log: the energy of a run by arithmetic that shares nothing with the engine.

    price_op_log.py LOG.csv REPORT.json [LOG.csv REPORT.json ...]

Reads the log's times and the report's `config`, and prints the energy in J by component as JSON, a line for each. What is
active when is found from the union of intervals, not from counters kept while the run went on.
"""

import bisect
import csv
import json
import math
import sys


def union(intervals):
    """Length of the union of intervals."""
    length, reached = 0, -1
    for start, end in sorted(intervals):
        length += max(0, end - max(start, reached))
        reached = max(reached, end)
    return length


def overlap(operations, intervals):
    """Total length of the parts of operations within the union of intervals."""
    stretches = []
    for start, end in sorted(one for one in intervals if one[0] < one[1]):
        if stretches and start <= stretches[-1][1]:
            stretches[-1][1] = max(stretches[-1][1], end)
        else:
            stretches.append([start, end])
    ends, sum_of = [end for _, end in stretches], 0
    for first, last in operations:
        for start, end in stretches[bisect.bisect_right(ends, first) :]:
            if start >= last:
                break
            sum_of += min(last, end) - max(first, start)
    return sum_of


def served(jobs, begin, end):
    """Time from `begin` to `end` in which jobs, given at these times and done one after the other, are under way."""
    until, length = 0, 0
    for at, ns in sorted(jobs):
        start, until = max(until, at), max(until, at) + ns
        length += max(0, min(until, end) - max(start, begin))
    return length


def main(log_path, report_path):
    with open(log_path, newline="") as log, open(report_path) as report:
        rows, config = list(csv.DictReader(log)), json.load(report)["config"]
    energy, device = config["energy"], config["device"]
    terminal = None if energy["mode"] == "component" else energy["mode"]["terminal"]
    watts = lambda ua, part: ua * (terminal or part["millivolts"])  # in nW
    nand, link, con, dram = energy["nand"], energy["host_interface"], energy["controller"], energy["dram"]
    mark = lambda name: max((i, int(row["start_ns"] or row["end_ns"])) for i, row in enumerate(rows) if row["record"] == name)
    (_, begin), (_, end) = mark("window"), mark("end" if config["run"]["count_drain"] else "drain")
    clip = lambda start, stop: (max(start, begin), min(stop, end))
    span = lambda start, stop: max(0, min(stop, end) - max(start, begin))
    by_pages = link.get("charged_data") == "flash_pages"
    link_ns = lambda moved: math.ceil(moved * 1e3 / link["bandwidth_mb_s"])
    ops, arrays, requests, link_jobs, dram_jobs = [], [], [], [], []
    state_ns = dict.fromkeys(["read", "program", "erase", "read_bus", "program_bus", "erase_bus", "data_wait"], 0)
    for row in rows:
        kind = row["record"]
        if kind == "map":
            dram_jobs.append((int(row["start_ns"]), int(row["map_accesses"]) * dram["map_access_ns"]))
        elif kind == "buffer":
            data_ns = -(-int(row["bytes"]) * dram["page_data_ns"] // device["page_bytes"])
            dram_jobs.append((int(row["start_ns"]), data_ns))
        elif kind == "request":
            start = int(row["start_ns"])
            requests.append(clip(start, int(row["end_ns"])))
            if not by_pages:
                link_jobs.append((start, link_ns(int(row["bytes"]))))
        elif kind in ("read", "spare_read", "program", "erase", "copyback"):
            t = [int(row[c + "_ns"]) for c in ("start", "array_start", "array_end", "out_start", "end")]
            ops.append(clip(t[0], t[4]))
            arrays.append(clip(t[1], t[2] if kind == "read" else t[4]))
            passes = row["cause"] in ("host", "journal") and kind not in ("erase", "spare_read")
            moved = int(row["bytes"] or device["page_bytes"])
            if passes:
                dram_jobs.append((t[0], -(-moved * dram["page_data_ns"] // device["page_bytes"])))
            if by_pages and kind in ("read", "program"):
                link_jobs.append((t[0], link_ns(moved)))
            copy, kind = kind == "copyback", kind.removeprefix("spare_")
            states = ["read_bus", "read", "program", "program"] if copy else [kind + "_bus", kind, "data_wait", kind + "_bus"]
            for state, start, stop in zip(states, t, t[1:]):
                state_ns[state] += span(start, stop)
    total, busy, active = end - begin, union(op for op in ops if op[0] < op[1]), union(i for i in ops + requests if i[0] < i[1])
    # How long flash, and everything else, is charged for.
    array = union(work for work in arrays if work[0] < work[1])
    accounting = energy["idle_accounting"]
    charged = {"always_on": (total, total), "flash_off": (active, total), "busy_only": (array, array)}
    flash_on, on = (charged | {"busy_or_loading": (busy, busy)})[accounting]
    con_active = min(active, on)
    bus = lambda kind: nand["transfer_ua"] if nand["transfer_ua"] is not None else nand[kind + "_ua"]
    current = {kind: nand[kind + "_ua"] for kind in ("read", "program", "erase")}
    current |= {kind + "_bus": bus(kind) for kind in ("read", "program", "erase")} | {"data_wait": nand["idle_ua"]}
    if (page := nand["transfer"]) is not None:  # the charge of one time, spread over another, to the nearest microampere
        for kind in ("read_bus", "program_bus"):
            spread = (current[kind] - nand["idle_ua"]) * page["charged_ns"] + page["taken_ns"] // 2
            current[kind] = nand["idle_ua"] + spread // page["taken_ns"]
    joules = {state: state_ns[state] * watts(current[state], nand) for state in state_ns}
    # A die idles while flash is charged and it is in no operation.
    in_operation = sum(state_ns.values()) if accounting != "busy_only" else overlap(ops, arrays)
    idle_ns = device["channels"] * device["ways"] * flash_on - in_operation
    per_op = energy["dram_rule"] == "per_op"
    dram_active, part = (served(dram_jobs, begin, end) if per_op else con_active), dram["part"]
    answer = {
        "controller": watts(con["active_ua"], con) * con_active + watts(con["idle_ua"], con) * (on - con_active),
        "dram": watts(part["idle_ua"], part) * (on - dram_active) + watts(part["active_ua"], part) * dram_active,
        **{"nand." + kind: joules[kind] for kind in ("read", "program", "erase")},
        "nand.transfer": sum(joules[state] for state in ("read_bus", "program_bus", "erase_bus", "data_wait")),
        "nand.idle": idle_ns * watts(nand["idle_ua"], nand),
        "host_interface": served(link_jobs, begin, end) * watts(link["active_ua"], link),
    }
    print(json.dumps({name: nw_ns * 1e-18 for name, nw_ns in (answer | {"total": sum(answer.values())}).items()}))


for pair in zip(sys.argv[1::2], sys.argv[2::2]):
    main(*pair)
