"""The commands, one function each; their names and usage are in `nameexpr.session.lines.COMMANDS`.

>>> session = new_session()
>>> _ = session.run("x = randn(N=2, C=3)")
>>> print(session.run(":type sum[C](x)").text)
N=2  float64  12 flops  16 B  0.65 us
>>> print(session.run(":pan x").text)
there is no command ':pan'
  help: did you mean ':plan'?
"""

from __future__ import annotations

import re
from statistics import median
from timeit import Timer
from typing import Any, cast

from nameexpr.backends.numpy.costs.program import duration
from nameexpr.carets import aligned_columns, cut, visible
from nameexpr.pictures.files import SUFFIXES
from nameexpr.pictures.words import bytes_text
from nameexpr.runtime.plan.plan import Plan
from nameexpr.session import files
from nameexpr.session.explaining import Fault, explained
from nameexpr.session.helping import help_about
from nameexpr.session.layout import columns, filled
from nameexpr.session.lines import (
    COMMANDS,
    FACTORIES,
    PICTURES,
    CommandLine,
    TextLine,
    find_command,
    read_text,
    split_text,
)
from nameexpr.session.running import VIEWS, PreparedText, gradient_text, plan_of, value_of
from nameexpr.session.session import Answer, Commands, Session
from nameexpr.session.settings import SETTINGS, changed, listed
from nameexpr.session.values import dims_text, tree_text
from nameexpr.terminal.faults import LineError

EXAMPLES = (
    ("x = randn(N=2, C=3)", f"a new tensor; also {', '.join(list(FACTORIES)[1:])}"),
    ("N C, C -> N | x, w", "an expression and its operands; sizes, too: | x, h=8"),
    ("N C, C -> N", "the same, if one tensor each has those names"),
    ("y[N] = sum[C](x * w)", "a formula over the tensors, by name; _ is the last result"),
    ("N C, C | x, w", "without an arrow shapes are checked"),
    ("!x.data.max()", "Python, with np and ne"),
    ("z[N C] = !np.eye(3)", "a tensor from a Python value"),
    ("softmax?", "help about a function, a tensor, a command, an error code"),
)
KEYS = (
    "Tab completes, Right takes the grey suggestion, F2 shows the plan and the NumPy code, Ctrl-R searches "
    "earlier lines, Esc then Enter runs a text of several lines, Ctrl-O starts another line, Ctrl-C stops "
    "the computation, Ctrl-D leaves."
)
GRAPHS = {".dot": Plan.dot, ".mmd": Plan.mermaid}
"""Pictures as text, by the suffix of the file."""
REPEATS = 7
SECONDS = 0.05
"""Duration of one repeat of `:time`, or of one call if that takes longer."""
_FILE = re.compile(r"(?:\"([^\"]+)\"|(\S+))\s*", re.DOTALL)


def _names(session: Session, line: CommandLine) -> Answer:
    if not session.tensors:
        return Answer("there are no tensors yet; make one: x = randn(N=2, C=3)")
    rows = []
    for name, tensor in sorted(session.tensors.items(), key=lambda item: item[0] == "_"):
        dims = dims_text(tensor.names, tensor.shape)
        rows.append([f"{visible(name)} ", f"{dims} ", f"{tensor.dtype} ", bytes_text(tensor.data.nbytes)])
    return Answer("\n".join(aligned_columns(rows, session.width())))


def _view(session: Session, line: CommandLine) -> Answer:
    """Show the type, the plan or the code of a text."""
    name = find_command(line.name).name
    view = VIEWS[name](_ready(session, line.argument, name))
    return Answer(view.fitted(session.width()) if isinstance(view, Plan) else str(view))


def _time(session: Session, line: CommandLine) -> Answer:
    ready = _ready(session, line.argument, "time")
    plan_of(ready)  # rejects texts that only check shapes
    session.check_time(ready, calls=3)  # a slow text is run this many times
    timer = Timer(lambda: value_of(ready))
    once = min(timer.repeat(2, 1))
    number = max(1, min(100_000, int(SECONDS / max(once, 1e-7))))
    times = [total / number for total in timer.repeat(REPEATS if once < 1 else 1, number)]
    return Answer(
        f"{duration(median(times))} (median of {len(times)} repeats of {number:,}, "
        f"from {duration(min(times))} to {duration(max(times))})"
    )


