"""Walls between agents: a key reads and writes for its own agents, and nothing of others.

Every operation of /openapi.json is asked, each with whatever could lead to another's memories.
"""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from service.access.operations import NEEDED, OPEN
from tests.servers.keyed import KeyedService, keyed_service

ENGINES = ("resident", "database")
Json = dict[str, Any]
# What stands in another agent's graph alone: no answer may hold any of it.
SECRETS = ("zebrafinch", "quokkaville", "aardwolfson", "ocelotgate")
OWN = "the harbour crane"


class World:
    """Two agents in one service: `anna` with a key of hers, and `bob`, whom it says nothing of."""

    def __init__(self, keyed: KeyedService) -> None:
        self.keyed = keyed
        self.anna = keyed.client(keyed.key(["read", "write"], ["anna"])[1])
        self.anna_admin = keyed.client(keyed.key(["read", "write", "admin"], ["anna"])[1])
        self.admin = keyed.client()
        self.bobs = self._fill("bob", "Zebrafinch of Quokkaville, said Aardwolfson", "ocelotgate")
        self.annas = self._fill("anna", f"Mended was {OWN} of Quayside, said Annasdottir", "crane")

    def _fill(self, agent: str, text: str, tag: str) -> Json:
        put = {"agent": agent}
        pushed = [
            self.admin.post(
                "/memories",
                json=put | {"text": f"{text} no. {n}.", "tags": [tag], "kind": "daily_log",
                            "session": f"{tag}-s", "occurred_at": f"2026-02-0{n}T10:00:00Z"},
            ).json()["id"]
            for n in range(1, 6)
        ]  # fmt: skip
        document = {"source": f"memory/{tag}.md", "text": f"# {tag}\n\n## Told\n\n{text}.\n"}
        assert self.admin.post("/ingest", json=put | document).status_code == 200
        plan = self.admin.post("/consolidate", json=put | {"older_than_days": 0}).json()["plan"]
        wait = {"dry_run": False, "wait": False, "older_than_days": 0}
        job = self.admin.post("/consolidate", json=put | wait).json()["job"]
        concepts = self.admin.get("/concepts", params=put).json()["concepts"]
        return {
            "memory": pushed[0], "document": document["source"], "plan": plan, "job": job,
            "concept": concepts[0]["id"],
        }  # fmt: skip


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory, embedding_url: str, engine: str
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("walls")
    (folder / "notes").mkdir()
    (folder / "notes" / "one.md").write_text("# Ocelotgate\n\nQuokkaville.\n", encoding="utf-8")
    with keyed_service(
        data_dir=folder / "data", embedding_url=embedding_url, search_engine=engine,
        sources=(folder / "notes",), agent="bob",
    ) as keyed:  # fmt: skip
        world = World(keyed)
        yield world
        for client in (world.anna, world.anna_admin, world.admin):
            client.close()


