"""Files that tasks read, on workers that may not see the coordinator's directories.

A file is known by the hash of its content. A worker takes the coordinator's path if the file there has that hash. Else
it takes its cache, `CACHE/<sha256>/<name>`: reports have the name of a trace without its directory, so they are the
same. What is not in the cache is sent by the coordinator in pieces. One process of a node fills the cache, under a
lock, while the others wait.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import socket
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core
from flashwatt.base.literals import leaves
from flashwatt.base.outputs import writing
from flashwatt.config.config import parse_toml
from flashwatt.sweeps.task import Hashes
from flashwatt.sweeps.task import variables as names_in

try:
    import fcntl
except ImportError:  # not on this system: two processes of a node may fetch a file at the same time
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from flashwatt.config.config import Config
    from flashwatt.sweeps.task import Task

PIECE_BYTES = 16 << 20
SEND_LIMIT_BYTES = 1_000_000_000
CACHE = "FLASHWATT_CACHE"
"""The variable of the environment that names a worker's cache."""
_SILENCE_S = 120.0
"""So long a worker waits for a piece of a file."""
_LOOK_S = 0.2


class Sent(NamedTuple):
    """A file, as a request names it."""

    name: str
    """The path as the user gave it: warnings in reports have it."""
    path: str
    """Where the coordinator has it."""
    sha256: str
    """Of its content."""
    size_bytes: int


class Named(NamedTuple):
    """A key of the configuration that names files."""

    key: str
    files: list[Sent]
    is_list: bool


# ---------------------------------------------------------------- the coordinator


_CHANGED = "the file has changed since the sweep began; expected the same content (the same command begins anew)"
_TABLES = ("workload.", "run.precondition.")
"""Tables of the configuration with keys that name files."""


class Contents:
    """The coordinator's files, each read once."""

    def __init__(self) -> None:
        """Begin without any."""
        self._known: dict[Path, Sent] = {}
        self._hashes = Hashes()
        self._named: dict[tuple[str, str, tuple[str, ...]], list[Named]] = {}

    def named_by(self, task: Task) -> dict[str, list[Named]]:
        """Give the files that a task reads, by the part of its request: `config`, `baseline` or `stream`.

        Raises `FlashwattError` for a file whose content is not that of the task any more.
        """
        if not task.inputs:
            return {}
        for one in task.inputs:
            if self._hashes.of(one.path) != one.sha256:
                raise _core.FlashwattError(f"{one.path}: {_CHANGED}")
        parts = {"stream": task.stream} if task.stream else {"config": task.config, "baseline": task.baseline}
        return {part: self._of_config(config) for part, config in parts.items() if config}

    def _of_config(self, config: Config) -> list[Named]:
        sets = tuple(one for one in config.sets if not one.startswith("run.seed="))
        name = (config.text, config.name, sets)
        if name not in self._named:
            self._named[name] = self._found(*name)
        return self._named[name]

    def _found(self, text: str, name: str, sets: Sequence[str]) -> list[Named]:
        """Find the keys of a configuration whose values are the paths of files."""
        paths = {str(path) for path in _core.inputs(text, name, list(sets))}
        found = []
        for key, value in leaves(parse_toml(_core.merged(text, name, list(sets)), name)):
            values = value if isinstance(value, list) else [value]
            if key.startswith(_TABLES) and values and all(isinstance(one, str) and one in paths for one in values):
                found.append(Named(key, [self._of(Path(one)) for one in values], isinstance(value, list)))
        return found

    def _of(self, path: Path) -> Sent:
        if path not in self._known:
            self._known[path] = Sent(str(path), str(path.resolve()), sha256(path), path.stat().st_size)
        return self._known[path]

    def piece(self, wanted: str, offset: int) -> bytes:
        """Read a piece of the file with this hash."""
        found = next(Path(one.path) for one in self._known.values() if one.sha256 == wanted)
        with found.open("rb") as file:
            file.seek(offset)
            return file.read(PIECE_BYTES)


def variables(tasks: Iterable[Task]) -> dict[str, str | None]:
    """Give the variables of the environment that the fio job files of tasks have, None for one that is not set."""
    small = {one.path for task in tasks for one in task.inputs if one.size_bytes < _JOB_BYTES_MAX}
    return {name: os.environ.get(name) for path in small for name in names_in(path.read_bytes())}


_JOB_BYTES_MAX = 1 << 20
"""Larger files are no fio job files."""


