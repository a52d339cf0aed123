"""The tables of docs/formulas.md, made from the functions.

`python -m pages.formulas_page`, run in tests/, writes them.

A table stands between two comments in the page. Calls and meanings come from `nameexpr.ops`,
the dtypes from what the compiler is told of NumPy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nameexpr.backends.numpy.codegen.statements import callee_of
from nameexpr.backends.numpy.promotion import ARITHMETIC
from nameexpr.ops import ALONG, POINTWISE, REDUCTIONS
from pages import documents

PAGE = documents.ROOT / "docs" / "formulas.md"
DTYPES = ("int64", "float32", "complex64")


def gives(dtype_of: Callable[[str], str]) -> list[str]:
    """Return for each of DTYPES the dtype of the result, - where it is rejected."""
    found = []
    for dtype in DTYPES:
        try:
            found.append(dtype_of(dtype))
        except TypeError:
            found.append("-")
    return found


def table(title: str, rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table whose last columns are dtypes."""
    head = [*title.split("; "), *(f"for {dtype}" for dtype in DTYPES)]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def pointwise() -> str:
    """Return the table of pointwise functions."""
    rows = []
    for one in POINTWISE.values():
        what = one.doc if one.form.startswith("kernel") else f"{one.doc}: `{callee_of(one.kernel)}`"
        kinds = gives(lambda dtype, one=one: ARITHMETIC.dtype_of(one.kernel, (dtype,) * one.arity))
        rows.append([f"`{one.usage}`", what, *kinds])
    return table("function; result", rows)


def reductions() -> str:
    """Return the table of reductions."""
    rows = []
    for name, one in REDUCTIONS.items():
        kinds = gives(lambda dtype, name=name: ARITHMETIC.reduced(name, (dtype,)))
        kinds[2] = "-" if name == "logsumexp" else kinds[2]
        rows.append([f"`{name}[C H](x)`", one.doc, *kinds])
    return table("reduction; result", rows)


def along() -> str:
    """Return the table of functions along dims."""
    rows = []
    for name, one in ALONG.items():
        kinds = gives(lambda dtype, name=name: ARITHMETIC.dtype_of(name, (dtype,)))
        dims = "C" if one.kind == "along one" else "C H"
        rows.append([f"`{name}[{dims}](x)`", one.doc, *kinds])
    return table("function; result", rows)


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
