"""Tab completion: the possible continuations at the cursor.

Commands, files, Python and factories have separate rules. Everything else is read with both grammars up to
the word under the cursor, as an expression and as a formula; each that the text may still be determines what
it accepts, and only then are names looked up. An unfinished line therefore needs no kind, and nothing is
offered that the grammar would reject.

>>> known = Known({"x": (("N", "C"), (2, 3))}, {":names": "what is there"})
>>> [completion.text for completion in complete("y[N] = sum[C](x[", 16, known)]
['N', 'C']
>>> complete(":na", 3, known)
(Completion(text=':names', start=0, shown=':names', about='what is there'),)
"""

from __future__ import annotations

import os
import re
import sys
from itertools import islice
from types import ModuleType

from nameexpr.dims import WORD
from nameexpr.ops import CALLS
from nameexpr.session.complete.choices import MOST, Choice, Completion, Known, dims, placed, ranked, tensors
from nameexpr.session.complete.texts import (
    ALONG_DIMS,
    NAME,
    ONE_DIM,
    expression_choices,
    formula_choices,
    word_before,
)
from nameexpr.session.continuation import python_start
from nameexpr.session.lines import (
    ALIASES,
    ARRAYS,
    FACTORIES,
    MODULES,
    PICTURES,
    SCRIPTS,
    TAKE_TEXTS,
    split_text,
)

__all__ = ["Completion", "Known", "complete"]

LONGEST = 8_000
"""The length of the longest text that is completed, so that no key is slow."""
LOOKED_AT = 5_000
"""The number of entries of a folder that are read; in a larger one some are not offered."""
REACH = 128
"""The number of characters of Python before the cursor that are examined."""
FUNCTIONS = frozenset({*CALLS, *ALONG_DIMS, *ONE_DIM})
_ALIAS = re.compile(r"\S=\s*\Z")
_CALLED = re.compile(r"(?<![\w'.])(\w+)\(")
_VALUE = re.compile(rf"\s*{NAME}\s*=\s*")
_CALL = re.compile(rf"({NAME})\s*\(([^()]*)")
_ARGUMENT = re.compile(rf"({NAME})\s*=")
_WANTED = re.compile(rf"(?:^|,)\s*(?:({NAME})\s*=\s*)?$")
_DOTTED = re.compile(r"(?<![\w.])((?:[^\W\d]\w*\.)*)([^\W\d]\w*)?$")
_COMMAND = re.compile(r"(\s*)(:\s*[^\s:]*)(\s*)")
_TENSOR_AND_FILE = re.compile(rf"{WORD}\s*(?:\[[^\[\]]*\])?\s+(?=\S|$)")
_PATH = re.compile(r"['\"~./]|.*[/.]", re.DOTALL)
_DRAWN = re.compile(rf"(?:(?:{'|'.join(PICTURES)})\s+)?(?:\S+\.(?:svg|png|pdf)\s+)?")
_UNQUOTED = re.compile(r"[\w./~+@%,:=-]*")


def complete(text: str, cursor: int, known: Known) -> tuple[Completion, ...]:
    """Return completions of the word before the cursor, the likeliest first; nothing is ever raised.

    There are none where the text before the cursor is invalid.

    >>> known = Known({"x": (("N", "C"), (2, 3))})
    >>> complete("N C -> C : me", 13, known)[0]
    Completion(text='mean', start=11, shown='mean', about='reducer')
    """
    cursor = max(0, min(cursor, len(text)))
    if len(text) > LONGEST:
        return ()
    before = text[:cursor]
    if not text.strip():
        return placed(cursor, [*tensors(known), *_commands(known)][:MOST])
    if before.lstrip().startswith(":"):
        return _command(text, cursor, known)
    code = python_start(before)
    if code is not None:
        word, choices = _python_choices(before[code:], known)
        return placed(cursor - len(word), ranked(word, choices))
    return _value(text, cursor, known)


