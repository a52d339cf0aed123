"""Functions along each dim of arrays of several shapes, compared with NumPy: `python -m benchmarks.along`.

Formulas are compiled once; they and the functions that a user of NumPy would write are called in turns, and a
ratio is that of the medians. It prints the geometric means of functions and of all, and the largest ratios.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

Hand = Callable[[Any, int], Any]
SHOWN, SECONDS, MOST = 25, 0.03, 25
"""The number of ratios that are printed, and the seconds and the most calls for each."""
SHAPES = (
    (64, 64), (512, 512), (20_000, 64), (64, 20_000), (100_000, 8), (8, 100_000), (32, 64, 128),
    (16, 3, 20_000), (200, 200, 10),
)  # fmt: skip


def _shifted(x: Any, axis: int) -> Any:
    return x - x.max(axis, keepdims=True)


def _softmax(x: Any, axis: int) -> Any:
    powers = _shifted(x, axis)
    np.exp(powers, out=powers)
    powers /= powers.sum(axis, keepdims=True)
    return powers


def _log_softmax(x: Any, axis: int) -> Any:
    shifted = _shifted(x, axis)
    shifted -= np.log(np.exp(shifted).sum(axis, keepdims=True))
    return shifted


def _log_of_sum(x: Any, axis: int) -> Any:
    return np.log(np.exp(_shifted(x, axis)).sum(axis)) + x.max(axis)


def _layer_norm(x: Any, axis: int) -> Any:
    centred = x - x.mean(axis, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis, keepdims=True) + 1e-5)


FUNCTIONS: Mapping[str, Hand] = {
    "softmax[@](x[*])": _softmax,
    "log_softmax[@](x[*])": _log_softmax,
    "logsumexp[@](x[*])": _log_of_sum,
    "logsumexp[@](-x[*])": lambda x, axis: _log_of_sum(-x, axis),
    "(x[*] - mean[@](x)) / sqrt(mean[@]((x[*] - mean[@](x)) ** 2) + 1e-5)": _layer_norm,
    "x[*] - mean[@](x)": lambda x, axis: x - x.mean(axis, keepdims=True),
    "sum[@](x[*])": lambda x, axis: x.sum(axis),
    "max[@](x[*])": lambda x, axis: x.max(axis),
    "argmax[@](x[*])": lambda x, axis: x.argmax(axis),
    "var[@](x[*])": lambda x, axis: x.var(axis, ddof=1),
    "norm[@](x[*])": lambda x, axis: np.sqrt((x * x).sum(axis)),
    "cumsum[@](x[*])": lambda x, axis: x.cumsum(axis),
    "sort[@](x[*])": np.sort,
    "sum[@](x[*] ** 2)": lambda x, axis: (x * x).sum(axis),
    "sum[@](exp(x[*]))": lambda x, axis: np.exp(x).sum(axis),
    "max[@](abs(x[*]))": lambda x, axis: np.abs(x).max(axis),
    "any[@](x[*] < -5)": lambda x, axis: (x < -5).any(axis),
    "var[@](exp(x[*]))": lambda x, axis: np.exp(x).var(axis, ddof=1),
    "norm[@](x[*] * x[*])": lambda x, axis: np.sqrt(((x * x) ** 2).sum(axis)),
}
"""The formulas, with * for all dims and @ for one of them, and the same by NumPy."""


class Ratio(NamedTuple):
    """The time of a formula over that of NumPy, and the seconds of both."""

    ratio: float
    text: str
    shape: tuple[int, ...]
    dtype: str
    ours: float
    hand: float


def main() -> int:
    """Measure all functions, and print a table; wrong results raise AssertionError."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.along", description=__doc__)
    parser.add_argument("--function", action="append", help="a part of a formula; may be repeated")
    options = parser.parse_args()
    wanted = [text for text in FUNCTIONS if any(part in text for part in options.function or [""])]
    found: dict[str, list[Ratio]] = {text: list(_measured(text)) for text in wanted}
    every = [one for ratios in found.values() for one in ratios]
    for text, ratios in found.items():
        print(f"{statistics.geometric_mean([one.ratio for one in ratios]):5.2f}  {text}")
    for one in sorted(every, reverse=True)[:SHOWN]:
        times = f"{one.ours * 1e6:9.0f} us, {one.hand * 1e6:9.0f} us by hand"
        print(f"{one.ratio:5.2f}  {one.text} of {one.dtype} {one.shape}: {times}")
    print(
        f"{len(every)} ratios, geometric mean {statistics.geometric_mean([one.ratio for one in every]):.3f}"
    )
    return 0


def _measured(text: str) -> Iterator[Ratio]:
    """Yield the ratios of a formula along each dim of all shapes."""
    import nameexpr as ne

    rng = np.random.default_rng(0)
    for shape in SHAPES:
        for dtype in ("float64", "float32"):
            x = rng.standard_normal(shape).astype(dtype)
            for axis, name in enumerate("ABC"[: len(shape)]):
                formula = text.replace("*]", " ".join("ABC"[: len(shape)]) + "]").replace("@", name)
                compiled, hand = ne.compile(formula), FUNCTIONS[text]
                np.testing.assert_allclose(compiled(x=x), hand(x, axis), rtol=2e-3, atol=2e-3)
                ours, theirs = _medians(lambda: compiled(x=x), lambda: hand(x, axis))  # noqa: B023  called here
                yield Ratio(ours / theirs, formula, shape, dtype, ours, theirs)


def _medians(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[float, float]:
    """Return the median seconds of two functions that are called in turns."""
    started = time.perf_counter()
    second()
    rounds = int(min(MOST, max(3, SECONDS / (time.perf_counter() - started))))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, own in zip((first, second), times, strict=True):
            started = time.perf_counter()
            call()
            own.append(time.perf_counter() - started)
    return statistics.median(times[0]), statistics.median(times[1])


if __name__ == "__main__":
    raise SystemExit(main())
