"""`GradientFunction`: the gradients of a formula by its operands, as a function that returns them by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from nameexpr.backends.dispatch import library_name
from nameexpr.compiler.analysis.faults.differentiating import value_with_dims
from nameexpr.compiler.ir.axes import flat, shown
from nameexpr.errors import NameExprError, error
from nameexpr.runtime import answers, public
from nameexpr.runtime.differentiated import Differentiated
from nameexpr.runtime.evaluate import by_position
from nameexpr.runtime.formula import merged
from nameexpr.runtime.operands import BARE, array_of, as_tensor, names_of

if TYPE_CHECKING:
    from typing import Literal, Self

    from nameexpr.pictures.files import Picture
    from nameexpr.runtime.compiled_formula import CompiledFormula
    from nameexpr.runtime.packed import Packed
    from nameexpr.runtime.plan.plan import Plan
    from nameexpr.typing import Operand

BY_DIMS = frozenset({"NE240", "NE530"})
"""The errors of a gradient whose value has dims, though its term has only those of the operand."""


_ELSEWHERE = """apply backward call check_gradient check_grads compute cpu cuda device divergence eval
execute forward fun grad gradcheck gradient gradients hess hessian hvp jac jacfwd jacobian jacrev jit jvp
laplacian lower minimize operands optimizer options outline parameters partial requires_grad requires_grad_
retain_graph run signature source statements to train value vjp vmap x0 zero_grad"""


@answers(_ELSEWHERE)
class GradientFunction:
    """A formula that returns its gradients by the names of operands. Made by `grad` and `value_and_grad`.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> slope = ne.grad("y = sum[N](w[N] ** 2)", "w")
    >>> slope(w=np.array([1.0, 3.0]))
    {'w': array([2., 6.])}
    >>> print(slope.text)
    y = sum[N](w[N] ** 2)
    d_w[N] = grad(y, w[N])
    """

    __slots__ = ("_has_value", "_made", "formula")

    def __init__(self, formula: CompiledFormula, made: Differentiated, *, has_value: bool) -> None:
        self.formula, self._made, self._has_value = formula, made, has_value

    @property
    def text(self) -> str:
        """The formula of the value, followed by a statement for each gradient."""
        return self.formula.text

    @public
    def expanded(self, *, operands: Mapping[str, Operand] | None = None, **named: Operand) -> str:
        """Return the formula with its gradients written out, as `CompiledFormula.expanded`.

        Raises
        ------
        NameExprError
            NE539 if the language has no text for a gradient.
        """
        from nameexpr.runtime.expanded import shapes_for

        given = merged(self.text, operands, named)
        try:
            return self.formula.expanded(operands=given)
        except NameExprError as fault:
            if fault.code in BY_DIMS:
                self._check_value({**shapes_for(self.formula._entry, given), **given})
            raise error(*map(self._made.told, fault.diagnostics)) from None

    @property
    def code(self) -> str:
        """The source of the latest call, as `CompiledFormula.code`."""
        return self.formula.code

    @public
    def plan(self, *, operands: Mapping[str, Operand] | None = None, **named: Operand) -> Plan:
        """Return the plan for operands like these, as `CompiledFormula.plan`.

        Raises
        ------
        NameExprError
            If the operands do not fit the formula.
        """
        try:
            return self.formula.plan(operands=operands, **named)
        except NameExprError as fault:
            raise self._told(fault, named if operands is None else {**operands, **named}) from None

    @public
    def draw(
        self,
        kind: Literal["network", "tree", "memory"] = "network",
        /,
        *,
        operands: Mapping[str, Operand] | None = None,
        **named: Operand,
    ) -> Picture:
        """Return a picture of the plan for operands like these, as `Plan.draw`; values that only derivatives
        need have a double frame.

        Raises
        ------
        NameExprError
            NE625 for any other kind; or if the operands do not fit the formula.

        Examples
        --------
        >>> import nameexpr as ne
        >>> step = ne.value_and_grad("y = sum[N](w[N] ** 2)", "w")
        >>> step.draw("tree", w=(3,)).startswith("<svg")
        True
        """
        return self.plan(operands=operands, **named).draw(kind)

    def __call__(
        self, *misplaced: Any, operands: Mapping[str, Operand] | None = None, **named: Operand
    ) -> Any:
        """Return the gradients by name; from `value_and_grad` the value and the gradients.

        A gradient has the shape, the dtype and the names of its operand.

        Raises
        ------
        NameExprError
            If the operands do not fit the formula, its value has dims (NE531) or is complex (NE535), or there
            is no gradient by an operand (NE532, NE533, NE536).
        """
        try:
            if misplaced:
                raise by_position(self._made.origin, misplaced)
            given = named if operands is None else merged(self.text, operands, named)
            try:
                call: Any = self.formula
                is_plain = operands is None and "out" not in named
                results = call(**named) if is_plain else call(operands=given)
            except NameExprError as fault:
                raise self._told(fault, given) from None
            found = {}
            for (name, _), value in zip(self._made.gradients, results[self._has_value :], strict=True):
                operand = given[name] if name in given else self._bound[name]
                if value.shape != getattr(operand, "shape", ()):
                    self._check_shape(value, operand, given)
                is_bare = type(value) is type(operand) is ndarray
                found[name] = value if is_bare else like(value, operand)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise
        return (results[0], found) if self._has_value else found

    def _check_shape(self, gradient: Any, operand: Any, given: Mapping[str, Any]) -> None:
        """Raise NE531 if a gradient has more dims than its operand, which a value with dims has added."""
        if array_of(gradient).shape != _shape(operand):
            self._check_value(given)

    @public
    def bind(self, *, operands: Mapping[str, Operand] | None = None, **named: Operand) -> Self:
        """Return the function with some of its operands, as `CompiledFormula.bind`.

        Raises
        ------
        NameExprError
            NE624 if there is no such operand; or if the operands cannot fit.
        """
        bound = self.formula.bind(operands=operands, **named)
        return type(self)(bound, self._made, has_value=self._has_value)

    @public
    def packed(self, *, operands: Mapping[str, Operand] | None = None, **named: Operand) -> Packed:
        """Return the value and the gradients as functions of one vector, as SciPy's optimizers call them.

        The operands that the value is differentiated by are the start, and may be whole numbers; the others
        are constant. Bind those, and what depends on them alone is computed once.

        Raises
        ------
        NameExprError
            NE538 if an operand to vary is complex, bound, or not an array of NumPy; NE521 if one is missing.

        Examples
        --------
        >>> import numpy as np, nameexpr as ne
        >>> packed = ne.grad("loss = sum[C](w[C] ** 2) + b ** 2", "w b").packed(w=np.array([1.0, 2.0]), b=3)
        >>> packed.fun(packed.x0)
        (14.0, array([2., 4., 6.]))
        >>> packed.unpack(packed.x0)
        {'w': array([1., 2.]), 'b': 3.0}
        """
        from nameexpr.runtime.packed import Packed

        made, whole = self._made, self
        if not self._has_value:
            outputs = (made.value, *[statement for _, statement in made.gradients])
            whole = GradientFunction(self.formula._followed(made.text, outputs), made, has_value=True)
        given = merged(self.text, operands, named)
        try:
            return Packed(whole, whole.formula, made, given)
        except NameExprError as fault:
            raise error(*map(made.told, fault.diagnostics)) from None

    @property
    def _bound(self) -> Mapping[str, Any]:
        return self.formula._entry.bound

    def _told(self, fault: NameExprError, given: Mapping[str, Any]) -> NameExprError:
        """Return an error as one of the text that was given."""
        if fault.code in BY_DIMS:
            self._check_value(given)
        return error(*map(self._made.told, fault.diagnostics))

    def _check_value(self, given: Mapping[str, Any]) -> None:
        """Raise NE531 if the value has dims."""
        from nameexpr.runtime.compile import compile_formula

        sizes = self.formula.options.sizes
        value = compile_formula(self._made.origin, sizes=dict(sizes))
        compiled = value._compiled({**self._bound, **given})[1]
        labels = [*map(shown, flat(compiled.result_axes))]
        if labels:
            raise error(value_with_dims(value._entry.tree, labels))

    def __reduce__(self) -> Any:
        """Pickle as the formula, which is read and checked again."""
        return _restored, (self.formula, self._made, self._has_value)

    def __repr__(self) -> str:
        """Return the call that made it, and which operands are bound."""
        verb, wrt = (
            "value_and_grad" if self._has_value else "grad",
            " ".join(name for name, _ in self._made.gradients),
        )
        call = f"nameexpr.{verb}({self._made.origin!r}, {wrt!r})"
        return f"<{call} with {', '.join(self._bound)} bound>" if self._bound else call


def _restored(formula: CompiledFormula, made: Differentiated, has_value: bool) -> GradientFunction:
    return GradientFunction(formula, made, has_value=has_value)


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(getattr(array_of(value), "shape", ()))


def like(gradient: Any, operand: Any) -> Any:
    """Return a gradient with the names of its operand; an array if the operand has none."""
    names = names_of(operand)
    kind: Any = type(operand)
    if names is None and kind not in BARE and library_name(kind) is None:
        names = names_of(as_tensor(operand))  # of xarray or pandas
    if names is None:
        return array_of(gradient)
    if gradient._names == names:
        return gradient
    is_recorded = hasattr(type(gradient), "_unrecorded")
    return gradient.rename(*names) if is_recorded else type(gradient)._wrap(gradient._data, names)
