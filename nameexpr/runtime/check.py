"""`check`: shapes asserted by a text, and the sizes that it finds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, SupportsIndex

from nameexpr.compiler.analysis.faults.misuse import takes_no_arrow
from nameexpr.compiler.analysis.infer import infer_sizes
from nameexpr.compiler.analysis.operands import Operand
from nameexpr.compiler.analysis.rules.check import check_text
from nameexpr.errors import error
from nameexpr.runtime import public
from nameexpr.runtime.cache import check_is_text
from nameexpr.runtime.operands import spec_of, unwrap
from nameexpr.runtime.options import read_options
from nameexpr.syntax.ast import Expression
from nameexpr.syntax.parser.expression import parse

if TYPE_CHECKING:
    from nameexpr.typing import Operand as Given


class Sizes(dict[str, int]):
    """Sizes of labels, in the order of the text. `packs` contains the sizes under each pack, and those under
    the ellipsis as "...".
    """

    def __init__(self, sizes: Mapping[str, int], packs: Mapping[str, tuple[int, ...]]) -> None:
        super().__init__(sizes)
        self.packs = dict(packs)


@public
def check(
    text: str,
    /,
    *operands: Given,
    sizes: Mapping[str, SupportsIndex] | None = None,
    **size_keywords: SupportsIndex,
) -> Sizes:
    """Return the sizes of labels, or raise if the operands do not match the text.

    Parameters
    ----------
    text : str
        An expression without an arrow, one term for each operand: ``"N C, C"``.
    *operands : array_like or NamedTensor
        The arrays to check.
    sizes, **size_keywords : int
        The sizes that labels must have.

    Returns
    -------
    Sizes
        A dict from label to size, whose `packs` are tuples of sizes.

    Raises
    ------
    NameExprError
        If an operand does not match the text; the error shows where.

    Examples
    --------
    >>> import numpy as np, nameexpr as ne
    >>> ne.check("batch... C, C out", np.ones((2, 3, 4)), np.ones((4, 5)))
    {'C': 4, 'out': 5}
    >>> ne.check("batch... C", np.ones((2, 3, 4))).packs
    {'batch': (2, 3)}
    """
    check_is_text(text, operands)
    options = read_options(sizes, size_keywords)
    tree = _read(text)
    specs = map(spec_of, unwrap(operands, text))
    found = [Operand(spec.shape, spec.names) for spec in specs]
    return Sizes(*infer_sizes(tree, found, dict(options.sizes)))


@lru_cache(maxsize=256)
def _read(text: str) -> Expression:
    tree = parse(text)
    if tree.outputs is not None:
        raise error(takes_no_arrow(text))
    check_text(tree)
    return tree
