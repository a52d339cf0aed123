"""What is offered at the cursor: by hand, and compared with the grammar for random texts."""

from __future__ import annotations

import pytest

from nameexpr.ops import ALONG, POINTWISE, REDUCTIONS
from nameexpr.session.complete import Completion, Known, complete
from nameexpr.session.complete.choices import MOST

SESSION = Known(
    {
        "x": (("N", "C"), (2, 3)),
        "w": (("C", None), (3, 4)),
        "photos": (("N", "H", "W", "C"), (4, 96, 128, 3)),
        "s": ((), ()),
        "_": (("N",), (2,)),
    },
    {":names": "the tensors", ":plan": "what would be done", ":undo": "takes back", ":help": "this"},
    {"optimize": ("greedy", "optimal"), "colour": ("on", "off")},
    {"NE101": "a fat arrow", "NE304": "two sizes"},
    {"plan": "what would be done", "softmax": "exponentials over their sum"},
)


def offered(text: str, known: Known = SESSION) -> list[str]:
    """Return the texts that are offered at the mark `^`, or at the end."""
    before, _, after = text.partition("^")
    found = complete(before + after, len(before), known)
    assert all(one.start <= len(before) for one in found)
    return [one.text for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x[", ["N", "C"]),
        ("x[N ", ["C"]),
        ("x[C ", ["N"]),
        ("x[batch=", ["N", "C", "H", "W"]),
        ("x[N C ", ["]"]),
        ("photos[N H", []),
        ("photos[N H ", ["W", "C"]),
        ("photos[N C ", ["W", "H"]),
        ("photos[... ", ["N", "H", "W", "C"]),
        ("photos[N (", ["H", "W", "C"]),
        ("size[C ", ["]"]),
        ("y = s ** 2; g = grad(y, ", ["x", "w", "photos", "s", "_", "y"]),
        ("y = s ** 2; g = grad(sqrt(y), w[", ["C", "N", "H", "W"]),
        ("sum[^](x[N k])", ["N", "k", "C", "H", "W"]),
        ("softmax[C", []),
        ("y[N K] = x[N K]; y[", ["N", "K"]),
        ("y[N K] = x[N K]\ny[N ", ["K"]),
        ("sqrt(x[N C]", [")"]),
        ("sqrt(x[N C] ", [")"]),
        ("N C", []),
        ("N C ", [" -> ".lstrip(), ", "]),
        ("N ", ["C", "H", "W"]),
        ("N H ", ["W", "C"]),
        ("N C, C -> ", ["N", "C"]),
        ("N C, C -> C ", ["N"]),
        ("N k, k -> N ", ["k"]),
        ("batch... k -> ", ["k"]),
        ("N a=k -> ", ["N", "k"]),
        ("N C -> N : a", ["any", "all", "argmax", "argmin"]),
        ("N C, C -> N | ", ["x", "w", "photos", "s", "_"]),
        ("N H W C, N C -> N | ", ["photos", "x", "w", "s", "_"]),
        ("N H W C, N C -> N | photos, ", ["x", "w", "photos", "s", "_"]),
        ("N C -> N | x, ", []),
        ("N C -> N | x ", []),
        ("N (h w) -> N h r | x, ", ["h=", "w=", "r="]),
        ("N (h w) -> N h : max | x, h=2, ", ["w="]),
        ("_[", ["N"]),
        ("y[_", []),
        ("y = ra", ["randn(", "rand("]),
        ("y = randn(", ["N=", "C=", "H=", "W="]),
        ("y = randn(N=2, ", ["C=", "H=", "W="]),
        ("y = randn(N=", ["2"]),
        ("y = randn(2", []),
        (":", [":names", ":plan", ":undo", ":help"]),
        (":N", [":names"]),
        (":nmaes", [":names"]),
        (":help pl", ["plan"]),
        (":help sof", ["softmax"]),
        (":help NE1", ["NE101"]),
        (":help :p", [":plan"]),
        (":undo ", []),
        (":plan x[", ["N", "C"]),
        (":plan N C -> N : mea", ["mean"]),
        (":gradient ", ["x", "w", "photos", "s", "_"]),
        (":gradient w, ph", ["photos"]),
        (":g w", ["where("]),
        (":gradient w: y = sum[C](x[", ["N", "C"]),
        (":gradient y = sum[C](x[", ["N", "C"]),
        (":draw m", ["memory", "mean[", "max[", "min[", "median[", "maximum(", "minimum("]),
        (":set ", ["optimize", "colour"]),
        (":set optimize g", ["greedy"]),
        (":set optimize=g", ["greedy"]),
        (":set optimize greedy ", []),
        (": pl", [":plan"]),
        (":draw tre", ["tree"]),
        (":draw tree x[", ["N", "C"]),
        (":draw tree a.svg x[", ["N", "C"]),
        (":explain NE304 ", []),
        (":explain x", []),
        (":explain ne", ["NE101", "NE304"]),
        ("!pho", ["photos"]),
        ("z[N C] = !pho", ["photos"]),
        ("! n", ["np", "ne"]),
        ("!x.sh", []),
        ("soft", ["softmax[", "softplus("]),
        ("soft^[C](x)", ["softmax", "softplus"]),
        ("SOFTM", ["softmax["]),
        ("sofmtax", ["softmax["]),
        ("y = phtos", ["photos"]),
        ("3x", []),
        ("x.", []),
        ("x.ph", []),
        ("x[k...c", []),
        ("photos[batch=k ", ["H", "N", "W", "C"]),
        ("N", []),
        ("sqrt(x ", [")"]),
        (":draw tree memo", []),
        ("x # so", []),
        ("x ) ph", []),
        ("x = = ph", []),
        ("x[N C@", ["N", "x[", "w[", "photos[", "s[", "_["]),
        ("x[N C@p", ["photos["]),
        ("x[N C@(c + si", ["sign(", "signbit(", "sin(", "sinh(", "sigmoid(", "silu(", "size["]),
        ("x[N C@(size[", ["N", "C", "H", "W"]),
        ("x[N@w[", ["C", "N", "H", "W"]),
        ("x[C@photos[N H W C] ", ["N"]),
        ("x[C@photos[N H W C] N ", ["]"]),
        ("x[(1 + N) ", ["C"]),
        ("h[(1 + N) C] = 0, h[_@N ", ["C"]),
        ("hid[(1 + N) C] = 0, hi", ["hid"]),
        ("y[N a] = 0; y[N@(n+1) ", ["a"]),
        ("N C@(c + dc), d", ["dc"]),
        ("N C@(c + dc), dc K -> N ", ["c", "dc", "K"]),
        ("y = x +) ; z = ph", ["photos"]),
    ],
)
def test_what_is_offered(text: str, expected: list[str]) -> None:
    assert offered(text) == expected


