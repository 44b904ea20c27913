"""The line after a command that names the next step: on a terminal only, and not with --json or --quiet."""

from __future__ import annotations

import shlex
import sys
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from flashwatt.cli.terminal import quiet_is_on

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Options = Mapping[str, Any]


def follow(command: click.Command, name: str = "") -> None:
    """Let a command, or every command of a group, end by naming its next step."""
    name = f"{name} {command.name}".strip()
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            follow(inner, name)
    elif command.callback and name in _STEPS:
        command.callback = _followed(command.callback, _STEPS[name])


def _followed(callback: Callable[..., Any], step: Callable[[Options], str]) -> Callable[..., Any]:
    @wraps(callback)
    def whole(*values: Any, **options: Any) -> Any:
        result = callback(*values, **options)
        if _is_wanted(options):
            click.secho(f"next: {step(options)}", dim=True, err=True)
        return result

    return whole


def _is_wanted(options: Options) -> bool:
    """Whether a person reads the output, of this command and not of one that invoked it."""
    parent = click.get_current_context().parent
    is_whole = parent is not None and isinstance(parent.command, click.Group)
    read = sys.stdout.isatty() and sys.stderr.isatty()
    return is_whole and read and not options.get("as_json") and not quiet_is_on()


def _quoted(path: object) -> str:
    return shlex.quote(str(path))


def _after_run(options: Options) -> str:
    out = options["out"]
    if out is None:
        return "--series --out DIR keeps the report and draws power over time; flashwatt explain KEY describes a figure"
    page = next((name for key, name in (("series", "power"), ("edges_ms", "current")) if options[key]), None)
    other = f"flashwatt compare {_quoted(out)} OTHER lays a second run beside it"
    return f"open {_quoted(out / f'{page}.html')}; {other}" if page else other


def _after_price(options: Options) -> str:
    if options["kwh_price"] is not None:
        return "flashwatt explain efficiency.kwh_per_month says what a month is"
    new = _quoted(options["out"]) if options["out"] else "DIR"
    kept = "" if options["out"] else "--out DIR keeps it; "
    return f"{kept}flashwatt compare {_quoted(options['report'])} {new}"


def _after_inspect(options: Options) -> str:
    return f"flashwatt run {_quoted(options['config'])} shows what the drive makes of these files"


def _after_age(options: Options) -> str:
    setting = f'run.precondition.snapshot="{options["out"]}"'
    return f"flashwatt run {_quoted(options['config'])} --set {_quoted(setting)}"


def _after_crash(options: Options) -> str:
    if options["plot"]:
        return f"open {_quoted(options['plot'])}"
    kept = "" if options["out"] else "-o FILE.json keeps every cut; "
    again = "" if options["twice"] else "; --twice cuts during the recoveries, too"
    return f"{kept}--plot FILE.html draws the recoveries{again}"


def _after_trace(options: Options) -> str:
    files = " ".join(map(_quoted, options["files"]))
    return f"flashwatt run {files}; flashwatt trace plot {files} --out DIR"


def _after_plot(options: Options) -> str:
    files = " ".join(map(_quoted, options["files"]))
    return f"open {_quoted(options['out'] / 'trace.html')}; flashwatt run {files}"


def _after_convert(options: Options) -> str:
    return f"flashwatt run {_quoted(options['out'])}"


def _after_fit(options: Options) -> str:
    setting = f'workload.standin.path="{options["out"]}"'
    return f"flashwatt run --set {_quoted(setting)}"


def _after_sweep(options: Options) -> str:
    out = _quoted(options["out"])
    return f"open {_quoted(options['out'] / 'tradeoff.html')}; in Python, flashwatt.Results.read({out!r})"


def _after_pack(options: Options) -> str:
    return f"flashwatt unpack {_quoted(options['archive'])} --check --rerun"


def _after_unpack(options: Options) -> str:
    if options["check"]:
        return f"flashwatt unpack {_quoted(options['archive'])} DIR keeps the files"
    if not options["rerun"]:
        return f"flashwatt unpack {_quoted(options['archive'])} {_quoted(options['to'])} --rerun"
    return (
        f"flashwatt sweep {_quoted(options['to'] / 'study.toml')} --out {_quoted(options['to'] / 'rerun')} prints them"
    )


def _after_dio(options: Options) -> str:
    if options["out"] is None:
        return "--out DIR keeps the result and draws it; flashwatt compare lays several side by side"
    out = _quoted(options["out"])
    page = _quoted(options["out"] / "dio.html")
    return f"open {page}; flashwatt compare {out} OTHER; flashwatt compare {out} --battery 50"


def _after_battery(_options: Options) -> str:
    return "--wh WH is another battery; flashwatt compare REPORT OTHER lays results side by side"


def _after_compare(options: Options) -> str:
    if options["html"]:
        return f"open {_quoted(options['html'])}"
    return "--html FILE draws the comparison; --only KEY,KEY chooses figures"


def _after_reproduce(options: Options) -> str:
    return f"open the papers' pages in {_quoted(options['out'])}"


def _after_list(options: Options) -> str:
    if options["kind"] is None:
        return "flashwatt list KIND"
    if options["kind"] == "experiments":
        return "flashwatt reproduce ID"
    if options["kind"] == "presets":
        return "flashwatt run --preset NAME; flashwatt explain NAME"
    return f"flashwatt list {options['kind']} NAME" if options["name"] is None else "--set KEY=VALUE of a run"


def _after_explain(options: Options) -> str:
    from flashwatt.config.reference import keys, presets

    if options["name"] in presets():
        return f"flashwatt run --preset {options['name']}; flashwatt init {options['name']} --out drive.toml"
    if options["name"] in keys():
        return f"flashwatt run --preset NAME --set {options['name']}=VALUE"
    return "flashwatt run --preset NAME --json prints every figure"


def _after_init(options: Options) -> str:
    return (
        f"flashwatt run {_quoted(options['out'])}"
        if options["out"]
        else "--out FILE keeps it, beside a schema for editors"
    )


def _after_tune(options: Options) -> str:
    config = _quoted(options["config"] or "CONFIG.toml")
    return f"put the lines into {config}; flashwatt run {config}"


def _after_calibrate(options: Options) -> str:
    if options["out"]:
        return f"flashwatt run {_quoted(options['out'] / 'calibrated.toml')}"
    return "--out DIR keeps the calibrated preset; --hold-out 1 predicts every row from the others"


def _after_model(_options: Options) -> str:
    return "flashwatt run --preset NAME simulates a drive; --json prints these figures for a program"


def _after_power(_options: Options) -> str:
    return "flashwatt run --preset NAME --series --out DIR draws the power of a run over time"


_STEPS: dict[str, Callable[[Options], str]] = {
    "run": _after_run,
    "price": _after_price,
    "age": _after_age,
    "crash": _after_crash,
    "trace info": _after_trace,
    "trace plot": _after_plot,
    "trace convert": _after_convert,
    "standin fit": _after_fit,
    "fs inspect": _after_inspect,
    "dio": _after_dio,
    "battery": _after_battery,
    "sweep": _after_sweep,
    "pack": _after_pack,
    "unpack": _after_unpack,
    "compare": _after_compare,
    "reproduce": _after_reproduce,
    "tune pardispatcher": _after_tune,
    "calibrate": _after_calibrate,
    "list": _after_list,
    "explain": _after_explain,
    "init": _after_init,
    "model mapping-memory": _after_model,
    "model power": _after_power,
    "model rftl": _after_model,
    "model write-amplification": _after_model,
}
"""By the words of the command. `version` and `schema` end a task, `try` prints its own."""
