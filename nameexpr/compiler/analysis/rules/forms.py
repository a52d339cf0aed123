"""Parts, positions and recurrences instead of functions: `concat`, `roll`, `gather`, `scan`.

A form is a statement about `x` and `y`, the arguments of the call, along its dim `C`; `N` are the other dims
of x. `tests/unit/compiler/analysis/rules/test_forms.py` runs every form.

>>> from nameexpr.syntax.parser.formula import parse_formula
>>> tree = parse_formula("y = roll(a[t])")
>>> form_of(tree, tree.statements[0].value, tree.statements[0].value.arguments[0].term)
'positions may wrap around: y = a[t@((t - 1) % size[t])]'
"""

from __future__ import annotations

from collections.abc import Mapping

from nameexpr.compiler.analysis.rules.renamed import plain_labels, renamed
from nameexpr.records import record, replace
from nameexpr.syntax import ast, walk
from nameexpr.syntax.items import rewritten
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_statement

_PLACED, _JOINED = "positions are written after @", "values in parts"
FORMS: Mapping[str, tuple[str, str]] = {
    name: row
    for names, row in {
        "roll": ("positions may wrap around", "y = x[N C@((C - 1) % size[C])]"),
        "shift lag": ("a first element, then all but the last", "y[N (1 + C)] = 0, x[N (C + 1)]"),
        "diff ediff1d": (
            "without the first element, and without the last",
            "y = x[N (1 + C)] - x[N (C + 1)]",
        ),
        "take gather get_at take_along_axis take_along_dim index_select": (_PLACED, "z = x[N C@y[k]]"),
        "embedding lookup gather_nd": (_PLACED, "z[b t d] = table[v@ids[b t] d]"),
        "sel isel iloc loc getitem select": ("a position is written after @", "y = x[N C@0]"),
        "slice islice narrow head tail": ("a slice is written in parts", "y = x[N (1 + C)]"),
        "concat concatenate cat append hstack vstack": (_JOINED, "z[n (a + b)] = x[n a], y[n b]"),
        "stack": ("parts of one element each", "z[(1 + 1) n] = x[n], y[n]"),
        "split chunk array_split unbind": ("one part is read, and _ is not", "y = x[N (C=1 + _)]"),
        "pad": ("parts that are numbers are 0", "y[N (1 + C + 1)] = x[N C]"),
        "block_diag block": ("parts of two dims", "m[(a + b) (c + d)] = x[a c], 0, 0, y[b d]"),
        "conv conv1d correlate cross_correlation": (
            "a sum over a window",
            "y[t] = sum[d](x[_@(t + d)] * w[d])",
        ),
        "convolve": (
            "a sum over a window, the weights reversed",
            "y[t] = sum[d](x[_@(t + size[d] - 1 - d)] * w[d])",
        ),
        "conv2d": (
            "a sum over a window",
            "y[n h w k] = sum[i j c](x[n _@(h + i) _@(w + j) c] * f[i j c k])",
        ),
        "sliding_window_view windows unfold rolling im2col as_strided": (
            "a window is a dim at a sum",
            "y[t d=2] = x[_@(t + d)]",
        ),
        "topk nlargest": (
            "read at the first of the positions that sort",
            "order[n c] = argsort[c](-x[n c]); y = x[n c@order[n (k=2 + _)]]",
        ),
        "kthvalue": ("sort, and read one element", "s[n c] = sort[c](x[n c]); y = s[n c@1]"),
        "scan accumulate ewm ema lfilter recurrence": (
            "a statement may read its earlier rows",
            "h[(1 + t)] = 0, 0.9 * h[_@t] + x[t]",
        ),
        "rnn lstm gru": (
            "a statement may read its earlier rows",
            "h[(1 + t) d] = 0, tanh(x[t d] + sum[e](h[_@t e] * u[e d]))",
        ),
        "scatter scatter_add index_add segment_sum groupby": (
            "compare with the index, then sum",
            "y[k=4] = sum[n](where(label[n] == index[k], x[n], 0))",
        ),
        "scatter_reduce segment_max": (
            "compare with the index, then reduce",
            "y[k=4] = max[n](where(label[n] == index[k], x[n], -inf))",
        ),
        "one_hot onehot": ("compare with the index", "y[i k=10] = x[i] == index[k]"),
        "bincount": ("compare with the index, then count", "y[k=4] = sum[n](label[n] == index[k])"),
    }.items()
    for name in names.split()
}
"""Remarks with statements of the language, by the names of functions."""

_Names = Mapping[str, tuple[ast.Label, ...]]


def form_of(tree: ast.Formula, call: ast.Call | ast.CallAlong, dims: ast.Term) -> str:
    """Return the form for a call, in its names if its operands have labels; `dims` are those of the call."""
    remark, text = FORMS[call.function]
    form = parse_formula(text)
    taken = _names(tree)
    own = next((one.name for one in tree.statements if one.value is call and one.name is not None), None)
    statement = _joined(call, taken) or _filled(call, form, dims, taken)
    if statement is not None:
        statement = replace(statement, name=own or _new(taken, "y", "z", "p", "q"))
    elif len(form.statements) == 1:
        first = form.statements[0]
        statement = renamed(first, own or _new(taken, first.name or "y", "z", "p", "q"), call, taken)
    return f"{remark}: {'; '.join(map(unparse_statement, [statement] if statement else form.statements))}"