def sha256(path: Path) -> str:
    """Hash the content of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


# ---------------------------------------------------------------- the worker


def local_overrides(files: list[Any], node: Node) -> tuple[list[str], dict[str, str]]:
    """Give the overrides that name a task's files where this machine has them, and the user's names by these paths.

    Raises `FlashwattError`.
    """
    overrides: list[str] = []
    names: dict[str, str] = {}
    for key, several, is_list in files:
        sent = [Sent(*values) for values in several]
        paths = [str(node.path(one)) for one in sent]
        names |= zip(paths, (one.name for one in sent), strict=True)
        overrides.append(f"{key}={json.dumps(paths if is_list else paths[0])}")
    return overrides, names


def renamed(answer: bytes, names: dict[str, str]) -> bytes:
    """Put the user's names of files where an answer has their paths on this machine: warnings name files."""
    for path in sorted(names, key=len, reverse=True):
        before, after = (json.dumps(one, ensure_ascii=False)[1:-1].encode() for one in (path, names[path]))
        answer = answer.replace(before, after)
    return answer


_hashes: dict[tuple[str, int, int], str] = {}
"""Of files on this machine, by path, size and time of change: each is read once in a process."""
_arrived: dict[tuple[str, int], SimpleQueue[bytes]] = {}
"""By hash and offset: where a piece of a file arrives."""


def receive(wanted: str, offset: int, content: bytes) -> None:
    """Take a piece that the coordinator has sent to this process; one that nobody waits for is dropped."""
    if queue := _arrived.get((wanted, offset)):
        queue.put(content)


class Node:
    """This machine's files."""

    def __init__(
        self, cache: str, send_limit_bytes: int, ask: Callable[[dict[str, Any]], object], wanted: Callable[[], bool]
    ) -> None:
        """Take the directory of the cache, and how to ask the coordinator for a piece of a file."""
        self._cache, self._limit, self._ask, self._wanted = cache, send_limit_bytes, ask, wanted

    def path(self, file: Sent) -> Path:
        """Give the path of a file with this content on this machine. Raises `FlashwattError` if there is none."""
        for path in (Path(file.path), self._place(file)):
            if _has(path, file):
                return path
        if file.size_bytes > self._limit:
            size, limit = (f"{one / 1e9:.3g} GB" for one in (file.size_bytes, self._limit))
            found = f"{file.path}: not on {socket.gethostname()}, and too large to be sent; found {size}"
            raise _core.FlashwattError(f"{found}; expected {limit} at most, or a path on shared storage")
        return self._fetched(file)

    def _place(self, file: Sent) -> Path:
        return self._directory() / file.sha256 / Path(file.path).name

    def _directory(self) -> Path:
        if named := self._cache or os.environ.get(CACHE):
            return Path(named)
        from platformdirs import user_cache_path

        return user_cache_path("flashwatt") / "inputs"

    def _fetched(self, file: Sent) -> Path:
        """Fill the cache, or wait until another process of this machine has done so."""
        place = self._place(file)
        with _named_host(), writing(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            with self._locked(place.parent / ".lock"):
                if not _has(place, file):
                    self._fill(place, file)
        return place

    def _fill(self, place: Path, file: Sent) -> None:
        part = place.with_name(f".{os.getpid()}.part")
        digest = hashlib.sha256()
        try:
            with part.open("wb") as out:
                for offset in range(0, file.size_bytes, PIECE_BYTES):
                    content = self._piece(file, offset)
                    digest.update(content)
                    out.write(content)
            if digest.hexdigest() != file.sha256:
                raise _core.FlashwattError(f"{file.path}: {_CHANGED}")
            part.replace(place)
        finally:
            with suppress(OSError):
                part.unlink()

    def _piece(self, file: Sent, offset: int) -> bytes:
        queue: SimpleQueue[bytes] = SimpleQueue()
        _arrived[file.sha256, offset] = queue
        try:
            self._ask({"send": file.sha256, "offset": offset})
            ends_s = monotonic() + _SILENCE_S
            while monotonic() < ends_s and self._wanted():
                with suppress(Empty):
                    return queue.get(timeout=_LOOK_S)
        finally:
            del _arrived[file.sha256, offset]
        raise _core.FlashwattError(f"{file.path}: not sent; found no answer of the coordinator in {_SILENCE_S:g} s")

    @contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        """Hold a lock that all processes of this machine see."""
        with path.open("wb") as file:
            while fcntl and not _lock(file.fileno()) and self._wanted():
                sleep(_LOOK_S)
            yield


def _lock(descriptor: int) -> bool:
    """Try to take a lock. A file system without locks counts as free: then several processes may fill the cache."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN)
    return True


@contextmanager
def _named_host() -> Iterator[None]:
    """Put the name of this machine before a fault, and the way to another cache behind it."""
    try:
        yield
    except _core.FlashwattError as error:
        text = str(error)
        if "cannot be written" in text:
            text += f" (the cache of workers; {CACHE} names another directory)"
        raise _core.FlashwattError(f"the worker on {socket.gethostname()}: {text}") from None


def _has(path: Path, file: Sent) -> bool:
    """Whether a path leads to a file with this content."""
    try:
        found = path.stat()
        if found.st_size != file.size_bytes:
            return False
        known = (str(path), found.st_size, found.st_mtime_ns)
        if known not in _hashes:
            _hashes[known] = sha256(path)
    except OSError:
        return False
    return _hashes[known] == file.sha256
