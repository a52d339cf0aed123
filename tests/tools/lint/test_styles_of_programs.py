"""Mistakes in the styles of programs that use einops, einsum and pytest, and what these programs do right:
styles_wrong.txt, styles_right.txt, and styles_unread.txt for what is only counted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from nameexpr.lint.files import check_file
from nameexpr.lint.modules import Modules
from nameexpr.lint.python import check_python
from tools.lint.test_styles import HEAD, lines_of

HERE = Path(__file__).parent


def corpus(name: str) -> dict[str, str]:
    """Return the sources of a file by their titles."""
    cases = (HERE / name).read_text(encoding="utf-8").removeprefix("# ").split("\n=====\n# ")
    return dict(case.split("\n", 1) for case in cases)  # type: ignore[arg-type]


def lines_marked(source: str) -> list[int]:
    """Return the lines with the comment ``wrong``, once for each word; the first is that of `HEAD`."""
    lines = enumerate(source.split("\n"), 2)
    return [number for number, line in lines for _ in range(line.partition("  # ")[2].count("wrong"))]


WRONG, UNREAD, RIGHT = map(corpus, ("styles_wrong.txt", "styles_unread.txt", "styles_right.txt"))


@pytest.mark.parametrize("style", WRONG)
def test_a_mistake_is_found_in_the_styles_of_programs(style: str) -> None:
    assert lines_of(WRONG[style]) == lines_marked(WRONG[style])


@pytest.mark.parametrize("style", UNREAD)
def test_a_call_in_another_style_is_counted(style: str) -> None:
    checked = check_python(HEAD + UNREAD[style], "x.py")
    assert (checked.findings, len(checked.unread)) == ((), 1)


@pytest.mark.parametrize("title", RIGHT)
def test_nothing_is_reported_that_a_program_does_right(title: str) -> None:
    assert lines_of(RIGHT[title]) == []


WRAPPER = f"{HEAD}def run(text, *xs): return ne.einsum(text, *xs)\n"
LAYER = f"{HEAD}class Mix:\n    def __init__(self, pattern): self.mix = ne.compile(pattern)\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"ops.py": WRAPPER, "use.py": "from ops import run  # nameexpr\nrun('a -> b', x)"}, [2]),
        ({"ops.py": WRAPPER, "use.py": "import ops  # nameexpr\nops.run('a b, b c -> a c', x)"}, [2]),
        ({"ops.py": LAYER, "use.py": "from ops import Mix  # nameexpr\nMix('a -> b')"}, [2]),
        (
            {"ops.py": LAYER, "use.py": "from ops import Mix  # nameexpr\nclass B(Mix): pass\nB('a -> b')"},
            [3],
        ),
        (
            {
                "ops.py": WRAPPER,
                "more.py": "from ops import run as go  # nameexpr\ndef twice(t, x): return go(t, x)\n",
                "use.py": "from more import twice  # nameexpr\ntwice('a -> b', x)",
            },
            [2],
        ),
        (
            {
                "ops.py": f"{WRAPPER}from use import T\nrun(T)\n",
                "use.py": "import ops  # nameexpr\nT = 'a -> a'\nops.run('a -> b', x)",
            },
            [3],
        ),
    ],
)
def test_a_text_is_followed_into_other_files(files: dict[str, str], found: list[int], tmp_path: Path) -> None:
    for name, source in files.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    checked = check_file(str(tmp_path / "use.py"), Modules())
    assert [one.region.start.line for one in checked.findings] == found


def test_files_are_named_as_the_checked_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "texts.py").write_text("MEAN = 'a -> a : maen'\n", encoding="utf-8")
    (tmp_path / "use.py").write_text(f"{HEAD}from texts import MEAN\nne.einsum(MEAN, x)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert [one.path for one in check_file("use.py", Modules()).findings] == ["texts.py"]
