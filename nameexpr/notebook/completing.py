"""Tab completion behind `%ne` and in `%%ne` cells: that of the REPL, over the variables of the notebook."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from nameexpr.dims import WORD
from nameexpr.notebook.magics import Variables, without_option
from nameexpr.session.complete import Known, complete
from nameexpr.tensors import NamedTensor

IDENTIFIER = "nameexpr"
_LINE = re.compile(rf"\s*(?:{WORD}\s*=\s*)?%ne\s")
_CELL = re.compile(r"%%ne\s")


class Offer(NamedTuple):
    """Completions of `fragment`, the text before the cursor."""

    fragment: str
    texts: tuple[str, ...]


def offered(source: str, cursor: int, variables: Variables) -> Offer | None:
    """Return the completions in a cell, or None where the cursor is outside a magic.

    Examples
    --------
    >>> import nameexpr as ne
    >>> offered("%ne N C -> N : me", 17, Variables({}, ()))
    Offer(fragment='me', texts=('mean', 'median'))
    >>> offered("me", 2, Variables({}, ())) is None
    True
    """
    start = source.rfind("\n", 0, cursor) + 1
    magic = _CELL.match(source) or _LINE.match(source, start)
    if magic is None or magic.end() > cursor:
        return None
    text = source[magic.end() :]
    if not source.startswith("%%"):
        text = text.partition("\n")[0]
    option = len(text) - len(without_option(text))
    place = cursor - magic.end() - option
    choices = complete(text[option:], place, _known(variables))
    begin = choices[0].start if choices else 0
    fragment = text[option:][begin:place] if choices else ""
    return Offer(fragment, tuple(choice.text for choice in choices if choice.start == begin))


def _known(variables: Variables) -> Known:
    return Known({name: (_names(value), value.shape) for name, value in variables.items()})


def _names(value: Any) -> tuple[str | None, ...]:
    return value.names if isinstance(value, NamedTensor) else (None,) * len(value.shape)


def matcher(shell: Any) -> Callable[[Any], dict[str, Any]]:
    """Return the function that IPython's completer asks (its "matcher API v2")."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier=IDENTIFIER)  # type: ignore[untyped-decorator, unused-ignore]
    def matches(context: Any) -> dict[str, Any]:
        lines = context.full_text.split("\n")[: context.cursor_line]
        cursor = sum(len(line) + 1 for line in lines) + context.cursor_position
        offer = offered(context.full_text, cursor, Variables(shell.user_ns, shell.user_ns_hidden))
        if offer is None:
            return {"completions": []}
        completions = [SimpleCompletion(text=text) for text in offer.texts]
        return {"completions": completions, "matched_fragment": offer.fragment, "suppress": True}

    return matches  # type: ignore[no-any-return, unused-ignore]
