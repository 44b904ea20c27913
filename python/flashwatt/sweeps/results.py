"""The results of a sweep: reports, a frame with a row for each run, means over seeds, the best compromises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import polars as pl

from flashwatt import _core
from flashwatt.base.files import parse_json, printable
from flashwatt.base.frames import column
from flashwatt.base.labels import Labels
from flashwatt.base.literals import label, shown
from flashwatt.base.missing import unread
from flashwatt.base.misspelt import known
from flashwatt.base.units import setting
from flashwatt.report.doubts import mark, united
from flashwatt.report.earlier import read_as_today
from flashwatt.report.keys import figures, is_figure, meanings
from flashwatt.report.metrics import HEADLINES, OF_CUTS, OF_FILES, flat, listed, listed_parts
from flashwatt.report.report import Report
from flashwatt.report.sections import copied
from flashwatt.sweeps.journal import Journal
from flashwatt.sweeps.precise import precision_of
from flashwatt.sweeps.statistics import pareto, student_t

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike

    from flashwatt.base.files import Json
    from flashwatt.report.metrics import Listed


class Result(NamedTuple):
    """One run of a sweep."""

    point: dict[str, Any]
    """Its values of the grid's keys."""
    seed: int
    report: Report


class Results:
    """The runs of a sweep in the order of its grid; iterating gives a `Result` for each."""

    def __init__(self, lines: Iterable[tuple[dict[str, Any], bytes]]) -> None:
        """Take points and lines as in results.jsonl; the lines are parsed when they are needed."""
        self._lines = list(lines)
        self._frame: pl.DataFrame | None = None
        self._ids: list[str] = []

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Results:
        """Read a results.jsonl, or the one in a directory; a last line that is torn, or not yet whole, is left out."""
        path = _journal_file(Path(path))
        try:
            journal = Journal(path, only_read=True)
        except OSError as error:
            raise _core.FlashwattError(unread(path, error)) from None
        with closing(journal):
            return cls((_point(line, path), line) for line in journal)

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[Result]:
        for point, line in self._lines:
            content = _content(line)
            yield Result(copied(point), content["seed"], Report(content["report"]))

    def frame(self) -> pl.DataFrame:
        """One row for each run: the grid's keys, `seed`, `warnings` (how many), the report's figures by dotted keys."""
        return self._made().clone()

    def _made(self) -> pl.DataFrame:
        """The frame, made once."""
        if self._frame is None:
            contents = [_content(line) for _, line in self._lines]
            self._ids = [str(content["id"]) for content in contents]
            rows = [
                _row(point, content["seed"], content["report"])
                for (point, _), content in zip(self._lines, contents, strict=True)
            ]
            keys = dict.fromkeys(key for row in rows for key in row)
            self._frame = pl.DataFrame([column(key, [row.get(key) for row in rows]) for key in keys])
        return self._frame

    def _distinct(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame without rows that repeat a run at an equal point: one run counts once in statistics."""
        marked = frame.select(*self.keys, pl.Series("run id", self._ids, dtype=pl.String)).with_row_index("row")
        first = marked.unique([*self.keys, "run id"], keep="first")
        return frame[first["row"].sort()]

    def precision(self) -> pl.DataFrame:
        """One row for each run and figure of `run.measure.precision`: how well it is known.

        Columns: the grid's keys, `seed`, `ended_by`, `requests` (measured), `found_warmup` (requests), `figure`,
        `value`, `lower`, `upper`, `relative_error`; of a run with a baseline also `baseline`, `difference`, and
        `difference.lower`, `.upper` and `.relative_error`. Runs without a precision have no row.
        """
        return precision_of(self._lines_parsed())

    def _lines_parsed(self) -> Iterator[tuple[dict[str, Any], Json]]:
        return ((point, _content(line)) for point, line in self._lines)

    @property
    def keys(self) -> list[str]:
        """The keys of the grid."""
        return list(dict.fromkeys(key for point, _ in self._lines for key in point))

    def varies(self, key: str) -> bool:
        """Whether the runs have different values of a key of the grid."""
        return self._made()[key].n_unique() > 1

    @property
    def metrics(self) -> list[str]:
        """The figures that the runs have, by dotted keys."""
        columns = self._made().drop("seed", "warnings", *self.keys, strict=False)
        return [one.name for one in columns if one.dtype.is_numeric() and (one.count() or one.name in figures())]

    @property
    def headlines(self) -> tuple[str, ...]:
        """The figures that are shown unless others are asked for: of files and power cuts first, if there are some."""
        return (*(key for key in (*OF_FILES, *OF_CUTS) if key in self.metrics), *HEADLINES)

    @property
    def replicates(self) -> int:
        """The number of runs of a point, the largest if points differ in it."""
        runs = self._distinct(self._made())
        counts = runs.group_by(self.keys).len() if self.keys else runs.select(pl.len())
        return int(counts["len"].max() or 0)  # type: ignore[arg-type]

    def doubts(self, *, per_run: bool = False) -> Callable[[Mapping[str, Any], str], str]:
        """Give the marks (`†`, `‡`) of a figure in a row of `runs` or `summary`: those of any of its runs."""
        reports: dict[str, list[Json]] = {}
        for point, line in self._lines:
            content = _content(line)
            reports.setdefault(self._row_key(point, content["seed"] if per_run else None), []).append(content["report"])

        def of(row: Mapping[str, Any], key: str) -> str:
            there = reports.get(self._row_key(row, row.get("seed") if per_run else None), [])
            return united(*(mark(one, key) for one in there))

        return of

    def _row_key(self, row: Mapping[str, Any], seed: int | None) -> str:
        return repr([*(row.get(key) for key in self.keys), seed])

    def runs(self, metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """One row for each run: the grid's keys, `seed`, `status`, `warnings` (how many), and these figures.

        The figures are `headlines` unless given. Those in lists of tables are called by the names of these:
        `files.flows.NAME.latency_ns.p99`. A figure that no run has, as of a write buffer that no drive has, is None
        throughout. Raises `FlashwattError` for a name that no report can have.
        """
        metrics = self.headlines if metrics is None else metrics
        return self._with(metrics).select(*self.keys, "seed", "status", "warnings", *metrics)

    def _with(self, metrics: Sequence[str]) -> pl.DataFrame:
        """The frame with a column for each of these figures, known or not."""
        frame = self._made()
        in_lists = self._in_lists([name for name in metrics if name not in figures() and is_figure(name)])
        known("metrics", metrics, dict.fromkeys((*self.metrics, *figures(), *in_lists)), meanings=meanings())
        frame = frame.with_columns(*in_lists.values())
        missing = [pl.lit(None, pl.Float64).alias(name) for name in dict.fromkeys(metrics) if name not in frame.columns]
        return frame.with_columns(*missing)

    def _in_lists(self, names: Sequence[str]) -> dict[str, pl.Series]:
        """Columns of figures in lists of tables. Raises `FlashwattError` for a table that no report has."""
        if not names:
            return {}
        found: dict[str, None] = {}
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for _, line in self._lines:
            tree = listed(_content(line)["report"])
            found |= dict.fromkeys(tree)
            for name, values in columns.items():
                values.append(tree.get(name))
        for name in names:
            of, _, figure = cast("Listed", listed_parts(name))
            known("metrics", [name], [key for key in found if key.startswith(f"{of}.") and key.endswith(f".{figure}")])
        return {name: column(name, values) for name, values in columns.items()}

    def summary(self, metrics: Sequence[str] | None = None, *, confidence: float = 0.95) -> pl.DataFrame:
        """One row for each point of the grid: means over its seeds, with confidence.

        The figures are those of `runs`.

        Columns: the grid's keys; `runs`, the number of completed runs, which alone count; `warned`, the number of runs
        with warnings (`Report.warnings`); for each metric `METRIC.mean` and `METRIC.ci95` (the number is `confidence`
        in per cent): half the width of Student's interval for the mean, None for fewer than two runs. Raises
        `FlashwattError` for a name that no report can have.
        """
        metrics = self.headlines if metrics is None else metrics
        frame = self._distinct(self._with(metrics))
        suffix = f"ci{100 * confidence:g}"
        width = _ci_per_deviation(len(self), confidence)
        columns = [
            figure
            for name in metrics
            for column in [pl.col(name).cast(pl.Float64).filter(pl.col("status") == "complete")]
            for figure in (
                column.mean().alias(f"{name}.mean"),
                (column.std() * column.count().replace_strict(width, default=None)).alias(f"{name}.{suffix}"),
            )
        ]
        runs = (pl.col("status") == "complete").sum().alias("runs")
        warned = (pl.col("warnings") > 0).sum().alias("warned")
        if not self.keys:
            return frame.select(runs, warned, *columns)
        return frame.group_by(self.keys, maintain_order=True).agg(runs, warned, *columns)

    def differences(
        self, baseline: Mapping[str, Any], metrics: Sequence[str] | None = None, *, confidence: float = 0.95
    ) -> pl.DataFrame:
        """Compare points with others of the grid, run by run with the same seed (common random numbers).

        `baseline` gives values of one or more of the grid's keys, as `{"gc.policy": "greedy"}`. Each point is compared
        with the one that has these values and its own of all other keys. Points that have them already have no row.

        Columns: the grid's keys; `pairs`, the number of seeds for which both runs are complete; for each metric
        `METRIC.difference`, the mean of point − baseline, and `METRIC.difference.ci95`, half the width of Student's
        interval for it; `METRIC.ratio`, the geometric mean of point / baseline, with the bounds of its interval,
        `METRIC.ratio.low95` and `METRIC.ratio.high95`, from Student's interval for the mean of the logarithms. A ratio
        is None if a value is not above 0, an interval for fewer than two pairs. The 95 is `confidence` in per cent. If
        many points are compared, some of their intervals miss the truth: one in twenty at 95 %.

        Raises `FlashwattError` for a key or a value that the grid has not, or a name that no report can have.
        """
        from flashwatt.sweeps.paired import differences

        if not isinstance(baseline, Mapping):
            expected = 'expected a dictionary of keys of the grid: {"gc.policy": "greedy"}'
            raise _core.FlashwattError(f"baseline: found {shown(baseline)}; {expected}")
        metrics = self.headlines if metrics is None else metrics
        frame = self._distinct(self._with(metrics)).select(*self.keys, "seed", "status", *dict.fromkeys(metrics))
        return differences(frame, self.keys, _cells(dict(baseline)), metrics, confidence)

    def quantiles(
        self,
        kind: str = "read",
        quantiles: Sequence[float] = (0.5, 0.99, 0.999),
        *,
        confidence: float = 0.95,
        resamples: int = 2000,
        seed: int = 1,
    ) -> pl.DataFrame:
        """Quantiles of latency over all requests of a point's runs, with bootstrap intervals.

        `kind` is one of `Report.latency`: "read", "write" and so on. Runs are drawn, not requests, which depend on each
        other: of n runs n are drawn with replacement, `resamples` times, and the interval is that of the percentile
        method. It is too narrow for few runs: take ten seeds or more. `seed` is that of the drawing; the same seed
        gives the same interval.

        Columns: the grid's keys; `runs`, the complete ones, which alone count; `requests`; for each quantile
        `p99_9_ns` with the bounds `p99_9_ns.low95` and `p99_9_ns.high95` (None for fewer than two runs). Quantiles are
        bounds of the histogram's bins, at most 0.8 % above the exact ones.

        The sweep must have kept its histograms: `sweep(..., latency=True)`. Raises `FlashwattError` otherwise.
        """
        from flashwatt.sweeps import quantiles as pooled

        pooled.check(kind, quantiles, confidence, resamples)
        points: dict[str, tuple[dict[str, Any], dict[str, Json]]] = {}
        for point, line in self._lines:
            content = _content(line)
            cells = _cells(point)
            runs = points.setdefault(repr(cells), (cells, {}))[1]
            if content["report"]["status"] == "complete":
                runs[str(content["id"])] = pooled.histogram_of(content["report"], kind)
        rows = [
            {
                **cells,
                **pooled.row(list(runs.values()), quantiles, confidence=confidence, resamples=resamples, seed=seed),
            }
            for cells, runs in points.values()
        ]
        return pl.DataFrame([column(key, [row[key] for row in rows]) for key in (rows[0] if rows else ())])

    def labelled(self, labels: Mapping[str, Any] | Labels | None) -> Labels:
        """Take labels of keys, values and figures. Raises `FlashwattError` for one of something that is not here."""
        taken = labels if isinstance(labels, Labels) else Labels(labels)
        if taken:
            frame = self._made()
            there = {key: frame[key].unique(maintain_order=True).to_list() for key in self.keys}
            texts = {key: [setting(one) for one in values if one is not None] for key, values in there.items()}
            taken.check((*self.metrics, *figures()), texts)
        return taken

    def to_latex(
        self,
        metrics: Sequence[str] | None = None,
        *,
        confidence: float = 0.95,
        per_run: bool = False,
        labels: Mapping[str, Any] | Labels | None = None,
    ) -> str:
        r"""Give `summary`, or with `per_run` the runs, as a table in LaTeX (package booktabs): cells `$12.3 \pm 0.4$`.

        Each figure has one unit for its column, and each cell the digits of its own interval. `labels` renames heads
        and values: `{"gc.policy": "Collector", "cost_benefit": "cost-benefit"}`. Raises `FlashwattError` for a name
        that no report can have, and for a label of something that is not in the table.
        """
        from flashwatt.sweeps.table import points_table

        metrics = self.headlines if metrics is None else metrics
        called = self.labelled(labels)
        if per_run:
            return points_table(
                self.runs(metrics), self.keys, metrics, "one row for each run", called, doubts=self.doubts(per_run=True)
            )
        said = (
            f"means over {self.replicates} seeds, +- half of the {100 * confidence:g} % confidence interval (Student)"
        )
        return points_table(
            self.summary(metrics, confidence=confidence), self.keys, metrics, said, called, doubts=self.doubts()
        )

    def differences_to_latex(
        self,
        baseline: Mapping[str, Any],
        metrics: Sequence[str] | None = None,
        *,
        confidence: float = 0.95,
        labels: Mapping[str, Any] | Labels | None = None,
    ) -> str:
        """Give `differences` as a table in LaTeX (package booktabs): changes in per cent with their intervals.

        `labels` is that of `to_latex`.
        """
        from flashwatt.sweeps.table import differences_table

        metrics = self.headlines if metrics is None else metrics
        frame = self.differences(baseline, metrics, confidence=confidence)
        base = ", ".join(f"{key} = {value}" for key, value in baseline.items())
        said = f"change from {base}, paired by seed, [{100 * confidence:g} % confidence interval (Student)]"
        return differences_table(frame, self.keys, metrics, confidence, said, labels=self.labelled(labels))

    def pareto(self, *, minimize: Sequence[str] = (), maximize: Sequence[str] = ()) -> pl.DataFrame:
        """The points that no other point beats in the means of these metrics; rows as in `summary`."""
        means = self.summary([*minimize, *maximize])
        return pareto(means, minimize=[f"{x}.mean" for x in minimize], maximize=[f"{x}.mean" for x in maximize])

    def __repr__(self) -> str:
        return f"<Results: {len(self)} runs at {len(self.keys)} keys: {', '.join(self.keys)}>"

    def _repr_html_(self) -> str:
        from flashwatt.sweeps.summary import html_of

        return html_of(self)


def _journal_file(path: Path) -> Path:
    """Give the results.jsonl of a directory, or the file itself; a `FlashwattError` for a directory without one."""
    if not path.is_dir():
        return path
    if not (path / "results.jsonl").exists():
        kind = (
            "the report of one run, not results of a sweep" if (path / "report.json").exists() else "no results.jsonl"
        )
        expected = "expected a directory that `flashwatt sweep --out` wrote"
        raise _core.FlashwattError(f"{printable(path)}: {kind}; {expected}")
    return path / "results.jsonl"


def _point(line: bytes, path: Path) -> dict[str, Any]:
    """The point of a line of results.jsonl."""
    content = parse_json(line, printable(path))
    read_as_today(content["report"], f"{printable(path)}: task {str(content.get('id'))[:12]}")
    point: dict[str, Any] = content["point"]
    return point


def _content(line: bytes) -> Json:
    """A line of results.jsonl, whose report is brought into today's schema."""
    content: Json = json.loads(line)
    read_as_today(content["report"], "<report>")
    return content


def _row(point: dict[str, Any], seed: int, report: Json) -> dict[str, Any]:
    cells = {**_cells(point), "seed": seed, "warnings": len(report.get("warnings") or [])}
    # A report has a key of this name as well for some keys of the grid (`host.scheduler`): the grid says more.
    return {**cells, **{key: value for key, value in flat(report).items() if key not in cells}}


def _cells(point: dict[str, Any]) -> dict[str, Any]:
    """Values of the grid as a frame can hold them: tables and lists as text for people."""
    return {key: label(value) if isinstance(value, dict | list) else value for key, value in point.items()}


def _ci_per_deviation(most: int, confidence: float) -> dict[int, float]:
    """t(n − 1) / √n by n, the factor from the sample's standard deviation to half the interval's width."""
    return {n: student_t(confidence, n - 1) / n**0.5 for n in range(2, max(2, most) + 1)}
