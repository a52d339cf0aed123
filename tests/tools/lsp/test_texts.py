"""Which text is at a place, what is shown of it, and what may come next."""

from __future__ import annotations

import random

import pytest

from nameexpr.lint.source import Source
from nameexpr.lsp.completion import complete_at
from nameexpr.lsp.hover import hover
from nameexpr.lsp.problems import fixes
from nameexpr.lsp.programs import text_at
from tools.lint.written import PIECE, written

IMPORT = "import nameexpr as ne\n"


def split(marked: str, mark: str = "¦") -> tuple[str, int]:
    """Return a file with the import at its top, and the offset of the mark."""
    source = IMPORT + marked
    return source.replace(mark, ""), source.index(mark)


def shown(marked: str) -> list[str]:
    source, offset = split(marked)
    found = hover(source, offset, "x.py")
    return found.markdown.splitlines() if found else []


def range_of(marked: str) -> str:
    source, offset = split(marked)
    found = hover(source, offset, "x.py")
    assert found is not None
    return source[found.start : found.end]


def offered(marked: str) -> list[str]:
    source, offset = split(marked)
    return [one.text for one in complete_at(source, offset, "x.py")]


def completed(marked: str) -> str:
    """Return the file after the first completion was chosen, without its import."""
    source, offset = split(marked)
    first = complete_at(source, offset, "x.py")[0]
    return (source[: first.start] + first.text + source[first.end :]).removeprefix(IMPORT)


def test_a_place_in_a_file_is_a_place_in_its_text_however_it_is_written() -> None:
    """Prefixes, escapes, concatenations, line breaks: the linter's random files, which know their places."""
    rng = random.Random(7)
    for _ in range(300):
        file = written(rng)
        source = Source(file.file)
        (first, column), (last, behind) = file.start, file.end
        start, end = source.starts[first - 1] + column - 1, source.starts[last - 1] + behind - 1
        found = text_at(source.text, start, "x.py")
        assert found is not None, file.file
        assert found.text[found.place :].startswith(PIECE)
        assert found.written(found.place, found.place + len(PIECE)) == (start, end)


@pytest.mark.parametrize(
    "marked",
    [
        "¦ne.einsum('a b', x)",
        "ne.einsum(¦'a b', x)",
        "ne.einsum('a b'¦, x)",
        "f('a¦ b')",
        "ne.einsum('a' ¦' b')",
    ],
)
def test_there_is_no_text_outside_of_texts(marked: str) -> None:
    source, offset = split(marked)
    assert text_at(source, offset, "x.py") is None


@pytest.mark.parametrize(
    ("marked", "text"),
    [
        ("x = (\nif ne.einsum('a b -> ¦", "a b -> "),
        ("x = (\nif ne.einsum('a b -> ¦ b', y)\n", "a b ->  b"),
        ('x = (\n\n# it\'s\nne.evaluate(r"""\n  a = x[i]\n  b¦', "\n  a = x[i]\n  b"),
        ("def f(:\n  return [g(1), ne.compile('a 𝒳 ¦, b", "a 𝒳 "),
    ],
)
def test_the_text_at_the_cursor_is_found_in_a_file_that_is_half_typed(marked: str, text: str) -> None:
    source, offset = split(marked)
    found = text_at(source, offset, "x.py")
    assert found is not None
    assert found.text == text
    assert found.written(found.place, found.place)[0] == offset


def test_nothing_typed_raises() -> None:
    """Every beginning of a file, and every file with a piece cut out, at any place."""
    rng = random.Random(5)
    whole = (
        IMPORT + "T = 'batch chan, chan -> batch : sum'\nne.einsum(T, x, y)\n"
        'def f(x):\n    return ne.evaluate("""y[N] = sum[C](x[N C] * pi)\n  z = softmax[N](y)""", x=x)\n'
    )
    for _ in range(400):
        start, end = sorted(rng.choices(range(len(whole)), k=2))
        source = whole[:start] + rng.choice(["", "'", '"', "(", "[", "\\", "\n", "𝒳"]) + whole[end:]
        offset = rng.randrange(len(source) + 1)
        hover(source, offset, "x.py")
        complete_at(source, offset, "x.py")


def test_a_label_tells_where_it_is_and_its_size() -> None:
    assert shown("ne.einsum('N (h ¦d=4), d K -> N h K', x, w)") == [
        "`d`: a label, of size 4",
        "",
        "- operand 0, `N (h d=4)`: dim 1, part of `(h d=4)`",
        "- operand 1, `d K`: dim 0",
        "- not in the result: summed over",
        "",
        "result: `N h K`",
    ]
    assert shown("ne.einsum('¦N C -> C', x, N=3, reduce='max')")[::4] == [
        "`N`: a label, of size 3",
        "",
    ]


