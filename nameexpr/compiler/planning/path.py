"""The order of pairwise contractions: what `optimize=` may be, and who answers.

By itself it is our own search (`nameexpr.compiler.planning`): all orders of up to `FEW` operands, and beyond
that whatever suits the network. opt_einsum's searches stand behind their names.

Costs are reported as opt_einsum counts flops: the number of cells of all labels involved, twice if something
is summed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from nameexpr.compiler.planning.exact.subsets import best_of_all
from nameexpr.compiler.planning.optimizers import (
    STRATEGIES,
    Labels,
    Path,
    asked,
    asked_for,
    check_strategy,
    explicit,
    left_to_right,
)
from nameexpr.compiler.planning.pairs import Pairs, in_order

__all__ = ["STRATEGIES", "Labels", "Optimize", "Path", "check_strategy", "find_path", "flops_of"]

Optimize: TypeAlias = "bool | str | Path | Callable[..., Path] | None"

FEW = 5


def flops_of(labels: Labels, sizes: Mapping[str, int], *, is_summed: bool, operands: int = 2) -> int:
    """Return the number of scalar operations of one step: one multiplication per pair, one addition if it
    sums.
    """
    cells = 1
    for label in labels:
        cells *= sizes[label]
    return cells * (max(1, operands - 1) + is_summed)


def find_path(
    terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int], optimize: Optimize = None
) -> Pairs:
    """Return the pairs to contract, in order.

    Values are numbered as they arise: operands first, then the result of each pair. The same network gets the
    same order in every process.

    Parameters
    ----------
    terms : sequence of frozenset of str
        Labels of each operand, those that only it has already summed.
    output : frozenset of str
        Labels of the result.
    sizes : mapping of str to int
        Size of each label.
    optimize : optional
        None, True or "auto" for the best order that our own search finds, in about a tenth of the time that
        the contraction is expected to take; False for left to right; another name of a search of opt_einsum
        (our own answers where it cannot); an explicit path; or a path optimizer of opt_einsum or cotengra, or
        a function like them.

    Raises
    ------
    OptionError
        If `optimize` is none of these, or a path that does not fit the operands.

    Examples
    --------
    >>> terms = [frozenset("ij"), frozenset("jk"), frozenset("kl")]
    >>> find_path(terms, frozenset("il"), dict(i=10, j=2, k=10, l=2))
    [(1, 2), (0, 3)]
    """
    if optimize is None or optimize is True or (isinstance(optimize, str) and optimize == "auto"):
        return _best(terms, output, sizes)
    if optimize is False:
        return left_to_right(len(terms))
    if isinstance(optimize, str):
        found = asked_for(optimize, terms, output, sizes)
        return _best(terms, output, sizes) if found is None else found
    if callable(optimize):
        return asked(optimize, terms, output, sizes)
    return explicit(optimize, len(terms))


def _best(terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int]) -> Pairs:
    count = len(terms)
    if count <= 2:  # noqa: PLR2004
        return [(0, 1)][: count - 1]
    if count <= FEW:
        return best_of_all(terms, output, sizes)
    # Only now: an import of the package is quick, and most expressions have two operands.
    from nameexpr.compiler.planning.network import read_network
    from nameexpr.compiler.planning.search.search import best_path

    return in_order(best_path(read_network(terms, output, sizes)), count)
