"""nameexpr: einsum-style expressions with real names, and tensors whose dims have names.

>>> import numpy as np, nameexpr as ne
>>> ne.einsum("batch chan, chan out -> batch out", np.ones((2, 3)), np.ones((3, 4))).shape
(2, 4)

Public names are loaded when they are first used (PEP 562), so that importing the package, and the command
line, cost next to nothing. Type checkers read `__init__.pyi`, which declares the same names.
"""

import builtins
from typing import Any

import nameexpr.forks  # noqa: F401  a fork may come while another thread makes the first call

_HOMES = {
    "nameexpr.backends": "backends",
    "nameexpr.backends.listing": "Backend",
    "nameexpr.runtime.check": "Sizes check",
    "nameexpr.runtime.check_gradient": "GradientCheck check_gradient",
    "nameexpr.runtime.compile": "compile explain",
    "nameexpr.runtime.compiled": "Compiled",
    "nameexpr.runtime.compiled_expression": "CompiledExpression",
    "nameexpr.runtime.compiled_formula": "CompiledFormula",
    "nameexpr.runtime.cache": "CacheInfo cache_clear cache_info",
    "nameexpr.runtime.einsum": "einsum",
    "nameexpr.runtime.evaluate": "evaluate",
    "nameexpr.runtime.grad": "grad value_and_grad",
    "nameexpr.runtime.gradients": "GradientFunction",
    "nameexpr.runtime.packed": "Packed",
    "nameexpr.runtime.plan.plan": "Plan",
    "nameexpr.runtime.plan.steps": "PlanStep",
    "nameexpr.runtime.saved_tuning": "load_tuning save_tuning",
    "nameexpr.runtime.signature": "Signature",
    "nameexpr.runtime.threads": "get_threads set_threads",
    "nameexpr.errors": (
        "DimNameError DimRangeError LimitError NameExprError OperandError OptionError ParseError "
        "RuleError SizeError"
    ),
    "nameexpr.notebook": "load_ipython_extension unload_ipython_extension",
    "nameexpr.syntax.limits": "Limits limits set_limits",
    "nameexpr.tensors": "NamedTensor as_tensor from_numpy tensor",
    "nameexpr.tensors.arguments": "device manual_seed",
    "nameexpr.tensors.dtypes": (
        "bool complex64 complex128 double float float16 float32 float64 get_default_dtype half int "
        "int8 int16 int32 int64 long set_default_dtype short uint8 uint16 uint32 uint64"
    ),
    "nameexpr.tensors.exchange": "from_pandas from_xarray",
    "nameexpr.tensors.factories": "arange empty empty_like full full_like ones ones_like zeros zeros_like",
    "nameexpr.tensors.functions": (
        "abs acos acosh add addmm addmv all amax amin any argmax argmin argsort asin asinh atan atan2 "
        "atanh bernoulli bitwise_and bitwise_not bitwise_or bitwise_xor bmm ceil chunk clamp clip "
        "clone cos cosh count_nonzero cummax cummin cumprod cumsum deg2rad detach diagonal diff "
        "digamma div dot eq equal erf erfc erfinv exp exp2 expm1 flatten flip floor floor_divide frac "
        "gather ge get_device gt hypot index_fill index_select is_complex is_floating_point is_signed "
        "is_tensor isfinite isinf isnan kthvalue le log log10 log1p log2 log_softmax logical_and "
        "logical_not logical_or logical_xor logsumexp lt masked_fill masked_select matmul max maximum "
        "mean median min minimum mm mode movedim mul mv nanmean nanmedian nanquantile nanstd nansum "
        "nanvar narrow ne neg norm numel permute positive pow prod quantile rad2deg reciprocal relu "
        "remainder roll round rsqrt select sgn sigmoid sign sin sinh softmax sort split sqrt square "
        "squeeze std std_mean sub sum swapaxes t tan tanh tensordot topk transpose trunc unbind "
        "unflatten unsqueeze var var_mean where"
    ),
    "nameexpr.tensors.joining": "cat concat concatenate stack",
    "nameexpr.tensors.ops": "OPS Op",
    "nameexpr.tensors.random": "normal rand rand_like randn randn_like",
    "nameexpr.tensors.storage": "load save",
    "nameexpr.tensors.tape.passes": "grad_of",
    "nameexpr.tensors.tape.mode": "enable_grad is_grad_enabled no_grad",
    "nameexpr.version": "__version__",
}
_PACKAGES = {"torch"}
"""Parts of the package that are loaded when their names are first used."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

# A star import hides no builtins, and does not bind names that only IPython calls.
__all__ = sorted(  # noqa: PLE0605
    name for name in _HOME_OF if not hasattr(builtins, name) and _HOME_OF.get(name) != "nameexpr.notebook"
)


def __getattr__(name: str) -> Any:
    """Load a public name from its module, and keep it."""
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f"nameexpr.{name}")
    home = _HOME_OF.get(name)
    if home is None:
        raise _no_name(name)
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def _no_name(name: str) -> AttributeError:
    """Return the error for a name that does not exist, which may be one of another library."""
    message = f"module 'nameexpr' has no attribute {name!r}"
    if name[:1] == "_":
        return AttributeError(message)  # which Python asks for now and then
    from nameexpr.tensors import NamedTensor
    from nameexpr.tensors.missing import advice
    from nameexpr.tracebacks import shown_short

    told = [advice(name)]
    if hasattr(NamedTensor, name):
        told.append(f"tensors have it: x.{name}{'(...)' if callable(getattr(NamedTensor, name)) else ''}")
    return shown_short(AttributeError(": ".join(filter(None, [message, "; ".join(filter(None, told))]))))


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *_HOME_OF, *_PACKAGES})
