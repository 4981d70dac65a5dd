"""The audit over HTTP: who did what, when, from where; without contents, and by nobody changed."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from service.access.operations import NEEDED, OPEN
from tests.servers.keyed import KeyedService, keyed_service
from tests.servers.raw import raw_client
from tests.servers.running import REPOSITORY, running_service

ENGINES = ("resident",)
CANARIES = (
    "marigold",
    "sluicegate",
    "wheelwright",
    "thatcher",
    "letters/marigold.md",
    "opensesame",
)
Entry = dict[str, Any]


def _list(keyed: KeyedService, **filters: Any) -> list[Entry]:
    with keyed.client() as admin:
        answer = admin.get("/audit", params={"limit": 1000, **filters})
    assert answer.status_code == 200, answer.text
    entries: list[Entry] = answer.json()["entries"]
    return entries


def _until(listed: Callable[[], list[Entry]], count: int = 1) -> list[Entry]:
    """Return the entries once there are so many: they are written within a second."""
    for _ in range(100):
        if len(entries := listed()) >= count:
            return entries
        time.sleep(0.1)
    raise AssertionError(entries)


def test_a_change_is_told_with_its_key_its_ids_and_its_agent(keyed: KeyedService) -> None:
    key, told = keyed.key(["read", "write"], ["anna"], name="anna's laptop")
    with keyed.client(told) as client:
        begun = datetime.now(UTC)
        made = client.post("/memories", json={"text": "The wheelwright mends on Monday."}).json()
        batch = [{"text": f"The thatcher came, {n}."} for n in range(3)]
        ids = client.post("/memories/batch", json={"memories": batch}).json()["ids"]
        assert client.post("/search", json={"query": "marigold"}).status_code == 200
        assert client.delete(f"/memories/{made['id']}").status_code == 204
    entries = _until(lambda: _list(keyed, key_id=key), 4)
    assert [(one["operation"], one["ids"]) for one in reversed(entries)] in (
        [("store_memory", [made["id"]]), ("store_memories", ids), deletion, end]
        for deletion, end in (
            (("deleted", [made["id"]]), ("delete_memory", [made["id"]])),
            (("delete_memory", [made["id"]]), ("deleted", [made["id"]])),
        )
    )
    for one in entries:
        assert (one["key"], one["name"], one["agent"]) == (key, "anna's laptop", "anna")
        assert (one["outcome"], one["address"], one["count"]) == ("done", "127.0.0.1", 1)
        assert abs(datetime.fromisoformat(one["at"]) - begun) < timedelta(minutes=10)


def test_each_agent_of_a_batch_has_a_line(keyed: KeyedService) -> None:
    memories = [{"text": f"For {one}.", "agent": one} for one in ("bea", "cid", "bea")]
    with keyed.client() as admin:
        assert admin.post("/memories/batch", json={"memories": memories}).status_code == 200
    for agent in ("bea", "cid"):
        entries = _until(partial(_list, keyed, agent=agent))
        assert [one["operation"] for one in entries] == ["store_memories"]


def test_a_hook_is_a_line_of_the_agent_that_it_tells_of(keyed: KeyedService) -> None:
    bodies: dict[str, Entry] = {
        "claude-code": {"hook_event_name": "Stop", "graph_memory": {"agent": "dora"}},
        "openclaw": {"event": "agent_end", "agent_id": "emil"},
    }
    with keyed.client() as admin:
        for program, body in bodies.items():
            assert admin.post(f"/hooks/{program}", json=body).status_code == 200
    for agent, operation in (("dora", "claude_code_hook"), ("emil", "openclaw_hook")):
        entries = _until(partial(_list, keyed, agent=agent))
        assert [one["operation"] for one in entries] == [operation]


def test_every_kind_of_denial_is_told(keyed: KeyedService) -> None:
    key, told = keyed.key(["read"], ["dora"])
    revoked, ended = keyed.key(["write"], ["dora"])
    with keyed.client() as admin:
        admin.delete(f"/keys/{revoked}")
    with keyed.client(told) as client:
        assert client.post("/memories", json={"text": "opensesame"}).status_code == 403
        assert client.get("/keys").status_code == 403
    for wrong in ("", "opensesame", ended):
        with keyed.client(wrong) as client:
            assert client.delete("/memories/opensesame").status_code == 401
    entries = _until(lambda: _list(keyed, outcome="denied", key_id=key))
    assert {one["status"] for one in entries} == {403}
    assert "store_memory" in {one["operation"] for one in entries}
    [one] = _until(lambda: _list(keyed, outcome="denied", key_id=revoked))
    assert (one["status"], one["operation"], one["agent"]) == (401, "delete_memory", None)
    nobody = [one for one in _list(keyed, outcome="denied") if one["key"] is None]
    assert {one["name"] for one in nobody} == {"nobody"}


def test_the_audit_is_for_admins_and_has_no_way_in(keyed: KeyedService) -> None:
    _, told = keyed.key(["read", "write"])
    with keyed.client(told) as client:
        assert client.get("/audit").status_code == 403
    with keyed.client() as admin:
        paths = admin.get("/openapi.json").json()["paths"]
        assert [(path, list(told)) for path, told in paths.items() if "audit" in path] == [
            ("/audit", ["get"])
        ]
        before = _until(lambda: _list(keyed))
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert admin.request(method, "/audit").status_code == 405
            assert admin.request(method, "/audit/1").status_code == 404
        after = _list(keyed)
        assert after[-len(before) :] == before


def test_an_admin_for_some_agents_sees_their_lines_alone(keyed: KeyedService) -> None:
    with keyed.client() as admin:
        for agent in ("ella", "finn"):
            admin.post("/memories", json={"text": f"Of {agent}.", "agent": agent})
    key, told = keyed.key(["admin"], ["ella"])
    _until(lambda: _list(keyed, agent="finn"))
    with keyed.client(told) as ella:
        entries = ella.get("/audit", params={"limit": 1000}).json()["entries"]
    assert entries
    assert all(one["agent"] == "ella" or one["key"] == key for one in entries)


def test_pages_go_on_where_they_ended_also_over_lines_of_older_versions(
    keyed: KeyedService,
) -> None:
    with keyed.client() as admin:
        for n in range(5):
            admin.post("/memories", json={"text": f"Page {n}.", "agent": "gina"})
        _until(lambda: _list(keyed, agent="gina"), 5)
        every, cursor = [], None
        while True:
            params: dict[str, Any] = {"limit": 2, "agent": "gina", "cursor": cursor or ""}
            params = {name: value for name, value in params.items() if value}
            page = admin.get("/audit", params=params).json()
            every += page["entries"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
    assert every == _list(keyed, agent="gina")
    assert len(every) == 5
    moments = [one["at"] for one in every]
    assert moments == sorted(moments, reverse=True)
    assert _list(keyed, agent="gina", since=moments[2]) == every[:3]
    assert _list(keyed, agent="gina", until=moments[2]) == every[2:]


def test_a_flood_of_denials_is_two_lines_a_minute(keyed: KeyedService) -> None:
    key, told = keyed.key(["read"], ["hugo"])
    with keyed.client(told) as client:
        for _ in range(300):
            assert client.delete("/memories/00000000").status_code == 403
        for _ in range(300):
            assert client.post("/memories", json={"text": "opensesame"}).status_code == 403
    time.sleep(2)
    assert len(_list(keyed, key_id=key)) <= 4  # in whichever two minutes they fell


def test_no_line_holds_contents(keyed: KeyedService) -> None:
    key, told = keyed.key(["read", "write", "admin"])
    with keyed.client(told) as client:
        paths = client.get("/openapi.json").json()["paths"]
        bodies: tuple[dict[str, Any], ...] = (
            {"text": "marigold, sluicegate", "title": "wheelwright", "concepts": ["thatcher"]},
            {"source": "letters/marigold.md", "text": "# wheelwright\n\nmarigold"},
            {"name": "opensesame", "scopes": ["read"]}, {"query": "marigold"},
            {"reader": "ines", "owner": "main", "scope": "marigold"}, {}, {"paths": ["marigold"]},
            {"concept": "thatcher"}, {"memories": [{"text": "marigold", "agent": "no marigold!"}]},
        )  # fmt: skip
        for path, told_methods in paths.items():
            for method in told_methods:
                for body in bodies:
                    url = path.replace("{id}", "marigold") + "?q=marigold&path=marigold&agent=main"
                    if path != "/metrics":
                        client.request(method, url, json=None if method == "get" else body)
    _until(lambda: _list(keyed, key_id=key), 5)
    text = str(_list(keyed)).lower()
    assert [word for word in CANARIES if word in text.replace("'name': 'opensesame'", "")] == []


def test_a_changing_route_without_a_line_is_noticed(keyed: KeyedService) -> None:
    """Call every operation that needs more than `read`: each has its line, done or refused."""
    with keyed.client() as admin:
        paths = admin.get("/openapi.json").json()["paths"]
    changing = {
        told["operationId"]: (method, path.replace("{id}", "0" * 12))
        for path, methods in paths.items()
        for method, told in methods.items()
        if method != "get" and NEEDED.get(told["operationId"]) != ("read",)
    }
    assert len(changing) > 10
    assert not changing.keys() & OPEN
    keys = {}
    for operation, (method, path) in changing.items():
        # Refusals of one key and status in a minute are told together: each has a key of its own.
        keys[operation], told = keyed.key(["read", "write", "admin"])
        with keyed.client(told) as client:
            client.request(method, path, json={"no such": 1})
    for operation, key in keys.items():
        found = {one["operation"] for one in _until(partial(_list, keyed, key_id=key))}
        assert found == {operation}


@pytest.mark.parametrize(("mode", "told"), [("all", {"search", "store_memory"}), ("off", set())])
def test_reads_are_told_where_they_are_wanted_and_deletions_always(
    tmp_path: Path, embedding_url: str, mode: str, told: set[str]
) -> None:
    with running_service(data_dir=tmp_path, embedding_url=embedding_url, audit=mode) as service:
        client = service.client
        made = client.post("/memories", json={"text": "The wheelwright."}).json()["id"]
        assert client.post("/search", json={"query": "wheelwright"}).status_code == 200
        assert client.delete(f"/memories/{made}").status_code == 204
        time.sleep(1.5)
        entries = client.get("/audit").json()["entries"]
        assert {one["operation"] for one in entries} >= told | {"deleted"}
        assert mode == "all" or len(entries) == 1


def test_a_scan_is_a_line_of_the_agent_whose_notes_those_are(
    tmp_path: Path, embedding_url: str
) -> None:
    (tmp_path / "notes").mkdir()
    settings: dict[str, Any] = {"data_dir": tmp_path / "data", "embedding_url": embedding_url}
    with running_service(agent="work", sources=str(tmp_path / "notes"), **settings) as service:
        for path in ("/ingest/scan", "/hooks/session-start"):
            assert service.client.post(path, json={}).is_success

        def lines() -> list[Entry]:
            found: list[Entry] = service.client.get("/audit").json()["entries"]
            return found

        told = {(one["operation"], one["agent"]) for one in _until(lines, 2)}
    assert told == {("scan", "work"), ("session_start", "work")}


def test_lines_survive_a_restart(tmp_path: Path, embedding_url: str) -> None:
    settings: dict[str, Any] = {"data_dir": tmp_path, "embedding_url": embedding_url}
    with running_service(**settings) as service:
        made = service.client.post("/memories", json={"text": "The thatcher."}).json()["id"]
    # What waited is written at the end.
    with running_service(**settings) as service:
        [entry] = service.client.get("/audit").json()["entries"]
    assert (entry["operation"], entry["ids"], entry["name"]) == ("store_memory", [made], "local")


def test_what_the_door_keeps_outside_is_told(tmp_path: Path, embedding_url: str) -> None:
    wrong: dict[int, dict[str, Any]] = {
        421: {"headers": {"Host": "evil.example"}},
        403: {"headers": {"Origin": "https://evil.example"}},
        415: {"headers": {"Content-Type": "text/plain"}, "content": "{}"},
    }
    with keyed_service(data_dir=tmp_path, embedding_url=embedding_url) as keyed:
        with keyed.client() as admin:
            for status, request in wrong.items():
                assert admin.post("/memories", **request).status_code == status
            assert admin.post("/memories", params={"key": keyed.admin}).status_code == 400
        head = f"POST /memories HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {keyed.admin}"
        with raw_client(keyed.url) as raw:
            raw.send(f"{head}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
            assert b" 501 " in raw.receive_until(b"\r\n\r\n")
        entries = _until(partial(_list, keyed, outcome="denied"), 5)
        assert {one["status"] for one in entries} == {400, 501, *wrong}
        for one in entries:
            # The key was shown, but nobody looked whether it fits.
            assert (one["operation"], one["name"], one["count"]) == ("store_memory", "first", 1)
        assert keyed.admin.split("_", 2)[2] not in str(entries)


def test_the_command_shows_the_lines_of_a_store_at_rest(tmp_path: Path, embedding_url: str) -> None:
    with running_service(data_dir=tmp_path, embedding_url=embedding_url) as service:
        made = service.client.post("/memories", json={"text": "The thatcher."}).json()["id"]
        service.client.patch(f"/memories/{made}", json={"kind": 7})
    environment = {**os.environ, "MEMORY_DATA_DIR": str(tmp_path), "COLUMNS": "200"}
    environment["MEMORY_EMBEDDING_URL"] = embedding_url

    def shown(*options: str) -> str:
        command = [sys.executable, "-m", "service", "audit", *options]
        done = subprocess.run(
            command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=True
        )
        return done.stdout

    lines = shown().strip().splitlines()
    assert lines[0].split() == ["when", "who", "from", "what", "agent", "ids", "outcome"]
    [refused, done] = lines[2:]
    assert refused.split()[2:] == [
        "local", "127.0.0.1", "change_memory", "main", made, "refused", "422",
    ]  # fmt: skip
    assert done.split()[2:] == ["local", "127.0.0.1", "store_memory", "main", made, "done", "201"]
    assert "store_memory" not in shown("--outcome", "refused")
    assert shown("--agent", "nobody").strip() == "The audit has no such line."
