"""`nameexpr check`: find wrong texts in files. At module level only argparse is imported."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nameexpr.lint.findings import Checked

EXAMPLES = """\
examples:
  nameexpr check .                               all Python files and notebooks below
  nameexpr check src/ analysis.ipynb --exclude 'test_*'
  nameexpr check src/ --format github            annotations of a pull request
  nameexpr check src/ --format sarif > nameexpr.sarif
  nameexpr check - --stdin-filename x.py < x.py  as an editor does

Every text that einsum, evaluate, compile, check or explain is called with is read as the call would
read it, without running the file. Mistakes are reported as path:line:column. The comments
"# nameexpr: ignore" and "# nameexpr: ignore[NE304]" silence a line.

exit codes: 0 no mistakes, 1 mistakes, or a file that cannot be read, 2 the arguments are wrong,
130 interrupted. Arguments after -- are not options."""
FORMATS = ("text", "json", "github", "sarif")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paths and options of the command."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="files and folders; - is standard input")
    parser.add_argument("--format", choices=FORMATS, default="text", help="format of the findings")
    parser.add_argument("--short", action="store_true", help="print one line for each finding")
    excluded = "leave out files and folders that match a shell pattern; can be repeated"
    strict = "also report calls whose text cannot be determined"
    parser.add_argument("--strict", action="store_true", help=strict)
    parser.add_argument("--exclude", metavar="PATTERN", action="append", default=[], help=excluded)
    only = "report only codes that begin with these: NE1,NE304"
    parser.add_argument("--select", metavar="CODES", type=_codes, default=(), help=only)
    parser.add_argument(
        "--ignore", metavar="CODES", type=_codes, default=(), help="do not report codes that begin with these"
    )
    name = "the file name of standard input; a notebook if it ends in .ipynb"
    parser.add_argument("--stdin-filename", metavar="NAME", default="<stdin>", help=name)


def _codes(written: str) -> tuple[str, ...]:
    codes = tuple(written.replace(",", " ").upper().split())
    wrong = next((code for code in codes if not re.fullmatch(r"NE\d{0,3}", code)), None)
    if wrong is not None or not codes:
        hint = "write NE304, or NE3 for all NE3xx"
        raise argparse.ArgumentTypeError(f"{wrong or written!r} is not a code: {hint}")
    return codes


def run(options: argparse.Namespace) -> int:
    """Check, print the findings, and return the exit code: 0 if there are none, else 1."""
    checked = check_paths(options.paths, options.exclude, options.stdin_filename)
    checked = chosen(checked, options.select, options.ignore)
    if options.strict:
        findings = sorted((*checked.findings, *checked.unread), key=lambda one: (one.path, one.rank))
        checked = checked._replace(findings=tuple(findings), unread=())
    _show(checked, "json" if options.json else options.format, options.color, is_short=options.short)
    return 1 if checked.findings else 0


def check_paths(paths: Sequence[str], exclude: Sequence[str] = (), stdin_name: str = "<stdin>") -> Checked:
    """Check files, folders, and standard input ("-").

    The syntax trees are kept until the end, so the garbage collector would search them again and again.
    """
    import gc
    from itertools import groupby

    from nameexpr.lint.files import check_file, check_stdin, find_files
    from nameexpr.lint.findings import Checked
    from nameexpr.lint.modules import Modules

    parts: list[Checked] = []
    modules, was_enabled = Modules(), gc.isenabled()
    gc.disable()
    try:
        for is_stdin, group in groupby(paths, lambda path: path == "-"):
            if is_stdin:
                parts.append(check_stdin(stdin_name))
            else:
                parts += [check_file(path, modules) for path in find_files(list(group), exclude)]
    finally:
        if was_enabled:
            gc.enable()
    findings = dict.fromkeys(finding for part in parts for finding in part.findings)
    unread = tuple(call for part in parts for call in part.unread)
    counts = sum(part.texts for part in parts), sum(part.files for part in parts)
    return Checked(tuple(findings), *counts, unread)


def chosen(checked: Checked, select: tuple[str, ...], ignore: tuple[str, ...]) -> Checked:
    """Keep the findings with the selected codes; a file that cannot be read or parsed is always reported."""
    from nameexpr.lint.findings import FILE, SYNTAX

    findings = tuple(
        finding
        for finding in checked.findings
        if finding.code in (FILE, SYNTAX)
        or (finding.code.startswith(select or ("NE",)) and not finding.code.startswith(ignore))
    )
    return checked._replace(findings=findings)


def _show(checked: Checked, form: str, color: str, *, is_short: bool) -> None:
    """Write the findings to standard output and a summary to standard error; JSON contains the summary."""
    from nameexpr.lint.formats import as_github, as_json, as_sarif, as_text, summary
    from nameexpr.terminal import screen

    if form == "json":
        screen.say(as_json(checked))
        return
    if form == "sarif":
        screen.say(as_sarif(checked))
    is_coloured = screen.is_colour_wanted(color, sys.stdout)
    for finding in () if form == "sarif" else checked.findings:
        text = as_text(finding, is_short=is_short, is_coloured=is_coloured)
        screen.say(as_github(finding) if form == "github" else text)
    screen.complain(summary(checked))
