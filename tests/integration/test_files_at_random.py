"""Files written, edited, renamed and removed at random: what was set on a section stays set.

What is held against the scans is a model of the rules of decisions 0019 and 0052.
"""

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from service.access.caller import LOCAL
from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.planning import Target
from service.ingest.scan import Scanner, scan_request
from service.memories.changing import change_memory
from service.memories.storing import find, remove
from service.memories.voting import vote
from service.records import CONSOLIDATION, Memory
from service.settings import Settings
from tests.effort import amount
from tests.servers.outer_embeddings import outer_embeddings
from tests.stores.open_store import START, OpenStore

pytestmark = pytest.mark.soak
T = TypeVar("T")
NAMES = ("a.md", "part/b.md", "memory/2026-02-13.md")
names, places = st.sampled_from(NAMES), st.integers(0, 30)
headings, titles = st.sampled_from(("Log", "Log", "Fix")), st.sampled_from(("Notes", "Crane"))


@dataclass(frozen=True)
class Set:
    """What somebody set on a section; `archived` goes with its id, and is not of a summary.

    `vote` is whether the one key says that it helped.
    """

    trust_tier: str = "trusted"
    pinned: bool = False
    importance: float = 0.5
    archived: bool = False
    vote: bool | None = None


UNSET = Set()
changes = st.fixed_dictionaries({}, optional={
    "trust_tier": st.sampled_from(("trusted", "untrusted", "quarantined", "quarantined")),
    "pinned": st.booleans(), "importance": st.sampled_from((0.5, 0.9)),
    "archived": st.booleans(), "title": st.sampled_from(("Log", "Another")),
    "tags": st.just(["set"]),
})  # fmt: skip


@dataclass(frozen=True)
class File:
    """A file of a title and sections, each a heading and a text that no other section says."""

    title: str
    sections: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        told = (f"## {heading}\n\n{text}\n\n" for heading, text in self.sections)
        return f"# {self.title}\n\n{''.join(told)}"

    @property
    def told(self) -> tuple[tuple[str, str], ...]:
        """Its sections as they are read: a title with nothing below it is one."""
        return self.sections or ((self.title, ""),)

    @property
    def places(self) -> set[tuple[str, tuple[str, str]]]:
        """Its sections with the title above them."""
        return {(self.title, said) for said in self.told}


