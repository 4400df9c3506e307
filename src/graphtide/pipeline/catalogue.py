"""All that has a name in a home folder: graphs, views, view collections.

A view is kept as the statement that made it, and bound anew when it is asked for: it follows its graph when that is
loaded again, and says so if it no longer fits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from graphtide.errors import CatalogueError, StatementError
from graphtide.graph.folder import make_folder
from graphtide.graph.manifest import replace_file
from graphtide.graph.name import check_name
from graphtide.graph.schema import GraphSchema
from graphtide.graph.store import Store
from graphtide.gvdl import syntax
from graphtide.gvdl.bind import bind
from graphtide.gvdl.bound import BoundView
from graphtide.gvdl.parse import parse
from graphtide.gvdl.show import show
from graphtide.rows.schema import did_you_mean
from graphtide.views.stored import CollectionStore

__all__ = ["HomeCatalogue"]

_FORMAT: Final = 1


class HomeCatalogue:
    """What `views.gvdl.bind` looks names up in."""

    def __init__(self, home: Path) -> None:
        self.graph_store = Store(home)
        self.collection_store = CollectionStore(home)
        self._views = Path(home).absolute() / "views"

    def graphs(self) -> Sequence[str]:
        """The names of the graphs."""
        return self.graph_store.names()

    def views(self) -> Sequence[str]:
        """The names of the views."""
        return sorted(file.stem for file in self._views.glob("[!.]*.json"))

    def collections(self) -> Sequence[str]:
        """The names of the view collections."""
        return self.collection_store.names()

    def schema(self, graph: str) -> GraphSchema:
        """What the nodes and edges of a graph carry."""
        return self.graph_store.graph(graph).schema

    def view(self, name: str) -> BoundView:
        """A view, as its statement reads on the graph as it is now."""
        text = self.statement_of(name)
        (statement,) = parse(text)
        assert isinstance(statement, syntax.CreateView), "nothing else is stored here"
        return bind(statement, self, text)

    def statement_of(self, view: str) -> str:
        """The statement that made a view."""
        try:
            statement = json.loads(self._file(view).read_text(encoding="utf-8"))["statement"]
            parse(statement)
        except (ValueError, KeyError, TypeError, StatementError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error).partition("\n")[0]
            raise CatalogueError(
                f'what was stored of view "{view}" cannot be read: {reason}',
                hint=f"drop view {view} and create it again",
            ) from error
        return statement

    def add_view(self, statement: syntax.CreateView, text: str) -> BoundView:
        """Keep a view, if it can be bound."""
        self.check_free(statement.name.text, "view")
        bound = bind(statement, self, text)
        make_folder(self._views)
        values = {"format": _FORMAT, "statement": show(statement)}
        replace_file(self._views / f"{bound.name}.json", json.dumps(values, indent=2, ensure_ascii=False) + "\n")
        return bound

    def drop_view(self, name: str) -> None:
        """Forget a view that no other stands on."""
        file = self._file(name)
        users = self._built_on(name)
        if users:
            raise CatalogueError(f'view "{name}" is in use by {", ".join(users)}', hint="drop those first")
        file.unlink()

    def drop_graph(self, name: str) -> None:
        """Remove a graph that nothing stands on."""
        self.graph_store.check_there(name)
        users = self._built_on(name)
        if users:
            raise CatalogueError(f'graph "{name}" is in use by {", ".join(users)}', hint="drop those first")
        self.graph_store.drop(name)

    def check_free(self, name: str, what: str) -> None:
        """Graphs, views and view collections share one space of names, since all can be run on."""
        check_name(name, what)
        for kind, names in (("graph", self.graphs()), ("view", self.views()), ("view collection", self.collections())):
            if name in names:
                again = "load with replace=True, " if kind == what == "graph" else ""
                raise CatalogueError(
                    f'there is a {kind} "{name}" already', hint=f"{again}drop it, or name the {what} otherwise"
                )

    def _file(self, view: str) -> Path:
        # Statements may quote a name, and a quoted one could be a path to other files.
        check_name(view, "view")
        file = self._views / f"{view}.json"
        if not file.is_file():
            names = self.views()
            hint = did_you_mean(view, names) if names else "none has been created yet"
            raise CatalogueError(f'there is no view "{view}"', hint=hint)
        return file

    def _built_on(self, base: str) -> list[str]:
        """Views and view collections whose statement names a graph or a view as their base.

        What cannot be read holds nothing: it has to be dropped and created again in any case.
        """
        users: list[str] = []
        for kind, names, statement_of in (
            ("view", self.views(), self.statement_of),
            ("view collection", self.collections(), lambda name: self.collection_store.collection(name).statement),
        ):
            for name in names:
                with suppress(CatalogueError):
                    (statement,) = parse(statement_of(name))
                    assert isinstance(statement, syntax.CreateView | syntax.CreateCollection), "nothing else is stored"
                    if statement.base.text == base:
                        users.append(f'{kind} "{name}"')
        return users
