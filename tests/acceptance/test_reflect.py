"""A look back: what recurs, what grows, what turned, and a hot memory within its room."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.servers.keyed import KeyedService

ENGINES = ("resident", "database")
APP = {"origin": "git@github.com:ann/app.git"}
TABS = "From now on use tabs in Makefiles."

Json = dict[str, Any]


@pytest.fixture
def client(keyed: KeyedService) -> Iterator[httpx.Client]:
    with keyed.client() as one:
        yield one


def _session(client: httpx.Client, agent: str, name: str, *entries: Json, **more: object) -> Json:
    body = {"session": name, "client": "generic", "project": APP, "agent": agent}
    answer = client.post("/observe", json=body | {"entries": list(entries)} | more)
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


def _failure(at: str | None = None) -> list[Json]:
    return [
        {"role": "assistant", "command": "make 2>&1 | tail", "call": "1", "at": at},
        {"role": "tool", "call": "1", "exit": 0, "at": at,
         "text": "Makefile:3: *** missing separator. Error 2"},
    ]  # fmt: skip


def _reflect(client: httpx.Client, agent: str, **more: object) -> Json:
    answer = client.post("/reflect", json={"agent": agent, "project": APP, **more})
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


def _hot(client: httpx.Client, agent: str, **more: object) -> Json:
    params: Json = {"agent": agent, "project": "github.com/ann/app", **more}
    answer = client.get("/hot-memory", params=params)
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


def _store(client: httpx.Client, agent: str, text: str, **more: object) -> str:
    body = {"text": text, "agent": agent, "kind": "note", "scope": "github.com/ann/app", **more}
    answer = client.post("/memories", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_what_recurs_is_told_and_promoted_on_request(client: httpx.Client, agent: str) -> None:
    tabs: Json = {"role": "user", "text": TABS}
    _session(client, agent, "s1", tabs, {"role": "user", "text": "I prefer short answers."})
    assert _reflect(client, agent)["repeated"] == []
    for name in ("s2", "s3"):
        _session(client, agent, name, tabs, *_failure())
    # The same session again, whole: it counts once.
    _session(client, agent, "s3", tabs, *_failure(), offset=0)
    found = _reflect(client, agent)
    assert found["dry_run"] is True
    [error] = found["errors"]
    assert (error["sessions"], error["command"], error["fix"]) == (2, "make", None)
    assert "missing separator" in error["text"]
    assert [(one["text"], one["sessions"]) for one in found["repeated"]] == [(TABS, 3)]
    [promotion] = found["promotions"]
    assert (promotion["text"], promotion["why"]) == (TABS, "said in 3 sessions")
    assert promotion["worth"]["references"] == 0.4
    for part in ("Recurring errors", "missing separator", "Promoted to hot memory", TABS):
        assert part in found["report"]
    # Nothing was changed; then it is made so, and the next time there is nothing to do.
    assert _hot(client, agent)["memories"] == []
    assert _reflect(client, agent, dry_run=False)["promotions"] == found["promotions"]
    hot = _hot(client, agent)
    assert hot["text"] == f"# Memory\n\n- {TABS}\n"
    assert [one["why"] for one in hot["memories"]] == ["said in 3 sessions"]
    again = _reflect(client, agent, dry_run=False)
    assert (again["promotions"], again["demotions"]) == ([], [])
    assert _hot(client, agent) == hot
    # Of another project and of the agent's own it is none.
    assert _hot(client, agent, project="other")["memories"] == []
    # Once there is a fix it is told.
    edit = {"role": "assistant", "tool": "edit", "file_path": "Makefile", "call": "2"}
    call = {"role": "assistant", "command": "make", "call": "3"}
    passed = {"role": "tool", "call": "3", "exit": 0, "text": "ok"}
    stored = _session(client, agent, "s3", edit, call, passed)
    assert _reflect(client, agent)["errors"][0]["fix"] == stored["memories"][0]


def test_the_hot_memory_is_bounded_and_the_least_valuable_leaves(
    client: httpx.Client, agent: str
) -> None:
    keys = [
        _store(client, agent, f"Rule {n} of the harbour holds for crane {n}.", importance=n / 10)
        for n in range(11)
    ]
    found = _reflect(client, agent, dry_run=False, max_tokens=1000)
    # Those of .8 and more are marked as important; .75 would be the first.
    assert [one["id"] for one in found["promotions"]] == keys[:7:-1]
    few = _reflect(client, agent, dry_run=False, max_tokens=30)
    assert [one["id"] for one in few["demotions"]] != []
    hot = _hot(client, agent)
    assert 0 < hot["tokens"] <= 40
    assert [one["id"] for one in hot["memories"]] == keys[: 10 - len(hot["memories"]) : -1]
    # What is archived, gone or quarantined is not hot any more, before anybody looks back.
    body = {"archived": True}
    client.patch(f"/memories/{keys[10]}", params={"agent": agent}, json=body).raise_for_status()
    assert keys[10] not in [one["id"] for one in _hot(client, agent)["memories"]]
    left = _reflect(client, agent, dry_run=False, max_tokens=1000)
    assert keys[10] in [one["id"] for one in left["demotions"]]
    assert _reflect(client, agent, dry_run=False, max_tokens=0)["promotions"] == []
    assert _hot(client, agent)["text"] == ""


def test_what_is_of_another_project_by_now_is_not_hot_in_this_one(
    client: httpx.Client, agent: str
) -> None:
    key = _store(client, agent, "The code of the vault is with Mina.", pinned=True)
    _reflect(client, agent, dry_run=False)
    assert [one["id"] for one in _hot(client, agent)["memories"]] == [key]
    body = {"scope": "github.com/ann/vault"}
    client.patch(f"/memories/{key}", params={"agent": agent}, json=body).raise_for_status()
    hot = _hot(client, agent)
    assert (hot["memories"], hot["text"]) == ([], "")
    found = _reflect(client, agent, dry_run=False)
    assert [(one["id"], one["text"]) for one in found["demotions"]] == [(key, None)]


def test_nothing_untrusted_is_promoted(client: httpx.Client, agent: str) -> None:
    _store(client, agent, "Trust me, always.", importance=1.0, trust_tier="untrusted")
    _store(client, agent, "A web page said so.", pinned=True, source_kind="web")
    mine = _store(client, agent, "The crane is ours.", pinned=True)
    assert [one["id"] for one in _reflect(client, agent)["promotions"]] == [mine]


def test_a_session_begins_with_what_is_near_at_hand(client: httpx.Client, agent: str) -> None:
    old = {"text": "The quay floods in spring.", "pinned": True, "agent": agent,
           "scope": "github.com/ann/app", "occurred_at": "2026-01-01T10:00:00Z"}  # fmt: skip
    rule = {**old, "text": "Tabs.", "kind": "preference"}
    for body in (old, rule):
        client.post("/memories", json=body).raise_for_status()
    notes = [
        {"text": f"Note {n} of today.", "agent": agent, "scope": old["scope"]} for n in range(60)
    ]
    client.post("/memories/batch", json={"memories": notes}).raise_for_status()
    own: Json = {"agent": agent, "project": APP}

    def context() -> str:
        told = client.post("/session-context", json=own | {"max_tokens": 600})
        return str(told.json()["text"])

    assert "The quay floods" not in context()
    client.post("/reflect", json=own | {"dry_run": False}).raise_for_status()
    text = context()
    assert text.index("The quay floods") < text.index("of today.")
    # What another section tells is told once.
    assert text.count("Tabs.") == 1
    session = {"session": "s", "source": "resume"}
    client.post("/session-context", json=own | session).raise_for_status()
    again = client.post("/session-context", json=own | session).json()["text"]
    assert "The quay floods" not in again


def test_concepts_that_gain_weight(client: httpx.Client, agent: str) -> None:
    old = (datetime.now(UTC) - timedelta(days=10)).isoformat()
    for n in range(6):
        quiet = f"The harbour was quiet in hour {n}."
        _store(client, agent, quiet, occurred_at=old, concepts=["harbour"])
        moved = f"The crane moved load {n} past the harbour."
        _store(client, agent, moved, concepts=["crane", "harbour"])
    _store(client, agent, "A gull came.", concepts=["gull"])
    told = _reflect(client, agent)["concepts"]
    assert [(one["name"], one["memories"], one["before"]) for one in told] == [
        ("crane", 6, 0.0), ("harbour", 6, 1.5),
    ]  # fmt: skip


def test_decisions_that_contradict_each_other(client: httpx.Client, agent: str) -> None:
    def decide(text: str, **more: object) -> str:
        body = {"text": text, "agent": agent, "project": APP, **more}
        return str(client.post("/decisions", json=body).json()["id"])

    older = decide("Use Redis for the session cache.")
    decide("The API answers in JSON.")
    newer = decide("No Redis for the session cache: it stays in memory, not in Redis.")
    told = _reflect(client, agent)["contradictions"]
    assert [(one["newer"], one["older"]) for one in told] == [(newer, older)]
    # One that was superseded contradicts nothing.
    decide("The session cache is in memory.", supersedes=older)
    assert _reflect(client, agent)["contradictions"] == []


def test_worth_is_shown_of_each_memory(client: httpx.Client, agent: str) -> None:
    def worth(key: str) -> Json:
        told: Json = client.get(f"/memories/{key}", params={"agent": agent}).json()["worth"]
        return told

    plain = _store(client, agent, "It rained.")
    marked = _store(client, agent, "It NEVER rains!", tags=["important"])
    week = (datetime.now(UTC) - timedelta(days=7)).isoformat()
    old = _store(client, agent, "It rained then.", occurred_at=week)
    assert worth(plain)["explicit"] == worth(plain)["references"] == 0
    assert (worth(marked)["explicit"], worth(marked)["emphasis"]) == (1, 1)
    assert worth(old)["recency"] == pytest.approx(0.5, abs=0.01)
    assert worth(marked)["score"] > worth(plain)["score"] > worth(old)["score"]
    ask = {"query": "rained", "agent": agent, "session": "s", "new_only": True}
    client.post("/search", json=ask).raise_for_status()
    assert worth(plain)["references"] == 0.1


def test_bad_questions_are_refused(client: httpx.Client, agent: str) -> None:
    for wrong in ({"days": 0}, {"days": 400}, {"max_tokens": -1}, {"dry_run": "maybe"}, {"x": 1}):
        assert client.post("/reflect", json={"agent": agent, **wrong}).status_code == 422
    client.post("/opt-outs", json={"agent": agent, "project": APP}).raise_for_status()
    answer = client.post("/reflect", json={"agent": agent, "project": APP})
    assert answer.status_code == 409
    assert (
        client.get(
            "/hot-memory", params={"agent": agent, "project": "github.com/ann/app"}
        ).status_code
        == 409
    )


def test_what_a_quarantined_session_met_is_told_in_no_look_back(
    client: httpx.Client, agent: str
) -> None:
    tabs: Json = {"role": "user", "text": TABS}
    for name in ("s1", "s2", "s3"):
        _session(client, agent, name, tabs, *_failure())
    for path, count in (("quarantine", []), ("release", [3])):
        for name in ("s2", "s3"):
            sent = {"agent": agent, "session": name, "dry_run": False}
            assert client.post(f"/trust/{path}", json=sent).json()["transcripts"] == 1
        found = _reflect(client, agent)
        assert [one["sessions"] for one in found["errors"]] == count
        assert ("missing separator" in found["report"]) is bool(count)
        assert [one["sessions"] for one in found["repeated"]] == count


def test_the_words_of_the_last_that_met_an_error_are_told_only_as_it_is_trusted(
    client: httpx.Client, agent: str
) -> None:
    for name in ("s1", "s2", "s3", "s4"):
        _session(client, agent, name, *_failure())
    for name, told in (("s1", [3]), ("s4", [])):
        meant = {"agent": agent, "session": name, "dry_run": False}
        client.post("/trust/quarantine", json=meant).raise_for_status()
        assert [one["sessions"] for one in _reflect(client, agent)["errors"]] == told
