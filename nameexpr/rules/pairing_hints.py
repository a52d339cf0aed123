"""What to do about dims that meet and do not fit: rename one, or bring the tensors into one order.

Advice is given only where following it mends the call: a tensor that is written to cannot move, and the dims
of a matrix product pair in a way of their own.

>>> from nameexpr.dims import Dim
>>> from nameexpr.rules.pictures import Pairing
>>> of_names(Clash("mismatch", -1, -1), (Dim("N", 2), Dim("C", 3)), (Dim("N", 2),), Pairing("add"))
'dims pair from the right: right.align_as(left) pairs them by name'
"""

from __future__ import annotations

import re

from nameexpr.dims import Clash, Dims, names_of
from nameexpr.errors import did_you_mean
from nameexpr.rules.calls import listed, shown
from nameexpr.rules.pictures import Pairing

_SIZES = "sizes that meet must be equal, or one of them 1"
_COMPUTED = ("product", "target")
"""Roles of tensors that the user has no variable for."""


def of_sizes(left: Dims, right: Dims, places: tuple[int, int], pairing: Pairing) -> str:
    """Return what to do about two sizes that meet: where one dim has no name it may be another one."""
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


def of_names(clash: Clash, left: Dims, right: Dims, pairing: Pairing) -> str:
    """Return what to do about two names that meet: they are one dim, or belong elsewhere."""
    a, b = left[clash.left].name or "", right[clash.right].name or ""
    if a in names_of(right) or b in names_of(left):
        return f"dims pair from the right: {_in_order(left, right, pairing)}"
    renames = {b: a} if pairing.moves == "none" else _renames(left, right)
    changes = ", ".join(f"{old}={new!r}" for old, new in renames.items())
    both = "both are the same dim" if len(renames) == 1 else "they are the same dims"
    rename = f"if {both}, {_variable(pairing.right)}.rename({changes})"
    if did_you_mean(b, [a]) or pairing.moves != "both":
        return rename
    return f"{rename}; if not, {_side_by_side(left, right)}"


def _renames(left: Dims, right: Dims) -> dict[str, str]:
    """Return the new names of all dims of the right tensor that meet another name, and stand nowhere else."""
    ours, theirs = names_of(left), names_of(right)
    pairs = list(zip(reversed(ours), reversed(theirs), strict=False))[::-1]
    return {b: a for a, b in pairs if a and b and a != b and a not in theirs and b not in ours}


def _in_order(left: Dims, right: Dims, pairing: Pairing) -> str:
    """Return how to pair dims by name, where a name stands at different places."""
    a, b = names_of(left), names_of(right)
    if pairing.moves == "none":
        return "align_to brings the batch dims of both into one order"
    if None in (*a, *b):
        return "name all dims (refine_names), then align_to or align_as pair them by name"
    if set(b) <= set(a):
        return f"{_variable(pairing.right)}.{_alignment(left, pairing)} pairs them by name"
    if pairing.moves == "right":
        return f"{_variable(pairing.right)} has others than {_variable(pairing.left)}, which stays as it is"
    if set(a) <= set(b):
        return f"{_variable(pairing.left)}.align_as({_variable(pairing.right)}) pairs them by name"
    return _side_by_side(left, right)


def _alignment(left: Dims, pairing: Pairing) -> str:
    if pairing.left in _COMPUTED:
        return f"align_to({', '.join(map(shown, names_of(left)))})"
    return f"align_as({_variable(pairing.left)})"


def _side_by_side(left: Dims, right: Dims) -> str:
    everything = tuple(dict.fromkeys((*names_of(left), *names_of(right))))
    if None in everything:
        return "name all dims (refine_names), then align_to gives each a place of its own"
    return f"align_to({', '.join(map(shown, everything))}) on both gives each dim a place of its own"


def of_places(clash: Clash, left: Dims, right: Dims, pairing: Pairing) -> str:
    """Return what to do about a name that meets an unnamed dim, and stands elsewhere beside that one."""
    if -clash.right <= len(left) and left[clash.right].name is None:
        role, at = pairing.left, len(left) + clash.right
    else:
        role, at = pairing.right, len(right) + clash.left
    aligning = "then align_to or align_as pair them by name"
    return f"dim {at} of {role} has no name: give it one (refine_names), {aligning}"


def _variable(role: str) -> str:
    """Return a role as a user may write it: one of a list of tensors by its index."""
    return re.sub(r"^(tensor|operand) (\d+)$", r"\1s[\2]", re.sub(r"^index \d+$", "index", role))
