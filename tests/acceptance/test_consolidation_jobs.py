"""Consolidations that a job does, through HTTP: counts on the way, refusals, what it leaves."""

import itertools
import time
from typing import Any

import httpx
import pytest

from tests.conftest import Start
from tests.servers.outer_embeddings import Answer, outer_embeddings

Json = dict[str, Any]
NUMBERS = itertools.count()
# A summary for every second bird, and two spellings of one thing.
BIRDS = 60


@pytest.fixture
def agent() -> str:
    """Return an agent of the test's own."""
    return f"jobs-{next(NUMBERS)}"


def _push(client: httpx.Client, agent: str, birds: int = BIRDS) -> list[str]:
    memories = [
        {
            "text": f"Number {n}: the Osprey-{n // 2} saw {n * 7} birds.",
            "agent": agent, "kind": "daily_log", "occurred_at": f"2026-02-09T10:{n:02}:00Z",
            "source_ref": f"bird-{n}", "tags": ["harbour cameras" if n % 2 else "harbour camera"],
        }
        for n in range(birds)
    ]  # fmt: skip
    answer = client.post("/memories/batch", json={"memories": memories})
    assert (answer.status_code, answer.json()["errors"]) == (200, []), answer.text
    return [str(key) for key in answer.json()["ids"]]


def _show(client: httpx.Client, agent: str, **more: object) -> Json:
    found: Json = client.post("/consolidate", json={"agent": agent, **more}).json()
    return found


def _begin(client: httpx.Client, agent: str, **more: object) -> str:
    body = {"agent": agent, "dry_run": False, "wait": False, **more}
    answer = client.post("/consolidate", json=body)
    assert answer.status_code == 202, answer.text
    key = str(answer.json()["job"])
    assert answer.headers["Location"] == f"/consolidate/jobs/{key}"
    return key


def _look(client: httpx.Client, key: str) -> Json:
    found: Json = client.get(f"/consolidate/jobs/{key}").raise_for_status().json()
    return found


def _follow(client: httpx.Client, key: str) -> list[Json]:
    """Return all that a job told until it was over."""
    told: list[Json] = []
    for _ in range(2000):
        told.append(_look(client, key))
        if told[-1]["state"] in {"done", "failed"}:
            return told
        time.sleep(0.01)
    raise TimeoutError(key)


def test_a_job_does_what_was_shown_tells_its_counts_and_is_undone(
    client: httpx.Client, agent: str
) -> None:
    keys = _push(client, agent)
    shown = _show(client, agent, limit=1000)
    key = _begin(client, agent, plan=shown["plan"])
    told = _follow(client, key)
    end = told[-1]
    assert (end["id"], end["agent"], end["state"], end["detail"]) == (key, agent, "done", None)
    assert (end["plan"], end["run"], end["counts"]) == (shown["plan"], key, shown["counts"])
    assert (end["groups"], end["done"]) == (len(shown["groups"]), len(shown["groups"]))
    assert (end["concepts"], end["stage"], end["warnings"]) == (1, None, [])
    assert [one["done"] for one in told] == sorted(one["done"] for one in told)
    # Its summaries, page by page as they are stored.
    page = _show(client, agent, cursor=end["next_cursor"], limit=20)
    groups = page["groups"]
    while page["next_cursor"]:
        page = _show(client, agent, cursor=page["next_cursor"], limit=20)
        groups += page["groups"]
    assert [(one["id"], one["content"]) for one in groups] == [
        (one["id"], one["content"]) for one in shown["groups"]
    ]
    undone = client.post("/consolidate/undo", json={"agent": agent, "run": key}).json()
    assert sorted(undone["restored"]) == sorted(keys)
    assert undone["parted"] == ["harbour_cameras"]


def test_without_a_plan_a_job_plans_by_itself_and_a_second_finds_nothing(
    client: httpx.Client, agent: str
) -> None:
    _push(client, agent, 8)
    first = _follow(client, _begin(client, agent))[-1]
    assert (first["state"], first["counts"]["memories"]) == ("done", 8)
    second = _follow(client, _begin(client, agent))[-1]
    assert (second["state"], second["run"], second["plan"], second["next_cursor"]) == (
        "done", None, None, None,
    )  # fmt: skip
    assert second["counts"]["memories"] == second["done"] == second["groups"] == 0


def test_what_cannot_be_is_refused_before_there_is_a_job(client: httpx.Client, agent: str) -> None:
    [first, *_] = _push(client, agent, 4)
    waiting = client.get("/stats", params={"agent": agent}).json()["jobs_waiting"]

    def ask(**more: object) -> tuple[int, str]:
        body = {"agent": agent, "dry_run": False, "wait": False, **more}
        answer = client.post("/consolidate", json=body)
        return answer.status_code, answer.json()["type"]

    assert ask(dry_run=True) == (422, "/problems/invalid-request")
    assert ask(agent="nobody-at-all") == (404, "/problems/agent-unknown")
    assert ask(plan="no such plan") == (404, "/problems/plan-not-found")
    plan = _show(client, agent)["plan"]
    client.patch(f"/memories/{first}", params={"agent": agent}, json={"pinned": True})
    assert ask(plan=plan) == (409, "/problems/plan-stale")
    assert client.get("/stats", params={"agent": agent}).json()["jobs_waiting"] == waiting


def test_each_door_tells_of_its_own_jobs_only(client: httpx.Client, agent: str) -> None:
    _push(client, agent, 4)
    key = _begin(client, agent)
    _follow(client, key)
    for path in (f"/ingest/jobs/{key}", "/consolidate/jobs/nothing"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/job-not-found")


def test_without_an_embedder_a_job_ends_and_tells_what_waits(start: Start) -> None:
    with outer_embeddings() as outer:
        client = start(embedding_url=outer.url).client
        _push(client, "main", 4)
        groups = len(_show(client, "main")["groups"])
        outer.next_answers.extend([Answer({"error": "away"}, status=503)] * 20)
        end = _follow(client, _begin(client, "main"))[-1]
        assert (end["state"], end["counts"]["waiting"]) == ("done", groups)
        assert "wait for the embedding server" in end["warnings"][0]
        assert end["counts"]["memories"] == 0
