"""What `import graphtide as gt` offers: changed on purpose only."""

from __future__ import annotations

import subprocess
import sys

import graphtide as gt


def test_the_public_names() -> None:
    assert set(gt.__all__) == {
        "Aggregate",
        "AnalyticGraph",
        "Arrangement",
        "Budget",
        "Collection",
        "Database",
        "Dataflow",
        "Datalog",
        "EdgeProperty",
        "Ego",
        "Expression",
        "Last",
        "TopK",
        "Within",
        "GraphtideError",
        "Input",
        "JoinOnDemand",
        "LiveGraph",
        "Loop",
        "Output",
        "Procedure",
        "Program",
        "Query",
        "Degree",
        "DeterministicDrop",
        "ProbabilisticDrop",
        "Random",
        "Schema",
        "Scratch",
        "Session",
        "SharedGraph",
        "SumProgram",
        "Vanilla",
        "Vertex",
        "VertexPairs",
        "View",
        "__version__",
        "analytic",
        "call",
        "coalesce",
        "col",
        "concat",
        "datasets",
        "func",
        "greatest",
        "hash_of",
        "ife",
        "least",
        "lit",
        "tuple_",
        "when",
    }
    for name in gt.__all__:
        assert getattr(gt, name) is not None


def test_what_collections_offer() -> None:
    methods = {name for name in dir(gt.Collection) if not name.startswith("_")}
    assert methods == {
        "antijoin",
        "arrange",
        "beyond",
        "concat",
        "consolidate",
        "distinct",
        "drop",
        "except_",
        "explode",
        "flat_map",
        "group_by",
        "inspect",
        "iterate",
        "iterate_prioritized",
        "join",
        "join_columns",
        "left_join",
        "linear",
        "map_batches",
        "negate",
        "output",
        "pairs",
        "probe",
        "rename",
        "schema",
        "select",
        "semijoin",
        "threshold",
        "where",
        "with_columns",
    }


def test_importing_the_package_alone_compiles_and_loads_nothing_heavy() -> None:
    script = "import sys, graphtide; print(sorted({'numba', 'pyarrow', 'matplotlib'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
