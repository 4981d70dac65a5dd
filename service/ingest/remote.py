"""Asking a running service on this machine to scan, when it holds the store."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from service.errors import InvalidRequest, StoreInUse
from service.ingest.jobs import counts_from
from service.ingest.scan import ScanCounts
from service.settings import Settings

_POLL_SECONDS: Final = 0.3
_TIMEOUT_SECONDS: Final = 10


async def scan_remotely(
    settings: Settings, paths: Sequence[Path], report: Callable[[ScanCounts], None]
) -> ScanCounts:
    """Have the running service scan, and wait for it.

    Raises StoreInUse when whoever holds the store does not answer here, InvalidRequest with the
    service's own words when it refuses (a path outside its folders).
    """
    wish = {"paths": [str(path.expanduser().resolve()) for path in paths], "wait": False}
    job = (await _ask(settings, "/ingest/scan", wish))["job"]
    while True:
        status = await _ask(settings, f"/ingest/jobs/{job}", None)
        counts = counts_from(status)
        report(counts)
        if status["state"] == "done":
            return counts
        if status["state"] == "failed":
            raise InvalidRequest(str(status["detail"]))
        await asyncio.sleep(_POLL_SECONDS)


async def _ask(settings: Settings, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    request = urllib.request.Request(
        f"http://{host}:{settings.port}{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        return await asyncio.to_thread(_fetch, request)
    except urllib.error.HTTPError as error:
        detail = json.loads(error.read() or b"{}").get("detail", HTTPStatus(error.code).phrase)
        raise InvalidRequest(f"The running service refused: {detail}") from error
    except (urllib.error.URLError, TimeoutError) as error:
        msg = (
            f"Another process holds the store, and no service answers on {settings.host}:"
            f"{settings.port}: stop that process, or set MEMORY_PORT to its port."
        )
        raise StoreInUse(msg) from error


def _fetch(request: urllib.request.Request) -> dict[str, Any]:
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
        found: dict[str, Any] = json.loads(answer.read())
        return found
