"""The rule for two tensors that are broadcast together: dims pair from the right, names unify.

An error shows both tensors aligned as they were paired, with carets below the dims that clash. What to do
about it is in `nameexpr.rules.pairing_hints`.

>>> from nameexpr.dims import Dim
>>> unified((Dim("N", 2), Dim("C", 3)), (Dim(None, 3),), Pairing("add"))
('N', 'C')
"""

from __future__ import annotations

from nameexpr.dims import Clash, Dim, Dims, Names, names_of, unify_from_right
from nameexpr.errors import NameExprError
from nameexpr.rules import pairing_hints
from nameexpr.rules.pictures import Pairing, paired_fault


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
    place = unequal(left, right)
    if place is not None:
        raise size_fault(left, right, (place, place), pairing)


def unequal(left: Dims, right: Dims) -> int | None:
    """Return the first place from the right, counted from -1, whose sizes do not broadcast, or None."""
    for place in range(-1, -min(len(left), len(right)) - 1, -1):
        if left[place].size != right[place].size and 1 not in (left[place].size, right[place].size):
            return place
    return None


def size_fault(left: Dims, right: Dims, places: tuple[int, int], pairing: Pairing) -> NameExprError:
    """Return (not raise) NE370 for sizes at these places that meet and differ."""
    a, b = left[places[0]], right[places[1]]
    message = f"{pairing.verb}: {_meeting(a, b)} has size {a.size} {_in(pairing.left)}"
    message += f" and {b.size} {_in(pairing.right)}"
    hint = pairing_hints.of_sizes(left, right, places, pairing)
    return paired_fault("NE370", message, (left, right), pairing, ([places[0]], [places[1]]), hint)


def _meeting(a: Dim, b: Dim) -> str:
    name = a.name or b.name
    return "a dim without a name" if name is None else f"dim {name!r}"


def _in(role: str) -> str:
    if role in ("left", "right"):
        return f"in the {role} tensor"
    return f"in {role}" if role[-1:].isdigit() else f"in the {role}"


def clashing(clash: Clash, left: Dims, right: Dims, pairing: Pairing) -> NameExprError:
    """Return the error for names that do not unify."""
    a, b = left[clash.left].name, right[clash.right].name
    marked = ([clash.left], [clash.right])
    if clash.kind == "mismatch":
        message = f"{pairing.verb}: dim {a!r} {_in(pairing.left)} meets dim {b!r} {_in(pairing.right)}"
        hint = pairing_hints.of_names(clash, left, right, pairing)
        return paired_fault("NE470", message, (left, right), pairing, marked, hint)
    message = f"{pairing.verb}: dim {a!r} stands at different places from the right, and meets an unnamed dim"
    hint = pairing_hints.of_places(clash, left, right, pairing)
    return paired_fault("NE471", message, (left, right), pairing, marked, hint)


__all__ = [
    "Pairing",
    "broadcast",
    "check_sizes",
    "clashing",
    "paired_fault",
    "size_fault",
    "unequal",
    "unified",
]
