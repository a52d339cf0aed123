"""Operands of formulas seen through terms with any kind of item, and errors in the given operands.

The uses of operands are read as the input terms of one expression, so that groups, packs, ellipses, aliases,
sizes and the errors about them are the same as there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from nameexpr.compiler.analysis.faults.values import marks_of_label, other_size
from nameexpr.compiler.analysis.names import match_names
from nameexpr.compiler.analysis.operands import Operand, View, Views, labelled, stretch
from nameexpr.compiler.analysis.readings import Reading, labels_of, placed
from nameexpr.compiler.analysis.resolve import resolve, resolve_result
from nameexpr.compiler.analysis.scope import Scope, terms_of, uses_with_terms
from nameexpr.compiler.analysis.sizes import local_dots, solve
from nameexpr.compiler.ir.axes import Axes, Names
from nameexpr.dims import is_keyword
from nameexpr.errors import (
    TOLD,
    Diagnostic,
    Mark,
    NameExprError,
    OperandInfo,
    SizeError,
    did_you_mean,
    error,
)
from nameexpr.records import replace
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import label_of, rewritten


def resolve_views(scope: Scope, operands: Mapping[str, Operand], sizes: Mapping[str, int]) -> Views:
    """Return the labels and sizes of everything that a formula uses, for terms of any kind."""
    _check_operands(scope, operands, sizes)
    default = {name: _default_term(scope, name, operands[name]) for name in scope.operands}
    pairs = tuple(
        (name, term)
        for name, uses in scope.uses.items()
        for term in dict.fromkeys(use.term or default[name] for use in uses)
    )
    tree = scope.tree
    expression = ast.Expression(tuple(term for _, term in pairs), None, None, tree.text)
    seen = [Operand(operands[name].shape, operands[name].names, name) for name, _ in pairs]
    resolved = resolve(expression, seen)
    packs = resolved.packs
    # The dims under `...` belong to each value: their names are unified where values are combined.
    blanked = [
        replace(operand, names=_without_dots(term, operand.names))
        for term, operand in zip(expression.inputs, seen, strict=True)
    ]
    under = match_names(expression, blanked, packs)
    written: dict[str, int] = {}
    joined: dict[str, Reading] = {}
    left: list[Axes | None] = []
    for statement in tree.statements:
        left.append(None)
        if statement.term is not None:
            _check_left(tree.text, statement.term, packs)
            left[-1] = resolve_result(statement.term, packs, written, tree.text, joined)
    sized = tuple(walk.atoms_of(ast.Sized, walk.terms_in(tree)))
    written |= {item.name: item.size for item in sized}
    resolved = replace(resolved, written={**written, **resolved.written}, sized=sized)
    inside, everywhere = walk.labels_in(*expression.inputs), walk.labels_in(*walk.terms_in(tree))
    _check_sizes_given(tree, sizes, inside | everywhere)
    own = {name: size for name, size in sizes.items() if name in inside | placed(resolved.readings)}
    plain = _plain_labels(tree) if resolved.readings else ()
    later = _labels_of_statements(tree)
    try:
        resolved, solved = solve(expression, seen, local_dots(resolved, seen), own, plain, later)
    except SizeError as fault:
        from nameexpr.compiler.analysis.faults.positions import of_a_label

        raise of_a_label(scope.tree, operands, fault) from None
    known = {**{name: size for name, size in sizes.items() if name not in inside}, **solved}
    for name, size in sizes.items():
        if known.get(name, size) != size:
            message = f"'{name}' is {known[name]} in the text and {size} in sizes="
            marks = marks_of_label(tree, name)
            raise error(Diagnostic("NE330", message, tree.text, marks, hint="leave it out of sizes="))
    axes = dict(zip(pairs, resolved.operands, strict=True))
    views = Views(operands, axes, default, tuple(left), known, packs, under, resolved.readings, joined)
    return replace(views, has_unknown=bool(later) and not inside <= known.keys())


def _labels_of_statements(tree: ast.Formula) -> set[str]:
    """Return the labels by which statements are used, whose sizes become known with the statements."""
    names = {statement.name for statement in tree.statements}
    terms = [term for name, term in uses_with_terms(tree.statements) if name in names]
    return {atom.name for atom in walk.atoms_of(ast.LABELLED, terms)} if terms else set()


def _plain_labels(tree: ast.Formula) -> set[str]:
    """Return the labels whose sizes positions in operands do not determine: dims of values that are used, and
    what is in positions of statements, whose dims are not known yet. A label of the statement itself is not
    determined by its dims.
    """
    left = {one.name: walk.labels_in(one.term) if one.term else set() for one in tree.statements}
    found: set[str] = set()
    for name, term in uses_with_terms(tree.statements):
        found |= {atom.name for atom in walk.atoms_of(ast.LABELLED, [term])}
        for place in walk.places(term) if name in left else ():
            found |= set(labels_of(place)) - left[name]
    return found


def _without_dots(term: ast.Term, names: Names | None) -> Names | None:
    if names is None:
        return None
    dims = zip(stretch(term, len(names)), names, strict=True)
    return tuple(None if isinstance(item, ast.Dots) else name for (item, _), name in dims)


def _check_left(text: str, term: ast.Term, packs: Mapping[str, int]) -> None:
    for atom in walk.atoms(term.items):
        message = hint = ""
        if isinstance(atom, ast.Anonymous):
            message, hint = (
                "_ does not stand for a dim here",
                "name the dim; a new dim of size 1 is written 1",
            )
        elif isinstance(atom, ast.STRETCHED) and atom.word not in packs:
            message = f"'{atom.word}' is not in any operand"
            hint = did_you_mean(atom.word, packs) or "write it in the term whose dims it stands for"
        if message:
            raise error(Diagnostic("NE239", message, text, (Mark(atom.span),), hint=hint))


def _check_sizes_given(tree: ast.Formula, sizes: Mapping[str, int], labels: set[str]) -> None:
    for name in sizes:
        if name not in labels:
            known = f"the labels are {', '.join(sorted(labels))}"
            if len(labels) < 2:  # noqa: PLR2004  one label, or none
                known = f"the only label is {min(labels)}" if labels else "no dim has a label"
            hint = did_you_mean(name, sorted(labels)) or known
            message = f"sizes: {name} is not a label of the formula"
            raise error(Diagnostic("NE602", message, tree.text, hint=hint))


def relabelled(text: str, view: View, shape: tuple[int, ...], views: Views) -> Axes:
    """Return the labels of an earlier statement's dims under a term of the use, and record the new sizes."""
    name, term = view
    known = views.sizes
    expression = ast.Expression((term,), None, None, text)
    operand = [Operand(shape, None, name)]
    resolved = resolve(expression, operand)
    groups = tuple(item for item in term.items if label_of(item) is None)
    hints = {label: known[label] for label in walk.labels_in(ast.Term(groups)) if label in known}
    resolved, sizes = solve(expression, operand, resolved, hints)
    axes = local_dots(resolved, operand).operands[0]
    for label, size in sizes.items():
        if known.setdefault(label, size) != size:
            seen = {other: views.operands[other[0]] for other in views.axes if other[0] in views.operands}
            raise error(other_size(text, view, shape, label, (size, known[label]), seen))
    known.update({labels[0]: size for labels, size in zip(axes, shape, strict=True) if len(labels) == 1})
    return axes


