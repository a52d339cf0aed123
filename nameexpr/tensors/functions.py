"""The operators as functions: `ne.sum(x, "C")` is `x.sum("C")`.

Each is created from its method by one line, and has its signature, its docstring and its rule. The first
argument may also be an array, whose dims count as unnamed, or nested lists; of the functions of two operands
either may be a number.

>>> ne.pow(2, ne.tensor([1, 2, 3], names="N"))
tensor([2, 4, 8], names=('N',), shape=(3,))
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np

from nameexpr.errors import Diagnostic, NameExprError, error
from nameexpr.tensors.core import Array, Core, OneDim, Other, SomeDims
from nameexpr.tensors.faults import unordered
from nameexpr.tensors.named_tensor import NamedTensor, as_tensor
from nameexpr.tensors.operators import NUMBERS
from nameexpr.tensors.ops import OPS, op
from nameexpr.tensors.ordering import Selected
from nameexpr.tensors.pointwise import RANKED

P = ParamSpec("P")
R = TypeVar("R")


def function(method: Callable[Concatenate[NamedTensor, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Return a method as a function, whose first argument is converted to a tensor if needed.

    With two operands, a number on the left is weak, as one on the right is.
    """
    verb = method.__name__
    has_two_operands = OPS[verb].rule == "unifies"

    @wraps(method)
    def call(input: Any = ..., *args: Any, **kwargs: Any) -> Any:
        if type(input) is NamedTensor:
            try:
                return method(input, *args, **kwargs)
            except NameExprError as wrong:
                wrong._forget_frames()
                raise
        if input is ...:
            raise error(Diagnostic("NE687", f"{verb} needs the argument 'input'", f"{verb}(input)"))
        if isinstance(input, NamedTensor):
            return getattr(input, verb)(*args, **kwargs)
        if has_two_operands and type(input) in NUMBERS and len(args) == 1 and not kwargs.keys() - {"out"}:
            other = args[0]
            if isinstance(other, NamedTensor):
                if verb in RANKED and (type(input) is complex or other.is_complex()):
                    raise unordered(verb)
                return other._unify(verb, input, other, kwargs.get("out"))
        tensor = as_tensor(input) if type(input) is np.ndarray else _tensor(input, args, verb)
        return getattr(tensor, verb)(*args, **kwargs)

    return cast("Callable[Concatenate[Any, P], R]", call)


def _tensor(input: Any, others: tuple[Any, ...], verb: str) -> Any:
    """Return the first operand as a tensor: numbers and lists, of the library of the other operands."""
    if type(input) is np.ndarray:
        return as_tensor(input)
    from nameexpr.tensors.foreign import of_library

    like = of_library(input, *others)
    return as_tensor(input) if like is None else like._as_core(input, verb)


class _StatisticOfAny(Protocol):
    @overload
    def __call__(self, input: object, /) -> NamedTensor: ...

    @overload
    def __call__(self, input: object, other: Core | Array, /) -> NamedTensor: ...

    @overload
    def __call__(self, input: object, dim: OneDim, keepdim: bool = False) -> Selected[NamedTensor]: ...

    @overload
    def __call__(self, input: object, *, axis: OneDim, keepdims: bool = False) -> Selected[NamedTensor]: ...


