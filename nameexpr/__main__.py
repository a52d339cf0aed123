"""`python -m nameexpr` is the command `nameexpr`."""

from __future__ import annotations

import sys

from nameexpr.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
