"""Errors of tensors as classes, for `except`, and the checks in place that are an operator's own.

What every operator checks before it writes is in test_writing_refused.py.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.rules.remembered import remembered
from unit.tensors.state import fails, mask, matrix, ones

CLASSES: dict[str, tuple[Callable[[], object], set[type[Exception]]]] = {
    "NE470": (lambda: ones(2, names="N") + ones(2, names="C"), {ne.DimNameError, RuntimeError}),
    "NE471": (lambda: ones(2, 2, names=("N", None)) + ones(2, names="N"), {ne.DimNameError, RuntimeError}),
    "NE472": (
        lambda: ones(2, 2, names=("N", None)).add_(ones(2, 2, names="N C")),
        {ne.DimNameError, RuntimeError},
    ),
    "NE473": (
        lambda: ones(2, 2, names="A B").mm(ones(2, 2, names="B A")),
        {ne.DimNameError, RuntimeError},
    ),
    "NE410": (lambda: ones(2, names="N").sum("C"), {ne.DimNameError, RuntimeError}),
    "NE801": (lambda: ones(2, names="N").sum(1), {ne.DimRangeError, IndexError}),
    "NE802": (lambda: ones(2, names="N").select("N", 2), {ne.DimRangeError, IndexError}),
    "NE803": (lambda: ones(2, names="N").narrow("N", 0, 3), {ne.DimRangeError, IndexError}),
    "NE804": (lambda: ones(2, names="N")[0, 0], {ne.DimRangeError, IndexError}),
    "NE370": (lambda: ones(2) + ones(3), {ne.SizeError}),
    "NE371": (lambda: ones(2).add_(ones(3, 2)), {ne.SizeError}),
    "NE372": (lambda: ones(2).dot(ones(3)), {ne.SizeError}),
    "NE386": (lambda: ne.stack([ones(2), ones(3)]), {ne.SizeError}),
    "NE384": (lambda: ones(2).resize_(-1), {ne.SizeError}),
    "NE389": (lambda: ones(2).kthvalue(3), {ne.SizeError}),
    "NE390": (lambda: ones(0).max(0), {ne.SizeError}),
    "NE570": (lambda: ones(2, dtype=int).add_(0.5), {ne.OperandError, TypeError}),
    "NE571": (lambda: ones(2, dtype=int).softmax(0), {ne.OperandError, TypeError}),
    "NE576": (lambda: ones(1).expand(2).zero_(), {ne.OperandError, TypeError}),
    "NE660": (lambda: ne.abs(ones(2), out=np.ones(2)), {ne.OptionError, TypeError}),
    "NE678": (lambda: ones(2).to("cuda"), {ne.OptionError, TypeError}),
    "NE707": (lambda: ne.zeros(10**15, 10**4), {ne.LimitError, MemoryError}),
}


@pytest.mark.parametrize("code", CLASSES)
def test_an_error_is_ours_a_value_error_and_the_builtin_that_fits(code: str) -> None:
    call, classes = CLASSES[code]
    with pytest.raises(NameExprError) as caught:
        call()
    assert caught.value.code == code
    assert all(isinstance(caught.value, wanted) for wanted in {*classes, ValueError})
    others = {RuntimeError, IndexError, TypeError, MemoryError} - classes
    assert not any(isinstance(caught.value, other) for other in others)


OTHER_CHECKS: dict[str, Callable[[ne.NamedTensor], object]] = {
    "fill_ with many elements": lambda x: x.fill_(ones(3)),
    "fill_ with a complex number": lambda x: x.fill_(1j),
    "copy_ of other names": lambda x: x.copy_(ones(3, names="Z")),
    "copy_ of more dims": lambda x: x.copy_(ones(5, 2, 3)),
    "copy_ of complex numbers": lambda x: x.copy_(ones(2, 3, names="N C", dtype=complex)),
    "bernoulli_ above 1": lambda x: x.bernoulli_(1.5),
    "normal_ of a negative std": lambda x: x.normal_(0, -1),
    "log_normal_ of no std": lambda x: x.log_normal_(0, 0),
    "uniform_ turned around": lambda x: x.uniform_(1, 0),
    "exponential_ of no rate": lambda x: x.exponential_(0),
    "cauchy_ of no width": lambda x: x.cauchy_(0, 0),
    "random_ from nothing": lambda x: x.random_(2, 2),
    "masked_fill_ of other names": lambda x: x.masked_fill_(mask(3, names="Z"), 0),
    "masked_fill_ of more dims": lambda x: x.masked_fill_(mask(5, 2, 3), 0),
    "masked_fill_ without bools": lambda x: x.masked_fill_(ones(3), 0),
    "masked_fill_ of a complex number": lambda x: x.masked_fill_(mask(3), 1j),
    "index_fill_ beyond the end": lambda x: x.index_fill_("C", [0, 3], 0),
    "index_fill_ of an unknown dim": lambda x: x.index_fill_("Z", [0], 0),
    "index_fill_ of a complex number": lambda x: x.index_fill_("C", [0], 1j),
    "addmm_ of another name": lambda x: x.addmm_(ones(2, 4, names="N K"), ones(4, 3, names="L Z")),
    "addmm_ of another size": lambda x: x.addmm_(ones(2, 4), ones(4, 5)),
    "addmm_ of another dtype": lambda x: x.addmm_(ones(2, 4), ones(4, 3, dtype="float32")),
    "cumsum_ of an unknown dim": lambda x: x.cumsum_("Z"),
    "clamp_ without bounds": lambda x: x.clamp_(),
    "clamp_ to another name": lambda x: x.clamp_(ones(3, names="Z")),
    "x[...] of other names": lambda x: x.__setitem__(0, ones(3, names="Z")),
    "x[...] of another size": lambda x: x.__setitem__(0, ones(4)),
    "x[...] of more dims": lambda x: x.__setitem__(0, ones(2, 3)),
    "x[...] of a complex number": lambda x: x.__setitem__(0, 1j),
    "x[...] beyond the end": lambda x: x.__setitem__((0, 3), 1.0),
    "x += of another name": lambda x: x.__iadd__(ones(3, names="Z")),
    "x -= of more dims": lambda x: x.__isub__(ones(5, 2, 3)),
    "x *= of a complex number": lambda x: x.__imul__(1j),
    "x @= of another size": lambda x: x.__imatmul__(ones(3, 4, names="K C")),
    "names of another number": lambda x: setattr(x, "names", "A"),
    "names doubled": lambda x: setattr(x, "names", ("A", "A")),
}


@pytest.mark.parametrize("what", OTHER_CHECKS)
def test_nothing_is_written_before_every_check_has_passed(what: str) -> None:
    fails(OTHER_CHECKS[what], matrix())


COMPLEX = ne.tensor([1j, 2.0], names="N")
ORDERED = ("lt", "le", "gt", "ge", "maximum", "minimum", "clamp")


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize(
    "other", [COMPLEX, ones(2, names="N"), np.ones(2), 1.0, 1j], ids=lambda other: type(other).__name__
)
def test_complex_numbers_have_no_order_on_either_side(name: str, other: object) -> None:
    fails(getattr(ne.NamedTensor, name), COMPLEX, other, code="NE571")
    if isinstance(other, ne.NamedTensor):
        fails(getattr(ne.NamedTensor, name), other, COMPLEX, code="NE571")


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_signs_of_order_take_no_complex_numbers_either(compare: Callable[[object, object], object]) -> None:
    real = ones(2, names="N")
    for left, right in ((COMPLEX, COMPLEX), (real, COMPLEX), (COMPLEX, real), (1j, real), (real, 1j)):
        fails(compare, left, right, code="NE571")
    assert operator.eq(COMPLEX, COMPLEX).tolist() == [True, True]


def test_an_error_is_worked_out_once() -> None:
    asked = []

    @remembered
    def rule(number: int) -> int:
        asked.append(number)
        raise error(Diagnostic("NE651", "wrong"))  # a TypeError, as the one for what cannot be looked up

    with pytest.raises(ne.OptionError):
        rule(1)
    assert asked == [1]


def test_an_error_shows_the_list_that_was_given_and_no_other_error_behind_it() -> None:
    fault = fails(ones(2, 3, names="N C").unflatten, "C", [["A", 2], ["B", 2]])
    assert "[['A', 2], ['B', 2]]" in str(fault)
    assert fault.__cause__ is None and fault.__context__ is None
