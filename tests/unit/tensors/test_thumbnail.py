"""Images in notebooks: what is one, and what its thumbnail shows."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.tensors.thumbnail import LONGEST, image_axes

Array = np.ndarray[Any, Any]


def shown(html: str) -> Array:
    """Return the pixels of the thumbnail, (height, width, channels), decoded without the encoder."""
    (packed,) = re.findall(r'<img [^>]*src="data:image/png;base64,([^"]+)"', html)
    png = base64.b64decode(packed)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    place, data, kinds = 8, b"", []
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        kind, content = png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        assert struct.unpack(">I", png[place + 8 + length :][:4])[0] == zlib.crc32(kind + content)
        kinds.append(kind)
        if kind == b"IHDR":
            wide, high, depth, colour, *rest = struct.unpack(">IIBBBBB", content)
            assert (depth, rest) == (8, [0, 0, 0])
        data += content if kind == b"IDAT" else b""
        place += 12 + length
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]
    channels = {0: 1, 2: 3, 6: 4}[colour]
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(high, 1 + wide * channels)
    assert not rows[:, 0].any(), "no filters"
    return rows[:, 1:].reshape(high, wide, channels)


RNG = np.random.default_rng(0)
PHOTO = RNG.integers(0, 256, (20, 30, 3), dtype=np.uint8)


@pytest.mark.parametrize(
    ("names", "order"),
    [("H W C", (0, 1, 2)), ("C H W", (2, 0, 1)), ("width height channels", (1, 0, 2)), (None, (0, 1, 2))],
)
def test_an_image_is_shown_whatever_the_order_of_its_dims(names: str | None, order: tuple[int, ...]) -> None:
    html = ne.tensor(PHOTO.transpose(order), names=names)._repr_html_()
    assert np.array_equal(shown(html), PHOTO)
    assert f"min {PHOTO.min()}, max {PHOTO.max()}" in html
    assert 'width="60" height="40"' in html


def test_a_batch_shows_its_first_image() -> None:
    batch = np.stack([PHOTO, PHOTO // 2]).transpose(0, 3, 1, 2)
    html = ne.tensor(batch, names="N C H W")._repr_html_()
    assert np.array_equal(shown(html), PHOTO)
    assert "N=2, C=3, H=20, W=30" in html and "shown: N at 0" in html


def test_fractions_are_dark_to_bright() -> None:
    values = np.linspace(0, 1, 5 * 7).reshape(5, 7, 1)
    for scaled in (values.astype(np.float32), values * 0.5, values.astype(np.float16)):
        expected = np.rint(scaled.astype(np.float64) * 255)
        assert np.array_equal(shown(ne.tensor(scaled, names="H W C")._repr_html_()), expected)
    beyond = shown(ne.tensor(values * 8 - 4, names="H W C")._repr_html_())
    assert np.abs(beyond - values * 255).max() < 0.51


def test_nan_and_infinity_do_not_spoil_the_rest() -> None:
    values = np.full((5, 5, 3), 0.5)
    values[0, 0], values[1, 1], values[2, 2] = np.nan, np.inf, -np.inf
    pixels = shown(ne.tensor(values, names="H W C")._repr_html_())
    assert (pixels[3, 3] == 128).all() and (pixels[1, 1] == 255).all() and not pixels[0, 0].any()
    assert "all elements are nan" in ne.tensor(values * np.nan, names="H W C")._repr_html_()


@pytest.mark.parametrize("shape", [(2000, 1000, 3), (97, 5, 4), (4, 1000, 1)])
def test_thumbnails_are_small(shape: tuple[int, ...]) -> None:
    image = RNG.integers(0, 256, shape, dtype=np.uint8)
    html = ne.tensor(image, names="H W C")._repr_html_()
    step = -(-max(shape) // LONGEST)
    assert np.array_equal(shown(html), image[::step, ::step])
    assert len(html) < 64_000


@pytest.mark.parametrize(
    ("shape", "dtype", "names"),
    [
        ((20, 30, 3), "float64", (None, None, None)),
        ((20, 30, 3), "int64", ("H", "W", "C")),
        ((20, 30, 3), "bool", ("H", "W", "C")),
        ((20, 30, 5), "uint8", ("H", "W", "C")),
        ((20, 30, 3), "uint8", ("N", "T", "d")),
        ((20, 30), "float32", ("H", "W")),
        ((20, 30), "uint8", (None, None)),
        ((3, 3, 3), "uint8", ("H", "W", "C")),
        ((0, 30, 3), "uint8", ("H", "W", "C")),
        ((20, 30, 3, 3), "uint8", (None,) * 4),
    ],
)
def test_other_tensors_are_tables(shape: tuple[int, ...], dtype: str, names: tuple[str | None, ...]) -> None:
    array = np.zeros(shape, dtype)
    assert image_axes(array, names) is None
    assert "<img" not in ne.tensor(array, names=names)._repr_html_()


def test_grey_images_of_bytes_need_no_channels() -> None:
    grey = PHOTO[..., 0]
    assert np.array_equal(shown(ne.tensor(grey, names="H W")._repr_html_())[..., 0], grey)
