"""PyTorch's promotion, as the compiler asks for it."""

from __future__ import annotations

import itertools

import pytest

torch = pytest.importorskip("torch")

from nameexpr.backends.torch.kinds import name_of  # noqa: E402
from nameexpr.backends.torch.promotion import COMPUTED, apart, choose, dtype_of, promoted, reduced  # noqa: E402
from nameexpr.compiler.ir.dtypes import WEAK, scalar  # noqa: E402

DTYPES = sorted(COMPUTED)


def test_promotion_is_that_of_tensors_of_the_same_ranks() -> None:
    for one, other in itertools.product(DTYPES, DTYPES):
        x, y = (torch.ones(2, dtype=getattr(torch, name)) for name in (one, other))
        assert promoted((one, other)) == name_of(torch.result_type(x, y))
        assert promoted((one, scalar(other))) == name_of(torch.result_type(x, y[0]))
        assert promoted((scalar(one), scalar(other))) == name_of(torch.result_type(x[0], y[0]))
        if torch.result_type(x, y[0]) is not torch.complex32:  # of which PyTorch warns
            assert dtype_of("add", (one, scalar(other))) == name_of((x + y[0]).dtype)
    for name in DTYPES:
        x = torch.ones(2, dtype=getattr(torch, name))
        for kind, weak in WEAK.items():
            assert promoted((name, weak)) == name_of(torch.result_type(x, kind(1)))


def test_dtypes_that_are_only_stored_have_no_arithmetic() -> None:
    for name in ("uint16", "uint32", "uint64", "float8_e4m3fn"):
        with pytest.raises(TypeError):
            dtype_of("add", (name, name))
        with pytest.raises(TypeError):
            choose((name,), name, "sum")
        assert choose((name,), name, None).result == name


def test_sums_of_integers_have_64_bits_and_narrow_floats_stay() -> None:
    for name in ("bool", "uint8", "int8", "int32"):
        assert reduced("sum", (name,)) == "int64"
        assert reduced("mean", (name,)) == reduced("norm", (name,)) == "float32"
    for name in ("float16", "bfloat16"):
        assert reduced("sum", (name,)) == reduced("var", (name,)) == name
        assert choose((name,), name, "sum").compute == name


def test_functions_are_sampled_where_no_mode_of_the_caller_reaches() -> None:
    with torch.device("meta"), torch.inference_mode():
        made = apart(lambda: torch.ones(1))
    assert (made.device.type, made.is_inference()) == ("cpu", False)
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 // 0)
