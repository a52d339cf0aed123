"""A session: tensors by name, the last result, options, and the lines entered. One line in, one answer out.

Nothing here reads keys or prints: a terminal, a pipe, a script and a test use it in the same way. The answer
to any line is text; a session is changed only by lines that succeed. The commands are passed in
(`nameexpr.session.commands.new_session` provides them all).

>>> session = Session({})
>>> session.run("x = arange(N=2, C=3)").text
'x: N=2, C=3  int64'
>>> print(session.run("y[N] = sum[C](x)").text)
y: N=2  int64
>>> print(session.run("y * w").text)
there is no tensor 'w'
  y * w
      ^
  help: there are x, y
>>> print(session.run("_ + 1").text)
tensor([ 4, 13], names=('N',), shape=(2,))
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from nameexpr.backends.numpy.costs.program import duration
from nameexpr.carets import visible
from nameexpr.dims import WORD
from nameexpr.errors import NameExprError, error
from nameexpr.runtime.check import Sizes
from nameexpr.runtime.compiled_formula import CompiledFormula
from nameexpr.session import lines
from nameexpr.session.constructors import exception_text, make, run_python
from nameexpr.session.continuation import continued
from nameexpr.session.explaining import Fault, fault_of
from nameexpr.session.lines import find_command, plain_command, read_line
from nameexpr.session.running import PreparedText, expected_seconds, prepare, value_of
from nameexpr.session.settings import DEFAULTS, Settings, options_of
from nameexpr.session.values import as_named, described, is_tensor_like, shown
from nameexpr.tensors import NamedTensor
from nameexpr.terminal.faults import CommandError, LineError

MANY = 10
"""The number of commas from which the estimate for a text being typed uses the greedy order."""
KEPT = 50
"""Number of lines that can be undone."""
SLOW = 10.0
"""Seconds that a line may be expected to take before it is confirmed."""


class Answer(NamedTuple):
    """An answer: its text, whether that is an error, whether the session ends, and the line if known."""

    text: str
    is_fault: bool = False
    leaves: bool = False
    line: str = ""


Commands: TypeAlias = "Mapping[str, Callable[[Session, lines.CommandLine], Answer]]"


@dataclass(slots=True)
class Session:
    """The state of a session, and how lines change it."""

    commands: Commands
    tensors: dict[str, NamedTensor] = field(default_factory=dict)  # by name; `_` is the last value
    settings: Settings = field(default_factory=lambda: DEFAULTS)
    others: dict[str, Any] = field(default_factory=dict)  # Python variables that are not tensors
    entered: list[str] = field(default_factory=list)  # the lines that created the current state, for `:save`
    last_text: lines.TextLine | None = None  # the text of commands without one
    last_fault: Fault = field(default_factory=Fault)  # the latest error, for `:explain`
    strong: Callable[[str], str] = str  # highlights the head and the carets of an error
    width: Callable[[], int | None] = lambda: None  # columns that tables fit into, None for any number
    confirm: Callable[[str], bool] | None = None  # asks before a slow line; None runs it
    version: int = 0  # grows with each change
    depth: int = 0  # the depth of nested scripts
    undone: list[tuple[str, dict[str, NamedTensor], Settings, int]] = field(default_factory=list)
    """States before the latest changes: the line, the tensors, the settings, how many lines were entered."""

    def run(self, line: str) -> Answer:
        """Run a line and return the answer. Only KeyboardInterrupt is ever raised."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            answer = self._answer(continued(line))
        notes = dict.fromkeys(visible(str(warning.message).split("\n")[0]) for warning in caught)
        if notes:
            text = "\n".join([*(f"warning: {note}" for note in notes), answer.text])
            answer = answer._replace(text=text.rstrip("\n"))
        return answer

    def read(self, line: str) -> lines.Line:
        """Parse a line; `exit`, `quit` and `help` are commands, unless a tensor has that name (LineError)."""
        return plain_command(line, self.tensors) or read_line(line)

    def look(self, line: str) -> Answer:
        """Return the answer to a line that changes no tensor, and discard its traces."""
        fault, text = self.last_fault, self.last_text
        answer = self.run(line)
        self.last_fault, self.last_text = fault, text
        return answer

    def prepared(self, line: lines.TextLine, *, is_quick: bool = False) -> PreparedText:
        """Prepare a text with operands from this session.

        `is_quick` is for an estimate while the text is typed: it searches neither for slices that fit into
        memory, nor for the best order of very many contractions.
        """
        options = options_of(self.settings)
        if is_quick:
            order = "greedy" if line.text.count(",") >= MANY else options["optimize"]
            options |= {"optimize": order, "memory_limit": None}
        return prepare(line, self.tensors, **options)

    def shown(self, value: object) -> str:
        """Format a value with the current precision, in lines of at most the width of the terminal."""
        return shown(value, self.settings["precision"], self.width())

    def check_time(self, ready: PreparedText, calls: int = 1) -> None:
        """Ask before a text that is expected to take long (LineError if it should not run)."""
        if self.confirm is None or self.depth:
            return
        seconds = calls * expected_seconds(ready)
        if seconds > SLOW and not self.confirm(f"this is expected to take {duration(seconds)}; run it?"):
            raise LineError("not run", hint=":plan shows what takes long", code="stopped")

    def put(self, line: str, changed: Mapping[str, NamedTensor], gone: list[str] | None = None) -> None:
        """Store tensors, and the previous state for `:undo`, unless only the last result changes."""
        if gone or set(changed) != {"_"}:
            self.remember(line)
        self.version += 1
        kept = {name: tensor for name, tensor in self.tensors.items() if name not in (gone or ())}
        self.tensors = kept | dict(changed)

    def remember(self, line: str) -> None:
        """Store the current state for `:undo`, before a line changes it."""
        self.undone.append((line, self.tensors, self.settings, len(self.entered)))
        del self.undone[:-KEPT]
        self.version += 1

    def _answer(self, line: str) -> Answer:
        try:
            read = self.read(line)
            answer = self._run(read, line)
        except Exception as fault:  # noqa: BLE001  a session survives unexpected errors
            self.last_fault = fault_of(fault)
            return Answer(_rendered(fault, line, self.strong, self.width()), is_fault=True)
        if not answer.is_fault and line.strip() and not isinstance(read, lines.CommandLine):
            self.entered.append(line)
        return answer

    def _run(self, line: lines.Line, text: str) -> Answer:
        match line:
            case lines.EmptyLine():
                return Answer("")
            case lines.CommandLine():
                command = find_command(line.name)
                if command.takes == "nothing" and line.argument.strip():
                    raise LineError(f":{line.name} takes nothing")
                return self.commands[command.name](self, line)
            case lines.FactoryLine():
                tensor = make(line, limit=options_of(self.settings)["memory_limit"])
                self.put(text, {line.target: tensor})
                return _told({line.target: tensor})
            case lines.PythonLine():
                return self._python(line, text)
            case lines.ExpressionLine() | lines.FormulaLine():
                return self._text(line, text)

    def _text(self, line: lines.TextLine, text: str) -> Answer:
        ready = self.prepared(line)
        self.last_text = line
        self.check_time(ready)
        result = value_of(ready)
        used = f"of {', '.join(name for name, _ in ready.operands)}\n" if ready.chosen else ""
        if isinstance(result.value, Sizes):
            return Answer(used + shown(result.value))
        named = {name: as_named(value) for name, value in result.named.items()}
        results = result.value if isinstance(result.value, tuple) else (result.value,)
        every = [as_named(one) for one in results]
        self.put(text, {**named, "_": every[-1]})
        is_named = isinstance(ready.compiled, CompiledFormula) and ready.compiled.statements[-1] is not None
        value = "" if is_named else "\n".join(map(self.shown, every))
        return _told(named, used + value)

    def _python(self, line: lines.PythonLine, text: str) -> Answer:
        after, value = run_python(line, self.tensors, self.others)
        changed = {name: tensor for name, tensor in after.items() if self.tensors.get(name) is not tensor}
        gone = [name for name in self.tensors if name not in after]
        if value is not None and is_tensor_like(value):
            changed["_"] = as_named(value)
        if changed or gone:
            self.put(text, changed, gone)
        named = {name: tensor for name, tensor in changed.items() if name != "_"}
        try:
            value_text = "" if value is None else self.shown(value)
        except Exception as fault:  # noqa: BLE001  a class of the user's
            raise LineError(f"this value cannot be shown: {exception_text(fault)}") from None
        return _told(named, value_text)


