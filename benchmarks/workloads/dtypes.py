"""Group e: the same product in other dtypes, where NumPy's own loops are slow or promote."""

from __future__ import annotations

import numpy as np

from benchmarks.workloads.base import Operands, Workload, by_einsum, normal

N = 256
TEXT = "i j, j k -> i k"
SQUARES = ((N, N), (N, N))
EXACT = 2**53  # float64 holds every integer up to here


def _integers(low: int, high: int, dtype):
    def make(rng: np.random.Generator) -> Operands:
        return tuple(rng.integers(low, high, shape).astype(dtype) for shape in SQUARES)

    return make


def _mixed(*dtypes):
    def make(rng: np.random.Generator) -> Operands:
        parts = [rng.standard_normal((2, *shape)) for shape in SQUARES]
        return tuple(
            (part[0] + 1j * part[1] if np.dtype(dtype).kind == "c" else part[0]).astype(dtype)
            for part, dtype in zip(parts, dtypes, strict=True)
        )

    return make


def _matmul(a, b):
    return a @ b


def _matmul_transposed(a, b):
    return (b.T @ a.T).T


def _float16(a, b):
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)


def _float16_row_sums(x):
    """Convert few rows at a time, so that they are summed in the cache."""
    ones, out = np.ones(x.shape[1], np.float32), np.empty(len(x), np.float16)
    for i in range(0, len(x), 64):
        out[i : i + 64] = x[i : i + 64].astype(np.float32) @ ones
    return out


def _largest(x) -> int:
    return max(-int(x.min()), int(x.max()))


def _int64(a, b):
    """Go through float64 after one look at the values: any int64 operands get the right answer."""
    if _largest(a) * _largest(b) * a.shape[1] >= EXACT:
        return a @ b
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)


def _int8(a, b):
    """int8 needs no look: 256 products of at most 2**14 stay below 2**24, where float32 is exact."""
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.int64)


def _uint8(a, b):
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.uint64)


def _int64_loop(a, b):
    """Where the sums wrap there is no way around whole numbers: the C loop, with both operands in rows."""
    return np.einsum("ij,kj->ik", a, np.ascontiguousarray(b.T))


def _int32(a, b):
    return _int64(a, b)


def _any(a, b):
    return (a.astype(np.float32) @ b.astype(np.float32)) != 0


def _count(a, b):
    return (a.astype(np.float32) @ b.astype(np.float32)).astype(np.int64)


def _real_complex(a, b):
    """Return a real matrix times complex columns is a real product with twice the columns."""
    return (a @ b.view(np.float32)).view(np.complex64)


def _complex_real(a, b):
    """Return the complex operand first: its parts are rows, once they are laid out apart."""
    parts = np.concatenate((a.real, a.imag)) @ b
    out = np.empty((len(a), b.shape[1]), np.complex64)
    out.real, out.imag = parts[: len(a)], parts[len(a) :]
    return out


def _float32_float64(a, b):
    return a.astype(np.float64) @ b


# np.einsum can be told the dtype; opt_einsum and einops keep NumPy's, where the answer is another one.
WIDER = {"dtype": np.int64}
UNSIGNED = {"dtype": np.uint64}
KEEP = ("opt_einsum.contract", "opt_einsum.expression", "einops", "cotengra", "torch")

# The C loop of np.einsum, which einops calls too, keeps its running sums in float16.
HALF_SUMS = ("np.einsum", "einops")

WORKLOADS = (
    Workload("float32", "e", TEXT, normal(*SQUARES), (_matmul, _matmul_transposed, np.dot), tags=("blas",)),
    Workload(
        "float64",
        "e",
        TEXT,
        normal(*SQUARES, dtype=np.float64),
        (_matmul, _matmul_transposed, np.dot),
        tags=("blas",),
    ),
    Workload(
        "complex64",
        "e",
        TEXT,
        _mixed(np.complex64, np.complex64),
        (_matmul, _matmul_transposed, np.dot),
        tags=("blas",),
    ),
    Workload(
        "float16",
        "e",
        TEXT,
        normal(*SQUARES, dtype=np.float16),
        (_float16,),
        unlike=HALF_SUMS,
        tags=("float16",),
    ),
    Workload("int64", "e", TEXT, _integers(-1000, 1000, np.int64), (_int64,), tags=("int64",)),
    Workload("int32", "e", TEXT, _integers(-1000, 1000, np.int32), (_int32,), np_options=WIDER, unlike=KEEP),
    Workload("int8", "e", TEXT, _integers(-128, 128, np.int8), (_int8,), np_options=WIDER, unlike=KEEP),
    Workload("uint8", "e", TEXT, _integers(0, 256, np.uint8), (_uint8,), np_options=UNSIGNED, unlike=KEEP),
    Workload("int64, wide", "e", TEXT, _integers(-(2**40), 2**40, np.int64), (_matmul, _int64_loop)),
    Workload("bool any", "e", f"{TEXT} : any", _integers(0, 2, np.bool_), (_any,), tags=("bool",)),
    Workload("bool count", "e", TEXT, _integers(0, 2, np.bool_), (_count,), np_options=WIDER, unlike=KEEP),
    Workload(
        "real x complex",
        "e",
        TEXT,
        _mixed(np.float32, np.complex64),
        (_real_complex, _matmul),
        tags=("real complex",),
    ),
    Workload("complex x real", "e", TEXT, _mixed(np.complex64, np.float32), (_complex_real, _matmul)),
    Workload(
        "float16 row sums",
        "e",
        "i j -> i : sum",
        normal((1000, 1000), dtype=np.float16),
        # The C loop of this one sum, unlike that of a product, keeps it in float32.
        (lambda x: x.sum(1, dtype=np.float32).astype(np.float16), _float16_row_sums, by_einsum("ij->i")),
    ),
    Workload("float32 x float64", "e", TEXT, _mixed(np.float32, np.float64), (_float32_float64, np.dot)),
)
