"""Whose function is called: aliases are followed, and names that mean something else are left alone."""

from __future__ import annotations

import ast

import pytest

from nameexpr.lint.python import check_python
from nameexpr.lint.scopes import read_scopes

WRONG = "'a -> a : maen'"


def lines_found(source: str) -> list[int]:
    return [one.region.start.line for one in check_python(source.replace("WRONG", WRONG), "x.py").findings]


OURS = {
    "a module under another name": "import nameexpr as ne\nne.einsum(WRONG, x)",
    "a module": "import nameexpr\nnameexpr.einsum(WRONG, x)",
    "a function": "from nameexpr import einsum\neinsum(WRONG, x)",
    "a function under another name": "from nameexpr import einsum as e\ne(WRONG, x)",
    "a function from where it is defined": "from nameexpr.runtime.einsum import einsum as e\ne(WRONG, x)",
    "a function below its module": "import nameexpr.runtime.einsum\nnameexpr.einsum(WRONG, x)",
    "all functions": "from nameexpr import *\neinsum(WRONG, x)",
    "a name that was given a function": "import nameexpr as ne\nrun = ne.einsum; run(WRONG, x)",
    "a name that was given a name": "import nameexpr as ne; m = ne\nrun = m.einsum; go = run; go(WRONG, x)",
    "an import that may fail": (
        "try: import nameexpr as ne\nexcept ImportError: ne = None\n\nif ne: ne.einsum(WRONG, x)"
    ),
    "the same import twice": "import nameexpr as ne; import nameexpr as ne\nne.einsum(WRONG, x)",
    "a walrus": "import nameexpr as ne\nif (run := ne.einsum)(WRONG, x): run",
    "a function from a function": "def f():\n  import nameexpr as ne; return ne.einsum(WRONG, x)",
    "a function in a class": "import nameexpr as ne\nclass A: y = ne.einsum(WRONG, x)",
    "a default": "import nameexpr as ne\ndef f(ne=ne.einsum(WRONG, x)): pass",
    "a decorator": "import nameexpr as ne\n@ne.compile(WRONG)\ndef f(ne): pass",
    "a lambda": "import nameexpr as ne\nf = lambda x: ne.einsum(WRONG, x)",
    "a comprehension": "import nameexpr as ne\n[ne.einsum(WRONG, x) for x in y]",
    "the first iterable of a comprehension": "import nameexpr as ne\n[1 for ne in ne.einsum(WRONG, x)]",
    "a name bound in a class, read in its method": (
        "import nameexpr as ne\nclass A:\n  ne = 3\n  def f(self): ne.einsum(WRONG, x)"
    ),
    "a global of a function": "def f():\n  global ne; import nameexpr as ne\ndef g():\n  ne.einsum(WRONG, x)",
    "a nonlocal": (
        "def f():\n  ne = None\n  def g():\n    nonlocal ne; import nameexpr as ne\n  ne.einsum(WRONG, x)"
    ),
    "an f-string's hole": "import nameexpr as ne\nf'{ne.einsum(WRONG, x)}'",
    "an argument of another call": "import nameexpr as ne\nf(ne.einsum, [ne.einsum(WRONG, x)])",
    "a match": "import nameexpr as ne\nmatch ne.einsum(WRONG, x):\n  case [y]: pass",
    "an await": "import nameexpr as ne\nasync def f(): await ne.einsum(WRONG, x)",
}
FOREIGN = {
    "another package": "import numpy as ne  # nameexpr\nne.einsum(WRONG, x)",
    "a package like ours": "import nameexpr_tools as ne\nne.einsum(WRONG, x)",
    "a part of the package": "from . import nameexpr as ne\nne.einsum(WRONG, x)",
    "another function": "import nameexpr as ne\nne.tensor(WRONG)",
    "a method": "import nameexpr as ne\nx.ne.einsum(WRONG, x)",
    "a parameter": "import nameexpr as ne\ndef f(ne): ne.einsum(WRONG, x)",
    "a parameter of a lambda": "from nameexpr import einsum\nlambda einsum: einsum(WRONG, x)",
    "a starred parameter": "from nameexpr import einsum\ndef f(*einsum): einsum(WRONG, x)",
    "a loop variable": "import nameexpr as ne\nfor ne in y: ne.einsum(WRONG, x)",
    "a variable of a comprehension": "from nameexpr import einsum\n[einsum(WRONG, x) for einsum in y]",
    "another value": "import nameexpr as ne\nif y: ne = y\nne.einsum(WRONG, x)",
    "an assignment of several names": "import nameexpr as ne\nne, y = y\nne.einsum(WRONG, x)",
    "an augmented assignment": "import nameexpr as ne\nne += y\nne.einsum(WRONG, x)",
    "another import": "from nameexpr import einsum\nfrom numpy import einsum\neinsum(WRONG, x)",
    "a function of that name": "from nameexpr import einsum\ndef einsum(*a): pass\neinsum(WRONG, x)",
    "a class of that name": "from nameexpr import einsum\nclass einsum: pass\neinsum(WRONG, x)",
    "a with": "import nameexpr as ne\nwith y as ne: ne.einsum(WRONG, x)",
    "an except": "import nameexpr as ne\ntry: pass\nexcept E as ne: ne.einsum(WRONG, x)",
    "a pattern": "import nameexpr as ne\nmatch y:\n  case {**ne}: ne.einsum(WRONG, x)",
    "a name given another one's value in a circle": "import nameexpr\na = b; b = a; a.einsum(WRONG, x)",
    "a local of a function around": (
        "from nameexpr import einsum\ndef f(einsum):\n  def g(): einsum(WRONG, x)\n  return g"
    ),
    "a name only imported in another function": (
        "def f():\n  import nameexpr as ne\ndef g():\n  ne.einsum(WRONG, x)"
    ),
    "a name only bound in a class": "class A:\n  import nameexpr as ne\nne.einsum(WRONG, x)",
    "all of two modules": "from nameexpr import *\nfrom numpy import *\neinsum(WRONG, x)",
    "a builtin beside a star": "from nameexpr import *\ncompile(WRONG)",
    "a deleted name": "import nameexpr as ne\ndel ne\nne.einsum(WRONG, x)",
}


