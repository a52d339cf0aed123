"""`grad` and `value_and_grad`: functions of the gradients of a formula by its operands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from nameexpr.compiler.pipeline import read_formula
from nameexpr.dims import normalised
from nameexpr.errors import Diagnostic, error
from nameexpr.rules.arguments import unknown
from nameexpr.runtime import public
from nameexpr.runtime.differentiated import Differentiated, differentiated
from nameexpr.runtime.gradients import GradientFunction
from nameexpr.syntax.walk import labels_in, terms_in

if TYPE_CHECKING:
    import numpy.typing as npt

    from nameexpr.compiler.planning.path import Optimize
    from nameexpr.runtime.gradient_types import OfGradients, OfValue

OPTIONS = ("dtype", "optimize", "sizes", "order", "memory_limit", "tune")


@public
def grad(
    text: str,
    /,
    wrt: str | Iterable[str] = (),
    *,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> OfGradients:
    """Return a function that computes the gradients of a formula by some of its operands.

    Parameters
    ----------
    text : str
        A formula (docs/formulas.md), whose last statement is a real number without dims.
    wrt : str or iterable of str
        The names of operands: ``"w b"``, or ``["w", "b"]``.
    dtype, optimize, sizes, order, memory_limit, tune, **size_keywords
        As for `compile`.

    Returns
    -------
    GradientFunction
        Called with the operands by name, it returns a dict of gradients by the names of operands. Each has
        the shape, the dtype and the names of its operand.

    Raises
    ------
    NameExprError
        If the text is not a formula (NE531), or a name is not that of an operand (NE534).

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> x, w = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, -1.0])
    >>> ne.grad("loss = mean[N](sum[C](x[N C] * w[C]) ** 2)", "w")(x=x, w=w)
    {'w': array([-4., -6.])}
    """
    options: dict[str, Any] = {"dtype": dtype, "optimize": optimize, "sizes": sizes, "order": order}
    options |= {"memory_limit": memory_limit, "tune": tune}
    return _function(text, wrt, options, size_keywords, has_value=False)  # type: ignore[return-value]


@public
def value_and_grad(
    text: str,
    /,
    wrt: str | Iterable[str] = (),
    *,
    dtype: npt.DTypeLike | None = None,
    optimize: Optimize = None,
    sizes: Mapping[str, SupportsIndex] | None = None,
    order: Literal["C"] | None = None,
    memory_limit: SupportsIndex | None = None,
    tune: bool = False,
    **size_keywords: SupportsIndex,
) -> OfValue:
    """Return a function that computes a formula and its gradients by some of its operands.

    Parameters and errors are those of `grad`.

    Returns
    -------
    GradientFunction
        Called with the operands by name, it returns the value, and a dict of gradients by the names of
        operands.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> step = ne.value_and_grad("loss = sum[N]((a * x[N] + b - y[N]) ** 2)", "a b")
    >>> loss, gradients = step(x=np.array([0.0, 1.0]), y=np.array([1.0, 3.0]), a=1.0, b=1.0)
    >>> float(loss), {name: float(one) for name, one in gradients.items()}
    (1.0, {'a': -2.0, 'b': -2.0})
    """
    options: dict[str, Any] = {"dtype": dtype, "optimize": optimize, "sizes": sizes, "order": order}
    options |= {"memory_limit": memory_limit, "tune": tune}
    return _function(text, wrt, options, size_keywords, has_value=True)  # type: ignore[return-value]


def _function(
    text: str,
    wrt: str | Iterable[str],
    options: Mapping[str, Any],
    keywords: Mapping[str, Any],
    *,
    has_value: bool,
) -> GradientFunction:
    from nameexpr.runtime.compile import compile_formula

    made = differentiated(text, wrt)
    if keywords:
        _check_keywords(made, keywords, "value_and_grad" if has_value else "grad")
    outputs = tuple([statement for _, statement in made.gradients])
    results = (made.value, *outputs) if has_value else outputs
    formula = compile_formula(made.text, outputs=results, keywords=keywords, **options)
    return GradientFunction(formula, made, has_value=has_value)


def _check_keywords(made: Differentiated, keywords: Mapping[str, Any], verb: str) -> None:
    """Raise an error for keywords that are not sizes of labels (NE681; NE623 for `outputs` and `reduce`)."""
    if "outputs" in keywords:
        names = ", ".join(repr(statement) for _, statement in made.gradients)
        hint = f"compile .text instead: ne.compile(f.text, outputs=({made.value!r}, {names}, ...))"
        raise error(Diagnostic("NE623", "outputs= is not an option of gradients", made.origin, hint=hint))
    if "reduce" in keywords:
        hint = "a reduction is written in the formula: sum[C](x)"
        raise error(Diagnostic("NE623", "reduce= is for expressions", made.origin, hint=hint))
    tree = read_formula(made.origin).tree
    labels = labels_in(*terms_in(tree))
    for name, value in keywords.items():
        if normalised(name) not in labels:
            raise unknown(verb, name, value, ("wrt", *OPTIONS))
