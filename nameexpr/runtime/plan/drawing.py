"""The data of a plan's pictures, created when a picture is requested.

A plan contains a `Drawing`, which is lazy, since most plans are never drawn. The inert data (of
`nameexpr.pictures.data`) is created from the compiled stages on first use. It is pickled in place of the
stages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nameexpr.errors import Diagnostic, did_you_mean, error

if TYPE_CHECKING:
    from nameexpr.pictures.data import Drawn, Flow, TensorNetwork
    from nameexpr.pictures.files import Picture
    from nameexpr.runtime.plan.running import Running
    from nameexpr.runtime.plan.steps import Row

KINDS = ("network", "tree", "memory")
GRAPHS = ("network", "tree")


class Drawing:
    """The pictures of a plan, as data: `make` is called once, when the first is requested."""

    __slots__ = ("_data", "_make")

    def __init__(self, make: Callable[[], Drawn] | None, data: Drawn | None = None) -> None:
        self._make, self._data = make, data

    @property
    def data(self) -> Drawn:
        """The data to draw."""
        if self._data is None:
            assert self._make is not None
            self._data = self._make()
            self._make = None  # release the stages
        return self._data

    def __repr__(self) -> str:
        """Return a description, without creating the data."""
        return "<Drawing>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the data."""
        return Drawing, (None, self.data)

    def picture(self, kind: str) -> Picture:
        """Return one of the pictures as SVG; NE625 for an unknown kind."""
        _check_kind("draw", kind, KINDS)
        from nameexpr.pictures.data import TensorNetwork
        from nameexpr.pictures.flow import draw_flow
        from nameexpr.pictures.memory import draw_memory
        from nameexpr.pictures.network import draw_network

        if kind == "memory":
            return draw_memory(self.data.memory)
        graph = self._graph(kind)
        return draw_network(graph) if isinstance(graph, TensorNetwork) else draw_flow(graph)

    def dot(self, kind: str) -> str:
        """Return a network or a tree as text for Graphviz."""
        _check_kind("dot", kind, GRAPHS)
        from nameexpr.pictures.graph_text import dot

        return dot(self._graph(kind))

    def mermaid(self, kind: str) -> str:
        """Return a network or a tree as text for Mermaid."""
        _check_kind("mermaid", kind, GRAPHS)
        from nameexpr.pictures.graph_text import mermaid

        return mermaid(self._graph(kind))

    def _graph(self, kind: str) -> TensorNetwork | Flow:
        return self.data.tree if kind == "tree" else self.data.network


def drawn(running: Running, text: str, rows: Sequence[Row], operands: int, limit: int | None) -> Drawn:
    """Return the data of all pictures of what is executed on each call.

    `rows` are those of the plan's table, `operands` the bytes of the operands, `limit` the memory limit.
    """
    from nameexpr.pictures.data import Drawn
    from nameexpr.runtime.plan.flow import formula_graphs
    from nameexpr.runtime.plan.network import expression_graphs, memory_of

    graphs = expression_graphs if running.is_contraction else formula_graphs
    network, tree = graphs(running, text, rows)
    return Drawn(network, tree, memory_of(running, text, rows, operands, limit))


def _check_kind(method: str, kind: object, kinds: Sequence[str]) -> None:
    """Raise NE625 for an unknown kind of picture."""
    if isinstance(kind, str) and kind in kinds:
        return
    hint = f"there are {', '.join(map(repr, kinds[:-1]))} and {kinds[-1]!r}"
    message = f"{method}: a kind is a string, not {type(kind).__name__}"
    if isinstance(kind, str):
        message = f"{method}: there is no picture {kind!r}" + (" as text" if kind in KINDS else "")
        hint = did_you_mean(kind, kinds) or hint
    raise error(Diagnostic("NE625", message, hint=hint))
