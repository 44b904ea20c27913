"""An edited report.json ends in a message or is shown, never in a traceback: any key, any value.

`make test` tries some hundred edits, `make soak` all of them.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import random
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt
from flashwatt import plot
from flashwatt.report.comparison import Comparison
from flashwatt.report.report import Report, Section, content_of
from flashwatt.report.table import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flashwatt.base.files import Json

_DELETED = object()
_VALUES = (
    *(_DELETED, None, True, "x", [], {}, [1], {"a": 1}),
    *(0, -1, 2**63, 2**64 - 1, 1e300, -1e300, 1e-320),
)
_TRIED = 100
_MET = ((("window", "drain_energy_j"), None),)
"""Edits that once ended in a traceback: tried each time."""


@pytest.fixture(scope="module")
def whole() -> Json:
    """A report with every section that a run can have."""
    config = {"device.preset": "x25m", "ftl": "dftl", "write_buffer.bytes": 65536, "run.count_drain": True}
    more = {"workload.uniform.requests": 300, "run.warmup.requests": 20}
    report = flashwatt.run({}, **config, **more, series=True, edges=True)  # type: ignore[arg-type]
    return report.to_dict()


def _others() -> list[Json]:
    """Reports of other drives, and of a block layer before files."""
    array = {"array.level": "raid5", "array.members": 3, "array.failed_member": 1, "array.spare": "x25m"}
    files = {"workload.files.system": "lfs", "workload.files.personality": "varmail", "run.measure.requests": 100}
    uniform = {"workload.uniform.requests": 50}
    settings: list[Json] = [
        {"device.preset": "x25m", **array, **uniform},
        {"device.preset": "caviar-80g", **uniform},
        {"device.preset": "x25m", "host.scheduler": "noop", **files},
    ]
    return [flashwatt.run(flashwatt.Config().override(one)).to_dict() for one in settings]


def test_members_belong_to_an_array(whole: Json) -> None:
    for members in ([1], [], {}, "x", [None], [{}], True):
        with pytest.raises(flashwatt.FlashwattError, match="members"):
            Report.parse(json.dumps({**whole, "members": members}))
    array, *_ = _others()
    for wrong in ([1], [], [None], [{}, {}, {}], {"a": 1}):
        with pytest.raises(flashwatt.FlashwattError, match="members"):
            Report.parse(json.dumps({**array, "members": wrong}))
    assert Report.parse(json.dumps({**whole, "members": None})).members is None


def test_edited_reports_of_other_drives_are_shown_or_refused() -> None:
    for other in _others():
        _use_edits(other, _TRIED // 4)


def _paths(node: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every key, and the first entry of every list."""
    keys = node.items() if isinstance(node, dict) else enumerate(node[:1]) if isinstance(node, list) else ()
    for key, value in keys:
        yield (*above, key)
        yield from _paths(value, (*above, key))


def _edited(whole: Json, path: tuple[str | int, ...], value: Any) -> str:
    content = copy.deepcopy(whole)
    node: Any = content
    for key in path[:-1]:
        node = node[key]
    if value is _DELETED:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return json.dumps(content)


def _use(text: str) -> None:
    """All that can be asked of a report without another one, and beside itself."""
    with contextlib.suppress(flashwatt.FlashwattError):
        flashwatt.reprice(text, {"energy.nand.read_ma": 30})
    report = Report.parse(text, "report.json")
    with contextlib.suppress(flashwatt.FlashwattError):
        Comparison({"a": report, "b": report}, []).frame()
        report.to_config()
    with contextlib.redirect_stdout(io.StringIO()):
        show(content_of(report))
    report._repr_html_()
    for picture in (plot.power, plot.current, plot.latency, plot.energy, plot.queue, plot.waits, plot.operations):
        with contextlib.suppress(flashwatt.FlashwattError):
            picture(report)
    for frame in (report.series, report.edges, report.latency):
        with contextlib.suppress(flashwatt.FlashwattError):
            frame()
    for name, section in vars(Report).items():
        if isinstance(section, Section):
            with contextlib.suppress(flashwatt.FlashwattError):
                getattr(report, name)


def test_an_edited_report_is_shown_or_refused(whole: Json) -> None:
    _use_edits(whole, _TRIED)


def _use_edits(whole: Json, most: int) -> None:
    _use(json.dumps(whole))
    edits = [(path, value) for path in _paths(whole) for value in _VALUES]
    tried = edits if "FLASHWATT_SOAK" in os.environ else [*_MET, *random.Random(1).sample(edits, most)]
    faults = []
    for path, value in tried:
        text = _edited(whole, path, value)
        try:
            _use(text)
        except flashwatt.FlashwattError:
            continue
        except Exception as error:
            faults.append(f"{'.'.join(map(str, path))} = {'deleted' if value is _DELETED else repr(value)}: {error!r}")
    assert faults == []
