"""Match a text with its operands: `prepare`, and then its plan, its type or its value.

The operands of an expression are those after its bar, or those whose names are the labels of its terms. This
is the interface between sessions, toolbars and notebooks and the package: nothing here depends on a screen.

>>> import nameexpr as ne
>>> from nameexpr.session.lines import read_text
>>> tensors = {"x": ne.ones(2, 3, names="N C"), "w": ne.ones(3, names="C")}
>>> ready = prepare(read_text("N C, C -> N"), tensors)
>>> [name for name, _ in ready.operands], value_of(ready).value
(['x', 'w'], tensor([3., 3.], names=('N',), shape=(2,)))
>>> value_of(prepare(read_text("y[N] = sum[C](x)"), tensors)).named["y"].names
('N',)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from nameexpr.backends.numpy.costs.program import duration
from nameexpr.compiler.pipeline import read, read_formula
from nameexpr.errors import Span, did_you_mean
from nameexpr.pictures.words import bytes_text, flops_text
from nameexpr.runtime.check import Sizes, check
from nameexpr.runtime.compile import compile as compile_text
from nameexpr.runtime.compile import compile_formula
from nameexpr.runtime.compiled import Compiled
from nameexpr.runtime.compiled_formula import CompiledFormula
from nameexpr.runtime.grad import value_and_grad
from nameexpr.runtime.options import checked_sizes
from nameexpr.runtime.plan.plan import Plan
from nameexpr.session.lines import ExpressionLine, FormulaLine, TextLine, Word
from nameexpr.session.values import dims_text, shown
from nameexpr.syntax import ast
from nameexpr.syntax.unparse import unparse_term
from nameexpr.terminal.faults import LineError
from nameexpr.terminal.tables import as_number

T = TypeVar("T")
Tensors: TypeAlias = Mapping[str, Any]
Operands: TypeAlias = tuple[tuple[str, Any], ...]
QUOTED = 60
"""The length up to which a hint repeats a text."""
LISTED = 8
"""Number of tensors that a hint lists."""


class PreparedText(NamedTuple):
    """A compiled text with its operands.

    Attributes
    ----------
    compiled : Compiled or None
        None if shapes are only checked.
    operands : tuple of (str, array_like)
        The operands with their names, in order.
    options : mapping of str to object
        The options of compilation, as for `nameexpr.compile`.
    chosen : bool
        Whether the operands were found by their names rather than given.
    """

    text: TextLine
    compiled: Compiled | None
    operands: Operands
    options: Mapping[str, Any]
    chosen: bool = False

    def ask(self, call: Callable[..., T]) -> T:
        """Call a method of `compiled` with the operands."""
        if isinstance(self.compiled, CompiledFormula):
            return call(operands=dict(self.operands))
        return call(*(operand for _, operand in self.operands))

    def sizes(self) -> Sizes:
        """Check the shapes of a text without an arrow (NameExprError if they do not fit)."""
        return self.ask(partial(check, self.text.text, sizes=self.options["sizes"]))


class TextValue(NamedTuple):
    """A result, and the values of a formula's statements by name."""

    value: Any
    named: Mapping[str, Any] = {}


def prepare(text: TextLine, tensors: Tensors, **options: Any) -> PreparedText:
    """Compile a text, with options as for `nameexpr.compile`, and find its operands (LineError if one does
    not exist, or is ambiguous).
    """
    if isinstance(text, FormulaLine):
        formula = compile_formula(text.text, **options)
        operands = tuple(_used(name, text, tensors) for name in formula.operands)
        return PreparedText(text, formula, operands, options)
    tree, operands, sizes = _read(text, tensors)
    options["sizes"] = sizes or None
    checks_only = tree.outputs is None and tree.reducer is None
    compiled = None if checks_only else compile_text(text.text, **options)
    return PreparedText(text, compiled, operands, options, text.operands is None)


