"""A chart: its definition, and the files that it can be saved as."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.outputs import save
from flashwatt.base.painter import paint
from flashwatt.base.plain import plain, plain_tree
from flashwatt.plot.style import FAINT, FONT, INK, styled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

_WIDTH = 860
_PNG_SCALE = 2.0  # sharp on today's screens
_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])  # the one that Altair writes
_LEGENDS = {"bottom": {"direction": "vertical", "anchor": "start", "margin": 10}}
"""Several below a chart stand below one another: side by side they are wider than a phone."""
_GLOBALS = "window.vegaEmbed = vegaEmbed;"


@dataclass(frozen=True)
class Chart:
    """A picture that is drawn when it is saved or shown; a notebook shows it by itself."""

    title: str
    subtitle: tuple[str, ...]
    draw: Callable[[Any], alt.Chart | alt.LayerChart]
    """Makes the Altair chart for a width: pixels, or "container" on a page."""

    def save(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Write the chart in the format that the suffix names: .html, .svg, .png or .pdf; give its path.

        Raises `FlashwattError` for another suffix, for a directory that is not there, and, without `force`, for a file
        that is there and is no picture of this program's.
        """
        path = Path(path)
        content = self.content(path)
        save(path, content, marks.PICTURES[path.suffix], force=force)
        return path

    def content(self, path: Path) -> bytes:
        """Draw the content of a file of that name, by its suffix. Raises `FlashwattError` for an unknown suffix."""
        if path.suffix == ".html":
            return document(self.title, [self], alone=True)
        if path.suffix == ".svg":
            return marks.svg(self.svg()).encode()
        if path.suffix == ".png":
            return marks.png(paint("vegalite_to_png", self.spec(), vl_version=_VEGA_LITE, scale=_PNG_SCALE))
        if path.suffix == ".pdf":
            return marks.pdf(paint("vegalite_to_pdf", self.spec(), vl_version=_VEGA_LITE))
        found = f"{path}: no format of a chart; found `{path.suffix}`"
        raise _core.FlashwattError(f"{found}; expected one of `.html`, `.svg`, `.png`, `.pdf`")

    def svg(self) -> str:
        """The chart as SVG."""
        return _slim(paint("vegalite_to_svg", self.spec(), vl_version=_VEGA_LITE).decode())

    def spec(self, width: Any = _WIDTH) -> dict[str, Any]:
        """The chart's Vega-Lite; titled, unless the page around it does that (a width of "container")."""
        chart = styled(self.draw(width))
        if width != "container":
            chart = chart.properties(title=alt.TitleParams(self.title, subtitle=list(self.subtitle)))
        spec: dict[str, Any] = plain_tree(chart.to_dict())  # names are any text, and control characters are no XML
        spec["config"]["legend"]["layout"] = _LEGENDS  # for which Altair has no words
        return spec

    def _repr_svg_(self) -> str:
        return self.svg()


def write_page(path: str | PathLike[str], title: str, charts: Sequence[Chart], *, force: bool = False) -> Path:
    """Write charts below one another as one interactive page that needs no network; give its path.

    Raises `FlashwattError` as `Chart.save` does.
    """
    path = Path(path)
    save(path, document(title, charts, alone=len(charts) == 1), marks.PAGE, force=force)
    return path


def document(title: str, parts: Sequence[Chart | str], *, style: str = "", alone: bool = False) -> bytes:
    """Write charts, and the HTML between them, as one page; a chart that is `alone` has the page's title."""
    charts = [part for part in parts if isinstance(part, Chart)]
    numbers = count()
    body = "\n".join(part if isinstance(part, str) else _figure(next(numbers), part, alone=alone) for part in parts)
    # "</" would end the script element early if a name in a report held it.
    specs = json.dumps([chart.spec("container") for chart in charts], ensure_ascii=False, separators=(",", ":"))
    page = _PAGE.format(
        title=html.escape(plain(title)),
        body=plain(body, keep="\n\t"),
        generator=marks.META,
        library=_library(),
        specs=specs.replace("</", "<\\/"),
        style=style,
        ink=INK,
        faint=FAINT,
        font=FONT,
    )
    return page.encode()


@cache
def _library() -> str:
    """The JavaScript that draws on a page; it takes seconds to put together."""
    return paint("javascript_bundle", _GLOBALS, vl_version=_VEGA_LITE).decode()


def _figure(at: int, chart: Chart, *, alone: bool) -> str:
    heading = "" if alone else f"<h2>{html.escape(chart.title)}</h2>\n"
    subtitle = " ".join(html.escape(line) for line in chart.subtitle)
    return f'<section>\n{heading}<p>{subtitle}</p>\n<div class="chart" id="chart{at}"></div>\n</section>'


def _slim(svg: str) -> str:
    """Round the coordinates of paths to a tenth of a pixel: smaller, and no eye can tell."""
    return re.sub(r' d="[^"]*"', lambda path: re.sub(r"\d+\.\d\d+", lambda x: f"{float(x[0]):.1f}", path[0]), svg)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{generator}
<title>{title}</title>
<style>
body {{ margin: 0; padding: 16px; font-family: {font}; color: {ink}; background: white; }}
main {{ max-width: 1280px; margin: auto; }}
h2 {{ font-size: 1rem; margin: 1.4rem 0 .3rem; padding: 0 12px; }}
h1 {{ font-size: 1.15rem; margin: 0 0 .3rem; padding: 0 12px; }}
p {{ font-size: .9rem; margin: 0; padding: 0 12px; color: {faint}; overflow-wrap: anywhere; }}
.chart {{ width: 100%; padding-right: 0 !important; }}
{style}</style>
<script>{library}</script>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
<script>
const actions = {{ export: true, source: false, editor: false, compiled: false }};
// A chart is laid out for its width once more: rows of a legend, which depend on it, change the height.
const settle = view => view.resize().runAsync();
const drawn = ({{ view }}) => {{
  settle(view);
  view.addSignalListener("width", () => setTimeout(settle, 0, view));
}};
{specs}.forEach((spec, at) => vegaEmbed("#chart" + at, spec, {{ renderer: "svg", actions }}).then(drawn));
</script>
</body>
</html>
"""
