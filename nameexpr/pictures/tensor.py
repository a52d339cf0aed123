"""The picture of a tensor: a box with a name and a size at every edge.

One dim is a strip, two are a sheet with the first dim down the side, three a block with the first dim going
back. More dims are written rather than drawn: the last three are drawn as a block, and the others are listed
around it. Edges are as long as the logarithm of the size; a small number of cells is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2, prod

from nameexpr.pictures.data import Box
from nameexpr.pictures.files import Picture
from nameexpr.pictures.sheet import MARGIN, Move, Sheet
from nameexpr.pictures.words import counted, dim_words, pixels

COLUMNS = 28
SHORTEST, DOUBLING, LONGEST = 28, 17, 200
THIN = 28
FEW = 10
"""The size up to which cells are drawn."""
ROW = 16
DRAWN = 3
FRAME = 14


def draw_box(box: Box) -> Picture:
    """Draw a tensor."""
    shape = "×".join(str(size) for _, size in box.dims)
    sheet = Sheet(box, "", f"{shape} {box.dtype}" if box.dims else f"scalar {box.dtype}", _description(box))
    outer, inner = box.dims[:-DRAWN], box.dims[-DRAWN:]
    top = sheet.top + 6
    if not outer:
        _draw_block(sheet, inner, MARGIN, top)
        return sheet.svg()
    # The block is in a frame that shows the number of blocks.
    lines = ["for each of", *(dim_words(*dim, COLUMNS) for dim in outer)]
    y = top + FRAME
    for line in lines:
        sheet.text(MARGIN + FRAME, y + 12, line, "muted" if line == lines[0] else "", "start")
        y += ROW
    right, bottom = _draw_block(sheet, inner, MARGIN + FRAME, y + 6)
    right = max(right, MARGIN + FRAME + max(map(pixels, lines)))
    sheet.rect(MARGIN, top, right - MARGIN + FRAME, bottom - top + FRAME, "frame", 4)
    return sheet.svg()


def edge(size: int) -> int:
    """Return the length of an edge: a fixed amount more for every doubling."""
    return min(LONGEST, round(SHORTEST + DOUBLING * log2(max(1, size))))


def _draw_block(sheet: Sheet, dims: Sequence[tuple[str | None, int]], left: int, top: int) -> tuple[int, int]:
    """Draw up to three dims, and return the right and bottom ends."""
    words = [dim_words(*dim, COLUMNS) for dim in dims]
    sizes = [size for _, size in dims]
    wide = edge(sizes[-1]) if dims else THIN
    high = edge(sizes[-2]) if len(dims) > 1 else THIN
    back = edge(sizes[-3]) * 2 // 5 if len(dims) == DRAWN else 0
    side = max((pixels(word) for word in words[-2:-1]), default=0)
    # Words are below (the last dim), left (the one before) and along the edge that goes back.
    x = left + (side + 8 if side else 0)
    x += max(0, pixels(words[-1]) - wide - 2 * (x - left)) // 2 if words else 0
    y = top + back
    kind = "box" if prod(sizes) else "held"
    if back:
        far: list[Move] = [("L", x + back, y - back), ("H", x + back + wide), ("V", y - back + high)]
        sheet.path([("M", x, y), *far, ("L", x + wide, y + high), ("Z",)], kind)
    sheet.rect(x, y, wide, high, kind, 0)
    if back:
        sheet.path([("M", x + wide, y), ("L", x + wide + back, y - back)], "line")
    _draw_cells(sheet, sizes, (x, y, wide, high, back))
    bottom, right = y + high, x + wide + back
    if len(dims) == DRAWN:
        sheet.text(right + 8, y - back / 2 + 4, words[0], "", "start")
        right += 8 + pixels(words[0])
    if len(dims) > 1:
        sheet.text(x - 8, y + high / 2 + 4, words[-2], "", "end")
    if dims:
        middle = x + wide / 2
        sheet.text(middle, bottom + 17, words[-1])
        right, bottom = max(right, round(middle + pixels(words[-1]) / 2)), bottom + 22
    return right, bottom


def _draw_cells(sheet: Sheet, sizes: list[int], place: tuple[int, int, int, int, int]) -> None:
    """Draw the lines between cells, along small dims."""
    x, y, wide, high, back = place
    across, down = sizes[-1] if sizes else 1, sizes[-2] if len(sizes) > 1 else 1
    deep = sizes[-3] if back else 1
    for number in range(1, across if across <= FEW else 1):
        at = x + wide * number // across
        deeper: list[Move] = [("M", at, y), ("L", at + back, y - back)] if back else []
        sheet.path([("M", at, y), ("V", y + high), *deeper], "thin")
    for number in range(1, down if down <= FEW else 1):
        at = y + high * number // down
        deeper = [("L", x + wide + back, at - back)] if back else []
        sheet.path([("M", x, at), ("H", x + wide), *deeper], "thin")
    for number in range(1, deep if deep <= FEW else 1):
        step = back * number // deep
        sheet.path([("M", x + step, y - step), ("H", x + step + wide), ("V", y - step + high)], "thin")


def _description(box: Box) -> str:
    if not box.dims:
        return f"A tensor without dims, of dtype {box.dtype}: one number."
    dims = ", ".join(f"{name or 'a dim without a name'} of size {size}" for name, size in box.dims)
    cells = prod(size for _, size in box.dims)
    return f"A tensor of dtype {box.dtype} with {counted(cells)} cells. Its dims in order: {dims}."
