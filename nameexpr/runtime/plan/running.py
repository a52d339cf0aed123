"""What is executed on each call, for plans: a program, its operands, and its code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING, Any, NamedTuple

from nameexpr.backends.library import Library
from nameexpr.backends.numpy.arrays import number_name
from nameexpr.backends.numpy.codegen.source import IMPORTS, Routine, source_of
from nameexpr.backends.numpy.codegen.statements import Statement
from nameexpr.compiler.analysis.operands import Operand, describe
from nameexpr.compiler.analysis.scope import Scope, terms_of
from nameexpr.compiler.compilation import Compilation
from nameexpr.compiler.ir.axes import Axes, shown
from nameexpr.compiler.ir.dtypes import WEAK
from nameexpr.compiler.ir.layouts import OperandLayout
from nameexpr.compiler.ir.primitives import shapes_of
from nameexpr.compiler.ir.program import Note, Program
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.compiler.schedule.partial import Folded
from nameexpr.records import replace
from nameexpr.runtime.operands import OperandSpec
from nameexpr.syntax.ast import Expression, Label, Term
from nameexpr.syntax.unparse import unparse, unparse_formula, unparse_term

if TYPE_CHECKING:
    from nameexpr.backends.numpy.threads.gain import Spread


class Listed(NamedTuple):
    """An operand of a program as plans list it: by `label` in the table, with `comment` in the code.

    `bound` is the comment if the operand is bound; `is_held` means that it is a value computed from bound
    operands.
    """

    label: str
    dtype: str
    comment: str
    bound: str = ""
    is_held: bool = False
    term: Term | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """What is executed on each call of a compiled text: `program`, whose operands are the unbound ones,
    followed by values that are kept.

    `bound` are the positions of bound operands, `fixed` their specifications; `folded` is the program in two
    parts. `library` is that of the operands, None for NumPy. `spread` are the instructions that threads
    share.
    """

    compiled: Compilation[Any]
    program: Program
    shapes: tuple[tuple[int, ...], ...]
    given: tuple[OperandLayout, ...]
    operands: tuple[Listed, ...]
    bound: tuple[int, ...] = ()
    folded: Folded | None = None
    fixed: tuple[Listed, ...] = ()
    library: Library | None = None
    spread: Mapping[int, Spread] = field(default_factory=dict)

    @property
    def is_bound(self) -> bool:
        """Whether a part of the program is executed before the calls."""
        return self.folded is not None

    @property
    def is_expression(self) -> bool:
        """Whether the text is an expression rather than a formula."""
        return isinstance(self.compiled.tree, Expression)

    @property
    def is_contraction(self) -> bool:
        """Whether the text is an expression that combines elements, for which there is a plan."""
        return self.is_expression and bool(self.compiled.plans)

    @property
    def code(self) -> str:
        """The code that is executed, as a function to paste, with labels in comments only; a preceding
        function `prepare` returns the last operands of `compute`.
        """
        tree = self.compiled.tree
        if isinstance(tree, Expression):
            if self.is_bound:
                tree = replace(tree, inputs=tuple(one.term for one in self.operands if one.term is not None))
            text, result = unparse(tree), axes_text(self.compiled.result_axes)
        else:
            text = unparse_formula(tree.tree).replace("\n", "; ")
            result = tree.tree.statements[-1].name or "the value"
        library, comments = self.library, [one.comment for one in self.operands]
        imports = IMPORTS if library is None else library.imports
        code = Routine("compute", self.program, self.shapes, text, comments, result, self.statements)
        prelude = None if self.folded is None else self.folded.prelude
        if prelude is None or not prelude.instructions:
            return source_of(code, imports=imports)
        comments, text = [one.bound for one in self.fixed], "the last operands of compute, from what is bound"
        shapes, dtypes = shapes_of(prelude), [one.dtype for one in self.fixed]
        statements = None if library is None else library.statements(prelude, shapes, dtypes)
        prepare = Routine("prepare", prelude, shapes, text, comments, "", statements)
        return source_of(code, prepare, imports=imports)

    @property
    def statements(self) -> list[Statement] | None:
        """The statements of another library; None for NumPy."""
        if self.library is None:
            return None
        return self.library.statements(self.program, self.shapes, [one.dtype for one in self.operands])


def running_of(
    compiled: Compilation[Any],
    specs: Sequence[OperandSpec],
    free: Sequence[int],
    folded: Folded | None,
    library: Library | None = None,
) -> Running:
    """Return what is executed on each call of a compiled text; `free` are the unbound operands."""
    is_expression = isinstance(compiled.tree, Expression)
    list_operands = _of_expression if is_expression else _of_formula
    name_of = number_name if library is None else library.dtype_name
    operands = tuple(list_operands(compiled, specs, name_of))
    if folded is None:
        running = Running(compiled, compiled.program, compiled.shapes, compiled.given, operands)
        return _on(library, running)
    whole, count = folded.whole, len(operands)
    shapes, own = shapes_of(whole), compiled.operands
    held = []
    for number, value in enumerate(folded.held):
        if value < count:
            held.append(operands[value])
        else:
            name = "" if is_expression else f"held{number}"
            held.append(_held(name, whole.notes[value - count], shapes[value]))
    dtypes = [*own.dtypes, *(note.dtype for note in whole.notes)]
    layouts = [*own.layouts, *(None for _ in whole.notes)]
    values = (*free, *folded.held)
    bound = tuple(position for position in range(count) if position not in free)
    given = Operands((), tuple([dtypes[one] for one in values]), tuple([layouts[one] for one in values]))
    running = Running(
        compiled,
        folded.rest,
        shapes_of(folded.rest),
        given.given,
        (*(operands[position] for position in free), *held),
        bound,
        folded,
        tuple(operands[position] for position in bound),
    )
    return _on(library, running)


def _on(library: Library | None, running: Running) -> Running:
    """Return what is executed on a library."""
    if library is None:
        return running
    program = library.explicit(running.program, [one.dtype for one in running.operands])
    return replace_fields(running, program=program, shapes=shapes_of(program), library=library)


def _of_expression(
    compiled: Compilation[Expression], specs: Sequence[OperandSpec], name_of: Callable[[Any], str]
) -> Iterator[Listed]:
    terms = compiled.tree.inputs
    infos = describe(terms, [Operand(spec.shape, spec.names) for spec in specs])
    for position, (axes, info, spec) in enumerate(zip(compiled.views, infos, specs, strict=True)):
        comment = " ".join(info.labels) or str(info.shape)
        term = terms[position] if position < len(terms) else None
        yield Listed(
            axes_text(axes), name_of(spec.dtype), comment if info.shape else "scalar", comment, term=term
        )


def _of_formula(
    compiled: Compilation[Scope], specs: Sequence[OperandSpec], name_of: Callable[[Any], str]
) -> Iterator[Listed]:
    for (name, uses), spec in zip(compiled.tree.uses.items(), specs, strict=True):
        term = (*terms_of(uses), compiled.default[name])[0]
        dtype = WEAK[spec.dtype] if spec.dtype in WEAK else name_of(spec.dtype)
        comment = f"{name}[{unparse_term(term)}] {spec.shape}" if spec.shape else name
        yield Listed(name, dtype, comment, f"{name} {spec.shape}" if spec.shape else name)


def _held(name: str, note: Note, shape: tuple[int, ...]) -> Listed:
    """Return a value computed from bound operands; it has a name in a formula."""
    if name:
        labels = " ".join(map(shown, note.labels or ("_",) * len(shape)))
        return Listed(name, note.dtype, f"{name}[{labels}] {shape}" if shape else name, is_held=True)
    term = Term(tuple(map(Label, map(shown, note.labels))))
    (info,) = describe((term,), [Operand(shape)])
    comment = " ".join(info.labels) or (str(shape) if shape else "scalar")
    label = axes_text(tuple((label,) for label in note.labels))
    return Listed(label, note.dtype or "float64", comment, is_held=True, term=term)


def axes_text(axes: Axes, write: Callable[[str], str] = shown) -> str:
    """Return the dims of an array: "batch (heads dim)"."""
    groups = [" ".join(map(write, labels)) for labels in axes]
    dims = (f"({group})" if len(labels) != 1 else group for group, labels in zip(groups, axes, strict=True))
    return " ".join(dims)
