"""What a session was given: left out with `new_only`, noted, and told to whoever asks for blame."""

import concurrent.futures
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.servers.keyed import KeyedService
from tests.servers.running import running_service

ENGINES = ("resident", "database")
WAYS = ("/search", "/graph-recall")

Json = dict[str, Any]


@pytest.fixture
def admin(keyed: KeyedService) -> Iterator[httpx.Client]:
    with keyed.client() as client:
        yield client


def _push(client: httpx.Client, agent: str, count: int = 6) -> list[str]:
    """Store memories about one crane, each with words of its own."""
    return [_store(client, agent, number) for number in range(count)]


def _store(client: httpx.Client, agent: str, number: int, words: str = "was looked at") -> str:
    places = ("harbour", "quay", "dock", "pier", "yard", "berth")
    text = f"The [[crane]] at the {places[number]} {words} in week {number * 7 + 1}."
    memory = {"text": text, "agent": agent, "source_ref": f"note-{number}"}
    answer = client.post("/memories", json=memory)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def _ask(client: httpx.Client, agent: str, way: str = "/search", **more: object) -> Json:
    answer = client.post(way, json={"query": "crane", "agent": agent, **more})
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


def _ids(answer: Json) -> list[str]:
    return [hit["id"] for hit in answer["results"]]


@pytest.mark.parametrize("way", WAYS)
def test_a_session_is_given_nothing_twice(admin: httpx.Client, agent: str, way: str) -> None:
    keys = _push(admin, agent)
    given: list[str] = []
    for _ in range(6):
        answer = _ask(admin, agent, way, session="s1", new_only=True, limit=2)
        assert answer["receipt"]["counts"]["given"] == len(given)
        assert "session" not in answer["receipt"]["filters"]
        given += _ids(answer)
    assert sorted(given) == sorted(keys)
    # Another session knows nothing of it; nor does another agent's of the same name.
    assert {*_ids(_ask(admin, agent, way, session="s2", new_only=True, limit=2))} < {*keys}
    other = _store(admin, f"{agent}-2", 0)
    assert _ids(_ask(admin, f"{agent}-2", way, session="s1", new_only=True)) == [other]
    # Whoever does not ask for what is new gets all of it.
    every = _ids(_ask(admin, agent, way, limit=10))
    assert len(every) >= 5
    assert _ids(_ask(admin, agent, way, session="s1", new_only=False, limit=10)) == every


def test_what_changed_is_new_again(admin: httpx.Client, agent: str) -> None:
    keys = _push(admin, agent)
    asked: Json = {"session": "s", "new_only": True, "limit": 10}
    assert sorted(_ids(_ask(admin, agent, **asked))) == sorted(keys)
    assert _store(admin, agent, 3, "fell") == keys[3]
    where: Json = {"params": {"agent": agent}}
    # Another importance are no other words.
    admin.patch(f"/memories/{keys[1]}", json={"importance": 0.9}, **where).raise_for_status()
    assert _ids(_ask(admin, agent, **asked)) == [keys[3]]
    assert _ids(_ask(admin, agent, **asked)) == []
    admin.delete(f"/memories/{keys[0]}", **where).raise_for_status()
    assert _ids(_ask(admin, agent, **asked)) == []


def test_another_copy_of_what_a_session_has_is_not_new(admin: httpx.Client, agent: str) -> None:
    text = "The crane of berth seven was mended by the harbour master and his two sons in May."
    first = {"text": text, "agent": agent}
    copies = [first, first | {"source_ref": "copy"}, first | {"scope": "app", "text": text.upper()},
              first | {"text": text.replace("seven", "eight").replace("May", "June")}]  # fmt: skip
    keys = [admin.post("/memories", json=one).json()["id"] for one in copies]
    asked: Json = {"query": "crane", "session": "s", "new_only": True, "limit": 1}
    given = [_ids(_ask(admin, agent, **asked)) for _ in range(3)]
    # Other names and numbers are other news.
    assert given[2] == []
    assert {given[0][0], given[1][0]} & {keys[3]} == {keys[3]}
    assert len({*keys[:3]} & {given[0][0], given[1][0]}) == 1
    every = _ask(admin, agent, **asked | {"limit": 10}, duplicates="show")
    assert len(_ids(every)) == 2


def test_without_new_only_a_session_narrows_as_ever(admin: httpx.Client, agent: str) -> None:
    _push(admin, agent, 2)
    said = {"text": "The crane in this session.", "agent": agent, "session": "s"}
    mine = admin.post("/memories", json=said).json()["id"]
    for _ in range(2):
        assert _ids(_ask(admin, agent, session="s")) == [mine]
    assert len(_ids(_ask(admin, agent, session="s", new_only=True))) == 3