def plan_of(ready: PreparedText) -> Plan:
    """Return the plan (NameExprError if the operands do not fit, LineError if shapes are only checked)."""
    if ready.compiled is None:
        hint = "write an arrow and the result: N C, C -> N"
        raise LineError("this text checks shapes and computes nothing", hint=hint, code="operand")
    return ready.ask(ready.compiled.plan)


def code_of(ready: PreparedText) -> str:
    """Return the NumPy code, as source."""
    return plan_of(ready).code.rstrip("\n")


def gradient_text(text: TextLine, wrt: str, tensors: Tensors, dtype: Any = None) -> str:
    """Write out the gradients of a formula by the tensors in `wrt`, or, if there are none, the derivatives in
    it (NameExprError if there are no such gradients, LineError if it is not said by what).

    Tensors that do not exist yet are taken for arrays with the dims of their terms.
    """
    if wrt or not isinstance(text, FormulaLine):
        step = value_and_grad(text.text, wrt.replace(",", " "), dtype=dtype)
        return step.expanded(operands=_existing(step.formula, tensors))
    formula = compile_formula(text.text, dtype=dtype)
    if not any(call.function == "grad" for call in formula._entry.tree.gradients):
        names, shown = " ".join(formula.operands), " ".join(text.text.split())
        hint = (
            f"name them: :gradient {names}: {shown if len(shown) <= QUOTED else '...'}"
            if names
            else "there is no tensor in it"
        )
        raise LineError("by which tensors are the gradients?", hint=hint, code="operand")
    return formula.expanded(operands=_existing(formula, tensors))


def _existing(formula: CompiledFormula, tensors: Tensors) -> Tensors:
    return {name: tensors[name] for name in formula.operands if name in tensors}


def value_of(ready: PreparedText) -> TextValue:
    """Compute the result, and for a formula all its named statements in one call (NameExprError if the
    operands do not fit).
    """
    compiled = ready.compiled
    if compiled is None:
        return TextValue(ready.sizes())
    if not isinstance(compiled, CompiledFormula):
        return TextValue(ready.ask(compiled))
    *_, last = names = compiled.statements
    outputs = tuple(name for name in names if name is not None)
    if len(names) == 1:
        value = ready.ask(compiled)
        return TextValue(value, dict.fromkeys(outputs, value))
    together = compile_formula(compiled.text, **{**ready.options, "outputs": outputs})
    named = dict(zip(outputs, ready.ask(together), strict=True))
    return TextValue(ready.ask(compiled) if last is None else named[last], named)


def type_text(ready: PreparedText) -> str:
    """Return names, sizes, dtype, flops, memory and expected time of the result on one line (NameExprError if
    the operands do not fit).
    """
    if ready.compiled is None:
        return shown(ready.sizes())
    outline = ready.ask(ready.compiled.outline)
    dtypes = {
        str(getattr(operand, "dtype", None) or np.asarray(operand).dtype) for _, operand in ready.operands
    }
    dtype = outline.dtype or (dtypes.pop() if len(dtypes) == 1 else "")
    cost = [flops_text(outline.flops)] * (outline.flops > 0)
    cost += [bytes_text(outline.peak_bytes)] * (outline.peak_bytes > 0)
    return "  ".join([dims_text(outline.names, outline.shape), dtype, *cost, duration(outline.seconds)])


def expected_seconds(ready: PreparedText) -> float:
    """Return the expected seconds of a text on one core, 0 if shapes are only checked."""
    return ready.ask(ready.compiled.outline).seconds if ready.compiled is not None else 0.0


def _used(name: str, line: FormulaLine, tensors: Tensors) -> tuple[str, Any]:
    if name in tensors:
        return name, tensors[name]
    there = [tensor for tensor in tensors if tensor != "_"]
    hint = did_you_mean(name, there)
    if name == "_":
        hint = "_ is the last result, and there is none yet"
    elif not hint:
        listed = ", ".join(there[:LISTED]) + (", ..." if len(there) > LISTED else "")
        hint = f"there are {listed}" if there else f"make it: {name} = randn(N=2, C=3)"
    span = read_formula(line.text).uses[name][0].span
    raise LineError(f"there is no tensor '{name}'", line.text, span, hint, code="tensor")


