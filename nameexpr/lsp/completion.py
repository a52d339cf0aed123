"""Completions at a position of a text: labels, reducers, functions, operands; and values of some options of
the calls.

Names come from the text and its call; `nameexpr.session.complete` determines where each of them is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from nameexpr.compiler.pipeline import read_formula
from nameexpr.compiler.planning.path import STRATEGIES
from nameexpr.errors import NameExprError, Span
from nameexpr.lint import GRADIENTS
from nameexpr.lint.diagnose import FORMULA_OPTIONS, WHERE_NO_OPERAND_IS
from nameexpr.lsp.meanings import of_word
from nameexpr.lsp.programs import TextAt, text_at
from nameexpr.ops import REDUCTIONS
from nameexpr.records import record
from nameexpr.session.complete import LONGEST, Known
from nameexpr.session.complete.choices import Choice, ranked
from nameexpr.session.complete.texts import expression_choices, formula_choices, word_before

OPTIONS = {
    "reduce": {name: row.doc for name, row in REDUCTIONS.items()},
    "optimize": dict.fromkeys(STRATEGIES, "how the order of contractions is found"),
    "order": {"C": "a result in row-major order"},
}
"""Options of calls whose values are words, with descriptions."""
_REST = re.compile(r"[\w']*")
_ANY_DIMS: tuple[tuple[None, ...], tuple[int, ...]] = ((None,) * 64, (0,) * 64)
"""Names and shape for which every label of the text is offered for every dim of an operand."""


@record
class Suggestion:
    """The replacement of the word at the cursor, a note, and the position of that word in the file."""

    text: str
    about: str
    start: int
    end: int


def complete_at(source: str, offset: int, path: str) -> tuple[Suggestion, ...]:
    r"""Return the completions at an offset of a source, the likeliest first; () outside of texts.

    >>> source = "import nameexpr as ne\nne.einsum('batch chan -> b"
    >>> [(one.text, one.about) for one in complete_at(source, len(source), "x.py")]
    [('batch', 'dim of this text')]
    """
    found = text_at(source, offset, path)
    if found is None or len(found.text) > LONGEST:
        return ()
    before, after = found.text[: found.place], found.text[found.place :]
    word = word_before(before) if not found.keyword else before.rpartition(" ")[2]
    if word is None or "#" in before.rpartition("\n")[2]:
        return ()
    rest = _REST.match(after)
    begin, end = found.place - len(word), found.place + (rest.end() if rest else 0)
    if found.keyword:
        words = _operands(found) if found.keyword == "wrt" else OPTIONS.get(found.keyword, {})
        choices = [Choice(*pair) for pair in words.items()]
    else:
        choices = _choices(found, before[:begin], found.text[end:], word)
    start, stop = found.written(begin, end) if end > begin else (offset, offset)
    return tuple(Suggestion(one.text, _about(one), start, stop) for one in ranked(word, choices))


def _operands(found: TextAt) -> dict[str, str]:
    """Return the operands that a function of gradients may differentiate by, with descriptions."""
    try:
        operands = read_formula(found.call.literal.text).operands
    except NameExprError:
        return {}
    return dict.fromkeys(operands, "operand of the formula")


def _choices(found: TextAt, before: str, after: str, word: str) -> list[Choice]:
    """Return what the grammars accept; both are used for a text that may be of either kind."""
    call = found.call.literal
    if not call.is_formula:
        choices = expression_choices(before, after, word, Known())
        if before.rstrip().endswith(":"):
            return [Choice(one.text, REDUCTIONS[one.text].doc) for one in choices]
        if call.function in ("einsum", "check"):
            return choices
        return [*choices, *formula_choices(before, after, Known())]
    options = FORMULA_OPTIONS | WHERE_NO_OPERAND_IS | ({"wrt"} if call.function in GRADIENTS else set())
    names = call.keywords.keys() - options
    choices = formula_choices(before, after, Known(dict.fromkeys(sorted(names), _ANY_DIMS)))
    return list(_shown(choices, names))


def _shown(choices: Iterable[Choice], operands: Iterable[str]) -> Iterable[Choice]:
    for choice in choices:
        yield choice._replace(about="operand of this call") if choice.text in operands else choice


def _about(choice: Choice) -> str:
    """Return the note of a choice: for a function its usage and description."""
    meaning = of_word(choice.text.rstrip("[("), Span(0, 0)) if choice.text[-1:] in "[(" else None
    return meaning.lines[0].replace("`", "") if meaning else choice.about
