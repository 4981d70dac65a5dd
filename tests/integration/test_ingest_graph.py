"""The graph stays sound: whatever is stored, changed and removed, in whatever order."""

import asyncio
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Coroutine, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.concepts.merging import merge_concepts, part_concepts, variants_of
from service.consolidate.consolidating import Consolidation, consolidate
from service.consolidate.planning import Target
from service.consolidate.undoing import undo_run
from service.drafts.drafts import DocumentText, document_drafts
from service.errors import RunNotFound
from service.links import stored
from service.memories.changing import change_memory
from service.memories.screening import Pushed
from service.memories.storing import find, remove, store
from service.records import CONSOLIDATION
from service.store.vector_forms import VectorForm
from service.text.markdown import parse_markdown
from service.writing.pipeline import sync_documents
from service.writing.removing import remove_documents
from tests.effort import amount
from tests.servers.outer_embeddings import outer_embeddings
from tests.stores.open_store import START, OpenStore

T = TypeVar("T")
AGENTS = ("main", "scout")
URIS = (
    "projects/aurora.md", "projects/new-york.md", "decisions.md",
    "memory/2026-02-12.md", "memory/2026-02-13.md", "memory/2026-02-14.md",
)  # fmt: skip
# Spellings of the same names that tokenisers and indexes see differently.
NAMES = (
    "New York", "new york", "New York Times", "Rush", "rush", "The Rush Hour", "RTX 5070 Ti",
    "rtx 5070 ti", "GPU", "GPUs/CPUs", "src/app.py", "src app.py", "v2.3.1", "v2 3 1", "HTTPServer",
    "httpserver", "front-end", "front end", "Plan B", "plan-b", "Aurora", "Project Aurora",
    "project aurora's", "Café Noir", "cafe noir", "한국어 노트", "RTX카드", "Times Square",
    "snake_case_name", "snake case name", "FN-88", "Osprey-2", "Osprey 2",
    "Graphics Processing Unit (GPU)", "General Purpose Utility (GPU)", "Plan Noir (PN)", "PN",
    "PN (Plan Noir)", "서울에서", "서울", "김민수 팀장이", "김민수가", "《红楼梦》", "看红楼梦吧",
)  # fmt: skip
VARIANTS = (
    "front end", "FrontEnd", "front ends", "frontends", "aurora note", "aurora notes",
    "AuroraNotes", "Open Front End", "Open FrontEnd", "OFE", "Open Front End (OFE)",
    "Open FrontEnd (OFE)",
)  # fmt: skip
HEADINGS = (
    "Notes", "New York", "New York Times", "Rush", "The Rush", "RTX 5070 Ti", "GPUs", "v2.3.1",
    "src/app.py", "HTTPServer", "front end", "Plan B", "Project Aurora", "Café Noir", "한국어 노트",
    "RTX카드", "snake_case_name", "PN", "서울", "Plan Noir (PN)",
    "09:15 Standup", "11:30 Plan B", "10:00",
)  # fmt: skip
TAGS = ("rush", "gpu", "pn", "front-end", "plan/b", "front-ends", "aurora-notes", "frontend")
FILES = (
    "",
    '[[concept]]\nname = "Kubernetes"\naliases = ["New York", "GPU"]\nis_a = ["Platform"]\n',
    """[[concept]]
name = "Graphics card"
aliases = ["RTX 5070 Ti", "gpu"]
related_to = ["Rush", "New York"]
""",
    '[[concept]]\nname = "Pine nut"\naliases = ["PN"]\n[[concept]]\nname = "Plan Noir"\n',
    '[[concept]]\nname = "Aurora note"\naliases = ["frontend", "Open Front End"]\n',
    """[[concept]]
name = "Aurora"
is_a = ["Project Aurora", "Platform"]
related_to = ["Rush"]
[[concept]]
name = "Rush"
aliases = ["The Rush"]
""",
)