def test_a_label_of_a_formula_tells_where_it_is() -> None:
    lines = shown("ne.evaluate('y[N] = sum[¦C](x[N C=3] * w[C])', x=x, w=w)")
    assert lines == [
        "`C`: a label, of size 3",
        "",
        "- `sum[C]` reduces over it",
        "- `x[N C=3]`: dim 1",
        "- `w[C]`: dim 0",
        "",
        "result: `N`",
    ]


@pytest.mark.parametrize(
    ("marked", "first"),
    [
        ("ne.einsum('N C ->¦ N : max', x)", "an expression with 1 operand"),
        ("ne.einsum('N C -> N : ¦max', x)", "`: max`, a reducer: the largest, nan if there is one"),
        (
            "ne.einsum('a... ¦... -> a...', x)",
            "`...`: any number of dims, aligned from the right and broadcast",
        ),
        ("ne.einsum('N¦ C -> C N', x)", "operand 0: 2 dims"),
        ("ne.evaluate('¦softmax[C](x[C])', x=x)", "`softmax[C](x)`: exponentials over their sum along axes"),
        ("ne.evaluate('a = x[i]; ¦a + 1', x=x)", "`a = x[i]`: a statement above"),
        ("ne.evaluate('a = x[i]; a ¦+ 1', x=x)", "`x + y`: the sum"),
        ("ne.evaluate('¦x[i] * x[j]', x=x)", "`x`: an operand, seen as `x[i]`, `x[j]`"),
        ("ne.evaluate('2 * ¦pi', x=x)", "`pi`: 3.141592653589793"),
        ("ne.evaluate('¦y[i] = x[i]', x=x)", "`y[i] = x[i]`"),
        ("ne.evaluate('¦sqrt(x[', x=x)", "`sqrt(x)`: the square root"),
    ],
)
def test_what_is_under_the_pointer_is_named_first(marked: str, first: str) -> None:
    assert shown(marked)[0] == first


def test_a_plan_is_shown_where_all_sizes_are_known() -> None:
    lines = shown("ne.einsum('¦a=2 b, b c=4 -> a c', x, y, b=3)")
    assert lines[-1] == "```" and any("a0.dot(a1)" in line for line in lines)
    assert "```text" in shown("ne.evaluate('sum[C](¦x[N=2 C=3])', x=x)")
    assert "```text" not in shown("ne.einsum('¦a=2 b, b c -> a c', x, y)")


def test_the_word_is_what_the_answer_is_about() -> None:
    assert range_of(r"ne.einsum('batch ch¦\x61n -> batch : sum', x)") == r"ch\x61n"
    assert range_of("ne.einsum('batch ch' 'a¦n -> batch : sum', x)") == "ch' 'an"


@pytest.mark.parametrize(
    ("marked", "words"),
    [
        ("ne.einsum('batch chan -> ¦', x)", ["batch", "chan"]),
        ("ne.einsum('batch chan -> batch : me¦', x)", ["mean", "median"]),
        ("ne.einsum('N C -> N : max', x, optimize='opt¦')", ["optimal"]),
        ("ne.einsum('N C -> N', x, reduce='log¦')", ["logsumexp"]),
        ("ne.evaluate('softm¦', x=x)", ["softmax["]),
        ("ne.evaluate('y[N] = wei¦', weight=w, dtype='float32')", ["weight"]),
        ("ne.evaluate('sum[C](x[N C]) * w[¦', x=x, w=w)", ["C", "N"]),
        ("ne.compile('a b -> ¦')", ["a", "b"]),
        ("ne.compile('a b -> a b  # ¦')", []),
        ("print('batch chan -> ¦')", []),
    ],
)
def test_what_may_come_next_is_offered(marked: str, words: list[str]) -> None:
    assert offered(marked) == words


