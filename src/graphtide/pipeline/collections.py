"""Creating view collections: one pass over the edges, then distances, an order, and its difference stream."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from graphtide.errors import CatalogueError
from graphtide.gvdl import syntax
from graphtide.gvdl.bind import bind
from graphtide.gvdl.bound import BoundCollection
from graphtide.gvdl.show import show
from graphtide.pipeline.materialize import count_lattice, distances, write_graph_matrix, write_lattice, write_stream
from graphtide.views.choosing import choose_order
from graphtide.views.execution import Ints
from graphtide.views.ordering import Order, order_views
from graphtide.views.stored import StoredCollection, StoredDimension, StoredOrder

if TYPE_CHECKING:
    from graphtide.pipeline.session import Session

__all__ = ["create_collection", "with_order"]


def create_collection(session: Session, statement: syntax.CreateCollection, text: str) -> StoredCollection:
    """Materialise a view collection and the stream of the order that is chosen for it."""
    catalogue = session.catalogue
    catalogue.check_free(statement.name.text, "view collection")
    bound = bind(statement, catalogue, text)
    graph = session.graph(bound.graph)
    spark, store = session.spark, catalogue.collection_store
    with store.writing(bound.name) as folder, session.working(f"creating {bound.name}"):
        sides = [each.views for each in bound.dimensions] or [bound.views]
        write_graph_matrix(spark, graph, [[view.predicate for view in views] for views in sides], folder / "matrix")
        between = distances(spark, folder / "matrix", len(bound.views))
        np.save(folder / "distances.npy", between)
        order = order_views(between)
        dimensions = _dimensions(bound, between)
        costs = {"given": order.costs["given"], "chain": float(order.differences), "random": order.costs["random"]}
        if dimensions:
            cells = count_lattice(spark, folder / "matrix", [each.order for each in dimensions])
            costs["lattice"] = float(cells.sum())
        collection = StoredCollection(
            name=bound.name,
            folder=folder,
            graph=graph.name,
            graph_version=graph.folder.name,
            statement=show(statement),
            views=tuple(view.name for view in bound.views),
            sizes=tuple(between[0, 1:].tolist()),
            dimensions=dimensions,
            chosen="given" if bound.order == "given" else choose_order(costs),
            method=order.method,
            costs=costs,
            orders={},
        )
        written = _write(session, collection, collection.chosen, order)
        store.publish(replace(collection, orders={written.name: written}))
    return store.collection(bound.name)


def with_order(session: Session, collection: StoredCollection, name: str) -> StoredCollection:
    """The view collection with the difference stream of an order, which is written now if it was not."""
    if name in collection.orders:
        return collection
    if name == "lattice" and not collection.dimensions:
        raise CatalogueError(
            f'view collection "{collection.name}" has no lattice: it is no product', hint="create it with dimensions"
        )
    store = session.catalogue.collection_store
    with store.adding(collection, name), session.working(f"ordering {collection.name}"):
        written = _write(session, collection, name, order_views(collection.distances()))
        return store.add(collection, written)


def _write(session: Session, collection: StoredCollection, name: str, order: Order) -> StoredOrder:
    spark, matrix, folder = session.spark, collection.matrix_folder, collection.stream_folder(name)
    if name == "lattice":
        counts = write_lattice(spark, matrix, [each.order for each in collection.dimensions], folder)
        return StoredOrder(name, tuple(range(counts.size)), tuple(counts.ravel().tolist()))
    views = order.views if name == "chain" else tuple(range(len(collection.views)))
    return StoredOrder(name, views, tuple(write_stream(spark, matrix, views, folder).tolist()))


def _dimensions(bound: BoundCollection, between: Ints) -> tuple[StoredDimension, ...]:
    """Each dimension in the order that is cheapest for itself, over all cells of the others."""
    shape = [len(each.views) for each in bound.dimensions]
    numbers = np.arange(prod(shape)).reshape(shape) if shape else np.empty(0, np.int64)
    dimensions: list[StoredDimension] = []
    for axis, dimension in enumerate(bound.dimensions):
        if bound.order == "given":
            order = tuple(range(shape[axis]))
        else:
            cells = np.moveaxis(numbers, axis, 0).reshape(shape[axis], -1)
            total = np.zeros((shape[axis] + 1, shape[axis] + 1), np.int64)
            for column in cells.T:
                places = np.append(0, column + 1)
                total += between[np.ix_(places, places)]
            order = order_views(total).views
        dimensions.append(StoredDimension(dimension.name, tuple(view.name for view in dimension.views), order))
    return tuple(dimensions)
