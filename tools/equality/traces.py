"""Small traces in every format: what `docs/trace-formats.md` says of their columns, written anew here."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from equality.draw import Draw

SECTOR = 512
CONVERTED = "binary"
"""The format that a test writes by a conversion of the CSV."""


class Record(NamedTuple):
    """A request of a trace."""

    us: int
    device: int
    op: str
    sector: int
    sectors: int

    @property
    def is_read(self) -> bool:
        """Whether it reads."""
        return self.op == "R"


def records(draw: Draw) -> list[Record]:
    """Draw a trace: runs of sequential requests, some of them close together, on one or two devices."""
    found, us, sector = [], draw.whole(0, 1000), 0
    devices = draw.one(1, 1, 2)
    for _ in range(draw.whole(40, 160)):
        us += draw.one(0, 5, 40, 300, 2000, 20_000)
        sectors = draw.one(1, 3, 8, 8, 8, 16, 64)
        if draw.chance(0.6):
            sector = draw.whole(0, 60_000) * draw.one(1, 8)
        op = draw.one("R", "R", "W", "W", "W", "W", "T", "F")
        found.append(Record(us, draw.whole(0, devices - 1), op, sector, sectors))
        sector += sectors
    return found


def _lines(found: list[Record], line: Callable[[Record], str], head: str = "") -> bytes:
    return (head + "".join(f"{line(one)}\n" for one in found)).encode()


def _rw(found: list[Record]) -> list[Record]:
    return [one for one in found if one.op in "RW"]


def _csv(found: list[Record]) -> bytes:
    return _lines(
        found,
        lambda one: (
            f"{one.us}.125,{one.device},{one.op},{one.sector * SECTOR},{one.sectors * SECTOR},"
            f"{int(one.op == 'W' and one.sector % 3 == 0)},{one.sector % 4},{one.sector % 2}"
        ),
        "time_us,device,op,offset,bytes,fua,process,sync\n",
    )


def _blkparse(found: list[Record]) -> bytes:
    names = {"R": "R", "W": "WS", "T": "D", "F": "FN"}

    def line(one: Record) -> str:
        where = "" if one.op == "F" else f" {one.sector} + {one.sectors}"
        event = f"{3645 + one.device}  D {names[one.op]:>3}{where} [java]"
        return f"  8,{16 * one.device}   3  {one.us + 1:>7} {one.us / 1e6:>14.9f}  {event}"

    return _lines(found, line)


def _tracefs(found: list[Record]) -> bytes:
    def line(one: Record) -> str:
        what = f"{'R' if one.is_read else 'WS'} {one.sectors * SECTOR} () {one.sector} + {one.sectors} be,0,4"
        return f"    fio-{5670 + one.device}    [000] .N...  {one.us / 1e6:.6f}: block_rq_issue: 7,0 {what} [fio]"

    return _lines(_rw(found), line, "# tracer: nop\n")


def _fio(found: list[Record]) -> bytes:
    names = {"R": "read", "W": "write", "T": "trim", "F": "datasync"}
    head = "fio version 3 iolog\n0 /dev/sdb add\n0 /dev/sdc add\n0 /dev/sdb open\n0 /dev/sdc open\n"
    return _lines(
        found,
        lambda one: (
            f"{one.us} /dev/sd{'bc'[one.device]} {names[one.op]} "
            + ("0 0" if one.op == "F" else f"{one.sector * SECTOR} {one.sectors * SECTOR}")
        ),
        head,
    )


def _btrecord(found: list[Record]) -> bytes:
    rule = "------------------"
    return _lines(
        _rw(found),
        lambda one: f"{rule}\n{one.us / 1e6:>14.9f}   1\n{rule}\n\t{one.is_read:d} {one.sector:>8} {one.sectors:>8}",
    )


def _hfplayer(found: list[Record]) -> bytes:
    return _lines(
        _rw(found),
        lambda one: (
            f"{4096 + one.us},{one.us}.250,{one.us * 2},{'RD_IN' if one.is_read else 'WR_IN'},0,{one.us},101,"
            f"{one.device},1,0,{one.sector},{one.sectors},121408,6,1,56.910"
        ),
    )


def _vscsi(found: list[Record]) -> bytes:
    pack = struct.Struct("<IIIHHQQ").pack
    rows = enumerate(_rw(found), 1)
    return b"".join(
        pack(at, one.sectors * SECTOR, 1, 0x28 if one.is_read else 0x2A, 0x100, one.sector, one.us) for at, one in rows
    )


def _blktrace(found: list[Record]) -> bytes:
    pack = struct.Struct("<IIQQIIIIIHH").pack
    rows = enumerate(_rw(found), 1)
    return b"".join(
        pack(
            *(0x65617407, at, one.us * 1000, one.sector, one.sectors * SECTOR),
            *(0x01410007 if one.is_read else 0x01420007, 9 + one.device, 0x0FE00000, 0, 0, 0),
        )
        for at, one in rows
    )


def _nbd(found: list[Record]) -> bytes:
    def line(one: Record) -> str:
        where = "0,0" if one.op == "F" else f"{one.sector * SECTOR},{one.sectors * SECTOR}"
        return f"{one.us * 1000},{one.op},{where},{one.op == 'W' and one.us % 2:d}"

    return _lines(found, line)


def _plain(line: Callable[[Record], str], head: str = "") -> Callable[[list[Record]], bytes]:
    return lambda found: _lines(_rw(found), line, head)


WRITERS: dict[str, Callable[[list[Record]], bytes]] = {
    "csv": _csv,
    CONVERTED: _csv,
    "blkparse": _blkparse,
    "tracefs": _tracefs,
    "fio": _fio,
    "btrecord": _btrecord,
    "hfplayer": _hfplayer,
    "vscsi": _vscsi,
    "blktrace": _blktrace,
    "nbd": _nbd,
    "ssdsim": _plain(lambda one: f"{one.us * 1000} {one.device} {one.sector} {one.sectors} {one.is_read:d}"),
    "fiu": _plain(lambda one: f"{one.us * 1000} {one.device} {one.sector} {one.sectors} {one.is_read:d} 3f4fc2833a17"),
    "spc": _plain(
        lambda one: f"{one.device},{one.sector},{one.sectors * SECTOR},{'r' if one.is_read else 'W'},{one.us / 1e6:.6f}"
    ),
    "msr": _plain(
        lambda one: (
            f"{128166372003061629 + one.us * 10},web,{one.device},{'Read' if one.is_read else 'Write'},"
            f"{one.sector * SECTOR},{one.sectors * SECTOR},41286"
        )
    ),
    "disksim": _plain(lambda one: f"{one.us / 1000:.3f} {one.device} {one.sector} {one.sectors} {one.is_read:d}"),
    "fiu-iodedup": _plain(
        lambda one: (
            f"{89967404415337 + one.us * 1000} {4892 + one.device} cron {one.sector} {one.sectors} {one.op} 6 0 "
            "531e779039be"
        )
    ),
    "diskmon": _plain(
        lambda one: (
            f"{one.us}\t{one.us / 1e6:.6f}\t0.00038147\t{one.device}\t{'Read' if one.is_read else 'Write'}\t"
            f"{one.sector}\t{one.sectors}"
        )
    ),
    "alibaba": _plain(
        lambda one: f"{one.device},{one.op},{one.sector * SECTOR},{one.sectors * SECTOR},{1577808144360767 + one.us}"
    ),
    "tencent": _plain(
        lambda one: f"{1538323200 + one.us // 100_000},{one.sector},{one.sectors},{1 - one.is_read},{one.device}"
    ),
    "systor17": _plain(
        lambda one: (
            f"{1455592140 + one.us / 1e6:.6f},0.000127,{one.op},{one.device},{one.sector * SECTOR},"
            f"{one.sectors * SECTOR}"
        ),
        "Timestamp,Response,IOType,LUN,Offset,Size\n",
    ),
    "vscsi-csv": _plain(
        lambda one: (
            f"2147483692,{one.sectors * SECTOR},1,{'read' if one.is_read else 'write'},{one.sector},"
            f"{2756778716647 + one.us}"
        ),
        "#Vscsi Cmd Trace. (Trace Format Version 1)\n",
    ),
    "biotracer": _plain(
        lambda one: (
            f"{one.sector}\t\t{one.sectors}\t\t{one.sectors * SECTOR}\t\t{0 if one.is_read else 5}"
            + "".join(f"\t\t{(one.us + late) / 1e6:.6f}" for late in (0, 14, 43, 1456))
        )
    ),
    "biosnoop": _plain(
        lambda one: (
            f"{one.us / 1e6:.6f}    a shell {1950 + one.device}   xvda{one.device} {one.op} {one.sector}   "
            f"{one.sectors * SECTOR}       0.74"
        ),
        "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n",
    ),
    "libcachesim": _plain(
        lambda one: (
            f"1,{33898 + one.us // 100_000},{'28' if one.is_read else '2a'},{one.sectors * SECTOR},{one.sector}"
        ),
        "version,time,op,size,lbn\n",
    ),
}
"""The bytes of a trace in each format."""
