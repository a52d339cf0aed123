"""A session as the toolbar and the Tab key see it: facts about a text, and what may come next.

Both are asked at every key, some of them twice for one; what was found last is kept while nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from nameexpr.session.commands.commands import ROWS
from nameexpr.session.complete.complete import Completion, Known, complete
from nameexpr.session.facts import Facts, facts
from nameexpr.session.session import Session
from nameexpr.session.settings import CHOICES


def seen(session: Session) -> Callable[[str], Facts]:
    """Return a function from a text to what is known of it.

    >>> seen(Session())("x = ones(N=2)").text
    'N=2  float64  16 B'
    """
    last: tuple[str, int, Facts] | None = None

    def look(text: str) -> Facts:
        nonlocal last
        if last is None or last[:2] != (text, session.version):
            last = (text, session.version, facts(session, text))
        return last[2]

    return look


def completions(session: Session) -> Callable[[str, int], tuple[Completion, ...]]:
    """Return a function from a text and a cursor to what Tab offers there.

    >>> [one.text for one in completions(Session())(":pl", 3)]
    [':plan']
    """
    return lambda text, cursor: complete(text, cursor, known(session))


def plans(session: Session) -> Callable[[str], str]:
    """Return a function from a text to its plan and its code, or what is wrong with it: what F2 shows.

    >>> session = Session()
    >>> _ = session.run("x = ones(N=2)")
    >>> print(plans(session)("x * 2").splitlines()[0])
    x * 2
    """

    def show(text: str) -> str:
        line = text.strip()
        if line.startswith(":"):
            line = line.partition(" ")[2]
        if not line and session.last_text is None:
            return "nothing is typed yet; F2 shows the plan of what is"
        answers = [session.look(f":plan {line}"), session.look(f":code {line}")]
        return answers[0].text if answers[0].is_fault else "\n\n".join(one.text for one in answers)

    return show


def known(session: Session) -> Known:
    """Return what a session has to offer."""
    return Known(
        {name: (one.names, one.shape) for name, one in session.tensors.items()},
        {f":{name}": row.about for name, row in ROWS.items()},
        CHOICES,
        _codes(),
    )


@cache
def _codes() -> dict[str, str]:
    from nameexpr.terminal.pages import codes, summary

    return {code: summary(code) for code in codes()}
