"""POST and GET /graph-recall: what is connected, how far, by which path, and what never leaks."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import Start

# The same answers from RAM and from SurrealDB's own indexes.
ENGINES = ("resident", "database")

Json = dict[str, Any]


def _store(client: httpx.Client, agent: str, memories: list[Json]) -> list[str]:
    sent = [{"agent": agent, **memory} for memory in memories]
    answer = client.post("/memories/batch", json={"memories": sent}).json()
    assert answer["errors"] == []
    ids: list[str] = answer["ids"]
    return ids


def _recall(client: httpx.Client, agent: str, **request: object) -> Json:
    answer = client.post("/graph-recall", json={"agent": agent, **request})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def _by_id(answer: Json) -> dict[str, Json]:
    return {hit["id"]: hit for hit in answer["results"]}


def _line(number: int, *concepts: str, **more: object) -> Json:
    words = ("apples", "bridges", "candles", "drums", "eggs", "ferns", "gates", "hills")
    return {"text": f"about {words[number]} alone", "concepts": list(concepts), **more}


@pytest.fixture(scope="module")
def line(client: httpx.Client) -> list[str]:
    """Store four memories in a line: 0 —copper— 1 —brass— 2, and 3 far from all."""
    memories = [
        _line(0, "copper"), _line(1, "copper", "brass"), _line(2, "brass"), _line(3, "wool"),
    ]  # fmt: skip
    return _store(client, "line", memories)


def test_a_shared_concept_is_one_hop_away_and_the_path_reads(
    client: httpx.Client, line: list[str]
) -> None:
    answer = _recall(client, "line", seed_ids=[line[0]], hops=1)
    assert answer.keys() >= {"seeds", "results", "chains", "concepts", "receipt"}
    assert answer["seeds"] == [line[0]]
    hits = _by_id(answer)
    assert set(hits) == {line[0], line[1]}
    assert (hits[line[0]]["distance"], hits[line[1]]["distance"]) == (0, 1)
    assert hits[line[1]]["path"] == [
        {"memory": line[0], "title": "about apples alone", "trust_tier": "trusted"},
        {"edge": "references", "concept": "copper"},
        {"memory": line[1], "title": "about bridges alone", "trust_tier": "trusted"},
    ]
    assert hits[line[1]].keys() >= {"content", "snippet", "score", "signals", "source"}
    assert 0 < hits[line[1]]["score"] < hits[line[0]]["score"] <= 1
    assert [c["id"] for c in answer["concepts"]] == ["copper"]
    assert answer["concepts"][0].keys() >= {"id", "name", "weight"}


def test_hops_bound_the_walk_and_each_costs(client: httpx.Client, line: list[str]) -> None:
    hits = _by_id(_recall(client, "line", seed_ids=[line[0]], hops=2))
    assert {key: hit["distance"] for key, hit in hits.items()} == {
        line[0]: 0, line[1]: 1, line[2]: 2,
    }  # fmt: skip
    assert hits[line[2]]["score"] < hits[line[1]]["score"]
    assert line[3] not in _by_id(_recall(client, "line", seed_ids=[line[0]], hops=4))


def test_a_question_finds_its_own_seeds(client: httpx.Client, line: list[str]) -> None:
    answer = _recall(client, "line", query="apples")
    assert answer["seeds"][0] == line[0]
    assert answer["results"][0]["id"] == line[0]
    assert line[1] in _by_id(answer)


def test_the_get_twin_answers_like_post(client: httpx.Client, line: list[str]) -> None:
    for name, given in (("seed_ids", [line[0]]), ("edges", ["references"])):
        wish: Json = {"hops": 2, "limit": 3, name: given}
        post = _recall(client, "line", query="apples", **wish)
        got = client.get("/graph-recall", params={**wish, "q": "apples", "agent": "line"})
        assert got.json()["results"] == post["results"]


def test_related_concepts_are_walked_only_along_the_wanted_edges(client: httpx.Client) -> None:
    # flute and oboe stand together twice, so the walk may go from flute over to oboe.
    memories = [
        _line(0, "flute"), _line(1, "flute", "oboe"), _line(2, "flute", "oboe"), _line(3, "oboe"),
    ]  # fmt: skip
    ids = _store(client, "related", memories)
    near = client.get("/concepts/flute", params={"agent": "related"}).json()
    assert [(r["id"], r["weight"]) for r in near["related_to"]] == [("oboe", 2)]
    wide = _by_id(_recall(client, "related", seed_ids=[ids[0]], hops=2))
    assert wide[ids[3]]["distance"] == 2
    narrow = _recall(client, "related", seed_ids=[ids[0]], hops=2, edges=["references"])
    assert _edges(narrow) == {"references"}
    assert _edges(_recall(client, "related", seed_ids=[ids[0]], hops=4)) <= {
        "references", "related_to",
    }  # fmt: skip


def _edges(answer: Json) -> set[str]:
    return {step["edge"] for hit in answer["results"] for step in hit["path"] if "edge" in step}


def test_follows_leads_both_ways_as_chains(client: httpx.Client) -> None:
    days = [f"2026-02-1{n}T08:00:00Z" for n in range(5)]
    memories = [_line(n, session="trip", occurred_at=day) for n, day in enumerate(days)]
    ids = _store(client, "days", memories)
    answer = _recall(client, "days", seed_ids=[ids[2]], hops=2)
    [chain] = answer["chains"]
    assert chain["memory"] == ids[2]
    assert [step["id"] for step in chain["before"]] == [ids[1], ids[0]]
    assert [step["id"] for step in chain["after"]] == [ids[3], ids[4]]
    assert chain["before"][0]["title"] == "about bridges alone"
    hits = _by_id(answer)
    assert {hits[key]["distance"] for key in (ids[1], ids[3])} == {1}
    assert {"edge": "follows", "direction": "before"} in hits[ids[0]]["path"]
    stills: list[Json] = [{"temporal": False}, {"edges": ["references", "related_to", "is_a"]}]
    for still in stills:
        answer = _recall(client, "days", seed_ids=[ids[2]], **still)
        assert answer["chains"] == []
        assert set(_by_id(answer)) == {ids[2]}


def test_declared_concepts_are_walked_up_and_down(start: Start, tmp_path: Path) -> None:
    declared = tmp_path / "concepts.toml"
    declared.write_text('[[concept]]\nname = "walrus"\nis_a = ["seal"]\n', encoding="utf-8")
    client = start(concepts_file=declared).client
    memories = [_line(0, "walrus"), _line(1, "walrus"), _line(2, "seal"), _line(3, "seal")]
    ids = _store(client, "main", memories)
    for seed, far in ((ids[0], ids[2]), (ids[2], ids[0])):
        hits = _by_id(_recall(client, "main", seed_ids=[seed], hops=2))
        assert "is_a" in [step.get("edge") for step in hits[far]["path"]]
        without = _recall(client, "main", seed_ids=[seed], edges=["references", "related_to"])
        assert far not in _by_id(without)


def test_a_concept_of_nearly_everything_links_nothing(client: httpx.Client) -> None:
    memories = [_line(n % 8, "everything", scope=f"s{n}") for n in range(14)]
    ids = _store(client, "hubs", [*memories, _line(0, "everything", "rare"), _line(1, "rare")])
    assert client.get("/concepts/everything", params={"agent": "hubs"}).json()["memories"] == 15
    hits = _by_id(_recall(client, "hubs", seed_ids=[ids[14]], limit=100, hops=4))
    assert set(hits) == {ids[14], ids[15]}


def test_cycles_end_and_nothing_is_told_twice(client: httpx.Client) -> None:
    ring = ["salt", "pepper", "cumin", "thyme"]
    memories = [_line(n, ring[n], ring[(n + 1) % 4], session="ring") for n in range(4)]
    ids = _store(client, "ring", memories)
    answer = _recall(client, "ring", seed_ids=[ids[0]], hops=4, limit=100)
    told = [hit["id"] for hit in answer["results"]]
    assert sorted(told) == sorted(ids)
    scores = [hit["score"] for hit in answer["results"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "hidden", [{"trust_tier": "quarantined"}, {"valid_until": "2020-01-01"}, {"scope": "secret"}]
)
def test_a_walk_never_passes_through_or_names_what_is_hidden(
    client: httpx.Client, hidden: Json
) -> None:
    agent = f"hidden-{next(iter(hidden))}"
    scope = {"scope": "open"}
    bridge: Json = {
        "text": "whispered words", "title": "Whispered", "concepts": ["velvet", "linen"],
        "session": "s", "occurred_at": "2026-02-11T00:00:00Z", **scope, **hidden,
    }  # fmt: skip
    first = _line(0, "velvet", session="s", occurred_at="2026-02-10T00:00:00Z", **scope)
    last = _line(2, "linen", session="s", occurred_at="2026-02-12T00:00:00Z", **scope)
    ids = _store(client, agent, [first, bridge, last])
    for wish in ({"seed_ids": [ids[0]]}, {"query": "apples"}):
        answer = client.post(
            "/graph-recall", json={"agent": agent, "hops": 4, "scope": "open", **wish}
        )
        assert ids[1] not in answer.text
        told = {name: answer.json()[name] for name in ("results", "chains")}
        assert "Whispered" not in str(told)


@pytest.mark.parametrize("seed", range(4))
def test_every_path_is_connected_and_true(client: httpx.Client, seed: int) -> None:
    chance, agent = random.Random(seed), f"random-{seed}"
    names = ["iron", "zinc", "lead", "gold", "neon", "argon"]
    memories = [
        _line(n % 8, *chance.sample(names, chance.randrange(1, 3)), scope=f"s{n}",
              session=chance.choice([None, "one", "two"]))
        for n in range(12)
    ]  # fmt: skip
    ids = _store(client, agent, memories)
    answer = _recall(client, agent, seed_ids=chance.sample(ids, 2), hops=3, limit=100)
    assert len(answer["results"]) > 2
    for hit in answer["results"]:
        path = hit["path"]
        assert path[0]["memory"] in answer["seeds"]
        last = {"memory": hit["id"], "title": hit["title"], "trust_tier": hit["trust_tier"]}
        assert path[-1] == last
        for here, there in _steps(path):
            # A memory tells its concepts; a concept does not list its memories.
            start, end = (there, here) if there[0] == "memory" else (here, there)
            assert end in _neighbours(client, agent, start), (start, end)


Place = tuple[str, str]


def _steps(path: list[Json]) -> list[tuple[Place, Place]]:
    """Return the path as pairs of neighbouring places, `follows` by its two memories."""
    places = [
        ("memory", step["memory"]) if "memory" in step else ("concept", step["concept"])
        for step in path
        if step.get("edge") != "follows"
    ]
    return list(pairwise(places))


def _neighbours(client: httpx.Client, agent: str, place: Place) -> set[Place]:
    """Return what the other doors say stands beside a memory or a concept."""
    kind, key = place
    who = {"agent": agent}
    if kind == "memory":
        memory = client.get(f"/memories/{key}", params=who).json()
        beside = {("memory", near["id"]) for near in memory["before"] + memory["after"]}
        return beside | {("concept", concept["id"]) for concept in memory["concepts"]}
    concept = client.get(f"/concepts/{key}", params=who).json()
    near = [near["id"] for near in concept["related_to"]] + concept["is_a"] + concept["narrower"]
    return {("concept", other) for other in near}
