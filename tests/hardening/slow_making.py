"""What makes texts that take long: expressions of many terms, formulas of many statements, mistakes by the
thousand. `hardening.slow_texts` is the table of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

ONE, TWO = np.ones(1), np.ones(2)
MOST_OWN = 20
"""Labels of a term up to which each has an array of its own."""


@dataclass(frozen=True)
class Slow:
    """A text with its operands: by position for an expression, by name for a formula."""

    text: str
    operands: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


Make = Callable[[int], Slow]
"""What makes a text of a size: operands, statements, labels, whatever it grows by."""


def words(count: int, stem: str = "d") -> str:
    """Return labels, one after the other."""
    return " ".join(f"{stem}{number}" for number in range(count))


def ones(dims: int, size: int = 1) -> np.ndarray[Any, Any]:
    """Return an array of ones with as many dims, all of them views of one cell."""
    return np.broadcast_to(np.ones(()), (size,) * dims)


def network(count: int, each: int, labels: int, size: int = 1, end: str = "-> : sum") -> Slow:
    """Return terms of labels that are drawn from some, each with an array of its own."""
    rng = random.Random(count)
    names = words(labels).split()
    terms = [" ".join(rng.sample(names, each)) for _ in range(count)]
    arrays = [ones(each, size).copy() if each <= MOST_OWN else ones(each, size) for _ in terms]
    return Slow(f"{', '.join(terms)} {end}", tuple(arrays))


def alike(term: str, end: str, array: Any) -> Make:
    """Return what makes an expression of the same array in every term, `#` of which is the term's number."""

    def make(count: int) -> Slow:
        terms = ", ".join(term.replace("#", str(k)).replace("@", str(k + 1)) for k in range(count))
        return Slow(f"{terms} {end.replace('@', str(count))}", (array,) * count)

    return make


def apart(term: str, end: str, array: Any) -> Make:
    """Return what `alike` does, with an array of its own for each term."""

    def make(count: int) -> Slow:
        same = alike(term, end, array)(count)
        return Slow(same.text, tuple(np.array(one) for one in same.operands))

    return make


def statements(first: str, each: str, last: str = "", **named: Any) -> Make:
    """Return what makes a formula of statements: `#` is the number of one, `<` of the one before."""

    def make(count: int) -> Slow:
        lines = [each.replace("<", str(k - 1)).replace("#", str(k)) for k in range(1, count)]
        end = [last.replace("#", str(count - 1))] if last else []
        return Slow(";".join([first, *lines, *end]), named=named or {"x": np.full(3, 0.1)})

    return make


def nested(before: str, inner: str, after: str, **named: Any) -> Make:
    """Return what makes a formula that nests calls."""
    return lambda depth: Slow(before * depth + inner + after * depth, named=named or {"x": np.full(3, 0.1)})


def run(joined: str, part: str = "x[i]", wrap: str = "", **named: Any) -> Make:
    """Return what makes a formula of one operator, again and again; `#` is the number of a part."""

    def make(count: int) -> Slow:
        text = joined.join(part.replace("#", str(k)) for k in range(count))
        return Slow(f"{wrap}({text})" if wrap else text, named=named or {"x": np.full(3, 0.1)})

    return make


def misspelt(count: int) -> Slow:
    """Return an expression in whose result every label is a little misspelt."""
    return Slow(f"{words(count, 'label')} -> {words(count, 'labell')}", (ones(min(count, 64)),))


def misspelt_terms(count: int) -> Slow:
    terms = ", ".join(f"batch{k}" for k in range(count))
    return Slow(f"{terms} -> {words(60, 'bathc')}", (TWO,) * count)


def undetermined(count: int) -> Slow:
    return Slow(", ".join(f"(a{k} b{k})" for k in range(count)) + " -> : sum", (TWO,) * count)


def sizes(count: int) -> Slow:
    """Return an expression with a keyword for every label that it does not have."""
    return Slow("a b -> b a", (ones(2),), options={f"size{k}": 2 for k in range(count)})


def grouped(dims: int) -> Slow:
    """Return an operand of many dims, each of which is two labels, in groups that nest."""
    term = "(" * dims + " ".join(f"g{k})" for k in range(dims))
    return Slow(f"{term} -> {words(dims, 'g')}", (ONE,), options={f"g{k}": 1 for k in range(dims)})


def earlier(count: int) -> Slow:
    """Return statements that each add up all earlier ones."""
    lines = ["a0 = x[i]"]
    for k in range(1, count):
        lines.append(f"a{k} = " + " + ".join(f"a{one}" for one in range(k)))
    return Slow(";".join(lines), named={"x": np.full(3, 0.1)})


def unknown_names(count: int) -> Slow:
    return Slow(" + ".join(f"name{k}" for k in range(count)), named={f"nmae{k}": 1.0 for k in range(count)})


def outputs(count: int) -> Slow:
    made = statements("y0 = x[i]", "y# = x[i] + #")(count)
    return Slow(made.text, named=made.named, options={"outputs": tuple(f"y{k}" for k in range(count))})


def turned(count: int) -> Slow:
    """Return a sum of one operand of 64 dims, each time with its labels in another order."""
    orders = (random.Random(k).sample(words(64).split(), 64) for k in range(count))
    return Slow("+".join(f"x[{' '.join(order)}]" for order in orders), named={"x": ones(64)})


def clashing(count: int) -> Slow:
    """Return terms of the same labels, whose arrays have three sizes."""
    arrays = tuple(np.ones((k % 3 + 1,) * 3) for k in range(count))
    return Slow(", ".join(["a b c"] * count) + " ->", arrays)


def wrong_at_the_end(count: int) -> Slow:
    """Return statements on lines of their own, the last of which is none."""
    lines = [f"a{k} = x[i] + {k}" for k in range(count)]
    return Slow("\n".join([*lines, "y = )"]), named={"x": TWO})


def long_names(count: int) -> Slow:
    """Return a transposition of labels of hundreds of letters."""
    labels = [f"{'a' * 400}{k}" for k in range(count)]
    return Slow(f"{' '.join(labels)} -> {' '.join(reversed(labels))}", (ones(count),))


def twice(count: int) -> Slow:
    """Return two terms that share no label, under a reducer that needs the product of all cells."""
    return Slow(f"{words(count)}, {words(count, 'e')} -> : max", (ones(count), ones(count)))
