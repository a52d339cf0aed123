"""Characters that formulas cannot contain, and what to write instead.

`_GUESSES` are tried in order around the position where scanning stopped; numbers and points have their own
functions, because the advice depends on what surrounds them.
"""

from __future__ import annotations

import re

from nameexpr.errors import Diagnostic, Mark, Span
from nameexpr.syntax.faults.stops import NAME, around, first_guess, guesses, open_brackets

FORMULA = "a formula is written y[A C] = sum[B](x[A B] * w[B C])"
OPERATORS = "operators are + - * / // % ** == != < <= > >= & | ~"
# fmt: off
_GUESSES = guesses(
    (r"\^", "NE142", "'^' is not an operator of formulas", "a power is written **; of two bools, a != b"),
    (r"!(?!=)", "NE142", "'!' is not an operator of formulas", "'not' is written ~"),
    ("@", "NE142", "'@' is not supported in formulas: summed dims are always written",
     "write sum[k](a[i k] * b[k j])"),
    (":=", "NE142", "':=' is not allowed in a formula", "a statement is written y = ..."),
    (":", "NE142", "':' is not allowed in a formula", "a reduction is written as a function: mean[C](x)"),
    ("[{}]", "NE142", "'{0}' is not allowed in a formula",
     "dims are written in square brackets, x[N C]; values in parentheses"),
    ("['\"`]", "NE142", "formulas do not contain strings", "names are written without quotes"),
)
# fmt: on
_ATTRIBUTES = {
    "T": "the left side gives the order of dims: y[j i] = x[i j]",
    "mT": "the left side gives the order of dims: y[j i] = x[i j]",
    "shape": "the size of a dim is written size[C]",
    "size": "the size of a dim is written size[C]",
    "real": "functions are written f(x): real(x)",
    "imag": "functions are written f(x): imag(x)",
}
_DIGITS = re.compile(r"(?<![\w.])\.?[0-9][\w.]*")
_POINTED = re.compile(rf"({NAME}|[)\]])\s*\.\s*({NAME})?(\s*\()?")
_IN_MODULE = re.compile(rf"{NAME}(?:\.{NAME})+")
_ALONG = re.compile(
    "sum|prod|mean|std|var|max|min|any|all|argmax|argmin|norm|median|cumsum|cumprod|sort|softmax"
)
_MODULES = re.compile("np|numpy|jnp|jax|c?math|torch|F|tf|nn|scipy|special|ne|nameexpr")


def arrow_fault(text: str, lines: str) -> Diagnostic | None:
    """Explain an arrow: the text is an expression, or one follows a formula."""
    position = lines.find("->")
    if position < 0:
        return None
    message = "this is an expression: it has an arrow"
    hint = f"nameexpr.einsum(text, ...) reads expressions; {FORMULA}"
    if "[" in lines[:position]:
        message = "'->' is not allowed in a formula"
        hint = "the result is on the left of '=': y[A C] = sum[B](x[A B] * w[B C])"
    mark = Mark(Span(position, position + 2))
    return Diagnostic("NE142", message, text, (mark,), hint=hint)


def character_fault(text: str, position: int) -> Diagnostic:
    """Explain a character that cannot be scanned."""
    explained = _number(text, position) or _point(text, position)
    if explained is None:
        guess = first_guess(_GUESSES, text, position)
        if guess is not None:
            return guess
        explained = Span(position, position + 1), f"'{text[position]}' cannot be used in a formula", OPERATORS
    span, message, hint = explained
    return Diagnostic("NE142", message, text, (Mark(span),), hint=hint)


def _number(text: str, position: int) -> tuple[Span, str, str] | None:
    """Explain digits followed by something else: 2x, 2j, 1_000, 0x1f, 1.2.3."""
    match = around(_DIGITS, text, position)
    if match is None:
        return None
    span, word = Span(*match.span()), match[0]
    if word.count(".") > 1:
        return span, f"'{word}' is not a number", "a number has one decimal point"
    if re.fullmatch(r"[0-9.]+[jJ]", word):
        return span, f"'{word}': formulas do not contain complex numbers", "pass it as an operand"
    if re.fullmatch(r"0[xXoObB]\w+", word):
        return span, f"'{word}' is not a decimal number", "numbers are written in decimal, such as 31"
    if "_" in word and re.fullmatch(r"[0-9._]+", word):
        return span, f"'{word}' is not a number", f"write {word.replace('_', '')}"
    digits, name = re.fullmatch(r"([0-9.]+)(.*)", word, re.DOTALL).groups()  # type: ignore[union-attr]
    if not name:
        return span, f"'{word}' is neither a number nor a name", "separate them by an operator"
    hint = f"a product is written {digits} * {name}"
    if any(text[position] == "[" for position in open_brackets(text[:position])):
        hint = f"separate the dims by a space; with a size a dim is written {name}={digits}"
    return span, f"'{word}' is neither a number nor a name", hint


def _point(text: str, position: int) -> tuple[Span, str, str] | None:
    """Explain a point after a name or a bracket: methods, attributes and modules."""
    match = around(_POINTED, text, position)
    if match is None or match[0].rstrip().endswith("..."):
        if text[position] != ".":
            return None
        message = "'.' belongs to a number or to '...'"
        return Span(position, position + 1), message, "any number of dims is written ..."
    left, right = match[1], match[2] or ""
    dot = match.start() + match[0].index(".")
    value = left if left not in (")", "]") else "x"
    hint = "functions are written f(x), not x.f()"
    if _MODULES.fullmatch(left) and right:
        path = _IN_MODULE.match(text, match.start())
        hint = f"functions are written without a module: {path[0].rpartition('.')[2] if path else right}(x)"
    elif right in _ATTRIBUTES:
        hint = _ATTRIBUTES[right]
    elif match[3]:
        hint += f": {right}[C]({value})" if _ALONG.fullmatch(right) else f": {right}({value})"
    return Span(dot, dot + 1), "'.' has no meaning after a name or bracket", hint
