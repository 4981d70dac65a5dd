"""Scanning: bring the store in line with the configured folders, one small group after another."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from service.access.origins import SCANNED
from service.drafts.drafts import DocumentText
from service.errors import AgentNotReadable, InvalidRequest, NoSources, ServiceError, Unavailable
from service.ingest.counts import ScanCounts
from service.ingest.folders import (
    Folder,
    Found,
    configured_folders,
    files_in,
    paths_inside,
    why_missing,
)
from service.ingest.opt_outs import refuse_switched_off_documents
from service.ingest.reading import ReadingRules, read_file
from service.ingest.seen import SeenFiles
from service.links import stored
from service.settings import Settings
from service.writing.concepts_file import declare_concepts
from service.writing.leaving import Leaving, complete, forget_leaving, set_sections
from service.writing.pipeline import Pipeline, sync_documents
from service.writing.removing import remove_documents
from service.writing.screening import screen_document
from service.writing.tombstones import store_key, stored_hashes

# One transaction for this much: a commit costs 5–10 ms, but its time grows with the square of its
# size (docs/decisions/0009).
_GROUP_FILES: Final = 32
_GROUP_CHARACTERS: Final = 40_000
# So many are read between two reports of how far it is.
_READ_FILES: Final = 128

_MASKED_TWICE: Final = "without its secret its name is that of another file. Rename the file."
_EMPTIED: Final = (
    "no text file lies in it any more, as if its disk were not mounted: nothing was removed. If "
    "you emptied it, put an empty file into it (empty.md) and scan again."
)


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """Which folders to scan for which agent; `paths` narrows it to places below them."""

    folders: tuple[Folder, ...]
    agent: str = "main"
    paths: tuple[Path, ...] = ()


def scan_request(settings: Settings, agent: str | None, paths: Sequence[str] = ()) -> ScanRequest:
    """Check a wish to scan against the configured folders, which belong to one agent.

    Whoever asks: a route, the command line, or a job that an earlier process left. Raises
    NoSources, PathOutsideSources, and AgentNotReadable for any other agent: a scan would copy the
    owner's notes to it.
    """
    folders = configured_folders(settings.sources)
    if not folders:
        raise NoSources("No folder is configured: set MEMORY_SOURCES to the folders of your notes.")
    if agent is not None and agent != settings.agent:
        msg = (
            f"The configured folders belong to agent {settings.agent!r} (MEMORY_AGENT), not to "
            f"{agent!r}: leave `agent` out."
        )
        raise AgentNotReadable(msg)
    return ScanRequest(tuple(folders), settings.agent, tuple(paths_inside(folders, paths)))


@dataclass(frozen=True, slots=True)
class Scanner:
    """What a scan needs: where it writes to, how files are read, and which were seen before."""

    pipeline: Pipeline
    settings: Settings
    seen: SeenFiles = field(default_factory=SeenFiles)

    async def scan(
        self, request: ScanRequest, on_progress: Callable[[ScanCounts], None] = lambda _: None
    ) -> ScanCounts:
        """Store what is new or changed, remove what vanished; files that fail are told, not fatal.

        Unchanged files are known by the hash of their text and cost one read. A folder that is not
        there, or lost all its files at once, is a failure and removes nothing: a disk that is not
        mounted leaves none, or an empty one.
        """
        started, counts, pipeline = time.perf_counter(), ScanCounts(), self.pipeline
        try:
            await declare_concepts(pipeline, self.settings.concepts_file, request.agent)
        except InvalidRequest as error:
            counts.fail(self.settings.concepts_file, error.detail)
        known = await stored.documents(pipeline.db, request.agent)
        request = _as_stored(request, known)
        missing = {folder: why for folder in request.folders if (why := why_missing(folder))}
        for folder, why in missing.items():
            counts.fail(folder.path, why)
        present = [folder for folder in request.folders if folder not in missing]
        found = await asyncio.to_thread(self._found, present, request.paths)
        counts.files = len(found)
        emptied = await asyncio.to_thread(_emptied, present, found, known)
        for folder in emptied:
            counts.fail(folder.path, _EMPTIED)
        walked = [folder for folder in present if folder not in emptied]
        vanished = _vanished(request, walked, found, known)
        leaving = await set_sections(pipeline.db, request.agent, vanished)
        key = await store_key(pipeline.db)
        on_progress(counts)
        files = iter(found)
        while counts.done < counts.files:
            look = partial(self._changed, files, request.agent, known, key, counts)
            await _sync(pipeline, await asyncio.to_thread(look), leaving, counts)
            on_progress(counts)
        for start in range(0, len(vanished), _GROUP_FILES):
            part = vanished[start : start + _GROUP_FILES]
            counts.removed += await remove_documents(pipeline, request.agent, part)
        if not request.paths:  # what left a file of these may have gone to one of the others
            await forget_leaving(pipeline.db, request.agent)
        counts.took_ms = round((time.perf_counter() - started) * 1000, 1)
        on_progress(counts)
        return counts

    def _found(self, present: Sequence[Folder], paths: Sequence[Path]) -> list[Found]:
        """Return the files by their names without secrets; of two equal ones the first has it."""
        mask = self.pipeline.sanitiser.mask
        found = list(files_in(present, paths))
        named = [replace(file, uri=mask(file.uri)) for file in found]
        if named == found:
            return found
        owners: dict[str, Path] = {}
        for file in files_in(present):
            owners.setdefault(mask(file.uri), file.path)
        return [
            replace(file, problem=file.problem or _MASKED_TWICE)
            if owners.get(file.uri, file.path) != file.path else file
            for file in named
        ]  # fmt: skip

    def _changed(
        self, files: Iterator[Found], agent: str, known: Mapping[str, stored.StoredDocument],
        key: bytes | None, counts: ScanCounts,
    ) -> list[DocumentText]:  # fmt: skip
        """Read on until a group of changed documents is full, or for so many files.

        What is unchanged, or fails, is noted in `counts`. The hash by which an unchanged file is
        known is that of the screened text: the store holds no trace of a secret.
        """
        changed: list[DocumentText] = []
        characters, cutting = 0, self.pipeline.cutting
        for file in islice(files, _READ_FILES):
            read = self._read(file, agent, counts)
            if read is None:
                counts.done += 1
                continue
            old = known.get(file.uri)
            if old is not None and old.folder != file.folder:
                old = None  # its folder was moved: stored anew, or its end would not be noticed
            hashes = stored_hashes(key, self.seen.text_hash(read, cutting) or "")
            if old is None or old.text_hash not in hashes:
                document = self._screened(read, counts)
                if document is None:
                    counts.done += 1
                    continue
                hashes = stored_hashes(key, self.seen.add(read, document, cutting))
                if old is None or old.text_hash not in hashes:
                    changed.append(document)
                    characters += len(document.text)
                    if len(changed) >= _GROUP_FILES or characters >= _GROUP_CHARACTERS:
                        break
                    continue
            counts.done, counts.unchanged = counts.done + 1, counts.unchanged + old.sections
        return changed

    def _read(self, file: Found, agent: str, counts: ScanCounts) -> DocumentText | None:
        """Read one file; a failure is noted in `counts` and gives None."""
        if file.problem:
            counts.fail(file.uri, file.problem)
            return None
        rules = ReadingRules(self.settings.max_source_bytes, self.settings.read_hard_links)
        try:
            read = read_file(Path(file.folder), file.path, rules)
        except ServiceError as error:
            counts.fail(file.uri, error.detail)
        except OSError as error:
            counts.fail(file.uri, f"cannot be read: {error.strerror}.")
        else:
            return DocumentText(
                file.uri, read.text, agent, folder=file.folder, modified_at=read.modified_at,
                sender=SCANNED,
            )  # fmt: skip
        return None

    def _screened(self, read: DocumentText, counts: ScanCounts) -> DocumentText | None:
        try:
            return screen_document(self.pipeline.sanitiser, read)
        except ServiceError as error:
            counts.fail(read.uri, error.detail)
        return None


async def _sync(
    pipeline: Pipeline, documents: Sequence[DocumentText], leaving: Leaving, counts: ScanCounts
) -> None:
    """Store a group; when it is refused, each document by itself, so that one is told."""
    try:
        await refuse_switched_off_documents(pipeline.db, documents)
        if documents:
            await complete(pipeline.db, documents[0].agent, leaving)
            for synced in await sync_documents(pipeline, documents, leaving=leaving, is_scan=True):
                counts.add(synced)
    except Unavailable:
        raise
    except ServiceError as error:
        if len(documents) == 1:
            counts.fail(documents[0].uri, error.detail)
            counts.done += 1
            return
        for document in documents:
            await _sync(pipeline, [document], leaving, counts)


def _as_stored(request: ScanRequest, known: Mapping[str, stored.StoredDocument]) -> ScanRequest:
    """Return the request with the names of its folders that the store has their files under."""
    given = [(document.folder, uri) for uri, document in known.items()]
    folders = configured_folders([folder.path for folder in request.folders], given)
    return replace(request, folders=tuple(folders))


def _emptied(
    present: Sequence[Folder], found: Sequence[Found], known: Mapping[str, stored.StoredDocument]
) -> list[Folder]:
    """Return the folders that hold no file at all while the store has memories of some.

    One that itself cannot be looked into is told already.
    """
    remembered = {document.folder for document in known.values() if document.sections}
    remembered -= {str(file.path) if file.problem else file.folder for file in found}
    doubtful = [folder for folder in present if str(folder.path) in remembered]
    return [folder for folder in doubtful if all(file.problem for file in files_in([folder]))]


def _vanished(
    request: ScanRequest, walked: Sequence[Folder], found: Sequence[Found],
    known: Mapping[str, stored.StoredDocument],
) -> list[str]:  # fmt: skip
    """Return the documents whose file is gone from a folder that was walked.

    What lies below a place that could not be looked into has not vanished.
    """
    seen, unlooked = {file.uri for file in found}, {file.path for file in found if file.problem}
    folders = {str(folder.path): folder for folder in walked}
    vanished = []
    for uri, document in sorted(known.items()):
        folder = folders.get(document.folder or "")
        if folder is None or uri in seen:
            continue
        path = folder.path / uri.removeprefix(folder.prefix)
        if not unlooked.isdisjoint(path.parents):
            continue
        if not request.paths or any(path.is_relative_to(start) for start in request.paths):
            vanished.append(uri)
    return vanished
