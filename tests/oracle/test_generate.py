"""The generated cases are valid, reproducible, small, and show all that the language has."""

from __future__ import annotations

import collections
import random
import re

import numpy as np
from hypothesis import given, settings

from oracle.generate.expressions import Case, array_of, cases, mutate_text, same, seeded_case
from oracle.reference.expressions import Named, Refused, einsum
from oracle.reference.rules import labels_of
from oracle.reference.text import Label, parse

SEEDS = range(1000)


def traits(case: Case) -> list[str]:
    """What is in a case, in words."""
    text = re.sub(r"#[^\n]*", "", case.text)
    left, _, right = text.partition("->")
    right, _, reducer = right.partition(":")
    plain = [op.array if isinstance(op, Named) else op for op in case.operands]
    found = {
        "comment": "#" in case.text,
        "newline": "\n" in case.text,
        "prime": "'" in text,
        "foreign": not text.isascii(),
        "size in an input": re.search(r"=\s*\d", left),
        "size in the output": re.search(r"=\s*\d", right),
        "group in an input": "(" in left,
        "group in the output": "(" in right,
        "named group": re.search(r"=\s*\(", text),
        "nested group": re.search(r"\([^)]*\(", text),
        "empty group": re.search(r"\(\s*\)", text),
        "blank": re.search(r"(?<!\w)_(?!\w)", left),
        "dots": re.search(r"(?<![\w'])\.\.\.", left),
        "pack": re.search(r"[\w']\.\.\.", left),
        "left out": not left.strip() and any(isinstance(op, Named) and op.names for op in case.operands),
        "several named": sum(isinstance(op, Named) for op in case.operands) > 1,
        "named and plain": len({isinstance(op, Named) for op in case.operands}) == 2,
        "named": any(isinstance(op, Named) for op in case.operands),
        "python number": any(type(op) in (bool, int, float, complex) for op in case.operands),
        "read-only": any(isinstance(op, np.ndarray) and not op.flags.writeable for op in plain),
        "negative strides": any(
            isinstance(op, np.ndarray) and min(op.strides, default=0) < 0 for op in plain
        ),
        "empty": any(np.size(op) == 0 for op in plain),
        "special": case.special,
        "keyword": case.keywords,
        "sizes": case.sizes,
        "callable": callable(case.reduce),
        "dtype": case.dtype,
        f"reducer {reducer.strip() or case.reduce}": not callable(case.reduce),
        f"operands {len(case.operands)}": True,
    }
    found |= structure(case)
    found |= {f"dtype {np.asarray(op).dtype}": True for op in plain}
    return [trait for trait, shown in found.items() if shown]


def structure(case: Case) -> dict[str, bool]:
    """What the terms of a case do with labels."""
    text = parse(case.text)
    terms = [labels_of(term) for term in text.inputs]
    inputs, output = {label for term in terms for label in term}, labels_of(text.output or ())
    names = [op.names for op in case.operands if isinstance(op, Named)]
    inputs |= {name for own in names for name in own if name} if text.inputs == ((),) else set()
    reduced = bool(text.reducer or case.reduce)
    aliases = [any(isinstance(item, Label) and item.alias for item in term) for term in text.inputs]
    return {
        "diagonal": any(len(set(term)) < len(term) for term in terms),
        "embedding": len(set(output)) < len(output),
        "repeat": bool(set(output) - inputs),
        "contraction of two": not reduced and len(terms) == 2 and bool(inputs - set(output)),
        "contraction of more": not reduced and len(terms) > 2 and bool(inputs - set(output)),
        "alias in an input": any(aliases),
        "alias in the output": any(isinstance(item, Label) and item.alias for item in text.output or ()),
    }


def test_cases_are_valid_and_show_everything() -> None:
    """No case is rejected, each is within the limits, and each trait is seen."""
    seen: collections.Counter[str] = collections.Counter()
    for seed in SEEDS:
        case = seeded_case(seed)
        seen.update(traits(case))
        with np.errstate(all="ignore"):
            result = case.run(einsum)
        assert np.size(array_of(result)) <= 4000
    rare = {trait: count for trait, count in seen.items() if count < 5}
    assert not rare
    assert len(seen) == 27 + 16 + 5 + 12 + 7, sorted(seen.items())


def test_a_seed_makes_the_same_case_again() -> None:
    """Text and operands."""
    one, two = seeded_case(11), seeded_case(11)
    assert (one.text, one.keywords, one.reduce) == (two.text, two.keywords, two.reduce)
    assert same(one.run(einsum), two.run(einsum))


@settings(max_examples=50, deadline=None)
@given(cases())
def test_the_strategy_gives_cases(case: Case) -> None:
    """Every drawn case evaluates, and its result is the same as itself and not as another."""
    result = case.run(einsum)
    array = result.array if isinstance(result, Named) else result
    assert same(result, result, case)
    if array.size and array.dtype.kind in "iufc" and np.all(np.isfinite(array)):
        with np.errstate(all="ignore"):
            other = array + np.array(1 + abs(array).max(), array.dtype)
        assert not same(Named(other, result.names) if isinstance(result, Named) else other, result)


def test_mutated_texts_are_mostly_refused() -> None:
    """A broken text is rejected by its rule, never by another exception."""
    rng, refused = random.Random(1), 0
    for seed in range(500):
        case = seeded_case(seed)
        try:
            Case(mutate_text(rng, case.text), *list(vars(case).values())[1:]).run(einsum)
        except Refused:
            refused += 1
    assert refused > 300
