"""The fenced blocks of README.md and docs/, and how each kind is run.

A `python` block with prompts is a doctest. One without prompts is executed, and what it prints, or the text
of the `NameExprError` it raises, is the `text` block that follows it. A `sh` block of `nameexpr` commands is
run through the command line's `main`, and is followed by its output in the same way. A `nameexpr-session`
block is a transcript of the REPL: its lines are entered again, and what the session says must be what stands
there. The blocks of one document share their names, and its transcripts one session.
`python -m pages.documents`, run in tests/, writes all outputs again.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import nameexpr as ne

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
)
KINDS = {"python", "text", "sh", "", "nameexpr-session", "{eval-rst}", "{raw} html"}
FENCE = re.compile(
    r"^(?P<ticks>```+)(?P<kind>[^\n`]*)\n(?P<body>.*?)^(?P=ticks)[ ]*$", re.MULTILINE | re.DOTALL
)


class Fence(NamedTuple):
    """One fenced block: its kind, text and line, and the `text` block right after it if there is one."""

    kind: str
    body: str
    line: int
    output: str | None
    output_at: tuple[int, int]
    body_at: tuple[int, int]


def read(document: str) -> str:
    """Return the text of a document."""
    return (ROOT / document).read_text(encoding="utf-8")


def fences(text: str) -> list[Fence]:
    """Return the fenced blocks of a text in order."""
    found = list(FENCE.finditer(text))
    blocks = []
    for here, behind in zip(found, [*found, None][1:], strict=True):
        output, place = None, (0, 0)
        if behind is not None and behind["kind"] == "text" and not text[here.end() : behind.start()].strip():
            output, place = behind["body"], behind.span("body")
        line = text.count("\n", 0, here.start()) + 1
        blocks.append(Fence(here["kind"], here["body"], line, output, place, here.span("body")))
    return blocks


def ones(*shape: int, names: object = None) -> ne.NamedTensor:
    """Return a tensor of ones: shorthand of docs/errors.md."""
    return ne.tensor(np.ones(shape), names=names)


def names_at_start() -> dict[str, Any]:
    """Return the names that every document may use without an import."""
    return {"np": np, "ne": ne, "ones": ones}


def is_run(fence: Fence) -> bool:
    """Whether running a document runs this block: Python, calls of the command line, and sessions."""
    is_command = fence.kind == "sh" and fence.body.startswith("nameexpr ")
    return is_command or fence.kind in ("python", "nameexpr-session")


def run(fence: Fence, document: str, names: dict[str, Any]) -> None:
    """Run one block, and fail where it does not do what the document says."""
    if fence.kind == "python" and ">>> " in fence.body:
        run_prompts(fence, document, names)
        return
    if fence.kind == "nameexpr-session":
        said = session_output(fence.body, names)
        assert said == fence.body, f"{document}:{fence.line} gives\n{said}"
        return
    printed = commands_output(fence.body) if fence.kind == "sh" else output_of(fence.body, names)
    assert printed == (fence.output or ""), f"{document}:{fence.line} gives\n{printed}"


def run_prompts(fence: Fence, document: str, names: dict[str, Any]) -> None:
    """Run a block with prompts as a doctest."""
    test = doctest.DocTestParser().get_doctest(fence.body, names, document, document, fence.line)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    report = io.StringIO()
    failed, tried = runner.run(test, out=report.write, clear_globs=False)
    names |= test.globs
    assert tried
    assert not failed, report.getvalue()


def output_of(source: str, names: dict[str, Any]) -> str:
    """Return what a block prints, or the text of the error that it ends with."""
    printed = io.StringIO()
    limits = ne.limits()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, "<document>", "exec"), names)
    except ne.NameExprError as error:
        printed.write(f"{error}\n")
    finally:
        ne.set_limits(**limits._asdict())
    return printed.getvalue()


def session_output(transcript: str, names: dict[str, Any]) -> str:
    """Return the transcript of the same lines as it is now."""
    from nameexpr.session.commands import new_session
    from nameexpr.session.continuation import lines_of
    from nameexpr.session.files import transcript as told

    session = names.setdefault("__session__", new_session())
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for answer in told(session, lines_of(transcript)):
            print(answer.text)
    return printed.getvalue()


def commands_output(lines: str) -> str:
    """Return what the command line prints for each line of a `sh` block."""
    from nameexpr.cli.main import main

    printed = io.StringIO()
    for line in lines.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "nameexpr", line
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            main(arguments)
    return printed.getvalue()


def refreshed(text: str) -> str:
    """Return the text of a document with the output of every block without prompts as it is now."""
    names = names_at_start()
    outputs = []
    for fence in fences(text):
        if not is_run(fence):
            continue
        if fence.kind == "nameexpr-session":
            outputs.append((fence.body_at, session_output(fence.body, names)))
            continue
        source = "".join(example.source for example in doctest.DocTestParser().get_examples(fence.body))
        printed = (
            commands_output(fence.body) if fence.kind == "sh" else output_of(source or fence.body, names)
        )
        if fence.output is not None and not source:
            outputs.append((fence.output_at, printed))
    for (start, end), printed in reversed(outputs):
        text = text[:start] + printed + text[end:]
    return text


def main() -> None:
    """Write the outputs that the examples of README.md and docs/, or of the documents named, have now."""
    os.chdir(ROOT)
    for document in sys.argv[1:] or DOCUMENTS:
        (ROOT / document).write_text(refreshed(read(document)), encoding="utf-8")


if __name__ == "__main__":
    main()
