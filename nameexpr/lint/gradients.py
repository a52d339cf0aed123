"""The results of functions of gradients: dicts by the names of operands, whose keys are known if `wrt` is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from nameexpr.compiler.analysis.faults.differentiating import no_gradient_by
from nameexpr.dims import normalised
from nameexpr.errors import Diagnostic
from nameexpr.lint.constants import constants
from nameexpr.lint.values import Applied, GradientTable, Home, Items, Named, Value, Values
from nameexpr.runtime.differentiated import names_in


def wrt_of(values: Values) -> tuple[str, ...]:
    """Return the names of the operands to differentiate by, () if they are unknown."""
    found = list(constants([values]))
    wanted = found[0][0] if len(found) == 1 else ()
    names = names_in(wanted) if isinstance(wanted, str) else wanted
    is_told = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    return tuple(map(normalised, names)) if is_told else ()


def returned(made: Applied, operands: Mapping[str, Values]) -> Iterator[Value]:
    """Yield the result of a call of what `grad` or `value_and_grad` returns; a gradient has the names of its
    operand.
    """
    if made.function == "compile" or not made.arguments[1:]:
        return
    names = wrt_of(made.module.values(made.arguments[1], made.scope))
    tensors = {name: [one for one in operands.get(name, ()) if isinstance(one, Named)] for name in names}
    found = GradientTable({name: tuple(one) for name, one in tensors.items()})
    if names:
        yield found if made.function == "grad" else Items(((), (found,)))


def missing_keys(module: Home) -> Iterator[tuple[ast.Subscript, Diagnostic]]:
    """Yield the subscripts of gradients by what is not a name of an operand in `wrt`."""
    for node, scope in module.scopes.subscripts:
        owners = module.values(node.value, scope)
        if len(owners) != 1 or not isinstance(owners[0], GradientTable):
            continue
        names = list(owners[0])
        for (key,) in constants([module.values(node.slice, scope)]):
            if key not in names:
                yield node, no_gradient_by(key, names)