@dataclass
class Model:
    """What was read last, what is stored of it, and what was deleted for good."""

    read: dict[str, File] = field(default_factory=dict)
    stored: dict[tuple[str, str], Set] = field(default_factory=dict)
    by_name: set[tuple[str, str, str]] = field(default_factory=set)
    by_text: set[tuple[str, str, str]] = field(default_factory=set)

    def delete(self, name: str, text: str) -> None:
        file = self.read[name]
        [heading] = [one for one, said in file.told if said == text]
        del self.stored[name, text]
        self.by_name.add((name, heading, text))
        self.by_text.add((file.text, heading, text))

    def scan(self, disk: dict[str, File], below: str) -> dict[tuple[str, str], list[Set]]:
        """Return what each section may be set to now; it is left as it is where there is one."""
        seen = {name: file for name, file in disk.items() if name.startswith(below)}
        known = {name: file for name, file in self.read.items() if name.startswith(below)}
        vanished = {name: known[name] for name in known.keys() - seen.keys()}
        gone = {
            (name, said[1])
            for name, old in known.items()
            for said in old.told
            if name not in seen or (old.title, said) not in seen[name].places
        }
        may: dict[tuple[str, str], list[Set]] = {}
        for (name, text), one in self.stored.items():
            if name not in known:
                [said] = [told for told in self.read[name].told if told[1] == text]
                may[name, text] = [one, *self._of_copies(name, self.read[name], said, gone)]
        for name, file in seen.items():
            for heading, text in file.told:
                if (name, text) in self.stored or not self._is_deleted(name, file, heading, text):
                    may[name, text] = self._may(name, file, (heading, text), vanished)
                    may[name, text] += self._of_copies(name, file, (heading, text), gone)
        self.read = {**{n: f for n, f in self.read.items() if n not in known}, **seen}
        return may

    def _is_deleted(self, name: str, file: File, heading: str, text: str) -> bool:
        hashes = (name, heading, text), (file.text, heading, text)
        if hashes[0] not in self.by_name and hashes[1] not in self.by_text:
            return False
        self.by_name.add(hashes[0])
        self.by_text.add(hashes[1])
        return True

    def _of_copies(
        self, name: str, file: File, said: tuple[str, str], gone: set[tuple[str, str]]
    ) -> list[Set]:
        """Return what others that say the same may make of a section.

        Quarantined, where it is new or their words go; what was set on one that goes, under the
        same headings, where nothing is set on it, and a vote on that, where none is on it.
        """
        own, may = self.stored.get((name, said[1])) or UNSET, list[Set]()
        is_new = (name, said[1]) not in self.stored
        is_set = replace(own, archived=False, vote=None) != UNSET
        for other, old in self.read.items():
            before = self.stored.get((other, said[1]))
            if other == name or before is None:
                continue
            goes = (other, said[1]) in gone
            takes = goes and (file.title, said) in old.places
            voted = replace(own, vote=before.vote if own.vote is None and takes else own.vote)
            if before.trust_tier == "quarantined" and (is_new or goes):
                may.append(replace(voted, trust_tier="quarantined"))
            if takes:
                whole = replace(before, archived=own.archived, vote=voted.vote)
                may.append(voted if is_set else whole)
        return may

    def _may(
        self, name: str, file: File, said: tuple[str, str], vanished: dict[str, File]
    ) -> list[Set]:
        old, own = self.read.get(name), self.stored.get((name, said[1]))
        if old and own and said in old.told:
            return [own if old.title == file.title else replace(own, archived=False)]
        before = [
            replace(self.stored[other, said[1]], archived=False)
            for other, gone in vanished.items()
            if gone.title == file.title and said in gone.told
            if (other, said[1]) in self.stored
        ]
        if old is None and before:
            quarantined = [one for one in before if one.trust_tier == "quarantined"]
            return quarantined or before
        # A section that was edited keeps its id, or takes one that is left below its heading.
        left = [
            self.stored[name, text]
            for heading, text in (old.told if old else ())
            if heading == said[0] and (name, text) in self.stored
            if (heading, text) not in file.told
        ]
        return [UNSET, *left, *before]


