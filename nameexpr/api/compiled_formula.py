"""`compile` of a formula: a text read once, called many times with operands by name, asked for its plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from nameexpr.api.evaluate import by_position, merged
from nameexpr.api.formula import FormulaEntry, described, read_formula_options
from nameexpr.api.out import into
from nameexpr.api.plan import Plan, PlanStep, working_at
from nameexpr.carets import visible
from nameexpr.compiler.formula.pipeline import CompiledFormula as Stages
from nameexpr.compiler.formula.scope import terms_of
from nameexpr.compiler.memory import allocated, operand_bytes, peak_bytes
from nameexpr.compiler.operands import Operand
from nameexpr.compiler.path import Optimize
from nameexpr.compiler.program import Fused, Instruction, Pointwise, Reduce, Slices, sources_of
from nameexpr.compiler.render import readable, value_name
from nameexpr.compiler.render_calls import render_call
from nameexpr.compiler.sliced import Sliced
from nameexpr.compiler.typed import shown
from nameexpr.compiler.verify import shapes_of
from nameexpr.errors import Diagnostic, error
from nameexpr.syntax.formula_unparse import unparse_formula
from nameexpr.syntax.unparse import unparse_term

if TYPE_CHECKING:
    from nameexpr.api.bound_formula import BoundFormula


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
        from nameexpr.api.bound_formula import bound_formula

        given = named if operands is None else merged(self.text, operands, named)
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
        described = self._described(named if operands is None else merged(self.text, operands, named))
        return make_formula_plan(self._entry.compile(*described), *described[:2])

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
        return formula_source(self._entry.compile(*latest), latest[0])

    def result_names(self, shapes: Mapping[str, tuple[int, ...]]) -> tuple[str | None, ...]:
        """Return the names that the result has for tensors of these shapes, whose dims fit the terms."""
        operands, dtypes, strides = self._described(dict(shapes))
        nameless = {name: Operand(one.shape, (None,) * len(one.shape)) for name, one in operands.items()}
        return self._entry.compile(nameless, dtypes, strides).names[-1]

    def _described(self, given: Mapping[str, Any]) -> tuple[dict[str, Operand], dict[str, str], list[Any]]:
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


def make_formula_plan(compiled: Stages, operands: Mapping[str, Operand], dtypes: Mapping[str, str]) -> Plan:
    """Return the plan of a compiled formula; flops of pointwise functions count one per cell."""
    program = compiled.program
    steps = tuple(_steps(compiled))
    flops = sum(step.flops for step in steps)
    naive = sum(plan.naive_flops for plan in compiled.plans)
    pointwise = sum(_pointwise_flops(one) for one in program.instructions)
    order = compiled.scope.operands
    computed = [note.dtype for note in program.notes if note.dtype and not note.dtype.startswith("weak")]
    is_named = any(operand.names is not None for operand in operands.values())
    return Plan(
        text=visible(unparse_formula(compiled.scope.tree)),
        steps=steps,
        flops=flops,
        naive_flops=max(flops, naive + pointwise),
        peak_bytes=peak_bytes(program, compiled.shapes, compiled.given),
        operand_bytes=operand_bytes(program, [dtypes[name] for name in order]),
        result_shape=compiled.shapes[program.result],
        result_names=compiled.names[-1] if is_named else None,
        dtype=computed[-1] if computed else "",
        code=formula_source(compiled, operands),
    )


def formula_source(compiled: Stages, operands: Mapping[str, Operand]) -> str:
    """Return the NumPy that runs, as a function to paste; a comment says which operand is which."""
    terms = []
    for name, uses in compiled.scope.uses.items():
        term = (*terms_of(uses), compiled.views.default[name])[0]
        shape = operands[name].shape
        terms.append(f"{name}[{unparse_term(term)}] {shape}" if shape else name)
    last = compiled.scope.tree.statements[-1].name or "the value"
    text = unparse_formula(compiled.scope.tree).replace("\n", "; ")
    return readable(compiled.program, compiled.shapes, text, terms, last)


def _steps(compiled: Stages) -> list[PlanStep]:
    program = compiled.program
    count = len(program.operands)
    labels = list(compiled.scope.operands)
    labels += [" ".join(map(shown, note.labels)) for note in program.notes]
    sizes = allocated(program, compiled.shapes, compiled.given)
    rows = []
    for number, one in enumerate(program.instructions):
        sources = sources_of(one)
        names = ", ".join(labels[source] for source in sources) + " -> " + labels[count + number]
        call = render_call(one, [value_name(source, count) for source in sources])
        what = type(one).__name__.removeprefix("Integer").lower()
        rows.append(PlanStep(what, names.strip(), _flops(compiled, number), sizes[number], call))
    return rows


def _flops(compiled: Stages, number: int) -> int:
    """Return the flops of an instruction: those of its step, if it is the one that does the work."""
    one, note = compiled.program.instructions[number], compiled.program.notes[number]
    steps = [step for plan in compiled.plans for step in plan.steps]
    if isinstance(one, Sliced):
        return sum(steps[step].flops for step in _steps_inside(one)) + _pointwise_flops(one)
    if note.step is None:
        return _pointwise_flops(one) + _reduced_flops(compiled.shapes, one)
    parts = [part for part in compiled.program.instructions if isinstance(part, Sliced)]
    if any(note.step in _steps_inside(part) for part in parts):
        return 0
    return steps[note.step].flops if number == working_at(compiled.program, note.step) else 0


def _steps_inside(one: Sliced) -> set[int]:
    """Return the steps of the plan that slices do."""
    return {note.step for note in one.body.notes if note.step is not None}


def _reduced_flops(shapes: Sequence[tuple[int, ...]], one: Instruction) -> int:
    """Return the flops of a reducer that is no sum: one per cell, as for expressions."""
    if isinstance(one, Slices):
        return 0 if one.reducer == "sum" else prod(shapes[one.source])
    return prod(shapes[one.source]) if isinstance(one, Reduce) else 0


def _pointwise_flops(one: Instruction) -> int:
    if isinstance(one, Pointwise):
        return prod(one.shape)
    if isinstance(one, Fused):
        return prod(one.shape) * (len(one.steps) + (one.reducer is not None))
    if isinstance(one, Sliced):
        shapes = shapes_of(one.body)
        inside = [
            inner
            for inner, note in zip(one.body.instructions, one.body.notes, strict=True)
            if note.step is None
        ]
        return prod(one.counts) * sum(
            _pointwise_flops(inner) + _reduced_flops(shapes, inner) for inner in inside
        )
    return 0
