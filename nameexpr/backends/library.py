"""What an array library other than NumPy has to provide, so that texts run on its arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from nameexpr.compiler.ir.target import Target
from nameexpr.records import record

if TYPE_CHECKING:
    from nameexpr.backends.numpy.codegen.statements import Statement, Value
    from nameexpr.compiler.analysis.build.values import Arithmetic
    from nameexpr.compiler.ir.program import Program

Function = Callable[..., Any]


@record
class Tracing:
    """How a library compiles functions itself, by tracing them.

    Attributes
    ----------
    compiled : callable
        The compiled function for one of arrays; the text is its name in profiles.
    checked : callable
        The same for a function whose code checks values: it returns the checks with the result.
    first_wrong : callable
        The size of the dim and the number of the positions of the first check that failed, None if none did
        or if values are not known.
    state : callable
        What programs depend on except for their operands.
    is_known : callable
        Whether the values of an array are known now.
    is_unknown : callable
        Whether an exception means that a value or a size is needed that is not known while tracing.
    """

    compiled: Callable[[Function, str], Function]
    checked: Callable[[Function, str], Function]
    first_wrong: Callable[[Any], tuple[int, int] | None]
    state: Callable[[], Any]
    is_known: Callable[[Any], bool]
    is_unknown: Callable[[Exception], bool]


@record
class Library:
    """An array library, as data and functions. Dtypes are the library's own objects, or names as the compiler
    has them ("float32").

    Attributes
    ----------
    name : str
        The name that users import.
    target : Target
        What the compiler may use.
    arithmetic : Arithmetic
        The promotion of formulas.
    dtype_name : callable
        The name of a dtype of the library; "" for one that is only moved.
    product_dtype : callable
        The name of the dtype of a product of operands (arrays and Python numbers); None if there is none.
    statements : callable
        The statements of a program, from the program, the shapes of its values, and the names of the dtypes
        of its operands.
    resolve : callable
        The function for a module and a name in these statements.
    guard : callable
        The condition that data in a variable is like an array: from the name of the variable, the array, a
        suffix for the names of constants, the constants to add to, and whether the shape has to match.
    from_number : callable
        An array without dims from a number, the name of its dtype, and an array on whose device it is.
    as_array : callable
        The array for an operand: NumPy arrays where the library takes them, subclasses as they are.
    finish : callable
        The function that is called, from the one that was generated, and the text.
    fault : callable
        The reason, in one line, for an exception of the library; the exception itself if it is not an error
        of the operands, and None to re-raise it.
    dtype_of : callable
        The dtype of an array, which also determines how it is promoted.
    as_numpy : callable
        The NumPy array of an array, for errors that show elements.
    copy_into : callable or None
        Writes a result into an array of `out=`; None if arrays are never written to.
    copied : callable
        An array that does not change when another one is written to: the array itself if none ever is.
    imports : mapping
        The line that imports each module of the statements, in source for users; the first is always there.
    out_fault : callable
        The reason why a result cannot be written into an array of `out=`, and a hint; None if it can.
    is_foldable : callable
        Whether values computed from an array that is bound may be kept.
    kind_of : callable
        What a function for an array depends on, other than its class, dtype and shape.
    checks_devices : bool
        Whether the library rejects arrays on different devices itself.
    is_kept : callable
        Whether the function for an array like this is kept as that of the latest call: not for an array
        without values, of which there are some while a function is traced.
    view_of : callable
        The code of an operand that is a result, from its name: another array that shares its memory.
    explicit : callable
        The program that the statements are of, from a program and the names of the dtypes of its operands.
    size_hint : callable
        A likely value of a size that is not an int, because a function is being traced.
    tracing : Tracing or None
        How the library compiles functions; None if it runs their statements.
    now : callable
        A context manager in which values that are kept are computed: not traced with the caller, and fit for
        any use.
    """

    name: str
    target: Target
    arithmetic: Arithmetic
    dtype_name: Callable[[Any], str]
    product_dtype: Callable[[Sequence[Any]], str | None]
    statements: Callable[[Program, Sequence[tuple[int, ...]], Sequence[str]], list[Statement]]
    resolve: Callable[[str, str], Any]
    guard: Callable[[str, Any, str, dict[str, Any], bool], str]
    from_number: Callable[[Any, str, Any], Any]
    as_array: Callable[[Any, Any], Any]
    finish: Callable[[Function, str], Function]
    fault: Callable[[Exception], str | None]
    dtype_of: Callable[[Any], Any] = attrgetter("dtype")
    as_numpy: Callable[[Any], Any] = np.asarray
    copy_into: Callable[[Any, Any], None] | None = None
    copied: Callable[[Any], Any] = lambda array: array
    imports: Mapping[str, str] = MappingProxyType({})
    out_fault: Callable[[Any, Any], tuple[str, str] | None] = lambda out, result: None
    is_foldable: Callable[[Any], bool] = lambda array: True
    kind_of: Callable[[Any], Any] = type
    checks_devices: bool = True
    is_kept: Callable[[Any], bool] = lambda array: True
    explicit: Callable[[Program, Sequence[str]], Program] = lambda program, dtypes: program
    view_of: Callable[[str], Value] = str
    size_hint: Callable[[Any], int] = int
    tracing: Tracing | None = None
    now: Callable[[], AbstractContextManager[Any]] = nullcontext
