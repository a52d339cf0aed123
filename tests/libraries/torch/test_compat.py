"""`nameexpr.compat` on arrays of PyTorch."""

from __future__ import annotations

import torch

from libraries.compat import check_contractions, check_patterns
from nameexpr.compat.einops import rearrange, reduce


def test_contractions_have_the_type_of_their_operands() -> None:
    check_contractions(torch)


def test_patterns_have_the_type_of_their_operands() -> None:
    check_patterns(torch)


def test_patterns_are_traced_for_all_sizes() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        b = x.shape[1]
        y = rearrange(x, "a b c -> (a b) c")
        return reduce(rearrange(y, "(a b) c -> b a c", b=b), "b a c -> b c", "sum")

    compiled = torch.compile(function, backend="eager", fullgraph=True, dynamic=True)
    for shape in ((2, 3, 4), (5, 6, 7)):
        x = torch.rand(shape)
        torch.testing.assert_close(compiled(x), x.sum(0))
