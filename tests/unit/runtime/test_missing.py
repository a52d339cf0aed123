"""What is an attribute of the functions of other libraries, and not of compiled texts: the error says what to
write.
"""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.runtime import Elsewhere
from nameexpr.runtime.missing import OF_ANY, OF_COMPILED, OF_GRADIENTS, SECOND

FORMULA = ne.compile("loss = sum[N]((sum[C](x[N C] * w[C]) - y[N]) ** 2)")
EXPRESSION = ne.compile("N C, C -> N")
STEP = ne.value_and_grad(FORMULA.text, "w")


def answered(made: object) -> list[str]:
    owners = {name: value for kind in reversed(type(made).__mro__) for name, value in vars(kind).items()}
    return sorted(name for name, value in owners.items() if isinstance(value, Elsewhere))


def told(made: object, name: str) -> str:
    with pytest.raises(AttributeError) as caught:
        getattr(made, name)
    return str(caught.value)


def test_every_name_has_an_answer_and_every_answer_a_name() -> None:
    assert answered(FORMULA) == sorted({*OF_COMPILED, *OF_ANY, *SECOND})
    assert answered(STEP) == sorted({*OF_GRADIENTS, *SECOND})


@pytest.mark.parametrize("made", [FORMULA, EXPRESSION, STEP, STEP.bind(w=np.ones(3))], ids=repr)
def test_the_error_says_what_to_write(made: object) -> None:
    kind = type(made).__name__
    for name in answered(made):
        if not hasattr(made, name):  # others are attributes of formulas
            assert re.fullmatch(rf"'{kind}' object has no attribute '{name}': \S.*", told(made, name))
            assert name not in dir(made) and getattr(made, name, 7) == 7
    assert {"bind", "plan", "text", "code"} <= set(dir(made))
    assert inspect.getmembers(type(made))


@pytest.mark.parametrize("name", sorted({*OF_COMPILED, *OF_ANY}))
def test_what_is_advised_for_formulas_exists(name: str) -> None:
    for owner, word in re.findall(r"\b(f|ne)\.(\w+)", told(FORMULA, name)):
        assert hasattr({"f": type(FORMULA), "ne": ne}[owner], word), word


@pytest.mark.parametrize("name", sorted(OF_GRADIENTS))
def test_what_is_advised_for_gradients_exists(name: str) -> None:
    for owner, word in re.findall(r"\b(step|step\.formula|ne)\.(\w+)", told(STEP, name)):
        owners = {"step": ne.GradientFunction, "step.formula": ne.CompiledFormula, "ne": ne}
        assert word == "formula" or hasattr(owners[owner], word), word


def test_the_answer_is_in_the_words_of_the_text() -> None:
    assert told(FORMULA, "backward").endswith(
        ": f.gradient('x') computes the value and the gradient; ne.value_and_grad(f.text, 'x') returns "
        "gradients by name"
    )
    assert told(FORMULA, "forward").endswith(": it is called: f(x=..., w=..., y=...)")
    assert told(STEP, "backward").endswith(
        ": it is called: step(x=..., w=..., y=...) returns the value and the gradients by name"
    )
    short = ne.grad("sum[C](w[C] ** 2)", "w")
    assert told(short, "value").endswith(
        ": ne.value_and_grad('sum[C](w[C] ** 2)', 'w') returns the value and the gradients"
    )


def test_an_expression_is_answered_with_a_formula() -> None:
    assert told(EXPRESSION, "backward").endswith(
        ": write a formula whose last value has no dims: y[N] = sum[C](a[N C] * b[C]); mean[N](y ** 2)"
    )


def test_a_misspelt_name_is_left_to_python() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'plna'$") as caught:
        _ = FORMULA.plna  # type: ignore[attr-defined]
    assert caught.value.name == "plna" and caught.value.obj is FORMULA


@pytest.mark.parametrize("name", ["backward", "zero_grad", "requires_grad_", "retain_grad", "grad_fn"])
def test_the_package_answers_what_tensors_have(name: str) -> None:
    assert f"tensors have it: x.{name}" in told(ne, name)


@pytest.mark.parametrize(
    "name", ["gradcheck", "autograd", "functional", "gradient", "minimize", "jacobian", "vjp"]
)
def test_the_package_answers_habits_of_differentiation(name: str) -> None:
    assert re.search(r"check_gradient|grad_of|value_and_grad|grad\((y|sum)\b", told(ne, name))