class Files(RuleBasedStateMachine):
    """Plays with one folder; a scan is compared with the model."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.runner = self.stack.enter_context(asyncio.Runner())
        self.folder = Path(tempfile.mkdtemp(prefix="files-"))
        self.stack.callback(shutil.rmtree, self.folder)
        self.server = self.stack.enter_context(outer_embeddings())
        self.notes = self.folder / "notes"
        self.disk: dict[str, File] = {}
        self.model = Model()
        self.texts = itertools.count()
        self.notes.mkdir()
        # So that an emptied folder does not look like a disk that is away.
        (self.notes / "empty.md").touch()
        (self.notes / "part").mkdir()
        (self.notes / "part" / "empty.md").touch()
        self.open()

    def open(self) -> None:
        self.world = OpenStore(self.folder, self.server, form="array")
        self.do(self.world.open())
        configured = Settings(_env_file=None, data_dir=self.folder / "data", sources=(self.notes,))
        self.settings = configured
        self.scanner = Scanner(self.world.pipeline, configured)

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.do(self.world.close())
        self.stack.close()

    def put(self, name: str, file: File | None) -> None:
        path = self.notes / name
        if file is None:
            del self.disk[name]
            path.unlink()
            return
        self.disk[name] = file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")

    @rule(name=names, title=titles, of=st.lists(headings, min_size=1, max_size=4))
    def write(self, name: str, title: str, of: list[str]) -> None:
        if name not in self.disk:
            self.put(name, File(title, tuple((one, self.said()) for one in of)))

    def said(self) -> str:
        return f"Crane {next(self.texts)} lies about the harbour."

    @precondition(lambda self: self.disk)
    @rule(place=places, where=places, heading=headings, scans=st.booleans())
    def insert(self, place: int, where: int, heading: str, *, scans: bool) -> None:
        name, sections = self.drawn(place)
        sections.insert(where % (len(sections) + 1), (heading, self.said()))
        self.put(name, replace(self.disk[name], sections=tuple(sections)))
        if scans:
            self.scan("")

    def drawn(self, place: int) -> tuple[str, list[tuple[str, str]]]:
        name = sorted(self.disk)[place % len(self.disk)]
        return name, list(self.disk[name].sections)

    @precondition(lambda self: self.disk)
    @rule(place=places, where=places, how=st.sampled_from(("edit", "drop", "move", "swap")))
    def change(self, place: int, where: int, how: str) -> None:
        name, sections = self.drawn(place)
        if not sections:
            return
        heading, text = sections.pop(where % len(sections))
        if how == "edit":
            sections.insert(where % (len(sections) + 1), (heading, self.said()))
        elif how == "swap":
            sections.insert(0, (heading, text))
        elif how == "move":
            sections.append((heading, text))
        self.put(name, replace(self.disk[name], sections=tuple(sections)))

    @precondition(lambda self: self.disk)
    @rule(place=places, title=titles)
    def retitle(self, place: int, title: str) -> None:
        name, _ = self.drawn(place)
        self.put(name, replace(self.disk[name], title=title))

    @precondition(lambda self: self.disk)
    @rule(place=places, name=names, stays=st.booleans())
    def rename(self, place: int, name: str, *, stays: bool) -> None:
        old, _ = self.drawn(place)
        if name != old:
            self.put(name, self.disk[old])
            if not stays:
                self.put(old, None)

    @precondition(lambda self: self.disk)
    @rule(place=places)
    def unlink(self, place: int) -> None:
        self.put(self.drawn(place)[0], None)

    @precondition(lambda self: self.model.stored)
    @rule(place=places, fields=changes)
    def patch(self, place: int, fields: dict[str, Any]) -> None:
        key = sorted(self.model.stored)[place % len(self.model.stored)]
        self.do(change_memory(self.world.pipeline, self.memories()[key], fields))
        told = {name: one for name, one in fields.items() if name not in {"title", "tags"}}
        now = _set(self.memories()[key])
        # What a summary was made of is put away already.
        assert now in (one := replace(self.model.stored[key], **told), replace(one, archived=False))
        self.model.stored[key] = now

    @precondition(lambda self: self.model.stored)
    @rule(place=places, helpful=st.sampled_from((True, True, False, None)))
    def vote(self, place: int, helpful: bool | None) -> None:
        key = sorted(self.model.stored)[place % len(self.model.stored)]
        memory = self.memories()[key]
        self.do(vote(self.world.db, LOCAL, "main", memory.id, helpful=helpful))
        self.model.stored[key] = replace(self.model.stored[key], vote=helpful)

    @precondition(lambda self: self.model.stored)
    @rule(place=places)
    def delete(self, place: int) -> None:
        key = sorted(self.model.stored)[place % len(self.model.stored)]
        self.do(remove(self.world.pipeline, "main", self.memories()[key].id))
        self.model.delete(*key)

    @rule()
    def consolidate(self) -> None:
        asked = Consolidation(Target("main", None, START + timedelta(days=400)), dry_run=False)
        self.do(consolidate(self.world.pipeline, asked))

    @rule(below=st.sampled_from(("", "", "part")))
    def scan(self, below: str) -> None:
        paths = (str(self.notes / below),) if below else ()
        counts = self.do(self.scanner.scan(scan_request(self.settings, None, paths)))
        assert counts.failed == []
        may, found = self.model.scan(self.disk, below), self.memories()
        now = {key: _set(memory) for key, memory in found.items()}
        assert now.keys() == may.keys()
        wrong = {key: (one, may[key]) for key, one in now.items() if one not in may[key]}
        assert wrong == {}
        self.model.stored = now
        assert self.do(self.world.complaints()) == []

    @rule()
    def restart(self) -> None:
        self.do(self.world.close())
        self.open()

    def memories(self) -> dict[tuple[str, str], Memory]:
        return dict(self._memories())

    def _memories(self) -> Iterator[tuple[tuple[str, str], Memory]]:
        for key in self.do(self.world.ids()):
            memory = self.do(find(self.world.db, ["main"], key))
            if memory.source_kind != CONSOLIDATION:
                yield (memory.source.uri or "", memory.content), memory


def _set(memory: Memory) -> Set:
    is_archived = memory.archived_at is not None and memory.consolidated_into is None
    said = bool(memory.helpful) if memory.helpful or memory.unhelpful else None
    return Set(memory.trust_tier, memory.pinned, memory.importance, is_archived, said)


TestFiles = Files.TestCase
TestFiles.settings = settings(
    max_examples=amount("plays of files"), stateful_step_count=40,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate], deadline=None,
)  # fmt: skip
