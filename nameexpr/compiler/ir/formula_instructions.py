"""The instructions of a program that only formulas need (`nameexpr.compiler.ir.program`)."""

from __future__ import annotations

from dataclasses import dataclass

Number = int | float | complex
NEVER_INTO = frozenset({"negative"})
"""NumPy (2.2 to 2.4) negates arrays with strides wrongly into memory with strides, its own among it."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A number."""

    value: Number


@dataclass(frozen=True, slots=True)
class Arange:
    """0, 1, ... size - 1."""

    size: int


@dataclass(frozen=True, slots=True)
class Pointwise:
    """A function of arrays that are broadcast, and of numbers.

    `constants` has one entry per argument: the number, or None where the next of `sources` is meant. `over`
    is a source whose memory the result takes over. A weak one is of numbers alone, and gives a number.
    """

    call: str
    sources: tuple[int, ...]
    constants: tuple[object, ...]
    shape: tuple[int, ...]
    dtype: str
    is_ufunc: bool
    is_weak: bool = False
    over: int | None = None


@dataclass(frozen=True, slots=True)
class AlongAxes:
    """A function along axes, which stay: softmax, cumsum, sort; `over` says that it may work in place."""

    function: str
    source: int
    axes: tuple[int, ...]
    keeps_dtype: bool
    over: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One function inside a block: arguments are sources of the block, then earlier steps, or constants."""

    call: str
    arguments: tuple[int | None, ...]
    constants: tuple[Number | None, ...]
    dtype: str
    is_ufunc: bool


def takes_out(one: Pointwise | Step) -> bool:
    """Whether a function can be told where to write its result."""
    return one.is_ufunc and one.call not in NEVER_INTO


@dataclass(frozen=True, slots=True)
class Fused:
    """Pointwise functions, and a reduction of the product of some of their values, block by block.

    The sources have all axes of `shape`, with size 1 where they do not vary; a block is `tiles` large.
    `factors` are numbers of sources and steps, several only under a sum; `reduced` are the axes that go away;
    `over` is a source whose memory the result takes over.
    """

    sources: tuple[int, ...]
    shape: tuple[int, ...]
    tiles: tuple[int, ...]
    steps: tuple[Step, ...]
    factors: tuple[int, ...]
    reducer: str | None
    reduced: tuple[int, ...]
    dtype: str
    over: int | None = None
