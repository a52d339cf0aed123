r"""From Python source to findings: parse, find nameexpr's calls, read their texts, locate the errors.

`nameexpr.lint.calls` finds the calls that take a text, or an object made from one.

>>> checked = check_python("import nameexpr as ne\nne.einsum('a -> b', x)", "x.py")
>>> [(finding.region.start, finding.code) for finding in checked.findings]
[(Position(line=2, column=12), 'NE217')]
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from nameexpr.errors import Diagnostic, NameExprError
from nameexpr.lint.calls import TextCall, Unread, text_calls
from nameexpr.lint.findings import UNREAD, Checked, Finding, is_ignored, no_python
from nameexpr.lint.flow import is_expected_to_fail
from nameexpr.lint.gradients import missing_keys
from nameexpr.lint.modules import Module, Modules
from nameexpr.lint.source import Source, SourceError, TextRange, extent, literal_parts, text_of, written_at
from nameexpr.lint.tensors import checks
from nameexpr.lint.values import Text

if TYPE_CHECKING:
    from nameexpr.lint.diagnose import Problem


def check_python(text: str, path: str, modules: Modules | None = None) -> Checked:
    """Check the source of a Python file, which may be a part of a larger program."""
    try:
        return check_module((modules or Modules()).parsed(path, Source(text)))
    except SourceError as fault:
        return Checked((no_python(path, *fault.args),), 0, 1)


def check_module(module: Module) -> Checked:
    """Check a module; findings come in the order of the file."""
    findings: dict[Finding, None] = dict.fromkeys((*_of_tensors(module), *_of_gradients(module)))
    unread: list[Finding] = []
    texts = 0
    for call in text_calls(module):
        texts += isinstance(call, TextCall) and call.is_first
        if is_expected_to_fail(call.node, module.scopes.parents):
            continue
        for finding in _found(call, module) if isinstance(call, TextCall) else _unread(call, module):
            if finding.code == UNREAD:
                unread.append(finding)
            else:
                findings[finding] = None
    ordered = sorted(findings, key=lambda finding: finding.rank)
    return Checked(tuple(ordered), texts, 1, tuple(unread))


def _found(call: TextCall, module: Module) -> Iterator[Finding]:
    """Yield the errors of one call that are not silenced by a comment."""
    from nameexpr.lint.diagnose import diagnose  # imported here, as it loads the compiler

    for problem in diagnose(call.literal):
        if problem.is_call and not call.is_certain:
            continue
        if call.is_made and not problem.is_call:  # reported where the text was passed
            continue
        finding = _located(problem, call, module)
        if not is_ignored(finding.code, _lines(finding, call, module)):
            yield finding


def _of_tensors(module: Module) -> Iterator[Finding]:
    """Yield the errors in names of tensors that are not silenced by a comment."""
    source = module.source
    for node, scope in module.scopes.calls:
        for given, check in checks(node, lambda part, scope=scope: module.values(part, scope)):  # type: ignore[misc]
            try:
                check()
            except NameExprError as fault:
                place = extent(given[0], source)[0], extent(given[-1], source)[1]
                if not is_expected_to_fail(node, module.scopes.parents):
                    for diagnostic in fault.diagnostics:
                        yield from _at(place, diagnostic._replace(operands=()), node, module)


def _of_gradients(module: Module) -> Iterator[Finding]:
    """Yield the gradients that are read by a wrong name and not silenced by a comment."""
    for node, diagnostic in missing_keys(module):
        if not is_expected_to_fail(node, module.scopes.parents):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            place = _of_word(key if isinstance(key, str) else "", node.slice, module.source)
            yield from _at(place, diagnostic, node, module)


def _at(place: tuple[int, int], diagnostic: Diagnostic, node: ast.expr, module: Module) -> Iterator[Finding]:
    """Yield a finding at a place in a call, unless a comment silences it."""
    region = module.source.region(*place)
    lines = [module.source.lines[number - 1] for number in {node.lineno, region.start.line}]
    if not is_ignored(diagnostic.code, lines):
        yield Finding(module.path, region, diagnostic)


def _located(problem: Problem, call: TextCall, module: Module) -> Finding:
    """Locate a problem: at its first mark, or at the whole text or call."""
    text, node = call.text, call.node
    keywords = {given.arg: given for given in node.keywords if given.arg}
    diagnostic, home = problem.diagnostic, text.module
    related: tuple[tuple[TextRange, str], ...] = ()
    if problem.keyword == "wrt" and call.wrt is not None:
        home, (start, end) = module, _of_word(problem.word, call.wrt, module.source)
    elif problem.keyword in keywords:
        home, start = module, extent(keywords[problem.keyword], module.source)[0]
        end = start + len(problem.keyword)
    elif problem.is_call and not call.is_written:  # the text is elsewhere, and may be right for other calls
        home, (start, end) = module, extent(call.given, module.source)
    elif diagnostic.marks and diagnostic.text == text.value and text.parts is not None:
        places = [written_at(text.parts, home.source, *mark.span) for mark in diagnostic.marks]
        notes = [mark.note for mark in diagnostic.marks]
        start, end = places[0]
        regions = [home.source.region(*place) for place in places]
        related = tuple(zip(regions, notes, strict=True))[1:]
    else:
        start, end = _extent(text)
    return Finding(home.path, home.source.region(start, end), diagnostic, related=related)


def _of_word(word: str, given: ast.expr, source: Source) -> tuple[int, int]:
    """Return the place of a word among the names that an argument lists, or of the whole argument."""
    for node in ast.walk(given):
        parts = literal_parts(node) if isinstance(node, ast.Constant) else None
        found = re.search(rf"(?<!\S){re.escape(word)}(?!\S)", text_of(parts)) if parts and word else None
        if parts and found:
            return written_at(parts, source, *found.span())
    return extent(given, source)


def _extent(text: Text) -> tuple[int, int]:
    first, last = (text.parts[0], text.parts[-1]) if text.parts else (text.origin, text.origin)
    return extent(first, text.module.source)[0], extent(last, text.module.source)[1]


def _lines(finding: Finding, call: TextCall, module: Module) -> list[str]:
    """Collect the lines whose comments may silence a finding."""
    source = call.text.module.source
    lines = [module.source.lines[call.node.lineno - 1]]
    start, end = (source.place(offset).line for offset in _extent(call.text))
    lines += [source.lines[number - 1] for number in sorted({start, end})]
    home = source if finding.path == call.text.module.path else module.source
    return [*lines, home.lines[finding.region.start.line - 1]]


def _unread(call: Unread, module: Module) -> Iterator[Finding]:
    """Yield the finding for a call whose text is unknown, unless a comment silences it."""
    diagnostic = Diagnostic(
        UNREAD,
        f"the text of this {call.function} is not known before it runs",
        hint="give it a literal text, or a name of one",
    )
    if call.swapped:
        is_formula = call.function == "evaluate"
        told = ", operands have names: evaluate(text, x=...)" if is_formula else ": einsum(text, array)"
        diagnostic = Diagnostic("NE506", "text and array are swapped", hint=f"the text comes first{told}")
    yield from _at(extent(call.swapped or call.given, module.source), diagnostic, call.node, module)