_CONSTANTS = {
    "π": "it is written pi",
    "e": "it is written exp(1); an operand is given by keyword: e=...",
    "True": "a comparison gives bools: 1 == 1",
    "False": "a comparison gives bools: 1 == 0",
    "None": "a formula has no None",
}


def _check_operands(scope: Scope, operands: Mapping[str, Operand], sizes: Mapping[str, int]) -> None:
    check_given(scope, operands)
    if scope.has_readings:
        from nameexpr.compiler.analysis.faults.positions import check_labels

        check_labels(scope.tree, operands, sizes)


def check_given(scope: Scope, operands: Mapping[str, Operand]) -> None:
    """Raise an error for missing operands (NE521), or else for operands that are not used (NE522)."""
    faults = list(islice(_missing(scope, operands), TOLD)) or list(islice(_unused(scope, operands), TOLD))
    if faults:
        raise error(*faults)


def _missing(scope: Scope, operands: Mapping[str, Operand]) -> Iterator[Diagnostic]:
    unused = [name for name in operands if name not in scope.uses]
    labels = walk.labels_in(*walk.terms_in(scope.tree))
    for name, uses in scope.uses.items():
        if name not in operands:
            near = did_you_mean(name, unused) or _CONSTANTS.get(name)
            if name in labels and uses[0].term is None:
                near = (
                    f"'{name}' is a dim: its size is written size[{name}], the index along it index[{name}]"
                )
            keyword = f"{name}=..." if is_keyword(name) else f'operands={{"{name}": ...}}'
            hint = near or f"give it by keyword: {keyword}, or define it in an earlier statement"
            mark = (Mark(uses[0].name_span),)
            yield Diagnostic("NE521", f"there is no operand '{name}'", scope.text, mark, hint=hint)


