"""What the fuzzer calls: functions from bytes to nothing, in which any exception but ours is a finding.

Each returns whether the input was accepted. Texts that a user is shown must hold no control character.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import nameexpr as ne
from hardening.fuzz_fitting import arrays_for, shapes_for, sizes_for, tensors_for, views_for
from hardening.fuzz_texts import split
from nameexpr.runtime.compiled_expression import CompiledExpression
from nameexpr.session import session as sessions
from nameexpr.session.commands import RUN
from nameexpr.session.continuation import continued
from nameexpr.session.feedback import completions, status
from nameexpr.session.lines import CommandLine, PythonLine, read_line
from nameexpr.session.session import Answer, Session
from nameexpr.tensors import wrap

X, W = np.ones((2, 3)), np.ones((3, 2))


class Broken(Exception):
    """A promise that an input breaks without an exception."""


def check_shown(text: str) -> None:
    """Reject a text that a terminal would act on."""
    if text.isprintable():
        return
    for character in text:
        if character != "\n" and not character.isprintable():
            raise Broken(f"{character!r} reaches the terminal: {text[:200]!r}")


def is_accepted(run: Callable[[], Any]) -> bool:
    """Return whether a call succeeds; an error of ours is shown once."""
    try:
        run()
    except ne.NameExprError as fault:
        check_shown(str(fault))
        return False
    return True


def expression(data: bytes) -> bool:
    """`einsum`, `compile`, `plan`, `outline` and `explain` of a text."""
    choice, text = split(data)
    kind = choice >> 4
    match choice % 16:
        case 0 | 1 | 2:
            return is_accepted(lambda: ne.einsum(text, *arrays_for(text, kind)))
        case 3 | 4 | 5:
            return is_accepted(lambda: ne.einsum(text, *arrays_for(text, kind), sizes=sizes_for(text)))
        case 6 | 7:
            return is_accepted(lambda: ne.einsum(text, *(X, W)[: 1 + kind % 2]))
        case 8:
            return is_accepted(lambda: ne.einsum(text, X, reduce=np.max))
        case 9 | 10:
            return is_accepted(lambda: check_shown(ne.compile(text).code))
        case 11 | 12:
            return is_accepted(lambda: check_shown(ne.explain(text, *shapes_for(text))))
        case 13:
            return is_accepted(lambda: ne.compile(text).outline(*shapes_for(text)))
        case _:
            return is_accepted(lambda: check_shown(str(ne.compile(text).plan(*shapes_for(text)))))


def formula(data: bytes) -> bool:
    """`evaluate`, `compile`, `plan` and `explain` of a formula."""
    choice, text = split(data)
    kind = choice >> 3
    match choice % 8:
        case 0 | 1 | 2:
            return is_accepted(lambda: ne.evaluate(text, operands=views_for(text, kind)))
        case 3:
            return is_accepted(lambda: ne.evaluate(text, x=X))
        case 4:
            return is_accepted(lambda: ne.evaluate(text, x=wrap(X, ("N", None)), sizes={"N": kind}))
        case 5:
            return is_accepted(lambda: ne.compile(text))
        case 6:
            return is_accepted(lambda: check_shown(ne.explain(text, **_shapes(text))))
        case _:
            return is_accepted(lambda: check_shown(str(_planned(text))))


def _planned(text: str) -> Any:
    compiled = ne.compile(text)  # without brackets and "=" it is an expression
    return (
        compiled.plan() if isinstance(compiled, CompiledExpression) else compiled.plan(operands=_shapes(text))
    )


def _shapes(text: str) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in views_for(text).items() if name != "operands"}


def checker(data: bytes) -> bool:
    """What names and sizes can be wrong in: inputs left out, named operands, sizes as keywords, `check`."""
    choice, text = split(data)
    kind = choice >> 3
    match choice % 8:
        case 0 | 1:
            inputs = text if kind & 1 else text.partition("->")[0]
            return is_accepted(lambda: ne.check(inputs, *arrays_for(text, kind)))
        case 2:
            inputs = text.partition("->")[0]
            return is_accepted(lambda: ne.check(inputs, *arrays_for(text), sizes=_sizes(inputs, kind)))
        case 3 | 4:
            outputs = text[max(text.find("->"), 0) :]
            left_out = outputs if outputs.startswith("->") else f"-> {outputs}"
            return is_accepted(lambda: ne.einsum(left_out, *tensors_for(text, kind)[: 1 + kind % 3]))
        case 5:
            return is_accepted(lambda: ne.einsum(text, *tensors_for(text, kind)))
        case 6:
            sizes = _sizes(text, kind)
            return is_accepted(lambda: ne.einsum(text, *arrays_for(text), sizes=sizes))
        case _:
            return is_accepted(lambda: ne.compile(text, sizes=_sizes(text, kind)).code)


def _sizes(text: str, kind: int) -> dict[str, int]:
    """Return sizes for the labels of an expression, of which one may be wrong."""
    labels = sizes_for(text)
    return {label: size + (kind == number) for number, (label, size) in enumerate(labels.items())}


_ALLOWED = ("names", "type", "plan", "code", "explain", "set", "undo", "help")
BUG = "which is a bug of its own"


def _left_out(session: Session, line: CommandLine) -> Answer:
    return Answer(f":{line.name} is left out", is_fault=True)


_COMMANDS = {name: run if name in _ALLOWED else _left_out for name, run in RUN.items()}


def line(data: bytes) -> bool:
    """A line of the REPL, what is said of it while it is typed, and what Tab offers.

    Lines of Python, and commands that write files, read them or take their time, are left out.
    """
    choice, text = split(data)
    tensors = {"x": wrap(X, ("N", "C")), "w": wrap(W, ("C", "K")), "v": wrap(X[0], (None,))}
    session = Session(_COMMANDS, tensors)
    if is_python(text):
        return False
    if choice % 4 == 0:
        check_shown(status(session, text).text)
    elif choice % 4 == 1:
        for one in completions(session, text, len(text) - (choice >> 2) % (len(text) + 1)):
            check_shown(one.shown + one.about)
    answer = session.run(text)
    check_shown(answer.text)
    if BUG in answer.text:
        raise Broken(answer.text)
    return not answer.is_fault


def is_python(text: str) -> bool:
    """Return whether a line of the REPL would run Python, or a command that is not to be run here."""
    try:
        read = read_line(continued(text))
    except Exception:  # noqa: BLE001  the session, which reads it again, shall say so
        return False
    return isinstance(read, PythonLine)


@contextmanager
def fenced() -> Iterator[None]:
    """Take from the REPL what runs Python, whatever `is_python` thinks of a line."""

    def refuse(*_: Any) -> Any:
        raise Broken("a line has reached Python")

    with patch.object(sessions, "run_python", refuse):
        yield
