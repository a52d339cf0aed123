"""`out=` for the arrays of libraries that can write into them: the same checks as for NumPy."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nameexpr.backends.dispatch import array_within, library_name, library_of
from nameexpr.backends.library import Library
from nameexpr.compiler.ir.dtypes import is_castable
from nameexpr.errors import Diagnostic, error


def library_for(array: Any) -> Library:
    """Return the library of an array."""
    kind: Any = type(array)
    module = import_module(f"nameexpr.backends.{library_name(kind)}.library")
    return module.library_for([array])  # type: ignore[no-any-return]


def check(out: Any, result: Any, text: str) -> None:
    """Raise an error if a result cannot be written into `out`: NE507 for another library, NE312 for another
    shape, NE508 for another device, NE613 for a dtype that cannot hold it, NE612 if the library refuses.
    """
    target, values = array_within(out), array_within(result)
    library_of([target, values], text, ["out=", "the result"])
    library = library_for(values)
    if tuple(target.shape) != tuple(values.shape):
        message = f"the result has shape {tuple(values.shape)}, and out= has shape {tuple(target.shape)}"
        raise error(Diagnostic("NE312", message, text, hint="give an array of the result's shape"))
    if target.device != values.device:
        message = f"the result is on {values.device}, and out= on {target.device}"
        raise error(Diagnostic("NE508", message, text, hint="give an array on the device of the result"))
    if not is_castable(*map(library.dtype_name, (values.dtype, target.dtype))):
        message = f"the result is of dtype {values.dtype}, which out= of dtype {target.dtype} cannot hold"
        raise error(Diagnostic("NE613", message, text, hint="give an array of a dtype that holds the result"))
    reason = library.out_fault(target, values)
    if reason is not None:
        raise error(Diagnostic("NE612", f"out= {reason[0]}", text, hint=reason[1]))


def write(out: Any, result: Any) -> Any:
    """Write a result into `out`, which has been checked, and return it (NE612 if the library refuses)."""
    target, values = array_within(out), array_within(result)
    library = library_for(values)
    assert library.copy_into is not None, "checked before"
    try:
        library.copy_into(target, values)
    except Exception as fault:
        reason = library.fault(fault)
        if reason is None:
            raise
        message = f"out= cannot be written to here: {reason}"
        raise error(Diagnostic("NE612", message, hint="use the result, without out=")) from fault
    if target is not out:  # an unnamed tensor takes the names
        out._names = getattr(result, "_names", out._names)
    return out
