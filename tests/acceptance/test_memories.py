"""/memories: store, batch, read, change, delete."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

# The same answers from RAM and from SurrealDB's own indexes.
ENGINES = ("resident", "database")

Json = dict[str, Any]

DETAIL = {
    "id", "title", "content", "kind", "type", "agent", "scope", "tags", "session", "source",
    "occurred_at",
    "created_at", "updated_at", "importance", "trust_tier", "sensitivity", "concepts", "before",
    "after", "history",
}  # fmt: skip
EVERYTHING: Json = {
    "text": "We chose Qwen3 for its retrieval scores.", "title": "Why Qwen3", "kind": "decision",
    "type": "semantic",
    "agent": "full", "scope": "models", "tags": ["embedding"], "concepts": ["retrieval"],
    "importance": 0.9,
    "occurred_at": "2026-02-13T10:00:00+02:00", "session": "s-1", "source_ref": "ticket-7",
    "source_kind": "tool",
    "trust_tier": "untrusted", "sensitivity": "internal", "valid_from": "2026-02-13",
    "valid_until": "2099-12-31",
}  # fmt: skip


def _store(client: httpx.Client, **memory: object) -> Json:
    answer = client.post("/memories", json=memory)
    assert answer.status_code == 201, answer.text
    stored: Json = answer.json()
    return stored


def _read(client: httpx.Client, key: str, agent: str = "main") -> Json:
    answer = client.get(f"/memories/{key}", params={"agent": agent})
    assert answer.status_code == 200, answer.text
    memory: Json = answer.json()
    return memory


def _found(client: httpx.Client, query: str, agent: str) -> list[str]:
    answer = client.post("/search", json={"query": query, "agent": agent, "weights": {"vector": 0}})
    return [hit["id"] for hit in answer.json()["results"]]


def _vector_score(client: httpx.Client, query: str, agent: str, key: str) -> float:
    answer = client.post("/search", json={"query": query, "agent": agent, "limit": 50}).json()
    hits: dict[str, Json] = {hit["id"]: hit for hit in answer["results"]}
    score: float = hits[key]["signals"]["vector"]["score"]
    return score


def test_everything_that_is_sent_is_kept(client: httpx.Client) -> None:
    stored = _store(client, **EVERYTHING)
    assert stored.keys() >= {"id", "action", "concepts", "warnings"}
    assert stored["action"] == "created"
    assert {"retrieval", "embedding"} <= set(stored["concepts"])
    assert stored["warnings"] == []
    memory = _read(client, stored["id"], "full")
    assert memory.keys() >= DETAIL
    assert memory["content"] == EVERYTHING["text"]
    for name in ("title", "kind", "type", "scope", "tags", "importance", "session", "trust_tier"):
        assert memory[name] == EVERYTHING[name]
    assert memory["source"]["ref"] == "ticket-7"
    assert memory["source_kind"] == "tool"
    assert memory["occurred_at"] == "2026-02-13T08:00:00Z"
    assert memory["valid_from"] == "2026-02-13T00:00:00Z"
    assert memory["valid_until"].startswith("2099-12-31T23:59:59")
    assert {concept["id"] for concept in memory["concepts"]} == set(stored["concepts"])
    assert [entry["action"] for entry in memory["history"]] == ["created"]


def test_what_is_left_out_has_a_default(client: httpx.Client) -> None:
    memory = _read(client, _store(client, text="tea is ready", agent="bare")["id"], "bare")
    assert (memory["kind"], memory["type"], memory["importance"]) == ("note", "semantic", 0.5)
    assert (memory["scope"], memory["session"], memory["tags"]) == (None, None, [])
    assert memory["title"] == "tea is ready"
    log = _store(client, text="tea is cold", kind="daily_log", agent="bare")
    assert _read(client, log["id"], "bare")["type"] == "episodic"


def test_of_those_who_send_the_same_at_once_one_has_created_it(client: httpx.Client) -> None:
    note = {"text": "The crane is green.", "agent": "at-once"}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post("/memories", json=note), range(8)))
    told = sorted(answer.json()["action"] for answer in answers)
    assert told == ["created", *["duplicate"] * 7]


def test_the_same_memory_again_is_a_duplicate(client: httpx.Client) -> None:
    first = _store(client, text="the kettle whistles", agent="twice")
    again = _store(client, text="the kettle whistles", agent="twice")
    assert (again["id"], again["action"]) == (first["id"], "duplicate")
    other = _store(client, text="the kettle whistles", agent="twice-other")
    assert (other["id"] != first["id"], other["action"]) == (True, "created")


def test_a_tag_that_is_said_twice_is_one(client: httpx.Client) -> None:
    note = {"text": "The same crane, tagged.", "concepts": ["quay", "quay"]}
    first = client.post("/memories", json=note | {"tags": ["b", "a", "b"]}).json()
    stored = client.get(f"/memories/{first['id']}").json()
    assert (stored["tags"], [one["id"] for one in stored["concepts"]].count("quay")) == (
        ["b", "a"],
        1,
    )
    again = client.post("/memories", json=note | {"tags": ["b", "a"]}).json()
    assert (again["id"], again["action"]) == (first["id"], "duplicate")
    changed = client.patch(f"/memories/{first['id']}", json={"tags": ["c", "c"]})
    assert changed.json()["tags"] == ["c"]


def test_a_duplicate_tells_the_concepts_of_what_is_there(client: httpx.Client) -> None:
    said = {"text": "Mina likes plums.", "concepts": ["Plum Tree"], "tags": ["Orchard"]}
    for known in ({}, {"source_ref": "plums"}):
        first = _store(client, **said, **known, agent="again")
        assert set(first["concepts"]) >= {"plum_tree", "orchard"}
        again = _store(client, **said, **known, agent="again")
        assert (again["action"], again["concepts"]) == ("duplicate", first["concepts"])
    alone = {"text": "It rained.", "agent": "again"}
    assert [_store(client, **alone)["concepts"] for _ in range(2)] == [[], []]


def test_who_says_again_what_was_put_away_is_told_that_no_search_finds_it(
    client: httpx.Client,
) -> None:
    for number, (change, said) in enumerate(
        [({"archived": True}, "archived"), ({"valid_until": "2026-01-01"}, "valid_until")]
    ):
        who = {"agent": f"away-{number}"}
        for body in ({"text": "Kvass at noon."}, {"text": "Kvass at one.", "source_ref": "k"}):
            key = client.post("/memories", json=body | who).json()["id"]
            assert client.patch(f"/memories/{key}", params=who, json=change).status_code == 200
            again = client.post("/memories", json=body | who).json()
            [warning] = again["warnings"]
            assert (again["id"], again["action"], said in warning) == (key, "duplicate", True)
            both = client.post("/memories/batch", json={"memories": [body | who]}).json()
            assert both["warnings"] == [f"memories/0/{warning}"]


def test_words_that_were_corrected_stand_beside_the_correction_when_they_are_said_again(
    client: httpx.Client,
) -> None:
    """Who knew nothing of the correction does not take it away, however often."""
    body, who = {"text": "Mina likes tea.", "agent": "corrected"}, {"agent": "corrected"}
    key = client.post("/memories", json=body).json()["id"]
    client.patch(f"/memories/{key}", params=who, json={"text": "Mina likes coffee."})
    again = [client.post("/memories", json=body).json() for _ in range(2)]
    both = client.post("/memories/batch", json={"memories": [body, body]}).json()
    assert [one["action"] for one in again] == ["created", "duplicate"]
    assert {one["id"] for one in again} == set(both["ids"]) != {key}
    found = client.get("/memories", params=who).json()["memories"]
    assert {one["content"] for one in found} == {"Mina likes tea.", "Mina likes coffee."}


@pytest.mark.parametrize(
    "change",
    [
        {"scope": "kitchen"}, {"kind": "preference"}, {"title": "Drinks"}, {"type": "procedural"},
        {"occurred_at": "2026-01-01T00:00:00Z"},
    ],
    ids=str,
)  # fmt: skip
def test_what_was_changed_stays_so_when_the_same_words_are_said_again(
    client: httpx.Client, change: dict[str, str]
) -> None:
    """A push without a `source_ref` is known by its words: what it is called is not said anew."""
    agent = f"changed-{next(iter(change))}"
    body = {"text": "Tea at four.", "agent": agent, "occurred_at": "2026-02-01T00:00:00Z"}
    path = f"/memories/{client.post('/memories', json=body).json()['id']}"
    before = client.patch(path, params={"agent": agent}, json=change).json()
    assert client.post("/memories", json=body).json()["action"] == "duplicate"
    assert client.get(path, params={"agent": agent}).json() == before


def test_the_same_source_ref_updates_in_place(client: httpx.Client) -> None:
    first = _store(client, text="the meeting is on Monday", source_ref="m-1", agent="ref")
    again = _store(client, text="the meeting is on Friday", source_ref="m-1", agent="ref")
    assert (again["id"], again["action"]) == (first["id"], "updated")
    memory = _read(client, first["id"], "ref")
    assert memory["content"] == "the meeting is on Friday"
    assert "updated" in [entry["action"] for entry in memory["history"]]
    assert _found(client, "friday", "ref") == [first["id"]]
    assert _found(client, "monday", "ref") == []
    assert client.get("/stats", params={"agent": "ref"}).json()["memories"] == 1


def test_a_batch_tells_each_ones_fate_in_order(client: httpx.Client) -> None:
    def one(text: object, **more: object) -> Json:
        return {"text": text, "agent": "batch", **more}

    _store(client, **one("one is here"), source_ref="r1")
    sent = [
        one("one has changed", source_ref="r1"), one("two"), one("  "), one("two"),
        one("three", importance=7), {"agent": "batch"}, one("four", colour="red"), one("five"),
    ]  # fmt: skip
    answer = client.post("/memories/batch", json={"memories": sent})
    assert answer.status_code == 200
    told = answer.json()
    assert (told["created"], told["updated"], told["duplicates"]) == (2, 1, 1)
    assert [error["index"] for error in told["errors"]] == [2, 4, 5, 6]
    for error, word in zip(told["errors"], ("empty", "importance", "text", "colour"), strict=True):
        assert word in error["detail"]
    ids = told["ids"]
    assert [key is None for key in ids] == [False, False, True, False, True, True, True, False]
    assert ids[1] == ids[3]
    assert _read(client, ids[0], "batch")["content"] == "one has changed"
    assert client.get("/stats", params={"agent": "batch"}).json()["memories"] == 3


def test_one_name_twice_in_a_batch_is_as_one_after_the_other(client: httpx.Client) -> None:
    said = {"agent": "twice-named", "source_ref": "kettle"}
    first = said | {"text": "It is red.", "importance": 0.9, "pinned": True}
    second = said | {"text": "It is blue.", "tags": ["hot"]}
    batch = {"memories": [first, first, second, second]}
    told = client.post("/memories/batch", json=batch).raise_for_status().json()
    assert len(set(told["ids"])) == 1
    assert (told["created"], told["updated"], told["duplicates"]) == (1, 1, 2)
    left = client.get(f"/memories/{told['ids'][0]}", params={"agent": "twice-named"}).json()
    assert (left["content"], left["importance"], left["pinned"]) == ("It is blue.", 0.9, True)
    assert left["tags"] == ["hot"]


def test_a_batch_may_hold_many_agents_and_a_thousand_memories(client: httpx.Client) -> None:
    sent = [{"text": f"grain {n}", "agent": f"many-{n % 3}"} for n in range(30)]
    assert client.post("/memories/batch", json={"memories": sent}).json()["created"] == 30
    assert client.get("/stats", params={"agent": "many-1"}).json()["memories"] == 10
    for wrong in ([], sent * 40):
        assert client.post("/memories/batch", json={"memories": wrong}).status_code == 422


LONG = "The ferry to the island leaves from the harbour below the lighthouse " * 4


def _with_warnings(stored: Json, action: str) -> bool:
    assert stored["action"] == action
    return [warning[:6] for warning in stored["warnings"]] == ["title:"]


def test_a_title_that_is_too_long_is_cut_and_stands_whole_in_the_text(
    client: httpx.Client,
) -> None:
    title = f"{LONG}quokka"
    first = _store(client, text="It takes an hour.", title=title, agent="long")
    assert _with_warnings(first, "created")
    memory = _read(client, first["id"], "long")
    assert len(memory["title"]) <= 200
    assert title.startswith(memory["title"].removesuffix("…"))
    assert title[len(memory["title"]) - 1] == " "
    assert memory["content"] == f"{title}\n\nIt takes an hour."
    assert "warnings" not in memory
    assert _found(client, "quokka", "long") == [first["id"]]
    again = _store(client, text="It takes an hour.", title=title, agent="long")
    assert _with_warnings(again, "duplicate")
    for action in ("created", "duplicate"):
        body = {"text": "Said again.", "title": title, "agent": "long", "source_ref": "ferry"}
        assert _with_warnings(_store(client, **body), action)
    shorter = _store(client, text="Short.", title=title[:200], agent="long")
    assert (shorter["action"], shorter["warnings"]) == ("created", [])


def test_a_long_title_in_a_batch_hurts_no_other(client: httpx.Client) -> None:
    def one(text: str, title: str = "Fine") -> Json:
        return {"text": text, "title": title, "agent": "long-batch"}

    sent = [one("one"), one("two", LONG), "no object", one("three", "x" * 10_001), one("four")]
    for created, duplicates in ((3, 0), (0, 3)):
        told = client.post("/memories/batch", json={"memories": sent}).json()
        assert (told["created"], told["duplicates"]) == (created, duplicates)
        assert [error["index"] for error in told["errors"]] == [2, 3]
        assert "JSON object" in told["errors"][0]["detail"]
        assert "at most 10,000 characters" in told["errors"][1]["detail"]
        [warning] = told["warnings"]
        assert warning.startswith("memories/1/title: ")
        assert [key is None for key in told["ids"]] == [False, False, True, True, False]
    assert LONG.strip() in _read(client, told["ids"][1], "long-batch")["content"]


def test_a_changed_title_that_is_too_long_goes_into_the_text(client: httpx.Client) -> None:
    who = {"agent": "long-change"}
    key = _store(client, text="It takes an hour.", title="Ferry", **who)["id"]
    for _ in range(2):
        changed = client.patch(f"/memories/{key}", params=who, json={"title": LONG}).json()
        assert changed["title"].endswith("…")
        assert changed["content"] == f"{LONG.strip()}\n\nIt takes an hour."
        assert [warning[:6] for warning in changed["warnings"]] == ["title:"]
    both = client.patch(f"/memories/{key}", params=who, json={"title": LONG, "text": "New."})
    assert both.json()["content"] == f"{LONG.strip()}\n\nNew."
    assert "warnings" not in client.patch(f"/memories/{key}", params=who, json={}).json()
    client.post("/ingest", json={"source": "b.md", "text": "# B\n\nfrom a file\n", **who})
    [read] = client.get("/memories", params=who | {"kinds": "note", "limit": 1}).json()["memories"]
    assert read["source"]["uri"] == "b.md"
    refused = client.patch(f"/memories/{read['id']}", params=who, json={"title": LONG})
    assert refused.status_code == 409
    assert "at most 200 characters" in refused.json()["detail"]
    assert _read(client, read["id"], "long-change")["title"] == "B"


def test_a_session_is_chained_by_time_then_position(client: httpx.Client) -> None:
    def turn(text: str, at: str) -> Json:
        return {"text": text, "session": "talk", "agent": "chain", "occurred_at": at}

    morning, noon = "2026-02-13T08:00:00Z", "2026-02-13T12:00:00Z"
    texts = (("lunch", noon), ("wake", morning), ("wash", morning), ("dress", morning))
    sent = [turn(text, at) for text, at in texts]
    lunch, wake, wash, dress = client.post("/memories/batch", json={"memories": sent}).json()["ids"]
    order = [wake, wash, dress, lunch]

    def chain(order: list[str]) -> None:
        for place, key in enumerate(order):
            memory = _read(client, key, "chain")
            assert [near["id"] for near in memory["before"]] == order[:place][-1:]
            assert [near["id"] for near in memory["after"]] == order[place + 1 :][:1]

    chain(order)
    late = _store(client, **turn("snack", "2026-02-13T10:00:00Z"))["id"]
    chain([wake, wash, dress, late, lunch])
    assert client.delete(f"/memories/{wash}", params={"agent": "chain"}).status_code == 204
    chain([wake, dress, late, lunch])
    moved = {"occurred_at": "2026-02-13T07:00:00Z"}
    client.patch(f"/memories/{lunch}", params={"agent": "chain"}, json=moved)
    chain([lunch, wake, dress, late])


def test_a_new_text_is_embedded_and_linked_anew(client: httpx.Client) -> None:
    who = {"agent": "patch"}
    old_text, new_text = "the parrot speaks Latin", "our submarine needs ballast"
    key = _store(client, text=old_text, concepts=["parrots"], **who)["id"]
    _store(client, text="another submarine story", concepts=["submarine"], **who)
    before = _vector_score(client, new_text, "patch", key)
    changed = client.patch(f"/memories/{key}", params=who, json={"text": new_text, "concepts": []})
    assert changed.status_code == 200
    assert changed.json()["content"] == new_text
    assert {concept["id"] for concept in changed.json()["concepts"]} == {"submarine"}
    assert _vector_score(client, new_text, "patch", key) > max(before, 0.99)
    assert _found(client, "parrot Latin", "patch") == []
    assert client.get("/concepts/parrots", params=who).status_code == 404
    assert [entry["action"] for entry in changed.json()["history"]] == ["created", "updated"]


def test_a_change_leaves_the_rest_as_it_was(client: httpx.Client) -> None:
    who = {"agent": "partly"}
    key = _store(client, text="pay the rent", scope="home", tags=["money"], **who)["id"]
    before = _read(client, key, "partly")
    path = f"/memories/{key}"
    changes: Json = {"importance": 1.0, "tags": ["due"], "scope": None, "kind": "fact"}
    for name, value in changes.items():
        change = {name: value}
        after = client.patch(path, params=who, json=change).json()
        assert after | {"updated_at": 0, "history": 0} == before | change | {
            "updated_at": 0, "history": 0, "concepts": after["concepts"], "worth": after["worth"],
        }  # fmt: skip
        before = after
    assert client.patch(path, params=who, json={}).json() == before
    archived = client.patch(path, params=who, json={"archived": True}).json()
    assert archived["archived_at"]
    assert _found(client, "rent", "partly") == []
    back = client.patch(path, params=who, json={"archived": False}).json()
    assert back["archived_at"] is None
    assert _found(client, "rent", "partly") == [key]


def test_a_refused_change_changes_nothing(client: httpx.Client) -> None:
    who = {"agent": "refused"}
    client.post("/ingest", json={"source": "a.md", "text": "# A\n\nfrom a file\n", **who})
    [memory] = client.get("/memories", params=who).json()["memories"]
    path = f"/memories/{memory['id']}"
    for change, status in (
        ({"archived": True, "text": "not from the file"}, 409), ({"importance": 2}, 422),
        ({"text": " "}, 422), ({"id": "x"}, 422), ({"kind": "song"}, 422), ({"tags": "red"}, 422),
    ):  # fmt: skip
        answer = client.patch(path, params=who, json=change)
        assert answer.status_code == status
        assert answer.json()["detail"]
    assert client.get("/memories", params=who).json()["memories"] == [memory]


def test_who_sends_more_than_the_model_reads_is_told(client: httpx.Client) -> None:
    who, long = {"agent": "long-texts"}, "crane " * 8_200
    path = f"/memories/{_store(client, text='Short.', **who)['id']}"
    batch = [{"text": f"{long}, {n}.", **who} for n in range(2)] + [{"text": "Shorter.", **who}]
    told = [
        client.post("/memories", json={"text": long, **who}).json()["warnings"],
        client.post("/memories/batch", json={"memories": batch}).json()["warnings"],
        client.patch(path, params=who, json={"text": f"Long. {long}"}).json()["warnings"],
    ]
    for [warning] in told:
        assert warning.startswith("A text is longer than the embedding model reads")
    document = {"source": "cranes.md", "text": f"# Cranes\n\n{long}\n", **who}
    assert client.post("/ingest", json=document).json()["warnings"] == []
    assert _store(client, text="Shortest.", **who)["warnings"] == []


def test_a_time_that_was_set_holds_on_where_the_document_tells_none(client: httpx.Client) -> None:
    who, at = {"agent": "time-set"}, "2026-01-01T00:00:00Z"
    text = "# Cranes\n\nThe harbour has three.\n"
    for source, holds_on in (("cranes.md", True), ("2026-02-13.md", False)):
        body = {"source": source, "text": text, **who}
        client.post("/ingest", json=body).raise_for_status()
        [key] = [
            one["id"]
            for one in client.get("/memories", params=who).json()["memories"]
            if one["source"]["uri"] == source
        ]
        path, change = f"/memories/{key}", {"occurred_at": at}
        changed = client.patch(path, params=who, json=change).json()
        assert (changed["occurred_at"], len(changed["warnings"])) == (at, 1)
        assert changed["warnings"][0].endswith("; a time holds on where it tells none.")
        client.post("/ingest", json=body).raise_for_status()
        assert (client.get(path, params=who).json()["occurred_at"] == at) == holds_on


def test_null_clears_what_can_be_cleared_and_is_else_refused(client: httpx.Client) -> None:
    who = {"agent": "cleared"}
    said = {"title": "T", "scope": "s", "valid_from": "2026-03-01", "valid_until": "2027-03-01"}
    path = f"/memories/{_store(client, text='The harbour has three cranes.', **said, **who)['id']}"
    before = client.get(path, params=who).json()
    schema = client.get("/openapi.json").json()["components"]["schemas"]["ChangeRequest"]
    kept = sorted(schema["properties"].keys() - said.keys())
    for name in kept:
        refused = client.patch(path, params=who, json={name: None, "title": "Another"})
        assert refused.status_code == 422
        [fault] = refused.json()["errors"]
        assert fault["pointer"] == f"/{name}"
        assert fault["detail"].endswith("null clears title, scope, valid_from, valid_until.")
    assert {"text", "tags", "importance", "pinned", "archived", "occurred_at"} < {*kept}
    assert client.get(path, params=who).json() == before
    cleared = client.patch(path, params=who, json=dict.fromkeys(said)).json()
    assert [cleared[name] for name in said] == [before["content"], None, None, None]
    assert client.get(path, params=who).json() == cleared


def test_a_memory_that_ends_before_it_begins_is_refused(client: httpx.Client) -> None:
    who = {"agent": "never-holds"}
    begins, ends = {"valid_from": "2026-03-02"}, {"valid_until": "2026-03-01"}
    never = {"text": "Never true.", **begins, **ends, **who}
    refused = client.post("/memories", json=never)
    assert (refused.status_code, "earlier beginning" in refused.json()["detail"]) == (422, True)
    batch = client.post("/memories/batch", json={"memories": [never, never | begins | who | {
        "valid_until": "2026-03-02"}]}).json()  # fmt: skip
    assert (batch["created"], [one["index"] for one in batch["errors"]]) == (1, [0])
    key = _store(client, text="It holds from March on.", **begins, **who)["id"]
    path = f"/memories/{key}"
    for change, pointers in (
        (ends, ["/valid_until"]), (begins | ends, ["/valid_from", "/valid_until"]),
    ):  # fmt: skip
        refused = client.patch(path, params=who, json=change)
        assert refused.status_code == 422
        assert [error["pointer"] for error in refused.json()["errors"]] == pointers
    assert client.patch(path, params=who, json=ends | {"valid_from": None}).is_success
    assert client.patch(path, params=who, json=begins).status_code == 422
    assert client.patch(path, params=who, json=begins | {"valid_until": None}).is_success


def test_what_is_past_its_time_is_listed_where_that_is_asked_for(client: httpx.Client) -> None:
    ended = _store(client, agent="past", text="It held.", valid_until="2020-01-01")["id"]
    holds = _store(client, agent="past", text="It holds.", valid_until="2099-01-01")["id"]
    for asked, ids in (({}, {holds}), ({"include_ended": True}, {holds, ended})):
        listed = client.get("/memories", params={"agent": "past", **asked}).json()["memories"]
        assert {one["id"] for one in listed} == ids
    refused = client.post("/search", json={"query": "held", "include_ended": True})
    assert refused.status_code == 422


def test_a_push_again_that_ends_before_it_begins_is_refused(client: httpx.Client) -> None:
    who = {"agent": "never-again", "source_ref": "crane"}
    begins, ends = {"valid_from": "2026-03-02"}, {"valid_until": "2026-03-01"}
    _store(client, text="The crane holds.", **begins, **who)
    again = {"text": "The crane holds again.", **ends, **who}
    refused = client.post("/memories", json=again)
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/valid_until")
    other = {"text": "Another crane.", "agent": "never-again"}
    batch = client.post("/memories/batch", json={"memories": [other, again]}).json()
    assert (batch["created"], [one["index"] for one in batch["errors"]]) == (1, [1])
    assert "earlier beginning" in batch["errors"][0]["detail"]
    listed = client.get("/memories", params={"agent": "never-again"}).json()["memories"]
    texts = {one["content"] for one in listed}
    assert texts == {"The crane holds.", "Another crane."}
    assert client.post("/memories", json=again | {"valid_from": None}).json()["action"] == "updated"
    assert client.post("/memories", json=again | begins | {"valid_until": None}).is_success


def test_a_push_again_is_no_end_of_what_became_other_words(client: httpx.Client) -> None:
    who = {"agent": "other-words"}
    body = {"text": "The crane is hired.", **who}
    key = _store(client, **body)["id"]
    change = {"text": "The crane is ours.", "valid_from": "2026-03-02"}
    assert client.patch(f"/memories/{key}", params=who, json=change).is_success
    ended = body | {"valid_until": "2026-03-01"}
    one = _store(client, **ended)
    assert (one["action"], one["id"] != key) == ("created", True)
    batch = client.post("/memories/batch", json={"memories": [ended]}).json()
    assert (batch["ids"], batch["errors"], batch["duplicates"]) == ([one["id"]], [], 1)
    assert _read(client, key, "other-words")["valid_until"] is None
    never = client.post("/memories", json=body | {"valid_from": "2026-03-02"})
    assert never.status_code == 422


def test_a_deleted_memory_is_gone_everywhere(client: httpx.Client) -> None:
    who = {"agent": "gone"}
    kept = _store(client, text="the red lantern", concepts=["lantern"], **who)["id"]
    key = _store(client, text="the blue lantern", concepts=["lantern", "blue"], **who)["id"]
    path = f"/memories/{key}"
    deleted = client.delete(path, params=who)
    assert (deleted.status_code, deleted.content) == (204, b"")
    for method in ("GET", "DELETE"):
        assert client.request(method, path, params=who).status_code == 404
    assert client.patch(path, params=who, json={"importance": 1}).status_code == 404
    search = client.post("/search", json={"query": "blue lantern", "limit": 50, **who}).json()
    assert [hit["id"] for hit in search["results"]] == [kept]
    recall = client.post("/graph-recall", json={"seed_ids": [kept], "hops": 4, **who}).json()
    assert [hit["id"] for hit in recall["results"]] == [kept]
    assert client.get("/concepts/blue", params=who).status_code == 404
    assert client.get("/concepts/lantern", params=who).json()["memories"] == 1
    assert client.get("/stats", params=who).json()["memories"] == 1
    again = _store(client, text="the blue lantern", **who)
    assert (again["id"], again["action"]) == (key, "created")


@pytest.mark.parametrize("agent", ["stranger", "main"])
def test_another_agents_memory_is_as_unknown_as_none(client: httpx.Client, agent: str) -> None:
    key = _store(client, text="my own secret", agent="owner")["id"]
    _store(client, text="something else", agent=agent)
    path, who = f"/memories/{key}", {"agent": agent}
    mine, none = client.get(path, params=who), client.get("/memories/none", params=who)
    assert (mine.status_code, none.status_code) == (404, 404)
    assert mine.json()["detail"].replace(key, "none") == none.json()["detail"]
    assert client.delete(path, params=who).status_code == 404
    assert client.patch(path, params=who, json={"text": "stolen"}).status_code == 404
    answer = client.post("/graph-recall", json={"seed_ids": [key], **who})
    assert answer.status_code == 404
    assert _read(client, key, "owner")["content"] == "my own secret"


@pytest.mark.parametrize("source_kind", ["consolidation", "document"])
def test_a_writer_cannot_claim_what_the_service_makes(
    client: httpx.Client, source_kind: str
) -> None:
    memory = {"text": "It was me.", "agent": f"claims-{source_kind}", "source_kind": source_kind}
    answer = client.post("/memories", json=memory)
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    assert error["pointer"] == "/source_kind"
    assert "any word in lower case but consolidation and document" in error["detail"]
    batch = client.post(
        "/memories/batch", json={"memories": [memory, {**memory, "source_kind": "me"}]}
    )
    assert batch.json()["created"] == 1
    [error] = batch.json()["errors"]
    assert (error["index"], "source_kind" in error["detail"]) == (0, True)
    schema = client.get("/openapi.json").json()["components"]["schemas"]["StoreRequest"]
    assert schema["properties"]["source_kind"]["not"] == {"enum": ["consolidation", "document"]}


def test_no_field_can_make_a_memory_another(client: httpx.Client) -> None:
    one = _store(client, text="First.", agent="split", title="a\x1fb", kind="note")
    other = _store(client, text="b\x1fFirst.", agent="split", title="a", kind="note")
    assert (one["action"], other["action"]) == ("created", "created")
    assert one["id"] != other["id"]
    assert _read(client, one["id"], "split")["content"] == "First."


def test_a_reference_is_known_within_its_kind(client: httpx.Client) -> None:
    asked = {"agent": "kinds-of-refs", "source_ref": "7"}
    one = _store(client, text="A chat's seventh.", source_kind="chat", **asked)
    other = _store(client, text="A tool's seventh.", source_kind="tool", **asked)
    assert (other["action"], other["id"] != one["id"]) == ("created", True)
    again = _store(client, text="A chat's seventh, mended.", source_kind="chat", **asked)
    assert (again["action"], again["id"]) == ("updated", one["id"])
