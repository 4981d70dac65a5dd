"""JSON bodies as RFC 8259 has them: in UTF-8, and with every name once."""

import json
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from service.web.queries import (
    body_names,
    known_names,
    refuse_of_the_body,
    refuse_said_twice,
    refuse_unknown_names,
    single_names,
)

_MOST_NAME_CHARACTERS = 100
# Some clients send one of these with every request.
_SAYS_NOTHING: Final = (b"", b"{}", b"null")
_NOT_READ: Final = "is not read here; say in the query what is meant"


class JsonRequest(Request):
    """A request whose body says each thing once: of two `dry_run`, neither is the one meant."""

    async def json(self) -> Any:
        """Return the body; raises JSONDecodeError, and UnicodeDecodeError where it is not UTF-8."""
        found = json.loads((await self.body()).decode(), object_pairs_hook=_once)
        self.state.agents_named = _agents_in(found)
        return found


class JsonRoute(APIRoute):
    """A route whose body is read so, and whose query says each thing once and by its name, too."""

    def __init__(self, *words: Any, **options: Any) -> None:
        if "DELETE" in (options.get("methods") or ()):
            # Behind what is there: who may not delete is told that.
            options["dependencies"] = [*(options.get("dependencies") or ()), Depends(_refuse_body)]
        super().__init__(*words, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler that reads the body so."""
        handle = super().get_route_handler()
        names, known = single_names(self.dependant), known_names(self.dependant)
        in_body = body_names(self.dependant)

        async def handle_json(request: Request) -> Response:
            if request.scope["query_string"]:
                refuse_said_twice(request, names)
                refuse_of_the_body(request, in_body)
                if known is not None:
                    refuse_unknown_names(request, known)
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json


async def _refuse_body(request: Request) -> None:
    """Refuse a body that says something: unread, it would not narrow what is deleted."""
    if (await request.body()).strip() not in _SAYS_NOTHING:
        raise RequestValidationError([{"type": "not_read", "loc": ("body",), "msg": _NOT_READ}])


def _agents_in(body: Any) -> list[Any]:
    """Return what the body, or the memories of a batch, give as agents: the audit tells them."""
    if not isinstance(body, dict):
        return []
    batch = body.get("memories")
    every = [body, *(batch if isinstance(batch, list) else ())]
    return [one["agent"] for one in every if isinstance(one, dict) and "agent" in one]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name in counts if counts[name] > 1)[:_MOST_NAME_CHARACTERS]
        raise json.JSONDecodeError(f"{twice!r} stands twice in one object", "", 0)
    return found
