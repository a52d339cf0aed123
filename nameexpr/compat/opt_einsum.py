"""`contract`, `contract_expression` and `contract_path` of opt_einsum, with its arguments and results.

Arrays of NumPy, PyTorch, JAX and Dask are computed by the plans of this package, in the order of `optimize=`
if that is a path or an optimizer. Other arrays, `backend=` and shared intermediates are passed on to
opt_einsum, and so is a path with steps of more than two operands, which saves memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import opt_einsum as peer  # type: ignore[import-untyped]
from opt_einsum.parser import convert_interleaved_input, get_shape  # type: ignore[import-untyped]
from opt_einsum.paths import get_path_fn  # type: ignore[import-untyped]
from opt_einsum.sharing import _SHARING_STACK, currently_sharing  # type: ignore[import-untyped]

from nameexpr.compat.calling import Entries, by_text, check_options, keep, with_options
from nameexpr.compat.contraction import COMPUTED, SubscriptsEntry, are_run, is_foreign
from nameexpr.compat.labels import label_dims
from nameexpr.compat.subscripts import read
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.errors import Diagnostic, NameExprError, error

__all__ = ["ContractExpression", "contract", "contract_expression", "contract_path"]
peer_contract, peer_expression, peer_path = peer.contract, peer.contract_expression, peer.contract_path
Path = tuple[tuple[int, ...], ...] | None
NUMPYS = ("dtype", "order", "casting")
OPTIONS = ("out", "optimize", "memory_limit", "use_blas", "backend", *NUMPYS)
OWN = ("auto", "numpy")
"""Values of `backend=` for which arrays of NumPy are computed by this package."""


def _slow(entries: Entries, text: Any, operands: list[Any], options: dict[str, Any]) -> Any:
    if isinstance(options.get("optimize"), str):
        get_path_fn(options["optimize"])  # a KeyError for a name that there is not
    check_options("contract", options, OPTIONS)
    if currently_sharing() or options.get("backend", "auto") not in OWN:
        return peer_contract(text, *operands, **options)
    given = text
    if not isinstance(text, str):
        text, operands = convert_interleaved_input([text, *operands])
    optimize, limit = options.get("optimize", True), options.get("memory_limit")
    path, is_limited = _path(text, operands, optimize, limit)
    if is_limited:
        return peer_contract(text, *operands, **options)
    entry = _entry(text, path)
    numpys = {name: options[name] for name in NUMPYS if name in options}
    out = options.get("out")
    if given is text and not numpys and path is None:
        keep(entries, text, {name: value for name, value in options.items() if name != "out"}, entry)
    if not numpys and out is None:
        return entry.call(*operands)
    return with_options(entry, operands, entry.peer, out=out, **numpys, is_loose=optimize is not False)


def _path(text: str, operands: Sequence[Any], optimize: Any, limit: Any, **named: Any) -> tuple[Path, bool]:
    """Return the path that `optimize=` is or finds, None if this package is to find one, and whether it has
    steps of several operands, which need less memory.
    """
    if limit in (None, -1) and (optimize is None or isinstance(optimize, bool | str)):
        return None, False
    path = tuple(map(tuple, peer_path(text, *operands, optimize=optimize, memory_limit=limit, **named)[0]))
    return path, any(len(step) > 2 for step in path)  # noqa: PLR2004


@lru_cache(maxsize=1024)
def _entry(text: str, path: Path) -> SubscriptsEntry:
    compute = partial(peer_contract, text, optimize=True if path is None else list(path))
    return SubscriptsEntry(read(text, _is_label), compute, path, is_general=True)


def _is_label(character: str) -> bool:
    return character not in ",->. "


@by_text(_slow, aside=_SHARING_STACK)
def contract(
    subscripts: Any,
    /,
    *operands: Any,
    out: Any = None,
    use_blas: bool = True,
    optimize: Any = True,
    memory_limit: Any = None,
    backend: str = "auto",
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
) -> Any:
    """Return the sum of products that subscripts describe, as `opt_einsum.contract` does.

    Parameters
    ----------
    subscripts : str
        Subscripts such as ``"ij,jk->ik"``, of any characters; or the first operand, each of which is then
        followed by a list of labels.
    *operands : array_like
        One for each term, with a dim for each label.
    out : ndarray, optional
        An array of the result's shape, which the result is written to.
    use_blas : bool, optional
        Has no effect: this package chooses how each pair is computed.
    optimize : bool, str, path or path optimizer, optional
        A path, or an optimizer that finds one. True, False, None and names of optimizers leave the order of
        contractions to this package.
    memory_limit : int or "max_input", optional
        The most elements of an intermediate array.
    backend : str, optional
        The library that computes; anything but "auto" and "numpy" is passed on to opt_einsum.
    dtype, order, casting
        As for `nameexpr.compat.numpy.einsum`.

    Raises
    ------
    NameExprError
        A ValueError for subscripts and sizes that do not fit, a TypeError for dtypes and arguments.
    KeyError
        For the name of an optimizer that opt_einsum does not have.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.opt_einsum import contract
    >>> contract("ij,jk,kl->il", np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 2)))
    array([[12., 12.],
           [12., 12.]])
    """


def contract_path(*operands: Any, **options: Any) -> tuple[Any, Any]:
    """Return the path that opt_einsum finds, and its `PathInfo`: `opt_einsum.contract_path` itself.

    Examples
    --------
    >>> from nameexpr.compat.opt_einsum import contract_path
    >>> contract_path("ij,jk,kl->il", (9, 2), (2, 9), (9, 2), shapes=True)[0]
    [(1, 2), (0, 1)]
    """
    found: tuple[Any, Any] = peer_path(*operands, **options)
    return found


def contract_expression(
    subscripts: Any,
    /,
    *shapes: Any,
    constants: Collection[int] | None = None,
    use_blas: bool = True,
    optimize: Any = True,
    memory_limit: Any = None,
    **options: Any,
) -> ContractExpression:
    """Return a function of the arrays that subscripts describe, as `opt_einsum.contract_expression` does.

    Parameters
    ----------
    subscripts : str
        As for `contract`.
    *shapes : tuple of int or array_like
        The shape of each operand; an array for those that are constants.
    constants : collection of int, optional
        The operands that are arrays. What depends on them alone is computed once.
    use_blas, optimize, memory_limit
        As for `contract`.
    **options
        dtype, order, casting, as for `contract`.

    Raises
    ------
    NameExprError
        A ValueError for shapes that do not fit, `optimize=False`, and options of the function returned.

    Examples
    --------
    >>> import numpy as np
    >>> from nameexpr.compat.opt_einsum import contract_expression
    >>> scale = contract_expression("ij,jk->ik", (2, 3), 2 * np.eye(3), constants=[1])
    >>> scale
    <ContractExpression('ij,[jk]->ik', constants=[1])>
    >>> scale(np.ones((2, 3)))
    array([[2., 2., 2.],
           [2., 2., 2.]])
    """
    if isinstance(optimize, str):
        get_path_fn(optimize)
    if not optimize:
        message = "an expression has an order of contractions, so optimize=False has no meaning"
        raise error(Diagnostic("NE604", message, hint="leave optimize= out"))
    for name in ("out", "backend"):
        if options.pop(name, None) is not None:
            message = f"{name}= is an option of the function that contract_expression returns"
            raise error(Diagnostic("NE611", message, hint=f"f(*arrays, {name}=...)"))
    check_options("contract_expression", options, NUMPYS)
    text = subscripts
    if not isinstance(text, str):
        text, shapes = convert_interleaved_input([subscripts, *shapes])
    fixed = {position: shapes[position] for position in sorted(constants or ())}
    return ContractExpression(text, shapes, fixed, options, optimize, memory_limit)


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
        tree = read(text, _is_label)
        every = [get_shape(one) if place in constants else tuple(one) for place, one in enumerate(shapes)]
        label_dims(tree, [Operand(tuple(shape)) for shape in every])
        terms, arrow, result = text.partition("->")
        marked = [f"[{one}]" if place in constants else one for place, one in enumerate(terms.split(","))]
        self.contraction, self.num_args = f"{','.join(marked)}{arrow}{result}", len(shapes) - len(constants)
        self.kwargs, self.constants = options, constants
        own = {"constants": [*constants], "optimize": optimize, "memory_limit": memory_limit, **options}
        self._make_peer = partial(peer_expression, text, *shapes, **own)
        self._peer: Any = None
        path, is_limited = _path(text, every, optimize, memory_limit, shapes=True)
        self._entry = None if is_limited or not _are_computed(constants.values()) else _entry(text, path)
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
