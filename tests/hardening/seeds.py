"""One text has one plan, one code and one result, under any hash seed, Python and number of BLAS threads."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import nameexpr as ne
from hardening.figures import Figures, counted
from nameexpr.tensors import wrap
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate

PROGRAMS = 400
"""Expressions, and as many formulas, of every run."""
HASH_SEEDS = 20
FIRST = 60_000_000
PYTHONS = "HARDENING_PYTHONS"
"""Environment variable: other versions' interpreters with the package installed, joined by `os.pathsep`."""
CHILD = "import sys; from hardening.seeds import digests; digests(int(sys.argv[1]))"
ROOT = Path(__file__).parents[2]


def measure(scale: float) -> Figures:
    """Run the same programs under every seed, version and number of threads, and compare what they print."""
    programs, hash_seeds = counted(PROGRAMS, scale), counted(HASH_SEEDS, scale, 2)
    runs = {f"hash seed {seed}": _run(sys.executable, programs, seed, 1) for seed in range(hash_seeds)}
    runs["two BLAS threads"] = _run(sys.executable, programs, 0, 2)
    others = [python for python in os.environ.get(PYTHONS, "").split(os.pathsep) if python]
    runs |= {f"{python}": _run(python, programs, 0, 1) for python in others}
    usual = runs["hash seed 0"]
    breaches = [
        f"{title}: {kind} of {text!r} differ"
        for title, found in runs.items()
        for text, kind in _differing(usual, found)
    ]
    versions = sorted({found["python"] for found in runs.values()})
    summary = (
        f"{len(usual['programs'])} programs, {hash_seeds} hash seeds, Python {', '.join(versions)}, "
        f"1 and 2 BLAS threads: {len(breaches)} differ"
    )
    return Figures(summary, tuple(breaches[:20]))


def _run(python: str, programs: int, seed: int, threads: int) -> dict[str, Any]:
    variables = {"PYTHONHASHSEED": str(seed), "OPENBLAS_NUM_THREADS": str(threads), "PYTHONUTF8": "1"}
    paths = os.pathsep.join([str(ROOT / "tests"), str(ROOT)])
    run = subprocess.run(
        [python, "-c", CHILD, str(programs)],
        env={**os.environ, **variables, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def _differing(usual: dict[str, Any], found: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = zip(usual["programs"], found["programs"], strict=True)
    return [
        (left["text"], kind)
        for left, right in pairs
        for kind in left
        if left[kind] != right[kind] and kind != "text"
    ]


def digests(programs: int) -> None:
    """Print the plans, the code and the values of programs, as JSON."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = [_expression(FIRST + number) for number in range(programs)]
        found += [_formula(FIRST + number) for number in range(programs)]
    print(json.dumps({"python": ".".join(map(str, sys.version_info[:3])), "programs": found}))


def _expression(seed: int) -> dict[str, str]:
    case = generate.seeded_case(seed)
    values = case.run(ne.einsum, wrap=_named)

    def planned(text: str, *operands: Any, **options: Any) -> Any:
        return ne.compile(text, **options).plan(*operands)

    return _told(case.text, case.run(planned, wrap=_named), [values])


def _formula(seed: int) -> dict[str, str]:
    case = formula_generate.seeded_case(seed)
    values = case.run(ne.evaluate, wrap=_named)

    def planned(text: str, **given: Any) -> Any:
        options = {word: given.pop(word) for word in ("outputs", "sizes") if word in given}
        return ne.compile(text, **options).plan(**given)

    return _told(
        case.text, case.run(planned, wrap=_named), [values] if case.outputs is None else list(values)
    )


def _told(text: str, plan: Any, results: list[Any]) -> dict[str, str]:
    """Return what is compared of one program; values only where no float is summed in an order of BLAS's."""
    exact = [array for array in map(generate.array_of, results) if array.dtype.kind in "biu"]
    digest = hashlib.sha256(b"".join(array.tobytes() for array in exact)).hexdigest()
    return {"text": text, "plans": str(plan), "code": plan.code, "values": digest}


def _named(operand: Any) -> Any:
    return wrap(operand.array, operand.names)
