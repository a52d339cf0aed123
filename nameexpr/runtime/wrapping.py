"""How the generated functions of other libraries return tensors with names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nameexpr.backends.numpy.codegen.statements import Invocation, Return
from nameexpr.compiler.compilation import Compilation


def wrap_results(
    compiled: Compilation[Any],
    statements: list[Any],
    kind: Any,
    constants: dict[str, Any],
    *,
    is_tuple: bool,
) -> None:
    """Return results as tensors with names, of the class of the operands."""

    def wrap_all(names: Sequence[Any], *results: Any) -> tuple[Any, ...]:
        return tuple(kind._wrap(result, own) for result, own in zip(results, names, strict=True))

    constants |= {"wrap": kind._wrap, "wrap_all": wrap_all}
    constants["names"] = compiled.names if is_tuple else compiled.names[0]
    values = statements[-1].values
    arguments = ("names", *values) if is_tuple else (*values, "names")
    statements[-1] = Return((Invocation("wrap_all" if is_tuple else "wrap", arguments, {}),))
