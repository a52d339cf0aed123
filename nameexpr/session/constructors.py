"""New tensors: from the sizes of their dims, `x = randn(N=2, C=3)`, and from Python, `z[N C] = !np.eye(3)`.

>>> from nameexpr.session.lines import read_line
>>> make(read_line("x = arange(N=2, C=3)"), limit=10**6)
tensor([[0, 1, 2],
        [3, 4, 5]], names=('N', 'C'), shape=(2, 3))

The variables of Python code are kept; arrays and numbers become tensors of the session. The code may do
anything, but it does not end the session: `exit()` only ends the line.

>>> tensors = {"x": ne.ones(2, names="N")}
>>> run_python(PythonLine("x.sum().item() + 1"), tensors, {})[1]
3.0
>>> after, _ = run_python(PythonLine("np.zeros((2, 3))", "z", "N C"), tensors, {})
>>> after["z"].names
('N', 'C')
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

import nameexpr as ne
from nameexpr.carets import visible
from nameexpr.dims import normalised
from nameexpr.errors import NameExprError
from nameexpr.pictures.words import bytes_text
from nameexpr.session.explaining import traceback_text
from nameexpr.session.layout import filled
from nameexpr.session.lines import FactoryLine, PythonLine
from nameexpr.session.values import as_dtype, as_named, is_tensor_like
from nameexpr.tensors import NamedTensor
from nameexpr.terminal.faults import LineError

WHERE = "<line>"
_PIECE = re.compile(r"([^\s=]+)\s*=\s*(\S+)")
_SIZE = re.compile(r"[0-9]{1,15}", re.ASCII)


def make(line: FactoryLine, *, limit: int) -> NamedTensor:
    """Create a tensor with a factory (LineError if it would not fit into `limit` bytes)."""
    sizes, dtype = read_pieces(line)
    shape, names = tuple(sizes.values()), tuple(sizes) or None
    needed = prod(shape) * (dtype or np.dtype(float)).itemsize
    if needed > limit:
        hint = "take smaller sizes, or allow more: :set memory_limit 8GB"
        message = f"{line.target} would take {bytes_text(needed)}, and the limit is {bytes_text(limit)}"
        raise LineError(message, hint=hint, code="limit")
    if line.factory == "arange":
        return ne.as_tensor(np.arange(prod(shape), dtype=dtype).reshape(shape), names=names)
    tensor: NamedTensor = getattr(ne, line.factory)(shape, names=names, dtype=dtype)
    return tensor


def read_pieces(line: FactoryLine) -> tuple[dict[str, int], np.dtype[Any] | None]:
    """Parse the arguments of a factory: sizes by name, and the dtype if one is given (LineError)."""
    sizes: dict[str, int] = {}
    dtype = None
    for piece in line.pieces:
        pair = _PIECE.fullmatch(piece.text)
        if pair is None:
            raise _wrong(line, f"'{piece.text}' is not a named size")
        name, value = normalised(pair[1]), pair[2]
        if name == "dtype" and not _SIZE.fullmatch(value):
            dtype = _dtype(line, value)
        elif not _SIZE.fullmatch(value):
            raise _wrong(line, f"'{value}' is not a size")
        elif name in sizes:
            raise _wrong(line, f"the dim '{name}' is given twice")
        else:
            sizes[name] = int(value)
    return sizes, dtype


def _dtype(line: FactoryLine, value: str) -> np.dtype[Any]:
    example = "such as dtype=float32"
    dtype = as_dtype(value.strip("'\""))
    if dtype is None:
        raise _wrong(line, f"'{value}' is not a dtype", example)
    if dtype.kind not in "biufc" or (line.factory in ("rand", "randn") and dtype.kind != "f"):
        raise _wrong(line, f"{line.factory} makes no numbers of dtype {dtype}", example)
    return dtype


def _wrong(line: FactoryLine, message: str, hint: str = "") -> LineError:
    example = f"names and whole numbers: {line.target} = {line.factory}(N=2, C=3)"
    return LineError(f"{line.factory}: {message}", hint=hint or example, code="factory")


def run_python(
    line: PythonLine, tensors: Mapping[str, Any], others: dict[str, Any]
) -> tuple[dict[str, NamedTensor], Any]:
    """Run code (LineError if it raises, or has no value to name).

    Parameters
    ----------
    line : PythonLine
        The code.
    tensors : mapping of str to NamedTensor
        The tensors of the session.
    others : dict
        Variables of earlier lines that are not tensors; it is changed.

    Returns
    -------
    tuple of (dict, object)
        The tensors afterwards, and the value of an expression or None.
    """
    variables = {"np": np, "ne": ne, "exit": sys.exit, "quit": sys.exit, **others, **tensors}
    value = _executed(line.code, variables)
    if line.target is not None:
        variables[line.target] = _target(line, value)
        value = None
    variables.pop("__builtins__", None)
    after = {name: variable for name, variable in variables.items() if is_tensor_like(variable)}
    others.clear()
    others.update({name: variable for name, variable in variables.items() if name not in after})
    return {name: as_named(variable) for name, variable in after.items()}, value


def _target(line: PythonLine, value: Any) -> NamedTensor:
    if line.target in ("np", "ne"):
        message = f"'{line.target}' is the name of a module here"
        raise LineError(message, hint="take another name", code="python")
    if value is None:
        hint = "name the value of an expression: z = !np.ones(3)"
        raise LineError("this code has no value to name", hint=hint, code="python")
    try:
        array = value if isinstance(value, NamedTensor) else np.asarray(value)
    except Exception as fault:  # noqa: BLE001  a value of the user's may raise anything
        raise LineError(f"this value is not an array: {exception_text(fault)}", code="python") from None
    if not is_tensor_like(array):
        message = f"a value of type {type(value).__name__} is not an array of numbers"
        raise LineError(message, code="python")
    return as_named(array, line.term)


def _executed(code: str, variables: dict[str, Any]) -> Any:
    """Run code and return the value of a last expression, or None; every exception becomes a LineError."""
    if not code:
        raise LineError("there is no code after !", hint="such as !x.shape", code="python")
    try:
        tree = ast.parse(code, WHERE)
        last = tree.body[-1] if tree.body else None
        value = last.value if isinstance(last, ast.Expr) else None
        del tree.body[len(tree.body) - (value is not None) :]
        exec(compile(tree, WHERE, "exec"), variables)  # noqa: S102  the user's own code is what this is for
        return None if value is None else eval(compile(ast.Expression(value), WHERE, "eval"), variables)
    except (KeyboardInterrupt, NameExprError):
        raise
    except (SystemExit, GeneratorExit):
        message = "Python tried to exit; the session continues"
        raise LineError(message, hint=":quit or Ctrl-D ends it", code="python") from None
    except BaseException as fault:  # noqa: BLE001  code of the user's may raise anything
        detail = "\n".join(filter(None, [traceback_text(fault, WHERE, code), _documented(fault)]))
        raise LineError(exception_text(fault), code="python", detail=detail) from None


def _documented(fault: BaseException) -> str:
    """Return the exception with Python's description of its class."""
    is_known = getattr(type(fault), "__module__", "") == "builtins"
    about = (type(fault).__doc__ or "").partition("\n\n")[0] if is_known else ""
    return "\n".join([visible(exception_text(fault)), *filled(about, None, "  ")])


def exception_text(fault: BaseException) -> str:
    """Return the class of an exception and the first line of its message."""
    try:
        text = str(fault)
    except Exception:  # noqa: BLE001  a class of the user's
        text = ""
    first = next(iter(text.strip().splitlines()), "")
    return f"{type(fault).__name__}: {first}" if first else type(fault).__name__
