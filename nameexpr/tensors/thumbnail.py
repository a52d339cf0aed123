"""Tensors that are images, and their thumbnails.

A tensor of uint8 or floats is an image if it has dims named for height and width, and one for channels of
size 1, 3 or 4; for uint8 the channels are optional, and so are all names if its shape is (height, width, 3 or
4). For other dims, such as a batch, the first element is shown.

>>> image_axes(np.zeros((2, 3, 8, 9), np.float32), ("N", "C", "H", "W"))
(2, 3, 1)
>>> image_axes(np.zeros((8, 9, 3), np.uint8), (None, None, None))
(0, 1, 2)
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from nameexpr.pictures.html import Thumbnail
from nameexpr.pictures.png import data_uri

Axes: TypeAlias = tuple[int, int, int | None]
"""The axes of the height, the width, and the channels, if any."""
LONGEST = 96
"""The number of pixels of a thumbnail along its longer side; it is drawn at twice that size."""
SMALLEST = 4
"""The least height and width of an image."""
MOST_ELEMENTS = 2**26
"""The number of elements up to which an image is searched for its least and largest one."""
_ROLES = {
    "height": {"h", "height"},
    "width": {"w", "width"},
    "channels": {"c", "channel", "channels", "rgb", "rgba"},
}
_CHANNELS = (1, 3, 4)


def image_axes(array: np.ndarray[Any, Any], names: tuple[str | None, ...]) -> Axes | None:
    """Return the axes of an image; None for other tensors."""
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        return None
    found = {}
    for role, words in _ROLES.items():
        places = [axis for axis, name in enumerate(names) if name is not None and name.casefold() in words]
        found[role] = places[0] if len(places) == 1 else None
    height, width, channels = found["height"], found["width"], found["channels"]
    is_unnamed = not any(names) and array.ndim == len(_ROLES)
    if is_unnamed and array.dtype == np.uint8 and array.shape[-1] in _CHANNELS[1:]:
        height, width, channels = 0, 1, 2
    if height is None or width is None or min(array.shape[height], array.shape[width]) < SMALLEST:
        return None
    if channels is None:
        return (height, width, None) if array.dtype == np.uint8 and array.ndim == 2 else None  # noqa: PLR2004
    return (height, width, channels) if array.shape[channels] in _CHANNELS else None


def thumbnail(array: np.ndarray[Any, Any], axes: Axes) -> Thumbnail:
    """Return the thumbnail of an image; fractions from 0 to 1 are dark to bright, or a wider range that
    contains all of them.
    """
    height, width, channels = axes
    order = (height, width) if channels is None else (height, width, channels)
    first: list[int | slice] = [0 if axis not in order else slice(None) for axis in range(array.ndim)]
    kept = sorted(order)
    plane = array[tuple(first)].transpose([kept.index(axis) for axis in order])
    step = -(-max(plane.shape[:2]) // LONGEST)
    small = plane[::step, ::step]
    high, wide = small.shape[:2]
    count = 1 if channels is None else small.shape[2]
    return Thumbnail(data_uri(wide, high, count, _bytes(small)), 2 * wide, 2 * high)


def _bytes(image: np.ndarray[Any, Any]) -> bytes:
    if image.dtype == np.uint8:
        return image.tobytes()
    values = np.nan_to_num(image.astype(np.float64), posinf=1, neginf=0)
    low, high = min(0.0, float(values.min())), max(1.0, float(values.max()))
    with np.errstate(over="ignore", invalid="ignore"):
        shown = np.nan_to_num((values - low) / (high - low)) * 255
    return bytes(np.rint(shown).astype(np.uint8).tobytes())


def extremes(array: np.ndarray[Any, Any]) -> str:
    """Return the least and the largest element as text, ignoring nan; "" for very large tensors."""
    if array.size > MOST_ELEMENTS:
        return ""
    if array.dtype.kind == "f":
        if np.isnan(array).all():
            return "all elements are nan"
        return f"min {np.nanmin(array):.5g}, max {np.nanmax(array):.5g}"
    return f"min {array.min()}, max {array.max()}"
