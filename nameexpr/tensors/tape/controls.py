"""What recorded tensors have to control the tape: `backward`, `grad`, hooks, `detach`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nameexpr.errors import Diagnostic, error
from nameexpr.tensors.ops import checked
from nameexpr.tensors.tape.hooks import Handle, callable_hook, checked_gradient
from nameexpr.tensors.tape.node import Leaf, TapeNode, extras_of
from nameexpr.tensors.tape.passes import backward_pass, second_order
from nameexpr.tensors.tape.recording import Tracked, promoted


class Controls(Tracked):
    """The methods and attributes that are about gradients."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """True: what is done with the tensor is recorded."""
        return True

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor was not computed from others that require a gradient."""
        return type(self._node) is Leaf

    @property
    def grad_fn(self) -> TapeNode | None:
        """The operator that computed the tensor, as a node of the tape; None for a leaf."""
        return None if type(self._node) is Leaf else self._node

    @property
    def grad(self) -> Any:
        """The gradient that `backward` has added up, with the names of the tensor; None if there is none."""
        node = self._node
        found = node.gradient if type(node) is Leaf else None if node.extras is None else node.extras.kept
        if found is not None and found._names != self._names:
            found._names = self._names
        return found

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            value = self._like(checked_gradient(value, self, "x.grad = value"))
        if type(self._node) is Leaf:
            self._node.gradient = value
        else:
            extras_of(self._node).kept = value

    @checked
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradient, or write 0 over it."""
        if set_to_none or self.grad is None:
            self.grad = None
        else:
            self.grad._data[...] = 0

    @checked
    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Return the tensor, which requires a gradient; with False it is a plain one again."""
        if not requires_grad:
            if type(self._node) is not Leaf:
                message = "requires_grad_(False): the tensor was computed from others that require a gradient"
                raise error(Diagnostic("NE696", message, hint="x.detach() is a constant"))
            unrecord(self)
        return self

    def detach(self) -> Any:
        """Return a plain tensor that shares the array: no gradient goes through it."""
        return self._bare().detach()

    def detach_(self) -> Any:
        """Make the tensor a plain one, and return it."""
        unrecord(self)
        return self

    def retain_grad(self) -> None:
        """Keep the gradient of a tensor that was computed in `grad`; leaves do that anyway."""
        if type(self._node) is not Leaf:
            extras_of(self._node).keeps = template(self)

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called for a tensor that was computed."""
        extras = self._node.extras
        return extras is not None and extras.keeps is not None

    @checked
    def register_hook(self, hook: Callable[[Any], Any]) -> Handle:
        """Call a function with the gradient of the tensor in each backward pass; it may return another one.

        Returns
        -------
        Handle
            Whose `remove()` removes the hook.
        """
        entry = (callable_hook(hook, "register_hook"), template(self))
        return Handle(extras_of(self._node).hooks, entry)

    @checked
    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], Any]) -> Handle:
        """Call a function with the tensor whenever a backward pass has added to its `grad`."""
        if type(self._node) is not Leaf:
            message = "register_post_accumulate_grad_hook: the tensor was computed, and has no grad"
            raise error(Diagnostic("NE696", message, hint="register_hook is called with its gradient"))
        return Handle(self._node.after, callable_hook(hook, "register_post_accumulate_grad_hook"))

    @checked
    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradients of this value by all leaves that it was computed from to their `grad`.

        Parameters
        ----------
        gradient
            The gradient of this tensor, with its names: needed unless it has one element.
        retain_graph
            Whether to keep what was recorded, for another backward pass.

        Raises
        ------
        OptionError
            NE693 if an array that is needed has been written to; NE696 if a gradient is missing or has other
            names, or a backward pass has already freed what was recorded.
        """
        if create_graph:
            raise second_order("backward(create_graph=True)")
        backward_pass([self], [gradient], bool(retain_graph), inputs)

    def __reduce__(self) -> Any:
        """Copy or pickle a leaf with its values and its gradient; NE696 for a tensor that was computed."""
        if type(self._node) is not Leaf:
            message = "a tensor that was computed cannot be copied together with how it was computed"
            raise error(Diagnostic("NE696", message, hint="x.detach() holds the values"))
        return restored, (self._bare(), self.grad)

    def __repr__(self) -> str:
        """Return the repr of the values, and the operator that computed them."""
        text = repr(self._bare())
        body, bracket, rest = text.rpartition(")")
        told = "requires_grad=True" if type(self._node) is Leaf else f"grad_fn={self._node!r}"
        return f"{body}, {told}{bracket}{rest}"


def restored(tensor: Any, gradient: Any = None) -> Any:
    """Return a copy of a leaf, with its gradient."""
    leaf = tensor.requires_grad_()
    leaf.grad = gradient
    return leaf


def unrecord(tensor: Any) -> None:
    """Make a recorded tensor a plain one."""
    del tensor._node
    tensor.__class__ = tensor._unrecorded


def template(tensor: Any) -> Any:
    """Return a recorded tensor's names and sizes, without its elements: gradients are made like it."""
    data = np.broadcast_to(np.zeros((), tensor._data.dtype), tensor._data.shape)
    return promoted(tensor._like(data), None)
