"""Random calls of the operators that have a derivative: for `test_tape_rows`, which compares their gradients.

A call has operands, of which some require gradients, and arguments: `Dim` is a dim, by name for tensors of
ours and by position for PyTorch's, and `Ref` an operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
Rng = np.random.Generator


class Dim(NamedTuple):
    """A dim of the first operand."""

    at: int


class Ref(NamedTuple):
    """An operand, by its number."""

    at: int


class Operand(NamedTuple):
    """An operand with its names; indices, masks and constants require no gradient."""

    array: Array
    names: tuple[str, ...]
    is_leaf: bool = True


class Call(NamedTuple):
    """A call of a method: its operands, the first of which is the tensor, and its other arguments."""

    operands: list[Operand]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}  # noqa: RUF012  calls are not changed
    torch: Callable[..., Any] | None = None
    """What to call in PyTorch, which has another spelling, or lacks the method."""


LETTERS = ("A", "B", "C", "D")
DTYPES = ("f4", "f8", "f8", "c16")
KINKS = np.array([-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 1.0, 2.0])


def shape_of(rng: Rng, least: int = 0, most: int = 3, *, smallest: int = 0) -> tuple[int, ...]:
    """Draw a shape; sizes 0 and 1 are frequent."""
    sizes = [size for size in (0, 1, 2, 3, 4, 3, 2) if size >= smallest]
    return tuple(int(rng.choice(sizes)) for _ in range(rng.integers(least, most + 1)))


def values(rng: Rng, shape: tuple[int, ...], dtype: str = "f8") -> Array:
    """Draw elements: any numbers, or few, so that some are equal, 0 or at a kink."""
    few = rng.random() < 0.4
    parts = [rng.choice(KINKS, shape) if few else rng.normal(size=shape) for _ in range(2)]
    whole = parts[0] + 1j * parts[1] if dtype[0] == "c" else parts[0]
    return np.array(whole, dtype)


def operand(rng: Rng, least: int = 0, most: int = 3, *, smallest: int = 0, dtype: str = "") -> Operand:
    shape = shape_of(rng, least, most, smallest=smallest)
    return Operand(values(rng, shape, dtype or str(rng.choice(DTYPES))), LETTERS[: len(shape)])


def real(rng: Rng, least: int = 0, most: int = 3, *, smallest: int = 0) -> Operand:
    return operand(rng, least, most, smallest=smallest, dtype=str(rng.choice(["f4", "f8"])))


def beside(rng: Rng, x: Operand, dtype: str = "") -> Operand:
    """Draw an operand that pairs with another one from the right, some of its dims of size 1."""
    begin = int(rng.integers(0, x.array.ndim + 1))
    shape = tuple(size if rng.random() < 0.7 else 1 for size in x.array.shape[begin:])
    kind = dtype or (str(rng.choice(DTYPES)) if rng.random() < 0.3 else x.array.dtype.str[1:])
    return Operand(values(rng, shape, kind), x.names[begin:], bool(rng.random() < 0.8))


def some_dims(rng: Rng, x: Operand) -> Any:
    """Draw one dim, several, or None."""
    count = x.array.ndim
    if not count or rng.random() < 0.25:
        return None
    if rng.random() < 0.6:
        return Dim(int(rng.integers(count)))
    return [Dim(int(at)) for at in rng.permutation(count)[: rng.integers(1, count + 1)]]


def one_dim(rng: Rng, x: Operand) -> Dim:
    return Dim(int(rng.integers(x.array.ndim)))


def pointwise(rng: Rng) -> Call:
    return Call([operand(rng)])


def pair(rng: Rng, *, is_real: bool = False) -> Call:
    x = real(rng) if is_real else operand(rng)
    if rng.random() < 0.2:
        number = float(rng.choice([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0]))
        return Call([x], (int(number) if number == int(number) and rng.random() < 0.5 else number,))
    y = beside(rng, x, str(rng.choice(["f4", "f8"])) if is_real else "")
    return Call([x, y] if rng.random() < 0.5 or not y.is_leaf else [x._replace(is_leaf=False), y], (Ref(1),))


def power(rng: Rng) -> Call:
    """Draw a call; 0 is not raised to complex powers, which is nan or arbitrary."""
    call = pair(rng)
    x, *others = call.operands
    if any(other.array.dtype.kind == "c" for other in others):
        x = x._replace(array=np.where(x.array == 0, np.array(1, x.array.dtype), x.array))
    return call._replace(operands=[x, *others])


def scaled(rng: Rng) -> Call:
    call = pair(rng)
    if rng.random() < 0.4:
        return call._replace(kwargs={"alpha": float(rng.choice([-2, 0.5, 3]))})
    return call


def divided(rng: Rng) -> Call:
    mode = rng.choice(["", "trunc", "floor"])
    return pair(rng, is_real=True)._replace(kwargs={"rounding_mode": str(mode)}) if mode else pair(rng)


def real_pair(rng: Rng) -> Call:
    return pair(rng, is_real=True)


def floor_divided(rng: Rng) -> Call:
    """Draw a call whose derivative PyTorch has under another name."""
    return real_pair(rng)._replace(torch=lambda t, other: t.div(other, rounding_mode="floor"))


def beyond_one(rng: Rng) -> Call:
    x = real(rng)
    return Call([x._replace(array=abs(x.array) + 1)])


def hypot(rng: Rng) -> Call:
    """Draw a call; PyTorch has the gradient nan where both are 0, and nameexpr 0, as for `norm`."""

    def call(t: Any, other: Any) -> Any:
        import torch

        here = (t == 0) & (other == 0)
        one, zero = torch.ones((), dtype=t.dtype), torch.zeros((), dtype=t.dtype)
        return torch.where(here, zero, torch.hypot(torch.where(here, one, t), other))

    return tensors(rng)._replace(torch=call)


def tensors(rng: Rng) -> Call:
    """Draw a pair of two tensors of the same dtype."""
    call = pair(rng, is_real=True)
    if len(call.operands) == 1:
        call = Call([call.operands[0], call.operands[0]], (Ref(1),))
    return call


def clamped(rng: Rng) -> Call:
    x = real(rng)
    kind = x.array.dtype.str[1:]
    if rng.random() < 0.5:
        low, high = sorted(rng.choice(KINKS, 2))
        bounds = {"min": float(low), "max": float(high)}
        if rng.random() < 0.4:
            del bounds[str(rng.choice(["min", "max"]))]
        return Call([x], (), bounds)
    return Call([x, beside(rng, x, kind), beside(rng, x, kind)], (Ref(1), Ref(2)))


def reduction(rng: Rng) -> Call:
    x = operand(rng)
    dims = some_dims(rng, x)
    if dims is None:
        return Call([x])
    return Call([x], (dims,), {"keepdim": True} if rng.random() < 0.4 else {})


def filled_reduction(rng: Rng) -> Call:
    """Draw one of a function that needs at least one element."""
    call = reduction(rng)
    return Call([operand(rng, 1, 3, smallest=1)], ()) if not call.operands[0].array.size else call


def spread(rng: Rng) -> Call:
    call = reduction(rng)
    if rng.random() < 0.5:
        kwargs = {**call.kwargs, "correction": int(rng.integers(0, 2))}
        return call._replace(args=call.args or (None,), kwargs=kwargs)
    if rng.random() < 0.3 and not call.args:
        return call._replace(args=(bool(rng.random() < 0.5),))
    return call


def product(rng: Rng) -> Call:
    x = operand(rng)
    if not x.array.ndim or rng.random() < 0.3:
        return Call([x])
    return Call([x], (one_dim(rng, x),), {"keepdim": True} if rng.random() < 0.4 else {})


def with_nan(rng: Rng, x: Operand) -> Operand:
    array = x.array.copy()
    array[rng.random(array.shape) < 0.2] = np.nan
    return x._replace(array=array)


def with_some_nan(rng: Rng, x: Operand) -> Operand:
    """Return an operand with nan, but not along whole dims."""
    later = np.all(np.indices(x.array.shape) > 0, axis=0)
    return x._replace(array=np.where(later & (rng.random(x.array.shape) < 0.3), np.nan, x.array))


def nan_reduction(rng: Rng) -> Call:
    call = reduction(rng)
    x = call.operands[0]
    real_part = x._replace(array=np.ascontiguousarray(x.array.real).reshape(x.array.shape))
    return call._replace(operands=[with_nan(rng, real_part)])


def norm(rng: Rng) -> Call:
    call = reduction(rng)
    p = float(rng.choice([0, 1, 2, 2, 3, 1.5, np.inf]))
    kwargs = {"dim": call.args[0], **call.kwargs} if call.args else {}
    return Call(call.operands, (p,), kwargs)


def along(rng: Rng) -> Call:
    x = operand(rng, 1)
    return Call([x], (one_dim(rng, x),))


def chosen(rng: Rng, *before: Any, smallest: int = 1) -> Call:
    """Draw a call that chooses elements along a dim."""
    x = real(rng, 1, smallest=smallest)
    return Call([x], (*before, one_dim(rng, x)))


def distinct(rng: Rng, x: Operand) -> Operand:
    """Return an operand with other elements, which are all different."""
    array = (rng.permutation(x.array.size).reshape(x.array.shape) - x.array.size / 3).astype(x.array.dtype)
    return x._replace(array=array)


def of_distinct(draw: Callable[[Rng], Call]) -> Callable[[Rng], Call]:
    """Return a function that draws calls without equal elements, of which PyTorch selects any."""

    def call(rng: Rng) -> Call:
        drawn = draw(rng)
        x = distinct(rng, drawn.operands[0])
        has_nan = np.isnan(drawn.operands[0].array).any()
        return drawn._replace(operands=[with_some_nan(rng, x) if has_nan else x, *drawn.operands[1:]])

    return call


def kept(rng: Rng) -> Call:
    return chosen(rng)._replace(kwargs={"keepdim": bool(rng.random() < 0.5)})


def of_all_or_along(rng: Rng) -> Call:
    return kept(rng) if rng.random() < 0.7 else Call([real(rng, smallest=1)])


def kthvalue(rng: Rng) -> Call:
    call = kept(rng)
    k = int(rng.integers(1, call.operands[0].array.shape[call.args[0].at] + 1))
    return call._replace(args=(k, *call.args))


def topk(rng: Rng) -> Call:
    call = kthvalue(rng)
    return call._replace(kwargs={"largest": bool(rng.random() < 0.5)})


def sort(rng: Rng) -> Call:
    kwargs = {"descending": bool(rng.random() < 0.5), "stable": True}
    call = chosen(rng, smallest=0)
    return Call(call.operands, (), {"dim": call.args[0], **kwargs})


def quantile(rng: Rng) -> Call:
    x = real(rng, 1, smallest=1)
    q: Any = float(rng.choice([0, 0.25, 0.3, 0.5, 1]))
    dim = one_dim(rng, x) if rng.random() < 0.7 else None
    levels = q if rng.random() < 0.6 else [q, 0.7]

    def call(t: Any, q: Any, dim: Any = None, keepdim: bool = False) -> Any:
        import torch

        return torch.quantile(t, torch.tensor(q, dtype=t.dtype), dim, keepdim)

    args = (levels,) if dim is None else (levels, dim)
    return Call([x], args, {"keepdim": bool(rng.random() < 0.5)}, call)


def nanquantile(rng: Rng) -> Call:
    call = quantile(rng)

    def torchs(t: Any, q: Any, dim: Any = None, keepdim: bool = False) -> Any:
        import torch

        return torch.nanquantile(t, torch.tensor(q, dtype=t.dtype), dim, keepdim)

    return call._replace(operands=[with_nan(rng, call.operands[0])], torch=torchs)


def nanspread(verb: str) -> Callable[[Rng], Call]:
    """Return the function that draws calls of nanstd or nanvar, which PyTorch lacks: of rows without nan."""

    def draw(rng: Rng) -> Call:
        x = with_nan(rng, real(rng, 1, 2, smallest=1))
        dim = one_dim(rng, x)

        def call(t: Any, dim: int, correction: int = 1, keepdim: bool = False) -> Any:
            import torch

            rows = [row[~torch.isnan(row)] for row in t.movedim(dim, -1).reshape(-1, t.shape[dim])]
            found = [getattr(torch, verb[3:])(row, correction=correction) for row in rows]
            shape = [size for at, size in enumerate(t.shape) if at != dim]
            result = torch.stack(found).reshape(shape)
            return result.unsqueeze(dim) if keepdim else result

        kwargs = {"correction": int(rng.integers(0, 2)), "keepdim": bool(rng.random() < 0.5)}
        return Call([x], (dim,), kwargs, call)

    return draw


def diff(rng: Rng) -> Call:
    x = operand(rng, 1, smallest=1)
    return Call([x], (), {"n": int(rng.integers(0, 4)), "dim": one_dim(rng, x)})


def flip(rng: Rng) -> Call:
    x = operand(rng, 1)
    return Call([x], tuple(Dim(int(at)) for at in rng.permutation(x.array.ndim)[: rng.integers(1, 4)]))


def roll(rng: Rng) -> Call:
    x = operand(rng, 1)
    if rng.random() < 0.3:
        return Call([x], (int(rng.integers(-4, 5)),))
    dims = [Dim(int(at)) for at in rng.permutation(x.array.ndim)[: rng.integers(1, 4)]]
    return Call([x], ([int(rng.integers(-4, 5)) for _ in dims], dims))


def select(rng: Rng) -> Call:
    x = operand(rng, 1, smallest=1)
    dim = one_dim(rng, x)
    size = x.array.shape[dim.at]
    return Call([x], (dim, int(rng.integers(-size, size))))


def narrow(rng: Rng) -> Call:
    x = operand(rng, 1)
    dim = one_dim(rng, x)
    size = x.array.shape[dim.at]
    begin = int(rng.integers(0, size + 1))
    length = int(rng.integers(0, size - begin + 1))
    return Call([x], (dim, begin - size if begin < size and rng.random() < 0.3 else begin, length))


def split(rng: Rng) -> Call:
    x = operand(rng, 1)
    dim = one_dim(rng, x)
    size = x.array.shape[dim.at]
    if rng.random() < 0.5:
        first = int(rng.integers(0, size + 1))
        return Call([x], ([first, size - first], dim))
    return Call([x], (int(rng.integers(1, 5)), dim))


def chunk(rng: Rng) -> Call:
    x = operand(rng, 1, smallest=1)
    return Call([x], (int(rng.integers(1, 4)), one_dim(rng, x)))


def unbind(rng: Rng) -> Call:
    x = operand(rng, 1, smallest=1)
    return Call([x], (one_dim(rng, x),))


def squeeze(rng: Rng) -> Call:
    x = operand(rng)
    if not x.array.ndim or rng.random() < 0.4:
        return Call([x])
    return Call([x], (one_dim(rng, x),))


def unsqueeze(rng: Rng) -> Call:
    x = operand(rng)
    return Call([x], (int(rng.integers(-x.array.ndim - 1, x.array.ndim + 1)),))


def expand(rng: Rng) -> Call:
    x = operand(rng)
    sizes = [int(rng.integers(0, 4)) if size == 1 else size for size in x.array.shape]
    more = [int(rng.integers(0, 3))] if rng.random() < 0.5 else []
    return Call([x], tuple(more + [-1 if rng.random() < 0.3 else size for size in sizes]))


def diagonal(rng: Rng) -> Call:
    x = operand(rng, 2)
    a, b = (Dim(int(at)) for at in rng.permutation(x.array.ndim)[:2])
    return Call([x], (), {"offset": int(rng.integers(-4, 5)), "dim1": a, "dim2": b})


def two_dims(rng: Rng) -> Call:
    x = operand(rng, 1)
    return Call([x], (one_dim(rng, x), one_dim(rng, x)))


def permute(rng: Rng) -> Call:
    x = operand(rng)
    return Call([x], tuple(Dim(int(at)) for at in rng.permutation(x.array.ndim)))


def movedim(rng: Rng) -> Call:
    x = operand(rng, 1)
    return Call([x], (one_dim(rng, x), int(rng.integers(x.array.ndim))))


def matrix(rng: Rng) -> Call:
    return Call([operand(rng, 0, 2)])


def _named(name: str) -> Callable[..., Any]:
    """Return a function for PyTorch, whose tensors have no names: it does nothing."""
    return lambda t, *args, **kwargs: t


def align_to(rng: Rng) -> Call:
    x = operand(rng)
    order = [int(at) for at in rng.permutation(x.array.ndim)]
    names = [x.names[at] for at in order]
    place = int(rng.integers(0, len(order) + 1))
    has_new = rng.random() < 0.5
    if has_new:
        names.insert(place, "Z")
    if not names:
        return Call([x], ("...",), torch=lambda t, *names: t)

    def call(t: Any, *names: Any) -> Any:
        t = t.permute(order)
        return t.unsqueeze(place) if has_new else t

    return Call([x], tuple(names), torch=call)


def align_as(rng: Rng) -> Call:
    x = operand(rng, 1)
    order = [int(at) for at in rng.permutation(x.array.ndim)]
    names = (*(x.names[at] for at in order), "Z")
    other = Operand(np.ones((1,) * len(names)), names, is_leaf=False)
    return Call([x, other], (Ref(1),), torch=lambda t, other: t.permute(order).unsqueeze(-1))


def flatten(rng: Rng) -> Call:
    x = operand(rng, 1)
    first, last = sorted(int(at) for at in rng.integers(0, x.array.ndim, 2))
    return Call([x], (Dim(first), Dim(last), "Z"), torch=lambda t, first, last, name: t.flatten(first, last))


def unflatten(rng: Rng) -> Call:
    x = operand(rng, 1)
    dim = one_dim(rng, x)
    size = x.array.shape[dim.at]
    first = 2 if size % 2 == 0 else 1
    sizes = [("Y", first), ("Z", size // first)]
    return Call([x], (dim, sizes), torch=lambda t, dim, sizes: t.unflatten(dim, [size for _, size in sizes]))


def rename(rng: Rng) -> Call:
    x = operand(rng)
    return Call([x], tuple(f"{name}2" for name in x.names), torch=_named("rename"))


def refine(rng: Rng) -> Call:
    return Call([operand(rng)], ("...",), torch=_named("refine_names"))


def cast(rng: Rng) -> Call:
    import torch

    kind = str(rng.choice(["float32", "float64", "complex128"]))
    return Call([operand(rng)], (kind,), torch=lambda t, kind: t.to(getattr(torch, kind)))


def type_as(rng: Rng) -> Call:
    other = operand(rng)._replace(is_leaf=False)
    return Call([operand(rng), other], (Ref(1),))


def masked_fill(rng: Rng) -> Call:
    x = operand(rng)
    y = beside(rng, x)
    mask = Operand(rng.random(y.array.shape) < 0.4, y.names, is_leaf=False)
    if rng.random() < 0.5:
        return Call([x, mask], (Ref(1), 2.5))
    value = Operand(values(rng, (), x.array.dtype.str[1:]), ())
    return Call([x, mask, value], (Ref(1), Ref(2)))


def masked_select(rng: Rng) -> Call:
    call = masked_fill(rng)
    return Call(call.operands[:2], (Ref(1),))


def where(rng: Rng) -> Call:
    call = tensors(rng)
    x, y = call.operands
    z = beside(rng, x)
    mask = Operand(rng.random(z.array.shape) < 0.5, z.names, is_leaf=False)
    return Call([x, y, mask], (Ref(2), Ref(1)), torch=lambda t, mask, other: t.where(mask, other))


def indices(rng: Rng, x: Operand, dim: Dim) -> list[int]:
    """Draw indices along a dim; they may repeat."""
    size = x.array.shape[dim.at]
    return [int(each) for each in rng.integers(0, size, rng.integers(0, 5))]


def index_fill(rng: Rng) -> Call:
    import torch

    x = operand(rng, 1, smallest=1)
    dim = one_dim(rng, x)
    places = indices(rng, x, dim)
    index = Operand(np.array(places, int), (), is_leaf=False)

    def call(t: Any, dim: Any, index: Any, value: Any) -> Any:
        return t.index_fill(dim, torch.tensor(places, dtype=torch.int64), value)

    if rng.random() < 0.5:
        return Call([x], (dim, places, 1.5), torch=call)
    value = Operand(values(rng, (), x.array.dtype.str[1:]), ())
    return Call([x, index, value], (dim, places, Ref(2)), torch=call)


def index_select(rng: Rng) -> Call:
    import torch

    x = operand(rng, 1, smallest=1)
    dim = one_dim(rng, x)
    return Call(
        [x],
        (dim, indices(rng, x, dim)),
        torch=lambda t, dim, index: t.index_select(dim, torch.tensor(index, dtype=torch.int64)),
    )


def gather(rng: Rng) -> Call:
    x = operand(rng, 1, smallest=1)
    dim = one_dim(rng, x)
    shape = [int(rng.integers(0, size + 1)) for size in x.array.shape]
    shape[dim.at] = int(rng.integers(0, 5))
    index = Operand(rng.integers(0, x.array.shape[dim.at], shape), x.names, is_leaf=False)
    return Call([x, index], (dim, Ref(1)))


def isel(rng: Rng) -> Call:
    x = operand(rng, 1, smallest=1)
    at = int(rng.integers(x.array.ndim))
    size = x.array.shape[at]
    ways = [int(rng.integers(-size, size)), slice(1, None), indices(rng, x, Dim(at))]
    index = ways[int(rng.integers(3))]
    key = (*(slice(None),) * at, index)
    return Call([x], (), {x.names[at]: index}, torch=lambda t, **names: t[key])


def matrices(way: str) -> Callable[[Rng], Call]:
    """Return the function that draws operands of a product, from the letters of their dims."""
    shapes = [tuple(each.split()) for each in way.split(",")]

    def draw(rng: Rng) -> Call:
        sizes = {letter: int(rng.choice([0, 1, 2, 3, 4])) for letter in "ijkbc"}
        kind = str(rng.choice(DTYPES))
        operands = [
            Operand(
                values(rng, tuple(sizes[name] for name in shape), kind),
                tuple(f"{name}{at}" if name == "j" else name for name in shape),
                at == 0 or bool(rng.random() < 0.8),
            )
            for at, shape in enumerate(shapes)
        ]
        return Call(operands, tuple(map(Ref, range(1, len(shapes)))))

    return draw


def matmul(rng: Rng) -> Call:
    ways = ["i j, j k", "j, j k", "i j, j", "j, j", "b i j, b j k", "b i j, j k", "i j, b j k", "b i j, j"]
    ways += ["j, b j k", "c b i j, b j k"]
    return matrices(str(rng.choice(ways)))(rng)


def add_product(way: str) -> Callable[[Rng], Call]:
    def draw(rng: Rng) -> Call:
        call = matrices(way)(rng)
        first = call.operands[0]._replace(names=())
        if rng.random() < 0.3 and call.operands[1].array.size:
            first = first._replace(array=first.array[:1])
        scales = {"beta": float(rng.choice([0.5, 2])), "alpha": -1.5} if rng.random() < 0.5 else {}
        return call._replace(operands=[first, *call.operands[1:]], kwargs=scales)

    return draw


def tensordot(rng: Rng) -> Call:
    import torch

    x = operand(rng, 1, dtype="f8")
    count = int(rng.integers(0, x.array.ndim + 1))
    ours = [int(at) for at in rng.permutation(x.array.ndim)[:count]]
    theirs = [int(at) for at in rng.permutation(count + 1)[:count]]
    shape = [2] * (count + 1)
    for mine, other in zip(ours, theirs, strict=True):
        shape[other] = x.array.shape[mine]
    y = Operand(values(rng, tuple(shape)), tuple("WXYZ"[: len(shape)]))
    return Call([x, y], (Ref(1), (ours, theirs)), torch=lambda a, b, dims: torch.tensordot(a, b, dims))