def _ways(operation: str, world: World) -> list[Json]:
    """Return requests by which an operation might reach bob's; a new operation needs a line."""
    bob, of_bob = {"agent": "bob"}, {"read_from": ["bob"]}
    begun: Json = {"hook_event_name": "SessionStart", "session_id": "s", "graph_memory": bob}
    by_name: dict[str, list[Json]] = {
        "search": [{"json": {"query": "Zebrafinch"} | way} for way in (bob, of_bob)],
        "search_get": [{"params": {"q": "Zebrafinch"} | way} for way in (bob, of_bob)],
        "graph_recall": [
            {"json": {"query": "Zebrafinch"} | bob}, {"json": {"query": "Zebrafinch"} | of_bob},
            {"json": {"seed_ids": [world.bobs["memory"]]}},
            {"json": {"seed_ids": [world.bobs["memory"]]} | of_bob},
        ],
        "graph_recall_get": [{"params": {"q": "Zebrafinch"} | way} for way in (bob, of_bob)],
        "list_memories": [{"params": way} for way in (bob, of_bob)],
        "read_memory": [{"params": way} for way in ({}, bob, of_bob)],
        "read_lineage": [{"params": way} for way in ({}, bob)],
        "list_projects": [{"params": bob}],
        "move_project": [{"json": {"project": "a", "into": "b"} | bob}],
        "pack_context": [
            {"json": {"messages": [{"role": "user", "content": "Zebrafinch"}]} | way}
            for way in (bob, of_bob)
        ],
        "observe": [{"json": {"session": "s", "client": "generic", "entries": []} | bob}],
        "lookup_fix": [{"json": {"output": "Error: x"} | bob}],
        "cascade": [{"json": {"query": "Zebrafinch"} | way} for way in (bob, of_bob)],
        "end_session": [{"json": {"session": "s"} | bob}],
        "reflect": [{"json": {"dry_run": False} | bob}],
        "hot_memory": [{"params": bob}],
        "intend": [{"json": {"when": ["x"], "text": "Hers."} | bob}],
        "list_intents": [{"params": bob}],
        "forget_intent": [{"params": way} for way in ({}, bob)],
        "read_session": [{"params": bob}],
        "opt_out": [{"json": {"session": "s"} | bob}],
        "list_opt_outs": [{"params": bob}],
        "opt_in": [{"params": {"session": "s"} | bob}],
        "log_decision": [
            {"json": {"text": "Hers."} | bob},
            {"json": {"text": "Hers.", "supersedes": world.bobs["memory"]}},
        ],
        "list_decisions": [{"params": bob}],
        "write_handoff": [{"json": {"text": "Hers."} | bob}],
        "read_handoff": [{"params": bob}],
        "read_working_memory": [{"params": bob}],
        "set_working_memory": [{"json": {"text": "Hers."} | bob}],
        "update_working_memory": [{"json": {"text": "Hers."} | bob}],
        "clear_working_memory": [{"params": bob}],
        "session_context": [{"json": bob}],
        "session_context_get": [{"params": bob}],
        "quarantine": [{"json": {"since": "2020-01-01", "dry_run": False} | bob}],
        "release": [{"json": {"since": "2020-01-01", "dry_run": False} | bob}],
        "read_document": [
            {"params": {"path": world.bobs["document"]} | way} for way in ({}, bob)
        ],
        "list_concepts": [{"params": bob}],
        "read_concept": [{"params": way} for way in ({}, bob)],
        "graph_report": [{"params": bob}],
        "stats": [{"params": bob}],
        "index_state": [{"params": bob}],
        "read_job": [{}],
        "read_consolidation": [{}],
        "store_memory": [{"json": {"text": "Ocelotgate by anna."} | bob}],
        "store_memories": [
            {"json": {"memories": [{"text": "One of hers."}, {"text": "One of his."} | bob]}}
        ],
        "change_memory": [{"params": way, "json": {"importance": 0.1}} for way in ({}, bob)],
        "delete_memory": [{"params": way} for way in ({}, bob)],
        "give_feedback": [{"params": way, "json": {"helpful": False}} for way in ({}, bob)],
        "ingest": [
            {"json": {"source": world.bobs["document"], "text": "# Gone\n\nGone.\n"} | bob}
        ],
        "scan": [{"json": way} for way in ({}, bob)],
        "session_start": [{"json": way} for way in ({}, {"agent_id": "bob"})],
        "claude_code_hook": [{"json": begun}],
        "codex_hook": [{"json": begun}],
        "openclaw_hook": [{"json": begun | {"event": "session_start"}}],
        "list_clients": [{"params": bob}],
        "consolidate": [
            {"json": bob}, {"json": {"plan": world.bobs["plan"], "dry_run": False}},
            {"json": {"plan": world.bobs["plan"], "dry_run": False} | bob},
        ],
        "undo_consolidation": [
            {"json": {"run": world.bobs["plan"]}}, {"json": {"run": world.bobs["plan"]} | bob},
            {"json": {"concept": world.bobs["concept"]} | bob},
        ],
        "rebuild_index": [{"json": bob}],
        "give_grant": [
            {"json": {"reader": "anna", "owner": "bob"}},
            {"json": {"reader": "eve", "owner": "bob", "scope": "x"}},
        ],
        "create_key": [
            {"json": {"name": "more", "agents": ["bob"]}}, {"json": {"name": "all"}},
        ],
        # They name no agent, or nothing of bob's by an id that could be told.
        "list_keys": [], "rotate_key": [], "revoke_key": [], "list_grants": [], "revoke_grant": [],
        "metrics": [], "list_audit": [{"params": {"agent": "bob"}}],
    }  # fmt: skip
    return by_name[operation]


