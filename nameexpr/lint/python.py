r"""Python source to findings: parse, find nameexpr's calls, read their texts, find the mistakes' places.

>>> checked = check_python("import nameexpr as ne\nne.einsum('a -> b', x)", "x.py")
>>> [(one.region.start, one.code) for one in checked.findings]
[(Place(line=2, column=12), 'NE217')]
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from nameexpr.lint.diagnose import Problem, diagnose
from nameexpr.lint.findings import Checked, Finding, no_python
from nameexpr.lint.ignore import is_ignored
from nameexpr.lint.scopes import read_scopes
from nameexpr.lint.source import Place, Region, Source
from nameexpr.lint.strings import extent, text_of, written_at
from nameexpr.lint.targets import Targets, read_call, text_parts


class SourceError(Exception):
    """What Python says of a source that it cannot parse, and where."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


def check_python(text: str, path: str) -> Checked:
    """Return what is found in the source of a Python file."""
    source = Source(text)
    try:
        tree = parse_python(source)
    except SourceError as fault:
        return Checked((no_python(path, fault.message, fault.place),), 0, 1)
    return check_tree(tree, source, path)


def parse_python(source: Source) -> ast.Module:
    """Return the syntax tree of a source.

    Raises
    ------
    SourceError
        If it has none.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that Python does not know, and the like
            return ast.parse(source.text)
    except SyntaxError as fault:
        line = min(max(fault.lineno or 1, 1), len(source.lines))
        column = min(max(fault.offset or 1, 1), len(source.lines[line - 1]) + 1)
        raise SourceError(fault.msg, Place(line, column)) from None
    except ValueError as fault:  # a lone surrogate, which some codecs make
        raise SourceError(f"{fault}", Place(1, 1)) from None
    except (RecursionError, MemoryError):
        raise SourceError("too deeply nested to be parsed", Place(1, 1)) from None


def check_tree(tree: ast.Module, source: Source, path: str) -> Checked:
    """Return what is found in a syntax tree, in the order of the file."""
    found: dict[Finding, None] = {}
    targets, texts = Targets(), 0
    for node, scope in read_scopes(tree):
        function = targets.function_of(node.func, scope)
        parts = text_parts(node.args[0], scope) if function and node.args else None
        if function is None or parts is None:
            continue
        texts += 1
        for problem in diagnose(read_call(function, node, parts)):
            finding = _located(problem, node, parts, source, path)
            if not is_ignored(finding.code, _lines(finding, node, parts, source)):
                found[finding] = None
    ordered = sorted(found, key=lambda one: (one.region, one.code, one.diagnostic.message))
    return Checked(tuple(ordered), texts, 1)


def _located(
    problem: Problem, node: ast.Call, parts: Sequence[ast.Constant], source: Source, path: str
) -> Finding:
    """Return the finding for a problem: at its first mark if it has one, else at all of what it is about."""
    keyword = next((one for one in node.keywords if problem.keyword and one.arg == problem.keyword), None)
    is_here = not isinstance(node.args[0], ast.Name)
    diagnostic = problem.diagnostic
    if keyword is not None:
        start = extent(keyword, source)[0]
        end = start + len(problem.keyword)
    elif problem.is_call and not is_here:  # the text stands elsewhere, and may be right for other calls
        start, end = extent(node.args[0], source)
    elif diagnostic.marks and diagnostic.text == text_of(parts):
        start, end = written_at(parts, source, *diagnostic.marks[0].span)
    else:
        start, end = extent(parts[0], source)[0], extent(parts[-1], source)[1]
    return Finding(path, source.region(start, end), diagnostic)


def _lines(finding: Finding, node: ast.Call, parts: Sequence[ast.Constant], source: Source) -> list[str]:
    """Return the lines whose comments may silence a finding."""
    last = parts[-1].end_lineno or parts[-1].lineno
    numbers = {finding.region.start.line, node.lineno, parts[0].lineno, last}
    return [source.lines[number - 1] for number in sorted(numbers)]


def shifted(region: Region, lines: int) -> Region:
    """Return a region some lines further up."""
    start, end = region
    return Region(Place(start.line - lines, start.column), Place(end.line - lines, end.column))