def _draw(session: Session, line: CommandLine) -> Answer:
    """Show the contraction tree as text, or write a picture to a file."""
    kind, path, argument = _picture(line.argument)
    ready = _ready(session, argument, "draw")
    plan = plan_of(ready)
    if path is None:
        if kind not in ("", "tree"):
            raise LineError(f"a {kind} goes to a file", hint=f":draw {kind} picture.svg")
        tree = tree_text(plan.drawing.data.tree, [name for name, _ in ready.operands])
        return Answer(_fitted(tree, session.width()))
    suffix, shown = path[path.rindex(".") :].casefold(), cast(Any, kind or "network")
    content = GRAPHS[suffix](plan, shown) if suffix in GRAPHS else plan.draw(shown).content(suffix)
    return Answer(f"written to {files.write_content(path, content)}")


def _gradient(session: Session, line: CommandLine) -> Answer:
    """Write out the gradients of a formula by the tensors that are named, or the derivatives that it has."""
    names, start = split_text("gradients", line.argument)
    argument = line.argument[start:]
    text = (
        read_text(argument) if argument.strip() else _last_text(session, "gradient w b: loss = sum[C](w * b)")
    )
    written = gradient_text(text, names, session.tensors, session.settings["dtype"])
    session.last_text = text
    return Answer(written)


def _picture(argument: str) -> tuple[str, str | None, str]:
    """Split an argument into the kind of picture, the file, and the text, each of which may be missing."""
    kind, path = "", None
    word = _FILE.match(argument)
    if word and word[0].strip() in PICTURES:
        kind, argument = word[0].strip(), argument[word.end() :]
        word = _FILE.match(argument)
    if word and (word[1] or word[2]).casefold().endswith((*SUFFIXES, *GRAPHS)):
        path, argument = word[1] or word[2], argument[word.end() :]
    return kind, path, argument


def _ready(session: Session, argument: str, command: str) -> PreparedText:
    """Prepare the text of a command, or the last text if it has none."""
    text = read_text(argument) if argument.strip() else _last_text(session, f"{command} N C -> C N | x")
    ready = session.prepared(text)
    session.last_text = text
    return ready


def _last_text(session: Session, example: str) -> TextLine:
    if session.last_text is None:
        command = example.partition(" ")[0]
        raise LineError(f":{command} is about a text, and there was none yet", hint=f":{example}")
    return session.last_text


def _fitted(text: str, width: int | None) -> str:
    """Return a text whose lines are cut at `width` columns."""
    return text if width is None else "\n".join(cut(line, width) for line in text.split("\n"))


def _explain(session: Session, line: CommandLine) -> Answer:
    wanted = Fault(line.argument.strip()) if line.argument.strip() else session.last_fault
    if not wanted.code:
        raise LineError("there was no error yet", hint=":explain NE304")
    return Answer(explained(wanted, session.width()))


def _set(session: Session, line: CommandLine) -> Answer:
    words = line.argument.replace("=", " ", 1).split()
    if not words:
        settings = listed(session.settings)
        heads = aligned_columns([[f"{name} ", value] for name, value, _ in settings])
        rows = [(head, about) for head, (*_, about) in zip(heads, settings, strict=True)]
        return Answer("\n".join(columns(rows, session.width())))
    if len(words) == 1:
        hint = f":set {words[0]} VALUE; auto is the default"
        raise LineError(f"what is {words[0]} to be?", hint=hint, code="setting")
    name, value = words[0], " ".join(words[1:])
    if name == "seed":
        from nameexpr.tensors.arguments import manual_seed

        manual_seed(SETTINGS["seed"].read(value))
    else:
        after = changed(session.settings, name, value)
        session.remember(line.text)
        session.settings = after
    session.entered.append(line.text)
    return Answer("")


def _undo(session: Session, line: CommandLine) -> Answer:
    if not session.undone:
        raise LineError("there is nothing to undo")
    undone, session.tensors, session.settings, entered = session.undone.pop()
    session.version += 1
    del session.entered[entered:]
    return Answer(f"undone: {visible(' '.join(undone.split()))}")


def _help(session: Session, line: CommandLine) -> Answer:
    word = line.argument.strip()
    if word:
        return Answer(help_about(session, word))
    rows = [(f"  {example}", about) for example, about in EXAMPLES]
    rows += [(f"  {command.call}", command.about) for command in COMMANDS.values()]
    width = session.width()
    return Answer("\n".join([*columns(rows, width), *filled(KEYS, width)]))


RUN: Commands = {
    "names": _names,
    **dict.fromkeys(VIEWS, _view),
    "draw": _draw,
    "time": _time,
    "gradient": _gradient,
    "explain": _explain,
    "set": _set,
    "load": files.load,
    "save": files.save,
    "script": files.script,
    "undo": _undo,
    "help": _help,
    "quit": lambda session, line: Answer("", leaves=True),
}
"""The function of each command."""


def new_session() -> Session:
    """Return an empty session with all commands."""
    return Session(RUN)
