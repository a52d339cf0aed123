"""Plans for display: a table of steps with flops, bytes and the NumPy call of each, the source to paste, and
pictures; an outline contains the totals of a plan, and is fast to create.

The line below the input of a session shows an outline after every key.

>>> import nameexpr as ne
>>> outline = ne.compile("i j, j k -> i k").outline((2, 3), (3, 4))
>>> outline.shape, outline.flops, outline.peak_bytes, duration(outline.seconds)
((2, 4), 48, 64, '0.64 us')
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum, nan
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Literal

from nameexpr.backends.numpy.costs.program import CALL, duration
from nameexpr.carets import aligned_columns, cut
from nameexpr.compiler.ir.axes import Names
from nameexpr.runtime import public
from nameexpr.runtime.plan.drawing import Drawing
from nameexpr.runtime.plan.steps import PlanStep

if TYPE_CHECKING:
    from nameexpr.pictures.files import Picture

LEAST_COLUMNS = 24
VIEW = 1e-6
"""The seconds below which a step that neither computes nor allocates is a view."""
INDENT = "  "
MOST_NODES = 24
"""The number of values up to which a notebook shows the picture of the tree with the table."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The result of a text and its costs, with the same meanings as in a `Plan`.

    `flops` of an expression that is sliced to fit into memory are those of the plan without slices.
    """

    shape: tuple[int, ...]
    names: Names | None
    dtype: str
    flops: int
    peak_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The execution plan of an expression for operands of given shapes. Printed, it is a table.

    Attributes
    ----------
    text : str
        The expression in its canonical spelling.
    steps : tuple of PlanStep
        The steps, in order.
    flops, naive_flops : int
        Multiplications and additions of the plan, and of one loop over all labels.
    peak_bytes : int
        The most memory that is allocated at once, not counting operands.
    operand_bytes : int
        Memory of the operands.
    result_shape : tuple of int
        Shape of the result, of several the last.
    result_shapes : tuple of tuple of int
        Shapes of all results.
    result_names : tuple of (str or None), or None
        Names of the result if any operand has names.
    dtype : str
        Dtype of the computation; "" if elements are only moved.
    code : str
        The code that is executed, as a function to paste.
    drawing : Drawing
        The data for `draw`, `dot` and `mermaid`; it is ignored when plans are compared.
    library : str
        The library that computes, whose calls the steps are. Times are estimated for NumPy only.
    tuned : tuple of (int, int)
        For each choice that ``tune=True`` has timed for operands like these: the number of the strategy that
        is used, in the order in which the profile expects them, from 1, and the number of strategies.
    """

    text: str
    steps: tuple[PlanStep, ...]
    flops: int
    naive_flops: int
    peak_bytes: int
    operand_bytes: int
    result_shape: tuple[int, ...]
    result_shapes: tuple[tuple[int, ...], ...]
    result_names: Names | None
    dtype: str
    code: str
    drawing: Drawing = field(repr=False, compare=False)
    library: str = "numpy"
    tuned: tuple[tuple[int, int], ...] = ()

    @property
    def seconds(self) -> float:
        """The expected time of a call, an estimate for the cores of one machine; nan on other libraries."""
        return nan if self.library != "numpy" else CALL + fsum(step.seconds for step in self.steps)

    @property
    def speedup(self) -> float:
        """The ratio of the flops of one loop over all labels to those of the plan."""
        from decimal import Decimal  # counts may exceed the range of floats

        return float(Decimal(self.naive_flops) / Decimal(self.flops)) if self.flops else 1.0

    def __str__(self) -> str:
        """Return the table of steps and the totals; a terminal gets the text above it in its width."""
        columns = get_terminal_size((0, 0)).columns  # 0 without a terminal
        return "\n".join([*self._heading(columns or None), *self._table(None), *self._totals()])

    @public
    def fitted(self, width: int | None) -> str:
        """Return the table of steps and the totals in at most `width` columns, or whole if that is None.

        The widest columns of the table are cut, and each statement of a formula by itself; `code` always has
        the calls in full.

        Examples
        --------
        >>> import nameexpr as ne
        >>> plan = ne.compile("batch in, in out -> batch out").plan((2, 3), (3, 4))
        >>> print(plan.fitted(60).splitlines()[2])
          1     dot   batch in,…  48     64     0.34 us  a0.dot(a1)
        """
        lines = [*self._heading(width), *self._table(width), *self._totals()]
        return "\n".join(lines if width is None else [cut(line, width) for line in lines])

    def _heading(self, width: int | None) -> list[str]:
        """Return the text, each statement on its line; the middle of those that are too long is left out."""
        from nameexpr.pictures.words import short

        lines = self.text.split("\n")
        return lines if width is None else [short(line, max(LEAST_COLUMNS, width)) for line in lines]

    def _table(self, width: int | None) -> list[str]:
        padded = [[cell + " " for cell in row] for row in self._cells()]
        lines = aligned_columns(padded, None if width is None else width - len(INDENT))
        return [INDENT + line for line in lines]

    def _cells(self) -> list[list[str]]:
        """Return the elements of the table: its head, then a row for each step."""
        rows = [["step", "what", "names", "flops", "bytes", "time", "call"]]
        rows += [
            [str(number), one.what, one.names, _number(one.flops), _number(one.bytes), _time(one), one.call]
            for number, one in enumerate(self.steps, 1)
        ]
        return rows if self.library == "numpy" else [[*row[:5], row[6]] for row in rows]

    def _totals(self) -> list[str]:
        from nameexpr.pictures.words import bytes_text, full_or_power, ratio_text

        shape = f"result: shape {self.result_shape}"
        if len(self.result_shapes) > 1:
            shape = f"results: shapes {' and '.join(map(str, self.result_shapes))}"
        if self.result_names is not None:
            last = " of the last" if len(self.result_shapes) > 1 else ""
            shape += f", names{last} {self.result_names}"
        ratio = ratio_text(self.naive_flops, self.flops) if 0 < self.flops < self.naive_flops else "1"
        fewer = "" if ratio == "1" else f" ({ratio} times fewer)"
        return [
            shape + (f", computed in {self.dtype}" if self.dtype else ""),
            f"flops: {full_or_power(self.flops)} planned, {full_or_power(self.naive_flops)} naive{fewer}",
            f"peak memory: {bytes_text(self.peak_bytes)} (operands: {bytes_text(self.operand_bytes)})",
            f"time: about {duration(self.seconds)} on {self._cores()} (estimated)"
            if self.library == "numpy"
            else f"runs on {self.library}",
            *self._tuned(),
        ]

    def _tuned(self) -> list[str]:
        """Return the line about strategies that were timed."""
        used = ", ".join([f"strategy {number} of {count}" for number, count in self.tuned])
        return [f"tuned: {used}"] if used else []

    def _cores(self) -> str:
        most = max([step.threads for step in self.steps], default=1)
        return f"{most} cores" if most > 1 else "one core"

    def __repr__(self) -> str:
        """Return one line that identifies the plan."""
        costs = f"{len(self.steps)} steps, {self.flops:,} flops, {self.peak_bytes:,} bytes"
        return f"<Plan of {self.text!r}: {costs}>"

    @public
    def draw(self, kind: Literal["network", "tree", "memory"] = "network") -> Picture:
        """Return a picture as SVG: a str, which notebooks show.

        Parameters
        ----------
        kind : {"network", "tree", "memory"}
            The tensor network with its labels; the contraction tree with flops and bytes; bytes alive at each
            step. Of a formula, the network is the flow of its values and the tree that of its steps
            (docs/pictures.md).

        Raises
        ------
        OptionError
            NE625, for any other kind.

        Examples
        --------
        >>> import nameexpr as ne
        >>> plan = ne.compile("a b, b c -> a c").plan((2, 3), (3, 4))
        >>> plan.draw("tree").startswith("<svg")
        True
        """
        return self.drawing.picture(kind)

    @public
    def dot(self, kind: Literal["network", "tree"] = "network") -> str:
        """Return the network or the tree as text for Graphviz.

        Raises
        ------
        OptionError
            NE625, for any other kind.
        """
        return self.drawing.dot(kind)

    @public
    def mermaid(self, kind: Literal["network", "tree"] = "network") -> str:
        """Return the network or the tree as text for Mermaid.

        Raises
        ------
        OptionError
            NE625, for any other kind.

        Examples
        --------
        >>> import nameexpr as ne
        >>> print(ne.compile("a b, b c -> a c").plan((2, 3), (3, 4)).mermaid("tree"))
        flowchart TD
          n0(["operand 0<br/>a=2 b=3<br/>48 B"])
          n1(["operand 1<br/>b=3 c=4<br/>96 B"])
          n2["1 dot<br/>a=2 c=4<br/>48 flops, 64 B"]
          n0 --> n2
          n1 --> n2
          style n2 stroke-width:3px
        <BLANKLINE>
        """
        return self.drawing.mermaid(kind)

    def _repr_html_(self) -> str:
        """Return the table for notebooks, followed by the tree unless it is too large; all text is
        escaped.
        """
        from nameexpr.pictures.words import escaped

        head, *rows = [[escaped(cell) for cell in row] for row in self._cells()]
        title, totals = escaped(self.text).replace("\n", "<br>"), "<br>".join(map(escaped, self._totals()))
        names = "".join(f"<th>{name}</th>" for name in head)
        lines = [f"<div><code>{title}</code><table><thead><tr>{names}</tr></thead><tbody>"]
        for *row, call in rows:
            cells = "".join(f"<td>{cell}</td>" for cell in row)
            lines.append(f"<tr>{cells}<td><code>{call}</code></td></tr>")
        return f"{''.join(lines)}</tbody></table>{totals}<br>{self._tree() or ''}</div>"

    def _tree(self) -> Picture | None:
        """Return the tree if it is small enough to be shown with the table."""
        return self.draw("tree") if len(self.drawing.data.tree.nodes) <= MOST_NODES else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the formats for notebooks: text, a table with the tree, and the tree if it is not too large.

        The tree is in both, because a front end shows one of them.
        """
        bundle = {"text/plain": str(self), "text/html": self._repr_html_()}
        tree = self._tree()
        if tree is not None:
            bundle["image/svg+xml"] = str(tree)
        kept = set(bundle) if include is None else set(bundle) & set(include)
        return {kind: text for kind, text in bundle.items() if kind in kept - set(exclude or ())}


def _number(value: int) -> str:
    return f"{value:,}" if value else "-"


def _time(step: PlanStep) -> str:
    is_view = not step.bytes and not step.flops and step.seconds < VIEW
    return "-" if is_view else duration(step.seconds)
