"""The reader with prompt_toolkit: colours, a toolbar, a completion menu, suggestions from the history.

After each key the toolbar shows the type and the cost of the result, the signature of the function that is
being called, or the error, which is underlined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import completion_is_selected, has_completions, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples, split_lines
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.shortcuts import confirm
from prompt_toolkit.styles import Style

from nameexpr.errors import Span
from nameexpr.repl.loop import history_file
from nameexpr.session.continuation import MORE, PROMPT, is_open, lines_of
from nameexpr.session.feedback import Status, completions, plan_and_code, status
from nameexpr.session.highlighting import line_tokens
from nameexpr.session.session import Session

STYLE = Style.from_dict(
    {
        "name": "ansicyan",
        "tensor": "bold",
        "function": "ansimagenta",
        "number": "ansigreen",
        "operator": "ansiyellow",
        "pack": "ansicyan",
        "dots": "ansicyan",
        "command": "ansiblue",
        "comment": "italic ansibrightblack",
        "mistake": "underline ansired",
        "bottom-toolbar": "noreverse",
        "bottom-toolbar.type": "ansigreen",
        "bottom-toolbar.mistake": "ansired",
        "bottom-toolbar.hint": "ansibrightblack",
    }
)
PLAIN = frozenset({"space", "bracket", "error", "anonymous", "argument", "python"})
"""Kinds of tokens without a colour."""
MARKS = {"type": "", "mistake": "! ", "hint": "", "": ""}
"""Prefixes of the toolbar's text, which make it readable without colour."""
MENU = 6
"""Rows of the completion menu."""


class PromptReader(Completer, Lexer):
    """Lines typed at a terminal, with completions and colours for prompt_toolkit."""

    def __init__(self, session: Session, *, has_colour: bool = True) -> None:
        self._session = session
        self._status = lru_cache(maxsize=2)(lambda text, version: status(session, text))
        self._waiting: list[str] = []
        path = history_file("history")
        self._prompt: PromptSession[str] = PromptSession(
            lexer=self,
            completer=self,
            complete_while_typing=True,
            auto_suggest=AutoSuggestFromHistory(),
            bottom_toolbar=self._toolbar,
            style=STYLE,
            color_depth=None if has_colour else ColorDepth.DEPTH_1_BIT,
            history=InMemoryHistory() if path is None else FileHistory(path),
            key_bindings=self._keys(),
            multiline=True,
            prompt_continuation=lambda width, number, wraps: " " * len(MORE) if wraps else MORE,
            enable_open_in_editor=False,
            reserve_space_for_menu=MENU,
        )

    def read(self) -> str | None:
        """Return the next line with its continuation lines, None after Ctrl-D, "" after Ctrl-C.

        Several lines that are pasted at once are read one by one, like those of a script.
        """
        try:
            if not self._waiting:
                self._waiting = lines_of(self._prompt.prompt(PROMPT))
        except KeyboardInterrupt:
            return ""
        except EOFError:
            return None
        return self._waiting.pop(0) if self._waiting else ""

    def confirm(self, question: str) -> bool:
        """Ask a question that y or n answers; Ctrl-C and Ctrl-D mean no."""
        try:
            return confirm(question)
        except (KeyboardInterrupt, EOFError):
            return False

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return the completions of the word at the cursor.

        While a line is typed these are words only, and none before one is begun unless all fit in the menu.
        """
        cursor = document.cursor_position
        offered = completions(self._session, document.text, cursor)
        if complete_event.text_inserted:
            is_begun = any(completion.start < cursor for completion in offered)
            offered = tuple(completion for completion in offered if is_begun or completion.text[0].isalpha())
            offered = offered if is_begun or len(offered) <= MENU else ()
        for text, start, shown, about in offered:
            yield Completion(text, start - cursor, display=shown, display_meta=about)

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return a function from a line number to its styled pieces; an error is underlined."""
        lines = coloured(document.text, self._look(document.text).span)
        return lambda number: lines[number] if number < len(lines) else []

    def _look(self, text: str) -> Status:
        return self._status(text, self._session.version)

    def _toolbar(self) -> StyleAndTextTuples:
        found = self._look(self._prompt.default_buffer.text)
        return [(f"class:bottom-toolbar.{found.kind or 'hint'}", " " + MARKS[found.kind] + found.text)]

    def _keys(self) -> KeyBindings:
        """Return the key bindings that differ from prompt_toolkit's, where Esc and then Enter runs
        any text.
        """
        keys = KeyBindings()
        is_typing = has_focus(DEFAULT_BUFFER)

        @keys.add("enter", filter=is_typing & ~completion_is_selected)
        def _enter(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if is_open(buffer.text) and buffer.document.is_cursor_at_the_end:
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        @keys.add("enter", filter=is_typing & completion_is_selected)
        def _take(event: KeyPressEvent) -> None:
            event.current_buffer.complete_state = None

        @keys.add("tab", filter=is_typing & has_completions)
        def _complete(event: KeyPressEvent) -> None:
            buffer, state = event.current_buffer, event.current_buffer.complete_state
            if state is not None and len(state.completions) == 1:  # accept it, so that Enter runs the line
                buffer.apply_completion(state.completions[0])
            else:
                buffer.complete_next()

        @keys.add("c-o", filter=is_typing)
        def _break(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("f2", filter=is_typing)
        def _plan(event: KeyPressEvent) -> None:
            text = plan_and_code(self._session, event.current_buffer.text)
            run_in_terminal(lambda: print(text))

        return keys


def coloured(text: str, mistake: Span | None) -> list[StyleAndTextTuples]:
    """Split a text into lines of styled pieces.

    >>> coloured("a -> b", Span(5, 6))
    [[('class:name', 'a'), ('', ' '), ('class:operator', '->'), ('', ' '), ('class:name class:mistake', 'b')]]
    """
    return [*split_lines(_pieces(text, mistake))]


def _pieces(text: str, mistake: Span | None) -> Iterator[tuple[str, str]]:
    """Yield the tokens with their styles, split at the borders of the error."""
    borders = (mistake.start, max(mistake.end, mistake.start + 1)) if mistake else (-1, -1)
    for kind, (start, end) in line_tokens(text):
        style = "" if kind in PLAIN else f"class:{kind}"
        cuts = [start, *(border for border in borders if start < border < end), end]
        for first, last in pairwise(cuts):
            is_inside = borders[0] <= first < borders[1]
            yield f"{style} class:mistake".strip() if is_inside else style, text[first:last]
