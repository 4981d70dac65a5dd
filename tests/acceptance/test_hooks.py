"""POST /hooks/session-start: whatever an agent sends, its notes are scanned."""

import time
from pathlib import Path

import httpx
import pytest

from tests.conftest import Start
from tests.servers.running import RunningService

BODIES = [
    b"", b"null", b"[]", b'"text"', b"{not json", b"\xff\xfe", b'{"agent_id": []}',
    b'{"agent_id": {"deep": 1}}', b'{"agent_id": "\\ud800"}', b'{"agent_id": 7}',
    b'{"event": "command:new", "agent_id": "main", "workspace_dir": "/somewhere"}',
    b"[" * 5000,
]  # fmt: skip
OWN_REPLIES = [
    b'{"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/tmp", "source": "startup"}',
    b'{"hook_event_name": "SessionStart", "session_id": "s", "model": "any"}',
]
# Whatever it holds: a page of a browser may send other types unasked.
AS_JSON = {"Content-Type": "application/json"}


@pytest.fixture
def noted(start: Start, tmp_path: Path) -> RunningService:
    """Start a service with one note in its folder."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nthe lighthouse is green\n", encoding="utf-8")
    return start(sources=(tmp_path / "notes",))


def _wait(client: httpx.Client, job: str) -> dict[str, object]:
    for _ in range(400):
        status: dict[str, object] = client.get(f"/ingest/jobs/{job}").json()
        if status["state"] in {"done", "failed"}:
            return status
        time.sleep(0.05)
    raise TimeoutError(job)


def test_any_body_starts_a_scan(noted: RunningService) -> None:
    for body in BODIES:
        answer = noted.client.post("/hooks/session-start", content=body, headers=AS_JSON)
        assert answer.status_code == 202, body
        job = answer.json()["job"]
        assert answer.headers["location"] == f"/ingest/jobs/{job}"
    done = _wait(noted.client, job)
    assert (done["state"], done["files"], done["failed"]) == ("done", 1, [])
    hits = noted.client.post("/search", json={"query": "lighthouse"}).json()["results"]
    assert hits[0]["source"]["uri"] == "a.md"
    assert noted.client.get("/stats").json()["memories"] == 1


@pytest.mark.parametrize("body", OWN_REPLIES)
def test_an_agent_with_a_reply_shape_of_its_own_gets_it(noted: RunningService, body: bytes) -> None:
    answer = noted.client.post("/hooks/session-start", content=body, headers=AS_JSON)
    assert answer.status_code in {200, 202}
    assert answer.json() == {}
    assert _wait(noted.client, answer.headers["x-job"])["state"] == "done"


def test_another_agents_session_does_not_copy_the_notes_to_it(noted: RunningService) -> None:
    answer = noted.client.post("/hooks/session-start", json={"agent_id": "stranger"})
    assert _wait(noted.client, answer.json()["job"])["state"] == "done"
    assert noted.client.get("/stats", params={"agent": "stranger"}).status_code == 404


def test_what_goes_wrong_inside_never_fails_the_session(client: httpx.Client) -> None:
    # This service has no folder to scan.
    answer = client.post("/hooks/session-start", json={"event": "command:new"})
    assert (answer.status_code, answer.json()) == (200, {})
