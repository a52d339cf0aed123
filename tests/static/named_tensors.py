"""What type checkers must know of NamedTensor: run by `mypy --strict`, never executed.

`assert_type` pins what is inferred. A line that must be rejected carries a `type: ignore` with its code,
which mypy reports as unused as soon as it accepts the line.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import nameexpr as ne
from nameexpr import NamedTensor
from nameexpr.tensors.ordering import Selected


def methods(x: NamedTensor, y: NamedTensor) -> None:
    assert_type(x.abs(), NamedTensor)
    assert_type(x.abs_(), NamedTensor)
    assert_type(x.add(y, alpha=2), NamedTensor)
    assert_type(x.sum("N"), NamedTensor)
    assert_type(x.sum(["N", 1], keepdim=True), NamedTensor)
    assert_type(x.sum(axis=["N", 1], keepdims=True), NamedTensor)
    assert_type(x.cumsum(axis="N"), NamedTensor)
    assert_type(x.std(axis="N", ddof=0), NamedTensor)
    assert_type(ne.mean(x, axis="N", keepdims=True), NamedTensor)
    assert_type(x.kthvalue(1, "N"), Selected[NamedTensor])
    assert_type(x.split(2, "N"), tuple[NamedTensor, ...])
    assert_type(x.float(), NamedTensor)
    assert_type(x.type(), str)
    assert_type(x.type("float32"), NamedTensor)
    assert_type(x.size("N"), int)
    assert_type(x.size(), tuple[int, ...])
    assert_type(x.names, tuple[str | None, ...])
    assert_type(x.is_contiguous(), bool)
    assert_type(x.numpy(), npt.NDArray[Any])
    assert_type(x[0, ..., None], NamedTensor)


def operators(x: NamedTensor, y: NamedTensor) -> None:
    assert_type(x + y, NamedTensor)
    assert_type(2 * x, NamedTensor)
    assert_type(x @ y, NamedTensor)
    assert_type(-x, NamedTensor)
    x += y
    assert_type(x, NamedTensor)


def functions(x: NamedTensor) -> None:
    assert_type(ne.abs(x), NamedTensor)
    assert_type(ne.sum(x, "N", keepdim=True), NamedTensor)
    assert_type(ne.cat([x, x], "N"), NamedTensor)
    assert_type(ne.zeros(2, 3, names="N C", dtype=ne.float32), NamedTensor)
    assert_type(ne.std_mean(x), tuple[NamedTensor, NamedTensor])
    assert_type(ne.manual_seed(0), np.random.Generator)


def refused(x: NamedTensor) -> None:
    x.absolutely()  # type: ignore[attr-defined]
    x.add()  # type: ignore[call-arg]
    x.sum(1.5)  # type: ignore[arg-type]
    x + object()  # type: ignore[arg-type]
    x.masked_fill(object(), 0)  # type: ignore[arg-type]
    x.split(1.5, "N")  # type: ignore[arg-type]
    x.sum("N", kepdim=True)  # type: ignore[call-arg]
    x.narrow("N", 0)  # type: ignore[call-arg]
    ne.cat(3)  # type: ignore[arg-type]
