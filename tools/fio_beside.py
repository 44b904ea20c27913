"""Runs jobs in fio (engine null, write_iolog) and in FlashWatt, and compares their streams of requests.

    tools/fio_beside.py                       200 jobs drawn over the options that are understood
    tools/fio_beside.py --jobs 20 --seed 3    others
    tools/fio_beside.py --examples DIRECTORY  fio's example jobs, of a clone of fio's repository

Equal means: where fio fixes the order, the same requests one by one; elsewhere the same number of requests and of
bytes to 1 %, and of each kind to 1 % or to what chance allows (six square roots of their number). fio 3.33 is the
referee. No file of fio's is kept.
"""

import argparse
import csv
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

Request = tuple[str, int, int]
FLASHWATT = Path(__file__).resolve().parents[1] / ".venv" / "bin" / "flashwatt"
SYNCHRONOUS = {"sync", "psync", "vsync", "pvsync", "pvsync2", "splice", "mmap", "libcufile", "libhipfile"}
IOLOG_KINDS = {"read": "R", "write": "W", "trim": "T", "sync": "F", "datasync": "F"}


def on_null(text: str) -> Iterator[str]:
    """The sections of a job file with engine null, as asynchronous as theirs, and a log for each."""
    common: dict[str, str] = {}
    number = 0
    for section in re.split(r"(?m)^(?=\s*\[)", text):
        given = {name: value for name, value in re.findall(r"(?m)^\s*(ioengine|iodepth)\s*=\s*([\w-]+)", section)}
        yield re.sub(r"(?m)^\s*(ioengine|iodepth\w*)\s*[=\n].*$", "", section)
        if section.strip().startswith("[global]"):
            common |= given
        elif section.strip().startswith("["):
            engine, depth = (common | given).get("ioengine", "null"), (common | given).get("iodepth", "1")
            is_queued = engine not in SYNCHRONOUS and (depth != "1" or engine != "null")
            # Null logs a request again that finds its queue full: batches of the whole queue find it empty.
            queue = "iodepth=2\niodepth_batch=2" if is_queued else "iodepth=1"
            yield f"\nioengine=null\n{queue}\nwrite_iolog={number}.iolog\n"
            number += 1


def by_fio(text: str, folder: Path) -> list[Request] | str:
    """The requests of a job as fio logs them; its complaint if it refuses the job."""
    text = "".join(on_null(text))
    left_out = r"write_[a-z]+_log|directory|io_submit_mode|numa_\w+"
    text = re.sub(rf"(?m)^\s*({left_out})\s*[=\n].*$", "", text)
    while isinstance(found := logged(text, folder), str) and (unknown := re.search(r"Bad option <([^=>]+)", found)):
        # An option of another engine or of a later version, which changes no request.
        text = re.sub(rf"(?m)^\s*{re.escape(unknown[1])}\s*(=.*)?$", "", text)
    return found


def logged(text: str, folder: Path) -> list[Request] | str:
    for old in folder.glob("*.iolog"):
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


def near(a: int, b: int, chance: float = 0.0) -> bool:
    return abs(a - b) <= max(0.01 * max(a, b), chance)


def difference(text: str, fio: list[Request], ours: list[Request]) -> str | None:
    """What differs; None if the streams are equal."""
    jobs = len(re.findall(r"(?m)^\s*\[(?!global)", text))
    is_random = re.search(r"(?m)^\s*(rw|readwrite)=rand", text) is not None
    is_mixed = re.search(r"(?m)^\s*(rw|readwrite)=(randrw|rw|readwrite)", text) is not None
    draws_length = "bssplit" in text or "bsrange" in text
    has_files = re.search(r"nrfiles|filename=.*:", text) is not None
    is_one = jobs == 1 and "numjobs" not in text
    if is_one and not (is_random or is_mixed or draws_length):
        if has_files:
            fio, ours = [(k, 0, n) for k, _, n in fio], [(k, 0, n) for k, _, n in ours]
        if "time_based" in text and near(len(fio), len(ours), 3):
            # Requests that are due at the last instants.
            fio, ours = fio[: len(ours)], ours[: len(fio)]
        first = next((at for at, (a, b) in enumerate(zip(fio, ours, strict=False)) if a != b), None)
        if first is not None or len(fio) != len(ours):
            at = min(len(fio), len(ours)) if first is None else first
            return f"request {at}: fio {fio[at : at + 2]}, FlashWatt {ours[at : at + 2]} ({len(fio)} and {len(ours)})"
        return None
    return differing_counts(fio, ours, drawn=is_mixed or draws_length or "verify" in text)


