"""Operands that stay the same: values, what is computed once, memory nobody writes to, plans, pickles."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import nameexpr as ne
from cases.case_files import fault_of
from nameexpr.runtime import entry as entries
from nameexpr.runtime.compiled_expression import BoundExpression
from nameexpr.runtime.compiled_formula import BoundFormula
from oracle.generate.expressions import Case, array_of, same

RNG = np.random.default_rng(0)
X, W, B = RNG.random((5, 3)), RNG.random((3, 4)), RNG.random(4)
LAYER = "batch in, in out -> batch out"
FORMULA = "h = sum[C](x[N C] * exp(w[C K])) + 3 * b[K]; y[K N] = tanh(h)"
CHAIN = "n a, a b, b c, c d -> n d"


def run_code(code: str, free: list[Any], fixed: list[Any]) -> Any:
    names: dict[str, Any] = {}
    exec(code, names)
    return names["compute"](*free, *(names["prepare"](*fixed) if "prepare" in names else fixed))


@pytest.fixture(autouse=True)
def _verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAMEEXPR_VERIFY", "1")


def test_what_is_bound_is_bound_by_value() -> None:
    w, b = W.copy(), ne.tensor(B.copy(), names="K")
    layer, formula = ne.compile(LAYER).bind({1: w}), ne.compile(FORMULA).bind(w=w, b=b)
    w[:] = 0
    b.numpy()[:] = 0
    assert_allclose(layer(X), X @ W)
    assert_allclose(array_of(formula(x=X)), np.tanh(X @ np.exp(W) + 3 * B).T)


def test_read_only_arrays_are_kept_and_views_of_writable_ones_are_copied() -> None:
    w = W.copy()
    view = w[:]
    view.flags.writeable = False
    layer = ne.compile(LAYER).bind({1: view})
    w[:] = 0
    assert_allclose(layer(X), X @ W)
    buffer = bytearray(W.tobytes())
    layer = ne.compile(LAYER).bind({1: np.frombuffer(memoryview(buffer).toreadonly()).reshape(3, 4)})
    buffer[:] = bytes(len(buffer))
    assert_allclose(layer(X), X @ W)
    fixed = W.copy()
    fixed.flags.writeable = False
    assert ne.compile(LAYER).bind({1: fixed})._entry.fixed[1] is fixed


def test_what_is_broadcast_stays_small() -> None:
    wide = np.broadcast_to(np.ones((3, 1)), (3, 10**9))
    bound = ne.compile("a b, c -> c a : max").bind({0: wide})
    assert bound._entry.fixed[0].strides == (8, 0)


def test_results_are_the_caller_s_own() -> None:
    for text, operands in (
        (LAYER, (X, W)),
        ("a b -> b a", (X,)),
        ("a b -> a b 2", (X,)),
        ("a b, -> b a", (X, 2.0)),
    ):
        bound = ne.compile(text).bind(dict(enumerate(operands)))
        expected = ne.einsum(text, *operands)
        first = bound()
        assert_array_equal(first, expected)
        assert first.flags.writeable
        first[...] = 9
        assert_array_equal(bound(), expected)


def test_an_identity_of_an_operand_that_is_not_bound_is_a_view_still() -> None:
    moved = ne.compile("y[C N] = x[N C]; z = exp(b[K])", outputs=("y", "z")).bind(b=B)
    y, z = moved(x=X)
    assert np.shares_memory(y, X)
    z[:] = 0
    assert_allclose(moved(x=X)[1], np.exp(B))


def test_what_is_bound_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    run = entries.run_values
    monkeypatch.setattr(entries, "run_values", lambda *given: runs.append(1) or run(*given))
    formula = ne.compile(FORMULA).bind(w=W, b=B)
    for count in (5, 5, 7, 2, 5):
        x = RNG.random((count, 3))
        assert_allclose(formula(x=x), np.tanh(x @ np.exp(W) + 3 * B).T)
    assert formula(x=X.astype("float32")).dtype == np.float64
    assert runs == [1]
    chain = ne.compile(CHAIN).bind({1: np.ones((4, 5)), 2: np.ones((5, 6)), 3: np.ones((6, 2))})
    for count in (1, 3, 1):
        assert_allclose(chain(np.ones((count, 4))), np.full((count, 2), 120.0))
    assert runs == [1, 1]


def test_plans_count_what_is_done_on_each_call() -> None:
    shapes = [(1, 64), (64, 300), (300, 200), (200, 50)]
    arrays = [RNG.random(shape) for shape in shapes]
    chain = ne.compile(CHAIN)
    bound = chain.bind(dict(enumerate(arrays[1:], 1)))
    assert chain.plan(*shapes).flops == 178_400
    assert bound.plan((1, 64)).flops == bound.plan(arrays[0]).flops == 6_400
    assert bound.plan((1, 64)).text == CHAIN
    assert bound.plan((1, 64)).operand_bytes == (64 + 64 * 50) * 8
    assert_allclose(bound(arrays[0]), np.linalg.multi_dot(arrays))
    assert chain.bind(dict(enumerate(arrays))).plan().flops == 0
    formula = ne.compile(FORMULA)
    assert formula.bind(w=W, b=B).plan(x=X).flops < formula.plan(x=X, w=W, b=B).flops


def test_products_too_large_to_hold_are_left_on_the_way() -> None:
    chain = ne.compile("n a, a b, b c -> n c").bind({1: RNG.random((1000, 5)), 2: RNG.random((5, 1000))})
    x = RNG.random((1, 1000))
    assert chain.plan(x).flops == 20_000
    assert chain.plan(x).operand_bytes == 8 * 11_000


def test_an_order_that_is_asked_for_is_kept() -> None:
    shapes = [(1, 64), (64, 300), (300, 50)]
    bound = ne.compile("n a, a b, b c -> n c", optimize=False).bind(
        dict(enumerate(map(np.ones, shapes[1:]), 1))
    )
    assert bound.plan((1, 64)).flops == 2 * 64 * 300 + 2 * 300 * 50


def test_other_options_hold_for_what_is_bound() -> None:
    turned = ne.compile("a b, b c -> c a", order="C", tune=True).bind({0: X})
    assert turned(W).flags.c_contiguous
    assert_allclose(turned(W), (X @ W).T)
    assert turned.bind({0: W})().flags.c_contiguous
    assert ne.compile("a b -> b a", order="C").bind({0: X})().flags.c_contiguous
    assert ne.compile(LAYER, dtype="float32").bind({1: W})(X).dtype == np.float32
    with pytest.raises(ne.LimitError):
        ne.compile("y = x[i] * w[j]", memory_limit=100).bind(w=W[0])(x=np.ones(900))


def test_code_runs_when_it_is_pasted() -> None:
    layer = ne.compile(CHAIN).bind({2: RNG.random((5, 6)), 1: RNG.random((4, 5)), 3: RNG.random((6, 2))})
    with pytest.raises(ne.OptionError):
        _ = layer.code
    x = RNG.random((2, 4))
    expected = layer(x)
    assert_allclose(run_code(layer.code, [x], list(layer._entry.fixed.values())), expected)
    formula = ne.compile(FORMULA).bind(w=W, b=B)
    with pytest.raises(ne.OptionError):
        _ = formula.code
    expected = formula(x=X)
    assert_allclose(run_code(formula.code, [X], [W, B]), expected)
    assert formula.plan(x=X).code == formula.code


def test_signatures_and_names_say_what_is_left() -> None:
    layer = ne.compile(LAYER).bind({-1: W})
    assert isinstance(layer, BoundExpression)
    assert layer.text == LAYER == str(layer.signature)
    assert layer.signature.inputs == ("batch in",)
    assert repr(layer) == f"<{LAYER!r} with operands [1] bound>"
    formula = ne.compile(FORMULA).bind(w=W)
    assert isinstance(formula, BoundFormula)
    assert formula.signature.inputs == ("x[N C]", "b[K]")
    assert formula.bind(b=B).signature.inputs == ("x[N C]",)
    assert formula.bind(b=B, x=X).signature.inputs == ()
    assert repr(formula.bind(b=B)) == f"<{FORMULA!r} with w, b bound>"


def test_names_of_bound_tensors_are_those_of_the_result() -> None:
    layer = ne.compile(LAYER).bind({1: ne.tensor(W, names="in out")})
    assert layer(X).names == layer.plan(X).result_names == ("batch", "out")
    assert layer(ne.tensor(X, names="batch in")).names == ("batch", "out")
    formula = ne.compile(FORMULA).bind(w=ne.tensor(W, names="C K"))
    assert formula(x=X, b=B).names == formula.plan(x=X, b=B).result_names == ("K", "N")
    with pytest.raises(ne.DimNameError):
        ne.compile(LAYER).bind({1: ne.tensor(W, names="out in")})
    with pytest.raises(ne.DimNameError):
        ne.compile(FORMULA).bind(w=ne.tensor(W, names="K C"))


def test_more_is_bound_later_by_the_positions_that_are_left() -> None:
    a, b, c = np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 5))
    text = "i j, j k, k l -> i l"
    last = ne.compile(text).bind({1: b}).bind({1: c})
    assert last.signature.inputs == ("i j",)
    assert_allclose(last(a), a @ b @ c)
    assert_allclose(last.bind({0: a})(), a @ b @ c)


def test_numbers_that_are_bound_stay_weak() -> None:
    scale = ne.compile("a, -> a").bind({1: 2})
    assert scale(np.ones(3, "float32")).dtype == np.float32
    assert scale(np.ones(3, "int8")).dtype == np.int8
    formula = ne.compile("y = x[N] * (c + 1)").bind(c=2)
    assert formula(x=np.ones(3, "float32")).dtype == np.float32
    assert_array_equal(formula(x=np.ones(3, "int8")), np.full(3, 3, "int8"))
    assert "formulas.fold" not in formula.code.partition("def compute")[2]


def test_out_is_filled_and_returned() -> None:
    out = np.zeros((5, 4))
    assert ne.compile(LAYER).bind({1: W})(X, out=out) is out
    assert_allclose(out, X @ W)
    out[:] = 0
    assert ne.compile(LAYER).bind({1: W, 0: X})(out=out) is out
    assert_allclose(out, X @ W)
    other = np.zeros((4, 5))
    assert ne.compile(FORMULA).bind(w=W, b=B)(x=X, out=other) is other
    with pytest.raises(ne.OptionError):
        ne.compile("y = x[N]; z = -y", outputs=("y", "z")).bind(x=B)(out=out)


def test_bound_expressions_pickle_with_their_arrays() -> None:
    for bound, call in (
        (ne.compile(LAYER).bind({1: W}), lambda f: f(X)),
        (ne.compile(LAYER, dtype="float32").bind({1: ne.tensor(W, names="in out")}), lambda f: f(X)),
        (ne.compile(FORMULA).bind(w=W, b=B), lambda f: f(x=X)),
        (ne.compile(FORMULA, outputs=("y", "h")).bind(w=W, b=B), lambda f: f(x=X)[1]),
    ):
        expected = call(bound)
        for again in (pickle.loads(pickle.dumps(bound)), copy.deepcopy(bound), copy.copy(bound)):
            assert_array_equal(array_of(call(again)), array_of(expected))
            assert again.signature == bound.signature


def test_a_reducer_of_the_caller_is_called_on_each_call() -> None:
    seen: list[int] = []

    def total(x: Any, axis: int) -> Any:
        seen.append(1)
        return x.sum(axis)

    bound = ne.compile("a b -> a", reduce=total).bind({0: X})
    assert_allclose(bound(), X.sum(1))
    assert_allclose(bound(), X.sum(1))
    assert seen == [1, 1]


def test_a_batch_of_another_size_needs_no_new_function() -> None:
    layer = ne.compile(LAYER).bind({1: W})
    layer(X)
    function = layer._entry.call
    assert layer(RNG.random((9, 3))).shape == (9, 4)
    assert layer._entry.call is function


def test_faults_while_it_is_prepared_are_told_as_those_of_a_call() -> None:
    bad = ne.compile("y = x[N] * k[N] ** -2").bind(k=np.arange(3))
    with pytest.raises(ne.OperandError, match="NE526"):
        bad(x=np.ones(3))
    objects = ne.compile("a, a -> ").bind({0: np.array([None, None]), 1: np.array([1, 2])})
    with pytest.raises(ne.OperandError, match="NE505"):
        objects()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            'ne.compile("a b, b -> a").bind({2: ones(3)})',
            "OptionError[NE624]: bind: there is no operand 2\n  a b, b -> a\n"
            "  help: the operands are 0 'a b', 1 'b'",
        ),
        (
            'ne.compile("a b, b -> a").bind({1: ones(3)}).bind({-2: ones(3)})',
            "OptionError[NE624]: bind: there is no operand -2\n  a b, b -> a\n"
            "  help: the only operand that is left is 0 'a b'",
        ),
        (
            'ne.compile("a b, b -> a").bind({"b": ones(3)})',
            "OptionError[NE624]: bind: 'b' is not a position of an operand\n  a b, b -> a\n"
            "  help: 1 is 'b'; the operands are 0 'a b', 1 'b'",
        ),
        (
            'ne.compile("a b, b -> a").bind([ones(3)])',
            "OptionError[NE624]: bind takes a mapping from positions to operands, and not a list\n"
            "  a b, b -> a\n  help: such as bind({0: ...}); the operands are 0 'a b', 1 'b'",
        ),
        (
            'ne.compile("a b, b -> a").bind({1: ones(3), -1: ones(3)})',
            "OptionError[NE624]: bind: operand 1 is given twice\n  a b, b -> a\n  help: give it once",
        ),
        (
            'ne.compile("-> a").bind({0: ones(3)})',
            "OptionError[NE624]: bind: the operands of this text are known only when it is called\n  -> a\n"
            "  help: write their terms left of the arrow",
        ),
        (
            'ne.compile("y = sum[C](x[N C] * weights[C])").bind(wieghts=ones(3))',
            "OptionError[NE624]: bind: the formula has no operand 'wieghts'\n"
            "  y = sum[C](x[N C] * weights[C])\n  help: did you mean 'weights'?",
        ),
        (
            'ne.compile("y = x[N] * b[N]").bind(b=ones(3))(x=ones(3), b=ones(3))',
            "OptionError[NE624]: the operand 'b' is bound\n  y = x[N] * b[N]\n"
            "  help: leave it out, or bind another one to the formula as it was compiled",
        ),
        (
            'ne.compile("a b, b c, c d -> a d").bind({1: ones(2, 3), 2: ones(4, 5)})',
            "SizeError[NE304]: 'c' is 3 in operand 1 and 4 in operand 2\n  a b, b c, c d -> a d\n"
            "         ^  ^\n         3  4\n  operand 1  (2, 3)   b=2 c=3\n  operand 2  (4, 5)   c=4 d=5\n"
            "  help: if these are different dims, rename one; to broadcast over a dim of size 1, write 1",
        ),
        (
            'ne.compile("y = x[N C] * w[C] + b[C]").bind(w=ones(3), b=ones(4))',
            "SizeError[NE304]: 'C' is 3 in w and 4 in b\n  y = x[N C] * w[C] + b[C]\n"
            "                 ^      ^\n                 3      4\n  w  (3,)   C=3\n  b  (4,)   C=4\n"
            "  help: if these are different dims, rename one; to broadcast over a dim of size 1, write 1",
        ),
        (
            'ne.compile("a b, b -> a").bind({1: ones(3)})(ones(2, 3), ones(3))',
            "OperandError[NE502]: the text takes 1 operand not counting bound ones, "
            "but 2 operands were given\n"
            "  a b, b -> a\n  ^^^\n  help: give one array for 'a b'",
        ),
    ],
)
def test_the_error_is_worded_as_written(source: str, expected: str) -> None:
    assert str(fault_of(source)) == expected


def test_nothing_may_be_bound_but_none_is_no_mapping() -> None:
    assert ne.compile(LAYER).bind()(X, W).shape == (5, 4)
    with pytest.raises(ne.OptionError, match="not a NoneType"):
        ne.compile(LAYER).bind(None)


def test_shapes_that_others_could_mend_are_not_refused_early() -> None:
    split = ne.compile("n (h d), h d -> n").bind({0: np.ones((2, 12))})
    assert_allclose(split(np.ones((3, 4))), [12, 12])
    heads = ne.compile("y[h] = sum[n d](x[n (h d)] * w[h d])").bind(x=np.ones((2, 12)))
    assert_allclose(heads(w=np.ones((3, 4))), [8, 8, 8])


def test_a_case_of_no_operands_left_is_noticed_when_it_is_wrong() -> None:
    case = Case(LAYER, (X, W))
    assert same(ne.compile(LAYER).bind({1: W})(X), X @ W, case)
    assert not same(ne.compile(LAYER).bind({1: W + 1e-3})(X), X @ W, case)