@pytest.mark.parametrize(
    ("marked", "after"),
    [
        ("ne.einsum('batch chan -> ba¦', x)", "ne.einsum('batch chan -> batch', x)"),
        ("ne.einsum('batch chan -> b¦a', x)", "ne.einsum('batch chan -> batch', x)"),
        ("ne.einsum('höhe 𝒳 -> hö¦', x)", "ne.einsum('höhe 𝒳 -> höhe', x)"),
        (r"ne.einsum('batch ch -> b\x61¦', x)", "ne.einsum('batch ch -> batch', x)"),
        ("ne.einsum('batch chan'\n ' -> ba¦', x)", "ne.einsum('batch chan'\n ' -> batch', x)"),
        ("if ne.einsum('batch chan -> ba¦", "if ne.einsum('batch chan -> batch"),
    ],
)
def test_a_completion_replaces_the_word_at_the_cursor(marked: str, after: str) -> None:
    assert completed(marked) == after


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("ne.evaluate('x[C@¦i[N] D]', x=x, i=i)", ["`i`: an operand, seen as `i[N]`"]),
        (
            "ne.evaluate('x[¦C@i[N] D]', x=x, i=i)",
            ["`C`: a label", "", "- `x[C@i[N] D]`: dim 0, read at `i[N]`"],
        ),
        (
            "ne.evaluate('x[C@(2*¦c+1)]', x=x)",
            ["`c`: a label", "", "- `x[C@(2 * c + 1)]`: dim 0, in `C@(2 * c + 1)`"],
        ),
        ("ne.evaluate('x[C¦@(c+1)]', x=x)", ["`C@(c + 1)`: a dim, read at a position"]),
        ("ne.evaluate('x[C@(s¦ize[C]-c)]', x=x)", ["`size[C]`: the size of a dim"]),
        (
            "ne.evaluate('x[(1 + ¦T) D]', x=x)",
            ["`T`: a label", "", "- `x[(1 + T) D]`: dim 0, part of `(1 + T)`"],
        ),
        ("ne.evaluate('x[(1 ¦+ T) D]', x=x)", ["`(1 + T)`: a dim in parts, one after the other"]),
    ],
)
def test_parts_and_positions_are_explained(marked: str, expected: list[str]) -> None:
    assert shown(marked)[: len(expected)] == expected


def test_a_dim_that_is_read_at_positions_is_not_summed() -> None:
    assert shown("ne.einsum('N ¦H@(h+dh), dh -> N h', x, w)") == [
        "`H`: a label",
        "",
        "- operand 0, `N H@(h + dh)`: dim 1, read at `h + dh`",
        "",
        "result: `N h`",
    ]


STEP = 'step = ne.value_and_grad("loss = sum[C](weight[C] ** 2) + bias", "weight bias")\n'


def test_a_derivative_is_shown_with_its_dims() -> None:
    call = 'ne.evaluate("s[N=5] = sum[C](x[N C] * w[C]); g[N C] = gr¦ad(s, w[C])", x=x, w=w)'
    assert shown(call)[:6] == [
        "`grad(y, x[C])`: the derivative of y by x",
        "",
        "- the value `s`: dims `N`",
        "- the operand `w[C]`: dims `C`",
        "- the derivative: dims `N C`",
        "",
    ]
    assert shown('ne.evaluate("y = sum[C](w[C]); z = st¦op(y)", w=w)')[0].startswith("`stop(x)`")


def test_a_text_with_gradients_is_shown_with_what_it_returns() -> None:
    lines = shown('ne.grad("sum[C](wei¦ght[C=3] ** 2) + bias[1]", "weight")')
    assert lines[0] == "`weight`: an operand, seen as `weight[C=3]`"
    assert "result: the gradients by `weight[C=3]`" in lines
    assert "d_weight[C=3] = grad(value, weight[C=3])" in lines


def test_the_operands_to_differentiate_by_are_shown_and_offered() -> None:
    assert shown(STEP.replace('"weight', '"we¦ight'))[0] == "`weight`: an operand, seen as `weight[C]`"
    assert range_of(STEP.replace('bias"', 'b¦ias"')) == "bias"
    assert shown(STEP.replace('"weight', '"q¦, weight')) == []
    assert offered(STEP.replace('"weight bias"', '"¦"')) == ["weight", "bias"]
    assert completed('ne.grad("sum[C](weight[C] ** 2) + bias", "weight b¦') == (
        'ne.grad("sum[C](weight[C] ** 2) + bias", "weight bias'
    )
    assert "wrt" not in offered('ne.grad("y = sum[C](¦", "y")')


@pytest.mark.parametrize(
    "marked", [STEP.replace("weight bias", "wei¦hgt bias"), STEP + "step(weight=w, bias=0.0)[1]['wei¦hgt']"]
)
def test_a_misspelt_operand_is_mended_in_place(marked: str) -> None:
    source, offset = split(marked)
    (fix,) = (one for one in fixes(source, offset, offset, "x.py") if one.mends)
    ((start, end, word),) = fix.edits
    assert (source[start:end], word) == ("weihgt", "weight")
