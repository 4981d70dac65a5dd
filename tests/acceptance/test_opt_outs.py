"""Memory is switched off for a project or a session: none is listened to, none is told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.projects import switched_off
from tests.servers.running import running_service

Json = dict[str, Any]
APP: Json = {"origin": "git@github.com:ann/app.git"}
SCOPE = "github.com/ann/app"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, embedding_url: str) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("opt-outs")
    with running_service(data_dir=folder / "data", embedding_url=embedding_url) as running:
        yield running.client


def _every_way(agent: str, place: Json, scope: str | None) -> list[tuple[str, str, Json]]:
    """Return requests that keep or tell something, by what they are sent with."""
    own: Json = {"agent": agent, **place}
    session = place.get("session", "another")
    asking = own | {"query": "the crane", "session": session, "new_only": True}
    lines = [{"role": "user", "content": "From now on use tabs in Makefiles."}]
    ways: list[tuple[str, str, Json]] = [
        ("POST", "/handoff", own | {"text": "Next: the quay."}),
        ("PUT", "/working-memory", own | {"text": "The quay."}),
        ("PATCH", "/working-memory", own | {"text": "The quay."}),
        ("POST", "/decisions", own | {"text": "Paint it red."}),
        ("POST", "/observe", own | {"session": session, "client": "generic", "entries": lines}),
        ("POST", "/session-context", own),
        ("POST", "/search", asking),
        ("POST", "/cascade", asking),
        ("POST", "/session-end", own | {"session": session}),
        ("POST", "/graph-recall", asking),
        ("POST", "/context/pack", own | {
            "messages": [{"role": "user", "content": "The crane?"}], "session": session,
            "new_only": True,
        }),
    ]  # fmt: skip
    memory = {"agent": agent, "text": "The crane.", "scope": scope, "session": place.get("session")}
    ways += [("POST", "/memories", memory), ("POST", "/memories/batch", {"memories": [memory]})]
    if "project" in place:
        ways += [
            ("POST", "/intents", own | {"when": ["quay"], "text": "Ask Mina."}),
            ("POST", "/fixes/lookup", own | {"output": "Error: no such crane"}),
            ("POST", "/reflect", own),
            ("POST", "/ingest", {"agent": agent, "scope": scope, "source": "a.md", "text": "A."}),
        ]
        read = f"agent={agent}&project={scope}"
        ways += [
            ("GET", f"/{path}?{read}", {})
            for path in ("handoff", "decisions", "working-memory", "hot-memory", "session-context")
        ]
    else:
        read = f"agent={agent}&session={session}"
        ways += [("GET", f"/{path}?{read}", {}) for path in ("working-memory", "session-context")]
    return ways


@pytest.mark.parametrize(
    ("name", "place", "scope"),
    [("by-project", {"project": APP}, SCOPE), ("by-session", {"session": "s-1"}, None)],
)
def test_what_is_switched_off_is_neither_kept_nor_told(
    client: httpx.Client, name: str, place: Json, scope: str | None
) -> None:
    before = {"agent": name, "text": "The crane was mended before.", "scope": scope}
    assert client.post("/memories", json=before).status_code == 201
    off = client.post("/opt-outs", json={"agent": name, **place})
    assert off.status_code == 200, off.text
    [told] = off.json()["opt_outs"]
    assert (told["scope"], told["session"]) == (scope, place.get("session"))
    for method, path, body in _every_way(name, place, scope):
        answer = client.request(method, path, json=body or None)
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/switched-off"), path
    assert len(client.get("/memories", params={"agent": name}).json()["memories"]) == 1
    # Others go on.
    other: Json = {"project": "elsewhere"} if scope else {"session": "s-2"}
    for method, path, body in _every_way(name, other, "elsewhere" if scope else None):
        answer = client.request(method, path, json=body or None)
        assert answer.status_code in {200, 201}, (path, answer.text)
    way = {"agent": name, **({"project": SCOPE} if scope else place)}
    for _ in range(2):
        assert client.delete("/opt-outs", params=way).status_code == 204
    assert client.get("/opt-outs", params={"agent": name}).json()["opt_outs"] == []
    for method, path, body in _every_way(name, place, scope):
        answer = client.request(method, path, json=body or None)
        assert answer.status_code in {200, 201}, (path, answer.text)


def test_beyond_the_most_what_is_off_may_be_said_again(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switched_off, "MOST", 2)
    own = {"agent": "at-most"}
    every = [{"session": "s"}, {"project": "app"}, {"session": "s"}, {"project": "app"}]
    for said in every:
        client.post("/opt-outs", json={**own, **said}).raise_for_status()
    refused = client.post("/opt-outs", json={**own, "session": "another"})
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/too-many-opt-outs")
    assert len(client.get("/opt-outs", params=own).json()["opt_outs"]) == 2


def test_of_a_batch_only_what_is_switched_off_is_left_out(client: httpx.Client) -> None:
    own = {"agent": "in-a-batch"}
    client.post("/opt-outs", json={**own, "session": "s"}).raise_for_status()
    client.post("/opt-outs", json={**own, "project": "app"}).raise_for_status()
    ways: list[Json] = [{"session": "s"}, {}, {"session": "t"}, {"project": "app"}]
    sent = [{**own, "text": f"The crane, {n}.", **way} for n, way in enumerate(ways)]
    for outcome in ("created", "duplicates"):
        answer = client.post("/memories/batch", json={"memories": sent})
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert told[outcome] == 2
        assert [one["index"] for one in told["errors"]] == [0, 3]
        assert all("switches it on" in one["detail"] for one in told["errors"])
        assert [key is None for key in told["ids"]] == [True, False, False, True]
    listed = client.get("/memories", params=own).json()["memories"]
    assert {one["content"] for one in listed} == {"The crane, 1.", "The crane, 2."}
    refused = client.post("/memories/batch", json={"memories": [sent[0], sent[3]]})
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/switched-off")


def test_to_switch_on_says_what(client: httpx.Client) -> None:
    own = {"agent": "says-what"}
    client.post("/opt-outs", json={**own, "session": "s"}).raise_for_status()
    refused = client.delete("/opt-outs", params=own)
    assert (refused.status_code, "Says not which" in refused.json()["detail"]) == (422, True)
    assert len(client.get("/opt-outs", params=own).json()["opt_outs"]) == 1


def test_no_way_around_leads_into_what_is_switched_off(client: httpx.Client) -> None:
    own: Json = {"agent": "around"}
    keys = [
        client.post("/memories", json={**own, "text": text, **more}).json()["id"]
        for text, more in (
            ("Of the app.", {"scope": SCOPE}), ("Of none.", {}), ("Said there.", {"session": "s"}),
        )
    ]  # fmt: skip
    for place in ({"project": APP}, {"session": "s"}):
        client.post("/opt-outs", json={**own, **place}).raise_for_status()
    document = {**own, "source": "b.md", "text": f"---\nscope: {SCOPE}\n---\n# B\n\nOf the app.\n"}
    ask = {**own, "query": "the app"}
    for method, path, body in (
        ("PATCH", f"/memories/{keys[0]}?agent=around", {"text": "Other words."}),
        ("PATCH", f"/memories/{keys[1]}?agent=around", {"scope": SCOPE}),
        ("PATCH", f"/memories/{keys[2]}?agent=around", {"title": "Other words."}),
        ("POST", "/ingest", document),
        ("POST", "/search", {**ask, "scope": SCOPE}),
        ("POST", "/search", {**ask, "session": "s"}),
        ("POST", "/graph-recall", {**ask, "scope": SCOPE}),
        ("POST", "/cascade", {**ask, "scope": SCOPE}),
        ("POST", "/context/pack", {**own, "messages": [], "query": "x", "session": "s"}),
        ("GET", f"/search?agent=around&q=app&scope={SCOPE}", {}),
    ):
        answer = client.request(method, path, json=body or None)
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/switched-off"), path
    # What is there may be archived, moved out of it and deleted.
    for key, change in ((keys[0], {"scope": None}), (keys[2], {"archived": True})):
        answer = client.patch(f"/memories/{key}", params=own, json=change)
        assert answer.status_code == 200, answer.text
        assert client.delete(f"/memories/{key}", params=own).status_code == 204


def test_a_scan_takes_in_nothing_of_what_is_switched_off(
    tmp_path: Path, embedding_url: str
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "app.md").write_text(f"---\nscope: {SCOPE}\n---\n# App\n\nOf the app.\n")
    (notes / "free.md").write_text("# Free\n\nOf none.\n")
    with running_service(
        data_dir=tmp_path / "data", embedding_url=embedding_url, sources=(notes,)
    ) as running:
        running.client.post("/opt-outs", json={"project": APP}).raise_for_status()
        [failed] = running.client.post("/ingest/scan", json={}).json()["failed"]
        assert ("app.md" in failed["source"], "switched off" in failed["detail"]) == (True, True)
        listed = running.client.get("/memories").json()["memories"]
        assert [one["content"] for one in listed] == ["Of none."]
        running.client.delete("/opt-outs", params={"project": SCOPE}).raise_for_status()
        assert running.client.post("/ingest/scan", json={}).json()["failed"] == []
        assert len(running.client.get("/memories").json()["memories"]) == 2


def test_one_of_both_is_named(client: httpx.Client) -> None:
    for body in ({}, {"project": APP, "session": "s"}):
        answer = client.post("/opt-outs", json=body)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request")


def test_the_list_is_read_page_by_page(client: httpx.Client) -> None:
    own: Json = {"agent": "pages"}
    places: list[Json] = [{"session": f"s-{n}"} for n in range(3)]
    places += [{"project": f"app-{n}"} for n in range(2)]
    for place in places:
        client.post("/opt-outs", json=own | place).raise_for_status()
    client.post("/opt-outs", json={"agent": "pages-of-another", "session": "s-9"})
    whole = client.get("/opt-outs", params=own).json()
    assert whole["next_cursor"] is None
    assert [one["session"] or one["scope"] for one in whole["opt_outs"]] == [
        "s-0", "s-1", "s-2", "app-0", "app-1",
    ]  # fmt: skip
    pages, cursor = list[Json](), None
    while not pages or cursor:
        params = own | {"limit": 2} | ({"cursor": cursor} if cursor else {})
        pages.append(client.get("/opt-outs", params=params).raise_for_status().json())
        cursor = pages[-1]["next_cursor"]
    assert [len(page["opt_outs"]) for page in pages] == [2, 2, 1]
    assert [one for page in pages for one in page["opt_outs"]] == whole["opt_outs"]
    assert client.get("/opt-outs", params=own | {"cursor": "nowhere"}).status_code == 422
