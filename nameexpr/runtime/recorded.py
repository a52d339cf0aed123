"""Texts on recorded tensors: one node of the tape, whose backward pass is the compiled gradient of the text.

The gradient is a formula, too: the text, followed by the sum of its results times their gradients (*seeds*),
and by the gradients of that sum. For a number, they are computed together with it from the second call on:
the backward pass then only multiplies them.

>>> w = ne.tensor([1.0, 3.0], names="N").requires_grad_()
>>> ne.evaluate("y = sum[N](w[N] ** 2)", w=w).backward()
>>> w.grad
tensor([2., 6.], names=('N',), shape=(2,))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from nameexpr.compiler.ir.nodes import Arrange
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.records import record
from nameexpr.runtime.cache import TEXTS
from nameexpr.runtime.differentiated import differentiated
from nameexpr.runtime.evaluate import find_formula
from nameexpr.runtime.expression import ExpressionEntry
from nameexpr.runtime.operands import OperandSpec, array_of, specs_of
from nameexpr.syntax import ast
from nameexpr.syntax.unparse import unparse_item, unparse_term
from nameexpr.syntax.walk import atoms
from nameexpr.tensors.tape.mode import MODE
from nameexpr.tensors.tape.node import Seed, TapeNode
from nameexpr.tensors.tape.recording import bare, has_gradient, is_recorded, promoted

NO_PATH = "NE532"
Back = Callable[[Mapping[int, Any]], list[Any]]


@record
class ResultOfText:
    """A result: the name of its statement, its labels in order, whether the statement has a term, so that its
    dims may have any labels, and whether it is complex.
    """

    name: str
    labels: tuple[str, ...]
    has_term: bool
    is_complex: bool


@record
class GradientsOfText:
    """A formula with gradients: the operands that are its seeds, and operands with their gradients."""

    text: str
    seeds: tuple[str, ...]
    statements: tuple[tuple[str, str], ...]

    def only(self, pair: tuple[str, str]) -> GradientsOfText:
        """Return the formula with one of the gradients, each of which is a line at its end."""
        lines = self.text.splitlines()
        own = lines[: len(lines) - len(self.statements)]
        at = self.statements.index(pair)
        return GradientsOfText("\n".join([*own, lines[len(own) + at]]), self.seeds, (pair,))


def call(entry: Any, given: Sequence[Any]) -> Any:
    """Return the recorded results of a text."""
    plain = [bare(value) for value in given]
    if not MODE.is_on:
        return entry.call(*plain)
    places = [at for at, value in enumerate(given) if is_recorded(value)]
    inputs = tuple([given[at]._node for at in places])
    every, wrt = list(entry.merge(plain)), tuple([entry.free[at] for at in places])
    known = TOGETHER.get((entry, wrt))
    found = None if known is None else _together(known, every)
    if found is not None:
        result, gradients = found
        return promoted(
            result, TapeNode("formula", inputs, lambda g: [g * each for each in gradients], result._data)
        )
    result = entry.call(*plain)
    if not isinstance(result, tuple):
        if not has_gradient(result):
            return result
        back = _back(entry, every, wrt, [result._data.shape])
        return promoted(result, TapeNode("formula", inputs, lambda g: back({0: g}), result._data))
    back = _back(entry, every, wrt, [np.shape(array_of(each)) for each in result])
    hub = TapeNode("formula", inputs, back, np.zeros(()))
    return tuple([_promoted(each, hub, at) for at, each in enumerate(result)])


def _promoted(result: Any, hub: TapeNode, at: int) -> Any:
    """Return one of several results, whose gradient goes to the node of all."""
    if not has_gradient(result):
        return result
    return promoted(result, TapeNode("formula", (hub,), (lambda g: Seed(at, g),), result._data))


@record
class Together:
    """A formula whose results are a number and its gradients; `names` are those of its operands."""

    formula: Any
    names: tuple[str, ...]
    seed: str


TOGETHER: dict[tuple[Any, tuple[int, ...]], Together] = {}
"""By entry and operands, the formula for a number that a backward pass has gone through before."""


def _together(known: Together, every: Sequence[Any]) -> tuple[Any, list[Any]] | None:
    """Return a number and its gradients; None for operands with which the text has another result."""
    values = dict(zip(known.names, every, strict=True))
    values[known.seed] = 1.0
    try:
        result, *gradients = known.formula.call_named(values)
    except NameExprError:
        return None
    is_number = has_gradient(result) and not result._data.ndim
    return (result, list(map(array_of, gradients))) if is_number else None


def _back(entry: Any, every: list[Any], wrt: tuple[int, ...], shapes: Sequence[tuple[int, ...]]) -> Back:
    """Return the function from the gradients of results to those of operands."""

    def back(seeds: Mapping[int, Any]) -> list[Any]:
        names, last, gradients = _gradients(entry, specs_of(every), wrt)
        values = dict(zip(names, every, strict=True))
        for at, seed in enumerate(gradients.seeds):
            values[seed] = np.asarray(seeds[at]) if at in seeds else np.zeros(shapes[at])
        found = _called(entry, gradients, values)
        if [*shapes] == [()] and len(found) == len(wrt) and np.isrealobj(seeds[0]):
            if len(TOGETHER) >= TEXTS:
                TOGETHER.clear()
            outputs = (*last, *(statement for _, statement in gradients.statements))
            formula = _formula(gradients.text, outputs, entry.options)
            TOGETHER[entry, wrt] = Together(formula, names, gradients.seeds[0])
        return [found.get(names[at]) for at in wrt]

    return back


def _called(entry: Any, gradients: GradientsOfText, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the gradients by the names of operands, without those that results depend on by steps alone."""
    pairs = gradients.statements
    try:
        found = _formula(gradients.text, tuple([one for _, one in pairs]), entry.options).call_named(values)
        return {name: array_of(each) for (name, _), each in zip(pairs, found, strict=True)}
    except NameExprError as fault:
        if fault.code != NO_PATH:
            raise
        one_by_one = [] if len(pairs) == 1 else [gradients.only(pair) for pair in pairs]
        return {name: each for one in one_by_one for name, each in _called(entry, one, values).items()}


