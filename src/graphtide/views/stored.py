"""View collections at rest: what they are made of, the order chosen for them, and their difference streams.

    home/collections/<name>/manifest.json     what is said below
    home/collections/<name>/<version>/        matrix/, distances.npy and streams/<order>/<position>/

Invariant: a collection speaks of one version of its graph. Streams are added for orders that somebody asks for;
what is there never changes.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.errors import CatalogueError
from graphtide.graph.lock import exclusive
from graphtide.graph.manifest import MANIFEST, replace_file
from graphtide.graph.name import check_name
from graphtide.graph.schema import EDGE
from graphtide.rows.schema import did_you_mean
from graphtide.rows.tabular import html_table
from graphtide.views.execution import Ints
from graphtide.views.plots import Panel, plot_panels

__all__ = ["CollectionStore", "StoredCollection", "StoredDimension", "StoredOrder"]

_FORMAT: Final = 1
_WHAT: Final = "view collection"


@dataclass(frozen=True, slots=True)
class StoredDimension:
    """One side of a product, in the order in which the lattice goes along it."""

    name: str
    views: tuple[str, ...]
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StoredOrder:
    """An order whose difference stream is written.

    Of a chain, `views` has the number of the view at each position; of the lattice, cells are numbered
    along the orders of the dimensions, the last changing fastest. `counts` are the differences there.
    """

    name: str  # given, chain or lattice
    views: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def differences(self) -> int:
        """Of all positions together."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class StoredCollection:
    """A view collection as it was created on one version of a graph."""

    name: str
    folder: Path
    graph: str
    graph_version: str
    statement: str
    views: tuple[str, ...]
    sizes: tuple[int, ...]
    dimensions: tuple[StoredDimension, ...]
    chosen: str  # the order that a run takes unless told otherwise, or the lattice is too dear for its computation
    method: str  # how the chain was found
    costs: Mapping[str, float]  # edge differences that each order would have cost
    orders: Mapping[str, StoredOrder]

    @property
    def matrix_folder(self) -> Path:
        """The edge boolean matrix."""
        return self.folder / "matrix"

    @property
    def grows_on_lattice(self) -> bool:
        """Whether no cell of the product takes an edge away: then the last one has all that came."""
        shape = tuple(len(each.views) for each in self.dimensions)
        last = int(np.ravel_multi_index(tuple(each.order[-1] for each in self.dimensions), shape))
        return self.sizes[last] == self.costs["lattice"]

    def edges_of(self, view: int | None) -> Ints:
        """The numbers of a view's edges, in order; of the edges that are in some view without one."""
        if not self.matrix_folder.is_dir():
            raise CatalogueError(f'view collection "{self.name}" was dropped', hint="create it again")
        numbers = [np.empty(0, np.int64)]
        for file in self.matrix_folder.glob("[!._]*.parquet"):
            if view is None:
                numbers.append(pq.ParquetFile(file).read(columns=[EDGE]).column(0).to_numpy())
            else:
                word = f"m{view // 64}"
                rows = pq.ParquetFile(file).read(columns=[EDGE, word])
                is_in = rows.column(word).to_numpy() >> (view % 64) & 1
                numbers.append(rows.column(EDGE).to_numpy()[is_in == 1])
        return np.sort(np.concatenate(numbers))

    def stream_folder(self, order: str) -> Path:
        """The difference stream of an order."""
        return self.folder / "streams" / order

    def distances(self) -> Ints:
        """How many edges each pair of views differs in, behind a column of zeros."""
        return np.load(self.folder / "distances.npy")

    def plot(self, file: str | Path | None = None) -> Any:
        """The distances of the views as given and along the chain, or the cells of the lattice: whichever is chosen."""
        panels = [self._distances_along("given", range(len(self.views)))]
        if self.chosen == "chain":
            panels.append(self._distances_along("chain", self.orders["chain"].views))
        elif self.chosen == "lattice":
            panels.append(self._differences_of_cells())
        return plot_panels(panels, file)

    def _distances_along(self, order: str, views: Sequence[int]) -> Panel:
        names = [self.views[v] for v in views]
        between = self.distances()[1:, 1:][np.ix_(views, views)]
        what = {"given": "as given", "chain": "along the chain"}[order]
        return Panel(self._said_of(order, what), between, names, names, "edges that differ")

    def _differences_of_cells(self) -> Panel:
        """The lattice: its last dimension across, the others down."""
        *down, across = ([each.views[v] for v in each.order] for each in self.dimensions)
        rows = ["_".join(names) for names in product(*down)]
        counts = np.array(self.orders["lattice"].counts, np.int64).reshape(len(rows), len(across))
        what = f"on the lattice {' x '.join(each.name for each in self.dimensions)}"
        return Panel(self._said_of("lattice", what), counts, rows, across, "edge differences at the cell")

    def _said_of(self, order: str, what: str) -> str:
        chosen = ", which is chosen" if order == self.chosen else ""
        return f"{what}{chosen}:\n{self.costs[order]:,.0f} edge differences, with all edges of the first view"

    def __repr__(self) -> str:
        shape = " x ".join(str(len(each.views)) for each in self.dimensions)
        views = f"{len(self.views)} views" + (f" ({shape})" if shape else "")
        costs = ", ".join(f"{name} {cost:,.0f}" for name, cost in self.costs.items())
        return f"<{self.name}: {views} of {self.graph}, order {self.chosen}; edge differences by order: {costs}>"

    def views_table(self) -> pa.Table:
        """The views with the numbers of their edges, and their positions in the order chosen if it is no lattice."""
        order = self.orders.get(self.chosen)
        positions = {v: p for p, v in enumerate(order.views)} if order is not None and order.name != "lattice" else {}
        numbers = pa.array([positions.get(v) for v in range(len(self.views))], pa.int64())
        return pa.table({"view": self.views, "edges": self.sizes, "position": numbers})

    def _repr_html_(self) -> str:
        return html_table(self.views_table(), repr(self).strip("<>"))


