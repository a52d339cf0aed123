"""`Compiled`: a text that is read once and called many times, with its signature, its plan and its source.

`compile` returns a `CompiledExpression`, which takes operands by position, or a `CompiledFormula`, which
takes them by name; `Compiled` is the type of either for type checkers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Generic, overload

from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.runtime import answers, public
from nameexpr.runtime.cache import Documented
from nameexpr.runtime.operands import read_only

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import TypeVar  # with defaults: type checkers bundle its stubs

    from nameexpr.runtime.entry import CallOptions, Entry
    from nameexpr.runtime.plan.plan import Outline, Plan
    from nameexpr.runtime.signature import FormulaSignature, Signature
    from nameexpr.tensors import NamedTensor
    from nameexpr.typing import Array, ArrayLike, Foreign, Labelled, Operand

    ArrayResult_co = TypeVar("ArrayResult_co", covariant=True, default=npt.NDArray[Any])
    TensorResult_co = TypeVar("TensorResult_co", covariant=True, default=NamedTensor)
    Text_co = TypeVar("Text_co", covariant=True, default=str)
    Out = TypeVar(
        "Out", bound="NamedTensor | np.ndarray[Any, Any] | tuple[NamedTensor | np.ndarray[Any, Any], ...]"
    )
else:
    from typing import TypeVar

    ArrayResult_co, TensorResult_co, Text_co = map(TypeVar, ("ArrayResult_co", "TensorResult_co", "Text_co"))


_ELSEWHERE = """apply backward call check_gradient check_grads compute cpu cuda derivative device
differentiate dims divergence dot draw dtype eval execute forward grad grad_and_value gradcheck gradients
hessian hvp inputs jacfwd jacobian jacrev jit jvp laplacian lower mermaid minimize names outputs parameters
partial requires_grad requires_grad_ result retain_graph run shape show source to value_and_grad vjp vmap
zero_grad"""


def by_keywords(documented: Documented) -> Documented:
    """Return the method that calls a formula by keywords, under the signature and the documentation of
    another, which runs all other calls (`nameexpr.runtime.cache.by_keywords`).
    """

    @wraps(documented)
    def call(self: Any, /, *misplaced: Any, **named: Any) -> Any:
        entry, values = self._entry, None
        if len(named) == entry.keywords and not misplaced:
            try:  # noqa: SIM105  which takes 0.2 us
                values = entry.in_order(named)
            except KeyError:  # other names
                pass
        try:
            return documented(self, *misplaced, **named) if values is None else entry.call(*values)
        except NameExprError as wrong:
            wrong._forget_frames()
            raise

    return call  # type: ignore[return-value]  # the same signature, spelt for speed


@answers(_ELSEWHERE)
class Compiled(Generic[ArrayResult_co, TensorResult_co, Text_co]):
    """An expression or a formula that can be called on operands. Made by `nameexpr.compile`.

    For type checkers it is generic over the result of a call for arrays, the result if an operand is a
    NamedTensor, and the text, which the mypy plugin reads. `Compiled` alone has a single result.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> layers: list[ne.Compiled] = [ne.compile("N C, C K -> N K"), ne.compile("y = 2 * x")]
    >>> [layer.signature.inputs for layer in layers]
    [('N C', 'C K'), ('x',)]
    """

    __slots__ = ("__weakref__", "_entry")  # libraries that trace functions refer to them weakly
    _SHAPES = "(2, 3)"
    _entry: Entry

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    if TYPE_CHECKING:  # subclasses take operands by position or by name, depending on the text

        @property
        def signature(self) -> Signature | FormulaSignature:
            """The operands and the result, as text."""

        @overload  # type: ignore[no-overload-impl]
        def __call__(
            self, *given: Operand, out: Out, operands: Mapping[str, Operand] = ..., **named: Operand
        ) -> Out: ...

        @overload
        def __call__(
            self,
            *given: ArrayLike,
            out: None = ...,
            operands: Mapping[str, ArrayLike] = ...,
            **named: ArrayLike,
        ) -> ArrayResult_co: ...

        @overload
        def __call__(
            self,
            *given: ArrayLike | Labelled,
            out: None = ...,
            operands: Mapping[str, ArrayLike | Labelled] = ...,
            **named: ArrayLike | Labelled,
        ) -> TensorResult_co: ...

        @overload
        def __call__(
            self,
            *given: Foreign[Array] | np.ndarray[Any, Any] | np.generic | complex,
            out: None = ...,
            operands: Mapping[str, Foreign[Array] | np.ndarray[Any, Any] | np.generic | complex] = ...,
            **named: Foreign[Array] | np.ndarray[Any, Any] | np.generic | complex,
        ) -> Array: ...

        @overload
        def __call__(
            self, *given: Operand, out: None = ..., operands: Mapping[str, Operand] = ..., **named: Operand
        ) -> ArrayResult_co: ...

        def bind(
            self, operands: Mapping[int, Operand] | Mapping[str, Operand] = ..., **named: Operand
        ) -> Compiled[ArrayResult_co, TensorResult_co]:
            """Return the text with some of its operands, to be called with the others."""

        def plan(self, *given: Operand, operands: Mapping[str, Operand] = ..., **named: Operand) -> Plan:
            """Return the plan for operands like these, or of these shapes."""

        def outline(
            self, *given: Operand, operands: Mapping[str, Operand] = ..., **named: Operand
        ) -> Outline:
            """Return the totals of a plan, without its steps."""

        def gradient(
            self, wrt: str | Iterable[str]
        ) -> Compiled[tuple[npt.NDArray[Any], ...], tuple[NamedTensor, ...]]:
            """Return a formula with its gradients as further results."""

        @staticmethod
        def _read(text: str, options: CallOptions) -> Entry:
            """Return the checked text."""

    @property
    def text(self) -> str:
        """The whole text as it was given."""
        return self._entry.text

    @property
    def options(self) -> CallOptions:
        """The options it was compiled with."""
        return self._entry.options

    @property
    @public
    def code(self) -> str:
        """The code that runs for the operands of the latest call, in NumPy or their library, as a function to
        paste. Values of bound operands are computed by a separate function.

        Before the first call it is that for assumed sizes, of an expression without bound operands.

        Raises
        ------
        OptionError
            NE622 for other texts that have not been called yet: their sizes depend on their operands.
        """
        from nameexpr.runtime.plan.make import source

        entry = self._entry.current or self._entry
        latest = entry.latest
        if latest is None:
            return self._assumed_code()
        return source(entry, entry.compile(*latest), latest.specs)

    def _assumed_code(self) -> str:
        """Return the code of a text that has not been called yet."""
        hint = f"call it first, or take .plan({self._SHAPES}).code with the shapes of its operands"
        raise error(Diagnostic("NE622", "there is no code before the sizes are known", self.text, hint=hint))

    def __repr__(self) -> str:
        """Return the call of `compile` that creates it."""
        return f"nameexpr.compile({self.text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text, options and bound operands, which are read and checked again."""
        fixed = self._entry.fixed if self._entry.is_bound else None
        return _restored, (self.text, type(self), self.options, fixed)


def _restored(
    text: str, kind: type[Compiled], options: CallOptions, fixed: Mapping[int, Any] | None
) -> Compiled:
    entry: Any = kind._read(text, options)
    if fixed is not None:
        entry = entry.bind({position: read_only(value) for position, value in fixed.items()})
    return kind(entry)
