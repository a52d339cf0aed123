"""`ContractExpression` of opt_einsum, and the entries of its texts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import numpy as np
import opt_einsum as peer  # type: ignore[import-untyped]
from opt_einsum.parser import get_shape  # type: ignore[import-untyped]
from opt_einsum.sharing import _SHARING_STACK  # type: ignore[import-untyped]

from nameexpr.compat.calling import with_options
from nameexpr.compat.contraction import COMPUTED, SubscriptsEntry, are_run, is_foreign
from nameexpr.compat.labels import label_dims
from nameexpr.compat.subscripts import read
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.runtime.cache import TEXTS, Generations, others

peer_contract, peer_expression, peer_path = peer.contract, peer.contract_expression, peer.contract_path
Path = tuple[tuple[int, ...], ...] | None
texts: Generations[Any, SubscriptsEntry] = Generations(TEXTS)
others.append(texts)
NUMPYS = ("dtype", "order", "casting")
OWN = ("auto", "numpy")
"""Values of `backend=` for which arrays of NumPy are computed by this package."""


def path_of(text: str, operands: Sequence[Any], optimize: Any, limit: Any, **named: Any) -> tuple[Path, bool]:
    """Return the path that `optimize=` is or finds, None if this package is to find one, and whether it has
    steps of several operands, which need less memory.
    """
    if limit in (None, -1) and (optimize is None or isinstance(optimize, bool | str)):
        return None, False
    path = tuple(map(tuple, peer_path(text, *operands, optimize=optimize, memory_limit=limit, **named)[0]))
    return path, any(len(step) > 2 for step in path)  # noqa: PLR2004


def entry_of(text: str, path: Path) -> SubscriptsEntry:
    """Return the entry of a text, which has been read before or not."""

    def make() -> SubscriptsEntry:
        compute = partial(peer_contract, text, optimize=True if path is None else list(path))
        return SubscriptsEntry(read(text, is_label), compute, path, is_general=True)

    return texts.get_or_make((text, path), make)


def is_label(character: str) -> bool:
    """Return whether a character can be a label."""
    return character not in ",->. "


class ContractExpression:
    """A function of the arrays that are not constants; for arrays of other sizes there is a new plan.

    `contraction` is the text with constants in brackets, `num_args` the number of arrays it is called with.
    """

    def __init__(
        self,
        text: str,
        shapes: Sequence[Any],
        constants: dict[int, Any],
        options: dict[str, Any],
        optimize: Any,
        memory_limit: Any,
    ) -> None:
        self._arguments = (text, shapes, constants, options, optimize, memory_limit)
        tree = read(text, is_label)
        every = [get_shape(one) if place in constants else tuple(one) for place, one in enumerate(shapes)]
        label_dims(tree, [Operand(tuple(shape)) for shape in every])
        terms, arrow, result = text.partition("->")
        marked = [f"[{one}]" if place in constants else one for place, one in enumerate(terms.split(","))]
        self.contraction, self.num_args = f"{','.join(marked)}{arrow}{result}", len(shapes) - len(constants)
        self.kwargs, self.constants = options, constants
        own = {"constants": [*constants], "optimize": optimize, "memory_limit": memory_limit, **options}
        self._make_peer = partial(peer_expression, text, *shapes, **own)
        self._peer: Any = None
        path, is_limited = path_of(text, every, optimize, memory_limit, shapes=True)
        self._entry = None if is_limited or not _are_computed(constants.values()) else entry_of(text, path)
        if self._entry is not None and constants:
            self._entry = self._entry.bind({place: np.asarray(one) for place, one in constants.items()})

    def __call__(
        self, *arrays: Any, out: Any = None, backend: str = "auto", evaluate_constants: bool = False
    ) -> Any:
        """Return the result for arrays, or `out` with the result in it.

        Raises
        ------
        NameExprError
            A ValueError, for more or fewer arrays than `num_args`, or arrays that do not fit.
        """
        entry = self._entry
        others = [one for one in arrays if is_foreign(one)]
        is_own = backend in OWN and not evaluate_constants and (not others or are_run(others))
        if entry is None or not is_own or _SHARING_STACK:
            return self._by_peer(*arrays, out=out, backend=backend, evaluate_constants=evaluate_constants)
        if len(arrays) != self.num_args:
            many = "array argument" if self.num_args == 1 else "array arguments"
            message = (
                f"This `ContractExpression` takes exactly {self.num_args} {many} but received {len(arrays)}"
            )
            raise error(Diagnostic("NE501", message, entry.text))
        try:
            if out is None and not self.kwargs:
                return entry.call(*arrays)
            return with_options(entry, arrays, self._by_peer, out=out, **self.kwargs, is_loose=True)
        except NameExprError as wrong:
            first, *others = wrong.diagnostics
            where = "Internal error while evaluating `ContractExpression`: "
            raise error(first._replace(message=where + first.message), *others) from None

    def evaluate_constants(self, backend: str | None = "auto") -> None:
        """Have opt_einsum compute what depends on constants alone; this package does so when it is called."""
        self._peer_expression().evaluate_constants(backend)

    def _by_peer(self, *arrays: Any, **options: Any) -> Any:
        """Return the result of opt_einsum's own expression, which has the options of NumPy already."""
        return self._peer_expression()(*arrays, **{one: options[one] for one in options if one not in NUMPYS})

    def _peer_expression(self) -> Any:
        if self._peer is None:
            self._peer = self._make_peer()
        return self._peer

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments."""
        return ContractExpression, self._arguments

    def __getattr__(self, name: str) -> Any:
        """Return what only opt_einsum's own expression has, such as `contraction_list`."""
        if name.startswith("__") or "_make_peer" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._peer_expression(), name)

    def __repr__(self) -> str:
        """Return the text with the constants in brackets."""
        constants = f", constants={sorted(self.constants)}" if self.constants else ""
        return f"<ContractExpression('{self.contraction}'{constants})>"

    def __str__(self) -> str:
        """Return the text, and the options of NumPy."""
        return f"{self!r}\neinsum_kwargs={self.kwargs}"


def _are_computed(constants: Collection[Any]) -> bool:
    """Return whether constants are arrays that this package computes with."""
    return not any(is_foreign(one) or np.asarray(one).dtype.char not in COMPUTED for one in constants)
