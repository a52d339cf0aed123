"""What thousands of random programs do, written down, and compared with what they did before.

python -m oracle.snapshot write before.jsonl.gz          # in tests/; some minutes
python -m oracle.snapshot compare before.jsonl.gz after.jsonl.gz

For changes that are to change nothing: of every program the file holds the generated source, the plan, the
result cell by cell, or the text of the error. Each is run as it is and in other ways: with a limit of its
memory, with other strategies than the cheapest, with one array for two operands, with operands bound, with
`out=`; and with a text or an operand that is broken. Values must be equal bit for bit where the source is
equal, and else but for roundings.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import itertools
import json
import multiprocessing
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import nameexpr as ne
from hardening.forcing import forced
from hardening.strategies import picking
from nameexpr.tensors import wrap
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate
from oracle.generate.text import mutate_text
from oracle.reference.expressions import Named

EXPRESSIONS, FORMULAS = 6000, 2000
FIRST = 70_000_000
"""The first seed: far from those of the tests."""
CHUNK = 250
KEPT = 4096
"""Bytes of a result up to which its cells are kept; of others a digest is."""
SHOWN = 10
ROUNDING = {"f": 1e-5, "c": 1e-5}
"""How far floats may be apart, relative to the largest, if the source has changed."""

Record = dict[str, Any]
Run = Callable[[], Record]


def recorded(function: Any, call: Callable[[Any], Any], *, with_source: bool = True) -> Record:
    """Return what a compiled text gives: its results, and the source and plan for them."""
    results = call(function)
    results = results if isinstance(results, tuple | list) else [results]
    record: Record = {"results": [_result(result) for result in results]}
    if with_source:
        plan = call(function.plan)
        record |= {"source": plan.code, "plan": str(plan)}
    return record


def _result(result: Any) -> Record:
    array = np.asarray(generate.array_of(result))
    cells = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    is_kept = len(cells) <= KEPT
    kept = base64.b64encode(cells).decode() if is_kept else hashlib.sha256(cells).hexdigest()
    names = [str(name) for name in result.names] if hasattr(result, "names") else None
    return {"names": names, "dtype": array.dtype.str, "shape": array.shape, "cells": kept, "whole": is_kept}


def expression_records(seed: int) -> Iterator[tuple[str, Run]]:
    """Yield the ways in which the expression of a seed is run."""
    case = generate.seeded_case(seed)
    rng = random.Random(f"snapshot {seed}")
    options = {"sizes": case.sizes | case.keywords, "reduce": case.reduce, "dtype": case.dtype}
    options = {word: value for word, value in options.items() if value not in (None, {})}
    operands = [_wrapped(operand) for operand in case.operands]

    def run(text: str = case.text, given: list[Any] = operands, **more: Any) -> Record:
        return recorded(ne.compile(text, **options, **more), lambda function: function(*given))

    def limited() -> Record:
        whole = ne.compile(case.text, **options).plan(*operands).peak_bytes
        return run(memory_limit=max(64, whole // 2))

    def picked() -> Record:
        with picking({rng.randrange(4): 1, rng.randrange(8): 2}):
            return run()

    def bound() -> Record:
        fixed = rng.randrange(len(operands))
        rest = [operand for position, operand in enumerate(operands) if position != fixed]
        function = ne.compile(case.text, **options).bind({fixed: operands[fixed]})
        return recorded(function, lambda call: call(*rest))

    def into() -> Record:
        function = ne.compile(case.text, **options)
        out = np.zeros_like(np.asarray(generate.array_of(function(*operands))))
        return recorded(function, lambda call: call(*operands, out=out), with_source=False)

    yield "", run
    yield "limit", limited
    yield "picks", picked
    yield "bind", bound
    yield "out", into
    yield "same", lambda: run(given=_shared(operands))
    yield "text", lambda: run(mutate_text(rng, case.text))
    yield "shape", lambda: run(given=_misshapen(rng, operands))


def formula_records(seed: int) -> Iterator[tuple[str, Run]]:
    """Yield the ways in which the formula of a seed is run."""
    case = formula_generate.seeded_case(seed)
    rng = random.Random(f"snapshot {seed}")
    options = {"sizes": case.sizes, "outputs": case.outputs}
    options = {word: value for word, value in options.items() if value}
    operands = {name: _wrapped(operand) for name, operand in case.operands.items()}

    def run(text: str = case.text, given: Mapping[str, Any] = operands, **more: Any) -> Record:
        return recorded(ne.compile(text, **options, **more), lambda function: function(**given))

    def in_manner(manner: str) -> Record:
        with forced(manner):
            return run()

    def bound() -> Record:
        fixed = set(rng.sample(sorted(operands), rng.randint(1, len(operands)))) if operands else set()
        rest = {name: value for name, value in operands.items() if name not in fixed}
        function = ne.compile(case.text, **options).bind(**{name: operands[name] for name in fixed})
        return recorded(function, lambda call: call(**rest))

    def broken_operands() -> Record:
        names = list(operands)
        values = _misshapen(rng, [operands[name] for name in names])
        given = dict(zip(names, values, strict=True))
        if names and rng.random() < 0.2:
            del given[rng.choice(names)]
        return run(given=given)

    yield "", run
    yield (
        "limit",
        lambda: run(memory_limit=max(64, ne.compile(case.text, **options).plan(**operands).peak_bytes)),
    )
    yield "fused", lambda: in_manner("fused")
    yield "looped", lambda: in_manner("looped")
    yield "bind", bound
    yield "same", lambda: run(given=dict(zip(operands, _shared(list(operands.values())), strict=True)))
    yield "text", lambda: run(mutate_text(rng, case.text))
    yield "shape", broken_operands


def _wrapped(operand: Any) -> Any:
    return wrap(operand.array, operand.names) if isinstance(operand, Named) else operand


def _shared(operands: list[Any]) -> list[Any]:
    """Return the operands with the first array of each kind in the place of all others like it."""
    first: dict[Any, Any] = {}

    def kind(operand: Any) -> Any:
        array = generate.array_of(operand)
        return type(operand), getattr(operand, "names", None), array.shape, array.dtype.str

    return [
        first.setdefault(kind(operand), operand) if hasattr(operand, "shape") else operand
        for operand in operands
    ]


def _misshapen(rng: random.Random, operands: list[Any]) -> list[Any]:
    """Return the operands with one of them in another shape, dtype or number of dims."""
    if not operands:
        return operands
    position = rng.randrange(len(operands))
    array = np.asarray(generate.array_of(operands[position]))
    doubled = array.repeat(2, -1) if array.ndim else array
    empty = array[:0] if array.ndim else "x"
    broken = rng.choice([array[..., np.newaxis], doubled, array.astype(object), empty])
    return [*operands[:position], broken, *operands[position + 1 :]]


KINDS: dict[str, Callable[[int], Iterator[tuple[str, Run]]]] = {
    "expression": expression_records,
    "formula": formula_records,
}


def records_of(part: tuple[str, range]) -> list[Record]:
    """Return the records of some seeds of a kind."""
    kind, seeds = part
    return [
        {"id": f"{kind} {seed} {way}".strip(), **_guarded(run)}
        for seed in seeds
        for way, run in KINDS[kind](seed)
    ]


def _guarded(run: Run) -> Record:
    """Return what a run records, or the text of its error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception as fault:  # noqa: BLE001  what is not an error of ours shows by its name
            return {"error": f"{type(fault).__name__}: {fault}"}


