"""The targets of the fuzzer by name, each with its seeds and the way its inputs change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hardening import fuzz_files, fuzz_targets
from hardening.fuzz_search import Target
from hardening.fuzz_texts import EXPRESSION, FORMULA, LINE, joined, mutator
from oracle.generate import expressions as generate
from oracle.generate import formulas as formula_generate

SHORT = 60
"""Characters of a generated text that is a seed: short ones are tried more often in the same time."""
LONGEST = 100
CASES = 150
"""Generated cases, of which the short ones are seeds."""
_EXPRESSIONS = """
a b -> b a;a b, b c -> a c;N (h d) -> N h d;a b -> : sum;a a -> a;a ->;... a -> a ...;a b -> a : max
-> b a;2 a -> a;N 1 -> N 3;a, b -> a b : mean;b... c -> c b...;a=2 b -> b;_ a -> a;a' a -> a;a b -> (a b)
a, , b -> ( );a b;a b, b c;h=a b -> h;x... a, x... a -> a : logsumexp;(a b) c, a;b... C, C K
_@(t+d) b -> t b d;a (1 + b) -> b a;(a + 1) b -> a b;a b, c b -> (a + c) b;a 3@0 -> a;(a=1 + c) b -> a b, c b
"""
_FORMULAS = """
sum[C](x[N C] * w[C K]);y = x[N C];y[N] = sum[C](x[N C]);x * 2 + w;softmax[C](x[N C]);-x[N C] ** 2;x[N N]
where(x[N C] > 0, x, 0);y - max[N](y);mean[...](x[N C]);size[N] * x[N];index[N] + x[N C];clip(x, 0, 1)
x[N (a b)];x[N C] @ w;sort[N](x[N]) // 3;y = 1 / 3;argmax[N C](x[N C]);x[C N] - x[N C];var[N](x[N b...])
~(x[N] < inf);logsumexp[C](x[N C] - x[N C]);cumsum[N](v[N]) % 2;sum[N](x[N] w[N])
v[(1 + T)] - v[(T + 1)];x[_@(t+1) C] - x[_@t C];y[(1 + N)] = v[N];y[(a + b)] = v[a], v[b];x[N C@(size[C]-1-c)]
y[(1 + T)] = 0, y[_@T] + v[T];x[N@(v[K] < 0) C];x[N@(index[K] % 2) C];x[N C@((C+1) % size[C])]
"""
_LINES = """
x = randn(N=2, C=3);y[N] = sum[C](x);N C, C K -> N K | x, w;N C -> C N;y * w;_ + 1;:type sum[C](x);:plan x * 2
:names;:code x w;:undo;N C, C K | x, w;:set precision 8;:explain NE304;:help plan;x;-> C N | x;# nothing
N (h d) -> h N d | x, h=1;x[N C] * w[C K];k = ones(K=2, dtype=int32);:set dtype float32;i = arange(N=4)
"""


def _written(texts: str) -> list[str]:
    return [text for line in texts.strip().split("\n") for text in line.split(";")]


def _seeds(texts: list[str]) -> list[bytes]:
    return [joined(number * 37 % 256, text) for number, text in enumerate(texts)]


def _fenced_line(data: bytes) -> bool:
    with fuzz_targets.fenced():
        return fuzz_targets.line(data)


def target(name: str, folder: str) -> Target:
    """Return a target by its name; what writes files does so in this folder."""
    match name:
        case "expression" | "checker":
            run = fuzz_targets.expression if name == "expression" else fuzz_targets.checker
            texts = _written(_EXPRESSIONS) + _short(generate.seeded_case)
            return Target(run, mutator(EXPRESSION, LONGEST), _seeds(texts), LONGEST)
        case "formula":
            texts = _written(_FORMULAS) + _short(formula_generate.seeded_case)
            return Target(fuzz_targets.formula, mutator(FORMULA, LONGEST), _seeds(texts), LONGEST)
        case "line":
            return Target(_fenced_line, mutator(LINE, LONGEST), _seeds(_written(_LINES)), LONGEST)
        case "source":
            seeds = fuzz_files.source_seeds()
            return Target(fuzz_files.source, fuzz_files.changed_source, seeds, fuzz_files.LONGEST_SOURCE)
        case _:
            seeds = fuzz_files.loader_seeds()
            return Target(fuzz_files.Loader(folder), fuzz_files.changed_file, seeds, fuzz_files.LONGEST_FILE)


def _short(case: Callable[[int], Any]) -> list[str]:
    texts = (case(seed).text for seed in range(CASES))
    return [text for text in texts if len(text) <= SHORT]