def test_a_get_leaves_out_what_was_given_and_notes_nothing(admin: httpx.Client, agent: str) -> None:
    keys = _push(admin, agent, 3)
    asked = {"q": "crane", "agent": agent, "session": "s", "new_only": "true"}
    for path in WAYS:
        for _ in range(2):
            assert sorted(_ids(admin.get(path, params=asked).json())) == sorted(keys)
    [first] = _ids(_ask(admin, agent, session="s", new_only=True, limit=1))
    for path in WAYS:
        assert sorted(_ids(admin.get(path, params=asked).json())) == sorted({*keys} - {first})


def test_questions_at_once_are_given_nothing_twice(keyed: KeyedService, agent: str) -> None:
    with keyed.client() as client:
        keys = _push(client, agent)
    asked: Json = {"session": "s", "new_only": True, "limit": 2}

    def ask(way: str) -> list[str]:
        with keyed.client() as client:
            return _ids(_ask(client, agent, way, **asked))

    with concurrent.futures.ThreadPoolExecutor(6) as threads:
        given = [key for answer in threads.map(ask, WAYS * 3) for key in answer]
    assert sorted(given) == sorted(keys)


@pytest.mark.parametrize("way", WAYS)
def test_new_only_without_a_session_says_so(admin: httpx.Client, agent: str, way: str) -> None:
    keys = _push(admin, agent, 2)
    for _ in range(2):
        answer = _ask(admin, agent, way, new_only=True)
        assert sorted(_ids(answer)) == sorted(keys)
        assert "send `session` with it" in answer["receipt"]["fallback_reason"]


def test_lineage_and_quarantine_tell_which_sessions_were_given_it(
    keyed: KeyedService, admin: httpx.Client, agent: str
) -> None:
    keys = _push(admin, agent, 3)
    for session in ("s1", "s1", "s2"):
        _ask(admin, agent, session=session, new_only=False)
    # Filters by a session are no answers to it.
    _ask(admin, agent, session="s3")
    where: Json = {"params": {"agent": agent}}
    told = admin.get(f"/memories/{keys[0]}/lineage", **where).json()["sessions"]
    assert [(one["agent"], one["session"], one["memories"], one["times"]) for one in told] == [
        (agent, "s2", 1, 1), (agent, "s1", 1, 2),
    ]  # fmt: skip
    assert told[1]["first_at"] < told[1]["at"] < told[0]["at"]
    dry = admin.post("/trust/quarantine", json={"since": "2026-01-01", "agent": agent}).json()
    assert [(one["session"], one["memories"], one["times"]) for one in dry["sessions"]] == [
        ("s2", 3, 3), ("s1", 3, 6),
    ]  # fmt: skip
    # Who is no admin is told of none, and an admin of other agents of none of these.
    _, reading = keyed.key(["read"], [agent], name=f"reader of {agent}")
    with keyed.client(reading) as reader:
        assert reader.get(f"/memories/{keys[0]}/lineage", **where).json()["sessions"] is None


def test_a_session_tells_what_it_was_given(admin: httpx.Client, agent: str) -> None:
    keys = _push(admin, agent, 3)
    name = "a session/with ? and #, 세션"
    _ask(admin, agent, session=name, new_only=True, limit=2)
    _ask(admin, agent, "/graph-recall", session=name, new_only=True)
    path, where = f"/sessions/{quote(name)}", {"agent": agent}
    told = admin.get(path, params=where).json()
    assert (told["session"], told["agent"], told["next_cursor"]) == (name, agent, None)
    assert sorted(one["id"] for one in told["given"]) == sorted(keys)
    assert {one["operation"] for one in told["given"]} == {"search", "graph_recall"}
    assert told["tokens"] == sum(one["tokens"] for one in told["given"]) > 20
    assert all(one["is_known"] and "crane" in one["title"] for one in told["given"])
    pages, cursor = [], None
    for _ in range(3):
        more: Json = {"cursor": cursor} if cursor else {}
        page = admin.get(path, params=where | {"limit": "1"} | more).json()
        pages += page["given"]
        cursor = page["next_cursor"]
    assert (pages, cursor) == (told["given"], None)
    # What was quarantined or is gone has no title any more; another session was given nothing.
    quarantined = {"since": "2026-01-01", "agent": agent, "dry_run": False}
    admin.post("/trust/quarantine", json=quarantined).raise_for_status()
    admin.delete(f"/memories/{keys[0]}", params=where).raise_for_status()
    titles = [one["title"] for one in admin.get(path, params=where).json()["given"]]
    assert titles == [None, None, None]
    assert admin.get("/sessions/another", params=where).json()["given"] == []


@pytest.mark.parametrize("name", ["\0", "a\0b", "s" * 201, ""], ids=repr)
def test_what_can_be_no_session_is_refused(admin: httpx.Client, agent: str, name: str) -> None:
    answer = admin.get(f"/sessions/{quote(name)}", params={"agent": agent})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/id")
    longest = admin.get(f"/sessions/{'s' * 200}", params={"agent": agent})
    assert (longest.status_code, longest.json()["given"]) == (200, [])


