"""The API reference of the site: every public name and every method has an entry, and nothing else has."""

import inspect
import re
from collections import Counter
from importlib import import_module

import nameexpr as ne
from nameexpr import _HOME_OF
from nameexpr.tensors.missing import Answered
from pages import documents

ENTRY = re.compile(r"^\.\. auto(?:function|class|method|property):: nameexpr\.([\w.]+)$", re.MULTILINE)
PAGES = [page for page in documents.DOCUMENTS if page.startswith("docs/api/")]
DTYPE = re.compile(r"^\| `ne\.(\w+)` \|", re.MULTILINE)
ELSEWHERE = {"OPS", "__version__", "load_ipython_extension", "unload_ipython_extension"}
"""Names in the prose, and what IPython calls."""


def entries() -> Counter[str]:
    """Return how often each name is on the pages."""
    return Counter(name for page in PAGES for name in ENTRY.findall(documents.read(page)))


def methods() -> set[str]:
    """Return the public methods of tensors, without the names that only raise an error with a hint."""
    static = {name: inspect.getattr_static(ne.NamedTensor, name) for name in dir(ne.NamedTensor)}
    return {
        f"NamedTensor.{name}"
        for name, method in static.items()
        if not name.startswith("_") and not isinstance(method, Answered)
    }


def drop_in() -> set[str]:
    """Return the functions that have the names of other libraries."""
    modules = [f"compat.{library}" for library in ("numpy", "opt_einsum", "einops")]
    return {f"{module}.{name}" for module in modules for name in import_module(f"nameexpr.{module}").__all__}


def test_every_public_name_has_one_entry() -> None:
    dtypes = set(DTYPE.findall(documents.read("docs/api/dtypes.md")))
    assert set(entries()) == (set(_HOME_OF) - dtypes - ELSEWHERE) | methods() | drop_in()
    assert set(entries().values()) == {1}


def test_no_summary_of_a_property_has_a_colon() -> None:
    """What precedes a colon there is taken for the type of the property."""
    classes = [one for name in ne.__all__ if inspect.isclass(one := getattr(ne, name))]
    properties = {
        f"{one.__name__}.{name}": inspect.getdoc(member) or ""
        for one in classes
        for name, member in inspect.getmembers(one, lambda member: isinstance(member, property))
    }
    assert len(properties) > 80
    found = [name for name, text in properties.items() if ": " in text.split("\n")[0]]
    assert not [name for name in found if "._" not in name]


def test_every_dtype_is_in_the_table() -> None:
    dtypes = set(DTYPE.findall(documents.read("docs/api/dtypes.md")))
    defaults = {"get_default_dtype", "set_default_dtype"}
    assert dtypes == {name for name, home in _HOME_OF.items() if home == "nameexpr.tensors.dtypes"} - defaults
