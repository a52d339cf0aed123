"""The table of operators, `OPS`, and its decorators: the `def` of an operator is its row.

`@op(rule)` on a method or function records its name, its rule for names and the first sentence of its
docstring, and changes nothing. `abs_ = in_place(abs)` declares the twin that writes over the tensor. The
conformance tests, `docs/operators.md` and the REPL read the table.

Every operator that creates a tensor accepts `out=`: the in-place form is `out=` with the tensor itself. One
`def` therefore serves method, twin and function (`nameexpr.tensors.functions`), and the rules for writing,
which are in `nameexpr.rules.writing`, are applied in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS, unwrap
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from nameexpr.errors import Diagnostic, NameExprError, error

Rule: TypeAlias = Literal[
    "keeps",
    "unifies",
    "removes",
    "permutes",
    "contracts",
    "makes",
    "names",
    "fills",
    "drops",
    "answers",
    "joins",
]
RULES: dict[Rule, str] = {
    "keeps": "the result has the names of the operand",
    "unifies": "dims pair from the right, and names that meet must match",
    "removes": "the dims that are combined or selected disappear, the others keep their names",
    "permutes": "names move with their dims",
    "contracts": "the dims that meet are summed over, the others keep their names",
    "makes": "a new tensor with the names that are given",
    "names": "names are what it is about",
    "fills": "the tensor is written over and keeps its names",
    "drops": "the result has no names",
    "answers": "an answer that is not a tensor, or has no names",
    "joins": "names unify over all tensors",
}


class Op(NamedTuple):
    """One operator: its name, its rule for names, what it returns, and whether PyTorch's page lists it."""

    name: str
    rule: Rule
    summary: str
    is_torch: bool
    twin_of: str = ""


OPS: dict[str, Op] = {}
"""Every operator by name."""

F = TypeVar("F", bound=Callable[..., Any])


def op(rule: Rule, *, extra: bool = False, is_bare: bool = False) -> Callable[[F], F]:
    """Return the decorator that adds a function to the table; `extra` marks operators that PyTorch's page
    lacks.

    The keywords are checked, except for those marked `is_bare`: attributes, and already decorated functions.
    """

    def enter(function: F) -> F:
        summary = (function.__doc__ or "").split("\n\n")[0]
        OPS[function.__name__] = Op(function.__name__, rule, " ".join(summary.split()), not extra)
        return function if is_bare else checked(function)

    return enter


