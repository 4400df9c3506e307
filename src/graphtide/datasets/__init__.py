"""Graphs to try things on: real ones that come with the package, and seeded ones of any size.

>>> from graphtide import datasets
>>> datasets.load("email-Eu-core").num_rows, datasets.nodes("email-Eu-core").column_names
(25571, ['id', 'department'])
>>> datasets.rmat(scale=12, edge_factor=8, seed=1).column_names
['src', 'dst']
"""

from __future__ import annotations

from graphtide.datasets.description import Description, describe, overview
from graphtide.datasets.facts import FactHistory, facts
from graphtide.datasets.generators.communities import communities
from graphtide.datasets.generators.copying_model import copying_model
from graphtide.datasets.generators.grid_roads import grid_roads
from graphtide.datasets.generators.rmat import rmat
from graphtide.datasets.generators.temporal import temporal
from graphtide.datasets.shipped import answers, changes, load, names, nodes

__all__ = [
    "Description",
    "FactHistory",
    "answers",
    "changes",
    "communities",
    "copying_model",
    "describe",
    "facts",
    "grid_roads",
    "load",
    "names",
    "nodes",
    "overview",
    "rmat",
    "temporal",
]
