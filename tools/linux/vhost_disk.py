"""A disk with a fixed time a request, served as a vhost-user disk. It logs requests in the order of their coming.

    python3 vhost_disk.py SOCKET --size-mb 512 --service-us 20000 --log requests.csv [--image FILE]

The disk serves one request at a time. A request begins when it comes or when the one before it ends, whichever is
later, and ends the service time after that, whatever its kind and length. The time of the next one counts from when
this one should have ended, so that a late timer does not add up. The guest learns of each end at once. Without an image
reads leave the guest's memory as it is and writes are dropped: the disk is then for timing, not for data. With one it
keeps data in that file, and takes discards and writes of zeroes as well.

The log is CSV: time in ns since the first request, operation (R, W, F flush, T discard, Z zeroes), offset, bytes. With
`--journal` a write to the journal of ext3 has a fifth field (files_journal.py).

Protocols: https://qemu-project.gitlab.io/qemu/interop/vhost-user.html (messages), and the virtio specification 1.2,
sections 2.7 (split virtqueues) and 5.2 (block device).
"""

import argparse
import ctypes
import mmap
import os
import select
import socket
import struct
import sys
import time
from collections import deque
from pathlib import Path
from typing import NamedTuple, TextIO

from files_journal import blocks_of

HEADER = struct.Struct("=III")  # request, flags, length of what follows
REPLY = 0x1 | 0x4  # version 1, an answer
GET_FEATURES, SET_MEM_TABLE = 1, 5
SET_VRING_NUM, SET_VRING_ADDR, SET_VRING_BASE, GET_VRING_BASE, SET_VRING_KICK, SET_VRING_CALL = 8, 9, 10, 11, 12, 13
GET_PROTOCOL_FEATURES, GET_CONFIG = 15, 24
SEG_MAX, FLUSH, DISCARD, WRITE_ZEROES = 1 << 2, 1 << 9, 1 << 13, 1 << 14
INDIRECT_DESC, PROTOCOL, VERSION_1 = 1 << 28, 1 << 30, 1 << 32
SLAVE_REQ, CONFIG = 1 << 5, 1 << 9
"""A channel for the disk's own messages, and the configuration. Without the first virtio_uml of Linux 6.1 finds no
interrupt for the queue."""
NO_DESCRIPTOR = 1 << 8

NEXT = 1  # a descriptor is followed by another one
INDIRECT = 4  # it is a table of descriptors
NO_INTERRUPT = 1
DESCRIPTOR = struct.Struct("<QIHH")  # address, length, flags, next
REQUEST = struct.Struct("<IIQ")  # kind, reserved, sector
RANGE = struct.Struct("<QII")  # of a discard or a write of zeroes: sector, sectors, flags
LETTERS = {0: "R", 1: "W", 4: "F", 11: "T", 13: "Z"}
READ, WRITE, GET_ID = 0, 1, 8
SECTOR_BYTES = 512
SEGMENTS_MAX = 126
DESCRIPTORS_MAX = 16
SIZES = struct.Struct("<QII20x5I")
"""Capacity in sectors, longest segment, most segments; most sectors and ranges of a discard, its alignment in sectors,
most sectors and ranges of a write of zeroes. Between them is what no feature here offers."""
RANGE_SECTORS_MAX = 1 << 15

# A wait ends this much before the time, and the rest is spent in a loop: a sleeping thread wakes some 50 us late.
SPIN_NS = 60_000
PR_SET_TIMERSLACK = 29  # linux/prctl.h


class Region(NamedTuple):
    """A part of the guest's memory."""

    guest: int
    """Its address for the guest."""
    size: int
    process: int
    """Its address in the guest's process."""
    offset: int
    memory: mmap.mmap


class Memory:
    """The guest's memory."""

    def __init__(self) -> None:
        """Know nothing of it yet."""
        self.regions: list[Region] = []

    def set(self, payload: bytes, descriptors: list[int]) -> None:
        """Maps the regions of a memory table."""
        (count,) = struct.unpack_from("=I", payload)
        for at, descriptor in zip(range(count), descriptors, strict=True):
            guest, size, process, offset = struct.unpack_from("=4Q", payload, 8 + 32 * at)
            memory = mmap.mmap(descriptor, offset + size)
            self.regions.append(Region(guest, size, process, offset, memory))
            os.close(descriptor)

    def at_guest(self, address: int) -> tuple[mmap.mmap, int]:
        """The memory at an address of the guest."""
        for region in self.regions:
            if region.guest <= address < region.guest + region.size:
                return region.memory, address - region.guest + region.offset
        raise ValueError(f"the guest has no memory at {address:#x}")

    def at_process(self, address: int) -> tuple[mmap.mmap, int]:
        """The memory at an address of the guest's process."""
        for region in self.regions:
            if region.process <= address < region.process + region.size:
                return region.memory, address - region.process + region.offset
        raise ValueError(f"the guest's process has no memory at {address:#x}")


