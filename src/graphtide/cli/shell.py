"""The shell: GVDL statement by statement, with history and completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from rich.console import Console

from graphtide.analytics import find
from graphtide.analytics import names as computation_names
from graphtide.cli.answers import print_answer
from graphtide.cli.failure import failure_message, is_debugging
from graphtide.errors import CatalogueError
from graphtide.gvdl.parse import is_complete
from graphtide.pipeline.session import Session
from graphtide.pipeline.statements import execute

__all__ = ["GvdlCompleter", "shell"]

_KEYWORDS = (
    *("load graph", "nodes", "edges", "with", "create view", "create view collection", "on", "where"),
    *("and", "or", "not", "in", "between", "like", "is null", "for", "step", "dimension", "order given", "order auto"),
    *("run", "adaptive", "differential", "scratch", "order chain", "order lattice", "save to"),
    *("register query", "as", "shortest path", "shortest paths", "hop", "path", "components", "wcc", "pagerank"),
    *("from", "to", "weight", "label"),
    *("show graphs", "show views", "show view collections", "show computations", "show queries"),
    *("describe", "explain", "drop view", "drop graph", "drop view collection", "drop query"),
    *("src.", "dst.", "id", "true", "false", "null", "date", "timestamp", "day", "week", "month", "year"),
)
_GREETING = "GVDL statements end with ; -- a blank line or Ctrl-C drops what you began, Ctrl-D or exit leaves"


class GvdlCompleter(Completer):
    """Keywords, and the names that the session knows."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What the word before the cursor may become, alone or behind the words that a keyword begins with."""
        del complete_event
        word = document.get_word_before_cursor(WORD=True).lstrip("([,'")
        before = document.text_before_cursor.lower().removesuffix(word.lower()).split()
        words = self.words()
        # Behind a blank nothing was begun but by the words before it.
        begun = [*(words if word else []), *(rest for each in words for rest in _rests(each, before))]
        for candidate in dict.fromkeys(begun):
            if candidate.lower().startswith(word.lower()) and candidate != word:
                yield Completion(candidate, start_position=-len(word))

    def words(self) -> list[str]:
        """All that can be completed to: names first."""
        catalogue = self._session.catalogue
        graphs = list(catalogue.graphs())
        names = [*graphs, *catalogue.views(), *catalogue.collections(), *self._session.queries()]
        for graph in graphs:
            try:
                schema = catalogue.schema(graph)
            except CatalogueError:
                continue  # a graph that cannot be read is no reason not to type
            names += [each.name for each in schema.edges]
            names += [f"{end}.{each.name}" for end in ("src", "dst") for each in schema.nodes]
        for computation in computation_names():
            names += [computation, *(each.name for each in find(computation).parameters)]
        return list(dict.fromkeys([*names, *_KEYWORDS]))


def _rests(keyword: str, before: Sequence[str]) -> Iterator[str]:
    """What is left of a keyword of several words behind each of its beginnings that was just typed.

    >>> list(_rests("show view collections", ["show", "view"]))
    ['collections']
    """
    words = keyword.split()
    for typed in range(1, len(words)):
        if [*before[-typed:]] == words[:typed]:
            yield " ".join(words[typed:])


def shell(home: Path, master: str) -> None:
    """Read statements until the person leaves."""
    console = Console()
    with Session(home, master=master) as session:
        prompt: PromptSession[str] = PromptSession(
            history=_history(session.home),
            completer=GvdlCompleter(session),
            complete_while_typing=False,
            multiline=True,
            key_bindings=_bindings(),
            prompt_continuation="       ... ",
        )
        console.print(_GREETING, highlight=False)
        while (text := _asked(prompt)) is not None:
            carry_out(session, text, console)


def carry_out(session: Session, text: str, console: Console) -> None:
    """Carry out what was typed; a mistake is shown, and the shell goes on."""
    try:
        for answer in execute(session, text):
            print_answer(console, answer)
    except KeyboardInterrupt:
        console.print("interrupted; what was complete before is kept", style="yellow")
    except Exception as error:  # noqa: BLE001 - a shell outlives whatever is typed
        console.print(failure_message(error), style="red", markup=False, highlight=False)
        if is_debugging():
            console.print_exception()


def _asked(prompt: PromptSession[str]) -> str | None:
    """The next statements, None when the person leaves."""
    while True:
        try:
            text = prompt.prompt("graphtide> ").strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return None
        if text.rstrip(";").strip().lower() in {"exit", "quit"}:
            return None
        if text:
            return text


def _history(home: Path) -> History:
    try:
        home.mkdir(parents=True, exist_ok=True)
        return FileHistory(str(home / "shell-history"))
    except OSError:
        return InMemoryHistory()


def _bindings() -> KeyBindings:
    bindings = KeyBindings()
    add: Callable[..., Callable[..., object]] = bindings.add

    @add("enter")
    def accept_or_go_on(event: KeyPressEvent) -> None:
        """Enter ends the input when a statement is complete; on a last line that is empty it drops one that is not."""
        buffer = event.current_buffer
        text = buffer.text
        is_leaving = text.strip().lower() in {"exit", "quit"}
        is_at_end = not buffer.document.text_after_cursor.strip()
        if is_complete(text) or is_leaving:
            buffer.validate_and_handle()
        elif is_at_end and not buffer.document.current_line.strip():
            event.app.exit(exception=KeyboardInterrupt)  # as Ctrl-C does
        else:
            buffer.insert_text("\n")

    del accept_or_go_on
    return bindings