def write(path: Path, expressions: int, formulas: int) -> None:
    """Write the records of so many expressions and formulas."""
    parts = [
        (kind, range(first, min(first + CHUNK, FIRST + count)))
        for kind, count in (("expression", expressions), ("formula", formulas))
        for first in range(FIRST, FIRST + count, CHUNK)
    ]
    context = multiprocessing.get_context("spawn")
    with gzip.open(path, "wt", encoding="utf-8") as file, context.Pool(maxtasksperchild=4) as pool:
        for records in pool.imap(records_of, parts):
            file.writelines(json.dumps(record) + "\n" for record in records)


def compare(before: Path, after: Path) -> int:
    """Print what differs, and return how many values and errors do; other sources and plans are told."""
    differing: Counter[str] = Counter()
    with gzip.open(before, "rt", encoding="utf-8") as left, gzip.open(after, "rt", encoding="utf-8") as right:
        for old_line, new_line in itertools.zip_longest(left, right):
            if old_line is None or new_line is None:
                raise SystemExit("the files hold different numbers of records")
            old, new = json.loads(old_line), json.loads(new_line)
            assert old["id"] == new["id"], (old["id"], new["id"])
            differing["records"] += 1
            for what in differences(old, new):
                differing[what] += 1
                if differing[what] <= SHOWN:
                    print(f"== {what}: {old['id']}\n{_shown(old, what)}\n-- now\n{_shown(new, what)}")
    print(dict(differing))
    return differing["values"] + differing["error"]


def differences(old: Record, new: Record) -> list[str]:
    """Return in what two records differ: error, values, source, plan."""
    if old.get("error") != new.get("error"):
        return ["error"]
    found = [what for what in ("source", "plan") if old.get(what) != new.get(what)]
    pairs = zip(old.get("results", ()), new.get("results", ()), strict=True)
    if not all(_is_same(*pair, is_exact="source" not in found) for pair in pairs):
        found.append("values")
    return found


def _is_same(old: Record, new: Record, *, is_exact: bool) -> bool:
    if old == new:
        return True
    kind = np.dtype(old["dtype"])
    is_known = old["whole"] and not kind.hasobject
    if is_exact or not is_known or any(old[what] != new[what] for what in ("names", "dtype", "shape")):
        return False
    left, right = (np.frombuffer(base64.b64decode(one["cells"]), kind) for one in (old, new))
    largest = np.max(np.abs(left[np.isfinite(left)]), initial=1e-30)
    tolerance = largest * (ROUNDING.get(kind.kind, 0) if kind.itemsize > 2 else 0.01)
    return np.allclose(left, right, rtol=0, atol=tolerance, equal_nan=True)


def _shown(record: Record, what: str) -> str:
    if what == "values":
        return "\n".join(str(result)[:300] for result in record["results"])
    return str(record.get(what) or record.get("error") or "no error")


def main() -> int:
    """Run the command; 1 if values or errors differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("file", type=Path)
    writing.add_argument("--expressions", type=int, default=EXPRESSIONS)
    writing.add_argument("--formulas", type=int, default=FORMULAS)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "write":
        write(options.file, options.expressions, options.formulas)
        return 0
    return int(compare(options.before, options.after) > 0)


if __name__ == "__main__":
    sys.exit(main())
