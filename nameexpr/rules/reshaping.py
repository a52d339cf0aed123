"""The methods that merge adjacent dims, and split one into several, row-major: flatten, unflatten.

The new dims of unflatten can be written as pairs `[("H", 8), ("W", -1)]`, as a dict, as the string `"H=8 W"`,
or as plain sizes `(8, -1)` if the split dim has no name. One size may be left out (-1).

>>> from nameexpr.dims import Dim
>>> unflattened((Dim("N", 2), Dim("pixel", 12)), "pixel", "H=3 W")
(Dim(name='N', size=2), Dim(name='H', size=3), Dim(name='W', size=4))
>>> flattened(_, ("H", "W"), "pixel")
(Dim(name='N', size=2), Dim(name='pixel', size=12))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from operator import index as as_index
from typing import NamedTuple, SupportsIndex

from nameexpr.dims import DIM_LIMIT, Dim, Dims, duplicate, names_of
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import (
    ShownCall,
    called,
    counted,
    fault,
    listed,
    position_of,
    positions,
    shown,
    spelt,
)
from nameexpr.rules.targets import added_name, checked_name, doubled


def flattened(dims: Dims, wanted: Sequence[object], out_dim: object) -> Dims:
    """Return the dims after `flatten(wanted, out_dim)`; names and positions may be mixed.

    NE450 if they are not adjacent in this order, NE451 if there are none, NE411 if a dim has the name.
    """
    call = ShownCall("flatten", wanted, (dims,), "([", f"], {shown(out_dim)})")
    if not dims:
        raise _nothing_to_flatten(call)
    if not wanted:
        raise fault("NE451", "no dims are given to flatten", call, hint="align_to adds a new dim of size 1")
    axes = positions(dims, call)
    if axes != tuple(range(axes[0], axes[0] + len(axes))):
        raise _apart(dims, axes, out_dim, call)
    call = ShownCall("flatten", (list(wanted), out_dim), (dims,))
    name = added_name(out_dim, dims, call, "out_dim", axes)
    return _merged(dims, axes[0], axes[-1], name)


def flattened_range(dims: Dims, start: object, end: object, *out_dim: object) -> Dims:
    """Return the dims after `flatten(start, end)`, with `out_dim` if given; both ends are included.

    Without out_dim the merged dims must be unnamed, or be a single dim, which is then kept: names are never
    dropped silently (NE453). A 0-d tensor becomes a 1-d one (NE454 with an out_dim). NE452 if `start` is
    after `end`.
    """
    call = ShownCall("flatten", (start, end, *out_dim), (dims,))
    if not dims:  # one dim of size 1, for the positions that PyTorch and NumPy accept for a 0-d tensor
        if out_dim:
            raise _nothing_to_flatten(call)
        only = (Dim(None, 1),)
        position_of(only, call, 0)
        position_of(only, call, 1)
        return only
    first, last = position_of(dims, call, 0), position_of(dims, call, 1)
    if first > last:
        message = f"{called(dims, first)}, the start, is at position {first}"
        message += f", after the end at position {last}"
        hint = f"dims stay in their order: flatten({', '.join(map(shown, (end, start, *out_dim)))})"
        raise fault("NE452", message, call, (0, 1), hint)
    if out_dim:
        name = added_name(out_dim[0], dims, call, "out_dim", range(first, last + 1))
    else:
        name = _implied_name(dims, first, last, call)
    return _merged(dims, first, last, name)


def _nothing_to_flatten(call: ShownCall) -> Exception:
    hint = "align_to gives it a new dim of size 1"
    return fault("NE454", "a 0-d tensor has no dims to flatten", call, hint=hint)


def _implied_name(dims: Dims, first: int, last: int, call: ShownCall) -> str | None:
    names = names_of(dims)[first : last + 1]
    if first == last or not any(names):
        return names[0]
    message = f"flattening {listed(filter(None, names))} needs a name for the result: out_dim is missing"
    written = ", ".join(shown(spelt(dims[at], at)) for at in (first, last))
    hint = f"flatten({written}, 'features') names it; out_dim=None leaves it without a name"
    raise fault("NE453", message, call, hint=hint)


def _merged(dims: Dims, first: int, last: int, name: str | None) -> Dims:
    size = prod([dim.size for dim in dims[first : last + 1]])
    return (*dims[:first], Dim(name, size), *dims[last + 1 :])


def _apart(dims: Dims, axes: tuple[int, ...], out_dim: object, call: ShownCall) -> Exception:
    """Return the error for dims that are not adjacent in this order, with the call that makes them so."""
    words = [spelt(dims[at], at) for at in axes]
    is_block = max(axes) - min(axes) + 1 == len(axes)
    message = f"{listed(words)} {'are in another order' if is_block else 'are not neighbours'}"
    if is_block:
        in_order = [spelt(dims[at], at) for at in sorted(axes)]
        hint = f"write them in their order, flatten({in_order!r}, {shown(out_dim)}), or change that: "
    else:
        hint = "bring them together: "
    return fault("NE450", message, call, range(len(axes)), hint + _alignment_hint(dims, axes))


def _alignment_hint(dims: Dims, axes: tuple[int, ...]) -> str:
    """Return the align_to that makes the dims adjacent, at the position of the first of them."""
    if any(dims[at].name is None for at in axes):
        return "align_to can do that once they have names (refine_names)"
    if None in names_of(dims):
        order: list[object] = [*(dims[at].name for at in axes), ...]
    else:
        before = [at for at in range(axes[0]) if at not in axes]
        after = [at for at in range(axes[0], len(dims)) if at not in axes]
        order = [dims[at].name for at in (*before, *axes, *after)]
    return f"align_to({', '.join(map(shown, order))})"


DIGIT_LIMIT = 19
SHOWN_WHOLE = 4096
"""The largest size whose divisors a hint lists."""


class _Part(NamedTuple):
    """One requested dim: size -1 is to be inferred, a plain part is a size alone."""

    name: str | None
    size: int
    is_plain: bool = False


def unflattened(dims: Dims, dim: object, sizes: object) -> Dims:
    """Return the dims after `unflatten(dim, sizes)`.

    NE350 if the product of the sizes differs from the dim's size, NE351 if two are left out, NE352 if the one
    left out is not determined, NE353 for a negative one, NE354 if there are none, NE460 for plain sizes of a
    named dim, NE657 if `sizes` has another type.
    """
    at = position_of(dims, ShownCall("unflatten", (dim,), (dims,), closing=f", {shown(sizes)})"), 0)
    items = _items(dims, dim, sizes)
    call = ShownCall("unflatten", items, (dims,), f"({shown(dim)}, [", "])")
    if not items:
        raise fault("NE354", "no sizes are given to split the dim into", call, hint="give at least one size")
    parts = [_part(item, index, call) for index, item in enumerate(items)]
    plain = [index for index, part in enumerate(parts) if part.is_plain]
    if plain and dims[at].name is not None:
        pairs = [(f"{dims[at].name}{index + 1}", part.size) for index, part in enumerate(parts)]
        message = f"{called(dims, at)} has a name, so the dims it is split into need names"
        hint = f"write unflatten({spelt(dims[at], at)!r}, {shown(pairs)}), or drop its name first"
        raise fault("NE460", message, call, plain, hint)
    new = _solved(dims, at, parts, call)
    return _replaced(dims, at, new, call)


def _items(dims: Dims, dim: object, sizes: object) -> Sequence[object]:
    if isinstance(sizes, str):
        return [_word(word) for word in sizes.split()]
    if isinstance(sizes, Mapping):
        return list(sizes.items())
    if isinstance(sizes, list | tuple):
        return sizes
    message = f"the new dims cannot be read from {type(sizes).__name__}"
    call = ShownCall("unflatten", (dim, sizes), (dims,))
    hint = "write them as [('H', 8), ('W', 8)], {'H': 8, 'W': 8} or 'H=8 W=8'"
    raise fault("NE657", message, call, (1,), hint)


def _word(word: str) -> object:
    """Return one word of the string form as a pair, or as an int if it is a size alone."""
    name, equals, size = word.partition("=")
    if equals:
        return (None if name == "_" else name, _number(size))
    number = _number(word)
    return number if isinstance(number, int) else (None if word == "_" else word, -1)


def _number(text: str) -> object:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= DIGIT_LIMIT else text


def _part(item: object, index: int, call: ShownCall) -> _Part:
    match item:
        case [None, size]:
            return _Part(None, _size(size, index, call))
        case [name, size]:
            return _Part(checked_name(name, index, call), _size(size, index, call))
        case list() | tuple():
            message = f"a new dim is a pair of name and size, not {counted(len(item), 'item')}"
            raise fault("NE657", message, call, (index,), "write [('H', 8), ('W', 8)]")
    return _Part(None, _size(item, index, call), is_plain=True)


def _size(size: object, index: int, call: ShownCall) -> int:
    if isinstance(size, bool) or not isinstance(size, SupportsIndex):
        message = "a new dim is a name with a size, and a size is an integer"
        raise fault("NE657", message, call, (index,), "write ('H', 8), or ('H', -1) for a size that follows")
    number = as_index(size)
    if number < -1:
        raise fault("NE353", f"{number} is not a size", call, (index,), "-1 stands for the size that follows")
    return number


def _solved(dims: Dims, at: int, parts: Sequence[_Part], call: ShownCall) -> Dims:
    free = [index for index, part in enumerate(parts) if part.size == -1]
    if len(free) > 1:
        message = "only one size may be left to follow from the others"
        raise fault("NE351", message, call, free, "write the others")
    known = prod([part.size for part in parts if part.size != -1])
    whole = dims[at].size
    if free and known == 0 == whole:
        message = f"any size would do here: {called(dims, at)} is 0, and so is another of the new sizes"
        raise fault("NE352", message, call, free, "write this size too")
    if free and known and whole % known == 0:
        return tuple(Dim(part.name, whole // known if part.size == -1 else part.size) for part in parts)
    if free or known != whole:
        raise _product_differs(dims, at, parts, call)
    return tuple(Dim(part.name, part.size) for part in parts)


def _product_differs(dims: Dims, at: int, parts: Sequence[_Part], call: ShownCall) -> NameExprError:
    sizes = [part.size for part in parts if part.size != -1]
    whole, known = dims[at].size, prod(sizes)
    product = " * ".join(map(str, sizes)) + (f" = {known}" if len(sizes) > 1 else "")
    if len(sizes) < len(parts):
        message = f"{called(dims, at)} is {whole}, which {product} does not divide"
        divisors = [number for number in range(1, min(whole, SHOWN_WHOLE) + 1) if whole % number == 0]
        hint = f"{listed(divisors)} do" if 1 < whole <= SHOWN_WHOLE else ""
    else:
        message = f"{called(dims, at)} is {whole}, and the new sizes multiply to {product}"
        hint = "one of them may be -1: it then follows from the others"
    return fault("NE350", message, call, range(len(parts)), hint)


def _replaced(dims: Dims, at: int, new: Dims, call: ShownCall) -> Dims:
    result = (*dims[:at], *new, *dims[at + 1 :])
    twice = duplicate(names_of(result))
    if twice:
        name = twice[0]
        marked = [index for index, dim in enumerate(new) if dim.name == name]
        kept = names_of((*dims[:at], *dims[at + 1 :]))
        hint = f"{name!r} is the name of dim {names_of(dims).index(name)} already" if name in kept else ""
        raise doubled(twice, call, marked, hint)
    if len(result) > DIM_LIMIT:
        message = f"the result would have {len(result)} dims, and the limit is {DIM_LIMIT}"
        raise fault("NE750", message, ShownCall("unflatten", (dims[at].name, ...), (dims,)))
    return result
