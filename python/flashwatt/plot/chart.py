"""A chart: its definition, and the files that it can be saved as."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashwatt import _core
from flashwatt.base import marks
from flashwatt.base.outputs import save
from flashwatt.base.painter import paint
from flashwatt.base.plain import plain, plain_tree
from flashwatt.base.scripts import explained
from flashwatt.plot.library import VEGA_LITE, library
from flashwatt.plot.style import DOMAIN, FAINT, FONT, GRID, INK, Look, canvas, check, styled, title_of
from flashwatt.plot.ticks import tell_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike

    from flashwatt.plot.style import Canvas, Palette

_PNG_SCALE = 2.0  # sharp on today's screens
_LEGENDS = {"bottom": {"direction": "vertical", "anchor": "start", "margin": 10}}
"""Several below a chart stand below one another: side by side they are wider than a phone."""
_NIGHT = "#16191f"
_DARK = {INK: "#e3e7ed", FAINT: "#a2adbd", GRID: "#2b313b", DOMAIN: "#566172", "white": _NIGHT}
"""The greys of a page whose reader's system is dark, by those of a bright one."""


@dataclass(frozen=True)
class Chart:
    """A picture that is drawn when it is saved or shown; a notebook shows it by itself."""

    title: str
    subtitle: tuple[str, ...]
    draw: Callable[[Canvas], Any]
    """Makes the Altair chart for a canvas."""
    hint: str = ""
    """What only a page can do; it is said only there."""
    look: Look = field(default_factory=Look)
    """The options of `restyle`."""

    def __post_init__(self) -> None:
        """Raise `FlashwattError` for options that no picture can have."""
        check(self.look)

    def restyle(
        self,
        *,
        width: float | None = None,
        height: float | None = None,
        font_size: float | None = None,
        title: str | None = "",
        palette: Palette | None = None,
    ) -> Chart:
        """Give the same chart in another size and style; options that are left out stay as they are.

        `width` and `height` are those of the whole file: points in a PDF (a column of a paper is about 252), pixels in
        an SVG, half-pixels in a PNG; 884 wide unless given. A page is as wide as its window, up to `width`; `height` is
        that of the plot there. `font_size` is that of the labels, in the same unit: 12 unless given, less in a picture
        below 360, 8 at least. `title` replaces title and subtitle; None leaves both out; a picture
        below 360 has no subtitle. `palette` is one of "default",
        "colorblind" (the colours of Okabe and Ito) and "grey", which also gives lines different strokes. Every
        function of `flashwatt.plot` takes the same options. Raises `FlashwattError` for one out of range.
        """
        new: Look = {**self.look}
        if width is not None:
            new["width"] = width
        if height is not None:
            new["height"] = height
        if font_size is not None:
            new["font_size"] = font_size
        if title != "":
            new["title"] = title
        if palette is not None:
            new["palette"] = palette
        return replace(self, look=new)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Write the chart in the format that the suffix names: .html, .svg, .png or .pdf; give its path.

        Raises `FlashwattError` for another suffix, for a directory that is not there, and, without `force`, for a file
        that is there and is no picture of this program's.
        """
        path = Path(path)
        content = self.content(path)
        with explained():
            save(path, content, marks.PICTURES[path.suffix], force=force)
        return path

    def content(self, path: Path) -> bytes:
        """Draw the content of a file of that name, by its suffix. Raises `FlashwattError` for an unknown suffix."""
        if path.suffix == ".html":
            return document(self.title, [self], alone=True)
        if path.suffix == ".svg":
            return marks.svg(self.svg()).encode()
        if path.suffix == ".png":
            return marks.png(paint("vegalite_to_png", self.spec(), vl_version=VEGA_LITE, scale=_PNG_SCALE))
        if path.suffix == ".pdf":
            return marks.pdf(paint("vegalite_to_pdf", self.spec(), vl_version=VEGA_LITE))
        found = f"{path}: no format of a chart; found `{path.suffix}`"
        raise _core.FlashwattError(f"{found}; expected one of `.html`, `.svg`, `.png`, `.pdf`")

    @property
    def description(self) -> str:
        """The picture in words, for those who cannot see it: its title and subtitle."""
        return " ".join(f"{line.rstrip('.')}." for line in (self.look.get("title") or self.title, *self.subtitle))

    def svg(self) -> str:
        """The chart as SVG."""
        svg = _slim(paint("vegalite_to_svg", self.spec(), vl_version=VEGA_LITE).decode())
        said = html.escape(plain(self.description), quote=True)
        return svg.replace("<svg ", f'<svg role="img" aria-label="{said}" ', 1)

    def spec(self, *, page: bool = False) -> dict[str, Any]:
        """The chart's Vega-Lite; titled, unless it is part of a `page`, which has its own title."""
        on = canvas(self.look, page=page)
        chart = styled(self.draw(on), on)
        title = None if page else title_of(self.look, self.title, self.subtitle, on)
        if title:
            chart = chart.properties(title=title)
        spec: dict[str, Any] = plain_tree(chart.to_dict())  # names are any text, and control characters are no XML
        tell_values(spec)
        spec["config"]["legend"]["layout"] = _LEGENDS  # for which Altair has no words
        return spec

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        """The SVG as an image with an alternative text, which notebooks and their exports take first."""
        said = html.escape(plain(self.description), quote=True)
        return f'<img alt="{said}" src="data:image/svg+xml;base64,{b64encode(self.svg().encode()).decode()}">'


