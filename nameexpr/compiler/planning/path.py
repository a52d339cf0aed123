"""The order of pairwise contractions: the values of `optimize=`, and the searches that they select.

By default it is our own search: all orders of up to `FEW` operands (`exact`), and beyond that the search that
suits the network (`search`). External orders are explicit paths, the searches of opt_einsum by their names,
and the caller's optimizers. Their paths number operands as opt_einsum does: each step removes some operands
and appends its result. The result always consists of pairs: an n-ary step is split, because one n-ary step
can cost more than everything else together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

from nameexpr.errors import Diagnostic, did_you_mean, error

if TYPE_CHECKING:
    from nameexpr.compiler.planning.network import Pairs

Labels: TypeAlias = frozenset[str]
Path: TypeAlias = Sequence[tuple[int, ...]]
Optimize: TypeAlias = "bool | str | Path | Callable[..., Path] | None"

FEW = 5
MANAGEABLE = {
    **dict.fromkeys(("optimal", "branch-all"), 8),
    **dict.fromkeys(("branch-2",), 10),
    **dict.fromkeys(("dp", "dynamic-programming"), 20),
    **dict.fromkeys(("auto-hq", "random-greedy", "random-greedy-128"), 200),
}
"""The number of operands up to which a search of opt_einsum is called; beyond it, its time explodes."""
STRATEGIES = (
    *("auto", "auto-hq", "greedy", "optimal", "dp", "dynamic-programming", "eager", "opportunistic"),
    *("branch-all", "branch-2", "branch-1", "random-greedy", "random-greedy-128"),
)


def find_path(
    terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int], optimize: Optimize = None
) -> Pairs:
    """Return the pairs to contract, in order, of operands whose own labels are already summed.

    Values are numbered as they are created: operands first, then the result of each pair. The same network
    gets the same order in every process. `optimize` is None, True or "auto" for the best order that our own
    search finds, in about a tenth of the time that the contraction is expected to take; False for left to
    right; another name of a search of opt_einsum (our own is used where it cannot find one); an explicit
    path; or a path optimizer of opt_einsum, cotengra or cotengrust, or a function like them. An `OptionError`
    is raised for anything else, or for a path that does not fit.

    Examples
    --------
    >>> terms = [frozenset("ij"), frozenset("jk"), frozenset("kl")]
    >>> find_path(terms, frozenset("il"), dict(i=10, j=2, k=10, l=2))
    [(1, 2), (0, 3)]
    """
    if is_our_own(optimize):
        return _best(terms, output, sizes)
    if optimize is False:
        count = len(terms)
        return [(0, 1), *((position, count + position - 2) for position in range(2, count))][: count - 1]
    if isinstance(optimize, str):
        pairs = named_optimizer(optimize, terms, output, sizes)
        return _best(terms, output, sizes) if pairs is None else pairs
    if callable(optimize):
        return run_optimizer(optimize, terms, output, sizes)
    return explicit(optimize, len(terms))


def is_our_own(optimize: Optimize) -> bool:
    """Return whether the order is left to our own search."""
    return optimize is None or optimize is True or (isinstance(optimize, str) and optimize == "auto")


def _best(terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int]) -> Pairs:
    count = len(terms)
    if count <= 2:  # noqa: PLR2004
        return [(0, 1)][: count - 1]
    if count <= FEW:
        from nameexpr.compiler.planning.few import search_all

        return search_all(terms, output, sizes)
    from nameexpr.compiler.planning.network import in_order, read_network
    from nameexpr.compiler.planning.search import best_path

    return in_order(best_path(read_network(terms, output, sizes)), count)


def check_strategy(name: str) -> None:
    """Raise an `OptionError` unless opt_einsum has a strategy of this name."""
    if name not in STRATEGIES:
        hint = did_you_mean(name, STRATEGIES) or f"one of {', '.join(STRATEGIES)}, True, False, or a path"
        raise error(Diagnostic("NE604", f"optimize={name!r} is not a way to order contractions", hint=hint))


def named_optimizer(
    name: str, terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int]
) -> Pairs | None:
    """Return the order that a strategy of opt_einsum finds, or None if the network is too large for it."""
    check_strategy(name)
    if len(terms) > MANAGEABLE.get(name, len(terms)):
        return None
    try:
        from opt_einsum.paths import get_path_fn  # type: ignore[import-untyped]
    except ImportError:  # planning without NumPy, which opt_einsum imports
        return None
    find: Callable[..., Any] = get_path_fn(name)
    try:
        return explicit(find(list(terms), output, dict(sizes)), len(terms))
    except RuntimeError:  # its dp gives up on some networks
        return None


def run_optimizer(
    optimize: Callable[..., Any], terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int]
) -> Pairs:
    """Return the order that the caller's optimizer finds; NE605 if it fails, or its result is not a path."""
    from inspect import signature

    given: tuple[Any, ...] = (list(terms), output, dict(sizes), None)
    try:  # some optimizers of cotengra accept no memory limit
        signature(optimize).bind(*given)
    except TypeError:
        given = given[:3]
    except ValueError:  # a callable without a signature
        pass
    try:
        path = optimize(*given)
    except Exception as reason:
        message = f"the optimizer given as optimize= failed: {type(reason).__name__}: {reason}"
        hint = "it is called as optimize(inputs, output, sizes, memory_limit) and returns a path"
        raise error(Diagnostic("NE605", message, hint=hint)) from reason
    return explicit(path, len(terms))


def explicit(path: Any, count: int) -> Pairs:
    """Return the order of a path, continued from left to right if it ends early; NE605 if it does not fit.

    Examples
    --------
    >>> explicit([(1, 2), (0, 1)], 3)
    [(1, 2), (0, 3)]
    >>> explicit(["einsum_path", (0, 1, 2)], 3)
    [(0, 1), (3, 2)]
    """
    left = count
    try:
        steps = list(path)
        if steps and isinstance(steps[0], str) and steps[0] == "einsum_path":  # as from `numpy.einsum_path`
            del steps[0]
        steps = [tuple(index(position) for position in step) for step in steps]
        for step in steps:
            if len(set(step)) != len(step) or not step or not all(0 <= position < left for position in step):
                raise TypeError
            left -= len(step) - 1
    except TypeError:
        message = f"optimize={path!r} is not a path for {count} operands"
        hint = "a path is a list of tuples of positions, as opt_einsum.contract_path returns"
        raise error(Diagnostic("NE605", message, hint=hint)) from None
    alive = list(range(count))
    pairs: Pairs = []
    for step in (*steps, range(left)):  # the remaining operands in order
        chosen = [alive[position] for position in step]
        gone, first = set(chosen), chosen[0]
        alive = [value for value in alive if value not in gone]
        for second in chosen[1:]:
            pairs.append((first, second))
            first = count + len(pairs) - 1
        alive.append(first)
    return pairs
