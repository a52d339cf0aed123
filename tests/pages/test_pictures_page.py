"""The pictures of docs/pictures.md are what is drawn."""

from __future__ import annotations

import pytest

from pages import documents, pictures_page
from tools.pictures.text import described, faults

TEXT = documents.read(pictures_page.PAGE)


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    """Return the pictures as they are drawn now."""
    return pictures_page.drawn(TEXT)


def test_the_pictures_are_current(drawn: dict[str, str]) -> None:
    for file, picture in drawn.items():
        kept = (pictures_page.FOLDER / file).read_bytes().decode()
        assert kept == picture, f"{file}: run python -m pages.pictures_page in tests/"


def test_every_file_is_on_the_page_and_every_image_has_a_file(drawn: dict[str, str]) -> None:
    assert TEXT.count("](images/") == len(drawn)
    assert sorted(path.name for path in pictures_page.FOLDER.iterdir()) == sorted(drawn)


def test_all_kinds_are_shown_and_well_made(drawn: dict[str, str]) -> None:
    for picture in drawn.values():
        assert faults(picture) == []
    told = "\n".join(map(described, drawn.values()))
    for kind in ("Tensor network of", "Contraction tree of", "Memory of", "Flow of values", "Flow of steps"):
        assert kind in told
    assert "the limit is" in told


def test_a_page_that_draws_something_else_is_noticed(drawn: dict[str, str]) -> None:
    other = pictures_page.drawn(TEXT.replace("(100, 200)", "(101, 200)"))
    assert other["tree.svg"] != drawn["tree.svg"]
