"""NumPy as a target of the compiler: its costs and thresholds, from the profile of the machine at hand.

The profile is chosen when a text is first used: the file that `NAMEEXPR_TARGET` names; one that
`nameexpr calibrate` wrote for this processor, BLAS and number of threads; of those that ship for its BLAS
kernels and threads, that of the most similar processor; or the generic one. `NAMEEXPR_TARGET=generic` makes
plans the same on every machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from math import fsum
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

from nameexpr.backends.numpy.costs import GENERIC, Profile
from nameexpr.backends.numpy.costs.calls import NumpyCosts
from nameexpr.compiler.ir.target import OPTIONAL, Target
from nameexpr.forks import lock

if TYPE_CHECKING:
    from nameexpr.compiler.ir.layouts import OperandLayout
    from nameexpr.compiler.ir.program import Program, Shape

SHIPPED = os.path.join(os.path.dirname(__file__), "profiles")
"""The folder of the profiles that ship."""


def target_of(profile: Profile) -> Target:
    """Return the target for a machine."""
    return Target(
        costs=NumpyCosts(profile),
        program_cost=partial(_program_cost, profile),
        native=OPTIONAL - {"contraction"},
        loop_axes=52,  # letters that `numpy.einsum` accepts
        any_layout_cells=256,
        near_bytes=profile.near_cache,
        float_products=24**3,  # R21
        real_products=16**3,  # R23
        parts_products=32,
        tiny_product=8**3,
        many_products=32,
        mirrored_products=1 << 20,
        outer_cells=profile.outer_cells,
        scaled_bytes=profile.scaled_bytes,
        scaled_runs=range(profile.least_scaled_run, profile.most_scaled_run + 1),
        pairwise_cells=256,
        least_cells=32,
        summed_bytes=profile.last_cache // 2,
        sliced_cells=16,
        block_cells=profile.second_cache // 16,  # one or two of float64 fit
        block_rows=4,
        run_cells=64,
        fused_cells=profile.second_cache // 8,
        chain_length=4,
        huge_cells=profile.last_cache // 16,
        huge_chain_length=2,
        apart_reads=4,
        copied_reads=16,
        tiled_bytes=profile.second_cache,
        tile_cells=1 << 14,  # below it the Python loop is noticeable
        cached_cells=profile.second_cache // 16,
        held_cells=1 << 12,
        held_growth=2,
        held_work=16,
        held_bytes=1 << 28,
        copied_work=4,
        step_flops=20_000.0,
        placed_flops=4.0,
    )


def _program_cost(
    profile: Profile, program: Program, shapes: Sequence[Shape], given: Sequence[OperandLayout]
) -> float:
    from nameexpr.backends.numpy.costs.program import NANO, estimate_seconds

    return fsum(estimate_seconds(program, shapes, given, profile)) / NANO


TARGET = target_of(GENERIC)
"""The target for a machine of which nothing is known."""

PREFIXES, SUFFIXES = ("scipy_openblas", "openblas"), ("64_", "")
CORES = [f"{prefix}_get_corename{suffix}" for prefix in PREFIXES for suffix in SUFFIXES]
"""The functions of OpenBLAS, as NumPy's wheels and distributions have it, that name its kernels."""
COUNTS = [f"{prefix}_get_num_threads{suffix}" for prefix in PREFIXES for suffix in SUFFIXES]
COUNTS += ["MKL_Get_Max_Threads", "bli_thread_get_num_threads"]
"""The functions of OpenBLAS, MKL and BLIS that return the number of threads."""
VARIABLES = (
    "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "OMP_NUM_THREADS",
)  # fmt: skip


class MachineName(NamedTuple):
    """What a profile is for: the widest instructions of a processor ("avx512"), its make, family and model
    ("amd-26-2"), the BLAS and whose kernels it runs, its threads, and the version of NumPy.
    """

    simd: str
    processor: str
    blas: str
    core: str
    threads: int
    numpy: str

    def shipped(self, threads: int) -> str:
        """Return the name of the file of a profile that ships."""
        return f"{self.processor}-{self.simd}-{self.core}-{threads}.json"

    def nearest(self, names: Sequence[str], threads: int) -> str:
        """Return the name of the profile for these kernels whose processor is most like this one, or ""."""
        kernels, parts = f"-{self.simd}-{self.core}-{threads}.json", self.processor.split("-")
        fitting = [name for name in names if name.endswith(kernels)]
        return max(fitting, key=lambda name: list(map(eq, name.split("-"), parts)), default="")

    @property
    def own(self) -> str:
        """The name of the file of this machine's own profile."""
        numpy = ".".join(self.numpy.split(".")[:2])
        return f"{self.processor}-{self.simd}-{self.blas}-{self.core}-{self.threads}-numpy-{numpy}.json"


class ChosenProfile(NamedTuple):
    """The profile that is used, the target made from it, and the path of its file, "" for the generic one."""

    profile: Profile
    target: Target
    path: str = ""


_choice: ChosenProfile | None = None


def current() -> ChosenProfile:
    """Return the profile of this machine, chosen by the first call, and the target made from it."""
    return _choice or _chosen()


def current_target() -> Target:
    """Return the target that texts are compiled for."""
    return (_choice or _chosen()).target


def use(profile: Profile | None, path: str = "") -> None:
    """Use this profile from now on; None chooses again (`nameexpr.runtime.machine` informs the entries)."""
    global _choice  # noqa: PLW0603  the one machine that the process runs on
    _choice = None if profile is None else ChosenProfile(profile, target_of(profile), path)


