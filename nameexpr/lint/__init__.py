"""Literal texts in Python files and notebooks: found, read as nameexpr reads them, with errors reported at
their positions.

`scopes` collects the `bindings` of every name of a file, and `targets` determines which calls are of
nameexpr's functions. `reader` finds the `values` that an expression can have: `flow` the assignments that
reach it, `modules` the imports, `constants` the results of operators, `results` those of calls, `library`
those of Python's library, `tensors` the names of tensors. `calls` lists the calls that a text reaches,
`passing` the functions of the program that pass it on. `diagnose` reads the texts with the package's own
rules, and `source` maps a character of a text to its position in the file. `formats` writes the findings, for
`nameexpr check`. The mypy plugin (`nameexpr.mypy`) shares `diagnose`, and the definitions of this module:
which functions take a text, and the contents of such a call.

No file is imported or executed, and nothing here needs NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from nameexpr.syntax.lexer.tokens import looks_like_formula


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
    "grad": "nameexpr.runtime.grad",
    "value_and_grad": "nameexpr.runtime.grad",
    "check_gradient": "nameexpr.runtime.check_gradient",
}
"""The functions whose first argument is a text, and where each is defined."""
FUNCTIONS = {f"{home}.{name}": name for name, here in HOMES.items() for home in ("nameexpr", here)}
"""The functions by every dotted path that leads to them."""
GRADIENTS = frozenset({"grad", "value_and_grad", "check_gradient", "gradient"})
"""The functions, and the method of compiled formulas, that take the operands to differentiate by."""
_OF_FORMULAS = GRADIENTS | {"evaluate"}
_OF_EITHER = frozenset({"compile", "explain", "call", "bind"})
MADE = frozenset({"compile", "grad", "value_and_grad"})
"""The functions that return a function of the operands."""
METHODS = frozenset({"bind", "gradient", "outline", "packed", "plan"})
"""The methods of these functions whose arguments are checked."""


Bound: TypeAlias = tuple[str | int, ...] | None


@dataclass(frozen=True, slots=True)
class LiteralCall:
    """A call with a literal text.

    `operands` counts the positional ones, None if there is a star among them; `keywords` are literal values
    or `OPEN`; `is_open` means that ``**`` adds more of them. The second argument of a function of `GRADIENTS`
    is the keyword "wrt".

    The functions "call" and "bind" are those of an object made from the text, which is a formula in any case
    if it `has_formula`. `bound` are the names or positions of the operands that are bound to it, None if they
    are unknown, and `binds` those that this call binds.
    """

    function: str
    text: str
    operands: int | None = 0
    keywords: Mapping[str, Any] = field(default_factory=dict)
    is_open: bool = False
    bound: Bound = ()
    binds: tuple[str | int, ...] = ()
    has_formula: bool = False

    @property
    def is_formula(self) -> bool:
        """Whether the call reads its text as a formula."""
        is_certain = self.has_formula or self.function in _OF_FORMULAS
        return is_certain or (self.function in _OF_EITHER and looks_like_formula(self.text))
