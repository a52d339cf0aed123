"""Orders that come from outside: explicit paths, the searches of opt_einsum, and optimizers of the caller's.

Their paths number operands as opt_einsum does: each step takes some out and appends its result. Whatever they
say, only pairs come out: an n-ary step is taken apart, because one n-ary step can cost more than everything
else together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from typing import Any, TypeAlias

from nameexpr.compiler.planning.pairs import Pairs
from nameexpr.errors import Diagnostic, did_you_mean, error

Labels: TypeAlias = frozenset[str]
Path: TypeAlias = Sequence[tuple[int, ...]]

MANAGEABLE = {
    **dict.fromkeys(("optimal", "branch-all"), 8),
    **dict.fromkeys(("branch-2",), 10),
    **dict.fromkeys(("dp", "dynamic-programming"), 20),
    **dict.fromkeys(("auto-hq", "random-greedy", "random-greedy-128"), 200),
}
"""Operands up to which a search of opt_einsum is asked; its time explodes beyond that, or explodes there."""
STRATEGIES = (
    *("auto", "auto-hq", "greedy", "optimal", "dp", "dynamic-programming", "eager", "opportunistic"),
    *("branch-all", "branch-2", "branch-1", "random-greedy", "random-greedy-128"),
)


def check_strategy(name: str) -> None:
    """Raise an `OptionError` if no strategy of opt_einsum has this name."""
    if name not in STRATEGIES:
        hint = did_you_mean(name, STRATEGIES) or f"one of {', '.join(STRATEGIES)}, True, False, or a path"
        raise error(Diagnostic("NE604", f"optimize={name!r} is not a way to order contractions", hint=hint))


def left_to_right(count: int) -> Pairs:
    """Return the order that takes operands as they stand."""
    return [(0, 1), *((position, count + position - 2) for position in range(2, count))][: count - 1]


def explicit(path: Any, count: int) -> Pairs:
    """Return the order of a path, the rest left to right if it ends early.

    Raises
    ------
    OptionError
        If it is no path, or a step names an operand that is not there.

    Examples
    --------
    >>> explicit([(1, 2), (0, 1)], 3)
    [(1, 2), (0, 3)]
    >>> explicit(["einsum_path", (0, 1, 2)], 3)
    [(0, 1), (3, 2)]
    """
    left = count
    steps = _steps(path)
    for step in steps or ():
        if len(set(step)) != len(step) or not step or not all(0 <= position < left for position in step):
            steps = None
            break
        left -= len(step) - 1
    if steps is None:
        message = f"optimize={path!r} is no path for {count} operands"
        hint = "a path is a list of tuples of positions, as opt_einsum.contract_path returns"
        raise error(Diagnostic("NE605", message, hint=hint))
    return _pairs(count, steps)


def _steps(path: Iterable[Any]) -> list[tuple[int, ...]] | None:
    """Return the steps of a path, with the word that `numpy.einsum_path` puts in front left out."""
    try:
        steps = list(path)
        if steps and isinstance(steps[0], str) and steps[0] == "einsum_path":
            del steps[0]
        return [tuple(index(position) for position in step) for step in steps]
    except TypeError:
        return None


def _pairs(count: int, path: Path) -> Pairs:
    """Renumber a path (each step takes its operands out and appends its result) into pairs of values."""
    alive = list(range(count))
    pairs: Pairs = []
    for step in (*path, None):
        chosen = alive if step is None else [alive[position] for position in step]
        gone = set(chosen)
        alive = [value for value in alive if value not in gone]
        first = chosen[0]
        for other in chosen[1:]:
            pairs.append((first, other))
            first = count + len(pairs) - 1
        alive.append(first)
    return pairs


def asked_for(name: str, terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int]) -> Pairs | None:
    """Return the order that a strategy of opt_einsum finds, or None if the network is too much for it."""
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


def asked(
    optimize: Callable[..., Any], terms: Sequence[Labels], output: Labels, sizes: Mapping[str, int]
) -> Pairs:
    """Return the order that an optimizer of the caller's finds: one of opt_einsum or cotengra, or a function.

    Raises
    ------
    OptionError
        If it fails, or what it returns is no path.
    """
    given: list[Any] = [list(terms), output, dict(sizes), None]
    try:
        found = optimize(*given[: _positions(optimize)])
    except Exception as reason:
        message = f"the optimizer given as optimize= failed: {type(reason).__name__}: {reason}"
        hint = "it is called as optimize(inputs, output, sizes, memory_limit) and returns a path"
        raise error(Diagnostic("NE605", message, hint=hint)) from reason
    return explicit(found, len(terms))


def _positions(optimize: Callable[..., Any]) -> int:
    """Return how many of the protocol's four arguments a callable takes by position; some of cotengra's leave
    out the limit on memory.
    """
    from inspect import signature

    try:
        signature(optimize).bind(None, None, None, None)
    except TypeError:
        return 3
    except ValueError:  # a callable that does not say
        return 4
    return 4
