"""What a task runs: a piece of a text, compiled for its blocks by the process that computes them.

A program is pickled as its piece. A worker compiles it once for each combination of shapes, and keeps it for
all tasks of the step.
"""

from __future__ import annotations

import hashlib
import pickle
import zlib
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from nameexpr.backends.dask.partials import position_in_all
from nameexpr.backends.dask.pieces import Subgraph
from nameexpr.backends.dask.steps import BlockStep, chunks_of, largest_blocks
from nameexpr.backends.numpy.arrays import NUMBERS
from nameexpr.backends.numpy.codegen.function import bound_statements, function_code
from nameexpr.backends.numpy.reading import PositionError
from nameexpr.backends.numpy.target import current_target
from nameexpr.compiler.compilation import Compilation, Options
from nameexpr.compiler.ir.dtypes import ITEM_BYTES, strong
from nameexpr.compiler.lowering.builder import Operands
from nameexpr.compiler.memory.program import peak_bytes
from nameexpr.compiler.pipeline import compile_graph, read_formula
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.records import record
from nameexpr.runtime.cache import Generations
from nameexpr.runtime.operands import layout_of
from nameexpr.runtime.specialise import function_of
from nameexpr.syntax.parser.expression import parse

Function = Callable[..., Any]
KEPT = 64
"""The number of programs that a process keeps, and of the functions of each."""
SPLIT_EVERY = 4
"""The number of contributions that a task of Dask's trees combines, if one dim is reduced."""


@record
class Task:
    """A piece with what it takes to compile it; `dtypes` are those of its blocks, None for numbers, and
    `finish` is how its outputs form one block, for a reduction over `labels` of these sizes.
    """

    text: str
    is_formula: bool
    piece: Subgraph
    dtypes: tuple[Any, ...]
    optimize: Any = None
    is_row_major: bool = False
    finish: str = ""
    labels: tuple[tuple[str, int], ...] = ()


class BlockProgram:
    """A function of blocks. It is pickled as its task, and found again by its digest."""

    __slots__ = ("_functions", "_packed", "digest", "reduce", "task")

    def __init__(self, packed: bytes, reduce: Function | None = None) -> None:
        self.task: Task = pickle.loads(zlib.decompress(packed))  # noqa: S301  our own
        self.reduce = reduce
        self._packed = packed
        self.digest = hashlib.sha256(packed).hexdigest()
        self._functions: Generations[Any, Function] = Generations(KEPT)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return load, (self._packed, self.reduce)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return (self.digest, self.reduce)

    def __call__(self, *blocks: Any) -> Any:
        """Return the block of the result, or its contributions to one."""
        arrays = [_block(block) for block in blocks]
        keys = tuple([_key(array) for array in arrays])
        function = self._functions.get_or_make(keys, lambda: self._function(arrays))
        result = function(*arrays)
        return _finished(self.task, arrays, result)

    def compiled(self, shapes: Sequence[tuple[int, ...]], layouts: Sequence[Any]) -> Compilation[Any]:
        """Return the piece compiled for blocks of these shapes."""
        task, piece = self.task, self.task.piece
        tree: Any = read_formula(task.text) if task.is_formula else parse(task.text)  # checked before
        operands = Operands(tuple(shapes), piece.input_dtypes, tuple(layouts))
        options = Options(current_target(), task.optimize, is_row_major=task.is_row_major)
        return compile_graph(tree, piece.graph(shapes), piece.outputs, operands, options)

    def peak(self, shapes: Sequence[tuple[int, ...]]) -> int:
        """Return the predicted peak memory of a task for blocks of these shapes, which are included."""
        compiled = self.compiled(shapes, [None] * len(shapes))
        given = sum([prod(shape) * item for shape, item in zip(shapes, self._items, strict=True)])
        return given + peak_bytes(compiled.program, compiled.shapes, compiled.given)

    @property
    def _items(self) -> list[int]:
        return [ITEM_BYTES.get(strong(dtype), 8) for dtype in self.task.piece.input_dtypes]

    def _function(self, arrays: Sequence[Any]) -> Function:
        self._check(arrays)
        shapes = [np.shape(array) for array in arrays]
        layouts = [layout_of(array) if isinstance(array, np.ndarray) else None for array in arrays]
        compiled = self.compiled(shapes, layouts)
        constants: dict[str, Any] = {"reduce": self.reduce}
        statements = bound_statements(compiled.program, compiled.shapes, constants)
        code = function_code([False] * len(arrays), [], statements, constants)
        return function_of(code, constants, _never, self._explain)

    def _check(self, arrays: Sequence[Any]) -> None:
        """Raise an error if blocks are not what their arrays announce (NE505)."""
        for array, dtype in zip(arrays, self.task.dtypes, strict=True):
            if dtype is not None and array.dtype != dtype:
                message = f"a block has elements of dtype {array.dtype}, and its Dask array announces {dtype}"
                hint = "whatever made the array, such as map_blocks, has to be given the dtype of its blocks"
                raise error(Diagnostic("NE505", message, self.task.text, hint=hint))

    def _explain(self, fault: Exception, *_: Any) -> Exception:
        """Return the error for an exception of NumPy in a task."""
        if isinstance(fault, NameExprError | Warning | FloatingPointError):
            return fault
        text = self.task.text
        if isinstance(fault, PositionError):
            size, _ = fault.args
            hint = "positions count from 0; the last is size - 1"
            return error(
                Diagnostic("NE805", f"a position is outside of its dim of size {size}", text, hint=hint)
            )
        original = getattr(fault, "original", fault)
        message = f"a block cannot be computed: {type(original).__name__}: {original}"
        return error(Diagnostic("NE526" if self.task.is_formula else "NE505", message, text))