@pytest.mark.parametrize("title", OURS)
def test_a_call_of_ours_is_found(title: str) -> None:
    source = OURS[title]
    wanted = source[: source.rindex("WRONG")].count("\n") + 1
    assert lines_found(source) == [wanted]


@pytest.mark.parametrize("title", FOREIGN)
def test_a_call_of_something_else_is_left_alone(title: str) -> None:
    assert lines_found(FOREIGN[title]) == []
    compile(FOREIGN[title].replace("WRONG", WRONG), "x", "exec")


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("TEXT = WRONG\nne.einsum(TEXT, x)\nne.einsum(TEXT, y)", [2]),
        ("TEXT: str = WRONG\ndef f(): ne.einsum(TEXT, x)", [2]),
        ("T = WRONG\nTEXT = T\nne.einsum(TEXT, x)", [2]),
        ("def f():\n  TEXT = WRONG\n  ne.einsum(TEXT, x)", [3]),
        ("TEXT = WRONG\nTEXT = WRONG\nne.einsum(TEXT, x)", [3]),
        ("TEXT = WRONG\nTEXT += 'b'\nne.einsum(TEXT, x)", [2]),
        ("TEXT = WRONG\nTEXT += b\nne.einsum(TEXT, x)", []),
        ("TEXT = WRONG\nfor TEXT in y: ne.einsum(TEXT, x)", []),
        ("def f(TEXT=WRONG): ne.einsum(TEXT, x)", [2]),
        ("class A:\n  TEXT = WRONG\nne.einsum(A.TEXT, x)", [3]),
        ("TEXT = 'a, a ->'\nne.einsum(TEXT, x, y)\nne.einsum(TEXT, x)", [4]),
        ("TEXT = 'a -> a'\nne.einsum(TEXT, x, b=3)\nne.einsum(TEXT, x)", [3]),
        ("ne.einsum(*y)\nne.einsum()\nne.einsum(f'a -> {b}', x)\nne.einsum(y, x)\nne.einsum(x=3)", []),
    ],
)
def test_a_text_in_a_name_that_is_assigned_once_is_read(source: str, found: list[int]) -> None:
    assert lines_found(f"import nameexpr as ne\n{source}") == found


@pytest.mark.parametrize("module", ["numpy", "torch", "jax.numpy", "a", "b", "c", "d", "e", "f", "g"])
def test_a_name_imported_from_two_packages_is_neither_ones(module: str) -> None:
    other, ours = f"from {module} import einsum\n", "from nameexpr import einsum\n"
    assert (
        lines_found(f"{other}{ours}einsum(WRONG, x)") == lines_found(f"{ours}{other}einsum(WRONG, x)") == []
    )


def test_every_call_is_seen_once() -> None:
    source = (
        "f(g(1), h=i(2))(3)\n@j()\nclass A(k()):\n  def l(a: m() = n()) -> o(): return [p(q) for q in r()]\n"
    )
    calls = [ast.unparse(call.func) for call, _ in read_scopes(ast.parse(source)).calls]
    walked = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    assert sorted(calls) == sorted(ast.unparse(call.func) for call in walked)


def test_names_that_are_given_each_other_again_and_again_take_no_time() -> None:
    lines = [f"    {a} = {b}.next; {a} = {a}.{b}" for a in "abcdefgh" for b in "abcdefgh"]
    source = "import nameexpr\ndef f(a):\n" + "\n".join(lines) + "\n    a.b(); nameexpr.einsum(WRONG, x)"
    assert lines_found(source) == [67]
    long = "\n".join(f"a{n} = a{n - 1}" for n in range(1, 5000))
    assert lines_found(f"import nameexpr as a0\n{long}\na4999.einsum(WRONG, x)\na0.einsum(WRONG, x)") == [
        5002
    ]


def test_what_nests_deeply_is_walked() -> None:
    chain = "import nameexpr as ne\nx = " + " + ".join(["y"] * 900) + f" + ne.einsum({WRONG}, x)\n"
    chosen = "import nameexpr as ne\nif a: pass\n" + "elif b: pass\n" * 80 + f"else: ne.einsum({WRONG}, x)\n"
    dotted = "import nameexpr as ne\n(y" + ".z()" * 80 + f").w(ne.einsum({WRONG}, x))"
    assert [lines_found(source) for source in (chain, chosen, dotted)] == [[2], [83], [2]]