def _formula(text: str, outputs: tuple[str, ...], options: Any) -> Any:
    given: dict[str, Any] = {"outputs": outputs}
    if options.sizes:
        given["sizes"] = dict(options.sizes)
    if options.memory_limit is not None:
        given["memory_limit"] = options.memory_limit
    return find_formula(text, given)


@lru_cache(maxsize=TEXTS)
def _gradients(
    entry: Any, specs: tuple[OperandSpec, ...], wrt: tuple[int, ...]
) -> tuple[tuple[str, ...], tuple[str, ...], GradientsOfText]:
    """Return the names of all operands and of the results, and the formula of the gradients by some operands
    (NE695 if there is none).
    """
    try:
        source, names, last = _as_formula(entry)
        formula = find_formula(source, {"outputs": last, "sizes": dict(entry.options.sizes)})
        results = _results(formula, specs, last)
        return names, last, _derived(source, tuple(names), results, tuple([names[at] for at in wrt]))
    except NameExprError as fault:
        first = fault.diagnostics[0]
        message = f"no gradient of this text is known: {first.message}"
        raise error(Diagnostic("NE695", message, entry.text, hint=first.hint or "")) from fault


def _results(formula: Any, specs: Sequence[OperandSpec], last: Sequence[str]) -> tuple[ResultOfText, ...]:
    """Return the results of a formula for operands like these."""
    graph, numbers, _ = formula.graph(specs)
    terms = {each.name: each.term for each in formula.tree.tree.statements}
    results = []
    for name, number in zip(last, numbers, strict=True):
        node = graph.nodes[number]
        axes = node.axes if isinstance(node, Arrange) else tuple((one,) for one in graph.labels[number])
        labels = tuple(["*".join(axis) for axis in axes])
        is_complex = graph.dtypes[number].startswith("complex")
        results.append(ResultOfText(name, labels, terms[name] is not None, is_complex))
    return tuple(results)