def _commands(known: Known) -> list[Choice]:
    return [Choice(name, about) for name, about in known.commands.items()]


def _command(text: str, cursor: int, known: Known) -> tuple[Completion, ...]:
    command = _COMMAND.match(text, 0, cursor)
    assert command is not None, "the text begins with a colon"
    name, start = "".join(command[2].split()).casefold(), command.end()
    if start == cursor and (not command[3] or name == ":"):
        return placed(command.start(2), ranked(name, _commands(known)))
    given = text[start:cursor]
    row = ALIASES.get(name[1:])
    takes = row.takes if row else "text"
    if row and takes == "file":
        offset, choices = _path_choices(row.name, given, known)
        return placed(start + offset, choices)
    begin = start + split_text(takes, given)[1]
    if takes == "gradients" and begin == cursor and ":" not in given:
        word = word_before(given) or ""
        names = placed(cursor - len(word), ranked(word, tensors(known)))
        is_text = bool(word) and word == given  # or the beginning of one
        return (*names, *_value(" " * start + text[start:], cursor, known)) if is_text else names
    if takes in TAKE_TEXTS:
        return _value(" " * begin + text[begin:], cursor, known)
    if takes == "picture":
        kinds = [] if " " in given else ranked(given, (Choice(kind, "picture") for kind in PICTURES))
        drawn = _DRAWN.match(given)
        begin = start + (drawn.end() if drawn else 0)
        return (*placed(start, kinds), *_value(" " * begin + text[begin:], cursor, known))
    *words, last = (given.replace("=", " ") if takes == "setting" else given).split(" ")
    choices = _word_choices(takes, [word for word in words if word], last, known)
    return placed(cursor - len(last), ranked(last, choices))


def _word_choices(takes: str, words: list[str], last: str, known: Known) -> list[Choice]:
    """Return the choices for the last word of an argument that is neither a text nor a file."""
    match takes, words:
        case "setting", []:
            return [Choice(option, "option") for option in known.options]
        case "setting", [option]:
            return [Choice(value, option) for value in known.options.get(option, ())]
        case "code", []:
            return [Choice(code, about) for code, about in known.codes.items()]
        case "word", [] if last.startswith(":"):
            return _commands(known)
        case "word", []:
            return [Choice(word, about) for word, about in {**known.words, **known.codes}.items()]
    return []


def _path_choices(name: str, given: str, known: Known) -> tuple[int, list[Choice]]:
    """Return the offset of the path in an argument, and its choices.

    A path is the rest of the line, with or without quotes. `:load` takes a name before it, `:save` may.
    """
    target = _TENSOR_AND_FILE.match(given) if name != "script" else None
    if target is not None:
        return target.end(), _files(given[target.end() :], ARRAYS)
    if name == "load":
        return 0, []
    names = ranked(given, tensors(known)) if name == "save" and not _PATH.match(given) else []
    return 0, [*names, *_files(given, SCRIPTS)]


def _files(written: str, endings: tuple[str, ...]) -> list[Choice]:
    """Return the files and folders that complete a path, which may begin with a quote; hidden ones only if
    its name begins with a dot.
    """
    quote = written[:1] if written[:1] in ("'", '"') else ""
    folder, slash, beginning = written[len(quote) :].rpartition("/")
    where = folder + slash
    if where.startswith("~/"):  # not the home folders of other users
        where = os.path.expanduser(where)
    folded, choices = beginning.casefold(), []
    try:
        with os.scandir(where or ".") as entries:
            fitting = [e for e in islice(entries, LOOKED_AT) if e.name.casefold().startswith(folded)]
            names = [(e.name, e.is_dir()) for e in fitting if e.name.isprintable()]
    except (OSError, ValueError):  # no such folder, or an invalid path
        return []
    for name, is_folder in sorted(names, key=lambda entry: (not entry[0].startswith(beginning), entry[0])):
        is_hidden = name.startswith(".") and not beginning
        if not is_hidden and (is_folder or name.casefold().endswith(endings)):
            path = f"{folder}{slash}{name}"
            mark = quote or ("" if _UNQUOTED.fullmatch(path) else "'" if '"' in path else '"')
            # The quote of a folder is left open.
            choice = (
                Choice(f"{mark}{path}/", "folder") if is_folder else Choice(f"{mark}{path}{mark}", "file")
            )
            choices.append(choice)
    return [choice for choice in choices if choice.text != written][:MOST]


