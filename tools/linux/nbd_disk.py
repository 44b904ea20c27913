"""A disk with a fixed time a request, served by NBD on a Unix socket. It logs requests in the order of their coming.

    python3 nbd_disk.py SOCKET --size-mb 512 --service-us 5000 --at-once 1 --log requests.csv

A request begins when it comes or when one of the `--at-once` places gets free, whichever is later, and ends the service
time after that, whatever its kind and length. The time of the next one counts from when this one should have ended, so
that a late timer does not add up. Reads give zeros and writes are dropped: the disk is for timing, not for data.

The log is CSV: time in ns since the first request, operation (R, W, F, T), offset, bytes.

Protocol: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md (fixed newstyle).
"""

import argparse
import ctypes
import queue
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import TextIO

MAGIC = b"NBDMAGIC"
OPTION_MAGIC = b"IHAVEOPT"
REPLY_MAGIC = 0x3E889045565A9
REQUEST_MAGIC = 0x25609513
SIMPLE_REPLY_MAGIC = 0x67446698

FIXED_NEWSTYLE, NO_ZEROES = 1, 2
EXPORT_NAME, ABORT, GO = 1, 2, 7
ACK, INFO, UNSUPPORTED = 1, 3, 0x80000001
INFO_EXPORT = 0
READ, WRITE, DISCONNECT, FLUSH, TRIM = 0, 1, 2, 3, 4
HAS_FLAGS, SEND_FLUSH, SEND_TRIM = 1, 4, 32
LETTERS = {READ: "R", WRITE: "W", FLUSH: "F", TRIM: "T"}

# A sleep ends this much before the time, and the rest is spent in a loop: a sleeping thread wakes some 50 us late.
SPIN_NS = 60_000
PR_SET_TIMERSLACK = 29  # linux/prctl.h


def receive(peer: socket.socket, length: int) -> bytes:
    """Reads so many bytes; raises EOFError if the peer leaves."""
    data = bytearray(length)
    view = memoryview(data)
    while view:
        count = peer.recv_into(view)
        if count == 0:
            raise EOFError
        view = view[count:]
    return bytes(data)


def negotiate(peer: socket.socket, size: int) -> bool:
    """Agrees on the one export there is. Returns whether requests follow."""
    flags = HAS_FLAGS | SEND_FLUSH | SEND_TRIM
    peer.sendall(MAGIC + OPTION_MAGIC + struct.pack(">H", FIXED_NEWSTYLE | NO_ZEROES))
    (client_flags,) = struct.unpack(">I", receive(peer, 4))
    while True:
        _, option, length = struct.unpack(">8sII", receive(peer, 16))
        receive(peer, length)

        def reply(kind: int, data: bytes = b"", option: int = option) -> None:
            peer.sendall(struct.pack(">QIII", REPLY_MAGIC, option, kind, len(data)) + data)

        if option == EXPORT_NAME:
            peer.sendall(struct.pack(">QH", size, flags) + (b"" if client_flags & NO_ZEROES else bytes(124)))
            return True
        if option == GO:
            reply(INFO, struct.pack(">HQH", INFO_EXPORT, size, flags))
            reply(ACK)
            return True
        if option == ABORT:
            reply(ACK)
            return False
        reply(UNSUPPORTED)


def sleep_until(end_ns: int) -> None:
    """Waits for a time of the monotonic clock."""
    left = end_ns - time.monotonic_ns()
    if left > SPIN_NS:
        time.sleep((left - SPIN_NS) / 1e9)
    while time.monotonic_ns() < end_ns:
        pass


class Disk:
    """Serves one connection after another."""

    def __init__(self, size: int, service_ns: int, at_once: int, log: TextIO) -> None:
        """Serve nobody yet."""
        self.size = size
        self.service_ns = service_ns
        self.free_ns = [0] * at_once
        self.log = log
        self.start_ns = 0
        self.late_ns: list[int] = []

    def serve(self, peer: socket.socket) -> None:
        """Serves a connection until the peer leaves."""
        if not negotiate(peer, self.size):
            return
        ends: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()
        answering = threading.Thread(target=self.answer, args=(peer, ends))
        answering.start()
        try:
            while self.take(peer, ends):
                pass
        except (EOFError, ConnectionError):
            pass
        ends.put(None)
        answering.join()
        self.log.flush()

    def take(self, peer: socket.socket, ends: "queue.SimpleQueue[tuple[int, bytes] | None]") -> bool:
        """Reads a request and plans its end. Since all take equally long, they end in the order in which they come."""
        magic, _, kind, handle, offset, length = struct.unpack(">IHHQQI", receive(peer, 28))
        if magic != REQUEST_MAGIC:
            raise ConnectionError("not a request")
        if kind == DISCONNECT:
            return False
        if kind == WRITE:
            receive(peer, length)
        now = time.monotonic_ns()
        self.start_ns = self.start_ns or now
        self.log.write(f"{now - self.start_ns},{LETTERS.get(kind, '?')},{offset},{length}\n")
        place = min(range(len(self.free_ns)), key=self.free_ns.__getitem__)
        end = max(now, self.free_ns[place]) + (self.service_ns if kind in (READ, WRITE) else 0)
        self.free_ns[place] = end
        header = struct.pack(">IIQ", SIMPLE_REPLY_MAGIC, 0, handle)
        ends.put((end, header + bytes(length if kind == READ else 0)))
        return True

    def answer(self, peer: socket.socket, ends: "queue.SimpleQueue[tuple[int, bytes] | None]") -> None:
        """Sends each answer at its time."""
        ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
        while (item := ends.get()) is not None:
            end, data = item
            sleep_until(end)
            self.late_ns.append(time.monotonic_ns() - end)
            try:
                peer.sendall(data)
            except ConnectionError:
                return


def main() -> None:
    """Serves until it is killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("socket", type=Path)
    parser.add_argument("--size-mb", type=int, default=512)
    parser.add_argument("--service-us", type=float, required=True, help="time of a request")
    parser.add_argument("--at-once", type=int, default=1, help="requests in service at a time")
    parser.add_argument("--log", type=Path, required=True)
    options = parser.parse_args()
    sys.setswitchinterval(1e-4)
    with options.log.open("w") as log, socket.socket(socket.AF_UNIX) as listener:
        disk = Disk(options.size_mb << 20, round(options.service_us * 1e3), options.at_once, log)
        listener.bind(str(options.socket))
        listener.listen(1)
        while True:
            peer, _ = listener.accept()
            with peer:
                disk.serve(peer)
            if disk.late_ns:
                late = sorted(disk.late_ns)
                median = late[len(late) // 2]
                print(f"{len(late)} requests, late by {median} ns at the median", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
