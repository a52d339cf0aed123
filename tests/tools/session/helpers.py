"""What the tests of the REPL share."""

from __future__ import annotations

from nameexpr.session.session import Session


def said(session: Session, line: str) -> str:
    """Return what a session says to a line."""
    return session.run(line).text
