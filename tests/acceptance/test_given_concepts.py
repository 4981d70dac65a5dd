"""A memory is found by the words of a concept that it was given and whose words it lacks."""

import httpx
import pytest

from tests.servers.running import RunningService

ENGINES = ("resident", "database")


@pytest.fixture(scope="module")
def client(service: RunningService) -> httpx.Client:
    return service.client


def _found(client: httpx.Client, agent: str, query: str) -> list[str]:
    """Return what is found without meaning, best first."""
    body = {"query": query, "agent": agent, "weights": {"vector": 0}}
    answer = client.post("/search", json=body)
    assert answer.status_code == 200, answer.text
    return [hit["content"] for hit in answer.json()["results"]]


def _store(client: httpx.Client, agent: str, text: str, *concepts: str) -> None:
    body = {"text": text, "concepts": concepts, "agent": agent}
    answer = client.post("/memories", json=body)
    assert answer.status_code == 201, answer.text


def test_a_given_concept_that_no_text_says_finds_what_has_it(client: httpx.Client) -> None:
    _store(client, "pods", "Pods crash after the node was drained.", "Kubernetes")
    _store(client, "pods", "The kettle in the kitchen leaks.", "Home Repair")
    for asked in ("kubernetes", "What do we know of Kubernetes?"):
        assert _found(client, "pods", asked)[0] == "Pods crash after the node was drained."
    assert _found(client, "pods", "home repair") == ["The kettle in the kitchen leaks."]
    assert _found(client, "pods", "repair") == []


def test_it_stands_beside_what_says_the_name(client: httpx.Client) -> None:
    _store(client, "quay", "The Blue Harbour opens at nine.")
    _store(client, "quay", "Ferries leave every hour.", "Blue Harbour")
    _store(client, "quay", "The harbour of another town is closed.")
    found = _found(client, "quay", "ferries at Blue Harbour")
    assert found[0] == "Ferries leave every hour."
    assert "The Blue Harbour opens at nine." in found
    assert set(_found(client, "quay", "Blue Harbour")[:2]) == {
        "Ferries leave every hour.", "The Blue Harbour opens at nine.",
    }  # fmt: skip


def test_sections_are_found_by_the_concepts_of_their_front_matter(client: httpx.Client) -> None:
    text = "---\nconcepts: [Allotment]\n---\n# Beds\n\nDig in March.\n\n# Trees\n\nPrune in June.\n"
    body = {"source": "year.md", "text": text, "agent": "garden"}
    client.post("/ingest", json=body).raise_for_status()
    assert len(_found(client, "garden", "allotment")) == 2
    assert _found(client, "garden", "allotment in june")[0].startswith("Prune")


def test_a_concept_that_is_taken_off_finds_nothing_any_more(client: httpx.Client) -> None:
    _store(client, "ferry", "It leaves at nine.", "Harbour")
    [key] = [one["id"] for one in client.get("/memories?agent=ferry").json()["memories"]]
    answer = client.patch(f"/memories/{key}?agent=ferry", json={"concepts": []})
    assert answer.status_code == 200, answer.text
    assert _found(client, "ferry", "harbour") == []


def test_nobody_is_found_by_what_another_agent_gave(client: httpx.Client) -> None:
    _store(client, "one", "The lid is stuck.", "Telescope")
    _store(client, "other", "The lid is new.")
    assert _found(client, "other", "telescope") == []
