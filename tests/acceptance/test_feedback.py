"""Feedback: who may vote, what a vote does to answers and what it cannot do, and what keeps it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.servers.keyed import KeyedService
from tests.servers.running import running_service
from tests.waiting import until

ENGINES = ("resident", "database")
Json = dict[str, Any]
NOTES = (
    "The harbour crane was mended in March.",
    "The harbour crane was painted in March.",
    "The harbour crane was weighed in March.",
)
ASKED = "harbour crane March"
# No vote changes a score by more.
MOST = 0.1


@pytest.fixture
def admin(keyed: KeyedService) -> Iterator[httpx.Client]:
    with keyed.client() as client:
        yield client


def _push(client: httpx.Client, agent: str, texts: Sequence[str] = NOTES) -> list[str]:
    """Store memories that happened at one moment; returns their ids."""
    memories = [
        {"text": text, "agent": agent, "occurred_at": "2026-03-01T10:00:00Z"} for text in texts
    ]
    stored = client.post("/memories/batch", json={"memories": memories}).json()
    assert stored["errors"] == []
    ids: list[str] = stored["ids"]
    return ids


def _vote(client: httpx.Client, key: str, agent: str, helpful: object, **more: object) -> Json:
    answer = client.post(
        f"/memories/{key}/feedback", params={"agent": agent}, json={"helpful": helpful, **more}
    )
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


def _voters(keyed: KeyedService, count: int) -> list[httpx.Client]:
    return [keyed.client(keyed.key(["read", "write"])[1]) for _ in range(count)]


def _hits(client: httpx.Client, agent: str, way: str = "/search", **more: object) -> list[Json]:
    answer = client.post(way, json={"query": ASKED, "agent": agent, "limit": 10, **more})
    assert answer.status_code == 200, answer.text
    hits: list[Json] = answer.json()["results"]
    return hits


def _scores(client: httpx.Client, agent: str) -> dict[str, float]:
    return {hit["id"]: hit["score"] for hit in _hits(client, agent)}


def test_a_key_has_one_vote_and_may_change_it(
    keyed: KeyedService, admin: httpx.Client, agent: str
) -> None:
    key = _push(admin, agent)[0]
    [other] = _voters(keyed, 1)
    with other:
        for client, helpful, counts in [
            (admin, True, (1, 0)), (admin, True, (1, 0)), (other, False, (1, 1)),
            (other, False, (1, 1)), (admin, False, (0, 2)), (other, None, (0, 1)),
            (other, None, (0, 1)), (other, True, (1, 1)), (other, None, (0, 1)),
            (admin, None, (0, 0)),
        ]:  # fmt: skip
            told = _vote(client, key, agent, helpful)
            assert told == {"id": key, "helpful": counts[0], "unhelpful": counts[1]}
            read = admin.get(f"/memories/{key}", params={"agent": agent}).json()
            assert (read["helpful"], read["unhelpful"]) == counts
            # What is said of it is no change of it.
            assert read["updated_at"] == read["created_at"]


def test_without_keys_all_programs_have_one_vote(
    tmp_path: Path, embedding_url: str, engine: str
) -> None:
    with running_service(
        data_dir=tmp_path, embedding_url=embedding_url, search_engine=engine
    ) as service:
        key = _push(service.client, "main")[0]
        for program in ("one", "two"):
            service.client.headers["user-agent"] = program
            assert _vote(service.client, key, "main", True)["helpful"] == 1


def test_of_many_at_once_no_vote_is_lost(
    keyed: KeyedService, admin: httpx.Client, agent: str
) -> None:
    first, second, _ = _push(admin, agent)
    voters = _voters(keyed, 25)
    votes = [(voter, key, n < 17) for n, voter in enumerate(voters) for key in (first, second)]
    with ThreadPoolExecutor(len(votes)) as pool:
        list(pool.map(lambda one: _vote(one[0], one[1], agent, one[2]), votes))
    for voter in voters:
        voter.close()
    for key in (first, second):
        told = admin.get(f"/memories/{key}", params={"agent": agent}).json()
        assert (told["helpful"], told["unhelpful"]) == (17, 8)


def test_what_helped_comes_first_and_what_did_not_comes_last(
    admin: httpx.Client, agent: str
) -> None:
    _push(admin, agent)
    before = _hits(admin, agent)
    first, second, third = (hit["id"] for hit in before)
    _vote(admin, third, agent, True)
    _vote(admin, first, agent, False)
    for way in ("/search", "/graph-recall"):
        assert [hit["id"] for hit in _hits(admin, agent, way)] == [third, second, first]
    # Taken back it is as if it had never been, to the last bit.
    _vote(admin, third, agent, None)
    _vote(admin, first, agent, None)
    assert _hits(admin, agent) == before


def test_a_hit_tells_what_feedback_adds_to_its_score(admin: httpx.Client, agent: str) -> None:
    first, second, third = _push(admin, agent)
    before = _scores(admin, agent)
    _vote(admin, first, agent, True)
    _vote(admin, second, agent, False)
    for hit in _hits(admin, agent):
        shares = [signal["share"] for signal in hit["signals"].values()]
        assert sum(shares) == pytest.approx(hit["score"], rel=1e-6)
        told = hit["signals"].get("feedback", {"share": 0.0})
        assert hit["score"] - told["share"] == pytest.approx(before[hit["id"]], rel=1e-6)
        wanted = {first: 0.05, second: -0.05, third: 0.0}[hit["id"]] * before[hit["id"]]
        assert told["share"] == pytest.approx(wanted, rel=1e-6)
        assert ("feedback" in hit["signals"]) == (hit["id"] != third)


def test_however_many_vote_a_score_changes_by_a_tenth_at_most(
    keyed: KeyedService, admin: httpx.Client, agent: str
) -> None:
    first, second, _ = _push(admin, agent)
    before = _scores(admin, agent)
    for voter in _voters(keyed, 25):
        with voter:
            for _ in range(2):
                _vote(voter, first, agent, True)
                _vote(voter, second, agent, False)
    after = _scores(admin, agent)
    assert 1.09 < after[first] / before[first] < 1 + MOST
    assert 1 - MOST < after[second] / before[second] < 0.91
    # What fits the question far better is never left behind.
    [other] = _push(admin, agent, ["The crane flies south."])
    _vote(admin, other, agent, True)
    assert _hits(admin, agent)[-1]["id"] == other


def test_fusion_by_ranks_knows_no_feedback(admin: httpx.Client, agent: str) -> None:
    first, _, third = _push(admin, agent)
    before = _hits(admin, agent, fusion="rrf")
    _vote(admin, first, agent, False)
    _vote(admin, third, agent, True)
    assert _hits(admin, agent, fusion="rrf") == before


def test_no_vote_takes_a_quoted_phrase_its_place(
    keyed: KeyedService, admin: httpx.Client, agent: str
) -> None:
    every = " ".join(NOTES)
    told, other = _push(admin, agent, ["It says: blue bunny.", f"{every} A bunny, a blue one?"])
    for voter in _voters(keyed, 12):
        with voter:
            _vote(voter, told, agent, False)
            _vote(voter, other, agent, True)
    # By words alone hardly anything else speaks for it.
    asked = {"query": f'{every} "blue bunny"', "agent": agent, "weights": {"vector": 0}}
    hits = admin.post("/search", json=asked).json()["results"]
    assert [hit["id"] for hit in hits] == [told, other]


def test_who_may_not_write_there_may_not_vote(
    keyed: KeyedService, admin: httpx.Client, agent: str
) -> None:
    key, unknown = _push(admin, agent)[0], "0" * 32
    scoped = {"text": "A crane of another scope.", "agent": agent, "scope": "zoo"}
    hidden = admin.post("/memories", json=scoped).json()["id"]
    reader, stranger = f"{agent}-reader", f"{agent}-stranger"
    assert admin.post("/grants", json={"reader": reader, "owner": agent}).status_code == 201

    def status(which: str, memory: str, asked: Json) -> int:
        with keyed.client(which) as client:
            path = f"/memories/{memory}/feedback"
            answer = client.post(path, params=asked, json={"helpful": True})
            assert answer.status_code == 200 or (
                answer.headers["content-type"] == "application/problem+json"
            )
            # It tells no more of what is another's than of what is not there.
            assert NOTES[0] not in answer.text
            return answer.status_code

    for_reader = keyed.key(["read", "write"], [reader])[1]
    of_scope = keyed.key(["read", "write"], [agent], memory_scopes=["harbour"])[1]
    for which, memory, asked, wanted in [
        ("", key, {"agent": agent}, 401),
        (keyed.key(["read"], [agent])[1], key, {}, 403),
        (for_reader, key, {"agent": agent}, 403),
        (for_reader, key, {}, 404),
        (keyed.key(["read", "write"], [stranger])[1], key, {}, 404),
        (of_scope, hidden, {}, 404),
        (of_scope, key, {}, 404),
        (keyed.admin, key, {"agent": stranger}, 404),
        (keyed.admin, unknown, {"agent": agent}, 404),
        (keyed.key(["write"], [agent])[1], key, {}, 200),
    ]:  # fmt: skip
        assert status(which, memory, asked) == wanted
    told = admin.get(f"/memories/{key}", params={"agent": agent}).json()
    assert (told["helpful"], told["unhelpful"]) == (1, 0)


HOSTILE: dict[str, tuple[object, int]] = {
    "nothing": ({}, 422), "a word": ({"helpful": "true"}, 422), "a number": ({"helpful": 1}, 422),
    "a list": ([True], 422), "another field": ({"helpful": True, "votes": {"a": True}}, 422),
    "another's vote": ({"helpful": True, "voter": "somebody"}, 422),
    "a long query": ({"helpful": True, "query": "x" * 10_001}, 422),
    "a megabyte": ({"helpful": True, "query": "x" * 1_000_000}, 422),
    "a query of no text": ({"helpful": True, "query": 7}, 422),
}  # fmt: skip


@pytest.mark.parametrize("body", HOSTILE)
def test_a_wrong_body_is_refused_and_counts_nothing(
    admin: httpx.Client, agent: str, body: str
) -> None:
    key, (sent, status) = _push(admin, agent)[0], HOSTILE[body]
    refused = admin.post(f"/memories/{key}/feedback", params={"agent": agent}, json=sent)
    assert refused.status_code == status, refused.text[:500]
    assert refused.headers["content-type"] == "application/problem+json"
    assert len(refused.text) < 2_000
    told = admin.get(f"/memories/{key}", params={"agent": agent}).json()
    assert (told["helpful"], told["unhelpful"]) == (0, 0)


def test_the_audit_tells_of_a_vote_and_nothing_keeps_its_query(
    admin: httpx.Client, agent: str
) -> None:
    key = _push(admin, agent)[0]
    _vote(admin, key, agent, True, query="Where is the zebrafinch of Quokkaville?")
    asked = {"agent": agent, "operation": "give_feedback"}
    entries = until(lambda: admin.get("/audit", params=asked).json()["entries"])
    assert [(one["outcome"], one["ids"]) for one in entries] == [("done", [key])]
    read = admin.get(f"/memories/{key}", params={"agent": agent})
    concepts = admin.get("/concepts", params={"agent": agent, "limit": 1000})
    for answer in (read, concepts, admin.get("/audit", params=asked)):
        assert "quokkaville" not in answer.text.lower()


def test_votes_stay_through_changes_and_go_with_the_memory(admin: httpx.Client, agent: str) -> None:
    where: Json = {"params": {"agent": agent}}
    body = {"source": "memory/crane.md", "agent": agent}
    text = "# Crane\n\nIt was mended.\n\n## Paint\n\nIt is red.\n"
    admin.post("/ingest", json=body | {"text": text}).raise_for_status()
    section = next(one["id"] for one in _hits(admin, agent) if one["title"] == "Paint")
    [pushed] = _push(admin, agent, NOTES[:1])

    def counts(key: str) -> tuple[int, int]:
        told = admin.get(f"/memories/{key}", **where).json()
        return told["helpful"], told["unhelpful"]

    _vote(admin, section, agent, True)
    _vote(admin, pushed, agent, False)
    # Read again, with lines above it, and with words of its own that became others.
    for changed in (text, f"---\ntags: [a]\n---\n{text}", text.replace("red", "blue")):
        admin.post("/ingest", json=body | {"text": changed}).raise_for_status()
        assert counts(section) == (1, 0)
    admin.patch(f"/memories/{pushed}", json={"importance": 0.9}, **where).raise_for_status()
    admin.patch(f"/memories/{pushed}", json={"text": "It was sold."}, **where).raise_for_status()
    admin.patch(f"/memories/{pushed}", json={"archived": True}, **where).raise_for_status()
    for way in ("quarantine", "release"):
        told = {"since": "2020-01-01", "dry_run": False, "agent": agent}
        done = admin.post(f"/trust/{way}", json=told).json()
        assert pushed in done["ids"]
        assert counts(pushed) == (0, 1)
    admin.delete(f"/memories/{pushed}", **where).raise_for_status()
    refused = admin.post(f"/memories/{pushed}/feedback", json={"helpful": True}, **where)
    assert refused.status_code == 404
    # The same words again are a new memory, of which nobody has said anything.
    assert _push(admin, agent, NOTES[:1]) == [pushed]
    assert counts(pushed) == (0, 0)


def test_votes_of_sources_and_of_their_summary_count(admin: httpx.Client, agent: str) -> None:
    where: Json = {"params": {"agent": agent}}
    logs = [
        {"text": f"The [[Osprey]] saw {n} ships off the quay.", "agent": agent,
         "kind": "daily_log", "occurred_at": f"2025-02-0{n}T10:00:00Z"}
        for n in (3, 5)
    ]  # fmt: skip
    sources = admin.post("/memories/batch", json={"memories": logs}).json()["ids"]
    asked = {"agent": agent, "older_than_days": 30, "dry_run": False}
    done = admin.post("/consolidate", json=asked).json()

    def scores(*, archived: bool) -> dict[str, float]:
        asked = {"query": "Osprey ships quay", "agent": agent, "include_archived": archived}
        hits = admin.post("/search", json=asked | {"duplicates": "show"}).json()["results"]
        return {hit["id"]: hit["score"] for hit in hits}

    before = scores(archived=True)
    [(summary, best)] = scores(archived=False).items()
    found = max(sources, key=lambda key: before[key])
    assert best == pytest.approx(before[found])
    _vote(admin, found, agent, True)
    assert scores(archived=False) == {summary: pytest.approx(best * 1.05)}
    # It was found by its source, and what is shown is what a vote is on: they are even.
    _vote(admin, summary, agent, False)
    assert scores(archived=False) == {summary: pytest.approx(best)}
    _vote(admin, found, agent, None)
    assert scores(archived=False) == {summary: pytest.approx(best * 0.95)}
    _vote(admin, sources[0], agent, True)
    undone = admin.post("/consolidate/undo", json={"agent": agent, "run": done["run"]})
    undone.raise_for_status()
    source = admin.get(f"/memories/{sources[0]}", **where).json()
    assert (source["helpful"], source["archived_at"]) == (1, None)


def test_votes_are_there_after_a_restart(tmp_path: Path, embedding_url: str, engine: str) -> None:
    settings: Json = {
        "data_dir": tmp_path, "embedding_url": embedding_url, "search_engine": engine,
    }  # fmt: skip
    with running_service(**settings) as service:
        keys = _push(service.client, "main")
        _vote(service.client, keys[2], "main", True)
        before = [(hit["id"], hit["score"]) for hit in _hits(service.client, "main")]
        assert before[0][0] == keys[2]
    with running_service(**settings) as service:
        assert [(hit["id"], hit["score"]) for hit in _hits(service.client, "main")] == before
        assert _vote(service.client, keys[2], "main", True)["helpful"] == 1


def test_a_memory_tells_how_many_sessions_were_given_it(admin: httpx.Client, agent: str) -> None:
    key = _push(admin, agent)[0]
    where: Json = {"params": {"agent": agent}}
    for session, given in (("one", 1), ("one", 1), ("two", 2)):
        _hits(admin, agent, session=session, new_only=True)
        told = admin.get(f"/memories/{key}", **where).json()
        assert (told["given"], told["used"]) == (given, 0)
