"""`nameexpr gradient`: the text that it prints, and what it says of texts without one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nameexpr.cli.main import main
from tools.cli.helpers import fails, folder  # noqa: F401  every test runs in it

LOSS = "loss = mean[N]((sum[C](x[N C] * w[C]) + b - y[N]) ** 2)"
WRITTEN = """u1[N] = sum[C](x[N C] * w[C]) + b - y[N]
loss = mean[N](u1 ** 2)
u2[N] = 2 * u1 / size[N]
d_w[C] = sum[N](u2 * x[N C])
d_b = sum[N](u2)
"""


@pytest.mark.parametrize("names", ["w b", "w,b"])
def test_gradients_are_printed_as_a_formula(names: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gradient", LOSS, "--wrt", names]) == 0
    assert capsys.readouterr().out == WRITTEN


def test_shapes_do_not_change_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gradient", LOSS, "x=3,3", "w=3", "y=3", "b=()", "--wrt", "w b"]) == 0
    assert capsys.readouterr().out == WRITTEN


def test_a_formula_with_derivatives_is_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gradient", "h[C D] = grad(grad(sum[C](w[C] ** 3), w[C]), w[D])"]) == 0
    assert "grad" not in capsys.readouterr().out


def test_dtypes_are_read_from_files(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("z.npy", np.ones(2, complex))
    text = ["gradient", "y = sum[N](abs(z[N] * v[N]) ** 2)", "--wrt", "z"]
    assert main([*text, "z=z.npy", "v=z.npy"]) == 0
    assert "conj(v[N])" in capsys.readouterr().out
    assert main([*text, "--dtype", "complex128"]) == 0
    assert "conj(v[N])" in capsys.readouterr().out
    assert Path("z.npy").exists()


def test_json_has_the_text_and_the_names_of_gradients(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gradient", "y = sum[N](x[N] ** 2)", "--wrt", "x", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"text": "y = sum[N](x[N] ** 2)\nd_x[N] = 2 * x[N]", "gradients": {"x": "d_x"}}


def test_texts_without_gradients_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    said = fails(capsys, "gradient", "y[N] = x[N] * w[N]", code=2)
    assert "by which operands are the gradients? name them, such as --wrt 'x w'" in said
    assert "NE531" in fails(capsys, "gradient", "N C -> N", "--wrt", "x")
    assert "NE531" in fails(capsys, "gradient", "y[N] = x[N] * 2", "--wrt", "x")
    assert "NE534" in fails(capsys, "gradient", LOSS, "--wrt", "z")
    assert "NE539" in fails(capsys, "gradient", "y = sum[...](x[...] * z[...])", "--wrt", "x")
    assert "arguments are required: EXPR; see" in fails(capsys, "gradient", "--wrt", "x", code=2)
