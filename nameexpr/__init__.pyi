# The public names for type checkers; __init__.py loads them on first use. A test holds the two together.

from nameexpr import torch as torch
from nameexpr.version import __version__ as __version__
from nameexpr.runtime.check import Sizes as Sizes, check as check
from nameexpr.runtime.compile import compile as compile, explain as explain
from nameexpr.runtime.compiled import Compiled as Compiled
from nameexpr.runtime.compiled_expression import CompiledExpression as CompiledExpression
from nameexpr.runtime.compiled_formula import CompiledFormula as CompiledFormula
from nameexpr.runtime.cache import CacheInfo as CacheInfo, cache_clear as cache_clear, cache_info as cache_info
from nameexpr.runtime.einsum import einsum as einsum
from nameexpr.runtime.evaluate import evaluate as evaluate
from nameexpr.runtime.grad import grad as grad, value_and_grad as value_and_grad
from nameexpr.runtime.gradients import GradientFunction as GradientFunction
from nameexpr.runtime.check_gradient import (
    GradientCheck as GradientCheck,
    check_gradient as check_gradient,
)
from nameexpr.runtime.packed import Packed as Packed
from nameexpr.runtime.plan.plan import Plan as Plan
from nameexpr.runtime.plan.steps import PlanStep as PlanStep
from nameexpr.runtime.saved_tuning import load_tuning as load_tuning, save_tuning as save_tuning
from nameexpr.runtime.signature import Signature as Signature
from nameexpr.runtime.threads import get_threads as get_threads, set_threads as set_threads
from nameexpr.backends.listing import Backend as Backend, backends as backends
from nameexpr.errors import (
    DimNameError as DimNameError, DimRangeError as DimRangeError, LimitError as LimitError,
    NameExprError as NameExprError, OperandError as OperandError, OptionError as OptionError,
    ParseError as ParseError, RuleError as RuleError, SizeError as SizeError,
)
from nameexpr.notebook import load_ipython_extension as load_ipython_extension, unload_ipython_extension as unload_ipython_extension
from nameexpr.syntax.limits import Limits as Limits, limits as limits, set_limits as set_limits
from nameexpr.tensors import (
    NamedTensor as NamedTensor, as_tensor as as_tensor, from_numpy as from_numpy,
    tensor as tensor,
)
from nameexpr.tensors.arguments import device as device, manual_seed as manual_seed
from nameexpr.tensors.dtypes import (
    bool as bool, complex64 as complex64, complex128 as complex128, double as double, float as float,
    float16 as float16, float32 as float32, float64 as float64, get_default_dtype as get_default_dtype,
    half as half, int as int, int8 as int8, int16 as int16, int32 as int32, int64 as int64,
    long as long, set_default_dtype as set_default_dtype, short as short, uint8 as uint8,
    uint16 as uint16, uint32 as uint32, uint64 as uint64,
)
from nameexpr.tensors.exchange import from_pandas as from_pandas, from_xarray as from_xarray
from nameexpr.tensors.factories import (
    arange as arange, empty as empty, empty_like as empty_like, full as full, full_like as full_like,
    ones as ones, ones_like as ones_like, zeros as zeros, zeros_like as zeros_like,
)
from nameexpr.tensors.functions import (
    abs as abs, acos as acos, acosh as acosh, add as add, addmm as addmm, addmv as addmv, all as all,
    amax as amax, amin as amin, any as any, argmax as argmax, argmin as argmin, argsort as argsort,
    asin as asin, asinh as asinh, atan as atan, atan2 as atan2, atanh as atanh, bernoulli as bernoulli,
    bitwise_and as bitwise_and, bitwise_not as bitwise_not, bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor, bmm as bmm, ceil as ceil, chunk as chunk, clamp as clamp,
    clip as clip, clone as clone, cos as cos, cosh as cosh, count_nonzero as count_nonzero, cummax as cummax,
    cummin as cummin, cumprod as cumprod, cumsum as cumsum, deg2rad as deg2rad, detach as detach,
    diagonal as diagonal, diff as diff, digamma as digamma, div as div, dot as dot, eq as eq, equal as equal,
    erf as erf, erfc as erfc, erfinv as erfinv, exp as exp, exp2 as exp2, expm1 as expm1,
    flatten as flatten, flip as flip, floor as floor, floor_divide as floor_divide, frac as frac,
    gather as gather, ge as ge, get_device as get_device, gt as gt, hypot as hypot,
    index_fill as index_fill, index_select as index_select, is_complex as is_complex,
    is_floating_point as is_floating_point, is_signed as is_signed, is_tensor as is_tensor,
    isfinite as isfinite, isinf as isinf, isnan as isnan, kthvalue as kthvalue, le as le, log as log,
    log10 as log10, log1p as log1p, log2 as log2, log_softmax as log_softmax,
    logical_and as logical_and, logical_not as logical_not, logical_or as logical_or,
    logical_xor as logical_xor, logsumexp as logsumexp, lt as lt, masked_fill as masked_fill,
    masked_select as masked_select, matmul as matmul, max as max, maximum as maximum, mean as mean,
    median as median, min as min, minimum as minimum, mm as mm, mode as mode, movedim as movedim,
    mul as mul, mv as mv, nanmean as nanmean, nanmedian as nanmedian,
    nanquantile as nanquantile, nanstd as nanstd, nansum as nansum, nanvar as nanvar, narrow as narrow, ne as ne, neg as neg, norm as norm,
    numel as numel, permute as permute, positive as positive, pow as pow, prod as prod,
    quantile as quantile, rad2deg as rad2deg, reciprocal as reciprocal, relu as relu, remainder as remainder, roll as roll,
    round as round, rsqrt as rsqrt, select as select, sgn as sgn, sigmoid as sigmoid, sign as sign,
    sin as sin, sinh as sinh, softmax as softmax, sort as sort, split as split, sqrt as sqrt,
    square as square, squeeze as squeeze, std as std, std_mean as std_mean, sub as sub, sum as sum,
    swapaxes as swapaxes, t as t, tan as tan, tanh as tanh, tensordot as tensordot, topk as topk,
    transpose as transpose, trunc as trunc, unbind as unbind, unflatten as unflatten,
    unsqueeze as unsqueeze, var as var, var_mean as var_mean, where as where,
)
from nameexpr.tensors.joining import cat as cat, concat as concat, concatenate as concatenate, stack as stack
from nameexpr.tensors.ops import OPS as OPS, Op as Op
from nameexpr.tensors.random import normal as normal, rand as rand, rand_like as rand_like, randn as randn, randn_like as randn_like
from nameexpr.tensors.storage import load as load, save as save
from nameexpr.tensors.tape.passes import grad_of as grad_of
from nameexpr.tensors.tape.mode import (
    enable_grad as enable_grad,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
)
