"""The front half after the text: operands' shapes and names in, a `Typed` expression or an error with carets
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.operands import Operand, describe, measured, numbers
from nameexpr.compiler.ir.axes import DOTS, Names, Typed, labels_under, shown, under_word
from nameexpr.compiler.ir.dtypes import SAME_DTYPE, Dtypes, counting_dtype
from nameexpr.compiler.ir.graph import Arrange, Graph, Reduction, View
from nameexpr.errors import Diagnostic, Mark, Span, error
from nameexpr.ops import NEED_ELEMENTS
from nameexpr.syntax.ast import (
    LABELLED,
    STRETCHED,
    Expression,
    Label,
    Literal,
    atoms,
)
from nameexpr.syntax.limits import limits

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.resolve import Resolved


def infer(
    tree: Expression, operands: Sequence[Operand], keywords: Mapping[str, int], *, reducer: str | None = None
) -> Typed:
    """Return the expression with all names matched and all sizes known.

    Parameters
    ----------
    tree : Expression
        A text that has passed `check_text`.
    operands : sequence of Operand
        Shapes, and names where the operand is a NamedTensor.
    keywords : mapping of str to int
        Sizes given beside the text.
    reducer : str, optional
        The reducer given beside the text: a name, or `CUSTOM`.

    Raises
    ------
    OperandError, SizeError, DimNameError, OptionError, LimitError
        As the stages of this function do: counts and ranks, names, sizes.
    """
    if tree.leaves_inputs_out:
        from nameexpr.compiler.analysis.infer_inputs import fill_in

        tree = fill_in(tree, operands, has_reduce=reducer is not None)
    typed = None if keywords else _labels_only(tree, operands, reducer)
    if typed is None:
        typed = _inferred(tree, operands, keywords, reducer)
    if typed.reducer in NEED_ELEMENTS and typed.size(typed.dropped) == 0:
        raise error(_no_elements(tree, operands, typed))
    return typed


def _inferred(
    tree: Expression, operands: Sequence[Operand], keywords: Mapping[str, int], reducer: str | None
) -> Typed:
    from nameexpr.compiler.analysis.names import match_names
    from nameexpr.compiler.analysis.resolve import resolve
    from nameexpr.compiler.analysis.sizes import solve

    is_reduced = reducer is not None or tree.reducer is not None
    resolved = resolve(tree, operands, is_reduced=is_reduced)
    names = match_names(tree, operands, resolved.packs)
    resolved, sizes = solve(tree, operands, resolved, keywords)
    reducer = tree.reducer.name if tree.reducer is not None else reducer
    return Typed(resolved.operands, resolved.result, names, sizes, _dropped(tree, resolved), reducer)


def _labels_only(tree: Expression, operands: Sequence[Operand], reducer: str | None) -> Typed | None:
    """Return the typed expression if its terms hold nothing but labels and everything fits, else None.

    The same as `_inferred` in one pass and a third of its time: there is nothing to solve or to align.
    """
    outputs, terms = tree.outputs, tree.inputs
    if outputs is None or len(terms) != len(operands):
        return None
    sizes: dict[str, int] = {}
    arrays = []
    for term, operand in zip(terms, operands, strict=True):
        labels = measured(term, operand, sizes)
        if labels is None:
            return None
        arrays.append(labels)
    result = []
    for item in outputs[0].items:
        if not isinstance(item, Label) or item.name not in sizes:
            return None
        result.append((item.name,))
    names: Names = ()
    if any(operand.names is not None for operand in operands):
        names = tuple(label for (label,) in result)
        if len(set(names)) < len(names):
            return None
    if len(result) > limits().dims:
        return None
    kept = {*result}
    dropped = tuple([label for label in sizes if (label,) not in kept])
    reducer = tree.reducer.name if tree.reducer is not None else reducer
    return Typed(tuple(arrays), tuple(result), names, sizes, dropped, reducer)


def infer_sizes(
    tree: Expression, operands: Sequence[Operand], keywords: Mapping[str, int]
) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """Return the sizes that an assertion finds: those of labels, and those under packs and "...".

    Raises
    ------
    OperandError, SizeError, DimNameError, OptionError, LimitError
        If the operands are not as the text says.
    """
    from nameexpr.compiler.analysis.names import match_names
    from nameexpr.compiler.analysis.resolve import resolve
    from nameexpr.compiler.analysis.sizes import solve

    resolved = resolve(tree, operands)
    match_names(tree, operands, resolved.packs)
    resolved, sizes = solve(tree, operands, resolved, keywords)
    packs = {
        word.removesuffix(DOTS) or DOTS: tuple(sizes[label] for label in labels_under(word, sizes))
        for word in resolved.packs
    }
    labels = dict.fromkeys(a.name for t in tree.inputs for a in atoms(t.items) if isinstance(a, LABELLED))
    return {label: sizes[label] for label in labels}, packs


def _dropped(tree: Expression, resolved: Resolved) -> tuple[str, ...]:
    """Return the labels that the result lacks, as the text mentions them: a pack or ellipsis as a whole where
    it first stands.
    """
    kept = {label for labels in resolved.result for label in labels}
    order: list[str] = []
    for term, axes in zip(tree.inputs, resolved.operands, strict=True):
        spare = len(axes) - (len(term.items) - 1)
        dim = 0
        for item in term.items:
            if isinstance(item, STRETCHED):
                word = item.word
                order += [under_word(word, number) for number in numbers(item, resolved.packs[word])]
                dim += spare
            else:
                order += axes[dim]
                dim += 1
    return tuple(dict.fromkeys(label for label in order if label not in kept))


def _no_elements(tree: Expression, operands: Sequence[Operand], typed: Typed) -> Diagnostic:
    empty = [label for label in typed.dropped if typed.sizes[label] == 0]
    names = {shown(label) for label in empty}
    span = tree.reducer.span if tree.reducer is not None else Span(len(tree.text), len(tree.text))
    marks = [
        Mark(atom.span, "0")
        for term in tree.inputs
        for atom in atoms(term.items)
        if (str(atom.size) if isinstance(atom, Literal) else getattr(atom, "name", None)) in names
    ]
    listed = " and ".join(f"'{shown(label)}'" for label in empty)
    message = f"{typed.reducer} over no elements has no value: {listed} is 0"
    hint = "reduce over dims that hold something, or use a reducer that has a value for nothing, such as sum"
    return Diagnostic(
        "NE311", message, tree.text, (*marks, Mark(span)), describe(tree.inputs, operands), hint
    )


def build_expression(typed: Typed, dtypes: Dtypes) -> tuple[Graph, int]:
    """Return the graph of an expression, and the number of its result.

    Whether any product of bools is true is said by their number, where they can be counted in floats.
    """
    graph = Graph(dict(typed.sizes))
    terms = [tuple(dict.fromkeys(label for group in axes for label in group)) for axes in typed.operands]
    views = [
        graph.add(View(position, -1, axes), labels, dtype)
        for position, (axes, labels, dtype) in enumerate(
            zip(typed.operands, terms, dtypes.operands, strict=True)
        )
    ]
    reducer, compute, result = typed.reducer, dtypes.compute, dtypes.result
    if reducer == "any" and typed.dropped:
        compute = counting_dtype(dtypes.operands, typed.size(tuple(typed.sizes))) or compute
        result = "bool" if compute != dtypes.compute else result
    kept = dict.fromkeys(label for labels in terms for label in labels if label not in typed.dropped)
    reduction = Reduction(reducer, tuple(views), typed.dropped, compute, result)
    # Indices, truth values and what a caller's function gives have dtypes of their own.
    is_known = reducer in {None, "sum"} or reducer in SAME_DTYPE or reduction.is_counted
    known = result if is_known else ""
    value = graph.add(reduction, tuple(kept), known)
    flat = dict.fromkeys(label for group in typed.result for label in group)
    return graph, graph.add(Arrange(value, typed.result), tuple(flat), known)
