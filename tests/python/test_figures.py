"""Figures of a report that stand beside others: flushes, rates by origin, marks, rules that differ, disks."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import flashwatt
from flashwatt.report.comparable import unlike_host_rules
from flashwatt.report.doubts import NOT_STEADY, TOO_SHORT, is_wide, legend, marks_of_quantile
from flashwatt.report.table import show

if TYPE_CHECKING:
    from pathlib import Path

ONE_DIE = {"device": {"preset": "x25m", "channels": 1, "ways": 1, "logical_bytes": 64 << 20, "op_ratio": 5 / 64}}
WRITE_NS = 982_000  # 82 µs over the bus, 900 µs of programming
SMALL = {"device": {"preset": "x25m", "channels": 2, "ways": 2, "logical_bytes": 64 << 20, "op_ratio": 0.25}}


def page(report: flashwatt.Report) -> str:
    """Give a report as the terminal shows it."""
    stream = io.StringIO()
    show(report.to_dict(), Console(file=stream, width=100))
    return stream.getvalue()


@pytest.fixture(name="flushed")
def _flushed(tmp_path: Path) -> flashwatt.Report:
    """Two origins: one writes a page and flushes while it is in the buffer, the other writes two pages later."""
    trace = tmp_path / "flush.csv"
    rows = ("0,0,W,0,4096", "0,0,F,0,0", "10000,7,W,8192,8192")
    trace.write_text("time_us,device,op,offset,bytes\n" + "".join(f"{row}\n" for row in rows))
    return flashwatt.run(ONE_DIE, workload__trace__path=trace, write_buffer__bytes=1 << 20, latency=True)


def test_flushes_have_a_latency_of_their_own(flushed: flashwatt.Report) -> None:
    """The flush waits for the page in the buffer: its transfer and its program."""
    flush = flushed.latency_ns.flush
    assert flush is not None
    assert (flush.count, flush.min, flush.max) == (1, WRITE_NS, WRITE_NS)
    first, second = flushed.origins or []
    assert (first.latency_ns.flush, second.latency_ns.flush) == (flush, None)
    assert flushed.latency().filter(kind="flush")["count"].to_list() == [1]
    shown = page(flushed)
    assert "flush p99" in shown
    assert "flush" in flushed._repr_html_()
    compared = flashwatt.compare({"a": flushed, "b": flushed}, only=["latency_ns.flush.p99"])
    assert [row.name for row in compared.figures()] == ["flush latency, p99"]


def test_without_flushes_there_is_no_such_figure() -> None:
    report = flashwatt.run(SMALL, workload__uniform__requests=100)
    assert report.latency_ns.flush is None
    assert "flush" not in report.to_dict()["latency_ns"]


def test_rates_by_origin_add_up(flushed: flashwatt.Report) -> None:
    first, second = flushed.origins or []
    through, window_s = flushed.throughput, flushed.throughput.simulated_s
    assert (first.iops, first.write_mb_s) == pytest.approx((2 / window_s, 4096e-6 / window_s))
    assert first.iops is not None
    assert second.iops is not None
    assert first.iops + second.iops == pytest.approx(through.iops, rel=1e-12)
    assert (first.write_mb_s or 0) + (second.write_mb_s or 0) == pytest.approx(through.write_mb_s, rel=1e-12)


@pytest.fixture(name="early", scope="module")
def _early() -> flashwatt.Report:
    """A drive whose writes are still under way when the window ends."""
    return flashwatt.run(
        SMALL, run={"precondition": "empty", "measure": {"requests": 100}}, workload__uniform__queue_depth=64
    )


def test_a_figure_that_is_not_steady_is_marked_where_it_stands(early: flashwatt.Report) -> None:
    marked = f"{early.flash.write_amplification:.3f}{NOT_STEADY}"
    assert early.not_steady
    assert "flash.write_amplification" in early.not_steady[0].keys
    shown = page(early)
    assert marked in shown
    assert f"{NOT_STEADY} not steady" in shown
    card = early._repr_html_()
    assert f"{early.flash.write_amplification:.2f}{NOT_STEADY}" in card
    assert "not steady, a longer run" in card
    compared = flashwatt.compare({"early": early, "again": early})
    assert marked in repr(compared)
    assert f"{NOT_STEADY} not steady" in repr(compared)
    assert r"\dag{}" in compared.to_latex()
    assert compared.to_latex().isascii()
    assert NOT_STEADY in compared._repr_html_()


def test_a_steady_run_has_no_mark() -> None:
    calm = flashwatt.run(SMALL, workload__uniform={"requests": 2000, "rate_per_s": 100}, run__count_drain=True)
    assert calm.not_steady is None
    assert NOT_STEADY not in page(calm)
    assert NOT_STEADY not in repr(flashwatt.compare({"a": calm, "b": calm}))


def test_points_of_a_sweep_are_marked() -> None:
    base = {**SMALL, "run": {"precondition": "empty", "measure": {"requests": 100}}}
    results = flashwatt.sweep({"workload.uniform.queue_depth": [32, 64]}, base=base, workers=1)
    from flashwatt.sweeps.summary import show_summary

    stream = io.StringIO()
    show_summary(results, Console(file=stream, width=160), ["flash.write_amplification"])
    assert NOT_STEADY in stream.getvalue()
    assert "not steady" in stream.getvalue()
    assert r"\dag{}" in results.to_latex(["flash.write_amplification"])


@pytest.mark.parametrize(
    ("count", "name", "short"),
    [(499, "p99", True), (500, "p99", False), (99, "p95", True), (4999, "p99_9", True), (0, "p99", False)],
)
def test_a_quantile_of_few_requests_is_too_short(count: int, name: str, short: bool) -> None:
    assert bool(marks_of_quantile(count, name)) is short


def test_wide_intervals_and_legends() -> None:
    assert is_wide(967, 967 * 1.67)
    assert not is_wide(967, 96.7)
    assert not is_wide(None, None)
    assert [line[0] for line in legend([TOO_SHORT, NOT_STEADY])] == [NOT_STEADY, TOO_SHORT]
    assert legend([""]) == []


def on_host(**host: Any) -> flashwatt.Report:
    """Run some requests through a block layer."""
    return flashwatt.run(SMALL, host=host, workload__uniform__requests=50)


def test_rules_beside_the_order_of_requests_are_named() -> None:
    """cfq waits for a flush, mq_deadline does not; the key that makes them equal is named."""
    runs = {"old": on_host(scheduler="cfq"), "new": on_host(scheduler="mq_deadline")}
    found = [text for text in flashwatt.compare(runs).warnings() if "host.flush" in text]
    assert len(found) == 1
    assert '(host.flush: "drain" for cfq, "pass" for mq_deadline)' in found[0]
    assert 'set host.flush = "drain"' in found[0]
    same = {name: on_host(scheduler=name, flush="pass") for name in ("cfq", "mq_deadline")}
    assert not [text for text in flashwatt.compare(same).warnings() if "host.flush" in text]


def test_a_rule_that_is_varied_on_purpose_is_no_difference() -> None:
    varied = {rule: on_host(scheduler="cfq", flush=rule) for rule in ("drain", "pass")}
    configs = {label: one.config for label, one in varied.items()}
    assert unlike_host_rules(configs) == []
    assert unlike_host_rules({"none": {}}) == []


def test_host_rotational_follows_the_drive() -> None:
    """A disk says that it rotates, an SSD does not, and a grid of schedulers over a disk may say it."""
    from flashwatt.config.config import Config

    def rotates(preset: str, **host: Any) -> bool:
        found: bool = Config("").override(device__preset=preset, host=host).resolve()["host"]["rotational"]
        return found

    disk = "caviar-80g"
    assert rotates(disk, scheduler="bfq")
    assert not rotates(disk, scheduler="bfq", rotational=False)
    assert not rotates("x25m", scheduler="bfq")
    for scheduler in ("none", "noop", "mq_deadline", "cfq", "bfq", "kyber"):
        assert rotates(disk, scheduler=scheduler, rotational=True)
    with pytest.raises(flashwatt.FlashwattError, match=r"host\.rotational.*no effect"):
        rotates("x25m", scheduler="none", rotational=True)
