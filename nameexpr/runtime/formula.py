"""Formulas: an `Entry` for texts whose operands are passed by name.

The compiled functions take the operands in the order of `tree.operands`. Python scalars are passed to NumPy
unchanged, so that they remain weak.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np

from nameexpr.backends.numpy.arrays import NUMBERS, as_operand, is_bfloat16, number_name
from nameexpr.backends.numpy.promotion import ARITHMETIC
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.scope import Scope
from nameexpr.compiler.compilation import Compilation, Options, build_graph
from nameexpr.compiler.ir.axes import Names
from nameexpr.compiler.ir.dtypes import WEAK
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.pipeline import compile_formula, read_formula
from nameexpr.dims import normalised
from nameexpr.errors import Diagnostic, Mark, error
from nameexpr.runtime.entry import DEFAULT, CallOptions, Entry
from nameexpr.runtime.operands import OperandSpec, as_tensor
from nameexpr.syntax.ast import Binary, Call, CallAlong, Label, Node, Number, Term, Unary, Use
from nameexpr.syntax.walk import nodes

OPTIONS = frozenset({"memory_limit", "operands", "optimize", "out", "outputs", "sizes"})
"""The keywords that are never operands, in `evaluate` or in a call of what is compiled."""


class FormulaEntry(Entry):
    """A checked formula with options; `call` takes the operands in order, `call_named` by name.

    `in_order` reads unbound operands from a mapping. `keywords` is their number, or -1 if an option has the
    name of one of them, because only a mapping can contain that one.
    """

    __slots__ = ("_names", "in_order", "keywords")
    tree: Scope
    arithmetic = ARITHMETIC
    dtype_name: Callable[[Any], str] = staticmethod(number_name)

    def __init__(
        self,
        text: str,
        options: CallOptions = DEFAULT,
        fixed: Mapping[int, Any] | None = None,
        tree: Scope | None = None,
    ) -> None:
        tree = tree or read_formula(text, options.outputs)
        self._names = names = tuple(tree.uses)
        free = [name for position, name in enumerate(names) if not fixed or position not in fixed]
        self.in_order = _in_order(free)
        self.keywords = len(free) if OPTIONS.isdisjoint(free) else -1
        is_shared = fixed is None and (options is DEFAULT or options == DEFAULT)
        structure = structure_of(tree, names) if is_shared else None
        super().__init__(text, options, tree, len(names), fixed, structure)

    def bind(self, operands: Mapping[int, Any]) -> FormulaEntry:  # noqa: D102
        return FormulaEntry(self.text, self.options, {**self.fixed, **operands}, self.tree)

    @property
    def bound(self) -> dict[str, Any]:
        """The bound operands by name."""
        return {self._names[position]: value for position, value in self.fixed.items()}

    def call_named(self, given: Mapping[str, Any]) -> Any:
        """Run the formula on the unbound operands, by name."""
        if len(given) != len(self.free):
            self.refuse(given)
        try:
            values: Sequence[Any] = self.in_order(given)
        except KeyError:
            values = self.ordered(given)
        return self.call(*values)

    def ordered(self, given: Mapping[str, Any]) -> Sequence[Any]:
        """Return the unbound operands in order, from any spelling of their names; raise an error for missing
        or unknown ones.
        """
        try:
            values = self.in_order(merged(self.text, None, given))
        except KeyError:
            self.refuse(given)
        return values if len(given) == len(self.free) else self.refuse(given)

    def refuse(self, given: Mapping[str, Any]) -> NoReturn:
        """Raise an error for missing or unknown operands, as the checker words it."""
        given = merged(self.text, None, given)
        self.check_unbound(given)
        given = {**self.bound, **given}
        shapes = {name: getattr(value, "shape", ()) for name, value in given.items()}
        shapes = {name: shape if isinstance(shape, tuple) else () for name, shape in shapes.items()}
        self.compile_named({name: OperandSpec(shape, None, float) for name, shape in shapes.items()})
        raise AssertionError("operands that do not fit were taken")

    def check_unbound(self, given: Mapping[str, Any]) -> None:
        """Raise NE624 for an operand that is already bound."""
        for name in given:
            if name in self.bound:
                from nameexpr.compiler.analysis.faults.binding import is_bound

                raise error(is_bound(name, self.text))

    def unwrap(self, operands: Sequence[Any]) -> list[Any]:  # noqa: D102
        return [self.unwrapped(value, name) for value, name in zip(operands, self._names, strict=True)]

    def unwrapped(self, value: Any, name: str) -> Any:
        """Return an operand as an array, a NamedTensor or a number (NE503, NE525)."""
        if type(value) in NUMBERS:
            return value
        operand = value
        if type(value) is not np.ndarray:
            operand = as_tensor(value)
        if operand is None:
            operand = as_operand(value, name, self.text, self._marks(name))
        if operand.dtype.kind in "biufc":
            return operand
        what, hint = "which are not numbers", "convert it to numbers first"
        if is_bfloat16(operand.dtype):
            what, hint = "in which formulas do not compute", "convert it first: x.astype('float32')"
        message = f"'{name}' has elements of dtype {operand.dtype}, {what}"
        raise error(Diagnostic("NE525", message, self.text, self._marks(name), hint=hint))

    def _marks(self, name: str) -> tuple[Mark, ...]:
        """Return marks below the uses of an operand."""
        return tuple(Mark(use.name_span) for use in self.tree.uses.get(name, ()))

    def compile(
        self, specs: Sequence[OperandSpec], ranks: tuple[int, ...] = (), same: tuple[int, ...] = ()
    ) -> Compilation[Scope]:
        """Return the formula compiled for operands like these."""
        return self.compile_named(dict(zip(self._names, specs, strict=True)), ranks, same)

    def compile_named(
        self, specs: Mapping[str, OperandSpec], ranks: tuple[int, ...] = (), same: tuple[int, ...] = ()
    ) -> Compilation[Scope]:
        """Return the formula compiled for operands like these, by name; the checker reports missing ones."""
        options = self.options
        if self.dtype is not None:
            self._check_castable(specs, self.dtype)
        layouts = [specs[name].layout if name in specs else None for name in self._names]
        return compile_formula(
            self.tree,
            {name: Operand(spec.shape, spec.names) for name, spec in specs.items()},
            {name: WEAK.get(spec.dtype) or self.dtype_name(spec.dtype) for name, spec in specs.items()},
            layouts,
            self.arithmetic,
            dict(options.sizes),
            Options(
                self.target,
                options.optimize,
                options.memory_limit,
                is_row_major=options.order == "C",
                ranks=ranks,
                same=same if options.memory_limit is None else (),  # shared values take memory
                constants=tuple(self.fixed),
                dtype="" if self.dtype is None else number_name(self.dtype),
            ),
            options.outputs,
        )

    def graph(self, specs: Sequence[OperandSpec]) -> tuple[Graph, tuple[int, ...], tuple[Names, ...]]:
        """Return the graph for operands like these, its results, and the names of each."""
        from nameexpr.compiler.analysis.views import read_views

        options, named = self.options, dict(zip(self._names, specs, strict=True))
        if self.dtype is not None:
            self._check_castable(named, self.dtype)
        operands = {name: Operand(spec.shape, spec.names) for name, spec in named.items()}
        dtypes = {name: WEAK.get(spec.dtype) or number_name(spec.dtype) for name, spec in named.items()}
        views = read_views(self.tree, operands, dict(options.sizes))
        wanted = "" if self.dtype is None else number_name(self.dtype)
        build = build_graph(self.tree, dtypes, views, ARITHMETIC, options.outputs, wanted, options.optimize)
        graph, _, results, names = build
        return graph, results, names

    def _check_castable(self, specs: Mapping[str, OperandSpec], wanted: np.dtype[Any]) -> None:
        for name, spec in specs.items():
            if isinstance(spec.dtype, type) or np.can_cast(spec.dtype, wanted, "same_kind"):
                continue
            message = f"dtype={wanted} cannot hold '{name}', of dtype {spec.dtype}, without loss"
            hint = f"if that is intended, convert it first: {name}.astype('{wanted}')"
            raise error(Diagnostic("NE610", message, self.text, self._marks(name), hint=hint))


def _in_order(names: Sequence[str]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return a function that reads the values of these names from a mapping, as fast as Python can."""
    if len(names) > 1:
        return itemgetter(*names)
    if not names:
        return lambda given: ()
    name = names[0]
    return lambda given: (given[name],)


