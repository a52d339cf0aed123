"""`nameexpr lsp`: the language server for editors, on standard input and output; by pygls."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

EXAMPLES = """\
examples:
  nameexpr lsp                                   how editors start it

In Python files, the server marks mistakes in expressions and formulas as you type, completes names,
explains what is under the pointer, and offers fixes. docs/editors.md describes the set-up for VS Code,
PyCharm, Neovim, Emacs and Helix. It needs pygls: pip install 'nameexpr[lsp]'."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add `--stdio`, which some editors pass to every server."""
    parser.add_argument("--stdio", action="store_true", help="use standard input and output (the default)")


def run(options: Namespace) -> None:
    """Serve until the editor requests exit, or closes standard input (NE686 if pygls is not installed)."""
    try:
        from nameexpr.lsp.server import serve
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        from nameexpr.errors import Diagnostic, error

        message = "the language server needs pygls, which is not installed"
        raise error(Diagnostic("NE686", message, hint="pip install 'nameexpr[lsp]'")) from missing
    serve()
