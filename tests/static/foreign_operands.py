"""Which foreign arrays give tensors: those that have names. Checked as `user_code.py` is, never executed."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import nameexpr as ne
from nameexpr import NamedTensor
from nameexpr.typing import ArrayLike, Labelled, Operand


class Dataset:
    def __array__(self) -> npt.NDArray[Any]:
        return np.ones(2)


class DataArray(Dataset):
    """As xarray has it: any attribute may be there."""

    @property
    def coords(self) -> dict[str, Dataset]:
        return {}

    def __getattr__(self, name: str) -> Any: ...


def results(
    x: npt.NDArray[np.bool_], stored: Dataset, data: DataArray, t: NamedTensor, names: list[str]
) -> None:
    assert_type(ne.einsum("a -> a", stored), npt.NDArray[Any])
    assert_type(ne.einsum("a, a -> a", x, stored), npt.NDArray[Any])
    assert_type(ne.einsum("a -> a", data), NamedTensor)
    assert_type(ne.einsum("a, a -> a", x, data), NamedTensor)
    assert_type(ne.evaluate("y = x * z", x=x, z=stored), npt.NDArray[Any])
    assert_type(ne.evaluate("y = x * z", x=2.5, z=data), NamedTensor)
    assert_type(ne.evaluate("y = x * z", outputs=names, x=x, z=stored), tuple[npt.NDArray[Any], ...])
    assert_type(ne.evaluate("y = x * z", outputs=names, x=data, z=t), tuple[NamedTensor, ...])
    assert_type(ne.compile("a -> a")(stored), npt.NDArray[Any])
    assert_type(ne.compile("a -> a")(data), NamedTensor)


def named(x: Labelled) -> NamedTensor:
    return ne.einsum("a -> a", x)


def unnamed(x: ArrayLike) -> npt.NDArray[Any]:
    return ne.evaluate("y = 2 * x", x=x)


def either(x: Operand) -> Operand:
    return ne.einsum("a -> a", x)


def refused() -> None:
    ne.einsum("a -> a", {1, 2})  # type: ignore[call-overload]
    ne.einsum("a -> a", None)  # type: ignore[call-overload]
    ne.evaluate("y = x", x={"a": 1})  # type: ignore[call-overload]
