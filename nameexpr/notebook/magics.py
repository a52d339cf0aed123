"""`%ne` and `%%ne`: the language of sessions (`nameexpr.session.lines`) with the variables of a notebook, and
its completion with Tab.

A text may name any variable that holds numbers. Hints and searches by dims only consider the user's arrays:
neither IPython's own variables nor loop counters.

An error stops the cell, so that the rest of it does not run, and is shown without a traceback, whose frames
would all belong to this package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from nameexpr.dims import WORD
from nameexpr.errors import NameExprError
from nameexpr.session import lines
from nameexpr.session.complete import Known, complete
from nameexpr.session.constructors import make
from nameexpr.session.lines import read_line, without_comments
from nameexpr.session.running import VIEWS, prepare, value_of
from nameexpr.session.values import is_tensor_like
from nameexpr.tensors import NamedTensor
from nameexpr.terminal.faults import LineError
from nameexpr.whole_files import memory_of_machine

USAGE = "%ne N C, C -> N | x, w"
OPTIONS = "there are --plan, --code and --type"
IDENTIFIER = "nameexpr"
"""The identifier of the completer in IPython."""

_SHORT = {"-p": "plan", "-c": "code", "-t": "type"}
# "-p * 2" is minus p, times two, and "--x" is x: an option that is a letter, or unknown, is followed by the
# beginning of a text.
_BEGINS = r"(?=\s+[^\s+\-*/%<>=!&|,;)])"
_OPTION = re.compile(rf"\s*(?:(-[pct]){_BEGINS}|(?:--|:)((?:plan|code|type)(?=\s|\Z)|\w+{_BEGINS}))\s*")
_LINE = re.compile(rf"\s*(?:{WORD}\s*=\s*)?%ne\s")
_CELL = re.compile(r"%%ne\s")


class Variables(Mapping[str, Any]):
    """The operands among some variables, without those whose names are hidden.

    >>> variables = Variables({"x": np.ones(2), "n": 3, "np": np}, hidden=())
    >>> list(variables), "n" in variables, "y" in variables
    (['x'], True, False)
    """

    def __init__(self, variables: Mapping[str, Any], hidden: Container[str]) -> None:
        self._variables = variables
        self._hidden = hidden

    def __getitem__(self, name: str) -> Any:
        """Return an operand (KeyError if there is no such variable, LineError if it holds no numbers)."""
        value = self._variables[name]
        if not is_operand(value):
            hint = "operands are tensors, arrays, numbers and lists of numbers"
            raise LineError(f"the variable '{name}' is not a tensor, but a {type(value).__name__}", hint=hint)
        return value

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the user's arrays, in the order of their creation."""
        for name, value in list(self._variables.items()):
            if (name == "_" or name not in self._hidden) and isinstance(value, NamedTensor | np.ndarray):
                yield name

    def __len__(self) -> int:
        """Return how many arrays the user has."""
        return sum(1 for _ in self)


def is_operand(value: object) -> bool:
    """Return whether a value holds numbers: a tensor, an array of any library, a number, or a list.

    >>> is_operand([1, 2]), is_operand(2.5), is_operand("text"), is_operand(np.float64)
    (True, True, False, False)
    """
    if isinstance(value, type):
        return False
    return is_tensor_like(value) or isinstance(value, list | tuple) or hasattr(value, "__array__")


