"""What formulas mean, naively: the truth that compiled formulas are compared with.

Every statement is evaluated by itself, from the leaves up, with everything materialised: a value is an array
whose axes have labels, two values broadcast by label, a reduction merges its dims into one axis and reduces
that with plain NumPy. No contraction is recognised, nothing is pushed out of a sum. Formulas or operands that
the language rejects raise `Refused`.

>>> import numpy as np
>>> evaluate("y[C N] = sum[K](x[N K] * w[K C])", x=np.ones((2, 3)), w=np.ones((3, 4))).shape
(4, 2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oracle.reference.match import Named
from oracle.reference.recurrences import groups_of, reads_itself
from oracle.reference.run import Answer, Run
from oracle.reference.statements import parse
from oracle.reference.steps import run_group
from oracle.reference.text import Refused

__all__ = ["Answer", "Named", "Refused", "answers", "evaluate"]


def evaluate(
    text: str, outputs: Sequence[str] | None = None, sizes: Mapping[str, int] | None = None, **operands: Any
) -> Any:
    """Evaluate a formula.

    Parameters
    ----------
    text
        The formula.
    outputs
        Statements whose values are wanted, instead of the last one's.
    sizes
        Sizes of labels.
    **operands
        Anything `np.asarray` takes, Python numbers, or `Named`.

    Returns
    -------
    np.ndarray or Named or tuple of them
        A tuple where `outputs` is given.

    Raises
    ------
    Refused
        If the language rejects the text or the operands.
    """
    found = [answer.plain() for answer in answers(text, outputs, sizes, **operands)]
    return found[0] if outputs is None else tuple(found)


def answers(
    text: str, outputs: Sequence[str] | None = None, sizes: Mapping[str, int] | None = None, **operands: Any
) -> list[Answer]:
    """The same as `evaluate`, with bounds of the error, and always a list."""
    statements = parse(text)
    with np.errstate(all="ignore"):
        run = Run(statements, sizes or {}, operands)
        for group in groups_of(statements):
            if reads_itself(group):
                run_group(run, group)
            else:
                run.execute(group[0])
    wanted = [statements[-1].name] if outputs is None else list(outputs)
    if unknown := set(wanted) - set(run.placed):
        raise Refused("outputs", f"{unknown} are no statements")
    return [run.answer(name) for name in wanted]
