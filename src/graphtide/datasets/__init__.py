"""Small real graphs that come with the package, to try things on.

`src/graphtide/data/README.md` says where each is from and on which terms. A data set is one Parquet
file; temporal ones are sorted by their time.

>>> import graphtide.datasets as datasets
>>> datasets.load("CollegeMsg").column_names
['src', 'dst', 'time']
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files
from importlib.resources.abc import Traversable

import pyarrow as pa
import pyarrow.parquet as pq

from graphtide.errors import UsageError

__all__ = ["load", "names"]

_SUFFIX = ".parquet"


def names() -> list[str]:
    """What `load` can be asked for, sorted.

    >>> "air-routes" in names()
    True
    """
    return sorted(file.name.removesuffix(_SUFFIX) for file in _folder().iterdir() if file.name.endswith(_SUFFIX))


def load(name: str) -> pa.Table:
    """A data set by its name, as an Arrow table.

    - `CollegeMsg`: 59,835 messages among 1,899 students, (src, dst, time), April to October 2004
    - `air-routes`: 50,637 flights between 3,476 airports, (src, dst, miles)
    - `email-Eu-core-temporal`: 332,334 e-mails among 986 people, (src, dst, time in seconds from 0)
    - `higgs-mentions`: 171,237 mentions on Twitter, (src, dst, time), 1 to 7 July 2012
    - `icews14`: 90,730 political events of 2014, (src, dst, event, day)
    """
    if name not in names():
        close = get_close_matches(name.lower(), {each.lower() for each in names()}, n=1)
        meant = [each for each in names() if each.lower() in close]
        hint = f'did you mean "{meant[0]}"?' if meant else f"there are {', '.join(names())}"
        raise UsageError(f'there is no data set "{name}"', hint=hint)
    with (_folder() / f"{name}{_SUFFIX}").open("rb") as file:
        return pq.read_table(file)


def _folder() -> Traversable:
    return files("graphtide") / "data"