def _read(line: ExpressionLine, tensors: Tensors) -> tuple[ast.Expression, Operands, Mapping[str, int]]:
    """Parse an expression; return its tree, operands, and the sizes given among them."""
    if line.operands is None:
        tree = read(line.text)
        return tree, tuple(_matching(line, tree, term, tensors) for term in tree.inputs), {}
    operands = [word for word in line.operands if "=" not in word.text]
    sizes = checked_sizes(dict(_size(line, word) for word in line.operands if "=" in word.text))
    tree = read(line.text, dict(sizes))
    return tree, tuple(_said(line, word, tensors) for word in operands), dict(sizes)


def _matching(
    line: ExpressionLine, tree: ast.Expression, term: ast.Term, tensors: Tensors
) -> tuple[str, Any]:
    """Return the only tensor whose names are the labels of a term."""
    names = _candidates(term, tensors)
    if len(names) == 1:
        return names[0], tensors[names[0]]
    written = unparse_term(term) or "a number"
    message = f"which tensor is '{written}'?" if term.items else "which tensor is the term of no dims?"
    if names:
        message = f"'{written}' may be {' or '.join(names)}"
    there = [name for name in tensors if name != "_"] or ["x"]
    guesses = [(_candidates(other, tensors) or there)[0] for other in tree.inputs]
    hint = f"write the operands after a bar: {' '.join(line.text.split())} | {', '.join(guesses)}"
    if not tensors:
        hint = "make a tensor first: x = randn(N=2, C=3)"
    span = term.span if term.items else Span(term.span.start, term.span.start + 1)
    raise LineError(message, line.text, span, hint, code="operand")


def _candidates(term: ast.Term, tensors: Tensors) -> list[str]:
    """Return the tensors whose names are a term's labels, in order; `_` only if that has no other name."""
    items = [item.base if isinstance(item, ast.At) else item for item in term.items]
    labels = [item.name for item in items if isinstance(item, ast.Label | ast.Sized)]
    if not labels or len(labels) != len(term.items):
        return []
    fitting = [name for name, tensor in tensors.items() if list(getattr(tensor, "names", ())) == labels]
    return [name for name in fitting if name != "_"] or fitting


def _said(line: ExpressionLine, word: Word, tensors: Tensors) -> tuple[str, Any]:
    """Return the tensor or the Python scalar that is written after the bar."""
    if word.text in tensors:
        return word.text, tensors[word.text]
    number = as_number(word.text)
    if number is not None:
        return word.text, number
    if word.text == "_":
        raise LineError("there is no last result yet", line.line, word.span, code="tensor")
    hint = did_you_mean(word.text, tensors) or f"make it: {word.text} = randn(N=2, C=3)"
    code = "tensor"
    if not word.text.isidentifier():
        hint, code = "tensors, Python scalars and sizes follow the bar: | x, 2.5, h=8", "operand"
    raise LineError(f"there is no tensor '{word.text}'", line.line, word.span, hint, code=code)


def _size(line: ExpressionLine, word: Word) -> tuple[str, int]:
    name, _, value = (part.strip() for part in word.text.partition("="))
    if not name.isidentifier() or not (value.isascii() and value.isdigit()) or len(value) > 18:  # noqa: PLR2004
        hint = "a size is a whole number: h=8"
        raise LineError(f"'{word.text}' is not a size", line.line, word.span, hint, code="operand")
    return name, int(value)


VIEWS: Mapping[str, Callable[[PreparedText], object]] = {"type": type_text, "plan": plan_of, "code": code_of}
"""The views of a text, other than its value, by the command of a session and the option of a magic."""
