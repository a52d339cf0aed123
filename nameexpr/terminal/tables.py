"""Read and write arrays as CSV.

A file with one number a line has one dim, and a file with commas two, lines and columns, even if there is a
single line: the number of dims never depends on the number of lines. The rest of a line after # is a comment.
"""

from __future__ import annotations

import re
import warnings
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from nameexpr.terminal.faults import FileError, quoted, unreadable

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
Number: TypeAlias = int | float | complex
MAX_DIMS = 2
_WHOLE = re.compile(r"[\s\d,+-]*", re.ASCII)


def read_table(stream: IO[bytes], shown: str) -> Array:
    """Read the numbers of a CSV file as int64, uint64, float64 or complex128, the first that can hold them
    all (FileError if an entry is not a number, or lines differ in length).
    """
    try:
        lines = stream.read().decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as fault:
        hint = "a .csv file is text; name .npy and .npz files so"
        raise unreadable(shown, "it is not text", hint) from fault
    uncommented = enumerate((line.partition("#")[0] for line in lines), 1)
    rows = {number: line for number, line in uncommented if line.strip()}
    if not rows:
        raise unreadable(shown, "it holds no numbers", "write one line of numbers for each row")
    array = next((array for dtype in _dtypes(rows) if (array := _parsed(rows, dtype)) is not None), None)
    if array is None:
        raise _wrong(rows, shown)
    if array.dtype.kind not in "iu" and np.isinf(array).any():
        _check_finite(rows, shown)
    return array


def _check_finite(rows: dict[int, str], shown: str) -> None:
    """Reject digits that exceed float64, which NumPy reads as inf."""
    for number, line in rows.items():
        for column, cell in enumerate(line.split(","), 1):
            if "inf" not in cell.casefold() and np.isinf(complex(cell)):
                what = f"line {number}, column {column}: no float64 holds {quoted(cell.strip())}"
                raise unreadable(shown, what, "float64 ends at 1.8e308; write inf if that is meant")


def _dtypes(rows: dict[int, str]) -> tuple[type[np.generic], ...]:
    if all(_WHOLE.fullmatch(line) for line in rows.values()):
        return np.int64, np.uint64, np.float64
    return (np.complex128,) if any("j" in line for line in rows.values()) else (np.float64,)


def _parsed(rows: dict[int, str], dtype: type[np.generic]) -> Array | None:
    ndmin: Literal[1, 2] = 2 if any("," in line for line in rows.values()) else 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # some releases of NumPy read 1e30 as an int, with a warning
        try:
            lines = list(rows.values())
            array: Array = np.loadtxt(lines, np.dtype(dtype), delimiter=",", comments=None, ndmin=ndmin)
        except (ValueError, OverflowError, Warning):
            return None
    return array


def _wrong(rows: dict[int, str], shown: str) -> FileError:
    """Describe the first error, and its position."""
    width = None
    for number, line in rows.items():
        cells = [cell.strip() for cell in line.split(",")]
        for column, cell in enumerate(cells, 1):
            if as_number(cell) is None:
                what = f"{quoted(cell)} is not a number" if cell else "there is no number"
                is_head = number == min(rows)
                hint = "a line of column names begins with #" if is_head else "a .csv holds numbers only"
                return unreadable(shown, f"line {number}, column {column}: {what}", hint)
        width = width or len(cells)
        if len(cells) != width:
            message = f"line {number} has {len(cells)} numbers, and the lines before it {width}"
            return unreadable(shown, message, "make the lines equally long")
    return unreadable(shown, "NumPy cannot read these numbers", "write them as 1, 2.5 or 1e-3")


def as_number(text: str) -> Number | None:
    """Parse a number; None for other texts.

    >>> as_number("2"), as_number("2.5"), as_number("1+2j"), as_number("two")
    (2, 2.5, (1+2j), None)
    """
    kinds: tuple[type[Number], ...] = (int, float, complex)
    for kind in kinds:
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def write_table(stream: IO[bytes], array: Array) -> None:
    """Write an array of at most two dims, each number in the fewest digits that restore it."""
    numbers = array.astype(np.int8) if array.dtype == bool else array
    np.savetxt(stream, np.atleast_1d(numbers).astype(str), fmt="%s", delimiter=",", encoding="utf-8")
