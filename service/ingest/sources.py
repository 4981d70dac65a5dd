"""The configured folders as they were when somebody looked last: at the start, and at each scan."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from service.ingest.folders import configured_folders, why_unread


@dataclass(slots=True)
class Sources:
    """What no scan reads of them is in `warnings`; the service goes on, a disk may come later."""

    paths: Sequence[Path]
    warnings: list[str] = field(default_factory=list)

    async def look(self) -> None:
        """Look at them; whoever asks after the service's health hears what was seen here."""
        self.warnings = await asyncio.to_thread(lambda: list(_warnings(self.paths)))


def _warnings(paths: Sequence[Path]) -> Iterator[str]:
    for folder in configured_folders(paths):
        if why := why_unread(folder):
            yield f"MEMORY_SOURCES: {folder.path}: {why} Each scan looks again."