def _value(text: str, cursor: int, known: Known) -> tuple[Completion, ...]:
    """Complete an expression, a formula, or a call of a factory."""
    word = word_before(text[:cursor])
    if word is None or "#" in text[:cursor].rpartition("\n")[2]:
        return ()
    before, after = text[: cursor - len(word)], text[cursor:]
    choices = _factory_choices(before, known)
    if choices is None:
        choices = _by_grammar(before, after, word, known)
    return placed(cursor - len(word), ranked(word, choices))


def _by_grammar(before: str, after: str, word: str, known: Known) -> list[Choice]:
    """Return the choices of both grammars, and the factories where a value begins: `x = randn(N=2, C=3)`."""
    formula = formula_choices(before, after, known)
    if after.startswith(("(", "[")):
        formula = [choice._replace(text=choice.text.rstrip("[(")) for choice in formula]
    first = [choice for choice in formula if choice.text in known.tensors]
    is_value = _VALUE.fullmatch(before) is not None
    factories = [Choice(f"{name}(", about) for name, about in FACTORIES.items()] if is_value else []
    formula = [*first, *factories, *formula]
    # `y = ` and `sqrt(x ` may be an alias, and the label `sqrt` and a group; they are not meant as such.
    is_called = any(name in FUNCTIONS for name in _CALLED.findall(before))
    if formula and (is_called or (is_value and _ALIAS.search(before) is None)):
        return formula
    return [*first, *expression_choices(before, after, word, known), *formula]


def _factory_choices(before: str, known: Known) -> list[Choice] | None:
    """Return the dims, or the size of one, for the arguments of a factory; None outside a call of one.

    >>> known = Known({"x": (("N",), (2,))})
    >>> _factory_choices("y = randn(", known), _factory_choices("y = randn(N=", known)
    ([Choice(text='N=', about='dim of x, 2', size=2)], [Choice(text='2', about='dim of x, 2', size=2)])
    """
    value = _VALUE.match(before)
    call = _CALL.fullmatch(before, value.end()) if value else None
    if call is None or call[1] not in FACTORIES:
        return None
    wanted = _WANTED.search(call[2])
    if wanted is None:
        return []
    about = dims(known)
    if wanted[1]:
        dim = about.get(wanted[1])
        return [dim._replace(text=str(dim.size))] if dim else []
    given = set(_ARGUMENT.findall(call[2]))
    return [dim._replace(text=f"{name}=") for name, dim in about.items() if name not in given]


def _python_choices(code: str, known: Known) -> tuple[str, list[Choice]]:
    """Return the word at the end of Python code, and its choices: tensors and public names of `np` and `ne`.

    Nothing is imported for it.
    """
    dotted = _DOTTED.search(code[-REACH:])
    if dotted is None:
        return "", []
    path, word = dotted[1].rstrip("."), dotted[2] or ""
    if not path:
        modules = [Choice(name, f"module {module}") for name, module in MODULES.items()]
        return word, [*tensors(known), *modules]
    first, *rest = path.split(".")
    module = sys.modules.get(MODULES.get(first, ""))
    for part in rest:
        inner = vars(module).get(part) if module is not None else None
        module = inner if isinstance(inner, ModuleType) else None
    listed = None if word.startswith("_") else getattr(module, "__all__", None)
    names = sorted(listed or dir(module)) if module is not None else []
    return word, [Choice(name, f"of {path}") for name in names if word[:1] == "_" or name[0] != "_"]
