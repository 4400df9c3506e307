"""Which arguments a parameter takes, and how it is written."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import pytest

from graphtide.analytics import EdgeProperty, Parameter, ParameterKind, Vertex, VertexPairs
from graphtide.errors import UsageError

KINDS = {
    Vertex: ParameterKind.VERTEX,
    VertexPairs: ParameterKind.VERTEX_PAIRS,
    EdgeProperty: ParameterKind.EDGE_PROPERTY,
    int: ParameterKind.INT,
    float: ParameterKind.FLOAT,
    bool: ParameterKind.BOOL,
    str: ParameterKind.STRING,
}


@pytest.mark.parametrize("annotation", KINDS, ids=lambda each: each.__name__)
def test_an_annotation_says_what_kind_a_parameter_is_of(annotation: Any) -> None:
    assert Parameter.of("x", annotation) == Parameter("x", KINDS[annotation])
    for optional in (annotation | None, Optional[annotation]):  # noqa: UP045 - users write both
        assert Parameter.of("x", optional) == Parameter("x", KINDS[annotation], optional=True)


@pytest.mark.parametrize("annotation", [list, int | str, int | str | None, None, "int"])
def test_an_annotation_of_no_kind_is_refused(annotation: Any) -> None:
    with pytest.raises(UsageError, match=r'parameter "x" is annotated as .* which no argument can be'):
        Parameter.of("x", annotation)


@pytest.mark.parametrize(
    ("annotation", "given", "kept"),
    [
        (Vertex, 17, 17),
        (Vertex, "ann", "ann"),
        (Vertex, np.int32(17), 17),
        (VertexPairs, [(1, 2), ["a", "b"]], ((1, 2), ("a", "b"))),
        (VertexPairs, np.array([[1, 2]]), ((1, 2),)),
        (VertexPairs, [], ()),
        (EdgeProperty, "duration", "duration"),
        (int, -3, -3),
        (float, 1, 1.0),
        (float, np.float32(0.5), 0.5),
        (bool, True, True),
        (str, "", ""),
        (int | None, None, None),
        (EdgeProperty | None, None, None),
    ],
)
def test_an_argument_of_its_kind_is_taken(annotation: Any, given: Any, kept: Any) -> None:
    accepted = Parameter.of("x", annotation).accepted(given)
    assert accepted == kept
    assert type(accepted) is type(kept)


@pytest.mark.parametrize(
    ("annotation", "given", "wanted"),
    [
        (Vertex, 1.5, "the id of a vertex"),
        (Vertex, True, "the id of a vertex"),
        (Vertex, None, "the id of a vertex"),
        (VertexPairs, [1, 2], "a list of pairs of ids"),
        (VertexPairs, [(1, 2, 3)], "a list of pairs of ids"),
        (VertexPairs, [(1, None)], "a list of pairs of ids"),
        (VertexPairs, "ab", "a list of pairs of ids"),
        (VertexPairs, ["ab"], "a list of pairs of ids"),
        (EdgeProperty, 3, "the name of an edge property"),
        (int, 3.0, "an int"),
        (int, "3", "an int"),
        (int, True, "an int"),
        (float, "3", "a number"),
        (float, False, "a number"),
        (bool, 1, "true or false"),
        (str, 1, "a string"),
        (int | None, "x", "an int or none"),
    ],
)
def test_an_argument_of_another_kind_is_refused(annotation: Any, given: Any, wanted: str) -> None:
    with pytest.raises(UsageError) as caught:
        Parameter.of("x", annotation).accepted(given)
    assert caught.value.message.startswith('"x" is ')
    assert caught.value.message.endswith(f", not {wanted}")


def test_a_default_must_be_of_the_kind_too() -> None:
    assert Parameter.of("x", float, 1).default == 1.0
    with pytest.raises(UsageError, match=r'"x" is 0\.5, not an int'):
        Parameter.of("x", int, 0.5)


@pytest.mark.parametrize(
    ("annotation", "value", "written"),
    [
        (Vertex, 17, "17"),
        (Vertex, "O'Hara", "'O''Hara'"),
        (VertexPairs, ((1, 2), ("a", "b")), "[(1, 2), ('a', 'b')]"),
        (EdgeProperty, "duration", "duration"),
        (EdgeProperty, 'the "real" one', '"the ""real"" one"'),
        (EdgeProperty | None, None, "none"),
        (bool, True, "true"),
        (float, 0.85, "0.85"),
    ],
)
def test_an_argument_is_written_as_in_a_statement(annotation: Any, value: Any, written: str) -> None:
    assert Parameter.of("x", annotation).written(value) == written