def _unused(scope: Scope, operands: Mapping[str, Operand]) -> Iterator[Diagnostic]:
    statements = {statement.name: statement.name_span for statement in scope.tree.statements}
    for name, operand in operands.items():
        if name in statements:
            message = f"{name}= is computed by the formula, and given as an operand"
            marks = (Mark(statements[name]),)
            yield Diagnostic("NE522", message, scope.text, marks, hint="leave it out")
        elif name not in scope.uses:
            yield _unused_operand(scope, name, operand)


def _unused_operand(scope: Scope, name: str, operand: Operand) -> Diagnostic:
    """Return the diagnostic for an operand that the formula does not use, or for a size passed like one."""
    from nameexpr.compiler.analysis.faults.positions import is_label

    if (label := is_label(scope.tree, {name: operand}, lambda _: True)) is not None:
        return label
    message = f"the formula does not use the operand {name}="
    terms = tuple(walk.terms_in(scope.tree))
    if name not in walk.labels_in(*terms):
        hint = did_you_mean(name, scope.uses) or "leave it out"
        return Diagnostic("NE522", message, scope.text, hint=hint)
    marks = tuple(Mark(atom.span) for atom in labelled(terms, name))
    hint = f"'{name}' is a dim of the formula: give its size as sizes={{'{name}': ...}}"
    hint += f"; positions are written _@{name}[...]"
    return Diagnostic("NE522", message, scope.text, marks, hint=hint)


def _default_term(scope: Scope, name: str, operand: Operand) -> ast.Term:
    """Return the term of a use without one: the operand's only term, or its own names."""
    uses = scope.uses[name]
    by = {id(call.arguments[1]) for call in scope.gradients if call.function == "grad"}
    terms = terms_of(tuple([use for use in uses if id(use) not in by])) or terms_of(uses)
    bare = next((use for use in uses if use.term is None), None)
    if bare is not None and len({rewritten(term.items, _without_size) for term in terms}) > 1:
        marks = (Mark(bare.span), *(Mark(use.span) for use in uses if use.term is not None))
        message = f"'{name}' without a term is ambiguous: its uses have different terms"
        raise error(Diagnostic("NE523", message, scope.text, marks, hint="write the term at every use"))
    if terms and (uses[0].term is not None or operand.names is None):
        if uses[0].term is None and operand.shape:
            raise _no_term(scope, uses[0], operand)
        return terms[0]
    if operand.names is not None and None not in operand.names:
        return ast.Term(tuple(ast.Label(str(own), uses[0].span) for own in operand.names), uses[0].span)
    if operand.shape:
        raise _no_term(scope, uses[0], operand)
    return ast.Term((), uses[0].span)


def _without_size(item: ast.Item) -> list[ast.Item] | None:
    """Return an item as it is compared between terms: two terms that see the same dims are equal."""
    if isinstance(item, ast.Sized):
        return [ast.Label(item.name)]
    return [ast.Literal(1)] if isinstance(item, ast.Group) and not item.items else None


def _no_term(scope: Scope, use: ast.Use, operand: Operand) -> NameExprError:
    count = len(operand.shape)
    dims = "1 dim" if count == 1 else f"{count} dims"
    names = operand.names or (None,) * count
    letters = [letter for letter in "ijklmnabcdefgh" if letter not in names]
    letters += [f"d{number}" for number in range(count)]
    example = " ".join(name or letters[dim] for dim, name in enumerate(names))
    message = f"'{use.name}' has {dims}, and its first use does not name them"
    if operand.names is not None:
        message = f"'{use.name}' has a dim without a name, and no term that gives it one"
    info = OperandInfo(0, operand.shape, operand.names, (), use.name)
    hint = f"write {use.name}[{example}] where it occurs first"
    return error(Diagnostic("NE523", message, scope.text, (Mark(use.span),), (info,), hint))
