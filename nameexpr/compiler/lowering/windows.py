"""Windows in results: views of an operand, unless they overlap."""

from __future__ import annotations

from nameexpr.compiler.ir.primitives import is_view
from nameexpr.compiler.ir.windows import is_overlapping
from nameexpr.compiler.lowering.builder import Builder, Value


def without_overlap(build: Builder, value: Value) -> Value:
    """Return a value that has every element in one place: a copy of what overlapping windows show."""
    number = value.number
    while number >= build.count and is_view(instruction := build.instructions[number - build.count]):
        if number in build.windows and is_overlapping(instruction, build.windows[number]):
            return build.copied(value, is_lax=True)
        (number,) = instruction.sources
    return value
