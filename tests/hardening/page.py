"""The table of docs/reliability.md, written from figures.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hardening.figures import Figures
from hardening.rows import ROWS

FIGURES = Path(__file__).with_name("figures.json")
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"


def record(name: str, figures: Figures, scale: float) -> None:
    """Keep the figures of a row, and write the page's table again."""
    kept: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.exists() else {}
    kept[name] = {"summary": figures.summary, "breaches": len(figures.breaches), "scale": scale}
    ordered = {row.name: kept[row.name] for row in ROWS if row.name in kept}
    FIGURES.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), table(ordered)), encoding="utf-8")


def table(kept: dict[str, Any]) -> str:
    """Return the table of the rows: what is tried, what is wanted, and what was last measured."""
    lines = ["| row | what is tried | wanted | last figures |", "|---|---|---|---|"]
    for row in ROWS:
        lines.append(f"| `{row.name}` | {row.what} | {row.wanted} | {_last(kept.get(row.name))} |")
    return "\n".join(lines) + "\n"


def with_table(page: str, rows: str) -> str:
    """Return the page with this table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{rows}{END}{after}"


def _last(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return "not measured"
    breaches = f" **{entry['breaches']} or more breaches**" if entry["breaches"] else ""
    size = "" if entry["scale"] == 1 else f" (at {entry['scale']:g} of the full size)"
    return f"{entry['summary']}{size}{breaches}"
