"""The order of pairwise contractions.

Up to `EXACT` operands every order is tried (dynamic programming over sets of operands); beyond that
opt_einsum's searches do the work. Whatever a path says, only pairs come out: an n-ary step is taken apart,
because one n-ary step can cost more than everything else together.

Costs are counted as opt_einsum counts flops: the number of cells of all labels involved, twice if something
is summed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from nameexpr.errors import Diagnostic, error

Labels: TypeAlias = frozenset[str]
Path: TypeAlias = Sequence[tuple[int, ...]]
Optimize: TypeAlias = "bool | str | Path | Callable[..., Path] | None"

EXACT = 5
MANAGEABLE = {
    **dict.fromkeys(("optimal", "branch-all"), 8),
    **dict.fromkeys(("branch-2",), 10),
    **dict.fromkeys(("dp", "dynamic-programming"), 20),
    **dict.fromkeys(("auto-hq", "random-greedy", "random-greedy-128"), 200),
}
"""Operands up to which a search of opt_einsum is asked; beyond that it is "auto"."""
STRATEGIES = (
    *("auto", "auto-hq", "greedy", "optimal", "dp", "dynamic-programming", "eager", "opportunistic"),
    *("branch-all", "branch-2", "branch-1", "random-greedy", "random-greedy-128"),
)


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
) -> list[tuple[int, int]]:
    """Return the pairs to contract, in order.

    Values are numbered as they arise: operands first, then the result of each pair.

    Parameters
    ----------
    terms : sequence of frozenset of str
        Labels of each operand, those that only it has already summed.
    output : frozenset of str
        Labels of the result.
    sizes : mapping of str to int
        Size of each label.
    optimize : optional
        None or True for the best order known; False for left to right; a name or a path optimizer of
        opt_einsum; or an explicit path.

    Raises
    ------
    OptionError
        If `optimize` is none of these, or a path that does not fit the operands.
    """
    count = len(terms)
    if optimize is False:
        return _pairs(count, [(0, 1)] + [(0, position) for position in range(count - 2, 0, -1)])
    if optimize is None or optimize is True or optimize == "auto":
        if count <= EXACT:
            return _exact(terms, output, sizes)
        optimize = "auto"
    if isinstance(optimize, str):
        return _pairs(count, _search(optimize, terms, output, sizes))
    if callable(optimize):
        return _pairs(count, _checked(_asked(optimize, terms, output, sizes), count))
    return _pairs(count, _checked(optimize, count))


def _exact(terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int]) -> list[tuple[int, int]]:
    """Try every order: the best way to make a set of operands is the best split of it into two."""
    count = len(terms)
    if count == 2:  # noqa: PLR2004
        return [(0, 1)]
    everything = (1 << count) - 1
    inside = [frozenset[str]()] * (everything + 1)
    for subset in range(1, everything + 1):
        lowest = (subset & -subset).bit_length() - 1
        inside[subset] = inside[subset & (subset - 1)] | terms[lowest]
    keep = [inside[subset] & (output | inside[everything ^ subset]) for subset in range(everything + 1)]
    best: dict[int, tuple[int, int, int]] = {1 << position: (0, 0, 0) for position in range(count)}
    for subset in range(1, everything + 1):
        if subset not in best:
            best[subset] = min(_splits(subset, best, keep, sizes))
    return _unfold(everything, best, count)


def _splits(
    subset: int, best: Mapping[int, tuple[int, int, int]], keep: Sequence[Labels], sizes: Mapping[str, int]
) -> list[tuple[int, int, int]]:
    """Return (cost, left, right) for each way to split a set in two."""
    found = []
    left = (subset - 1) & subset
    while left:
        right = subset ^ left
        if left > right:
            labels = keep[left] | keep[right]
            flops = flops_of(labels, sizes, is_summed=len(labels) > len(keep[subset]))
            found.append((best[left][0] + best[right][0] + flops, right, left))
        left = (left - 1) & subset
    return found


def _unfold(everything: int, best: Mapping[int, tuple[int, int, int]], count: int) -> list[tuple[int, int]]:
    order: list[int] = []
    stack = [everything]
    while stack:
        subset = stack.pop()
        if subset & (subset - 1):
            order.append(subset)
            stack += best[subset][1:]
    numbers = {1 << position: position for position in range(count)}
    pairs = []
    for subset in reversed(order):
        pairs.append((numbers[best[subset][1]], numbers[best[subset][2]]))
        numbers[subset] = count + len(pairs) - 1
    return pairs


def check_strategy(name: str) -> None:
    """Raise an `OptionError` if no strategy of opt_einsum has this name."""
    if name not in STRATEGIES:
        from nameexpr.errors import did_you_mean

        hint = did_you_mean(name, STRATEGIES) or f"one of {', '.join(STRATEGIES)}, True, False, or a path"
        raise error(Diagnostic("NE604", f"optimize={name!r} is not a way to order contractions", hint=hint))


def _search(name: str, terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int]) -> Path:
    """Ask opt_einsum; searches whose time explodes are kept to as many operands as they can manage."""
    check_strategy(name)
    if len(terms) > MANAGEABLE.get(name, len(terms)):
        name = "auto"
    try:
        from opt_einsum.paths import get_path_fn  # type: ignore[import-untyped]
    except ImportError:  # planning without NumPy, which opt_einsum imports: any order is right
        return [(0, 1)] * (len(terms) - 1)
    for strategy in (name, "greedy"):
        find: Callable[..., Any] = get_path_fn(strategy)
        with suppress(RuntimeError):  # opt_einsum's dp gives up on some networks; greedy never does
            return [tuple(step) for step in find(list(terms), output, dict(sizes))]
    return [(0, 1)] * (len(terms) - 1)


def _asked(
    optimize: Callable[..., Any], terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int]
) -> Any:
    """Return the path that an optimizer of the caller's finds (opt_einsum's protocol for path optimizers)."""
    try:
        return optimize(list(terms), output, dict(sizes), None)
    except Exception as reason:
        message = f"the optimizer given as optimize= failed: {type(reason).__name__}: {reason}"
        hint = "it is called as optimize(inputs, output, sizes, memory_limit) and returns a path"
        raise error(Diagnostic("NE605", message, hint=hint)) from reason


def _checked(path: Any, count: int) -> Path:
    """Return an explicit path, in opt_einsum's numbering, if every step names operands that are there."""
    left = count
    try:
        steps = [tuple(int(position) for position in step) for step in path if not isinstance(step, str)]
    except TypeError:
        steps = [(-1,)]
    for step in steps:
        if len(set(step)) != len(step) or not step or not all(0 <= position < left for position in step):
            message = f"optimize={path!r} is no path for {count} operands"
            hint = "a path is a list of tuples of positions, as opt_einsum.contract_path returns"
            raise error(Diagnostic("NE605", message, hint=hint))
        left -= len(step) - 1
    return steps


def _pairs(count: int, path: Path) -> list[tuple[int, int]]:
    """Renumber a path (each step takes its operands out and appends its result) into pairs of values."""
    alive = list(range(count))
    pairs: list[tuple[int, int]] = []
    for step in [*path, tuple(range(count))]:
        chosen = [alive[position] for position in step if position < len(alive)]
        alive = [value for value in alive if value not in chosen]
        first = chosen[0]
        for other in chosen[1:]:
            pairs.append((first, other))
            first = count + len(pairs) - 1
        alive.append(first)
    return pairs
