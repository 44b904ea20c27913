"""Runs jobs in fio (engine null, write_iolog) and in FlashWatt, and compares their streams of requests.

    tools/fio_beside.py                       200 jobs drawn over the options that are understood
    tools/fio_beside.py --jobs 20 --seed 3    others
    tools/fio_beside.py --examples DIRECTORY  fio's example jobs, of a clone of fio's repository

Equal means: where fio fixes the order, the same requests one by one; elsewhere the same number of requests, of bytes
and of requests of each kind and length, to 1 %. Where draws decide these numbers, one run of either side deviates by
more than 1 %: 500 requests of drawn lengths fill a file with 50 more or fewer. Such a job runs with 16 seeds on both
sides, and the means must agree to 1 % or to five standard errors of their difference. A job that means the same
exceeds that in one comparison of 40,000 (Student's t with 30 degrees of freedom), and 200 jobs make about 1,000. A bias
of a tenth is found where one run deviates by 6 %. fio 3.33 is the referee. No file of fio's is kept.
"""

import argparse
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, variance

Request = tuple[str, int, int]
FLASHWATT = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "flashwatt"
SYNCHRONOUS = {"sync", "psync", "vsync", "pvsync", "pvsync2", "splice", "mmap", "libcufile", "libhipfile"}
OF_QUEUES = r"(?m)^\s*(ioengine|iodepth|numjobs)\s*=\s*([\w-]+)"
IOLOG_KINDS = {"read": "R", "write": "W", "trim": "T", "sync": "F", "datasync": "F"}


def on_null(text: str) -> Iterator[str]:
    """The sections of a job file with engine null, as asynchronous as theirs, and a log for each."""
    common: dict[str, str] = {}
    number = 0
    for section in re.split(r"(?m)^(?=\s*\[)", text):
        given = dict(re.findall(OF_QUEUES, section))
        yield re.sub(r"(?m)^\s*(ioengine|iodepth\w*)\s*[=\n].*$", "", section)
        if section.strip().startswith("[global]"):
            common |= given
        elif section.strip().startswith("["):
            engine, depth = (common | given).get("ioengine", "null"), (common | given).get("iodepth", "1")
            is_queued = engine not in SYNCHRONOUS and (depth != "1" or engine != "null")
            # Null logs a request again that finds its queue full: batches of the whole queue find it empty.
            queue = "iodepth=2\niodepth_batch=2" if is_queued else "iodepth=1"
            # Clones would write into one iolog at the same time; a log of bandwidth has a file for each.
            is_cloned = (common | given).get("numjobs", "1") != "1"
            log = f"write_bw_log={number}\nlog_offset=1" if is_cloned else f"write_iolog={number}.iolog"
            yield f"\nioengine=null\n{queue}\n{log}\n"
            number += 1


def by_fio(text: str, folder: Path) -> list[Request] | str:
    """The requests of a job as fio logs them; its complaint if it refuses the job."""
    left_out = r"write_[a-z]+_log|log_\w+|directory|io_submit_mode|numa_\w+"
    text = "".join(on_null(re.sub(rf"(?m)^\s*({left_out})\s*[=\n].*$", "", text)))
    while isinstance(found := logged(text, folder), str) and (unknown := re.search(r"Bad option <([^=>]+)", found)):
        # An option of another engine or of a later version, which changes no request.
        text = re.sub(rf"(?m)^\s*{re.escape(unknown[1])}\s*(=.*)?$", "", text)
    return found


def logged(text: str, folder: Path) -> list[Request] | str:
    for old in [*folder.glob("*.iolog"), *folder.glob("*_bw.*.log")]:
        old.unlink()
    (folder / "beside.fio").write_text(text)
    try:
        command = ["fio", "--output=fio.out", "beside.fio"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=40, check=False)
    except subprocess.TimeoutExpired:
        return "fio takes more than 40 s"
    if done.returncode != 0:
        return "fio: " + (done.stderr + done.stdout).strip().split("\n")[0][:100]
    requests: list[Request] = []
    for log in sorted(folder.glob("*.iolog")):
        for line in log.read_text().splitlines():
            words = line.split()
            kind = IOLOG_KINDS.get(words[2]) if len(words) == 5 else None
            if kind is not None:
                offset, length = (0, 0) if kind == "F" else (int(words[-2]), int(words[-1]))
                requests.append((kind, offset, length))
    for log in sorted(folder.glob("*_bw.*.log")):
        rows = (line.split(",") for line in log.read_text().splitlines())
        requests += [("RWT"[int(row[2])], int(row[4]), int(row[3])) for row in rows]
    return requests