def write_page(path: str | PathLike[str], title: str, charts: Sequence[Chart], *, force: bool = False) -> Path:
    """Write charts below one another as one interactive page that needs no network; give its path.

    Raises `FlashwattError` as `Chart.save` does.
    """
    if isinstance(charts, Chart):
        raise _core.FlashwattError("charts: found one Chart; expected a list: [chart]")
    path = Path(path)
    with explained():
        save(path, page(title, charts), marks.PAGE, force=force)
    return path


def page(title: str, charts: Sequence[Chart]) -> bytes:
    """Draw the content of a page with charts below one another."""
    return document(title, charts, alone=len(charts) == 1)


def document(title: str, parts: Sequence[Chart | str], *, style: str = "", alone: bool = False) -> bytes:
    """Write charts, and the HTML between them, as one page; a chart that is `alone` has the page's title."""
    charts = [part for part in parts if isinstance(part, Chart)]
    numbers = count()
    body = "\n".join(part if isinstance(part, str) else _figure(next(numbers), part, alone=alone) for part in parts)
    # A name may hold "</script>", which would end the element, or "<!--<script>", which would swallow its end.
    specs = json.dumps([chart.spec(page=True) for chart in charts], ensure_ascii=False, separators=(",", ":"))
    page = _PAGE.format(
        title=html.escape(plain(title)),
        body=plain(body, keep="\n\t"),
        generator=marks.META,
        library=library(),
        specs=specs.replace("<", "\\u003c"),
        style=style,
        ink=INK,
        faint=FAINT,
        font=FONT,
        dark=json.dumps(_DARK),
        dark_ink=_DARK[INK],
        dark_faint=_DARK[FAINT],
        night=_NIGHT,
    )
    return page.encode()


def _figure(at: int, chart: Chart, *, alone: bool) -> str:
    title, subtitle = chart.look.get("title", chart.title), " ".join(chart.subtitle)
    heading = "" if alone or not title else f"<h2>{html.escape(title)}</h2>\n"
    words = "" if "title" in chart.look else html.escape(subtitle)
    hint = f' <span class="hint">{html.escape(chart.hint)}</span>' if chart.hint else ""
    said, width = html.escape(chart.description, quote=True), chart.look.get("width")
    style = f' style="max-width: {width:g}px"' if width else ""
    figure = f'<div class="chart" id="chart{at}" role="img" aria-label="{said}"{style}></div>'
    return f"<section>\n{heading}<p>{words}{hint}</p>\n{figure}\n</section>"


def both_schemes(svg: str) -> str:
    """Give an SVG of this program for light and for dark pages: without a background, in the greys of the page."""
    clear = "rect[fill=white]{fill:none}"  # again in dark pages, whose rule for white fills it
    rules = [f'[{name}="{bright}"]{{{name}:{dark}}}' for bright, dark in _DARK.items() for name in ("fill", "stroke")]
    style = f"<style>{clear}@media (prefers-color-scheme:dark){{{''.join(rules)}{clear}}}</style>"
    return svg if "<style>" in svg else re.sub(r"(<svg\b[^>]*>)", lambda tag: tag[1] + style, svg, count=1)


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
{style}
@media (hover: none) {{ .hint {{ display: none; }} }}
@media (prefers-color-scheme: dark) {{
  :root {{ color-scheme: dark; }}
  body {{ color: {dark_ink}; background: {night}; }}
  p {{ color: {dark_faint}; }}
}}
</style>
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
const specs = {specs}, dark = {dark}, night = matchMedia("(prefers-color-scheme: dark)");
// Colours as a dark page has them: every text in the chart's definition that is one of the bright page's greys.
const tinted = part => typeof part === "string" ? dark[part] ?? part
  : Array.isArray(part) ? part.map(tinted)
  : part && typeof part === "object" ? Object.fromEntries(Object.entries(part).map(([key, value]) =>
      [key, key === "datasets" ? value : tinted(value)]))
  : part;
const draw = () => specs.forEach((spec, at) =>
  vegaEmbed("#chart" + at, night.matches ? tinted(spec) : spec, {{ renderer: "svg", actions }}).then(drawn));
night.addEventListener("change", draw);
draw();
</script>
</body>
</html>
"""