def _paths(world: World) -> dict[str, tuple[str, str]]:
    return {
        one["operationId"]: (method, path)
        for path, told in world.admin.get("/openapi.json").json()["paths"].items()
        for method, one in told.items()
    }


@pytest.mark.parametrize("operation", sorted(NEEDED.keys() - OPEN))
def test_no_operation_reaches_another_agent(world: World, operation: str) -> None:
    method, path = _paths(world)[operation]
    of_path = {"concepts": "concept", "jobs": "job"}
    name = next((what for part, what in of_path.items() if f"/{part}/" in path), "memory")
    path = path.replace("{id}", str(world.bobs[name]))
    client = world.anna_admin if "admin" in NEEDED[operation] else world.anna
    before = _all_of_bob(world)
    for way in _ways(operation, world):
        answer = client.request(method, path, **way)
        assert 400 <= answer.status_code < 500, (way, answer.text)
        told = answer.text.lower()
        asked = (path + json.dumps(way)).lower()
        assert not [word for word in SECRETS if word in told and word not in asked], told
    assert _all_of_bob(world) == before


def _all_of_bob(world: World) -> Json:
    bob: Json = {"agent": "bob", "limit": 1000, "include_archived": True}
    return {
        "memories": world.admin.get("/memories", params=bob).json(),
        "concepts": world.admin.get("/concepts", params={"agent": "bob", "limit": 1000}).json(),
    }


def test_a_key_means_its_own_agent_where_none_is_named(world: World) -> None:
    stored = world.anna.post("/memories", json={"text": "Annasdottir likes tea."}).json()
    told = world.anna.get(f"/memories/{stored['id']}").json()
    assert told["agent"] == "anna"
    hits = world.anna.post("/search", json={"query": "tea"}).json()["results"]
    assert [hit["agent"] for hit in hits[:1]] == ["anna"]
    [batch] = world.anna.post("/memories/batch", json={"memories": [{"text": "And milk."}]}).json()[
        "ids"
    ]
    assert world.anna.get(f"/memories/{batch}").json()["agent"] == "anna"
    assert world.anna.get("/stats").json()["agent"] == "anna"
    assert world.anna.post("/consolidate").status_code == 200
    assert world.anna_admin.post("/index/rebuild").status_code in {200, 409}
    # Of `main`, which a key for all agents means.
    assert world.admin.get("/memories").json()["memories"] == []


@pytest.mark.parametrize(
    "agent", ["Bob", "BOB", "bob ", "b\u043eb", "bob/", "\uff42\uff4f\uff42", "bob\u200b"]
)
def test_a_name_that_looks_alike_is_another(world: World, agent: str) -> None:
    answer = world.anna.get("/memories", params={"agent": agent})
    assert answer.status_code in {403, 422}


def test_a_grant_lets_read_and_never_write(world: World) -> None:
    question = {"query": "Zebrafinch of Quokkaville", "read_from": ["bob"]}
    grant = {"reader": "anna", "owner": "bob"}
    given = world.admin.post("/grants", json=grant)
    assert given.status_code == 201
    hits = world.anna.post("/search", json=question).json()["results"]
    assert {hit["agent"] for hit in hits} >= {"bob"}
    memory = f"/memories/{world.bobs['memory']}"
    assert world.anna.get(memory, params={"read_from": ["bob"]}).status_code == 200
    assert world.anna.get(memory).status_code == 404
    assert world.anna.delete(memory, params={"agent": "bob"}).status_code == 403
    # Given twice it is one, and taken back it ends at once.
    again = world.admin.post("/grants", json=grant).json()
    assert again == given.json()
    assert world.admin.delete(f"/grants/{again['id']}").status_code == 204
    assert world.anna.post("/search", json=question).status_code == 403
    assert world.anna.get(memory, params={"read_from": ["bob"]}).status_code == 403
    assert world.admin.delete(f"/grants/{again['id']}").status_code == 404


