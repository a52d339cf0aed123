"""The mypy plugin: literal texts passed to nameexpr's functions are checked together with types.

In the configuration of mypy: ``plugins = ["nameexpr.mypy"]``. It reports the findings of `nameexpr check`, at
the text, under the error code ``nameexpr``; texts that are ``Final`` or of a ``Literal`` type are read, too.
The type of a compiled text includes the text and the operands bound to it, so that its calls are checked
anywhere, and literal `outputs` determine the number of results. It is only loaded by mypy, and does not need
NumPy.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.plugin import FunctionContext, MethodContext, Plugin
from mypy.types import Type

from nameexpr.lint import FUNCTIONS
from nameexpr.mypy.arguments import CODE
from nameexpr.mypy.compiled import GRADIENT_TYPES, applied, bound
from nameexpr.mypy.functions import checked
from nameexpr.mypy.gradients import applied_gradients, gradient, read
from nameexpr.version import __version__

__all__ = ["CODE", "NameExprPlugin", "__version__", "plugin"]  # mypy recognises an old cache by its version

_RUNTIME = "nameexpr.runtime"
_COMPILED = {
    f"{_RUNTIME}.compiled.Compiled",
    f"{_RUNTIME}.compiled_expression.CompiledExpression",
    f"{_RUNTIME}.compiled_expression.BoundExpression",
    f"{_RUNTIME}.compiled_formula.CompiledFormula",
    f"{_RUNTIME}.compiled_formula.BoundFormula",
}
"""The classes of compiled texts: the last of their type arguments is the text."""

_OF_COMPILED = {"__call__": applied, "plan": applied, "outline": applied, "bind": bound, "gradient": gradient}
_OF_GRADIENTS = {"__call__": applied_gradients, "__getitem__": read, "bind": bound} | dict.fromkeys(
    ("plan", "packed"), applied
)
"""The hooks of methods."""


class NameExprPlugin(Plugin):
    """Reports errors in texts and in their calls, and knows the operands and results of compiled texts."""

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """Return the hook for calls of a function of nameexpr, and None for other functions."""
        function = FUNCTIONS.get(fullname)
        return None if function is None else lambda context: checked(function, context)

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        """Return the hook for calls of a compiled text and of its methods."""
        home, _, method = fullname.rpartition(".")
        if home.startswith(GRADIENT_TYPES):
            return _OF_GRADIENTS.get(method)
        return _OF_COMPILED.get(method) if home in _COMPILED else None


def plugin(version: str) -> type[Plugin]:
    """Return the plugin's class for any version of mypy: mypy calls this."""
    return NameExprPlugin
