"""The only device there is: arrays of NumPy are on the CPU.

>>> Device("cpu")
device('cpu')
"""

from __future__ import annotations

from typing import Any

from nameexpr.errors import Diagnostic, error
from nameexpr.rules.calls import shown
from nameexpr.tensors.ops import op


class Device:
    """Where an array is: `str()` of it is "cpu"."""

    __slots__ = ("type",)

    index = None

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        name = str(type)
        if name.partition(":")[0] != "cpu" or index not in (None, 0):
            message = f"there is no device {shown(name)}: NumPy's arrays are on the CPU"
            hint = 'leave it out or give "cpu"; x.numpy() is what another library can move to its device'
            raise error(Diagnostic("NE678", message, hint=hint))
        self.type = "cpu"

    def __str__(self) -> str:
        return self.type

    def __repr__(self) -> str:
        return "device('cpu')"

    def __eq__(self, other: object) -> bool:
        return str(other) == self.type

    def __hash__(self) -> int:
        return hash(self.type)


@op("answers")
def device(type: Any = "cpu", index: int | None = None) -> Device:
    """Return the device of that name: "cpu" is the only one.

    Raises
    ------
    OptionError
        NE678, for any other.

    Examples
    --------
    >>> str(device("cpu"))
    'cpu'
    """
    return Device(type, index)


def checked_device(wanted: object) -> None:
    """Raise NE678 unless `wanted` is None or the CPU."""
    if wanted is not None:
        Device(wanted)
