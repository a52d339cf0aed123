r"""Python source to findings: parse, find nameexpr's calls, read their texts, locate the mistakes.

A name counts if everything that it is bound to in its scope is the same function of nameexpr (None aside, as
in ``except ImportError: ne = None``); a name of other assignments, a parameter, a loop variable does not.

>>> checked = check_python("import nameexpr as ne\nne.einsum('a -> b', x)", "x.py")
>>> [(finding.region.start, finding.code) for finding in checked.findings]
[(Position(line=2, column=12), 'NE217')]
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from nameexpr.lint import FUNCTIONS, OPEN, LiteralCall
from nameexpr.lint.findings import Checked, Finding, is_ignored, no_python
from nameexpr.lint.scopes import Binding, NameScope, read_scopes
from nameexpr.lint.source import Position, Source, extent, literal_parts, text_of, written_at

if TYPE_CHECKING:
    from nameexpr.lint.diagnose import Problem

_DEEPEST = 16
"""How many names may lead to each other."""
_STARRED = {"einsum", "evaluate", "check", "explain"}
"""What a star import brings: it hides no builtin, so not `compile`."""


class SourceError(Exception):
    """A source that Python cannot parse: its message, and the position."""


def check_python(text: str, path: str) -> Checked:
    """Check the source of a Python file."""
    source = Source(text)
    try:
        return check_tree(parse_python(source), source, path)
    except SourceError as fault:
        return Checked((no_python(path, *fault.args),), 0, 1)


def parse_python(source: Source) -> ast.Module:
    """Parse a source (SourceError if that fails)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know, and the like
            return ast.parse(source.text)
    except SyntaxError as fault:
        line = min(max(fault.lineno or 1, 1), len(source.lines))
        column = min(max(fault.offset or 1, 1), len(source.lines[line - 1]) + 1)
        raise SourceError(fault.msg, Position(line, column)) from None
    except ValueError as fault:  # a lone surrogate, which some codecs make
        raise SourceError(f"{fault}", Position(1, 1)) from None
    except (RecursionError, MemoryError):
        raise SourceError("too deeply nested to be parsed", Position(1, 1)) from None


def check_tree(tree: ast.Module, source: Source, path: str) -> Checked:
    """Check a syntax tree; findings come in the order of the file."""
    findings: dict[Finding, None] = {}
    targets, texts = Targets(), 0
    for node, scope in read_scopes(tree):
        function = targets.function_of(node.func, scope)
        parts = text_parts(node.args[0], scope) if function and node.args else None
        if function is None or parts is None:
            continue
        from nameexpr.lint.diagnose import diagnose  # late, for it loads the compiler

        texts += 1
        for problem in diagnose(read_call(function, node, parts)):
            finding = _located(problem, node, parts, source, path)
            if not is_ignored(finding.code, _lines(finding, node, parts, source)):
                findings[finding] = None
    ordered = sorted(findings, key=lambda finding: finding.rank)
    return Checked(tuple(ordered), texts, 1)


def _located(
    problem: Problem, node: ast.Call, parts: Sequence[ast.Constant], source: Source, path: str
) -> Finding:
    """Locate a problem: at its first mark, or at the whole of what it is about."""
    keywords = {given.arg: given for given in node.keywords if given.arg}
    is_here = not isinstance(node.args[0], ast.Name)
    diagnostic = problem.diagnostic
    if problem.keyword in keywords:
        start = extent(keywords[problem.keyword], source)[0]
        end = start + len(problem.keyword)
    elif problem.is_call and not is_here:  # the text stands elsewhere, and may be right for other calls
        start, end = extent(node.args[0], source)
    elif diagnostic.marks and diagnostic.text == text_of(parts):
        start, end = written_at(parts, source, *diagnostic.marks[0].span)
    else:
        start, end = extent(parts[0], source)[0], extent(parts[-1], source)[1]
    return Finding(path, source.region(start, end), diagnostic)


