"""`contract`, `contract_expression` and `contract_path` of opt_einsum, with its arguments and results.

Arrays of NumPy, PyTorch, JAX and Dask are computed by the plans of this package, in the order of `optimize=`
if that is a path or an optimizer. Other arrays, `backend=` and shared intermediates are passed on to
opt_einsum, and so is a path with steps of more than two operands, which saves memory.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from opt_einsum.parser import convert_interleaved_input  # type: ignore[import-untyped]
from opt_einsum.paths import get_path_fn  # type: ignore[import-untyped]
from opt_einsum.sharing import _SHARING_STACK, currently_sharing  # type: ignore[import-untyped]

from nameexpr.compat.calling import Entries, by_text, check_options, keep, with_options
from nameexpr.compat.contract_expressions import (
    NUMPYS,
    OWN,
    ContractExpression,
    entry_of,
    path_of,
    peer_contract,
    peer_path,
)  # fmt: skip
from nameexpr.errors import Diagnostic, error

__all__ = ["ContractExpression", "contract", "contract_expression", "contract_path"]
OPTIONS = ("out", "optimize", "memory_limit", "use_blas", "backend", *NUMPYS)


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
    path, is_limited = path_of(text, operands, optimize, limit)
    if is_limited:
        return peer_contract(text, *operands, **options)
    entry = entry_of(text, path)
    numpys = {name: options[name] for name in NUMPYS if name in options}
    out = options.get("out")
    if given is text and not numpys and path is None:
        keep(entries, text, {name: value for name, value in options.items() if name != "out"}, entry)
    if not numpys and out is None:
        return entry.call(*operands)
    return with_options(entry, operands, entry.peer, out=out, **numpys, is_loose=optimize is not False)


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
