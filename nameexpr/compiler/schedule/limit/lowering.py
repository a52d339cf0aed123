"""Plan and nest of loops to program: steps as `nameexpr.compiler.lowering.reduction` has them, each loop one
instruction with a program of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nameexpr.compiler.ir.dtypes import Dtypes, needs_narrowing
from nameexpr.compiler.ir.program import Instruction, Loop, Program
from nameexpr.compiler.lowering.builder import Builder, Value
from nameexpr.compiler.lowering.contraction import lower_reduction
from nameexpr.compiler.lowering.lower import lower_arrangement, operand_value
from nameexpr.compiler.planning.plan import ContractionPlan, Step
from nameexpr.compiler.schedule.limit.loops import BlockLoop, Nest
from nameexpr.compiler.schedule.limit.network import COMBINED, SingleReduction
from nameexpr.compiler.schedule.simplify import simplify
from nameexpr.records import record, replace


@record
class _Whole:
    """What every level of a nest is lowered from."""

    plan: ContractionPlan
    dtypes: Dtypes

    @property
    def count(self) -> int:
        return len(self.plan.terms)

    @property
    def end(self) -> int:
        """The number of the item behind all steps."""
        return len(self.plan.steps)

    def reads(self, item: int) -> tuple[int, ...]:
        """Return the values that an item reads."""
        if item < self.end:
            return self.plan.steps[item].values
        return (self.count + self.end - 1 if self.end else 0,)


def lower_loops(single: SingleReduction, nest: Nest) -> Program:
    """Return the program of a reduction with loops."""
    plan, whole = single.plan, _Whole(single.plan, single.dtypes)
    build = Builder(plan.contraction.sizes, whole.count, single.target)
    values = {}
    for number, (view, labels) in enumerate(zip(single.views, plan.terms, strict=True)):
        values[number] = build.with_labels(operand_value(build, view, single.operands), labels)
    _level(whole, build, range(whole.end + 1), nest, values)
    value = values[whole.count + whole.end]
    flat = [label for labels in single.result for label in labels]
    missing = [label for label in dict.fromkeys(flat) if label in single.kept and label not in value.labels]
    value = build.with_labels(value, (*value.labels, *missing))
    value = lower_arrangement(
        build, single.result, value, is_moved=single.is_moved, is_row_major=single.is_row_major
    )
    return simplify(_program(build, single.operands.shapes, value))


def _program(build: Builder, operands: tuple[tuple[int, ...], ...], value: Value) -> Program:
    return Program(operands, tuple(build.instructions), tuple(build.notes), value.number, build.used_strides)


def _level(whole: _Whole, build: Builder, items: Iterable[int], nest: Nest, values: dict[int, Value]) -> None:
    """Lower the items of one level of a nest, and put what they make into `values`."""
    tops = {loop.top: loop for loop in nest}
    covered = {item for loop in nest for item in loop.items}
    for item in sorted(items):
        if item in tops:
            values[whole.count + item] = _loop(whole, build, tops[item], values)
        elif item not in covered:
            is_parted = any(
                whole.plan.contraction.sizes[one] != build.sizes[one] for one in whole.plan.reduced
            )
            values[whole.count + item] = _item(whole, build, item, values, is_parted=is_parted)


def _item(whole: _Whole, build: Builder, item: int, values: Mapping[int, Value], *, is_parted: bool) -> Value:
    """Lower one step, or what comes after all of them."""
    plan, dtypes = whole.plan, whole.dtypes
    inputs = [values[read] for read in whole.reads(item)]
    if item == whole.end:
        dtypes = replace(dtypes, result=dtypes.compute) if is_parted else dtypes
        return lower_reduction(build, replace(plan, steps=()), inputs, dtypes)
    step = plan.steps[item]
    is_last = item == whole.end - 1
    result = plan.contraction.result if is_last else ()
    contraction = replace(plan.contraction, result=result, dropped=(), reducer=None)
    alone = Step(tuple(range(len(inputs))), step.labels, step.summed, step.flops)
    single = ContractionPlan(contraction, (alone,), plan.reduced if is_last else ())
    return lower_reduction(build, single, inputs, replace(dtypes, result=dtypes.compute), item)


def _loop(whole: _Whole, build: Builder, loop: BlockLoop, values: Mapping[int, Value]) -> Value:
    """Lower a loop to one instruction."""
    made = {whole.count + item for item in loop.items}
    reads = tuple(dict.fromkeys(read for item in sorted(loop.items) for read in whole.reads(item)))
    outside = [(read, values[read]) for read in reads if read not in made]
    cuts = tuple([(v.axis(loop.label) if loop.label in v.labels else None,) for _, v in outside])
    size = build.sizes[loop.label]
    body, result = _body(whole, build, loop, loop.block, outside, ())
    tail = None
    if size % loop.block:
        tail, _ = _body(whole, build, loop, size % loop.block, outside, result.labels)
    is_placed = loop.label in result.labels
    is_reducing = loop.top == whole.end and not is_placed
    reducer = whole.plan.contraction.reducer or ""
    combine = COMBINED[reducer] if is_reducing else "add"
    dtype = "bool" if is_reducing and reducer in {"any", "all"} else result.dtype
    place = result.axis(loop.label) if is_placed else None
    sources = tuple(value.number for _, value in outside)
    blocks = Loop((size,), loop.block, cuts, body, tail, place, combine, loop.label)
    bound = result.bound if is_placed or result.bound is None else result.bound * blocks.turns
    one = Instruction("loop", sources, dtype=dtype, loop=blocks)
    value = build.emit(one, result.labels, dtype, build.row_major_strides(result.labels), bound=bound)
    is_whole = all(build.sizes[label] == whole.plan.contraction.sizes[label] for label in whole.plan.reduced)
    if is_reducing and is_whole and needs_narrowing(reducer, whole.dtypes):
        return build.cast(value, whole.dtypes.result)
    return value


def _body(
    whole: _Whole,
    build: Builder,
    loop: BlockLoop,
    block: int,
    outside: Sequence[tuple[int, Value]],
    labels: tuple[str, ...],
) -> tuple[Program, Value]:
    """Return the program of one block, and its result, whose axes are in the order of `labels` if given.

    Of a value whose layout NumPy chooses, the parts are taken to be those of a row-major one: without its
    other axes they are not in one piece.
    """
    inner = Builder({**build.sizes, loop.label: block}, len(outside), build.target)
    parts = {}
    for number, (read, value) in enumerate(outside):
        strides = build.row_major_strides(value.labels) if value.strides is None else value.strides
        parts[read] = replace(value, number=number, strides=strides, is_fresh=False)
    shapes = tuple(inner.shape(value.labels) for value in parts.values())
    _level(whole, inner, loop.items, loop.inner, parts)
    result = parts[whole.count + loop.top]
    if not labels and loop.top >= whole.end - 1 and set(result.labels) <= set(whole.plan.contraction.result):
        labels = tuple(label for label in whole.plan.contraction.result if label in result.labels)
    result = inner.transpose(result, labels or result.labels)
    build.used_strides |= inner.used_strides
    return simplify(_program(inner, shapes, result)), result