@lru_cache(maxsize=TEXTS)
def _derived(
    source: str, operands: tuple[str, ...], results: tuple[ResultOfText, ...], wrt: tuple[str, ...]
) -> GradientsOfText:
    """Return the formula of the gradients by some operands."""
    taken = {*operands, *(each.name for each in find_formula(source).tree.tree.statements if each.name)}
    seeds = tuple([_free(f"g{at}", taken) for at in range(len(results))])
    total = _free("total", taken)
    products = [_times(each, seed) for each, seed in zip(results, seeds, strict=True)]
    made = differentiated(f"{source}\n{total} = {' + '.join(products)}", wrt)
    return GradientsOfText(made.text, seeds, made.gradients)


def _times(result: ResultOfText, seed: str) -> str:
    """Return the sum of a result times its gradient."""
    name, own = result.name, result.labels
    if result.has_term:
        own = tuple([f"t{at}" for at in range(len(own))])
        name = f"{name}[{' '.join(own)}]" if own else name
    elif any("*" in label or "." in label for label in own):
        message = f"'{name}' has dims whose labels cannot be written"
        raise error(Diagnostic("NE695", message, hint=f"give the statement a term: {name}[...] = ..."))
    seen = f"{seed}[{' '.join(own)}]" if own else seed
    product = f"real({name} * conj({seen}))" if result.is_complex else f"{name} * {seen}"
    return f"sum[{' '.join(own)}]({product})" if own else product


def _free(name: str, taken: set[str]) -> str:
    """Return a name that nothing else has, and take it."""
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def _as_formula(entry: Any) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a text as a formula, the names of its operands in order, and those of its results."""
    if isinstance(entry, ExpressionEntry):
        return _of_expression(entry.tree, entry.options.reduce)
    names, statements = tuple(entry.tree.uses), entry.tree.tree.statements
    if entry.options.outputs is not None:
        return entry.text, names, entry.options.outputs
    last = statements[-1]
    if last.name is not None:
        return entry.text, names, (last.name,)
    name = _free("result", {*names, *(each.name for each in statements if each.name)})
    start = last.span.start
    return f"{entry.text[:start]}{name} = {entry.text[start:]}", names, (name,)


def _of_expression(tree: ast.Expression, reduce: Any) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return an expression as a formula: a reduction over a product (NE695 for several results, and a
    reducer that is a function).
    """
    outputs = tree.outputs or ()
    reducer = reduce or (tree.reducer.name if tree.reducer else "sum")
    if len(outputs) != 1 or callable(reducer):
        message = "an expression with several results, or with a reducer that is a function, is not recorded"
        raise error(Diagnostic("NE695", message, tree.text, hint="write it as a formula"))
    names = tuple([f"x{at}" for at in range(len(tree.inputs))])
    factors = [
        f"{name}[{unparse_term(term)}]" if term.items else name
        for name, term in zip(names, tree.inputs, strict=True)
    ]
    kept = {_label(one) for one in atoms(outputs[0].items)}
    every = dict.fromkeys(_label(one) for term in tree.inputs for one in atoms(term.items))
    gone = [label for label in every if label not in kept]
    product = " * ".join(factors)
    value = f"{reducer}[{' '.join(gone)}]({product})" if gone else product
    left = f"y[{unparse_term(outputs[0])}]" if outputs[0].items else "y"
    return f"{left} = {value}", names, ("y",)


def _label(one: Any) -> str:
    """Return an item as it is written in brackets, without its size."""
    return one.name if isinstance(one, ast.Label | ast.Sized | ast.Alias) else unparse_item(one)
