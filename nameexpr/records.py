"""`record` turns a class of fields into a frozen record: the data that passes of the compiler exchange.

It provides what `dataclasses.dataclass(frozen=True, slots=True)` does, in a tenth of the time: the first call
of a program waits until about fifty classes are created, and `dataclasses` took half of that time. Only the
constructor is generated, and only for classes that are used; comparing, hashing, printing and pickling are
the same few lines for all.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

AnyClass = TypeVar("AnyClass", bound=type)
AnyRecord = TypeVar("AnyRecord")
_REQUIRED: Any = object()
_INSTANCE = ("__dict__", "__weakref__")


class _Field(tuple[Any, Callable[[], Any] | None, bool]):
    """The arguments of `field`: the default, its factory, and whether the field counts in comparisons."""

    __slots__ = ()


def field(
    *, default: Any = _REQUIRED, default_factory: Callable[[], Any] | None = None, compare: bool = True
) -> Any:
    """Specify more than the default of a field: a factory called for each record, or exclusion from
    comparisons.
    """
    return _Field((default, default_factory, compare))


@overload
def record(cls: AnyClass, /) -> AnyClass: ...
@overload
def record(*, frozen: bool = True) -> Callable[[AnyClass], AnyClass]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: AnyClass | None = None, /, *, frozen: bool = True) -> Any:
    """Return `cls` as a record: its annotated names become its fields, in slots; `frozen` ones are set once.

    Records of one class are equal if their fields are, except for those with `field(compare=False)`; frozen
    ones are hashable. `copy`, `pickle` and `match` work on them, and `replace` creates a changed one.
    """
    return _make_record(cls, frozen) if cls is not None else lambda cls: _make_record(cls, frozen)


def replace(record: AnyRecord, /, **changes: Any) -> AnyRecord:
    """Return a record like this one with some fields changed."""
    cls: Any = record.__class__
    return cls(**{name: getattr(record, name) for name in cls.__match_args__} | changes)  # type: ignore[no-any-return]


def _make_record(cls: Any, frozen: bool) -> Any:
    fields = {name: _as_field(cls.__dict__.get(name, _REQUIRED)) for name in cls.__annotations__}
    body: dict[str, Any] = {"__repr__": _show, "__reduce__": _reduce}
    body |= _comparisons([name for name, (_, _, is_compared) in fields.items() if is_compared], frozen)
    body |= {key: value for key, value in cls.__dict__.items() if key not in fields and key not in _INSTANCE}
    body |= {"__slots__": tuple(fields), "__match_args__": tuple(fields), "__qualname__": cls.__qualname__}
    if frozen:
        body["__setattr__"] = body["__delattr__"] = _refuse

    def construct(self: Any, *values: Any, **options: Any) -> None:
        made.__init__ = _constructor(made, fields, frozen)
        made.__init__(self, *values, **options)

    body["__init__"] = construct
    made: Any = type(cls)(cls.__name__, cls.__bases__, body)  # slots cannot be added to an existing class
    return made


def _as_field(default: Any) -> _Field:
    return default if type(default) is _Field else _Field((default, None, True))


def _constructor(cls: Any, fields: dict[str, _Field], frozen: bool) -> Any:
    """Generate and compile the constructor, which depends on the fields' names, when the first record is
    created.

    The slots of a frozen record are set by their descriptors, bypassing its `__setattr__`.
    """
    scope: dict[str, Any] = {"_REQUIRED": _REQUIRED}
    parameters, lines = ["self"], []
    for name, (default, factory, _) in fields.items():
        scope |= {f"_default_{name}": default, f"_make_{name}": factory}
        scope[f"_set_{name}"] = getattr(cls, name).__set__
        required = default is _REQUIRED and factory is None
        parameters.append(name if required else f"{name}=_default_{name}")
        value = f"_make_{name}() if {name} is _REQUIRED else {name}" if factory else name
        lines.append(f"_set_{name}(self, {value})" if frozen else f"self.{name} = {value}")
    exec(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines), scope)  # noqa: S102  (fields' names)
    return scope["__init__"]


def _comparisons(compared: list[str], frozen: bool) -> dict[str, Any]:
    key: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda record: ()

    def is_equal(self: Any, other: Any) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(key(self))

    return {"__eq__": is_equal, "__hash__": hashed if frozen else None}


def _reduce(self: Any) -> tuple[Any, tuple[Any, ...]]:
    return self.__class__, tuple([getattr(self, name) for name in self.__slots__])


def _show(self: Any) -> str:
    shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__slots__])
    return f"{self.__class__.__qualname__}({shown})"


def _refuse(self: Any, *_: Any) -> NoReturn:
    raise AttributeError(f"a {self.__class__.__qualname__} does not change once it is made; use replace")