names = st.sampled_from(NAMES)
sentences = st.builds(
    "{} with {} {}".format,
    st.sampled_from(("We met", "the thing has", "Later, I saw")), names,
    st.one_of(names, names.map("and [[{}]].".format), st.sampled_from(TAGS).map("#{} .".format)),
)  # fmt: skip
bodies = st.lists(sentences, min_size=1, max_size=3).map(" \n".join)
sections = st.builds("## {}\n\n{}\n".format, st.sampled_from(HEADINGS), bodies)
documents = st.builds(
    "{}{}".format,
    st.one_of(st.just(""), st.sampled_from(HEADINGS).map("# {}\n\n".format)),
    st.lists(sections, max_size=4).map("\n".join),
)
agents = st.sampled_from(AGENTS)
moments = st.integers(0, 6).map(lambda hours: START + timedelta(hours=hours))
pushes = st.builds(
    Pushed,
    text=bodies,
    title=st.one_of(st.none(), st.sampled_from(HEADINGS)),
    tags=st.lists(st.sampled_from(TAGS), max_size=2).map(tuple),
    concepts=st.lists(names, max_size=2).map(tuple),
    occurred_at=st.one_of(st.none(), moments),
    kind=st.sampled_from(("note", "observation", "observation")),
    session=st.sampled_from((None, "s1", "s2")),
    source_ref=st.sampled_from((None, None, "r1", "r2", "r3")),
    trust_tier=st.sampled_from(("trusted", "trusted", "quarantined")),
)
changes = st.fixed_dictionaries(
    {},
    optional={
        "text": bodies,
        "title": st.sampled_from(HEADINGS),
        "tags": st.lists(st.sampled_from(TAGS), max_size=2),
        "concepts": st.lists(names, max_size=2),
        "occurred_at": moments,
        "importance": st.floats(0, 1),
        "scope": st.sampled_from((None, "harbour")),
        "archived": st.booleans(),
        "trust_tier": st.sampled_from(("trusted", "untrusted", "quarantined")),
        "pinned": st.booleans(),
    },
)


