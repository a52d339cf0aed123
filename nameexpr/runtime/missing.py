"""What to write instead of an attribute that functions of other libraries have, and those here do not.

>>> import nameexpr as ne
>>> ne.compile("loss = sum[C](w[C] ** 2)").draw
Traceback (most recent call last):
AttributeError: 'CompiledFormula' object has no attribute 'draw': the plan is drawn: f.plan(w=...).draw()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nameexpr.compiler.analysis.faults.differentiating import of_expression
from nameexpr.compiler.analysis.rules.derivatives import DERIVATIVES
from nameexpr.tracebacks import shown_short

_CALLED = "forward call run apply eval execute compute"
_SIGNED = "inputs outputs dims names shape dtype result"
_DERIVED = "jacobian jacrev jacfwd hessian vjp jvp hvp laplacian divergence vmap"
SECOND = frozenset(_DERIVED.split())
"""What formulas are written for instead."""


def _rows(rows: Mapping[str, str]) -> Mapping[str, str]:
    return {name: advice for names, advice in rows.items() for name in names.split()}


OF_COMPILED = _rows(
    {
        "backward grad value_and_grad grad_and_value gradients differentiate derivative": (
            "f.gradient({wrt}) computes the value and the gradient; ne.value_and_grad(f.text, {wrt}) returns "
            "gradients by name"
        ),
        "zero_grad": "each call of f.gradient({wrt}) starts anew",
        "requires_grad requires_grad_ retain_graph parameters": (
            "f.gradient({wrt}) names the operands to differentiate by"
        ),
        "gradcheck check_gradient check_grads": (
            "ne.check_gradient(f.text, {given}) compares gradients with differences"
        ),
        "minimize": "ne.value_and_grad(f.text, {wrt}).packed({given}) is for scipy.optimize.minimize",
    }
)
"""Of compiled formulas; for an expression, the answer is a formula to write."""
OF_ANY = _rows(
    {
        "draw dot mermaid show": "the plan is drawn: f.plan({given}).draw()",
        _CALLED: "it is called: f({given})",
        _SIGNED: "f.signature has the operands and the result",
        "jit lower source": "f.code is the source of the latest call, f.plan({given}) has the steps",
        "to cuda cpu device": "a text is computed where its operands are",
        "partial": "f.bind(...) returns the function with some of its operands",
    }
)
OF_GRADIENTS = _rows(
    {
        "backward grad gradient gradients": "it is called: step({given}) returns {returned}",
        "to cuda cpu device": "a text is computed where its operands are",
        "value": "ne.value_and_grad({text}, {wrt}) returns the value and the gradients",
        "zero_grad train optimizer": ("each call starts anew; w = w - 0.1 * g['w'] is a step"),
        "requires_grad requires_grad_ retain_graph parameters": (
            "the names after the text are the operands to differentiate by"
        ),
        "jac fun minimize x0 hess": "step.packed({given}) is for scipy.optimize.minimize",
        "gradcheck check_gradient check_grads": (
            "ne.check_gradient({text}, {given}) compares gradients with differences"
        ),
        "operands signature options statements outline": "step.formula.{name} has it",
        _CALLED: "it is called: step({given})",
        "jit lower source": "step.code is the source of the latest call, step.plan({given}) has the steps",
        "partial": "step.bind(...) returns the function with some of its operands",
    }
)
_LISTED = 4
"""The number of operands that an answer lists."""
_LONGEST = 60
"""The length up to which an answer repeats a text."""


def no_attribute(name: str, made: Any, kind: type) -> AttributeError:
    """Return the error for an attribute of a compiled text, of a function of gradients, or of their class."""
    message = f"{kind.__name__!r} object has no attribute {name!r}"
    advice = "" if made is None else _advice(name, made)
    return shown_short(AttributeError(": ".join(filter(None, [message, advice]))))


def _advice(name: str, made: Any) -> str:
    """Return what to write, in the words of the text."""
    if name in SECOND:
        return f"in a formula, {': '.join(DERIVATIVES[name])}"
    if hasattr(made, "formula"):
        return OF_GRADIENTS[name].format(name=name, **_words_of_gradients(made))
    if hasattr(made, "statements"):
        return {**OF_COMPILED, **OF_ANY}[name].format(**_words(made))
    return OF_ANY[name].format(given="...") if name in OF_ANY else str(of_expression(made.text).hint)


def _words(formula: Any) -> dict[str, str]:
    """Return the parts of an answer that are those of a formula: its operands."""
    given = [f"{name}=..." for name in formula.operands[:_LISTED]]
    more = ["..."] if formula.operands[_LISTED:] else []
    return {"given": ", ".join(given + more), "wrt": repr(next(iter(formula.operands), "w"))}


def _words_of_gradients(step: Any) -> dict[str, str]:
    """Return the parts of an answer that are those of a function of gradients: its operands and its text."""
    text, wrt = step._made.origin, " ".join(name for name, _ in step._made.gradients)
    shown = repr(text) if len(text) <= _LONGEST and "\n" not in text else "text"
    returned = "the value and the gradients by name" if step._has_value else "the gradients by name"
    return {**_words(step.formula), "wrt": repr(wrt), "text": shown, "returned": returned}