def _lines(finding: Finding, node: ast.Call, parts: Sequence[ast.Constant], source: Source) -> list[str]:
    """Collect the lines whose comments may silence a finding."""
    last = parts[-1].end_lineno or parts[-1].lineno
    numbers = {finding.region.start.line, node.lineno, parts[0].lineno, last}
    return [source.lines[number - 1] for number in sorted(numbers)]


class Targets:
    """Resolves the calls of one file. What a name stands for is found once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def function_of(self, called: ast.expr, scope: NameScope) -> str | None:
        """Resolve which of nameexpr's functions is called; None if it is none of them."""
        return FUNCTIONS.get(self._path(called, scope, _DEEPEST))

    def _path(self, node: ast.expr | None, scope: NameScope | None, depth: int) -> str:
        """Resolve an expression to a dotted path; "" if that cannot be told."""
        attributes = ""
        while isinstance(node, ast.Attribute | ast.NamedExpr):
            attributes = f".{node.attr}{attributes}" if isinstance(node, ast.Attribute) else attributes
            node = node.value
        if not isinstance(node, ast.Name) or scope is None or depth == 0:
            return ""
        bindings = scope.find(node.id)
        if bindings is None:
            is_ours = scope.module.stars == {"nameexpr"} and node.id in _STARRED
            return f"nameexpr.{node.id}{attributes}" if is_ours else ""
        path = self._agreed(bindings, depth)
        return path + attributes if path else ""

    def _agreed(self, bindings: list[Binding], depth: int) -> str:
        """Return the path that all bindings of a name share; "" if they differ, or are circular."""
        key = id(bindings)
        if key not in self._known:
            self._known[key] = ""
            paths = {
                binding.path or self._path(binding.value, binding.scope, depth - 1)
                for binding in bindings
                if not (isinstance(binding.value, ast.Constant) and binding.value.value is None)
            }
            self._known[key] = paths.pop() if len(paths) == 1 else ""
        return self._known[key]


def text_parts(node: ast.expr, scope: NameScope) -> list[ast.Constant] | None:
    """Collect the constants of a text: written here, or in a name that is assigned once."""
    for _ in range(_DEEPEST):
        if not isinstance(node, ast.Name):
            return literal_parts(node)
        bindings = scope.find(node.id) or ()
        if len(bindings) != 1 or bindings[0].value is None or bindings[0].scope is None:
            return None
        node, scope = bindings[0].value, bindings[0].scope
    return None


def read_call(function: str, node: ast.Call, parts: Iterable[ast.Constant]) -> LiteralCall:
    """Read a call: its text, its number of operands, and its keywords as far as they are literal."""
    given = node.args[1:]
    count = None if any(isinstance(argument, ast.Starred) for argument in given) else len(given)
    keywords = {keyword.arg: literal(keyword.value) for keyword in node.keywords if keyword.arg is not None}
    is_open = any(keyword.arg is None for keyword in node.keywords)
    return LiteralCall(function, text_of(list(parts)), count, keywords, is_open)


def literal(node: ast.expr | None) -> Any:
    """Evaluate a literal number, string, None, or a list, tuple or dict of them; else `OPEN`.

    >>> literal(ast.parse("{'x': array, 'y': -2}", mode="eval").body)["y"]
    -2
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return -value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            values = tuple(_scalar(item) for item in items)
            return OPEN if OPEN in values else values
        case ast.Dict(keys=keys, values=items):
            names = [_scalar(key) for key in keys]
            is_told = all(isinstance(name, str) for name in names)
            return dict(zip(names, map(_scalar, items), strict=True)) if is_told else OPEN
    return OPEN


def _scalar(node: ast.expr | None) -> Any:
    """Evaluate a literal that holds no others: nested ones are not followed."""
    return literal(node) if isinstance(node, ast.Constant | ast.UnaryOp) else OPEN
