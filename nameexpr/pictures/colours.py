"""The styles of pictures: one that takes its colours from the page, and one for paper.

Inside a page a picture has no background and the page's text colour, `currentColor`. Accents are mixed with
it: darker on light pages, lighter on dark ones, even if the page does not declare which it is. A picture that
is a separate document has a background, and is light or dark by `light-dark()`. A page can set each colour as
a CSS variable, such as `--nameexpr-open`. Programs that support none of this use the plain colour that
precedes each of these; `PLAIN` has only those colours, for conversion to PNG and PDF.
"""

from __future__ import annotations

from collections.abc import Mapping

FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
_PAGES = {"ink": ("#1b1f24", "#e6edf3"), "back": ("#ffffff", "#14181d")}
"""Text and background of a separate document, light and dark."""
_ACCENTS = {"open": "#1f78c8", "gone": "#c8641e", "limit": "#cf3040", "heat": "#e8743b"}
_RULES = """
.{p} text{{font-family:{font};{fill_ink}}}
.{p} .{p}-muted{{fill-opacity:.72}}
.{p} .{p}-strong{{font-weight:bold}}
.{p}-back{{fill:none}}
.{p}-box,.{p}-given-box{{{fill_ink};fill-opacity:.08;{stroke_ink};stroke-opacity:.55}}
.{p}-held{{fill:none;{stroke_ink};stroke-opacity:.7;stroke-dasharray:4 3}}
.{p}-result{{{fill_ink};fill-opacity:.06;{stroke_open};stroke-width:2.5}}
.{p}-derivative{{fill:none;{stroke_gone};stroke-width:1}}
.{p}-side{{fill:none;{stroke_ink};stroke-opacity:.55}}
.{p}-heat{{{fill_heat};stroke:none}}
.{p}-frame{{fill:none;{stroke_ink};stroke-opacity:.6;stroke-dasharray:1 3}}
.{p}-line{{fill:none;{stroke_ink};stroke-opacity:.6}}
.{p}-thin{{fill:none;{stroke_ink};stroke-opacity:.5;stroke-width:.5}}
.{p}-open{{fill:none;{stroke_open}}}
.{p}-tip{{{fill_open};stroke:none}}
.{p}-gone{{fill:none;{stroke_gone};stroke-dasharray:8 4}}
.{p}-joined{{fill:none;{stroke_gone}}}
.{p}-shared{{fill:none;{stroke_open}}}
.{p}-dot{{{fill_gone};stroke:none}}
.{p}-bar{{fill:none;{stroke_gone};stroke-width:2}}
.{p}-kept{{{fill_open};{stroke_open}}}
.{p}-passing{{fill:url(#{p}-stripes);{stroke_gone}}}
.{p}-given{{fill:url(#{p}-dots);{stroke_ink};stroke-opacity:.55}}
.{p}-limit{{fill:none;{stroke_limit};stroke-width:2;stroke-dasharray:2 3}}
.{p} .{p}-over{{{fill_limit};font-weight:bold}}
.{p}-stripe{{fill:none;{stroke_gone};stroke-width:2}}
.{p}-speck{{{fill_ink};fill-opacity:.6;stroke:none}}
"""
_ALONE = (
    ":root.{p}{{color-scheme:light dark;color:{ink[0]};color:light-dark({ink[0]},{ink[1]})}}\n"
    ":root.{p} .{p}-back{{fill:{back[0]};fill:light-dark({back[0]},{back[1]})}}\n"
)
_ON_PAPER = ".{p} .{p}-back{{fill:{back[0]}}}\n"


def _adaptive(name: str) -> str:
    """Return a colour that follows the page."""
    if name == "ink":
        return "var(--nameexpr-ink,currentColor)"
    return f"var(--nameexpr-{name},color-mix(in srgb,currentColor 30%,{_ACCENTS[name]}))"


def _declarations(*, is_plain: bool) -> dict[str, str]:
    """Return each colour as a fill and as a stroke, the plain colour first."""
    plain = {**_ACCENTS, "ink": _PAGES["ink"][0]}
    parts = {}
    for name, colour in plain.items():
        first = "currentColor" if name == "ink" and not is_plain else colour
        for what in ("fill", "stroke"):
            text = f"{what}:{first}" + ("" if is_plain else f";{what}:{_adaptive(name)}")
            parts[f"{what}_{name}"] = text
    return parts


RULES: Mapping[str, str] = {"rules": _RULES + _ALONE, **_declarations(is_plain=False)}
"""The declarations that `style` writes for pages."""
PLAIN: Mapping[str, str] = {"rules": _RULES + _ON_PAPER, **_declarations(is_plain=True)}
"""The declarations that `style` writes for paper."""


def style(prefix: str, rules: Mapping[str, str]) -> str:
    """Return a style sheet for a picture whose classes have this prefix."""
    return f"<style>{rules['rules'].format(p=prefix, font=FONT, **_PAGES, **rules)}</style>"