def _rendered(fault: Exception, line: str, strong: Callable[[str], str], columns: int | None) -> str:
    """Return the text of an error."""
    if isinstance(fault, NameExprError | CommandError):
        return advised(fault, line).render(strong, columns)
    if isinstance(fault, MemoryError):
        return strong("there is not enough memory for this")
    if isinstance(fault, RecursionError):
        return strong("this is nested too deeply")
    what = visible(f"{type(fault).__name__}: {fault}")
    return strong(f"nameexpr failed, which is a bug of its own: {what}")


def _told(named: Mapping[str, NamedTensor], value: str = "") -> Answer:
    """Return the answer to a line that creates tensors, and may have a value."""
    tensors = (f"{visible(name)}: {described(tensor)}" for name, tensor in named.items())
    return Answer("\n".join(part for part in (*tensors, value) if part))


_WORDS = {
    "q": ":quit or Ctrl-D leaves",
    **dict.fromkeys(("ls", "dir", "names"), ":names lists the tensors"),
    "undo": ":undo takes the last line back",
}
_PYTHON = re.compile(
    rf"""
    (?:import|from|for|while|def|class|if|with|print|del|return|lambda|assert)\b
    | ['"{{]
    | {WORD}\.[^\W\d]          # x.shape, np.ones(3)
    | (einsum|evaluate)\s*\(         # as it is written after `from nameexpr import einsum`
    """,
    re.VERBOSE,
)
_VALUE = re.compile(rf"({WORD})\s*=\s*((?:np\.|ne\.|numpy\.|[\[{{'\"]).*)", re.DOTALL)
QUOTED = 60
"""The length of a line up to which the advice quotes it."""


def advised(fault: NameExprError | CommandError, line: str) -> NameExprError | CommandError:
    """Return the fault with another hint, if the line is Python, or a command without its colon.

    >>> print(advised(LineError("this is wrong"), "np.ones(3)"))
    this is wrong
      help: Python follows !: !np.ones(3)
    """
    advice = _advice(line.strip())
    if not advice:
        return fault
    if isinstance(fault, NameExprError):
        *others, last = fault.diagnostics
        return error(*(other._replace(hint="") for other in others), last._replace(hint=advice))
    fault.hint = advice
    return fault


def _advice(line: str) -> str:
    if line.startswith("?") or line.endswith("?"):
        return ""
    is_short = len(line) <= QUOTED and "\n" not in line
    if advice := _WORDS.get(line.removesuffix("()").casefold()):
        return advice
    if value := _VALUE.match(line):
        example = f"{value[1]} = !{value[2]}" if is_short else "x = !np.ones((2, 3))"
        return f"a Python value follows !: {example}"
    if python := _PYTHON.match(line):
        example = line if is_short else "print(x.shape)"
        return f"Python follows !: !{'ne.' if python[1] else ''}{example}"
    return ""
