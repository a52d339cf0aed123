"""The picture of memory over time: a bar for each step, from the top down.

The solid part of a bar is the memory still alive after the step, the striped part the memory that is freed
with it: values that are read for the last time, and what the step needs only while it runs. Operands are not
included, and have a separate dotted bar. A line marks the limit, if there is one.
"""

from __future__ import annotations

from nameexpr.pictures.data import Memory, Moment
from nameexpr.pictures.files import Picture
from nameexpr.pictures.sheet import MARGIN, Sheet
from nameexpr.pictures.words import bytes_text, flat, pixels, short

ROW = 26
BAR = 16
SCALE = 320
WORDS = 34
GAP = 10
FAR = 2.0
"""The ratio to the peak up to which a size is drawn to scale; larger ones are cut off."""


def draw_memory(memory: Memory) -> Picture:
    """Draw the memory that steps take."""
    said = [f"Operands take {memory.operands:,} bytes", *map(_summary, memory.moments)]
    said.append(f"The peak is {memory.peak:,} bytes")
    if memory.limit is not None:
        said.append(f"the limit is {memory.limit:,} bytes")
    sheet = Sheet(memory, "Memory", memory.title, ". ".join(said) + ".")
    sheet.needs_patterns = True
    names = ["operands", *(("  " * one.depth + short(one.title, 24)) for one in memory.moments)]
    details = ["", *(short(one.detail, WORDS) for one in memory.moments)]
    left = MARGIN + max(map(pixels, names)) + GAP
    left += max(pixels(one, 11) for one in details) + GAP if any(details) else 0
    scale = _Scale(memory, left)
    start = y = sheet.top + (26 if memory.limit is not None else 8)
    _operands(sheet, memory, scale, y)
    y += ROW + 8
    sheet.path([("M", MARGIN, y - 7), ("H", left + SCALE)], "thin")
    for moment, name, detail in zip(memory.moments, names[1:], details[1:], strict=True):
        sheet.begin(_summary(moment))
        indent = pixels("  " * moment.depth)
        sheet.text(MARGIN + indent, y + 12, name.strip(), "strong", "start")
        sheet.text(left - GAP, y + 12, detail, "muted", "end", 11)
        _bar(sheet, memory, moment, scale, y)
        sheet.end()
        y += ROW
    if memory.limit is not None:
        _limit(sheet, memory.limit, scale, start, y)
    _legend(sheet, memory, y + 10)
    return sheet.svg()


class _Scale:
    """Bytes to pixels. The limit fits unless it is far above the peak; likewise operands."""

    def __init__(self, memory: Memory, left: int) -> None:
        self.peak = memory.peak
        peak = max(self.peak, 1)
        shown = [size for size in (memory.limit or 0, memory.operands) if size <= FAR * peak]
        self.most, self.left = max(peak, *shown, 1), left

    def fits(self, size: int) -> bool:
        """Return whether a number of bytes can be drawn."""
        return size <= self.most

    def x(self, size: int) -> int:
        """Return the end of a bar of this number of bytes."""
        return self.left + min(SCALE, size * SCALE // self.most)


def _operands(sheet: Sheet, memory: Memory, scale: _Scale, y: int) -> None:
    sheet.begin(f"operands: {memory.operands:,} bytes")
    sheet.text(MARGIN, y + 12, "operands", "", "start")
    end = scale.x(memory.operands)
    sheet.rect(scale.left, y, end - scale.left, BAR, "given", 0)
    if not scale.fits(memory.operands):
        # Two strokes across the bar: it is longer than drawn.
        for x in (end - 24, end - 18):
            sheet.path([("M", x, y + BAR + 3), ("L", x + 8, y - 3)], "line", 1.5)
    sheet.text(scale.left + SCALE + GAP, y + 12, bytes_text(memory.operands), "", "start")
    sheet.end()


def _bar(sheet: Sheet, memory: Memory, moment: Moment, scale: _Scale, y: int) -> None:
    """Draw the bytes of a step: those that remain, followed by those that are freed."""
    stays, most = scale.x(moment.after), scale.x(moment.during)
    if stays > scale.left:
        sheet.rect(scale.left, y, stays - scale.left, BAR, "kept", 0)
    if most > stays:
        sheet.rect(stays, y, most - stays, BAR, "passing", 0)
    is_over = memory.limit is not None and moment.during > memory.limit
    is_peak = moment.during == scale.peak > 0
    words = bytes_text(moment.during) + (" over the limit" if is_over else " peak" if is_peak else "")
    kind = "over" if is_over else "strong" if is_peak else ""
    sheet.text(scale.left + SCALE + GAP, y + 12, words, kind, "start")


def _limit(sheet: Sheet, limit: int, scale: _Scale, top: int, bottom: int) -> None:
    """Draw the limit as a line, or note that it is further right."""
    words = f"limit {bytes_text(limit)}"
    if not scale.fits(limit):
        sheet.text(scale.left + SCALE, top - 10, words + " →", "over", "end")
        return
    x = scale.x(limit)
    sheet.path([("M", x, top - 6), ("V", bottom)], "limit")
    sheet.text(max(x, scale.left + pixels(words)), top - 10, words, "over", "end")


def _legend(sheet: Sheet, memory: Memory, y: int) -> None:
    """Explain the fillings that occur."""
    kinds = [("given", "operands, not counted")]
    if any(moment.after for moment in memory.moments):
        kinds.append(("kept", "alive after the step"))
    if any(moment.during > moment.after for moment in memory.moments):
        kinds.append(("passing", "gone after the step"))
    x = MARGIN
    for kind, words in kinds:
        sheet.rect(x, y, 18, 11, kind, 0)
        sheet.text(x + 25, y + 10, words, "muted", "start", 11)
        x += 25 + pixels(words, 11) + 20


def _summary(moment: Moment) -> str:
    return (
        f"{flat(moment.title)}, {flat(moment.detail)}: {moment.during:,} bytes while it runs, "
        f"{moment.after:,} after it"
    )
