"""A memory is found by the words of its tags, from RAM and from SurrealDB's own indexes."""

from typing import Any

import httpx
import pytest

from tests.servers.running import RunningService

ENGINES = ("resident", "database")


@pytest.fixture(scope="module")
def client(service: RunningService) -> httpx.Client:
    return service.client


def _found(client: httpx.Client, agent: str, query: str) -> list[str]:
    """Return what words alone find, best first."""
    body = {"query": query, "agent": agent, "weights": {"vector": 0, "graph": 0}}
    answer = client.post("/search", json=body)
    assert answer.status_code == 200, answer.text
    return [hit["content"] for hit in answer.json()["results"]]


def _best(client: httpx.Client, agent: str, query: str) -> dict[str, Any]:
    """Return the first hit of a search by default."""
    answer = client.post("/search", json={"query": query, "agent": agent})
    hit: dict[str, Any] = answer.json()["results"][0]
    return hit


def _store(client: httpx.Client, agent: str, text: str, *tags: str) -> str:
    answer = client.post("/memories", json={"text": text, "tags": tags, "agent": agent})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def test_a_tag_that_no_text_holds_finds_what_carries_it(client: httpx.Client) -> None:
    _store(client, "pods", "Pods crash after the node was drained.", "kubernetes")
    _store(client, "pods", "The kettle in the kitchen leaks.", "home")
    assert _found(client, "pods", "kubernetes") == ["Pods crash after the node was drained."]
    [best, *_] = _found(client, "pods", "what leaks at home?")
    assert best == "The kettle in the kitchen leaks."


def test_a_tag_that_is_taken_off_finds_nothing_any_more(client: httpx.Client) -> None:
    key = _store(client, "ferry", "The ferry leaves at nine.", "harbour")
    assert _found(client, "ferry", "harbour")
    answer = client.patch(f"/memories/{key}?agent=ferry", json={"tags": ["timetable"]})
    assert answer.status_code == 200, answer.text
    assert _found(client, "ferry", "harbour") == []
    assert _found(client, "ferry", "timetable")


def test_what_is_quoted_stands_in_a_tag_of_two_words(client: httpx.Client) -> None:
    _store(client, "print", "Printed on both sides.", "release-notes")
    _store(client, "print", "Notes on the release of the brake.")
    [best, *_] = _found(client, "print", '"release notes"')
    assert best == "Printed on both sides."


def test_no_quote_runs_from_a_text_into_a_tag_or_from_tag_to_tag(client: httpx.Client) -> None:
    _store(client, "quay", "The ferry leaves at nine.", "harbour", "travel")
    for quoted in ("at nine", "harbour"):
        assert "phrase" in _best(client, "quay", f'"{quoted}"')["signals"]
    for torn in ("nine harbour", "harbour travel"):
        assert "phrase" not in _best(client, "quay", f'"{torn}"')["signals"]


def test_sections_are_found_by_the_tags_above_them(client: httpx.Client) -> None:
    text = "---\ntags: [gardening]\n---\n# Beds\n\nDig in March.\n\n# Trees\n\nPrune in June.\n"
    body = {"source": "garden.md", "text": text, "agent": "garden"}
    client.post("/ingest", json=body).raise_for_status()
    assert len(_found(client, "garden", "gardening")) == 2
    assert _found(client, "garden", "gardening in june")[0].startswith("Prune")