class CollectionStore:
    """The view collections under `home/collections`."""

    def __init__(self, home: str | Path) -> None:
        self._folder = Path(home).absolute() / "collections"

    def names(self) -> list[str]:
        """The view collections there are, sorted."""
        return sorted(manifest.parent.name for manifest in self._folder.glob(f"[!.]*/{MANIFEST}"))

    def collection(self, name: str) -> StoredCollection:
        """The view collection of that name."""
        manifest = self._manifest(name)
        try:
            return _from_json(name, manifest.parent, json.loads(manifest.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise CatalogueError(
                f'the manifest of view collection "{name}" cannot be read: {reason}',
                hint=f"drop view collection {name} and create it again",
            ) from error

    @contextmanager
    def writing(self, name: str) -> Generator[Path]:
        """A fresh folder to write a version into; it is gone again unless `publish` named it."""
        check_name(name, _WHAT)
        home = self._folder / name
        with exclusive(self._folder / ".locks" / name, f'{_WHAT} "{name}"'):
            if (home / MANIFEST).is_file():
                raise CatalogueError(f'there is a view collection "{name}" already', hint="drop it first")
            # What a creation that was killed has left.
            shutil.rmtree(home, ignore_errors=True)
            folder = home / secrets.token_hex(8)
            folder.mkdir(parents=True)
            try:
                yield folder
            finally:
                if not (home / MANIFEST).is_file():
                    shutil.rmtree(home, ignore_errors=True)

    def publish(self, collection: StoredCollection) -> None:
        """Let a name stand for what was written, or add an order to it."""
        replace_file(collection.folder.parent / MANIFEST, json.dumps(_to_json(collection), indent=1) + "\n")

    @contextmanager
    def adding(self, collection: StoredCollection, order: str) -> Generator[Path]:
        """A folder for the stream of one more order; call `add` with what was written, or it is gone again."""
        with exclusive(self._folder / ".locks" / collection.name, f'{_WHAT} "{collection.name}"'):
            folder = collection.stream_folder(order)
            shutil.rmtree(folder, ignore_errors=True)
            try:
                yield folder
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise

    def add(self, collection: StoredCollection, order: StoredOrder) -> StoredCollection:
        """Know one more order."""
        more = replace(collection, orders={**collection.orders, order.name: order})
        self.publish(more)
        return more

    def drop(self, name: str) -> None:
        """Remove a view collection and all that belongs to it, even if its manifest cannot be read."""
        self._manifest(name)
        with exclusive(self._folder / ".locks" / name, f'{_WHAT} "{name}"'):
            (self._folder / name / MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(self._folder / name)

    def _manifest(self, name: str) -> Path:
        check_name(name, _WHAT)
        manifest = self._folder / name / MANIFEST
        if not manifest.is_file():
            names = self.names()
            hint = did_you_mean(name, names) if names else "none has been created yet"
            raise CatalogueError(f'there is no view collection "{name}"', hint=hint)
        return manifest


def _to_json(collection: StoredCollection) -> dict[str, Any]:
    values = asdict(collection)
    del values["name"]
    return {"format": _FORMAT, **values, "folder": collection.folder.name}


def _from_json(name: str, home: Path, values: dict[str, Any]) -> StoredCollection:
    if values["format"] > _FORMAT:
        raise CatalogueError(
            f'view collection "{name}" was stored in format {values["format"]}, this version reads up to {_FORMAT}',
            hint="use the version of Graphtide that stored it, or a later one",
        )
    dimensions = tuple(
        StoredDimension(each["name"], tuple(each["views"]), tuple(each["order"])) for each in values["dimensions"]
    )
    orders = {
        key: StoredOrder(each["name"], tuple(each["views"]), tuple(each["counts"]))
        for key, each in values["orders"].items()
    }
    return StoredCollection(
        name=name,
        folder=home / values["folder"],
        graph=values["graph"],
        graph_version=values["graph_version"],
        statement=values["statement"],
        views=tuple(values["views"]),
        sizes=tuple(values["sizes"]),
        dimensions=dimensions,
        chosen=values["chosen"],
        method=values["method"],
        costs=values["costs"],
        orders=orders,
    )
