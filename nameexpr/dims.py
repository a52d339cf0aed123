"""Dims and their names: the basis of name inference.

A dim is one named, sized position of a tensor; its name is a string or None. Two names *match* if they are
equal or one of them is None, and *unify* to the more specific one. These few functions are PyTorch's name
inference in the form that both the compiler and `NamedTensor` need: data in, data out. They never raise; the
caller knows the operands and the text, and creates the diagnostic.

>>> unify_from_right(("N", None), (None, "C"))
('N', 'C')
>>> unify_from_right(("N", "C"), ("N",))
Clash(kind='mismatch', left=-1, right=-1)
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from keyword import iskeyword
from typing import Literal, NamedTuple, TypeAlias

Names: TypeAlias = tuple[str | None, ...]

DIM_LIMIT = 64
"""The most dims a tensor can have: NumPy's limit, and PyTorch's for named tensors."""

WORD = r"(?:[A-Za-z_]|[^\x00-\x7F\s])(?:[A-Za-z0-9_]|[^\x00-\x7F\s])*"
"""A pattern of names without their primes: exact in ASCII, and for other scripts if every character is known
to fit. `\\w` would miss the vowel signs and accents that identifiers may hold.
"""


class Dim(NamedTuple):
    """One dim: its name, or None, and its size."""

    name: str | None
    size: int


Dims: TypeAlias = tuple[Dim, ...]

# Every method call creates a few dims: this skips the Python constructor of a NamedTuple.
_new_dim = partial(tuple.__new__, Dim)


class Clash(NamedTuple):
    """Why two lists of names do not unify, with a position in each, counted from the right (-1 is the last).

    "mismatch": the names at `left` and `right`, the same position, are different. "misaligned": the same name
    is at `left` in the left list and at `right` in the right one, and is paired with an unnamed dim.
    """

    kind: Literal["mismatch", "misaligned"]
    left: int
    right: int


def is_keyword(name: str) -> bool:
    """Return whether a name can be written as a keyword of a call: `lambda=` cannot.

    >>> is_keyword("batch"), is_keyword("lambda"), is_keyword("x'")
    (True, False, False)
    """
    return name.isidentifier() and not iskeyword(name)


def dims_of(names: Names, shape: Iterable[int]) -> Dims:
    """Return dims from names and sizes."""
    return tuple(map(_new_dim, zip(names, shape, strict=True)))


def names_of(dims: Dims) -> Names:
    """Return the names of dims."""
    return tuple(dim.name for dim in dims)


def shape_of(dims: Dims) -> tuple[int, ...]:
    """Return the sizes of dims."""
    return tuple(dim.size for dim in dims)


def match(a: str | None, b: str | None) -> bool:
    """Return whether two names may refer to the same dim: equal, or one of them None."""
    return a is None or b is None or a == b


def unify(a: str | None, b: str | None) -> str | None:
    """Return the more specific of two names that match."""
    return b if a is None else a


def unify_from_right(left: Names, right: Names) -> Names | Clash:
    """Return the names of two broadcast tensors, or the first `Clash` from the right.

    A named dim that is paired with an unnamed one, or with none at all, must not occur elsewhere in the other
    list: the tensors are then misaligned, and adding them would pair dims with different names.

    Notes
    -----
    "Unifies names from inputs" in PyTorch's page "Named Tensors operator coverage".

    >>> unify_from_right(("N", "C"), ("C",))
    ('N', 'C')
    >>> unify_from_right(("N", None), ("N",))
    Clash(kind='misaligned', left=-2, right=-1)
    """
    if left == right:
        return left
    rank = max(len(left), len(right))
    padded_left = (None,) * (rank - len(left)) + left
    padded_right = (None,) * (rank - len(right)) + right
    for position in range(-1, -rank - 1, -1):
        a, b = padded_left[position], padded_right[position]
        if not match(a, b):
            return Clash("mismatch", position, position)
        if a is None and b is not None and b in left:
            return Clash("misaligned", left.index(b) - len(left), position)
        if b is None and a is not None and a in right:
            return Clash("misaligned", position, right.index(a) - len(right))
    return tuple(map(unify, padded_left, padded_right))


def find(names: Names, name: str) -> int | None:
    """Return the position of a name, or None if no dim has it."""
    return names.index(name) if name in names else None


def duplicate(names: Iterable[str | None]) -> tuple[str, int, int] | None:
    """Return the first name that occurs twice, with its first two positions, or None."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name is None:
            continue
        if name in seen:
            return name, seen[name], position
        seen[name] = position
    return None


def normalised(name: str) -> str:
    """Return the name in its normal form (NFKC, as for Python's identifiers).

    >>> normalised("ﬁt"), normalised("größe")
    ('fit', 'größe')
    """
    plain = str.__str__(name)  # a plain string, also from subclasses
    if plain.isascii():
        return plain
    import unicodedata  # imported here: few names need it, and it is slow to import

    return unicodedata.normalize("NFKC", plain)


def name_fault(name: str) -> str | None:
    """Return why a string cannot name a dim, as the end of a sentence about it, or None if it can.

    A name is a Python identifier (including keywords and leading underscores), and may end in primes, like
    labels. A single underscore is rejected: in an expression it is the dim without a name.

    >>> name_fault("größe"), name_fault("seq'"), name_fault("2d")
    (None, None, 'it starts with a digit')
    """
    if name.isidentifier() and name != "_":
        return None
    if name == "_":
        return "'_' stands for a dim without a name"
    word = name.rstrip("'")
    if word.isidentifier():
        return None
    if not word:
        return "it is nothing but primes" if name else "it is empty"
    character = word[first_misfit(word)]
    if character.isspace():
        return "it holds white space"
    if character == "'":
        return "primes are allowed only at its end"
    if not _fits(character):
        return f"{character!r} is not a letter, a digit or an underscore"
    return (
        "it starts with a digit" if character.isdecimal() else f"{character!r} cannot be its first character"
    )


def first_misfit(word: str) -> int:
    """Return the position at which a word stops being an identifier."""
    return next(at for at, letter in enumerate(word) if not (f"x{letter}" if at else letter).isidentifier())


def _fits(character: str) -> bool:
    """Return whether a character is allowed in a name after its first character."""
    return f"x{character}".isidentifier()


def another_name(name: str) -> str:
    """Return a similar name, as a suggestion if this one is in use.

    >>> another_name("row"), another_name("row'")
    ('row2', "row''")
    """
    return f"{name}'" if name.endswith("'") else f"{name}2"


def nearest_name(text: str) -> str:
    """Return a valid name that resembles `text`, as a suggestion in an error.

    >>> nearest_name("café-2"), nearest_name("1a"), nearest_name("")
    ('café_2', '_1a', 'x')
    """
    spaced = "".join(letter if _fits(letter) else " " for letter in normalised(text))
    plain = "_".join(spaced.split()).strip("_")
    if not plain:
        return "x"
    return plain if plain.isidentifier() else f"_{plain}"
