"""The rule for two tensors that are broadcast together: dims pair from the right, names unify.

An error shows both tensors aligned as they were paired, with carets below the dims that clash.

>>> from nameexpr.dims import Dim
>>> unified((Dim("N", 2), Dim("C", 3)), (Dim(None, 3),), Pairing("add"))
('N', 'C')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nameexpr.dims import Clash, Dim, Dims, Names, names_of, shape_of, unify_from_right
from nameexpr.errors import Diagnostic, Mark, NameExprError, Span, did_you_mean, error
from nameexpr.inference.calls import shown


class Pairing(NamedTuple):
    """How an error speaks of two tensors that are paired: the verb, and what each of them is."""

    verb: str
    left: str = "left"
    right: str = "right"


def unified(left: Dims, right: Dims, pairing: Pairing) -> Names:
    """Return the names of two tensors broadcast together.

    Raises
    ------
    DimNameError
        NE470 if two names that meet are different, NE471 if a name meets an unnamed dim and stands elsewhere
        in the other tensor.

    Notes
    -----
    "Unifies names from inputs" in PyTorch's page "Named Tensors operator coverage".
    """
    names = unify_from_right(names_of(left), names_of(right))
    if isinstance(names, Clash):
        raise clashing(names, left, right, pairing)
    return names


def broadcast(left: Dims, right: Dims, pairing: Pairing) -> Dims:
    """Return names and sizes of two tensors broadcast together (NE370 if their sizes do not fit)."""
    names = unified(left, right, pairing)
    check_sizes(left, right, pairing)
    rank = len(names)
    sizes = zip(_padded(left, rank), _padded(right, rank), strict=True)
    both = (b.size if a.size == 1 else a.size for a, b in sizes)
    return tuple(map(Dim, names, both))


def _padded(dims: Dims, rank: int) -> Dims:
    return (Dim(None, 1),) * (rank - len(dims)) + dims


def check_sizes(left: Dims, right: Dims, pairing: Pairing) -> None:
    """Raise NE370 unless sizes that meet from the right are equal or one of them is 1."""
    for place in range(-1, -min(len(left), len(right)) - 1, -1):
        a, b = left[place], right[place]
        if a.size != b.size and 1 not in (a.size, b.size):
            message = f"{pairing.verb}: {_meeting(a, b)} has size {a.size} {_in(pairing.left)}"
            message += f" and {b.size} {_in(pairing.right)}"
            hint = "sizes that meet must be equal, or one of them 1; " + _pairing_hint(left, right, pairing)
            raise paired_fault("NE370", message, (left, right), pairing, ([place], [place]), hint)


def _meeting(a: Dim, b: Dim) -> str:
    name = a.name or b.name
    return "a dim without a name" if name is None else f"dim {name!r}"


def _in(role: str) -> str:
    return f"in the {role} tensor" if role in ("left", "right") else f"in {role}"


def clashing(clash: Clash, left: Dims, right: Dims, pairing: Pairing) -> NameExprError:
    """Return the error for names that do not unify."""
    a, b = left[clash.left].name, right[clash.right].name
    marked = ([clash.left], [clash.right])
    if clash.kind == "mismatch":
        message = f"{pairing.verb}: dim {a!r} {_in(pairing.left)} meets dim {b!r} {_in(pairing.right)}"
        hint = _mismatch_hint(a or "", b or "", left, right, pairing)
        return paired_fault("NE470", message, (left, right), pairing, marked, hint)
    message = f"{pairing.verb}: dim {a!r} stands at different places from the right, and meets an unnamed dim"
    hint = _misaligned_hint(left, right, pairing)
    return paired_fault("NE471", message, (left, right), pairing, marked, hint)


def _mismatch_hint(a: str, b: str, left: Dims, right: Dims, pairing: Pairing) -> str:
    if a in names_of(right) or b in names_of(left):
        return _pairing_hint(left, right, pairing)
    near = did_you_mean(b, [a])
    rename = f"{pairing.right}.rename({b}={a!r})"
    if near:
        return f"if both are the same dim, {rename}"
    return f"if both are the same dim, {rename}; if not, {_aligning(left, right, pairing)}"


def _pairing_hint(left: Dims, right: Dims, pairing: Pairing) -> str:
    return f"dims pair from the right: {_aligning(left, right, pairing)}"


def _aligning(left: Dims, right: Dims, pairing: Pairing) -> str:
    a, b = names_of(left), names_of(right)
    if None not in (*a, *b) and set(b) <= set(a):
        return f"{pairing.right}.align_as({pairing.left}) pairs them by name"
    if None not in (*a, *b) and set(a) <= set(b):
        return f"{pairing.left}.align_as({pairing.right}) pairs them by name"
    if None in (*a, *b):
        return "name all dims (refine_names), then align_to or align_as pair them by name"
    everything = tuple(dict.fromkeys((*a, *b)))
    return f"align_to({', '.join(map(shown, everything))}) on both gives each dim a place of its own"


def _misaligned_hint(left: Dims, right: Dims, pairing: Pairing) -> str:
    role, dims = (pairing.left, left) if None in names_of(left) else (pairing.right, right)
    if None not in names_of(dims):
        return _pairing_hint(left, right, pairing)
    at = names_of(dims).index(None)
    aligning = "then align_to or align_as pair them by name"
    return f"dim {at} of {role} has no name: give it one (refine_names), {aligning}"


Marked = tuple[Sequence[int], Sequence[int]]
"""The dims to mark in the left and in the right tensor, counted from either end."""


def paired_fault(
    code: str, message: str, tensors: tuple[Dims, Dims], pairing: Pairing, marked: Marked, hint: str
) -> NameExprError:
    """Return (not raise) an error that shows both tensors aligned from the right."""
    text, marks = aligned(tensors, (pairing.left, pairing.right), marked)
    return error(Diagnostic(code, message, text, marks, hint=hint))


def aligned(
    tensors: Sequence[Dims], roles: Sequence[str], marked: Sequence[Sequence[int]]
) -> tuple[str, tuple[Mark, ...]]:
    """Return tensors as lines of text, their dims below each other from the right, and the marks."""
    rank = max(map(len, tensors))
    rows = [[""] * (rank - len(dims)) + [_cell(dim) for dim in dims] for dims in tensors]
    widths = [max(len(row[place]) for row in rows) for place in range(rank)]
    margin = max(map(len, roles))
    lines, marks, start = [], [], 0
    for role, dims, row, places in zip(roles, tensors, rows, marked, strict=True):
        line = role.ljust(margin) + "".join(
            "  " + cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        )
        if not dims:
            line = role.ljust(margin) + "  (0-d)"
        for place in places:
            at = place % len(dims) + rank - len(dims)
            left = start + margin + sum(width + 2 for width in widths[:at]) + 2
            marks.append(Mark(Span(left, left + len(row[at]))))
        lines.append(line.rstrip())
        start += len(lines[-1]) + 1
    return "\n".join(lines), tuple(marks)


def _cell(dim: Dim) -> str:
    return f"{dim.name}={dim.size}"


__all__ = ["Pairing", "aligned", "broadcast", "check_sizes", "paired_fault", "shape_of", "unified"]
