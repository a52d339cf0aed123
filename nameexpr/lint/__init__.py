"""Literal texts in Python files and notebooks: found, read as nameexpr reads them, and reported where they
stand.

`scopes` collects what every name of a file is bound to, and `targets` says which calls are of nameexpr's own
functions. `reader` finds the `values` that an expression can have: `flow` finds which assignment reaches it,
`modules` what is imported, `constants` what operators make of constants, `results` what calls return,
`library` what those of Python's library do, `tensors` which names tensors have. `calls` lists the calls that
a text reaches, `passing` the functions of the program that pass it on. `diagnose` reads the texts with the
package's own rules, and `source` leads from a character of a text back to the file. `formats` writes what was
found, for `nameexpr check`. The mypy plugin (`nameexpr.mypy`) shares `diagnose`, and what is here: which
functions take a text, and what a call of one says.

No file is imported or run, and nothing here needs NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


class _Open:
    """The value of an argument that is not literal."""

    def __repr__(self) -> str:
        return "OPEN"


OPEN: Final = _Open()
HOMES = {
    "einsum": "nameexpr.runtime.einsum",
    "evaluate": "nameexpr.runtime.evaluate",
    "compile": "nameexpr.runtime.compile",
    "check": "nameexpr.runtime.check",
    "explain": "nameexpr.runtime.compile",
}
"""The functions whose first argument is a text, and where each is defined."""
FUNCTIONS = {f"{home}.{name}": name for name, here in HOMES.items() for home in ("nameexpr", here)}
"""The functions by every dotted path that leads to them."""


@dataclass(frozen=True, slots=True)
class LiteralCall:
    """A call with a literal text.

    `operands` counts those by position, None if a star stands among them; `keywords` hold literal values or
    `OPEN`; `is_open` says that ``**`` brings more of them.
    """

    function: str
    text: str
    operands: int | None = 0
    keywords: Mapping[str, Any] = field(default_factory=dict)
    is_open: bool = False
