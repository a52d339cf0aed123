"""Gradients compared with differences: rules that are broken on purpose are found where they are used."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.compiler.gradient import rules

GENERATOR = np.random.default_rng(0)
TEXT = """h[N K] = tanh(sum[C](x[N C] * w[C K]))
s[N] = sum[K](h * v[K])
loss = mean[N]((s - y[N]) ** 2)"""
OPERANDS = {
    "x": GENERATOR.normal(size=(5, 3)),
    "w": GENERATOR.normal(size=(3, 4)),
    "v": GENERATOR.normal(size=4).astype("float32"),
    "y": GENERATOR.normal(size=5),
}


@pytest.fixture
def _broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(rules.POINTWISE, "tanh", ("g * (1 - y)",))  # type: ignore[arg-type]
    ne.cache_clear()
    yield
    ne.cache_clear()


def test_right_gradients_are_right() -> None:
    found = ne.check_gradient(TEXT, operands=OPERANDS)
    assert found.ok and found
    assert [row.verdict for row in found.rows] == ["right"] * 4
    assert all(row.error < 1e-7 for row in found.rows)
    assert found.rows[2].by.startswith("v[K=")


@pytest.mark.usefixtures("_broken")
def test_a_broken_rule_is_found_in_its_statement() -> None:
    found = ne.check_gradient(TEXT, operands=OPERANDS)
    assert not found.ok and not found
    assert {row.by[0]: row.verdict for row in found.rows if not row.statement} == {
        "x": "wrong",
        "w": "wrong",
        "v": "right",
        "y": "right",
    }
    assert {row.statement for row in found.rows} - {""} == {TEXT.splitlines()[0]}
    assert f"in {TEXT.splitlines()[0]}\n" in repr(found)
    assert "wrong" in repr(found)


def test_kinks_are_not_wrong_and_are_found_in_their_statement() -> None:
    found = ne.check_gradient(
        "h[N] = x[N] * 2; k[N] = relu(h); loss = sum[N](k * w[N])", x=[0.0, 1, -2], w=[1.0, 2, 3]
    )
    assert found.ok
    assert [(row.by, row.verdict, row.statement) for row in found.rows] == [
        ("x[N=0]", "kink", ""),
        ("w[N=1]", "right", ""),
        ("h[N=0]", "kink", "k[N] = relu(h)"),
    ]


def test_the_gradients_of_an_edited_text_are_compared() -> None:
    text = ne.grad(TEXT, "w v").expanded()
    assert ne.check_gradient(text, "w v", operands=OPERANDS).ok
    wrong = ne.check_gradient(text.replace("size[N]", "size[K]"), "w v", operands=OPERANDS)
    assert [row.verdict for row in wrong.rows] == ["wrong", "wrong"]


def test_operands_without_a_gradient_are_listed() -> None:
    found = ne.check_gradient("sum[N](x[N] * round(q[N]) + n[N])", x=np.ones(2), q=np.ones(2), n=[1, 2])
    assert (found.ok, found.without) == (True, ("q", "n"))
    assert repr(found).endswith("without a gradient: q, n")
    with pytest.raises(ne.NameExprError, match="NE532"):
        ne.check_gradient("sum[N](x[N] * round(q[N]))", "q", x=np.ones(2), q=np.ones(2))


def test_complex_numbers_are_varied_in_both_parts() -> None:
    found = ne.check_gradient("sum[N](abs(z[N]) ** 2 * real(z[N]))", z=np.array([1 + 1j, 2 - 0.5j]))
    assert [row.verdict for row in found.rows] == ["right"]


def test_tensors_keep_their_names_and_large_ones_are_sampled() -> None:
    found = ne.check_gradient("sum[N M](x ** 3)", x=ne.tensor(np.ones((30, 20)), names=("N", "M")))
    assert [row.verdict for row in found.rows] == ["right"]


def test_steep_and_flat_values_are_no_kinks() -> None:
    for scale in (1e-6, 1.0, 1e6):
        found = ne.check_gradient("sum[N](exp(x[N] / s) + sin(x[N] / s))", x=scale * np.ones(3), s=scale)
        assert {row.verdict for row in found.rows} == {"right"}, found


def test_values_that_are_not_finite_decide_nothing() -> None:
    found = ne.check_gradient("sum[N](log(x[N]))", x=np.array([-1.0, 2.0]))
    assert [row.verdict for row in found.rows] == ["unknown"]
    assert found.ok


def test_objects_are_no_formulas() -> None:
    with pytest.raises(ne.NameExprError, match="NE506"):
        ne.check_gradient(ne.grad(TEXT, "w"), operands=OPERANDS)  # type: ignore[arg-type]


def test_sizes_can_be_given() -> None:
    found = ne.check_gradient("sum[k](x * index[k])", sizes={"k": 3}, x=2.0)
    assert (found.rows[0].gradient, found.rows[0].verdict) == (3.0, "right")


@pytest.mark.parametrize(
    ("text", "wrt", "operands", "code"),
    [
        ("y[N] = x[N] * 2", None, {"x": np.ones(3)}, "NE531"),
        ("N C -> N", "x", {"x": np.ones(3)}, "NE531"),
        ("sum[N](x[N])", "z", {"x": np.ones(3)}, "NE534"),
        ("sum[N](x[N])", None, {"x": np.ones(3), "z": 1.0}, "NE522"),
        ("sum[N](x[N])", None, {}, "NE521"),
        ("sum[N](x[N])", "x", {"x": np.arange(3)}, "NE533"),
    ],
)
def test_misuse_raises(text: str, wrt: str | None, operands: dict[str, object], code: str) -> None:
    with pytest.raises(ne.NameExprError) as fault:
        ne.check_gradient(text, wrt, operands=operands)
    assert fault.value.code == code
