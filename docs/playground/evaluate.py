"""The values of a graph, element by element, without NumPy: how the playground computes.

It follows the meaning of each node (`nameexpr.compiler.ir.nodes`) and nothing else, so that it is slow, and
easy to check.
"""

import math
from cmath import isnan
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from nameexpr.compiler.ir import nodes
from nameexpr.compiler.ir.axes import Axes, Labels
from nameexpr.compiler.ir.graph import Graph
from nameexpr.ops import FUNCTIONS
from playground.numbers_of import INF, NAN, called, cast, larger

MOST = 200_000
"""The number of elements, and terms of sums, that are computed before the playground gives up."""
Index = Mapping[str, int]


class TooLargeError(Exception):
    """More elements than a browser computes while somebody waits."""


class PositionError(Exception):
    """A position outside of the dim that is read."""


class Evaluation:
    """The elements of values, each computed once. `operands` are flat lists of elements by position."""

    def __init__(self, graph: Graph, operands: Sequence[Sequence[Any]]) -> None:
        self.graph, self.operands, self.done = graph, operands, 0
        self.known: dict[tuple[int, tuple[int, ...]], Any] = {}
        self.lines: dict[tuple[int, tuple[int, ...]], dict[tuple[int, ...], Any]] = {}
        self.recurrences = {one.key: one for one in graph.nodes if isinstance(one, nodes.Recurrence)}

    def array(self, value: int) -> tuple[tuple[int, ...], list[Any]]:
        """Return the shape and the elements of a value that is an array."""
        node = self.graph.nodes[value]
        assert isinstance(node, nodes.Arrange)
        shape = tuple(map(self.graph.cells, node.axes))
        dtype = self.graph.dtypes[node.value] or self.graph.dtypes[value]
        found = [self.placed(node, index) for index in product(*map(range, shape))]
        return shape, [cast(one, getattr(dtype, "strong", dtype)) if dtype else one for one in found]

    def placed(self, node: nodes.Arrange, dims: Sequence[int]) -> Any:
        """Return an element of an array; 0 where a label would have two indices."""
        index = self.split(node.axes, dims)
        return 0 if index is None else self.element(node.value, index)

    def split(self, axes: Axes, dims: Sequence[int]) -> dict[str, int] | None:
        """Return the index of each label of dims that are products of labels."""
        index: dict[str, int] = {}
        for labels, dim in zip(axes, dims, strict=True):
            for label in reversed(labels):
                dim, inner = divmod(dim, self.graph.sizes[label])
                if index.setdefault(label, inner) != inner:
                    return None
        return index

    def joined(self, labels: Labels, index: Index) -> int:
        """Return the position in a row-major product of labels."""
        at = 0
        for label in labels:
            at = at * self.graph.sizes[label] + index[label]
        return at

    def count(self) -> None:
        """Give up once too much was computed."""
        self.done += 1
        if self.done > MOST:
            raise TooLargeError

    def element(self, value: int, index: Index) -> Any:
        """Return one element of a value."""
        key = value, tuple([index[label] for label in self.graph.labels[value]])
        if key not in self.known:
            self.count()
            node = self.graph.nodes[value]
            self.known[key] = getattr(self, type(node).__name__.lower())(value, node, index)
        return self.known[key]

    def indices(self, labels: Labels) -> Iterator[dict[str, int]]:
        """Yield all indices of labels in row-major order."""
        for index in product(*[range(self.graph.sizes[label]) for label in labels]):
            yield dict(zip(labels, index, strict=True))

    def view(self, _: int, node: nodes.View, index: Index) -> Any:
        """Return an element of an operand, or of an array seen by its positions."""
        dims = [self.joined(labels, index) for labels in node.axes]
        if node.value >= 0:
            source = self.graph.nodes[node.value]
            assert isinstance(source, nodes.Arrange)
            return self.placed(source, dims)
        at = 0
        for labels, dim in zip(node.axes, dims, strict=True):
            at = at * self.graph.cells(labels) + dim
        return self.operands[node.position][at]

    def scalar(self, _: int, node: nodes.Scalar, __: Index) -> Any:
        """Return a number."""
        return nodes.number_of(node)

    def index(self, _: int, node: nodes.Index, index: Index) -> int:
        """Return the position along a label."""
        return index[node.label]

    def filled(self, _: int, node: nodes.Filled, __: Index) -> float:
        """Return the number along some labels."""
        return node.value

    def identity(self, _: int, node: nodes.Identity, index: Index) -> Any:
        """Return an element as it is."""
        return self.element(node.value, index)

    def drop(self, _: int, node: nodes.Drop, index: Index) -> Any:
        """Return an element of a value whose dims of size 1 are left out."""
        return self.element(node.value, {**index, **dict.fromkeys(node.labels, 0)})

    def arrange(self, _: int, node: nodes.Arrange, index: Index) -> Any:
        """Return an element by its labels."""
        return self.element(node.value, index)

    def map(self, value: int, node: nodes.Map, index: Index) -> Any:
        """Return a function of elements."""
        numbers = [self.element(argument, index) for argument in node.arguments]
        if node.function == nodes.CAST:
            return cast(numbers[0], node.dtype)
        return called(FUNCTIONS[node.function].kernel, numbers, self.graph.dtypes[value])

    def reduction(self, value: int, node: nodes.Reduction, index: Index) -> Any:
        """Return a product of elements, reduced over labels."""
        terms = []
        for inner in self.indices(node.labels):
            self.count()
            whole = {**index, **inner}
            term = math.prod([self.element(factor, whole) for factor in node.factors])
            if node.compute == "bool":
                term = bool(term)
            terms.append(term)
        if not node.labels and node.reducer is None:
            return terms[0]
        return REDUCERS[node.reducer or "sum"](terms)

    def along(self, value: int, node: nodes.Along, index: Index) -> Any:
        """Return an element of a function along labels, all of which are computed together."""
        outer = tuple([index[label] for label in self.graph.labels[value] if label not in node.labels])
        if (value, outer) not in self.lines:
            places = list(self.indices(node.labels))
            line = ALONG[node.function]([self.element(node.value, {**index, **at}) for at in places])
            keys = [tuple(at.values()) for at in places]
            self.lines[value, outer] = dict(zip(keys, line, strict=True))
        return self.lines[value, outer][tuple([index[label] for label in node.labels])]

    def window(self, _: int, node: nodes.Window, index: Index) -> Any:
        """Return an element at affine positions."""
        read = {
            read.label: read.offset + sum([stride * index[label] for label, stride in read.strides])
            for read in node.reads
        }
        return self.element(node.value, {**index, **read})

    def gather(self, _: int, node: nodes.Gather, index: Index) -> Any:
        """Return an element at positions that other values have."""
        read = {}
        for position in node.positions:
            at = read[position.label] = self.element(position.value, index)
            if not 0 <= at < self.graph.sizes[position.label]:
                raise PositionError(
                    f"position {at} is outside of a dim of size {self.graph.sizes[position.label]}"
                )
        return self.element(node.value, {**index, **read})

    def place(self, value: int, node: nodes.Place, index: Index) -> Any:
        """Return the elements that are combined at one position."""
        terms = []
        for inner in self.indices(node.labels):
            whole = {**index, **inner}
            if all(self.element(place, whole) == index[label] for label, place in node.places):
                terms.append(self.element(node.value, whole))
        if not terms:
            return {"prod": 1, "max": -INF, "min": INF, "all": True}.get(node.reducer, 0)
        return REDUCERS[node.reducer](terms)

    def join(self, _: int, node: nodes.Join, index: Index) -> Any:
        """Return an element of the part that has it; 0 if none has."""
        for value, parts in zip(node.values, node.places, strict=True):
            inside = dict(index)
            for part in parts:
                at = index[part.label] - part.offset
                if not 0 <= at < self.graph.cells(part.labels):
                    break
                inside |= self.split((part.labels,), (at,)) or {}
            else:
                return self.element(value, inside)
        return 0

    def state(self, _: int, node: nodes.State, index: Index) -> Any:
        """Return an element of an earlier row."""
        recurrence = self.recurrences[node.key.partition("\n")[0]]
        dims = [self.joined(labels, index) for labels in node.axes]
        return self.row(recurrence, node.number, index[node.label] + node.offset, dims)

    def row(self, node: nodes.Recurrence, number: int, row: int, dims: Sequence[int]) -> Any:
        """Return an element of a row: of a start, or computed by its step."""
        axes = node.axes[number]
        index = self.split(axes, dims) or {}
        for count, value in node.starts[number]:
            if row < count:
                own = [label for label in self.graph.labels[value] if label not in index]
                at = self.split((tuple(own),), (row,)) if own else {}
                return self.element(value, {**index, **(at or {})})
            row -= count
        return self.element(node.steps[number], {**index, node.label: row})

    def rows(self, _: int, node: nodes.Rows, index: Index) -> Any:
        """Return an element of all rows; earlier rows are computed first, so that nothing nests deeply."""
        recurrence = self.graph.nodes[node.recurrence]
        assert isinstance(recurrence, nodes.Recurrence)
        first, *rest = [self.joined(labels, index) for labels in node.axes]
        return self.row(recurrence, node.number, first, rest)