class Soundness(RuleBasedStateMachine):
    """Stores, edits, moves and removes at random; after each step the store must be sound."""

    form: VectorForm = "array"

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.runner = self.stack.enter_context(asyncio.Runner())
        folder = Path(tempfile.mkdtemp(prefix="graph-check-"))
        self.stack.callback(shutil.rmtree, folder)
        server = self.stack.enter_context(outer_embeddings())
        self.world = OpenStore(folder, server, form=self.form)
        self.do(self.world.open())
        self.stored = 0
        self.runs: list[tuple[str, str]] = []
        self.merges = 0
        # What was deleted for good, as (heading, text), by where a document would bring it from.
        self.deleted: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
        self.texts: dict[tuple[str, str], str] = {}

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.do(self.world.close())
        self.stack.close()

    @rule(agent=agents, batch=st.lists(st.tuples(st.sampled_from(URIS), documents), min_size=1,
          max_size=3, unique_by=lambda one: one[0]), at=moments)  # fmt: skip
    def read_documents(self, agent: str, batch: list[tuple[str, str]], at: datetime) -> None:
        texts = [DocumentText(uri, text, agent, modified_at=at) for uri, text in batch]
        before = {uri: self.do(self.sections(agent, uri)) for uri, _ in batch}
        self.do(sync_documents(self.world.pipeline, texts))
        self.stored += 1
        for document in texts:
            self.restores_nothing(document, before[document.uri])

    @precondition(lambda self: self.texts)
    @rule(place=st.integers(0, 30), uri=st.sampled_from(URIS))
    def send_again(self, place: int, uri: str) -> None:
        """Send a document as it was last sent, under its own or another name."""
        (agent, own), text = sorted(self.texts.items())[place % len(self.texts)]
        self.read_documents(agent, [(uri if place % 2 else own, text)], START)

    async def sections(self, agent: str, uri: str) -> dict[str, tuple[str, str]]:
        """Return (heading, text) of what is stored of a document, by id."""
        rows = await self.world.ask(
            "SELECT id, heading_path, content FROM memory WHERE agent = $who AND source.uri = $uri",
            who=agent, uri=uri,
        )  # fmt: skip
        assert isinstance(rows, list)
        return {row["id"]: _said(row["heading_path"], row["content"]) for row in rows}

    def restores_nothing(self, document: DocumentText, before: dict[str, tuple[str, str]]) -> None:
        """Compare what came with a document with what was deleted of it, or of one of its text."""
        agent, uri, text = document.agent, document.uri, document.text
        self.texts[agent, uri] = text
        by_name, by_text = self.deleted[agent, "name", uri], self.deleted[agent, "text", text]
        now = self.do(self.sections(agent, uri))
        came = {said for key, said in now.items() if before.get(key) != said}
        assert not came & (by_name | by_text)
        drafts = document_drafts(document, parse_markdown(text, 200), {})
        stay = {_said(one.heading_path, one.content) for one in drafts} - {*now.values()}
        stay &= by_name | by_text
        by_name |= stay
        by_text |= stay

    @rule(agent=agents, uri=st.sampled_from(URIS))
    def drop_document(self, agent: str, uri: str) -> None:
        self.do(remove_documents(self.world.pipeline, agent, [uri]))

    @rule(batch=st.lists(pushes, min_size=1, max_size=4), agent=agents)
    def push(self, batch: list[Pushed], agent: str) -> None:
        owned = [replace(one, agent=agent) for one in batch]
        self.do(store(self.world.pipeline, owned))
        self.stored += 1

    @precondition(lambda self: self.stored)
    @rule(agent=agents, place=st.integers(0, 30), fields=changes)
    def patch(self, agent: str, place: int, fields: dict[str, Any]) -> None:
        ids = self.do(self.world.ids(agent))
        if ids:
            memory = self.do(find(self.world.db, [agent], ids[place % len(ids)]))
            if memory.source_kind == "document":
                fields.pop("text", None)
            if memory.source_kind == CONSOLIDATION:
                fields = {}
            self.do(change_memory(self.world.pipeline, memory, fields))

    @precondition(lambda self: self.stored)
    @rule(agent=agents, place=st.integers(0, 30))
    def delete(self, agent: str, place: int) -> None:
        ids = self.do(self.world.ids(agent))
        if ids:
            memory = self.do(find(self.world.db, [agent], ids[place % len(ids)]))
            self.do(remove(self.world.pipeline, agent, memory.id))
            if uri := memory.source.uri:
                said = _said(memory.heading_path, memory.content)
                self.deleted[agent, "name", uri].add(said)
                self.deleted[agent, "text", self.texts[agent, uri]].add(said)

    @rule(agent=agents, text=st.sampled_from(FILES))
    def declare(self, agent: str, text: str) -> None:
        self.do(self.world.declare(text, agent))

    @rule(agent=agents)
    def consolidate(self, agent: str) -> None:
        asked = Consolidation(Target(agent, None, START + timedelta(days=400)), dry_run=False)
        done = self.do(consolidate(self.world.pipeline, asked))
        if done.run:
            self.runs.append((agent, done.run))

    @precondition(lambda self: self.runs)
    @rule(place=st.integers(0, 9), pin=st.booleans())
    def take_back(self, place: int, pin: bool) -> None:
        agent, run = self.runs.pop(place % len(self.runs))
        # Its memories may be gone meanwhile, and the run with them.
        with suppress(RunNotFound):
            self.do(undo_run(self.world.pipeline, agent, run, pin=pin))

    @rule(agent=agents, pair=st.tuples(*[st.sampled_from(VARIANTS)] * 2))
    def name(self, agent: str, pair: tuple[str, str]) -> None:
        one = Pushed(f"This tells of {pair[0]}, and more.", agent=agent, concepts=(pair[1],))
        self.do(store(self.world.pipeline, [one]))
        self.stored += 1

    @rule(agent=agents)
    def merge(self, agent: str) -> None:
        self.merges += 1
        groups = self.do(variants_of(self.world.db, agent))
        self.do(merge_concepts(self.world.pipeline, agent, groups, f"run {self.merges}"))
        assert self.do(variants_of(self.world.db, agent)) == []

    @rule(agent=agents, place=st.integers(0, 30), is_run=st.booleans())
    def part(self, agent: str, place: int, *, is_run: bool) -> None:
        rows = self.do(stored.dictionary_rows(self.world.db, agent))
        merged = [old for row in rows for old in row["merged"] or ()]
        if merged:
            old = merged[place % len(merged)]
            asked = {"run": old["run"]} if is_run else {"concept": old["slug"]}
            assert self.do(part_concepts(self.world.pipeline, agent, **asked))

    @rule()
    def forget_dictionaries(self) -> None:
        self.world.pipeline.dictionaries.clear()

    @invariant()
    def is_sound(self) -> None:
        assert self.do(self.world.complaints()) == []


def _said(heading_path: Sequence[str], content: str) -> tuple[str, str]:
    return (*heading_path[-1:], "")[0], content.strip()


class ResidentSoundness(Soundness):
    """The same, with the memories that a new name touches found in RAM."""

    form = "bytes"


TestSoundness = Soundness.TestCase
TestResidentSoundness = ResidentSoundness.TestCase
TestSoundness.settings = TestResidentSoundness.settings = settings(
    max_examples=amount("histories"), stateful_step_count=amount("steps"),
    suppress_health_check=list(HealthCheck), phases=[Phase.generate],
)  # fmt: skip
