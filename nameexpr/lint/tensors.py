"""Names of tensors: `names=` of the functions that create them, and methods that name dims.

A tensor's names are known if they are literal; the rules are those of the methods themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from nameexpr.dims import Dim, Names
from nameexpr.errors import NameExprError
from nameexpr.lint.constants import constants
from nameexpr.lint.values import Imported, Named, Values
from nameexpr.rules.calls import axes
from nameexpr.rules.names import aligned_to, refined, renamed
from nameexpr.rules.targets import checked_names

Dims = tuple[Dim, ...]
_MAKING = "arange as_tensor empty full normal ones rand randn tensor zeros"
MAKING = frozenset(f"nameexpr.{name}" for name in _MAKING.split())
"""Functions with a `names=` parameter."""
NAMING: dict[str, Callable[[Dims, Sequence[Any]], Names]] = {
    "align_to": lambda dims, given: aligned_to(dims, given).names,
    "refine_names": refined,
    "rename": lambda dims, given: renamed(dims, given, {}, "rename"),
}
"""Methods whose arguments are names, and the names of their results."""
_ALONG = """all amax amin any argmax argmin argsort cumprod cumsum log_softmax logsumexp max mean median min
prod softmax sort std sum var"""
ALONG = frozenset(_ALONG.split())
"""Methods whose first argument, `dim=` or `axis=`, is the dims that they work along."""
METHODS = frozenset({*NAMING, *ALONG})


def named_tensor(node: ast.Call, values: Callable[[ast.expr], Values]) -> Iterator[Named]:
    """Yield the tensor that a call of a function in `MAKING` creates, if its names are known."""
    given = [values(keyword.value) for keyword in node.keywords if keyword.arg == "names"]
    for (literal,) in constants(given[:1]) if given else ():
        names = _result(lambda wanted: checked_names(wanted, _unnamed(wanted)), literal)
        if names is not None:
            yield Named(names)


def renamed_tensor(tensor: Named, method: str, arguments: Sequence[Values]) -> Iterator[Named]:
    """Yield the result of a method of a tensor whose names are known."""
    for given in constants(arguments):
        names = _result(lambda *wanted: NAMING[method](_dims(tensor.names), wanted), *given)
        if names is not None:
            yield Named(names)


Given = Callable[[ast.expr], Values]
"""The possible values of an expression, in the scope of the call."""
Check = tuple[Sequence[ast.expr], Callable[[], object]]
"""The arguments that a check is about, and the function that raises if they are wrong."""


def checks(node: ast.Call, values: Given) -> Iterator[Check]:
    """Yield the checks that a call allows."""
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    if "names" in keywords and any(
        one.path in MAKING for one in values(node.func) if isinstance(one, Imported)
    ):
        for (names,) in constants([values(keywords["names"])]):
            yield [keywords["names"]], partial(checked_names, names, _unnamed(names))
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in METHODS:
        return
    method = node.func.attr
    along = [keywords[name] for name in ("dim", "axis") if name in keywords] or node.args[:1]
    about = along if method in ALONG else [] if node.keywords else node.args
    tensors = [one for one in values(node.func.value) if isinstance(one, Named)]
    if len(tensors) == 1 and about:
        dims = _dims(tensors[0].names)
        for given in constants(map(values, about)):
            if method in NAMING:
                yield about, partial(NAMING[method], dims, given)
            elif isinstance(given[0], str | tuple):
                yield about, partial(axes, dims, given[0], method)


def _dims(names: Names) -> Dims:
    return tuple(Dim(name, 1) for name in names)


def _unnamed(names: Any) -> Dims:
    """Return as many dims as there are names."""
    count = len(names.split()) if isinstance(names, str) else len(names) if isinstance(names, tuple) else 0
    return (Dim(None, 1),) * count


def _result(rule: Callable[..., Names], *given: Any) -> Names | None:
    try:
        return rule(*given)
    except NameExprError:
        return None
