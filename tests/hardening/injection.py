"""A fault at the k-th step of a call: Ctrl-C where CPython serves it, MemoryError where memory is requested.

A step is an instruction of the package, of the code that it generates, or of NumPy's Python functions.
CPython looks for signals when a function starts, after calls and at backward jumps, and nowhere else
(CHECK_EVAL_BREAKER in its `ceval.c`; `measure_signals` of `hardening.faults` sends real signals, too). Memory
is requested by calls and by instructions that build an object. Python 3.11 tells all instructions; later
ones leave out those of code that is new, so that less is tried there.

>>> steps(len, KeyboardInterrupt, [1, 2])  # C code has none
0
"""

from __future__ import annotations

import contextvars
import dis
import os
import sys
from collections.abc import Callable
from functools import cache
from types import CodeType, FrameType
from typing import Any

import numpy as np

import nameexpr

FOLDERS = tuple(os.path.dirname(module.__file__ or "") + os.sep for module in (nameexpr, np))
GENERATED = "<nameexpr"
SERVES = ("RESUME", "CALL", "JUMP_BACKWARD")
"""Beginnings of the instructions after which CPython runs the handlers of signals."""
ALLOCATES = ("CALL", "BUILD", "BINARY", "LIST", "DICT", "SET_", "FORMAT", "MAKE", "GET_ITER", "STORE_SUBSCR")
"""Beginnings of the instructions that may ask for memory."""
EXIT = "CALL of __exit__"
"""What the end of a `with` block goes by: it asks for no memory, and without it a lock stays held."""
NEVER = 1 << 60


class Injection:
    """Raise a fault at one step; `seen` counts the steps, and `fired` says whether it was raised."""

    def __init__(self, kind: type[BaseException], at: int) -> None:
        self.kind, self.at = kind, at
        self.seen, self.fired = 0, False

    def run(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a call gives with the fault; `np.errstate` and other settings do not outlive it."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            return contextvars.copy_context().run(call, *arguments)
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith((*FOLDERS, GENERATED)):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        names = instructions(frame.f_code)
        previous = "RESUME"

        def local(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal previous
            if event == "opcode":
                name = names.get(frame.f_lasti, "")
                is_step = (
                    previous.startswith(SERVES)
                    if self.kind is KeyboardInterrupt
                    else name.startswith(ALLOCATES) and name != EXIT
                )
                previous = name
                if is_step:
                    self._step()
            return local

        return local

    def _step(self) -> None:
        self.seen += 1
        if self.seen == self.at:
            self.fired = True
            raise self.kind


@cache
def instructions(code: CodeType) -> dict[int, str]:
    """Return the instructions of a code object by where they stand."""
    every = [one for one in dis.get_instructions(code) if one.opname not in ("CACHE", "PRECALL")]
    names = {one.offset: one.opname for one in dis.get_instructions(code)}
    for *arguments, call in zip(every, every[1:], every[2:], every[3:], strict=False):
        is_none = all(one.opname == "LOAD_CONST" and one.argval is None for one in arguments)
        if is_none and call.opname == "CALL":
            names[call.offset] = EXIT
    return names


def steps(call: Callable[..., Any], kind: type[BaseException], *arguments: Any) -> int:
    """Return how many steps a call has at which a fault of this kind can be raised."""
    counting = Injection(kind, NEVER)
    counting.run(call, *arguments)
    return counting.seen
