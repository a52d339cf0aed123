"""`%ne` and `%%ne`: the language of sessions (`nameexpr.session.lines`) over the variables of a notebook.

A mistake ends the cell, so that what is below it does not run, and shows what is wrong without a traceback:
the lines of that would all be ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from nameexpr.errors import NameExprError
from nameexpr.notebook.variables import Variables
from nameexpr.session.constructors import make
from nameexpr.session.facts import type_text
from nameexpr.session.faults import LineError
from nameexpr.session.lines import Command, Make, Nothing, Python, Text, read_line
from nameexpr.session.running import Prepared, plan_of, prepare, value_of
from nameexpr.whole_files import memory_of_machine

USAGE = "%ne N C, C -> N | x, w"

_SHORT = {"-p": "plan", "-c": "code", "-t": "type"}
# "-p * 2" is minus p, times two, and "--x" is x: an option that is a letter, or unknown, is followed by what
# begins a text.
_BEGINS = r"(?=\s+[^\s+\-*/%<>=!&|,;)])"
_OPTION = re.compile(rf"\s*(?:(-[pct]){_BEGINS}|(?:--|:)((?:plan|code|type)(?=\s|\Z)|\w+{_BEGINS}))\s*")
_COMMENT = re.compile(r"#[^\n]*")


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
        """Return what a line, or a cell, says."""
        text = line if cell is None else f"{line}\n{cell}"
        try:
            return self._answered(text)
        except (NameExprError, LineError) as fault:
            told = str(fault) if isinstance(fault, NameExprError) else f"%ne: {fault}"
            fault.__dict__["_render_traceback_"] = told.split("\n").copy  # IPython asks for it
            raise

    def _answered(self, text: str) -> Any:
        view, text = _view(text)
        text, is_silent = _unended(text)
        line = read_line(text)
        if isinstance(line, Nothing | Command | Python):
            raise _not_here(line, text)
        if isinstance(line, Make):
            made = make(line, limit=memory_of_machine())
            self._shell.push({line.target: made})
            return None if is_silent else made
        if view:
            return _VIEWS[view](self._prepared(line))
        found = value_of(self._prepared(line))
        self._shell.push(dict(found.named))
        return None if is_silent else found.value

    def _prepared(self, text: Text) -> Prepared:
        return prepare(text, Variables(self._shell.user_ns, self._shell.user_ns_hidden))


def _view(text: str) -> tuple[str, str]:
    """Return what is asked of a text ("" for its value), and the text without that.

    >>> _view("-p x * 2"), _view("-p * 2"), _view("--code -x"), _view(":type x")
    (('plan', 'x * 2'), ('', '-p * 2'), ('code', '-x'), ('type', 'x'))
    """
    option = _OPTION.match(text)
    if option is None:
        return "", text
    view = _SHORT[option[1]] if option[1] else option[2]
    if view not in _VIEWS:
        raise LineError(
            f"there is no option '{option[0].strip()}'", hint="there are --plan, --code and --type"
        )
    return view, text[option.end() :]


def without_option(text: str) -> str:
    """Return a text without the option before it, if there is one."""
    option = _OPTION.match(text)
    return text if option is None else text[option.end() :]


def _unended(text: str) -> tuple[str, bool]:
    """Return a text without the semicolon at its end, and whether there was one: it shows no value.

    >>> _unended("x * 2;  # quiet"), _unended("x * 2  # loud;")
    (('x * 2', True), ('x * 2  # loud;', False))
    """
    bare = _COMMENT.sub(lambda comment: " " * len(comment[0]), text).rstrip()
    return (text[: len(bare) - 1], True) if bare.endswith(";") else (text, False)


def _not_here(line: Nothing | Command | Python, text: str) -> LineError:
    """Return the error for what a session has, and a notebook does in its own way."""
    if isinstance(line, Nothing):
        return LineError("there is nothing to compute", hint=USAGE)
    if isinstance(line, Python):
        return LineError("Python needs no ! in a notebook", hint="write it in a cell of its own, without %ne")
    return LineError(
        f"there is no :{line.name.text} in a notebook", hint="there are --plan, --code and --type"
    )


def _code(ready: Prepared) -> Shown:
    return Shown(plan_of(ready).code.rstrip("\n"))


def _type(ready: Prepared) -> Shown:
    return Shown(type_text(ready))


_VIEWS: dict[str, Callable[[Prepared], Any]] = {"plan": plan_of, "code": _code, "type": _type}
