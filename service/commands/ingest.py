"""`graph-memory ingest --once`: a scan with a progress bar and a summary."""

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from service.commands.remote_scan import scan_remotely
from service.errors import NoSources, StoreInUse
from service.ingest.folders import configured_folders, paths_inside
from service.ingest.scan import ScanCounts, ScanRequest, scan
from service.opening import open_parts
from service.settings import Settings
from service.writing.concepts_file import declare_concepts

Report = Callable[[ScanCounts], None]


async def ingest_once(settings: Settings, paths: Sequence[Path], console: Console) -> ScanCounts:
    """Scan once, with a progress bar on `console`; returns what was done.

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
            return await _scan_store(settings, paths, report)
        except StoreInUse:
            return await scan_remotely(settings, paths, report)


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
    request = _request(settings, [path.expanduser().resolve() for path in paths])
    async with open_parts(settings) as parts:
        await declare_concepts(parts.pipeline, settings.concepts_file, settings.agent)
        return await scan(parts.pipeline, settings, request, report)


def _request(settings: Settings, paths: Sequence[Path]) -> ScanRequest:
    """Return what to scan: places below the configured folders keep the names they have there.

    Other places are folders of their own, a file stands for itself in its folder.
    """
    folders = tuple(configured_folders(settings.sources))
    if all(any(path.is_relative_to(f.path) for f in folders) for path in paths):
        if not folders:
            raise NoSources("Nothing to scan: give a folder, or set MEMORY_SOURCES.")
        inside = paths_inside(folders, [str(path) for path in paths])
        return ScanRequest(folders, settings.agent, tuple(inside))
    own = dict.fromkeys(path.parent if path.is_file() else path for path in paths)
    return ScanRequest(tuple(configured_folders(list(own))), settings.agent, tuple(paths))
