"""What Tab offers: what may come next at the cursor, of what the session knows.

Commands, files, Python and factories have rules of their own. All else is read with both grammars up to the
word under the cursor, as an expression and as a formula; whichever can still be true of the text says what it
accepts, and only then are names looked up. So an unfinished line needs no kind, and nothing is offered that
the grammar would refuse.

>>> known = Known({"x": (("N", "C"), (2, 3))}, {":names": "what is there"})
>>> [one.text for one in complete("y[N] = sum[C](x[", 16, known)]
['N', 'C']
>>> complete(":na", 3, known)
(Completion(text=':names', start=0, shown=':names', about='what is there'),)
"""

from __future__ import annotations

import re

from nameexpr.session.complete.commands import commands, complete_command
from nameexpr.session.complete.expression import expression_choices
from nameexpr.session.complete.factories import factories, factory_choices
from nameexpr.session.complete.formula import formula_choices, functions, without_brackets
from nameexpr.session.complete.grammar import word_before
from nameexpr.session.complete.known import MOST, Choice, Completion, Known, placed, ranked, tensors
from nameexpr.session.complete.python import python_choices
from nameexpr.session.continuation import python_start

__all__ = ["Completion", "Known", "complete"]

LONGEST = 8_000
"""Characters of a text up to which it is looked at, so that a key is never waited for."""
_ALIAS = re.compile(r"\S=\s*\Z")
_CALLED = re.compile(r"(?<![\w'.])\w+\(")


def complete(text: str, cursor: int, known: Known) -> tuple[Completion, ...]:
    """Return what may replace the word that ends at the cursor, the likeliest first.

    Nothing is ever raised: of a text that is wrong before the cursor nothing is offered.

    Parameters
    ----------
    text : str
        The line as it is now, with what stands behind the cursor.
    cursor : int
        How many characters stand before the cursor.
    known : Known
        What the session has.

    Examples
    --------
    >>> known = Known({"x": (("N", "C"), (2, 3))})
    >>> complete("N C -> C : me", 13, known)[0]
    Completion(text='mean', start=11, shown='mean', about='reducer')
    """
    cursor = max(0, min(cursor, len(text)))
    if len(text) > LONGEST:
        return ()
    before = text[:cursor]
    if not text.strip():
        return placed(cursor, [*tensors(known), *commands(known)][:MOST])
    if before.lstrip().startswith(":"):
        return complete_command(text, cursor, known, _value)
    code = python_start(before)
    if code is not None:
        word, choices = python_choices(before[code:], known)
        return placed(cursor - len(word), ranked(word, choices))
    return _value(text, cursor, known)


def _value(text: str, cursor: int, known: Known) -> tuple[Completion, ...]:
    """Return the completions in an expression, a formula, or the making of a tensor."""
    word = word_before(text[:cursor])
    if word is None or "#" in text[:cursor].rpartition("\n")[2]:
        return ()
    before, after = text[: cursor - len(word)], text[cursor:]
    choices = factory_choices(before, known)
    if choices is None:
        choices = _by_grammar(before, after, word, known)
    return placed(cursor - len(word), ranked(word, choices))


def _by_grammar(before: str, after: str, word: str, known: Known) -> list[Choice]:
    """Return what either grammar accepts; what only closes or goes on comes without a word."""
    formula = without_brackets(formula_choices(before, after, known), after)
    first = [one for one in formula if one.text in known.tensors]
    formula = [*first, *factories(before), *formula]
    if formula and _is_surely_formula(before):
        return formula
    expression = expression_choices(before, after, word, known)
    return [*first, *expression, *formula]


def _is_surely_formula(before: str) -> bool:
    """Whether a text that may be either is not meant as an expression: `y = `, or `sqrt(x `, which could be
    the label `sqrt` and a group.
    """
    called = {choice.text for choice in functions()}
    if any(found[0] in called or f"{found[0][:-1]}[" in called for found in _CALLED.finditer(before)):
        return True
    return bool(factories(before)) and _ALIAS.search(before) is None
