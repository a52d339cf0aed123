"""One IPython shell for all tests of the magics."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


@pytest.fixture(scope="module")
def ipython(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InteractiveShell]:
    """One shell that leaves the interpreter as it was."""
    config = Config()
    config.HistoryManager.enabled = False
    main, hook = sys.modules["__main__"], sys.excepthook
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        patch.delattr(builtins, "_", raising=False)  # a doctest may have left it, and IPython then keeps none
        shell = InteractiveShell(config=config)
        yield shell
    shell.restore_sys_module_state()
    sys.modules["__main__"], sys.excepthook = main, hook