def by_flashwatt(text: str, folder: Path, settings: list[str]) -> list[Request] | str:
    """The requests of a job as FlashWatt captures them; its message if it refuses the job."""
    (folder / "job.fio").write_text(text)
    capture = folder / "capture.csv"
    capture.unlink(missing_ok=True)
    command = [
        str(FLASHWATT),
        "run",
        "--preset",
        "limit",
        "--fio",
        "job.fio",
        "--capture",
        str(capture),
        "--force",
        "-q",
    ]
    command += [word for setting in ["run.precondition=empty", *settings] for word in ("--set", setting)]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=40, check=False)
    except subprocess.TimeoutExpired:
        return "FlashWatt takes more than 40 s"
    if done.returncode != 0:
        return done.stderr.strip()
    with capture.open() as rows:
        fields = [row for row in csv.reader(rows) if row and row[0][:1].isdigit()]
    return [(row[2], int(row[3]), int(row[4])) for row in fields]


def near(a: float, b: float, more: float = 0.0) -> bool:
    return abs(a - b) <= max(0.01 * max(a, b), more)


def has_fixed_order(text: str) -> bool:
    """Whether fio's order of requests depends on no draw."""
    jobs = len(re.findall(r"(?m)^\s*\[(?!global)", text))
    draws = r"(?m)^\s*(rw|readwrite)=(rand|rw|readwrite)|bssplit|bsrange|numjobs|file_service_type=random|poisson"
    return jobs == 1 and re.search(draws, text) is None


def difference(text: str, fio: list[Request], ours: list[Request]) -> str | None:
    """What differs; None if the streams are equal."""
    if has_fixed_order(text):
        return first_difference(text, fio, ours)
    if "numjobs" in text:
        # The log of clones has no flushes.
        fio, ours = ([one for one in side if one[0] != "F"] for side in (fio, ours))
    of_fio, of_ours = figures(fio), figures(ours)
    for name in sorted(of_fio | of_ours):
        if not near(of_fio[name], of_ours[name], 3.0):
            return f"{of_fio[name]} {name} in fio, {of_ours[name]} in FlashWatt"
    return None


def first_difference(text: str, fio: list[Request], ours: list[Request]) -> str | None:
    if re.search(r"nrfiles|filename=.*:", text):
        # Files have places of their own in fio.
        fio, ours = [(k, 0, n) for k, _, n in fio], [(k, 0, n) for k, _, n in ours]
    if "time_based" in text and near(len(fio), len(ours), 3):
        # Requests that are due at the last instants.
        fio, ours = fio[: len(ours)], ours[: len(fio)]
    first = next((at for at, (a, b) in enumerate(zip(fio, ours, strict=False)) if a != b), None)
    if first is None and len(fio) == len(ours):
        return None
    at = min(len(fio), len(ours)) if first is None else first
    return f"request {at}: fio {fio[at : at + 2]}, FlashWatt {ours[at : at + 2]} ({len(fio)} and {len(ours)})"


def figures(requests: list[Request]) -> Counter[str]:
    """Requests and bytes, and requests of each kind and length."""
    totals = Counter({"requests": len(requests), "bytes": sum(n for *_, n in requests)})
    for kind, _, length in requests:
        totals[kind] += 1
        totals[f"{kind} of {length} bytes"] += 1
    return totals


SEEDS = 16


def by_chance(text: str, folder: Path, settings: list[str]) -> tuple[str, str]:
    """Compares the means of several seeds: the verdict, and what differs most."""
    sides: tuple[list[Counter[str]], list[Counter[str]]] = ([], [])
    for seed in range(1, SEEDS + 1):
        seeded = re.sub(r"(?m)^(\s*\[.*\].*)$", rf"\1\nrandrepeat=0\nrandseed={seed * 7919}", text)
        both = (by_fio(seeded, folder), by_flashwatt(seeded, folder, settings))
        for side, found in zip(sides, both, strict=True):
            if isinstance(found, str):
                return "different", found
            side.append(figures(found))
    worst, said = 0.0, ""
    for name in sorted({name for side in sides for one in side for name in one}):
        a, b = ([one[name] for one in side] for side in sides)
        means, error = (fmean(a), fmean(b)), ((variance(a) + variance(b)) / SEEDS) ** 0.5
        if near(*means) or max(means) < 10:
            continue
        ratio = abs(means[0] - means[1]) / error if error else float("inf")
        if ratio >= worst:
            worst, said = ratio, f"{name}: means of {SEEDS} seeds {means[0]:.1f} in fio, {means[1]:.1f} in FlashWatt"
            said += f", {ratio:.1f} standard errors apart"
    return ("equal" if worst <= 5 else "different"), said or f"means of {SEEDS} seeds agree to 1 %"