def test_an_empty_line_offers_tensors_and_commands() -> None:
    assert offered("  ") == ["x", "w", "photos", "s", "_", ":names", ":plan", ":undo", ":help"]


def test_an_operand_is_a_tensor_before_it_is_a_function() -> None:
    found = offered("y[N] = x[N C] * ")
    assert found[:5] == ["x", "w", "photos", "s", "_"]
    assert {f"{name}[" for name in (*REDUCTIONS, *ALONG)} | {f"{name}(" for name in POINTWISE} <= set(found)


def test_a_dim_without_a_name_offers_labels_of_its_size_first() -> None:
    known = Known({"a": ((None, "C"), (7, 3)), "b": (("B", "K"), (2, 7))})
    assert offered("a[", known) == ["K", "C", "B"]
    assert offered("b[B K] * a[K ", known) == ["C"]


def test_a_completion_tells_where_it_stands_and_what_it_is() -> None:
    assert complete("a + ph", 6, SESSION)[0] == Completion(
        "photos", 4, "photos", "tensor (N=4, H=96, W=128, C=3)"
    )
    assert complete("x[", 2, SESSION)[1] == Completion("C", 2, "C", "dim of x, 3")
    assert complete("y = sqr", 7, SESSION)[0] == Completion("sqrt(", 4, "sqrt(", "the square root")


def test_names_that_the_grammar_cannot_read_are_never_offered() -> None:
    bad = ("a\x1b[2J", "a b", "", "a\u202e", "a\ud800", "3a", "a]", "<b>")
    known = Known({name: ((name, "ok"), (1, 2)) for name in (*bad, "good")})
    for text in ("", "y = ", "good[", "N, ", "a", "N -> N | ", "!", "y = rand(", ":plan "):
        assert set(offered(text, known)) & {*bad, *(f"{name}=" for name in bad)} == set()
    assert offered("good[", known) == ["good", "ok"]


def test_what_is_shown_holds_no_control_characters() -> None:
    known = Known(
        commands={":\x1b[2J": "\x1b[31m"}, codes={"NE\u202e": "\x1b"}, options={"\x07": ("\n\x00",)}
    )
    for text in (":", ":explain ", ":set ", ":set \x07 "):
        for one in complete(text, len(text), known):
            assert (one.shown + one.about).replace("\n", "").isprintable()


def test_many_names_are_offered_in_part() -> None:
    known = Known({f"t{number}": (("N",), (2,)) for number in range(1000)})
    assert len(offered("y = t", known)) == MOST
