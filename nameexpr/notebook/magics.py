"""`%ne` and `%%ne`: the language of sessions (`nameexpr.session.lines`) over the variables of a notebook.

What a text names may be anything that holds numbers. What is looked for by its dims, or listed in a hint, are
the arrays that the user made: neither IPython's own variables nor numbers that count a loop.

A mistake ends the cell, so that what is below it does not run, and shows what is wrong without a traceback:
the lines of that would all be ours.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

import numpy as np

from nameexpr.errors import NameExprError
from nameexpr.session import lines
from nameexpr.session.constructors import make
from nameexpr.session.faults import LineError
from nameexpr.session.lines import read_line, without_comments
from nameexpr.session.running import VIEWS, PreparedText, prepare, value_of
from nameexpr.session.values import is_tensor_like
from nameexpr.tensors import NamedTensor
from nameexpr.whole_files import memory_of_machine

USAGE = "%ne N C, C -> N | x, w"

_SHORT = {"-p": "plan", "-c": "code", "-t": "type"}
# "-p * 2" is minus p, times two, and "--x" is x: an option that is a letter, or unknown, is followed by what
# begins a text.
_BEGINS = r"(?=\s+[^\s+\-*/%<>=!&|,;)])"
_OPTION = re.compile(rf"\s*(?:(-[pct]){_BEGINS}|(?:--|:)((?:plan|code|type)(?=\s|\Z)|\w+{_BEGINS}))\s*")


class Variables(Mapping[str, Any]):
    """The operands among some variables.

    Parameters
    ----------
    variables : mapping of str to object
        All of them.
    hidden : container of str
        Names that are not the user's own.

    Examples
    --------
    >>> variables = Variables({"x": np.ones(2), "n": 3, "np": np}, hidden=())
    >>> list(variables), "n" in variables, "y" in variables
    (['x'], True, False)
    """

    def __init__(self, variables: Mapping[str, Any], hidden: Container[str]) -> None:
        self._variables = variables
        self._hidden = hidden

    def __getitem__(self, name: str) -> Any:
        """Return an operand.

        Raises
        ------
        KeyError
            If there is no such variable.
        LineError
            If it holds no numbers.
        """
        value = self._variables[name]
        if not is_operand(value):
            hint = "operands are tensors, arrays, numbers and lists of numbers"
            raise LineError(f"the variable '{name}' is no tensor, but a {type(value).__name__}", hint=hint)
        return value

    def __iter__(self) -> Iterator[str]:
        """Return the names of the user's arrays, in the order in which they were made."""
        return (name for name, value in list(self._variables.items()) if self._is_offered(name, value))

    def __len__(self) -> int:
        """Return how many arrays the user has."""
        return sum(1 for _ in self)

    def _is_offered(self, name: str, value: object) -> bool:
        is_own = name == "_" or name not in self._hidden
        return is_own and isinstance(value, NamedTensor | np.ndarray)


def is_operand(value: object) -> bool:
    """Return whether a value holds numbers: a tensor, an array of any library, a number, or a list.

    Examples
    --------
    >>> is_operand([1, 2]), is_operand(2.5), is_operand("text"), is_operand(np.float64)
    (True, True, False, False)
    """
    if isinstance(value, type):
        return False
    return is_tensor_like(value) or isinstance(value, list | tuple) or hasattr(value, "__array__")


class Shown(str):
    """A text that notebooks show as it is, without quotes."""

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the text itself."""
        printer.text(str(self))


class Magic:
    """The function behind `%ne` and `%%ne`: compute a text, or tell its plan, code or type.

    %ne N C, C -> N | x, w         an expression; its operands stand behind the bar
    %ne y[N] = sum[C](x[N C])      a formula; it takes the variables that it names, and makes y
    %ne -p TEXT    --plan TEXT     what would be done, step by step
    %ne -c TEXT    --code TEXT     the NumPy that would run
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
            fault.__dict__["_render_traceback_"] = text.split("\n").copy  # IPython asks for it
            raise

    def _answer(self, text: str) -> Any:
        view, text = _view(text)
        text, is_silent = _unended(text)
        line = read_line(text)
        if isinstance(line, lines.EmptyLine | lines.CommandLine | lines.PythonLine):
            raise _not_here(line, text)
        if isinstance(line, lines.FactoryLine):
            tensor = make(line, limit=memory_of_machine())
            self._shell.push({line.target: tensor})
            return None if is_silent else tensor
        if view:
            shown = VIEWS[view](self._prepared(line))
            return Shown(shown) if isinstance(shown, str) else shown
        result = value_of(self._prepared(line))
        self._shell.push(dict(result.named))
        return None if is_silent else result.value

    def _prepared(self, text: lines.TextLine) -> PreparedText:
        return prepare(text, Variables(self._shell.user_ns, self._shell.user_ns_hidden))


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
        raise LineError(
            f"there is no option '{option[0].strip()}'", hint="there are --plan, --code and --type"
        )
    return view, text[option.end() :]


def without_option(text: str) -> str:
    """Return a text without its option."""
    option = _OPTION.match(text)
    return text if option is None else text[option.end() :]


def _unended(text: str) -> tuple[str, bool]:
    """Return a text without a final semicolon, and whether it had one, which hides the value.

    >>> _unended("x * 2;  # quiet"), _unended("x * 2  # loud;")
    (('x * 2', True), ('x * 2  # loud;', False))
    """
    bare = without_comments(text).rstrip()
    return (text[: len(bare) - 1], True) if bare.endswith(";") else (text, False)


def _not_here(line: lines.EmptyLine | lines.CommandLine | lines.PythonLine, text: str) -> LineError:
    """Return the error for a line that only sessions have."""
    if isinstance(line, lines.EmptyLine):
        return LineError("there is nothing to compute", hint=USAGE)
    if isinstance(line, lines.PythonLine):
        return LineError("Python needs no ! in a notebook", hint="write it in a cell of its own, without %ne")
    return LineError(
        f"there is no :{line.name.text} in a notebook", hint="there are --plan, --code and --type"
    )