def mean(terms: Sequence[Any]) -> Any:
    """Return the mean; nan of nothing."""
    return sum(terms) / len(terms) if terms else NAN


def variance(terms: Sequence[Any]) -> float:
    """Return the mean squared distance from the mean."""
    centre = mean(terms)
    return mean([abs(term - centre) ** 2 for term in terms])


def median(terms: Sequence[Any]) -> Any:
    """Return the middle one, or the mean of two; nan if there is one."""
    if not terms or any(map(isnan, terms)):
        return NAN
    ordered = in_order(terms)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def in_order(terms: Sequence[Any]) -> list[Any]:
    """Return numbers in order, nan last."""
    return [terms[at] for at in argsort(terms)]


def argsort(terms: Sequence[Any]) -> list[int]:
    """Return the positions that sort numbers, stable, nan last."""

    def key(at: int) -> Any:
        term = terms[at]
        return (isnan(term), () if isnan(term) else (term.real, term.imag))

    return sorted(range(len(terms)), key=key)


def best(terms: Sequence[Any], sign: int) -> Any:
    """Return the largest or the smallest, nan if there is one."""
    found = terms[0]
    for term in terms[1:]:
        found = larger(found, term, lambda x, y: x > y if sign > 0 else x < y)
    return found


def where_best(terms: Sequence[Any], sign: int) -> int:
    """Return the position of the largest or the smallest, or of the first nan."""
    found = best(terms, sign)
    return next(at for at, term in enumerate(terms) if term == found or (isnan(found) and isnan(term)))


