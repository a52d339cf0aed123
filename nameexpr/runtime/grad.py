"""`grad` and `value_and_grad`: functions of the gradients of a formula by its operands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from nameexpr.runtime import public
from nameexpr.runtime.differentiated import differentiated
from nameexpr.runtime.gradients import GradientFunction

if TYPE_CHECKING:
    import numpy.typing as npt

    from nameexpr.compiler.planning.path import Optimize
    from nameexpr.runtime.gradient_types import OfGradients, OfValue


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
) -> OfGradients:
    """Return a function that computes the gradients of a formula by some of its operands.

    Parameters
    ----------
    text : str
        A formula (docs/formulas.md), whose last statement is a real number without dims.
    wrt : str or iterable of str
        The names of operands: ``"w b"``, or ``["w", "b"]``.
    dtype, optimize, sizes, order, memory_limit, tune
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
    return _function(text, wrt, options, has_value=False)  # type: ignore[return-value]


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
    return _function(text, wrt, options, has_value=True)  # type: ignore[return-value]


def _function(
    text: str, wrt: str | Iterable[str], options: Mapping[str, Any], *, has_value: bool
) -> GradientFunction:
    from nameexpr.runtime.compile import compile_formula

    made = differentiated(text, wrt)
    outputs = tuple([statement for _, statement in made.gradients])
    formula = compile_formula(made.text, outputs=(made.value, *outputs) if has_value else outputs, **options)
    return GradientFunction(formula, made, has_value=has_value)
