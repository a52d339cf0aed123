"""`explain`: everything there is to say of an expression or a formula, as one text."""

from __future__ import annotations

from typing import Any

from nameexpr.runtime.compiled import compile as compile_text
from nameexpr.runtime.compiled_formula import CompiledFormula
from nameexpr.syntax.lexer.language import looks_like_formula

_OPTIONS = frozenset({"outputs", "sizes", "optimize", "memory_limit"})


def explain(text: str, /, *operands: Any, **options: Any) -> str:
    """Return signature, plan and code of an expression or a formula as text to read.

    Parameters
    ----------
    text : str
        An expression, or a formula.
    *operands : array_like, NamedTensor or tuple of int
        Operands of an expression, or their shapes.
    **options
        As for `compile`. A formula has its operands, or their shapes, here, as in `evaluate`.

    Raises
    ------
    NameExprError
        If the text is neither, or the operands do not fit it.

    Examples
    --------
    >>> import nameexpr as ne
    >>> print(ne.explain("i j, j k -> i k", (2, 3), (3, 4)).splitlines()[0])
    i j, j k -> i k
    >>> print(ne.explain("y = sum[C](x[N C])", x=(2, 3)).splitlines()[0])
    y = sum[C](x[N C])
    """
    if isinstance(text, str) and looks_like_formula(text):
        chosen = {name: value for name, value in options.items() if name in _OPTIONS}
        named = {name: value for name, value in options.items() if name not in _OPTIONS}
        compiled = compile_text(text, **chosen)
        assert isinstance(compiled, CompiledFormula)
        plan = compiled.plan(*operands, **named)
    else:
        plan = compile_text(text, **options).plan(*operands)
    return f"{plan}\n\n{plan.code}"