def test_a_grant_reaches_no_further(world: World) -> None:
    for reader, owner in (("anna", "carl"), ("carl", "bob"), ("carl", "anna")):
        assert world.admin.post("/grants", json={"reader": reader, "owner": owner}).is_success
    world.admin.post("/memories", json={"agent": "carl", "text": "Carl keeps bees."})
    through = {"query": "Zebrafinch", "read_from": ["carl", "bob"]}
    assert world.anna.post("/search", json=through).status_code == 403
    hits = world.anna.post("/search", json={"query": "Zebrafinch", "read_from": ["carl"]}).json()
    assert {hit["agent"] for hit in hits["results"]} <= {"anna", "carl"}


def test_a_grant_of_one_scope_is_for_questions_of_that_scope(world: World) -> None:
    for scope in ("open", "closed"):
        world.admin.post(
            "/memories",
            json={"agent": "dora", "text": f"Dora's {scope} lighthouse.", "scope": scope},
        )
    body = {"reader": "anna", "owner": "dora", "scope": "open"}
    assert world.admin.post("/grants", json=body).status_code == 201
    question = {"query": "lighthouse", "read_from": ["dora"]}
    refused = world.anna.post("/search", json=question)
    assert (refused.status_code, "'open'" in refused.json()["detail"]) == (403, True)
    assert world.anna.post("/search", json=question | {"scope": "closed"}).status_code == 403
    told = world.anna.post("/search", json=question | {"scope": "open"}).text
    assert ("open lighthouse" in told, "closed lighthouse" in told) == (True, False)
    assert world.anna.post("/graph-recall", json=question | {"scope": "open"}).status_code == 403
    listed = world.anna.get("/memories", params={"read_from": ["dora"], "scope": "open"}).text
    assert ("open lighthouse" in listed, "closed lighthouse" in listed) == (True, False)


def test_a_receipt_counts_nothing_that_one_may_not_read(world: World) -> None:
    for agent, scope in (("kim", "open"), ("liz", "open"), ("liz", "closed"), ("liz", "closed")):
        told = {"agent": agent, "text": f"{agent}'s {scope} windmill.", "scope": scope}
        world.admin.post("/memories", json=told).raise_for_status()
    grant = {"reader": "kim", "owner": "liz", "scope": "open"}
    world.admin.post("/grants", json=grant).raise_for_status()
    kim = {"agent": "kim", "query": "a windmill"}

    def filtered(**asked: Any) -> int:
        receipt = world.admin.post("/search", json=kim | asked).json()["receipt"]
        return int(receipt["counts"]["filtered"])

    assert filtered() == 0
    assert filtered(kinds=["decision"]) == 1
    granted = {"read_from": ["liz"], "scope": "open"}
    assert filtered(**granted) == 0
    assert filtered(**granted, kinds=["decision"]) == 2


def test_no_refusal_tells_whether_a_memory_is_there(world: World) -> None:
    body = {"agent": "ida", "text": "Closed.", "scope": "closed", "tags": ["lighthouse"]}
    hidden = world.admin.post("/memories", json=body).json()["id"]

    def told(key: str) -> tuple[int, str]:
        answer = world.anna.get(f"/memories/{key}", params={"read_from": ["ida"]})
        return answer.status_code, answer.json()["detail"].replace(key, "…")

    assert told(hidden) == told("0" * 32)
    assert told(hidden)[0] == 403
    grant = {"reader": "anna", "owner": "ida", "scope": "open"}
    assert world.admin.post("/grants", json=grant).status_code == 201
    assert told(hidden) == told("0" * 32)
    assert world.admin.post("/grants", json=grant | {"scope": "closed"}).status_code == 201
    seen = world.anna.get(f"/memories/{hidden}", params={"read_from": ["ida"]}).json()
    # Of how many memories a concept is, a grant of a scope tells nothing.
    assert {one["memories"] for one in seen["concepts"]} == {None}
    # What is one's own is read whatever else is asked for.
    own = world.admin.post("/memories", json={"agent": "anna", "text": "Her own."}).json()["id"]
    read = world.anna.get(f"/memories/{own}", params={"read_from": ["bob"]})
    assert read.status_code == 200


