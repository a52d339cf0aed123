"""Errors about values and sizes that are not known while a library traces a function."""

from __future__ import annotations

from nameexpr.backends.library import Library
from nameexpr.errors import Diagnostic, NameExprError, error


def unknown_fault(library: Library, text: str, fault: Exception) -> NameExprError | None:
    """Return the error for an exception because something is not known (NE509); None for other exceptions."""
    if library.tracing is None or not library.tracing.is_unknown(fault):
        return None
    reason = str(fault).splitlines()[0][:160]
    message = f"values or sizes are needed that are not known while {library.name} traces: {reason}"
    hint = "pass what has to be known as numbers, or call the text outside of the function that is traced"
    return error(Diagnostic("NE509", message, text, hint=hint))
