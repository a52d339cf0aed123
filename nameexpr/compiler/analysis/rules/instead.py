"""Suggestions for functions that formulas do not have: names of NumPy, SciPy, PyTorch, xarray and einops.

A name has a row in one of five tables. `WRITTEN` maps it to a value of the language: a template of `x`, `y`
and `z`, the arguments of the call, and of `C`, the dims in its brackets. `BEFORE` maps it to the Python call
that computes it from arrays; its result is an operand. `SHOWN` has a remark and an example, `ADVICE` a
remark; `FORMS` are in a module of their own. `tests/unit/compiler/analysis/rules` runs every suggestion.

>>> from nameexpr.syntax.parser.formula import parse_formula
>>> tree = parse_formula("y[i] = 2 * nansum[j](a[i j] - b[i])")
>>> instead_of(tree, tree.statements[0].value.right)
'write sum[j](where(isnan(a[i j] - b[i]), 0, a[i j] - b[i]))'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from nameexpr.compiler.analysis.rules.derivatives import DERIVATIVES
from nameexpr.compiler.analysis.rules.forms import FORMS, form_of
from nameexpr.ops import ALONG, FUNCTIONS, REDUCTIONS
from nameexpr.records import replace
from nameexpr.syntax import ast, walk
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.syntax.unparse import unparse_value


def _rows(table: Mapping[str, str]) -> dict[str, str]:
    """Return one row for each of the names that a key lists."""
    return {name: row for names, row in table.items() for name in names.split()}


def _calls(template: str, names: str) -> dict[str, str]:
    """Return one row for each of some functions of a module, all of which are called in the same way."""
    return {name: template.format(name) for name in names.split()}


_OTHER_NAMES = {
    name: row.usage for row in (*FUNCTIONS.values(), *REDUCTIONS.values()) for name in row.also.split()
}
"""Functions of the language by their names in other libraries, with their arguments."""

WRITTEN: Mapping[str, str] = _rows(
    {
        "rsqrt": "1 / sqrt(x)",
        "detach stop_gradient stop_grad no_grad": "stop(x)",
        "cbrt": "sign(x) * abs(x) ** (1 / 3)",
        "exp10": "10.0 ** x",
        "deg2rad radians": "x * pi / 180",
        "rad2deg degrees": "x * 180 / pi",
        "rint around round_": "round(x)",
        "frac": "x - trunc(x)",
        "sinc": "where(x == 0, 1, sin(pi * x) / (pi * where(x == 0, 1, x)))",
        "sec": "1 / cos(x)",
        "angle": "atan2(imag(x), real(x))",
        "logit": "log(x / (1 - x))",
        "expit": "sigmoid(x)",
        "log_sigmoid logsigmoid": "-softplus(-x)",
        "ndtr": "erfc(-x / sqrt(2)) / 2",
        "xlogy": "x * log(where(x == 0, 1, y))",
        "entr": "-x * log(where(x == 0, 1, x))",
        "leaky_relu": "where(x > 0, x, 0.01 * x)",
        "elu": "where(x > 0, x, expm1(minimum(x, 0)))",
        "relu6": "clip(x, 0, 6)",
        "hardtanh": "clip(x, -1, 1)",
        "hardsigmoid": "clip(x / 6 + 0.5, 0, 1)",
        "hardswish": "x * clip(x / 6 + 0.5, 0, 1)",
        "mish": "x * tanh(softplus(x))",
        "softsign": "x / (1 + abs(x))",
        "heaviside": "where(x == 0, y, x > 0)",
        "lerp": "x + z * (y - x)",
        "addcmul": "x + y * z",
        "addcdiv": "x + y / z",
        "squared_difference": "square(x - y)",
        "fmax": "where(isnan(x), y, where(isnan(y), x, maximum(x, y)))",
        "fmin": "where(isnan(x), y, where(isnan(y), x, minimum(x, y)))",
        "clamp_min": "maximum(x, y)",
        "clamp_max": "minimum(x, y)",
        "masked_fill": "where(y, z, x)",
        "fillna": "where(isnan(x), y, x)",
        "nan_to_num": "where(isnan(x), 0, x)",
        "isna isnull": "isnan(x)",
        "notna notnull": "~isnan(x)",
        "isposinf": "x == inf",
        "isneginf": "x == -inf",
        "isclose": "abs(x - y) <= 1e-08 + 1e-05 * abs(y)",
        "allclose": "all[C](abs(x - y) <= 1e-08 + 1e-05 * abs(y))",
        "eq": "x == y",
        "ne not_equal": "x != y",
        "lt": "x < y",
        "le less_equal": "x <= y",
        "gt": "x > y",
        "ge greater_equal": "x >= y",
        "sub": "x - y",
        "mul": "x * y",
        "div": "x / y",
        "bitwise_not": "~x",
        "bitwise_xor": "x & ~y | ~x & y",
        "left_shift bitwise_left_shift": "x * 2 ** y",
        "right_shift bitwise_right_shift": "x // 2 ** y",
        "float double": "x * 1.0",
        "long int32 int64": "int(x)",
        "bool": "x != 0",
        "zeros_like": "x * 0",
        "len": "size[C]",
        "arange range iota": "index[C]",
        "nansum": "sum[C](where(isnan(x), 0, x))",
        "nanprod": "prod[C](where(isnan(x), 1, x))",
        "nanmean": "sum[C](where(isnan(x), 0, x)) / count_nonzero[C](~isnan(x))",
        "nanmax": "max[C](where(isnan(x), -inf, x))",
        "nanmin": "min[C](where(isnan(x), inf, x))",
        "nanargmax": "argmax[C](where(isnan(x), -inf, x))",
        "nanargmin": "argmin[C](where(isnan(x), inf, x))",
        "nancumsum": "cumsum[C](where(isnan(x), 0, x))",
        "nancumprod": "cumprod[C](where(isnan(x), 1, x))",
        "count": "count_nonzero[C](~isnan(x))",
        "ptp": "max[C](x) - min[C](x)",
        "normalize normalise": "x / norm[C](x)",
        "softmin": "softmax[C](-x)",
        "logcumsumexp": "log(cumsum[C](exp(x - max[C](x)))) + max[C](x)",
        "reverse": "flip[C](x)",
        "zscore": "(x - mean[C](x)) / std[C](x)",
        "layer_norm layernorm": "(x - mean[C](x)) / sqrt(var[C](x) + 1e-05)",
        "rms_norm rmsnorm": "x / sqrt(mean[C](square(x)) + 1e-06)",
        "mse mse_loss": "mean[C](square(x - y))",
        "mae l1_loss": "mean[C](abs(x - y))",
        "cross_entropy": "-sum[C](y * log_softmax[C](x))",
        "cosine_similarity": "sum[C](x * y) / (norm[C](x) * norm[C](y))",
        "dist pairwise_distance": "norm[C](x - y)",
        "dot inner vdot vecdot": "sum[C](x * y)",
    }
)
"""Equivalent values of the language, by the names of functions that it does not have."""

BEFORE: Mapping[str, str] = {
    **_rows(
        {
            "inv inverse": "numpy.linalg.inv(x)",
            "solve": "numpy.linalg.solve(x, y)",
            "lstsq": "numpy.linalg.lstsq(x, y)[0]",
            "logdet": "numpy.linalg.slogdet(x)[1]",
            "matrix_power": "numpy.linalg.matrix_power(x, 2)",
            "histc": "numpy.histogram(x)[0]",
            "interp": "numpy.interp(x, y, z)",
            "rand uniform": "numpy.random.default_rng().random(x.shape)",
            "randn normal dropout": "numpy.random.default_rng().normal(size=x.shape)",
        }
    ),
    **_calls("numpy.linalg.{}(x)", "pinv det slogdet svd svdvals eig eigh qr cholesky"),
    **_calls("numpy.{}(x, axis=-1)", "nanvar nanstd nanmedian gradient"),
    **_calls("numpy.{}(x, 0.5, axis=-1)", "quantile nanquantile"),
    **_calls("numpy.{}(x, 50, axis=-1)", "percentile nanpercentile"),
    **_calls("numpy.{}(x)", "unique histogram corrcoef cov nonzero i0"),
    **_calls("numpy.{}(x, y)", "searchsorted digitize cross gcd lcm isin"),
    **_calls("numpy.fft.{}(x)", "fft ifft rfft irfft fft2 ifft2 fftn fftshift"),
}
"""Python calls that compute from arrays what a formula cannot, by the names of functions."""

SHOWN: Mapping[str, tuple[str, str]] = {
    name: row
    for names, row in {
        "matmul einsum tensordot mm bmm mv contract": (
            "a contraction is a sum over a product",
            "y[i j] = sum[k](a[i k] * b[k j])",
        ),
        "linear": ("a contraction is a sum over a product", "y[n o] = sum[k](x[n k] * w[o k]) + b[o]"),
        "outer multiply_outer ger": ("values with different dims", "y[i j] = a[i] * b[j]"),
        "kron": ("groups on the left", "y[(i k) (j l)] = a[i j] * b[k l]"),
        "cdist": ("values with different dims", "y[i j] = norm[k](a[i k] - b[j k])"),
        "transpose permute swapaxes moveaxis T rearrange": (
            "the left side gives the order of dims",
            "y[j i] = x[i j]",
        ),
        "reshape flatten ravel view merge": ("groups merge and split dims", "y[(i j)] = x[i j]"),
        "unsqueeze expand_dims squeeze newaxis": ("a dim of size 1 is written 1", "y[i 1 j] = x[i j]"),
        "broadcast_to repeat tile expand": (
            "a dim that is only on the left repeats the value",
            "y[i k=3] = x[i]",
        ),
        "zeros ones full empty": ("a number is repeated along the dims on the left", "y[i=3 j=4] = 0"),
        "eye identity": ("compare indices", "y[i=3 j=3] = index[i] == index[j]"),
        "tril": ("compare indices", "y[i j] = where(index[i] >= index[j], x[i j], 0)"),
        "triu": ("compare indices", "y[i j] = where(index[i] <= index[j], x[i j], 0)"),
        "linspace": ("compute from the index", "y[i=5] = 2.0 + (3.0 - 2.0) * index[i] / (size[i] - 1)"),
        "meshgrid": ("not needed: values pair by the names of their dims", "z[i j] = x[i] + y[j]"),
        "diag diagonal": ("use one label for two dims", "y[i] = x[i i]"),
        "trace": ("use one label for two dims", "y = sum[i](x[i i])"),
        "max_pool max_pool1d max_pool2d maxpool": (
            "split the dims in groups",
            "y[h w] = max[a b](x[(h a=2) (w b=2)])",
        ),
        "avg_pool avg_pool1d avg_pool2d avgpool reduce": (
            "split the dims in groups",
            "y[h w] = mean[a b](x[(h a=2) (w b=2)])",
        ),
        "attention scaled_dot_product_attention": (
            "a softmax over a contraction",
            "o[q e] = sum[k](softmax[k](sum[d](a[q d] * b[k d]) / sqrt(size[d])) * v[k e])",
        ),
    }.items()
    for name in names.split()
} | DERIVATIVES
"""Remarks with example statements, by the names of functions."""

_C = (ast.Label("C"),)
_SCIPY = "compute it beforehand, such as with SciPy, and pass the result as an operand"
ADVICE: Mapping[str, str] = {
    **{name: f"write {usage}" for name, usage in _OTHER_NAMES.items()},
    **_rows(
        {
            "checkpoint remat": "memory_limit= bounds the memory of a formula, and of its gradients",
            "gamma lgamma gammaln loggamma digamma psi erfinv expm matrix_exp": _SCIPY,
            "astype cast": "int(x) makes integers, x * 1.0 floats; dtype= is the dtype of the result",
            "print display show": "evaluate(..., outputs=('s', 'y')) returns several values",
        }
    ),
}
"""Remarks, by the names of functions."""


def instead_of(tree: ast.Formula, call: ast.Call | ast.CallAlong) -> str:
    """Return what to write for a call of a function that does not exist; "" for a name that no table has."""
    name, values = call.function, dict(zip("xyz", call.arguments, strict=False))
    if name in WRITTEN:
        template = parse_formula(WRITTEN[name]).statements[0].value
        return f"write {unparse_value(_filled(template, values, dims_of(tree, call)))}"
    if name in BEFORE:
        arrays = {letter: value.name for letter, value in values.items() if isinstance(value, ast.Use)}
        code = _with_arrays(BEFORE[name], arrays)
        return f"compute it beforehand, and pass the result as an operand: {code}"
    if name in SHOWN:
        return ": ".join(SHOWN[name])
    if name in FORMS:
        return form_of(tree, call, dims_of(tree, call))
    return ADVICE.get(name, "")


def _filled(node: ast.Node, values: Mapping[str, ast.Node], dims: ast.Term) -> ast.Node:
    """Return a template with its letters replaced by the values of a call, and C by dims."""
    match node:
        case ast.Use(name, None):
            return values.get(name, node)
        case ast.Use():
            return replace(node, term=dims)  # size[C], index[C]
        case ast.Unary():
            return replace(node, value=_filled(node.value, values, dims))
        case ast.Binary():
            return replace(
                node, left=_filled(node.left, values, dims), right=_filled(node.right, values, dims)
            )
        case ast.Call():
            return replace(node, arguments=tuple(_filled(one, values, dims) for one in node.arguments))
        case ast.CallAlong():
            arguments = tuple(_filled(one, values, dims) for one in node.arguments)
            return replace(node, term=dims, arguments=arguments)
    return node


def dims_of(tree: ast.Formula, call: ast.Call | ast.CallAlong) -> ast.Term:
    """Return the dims of a call: those in its brackets, those that the left side lacks, or the last one."""
    if isinstance(call, ast.CallAlong):
        return call.term
    items = tuple(dict.fromkeys(_labels(call)))
    if call.function in ALONG:
        return ast.Term(items[-1:] or _C)
    kept = {name for left in _left_sides(tree, call) for name in walk.labels_in(left)}
    return ast.Term(tuple(item for item in items if item.name not in kept) or items[-1:] or _C)


def _labels(call: ast.Call | ast.CallAlong) -> Iterator[ast.Label]:
    for node in walk.nodes(call):
        if isinstance(node, ast.Use) and node.term is not None:
            yield from (item for item in node.term.items if isinstance(item, ast.Label))


def _left_sides(tree: ast.Formula, call: ast.Call | ast.CallAlong) -> Iterator[ast.Term]:
    for statement in tree.statements:
        if statement.term is not None and statement.span.start <= call.span.start < statement.span.end:
            yield statement.term


def _with_arrays(code: str, arrays: Mapping[str, str]) -> str:
    """Return a Python call with its letters x, y and z replaced by the names of operands."""
    return re.sub(r"\b[xyz]\b", lambda letter: arrays.get(letter[0], letter[0]), code)
