"""Random recurrences, with derivatives in their steps, parts, windows and gathers, real and complex: values,
gradients and their texts against PyTorch's autograd.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

import nameexpr as ne

torch = pytest.importorskip("torch")
BATCH, SEEDS = 5, 40
SIZE, STEPS, WORDS = 3, 3, 5
Given = Mapping[str, Any]


class Row(NamedTuple):
    """A value with one dim: its text, given the label of that dim, and the same in PyTorch."""

    text: Callable[[str], str]
    run: Callable[[Given], Any]


def use(text: str, run: Callable[[Given], Any]) -> Row:
    return Row(lambda label: text.replace("#", label), run)


ATOMS = [
    use("h[_@T #]", lambda g: g["h"]),
    use(f"h[_@T _@((# + 1) % {SIZE})]", lambda g: g["h"].roll(-1)),
    use("h[_@T _@k[#]]", lambda g: g["h"][g["k"]]),
    use("x[T #]", lambda g: g["x"][g["step"]]),
    use("b[#]", lambda g: g["b"]),
]
IN_STEP = [*ATOMS, use("v[_@ids[T] #]", lambda g: g["v"][g["ids"][g["step"]]])]
BOTH = [
    ("tanh({})", lambda a: torch.tanh(a)),
    ("sin({})", lambda a: torch.sin(a)),
    ("({}) ** 2", lambda a: a**2),
    ("exp(-({}) ** 2 / 4)", lambda a: torch.exp(-(a**2) / 4)),
    ("1 / (3 + ({}) ** 2)", lambda a: 1 / (3 + a**2)),
]
REAL = [
    ("sqrt(1 + abs({}))", lambda a: torch.sqrt(1 + a.abs())),
    (
        "where({0} > 0.1, log(0.5 + abs({0})), {0})",
        lambda a: torch.where(a > 0.1, torch.log(0.5 + a.abs()), a),
    ),
    ("maximum({}, 0.3)", lambda a: torch.maximum(a, torch.tensor(0.3, dtype=torch.double))),
]
COMPLEX = [
    ("conj({}) * 0.7", lambda a: a.conj() * 0.7),
    ("real({0}) * imag({0}) + 0", lambda a: a.real * a.imag + 0j),
]
PAIRS = [("+", lambda a, b: a + b), ("-", lambda a, b: a - b), ("*", lambda a, b: a * b)]


def drawn(generator: np.random.Generator, depth: int, atoms: list[Row], *, is_complex: bool) -> Row:
    """Return a random value."""
    if depth == 0 or generator.random() < 0.12:
        return atoms[generator.integers(len(atoms))]
    one = drawn(generator, depth - 1, atoms, is_complex=is_complex)
    kind, inner = generator.integers(6), f"i{depth}"
    if kind < 2:
        functions = [*BOTH, *(COMPLEX if is_complex else REAL)]
        text, function = functions[generator.integers(len(functions))]
        return Row(lambda label: text.format(f"({one.text(label)})"), lambda g: function(one.run(g)))
    if kind < 4:
        other = drawn(generator, depth - 1, atoms, is_complex=is_complex)
        sign, pair = PAIRS[generator.integers(len(PAIRS))]
        return Row(
            lambda label: f"(({one.text(label)}) {sign} ({other.text(label)}))",
            lambda g: pair(one.run(g), other.run(g)),
        )
    if kind == 4:
        return Row(
            lambda label: f"sum[{inner}](m[{label} {inner}] * ({one.text(inner)}))",
            lambda g: g["m"].to(one.run(g).dtype) @ one.run(g),
        )
    return Row(
        lambda label: f"({one.text(label)}) * prod[{inner}]({one.text(inner)})",
        lambda g: one.run(g) * one.run(g).prod(),
    )


class Recurrence(NamedTuple):
    """A formula, its operands, and its value in PyTorch."""

    text: str
    given: dict[str, Any]
    value: Callable[[Given], Any]

    @property
    def sizes(self) -> dict[str, int]:
        return {"T": STEPS, **dict.fromkeys(re.findall(r"\bi\d\b", self.text), SIZE)}


def recurrence(seed: int) -> Recurrence:
    """Return the recurrence of a seed: with a derivative by its row, in three of four, or by a statement."""
    generator = np.random.default_rng(seed)
    is_complex, mode = generator.random() < 0.3, generator.integers(4)
    step = drawn(generator, 3, IN_STEP, is_complex=is_complex)
    slope = drawn(generator, 3, ATOMS, is_complex=is_complex)
    real = "real({})" if is_complex else "{}"
    by = "u[T C]" if mode == 3 else "h[_@T C]"
    inside = f"sum[C](({slope.text('C')} + {ATOMS[0].text('C')} ** 2) * (index[C] + 1))"
    if mode == 3:
        inside = inside.replace("h[_@T ", "u[T ")
    energy = f"e[T] = {real.format(inside)}"
    lines = [
        *(["u[T C] = 0.7 * h[_@T C] + x[T C]"] if mode == 3 else []),
        *([energy] if mode else []),
        f"h[(1 + T) C] = s[C], 0.5 * h[_@T C] + 0.3 * ({step.text('C')})"
        + (f" - 0.2 * grad(e[T], {by})" if mode else ""),
        "w[(a + S) C] = v[a C], h[S C] ** 2",
        f"l = {real.format('sum[t C](w[t C] * cos(index[t] * 1.3 + index[C]))')}",
    ]
    text = "\n".join(lines)
    shapes = {"x": (STEPS, SIZE), "b": (SIZE,), "s": (SIZE,), "v": (WORDS, SIZE)}
    given = {name: generator.normal(size=shape) * 0.6 + 0.1 for name, shape in shapes.items()}
    if is_complex:
        given = {name: one + 0.4j * generator.normal(size=one.shape) for name, one in given.items()}
    given["m"] = generator.normal(size=(SIZE, SIZE)) / 2
    given["ids"], given["k"] = generator.integers(0, WORDS, STEPS), generator.integers(0, SIZE, SIZE)

    def value(known: Given) -> Any:
        def energy_of(row: Any, number: int) -> Any:
            inner = {**known, "h": row, "step": number}
            total = ((slope.run(inner) + row**2) * (torch.arange(SIZE) + 1)).sum()
            return total.real if is_complex else total

        row = known["s"]
        rows = [row]
        for number in range(STEPS):
            by = 0.7 * row + known["x"][number] if mode == 3 else row * 1
            moved = torch.autograd.grad(energy_of(by, number), by, create_graph=True)[0] if mode else 0
            new = step.run({**known, "h": row, "step": number})
            row = 0.5 * row + 0.3 * new - (0.2 * moved if mode else 0)
            rows.append(row)
        whole = torch.cat([known["v"], torch.stack(rows) ** 2])
        first, second = (torch.arange(one, dtype=torch.double) for one in (len(whole), SIZE))
        weights = torch.cos(first[:, None] * 1.3 + second)
        total = (whole * weights).sum()
        return total.real if is_complex else total

    return Recurrence(
        text, {name: one for name, one in given.items() if re.search(rf"\b{name}\[", text)}, value
    )


def check(seed: int) -> tuple[int, int]:
    """Compare the gradients of a seed, and the text of them; return how many of both there are."""
    case = recurrence(seed)
    known = {name: torch.tensor(one, requires_grad=one.dtype.kind != "i") for name, one in case.given.items()}
    wanted = case.value(known)
    if not torch.isfinite(wanted) or abs(wanted) > 1e6:
        return 0, 0
    names = [name for name, one in known.items() if one.requires_grad]
    slopes = dict(
        zip(names, torch.autograd.grad(wanted, [known[one] for one in names], allow_unused=True), strict=True)
    )
    names = [name for name in names if slopes[name] is not None and slopes[name].any()]
    step = ne.value_and_grad(case.text, names, sizes=case.sizes)
    value, gradients = step(**case.given)
    scale = 1 + max(float(slopes[name].abs().max()) for name in names)
    np.testing.assert_allclose(value, wanted.item(), rtol=1e-9, err_msg=case.text)
    for name in names:
        np.testing.assert_allclose(
            gradients[name], slopes[name], rtol=1e-8, atol=1e-9 * scale, err_msg=f"{seed} {name} {case.text}"
        )
    try:
        text = step.expanded(**case.given)
    except ne.NameExprError as fault:
        if "NE539" not in str(fault):
            raise
        return 1, 0
    found = ne.evaluate(text, outputs=[f"d_{name}" for name in names], sizes=case.sizes, **case.given)
    for name, one in zip(names, found, strict=True):
        np.testing.assert_allclose(one, slopes[name], rtol=1e-8, atol=1e-9 * scale, err_msg=text)
    return 1, 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(BATCH, SEEDS, BATCH))]
)
def test_random_recurrences_agree_with_pytorch(first: int) -> None:
    gradients, texts = np.sum([check(seed) for seed in range(first, first + BATCH)], axis=0)
    assert gradients >= BATCH // 2
    assert texts >= 1
