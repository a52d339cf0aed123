"""`expanded`: a formula with its derivatives written out, for all sizes of its operands.

The text is written for operands whose dims all have different sizes, twice: what depends on sizes is
different the second time, and is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.resolve_views import check_given
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.analysis.views import read_views
from nameexpr.compiler.compilation import build_graph
from nameexpr.compiler.gradient.text.examples import example_shapes, guessed_dtypes
from nameexpr.compiler.gradient.text.labels import NotWritableError
from nameexpr.compiler.gradient.text.stretched import labels_instead, with_labels, without_labels
from nameexpr.compiler.gradient.text.written import written_out
from nameexpr.compiler.ir.axes import Names
from nameexpr.compiler.ir.dtypes import WEAK
from nameexpr.compiler.pipeline import read_formula
from nameexpr.errors import Diagnostic, Mark, NameExprError, SizeError, error
from nameexpr.runtime.formula import FormulaEntry
from nameexpr.runtime.operands import OperandSpec, spec_of
from nameexpr.syntax import ast, walk
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_formula

FIRST_SIZES, APART = (1009, 1201), 3
"""The smallest sizes of dims that operands do not determine, and how many times as large the next is."""


def expanded(entry: FormulaEntry, given: Mapping[str, Any]) -> str:
    """Return a formula without calls of `grad`; NE539 if a derivative cannot be written as text."""
    scope = entry.tree
    if not any(call.function == "grad" for call in scope.gradients):
        return entry.text
    if walk.atoms_of(ast.STRETCHED, walk.terms_in(scope.tree)):
        return _with_stretched(entry, {**entry.bound, **given})
    specs = {name: _spec(entry, name, value) for name, value in {**entry.bound, **given}.items()}
    check_given(scope, {name: Operand(()) for name in (*scope.uses, *specs)})
    try:
        texts = [_text(entry, specs, start) for start in FIRST_SIZES]
    except NotWritableError as fault:
        raise error(_refusal(scope, str(fault))) from None
    except SizeError as fault:
        hint = "give the sizes of the labels that operands do not determine: sizes={...}"
        why = f"no sizes are known that fit ({fault.diagnostics[0].message})"
        raise error(_refusal(scope, why, hint)) from fault
    if texts[0] != texts[1]:
        raise error(_refusal(scope, "the derivative depends on the sizes of dims"))
    return texts[0]


def _with_stretched(entry: FormulaEntry, given: Mapping[str, Any]) -> str:
    """Return a formula with packs or `...` that is written out for one label in place of each."""
    scope = entry.tree
    try:
        labels = labels_instead(scope)
        for name, value in given.items():
            terms = [use.term for use in scope.uses.get(name, ()) if use.term is not None]
            if walk.atoms_of(ast.STRETCHED, terms) and _spec(entry, name, value).names is not None:
                raise NotWritableError(
                    f"the dims of the tensor '{name}' have names, and its terms have '...'"
                )
        inner = FormulaEntry(unparse_formula(with_labels(scope.tree, labels)), entry.options)
        return unparse_formula(without_labels(parse_formula(expanded(inner, given)), labels, scope))
    except NotWritableError as fault:
        raise error(_refusal(scope, str(fault), "write these dims out")) from None


def _spec(entry: FormulaEntry, name: str, value: Any) -> OperandSpec:
    """Return what is known about an operand: an array, or a shape."""
    return OperandSpec(value) if isinstance(value, tuple) else spec_of(entry.unwrapped(value, name))


def shapes_for(entry: FormulaEntry, given: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return shapes of all operands that fit a formula; `given` are those that are known."""
    names = {name: _spec(entry, name, value).names for name, value in {**entry.bound, **given}.items()}
    return example_shapes(entry.tree, names, dict(entry.options.sizes), FIRST_SIZES[0])


def _text(entry: FormulaEntry, specs: Mapping[str, OperandSpec], start: int) -> str:
    scope, sizes = entry.tree, dict(entry.options.sizes)
    dtypes = guessed_dtypes(scope, "float64" if entry.dtype is None else entry.dtype_name(entry.dtype))
    for name, spec in specs.items():
        if spec.dtype is not None:
            dtypes[name] = WEAK.get(spec.dtype) or entry.dtype_name(spec.dtype)
    names: dict[str, Names | None] = {name: spec.names for name, spec in specs.items()}
    shapes = example_shapes(scope, names, sizes, start, APART)
    operands = {name: Operand(shape, names.get(name)) for name, shape in shapes.items()}
    views = read_views(scope, operands, sizes)
    text = unparse_formula(written_out(scope, dtypes, views, entry.arithmetic, sizes))
    _check(text, operands, dtypes, entry, sizes)
    return text


def _check(
    text: str,
    operands: Mapping[str, Operand],
    dtypes: Mapping[str, str],
    entry: FormulaEntry,
    sizes: Mapping[str, int],
) -> None:
    """Raise `NotWritableError` if a text is not a formula of these operands."""
    try:
        scope = read_formula(text)
        given = {name: operands[name] for name in scope.uses}
        build_graph(scope, dtypes, read_views(scope, given, sizes), entry.arithmetic)
    except NameExprError as fault:
        raise NotWritableError(str(fault.diagnostics[0].message)) from fault


def _refusal(scope: Scope, why: str, hint: str = "", marks: tuple[Mark, ...] = ()) -> Diagnostic:
    hint = hint or "evaluating the formula needs no text of its derivatives"
    message = f"no text of this derivative is known: {why}"
    return Diagnostic("NE539", message, scope.text, marks, hint=hint)
