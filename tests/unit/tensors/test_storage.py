"""save and load: what is written comes back, and no file makes load do anything but fail in our own words."""

from __future__ import annotations

import errno
import io
import json
import operator
import pickle
import re
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nameexpr as ne
from nameexpr.tensors import storage
from oracle.operators import named_shapes, values

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128", ">f4", ">i8"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tensors.npz"


def assert_same(one: ne.NamedTensor, other: ne.NamedTensor) -> None:
    assert type(one) is ne.NamedTensor
    assert one.names == other.names and one.dtype == other.dtype and one.shape == other.shape
    np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "names"), [((2, 3), ("N", None)), ((), ()), ((0, 2), ("a''", "_b")), ((1,), None)]
)
def test_every_dtype_comes_back(path: Path, dtype: str, shape: tuple[int, ...], names: Any) -> None:
    x = ne.from_numpy(np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype), names=names)
    ne.save(path, x)
    assert_same(ne.load(path), x)


def test_bfloat16_comes_back_or_is_refused(path: Path) -> None:
    pytest.importorskip("ml_dtypes")
    x = ne.tensor([1.5, -2.0], names="N").bfloat16()
    try:
        ne.save(path, x)
    except ne.NameExprError:
        assert not path.exists()
    else:
        assert_same(ne.load(path), x)


@settings(max_examples=60)
@given(st.data())
def test_several_tensors_come_back_by_their_names(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("several") / "x.npz"
    keywords = st.sampled_from(["x", "tensor", "file", "arr_0", "names", "é", "allow_pickle", "__x__"])
    tensors = {}
    for keyword in data.draw(st.lists(keywords, min_size=1, max_size=4, unique=True)):
        names, shape = data.draw(named_shapes())
        tensors[keyword] = ne.from_numpy(values(len(tensors), shape), names=names)
    ne.save(path, **tensors)
    loaded = ne.load(path)
    assert list(loaded) == list(tensors)
    for keyword, x in tensors.items():
        assert_same(loaded[keyword], x)


def test_views_and_arrays_are_stored_as_they_look(path: Path) -> None:
    x = ne.tensor(np.arange(6.0).reshape(2, 3), names="N C")
    ne.save(path, t=x.t(), part=x[:, ::-2], array=x.numpy(), wide=x[0].expand(2, 3))
    loaded = ne.load(path)
    assert_same(loaded["t"], x.t())
    assert_same(loaded["part"], x[:, ::-2])
    assert_same(loaded["wide"], x[0].expand(2, 3))
    assert loaded["array"].names == (None, None)


def test_one_tensor_is_returned_itself_and_one_by_keyword_as_a_dict(path: Path) -> None:
    x = ne.tensor([1, 2], names="N")
    ne.save(str(path), x)
    assert_same(ne.load(str(path)), x)
    ne.save(path, tensor=x)
    assert list(ne.load(path)) == ["tensor"]


def test_what_is_loaded_can_be_written_to(path: Path) -> None:
    ne.save(path, ne.tensor([1, 2], names="N"))
    assert ne.load(path).add_(1).tolist() == [2, 3]


def test_numpy_reads_the_arrays(path: Path) -> None:
    ne.save(path, x=ne.tensor([1, 2], names="N"))
    with np.load(path, allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["x"], [1, 2])


@pytest.mark.parametrize("name", ["x.npy", "x", "x.npz.bak", "x.NPZ "])
def test_only_npz_holds_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(ne.NameExprError, match="NE684"):
        ne.save(tmp_path / name, ne.tensor([1]))
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_saved_leaves_no_file(path: Path) -> None:
    x = ne.tensor([1])
    for keyword in ("a b", "x.npy", "a/b", "../a", ""):
        with pytest.raises(ne.NameExprError, match="NE684"):
            ne.save(path, **{keyword: x})
    for positional, keywords in (((), {}), ((x, x), {}), ((x,), {"y": x}), ((), {"__names__": x})):
        with pytest.raises(ne.NameExprError, match="NE684"):
            ne.save(path, *positional, **keywords)
    for dtype in (object, [("a", object)]):
        with pytest.raises(ne.NameExprError):
            ne.save(path, ne.from_numpy(np.zeros(1, dtype)))
    assert not path.exists()


def test_an_unreadable_file_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing"):
        ne.load(tmp_path / "nothing.npz")
    with pytest.raises(OSError, match="nothing"):
        ne.save(tmp_path / "nothing" / "x.npz", ne.tensor([1]))


# Files that save did not write: each is one that it did, with some change.

HEADER, TENSOR = "__names__.npy", "tensor.npy"


class Bomb:
    """Raises ZeroDivisionError where its pickle is executed."""

    def __reduce__(self) -> Any:
        return operator.truediv, (1, 0)


def stored(array: Any, *, shape: str = "") -> bytes:
    """An array as in a .npy file, with another shape in its header if one is given."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    content = file.getvalue()
    if not shape:
        return content
    header = re.sub(rb"'shape': \([^)]*\), \}", f"'shape': {shape}, }}".encode(), content[10:128])
    return content[:10] + header.rstrip()[:117].ljust(117) + b"\n" + content[128:]


def members(path: Path) -> dict[str, bytes]:
    """The entries of a file that holds [0, 1, 2] with the name N."""
    ne.save(path, ne.tensor([0, 1, 2], names="N"))
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)


def named(names: str) -> dict[str, Any]:
    """The change that writes other JSON where the list of names stands."""
    return {HEADER: lambda text: text.replace('["N"]', names)}


THREE = stored(np.arange(3))
HOSTILE: dict[str, dict[str, Any]] = {
    "no header": {HEADER: None},
    "no tensor": {TENSOR: None},
    "nothing": {HEADER: None, TENSOR: None},
    "the header is not an array": {HEADER: b"{}"},
    "the header is not text": {HEADER: THREE},
    "the header is not JSON": {HEADER: lambda text: text[:-1]},
    "the header is a list": {HEADER: lambda text: f"[{text}]"},
    "the header is empty": {HEADER: lambda text: "{}"},
    "the header is deep": {HEADER: lambda text: "[" * 100_000},
    "the names are nested": named('[["N"]]'),
    "the names are a mapping": named('{"N": 1}'),
    "the names are a number": named("1"),
    "too many names": named('["N", "C"]'),
    "too few names": named("[]"),
    "no name": named('["1"]'),
    "dots for a name": named('["..."]'),
    "a name that is a number": named("[1]"),
    "a name that is true": named("[true]"),
    "a control character": named('["\\u001b[2J"]'),
    "a tensor that is not there": {HEADER: lambda text: text.replace('"tensor"', '"other"')},
    "a doubled name": {**named('["N", "N"]'), TENSOR: stored(np.eye(2))},
    "pickle": {TENSOR: stored(np.array([Bomb()], dtype=object))},
    "a pickled header": {HEADER: stored(np.array([Bomb()], dtype=object))},
    "bare pickle": {TENSOR: pickle.dumps(Bomb())},
    "an unknown version": {TENSOR: b"\x93NUMPY\x09\x00garbage"},
    "no array": {TENSOR: b"garbage"},
    "a cut array": {TENSOR: THREE[:-5]},
    "a negative size": {TENSOR: stored(np.arange(3), shape="(-1,)")},
    "a huge size": {TENSOR: stored(np.arange(3), shape="(99999999999999,)")},
    "a shape that is code": {TENSOR: stored(np.arange(3), shape="(exit(),)")},
    "more dims": {TENSOR: stored(np.arange(4), shape="(2, 2)")},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_an_error_of_ours(path: Path, what: str) -> None:
    entries = members(path)
    text = str(np.load(io.BytesIO(entries[HEADER]), allow_pickle=False))
    for name, change in HOSTILE[what].items():
        content = stored(np.array(change(text))) if callable(change) else change
        assert content != entries[name], "the change is none"
        entries[name] = content
    write(path, {name: content for name, content in entries.items() if content is not None})
    with pytest.raises(ne.NameExprError) as caught:
        ne.load(path)
    assert str(caught.value).replace("\n", "").isprintable()


def test_the_files_above_are_made_from_a_good_one(path: Path) -> None:
    entries = members(path)
    assert set(entries) == {HEADER, TENSOR}
    write(path, entries)
    assert_same(ne.load(path), ne.tensor([0, 1, 2], names="N"))


NO_ARCHIVES = [b"", b"PK", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"hello", THREE, pickle.dumps(Bomb())]


@pytest.mark.parametrize("content", NO_ARCHIVES)
def test_what_is_no_archive_is_an_error_of_ours(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ne.NameExprError):
        ne.load(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_archive_gives_its_tensors_or_an_error(path: Path, compression: int) -> None:
    write(path, members(path), compression)
    content = path.read_bytes()
    damaged = [content[:end] for end in range(0, len(content), 37)]
    for place in range(0, len(content), 5):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        damaged.append(bytes(changed))
    for one in damaged:
        path.write_bytes(one)
        try:
            assert_same(ne.load(path), ne.tensor([0, 1, 2], names="N"))
        except ne.NameExprError:
            continue


def packed(path: Path, claimed: tuple[int, ...], content: np.ndarray[Any, Any]) -> None:
    """Write an archive whose array claims a shape, and holds some elements."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": claimed})
    names = json.dumps({"only": True, "tensors": {"tensor": {"names": [None], "dtype": "float64"}}})
    entries = {HEADER: stored(np.array(names)), TENSOR: header.getvalue() + content.tobytes()}
    write(path, entries, zipfile.ZIP_DEFLATED)


