"""The error family: each member says what it is, and the tree names them all."""

import inspect
import re

import pytest

from service import errors
from service.errors import CannotStart, FieldError, ServiceError, Unavailable

_FAMILY = [
    cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, ServiceError)
]
_MEMBERS = [cls for cls in _FAMILY if cls is not ServiceError]
_BRANCH = re.compile(r"^(?P<indent>[│ ]*)[├└]── (?P<name>\w+)(?: +(?P<status>\d{3}|–))?")


def _drawn() -> dict[str, tuple[str, str | None]]:
    """Read the tree of the module's docstring: name → (parent, status if one is written)."""
    tree, above = {}, ["ServiceError"]
    for line in (errors.__doc__ or "").splitlines():
        if branch := _BRANCH.match(line):
            depth = len(branch["indent"]) // 4
            above = [*above[: depth + 1], branch["name"]]
            tree[branch["name"]] = (above[-2], branch["status"])
    return tree


def test_the_tree_names_every_class_and_no_other() -> None:
    assert set(_drawn()) | {"ServiceError"} == {cls.__name__ for cls in _FAMILY}


@pytest.mark.parametrize("cls", _FAMILY, ids=lambda cls: cls.__name__)
def test_its_title_is_a_sentence_about_it(cls: type[ServiceError]) -> None:
    said = cls.__dict__["__doc__"]
    assert said is not None
    assert cls.title() == said.splitlines()[0].rstrip(".")
    assert re.fullmatch(r"[A-Z][^\n]{10,80}", cls.title())


@pytest.mark.parametrize("cls", _FAMILY, ids=lambda cls: cls.__name__)
def test_its_status_is_an_error(cls: type[ServiceError]) -> None:
    assert 400 <= cls.status <= 599


@pytest.mark.parametrize("cls", _MEMBERS, ids=lambda cls: cls.__name__)
def test_the_tree_draws_its_parent_and_status(cls: type[ServiceError]) -> None:
    parent, status = _drawn()[cls.__name__]
    assert cls.__bases__[0].__name__ == parent
    if status == "–":
        assert cls is CannotStart
    elif status is not None:
        assert cls.status == int(status)
    else:
        assert cls.status == cls.__bases__[0].status  # type: ignore[attr-defined]


@pytest.mark.parametrize("cls", _FAMILY, ids=lambda cls: cls.__name__)
def test_only_what_passes_by_itself_asks_to_come_back(cls: type[ServiceError]) -> None:
    assert (cls.retry_after_seconds is not None) == issubclass(cls, Unavailable)


def test_no_two_have_the_same_title() -> None:
    assert len({cls.title() for cls in _FAMILY}) == len(_FAMILY)


def test_without_a_detail_the_title_stands_in() -> None:
    error = errors.NoSources()
    assert error.detail == str(error) == "No folder is configured to scan"


def test_detail_and_fields_are_kept() -> None:
    fields = (FieldError("/limit", "Too large."),)
    error = errors.InvalidRequest("No.", fields)
    assert (str(error), error.errors) == ("No.", fields)
