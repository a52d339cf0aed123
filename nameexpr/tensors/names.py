"""Methods that give other names. The array is shared, never copied."""

from __future__ import annotations

from typing import Self

from nameexpr.rules import remembered
from nameexpr.tensors.core import Core
from nameexpr.tensors.ops import op


class NameMethods(Core):
    """rename, rename_, refine_names."""

    __slots__ = ()

    @op("names")
    def rename(self, /, *names: object, **rename_map: str | None) -> Self:
        """Return a view with other names: all of them in order, or some as old=new.

        In order, `...` keeps the names that stand there, and a single None drops all. With old=new all
        changes are made at once, so names can be swapped. The array is shared.

        Parameters
        ----------
        *names
            One name or None per dim, `...` at most once; or all in one string, "N C ... W"; or in one list.
        **rename_map
            New names by old ones.

        Raises
        ------
        DimNameError
            If a name is malformed or doubled, an old one is unknown, or there is not one per dim.

        Notes
        -----
        `Tensor.rename` of PyTorch's page "Named Tensors".

        Examples
        --------
        >>> x = ne.tensor([[1, 2]], names="N C")
        >>> x.rename(N="C", C="N").names
        ('C', 'N')
        >>> x.rename(..., "features").names
        ('N', 'features')
        """
        given = tuple(rename_map.items())
        new = remembered.renamed(self._names, self._data.shape, "rename", given, *names)
        return self._wrap(self._data, new)

    @op("names")
    def rename_(self, /, *names: object, **rename_map: str | None) -> Self:
        """Change the names of this tensor as `rename` does, and return it.

        Raises
        ------
        DimNameError
            As `rename`; the tensor then keeps its names.

        Examples
        --------
        >>> x = ne.tensor([[1, 2]], names="N C")
        >>> x.rename_(None).names, x.names
        ((None, None), (None, None))
        """
        given = tuple(rename_map.items())
        self._names = remembered.renamed(self._names, self._data.shape, "rename_", given, *names)
        return self

    @op("names")
    def refine_names(self, *names: object) -> Self:
        """Return a view whose unnamed dims have names; a dim that has one must keep it.

        Parameters
        ----------
        *names
            One name or None per dim; `...` keeps the names that stand there. One string "N ... C" and one
            list do as well.

        Raises
        ------
        DimNameError
            If a dim would change or lose its name, a name is malformed or doubled, or there is not one per
            dim.

        Notes
        -----
        `Tensor.refine_names` of PyTorch's page "Named Tensors".

        Examples
        --------
        >>> ne.tensor([[1, 2]], names=(None, "C")).refine_names("N", ...).names
        ('N', 'C')
        """
        return self._wrap(self._data, remembered.refined(self._names, self._data.shape, *names))
