"""`explain`: everything there is to say of an expression, as one text."""

from __future__ import annotations

from typing import Any

from nameexpr.api.compiled import compile as compile_text


def explain(text: str, /, *operands: Any, **options: Any) -> str:
    """Return signature, plan and code of an expression as text to read.

    Parameters
    ----------
    text : str
        An expression.
    *operands : array_like, NamedTensor or tuple of int
        Operands, or their shapes.
    **options
        As for `compile`.

    Raises
    ------
    NameExprError
        If the text is no expression, or the operands do not fit it.

    Examples
    --------
    >>> import nameexpr as ne
    >>> print(ne.explain("i j, j k -> i k", (2, 3), (3, 4)).splitlines()[0])
    i j, j k -> i k
    """
    plan = compile_text(text, **options).plan(*operands)
    return f"{plan}\n\n{plan.code}"