def test_who_reads_by_a_grant_alone_is_known_whatever_is_found(world: World) -> None:
    """A sub-agent that has stored nothing yet: not finding is no reason to check its name."""
    told = {"agent": "owen", "text": "Owen's lighthouse."}
    world.admin.post("/memories", json=told).raise_for_status()
    new: Json = {"agent": "never-stored", "read_from": ["owen", "nobody-there"]}
    for owner in new["read_from"]:
        grant = {"reader": "never-stored", "owner": owner}
        world.admin.post("/grants", json=grant).raise_for_status()
    for kinds, count in ((["note"], 1), (["handoff"], 0)):
        for path in ("/search", "/graph-recall"):
            body = {"query": "lighthouse", "kinds": kinds, **new}
            found = world.admin.post(path, json=body)
            assert (found.status_code, len(found.json()["results"])) == (200, count), path
        listed = world.admin.get("/memories", params={"kinds": kinds, **new})
        assert (listed.status_code, len(listed.json()["memories"])) == (200, count)
    alone = {"agent": "never-stored", "query": "lighthouse"}
    assert world.admin.post("/search", json=alone).status_code == 404
    # Of those that have nothing, either.
    nothing = {**alone, "read_from": ["nobody-there"]}
    assert world.admin.post("/search", json=nothing).json()["results"] == []


def test_a_grant_ends_with_its_time(world: World) -> None:
    body = {"reader": "anna", "owner": "bob", "expires_at": "2020-01-01T00:00:00Z"}
    given = world.admin.post("/grants", json=body)
    assert given.status_code == 201
    question = {"query": "Zebrafinch", "read_from": ["bob"]}
    assert world.anna.post("/search", json=question).status_code == 403
    world.admin.delete(f"/grants/{given.json()['id']}")


def test_a_grant_to_oneself_is_refused_and_a_circle_is_two(world: World) -> None:
    assert world.admin.post("/grants", json={"reader": "bob", "owner": "bob"}).status_code == 409
    ids = [
        world.admin.post("/grants", json={"reader": reader, "owner": owner}).json()["id"]
        for reader, owner in (("eve", "fay"), ("fay", "eve"))
    ]
    assert len(set(ids)) == 2
    every = world.admin.get("/grants", params={"limit": 1000}).json()["grants"]
    assert set(ids) <= {grant["id"] for grant in every}


def test_grants_are_told_to_those_they_concern(world: World) -> None:
    world.admin.post("/grants", json={"reader": "gil", "owner": "hal"})
    own = world.anna_admin.get("/grants", params={"limit": 1000}).json()["grants"]
    assert own
    assert all("anna" in (grant["reader"], grant["owner"]) for grant in own)


def test_only_the_owners_admin_takes_a_grant_back(world: World) -> None:
    for reader, owner, refused in (("gil", "hal", 404), ("anna", "hal", 403), ("gil", "anna", 0)):
        given = world.admin.post("/grants", json={"reader": reader, "owner": owner}).json()["id"]
        took = world.anna_admin.delete(f"/grants/{given}").status_code
        assert took == (refused or 204), (reader, owner)
        left = [one["id"] for one in world.admin.get("/grants?limit=1000").json()["grants"]]
        assert (given in left) is bool(refused)


def test_what_is_told_of_the_service_tells_of_no_other_agent(world: World) -> None:
    for path in ("/health/ready", "/index", "/stats"):
        answer: httpx.Response = world.anna_admin.get(path)
        assert "bob" not in answer.text, path