def checked(function: F) -> F:
    """Return a function that accepts synonyms of its keywords, and raises our error for others."""
    known = keywords_of(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs:  # a call with ** is slow
                return function(*args)
            if not known.issuperset(kwargs):
                args, kwargs = corrected(function, args, kwargs)
            return function(*args, **kwargs)
        except Exception as raised:
            if type(raised) is MeetsRecorded:
                raised.__traceback__ = None  # its frames refer to arrays, and references are counted
                return RECORDED.again(function, args, kwargs)
            fault = leaving(raised, function, args, kwargs)
            if fault is raised:
                raise
            raise fault from fault.__cause__

    return call  # type: ignore[return-value]


class MeetsRecorded(Exception):  # noqa: N818  it is caught by every operator
    """An operator of a plain tensor meets an operand that is recorded: the call is repeated on the tape."""


def check_constant(operand: Any) -> None:
    """Raise `MeetsRecorded` for an operand that is recorded, where its elements alone would be read."""
    if getattr(operand, "_kernels", None) is RECORDED:
        raise MeetsRecorded


class Tape:
    """The functions of `nameexpr.tensors.tape` that are called then; it enters them when it is loaded."""

    __slots__ = ("again", "assign", "check_out", "pair", "promoted")

    again: Callable[..., Any]
    assign: Callable[..., Any]
    check_out: Callable[[str], None]
    pair: Callable[..., Any]
    promoted: Callable[..., Any]


RECORDED = Tape()
"""What recorded tensors have in place of the functions of a library."""


def leaving(
    raised: Exception,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    left_out: str = "",
) -> Exception:
    """Return what leaves an operator in which this was raised; see `nameexpr.rules.arguments.leaving`."""
    from nameexpr.rules import arguments  # late: few calls fail

    if isinstance(raised, MemoryError) and not isinstance(raised, NameExprError):
        fault = exhausted(function.__name__, raised)
        fault.__cause__ = raised
        return fault
    return arguments.leaving(raised, function, args, kwargs, left_out)


def exhausted(verb: str, fault: Exception, shape: tuple[int, ...] | None = None) -> NameExprError:
    """Return the error for a result that does not fit into memory (NE707)."""
    sizes = getattr(fault, "shape", shape)
    which = "the result" if sizes is None else f"a result of shape {tuple(sizes)}"
    hint = "compute it in parts, or in a smaller dtype"
    return error(Diagnostic("NE707", f"{verb}: {which} is larger than this machine's memory", hint=hint))


def keywords_of(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of a function's parameters, decorated or not; all words if it checks others itself.

    It does if it has a `**` parameter which is not called `others`: that one is for type checkers.
    """
    code = unwrap(function).__code__
    own = code.co_argcount + code.co_kwonlyargcount
    has_others = code.co_flags & CO_VARKEYWORDS
    if has_others and code.co_varnames[own + bool(code.co_flags & CO_VARARGS)] != "others":
        return _AllWords()
    return frozenset(code.co_varnames[:own])


class _AllWords(frozenset[str]):
    def issuperset(self, other: Iterable[object], /) -> bool:
        return True

    def __sub__(self, other: object, /) -> _AllWords:
        return self


def corrected(function: Callable[..., Any], *call: Any) -> Any:
    """Return a call's arguments with synonyms replaced: see `nameexpr.tensors.keywords.corrected`."""
    from nameexpr.tensors import keywords  # imported here: few calls need it

    return keywords.corrected(function, *call)


def refused(method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Exception:
    """Return the error for wrong arguments of a method that looks for them itself; `...` is not given."""
    from nameexpr.rules.arguments import misfit

    given = tuple(value for value in args if value is not ...)
    is_twin = out is args[0]
    fault = misfit(method, given, kwargs, "out" if is_twin else "", "_" if is_twin else "")
    return fault or TypeError(f"{method.__name__}: wrong arguments")


def called(function: F, home: str, name: str) -> F:
    """Return a function from a table under the name of its row, also in tracebacks."""
    function.__name__, function.__qualname__ = name, f"{home}.{name}"
    function.__code__ = function.__code__.replace(co_name=name, co_qualname=function.__qualname__)
    return function


def in_place(method: F, *, extra: bool = False) -> F:
    """Return the twin `name_` of a method, which writes its result over the tensor and returns the tensor.

    Names are never refined: a tensor with any name must already have exactly those of the result. Nothing is
    written before every check has passed.
    """
    known, function = keywords_of(method) - {"out"}, getattr(method, "__wrapped__", method)

    @wraps(method)
    def twin(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if kwargs and not known.issuperset(kwargs):
                (self, *args), kwargs = corrected(twin, (self, *args), kwargs, "out")
            return function(self, *args, out=self, **kwargs)
        except Exception as raised:
            if type(raised) is MeetsRecorded:
                raised.__traceback__ = None
                return RECORDED.again(twin, (self, *args), kwargs)
            fault = leaving(raised, twin, (self, *args), kwargs, left_out="out")
            if fault is raised:
                raise
            raise fault from fault.__cause__

    name = method.__name__ + "_"
    twin.__name__, twin.__qualname__ = name, method.__qualname__ + "_"
    twin.__doc__ = f"Write the result of `{method.__name__}` over this tensor, and return the tensor."
    OPS[name] = Op(name, "fills", twin.__doc__, not extra, method.__name__)
    return twin  # type: ignore[return-value]
