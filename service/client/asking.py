"""Asking the service that runs on this machine: what a command does when that holds the store.

By urllib: a command needs neither retries nor a pool, and httpx stays with the embedder.
"""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from service.errors import InvalidRequest, StoreInUse, Unavailable
from service.settings import Settings

Json = dict[str, Any]

# A report over a slow database takes minutes.
_TIMEOUT_SECONDS: Final = 600


async def ask(settings: Settings, path: str, body: Mapping[str, Any] | None = None) -> Json:
    """Return the JSON that the running service answers to a GET, or to a POST of `body`.

    Raises Unavailable when no service answers where the settings say, InvalidRequest with the
    service's own words when it refuses.
    """
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    request = urllib.request.Request(
        f"http://{host}:{settings.port}{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        return await asyncio.to_thread(_fetch, request)
    except urllib.error.HTTPError as error:
        raise InvalidRequest(f"The running service refused: {_detail(error)}") from error
    except (OSError, ValueError) as error:
        msg = (
            f"No service answers on {settings.host}:{settings.port}: start it with `graph-memory "
            "serve`, or set MEMORY_HOST and MEMORY_PORT to where it runs."
        )
        raise Unavailable(msg) from error


def _fetch(request: urllib.request.Request) -> Json:
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
        found: Json = json.loads(answer.read())
        return found


def _detail(error: urllib.error.HTTPError) -> str:
    """Return the reason that a problem gives, else what the status means."""
    try:
        return str(json.loads(error.read())["detail"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"{error.code} {HTTPStatus(error.code).phrase}"


async def ask_holder(settings: Settings, path: str, body: Mapping[str, Any] | None = None) -> Json:
    """Ask as `ask` does when another process holds the store; StoreInUse if it does not answer."""
    try:
        return await ask(settings, path, body)
    except Unavailable as error:
        msg = (
            f"Another process holds the store, and no service answers on {settings.host}:"
            f"{settings.port}: stop that process, or set MEMORY_PORT to its port."
        )
        raise StoreInUse(msg) from error
