"""The JavaScript of pages: made once for a version of what makes it, and kept in the user's cache directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from flashwatt.plot import library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def made_anew(monkeypatch: pytest.MonkeyPatch, cache: Path) -> list[str]:
    """Take this cache directory, as a new process would; give a list of the calls that make the JavaScript."""
    calls: list[str] = []

    def counted(function: str, *_arguments: object, **_keywords: object) -> bytes:
        calls.append(function)
        return "let drawn = 'é';".encode()

    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr(library, "paint", counted)
    library.library.cache_clear()
    return calls


@pytest.fixture
def _whole_library() -> Iterator[None]:
    """Let no other test of this process have a page without its JavaScript."""
    yield
    library.library.cache_clear()


@pytest.mark.usefixtures("_whole_library")
def test_the_javascript_of_pages_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = made_anew(monkeypatch, tmp_path)
    first = library.library()
    library.library.cache_clear()  # a later process
    assert library.library() == first == "let drawn = 'é';"
    assert calls == ["javascript_bundle"]
    assert [path.parent.name for path in tmp_path.rglob("*.js")] == ["flashwatt"]
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1  # no part file stays


@pytest.mark.usefixtures("_whole_library")
@pytest.mark.parametrize("content", [b"", b"// 0000\nlet drawn;", b"\xff\xfe"])
def test_a_damaged_cache_is_made_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes) -> None:
    calls = made_anew(monkeypatch, tmp_path)
    library.library()
    library.cached_at().write_bytes(content)
    library.library.cache_clear()
    assert library.library() == "let drawn = 'é';"
    assert len(calls) == 2


@pytest.mark.usefixtures("_whole_library")
def test_a_page_needs_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    in_the_way = tmp_path / "cache"
    in_the_way.write_text("no directory")
    made_anew(monkeypatch, in_the_way)
    assert library.library() == "let drawn = 'é';"
    assert in_the_way.read_text() == "no directory"
