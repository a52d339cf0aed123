"""Autograd's questions, answered for tensors that record nothing.

>>> import nameexpr as ne
>>> x = ne.tensor([1.0, 2.0])
>>> x.requires_grad, x.grad, x.is_leaf
(False, None, True)
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.tensors.ops import op
from nameexpr.tensors.rules import Rules

_HINT = "nameexpr computes values only; automatic differentiation needs a library such as JAX or PyTorch"


class Gradients(Rules):
    """requires_grad, requires_grad_, grad, is_leaf, detach, detach_, the hooks."""

    __slots__ = ()

    @property
    @op("answers")
    def requires_grad(self) -> bool:
        """False: no tensor records what is done with it."""
        return False

    @op("fills")
    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Return the tensor if no gradient is asked for.

        Raises
        ------
        OptionError
            NE679, if one is.
        """
        if requires_grad:
            raise _no_gradients("requires_grad_")
        return self

    @property
    @op("answers")
    def grad(self) -> None:
        """None: no gradient is recorded."""
        return

    @property
    @op("answers")
    def is_leaf(self) -> bool:
        """True: no tensor records where it came from."""
        return True

    @op("keeps")
    def detach(self) -> Self:
        """Return a view of the tensor: there is no history to detach it from."""
        return self._wrap(self._data.view(), self._names)

    @op("fills")
    def detach_(self) -> Self:
        """Return the tensor: there is no history to detach it from."""
        return self

    @op("answers")
    def register_hook(self, hook: Any) -> NoReturn:
        """Raise an error (NE679): no gradient will ever call the hook."""
        raise _no_gradients("register_hook")

    @op("answers")
    def register_post_accumulate_grad_hook(self, hook: Any) -> NoReturn:
        """Raise an error (NE679): no gradient will ever call the hook."""
        raise _no_gradients("register_post_accumulate_grad_hook")


def _no_gradients(verb: str) -> NameExprError:
    return error(Diagnostic("NE679", f"{verb}: tensors record no gradients", hint=_HINT))
