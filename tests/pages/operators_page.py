"""docs/operators.md, made from the table of operators.

`python -m pages.operators_page`, run in tests/, writes it.

What is in it comes from `nameexpr.tensors.ops` (rule, summary, whether PyTorch's page lists it) and from the
methods and functions themselves (where an operator stands, its signature, its twin, `out=`). The words around
the tables are in tests/pages/operators_words.md, one part for each rule.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import nameexpr as ne
import nameexpr.tensors.arguments
import nameexpr.tensors.factories
import nameexpr.tensors.functions
import nameexpr.tensors.joining
import nameexpr.tensors.storage
from nameexpr.tensors.missing import Answered
from nameexpr.tensors.operators import NEEDED
from nameexpr.tensors.ops import OPS, RULES, Op
from pages import documents

PAGE = documents.ROOT / "docs" / "operators.md"
WORDS = Path(__file__).with_name("operators_words.md")
LEFT_OUT = {"self", "out", "others", "memory_format", "non_blocking", "torch", "bounds"}
"""Parameters that no signature shows: `out` has a column, the others are there for PyTorch's calls."""


for _name in ne.__all__:
    getattr(ne, _name)  # operators are known once their modules are loaded, and those load on use


class Row(NamedTuple):
    """What the page says about one operator."""

    op: Op
    places: list[str]
    calls: list[str]
    twins: list[Op]
    aliases: list[str]


def rows(rule: str) -> list[Row]:
    """Return a row for every operator of a rule that is not the twin of another, in alphabetic order."""
    made_by = others()
    return [row(op, made_by) for _, op in sorted(OPS.items()) if op.rule == rule and not op.twin_of]


def row(op: Op, made_by: Mapping[str, str]) -> Row:
    member, function = member_of(op.name), function_of(op.name)
    calls = [] if member is None else calls_of(op.name, member)
    if function is not None and "." not in function.__qualname__:  # else it is made of a method
        calls += [call for call in calls_of(f"ne.{op.name}", function) if call not in calls]
    places = [kind(member)] if member is not None else []
    places += ["function"] if function is not None else []
    places += ["`out=`"] if any("out" in parameters(one) for one in (member, function)) else []
    twins = [twin for twin in OPS.values() if twin.twin_of == op.name]
    aliases = [name for name, actual in made_by.items() if actual == op.name]
    return Row(op, places, calls, twins, aliases)


def member_of(name: str) -> Any:
    """Return a method or attribute of NamedTensor as it is declared, None if there is none."""
    found = inspect.getattr_static(ne.NamedTensor, name, None)
    return None if isinstance(found, Answered) else found


def function_of(name: str) -> Callable[..., Any] | None:
    """Return a function of nameexpr's tensors; `ne.float` and its like are dtypes."""
    found = getattr(ne, name, None)
    is_ours = inspect.isfunction(found) and found.__module__.startswith("nameexpr.tensors")
    return found if is_ours else None


def kind(member: Any) -> str:
    return "method" if inspect.isfunction(member) else "attribute"


def parameters(function: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters) if inspect.isfunction(function) else {}


def calls_of(name: str, function: Any) -> list[str]:
    """Return the ways to call a function: its overloads, if its own signature does not tell."""
    if not inspect.isfunction(function):
        return [name]
    is_vague = "<not given>" in str(inspect.signature(function))
    ways = typing.get_overloads(function) if is_vague else [function]
    return [f"{name}{short(one)}" for one in ways]


def short(function: Callable[..., Any]) -> str:
    """Return the signature without types and without what every operator has."""
    signature = inspect.signature(function)
    shown = [one for one in signature.parameters.values() if one.name not in LEFT_OUT]
    kept = [one.replace(annotation=one.empty, kind=max(one.kind, one.POSITIONAL_OR_KEYWORD)) for one in shown]
    kept = [
        one.replace(default=one.empty) if one.default is NEEDED and at == 0 else one
        for at, one in enumerate(kept)
    ]
    plain = signature.replace(parameters=kept, return_annotation=signature.empty)
    return str(plain).translate(str.maketrans("'", '"')).replace("Ellipsis", "...").replace("from_", "from")


def others() -> dict[str, str]:
    """Return the public members and functions that are not in the table, each with the name it is made by."""
    members = {name: member_of(name) for name in dir(ne.NamedTensor) if name not in OPS and name[0] != "_"}
    functions = {name: function_of(name) for name in dir(ne) if name not in OPS and name[0] != "_"}
    both = {name: members.get(name) or functions.get(name) for name in {**functions, **members}}
    both = {name: one for name, one in both.items() if one is not None}
    return {name: actual for name, one in both.items() if (actual := real_name(one)) in OPS or actual == name}


def real_name(member: Any) -> str:
    return str(getattr(getattr(member, "fget", None) or member, "__name__", ""))


def table(rule: str) -> str:
    """Return the table of one rule."""
    lines = ["| operator | where | call | returns | PyTorch |", "|---|---|---|---|---|"]
    return "\n".join(lines + [line(one) for one in rows(rule)])


def line(one: Row) -> str:
    names = [f"`{name}`" for name in (one.op.name, *one.aliases)]
    places = [*one.places, *(f"`{twin.name}`" for twin in one.twins)]
    calls = [f"`{call}`" for call in one.calls]
    ours = [twin.name for twin in one.twins if one.op.is_torch and not twin.is_torch]
    listed = ("yes" if one.op.is_torch else "ours") + "".join(f"; `{name}` is ours" for name in ours)
    cells = (", ".join(names), ", ".join(places), "<br>".join(calls), said(one.op.summary), listed)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def said(summary: str) -> str:
    """Return a summary as the cell of a table: `Return the sum.` is `the sum`."""
    return summary.removeprefix("Return ").rstrip(".")


def other_table() -> str:
    """Return the table of what is not an operator."""
    lines = ["| name | where | call | what it is or returns |", "|---|---|---|---|"]
    for name in sorted(name for name, actual in others().items() if name == actual):
        member, function = member_of(name), function_of(name)
        where = "function" if member is None else kind(member)
        call = calls_of(name if function is None else f"ne.{name}", function or member)[0]
        summary = " ".join((inspect.getdoc(function or member) or "").split("\n\n")[0].split())
        lines.append(f"| `{name}` | {where} | `{call}` | {said(summary)} |")
    return "\n".join(lines)


def page() -> str:
    """Return the whole page, with the output of its examples."""
    from_torch = sum(op.is_torch for op in OPS.values())
    contents = {"torch": str(from_torch), "ours": str(len(OPS) - from_torch), "others": other_table()}
    for rule, meaning in RULES.items():
        contents |= {rule: table(rule), f"meaning of {rule}": meaning[0].upper() + meaning[1:]}
    text = WORDS.read_text(encoding="utf-8")
    for name, content in contents.items():
        text = text.replace("{{" + name + "}}", content)
    return documents.refreshed(text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
