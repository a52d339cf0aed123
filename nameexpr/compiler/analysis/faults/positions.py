"""Diagnostics about parts and positions: what is read of which dim, and what would fit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from math import prod

from nameexpr.compiler.analysis.faults.sizes import Scene
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.readings import Reading, affine, extremes
from nameexpr.compiler.analysis.rules.summation import listed
from nameexpr.compiler.ir.dtypes import WEAK, WeakDtype
from nameexpr.errors import Diagnostic, Mark, NameExprError, SizeError, error
from nameexpr.syntax import ast, walk
from nameexpr.syntax.unparse import unparse_item, unparse_place, unparse_term


def does_not_add_up(scene: Scene, operand: int, size: int, reading: Reading) -> Diagnostic:
    """Return the diagnostic for parts whose sizes are not that of the dim (NE314)."""
    title = scene.title(operand)
    parts = [[scene.sizes.get(label) for label in part] for part in reading.parts]
    known = [prod([one for one in part if one is not None]) for part in parts if None not in part]
    whole = scene.tree.text[slice(*reading.span)]
    total = f"but {' + '.join(map(str, known))} = {sum(known)}"
    if len(known) == 1:
        total = f"which is less than {known[0]}"
    message = f"{whole} is {size} in {title}, {total}"
    return scene.diagnostic("NE314", message, [Mark(reading.span, str(size))], "check the parts", (operand,))


def no_window(scene: Scene, operand: int, reading: Reading, label: str) -> Diagnostic:
    """Return the diagnostic for positions that are outside for every index of a label (NE315)."""
    assert reading.place is not None
    place, size = _written(scene, reading), scene.sizes[reading.label]
    others = [
        f"{other} is {scene.sizes[other]}"
        for other in reading.labels
        if other in scene.sizes and other != label
    ]
    known = f"{', '.join(others)}, and " if others else ""
    message = f"the window {place} does not fit: {known}the dim of {scene.title(operand)} is {size}"
    hint = f"pad first: {_padded(scene, operand, reading, (1, 1))}"
    return scene.diagnostic("NE315", message, [Mark(reading.span, str(size))], hint, (operand,))


def not_determined(scene: Scene, reading: Reading, labels: Sequence[str]) -> Diagnostic:
    """Return the diagnostic for labels that no dim and no position determines (NE316)."""
    is_one = len(labels) == 1
    message = (
        f"the {'size' if is_one else 'sizes'} of {listed(labels)} {'is' if is_one else 'are'} not determined"
    )
    message += ": it is only in positions" if is_one else ": they are only in positions"
    given = f"sizes={{'{labels[-1]}': ...}}" if scene.is_formula else f"{labels[-1]}=..."
    hint = f"give {'its size' if is_one else 'all but one'}: {given}"
    return scene.diagnostic("NE316", message, [Mark(reading.span)], hint)


def outside(scene: Scene, operand: int, reading: Reading, ends: tuple[int, int]) -> Diagnostic:
    """Return the diagnostic for positions outside a dim (NE317)."""
    assert reading.place is not None
    last = scene.sizes[reading.label] - 1
    place, title = _written(scene, reading), scene.title(operand)
    said = (
        f"positions {place} go from {ends[0]} to {ends[1]}"
        if reading.labels
        else f"position {place} is {ends[0]}"
    )
    said = f"there is no position {place}: " if place == str(ends[0]) else f"{said}, and "
    message = f"{said}the dim of {title} {f'goes from 0 to {last}' if last >= 0 else 'has no elements'}"
    padded = _padded(scene, operand, reading, (max(0, -ends[0]), max(0, ends[1] - last)))
    without = "x[(1 + t)] - x[(t + 1)]" if scene.is_formula else "(1 + t) or (t + 1)"
    hint = f"leave one end out, {without}, or pad first: {padded}"
    if not reading.labels:
        (base,) = reading.parts[0] if len(reading.parts) == 1 == len(reading.parts[0]) else ("",)
        is_named = scene.is_formula and base.isidentifier()
        hint = f"positions count from 0; the last is {f'size[{base}]-1' if is_named else last}"
    return scene.diagnostic("NE317", message, [Mark(reading.span)], hint, (operand,))


def _written(scene: Scene, reading: Reading) -> str:
    """Return a position as the text has it, without its brackets."""
    assert reading.place is not None
    text = scene.tree.text
    written = text[slice(*reading.place.span)]
    if text[: reading.place.span.start].rstrip().endswith("@") and written.startswith("("):
        written = written[1:-1]
    return written.strip()


def _padded(scene: Scene, operand: int, reading: Reading, ends: tuple[int, int]) -> str:
    """Return the text that pads a dim of an operand with zeros at both ends."""
    names: list[str] = []
    new: list[str] = []
    letters = iter([letter for letter in "TUVWXYZ" if letter not in scene.sizes])
    for item in scene.tree.inputs[operand].items:
        name = unparse_item(item.base if isinstance(item, ast.At) else item)
        name = next(letters, name) if name == "_" else name
        parts = [str(ends[0])] * bool(ends[0]), [name], [str(ends[1])] * bool(ends[1])
        names.append(name)
        new.append(f"({' + '.join(chain(*parts))})" if item.span == reading.span else name)
    whole, padded = " ".join(names), " ".join(new)
    if whole == padded:  # a factor of a group is read
        whole, padded = "T", "(1 + T + 1)"
    return f"p[{padded}] = {scene.title(operand)}[{whole}]" if scene.is_formula else f"{whole} -> {padded}"


def of_a_label(tree: ast.Formula, operands: Mapping[str, Operand], fault: SizeError) -> NameExprError:
    """Return the error about a label of unknown size: perhaps a value was meant (NE225)."""
    meant = is_label(tree, operands, lambda _: True) if fault.code == "NE316" else None
    return fault if meant is None else error(meant)


def check_labels(tree: ast.Formula, operands: Mapping[str, Operand], sizes: Collection[str]) -> None:
    """Raise an error for the name of a value in a position unless it is a label elsewhere (NE225)."""
    bare = [id(node.term) for node in _bare_labels(tree)]
    others = [term for term in walk.terms_in(tree) if id(term) not in bare]
    labels = {atom.name for atom in walk.atoms_of(ast.LABELLED, others)}
    meant = is_label(tree, operands, lambda name: name not in labels and name not in sizes)
    if meant is not None:
        raise error(meant)


def is_label(
    tree: ast.Formula, operands: Mapping[str, Operand], may_slip: Callable[[str], bool]
) -> Diagnostic | None:
    """Return the diagnostic for a bare name in a position that is a label, while a value has this name
    (NE225); None if there is none.
    """
    statements = {statement.name: statement.term for statement in tree.statements}
    for node in _bare_labels(tree):
        name = unparse_place(node)
        if (name in operands or name in statements) and may_slip(name):
            what = "computed" if name in statements else "an operand"
            message = f"in a position '{name}' is a label, and it is {what} here"
            ndim = len(operands[name].shape) if name in operands else 0
            term = next((use.term for use in _uses(tree, name) if use.term), statements.get(name))
            dims = unparse_term(term) if term is not None else " ".join("ijklmnabcdefgh"[:ndim])
            hint = f"a value has its brackets: {name}[{dims}]"
            return Diagnostic("NE225", message, tree.text, (Mark(node.span),), hint=hint)
    return None


def _bare_labels(tree: ast.Formula) -> list[ast.Use]:
    places = [place for term in walk.terms_in(tree) for place in walk.places(term)]
    return [node for place in places for node in walk.nodes(place) if walk.is_bare_label(node)]


def _uses(tree: ast.Formula, name: str) -> list[ast.Use]:
    nodes = walk.nodes_of(tree.statements)
    return [node for node in nodes if isinstance(node, ast.Use) and node.name == name]


def not_integers(text: str, reading: Reading, dtype: str) -> Diagnostic:
    """Return the diagnostic for positions that are floats or bools (NE528)."""
    assert reading.place is not None
    is_bool = dtype in {"bool", WEAK[bool]}
    kind = dtype.kind if isinstance(dtype, WeakDtype) else dtype
    message = f"positions are integers, and {unparse_place(reading.place)} is {kind}"
    hint = "a mask is where(mask, x, 0)" if is_bool else "int(...) makes integers"
    return Diagnostic("NE528", message, text, (Mark(reading.place.span),), hint=hint)


def leaves(text: str, name: str, reading: Reading, ends: tuple[int, int], size: int) -> Diagnostic:
    """Return the diagnostic for positions that follow from sizes and leave the dim (NE317)."""
    assert reading.place is not None
    place = unparse_place(reading.place)
    said = f"position {place} is {ends[0]}"
    if reading.labels:
        said = f"positions {place} go from {ends[0]} to {ends[1]}"
    there = f"goes from 0 to {size - 1}" if size else "has no elements"
    hint = "keep them inside: (T + 1) % size[T] goes round, clip(T - 1, 0, size[T] - 1) stays at the ends"
    message = f"{said}, and the dim of {name} {there}"
    return Diagnostic("NE317", message, text, (Mark(reading.span),), hint=hint)


def position_fault(scene: Scene, operand: int, reading: Reading) -> Diagnostic | None:
    """Return the diagnostic for one position if everything else is known; None if it is right."""
    assert reading.place is not None
    unknown = [label for label in reading.labels if label not in scene.sizes]
    if unknown:
        return not_determined(scene, reading, unknown)
    place = affine(reading.place, scene.sizes)
    if place is None or reading.label not in scene.sizes or not all(scene.sizes[label] for label in place[1]):
        return None
    ends = extremes(place, scene.sizes)
    return (
        None
        if 0 <= ends[0] <= ends[1] < scene.sizes[reading.label]
        else outside(scene, operand, reading, ends)
    )
