"""Layers: modules of PyTorch that compute a text, some of whose operands are their parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from nameexpr.errors import Diagnostic, error
from nameexpr.runtime.compile import compile as compile_text
from nameexpr.runtime.options import checked_sizes
from nameexpr.torch import parameters
from nameexpr.torch.parameters import ParameterSpec, initialise

if TYPE_CHECKING:
    from nameexpr.compiler.planning.path import Optimize
    from nameexpr.runtime.compiled import Compiled

Initialiser = Callable[[Any], Any]


class Layer(torch.nn.Module):
    """A module that computes a text. Made as `nameexpr.torch.Expression` or `nameexpr.torch.Formula`."""

    _title: ClassVar[str]
    _compiled: Compiled[Any, Any]
    _specs: tuple[ParameterSpec, ...]

    def _set_up(
        self,
        compiled: Any,
        specs: tuple[ParameterSpec, ...],
        sizes: Mapping[str, int],
        init: Initialiser | Mapping[str, Initialiser] | None,
        factory: Mapping[str, Any],
    ) -> None:
        """Make the parameters, with their first values."""
        self._compiled, self._specs, self._sizes, self._init = compiled, specs, dict(sizes), init
        names = [spec.name for spec in specs]
        for name in init if isinstance(init, Mapping) else ():
            if name not in names:
                raise parameters.unknown(self.text, name, names)
        for spec in specs:
            empty = torch.empty(spec.shape, **factory)
            try:
                self.register_parameter(spec.name, torch.nn.Parameter(empty))
            except KeyError as taken:
                hint = "give it another name"
                message = f"a parameter cannot be called '{spec.name}': {taken.args[0]}"
                raise parameters.fault(self.text, message, hint) from None
        self.reset_parameters()

    @property
    def text(self) -> str:
        """The text that the layer computes."""
        return self._compiled.text

    def reset_parameters(self) -> None:
        """Give all parameters their first values again."""
        for spec in self._specs:
            parameter = getattr(self, spec.name)
            own = self._init.get(spec.name) if isinstance(self._init, Mapping) else self._init
            if own is None:
                initialise(spec, parameter)
            else:
                with torch.no_grad():
                    own(parameter)

    def extra_repr(self) -> str:
        """Return the text and the sizes that were given."""
        sizes = [f"{name}={size}" for name, size in self._sizes.items()]
        return ", ".join([repr(self.text), *sizes])

    def _get_name(self) -> str:
        return self._title

    def _refuse(self, wanted: str, got: str) -> Any:
        """Raise NE692 for inputs that the layer does not take."""
        hint = "the other operands are its parameters" if self._specs else ""
        raise error(Diagnostic("NE692", f"the layer takes {wanted}, but {got}", self.text, hint=hint))


class ExpressionLayer(Layer):
    """A layer that computes an expression; called with those operands that are not its parameters.

    Parameters
    ----------
    text : str
        An expression, as for `nameexpr.einsum`.
    parameters : mapping of str to int, optional
        Names of parameters, with the positions of their operands. By default those operands are parameters
        for all of whose dims a size is given: one is called "weight", several are numbered by position
        ("weight1").
    init : callable, or mapping of str to callable, optional
        Sets the first values of a parameter in place, as the functions of `torch.nn.init` do; for all of
        them or by name. By default, weights that are summed over are uniform, as those of `torch.nn.Linear`,
        and others are 1.
    optimize : optional
        The order of contractions, as for `nameexpr.einsum`.
    sizes : mapping of str to int, optional
        Sizes of labels, for those that are also names of parameters here.
    device, dtype : optional
        Of the parameters, as for the modules of PyTorch.
    **size_keywords : int
        Sizes of labels.

    Raises
    ------
    NameExprError
        If the text is wrong, or the size of a dim of a parameter is not known (NE691). Calls raise NE692 for
        a wrong number of inputs.

    Examples
    --------
    >>> import torch, nameexpr as ne
    >>> project = ne.torch.Expression("batch time in, in out -> batch time out", **{"in": 64, "out": 32})
    >>> project
    Expression('batch time in, in out -> batch time out', in=64, out=32)
    >>> project(torch.ones(2, 5, 64)).shape
    torch.Size([2, 5, 32])
    >>> {name: tuple(parameter.shape) for name, parameter in project.named_parameters()}
    {'weight': (64, 32)}
    """

    _title = "Expression"

    def __init__(
        self,
        text: str,
        /,
        *,
        parameters: Mapping[str, int] | None = None,
        init: Initialiser | Mapping[str, Initialiser] | None = None,
        optimize: Optimize = None,
        sizes: Mapping[str, int] | None = None,
        device: Any = None,
        dtype: Any = None,
        **size_keywords: int,
    ) -> None:
        super().__init__()
        from nameexpr.torch.reading import expression_roles

        known = dict(checked_sizes(sizes, size_keywords))
        compiled: Any = compile_text(text, sizes=known, optimize=optimize)
        specs = expression_roles(compiled, known, parameters)
        self._set_up(compiled, specs, known, init, {"device": device, "dtype": dtype})
        names = {spec.position: spec.name for spec in specs}
        self._order = tuple([names.get(place) for place in range(len(compiled.signature.inputs))])

    def forward(self, *inputs: Any) -> Any:
        """Return the value of the expression for these operands and the parameters."""
        if len(inputs) != self._order.count(None):
            count = self._order.count(None)
            self._refuse(f"{count} {'input' if count == 1 else 'inputs'}", f"{len(inputs)} were given")
        rest = iter(inputs)
        return self._compiled(*[next(rest) if name is None else getattr(self, name) for name in self._order])


class FormulaLayer(Layer):
    """A layer that computes a formula; called with those operands that are not its parameters.

    Parameters
    ----------
    text : str
        A formula, as for `nameexpr.evaluate`.
    parameters : sequence of str, optional
        The operands that are parameters; one without dims is a number. By default those for all of whose
        dims a size is given.
    init : callable, or mapping of str to callable, optional
        Sets the first values of a parameter in place, as the functions of `torch.nn.init` do; for all of
        them or by name. By default, weights that are summed over are uniform, as those of `torch.nn.Linear`,
        and tables that are read at positions are normal, as those of `torch.nn.Embedding`; what is only
        added is 0, and others are 1.
    outputs : sequence of str, optional
        Names of the statements whose values are returned, as a tuple.
    optimize, sizes, device, dtype, **size_keywords
        As for `nameexpr.torch.Expression`.

    Raises
    ------
    NameExprError
        If the text is wrong, or the size of a dim of a parameter is not known (NE691). Calls raise NE692 for
        inputs that the formula does not have.

    Examples
    --------
    >>> import torch, nameexpr as ne
    >>> text = "y[b k] = relu(sum[c](x[b c] * weight[c k]) + bias[k])"
    >>> layer = ne.torch.Formula(text, c=64, k=32)
    >>> layer(torch.ones(5, 64)).shape, layer(x=torch.ones(5, 64)).shape
    (torch.Size([5, 32]), torch.Size([5, 32]))
    >>> list(layer.state_dict())
    ['weight', 'bias']
    """

    _title = "Formula"

    def __init__(
        self,
        text: str,
        /,
        *,
        parameters: Sequence[str] | None = None,
        init: Initialiser | Mapping[str, Initialiser] | None = None,
        outputs: Sequence[str] | None = None,
        optimize: Optimize = None,
        sizes: Mapping[str, int] | None = None,
        device: Any = None,
        dtype: Any = None,
        **size_keywords: int,
    ) -> None:
        super().__init__()
        from nameexpr.torch.reading import formula_roles

        known = dict(checked_sizes(sizes, size_keywords, text))
        compiled: Any = compile_text(text, sizes=known, outputs=outputs, optimize=optimize)
        specs = formula_roles(compiled, known, parameters)
        self._set_up(compiled, specs, known, init, {"device": device, "dtype": dtype})
        own = {spec.name for spec in specs}
        self._inputs = tuple([name for name in compiled.operands if name not in own])

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """Return the value of the formula for these inputs, in the order of their first use or by name."""
        given = {**dict(zip(self._inputs, inputs, strict=False)), **named}
        if len(inputs) + len(named) != len(given) or set(given) != set(self._inputs):
            listed = ", ".join([*map(str, range(len(inputs))), *named]) or "nothing"
            self._refuse(", ".join(self._inputs) or "no inputs", f"{listed} was given")
        return self._compiled(**given, **{spec.name: getattr(self, spec.name) for spec in self._specs})
