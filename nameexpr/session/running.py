"""A text and the tensors it is about, brought together: `prepare`, and then its plan or its value.

This is where a session, a toolbar and a notebook meet the package: nothing here knows of lines or screens.

>>> import nameexpr as ne
>>> from nameexpr.session.lines import read_text
>>> tensors = {"x": ne.ones(2, 3, names="N C"), "w": ne.ones(3, names="C")}
>>> value_of(prepare(read_text("N C, C -> N"), tensors)).value
tensor([3., 3.], names=('N',), shape=(2,))
>>> value_of(prepare(read_text("y[N] = sum[C](x)"), tensors)).named["y"].names
('N',)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nameexpr.compiler.pipeline import read_formula
from nameexpr.errors import did_you_mean
from nameexpr.runtime.check import Sizes, check
from nameexpr.runtime.compile import compile as compile_text
from nameexpr.runtime.compile import compile_formula
from nameexpr.runtime.compiled import Compiled
from nameexpr.runtime.compiled_formula import CompiledFormula
from nameexpr.runtime.plan.plan import Outline, Plan
from nameexpr.session.faults import LineError
from nameexpr.session.lines import Expression, Formula, Text
from nameexpr.session.operand_matching import named_operands

Tensors = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """How texts are computed; as the options of `nameexpr.compile`. `dtype` is for expressions alone."""

    dtype: str | None = None
    optimize: str | bool | None = None
    memory_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A text that can be computed.

    Attributes
    ----------
    compiled : Compiled, CompiledFormula or None
        None where shapes are only checked.
    operands : mapping of str to array_like
        What it is computed from, by what it is called, in order.
    chosen : bool
        Whether the operands were found by their names, and not said.
    """

    text: Text
    compiled: Compiled | CompiledFormula | None
    operands: tuple[tuple[str, Any], ...]
    sizes: Mapping[str, int] = field(default_factory=dict)
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """What came out: the value, and the statements of a formula by name."""

    value: Any
    named: Mapping[str, Any] = field(default_factory=dict)


def prepare(text: Text, tensors: Tensors, options: Options = Options()) -> Prepared:
    """Return a text with its operands.

    Raises
    ------
    NameExprError
        If the text is wrong.
    LineError
        If an operand is not there, or which one is meant cannot be told.
    """
    if isinstance(text, Formula):
        return _formula(text, tensors, options)
    found = named_operands(text, tensors)
    if found.tree.outputs is None and found.tree.reducer is None:
        return Prepared(text, None, found.operands, found.sizes, found.chosen)
    compiled = compile_text(
        text.text,
        sizes=found.sizes or None,
        dtype=options.dtype,
        optimize=options.optimize,
        memory_limit=options.memory_limit,
    )
    assert isinstance(compiled, Compiled), "an arrow or a reducer makes an expression"
    return Prepared(text, compiled, found.operands, found.sizes, found.chosen)


def _formula(text: Formula, tensors: Tensors, options: Options) -> Prepared:
    compiled = compile_formula(text.text, None, None, options.optimize, options.memory_limit)
    operands = []
    for name in compiled.operands:
        if name not in tensors:
            raise missing(name, text.text, tensors)
        operands.append((name, tensors[name]))
    return Prepared(text, compiled, tuple(operands))


def missing(name: str, text: str, tensors: Tensors) -> LineError:
    """Return the error for an operand of a formula that is not there."""
    span = read_formula(text).uses[name][0].span
    there = [one for one in tensors if one != "_"]
    hint = did_you_mean(name, there)
    if name == "_":
        hint = "_ is the last result, and there is none yet"
    elif not hint:
        listed = ", ".join(there[:8]) + (", ..." if len(there) > 8 else "")  # noqa: PLR2004  a line's length
        hint = f"there are {listed}" if there else f"make it: {name} = randn(N=2, C=3)"
    return LineError(f"there is no tensor '{name}'", text, span, hint)


def plan_of(ready: Prepared) -> Plan:
    """Return what would be done.

    Raises
    ------
    NameExprError
        If the operands do not fit.
    LineError
        If the text only checks shapes.
    """
    if ready.compiled is None:
        raise LineError("this text checks shapes and computes nothing", hint="say what results: N C, C -> N")
    if isinstance(ready.compiled, Compiled):
        return ready.compiled.plan(*(operand for _, operand in ready.operands))
    return ready.compiled.plan(operands=dict(ready.operands))


def outline_of(ready: Prepared) -> Outline:
    """Return the result's names, sizes and dtype, and what it costs; errors are those of `plan_of`."""
    if isinstance(ready.compiled, CompiledFormula):
        return ready.compiled.outline(operands=dict(ready.operands))
    assert ready.compiled is not None, "a text that checks shapes has no result"
    return ready.compiled.outline(*(operand for _, operand in ready.operands))


def value_of(ready: Prepared) -> Value:
    """Return the value, and of a formula those of all its statements.

    Raises
    ------
    NameExprError
        If the operands do not fit.
    """
    if ready.compiled is None:
        return Value(sizes_of(ready))
    if isinstance(ready.compiled, Compiled):
        return Value(ready.compiled(*(operand for _, operand in ready.operands)))
    return _statements(ready.compiled, dict(ready.operands))


def sizes_of(ready: Prepared) -> Sizes:
    """Return the sizes that a text without an arrow finds in its operands."""
    assert isinstance(ready.text, Expression), "formulas compute"
    operands = (operand for _, operand in ready.operands)
    return check(ready.text.text, *operands, sizes=ready.sizes or None)


def _statements(compiled: CompiledFormula, operands: Mapping[str, Any]) -> Value:
    """Return the values of the statements that have names, all computed at once, and that of the last one."""
    names = compiled.statements
    if len(names) == 1:
        value = compiled(operands=operands)
        return Value(value, {name: value for name in names if name is not None})
    known = tuple(name for name in names if name is not None)
    options = compiled.options
    together = compile_formula(compiled.text, known, None, options.optimize, options.memory_limit)
    named = dict(zip(known, together(operands=operands), strict=True))
    value = named[known[-1]] if names[-1] is not None else compiled(operands=operands)
    return Value(value, named)
