"""GET /concepts, /stats and /health: what is known, how much, and whether all is well."""

from pathlib import Path
from typing import Any

import httpx

from tests.conftest import Start

Json = dict[str, Any]


def _store(client: httpx.Client, agent: str, *concepts: str, text: str = "words") -> str:
    body = {"text": f"{text} {' '.join(concepts)}", "concepts": concepts, "agent": agent}
    key: str = client.post("/memories", json=body).json()["id"]
    return key


def _list(client: httpx.Client, agent: str, **more: object) -> Json:
    answer = client.get("/concepts", params={"agent": agent} | {n: str(v) for n, v in more.items()})
    assert answer.status_code == 200, answer.text
    page: Json = answer.json()
    return page


def test_concepts_are_listed_with_the_most_mentioned_first(client: httpx.Client) -> None:
    for names in (["amber"], ["amber", "birch"], ["amber", "birch", "cedar"]):
        _store(client, "list", *names)
    page = _list(client, "list")
    assert [(c["id"], c["memories"]) for c in page["concepts"] if c["kind"] == "link"] == [
        ("amber", 3), ("birch", 2), ("cedar", 1),
    ]  # fmt: skip
    shape = {"id", "name", "aliases", "kind", "memories", "is_declared"}
    assert page["concepts"][0].keys() >= shape
    assert [c["id"] for c in _list(client, "list", q="IRC")["concepts"]] == ["birch"]
    assert page["next_cursor"] is None


def test_a_part_of_a_name_is_found_in_any_accents_and_widths(client: httpx.Client) -> None:
    _store(client, "accents", "Café Zürich", "walnut")
    for part in ("cafe", "CAFÉ", "Zurich", "cafe\u0301", "ＣＡＦＥ", "café z", "é z", "cafe zu"):
        assert [c["id"] for c in _list(client, "accents", q=part)["concepts"]] == ["cafe_zurich"]
    assert _list(client, "accents", q="%")["concepts"] == []


def test_cursors_walk_all_concepts_exactly_once(client: httpx.Client) -> None:
    for number in range(11):
        names = [f"stone{n}" for n in range(number % 4, 11)]
        _store(client, "pages", *names, text=f"pile {number}")
    every = [concept["id"] for concept in _list(client, "pages", limit=1000)["concepts"]]
    for limit in (1, 4):
        seen: list[str] = []
        cursor: Json = {}
        while cursor.get("cursor", "start"):
            page = _list(client, "pages", limit=limit, **cursor)
            seen += [concept["id"] for concept in page["concepts"]]
            cursor = {"cursor": page["next_cursor"]}
        assert seen == every
        assert len(set(seen)) == len(seen)


def test_a_concept_tells_its_neighbours(start: Start, tmp_path: Path) -> None:
    declared = tmp_path / "concepts.toml"
    declared.write_text(
        '[[concept]]\nname = "GPU"\naliases = ["graphics card"]\nis_a = ["hardware"]\n'
        'related_to = ["VRAM"]\n',
        encoding="utf-8",
    )
    client = start(concepts_file=declared).client
    _store(client, "main", text="a graphics card with fans and batch sizes")
    _store(client, "main", "fan", text="the gpu has")
    gpu = client.get("/concepts/gpu").json()
    assert (gpu["name"], gpu["memories"], gpu["is_declared"]) == ("GPU", 2, True)
    assert "graphics card" in gpu["aliases"]
    assert gpu["is_a"] == ["hardware"]
    assert {near["id"]: near["is_declared"] for near in gpu["related_to"]} == {
        "vram": True, "fan": False,
    }  # fmt: skip
    assert client.get("/concepts/hardware").json()["narrower"] == ["gpu"]


def test_nothing_is_left_of_a_concept_that_nobody_mentions(client: httpx.Client) -> None:
    key = _store(client, "orphan", "walnut", "hazel")
    _store(client, "orphan", "hazel", text="another")
    assert client.get("/concepts/walnut", params={"agent": "orphan"}).status_code == 200
    client.delete(f"/memories/{key}", params={"agent": "orphan"})
    assert client.get("/concepts/walnut", params={"agent": "orphan"}).status_code == 404
    hazel = client.get("/concepts/hazel", params={"agent": "orphan"}).json()
    assert (hazel["memories"], hazel["related_to"]) == (1, [])


def test_an_agents_concepts_are_its_own(client: httpx.Client) -> None:
    _store(client, "mine", "teak")
    _store(client, "yours", "ebony")
    assert [c["id"] for c in _list(client, "yours", q="e")["concepts"]] == ["ebony"]
    assert client.get("/concepts/teak", params={"agent": "yours"}).status_code == 404
    for path in ("/concepts", "/stats", "/memories"):
        assert client.get(path, params={"agent": "never-seen"}).status_code == 404


def test_stats_count_what_an_agent_remembers(client: httpx.Client) -> None:
    text = "# Diary\n\n## Alpha\n\nfirst\n\n## Beta\n\nsecond\n"
    body = {"source": "memory/2026-02-13.md", "text": text, "agent": "count"}
    assert client.post("/ingest", json=body).json()["created"] == 2
    key = _store(client, "count", "gamma")
    client.patch(f"/memories/{key}", params={"agent": "count"}, json={"archived": True})
    stats = client.get("/stats", params={"agent": "count"}).json()
    assert (stats["agent"], stats["memories"], stats["documents"]) == ("count", 3, 1)
    assert stats["kinds"] == {"daily_log": 2, "note": 1}
    assert (stats["archived"], stats["without_vector"], stats["follows"]) == (1, 0, 1)
    page = _list(client, "count", limit=1000)["concepts"]
    assert stats["concepts"] == len(page)
    assert stats["references"] == sum(concept["memories"] for concept in page)
    assert stats.keys() >= {"related_to", "is_a", "jobs_waiting"}


def test_main_exists_before_it_has_stored_anything(start: Start) -> None:
    client = start().client
    assert client.get("/memories").json() == {"memories": [], "next_cursor": None}
    assert client.get("/concepts").json()["concepts"] == []
    assert client.get("/stats").json()["memories"] == 0
    found = client.post("/search", json={"query": "anything"}).json()
    assert (found["results"], found["abstained"]) == ([], True)
    recalled = client.post("/graph-recall", json={"query": "anything"}).json()
    assert (recalled["seeds"], recalled["results"]) == ([], [])


def test_health_tells_what_is_there(client: httpx.Client) -> None:
    assert client.get("/health/live").json() == {"status": "alive"}
    ready = client.get("/health/ready")
    assert ready.status_code == 200
    body = ready.json()
    assert (body["status"], body["reasons"]) == ("ready", [])
    checks = body["checks"]
    assert checks.keys() >= {"database", "schema", "embedder", "fingerprint", "engine"}
    assert all(check["ok"] for check in checks.values())
    assert "hashing-256" in checks["embedder"]["detail"]
    assert checks["engine"]["detail"] == "resident"