def task_bytes(step: BlockStep) -> int:
    """Return the predicted peak memory of the largest task of a step, what it reads included."""
    shapes = largest_blocks(step)
    peak = _peaks.get_or_make((step.kernel.digest, *shapes), lambda: step.kernel.peak(shapes))
    if not step.summed:
        return peak
    block: int = prod(map(max, chunks_of(step.axes, step.cuts, step.sizes))) * step.dtype.itemsize
    return max(peak, block * (1 + max(SPLIT_EVERY, 1 << len(step.summed))))


def program_of(task: Task, reduce: Function | None) -> BlockProgram:
    """Return the program of a task."""
    return load(zlib.compress(pickle.dumps(task, protocol=5)), reduce)


def load(packed: bytes, reduce: Function | None) -> BlockProgram:
    """Return the program of a packed task: the one that this process has compiled functions of, if there is
    one.
    """
    if reduce is not None:
        return BlockProgram(packed, reduce)
    return _programs.get_or_make(packed, lambda: BlockProgram(packed))


_programs: Generations[bytes, BlockProgram] = Generations(KEPT)
_peaks: Generations[Any, int] = Generations(16 * KEPT)


def _never(*_: Any) -> Any:
    raise AssertionError("a function without guards was called with other operands than it has")


def _block(block: Any) -> Any:
    """Return the one block in nested lists, as an array; a Python number unchanged."""
    while type(block) is list:
        (block,) = block
    return block if type(block) in NUMBERS or type(block) is np.ndarray else np.asarray(block)


def _key(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return type(array)
    return array.shape, array.dtype.str, array.strides, array.flags.aligned


def _finished(task: Task, arrays: Sequence[Any], result: Any) -> Any:
    """Return the outputs of a piece as one block."""
    if task.finish in ("var", "std"):
        sizes = task.piece.graph([np.shape(array) for array in arrays]).sizes
        mean, variance = result
        count = prod([sizes[label] for label, _ in task.labels])
        return float(count), mean, variance * count
    if task.finish in ("argmax", "argmin"):
        value, position = result
        return value, _position(task, arrays, position)
    return result


def _position(task: Task, arrays: Sequence[Any], position: Any) -> Any:
    shapes = [np.shape(array) for array in arrays]
    sizes = task.piece.graph(shapes).sizes
    last = {
        axes[0][0]: array
        for axes, array in zip(task.piece.inputs, arrays, strict=True)
        if len(axes) == 1 and axes[0]
    }
    whole = dict(task.piece.sizes)
    offsets = tuple([0 if label in whole else int(last[label][0]) for label, _ in task.labels])
    block = tuple([sizes[label] for label, _ in task.labels])
    return position_in_all(position, offsets, block, tuple([size for _, size in task.labels]))
