"""What /openapi.json tells, made when it is first asked for: no start needs it."""

import asyncio
from threading import Lock
from typing import Any, Final

import orjson
from fastapi import FastAPI, Request, Response

from service.access.operations import OPEN

_KEY: Final = {
    "type": "http", "scheme": "bearer",
    "description": "A key of `graph-memory keys create`; none while none was made.",
}  # fmt: skip


class DescribedApp(FastAPI):
    """An app whose description says which operations take a key."""

    def __init__(self, **options: Any) -> None:
        # A path with a slash too many is a problem like another: a redirection has no text, and
        # `curl -s` without -L would show nothing and store nothing.
        options |= {"redirect_slashes": False}
        super().__init__(**options, openapi_url=None, docs_url=None, redoc_url=None)
        self._describing = Lock()
        self.add_route("/openapi.json", _tell, include_in_schema=False)

    def openapi(self) -> dict[str, Any]:
        """Return the description; the first call takes some tenths of a second."""
        with self._describing:
            if self.openapi_schema is None:
                _describe_keys(super().openapi())
            return super().openapi()


async def _tell(request: Request) -> Response:
    description = await asyncio.to_thread(request.app.openapi)
    return Response(orjson.dumps(description), media_type="application/json")


def _describe_keys(description: dict[str, Any]) -> None:
    description["components"]["securitySchemes"] = {"key": _KEY}
    for told in (told for path in description["paths"].values() for told in path.values()):
        if told["operationId"] not in OPEN:
            told["security"] = [{"key": []}, {}]
