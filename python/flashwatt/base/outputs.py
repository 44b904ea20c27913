"""Writing of results: no file of the user is replaced, and no file of an earlier run stays beside them.

Every file is written as a part file in the same directory and renamed when it is complete. If a full disk or a signal
stops the writing, the previous file stays unchanged. A file that the command reads (`flashwatt.base.reads`) is never
replaced, nor is a device or a FIFO. A symbolic link, or a file without this program's mark (`flashwatt.base.marks`), is
replaced with `force` only.

The engine (`output.rs`) uses the same names and locks for part files: `.flashwatt-PROCESS-NUMBER.part`, locked by the
writer. A part file that a killed process left is removed by the next process that writes into the directory.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from flashwatt import _core
from flashwatt.base.missing import check_directory, check_name, printable
from flashwatt.base.reads import is_read

try:
    import fcntl
except ImportError:  # not on this system: no locks, and part files of killed processes stay
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from flashwatt.base.marks import Kind

HAS_LOCKS = fcntl is not None
"""Whether processes can wait for each other here."""
_PREFIX, _SUFFIX = ".flashwatt-", ".part"
_LOCK = ".flashwatt.lock"
_numbers = count()
_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ = "a file that is read; expected another name"
_RIGHTS = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextmanager
def writing(path: str | PathLike[str]) -> Iterator[None]:
    """Turn an `OSError` while a file is written into a `FlashwattError` that names the file."""
    try:
        yield
    except OSError as error:
        raise _core.FlashwattError(_failed(path, error)) from None


def _failed(path: str | PathLike[str], error: OSError) -> str:
    expected = "a file in a directory that is there"
    if error.errno in _ROOM or "No space left" in str(error) or "File too large" in str(error):
        expected = "room for it; a file of that name stays as it was"
    elif error.errno in _RIGHTS:
        expected = "a place where you may write"
    return f"{printable(path)}: cannot be written; found: {error.strerror or error}; expected {expected}"


def directory(path: str | PathLike[str]) -> Path:
    """Make a directory for results, with those above it; a `FlashwattError` names one that cannot be made."""
    if not os.fspath(path):
        raise _core.FlashwattError("no directory for results; found an empty name; expected that of a directory")
    check_directory(path)
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        found = f"{printable(path)}: no directory for results; found: {error.strerror}"
        raise _core.FlashwattError(f"{found}; expected a directory, or a place for a new one") from None
    return Path(path)


def check(path: str | PathLike[str], kind: Kind, *, force: bool = False) -> None:
    """Refuse, by a `FlashwattError`, a file that must not be replaced by one of this kind.

    A missing or empty file may be written, unless it is one that the command reads.
    """
    fault = _fault(path, kind, force=force)
    if fault:
        raise _core.FlashwattError(f"{printable(path)}: cannot be written; found {fault}")


def check_not_read(path: str | PathLike[str]) -> None:
    """Refuse, by a `FlashwattError`, to write a file that the command reads."""
    check_name(path)
    if is_read(path):
        raise _core.FlashwattError(f"{printable(path)}: cannot be written; found {_READ}")


def _fault(path: str | PathLike[str], kind: Kind, *, force: bool) -> str | None:
    if not os.fspath(path):
        return "an empty name; expected the name of a file"
    check_name(path)
    with writing(path):
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return _READ if is_read(path) else None
    if fault := _no_file(Path(path)):
        return fault
    if is_read(path):
        return _READ
    return None if force else _foreign(Path(path), found, kind)


def _foreign(path: Path, found: os.stat_result, kind: Kind) -> str | None:
    """Describe the content that would be lost if this file were replaced; None if there is none."""
    if stat.S_ISLNK(found.st_mode):
        return "a symbolic link; expected the name of a file (--force replaces the link and leaves what it points to)"
    if found.st_size and not _is_ours(path, kind):
        help_ = " (--force replaces it)" if kind.yields_to_force else ""
        return f"a file that is not {kind.name} written by flashwatt; expected another name{help_}"
    return None


def _no_file(path: Path) -> str | None:
    """Describe a path that is no regular file, nor a link to one; None if it is."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None  # a link to nothing
    if stat.S_ISREG(mode):
        return None
    kind = "a directory" if stat.S_ISDIR(mode) else "a device or a FIFO"
    return f"{kind}; expected the name of a file"


def _is_ours(path: Path, kind: Kind) -> bool:
    try:
        return kind.is_ours(path)
    except OSError:
        return False  # it cannot be read: its mark is unknown


