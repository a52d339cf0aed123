"""The mypy plugin, run by mypy itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mypy import api

from nameexpr.lint.python import check_python
from nameexpr.mypy import NameExprPlugin, plugin

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
SOURCE = """\
from typing import Any, Final, Literal

import nameexpr
import nameexpr as ne
from nameexpr import evaluate
from nameexpr.runtime.compile import compile as ready

GOOD: Final = "a b -> b a"
WRONG: Final = "a b -> a : maen"


def calls(x: Any, text: str, one: Literal["a b -> a"], more: Any) -> None:
    ne.einsum(GOOD, x)
    ne.einsum(text, x)
    ne.einsum(f"a {text} -> b", x)
    ne.einsum(GOOD, *[x, x])
    ne.einsum(GOOD, x, **more)
    ne.einsum("a b -> a", x, reduce=more)
    evaluate("y = x[N]", **more)
    evaluate("y = x[N]", x=x)
    evaluate("y = x[N]", operands={"x": x}, outputs=("y",))
    ready("a b -> b", reduce="sum")
    ne.check("a b", x)
    ne.explain("y = x[N]", x=(2,))
    ne.einsum(WRONG, x)  # NE202
    ne.einsum(one, x)  # NE217
    ne.einsum(GOOD, x, x)  # NE502
    ne.einsum(GOOD, x, q=-3)  # NE602
    ne.einsum(GOOD, x, b=-3)  # NE603
    ne.einsum("a (b "  # NE122
              "c -> a", x)
    nameexpr.einsum("a", x)  # NE218
    evaluate("y = x[N]", z=x)  # NE521
    evaluate("y = x[N]", x=x, operands={"z": x})  # NE522
    evaluate("y = x[N]", x)  # type: ignore[call-overload]
    evaluate("y = x[N]", x=x, outputs=["z"])  # NE620
    evaluate("y[N] = x[N C]", x=x)  # NE240
    ready("a b -> b")  # NE217
    ne.check("a -> b", x)  # NE219
    ne.explain("a, b -> a b", (2,))  # NE501
    ne.einsum("\\x1b[31m", x)  # NE100
    ne.einsum("a b", x)  # type: ignore[nameexpr]
"""


COMPILED = """\
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import nameexpr as ne

Array = npt.NDArray[Any]
Two = ("m", "c")
project = ne.compile("a b, b c -> a c")
split = ne.compile("(a=1 + b) -> a, b")
average = ne.compile("a b -> b", reduce="mean")
parted = ne.compile("(a + b + c) -> a, b, c", a=1, b=2)
attend = ne.compile("y[N K] = sum[C](x[N C] * w[C K])")
pair = ne.compile("m[C] = mean[N](x[N C]); c = x[N C] - m[C]", outputs=["m", "c"])


class Layer:
    apply = ne.compile("y[N K] = sum[C](x[N C] * w[C K])")

    def __call__(self, x: Array, w: Array) -> Array:
        self.apply(x=x, v=w)  # NE521
        return self.apply(x=x, w=w)


def results(x: Array, t: ne.NamedTensor, names: list[str]) -> None:
    assert_type(project(x, x), Array)
    assert_type(project(x, t), ne.NamedTensor)
    assert_type(project(x, x, out=t), ne.NamedTensor)
    assert_type(attend(x=x, w=x), Array)
    assert_type(attend(x=x, w=t), ne.NamedTensor)
    assert_type(attend(operands={"x": x, "w": x}), Array)
    assert_type(average(x), Array)
    assert_type(split(x), tuple[Array, Array])
    assert_type(split(t), tuple[ne.NamedTensor, ne.NamedTensor])
    assert_type(split(x, out=(x, x)), tuple[Array, Array])
    assert_type(ne.einsum("(a=1 + b) -> a, b", x), tuple[Array, Array])
    assert_type(ne.einsum("a, b -> (a + b)", x, x), Array)
    assert_type(pair(x=x), tuple[Array, Array])
    assert_type(pair(x=t), tuple[ne.NamedTensor, ne.NamedTensor])
    assert_type(ne.evaluate("y = 2 * x; z = y + 1", outputs=["y", "z"], x=x), tuple[Array, Array])
    assert_type(ne.evaluate("y = 2 * x; z = y + 1", outputs=names, x=x), tuple[Array, ...])
    assert_type(ne.einsum("N (a + b) -> N a, N b", x, a=1), tuple[Array, Array])
    assert_type(ne.einsum("N (a + b) -> N a, N b", t, a=1), tuple[ne.NamedTensor, ne.NamedTensor])
    assert_type(ne.einsum("N a, N b -> N (a + b)", x, x), Array)
    assert_type(parted(x), tuple[Array, Array, Array])
    assert_type(attend.statements, tuple[str | None, ...])
    assert_type(project.signature.result, str)
    assert_type(project.bind({1: x})(x), Array)
    assert_type(attend.bind(w=t)(x=x), Array)


