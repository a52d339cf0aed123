"""What may come next where a tensor is made: `x = randn(N=2, C=3)`."""

from __future__ import annotations

import re

from nameexpr.session.complete.grammar import NAME
from nameexpr.session.complete.known import Choice, Known, dims
from nameexpr.session.lines import FACTORIES

_VALUE = re.compile(rf"\s*{NAME}\s*=\s*")
_CALL = re.compile(rf"({NAME})\s*\(([^()]*)")
_ARGUMENT = re.compile(rf"({NAME})\s*=")
_WANTED = re.compile(rf"(?:^|,)\s*(?:({NAME})\s*=\s*)?$")


def factories(before: str) -> list[Choice]:
    """Return the factories, if a tensor's value begins here."""
    if not _VALUE.fullmatch(before):
        return []
    return [Choice(f"{name}(", about) for name, about in FACTORIES.items()]


def factory_choices(before: str, known: Known) -> list[Choice] | None:
    """Return the dims, or the size of one, for the arguments of a factory; None outside of one.

    Examples
    --------
    >>> known = Known({"x": (("N",), (2,))})
    >>> factory_choices("y = randn(", known), factory_choices("y = randn(N=", known)
    ([Choice(text='N=', about='dim of x, 2')], [Choice(text='2', about='dim of x, 2')])
    """
    value = _VALUE.match(before)
    call = _CALL.fullmatch(before, value.end()) if value else None
    if call is None or call[1] not in FACTORIES:
        return None
    wanted = _WANTED.search(call[2])
    if wanted is None:
        return []
    about = dims(known)
    if wanted[1]:
        one = about.get(wanted[1])
        return [one._replace(text=one.about.rpartition(" ")[2])] if one else []
    given = set(_ARGUMENT.findall(call[2]))
    return [one._replace(text=f"{name}=") for name, one in about.items() if name not in given]
