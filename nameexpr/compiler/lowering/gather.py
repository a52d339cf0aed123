"""Reading at positions that are data.

One position along one axis is a `take`. Positions that share labels with each other, or with the value,
become one position on the axes that they read, merged into one, if these lie next to each other in memory:

    x[B T@i[B K] D]     take on (B T) D at index[B] * size[T] + i[B K]

Otherwise the array is copied, or, if it is larger than the result, indexed where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from nameexpr.compiler.ir.axes import Labels, gathered, hint_of, product_label
from nameexpr.compiler.ir.graph import merged
from nameexpr.compiler.ir.nodes import ReadAt
from nameexpr.compiler.ir.program import Instruction
from nameexpr.compiler.ir.strides import is_dense
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.values import INDEX, counted, filled
from nameexpr.records import replace

At = dict[str, Value]
"""For each label that is read the positions, as integers of 64 bits that are inside."""


def gather(build: Builder, value: Value, positions: Sequence[ReadAt], places: Sequence[Value]) -> Value:
    """Return a value read at positions, which replace the labels that they read."""
    pairs = list(zip(positions, places, strict=True))
    every = _labels(value, {position.label: place for position, place in pairs})
    if not build.size(every):  # nothing is read, and nothing checked
        return filled(build, 0, every, value.dtype)
    at = {position.label: _checked(build, position, place) for position, place in pairs}
    for group in _groups(build, at):
        value = _gathered(build, value, group)
    return value


def _checked(build: Builder, position: ReadAt, place: Value) -> Value:
    """Return positions as integers of 64 bits; larger ones become negative, and are rejected."""
    place = build.cast(place, INDEX)
    if position.is_inside:
        return place
    made = Instruction("inside", (place.number,), constants=(build.sizes[position.label], position.value))
    known = emitted(build, made)
    if known is not None:
        return replace(place, number=known)
    return build.moved(place, made, place.labels, place.strides)


def emitted(build: Builder, made: Instruction) -> int | None:
    """Return the value of an instruction that the program already has; None if it is a new one."""
    same = [number for number, one in enumerate(build.instructions) if one == made]
    return build.count + same[0] if same else None


def _groups(build: Builder, at: At) -> list[At]:
    """Return the positions that share labels together, those that read the fewest elements first."""
    groups: list[At] = []
    for label, place in at.items():
        near = [group for group in groups if any({*place.labels} & {*own.labels} for own in group.values())]
        joined = {name: own for group in near for name, own in group.items()}
        groups = [group for group in groups if group not in near]
        groups.append({**joined, label: place})
    return sorted(groups, key=lambda group: _growth(build, group))


def _growth(build: Builder, at: At) -> float:
    places = {label for place in at.values() for label in place.labels}
    return float(hint_of(build.size(places)) / max(1, hint_of(build.size(at))))


def _labels(value: Value, at: At) -> Labels:
    """Return the labels of a value with positions in place of labels that are read."""
    return gathered(value.labels, {label: place.labels for label, place in at.items()})


def _gathered(build: Builder, value: Value, at: At) -> Value:
    """Return a value read at positions that share labels."""
    shared = {label for place in at.values() for label in place.labels} & {*value.labels}
    is_smaller = hint_of(build.size(_labels(value, at))) < hint_of(build.size(value.labels))
    value, run = _adjacent(build, value, {*at, *shared}, is_smaller=is_smaller)
    if value.strides is None or not is_dense(build.shape(value.labels), value.strides):
        if is_smaller and value.strides is not None:
            return _indexed(build, value, at, run)
        value = build.row_major(value, value.labels)
    if len(run) == 1:
        return _taken(build, value, run[0], at[run[0]])
    whole = product_label(run)
    build.sizes = {**build.sizes, whole: build.size(run)}
    first = value.labels.index(run[0])
    labels = (*value.labels[:first], whole, *value.labels[first + len(run) :])
    return _taken(build, build.reshape(value, build.shape(labels), labels), whole, _flat(build, at, run))


def _adjacent(build: Builder, value: Value, wanted: set[str], *, is_smaller: bool) -> tuple[Value, Labels]:
    """Return a value whose labels are in the order of memory, and the run of them that is read: labels
    between those that are wanted are read, too, unless copying the value takes less.
    """
    order = build.memory_order(value, value.labels)
    places = [place for place, label in enumerate(order) if label in wanted]
    run = order[places[0] : places[-1] + 1]
    if len(run) > len(wanted) and not is_smaller:
        run = tuple([label for label in order if label in wanted])
        before = order[: places[0]]
        order = (*before, *run, *[label for label in order if label not in {*before, *run}])
    return build.transpose(value, order), run


def _taken(build: Builder, value: Value, label: str, place: Value) -> Value:
    """Return a row-major value read at positions along one label."""
    axis = value.axis(label)
    labels = (*value.labels[:axis], *place.labels, *value.labels[axis + 1 :])
    made = Instruction("take", (value.number, place.number), axes=(axis,))
    return build.emit(made, labels, value.dtype, build.row_major_strides(labels), bound=value.bound)


def _indexed(build: Builder, value: Value, at: At, run: Labels) -> Value:
    """Return a value read at positions where it is, without a copy of it."""
    shared = {label for place in at.values() for label in place.labels}
    read = tuple([label for label in run if label in at or label in shared])
    value = build.transpose(value, (*read, *[label for label in value.labels if label not in read]))
    places = [at[label] if label in at else counted(build, label) for label in read]
    block = merged([place.labels for place in places])
    numbers = tuple([build.expand(place, block).number for place in places])
    labels = (*block, *value.labels[len(read) :])
    function = "index" if block else "element"
    made = Instruction("take", (value.number, *numbers), axes=tuple(range(len(read))), function=function)
    return build.emit(made, labels, value.dtype, None, bound=value.bound)


def _flat(build: Builder, at: At, run: Labels) -> Value:
    """Return positions along labels that are merged: of labels without any, those of every index."""
    flat: Value | None = None
    for label in run:
        place = at[label] if label in at else counted(build, label)
        flat = place if flat is None else _combined(build, flat, build.sizes[label], place)
    assert flat is not None
    return flat


def _combined(build: Builder, flat: Value, size: int, place: Value) -> Value:
    """Return positions in a product of axes, of which the last has this size."""
    rows = _pointwise(build, "multiply", (flat,), (None, size))
    return _pointwise(build, "add", (rows, place), (None, None))


def _pointwise(
    build: Builder, function: str, values: Sequence[Value], constants: tuple[int | None, ...]
) -> Value:
    labels = merged([value.labels for value in values])
    numbers = tuple([build.expand(value, labels).number for value in values])
    made = Instruction(
        "pointwise", numbers, build.shape(labels), dtype=INDEX, function=function, constants=constants
    )
    return build.emit(made, labels, INDEX, None)
