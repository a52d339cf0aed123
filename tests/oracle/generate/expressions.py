"""Random expressions that are valid by construction, with operands for them.

>>> case = seeded_case(7)
>>> result = case.run(reference.einsum)  # doctest: +SKIP

`random_case` draws a case from a `random.Random`; `cases` is the same as a hypothesis strategy over seeds, so
that a failure prints the seed; `same` compares two results; `mutate_text` breaks a text.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracle.generate.arrays import Values, random_array, random_dtypes, random_scalar
from oracle.generate.operands import Costs, costs, draft_left_out, operand_dims
from oracle.generate.several import draw_several
from oracle.generate.terms import Draft, draft_expression, labels_of
from oracle.generate.text import mutate_text, print_text
from oracle.reference.expressions import Named, Refused, einsum
from oracle.reference.text import REDUCERS

__all__ = ["Case", "cases", "mutate_text", "random_case", "same", "seeded_case"]

EXTREMES = {"max", "min", "argmax", "argmin"}
FLOATING = {"mean", "var", "std", "median", "norm", "logsumexp"}
OPTIONS = {*("sizes reduce dtype optimize text out backend memory cache names self".split())}  # noqa: SIM905
LIMIT = 4000


def weighted(array: np.ndarray[Any, Any], axis: int) -> Any:
    """A reducer that tells the order of the merged axis: the sum of each element times its position."""
    with np.errstate(all="ignore"):
        return np.moveaxis(array, axis, -1) @ np.arange(array.shape[axis])


def last(array: np.ndarray[Any, Any], axis: int) -> Any:
    """A reducer that picks the last element."""
    return np.take(array, -1, axis)


@dataclass(frozen=True)
class Case:
    """One expression with all that is passed to it.

    Attributes
    ----------
    text
        The expression.
    operands
        Arrays, Python numbers, and `Named` ones.
    sizes, keywords
        Sizes, to be passed as ``sizes=`` and as keywords.
    reduce, dtype
        Options, None where they are not given.
    cells
        How many numbers are multiplied or added for one cell of the result, about: for the bound in `same`.
    scale
        No intermediate value is larger, but where an integer is large.
    special
        Whether an operand holds NaN or infinities: NumPy may then warn of invalid values.
    seed
        What `seeded_case` made the case from, if it did.
    """

    text: str
    operands: tuple[Any, ...]
    sizes: dict[str, int] = field(default_factory=dict)
    keywords: dict[str, int] = field(default_factory=dict)
    reduce: str | Callable[..., Any] | None = None
    dtype: str | None = None
    cells: int = 1
    scale: float = 1.0
    special: bool = False
    seed: int | None = None

    def run(self, function: Callable[..., Any], wrap: Callable[[Named], Any] = lambda named: named) -> Any:
        """Call a function as `einsum` is called; `wrap` turns a `Named` into the function's own kind."""
        operands = [wrap(operand) if isinstance(operand, Named) else operand for operand in self.operands]
        options = {"sizes": self.sizes, "reduce": self.reduce, "dtype": self.dtype}
        given = {word: value for word, value in options.items() if value not in (None, {})}
        return function(self.text, *operands, **given, **self.keywords)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A hypothesis strategy of cases, by seed."""
    return seeded_case(draw(st.integers(0, 2**32 - 1)))


def seeded_case(seed: int) -> Case:
    """The case of a seed."""
    return random_case(random.Random(seed), seed)


def random_case(rng: random.Random, seed: int | None = None) -> Case:
    """A valid case of at most `LIMIT` loop cells."""
    while rng.random() < 0.06:
        text, operands, sizes = draw_several(rng)
        case = Case(text, operands, sizes, seed=seed)
        if is_valid(case):
            return case
    while True:
        draft = draft_left_out(rng) if rng.random() < 0.12 else draft_expression(rng)
        cost = costs(draft)
        if max(cost.cells, cost.output) <= LIMIT and cost.operand <= 600:
            case = finish(draft, cost, seed)
            if case is not None and (not draft.reads or is_valid(case)):
                return case


def is_valid(case: Case) -> bool:
    """Whether a case is not rejected."""
    try:
        case.run(einsum)
    except Refused:
        return False
    return True


def finish(draft: Draft, cost: Costs, seed: int | None) -> Case | None:
    """Choose reducer, dtypes and values, and print the text; None if a Python number changes the dtypes too
    much.
    """
    rng, count = draft.rng, len(draft.inputs)
    dtypes = random_dtypes(rng, count)
    product = np.result_type(*dtypes)
    reducer = choose_reducer(draft, cost, product) if draft.reduced else None
    dtype = choose_dtype(rng, product, reducer)
    values = choose_values(draft, cost, np.dtype(dtype or product), reducer)
    operands = make_operands(draft, dtypes, values)
    if not suits_numbers(operands, product, dtype):
        return None
    in_text = isinstance(reducer, str) and draft.chance(0.75)
    inputs = [()] if draft.left_out else draft.inputs
    text = print_text(rng, inputs, draft.output, str(reducer) if in_text else None)
    keywords = {label: size for label, size in draft.keywords.items() if passable(draft, label)}
    sizes = {label: size for label, size in draft.keywords.items() if label not in keywords}
    return Case(
        text,
        operands,
        sizes,
        keywords,
        None if in_text else reducer,
        dtype,
        cost.dropped * (count + 1),
        scale_of(reducer, values, cost, count),
        values.special,
        seed,
    )


def passable(draft: Draft, label: str) -> bool:
    """Whether this size goes as a keyword: it must be an identifier and no option."""
    return label.isidentifier() and label not in OPTIONS and draft.chance(0.6)


def choose_reducer(draft: Draft, cost: Costs, product: np.dtype[Any]) -> str | Callable[..., Any]:
    """A reducer that is defined for the dtype and for the number of elements."""
    if draft.chance(0.12):
        return draft.rng.choice([weighted, last] if cost.dropped else [weighted])
    refused = ({"logsumexp"} if product.kind == "c" else set()) | (set() if cost.dropped else EXTREMES)
    return draft.rng.choice([name for name in REDUCERS if name not in refused])


def choose_dtype(rng: random.Random, product: np.dtype[Any], reducer: Any) -> str | None:
    """Now and then a `dtype=` to which all operands may be cast."""
    if rng.random() > 0.15 or callable(reducer):
        return None
    choices = ["float16", "float32", "float64"] if product.kind in "buif" else []
    if reducer not in FLOATING:
        choices += ["complex64", "complex128"] if reducer not in EXTREMES else []
        choices += ["int64", "int32"] if product.kind in "bi" else []
    return rng.choice(choices) if choices else None


def choose_values(draft: Draft, cost: Costs, product: np.dtype[Any], reducer: Any) -> Values:
    """Numbers that neither overflow nor make the answer depend on the order of the sums."""
    count, top = len(draft.inputs), 4
    if reducer == "prod" and product.kind in "fc":
        return Values(top=1, unit=True, zeros=draft.chance(0.5))
    while top > 1 and product == np.float16 and half_bound(reducer, top, cost, count) > 2000:
        top -= 1
    simple = reducer in (None, "sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "count_nonzero")
    return Values(
        top=top,
        special=product.kind == "f" and draft.chance(0.25) and keeps_order(draft),
        extreme=simple and product.kind in "iu" and draft.chance(0.05),
    )


def half_bound(reducer: Any, top: int, cost: Costs, count: int) -> float:
    """A bound on the result of a case in float16."""
    largest = float(top**count)
    return max(largest * largest if reducer == "var" else largest, largest * max(cost.dropped, 1) / 30)


def keeps_order(draft: Draft) -> bool:
    """Whether no way to order the sums can turn an infinity into a NaN: see docs on NaN in sums of
    products.
    """
    kept = set(labels_of([draft.output]))
    dropped = [set(labels_of([term])) - kept for term in draft.inputs]
    if len(dropped) == 1:
        return True
    return not draft.reduced and (not any(dropped) or (len(dropped) == 2 and dropped[0] == dropped[1]))


def scale_of(reducer: Any, values: Values, cost: Costs, count: int) -> float:
    """A bound on the magnitude of a sum of products, squared where the reducer squares."""
    largest = float((1.0 if values.unit else 1.5 * values.top) ** count * max(cost.dropped, 1))
    if callable(reducer):
        return largest * max(cost.dropped, 1)
    return largest**2 if reducer in ("var", "std", "norm") else largest


def make_operands(draft: Draft, dtypes: list[str], values: Values) -> tuple[Any, ...]:
    """Arrays for the input terms, some of them with names."""
    rng, dims = draft.rng, operand_dims(draft)
    named = [draft.named and rng.random() < 0.75 for _ in dims]
    if draft.left_out:
        named = [bool(shape) or one for shape, one in zip(dims, named, strict=True)]
    if draft.named and not any(named):
        named[rng.randrange(len(named))] = True
    found: list[Any] = []
    for shape, dtype, one in zip(dims, dtypes, named, strict=True):
        sizes = [size for size, _ in shape]
        if one:
            names = tuple(name if must_name(draft, name) or draft.chance(0.7) else None for _, name in shape)
            found.append(Named(random_array(rng, sizes, dtype, values), names))
        elif sizes:
            found.append(random_array(rng, sizes, dtype, values))
        else:
            found.append(random_scalar(rng, dtype, values))
    return tuple(found)


def suits_numbers(operands: tuple[Any, ...], product: np.dtype[Any], dtype: str | None) -> bool:
    """Whether the Python numbers among the operands fit the dtype that the others give them."""
    arrays = [operand.array if isinstance(operand, Named) else operand for operand in operands]
    actual = np.dtype(dtype) if dtype else np.result_type(*arrays)
    whole = [number for number in arrays if type(number) is int]
    if actual.kind in "iu" and any(
        not np.iinfo(actual).min <= number <= np.iinfo(actual).max for number in whole
    ):
        return False
    return dtype is not None or (actual == np.float16) == (product == np.float16)


def must_name(draft: Draft, name: str | None) -> bool:
    """Whether a dim of a left-out input needs its name: all that `...` does not hide."""
    return draft.left_out and name in set(labels_of(draft.inputs))


def same(actual: Any, expected: Any, case: Case | None = None) -> bool:
    """Whether two results agree in names, shape, dtype and values.

    Bools and integers agree exactly, NaN with NaN, infinities with their like. Of other numbers the
    difference is at most ``eps * (terms * |expected| + 2 * (cells + 8) * scale_eps)``: one rounding for each
    operand in the result's dtype, and one for each of the case's `cells` at its `scale` in the dtype that is
    summed in (float32 for float16, else the result's).
    """
    if isinstance(expected, tuple):
        several = isinstance(actual, tuple) and len(actual) == len(expected)
        return several and all(same(*pair, case) for pair in zip(actual, expected, strict=True))
    if names_of(actual) != names_of(expected):
        return False
    left, right = array_of(actual), array_of(expected)
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if left.dtype.kind not in "fc":
        return bool(np.array_equal(left, right))
    terms = 8 + (len(case.operands) if case else 0)
    cells, scale = (case.cells, case.scale) if case else (1, 1.0)
    eps = float(np.finfo(left.dtype).eps)
    summed_eps = float(np.finfo(np.float32).eps) if left.dtype == np.float16 else eps
    wide = complex if left.dtype.kind == "c" else float
    with np.errstate(all="ignore"):
        got, want = left.astype(wide), right.astype(wide)
        close = np.abs(got - want) <= eps * terms * np.abs(want) + 2 * summed_eps * (cells + 8) * scale
        return bool(np.all(close & np.isfinite(want) | (got == want) | (np.isnan(got) & np.isnan(want))))


def names_of(result: Any) -> tuple[str | None, ...] | None:
    """The names of a result, None of a plain array."""
    return getattr(result, "names", None)


def array_of(result: Any) -> np.ndarray[Any, Any]:
    """The array of a result, named or not; of several results the first."""
    result = result[0] if isinstance(result, tuple) else result
    return np.asarray(result.array if isinstance(result, Named) else result)
