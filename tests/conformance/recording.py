"""The recording of what PyTorch answered: read, its values decoded, and its calls told in Python's words."""

from __future__ import annotations

import gzip
import json
from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import nameexpr as ne

Entry = dict[str, Any]
HERE = Path(__file__).parent


@cache
def entries() -> list[Entry]:
    with gzip.open(HERE / "torch_recorded.json.gz", "rt") as file:
        recorded = json.load(file)["cases"]
    return [entry for entry in recorded if isinstance(entry["case"], dict)]


@cache
def rows() -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = json.loads((HERE / "operator_rows.json").read_text())["rows"]
    return rows


def respelled(entry: Entry) -> Entry | None:
    """Return a case with the function called for the method or the reverse, None where one is missing."""
    case = entry["case"]
    row = rows().get(case["op"])
    if row is None or not (row["method"] and row["function"]):
        return None
    match case["form"], case["args"]:
        case "method", arguments:
            other = {"form": "func", "args": [{"$t": 0}, *arguments]}
        case "func", [{"$t": 0}, *arguments] if "out" not in case["kwargs"]:
            other = {"form": "method", "args": arguments}
        case _:
            return None
    return {**entry, "case": {**case, **other}}


def array_of(value: dict[str, Any]) -> np.ndarray[Any, Any]:
    return np.array(value["data"], dtype=value["$a"]).reshape(value["shape"])


def decoded(value: Any, tensors: list[ne.NamedTensor]) -> Any:
    match value:
        case {"$a": _}:
            return array_of(value)
        case {"$t": number}:
            return tensors[number]
        case {"$d": name}:
            return getattr(ne, name)
        case {"$f": _}:
            return lambda gradient: gradient
        case {"$e": _}:
            return ...
        case {"$u": items}:
            return tuple(decoded(item, tensors) for item in items)
        case {"$o": pairs}:
            return OrderedDict((key, decoded(item, tensors)) for key, item in pairs)
        case list():
            return [decoded(item, tensors) for item in value]
        case dict():
            assert not any(key.startswith("$") for key in value), value
            return {key: decoded(item, tensors) for key, item in value.items()}
    return value


def spelling(case: dict[str, Any]) -> str:
    """Return the call of a case as Python would write it."""
    match case["form"]:
        case "attr":
            return f"t0.{case['call']}"
        case "setnames":
            return f"t0.names = {shown(case['args'][0])}"
    owner = {"func": "ne", "operator": "operator", "method": "t0"}[case["form"]]
    arguments = [shown(item) for item in case["args"]]
    arguments += [f"{key}={shown(item)}" for key, item in case["kwargs"].items()]
    return f"{owner}.{case['call']}({', '.join(arguments)})"


def shown(value: Any) -> str:
    match value:
        case {"$t": number}:
            return f"t{number}"
        case {"$d": name}:
            return f"ne.{name}"
        case {"$f": name}:
            return str(name)
        case {"$e": _}:
            return "..."
        case {"$o": pairs}:
            return f"OrderedDict({pairs})"
        case {"$u": [item]}:
            return f"({shown(item)},)"
        case {"$u": items}:
            return f"({', '.join(map(shown, items))})"
        case list():
            return f"[{', '.join(map(shown, value))}]"
    return repr(value)


def brief(value: Any) -> str:
    """Return one short line about a value: a tensor's dtype, names, sizes and first elements."""
    match value:
        case ne.NamedTensor():
            return f"{value.dtype}{list(value.shape)} {value.names} {brief(np.asarray(value.tolist()))}"
        case np.ndarray():
            first = ", ".join(f"{number:.6g}" for number in value.ravel()[:6].tolist())
            return f"[{first}{', ...' if value.size > 6 else ''}]"
        case tuple() | list() if any(isinstance(item, ne.NamedTensor) for item in value):
            return f"{type(value).__name__} of {len(value)}: " + "; ".join(map(brief, value[:3]))
    return f"{type(value).__name__} {value!r}"[:100]


def told(wanted: dict[str, Any]) -> str:
    match wanted["k"]:
        case "t":
            values = brief(array_of(wanted["data"])) if wanted.get("data") else ""
            return f"{wanted['dtype']}{wanted['shape']} {tuple(wanted['names'])} {values}"
        case "seq":
            return f"tuple of {len(wanted['items'])}: " + "; ".join(map(told, wanted["items"][:3]))
    return repr(wanted.get("v"))
