"""Tests of a library that is not installed are left out, and the report says so."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
MODULES = {"array_api": "array_api_strict"}
"""Modules that have another name than the folder of their tests."""
FOLDERS = sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name[0] not in "._")
collect_ignore = [name for name in FOLDERS if find_spec(MODULES.get(name, name)) is None]


def pytest_report_header() -> list[str]:
    return [f"tests/libraries/{name} is left out: the library is not installed" for name in collect_ignore]
