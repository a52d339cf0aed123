"""Files that are made to be run or to fill the memory: pickles in every disguise, archives that are bombs.

Each is read in a process of its own, by `nameexpr.load` or by the command line, and watched from outside.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hardening.hostile_strings import CANARY

ROOM = 300_000_000
"""Bytes by which a process may grow over a file."""
SECONDS = 5.0
"""Processor time that reading one may take."""
STOP = 1_000_000_000
"""Bytes at which a process is stopped, so that the machine does not suffer."""
STOPPED = -9
DECLARED = 3_000_000_000
_CHUNK = 1 << 24


class Canary:
    """What makes a file in the current folder when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (CANARY, "w")


def pickles() -> Iterator[str]:
    """Write pickles that leave a canary, under all names, and yield their paths."""
    raw = pickle.dumps(Canary())
    for suffix in (".npy", ".npz", ".csv", ".pkl", ""):
        yield _file(f"raw{suffix}", raw)
    array = np.array([Canary()], object)
    np.save("objects.npy", array, allow_pickle=True)
    yield "objects.npy"
    np.savez("objects.npz", x=array)
    yield "objects.npz"
    np.savez(
        "named.npz",
        **{
            "tensor": array,
            "__names__": np.array(
                '{"only": true, "tensors": {"tensor": {"names": null, "dtype": "object"}}}'
            ),
        },
    )
    yield "named.npz"
    np.savez("names.npz", **{"tensor": array, "__names__": array})
    yield "names.npz"
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
    yield _file("header.npy", b"\x93NUMPY\x01\x00\x76\x00" + header + raw)
    yield _file(
        "python2.npy", b"\x93NUMPY\x01\x00\x76\x00" + header.replace(b"(1,)", b"(1L,)").ljust(118)[:118] + raw
    )


def bombs(declared: int = DECLARED) -> Iterator[str]:
    """Write archives that unpack to far more than they hold, and arrays that promise it; yield the paths."""
    cells = declared // 8
    npy = _header("<f8", (cells,))
    names = _npy_text('{"only": true, "tensors": {"tensor": {"names": ["a"], "dtype": "float64"}}}')
    yield _archive("bomb.npz", {"tensor.npy": (npy, declared, None), "__names__.npy": (names, 0, None)})
    texts = _header(f"<U{declared // 4 // 300}", (300,))
    yield _archive(
        "names_bomb.npz", {"__names__.npy": (texts, declared, None), "tensor.npy": (texts, declared, None)}
    )
    yield _archive("liar.npz", {"tensor.npy": (npy, declared, 1000), "__names__.npy": (names, 0, None)})
    yield _archive("noise.npz", {"tensor.npy": (b"", declared, None), "__names__.npy": (names, 0, None)})
    yield _file("promise.npy", npy + bytes(100))
    yield _archive(
        "promise.npz", {"tensor.npy": (npy + bytes(100), 0, None), "__names__.npy": (names, 0, None)}
    )
    yield _file("deep.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 9000) + b"(" * 9000)
    yield _file("long.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b"(" * 9000)


def _file(path: str, content: bytes) -> str:
    Path(path).write_bytes(content)
    return path


def _header(descr: str, shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def _npy_text(text: str) -> bytes:
    return _header(f"<U{len(text)}", ()) + text.encode("utf-32-le")


def _archive(path: str, entries: dict[str, tuple[bytes, int, int | None]]) -> str:
    """Write an archive by hand: for each entry what it begins with, the zeros that follow, and the size told.

    The checksum of an entry that goes on in zeros is wrong, which is noticed only when all is unpacked.
    """
    written, directory = b"", b""
    for name, (head, zeros, size) in entries.items():
        packed = _deflated(head, zeros)
        crc = 0 if zeros else zlib.crc32(head)
        told = len(head) + zeros if size is None else size
        common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(packed), told, len(name), 0)
        directory += (
            struct.pack("<4sH", b"PK\x01\x02", 20)
            + common
            + struct.pack("<HHHII", 0, 0, 0, 0, len(written))
            + name.encode()
        )
        written += b"PK\x03\x04" + common + name.encode() + packed
    end = struct.pack(
        "<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(entries), len(entries), len(directory), len(written), 0
    )
    return _file(path, written + directory + end)


def _deflated(head: bytes, zeros: int) -> bytes:
    """Return a deflate stream of some bytes and very many zeros, the blocks of which are repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(_CHUNK)) + packer.flush(zlib.Z_FULL_FLUSH) if zeros else b""
    last = packer.compress(bytes(zeros % _CHUNK)) + packer.flush(zlib.Z_FINISH)
    return first + block * (zeros // _CHUNK) + last


class Outcome(NamedTuple):
    """What came of reading a file: the status, what was said, growth in bytes, processor time."""

    status: int
    said: str
    growth: int
    seconds: float


_CHILD = """
import sys, time
import numpy, nameexpr as ne
from nameexpr.cli.main import main
from nameexpr.cli import computing  # what is loaded late is not growth
import zipfile
def held(word):
    try:
        lines = open("/proc/self/status").read().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(word)), 0)
how, path = sys.argv[1:]
before, start, status = held("VmHWM"), time.process_time(), 0
try:
    if how == "load":
        ne.load(path)
    else:
        status = main(["eval", "a -> : sum", path + (":tensor" if path.endswith(".npz") else "")])
except ne.NameExprError as fault:
    status = 1
    print(fault, file=sys.stderr)
print("FIGURES", held("VmHWM") - before, time.process_time() - start, flush=True)
sys.exit(status)
"""
READERS = ("load", "command")


def read(how: str, path: str) -> Outcome:
    """Read a file in a process of its own, which is stopped if it takes far more than it may."""
    root = Path(__file__).parents[2]
    paths = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))
    start = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", _CHILD, how, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
    ) as child:
        while child.poll() is None:
            if _resident(child.pid) > STOP or time.monotonic() - start > 20 * SECONDS:
                resident = _resident(child.pid)
                child.kill()
                return Outcome(STOPPED, "", resident, 0.0)
            time.sleep(0.01)
        said = child.stdout.read() if child.stdout else ""
    _, found, figures = said.rpartition("FIGURES ")
    growth, seconds = map(float, figures.split()[:2]) if found else (0.0, 0.0)
    return Outcome(child.returncode, said, int(growth), seconds)


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )
    except (OSError, ValueError, IndexError):
        return 0


def wrong(outcome: Outcome) -> Iterator[str]:
    """Yield what must not happen over a file."""
    if outcome.status == STOPPED:
        yield f"it was stopped when it held {outcome.growth / 1e6:,.0f} MB"
        return
    if outcome.growth > ROOM:
        yield f"it takes {outcome.growth / 1e6:,.0f} MB of memory"
    if outcome.seconds > SECONDS:
        yield f"it takes {outcome.seconds:.1f} s"
    if outcome.status not in (1, 2) or "Traceback" in outcome.said:
        yield f"it was read: status {outcome.status}, {outcome.said[-300:]}"
