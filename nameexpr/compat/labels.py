"""Give each dim of the operands of `numpy.einsum`, opt_einsum and `einops.einsum` its label and its size.

Where sizes differ from those of other operands and are 1, the dim is broadcast: it gets no label, and is
dropped before anything is multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compat.subscripts import marks, shown
from nameexpr.compiler.analysis.infer import Typed
from nameexpr.compiler.analysis.operands import Operand, describe, fits, stretch
from nameexpr.compiler.ir.axes import DOTS, under_word
from nameexpr.errors import Diagnostic, Mark, error
from nameexpr.syntax.ast import Dots, Expression, Item, Label

Dims = Sequence[tuple[str, Item]]


def label_dims(tree: Expression, operands: Sequence[Operand]) -> Typed:
    """Return subscripts with the labels of all dims, and their sizes.

    Raises
    ------
    NameExprError
        A ValueError, if there are more or fewer operands than terms (NE501, NE502) or dims than labels
        (NE310), if sizes differ (NE304, NE309), or if the result lacks the dims under `...` (NE213).
    """
    _check_count(tree, operands)
    dims = [_dims(tree, position, operands) for position in range(len(operands))]
    sizes = _sizes(tree, operands, dims)
    (output,) = tree.outputs or ()
    under = [label for label in sizes if label.startswith(DOTS)]
    under.sort(key=lambda label: -int(label.removeprefix(DOTS)))
    result = []
    for item in output.items:
        result += under if isinstance(item, Dots) else [item.name] if isinstance(item, Label) else []
    _check_kept(tree, operands, [label for label in under if label not in result])
    axes = [
        tuple([
            (label,) if size == sizes[label] else ()
            for (label, _), size in zip(own, operand.shape, strict=True)
        ])
        for own, operand in zip(dims, operands, strict=True)
    ]  # fmt: skip
    dropped = tuple([label for label in sizes if label not in result])
    return Typed(tuple(axes), tuple([(label,) for label in result]), (), sizes, dropped, None)


def _check_count(tree: Expression, operands: Sequence[Operand]) -> None:
    terms, count = tree.inputs, len(operands)
    if len(terms) == count:
        return
    wants = f"the text has {len(terms)} {'term' if len(terms) == 1 else 'terms'}"
    message = f"{wants}, but {count or 'no'} {'operands were' if count > 1 else 'operand was'} given"
    infos = describe(terms, operands)
    spare = tuple([Mark(term.span) for term in (terms[count:] or terms[-1:])])
    code, hint = (
        ("NE501", "give an array for each term") if count < len(terms) else ("NE502", "commas separate terms")
    )
    raise error(Diagnostic(code, message, tree.text, spare, infos, hint))


def _dims(tree: Expression, position: int, operands: Sequence[Operand]) -> Dims:
    """Return the label of each dim of an operand, and the item that it comes from."""
    term, ndim = tree.inputs[position], len(operands[position].shape)
    if not fits(term, ndim):
        has_dots = any(isinstance(item, Dots) for item in term.items)
        count = len(term.items) - has_dots
        needs = f"at least {count}" if has_dots else str(count)
        message = f"operand {position} has {ndim} {'dim' if ndim == 1 else 'dims'}, and its term has {needs}"
        hint = "write one letter for each dim; ... stands for any number of dims"
        infos = describe(tree.inputs, operands, (position,))
        raise error(Diagnostic("NE310", message, tree.text, (Mark(term.span),), infos, hint))
    return [
        (item.name if isinstance(item, Label) else under_word(DOTS, number), item)
        for item, number in stretch(term, ndim)
    ]


def _sizes(tree: Expression, operands: Sequence[Operand], dims: Sequence[Dims]) -> dict[str, int]:
    """Return the size of each label: that of the dims whose size is not 1, if there are any."""
    sizes: dict[str, int] = {}
    first: dict[str, tuple[int, int]] = {}
    for position, (own, operand) in enumerate(zip(dims, operands, strict=True)):
        here: dict[str, int] = {}
        for dim, ((label, _), size) in enumerate(zip(own, operand.shape, strict=True)):
            known = sizes.setdefault(label, size)
            if (known != size and 1 not in (known, size)) or here.setdefault(label, size) != size:
                raise error(_clash(tree, operands, dims, first[label], (position, dim)))
            if known == 1 or label not in first:
                sizes[label] = size
                first[label] = position, dim
    return sizes


def _clash(
    tree: Expression,
    operands: Sequence[Operand],
    dims: Sequence[Dims],
    one: tuple[int, int],
    other: tuple[int, int],
) -> Diagnostic:
    """Return the error for two dims of a label, each given by its operand and its position there."""
    items = [dims[operand][dim][1] for operand, dim in (one, other)]
    sizes = [operands[operand].shape[dim] for operand, dim in (one, other)]
    message = f"{shown(items[0])} is {sizes[0]} in operand {one[0]} and {sizes[1]} in operand {other[0]}"
    where = tuple([Mark(item.span, str(size)) for item, size in zip(items, sizes, strict=True)])
    hint = "dims with one label have one size, or size 1 in some of the operands"
    if one[0] == other[0]:
        hint = "a diagonal has dims of one size"
    code = "NE304" if isinstance(items[0], Label) else "NE309"
    return Diagnostic(
        code, message, tree.text, where, describe(tree.inputs, operands, (one[0], other[0])), hint
    )


def _check_kept(tree: Expression, operands: Sequence[Operand], lost: Sequence[str]) -> None:
    """Raise an error if the result lacks the dims under `...` (NE213)."""
    if lost:
        dots = [item for term in tree.inputs for item in term.items if isinstance(item, Dots)]
        message = f"the {len(lost)} {'dim' if len(lost) == 1 else 'dims'} under '...' are not in the result"
        hint = "write ... in the result, or give each dim a letter"
        infos = describe(tree.inputs, operands)
        raise error(Diagnostic("NE213", message, tree.text, marks(dots), infos, hint))
