"""Functions of gradients: the operands to differentiate by, and the gradients that are read by name."""

from __future__ import annotations

from mypy.nodes import Expression
from mypy.plugin import FunctionContext, MethodContext
from mypy.types import AnyType, Instance, TupleType, Type, get_proper_type

from nameexpr.compiler.analysis.faults.differentiating import no_gradient_by
from nameexpr.dims import normalised
from nameexpr.lint import OPEN, LiteralCall
from nameexpr.lint.diagnose import Problem, diagnose
from nameexpr.mypy.arguments import given_of, literal, literal_tuple, literals_in, report, text_of
from nameexpr.mypy.compiled import applied, known
from nameexpr.runtime.differentiated import names_in

_ARRAYS = {"nameexpr.tensors.named_tensor.NamedTensor", "numpy.ndarray"}


def wrt_of(node: Expression, given: Type) -> tuple[str, ...] | None:
    """Return the names of the operands to differentiate by, None if they are not literal."""
    kind = get_proper_type(given)
    written = literals_in(kind) if isinstance(kind, TupleType) else text_of(given)
    names = literal(node) if written is None else written
    names = names_in(names) if isinstance(names, str) else names
    if names is OPEN or not isinstance(names, list | tuple) or not all(isinstance(one, str) for one in names):
        return None
    return tuple(map(normalised, names))


def function_of(text: str, returned: Instance, context: FunctionContext) -> Type:
    """Return the type of a function of gradients, which includes its text and what it differentiates by."""
    wrt = wrt_of(context.args[1][0], context.arg_types[1][0])
    names = returned.args[0] if wrt is None else literal_tuple(wrt, context)
    return returned.copy_modified(args=[names, literal_tuple([text], context)])


def gradient(context: MethodContext) -> Type:
    """Report the errors of a call of the method `gradient`, and return a type with as many results."""
    compiled, returned = known(context.type), get_proper_type(context.default_return_type)
    given = given_of(context)
    wrt = wrt_of(context.args[0][0], context.arg_types[0][0]) if context.args and context.args[0] else None
    if compiled is None or wrt is None or not isinstance(returned, Instance):
        return returned
    call = LiteralCall("gradient", compiled.text, 0, {"wrt": wrt})
    problems = [problem for problem in diagnose(call) if problem.is_call]
    report(problems, given, context.args[0][0], context)
    *results, _ = map(get_proper_type, returned.args)
    several = [TupleType([one.args[0]] * (len(wrt) + 1), one) for one in results if isinstance(one, Instance)]
    whole = literal_tuple([compiled.text, *compiled.bound], context)
    return returned if problems else returned.copy_modified(args=[*several, whole])


def applied_gradients(context: MethodContext) -> Type:
    """Report the errors of a call of a function of gradients; where the operands are of several kinds, return
    gradients of the kind of those that it differentiates by.
    """
    applied(context)
    given = get_proper_type(context.type)
    wrt = literals_in(given.args[0]) if isinstance(given, Instance) else []
    found = [
        get_proper_type(kind)
        for names, kinds in zip(context.arg_names, context.arg_types, strict=True)
        for name, kind in zip(names, kinds, strict=True)
        if name in wrt
    ]
    alike = [one for one in found[:1] if isinstance(one, Instance) and one.type.fullname in _ARRAYS]
    is_known = len(found) == len(wrt) and len(set(found)) == 1
    return _with(context.default_return_type, alike[0]) if alike and is_known else context.default_return_type


def _with(returned: Type, gradient: Instance) -> Type:
    """Return a type of results in which gradients of any type are of this one."""
    kind = get_proper_type(returned)
    if isinstance(kind, TupleType):
        value, gradients = kind.items
        return kind.copy_modified(items=[value, _with(gradients, gradient)])
    if isinstance(kind, Instance) and isinstance(get_proper_type(kind.args[0]), AnyType):
        return kind.copy_modified(args=[gradient, *kind.args[1:]])
    return kind


def read(context: MethodContext) -> Type:
    """Report a gradient that is read by a name that it does not have."""
    gradients, key = get_proper_type(context.type), text_of(context.arg_types[0][0])
    wrt = literals_in(gradients.args[1]) if isinstance(gradients, Instance) else []
    if key is not None and all(isinstance(name, str) for name in wrt) and key not in wrt:
        fault = Problem(no_gradient_by(key, wrt))
        report([fault], given_of(context), context.args[0][0], context)
    return context.default_return_type
