"""Texts from before parts and positions are parsed to the trees that they had then.

`recorded_trees.txt` has the texts of the cases, the README and some pages of that time, each with its
language and a digest of its tree, spans included. What a node has gained since, empty, makes no difference.

    python -m oracle.test_recorded FILES...    (in tests/) prints such lines for the texts in quotes
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from nameexpr.errors import NameExprError
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.parser.formula import parse_formula

RECORDED = Path(__file__).with_name("recorded_trees.txt")
PARSERS = {"expression": parse, "formula": parse_formula}
QUOTED = r'"""(.*?)"""|"([^"\n]*)"|`([^`\n]*)`|^  (\S[^\n]*)$'


def plain(node: Any) -> Any:
    """A tree as lists: the class of each node, and its fields that are not empty."""
    if isinstance(node, tuple) and not hasattr(node, "_fields"):
        return [plain(part) for part in node]
    names = getattr(node, "_fields", None) or getattr(type(node), "__match_args__", None)
    if names is None:
        return repr(node)
    fields = {name: getattr(node, name) for name in names}
    return [
        type(node).__name__,
        {name: plain(value) for name, value in fields.items() if value not in ((), None)},
    ]


def digest(language: str, text: str) -> str | None:
    """A digest of the tree of a text, None if it has none."""
    try:
        tree = plain(PARSERS[language](text))
    except NameExprError:
        return None
    return hashlib.sha256(json.dumps(tree).encode()).hexdigest()[:12]


def test_old_texts_have_the_trees_that_they_had() -> None:
    lines = RECORDED.read_text(encoding="utf-8").splitlines()
    assert len(lines) > 1000
    for line in lines:
        language, expected, text = line.split(" ", 2)
        assert digest(language, json.loads(text)) == expected, text


if __name__ == "__main__":
    texts = set()
    for path in sys.argv[1:]:
        for match in re.findall(QUOTED, Path(path).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            texts |= {text for text in match if 0 < len(text) < 200}
    for text in sorted(texts):
        for language in PARSERS:
            if (found := digest(language, text)) is not None:
                print(language, found, json.dumps(text))
