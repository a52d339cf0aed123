"""Python behind `!`: code over the tensors of the session, with `np` and `ne`.

What it leaves in its variables stays; arrays and numbers are tensors of the session from then on. The code
may do what Python may, but it does not end the session: `exit()` only ends the line.

>>> tensors = {"x": ne.ones(2, names="N")}
>>> after, value = run(Python("x.sum().item() + 1"), tensors, {})
>>> value
3.0
>>> after, value = run(Python("np.zeros((2, 3))", "z", "N C"), tensors, {})
>>> after["z"].names
('N', 'C')
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

import nameexpr as ne
from nameexpr.errors import NameExprError
from nameexpr.session.faults import LineError
from nameexpr.session.lines import Python
from nameexpr.session.values import as_named, is_tensor_like
from nameexpr.tensors import NamedTensor

WHERE = "<line>"


def run(line: Python, tensors: Mapping[str, Any], others: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the tensors as they are after the code, and the value of an expression, else None.

    Parameters
    ----------
    line : Python
        The code.
    tensors : mapping of str to NamedTensor
        What the session has.
    others : dict
        Variables of earlier lines that are no tensors; it is changed.

    Raises
    ------
    LineError
        If the code raises, or its value cannot be what it is to be.
    """
    names = {"np": np, "ne": ne, **others, **tensors}
    value = _executed(line.code, names)
    if line.target is not None:
        names[line.target] = _target(line, value)
        value = None
    names.pop("__builtins__", None)
    after = {name: one for name, one in names.items() if is_tensor_like(one)}
    others.clear()
    others.update({name: one for name, one in names.items() if name not in after})
    return {name: as_named(one) for name, one in after.items()}, value


def _target(line: Python, value: Any) -> NamedTensor:
    if line.target in ("np", "ne"):
        raise LineError(f"'{line.target}' is the name of a module here", hint="take another name")
    if value is None:
        raise LineError(
            "this code has no value to name", hint="name the value of an expression: z = !np.ones(3)"
        )
    try:
        array = value if isinstance(value, NamedTensor) else np.asarray(value)
    except Exception as fault:  # noqa: BLE001  a value of the user's may raise anything
        raise LineError(f"this value is no array: {said(fault)}") from None
    if not is_tensor_like(array):
        raise LineError(f"a value of type {type(value).__name__} is no array of numbers")
    return as_named(array, line.term)


def _executed(code: str, names: dict[str, Any]) -> Any:
    """Return the value of an expression, else None; whatever it raises is reported."""
    if not code:
        raise LineError("there is no code behind !", hint="such as !x.shape")
    try:
        tree = ast.parse(code, WHERE)
        last = tree.body[-1] if tree.body else None
        value = last.value if isinstance(last, ast.Expr) else None
        del tree.body[len(tree.body) - (value is not None) :]
        exec(compile(tree, WHERE, "exec"), names)  # noqa: S102  the user's own code is what this is for
        return None if value is None else eval(compile(ast.Expression(value), WHERE, "eval"), names)
    except (KeyboardInterrupt, NameExprError):
        raise
    except (SystemExit, GeneratorExit):
        raise LineError(
            "Python wanted to leave; the session goes on", hint=":quit or Ctrl-D ends it"
        ) from None
    except BaseException as fault:  # noqa: BLE001  code of the user's may raise anything
        raise LineError(said(fault)) from None


def said(fault: BaseException) -> str:
    """Return the kind of an exception and the first line of what it says."""
    try:
        text = str(fault)
    except Exception:  # noqa: BLE001  a class of the user's
        text = ""
    first = next(iter(text.strip().splitlines()), "")
    return f"{type(fault).__name__}: {first}" if first else type(fault).__name__