def wrong(x: Array, more: Any) -> None:
    project(x)  # NE501
    project(x, x, x)  # NE502
    project(x, b=x)  # NE624
    project(*more)
    attend(x=x)  # NE521
    attend(x=x, w=x, q=x)  # NE522
    attend(x, x)  # NE527
    attend(**more)
    attend(operands=more)
    attend.plan(x=(2, 3))  # NE521
    project.plan((2, 3))  # NE501
    project.bind(w=x)  # NE624
    attend.bind(v=x)  # NE624
    layer, scores = project.bind({1: x}), attend.bind(w=x)
    layer(x)
    layer()  # NE501
    layer(x, x)  # NE502
    scores(x=x)
    scores(x=x, w=x)  # NE624
    scores()  # NE521
    scores.bind(x=x)()
    scores.bind(x=x)(x=x)  # NE624
    scores.bind(w=x)  # NE624
    project.bind({2: x})  # NE624
    project.bind(more)(x)
    ne.compile("a b -> a")(x)  # NE217
"""


GRADIENTS = """\
from typing import Any, Final, assert_type

import numpy.typing as npt

import nameexpr as ne

Array = npt.NDArray[Any]
LOSS: Final = "mean[N]((sum[C](x[N C] * weight[C]) + b - y[N]) ** 2)"
WRT: Final = ("weight", "b")
step = ne.value_and_grad(LOSS, "weight b")
slope = ne.grad(LOSS, WRT)


class Model:
    step = ne.value_and_grad("sum[C](w[C] ** 2)", "w")

    def update(self, w: Array) -> Array:
        self.step(v=w)  # NE521
        return w - self.step(w=w)[1]["v"]  # NE534


def right(x: Array, t: ne.NamedTensor, more: Any, text: str) -> dict[str, Array]:
    loss, g = step(x=x, y=x, weight=x, b=0.5)
    assert_type(loss, Array)
    assert_type(g["weight"], Array)
    assert_type(slope(x=t, y=t, weight=t, b=t)["b"], ne.NamedTensor)
    assert_type(step(x=x, y=x, weight=t, b=t)[1]["b"], ne.NamedTensor)
    assert_type(step(x=t, y=t, weight=x, b=x)[1]["b"], Array)
    assert_type(step(x=t, y=t, weight=x, b=t)[1]["b"], Any)
    assert_type(ne.grad("x ** 2", "x")(x=2.0)["x"], Array)
    value, d_w, d_b = ne.compile(LOSS).gradient("weight b")(x=x, y=x, weight=x, b=0.5)
    assert_type(d_w, Array)
    step.bind(b=0.5)(x=x, y=x, weight=x)
    step.bind(x=x, y=x).packed(weight=x, b=x)
    value, d_w = ne.compile(LOSS).gradient("weight").bind(x=x, y=x, b=1)(weight=x)
    assert_type(ne.compile(LOSS).bind(x=x, y=x, b=1).gradient("weight")(weight=x)[1], Array)
    step.plan(x=(5, 3), y=(5,), weight=(3,), b=())
    slope(**more)["weight"]
    ne.grad(text, "w")(w=x)["v"]
    ne.grad(LOSS, text)(x=x, y=x, weight=x, b=x)[text]
    return g


