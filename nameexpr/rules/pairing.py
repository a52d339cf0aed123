"""The rule for two tensors that are broadcast together: dims pair from the right, names unify.

An error shows both tensors one below the other as they were paired, with carets below the dims that clash.
Advice is given only if following it fixes the call: a tensor that is written to cannot be reordered, and the
dims of a matrix product are paired differently.

>>> from nameexpr.dims import Dim
>>> left, right = (Dim("N", 2), Dim("C", 3)), (Dim("Z", 3),)
>>> unified(left, (Dim(None, 3),), Pairing("add"))
('N', 'C')
>>> print(paired_fault("NE470", "these differ", (left, right), Pairing("add"), ([-1], [-1]), ""))
DimNameError[NE470]: these differ
  left   N=2  C=3
              ^^^
  right       Z=3
              ^^^
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import combinations, zip_longest
from typing import Literal, NamedTuple

from nameexpr.dims import Clash, Dim, Dims, Names, dims_of, names_of, unify_from_right
from nameexpr.errors import Diagnostic, Mark, NameExprError, Span, did_you_mean, error
from nameexpr.rules.calls import as_keywords, listed, shown


class Pairing(NamedTuple):
    """How an error refers to two paired tensors: the method, and the role of each.

    `moves` determines which of them advice may reorder: both, only the right one (the left one is written to,
    or joined unchanged), or neither (some of their dims do not pair from the right).
    """

    verb: str
    left: str = "left"
    right: str = "right"
    moves: Literal["both", "right", "none"] = "both"


Marked = tuple[Sequence[int], Sequence[int]]
"""The dims to mark in the left and in the right tensor, counted from either end."""


def paired_fault(
    code: str, message: str, tensors: tuple[Dims, Dims], pairing: Pairing, marked: Marked, hint: str
) -> NameExprError:
    """Return (not raise) an error that shows both tensors whole, aligned from the right."""
    text, marks = aligned(tensors, (pairing.left, pairing.right), marked)
    return error(Diagnostic(code, message, text, marks, hint=hint, is_whole=True))


def aligned(
    tensors: Sequence[Dims], roles: Sequence[str], marked: Sequence[Sequence[int]]
) -> tuple[str, tuple[Mark, ...]]:
    """Return tensors as lines of text, their dims aligned from the right, and the marks."""
    rank = max(map(len, tensors))
    rows = [[""] * (rank - len(dims)) + [_cell(dim) for dim in dims] for dims in tensors]
    widths = [max(len(row[position]) for row in rows) for position in range(rank)]
    margin = max(map(len, roles))
    lines, marks, start = [], [], 0
    for role, dims, row, places in zip(roles, tensors, rows, marked, strict=True):
        line = role.ljust(margin) + "".join(
            "  " + cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        )
        if not dims:
            line = role.ljust(margin) + "  (0-d)"
        for position in places:
            at = position % len(dims) + rank - len(dims)
            left = start + margin + sum(width + 2 for width in widths[:at]) + 2
            marks.append(Mark(Span(left, left + len(row[at]))))
        lines.append(line.rstrip())
        start += len(lines[-1]) + 1
    return "\n".join(lines), tuple(marks)


def _cell(dim: Dim) -> str:
    return f"{dim.name}={dim.size}"


def unified(left: Dims, right: Dims, pairing: Pairing) -> Names:
    """Return the names of two tensors broadcast together: "Unifies names from inputs" on PyTorch's page.

    NE470 if two paired names are different, NE471 if a name is paired with an unnamed dim and occurs
    elsewhere in the other tensor.
    """
    names = unify_from_right(names_of(left), names_of(right))
    if isinstance(names, Clash):
        raise clashing(names, left, right, pairing)
    return names


def broadcast(left: Dims, right: Dims, pairing: Pairing) -> Dims:
    """Return names and sizes of two tensors broadcast together (NE370 if their sizes do not fit)."""
    names = unified(left, right, pairing)
    check_sizes(left, right, pairing)
    pairs = zip_longest(reversed(left), reversed(right), fillvalue=Dim(None, 1))
    sizes = [b.size if a.size == 1 else a.size for a, b in pairs]
    return dims_of(names, sizes[::-1])


def bias_names(product: Dims, bias: Dims, verb: str, said: str) -> Names:
    """Return the names of a matrix product to which a bias is added (NE380 if the bias is larger)."""
    pairing = Pairing(said, "product", "bias", "right")
    dims = broadcast(product, bias, pairing)
    sizes, added = (tuple(dim.size for dim in one) for one in (product, bias))
    if tuple(dim.size for dim in dims) != sizes:
        message = f"{said}: a bias of shape {added} is larger than the product, {sizes}"
        hint = f"bias + {'mat1.mm(mat2)' if verb == 'addmm' else 'mat.mv(vec)'} broadcasts both"
        raise paired_fault("NE380", message, (product, bias), pairing, ((), ()), hint)
    return names_of(dims)


def check_sizes(left: Dims, right: Dims, pairing: Pairing) -> None:
    """Raise NE370 unless paired sizes, from the right, are equal or one of them is 1."""
    position = unequal(left, right)
    if position is not None:
        raise size_fault(left, right, (position, position), pairing)


def unequal(left: Dims, right: Dims) -> int | None:
    """Return the first position from the right, counted from -1, whose sizes do not broadcast, or None."""
    for position in range(-1, -min(len(left), len(right)) - 1, -1):
        a, b = left[position].size, right[position].size
        if a != b and 1 not in (a, b):
            return position
    return None


def size_fault(left: Dims, right: Dims, places: tuple[int, int], pairing: Pairing) -> NameExprError:
    """Return (not raise) NE370 for paired sizes at these positions that differ."""
    a, b = left[places[0]], right[places[1]]
    name = a.name or b.name
    dim = "a dim without a name" if name is None else f"dim {name!r}"
    message = f"{pairing.verb}: {dim} has size {a.size} {_in(pairing.left)}"
    message += f" and {b.size} {_in(pairing.right)}"
    hint = _hint_of_sizes(left, right, places, pairing)
    return paired_fault("NE370", message, (left, right), pairing, ([places[0]], [places[1]]), hint)


def _in(role: str) -> str:
    if role in ("left", "right"):
        return f"in the {role} tensor"
    return f"in {role}" if role[-1:].isdigit() else f"in the {role}"


def first_clash(tensors: Sequence[Dims], pairing: Callable[[int, int], Pairing]) -> NameExprError:
    """Return the error for the first two of several tensors that clash: some two do if all together do."""
    for left, right in combinations(range(len(tensors)), 2):
        clash = unify_from_right(names_of(tensors[left]), names_of(tensors[right]))
        if isinstance(clash, Clash):
            return clashing(clash, tensors[left], tensors[right], pairing(left, right))
    raise AssertionError("names that unify one by one unify all together")


def clashing(clash: Clash, left: Dims, right: Dims, pairing: Pairing) -> NameExprError:
    """Return the error for names that do not unify."""
    a, b = left[clash.left].name, right[clash.right].name
    marked = ([clash.left], [clash.right])
    if clash.kind == "mismatch":
        message = f"{pairing.verb}: dim {a!r} {_in(pairing.left)} meets dim {b!r} {_in(pairing.right)}"
        hint = _hint_of_names(clash, left, right, pairing)
        return paired_fault("NE470", message, (left, right), pairing, marked, hint)
    message = f"{pairing.verb}: dim {a!r} is at different positions from the right, and meets an unnamed dim"
    role, at = pairing.right, len(right) + clash.left
    if -clash.right <= len(left) and left[clash.right].name is None:
        role, at = pairing.left, len(left) + clash.right
    aligning = "then align_to or align_as pair them by name"
    hint = f"dim {at} of {role} has no name: give it one (refine_names), {aligning}"
    return paired_fault("NE471", message, (left, right), pairing, marked, hint)


_SIZES = "sizes that meet must be equal, or one of them 1"
_COMPUTED = ("product", "target")
"""Roles of tensors that are not variables of the user."""


def _hint_of_sizes(left: Dims, right: Dims, places: tuple[int, int], pairing: Pairing) -> str:
    """Return advice about two paired sizes: a dim without a name may be a different one."""
    a, b = left[places[0]], right[places[1]]
    if pairing.moves == "none" or (a.name is None) == (b.name is None):
        return _SIZES
    if a.name is None and pairing.moves == "right":
        return _SIZES
    unnamed, own, other = (a, left, right) if a.name is None else (b, right, left)
    taken = (None, *names_of(own))
    likely = [dim.name for dim in other if dim.size == unnamed.size and dim.name not in taken]
    if not likely:
        return _SIZES
    name = listed(likely, "or")
    naming = f"if size {unnamed.size} is that of {name}, name it so (refine_names)"
    return f"{_SIZES}; {naming}, and align_as puts it there"


def _hint_of_names(clash: Clash, left: Dims, right: Dims, pairing: Pairing) -> str:
    """Return advice about two paired names: they are one dim, or belong to other positions."""
    a, b = left[clash.left].name or "", right[clash.right].name or ""
    if a in names_of(right) or b in names_of(left):
        return f"dims pair from the right: {_in_order(left, right, pairing)}"
    renames = {b: a}
    if pairing.moves != "none":  # dims of the right tensor paired with a name that it lacks
        ours, theirs = names_of(left), names_of(right)
        pairs = list(zip(reversed(ours), reversed(theirs), strict=False))[::-1]
        renames = {b: a for a, b in pairs if a and b and a != b and a not in theirs and b not in ours}
    both = "both are the same dim" if len(renames) == 1 else "they are the same dims"
    rename = f"if {both}, {_variable(pairing.right)}.rename({as_keywords(renames)})"
    if did_you_mean(b, [a]) or pairing.moves != "both":
        return rename
    return f"{rename}; if not, {_side_by_side(left, right)}"


def _in_order(left: Dims, right: Dims, pairing: Pairing) -> str:
    """Return how to pair dims by name if a name is at different positions."""
    a, b = names_of(left), names_of(right)
    if pairing.moves == "none":
        return "align_to brings the batch dims of both into the same order"
    if None in (*a, *b):
        return "name all dims (refine_names), then align_to or align_as pair them by name"
    if set(b) <= set(a):
        order = f"align_as({_variable(pairing.left)})"
        if pairing.left in _COMPUTED:
            order = f"align_to({', '.join(map(shown, names_of(left)))})"
        return f"{_variable(pairing.right)}.{order} pairs them by name"
    if pairing.moves == "right":
        return f"{_variable(pairing.right)} has others than {_variable(pairing.left)}, which stays as it is"
    if set(a) <= set(b):
        return f"{_variable(pairing.left)}.align_as({_variable(pairing.right)}) pairs them by name"
    return _side_by_side(left, right)


def _side_by_side(left: Dims, right: Dims) -> str:
    everything = tuple(dict.fromkeys((*names_of(left), *names_of(right))))
    if None in everything:
        return "name all dims (refine_names), then align_to gives each a place of its own"
    return f"align_to({', '.join(map(shown, everything))}) on both gives each dim its own position"


def _variable(role: str) -> str:
    """Return a role as a user may write it: one of a list of tensors by its index."""
    return re.sub(r"^(tensor|operand) (\d+)$", r"\1s[\2]", re.sub(r"^index \d+$", "index", role))
