"""What a session says to a line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The text to print, whether it tells a mistake, whether the session is over; to which line, if known."""

    text: str
    is_fault: bool = False
    leaves: bool = False
    line: str = ""
