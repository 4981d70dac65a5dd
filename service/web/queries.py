"""Queries that say each thing once: of two scopes the framework takes the last, unasked."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel


def single_names(dependant: Dependant) -> frozenset[str]:
    """Return the parameters of a route's query that have one value, no list of them."""
    return frozenset(name for name, kind in _parameters(dependant) if not _is_list(kind))


def refuse_said_twice(request: Request, names: frozenset[str]) -> None:
    """Raise RequestValidationError where one of these stands in the query more than once."""
    said = Counter(name for name, _ in request.query_params.multi_items())
    twice = [name for name, count in said.items() if count > 1 and name in names]
    if twice:
        msg = "takes one value and stands here more than once; send the one that is meant"
        raise RequestValidationError(
            [{"type": "said_twice", "loc": ("query", name), "msg": msg} for name in twice]
        )


def _parameters(dependant: Dependant) -> Iterator[tuple[str, Any]]:
    """Yield names and types, also those that stand together in a model."""
    for below in dependant.dependencies:
        yield from _parameters(below)
    for field in dependant.query_params:
        kind = field.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            for name, told in kind.model_fields.items():
                yield told.alias or name, told.annotation
        else:
            yield field.alias, kind


def _is_list(kind: Any) -> bool:
    if get_origin(kind) is Annotated:
        return _is_list(get_args(kind)[0])
    return get_origin(kind) is list or any(map(_is_list, get_args(kind)))
