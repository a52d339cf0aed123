"""Records beside frozen dataclasses of the same fields: made, compared, printed, copied and changed alike."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import dataclass

import pytest

from nameexpr.records import field, record, replace


@record
class Node:
    """A record with a field that does not count, and one that has a default."""

    name: str
    size: int = 3
    span: tuple[int, int] = field(default=(0, 0), compare=False)

    @property
    def doubled(self) -> int:
        """Methods and properties stay."""
        return 2 * self.size


@dataclass(frozen=True, slots=True)
class Twin:
    """The same as a dataclass."""

    name: str
    size: int = 3
    span: tuple[int, int] = dataclasses.field(default=(0, 0), compare=False)


@record(frozen=False)
class Pile:
    """A record that changes, with a list of its own."""

    notes: list[str] = field(default_factory=list)
    count: int = 0


CALLS = [("a",), ("a", 3), ("a", 3, (1, 2)), ("a", 4), ("b",), ("a", 4, (5, 6))]


@pytest.mark.parametrize("one", CALLS)
@pytest.mark.parametrize("other", CALLS)
def test_equality_and_hashes_are_those_of_a_dataclass(one: tuple, other: tuple) -> None:
    assert (Node(*one) == Node(*other)) is (Twin(*one) == Twin(*other))
    if Node(*one) == Node(*other):
        assert hash(Node(*one)) == hash(Node(*other))


def test_it_prints_like_a_dataclass() -> None:
    assert repr(Node("a", 4)) == repr(Twin("a", 4)).replace("Twin", "Node")


def test_constructors_take_the_same_parameters() -> None:
    Node("a")  # the constructor is written when the first record is made
    assert list(inspect.signature(Node).parameters) == list(inspect.signature(Twin).parameters)
    assert Node(size=5, name="a") == Node("a", 5)


@pytest.mark.parametrize(
    ("values", "options"), [((), {}), (("a", 1, (0, 0), 2), {}), (("a",), {"colour": 1})]
)
def test_wrong_arguments_are_type_errors(values: tuple, options: dict) -> None:
    with pytest.raises(TypeError):
        Node(*values, **options)


def test_the_very_first_record_of_a_class_may_be_wrong_or_by_keyword() -> None:
    @record
    class Fresh:
        left: int
        right: int

    with pytest.raises(TypeError):
        Fresh(1)  # type: ignore[call-arg]
    assert Fresh(right=2, left=1) == Fresh(1, 2)


def test_frozen_records_do_not_change() -> None:
    node = Node("a")
    with pytest.raises(AttributeError, match="does not change"):
        node.name = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="does not change"):
        del node.size
    with pytest.raises(AttributeError):
        node.colour = "red"  # type: ignore[attr-defined]
    assert node == Node("a")


def test_records_of_other_classes_differ() -> None:
    assert Node("a") != Twin("a")
    assert Node("a") != ("a", 3, (0, 0))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda node: pickle.loads(pickle.dumps(node))])
def test_copies_are_equal_and_keep_what_does_not_count(copied) -> None:
    again = copied(Node("a", 5, (1, 2)))
    assert again == Node("a", 5)
    assert again.span == (1, 2)


def test_replace_changes_some_fields() -> None:
    assert replace(Node("a", 5, (1, 2)), size=7).span == (1, 2)
    assert replace(Node("a", 5), size=7) == Node("a", 7)
    with pytest.raises(TypeError):
        replace(Node("a"), colour="red")


def test_match_takes_fields_by_position() -> None:
    match Node("a", 8):
        case Node(name, size):
            assert (name, size) == ("a", 8)
    assert Node("a", 8).doubled == 16


def test_records_that_change_have_values_of_their_own() -> None:
    one, other = Pile(), Pile()
    one.notes.append("x")
    one.count += 1
    assert (other.notes, other.count) == ([], 0)
    assert one != other
    with pytest.raises(TypeError):
        hash(one)