abs = function(NamedTensor.abs)
acos = function(NamedTensor.acos)
acosh = function(NamedTensor.acosh)
asin = function(NamedTensor.asin)
asinh = function(NamedTensor.asinh)
atan = function(NamedTensor.atan)
atanh = function(NamedTensor.atanh)
bernoulli = function(NamedTensor.bernoulli)
bitwise_not = function(NamedTensor.bitwise_not)
ceil = function(NamedTensor.ceil)
clamp = function(NamedTensor.clamp)
clip = clamp
cos = function(NamedTensor.cos)
cosh = function(NamedTensor.cosh)
deg2rad = function(NamedTensor.deg2rad)
detach = function(NamedTensor.detach)
digamma = function(NamedTensor.digamma)
erf = function(NamedTensor.erf)
erfc = function(NamedTensor.erfc)
erfinv = function(NamedTensor.erfinv)
exp = function(NamedTensor.exp)
exp2 = function(NamedTensor.exp2)
expm1 = function(NamedTensor.expm1)
floor = function(NamedTensor.floor)
frac = function(NamedTensor.frac)
isfinite = function(NamedTensor.isfinite)
isinf = function(NamedTensor.isinf)
isnan = function(NamedTensor.isnan)
log = function(NamedTensor.log)
log10 = function(NamedTensor.log10)
log1p = function(NamedTensor.log1p)
log2 = function(NamedTensor.log2)
logical_not = function(NamedTensor.logical_not)
neg = function(NamedTensor.neg)
positive = function(NamedTensor.positive)
rad2deg = function(NamedTensor.rad2deg)
reciprocal = function(NamedTensor.reciprocal)
relu = function(NamedTensor.relu)
round = function(NamedTensor.round)
rsqrt = function(NamedTensor.rsqrt)
sgn = function(NamedTensor.sgn)
sigmoid = function(NamedTensor.sigmoid)
sign = function(NamedTensor.sign)
sin = function(NamedTensor.sin)
sinh = function(NamedTensor.sinh)
sqrt = function(NamedTensor.sqrt)
square = function(NamedTensor.square)
tan = function(NamedTensor.tan)
tanh = function(NamedTensor.tanh)
trunc = function(NamedTensor.trunc)

add = function(NamedTensor.add)
atan2 = function(NamedTensor.atan2)
bitwise_and = function(NamedTensor.bitwise_and)
bitwise_or = function(NamedTensor.bitwise_or)
bitwise_xor = function(NamedTensor.bitwise_xor)
div = function(NamedTensor.div)
eq = function(NamedTensor.eq)
floor_divide = function(NamedTensor.floor_divide)
ge = function(NamedTensor.ge)
gt = function(NamedTensor.gt)
hypot = function(NamedTensor.hypot)
le = function(NamedTensor.le)
logical_and = function(NamedTensor.logical_and)
logical_or = function(NamedTensor.logical_or)
logical_xor = function(NamedTensor.logical_xor)
lt = function(NamedTensor.lt)
maximum = function(NamedTensor.maximum)
minimum = function(NamedTensor.minimum)
mul = function(NamedTensor.mul)
ne = function(NamedTensor.ne)
pow = function(NamedTensor.pow)
remainder = function(NamedTensor.remainder)
sub = function(NamedTensor.sub)

all = function(NamedTensor.all)
amax = function(NamedTensor.amax)
amin = function(NamedTensor.amin)
any = function(NamedTensor.any)
argmax = function(NamedTensor.argmax)
argmin = function(NamedTensor.argmin)
argsort = function(NamedTensor.argsort)
count_nonzero = function(NamedTensor.count_nonzero)
kthvalue = function(NamedTensor.kthvalue)
logsumexp = function(NamedTensor.logsumexp)
max = cast("_StatisticOfAny", function(NamedTensor.max))
mean = function(NamedTensor.mean)
median = cast("_StatisticOfAny", function(NamedTensor.median))
min = cast("_StatisticOfAny", function(NamedTensor.min))
mode = function(NamedTensor.mode)
nanmean = function(NamedTensor.nanmean)
nanmedian = cast("_StatisticOfAny", function(NamedTensor.nanmedian))
nanquantile = function(NamedTensor.nanquantile)
nanstd = function(NamedTensor.nanstd)
nansum = function(NamedTensor.nansum)
nanvar = function(NamedTensor.nanvar)
norm = function(NamedTensor.norm)
prod = function(NamedTensor.prod)
quantile = function(NamedTensor.quantile)
sort = function(NamedTensor.sort)
std = function(NamedTensor.std)
sum = function(NamedTensor.sum)
topk = function(NamedTensor.topk)
var = function(NamedTensor.var)
chunk = function(NamedTensor.chunk)
cummax = function(NamedTensor.cummax)
cummin = function(NamedTensor.cummin)
cumprod = function(NamedTensor.cumprod)
cumsum = function(NamedTensor.cumsum)
diff = function(NamedTensor.diff)
flip = function(NamedTensor.flip)
gather = function(NamedTensor.gather)
index_fill = function(NamedTensor.index_fill)
index_select = function(NamedTensor.index_select)
log_softmax = function(NamedTensor.log_softmax)
masked_fill = function(NamedTensor.masked_fill)
masked_select = function(NamedTensor.masked_select)
narrow = function(NamedTensor.narrow)
roll = function(NamedTensor.roll)
select = function(NamedTensor.select)
softmax = function(NamedTensor.softmax)
split = function(NamedTensor.split)
unbind = function(NamedTensor.unbind)

