"""The graphs and view collections that the bench of views runs on, made once in a home folder of its own."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphtide import datasets
from graphtide.pipeline.session import Session

__all__ = ["QUESTIONS", "load_citations", "load_questions", "similar_and_disjoint", "windows"]

QUESTIONS = "Questions"
CITATIONS = "Citations"

_BEGIN = date(2009, 9, 1)
# The day before which so many of the edges lie: then the window grows.
_FIRST_SHARE = 0.7
_LEAST_REFERENCES = 10
_EARLY = date(2000, 4, 1)


def load_questions(session: Session, most_edges: int) -> date:
    """MathOverflow's interactions, with a weight that their time gives them; the day on which growing windows begin."""
    edges = datasets.load("sx-mathoverflow").slice(0, most_edges)
    seconds = edges.column("time").cast(pa.timestamp("s", "UTC")).cast(pa.int64()).to_numpy()
    session.load_graph(QUESTIONS, edges=edges.append_column("weight", pa.array(1 + seconds % 10)))
    return datetime.fromtimestamp(float(np.quantile(seconds, _FIRST_SHARE)), UTC).date()


def similar_and_disjoint(session: Session, first: date, steps: int, months: int) -> tuple[str, str]:
    """A first window that grows day by day, and windows that have nothing in common."""
    last = first + timedelta(days=steps)
    session.execute(
        f"create view collection days on {QUESTIONS} for d in date '{first}'..date '{last}' step 1 day "
        "[until_$d: time < $d]"
    )
    edges = [_month(_BEGIN, months * k) for k in range(1 + 78 // months)]
    parts = {f"from_{low:%Y_%m}": f"time >= date '{low}' and time < date '{high}'" for low, high in pairwise(edges)}
    session.create_view_collection("parts", on=QUESTIONS, views=parts)
    return "days", "parts"


def load_citations(session: Session, most_edges: int) -> int:
    """Papers of high energy physics with their date, and how often they cite and are cited; one to start from."""
    edges = datasets.load("cit-HepPh").slice(0, most_edges)
    nodes = datasets.nodes("cit-HepPh")
    assert nodes is not None, "its papers have dates"
    ids = nodes.column("id").to_numpy()
    counts = {
        name: np.bincount(np.searchsorted(ids, edges.column(end).to_numpy()), minlength=len(ids))
        for name, end in (("references", "src"), ("citations", "dst"))
    }
    for name, values in counts.items():
        nodes = nodes.append_column(name, pa.array(values))
    session.load_graph(CITATIONS, edges=edges, nodes=nodes)
    # A late paper of those that all views of `windows` have.
    early = nodes.filter((pc.field("references") == _LEAST_REFERENCES) & (pc.field("date") < pa.scalar(_EARLY)))
    return int(early.sort_by([("date", "descending"), ("id", "ascending")]).column("id")[0].as_py())


def windows(session: Session, years: int, thresholds: int, quarters: int, limits: int) -> tuple[str, str]:
    """Years apart times growing numbers of citations; quarters that grow times growing numbers of references."""
    bounds = [date(2002 - years + k, 1, 1) for k in range(years + 1)]
    apart = {f"y{low.year}": f"src.date >= date '{low}' and src.date < date '{high}'" for low, high in pairwise(bounds)}
    # A window that grows by equal steps, as the numbers of authors do in Graphsurge's own product (section 6.3).
    step = 300 // thresholds
    cited = {f"c{limit}": f"dst.citations <= {limit}" for limit in range(step, 300 + 1, step)}
    session.create_view_collection("apart", on=CITATIONS, dimensions={"period": apart, "cited": cited}, order="given")
    ends = [_month(date(2002, 1, 1), -3 * (quarters - 1 - k)) for k in range(quarters)]
    growing = {f"q{end:%Y_%m}": f"src.date < date '{end}'" for end in ends}
    fine = {f"r{n}": f"src.references <= {n}" for n in range(_LEAST_REFERENCES, _LEAST_REFERENCES + limits)}
    session.create_view_collection("growing", on=CITATIONS, dimensions={"until": growing, "references": fine})
    return "apart", "growing"


def _month(begin: date, months: int) -> date:
    years, month = divmod(begin.month - 1 + months, 12)
    return date(begin.year + years, month + 1, 1)