def logsumexp(terms: Sequence[Any]) -> float:
    """Return the logarithm of the sum of exponentials."""
    high = best(terms, 1) if terms else -INF
    if not math.isfinite(high):
        return high
    return high + math.log(sum([math.exp(term - high) for term in terms]))


def total(terms: Sequence[Any]) -> Any:
    """Return the sum; of floats, correctly rounded."""
    is_real = all(isinstance(term, float) and math.isfinite(term) for term in terms)
    return math.fsum(terms) if is_real else sum(terms)


REDUCERS: dict[str, Any] = {
    "sum": total, "mean": mean, "prod": math.prod, "var": variance, "median": median,
    "std": lambda terms: math.sqrt(variance(terms)), "logsumexp": logsumexp,
    "max": lambda terms: best(terms, 1), "min": lambda terms: best(terms, -1), "any": any, "all": all,
    "norm": lambda terms: math.sqrt(sum([abs(term) ** 2 for term in terms])),
    "argmax": lambda terms: where_best(terms, 1), "argmin": lambda terms: where_best(terms, -1),
    "count_nonzero": lambda terms: sum([bool(term) for term in terms]),
}  # fmt: skip


def softmax(terms: Sequence[Any]) -> list[float]:
    """Return exponentials over their sum."""
    high = best(terms, 1)
    raised = [math.exp(term - high) if term > -INF else 0.0 for term in terms] if math.isfinite(high) else []
    return [one / sum(raised) for one in raised] or [NAN] * len(terms)


def log_softmax(terms: Sequence[Any]) -> list[float]:
    """Return the logarithm of the softmax."""
    whole = logsumexp(terms)
    return [term - whole for term in terms]


def running(combine: Any) -> Any:
    """Return the function that combines all elements so far."""

    def of(terms: Sequence[Any]) -> list[Any]:
        return [combine(terms[: at + 1]) for at in range(len(terms))]

    return of


ALONG: dict[str, Any] = {
    "softmax": softmax, "log_softmax": log_softmax, "cumsum": running(sum), "cumprod": running(math.prod),
    "cummax": running(REDUCERS["max"]), "cummin": running(REDUCERS["min"]), "sort": in_order,
    "argsort": argsort, "flip": lambda terms: terms[::-1],
}  # fmt: skip