def lengths(draw: random.Random) -> str:
    return draw.choice(
        ["bs=4k", "bs=4k", "bs=8k", "bs=512", "bs=64k", "bs=12k", "bs=4k,8k", "bs=,16k", "bs=8k,", "bsrange=4k-16k",
         "bsrange=4k-10k", "bssplit=4k/60:16k/30:64k/", "bssplit=4k/50:8k/50,16k/100", "bssplit=512/10:4k/70:8k/20"]
    )  # fmt: skip


MODES = ["read", "write", "trim", "randread", "randwrite", "randtrim", "rw", "randrw", "trimwrite", "randtrimwrite"]


def drawn_job(draw: random.Random) -> str:
    """One job over the options that are understood.

    Left out, because fio's answer is that of a machine or of its engine null: flushes of an asynchronous engine (a
    flush follows again if a write completes behind it), steps with filesize (null takes a file for endless then), reads
    that verify of an asynchronous engine (null logs some twice), and times without a rate.
    """
    mode = draw.choice(MODES)
    lines = [f"rw={mode}", lengths(draw) if "trimwrite" not in mode else draw.choice(["bs=4k", "bs=8k"])]
    lines += ranges(draw, mode)
    lines += order(draw, lines)
    if mode in ("rw", "randrw"):
        lines += draw.choice([[], ["rwmixread=70"], ["rwmixwrite=90"], ["rwmixread=0"]])
    flushes: list[str] = []
    if mode in ("write", "rw", "randwrite", "randrw"):
        flushes = draw.choice([[], [], [], ["fsync=7"], ["fdatasync=16"], ["end_fsync=1"], ["fsync=5", "fdatasync=8"]])
    lines += flushes
    if not flushes:
        lines += draw.choice(
            [[], [], ["iodepth=8", "ioengine=libaio"], ["iodepth=16", "iodepth_batch_complete_min=4", "iodepth_low=8"]]
        )
    if draw.random() < 0.15 and re.fullmatch(r"bs=\d+k?", lines[1]) and ":-" not in lines[0]:
        turns = ["nrfiles=2", "file_service_type=sequential"]
        lines += draw.choice([["nrfiles=2"], ["nrfiles=4", "openfiles=2"], ["filename=a:b"], turns])
    if draw.random() < 0.25:
        rate = draw.choice(["rate_iops=500", "rate=2m", "rate_iops=400,100", "rate_iops=300"])
        lines += ["time_based", "runtime=1", rate]
    elif draw.random() < 0.25 and "iodepth" not in " ".join(lines) and ("write" in mode or "rw" in mode):
        lines += ["verify=crc32c", *draw.choice([[], [], ["do_verify=0"]])]
        lines += draw.choice([[], ["verify_backlog=16"], ["verify_backlog=64", "verify_backlog_batch=8"]])
    lines = [line + draw.choice([" # said", "\t; said"]) if draw.random() < 0.1 else line for line in lines]
    return "[a]\n" + "\n".join(lines) + "\n"


def ranges(draw: random.Random, mode: str) -> list[str]:
    """What a job works on, and how much of it."""
    if draw.random() < 0.15:
        more = draw.choice([[], ["size=50%"], ["size=25%"] + ([] if "trimwrite" in mode else ["offset=64k"])])
        return ["filesize=6m", *more, *draw.choice([[], ["loops=2"]])]
    begin = [] if mode == "randtrimwrite" else ["offset=1m"]
    limits = [[], [], begin, ["io_size=2m"], ["io_size=10m"], ["io_size=50%"], ["loops=2"], ["number_ios=300"]]
    return [f"size={draw.choice(['4m', '6m', '5000k', '3145999', '8m'])}", *draw.choice(limits)]


def order(draw: random.Random, lines: list[str]) -> list[str]:
    """Where random requests go; changes the mode in the first line to rows, or to steps between requests in order."""
    mode, is_one = lines[0].removeprefix("rw="), re.fullmatch(r"bs=\d+k?", lines[1])
    if mode in ("read", "write") and is_one and "filesize" not in " ".join(lines) and draw.random() < 0.3:
        lines[0] += draw.choice([":8k", ":64k", ":-8k"])
    if not mode.startswith("rand") or "trimwrite" in mode:
        return []
    laws = [[], ["norandommap"]]
    if is_one:
        laws += [[f"random_distribution={law}"] for law in ("zipf:0.9", "pareto:0.3", "normal:20")]
        laws += [[], ["random_generator=lfsr"], ["random_distribution=zoned:50/5:30/15:20/"]]
        laws += [["percentage_random=60", "norandommap"]]
    law = draw.choice(laws)
    if draw.random() < 0.15 and "norandommap" in law:
        lines[0] += draw.choice([":4", ":16"])
    return law


