"""Keywords: NumPy's words for ours, and the errors for those that a method or function does not have."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import nameexpr as ne
from nameexpr.tensors.keywords import SYNONYMS
from nameexpr.tensors.ops import OPS

ARRAY = np.array([[1.0, 5.0, 3.0], [4.0, 2.0, 7.0]])
X = ne.from_numpy(ARRAY, names="N C")
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "chunk": (2,),
    "gather": ([[0, 1, 0]] * 2,),
    "index_fill": ([0], 7),
    "index_select": ([0],),
    "kthvalue": (1,),
    "nanquantile": (0.5,),
    "narrow": (0, 1),
    "quantile": (0.5,),
    "roll": (1,),
    "select": (1,),
    "split": (2,),
    "topk": (2,),
    "unflatten": ([("a", 1), ("b", 3)],),
    "unsqueeze": (),
}
"""What else a method needs, after its dim."""


def along_a_dim() -> list[str]:
    """Return all methods that have a parameter `dim` or `dims`, alone or with keepdim."""
    methods = {name: getattr(ne.NamedTensor, name, None) for name in OPS}
    return sorted(
        name
        for name, method in methods.items()
        if inspect.isfunction(method) and {"dim", "dims"} & set(inspect.signature(method).parameters)
    )


def options(name: str, dim: str) -> dict[str, Any]:
    parameters = [
        each for each in inspect.signature(getattr(ne.NamedTensor, name)).parameters if each != "self"
    ]
    own = [each for each in parameters if each not in ("dim", "dims")]
    return {dim: 1 if name == "unsqueeze" else "C", **dict(zip(own, ARGUMENTS.get(name, ()), strict=False))}


def plain(result: Any) -> Any:
    if isinstance(result, ne.NamedTensor):
        return result.names, result.tolist()
    return [plain(part) for part in result] if isinstance(result, tuple) else result


LISTS_DIMS = ("flatten", "flip", "permute", "tensordot")
"""Methods whose dims are lists of their own."""


@pytest.mark.parametrize("name", [name for name in along_a_dim() if name not in LISTS_DIMS])
def test_axis_is_dim_in_every_method_and_function(name: str) -> None:
    x = X.clone() if name.endswith("_") else X
    if name in ("cumsum_", "cumprod_", "index_fill_"):
        wanted = plain(getattr(x.clone(), name)(**options(name.rstrip("_"), "dim")))
        assert plain(getattr(x, name)(**options(name.rstrip("_"), "axis"))) == wanted
        return
    keyword = "dims" if "dims" in inspect.signature(getattr(ne.NamedTensor, name)).parameters else "dim"
    wanted = plain(getattr(X, name)(**options(name, keyword)))
    assert plain(getattr(X, name)(**options(name, "axis"))) == wanted
    if hasattr(ne, name):
        assert plain(getattr(ne, name)(X, **options(name, "axis"))) == wanted


def test_keepdims_is_keepdim_in_every_method_and_function() -> None:
    names = [name for name in along_a_dim() if "keepdim" in inspect.signature(getattr(X, name)).parameters]
    assert len(names) >= 19
    for name in names:
        given = {**options(name, "dim"), "keepdim": True}
        spelt = {**options(name, "axis"), "keepdims": True}
        assert plain(getattr(X, name)(**given)) == plain(getattr(X, name)(**spelt)), name
        assert plain(getattr(ne, name)(X, **given)) == plain(getattr(ne, name)(X, **spelt)), name


def test_functions_without_a_method_take_axis() -> None:
    assert ne.cat([X, X], axis="C").shape == (2, 6) and ne.stack([X, X], axis=1).shape == (2, 2, 3)
    assert plain(ne.std_mean(X, axis="C", keepdims=True, ddof=0)[0]) == plain(
        X.std("C", keepdim=True, correction=0)
    )


def test_the_words_of_numpy_mean_what_they_mean_there() -> None:
    np.testing.assert_allclose(X.std(axis="C", ddof=0).numpy(), ARRAY.std(axis=1))
    np.testing.assert_allclose(
        X.var(axis=0, ddof=1, keepdims=True).numpy(), ARRAY.var(0, ddof=1, keepdims=True)
    )
    assert X.flip(axis="C").tolist() == np.flip(ARRAY, axis=1).tolist()
    assert X.flip(axis=["N", "C"]).tolist() == np.flip(ARRAY).tolist()
    assert X.permute(axes=["C", "N"]).tolist() == ARRAY.T.tolist()
    assert X.diagonal(axis1="C", axis2="N").tolist() == np.diagonal(ARRAY, axis1=1, axis2=0).tolist()
    assert X.roll(1, axis="C").tolist() == np.roll(ARRAY, 1, axis=1).tolist()


@pytest.mark.parametrize("name", [name for name in along_a_dim() if name not in LISTS_DIMS])
def test_a_dim_and_an_axis_are_one_too_many(name: str) -> None:
    given = {**options(name.rstrip("_"), "axis"), "dim": "C"}
    with pytest.raises(ne.NameExprError, match="NE673"):
        getattr(X, name)(**given)


def test_every_synonym_means_a_parameter_of_some_method() -> None:
    known = {
        name
        for each in OPS
        if (method := getattr(ne.NamedTensor, each, None)) and callable(method)
        for name in inspect.signature(method).parameters
    }
    assert all(set(names) & known for names in SYNONYMS.values())


def methods() -> list[str]:
    return [name for name in dir(ne.NamedTensor) if name[0] != "_" and callable(getattr(X, name, None))]


TAKES_ANY = ("isel", "rename", "rename_")
"""Methods whose keywords are names of dims."""


@pytest.mark.parametrize("name", methods())
def test_a_wrong_keyword_is_an_error_that_names_the_method(name: str) -> None:
    arguments = (X,) if name in BINARY else ()
    with pytest.raises(ne.NameExprError) as caught:
        getattr(X, name)(*arguments, nonsense=1)
    assert "nonsense" in str(caught.value)
    if name not in TAKES_ANY:
        real = getattr(X, name).__name__  # an alias is called what it is an alias of
        assert caught.value.code == "NE681"
        assert str(caught.value).partition("]: ")[2].startswith((f"{name} ", f"{real} "))


BINARY = {name for name in OPS if OPS[name].rule == "unifies"}


FULL = {"full": (2, 1.0), "full_like": (X, 1.0)}


def functions() -> list[str]:
    return [
        name
        for name in dir(ne)
        if inspect.isfunction(function := getattr(ne, name)) and ".tensors." in function.__module__
    ]


@pytest.mark.parametrize("name", [name for name in functions() if name != "save"])
def test_a_wrong_keyword_of_a_function_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(ne.NameExprError, match="nonsense") as caught:
        getattr(ne, name)(*FULL.get(name, (X, X) if name in BINARY else (X,)), nonsense=1)
    assert caught.value.code == "NE681"


def test_a_near_keyword_is_proposed() -> None:
    for call, near in (
        (lambda: X.sum("C", kepdim=True), "keepdim="),  # type: ignore[call-arg]
        (lambda: X.clamp_(mni=1), "min="),
        (lambda: ne.tensor([1], dtypes=int), "dtype="),  # type: ignore[call-arg]
        (lambda: ne.cat([X], dom=0), "dim="),  # type: ignore[call-arg]
    ):
        with pytest.raises(ne.NameExprError, match=f"did you mean '{near}'"):
            call()


def test_a_missing_argument_is_not_taken_for_a_wrong_keyword() -> None:
    with pytest.raises(TypeError, match="needs the argument 'index'"):
        X.index_select("C")  # type: ignore[call-arg]
