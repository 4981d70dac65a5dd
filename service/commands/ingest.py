"""`graph-memory ingest --once`: a scan with a progress bar and a summary."""

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from service.client.endpoints import AsyncGraphMemory
from service.client.reports import Scanned
from service.commands.connect import connect, is_own
from service.commands.following import follow
from service.commands.given_options import told_as_json, with_json
from service.commands.progress import progress_bar
from service.commands.terminal import begin, console, leave_to_the_answer
from service.errors import InvalidRequest, NoSources
from service.ingest.folders import configured_folders
from service.plurals import how_many
from service.settings import Settings
from service.store.address import StoreAddress

# The contract's bound on `paths`.
_MOST_PATHS: Final = 1000


@with_json
def command(
    paths: Annotated[
        list[Path] | None, typer.Argument(readable=False, help="Default: MEMORY_SOURCES.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Scan once and stop (the default).")] = True,
) -> None:
    """Scan folders once: through the running service, or on the store itself when none runs."""
    del once
    settings = begin()
    leave_to_the_answer()
    with progress_bar(console, "Scanning") as show:
        scans = asyncio.run(ingest_once(settings, paths or [], show))
    for line in () if told_as_json({"scans": scans}) else _summary(scans):
        typer.echo(line)
    if any(scan["failed"] for scan in scans):
        sys.exit(1)


async def ingest_once(
    settings: Settings, paths: Sequence[Path], show: Callable[..., None]
) -> list[Scanned]:
    """Scan once; returns what was done, in parts of as many paths as a request may name.

    Raises what connecting and asking raise, NoSources, and InvalidRequest for what is no path.
    """
    places = [_real(path) for path in paths]
    folders = _folders(settings, places)
    async with connect(settings.model_copy(update={"sources": folders})) as memory:
        if is_own(memory) and folders != settings.sources:
            # A folder of its own that is not there is told as such; there is nothing to look at.
            places = [place for place in places if place.exists()]
        return [await _scan(memory, part, show) for part in _parts(places)]


def _real(path: Path) -> Path:
    try:
        return path.expanduser().resolve()
    except RuntimeError as error:
        msg = f"{path} leads nowhere: it is a circle of links, or begins with ~ and no user's name."
        raise InvalidRequest(msg) from error


def _folders(settings: Settings, places: Sequence[Path]) -> tuple[Path, ...]:
    """Return the folders to scan: places below the configured ones keep the names they have there.

    Other places are folders of their own, a file stands for itself in its folder.
    """
    folders = configured_folders(settings.sources)
    if all(any(place.is_relative_to(f.path) for f in folders) for place in places):
        # The service that holds the store has folders of its own.
        if not folders and not StoreAddress(settings.store_url).is_held():
            raise NoSources("Nothing to scan: give a folder, or set MEMORY_SOURCES.")
        return settings.sources
    return tuple(dict.fromkeys(place.parent if place.is_file() else place for place in places))


def _parts(places: Sequence[Path]) -> Iterator[list[str]]:
    """Yield the places in parts that one request may name; of none, all folders are meant."""
    for start in range(0, max(1, len(places)), _MOST_PATHS):
        yield [str(place) for place in places[start : start + _MOST_PATHS]]


async def _scan(memory: AsyncGraphMemory, paths: list[str], show: Callable[..., None]) -> Scanned:
    job = (await memory.start_scan(paths))["job"]
    return await follow(
        lambda: memory.read_job(job),
        lambda status: show(total=status["files"], completed=status["done"]),
    )


def _summary(scans: Sequence[Scanned]) -> list[str]:
    """Return the lines that tell what was done."""
    files = sum(scan["files"] for scan in scans)
    changed = sum(scan["created"] + scan["updated"] for scan in scans)
    unchanged = sum(scan["unchanged"] for scan in scans)
    linked = sum(scan["concepts_linked"] for scan in scans)
    embedded = sum(scan["embedded"] for scan in scans)
    took_seconds = sum(scan["took_ms"] for scan in scans) / 1000
    lines = [
        f"Scanning {how_many(files, 'file')}...",
        f"{how_many(changed + unchanged, 'chunk')} found, {how_many(linked, 'concept')} linked",
        f"{how_many(changed, 'chunk')} updated ({unchanged:,} unchanged)",
        f"Embedded {how_many(embedded, 'chunk')} in {took_seconds:.1f}s",
    ]
    if removed := sum(scan["removed"] for scan in scans):
        lines.append(f"{how_many(removed, 'chunk')} removed")
    lines += dict.fromkeys(f"warning: {told}" for scan in scans for told in scan["warnings"])
    failed = (failure for scan in scans for failure in scan["failed"])
    lines += dict.fromkeys(f"failed: {one['source']}: {one['detail']}" for one in failed)
    if left_out := sum(scan["left_out"] for scan in scans):
        lines.append(f"and {left_out:,} more of these")
    return lines
