"""Mistakes in the styles in which programs write texts, each with the line where it is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from nameexpr.lint.files import check_file
from nameexpr.lint.modules import Modules
from nameexpr.lint.python import check_python

HEAD = "import nameexpr as ne\n"

PLANTED = {
    "a class attribute": (
        "class A:\n    TEXT = 'a -> a : maen'\n    def f(self, x):\n        return ne.einsum(self.TEXT, x)",
        [3],
    ),
    "a class attribute by the class": ("class A:\n    TEXT = 'a -> a : maen'\nne.einsum(A.TEXT, x)", [3]),
    "an inherited attribute": (
        "class A:\n    TEXT = 'a -> a : maen'\nclass B(A):\n    def f(self): ne.einsum(self.TEXT, x)",
        [3],
    ),
    "an attribute of an object": (
        "class A:\n    def __init__(self):\n        self.text = 'a -> a : maen'\n"
        "    def f(self, x):\n        return ne.einsum(self.text, x)",
        [4],
    ),
    "a default of a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    text: str = 'a -> a : maen'\n"
        "    def f(self, x): return ne.einsum(self.text, x)",
        [5],
    ),
    "a field of a dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    text: str\n"
        "    def f(self, x): return ne.einsum(self.text, x)\nA('a -> a : maen')\nA(text='a -> b')",
        [7, 8],
    ),
    "a member of an Enum": (
        "import enum\nclass E(enum.Enum):\n    MEAN = 'a -> a : maen'\nne.einsum(E.MEAN.value, x)",
        [4],
    ),
    "a constant of the module": ("TEXT = 'a -> a : maen'\ndef f(x): return ne.einsum(TEXT, x)", [2]),
    "a dict": ("TEXTS = {'mean': 'a -> a : maen', 'sum': 'a ->'}\nne.einsum(TEXTS['mean'], x)", [2]),
    "a dict with a key that is not known": ("T = {'m': 'a -> a : maen'}\nne.einsum(T[key], x)", [2]),
    "get of a dict": ("TEXTS = {'mean': 'a -> a : maen'}\nne.einsum(TEXTS.get('mean', 'b -> c'), x)", [2, 3]),
    "a list": ("TEXTS = ['a -> b a', 'a -> a : maen']\nne.einsum(TEXTS[-1], x)", [2]),
    "an f-string": ("R = 'maen'\nne.einsum(f'a -> a : {R}', x)", [3]),
    "an f-string of terms": ("IN = 'a b'\nne.einsum(f'{IN} -> {IN} : maen', x)", [3]),
    "a sum of a name and a text": ("IN = 'a b'\nne.einsum(IN + ' -> a : maen', x)", [3]),
    "a conversion": ("ne.einsum('a -> a : %s' % 'maen', x)", [2]),
    "several conversions": ("ne.einsum('%s -> %s : %s' % ('a', 'a', 'maen'), x)", [2]),
    "format": ("ne.einsum('{} -> {} : maen'.format('a', 'a'), x)", [2]),
    "join": ("ne.einsum(' '.join(['a', 'b']) + ' -> a : maen', x)", [2]),
    "a conditional": ("ne.einsum('a -> a : maen' if flag else 'a -> a a', x)", [2]),
    "both sides of a conditional": ("ne.einsum('a -> b' if flag else 'a -> c', x)", [2, 2]),
    "a conditional in a name": ("t = 'a -> b' if flag else 'a -> a'\nne.einsum(t, x)", [2]),
    "branches": ("if flag:\n    t = 'a -> b'\nelse:\n    t = 'a -> c'\nne.einsum(t, x)", [3, 5]),
    "a name that is assigned again": ("t = 'ij,jk'\nnp.einsum(t, x)\nt = 'a -> b'\nne.einsum(t, x)", [4]),
    "a loop over texts": ("for t in ('a -> a a', 'a -> b'):\n    ne.einsum(t, x)", [2]),
    "a loop over pairs": ("for n, t in [('one', 'a -> b'), ('two', 'a -> c')]:\n    ne.einsum(t, x)", [2, 2]),
    "a loop over the items of a dict": (
        "T = {'one': 'a -> b'}\nfor name, t in T.items():\n    ne.einsum(t, x)",
        [2],
    ),
    "a comprehension": ("T = ['a -> b', 'a -> a']\n[ne.einsum(t, x) for t in T]", [2]),
    "an assignment of several names": ("s, t = 'a -> a', 'a -> b'\nne.einsum(t, x)", [2]),
    "partial with a text": ("from functools import partial\nf = partial(ne.einsum, 'a -> b')\nf(x)", [3]),
    "partial with too many operands": (
        "import functools\nf = functools.partial(ne.einsum, 'a b -> b a')\nf(x, y)",
        [4],
    ),
    "partial with options": (
        "import functools\nf = functools.partial(ne.einsum, optimize='auto')\nf('a -> b', x)",
        [4],
    ),
    "a wrapper": ("def run(text, *xs):\n    return ne.einsum(text, *xs)\nrun('a -> b', x)", [4]),
    "a wrapper with too few operands": (
        "def run(text, *xs):\n    return ne.einsum(text, *xs)\nrun('a b, b c -> a c', x)",
        [4],
    ),
    "a wrapper of a wrapper": (
        "def run(text, *xs): return ne.einsum(text, *xs)\ndef go(t, x): return run(t, x)\ngo('a -> b', x)",
        [4],
    ),
    "a method that is a wrapper": (
        "class A:\n    def run(self, text, *xs): return ne.einsum(text, *xs)\n"
        "    def f(self, x): return self.run('a -> b', x)",
        [4],
    ),
    "a class that keeps a text": (
        "class A:\n    def __init__(self, text): self.f = ne.compile(text)\nA('a -> b')",
        [4],
    ),
    "a default of a parameter": ("def f(x, text='a -> b'):\n    return ne.einsum(text, x)", [2]),
    "a parameter that is filled in": (
        "def f(x, text=None):\n    if text is None:\n        text = 'a -> b'\n    return ne.einsum(text, x)",
        [4],
    ),
    "a compiled text with too few operands": ("f = ne.compile('a b, b c -> a c')\nf(x)", [3]),
    "a compiled text with too many": ("f = ne.compile('a b -> b a')\nf(x, y)", [3]),
    "a compiled formula that lacks an operand": ("f = ne.compile('y = a + b')\nf(a=1)", [3]),
    "a compiled formula with another operand": ("f = ne.compile('y = a + b')\nf(a=1, b=2, c=3)", [3]),
    "a compiled text of an object": (
        "class A:\n    def __init__(self): self.f = ne.compile('a b -> b a')\n"
        "    def g(self, x): return self.f(x, x)",
        [4],
    ),
    "a compiled text that is called at once": ("ne.compile('a b, b c -> a c')(x)", [2]),
    "names of a tensor": ("t = ne.tensor(x, names='N C N')", [2]),
    "malformed names": ("t = ne.zeros(2, 3, names=('N', '3x'))", [2]),
    "names in a constant": ("NAMES = 'N N'\nt = ne.tensor(x, names=NAMES)", [3]),
    "align_to": ("t = ne.tensor(x, names='N C')\nt.align_to('C', 'K', 'C')", [3]),
    "align_to without a dim": ("t = ne.tensor(x, names='N C')\nt.align_to('C')", [3]),
    "align_to in a chain": ("ne.tensor(x, names='N C').align_to('C', ...).align_to('C')", [2]),
    "a dim that there is not": ("t = ne.tensor(x, names='N C')\nt.sum('D')", [3]),
    "a dim after a rename": ("t = ne.tensor(x, names='N C').rename('a b')\nt.mean(dim='N')", [3]),
    "refine_names": ("ne.tensor(x, names='N C').refine_names('N', 'D')", [2]),
    "dedent": ("from textwrap import dedent\nne.evaluate(dedent('y = sun(x)'), x=x)", [3]),
}


def lines_of(source: str) -> list[int]:
    return [finding.region.start.line for finding in check_python(HEAD + source, "x.py").findings]


@pytest.mark.parametrize("style", PLANTED)
def test_a_mistake_is_found_in_the_styles_that_people_write(style: str) -> None:
    source, lines = PLANTED[style]
    assert lines_of(source) == lines


RIGHT = {
    "one name, two libraries": "t = 'ij,jk->ik'\nnp.einsum(t, x, y)\nt = 'a b -> b a'\nne.einsum(t, x)",
    "a name of a branch that does not lead here": (
        "if flag:\n    t = 'ij,jk->ik'\n    np.einsum(t, x)\nelse:\n    t = 'a b -> b a'\n    ne.einsum(t, x)"
    ),
    "both branches assign anew": (
        "t = 'ij,jk'\nif flag:\n    t = 'a -> a a'\nelif other:\n    t = 'a b -> b a'\n"
        "else:\n    t = 'a ->  a a'\nne.einsum(t, x)"
    ),
    "a default that is never used for operands": (
        "def f(*xs, text='a b, b c -> a c'):\n    return ne.einsum(text, *xs)\nf(1, 2)"
    ),
    "a dict of several numbers of operands": (
        "T = {'one': 'a b -> b a', 'two': 'a b, b c -> a c'}\nne.einsum(T[key], x)"
    ),
    "partial with the right number": (
        "import functools\nf = functools.partial(ne.einsum, 'a b, b c -> a c', x)\nf(y)"
    ),
    "a wrapper with other parameters": (
        "def run(x, text='a b -> b a', *, by=1): return ne.einsum(text, x) * by\nrun(x)\nrun(x, 'a -> a')"
    ),
    "a text that something else may change": "t = 'a -> b'\nt = change(t)\nne.einsum(t, x)",
    "an attribute that is given from outside": (
        "class A:\n    def __init__(self, text): self.text = text\n"
        "    def f(self, x): return ne.einsum(self.text, x)\nA('a b -> b a')"
    ),
    "another object's attribute": "class A:\n    t = 'nonsense ]'\nne.einsum(other.t, x)",
    "a compiled text with out=": "f = ne.compile('a b -> b a')\nf(x, out=y)",
    "a compiled formula with out=": "f = ne.compile('y = a + b')\nf(a=1, b=2, out=y)",
    "a compiled text with its sizes": "f = ne.compile('(h d) -> h d', h=2)\nf(x)",
    "a star": "f = ne.compile('a b, b c -> a c')\nf(*xs)",
    "a keyword that brings operands": "f = ne.compile('y = a + b')\nf(**xs)",
    "a name bound in a loop later on": (
        "t = 'a b -> b a'\nfor x in xs:\n    ne.einsum(t, x)\n    t = 'a b -> a b'"
    ),
    "names given twice, which Python refuses later": "t = ne.tensor(x, names='N', names='C')",
    "names of a tensor": "t = ne.tensor(x, names='N C')\nt.align_to('C', 'K', 'N').sum('K').sum('Q')",
    "names with an ellipsis in a method": "ne.tensor(x, names='N C').align_to(..., 'N').mean(['C', 'N'])",
    "a method of something else": "t = make(names='N C')\nt.align_to('D')\nx.sum('Q')",
    "names that are computed": "t = ne.tensor(x, names=names)\nt.sum('Q')",
    "a format that depends": "ne.einsum(f'a b -> {output}', x)",
    "a conversion of a width": "ne.einsum('%99999999d' % 3, x)",
}


@pytest.mark.parametrize("title", RIGHT)
def test_nothing_is_said_of_what_is_right(title: str) -> None:
    assert lines_of(RIGHT[title]) == []


@pytest.mark.parametrize(
    ("files", "checked", "found"),
    [
        (
            {"pkg/__init__.py": "", "pkg/texts.py": "MEAN = 'a -> a : maen'\n"}
            | {"pkg/use.py": f"{HEAD}from .texts import MEAN\nne.einsum(MEAN, x)\n"},
            "pkg/use.py",
            [("texts.py", 1)],
        ),
        (
            {"pkg/__init__.py": "", "pkg/texts.py": "MEAN = 'a -> a : maen'\n"}
            | {"pkg/use.py": f"{HEAD}from pkg import texts\nne.einsum(texts.MEAN, x)\n"},
            "pkg/use.py",
            [("texts.py", 1)],
        ),
        (
            {"texts.py": "class T:\n    MEAN = 'a -> a : maen'\n"}
            | {"use.py": f"{HEAD}import texts as t\nne.einsum(t.T.MEAN, x)\n"},
            "use.py",
            [("texts.py", 2)],
        ),
        (
            {"texts.py": "MEAN = 'a -> a : maen'\n"}
            | {"use.py": f"{HEAD}from texts import *\nne.einsum(MEAN, x)\n"},
            "use.py",
            [("texts.py", 1)],
        ),
        (
            {
                "texts.py": "F = 3\n",
                "use.py": f"{HEAD}from texts import F\nne.einsum(f'a b -> {{F}} b a', x)\n",
            },
            "use.py",
            [],
        ),
        ({"use.py": f"{HEAD}from missing import T\nfrom . import x\nne.einsum(T, x)\n"}, "use.py", []),
        ({"use.py": f"{HEAD}from use import T\nT = 'a -> b'\nne.einsum(T, x)\n"}, "use.py", []),
    ],
)
def test_texts_of_other_files_are_read(
    files: dict[str, str], checked: str, found: list[tuple[str, int]], tmp_path: Path
) -> None:
    for name, source in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source, encoding="utf-8")
    findings = check_file(str(tmp_path / checked), Modules()).findings
    assert [(Path(one.path).name, one.region.start.line) for one in findings] == found


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("ne.einsum(text, x)", [2]),
        ("def f(text, x): return ne.einsum(text, x)", [2]),
        ("def f(text, x): return ne.einsum(text, x)\nf('a -> a', x)", []),
        ("ne.einsum(read(), x)  # nameexpr: ignore", []),
        ("ne.einsum('a -> a', x)", []),
        ("ne.einsum(*given)", [2]),
        ("ne.einsum()", []),
    ],
)
def test_calls_that_cannot_be_read_are_counted(source: str, lines: list[int]) -> None:
    unread = check_python(HEAD + source, "x.py").unread
    assert [finding.region.start.line for finding in unread] == lines
