"""Queries that say each thing once and by its name.

Of two scopes the framework takes the last, unasked, and of a misspelt one it takes none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, TypeGuard, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

# An answer tells no more: a query can hold thousands.
_MOST_FAULTS: Final = 100


def single_names(dependant: Dependant) -> frozenset[str]:
    """Return the parameters of a route's query that have one value, no list of them."""
    return frozenset(name for name, kind in _parameters(dependant) if not _is_list(kind))


def known_names(dependant: Dependant) -> frozenset[str] | None:
    """Return what a route's query may hold; None where the route itself sees to it.

    A model refuses what it does not know. A route that reads no query is asked with one by
    webhooks, whose addresses carry what others put there.
    """
    if any(_is_model(field.field_info.annotation) for field in dependant.query_params):
        return None
    return frozenset(name for name, _ in _parameters(dependant)) or None


def refuse_unknown_names(request: Request, names: frozenset[str]) -> None:
    """Raise RequestValidationError where the query holds anything but these."""
    unknown = sorted(request.query_params.keys() - names)
    if unknown:
        raise _refusal("extra_forbidden", "Extra inputs are not permitted", unknown[:_MOST_FAULTS])


def body_names(dependant: Dependant) -> frozenset[str]:
    """Return the fields that a route reads in its body or in parts of it, and in no query."""
    models: set[type[BaseModel]] = set()
    for field in dependant.body_params:
        _add_models(models, field.field_info.annotation)
    in_body = {name for model in models for name in model.model_fields}
    return frozenset(in_body.difference(name for name, _ in _parameters(dependant)))


def refuse_of_the_body(request: Request, names: frozenset[str]) -> None:
    """Raise RequestValidationError where one of these stands in the query.

    Unread, it would leave what is written to another agent, or scope, than is meant.
    """
    if misplaced := sorted(request.query_params.keys() & names):
        msg = "is read in the body here, not in the query"
        raise _refusal("of_the_body", msg, misplaced)


def refuse_said_twice(request: Request, names: frozenset[str]) -> None:
    """Raise RequestValidationError where one of these stands in the query more than once."""
    said = Counter(name for name, _ in request.query_params.multi_items())
    twice = [name for name, count in said.items() if count > 1 and name in names]
    if twice:
        msg = "takes one value and stands here more than once; send the one that is meant"
        raise _refusal("said_twice", msg, twice)


def _refusal(kind: str, msg: str, names: Iterable[str]) -> RequestValidationError:
    return RequestValidationError(
        [{"type": kind, "loc": ("query", name), "msg": msg} for name in names]
    )


def _parameters(dependant: Dependant) -> Iterator[tuple[str, Any]]:
    """Yield names and types, also those that stand together in a model."""
    for below in dependant.dependencies:
        yield from _parameters(below)
    for field in dependant.query_params:
        kind = field.field_info.annotation
        if _is_model(kind):
            for name, told in kind.model_fields.items():
                yield told.alias or name, told.annotation
        else:
            yield field.alias, kind


def _add_models(models: set[type[BaseModel]], kind: Any) -> None:
    """Add the models that a type is, or is made of, and those of their fields."""
    below = get_args(kind)
    if _is_model(kind):
        if kind in models:
            return
        models.add(kind)
        below = tuple(told.annotation for told in kind.model_fields.values())
    for one in below:
        _add_models(models, one)


def _is_model(kind: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _is_list(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        return _is_list(get_args(kind)[0])
    return get_origin(kind) is list or any(map(_is_list, get_args(kind)))
