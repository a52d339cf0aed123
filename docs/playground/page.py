"""What the playground shows for a text: its operands, the dims of its statements, its value or its error."""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

from nameexpr.compiler.analysis.infer import build_expression, type_expression
from nameexpr.compiler.analysis.operands import Operand, assumed_shapes
from nameexpr.compiler.analysis.views import read_views
from nameexpr.compiler.compilation import build_graph
from nameexpr.compiler.gradient.text.examples import example_shapes, guessed_dtypes
from nameexpr.compiler.ir.axes import shown
from nameexpr.compiler.ir.dtypes import choose_dtypes
from nameexpr.compiler.ir.graph import Graph
from nameexpr.compiler.ir.nodes import Arrange
from nameexpr.compiler.pipeline import read, read_formula
from nameexpr.errors import NameExprError
from nameexpr.syntax import ast, walk
from nameexpr.syntax.lexer.tokens import looks_like_formula
from playground.evaluate import Evaluation, PositionError, TooLargeError
from playground.numbers_of import ARITHMETIC, promoted

FIRST = 2
"""The smallest size that an operand gets for a label without one."""
SHOWN = 300
"""The number of elements that are printed."""
Shape = tuple[int, ...]
TOO_MUCH = "This is too much for a playground, where nested loops compute it. Try smaller sizes."


def answer(text: str, given: str = "{}") -> str:
    """Return everything about a text as JSON; `given` has `sizes` and `operands`, as nested lists."""
    asked = json.loads(given)
    wrong = _wrong(asked)
    if wrong:
        return json.dumps({"error": wrong})
    try:
        found = (_formula if looks_like_formula(text) else _expression)(text, asked)
    except NameExprError as fault:
        found = {"error": str(fault)}
    except PositionError as fault:
        found = {"error": f"DimRangeError: {fault}"}
    except (TooLargeError, RecursionError):
        found = {"error": TOO_MUCH}
    return json.dumps(found)


def _wrong(asked: Mapping[str, Any]) -> str:
    """Return what is wrong with sizes or operands that were typed; "" if nothing."""
    for name, size in asked.get("sizes", {}).items():
        if type(size) is not int or size < 1:
            return f"The size of {name} must be a whole number from 1."
    for name, nested in asked.get("operands", {}).items():
        if not _is_array(nested, _shape(nested)):
            return f"{name} must be a number, or nested lists of numbers, with rows of equal length."
    return ""


def _is_array(nested: Any, shape: Shape) -> bool:
    if not shape:
        return type(nested) in {bool, int, float}
    return (
        isinstance(nested, list)
        and len(nested) == shape[0] > 0
        and all(_is_array(one, shape[1:]) for one in nested)
    )


