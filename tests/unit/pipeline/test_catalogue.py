"""Views by name: a name never leads out of the folder that views are kept in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphtide.errors import CatalogueError
from graphtide.pipeline.catalogue import HomeCatalogue


@pytest.mark.parametrize("of", [HomeCatalogue.drop_view, HomeCatalogue.statement_of, HomeCatalogue.view])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../graphs/g/manifest", '"../graphs/g/manifest" cannot be the name of a view'),
        ("a\0b", "cannot be the name of a view"),
        ("x" * 300, "a name of 300 characters is too long for a view"),
    ],
)
def test_a_view_is_looked_for_among_views_alone(
    tmp_path: Path, of: Callable[[HomeCatalogue, str], object], name: str, message: str
) -> None:
    outside = tmp_path / "graphs" / "g" / "manifest.json"
    outside.parent.mkdir(parents=True)
    outside.write_text('{"statement": "create view v on g edges where true"}')
    (tmp_path / "views").mkdir()
    with pytest.raises(CatalogueError, match=message):
        of(HomeCatalogue(tmp_path), name)
    assert outside.exists()
