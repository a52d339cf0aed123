"""Strings that do harm where they are executed, unescaped or taken for a path; each holds the word `MARK`.

Those that are code leave a canary: a file in the current folder, or an attribute of `builtins`.
"""

from __future__ import annotations

import builtins
import os
import random
from collections.abc import Iterator

MARK = "zqx"
CANARY = "zqx_canary"
_TOUCH = f"open('{CANARY}','w')"
NEWLINES = (
    "\n",
    "\r",
    "\r\n",
    "\v",
    "\f",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
    "\n\r",
    "\\\n",
)
"""What ends a line somewhere: for Python's source, for its `splitlines`, for a terminal, for JavaScript."""

_MARKUP = [
    "<script>zqx()</script>",
    '"><script>zqx</script><a b="',
    "'><img src=x onerror=zqx>",
    "</text></svg><script>zqx</script>",
    "</code></pre><iframe src='javascript:zqx'>",
    "<!-- zqx -->",
    "-->zqx<b>",
    "]]>zqx<![CDATA[<b>",
    "<?zqx ?>",
    "&lt;zqx&#0;&zqx;",
    "<!DOCTYPE zqx [<!ENTITY zqx SYSTEM 'file:///etc/passwd'>]>",
    "</style>zqx<style>*{}",
    "</title>zqx",
    "zqx<br/>zqx",
    '"] zqx -> zqx ["',
    'zqx"; zqx [label="a"]; "',
    "end\nzqx --> zqx",
    "%%{init: {'zqx': 1}}%%",
    "click zqx call zqx()",
    "zqx`zqx`$zqx$",
]
_TERMINAL = [
    "\x1b[31mzqx",
    "\x1b]0;zqx\x07",
    "\x1b]8;;http://zqx\x1b\\",
    "\x9b2Jzqx",
    "zqx\b\b\b",
    "zqx\x7f\x00zqx",
    "\x00zqx",
    "\u202ezqx\u202c",
    "\u2066zqx\u2069",
    "zqx\u200b\u200d\ufeff",
    "\ud800zqx",
    "zqx\udcff",
    "zqx\U000e0041",
    "zqx" + "\u0301" * 50,
    "zqx\tzqx",
    "\x05\x0e\x0fzqx",
]
_CODE = [
    f"__import__('os').system('echo zqx > {CANARY}')",
    f"');{_TOUCH};('zqx",
    f'");{_TOUCH};("zqx',
    f'"""\n{_TOUCH} # zqx\n"""',
    f"zqx\n{_TOUCH}\n#",
    f"\\'+str({_TOUCH})+\\'zqx",
    f"$({'echo zqx > ' + CANARY})",
    f"`echo zqx > {CANARY}`",
    f"; echo zqx > {CANARY} #",
    f"| echo zqx > {CANARY}",
    f"__import__('builtins').__setattr__('{CANARY}', 1)",
    f"[c for c in ().__class__.__mro__[1].__subclasses__()] or {_TOUCH} #zqx",
    f"{{{_TOUCH}}}zqx",
    "{0.__class__.__mro__}{zqx}",
    "%s%n%zqx%(zqx)s",
    "{}{!r}{zqx:{zqx}}",
    f"lambda: {_TOUCH} #zqx",
    "zqx=1, **{}",
    "::error file=zqx::zqx",
    "\n  ::set-output name=zqx::1",
    "::add-mask::zqx",
]
_PATHS = [
    "../zqx",
    "../../zqx.npy",
    "/tmp/../tmp/zqx",
    "..\\zqx",
    "C:\\zqx",
    "file:///etc/zqx",
    "~/zqx",
    "zqx/../../zqx",
    "\\\\zqx\\zqx",
    "-zqx",
    "--zqx=1",
    "con.zqx",
    "zqx.npz:../zqx",
]
_NAMES = [
    "__class__zqx",
    "self",
    "np",
    "zqx'",
    "__zqx__",
    "a0",
    "None",
    "class",
    "ﬁzqx",
    "ⅷzqx",
    "zqx" * 2000,
    "",
    " zqx ",
    "1zqx",
]
STRINGS: tuple[str, ...] = (
    *_MARKUP,
    *_TERMINAL,
    *_CODE,
    *_PATHS,
    *_NAMES,
    *(f"zqx{newline}{_TOUCH}" for newline in NEWLINES),
)


def strings(count: int) -> Iterator[str]:
    """Yield so many strings: those of the table, spread over it, then random ones made of several."""
    if count <= len(STRINGS):
        yield from (STRINGS[number * len(STRINGS) // count] for number in range(count))
        return
    yield from STRINGS
    rng = random.Random(0)
    for _ in range(count - len(STRINGS)):
        parts = [rng.choice(STRINGS)[:200] for _ in range(rng.choice((2, 2, 3)))]
        cut = [part[: rng.randrange(1, len(part) + 2)] if rng.random() < 0.3 else part for part in parts]
        yield rng.choice(["", " ", '"', "'", "\n", "]", "<"]).join(cut)


def touched() -> str:
    """Return which canary was touched, or ""; it is set back."""
    if os.path.lexists(CANARY):
        os.unlink(CANARY)
        return f"the file {CANARY} was made"
    if hasattr(builtins, CANARY):
        delattr(builtins, CANARY)
        return f"builtins.{CANARY} was set"
    return ""
