"""What is accepted in one pass, and typed in one pass, is what all rules and all stages say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nameexpr.compiler.analysis import infer
from nameexpr.compiler.analysis.fast_path import is_accepted
from nameexpr.compiler.analysis.infer import Typed
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.rules import check
from nameexpr.compiler.ir.axes import CUSTOM
from nameexpr.errors import Diagnostic, NameExprError
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.limits import set_limits
from nameexpr.syntax.parser.expression import parse

PLAIN = ["a", "b", "c", "d"]
ITEMS = [*PLAIN, "a=2", "a=3", "1", "2", "...", "p...", "_", "n=a", "()", "(a b)", "(c (d 1))", "(...)"]
REDUCERS = ["", "", "", " : sum", " : max", " : mode"]


@st.composite
def texts(draw: st.DrawFn, items: list[str], longest: int = 3) -> str:
    one = st.lists(st.sampled_from(items), max_size=longest).map(" ".join)
    inputs = ", ".join(draw(st.lists(one, min_size=1, max_size=3)))
    outputs = draw(st.lists(one, min_size=1, max_size=1 + draw(st.booleans())))
    arrow = draw(st.sampled_from(["->", "->", "->", ""]))
    return f"{inputs} {arrow} {', '.join(outputs) if arrow else ''}{draw(st.sampled_from(REDUCERS))}"


def faults(tree: Expression, has_reduce: bool) -> Iterator[Diagnostic]:
    for rule in check._RULES:
        yield from rule(tree, has_reduce)
    if tree.outputs is not None and not tree.leaves_inputs_out:
        for rule in check.DROPPING_RULES:
            yield from rule(tree, has_reduce)


@pytest.mark.slow
@settings(max_examples=1500)
@given(texts(ITEMS), st.booleans())
def test_what_is_accepted_breaks_no_rule(text: str, has_reduce: bool) -> None:
    tree = parse(text)
    if is_accepted(tree, has_reduce=has_reduce):
        assert not list(faults(tree, has_reduce))


@pytest.mark.slow
@settings(max_examples=1500)
@given(texts(PLAIN, 2), st.booleans())
def test_of_texts_of_labels_all_that_are_right_are_accepted(text: str, has_reduce: bool) -> None:
    tree = parse(text)
    if tree.outputs is not None and any(term.items for term in tree.inputs) and len(tree.outputs) == 1:
        assert is_accepted(tree, has_reduce=has_reduce) == (not list(faults(tree, has_reduce)))


@pytest.mark.parametrize(
    "text", ["a b, b c -> a c", "a (b c), b -> a c", "... a=3, a -> ...", "a 1 -> a", "a b -> a : mean"]
)
def test_common_texts_are_accepted(text: str) -> None:
    assert is_accepted(parse(text))


def outcome(tree: Expression, operands: tuple[Operand, ...], reducer: str | None) -> Typed | str:
    try:
        typed = infer.type_expression(tree, operands, {}, reducer=reducer)
    except NameExprError as fault:
        return str(fault)
    return typed


@st.composite
def operands(draw: st.DrawFn, tree: Expression) -> tuple[Operand, ...]:
    """Draw operands that fit the terms, but for what a seed spoils in some of them."""
    sizes = {name: draw(st.integers(0, 2)) for name in PLAIN}
    made = []
    for term in tree.inputs:
        names = [getattr(item, "name", None) for item in term.items]
        shape = [sizes.get(str(name), 1) for name in names]
        spoilt = draw(st.integers(0, 12))
        shape += [1] * (spoilt == 0)
        if shape and spoilt == 1:
            shape[0] += 1
        is_named = draw(st.booleans())
        carried = [
            name if draw(st.integers(0, 9)) else draw(st.sampled_from([None, "a", "z"])) for name in names
        ]
        made.append(Operand(tuple(shape), tuple(carried[: len(shape)]) if is_named and spoilt else None))
    return tuple(made[: len(made) - (draw(st.integers(0, 19)) == 0)])


@pytest.mark.slow
@settings(max_examples=2000)
@given(st.data())
def test_labels_are_typed_in_one_pass_as_in_all(data: st.DataObject) -> None:
    tree = parse(data.draw(texts([*PLAIN * 8, "1", "(a b)"], 2)))
    if tree.outputs is None or len(tree.outputs) != 1 or tree.leaves_inputs_out:
        return
    given_, reducer = data.draw(operands(tree)), data.draw(st.sampled_from([None, None, "max", CUSTOM]))
    quick = outcome(tree, given_, reducer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(infer, "_labels_only", lambda *_: None)
        slow = outcome(tree, given_, reducer)
    assert quick == slow
    if isinstance(quick, Typed) and isinstance(slow, Typed):
        assert [*quick.sizes] == [*slow.sizes]


def test_limits_on_dims_hold_for_labels() -> None:
    set_limits(dims=2)
    fault = outcome(parse("a b c -> a b c"), (Operand((1, 1, 1)),), None)
    assert isinstance(fault, str) and "NE705" in fault
    fault = outcome(parse("a b, c -> a b c"), (Operand((1, 1)), Operand((1,))), None)
    assert isinstance(fault, str) and "NE705" in fault
