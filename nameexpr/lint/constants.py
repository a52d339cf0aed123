"""Operations of Python on constants: elements of containers, and texts from other texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from nameexpr.lint.bindings import EACH
from nameexpr.lint.values import MOST, Constant, Home, Items, Some, Table, Text, Value, Values
from nameexpr.records import replace

_LONGEST = 1 << 12
"""The largest length of a text that others are computed from."""
_WIDE = re.compile(r"[%{][^%{}]*[0-9]{4}")
"""A conversion that would fill a field of thousands of characters."""


def possible(values: Iterable[Value]) -> Iterator[Value]:
    """Yield values that are not certain to be used."""
    for value in values:
        yield replace(value, is_possible=True) if isinstance(value, Text) else value


def taken_apart(values: Values, steps: Sequence[int]) -> Values:
    """Return the elements that multiple assignments and loops lead to."""
    for step in steps:
        values = tuple(one for value in values for one in _element(value, step))
    return values


def _element(value: Value, step: int) -> Iterable[Value]:
    if step == EACH:
        return chain.from_iterable(elements(value))
    match value:
        case Items(items):
            return chain.from_iterable(items[step : step + 1])
        case Some(any_of):
            return possible(any_of)
    return ()


def elements(value: Value) -> Iterable[Values]:
    """Return the elements of a loop, each as its possible values."""
    match value:
        case Items(items):
            return items
        case Some(any_of):
            return [any_of]
        case Table():
            return [(Constant(key),) for key in value]
        case Text(text, origin=origin, module=module) if len(text) <= MOST:
            return [(Text(letter, None, origin, module),) for letter in text]
    return ()


def subscript(owners: Values, indices: Values) -> Iterator[Value]:
    """Yield the items of containers at the indices; all of them if these are unknown."""
    keys = [index.value for index in indices if isinstance(index, Text | Constant)]
    for owner in owners:
        table: Mapping[Any, Values]
        if isinstance(owner, Items):
            places = range(-len(owner.items), len(owner.items))
            table = {place: owner.items[place] for place in places}
        elif isinstance(owner, Table):
            table = owner
        elif isinstance(owner, Some):
            table = {None: owner.elements}
        else:
            continue
        if keys and all(key in table for key in keys):
            yield from (value for key in keys for value in table[key])
        else:
            yield from possible(chain.from_iterable(table.values()))


def of_table(table: Table, method: str, arguments: Sequence[Values]) -> Iterator[Value]:
    """Yield the results of a method of a dict."""
    if method == "get" and arguments:
        yield from subscript((table,), arguments[0])
        yield from (value for other in arguments[1:] for value in other)
    elif method == "values":
        yield Items(tuple(table.values()))
    elif method == "items":
        yield Items(tuple((Items(((Constant(key),), values)),) for key, values in table.items()))


def made_text(
    value: str, texts: Sequence[Text], origin: ast.expr, module: Home, *, is_joined: bool = False
) -> Text:
    """Return a text that is computed from others; if they are merely joined, their positions are known."""
    nodes: tuple[ast.Constant, ...] | None = None
    if is_joined and all(text.parts is not None and text.module is module for text in texts):
        nodes = tuple(node for text in texts for node in text.parts or ())
    return Text(value, nodes, origin, module, any(text.is_possible for text in texts))


def choices(arguments: Iterable[Iterable[Value]]) -> Iterator[Values]:
    """Yield one value for each argument, for all choices that the program can certainly make.

    If one argument can be several values, each of them is a choice, and arguments that are read from the same
    name agree. If there are two such arguments, it is unknown which of their values occur together.
    """
    given = [tuple(values) for values in arguments]
    several = {values for values in given if len(values) != 1}
    if not several:
        yield tuple(values[0] for values in given)
    elif len(several) == 1:
        for number in range(len(several.pop())):
            yield tuple(values[0] if len(values) == 1 else values[number] for values in given)


def added(terms: Iterable[Values], origin: ast.expr, module: Home) -> Iterator[Value]:
    """Yield the sums of values, one for each choice of the terms."""
    for chosen in choices(terms):
        texts = [one for one in chosen if isinstance(one, Text)]
        lists = [one.items for one in chosen if isinstance(one, Items)]
        if len(texts) == len(chosen):
            yield made_text("".join(text.value for text in texts), texts, origin, module, is_joined=True)
        elif len(lists) == len(chosen):
            yield Items(tuple(chain.from_iterable(lists)))


def computed(
    compute: Callable[..., Any], arguments: Iterable[Iterable[Value]], origin: ast.expr, module: Home
) -> Iterator[Value]:
    """Yield the texts that Python computes from constants, one for each choice of the arguments."""
    for chosen in choices(arguments):
        texts = [text for one in chosen for text in _texts_in(one)]
        if any(len(text.value) > _LONGEST or _WIDE.search(text.value) for text in texts):
            continue
        try:
            result = compute(*map(_constant, chosen))
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, MemoryError):
            continue
        if isinstance(result, str):
            yield made_text(result, texts, origin, module)


def constants(arguments: Iterable[Iterable[Value]]) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments as Python constants, for each choice of them that are."""
    for chosen in choices(arguments):
        with suppress(TypeError):
            yield tuple(map(_constant, chosen))


def _texts_in(value: Value) -> Iterator[Text]:
    if isinstance(value, Text):
        yield value
    elif isinstance(value, Items):
        yield from (text for item in value.items for one in item for text in _texts_in(one))
    elif isinstance(value, Table):
        yield from (text for item in value.values() for one in item for text in _texts_in(one))


def _constant(value: Value) -> Any:
    """Return the constant of a value (TypeError for other values)."""
    match value:
        case Text(constant) | Constant(constant):
            return constant
        case Items(items) if all(len(item) == 1 for item in items):
            return tuple(_constant(item[0]) for item in items)
        case Table() if all(len(item) == 1 for item in value.values()):
            return {key: _constant(item[0]) for key, item in value.items()}
    raise TypeError


def joined(*pieces: object) -> str:
    """Return the pieces of an f-string as one text."""
    return "".join(map(str, pieces))


def formatted(text: str, values: object) -> str:
    """Return ``text % values``; a text without a conversion would be an expression with a ``%`` in it."""
    return text % values


def times(text: object, count: object) -> object:
    """Return ``text * count``, unless that is long."""
    numbers = [one for one in (text, count) if isinstance(one, int)]
    return text * count if numbers and numbers[0] < MOST else None  # type: ignore[operator]


def part(
    owners: Values, chosen: ast.Slice, bounds: Sequence[Values], origin: ast.expr, module: Home
) -> Iterator[Value]:
    """Yield a slice with constant bounds of texts and lists."""
    places = [chosen.lower, chosen.upper, chosen.step]
    for numbers in constants(bounds):
        given = iter(numbers)
        wanted = slice(*[next(given) if place else None for place in places])
        for owner in owners:
            with suppress(TypeError, ValueError):
                if isinstance(owner, Items):
                    yield Items(owner.items[wanted])
                elif isinstance(owner, Text):
                    yield made_text(owner.value[wanted], [owner], origin, module)


def formatted_by_name(text: str, names: Mapping[str, Any], *values: Any) -> str:
    """Return ``text.format(*values, **names)``."""
    return text.format(*values, **names)


_METHODS = "format join lower lstrip removeprefix removesuffix replace rstrip strip upper"
METHODS: Mapping[str, Callable[..., Any]] = {name: getattr(str, name) for name in _METHODS.split()}
"""Methods of str that are evaluated on constants."""
OF_TABLES = frozenset({"get", "items", "values"})
"""Methods of dicts that are followed."""
