"""Type an expression: from the shapes and names of its operands to a `Typed` expression, or an error with
carets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import prod
from typing import TYPE_CHECKING

from nameexpr.compiler.analysis.operands import Operand, describe, measured, numbers
from nameexpr.compiler.ir.axes import (
    DOTS,
    Axes,
    Labels,
    Names,
    labels_under,
    shown,
    under_word,
)
from nameexpr.compiler.ir.dtypes import SAME_DTYPE, Dtypes, counting_dtype
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange, Node, Reduction, View, Window, windowed
from nameexpr.errors import Diagnostic, Mark, Span, error
from nameexpr.ops import NEED_ELEMENTS
from nameexpr.records import record
from nameexpr.syntax.ast import LABELLED, STRETCHED, Expression, Label, Literal, Term
from nameexpr.syntax.limits import limits

if TYPE_CHECKING:
    from nameexpr.compiler.analysis.blocks import Blocks
    from nameexpr.compiler.analysis.readings import Readings
    from nameexpr.compiler.analysis.resolve import Resolved


@record
class Typed:
    """An expression with all its sizes known.

    `operands` and `result` contain for each dim the labels whose row-major product it is: one for a plain
    dim, several for a group, none for a dim of size 1 that is dropped or created. `dropped` are the labels
    that the result lacks, in the order of their first mention; `reducer` combines them: None is the implicit
    sum of a contraction, `CUSTOM` a callable. `readings` describe the dims that are read in parts or at
    positions, `blocks` what is moved to or from the parts of a dim.
    """

    operands: tuple[Axes, ...]
    result: Axes
    names: Names
    sizes: Mapping[str, int]
    dropped: Labels
    reducer: str | None
    readings: Readings = {}  # noqa: RUF012  never written to
    blocks: Blocks | None = None


def type_expression(
    tree: Expression, operands: Sequence[Operand], keywords: Mapping[str, int], *, reducer: str | None = None
) -> Typed:
    """Return a checked expression with its names matched and its sizes solved.

    `keywords` are sizes, and `reducer` is a reducer, or `CUSTOM`, that are given in addition to the text.
    """
    if not tree.inputs[0].items and tree.leaves_inputs_out:
        from nameexpr.compiler.analysis.infer_inputs import fill_in

        tree = fill_in(tree, operands, has_reduce=reducer is not None)
    typed = None if keywords else _labels_only(tree, operands, reducer)
    if typed is None:
        is_reduced = reducer is not None or tree.reducer is not None
        resolved, (names, *others), sizes = _solved(tree, operands, keywords, is_reduced=is_reduced)
        reducer = tree.reducer.name if tree.reducer is not None else reducer
        blocks = None
        if resolved.joined or resolved.others:
            from nameexpr.compiler.analysis.blocks import read_blocks

            blocks = read_blocks(tree, resolved, sizes, others)
        dropped = () if blocks else _dropped(tree, resolved)
        rest = reducer, resolved.readings, blocks
        typed = Typed(resolved.operands, resolved.result, names, sizes, dropped, *rest)
    if typed.reducer in NEED_ELEMENTS and any(typed.sizes[label] == 0 for label in typed.dropped):
        raise error(_no_elements(tree, operands, typed))
    return typed


def _solved(
    tree: Expression, operands: Sequence[Operand], keywords: Mapping[str, int], *, is_reduced: bool = False
) -> tuple[Resolved, list[Names], dict[str, int]]:
    """Return the labels of a text, the names of each result, and all sizes."""
    from nameexpr.compiler.analysis.names import match_names, result_names
    from nameexpr.compiler.analysis.resolve import resolve
    from nameexpr.compiler.analysis.sizes import solve

    resolved = resolve(tree, operands, is_reduced=is_reduced)
    names: list[Names] = [()] * (1 + len(resolved.others))
    under = match_names(tree, operands, resolved.packs)
    if under and tree.outputs is not None:
        names = [result_names(term, under, tree.text, tree.inputs, operands) for term in tree.outputs]
    resolved, sizes = solve(tree, operands, resolved, keywords)
    return resolved, names, sizes


def _labels_only(tree: Expression, operands: Sequence[Operand], reducer: str | None) -> Typed | None:
    """Return the typed expression if its terms consist of labels only and everything fits, else None.

    This gives the same result as the general method, in one pass and a third of the time: there is nothing to
    solve or to align.
    """
    outputs, terms = tree.outputs, tree.inputs
    if outputs is None or len(terms) != len(operands):
        return None
    sizes: dict[str, int] = {}
    arrays, most = [], limits().dims
    for term, operand in zip(terms, operands, strict=True):
        labels = measured(term, operand, sizes, most)
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
    if len(result) > most:
        return None
    kept = {*result}
    dropped = tuple([label for label in sizes if (label,) not in kept])
    reducer = tree.reducer.name if tree.reducer is not None else reducer
    return Typed(tuple(arrays), tuple(result), names, sizes, dropped, reducer)


def infer_sizes(
    tree: Expression, operands: Sequence[Operand], keywords: Mapping[str, int]
) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """Return the sizes that an assertion finds: those of labels, and those under packs and "..."."""
    from nameexpr.syntax.walk import atoms, atoms_of, labels_in_place, places

    sizes = _solved(tree, operands, keywords)[2]
    packs = {
        getattr(item, "name", DOTS): tuple(sizes[label] for label in labels_under(item.word, sizes))
        for item in atoms_of(STRETCHED, tree.inputs)
    }
    terms = [Term((item,)) for term in tree.inputs for item in term.items]
    inside = [labels for term in terms for labels in (atoms(term.items), *map(labels_in_place, places(term)))]
    names = [atom.name for atom in chain.from_iterable(inside) if isinstance(atom, LABELLED)]
    return {name: sizes[name] for name in names}, packs


def _dropped(tree: Expression, resolved: Resolved) -> tuple[str, ...]:
    """Return the labels that the result lacks in the order of the text, packs as a whole where they begin."""
    from nameexpr.compiler.analysis.readings import visible

    kept = {label for labels in resolved.result for label in labels}
    order: list[str] = []
    for term, dims in zip(tree.inputs, resolved.operands, strict=True):
        axes = visible(dims, resolved.readings) if resolved.readings else dims
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
    from nameexpr.syntax.walk import atoms

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
    hint = "reduce over dims that have elements, or use a reducer that is defined for none, such as sum"
    return Diagnostic(
        "NE311", message, tree.text, (*marks, Mark(span)), describe(tree.inputs, operands), hint
    )


def build_expression(typed: Typed, dtypes: Dtypes) -> tuple[Graph, tuple[int, ...]]:
    """Return the graph of an expression, and the numbers of its results."""
    if typed.blocks is not None:
        from nameexpr.compiler.analysis.blocks import build_blocks

        return build_blocks(typed.blocks, dtypes)
    nodes: list[Node] = [View(position, -1, axes) for position, axes in enumerate(typed.operands)]
    every = (*typed.operands, typed.result)
    labels = [tuple(dict.fromkeys(chain.from_iterable(axes))) for axes in every]
    order, known_dtypes = labels.pop(), [*dtypes.operands]
    factors = _read(typed, nodes, labels, known_dtypes) if typed.readings else range(len(nodes))
    reducer, compute, result = typed.reducer, dtypes.compute, dtypes.result
    if reducer == "any" and typed.dropped:  # any product is true if their count is not 0
        compute = counting_dtype(dtypes.operands, prod(typed.sizes.values())) or compute
    is_counted = compute != dtypes.compute
    result = "bool" if is_counted else result
    inside = dict.fromkeys([label for factor in factors for label in labels[factor]])
    kept = [label for label in inside if label not in typed.dropped]
    reduction = Reduction(reducer, tuple(factors), typed.dropped, compute, result)
    # Indices, truth values and the results of a caller's function do not have the dtype of the operands.
    known = result if reducer in {None, "sum"} or reducer in SAME_DTYPE or is_counted else ""
    nodes += [reduction, Arrange(len(nodes), typed.result)]
    dtypes_of_all = [*known_dtypes, known, known]
    return Graph(dict(typed.sizes), nodes, [*labels, tuple(kept), order], dtypes_of_all), (len(nodes) - 1,)


def _read(typed: Typed, nodes: list[Node], labels: list[Labels], dtypes: list[str]) -> list[int]:
    """Add the values whose dims are read in parts or at positions, and return the factors."""
    from nameexpr.compiler.analysis.readings import read_of

    factors: list[int] = []
    for position, axes in enumerate(typed.operands):
        whole = [label for group in axes for label in group if label in typed.readings]
        found = [read_of(typed.readings[label], typed.sizes) for label in whole]
        reads = tuple([read for read in found if read is not None])
        assert len(reads) == len(whole), "the grammar of expressions has affine positions only"
        factors.append(position)
        if reads:
            factors[-1] = len(nodes)
            nodes.append(Window(position, reads))
            labels.append(windowed(labels[position], reads))
            dtypes.append(dtypes[position])
    return factors