class Ring:
    """The one queue of requests."""

    def __init__(self, memory: Memory) -> None:
        """Not set up yet."""
        self.memory = memory
        self.size = 0
        self.taken = 0
        self.used = 0
        self.kick = -1
        self.call = -1
        self.places: list[tuple[mmap.mmap, int]] = []

    def set_addresses(self, payload: bytes) -> None:
        """Where descriptors, used ring and available ring are."""
        _, _, descriptors, used, available, _ = struct.unpack("=IIQQQQ", payload)
        self.places = [self.memory.at_process(address) for address in (descriptors, used, available)]

    def waiting(self) -> list[int]:
        """The requests that have come since the last time, by their first descriptor."""
        memory, at = self.places[2]
        (count,) = struct.unpack_from("<H", memory, at + 2)
        found = []
        while self.taken != count:
            found.append(struct.unpack_from("<H", memory, at + 4 + 2 * (self.taken % self.size))[0])
            self.taken = (self.taken + 1) & 0xFFFF
        return found

    def parts(self, first: int) -> list[tuple[int, int]]:
        """Address and length of each part of a request."""
        memory, at = self.places[0]
        parts = []
        while True:
            address, length, flags, following = DESCRIPTOR.unpack_from(memory, at + DESCRIPTOR.size * first)
            if flags & INDIRECT:
                (memory, at), first = self.memory.at_guest(address), 0
                continue
            parts.append((address, length))
            if not flags & NEXT:
                return parts
            first = following

    def end(self, first: int, length: int) -> None:
        """Gives a request back, and tells the guest."""
        memory, at = self.places[1]
        struct.pack_into("<II", memory, at + 4 + 8 * (self.used % self.size), first, length)
        self.used = (self.used + 1) & 0xFFFF
        struct.pack_into("<H", memory, at + 2, self.used)
        available, flags_at = self.places[2]
        (flags,) = struct.unpack_from("<H", available, flags_at)
        if not flags & NO_INTERRUPT:
            os.write(self.call, struct.pack("=Q", 1))