def wrong(x: Array, t: ne.NamedTensor) -> None:
    loss, g = step(x=x, y=x, weight=x, b=0.5)
    g["wieght"]  # NE534
    step(x=x, y=x, weight=x)  # NE521
    step(x=x, y=x, weight=x, b=x, c=x)  # NE522
    step.bind(c=x)  # NE624
    step.bind(b=x)(x=x, y=x, weight=x, b=x)  # NE624
    step.plan(x=(5, 3), y=(5,), weight=(3,))  # NE521
    ne.grad(LOSS, "wieght")  # NE534
    ne.grad(LOSS, ["b", "b"])  # NE534
    ne.grad("y[N] = 2 * x[N]", "x")  # NE531
    ne.value_and_grad("N C, C K -> N K", "x")  # NE531
    ne.grad("sum[N](round(x[N] * w))", "w")  # NE532
    ne.grad("sum[N](x[N] ** 2", "x")  # NE143
    ne.compile(LOSS).gradient("wieght")  # NE534
    ne.compile(LOSS).gradient("weight")(x=x, y=x, weight=x)  # NE521
    ne.compile(LOSS).gradient("weight").bind(x=x, y=x)(weight=x)  # NE521
    ne.compile(LOSS).bind(x=x, y=x).gradient("weight")(weight=x, b=x, x=x)  # NE624
    ne.compile(LOSS).bind(x=x, y=x).gradient("weight b")(weight=x, c=x)  # NE521
    step.bind(x=x).bind(y=x)(weight=x, b=x, c=x)  # NE522
    step.bind(x=x).bind(x=x)  # NE624
    step.bind(x=x).packed(weight=x, b=x)  # NE521
    ne.grad("x ** 2", "x")(y=2.0)  # NE521
"""


def mypy(folder: Path, source: str) -> list[str]:
    (folder / "mypy.ini").write_text(
        f"[mypy]\nstrict = true\nplugins = nameexpr.mypy\nmypy_path = {ROOT}\nfollow_imports = silent\n"
    )
    (folder / "user.py").write_text(source)
    options = [
        "--config-file",
        "mypy.ini",
        "--cache-dir",
        "cache",
        "--no-error-summary",
        "--show-column-numbers",
    ]
    printed, complaints, _ = api.run([*options, "user.py"])
    assert complaints == ""
    return printed.splitlines()


def wanted_of(source: str) -> list[tuple[int, str]]:
    """Return the codes that comments ask for, with their lines."""
    return [
        (number, found[1])
        for number, line in enumerate(source.splitlines(), 1)
        if (found := re.search(r"# (NE\d+)$", line))
    ]


def got_of(reported: list[str]) -> list[object]:
    got = [re.match(r"user\.py:(\d+):\d+: error: (NE\d+) .*\[nameexpr\]$", line) for line in reported]
    return [(int(found[1]), found[2]) if found else line for found, line in zip(got, reported, strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder to run mypy in, with its cache."""
    folder = tmp_path_factory.mktemp("mypy")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def reported(folder: Path) -> list[str]:
    return mypy(folder, SOURCE)


def test_mypy_reports_what_the_comments_say(reported: list[str]) -> None:
    assert got_of(reported) == wanted_of(SOURCE)


def test_compiled_texts_are_checked_where_they_are_called(folder: Path) -> None:
    assert got_of(mypy(folder, COMPILED)) == wanted_of(COMPILED)


def test_gradients_are_checked_and_have_types(folder: Path) -> None:
    assert got_of(mypy(folder, GRADIENTS)) == wanted_of(GRADIENTS)


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "static").glob("*.py")), ids=lambda path: path.stem)
def test_programs_that_are_right_without_the_plugin_are_right_with_it(path: Path, folder: Path) -> None:
    program = path.read_text(encoding="utf-8")
    if "import torch" in program:
        pytest.importorskip("torch")
    assert not mypy(folder, program)


def test_mypy_reports_the_same_words_at_the_argument(reported: list[str]) -> None:
    (line,) = (line for line in reported if "NE502" in line)
    column = SOURCE.splitlines()[int(line.split(":")[1]) - 1].index("GOOD") + 1
    message = "NE502 the text has 1 input term, but 2 operands were given"
    hint = "add a term for operand 1, or leave it out"
    assert line.endswith(f":{column}: error: {message}; {hint}  [nameexpr]")


def test_mypy_and_the_command_find_the_same_codes(reported: list[str]) -> None:
    checked = check_python(
        SOURCE.replace("one: Literal", "two: Literal").replace("# type: ignore", "#"), "user.py"
    )
    found = sorted(one.code for one in checked.findings)
    typed = [re.findall(r"error: (NE\d+)", line)[0] for line in reported]
    # A Literal type is mypy's alone; the command has no comment of mypy's, who rejects operands by position.
    assert found == sorted([*(code for code in typed if code != "NE217"), "NE217", "NE218", "NE527"])


def test_escape_sequences_reach_no_terminal(reported: list[str]) -> None:
    assert all(line.isprintable() for line in reported)


def test_the_plugin_is_for_every_version() -> None:
    assert plugin("1.14") is plugin("3.0") is NameExprPlugin
