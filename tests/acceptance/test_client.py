"""The Python client, sync and async: every method against the running service."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from service.client.endpoint import Endpoint
from service.client.endpoints import AsyncGraphMemory, Endpoints, GraphMemory
from service.client.errors import Problem, TimedOut, Unavailable
from tests.conftest import REPOSITORY, Start
from tests.servers.keyed import KeyedService, keyed_service
from tests.servers.running import free_port

CONCEPTS = REPOSITORY / "examples" / "notes" / "concepts.toml"


# One for each project of a test: both clients ask the same service.
_NUMBERS = count()


class Awaiting:
    """An asynchronous client, called from a test that does not wait: one test serves both."""

    def __init__(self, portal: BlockingPortal, memory: AsyncGraphMemory) -> None:
        self._portal = portal
        self._memory = memory

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._memory, name)
        return lambda *args, **kwargs: self._portal.call(partial(method, *args, **kwargs))


class Noting:
    """A client that notes which methods were called."""

    def __init__(self, memory: GraphMemory | Awaiting) -> None:
        self._memory = memory
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        self.called.add(name)
        found: Callable[..., Any] = getattr(self._memory, name)
        return found


@pytest.fixture(scope="module")
def notes_service(
    tmp_path_factory: pytest.TempPathFactory, embedding_url: str
) -> Iterator[KeyedService]:
    """Yield a service that has keys, a folder of notes and a file of concepts."""
    notes = tmp_path_factory.mktemp("notes")
    (notes / "gpu.md").write_text("# GPU\n\nThe RTX 5070 Ti has 16 GB of VRAM.\n", encoding="utf-8")
    data = tmp_path_factory.mktemp("data")
    with keyed_service(
        data_dir=data, embedding_url=embedding_url, sources=(notes,), concepts_file=CONCEPTS
    ) as service:
        yield service


@pytest.fixture(params=["sync", "async"])
def memory(request: pytest.FixtureRequest, notes_service: KeyedService) -> Iterator[Noting]:
    """Yield a client of each kind."""
    if request.param == "sync":
        with GraphMemory(notes_service.url, key=notes_service.admin) as one:
            yield Noting(one)
        return
    with start_blocking_portal() as portal:
        client = AsyncGraphMemory(notes_service.url, key=notes_service.admin)
        yield Noting(Awaiting(portal, client))
        portal.call(client.close)


def _store_and_find(memory: Noting) -> None:
    stored = memory.store_memory("JR's code phrase is blue bunny.", kind="fact", agent="phrases")
    assert stored["action"] in {"created", "duplicate"}
    batch = memory.store_memories(
        [{"text": "first of two", "session": "s", "agent": "phrases"}, {"text": ""}]
    )
    assert (batch["errors"][0]["index"], batch["ids"][1]) == (1, None)
    found = memory.search("code phrase", agent="phrases", kinds=["fact"], weights={"graph": 0})
    assert found["results"][0]["id"] == stored["id"]
    assert found["receipt"]["engine"] == "resident"
    thread = memory.graph_recall(seed_ids=[stored["id"]], agent="phrases", hops=1)
    assert thread["seeds"] == [stored["id"]]
    page = memory.list_memories(agent="phrases", limit=1)
    rest = memory.list_memories(agent="phrases", limit=10, cursor=page["next_cursor"])
    assert stored["id"] in {one["id"] for one in page["memories"] + rest["memories"]}


def _change_and_delete(memory: Noting) -> None:
    key = memory.store_memory("to be changed", tags=["a/b"], source_ref="one")["id"]
    assert memory.change_memory(key, title="A title")["title"] == "A title"
    assert memory.change_memory(key, title=None)["title"] == "to be changed"
    assert memory.read_memory(key)["tags"] == ["a/b"]
    assert memory.give_feedback(key, helpful=True, query="What is it?")["helpful"] == 1
    assert memory.read_memory(key)["helpful"] == 1
    assert memory.give_feedback(key, helpful=None, agent="main") == {
        "id": key, "helpful": 0, "unhelpful": 0,
    }  # fmt: skip
    lineage = memory.read_lineage(key)
    assert (lineage["origin"], lineage["client"]) == ("agent", "first")
    held = memory.quarantine(source="one", dry_run=False)
    assert (held["memories"], held["ids"]) == (1, [key])
    assert memory.release(source="one", dry_run=False)["agents"] == {"main": 1}
    assert memory.delete_memory(key) is None
    with pytest.raises(Problem) as told:
        memory.read_memory(key)
    assert (told.value.status, told.value.refusal.type) == (404, "/problems/memory-not-found")


def _begin_and_end_a_session(memory: Noting) -> None:
    name = f"github.com/ann/app-{next(_NUMBERS)}"
    app = {"origin": f"https://{name}.git"}
    assert memory.set_working_memory("The crane.", project=app)["scope"] == name
    assert "\n\n## [" in memory.update_working_memory("Mended.", project=app)["text"]
    assert memory.read_working_memory(project=name)["chars"] > 10
    handoff = memory.write_handoff("Next: the quay.", project=app, session="s1")
    read = memory.read_handoff(project=name, history=1)
    assert (read["id"], read["text"]) == (handoff["id"], "Next: the quay.")
    first = memory.log_decision("Paint it red.", project=app, tags=["paint"])
    memory.log_decision("Paint it blue.", project=app, supersedes=first["id"])
    [old] = memory.list_decisions(project=name, tag="paint")["decisions"]
    assert (old["id"], len(old["superseded_by"])) == (first["id"], 1)
    context = memory.session_context(project=app, session="s2", max_chars=9500)
    assert "Next: the quay." in (context["text"] or "")
    lines = [{"role": "user", "content": f"From now on {name} is red."}]
    seen = memory.observe(f"t-{name}", "generic", entries=lines, project=app)
    assert (seen["stored"], seen["offset"]) == (1, 1)
    talk = [{"role": "user", "content": f"What colour has {name}?"}]
    packed = memory.pack_context(talk, max_tokens=1000, project=app)
    assert (packed["messages"], packed["memories"]["ids"] != []) == (talk, True)
    assert memory.lookup_fix("Error: no such crane", project=app)["found"] is False
    intent = memory.intend("Ask Mina.", when=["quay"], project=app)
    asked = memory.search("the quay", project=app, session="s3", new_only=True)
    assert [one["text"] for one in asked["intents"]] == ["Ask Mina."]
    assert intent["id"] in [one["id"] for one in memory.list_intents(limit=1000)["intents"]]
    assert memory.forget_intent(intent["id"]) is None
    told = memory.read_session("s2")["given"]
    assert handoff["id"] in [one["id"] for one in told if one["is_known"]]
    assert memory.clear_working_memory(project=name) is None
    assert name in [one["scope"] for one in memory.list_projects()["projects"]]
    asked = memory.cascade(f"What colour has {name}?", project=app, messages=talk, session="s3")
    assert [one["tier"] for one in asked["asked"]][:1] == ["context"]
    memory.set_working_memory("Never mind the quay.", project=app, session="s3")
    ended = memory.end_session("s3", project=app, threshold=0)
    assert [one["text"] for one in ended["promoted"]] == ["Never mind the quay."]
    looked_back = memory.reflect(project=app, days=7, dry_run=False)
    assert looked_back["report"].startswith("# Reflection")
    assert memory.hot_memory(project=name)["text"] == ""
    off = memory.opt_out(session=f"off-{name}")["opt_outs"]
    assert f"off-{name}" in [one["session"] for one in off]
    assert memory.opt_in(session=f"off-{name}") is None
    assert "generic" in [one["client"] for one in memory.list_clients()["clients"]]
    assert f"off-{name}" not in [one["session"] for one in memory.list_opt_outs()["opt_outs"]]
    moved = memory.move_project(name, {"origin": f"https://{name}-moved"}, limit=1000)
    assert (moved["scope"], moved["into"], moved["left"]) == (name, f"{name}-moved", 0)


def _scan_and_read(memory: Noting) -> None:
    told = memory.ingest("memory/2026-02-13.md", "# 2026-02-13\n\nAlpha\n\nBeta\n", scope="days")
    assert told["source"] == "memory/2026-02-13.md"
    read = memory.read_document("memory/2026-02-13.md", from_line=3, lines=1)
    assert (read["text"], read["total_lines"]) == ("Alpha", 5)
    assert memory.scan(["gpu.md"])["files"] == 1
    status = memory.read_job(memory.start_scan()["job"])
    assert status["state"] in {"queued", "running", "done"}
    concepts = memory.list_concepts("gpu")["concepts"]
    assert memory.read_concept(concepts[0]["id"])["memories"] == concepts[0]["memories"]


def _operate(memory: Noting) -> None:
    memory.ingest("memory/2026-01-01.md", "# 2026-01-01\n\nDecided to use Osprey-2 at last.\n")
    memory.ingest("memory/2026-01-02.md", "# 2026-01-02\n\nOsprey-2 stopped with E1234 today.\n")
    shown = memory.consolidate(older_than_days=1)
    done = memory.consolidate(plan=shown["plan"], dry_run=False)
    assert done["counts"]["memories"] == shown["counts"]["memories"] > 0
    back = memory.undo_consolidation(run=done["run"])
    assert len(back["restored"]) == done["counts"]["memories"]
    job = memory.start_consolidation(older_than_days=36_500)["job"]
    assert memory.read_consolidation(job)["state"] in {"queued", "running", "done"}
    assert memory.graph_report()["memories"] > 0
    assert memory.index_state()["agent"]["drift"] == {}
    assert "main" in memory.rebuild_index(agent="main")["rebuilt"]
    assert memory.stats(agent="main")["documents"] >= 3
    assert memory.live() == {"status": "alive"}
    assert memory.ready()["status"] == "ready"


def _administer(memory: Noting) -> None:
    made = memory.create_key("a laptop", scopes=["read"], agents=["main"], rate=60)
    assert made["key"].startswith(f"gm_{made['id']}_")
    assert memory.rotate_key(made["id"])["key"] != made["key"]
    assert memory.revoke_key(made["id"]) is None
    keys = {key["id"]: key["revoked_at"] for key in memory.list_keys(limit=1000)["keys"]}
    assert keys[made["id"]]
    grant = memory.give_grant("main/child", "main", scope="days", expires_at="2126-01-01")
    assert grant["id"] in {one["id"] for one in memory.list_grants(limit=1000)["grants"]}
    assert memory.revoke_grant(grant["id"]) is None
    page = memory.list_audit(since="2026-01-01", outcome="done", limit=10)
    assert {entry["outcome"] for entry in page["entries"]} <= {"done"}


def test_every_method_works_in_both_clients(memory: Noting) -> None:
    _store_and_find(memory)
    _change_and_delete(memory)
    _begin_and_end_a_session(memory)
    _scan_and_read(memory)
    _operate(memory)
    _administer(memory)
    every = inspect.getmembers_static(Endpoints)
    methods = {name for name, value in every if isinstance(value, Endpoint)}
    assert memory.called >= methods


def test_a_wrong_field_is_named(memory: Noting) -> None:
    with pytest.raises(Problem) as told:
        memory.search("x", limit=0)
    assert (told.value.status, told.value.errors[0].pointer) == (422, "/limit")
    assert told.value.refusal.request_id


def test_what_is_not_ready_answers_all_the_same(start: Start, tmp_path: Path) -> None:
    away = f"http://127.0.0.1:{free_port()}"
    service = start(embedding_url=away, wait=False, data_dir=tmp_path)
    with GraphMemory(service.url) as memory:
        told = memory.ready()
    assert (told["status"], "embedder" in told["reasons"][0]) == ("degraded", True)


@pytest.mark.anyio
async def test_nobody_there_and_too_slow(notes_service: KeyedService) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    with GraphMemory(nobody) as memory, pytest.raises(Unavailable, match="graph-memory serve"):
        memory.live()
    async with AsyncGraphMemory(nobody) as later:
        with pytest.raises(Unavailable, match="graph-memory serve"):
            await later.live()
    async with AsyncGraphMemory(notes_service.url, timeout_seconds=0.0001) as hasty:
        with pytest.raises(Unavailable):
            await hasty.search("x")
    assert issubclass(TimedOut, Unavailable)
