"""Parse a line of a session into one of six kinds. Nothing is computed.

    line  : ":" WORD text                          CommandLine
          | WORD "?"                               CommandLine, of `:help`
          | [NAME ["[" term "]"] "="] "!" code     PythonLine
          | NAME "=" FACTORY "(" ... ")"           FactoryLine
          | expression ["|" NAME ("," NAME)*]      ExpressionLine, whose operands follow the bar
          | formula                                FormulaLine
          | nothing, or a comment                  EmptyLine

A text without an arrow is a formula if it parses as one, and else, if it lists terms, shapes to be checked.

>>> read_line("N C, C -> N | x, w").operands
(Word(text='x', span=Span(start=14, end=15)), Word(text='w', span=Span(start=17, end=18)))
>>> read_line("y[N] = sum[C](x[N C])").text
'y[N] = sum[C](x[N C])'
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from nameexpr.dims import WORD, normalised
from nameexpr.errors import NameExprError, Span, nearest
from nameexpr.syntax.lexer.tokens import looks_like_formula
from nameexpr.syntax.parser.expression import parse
from nameexpr.syntax.parser.formula import parse_formula
from nameexpr.terminal.faults import LineError


class CommandRow(NamedTuple):
    """A command: its name, its argument, its description, the kind of its argument, and other names."""

    name: str
    usage: str
    about: str
    takes: Literal["nothing", "text", "gradients", "picture", "code", "setting", "file", "word"]
    also: tuple[str, ...] = ()

    @property
    def call(self) -> str:
        """The command as it is typed."""
        return f":{self.name} {self.usage}".rstrip()


COMMANDS: Mapping[str, CommandRow] = {
    command.name: command
    for command in (
        CommandRow("names", "", "list the tensors", "nothing"),
        CommandRow(
            "type", "TEXT", "show names, sizes, dtype, cost and expected time of the result", "text", ("t",)
        ),
        CommandRow("plan", "[TEXT]", "show the steps with flops, bytes and NumPy calls", "text", ("p",)),
        CommandRow("code", "[TEXT]", "show the NumPy code that runs, to paste", "text"),
        CommandRow(
            "draw", "[network|tree|memory] [FILE.svg] [TEXT]", "draw a picture, here as text", "picture"
        ),
        CommandRow("time", "[TEXT]", "measure the time", "text"),
        CommandRow(
            "gradient",
            "[NAMES:] [TEXT]",
            "write out the gradients of a formula by these tensors",
            "gradients",
            ("g",),
        ),
        CommandRow("explain", "[CODE]", "explain an error code, by default that of the last error", "code"),
        CommandRow("set", "[NAME VALUE]", "show the settings, or change one", "setting"),
        CommandRow("load", "NAME[DIMS] FILE", "load a tensor from .npy, .npz or .csv", "file"),
        CommandRow("save", "[NAME] FILE", "save a tensor to .npy, .npz or .csv, or the input to .ne", "file"),
        CommandRow("script", "FILE", "run the lines of a file", "file"),
        CommandRow("undo", "", "undo the last change", "nothing"),
        CommandRow("help", "[WORD]", "show this list, or help about a word: softmax?", "word", ("h", "?")),
        CommandRow("quit", "", "leave", "nothing", ("q", "exit")),
    )
}
"""The commands, which begin with a colon; `nameexpr.session.commands` has a function for every row."""
TAKE_TEXTS = ("text", "gradients")
"""The kinds of arguments that end in a text."""
ALIASES: Mapping[str, CommandRow] = {name: row for row in COMMANDS.values() for name in (row.name, *row.also)}
"""The same rows by all names of the commands."""

FACTORIES: Mapping[str, str] = {
    "randn": "normally distributed numbers",
    "rand": "numbers between 0 and 1",
    "zeros": "zeros",
    "ones": "ones",
    "arange": "0, 1, 2, ... in order",
}
"""Functions that create a tensor from the sizes of its dims."""

MODULES: Mapping[str, str] = {"np": "numpy", "ne": "nameexpr"}
"""Modules that Python lines can use, by their names there."""

PICTURES = ("network", "tree", "memory")
"""The pictures of `:draw`."""
ARRAYS = (".npy", ".npz", ".csv")
SCRIPTS = (".ne",)
"""Suffixes of files that are read and written."""

NAMES = re.compile(rf"((?:{WORD}[\s,]*)*)(?::\s*|\Z)")
"""The tensors that `:gradient` differentiates by: `w b: loss = ...`, or `w b` alone."""
COMMAND = re.compile(r"\s*:\s*(\S*)\s*")
PYTHON = re.compile(rf"\s*(?:({WORD})\s*(?:\[([^\[\]]*)\]\s*)?=\s*)?(!)(?!=)\s*")
"""The head of a line of Python: target, its dims, and the mark."""
_FACTORY = re.compile(rf"\s*({WORD})\s*=\s*({'|'.join(FACTORIES)})\s*\(", re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")
_QUESTION = re.compile(r"\s*!?\s*(?:\?\s*([^\s?]+)|([^\s?]+)\s*\?)\s*|\s*\?\s*")
"""`softmax?` and `?softmax`, with the word in either group, or `?` alone."""
_PLAIN_WORD = re.compile(r"\s*(?:(exit|quit)\s*(?:\(\s*\))?|(help)\s*(?:\s(\S+)|\(([^()]*)\))?)\s*")
"""Commands that are recognised without a colon: `exit`, `quit()`, `help`, `help softmax`, `help(softmax)`."""
_ARROW = re.compile(r"->|=>|[→⟶⇒⟹↦➔➜➞]")
_OF_FORMULAS = re.compile(r"[\[\]*/+<>&~%;!@]|\*\*|[)\w]\s*-\s*[(\w]|^\s*-")


class Word(NamedTuple):
    """A word of a line and its span."""

    text: str
    span: Span


class EmptyLine(NamedTuple):
    """A line of spaces or a comment."""


class CommandLine(NamedTuple):
    """`:plan x * 2`: a command, its argument, which begins at `start`, and the whole line."""

    name: str
    argument: str
    start: int
    text: str


class PythonLine(NamedTuple):
    """`!x.sum()` or `z[N C] = !np.ones((2, 3))`: code, and the tensor to name its value."""

    code: str
    target: str | None = None
    term: str | None = None


class FactoryLine(NamedTuple):
    """`x = randn(N=2, C=3)`: a new tensor by its name, the factory, and the pieces between the brackets."""

    target: str
    factory: str
    pieces: tuple[Word, ...]


class ExpressionLine(NamedTuple):
    """An expression, or shapes to check; `operands` is None if the line that contains it does not
    name them.
    """

    text: str
    operands: tuple[Word, ...] | None = None
    line: str = ""


class FormulaLine(NamedTuple):
    """A formula; the line itself is its text."""

    text: str


TextLine: TypeAlias = ExpressionLine | FormulaLine
Line: TypeAlias = EmptyLine | CommandLine | PythonLine | FactoryLine | TextLine


def split_text(takes: str, argument: str) -> tuple[str, int]:
    """Split the argument of a command: return the names before the text, and where that begins.

    >>> split_text("gradients", "w b: loss = sum[C](w * b)"), split_text("text", "w b")
    (('w b', 5), ('', 0))
    """
    names = NAMES.match(argument) if takes == "gradients" else None
    return (names[1].strip(), names.end()) if names else ("", 0)


def read_line(line: str) -> Line:
    """Parse a line (LineError if the call of a factory is not closed, or something follows it).

    >>> read_line("x = randn(N=2)").factory, read_line("!1 + 1").code, read_line(":plan x * 2").argument
    ('randn', '1 + 1', 'x * 2')
    """
    if not without_comments(line).strip():
        return EmptyLine()
    if (question := _QUESTION.fullmatch(line)) is not None:
        return CommandLine("help", question[1] or question[2] or "", len(line), line)
    if (command := COMMAND.match(line)) is not None:
        return CommandLine(command[1], line[command.end() :].rstrip(), command.end(), line)
    if (python := PYTHON.match(line)) and (python[1] or "x").isidentifier():
        return PythonLine(line[python.end() :].strip(), python[1] and normalised(python[1]), python[2])
    if (factory := _FACTORY.match(line)) and factory[1].isidentifier():
        return _factory_line(line, factory)
    return read_text(line)


def plain_command(line: str, names: Container[str]) -> CommandLine | None:
    """Parse a command that is typed as a plain word; None for other lines, or if `names` contains the word.

    >>> plain_command("help(softmax)", ()).argument, plain_command("exit", ["exit"])
    ('softmax', None)
    """
    word = _PLAIN_WORD.fullmatch(without_comments(line))
    if word is None or (word[1] or word[2]) in names:
        return None
    return CommandLine(word[1] or word[2], word[3] or word[4] or "", len(line), line)


def read_text(text: str) -> TextLine:
    """Distinguish an expression from a formula, and split off the operands after the bar.

    >>> type(read_text("x | y")).__name__, type(read_text("N C, C")).__name__, read_text("i -> i").operands
    ('FormulaLine', 'ExpressionLine', None)
    """
    bare = without_comments(text)
    head = bare.partition("|")[0]
    if not (_ARROW.search(bare) or ("|" in bare and _has_positions(head))) and (
        looks_like_formula(text) or _parses(text) or _OF_FORMULAS.search(head)
    ):
        return FormulaLine(text)
    bar = bare.find("|")
    if bar < 0:
        return ExpressionLine(text)
    return ExpressionLine(text[:bar].rstrip(), _pieces(bare, bar + 1, len(bare)), text)


def without_comments(text: str) -> str:
    """Replace comments by spaces, so that all offsets stay valid."""
    return _COMMENT.sub(lambda comment: " " * len(comment[0]), text)


def find_command(name: str) -> CommandRow:
    """Look up a command by its name or an alias, in any case (LineError if there is none).

    >>> find_command("P").name
    'plan'
    """
    if command := ALIASES.get(name.casefold()):
        return command
    near = nearest(name.casefold(), COMMANDS)
    hint = f"did you mean ':{near}'?" if near else ":help lists them"
    raise LineError(f"there is no command ':{name}'", hint=hint)


@lru_cache(maxsize=16)  # a line is read several times after each key
def _parses(text: str) -> bool:
    try:
        parse_formula(text)
    except NameExprError:
        return False
    return True


def _has_positions(text: str) -> bool:
    """Return whether a text is an expression with parts or positions, whose signs a formula has, too."""
    if "+" not in text and "@" not in text:
        return False
    try:
        parse(text)
    except NameExprError:
        return False
    return True


def _factory_line(line: str, factory: re.Match[str]) -> FactoryLine:
    bare = without_comments(line).rstrip()
    end = bare.find(")", factory.end())
    example = f"{factory[1]} = {factory[2]}(N=2, C=3)"
    if end < 0:
        bracket = Span(factory.end() - 1, factory.end())
        raise LineError("this bracket is not closed", line, bracket, example, code="factory")
    if bare[end + 1 :].strip():
        message = f"nothing may follow the call of {factory[2]}"
        raise LineError(message, line, Span(end + 1, len(bare)), example, code="factory")
    return FactoryLine(normalised(factory[1]), factory[2], _pieces(bare, factory.end(), end))


def _pieces(line: str, start: int, end: int) -> tuple[Word, ...]:
    """Split at commas; empty pieces are left out."""
    words = []
    for piece in re.finditer(r"[^,]+", line[start:end]):
        text = piece[0].strip()
        if text:
            first = start + piece.start() + piece[0].index(text)
            words.append(Word(text, Span(first, first + len(text))))
    return tuple(words)