def differing_counts(fio: list[Request], ours: list[Request], *, drawn: bool) -> str | None:
    count = len(fio)
    chance = 6 * (count**0.5) if drawn else 3.0
    if not near(count, len(ours), chance):
        return f"{count} requests in fio, {len(ours)} in FlashWatt"
    if not near(sum(n for *_, n in fio), sum(n for *_, n in ours), chance * max((n for *_, n in fio), default=0)):
        return f"{sum(n for *_, n in fio)} bytes in fio, {sum(n for *_, n in ours)} in FlashWatt"
    kinds, of_ours = Counter(kind for kind, *_ in fio), Counter(kind for kind, *_ in ours)
    for kind in kinds | of_ours:
        if not near(kinds[kind], of_ours[kind], chance):
            return f"{kinds[kind]} {kind} in fio, {of_ours[kind]} in FlashWatt"
    # Clones share a log of fio's, whose lines may run into each other: lengths that come often count.
    lengths, lengths_of_ours = ({n for n, of in Counter(n for *_, n in all_).items() if of > 9} for all_ in (fio, ours))
    if len(fio) > 500 and len(lengths) < 10 and lengths != lengths_of_ours:
        return f"lengths {sorted(lengths)} in fio, {sorted(lengths_of_ours)} in FlashWatt"
    return None


def lengths(draw: random.Random) -> str:
    return draw.choice(
        ["bs=4k", "bs=4k", "bs=8k", "bs=512", "bs=64k", "bs=12k", "bs=4k,8k", "bs=,16k", "bs=8k,", "bsrange=4k-16k",
         "bsrange=4k-10k", "bssplit=4k/60:16k/30:64k/", "bssplit=4k/50:8k/50,16k/100", "bssplit=512/10:4k/70:8k/20"]
    )  # fmt: skip


MODES = ["read", "write", "trim", "randread", "randwrite", "randtrim", "rw", "randrw", "trimwrite", "randtrimwrite"]


