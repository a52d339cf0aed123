"""What to write instead of a method or function that NumPy, PyTorch, xarray or pandas has and nameexpr does
not.

Each row is the text of an AttributeError. `dir` and `hasattr` of a tensor do not find
these names.

>>> print(advice("rolling"))
x.to_xarray().rolling(N=3) has windows
"""

from __future__ import annotations

from typing import Any, TypeVar

_ROWS = {
    "reshape view ravel resize": (
        'x.flatten(["H", "W"], "pixel") merges dims, x.unflatten("pixel", [("H", 2), ("W", -1)]) splits one'
    ),
    "sel loc at iat iloc": "x.isel(C=0) takes positions, x.to_xarray().sel(...) labels",
    "rolling": "x.to_xarray().rolling(N=3) has windows",
    "groupby resample coarsen interp interpolate_na ffill bfill weighted": "x.to_xarray() has it",
    "plot hist": "x.to_xarray().plot() draws a chart, x.draw() a picture of the dims",
    "stack vstack hstack dstack": 'ne.stack([x, y], name="N") adds a dim, x.flatten(dims, name) merges dims',
    "append extend join concat concatenate cat": 'ne.cat([x, y], "N") joins tensors along a dim',
    "unstack": 'x.unflatten("pixel", [("H", 2), ("W", -1)]) splits a dim, x.unbind("N") takes it apart',
    "values to_numpy array": "x.numpy() is the array",
    "to_dataframe to_series": "x.to_pandas() makes one",
    "attrs assign_coords drop_vars": "x.to_xarray() has it",
    "expand_dims newaxis": 'x.unsqueeze(0, "N") adds a dim',
    "swap_dims rename_dims set_axis": 'x.rename(N="M") renames dims',
    "broadcast_like expand_as": "x.align_as(y) gives x the dims of y",
    "broadcast_to": "x.expand(...) repeats dims of size 1",
    "moveaxis": 'x.movedim("C", 0), or x.align_to("C", ...)',
    "fillna nan_to_num": "x.masked_fill(x.isnan(), 0) replaces nan",
    "dropna": "x[~x.isnan()] leaves nan out of one dim; nansum, nanmean and nanmedian ignore it",
    "isnull isna": "x.isnan()",
    "notnull notna": "~x.isnan()",
    "nonzero argwhere": "x.numpy().nonzero() gives positions",
    "repeat tile repeat_interleave": "ne.cat([x, x], dim), or np.repeat(x, 2, axis=dim)",
    "take": "x.index_select(dim, index), or x.isel(C=[0, 2])",
    "percentile nanpercentile": "x.quantile(0.9) for 90 percent",
    "gradient": "np.gradient(x) has differences of neighbours, ne.value_and_grad(text, 'w') derivatives",
    "nanmax nanmin nanprod nancumsum nancumprod nanargmax nanargmin ptp trace average angle conj "
    "real imag": "np.{name}(x) keeps the names",
    "conjugate": "np.conjugate(x) keeps the names",
    "outer": "np.multiply.outer(x, y), or ne.einsum",
    "einsum": 'ne.einsum("N C -> N", x)',
    "value_and_gradient grad_and_value multigrad_dict": "ne.value_and_grad(text, 'w b')",
    "func functional autodiff gradients GradientTape tape": (
        "ne.value_and_grad(text, 'w') differentiates a formula; x.requires_grad_() and y.backward() tensors"
    ),
    "autograd": (
        "ne.grad_of(loss, [w]) goes back through recorded tensors, as loss.backward() does; "
        "ne.value_and_grad(text, 'w') differentiates a formula"
    ),
    "gradcheck gradgradcheck check_grad check_grads": (
        "ne.check_gradient(text, w=w) compares the gradients of a formula with differences"
    ),
    "minimize": "ne.value_and_grad(text, 'w').packed(w=w) is for scipy.optimize.minimize",
    "expanded": "ne.compile(text).expanded() writes the derivatives of a formula out",
    "stop_gradient stop stop_grad": "x.detach() for tensors, stop(x) in formulas",
    "checkpoint remat": "memory_limit= of ne.value_and_grad bounds the memory",
    "jit": "ne.compile(text) is compiled; ne.einsum and ne.evaluate keep what they compile, too",
    "optim": "x -= 0.1 * g['x'] is a step; ne.value_and_grad(...).packed(...) is for SciPy's optimizers",
    "nn": "ne.torch has layers for PyTorch",
    "Variable Parameter": "ne.tensor(data, names='N C', requires_grad=True)",
    "absolute": "x.abs()",
    "set_grad_enabled inference_mode": "with ne.no_grad(): and ne.enable_grad(): switch recording off and on",
    "power": "x.pow(2), or x ** 2",
    "multiply": "x.mul(y), or x * y",
    "subtract": "x.sub(y), or x - y",
    "divide true_divide": "x.div(y), or x / y",
    "concat_": "ne.cat([x, y], dim)",
    "pad": "np.pad(x.numpy(), ...) gives an array; name its dims with ne.from_numpy",
    "unique": "np.unique(x.numpy())",
    "inv inverse det solve": "np.linalg takes x.numpy()",
    "fill": "x.fill_(value) writes over x, ne.full makes a tensor",
    "plan": "ne.compile(text).plan(...) shows how a text is computed",
    "map apply apply_": "ne.from_numpy(function(x.numpy()), x.names) keeps the names",
}
ADVICE = {word: text.replace("{name}", word) for words, text in _ROWS.items() for word in words.split()}
"""What to write instead of each name."""
_OF_FORMULAS = "jacobian jacrev jacfwd hessian hess vjp jvp hvp vmap value_and_grad laplacian divergence"
ANSWERED = (*ADVICE, *_OF_FORMULAS.split())
"""The names that tensors answer: those above, and functions that formulas differentiate without."""

Class = TypeVar("Class", bound=type)


class Answered:
    """An attribute that does not exist: reading it raises the error that contains the advice.

    A `__getattr__` would do the same, and make every attribute of every tensor slower to read.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: object, kind: type) -> Any:
        """Raise the AttributeError for a name of another library."""
        from nameexpr.tracebacks import shown_short  # late: few programs need it

        name = self.name
        raise shown_short(
            AttributeError(f"{kind.__name__!r} object has no attribute {name!r}: {advice(name)}")
        )


def answers_names(kind: Class) -> Class:
    """Return a class that raises an error with advice for each of these names that it does not have."""
    for name in ANSWERED:
        if not hasattr(kind, name):
            setattr(kind, name, Answered(name))
    return kind


def advice(name: str) -> str:
    """Return what to write instead of a name that does not exist, or ""."""
    if name in ADVICE:
        return ADVICE[name]
    from nameexpr.compiler.analysis.rules.derivatives import DERIVATIVES  # late: few programs need it

    return f"in a formula, {': '.join(DERIVATIVES[name])}" if name in DERIVATIVES else ""
