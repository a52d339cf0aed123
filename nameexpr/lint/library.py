"""The results of functions of Python's library, and of pytest, as far as a source determines them: `dict`,
`enumerate`, `zip`, `dataclasses.field` and the like, by their dotted paths.

>>> sorted(name for name in FUNCTIONS if name.startswith("itertools"))
['itertools.chain', 'itertools.product']
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import cleandoc
from itertools import chain
from typing import Any

from nameexpr.lint.constants import elements
from nameexpr.lint.values import Constant, Definition, Items, Some, Table, Text, Value, Values

Keywords = Mapping[str, Values]
Rule = Callable[[Sequence[Values], Keywords], Iterable[Value]]
"""The results of a call, from its arguments by position and by keyword."""


def builtin(name: str) -> str:
    """Return the dotted path of a builtin, "" if there is none of that name."""
    return f"builtins.{name}" if hasattr(builtins, name) else ""


def _columns(arguments: Sequence[Values]) -> list[list[Values]]:
    """Return the elements of each argument, none if they are unknown."""
    return [list(elements(given[0])) if len(given) == 1 else [] for given in arguments]


def _table(arguments: Sequence[Values], keywords: Keywords) -> Iterator[Value]:
    table = Table()
    for given in chain.from_iterable(arguments):
        table.update(given if isinstance(given, Table) else {})
    table.update(keywords)
    yield table


def _items(arguments: Sequence[Values], keywords: Keywords) -> Iterator[Value]:
    for given in chain.from_iterable(arguments[:1]):
        yield given if isinstance(given, Some) else Items(tuple(elements(given)))


def _some(arguments: Sequence[Values], keywords: Keywords) -> Iterator[Value]:
    for given in chain.from_iterable(arguments[:1]):
        yield Some(tuple(chain.from_iterable(elements(given))))


def _enumerated(arguments: Sequence[Values], keywords: Keywords) -> Iterator[Value]:
    for column in _columns(arguments[:1]):
        yield Items(tuple((Items(((), values)),) for values in column))


def _zipped(arguments: Sequence[Values], keywords: Keywords) -> Iterator[Value]:
    columns = _columns(arguments)
    count = min((len(column) for column in columns if column), default=0)
    rows = [[column[row] if column else () for column in columns] for row in range(count)]
    yield Items(tuple((Items(tuple(row)),) for row in rows))


def _product(arguments: Sequence[Values], keywords: Keywords) -> Iterator[Value]:
    columns = [tuple(chain.from_iterable(column)) for column in _columns(arguments)]
    yield Items(((Items(tuple(columns)),),))


def _chained(arguments: Sequence[Values], keywords: Keywords) -> Iterator[Value]:
    yield Some(tuple(chain.from_iterable(chain.from_iterable(_columns(arguments)))))


def _field(arguments: Sequence[Values], keywords: Keywords) -> Iterator[Value]:
    yield from keywords.get("default", ())
    for factory in keywords.get("default_factory", ()):
        if isinstance(factory, Definition):
            yield from factory.module.returned(factory)


def _parameters(arguments: Sequence[Values], keywords: Keywords) -> Iterator[Value]:
    yield Items(tuple(arguments))


FUNCTIONS: Mapping[str, Rule] = {
    "builtins.dict": _table,
    "builtins.list": _items,
    "builtins.tuple": _items,
    "builtins.iter": _items,
    "builtins.set": _some,
    "builtins.frozenset": _some,
    "builtins.sorted": _some,
    "builtins.reversed": _some,
    "builtins.enumerate": _enumerated,
    "builtins.zip": _zipped,
    "itertools.product": _product,
    "itertools.chain": _chained,
    "dataclasses.field": _field,
    "pytest.param": _parameters,
}
"""Functions whose calls are followed."""
TEXTS: Mapping[str, Callable[[str], str]] = {
    "builtins.str": str,
    "textwrap.dedent": cleandoc,
    "inspect.cleandoc": cleandoc,
}
"""Functions of a text; expressions ignore indentation, and therefore its removal."""
OF_PROPERTIES = frozenset({"builtins.property", "functools.cached_property"})
"""Decorators that turn a method into an attribute."""
TRANSPARENT = OF_PROPERTIES | {
    "builtins.staticmethod",
    "builtins.classmethod",
    "functools.cache",
    "functools.lru_cache",
}
"""Decorators that do not change what a function returns."""
OF_OBJECTS = frozenset({"builtins.getattr", "builtins.type", "builtins.super"})
"""Functions that lead to attributes of objects."""


def parametrised(arguments: Sequence[Values], name: str) -> Iterator[Value]:
    """Yield the values of a test's parameter from ``pytest.mark.parametrize(names, values)``."""
    given = [values[0] for values in arguments[:2] if len(values) == 1]
    names = _names(given[0]) if given else []
    for values in elements(given[-1]) if given[1:] and name in names else ():
        for value in values:
            if not isinstance(value, Items):
                yield from [value] if len(names) == 1 else []
            elif len(value.items) == len(names):
                yield from value.items[names.index(name)]


def _names(told: Value) -> list[str]:
    if isinstance(told, Text):
        return told.value.replace(",", " ").split()
    constants: list[Any] = [value for given in elements(told) for value in given]
    return [one.value for one in constants if isinstance(one, Text | Constant)]
