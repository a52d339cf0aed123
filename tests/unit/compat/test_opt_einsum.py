"""`nameexpr.compat.opt_einsum` against NumPy and opt_einsum's own functions."""

from __future__ import annotations

import pickle

import numpy as np
import opt_einsum
import pytest
from opt_einsum.paths import PathOptimizer

import nameexpr as ne
from nameexpr import NameExprError
from nameexpr.compat import contract_expressions as lower
from nameexpr.compat.opt_einsum import contract, contract_expression, contract_path

RNG = np.random.default_rng(7)
A, B, C = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 4)), RNG.normal(size=(4, 5))
CHAIN = "ij,jk,kl->il"


def test_names_of_searches_leave_the_order_to_this_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("peer_contract", "peer_path", "peer_expression"):
        monkeypatch.setattr(lower, name, lambda *_, **__: pytest.fail("opt_einsum was called"))
    for optimize in (True, False, None, "auto", "greedy", "dp"):
        np.testing.assert_allclose(contract("pq,qr,rs->ps", A, B, C, optimize=optimize), A @ B @ C)
    expression = contract_expression("pq,qr,rs", (2, 3), (3, 4), (4, 5))
    np.testing.assert_allclose(expression(A, B, C), A @ B @ C)


def test_an_unknown_search_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        contract(CHAIN, A, B, C, optimize="optimall")
    with pytest.raises(KeyError):
        contract_expression(CHAIN, (2, 3), (3, 4), (4, 5), optimize="optimall")


def test_paths_and_optimizers_are_followed() -> None:
    class Last(PathOptimizer):  # type: ignore[misc]
        seen = 0

        def __call__(self, *_: object) -> list[tuple[int, ...]]:
            self.seen += 1
            return [(1, 2), (0, 1)]

    last = Last()
    for optimize in ([(0, 1), (0, 1)], [(0, 1, 2)], last, opt_einsum.DynamicProgramming()):
        np.testing.assert_allclose(contract(CHAIN, A, B, C, optimize=optimize), A @ B @ C)
    assert last.seen
    for limit in (1, 1000, "max_input", -1):
        np.testing.assert_allclose(contract(CHAIN, A, B, C, memory_limit=limit), A @ B @ C)


def test_labels_are_any_characters_or_any_objects() -> None:
    np.testing.assert_allclose(contract("αβ,β🙂->α🙂", A, B), A @ B)
    np.testing.assert_allclose(contract(A, ["bond1", "bond2"], B, ["bond2", "x"]), A @ B)
    np.testing.assert_allclose(contract(A, (1000, 7), B, (7, 3), (3, 1000)), (A @ B).T)
    with pytest.raises(TypeError):
        contract(A, [..., 0], [..., ["a"]])


def test_options_of_numpy_are_those_of_numpy() -> None:
    out = np.empty((2, 4))
    assert contract("ij,jk", A, B, out=out) is out
    np.testing.assert_allclose(out, A @ B)
    assert contract("ij,jk", A, B, dtype="f4", casting="same_kind", order="F").flags.f_contiguous
    assert contract("i,i", *[np.array([1, None, "x"], object)[:1]] * 2, backend="object") == 1
    for wrong in ({"bad": 0}, {"dtype": "f4"}, {"out": [0]}):
        with pytest.raises(TypeError):
            contract("ij,jk", A, B, **wrong)


def test_shared_intermediates_are_those_of_opt_einsum() -> None:
    contract("ij,jk,ki", A, B, RNG.normal(size=(4, 2)))
    with opt_einsum.shared_intermediates() as cache:
        contract("ij,jk,ki", A, B, RNG.normal(size=(4, 2)))
    assert cache


def test_the_path_is_that_of_opt_einsum() -> None:
    path, info = contract_path(CHAIN, A, B, C)
    assert path == opt_einsum.contract_path(CHAIN, A, B, C)[0]
    assert info.opt_cost == opt_einsum.contract_path(CHAIN, A, B, C)[1].opt_cost


def test_an_expression_is_for_all_sizes() -> None:
    expression = contract_expression("ij,jk", (2, 3), (3, 4))
    np.testing.assert_allclose(expression(A, B), A @ B)
    np.testing.assert_allclose(expression(B, C), B @ C)
    assert repr(expression) == "<ContractExpression('ij,jk')>"
    out = np.empty((2, 4))
    assert expression(A, B, out=out) is out


def test_constants_are_bound() -> None:
    expression = contract_expression("ij,jk,kl->il", (2, 3), B, C, constants=[1, 2], optimize="greedy")
    assert str(expression).startswith("<ContractExpression('ij,[jk],[kl]->il', constants=[1, 2])>")
    np.testing.assert_allclose(expression(A), A @ B @ C)
    np.testing.assert_allclose(expression(A[:1]), A[:1] @ B @ C)
    assert len(expression.contraction_list) == 2  # of opt_einsum's own expression


def test_an_expression_can_be_pickled() -> None:
    expression = pickle.loads(pickle.dumps(contract_expression("ij,jk", (2, 3), B, constants=[1])))
    np.testing.assert_allclose(expression(A), A @ B)


def test_clearing_the_cache_clears_these_texts() -> None:
    contract("yz,zx->yx", A, B)
    assert len(lower.texts)
    ne.cache_clear()
    assert not len(lower.texts)
    np.testing.assert_allclose(contract("yz,zx->yx", A, B), A @ B)


def test_what_does_not_fit_is_an_error_when_it_is_built_or_called() -> None:
    for shapes, options in (
        (((2, 3), (4, 4)), {}),
        (((2, 3), (3, 4), (4, 4)), {}),
        (((2, 3), (3, 4)), {"optimize": False}),
        (((2, 3), (3, 4)), {"out": A}),
    ):
        with pytest.raises(NameExprError):
            contract_expression("ij,jk", *shapes, **options)  # type: ignore[arg-type]
    expression = contract_expression("ij,jk", (2, 3), (3, 4))
    with pytest.raises(ValueError, match="takes exactly 2 array arguments but received 1"):
        expression(A)
    with pytest.raises(ValueError, match="Internal error while evaluating"):
        expression(A, A)
    with pytest.raises(ValueError, match="Internal error while evaluating"):
        expression(A, B, out=np.empty((4, 2)))
    with pytest.raises(TypeError, match="keyword"):
        expression(A, B, order="F")  # type: ignore[call-arg]
