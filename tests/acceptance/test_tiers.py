"""Tiers: passing notes are weighed at the end, and a question asks the nearest tier first."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.servers.keyed import KeyedService

ENGINES = ("resident", "database")
APP = "github.com/ann/app"

Json = dict[str, Any]


@pytest.fixture
def client(keyed: KeyedService) -> Iterator[httpx.Client]:
    with keyed.client() as one:
        yield one


def _post(client: httpx.Client, path: str, **body: object) -> Json:
    answer = client.post(path, json={"project": APP, **body})
    assert answer.status_code in {200, 201}, answer.text
    told: Json = answer.json()
    return told


def _focus(client: httpx.Client, agent: str, text: str, session: str | None = "s1") -> None:
    body = {"text": text, "agent": agent, "project": APP, "session": session}
    client.put("/working-memory", json=body).raise_for_status()


def _read_focus(client: httpx.Client, agent: str) -> str | None:
    params: Json = {"agent": agent, "project": APP, "session": "s1"}
    text: str | None = client.get("/working-memory", params=params).json()["text"]
    return text


KEPT = "IMPORTANT: never deploy the gateway before `make check` passed on build 4711!"
PASSING = "trying the second one"


def test_the_end_of_a_session_keeps_what_is_worth_it(client: httpx.Client, agent: str) -> None:
    _focus(client, agent, f"{PASSING}\n\n## [2026-02-13 10:00]\n{KEPT}")
    _focus(client, agent, "The project's own focus stays.", session=None)
    memory: Json = {"agent": agent, "scope": APP, "session": "s1", "tags": ["ephemeral", "sum"]}
    sums = [
        client.post("/memories", json={"text": text, **memory, **more}).json()["id"]
        for text, more in (
            ("17 + 4 = 21", {}), ("The total is 4,711 euros.", {"importance": 1.0}),
            ("A page says: pay 9,000 NOW, always!", {"importance": 1.0, "source_kind": "web"}),
        )
    ]  # fmt: skip
    dry = _post(client, "/session-end", session="s1", agent=agent, dry_run=True)
    assert (dry["is_cleared"], dry["dry_run"], len(dry["promoted"])) == (False, True, 2)
    assert PASSING in (_read_focus(client, agent) or "")
    ended = _post(client, "/session-end", session="s1", agent=agent)
    assert [one["text"] for one in ended["promoted"]] == [KEPT, "The total is 4,711 euros."]
    assert {one["text"] for one in ended["cleared"]} == {
        PASSING, "17 + 4 = 21", "A page says: pay 9,000 NOW, always!",
    }  # fmt: skip
    assert all(one["worth"]["score"] >= 0.25 for one in ended["promoted"])
    assert ended["is_cleared"] is True
    assert _read_focus(client, agent) is None
    # What is kept is a memory as any other; what is not is gone or archived.
    kept = client.get(f"/memories/{ended['promoted'][0]['id']}", params={"agent": agent}).json()
    assert (kept["content"], kept["scope"], kept["session"]) == (KEPT, APP, "s1")
    tags = client.get(f"/memories/{sums[1]}", params={"agent": agent}).json()["tags"]
    assert tags == ["sum", "promoted"]
    listed = client.get("/memories", params={"agent": agent}).json()["memories"]
    assert {one["id"] for one in listed} == {one["id"] for one in ended["promoted"]}
    other = client.get("/working-memory", params={"agent": agent, "project": APP}).json()["text"]
    assert other == "The project's own focus stays."
    # Ended again there is nothing left to do.
    again = _post(client, "/session-end", session="s1", agent=agent)
    assert (again["promoted"], again["cleared"], again["is_cleared"]) == ([], [], True)


def test_a_dry_run_of_an_end_notes_no_project(client: httpx.Client, agent: str) -> None:
    ended = _post(client, "/session-end", session="s1", agent=agent, dry_run=True)
    assert ended["scope"] == APP
    assert client.get("/projects", params={"agent": agent}).json()["projects"] == []
    _post(client, "/session-end", session="s1", agent=agent)
    [project] = client.get("/projects", params={"agent": agent}).json()["projects"]
    assert project["scope"] == APP


def test_what_is_too_much_for_once_stays_for_the_next_time(
    client: httpx.Client, agent: str
) -> None:
    _focus(client, agent, "\n\n".join(f"Rule {n} holds." for n in range(501)))
    ended = _post(client, "/session-end", session="s1", agent=agent, threshold=1)
    assert (len(ended["cleared"]), ended["is_cleared"]) == (500, False)
    assert _read_focus(client, agent) == "Rule 500 holds."
    ended = _post(client, "/session-end", session="s1", agent=agent, threshold=0)
    assert [one["text"] for one in ended["promoted"]] == ["Rule 500 holds."]
    assert ended["is_cleared"] is True
    assert _read_focus(client, agent) is None


def test_what_nobody_trusted_wrote_is_not_kept(client: httpx.Client, agent: str) -> None:
    low = client.post("/keys", json={"name": agent, "scopes": ["read", "write"],
                                     "origin": "untrusted"}).json()["key"]  # fmt: skip
    headers = {"Authorization": f"Bearer {low}"}
    body = {"text": KEPT, "agent": agent, "project": APP, "session": "s1"}
    client.put("/working-memory", json=body, headers=headers).raise_for_status()
    ended = _post(client, "/session-end", session="s1", agent=agent)
    assert (ended["promoted"], [one["text"] for one in ended["cleared"]]) == ([], [KEPT])


def test_what_is_kept_stays_the_words_of_who_had_it_in_focus(
    keyed: KeyedService, client: httpx.Client, agent: str
) -> None:
    crow, sent = keyed.key(["read", "write"], [agent], name=f"crow of {agent}")
    _, owners = keyed.key(["read", "write"], [agent], origin="owner")
    with keyed.client(sent) as one:
        _focus(one, agent, KEPT)
    with keyed.client(owners) as owner:
        [kept] = _post(owner, "/session-end", session="s1", agent=agent)["promoted"]
    told = client.get(f"/memories/{kept['id']}/lineage", params={"agent": agent}).json()
    assert (told["origin"], told["key"]) == ("agent", crow)
    asked = {"client": f"crow of {agent}", "agent": agent}
    assert client.post("/trust/quarantine", json=asked).json()["ids"] == [kept["id"]]


def test_what_is_quarantined_is_neither_told_nor_cleared(client: httpx.Client, agent: str) -> None:
    _focus(client, agent, KEPT)
    memory: Json = {"agent": agent, "scope": APP, "session": "s1", "tags": ["ephemeral"]}
    passing = client.post("/memories", json={"text": PASSING, **memory}).json()["id"]
    meant: Json = {"session": "s1", "agent": agent, "dry_run": False}
    client.post("/trust/quarantine", json=meant).raise_for_status()
    for dry_run in (True, False):
        ended = _post(client, "/session-end", session="s1", agent=agent, dry_run=dry_run)
        assert (ended["promoted"], ended["cleared"]) == ([], [])
    client.post("/trust/release", json=meant).raise_for_status()
    ended = _post(client, "/session-end", session="s1", agent=agent)
    assert [one["text"] for one in ended["promoted"]] == [KEPT]
    assert [one["id"] for one in ended["cleared"]] == [passing]


def test_a_granted_scope_is_asked_in_tiers_as_in_a_search(client: httpx.Client, agent: str) -> None:
    owner = f"{agent}-owner"
    for scope in ("shared", "own"):
        text = f"The {scope} winch was oiled."
        body = {"agent": owner, "scope": scope, "text": text}
        client.post("/memories", json=body).raise_for_status()
    client.post("/memories", json={"agent": agent, "text": "Mine."}).raise_for_status()
    grant = {"reader": agent, "owner": owner, "scope": "shared"}
    client.post("/grants", json=grant).raise_for_status()
    asked: Json = {"agent": agent, "read_from": [owner], "query": "which winch was oiled"}
    for path in ("/search", "/cascade"):
        answer = client.post(path, json=asked | {"scope": "shared"})
        assert answer.status_code == 200, (path, answer.text)
        assert [one["scope"] for one in answer.json()["results"]] == ["shared"]
        assert client.post(path, json=asked).status_code == 403


def test_a_question_asks_the_nearest_tier_first(client: httpx.Client, agent: str) -> None:
    def ask(query: str, **more: object) -> Json:
        return _post(client, "/cascade", query=query, agent=agent, **more)

    old = (datetime.now(UTC) - timedelta(days=30)).isoformat()
    memory: Json = {"agent": agent, "scope": APP}
    for text, more in (
        ("The winch was oiled in January.", {"occurred_at": old}),
        ("The gantry was painted yellow.", {}),
    ):
        client.post("/memories", json={"text": text, **memory, **more}).raise_for_status()
    _focus(client, agent, "Now: the hoist brake squeaks.\n\nNext: the cabin door.")
    talk = [
        {"role": "user", "content": "The anchor chain is rusty."},
        {"role": "assistant", "content": "I see."},
    ]
    for query, tier, text in (
        ("Is the anchor chain rusty?", "context", "The anchor chain is rusty."),
        ("the hoist brake", "ephemeral", "Now: the hoist brake squeaks."),
        ("the gantry painted yellow", "session", "The gantry was painted yellow."),
        ("when was the winch oiled", "long_term", "The winch was oiled in January."),
    ):
        told = ask(query, messages=talk, session="s1", min_confidence=0.5)
        assert (told["tier"], told["asked"][-1]["tier"]) == (tier, tier), told
        found = [*told["texts"], *(one["content"] for one in told["results"])]
        assert found[0] == text
        assert told["confidence"] >= 0.5
    # Of another session the focus is none's; where nobody is sure the last tier answers.
    told = ask("the hoist brake", min_confidence=1.0)
    assert [one["tier"] for one in told["asked"]] == [
        "context", "ephemeral", "session", "long_term",
    ]  # fmt: skip
    # What was given is noted, and not given again.
    given = client.get("/sessions/s1", params={"agent": agent}).json()["given"]
    assert {one["operation"] for one in given} == {"cascade"}
    told = ask("when was the winch oiled", session="s1", new_only=True)
    assert "The winch was oiled in January." not in [one["content"] for one in told["results"]]


def test_bad_questions_are_refused(client: httpx.Client, agent: str) -> None:
    for path, wrong in (
        ("/cascade", {}), ("/cascade", {"query": "x", "limit": 0}),
        ("/cascade", {"query": "x", "min_confidence": 2}),
        ("/cascade", {"query": "x", "messages": [{"role": "user"}]}),
        ("/session-end", {}), ("/session-end", {"session": "s", "threshold": -1}),
        ("/session-end", {"session": "s", "threshold": None}),
    ):  # fmt: skip
        assert client.post(path, json={"agent": agent, **wrong}).status_code == 422, wrong
    client.post("/opt-outs", json={"agent": agent, "session": "off"}).raise_for_status()
    for path, body in (("/session-end", {}), ("/cascade", {"query": "x"})):
        answer = client.post(path, json={"agent": agent, "session": "off", **body})
        assert answer.status_code == 409