def _names(tree: ast.Formula) -> set[str]:
    """Return the labels of a formula, and the names of its operands and statements."""
    uses = {node.name for node in walk.nodes_of(tree.statements) if isinstance(node, ast.Use)}
    names = {statement.name for statement in tree.statements if statement.name is not None}
    return walk.labels_in(*walk.terms_in(tree)) | uses | names


def _new(taken: set[str], *names: str) -> str:
    """Return a name that is not taken, which then is."""
    name = next((name for name in names if name not in taken), f"{names[0]}{len(taken)}")
    taken.add(name)
    return name


def _joined(call: ast.Call | ast.CallAlong, taken: set[str]) -> ast.Statement | None:
    """Return the statement that joins the arguments of a call, for the form of `concat`."""
    terms = [plain_labels(argument) for argument in call.arguments]
    if FORMS[call.function][0] != _JOINED or len(terms) < 2 or len({*map(len, terms)}) > 1:  # noqa: PLR2004
        return None
    first, ndim = terms[0], len(terms[0])
    differ = [dim for dim in range(ndim) if any(term[dim] != first[dim] for term in terms)]
    if not ndim or len(differ) > 1:
        return None
    dim = differ[0] if differ else ndim - 1
    parts: list[ast.Label] = []
    for term in terms:
        label = term[dim]
        parts.append(ast.Label(_new(taken, "D", "E", "F")) if label in parts else label)
    uses = [
        ast.Use(argument.name, ast.Term((*term[:dim], part, *term[dim + 1 :])))
        for argument, term, part in zip(call.arguments, terms, parts, strict=True)
        if isinstance(argument, ast.Use)
    ]
    whole = ast.Parts(tuple([ast.Group((part,)) for part in parts]))
    left = ast.Term((*first[:dim], whole, *first[dim + 1 :]))
    return ast.Statement("z", left, uses[0], others=tuple(uses[1:]))


def _filled(
    call: ast.Call | ast.CallAlong, form: ast.Formula, dims: ast.Term, taken: set[str]
) -> ast.Statement | None:
    """Return a form about `x[N C]` with the operands and labels of a call, None if it is about others."""
    x, *more = call.arguments or (form.statements[0].value,)
    labels = plain_labels(x)
    if not (isinstance(x, ast.Use) and labels and "N" in walk.labels_in(*walk.terms_in(form))):
        return None
    only = dims.items[0] if len(dims.items) == 1 else labels[-1]
    place = labels.index(only) if only in labels else -1 + len(labels)
    names = {"C": (labels[place],), "N": labels[:place], "k": (ast.Label(_new(taken, "k", "s", "u")),)}
    filling = _Filling(x, more[0] if more else None, names, labels[place + 1 :])
    return filling.statement(form.statements[0])


@record
class _Filling:
    """What a form is filled with: the operands of a call, and items for its labels; those `after` its dim."""

    x: ast.Use
    y: ast.Node | None
    names: _Names
    after: tuple[ast.Label, ...]

    def statement(self, form: ast.Statement) -> ast.Statement:
        """Return a form of one statement, filled."""
        term = None if form.term is None else self.term(form.term)
        others = tuple(map(self.node, form.others))
        return replace(form, term=term, value=self.node(form.value), others=others)

    def node(self, node: ast.Node) -> ast.Node:
        """Return a value of a form, filled."""
        match node:
            case ast.Use("x", ast.Term() as term):
                return ast.Use(self.x.name, self.term(term))
            case ast.Use("y", ast.Term()) if isinstance(self.y, ast.Use):
                return replace(node, name=self.y.name) if self.y.term is None else self.y
            case ast.Use(_, ast.Term() as term):
                return replace(node, term=ast.Term(self.items(term.items)))
            case ast.Binary(_, left, right):
                return replace(node, left=self.node(left), right=self.node(right))
        return node

    def term(self, term: ast.Term) -> ast.Term:
        """Return the term of an operand of a form, with the dims after its own."""
        return ast.Term((*self.items(term.items), *self.after))

    def items(self, items: tuple[ast.Item, ...]) -> tuple[ast.Item, ...]:
        """Return items of a form, filled."""

        def rewrite(item: ast.Item) -> list[ast.Item] | None:
            if isinstance(item, ast.Label):
                return list(self.names.get(item.name, (item,)))
            if isinstance(item, ast.Sized) and item.name in self.names:
                return [replace(item, name=label.name) for label in self.names[item.name]]
            if isinstance(item, ast.At):
                (base,) = self.items((item.base,))
                return [replace(item, base=base, place=self.node(item.place))]
            return None

        return rewritten(items, rewrite)