def test_an_admin_of_some_agents_is_told_of_their_sessions_alone(
    keyed: KeyedService, admin: httpx.Client, agent: str
) -> None:
    [key] = _push(admin, agent, 1)
    other = f"{agent}-reader"
    _store(admin, other, 0)
    admin.post("/grants", json={"reader": other, "owner": agent}).raise_for_status()
    asked: Json = {"session": "s", "new_only": False, "duplicates": "show"}
    _ask(admin, agent, **asked)
    assert key in _ids(_ask(admin, other, read_from=[agent], **asked))
    where: Json = {"params": {"agent": agent}}
    told = admin.get(f"/memories/{key}/lineage", **where).json()["sessions"]
    assert {one["agent"] for one in told} == {agent, other}
    _, owning = keyed.key(["read", "admin"], [agent], name=f"admin of {agent}")
    with keyed.client(owning) as owner:
        told = owner.get(f"/memories/{key}/lineage", **where).json()["sessions"]
        assert {one["agent"] for one in told} == {agent}


def test_it_is_known_after_a_restart(tmp_path: Path, embedding_url: str) -> None:
    asked: Json = {"session": "s", "new_only": True, "limit": 2}
    with running_service(data_dir=tmp_path, embedding_url=embedding_url) as first:
        keys = _push(first.client, "main", 3)
        given = _ids(_ask(first.client, "main", **asked))
    with running_service(data_dir=tmp_path, embedding_url=embedding_url) as again:
        assert _ids(_ask(again.client, "main", **asked)) == [*({*keys} - {*given})]


def _observe(client: httpx.Client, agent: str, *texts: str, **more: object) -> None:
    entries = [{"role": "assistant", "text": text, **more} for text in texts]
    body = {"session": "s1", "client": "generic", "agent": agent, "entries": entries}
    client.post("/observe", json=body).raise_for_status()


def test_what_was_given_in_part_is_new_but_to_a_hook(admin: httpx.Client, agent: str) -> None:
    quay = f"We decided on the quay plan. {'It has many parts to it. ' * 80}The last is tangerine."
    memory = {"text": quay, "agent": agent, "kind": "decision"}
    key = admin.post("/memories", json=memory).json()["id"]
    question = "What did we decide on the quay plan, and is tangerine its last part?"

    def ask(session: str, detail: str = "full") -> list[str]:
        more = {"query": question, "session": session, "new_only": True, "detail": detail}
        return _ids(_ask(admin, agent, "/search", **more))

    def hook(session: str) -> bool:
        body = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": question}
        answer = admin.post("/hooks/codex", json=body | {"graph_memory": {"agent": agent}})
        return key in answer.text

    def is_known(session: str) -> bool:
        [one] = admin.get(f"/sessions/{session}", params={"agent": agent}).json()["given"]
        return bool(one["is_known"])

    # By its title; cut in a context; cut by a hook, which tells no more of it.
    assert (ask("s1", "index"), ask("s1")) == ([key], [key])
    admin.post("/session-context", json={"agent": agent, "session": "s2"}).raise_for_status()
    assert (is_known("s2"), hook("s2"), hook("s2"), is_known("s2")) == (False, True, False, False)
    admin.post("/session-context", json={"agent": agent, "session": "s2"}).raise_for_status()
    assert (hook("s2"), ask("s2"), is_known("s2")) == (False, [key], True)
    # What it has whole it does not lose to a part of the same.
    assert (ask("s2", "index"), ask("s2")) == ([], [])
    admin.post("/session-context", json={"agent": agent, "session": "s2"}).raise_for_status()
    assert (is_known("s2"), hook("s2"), ask("s2")) == (True, False, [])
    # Of another text it has nothing.
    admin.patch(f"/memories/{key}", json={"text": f"{quay} So it is."}, params={"agent": agent})
    admin.post("/session-context", json={"agent": agent, "session": "s2"}).raise_for_status()
    assert (is_known("s2"), hook("s2"), ask("s2")) == (False, True, [key])


def test_what_a_session_used_is_known(admin: httpx.Client, agent: str) -> None:
    keys = _push(admin, agent, 4)
    answer = _ask(admin, agent, session="s1", new_only=True)
    assert set(_ids(answer)) == set(keys)
    _observe(admin, agent, "I know nothing of that crane.", "It was looked at in week 9.")
    # Said before it was given, in other words, in another session.
    _observe(admin, agent, f"See {keys[3]}.", at="2020-01-01T00:00:00Z")
    told = admin.get("/sessions/s1", params={"agent": agent}).json()["given"]
    assert {one["used_at"] for one in told} == {None}
    assert sorted(one["why"].partition(" by ")[0] for one in told) == [
        f"rank {n}" for n in range(1, 5)
    ]
    _observe(admin, agent, "As noted: the CRANE at the quay was looked at!", f"See {keys[2]}.")
    told = admin.get("/sessions/s1", params={"agent": agent}).json()["given"]
    used = {one["id"] for one in told if one["used_at"]}
    assert used == {keys[1], keys[2]}
