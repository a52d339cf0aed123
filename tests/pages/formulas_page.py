"""The tables of docs/formulas.md, made from the functions.

`python -m pages.formulas_page`, run in tests/, writes them.

A table stands between two comments in the page. The calls come from `nameexpr.compiler.lowering.functions`,
the dtypes from what the compiler is told of NumPy, and the meaning of what NumPy lacks from the docstrings of
the kernels.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence

from nameexpr.backends.numpy import formulas
from nameexpr.compiler.lowering.functions import ALONG, ALONG_ONE, POINTWISE, REDUCTIONS
from nameexpr.runtime.promotion import NumPyArithmetic
from pages import documents

PAGE = documents.ROOT / "docs" / "formulas.md"
DTYPES = ("int64", "float32", "complex64")
ARGUMENTS = {1: "x", 2: "x, y", "where": "condition, x, y", "clip": "x, low, high"}
REDUCED = {
    "sum": "the sum; of a product, a contraction",
    "mean": "the mean",
    "prod": "the product",
    "max": "the largest, nan if there is one",
    "min": "the smallest, nan if there is one",
    "any": "whether any is true",
    "all": "whether all are true",
    "var": "the mean squared distance from the mean",
    "std": "the square root of that",
    "median": "the middle one, of an even number the mean of two",
    "logsumexp": "the logarithm of the sum of exponentials, without overflow",
    "norm": "the square root of the sum of squared magnitudes",
    "argmax": "where the largest is, the first one",
    "argmin": "where the smallest is, the first one",
    "count_nonzero": "how many are not zero",
}


def gives(dtype_of: Callable[[str], str]) -> list[str]:
    """Return for each of DTYPES the dtype of the result, - where it is refused."""
    found = []
    for dtype in DTYPES:
        try:
            found.append(dtype_of(dtype))
        except TypeError:
            found.append("-")
    return found


def table(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table whose last columns are dtypes."""
    head = [*title.split("; "), *(f"of {dtype}" for dtype in DTYPES)]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def summary(name: str) -> str:
    """Return what a kernel returns, from its docstring."""
    text = (inspect.getdoc(getattr(formulas, name)) or "").split("\n\n")[0]
    return " ".join(text.split()).removeprefix("Return ").rstrip(".")


def pointwise() -> str:
    """Return the table of pointwise functions."""
    arithmetic = NumPyArithmetic()
    rows = []
    for name, one in POINTWISE.items():
        arguments = ARGUMENTS.get(name) or ARGUMENTS[one.arity]
        what = f"`{one.call}`" if one.call.startswith("np.") else summary(name)
        kinds = gives(lambda dtype, one=one: arithmetic.dtype_of(one.call, (dtype,) * one.arity))
        rows.append([f"`{name}({arguments})`", what, *kinds])
    return table("function; is", rows)


def reductions() -> str:
    """Return the table of reductions."""
    arithmetic = NumPyArithmetic()
    rows = []
    for name in REDUCTIONS:
        kinds = gives(lambda dtype, name=name: arithmetic.reduced(name, (dtype,)))
        kinds[2] = "-" if name == "logsumexp" else kinds[2]
        rows.append([f"`{name}[C H](x)`", REDUCED[name], *kinds])
    return table("reduction; gives", rows)


def along() -> str:
    """Return the table of functions along dims."""
    arithmetic = NumPyArithmetic()
    rows = []
    for name in ALONG:
        dims = "C" if name in ALONG_ONE else "C H"
        kinds = gives(lambda dtype, name=name: arithmetic.dtype_of(f"formulas.{name}", (dtype,)))
        rows.append([f"`{name}[{dims}](x)`", summary(name), *kinds])
    return table("function; gives", rows)


TABLES = {"pointwise": pointwise, "reductions": reductions, "along": along}


def page(text: str) -> str:
    """Return the text of the page with its tables as they are now."""
    for name, make in TABLES.items():
        pattern = rf"(?s)(<!-- {name} -->\n).*?(<!-- end -->)"
        text, count = re.subn(pattern, lambda m, make=make: f"{m[1]}{make()}\n{m[2]}", text)
        assert count == 1, name
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