def _expression(text: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Describe an expression, whose operands are called by their positions."""
    tree = read(text)
    sizes = _sizes(asked, tree.terms)
    labels = dict.fromkeys([atom.name for atom in walk.atoms_of(ast.LABELLED, tree.inputs)])
    assumed = {label: FIRST + number for number, label in enumerate(labels)} | sizes
    shapes = assumed_shapes(tree, assumed)
    operands, arrays = {}, []
    for number, shape in enumerate(shapes):
        operands[f"operand {number}"] = _values(asked, f"operand {number}", shape, "float64")
        arrays.append(_flat(operands[f"operand {number}"]))
    shapes = [_shape(one) for one in operands.values()]
    if tree.outputs is None:
        from nameexpr.compiler.analysis.infer import infer_sizes

        known, _ = infer_sizes(tree, [Operand(shape) for shape in shapes], sizes)
        return {
            "operands": _typed(operands),
            "result": "\n".join(f"{name}  {size}" for name, size in known.items()),
        }
    typed = type_expression(tree, [Operand(shape) for shape in shapes], sizes)
    dtypes = tuple([_dtype(array) for array in arrays])
    chosen = choose_dtypes(dtypes, promoted(dtypes), typed.reducer, drops=bool(typed.dropped))
    graph, results = build_expression(typed, chosen)
    return {"operands": _typed(operands), **_results(graph, results, arrays)}


def _formula(text: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a formula, its operands by name."""
    scope = read_formula(text)
    sizes = _sizes(asked, walk.terms_in(scope.tree))
    guessed = guessed_dtypes(scope, "float64")
    shapes = example_shapes(scope, {}, sizes, FIRST)
    operands = {name: _values(asked, name, shapes[name], guessed[name]) for name in scope.uses}
    arrays = [_flat(one) for one in operands.values()]
    dtypes = {name: _dtype(array) for name, array in zip(operands, arrays, strict=True)}
    known = {name: Operand(_shape(one), None, name) for name, one in operands.items()}
    views = read_views(scope, known, sizes)
    graph, statements, results, _ = build_graph(scope, dtypes, views, ARITHMETIC)
    names = [statement.name or "" for statement in scope.tree.statements]
    listed = [
        f"{name or 'value'}: {_dims(graph, graph.labels[value])}  {graph.strong(value)}"
        for name, value in zip(names, statements, strict=True)
    ]
    return {
        "operands": _typed(operands),
        "statements": listed,
        **_results(graph, results, arrays, is_listed=True),
    }


def _results(
    graph: Graph, results: Sequence[int], arrays: Sequence[Sequence[Any]], *, is_listed: bool = False
) -> dict[str, Any]:
    """Return the dims, if they are not listed, and the elements of results as text."""
    evaluation, texts = Evaluation(graph, arrays), []
    for result in results:
        node = graph.nodes[result]
        assert isinstance(node, Arrange)
        shape, elements = evaluation.array(result)
        dims = "  ".join(f"{_axis(labels)}={size}" for labels, size in zip(node.axes, shape, strict=True))
        texts.append(("" if is_listed else f"{dims or 'a scalar'}\n") + written(shape, elements))
    return {"result": "\n\n".join(texts)}


def _sizes(asked: Mapping[str, Any], terms: Iterable[ast.Term]) -> dict[str, int]:
    """Return the sizes of labels that the text has; the others are of another text."""
    labels = {atom.name for atom in walk.atoms_of(ast.LABELLED, terms)}
    return {name: size for name, size in asked.get("sizes", {}).items() if name in labels}


def _dims(graph: Graph, labels: Sequence[str]) -> str:
    return "  ".join(f"{shown(label)}={graph.sizes[label]}" for label in labels) or "a scalar"


def _axis(labels: Sequence[str]) -> str:
    return shown(labels[0]) if len(labels) == 1 else f"({' '.join(map(shown, labels))})"


def _values(asked: Mapping[str, Any], name: str, shape: Shape, dtype: str) -> Any:
    """Return the elements that are given for an operand, or some that differ."""
    if name in asked.get("operands", {}):
        return asked["operands"][name]
    count = prod(shape)
    some: dict[str, list[Any]] = {
        "float64": [((number * 7 + len(name)) % 11 - 4) / 2 for number in range(count)],
        "int64": [number % 2 for number in range(count)],
        "bool": [number % 3 == 0 for number in range(count)],
    }
    return _nested(shape, some[dtype])


def _typed(operands: Mapping[str, Any]) -> dict[str, str]:
    """Return operands as they could be typed."""
    return {name: json.dumps(nested) for name, nested in operands.items()}


def _nested(shape: Sequence[int], flat: Sequence[Any]) -> Any:
    if not shape:
        return flat[0]
    width = prod(shape[1:])
    return [_nested(shape[1:], flat[at * width : (at + 1) * width]) for at in range(shape[0])]


def _shape(nested: Any) -> Shape:
    return (len(nested), *(_shape(nested[0]) if nested else ())) if isinstance(nested, list) else ()


def _flat(nested: Any) -> list[Any]:
    return [one for row in nested for one in _flat(row)] if isinstance(nested, list) else [nested]


def _dtype(array: Sequence[Any]) -> str:
    kinds = {bool: "bool", int: "int64", float: "float64"}
    return promoted([kinds[type(one)] for one in array] or ["float64"])


def written(shape: Sequence[int], elements: Sequence[Any]) -> str:
    """Return elements as NumPy prints an array: rows below each other, columns aligned."""
    words = [_word(one) for one in elements[:SHOWN]]
    width = max(map(len, words), default=0)
    rest = "" if len(elements) <= SHOWN else f"\n... {len(elements) - SHOWN:,} more"
    if not shape:
        return words[0]
    if len(elements) > SHOWN:
        return "[" + ", ".join(words) + "]" + rest
    return _brackets(shape, [word.rjust(width) for word in words], 0)


def _brackets(shape: Sequence[int], words: Sequence[str], depth: int) -> str:
    if len(shape) == 1:
        return "[" + ", ".join(words) + "]"
    step = prod(shape[1:])
    rows = [_brackets(shape[1:], words[at * step : (at + 1) * step], depth + 1) for at in range(shape[0])]
    gap = "," + "\n" * (len(shape) - 1) + " " * (depth + 1)
    return "[" + gap.join(rows) + "]"


def _word(one: Any) -> str:
    if isinstance(one, complex):
        return (
            f"{_word(one.real)}{'+' if one.imag >= 0 or one.imag != one.imag else '-'}{_word(abs(one.imag))}j"
        )
    if isinstance(one, float):
        text = f"{one:.5g}"
        return text if any(letter in text for letter in ".naife") else f"{text}."
    return str(one)
