"""The routes of one room, and how they are mounted: flat, each is made once and looked at once.

FastAPI's `include_router` makes every route a second time when it is first asked, and looks for a
request's route twice in each router.
"""

from collections import defaultdict
from collections.abc import Iterable
from copy import copy

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from service.access.operations import Operations
from service.web.authentication import CHECK_SCOPES
from service.web.bodies import JsonRoute
from service.web.declared import PROBLEM_RESPONSES


class Room(APIRouter):
    """A router whose routes read JSON strictly, check the caller's scopes and declare problems."""

    def __init__(self, tag: str, prefix: str = "") -> None:
        super().__init__(
            prefix=prefix,
            tags=[tag],
            route_class=JsonRoute,
            responses=PROBLEM_RESPONSES,
            dependencies=[CHECK_SCOPES],
        )


def mount(app: FastAPI, rooms: Iterable[Room]) -> Operations:
    """Let the app answer what the rooms do; return the operations described, in their order."""
    operations: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for room in rooms:
        app.router.routes.extend(room.routes)
        for route in room.routes:
            assert isinstance(route, APIRoute)  # noqa: S101 - a room has no other
            if route.include_in_schema:
                for method in route.methods or ():
                    operations[route.path_format][method.lower()] = route.unique_id
    return dict(operations)


def answer_heads(app: FastAPI) -> None:
    """Let HEAD be answered as GET is (RFC 9110, 9.3.2), with its key; the server sends no body.

    By routes of its own behind all others, of whose look nobody else has to wait.
    """
    described = [route for route in app.routes if isinstance(route, APIRoute)]
    for route in [copy(one) for one in described if "GET" in (one.methods or ())]:
        route.methods = {"HEAD"}
        route.include_in_schema = False
        app.router.routes.append(route)