class Disk:
    """Serves one guest."""

    def __init__(
        self, size: int, service_ns: int, log: TextIO, image: mmap.mmap | None = None, *, journal: bool = False
    ) -> None:
        """Serve nobody yet."""
        self.journal = journal
        self.size = size
        self.image = image
        self.service_ns = service_ns
        self.log = log
        self.memory = Memory()
        self.ring = Ring(self.memory)
        self.start_ns = 0
        self.free_ns = 0
        self.under_way: deque[tuple[int, int, tuple[int, int], int]] = deque()
        """When each request ends, its first descriptor, the place of its status, and the bytes of its answer."""
        self.late_ns: list[int] = []

    def serve(self, peer: socket.socket) -> None:
        """Serves until the guest leaves."""
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
        try:
            while True:
                self.end_requests()
                ready = self.wait(peer)
                if self.ring.kick in ready:
                    os.read(self.ring.kick, 8)
                    self.take()
                if peer.fileno() in ready:
                    self.message(peer)
        except (EOFError, ConnectionError):
            self.log.flush()

    def wait(self, peer: socket.socket) -> list[int]:
        """Waits for a message, a request, or the time at which one ends."""
        sources = [peer.fileno()] + ([self.ring.kick] if self.ring.kick >= 0 else [])
        left_ns = self.under_way[0][0] - time.monotonic_ns() - SPIN_NS if self.under_way else None
        return select.select(sources, [], [], None if left_ns is None else max(left_ns, 0) / 1e9)[0]

    def take(self) -> None:
        """Takes new requests, and plans their ends."""
        for first in self.ring.waiting():
            now = time.monotonic_ns()
            parts = self.ring.parts(first)
            memory, at = self.memory.at_guest(parts[0][0])
            kind, _, sector = REQUEST.unpack_from(memory, at)
            length = sum(size for _, size in parts[1:-1])
            self.start_ns = self.start_ns or now
            letter = LETTERS.get(kind, "?")
            ranges = [(sector * SECTOR_BYTES, length)]
            if letter in ("T", "Z"):
                ranges = self.ranges(parts[1:-1])
                self.zero(ranges if letter == "Z" else [])
            elif self.image:
                self.move(kind, sector * SECTOR_BYTES, parts[1:-1])
            if kind != GET_ID:
                for offset, size in ranges:
                    self.log.write(f"{now - self.start_ns},{letter},{offset},{size}{self.seen(letter, offset, size)}\n")
            self.free_ns = max(now, self.free_ns) + (self.service_ns if kind != GET_ID else 0)
            self.under_way.append((self.free_ns, first, parts[-1], length + 1 if kind == 0 else 1))

    def move(self, kind: int, offset: int, parts: list[tuple[int, int]]) -> None:
        """Moves the data of a read or a write between the image and the guest."""
        if kind not in (READ, WRITE) or not self.image:
            return
        for address, size in parts:
            memory, at = self.memory.at_guest(address)
            if kind == READ:
                memory[at : at + size] = self.image[offset : offset + size]
            else:
                self.image[offset : offset + size] = memory[at : at + size]
            offset += size

    def seen(self, letter: str, offset: int, size: int) -> str:
        """A further field of the log: blocks of a journal in what is written, if there are any."""
        if not (self.journal and self.image and letter == "W"):
            return ""
        blocks = blocks_of(memoryview(self.image)[offset : offset + size])
        return "," + " ".join(map(str, blocks)) if blocks else ""

    def ranges(self, parts: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Offset and length of each range of a discard or a write of zeroes."""
        memories = [(*self.memory.at_guest(address), size) for address, size in parts]
        found = [entry for memory, at, size in memories for entry in RANGE.iter_unpack(memory[at : at + size])]
        return [(sector * SECTOR_BYTES, sectors * SECTOR_BYTES) for sector, sectors, _ in found]

    def zero(self, ranges: list[tuple[int, int]]) -> None:
        """Writes zeroes into the image. What is discarded stays there: so the image tells what was written."""
        for offset, length in ranges:
            if self.image:
                self.image[offset : offset + length] = bytes(length)

    def end_requests(self) -> None:
        """Ends each request whose time has come or is near."""
        while self.under_way and self.under_way[0][0] - time.monotonic_ns() <= SPIN_NS:
            end, first, status, length = self.under_way.popleft()
            while time.monotonic_ns() < end:
                pass
            self.late_ns.append(time.monotonic_ns() - end)
            memory, at = self.memory.at_guest(status[0])
            memory[at + status[1] - 1] = 0
            self.ring.end(first, length)

    def message(self, peer: socket.socket) -> None:
        """Answers a message of the set-up."""
        header, descriptors, _, _ = socket.recv_fds(peer, HEADER.size, DESCRIPTORS_MAX)
        if not header:
            raise EOFError
        request, _, length = HEADER.unpack(header + receive(peer, HEADER.size - len(header)))
        payload = receive(peer, length)
        self.set(request, payload, descriptors)
        answer = self.answer(request, payload)
        if answer is not None:
            peer.sendall(HEADER.pack(request, REPLY, len(answer)) + answer)

    def set(self, request: int, payload: bytes, descriptors: list[int]) -> None:
        """Takes over what a message sets."""
        ring = self.ring
        if request == SET_MEM_TABLE:
            self.memory.set(payload, descriptors)
        elif request == SET_VRING_NUM:
            ring.size = struct.unpack("=II", payload)[1]
        elif request == SET_VRING_ADDR:
            ring.set_addresses(payload)
        elif request == SET_VRING_BASE:
            ring.taken = ring.used = struct.unpack("=II", payload)[1]
        elif request in (SET_VRING_KICK, SET_VRING_CALL):
            descriptor = -1 if struct.unpack("=Q", payload)[0] & NO_DESCRIPTOR else descriptors[0]
            if request == SET_VRING_KICK:
                ring.kick = descriptor
            else:
                ring.call = descriptor

    def answer(self, request: int, payload: bytes) -> bytes | None:
        """The answer to a message that asks for something."""
        if request == GET_FEATURES:
            data = DISCARD | WRITE_ZEROES if self.image else 0
            return struct.pack("=Q", SEG_MAX | FLUSH | data | INDIRECT_DESC | PROTOCOL | VERSION_1)
        if request == GET_PROTOCOL_FEATURES:
            return struct.pack("=Q", SLAVE_REQ | CONFIG)
        if request == GET_CONFIG:
            return self.config(payload)
        if request == GET_VRING_BASE:
            return struct.pack("=II", 0, self.ring.taken)
        return None

    def config(self, payload: bytes) -> bytes:
        """The part of the configuration that is asked for."""
        offset, length, flags = struct.unpack_from("=III", payload)
        ranges = (RANGE_SECTORS_MAX, 1)
        whole = SIZES.pack(self.size // SECTOR_BYTES, 0, SEGMENTS_MAX, *ranges, 1, *ranges)
        part = whole.ljust(offset + length, b"\0")[offset : offset + length]
        return struct.pack("=III", offset, length, flags) + part


def receive(peer: socket.socket, length: int) -> bytes:
    """The next bytes; raises EOFError if the guest leaves."""
    data = b""
    while len(data) < length:
        more = peer.recv(length - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def new_image(path: Path, size: int) -> mmap.mmap:
    """A file of zeroes in memory."""
    with path.open("wb+") as file:
        file.truncate(size)
        return mmap.mmap(file.fileno(), size)


def main() -> None:
    """Serves one guest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("socket", type=Path)
    parser.add_argument("--size-mb", type=int, default=512)
    parser.add_argument("--service-us", type=float, required=True, help="time of a request")
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--image", type=Path, help="file that keeps the data; it is made anew")
    parser.add_argument("--journal", action="store_true", help="log the journal's blocks of ext3; needs an image")
    options = parser.parse_args()
    with options.log.open("w") as log, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(options.socket))
        listener.listen(1)
        peer, _ = listener.accept()
        size = options.size_mb << 20
        image = new_image(options.image, size) if options.image else None
        disk = Disk(size, round(options.service_us * 1e3), log, image, journal=options.journal)
        with peer:
            disk.serve(peer)
        if disk.late_ns:
            late = sorted(disk.late_ns)
            print(f"{len(late)} requests, late by {late[len(late) // 2]} ns at the median", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
