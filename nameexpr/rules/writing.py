"""The rule for writing a result into an existing tensor: in place, and `out=`.

Names are never refined: a tensor with any name keeps its names, which must be those of the result, and one
without any takes those of the result. Sizes must be equal, except that an `out=` without names may be
resized.

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
  help: writing never changes a name: tensor.rename(C='N') first, if that is intended
"""

from __future__ import annotations

from nameexpr.dims import Dims, Names, dims_of, duplicate, names_of, shape_of
from nameexpr.errors import NameExprError
from nameexpr.rules.calls import as_keywords, shown
from nameexpr.rules.pairing import Pairing, paired_fault


def check_written(
    target: Dims,
    names: Names,
    shape: tuple[int, ...],
    verb: str,
    *,
    is_out: bool = False,
    source: str = "result",
) -> None:
    """Raise unless a result with these names and sizes may be written into the target.

    NE371 if the sizes differ (and the target is not an `out=` without names), NE472 if the target has a name
    and the names are not exactly its own. `source` is how an error refers to the written value. The rule is
    "out function and in-place variants" on PyTorch's page "Named Tensors operator coverage".
    """
    pairing = Pairing(verb, "out" if is_out else "tensor", source)
    result = dims_of(names, shape)
    has_names = any(names_of(target))
    if shape_of(target) != shape and (has_names or not is_out):
        raise _size_fault(target, result, pairing)
    if has_names and names_of(target) != names:
        raise _name_fault(target, result, pairing)


def _size_fault(target: Dims, result: Dims, pairing: Pairing) -> NameExprError:
    what = "a result" if pairing.right == "result" else f"the {pairing.right} tensor,"
    comma = "," if what.endswith(",") else ""
    message = f"{pairing.verb}: {what} of shape {shape_of(result)}{comma} does not fit"
    message += f" into a tensor of shape {shape_of(target)}"
    shortest = min(len(target), len(result))
    places = [at for at in range(-1, -shortest - 1, -1) if target[at].size != result[at].size]
    ours, theirs = (list(range(len(dims) - shortest)) for dims in (target, result))
    if pairing.left == "out":
        hint = "an out= without names is resized, one with names must have the result's sizes"
    elif pairing.verb == "resize_as_":
        hint = "flatten and unflatten merge and split dims by name; rename(None) drops the names"
    else:
        instead = "y = source.clone()" if pairing.verb == "copy_" else f"y = x.{pairing.verb[:-1]}(...)"
        hint = f"an in-place operation cannot change sizes: {instead} makes a new tensor"
    marked = (places + ours, places + theirs)
    return paired_fault("NE371", message, (target, result), pairing, marked, hint)


def _name_fault(target: Dims, result: Dims, pairing: Pairing) -> NameExprError:
    at = next(at for at, dim in enumerate(target) if dim.name != result[at].name)
    old, new = target[at].name, result[at].name
    what = "a dim without a name" if old is None else f"dim {old!r}"
    which = "unnamed dim" if new is None else f"dim {new!r}"
    whose = "result's" if pairing.right == "result" else f"{pairing.right} tensor's"
    message = f"{pairing.verb}: the {whose} {which} cannot be written into {what}"
    if pairing.right != "result" and not any(names_of(result)):
        message = f"{pairing.verb}: the {whose} dims have no names, and {what} has one"
    hint = _name_hint(target, result, pairing)
    return paired_fault("NE472", message, (target, result), pairing, ([at], [at]), hint)


def _name_hint(target: Dims, result: Dims, pairing: Pairing) -> str:
    """Return the call that gives the tensor the names of the result, or the result those of the tensor."""
    ours, theirs = names_of(target), names_of(result)
    role = pairing.left
    if not any(theirs):
        operands = "the operands" if pairing.right == "result" else pairing.right
        return f"{role}.rename(None) removes its names; or name {operands}"
    pairs = list(zip(ours, theirs, strict=True))
    if all(old in (None, new) for old, new in pairs):
        names = ", ".join(map(shown, theirs))
        return f"writing never adds names to a tensor that has some: {role}.refine_names({names}) first"
    renamed = {old: new for old, new in pairs if old is not None and old != new}
    if None in renamed.values() or duplicate(new if old else None for old, new in pairs):
        return f"writing never changes a name: name the operands like {role}"
    return f"writing never changes a name: {role}.rename({as_keywords(renamed)}) first, if that is intended"
