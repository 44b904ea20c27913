"""Signals that ask for an early end: a run ends with its figures until then, anything else as on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


def ending_signals() -> list[signal.Signals]:
    """Give the signals that ask for an early end: of Ctrl-C, of batch systems, and of a terminal that is closed.

    The last one does not count where it is ignored, as under `nohup`.
    """
    signals = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    return signals


def end_as_on_interrupt() -> None:
    """Let every signal that asks for an early end act as Ctrl-C does: files are closed, and locks freed."""
    if threading.current_thread() is threading.main_thread():
        for number in ending_signals():
            signal.signal(number, signal.default_int_handler)


@contextmanager
def interruptible() -> Iterator[list[int]]:
    """Within the block, the first signal to end is put on the list for the run to see; the second ends the process."""
    signals: list[int] = []

    def remember(number: int, _frame: FrameType | None) -> None:
        signals.append(number)
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, remember) for number in ending_signals()}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
