"""`graph-memory ingest --once`: a scan with a progress bar and a summary."""

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from service.errors import NoSources, StoreInUse
from service.ingest.declared import declare_concepts
from service.ingest.folders import configured_folders
from service.ingest.scan import ScanCounts, ScanRequest, scan
from service.opening import open_parts
from service.ingest.remote import scan_remotely
from service.settings import Settings

Report = Callable[[ScanCounts], None]


async def ingest_once(settings: Settings, paths: Sequence[Path], console: Console) -> bool:
    """Scan once and print the summary; returns whether any file failed.

    Works on the store itself. When a running service holds it, the service is asked over HTTP.
    Raises what opening and scanning raise.
    """
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=console, transient=True,
    ) as progress:  # fmt: skip
        bar = progress.add_task("Scanning", total=None)

        def report(counts: ScanCounts) -> None:
            progress.update(bar, total=counts.files, completed=counts.done)

        try:
            counts = await _scan_store(settings, paths, report)
        except StoreInUse:
            counts = await scan_remotely(settings, paths, report)
    for line in summary(counts):
        console.print(line, highlight=False, markup=False)
    return bool(counts.failed)


def summary(counts: ScanCounts) -> list[str]:
    """Return the lines that tell what a scan did."""
    chunks = counts.created + counts.updated + counts.unchanged
    lines = [
        f"Scanning {counts.files} files...",
        f"{chunks} chunks found, {counts.concepts_linked} concepts linked",
        f"{counts.created + counts.updated} chunks updated ({counts.unchanged} unchanged)",
        f"Embedded {counts.embedded} chunks in {counts.took_ms / 1000:.1f}s",
    ]
    if counts.removed:
        lines.append(f"{counts.removed} chunks removed")
    lines += [f"warning: {warning}" for warning in counts.warnings]
    lines += [f"failed: {failure.source}: {failure.detail}" for failure in counts.failed]
    return lines


async def _scan_store(settings: Settings, paths: Sequence[Path], report: Report) -> ScanCounts:
    folders = configured_folders(paths or settings.sources)
    if not folders:
        raise NoSources("Nothing to scan: give a folder, or set MEMORY_SOURCES.")
    async with open_parts(settings) as parts:
        await declare_concepts(parts.pipeline, settings.concepts_file, settings.agent)
        request = ScanRequest(tuple(folders), settings.agent)
        return await scan(parts.pipeline, settings, request, report)
