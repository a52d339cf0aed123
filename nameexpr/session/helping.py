"""The output of `:help WORD` and `WORD?`, and the signatures in the line below the input.

A word may be a tensor, a dim, a function, an operator, a command, a setting, an error code, or a name of `np`
and `ne`. A word with two meanings is explained twice.

>>> from nameexpr.session.commands import new_session
>>> print(help_about(new_session(), "softmax"))
softmax[C](x)
  exponentials over their sum along axes
  The dims in brackets stay. Takes integers and floats, and returns floats.
>>> signature_at("y[N] = sum[C](softmax[K](x) * ")
'sum[C](x)  the sum; of a product, a contraction'
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from nameexpr.carets import visible
from nameexpr.errors import did_you_mean
from nameexpr.ops import ALONG, CALLS, CONSTANTS, INDEX, OPERATORS, REDUCTIONS, SIGNS, SIZE, Function
from nameexpr.pictures.words import bytes_text
from nameexpr.session.layout import filled
from nameexpr.session.lines import ALIASES, COMMANDS, FACTORIES, MODULES
from nameexpr.session.settings import SETTINGS, listed
from nameexpr.session.values import described
from nameexpr.syntax.faults.stops import NAME, open_brackets
from nameexpr.terminal.faults import LineError

if TYPE_CHECKING:
    from nameexpr.session.session import Session

ROWS: Mapping[str, Function] = {**CALLS, **REDUCTIONS, **ALONG}
"""The functions of formulas by name."""
SPECIAL: Mapping[str, tuple[str, str]] = {
    SIZE: (f"{SIZE}[C]", "the size of a dim"),
    INDEX: (f"{INDEX}[C]", "0, 1, ... along a dim"),
    **{name: (name, f"the number {value:.6g}") for name, value in CONSTANTS.items()},
}
"""Usage and description of the reserved names of formulas."""
_DIMS = {
    "pointwise": "Computed element by element.",
    "reduction": "The dims in brackets are removed. Also a reducer of expressions: N C -> N : {name}",
    "gradient": "Its dims are those of the value, then those of the operand or the earlier statement.",
    "along one": "The dim in brackets stays.",
    "along many": "The dims in brackets stay.",
}
FORMS: Mapping[str, tuple[str, str]] = {
    "parts": (
        "(a + b)",
        "A dim that is a, followed by b. Reading skips numbers, and the rest with _: x[(1 + T)],\n"
        "  x[(T=3 + _)]. On the left each part has a value, numbers are 0: y[N (a + b)] = x[N a], z[N b].",
    ),
    "positions": (
        "H@place",
        "The dim H, read at a position: a number, a label, or a value in parentheses, where a bare name\n"
        "  is a label: x[C@0], x[_@(2*t + d)], x[C@(size[C]-1)], table[vocab@ids[B T] D].",
    ),
    "recurrences": (
        "h[(1 + T)] = 0, 0.9 * h[_@T] + x[T]",
        "A statement that reads its own earlier rows: the start, then the value of row 1 + T.",
    ),
}
"""Usage and description of what has no name of its own, by the words that one would ask for."""
_FORM_WORDS = {
    **dict.fromkeys(("parts", "part", "concat", "concatenate", "slice", "slices", "pad", "split"), "parts"),
    **dict.fromkeys(
        ("@", "position", "positions", "window", "windows", "gather", "index_select"), "positions"
    ),
    **dict.fromkeys(("recurrence", "recurrences", "scan", "loop"), "recurrences"),
}
_NUMBERS = {"i": "integers", "f": "floats", "c": "complex numbers"}
_DTYPES = {
    "promoted": "the dtype of its arguments",
    "float": "floats",
    "real": "the dtype of the real part",
    "real float": "real floats",
    "bool": "bool",
    "sum": "integers of 64 bits for integers",
    "index": "integers of 64 bits",
}
VIEWS = frozenset({"data"})
"""Properties whose values are inspected; others may compute."""
HEAD = 256
"""The number of characters before a bracket in which the name of its function is searched."""
_CALLED = re.compile(rf"({NAME})\s*(?:\[[^\[\]]*\]\s*)?$")
_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d_]\w*)+"
_DOTTED_END = re.compile(rf"(?<![\w.])({_DOTTED})\s*$")
_FACTORY_USAGE = "(N=2, C=3)"


def help_about(session: Session, word: str) -> str:
    """Return the help about a word (LineError if nothing has that name)."""
    word = _bare(word)
    pages = [page for find in _SOURCES for page in find(session, word)]
    if pages:
        return "\n\n".join(pages)
    hint = did_you_mean(word, help_words(session)) or ":help lists what can be typed"
    raise LineError(f"there is no help about '{visible(word)}'", hint=hint)


def signature_of(name: str) -> str:
    """Return usage and description of a function, a factory or a constant on one line, "" if there is none.

    >>> signature_of("randn"), signature_of("inf"), signature_of("x")
    ('randn(N=2, C=3)  normally distributed numbers', 'inf  the number inf', '')
    """
    usage, about = _signatures().get(name, ("", ""))
    return usage and f"{usage}  {about}"


def signature_at(before: str) -> str:
    """Return the signature of the innermost function whose brackets are open at the end of a text."""
    for bracket in reversed(open_brackets(before)):
        head = _CALLED.search(before, max(0, bracket - HEAD), bracket)
        if head and (found := signature_of(head[1])):
            return found
    return ""


def python_signature(code: str, tensors: Mapping[str, Any]) -> str:
    """Return the call of a function of `np`, `ne` or a tensor whose bracket is open at the end of code.

    >>> python_signature("np.outer(", {})
    'np.outer(a, b, out=None)'
    """
    for bracket in reversed(open_brackets(code)):
        head = _DOTTED_END.search(code, max(0, bracket - HEAD), bracket)
        value = None if head is None else _named_value(head[1], tensors)
        if head is not None and callable(value):
            return head[1] + _parameters(value)
    return ""


def functions_beginning(word: str) -> list[str]:
    """Return the functions, factories and constants whose names begin with a word."""
    return [name for name in _signatures() if name.startswith(word)]


@cache
def _signatures() -> Mapping[str, tuple[str, str]]:
    functions = {name: (row.usage, row.doc) for name, row in ROWS.items()}
    factories = {name: (name + _FACTORY_USAGE, about) for name, about in FACTORIES.items()}
    return {**functions, **SPECIAL, **factories}


def _bare(word: str) -> str:
    """Return a word in the form for look-up: for `softmax[C](x)` the function."""
    word = " ".join(word.split())
    call = re.match(rf"({NAME})\s*[\[(]", word)
    return call[1] if call else word


def _tensor(session: Session, word: str) -> Iterator[str]:
    tensor = session.tensors.get(word)
    if tensor is not None:
        head = f"{visible(word)}: {described(tensor)}  {bytes_text(tensor.data.nbytes)}"
        yield f"{head}\n{session.shown(tensor)}"


def _dim(session: Session, word: str) -> Iterator[str]:
    uses = [
        f"{visible(name)} ({size})"
        for name, tensor in session.tensors.items()
        for dim, size in zip(tensor.names, tensor.shape, strict=True)
        if dim == word and name != "_"
    ]
    if uses:
        yield f"{word} is a dim of {', '.join(uses)}"


def _function(session: Session, word: str) -> Iterator[str]:
    for name, row in ROWS.items():
        if word == name or word in row.also.split():
            yield _function_page(name, row, word)
    for row in (*OPERATORS.values(), *SIGNS.values()):
        if word == row.name:
            yield _function_page(row.name, row, word)
    if word in SPECIAL or word in FACTORIES:
        usage, about = _signatures()[word]
        more = "\n  Sizes by name; dtype=float32 sets the dtype." if word in FACTORIES else ""
        yield f"{usage}\n  {about}{more}"


def _form(session: Session, word: str) -> Iterator[str]:
    form = _FORM_WORDS.get(word)
    if form is not None:
        usage, about = FORMS[form]
        yield f"{usage}\n  {about}"


def _function_page(name: str, row: Function, word: str) -> str:
    kinds = [_NUMBERS[kind] for kind in row.takes]
    numbers = " and ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))
    dims = _DIMS[row.kind].format(name=name)
    lines = [row.usage, f"  {row.doc}", f"  {dims}", f"  Takes {numbers}, and returns {_DTYPES[row.dtype]}."]
    if dims.endswith("."):
        lines[2:] = [f"  {dims} {lines[3].strip()}"]
    if word != name:
        lines.insert(0, f"{word} is called {name} here:")
    return "\n".join(lines)


def _command(session: Session, word: str) -> Iterator[str]:
    row = ALIASES.get(word.removeprefix(":").casefold())
    if row is not None:
        also = f"\n  Also {', '.join(f':{name}' for name in row.also)}." if row.also else ""
        yield f"{row.call}\n  {row.about}{also}"


def _setting(session: Session, word: str) -> Iterator[str]:
    setting = SETTINGS.get(word)
    if setting is not None:
        now = next((f"  Now {value}." for name, value, _ in listed(session.settings) if name == word), "")
        yield f":set {word} VALUE\n  {setting.about}\n{now}".rstrip()


def _code(session: Session, word: str) -> Iterator[str]:
    from nameexpr.terminal.pages import codes, page

    if word.upper() in codes():
        yield page(word, session.width()).rstrip("\n")


def _python(session: Session, word: str) -> Iterator[str]:
    """Yield the signature and the first paragraph about a name of `np`, `ne` or a tensor."""
    value = _named_value(word, session.tensors) if re.fullmatch(_DOTTED, word) else None
    if value is not None:
        about = (inspect.getdoc(value) or "").partition("\n\n")[0]
        yield "\n".join([word + _parameters(value), *filled(about, session.width(), "  ")])


def _named_value(path: str, tensors: Mapping[str, Any]) -> Any:
    """Return the value of a dotted name of a module or a tensor, None if there is none."""
    first, *parts = path.split(".")
    value: Any = sys.modules.get(MODULES.get(first, ""), tensors.get(first))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about deprecated names of a module
        for part in parts:
            static = inspect.getattr_static(value, part, None)
            is_computed = isinstance(static, property) and part not in VIEWS
            value = static if is_computed else getattr(value, part, None)
    return value


def _parameters(value: object) -> str:
    if not callable(value):
        return ""
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return "(...)"


_SOURCES: tuple[Callable[[Session, str], Iterator[str]], ...] = (
    _tensor,
    _dim,
    _function,
    _form,
    _command,
    _setting,
    _code,
    _python,
)


def help_words(session: Session) -> dict[str, str]:
    """Return the words of the help, with short descriptions: tensors, functions, commands, settings."""
    tensors = {name: described(tensor) for name, tensor in session.tensors.items() if name != "_"}
    functions = {name: about for name, (_, about) in _signatures().items()}
    commands = {name: row.about for name, row in COMMANDS.items()}
    settings = {name: setting.about for name, setting in SETTINGS.items()}
    forms = {name: usage for name, (usage, _) in FORMS.items()}
    return {**settings, **forms, **commands, **functions, **tensors}
