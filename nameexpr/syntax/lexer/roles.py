"""The roles of names in a formula, right or wrong: dims, tensors, functions.

Names in square brackets are dims, names outside are tensors, and functions if values in parentheses follow.
A position is a value within a term, in which only names with brackets are tensors and functions.

>>> from nameexpr.syntax.lexer.tokens import tokens
>>> text = "x[C@i[N] H@(clip(h-1, 0, 2))]"
>>> [text[slice(*token.span)] for token in tokens(text) if token.kind in ("tensor", "function")]
['x', 'i', 'clip']
"""

from __future__ import annotations

from typing import Literal, NamedTuple

_IN_TERMS = {"NAME", "PACK", "DOTS", "ANONYMOUS", "INT", "EQUAL", "LPAR", "RPAR", "AT", "ERROR"}
_IN_GROUPS = {*_IN_TERMS, "PLUS"}


class _Bracket(NamedTuple):
    """An open bracket: what it contains, the index of the name before it (-1 for none), and whether that name
    is the place of a position.
    """

    holds: Literal["value", "place", "term", "group"]
    name: int = -1
    is_place: bool = False


class Roles:
    """Reads the tokens of a formula one after the other, and sets the `kinds` of names.

    A term or a group that is not closed ends at the first sign that cannot be inside it.
    """

    def __init__(self, kinds: list[str]) -> None:
        self.kinds = kinds
        self.brackets = [_Bracket("value")]
        self.called = -1  # the index of the name that parentheses here would call
        self.before, self.before_name = "", ""

    def read(self, index: int, terminal: str) -> None:
        """Read one token: the index of its kind, and its terminal."""
        self._leave(terminal)
        called, self.called = self.called, -1
        if terminal in ("NAME", "ANONYMOUS"):
            self._name(index)
        elif terminal == "LSQB":
            self._square(called)
        elif terminal == "LPAR":
            self._parenthesis(called)
        elif terminal in ("RPAR", "RSQB"):
            self._close("]" if terminal == "RSQB" else ")")
        self.before_name = self.before if terminal == "NAME" else ""
        self.before = terminal

    def _leave(self, terminal: str) -> None:
        """Leave the terms and groups in which a token cannot be."""
        if terminal == "SEMICOLON":
            del self.brackets[1:]
        is_named = self.called >= 0 and terminal == "LSQB"  # `x[C@i[N]]`, and `x[i[N]]`
        while (
            (self._holds("term") and terminal not in _IN_TERMS)
            or (self._holds("group") and terminal not in _IN_GROUPS)
        ) and not (is_named or terminal == "RSQB"):
            self.brackets.pop()

    def _holds(self, *holds: str) -> bool:
        return self.brackets[-1].holds in holds

    def _name(self, index: int) -> None:
        self.called = index
        if self._holds("value"):
            self.kinds[index] = "tensor"

    def _square(self, called: int) -> None:
        is_place = self.before_name == "AT" and self._holds("term", "group")
        if called >= 0 and self.before != "RSQB":
            self.kinds[called] = "tensor"
        name = called if self.before == "NAME" else -1
        self.brackets.append(_Bracket("term", name, is_place))

    def _parenthesis(self, called: int) -> None:
        if self.before == "AT" and self._holds("term", "group"):
            self.brackets.append(_Bracket("place"))
            return
        is_call = called >= 0 and (self._holds("value", "place") or self.before == "RSQB")
        if is_call:
            self.kinds[called] = "function"
        while is_call and self._holds("term", "group"):
            self.brackets.pop()
        inside = self.brackets[-1].holds
        self.brackets.append(_Bracket("group" if inside == "term" else inside))

    def _close(self, sign: str) -> None:
        """Close a bracket; a square one also closes what is open inside it."""
        opened = self.brackets[-1]
        if sign == ")" and len(self.brackets) > 1 and opened.holds != "term":
            self.brackets.pop()
        while sign == "]" and len(self.brackets) > 1:
            opened = self.brackets.pop()
            if opened.holds == "term":
                self.called = -1 if opened.is_place else opened.name
                break
