"""The error tree: what it prints, and that it survives a trip between processes."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

from graphtide import errors
from graphtide.errors import GraphtideError, UserFunctionError

CLASSES = [getattr(errors, name) for name in errors.__all__]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("hint", [None, "do this"])
def test_an_error_survives_pickle_and_copy(kind: type[GraphtideError], hint: str | None) -> None:
    error = kind("row (1, 2) has 2 values", hint)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is kind
        assert str(twin) == str(error)
        assert (twin.message, twin.hint) == (error.message, error.hint)


def test_the_hint_is_a_line_of_its_own() -> None:
    assert str(GraphtideError("it broke")) == "it broke"
    assert str(GraphtideError("it broke", hint="mend it")) == "it broke\nhint: mend it"


def test_every_error_is_exported_and_drawn_in_the_tree() -> None:
    defined = [name for name, value in vars(errors).items() if inspect.isclass(value)]
    assert sorted(defined) == errors.__all__
    for kind in CLASSES:
        assert issubclass(kind, GraphtideError)
        assert f" {kind.__name__}\n" in errors.__doc__ or f" {kind.__name__} " in errors.__doc__


def raise_from_a_users_function() -> None:
    try:
        {}["missing"]
    except KeyError as error:
        raise UserFunctionError("the function of select raised KeyError") from error


def test_a_users_exception_stays_the_cause() -> None:
    with pytest.raises(UserFunctionError) as caught:
        raise_from_a_users_function()
    assert isinstance(caught.value.__cause__, KeyError)