def test_a_header_that_promises_more_than_there_is_takes_no_memory(path: Path) -> None:
    packed(path, (3,), np.arange(3.0))
    assert ne.load(path).tolist() == [0, 1, 2]
    packed(path, (1 << 27,), np.arange(3.0))
    tracemalloc.start()
    with pytest.raises(ne.NameExprError, match="NE685"):
        ne.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_more_than_the_memory_of_the_machine_is_not_unpacked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ne.save(path, ne.zeros(1000))
    monkeypatch.setattr(storage, "memory_of_machine", lambda: 8000)
    with pytest.raises(ne.NameExprError, match="NE707"):
        ne.load(path)


def test_a_failed_save_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ne.save(path, ne.tensor([1, 2], names="N"))
    path.chmod(0o640)
    whole = path.read_bytes()

    def fill_the_disk(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", fill_the_disk)
        with pytest.raises(OSError, match="No space left"):
            ne.save(path, ne.tensor([3]))
    assert path.read_bytes() == whole and [one.name for one in path.parent.iterdir()] == [path.name]
    ne.save(path, ne.tensor([3]))
    assert ne.load(path).tolist() == [3] and path.stat().st_mode & 0o777 == 0o640


def test_a_link_to_a_file_stays_one(path: Path) -> None:
    ne.save(path, ne.tensor([1]))
    link = path.with_name("link.npz")
    link.symlink_to(path.name)
    ne.save(link, ne.tensor([2]))
    assert link.is_symlink() and ne.load(path).tolist() == [2]


def test_what_unpacks_to_a_thousand_times_its_size_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    ne.save(path, ne.zeros(12_000_000))
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    tracemalloc.start()
    with pytest.raises(ne.OptionError, match="NE685"):
        ne.load(path)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
