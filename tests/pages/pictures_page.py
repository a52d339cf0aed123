"""The pictures of docs/pictures.md: `python -m pages.pictures_page`, run in tests/, draws them again.

An image of the page has the Python that draws it as its title. It is evaluated with the names that the
page's blocks leave.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from pages import documents

PAGE = "docs/pictures.md"
FOLDER = documents.ROOT / "docs" / "images"
IMAGE = re.compile(r'^!\[[^\]]+\]\(images/([\w-]+\.svg) "([^"]+)"\)$', re.MULTILINE)


def drawn(text: str) -> dict[str, str]:
    """Return the pictures of the page by the names of their files."""
    names: dict[str, Any] = documents.names_at_start()
    for fence in documents.fences(text):
        if documents.is_run(fence):
            documents.output_of(fence.body, names)
    return {file: str(eval(source, names)) for file, source in IMAGE.findall(text)}


def main() -> None:
    """Write the pictures, and remove those that are no longer on the page."""
    os.chdir(documents.ROOT)
    pictures = drawn(documents.read(PAGE))
    for path in FOLDER.glob("*.svg"):
        if path.name not in pictures:
            path.unlink()
    for file, picture in pictures.items():
        Path(FOLDER / file).write_text(picture, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