def merged(text: str, operands: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the operands of a mapping, if given, and those by keyword, under their normalised names (NE527
    if it is not a mapping, or if one occurs twice).
    """
    operands = {} if operands is None else operands
    if not isinstance(operands, Mapping):
        hint = "give a dict from names to arrays, or the operands by keyword: x=..."
        message = f"operands= is a {type(operands).__name__}, not a mapping"
        raise error(Diagnostic("NE527", message, text, hint=hint))
    given: dict[str, Any] = {}
    for name, value in (*operands.items(), *named.items()):
        if not isinstance(name, str):
            message = f"operands= has the key {name!r:.60}, which is not a name"
            hint = "use the names in the formula: operands={'x': ...}"
            raise error(Diagnostic("NE527", message, text, hint=hint))
        known = normalised(name)
        if known in given:
            raise error(Diagnostic("NE527", f"the operand {known} is given twice", text, hint="give it once"))
        given[known] = value
    return given


def structure_of(scope: Scope, operands: Sequence[str]) -> Any:
    """Return the structure of a formula, independent of the names of operands, statements and labels; None if
    terms contain anything but labels.
    """
    names = {name: position for position, name in enumerate(operands)}
    numbers: dict[str, int] = {}
    statements = []
    try:
        for number, statement in enumerate(scope.tree.statements, len(names)):
            walk = [node for value in (statement.value, *statement.others) for node in nodes(value)]
            value = tuple([_node_key(node, names, numbers) for node in walk])
            statements.append((_term_key(statement.term, numbers), value))
            if statement.name is not None:
                names[statement.name] = number
    except _NotPlainError:
        return None
    return "formula", tuple(statements)


class _NotPlainError(Exception):
    """A term contains anything but labels."""


def _node_key(node: Node, names: Mapping[str, int], numbers: dict[str, int]) -> Any:
    match node:
        case Number(value):
            return repr(value)
        case Use(name, term):
            return names.get(name, name), _term_key(term, numbers)
        case CallAlong(function, term, arguments):
            return function, _term_key(term, numbers), len(arguments)
        case Call(function, arguments):
            return function, len(arguments)
        case Unary(operator) | Binary(operator):
            return type(node), operator


def _term_key(term: Term | None, numbers: dict[str, int]) -> tuple[int, ...] | None:
    if term is None:
        return None
    labels = [item.name for item in term.items if isinstance(item, Label)]
    if len(labels) < len(term.items):
        raise _NotPlainError
    return tuple([numbers.setdefault(label, len(numbers)) for label in labels])