def drawn_job(draw: random.Random) -> str:
    """One job over the options that are understood."""
    mode = draw.choice(MODES)
    drawn = lengths(draw).replace("12k", "16k") if mode.startswith("rand") else lengths(draw)
    lines = [f"rw={mode}", drawn if "trimwrite" not in mode else draw.choice(["bs=4k", "bs=8k"])]
    # Where a request in order meets an end within it, chance says when the job ends: all lengths divide these sizes.
    size = draw.choice(["4m", "6m", "8m"] if mode.startswith("rand") else ["4m", "6m", "5000k", "3145999", "8m"])
    if draw.random() < 0.1:
        lines += [
            "filesize=6m",
            *draw.choice([[], ["size=50%"], ["size=25%"] + ([] if "trimwrite" in mode else ["offset=64k"])]),
        ]
    else:
        lines += [f"size={size}"]
        begin = [] if mode == "randtrimwrite" else ["offset=1m"]
        lines += draw.choice(
            [[], [], begin, ["io_size=2m"], ["io_size=10m"], ["io_size=50%"], ["loops=2"], ["number_ios=300"]]
        )
    if mode.startswith("rand") and "trimwrite" not in mode:
        laws = [[], ["norandommap"]]
        if re.fullmatch(r"bs=\d+k?", lines[1]):
            laws += [
                ["random_distribution=zipf:0.9"],
                ["random_distribution=pareto:0.3"],
                ["random_distribution=normal:20"],
                [],
            ]
            laws += [
                ["random_generator=lfsr"],
                ["random_distribution=zoned:50/5:30/15:20/"],
                ["percentage_random=60", "norandommap"],
            ]
        lines += draw.choice(laws)
        if draw.random() < 0.15 and lines[1] == "bs=4k" and "norandommap" in lines:
            lines[0] += draw.choice([":4", ":16"])
    elif (
        mode in ("read", "write")
        and not re.search("size=10m|filesize|loops", " ".join(lines))
        and re.fullmatch(r"bs=\d+k?", lines[1])
        and draw.random() < 0.3
    ):
        lines[0] += draw.choice([":8k", ":-8k", ":64k"])
    if mode in ("rw", "randrw"):
        lines += draw.choice([[], ["rwmixread=70"], ["rwmixwrite=90"], ["rwmixread=0"]])
    if mode in ("write", "rw", "randwrite", "randrw"):
        lines += draw.choice([[], [], [], ["fsync=7"], ["fdatasync=16"], ["end_fsync=1"], ["fsync=5", "fdatasync=8"]])
    lines += draw.choice(
        [[], [], ["iodepth=8", "ioengine=libaio"], ["iodepth=16", "iodepth_batch_complete_min=4", "iodepth_low=8"]]
    )
    if draw.random() < 0.15 and re.fullmatch(r"bs=\d+k?", lines[1]):
        lines += draw.choice(
            [
                ["nrfiles=2"],
                ["nrfiles=4", "openfiles=2"],
                ["filename=a:b"],
                ["nrfiles=2", "file_service_type=sequential"],
            ]
        )
    if draw.random() < 0.25:
        rate = draw.choice(["rate_iops=500", "rate=2m", "rate_iops=400,100", "rate_iops=300"])
        lines += ["time_based", "runtime=1", rate]
    if (
        draw.random() < 0.1
        and not re.search("random_dist|norandom|time_based", " ".join(lines))
        and mode in ("write", "randwrite")
        and ":" not in lines[0]
    ):
        lines += ["verify=crc32c"]
    lines = [line + draw.choice([" # said", "\t; said"]) if draw.random() < 0.1 else line for line in lines]
    return "[a]\n" + "\n".join(lines) + "\n"


def compare(text: str, folder: Path, settings: list[str]) -> tuple[str, str]:
    """Whether the job is equal, refused or different, and why."""
    ours = by_flashwatt(text, folder, settings)
    if isinstance(ours, str):
        return "refused", ours
    fio = by_fio(text, folder)
    if isinstance(fio, str):
        return "no referee", fio
    found = difference(text, fio, ours)
    return ("equal", f"{len(ours)} requests") if found is None else ("different", found)


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


SMALLER = [
    (r"\b(runtime|timeout)=\d+\w*", r"\1=1"),
    (r"\b(size|filesize|io_size|offset|offset_increment|zonesize|zoneskip)=(\d+)[gG]\w*", r"\1=\2m"),
    (r"\bzonesize=256m", "zonesize=1m"),
    (r"\bloops=\d{3,}", "loops=20"),
    (r"\bsize=128m(?=(.|\n)*rate_iops)", "size=1m"),
    (r"\bramp_time=\d+\w*", "ramp_time=1"),
]


def smaller(text: str) -> str:
    """The same job with gigabytes made megabytes, and at most a second, for both sides."""
    for pattern, by in SMALLER:
        text = re.sub(pattern, by, text)
    if not re.search(r"(?m)^\s*(size|filesize)\s*=", text):
        text = re.sub(r"(?m)^(\s*\[global\].*)$", r"\1\nsize=16m", text, count=1)
        if "size=16m" not in text:
            text = "[global]\nsize=16m\n" + text
    if "time_based" in text and not re.search(r"rate|thinktime", text):
        # Without a limit the requests of a second say how fast a machine is.
        text = re.sub(r"(?m)^\s*(time_based|runtime).*$", "", text)
    return text


def run_examples(directory: Path, folder: Path) -> Counter[str]:
    totals: Counter[str] = Counter()
    for job in sorted(directory.glob("*.fio")):
        result, why = compare(smaller(job.read_text()), folder, [])
        totals[result] += 1
        help_at = why.find("help:")
        reason = why[help_at:] if help_at >= 0 else why
        print(f"{job.name:38} {result:10} " + " ".join(reason.split())[:150], flush=True)
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
