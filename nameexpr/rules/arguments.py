"""Arguments that a public function does not take: too many of them, or one missing, twice, or unknown.

Python's own TypeError for them counts `self` and names classes that users do not know. `leaving` replaces it
where it leaves a public function, which is also where errors of ours lose the frames of this package.

>>> def full(size, fill_value, *, names=None): ...
>>> print(misfit(full, (2,), {}))
OptionError[NE687]: full needs the argument 'fill_value'
  full(size, fill_value, *, names=None)
             ^^^^^^^^^^
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, signature
from typing import Any

from nameexpr.errors import Diagnostic, NameExprError, did_you_mean, error
from nameexpr.rules.calls import ShownCall, Verbatim, counted, fault, listed, shown

_BY_POSITION = {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}
_HABITS = {
    "argnum": "operands have names: ne.grad(text, 'w b')",
    "argnums": "operands have names: ne.grad(text, 'w b')",
    "has_aux": "write grad(...) in a formula: ne.evaluate(text, outputs=('loss', 'g'), ...)",
    "inplace": "a method whose name ends in _ writes over its tensor, such as add_",
    "skipna": "nansum, nanmean and nanmedian leave nan out",
    "where": "x.masked_fill(~mask, 0) or ne.where(mask, x, 0) leaves elements out",
}


def leaving(
    raised: Exception,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    left_out: str = "",
) -> Exception:
    """Return what leaves a public function in which this was raised: mostly the same exception."""
    if isinstance(raised, NameExprError):
        raised._forget_frames()
    elif isinstance(raised, TypeError):
        return misfit(function, args, kwargs, left_out) or raised
    return raised


def misfit(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    left_out: str = "",
    ending: str = "",
) -> NameExprError | None:
    """Return the error for arguments that do not fit a function's parameters (NE673, NE681, NE687).

    `left_out` is a parameter that the caller fills in, `ending` follows the function's name.
    """
    verb = function.__name__ + ending
    parameters = [each for each in signature(function).parameters.values() if each.name != left_out]
    kinds = {each.kind for each in parameters}
    positional = [each.name for each in parameters if each.kind in _BY_POSITION]
    if len(args) > len(positional) and Parameter.VAR_POSITIONAL not in kinds:
        return _too_many(verb, parameters, len(positional), args)
    for word, value in kwargs.items():
        if word in positional[: len(args)]:
            return twice(verb, word, word, "")
        if Parameter.VAR_KEYWORD not in kinds and all(word != each.name for each in parameters):
            return unknown(verb, word, value, _keywords(parameters), args)
    given = {*positional[: len(args)], *kwargs}
    missing = [each.name for each in parameters if _is_needed(each) and each.name not in given]
    return _missing(verb, parameters, missing, args) if missing else None


def _too_many(verb: str, parameters: list[Parameter], most: int, args: tuple[Any, ...]) -> NameExprError:
    own = len(_received(parameters))
    wanted = most - own
    is_open = any(not _is_needed(each) for each in _shown(parameters) if each.kind in _BY_POSITION)
    takes = f"{'at most ' * is_open}{counted(wanted, 'positional argument')}" if wanted else "no arguments"
    if not wanted and len(_shown(parameters)):
        takes = "no positional arguments"
    count = len(args) - own
    message = f"{verb} takes {takes}, but {count} {'was' if count == 1 else 'were'} given"
    call = ShownCall(verb, args[own:], _tensors(args))
    hint = f"its parameters are {_spelt(verb, parameters).text}" if _shown(parameters) else ""
    return fault("NE687", message, call, range(wanted, count), hint)


def _missing(
    verb: str, parameters: list[Parameter], missing: list[str], args: tuple[Any, ...]
) -> NameExprError:
    call = _spelt(verb, parameters, _tensors(args))
    marked = [place for place, part in enumerate(call.arguments) if part in missing]
    noun = "argument" if len(missing) == 1 else "arguments"
    return fault("NE687", f"{verb} needs the {noun} {listed(missing)}", call, marked)


def _spelt(verb: str, parameters: list[Parameter], tensors: tuple[Any, ...] = ()) -> ShownCall:
    """Return a function's signature as a call: names, with defaults and without types."""
    parts: list[str] = []
    for each in _shown(parameters):
        if each.kind is Parameter.KEYWORD_ONLY and not any(part[0] == "*" for part in parts):
            parts.append("*")
        star = "*" if each.kind is Parameter.VAR_POSITIONAL else ""
        parts.append(f"{star}{each.name}{_default(each)}")
    return ShownCall(verb, list(map(Verbatim, parts)), tensors)


def _default(parameter: Parameter) -> str:
    if parameter.default is Parameter.empty or parameter.default is ...:
        return ""
    is_plain = isinstance(parameter.default, str | int | float | None)
    return f"={shown(parameter.default)}" if is_plain else "=..."


def _keywords(parameters: list[Parameter]) -> list[str]:
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return [each.name for each in _shown(parameters) if each.kind in kinds]


def _received(parameters: list[Parameter]) -> list[Parameter]:
    """Return the parameter that a method's own tensor is, if there is one."""
    return [each for each in parameters[:1] if each.name == "self"]


def _shown(parameters: list[Parameter]) -> list[Parameter]:
    """Return the parameters that users give: not the tensor itself, nor keywords for type checkers."""
    own = parameters[len(_received(parameters)) :]
    return [each for each in own if each.kind is not Parameter.VAR_KEYWORD]


def _is_needed(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty and parameter.kind not in (
        Parameter.VAR_POSITIONAL,
        Parameter.VAR_KEYWORD,
    )


def _tensors(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(tensor._dims for tensor in args[:1] if hasattr(tensor, "_dims"))


def twice(verb: str, own: str, word: str, other: str) -> NameExprError:
    """Return the error for an argument that is given twice, perhaps by a synonym (NE673)."""
    if own == word and not other:
        message = f"{verb}: {own} is given by position and as {word}="
        return error(Diagnostic("NE673", message, hint="give it once"))
    first = f"{other}=" if other else f"the argument {own}"
    hint = f"{own} is given by position already" if not other else f"give {own}= alone"
    return error(Diagnostic("NE673", f"{verb}: {first} and {word}= are the same option", hint=hint))


def unknown(
    verb: str, word: str, value: object, parameters: Iterable[str], args: tuple[Any, ...] = ()
) -> NameExprError:
    """Return the error for a keyword that a method or function does not have (NE681)."""
    names = [f"{name}=" for name in parameters]
    hint = did_you_mean(f"{word}=", names) or _HABITS.get(word, "")
    if not hint:
        hint = f"it has {listed(map(Verbatim, names))}" if names else "it takes no keywords"
    call = ShownCall(verb, [Verbatim(f"{word}={shown(value)}")], _tensors(args))
    return fault("NE681", f"{verb} has no keyword {word}=", call, (0,), hint)
