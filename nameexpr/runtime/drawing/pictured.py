"""The pictures of a plan, and how it shows in notebooks: the part of `Plan` that draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from nameexpr.runtime.drawing.drawing import Drawing, dot_of, mermaid_of, picture_of

if TYPE_CHECKING:
    from nameexpr.pictures.sheet import Picture

MOST_NODES = 24
"""Values up to which a notebook gets the picture of the tree with the table."""


class Pictured:
    """What a plan can draw of itself."""

    __slots__ = ()
    drawing: Drawing

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
        return picture_of(self.drawing, kind)

    def dot(self, kind: Literal["network", "tree"] = "network") -> str:
        """Return the network or the tree as text for Graphviz.

        Raises
        ------
        OptionError
            NE625, for any other kind.
        """
        return dot_of(self.drawing, kind)

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
        return mermaid_of(self.drawing, kind)

    def _repr_html_(self) -> str:
        """Return the table for notebooks, and the tree below it if it is not too large; all is escaped."""
        from nameexpr.pictures.words import escaped

        head, *rows = self._cells()
        title = escaped(self._title()).replace("\n", "<br>")
        lines = [f"<div><code>{title}</code><table><thead><tr>"]
        lines += [f"<th>{escaped(cell)}</th>" for cell in head]
        lines.append("</tr></thead><tbody>")
        for row in rows:
            cells = (f"<td>{escaped(cell)}</td>" for cell in row[:-1])
            lines.append(f"<tr>{''.join(cells)}<td><code>{escaped(row[-1])}</code></td></tr>")
        lines.append("</tbody></table>")
        totals = "<br>".join(map(escaped, self._totals()))
        return f"{''.join(lines)}{totals}<br>{self._tree() or ''}</div>"

    def _tree(self) -> Picture | None:
        """Return the tree if it is small enough to stand with the table."""
        return self.draw("tree") if len(self.drawing.data.tree.nodes) <= MOST_NODES else None

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what a notebook can show: text, a table with the tree, and the tree if it is not too large.

        The tree is in both, for a front end shows one of them.
        """
        bundle = {"text/plain": str(self), "text/html": self._repr_html_()}
        tree = self._tree()
        if tree is not None:
            bundle["image/svg+xml"] = str(tree)
        kept = set(bundle) if include is None else set(bundle) & set(include)
        return {kind: text for kind, text in bundle.items() if kind in kept - set(exclude or ())}

    def _title(self) -> str:
        raise NotImplementedError

    def _cells(self) -> list[list[str]]:
        raise NotImplementedError

    def _totals(self) -> list[str]:
        raise NotImplementedError