def compare(text: str, folder: Path, settings: list[str]) -> tuple[str, str]:
    """Whether the job is equal, refused or different, and why."""
    ours = by_flashwatt(text, folder, settings)
    if isinstance(ours, str):
        return "refused", ours
    # A busy machine misses the slots of a rate.
    for _ in range(4 if "time_based" in text else 1):
        fio = by_fio(text, folder)
        if isinstance(fio, str):
            return "no referee", fio
        if (found := difference(text, fio, ours)) is None:
            break
    if found is None:
        return "equal", f"{len(ours)} requests"
    return ("different", found) if has_fixed_order(text) else by_chance(text, folder, settings)


def run_drawn(count: int, seed: int, folder: Path) -> Counter[str]:
    totals: Counter[str] = Counter()
    draw = random.Random(seed)
    for number in range(count):
        text = drawn_job(draw)
        result, why = compare(text, folder, [])
        totals[result] += 1
        options = " ".join(text.split("\n")[1:]).strip()
        print(f"{number:3} {result:10} {options}" + ("" if result == "equal" else f"\n    {why}"), flush=True)
    return totals


LIMITS = r"(?m)^\s*(rate\w*|thinktime\w*)\s*="
SMALLER = [
    (r"\b(runtime|timeout)=\d+\w*", r"\1=1"),
    (r"\b(size|filesize|io_size|offset|offset_increment|zonesize|zoneskip)=(\d+)[gG]\w*", r"\1=\2m"),
    (r"\bzonesize=256m", "zonesize=1m"),
    (r"\bloops=\d{3,}", "loops=20"),
    (r"\bsize=128m(?=(.|\n)*rate_iops)", "size=1m"),
    (r"\bsize=(\d{3,})m\b", "size=16m"),
    (r"\bramp_time=\d+\w*", "ramp_time=1"),
    (r"\bsize=32m(?=(.|\n)*\nratemin)", "size=8k"),
    (r"(?m)^startdelay=(\d+)$", r"startdelay=\1ms"),
]


def smaller(text: str) -> str:
    """The same job with gigabytes made megabytes, and at most a second, for both sides."""
    for pattern, by in SMALLER:
        text = re.sub(pattern, by, text)
    if not re.search(r"(?m)^\s*(size|filesize)\s*=", text):
        text = re.sub(r"(?m)^(\s*\[global\].*)$", r"\1\nsize=16m", text, count=1)
        if "size=16m" not in text:
            text = "[global]\nsize=16m\n" + text
    if not re.search(LIMITS, text):
        # Without a limit the requests of a second say how fast a machine is.
        text = re.sub(r"(?m)^\s*(time_based|runtime|timeout|ramp_time).*$", "", text)
    return text


# What the examples read from the environment.
VARIABLES = {"FIO_BS": "4k", "FIO_RW": "randread", "FIO_IODEPTH": "4", "FIO_DIR": "/tmp", "uri": "nbd://localhost"}


def run_examples(directory: Path, folder: Path) -> Counter[str]:
    """Prints a table: each example, whether it is equal, and the first thing that the drive cannot do."""
    os.environ.update(VARIABLES)
    totals: Counter[str] = Counter()
    for job in sorted(directory.glob("*.fio")):
        text = smaller(job.read_text())
        result, why = compare(text, folder, [])
        if result == "different" and re.search(r"(?m)^\s*exitall", text) and not re.search(LIMITS, text):
            result, why = "no referee", "the speed of a machine says which job ends first, and what the others did"
        totals[result] += 1
        reason = re.sub(r"^flashwatt: error: (job\.fio:)?", "", why.split("\n")[0])
        print(f"{job.name:38} {result:10} {reason[:200]}", flush=True)
    return totals


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=48)
    parser.add_argument("--examples", type=Path, help="the folder examples of a clone of fio's repository")
    options = parser.parse_args()
    if shutil.which("fio") is None:
        print("fio is not installed: NOTHING WAS COMPARED (apt-get install fio)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        if options.examples:
            totals = run_examples(options.examples, Path(folder))
        else:
            totals = run_drawn(options.jobs, options.seed, Path(folder))
    print(", ".join(f"{count} {result}" for result, count in totals.most_common()))
    return 1 if totals["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
