"""Where a string can enter through Python, and what is then shown: pairs of a kind and a text.

Every function takes one string; an error of ours is shown, any other exception is a finding.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

import nameexpr as ne
from hardening.hostile_strings import MARK
from nameexpr.notebook.magics import Magic
from nameexpr.session.commands import RUN
from nameexpr.session.continuation import continued
from nameexpr.session.feedback import completions, plan_and_code, status
from nameexpr.session.lines import COMMANDS, PythonLine, read_line
from nameexpr.session.session import Session
from nameexpr.tensors import wrap
from nameexpr.terminal.faults import LineError

Shown = Iterator[tuple[str, str]]
X = np.ones((2, 3))


def told(run: Callable[[], Any]) -> Shown:
    """Yield the error of ours that a call raises, if it does."""
    try:
        run()
    except ne.NameExprError as fault:
        yield "terminal", str(fault)
        yield "terminal", repr(fault)


def label_of(string: str) -> str:
    """Return a label out of a string: its letters and digits, and primes for what is none."""
    letters = "".join(one for one in string if f"a{one}".isidentifier())[:40]
    return f"{MARK}{letters}" + "'" * string.count("'")


def plan_views(plan: Any) -> Shown:
    """Yield a plan in all its forms."""
    yield "terminal", str(plan)
    yield "code", plan.code
    yield "html", plan._repr_html_()
    for kind in ("network", "tree", "memory"):
        yield "svg", str(plan.draw(kind))
    for kind in ("network", "tree"):
        yield "dot", plan.dot(kind)
        yield "mermaid", plan.mermaid(kind)


def _texts(string: str) -> Shown:
    for text in (string, f"{string} -> a", f"a -> {string}", f"a b -> a : {string}", f"a {string} b -> b a"):
        yield from told(lambda text=text: ne.einsum(text, X))
        yield from told(lambda text=text: ne.check(text, X))
        yield from told(lambda text=text: ne.compile(text))
    with suppress(ne.NameExprError):
        yield "terminal", ne.explain(string, X)


def _formulas(string: str) -> Shown:
    for text in (
        string,
        f"y = {string}",
        f"{string} = x[a b]",
        f"x[{string}]",
        f"sum[{string}](x[a b])",
        f"{string}(x)",
    ):
        yield from told(lambda text=text: ne.evaluate(text, x=X))
        yield from told(lambda text=text: ne.compile(text))


def _comments(string: str) -> Shown:
    first = string.splitlines()[0] if string.splitlines() else ""
    for comment in (string, first):
        for text in (f"a b, b -> a # {comment}", f"y = sum[b](x[a b]) # {comment}\n"):
            yield from told(lambda text=text: ne.compile(text))
            with suppress(ne.NameExprError):
                compiled = ne.compile(text)
                yield "terminal", repr(compiled) + str(compiled)
                yield "html", compiled._repr_html_()
                yield from plan_views(
                    compiled.plan((2, 3), (3,)) if "->" in text else compiled.plan(x=(2, 3))
                )


def _labels(string: str) -> Shown:
    label = label_of(string)
    with suppress(ne.NameExprError):
        yield from plan_views(ne.compile(f"a {label}, {label} c -> a c").plan((2, 3), (3, 4)))
    with suppress(ne.NameExprError):
        yield from plan_views(
            ne.compile(f"y = sum[{label}](x[a {label}] * w[{label}])").plan(x=(2, 3), w=(3,))
        )


def _operand_names(string: str) -> Shown:
    for name in (string, label_of(string)):
        given = {name: X}
        yield from told(lambda given=given: ne.evaluate("y = x[a b]", operands=given))
        yield from told(lambda given=given: ne.evaluate("y = x[a b]", x=X, operands=given))
        yield from told(lambda given=given: ne.compile("y = x[a b]").bind(operands=given))
        with suppress(ne.NameExprError):
            yield from plan_views(ne.compile(f"{name}[a b] + 1").plan(operands={name: (2, 3)}))
    yield from told(lambda: ne.compile("y = x[a b]").plan(operands={"x": X, string: X}))


def _sizes(string: str) -> Shown:
    yield from told(lambda: ne.einsum("a b -> b a", X, sizes={string: 2}))
    yield from told(lambda: ne.einsum("a b -> b a", X, **{string: 2} if string not in _EINSUM else {}))
    yield from told(lambda: ne.einsum("a b -> b a", X, sizes={"a": string}))
    yield from told(lambda: ne.check("a b", X, sizes={string: 2}))
    yield from told(lambda: ne.evaluate("x[a b]", x=X, sizes={string: 2}))
    yield from told(lambda: ne.evaluate("x[a b]", x=X, outputs=(string,)))


_EINSUM = ("sizes", "dtype", "optimize", "reduce", "order", "memory_limit", "tune", "out")


def _options(string: str) -> Shown:
    for option in ("dtype", "optimize", "reduce", "order", "memory_limit", "tune", "out"):
        yield from told(lambda option=option: ne.einsum("a b -> a", X, **{option: string}))
    for option in ("optimize", "memory_limit", "outputs", "sizes"):
        yield from told(lambda option=option: ne.evaluate("x[a b]", x=X, **{option: string}))
    for kind in ("draw", "dot", "mermaid"):
        yield from told(lambda kind=kind: getattr(ne.compile("a b -> a : sum").plan((2, 3)), kind)(string))
    yield from told(lambda: ne.set_default_dtype(string))


def _tensor_names(string: str) -> Shown:
    for names in (string, (string, "b"), ("a", label_of(string))):
        yield from told(lambda names=names: ne.tensor(X, names=names))
        with suppress(ne.NameExprError):
            tensor = ne.tensor(X, names=names)
            yield "terminal", repr(tensor)
            yield "html", tensor._repr_html_()
            yield "svg", str(tensor.draw())
            yield from told(lambda tensor=tensor: ne.einsum("-> q", tensor))
    tensor = wrap(X, ("a", "b"))
    for run in (
        lambda: tensor.sum(string),
        lambda: tensor.rename(a=string),
        lambda: tensor.rename(**{string: "c"}),
        lambda: tensor.align_to(string, ...),
        lambda: tensor.unflatten("a", [(string, 2)]),
        lambda: tensor.flatten(["a", "b"], string),
        lambda: tensor.refine_names(string, "b"),
        lambda: tensor[string],
        lambda: tensor.to(string),
    ):
        yield from told(run)


def _reducers(string: str) -> Shown:
    def reducer(array: Any, axis: int) -> Any:
        return array.max(axis)

    reducer.__name__ = reducer.__qualname__ = string
    compiled = ne.compile("a b -> a", reduce=reducer)
    yield "terminal", repr(compiled)
    yield "html", compiled._repr_html_()
    yield from plan_views(compiled.plan((2, 3)))


def _elements(string: str) -> Shown:
    with suppress(ne.NameExprError, ValueError):
        tensor = ne.from_numpy(np.array([[string, "b"]]))
        yield "terminal", repr(tensor)
        yield "html", tensor._repr_html_()
    yield from told(lambda: ne.einsum("a b -> b a", np.array([[string, "b"]])))
    yield from told(lambda: ne.einsum("a b -> a", np.array([[string, "b"]], object)))


def _pickles(string: str) -> Shown:
    """What a pickle of ours holds is a text and options: another text in it is compiled, and no more."""
    for text in ("a b -> b a", "y = x[a b]"):
        restore, parts = ne.compile(text).__reduce__()[:2]
        yield from told(lambda restore=restore, parts=parts: restore(string, *parts[1:]))
    with suppress(ne.NameExprError):
        yield "terminal", repr(pickle.loads(pickle.dumps(ne.tensor(X, names=("a", label_of(string))))))


def _session() -> Session:
    return Session(RUN, {"x": wrap(X, ("N", "C")), "_": wrap(X[0], (None,))})


def is_python(line: str) -> bool:
    """Return whether a session would run a line as Python, which is what that is for."""
    try:
        return isinstance(read_line(continued(line)), PythonLine)
    except Exception:  # noqa: BLE001  the session says what is wrong
        return False


def _lines(string: str) -> Shown:
    session = _session()
    lines = [
        string,
        f"N C -> C | {string}",
        f"x[{string}] * 2",
        f"{string} = ones(N=2)",
        f"k = ones({string}=2)",
    ]
    lines += [f"k = ones(N=2, dtype={string})", f":{string}", f":load {string}", f":load k[{string}] x.npy"]
    lines += [
        f":{name} {string}" for name in COMMANDS if name not in ("save", "draw", "time", "quit", "undo")
    ]
    for line in lines:
        if is_python(line):
            continue
        yield "terminal", session.run(line).text
        fact = status(session, line)
        yield "terminal", fact.text
        for one in completions(session, line, len(line)):
            yield "terminal", one.shown + one.about
    if not is_python(f":plan {string}") and not is_python(string):
        yield "terminal", plan_and_code(session, string)


class _Shell:
    def __init__(self, string: str) -> None:
        self.user_ns: dict[str, Any] = {"x": X, string: X, "y": string}
        self.user_ns_hidden: dict[str, Any] = {}

    def push(self, values: dict[str, Any]) -> None:
        self.user_ns.update(values)


def _magics(string: str) -> Shown:
    magic = Magic(_Shell(string))
    for line in (string, f"a b -> b | {string}", f"-p {string}", f"--{string} x", "y * 2", f"x[a {string}]"):
        try:
            value = magic(line)
        except (ne.NameExprError, LineError) as fault:
            yield "terminal", "\n".join(fault.__dict__["_render_traceback_"]())
        else:
            yield "terminal", repr(value)


SURFACES: dict[str, Callable[[str], Shown]] = {
    "texts of expressions": _texts,
    "texts of formulas": _formulas,
    "comments": _comments,
    "labels": _labels,
    "operand names": _operand_names,
    "sizes": _sizes,
    "options": _options,
    "names of tensors": _tensor_names,
    "names of reducers": _reducers,
    "elements": _elements,
    "pickles of texts": _pickles,
    "lines of the REPL": _lines,
    "magics": _magics,
}
