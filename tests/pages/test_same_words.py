"""The table "The same word in several libraries" of docs/name-rules.md: every cell is what its library gives.

PyTorch's column is also checked without PyTorch, by what was recorded of it (tests/conformance): where a
NamedTensor is to agree with it, it does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from conformance.recording import entries
from conformance.replay import contracts_other_names, of_integers
from pages import documents

NUMBERS = np.array([1.0, 2.0, 3.0, 6.0])
SQUARE, ROW = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([10.0, 20.0])
LIBRARIES = ("NumPy", "PyTorch", "xarray", "`NamedTensor`", "expressions, formulas")


def table() -> dict[tuple[str, str], str]:
    """Return the cells of the table by their rows and columns."""
    part = documents.read("docs/name-rules.md").partition("## The same word in several libraries")[2]
    lines = [line for line in part.partition("\n## ")[0].splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return {(row[0], column): cell for row in rows for column, cell in zip(head[1:], row[1:], strict=True)}


def tensor_of(library: str, array: np.ndarray[Any, Any], names: str) -> Any:
    match library:
        case "NumPy":
            return array
        case "PyTorch":
            return pytest.importorskip("torch").tensor(array)
        case "xarray":
            return pytest.importorskip("xarray").DataArray(array, dims=names.split())
    return ne.tensor(array, names=names)


def spread(verb: str, library: str) -> str:
    """Return what `std` and `var` divide by."""
    x = tensor_of(library, NUMBERS, "N")
    value = ne.einsum(f"N -> : {verb}", x) if library.startswith("expr") else getattr(x, verb)()
    over = {np.round(getattr(np, verb)(NUMBERS, ddof=ddof), 9): ddof for ddof in (0, 1)}
    return f"`{float(value):.4g}`: n{' - 1' if over[np.round(float(value), 9)] else ''}"


def median(library: str) -> str:
    x = tensor_of(library, NUMBERS, "N")
    if library.startswith("expr"):
        value = ne.einsum("N -> : median", x)
    else:
        value = np.median(x) if library == "NumPy" else x.median()
    return f"`{float(value):.4g}`: {'the lower' if float(value) in NUMBERS else 'the mean'} of the middle two"


def largest(library: str) -> str:
    x = tensor_of(library, SQUARE, "A B")
    if library.startswith("expr"):
        return said_largest(ne.evaluate("y[A] = max[B](x[A B])", x=x))
    return said_largest(x.max("B" if library not in ("NumPy", "PyTorch") else 1))


def said_largest(result: Any) -> str:
    values = result[0] if hasattr(result, "indices") else result
    assert np.asarray(values).tolist() == [2, 5]
    return "values and indices" if hasattr(result, "indices") else "values"


def mean_of_integers(library: str) -> str:
    x = tensor_of(library, np.array([1, 2]), "N")
    try:
        return f"`{float(ne.einsum('N -> : mean', x) if library.startswith('expr') else x.mean()):.4g}`"
    except RuntimeError:
        return "an error"


def pairing(library: str) -> str:
    """Return how the only dim A of a row pairs with the dims A B of a square."""
    x, row = tensor_of(library, SQUARE, "A B"), tensor_of(library, ROW, "A")
    if library.startswith("expr"):
        return said_pairing(ne.evaluate("y[A B] = x[A B] - row[A]", x=x, row=row))
    if library != "`NamedTensor`":
        return said_pairing(x - row)
    with pytest.raises(ne.DimNameError):
        x - row
    assert said_pairing(x - row.rename(None)) == "by position"
    return f"by position, names checked; `x.by_name`: {said_pairing(x.by_name - row)}"


def said_pairing(result: Any) -> str:
    ways = {"by position": SQUARE - ROW, "by name": SQUARE - ROW[:, None]}
    return next(word for word, wanted in ways.items() if np.array_equal(np.asarray(result), wanted))


def product(library: str) -> str:
    """Return what `@` sums over, of two squares with the dims A B."""
    x = tensor_of(library, SQUARE, "A B")
    if library.startswith("expr"):
        with pytest.raises(ne.NameExprError, match="@"):
            ne.evaluate("y = x[A B] @ x[A B]", x=x)
        return "an error: write the sum"
    if library != "`NamedTensor`":
        return said_product(x @ x)
    with pytest.raises(ne.DimNameError):
        x @ x
    assert said_product(x @ x.rename("B", "C")) == "the last and the second-to-last dim"
    return f"the last and the second-to-last dim, names checked; `x.by_name`: {said_product(x.by_name @ x)}"


def said_product(result: Any) -> str:
    ways = {
        "the last and the second-to-last dim": SQUARE @ SQUARE,
        "all dims of the same name": (SQUARE**2).sum(),
    }
    return next(word for word, wanted in ways.items() if np.array_equal(np.asarray(result), wanted))


ROWS: dict[str, Callable[[str], str]] = {
    "`std` of 1, 2, 3, 6": lambda library: spread("std", library),
    "`var` of 1, 2, 3, 6": lambda library: spread("var", library),
    "`median` of 1, 2, 3, 6": median,
    "`max` along a dim": largest,
    "`mean` of the integers 1, 2": mean_of_integers,
    "`x - y`: how dims pair": pairing,
    "`x @ y`: which dims are summed over": product,
}


def test_the_table_has_these_cells() -> None:
    assert list(table()) == [(row, library) for row in ROWS for library in LIBRARIES]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("row", ROWS)
def test_a_cell_is_what_its_library_gives(row: str, library: str) -> None:
    assert table()[row, library] == ROWS[row](library)


@pytest.mark.parametrize("row", list(ROWS)[:4])
def test_pytorchs_cells_are_those_of_the_recorded_answers(row: str) -> None:
    """The replay compares these operators of NamedTensor with PyTorch's answers, so their cells are equal."""
    assert table()[row, "PyTorch"] == table()[row, "`NamedTensor`"]
    verb = re.findall(r"\w+", row)[0]
    assert verb == "max" or any(entry["case"]["op"] == verb for entry in entries())


def test_what_pytorch_refuses_and_contracts_is_recorded() -> None:
    assert table()["`mean` of the integers 1, 2", "PyTorch"] == "an error"
    assert any(of_integers(entry) and entry["case"]["op"] == "mean" for entry in entries())
    assert any(contracts_other_names(entry) for entry in entries())
