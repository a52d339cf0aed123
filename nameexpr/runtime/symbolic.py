"""Calls with operands whose sizes are symbols, while a library traces a function for all sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nameexpr.backends.symbolic import hint_of, named_sizes
from nameexpr.errors import NameExprError
from nameexpr.runtime.operands import OperandSpec
from nameexpr.runtime.traced_faults import unknown_fault


def run_symbolic(entry: Any, specs: Sequence[OperandSpec], every: Sequence[Any]) -> Any:
    """Run the text of a library's entry on all of its operands. No function is kept, as each is traced once.

    Bound operands are operands like others: what depends on them alone is part of what is traced.
    """
    if entry.is_bound:
        entry = type(entry)(type(entry.origin)(entry.text, entry.options, None, entry.tree), entry.library)
    entry.refuse_options()
    entry.check_devices(every)
    shapes = named_sizes([spec.shape for spec in specs], entry.library.size_hint)
    named = [spec._replace(shape=shape) for spec, shape in zip(specs, shapes, strict=True)]
    try:
        function = entry.function(tuple(named), every, every, ())
    except NameExprError:  # which shows sizes as numbers
        known = [tuple(map(hint_of, shape)) for shape in shapes]
        entry.compile([spec._replace(shape=shape) for spec, shape in zip(specs, known, strict=True)])
        raise
    except Exception as fault:
        unknown = unknown_fault(entry.library, entry.text, fault)
        if unknown is None:
            raise
        raise unknown from fault
    return function(*every)
