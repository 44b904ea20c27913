"""Stand-ins of traces: the command, the library, and what a run makes of the file."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

import flashwatt as fw
from flashwatt import traces

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Cli


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace with twice as many writes as reads, most of them to a few pages."""
    draw, path = random.Random(1), tmp_path / "t.csv"
    lines = []
    for number in range(3000):
        kind, page = ("R", draw.randrange(4000)) if number % 3 == 0 else ("W", int(draw.paretovariate(0.5)) % 4000)
        lines.append(f"{number * 100},0,{kind},{page * 4096},{4096 if draw.random() < 0.8 else 16384}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_command_writes_a_stand_in_that_runs(flashwatt: Cli, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    done = flashwatt("standin", "fit", trace, "--out", out)
    assert done.returncode == 0, done.stderr
    for words in ("requests", "3,000", "writes that start in the most popular 10 pages", "trace", "stand-in"):
        assert words in done.stdout
    report = fw.run(workload__standin__path=str(out), device__preset="limit", device__blocks_per_plane=64)
    content = report.to_dict()
    assert content["status"] == "complete"
    workload = content["workload"]
    assert (workload["name"], workload["kind"], workload["requests"]) == ("mine", "standin", 3000)
    assert workload["reads"] == pytest.approx(1000, rel=0.1)
    assert workload["input_sha256"] is not None


def test_the_library_gives_the_figures_of_both(trace: Path) -> None:
    fitted = traces.fit_standin(trace)
    of_trace, of_standin = fitted["trace"], fitted["standin"]
    assert of_trace["reads"]["requests"] == 1000
    assert of_trace["writes"]["mean_kib"] == pytest.approx(4 + 0.2 * 12, rel=0.1)
    assert of_standin["writes"]["mean_kib"] == pytest.approx(of_trace["writes"]["mean_kib"], rel=0.1)
    assert of_standin["writes"]["top_percent"][1] == pytest.approx(of_trace["writes"]["top_percent"][1], abs=8)
    assert fitted["of_writes"]
    assert fitted["distance"] < 0.3
    assert "t.csv" in fitted["toml"]


def test_fewer_requests_are_fitted_if_asked_for(flashwatt: Cli, trace: Path, tmp_path: Path) -> None:
    done = flashwatt("standin", "fit", trace, "--requests", 1500, "--out", tmp_path / "mine.toml", "--json")
    fitted: dict[str, Any] = json.loads(done.stdout)
    assert fitted["trace"]["requests"] == fitted["standin"]["requests"] == 1500
    assert "toml" not in fitted


def test_an_edited_stand_in_is_kept(flashwatt: Cli, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    assert flashwatt("standin", "fit", trace, "--requests", 1000, "--out", out).returncode == 0
    assert flashwatt("standin", "fit", trace, "--requests", 1000, "--out", out).returncode == 0, "its own file"
    edited = out.read_text().replace("t.csv", "our mail server")
    out.write_text(edited)
    done = flashwatt("standin", "fit", trace, "--requests", 1000, "--out", out)
    assert done.returncode != 0
    assert "mine.toml" in done.stderr
    assert out.read_text() == edited
    assert flashwatt("standin", "fit", trace, "--requests", 1000, "--out", out, "--force").returncode == 0


def test_the_trace_is_never_replaced(flashwatt: Cli, trace: Path) -> None:
    before = trace.read_text()
    done = flashwatt("standin", "fit", trace, "--out", trace, "--force")
    assert done.returncode != 0
    assert trace.read_text() == before


def test_a_trace_of_trims_alone_is_refused(flashwatt: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "trims.csv"
    trace.write_text("0,0,T,0,4096\n1,0,T,4096,4096\n")
    done = flashwatt("standin", "fit", trace, "--out", tmp_path / "mine.toml")
    assert done.returncode != 0
    assert "no request to fit a stand-in to" in done.stderr
    assert not (tmp_path / "mine.toml").exists()
