"""`compile` of a formula: a text read once, called many times with operands by name, asked for its plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nameexpr.backends.numpy.codegen.program import source_of
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.scope import terms_of
from nameexpr.compiler.planning.path import Optimize
from nameexpr.errors import Diagnostic, error
from nameexpr.runtime.evaluate import by_position, merged
from nameexpr.runtime.formula_entry import FormulaEntry, FormulaOptions, described, read_formula_options
from nameexpr.runtime.out import into
from nameexpr.runtime.plan.expression import Plan
from nameexpr.runtime.plan.formula import formula_routine, make_formula_plan
from nameexpr.syntax.unparse import unparse_formula, unparse_term

if TYPE_CHECKING:
    from nameexpr.runtime.bound.formula import BoundFormula
    from nameexpr.runtime.plan.outline import Outline


@dataclass(frozen=True, slots=True)
class FormulaSignature:
    """What a formula takes and gives, as text. Its str is the canonical spelling of the formula.

    Attributes
    ----------
    inputs : tuple of str
        The operands, with the terms of their uses: "x[N C]".
    outputs : tuple of str
        The statements whose values are returned.
    """

    text: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def __str__(self) -> str:
        """Return the formula in its canonical spelling."""
        return self.text


class CompiledFormula:
    """A formula that can be called on operands by name. Made by `nameexpr.compile`; pickles as its text.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> distance = ne.compile("d[i j] = sum[D]((x[i D] - y[j D]) ** 2)")
    >>> distance(x=np.ones((2, 3)), y=np.zeros((4, 3))).shape
    (2, 4)
    >>> distance.signature.inputs
    ('x[i D]', 'y[j D]')
    """

    __slots__ = ("_entry", "signature")

    def __init__(self, entry: FormulaEntry) -> None:
        self._entry = entry
        self.signature = _signature(entry)

    @property
    def text(self) -> str:
        """The text as it was given."""
        return self._entry.text

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the operands, in the order of their first use."""
        return self._entry.scope.operands

    @property
    def statements(self) -> tuple[str | None, ...]:
        """Names of the statements, in order; None for a last one without a name."""
        return tuple(statement.name for statement in self._entry.scope.tree.statements)

    @property
    def options(self) -> FormulaOptions:
        """The options it was compiled with."""
        return self._entry.options

    def __call__(
        self, *misplaced: Any, out: Any = None, operands: Mapping[str, Any] | None = None, **named: Any
    ) -> Any:
        """Return the value for these operands, as `evaluate` does.

        Raises
        ------
        NameExprError
            If the operands do not fit the formula.
        """
        if misplaced:
            raise by_position(self.text, misplaced)
        result = self._entry.call_named(named if operands is None else merged(self.text, operands, named))
        if out is None:
            return result
        if isinstance(result, tuple):
            hint = "leave out= away, or compile without outputs="
            raise error(
                Diagnostic("NE611", "out= is for one result, and there are several", self.text, hint=hint)
            )
        return into(out, result, self.text)

    def bind(self, *misplaced: Any, operands: Mapping[str, Any] | None = None, **named: Any) -> BoundFormula:
        """Return the formula with some of its operands, to be called with the others.

        What depends on the bound operands alone is computed once. They are taken by value: writing to them
        later changes nothing.

        Raises
        ------
        NameExprError
            NE624 if there is no such operand; else if the operands cannot fit, whatever the others are.

        Examples
        --------
        >>> import numpy as np, nameexpr as ne
        >>> layer = ne.compile("y[N K] = sum[C](x[N C] * w[C K]) + b[K]")
        >>> layer.bind(w=np.ones((3, 4)), b=np.zeros(4))(x=np.ones((2, 3))).shape
        (2, 4)
        """
        if misplaced:
            raise by_position(self.text, misplaced)
        from nameexpr.runtime.bound.formula import bound_formula

        given = merged(self.text, operands, named)
        return bound_formula(self._entry, {}, given)

    def plan(self, *misplaced: Any, operands: Mapping[str, Any] | None = None, **named: Any) -> Plan:
        """Return what would be done for operands like these: arrays, NamedTensors, numbers, or shapes.

        Raises
        ------
        NameExprError
            If the operands do not fit the formula.
        """
        if misplaced:
            raise by_position(self.text, misplaced)
        described = self._described(merged(self.text, operands, named))
        limit = self._entry.options.memory_limit
        return make_formula_plan(self._entry.compile(*described), *described[:2], limit)

    def outline(self, *misplaced: Any, operands: Mapping[str, Any] | None = None, **named: Any) -> Outline:
        """Return what a plan says of the whole, without its steps; it takes half the time.

        Raises
        ------
        NameExprError
            If the operands do not fit the formula.
        """
        from nameexpr.runtime.plan.outline import formula_outline

        if misplaced:
            raise by_position(self.text, misplaced)
        described = self._described(merged(self.text, operands, named))
        return formula_outline(self._entry.compile(*described), described[0])

    @property
    def code(self) -> str:
        """The NumPy that runs, as a function to paste, for the operands of the latest call.

        Raises
        ------
        OptionError
            NE622, if it was not called yet: a formula's sizes are those of its operands.
        """
        latest = self._entry.latest
        if latest is None:
            hint = "call it first, or take .plan(x=(2, 3)).code with the shapes of its operands"
            raise error(
                Diagnostic("NE622", "there is no code before the sizes are known", self.text, hint=hint)
            )
        return source_of(formula_routine(self._entry.compile(*latest), latest[0]))

    def result_names(self, shapes: Mapping[str, tuple[int, ...]]) -> tuple[str | None, ...]:
        """Return the names that the result has for tensors of these shapes, whose dims fit the terms."""
        operands, dtypes, strides = self._described(dict(shapes))
        nameless = {name: Operand(one.shape, (None,) * len(one.shape)) for name, one in operands.items()}
        return self._entry.compile(nameless, dtypes, strides).names[-1]

    def _described(self, given: Mapping[str, Any]) -> tuple[dict[str, Operand], dict[str, str], list[Any]]:
        if given.keys() - self._entry.scope.uses.keys():
            self._entry.refuse(given)
        shapes: dict[str, Operand] = {}
        dtypes: dict[str, str] = {}
        strides: dict[str, Any] = {}
        for name, value in given.items():
            if isinstance(value, tuple) and all(type(size) is int and size >= 0 for size in value):
                shapes[name], dtypes[name], strides[name] = Operand(value), "float64", None
            else:
                shapes[name], dtypes[name], strides[name] = described(self._entry.unwrapped(value, name))
        return shapes, dtypes, [strides.get(name) for name in self._entry.scope.operands]

    def __repr__(self) -> str:
        """Return the text that compiled it."""
        return f"nameexpr.compile({self.text!r})"

    def _repr_html_(self) -> str:
        """Return the text in colours for notebooks, with what it takes and gives."""
        from nameexpr.pictures.html import coloured_signature

        return coloured_signature(self.text, self.signature.inputs, ", ".join(self.signature.outputs))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text and options, to be read and checked again."""
        options = self._entry.options
        sizes = dict(options.sizes) or None
        return compiled_formula, (self.text, options.outputs, sizes, options.optimize, options.memory_limit)


def compiled_formula(
    text: str,
    outputs: Sequence[str] | None,
    sizes: Mapping[str, int] | None,
    optimize: Optimize,
    memory_limit: int | None,
) -> CompiledFormula:
    """Return a formula, read and checked, with its options."""
    # An entry of its own, not the cache's: `code` is for the latest call of this object.
    options = read_formula_options(text, outputs, sizes, optimize, memory_limit)
    return CompiledFormula(FormulaEntry(text, options))


def _signature(entry: FormulaEntry) -> FormulaSignature:
    inputs = []
    for name, uses in entry.scope.uses.items():
        terms = terms_of(uses)
        inputs.append(", ".join(f"{name}[{unparse_term(term)}]" for term in terms) or name)
    statements = entry.scope.tree.statements
    outputs = entry.options.outputs or (statements[-1].name or "",)
    return FormulaSignature(unparse_formula(entry.scope.tree), tuple(inputs), outputs)
