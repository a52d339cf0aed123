"""Plans drawn by `nameexpr plan`: SVG into a file or onto standard output, DOT and Mermaid as text."""

from __future__ import annotations

import os
from argparse import Namespace
from typing import IO, TYPE_CHECKING, Any

from nameexpr.terminal import report
from nameexpr.terminal.atomic_write import check_place
from nameexpr.terminal.faults import FileError, UsageError, quoted, reason
from nameexpr.whole_files import replace_file

if TYPE_CHECKING:
    from nameexpr.runtime.plan.plan import Plan

STANDARD = "-"


def check_options(options: Namespace) -> None:
    """Refuse options for pictures that make no sense together, before anything is planned.

    Raises
    ------
    UsageError
        If they make none.
    FileError
        If there is no such folder to write to.
    """
    is_graph = options.dot or options.mermaid
    if options.draw and not is_graph and options.svg is None:
        raise UsageError(
            "--draw says what to draw, and not where",
            "add --svg FILE, --dot or --mermaid",
            usage=options.usage,
        )
    if options.draw == "memory" and is_graph:
        message = "bytes by step are no graph, so there is no DOT or Mermaid of them"
        raise UsageError(message, "write them with --svg FILE", usage=options.usage)
    if options.svg is not None:
        _check_target(options, is_graph=is_graph)


def _check_target(options: Namespace, *, is_graph: bool) -> None:
    if options.svg == STANDARD:
        if options.json or is_graph:
            other = "--json" if options.json else "--dot" if options.dot else "--mermaid"
            message = f"--svg - and {other} both want standard output"
            raise UsageError(message, "write the picture to a file", usage=options.usage)
        return
    if os.path.splitext(options.svg)[1].casefold() != ".svg":
        message = f"{quoted(options.svg)} is no name for a picture"
        raise UsageError(message, "pictures are SVG: end it in .svg", usage=options.usage)
    check_place(options.svg, options.svg)


def show(plan: Plan, options: Namespace) -> None:
    """Print the plan, or the graph of it, and write its picture.

    Raises
    ------
    FileError
        If the picture cannot be written.
    """
    kind: Any = options.draw or "network"
    if options.svg is not None:
        picture = str(plan.draw(kind))
        if options.svg == STANDARD:
            report.tell(report.Report(picture.rstrip("\n"), {}), options)
            return
        _write(picture, options.svg)
    if options.dot or options.mermaid:
        graph = plan.dot(kind) if options.dot else plan.mermaid(kind)
        name = "dot" if options.dot else "mermaid"
        told = report.Report(graph.rstrip("\n"), {name: graph, "svg": options.svg})
    else:
        whole = report.of_plan(plan)
        told = report.Report(whole.text, {**whole.data, "svg": options.svg})
    report.tell(told, options)


def _write(picture: str, path: str) -> None:
    def write(stream: IO[bytes]) -> None:
        stream.write(picture.encode("utf-8"))

    try:
        replace_file(path, write)
    except OSError as fault:
        raise FileError(f"cannot write {quoted(path)}: {reason(fault)}", "write elsewhere") from fault