class Aside:
    """A file that is being written, and is to replace another one when it is whole."""

    def __init__(self, target: str | PathLike[str], kind: Kind, *, force: bool = False) -> None:
        """Begin it. Raises `FlashwattError` for a target that must not be replaced, or cannot be written."""
        check(target, kind, force=force)
        self._target, self._kind, self._force = Path(target), kind, force
        with writing(target):
            remove_leftovers(self._target.parent)
            # A file that replaces a private one is private from the start.
            mode = 0o600 if self._target.exists() else 0o666
            self.path, self._descriptor = _create(self._target.parent, mode)

    def write(self, content: bytes) -> None:
        """Write all that the file is to hold."""
        with writing(self._target):
            self.path.write_bytes(content)

    def commit(self) -> None:
        """Replace the target by it; mode and owner of an existing target are kept."""
        try:
            check(self._target, self._kind, force=self._force)
            with writing(self._target):
                _keep_owner(self._descriptor, self._target)
                os.fsync(self._descriptor)
                self.path.replace(self._target)
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove it, unless it has replaced the target."""
        self.path.unlink(missing_ok=True)
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def _create(directory: Path, mode: int) -> tuple[Path, int]:
    """Make a file with an unused name, and lock it."""
    while True:
        path = directory / f"{_PREFIX}{os.getpid()}-{next(_numbers)}-py{_SUFFIX}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
        except FileExistsError:
            continue
        # Another process may have taken it for a leftover before it was locked, and removed it.
        if _lock(descriptor) is not False and path.exists():
            return path, descriptor
        os.close(descriptor)


def _lock(descriptor: int, *, waits: bool = False) -> bool | None:
    """Take the lock; return whether that succeeded, or None on a system without locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _keep_owner(descriptor: int, target: Path) -> None:
    if not target.exists() or not hasattr(os, "fchown"):
        return
    before = target.stat()
    with suppress(PermissionError):  # only the administrator may change the owner of a file
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def remove_leftovers(directory: Path) -> None:
    """Remove part files of killed processes; one that cannot be removed does no harm."""
    with suppress(OSError):
        for path in [*directory.glob(f"{_PREFIX}*{_SUFFIX}")]:
            if not path.is_symlink() and not is_read(path):
                _remove_leftover(path)


def _remove_leftover(path: Path) -> None:
    """Remove a file or directory that no process has locked, under its lock: a new owner sees that it is gone.

    A file system without locks keeps them all.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return
    try:
        if _lock(descriptor) is not True:
            return
        if path.is_dir():
            import shutil

            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


@contextmanager
def replacing(target: str | PathLike[str], kind: Kind, *, force: bool = False) -> Iterator[Path]:
    """Give the path to write to: after the block the file replaces the target, unless the block raised.

    Raises `FlashwattError` for a target that must not be replaced (see `check`), or cannot be written.
    """
    aside = Aside(target, kind, force=force)
    try:
        with writing(target):
            yield aside.path
        aside.commit()
    finally:
        aside.discard()


def save(target: str | PathLike[str], content: bytes, kind: Kind, *, force: bool = False) -> None:
    """Write a file whole, or not at all; raises as `replacing` does."""
    save_together([(target, content, kind)], force=force)


def save_together(files: Iterable[tuple[str | PathLike[str], bytes, Kind]], *, force: bool = False) -> None:
    """Write files that belong together: none replaces another one before all are whole on the disk."""
    begun: list[Aside] = []
    try:
        for target, content, kind in files:
            begun.append(Aside(target, kind, force=force))
            begun[-1].write(content)
        for aside in begun:
            aside.commit()
    finally:
        for aside in begun:
            aside.discard()


@contextmanager
def scratch(beside: Path) -> Iterator[Path]:
    """Make a directory beside a file for the block; it is removed afterwards, or by the next command."""
    with writing(beside):
        remove_leftovers(beside.parent)
        path, descriptor = _create_directory(beside.parent)
    try:
        yield path
    finally:
        import shutil

        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def _create_directory(beside: Path) -> tuple[Path, int]:
    """As `_create`, for a directory."""
    while True:
        path = beside / f"{_PREFIX}{os.getpid()}-{next(_numbers)}-py{_SUFFIX}"
        with suppress(FileExistsError):
            path.mkdir()
            descriptor = os.open(path, os.O_RDONLY)
            if _lock(descriptor) is not False and path.exists():
                return path, descriptor
            os.close(descriptor)


def clear(files: Iterable[tuple[Path, Kind]]) -> list[Path]:
    """Remove files of an earlier command that have this program's mark and are not read; return their paths."""
    gone = []
    for path, kind in files:
        mine = path.is_file() and not path.is_symlink() and _is_ours(path, kind)
        if mine and not is_read(path):
            with writing(path):
                path.unlink()
            gone.append(path)
    return gone


class BusyError(_core.FlashwattError):
    """Another command holds the lock."""


@contextmanager
def locked(directory: Path | None, name: str = _LOCK) -> Iterator[None]:
    """Lock a directory, or what `name` stands for in it, against a second command. Raises `BusyError` if one is there.

    The system releases the lock when the process ends.
    """
    if directory is None or fcntl is None:
        yield
        return
    path = directory / name
    check_not_read(path)
    descriptor = _locked(path)
    with _released(descriptor, path):
        yield


@contextmanager
def waiting(path: Path) -> Iterator[None]:
    """Hold the lock that a file stands for; wait as long as another process holds it. The file goes afterwards."""
    if fcntl is None:
        yield
        return
    with _released(_locked(path, waits=True), path):
        yield


@contextmanager
def _released(descriptor: int, path: Path) -> Iterator[None]:
    """Release a lock after the block, and remove its file."""
    try:
        yield
    finally:
        with suppress(OSError):
            if os.fstat(descriptor).st_size == 0:
                path.unlink()
        os.close(descriptor)


def _locked(path: Path, *, waits: bool = False) -> int:
    """Take the lock of the file that is at the path now: a previous owner removes its own file."""
    while True:
        with writing(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        if _lock(descriptor, waits=waits) is False:
            os.close(descriptor)
            raise BusyError(f"{printable(path.parent)}: another command is at work there")
        with suppress(FileNotFoundError):
            if os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor
        os.close(descriptor)
