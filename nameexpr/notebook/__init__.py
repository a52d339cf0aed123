"""NameExpr in IPython and Jupyter: `%load_ext nameexpr` adds the magics `%ne` and `%%ne`.

IPython calls these two functions, and is already imported then: nothing here imports it before.
"""

from __future__ import annotations

from typing import Any

from nameexpr.notebook.magics import IDENTIFIER, Magic, matcher

__all__ = ["load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(ipython: Any) -> None:
    """Add `%ne` and `%%ne` to a running IPython; ``%load_ext nameexpr`` calls this.

    Parameters
    ----------
    ipython : InteractiveShell
        The shell, whose variables the magics compute with.
    """
    ipython.register_magic_function(Magic(ipython), "line_cell", "ne")
    _forget_matcher(ipython)
    ipython.Completer.custom_matchers.append(matcher(ipython))


def unload_ipython_extension(ipython: Any) -> None:
    """Remove the magics; ``%unload_ext nameexpr`` calls this.

    Parameters
    ----------
    ipython : InteractiveShell
        The shell that they were added to.
    """
    for kind in ("line", "cell"):
        ipython.magics_manager.magics[kind].pop("ne", None)
    _forget_matcher(ipython)


def _forget_matcher(ipython: Any) -> None:
    matchers = ipython.Completer.custom_matchers
    matchers[:] = [one for one in matchers if getattr(one, "matcher_identifier", "") != IDENTIFIER]
