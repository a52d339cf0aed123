"""The blocks that labels get: those of the arrays, halved and merged where they have to be."""

from __future__ import annotations

from nameexpr.backends.dask.blocks import Chunked, Load, fitted, natural_cuts, regular

SIZES = {"i": 100, "j": 60, "k": 8}


def load(*, whole: frozenset[str] = frozenset()) -> Load:
    """Return the load of a product of matrices of 8 bytes an element."""
    terms = ((("i", "k"), 8), (("k", "j"), 8), (("i", "j"), 8))
    return Load(terms, ("i", "j"), whole, SIZES)


def test_a_label_has_the_blocks_of_the_larger_ones_of_arrays_of_similar_size() -> None:
    fine = Chunked((("i",), ("k",)), ((10,) * 10, (8,)), 6400)
    coarse = Chunked((("i",), ("j",)), ((50, 50), (60,)), 48_000)
    light = Chunked((("i",),), ((100,),), 800)
    cuts = natural_cuts([fine, coarse, light], "ijk", (), SIZES)
    assert cuts == {"i": (50, 50), "j": (60,), "k": (8,)}
    assert natural_cuts([fine, coarse], "i", {"i"}, SIZES) == {"i": (100,)}


def test_a_dim_of_several_labels_is_cut_along_its_first() -> None:
    array = Chunked((("i", "k"),), ((80, 720),), 6400)
    assert natural_cuts([array], "ik", {"k"}, SIZES) == {"i": (10, 90), "k": (8,)}
    uneven = Chunked((("i", "k"),), ((100, 700),), 6400)
    assert natural_cuts([uneven], "ik", {"k"}, SIZES)["i"] == regular(100, 87)


def test_blocks_are_halved_until_they_fit_but_not_those_of_whole_labels() -> None:
    cuts = {"i": (100,), "j": (60,), "k": (8,)}
    found = fitted(load(), cuts, 20_000, 3)
    assert found is not None
    assert load().bytes({label: max(own) for label, own in found.items()}) <= 20_000
    kept = fitted(load(whole=frozenset("j")), cuts, 20_000, 3)
    assert kept is not None
    assert kept["j"] == (60,)
    assert fitted(load(whole=frozenset("ijk")), cuts, 20_000, 3) is None


def test_thousands_of_small_blocks_are_merged() -> None:
    cuts = {"i": (1,) * 100, "j": (1,) * 60, "k": (8,)}
    found = fitted(load(), cuts, 1 << 20, 160)
    assert found is not None
    assert len(found["i"]) * len(found["j"]) <= 2000
    assert fitted(load(), cuts, None, 160) == cuts
