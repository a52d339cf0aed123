"""Operands as they are given to a formula: none missing, none too many, each with a term for its dims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.scope import Scope, terms_of
from nameexpr.dims import WORD
from nameexpr.errors import TOLD, Diagnostic, Mark, NameExprError, OperandInfo, did_you_mean, error
from nameexpr.syntax.ast import Label, Term, Use
from nameexpr.syntax.unparse import unparse_item

_CONSTANTS = {
    "π": "it is written pi",
    "e": "it is written exp(1); an operand is given by keyword: e=...",
    "True": "a comparison makes truth values: 1 == 1",
    "False": "a comparison makes truth values: 1 == 0",
    "None": "a formula has no None",
}


def check_given(scope: Scope, operands: Mapping[str, Operand]) -> None:
    """Raise what is missing (NE521), or else what is used nowhere (NE522)."""
    found = list(islice(_missing(scope, operands), TOLD)) or list(islice(_unused(scope, operands), TOLD))
    if found:
        raise error(*found)


def _missing(scope: Scope, operands: Mapping[str, Operand]) -> Iterator[Diagnostic]:
    unused = [given for given in operands if given not in scope.uses]
    for name, uses in scope.uses.items():
        if name not in operands:
            near = did_you_mean(name, unused) or _CONSTANTS.get(name)
            keyword = f"{name}=..." if name.isidentifier() else f'operands={{"{name}": ...}}'
            hint = near or f"give it by keyword: {keyword}, or define it in an earlier statement"
            mark = (Mark(uses[0].name_span),)
            yield Diagnostic("NE521", f"there is no operand '{name}'", scope.tree.text, mark, hint=hint)


def _unused(scope: Scope, operands: Mapping[str, Operand]) -> Iterator[Diagnostic]:
    statements = {one.name: one.name_span for one in scope.tree.statements if one.name is not None}
    for name in operands:
        if name in statements:
            message = f"{name}= is computed by the formula, and given as an operand"
            marks = (Mark(statements[name]),)
            yield Diagnostic("NE522", message, scope.tree.text, marks, hint="leave it out")
        elif name not in scope.uses:
            hint = did_you_mean(name, scope.uses) or "leave it out"
            message = f"the operand {name}= is used nowhere in the formula"
            yield Diagnostic("NE522", message, scope.tree.text, hint=hint)


def default_term(scope: Scope, name: str, operand: Operand) -> Term:
    """Return the term of a use that has none: the operand's only term, or its own names."""
    uses = scope.uses[name]
    terms = terms_of(uses)
    bare = next((use for use in uses if use.term is None), None)
    if bare is not None and len({canonical(term) for term in terms}) > 1:
        marks = (Mark(bare.span), *(Mark(use.span) for use in uses if use.term is not None))
        message = f"which dims are meant by '{name}' alone? it has different terms"
        raise error(Diagnostic("NE523", message, scope.tree.text, marks, hint="write the term at every use"))
    if terms and (uses[0].term is not None or operand.names is None):
        if uses[0].term is None and operand.shape:
            raise _no_term(scope, uses[0], operand)
        return terms[0]
    if operand.names is not None and None not in operand.names:
        return Term(tuple(Label(str(own), uses[0].span) for own in operand.names), uses[0].span)
    if operand.shape:
        raise _no_term(scope, uses[0], operand)
    return Term((), uses[0].span)


def _no_term(scope: Scope, use: Use, operand: Operand) -> NameExprError:
    count = len(operand.shape)
    dims = "1 dim" if count == 1 else f"{count} dims"
    names = operand.names or (None,) * count
    letters = [letter for letter in "ijklmnabcdefgh" if letter not in names]
    letters += [f"d{place}" for place in range(count)]
    example = " ".join(name or letters[place] for place, name in enumerate(names))
    message = f"'{use.name}' has {dims}, and its first use does not name them"
    if operand.names is not None:
        message = f"'{use.name}' has a dim without a name, and no term that gives it one"
    info = OperandInfo(0, operand.shape, operand.names, (), use.name)
    hint = f"write {use.name}[{example}] where it stands first"
    return error(Diagnostic("NE523", message, scope.tree.text, (Mark(use.span),), (info,), hint))


def canonical(term: Term) -> str:
    """Return a term without its sizes, to tell if two terms see the same dims: `C=3` is `C`, `()` is `1`."""
    words = " ".join(map(unparse_item, term.items))
    return re.sub(rf"({WORD}'*)=[0-9]+(?![\w'])", r"\1", words).replace("()", "1")
