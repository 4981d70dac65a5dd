"""Asking the running service to scan, when it holds the store."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from service.client.asking import ask_holder
from service.errors import InvalidRequest
from service.ingest.jobs import counts_from
from service.ingest.scan import ScanCounts
from service.settings import Settings

_POLL_SECONDS: Final = 0.3


async def scan_remotely(
    settings: Settings, paths: Sequence[Path], report: Callable[[ScanCounts], None]
) -> ScanCounts:
    """Have the running service scan, and wait for it.

    Raises StoreInUse when whoever holds the store does not answer here, InvalidRequest with the
    service's own words when it refuses (a path outside its folders).
    """
    wish = {"paths": [str(path.expanduser().resolve()) for path in paths], "wait": False}
    job = (await ask_holder(settings, "/ingest/scan", wish))["job"]
    while True:
        status = await ask_holder(settings, f"/ingest/jobs/{job}")
        counts = counts_from(status)
        report(counts)
        if status["state"] == "done":
            return counts
        if status["state"] == "failed":
            raise InvalidRequest(str(status["detail"]))
        await asyncio.sleep(_POLL_SECONDS)
