"""The rule for writing a result into a tensor that is there already: in place, and `out=`.

Names are never refined: a tensor with any name takes exactly the names that it has, and one without any takes
those of the result. Sizes must be equal, except that an `out=` without names may be resized.

>>> from nameexpr.dims import Dim
>>> check_written((Dim(None, 2),), ("N",), (2,), "add_")
>>> check_written((Dim("C", 2),), ("N",), (2,), "add_")
Traceback (most recent call last):
    ...
nameexpr.errors.DimNameError: DimNameError[NE472]: add_: the result's dim 'N' cannot be written into dim 'C'
  tensor  C=2
          ^^^
  result  N=2
          ^^^
  help: rename the tensor or the operands: what is written must have exactly the tensor's names
"""

from __future__ import annotations

from nameexpr.dims import Dims, Names, dims_of, names_of, shape_of
from nameexpr.errors import NameExprError
from nameexpr.inference.pairing import Pairing, paired_fault


def check_written(
    target: Dims, names: Names, shape: tuple[int, ...], verb: str, *, is_out: bool = False
) -> None:
    """Raise unless a result with these names and sizes may be written into the target.

    Raises
    ------
    SizeError
        NE371, if the sizes differ (and the target is not an `out=` without names).
    DimNameError
        NE472, if the target has a name and the names are not exactly its own.

    Notes
    -----
    PyTorch's page "Named Tensors operator coverage", "out function and in-place variants".
    """
    role = "out" if is_out else "tensor"
    pairing = Pairing(verb, role, "result")
    result = dims_of(names, shape)
    has_names = any(names_of(target))
    if shape_of(target) != shape and (has_names or not is_out):
        raise _size_fault(target, result, pairing)
    if has_names and names_of(target) != names:
        raise _name_fault(target, result, pairing)


def _size_fault(target: Dims, result: Dims, pairing: Pairing) -> NameExprError:
    message = f"{pairing.verb}: a result of shape {shape_of(result)} does not fit"
    message += f" into a tensor of shape {shape_of(target)}"
    shortest = min(len(target), len(result))
    places = [at for at in range(-1, -shortest - 1, -1) if target[at].size != result[at].size]
    extra = list(range(len(result) - shortest))
    if pairing.left == "out":
        hint = "an out= without names is resized, one with names must have the result's sizes"
    else:
        hint = "an in-place operation cannot change sizes: leave out the underscore for a new tensor"
    return paired_fault("NE371", message, (target, result), pairing, (places, places + extra), hint)


def _name_fault(target: Dims, result: Dims, pairing: Pairing) -> NameExprError:
    at = next(at for at, dim in enumerate(target) if dim.name != result[at].name)
    old, new = target[at].name, result[at].name
    what = "a dim without a name" if old is None else f"dim {old!r}"
    which = "unnamed dim" if new is None else f"dim {new!r}"
    message = f"{pairing.verb}: the result's {which} cannot be written into {what}"
    if old is None:
        hint = f"writing never adds a name to a tensor that has some: refine_names(..., {new!r}, ...) first"
    elif not any(names_of(result)):
        hint = (
            f"the result has no names: give {pairing.left} none either (rename(None)), or name the operands"
        )
    else:
        role = "out" if pairing.left == "out" else "the tensor"
        hint = f"rename {role} or the operands: what is written must have exactly {_its(role)} names"
    return paired_fault("NE472", message, (target, result), pairing, ([at], [at]), hint)


def _its(role: str) -> str:
    return "the tensor's" if role == "the tensor" else "its"
