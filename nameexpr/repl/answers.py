"""What a session says to a line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The text to print, whether it tells a mistake, and whether the session is over."""

    text: str
    is_fault: bool = False
    leaves: bool = False
