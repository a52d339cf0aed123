"""Texts that are built to take long, within all limits, and what each stage takes for them.

The worst cases of a compiler do not come by chance: one label in a thousand terms, statements that each
multiply by all earlier ones, the same array a thousand times, misspelt names by the thousand. `TEXTS` is the
table of them, by name; `measured` runs some, and returns the processor's seconds of every stage.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import nameexpr as ne
from hardening import slow_making as make
from hardening.figures import Figures
from hardening.slow_making import (
    ONE,
    TWO,
    Make,
    Slow,
    alike,
    apart,
    nested,
    network,
    ones,
    run,
    statements,
    words,
)

MOST = 3.0
"""Seconds of the processor for any stage, of texts up to the limits: nearly all take less than one."""


def measure(scale: float) -> Figures:
    """Run every stage of every text, at a scale of its size."""
    found = measured(scale=scale)
    slowest = sorted(found, key=lambda one: -one.seconds)[:3]
    told = "; ".join(f"{one.stage} of {one.name} {one.seconds:.1f} s" for one in slowest)
    quick = sum(one.seconds <= 1 for one in found)
    late = [one for one in found if one.seconds > MOST]
    breaches = [f"{one.name}: {one.stage} takes {one.seconds:.1f} s" for one in late]
    return Figures(
        f"{len(TEXTS)} texts, {len(found)} stages, {quick} within 1 s; slowest {told}", tuple(breaches)
    )


@dataclass(frozen=True)
class Row:
    """A text of the table: what makes it, and the largest size within the limits."""

    make: Make
    size: int


class Figure(NamedTuple):
    """What one stage took for one text: seconds of the processor; `code` is that of the error it ended in."""

    name: str
    characters: int
    stage: str
    seconds: float
    code: str


TEXTS: dict[str, Row] = {
    "terms of 3 of 600 labels, size 1": Row(lambda n: network(n, 3, 600), 1024),
    "terms of 20 of 600 labels, size 1": Row(lambda n: network(n, 20, 600), 300),
    "terms of 3 of 60 labels, size 1": Row(lambda n: network(n, 3, 60), 1024),
    "terms of 15 of 60 labels, size 1": Row(lambda n: network(n, 15, 60), 1024),
    "terms of 3 of 600 labels, size 2": Row(lambda n: network(n, 3, 600, 2), 1024),
    "terms of 3 of 60 labels, size 2": Row(lambda n: network(n, 3, 60, 2), 1024),
    "terms of 3 of 600 labels, max": Row(lambda n: network(n, 3, 600, end="-> : max"), 1024),
    "terms of 2 of 60 labels, kept": Row(lambda n: network(n, 2, 60, end=f"-> {words(60)}"), 1024),
    "terms of 2 of 20 labels, size 2": Row(lambda n: network(n, 2, 20, 2), 1024),
    "terms of 3 of 600 labels, size 0": Row(lambda n: network(n, 3, 600, 0), 1024),
    "one label in all terms": Row(apart("a", "-> a", TWO), 1024),
    "one label in all terms, one array": Row(alike("a", "-> a", TWO), 1024),
    "a pack in all terms": Row(apart("...", "-> ...", np.ones((2, 2))), 1024),
    "a named pack in all terms": Row(apart("p... c#", "-> p... : sum", np.ones((2, 2))), 1024),
    "a star": Row(apart("a d#", "-> a : sum", np.ones((2, 2))), 1024),
    "a star of one array": Row(alike("a d#", "-> a : sum", np.ones((2, 2))), 1024),
    "a chain": Row(apart("d# d@", "-> d0 d@", np.eye(2)), 1024),
    "a chain of one array": Row(alike("d# d@", "-> d0 d@", np.eye(2)), 1024),
    "a chain of 250 of one array": Row(alike("d# d@", "-> d0 d@", np.eye(2)), 250),
    "vectors of one array": Row(alike("d#", "-> : sum", TWO), 1024),
    "200 vectors of one array": Row(alike("d#", "-> : sum", TWO), 200),
    "scalars": Row(apart("", "->", 1.0), 1024),
    "groups in all terms": Row(apart("(a b#)", "-> a : sum", np.ones(4)), 1000),
    "literals in all terms": Row(apart("a 1 1 1", "-> a", np.ones((2, 1, 1, 1))), 1024),
    "terms of 64 dims": Row(apart(words(64), f"-> {words(64)}", ones(64)), 250),
    "terms of 64 dims, other order": Row(
        apart(words(64), f"-> {' '.join(reversed(words(64).split()))}", ones(64)), 250
    ),
    "two terms of 40 labels, max": Row(make.twice, 40),
    "64 repeats": Row(lambda n: Slow("a -> " + "a " * n, (ONE,)), 64),
    "diagonals of 64 dims": Row(lambda n: Slow("a " * n + "-> a", (ones(n),)), 64),
    "groups in each other": Row(make.grouped, 60),
    "misspelt labels": Row(make.misspelt, 64),
    "3,000 misspelt labels": Row(make.misspelt, 3000),
    "misspelt labels of many terms": Row(make.misspelt_terms, 1000),
    "labels that none has": Row(lambda n: Slow(f"a -> {words(n, 'z')}", (TWO,)), 9000),
    "labels that the result lacks": Row(lambda n: Slow(f"{words(n)} -> ", (TWO,)), 9000),
    "undetermined groups": Row(make.undetermined, 1000),
    "clashing sizes": Row(make.clashing, 1024),
    "wrong numbers of dims": Row(alike("a b", "->", TWO), 1024),
    "unknown size keywords": Row(make.sizes, 5000),
    "statements that multiply by the one before": Row(
        statements("a0=x[i]", "a#=a<*sum[i](a<)"), 1500
    ),
    "statements that square the one before": Row(statements("a0=x[i]", "a#=sum[i](a<*a<)*x"), 1500),
    "statements that divide the one before": Row(
        statements("a0=x[i]", "a#=sum[i](a<*x/y[i])*x", x=ONE, y=ONE), 1500
    ),
    "products of statements, summed": Row(statements("a0=x[i]", "a#=a<*x", "s=sum[i](a#)"), 3000),
    "statements that add the one before": Row(statements("a0=x[i]", "a#=a<+x"), 4500),
    "statements of their own": Row(statements("a0=x[i]", "a#=x[i]+#"), 3500),
    "statements with left terms": Row(statements("a0[i]=x[i]", "a#[i]=a<[i]"), 3000),
    "statements that add all earlier": Row(make.earlier, 130),
    "softmax of the statement before": Row(statements("a0=x[i]", "a#=softmax[i](a<)"), 2800),
    "reductions of the statement before": Row(statements("a0=x[i]", "a#=x-max[i](a<)"), 2800),
    "contractions of the statement before": Row(
        statements("a0[i j]=m[i j]", "a#[i j]=sum[k](a<[i k]*m[k j])", m=np.eye(2)), 1700
    ),
    "outer sums of statements": Row(statements("a0=x[i]", "a#=a<+w[j]", x=ONE, w=ONE), 3900),
    "a statement without use for each": Row(statements("a0=x[i]", "a#=x[i]*#", "y=x[i]"), 3500),
    "outputs": Row(make.outputs, 3300),
    "statements of a hundred terms each": Row(
        statements("a0=x[i]", "a#=" + "+".join(["a<"] * 110)), 115
    ),
    "sums of products of a hundred": Row(
        statements("a0=x[i]", "a#=sum[i](" + "*".join(["a<"] * 110) + ")*x"), 115
    ),
    "a sum of 9,000 terms": Row(run("+"), 9000),
    "a product of 9,000 factors": Row(run("*"), 9000),
    "a sum of a product of 9,000 factors": Row(run("*", wrap="sum[i]"), 9000),
    "a sum of integers' product": Row(run("*", wrap="sum[i]", x=np.ones(3, np.int8)), 9000),
    "a sum of quotients": Row(run("/", wrap="sum[i]"), 9000),
    "a power tower": Row(run("**"), 9000),
    "a chain of differences": Row(run("-"), 9000),
    "comparisons joined": Row(run("&", "(x[i]>#)"), 5000),
    "signs": Row(lambda n: Slow("-" * n + "x[i]", named={"x": TWO}), 60),
    "names": Row(run("+", "x#", **{f"x{k}": 1.0 for k in range(150)}), 150),
    "labels in a formula": Row(run("+", "sum[l#](x[l#])"), 3000),
    "numbers": Row(run("+", "#"), 9000),
    "maxima in each other": Row(nested("maximum(x[i],", "x[i]", ")"), 115),
    "softmax in each other": Row(nested("softmax[i](", "x[i]", ")"), 115),
    "where in each other": Row(nested("where(x[i]>0,x[i],", "x[i]", ")"), 115),
    "sums in each other": Row(nested("sum[i](x[i]*", "x[i]", ")"), 58),
    "powers in each other": Row(nested("(", "x[i]", "**4)"), 115),
    "sums of powers in each other": Row(nested("sum[i]((", "x[i]", ")**4*x[i])"), 38),
    "squares, summed": Row(
        lambda n: Slow("sum[i](" + "(" * n + "x[i]" + ")**2" * n + ")", named={"x": TWO}), 110
    ),
    "brackets": Row(nested("(", "x[i]", ")"), 199),
    "views of statements": Row(statements("a0[i j]=m[i j]", "a#[j i]=a<[i j]", m=np.eye(2)), 2400),
    "groups of statements": Row(
        statements("a0[(i j)]=m[i j]", "a#[(j i)]=a<[(i j)]", m=np.eye(2), sizes={"i": 2}), 2400
    ),
    "operands of 64 dims": Row(run("+", f"x[{words(64)}]", x=ones(64)), 250),
    "operands of 64 dims, turned": Row(make.turned, 250),
    "unknown names": Row(make.unknown_names, 3000),
    "unknown functions": Row(run("+", "softmx#(x[i])"), 3000),
    "unknown labels in a formula": Row(run("+", "sum[k#](x[i])"), 3000),
    "wrong dims in a formula": Row(run("+", "x[i j#]"), 3000),
    "long names": Row(make.long_names, 60),
    "a long comment": Row(lambda n: Slow("a -> a #" + "a" * n, (TWO,)), 60000),
    "blank lines": Row(lambda n: Slow("\n" * n + "a -> a", (TWO,)), 60000),
    "statements on lines that end in an error": Row(make.wrong_at_the_end, 3000),
    "letters beyond ASCII": Row(apart("β#", "-> : sum", TWO), 1024),
}  # fmt: skip


def stages(slow: Slow) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the stages of a text: reading, the first call, and all that is told of it."""
    text, operands, named, options = slow.text, slow.operands, dict(slow.named), dict(slow.options)
    sizes = named.pop("sizes", None)
    if sizes is not None:
        options["sizes"] = sizes
    is_formula = bool(named)
    compiled: list[Any] = []

    def compile_() -> None:
        compiled[:] = [ne.compile(text, **options)]

    def plan() -> Any:
        return compiled[0].plan(*operands, **named)

    yield "compile", compile_
    if is_formula:
        yield "call", lambda: ne.evaluate(text, **options, **named)
    else:
        terms = text.partition("->")[0]
        yield "check", lambda: ne.check(terms, *operands, **options)
        yield "call", lambda: ne.einsum(text, *operands, **options)
    if compiled:
        plans: list[Any] = []
        yield "plan", lambda: plans.append(plan())
        yield "outline", lambda: compiled[0].outline(*operands, **named)
        if plans:
            yield "table", lambda: str(plans[0])
            for kind in ("network", "tree", "memory"):
                yield f"draw {kind}", lambda kind=kind: plans[0].draw(kind)  # type: ignore[misc]
            yield "dot", lambda: plans[0].dot()
            yield "mermaid", lambda: plans[0].mermaid()
        yield "code", lambda: compiled[0].code
    given = {**options, **named} if is_formula else options
    yield "explain", lambda: ne.explain(text, *operands, **given)


def measured(names: Iterable[str] = TEXTS, scale: float = 1.0) -> list[Figure]:
    """Return what every stage takes for some texts of the table, at a part of their size."""
    figures = []
    for name in names:
        row = TEXTS[name]
        slow = row.make(max(2, int(row.size * scale)))
        for stage, run_stage in stages(slow):
            ne.cache_clear()
            seconds, code = _timed(run_stage)
            figures.append(Figure(name, len(slow.text), stage, seconds, code))
    return figures


def _timed(run_stage: Callable[[], Any]) -> tuple[float, str]:
    """Return the processor's seconds of a call, the text of its error among them, and the error's code."""
    code = ""
    start = time.process_time()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            run_stage()
        except ne.NameExprError as fault:
            code = fault.code
            str(fault)
    return time.process_time() - start, code
