"""A session that has something to work on."""

from __future__ import annotations

import pytest

from nameexpr.session.commands import new_session
from nameexpr.session.session import Session


@pytest.fixture
def session() -> Session:
    session = new_session()
    for line in ("x = arange(N=2, C=3)", "w = ones(C=3)"):
        assert not session.run(line).is_fault
    return session