def _chosen() -> ChosenProfile:
    with lock:
        if _choice is None:
            use(*_find(os.environ.get("NAMEEXPR_TARGET", "").strip()))
        assert _choice is not None
        return _choice


def _find(named: str) -> tuple[Profile, str]:
    """Return the profile to use, and the path of its file."""
    if named == "generic":
        return GENERIC, ""
    machine = this_machine()
    own = named or os.path.join(cache_folder(), machine.own)
    if named or os.path.exists(own):
        from nameexpr.backends.numpy.profiles import read_or_warn

        read = read_or_warn(own, "" if named else machine.own.removesuffix(".json"))
        return (GENERIC, "") if read is None else (read, own)
    path = _shipped(machine)
    if not path:
        return GENERIC, ""
    import json

    with open(path, encoding="utf-8") as file:
        return Profile(**json.load(file)["figures"]), path


def _shipped(machine: MachineName) -> str:
    """Return the path of the profile that ships for the most similar machine, or ""."""
    files = sorted(os.listdir(SHIPPED))
    counts = [count for count in (machine.threads, 2, 1) if count <= machine.threads]
    found = next(filter(None, (machine.nearest(files, count) for count in counts)), "")
    return os.path.join(SHIPPED, found) if found else ""


def cache_folder() -> str:
    """Return the folder for profiles of this user's machines, which need not exist."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or home, "nameexpr", "Cache")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Caches", "nameexpr")
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(cache if os.path.isabs(cache) else os.path.join(home, ".cache"), "nameexpr")


def this_machine() -> MachineName:
    """Return what a profile for this process must be for, in about 0.2 ms."""
    import numpy as np

    core: Any = np._core._multiarray_umath  # type: ignore[attr-defined]
    features = {name for name, has in core.__cpu_features__.items() if has}
    widths = {"avx512": "AVX512_SKX", "avx2": "AVX2", "sve": "SVE", "neon": "ASIMD"}
    simd = next((width for width, feature in widths.items() if feature in features), "plain")
    processor = _processor()
    built: Any = np.show_config(mode="dicts")
    blas = built.get("Build Dependencies", {}).get("blas", {})
    name = _slug(blas.get("name", "unknown"))
    kernels = name if (ask := loaded_blas()[0]) is None else _slug(ask().decode())
    version = _slug(f"{name} {blas.get('version', '')}")
    return MachineName(simd, processor, version, kernels, blas_threads(), np.__version__)


def _processor() -> str:
    """Return the make, family and model of the processor."""
    if sys.platform == "win32":  # "AMD64 Family 25 Model 33 Stepping 0, AuthenticAMD"
        told, _, vendor = os.environ.get("PROCESSOR_IDENTIFIER", "").rpartition(", ")
        words = told.split()
        return _slug(" ".join([_make(vendor), *words[2:3], *words[4:5]]))
    if sys.platform == "darwin":
        return _slug(_brand())
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lines = [line.split(":", 1) for line in file.read(2000).split("\n\n")[0].splitlines()]
    except OSError:
        return "unknown"
    told_by = {line[0].strip(): line[1].strip() for line in lines if len(line) > 1}
    vendor = told_by.get("vendor_id") or told_by.get("CPU implementer", "unknown")
    keys = ("cpu family", "model", "CPU part")
    return _slug(" ".join([_make(vendor), *(told_by[key] for key in keys if key in told_by)]))


def _make(vendor: str) -> str:
    return {"AuthenticAMD": "amd", "GenuineIntel": "intel", "0x41": "arm"}.get(vendor, vendor)


def _brand() -> str:
    """Return what macOS calls the processor: "Apple M1"."""
    import ctypes

    told, size = ctypes.create_string_buffer(128), ctypes.c_size_t(128)
    ask = ctypes.CDLL(None).sysctlbyname
    ask(b"machdep.cpu.brand_string", told, ctypes.byref(size), None, ctypes.c_size_t(0))
    return told.value.decode("utf-8", "replace") or "unknown"


def blas_threads() -> int:
    """Return the number of threads that compute a product of matrices: as the loaded BLAS returns it, else as
    environment variables set it, else that of the processors.
    """
    count = 0 if (ask := loaded_blas()[1]) is None else ask()
    named = next((os.environ[name] for name in VARIABLES if name in os.environ), "")
    return count if count > 0 else max(1, int(named)) if named.isdigit() else os.cpu_count() or 1


@cache
def loaded_blas() -> tuple[Callable[[], bytes] | None, Callable[[], int] | None]:
    """Return the functions of the loaded BLAS that return the name of its kernels, if it is OpenBLAS, and the
    number of threads.

    A symbol of a module of NumPy is looked up in the libraries that it needs, too, except on Windows.
    """
    try:
        import ctypes
    except ImportError:  # Python in a browser
        return None, None
    import numpy as np

    paths = [getattr(np._core._multiarray_umath, "__file__", "")]  # type: ignore[attr-defined]
    if sys.platform == "win32":
        folder = os.path.join(os.path.dirname(paths[0]), "..", "..", "numpy.libs")
        paths = [os.path.join(folder, name) for name in os.listdir(folder)] if os.path.isdir(folder) else []
    for path in paths:
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        core, threads = (
            next((getattr(library, name) for name in names if hasattr(library, name)), None)
            for names in (CORES, COUNTS)
        )
        if core is not None:
            core.restype = ctypes.c_char_p
        if threads is not None:
            return core, threads
    return None, None


def _slug(text: str) -> str:
    """Return a text as part of the name of a file.

    >>> _slug("Apple M1 Pro")
    'apple-m1-pro'
    """
    return "-".join("".join(one if one.isalnum() or one == "." else " " for one in text.lower()).split())
