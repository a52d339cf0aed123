"""Chains of calls whose parts are computed one after the other, so that work is handed over once and what a
part creates is still in the cache for the next call.

    t = x - m; s = vecdot(t, t); y = t / s   ->   for each part: t[i:j], s[i:j], y[i:j]

The calls of a chain are cut along the first axis of row-major results, and read what others of the chain have
created only there. What a call writes over is read by others of the chain in the same parts, if at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil, fsum

from nameexpr.backends.numpy.threads import parts
from nameexpr.backends.numpy.threads.gain import Division, Sharing, Spread
from nameexpr.backends.numpy.threads.placing import bytes_of_parts, writes_into
from nameexpr.compiler.ir.primitives import is_view
from nameexpr.compiler.memory.program import ProgramInfo, alive
from nameexpr.records import field, record, replace

Eligible = Callable[[int], bool]


def chains(
    info: ProgramInfo, times: Sequence[float], sharing: Sharing, is_eligible: Eligible, limit: int | None
) -> dict[int, Spread]:
    """Return by number the calls that threads share in chains of at least two, where that saves time."""
    roots, held = _roots(info), [(most, scratch) for most, scratch, _ in alive(info)]
    found: dict[int, Spread] = {}
    number, count = 0, len(times)
    while number < count:
        chain = CallChain(info, roots, is_eligible)
        end = number
        while end < count and chain.takes(end):
            end += 1
        shared = _shared(chain.trimmed(times, sharing.handed), times, sharing, held)
        last = max(shared, default=0)
        if shared and (limit is None or sum(held[last]) + shared[last].bytes <= limit):
            found |= shared
        number = max(end, number + 1)
    return found


def _roots(info: ProgramInfo) -> list[int]:
    """Return for each value the one in whose memory it is: views, and what is written over others."""
    roots = list(range(info.count))
    for value, instruction in enumerate(info.program.instructions, info.count):
        is_inside = is_view(instruction) or instruction.over is not None
        roots.append(roots[instruction.sources[instruction.over or 0]] if is_inside else value)
    return roots


@record(frozen=False)
class CallChain:
    """The calls of a chain, by number, each with the cuts of its sources.

    `cut` are the values that are only there in parts, with their views, and `whole` is the memory that calls
    do not read in the same parts. Parts have at least `least` indices of `size`, and a `multiple` of a number
    of them.
    """

    info: ProgramInfo
    roots: Sequence[int]
    is_eligible: Eligible
    size: int = 0
    least: int = 1
    multiple: int = 1
    links: dict[int, tuple[int | None, ...]] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)
    whole: set[int] = field(default_factory=set)

    def takes(self, number: int) -> bool:
        """Add an instruction, and return whether the chain can go on after it."""
        instruction, value = self.info.program.instructions[number], self.info.count + number
        if not self.cut.intersection(instruction.sources) and (
            not instruction.sources or (is_view(instruction) and not self.info.is_copy(instruction))
        ):
            return True  # it is computed before the chain
        if instruction.primitive == "reshape" and not self.info.is_copy(instruction):
            self.cut.add(value)
            return self._is_along(value)
        return self.is_eligible(number) and self._takes_call(number)

    def _takes_call(self, number: int) -> bool:
        info, value = self.info, self.info.count + number
        instruction, result = info.program.instructions[number], info.arrays[value]
        self.size = self.size or (result.shape[0] if result.shape else 0)
        is_along = self._is_along(value)
        way = parts.cut_along(instruction, info.sources(number), result, 0) if is_along else None
        if way is None or len({self.multiple, way.multiple} - {1}) > 1:
            return False
        read = [
            source
            for source, cut in zip(instruction.sources, way.cuts, strict=True)
            if cut != 0 or not self._is_along(source)
        ]
        own = set() if instruction.over is None else {self.roots[value]}
        whole = self.whole | {self.roots[source] for source in read}
        if self.cut.intersection(read) or whole & own:
            return False
        self.whole, self.cut = whole, self.cut | {value}
        self.least, self.multiple = max(self.least, way.least), max(self.multiple, way.multiple)
        self.links[number] = way.cuts
        return True

    def _is_along(self, value: int) -> bool:
        """Return whether indices of parts are the same share of a value as of the memory that it is in."""
        array, count = self.info.arrays[value], self.info.count
        instructions = self.info.program.instructions
        while value >= count and is_view(instructions[value - count]):
            if instructions[value - count].primitive != "reshape":
                return False
            (value,) = instructions[value - count].sources
        return bool(array.shape) and array.shape[0] == self.size > 1 and array.is_row_major

    def trimmed(self, times: Sequence[float], least: float) -> CallChain:
        """Return the chain without the calls at its ends that take less time."""
        long = [number for number in self.links if times[number] >= least]
        first, last = min(long, default=0), max(long, default=-1)
        return replace(self, links={at: cuts for at, cuts in self.links.items() if first <= at <= last})


def _shared(
    chain: CallChain, times: Sequence[float], sharing: Sharing, held: Sequence[tuple[int, int]]
) -> Mapping[int, Spread]:
    """Return how threads share the calls of a chain; nothing if that saves no time, or takes much memory."""
    info, total = chain.info, fsum([times[number] for number in chain.links])
    if len(chain.links) < 2 or sharing.is_short(total, is_chain=True):  # noqa: PLR2004
        return {}
    wanted, way = sharing.parts(total, is_chain=True), parts.Way(chain.least, chain.multiple, ())
    step = parts.step_of(chain.size, wanted, sharing.threads, way)
    if not step:
        return {}
    spread = sharing.worth(total, ceil(chain.size / step))
    first, last = min(chain.links), max(chain.links)
    later = held[first][0] + sum([info.own_bytes(number) for number in range(first + 1, last + 1)])
    kept = max(0, later - held[last][0])
    if spread is None or kept > sharing.partial_bytes:
        return {}
    found = {}
    for number, cuts in chain.links.items():
        instruction, result = info.program.instructions[number], info.arrays[info.count + number]
        layout = tuple(range(len(result.shape)))
        part = Division(0, step, cuts, result.dtype, layout, writes_into(instruction))
        own = bytes_of_parts(info, number, spread.threads, part)
        share = spread.seconds * times[number] / total
        found[number] = replace(spread, seconds=share, bytes=own, part=part, last=last)
    most = max([one.bytes for one in found.values()])
    more = {at: max(0, (most if at == last else one.bytes) - held[at][1]) for at, one in found.items()}
    return {at: replace(one, bytes=more[at] + kept * (at == last)) for at, one in found.items()}
