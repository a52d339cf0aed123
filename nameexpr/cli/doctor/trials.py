"""A few expressions held against `np.einsum`, and how fast this machine is; all of it in under a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from nameexpr.terminal.faults import reason

if TYPE_CHECKING:
    import numpy.typing as npt

EINSUMS: tuple[tuple[str, str, str, tuple[tuple[int, ...], ...]], ...] = (
    ("batch chan, chan out -> batch out", "bc,co->bo", "float64", ((3, 4), (4, 5))),
    ("a b, b c, c d -> a d", "ab,bc,cd->ad", "float32", ((2, 3), (3, 4), (4, 5))),
    ("N H W C -> N C H W", "nhwc->nchw", "float32", ((2, 3, 4, 5),)),
    ("N C, N C -> N", "nc,nc->n", "int64", ((3, 4), (3, 4))),
    ("a, b -> a b", "a,b->ab", "complex128", ((3,), (4,))),
    ("i i -> i", "ii->i", "float64", ((4, 4),)),
    ("N (h d), d -> h N", "nhd,d->hn", "float64", ((2, 3, 4), (4,))),
    ("α β, β -> α", "ab,b->a", "float64", ((3, 4), (4,))),  # such letters only the grammar reads
)
"""Expressions, what they are for `np.einsum`, a dtype and shapes; the grouped one is given merged."""

FORMULA = ("y[i] = sum[j](A[i j] * x[j])", "ij,j->i", "float64", ((3, 4), (4,)))
_SIDE = 512
_COPIED = 64 * 2**20
_SECONDS = 0.1
_LEAST, _REPEATS = 2, 8
_CALLS = 1000


@dataclass(frozen=True, slots=True)
class Check:
    """An expression that was computed; `fault` is what is wrong with the result, None if nothing is."""

    text: str
    dtype: str
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Timings:
    """The best of a few times each; None is what could not be measured.

    Flops of a product of two square matrices of 512 rows, 1e9 per second; bytes read and written by a copy of
    64 MiB, 1e9 per second; and microseconds for `einsum` of two matrices of 4 x 4, and for NumPy's `dot` of
    them alone.
    """

    matmul_float64_gflops: float | None = None
    matmul_float32_gflops: float | None = None
    copy_gigabytes: float | None = None
    einsum_microseconds: float | None = None
    dot_microseconds: float | None = None


def check_results() -> tuple[Check, ...]:
    """Return how a handful of expressions and a formula compare with `np.einsum`; the numbers are whole, so
    that every order of additions gives the same.
    """
    checks = [_checked(*one, compute=_by_einsum) for one in EINSUMS]
    return (*checks, _checked(*FORMULA, compute=_by_formula))


def _checked(
    text: str, subscripts: str, dtype: str, shapes: Sequence[tuple[int, ...]], compute: Callable[..., Any]
) -> Check:
    import numpy as np

    arrays = [_numbers(shape, dtype) for shape in shapes]
    expected = np.einsum(subscripts, *arrays)
    try:
        result = np.asarray(compute(text, *arrays))
    except Exception as fault:  # noqa: BLE001  whatever is raised is what is to be reported
        return Check(text, dtype, f"{type(fault).__name__}: {reason(fault)}")
    if result.dtype != expected.dtype:
        return Check(text, dtype, f"the result is {result.dtype}, and should be {expected.dtype}")
    if not np.array_equal(result, expected):
        return Check(text, dtype, "the result differs from that of np.einsum")
    return Check(text, dtype)


def _by_einsum(text: str, *arrays: Any) -> Any:
    from nameexpr.runtime.einsum import einsum

    if "(" in text:
        first, *others = arrays
        return einsum(text, first.reshape(len(first), -1), *others)
    return einsum(text, *arrays)


def _by_formula(text: str, matrix: Any, vector: Any) -> Any:
    from nameexpr.runtime.evaluate import evaluate

    return evaluate(text, A=matrix, x=vector)


def _numbers(shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
    import numpy as np

    count = int(np.prod(shape))
    return (np.arange(count) % 7 - 3).reshape(shape).astype(dtype)


def measure() -> Timings:
    """Return how fast products, copies and calls are on this machine, as it is loaded now."""
    return Timings(
        matmul_float64_gflops=_matmul_gflops("float64"),
        matmul_float32_gflops=_matmul_gflops("float32"),
        copy_gigabytes=_copy_gigabytes(),
        einsum_microseconds=_call_microseconds(_einsum_call),
        dot_microseconds=_call_microseconds(_dot_call),
    )


def _matmul_gflops(dtype: str) -> float:
    import numpy as np

    matrix = np.ones((_SIDE, _SIDE), dtype)
    out = np.empty_like(matrix)
    return 2 * _SIDE**3 / _best_seconds(lambda: np.matmul(matrix, matrix, out=out)) / 1e9


def _copy_gigabytes() -> float | None:
    import numpy as np

    try:
        source, target = np.ones(_COPIED, np.uint8), np.empty(_COPIED, np.uint8)
    except MemoryError:
        return None
    return 2 * _COPIED / _best_seconds(lambda: np.copyto(target, source)) / 1e9


def _call_microseconds(call: Callable[[Any], Callable[[], Any]]) -> float | None:
    import numpy as np

    def often() -> None:
        for _ in range(_CALLS):
            once()

    try:
        once = call(np.ones((4, 4)))
        return _best_seconds(often) / _CALLS * 1e6
    except Exception:  # noqa: BLE001  what is wrong with calls is said by the checks
        return None


def _einsum_call(matrix: Any) -> Callable[[], Any]:
    from nameexpr.runtime.einsum import einsum

    return lambda: einsum("a b, b c -> a c", matrix, matrix)


def _dot_call(matrix: Any) -> Callable[[], Any]:
    return lambda: matrix.dot(matrix)


def _best_seconds(call: Callable[[], Any]) -> float:
    """Return the shortest time of a few calls, of two if they take long: the first meets untouched memory."""
    times: list[float] = []
    while len(times) < _LEAST or (len(times) < _REPEATS and sum(times) < _SECONDS):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return max(min(times), 1e-9)  # a coarse clock may see no time pass