diagonal = function(NamedTensor.diagonal)
flatten: Callable[..., NamedTensor] = function(NamedTensor.flatten)
movedim = function(NamedTensor.movedim)
numel = function(NamedTensor.numel)
permute = function(NamedTensor.permute)
squeeze = function(NamedTensor.squeeze)
swapaxes = function(NamedTensor.swapaxes)
t = function(NamedTensor.t)
transpose = function(NamedTensor.transpose)
unflatten = function(NamedTensor.unflatten)
unsqueeze = function(NamedTensor.unsqueeze)
addmm = function(NamedTensor.addmm)
addmv = function(NamedTensor.addmv)
bmm = function(NamedTensor.bmm)
dot = function(NamedTensor.dot)
matmul = function(NamedTensor.matmul)
mm = function(NamedTensor.mm)
mv = function(NamedTensor.mv)
tensordot = function(NamedTensor.tensordot)
clone = function(NamedTensor.clone)
equal = function(NamedTensor.equal)
get_device = function(NamedTensor.get_device)
is_complex = function(NamedTensor.is_complex)
is_floating_point = function(NamedTensor.is_floating_point)
is_signed = function(NamedTensor.is_signed)


@op("removes")
def std_mean(
    input: Other,
    dim: SomeDims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[NamedTensor, NamedTensor]:
    """Return the standard deviation and the mean over dims.

    >>> std_mean(as_tensor([[1.0, 3.0]], names="N C"), "C", correction=0)[1]
    tensor([2.], names=('N',), shape=(1,))
    """
    x = as_tensor(input)
    return x.std(dim, unbiased, keepdim, correction=correction), _mean_beside(x, dim, keepdim)


@op("removes")
def var_mean(
    input: Other,
    dim: SomeDims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[NamedTensor, NamedTensor]:
    """Return the variance and the mean over dims.

    >>> var_mean(as_tensor([[1.0, 3.0]], names="N C"), "C")[0]
    tensor([2.], names=('N',), shape=(1,))
    """
    x = as_tensor(input)
    return x.var(dim, unbiased, keepdim, correction=correction), _mean_beside(x, dim, keepdim)


def _mean_beside(x: NamedTensor, dim: Any, keepdim: bool) -> NamedTensor:
    return x.mean(None if isinstance(dim, bool) else dim, keepdim)  # std(False) is over all dims


@op("unifies", extra=True)
def where(condition: Other, x: Other, y: Other) -> NamedTensor:
    """Return the elements of x where the condition is true, and those of y elsewhere.

    All three broadcast together; x and y may be numbers.

    >>> c = as_tensor([True, False], names="N")
    >>> where(c, 1.5, as_tensor(0.0))
    tensor([1.5, 0. ], names=('N',), shape=(2,))
    """
    tensor = condition if isinstance(condition, NamedTensor) else _tensor(condition, (x, y), "where")
    return tensor._chosen(condition, x, y)  # type: ignore[no-any-return]


@op("answers")
def is_tensor(obj: object) -> bool:
    """Return whether an object is a NamedTensor.

    >>> is_tensor(3)
    False
    """
    return isinstance(obj, NamedTensor)