class Shown(str):
    """A text that notebooks show unchanged, without quotes."""

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the text itself."""
        printer.text(str(self))


class Magic:
    """`%ne` and `%%ne`: compute a text, or show its plan, code or type.

    %ne N C, C -> N | x, w         an expression; its operands follow the bar
    %ne y[N] = sum[C](x[N C])      a formula; it takes the variables that it names, and makes y
    %ne -p TEXT    --plan TEXT     the plan, step by step
    %ne -c TEXT    --code TEXT     the NumPy code
    %ne -t TEXT    --type TEXT     names, sizes, dtype and cost of the result
    %%ne [-p | -c | -t]            the same for a cell; a formula may have several statements
    """

    _ipython_magic_no_var_expand = True  # {} and $ are for IPython's own magics

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, line: str, cell: str | None = None) -> Any:
        """Run a line or a cell."""
        try:
            return self._answer(line if cell is None else f"{line}\n{cell}")
        except (NameExprError, LineError) as fault:
            text = str(fault) if isinstance(fault, NameExprError) else f"%ne: {fault}"
            fault.__dict__["_render_traceback_"] = text.split("\n").copy  # IPython calls it
            raise

    def _answer(self, text: str) -> Any:
        view, text = _view(text)
        text, is_silent = _unended(text)
        line = read_line(text)
        match line:
            case lines.EmptyLine():
                raise LineError("there is nothing to compute", hint=USAGE)
            case lines.PythonLine():
                hint = "write it in a cell of its own, without %ne"
                raise LineError("Python needs no ! in a notebook", hint=hint)
            case lines.CommandLine():
                raise LineError(f"there is no :{line.name} in a notebook", hint=OPTIONS)
            case lines.FactoryLine():
                tensor = make(line, limit=memory_of_machine())
                self._shell.push({line.target: tensor})
                return None if is_silent else tensor
        ready = prepare(line, Variables(self._shell.user_ns, self._shell.user_ns_hidden))
        if view:
            shown = VIEWS[view](ready)
            return Shown(shown) if isinstance(shown, str) else shown
        result = value_of(ready)
        self._shell.push(dict(result.named))
        return None if is_silent else result.value


def _view(text: str) -> tuple[str, str]:
    """Split off the option: the view of a text ("" for its value), and the text.

    >>> _view("-p x * 2"), _view("-p * 2"), _view("--code -x"), _view(":type x")
    (('plan', 'x * 2'), ('', '-p * 2'), ('code', '-x'), ('type', 'x'))
    """
    option = _OPTION.match(text)
    if option is None:
        return "", text
    view = _SHORT[option[1]] if option[1] else option[2]
    if view not in VIEWS:
        raise LineError(f"there is no option '{option[0].strip()}'", hint=OPTIONS)
    return view, text[option.end() :]


def _unended(text: str) -> tuple[str, bool]:
    """Return a text without a final semicolon, and whether it had one, which hides the value.

    >>> _unended("x * 2;  # quiet"), _unended("x * 2  # loud;")
    (('x * 2', True), ('x * 2  # loud;', False))
    """
    bare = without_comments(text).rstrip()
    return (text[: len(bare) - 1], True) if bare.endswith(";") else (text, False)


class Offer(NamedTuple):
    """Completions of `fragment`, the text before the cursor."""

    fragment: str
    texts: tuple[str, ...]


def offered(source: str, cursor: int, variables: Variables) -> Offer | None:
    """Return the completions in a cell, or None where the cursor is outside a magic.

    >>> import nameexpr as ne
    >>> offered("%ne N C -> N : me", 17, Variables({}, ()))
    Offer(fragment='me', texts=('mean', 'median'))
    >>> offered("me", 2, Variables({}, ())) is None
    True
    """
    start = source.rfind("\n", 0, cursor) + 1
    magic = _CELL.match(source) or _LINE.match(source, start)
    if magic is None or magic.end() > cursor:
        return None
    text = source[magic.end() :]
    if not source.startswith("%%"):
        text = text.partition("\n")[0]
    option = _OPTION.match(text)
    begins = option.end() if option else 0
    text, place = text[begins:], cursor - magic.end() - begins
    arrays = {
        name: (value.names if isinstance(value, NamedTensor) else (None,) * value.ndim, value.shape)
        for name, value in variables.items()
    }
    choices = complete(text, place, Known(arrays))
    begin = choices[0].start if choices else 0
    fragment = text[begin:place] if choices else ""
    return Offer(fragment, tuple(choice.text for choice in choices if choice.start == begin))


def matcher(shell: Any) -> Callable[[Any], dict[str, Any]]:
    """Return the function for IPython's completer (its "matcher API v2")."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier=IDENTIFIER)  # type: ignore[untyped-decorator, unused-ignore]
    def matches(context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")[: context.cursor_line]
        cursor = sum(len(line) + 1 for line in lines) + context.cursor_position
        offer = offered(context.full_text, cursor, Variables(shell.user_ns, shell.user_ns_hidden))
        if offer is None:
            return {"completions": []}
        completions = [SimpleCompletion(text=text) for text in offer.texts]
        return {"completions": completions, "matched_fragment": offer.fragment, "suppress": True}

    return matches  # type: ignore[no-any-return, unused-ignore]
