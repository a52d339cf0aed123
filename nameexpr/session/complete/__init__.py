"""Tab completion: what may come next at the cursor.

Commands, files, Python and factories have rules of their own. All else is read with both grammars up to the
word under the cursor, as an expression and as a formula; whichever can still be true of the text says what it
accepts, and only then are names looked up. So an unfinished line needs no kind, and nothing is offered that
the grammar would refuse.

>>> known = Known({"x": (("N", "C"), (2, 3))}, {":names": "what is there"})
>>> [completion.text for completion in complete("y[N] = sum[C](x[", 16, known)]
['N', 'C']
>>> complete(":na", 3, known)
(Completion(text=':names', start=0, shown=':names', about='what is there'),)
"""

from __future__ import annotations

import re
import sys
from types import ModuleType

from nameexpr.ops import POINTWISE
from nameexpr.session.complete.choices import MOST, Choice, Completion, Known, dims, placed, ranked, tensors
from nameexpr.session.complete.commands import command_choices, complete_command
from nameexpr.session.complete.texts import (
    ALONG_DIMS,
    NAME,
    ONE_DIM,
    expression_choices,
    formula_choices,
    word_before,
)
from nameexpr.session.continuation import python_start
from nameexpr.session.lines import FACTORIES

__all__ = ["Completion", "Known", "complete"]

LONGEST = 8_000
"""Longest text, in characters, that is completed, so that no key is slow."""
REACH = 128
"""Characters of Python before the cursor that are looked at."""
MODULES = {"np": "numpy", "ne": "nameexpr"}
FUNCTIONS = frozenset({*POINTWISE, *ALONG_DIMS, *ONE_DIM})
_ALIAS = re.compile(r"\S=\s*\Z")
_CALLED = re.compile(r"(?<![\w'.])(\w+)\(")
_VALUE = re.compile(rf"\s*{NAME}\s*=\s*")
_CALL = re.compile(rf"({NAME})\s*\(([^()]*)")
_ARGUMENT = re.compile(rf"({NAME})\s*=")
_WANTED = re.compile(rf"(?:^|,)\s*(?:({NAME})\s*=\s*)?$")
_DOTTED = re.compile(r"(?<![\w.])((?:[^\W\d]\w*\.)*)([^\W\d]\w*)?$")


def complete(text: str, cursor: int, known: Known) -> tuple[Completion, ...]:
    """Return completions of the word at the cursor, the likeliest first.

    Nothing is ever raised. There are none where the text before the cursor is invalid.

    Parameters
    ----------
    text : str
        The line as it is now, with what stands behind the cursor.
    cursor : int
        How many characters stand before the cursor.
    known : Known
        What the session has.

    Examples
    --------
    >>> known = Known({"x": (("N", "C"), (2, 3))})
    >>> complete("N C -> C : me", 13, known)[0]
    Completion(text='mean', start=11, shown='mean', about='reducer')
    """
    cursor = max(0, min(cursor, len(text)))
    if len(text) > LONGEST:
        return ()
    before = text[:cursor]
    if not text.strip():
        return placed(cursor, [*tensors(known), *command_choices(known)][:MOST])
    if before.lstrip().startswith(":"):
        return complete_command(text, cursor, known, _value)
    code = python_start(before)
    if code is not None:
        word, choices = _python_choices(before[code:], known)
        return placed(cursor - len(word), ranked(word, choices))
    return _value(text, cursor, known)


def _value(text: str, cursor: int, known: Known) -> tuple[Completion, ...]:
    """Complete an expression, a formula, or a call of a factory."""
    word = word_before(text[:cursor])
    if word is None or "#" in text[:cursor].rpartition("\n")[2]:
        return ()
    before, after = text[: cursor - len(word)], text[cursor:]
    choices = _factory_choices(before, known)
    if choices is None:
        choices = _by_grammar(before, after, word, known)
    return placed(cursor - len(word), ranked(word, choices))


def _by_grammar(before: str, after: str, word: str, known: Known) -> list[Choice]:
    """Return the choices of both grammars."""
    formula = formula_choices(before, after, known)
    if after.startswith(("(", "[")):
        formula = [choice._replace(text=choice.text.rstrip("[(")) for choice in formula]
    first = [choice for choice in formula if choice.text in known.tensors]
    formula = [*first, *_factories(before), *formula]
    if formula and _is_surely_formula(before):
        return formula
    return [*first, *expression_choices(before, after, word, known), *formula]


def _is_surely_formula(before: str) -> bool:
    """Whether a text that may be either is not meant as an expression: `y = `, or `sqrt(x `, which could be
    the label `sqrt` and a group.
    """
    is_called = any(name in FUNCTIONS for name in _CALLED.findall(before))
    return is_called or (bool(_factories(before)) and _ALIAS.search(before) is None)


def _factories(before: str) -> list[Choice]:
    """Return the factories, if a tensor's value begins here: `x = randn(N=2, C=3)`."""
    if not _VALUE.fullmatch(before):
        return []
    return [Choice(f"{name}(", about) for name, about in FACTORIES.items()]


def _factory_choices(before: str, known: Known) -> list[Choice] | None:
    """Return the dims, or the size of one, for the arguments of a factory; None outside a call of one.

    Examples
    --------
    >>> known = Known({"x": (("N",), (2,))})
    >>> _factory_choices("y = randn(", known), _factory_choices("y = randn(N=", known)
    ([Choice(text='N=', about='dim of x, 2')], [Choice(text='2', about='dim of x, 2')])
    """
    value = _VALUE.match(before)
    call = _CALL.fullmatch(before, value.end()) if value else None
    if call is None or call[1] not in FACTORIES:
        return None
    wanted = _WANTED.search(call[2])
    if wanted is None:
        return []
    about = dims(known)
    if wanted[1]:
        dim = about.get(wanted[1])
        return [dim._replace(text=dim.about.rpartition(" ")[2])] if dim else []
    given = set(_ARGUMENT.findall(call[2]))
    return [dim._replace(text=f"{name}=") for name, dim in about.items() if name not in given]


def _python_choices(code: str, known: Known) -> tuple[str, list[Choice]]:
    """Return the word at the end of Python code, and its choices: tensors and public names of `np` and `ne`.

    Examples
    --------
    >>> import numpy
    >>> word, choices = _python_choices("np.linalg.nor", Known())
    >>> word, Choice("norm", "of np.linalg") in choices
    ('nor', True)
    """
    dotted = _DOTTED.search(code[-REACH:])
    if dotted is None:
        return "", []
    path, word = dotted[1].rstrip("."), dotted[2] or ""
    if not path:
        modules = [Choice(name, f"module {module}") for name, module in MODULES.items()]
        return word, [*tensors(known), *modules]
    return word, _attributes(path, word)


def _attributes(path: str, word: str) -> list[Choice]:
    """Return the public names of a module that is loaded already; nothing is imported."""
    first, *rest = path.split(".")
    module = sys.modules.get(MODULES.get(first, ""))
    for part in rest:
        inner = vars(module).get(part) if module is not None else None
        module = inner if isinstance(inner, ModuleType) else None
    if module is None:
        return []
    names = getattr(module, "__all__", None) if not word.startswith("_") else None
    listed = dir(module) if names is None else names
    return [Choice(name, f"of {path}") for name in sorted(listed) if word[:1] == "_" or name[0] != "_"]
