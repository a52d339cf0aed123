"""Every example runs from anywhere and says what it should, and its data are what their README says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
DATA = EXAMPLES / "data"

EXPECTED = {
    "attention.py": [
        "patches   B T F    (4, 48, 768)",
        "mixed     B Q (h d) (4, 48, 64)",
        "head 3: 41% of the attention stays on the patch itself, not 2%",
    ],
    "digits_network.py": [
        "seen in training  100% of 60 right, loss 0.01",
        "not seen before   95% of 40 right, loss 0.16",
        "a 9 was read as 8",
    ],
    "digits_convolution.py": [
        "edges (100, 8, 8, 8)  features (100, 3, 3, 8)",
        "not seen before     92% of 40 right, loss 1.61",
        "the first or the second guess is right for 95%",
    ],
    "filters_in_time.py": [
        "error of the noisy row      0.095",
        "error of the Kalman filter  0.077",
        "error of the smoother       0.066",
        "LSTM: 128 steps of 16 units, the same as the loop",
    ],
    "formula_attention.py": [
        "tokens (4, 48, 768)  p (4, 4, 48, 48)  o (4, 48, 32)",
        "the same as by hand",
        "the last patch looks at 38 of 48 patches",
    ],
    "gaussian_mixture.py": [
        "log-likelihood per pixel from 4.56 to 4.87",
        "one Gaussian reaches 4.32",
    ],
    "kmeans_pixels.py": [
        "the mean squared distance falls from 0.0171 to 0.0108",
        "six colours explain 93% of the variance of 12288 pixels",
        "72 MB of distances, where the differences would be 216 MB",
    ],
    "moments_of_inertia.py": [
        "mass 11545 kg, and 11538 kg for the smooth body",
        "energy of rotation 8844 J, both ways",
    ],
    "molecular_forces.py": [
        "13 atoms at the distance 1: energy -28.2012, largest force 36.46",
        "at rest: energy -44.326801, and -44.326801 in the literature",
        "6 of 39 motions have no frequency; the others 6.53 to 24.35",
        "one period of 0.962: the forces agree with the Hessian",
    ],
    "newton_logistic.py": [
        "98 of 1000 digits are eights",
        "  step  0           0.69314718  3.1e-01",
        "  step  4           0.14992977  7.3e-04",
        "  step 1000         0.14993392  1.2e-04",
        "96.5% of the digits are classified correctly",
    ],
    "patches_and_pooling.py": [
        "sizes: {'N': 4, 'y': 6, 'h': 16, 'x': 8, 'w': 16, 'C': 3}",
        "pooled (4, 24, 32, 3) means float64 peaks uint8",
        "the white balance as a matrix: (3, 3) -> (4, 96, 128, 3) float32",
    ],
    "porting_named_tensors.py": [
        "red ('N', 'H', 'W')  colours ('N', 'C') (4, 3)",
        "scaled ('N', 'C', 'H', 'W') (4, 3, 96, 128)",
        "scaled ('N', 'C', 'W') (4, 3, 128)",
        "dark pixels: 11% of the retina, 0% of the coffee",
        "attention ('B', 'h', 'Q', 'K') -> ('B', 'Q', 'D') (4, 48, 32)  7 patches masked",
    ],
    "scale_channels.py": [
        "mean colour of the retina     red 186.7  green  75.2  blue  54.2",
        "luma (4, 96, 128) from 0 to 254",
        "moved ('N', 'C', 'H', 'W') (4, 3, 96, 128)",
    ],
    "spin_chain.py": [
        "12 spins: the exact energy is -14.925971",
        "  bonds of 1:  24 numbers, energy -14.402477, 5.2e-01 too high",
    ],
    "training_digits.py": [
        "800 digits to learn from, 200 held out",
        "before training   loss 2.38, 4% of the held-out digits right",
    ],
    "variational_mixture.py": [
        "3 of 8 components are used, and the bound is -907.7",
    ],
}
WITH_SCIPY = {"molecular_forces.py", "spin_chain.py", "variational_mixture.py"}
"""The examples that use an optimizer of SciPy."""
ARRAYS = {
    "photos.npy": ((4, 96, 128, 3), "uint8"),
    "channel_scale.npy": ((3,), "float32"),
    "digits.npz/images": ((100, 8, 8), "uint8"),
    "digits.npz/labels": ((100,), "uint8"),
    "digits_1000.npz/images": ((1000, 8, 8), "uint8"),
    "digits_1000.npz/labels": ((1000,), "uint8"),
    "digits_network.npz/w1": ((8, 8, 32), "float32"),
    "digits_network.npz/b1": ((32,), "float32"),
    "digits_network.npz/w2": ((32, 10), "float32"),
    "digits_network.npz/b2": ((10,), "float32"),
}
"""Every array of the data: a file, or one in an archive."""


def run(name: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run one example as a user would, from a directory that is not the repository, warnings as errors."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    return subprocess.run(
        command, check=False, cwd=cwd, env=env, capture_output=True, encoding="utf-8", timeout=60
    )


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_example_runs_and_prints_its_lines(name: str, tmp_path: Path) -> None:
    if name in WITH_SCIPY:
        pytest.importorskip("scipy")
    result = run(name, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    missing = [line for line in EXPECTED[name] if line not in result.stdout.splitlines()]
    assert not missing, result.stdout
    assert list(tmp_path.iterdir()) == [], "an example leaves no files behind"


def test_no_example_is_left_out() -> None:
    assert {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_example_imports_numpy_and_nameexpr_only_and_scipy_if_it_is_listed(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    modules = set(re.findall(r"^\s*(?:import|from) (\w+)", text, flags=re.MULTILINE))
    assert modules <= {"__future__", "pathlib", "numpy", "nameexpr", "scipy"}
    assert ("scipy" in modules) == (name in WITH_SCIPY)
    assert "# %%" in text


def test_no_data_file_is_left_out() -> None:
    files = {path.relative_to(DATA).as_posix() for path in DATA.rglob("*") if path.is_file()}
    assert files == {"README.md", *(name.partition("/")[0] for name in ARRAYS)}


def loaded(name: str) -> np.ndarray:
    """Return an array of the data."""
    file, _, member = name.partition("/")
    if not member:
        return np.load(DATA / file, allow_pickle=False)
    with np.load(DATA / file, allow_pickle=False) as archive:
        assert {f"{file}/{one}" for one in archive.files} <= set(ARRAYS)
        return archive[member]


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_the_data_file_is_what_its_readme_says(name: str) -> None:
    shape, dtype = ARRAYS[name]
    array = loaded(name)
    assert (array.shape, array.dtype.name) == (shape, dtype)
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    rows = [line for line in readme.splitlines() if line.startswith(f"| `{name}` |")]
    assert len(rows) == 1
    assert f"| {shape}:" in rows[0] and f"| {dtype} |" in rows[0]


def test_the_data_are_small() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 200_000


def test_the_scale_is_the_grey_world_balance_of_the_photos() -> None:
    means = np.load(DATA / "photos.npy").mean(axis=(0, 1, 2))
    np.testing.assert_allclose(np.load(DATA / "channel_scale.npy"), means.mean() / means, rtol=1e-6)


def test_the_digits_are_digits() -> None:
    images, labels = loaded("digits.npz/images"), loaded("digits.npz/labels")
    assert images.max() == 16
    assert set(labels.tolist()) == set(range(10))
    assert images[0].sum() == 294 and labels[:10].tolist() == list(range(10))
    assert len(np.unique(images, axis=0)) == len(images)
    more, their_labels = loaded("digits_1000.npz/images"), loaded("digits_1000.npz/labels")
    np.testing.assert_array_equal(more[:100], images)
    np.testing.assert_array_equal(their_labels[:100], labels)
    assert np.bincount(their_labels).tolist() == [99, 102, 100, 104, 98, 100, 101, 99, 98, 99]
